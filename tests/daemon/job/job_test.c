#include "daemon/alert/alert_labels.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job.h"
#include "daemon/job/job_accept.h"
#include "daemon/job/job_figures.h"
#include "daemon/storage/block/recorded.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/time_class.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define FIRST 100u /* number of the first window */
#define RANKS 4u   /* of a node */

/* ---- what a job publishes, encoded; the time of publishing set to zero --- */

struct published {
    struct wire_buffer messages[512];
    enum wire_type types[512];
    size_t count;
};

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void tell(void *user, const char *job, enum wire_type type, const void *message)
{
    struct published *published = user;
    struct wire_totals totals;
    (void)job;
    if (type == WIRE_TYPE_TOTALS) {
        totals = *(const struct wire_totals *)message;
        assert_true(totals.published_ns > 0);
        totals.published_ns = 0;
        message = &totals;
    }
    assert_true(published->count < 512);
    assert_int_equal(wire_encode(&published->messages[published->count], type, message), 0);
    published->types[published->count++] = type;
}

static void forget(struct published *published)
{
    for (size_t i = 0; i < published->count; i++)
        wire_buffer_finish(&published->messages[i]);
    memset(published, 0, sizeof(*published));
}

/* The n-th message of a type, counted from 0; from the end with -1. */
static const struct wire_message *message_of(struct published *published, enum wire_type type,
                                             int n)
{
    static struct wire_message message;
    static struct wire_arena arena;
    int back = n < 0, passed = back ? -1 - n : n;
    for (size_t i = 0; i < published->count; i++) {
        size_t at = back ? published->count - 1 - i : i;
        if (published->types[at] != type || passed-- > 0)
            continue;
        const struct wire_buffer *b = &published->messages[at];
        assert_int_equal(wire_decode(&message, &arena, b->bytes, b->length, NULL), 0);
        return &message;
    }
    fail_msg("no such message");
    return NULL;
}

static size_t count_of(const struct published *published, enum wire_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < published->count; i++)
        count += published->types[i] == type;
    return count;
}

static struct published published;

/* ---- a synthetic job ----------------------------------------------------- */

/* @param most_ranks  a job of more ranks is kept by groups of them; 0: none is */
static struct job *make_job_by_groups(struct published *into, uint64_t most_ranks)
{
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .most_ranks = most_ranks};
    struct job_output output = {into, wanted, tell, NULL};
    struct job *job;
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    return job;
}

static struct job *make_job(struct published *into)
{
    return make_job_by_groups(into, 0);
}

static void finish_job(struct job *job)
{
    job_destroy(job);
    forget(&published);
}

static int appear_as(struct job *job, unsigned node, uint64_t instance, const char *host,
                     uint64_t seq, unsigned nodes, uint64_t now)
{
    struct wire_member_row members[RANKS];
    struct job_fault fault;
    for (unsigned i = 0; i < RANKS; i++)
        members[i] =
            (struct wire_member_row){.rank = node * RANKS + i, .pid = 1000 + i, .placement = "0-3"};
    struct wire_ranks ranks = {.seq = seq,
                               .job = "test.0",
                               .world = (uint64_t)nodes * RANKS,
                               .app = "/bin/app",
                               .user = "ann",
                               .mpi = "MPI",
                               .host = host,
                               .members = members,
                               .members_count = RANKS};
    return job_accept_ranks(job, instance, &ranks, now, &fault);
}

static void appear(struct job *job, unsigned node, unsigned nodes)
{
    char host[16];
    snprintf(host, sizeof(host), "node%u", node);
    assert_int_equal(appear_as(job, node, node + 1, host, 1, nodes, FIRST * S), 0);
}

struct report {
    unsigned node;
    uint64_t instance, window, flags, lost, dropped, matched;
    const char *host;
    struct wire_death_row *deaths;
    uint64_t deaths_count;
    uint64_t send_wait_ns; /* of a message from the node's first rank to its second */
    uint64_t received;     /* of each rank; 0: 5, as many as are sent to it */
    int64_t destination;   /* of its first rank; 0: its second one */
    uint64_t network_ns;   /* time in flight of forty messages within the node */
    uint64_t absent_ns;    /* of each rank */
    int stands_still;      /* its ranks wait all the time, but the first one of node 1 */
};

static int take(struct job *job, const struct report *r, uint64_t now)
{
    char host[16];
    struct job_fault fault;
    snprintf(host, sizeof(host), "node%u", r->node);
    struct wire_comm_row comms[2] = {{.id = 1, .size = 8, .name = "MPI_COMM_WORLD"},
                                     {.id = 7 + r->node % 2, .size = 2}};
    struct wire_region_row regions[2] = {{""}, {r->node % 2 ? "odd" : "even"}};
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row pairs[RANKS];
    struct wire_call_row calls[RANKS];
    for (unsigned i = 0; i < RANKS; i++) {
        uint64_t rank = r->node * RANKS + i;
        ranks[i] = (struct wire_rank_row){.rank = rank,
                                          .events = 10 + rank,
                                          .calls = 20,
                                          .sent = 5,
                                          .sent_bytes = 40,
                                          .received = r->received ? r->received : 5,
                                          .wait_ns = 1000 * rank,
                                          .threads = 1,
                                          .absent_ns = r->absent_ns,
                                          .send_wait_ns = 7 * MS, /* only the daemon knows */
                                          .in_call_peer = -1};
        pairs[i] =
            (struct wire_pair_row){rank, (int64_t)(rank + 1) % RANKS, i % 2, i / 2, 8, 5, 40};
        calls[i] = (struct wire_call_row){rank, 1, i % 2, i / 2, 5, 40, 0, 500, 100 + rank, 0, 0};
    }
    for (unsigned i = 0; i < RANKS && r->stands_still; i++) {
        ranks[i].calls = 0;
        ranks[i].wait_ns = r->node == 1 && i == 0 ? 0 : S;
    }
    pairs[0].destination = r->destination ? r->destination : pairs[0].destination;
    struct wire_transfer_row transfer = {.source = r->node * RANKS,
                                         .destination = r->node * RANKS + 1,
                                         .messages = 1,
                                         .transfer_ns = r->send_wait_ns,
                                         .late_receiver_ns = r->send_wait_ns,
                                         .send_wait_ns = r->send_wait_ns};
    struct wire_latency_row latency = {.messages = 40, .bucket = time_class_of(r->network_ns)};
    if (r->network_ns > 0) {
        transfer.messages = 40;
        transfer.transfer_ns = transfer.network_ns = 40 * r->network_ns;
        transfer.log2_sum = 40 * (uint64_t)time_log2(r->network_ns);
    }
    ranks[0].send_ns = r->send_wait_ns;
    struct wire_node_row node = {.host = host,
                                 .agent_pid = r->node,
                                 .lost = r->lost,
                                 .windows_dropped = r->dropped,
                                 .matched = r->matched,
                                 .call_cost_ns = 30};
    struct wire_window window = {.seq = 2 + r->window - FIRST,
                                 .job = "test.0",
                                 .host = r->host ? r->host : host,
                                 .window = r->window,
                                 .length_ns = S,
                                 .flags = r->flags,
                                 .comms = comms,
                                 .comms_count = 2,
                                 .regions = regions,
                                 .regions_count = 2,
                                 .ranks = ranks,
                                 .ranks_count = RANKS,
                                 .pairs = pairs,
                                 .pairs_count = RANKS,
                                 .calls = calls,
                                 .calls_count = RANKS,
                                 .transfers = &transfer,
                                 .transfers_count = r->send_wait_ns + r->network_ns > 0,
                                 .latencies = &latency,
                                 .latencies_count = r->network_ns > 0,
                                 .deaths = r->deaths,
                                 .deaths_count = r->deaths_count,
                                 .node = &node,
                                 .node_count = 1};
    return job_accept_window(job, r->instance ? r->instance : r->node + 1, &window, now, &fault);
}

static void report(struct job *job, unsigned node, uint64_t window, uint64_t flags, uint64_t now)
{
    struct report r = {.node = node, .window = window, .flags = flags};
    assert_int_equal(take(job, &r, now), 0);
}

static void advance(struct job *job, uint64_t now)
{
    job_advance(job, now, now);
}

static uint64_t end_of(uint64_t window)
{
    return (window + 1) * S;
}

/* ---- windows ------------------------------------------------------------- */

static void a_window_is_published_when_all_nodes_have_reported(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, 0, end_of(FIRST) + 5 * MS);
    advance(job, end_of(FIRST) + 6 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 0);
    report(job, 1, FIRST, 0, end_of(FIRST) + 9 * MS);
    advance(job, end_of(FIRST) + 10 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 1);
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, 0)->totals;
    assert_int_equal(t->window, FIRST);
    assert_int_equal(t->agents, 2);
    assert_int_equal(t->agents_missing, 0);
    assert_int_equal(t->ranks, 8);
    assert_int_equal(t->sent, 40);
    assert_int_equal(t->wait_ns, 28000);
    assert_int_equal(t->late, 0);
    finish_job(job);
}

/* A job of two nodes with 8 ranks after two windows. @return its totals of the second */
static struct wire_totals run_two_windows(struct published *into, uint64_t most_ranks,
                                          struct job **job)
{
    *job = make_job_by_groups(into, most_ranks);
    appear(*job, 0, 2);
    appear(*job, 1, 2);
    for (uint64_t window = FIRST; window < FIRST + 2; window++) {
        for (unsigned node = 0; node < 2; node++) {
            struct report r = {.node = node, .window = window, .send_wait_ns = (1 + node) * MS};
            assert_int_equal(take(*job, &r, end_of(window)), 0);
        }
        advance(*job, end_of(window) + 10 * MS);
    }
    return message_of(into, WIRE_TYPE_TOTALS, -1)->totals;
}

static void totals_by_groups_are_those_by_ranks(void **state)
{
    static struct published by_groups;
    struct job *job, *grouped;
    (void)state;
    struct wire_totals t = run_two_windows(&published, 0, &job);
    struct wire_totals g = run_two_windows(&by_groups, 3, &grouped); /* groups of 4 ranks */
    assert_int_equal(g.ranks, 8);
    t.job = g.job = NULL; /* which the decoder owns */
    assert_memory_equal(&t, &g, sizeof(t));
    assert_int_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.group, 0);
    assert_int_equal(message_of(&by_groups, WIRE_TYPE_JOB, -1)->job.group, 4);

    uint64_t crossing = 0;
    const struct wire_rank_window *r =
        &message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(r->ranks_count, 8);
    for (unsigned i = 0; i < 8; i++)
        crossing += r->ranks[i].crossing;
    assert_true(crossing > 0);
    r = &message_of(&by_groups, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(r->ranks_count, 2);
    assert_int_equal(r->ranks[0].ranks, 4);
    assert_int_equal(r->ranks[1].rank, 4); /* its first one */
    assert_int_equal(r->ranks[1].ranks, 4);
    assert_int_equal(r->ranks[0].wait_ns + r->ranks[1].wait_ns, t.wait_ns);
    assert_int_equal(r->ranks[0].send_wait_ns, MS);
    assert_int_equal(r->ranks[1].send_wait_ns, 2 * MS);
    assert_int_equal(r->ranks[1].awaited, 0); /* of a group it is not known for whom */
    assert_int_equal(r->ranks[0].crossing + r->ranks[1].crossing, crossing);
    struct state_bytes state_of_groups = {0}; /* a fleet can store it */
    assert_int_equal(job_save(grouped, &state_of_groups), 0);
    free(state_of_groups.bytes);
    job_destroy(grouped);
    forget(&by_groups);
    finish_job(job);
}

/* Times of messages vary by some per cent from window to window, and from node to node. */
static uint64_t time_in_flight(uint64_t window, unsigned node)
{
    return 2000 + (window * 7919 + node * 104729) % 97;
}

static void a_slow_node_is_named_where_groups_have_several_nodes(void **state)
{
    enum { NODES = 4, CALM = 30, SLOW = 2 };
    struct rules rules;
    assert_int_equal(rules_default(&rules), 0);
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .most_ranks = 3, /* groups of 8 ranks, on two nodes */
                                  .rules = &rules};
    struct job_output output = {&published, wanted, tell, NULL};
    struct job *job;
    char title[128] = "", culprits[64] = "", ranks[64] = "";
    (void)state;
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    for (unsigned node = 0; node < NODES; node++)
        appear(job, node, NODES);
    for (uint64_t window = FIRST; window < FIRST + CALM + 20; window++) {
        const int slow = window >= FIRST + CALM;
        for (unsigned node = 0; node < NODES; node++) {
            struct report r = {.node = node,
                               .window = window,
                               .network_ns =
                                   time_in_flight(window, node) * (slow && node == SLOW ? 8 : 1)};
            assert_int_equal(take(job, &r, end_of(window)), 0);
        }
        advance(job, end_of(window) + 10 * MS);
        if (!slow)
            assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
        if (count_of(&published, WIRE_TYPE_ALERT) > 0) {
            const struct wire_alert *a = &message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
            snprintf(title, sizeof(title), "%s", a->title);
            snprintf(culprits, sizeof(culprits), "%s", a->culprits);
            snprintf(ranks, sizeof(ranks), "%s", a->ranks);
        }
        const struct wire_latencies *l =
            &message_of(&published, WIRE_TYPE_LATENCIES, -1)->latencies;
        assert_int_equal(l->ranks_count, window > FIRST + 5 ? 2 : l->ranks_count);
        if (slow) {
            assert_int_equal(l->ranks[1].rank, 8); /* the first one of the group */
            assert_true(l->ranks[1].reference > 2 * l->ranks[0].reference);
        }
        forget(&published);
    }
    assert_string_equal(culprits, "node2");
    assert_string_equal(ranks, "8-11");
    assert_memory_equal(title, "node2: messages take ", sizeof("node2: messages take ") - 1);
    rules_finish(&rules);
    finish_job(job);
}

/* Clients that follow a job from its begin have to learn of it, too. */
static void that_an_iteration_takes_two_windows_is_published_once_it_is_known(void **state)
{
    struct rules rules;
    assert_int_equal(rules_default(&rules), 0);
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .rules = &rules};
    struct job_output output = {&published, wanted, tell, NULL};
    struct job *job;
    uint64_t span = 0;
    (void)state;
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    appear(job, 0, 1);
    for (uint64_t window = FIRST; window < FIRST + 80; window++) {
        struct report r = {.node = 0, .window = window, .stands_still = window % 2 == 0};
        assert_int_equal(take(job, &r, end_of(window)), 0);
        advance(job, end_of(window) + 10 * MS);
        if (count_of(&published, WIRE_TYPE_JOB) > 0)
            span = message_of(&published, WIRE_TYPE_JOB, -1)->job.span;
        forget(&published);
    }
    assert_int_equal(span, 2);
    rules_finish(&rules);
    finish_job(job);
}

/* Two nodes by groups, whose ranks make no progress from the third window of `windows` on, but in
 * the last if it `moves_again`. */
static struct job *make_hanging_job(const struct rules *rules, uint64_t windows, int moves_again)
{
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .most_ranks = 3, /* a group on each node */
                                  .rules = rules};
    struct job_output output = {&published, wanted, tell, NULL};
    struct job *job;
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t window = FIRST; window < FIRST + windows; window++) {
        for (unsigned node = 0; node < 2; node++) {
            struct report r = {.node = node,
                               .window = window,
                               .stands_still = window > FIRST + 1 &&
                                               (!moves_again || window < FIRST + windows - 1)};
            assert_int_equal(take(job, &r, end_of(window)), 0);
        }
        advance(job, end_of(window) + 10 * MS);
    }
    return job;
}

static void a_hang_of_a_job_by_groups_fires_and_ends(void **state)
{
    struct rules rules;
    (void)state;
    assert_int_equal(rules_default(&rules), 0);
    struct job *job = make_hanging_job(&rules, 16, 1);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 2);
    const struct wire_alert *a = &message_of(&published, WIRE_TYPE_ALERT, 0)->alert;
    assert_string_equal(a->kind, "hang");
    assert_string_equal(a->state, "firing");
    assert_string_equal(a->ranks, "4-7");
    assert_string_equal(a->title, "7 ranks wait and none goes on, except 1 of ranks 4-7");
    assert_string_equal(a->nodes, "node1");
    a = &message_of(&published, WIRE_TYPE_ALERT, 1)->alert;
    assert_string_equal(a->state, "resolved");
    rules_finish(&rules);
    finish_job(job);
}

static void a_hang_goes_on_where_the_recording_ends_before_the_job(void **state)
{
    struct rules rules;
    (void)state;
    assert_int_equal(rules_default(&rules), 0);
    struct job *job = make_hanging_job(&rules, 15, 0);
    job_finish(job, end_of(FIRST + 15));
    assert_string_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.state, "cut short");
    assert_int_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.end_ns, end_of(FIRST + 14));
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    const struct wire_alert *a = &message_of(&published, WIRE_TYPE_ALERT, 0)->alert;
    assert_string_equal(a->kind, "hang");
    assert_string_equal(a->state, "firing");
    rules_finish(&rules);
    finish_job(job);
}

static void a_silent_node_is_waited_for_no_longer_than_the_grace(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, 0, end_of(FIRST));
    report(job, 1, FIRST, 0, end_of(FIRST));
    report(job, 0, FIRST + 1, 0, end_of(FIRST + 1));
    advance(job, end_of(FIRST + 1) + 249 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 1);
    advance(job, end_of(FIRST + 1) + 250 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 2);
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->agents, 1);
    assert_int_equal(t->agents_missing, 1);
    finish_job(job);
}

static void backlog_is_not_taken_for_silence(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, 0, end_of(FIRST));
    job_advance(job, end_of(FIRST) + 100 * MS, end_of(FIRST) + 2 * S);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 0);
    finish_job(job);
}

static void a_late_report_is_published_as_a_correction(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, 0, end_of(FIRST));
    advance(job, end_of(FIRST) + 300 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 1);
    report(job, 1, FIRST, 0, end_of(FIRST) + 400 * MS);
    assert_int_equal(job_late_messages(job), 1);
    advance(job, end_of(FIRST) + 1649 * MS); /* others may be late too */
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 1);
    advance(job, end_of(FIRST) + 1650 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 2);
    struct wire_totals t = message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t.late, 1);
    assert_int_equal(t.agents, 2);
    assert_int_equal(t.agents_missing, 0);
    assert_int_equal(t.ranks, 8);
    assert_int_equal(t.sent, 40);
    const struct wire_rank_window *ranks =
        &message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(ranks->window, FIRST);
    assert_int_equal(ranks->ranks_count, RANKS); /* of the late node only */
    assert_int_equal(ranks->ranks[0].rank, RANKS);
    finish_job(job);
}

/* As for ranks that were found in the middle of the window. */
static void a_node_that_reports_more_later_is_one_node(void **state)
{
    struct job *job = make_job(&published);
    const uint64_t second = FIRST + 1;
    const struct report more = {.node = 0, .window = second, .instance = 9};
    (void)state;
    for (unsigned node = 0; node < 3; node++)
        appear(job, node, 3);
    for (unsigned node = 0; node < 3; node++)
        report(job, node, FIRST, 0, end_of(FIRST));
    for (unsigned node = 0; node < 2; node++)
        report(job, node, second, 0, end_of(second));
    advance(job, end_of(second) + 300 * MS);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, -1)->totals.agents_missing, 1);
    assert_int_equal(take(job, &more, end_of(second) + 400 * MS), 0);
    advance(job, end_of(second) + 1650 * MS);
    struct wire_totals t = message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t.late, 1);
    assert_int_equal(t.agents, 2);
    assert_int_equal(t.agents_missing, 1);
    finish_job(job);
}

static void a_state_reports_what_ranks_did_before(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + 3; w++)
        report(job, 0, w, 0, end_of(w));
    advance(job, end_of(FIRST + 2) + S);
    struct wire_rank_row row =
        message_of(&published, WIRE_TYPE_RANK_WINDOW, 1)->rank_window.ranks[0];
    assert_int_equal(count_of(&published, WIRE_TYPE_HISTORY), 0); /* those who are there know */
    job_snapshot(job, WIRE_TYPE_HISTORY, &(struct job_output){&published, wanted, tell, NULL});
    assert_int_equal(count_of(&published, WIRE_TYPE_HISTORY), 3);
    const struct wire_history *h = &message_of(&published, WIRE_TYPE_HISTORY, 1)->history;
    assert_int_equal(h->first, FIRST + 1);
    assert_int_equal(h->last, FIRST + 1);
    assert_int_equal(h->length_ns, S);
    assert_int_equal(h->ranks_count, RANKS);
    assert_int_equal(h->ranks[0].sent, row.sent);
    assert_int_equal(h->ranks[0].wait_ns, row.wait_ns);
    finish_job(job);
}

static void a_clock_that_is_ahead_makes_no_other_node_late(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 1, FIRST + 5000, WINDOW_CLOCK, end_of(FIRST));
    advance(job, end_of(FIRST) + 5 * S);
    report(job, 0, FIRST + 5, 0, end_of(FIRST + 5));
    report(job, 1, FIRST + 5, 0, end_of(FIRST + 5));
    advance(job, end_of(FIRST + 5) + 1);
    assert_int_equal(job_late_messages(job), 1); /* the one from the future */
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->window, FIRST + 5);
    assert_int_equal(t->late, 0);
    finish_job(job);
}

static void windows_of_another_length_count_too(void **state)
{
    struct job *job = make_job(&published);
    struct job_fault fault;
    struct wire_rank_row row = {.rank = 0, .sent = 3};
    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        struct wire_window w = {.seq = i + 1,
                                .job = "test.0",
                                .host = "a",
                                .window = FIRST * 10 + i,
                                .length_ns = 100 * MS,
                                .ranks = &row,
                                .ranks_count = 1};
        assert_int_equal(job_accept_window(job, 1, &w, FIRST * S + i, &fault), 0);
    }
    job_flush(job, end_of(FIRST));
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->window, FIRST);
    assert_int_equal(t->sent, 30);
    finish_job(job);
}

/* ---- reproducible -------------------------------------------------------- */

static void play(struct published *into, const unsigned *order, unsigned nodes)
{
    struct job *job = make_job(into);
    for (unsigned i = 0; i < nodes; i++)
        appear(job, i, nodes);
    for (uint64_t w = FIRST; w < FIRST + 5; w++) {
        for (unsigned i = 0; i < nodes; i++)
            report(job, order[(i + w) % nodes], w, w == FIRST + 4 ? WINDOW_FINAL : 0,
                   end_of(w) + i * MS);
        advance(job, end_of(w) + 50 * MS);
    }
    for (enum wire_type t = WIRE_TYPE_TOTALS; t <= WIRE_TYPE_CALL_WINDOW; t++)
        job_snapshot(job, t, &(struct job_output){into, wanted, tell, NULL});
    job_snapshot(job, WIRE_TYPE_CALLER_WINDOW, &(struct job_output){into, wanted, tell, NULL});
    assert_int_equal(job_state(job), JOB_ENDED);
    job_destroy(job);
}

static void the_same_messages_in_any_order_publish_the_same_bytes(void **state)
{
    static struct published one, two, three;
    static const unsigned forth[6] = {0, 1, 2, 3, 4, 5}, mixed[6] = {3, 0, 5, 1, 4, 2};
    (void)state;
    play(&one, forth, 6);
    play(&two, forth, 6);
    play(&three, mixed, 6);
    assert_true(one.count > 20);
    assert_int_equal(one.count, two.count);
    assert_int_equal(one.count, three.count);
    for (size_t i = 0; i < one.count; i++) {
        assert_int_equal(one.types[i], three.types[i]);
        assert_int_equal(one.messages[i].length, two.messages[i].length);
        assert_memory_equal(one.messages[i].bytes, two.messages[i].bytes, one.messages[i].length);
        if (one.types[i] == WIRE_TYPE_PLACES)
            continue; /* nodes stand in the order in which they appeared */
        assert_int_equal(one.messages[i].length, three.messages[i].length);
        assert_memory_equal(one.messages[i].bytes, three.messages[i].bytes, one.messages[i].length);
    }
    forget(&one);
    forget(&two);
    forget(&three);
}

static void windows_add_up_to_the_snapshot(void **state)
{
    struct job *job = make_job(&published);
    uint64_t messages = 0;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 4; w++) {
        report(job, 0, w, 0, end_of(w));
        if (w % 2 == 0)
            report(job, 1, w, 0, end_of(w));
        advance(job, end_of(w) + 300 * MS); /* every other one without node 1 */
        if (w % 2 == 1)
            report(job, 1, w, 0, end_of(w) + 310 * MS);
    }
    advance(job, end_of(FIRST + 6));
    for (size_t i = 0; i < count_of(&published, WIRE_TYPE_PAIR_WINDOW); i++) {
        const struct wire_pair_window *p =
            &message_of(&published, WIRE_TYPE_PAIR_WINDOW, (int)i)->pair_window;
        for (uint64_t j = 0; j < p->pairs_count; j++)
            messages += p->pairs[j].messages;
    }
    forget(&published);
    job_snapshot(job, WIRE_TYPE_PAIR_WINDOW, &(struct job_output){&published, wanted, tell, NULL});
    const struct wire_pair_window *p =
        &message_of(&published, WIRE_TYPE_PAIR_WINDOW, 0)->pair_window;
    assert_int_equal(p->windows, 4);
    assert_int_equal(p->pairs_count, 8);
    for (uint64_t j = 0; j < p->pairs_count; j++)
        messages -= p->pairs[j].messages;
    assert_int_equal(messages, 0);
    finish_job(job);
}

/* Every rank makes five calls in each window, in one row; 500 ns. */
static void calls_of_ranks_add_up_to_the_snapshot(void **state)
{
    struct job *job = make_job(&published);
    uint64_t calls[2 * RANKS] = {0}, time_ns = 0;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 4; w++) {
        report(job, 0, w, 0, end_of(w));
        report(job, 1, w, 0, end_of(w));
        advance(job, end_of(w) + 300 * MS);
    }
    assert_int_equal(count_of(&published, WIRE_TYPE_CALLER_WINDOW), 4);
    for (int i = 0; i < 4; i++) {
        const struct wire_caller_window *c =
            &message_of(&published, WIRE_TYPE_CALLER_WINDOW, i)->caller_window;
        assert_int_equal(c->window, FIRST + (uint64_t)i);
        assert_int_equal(c->calls_count, 2 * RANKS);
        for (uint64_t k = 0; k < c->calls_count; k++) {
            assert_int_equal(c->calls[k].rank, k); /* in the order of ranks */
            calls[k] += c->calls[k].calls;
            time_ns += c->calls[k].time_ns;
        }
    }
    assert_int_equal(time_ns, 4 * 2 * RANKS * 500);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_CALLER_WINDOW,
                 &(struct job_output){&published, wanted, tell, NULL});
    const struct wire_caller_window *c =
        &message_of(&published, WIRE_TYPE_CALLER_WINDOW, 0)->caller_window;
    assert_int_equal(c->windows, 4);
    assert_int_equal(c->calls_count, 2 * RANKS);
    for (uint64_t k = 0; k < c->calls_count; k++) {
        assert_int_equal(calls[k], 4 * 5);
        assert_int_equal(c->calls[k].calls, calls[k]);
    }
    finish_job(job);
}

/* One message of node 1 is matched in each window, and none of node 0. */
static void every_received_message_is_matched_or_unmatched_in_each_total(void **state)
{
    static const uint64_t matched[] = {1, 2, 2, 3}, received[] = {40, 80, 100, 140};
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 4; w++) {
        struct report matching = {.node = 1, .window = w, .send_wait_ns = MS};
        report(job, 0, w, 0, end_of(w));
        if (w == FIRST + 2) /* node 1 is late */
            advance(job, end_of(w) + 300 * MS);
        assert_int_equal(take(job, &matching, end_of(w) + 400 * MS), 0);
        advance(job, end_of(w) + 500 * MS);
        const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
        assert_int_equal(t->window, w);
        assert_int_equal(t->matched, matched[w - FIRST]);
        assert_int_equal(t->matched + t->unmatched, received[w - FIRST]);
    }
    advance(job, end_of(FIRST + 9)); /* the correction */
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->window, FIRST + 2);
    assert_int_equal(t->late, 1);
    assert_int_equal(t->matched, 4);
    assert_int_equal(t->unmatched, 156);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_TOTALS, &(struct job_output){&published, wanted, tell, NULL});
    t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals; /* a late subscriber gets the same */
    assert_int_equal(t->window, FIRST + 3);
    assert_int_equal(t->matched, 4);
    assert_int_equal(t->unmatched, 156);
    finish_job(job);
}

/* The ranks of node 1 are not watched; those of node 0 receive three messages each from them, and
 * its first rank has sent its five messages to one of them. */
static void messages_from_ranks_that_are_not_watched_are_not_unmatched(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct report r = {
            .window = w, .received = 8, .destination = RANKS + 1, .send_wait_ns = MS};
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w) + 500 * MS);
    }
    const struct wire_totals *t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->matched, 3);
    assert_int_equal(t->unwatched, 3 * (RANKS * 3 + 5));
    assert_int_equal(t->matched + t->unmatched, 3 * (RANKS * 5 - 5));
    appear(job, 1, 2); /* now they are watched, and so they were from the begin */
    struct report r = {.window = FIRST + 3, .received = 8};
    assert_int_equal(take(job, &r, end_of(FIRST + 3)), 0);
    advance(job, end_of(FIRST + 3) + 500 * MS);
    t = &message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(t->unwatched, 0);
    assert_int_equal(t->unmatched, 4 * RANKS * 8 - 3);
    finish_job(job);
}

static const struct wire_alert *newest_alert(void)
{
    return &message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
}

static void
ranks_that_are_not_watched_are_one_alert_after_the_time_that_ranks_may_start_late(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    for (uint64_t w = FIRST; w < FIRST + 20; w++) {
        report(job, 0, w, 0, end_of(w));
        advance(job, end_of(w) + 500 * MS);
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), w >= FIRST + 10);
    }
    assert_string_equal(newest_alert()->kind, "ranks-unwatched");
    assert_string_equal(newest_alert()->title, "4 of 8 ranks not watched: 4-7");
    assert_string_equal(newest_alert()->ranks, "4-7");
    appear(job, 1, 2);
    for (unsigned node = 0; node < 2; node++)
        report(job, node, FIRST + 20, 0, end_of(FIRST + 20));
    advance(job, end_of(FIRST + 20) + 500 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 2);
    assert_string_equal(newest_alert()->state, "resolved");
    finish_job(job);
}

static void ranks_that_start_late_are_no_alert(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    for (uint64_t w = FIRST; w < FIRST + 30; w++) {
        if (w == FIRST + 8)
            appear(job, 1, 2);
        for (unsigned node = 0; node < (w < FIRST + 8 ? 1 : 2); node++)
            report(job, node, w, w == FIRST + 29 ? WINDOW_FINAL : 0, end_of(w));
        advance(job, end_of(w) + 500 * MS);
    }
    assert_string_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.state, "ended");
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
    finish_job(job);
}

static void ranks_that_were_not_watched_are_an_alert_when_a_short_job_ends(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    report(job, 0, FIRST, WINDOW_FINAL, end_of(FIRST));
    advance(job, end_of(FIRST) + 500 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
    advance(job, end_of(FIRST) + 60 * S);
    assert_string_equal(newest_alert()->title, "4 of 8 ranks not watched: 4-7");
    assert_string_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.state, "ended");
    finish_job(job);
}

/* Rank 4 waits for rank 5, which is late, and waits for nobody. */
static void late_ranks_are_published_window_by_window_and_again_to_those_who_come_late(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct report waits = {.node = 1, .window = w, .send_wait_ns = 300 * MS};
        report(job, 0, w, 0, end_of(w));
        assert_int_equal(take(job, &waits, end_of(w)), 0);
    }
    advance(job, end_of(FIRST + 3));
    struct wire_lateness last = message_of(&published, WIRE_TYPE_LATENESS, -1)->lateness;
    assert_int_equal(last.window, FIRST + 2);
    assert_int_equal(last.windows, 1);
    assert_int_equal(last.ranks_count, 1);
    assert_int_equal(last.ranks[0].rank, 5);
    assert_int_equal(last.ranks[0].late_ns, 300 * MS);
    assert_int_equal(last.ranks[0].caused_ns, 300 * MS);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_LATENESS, &(struct job_output){&published, wanted, tell, NULL});
    assert_int_equal(message_of(&published, WIRE_TYPE_LATENESS, 0)->lateness.window, FIRST);
    assert_int_equal(message_of(&published, WIRE_TYPE_LATENESS, -1)->lateness.window, FIRST + 2);
    finish_job(job);
}

static void ranks_are_absent_from_the_windows_after_their_end(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct report ends = {.node = 1, .window = w, .absent_ns = 400 * MS};
        report(job, 0, w, 0, end_of(w));
        if (w == FIRST)
            assert_int_equal(take(job, &ends, end_of(w)), 0);
    }
    advance(job, end_of(FIRST + 9));
    forget(&published);
    job_snapshot(job, WIRE_TYPE_RANK_WINDOW, &(struct job_output){&published, wanted, tell, NULL});
    const struct wire_rank_window *ranks =
        &message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(ranks->windows, 3);
    assert_int_equal(ranks->ranks[RANKS - 1].absent_ns, 0);
    assert_int_equal(ranks->ranks[RANKS].absent_ns, 2 * S + 400 * MS);
    finish_job(job);
}

static void time_in_which_ranks_were_not_there_is_published_and_not_counted_as_theirs(void **state)
{
    struct job *job = make_job(&published);
    struct job_figures of_job;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct report starts = {.node = 1, .window = w, .absent_ns = w == FIRST ? 400 * MS : 0};
        report(job, 0, w, 0, end_of(w));
        assert_int_equal(take(job, &starts, end_of(w)), 0);
    }
    advance(job, end_of(FIRST + 3));
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, 0)->totals.absent_ns,
                     RANKS * 400 * MS);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, -1)->totals.absent_ns, 0);
    job_figures(job, &of_job);
    assert_int_equal(of_job.rank_ns, 3 * 2 * RANKS * S - RANKS * 400 * MS);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_RANK_WINDOW, &(struct job_output){&published, wanted, tell, NULL});
    const struct wire_rank_window *ranks =
        &message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(ranks->ranks[RANKS - 1].absent_ns, 0);
    assert_int_equal(ranks->ranks[RANKS].absent_ns, 400 * MS);
    finish_job(job);
}

/* With the totals, with the ranks, and with the ranks' sums since the start. */
static void waits_in_sends_are_published_with_the_rank_that_was_waited_for(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct report waits = {.node = 1, .window = w, .send_wait_ns = 300 * MS};
        report(job, 0, w, 0, end_of(w));
        assert_int_equal(take(job, &waits, end_of(w)), 0);
    }
    advance(job, end_of(FIRST + 3));
    struct wire_totals totals = message_of(&published, WIRE_TYPE_TOTALS, -1)->totals;
    assert_int_equal(totals.send_wait_ns, 300 * MS);
    struct wire_rank_row row =
        message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window.ranks[4];
    assert_int_equal(row.rank, 4);
    assert_int_equal(row.send_wait_ns, 300 * MS);
    assert_int_equal(row.awaited, 1 + 5);
    assert_int_equal(row.awaited_ns, 300 * MS);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_RANK_WINDOW, &(struct job_output){&published, wanted, tell, NULL});
    row = message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window.ranks[4];
    assert_int_equal(row.send_wait_ns, 900 * MS);
    assert_int_equal(row.awaited, 1 + 5);
    assert_int_equal(row.awaited_ns, 900 * MS);
    assert_int_equal(row.in_call_peer, -1);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_HISTORY, &(struct job_output){&published, wanted, tell, NULL});
    assert_int_equal(message_of(&published, WIRE_TYPE_HISTORY, 1)->history.ranks[4].send_wait_ns,
                     300 * MS);
    finish_job(job);
}

/* Ranks of node 1 send to those of node 0, which send among themselves. */
static void messages_that_cross_nodes_are_published_by_rank(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    for (uint64_t w = FIRST; w < FIRST + 2; w++) {
        report(job, 0, w, 0, end_of(w));
        if (w == FIRST + 1) /* node 1 is late */
            advance(job, end_of(w) + 300 * MS);
        report(job, 1, w, 0, end_of(w) + 400 * MS);
        advance(job, end_of(w) + 500 * MS);
    }
    const struct wire_rank_window *m =
        &message_of(&published, WIRE_TYPE_RANK_WINDOW, 0)->rank_window;
    assert_int_equal(m->ranks_count, 2 * RANKS);
    for (unsigned r = 0; r < 2 * RANKS; r++) {
        assert_int_equal(m->ranks[r].crossing, r < RANKS ? 0 : 5);
        assert_int_equal(m->ranks[r].crossing_bytes, r < RANKS ? 0 : 40);
    }
    advance(job, end_of(FIRST + 9)); /* the correction */
    forget(&published);
    job_snapshot(job, WIRE_TYPE_RANK_WINDOW, &(struct job_output){&published, wanted, tell, NULL});
    m = &message_of(&published, WIRE_TYPE_RANK_WINDOW, -1)->rank_window;
    assert_int_equal(m->ranks[RANKS].sent, 10);
    assert_int_equal(m->ranks[RANKS].crossing, 10);
    assert_int_equal(m->ranks[0].crossing, 0);
    forget(&published);
    job_snapshot(job, WIRE_TYPE_HISTORY, &(struct job_output){&published, wanted, tell, NULL});
    assert_int_equal(message_of(&published, WIRE_TYPE_HISTORY, 0)->history.ranks[RANKS].crossing,
                     5);
    finish_job(job);
}

/* ---- agents -------------------------------------------------------------- */

static void a_message_is_known_by_agent_and_number(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    assert_true(job_has_accepted(job, 1, 1));
    assert_false(job_has_accepted(job, 1, 2));
    assert_false(job_has_accepted(job, 2, 1));
    report(job, 0, FIRST, 0, end_of(FIRST));
    assert_true(job_has_accepted(job, 1, 2));
    finish_job(job);
}

static void an_agent_that_was_started_again_keeps_its_node(void **state)
{
    struct job *job = make_job(&published);
    struct wire_job_row row;
    (void)state;
    appear(job, 0, 1);
    report(job, 0, FIRST, 0, end_of(FIRST));
    assert_int_equal(appear_as(job, 0, 77, "node0", 1, 1, end_of(FIRST)), 0);
    struct report r = {
        .node = 0, .instance = 77, .window = FIRST + 1, .flags = WINDOW_RESUMED | WINDOW_GAP};
    assert_int_equal(take(job, &r, end_of(FIRST + 1)), 0);
    advance(job, end_of(FIRST + 1) + 1);
    job_describe(job, &row);
    assert_int_equal(row.nodes, 1);
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 2);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, -1)->totals.agents_missing, 0);
    finish_job(job);
}

static void two_nodes_of_one_name_stay_two(void **state)
{
    struct job *job = make_job(&published);
    struct wire_job_row row;
    (void)state;
    assert_int_equal(appear_as(job, 0, 1, "same", 1, 2, FIRST * S), 0);
    assert_int_equal(appear_as(job, 1, 2, "same", 1, 2, FIRST * S), 0);
    job_describe(job, &row);
    assert_int_equal(row.nodes, 2);
    finish_job(job);
}

/* ---- alerts -------------------------------------------------------------- */

/* What the agents of two nodes report of one window: a death each, or none; all flags but
 * WINDOW_FINAL are those of the second node only. */
static void report_deaths(struct job *job, uint64_t window, uint64_t flags,
                          struct wire_death_row *of_node0, struct wire_death_row *of_node1)
{
    struct wire_death_row *deaths[] = {of_node0, of_node1};
    for (unsigned node = 0; node < 2; node++) {
        struct report r = {.node = node,
                           .window = window,
                           .flags = node == 1 ? flags : flags & WINDOW_FINAL,
                           .deaths = deaths[node],
                           .deaths_count = deaths[node] != NULL};
        assert_int_equal(take(job, &r, end_of(window)), 0);
    }
    advance(job, end_of(window) + 2);
}

static void dead_ranks_are_one_alert_that_names_the_cause_first(void **state)
{
    struct job *job = make_job(&published);
    struct wire_death_row killed = {.rank = 0, .pid = 1000, .call = 12, .in_call = 1, .peer = 5};
    struct wire_death_row aborted = {.rank = 6,
                                     .pid = 1002,
                                     .aborted = 1,
                                     .abort_code = 3,
                                     .call = 12,
                                     .peer = -1,
                                     .ended_ns = 20};
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report_deaths(job, FIRST, WINDOW_FINAL, &killed, &aborted);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    struct wire_alert a = message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
    assert_int_equal(a.id, 1);
    assert_string_equal(a.kind, "rank-died");
    assert_int_equal(a.rank, 6);
    assert_non_null(strstr(a.title, "MPI_Abort(3)"));
    assert_non_null(strstr(a.title, "; 1 more ended after it"));
    assert_int_equal(job_state(job), JOB_DIED);
    finish_job(job);
}

/* The other rank has been in its receive since before the call after which the first one died. */
static void the_rank_that_ended_first_is_the_cause_on_whatever_node_it_was(void **state)
{
    struct job *job = make_job(&published);
    struct wire_death_row killed = {.rank = 0,
                                    .pid = 1000,
                                    .call = CALL_Recv,
                                    .in_call = 1,
                                    .peer = 5,
                                    .at_ns = 10,
                                    .ended_ns = 500};
    struct wire_death_row crashed = {
        .rank = 5, .pid = 1001, .call = CALL_Send, .peer = 1, .at_ns = 20, .ended_ns = 400};
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report_deaths(job, FIRST, WINDOW_FINAL, &killed, &crashed);
    struct wire_alert a = message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
    assert_int_equal(a.rank, 5);
    assert_string_equal(a.title,
                        "rank 5 on node1 died after MPI_Send, peer 1; 1 more ended after it");
    assert_string_equal(a.text, "rank 5 on node1 died after MPI_Send, peer 1; after that rank 0 on "
                                "node0 ended in MPI_Recv, peer 5");
    assert_string_equal(a.nodes, "node1,node0");
    finish_job(job);
}

static void alerts_are_labelled_with_program_and_the_host_that_they_are_about(void **state)
{
    struct job *job = make_job(&published);
    struct wire_alert a = {.rank = 5, .host = "", .nodes = "node1,node0"};
    struct alert_labels labels;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    job_labels(job, &a, &labels);
    assert_string_equal(labels.job, "app");
    assert_string_equal(labels.user, "ann");
    assert_string_equal(labels.host, "node1");
    assert_string_equal(labels.culprit, "rank 5");
    a = (struct wire_alert){.rank = 0, .culprit = "node", .culprits = "node1"};
    job_labels(job, &a, &labels);
    assert_string_equal(labels.host, "node1");
    assert_string_equal(labels.culprit, "node node1");
    a = (struct wire_alert){.rank = -1, .culprit = "link", .culprits = "n1 to n2, n2 to n3"};
    job_labels(job, &a, &labels);
    assert_string_equal(labels.host, "");
    assert_string_equal(labels.culprit, "link n1 to n2, n2 to n3");
    a = (struct wire_alert){.rank = -1, .host = "n7"};
    job_labels(job, &a, &labels);
    assert_string_equal(labels.host, "n7");
    assert_string_equal(labels.culprit, "node n7");
    finish_job(job);
}

static void labels_are_cut_at_whole_characters(void **state)
{
    struct job *job = make_job(&published);
    char many[200] = "";
    struct wire_alert a = {.rank = -1, .culprit = "link", .culprits = many};
    struct alert_labels labels;
    (void)state;
    for (unsigned i = 0; i < 99; i++)
        strcat(many, "\xc3\xbc");
    job_labels(job, &a, &labels);
    assert_int_equal(strlen(labels.culprit), 95); /* "link " and 45 letters of two bytes */
    finish_job(job);
}

static void figures_are_sums_since_the_start_with_corrections(void **state)
{
    struct job *job = make_job(&published);
    struct job_figures f;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    job_figures(job, &f);
    assert_int_equal(f.has_newest, 0);
    assert_int_equal(f.sums.calls, 0);
    report(job, 0, FIRST, 0, end_of(FIRST));
    advance(job, end_of(FIRST) + 300 * MS);
    job_figures(job, &f);
    assert_int_equal(f.world, 8);
    assert_int_equal(f.watched, 8);
    assert_int_equal(f.nodes, 2);
    assert_int_equal(f.sums.calls, 80);
    assert_int_equal(f.rank_ns, 4 * S);
    assert_int_equal(f.newest.agents, 1);
    report(job, 1, FIRST, 0, end_of(FIRST) + 400 * MS);
    advance(job, end_of(FIRST) + 1650 * MS);
    job_figures(job, &f);
    assert_int_equal(f.sums.calls, 160);
    assert_int_equal(f.rank_ns, 8 * S);
    assert_int_equal(f.windows, 2);
    assert_int_equal(f.newest.window, FIRST);
    assert_int_equal(f.newest.agents, 2);
    finish_job(job);
}

static void figures_count_alerts_that_fire_and_those_that_fired(void **state)
{
    struct job *job = make_job(&published);
    struct wire_death_row crashed = {.rank = 5, .pid = 1001, .call = CALL_Send, .peer = 1};
    struct job_figures f;
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report_deaths(job, FIRST, 0, NULL, &crashed);
    job_figures(job, &f);
    assert_int_equal(f.alerts_fired, 1);
    assert_int_equal(f.firing[RULE_RANK_DIED][SEVERITY_WARNING], 1); /* there are no rules */
    assert_int_equal(f.firing[RULE_LATENCY][SEVERITY_WARNING], 0);
    assert_true(f.latency_ratio >= 1 && f.latency_ratio <= 1);
    finish_job(job);
}

static void
ranks_that_the_launcher_ends_in_finalize_because_of_another_node_are_no_deaths(void **state)
{
    (void)state;
    for (unsigned windows_later = 0; windows_later < 2; windows_later++) {
        struct job *job = make_job(&published);
        struct wire_death_row killed = {
            .rank = 0, .pid = 1000, .call = CALL_Finalize, .in_call = 1, .peer = -1};
        appear(job, 0, 2);
        appear(job, 1, 2);
        report_deaths(job, FIRST, windows_later == 0 ? WINDOW_FINALIZED : 0, &killed, NULL);
        report_deaths(job, FIRST + 1, WINDOW_FINALIZED | WINDOW_FINAL, NULL, NULL);
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
        assert_int_equal(job_state(job), JOB_ENDED);
        finish_job(job);
    }
}

static void a_rank_that_dies_in_finalize_which_nobody_has_left_is_reported(void **state)
{
    (void)state;
    for (unsigned windows_later = 0; windows_later < 2; windows_later++) {
        struct job *job = make_job(&published);
        struct wire_death_row crashed = {
            .rank = 0, .pid = 1000, .call = CALL_Finalize, .in_call = 1, .peer = -1};
        appear(job, 0, 2);
        appear(job, 1, 2);
        report_deaths(job, FIRST, windows_later == 0 ? WINDOW_FINAL : 0, &crashed, NULL);
        for (unsigned i = 1; i <= windows_later; i++)
            report_deaths(job, FIRST + i, 0, NULL, NULL);
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
        assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.title,
                            "rank 0 on node0 died in MPI_Finalize");
        finish_job(job);
    }
}

static void a_silent_agent_is_reported_once_and_resolved_when_it_comes_back(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    report(job, 0, FIRST, 0, end_of(FIRST));
    for (uint64_t t = 0; t <= 40; t++)
        advance(job, end_of(FIRST) + t * 100 * MS);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.kind, "agent-lost");
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.state, "firing");
    report(job, 0, FIRST + 5, 0, end_of(FIRST + 5));
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 2);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 1)->alert.state, "resolved");
    assert_int_equal(message_of(&published, WIRE_TYPE_ALERT, 1)->alert.id, 1);
    finish_job(job);
}

/* The daemon was started again while an agent was silent; the agent comes back at once. */
static void an_alert_of_a_silent_agent_is_resolved_after_a_restart_too(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    job_set_recovering(job, 1);
    struct wire_alert alert = {.id = 1,
                               .kind = "agent-lost",
                               .state = "firing",
                               .title = "t",
                               .rank = -1,
                               .host = "node0"};
    job_restore_alert(job, &alert);
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, 0, end_of(FIRST));
    report(job, 1, FIRST, 0, end_of(FIRST));
    job_set_recovering(job, 0);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
    report(job, 0, FIRST + 3, 0, end_of(FIRST + 3));
    report(job, 1, FIRST + 3, 0, end_of(FIRST + 3));
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.state, "resolved");
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.host, "node0");
    finish_job(job);
}

/* A daemon of a fleet takes the job over, and reads among the messages of before a last one of the
 * agent, which came when no daemon had the job. */
static void an_agent_that_was_heard_before_a_job_is_taken_over_is_silent_no_more(void **state)
{
    const struct wire_alert alert = {.id = 1,
                                     .kind = "agent-lost",
                                     .state = "firing",
                                     .since_ns = end_of(FIRST + 4),
                                     .fired_ns = end_of(FIRST + 4),
                                     .title = "t",
                                     .rank = -1,
                                     .host = "node0"};
    (void)state;
    for (int is_heard = 0; is_heard < 2; is_heard++) {
        struct job *job = make_job(&published);
        job_restore_alert(job, &alert);
        appear(job, 0, 1);
        report(job, 0, FIRST, 0, end_of(FIRST));
        if (is_heard)
            report(job, 0, FIRST + 5, WINDOW_FINAL, end_of(FIRST + 5));
        job_end_resuming(job);
        advance(job, end_of(FIRST + 6));
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), is_heard);
        if (is_heard)
            assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.state,
                                "resolved");
        finish_job(job);
    }
}

/* The daemon was killed when a message was committed and what it led to was not. */
static void windows_that_the_recording_does_not_tell_are_published_after_a_restart(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    job_mark_published(job, FIRST + 1);
    job_set_recovering(job, 1);
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + 4; w++) {
        report(job, 0, w, 0, end_of(w));
        advance(job, end_of(w));
    }
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 0);
    job_set_recovering(job, 0);
    advance(job, end_of(FIRST + 3));
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 2);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, 0)->totals.window, FIRST + 2);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, 1)->totals.window, FIRST + 3);
    report(job, 0, FIRST + 4, 0, end_of(FIRST + 4));
    advance(job, end_of(FIRST + 4));
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 3);
    finish_job(job);
}

static void losses_are_one_alert_until_they_stop(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + 16; w++) {
        struct report r = {
            .node = 0, .window = w, .lost = w < FIRST + 3 ? 10 * (w - FIRST + 1) : 30};
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w) + 1);
    }
    size_t alerts = count_of(&published, WIRE_TYPE_ALERT);
    assert_int_equal(alerts, 4); /* three losses, and their end */
    for (size_t i = 0; i < alerts; i++)
        assert_int_equal(message_of(&published, WIRE_TYPE_ALERT, (int)i)->alert.id, 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, -1)->alert.state, "resolved");
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, -1)->alert.text,
                        "30 records were overwritten before they were read; sums lack them");
    finish_job(job);
}

static void one_window_that_was_lost_is_in_the_singular(void **state)
{
    struct job *job = make_job(&published);
    const struct report r = {.node = 0, .window = FIRST, .lost = 1, .dropped = 1};
    (void)state;
    appear(job, 0, 1);
    assert_int_equal(take(job, &r, end_of(FIRST)), 0);
    advance(job, end_of(FIRST) + 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, -1)->alert.text,
                        "1 record was overwritten before it was read; 1 window did not reach the "
                        "daemon; sums lack them");
    finish_job(job);
}

static void
messages_about_ranks_that_begin_a_recording_are_no_older_than_the_newest_message(void **state)
{
    struct job *job = make_job(&published);
    const struct recorded kept = {
        .type = WIRE_TYPE_RANKS, .instance = 1, .seq = 1, .received_ns = S, .time_ns = S};
    struct recorded head;
    const void *bytes;
    size_t length;
    (void)state;
    appear(job, 0, 1);
    job_keep_rank_message(job, &kept, "ranks", 5);
    report(job, 0, FIRST + 50, 0, end_of(FIRST + 50));
    assert_int_equal(job_rank_message(job, 0, &head, &bytes, &length), 1);
    assert_int_equal(head.seq, 1);
    assert_int_equal(head.received_ns, end_of(FIRST + 50));
    assert_int_equal(head.time_ns, end_of(FIRST + 50));
    assert_int_equal(length, 5);
    assert_int_equal(job_rank_message(job, 1, &head, &bytes, &length), 0);
    finish_job(job);
}

/* The first loss was announced by the daemon before this one, which has closed its window. */
static void a_loss_that_came_when_no_daemon_had_the_job_is_announced_after_a_take_over(void **state)
{
    (void)state;
    for (uint64_t lost = 10; lost <= 20; lost += 10) {
        struct job *job = make_job(&published);
        const struct report before = {.node = 0, .window = FIRST + 1, .lost = 10},
                            after = {.node = 0, .window = FIRST + 2, .lost = lost};
        appear(job, 0, 1);
        report(job, 0, FIRST, 0, end_of(FIRST));
        job_close_again(job, FIRST, 0, end_of(FIRST) + 1);
        assert_int_equal(take(job, &before, end_of(FIRST + 1)), 0);
        job_close_again(job, FIRST + 1, 0, end_of(FIRST + 1) + 1);
        assert_int_equal(take(job, &after, end_of(FIRST + 2)), 0);
        job_end_resuming(job);
        advance(job, end_of(FIRST + 2) + 1);
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), lost > 10);
        finish_job(job);
    }
}

/* An agent of a node that has lost its journal as well: it counts from 0. */
static struct job *make_job_whose_agent_was_started_again(const struct report *before,
                                                          const struct report *after)
{
    struct job *job = make_job(&published);
    appear(job, 0, 1);
    report(job, 0, FIRST, 0, end_of(FIRST));
    assert_int_equal(take(job, before, end_of(FIRST + 1)), 0);
    advance(job, end_of(FIRST + 1) + 1);
    for (uint64_t seq = 1; seq <= 3; seq++)
        assert_int_equal(appear_as(job, 0, after->instance, "node0", seq, 1, end_of(FIRST + 2)), 0);
    assert_int_equal(take(job, after, end_of(FIRST + 2)), 0);
    advance(job, end_of(FIRST + 2) + 1);
    return job;
}

static void the_losses_of_an_agent_that_was_started_again_come_on_top_of_those_before(void **state)
{
    const struct report before = {.node = 0, .window = FIRST + 1, .lost = 30},
                        after = {.node = 0, .instance = 77, .window = FIRST + 2, .lost = 20};
    struct job *job = make_job_whose_agent_was_started_again(&before, &after);
    (void)state;
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 2);
    assert_memory_equal(message_of(&published, WIRE_TYPE_ALERT, 1)->alert.text, "50 records ", 11);
    finish_job(job);
}

/* As when a gateway that stored nothing for a while had it. */
static void a_late_message_of_the_agent_before_changes_no_count_of_the_next_one(void **state)
{
    const struct report before = {.node = 0, .window = FIRST + 1, .lost = 30, .matched = 40},
                        after = {.node = 0,
                                 .instance = 77,
                                 .window = FIRST + 2,
                                 .lost = 20,
                                 .matched = 5},
                        late = {.node = 0, .window = FIRST + 2, .lost = 30, .matched = 41};
    struct job *job = make_job_whose_agent_was_started_again(&before, &after);
    struct job_matches matches;
    (void)state;
    assert_int_equal(take(job, &late, end_of(FIRST + 3)), 0);
    advance(job, end_of(FIRST + 3) + 1);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 2);
    job_matches(job, &matches);
    assert_int_equal(matches.matched, 46);
    finish_job(job);
}

static void messages_matched_by_an_agent_count_after_another_one_was_started_too(void **state)
{
    const struct report before = {.node = 0, .window = FIRST + 1, .matched = 40},
                        after = {.node = 0, .instance = 77, .window = FIRST + 2, .matched = 5};
    struct job *job = make_job_whose_agent_was_started_again(&before, &after);
    struct job_matches matches;
    (void)state;
    job_matches(job, &matches);
    assert_int_equal(matches.matched, 45);
    finish_job(job);
}

/* As a cut of a recording begins: agents report sums since their start. */
static void what_was_lost_before_a_job_is_met_is_not_of_it(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    for (uint64_t w = FIRST + 5; w < FIRST + 9; w++) {
        struct report r = {.node = 0, .window = w, .lost = w < FIRST + 7 ? 30 : 37};
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w) + 1);
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), w < FIRST + 7 ? 0 : 1);
    }
    assert_memory_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.text, "7 records ", 10);
    finish_job(job);
}

static void the_nodes_of_dead_ranks_are_those_of_the_alert_after_a_correction_too(void **state)
{
    struct job *job = make_job(&published);
    const struct job_output output = {&published, wanted, tell, NULL};
    struct wire_death_row crashed = {
        .rank = 0, .pid = 1000, .call = CALL_Finalize, .in_call = 1, .peer = -1};
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report_deaths(job, FIRST, 0, &crashed, NULL);
    report_deaths(job, FIRST + 1, 0, NULL, NULL);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, -1)->alert.nodes, "node0");
    report(job, 1, FIRST, 0, end_of(FIRST + 2)); /* it is late */
    advance(job, end_of(FIRST + 3) + 300 * MS);
    assert_int_equal(message_of(&published, WIRE_TYPE_TOTALS, -1)->totals.late, 1);
    job_snapshot(job, WIRE_TYPE_ALERT, &output);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, -1)->alert.nodes, "node0");
    finish_job(job);
}

/* What no rule raises takes no number: a recording has the numbers of its alerts in one row. */
static void alerts_without_a_rule_take_no_number(void **state)
{
    static const char text[] = "rules:\n- kind: data-lost\n";
    struct rules rules;
    assert_int_equal(rules_parse(&rules, "rules", text, sizeof(text) - 1, NULL, NULL), 0);
    const struct job_options options = {.window_ns = S,
                                        .grace_ns = 250 * MS,
                                        .lost_ns = 30 * S,
                                        .most_pairs = 1000,
                                        .rules = &rules};
    const struct job_output output = {&published, wanted, tell, NULL};
    struct job *job, *again;
    struct wire_alert found;
    (void)state;
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + 8; w += 2) { /* a silent agent, then one that lost data */
        struct report r = {.node = 0, .window = w + (w > FIRST ? 6 : 0), .lost = w - FIRST};
        assert_int_equal(take(job, &r, end_of(r.window)), 0);
        advance(job, end_of(r.window) + (w == FIRST ? 5 * S : 1));
    }
    struct wire_alert alert = message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
    assert_string_equal(alert.kind, "data-lost");
    assert_int_equal(job_create(&again, "test.0", &options, &output), 0);
    job_restore_alert(again, &alert);
    assert_true(job_find_alert(again, alert.id, &found));
    job_destroy(again);
    rules_finish(&rules);
    finish_job(job);
}

static void the_alert_about_losses_is_over_with_the_job(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + 2; w++) {
        struct report r = {.node = 0, .window = w, .lost = 4};
        r.flags = w > FIRST ? WINDOW_FINAL : 0;
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w) + 1);
    }
    assert_int_equal(job_state(job), JOB_ENDED);
    struct wire_alert alert = message_of(&published, WIRE_TYPE_ALERT, -1)->alert;
    assert_string_equal(alert.kind, "data-lost");
    assert_string_equal(alert.state, "resolved");
    assert_int_not_equal(alert.fired_ns, 0);
    finish_job(job);
}

/* The daemon was started again after data was lost. Times of messages are not those of alerts.
 * @param state  of the alert when the daemon before ended, which it had first in window FIRST */
static void restart_after_losses(struct job *job, const char *state, uint64_t windows)
{
    struct wire_alert alert = {.id = 1,
                               .kind = "data-lost",
                               .state = state,
                               .since_ns = end_of(FIRST) + 7,
                               .fired_ns = end_of(FIRST) + 7,
                               .title = "data was lost",
                               .rank = -1};
    job_set_recovering(job, 1);
    job_restore_alert(job, &alert);
    appear(job, 0, 1);
    for (uint64_t w = FIRST; w < FIRST + windows; w++) {
        struct report r = {.node = 0, .window = w, .lost = 30};
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w));
    }
    job_set_recovering(job, 0);
}

static void losses_whose_alert_is_over_raise_no_other_one_after_a_restart(void **state)
{
    struct job *job = make_job(&published);
    const struct job_output output = {&published, wanted, tell, NULL};
    (void)state;
    restart_after_losses(job, "resolved", 16);
    report(job, 0, FIRST + 16, 0, end_of(FIRST + 16));
    advance(job, end_of(FIRST + 16) + 1);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
    job_snapshot(job, WIRE_TYPE_ALERT, &output);
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.state, "resolved");
    finish_job(job);
}

static void losses_whose_alert_fires_are_over_after_a_restart_when_they_have_stopped(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    restart_after_losses(job, "firing", 16);
    for (uint64_t w = FIRST + 16; w < FIRST + 26; w++) {
        assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 0);
        struct report r = {.node = 0, .window = w, .lost = 30};
        assert_int_equal(take(job, &r, end_of(w)), 0);
        advance(job, end_of(w) + 1);
    }
    assert_int_equal(count_of(&published, WIRE_TYPE_ALERT), 1);
    assert_int_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.id, 1);
    assert_string_equal(message_of(&published, WIRE_TYPE_ALERT, 0)->alert.state, "resolved");
    finish_job(job);
}

/* ---- the end ------------------------------------------------------------- */

static void a_job_ends_with_its_last_final_window(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 2);
    appear(job, 1, 2);
    report(job, 0, FIRST, WINDOW_FINAL, end_of(FIRST));
    advance(job, end_of(FIRST) + 300 * MS);
    assert_int_equal(job_state(job), JOB_RUNNING);
    report(job, 1, FIRST, 0, end_of(FIRST) + 350 * MS);
    report(job, 1, FIRST + 1, WINDOW_FINAL, end_of(FIRST + 1));
    advance(job, end_of(FIRST + 1) + 1);
    assert_int_equal(job_state(job), JOB_ENDED);
    assert_string_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.state, "ended");
    assert_int_equal(message_of(&published, WIRE_TYPE_JOB, -1)->job.end_ns, end_of(FIRST + 1));
    finish_job(job);
}

static void a_job_that_is_silent_for_long_is_lost_and_found(void **state)
{
    struct job *job = make_job(&published);
    (void)state;
    appear(job, 0, 1);
    report(job, 0, FIRST, 0, end_of(FIRST));
    for (uint64_t t = 0; t < 33; t++)
        advance(job, end_of(FIRST) + t * S);
    assert_int_equal(job_state(job), JOB_LOST);
    report(job, 0, FIRST + 40, 0, end_of(FIRST + 40));
    advance(job, end_of(FIRST + 40) + 1);
    assert_int_equal(job_state(job), JOB_RUNNING);
    finish_job(job);
}

/* ---- messages that contradict themselves --------------------------------- */

static void contradictions_are_refused_and_change_nothing(void **state)
{
    struct job *job = make_job(&published);
    struct job_fault fault;
    struct wire_rank_row rank = {.rank = 8};
    struct wire_pair_row pair = {.source = 0, .destination = 1, .comm = 1};
    struct wire_call_row call = {.rank = 0, .region = 9};
    struct wire_window good = {.seq = 2,
                               .job = "test.0",
                               .host = "node0",
                               .window = FIRST,
                               .length_ns = S},
                       w;
    (void)state;
    appear(job, 0, 2);
    w = good, w.ranks = &rank, w.ranks_count = 1; /* the world has 8 ranks */
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    assert_non_null(strstr(fault.text, "rank"));
    w = good, w.pairs = &pair, w.pairs_count = 1;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    pair.comm = 0, pair.destination = -2;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    w = good, w.calls = &call, w.calls_count = 1;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    w = good, w.length_ns = 0;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    w = good, w.window = UINT64_MAX;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    w = good, w.window = UINT64_MAX / 2;
    assert_int_equal(job_accept_window(job, 1, &w, FIRST * S, &fault), -HOLTER_ERANGE);
    assert_false(job_has_accepted(job, 1, 2));
    assert_int_equal(appear_as(job, 0, 9, "x", 1, 3, FIRST * S),
                     -EAGAIN); /* another world: that of a later launch, perhaps */
    assert_int_equal(appear_as(job, 2, 9, "x", 1, 2, FIRST * S),
                     -HOLTER_ERANGE); /* ranks 8 to 11 of 8 */
    job_flush(job, end_of(FIRST));
    assert_int_equal(count_of(&published, WIRE_TYPE_TOTALS), 0);
    finish_job(job);
}

static void job_ids_are_safe_as_file_names(void **state)
{
    (void)state;
    assert_true(job_id_valid("melt-host_1.0"));
    assert_false(job_id_valid(""));
    assert_false(job_id_valid("../../etc"));
    assert_false(job_id_valid(".hidden"));
    assert_false(job_id_valid("a b"));
    assert_false(job_id_valid("12345678901234567890123456789012345678901234567890123456789012345"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_published_when_all_nodes_have_reported),
        cmocka_unit_test(totals_by_groups_are_those_by_ranks),
        cmocka_unit_test(a_slow_node_is_named_where_groups_have_several_nodes),
        cmocka_unit_test(that_an_iteration_takes_two_windows_is_published_once_it_is_known),
        cmocka_unit_test(a_hang_of_a_job_by_groups_fires_and_ends),
        cmocka_unit_test(a_hang_goes_on_where_the_recording_ends_before_the_job),
        cmocka_unit_test(a_silent_node_is_waited_for_no_longer_than_the_grace),
        cmocka_unit_test(backlog_is_not_taken_for_silence),
        cmocka_unit_test(a_late_report_is_published_as_a_correction),
        cmocka_unit_test(a_node_that_reports_more_later_is_one_node),
        cmocka_unit_test(a_state_reports_what_ranks_did_before),
        cmocka_unit_test(a_clock_that_is_ahead_makes_no_other_node_late),
        cmocka_unit_test(windows_of_another_length_count_too),
        cmocka_unit_test(the_same_messages_in_any_order_publish_the_same_bytes),
        cmocka_unit_test(windows_add_up_to_the_snapshot),
        cmocka_unit_test(calls_of_ranks_add_up_to_the_snapshot),
        cmocka_unit_test(every_received_message_is_matched_or_unmatched_in_each_total),
        cmocka_unit_test(messages_from_ranks_that_are_not_watched_are_not_unmatched),
        cmocka_unit_test(
            ranks_that_are_not_watched_are_one_alert_after_the_time_that_ranks_may_start_late),
        cmocka_unit_test(ranks_that_start_late_are_no_alert),
        cmocka_unit_test(ranks_that_were_not_watched_are_an_alert_when_a_short_job_ends),
        cmocka_unit_test(messages_that_cross_nodes_are_published_by_rank),
        cmocka_unit_test(ranks_are_absent_from_the_windows_after_their_end),
        cmocka_unit_test(time_in_which_ranks_were_not_there_is_published_and_not_counted_as_theirs),
        cmocka_unit_test(waits_in_sends_are_published_with_the_rank_that_was_waited_for),
        cmocka_unit_test(
            late_ranks_are_published_window_by_window_and_again_to_those_who_come_late),
        cmocka_unit_test(a_message_is_known_by_agent_and_number),
        cmocka_unit_test(an_agent_that_was_started_again_keeps_its_node),
        cmocka_unit_test(two_nodes_of_one_name_stay_two),
        cmocka_unit_test(dead_ranks_are_one_alert_that_names_the_cause_first),
        cmocka_unit_test(the_rank_that_ended_first_is_the_cause_on_whatever_node_it_was),
        cmocka_unit_test(alerts_are_labelled_with_program_and_the_host_that_they_are_about),
        cmocka_unit_test(labels_are_cut_at_whole_characters),
        cmocka_unit_test(figures_are_sums_since_the_start_with_corrections),
        cmocka_unit_test(figures_count_alerts_that_fire_and_those_that_fired),
        cmocka_unit_test(
            ranks_that_the_launcher_ends_in_finalize_because_of_another_node_are_no_deaths),
        cmocka_unit_test(a_rank_that_dies_in_finalize_which_nobody_has_left_is_reported),
        cmocka_unit_test(a_silent_agent_is_reported_once_and_resolved_when_it_comes_back),
        cmocka_unit_test(an_alert_of_a_silent_agent_is_resolved_after_a_restart_too),
        cmocka_unit_test(an_agent_that_was_heard_before_a_job_is_taken_over_is_silent_no_more),
        cmocka_unit_test(the_losses_of_an_agent_that_was_started_again_come_on_top_of_those_before),
        cmocka_unit_test(a_late_message_of_the_agent_before_changes_no_count_of_the_next_one),
        cmocka_unit_test(messages_matched_by_an_agent_count_after_another_one_was_started_too),
        cmocka_unit_test(
            messages_about_ranks_that_begin_a_recording_are_no_older_than_the_newest_message),
        cmocka_unit_test(
            a_loss_that_came_when_no_daemon_had_the_job_is_announced_after_a_take_over),
        cmocka_unit_test(windows_that_the_recording_does_not_tell_are_published_after_a_restart),
        cmocka_unit_test(the_nodes_of_dead_ranks_are_those_of_the_alert_after_a_correction_too),
        cmocka_unit_test(the_alert_about_losses_is_over_with_the_job),
        cmocka_unit_test(alerts_without_a_rule_take_no_number),
        cmocka_unit_test(losses_are_one_alert_until_they_stop),
        cmocka_unit_test(one_window_that_was_lost_is_in_the_singular),
        cmocka_unit_test(losses_whose_alert_is_over_raise_no_other_one_after_a_restart),
        cmocka_unit_test(losses_whose_alert_fires_are_over_after_a_restart_when_they_have_stopped),
        cmocka_unit_test(what_was_lost_before_a_job_is_met_is_not_of_it),
        cmocka_unit_test(a_job_ends_with_its_last_final_window),
        cmocka_unit_test(a_job_that_is_silent_for_long_is_lost_and_found),
        cmocka_unit_test(contradictions_are_refused_and_change_nothing),
        cmocka_unit_test(job_ids_are_safe_as_file_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
