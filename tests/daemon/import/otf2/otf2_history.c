#include "tests/daemon/import/otf2/otf2_history.h"

#include "tests/daemon/import/otf2/otf2_writing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* Regions, and the strings that name them. */
static const char *const regions[] = {
    "MPI_Send",     "MPI_Recv",      "MPI_Isend", "MPI_Irecv",      "MPI_Waitall",
    "MPI_Sendrecv", "MPI_Allreduce", "MPI_Bcast", "MPI_Iallreduce", "MPI_Comm_rank",
    "MPI_Barrier",  "solver",        "main",      "MPI_Start",      "MPI_Cancel"};
enum {
    SEND,
    RECV,
    ISEND,
    IRECV,
    WAITALL,
    SENDRECV,
    ALLREDUCE,
    BCAST,
    IALLREDUCE,
    COMM_RANK,
    BARRIER,
    SOLVER,
    MAIN,
    START,
    CANCEL,
    REGIONS
};
enum { WORLD, BACKWARDS, SELF, BETWEEN, COMMS };     /* communicators */
enum { RANKS = 0, ALL, REVERSED, ALONE, LOW, HIGH }; /* groups */

struct request {
    uint64_t id;
    uint32_t peer, comm, tag;
    uint64_t bytes;
    enum { SENDS, RECEIVES, COLLECTIVE } kind;
};

struct location {
    OTF2_EvtWriter *writer;
    uint64_t time, events;
};

struct rank {
    struct location threads[4];
    struct request open[HISTORY_OPEN];
    uint32_t open_count;
    uint64_t next_request;
    int in_solver;
};

struct writing {
    const struct history_plan *plan;
    struct history *out;
    OTF2_Archive *archive;
    struct rank ranks[HISTORY_RANKS];
    uint64_t random;
};

static uint32_t draw(struct writing *w, uint32_t below)
{
    w->random ^= w->random << 13, w->random ^= w->random >> 7, w->random ^= w->random << 17;
    return (uint32_t)((w->random >> 11) % below);
}

/* ---- one record ------------------------------------------------------------ */

static struct location *thread_of(struct writing *w, uint32_t rank)
{
    uint32_t threads = w->plan->threads - (w->plan->waiter ? 1 : 0);
    return &w->ranks[rank].threads[threads < 2 ? 0 : draw(w, threads)];
}

/* Some time later, in ticks. */
static uint64_t tick(struct writing *w, struct location *at)
{
    at->events++;
    w->out->events++;
    return at->time += 1 + draw(w, 1000) * (w->plan->resolution / 1000000000 + 1);
}

/* Not before another location has come so far. */
static void follow(struct location *at, const struct location *other)
{
    at->time = other->time > at->time ? other->time : at->time;
}

static void enter(struct writing *w, struct location *at, uint32_t region)
{
    if (!w->plan->no_calls || region == SOLVER || region == MAIN)
        good(OTF2_EvtWriter_Enter(at->writer, NULL, tick(w, at), region));
}

static void leave(struct writing *w, struct location *at, uint32_t region)
{
    if (!w->plan->no_calls || region == SOLVER || region == MAIN)
        good(OTF2_EvtWriter_Leave(at->writer, NULL, tick(w, at), region));
}

/* ---- communicators --------------------------------------------------------- */

static uint32_t half(const struct writing *w)
{
    return w->plan->ranks / 2;
}

/* Position of a rank in a communicator, as its peers name it. */
static uint32_t position(const struct writing *w, uint32_t comm, uint32_t rank)
{
    switch (comm) {
    case BACKWARDS:
        return w->plan->ranks - 1 - rank;
    case SELF:
        return 0;
    case BETWEEN:
        return rank < half(w) ? rank : rank - half(w);
    default:
        return rank;
    }
}

static uint32_t choose_comm(struct writing *w, uint32_t from, uint32_t to)
{
    uint32_t comm = draw(w, COMMS);
    if (comm == SELF && from != to)
        return WORLD;
    if (comm == BETWEEN && (from < half(w)) == (to < half(w)))
        return BACKWARDS;
    return comm;
}

/* ---- messages -------------------------------------------------------------- */

static void count(struct writing *w, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct history *h = w->out;
    h->pairs[from][to]++;
    h->bytes[from][to] += bytes;
    h->received[to]++;
    h->received_bytes[to] += bytes;
    h->sends++;
    h->within_hosts += from / w->plan->per_host == to / w->plan->per_host;
    h->in_solver += (uint64_t)w->ranks[from].in_solver;
}

static void wait_for_some(struct writing *w, uint32_t rank, uint32_t least)
{
    struct rank *r = &w->ranks[rank];
    if (r->open_count <= least)
        return;
    struct location *at = w->plan->waiter ? &r->threads[w->plan->threads - 1] : thread_of(w, rank);
    for (unsigned t = 0; t < w->plan->threads; t++) /* posted before it is waited for */
        follow(at, &r->threads[t]);
    enter(w, at, WAITALL);
    while (r->open_count > least) {
        struct request done = r->open[draw(w, r->open_count)];
        uint32_t number = 0;
        while (r->open[number].id != done.id)
            number++;
        r->open[number] = r->open[--r->open_count];
        if (done.kind == SENDS)
            good(OTF2_EvtWriter_MpiIsendComplete(at->writer, NULL, tick(w, at), done.id));
        else if (done.kind == RECEIVES)
            good(OTF2_EvtWriter_MpiIrecv(at->writer, NULL, tick(w, at), done.peer, done.comm,
                                         done.tag, done.bytes, done.id));
        else
            good(OTF2_EvtWriter_NonBlockingCollectiveComplete(
                at->writer, NULL, tick(w, at), OTF2_COLLECTIVE_OP_ALLREDUCE, WORLD,
                OTF2_COLLECTIVE_ROOT_NONE, done.bytes, done.bytes, done.id));
    }
    leave(w, at, WAITALL);
}

static uint64_t begin_request(struct writing *w, uint32_t rank, struct request request)
{
    struct rank *r = &w->ranks[rank];
    request.id = ++r->next_request;
    r->open[r->open_count++] = request;
    return request.id;
}

static void post_receive(struct writing *w, uint32_t to, struct request request)
{
    struct location *at = thread_of(w, to);
    uint32_t region = draw(w, 5) == 0 ? START : IRECV;
    enter(w, at, region);
    uint64_t id = begin_request(w, to, request);
    good(OTF2_EvtWriter_MpiIrecvRequest(at->writer, NULL, tick(w, at), id));
    leave(w, at, region);
}

/* All threads of a rank go on from one time: what they post is in that order. */
static void meet(struct writing *w, uint32_t rank)
{
    struct rank *r = &w->ranks[rank];
    for (unsigned t = 1; t < w->plan->threads; t++)
        follow(&r->threads[0], &r->threads[t]);
    for (unsigned t = 0; t < w->plan->threads; t++)
        follow(&r->threads[t], &r->threads[0]);
}

static void one_message(struct writing *w)
{
    uint32_t from = draw(w, w->plan->ranks), to = draw(w, w->plan->ranks);
    uint32_t comm = choose_comm(w, from, to), tag = draw(w, 3);
    uint64_t bytes = draw(w, 4) == 0 ? 0 : draw(w, 100000);
    int waits = w->plan->plain ? 0 : (int)draw(w, 2), posts = w->plan->plain ? 0 : (int)draw(w, 2);
    meet(w, from);
    meet(w, to);
    struct request receive = {.peer = position(w, comm, from),
                              .comm = comm,
                              .tag = tag,
                              .bytes = bytes,
                              .kind = RECEIVES};
    if (posts)
        post_receive(w, to, receive);
    meet(w, to);
    struct location *source = thread_of(w, from), *sink = thread_of(w, to);
    uint32_t region = waits ? ISEND : SEND;
    enter(w, source, region);
    if (waits) {
        struct request send = {.kind = SENDS};
        good(OTF2_EvtWriter_MpiIsend(source->writer, NULL, tick(w, source), position(w, comm, to),
                                     comm, tag, bytes, begin_request(w, from, send)));
    } else {
        good(OTF2_EvtWriter_MpiSend(source->writer, NULL, tick(w, source), position(w, comm, to),
                                    comm, tag, bytes));
    }
    leave(w, source, region);
    follow(sink, source);
    if (from == to)
        meet(w, to);
    if (!posts) {
        enter(w, sink, RECV);
        good(OTF2_EvtWriter_MpiRecv(sink->writer, NULL, tick(w, sink), receive.peer, comm, tag,
                                    bytes));
        leave(w, sink, RECV);
    } else {
        for (unsigned t = 0; t < w->plan->threads; t++)
            follow(&w->ranks[to].threads[t], source); /* it is waited for later */
    }
    count(w, from, to, bytes);
    for (uint32_t end = 0; end < 2; end++)
        if (w->ranks[end ? to : from].open_count + 4 > HISTORY_OPEN || draw(w, 6) == 0)
            wait_for_some(w, end ? to : from, draw(w, 4));
}

/* Neighbours exchange: one call that sends and receives. */
static void exchange(struct writing *w)
{
    uint32_t n = w->plan->ranks, rank = draw(w, n), peer = (rank + 1) % n;
    struct location *a, *b;
    if (n < 2)
        return;
    meet(w, rank);
    meet(w, peer);
    a = thread_of(w, rank);
    b = thread_of(w, peer);
    enter(w, a, SENDRECV);
    good(OTF2_EvtWriter_MpiSend(a->writer, NULL, tick(w, a), peer, WORLD, 7, 100));
    follow(b, a);
    enter(w, b, SENDRECV);
    good(OTF2_EvtWriter_MpiSend(b->writer, NULL, tick(w, b), rank, WORLD, 7, 200));
    good(OTF2_EvtWriter_MpiRecv(b->writer, NULL, tick(w, b), rank, WORLD, 7, 100));
    leave(w, b, SENDRECV);
    follow(a, b);
    good(OTF2_EvtWriter_MpiRecv(a->writer, NULL, tick(w, a), peer, WORLD, 7, 200));
    leave(w, a, SENDRECV);
    count(w, rank, peer, 100);
    count(w, peer, rank, 200);
}

/* ---- all else -------------------------------------------------------------- */

static void collective(struct writing *w)
{
    static const struct {
        uint32_t region;
        OTF2_CollectiveOp op;
        uint32_t root;
    } kinds[] = {{ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_COLLECTIVE_ROOT_NONE},
                 {BCAST, OTF2_COLLECTIVE_OP_BCAST, 0},
                 {BARRIER, OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE}};
    uint32_t kind = draw(w, 3), comm = draw(w, 2), blocks = w->plan->plain || draw(w, 3) > 0;
    for (uint32_t r = 0; r < w->plan->ranks; r++) {
        meet(w, r);
        struct location *at = thread_of(w, r);
        if (blocks) {
            enter(w, at, kinds[kind].region);
            good(OTF2_EvtWriter_MpiCollectiveBegin(at->writer, NULL, tick(w, at)));
            good(OTF2_EvtWriter_MpiCollectiveEnd(at->writer, NULL, tick(w, at), kinds[kind].op,
                                                 comm, kinds[kind].root, 8, 8));
            leave(w, at, kinds[kind].region);
        } else if (w->ranks[r].open_count < HISTORY_OPEN) {
            struct request request = {.bytes = 16, .kind = COLLECTIVE};
            enter(w, at, IALLREDUCE);
            good(OTF2_EvtWriter_NonBlockingCollectiveRequest(at->writer, NULL, tick(w, at),
                                                             begin_request(w, r, request)));
            leave(w, at, IALLREDUCE);
        } else {
            continue;
        }
        w->out->collectives++;
    }
}

static void cancel(struct writing *w)
{
    uint32_t rank = draw(w, w->plan->ranks);
    meet(w, rank);
    struct location *at = thread_of(w, rank);
    uint64_t id = ++w->ranks[rank].next_request;
    enter(w, at, IRECV);
    good(OTF2_EvtWriter_MpiIrecvRequest(at->writer, NULL, tick(w, at), id));
    leave(w, at, IRECV);
    enter(w, at, CANCEL);
    leave(w, at, CANCEL);
    enter(w, at, WAITALL);
    good(OTF2_EvtWriter_MpiRequestTest(at->writer, NULL, tick(w, at), id));
    good(OTF2_EvtWriter_MpiRequestCancelled(at->writer, NULL, tick(w, at), id));
    leave(w, at, WAITALL);
}

static void unknown(struct writing *w)
{
    struct location *at = thread_of(w, draw(w, w->plan->ranks));
    OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value = {.unsigned_int = 42};
    switch (draw(w, 4)) {
    case 0:
        good(OTF2_EvtWriter_ThreadFork(at->writer, NULL, tick(w, at), OTF2_PARADIGM_OPENMP, 4));
        w->out->forks++;
        break;
    case 1:
        good(OTF2_EvtWriter_RmaPut(at->writer, NULL, tick(w, at), 0, 1, 1000, 5));
        w->out->puts++;
        break;
    case 2:
        good(OTF2_EvtWriter_Metric(at->writer, NULL, tick(w, at), 0, 1, &type, &value));
        w->out->metrics++;
        break;
    default:
        enter(w, at, COMM_RANK);
        leave(w, at, COMM_RANK);
    }
}

/* Only where a rank has one thread it is known in which region it is. */
static void region(struct writing *w)
{
    uint32_t rank = draw(w, w->plan->ranks);
    struct rank *r = &w->ranks[rank];
    if (w->plan->threads > 1)
        return;
    if (r->in_solver)
        leave(w, &r->threads[0], SOLVER);
    else
        enter(w, &r->threads[0], SOLVER);
    r->in_solver = !r->in_solver;
}

static void play(struct writing *w)
{
    for (uint64_t i = 0; i < w->plan->rounds; i++) {
        uint32_t what = w->plan->plain ? 0 : draw(w, 20);
        if (what < 12)
            one_message(w);
        else if (what < 14)
            exchange(w);
        else if (what < 15)
            cancel(w);
        else if (what < 17)
            collective(w);
        else if (what < 19)
            unknown(w);
        else
            region(w);
    }
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        wait_for_some(w, r, 0);
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        if (w->ranks[r].in_solver)
            leave(w, &w->ranks[r].threads[0], SOLVER);
}

/* ---- definitions ----------------------------------------------------------- */

static uint64_t location_id(uint32_t rank, uint32_t thread)
{
    return (uint64_t)thread << 32 | rank;
}

static uint32_t write_string(OTF2_GlobalDefWriter *d, uint32_t *next, const char *text)
{
    good(OTF2_GlobalDefWriter_WriteString(d, *next, text));
    return (*next)++;
}

static void write_groups(struct writing *w, OTF2_GlobalDefWriter *d, uint32_t *next)
{
    uint32_t n = w->plan->ranks, none = write_string(d, next, "");
    uint64_t all[HISTORY_RANKS], members[HISTORY_RANKS], reversed[HISTORY_RANKS];
    for (uint32_t i = 0; i < n; i++) {
        all[i] = location_id(i, 0);
        members[i] = i;
        reversed[i] = n - 1 - i;
    }
    OTF2_Paradigm mpi = OTF2_PARADIGM_MPI;
    OTF2_GroupType ranks = OTF2_GROUP_TYPE_COMM_LOCATIONS, group = OTF2_GROUP_TYPE_COMM_GROUP;
    good(OTF2_GlobalDefWriter_WriteGroup(d, RANKS, none, ranks, mpi, 0, n, all));
    good(OTF2_GlobalDefWriter_WriteGroup(d, ALL, none, group, mpi, 0, n, members));
    good(OTF2_GlobalDefWriter_WriteGroup(d, REVERSED, none, group, mpi, 0, n, reversed));
    good(OTF2_GlobalDefWriter_WriteGroup(d, ALONE, none, OTF2_GROUP_TYPE_COMM_SELF, mpi, 0, 0,
                                         NULL));
    good(OTF2_GlobalDefWriter_WriteGroup(d, LOW, none, group, mpi, 0, half(w), members));
    good(OTF2_GlobalDefWriter_WriteGroup(d, HIGH, none, group, mpi, 0, n - half(w),
                                         members + half(w)));
    uint32_t world = write_string(d, next, "MPI_COMM_WORLD");
    uint32_t backwards = write_string(d, next, "backwards");
    uint32_t self = write_string(d, next, "MPI_COMM_SELF");
    good(OTF2_GlobalDefWriter_WriteComm(d, WORLD, world, ALL, OTF2_UNDEFINED_COMM, 0));
    good(OTF2_GlobalDefWriter_WriteComm(d, BACKWARDS, backwards, REVERSED, WORLD, 0));
    good(OTF2_GlobalDefWriter_WriteComm(d, SELF, self, ALONE, OTF2_UNDEFINED_COMM, 0));
    good(OTF2_GlobalDefWriter_WriteInterComm(d, BETWEEN, none, LOW, HIGH, WORLD, 0));
}

static void write_places(struct writing *w, OTF2_GlobalDefWriter *d, uint32_t *next)
{
    uint32_t node = write_string(d, next, "node"), thread = write_string(d, next, "thread");
    uint32_t hosts = (w->plan->ranks + w->plan->per_host - 1) / w->plan->per_host;
    char name[16];
    for (uint32_t h = 0; h < hosts; h++) {
        snprintf(name, sizeof(name), "h%u", h);
        good(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, h, write_string(d, next, name), node,
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    }
    for (uint32_t r = 0; r < w->plan->ranks; r++) {
        good(OTF2_GlobalDefWriter_WriteLocationGroup(d, r, thread, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                     r / w->plan->per_host,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
        for (uint32_t t = 0; t < w->plan->threads; t++)
            good(OTF2_GlobalDefWriter_WriteLocation(d, location_id(r, t), thread,
                                                    OTF2_LOCATION_TYPE_CPU_THREAD,
                                                    w->ranks[r].threads[t].events, r));
    }
}

static void write_definitions(struct writing *w)
{
    OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(w->archive);
    const struct history_plan *p = w->plan;
    uint32_t next = 0;
    uint64_t last = 0;
    for (uint32_t r = 0; r < p->ranks; r++)
        for (uint32_t t = 0; t < p->threads; t++)
            if (w->ranks[r].threads[t].time > last)
                last = w->ranks[r].threads[t].time;
    w->out->last_ns = (uint64_t)((double)(last - p->offset) * 1e9 / (double)p->resolution);
    uint64_t length = p->length != 0 ? p->length : last - p->offset;
    good(OTF2_GlobalDefWriter_WriteClockProperties(
        d, p->resolution, p->offset, length, p->date == 0 ? OTF2_UNDEFINED_TIMESTAMP : p->date));
    for (uint32_t i = 0; i < REGIONS; i++)
        good(OTF2_GlobalDefWriter_WriteRegion(
            d, i, write_string(d, &next, regions[i]), 0, 0, OTF2_REGION_ROLE_FUNCTION,
            i == SOLVER || i == MAIN ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, 0, 0, 0, 0));
    write_places(w, d, &next);
    write_groups(w, d, &next);
}

void history_write(struct history *out, const struct history_plan *plan, const char *folder)
{
    struct writing w = {
        .plan = plan, .out = out, .random = plan->seed * 2654435761u + 88172645463325252u};
    memset(out, 0, sizeof(*out));
    w.archive = otf2_writing(folder, "history", 1024 * 1024);
    good(OTF2_Archive_SetCreator(w.archive, "a test"));
    for (uint32_t r = 0; r < plan->ranks; r++)
        for (uint32_t t = 0; t < plan->threads; t++)
            w.ranks[r].threads[t] = (struct location){
                .writer = OTF2_Archive_GetEvtWriter(w.archive, location_id(r, t)),
                .time = plan->offset + (plan->late ? r * plan->resolution / 100 : 0)};
    play(&w);
    for (uint32_t r = 0; r < plan->ranks; r++)
        for (uint32_t t = 0; t < plan->threads; t++)
            good(OTF2_Archive_CloseEvtWriter(w.archive, w.ranks[r].threads[t].writer));
    good(OTF2_Archive_CloseEvtFiles(w.archive));
    if (!plan->no_definitions) {
        good(OTF2_Archive_OpenDefFiles(w.archive));
        for (uint32_t r = 0; r < plan->ranks; r++)
            for (uint32_t t = 0; t < plan->threads; t++)
                good(OTF2_Archive_CloseDefWriter(
                    w.archive, OTF2_Archive_GetDefWriter(w.archive, location_id(r, t))));
        good(OTF2_Archive_CloseDefFiles(w.archive));
    }
    write_definitions(&w);
    good(OTF2_Archive_Close(w.archive));
}
