/* What is added up of a job. */
#include "daemon/job/job_sums.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_PAIRS_LISTED ((size_t)1 << 24) /* of one window, for the analyses */

static const struct run_sum_limits job_sums_limits = {
    .ranks = JOB_MAXIMUM_RANKS,
    .pairs = 1u << 26,
    .calls = 1u << 26,
    .comms = 65536,
    .regions = 4096,
};

int job_sums_init(struct job_sums *sums)
{
    *sums = (struct job_sums){.windows = 0};
    int code = run_sum_create(&sums->run, &job_sums_limits);
    return code != 0 ? code : run_sum_create(&sums->nodes, &job_sums_limits);
}

void job_sums_finish(struct job_sums *sums)
{
    run_sum_destroy(sums->run);
    window_sum_destroy(sums->closing_nodes);
    run_sum_destroy(sums->nodes);
    sum_result_finish(&sums->result);
    sum_result_finish(&sums->ranks);
    sum_result_finish(&sums->pairs);
    sum_result_finish(&sums->calls);
    sum_result_finish(&sums->node_pairs);
    free(sums->rank_rows);
    free(sums->pair_rows);
    free(sums->call_rows);
    free(sums->numbers);
}

/* ---- rows of a message --------------------------------------------------- */

static int job_sums_number_comms(struct job_sums *sums, const struct wire_window *window,
                                 uint32_t *numbers)
{
    numbers[0] = 0;
    for (size_t i = 0; i < window->comms_count; i++) {
        int64_t number = run_sum_comm(sums->run, &window->comms[i]);
        if (number < 0)
            return -ENOMEM;
        numbers[i] = (uint32_t)number;
    }
    return 0;
}

static int job_sums_number_regions(struct job_sums *sums, const struct wire_window *window,
                                   uint32_t *numbers)
{
    numbers[0] = 0;
    for (size_t i = 0; i < window->regions_count; i++) {
        const char *name = i == 0 || window->regions[i].name == NULL ? "" : window->regions[i].name;
        int64_t number = run_sum_region(sums->run, name);
        if (number < 0)
            return -ENOMEM;
        numbers[i] = (uint32_t)number;
    }
    return 0;
}

/* What only the daemon knows is not taken from agents. */
static void job_sums_convert_ranks(struct wire_rank_row *rows, const struct wire_window *window)
{
    for (size_t i = 0; i < window->ranks_count; i++) {
        rows[i] = window->ranks[i];
        rows[i].awaited = rows[i].awaited_ns = rows[i].ranks = 0;
        rows[i].crossing = rows[i].crossing_bytes = rows[i].send_wait_ns = 0;
    }
}

static void job_sums_convert_pairs(struct wire_pair_row *rows, const struct wire_window *window,
                                   const uint32_t *comms, const uint32_t *regions)
{
    for (size_t i = 0; i < window->pairs_count; i++) {
        rows[i] = window->pairs[i];
        rows[i].comm = comms[rows[i].comm];
        rows[i].region = regions[rows[i].region];
    }
}

static void job_sums_convert_calls(struct wire_call_row *rows, const struct wire_window *window,
                                   const uint32_t *comms, const uint32_t *regions)
{
    for (size_t i = 0; i < window->calls_count; i++) {
        rows[i] = window->calls[i];
        rows[i].comm = comms[rows[i].comm];
        rows[i].region = regions[rows[i].region];
    }
}

int job_sums_convert(struct job_sums *sums, const struct wire_window *window, struct sum_rows *rows)
{
    /* Rows may name the first communicator and region of a message that lists none. */
    size_t comms = window->comms_count == 0 ? 1 : window->comms_count;
    size_t regions = window->regions_count == 0 ? 1 : window->regions_count;
    if (ARRAY_FIT(sums->numbers, sums->number_capacity, comms + regions) != 0 ||
        ARRAY_FIT(sums->rank_rows, sums->rank_capacity, window->ranks_count) != 0 ||
        ARRAY_FIT(sums->pair_rows, sums->pair_capacity, window->pairs_count) != 0 ||
        ARRAY_FIT(sums->call_rows, sums->call_capacity, window->calls_count) != 0 ||
        job_sums_number_comms(sums, window, sums->numbers) != 0 ||
        job_sums_number_regions(sums, window, sums->numbers + comms) != 0)
        return -ENOMEM;
    job_sums_convert_ranks(sums->rank_rows, window);
    job_sums_convert_pairs(sums->pair_rows, window, sums->numbers, sums->numbers + comms);
    job_sums_convert_calls(sums->call_rows, window, sums->numbers, sums->numbers + comms);
    *rows = (struct sum_rows){
        .ranks = sums->rank_rows,
        .rank_count = window->ranks_count,
        .pairs = sums->pair_rows,
        .pair_count = window->pairs_count,
        .calls = sums->call_rows,
        .call_count = window->calls_count,
    };
    return 0;
}

/* ---- windows ------------------------------------------------------------- */

/* Without memory the messages between nodes are not known. */
static void job_sums_add_nodes(struct job_sums *sums, const struct closed_window *window)
{
    const struct sum_rows rows = {.pairs = window->node_pairs,
                                  .pair_count = window->node_pair_count};
    window_sum_destroy(sums->closing_nodes);
    sums->closing_nodes = NULL;
    if (rows.pair_count == 0 || window_sum_create(&sums->closing_nodes, sums->nodes) != 0)
        return;
    window_sum_update(sums->closing_nodes, &rows);
}

void job_sums_list(struct job_sums *sums, struct closed_window *window)
{
    job_sums_add_nodes(sums, window);
    if (window_sum_result(window->sum, SUM_RANKS, 0, &sums->ranks) == 0) {
        window->ranks = sums->ranks.ranks;
        window->rank_count = sums->ranks.rank_count;
    }
    if (window->late)
        return;
    if (window_sum_result(window->sum, SUM_PAIRS, MAXIMUM_PAIRS_LISTED, &sums->pairs) == 0) {
        window->pairs = sums->pairs.pairs;
        window->pair_count = sums->pairs.pair_count;
    }
    if (window_sum_result(window->sum, SUM_CALLS, 0, &sums->calls) == 0) {
        window->comms = sums->calls.comms;
        window->comm_count = sums->calls.comm_count;
    }
}

void job_sums_add_waits(struct job_sums *sums, const struct closed_window *window,
                        const struct waits_row *waits)
{
    struct wire_rank_row *rows = sums->ranks.ranks; /* those of the window: see job_sums_list() */
    if (ARRAY_FIT(sums->rank_rows, sums->rank_capacity, window->rank_count) != 0)
        return;
    for (size_t i = 0; i < window->rank_count; i++)
        sums->rank_rows[i] = (struct wire_rank_row){.rank = rows[i].rank,
                                                    .in_call_peer = INT64_MIN,
                                                    .send_wait_ns = waits[i].send_wait_ns,
                                                    .awaited = waits[i].awaited,
                                                    .awaited_ns = waits[i].awaited_ns};
    const struct sum_rows added = {.ranks = sums->rank_rows, .rank_count = window->rank_count};
    if (window_sum_update(window->sum, &added) != 0)
        return;
    for (size_t i = 0; i < window->rank_count; i++) {
        rows[i].send_wait_ns = waits[i].send_wait_ns;
        rows[i].awaited = waits[i].awaited;
        rows[i].awaited_ns = waits[i].awaited_ns;
    }
}

/* Add the pairs that cross nodes to the rows of their senders. Both are in order of ranks. */
static void job_sums_count_crossing(const struct closed_window *window,
                                    const struct job_places *places, struct wire_rank_row *rows)
{
    uint32_t node = KEY_NONE;
    const size_t count = window->rank_count;
    for (size_t i = 0, at = 0; i < window->pair_count; i++) {
        const struct wire_pair_row *pair = &window->pairs[i];
        if (i == 0 || pair->source != pair[-1].source)
            node = job_places_find_node(places, pair->source);
        while (at < count && rows[at].rank < pair->source)
            at++;
        if (at == count || rows[at].rank != pair->source)
            continue;
        if (node != KEY_NONE && pair->destination >= 0 &&
            job_places_find_node(places, (uint64_t)pair->destination) == node)
            continue;
        rows[at].crossing += pair->messages;
        rows[at].crossing_bytes += pair->bytes;
    }
}

void job_sums_add_crossing(struct job_sums *sums, const struct closed_window *window,
                           const struct job_places *places)
{
    struct wire_rank_row *rows = sums->ranks.ranks;
    struct closed_window all = *window;
    if (ARRAY_FIT(sums->rank_rows, sums->rank_capacity, window->rank_count) != 0)
        return;
    if (window->late && /* of which no pairs are listed */
        window_sum_result(window->sum, SUM_PAIRS, MAXIMUM_PAIRS_LISTED, &sums->pairs) == 0) {
        all.pairs = sums->pairs.pairs;
        all.pair_count = sums->pairs.pair_count;
    }
    for (size_t i = 0; i < window->rank_count; i++)
        sums->rank_rows[i] =
            (struct wire_rank_row){.rank = rows[i].rank, .in_call_peer = INT64_MIN};
    job_sums_count_crossing(&all, places, sums->rank_rows);
    const struct sum_rows added = {.ranks = sums->rank_rows, .rank_count = window->rank_count};
    if (window_sum_update(window->sum, &added) != 0)
        return;
    for (size_t i = 0; i < window->rank_count; i++) {
        rows[i].crossing = sums->rank_rows[i].crossing;
        rows[i].crossing_bytes = sums->rank_rows[i].crossing_bytes;
    }
}

int job_sums_update(struct job_sums *sums, const struct closed_window *window)
{
    int code = run_sum_update(sums->run, window->sum, window->number);
    sums->windows += code == 0 && !window->late;
    if (code == 0 && sums->closing_nodes != NULL)
        code = run_sum_update(sums->nodes, sums->closing_nodes, window->number);
    return code;
}

void job_sums_copy_state(struct state_bytes *b, struct job_sums *sums)
{
    STATE_VALUE(b, sums->windows);
    run_sum_copy_state(b, &sums->run);
    run_sum_copy_state(b, &sums->nodes);
}
