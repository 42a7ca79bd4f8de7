/* Random programs of collectives and messages against a batch reference, which lists for each event
 * all events that it depends on, one by one. */
#include "daemon/analysis/dependencies/dependencies.h"

#include "holter/call.h"
#include "tests/daemon/analysis/dependencies/message_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 200u
#define RANKS 8u
#define EVENTS 1024u
#define ACTIONS 40u

struct reference_event {
    uint32_t rank, step, node;
    int64_t begin_ns, end_ns;
    uint64_t lateness_ns, caused_ns;
    int receive;
    uint32_t awaited; /* the last one to enter of those that it waits for in a collective */
};

/* The program that is being made up. Events stand in an order in which none depends on a later one.
 */
static struct {
    struct program random;
    struct dependency_calls calls;
    struct reference_event events[EVENTS];
    uint8_t depends[EVENTS][EVENTS]; /* the first on the second */
    uint32_t count, ranks, newest[RANKS];
    uint64_t number[RANKS];
    int64_t now_ns[RANKS];
    uint32_t levels[EVENTS]; /* by event that enters a collective of all: its collective, from 1 */
    uint32_t collectives;
    struct {
        enum call call;
        uint64_t comm;
        uint32_t root, enters[RANKS], request[RANKS];
        uint8_t left[RANKS];
    } open[ACTIONS]; /* immediate ones */
    uint32_t open_count;
    uint8_t sends[3][RANKS][RANKS]; /* by communicator: the first to the second, in its topology */
} p;

/* Moments differ between ranks, so that it is clear who came last. */
static int64_t later(uint32_t rank, int64_t least_ns)
{
    int64_t now = p.now_ns[rank] > least_ns ? p.now_ns[rank] : least_ns;
    p.now_ns[rank] = (now / RANKS + 1 + program_random(&p.random, 100)) * RANKS + rank;
    return p.now_ns[rank];
}

static uint32_t event_add(uint32_t rank, int receive, int64_t begin_ns, int64_t end_ns)
{
    assert_true(p.count < EVENTS);
    p.events[p.count] = (struct reference_event){.rank = rank,
                                                 .begin_ns = begin_ns,
                                                 .end_ns = end_ns,
                                                 .receive = receive,
                                                 .awaited = DEPENDENCY_NONE};
    if (p.newest[rank] != DEPENDENCY_NONE)
        p.depends[p.count][p.newest[rank]] = 1;
    return p.newest[rank] = p.count++;
}

static void record_add(uint32_t rank, struct dependency_record r)
{
    r.number = p.number[rank]++;
    assert_int_equal(dependency_calls_add(&p.calls, rank, &r), 0);
}

static void act_message(uint32_t from, uint32_t to)
{
    int64_t sent_ns = later(from, 0);
    uint32_t send = event_add(from, 0, sent_ns, sent_ns + 1);
    int64_t begin_ns = later(to, 0), end_ns = later(to, sent_ns);
    uint32_t receive = event_add(to, 1, begin_ns, end_ns);
    p.depends[receive][send] = 1;
    record_add(from, (struct dependency_record){.call = CALL_Isend,
                                                .comm = 1,
                                                .peer = to,
                                                .begin_ns = sent_ns,
                                                .end_ns = sent_ns + 1,
                                                .flags = EVENT_SEND | EVENT_POST});
    record_add(to, (struct dependency_record){.call = CALL_Recv,
                                              .comm = 1,
                                              .peer = from,
                                              .begin_ns = begin_ns,
                                              .end_ns = end_ns,
                                              .posted_ns = begin_ns,
                                              .flags = EVENT_RECV | EVENT_DONE});
}

/* Communicator 1 has the ranks in their order, 2 in the opposite one. */
static uint32_t comm_rank_of(uint64_t comm, uint32_t rank)
{
    return comm == 1 ? rank : p.ranks - 1 - rank;
}

#define DIMENSIONS 3

/* A topology: a grid of a random shape, whose dimensions may have one rank and may be periodic, or
 * a random graph. The neighbours of a rank are added as MPI lists them: in each dimension the one
 * below and the one above, which may be the same one, or the rank itself. */
static void topology_make(uint64_t comm)
{
    uint32_t sizes[DIMENSIONS], wraps[DIMENSIONS], left = p.ranks;
    int is_graph = program_random(&p.random, 4) == 0;
    for (uint32_t d = 0; d < DIMENSIONS; d++) {
        sizes[d] = d + 1 < DIMENSIONS ? 1 + program_random(&p.random, left) : left;
        while (left % sizes[d] != 0)
            sizes[d]--;
        left /= sizes[d];
        wraps[d] = program_random(&p.random, 2);
    }
    for (uint32_t rank = 0; rank < p.ranks; rank++) {
        uint32_t at = comm_rank_of(comm, rank), stride = p.ranks;
        for (uint32_t d = 0; d < DIMENSIONS; d++) {
            stride /= sizes[d];
            uint32_t place = at / stride % sizes[d], base = at - place * stride;
            for (uint32_t side = 0; side < 2; side++) {
                int border = place == (side ? sizes[d] - 1 : 0) && !wraps[d];
                uint32_t other = (place + (side ? 1 : sizes[d] - 1)) % sizes[d];
                uint32_t source = is_graph ? program_random(&p.random, p.ranks)
                                           : comm_rank_of(comm, base + other * stride);
                if (border && !is_graph)
                    continue;
                p.sends[comm][source][rank] |= (uint8_t)is_graph;
                program_add_source(&p.calls, comm, rank, source);
            }
        }
    }
    /* Ranks of a grid are neighbours if all coordinates but one are equal, and that one is next to
     * the other one. */
    for (uint32_t i = 0; !is_graph && i < p.ranks * p.ranks; i++) {
        uint32_t a = i / p.ranks, b = i % p.ranks, x = a, y = b, at[2][DIMENSIONS];
        for (uint32_t d = DIMENSIONS; d-- > 0; x /= sizes[d], y /= sizes[d]) {
            at[0][d] = x % sizes[d];
            at[1][d] = y % sizes[d];
        }
        for (uint32_t d = 0; d < DIMENSIONS; d++) {
            uint32_t alike = 0;
            for (uint32_t k = 0; k < DIMENSIONS; k++)
                alike += k == d || at[0][k] == at[1][k];
            int next = at[0][d] + 1 == at[1][d] || at[1][d] + 1 == at[0][d];
            int around = wraps[d] && ((at[0][d] + 1) % sizes[d] == at[1][d] ||
                                      (at[1][d] + 1) % sizes[d] == at[0][d]);
            if (alike == DIMENSIONS && (next || around))
                p.sends[comm][comm_rank_of(comm, a)][comm_rank_of(comm, b)] = 1;
        }
    }
}

static int waits_for(enum call_flow flow, uint64_t comm, uint32_t root, uint32_t a, uint32_t b)
{
    switch (flow) {
    case CALL_FLOW_ALL:
        return 1;
    case CALL_FLOW_OUT:
        return a != root && b == root;
    case CALL_FLOW_IN:
        return a == root;
    case CALL_FLOW_PREFIX:
        return comm_rank_of(comm, b) < comm_rank_of(comm, a);
    default:
        return p.sends[comm][b][a];
    }
}

/* A rank leaves, when those that it waits for have entered. @param enters  of all ranks
 * @return when its call ends */
static int64_t leave(const uint32_t *enters, uint32_t rank, enum call_flow flow, uint64_t comm,
                     uint32_t root, int64_t begin_ns)
{
    uint32_t last = DEPENDENCY_NONE, at = p.count;
    for (uint32_t b = 0; b < p.ranks; b++) {
        if (!waits_for(flow, comm, root, rank, b))
            continue;
        p.depends[at][enters[b]] = 1;
        if (last == DEPENDENCY_NONE || p.events[enters[b]].begin_ns > p.events[last].begin_ns)
            last = enters[b];
    }
    int64_t end_ns = later(rank, last == DEPENDENCY_NONE ? 0 : p.events[last].begin_ns);
    event_add(rank, 1, begin_ns, end_ns);
    p.events[at].awaited = last;
    return end_ns;
}

/* A rank completes an immediate collective that it has not left, if there is one. */
static void act_complete(uint32_t rank)
{
    uint32_t i = program_random(&p.random, ACTIONS);
    if (i >= p.open_count || p.open[i].left[rank])
        return;
    p.open[i].left[rank] = 1;
    int64_t begin_ns = later(rank, 0);
    record_add(rank, (struct dependency_record){
                         .call = CALL_Test,
                         .comm = p.open[i].comm,
                         .comm_size = p.ranks,
                         .request = p.open[i].request[rank],
                         .peer = PEER_NONE,
                         .flags = EVENT_DONE,
                         .posted_ns = p.events[p.open[i].enters[rank]].begin_ns,
                         .begin_ns = begin_ns,
                         .end_ns = leave(p.open[i].enters, rank, call_flow_of(p.open[i].call),
                                         p.open[i].comm, p.open[i].root, begin_ns)});
}

static void act_immediate(uint32_t posted)
{
    static const enum call started[] = {CALL_Iscan,   CALL_Iexscan,    CALL_Ibcast,
                                        CALL_Ireduce, CALL_Iallreduce, CALL_Ineighbor_allgather};
    enum call call = started[program_random(&p.random, sizeof started / sizeof *started)];
    enum call_flow flow = call_flow_of(call);
    uint32_t at = p.open_count++;
    p.open[at].call = call;
    p.open[at].comm = 1 + program_random(&p.random, 2);
    p.open[at].root = program_random(&p.random, p.ranks);
    p.collectives++;
    for (uint32_t r = 0; r < p.ranks; r++) {
        int64_t at_ns = later(r, 0);
        p.open[at].enters[r] = event_add(r, 0, at_ns, at_ns);
        p.open[at].request[r] = posted + r;
        p.levels[p.open[at].enters[r]] = flow == CALL_FLOW_ALL ? p.collectives : 0;
        record_add(r, (struct dependency_record){
                          .call = call,
                          .comm = p.open[at].comm,
                          .comm_rank = comm_rank_of(p.open[at].comm, r) + 1,
                          .comm_size = p.ranks,
                          .request = p.open[at].request[r],
                          .peer = call_flow_has_root(flow) ? (int64_t)p.open[at].root : PEER_NONE,
                          .tag = TAG_NONE,
                          .flags = EVENT_POST,
                          .begin_ns = at_ns,
                          .end_ns = at_ns + 1});
    }
}

/* A record of a persistent collective of the first communicator. */
static void persistent_add(uint32_t rank, uint32_t which, enum call made,
                           struct dependency_record r)
{
    r.comm = 1;
    r.comm_size = p.ranks;
    r.request = which + 1;
    r.started = made;
    r.peer = PEER_NONE;
    r.tag = TAG_NONE;
    r.flags |= EVENT_PERSISTENT;
    record_add(rank, r);
}

/* Persistent ones, of a kind of its own for each, so that ranks may start them in any order. */
static void act_start(uint32_t round)
{
    static const enum call made[] = {CALL_Barrier_init, CALL_Scan_init,
                                     CALL_Neighbor_alltoall_init};
    enum { MADE = sizeof made / sizeof *made };
    uint32_t enters[MADE][RANKS];
    for (uint32_t r = 0; r < p.ranks; r++) {
        for (uint32_t k = 0; k < MADE; k++) {
            uint32_t which = (k + r) % MADE;
            int64_t at_ns = later(r, 0);
            enters[which][r] = event_add(r, 0, at_ns, at_ns);
            p.levels[enters[which][r]] = made[which] == CALL_Barrier_init ? p.collectives + 1 : 0;
            persistent_add(r, which, made[which],
                           (struct dependency_record){.call = CALL_Start,
                                                      .comm_rank = r + 1,
                                                      .flags = EVENT_POST,
                                                      .begin_ns = at_ns,
                                                      .end_ns = at_ns + 1});
        }
    }
    for (uint32_t r = 0; r < p.ranks; r++) {
        for (uint32_t k = 0; k < MADE; k++) {
            uint32_t which = (k + round) % MADE;
            int64_t begin_ns = later(r, 0);
            persistent_add(
                r, which, made[which],
                (struct dependency_record){
                    .call = CALL_Wait,
                    .flags = EVENT_DONE,
                    .posted_ns = p.events[enters[which][r]].begin_ns,
                    .begin_ns = begin_ns,
                    .end_ns = leave(enters[which], r, call_flow_of(made[which]), 1, 0, begin_ns)});
        }
    }
    p.collectives += MADE;
}

static const enum call called[] = {CALL_Scan,   CALL_Exscan,    CALL_Bcast,
                                   CALL_Reduce, CALL_Allreduce, CALL_Neighbor_alltoall};

static void act_collective(void)
{
    enum call call = called[program_random(&p.random, sizeof called / sizeof *called)];
    enum call_flow flow = call_flow_of(call);
    uint32_t root = program_random(&p.random, p.ranks), enters[RANKS];
    uint64_t comm = 1 + program_random(&p.random, 2);
    p.collectives++;
    for (uint32_t r = 0; r < p.ranks; r++) {
        int64_t at_ns = later(r, 0);
        enters[r] = event_add(r, 0, at_ns, at_ns);
        p.levels[enters[r]] = flow == CALL_FLOW_ALL ? p.collectives : 0;
    }
    for (uint32_t r = 0; r < p.ranks; r++) {
        int64_t begin_ns = p.events[enters[r]].begin_ns;
        record_add(r, (struct dependency_record){
                          .call = call,
                          .comm = comm,
                          .comm_rank = comm_rank_of(comm, r) + 1,
                          .comm_size = p.ranks,
                          .peer = call_flow_has_root(flow) ? (int64_t)root : PEER_NONE,
                          .tag = TAG_NONE,
                          .begin_ns = begin_ns,
                          .end_ns = leave(enters, r, flow, comm, root, begin_ns)});
    }
}

static void program_make(uint64_t seed)
{
    memset(&p, 0, sizeof p);
    p.random.random = seed * 7919;
    p.ranks = 2 + program_random(&p.random, RANKS - 1);
    uint32_t host = dependency_calls_host(&p.calls, "n", 0);
    for (uint32_t r = 0; r < p.ranks; r++) {
        p.newest[r] = DEPENDENCY_NONE;
        assert_int_equal(dependency_calls_thread(&p.calls, r, 0, host, INT64_MAX), r);
    }
    topology_make(1);
    topology_make(2);
    for (uint32_t i = 0; i < ACTIONS; i++) {
        uint32_t from = program_random(&p.random, p.ranks);
        uint32_t step = 1 + program_random(&p.random, p.ranks - 1);
        switch (program_random(&p.random, 5)) {
        case 0:
            act_collective();
            break;
        case 1:
            act_immediate(1000 * (i + 1));
            break;
        case 2:
            act_start(i);
            break;
        default:
            act_message(from, (from + step) % p.ranks);
        }
        for (uint32_t r = 0; r < 2 * p.ranks; r++)
            act_complete(r % p.ranks);
    }
}

/* ---- the reference --------------------------------------------------------- */

/* The longest chain; then all that enter a collective of all, and do nothing else before they leave
 * it, have the greatest step of them. */
static void reference_count_steps(void)
{
    for (uint32_t i = 0; i < p.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (p.depends[i][k] && p.events[k].step + 1 > p.events[i].step)
                p.events[i].step = p.events[k].step + 1;
    uint32_t most[EVENTS] = {0};
    for (uint32_t i = 0; i < p.count; i++)
        if (p.levels[i] != 0 && p.events[i].step > most[p.levels[i]])
            most[p.levels[i]] = p.events[i].step;
    for (uint32_t i = 0; i < p.count; i++) {
        uint32_t next = i + 1;
        while (next < p.count && p.events[next].rank != p.events[i].rank)
            next++;
        uint32_t awaited = next < p.count ? p.events[next].awaited : i;
        if (p.levels[i] != 0 && awaited != DEPENDENCY_NONE && p.levels[awaited] == p.levels[i])
            p.events[i].step = most[p.levels[i]];
    }
}

static void reference_measure(void)
{
    for (uint32_t i = 0; i < p.count; i++) {
        int64_t first_ns = p.events[i].end_ns;
        for (uint32_t k = 0; k < p.count; k++)
            if (p.events[k].step == p.events[i].step && p.events[k].end_ns < first_ns)
                first_ns = p.events[k].end_ns;
        p.events[i].lateness_ns = (uint64_t)(p.events[i].end_ns - first_ns);
    }
    for (uint32_t i = 0; i < p.count; i++) {
        uint64_t inherited = 0;
        for (uint32_t k = 0; k < i; k++)
            if (p.depends[i][k] && p.events[k].lateness_ns > inherited)
                inherited = p.events[k].lateness_ns;
        p.events[i].caused_ns =
            p.events[i].lateness_ns > inherited ? p.events[i].lateness_ns - inherited : 0;
    }
}

/* Nodes of Algorithm 1, and the longest chain of them before each. @param layers  set: by node */
static void reference_layer(uint32_t *layers)
{
    uint32_t nodes = 0, newest[RANKS];
    uint8_t sends[EVENTS] = {0};
    memset(newest, 0xff, sizeof newest);
    for (uint32_t i = 0; i < p.count; i++) {
        struct reference_event *e = &p.events[i];
        uint32_t *node = &newest[e->rank];
        if (*node == DEPENDENCY_NONE || (e->receive && sends[*node])) {
            layers[nodes] = *node == DEPENDENCY_NONE ? 0 : layers[*node] + 1;
            *node = nodes++;
        }
        e->node = *node;
        sends[*node] |= !e->receive;
        for (uint32_t k = 0; k < i; k++)
            if (p.depends[i][k] && p.events[k].node != *node &&
                layers[p.events[k].node] + 1 > layers[*node])
                layers[*node] = layers[p.events[k].node] + 1;
    }
}

/* Position in the result of an event of the reference. */
static uint32_t place_of(uint32_t event)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < p.count; i++)
        place += p.events[i].rank < p.events[event].rank ||
                 (p.events[i].rank == p.events[event].rank && i < event);
    return place;
}

static void steps_layers_and_lateness_are_those_of_all_dependencies_one_by_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static uint32_t layers[EVENTS];
        struct dependencies d;
        program_make(seed);
        reference_count_steps();
        reference_measure();
        reference_layer(layers);
        assert_int_equal(dependencies_make(&d, &p.calls, NULL), 0);
        assert_int_equal(d.event_count, p.count);
        assert_int_equal(d.counts.rejected, 0);
        assert_int_equal(d.collective_count, p.collectives);
        for (uint32_t i = 0; i < p.count; i++) {
            const struct reference_event *r = &p.events[i];
            const struct dependency_event *e = &d.events[place_of(i)];
            int waits = dependencies_waits_in_collective(&d, e);
            assert_int_equal(e->rank, r->rank);
            assert_int_equal(e->end_ns, r->end_ns);
            assert_int_equal(e->step, r->step);
            assert_int_equal(e->lateness_ns, r->lateness_ns);
            assert_int_equal(e->caused_ns, r->caused_ns);
            assert_int_equal(d.ranks.nodes[e->node].layer, layers[r->node]);
            assert_int_equal(waits, r->awaited != DEPENDENCY_NONE);
            if (waits)
                assert_int_equal(d.members[e->member].awaited, place_of(r->awaited));
        }
        dependencies_finish(&d);
        dependency_calls_finish(&p.calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_layers_and_lateness_are_those_of_all_dependencies_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
