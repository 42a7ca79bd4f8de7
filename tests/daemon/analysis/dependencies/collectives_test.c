/* Collectives in the graph of dependencies, and receives that one call completes. */
#include "daemon/analysis/dependencies/dependencies.h"

#include "holter/call.h"
#include "holter/size_class.h"
#include "tests/daemon/analysis/dependencies/message_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 8u

struct job {
    struct dependency_calls calls;
    struct dependencies d;
    uint64_t next[RANKS]; /* by rank: number of its next record */
};

/* @param hosts  rank r is on host r % hosts */
static struct job *job_create(uint32_t ranks, uint32_t hosts, int64_t read_ns, uint64_t first)
{
    struct job *j = calloc(1, sizeof *j);
    for (uint32_t r = 0; r < ranks; r++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", r % hosts);
        uint32_t host = dependency_calls_host(&j->calls, name, 0);
        assert_int_equal(dependency_calls_thread(&j->calls, r, 0, host, read_ns), r);
        j->next[r] = first;
    }
    return j;
}

static void job_destroy(struct job *j)
{
    dependencies_finish(&j->d);
    dependency_calls_finish(&j->calls);
    free(j);
}

static void add(struct job *j, uint32_t rank, struct dependency_record r)
{
    r.number = j->next[rank]++;
    r.comm = r.comm == 0 ? 1 : r.comm;
    assert_int_equal(dependency_calls_add(&j->calls, rank, &r), 0);
}

static void add_collective(struct job *j, uint32_t rank, enum call call, int64_t root,
                           int64_t begin_ns, int64_t end_ns)
{
    add(j, rank,
        (struct dependency_record){.call = call,
                                   .comm_rank = rank + 1,
                                   .peer = root,
                                   .tag = -1,
                                   .begin_ns = begin_ns,
                                   .end_ns = end_ns});
}

static void add_send(struct job *j, uint32_t rank, uint32_t to, int64_t at_ns)
{
    add(j, rank,
        (struct dependency_record){.call = CALL_Isend,
                                   .peer = to,
                                   .bytes = 8,
                                   .begin_ns = at_ns,
                                   .end_ns = at_ns + 1,
                                   .flags = EVENT_SEND | EVENT_POST});
}

static void add_receive(struct job *j, uint32_t rank, uint32_t from, int64_t begin_ns,
                        int64_t end_ns)
{
    add(j, rank,
        (struct dependency_record){.call = CALL_Waitall,
                                   .peer = from,
                                   .bytes = 8,
                                   .begin_ns = begin_ns,
                                   .end_ns = end_ns,
                                   .posted_ns = begin_ns - 1,
                                   .flags = EVENT_RECV | EVENT_DONE});
}

static void make(struct job *j)
{
    assert_int_equal(dependencies_make(&j->d, &j->calls, NULL), 0);
}

/* The event of a rank by its index in that rank. */
static const struct dependency_event *event_of(const struct job *j, uint32_t rank, uint32_t index)
{
    for (uint32_t i = 0; i < j->d.event_count; i++)
        if (j->d.events[i].rank == rank)
            return &j->d.events[i + index];
    return NULL;
}

/* Rank 0 sends to rank 1, late; all meet in a barrier, for which ranks 0 and 2 wait for rank 1;
 * rank 2 then sends to rank 0. */
static struct job *a_late_message_before_a_barrier(void)
{
    struct job *j = job_create(3, 1, INT64_MAX, 0);
    add_send(j, 0, 1, 500);
    add_receive(j, 1, 0, 100, 900);
    add_collective(j, 0, CALL_Barrier, -1, 510, 960);
    add_collective(j, 1, CALL_Barrier, -1, 910, 955);
    add_collective(j, 2, CALL_Barrier, -1, 200, 958);
    add_send(j, 2, 0, 970);
    add_receive(j, 0, 2, 965, 990);
    make(j);
    return j;
}

static void the_chain_goes_through_the_last_one_that_entered_a_collective(void **state)
{
    (void)state;
    struct job *j = a_late_message_before_a_barrier();
    uint32_t chain[8], last = (uint32_t)(event_of(j, 0, 3) - j->d.events);
    static const struct {
        uint32_t rank;
        enum call call;
        int receive;
    } expected[] = {{0, CALL_Waitall, 1}, {2, CALL_Isend, 0},   {2, CALL_Barrier, 1},
                    {1, CALL_Barrier, 0}, {1, CALL_Waitall, 1}, {0, CALL_Isend, 0}};
    assert_int_equal(dependencies_chain(&j->d, last, chain, 8), 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct dependency_event *e = &j->d.events[chain[i]];
        assert_int_equal(e->rank, expected[i].rank);
        assert_int_equal(e->call, expected[i].call);
        assert_int_equal(e->receive, expected[i].receive);
    }
    job_destroy(j);
}

static void who_enters_a_barrier_last_is_late_by_the_wait_of_the_first(void **state)
{
    (void)state;
    struct job *j = a_late_message_before_a_barrier();
    assert_int_equal(j->d.collective_count, 1);
    const struct dependency_collective *c = &j->d.collectives[0];
    assert_int_equal(c->count, 3);
    assert_int_equal(c->first_ns, 200);
    assert_int_equal(c->last_ns, 910);
    assert_int_equal(c->end_ns, 960);
    assert_int_equal(j->d.events[c->awaited].rank, 1);
    assert_int_equal(c->lateness_ns, 710);
    assert_int_equal(event_of(j, 1, 1)->lateness_ns, 710);
    /* Rank 2 came first although it did nothing before: all enter in one step. */
    for (uint32_t r = 0; r < 3; r++) {
        assert_int_equal(event_of(j, r, r < 2)->step, 2);
        assert_int_equal(event_of(j, r, r < 2 ? 2 : 1)->step, 3);
    }
    assert_true(dependencies_latest(&j->d) == (uint32_t)(event_of(j, 1, 1) - j->d.events));
    /* Leaving is late for nobody: the barrier ends for all at about one time. */
    assert_int_equal(event_of(j, 0, 2)->caused_ns, 0);
    job_destroy(j);
}

static void a_collective_is_no_message_and_its_ends_divide_nodes(void **state)
{
    (void)state;
    struct job *j = a_late_message_before_a_barrier();
    const struct dependency_graph *g = &j->d.ranks;
    assert_int_equal(j->d.counts.ends, 4);
    assert_int_equal(j->d.counts.matched, 2);
    assert_int_equal(j->d.counts.unmatched, 0);
    assert_int_equal(g->edge_count, 2);
    static const uint32_t lanes[] = {0, 0, 1, 1, 2, 2}, layers[] = {0, 3, 1, 2, 0, 2};
    assert_int_equal(g->node_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(g->nodes[i].lane, lanes[i]);
        assert_int_equal(g->nodes[i].layer, layers[i]);
    }
    assert_int_equal(j->d.collectives[0].layer, 2);
    assert_int_equal(g->lanes[0].messages, 2);
    assert_int_equal(g->nodes[5].sends, 1);
    assert_int_equal(g->nodes[5].receives, 0);
    job_destroy(j);
}

/* Who waits in a collective with root 1 of three ranks. */
static void waits_of(enum call call, int waits[3])
{
    struct job *j = job_create(3, 1, INT64_MAX, 0);
    for (uint32_t r = 0; r < 3; r++)
        add_collective(j, r, call, 1, 100 + 10 * r, 200);
    make(j);
    for (uint32_t r = 0; r < 3; r++)
        waits[r] = dependencies_waits_in_collective(&j->d, event_of(j, r, 1));
    job_destroy(j);
}

static void all_wait_for_the_root_of_a_broadcast_and_the_root_of_a_reduction_for_all(void **state)
{
    (void)state;
    static const struct {
        enum call call;
        int waits[3];
    } cases[] = {{CALL_Bcast, {1, 0, 1}},   {CALL_Scatterv, {1, 0, 1}},
                 {CALL_Reduce, {0, 1, 0}},  {CALL_Gather, {0, 1, 0}},
                 {CALL_Exscan, {0, 1, 1}},  {CALL_Neighbor_allgather, {0, 0, 0}},
                 {CALL_Alltoall, {1, 1, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int waits[3];
        waits_of(cases[i].call, waits);
        assert_memory_equal(waits, cases[i].waits, sizeof waits);
    }
}

static void ranks_of_a_collective_of_neighbours_have_a_place_and_wait_for_nobody(void **state)
{
    (void)state;
    struct job *j = job_create(3, 1, INT64_MAX, 0);
    add_send(j, 0, 1, 50);
    add_receive(j, 1, 0, 40, 90);
    for (uint32_t r = 0; r < 3; r++)
        add_collective(j, r, CALL_Neighbor_alltoallw, -1, 100 + 10 * r, 115 + 10 * r);
    make(j);
    const struct dependency_collective *c = &j->d.collectives[0];
    assert_int_equal(j->d.collective_count, 1);
    assert_int_equal(c->count, 3);
    assert_int_equal(c->awaited, DEPENDENCY_NONE);
    assert_int_equal(c->first_ns, 100);
    assert_int_equal(c->last_ns, 120);
    assert_int_equal(c->end_ns, 135);
    /* Rank 2 does nothing before: what rank 1 waits for does not put it later in the order. */
    assert_int_equal(event_of(j, 2, 0)->step, 0);
    assert_int_equal(event_of(j, 2, 1)->step, 1);
    assert_int_equal(event_of(j, 1, 1)->step, 2);
    job_destroy(j);
}

/* A row of five ranks, of which the last one enters late, twice; nobody waits for it before. */
static void a_late_rank_of_a_halo_exchange_delays_its_neighbour_and_later_the_next_one(void **state)
{
    (void)state;
    struct job *j = job_create(5, 2, INT64_MAX, 0);
    for (uint32_t r = 0; r < 5; r++) {
        int64_t first_ns = r == 4 ? 500 : 100 + r, left_ns = r > 2 ? 510 + r : 120 + r;
        int64_t second_ns = r < 3 ? 600 : 700;
        for (uint32_t k = 0; k < 2; k++)
            if (k == 0 ? r > 0 : r < 4)
                program_add_source(&j->calls, 1, r, k == 0 ? r - 1 : r + 1);
        add_collective(j, r, CALL_Neighbor_alltoall, -1, first_ns, left_ns);
        add_collective(j, r, CALL_Neighbor_alltoall, -1, left_ns + 20, second_ns + r);
    }
    make(j);
    assert_int_equal(j->d.counts.rejected, 0);
    assert_int_equal(j->d.collectives[0].awaited, DEPENDENCY_NONE);
    static const uint32_t awaited[2][5] = {{1, 2, 3, 4, 3}, {1, 2, 3, 4, 3}};
    for (uint32_t r = 0; r < 5; r++) {
        for (uint32_t k = 0; k < 2; k++) {
            const struct dependency_event *left = event_of(j, r, 2 * k + 1);
            assert_true(dependencies_waits_in_collective(&j->d, left));
            assert_int_equal(j->d.events[j->d.members[left->member].awaited].rank, awaited[k][r]);
        }
        /* What the late one caused comes to its neighbour at once, to the next one in the second
         * exchange, and to those further on not yet. */
        assert_int_equal(event_of(j, r, 0)->caused_ns, r == 4 ? 400 : r);
    }
    uint32_t chain[8], at = (uint32_t)(event_of(j, 2, 3) - j->d.events);
    assert_int_equal(dependencies_chain(&j->d, at, chain, 8), 4);
    static const uint32_t ranks[] = {2, 3, 3, 4};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(j->d.events[chain[i]].rank, ranks[i]);
    assert_int_equal(
        dependencies_chain(&j->d, (uint32_t)(event_of(j, 0, 3) - j->d.events), chain, 8), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(j->d.events[chain[i]].rank < 3);
    job_destroy(j);
}

/* Rank 0 waits for rank 1, which is 60 ns ahead of it; a round takes 100 ns. By their ends alone
 * call k of rank 0 is call k + 1 of rank 1, if the records do not begin with the first call. */
static const struct dependency_counts *wait_for_a_neighbour_ahead(struct job *j, uint64_t error_ns)
{
    program_add_source(&j->calls, 1, 0, 1);
    for (int64_t k = 1; k < 4; k++) {
        j->calls.hosts[k % 2].error_ns = error_ns;
        add_collective(j, 0, CALL_Neighbor_allgather, -1, 100 * k, 100 * k + 10);
        add_collective(j, 1, CALL_Neighbor_allgather, -1, 100 * k - 60, 100 * k - 50);
    }
    make(j);
    return &j->d.counts;
}

static void a_neighbour_that_entered_after_a_rank_had_left_is_not_waited_for(void **state)
{
    (void)state;
    struct job *whole = job_create(2, 2, INT64_MAX, 0), *part = job_create(2, 2, 500, 100);
    const struct dependency_counts *counts = wait_for_a_neighbour_ahead(whole, 0);
    assert_int_equal(counts->rejected, 0);
    assert_int_equal(counts->aligned_waits, 0);
    assert_true(dependencies_waits_in_collective(&whole->d, event_of(whole, 0, 1)));
    counts = wait_for_a_neighbour_ahead(part, 0);
    assert_int_equal(counts->rejected, 2);
    assert_int_equal(counts->aligned_waits, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_false(dependencies_waits_in_collective(&part->d, event_of(part, 0, 2 * i + 1)));
    job_destroy(whole);
    job_destroy(part);
}

static void
waits_for_neighbours_are_counted_as_aligned_where_records_begin_in_the_middle(void **state)
{
    (void)state;
    struct job *j = job_create(2, 2, 500, 100);
    const struct dependency_counts *counts = wait_for_a_neighbour_ahead(j, 20);
    assert_int_equal(counts->rejected, 0);
    assert_int_equal(counts->aligned_waits, 2);
    job_destroy(j);
}

static void a_rank_that_has_not_come_is_seen_by_who_is_in_the_call(void **state)
{
    (void)state;
    struct job *j = job_create(3, 1, 1000, 0);
    for (uint32_t r = 0; r < 2; r++)
        add(j, r,
            (struct dependency_record){.call = CALL_Barrier,
                                       .peer = -1,
                                       .begin_ns = 100 + 300 * r,
                                       .end_ns = 1000,
                                       .running = 1});
    make(j);
    assert_int_equal(j->d.collective_count, 1);
    assert_int_equal(j->d.collectives[0].count, 2);
    assert_int_equal(j->d.event_count, 2);
    assert_int_equal(j->d.members[0].leave, DEPENDENCY_NONE);
    assert_int_equal(event_of(j, 1, 0)->lateness_ns, 300);
    job_destroy(j);
}

/* Each rank has the newest calls of 40 rounds, each another number of them; one host's clock is
 * ahead. Collective k of the rounds begins at 1000 * k. */
static void rings_that_begin_at_different_collectives_give_those_that_were(void **state)
{
    (void)state;
    static const uint32_t kept[RANKS] = {40, 7, 31, 12, 40, 3, 22, 18};
    struct job *j = job_create(RANKS, 2, 50000, 100);
    for (uint32_t r = 0; r < RANKS; r++) {
        int64_t skew = r % 2 == 0 ? 0 : 60;
        j->calls.hosts[r % 2].error_ns = 80;
        for (uint32_t k = 40 - kept[r]; k < 40; k++)
            add_collective(j, r, k % 2 ? CALL_Allreduce : CALL_Barrier, -1,
                           1000 * (int64_t)k + 70 * ((r + k) % 8) + skew,
                           1000 * (int64_t)k + 900 + 5 * r + skew);
    }
    make(j);
    assert_int_equal(j->d.counts.rejected, 0);
    assert_int_equal(j->d.collective_count, 40);
    for (uint32_t k = 0; k < 40; k++) {
        const struct dependency_collective *c = &j->d.collectives[k];
        uint32_t expected = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            expected += kept[r] >= 40 - k;
        assert_int_equal(c->count, expected);
        for (uint32_t m = c->first; m < c->first + c->count; m++)
            assert_int_equal(j->d.events[j->d.members[m].enter].begin_ns / 1000, k);
    }
    job_destroy(j);
}

/* All ranks have the same id of it, and each is alone in it. */
static void collectives_on_mpi_comm_self_are_not_one(void **state)
{
    (void)state;
    struct job *j = job_create(2, 1, INT64_MAX, 0);
    for (uint32_t r = 0; r < 2; r++)
        add(j, r,
            (struct dependency_record){.call = CALL_Barrier,
                                       .comm = 2,
                                       .comm_size = 1,
                                       .peer = -1,
                                       .begin_ns = 100,
                                       .end_ns = 110});
    make(j);
    assert_int_equal(j->d.event_count, 0);
    job_destroy(j);
}

/* Two ranks say that they are in another call than the third, and two that each left a barrier
 * before it sent what the other one received before it entered. */
static void calls_that_contradict_each_other_are_rejected_and_never_a_cycle(void **state)
{
    (void)state;
    struct job *j = job_create(3, 1, INT64_MAX, 0);
    add_collective(j, 0, CALL_Barrier, -1, 100, 200);
    add_collective(j, 1, CALL_Allreduce, -1, 100, 200);
    add_collective(j, 2, CALL_Barrier, -1, 100, 200);
    make(j);
    assert_int_equal(j->d.counts.rejected, 1);
    assert_int_equal(j->d.collectives[0].count, 2);
    job_destroy(j);
    j = job_create(2, 1, INT64_MAX, 0);
    for (uint32_t r = 0; r < 2; r++) {
        add_receive(j, r, 1 - r, 100, 150);
        add_collective(j, r, CALL_Barrier, -1, 200, 300 + r);
        add_send(j, r, 1 - r, 400);
    }
    make(j);
    assert_true(j->d.counts.rejected > 0);
    assert_int_equal(2 * j->d.counts.matched + j->d.counts.unmatched, 4);
    for (uint32_t i = 0; i < j->d.ranks.edge_count; i++) {
        const struct dependency_edge *e = &j->d.ranks.edges[i];
        assert_true(j->d.ranks.nodes[e->from].layer < j->d.ranks.nodes[e->to].layer);
    }
    job_destroy(j);
}

/* A rank starts an immediate collective. */
static void add_start(struct job *j, uint32_t rank, enum call call, uint32_t request, int64_t at_ns)
{
    add(j, rank,
        (struct dependency_record){.call = call,
                                   .request = request,
                                   .peer = PEER_NONE,
                                   .tag = TAG_NONE,
                                   .begin_ns = at_ns,
                                   .end_ns = at_ns + 1,
                                   .flags = EVENT_POST});
}

static void add_completion(struct job *j, uint32_t rank, uint32_t request, int64_t posted_ns,
                           int64_t begin_ns, int64_t end_ns)
{
    add(j, rank,
        (struct dependency_record){.call = CALL_Waitall,
                                   .request = request,
                                   .peer = PEER_NONE,
                                   .tag = TAG_NONE,
                                   .begin_ns = begin_ns,
                                   .end_ns = end_ns,
                                   .posted_ns = posted_ns,
                                   .flags = EVENT_DONE});
}

static void an_immediate_collective_is_entered_at_its_start_and_left_at_its_completion(void **state)
{
    (void)state;
    struct job *j = job_create(3, 1, 1000, 0);
    for (uint32_t r = 0; r < 3; r++)
        add_start(j, r, CALL_Iallreduce, 7, 100 + 100 * r);
    add_send(j, 0, 1, 250);
    add_receive(j, 1, 0, 240, 270);
    add_completion(j, 0, 7, 100, 290, 310);
    add_completion(j, 1, 7, 200, 280, 320); /* rank 2 has not completed it */
    make(j);
    const struct dependency_collective *c = &j->d.collectives[0];
    assert_int_equal(j->d.collective_count, 1);
    assert_int_equal(c->call, CALL_Iallreduce);
    assert_int_equal(c->count, 3);
    assert_int_equal(c->first_ns, 100);
    assert_int_equal(c->last_ns, 300);
    assert_int_equal(c->end_ns, 320);
    assert_int_equal(j->d.events[c->awaited].rank, 2);
    assert_int_equal(j->d.members[2].leave, DEPENDENCY_NONE);
    assert_int_equal(j->d.event_count, 7);
    assert_int_equal(event_of(j, 0, 0)->lateness_ns, 0);
    assert_int_equal(event_of(j, 2, 0)->lateness_ns, 200);
    assert_int_equal(event_of(j, 0, 2)->begin_ns, 290);
    assert_int_equal(event_of(j, 0, 2)->step, 2); /* after its send */
    assert_int_equal(event_of(j, 1, 2)->step, 3); /* after its receive */
    assert_string_equal(dependencies_event_name(event_of(j, 1, 2)), "leave");
    job_destroy(j);
}

/* Rank 0 completes the message of rank 1 and a barrier, which rank 2 enters last, in one call. */
static void a_call_ends_with_a_message_or_a_collective_whichever_came_last(void **state)
{
    (void)state;
    const struct wire_criterion_row criterion = {
        .locality = 1, .size_class = size_class_of(8), .reference_ns = 15, .messages = 5};
    const struct dependency_wishes wishes = {.criteria = &criterion, .criteria_count = 1};
    for (int message_is_last = 0; message_is_last < 2; message_is_last++) {
        struct job *j = job_create(3, 3, INT64_MAX, 0);
        for (uint32_t r = 0; r < 2; r++)
            add_start(j, r, CALL_Ibarrier, 1, 10 + r);
        add_send(j, 1, 0, message_is_last ? 480 : 100);
        add_start(j, 2, CALL_Ibarrier, 1, 300);
        add_receive(j, 0, 1, 105, 500);
        add_completion(j, 0, 1, 10, 105, 500);
        add_send(j, 0, 2, 510);
        assert_int_equal(dependencies_make(&j->d, &j->calls, &wishes), 0);
        uint32_t chain[8];
        uint32_t last = (uint32_t)(event_of(j, 0, 3) - j->d.events);
        assert_true(dependencies_chain(&j->d, last, chain, 8) >= 3);
        assert_int_equal(j->d.events[chain[2]].rank, message_is_last ? 1 : 2);
        /* They are concurrent. */
        assert_int_equal(event_of(j, 0, 1)->step, event_of(j, 0, 2)->step);
        assert_int_equal(event_of(j, 0, 1)->group, event_of(j, 0, 2)->group);
        job_destroy(j);
    }
}

/* Each rank has the newest records of 12 rounds, in each of which it starts ten and then completes
 * them in one call. Collective k is started at 1000 * round + 10 * k. */
static void
collectives_that_one_call_completes_are_those_that_were_in_rings_that_begin_anywhere(void **state)
{
    (void)state;
    enum { ROUNDS = 12, STARTS = 10, RECORDS = 2 * STARTS };
    static const uint32_t missing[RANKS] = {0, 0, 17, 25, 41, 100, 118, 135};
    struct job *j = job_create(RANKS, 1, 50000, 100);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t i = missing[r]; i < ROUNDS * RECORDS; i++) {
            int64_t at_ns = 1000 * (int64_t)(i / RECORDS + 1);
            uint32_t k = i % STARTS, request = i / RECORDS * STARTS + k + 1;
            int64_t start_ns = at_ns + 10 * k + r;
            if (i % RECORDS < STARTS)
                add_start(j, r, CALL_Iallreduce, request, start_ns);
            else
                add_completion(j, r, request, start_ns, at_ns + 300, at_ns + 700 + r);
        }
    }
    make(j);
    assert_int_equal(j->d.counts.rejected, 0);
    assert_int_equal(j->d.collective_count, ROUNDS * STARTS);
    for (uint32_t i = 0; i < j->d.collective_count; i++) {
        const struct dependency_collective *c = &j->d.collectives[i];
        for (uint32_t m = c->first; m < c->first + c->count; m++)
            assert_int_equal(j->d.events[j->d.members[m].enter].begin_ns / 10, c->first_ns / 10);
    }
    for (uint32_t i = 0; i < j->d.event_count; i++)
        assert_true(j->d.events[i].collective != DEPENDENCY_NONE);
    job_destroy(j);
}

/* Rank 0 waits for messages of ranks 1 to 3 in one call; that of rank 2 was sent last. */
static void the_cause_of_a_call_with_several_requests_is_the_message_that_came_last(void **state)
{
    (void)state;
    struct job *j = job_create(4, 1, INT64_MAX, 0);
    static const int64_t sent[] = {0, 110, 480, 120};
    for (uint32_t r = 1; r < 4; r++)
        add_send(j, r, 0, sent[r]);
    for (uint32_t r = 1; r < 4; r++)
        add_receive(j, 0, r, 105, 500);
    add_send(j, 0, 1, 510);
    add_receive(j, 1, 0, 200, 530);
    make(j);
    uint32_t chain[8], last = (uint32_t)(event_of(j, 1, 1) - j->d.events);
    static const uint32_t ranks[] = {1, 0, 0, 2};
    assert_int_equal(dependencies_chain(&j->d, last, chain, 8), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(j->d.events[chain[i]].rank, ranks[i]);
    assert_int_equal(j->d.events[chain[2]].peer, 2);
    /* They are concurrent: one step, and no lateness is counted for each of them. */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(event_of(j, 0, i)->step, 1);
    assert_int_equal(event_of(j, 0, 3)->step, 2);
    job_destroy(j);
}

/* As above, but the message that was sent last is a small one on one node, and the one before it is
 * of those that normally take 200 from another node. */
static void what_messages_normally_take_decides_which_one_came_last(void **state)
{
    (void)state;
    struct job *j = job_create(3, 3, INT64_MAX, 0);
    add_send(j, 1, 0, 400);
    add_send(j, 2, 0, 300);
    j->calls.ends[1].bytes = 1 << 20;
    add_receive(j, 0, 1, 105, 520);
    add_receive(j, 0, 2, 105, 520);
    j->calls.ends[3].bytes = 1 << 20;
    const struct wire_criterion_row criteria[] = {
        {.locality = 1, .size_class = size_class_of(8), .reference_ns = 10, .messages = 5},
        {.locality = 1, .size_class = size_class_of(1 << 20), .reference_ns = 200, .messages = 5},
    };
    const struct dependency_wishes wishes = {.criteria = criteria, .criteria_count = 2};
    assert_int_equal(dependencies_make(&j->d, &j->calls, &wishes), 0);
    uint32_t latest = dependencies_latest(&j->d);
    assert_int_equal(j->d.events[latest].rank, 0);
    assert_int_equal(j->d.events[latest].peer, 2);
    job_destroy(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chain_goes_through_the_last_one_that_entered_a_collective),
        cmocka_unit_test(who_enters_a_barrier_last_is_late_by_the_wait_of_the_first),
        cmocka_unit_test(a_collective_is_no_message_and_its_ends_divide_nodes),
        cmocka_unit_test(all_wait_for_the_root_of_a_broadcast_and_the_root_of_a_reduction_for_all),
        cmocka_unit_test(ranks_of_a_collective_of_neighbours_have_a_place_and_wait_for_nobody),
        cmocka_unit_test(
            a_late_rank_of_a_halo_exchange_delays_its_neighbour_and_later_the_next_one),
        cmocka_unit_test(a_neighbour_that_entered_after_a_rank_had_left_is_not_waited_for),
        cmocka_unit_test(
            waits_for_neighbours_are_counted_as_aligned_where_records_begin_in_the_middle),
        cmocka_unit_test(a_rank_that_has_not_come_is_seen_by_who_is_in_the_call),
        cmocka_unit_test(rings_that_begin_at_different_collectives_give_those_that_were),
        cmocka_unit_test(collectives_on_mpi_comm_self_are_not_one),
        cmocka_unit_test(calls_that_contradict_each_other_are_rejected_and_never_a_cycle),
        cmocka_unit_test(the_cause_of_a_call_with_several_requests_is_the_message_that_came_last),
        cmocka_unit_test(
            an_immediate_collective_is_entered_at_its_start_and_left_at_its_completion),
        cmocka_unit_test(a_call_ends_with_a_message_or_a_collective_whichever_came_last),
        cmocka_unit_test(
            collectives_that_one_call_completes_are_those_that_were_in_rings_that_begin_anywhere),
        cmocka_unit_test(what_messages_normally_take_decides_which_one_came_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
