/* Time and order of the evolution strip: which windows each column of circles represents, with
 * linear time or with calm time compressed; and the order of its rows. */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_TIME_H
#define HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_TIME_H

#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

enum { EVOLUTION_COLUMNS = 512 };

struct evolution_column {
    uint64_t first, last; /* windows */
    double x, w;          /* middle and width */
};

struct evolution_plot {
    const struct timeline *line;
    struct box box;
    uint64_t length_ns;
    struct evolution_column columns[EVOLUTION_COLUMNS];
    uint32_t count;
    int compressed;
};

/** Order of rows and segments of the job, recomputed when facts or the span changed. */
const struct evolution *evolution_update(const struct stage *stage);

/** Fill the columns of a plot whose line, box, length_ns and compressed are set. */
void evolution_columns(const struct stage *stage, const struct evolution *evolution,
                       struct evolution_plot *plot);

/** Where a window begins, in pixels. */
double evolution_x(const struct evolution_plot *plot, uint64_t window);

/** Aggregate the points of a series whose middle lies in a column. @return 0: there are none */
int evolution_at(const struct latency_series *series, const struct evolution_column *column,
                 struct latency_point *out);

/** Largest number of messages per window in any column; series may be NULL. */
double evolution_max_messages(const struct latency_series *series,
                              const struct evolution_plot *plot);

#endif
