/* The state of the analysis of scopes, shared by scopes.c (windows), scopes_series.c (references of
 * pairs), scopes_sums.c (what rows come to in each scope), scopes_select.c (which scopes explain
 * them), scopes_response.c (short and long messages), scopes_levels.c (common noise),
 * scopes_findings.c (findings that are open) and scopes_waits.c (who is waited for). */
#ifndef HOLTER_DAEMON_ANALYSIS_SCOPES_SCOPES_STATE_H
#define HOLTER_DAEMON_ANALYSIS_SCOPES_SCOPES_STATE_H

#include "daemon/analysis/scopes/scopes.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stdbool.h>

/* Classes of messages with references of their own: by locality and size class, and by how the
 * receiver found them. A message that was there before the receiver came has no flight that could
 * be measured, and when more of them are awaited than before, messages do not take longer. */
#define SCOPE_CLASS_BITS 11u
#define SCOPE_CLASS_CAME_LATE (1u << SCOPE_CLASS_BITS)   /* the receiver came after the send */
#define SCOPE_CLASS_JOINT (1u << (SCOPE_CLASS_BITS + 1)) /* completed together with others */
#define SCOPE_CLASSES (4u << SCOPE_CLASS_BITS)
_Static_assert(LOCALITIES *SIZE_CLASSES <= 1u << SCOPE_CLASS_BITS, "classes fit their bits");
#define SCOPE_MINIMUM 1.2       /* smallest ratio that is a finding */
#define SCOPE_CALM 4u           /* windows that are only learned from at the begin */
#define SCOPE_KNOWN 10u         /* from here on noise is learned: references have little of it */
#define SCOPE_OVER 5u           /* windows at the former level after which a finding is over */
#define SCOPE_IDLE 16u          /* windows without messages: what was before is forgotten */
#define SCOPE_RECENT 8u         /* windows whose rows are kept for a search */
#define SCOPE_SPREAD_MEMORY 120 /* windows that variances between scopes are learned over */
#define SCOPE_SPREAD_CLIP 9.0   /* squares of standard deviations count up to this */
#define SCOPE_LEAST_SPREAD 1e-5
#define SCOPE_FALSE_RATE 5e-7 /* of windows: what chance reaches more rarely is none */
#define SCOPE_FEW 9u          /* pairs of nodes: all those of three nodes */
#define SCOPE_BEGUN 1.0       /* of CUSUM: from here on noise is what it was before the excursion */
#define SCOPE_OCTAVES 40u     /* classes of messages by the time that they usually take */
#define SCOPE_EXCURSION 5.0   /* of CUSUM: from here on deviations are not learned as noise */

/** A pair of ranks and a size class. */
struct scope_series {
    float mean;       /**< reference: natural logarithm of the time of flight, nanoseconds */
    float variance;   /**< of one message about it */
    float noise;      /**< the same, as it was before an excursion that goes on */
    float seen;       /**< windows that it was learned from, at most SERIES_MEMORY */
    uint32_t pair;    /**< number of its pair of nodes */
    uint32_t variant; /**< a ring: series of the same ranks and size that came otherwise */
    uint32_t last;    /**< window in which it was seen last, counted from the first one */
};

/** A series in one window. */
struct scope_row {
    uint32_t series;
    uint32_t source, destination; /**< ranks */
    uint32_t pair;                /**< number of their pair of nodes */
    uint32_t class_;              /**< below SCOPE_CLASSES */
    float messages;
    float x;        /**< mean logarithm of the time of flight */
    float y;        /**< x less its reference and less what open findings explain */
    float weight;   /**< reciprocal of the variance of y */
    float variance; /**< of y by the messages and the reference of the row alone */
    float lasting;  /**< the part of it that is the error of the reference: it stays for windows */
    float limit;    /**< y counts up to this absolute value when scopes are compared */
};

struct scope_rows {
    struct scope_row *list; /**< owned */
    size_t count, capacity;
};

/** Weighted sums of rows, of each locality: of the weights and of the products with y. Every
 * addend is rounded to a multiple of 2^-20, so that sums are exact and do not depend on the order.
 */
struct scope_sum {
    double weight[LOCALITIES], product[LOCALITIES];
    double lasting; /**< of squares of weights times what lasts of the variance */
    double noise;   /**< likewise, of noise that lasts for some windows */
    double scatter; /**< likewise, what rows that are far off have beyond their evidence */
};

/** Peaks of excursions that ended by themselves: sums in which old ones fade. */
struct scope_peaks {
    double count;   /**< above the floor */
    double excess;  /**< by which they were above it, together */
    double most;    /**< that one peak of this window counts */
    double windows; /**< that were learned from */
};

/** How the effects of a scope in one window and in the next are correlated. */
struct scope_noise {
    float square;  /**< sum of squares of recent effects */
    float product; /**< sum of the products of recent effects with the next one each */
    float lag;     /**< correlation, as it was before an excursion that goes on */
};

/** The deviation of a scope over the last windows. */
struct scope_track {
    float cusum;
    float
        peak; /**< of the excursion: the most standard deviations that could have been a finding */
    float product, weight;              /**< sums since `start`; weights are evidence */
    float before, newest;               /**< effects in the last two windows that had messages, */
    float before_weight, newest_weight; /**< and their weights */
    uint32_t start; /**< first window, counted from the first one, of the excursion */
    uint32_t last;  /**< the last one in which the scope had messages */
    struct scope_noise noise;
};

#define LEVEL_WINDOWS 6u

/** What all messages of a locality deviate by; see scopes_levels.c. */
struct scope_level {
    double variance, lag;             /**< of a window, and its covariance with the one before */
    double deviations[LEVEL_WINDOWS]; /**< of the last windows, the newest first */
    double error;                     /**< variance of the newest one's measurement */
    uint32_t seen, learned;           /**< windows without a gap; learned from */
    double square, product;           /**< sums over windows of an excursion that goes on, */
    uint32_t held;                    /**< so many: they are noise if it ends without a finding */
    bool steps;                       /**< a step of the last windows is no noise */
};

#define LEVELS (LOCALITIES + 1) /* within nodes, between nodes, and all */
#define LEVEL_ALL LOCALITIES

/** Kinds of candidates. */
enum scope_table_kind {
    TABLE_LOCALITY,  /**< by locality; last: all messages */
    TABLE_NODE,      /**< 4 a node: enum scope_direction */
    TABLE_PAIR,      /**< by number of the pair of nodes, directed */
    TABLE_PAIR_BOTH, /**< by number of the pair without direction */
    TABLE_LINK,      /**< by number of the link */
    TABLE_RANK,      /**< 3 a rank: out, in, both */
    SCOPE_TABLES
};

struct scope_table {
    struct scope_sum *sums;     /**< owned */
    struct scope_track *tracks; /**< owned */
    uint32_t count, capacity, track_capacity;
    struct scope_peaks peaks; /**< of squares of standard deviations */
    /** Variance between scopes of the kind beyond that of their messages, by scopes_locality(). */
    double spread[LOCALITIES];
};

/** A pair of nodes, directed. */
struct scope_pair {
    uint32_t from, to;
    uint32_t both;       /**< number of the pair without direction */
    uint32_t first_link; /**< position in scopes.links */
    uint32_t links;      /**< how many are on its route */
    double unseen;       /**< of the window: sum of weight times share of the prior */
    double scale;        /**< of the window: weights of its rows are multiplied by it */
    double lasting;      /**< variance that its rows share, and that lasts */
};

/** How messages that usually take about as long deviate in a scope, as a multiple of what all of
 * its messages do: a delay that all have, or a smaller bandwidth, makes short and long ones take
 * longer by different factors. Sums of a regression, by scopes_row_octave(). */
struct scope_response {
    double product[SCOPE_OCTAVES], weight[SCOPE_OCTAVES];
    double square, count;         /**< of deviations from the effect; rows */
    double factor[SCOPE_OCTAVES]; /**< the multiples, once it is solved */
};

/** What a finding is made of, beside what is public. */
struct scope_open {
    struct scope_finding finding;
    struct scope_response response;
    double effects[SCOPE_MEMBERS]; /**< natural logarithms, now */
    double worst[SCOPE_MEMBERS];   /**< the largest so far */
    /** Windows in a row in which only what a node sends (SCOPE_OUT), or receives, deviated. */
    uint8_t alone[2][SCOPE_MEMBERS];
    uint32_t good; /**< windows in a row that may be at the former level */
    double good_product[SCOPE_MEMBERS], good_weight[SCOPE_MEMBERS]; /**< sums over these */
};

#define WAIT_RUNS 3u

/** How long ranks are waited for; see scopes_waits.c. */
struct scope_waits {
    struct scope_wait *ranks; /**< owned */
    uint32_t capacity;
    struct scope_peaks peaks[WAIT_RUNS]; /**< of what runs of windows deviate by at least */
    double scale;                        /**< typical wait per message, nanoseconds */
    double variance;                     /**< of a rank's deviation in one window */
    int slow;                            /**< messages of the window before took longer in flight */
};

struct scopes {
    uint32_t most_series; /**< pairs and size classes that are kept */
    uint64_t number;      /**< of the last window */
    uint32_t windows;     /**< so far */
    uint32_t *node_of;    /**< owned; by rank */
    uint32_t ranks;       /**< one above the highest that was placed or seen */
    uint32_t rank_capacity;
    uint32_t nodes; /**< one above the highest */

    struct key_table keys; /**< of series: ranks; locality and class */
    struct scope_series *series;
    uint32_t series_capacity;
    uint32_t *row_of; /**< owned; by series: 1 + its row in the window that is compared; 0: none */
    uint32_t row_capacity;
    struct key_table pair_keys, both_keys; /**< of pairs of nodes */
    struct scope_pair *pairs;
    uint32_t pair_capacity;
    uint32_t *links; /**< owned */
    size_t link_count, link_capacity;
    scope_route_fn *route;
    const void *route_user;

    struct scope_rows recent[SCOPE_RECENT];                       /**< a ring by window */
    double class_sum[SCOPE_CLASSES], class_weight[SCOPE_CLASSES]; /**< of the window */
    float class_mean[SCOPE_CLASSES]; /**< of x, over the windows so far; 0: none had the class */
    double noise[LOCALITIES];        /**< variance of one message */
    double tail[LOCALITIES];         /**< share of rows far above their reference, by chance */
    double between;                  /**< variance of references between pairs of one class */
    double between_nodes;            /**< the part of it that pairs of the same nodes share */
    struct scope_table tables[SCOPE_TABLES];
    uint32_t summed;                      /**< windows in the sums of the tables */
    struct scope_level common[LEVELS];    /**< what messages have in common, as TABLE_LOCALITY */
    struct scope_level apart[LOCALITIES]; /**< the part that the other locality does not share */
    double square[LOCALITIES], together;  /**< variances and covariance of both localities */

    struct scope_open open[SCOPE_FINDINGS];
    struct scope_finding results[SCOPE_FINDINGS];
    uint32_t open_count;
    uint64_t next_id;
    struct scope_waits waits;
};

static inline double scope_round(double x)
{
    const double magic = 0x1.8p32; /* 1.5 * 2^52 * 2^-20 */
    return (x + magic) - magic;
}

static inline double scope_limit(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

static inline enum locality scope_row_locality(const struct scope_row *row)
{
    return (enum locality)(row->class_ & 1);
}

static inline uint32_t scopes_row_octave(const struct scopes *s, const struct scope_row *row)
{
    return (uint32_t)scope_limit(s->series[row->series].mean / 0.69314718, 0, SCOPE_OCTAVES - 1);
}

static inline struct scope_rows *scopes_newest(struct scopes *s)
{
    return &s->recent[s->windows % SCOPE_RECENT];
}

/** Are there so few pairs of nodes that they do not show what is noise? A fault is most of what is
 * measured then. Nothing is learned as noise from what may be its begin, and how far noise goes on
 * from window to window is learned. Among many pairs others show what noise is. */
static inline bool scopes_are_few(const struct scopes *s)
{
    return s->pair_keys.count <= SCOPE_FEW;
}

/** Share of the newest observation when so many were averaged before. */
static inline double scope_rate(double seen, double memory)
{
    return 1 / (seen < memory ? seen + 1 : memory);
}

/* scopes_series.c */
int scopes_collect(struct scopes *s, const struct transfers *rows);
void scopes_compare(struct scopes *s);
void scopes_weigh(struct scopes *s);
void scopes_learn(struct scopes *s);
int scopes_forget(struct scopes *s);

/* scopes_sums.c */
/** A candidate's deviation. */
struct scope_estimate {
    double effect;   /**< natural logarithm */
    double weight;   /**< reciprocal of the variance, common noise included */
    double evidence; /**< the same, less what single rows that are far off add to the variance */
    double variance; /**< of the effect, what lasts included */
    double lasting;  /**< the part of it that does not average out over windows */
    double noise;    /**< the part that lasts for some windows, before it does */
};

/** The locality of all messages of a candidate that has one of its own: a locality or a pair of
 * nodes. Other candidates count as those between nodes. */
enum locality scopes_locality(const struct scopes *s, enum scope_table_kind kind, uint32_t i);
int scopes_reserve_tables(struct scopes *s);
/** Add up the rows of windows from first to last, which are kept, in all tables; y is limited. */
void scopes_sum_windows(struct scopes *s, uint32_t first, uint32_t last);
/** Effect and weight by generalised least squares, when all messages of a locality share a random
 * effect, of which the variance is known (Sherman and Morrison's formula for the inverse of the
 * covariance).
 * @param all  sums of all rows, by locality @return 0: the scope had no messages */
int scopes_compare_with_common(const struct scopes *s, const struct scope_sum *sum,
                               const struct scope_sum *all, struct scope_estimate *out);
/** The estimate of a candidate from the sums of its table. @return 0: it had no messages */
int scopes_estimate(const struct scopes *s, enum scope_table_kind kind, uint32_t i,
                    struct scope_estimate *out);
/** The part of the variance of a mean over windows that does not become smaller with their weight:
 * what lasts, and noise that goes on for some windows. */
double scopes_lasting(const struct scope_estimate *e, uint32_t windows);
struct scope scopes_candidate(const struct scopes *s, enum scope_table_kind kind, uint32_t i);
double scopes_threshold(const struct scopes *s, enum scope_table_kind kind);

/* scopes_peaks.c */
/** @param excess  that is assumed before any peak is known */
void scope_peaks_init(struct scope_peaks *p, double excess);
void scope_peaks_add(struct scope_peaks *p, double excess);
/** A window has been learned from. */
void scope_peaks_end_window(struct scope_peaks *p);
/** What is reached above the floor by chance in so many windows. */
double scope_peaks_reach(const struct scope_peaks *p, double rate);

/* scopes_levels.c */
void scopes_init_levels(struct scopes *s);
void scopes_follow_levels(struct scopes *s);
/** What a finding about some messages explains is no deviation of all messages, nor was it in the
 * windows from `first` on. Overwrites the sums of the tables. */
void scopes_revise_levels(struct scopes *s, uint32_t first);
void scopes_learn_levels(struct scopes *s);
/** A threshold in standard deviations, where the variance of a level is known from few windows. */
double scopes_level_threshold(const struct scope_level *level, double threshold);

/* scopes_response.c */
/** Messages of an octave deviated by y, where those of the scope did by an effect. */
void scope_response_add(struct scope_response *r, uint32_t octave, double weight, double y,
                        double effect);
/** Add sums, and solve. */
void scope_response_merge(struct scope_response *into, const struct scope_response *r);
void scope_response_solve(struct scope_response *r);

/* scopes_select.c */
/** Follow all scopes with the sums of the newest window; search when one persists. */
void scopes_follow(struct scopes *s);

/* scopes_findings.c */
int scopes_row_is_in(const struct scopes *s, const struct scope *scope,
                     const struct scope_row *row);
/** Does an open finding about transfers have the row? */
int scopes_row_is_explained(const struct scopes *s, const struct scope_row *row);
/** Estimate the effects of open findings in the newest window, and subtract them from its rows. */
void scopes_explain(struct scopes *s);
struct scope_open *scopes_open_finding(struct scopes *s, const struct scope *scope,
                                       enum scope_part part, uint64_t onset, double effect);
/** Sum up by how much messages of findings about transfers took longer in the newest window. */
void scopes_sum_excess(struct scopes *s);
/** Publish figures of the findings. */
void scopes_report(struct scopes *s);
void scopes_drop_ended(struct scopes *s);

/* scopes_symptoms.c */
void scopes_find_symptoms(struct scopes *s);

/* scopes_waits.c */
int scopes_waits_update(struct scopes *s, uint64_t length_ns, const struct transfers *rows);
void scopes_waits_finish(struct scope_waits *waits);

/** See state_bytes.h. */
void scopes_waits_copy_state(struct state_bytes *b, struct scope_waits *waits);

#endif
