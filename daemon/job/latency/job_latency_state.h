/* What job_latency.c (windows), job_latency_regions.c and job_latency_messages.c share. */
#ifndef HOLTER_DAEMON_JOB_LATENCY_JOB_LATENCY_STATE_H
#define HOLTER_DAEMON_JOB_LATENCY_JOB_LATENCY_STATE_H

#include "daemon/analysis/latency/criteria.h"
#include "daemon/analysis/regions/contact.h"
#include "daemon/analysis/regions/regions.h"
#include "daemon/job/latency/job_latency.h"

#define SCOPES_BEFORE_REGIONS 3u /* the job, both localities */
#define STORED_WINDOWS 1024u     /* for late subscribers */

struct region_trend {
    uint32_t id;
    struct latency_trend *trend;
};

struct stored_window {
    uint64_t window, matched, unmatched, rejected, error_ns, uncertain;
    struct wire_series_row *rows; /* owned */
    size_t count;
    struct wire_criterion_row *criteria; /* owned; of classes with messages in the window */
    size_t criteria_count;
};

struct job_latency {
    uint64_t window_ns;
    struct criteria *criteria;
    struct join *join;
    struct contact *contact;
    const struct contact_edge
        *edges; /* borrowed from the contact: not passed on to the regions yet */
    size_t edge_count;
    struct regions *regions;
    struct latency_trend *trends[SCOPES_BEFORE_REGIONS];
    struct region_trend *region_trends; /* by id */
    size_t region_count, region_capacity;
    struct latency_rows carry; /* of corrections, for the next window */
    struct latency_scale scale;
    unsigned group_shift; /* 0: no groups */
    uint32_t *node_of;    /* by rank; UINT32_MAX: not known */
    size_t node_of_count;
    uint32_t *group_of; /* by node: group of its first rank; where there are groups */
    size_t group_of_count;
    /* By rank or, where there are groups, by node: */
    uint32_t *region_of;           /* position in region_trends; region_count: in none */
    struct latency_rank *ranks;    /* of the window that was closed last */
    struct message_ranks messages; /* of the window that was closed last */
    size_t rank_count;
    uint32_t nodes;
    uint64_t world;
    int nodes_stand; /* vertices are nodes, not ranks: there are too many ranks */
    int regions_new,
        ranks_placed; /* since regions were last listed: they have changed; places of ranks have */
    struct latency_sum *region_sums;
    struct latency_groups groups;
    struct latency_series *series;
    size_t series_count, series_capacity;
    int regions_changed;
    /* the window that is being closed, then the last one closed */
    uint64_t window;
    struct latency_rows *closing;
    struct join_counts counts, counts_before;
    uint64_t matched, error_ns;
    uint64_t matched_total;     /* of all windows */
    uint64_t deferred, carried; /* messages in `carry`; those that it had for this window */
    int short_of_memory;
    double sent[LOCALITIES][SIZE_CLASSES]; /* criteria that the agents have */
    uint64_t sent_halves, sent_burst_rows;
    /* buffers for messages */
    struct wire_criterion_row *criterion_rows;
    struct wire_series_row *series_rows;
    struct wire_rank_latency_row *rank_rows;
    struct wire_latency_region_row *region_rows;
    struct wire_region_member_row *member_rows;
    struct region_info *region_infos;
    struct stored_window kept[STORED_WINDOWS];
    size_t retained_first, retained_count, retained_rows;
};

/** Bring regions up to date with the pairs of the window that is being closed.
 *  @return 0, or -ENOMEM: regions that have changed are listed in the next window */
int job_latency_update_regions(struct job_latency *latency, const struct closed_window *window);

/** Store the series of the window that is being closed. */
void job_latency_store_window(struct job_latency *latency);

#endif
