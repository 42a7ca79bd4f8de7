/* A recording as one self-contained HTML file, for readers who have nothing installed. It fetches
 * nothing; charts are SVG, pictures are embedded. One script of its own, report.js, adds tooltips
 * and sorts tables; without it the page has all charts and tables. */
#ifndef HOLTER_EXPORT_REPORT_H
#define HOLTER_EXPORT_REPORT_H

#include "daemon/export/export.h"

/** Maximum number of windows, and of phases; the page states that further ones are left out. */
#define REPORT_WINDOWS 1000000u

/** A picture from the viewer. */
struct report_picture {
    const char *title, *text;
    const void *png;
    size_t length;
};

/** The effect of another mapping, in one measure. */
struct report_measure {
    const char *name;
    int bytes;                     /**< 1: the measure is in bytes; 0: a count */
    uint64_t before, after, bound; /**< bound: 0: unknown */
};

/** Content in addition to the recording. All members are borrowed. */
struct report_extras {
    const struct report_picture *pictures;
    size_t picture_count;
    const struct report_measure *measures; /**< of the suggested mapping */
    size_t measure_count;                  /**< 0: none is suggested */
    const char *mapping_network;           /**< the network that it is for */
    const char *mapping_command;           /**< the command that computes the mapping */
    const char *mapping_none;              /**< why none is suggested; may be NULL */
    /** State of the job as its own recording has it, where the tables are those of a replay, for
     * which the job ends with the recording. NULL or "": as in the tables. */
    const char *state;
};

/** @param source  must have content @return 0, -ENOMEM, -EIO or another negative error */
int report_write(FILE *out, const struct export_source *source, const struct report_extras *extras);

#endif
