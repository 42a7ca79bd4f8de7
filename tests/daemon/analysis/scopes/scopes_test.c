/* Which scopes the analysis finds in jobs with a known fault. */
#include "daemon/analysis/scopes/scopes_state.h"

#include "tests/daemon/analysis/scopes/fault_job.h"
#include "tests/daemon/analysis/scopes/stream_job.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ONSET 30u
#define HALF_SECOND UINT64_C(500000000)

/* Of the seeds that once misled the analysis the first, with an argument, in suite 'long', all. */
static size_t seeds_tried = 1;

static struct fault_params of_kind(enum fault_kind kind, double factor)
{
    return (struct fault_params){.seed = 11,
                                 .kind = kind,
                                 .nodes = 32,
                                 .ranks_per_node = 4,
                                 .factor = factor,
                                 .onset = ONSET,
                                 .messages = 2,
                                 .noise = 0.4,
                                 .shared = 0.05};
}

/* The seeds that are named below are those of jobs of this size. */
static struct fault_params of_seed(enum fault_kind kind, double factor, uint64_t seed)
{
    struct fault_params params = of_kind(kind, factor);
    params.seed = seed;
    params.nodes = 64;
    params.ranks_per_node = 8;
    return params;
}

/* Run a job up to the onset, before which nothing is found, and a number of windows beyond. @return
 * the analysis, as it is then */
static struct scopes *run(struct fault_job *job, uint32_t onset, uint32_t windows)
{
    struct scopes *scopes;
    assert_int_equal(scopes_create(&scopes), 0);
    fault_job_prepare(job, scopes);
    for (uint32_t w = 0; w < onset + windows; w++) {
        size_t count;
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
        (void)scopes_findings(scopes, &count);
        if (w < onset)
            assert_int_equal(count, 0);
    }
    return scopes;
}

static void check_named(struct fault_params params, uint32_t windows)
{
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, windows);
    size_t count;
    const struct scope_finding *findings = scopes_findings(scopes, &count);
    assert_true(fault_job_is_explained(job, findings, count));
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void check_silent(struct fault_params params)
{
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 0);
    for (uint32_t w = ONSET; w < 2 * ONSET; w++) {
        size_t count;
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
        (void)scopes_findings(scopes, &count);
        assert_int_equal(count, 0);
    }
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void a_slow_node_is_named_within_five_windows(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_NODE, 5), 5);
    check_named(of_kind(FAULT_NODE, 1.3), 5);
}

static void what_becomes_slow_in_one_of_the_first_windows_is_named_with_its_onset(void **state)
{
    static const enum fault_kind kinds[] = {FAULT_NODE, FAULT_PAIR, FAULT_LATE_RANK};
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fault_params params = of_kind(kinds[i], 3);
        params.onset = 6;
        struct fault_job *job = fault_job_create(&params);
        struct scopes *scopes = run(job, params.onset, 5);
        size_t count;
        const struct scope_finding *f = scopes_findings(scopes, &count);
        assert_true(fault_job_is_explained(job, f, count));
        assert_int_equal(f->onset, params.onset);
        scopes_destroy(scopes);
        fault_job_destroy(job);
    }
}

static void four_slow_nodes_are_one_finding(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_NODES, 4), 5);
}

static void a_slow_pair_of_nodes_is_told_from_its_nodes(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_PAIR, 2), 5);
}

/* The job has 6,656 series: for the last ones there is no place. */
static void a_slow_pair_of_nodes_is_named_where_no_more_series_can_be_kept(void **state)
{
    (void)state;
    struct fault_params params = of_kind(FAULT_PAIR, 1.6);
    struct scopes *scopes;
    params.messages = 1;
    struct fault_job *job = fault_job_create(&params);
    assert_int_equal(scopes_create(&scopes), 0);
    scopes->most_series = 6489;
    fault_job_prepare(job, scopes);
    for (uint32_t w = 0; w < ONSET + 5; w++)
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
    size_t count;
    const struct scope_finding *findings = scopes_findings(scopes, &count);
    assert_true(fault_job_is_explained(job, findings, count));
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void a_slow_link_is_told_from_its_nodes_and_pairs(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_LINK, 2), 5);
}

static void a_late_rank_is_named_and_no_transfer(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_LATE_RANK, 5), 5);
}

static void a_late_rank_is_named_where_some_messages_take_very_long(void **state)
{
    (void)state;
    struct fault_params params = of_kind(FAULT_LATE_RANK, 5);
    params.tail = 0.02;
    params.noise = 0.6;
    check_named(params, 5);
}

static void messages_between_all_nodes_are_a_scope_of_their_own(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_STEP, 1.6), 5);
}

static void a_step_of_all_messages_is_one_finding_about_the_job(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_STEP_OF_ALL, 1.6), 5);
}

static void messages_within_a_node_are_told_from_the_node(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_WITHIN, 3), 5);
}

/* Seed 4 has common noise that falls in the windows of the step: messages within nodes show it. */
static void noise_that_both_localities_have_does_not_hide_a_step(void **state)
{
    (void)state;
    check_named(of_seed(FAULT_STEP, 1.3, 4), 5);
}

/* Seeds at which the common noise is low in the windows of the step. */
static void a_step_of_all_messages_stands_out_from_noise_that_lasts(void **state)
{
    static const uint64_t seeds[] = {17, 22, 26};
    (void)state;
    for (size_t i = 0; i < seeds_tried; i++) {
        struct fault_params params = of_seed(FAULT_STEP, 1.5, seeds[i]);
        params.exchange_every = 15;
        check_named(params, 5);
    }
}

static void a_step_is_found_where_windows_without_messages_lie_between_others(void **state)
{
    static const enum fault_kind kinds[] = {FAULT_STEP, FAULT_STEP_OF_ALL};
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fault_params params = of_kind(kinds[i], 2);
        params.active_every = 5;
        params.onset = 5 * ONSET;
        struct fault_job *job = fault_job_create(&params);
        struct scopes *scopes = run(job, params.onset, 10);
        size_t count;
        const struct scope_finding *findings = scopes_findings(scopes, &count);
        assert_true(fault_job_is_explained(job, findings, count));
        assert_int_equal(findings->onset, params.onset);
        scopes_destroy(scopes);
        fault_job_destroy(job);
    }
}

static void check_common_noise_is_silent(enum fault_pattern pattern, const uint64_t *seeds,
                                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fault_params params = of_seed(FAULT_CALM, 1, seeds[i]);
        params.pattern = pattern;
        params.shared = 0.15;
        check_silent(params);
    }
}

/* Seeds at which the noise of a node lasts. */
static void noise_that_nodes_and_the_job_share_is_no_fault(void **state)
{
    static const uint64_t seeds[] = {11, 26, 36};
    (void)state;
    check_common_noise_is_silent(PATTERN_HALO, seeds, seeds_tried);
}

/* Seeds at which the first windows show little of the noise that the job has later. */
static void noise_of_the_job_that_was_small_in_its_first_windows_is_no_fault(void **state)
{
    static const uint64_t seeds[] = {900045, 900031, 900054};
    (void)state;
    check_common_noise_is_silent(PATTERN_HALO, seeds, seeds_tried);
}

static void a_node_that_gets_slower_in_each_window_is_named_within_twenty(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_DRIFT, 1.05), 20);
}

static void a_node_that_loses_a_twentieth_of_its_messages_is_named(void **state)
{
    struct fault_params params = of_kind(FAULT_LOSS, 0.05);
    (void)state;
    params.nodes = 4;
    params.ranks_per_node = 2;
    params.messages = 20;
    check_named(params, 5);
}

/* Seeds at which the first messages that are lost lie on one or two pairs of the node. */
static void a_lossy_node_is_not_named_by_the_pairs_that_suffer_first(void **state)
{
    static const uint64_t seeds[] = {3, 25, 28};
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct fault_params params = of_seed(FAULT_LOSS, 0.05, seeds[i]);
        params.nodes = 4;
        params.ranks_per_node = 2;
        params.messages = 20;
        check_named(params, 5);
    }
}

/* Short messages take several times as long, long ones hardly longer. */
static void a_delay_of_short_and_long_messages_is_one_finding(void **state)
{
    static const enum fault_kind kinds[] = {FAULT_STEP, FAULT_LINK, FAULT_NODE};
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fault_params params = of_kind(kinds[i], 2);
        params.delay_ns = 30000;
        params.spread = 1.5;
        check_named(params, 5);
    }
}

static void two_faults_at_once_are_two_findings(void **state)
{
    (void)state;
    check_named(of_kind(FAULT_NODE_AND_PAIR, 3), 5);
}

/* Seed 3 has a slow pair of nodes which both exchange messages with the slow node. */
static void a_slow_pair_among_the_partners_of_a_slow_node_is_no_symptom(void **state)
{
    (void)state;
    struct fault_params params = of_kind(FAULT_NODE_AND_PAIR, 3);
    params.seed = 3;
    check_named(params, 5);
}

/* How many times as long a message between two nodes takes in a window; 0: there is none. */
typedef uint64_t ring_slowness_fn(uint32_t window, uint32_t from, uint32_t to);

/* Twelve nodes of two ranks in a ring, until five windows after the onset. */
static struct scopes *run_ring(ring_slowness_fn *slowness)
{
    struct scopes *scopes;
    struct noise noise = {7};
    assert_int_equal(scopes_create(&scopes), 0);
    for (uint32_t r = 0; r < 24; r++)
        assert_int_equal(scopes_place(scopes, r, r / 2), 0);
    for (uint32_t w = 0; w < ONSET + 5; w++) {
        struct transfers rows = {0};
        for (uint32_t i = 0; i < 48; i++) {
            const uint32_t from = i / 2, to = (from + (i % 2 == 0 ? 2 : 22)) % 24;
            const uint64_t times = w < ONSET ? 1 : slowness(w, from / 2, to / 2);
            const uint64_t varies = noise_uint(&noise) % 50000;
            const struct transfer row = {.source = from,
                                         .destination = to,
                                         .messages = 10,
                                         .locality = LOCALITY_INTER,
                                         .network_ns = 10 * 40000 * times + varies};
            if (times > 0)
                assert_int_equal(transfers_add(&rows, &row), 0);
        }
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, &rows), 0);
        transfers_finish(&rows);
    }
    return scopes;
}

/* Messages of node 1 take long, and with them what nodes 0 and 2 complete by the same call. */
static uint64_t slow_with_neighbours(uint32_t window, uint32_t from, uint32_t to)
{
    (void)window;
    return from == 1 || to == 1 ? 20 : to <= 2 ? 12 : 1;
}

static void messages_completed_with_those_of_a_slow_node_are_its_symptoms(void **state)
{
    (void)state;
    struct scopes *scopes = run_ring(slow_with_neighbours);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 2);
    assert_true(f[0].members[0].kind == SCOPE_NODE && f[0].members[0].a == 1);
    assert_true(f[1].members[0].kind == SCOPE_NODE_PAIR && f[1].member_count == 2);
    assert_int_equal(f[1].symptom_of, f[0].id);
    scopes_destroy(scopes);
}

/* Messages of node 1 take long, and those from node 6 to node 7, which have none in the last
 * window.
 */
static uint64_t slow_far_apart(uint32_t window, uint32_t from, uint32_t to)
{
    if (from == 6 && to == 7)
        return window == ONSET + 4 ? 0 : 10;
    return from == 1 || to == 1 ? 20 : 1;
}

static void a_slow_pair_far_from_a_slow_node_is_no_symptom_while_it_has_no_messages(void **state)
{
    (void)state;
    struct scopes *scopes = run_ring(slow_far_apart);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(f[i].symptom_of, 0);
    scopes_destroy(scopes);
}

static void a_fault_that_begins_with_a_new_phase_is_named(void **state)
{
    struct fault_params params = of_kind(FAULT_NODE, 3);
    (void)state;
    params.new_phase = ONSET;
    check_named(params, 5);
}

static void patterns_that_change_are_no_fault(void **state)
{
    struct fault_params exchanges = of_kind(FAULT_CALM, 1), phase = exchanges, partners = exchanges;
    (void)state;
    exchanges.exchange_every = 15;
    check_silent(exchanges);
    phase.new_phase = ONSET;
    check_silent(phase);
    partners.pattern = PATTERN_IRREGULAR;
    partners.partners_every = 20;
    check_silent(partners);
}

static void messages_with_heavy_tails_are_no_fault(void **state)
{
    struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    params.tail = 0.02;
    params.noise = 0.6;
    check_silent(params);
}

static void few_messages_with_heavy_tails_are_no_fault(void **state)
{
    struct fault_params params = of_kind(FAULT_CALM, 6);
    (void)state;
    params.pattern = PATTERN_IRREGULAR; /* each pair of nodes has few pairs of ranks */
    params.tail = 0.02;
    params.noise = 0.3;
    check_silent(params);
}

/* Pairs of nodes have 2 or 16 messages a window. */
static void common_noise_of_few_neighbours_is_no_fault(void **state)
{
    static const uint64_t seeds[] = {1, 2, 3, 5};
    (void)state;
    check_common_noise_is_silent(PATTERN_PLANE, seeds, sizeof(seeds) / sizeof(seeds[0]));
}

static void the_onset_is_the_first_window_with_messages_that_were_slow(void **state)
{
    struct fault_params params = of_kind(FAULT_NODE, 3);
    (void)state;
    params.active_every = 3;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 6);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_true(fault_job_is_explained(job, f, count));
    assert_int_equal(f->onset, ONSET);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* From the onset on all wait for rank 0, and messages to rank 4 take a tenth of what they took. */
static void ranks_that_nobody_waits_longer_for_are_not_late(void **state)
{
    struct scopes *scopes;
    struct noise noise = {7};
    (void)state;
    assert_int_equal(scopes_create(&scopes), 0);
    for (uint32_t r = 0; r < 8; r++)
        assert_int_equal(scopes_place(scopes, r, r / 4), 0);
    for (uint32_t w = 0; w < ONSET + 4; w++) {
        struct transfers rows = {0};
        for (uint32_t r = 0; r < 8; r++) {
            const uint32_t to = (r + 1) % 8;
            const bool late = w >= ONSET && r == 0;
            const uint64_t flight = to == 4 && w < ONSET ? 400000 : 40000;
            const struct transfer row = {.source = r,
                                         .destination = to,
                                         .messages = 50,
                                         .locality =
                                             r / 4 == to / 4 ? LOCALITY_INTRA : LOCALITY_INTER,
                                         .network_ns = 50 * flight + noise_uint(&noise) % 50000,
                                         .late_sender_ns = 50 * (late ? 300000 : 5000)};
            assert_int_equal(transfers_add(&rows, &row), 0);
        }
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, &rows), 0);
        transfers_finish(&rows);
    }
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_int_equal(f->member_count, 1);
    assert_true(f->members[0].kind == SCOPE_RANK && f->members[0].a == 0);
    scopes_destroy(scopes);
}

static void a_finding_is_over_when_its_scope_is_back(void **state)
{
    struct fault_params params = of_kind(FAULT_NODE, 5);
    (void)state;
    params.length = 10;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 12);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_int_equal(f->onset, ONSET);
    assert_true(f->ratio < 1.1 && f->worst > 4);
    for (uint32_t w = ONSET + 12; w < ONSET + 17; w++)
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
    (void)scopes_findings(scopes, &count);
    assert_int_equal(count, 0);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* A pair of nodes with one or two messages in a window, which take three times as long until the
 * end: some windows in a row look as before by chance. */
static void a_finding_is_not_over_while_few_messages_go_on_being_slow(void **state)
{
    struct fault_params params = of_kind(FAULT_PAIR, 3);
    (void)state;
    params.seed = 13;
    params.nodes = 16;
    params.ranks_per_node = 2;
    params.pattern = PATTERN_PLANE;
    params.messages = 1;
    params.noise = 0.8;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 10);
    size_t count;
    for (uint32_t w = ONSET + 10; w < 5 * ONSET; w++) {
        const struct scope_finding *f = scopes_findings(scopes, &count);
        assert_int_equal(count, 1);
        assert_false(f->over);
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
    }
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* Let the partners of some ranks of several nodes wait for their messages. */
static const struct transfers *delay_senders(const struct transfers *transfers)
{
    for (size_t i = 0; i < transfers->count; i++) {
        struct transfer *t = &transfers->rows[i];
        t->late_sender_ns += t->source % 32 == 5 ? 3000000 * t->messages : 0;
    }
    return transfers;
}

static void ranks_that_were_late_because_of_slow_messages_are_over_with_these(void **state)
{
    struct fault_params params = of_kind(FAULT_NODE, 5);
    (void)state;
    params.length = 10;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 0);
    size_t count;
    for (uint32_t w = ONSET; w < ONSET + 14; w++)
        assert_int_equal(
            scopes_window(scopes, w, HALF_SECOND, delay_senders(fault_job_window(job, w))), 0);
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 2);
    assert_true(f[0].part == SCOPE_TRANSFER && f[1].part == SCOPE_LATENESS);
    assert_int_equal(f[1].symptom_of, f[0].id);
    for (uint32_t w = ONSET + 14; w < ONSET + 17; w++)
        assert_int_equal(scopes_window(scopes, w, HALF_SECOND, fault_job_window(job, w)), 0);
    (void)scopes_findings(scopes, &count);
    assert_int_equal(count, 0);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* Messages to and from ranks 12 to 15, those of node 3, take so many hundredths of their time.
 * @param others  those that it receives from other nodes than node 2 */
static const struct transfers *slow_down(const struct transfers *transfers, uint64_t sent,
                                         uint64_t others, uint64_t from_node_2)
{
    for (size_t i = 0; i < transfers->count; i++) {
        struct transfer *t = &transfers->rows[i];
        const bool from = t->source / 4 == 3, to = t->destination / 4 == 3;
        const uint64_t factor = from == to           ? 100
                                : from               ? sent
                                : t->source / 4 == 2 ? from_node_2
                                                     : others;
        t->network_ns = t->network_ns * factor / 100;
        t->joint_ns = t->joint_ns * factor / 100;
    }
    return transfers;
}

/* A calm job, and from the onset on a number of windows with such factors, and so on. */
static struct scopes *run_slowed(struct fault_job *job, const uint64_t (*factors)[4], size_t count)
{
    struct scopes *scopes = run(job, ONSET, 0);
    uint32_t w = ONSET;
    for (size_t i = 0; i < count; i++) {
        for (const uint32_t end = w + (uint32_t)factors[i][0]; w < end; w++)
            assert_int_equal(scopes_window(scopes, w, HALF_SECOND,
                                           slow_down(fault_job_window(job, w), factors[i][1],
                                                     factors[i][2], factors[i][3])),
                             0);
    }
    return scopes;
}

/* What it sends takes longer at first, too, since its partners are held up. */
static void a_node_at_which_messages_arrive_late_is_not_named_for_those_that_it_sends(void **state)
{
    static const uint64_t factors[][4] = {{3, 400, 600, 600}, {4, 100, 600, 600}};
    const struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run_slowed(job, factors, 2);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_true(f->members[0].kind == SCOPE_NODE && f->members[0].a == 3);
    assert_int_equal(f->members[0].direction, SCOPE_IN);
    assert_true(f->ratio > 5 && f->ratio < 7);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void the_onset_of_a_step_is_no_small_deviation_before_it(void **state)
{
    static const uint64_t factors[][4] = {{5, 115, 115, 115}, {3, 220, 220, 220}};
    struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    params.shared = 0;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run_slowed(job, factors, 2);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_true(f->members[0].kind == SCOPE_NODE && f->members[0].a == 3);
    assert_int_equal(f->onset, ONSET + 5);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* Messages between two nodes take between two thirds and one and a half of their time, all those of
 * a window alike, and from the onset on those from node 2 to node 3 five times as long. */
static const struct transfers *vary_pairs(const struct transfers *transfers, uint64_t window)
{
    for (size_t i = 0; i < transfers->count; i++) {
        struct transfer *t = &transfers->rows[i];
        const uint64_t from = t->source / 4, to = t->destination / 4;
        const uint64_t hash = (window * 1024 + from * 32 + to + 1) * UINT64_C(0x9e3779b97f4a7c15);
        const uint64_t slow = window >= ONSET && from == 2 && to == 3 ? 5 : 1;
        t->network_ns = t->network_ns * slow * (67 + (hash >> 32) % 84) / 100;
        t->joint_ns = t->joint_ns * slow * (67 + (hash >> 32) % 84) / 100;
    }
    return transfers;
}

static void a_slow_pair_is_found_by_several_windows_where_each_pair_varies(void **state)
{
    const struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes;
    assert_int_equal(scopes_create(&scopes), 0);
    fault_job_prepare(job, scopes);
    size_t count = 0;
    for (uint32_t w = 0; w < ONSET + 8; w++) {
        assert_int_equal(
            scopes_window(scopes, w, HALF_SECOND, vary_pairs(fault_job_window(job, w), w)), 0);
        (void)scopes_findings(scopes, &count);
        assert_true(w >= ONSET || count == 0);
    }
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_true(f->members[0].kind == SCOPE_NODE_PAIR && f->members[0].a == 2 &&
                f->members[0].b == 3);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void a_slow_stream_is_found_though_its_windows_vary(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct stream_params params = {
            .seed = seed, .messages = 200, .noise = 0.15, .onset = 100, .factor = 3};
        const struct stream_result result = stream_job_judge(&params, 5);
        assert_int_equal(result.false_alarms, 0);
        assert_true(result.found > 0);
    }
}

static void a_stream_whose_noise_lasts_for_windows_is_no_fault(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct stream_params params = {
            .seed = seed, .messages = 200, .noise = 0.3, .lag = 0.7, .onset = 500, .factor = 1};
        assert_int_equal(stream_job_judge(&params, 0).false_alarms, 0);
    }
}

static void a_slow_node_that_becomes_faster_than_before_keeps_both_directions(void **state)
{
    static const uint64_t factors[][4] = {{4, 300, 300, 300}, {3, 0, 0, 0}};
    const struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run_slowed(job, factors, 2);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 1);
    assert_int_equal(f->members[0].direction, SCOPE_BOTH);
    assert_true(f->ratio < 1);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void a_pair_of_a_slow_node_that_is_slower_still_counts_to_the_node(void **state)
{
    static const uint64_t factors[][4] = {{4, 300, 300, 300}, {8, 300, 300, 3000}};
    struct fault_params params = of_kind(FAULT_CALM, 1);
    (void)state;
    params.nodes = 4;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run_slowed(job, factors, 2);
    size_t count;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_int_equal(count, 2);
    assert_true(f[0].members[0].kind == SCOPE_NODE && f[0].members[0].a == 3);
    assert_true(f[1].members[0].kind == SCOPE_NODE_PAIR && f[1].members[0].a == 2);
    assert_int_equal(f[1].symptom_of, f[0].id);
    assert_true(f[0].ratio > 3.8);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

/* Let seven of eight messages have come before their receiver: only what the call costs is seen of
 * them. */
static const struct transfers *hide_flights(const struct transfers *transfers, uint32_t window)
{
    struct noise noise = {window + 1};
    for (size_t i = 0; i < transfers->count; i++) {
        struct transfer *t = &transfers->rows[i];
        if (noise_uint(&noise) % 8 == 0)
            continue;
        t->late_receiver_ns += 2 * (t->network_ns + t->joint_ns);
        t->network_ns = 800 * t->messages;
        t->joint_ns = 0;
    }
    return transfers;
}

static void a_slow_node_is_named_though_most_messages_come_before_their_receivers(void **state)
{
    struct fault_params params = of_kind(FAULT_NODE, 3);
    (void)state;
    params.messages = 4;
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes;
    size_t count;
    assert_int_equal(scopes_create(&scopes), 0);
    fault_job_prepare(job, scopes);
    for (uint32_t w = 0; w < ONSET + 5; w++)
        assert_int_equal(
            scopes_window(scopes, w, HALF_SECOND, hide_flights(fault_job_window(job, w), w)), 0);
    const struct scope_finding *f = scopes_findings(scopes, &count);
    assert_true(fault_job_is_explained(job, f, count));
    assert_true(f->ratio > 2.5 && f->ratio < 3.5);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static int reverse_order(const void *a, const void *b)
{
    const struct transfer *x = a, *y = b;
    const uint64_t p = (uint64_t)x->source << 32 | x->destination;
    const uint64_t q = (uint64_t)y->source << 32 | y->destination;
    return p < q ? 1 : p > q ? -1 : memcmp(x, y, sizeof(*x));
}

static void findings_do_not_depend_on_the_order_of_rows(void **state)
{
    const struct fault_params params = of_kind(FAULT_NODES, 3);
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes = run(job, ONSET, 5), *other;
    size_t count, count_other;
    (void)state;
    const struct scope_finding *f = scopes_findings(scopes, &count);
    fault_job_destroy(job);
    job = fault_job_create(&params);
    assert_int_equal(scopes_create(&other), 0);
    fault_job_prepare(job, other);
    for (uint32_t w = 0; w < ONSET + 5; w++) {
        const struct transfers *rows = fault_job_window(job, w);
        qsort(rows->rows, rows->count, sizeof(*rows->rows), reverse_order);
        assert_int_equal(scopes_window(other, w, HALF_SECOND, rows), 0);
    }
    const struct scope_finding *g = scopes_findings(other, &count_other);
    assert_int_equal(count, count_other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(f[i].member_count, g[i].member_count);
        assert_int_equal(f[i].onset, g[i].onset);
        assert_true(f[i].ratio == g[i].ratio && f[i].excess_ns == g[i].excess_ns);
    }
    scopes_destroy(scopes);
    scopes_destroy(other);
    fault_job_destroy(job);
}

static void windows_have_to_ascend(void **state)
{
    struct scopes *scopes;
    const struct transfers none = {0};
    (void)state;
    assert_int_equal(scopes_create(&scopes), 0);
    assert_int_equal(scopes_window(scopes, 7, HALF_SECOND, &none), 0);
    assert_int_equal(scopes_window(scopes, 7, HALF_SECOND, &none), -ERANGE);
    assert_int_equal(scopes_place(scopes, 1u << 20, 0), -ERANGE);
    assert_int_equal(scopes_place(scopes, 0, 1u << 20), -ERANGE);
    scopes_destroy(scopes);
    scopes_destroy(NULL);
}

int main(int argc, char **argv)
{
    (void)argv;
    seeds_tried = argc > 1 ? 3 : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_node_is_named_within_five_windows),
        cmocka_unit_test(what_becomes_slow_in_one_of_the_first_windows_is_named_with_its_onset),
        cmocka_unit_test(four_slow_nodes_are_one_finding),
        cmocka_unit_test(a_slow_pair_of_nodes_is_told_from_its_nodes),
        cmocka_unit_test(a_slow_pair_of_nodes_is_named_where_no_more_series_can_be_kept),
        cmocka_unit_test(a_slow_link_is_told_from_its_nodes_and_pairs),
        cmocka_unit_test(a_late_rank_is_named_and_no_transfer),
        cmocka_unit_test(a_late_rank_is_named_where_some_messages_take_very_long),
        cmocka_unit_test(messages_between_all_nodes_are_a_scope_of_their_own),
        cmocka_unit_test(a_step_of_all_messages_is_one_finding_about_the_job),
        cmocka_unit_test(messages_within_a_node_are_told_from_the_node),
        cmocka_unit_test(noise_that_both_localities_have_does_not_hide_a_step),
        cmocka_unit_test(a_step_of_all_messages_stands_out_from_noise_that_lasts),
        cmocka_unit_test(a_step_is_found_where_windows_without_messages_lie_between_others),
        cmocka_unit_test(noise_that_nodes_and_the_job_share_is_no_fault),
        cmocka_unit_test(noise_of_the_job_that_was_small_in_its_first_windows_is_no_fault),
        cmocka_unit_test(a_node_that_gets_slower_in_each_window_is_named_within_twenty),
        cmocka_unit_test(a_node_that_loses_a_twentieth_of_its_messages_is_named),
        cmocka_unit_test(a_lossy_node_is_not_named_by_the_pairs_that_suffer_first),
        cmocka_unit_test(a_delay_of_short_and_long_messages_is_one_finding),
        cmocka_unit_test(two_faults_at_once_are_two_findings),
        cmocka_unit_test(a_slow_pair_among_the_partners_of_a_slow_node_is_no_symptom),
        cmocka_unit_test(messages_completed_with_those_of_a_slow_node_are_its_symptoms),
        cmocka_unit_test(a_slow_pair_far_from_a_slow_node_is_no_symptom_while_it_has_no_messages),
        cmocka_unit_test(a_fault_that_begins_with_a_new_phase_is_named),
        cmocka_unit_test(patterns_that_change_are_no_fault),
        cmocka_unit_test(messages_with_heavy_tails_are_no_fault),
        cmocka_unit_test(few_messages_with_heavy_tails_are_no_fault),
        cmocka_unit_test(common_noise_of_few_neighbours_is_no_fault),
        cmocka_unit_test(the_onset_is_the_first_window_with_messages_that_were_slow),
        cmocka_unit_test(ranks_that_nobody_waits_longer_for_are_not_late),
        cmocka_unit_test(a_finding_is_over_when_its_scope_is_back),
        cmocka_unit_test(a_finding_is_not_over_while_few_messages_go_on_being_slow),
        cmocka_unit_test(ranks_that_were_late_because_of_slow_messages_are_over_with_these),
        cmocka_unit_test(a_node_at_which_messages_arrive_late_is_not_named_for_those_that_it_sends),
        cmocka_unit_test(the_onset_of_a_step_is_no_small_deviation_before_it),
        cmocka_unit_test(a_slow_pair_is_found_by_several_windows_where_each_pair_varies),
        cmocka_unit_test(a_slow_stream_is_found_though_its_windows_vary),
        cmocka_unit_test(a_stream_whose_noise_lasts_for_windows_is_no_fault),
        cmocka_unit_test(a_slow_node_that_becomes_faster_than_before_keeps_both_directions),
        cmocka_unit_test(a_pair_of_a_slow_node_that_is_slower_still_counts_to_the_node),
        cmocka_unit_test(a_slow_node_is_named_though_most_messages_come_before_their_receivers),
        cmocka_unit_test(findings_do_not_depend_on_the_order_of_rows),
        cmocka_unit_test(windows_have_to_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
