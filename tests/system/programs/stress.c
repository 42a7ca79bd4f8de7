/* stress SEED ROUNDS [MAX_BYTES [CROWD]]: random point-to-point traffic in every way that MPI has,
 * on world, duplicated, split, created and inter-communicators, from one thread and from four.
 * Every byte received is verified. With a CROWD other than 0 four threads also send and receive on
 * one communicator with one tag, so that the order of messages is any. Needs two ranks or more. */
#include "completion.h"
#include "plan.h"
#include "truth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 24
#define SLOTS (2 * MESSAGES + 4)
#define THREADS 4
#define CROWD_TAG 7777
#define CROWD_BYTES 2048

/* What one thread of one rank works with. */
struct worker {
    const struct space *space;
    uint64_t plan;   /* generator in step on all ranks */
    uint64_t choice; /* generator of this rank alone */
    size_t most_bytes;
    int first_tag;
    int shared; /* other threads use the same communicator: no wildcards */
    int crowd;
};

enum wildcard { NO_WILDCARD, ANY_SOURCE, ANY_TAG, ANY_BOTH, WILDCARDS };

/* Requests of one phase, and what is behind each. */
struct batch {
    struct message *plan;
    int n;        /* messages in the plan */
    int requests; /* slots in use */
    MPI_Request request[SLOTS];
    MPI_Status status[SLOTS];
    struct truth_span span[SLOTS]; /* of the call that completed it */
    char *buffer[SLOTS];           /* owned */
    size_t capacity[SLOTS];        /* bytes of a receive buffer */
    int message[SLOTS];            /* position in the plan; -1: none */
    int receives[SLOTS];           /* 1: a receive */
    enum wildcard wildcard;
};

static size_t largest(const struct batch *b)
{
    size_t most = 0;
    for (int i = 0; i < b->n; i++)
        if (b->plan[i].bytes > most)
            most = b->plan[i].bytes;
    return most;
}

static struct batch *batch_draw(struct worker *w, size_t most_bytes)
{
    struct batch *b = calloc(1, sizeof *b);
    if (!b)
        truth_broken("out of memory");
    b->n = 1 + draw_below(&w->plan, MESSAGES);
    b->plan = plan_draw(&w->plan, w->space, b->n, most_bytes, w->first_tag);
    b->wildcard = (enum wildcard)draw_below(&w->plan, WILDCARDS);
    if (w->shared)
        b->wildcard = NO_WILDCARD;
    return b;
}

static int batch_slot(struct batch *b, int message, int receives)
{
    int slot = b->requests++;
    b->request[slot] = MPI_REQUEST_NULL;
    b->message[slot] = message;
    b->receives[slot] = receives;
    if (message < 0)
        return slot;
    b->capacity[slot] =
        b->wildcard == NO_WILDCARD ? b->plan[message].bytes + (size_t)message % 3 : largest(b);
    b->buffer[slot] = receives ? malloc(b->capacity[slot] + 1) : message_payload(&b->plan[message]);
    if (!b->buffer[slot])
        truth_broken("out of memory");
    return slot;
}

static int source_of(const struct batch *b, const struct message *m)
{
    return b->wildcard == ANY_SOURCE || b->wildcard == ANY_BOTH ? MPI_ANY_SOURCE : m->from;
}

static int tag_of(const struct batch *b, const struct message *m)
{
    return b->wildcard == ANY_TAG || b->wildcard == ANY_BOTH ? MPI_ANY_TAG : m->tag;
}

/* A message was posted by a call at a time. */
static void sent(struct truth_span posted, const struct message *m)
{
    truth_sent(m->to_world, m->bytes);
    truth_trace_send(posted, m->to_world, m->bytes, m->serial);
}

/* A message is here, completed by a call at a time: which one, and is it whole? With wildcards its
 * status and its first bytes tell. */
static void arrived(const struct batch *b, const struct message *expected,
                    struct truth_span completed, const MPI_Status *status, const char *bytes,
                    size_t length)
{
    if (b->wildcard != NO_WILDCARD)
        expected = &b->plan[message_find(b->plan, b->n, status->MPI_SOURCE, status->MPI_TAG, bytes,
                                         length)];
    message_check(expected, bytes, length);
    truth_received(length);
    truth_trace_receive(completed, expected->from_world, length, expected->serial);
}

/* Check and free all buffers. Statuses are valid. */
static void batch_finish(struct worker *w, struct batch *b)
{
    /* a wildcard must not take what a faster rank sends in its next phase */
    if (b->wildcard != NO_WILDCARD)
        CALL(Barrier, w->space->comm);
    for (int i = 0; i < b->requests; i++) {
        int length = 0;
        if (b->receives[i]) {
            MPI_Get_count(&b->status[i], MPI_BYTE, &length);
            arrived(b, &b->plan[b->message[i]], b->span[i], &b->status[i], b->buffer[i],
                    (size_t)length);
        }
        free(b->buffer[i]);
    }
    free(b->plan);
    free(b);
}

static void post_receives(struct worker *w, struct batch *b)
{
    for (int i = 0; i < b->n; i++) {
        const struct message *m = &b->plan[i];
        if (!m->received_by_me)
            continue;
        int s = batch_slot(b, i, 1);
        CALL(Irecv, b->buffer[s], (int)b->capacity[s], MPI_BYTE, source_of(b, m), tag_of(b, m),
             w->space->comm, &b->request[s]);
    }
}

static void post_sends(struct worker *w, struct batch *b, int ready)
{
    for (int i = 0; i < b->n; i++) {
        const struct message *m = &b->plan[i];
        if (!m->sent_by_me)
            continue;
        int s = batch_slot(b, i, 0), n = (int)m->bytes;
        switch (draw_below(&w->choice, 3)) {
        case 0:
            CALL(Issend, b->buffer[s], n, MPI_BYTE, m->to, m->tag, w->space->comm, &b->request[s]);
            break;
        case 1:
            if (ready) {
                CALL(Irsend, b->buffer[s], n, MPI_BYTE, m->to, m->tag, w->space->comm,
                     &b->request[s]);
                break;
            } /* fall through */
        default:
            CALL(Isend, b->buffer[s], n, MPI_BYTE, m->to, m->tag, w->space->comm, &b->request[s]);
        }
        sent(truth_span(), m);
    }
}

static void finish_requests(struct worker *w, struct batch *b)
{
    int style = draw_below(&w->choice, COMPLETION_STYLES);
    complete((enum completion_style)style, b->requests, b->request, b->status, b->span);
}

/* All receives posted, all sends posted, completed in one of ten ways. */
static void immediate(struct worker *w)
{
    struct batch *b = batch_draw(w, w->most_bytes);
    post_receives(w, b);
    batch_slot(b, -1, 0); /* a null request in their midst */
    int ready = !w->shared && !w->space->inter;
    if (ready)
        CALL(Barrier, w->space->comm);
    post_sends(w, b, ready);
    finish_requests(w, b);
    batch_finish(w, b);
}

/* As immediate(), with MPI_STATUS_IGNORE: lengths are known to the plan alone. */
static void without_statuses(struct worker *w)
{
    struct batch *b = batch_draw(w, 4096);
    b->wildcard = NO_WILDCARD;
    post_receives(w, b);
    post_sends(w, b, 0);
    complete((enum completion_style)draw_below(&w->choice, COMPLETION_STYLES), b->requests,
             b->request, NULL, b->span);
    for (int i = 0; i < b->requests; i++) {
        if (b->receives[i])
            arrived(b, &b->plan[b->message[i]], b->span[i], NULL, b->buffer[i],
                    b->plan[b->message[i]].bytes);
        free(b->buffer[i]);
    }
    free(b->plan);
    free(b);
}

static void receive_probed(struct worker *w, const struct batch *b, const struct message *m)
{
    MPI_Comm comm = w->space->comm;
    MPI_Status status;
    MPI_Message handle;
    MPI_Request request;
    int source = source_of(b, m), tag = tag_of(b, m), found = 0, length = 0,
        way = draw_below(&w->choice, 5);
    if (way == 0) {
        CALL(Probe, source, tag, comm, &status);
    } else if (way == 1) {
        while (!POLL(&found, Iprobe, source, tag, comm, &found, &status))
            ;
    } else if (way == 2) {
        CALL(Mprobe, source, tag, comm, &handle, &status);
    } else {
        while (!POLL(&found, Improbe, source, tag, comm, &found, &handle, &status))
            ;
    }
    MPI_Get_count(&status, MPI_BYTE, &length);
    char *bytes = malloc((size_t)length + 1);
    if (way < 2)
        CALL(Recv, bytes, length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
             MPI_STATUS_IGNORE);
    else if (way < 4)
        CALL(Mrecv, bytes, length, MPI_BYTE, &handle, &status);
    else {
        CALL(Imrecv, bytes, length, MPI_BYTE, &handle, &request);
        CALL(Wait, &request, MPI_STATUS_IGNORE);
    }
    arrived(b, m, truth_span(), &status, bytes, (size_t)length);
    free(bytes);
}

/* Sends posted, then each message probed for and received, or received outright. */
static void probed(struct worker *w)
{
    struct batch *b = batch_draw(w, 65536);
    post_sends(w, b, 0);
    for (int i = 0; i < b->n; i++) {
        const struct message *m = &b->plan[i];
        MPI_Status status;
        int length = 0;
        if (!m->received_by_me)
            continue;
        if (draw_below(&w->choice, 4) > 0) {
            receive_probed(w, b, m);
            continue;
        }
        char *bytes = malloc(largest(b) + 1);
        CALL(Recv, bytes, (int)largest(b), MPI_BYTE, source_of(b, m), tag_of(b, m), w->space->comm,
             &status);
        MPI_Get_count(&status, MPI_BYTE, &length);
        arrived(b, m, truth_span(), &status, bytes, (size_t)length);
        free(bytes);
    }
    finish_requests(w, b);
    batch_finish(w, b);
}

static void blocking_send(struct worker *w, const struct message *m, const char *bytes)
{
    MPI_Comm comm = w->space->comm;
    int n = (int)m->bytes;
    switch (draw_below(&w->choice, 4)) {
    case 0:
        CALL(Ssend, bytes, n, MPI_BYTE, m->to, m->tag, comm);
        break;
    case 1:
        if (!w->shared && !w->space->inter) {
            CALL(Rsend, bytes, n, MPI_BYTE, m->to, m->tag, comm);
            break;
        } /* fall through */
    case 2:
        if (m->bytes <= 1024) {
            CALL(Bsend, bytes, n, MPI_BYTE, m->to, m->tag, comm);
            break;
        } /* fall through */
    default:
        CALL(Send, bytes, n, MPI_BYTE, m->to, m->tag, comm);
    }
    sent(truth_span(), m);
}

/* Receives posted before a barrier, then sends that block. */
static void blocking(struct worker *w)
{
    struct batch *b = batch_draw(w, w->most_bytes);
    post_receives(w, b);
    if (!w->shared && !w->space->inter)
        CALL(Barrier, w->space->comm);
    for (int i = 0; i < b->n; i++)
        if (b->plan[i].sent_by_me) {
            char *bytes = message_payload(&b->plan[i]);
            blocking_send(w, &b->plan[i], bytes);
            free(bytes);
        }
    finish_requests(w, b);
    batch_finish(w, b);
}

static void init_persistent(struct worker *w, struct batch *b)
{
    MPI_Comm comm = w->space->comm;
    for (int i = 0; i < b->n; i++) {
        const struct message *m = &b->plan[i];
        if (m->received_by_me) {
            int s = batch_slot(b, i, 1);
            CALL(Recv_init, b->buffer[s], (int)b->capacity[s], MPI_BYTE, source_of(b, m),
                 tag_of(b, m), comm, &b->request[s]);
        }
        if (m->sent_by_me) {
            int s = batch_slot(b, i, 0);
            if (draw_below(&w->choice, 2))
                CALL(Send_init, b->buffer[s], (int)m->bytes, MPI_BYTE, m->to, m->tag, comm,
                     &b->request[s]);
            else
                CALL(Ssend_init, b->buffer[s], (int)m->bytes, MPI_BYTE, m->to, m->tag, comm,
                     &b->request[s]);
        }
    }
}

static size_t bytes_to_send(const struct batch *b, int from, int to)
{
    size_t sum = 0;
    for (int i = from; i < to; i++)
        sum += b->receives[i] ? 0 : b->plan[b->message[i]].bytes;
    return sum;
}

static void start_persistent(struct worker *w, struct batch *b)
{
    int together = draw_below(&w->choice, 2) && b->requests;
    if (together)
        CALL_BYTES(bytes_to_send(b, 0, b->requests), 0, Startall, b->requests, b->request);
    for (int i = 0; i < b->requests; i++) {
        if (!together)
            CALL_BYTES(bytes_to_send(b, i, i + 1), 0, Start, &b->request[i]);
        if (!b->receives[i])
            sent(truth_span(), &b->plan[b->message[i]]);
    }
}

/* Requests made once, started several times, freed; some are never started. */
static void persistent(struct worker *w)
{
    struct batch *b = batch_draw(w, 65536);
    int rounds = draw_below(&w->plan, 4);
    init_persistent(w, b);
    for (int round = 0; round < rounds; round++) {
        start_persistent(w, b);
        finish_requests(w, b);
        for (int i = 0; i < b->n; i++)
            b->plan[i].taken = 0;
        for (int i = 0; i < b->requests; i++) {
            int length = 0;
            if (!b->receives[i])
                continue;
            MPI_Get_count(&b->status[i], MPI_BYTE, &length);
            arrived(b, &b->plan[b->message[i]], b->span[i], &b->status[i], b->buffer[i],
                    (size_t)length);
        }
        if (b->wildcard != NO_WILDCARD)
            CALL(Barrier, w->space->comm);
    }
    for (int i = 0; i < b->requests; i++) {
        CALL(Request_free, &b->request[i]);
        b->receives[i] = 0;
    }
    batch_finish(w, b);
}

/* Rank r sends to r + 1, at the ends to and from MPI_PROC_NULL. */
static void sendrecv(struct worker *w)
{
    const struct space *s = w->space;
    struct message m = {.bytes = (size_t)draw_below(&w->plan, 5000), .serial = draw(&w->plan)};
    int replace = draw_below(&w->plan, 2), length = 0;
    if (s->inter)
        return;
    int to = s->me + 1 < s->here ? s->me + 1 : MPI_PROC_NULL,
        from = s->me > 0 ? s->me - 1 : MPI_PROC_NULL;
    char *out = message_payload(&m), *in = malloc(m.bytes + 1);
    MPI_Status status;
    if (replace)
        CALL(Sendrecv_replace, out, (int)m.bytes, MPI_BYTE, to, w->first_tag, from, w->first_tag,
             s->comm, &status);
    else
        CALL(Sendrecv, out, (int)m.bytes, MPI_BYTE, to, w->first_tag, in, (int)m.bytes, MPI_BYTE,
             from, w->first_tag, s->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &length);
    if (to != MPI_PROC_NULL) {
        m.to_world = s->there_world[to];
        sent(truth_span(), &m);
    }
    if (from != MPI_PROC_NULL) {
        message_check(&m, replace ? out : in, (size_t)length);
        truth_received((size_t)length);
        truth_trace_receive(truth_span(), s->there_world[from], m.bytes, m.serial);
    }
    free(out);
    free(in);
}

/* MPI_PROC_NULL in every flavour: calls are made, no message exists. */
static void nowhere(struct worker *w)
{
    MPI_Comm comm = w->space->comm;
    MPI_Request request[2];
    MPI_Status status;
    char byte = 0;
    int found = 0;
    CALL(Send, &byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm);
    CALL(Recv, &byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm, &status);
    CALL(Isend, &byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm, &request[0]);
    CALL(Irecv, &byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm, &request[1]);
    CALL(Waitall, 2, request, MPI_STATUSES_IGNORE);
    CALL(Probe, MPI_PROC_NULL, 1, comm, &status);
    if (!POLL(&found, Iprobe, MPI_PROC_NULL, 1, comm, &found, &status))
        truth_broken("MPI_Iprobe of MPI_PROC_NULL found nothing");
}

/* A receive that is cancelled, and a send that is freed before it is complete. */
static void cancelled_and_freed(struct worker *w)
{
    static char kept[64]; /* a freed send may still read its buffer */
    const struct space *s = w->space;
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0, length = 0;
    uint64_t serial = draw(&w->plan);
    char byte, in[64];
    if (s->inter)
        return;
    CALL(Irecv, &byte, 1, MPI_BYTE, s->me, w->first_tag + PLAN_TAGS, s->comm, &request);
    CALL(Cancel, &request);
    CALL(Wait, &request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled)
        truth_broken("a receive without a message could not be cancelled");
    int to = (s->me + 1) % s->here, from = (s->me + s->here - 1) % s->here;
    struct message m = {.to_world = s->there_world[to], .bytes = sizeof kept, .serial = serial};
    CALL(Isend, kept, sizeof kept, MPI_BYTE, to, w->first_tag, s->comm, &request);
    sent(truth_span(), &m);
    CALL(Request_free, &request);
    CALL(Recv, in, sizeof in, MPI_BYTE, from, w->first_tag, s->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &length);
    truth_received((size_t)length);
    truth_trace_receive(truth_span(), s->there_world[from], m.bytes, m.serial);
}

static MPI_Datatype draw_type(uint64_t *state)
{
    static int lengths[] = {1, 2, 0, 3}, places[] = {0, 4, 9, 12};
    MPI_Datatype type, parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint offsets[] = {0, 8};
    int ones[] = {1, 1};
    switch (draw_below(state, 5)) {
    case 0:
        MPI_Type_vector(7, 3, 5, MPI_BYTE, &type);
        break;
    case 1:
        MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
        break;
    case 2:
        MPI_Type_create_struct(2, ones, offsets, parts, &type);
        break;
    case 3:
        MPI_Type_contiguous(5, MPI_SHORT, &type);
        break;
    default:
        MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

/* Types with holes: what counts is what moves, not what is spanned. */
static void derived(struct worker *w)
{
    const struct space *s = w->space;
    MPI_Datatype type = draw_type(&w->plan);
    int count = draw_below(&w->plan, 300), more = draw_below(&w->plan, 3), size, got = 0;
    uint64_t serial = draw(&w->plan);
    MPI_Aint low, extent;
    MPI_Status status;
    if (!s->inter) {
        MPI_Type_size(type, &size);
        MPI_Type_get_extent(type, &low, &extent);
        char *out = calloc((size_t)(count + more + 1), (size_t)extent);
        char *in = calloc((size_t)(count + more + 1), (size_t)extent);
        int to = (s->me + 1) % s->here, from = (s->me + s->here - 1) % s->here;
        MPI_Request request;
        CALL(Irecv, in, count + more, type, from, w->first_tag, s->comm, &request);
        CALL(Send, out, count, type, to, w->first_tag, s->comm);
        struct message m = {.to_world = s->there_world[to],
                            .bytes = (size_t)count * (size_t)size,
                            .serial = serial};
        sent(truth_span(), &m);
        CALL(Wait, &request, &status);
        MPI_Get_count(&status, type, &got);
        if (got != count)
            truth_broken("%d elements of a derived type were sent, %d arrived", count, got);
        truth_received(m.bytes);
        truth_trace_receive(truth_span(), s->there_world[from], m.bytes, serial);
        free(out);
        free(in);
    }
    CALL(Type_free, &type);
}

typedef void phase(struct worker *);

static void phases(struct worker *w, int n)
{
    static phase *const every[] = {immediate, without_statuses,    probed,
                                   blocking,  persistent,          sendrecv,
                                   nowhere,   cancelled_and_freed, derived};
    for (int i = 0; i < n; i++)
        every[draw_below(&w->plan, (int)(sizeof every / sizeof *every))](w);
    /* wildcards of whoever uses this communicator next must not see our messages */
    if (!w->shared)
        CALL(Barrier, w->space->comm);
}

static void on_communicator(const struct worker *w, MPI_Comm comm, uint64_t seed)
{
    struct space space;
    space_init(&space, comm);
    struct worker mine = *w;
    mine.space = &space;
    mine.plan = seed;
    phases(&mine, 4);
    space_finish(&space);
}

/* Several threads of every rank send to the next with one tag, and receive from the one before:
 * which thread gets which message is open. */
static void crowd(struct worker *w)
{
    const struct space *s = w->space;
    int to = (s->me + 1) % s->here, from = (s->me + s->here - 1) % s->here;
    MPI_Request requests[2 * MESSAGES];
    MPI_Status statuses[2 * MESSAGES];
    struct truth_span spans[2 * MESSAGES];
    char *in[MESSAGES], *out[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        in[i] = malloc(CROWD_BYTES);
        CALL(Irecv, in[i], CROWD_BYTES, MPI_BYTE, from, CROWD_TAG, s->comm, &requests[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        struct message m = {.to_world = s->there_world[to],
                            .bytes = 8 + (size_t)draw_below(&w->choice, CROWD_BYTES - 8),
                            .serial = draw(&w->choice)};
        out[i] = message_payload(&m);
        CALL(Isend, out[i], (int)m.bytes, MPI_BYTE, to, CROWD_TAG, s->comm,
             &requests[MESSAGES + i]);
        sent(truth_span(), &m);
    }
    complete((enum completion_style)draw_below(&w->choice, COMPLETION_STYLES), 2 * MESSAGES,
             requests, statuses, spans);
    for (int i = 0; i < MESSAGES; i++) {
        int length = 0;
        MPI_Get_count(&statuses[i], MPI_BYTE, &length);
        struct message m = {.bytes = (size_t)length, .serial = message_serial(in[i])};
        message_check(&m, in[i], (size_t)length);
        truth_received(m.bytes);
        truth_trace_receive(spans[i], s->there_world[from], m.bytes, m.serial);
        free(in[i]);
        free(out[i]);
    }
}

static void *thread_main(void *user)
{
    struct worker *w = user;
    static phase *const safe[] = {immediate, without_statuses, probed, blocking, derived, sendrecv};
    for (int i = 0; i < 4; i++)
        safe[draw_below(&w->plan, (int)(sizeof safe / sizeof *safe))](w);
    if (w->shared && w->crowd)
        crowd(w);
    return NULL;
}

/* Four threads at a time: each with a communicator of its own, or all on one, told apart by tags.
 */
static void threads(struct worker *w, int shared)
{
    pthread_t thread[THREADS];
    struct worker worker[THREADS];
    struct space space[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm comm = MPI_COMM_WORLD;
        if (!shared)
            CALL(Comm_dup, MPI_COMM_WORLD, &comm);
        space_init(&space[i], comm);
        worker[i] = *w;
        worker[i].space = &space[i];
        worker[i].plan = draw(&w->plan);
        worker[i].choice = draw(&w->choice);
        worker[i].first_tag = 100 * (i + 1);
        worker[i].shared = shared;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, thread_main, &worker[i]) != 0)
            truth_broken("cannot start a thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        space_finish(&space[i]);
        if (!shared)
            CALL(Comm_free, &space[i].comm);
    }
    CALL(Barrier, MPI_COMM_WORLD);
}

static void communicators(struct worker *w)
{
    int rank = w->space->me, size = w->space->here, colours = 1 + draw_below(&w->plan, 3);
    uint64_t seed = draw(&w->plan);
    MPI_Comm comm, half, inter, merged;
    MPI_Group world, lower;
    CALL(Comm_split, MPI_COMM_WORLD, rank % colours, -rank, &comm); /* in reverse order of ranks */
    CALL(Comm_set_name, comm, "reversed");
    on_communicator(w, comm, seed + (uint64_t)(rank % colours));
    CALL(Comm_free, &comm);

    int range[1][3] = {{0, size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &lower);
    CALL(Comm_create, MPI_COMM_WORLD, lower, &comm);
    if (comm != MPI_COMM_NULL) {
        on_communicator(w, comm, seed + 10);
        CALL(Comm_free, &comm);
    }
    MPI_Group_free(&lower);
    MPI_Group_free(&world);

    int upper = rank >= size / 2;
    CALL(Comm_split, MPI_COMM_WORLD, upper, rank, &half);
    CALL(Intercomm_create, half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 99, &inter);
    on_communicator(w, inter, seed + 20);
    CALL(Intercomm_merge, inter, upper, &merged);
    on_communicator(w, merged, seed + 30);
    CALL(Comm_free, &merged);
    CALL(Comm_free, &inter);
    CALL(Comm_free, &half);
    CALL(Comm_dup, MPI_COMM_SELF, &comm);
    on_communicator(w, comm, seed + 40 + (uint64_t)rank);
    CALL(Comm_free, &comm);
}

int main(int argc, char **argv)
{
    static char attached[1 << 20];
    void *detached;
    int provided, size;
    if (argc < 3)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_start("MPI_Init_thread");
    if (provided != MPI_THREAD_MULTIPLE)
        truth_broken("this MPI has no MPI_THREAD_MULTIPLE");
    struct space world;
    space_init(&world, MPI_COMM_WORLD);
    struct worker w = {
        .space = &world, .plan = strtoull(argv[1], NULL, 0), .most_bytes = 8388608, .first_tag = 1};
    if (argc > 3)
        w.most_bytes = strtoull(argv[3], NULL, 0);
    w.crowd = argc > 4 && atoi(argv[4]) != 0;
    w.choice = w.plan * 1000003 + (uint64_t)world.me;
    size = world.here;
    if (size < 2)
        truth_broken("two ranks or more are needed");
    MPI_Buffer_attach(attached, sizeof attached);
    for (int round = 0; round < atoi(argv[2]); round++) {
        phases(&w, 6);
        communicators(&w);
        threads(&w, round % 2);
    }
    CALL(Buffer_detach, &detached, &size);
    space_finish(&world);
    truth_finish();
    return 0;
}
