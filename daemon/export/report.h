/* A recording as one HTML file that needs nothing else: for a colleague who has nothing installed.
 * No script runs in it and nothing is fetched; charts are SVG, pictures are in it. */
#ifndef HOLTER_EXPORT_REPORT_H
#define HOLTER_EXPORT_REPORT_H

#include "daemon/export/export.h"

#define REPORT_WINDOWS                                                                             \
    1000000u /**< windows, and phases, that are drawn; further ones are left out and told */

/** A picture of the viewer. */
struct report_picture {
    const char *title, *text;
    const void *png;
    size_t length;
};

/** What another mapping would bring, in one measure. */
struct report_measure {
    const char *name;
    int bytes;                     /**< 1: it is in bytes; 0: a count */
    uint64_t before, after, bound; /**< bound: 0: not known */
};

/** Beside what the recording itself holds. All borrowed. */
struct report_extras {
    const struct report_picture *pictures;
    size_t picture_count;
    const struct report_measure *measures; /**< of a suggested mapping */
    size_t measure_count;                  /**< 0: none is suggested */
    const char *mapping_network;           /**< it is for */
    const char *mapping_command;           /**< that makes the mapping again */
    const char *mapping_none;              /**< why none is suggested; may be NULL */
};

/** @param source  with content @return 0, -ENOMEM, -EIO or another negative error */
int report_write(FILE *out, const struct export_source *source, const struct report_extras *extras);

#endif
