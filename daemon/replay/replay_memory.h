/* How much memory the machine, a control group and a process have: what bounds the number of
 * checkpoints of a replay. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_MEMORY_H
#define HOLTER_DAEMON_REPLAY_REPLAY_MEMORY_H

#include <stdint.h>

/** The contents of the files that the figures are read from; NULL where there is no such file. */
struct replay_memory_texts {
    const char *meminfo;       /**< /proc/meminfo; required */
    const char *group_limit;   /**< memory.max of the control group (version 2), may be "max" */
    const char *group_current; /**< memory.current */
    const char *group_stat;    /**< memory.stat */
};

/** Bytes that this process may still take. @return 0 or -HOLTER_EMALFORMED */
int replay_memory_parse(uint64_t *available, const struct replay_memory_texts *texts);

/** The same, of this machine and of the control group of this process.
 *  @return 0 or a negative error */
int replay_memory_available(uint64_t *available);

/** Memory of a process, its share of what it shares included (Pss of proc(5)), bytes; 0: unknown */
uint64_t replay_memory_of_process(int64_t process);

#endif
