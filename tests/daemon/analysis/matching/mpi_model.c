#include "tests/daemon/analysis/matching/mpi_model.h"

#include "holter/call.h"
#include "holter/segment.h"

#include <stdlib.h>
#include <string.h>

#define TAGS 3
#define MAX_REQUESTS 12 /* outstanding of a thread */
#define MAX_IDLE 8
#define OWN_TAG 1000 /* from here on tags of persistent requests */
#define NOBODY (-1)

struct message {
    int from, to, comm, tag;
    uint64_t bytes, send_ns;
    int receive; /* posted receive that took it; NOBODY: unexpected; -2: taken by a probe */
};

enum stage { FREE, OPEN, MATCHED, TAKEN };

/* A receive, or a message taken by a probe. */
struct receive {
    enum stage stage;
    int rank, thread, comm, source, tag; /* source, tag: PEER_ANY, TAG_ANY */
    int message;                         /* that it took */
    uint32_t request;
    uint64_t post_ns, order;
    uint64_t posted_ns; /* the call that made its request, or took its message, had returned */
    int persistent;
};

/* A persistent request between a completion and the next start. */
struct idle {
    uint32_t request;
    int thread, comm, source, tag;
    uint64_t since_ns; /* the call that completed it had returned */
};

struct thread {
    uint64_t free_ns; /* its last call ended */
    int blocked;      /* in a call that waits for `waits` */
    uint64_t blocked_ns;
    uint16_t call;
    int waits;         /* receive */
    struct event half; /* MPI_Sendrecv: what it sends */
};

struct model_state {
    uint64_t random;
    struct message *messages;
    size_t message_count, message_capacity;
    struct receive *receives;
    size_t receive_count, receive_capacity;
    struct thread threads[MODEL_RANKS][MODEL_THREADS];
    uint32_t requests[MODEL_RANKS];
    struct idle idle[MODEL_RANKS][MAX_IDLE];
    uint64_t order;
    int done, ending;
};

static uint64_t draw(struct model *m)
{
    uint64_t *x = &m->state->random;
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x >> 11;
}

static int below(struct model *m, int n)
{
    return (int)(draw(m) % (uint64_t)n);
}

static void *room_for(void *array, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 256 : 2 * *capacity;
    void *grown = realloc(array, *capacity * each);
    if (grown == NULL)
        abort();
    return grown;
}

/* ---- records ------------------------------------------------------------- */

static void put(struct model *m, int rank, int thread, struct event event)
{
    struct model_ring *ring = &m->rings[rank][thread];
    ring->events = room_for(ring->events, ring->count, &ring->capacity, sizeof event);
    event.seq = ring->count;
    ring->events[ring->count++] = event;
    ring->underway.kind = 0;
    m->state->threads[rank][thread].free_ns = event.t_exit;
}

static struct event record(uint16_t call, uint32_t flags, int peer, int tag, int comm)
{
    return (struct event){.kind = EVENT_CALL,
                          .call = call,
                          .flags = (uint16_t)flags,
                          .peer = peer,
                          .tag = tag,
                          .comm = (uint16_t)comm};
}

/* Begin and end of a call that takes effect now and waits for nobody: of several threads, calls
 * overlap. */
static void stamp(struct model *m, int rank, int thread, struct event *event)
{
    uint64_t since = m->state->threads[rank][thread].free_ns;
    uint64_t back = 1 + (uint64_t)below(m, 400);
    m->now_ns = (since > m->now_ns ? since : m->now_ns) + 1000;
    event->t_enter = m->now_ns - back > since ? m->now_ns - back : since + 1;
    event->t_exit = m->now_ns + 1 +
                    (m->options.threads > 1 ? (uint64_t)below(m, 3000) : (uint64_t)below(m, 300));
}

/* ---- matching as MPI does it --------------------------------------------- */

static int fits(const struct receive *r, const struct message *message)
{
    return r->rank == message->to && r->comm == message->comm &&
           (r->source == PEER_ANY || r->source == message->from) &&
           (r->tag == TAG_ANY || r->tag == message->tag);
}

static int first_unexpected(const struct model *m, const struct receive *r)
{
    for (size_t i = 0; i < m->state->message_count; i++)
        if (m->state->messages[i].receive == NOBODY && fits(r, &m->state->messages[i]))
            return (int)i;
    return NOBODY;
}

static void marry(struct model *m, int receive, int message)
{
    m->state->receives[receive].stage = MATCHED;
    m->state->receives[receive].message = message;
    m->state->messages[message].receive = receive;
}

static int new_receive(struct model *m, int rank, int thread, int comm, int source, int tag)
{
    struct model_state *s = m->state;
    s->receives =
        room_for(s->receives, s->receive_count, &s->receive_capacity, sizeof *s->receives);
    s->receives[s->receive_count] = (struct receive){.stage = FREE,
                                                     .rank = rank,
                                                     .thread = thread,
                                                     .comm = comm,
                                                     .source = source,
                                                     .tag = tag,
                                                     .message = NOBODY};
    return (int)s->receive_count++;
}

/* The receive takes its place in the queue. */
static void post(struct model *m, int receive, uint64_t ns)
{
    struct receive *r = &m->state->receives[receive];
    r->stage = OPEN;
    r->order = ++m->state->order;
    r->post_ns = ns;
    int message = first_unexpected(m, r);
    if (message != NOBODY)
        marry(m, receive, message);
}

static void deliver(struct model *m, int message)
{
    struct model_state *s = m->state;
    int best = NOBODY;
    for (size_t i = 0; i < s->receive_count; i++)
        if (s->receives[i].stage == OPEN && fits(&s->receives[i], &s->messages[message]) &&
            (best == NOBODY || s->receives[i].order < s->receives[best].order))
            best = (int)i;
    if (best != NOBODY)
        marry(m, best, message);
}

static int new_message(struct model *m, int from, int to, int comm, int tag, uint64_t enter_ns)
{
    struct model_state *s = m->state;
    s->messages =
        room_for(s->messages, s->message_count, &s->message_capacity, sizeof *s->messages);
    s->messages[s->message_count] =
        (struct message){from, to, comm, tag, draw(m) % m->options.sizes, enter_ns, NOBODY};
    m->sent++;
    return (int)s->message_count++;
}

static void know(struct model *m, const struct receive *r, const struct event *event)
{
    const struct message *message = &m->state->messages[r->message];
    m->truth = room_for(m->truth, m->truth_count, &m->truth_capacity, sizeof *m->truth);
    m->truth[m->truth_count++] = (struct model_message){(uint32_t)message->from,
                                                        (uint32_t)message->to,
                                                        message->bytes,
                                                        message->send_ns,
                                                        event->t_enter,
                                                        event->t_exit,
                                                        0};
}

/* The receive's request is free for another start. */
static void retire(struct model *m, struct receive *r, uint64_t exit_ns)
{
    struct idle *idle = m->state->idle[r->rank];
    r->stage = FREE;
    for (int i = 0; r->persistent && i < MAX_IDLE; i++) {
        if (idle[i].request != 0)
            continue;
        idle[i] = (struct idle){r->request, r->thread, r->comm, r->source, r->tag, exit_ns};
        return;
    }
}

/* The receive of a persistent request for a call that begins at this time: a new one, or one that
 * was completed before. Its tag is its own, so that any thread may start it and there is an order.
 */
static void make_persistent(struct model *m, struct receive *r, uint64_t enter_ns)
{
    struct idle *idle = m->state->idle[r->rank];
    r->persistent = 1;
    for (int i = 0; i < MAX_IDLE; i++) {
        if (idle[i].request == 0 || idle[i].since_ns >= enter_ns)
            continue;
        r->request = idle[i].request;
        r->thread = idle[i].thread;
        r->comm = idle[i].comm;
        r->source = idle[i].source;
        r->tag = idle[i].tag;
        idle[i].request = 0;
        return;
    }
    r->request = ++m->state->requests[r->rank];
    r->tag = OWN_TAG + (int)r->request;
}

/* The record of a receive that ends. */
static void complete(struct model *m, struct receive *r, struct event *event)
{
    const struct message *message = &m->state->messages[r->message];
    event->flags |= EVENT_RECV | EVENT_DONE;
    event->flags |= r->source == PEER_ANY || r->tag == TAG_ANY ? EVENT_WILDCARD : 0;
    event->flags |= r->persistent ? EVENT_PERSISTENT : 0;
    event->comm = (uint16_t)r->comm;
    event->peer = message->from;
    event->tag = message->tag;
    event->bytes = message->bytes;
    event->request = r->request;
    event->t_post = r->request != 0 ? r->post_ns : 0;
    know(m, r, event);
    retire(m, r, event->t_exit);
}

/* ---- calls --------------------------------------------------------------- */

static int draw_tag(struct model *m, int thread)
{
    int tag = below(m, TAGS);
    return m->options.shared ? tag : 10 * thread + tag;
}

/* Threads with tags of their own take no messages of others. */
static int draw_receive(struct model *m, int rank, int thread)
{
    int wild = m->options.wildcards ? below(m, 6) : 0;
    int any_tag = (wild == 1 || wild == 2) && (m->options.shared || m->options.threads == 1);
    int any_source = wild == 2 || wild == 3;
    return new_receive(m, rank, thread, below(m, MODEL_COMMS),
                       any_source ? PEER_ANY : below(m, MODEL_RANKS),
                       any_tag ? TAG_ANY : draw_tag(m, thread));
}

static void send_to(struct model *m, int rank, int thread, int to, int comm, int tag)
{
    static const uint16_t calls[] = {CALL_Send, CALL_Isend, CALL_Start, CALL_Bsend};
    uint16_t call = calls[below(m, 4)];
    struct event event = record(call, EVENT_SEND | EVENT_POST, to, tag, comm);
    event.flags |= call == CALL_Start ? EVENT_PERSISTENT : call == CALL_Isend ? 0 : EVENT_DONE;
    stamp(m, rank, thread, &event);
    int message = new_message(m, rank, to, comm, tag, event.t_enter);
    event.bytes = m->state->messages[message].bytes;
    event.request = call == CALL_Isend || call == CALL_Start ? ++m->state->requests[rank] : 0;
    put(m, rank, thread, event);
    deliver(m, message);
}

static void do_send(struct model *m, int rank, int thread)
{
    struct model_state *s = m->state;
    int among = (int)(s->receive_count < 300 ? s->receive_count : 300);
    if (below(m, 3) > 0 && among > 0) { /* what somebody waits for */
        for (int i = 0; i < 40; i++) {
            const struct receive *r = &s->receives[s->receive_count - 1 - (size_t)below(m, among)];
            if (r->stage != OPEN || (r->source != PEER_ANY && r->source != rank) ||
                (!m->options.shared && r->thread != thread))
                continue;
            send_to(m, rank, thread, r->rank, r->comm,
                    r->tag == TAG_ANY ? draw_tag(m, r->thread) : r->tag);
            return;
        }
    }
    int of = m->options.shared ? below(m, m->options.threads) : thread;
    send_to(m, rank, thread, below(m, MODEL_RANKS), below(m, MODEL_COMMS), draw_tag(m, of));
}

static void do_irecv(struct model *m, int rank, int thread)
{
    int receive = draw_receive(m, rank, thread);
    struct receive *r = &m->state->receives[receive];
    struct event event = record(CALL_Irecv, EVENT_RECV | EVENT_POST, 0, 0, 0);
    stamp(m, rank, thread, &event);
    if (below(m, 4) == 0)
        make_persistent(m, r, event.t_enter);
    else
        r->request = ++m->state->requests[rank];
    event.call = r->persistent ? CALL_Start : CALL_Irecv;
    event.flags |= r->source == PEER_ANY || r->tag == TAG_ANY ? EVENT_WILDCARD : 0;
    event.flags |= r->persistent ? EVENT_PERSISTENT : 0;
    event.peer = r->source;
    event.tag = r->tag;
    event.comm = (uint16_t)r->comm;
    event.request = r->request;
    r->posted_ns = event.t_exit;
    put(m, rank, thread, event);
    post(m, receive, event.t_enter);
}

/* Receives at some stage that a call of the thread may end which begins at this time, in random
 * order. */
static int own(struct model *m, int rank, int thread, enum stage stage, uint64_t enter_ns, int *out)
{
    int count = 0;
    for (size_t i = 0; i < m->state->receive_count && count < 3 * MAX_REQUESTS; i++) {
        const struct receive *r = &m->state->receives[i];
        if (r->stage == stage && r->rank == rank && r->request != 0 &&
            (r->thread == thread || m->options.handed) && r->posted_ns < enter_ns)
            out[count++] = (int)i;
    }
    for (int i = count - 1; i > 0; i--) {
        int j = below(m, i + 1), swap = out[i];
        out[i] = out[j];
        out[j] = swap;
    }
    return count;
}

/* MPI_Wait, Waitany, Waitsome, Waitall of some of the receives that have their message. */
static void do_wait(struct model *m, int rank, int thread)
{
    struct event stamps = record(CALL_Wait, 0, PEER_NONE, TAG_NONE, 0);
    stamp(m, rank, thread, &stamps);
    int ready[3 * MAX_REQUESTS], count = own(m, rank, thread, MATCHED, stamps.t_enter, ready);
    if (count == 0)
        return;
    int taken = below(m, 3) == 0 ? count : 1 + below(m, count);
    if (taken > 1)
        stamps.call = CALL_Waitsome;
    else if (below(m, 2))
        stamps.call = CALL_Waitany;
    for (int i = 0; i < taken; i++) {
        struct event event = stamps;
        event.kind = i == 0 ? EVENT_CALL : EVENT_PART;
        event.parts = (uint16_t)(i == 0 ? taken - 1 : 0);
        complete(m, &m->state->receives[ready[i]], &event);
        put(m, rank, thread, event);
    }
}

static void do_cancel(struct model *m, int rank, int thread)
{
    struct event event = record(CALL_Wait, EVENT_RECV | EVENT_CANCELLED, 0, 0, 0);
    stamp(m, rank, thread, &event);
    int open[3 * MAX_REQUESTS];
    if (own(m, rank, thread, OPEN, event.t_enter, open) == 0)
        return;
    struct receive *r = &m->state->receives[open[0]];
    event.peer = r->source;
    event.tag = r->tag;
    event.comm = (uint16_t)r->comm;
    event.flags |= r->source == PEER_ANY || r->tag == TAG_ANY ? EVENT_WILDCARD : 0;
    event.request = r->request;
    event.t_post = r->post_ns;
    put(m, rank, thread, event);
    retire(m, r, event.t_exit);
}

/* MPI_Improbe, then, some time later, MPI_Mrecv or MPI_Imrecv and a wait. */
static void do_probe(struct model *m, int rank, int thread)
{
    int receive = draw_receive(m, rank, thread);
    struct receive *r = &m->state->receives[receive];
    int message = first_unexpected(m, r);
    if (message == NOBODY) {
        m->state->receive_count--;
        return;
    }
    const struct message *found = &m->state->messages[message];
    struct event event = record(CALL_Improbe, EVENT_WILDCARD, found->from, found->tag, r->comm);
    stamp(m, rank, thread, &event);
    event.request = r->request = ++m->state->requests[rank];
    r->posted_ns = event.t_exit;
    put(m, rank, thread, event);
    marry(m, receive, message);
    r->stage = TAKEN;
    r->source = found->from;
    r->tag = found->tag;
}

static void do_mrecv(struct model *m, int rank, int thread)
{
    struct event event = record(CALL_Mrecv, EVENT_RECV | EVENT_POST, 0, 0, 0);
    stamp(m, rank, thread, &event);
    int taken[3 * MAX_REQUESTS];
    if (own(m, rank, thread, TAKEN, event.t_enter, taken) == 0)
        return;
    struct receive *r = &m->state->receives[taken[0]];
    uint32_t message = r->request;
    if (below(m, 2)) {
        event.call = CALL_Imrecv;
        event.peer = r->source;
        event.tag = r->tag;
        event.comm = (uint16_t)r->comm;
        event.request = r->request = ++m->state->requests[rank];
        r->post_ns = event.t_enter;
        r->posted_ns = event.t_exit;
        r->stage = MATCHED;
    } else {
        r->request = 0;
        complete(m, r, &event);
    }
    event.message = message;
    put(m, rank, thread, event);
}

/* A receive that blocks until its message is there; what it may wait for is sent in the end. */
static void do_recv(struct model *m, int rank, int thread)
{
    struct thread *t = &m->state->threads[rank][thread];
    int receive = draw_receive(m, rank, thread);
    struct receive *r = &m->state->receives[receive];
    if (rank > 0 && r->source != PEER_ANY)
        r->source = 0; /* which can send what is waited for */
    if (rank == 0 && first_unexpected(m, r) == NOBODY) {
        m->state->receive_count--; /* a rank that never blocks keeps the others going */
        return;
    }
    struct event event =
        record(CALL_Recv, EVENT_RECV | EVENT_POST | EVENT_DONE, r->source, r->tag, r->comm);
    event.flags |= r->source == PEER_ANY || r->tag == TAG_ANY ? EVENT_WILDCARD : 0;
    stamp(m, rank, thread, &event);
    int both = below(m, 4) == 0;
    if (both) {
        int to = below(m, MODEL_RANKS), tag = draw_tag(m, thread);
        event.receive_ends = (uint64_t)(uint32_t)r->source | (uint64_t)(uint32_t)r->tag << 32;
        event.call = CALL_Sendrecv;
        event.flags = EVENT_SEND | EVENT_POST | EVENT_DONE;
        event.peer = to;
        event.tag = tag;
        int message = new_message(m, rank, to, r->comm, tag, event.t_enter);
        event.bytes = m->state->messages[message].bytes;
        t->half = event;
        deliver(m, message);
    }
    t->blocked = 1;
    t->blocked_ns = event.t_enter;
    t->waits = receive;
    t->call = event.call;
    event.t_exit = 0;
    m->rings[rank][thread].underway = event;
    post(m, receive, event.t_enter);
}

static void unblock(struct model *m, int rank, int thread)
{
    struct thread *t = &m->state->threads[rank][thread];
    struct receive *r = &m->state->receives[t->waits];
    if (!t->blocked || r->stage != MATCHED || below(m, 8) == 0)
        return;
    struct event event = record(t->call, EVENT_POST, PEER_NONE, TAG_NONE, r->comm);
    m->now_ns += 1000;
    event.t_enter = t->blocked_ns;
    event.t_exit = m->now_ns;
    if (t->call == CALL_Sendrecv) {
        t->half.t_exit = m->now_ns;
        t->half.parts = 1;
        put(m, rank, thread, t->half);
        event.kind = EVENT_PART;
    }
    complete(m, r, &event);
    put(m, rank, thread, event);
    t->blocked = 0;
}

static void step(struct model *m)
{
    int rank = below(m, MODEL_RANKS), thread = below(m, m->options.threads);
    struct thread *t = &m->state->threads[rank][thread];
    int requests[3 * MAX_REQUESTS];
    if (below(m, 50) == 0)
        m->now_ns += (uint64_t)below(m, 1000000);
    for (int i = 0; i < MODEL_RANKS * m->options.threads; i++)
        unblock(m, i % MODEL_RANKS, i / MODEL_RANKS); /* who waits wakes soon, most of the time */
    if (t->blocked)
        return;
    int open = own(m, rank, thread, OPEN, UINT64_MAX, requests);
    switch (below(m, 10)) {
    case 0:
    case 1:
        if (open < MAX_REQUESTS) {
            do_irecv(m, rank, thread);
            break;
        } /* fall through */
    case 2:
    case 3:
        do_wait(m, rank, thread);
        break;
    case 4:
        do_probe(m, rank, thread);
        break;
    case 5:
        do_mrecv(m, rank, thread);
        break;
    case 6:
        if (below(m, 4) == 0)
            do_cancel(m, rank, thread);
        else if (below(m, 3) == 0)
            do_recv(m, rank, thread);
        break;
    default:
        do_send(m, rank, thread);
    }
}

/* Somebody who is not blocked sends what a blocked call waits for. */
static void send_wanted(struct model *m, const struct receive *wanted)
{
    int from = wanted->source == PEER_ANY ? 0 : wanted->source;
    if (!m->state->threads[from][wanted->thread].blocked)
        send_to(m, from, wanted->thread, wanted->rank, wanted->comm,
                wanted->tag == TAG_ANY ? 0 : wanted->tag);
}

/* Send what is waited for, complete what is open. @return whether something was left to do */
static int finish(struct model *m)
{
    int left = 0;
    for (int rank = 0; rank < MODEL_RANKS; rank++) {
        for (int thread = 0; thread < m->options.threads; thread++) {
            if (m->state->threads[rank][thread].blocked) {
                unblock(m, rank, thread);
                continue;
            }
            do_wait(m, rank, thread);
            do_mrecv(m, rank, thread);
            do_cancel(m, rank, thread);
        }
    }
    for (size_t i = 0; i < m->state->receive_count; i++) {
        struct receive receive = m->state->receives[i]; /* they may move */
        left |= receive.stage != FREE;
        if (receive.stage == OPEN && receive.request == 0)
            send_wanted(m, &receive);
    }
    return left;
}

struct model *model_create(const struct model_options *options)
{
    struct model *m = calloc(1, sizeof *m);
    struct model_state *state = calloc(1, sizeof *state);
    if (m == NULL || state == NULL) {
        free(m);
        free(state);
        return NULL;
    }
    m->options = *options;
    m->state = state;
    state->random = options->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    m->now_ns = 1000000;
    for (int i = 0; i < 8; i++)
        draw(m);
    return m;
}

int model_run(struct model *m, int calls)
{
    for (int i = 0; i < calls; i++, m->state->done++) {
        if (m->state->done < m->options.steps)
            step(m);
        else if (!finish(m) || m->state->done > m->options.steps + 2000)
            return 0;
    }
    return 1;
}

void model_destroy(struct model *m)
{
    for (int rank = 0; rank < MODEL_RANKS; rank++)
        for (int thread = 0; thread < MODEL_THREADS; thread++)
            free(m->rings[rank][thread].events);
    free(m->state->messages);
    free(m->state->receives);
    free(m->state);
    free(m->truth);
    free(m);
}
