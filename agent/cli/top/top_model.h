/* State of one job for `holter top`: data of published messages, stored as long as it is shown. No
 * terminal, no client. Not thread-safe. */
#ifndef HOLTER_AGENT_CLI_TOP_TOP_MODEL_H
#define HOLTER_AGENT_CLI_TOP_TOP_MODEL_H

#include "daemon/analysis/tables/rank_list.h"
#include "holter/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_WINDOWS 256u /**< windows of a strip: the columns of the widest one */
#define TOP_ALERTS 128u  /**< limit of stored alerts; the oldest resolved ones are dropped first */
#define TOP_SERIES 512u  /**< limit of series: the job, two localities, the rest regions */

/** Latency of one scope over the last windows. */
struct top_series {
    uint64_t scope;              /**< enum series_scope */
    uint64_t id;                 /**< region; 0 otherwise */
    uint64_t last;               /**< newest published window */
    uint64_t last_with_messages; /**< newest window with messages */
    bool has_messages;           /**< any window had messages */
    uint64_t trend;              /**< enum series_trend, of that window, as all below */
    uint64_t trend_since;
    uint64_t messages, delayed;
    double slope; /**< growth a minute, as a share; NaN: not known */
    /** Multiples of the reference; of window w at w modulo TOP_WINDOWS when stamp is w + 1. */
    float value[TOP_WINDOWS];
    uint64_t stamp[TOP_WINDOWS];
};

struct top_region {
    uint64_t id, ranks;
    char list[48];         /**< "0-3,8": completed runs, cut with "..." */
    struct rank_runs runs; /**< written to the list */
};

struct top_rank {
    uint64_t rank;
    double waiting;         /**< share of the time, see WAITING_NS() */
    int64_t awaited;        /**< the rank that it waits for longest; negative: none, or not known */
    double in_mpi;          /**< share of the time, see MPI_NS() */
    double messages, bytes; /**< sent, a second */
    double latency;         /**< multiple of the reference; NaN: not known */
    double error;           /**< bound of its error by clocks that differ; 0: one clock */
    uint64_t in_call, in_call_ns;
    int64_t in_call_peer;
    uint32_t host; /**< position in hosts; at least their number: not known */
};

/** What the job did in a window, its ranks together. */
struct top_rates {
    bool known;
    uint64_t window;
    double calls, messages, bytes; /**< a second; messages and bytes sent */
    double in_mpi, waiting;        /**< shares of the time of its ranks, see MPI_NS() */
};

/** An alert or a node: a copied message with its texts. */
struct top_alert {
    struct wire_message message;
    struct wire_arena arena;
};

/** Zero-initialised: empty. */
struct top_model {
    /* job; id "" while none is known */
    char job[65], state[17], app[257];
    uint64_t world, seen, start_ns, end_ns, window_ns;
    uint64_t group; /**< ranks in a row, under the first of them; 0 and 1: one */
    struct top_replay {
        char state[17];            /**< as in topic replay; "": the job is not replayed */
        uint64_t begin_ns, end_ns; /**< of the recording */
    } replay;                      /**< of the daemon: stays when the job changes */
    struct top_rates rates;        /**< of the newest window */
    uint64_t now_ns;               /**< end of the newest window, daemon time */
    bool missing;                  /**< some nodes did not report the newest window */
    /* latency */
    struct top_series *series; /**< owned; job, localities, regions by id */
    size_t series_count;
    uint64_t window; /**< newest with latencies */
    uint64_t uncertain, error_ns;
    uint64_t matched, unmatched; /**< of the messages received so far */
    struct top_region *regions;  /**< owned */
    size_t region_count, region_capacity;
    bool regions_open; /**< more rows of the same regions follow */
    /* ranks, as of the newest window; first, from the snapshot, of all windows so far */
    struct top_rank *ranks; /**< owned */
    size_t rank_count, rank_capacity;
    uint64_t rank_window;
    uint64_t rank_windows; /**< how many windows their shares and rates are of */
    bool ranks_open;       /**< more rows of that window follow */
    struct {
        float value, error;
    } * latency;     /**< owned; by rank, as in ranks */
    uint32_t *place; /**< owned; position in hosts by rank */
    size_t place_room, latency_capacity;
    char (*hosts)[65]; /**< owned */
    size_t host_count;
    /* nodes: complete messages, newest state */
    struct wire_message nodes;
    struct wire_arena nodes_arena;
    struct top_alert
        *alerts[TOP_ALERTS]; /**< owned; firing, pending, resolved after they fired; newest first */
    size_t alert_count;
};

void top_model_finish(struct top_model *model);

/** Apply a message. A message of another job resets the model; types that are not shown are
 * ignored.
 *  @param snapshot  1: part of a snapshot
 *  @return 0, or -ENOMEM if the message was not applied */
int top_model_apply(struct top_model *model, const struct wire_message *message, int snapshot);

/** Work of the job a second, as a multiple of what it was before the fault of the first alert that
 *  fires and knows it; NaN: none does. */
double top_model_progress(const struct top_model *model);

/** Value of a series in a window, a multiple of the reference; NaN: not known. */
double top_model_value(const struct top_series *series, uint64_t window);

/** Ranks of a region as text, "0-3,8"; "" when not known. @param capacity  at least 64 bytes */
const char *top_model_region_ranks(const struct top_model *model, uint64_t id, char *out,
                                   size_t capacity);

#endif
