/* What counters of interfaces measured on each link, over any span of the job's time: from the rows
 * of topic links, in bounded memory (see history.h). */
#ifndef HOLTER_VIEWER_MODEL_MEASURED_H
#define HOLTER_VIEWER_MODEL_MEASURED_H

#include "daemon/analysis/sums/history.h"

#include "holter/wire.h"

#define MEASURED_BYTES (64u << 20) /**< maximum memory */

struct measured {
    struct history history; /**< items: links; one figure each */
    uint8_t unit;           /**< 0 bytes, 1 packets */
    uint64_t newest;        /**< window; repeated rows of it or older ones are ignored */
    int more;               /**< more rows of that window follow */
    uint64_t version; /**< incremented when something was added; 0: nothing was measured yet */
};

void measured_init(struct measured *measured);
void measured_clear(struct measured *measured);

/** Adds the measurements in a message of topic links. @return 0 or -ENOMEM */
int measured_apply(struct measured *measured, const struct wire_links *message);

#endif
