/* What criteria.c (windows and references) and criteria_classes.c (every class) share. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_CRITERIA_STATE_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_CRITERIA_STATE_H

#include "daemon/analysis/latency/criteria.h"
#include "daemon/analysis/latency/histogram.h"
#include "holter/size_class.h"

/* One size class of a locality. */
struct cell {
    struct histogram progress;        /* of the window in progress */
    struct histogram horizon;         /* of the windows in the ring */
    struct histogram pool;            /* of the windows since the last median */
    uint64_t pooled;                  /* windows in the pool */
    struct histogram history;         /* weights of the medians so far */
    double latest;                    /* latest median, nanoseconds */
    double fresh;                     /* median of the window that is being closed; NaN: none */
    uint64_t fresh_windows;           /* that `fresh` stands for */
    double own_recent, own_reference; /* that the criteria were last made of; NaN: none */
    double window_ns;                 /* median of the last closed window; NaN: no messages */
    uint64_t window_messages;         /* of that window */
    int closed;                       /* had messages in a closed window */
};

/* The size classes of a locality that have cells. */
struct used {
    uint16_t of[SIZE_CLASSES];
    unsigned count;
    int few;     /* when criteria were last made, some class had fewer than params.least messages */
    int changed; /* closing the last window changed the criteria */
};

/* What one window added to the horizons. */
struct slot {
    uint64_t window; /* NO_WINDOW: empty */
    uint64_t *entries;
    size_t count;
};

struct criteria {
    struct criteria_params params;
    struct cell *cells[CRITERIA_LOCALITIES][SIZE_CLASSES]; /* owned; NULL: no messages so far */
    struct used used[CRITERIA_LOCALITIES];
    struct slot *ring;          /* owned; [horizon] */
    uint64_t newest;            /* last closed window, or NO_WINDOW */
    uint64_t origin;            /* window whose median has the weight WEIGHT_ONE */
    double sizes[SIZE_CLASSES]; /* bytes in the middle of each class */
    double recent[CRITERIA_LOCALITIES][SIZE_CLASSES];
    double reference[CRITERIA_LOCALITIES][SIZE_CLASSES];
};

/** Bring the criteria of a locality up to date. */
void criteria_find(struct criteria *criteria, unsigned locality);

#endif
