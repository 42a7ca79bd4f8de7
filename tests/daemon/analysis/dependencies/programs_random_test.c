/* Random programs as MPI would run them, against a batch reference that knows what the library did:
 * immediate sends and receives that calls complete in any order and several at once, receives of
 * any source and any tag, collectives of sub-communicators that some ranks leave before others
 * enter, and ranks of two threads. */
#include "daemon/analysis/dependencies/dependencies.h"

#include "holter/call.h"
#include "tests/daemon/analysis/dependencies/message_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 300u
#define RANKS 8u
#define COMMS 5u
#define EVENTS 1024u
#define MESSAGES 512u
#define REQUESTS 2048u
#define INSTANCES 256u
#define ACTIONS 250u
#define ANY (-1)

struct model_event {
    uint32_t rank, step, node, call; /* call: events of the same one have one number */
    int64_t begin_ns, end_ns;
    uint64_t lateness_ns, caused_ns;
    uint32_t instance, send; /* of a collective, or DEPENDENCY_NONE; of a receive: its send */
    uint32_t awaited;        /* of a send: the receive that it waited for, or DEPENDENCY_NONE */
    int receive, blocking;
};

struct model_message {
    uint32_t from, to, comm, send, request; /* send: event; request: that matched it */
    int32_t tag;
    uint64_t bytes;
    enum { UNDER_WAY, ARRIVED, MATCHED } state;
};

struct model_request {
    enum { OF_SEND, OF_RECEIVE, OF_COLLECTIVE } kind;
    uint32_t rank, comm, number, object; /* object: message or instance, or DEPENDENCY_NONE */
    int32_t source, tag;
    int64_t posted_ns;
    int done;
};

/* A collective: its members enter one after the other. */
struct model_instance {
    enum call call, immediate;
    uint32_t comm, root, entered, enters[RANKS]; /* by rank in the communicator */
};

static struct {
    struct program random;
    struct dependency_calls calls;
    struct model_event events[EVENTS]; /* none stands before one that it depends on */
    struct model_message messages[MESSAGES];
    struct model_request requests[REQUESTS];
    struct model_instance instances[INSTANCES];
    uint32_t event_count, message_count, request_count, instance_count, call_count, received;
    uint32_t ranks, threads;
    uint32_t comms[COMMS][RANKS], sizes[COMMS]; /* world ranks of each communicator */
    int64_t now_ns[RANKS], skew_ns[RANKS];
    uint64_t number[RANKS][2];
    uint32_t in[RANKS]; /* blocking collective that the rank is in, or DEPENDENCY_NONE */
    uint8_t depends[EVENTS][EVENTS];
} m;

static uint32_t draw(uint32_t below)
{
    return program_random(&m.random, below);
}

/* Moments differ between ranks, so that it is clear who came last. */
static int64_t later(uint32_t rank, int64_t least_ns)
{
    int64_t now = m.now_ns[rank] > least_ns ? m.now_ns[rank] : least_ns;
    m.now_ns[rank] = (now / RANKS + 1 + draw(100)) * RANKS + rank;
    return m.now_ns[rank];
}

static uint32_t event_add(uint32_t rank, int receive, int64_t begin_ns, int64_t end_ns)
{
    assert_true(m.event_count < EVENTS);
    m.events[m.event_count] = (struct model_event){.rank = rank,
                                                   .call = m.call_count,
                                                   .begin_ns = begin_ns,
                                                   .end_ns = end_ns,
                                                   .instance = DEPENDENCY_NONE,
                                                   .send = DEPENDENCY_NONE,
                                                   .awaited = DEPENDENCY_NONE,
                                                   .receive = receive};
    uint32_t before = m.event_count; /* of the call before in the rank */
    while (before > 0 &&
           (m.events[before - 1].rank != rank || m.events[before - 1].call == m.call_count))
        before--;
    for (uint32_t i = before; i > 0 && m.events[i - 1].call == m.events[before - 1].call; i--)
        m.depends[m.event_count][i - 1] = 1;
    return m.event_count++;
}

static void record_add(uint32_t rank, uint32_t thread, struct dependency_record r)
{
    r.number = m.number[rank][thread]++;
    r.begin_ns += m.skew_ns[rank];
    r.end_ns += m.skew_ns[rank];
    r.posted_ns += m.skew_ns[rank];
    assert_int_equal(dependency_calls_add(&m.calls, rank * m.threads + thread, &r), 0);
}

/* Number of a rank in a communicator, or DEPENDENCY_NONE. */
static uint32_t member_of(uint32_t comm, uint32_t rank)
{
    for (uint32_t i = 0; i < m.sizes[comm]; i++)
        if (m.comms[comm][i] == rank)
            return i;
    return DEPENDENCY_NONE;
}

static uint32_t draw_comm(uint32_t rank)
{
    uint32_t comm = draw(COMMS);
    return member_of(comm, rank) == DEPENDENCY_NONE ? 0 : comm;
}

/* ---- what the library does --------------------------------------------------- */

static uint32_t request_add(struct model_request request)
{
    assert_true(m.request_count < REQUESTS);
    request.number = m.request_count + 1;
    m.requests[m.request_count] = request;
    return m.request_count++;
}

static int is_compatible(const struct model_request *r, const struct model_message *message)
{
    return r->kind == OF_RECEIVE && r->object == DEPENDENCY_NONE && r->rank == message->to &&
           r->comm == message->comm && (r->source == ANY || r->source == (int32_t)message->from) &&
           (r->tag == ANY || r->tag == message->tag);
}

static void match(uint32_t request, uint32_t message)
{
    m.requests[request].object = message;
    m.messages[message].request = request;
    m.messages[message].state = MATCHED;
}

/* A message arrives, no sooner than those before it from its sender in its communicator: the first
 * receive that was posted for it takes it. */
static void deliver(uint32_t message)
{
    for (uint32_t i = 0; i < message; i++)
        if (m.messages[i].state == UNDER_WAY && m.messages[i].from == m.messages[message].from &&
            m.messages[i].to == m.messages[message].to &&
            m.messages[i].comm == m.messages[message].comm)
            message = i;
    m.messages[message].state = ARRIVED;
    for (uint32_t i = 0; i < m.request_count; i++)
        if (is_compatible(&m.requests[i], &m.messages[message])) {
            match(i, message);
            return;
        }
}

static void deliver_some(void)
{
    for (uint32_t i = 0; i < m.message_count; i++)
        if (m.messages[i].state == UNDER_WAY && draw(3) == 0)
            deliver(i);
}

/* A receive is posted: it takes the oldest message of those that have arrived from each sender;
 * which sender's is chance. */
static uint32_t receive_post(uint32_t rank, uint32_t comm, int32_t source, int32_t tag,
                             int64_t posted_ns)
{
    uint32_t heads[MESSAGES], count = 0;
    uint32_t request = request_add((struct model_request){.kind = OF_RECEIVE,
                                                          .rank = rank,
                                                          .comm = comm,
                                                          .source = source,
                                                          .tag = tag,
                                                          .posted_ns = posted_ns,
                                                          .object = DEPENDENCY_NONE});
    for (uint32_t i = 0; i < m.message_count; i++) {
        int is_head =
            m.messages[i].state == ARRIVED && is_compatible(&m.requests[request], &m.messages[i]);
        for (uint32_t k = 0; k < count; k++)
            is_head &= m.messages[heads[k]].from != m.messages[i].from;
        if (is_head)
            heads[count++] = i;
    }
    if (count > 0)
        match(request, heads[draw(count)]);
    return request;
}

/* Does a member of a collective wait for another one? Both by their numbers in the communicator. */
static int waits_for(const struct model_instance *c, uint32_t a, uint32_t b)
{
    switch (call_flow_of(c->call)) {
    case CALL_FLOW_ALL:
        return 1;
    case CALL_FLOW_OUT:
        return a != c->root && b == c->root;
    case CALL_FLOW_IN:
        return a == c->root;
    default:
        return b < a;
    }
}

static int may_leave(const struct model_instance *c, uint32_t member)
{
    for (uint32_t b = 0; b < m.sizes[c->comm]; b++)
        if (waits_for(c, member, b) && c->enters[b] == DEPENDENCY_NONE)
            return 0;
    return 1;
}

static int is_complete(const struct model_request *r)
{
    if (r->kind == OF_COLLECTIVE)
        return may_leave(&m.instances[r->object], member_of(m.instances[r->object].comm, r->rank));
    return r->kind == OF_SEND || r->object != DEPENDENCY_NONE;
}

/* ---- what ranks do ------------------------------------------------------------- */

static void act_send(uint32_t rank, uint32_t to, uint32_t comm, int32_t tag)
{
    int blocking = (int)draw(2);
    int64_t begin_ns = later(rank, 0), end_ns = later(rank, 0);
    uint64_t bytes = draw(4) * 500;
    assert_true(m.message_count < MESSAGES);
    m.call_count++;
    uint32_t send = event_add(rank, 0, begin_ns, end_ns);
    m.events[send].blocking = blocking;
    m.messages[m.message_count++] = (struct model_message){
        .from = rank, .to = to, .comm = comm, .tag = tag, .bytes = bytes, .send = send};
    uint32_t request =
        blocking ? 0
                 : 1 + request_add((struct model_request){
                           .kind = OF_SEND, .rank = rank, .comm = comm, .posted_ns = begin_ns});
    record_add(
        rank, draw(m.threads),
        (struct dependency_record){.call = blocking ? CALL_Send : CALL_Isend,
                                   .comm = comm + 1,
                                   .comm_size = m.sizes[comm],
                                   .peer = to,
                                   .tag = tag,
                                   .bytes = bytes,
                                   .request = request,
                                   .begin_ns = begin_ns,
                                   .end_ns = end_ns,
                                   .flags = EVENT_SEND | EVENT_POST | (blocking ? EVENT_DONE : 0)});
}

static void act_irecv(uint32_t rank, uint32_t comm, int32_t source, int32_t tag)
{
    int64_t begin_ns = later(rank, 0);
    uint32_t request = receive_post(rank, comm, source, tag, begin_ns);
    int wild = source == ANY || tag == ANY;
    record_add(
        rank, draw(m.threads),
        (struct dependency_record){.call = CALL_Irecv,
                                   .comm = comm + 1,
                                   .comm_size = m.sizes[comm],
                                   .peer = source == ANY ? PEER_ANY : source,
                                   .tag = tag == ANY ? TAG_ANY : tag,
                                   .request = m.requests[request].number,
                                   .begin_ns = begin_ns,
                                   .end_ns = later(rank, 0),
                                   .flags = EVENT_RECV | EVENT_POST | (wild ? EVENT_WILDCARD : 0)});
}

/* A call completes a request. @param call  of the record @param number  of the request; 0: none */
static void complete(uint32_t request, uint32_t thread, enum call call, uint32_t number,
                     int64_t begin_ns, int64_t end_ns)
{
    struct model_request *r = &m.requests[request];
    struct dependency_record record = {.call = call,
                                       .comm = r->comm + 1,
                                       .comm_size = m.sizes[r->comm],
                                       .peer = PEER_NONE,
                                       .request = number,
                                       .posted_ns = r->posted_ns,
                                       .begin_ns = begin_ns,
                                       .end_ns = end_ns,
                                       .flags = EVENT_DONE | (r->kind == OF_SEND ? EVENT_SEND : 0)};
    r->done = 1;
    if (r->kind == OF_RECEIVE) {
        const struct model_message *message = &m.messages[r->object];
        uint32_t event = event_add(r->rank, 1, begin_ns, end_ns);
        m.depends[event][message->send] = 1;
        m.events[event].send = message->send;
        m.received++;
        record.peer = message->from;
        record.tag = message->tag;
        record.bytes = message->bytes;
        record.flags |= EVENT_RECV | (r->source == ANY || r->tag == ANY ? EVENT_WILDCARD : 0);
    } else if (r->kind == OF_COLLECTIVE) {
        const struct model_instance *c = &m.instances[r->object];
        uint32_t event = event_add(r->rank, 1, begin_ns, end_ns);
        m.events[event].instance = r->object;
        for (uint32_t b = 0; b < m.sizes[c->comm]; b++)
            if (waits_for(c, member_of(c->comm, r->rank), b))
                m.depends[event][c->enters[b]] = 1;
    }
    record_add(r->rank, thread, record);
}

/* When what completes a request has begun at the other ranks. */
static int64_t cause_ns(const struct model_request *r)
{
    int64_t latest_ns = 0;
    if (r->kind == OF_RECEIVE)
        return m.events[m.messages[r->object].send].begin_ns;
    if (r->kind == OF_SEND)
        return 0;
    const struct model_instance *c = &m.instances[r->object];
    for (uint32_t b = 0; b < m.sizes[c->comm]; b++)
        if (waits_for(c, member_of(c->comm, r->rank), b) &&
            m.events[c->enters[b]].begin_ns > latest_ns)
            latest_ns = m.events[c->enters[b]].begin_ns;
    return latest_ns;
}

/* One call completes some of the requests that can be completed, in any order. */
static void act_wait(uint32_t rank, uint32_t share)
{
    uint32_t chosen[REQUESTS], count = 0, thread = draw(m.threads);
    int64_t begin_ns = later(rank, 0), least_ns = 0;
    for (uint32_t i = 0; i < m.request_count; i++) {
        const struct model_request *r = &m.requests[i];
        if (r->rank != rank || r->done || !is_complete(r) || draw(share) != 0)
            continue;
        uint32_t at = draw(++count);
        chosen[count - 1] = chosen[at];
        chosen[at] = i;
        least_ns = cause_ns(r) > least_ns ? cause_ns(r) : least_ns;
    }
    int64_t end_ns = later(rank, least_ns);
    m.call_count++;
    for (uint32_t k = 0; k < count; k++)
        complete(chosen[k], thread, count == 1 ? CALL_Wait : CALL_Waitall,
                 m.requests[chosen[k]].number, begin_ns, end_ns);
}

/* A receive that need not wait: what it takes has arrived. */
static void act_recv(uint32_t rank)
{
    for (uint32_t i = 0; i < m.message_count; i++) {
        const struct model_message *message = &m.messages[i];
        if (message->to != rank || message->state != ARRIVED || draw(2))
            continue;
        int64_t begin_ns = later(rank, 0);
        uint32_t request = receive_post(rank, message->comm, draw(2) ? ANY : (int32_t)message->from,
                                        draw(2) ? ANY : message->tag, begin_ns);
        m.call_count++;
        complete(request, draw(m.threads), CALL_Recv, 0, begin_ns,
                 later(rank, cause_ns(&m.requests[request])));
        return;
    }
}

/* The oldest collective that a rank has not entered, or DEPENDENCY_NONE. */
static uint32_t pending_instance(uint32_t rank)
{
    for (uint32_t i = 0; i < m.instance_count; i++) {
        uint32_t member = member_of(m.instances[i].comm, rank);
        if (member != DEPENDENCY_NONE && m.instances[i].enters[member] == DEPENDENCY_NONE)
            return i;
    }
    return DEPENDENCY_NONE;
}

static uint32_t instance_add(uint32_t rank)
{
    static const enum call called[][2] = {{CALL_Allreduce, CALL_Iallreduce},
                                          {CALL_Barrier, CALL_Ibarrier},
                                          {CALL_Bcast, CALL_Ibcast},
                                          {CALL_Reduce, CALL_Ireduce},
                                          {CALL_Scan, CALL_Iscan}};
    uint32_t comm = draw_comm(rank), kind = draw(5);
    assert_true(m.instance_count < INSTANCES);
    struct model_instance *c = &m.instances[m.instance_count];
    *c =
        (struct model_instance){.call = called[kind][0], .comm = comm, .root = draw(m.sizes[comm])};
    c->immediate = draw(2) ? called[kind][1] : 0;
    memset(c->enters, 0xff, sizeof c->enters);
    return m.instance_count++;
}

static struct dependency_record record_of(const struct model_instance *c, uint32_t member)
{
    int rooted = call_flow_has_root(call_flow_of(c->call));
    return (struct dependency_record){.call = c->immediate ? c->immediate : c->call,
                                      .comm = c->comm + 1,
                                      .comm_rank = member + 1,
                                      .comm_size = m.sizes[c->comm],
                                      .peer =
                                          rooted ? (int64_t)m.comms[c->comm][c->root] : PEER_NONE,
                                      .tag = TAG_NONE};
}

/* A rank enters the oldest collective that it has not entered, or a new one: so that none waits for
 * a newer one. */
static void act_enter(uint32_t rank)
{
    uint32_t instance = pending_instance(rank);
    instance = instance == DEPENDENCY_NONE ? instance_add(rank) : instance;
    struct model_instance *c = &m.instances[instance];
    uint32_t member = member_of(c->comm, rank);
    int64_t at_ns = later(rank, 0);
    m.call_count++;
    c->enters[member] = event_add(rank, 0, at_ns, at_ns);
    m.events[c->enters[member]].instance = instance;
    if (!c->immediate) {
        m.in[rank] = instance;
        return;
    }
    uint32_t request = request_add((struct model_request){.kind = OF_COLLECTIVE,
                                                          .rank = rank,
                                                          .comm = c->comm,
                                                          .object = instance,
                                                          .posted_ns = at_ns});
    struct dependency_record record = record_of(c, member);
    record.request = m.requests[request].number;
    record.begin_ns = at_ns;
    record.end_ns = later(rank, 0);
    record.flags = EVENT_POST;
    record_add(rank, draw(m.threads), record);
}

/* A rank leaves its blocking collective, if those that it waits for have entered. */
static void act_leave(uint32_t rank)
{
    const struct model_instance *c = &m.instances[m.in[rank]];
    uint32_t member = member_of(c->comm, rank);
    if (!may_leave(c, member))
        return;
    const struct model_request leave = {.kind = OF_COLLECTIVE, .rank = rank, .object = m.in[rank]};
    struct dependency_record record = record_of(c, member);
    record.begin_ns = m.events[c->enters[member]].begin_ns;
    record.end_ns = later(rank, cause_ns(&leave));
    m.call_count++;
    uint32_t event = event_add(rank, 1, record.begin_ns, record.end_ns);
    m.events[event].instance = m.in[rank];
    for (uint32_t b = 0; b < m.sizes[c->comm]; b++)
        if (waits_for(c, member, b))
            m.depends[event][c->enters[b]] = 1;
    record_add(rank, draw(m.threads), record);
    m.in[rank] = DEPENDENCY_NONE;
}

static void act(uint32_t rank)
{
    uint32_t comm = draw_comm(rank), other = m.comms[comm][draw(m.sizes[comm])];
    int32_t tag = (int32_t)draw(2);
    if (m.in[rank] != DEPENDENCY_NONE) {
        act_leave(rank);
        return;
    }
    switch (draw(8)) {
    case 0:
    case 1:
        act_send(rank, other, comm, tag);
        break;
    case 2:
    case 3:
        act_irecv(rank, comm, draw(2) ? ANY : (int32_t)other, draw(2) ? ANY : tag);
        break;
    case 4:
        act_recv(rank);
        break;
    case 5:
        act_wait(rank, 1 + draw(3));
        break;
    case 6:
        act_enter(rank);
        break;
    default:
        deliver_some();
    }
}

/* All ranks enter what others have entered, and leave it. */
static void end_collectives(void)
{
    for (uint32_t pending = 1; pending > 0;) {
        pending = 0;
        for (uint32_t rank = 0; rank < m.ranks; rank++) {
            if (m.in[rank] != DEPENDENCY_NONE)
                act_leave(rank);
            else if (pending_instance(rank) != DEPENDENCY_NONE)
                act_enter(rank);
            pending += m.in[rank] != DEPENDENCY_NONE || pending_instance(rank) != DEPENDENCY_NONE;
        }
    }
}

static void end_messages(void)
{
    for (uint32_t i = 0; i < m.message_count; i++)
        while (m.messages[i].state == UNDER_WAY)
            deliver(i);
}

/* As before MPI_Finalize: every request is completed; a few messages nobody receives. */
static void program_end(void)
{
    end_collectives();
    end_messages();
    for (uint32_t i = 0; i < m.request_count; i++) {
        const struct model_request r = m.requests[i];
        if (r.kind != OF_RECEIVE || r.object != DEPENDENCY_NONE)
            continue;
        act_send(r.source == ANY ? m.comms[r.comm][0] : (uint32_t)r.source, r.rank, r.comm,
                 r.tag == ANY ? 0 : r.tag);
        end_messages();
    }
    for (uint32_t rank = 0; rank < m.ranks; rank++) {
        for (uint32_t i = 0; i < 8; i++)
            act_recv(rank);
        act_wait(rank, 2);
        act_wait(rank, 1);
    }
}

static void program_make(uint64_t seed)
{
    memset(&m, 0, sizeof m);
    m.random.random = seed * 7919;
    m.ranks = 2 + draw(RANKS - 1);
    m.threads = 1 + draw(2);
    memset(m.in, 0xff, sizeof m.in);
    for (uint32_t r = 0; r < m.ranks; r++) {
        uint32_t host = dependency_calls_host(&m.calls, r % 2 ? "odd" : "even", 1000);
        m.skew_ns[r] = seed % 3 ? 0 : (int64_t)(r % 2) * (int64_t)RANKS * 50;
        for (uint32_t t = 0; t < m.threads; t++)
            assert_int_equal(dependency_calls_thread(&m.calls, r, t, host, INT64_MAX),
                             r * m.threads + t);
    }
    for (uint32_t comm = 0; comm < COMMS; comm++) {
        for (uint32_t r = 0; r < m.ranks; r++) { /* in a random order */
            uint32_t at = draw(r + 1);
            m.comms[comm][r] = m.comms[comm][at];
            m.comms[comm][at] = r;
        }
        m.sizes[comm] = comm == 0 ? m.ranks : 2 + draw(m.ranks - 1);
    }
    for (uint32_t i = 0; i < ACTIONS; i++)
        act(draw(m.ranks));
    program_end();
}

/* ---- the reference --------------------------------------------------------------- */

static uint32_t next_of_rank(uint32_t event)
{
    for (uint32_t i = event + 1; i < m.event_count; i++)
        if (m.events[i].rank == m.events[event].rank)
            return i;
    return DEPENDENCY_NONE;
}

/* Does the call after the one in which a rank enters a collective leave it? */
static int leaves_next(uint32_t enter)
{
    uint32_t next = next_of_rank(enter);
    for (uint32_t i = next; i < m.event_count && m.events[i].call == m.events[next].call; i++)
        if (m.events[i].receive && m.events[i].instance == m.events[enter].instance)
            return 1;
    return 0;
}

/* The longest chain, where events of one call have the greatest step of them; then all that enter a
 * collective of all, and leave it by their next call, have the greatest step of them. */
static void reference_count_steps(void)
{
    for (uint32_t i = 0, end; i < m.event_count; i = end) {
        uint32_t step = 0;
        for (end = i; end < m.event_count && m.events[end].call == m.events[i].call; end++)
            for (uint32_t k = 0; k < i; k++)
                if (m.depends[end][k] && m.events[k].step + 1 > step)
                    step = m.events[k].step + 1;
        for (uint32_t k = i; k < end; k++)
            m.events[k].step = step;
    }
    for (uint32_t c = 0; c < m.instance_count; c++) {
        uint32_t most = 0;
        if (call_flow_of(m.instances[c].call) != CALL_FLOW_ALL)
            continue;
        for (uint32_t k = 0; k < m.sizes[m.instances[c].comm]; k++) {
            uint32_t step = m.events[m.instances[c].enters[k]].step;
            most = step > most ? step : most;
        }
        for (uint32_t k = 0; k < m.sizes[m.instances[c].comm]; k++)
            if (leaves_next(m.instances[c].enters[k]))
                m.events[m.instances[c].enters[k]].step = most;
    }
}

/* Times as recorded. */
static int64_t end_of(uint32_t event)
{
    return m.events[event].end_ns + m.skew_ns[m.events[event].rank];
}

static int64_t begin_of(uint32_t event)
{
    return m.events[event].begin_ns + m.skew_ns[m.events[event].rank];
}

/* A blocking send that lasted until its receiver had come counts at its begin. */
static void reference_find_awaited(void)
{
    for (uint32_t i = 0; i < m.event_count; i++) {
        const uint32_t send = m.events[i].send;
        if (send == DEPENDENCY_NONE || !m.events[send].blocking || begin_of(i) <= begin_of(send) ||
            begin_of(i) >= end_of(send))
            continue;
        m.events[send].awaited = i;
        m.events[send].end_ns = m.events[send].begin_ns;
    }
}

/* What an event inherits from one that it depends on; from a send before it in its rank, what that
 * waited for, too. */
static uint64_t reference_inherit(uint32_t event, uint32_t from)
{
    const uint32_t awaited = m.events[from].awaited;
    uint64_t late_ns = m.events[from].lateness_ns;
    uint32_t next = next_of_rank(from);
    if (awaited == DEPENDENCY_NONE || next == DEPENDENCY_NONE ||
        m.events[next].call != m.events[event].call)
        return late_ns;
    return m.events[awaited].lateness_ns > late_ns ? m.events[awaited].lateness_ns : late_ns;
}

static void reference_measure(void)
{
    for (uint32_t i = 0; i < m.event_count; i++) {
        int64_t first_ns = end_of(i);
        for (uint32_t k = 0; k < m.event_count; k++)
            if (m.events[k].step == m.events[i].step && end_of(k) < first_ns)
                first_ns = end_of(k);
        m.events[i].lateness_ns = (uint64_t)(end_of(i) - first_ns);
    }
    for (uint32_t i = 0, end; i < m.event_count; i = end) {
        uint64_t inherited = 0, late = m.events[i].lateness_ns;
        for (end = i; end < m.event_count && m.events[end].call == m.events[i].call; end++)
            for (uint32_t k = 0; k < i; k++)
                if (m.depends[end][k] && reference_inherit(end, k) > inherited)
                    inherited = reference_inherit(end, k);
        m.events[i].caused_ns = late > inherited ? late - inherited : 0;
    }
}

/* Nodes of Algorithm 1, and the longest chain of them before each. @param layers  set: by node
 * @return their number */
static uint32_t reference_layer(uint32_t *layers)
{
    uint32_t nodes = 0, newest[RANKS];
    uint8_t sends[EVENTS] = {0};
    memset(newest, 0xff, sizeof newest);
    for (uint32_t i = 0; i < m.event_count; i++) {
        struct model_event *e = &m.events[i];
        uint32_t *node = &newest[e->rank];
        if (*node == DEPENDENCY_NONE || (e->receive && sends[*node])) {
            layers[nodes] = *node == DEPENDENCY_NONE ? 0 : layers[*node] + 1;
            *node = nodes++;
        }
        e->node = *node;
        sends[*node] |= !e->receive;
        for (uint32_t k = 0; k < i; k++)
            if (m.depends[i][k] && m.events[k].node != *node &&
                layers[m.events[k].node] + 1 > layers[*node])
                layers[*node] = layers[m.events[k].node] + 1;
    }
    return nodes;
}

/* ---- comparing --------------------------------------------------------------------- */

static uint32_t place_of[EVENTS]; /* by event of the reference: its position in the result */

static void find_places(void)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < m.ranks; rank++)
        for (uint32_t i = 0; i < m.event_count; i++)
            if (m.events[i].rank == rank)
                place_of[i] = count++;
}

/* Every event is ordered once, and after all that it depends on. */
static void check_order(const struct dependencies *d)
{
    uint32_t ordered[EVENTS];
    memset(ordered, 0xff, sizeof ordered);
    for (uint32_t i = 0; i < d->event_count; i++) {
        assert_int_equal(ordered[d->order[i]], DEPENDENCY_NONE);
        ordered[d->order[i]] = i;
    }
    for (uint32_t i = 0; i < m.event_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (m.depends[i][k])
                assert_true(ordered[place_of[k]] < ordered[place_of[i]]);
}

static void check_messages(const struct dependencies *d)
{
    assert_int_equal(d->counts.matched, m.received);
    assert_int_equal(d->ranks.edge_count, m.received);
    assert_int_equal(d->counts.unmatched, m.message_count - m.received);
    assert_int_equal(d->counts.rejected + d->counts.aligned + d->counts.aligned_waits, 0);
    for (uint32_t i = 0; i < m.event_count; i++) {
        const struct dependency_event *e = &d->events[place_of[i]];
        if (m.events[i].send == DEPENDENCY_NONE)
            continue;
        const struct dependency_edge *edge = &d->ranks.edges[e->edge];
        assert_int_equal(e->match, place_of[m.events[i].send]);
        assert_int_equal(d->events[e->match].match, place_of[i]);
        assert_int_equal(edge->receive, place_of[i]);
        assert_int_equal(edge->send, e->match);
        assert_int_equal(edge->to, e->node);
        assert_int_equal(edge->from, d->events[e->match].node);
        assert_true(d->ranks.nodes[edge->from].layer < d->ranks.nodes[edge->to].layer);
    }
}

/* The critical chain goes from each event to one that its call depends on. */
static void check_chain(const struct dependencies *d)
{
    uint32_t chain[EVENTS], event_at[EVENTS], latest = dependencies_latest(d);
    for (uint32_t i = 0; i < m.event_count; i++)
        event_at[place_of[i]] = i;
    if (latest == DEPENDENCY_NONE)
        return;
    uint32_t count = dependencies_chain(d, latest, chain, EVENTS);
    assert_true(count >= 1 && count <= EVENTS && chain[0] == latest);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t later_one = event_at[chain[i - 1]], depends = 0;
        for (uint32_t k = 0; k < m.event_count; k++)
            depends |=
                m.events[k].call == m.events[later_one].call && m.depends[k][event_at[chain[i]]];
        assert_true(depends);
    }
}

static void the_graph_of_a_random_program_is_what_the_library_did(void **state)
{
    static uint32_t layers[EVENTS];
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dependencies d;
        program_make(seed);
        find_places();
        reference_count_steps();
        reference_find_awaited();
        reference_measure();
        uint32_t nodes = reference_layer(layers);
        assert_int_equal(dependencies_make(&d, &m.calls, NULL), 0);
        assert_int_equal(d.event_count, m.event_count);
        assert_int_equal(d.collective_count, m.instance_count);
        assert_int_equal(d.ranks.node_count, nodes);
        check_order(&d);
        check_messages(&d);
        for (uint32_t i = 0; i < m.event_count; i++) {
            const struct model_event *r = &m.events[i];
            const struct dependency_event *e = &d.events[place_of[i]];
            assert_int_equal(e->rank, r->rank);
            assert_int_equal(e->receive, r->receive);
            assert_int_equal(e->end_ns, end_of(i));
            assert_int_equal(e->step, r->step);
            assert_int_equal(e->lateness_ns, r->lateness_ns);
            assert_int_equal(e->caused_ns, r->caused_ns);
            assert_int_equal(d.ranks.nodes[e->node].layer, layers[r->node]);
        }
        check_chain(&d);
        dependencies_finish(&d);
        dependency_calls_finish(&m.calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_of_a_random_program_is_what_the_library_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
