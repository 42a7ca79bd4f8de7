/* Latency of a job as a whole: from the messages of its agents to what is published and alerted. */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "daemon/job/job_state.h"
#include "daemon/job/latency/job_latency.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/time_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define FIRST 1000u
#define NODES 4u
#define ALL_NODES 4
#define RANKS 8u
#define MESSAGES 40u /* a window, from each rank to each of its two neighbours */
#define BYTES 4096u

/* ---- what the job publishes ---------------------------------------------- */

struct told {
    struct wire_message latencies, regions;
    struct wire_arena latencies_arena, regions_arena;
    size_t latencies_count, regions_count, alert_count, criteria_count;
    struct wire_buffer alerts[256];
    uint64_t stream; /* hash of all that was published of latency, regions and alerts */
    uint64_t most_halves;
    size_t agents;        /* that got the last criteria */
    uint64_t first_agent; /* instance of the first of them */
};

static struct told told;

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    (void)user;
    (void)job;
    if (type != WIRE_TYPE_LATENCIES && type != WIRE_TYPE_REGIONS && type != WIRE_TYPE_ALERT)
        return;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    for (size_t i = 0; i < buffer.length; i++)
        told.stream = (told.stream ^ buffer.bytes[i]) * UINT64_C(0x100000001b3);
    if (type == WIRE_TYPE_ALERT) {
        assert_true(told.alert_count < 256);
        told.alerts[told.alert_count++] = buffer;
        return;
    }
    int is_regions = type == WIRE_TYPE_REGIONS;
    assert_int_equal(wire_decode(is_regions ? &told.regions : &told.latencies,
                                 is_regions ? &told.regions_arena : &told.latencies_arena,
                                 buffer.bytes, buffer.length, NULL),
                     0);
    *(is_regions ? &told.regions_count : &told.latencies_count) += 1;
    wire_buffer_finish(&buffer);
}

static void notify_agents(void *user, const uint64_t *instances, size_t count,
                          const struct wire_criteria *message)
{
    (void)user;
    told.criteria_count++;
    told.agents = count;
    told.first_agent = instances[0];
    told.most_halves = message->most_halves;
}

static struct wire_alert alert_at(size_t n)
{
    static struct wire_message message;
    static struct wire_arena arena;
    assert_true(n < told.alert_count);
    assert_int_equal(
        wire_decode(&message, &arena, told.alerts[n].bytes, told.alerts[n].length, NULL), 0);
    return message.alert;
}

/* Number of messages on alerts of this kind in this state. */
static size_t alerts_in(const char *kind, const char *state)
{
    size_t count = 0;
    for (size_t i = 0; i < told.alert_count; i++)
        count += strcmp(alert_at(i).kind, kind) == 0 && strcmp(alert_at(i).state, state) == 0;
    return count;
}

static void forget_told(void)
{
    for (size_t i = 0; i < told.alert_count; i++)
        wire_buffer_finish(&told.alerts[i]);
    wire_arena_finish(&told.latencies_arena);
    wire_arena_finish(&told.regions_arena);
    memset(&told, 0, sizeof(told));
}

/* ---- a job: a ring of ranks, two on each node ---------------------------- */

static struct rules rules;
static uint64_t seq[NODES], instance[NODES]; /* of the agents */

static struct job *make_job(void)
{
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .rules = &rules};
    struct job_output output = {NULL, wanted, publish, notify_agents};
    struct job *job;
    memset(seq, 0, sizeof(seq));
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    for (unsigned node = 0; node < NODES; node++) {
        char host[16];
        struct job_fault fault;
        struct wire_member_row members[2] = {{.rank = 2 * node, .pid = 10},
                                             {.rank = 2 * node + 1, .pid = 11}};
        snprintf(host, sizeof(host), "node%u", node);
        struct wire_ranks ranks = {.seq = ++seq[node],
                                   .job = "test.0",
                                   .world = RANKS,
                                   .app = "/bin/app",
                                   .mpi = "MPI",
                                   .host = host,
                                   .members = members,
                                   .members_count = 2};
        instance[node] = node + 1;
        assert_int_equal(job_accept_ranks(job, instance[node], &ranks, FIRST * S, &fault), 0);
    }
    return job;
}

static void finish_job(struct job *job)
{
    job_destroy(job);
    forget_told();
}

/* How the network is in one window. */
struct weather {
    uint64_t intra_ns, inter_ns;
    int slow_node; /* messages from and to it take slow_ns longer; -1: none, ALL_NODES: all */
    uint64_t slow_ns;
    int stopped_rank;     /* -1: none; the others wait for it in MPI_Allreduce */
    uint64_t stopped_for; /* windows */
    uint64_t stalls;      /* of 40 messages from and to the slow node: so many take stall_ns */
    uint64_t stall_ns;
    uint64_t calls; /* of a rank, in place of 4 * MESSAGES */
    uint64_t bytes; /* of a message that ranks report, in place of BYTES */
};

static const struct weather fair = {5 * US, 50 * US, -1, 0, -1, 0, 0, 0, 0, BYTES};

struct message {
    struct wire_rank_row ranks[2];
    struct wire_pair_row pairs[8];
    struct wire_call_row calls[4];
    struct wire_transfer_row transfers[2];
    struct wire_latency_row latencies[2 * MESSAGES];
    struct wire_half_row halves[4 * MESSAGES];
    struct wire_window window;
};

/* Deterministic noise of some per cent, with a tail. */
static uint64_t noisy(uint64_t ns, unsigned window, unsigned source, unsigned n)
{
    uint64_t x = ((uint64_t)window * 1000003 + source) * 1000003 + n;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 */
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    uint64_t out = ns + ns * (x % 1000) / 5000;
    return x >> 54 == 0 ? 20 * out : out;
}

static uint64_t transfer_ns(const struct weather *w, unsigned window, unsigned from, unsigned to,
                            unsigned n)
{
    int slow = w->slow_node == ALL_NODES || (int)(from / 2) == w->slow_node ||
               (int)(to / 2) == w->slow_node;
    uint64_t base = from / 2 == to / 2 ? w->intra_ns : w->inter_ns + (slow ? w->slow_ns : 0);
    if (slow && from / 2 != to / 2 && (n + 7 * window + from) % MESSAGES < w->stalls)
        return w->stall_ns;
    return noisy(base, window, from * 10 + to, n);
}

static void add_half(struct message *m, const struct weather *w, unsigned window, unsigned from,
                     unsigned to, int receive)
{
    for (unsigned n = 0; n < MESSAGES; n++) {
        int64_t at = (int64_t)(n * (S / MESSAGES) + from * 100);
        uint64_t transfer = transfer_ns(w, window, from, to, n);
        m->halves[m->window.halves_count++] = (struct wire_half_row){
            .key =
                ((uint64_t)window << 32 | from << 20 | to << 10 | n) * UINT64_C(0x9e3779b97f4a7c15),
            .receive = (uint64_t)receive,
            .source = from,
            .destination = to,
            .bytes = BYTES,
            .begin_ns = receive ? at - 100 : at,
            .length_ns = receive ? transfer + 100 : 500,
            .together = 1,
            .local_ns = at - 100,
        };
    }
}

static void add_intra(struct message *m, const struct weather *w, unsigned window, unsigned from,
                      unsigned to)
{
    struct wire_transfer_row *t = &m->transfers[m->window.transfers_count++];
    *t = (struct wire_transfer_row){
        .source = from, .destination = to, .size_class = size_class_of(BYTES)};
    for (unsigned n = 0; n < MESSAGES; n++) {
        uint64_t ns = transfer_ns(w, window, from, to, n);
        t->messages++;
        t->transfer_ns += ns;
        t->network_ns += ns;
        t->log2_sum += time_log2(ns);
        m->latencies[m->window.latencies_count++] =
            (struct wire_latency_row){0, t->size_class, time_class_of(ns), 1};
    }
}

static void add_rank(struct message *m, const struct weather *w, unsigned rank)
{
    struct wire_rank_row *row = &m->ranks[m->window.ranks_count++];
    int hangs = w->stopped_rank >= 0;
    *row = (struct wire_rank_row){.rank = rank, .in_call_peer = -1};
    if (!hangs) {
        row->calls = row->events = w->calls > 0 ? w->calls : 4 * MESSAGES;
        row->sent = 2 * MESSAGES;
        row->sent_bytes = row->sent * w->bytes;
        m->calls[m->window.calls_count++] = (struct wire_call_row){
            .rank = rank, .call = CALL_Allreduce, .comm = 1, .calls = 10, .time_ns = MS};
    } else if ((int)rank == w->stopped_rank) {
        row->process_state = 'T';
    } else {
        row->in_call = CALL_Allreduce;
        row->in_call_ns = w->stopped_for * S;
        row->in_call_comm = 1;
    }
    for (unsigned side = 0; side < 2 && !hangs; side++) {
        unsigned to = (rank + (side == 0 ? 1 : RANKS - 1)) % RANKS;
        m->pairs[m->window.pairs_count++] =
            (struct wire_pair_row){.source = rank,
                                   .destination = (int64_t)to,
                                   .comm = 1,
                                   .size_class = size_class_of(BYTES),
                                   .messages = MESSAGES,
                                   .bytes = (uint64_t)MESSAGES * BYTES};
        for (unsigned n = 0; n < MESSAGES; n++)
            row->wait_ns += transfer_ns(w, (unsigned)m->window.window, to, rank, n);
        if (to / 2 == rank / 2) {
            add_intra(m, w, (unsigned)m->window.window, rank, to);
        } else {
            add_half(m, w, (unsigned)m->window.window, rank, to, 0);
            add_half(m, w, (unsigned)m->window.window, to, rank, 1);
        }
    }
}

static struct wire_comm_row comms[2] = {{.name = ""},
                                        {.id = 1, .size = RANKS, .name = "MPI_COMM_WORLD"}};

static void make_message(struct message *m, const struct weather *w, unsigned node, unsigned window)
{
    memset(m, 0, sizeof(*m));
    m->window = (struct wire_window){.seq = ++seq[node],
                                     .job = "test.0",
                                     .host = "",
                                     .window = window,
                                     .length_ns = S,
                                     .comms = comms,
                                     .comms_count = 2,
                                     .ranks = m->ranks,
                                     .pairs = m->pairs,
                                     .calls = m->calls,
                                     .transfers = m->transfers,
                                     .latencies = m->latencies,
                                     .halves = m->halves,
                                     .clock_error_ns = 2000};
    add_rank(m, w, 2 * node);
    add_rank(m, w, 2 * node + 1);
}

static void report(struct job *job, const struct weather *w, unsigned node, unsigned window)
{
    static struct message m;
    struct job_fault fault;
    make_message(&m, w, node, window);
    assert_int_equal(job_accept_window(job, instance[node], &m.window, (window + 1) * S, &fault),
                     0);
}

/* Windows [from, to), nodes in this order. */
static void run_in(struct job *job, const struct weather *w, unsigned from, unsigned to,
                   const unsigned *order)
{
    for (unsigned window = from; window < to; window++) {
        for (unsigned i = 0; i < NODES; i++)
            report(job, w, order[i], window);
        job_advance(job, (window + 1) * S + MS, (window + 1) * S + MS);
    }
}

static void run(struct job *job, const struct weather *w, unsigned from, unsigned to)
{
    run_in(job, w, from, to, (const unsigned[]){0, 1, 2, 3});
}

static const struct wire_series_row *series_of(enum series_scope scope, uint64_t id)
{
    const struct wire_latencies *m = &told.latencies.latencies;
    for (uint64_t i = 0; i < m->series_count; i++) {
        if (m->series[i].scope == scope && m->series[i].id == id)
            return &m->series[i];
    }
    fail_msg("no such series");
    return NULL;
}

/* ---- tests --------------------------------------------------------------- */

static void latency_of_job_localities_and_regions_is_published_each_window(void **state)
{
    (void)state;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 10);
    assert_int_equal(told.latencies_count, 10);
    const struct wire_latencies *m = &told.latencies.latencies;
    assert_int_equal(m->window, FIRST + 9);
    assert_int_equal(m->matched, 16 * MESSAGES);
    assert_int_equal(m->unmatched + m->rejected, 0);
    assert_int_equal(series_of(SERIES_JOB, 0)->messages, 16 * MESSAGES);
    assert_int_equal(series_of(SERIES_INTRA, 0)->messages, 8 * MESSAGES);
    assert_int_equal(series_of(SERIES_INTER, 0)->messages, 8 * MESSAGES);
    assert_true(series_of(SERIES_INTER, 0)->typical > 0.9 &&
                series_of(SERIES_INTER, 0)->typical < 1.2);
    assert_int_equal(m->ranks_count, RANKS);
    assert_int_equal(m->criteria_count, 2);
    for (int l = 0; l < 2; l++) {
        assert_int_equal(m->criteria[l].window_messages, 8 * MESSAGES);
        assert_true(m->criteria[l].window_ns > m->criteria[l].low_ns * 9 / 10);
        assert_true(m->criteria[l].window_ns < m->criteria[l].high_ns * 11 / 10);
    }
    struct wire_latencies first; /* what a late subscriber gets of the first window */
    assert_int_equal(job_latency_window_message(job->latency, 0, &first), 0);
    assert_int_equal(first.criteria_count, 2);
    assert_int_equal(first.criteria[0].window_messages, 8 * MESSAGES);
    assert_true(told.regions_count >= 1);
    assert_int_equal(told.regions.regions.members_count, RANKS);
    for (uint64_t i = 0; i < told.regions.regions.regions_count; i++)
        assert_true(series_of(SERIES_REGION, told.regions.regions.regions[i].id)->messages > 0);
    assert_int_equal(told.alert_count, 0);
    finish_job(job);
}

static void no_message_is_delayed_before_there_are_criteria(void **state)
{
    (void)state;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 1);
    assert_int_equal(series_of(SERIES_INTER, 0)->messages, 8 * MESSAGES);
    assert_int_equal(series_of(SERIES_INTER, 0)->delayed, 0);
    assert_int_equal(series_of(SERIES_JOB, 0)->delayed, 0);
    finish_job(job);
}

static void a_slow_link_is_one_alert_that_names_network_and_node_and_is_resolved(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather slow = fair;
    slow.slow_node = 2;
    slow.slow_ns = 2 * MS;
    run(job, &fair, FIRST, FIRST + 40);
    assert_int_equal(told.alert_count, 0);
    run(job, &slow, FIRST + 40, FIRST + 45);
    assert_int_equal(alerts_in("latency", "firing"), 1);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    assert_string_equal(alert.rule, "latency-growth");
    assert_string_equal(alert.locality, "inter-node");
    assert_true(alert.ratio > 1.5);
    assert_true(alert.onset_ns >= (FIRST + 38) * S && alert.onset_ns <= (FIRST + 42) * S);
    assert_true(alert.causes_count > 0);
    assert_string_equal(alert.causes[0].name, "network");
    assert_string_equal(alert.nodes, "node2");
    assert_true(alert.advice[0] != '\0' && alert.sizes[0] != '\0');
    run(job, &slow, FIRST + 45, FIRST + 100);
    run(job, &fair, FIRST + 100, FIRST + 130);
    assert_int_equal(alerts_in("latency", "resolved"), 1);
    for (size_t i = 0; i < told.alert_count; i++)
        assert_int_equal(alert_at(i).id, 1);
    finish_job(job);
}

/* The typical message takes as long as before. */
static void few_messages_of_a_node_that_stall_and_slow_the_job_are_one_alert(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather lossy = fair;
    lossy.slow_node = 2;
    lossy.stalls = 1;
    lossy.stall_ns = 200 * MS;
    lossy.calls = MESSAGES / 4;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &lossy, FIRST + 40, FIRST + 45);
    assert_int_equal(alerts_in("latency", "firing"), 1);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    assert_string_equal(alert.culprit, "node");
    assert_string_equal(alert.culprits, "node2");
    assert_string_equal(alert.causes[0].name, "network");
    assert_non_null(strstr(alert.causes[0].text, "in the mean"));
    assert_int_equal(alert.onset_ns, (FIRST + 40) * S);
    run(job, &lossy, FIRST + 45, FIRST + 60);
    run(job, &fair, FIRST + 60, FIRST + 75);
    for (size_t i = 0; i < told.alert_count; i++)
        assert_true(alert_at(i).id == alert.id || strcmp(alert_at(i).state, "firing") != 0);
    assert_string_equal(alert_at(told.alert_count - 1).state, "resolved");
    finish_job(job);
}

static void messages_of_all_nodes_that_stall_and_slow_the_job_are_background(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather lossy = fair;
    lossy.slow_node = ALL_NODES;
    lossy.stalls = 1;
    lossy.stall_ns = 200 * MS;
    lossy.calls = MESSAGES / 4;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &lossy, FIRST + 40, FIRST + 45);
    assert_int_equal(alerts_in("latency", "firing"), 1);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    assert_string_equal(alert.culprit, "inter-node");
    assert_string_equal(alert.causes[0].name, "background");
    assert_int_equal(alert.onset_ns, (FIRST + 40) * S);
    finish_job(job);
}

static void few_messages_that_stall_and_cost_the_job_nothing_raise_no_alert(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather lossy = fair;
    lossy.slow_node = 2;
    lossy.stalls = 1;
    lossy.stall_ns = 20 * MS;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &lossy, FIRST + 40, FIRST + 60);
    assert_int_equal(alerts_in("latency", "firing"), 0);
    finish_job(job);
}

static void other_messages_than_before_are_not_taken_for_stalls(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather other = fair;
    other.slow_node = 2;
    other.stalls = 1;
    other.stall_ns = 200 * MS;
    other.calls = MESSAGES / 4;
    other.bytes = 2 * BYTES;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &other, FIRST + 40, FIRST + 60);
    for (size_t i = 0; i < told.alert_count; i++)
        assert_null(strstr(alert_at(i).causes[0].text, "in the mean"));
    finish_job(job);
}

/* A job that does less work for another reason. */
static void a_job_that_only_does_less_work_raises_no_alert(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather idle = fair;
    idle.calls = MESSAGES / 4;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &idle, FIRST + 40, FIRST + 60);
    assert_int_equal(alerts_in("latency", "firing"), 0);
    finish_job(job);
}

static void one_bad_window_raises_nothing(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather slow = fair;
    slow.slow_node = 2;
    slow.slow_ns = 50 * MS;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &slow, FIRST + 40, FIRST + 41);
    run(job, &fair, FIRST + 41, FIRST + 60);
    assert_int_equal(alerts_in("latency", "firing"), 0);
    finish_job(job);
}

static void what_is_reported_does_not_depend_on_the_order_of_nodes(void **state)
{
    (void)state;
    struct weather slow = fair;
    slow.slow_node = 1;
    slow.slow_ns = MS;
    uint64_t streams[2];
    for (unsigned i = 0; i < 2; i++) {
        const unsigned *order =
            i == 0 ? (const unsigned[]){0, 1, 2, 3} : (const unsigned[]){3, 1, 0, 2};
        struct job *job = make_job();
        run_in(job, &fair, FIRST, FIRST + 40, order);
        run_in(job, &slow, FIRST + 40, FIRST + 50, order);
        assert_true(alerts_in("latency", "firing") >= 1);
        streams[i] = told.stream;
        finish_job(job);
    }
    assert_true(streams[0] == streams[1]);
}

static void a_stopped_rank_is_named_as_the_one_behind(void **state)
{
    (void)state;
    struct job *job = make_job();
    struct weather hang = fair;
    hang.stopped_rank = 5;
    run(job, &fair, FIRST, FIRST + 20);
    for (unsigned i = 1; i < 8; i++) {
        hang.stopped_for = i;
        run(job, &hang, FIRST + 19 + i, FIRST + 20 + i);
    }
    assert_int_equal(alerts_in("hang", "firing"), 1);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    assert_string_equal(alert.ranks, "5");
    assert_int_equal(alert.rank, 5);
    assert_int_equal(alert.comm, 1);
    assert_non_null(strstr(alert.title, "Allreduce"));
    run(job, &fair, FIRST + 27, FIRST + 30);
    assert_int_equal(alerts_in("hang", "resolved"), 1);
    finish_job(job);
}

static void agents_of_large_jobs_are_asked_to_send_fewer_rows_of_bursts(void **state)
{
    (void)state;
    struct job_latency *latency;
    struct wire_criteria criteria;
    assert_int_equal(job_latency_create(&latency, S), 0);
    for (uint32_t node = 0, told_at = 10; node < 20000; node++) {
        assert_int_equal(job_latency_place(latency, node, node), 0);
        if (node + 1 != told_at)
            continue;
        assert_true(job_latency_criteria(latency, &criteria));
        assert_int_equal(criteria.burst_rows, node < 100    ? 0
                                              : node < 8000 ? (1u << 19) / told_at
                                                            : 64);
        told_at = told_at == 10 ? 1000 : 20000;
    }
    assert_false(job_latency_criteria(latency, &criteria));
    job_latency_destroy(latency);
}

static void agents_get_criteria_when_they_change_and_not_otherwise(void **state)
{
    (void)state;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 3);
    size_t first = told.criteria_count;
    assert_true(first >= 1);
    assert_true(told.most_halves > 0);
    assert_int_equal(told.agents, NODES);
    assert_int_equal(told.first_agent, 1);
    run(job, &fair, FIRST + 3, FIRST + 40);
    assert_true(told.criteria_count <= first + 2);
    finish_job(job);
}

static void an_agent_that_was_started_again_gets_the_criteria_that_the_others_have(void **state)
{
    (void)state;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 40);
    const size_t before = told.criteria_count;
    instance[2] = 77;
    seq[2] = 0;
    run(job, &fair, FIRST + 40, FIRST + 50);
    assert_int_equal(told.criteria_count, before + 1);
    assert_int_equal(told.agents, 1);
    assert_int_equal(told.first_agent, 77);
    finish_job(job);
}

static void an_agent_that_was_silent_gets_the_criteria_that_it_missed(void **state)
{
    (void)state;
    struct weather slow = fair;
    slow.intra_ns *= 3;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 10);
    for (unsigned window = FIRST + 10; window < FIRST + 100; window++) {
        for (unsigned node = 0; node + 1 < NODES; node++)
            report(job, &slow, node, window);
        job_advance(job, (window + 1) * S + MS, (window + 1) * S + MS);
    }
    assert_int_equal(told.agents, NODES - 1);
    run(job, &slow, FIRST + 100, FIRST + 101);
    assert_int_equal(told.agents, 1);
    assert_int_equal(told.first_agent, NODES);
    finish_job(job);
}

static void a_message_with_impossible_latencies_is_refused_whole(void **state)
{
    (void)state;
    static struct message m;
    struct job_fault fault;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 2);
    make_message(&m, &fair, 0, FIRST + 2);
    m.transfers[0].destination = RANKS;
    assert_int_equal(job_accept_window(job, 1, &m.window, (FIRST + 3) * S, &fault), -HOLTER_ERANGE);
    assert_non_null(strstr(fault.text, "transfers[0]"));
    seq[0]--;
    run(job, &fair, FIRST + 2, FIRST + 3);
    assert_int_equal(told.latencies.latencies.matched, 16 * MESSAGES);
    finish_job(job);
}

static void messages_of_a_late_node_count_in_a_later_window(void **state)
{
    (void)state;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 2);
    for (unsigned node = 0; node < 3; node++)
        report(job, &fair, node, FIRST + 2);
    job_advance(job, (FIRST + 4) * S, (FIRST + 4) * S);
    assert_int_equal(told.latencies.latencies.window, FIRST + 2);
    uint64_t matched = told.latencies.latencies.matched;
    assert_true(matched < 16 * MESSAGES);
    report(job, &fair, 3, FIRST + 2);
    job_advance(job, (FIRST + 4) * S, (FIRST + 4) * S);
    for (unsigned window = FIRST + 3; window < FIRST + 6; window++) {
        run(job, &fair, window, window + 1);
        job_advance(job, (window + 3) * S, (window + 3) * S);
        matched += told.latencies.latencies.matched;
    }
    assert_int_equal(matched, 4 * 16 * MESSAGES);
    finish_job(job);
}

static void alerts_fed_again_from_a_recording_are_not_raised_twice(void **state)
{
    (void)state;
    struct weather slow = fair;
    slow.slow_node = 3;
    slow.slow_ns = 2 * MS;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &slow, FIRST + 40, FIRST + 50);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    job_destroy(job);
    job = make_job();
    job_set_recovering(job, 1);
    job_restore_alert(job, &alert);
    size_t before = told.alert_count;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &slow, FIRST + 40, FIRST + 50);
    job_set_recovering(job, 0);
    assert_int_equal(told.alert_count, before);
    run(job, &fair, FIRST + 50, FIRST + 90);
    assert_true(told.alert_count > before);
    for (size_t i = before; i < told.alert_count; i++)
        assert_int_equal(alert_at(i).id, 1);
    assert_string_equal(alert_at(told.alert_count - 1).state, "resolved");
    finish_job(job);
}

/* The daemon was started again with other rules while the alert fired. */
static void an_alert_that_is_none_by_the_rules_after_a_restart_is_over(void **state)
{
    static const char lenient[] = "rules:\n- kind: latency\n  above: 900x\n  growth: 10000%/min\n";
    (void)state;
    struct weather slow = fair;
    slow.slow_node = 3;
    slow.slow_ns = 2 * MS;
    struct job *job = make_job();
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &slow, FIRST + 40, FIRST + 50);
    struct wire_alert alert = alert_at(told.alert_count - 1);
    assert_string_equal(alert.state, "firing");
    job_destroy(job);
    const struct rules before = rules;
    assert_int_equal(rules_parse(&rules, "rules", lenient, sizeof(lenient) - 1, NULL, NULL), 0);
    job = make_job();
    job_set_recovering(job, 1);
    job_restore_alert(job, &alert);
    const size_t count = told.alert_count;
    run(job, &fair, FIRST, FIRST + 40);
    run(job, &slow, FIRST + 40, FIRST + 50);
    job_set_recovering(job, 0);
    run(job, &slow, FIRST + 50, FIRST + 60);
    assert_int_equal(told.alert_count, count + 1);
    alert = alert_at(count);
    assert_int_equal(alert.id, 1);
    assert_string_equal(alert.state, "resolved");
    assert_memory_equal(alert.text, "over: the rules that are in force now do not raise it; ", 55);
    finish_job(job);
    rules_finish(&rules);
    rules = before;
}

/* A job of seven ranks that is kept by groups of two. */
static void regions_have_no_more_ranks_than_the_job(void **state)
{
    struct job_latency *latency;
    struct wire_regions regions;
    struct latency_rows rows = {.transfers = {.count = 0}};
    struct wire_pair_row pairs[3];
    (void)state;
    assert_int_equal(job_latency_create(&latency, S), 0);
    job_latency_set_groups(latency, 1);
    for (uint32_t r = 0; r < 7; r++)
        assert_int_equal(job_latency_place(latency, r, r / 2), 0);
    for (uint32_t i = 0; i < 3; i++)
        pairs[i] = (struct wire_pair_row){
            .source = 2 * i, .destination = (int64_t)(2 * i + 2), .messages = 100};
    for (uint64_t w = FIRST; w < FIRST + 5; w++) {
        const struct closed_window window = {.number = w,
                                             .length_ns = S,
                                             .world = 7,
                                             .pairs = pairs,
                                             .pair_count = 3,
                                             .latency = &rows};
        assert_int_equal(job_latency_update(latency, &window), 0);
    }
    assert_int_equal(job_latency_regions(latency, &regions), 0);
    assert_int_equal(regions.regions_count, 2);
    assert_int_equal(regions.regions[0].ranks, 4);
    assert_int_equal(regions.regions[1].ranks, 3);
    job_latency_destroy(latency);
    latency_rows_finish(&rows);
}

static int forget(void **state)
{
    (void)state;
    forget_told();
    return 0;
}

static int load_rules(void **state)
{
    (void)state;
    return rules_default(&rules);
}

static int finish_rules(void **state)
{
    (void)state;
    rules_finish(&rules);
    return 0;
}

/* Imports of short traces have windows of microseconds. */
static void windows_of_any_length_are_judged(void **state)
{
    (void)state;
    for (uint64_t length = 1000; length <= 3600 * S; length *= 6) {
        struct job_latency *latency;
        assert_int_equal(job_latency_create(&latency, length), 0);
        job_latency_destroy(latency);
    }
}

/* Where nodes stand for their ranks from some window on, since the job has more ranks than was
 * known, their regions are others: they have ids, trends and ages of their own. */
static void regions_of_nodes_take_over_no_id_of_regions_of_ranks(void **state)
{
    struct job_latency *latency;
    struct latency_rows rows = {.times = {NULL}};
    struct wire_regions regions;
    struct wire_pair_row pairs[2] = {{.source = 0, .destination = 1, .messages = 9},
                                     {.source = 0, .destination = 2, .messages = 9}};
    struct closed_window window = {
        .length_ns = S, .pairs = pairs, .pair_count = 2, .latency = &rows};
    (void)state;
    assert_int_equal(job_latency_create(&latency, S), 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        assert_int_equal(job_latency_place(latency, rank, rank), 0);
    for (window.number = FIRST; window.number < FIRST + 5; window.number++)
        assert_int_equal(job_latency_update(latency, &window), 0);
    assert_int_equal(job_latency_regions(latency, &regions), 0);
    assert_int_equal(regions.regions_count, 1);
    const uint64_t of_ranks = regions.regions[0].id, last = FIRST + 10;
    window.world = 100000;
    assert_int_equal(job_latency_update(latency, &window), 0);
    struct wire_latencies message;
    assert_int_equal(job_latency_message(latency, &message), 0);
    assert_int_equal(message.series_count, 3); /* of no region: the job, and both localities */
    for (window.number++; window.number < last; window.number++)
        assert_int_equal(job_latency_update(latency, &window), 0);
    assert_int_equal(job_latency_regions(latency, &regions), 0);
    assert_int_equal(regions.ranks_together, 1);
    assert_int_equal(regions.regions_count, 1);
    assert_true(regions.regions[0].id > of_ranks);
    assert_true(regions.regions[0].since >= FIRST + 5);
    job_latency_destroy(latency);
    latency_rows_finish(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(latency_of_job_localities_and_regions_is_published_each_window,
                                  forget),
        cmocka_unit_test_teardown(no_message_is_delayed_before_there_are_criteria, forget),
        cmocka_unit_test_teardown(
            a_slow_link_is_one_alert_that_names_network_and_node_and_is_resolved, forget),
        cmocka_unit_test_teardown(few_messages_of_a_node_that_stall_and_slow_the_job_are_one_alert,
                                  forget),
        cmocka_unit_test_teardown(messages_of_all_nodes_that_stall_and_slow_the_job_are_background,
                                  forget),
        cmocka_unit_test_teardown(few_messages_that_stall_and_cost_the_job_nothing_raise_no_alert,
                                  forget),
        cmocka_unit_test_teardown(other_messages_than_before_are_not_taken_for_stalls, forget),
        cmocka_unit_test_teardown(a_job_that_only_does_less_work_raises_no_alert, forget),
        cmocka_unit_test_teardown(one_bad_window_raises_nothing, forget),
        cmocka_unit_test_teardown(what_is_reported_does_not_depend_on_the_order_of_nodes, forget),
        cmocka_unit_test_teardown(a_stopped_rank_is_named_as_the_one_behind, forget),
        cmocka_unit_test(windows_of_any_length_are_judged),
        cmocka_unit_test(agents_of_large_jobs_are_asked_to_send_fewer_rows_of_bursts),
        cmocka_unit_test_teardown(agents_get_criteria_when_they_change_and_not_otherwise, forget),
        cmocka_unit_test_teardown(
            an_agent_that_was_started_again_gets_the_criteria_that_the_others_have, forget),
        cmocka_unit_test_teardown(an_agent_that_was_silent_gets_the_criteria_that_it_missed,
                                  forget),
        cmocka_unit_test_teardown(a_message_with_impossible_latencies_is_refused_whole, forget),
        cmocka_unit_test_teardown(messages_of_a_late_node_count_in_a_later_window, forget),
        cmocka_unit_test_teardown(an_alert_that_is_none_by_the_rules_after_a_restart_is_over,
                                  forget),
        cmocka_unit_test(regions_have_no_more_ranks_than_the_job),
        cmocka_unit_test(regions_of_nodes_take_over_no_id_of_regions_of_ranks),
        cmocka_unit_test_teardown(alerts_fed_again_from_a_recording_are_not_raised_twice, forget),
    };
    return cmocka_run_group_tests(tests, load_rules, finish_rules);
}
