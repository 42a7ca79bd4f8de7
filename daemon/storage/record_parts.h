/* Recordings in parts, for jobs whose messages do not fit on the disk.
 *
 * When a file has reached an eighth of the maximum size of all parts together, the recording
 * continues in the next one: holter-J.hrec, holter-J.part2.hrec, holter-J.part3.hrec ... Each
 * part is a recording of its own: it begins with the state (ranks, places, network, criteria,
 * regions, alerts) that the earlier parts have left. The oldest parts are removed, so that all
 * together never exceed the maximum. The recorder's thread and attached recordings use this. */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_PARTS_H
#define HOLTER_DAEMON_STORAGE_RECORD_PARTS_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

/** Smallest maximum size of all parts together. */
#define RECORD_MINIMUM_BYTES (UINT64_C(16) << 20)

/** Zero-initialised is empty. */
struct record_parts {
    char base[520];       /**< path of part 1 */
    char path[560];       /**< of the part that is written */
    unsigned number;      /**< number of the part that is written; 0: none yet */
    uint64_t max_bytes;   /**< of all parts together; 0: no limit */
    uint64_t begun_bytes; /**< of the state that the part begins with; 0: none, or not known */
    uint64_t removed_ns;  /**< arrival of the first message in the oldest part, if older parts were
                             removed; else 0 */
    uint64_t
        attached_ns; /**< recorded since then; 0: from the begin of the job. Set by the caller */
    uint64_t missed; /**< messages of agents that were not received. Set by the caller */
};

/** Begin the recording of a job, or continue its newest part.
 * @param base  path of part 1
 * @return 0, or -ENAMETOOLONG: parts->path is "" */
int record_parts_begin(struct record_parts *parts, const char *base, uint64_t max_bytes);

/** Has a file reached the size of a part? @param bytes  of the file and its log */
int record_parts_is_full(const struct record_parts *parts, uint64_t bytes);

/** Is it time for the next part? Not if the file is small again after a checkpoint of its log.
 * @param recording  without uncommitted changes */
int record_parts_needs_next(const struct record_parts *parts, struct recording *recording);

/** Is it time to commit, as only committed bytes are counted? @param bytes  of messages since the
 * last commit */
int record_parts_needs_commit(uint64_t bytes, uint64_t max_bytes);

/** Write the row of the table "part", without committing. @return 0 or -EIO */
int record_parts_write_row(const struct record_parts *parts, struct recording *recording);

/** Continue in the next part.
 * @param recording  without uncommitted changes; closed and replaced by the next part
 * @param why        set on failure: then *recording is closed and NULL
 * @return 0 or negative */
int record_parts_next(struct record_parts *parts, struct recording **recording, uint64_t now_ns,
                      char *why, size_t capacity);

#endif
