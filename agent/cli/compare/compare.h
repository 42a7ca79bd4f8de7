/* Compares two recordings: figures of both, and what differs most. */
#ifndef HOLTER_AGENT_CLI_COMPARE_COMPARE_H
#define HOLTER_AGENT_CLI_COMPARE_COMPARE_H

#include "agent/cli/network_input.h"
#include "daemon/analysis/alignment/alignment.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COMPARE_FIGURES 24u
#define COMPARE_STEPS 4u /**< quarters of the messages, see compare_run.reached_s */

/** Latency of messages of one locality, over the whole recording. */
struct compare_latency {
    double messages, transfer_ns, delayed;
    double relative; /**< sum over messages of the transfer time by the reference criterion */
};

/** Sums over the windows of a recording; NaN: it has none. */
struct compare_totals {
    double calls, sent, sent_bytes, lost;
    double mpi_ns, waiting_ns;
    double rank_ns; /**< time of the ranks, summed: see ranks_time_ns() */
};

/** A moment, and how many messages had been sent by then. */
struct compare_progress {
    double at_s, sent;
};

/** One recording. Zero-initialise, set input.command, .path and .topology, then read. */
struct compare_run {
    struct network_input input; /**< traffic, network, placement */
    char app[257];
    uint64_t world;
    uint64_t rank_group;      /**< ranks in a row of the phases; 1: every rank; 0: not known */
    double begin_ns, seconds; /**< while its ranks were there; seconds NaN: not known */
    struct compare_totals totals;
    struct compare_latency latency[2]; /**< intra-node, inter-node */
    struct run_phase *phases;          /**< owned */
    size_t phase_count, phase_capacity;
    struct compare_progress *progress; /**< owned; one for each window */
    size_t progress_count, progress_capacity;
    uint64_t *loads;                                  /**< owned; bytes by link */
    double hop_bytes, inter_node_bytes, largest_load; /**< of the whole recording */
};

/** @return 0, or the exit status after printing an error */
int compare_run_read(struct compare_run *run);
void compare_run_finish(struct compare_run *run);

/** Seconds until the given number of messages was sent; NaN: never. */
double compare_run_reached(const struct compare_run *run, double messages);

enum compare_unit { COMPARE_COUNT, COMPARE_BYTES, COMPARE_SECONDS, COMPARE_SHARE, COMPARE_TIMES };

/** A figure of both runs; NaN: not known. */
struct compare_figure {
    char name[40];
    enum compare_unit unit;
    double value[2];
};

/** A link, a pair or a phase of both runs. */
struct compare_item {
    char name[2][80]; /**< ends of a link, ranks of a pair, or numbers of the phase in both runs */
    double value[2]; /**< bytes, or bytes a second if runs are aligned by time; of phases seconds */
};

struct compare_list {
    struct compare_item *items; /**< owned; the largest absolute difference first */
    size_t count, capacity;
};

struct comparison {
    const struct compare_run *runs[2]; /**< borrowed: before, after */
    struct alignment alignment;
    int per_second; /**< values of links and pairs are divided by the duration */
    struct compare_figure figures[COMPARE_FIGURES];
    size_t figure_count;
    struct compare_list links, pairs, phases;
};

/** Compare two runs. @param out  to be finished @return 0 or -ENOMEM */
int compare_make(struct comparison *out, const struct compare_run *before,
                 const struct compare_run *after);
void compare_finish(struct comparison *comparison);

/** The figure with the largest ratio between both runs; if all that both have differ by less than
 * 1 %, the first that is 0 in one run only; NULL: there is none. */
const struct compare_figure *compare_largest(const struct comparison *comparison);

/** @param lines  maximum of each list */
void compare_print_text(FILE *out, const struct comparison *comparison, uint64_t lines);
void compare_print_json(FILE *out, const struct comparison *comparison, uint64_t lines);

#endif
