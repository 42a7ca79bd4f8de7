#include "daemon/analysis/dependencies/dependencies.h"

#include "holter/call.h"
#include "tests/daemon/analysis/dependencies/message_program.h"
#include "tests/memory.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct made {
    struct dependency_calls calls;
    struct dependencies d;
};

static struct made make(const struct program *p)
{
    struct made m = {.calls = {0}};
    program_record(p, &m.calls, NULL, NULL, p->ranks, 0);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    return m;
}

static void finish(struct made *m)
{
    dependencies_finish(&m->d);
    dependency_calls_finish(&m->calls);
}

/* The event of a rank by its index in that rank. */
static const struct dependency_event *event_of(const struct dependencies *d, uint32_t rank,
                                               uint32_t index)
{
    for (uint32_t i = 0; i < d->event_count; i++)
        if (d->events[i].rank == rank)
            return &d->events[i + index];
    return NULL;
}

/* PCLVis, Fig. 7. Of its three processes the text has the vectors of four events: a = (0,0,1) sends
 * msg1 to b = (0,1,1); c = (.,3,2) receives from the third event of process 2; d = (.,4,1) is the
 * fourth of process 2. The example is completed by a message each way between processes 1 and 2.
 * Ranks are one less than the paper's numbers. */
static void three_processes(struct program *p)
{
    memset(p, 0, sizeof *p);
    uint32_t a = program_send(p, 1000, 2, 1, 0, 100);
    program_receive(p, 1010, a);
    uint32_t second = program_send(p, 1020, 1, 0, 0, 100);
    uint32_t third = program_send(p, 1030, 1, 2, 0, 100);
    program_receive(p, 1040, second);
    uint32_t fourth = program_send(p, 1050, 0, 1, 0, 100);
    program_receive(p, 1060, third);
    program_receive(p, 1070, fourth);
}

static void the_three_processes_of_pclvis_have_its_vectors_and_its_graph(void **state)
{
    (void)state;
    static struct program p;
    three_processes(&p);
    const uint32_t a[] = {0, 0, 1}, b[] = {0, 1, 1}, c[] = {0, 3, 2}, d[] = {2, 4, 1};
    assert_memory_equal(p.events[0].clock, a, sizeof a);
    assert_memory_equal(p.events[1].clock, b, sizeof b);
    assert_memory_equal(p.events[6].clock, c, sizeof c);
    assert_memory_equal(p.events[7].clock, d, sizeof d);
    struct made m = make(&p);
    const struct dependency_graph *g = &m.d.ranks;
    static const uint32_t lanes[] = {0, 1, 1, 2, 2}, layers[] = {2, 1, 3, 0, 2};
    static const uint32_t receives[] = {1, 1, 1, 0, 1}, sends[] = {1, 2, 0, 1, 0};
    assert_int_equal(g->node_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(g->nodes[i].lane, lanes[i]);
        assert_int_equal(g->nodes[i].layer, layers[i]);
        assert_int_equal(g->nodes[i].receives, receives[i]);
        assert_int_equal(g->nodes[i].sends, sends[i]);
    }
    static const uint32_t edges[][2] = {{0, 2}, {1, 0}, {1, 4}, {3, 1}};
    assert_int_equal(g->edge_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(g->edges[i].from, edges[i][0]);
        assert_int_equal(g->edges[i].to, edges[i][1]);
    }
    assert_int_equal(event_of(&m.d, 2, 0)->step, 0);
    assert_int_equal(event_of(&m.d, 1, 0)->step, 1);
    assert_int_equal(event_of(&m.d, 2, 1)->step, 4);
    assert_int_equal(event_of(&m.d, 1, 3)->step, 5);
    finish(&m);
}

/* Ranks 0 and 1 send to rank 2 and 3; rank 1 computes for longer before. */
static void lateness_is_caused_where_it_begins_and_inherited_by_those_who_wait(void **state)
{
    (void)state;
    static struct program p;
    memset(&p, 0, sizeof p);
    uint32_t prompt = program_send(&p, 1000, 0, 2, 0, 8), late = program_send(&p, 1500, 1, 3, 0, 8);
    program_receive(&p, 1010, prompt);
    program_receive(&p, 1510, late);
    struct made m = make(&p);
    assert_int_equal(event_of(&m.d, 0, 0)->lateness_ns, 0);
    assert_int_equal(event_of(&m.d, 1, 0)->lateness_ns, 500);
    assert_int_equal(event_of(&m.d, 1, 0)->caused_ns, 500);
    assert_int_equal(event_of(&m.d, 3, 0)->lateness_ns, 500);
    assert_int_equal(event_of(&m.d, 3, 0)->caused_ns, 0);
    assert_int_equal(m.d.lateness_ns, 500);
    assert_int_equal(m.d.ranks.lanes[1].caused_ns, 500);
    assert_int_equal(m.d.ranks.lanes[3].caused_ns, 0);
    finish(&m);
}

static void the_critical_chain_goes_back_to_the_latest_of_those_before(void **state)
{
    (void)state;
    static struct program p;
    memset(&p, 0, sizeof p);
    uint32_t first = program_send(&p, 1000, 0, 1, 0, 8), early = program_send(&p, 1001, 2, 1, 0, 8);
    program_receive(&p, 1100, first);
    uint32_t on = program_send(&p, 1200, 1, 2, 0, 8);
    program_receive(&p, 1300, on);
    program_receive(&p, 1400, early);
    struct made m = make(&p);
    uint32_t chain[8], from = (uint32_t)(event_of(&m.d, 2, 1) - m.d.events);
    assert_int_equal(dependencies_chain(&m.d, from, chain, 8), 4);
    static const uint32_t ranks[] = {2, 1, 1, 0};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(m.d.events[chain[i]].rank, ranks[i]);
    assert_int_equal(dependencies_chain(&m.d, from, chain, 1), 4);
    assert_int_equal(dependencies_chain(&m.d, DEPENDENCY_NONE, chain, 8), 0);
    finish(&m);
}

static void relative_latency_is_the_time_by_the_median_of_the_size(void **state)
{
    (void)state;
    static struct program p;
    memset(&p, 0, sizeof p);
    static const int64_t took[] = {96, 196, 396};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t small = program_send(&p, 1000 * (i + 1), 0, 1, 0, 8);
        program_receive(&p, 1000 * (i + 1) + took[i], small);
    }
    uint32_t large = program_send(&p, 5000, 0, 1, 1, 1 << 20);
    program_receive(&p, 9000, large);
    struct made m = make(&p);
    static const double latency[] = {0.5, 1, 2, 1};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t edge = event_of(&m.d, 0, i)->edge;
        assert_true(fabs(m.d.ranks.edges[edge].latency - latency[i]) < 1e-9);
    }
    assert_int_equal(m.d.ranks.edges[event_of(&m.d, 0, 0)->edge].transfer_ns, 100);
    assert_true(fabs(m.d.ranks.lanes[1].latency - 4.5 / 4) < 1e-9);
    finish(&m);
}

static void where_the_reference_of_the_job_is_known_latency_is_by_that(void **state)
{
    (void)state;
    static struct program p;
    struct made m = {.calls = {0}};
    memset(&p, 0, sizeof p);
    program_receive(&p, 1196, program_send(&p, 1000, 0, 1, 0, 8));
    program_receive(&p, 2396, program_send(&p, 2000, 0, 1, 0, 16));
    program_record(&p, &m.calls, NULL, NULL, 2, 0);
    const struct wire_criterion_row criteria[] = {
        {.locality = 0, .size_class = 8, .reference_ns = 10, .messages = 5},
        {.locality = 1, .size_class = 8, .reference_ns = 50, .messages = 5},
        {.locality = 1, .size_class = 16, .reference_ns = 50, .messages = 0}, /* interpolated */
    };
    const struct dependency_wishes wishes = {.criteria = criteria, .criteria_count = 3};
    assert_int_equal(dependencies_make(&m.d, &m.calls, &wishes), 0);
    assert_true(fabs(m.d.ranks.edges[event_of(&m.d, 0, 0)->edge].latency - 4) < 1e-9);
    assert_true(fabs(m.d.ranks.edges[event_of(&m.d, 0, 1)->edge].latency - 1) < 1e-9);
    assert_int_equal(m.d.counts.referenced, 1);
    finish(&m);
}

/* Messages of ranks 0 to 3: 4, 1, 2, 1. Mean 2, mean deviation 1. */
static void load_balance_is_the_deviation_by_the_mean_deviation(void **state)
{
    (void)state;
    static struct program p;
    memset(&p, 0, sizeof p);
    static const uint32_t to[] = {1, 2, 2, 3};
    for (uint32_t i = 0; i < 4; i++)
        program_receive(&p, 1050 + 100 * i, program_send(&p, 1000 + 100 * i, 0, to[i], 0, 8));
    struct made m = make(&p);
    static const double balance[] = {2, 1, 0, 1};
    for (uint32_t i = 0; i < 4; i++)
        assert_true(fabs(m.d.ranks.lanes[i].balance - balance[i]) < 1e-9);
    finish(&m);
}

static struct dependency_record record(uint64_t number, int64_t at_ns, int64_t peer, unsigned flags)
{
    return (struct dependency_record){.number = number,
                                      .comm = 1,
                                      .bytes = 8,
                                      .begin_ns = at_ns,
                                      .end_ns = at_ns + 1,
                                      .posted_ns = at_ns,
                                      .peer = peer,
                                      .flags = flags};
}

static void add(struct dependency_calls *calls, uint32_t thread, struct dependency_record r)
{
    assert_int_equal(dependency_calls_add(calls, thread, &r), 0);
}

static void receives_take_messages_in_the_order_of_their_posts_not_of_their_ends(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    uint32_t from = dependency_calls_thread(&m.calls, 0, 0, host, INT64_MAX);
    uint32_t to = dependency_calls_thread(&m.calls, 1, 0, host, INT64_MAX);
    add(&m.calls, from, record(0, 100, 1, EVENT_SEND | EVENT_POST));
    add(&m.calls, from, record(1, 200, 1, EVENT_SEND | EVENT_POST));
    struct dependency_record second = record(0, 300, 0, EVENT_RECV | EVENT_DONE);
    struct dependency_record first = record(1, 400, 0, EVENT_RECV | EVENT_DONE);
    first.posted_ns = 10;
    second.posted_ns = 20;
    add(&m.calls, to, second);
    add(&m.calls, to, first);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(m.d.counts.matched, 2);
    assert_int_equal(event_of(&m.d, 0, 0)->match, event_of(&m.d, 1, 1) - m.d.events);
    assert_int_equal(event_of(&m.d, 0, 1)->match, event_of(&m.d, 1, 0) - m.d.events);
    finish(&m);
}

/* Three ranks pass messages round with MPI_Sendrecv. Rank 0 enters it later by 500; so rank 1
 * leaves it later. @param until_ns  0, or until when rank 1 has been waiting, for what rank 0 never
 * sends */
static struct made exchange_in_a_ring(int64_t until_ns)
{
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    for (uint32_t rank = 0; rank < 3; rank++) {
        const uint32_t thread = dependency_calls_thread(&m.calls, rank, 0, host, INT64_MAX);
        const int64_t begin_ns = rank == 0 ? 600 : 100;
        struct dependency_record sent =
            record(0, begin_ns, (rank + 1) % 3, EVENT_SEND | EVENT_POST | EVENT_DONE);
        sent.call = CALL_Sendrecv;
        sent.end_ns = rank == 2 ? 110 : 610;
        if (until_ns > 0 && rank == 0)
            continue;
        if (until_ns > 0 && rank == 1) {
            sent.running = 1;
            sent.end_ns = until_ns;
        }
        add(&m.calls, thread, sent);
        struct dependency_record received = sent;
        received.number = 1;
        received.peer = (rank + 2) % 3;
        received.flags = EVENT_RECV | EVENT_POST | EVENT_DONE;
        add(&m.calls, thread, received);
    }
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    return m;
}

static void who_waits_in_a_send_and_receive_has_not_sent_late(void **state)
{
    (void)state;
    struct made m = exchange_in_a_ring(0);
    assert_int_equal(m.d.counts.matched, 3);
    assert_int_equal(event_of(&m.d, 0, 0)->caused_ns, 500);
    for (uint32_t rank = 1; rank < 3; rank++) {
        assert_int_equal(event_of(&m.d, rank, 0)->lateness_ns, 0);
        assert_int_equal(event_of(&m.d, rank, 0)->caused_ns, 0);
        assert_int_equal(event_of(&m.d, rank, 1)->caused_ns, 0);
    }
    assert_int_equal(event_of(&m.d, 1, 1)->lateness_ns, 500); /* inherited */
    finish(&m);
    m = exchange_in_a_ring(99999);
    assert_int_equal(event_of(&m.d, 1, 0)->caused_ns, 0);
    finish(&m);
}

/* Ranks 0 and 2 send to 1 and 3, of which rank 3 comes 500 later, and then to 4 and 5. */
static void a_send_that_waited_for_its_receiver_was_not_late(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0), threads[6];
    for (uint32_t rank = 0; rank < 6; rank++)
        threads[rank] = dependency_calls_thread(&m.calls, rank, 0, host, INT64_MAX);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const int late = rank >= 2;
        struct dependency_record r = record(0, rank == 3 ? 600 : 100, rank ^ 1,
                                            rank % 2 == 0 ? EVENT_SEND | EVENT_POST | EVENT_DONE
                                                          : EVENT_RECV | EVENT_POST | EVENT_DONE);
        r.call = rank % 2 == 0 ? CALL_Send : CALL_Recv;
        r.end_ns = late ? 610 : 110;
        add(&m.calls, threads[rank], r);
        if (rank % 2 == 0)
            add(&m.calls, threads[rank],
                record(1, late ? 620 : 120, 4 + late, EVENT_SEND | EVENT_POST | EVENT_DONE));
    }
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(event_of(&m.d, 2, 0)->caused_ns, 0);
    assert_int_equal(event_of(&m.d, 3, 0)->caused_ns, 500);
    assert_int_equal(event_of(&m.d, 2, 1)->lateness_ns, 511); /* since 110, of rank 1 */
    assert_int_equal(event_of(&m.d, 2, 1)->caused_ns, 11);    /* the rest its receiver has */
    finish(&m);
}

/* As where the receiver does not come. */
static void a_send_that_goes_on_is_not_late_by_that(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct dependency_record sent = record(0, 100, 2, EVENT_SEND | EVENT_POST | EVENT_DONE);
        sent.call = CALL_Send;
        sent.running = rank == 1;
        sent.end_ns = rank == 1 ? 99999 : 101;
        add(&m.calls, dependency_calls_thread(&m.calls, rank, 0, host, INT64_MAX), sent);
    }
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(event_of(&m.d, 1, 0)->lateness_ns, 0);
    finish(&m);
}

static void what_is_no_message_is_no_event_and_what_is_not_known_is_counted(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    uint32_t t = dependency_calls_thread(&m.calls, 0, 0, host, INT64_MAX);
    add(&m.calls, t, record(0, 100, PEER_NULL, EVENT_SEND | EVENT_POST));
    add(&m.calls, t, record(1, 110, 1, EVENT_RECV | EVENT_POST));
    add(&m.calls, t, record(2, 120, 1, EVENT_SEND | EVENT_DONE));
    add(&m.calls, t, record(3, 130, 1, EVENT_SEND | EVENT_FAILED));
    add(&m.calls, t, record(4, 140, PEER_UNKNOWN, EVENT_SEND | EVENT_POST));
    struct dependency_record no_comm = record(5, 150, 1, EVENT_SEND | EVENT_POST);
    no_comm.comm = 0;
    add(&m.calls, t, no_comm);
    struct dependency_record running = record(6, 160, 1, EVENT_RECV | EVENT_POST | EVENT_DONE);
    running.running = 1;
    add(&m.calls, t, running);
    assert_int_equal(m.calls.count, 0);
    assert_int_equal(m.calls.unknown, 2);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(m.d.event_count, 0);
    assert_int_equal(m.d.ranks.layers, 0);
    finish(&m);
}

static void a_thread_begins_again_after_a_gap_and_at_a_cancelled_send(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    uint32_t t = dependency_calls_thread(&m.calls, 0, 0, host, INT64_MAX);
    add(&m.calls, t, record(0, 100, 1, EVENT_SEND | EVENT_POST));
    add(&m.calls, t, record(0, 100, 1, EVENT_SEND | EVENT_POST)); /* arrives twice */
    assert_int_equal(m.calls.count, 1);
    assert_true(m.calls.threads[t].complete);
    add(&m.calls, t, record(3, 130, 1, EVENT_SEND | EVENT_POST));
    assert_int_equal(m.calls.gaps, 1);
    assert_false(m.calls.threads[t].complete);
    add(&m.calls, t, record(4, 140, 1, EVENT_SEND | EVENT_CANCELLED));
    add(&m.calls, t, record(5, 150, 1, EVENT_SEND | EVENT_POST));
    assert_int_equal(m.calls.gaps, 2);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(m.d.event_count, 1);
    assert_int_equal(m.d.events[0].begin_ns, 150);
    finish(&m);
}

static void records_that_contradict_each_other_are_rejected_and_never_a_cycle(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0);
    uint32_t a = dependency_calls_thread(&m.calls, 0, 0, host, INT64_MAX);
    uint32_t b = dependency_calls_thread(&m.calls, 1, 0, host, INT64_MAX);
    add(&m.calls, a, record(0, 100, 1, EVENT_RECV | EVENT_DONE));
    add(&m.calls, b, record(0, 110, 0, EVENT_RECV | EVENT_DONE));
    add(&m.calls, a, record(1, 120, 1, EVENT_SEND | EVENT_POST));
    add(&m.calls, b, record(1, 130, 0, EVENT_SEND | EVENT_POST));
    struct dependency_record other = record(2, 140, 1, EVENT_SEND | EVENT_POST);
    other.tag = 7;
    add(&m.calls, a, other);
    other = record(2, 150, 0, EVENT_RECV | EVENT_DONE);
    other.tag = 7;
    other.bytes = 9;
    add(&m.calls, b, other);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(m.d.counts.matched, 1);
    assert_int_equal(m.d.counts.rejected, 2);
    assert_int_equal(m.d.counts.unmatched, 4);
    finish(&m);
}

static int is_low(void *user, uint32_t rank)
{
    (void)user;
    return rank < 2;
}

static void a_span_and_ranks_cut_the_graph_and_what_is_cut_is_counted(void **state)
{
    (void)state;
    static struct program p;
    three_processes(&p);
    struct made m = {.calls = {0}};
    program_record(&p, &m.calls, NULL, NULL, 3, 0);
    const struct dependency_wishes span = {.from_ns = 1015, .to_ns = 1055};
    assert_int_equal(dependencies_make(&m.d, &m.calls, &span), 0);
    assert_int_equal(m.d.counts.ends, 4);
    assert_int_equal(m.d.counts.matched, 1);
    assert_int_equal(m.d.counts.cut, 2);
    assert_int_equal(m.d.counts.unmatched, 2);
    dependencies_finish(&m.d);
    const struct dependency_wishes ranks = {.has_rank = is_low};
    assert_int_equal(dependencies_make(&m.d, &m.calls, &ranks), 0);
    assert_int_equal(m.d.ranks.lane_count, 2);
    assert_int_equal(m.d.counts.matched, 2);
    assert_int_equal(m.d.counts.cut, 2);
    finish(&m);
}

static void a_capture_gives_the_same_ends_however_often_it_arrives(void **state)
{
    (void)state;
    struct wire_capture_thread_row thread = {.rank = 3, .records = 12};
    struct wire_comm_row comms[] = {{.name = ""}, {.id = 1, .name = "MPI_COMM_WORLD"}};
    struct wire_capture_event_row events[] = {
        {.number = 10,
         .kind = EVENT_CALL,
         .begin_ns = -200,
         .length_ns = 50,
         .peer = 4,
         .comm = 1,
         .bytes = 8,
         .request = 5,
         .flags = EVENT_SEND | EVENT_POST},
        {.number = 11,
         .kind = EVENT_PART,
         .begin_ns = -100,
         .length_ns = 50,
         .peer = 4,
         .comm = 1,
         .bytes = 8,
         .request = 6,
         .flags = EVENT_RECV | EVENT_DONE,
         .posted_ns = -190},
        {.number = 12, .kind = EVENT_CALL, .thread = 9, .flags = EVENT_SEND | EVENT_POST},
        {.number = 12, .kind = EVENT_REGION, .peer = 1, .flags = EVENT_SEND | EVENT_POST},
    };
    const struct wire_capture capture = {.host = "n7",
                                         .at_ns = 100000,
                                         .clock_error_ns = 30,
                                         .threads = &thread,
                                         .threads_count = 1,
                                         .events = events,
                                         .events_count = 4,
                                         .comms = comms,
                                         .comms_count = 2};
    struct made m = {.calls = {0}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(dependency_calls_add_capture(&m.calls, &capture), 0);
    assert_int_equal(m.calls.count, 2);
    assert_int_equal(m.calls.gaps, 0);
    assert_int_equal(m.calls.left_out, 2); /* of a thread that the message does not have */
    assert_int_equal(m.calls.ends[0].begin_ns, 99800);
    assert_int_equal(m.calls.ends[1].posted_ns, 99810);
    assert_int_equal(m.calls.ends[1].end_ns, 99950);
    assert_string_equal(m.calls.hosts[0].name, "n7");
    assert_int_equal(m.calls.hosts[0].error_ns, 30);
    finish(&m);
}

/* Rank 0 sends three messages, and is in a call from 400 on. Rank 1 receives four, the last of them
 * at 500, and the second and third just after rank 0 has sent the next one. */
static struct made capture_a_call_in_progress(enum call call, int64_t *paired_with)
{
    struct wire_capture_thread_row threads[] = {{.rank = 0, .records = 9},
                                                {.rank = 1, .records = 9}};
    struct wire_comm_row comms[] = {{.id = 1, .name = "MPI_COMM_WORLD"}};
    static const int64_t sent[] = {100, 200, 300}, received[] = {110, 210, 310, 500};
    struct wire_capture_event_row events[8] = {{0}};
    size_t count = 0;
    for (uint64_t i = 0; i < 3; i++)
        events[count++] =
            (struct wire_capture_event_row){.number = 5 + i,
                                            .kind = EVENT_CALL,
                                            .call = CALL_Send,
                                            .begin_ns = sent[i] - 1000,
                                            .length_ns = 1,
                                            .peer = 1,
                                            .bytes = 8,
                                            .flags = EVENT_SEND | EVENT_POST | EVENT_DONE};
    events[count++] = (struct wire_capture_event_row){.number = 8,
                                                      .kind = EVENT_CALL,
                                                      .call = call,
                                                      .begin_ns = 400 - 1000,
                                                      .length_ns = 600,
                                                      .running = 1,
                                                      .peer = PEER_NONE};
    for (uint64_t i = 0; i < 4; i++)
        events[count++] =
            (struct wire_capture_event_row){.thread = 1,
                                            .number = 5 + i,
                                            .kind = EVENT_CALL,
                                            .call = CALL_Recv,
                                            .begin_ns = received[i] - 1000 - 5,
                                            .length_ns = 5,
                                            .peer = 0,
                                            .bytes = 8,
                                            .flags = EVENT_RECV | EVENT_POST | EVENT_DONE};
    const struct wire_capture capture = {.host = "n7",
                                         .at_ns = 1000,
                                         .threads = threads,
                                         .threads_count = 2,
                                         .events = events,
                                         .events_count = count,
                                         .comms = comms,
                                         .comms_count = 1};
    struct made m = {.calls = {0}};
    assert_int_equal(dependency_calls_add_capture(&m.calls, &capture), 0);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(m.d.ranks.edge_count, 3);
    const struct dependency_edge *last = &m.d.ranks.edges[2];
    *paired_with = m.d.events[last->receive].end_ns;
    return m;
}

static void a_rank_that_waits_has_sent_all_that_its_partners_received(void **state)
{
    (void)state;
    int64_t received_ns;
    struct made m = capture_a_call_in_progress(CALL_Barrier, &received_ns);
    assert_int_equal(received_ns, 500);
    finish(&m);
    m = capture_a_call_in_progress(CALL_Startall, &received_ns); /* may have sent the fourth */
    assert_int_equal(received_ns, 310);
    finish(&m);
}

static void threads_of_a_rank_are_one_sequence_in_the_order_of_time(void **state)
{
    (void)state;
    struct made m = {.calls = {0}};
    uint32_t host = dependency_calls_host(&m.calls, "n", 0), from[2];
    for (uint32_t t = 0; t < 2; t++)
        from[t] = dependency_calls_thread(&m.calls, 0, t, host, INT64_MAX);
    uint32_t to = dependency_calls_thread(&m.calls, 1, 0, host, INT64_MAX);
    add(&m.calls, from[0], record(0, 100, 1, EVENT_SEND | EVENT_POST));
    add(&m.calls, from[0], record(1, 300, 1, EVENT_SEND | EVENT_POST));
    add(&m.calls, from[1], record(0, 200, 1, EVENT_SEND | EVENT_POST));
    for (uint32_t i = 0; i < 3; i++)
        add(&m.calls, to, record(i, 400 + i, 0, EVENT_RECV | EVENT_DONE));
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(event_of(&m.d, 0, i)->begin_ns, 100 * (i + 1));
        assert_int_equal(event_of(&m.d, 0, i)->step, i);
        assert_int_equal(event_of(&m.d, 0, i)->match, event_of(&m.d, 1, i) - m.d.events);
    }
    assert_int_equal(m.d.ranks.node_count, 2);
    finish(&m);
}

static void a_thread_without_records_is_known_whole_only_if_it_wrote_none(void **state)
{
    (void)state;
    for (uint64_t written = 0; written < 2; written++) {
        struct made m = {.calls = {0}};
        uint32_t host = dependency_calls_host(&m.calls, "n", 0);
        uint32_t from = dependency_calls_thread(&m.calls, 0, 0, host, 1000);
        uint32_t silent = dependency_calls_thread(&m.calls, 0, 1, host, 1000);
        uint32_t to = dependency_calls_thread(&m.calls, 1, 0, host, 1000);
        m.calls.threads[silent].records = written;
        add(&m.calls, from, record(0, 100, 1, EVENT_SEND | EVENT_POST));
        add(&m.calls, to, record(0, 200, 0, EVENT_RECV | EVENT_DONE));
        assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
        assert_int_equal(m.d.counts.matched, 1);
        assert_int_equal(m.d.counts.aligned, written);
        finish(&m);
    }
}

static void hosts_put_ranks_together_and_keep_layers_and_sums(void **state)
{
    (void)state;
    static struct program p;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        program_run(&p, 12, 600, seed);
        struct made m = {.calls = {0}};
        struct dependency_graph hosts;
        program_record(&p, &m.calls, NULL, NULL, 3, 0);
        assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
        assert_int_equal(dependencies_aggregate(&m.d, DEPENDENCY_NONE, &hosts), 0);
        assert_int_equal(hosts.lane_count, 3);
        assert_int_equal(hosts.layers, m.d.ranks.layers);
        uint64_t messages = 0, bytes = 0, ranks_bytes = 0, events = 0;
        for (uint32_t i = 0; i < hosts.edge_count; i++) {
            const struct dependency_edge *e = &hosts.edges[i];
            assert_true(hosts.nodes[e->from].layer < hosts.nodes[e->to].layer);
            messages += e->messages;
            bytes += e->bytes;
        }
        for (uint32_t i = 0; i < m.d.ranks.edge_count; i++)
            ranks_bytes += m.d.ranks.edges[i].bytes;
        for (uint32_t i = 0; i < hosts.node_count; i++)
            events += hosts.nodes[i].count;
        assert_int_equal(messages, m.d.ranks.edge_count);
        assert_int_equal(bytes, ranks_bytes);
        assert_int_equal(events, m.d.event_count);
        dependency_graph_finish(&hosts);
        finish(&m);
    }
}

/* The mean relative latency of the messages that nodes, or the lanes, of a host receive. */
static double mean_latency_of(const struct dependency_graph *ranks, uint32_t host, int64_t layer)
{
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < ranks->edge_count; i++) {
        const struct dependency_edge *e = &ranks->edges[i];
        const struct dependency_node *n = &ranks->nodes[e->to];
        if (ranks->lanes[n->lane].host != host || e->latency <= 0 ||
            (layer >= 0 && n->layer != layer))
            continue;
        sum += e->latency;
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static void the_latency_of_a_host_is_the_mean_over_the_messages_that_it_received(void **state)
{
    (void)state;
    static struct program p;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint32_t first[12] = {0};
        struct made m = {.calls = {0}};
        struct dependency_graph hosts;
        program_run(&p, 12, 600, seed);
        first[3] = 40; /* messages to others are not matched */
        program_record(&p, &m.calls, first, NULL, 3, 0);
        assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
        assert_int_equal(dependencies_aggregate(&m.d, DEPENDENCY_NONE, &hosts), 0);
        for (uint32_t i = 0; i < hosts.lane_count; i++)
            assert_true(fabs(hosts.lanes[i].latency -
                             mean_latency_of(&m.d.ranks, hosts.lanes[i].host, -1)) < 1e-9);
        for (uint32_t i = 0; i < hosts.node_count; i++) {
            const struct dependency_node *n = &hosts.nodes[i];
            const uint32_t host = hosts.lanes[n->lane].host;
            assert_true(fabs(n->latency - mean_latency_of(&m.d.ranks, host, n->layer)) < 1e-9);
        }
        dependency_graph_finish(&hosts);
        finish(&m);
    }
}

/* A message that takes long comes first, and many follow it that do not. */
static void the_transfer_time_between_hosts_is_the_mean_of_their_messages(void **state)
{
    (void)state;
    enum { MESSAGES = 200 };
    static struct program p;
    struct made m = {.calls = {0}};
    struct dependency_graph hosts;
    uint32_t messages[MESSAGES];
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < MESSAGES; i++)
        messages[i] = program_send(&p, i == 0 ? 1000 : 10000 + i, 0, 1, 0, 8);
    for (uint32_t i = 0; i < MESSAGES; i++)
        program_receive(&p, 11000 + i, messages[i]);
    program_record(&p, &m.calls, NULL, NULL, 2, 0);
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(dependencies_aggregate(&m.d, DEPENDENCY_NONE, &hosts), 0);
    double sum = 0;
    for (uint32_t i = 0; i < m.d.ranks.edge_count; i++)
        sum += (double)m.d.ranks.edges[i].transfer_ns;
    assert_int_equal(hosts.edge_count, 1);
    assert_int_equal(hosts.edges[0].transfer_ns, (int64_t)(sum / MESSAGES));
    dependency_graph_finish(&hosts);
    finish(&m);
}

static void the_ranks_of_an_open_host_keep_their_lanes_and_nodes(void **state)
{
    (void)state;
    static struct program p;
    struct made m = {.calls = {0}};
    struct dependency_graph hosts;
    program_run(&p, 9, 400, 3);
    program_record(&p, &m.calls, NULL, NULL, 3, 0); /* ranks 1, 4 and 7 are on host 1 */
    assert_int_equal(dependencies_make(&m.d, &m.calls, NULL), 0);
    assert_int_equal(dependencies_aggregate(&m.d, 1, &hosts), 0);
    static const uint32_t ids[] = {0, 1, 4, 7, 2}, ranks[] = {3, 1, 1, 1, 3};
    assert_int_equal(hosts.lane_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(hosts.lanes[i].id, ids[i]);
        assert_int_equal(hosts.lanes[i].ranks, ranks[i]);
        assert_int_equal(hosts.lanes[i].is_host, ranks[i] == 3);
    }
    uint32_t of_ranks = 0, apart = 0;
    for (uint32_t i = 0; i < m.d.ranks.node_count; i++)
        of_ranks += m.d.ranks.lanes[m.d.ranks.nodes[i].lane].host == 1;
    for (uint32_t i = 0; i < hosts.node_count; i++) {
        const struct dependency_node *n = &hosts.nodes[i];
        if (hosts.lanes[n->lane].is_host)
            continue;
        apart++;
        assert_int_equal(m.d.events[n->first].rank, hosts.lanes[n->lane].id);
    }
    assert_int_equal(apart, of_ranks);
    dependency_graph_finish(&hosts);
    finish(&m);
}

static void without_memory_there_is_an_error_and_nothing_else(void **state)
{
    (void)state;
    static struct program p;
    struct made m = {.calls = {0}};
    struct dependency_graph hosts;
    program_run(&p, 6, 200, 1);
    program_record(&p, &m.calls, NULL, NULL, 2, 0);
    size_t used = memory_used();
    for (unsigned long number = 1, failed = 1; failed; number++) {
        memory_fail(number);
        int code = dependencies_make(&m.d, &m.calls, NULL);
        int aggregated =
            code == 0 ? dependencies_aggregate(&m.d, DEPENDENCY_NONE, &hosts) : -ENOMEM;
        failed = (unsigned long)memory_failed();
        memory_fail(0);
        assert_int_equal(code == 0 && aggregated == 0, !failed);
        if (aggregated == 0)
            dependency_graph_finish(&hosts);
        dependencies_finish(&m.d);
        assert_int_equal(memory_used(), used);
    }
    dependency_calls_finish(&m.calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_processes_of_pclvis_have_its_vectors_and_its_graph),
        cmocka_unit_test(lateness_is_caused_where_it_begins_and_inherited_by_those_who_wait),
        cmocka_unit_test(the_critical_chain_goes_back_to_the_latest_of_those_before),
        cmocka_unit_test(relative_latency_is_the_time_by_the_median_of_the_size),
        cmocka_unit_test(where_the_reference_of_the_job_is_known_latency_is_by_that),
        cmocka_unit_test(load_balance_is_the_deviation_by_the_mean_deviation),
        cmocka_unit_test(receives_take_messages_in_the_order_of_their_posts_not_of_their_ends),
        cmocka_unit_test(who_waits_in_a_send_and_receive_has_not_sent_late),
        cmocka_unit_test(a_send_that_waited_for_its_receiver_was_not_late),
        cmocka_unit_test(a_send_that_goes_on_is_not_late_by_that),
        cmocka_unit_test(what_is_no_message_is_no_event_and_what_is_not_known_is_counted),
        cmocka_unit_test(a_thread_begins_again_after_a_gap_and_at_a_cancelled_send),
        cmocka_unit_test(records_that_contradict_each_other_are_rejected_and_never_a_cycle),
        cmocka_unit_test(a_span_and_ranks_cut_the_graph_and_what_is_cut_is_counted),
        cmocka_unit_test(a_capture_gives_the_same_ends_however_often_it_arrives),
        cmocka_unit_test(a_rank_that_waits_has_sent_all_that_its_partners_received),
        cmocka_unit_test(threads_of_a_rank_are_one_sequence_in_the_order_of_time),
        cmocka_unit_test(a_thread_without_records_is_known_whole_only_if_it_wrote_none),
        cmocka_unit_test(hosts_put_ranks_together_and_keep_layers_and_sums),
        cmocka_unit_test(the_latency_of_a_host_is_the_mean_over_the_messages_that_it_received),
        cmocka_unit_test(the_transfer_time_between_hosts_is_the_mean_of_their_messages),
        cmocka_unit_test(the_ranks_of_an_open_host_keep_their_lanes_and_nodes),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
