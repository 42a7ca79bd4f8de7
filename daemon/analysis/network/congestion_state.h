/* The state of the links over windows, shared by congestion.c (windows and queries) and
 * congestion_judge.c (averages and states of links). */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_STATE_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_STATE_H

#include "daemon/analysis/network/congestion.h"

#include <stdbool.h>

#define CONGESTION_NO_KIND UINT32_MAX /**< the number stands for no link */

/** One link. Sums over windows are weighted, as in averages or as in recent loads. */
struct link_track {
    double average;                 /**< bytes, weights of averages */
    double recent;                  /**< bytes, weights of recent loads, as the next three */
    double log_latency, matched;    /**< logarithms of relative latencies, and their messages */
    double recent_measured;         /**< bytes counted by interfaces */
    double measured, modelled;      /**< as `average`, over the windows that have a byte counter */
    double capacity;                /**< bytes a second; 0: not known */
    uint64_t counter, next_counter; /**< amount counted in the last window, and for the next one;
                                         CONGESTION_UNKNOWN: none */
    bool packets, next_packets;     /**< those counters count packets */
    uint64_t peak;                  /**< bytes */
    uint64_t since;                 /**< window in which the state began */
    uint64_t changed;               /**< window of the last change to or from hot or congested */
    uint64_t over_limit;            /**< last window whose own load was above the limit of hot, or
                                         CONGESTION_UNKNOWN */
    uint32_t kind;
    enum congestion_state state;
};

/** The links of one kind: see congestion.h. */
struct link_kind {
    double largest;  /**< recent load, bytes a second */
    double sum;      /**< recent loads of the loaded links, bytes a second */
    uint64_t loaded; /**< links that are loaded */
};

struct congestion {
    const struct topology *topology; /* borrowed */
    uint32_t link_count, kind_count;
    struct link_loads *loads;      /* owned; bytes and messages of the last window */
    struct link_loads *latencies;  /* owned; as bytes the sum of logarithms in units of
                                      1 / CONGESTION_UNIT, as messages those that are matched */
    struct link_track *tracks;     /* owned; by link */
    struct link_kind *kinds;       /* owned; by kind */
    struct congestion_pair *pairs; /* owned; of the last window, ascending */
    size_t pair_count, pair_capacity;
    uint64_t window, first_window;
    bool started;          /* there was a window */
    double seconds;        /* length of the last window */
    double weight;         /* sum of the windows' weights in averages */
    double recent_seconds; /* weighted sum of the windows' lengths in recent loads */
};

#define CONGESTION_UNIT 0x1p20

/** What is left of weighted sums from one window to the next. */
struct congestion_fading {
    double average, recent;
};

/** Update averages and states of all links from the loads of the window.
 *  @param fading  since the window before */
void congestion_judge_links(struct congestion *congestion, struct congestion_fading fading);

#endif
