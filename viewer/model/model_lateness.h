/* Which ranks were late, window by window, and which caused it: topic "lateness". */
#ifndef HOLTER_VIEWER_MODEL_MODEL_LATENESS_H
#define HOLTER_VIEWER_MODEL_MODEL_LATENESS_H

#include "daemon/analysis/sums/history.h"
#include "holter/wire.h"

/** Figures stored for each late rank. */
enum late_column { LATE_NS, LATE_CAUSED_NS, LATE_COLUMNS };

struct rank_lateness_known {
    struct history history; /**< items are ranks */
    uint64_t version;       /**< incremented by every message; 0: there was none */
    uint64_t newest;        /**< newest window of a message */
    uint8_t more;           /**< more ranks of that message's windows follow */
};

void model_lateness_init(struct rank_lateness_known *lateness);
void model_lateness_clear(struct rank_lateness_known *lateness);

/** Rows that are not in the order of ranks, or of ranks beyond the maximum, are ignored.
 *  @param snapshot  1: part of a current state: windows that are known already are not added again
 *  @return 0 or -ENOMEM */
int model_lateness_apply(struct rank_lateness_known *lateness, const struct wire_lateness *message,
                         int snapshot, uint32_t maximum_ranks);

#endif
