/* Sums by pair of processes while a file is read. Internal to traffic*.c. */
#ifndef HOLTER_DAEMON_IMPORT_TRAFFIC_SUMS_H
#define HOLTER_DAEMON_IMPORT_TRAFFIC_SUMS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/import/traffic.h"

struct pair_sum {
    uint64_t from, to; /**< ids, below 2^32 */
    uint64_t bytes, messages;
};

/** Zero-initialised is empty. */
struct pair_sums {
    struct key_table keys; /* hi: from, lo: to */
    struct pair_sum *list; /* owned: by number of the key */
    size_t capacity;
};

/** Add to the sum of a pair. Sums saturate at the largest number. @param pair  messages above 0
 * @return 0, -ENOMEM, or -HOLTER_ELIMIT */
int pair_sums_add(struct pair_sums *sums, const struct pair_sum *pair);

/** Make the ids, processes and edges of pairs.
 * @param world  number of ranks; UINT32_MAX: see traffic.h @return 0, -ENOMEM or -HOLTER_ELIMIT;
 * then, too, the pairs are to be finished */
int pair_sums_result(const struct pair_sums *sums, uint32_t world, struct pairs *out);

void pair_sums_finish(struct pair_sums *sums);

/** Sum all windows of a recording, and find the places of its processes. */
int pairs_of_recording(struct pairs *out, const char *path, struct faults *faults);

#endif
