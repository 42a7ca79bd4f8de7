/* Memory that the processes of a replay share: how far the recording is indexed, the alerts on its
 * time line, how far a seek has come.
 *
 * There is one writer of each: the worker on its way to a target writes reached_ns, the one that
 * serves index_waits, the index (or, in its place, the worker of a replay that is recorded) all the
 * rest. Marks are read as they were at one time. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_SHARED_H
#define HOLTER_DAEMON_REPLAY_REPLAY_SHARED_H

#include "holter/wire.h"

#include <stdatomic.h>
#include <stdint.h>

#define REPLAY_MARKS_MAXIMUM 1024u /**< the first alerts of a recording are shown as marks */

struct replay_mark {
    uint64_t id, since_ns, fired_ns, end_ns; /**< as in WIRE_MARK_ROW */
    char kind[33], severity[17], title[129];
};

struct replay_marks {
    uint32_t count;
    uint64_t left_out;        /**< alerts that have no place in the list */
    uint64_t newest_left_out; /**< the highest id of these; 0: there are none */
    struct replay_mark list[REPLAY_MARKS_MAXIMUM];
};

struct replay_shared {
    _Atomic uint64_t end_ns;      /**< when the last message was received, as far as it is known */
    _Atomic uint64_t indexed_ns;  /**< media time of the last checkpoint */
    _Atomic uint64_t reached_ns;  /**< by the worker that seeks; 0: none does */
    _Atomic int index_waits;      /**< the index is to leave the processor to the worker */
    _Atomic int indexed;          /**< the end was reached, and marks are complete */
    _Atomic uint64_t version;     /**< of the marks; odd while they are written */
    struct replay_marks recorded; /**< marks of the recording's own alerts, shown until all is
                                     indexed; none if it is judged by other rules */
    struct replay_marks made;     /**< marks of the alerts of this replay */
};

/** Map memory that children of this process share. @return NULL: there is none */
struct replay_shared *replay_shared_map(void);

/** Add an alert to marks, or update it. Alerts that never fired are left out. */
void replay_marks_add(struct replay_marks *marks, const struct wire_alert *alert);

/** Add an alert of this replay. */
void replay_shared_add_alert(struct replay_shared *shared, const struct wire_alert *alert);

/** The index is complete. @param end_ns  when the last message was received; the end in the file
 * may be wrong */
void replay_shared_finish(struct replay_shared *shared, uint64_t end_ns);

/** Copy the marks to be shown. @param version  set to their version
 *  @return 0, or -EAGAIN: they are being written */
int replay_shared_read_marks(const struct replay_shared *shared, struct replay_marks *out,
                             uint64_t *version);

#endif
