/* What the processes of a replay know together, in memory that they share: how far the recording is
 * indexed, the alerts on its line of time, how far a seek is.
 *
 * The process that indexes writes, and before it exists the one that starts it; a worker that seeks
 * writes reached_ns. Marks are read as they were at one time, or, while they change, as before. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_SHARED_H
#define HOLTER_DAEMON_REPLAY_REPLAY_SHARED_H

#include "holter/wire.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define REPLAY_MARKS 1024u /**< alerts told; the first ones */

struct replay_mark {
    uint64_t id, since_ns, fired_ns, end_ns; /**< as in WIRE_MARK_ROW */
    char kind[33], severity[17], title[129];
};

struct replay_marks {
    uint32_t count;
    uint64_t left_out;
    struct replay_mark list[REPLAY_MARKS];
};

struct replay_shared {
    _Atomic uint64_t end_ns;     /**< last message known */
    _Atomic uint64_t indexed_ns; /**< media time up to which there are states to seek from */
    _Atomic uint64_t reached_ns; /**< by the worker that seeks; 0: none does */
    _Atomic int indexed;         /**< all is */
    _Atomic uint64_t version;    /**< of the marks; odd: they change */
    struct replay_marks
        recorded; /**< until all is indexed; none where it is judged by other rules */
    struct replay_marks made;
};

/** Memory that children of this process share; NULL: there is none. */
struct replay_shared *replay_shared_map(void);

/** Take an alert into marks, or its newer state. Those that never fired are left out. */
void replay_marks_take(struct replay_marks *marks, const struct wire_alert *alert);

/** As the one that indexes. */
void replay_shared_alert(struct replay_shared *shared, const struct wire_alert *alert);
void replay_shared_done(struct replay_shared *shared);

/** The marks to be told. @param version  set to what they are of @return 0, or -EAGAIN: they change
 * just now */
int replay_shared_marks(const struct replay_shared *shared, struct replay_marks *out,
                        uint64_t *version);

#endif
