/* The parts of the live view. The evolution strip shows latency by rank region over time (PCLVis,
 * Fig. 6): a row for the job, for each locality and for each region, and circles for windows;
 * colour is the latency relative to the reference, area the time that messages lost, which the
 * worst windows have most of; periods of
 * growth and steady periods are marked. Time is linear as in the curve, or everything except these
 * periods is compressed to start, middle and end (PCLVis, section 5.1). In the heat map of waiting
 * each row is one or several ranks, each column one or several windows, the colour is the share of
 * time spent waiting. */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_PARTS_H
#define HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_PARTS_H

#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

/** 1 if there is something to show. */
int evolution_known(const struct model *model);

/** Height that shows every row, as low or as tall as rows are, for at most `most` regions. */
double evolution_height(const struct model *model, uint32_t most, int tallest);

void evolution_layout(struct stage *stage, struct box box, const struct timeline *line);

void heat_layout(struct stage *stage, struct box box, const struct timeline *line);

enum {
    EVOLUTION_COLUMNS = 512,
    EVOLUTION_CALM = 2,   /* relative latency up to which the colours of a calm series go, */
    EVOLUTION_UNUSUAL = 4 /* unless it is at least so large */
};

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

/** Transfer time beyond what these messages normally take, mean of its windows, nanoseconds. */
double evolution_lost(const struct latency_point *point);

/** What the largest circle of a series represents, nanoseconds: the most that a window lost, but
 * at least half of the transfer time of the busiest, so that circles stay small while nothing is
 * lost. series may be NULL. */
double evolution_most_lost(const struct latency_series *series, const struct evolution_plot *plot);

#endif
