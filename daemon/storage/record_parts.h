/* A recording in parts, for jobs that run longer than a disk is large.
 *
 * When a file has an eighth of what all may take together, the recording goes on in the next:
 * holter-J.hrec, holter-J.part2.hrec, holter-J.part3.hrec ... Each is a recording of its own: it
 * begins with what the ones before said about ranks, places, network, criteria, regions and alerts.
 * The oldest are removed, so that all together never take more. The recorder's thread uses this. */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_PARTS_H
#define HOLTER_DAEMON_STORAGE_RECORD_PARTS_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

#define RECORD_LEAST_BYTES (UINT64_C(16) << 20) /**< that all parts may take together, at least */

struct record_message;

/** Zero-initialised is empty. */
struct record_parts {
    char base[520];                         /**< path of part 1 */
    unsigned number;                        /**< of the part that is written; 0: none yet */
    struct record_message *ranks, *network; /**< owned: what each further part begins with */
    size_t ranks_count, ranks_room, network_count, network_room;
    size_t ranks_bytes;   /**< of those about ranks */
    int network_more;     /**< the network is not complete yet */
    uint64_t removed_ns;  /**< begin of the oldest part, when older ones were removed; else 0 */
    uint64_t attached_ns; /**< recorded from then on; 0: from the begin. Set by the caller */
    uint64_t missed;      /**< messages of agents that did not come. Set by the caller */
};

void record_parts_finish(struct record_parts *parts);

/** The recording of a job begins, or goes on with the newest part that is there.
 *  @param base  path of part 1 @param path  set to the file to be written @return 0 or
 * -ENAMETOOLONG */
int record_parts_begin(struct record_parts *parts, const char *base, char *path, size_t room);

/** Remember what a further part needs: a message about ranks, or a part of the network as it is
 * published.
 *  @return 0 or -ENOMEM */
int record_parts_ranks(struct record_parts *parts, const struct recorded *head, const void *bytes,
                       size_t length);
int record_parts_network(struct record_parts *parts, const struct wire_topology *network,
                         const void *bytes, size_t length);

/** Has it reached the size of a part? @param bytes  of the one that is written, and of its log */
int record_parts_full(uint64_t bytes, uint64_t most_bytes);

/** Is it time for the next part? Not if it is small again once its log is folded in. @param
 * recording  committed */
int record_parts_over(struct recording *recording, uint64_t most_bytes);

/** Is it time to commit, as only what is committed is counted? @param bytes  of messages since the
 * last commit */
int record_parts_due(uint64_t bytes, uint64_t most_bytes);

/** Bring the table "part" up to date; commits nothing. @return 0 or -EIO */
int record_parts_tell(const struct record_parts *parts, struct recording *recording);

/** Go on with the next part.
 *  @param recording  committed; closed, and in its place the next one
 *  @param path  of it; brought up to date
 *  @param why  set on failure: *recording is closed then, and NULL @return 0 or negative */
int record_parts_next(struct record_parts *parts, struct recording **recording, char *path,
                      size_t room, uint64_t most_bytes, uint64_t now_ns, char *why,
                      size_t why_room);

#endif
