/* What counters of interfaces measured on each link, over any span of the job's time: from the rows
 * of topic links, in bounded memory (see history.h). */
#ifndef HOLTER_VIEWER_MODEL_MEASURED_H
#define HOLTER_VIEWER_MODEL_MEASURED_H

#include "daemon/analysis/sums/history.h"

#include "holter/wire.h"

#define MEASURED_BYTES (64u << 20) /**< most memory */

struct measured {
    struct history history; /**< items: links; one figure each */
    uint8_t unit;           /**< 0 bytes, 1 packets */
    uint64_t newest;  /**< window; what is told of it or of an older one again does not count */
    int more;         /**< further rows of that window follow */
    uint64_t version; /**< raised when something was added; 0: nothing was ever measured */
};

void measured_init(struct measured *measured);
void measured_clear(struct measured *measured);

/** Take in what a message of topic links says was measured. @return 0 or -ENOMEM */
int measured_apply(struct measured *measured, const struct wire_links *message);

#endif
