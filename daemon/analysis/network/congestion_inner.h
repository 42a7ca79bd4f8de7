/* What the files of the congestion share; nobody else includes it. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_INNER_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_INNER_H

#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/congestion_kept.h"

#include <stdbool.h>

#define CONGESTION_UNIT 0x1p20 /**< logarithms are integers of this fraction */

struct track {
    double average;            /* sum of bytes, each window's weight halved every half_life */
    double recent;             /* the same, of the recent ones */
    double recent_measured;    /* of measured bytes */
    double log_sum, matched;   /* of latencies, in the recent ones */
    double measured, modelled; /* sums of bytes over windows with a counter, as average */
    uint64_t peak, since;
    uint64_t counter, told; /* measured, in the last window and in the next one */
    uint64_t changed;       /* window of the last change to or from hot or congested */
    uint64_t over;          /* last window that carried more than it takes to be hot */
    double capacity;        /* bytes a second; 0: not known */
    uint32_t kind;
    uint8_t state, packets, told_packets;
};

/* The recent loads of the links of equal make. */
struct kind {
    double most, sum; /* of all; of those that are loaded */
    uint64_t loaded;
    double mean;  /* of those that are loaded */
    double limit; /* above it a link becomes hot */
};

/* Whether the routes of the last window's pairs are kept. */
enum keeping { KEEPING_UNDECIDED, KEEPING, NOT_KEEPING };

struct congestion {
    const struct topology *topology; /* borrowed */
    struct congestion_params params;
    uint32_t link_count, vertex_count;
    struct link_loads *loads;
    struct link_loads *latencies; /* its bytes are logarithms, its messages are matched ones */
    struct track *tracks;         /* owned; by link */
    struct kind *kinds;           /* owned */
    uint32_t kind_count;
    struct congestion_pair *pairs, *fresh; /* owned; of the last window, and room for the next */
    size_t pair_count, room, fresh_room;
    struct kept_routes routes;
    enum keeping keeping;
    struct load_change *changes, *shifts; /* owned; of loads and of latencies, CHANGES of each */
    size_t change_count, shift_count;
    uint64_t window, first;
    size_t hot; /* links that are hot or congested */
    bool begun;
    double seconds; /* length of the last window */
    double fade;    /* of averages, from one window to the next */
    double weight;  /* sum of the windows' weights in averages */
    double recent;  /* sum of their lengths in recent loads */
    uint64_t skipped;
};

#endif
