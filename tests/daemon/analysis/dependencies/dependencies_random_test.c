/* Random programs against a batch reference: real vector clocks, and Algorithm 1 word for word. */
#include "daemon/analysis/dependencies/dependencies.h"

#include "holter/call.h"
#include "tests/daemon/analysis/dependencies/message_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 60u

/* Events of the program in the order of the result: by rank, then index. */
static void list_events(const struct program *p, const uint32_t *first,
                        const struct program_event **out, uint32_t *count)
{
    *count = 0;
    for (uint32_t r = 0; r < p->ranks; r++)
        for (uint32_t i = 0; i < p->count; i++)
            if (p->events[i].rank == r && (first == NULL || p->events[i].index >= first[r]))
                out[(*count)++] = &p->events[i];
}

/* PCLVis, Discipline 1. */
static int depends(const struct program_event *a, const struct program_event *b)
{
    for (uint32_t i = 0; i < PROGRAM_RANKS; i++)
        if (a->clock[i] > b->clock[i])
            return 0;
    return a != b;
}

/* No event stands before one that it depends on, and layers rise along every edge and rank. */
static void check_acyclic(const struct dependencies *d)
{
    uint32_t *place = malloc((d->event_count + 1) * sizeof *place);
    for (uint32_t i = 0; i < d->event_count; i++)
        place[d->order[i]] = i;
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[i];
        if (i > 0 && e[-1].rank == e->rank)
            assert_true(place[i - 1] < place[i] &&
                        (e[-1].step < e->step || e[-1].group == e->group));
        if (!e->receive || e->match == DEPENDENCY_NONE)
            continue;
        const struct dependency_event *s = &d->events[e->match];
        assert_true(place[e->match] < place[i] && s->step < e->step);
        assert_int_equal(s->match, i);
        assert_int_equal(s->receive, 0);
        assert_true(s->peer == e->rank && e->peer == s->rank && s->tag == e->tag);
    }
    for (uint32_t i = 0; i < d->ranks.edge_count; i++) {
        const struct dependency_edge *e = &d->ranks.edges[i];
        assert_true(d->ranks.nodes[e->from].layer < d->ranks.nodes[e->to].layer);
        assert_int_equal(d->events[e->send].node, e->from);
        assert_int_equal(d->events[e->receive].node, e->to);
        assert_int_equal(d->events[e->send].edge, i);
    }
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[i];
        if (!dependencies_waits_in_collective(d, e))
            continue;
        const struct dependency_collective *c = &d->collectives[e->collective];
        int is_scan = call_flow_of(c->call) == CALL_FLOW_PREFIX;
        assert_true(is_scan || c->step < e->step);
        assert_true(is_scan || c->layer <= d->ranks.nodes[e->node].layer);
        for (uint32_t k = c->first; k < (is_scan ? e->member : c->first + c->count); k++) {
            const struct dependency_event *enter = &d->events[d->members[k].enter];
            if (!dependencies_is_awaited(d, enter))
                continue;
            assert_true(place[d->members[k].enter] < place[i] && enter->step <= c->step);
            assert_true(enter->step < e->step && d->ranks.nodes[enter->node].layer < c->layer);
            assert_true(d->ranks.nodes[enter->node].layer < d->ranks.nodes[e->node].layer);
        }
    }
    for (uint32_t i = 1; i < d->ranks.node_count; i++) {
        const struct dependency_node *n = &d->ranks.nodes[i];
        assert_true(n[-1].lane < n->lane || n[-1].layer < n->layer);
    }
    free(place);
}

/* Steps from vector clocks alone: the longest chain of events that each depend on the next. */
static void check_steps(const struct program *p, const struct program_event **listed,
                        const struct dependencies *d)
{
    static uint32_t steps[PROGRAM_EVENTS];
    for (uint32_t i = 0; i < p->count; i++) {
        steps[i] = 0;
        for (uint32_t k = 0; k < i; k++)
            if (depends(&p->events[k], &p->events[i]) && steps[k] + 1 > steps[i])
                steps[i] = steps[k] + 1;
    }
    for (uint32_t i = 0; i < d->event_count; i++)
        assert_int_equal(d->events[i].step, steps[listed[i] - p->events]);
}

struct reference_node {
    uint32_t pid, layer;
    int has_send;
};

/* Algorithm 1 over events in logical order; the order of the program's time is one. */
static void check_nodes(const struct program *p, const struct program_event **listed,
                        const struct dependencies *d)
{
    static struct reference_node nodes[PROGRAM_EVENTS];
    static uint32_t node_of[PROGRAM_EVENTS];
    uint32_t count = 0, newest[PROGRAM_RANKS], edges = 0;
    memset(newest, 0xff, sizeof newest);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct program_event *e = &p->events[i];
        uint32_t *v = &newest[e->rank], before = *v;
        if (*v == UINT32_MAX || (e->receive && nodes[*v].has_send)) {
            *v = count++;
            nodes[*v] = (struct reference_node){
                .pid = e->rank, .layer = before == UINT32_MAX ? 0 : nodes[before].layer + 1};
        }
        nodes[*v].has_send |= !e->receive;
        node_of[i] = *v;
        for (uint32_t k = 0; e->receive && k < i; k++) {
            if (p->events[k].message != e->message)
                continue;
            uint32_t layer = nodes[node_of[k]].layer + 1;
            nodes[*v].layer = layer > nodes[*v].layer ? layer : nodes[*v].layer;
            edges++;
        }
    }
    assert_int_equal(d->ranks.node_count, count);
    assert_int_equal(d->ranks.edge_count, edges);
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_node *n = &d->ranks.nodes[d->events[i].node];
        const struct reference_node *r = &nodes[node_of[listed[i] - p->events]];
        assert_int_equal(d->ranks.lanes[n->lane].id, r->pid);
        assert_int_equal(n->layer, r->layer);
    }
}

static const struct program_event *listed[PROGRAM_EVENTS];
static struct program p;

static void
every_message_of_a_whole_program_is_an_edge_and_steps_are_those_of_vector_clocks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dependency_calls calls = {0};
        struct dependencies d;
        uint32_t count, received = 0;
        int64_t skew[PROGRAM_RANKS];
        program_run(&p, 2 + (uint32_t)seed % 8, 300, seed);
        for (uint32_t r = 0; r < PROGRAM_RANKS; r++)
            skew[r] = (int64_t)program_random(&p, 2000) - 1000; /* clocks prove nothing */
        program_record(&p, &calls, NULL, skew, p.ranks, 1000);
        assert_int_equal(dependencies_make(&d, &calls, NULL), 0);
        list_events(&p, NULL, listed, &count);
        assert_int_equal(d.event_count, count);
        for (uint32_t i = 0; i < count; i++) {
            received += (uint32_t)listed[i]->receive;
            if (listed[i]->receive)
                assert_int_equal(listed[d.events[i].match]->message, listed[i]->message);
        }
        assert_int_equal(d.counts.matched, received);
        assert_int_equal(d.counts.unmatched, count - 2 * received);
        assert_int_equal(d.counts.rejected, 0);
        check_acyclic(&d);
        check_steps(&p, listed, &d);
        check_nodes(&p, listed, &d);
        dependencies_finish(&d);
        dependency_calls_finish(&calls);
    }
}

static void whatever_the_rings_hold_and_clocks_say_the_graph_is_acyclic(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dependency_calls calls = {0};
        struct dependencies d;
        uint32_t count, first[PROGRAM_RANKS];
        int64_t skew[PROGRAM_RANKS];
        program_run(&p, 2 + (uint32_t)seed % 8, 400, seed);
        for (uint32_t r = 0; r < PROGRAM_RANKS; r++) {
            first[r] = program_random(&p, 40);
            skew[r] = (int64_t)program_random(&p, 400) - 200;
        }
        program_record(&p, &calls, first, skew, p.ranks, seed % 2 ? 200 : 0);
        assert_int_equal(dependencies_make(&d, &calls, NULL), 0);
        list_events(&p, first, listed, &count);
        assert_int_equal(d.event_count, count);
        assert_int_equal(2 * d.counts.matched + d.counts.unmatched, d.counts.ends);
        check_acyclic(&d);
        dependencies_finish(&d);
        dependency_calls_finish(&calls);
    }
}

/* A ring of ranks: in each round each sends to both neighbours and receives from both. Rings of
 * records begin in the middle, each elsewhere. */
static void exchange(struct program *q, uint32_t ranks, uint32_t rounds)
{
    uint32_t sent[PROGRAM_RANKS][2];
    for (uint32_t round = 0; round < rounds; round++) {
        int64_t at_ns = 1000 * (int64_t)(round + 1);
        for (uint32_t r = 0; r < ranks; r++)
            for (uint32_t k = 0; k < 2; k++)
                sent[r][k] = program_send(q, at_ns + 10 * r + 5 * k, r,
                                          (r + (k ? 1 : ranks - 1)) % ranks, (int32_t)k, 64);
        for (uint32_t r = 0; r < ranks; r++)
            for (uint32_t k = 0; k < 2; k++)
                program_receive(q, at_ns + 300 + 10 * r + 5 * k,
                                sent[(r + (k ? ranks - 1 : 1)) % ranks][k]);
    }
}

static void rings_that_begin_at_different_messages_give_the_pairs_that_were(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dependency_calls calls = {0};
        struct dependencies d;
        uint32_t count, first[PROGRAM_RANKS];
        int64_t skew[PROGRAM_RANKS];
        memset(&p, 0, sizeof p);
        p.random = seed * 77777;
        for (uint32_t r = 0; r < PROGRAM_RANKS; r++) {
            first[r] = 1 + program_random(&p, 60);
            skew[r] = (int64_t)program_random(&p, 200) - 100;
        }
        exchange(&p, 6, 40);
        program_record(&p, &calls, first, skew, 6, 100);
        assert_int_equal(dependencies_make(&d, &calls, NULL), 0);
        list_events(&p, first, listed, &count);
        for (uint32_t i = 0; i < count; i++)
            if (d.events[i].match != DEPENDENCY_NONE)
                assert_int_equal(listed[d.events[i].match]->message, listed[i]->message);
        assert_true(d.counts.matched > 12 * 20);
        assert_int_equal(d.counts.aligned, d.counts.matched);
        assert_int_equal(d.counts.rejected, 0);
        check_acyclic(&d);
        dependencies_finish(&d);
        dependency_calls_finish(&calls);
    }
}

static void records_of_nonsense_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t called[] = {
        CALL_Send, CALL_Barrier, CALL_Bcast,      CALL_Reduce, CALL_Scan, CALL_Neighbor_alltoall,
        CALL_Wait, CALL_Ibcast,  CALL_Iallreduce, CALL_Start};
    uint64_t collectives = 0, rejected = 0;
    static const int64_t times[] = {INT64_MIN, -1, 0, 1, INT64_MAX, 1000, 2000};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dependency_calls calls = {0};
        struct dependencies d;
        struct dependency_graph hosts;
        p.random = seed;
        uint32_t host = dependency_calls_host(&calls, "n", program_random(&p, 2) ? UINT64_MAX : 9);
        for (uint32_t r = 0; r < 4; r++)
            dependency_calls_thread(&calls, r / 2, r, host, times[program_random(&p, 7)]);
        uint64_t numbers[6] = {0};
        for (uint32_t i = 0; i < 400; i++) {
            uint32_t thread = program_random(&p, 6);
            int gap = program_random(&p, 100) == 0;
            const struct dependency_record record = {
                .number = gap ? (uint64_t)times[program_random(&p, 7)] : numbers[thread]++,
                .comm = program_random(&p, 3),
                .bytes = program_random(&p, 2) ? UINT64_MAX : 0,
                .begin_ns = times[program_random(&p, 7)],
                .end_ns = times[program_random(&p, 7)],
                .posted_ns = times[program_random(&p, 7)],
                .peer = (int64_t)program_random(&p, 4) - 1,
                .tag = (int64_t)program_random(&p, 3) - 1,
                .flags = program_random(&p, 1 << 12) & (program_random(&p, 2) ? ~0u : 0u),
                .call = called[program_random(&p, 10)],
                .started = program_random(&p, 2) ? CALL_Barrier_init : program_random(&p, 200),
                .request = program_random(&p, 3),
                .comm_rank = program_random(&p, 4),
                .running = program_random(&p, 9) == 0,
            };
            assert_int_equal(dependency_calls_add(&calls, thread, &record), 0);
        }
        assert_int_equal(dependencies_make(&d, &calls, NULL), 0);
        check_acyclic(&d);
        collectives += d.collective_count;
        rejected += d.counts.rejected;
        assert_int_equal(dependencies_aggregate(&d, program_random(&p, 2), &hosts), 0);
        dependency_graph_finish(&hosts);
        dependencies_finish(&d);
        dependency_calls_finish(&calls);
    }
    assert_true(collectives > 0 && rejected > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            every_message_of_a_whole_program_is_an_edge_and_steps_are_those_of_vector_clocks),
        cmocka_unit_test(whatever_the_rings_hold_and_clocks_say_the_graph_is_acyclic),
        cmocka_unit_test(rings_that_begin_at_different_messages_give_the_pairs_that_were),
        cmocka_unit_test(records_of_nonsense_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
