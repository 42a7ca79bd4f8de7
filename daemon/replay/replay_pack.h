/* The memory of a process that sleeps, packed: the heap of malloc(3) is compressed to about a
 * seventh, and given back to the system until it is opened again. So many states of a replay fit
 * where a few did, for a tenth of a second or two to wake one.
 *
 * What is packed is what lies below sbrk(2): allocations that malloc maps by themselves stay as
 * they are, as do stack, code, and the variables of libraries. While it is shut nothing may be
 * allocated, freed, or read on the heap. The pack itself lies elsewhere; to make, open and shut it
 * takes nothing from the heap (Zstandard with static contexts, see "Advanced: static allocation" in
 * zstd.h).
 *
 * In a process of one thread. Children have what their parent had, open or shut. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_PACK_H
#define HOLTER_DAEMON_REPLAY_REPLAY_PACK_H

#include <stddef.h>

struct replay_pack;

/** Have allocations lie where they can be packed, from now on; all but those of 32 MB and more
 * (mallopt(3)). The heap grows by as much at a time, of which the system gives what is touched. */
void replay_pack_prepare(void);

/** Pack the heap, and shut it.
 *  @param goes_on  asked before each piece of 256 KiB: nonzero to go on; NULL: always
 *  @return 0; -ECANCELED: goes_on has ended it, -ENOMEM, -errno: then nothing has changed */
int replay_pack_make(struct replay_pack **out, int (*goes_on)(void *user), void *user);

/** All is there again as it was. What follows may change it; then it is to be freed, not shut.
 *  @return 0, or a negative error: the process is of no use any more */
int replay_pack_open(struct replay_pack *pack);

/** Give the heap back to the system once more. Open, and nothing has changed on it. */
void replay_pack_shut(struct replay_pack *pack);

/** Of an open one: the pack is no more needed. NULL is fine. */
void replay_pack_free(struct replay_pack *pack);

/** Bytes that were packed, and what they take. */
size_t replay_pack_bytes(const struct replay_pack *pack);
size_t replay_pack_packed(const struct replay_pack *pack);

#endif
