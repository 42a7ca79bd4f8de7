/* Phases of a job as a whole: from the bursts of its agents to what is published. */
#include "daemon/job/job.h"
#include "daemon/job/phases/job_phases.h"
#include "daemon/job/phases/picture.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define FIRST 1000u
#define NODES 4u
#define RANKS 8u
#define BYTES 4096u
#define COMM 77u /* id of a communicator of the even ranks */

/* ---- what the job publishes ----------------------------------------------------- */

struct told {
    struct wire_phase_row phases[256]; /* newest state, by id */
    struct wire_curve_point_row points[256];
    uint64_t open;     /* ids of the open ones in the newest message: how many */
    uint64_t messages; /* PHASES and CURVE */
    uint64_t stream;   /* hash of all of them */
    uint64_t closed;   /* highest id */
    uint64_t gap_ns, modelled;
    uint64_t over_links; /* messages of collectives, each once for each link that it crosses */
};

__extension__ typedef unsigned __int128 wide;

static struct told told;

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_PHASES || type == WIRE_TYPE_CURVE || type == WIRE_TYPE_LINKS;
}

static void take_phases(struct told *t, const struct wire_phases *m)
{
    t->open = 0;
    t->gap_ns = m->gap_ns;
    t->modelled = m->modelled;
    for (uint64_t i = 0; i < m->phases_count; i++) {
        const struct wire_phase_row *p = &m->phases[i];
        assert_in_range(p->id, 1, 255);
        t->phases[p->id] = *p;
        t->open += p->open;
        if (!p->open) {
            assert_true(p->id == t->closed + 1 || p->id <= t->closed);
            t->closed = p->id > t->closed ? p->id : t->closed;
        }
    }
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct told *t = user;
    struct wire_buffer buffer = {0};
    (void)job;
    if (!wanted(NULL, NULL, type))
        return;
    const struct wire_links *links = message;
    for (uint64_t i = 0; type == WIRE_TYPE_LINKS && i < links->links_count; i++)
        t->over_links += links->links[i].collective_messages;
    if (type == WIRE_TYPE_LINKS)
        return;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    for (size_t i = 0; i < buffer.length; i++)
        t->stream = (t->stream ^ buffer.bytes[i]) * UINT64_C(0x100000001b3);
    wire_buffer_finish(&buffer);
    t->messages++;
    if (type == WIRE_TYPE_PHASES)
        take_phases(t, message);
    const struct wire_curve *curve = message;
    for (uint64_t i = 0; type == WIRE_TYPE_CURVE && i < curve->points_count; i++)
        t->points[curve->points[i].phase] = curve->points[i];
}

/* ---- a job: two ranks on each node ------------------------------------------------- */

static uint64_t seq[NODES];
static uint64_t most_ranks; /* larger jobs are kept by groups of ranks; 0: none is */

static struct job *make_job(int modelled)
{
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .most_ranks = most_ranks,
                                  .modelled = modelled};
    struct job_output output = {&told, wanted, publish, NULL};
    struct job *job;
    memset(seq, 0, sizeof(seq));
    memset(&told, 0, sizeof(told));
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
        assert_int_equal(job_accept_ranks(job, node + 1, &ranks, FIRST * S, &fault), 0);
    }
    return job;
}

/* What a node sends of one window. */
struct message {
    struct wire_rank_row ranks[2];
    struct wire_burst_row bursts[8];
    struct wire_burst_pair_row pairs[64];
    struct wire_collective_row collectives[2];
    struct wire_comm_member_row members[2];
    struct wire_window window;
};

static struct wire_comm_row comms[3] = {{.name = ""},
                                        {.id = 1, .size = RANKS, .name = "MPI_COMM_WORLD"},
                                        {.id = COMM, .size = RANKS / 2, .name = "even"}};

static void begin(struct message *m, unsigned node, unsigned window)
{
    memset(m, 0, sizeof(*m));
    for (unsigned i = 0; i < 2; i++)
        m->ranks[i] = (struct wire_rank_row){.rank = 2 * node + i, .in_call_peer = -1};
    m->window = (struct wire_window){.seq = ++seq[node],
                                     .job = "test.0",
                                     .host = "",
                                     .window = window,
                                     .length_ns = S,
                                     .comms = comms,
                                     .comms_count = 3,
                                     .ranks = m->ranks,
                                     .ranks_count = 2,
                                     .bursts = m->bursts,
                                     .burst_pairs = m->pairs,
                                     .collectives = m->collectives,
                                     .comm_members = m->members};
}

static void add_pair(struct message *m, uint64_t source, uint64_t destination, uint64_t messages)
{
    struct wire_burst_row *b = &m->bursts[m->window.bursts_count - 1];
    m->pairs[m->window.burst_pairs_count++] = (struct wire_burst_pair_row){
        source, destination, size_class_of(BYTES), messages, messages * BYTES};
    b->pairs++;
    b->messages += messages;
    b->bytes += messages * BYTES;
    wide sum = (wide)b->first_ns * b->messages;
    b->time_sum_high = (uint64_t)(sum >> 64);
    b->time_sum_low = (uint64_t)sum;
}

static void add_burst(struct message *m, uint64_t at_ns, int collective)
{
    m->bursts[m->window.bursts_count++] = (struct wire_burst_row){
        .collective = (uint64_t)collective, .first_ns = at_ns, .last_ns = at_ns};
}

/* Pattern 'A': pairs of neighbours; 'B': quads; 'C': ranks that differ in the highest bit. */
static void add_pattern(struct message *m, unsigned node, char pattern, uint64_t at_ns)
{
    static const unsigned distances[] = {1, 2, 4};
    add_burst(m, at_ns, 0);
    for (unsigned rank = 2 * node; rank < 2 * node + 2; rank++) {
        add_pair(m, rank, rank ^ distances[pattern - 'A'], 10);
        if (pattern == 'B')
            add_pair(m, rank, rank ^ 1, 10);
    }
}

static int give(struct job *job, const struct message *m, unsigned node, struct job_fault *fault)
{
    return job_accept_window(job, node + 1, &m->window, (m->window.window + 1) * S, fault);
}

/* One window of all nodes, in this order. ' ': nothing is sent; '-': by agents that report no
 * bursts.
 */
static void window_in(struct job *job, unsigned window, char pattern, const unsigned *order)
{
    for (unsigned i = 0; i < NODES; i++) {
        struct message m;
        struct job_fault fault;
        begin(&m, order[i], window);
        if (pattern >= 'A') {
            add_pattern(&m, order[i], pattern, window * S + 100 * MS + order[i] * 1000);
            add_pattern(&m, order[i], pattern, window * S + 300 * MS + order[i] * 1000);
        }
        assert_int_equal(give(job, &m, order[i], &fault), 0);
    }
    job_advance(job, (window + 1) * S + MS, (window + 1) * S + MS);
}

/* Consecutive windows, one for each letter. */
static void run_in(struct job *job, unsigned from, const char *patterns, const unsigned *order)
{
    for (unsigned i = 0; patterns[i] != '\0'; i++)
        window_in(job, from + i, patterns[i], order);
}

static void run(struct job *job, unsigned from, const char *patterns)
{
    run_in(job, from, patterns, (const unsigned[]){0, 1, 2, 3});
}

static void end_job(struct job *job)
{
    job_finish(job, 5000 * S);
    assert_int_equal(told.open, 0);
}

/* ---- tests ---------------------------------------------------------------------------- */

static void an_alternation_has_two_heights(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    run(job, FIRST, "A    A    A    B    A    A    A    B    ");
    end_job(job);
    assert_int_equal(told.closed, 8);
    for (unsigned id = 1; id <= 8; id++) {
        const struct wire_phase_row *p = &told.phases[id];
        const struct wire_curve_point_row *c = &told.points[id];
        int is_b = id % 4 == 0;
        assert_int_equal(p->begin_ns / S, FIRST + 5 * (id - 1));
        assert_int_equal(p->end_ns / S, FIRST + 5 * (id - 1));
        assert_int_equal(p->messages, 2 * RANKS * 10 * (is_b ? 2 : 1));
        assert_int_equal(p->bytes, p->messages * BYTES);
        assert_int_equal(p->modelled, 0);
        assert_int_equal(p->folded, 0);
        assert_int_equal(p->pairs, RANKS * (is_b ? 2 : 1));
        assert_int_equal(p->ranks, RANKS);
        assert_int_equal(p->communities, is_b ? 2 : 4);
        assert_true(p->modularity > 0.4);
        assert_int_equal(c->provisional, 0);
        assert_int_equal(c->begin_ns, p->begin_ns);
        assert_true(fabs(c->height - (is_b ? -0.5 : 0)) < 1e-12);
        assert_int_equal(c->returned, id != 1 && id != 4);
        if (id == 5 || id == 8)
            assert_int_equal(c->resembles, id == 5 ? 1 : 4);
    }
    job_destroy(job);
}

/* The time of a message is the middle of its call, which may have taken long. */
static void messages_of_long_calls_are_in_the_sums_of_phases_that_are_closed(void **state)
{
    (void)state;
    struct message m;
    struct job_fault fault;
    struct job *job = make_job(1);
    run(job, FIRST, "A    A    ");
    assert_int_equal(told.closed, 2);
    begin(&m, 0, FIRST + 10);
    add_burst(&m, FIRST * S + 200 * MS, 0);
    add_pair(&m, 0, 1, 7);
    m.bursts[0].other_messages = 3;
    m.bursts[0].messages += 3;
    m.bursts[0].other_pairs = 1;
    wide sum = (wide)m.bursts[0].first_ns * m.bursts[0].messages;
    m.bursts[0].time_sum_high = (uint64_t)(sum >> 64);
    m.bursts[0].time_sum_low = (uint64_t)sum;
    assert_int_equal(give(job, &m, 0, &fault), 0);
    run_in(job, FIRST + 11, "  ", (const unsigned[]){0, 1, 2, 3});
    end_job(job);
    assert_int_equal(told.closed, 2);
    assert_int_equal(told.phases[1].messages, 2 * RANKS * 10 + 7);
    assert_int_equal(told.phases[1].bytes, (2 * RANKS * 10 + 7) * BYTES);
    assert_int_equal(told.phases[1].folded, 3);
    assert_int_equal(told.phases[1].communities, 4);
    assert_int_equal(told.phases[2].messages, 2 * RANKS * 10);
    job_destroy(job);
}

static void the_order_of_nodes_does_not_matter(void **state)
{
    (void)state;
    static const char patterns[] = "AA   ABC  C  BBBA   ";
    struct job *job = make_job(1);
    run_in(job, FIRST, patterns, (const unsigned[]){0, 1, 2, 3});
    end_job(job);
    uint64_t stream = told.stream;
    job_destroy(job);
    job = make_job(1);
    run_in(job, FIRST, patterns, (const unsigned[]){3, 1, 0, 2});
    end_job(job);
    assert_true(told.stream == stream);
    assert_true(told.closed > 3);
    job_destroy(job);
}

static void an_open_phase_is_reported_once_a_window_and_not_while_nothing_comes(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    run(job, FIRST, "A");
    assert_int_equal(told.messages, 2);
    assert_int_equal(told.open, 1);
    assert_int_equal(told.phases[1].open, 1);
    assert_int_equal(told.phases[1].communities, 4);
    assert_int_equal(told.points[1].provisional, 1);
    run(job, FIRST + 1, "A");
    assert_int_equal(told.messages, 4);
    assert_int_equal(told.phases[1].messages + told.phases[2].messages, 4 * RANKS * 10);
    assert_int_equal(told.closed, 0);
    run(job, FIRST + 2, "    ");
    assert_true(told.closed > 0);
    assert_int_equal(told.open, 0);
    uint64_t messages = told.messages;
    run(job, FIRST + 6, "          ");
    assert_int_equal(told.messages, messages);
    job_destroy(job);
}

static void a_job_without_bursts_reports_nothing(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    run(job, FIRST, "----------");
    end_job(job);
    assert_int_equal(told.messages, 0);
    job_snapshot(job, WIRE_TYPE_PHASES, &(struct job_output){&told, wanted, publish, NULL});
    assert_int_equal(told.messages, 0);
    job_destroy(job);
}

static void who_comes_late_gets_all_phases(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    run(job, FIRST, "A    B    A    C");
    struct told live = told;
    memset(&told, 0, sizeof(told));
    struct job_output output = {&told, wanted, publish, NULL};
    job_snapshot(job, WIRE_TYPE_PHASES, &output);
    job_snapshot(job, WIRE_TYPE_CURVE, &output);
    assert_int_equal(told.messages, 2);
    assert_int_equal(told.closed, live.closed);
    assert_int_equal(told.open, 1);
    assert_memory_equal(told.phases, live.phases, sizeof(live.phases));
    assert_memory_equal(told.points, live.points, sizeof(live.points));
    job_destroy(job);
}

/* ---- collectives ------------------------------------------------------------------------ */

/* 3 calls by each rank of a node, of the communicator at this place. */
static void add_calls(struct message *m, unsigned node, uint64_t at_ns, uint64_t comm,
                      uint16_t call, int64_t root)
{
    m->collectives[m->window.collectives_count++] = (struct wire_collective_row){call, comm, root};
    add_burst(m, at_ns, 1);
    for (unsigned rank = 2 * node; rank < 2 * node + 2; rank += comm == 2 ? 2 : 1)
        add_pair(m, rank, m->window.collectives_count - 1, 3);
}

static void add_member(struct message *m, unsigned node)
{
    m->members[m->window.comm_members_count++] = (struct wire_comm_member_row){2, 2 * node, node};
}

static void one_window_of_calls(int modelled, uint64_t comm, uint16_t call, int64_t root,
                                unsigned members)
{
    struct job *job = make_job(modelled);
    for (unsigned node = 0; node < NODES; node++) {
        struct message m;
        struct job_fault fault;
        begin(&m, node, FIRST);
        add_pattern(&m, node, 'A', FIRST * S + 100 * MS);
        add_calls(&m, node, FIRST * S + 300 * MS, comm, call, root);
        if (node < members)
            add_member(&m, node);
        assert_int_equal(give(job, &m, node, &fault), 0);
    }
    job_advance(job, (FIRST + 1) * S + MS, (FIRST + 1) * S + MS);
    end_job(job);
    job_destroy(job);
    assert_int_equal(told.closed, 1);
    assert_int_equal(told.modelled, modelled);
    assert_int_equal(told.phases[1].messages, RANKS * 10);
}

static void collectives_count_as_the_messages_of_their_algorithm(void **state)
{
    (void)state;
    one_window_of_calls(1, 1, CALL_Barrier, -1, 0); /* dissemination: log2 8 messages each */
    assert_int_equal(told.phases[1].modelled, 3 * 3 * RANKS);
    assert_int_equal(told.phases[1].folded, 0);
    one_window_of_calls(1, 2, CALL_Barrier, -1, NODES); /* four ranks */
    assert_int_equal(told.phases[1].modelled, 3 * 2 * RANKS / 2);
    assert_int_equal(told.phases[1].folded, 0);
    one_window_of_calls(1, 2, CALL_Bcast, 4, NODES); /* a tree: each but the root gets one */
    assert_int_equal(told.phases[1].modelled, 3 * (RANKS / 2 - 1));
}

/* Two ranks on each of four nodes: a message crosses the links of both ranks, and between nodes
 * those of both nodes. */
static void messages_of_collectives_load_the_links_between_nodes(void **state)
{
    (void)state;
    one_window_of_calls(1, 1, CALL_Barrier, -1, 0);
    /* To the next rank every other one leaves its node, two and four ranks ahead all of them. */
    assert_int_equal(told.over_links, 3 * (2 * RANKS / 2 + 4 * (RANKS / 2 + RANKS + RANKS)));
    one_window_of_calls(1, 2, CALL_Barrier, -1, NODES); /* one rank on each node: all cross */
    assert_int_equal(told.over_links, 4 * told.phases[1].modelled);
    one_window_of_calls(0, 1, CALL_Barrier, -1, 0);
    assert_int_equal(told.over_links, 0);
}

static void collectives_can_be_left_out(void **state)
{
    (void)state;
    one_window_of_calls(0, 1, CALL_Barrier, -1, 0);
    assert_int_equal(told.phases[1].modelled, 0);
    assert_int_equal(told.phases[1].folded, 0);
    assert_int_equal(told.phases[1].communities, 4);
}

static void calls_of_ranks_whose_position_is_not_known_are_folded(void **state)
{
    (void)state;
    one_window_of_calls(1, 2, CALL_Barrier, -1, 0); /* nobody's is */
    assert_int_equal(told.phases[1].modelled, 0);
    assert_int_equal(told.phases[1].folded, 3 * RANKS / 2);
    one_window_of_calls(1, 2, CALL_Barrier, -1, NODES - 1); /* all but one */
    assert_int_equal(told.phases[1].modelled + told.phases[1].folded, 3 * (2 * 3 + 1));
    assert_true(told.phases[1].folded >= 3 * (2 + 1));
}

/* ---- what agents may not send ------------------------------------------------------------ */

static void spoil(struct message *m, unsigned how)
{
    struct wire_burst_row *b = m->bursts;
    switch (how) {
    case 0:
        m->pairs[0].source = RANKS;
        break;
    case 1:
        m->pairs[1].destination = RANKS;
        break;
    case 2:
        m->pairs[2].destination = 1;
        break;
    case 3:
        m->pairs[0].messages++;
        break;
    case 4:
        m->pairs[0].bytes = UINT64_MAX;
        break;
    case 5:
        b[0].pairs = UINT64_MAX;
        break;
    case 6:
        b[0].pairs--;
        break;
    case 7:
        b[1].pairs--;
        break;
    case 8:
        b[0].time_sum_low += 100 * S;
        break;
    case 9:
        b[0].last_ns = UINT64_MAX;
        break;
    case 10:
        b[0].first_ns = 0;
        break;
    case 11:
        b[0].other_bytes = 5;
        break;
    case 12:
        m->collectives[0].comm = 3;
        break;
    case 13:
        m->collectives[0].root = RANKS;
        break;
    case 14:
        m->members[0].position = RANKS / 2;
        break;
    case 15:
        m->members[0].rank = RANKS;
        break;
    case 16:
        m->pairs[0].size_class = SIZE_CLASSES;
        break;
    case 17:
        b[0].messages = 0;
        break;
    case 18:
        b[0].first_ns += 61 * S, b[0].last_ns += 61 * S + S, b[0].time_sum_low += 62 * S * 20;
        break;
    default:
        m->collectives[0].root = INT64_MIN;
        break;
    }
}

static void rows_that_contradict_themselves_are_named_and_nothing_is_taken(void **state)
{
    (void)state;
    static const char *const where[] = {
        "burst_pairs[0]",  "burst_pairs[1]", "burst_pairs[2]", "bursts[0]",      "bursts[0]",
        "bursts[0]",       "bursts[0]",      "bursts[1]",      "bursts[0]",      "bursts[0]",
        "bursts[0]",       "bursts[0]",      "collectives[0]", "collectives[0]", "comm_members[0]",
        "comm_members[0]", "burst_pairs[0]", "bursts[0]",      "bursts[0]",      "collectives[0]"};
    struct job *job = make_job(1);
    for (unsigned how = 0; how < sizeof(where) / sizeof(where[0]); how++) {
        struct message m;
        struct job_fault fault = {""};
        begin(&m, 0, FIRST);
        add_pattern(&m, 0, 'A', FIRST * S + 100 * MS);
        add_calls(&m, 0, FIRST * S + 300 * MS, 2, CALL_Barrier, -1);
        add_member(&m, 0);
        spoil(&m, how);
        if (give(job, &m, 0, &fault) != -HOLTER_ERANGE || strstr(fault.text, where[how]) == NULL)
            fail_msg("%u: %s", how, fault.text);
    }
    window_in(job, FIRST, 'A', (const unsigned[]){0, 1, 2, 3});
    end_job(job);
    assert_int_equal(told.phases[1].messages, 2 * RANKS * 10);
    job_destroy(job);
}

/* As after MPI_Intercomm_merge with ranks that were spawned. */
static void a_communicator_may_be_larger_than_the_job(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    struct wire_comm_row merged[3];
    struct message m;
    struct job_fault fault = {""};
    begin(&m, 0, FIRST);
    memcpy(merged, comms, sizeof(merged));
    merged[2].size = 2 * RANKS;
    m.window.comms = merged;
    add_pattern(&m, 0, 'A', FIRST * S + 100 * MS);
    add_calls(&m, 0, FIRST * S + 300 * MS, 2, CALL_Barrier, -1);
    add_member(&m, 0);
    m.members[0].position = 2 * RANKS - 1;
    if (give(job, &m, 0, &fault) != 0)
        fail_msg("%s", fault.text);
    job_destroy(job);
}

static void sums_beyond_64_bits_are_refused_whole(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    struct message m;
    struct job_fault fault = {""};
    for (unsigned i = 0; i < 2; i++) {
        begin(&m, i, FIRST);
        add_burst(&m, FIRST * S + MS, 0);
        add_pair(&m, 0, 1, 1);
        m.pairs[0].bytes = m.bursts[0].bytes = UINT64_MAX;
        assert_int_equal(give(job, &m, i, &fault), i == 0 ? 0 : -HOLTER_ELIMIT);
    }
    assert_non_null(strstr(fault.text, "bursts"));
    end_job(job);
    assert_int_equal(told.phases[1].messages, 1);
    job_destroy(job);
}

/* ---- late and again ------------------------------------------------------------------------ */

static void a_late_window_adds_to_the_sums(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    struct message m;
    struct job_fault fault;
    int64_t from, to;
    struct phase_graph graph = {0};
    for (unsigned node = 1; node < NODES; node++) {
        begin(&m, node, FIRST);
        add_pattern(&m, node, 'A', FIRST * S + 100 * MS);
        assert_int_equal(give(job, &m, node, &fault), 0);
    }
    job_advance(job, (FIRST + 2) * S, (FIRST + 2) * S); /* one node is missing */
    begin(&m, 0, FIRST);
    add_pattern(&m, 0, 'A', FIRST * S + 100 * MS);
    assert_int_equal(job_accept_window(job, 1, &m.window, (FIRST + 2) * S, &fault), 0);
    job_advance(job, (FIRST + 5) * S, (FIRST + 5) * S);
    assert_true(job_phases_span(job_phases(job), &from, &to));
    assert_int_equal(job_phases_graph(job_phases(job), from, to, &graph), 0);
    assert_int_equal(graph.messages, RANKS * 10);
    phase_graph_finish(&graph);
    end_job(job);
    assert_int_equal(told.phases[1].messages, RANKS * 10);
    job_destroy(job);
}

static void what_was_read_from_a_recording_is_reported_afterwards(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    job_set_recovering(job, 1);
    run(job, FIRST, "A    B    A   ");
    assert_int_equal(told.messages, 0);
    job_set_recovering(job, 0);
    run(job, FIRST + 14, "A");
    assert_int_equal(told.closed, 3);
    assert_int_equal(told.phases[2].communities, 2);
    job_destroy(job);
}

/* Of a recording in parts the first of which were removed, and of one that is whole. */
static void phases_that_are_recorded_are_not_reported_again(void **state)
{
    static const uint64_t recorded[] = {40, 3};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct job *job = make_job(1);
        job_mark_phases_published(job, recorded[i]);
        job_set_recovering(job, 1);
        run(job, FIRST, "A    B    A   ");
        job_set_recovering(job, 0);
        told.closed = recorded[i];
        run(job, FIRST + 14, "A    ");
        assert_int_equal(told.closed, recorded[i] + 1);
        assert_int_equal(told.phases[recorded[i]].messages, 0);
        assert_int_equal(told.points[recorded[i] + 1].resembles, recorded[i] - 2);
        job_destroy(job);
    }
}

static void a_span_is_cut_into_the_phases_asked_for(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    struct phase list[8];
    struct job_phases_cut cut = {.phases = list};
    size_t count;
    int64_t from, to;
    run(job, FIRST, "A    B    A    C    ");
    struct job_phases *phases = job_phases(job);
    assert_true(job_phases_span(phases, &from, &to));
    assert_int_equal(job_phases_cut(phases, from, to, 4, &cut), 0);
    assert_int_equal(cut.count, 4);
    assert_true(cut.resolved >= 8);
    assert_int_equal(list[1].begin_ns / (int64_t)S, FIRST + 5);
    assert_int_equal(job_phases_cut(phases, 0, 10, 4, &cut), 0);
    assert_int_equal(cut.count + cut.resolved, 0);
    for (uint32_t i = 0; i < 2; i++) { /* A and B are closed */
        size_t edges = 0;
        double height = NAN;
        assert_non_null(job_phases_pattern(phases, i, &edges, &height));
        assert_int_equal(edges, i == 0 ? RANKS : 2 * RANKS);
        assert_true(i == 0 ? height == 0 : height < 0);
    }
    assert_null(job_phases_pattern(phases, JOB_PHASES_PATTERNS, &count, NULL));
    assert_int_equal(job_phases_ranks(phases), RANKS);
    job_destroy(job);
}

/* Names of the bars of a column, its messages and its height. */
struct drawn {
    uint64_t names[RANKS];
    size_t bars;
    uint64_t messages;
    double height;
    unsigned column;
};

static int note_column(void *user, const struct wire_commgram *message)
{
    struct drawn *d = user;
    for (uint64_t i = 0; i < message->bars_count; i++) {
        if (message->bars[i].column == d->column)
            d->names[d->bars++] = message->bars[i].community;
    }
    d->messages = message->columns[d->column].messages;
    d->height = message->columns[d->column].height;
    return 0;
}

static struct drawn draw(struct job *job, const char *words, unsigned column)
{
    struct drawn d = {.column = column};
    struct picture_ask ask;
    struct picture *picture;
    char why[128];
    assert_int_equal(picture_ask_parse(&ask, words, why, sizeof(why)), 0);
    struct picture_source source;
    job_picture_source(job, &source);
    assert_int_equal(picture_create(&picture, &source, &ask, NULL), 0);
    int code;
    while ((code = picture_step(picture, job_phases(job))) == 1) {
    }
    assert_int_equal(code, 0);
    assert_int_equal(picture_send(picture, note_column, &d), 0);
    picture_destroy(picture);
    return d;
}

/* Each pattern has its colours and height in the job, though a picture shows nothing of the others.
 */
static void a_picture_of_a_part_has_the_colours_and_heights_of_the_whole(void **state)
{
    (void)state;
    struct job *job = make_job(1);
    run(job, FIRST, "A    C    B    A    ");
    end_job(job);
    for (unsigned i = 0; i < 4; i++) {
        char words[128];
        struct drawn whole = draw(job, "phases=4 communities=3", i);
        snprintf(words, sizeof(words), "from=%llu to=%llu phases=1 communities=3",
                 (unsigned long long)((FIRST + 5 * i) * S),
                 (unsigned long long)((FIRST + 5 * i + 1) * S));
        struct drawn alone = draw(job, words, 0);
        assert_int_equal(alone.bars, whole.bars);
        assert_memory_equal(alone.names, whole.names, whole.bars * sizeof(whole.names[0]));
        assert_true(alone.height == whole.height);
    }
    job_destroy(job);
}

static void a_picture_of_one_rank_of_a_group_has_the_messages_of_the_group(void **state)
{
    (void)state;
    most_ranks = 4;
    struct job *job = make_job(1);
    most_ranks = 0;
    run(job, FIRST, "A    ");
    end_job(job);
    struct drawn first = draw(job, "phases=1 ranks=2", 0);
    assert_true(first.messages > 0);
    assert_int_equal(draw(job, "phases=1 ranks=3", 0).messages, first.messages);
    job_destroy(job);
}

/* ---- effort ------------------------------------------------------------------------- */

#define MANY 8192u   /* ranks */
#define PARTNERS 17u /* in each of two bursts: more edges than a window may look at */
#define MANY_PAIRS (MANY * PARTNERS)

static void make_ring(struct wire_burst_row *burst, struct wire_burst_pair_row *pairs,
                      uint64_t at_ns, uint64_t nearest)
{
    for (uint64_t i = 0; i < MANY_PAIRS; i++)
        pairs[i] = (struct wire_burst_pair_row){
            i / PARTNERS, (i / PARTNERS + nearest + i % PARTNERS) % MANY, size_class_of(8), 1, 8};
    wide sum = (wide)at_ns * MANY_PAIRS;
    *burst = (struct wire_burst_row){.first_ns = at_ns,
                                     .last_ns = at_ns,
                                     .time_sum_high = (uint64_t)(sum >> 64),
                                     .time_sum_low = (uint64_t)sum,
                                     .messages = MANY_PAIRS,
                                     .bytes = 8 * (uint64_t)MANY_PAIRS,
                                     .pairs = MANY_PAIRS};
}

static struct wire_phase_row close_one(struct job_phases *phases, struct burst_rows *rows,
                                       const struct wire_window *m)
{
    struct wire_phases news;
    struct wire_curve curve;
    assert_int_equal(job_phases_prepare(phases, rows, m, 1, MANY), 0);
    job_phases_add(phases, rows, m);
    const struct closed_window window = {.number = m->window, .world = MANY, .bursts = rows};
    assert_int_equal(job_phases_update(phases, &window), 0);
    assert_int_equal(job_phases_list_changes(phases, &news, &curve), 0);
    assert_int_equal(news.phases_count, 1);
    return news.phases[0];
}

/* Two windows of one phase of very many edges. @return it, closed */
static struct wire_phase_row look_at_many(struct job_phases *phases, int end)
{
    struct burst_rows rows = {0};
    struct wire_burst_row bursts[2];
    struct wire_burst_pair_row *pairs = malloc(2 * MANY_PAIRS * sizeof(*pairs));
    struct wire_window m = {.length_ns = S, .bursts = bursts, .burst_pairs = pairs};
    struct wire_phases news;
    struct wire_curve curve;
    assert_non_null(pairs);
    for (m.window = FIRST; m.window < FIRST + 2; m.window++) {
        uint64_t begin = m.window * S + (m.window == FIRST ? 850 * MS : 0);
        make_ring(&bursts[0], pairs, begin, 1);
        make_ring(&bursts[1], pairs + MANY_PAIRS, begin + 100 * MS, 1 + PARTNERS);
        m.bursts_count = 2;
        m.burst_pairs_count = 2 * (uint64_t)MANY_PAIRS;
        struct wire_phase_row open = close_one(phases, &rows, &m);
        assert_int_equal(open.open, 1);
        assert_int_equal(open.messages, 2 * MANY_PAIRS * (m.window - FIRST + 1));
        assert_true(isnan(open.modularity));
    }
    m.bursts_count = m.burst_pairs_count = 0;
    m.window += 4;
    if (!end) {
        assert_int_equal(close_one(phases, &rows, &m).open, 1);
        m.window++;
        close_one(phases, &rows, &m);
    }
    while (end && job_phases_end(phases, 0) == 1)
        ;
    assert_int_equal(job_phases_list_all(phases, &news, &curve), 0);
    assert_int_equal(news.phases_count, 1);
    burst_rows_finish(&rows);
    free(pairs);
    return news.phases[0];
}

/* It is published with the window after that, so that no window waits for its analysis; or
 * when the job ends. */
static void a_phase_of_very_many_edges_is_looked_at_when_it_is_closed(void **state)
{
    (void)state;
    static const struct {
        int threads, end;
    } ways[] = {{0, 0}, {1, 0}, {1, 1}};
    struct wire_phase_row closed[3];
    assert_true(2 * MANY_PAIRS > JOB_PHASES_EDGES);
    for (int i = 0; i < 3; i++) {
        struct job_phases *phases;
        assert_int_equal(job_phases_create(&phases, S, 0, ways[i].threads), 0);
        closed[i] = look_at_many(phases, ways[i].end);
        job_phases_destroy(phases);
    }
    assert_int_equal(closed[0].open, 0);
    assert_int_equal(closed[0].pairs, 2 * MANY_PAIRS);
    assert_int_equal(closed[0].ranks, MANY);
    assert_true(closed[0].communities > 1 && closed[0].modularity > 0.5);
    for (int i = 1; i < 3; i++) /* whoever looked at it */
        assert_memory_equal(&closed[i], &closed[0], sizeof(closed[0]));
}

/* Phases may be destroyed while a thread analyses one. */
static void phases_may_go_while_they_are_looked_at(void **state)
{
    (void)state;
    struct job_phases *phases;
    struct burst_rows rows = {0};
    struct wire_burst_row burst;
    struct wire_burst_pair_row *pairs = malloc(MANY_PAIRS * sizeof(*pairs));
    struct wire_window m = {.window = FIRST,
                            .length_ns = S,
                            .bursts = &burst,
                            .bursts_count = 1,
                            .burst_pairs = pairs,
                            .burst_pairs_count = MANY_PAIRS};
    assert_non_null(pairs);
    assert_int_equal(job_phases_create(&phases, S, 0, 1), 0);
    make_ring(&burst, pairs, m.window * S + 400 * MS, 1);
    close_one(phases, &rows, &m);
    m.bursts_count = m.burst_pairs_count = 0;
    m.window += 4;
    close_one(phases, &rows, &m);
    job_phases_destroy(phases);
    burst_rows_finish(&rows);
    free(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alternation_has_two_heights),
        cmocka_unit_test(messages_of_long_calls_are_in_the_sums_of_phases_that_are_closed),
        cmocka_unit_test(the_order_of_nodes_does_not_matter),
        cmocka_unit_test(an_open_phase_is_reported_once_a_window_and_not_while_nothing_comes),
        cmocka_unit_test(a_job_without_bursts_reports_nothing),
        cmocka_unit_test(who_comes_late_gets_all_phases),
        cmocka_unit_test(collectives_count_as_the_messages_of_their_algorithm),
        cmocka_unit_test(messages_of_collectives_load_the_links_between_nodes),
        cmocka_unit_test(collectives_can_be_left_out),
        cmocka_unit_test(calls_of_ranks_whose_position_is_not_known_are_folded),
        cmocka_unit_test(rows_that_contradict_themselves_are_named_and_nothing_is_taken),
        cmocka_unit_test(a_communicator_may_be_larger_than_the_job),
        cmocka_unit_test(sums_beyond_64_bits_are_refused_whole),
        cmocka_unit_test(a_late_window_adds_to_the_sums),
        cmocka_unit_test(what_was_read_from_a_recording_is_reported_afterwards),
        cmocka_unit_test(phases_that_are_recorded_are_not_reported_again),
        cmocka_unit_test(a_span_is_cut_into_the_phases_asked_for),
        cmocka_unit_test(a_picture_of_a_part_has_the_colours_and_heights_of_the_whole),
        cmocka_unit_test(a_picture_of_one_rank_of_a_group_has_the_messages_of_the_group),
        cmocka_unit_test(a_phase_of_very_many_edges_is_looked_at_when_it_is_closed),
        cmocka_unit_test(phases_may_go_while_they_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
