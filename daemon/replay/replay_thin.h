/* How many states of a replay are kept in memory: which ones go when there are too many, or memory
 * is short. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_THIN_H
#define HOLTER_DAEMON_REPLAY_REPLAY_THIN_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_STATES 256u /**< kept at most */
#define REPLAY_NEAR 12u    /**< of them near where somebody is, or was */
/** They take a quarter of the memory at most that the machine has, or the control group. */
#define REPLAY_STATES_SHARE 4u
/** From half of that on they are packed; beyond three quarters who leads waits for it. */
#define REPLAY_PACK_FROM(most) ((most) / 2)
#define REPLAY_HOLD_FROM(most) ((most) / 4 * 3)
/** And they are given up while less than an eighth of the machine's memory is available, or of what
 * the control group (cgroup v2) of this process may have. */
#define REPLAY_MEMORY_SHARE 8u

/** Is the state at this place given up, when every other one is? The first and the last stay. */
int replay_thin_gives_up(size_t at, size_t count);

/** What is known of memory, bytes. */
struct replay_memory {
    uint64_t total, available;
};

/** Read it from texts of /proc/meminfo, and of memory.max, memory.current and memory.stat of a
 * control group, which may be NULL, the first also "max". @return 0, or -HOLTER_EMALFORMED */
int replay_memory_parse(struct replay_memory *out, const char *meminfo, const char *most,
                        const char *current, const char *stat);

/** Of this machine and process. @return 0 or a negative error */
int replay_memory_read(struct replay_memory *out);

/** Memory of a process, of what it shares its part (proc(5), Pss), bytes; 0: not known. */
uint64_t replay_memory_of(int64_t process);

int replay_memory_short(const struct replay_memory *memory);

#endif
