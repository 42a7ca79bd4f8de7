/* What the files of the congestion share; nobody else includes it. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_INNER_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_INNER_H

#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/congestion_kept.h"
#include "daemon/analysis/network/tree_sums.h"

#include <math.h>
#include <stdbool.h>

#define CONGESTION_UNIT 0x1p20 /**< logarithms are integers of this fraction */

/* Sums of a link that are followed at once, in memory as malloc() gives it anywhere. */
typedef double congestion_sums __attribute__((vector_size(16), aligned(8)));

/* Of a link: what each window looks at. */
struct track {
    congestion_sums bytes;     /* each window's weight halved every half_life; the recent ones */
    congestion_sums latencies; /* of the recent ones: logarithms, and how many */
    uint64_t peak;
    uint32_t kind;
    uint8_t state;
    uint8_t counted; /* its counts matter: something was told, or has not faded yet */
};

static inline double track_average(const struct track *track)
{
    return track->bytes[0];
}

static inline double track_recent(const struct track *track)
{
    return track->bytes[1];
}

static inline double track_matched(const struct track *track)
{
    return track->latencies[1];
}

/* What counters told of a link; where they do not matter recent_measured is 0, and nothing is
 * known. */
struct link_counts {
    double recent_measured;    /* of measured bytes, as `recent` */
    double measured, modelled; /* sums of bytes over windows with a counter, as average */
    uint64_t counter, told;    /* measured, in the last window and in the next one */
    uint8_t packets, told_packets;
};

/* When a link was something else; and what it can carry. */
struct link_past {
    double capacity; /* bytes a second; 0: not known */
    uint64_t since;
    uint64_t changed; /* window of the last change to or from hot or congested */
    uint64_t over;    /* last window that carried more than it takes to be hot */
};

/* The links of equal make. Loads are recent ones by seconds. */
struct kind {
    uint32_t first, links; /* in by_kind, and how many */
    bool limited;          /* of one the capacity is known */
    double mean;           /* of those that are loaded */
    double limit;          /* above it a link becomes hot */
};

/* How pairs that are the same as in the last window are added; those in a tree always are so. */
enum adding {
    ADDING_UNDECIDED,
    ADDING_IN_TREE, /* all are summed up anew, in `tree` */
    ADDING_ALONG,   /* likewise, along `routes` */
    ADDING_CHANGES, /* what became of each goes over its route */
};

struct congestion {
    const struct topology *topology; /* borrowed */
    struct congestion_params params;
    uint32_t link_count, vertex_count;
    struct link_loads *loads;
    struct link_loads *latencies; /* its bytes are logarithms, its messages are matched ones */
    struct track *tracks;         /* owned; by link, as the next two */
    struct link_counts *counts;
    struct link_past *pasts;
    struct kind *kinds; /* owned */
    uint32_t kind_count;
    uint32_t *by_kind; /* owned; links by kind, then by number */
    uint32_t *noted;   /* owned; room for links that are looked at again in a window */
    struct congestion_pair *pairs, *fresh; /* owned; of the last window, and room for the next */
    size_t pair_count, room, fresh_room;
    bool whole; /* they are those that were given last, in that order, and each has bytes or
                   messages */
    struct congestion_figures
        figures; /* borrowed; of the pairs, where those in `pairs` are older; else empty */
    enum adding adding;
    struct tree_sums *tree; /* owned; NULL: it is none */
    struct kept_routes routes;
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

/** Doubles of this size have no room for fractions, and that of a whole number added is that number
 * more, as their bits are. */
#define CONGESTION_NO_FRACTIONS 0x1.8p52

/** A logarithm as a whole number of units, so that sums do not depend on their order: the nearest,
 * as rint(3) finds, without a call. */
static inline int64_t congestion_whole_units(double log_latency)
{
    const double most = 0x1p30 * CONGESTION_UNIT;
    double units = log_latency * CONGESTION_UNIT;
    if (!(fabs(units) <= most))
        return units > 0 ? (int64_t)most : units < 0 ? (int64_t)-most : 0;
    const union {
        double number;
        int64_t bits;
    } sum = {units + CONGESTION_NO_FRACTIONS}, none = {CONGESTION_NO_FRACTIONS};
    return sum.bits - none.bits;
}

/** The same as a double. */
static inline double congestion_units(double log_latency)
{
    return (double)congestion_whole_units(log_latency);
}

/** A pair becomes another: of the same vertices, or all zero before or after. @param pairs  how
 * many more there are */
void congestion_become(struct congestion *c, const struct congestion_pair *before,
                       const struct congestion_pair *after, int32_t pairs);
/** The window's loads and latencies are there: follow each link, and judge it. @param fade,
 * recent_fade  what is left of sums over windows */
void congestion_follow(struct congestion *c, double fade, double recent_fade);
/** Add what became of pairs to loads and latencies. */
void congestion_flush(struct congestion *c);

/** Are they the pairs of the last window, in its order? */
bool congestion_are_same(struct congestion *c, const struct congestion_pair *pairs, size_t count);
/** Take such a window. */
void congestion_stay(struct congestion *c, const struct congestion_pair *pairs);
/** Take one that figures alone are told of: see congestion_update_figures(). */
void congestion_stay_figures(struct congestion *c, const struct congestion_figures *figures);
/** Forget all pairs and their loads where they have been summed up along routes: what they were
 * before is not known. */
void congestion_begin_anew(struct congestion *c);
/** Bring figures in `pairs` up to date. */
void congestion_settle_pairs(struct congestion *c);

#endif
