/* threads SEED ROUNDS [THREADS]: what one thread posts another completes, in every way that MPI
 * has. Three threads of every rank, or as many as given, hand requests, started and not, and
 * messages that were probed for, to each other: each call is made by any of them, one after the
 * other, so that there is one order in which messages match. Every byte received is verified. */
#include "completion.h"
#include "plan.h"
#include "truth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CREW_MAXIMUM 95
#define MESSAGES 16
#define BYTES 4096
#define SLOTS (2 * MESSAGES)
#define FIRST_TAG 1
#define NO_TAG (FIRST_TAG + PLAN_TAGS) /* nobody sends with it */

/* ---- threads that wait for work ------------------------------------------- */

typedef void step(void *of);

static struct crew {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn; /* who is at work; 0: the main thread */
    step *step;
    void *of;
    int over;
    int size; /* threads, the main one included */
} crew = {.size = 3, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *hand(void *user)
{
    int me = *(int *)user;
    pthread_mutex_lock(&crew.lock);
    for (;;) {
        while (!crew.over && crew.turn != me)
            pthread_cond_wait(&crew.changed, &crew.lock);
        if (crew.over)
            break;
        crew.step(crew.of);
        crew.turn = 0;
        pthread_cond_broadcast(&crew.changed);
    }
    pthread_mutex_unlock(&crew.lock);
    return NULL;
}

/* Have a thread do something, and wait until it is done. */
static void by(int who, step *step_, void *of)
{
    pthread_mutex_lock(&crew.lock);
    crew.step = step_;
    crew.of = of;
    crew.turn = who;
    pthread_cond_broadcast(&crew.changed);
    while (crew.turn != 0)
        pthread_cond_wait(&crew.changed, &crew.lock);
    if (who == 0)
        step_(of);
    pthread_mutex_unlock(&crew.lock);
}

static void end_crew(void)
{
    pthread_mutex_lock(&crew.lock);
    crew.over = 1;
    pthread_cond_broadcast(&crew.changed);
    pthread_mutex_unlock(&crew.lock);
}

/* ---- one exchange ----------------------------------------------------------- */

struct exchange {
    const struct space *space;
    uint64_t plan;   /* generator in step on all ranks */
    uint64_t choice; /* generator of this rank alone */
    int any_source, any_tag;
    int n, requests;
    struct message *messages; /* owned */
    char *buffers[SLOTS];     /* owned */
    MPI_Request request[SLOTS];
    int message[SLOTS];
    int receives[SLOTS];
    int at, count; /* what a step is to do: these slots */
    MPI_Message probed;
    MPI_Request other;
};

static int anybody(struct exchange *x)
{
    return draw_below(&x->choice, crew.size);
}

static const struct message *of_slot(const struct exchange *x)
{
    return &x->messages[x->message[x->at]];
}

static int source_of(const struct exchange *x, const struct message *m)
{
    return x->any_source ? MPI_ANY_SOURCE : m->from;
}

static int tag_of(const struct exchange *x, const struct message *m)
{
    return x->any_tag ? MPI_ANY_TAG : m->tag;
}

static void begin_exchange(struct exchange *x)
{
    int me = x->space->me;
    x->any_source = draw_below(&x->plan, 3) == 0;
    x->any_tag = draw_below(&x->plan, 3) == 0;
    x->n = 1 + draw_below(&x->plan, MESSAGES);
    x->messages = plan_draw(&x->plan, x->space, x->n, BYTES, FIRST_TAG);
    x->requests = 0;
    for (int receives = 1; receives >= 0; receives--)
        for (int i = 0; i < x->n; i++) {
            const struct message *m = &x->messages[i];
            if (receives ? m->to != me : m->from != me)
                continue;
            int s = x->requests++;
            x->message[s] = i;
            x->receives[s] = receives;
            x->request[s] = MPI_REQUEST_NULL;
            x->buffers[s] = receives ? malloc(BYTES + 1) : message_payload(m);
            if (!x->buffers[s])
                truth_broken("out of memory");
        }
}

static void end_exchange(struct exchange *x)
{
    CALL(Barrier, x->space->comm); /* wildcards must not take what a faster rank sends next */
    for (int s = 0; s < x->requests; s++)
        free(x->buffers[s]);
    free(x->messages);
}

static void arrived(struct exchange *x, struct truth_span completed, const MPI_Status *status,
                    const char *bytes)
{
    int length = 0;
    MPI_Get_count(status, MPI_BYTE, &length);
    const struct message *m = &x->messages[message_find(x->messages, x->n, status->MPI_SOURCE,
                                                        status->MPI_TAG, bytes, (size_t)length)];
    message_check(m, bytes, (size_t)length);
    truth_received((size_t)length);
    truth_trace_receive(completed, m->from_world, (size_t)length, m->serial);
}

static void told_sent(const struct message *m)
{
    truth_sent(m->to_world, m->bytes);
    truth_trace_send(truth_span(), m->to_world, m->bytes, m->serial);
}

static void post(void *of)
{
    struct exchange *x = of;
    const struct message *m = of_slot(x);
    if (x->receives[x->at]) {
        CALL(Irecv, x->buffers[x->at], BYTES, MPI_BYTE, source_of(x, m), tag_of(x, m),
             x->space->comm, &x->request[x->at]);
        return;
    }
    CALL(Isend, x->buffers[x->at], (int)m->bytes, MPI_BYTE, m->to, m->tag, x->space->comm,
         &x->request[x->at]);
    told_sent(m);
}

static void finish(void *of)
{
    struct exchange *x = of;
    MPI_Status statuses[SLOTS];
    struct truth_span spans[SLOTS];
    complete((enum completion_style)draw_below(&x->choice, COMPLETION_STYLES), x->count,
             x->request + x->at, statuses, spans);
    for (int i = 0; i < x->count; i++)
        if (x->receives[x->at + i])
            arrived(x, spans[i], &statuses[i], x->buffers[x->at + i]);
}

/* One step for each slot from some on, by any thread each. */
static void each(struct exchange *x, int from, int to, step *step_)
{
    for (x->at = from; x->at < to; x->at++)
        by(anybody(x), step_, x);
}

static void finish_all(struct exchange *x)
{
    for (x->at = 0; x->at < x->requests; x->at += x->count) {
        x->count = 1 + draw_below(&x->choice, x->requests - x->at);
        by(anybody(x), finish, x);
    }
}

static void immediate(struct exchange *x)
{
    each(x, 0, x->requests, post);
    finish_all(x);
}

/* ---- persistent requests ----------------------------------------------------- */

static void init(void *of)
{
    struct exchange *x = of;
    const struct message *m = of_slot(x);
    if (x->receives[x->at])
        CALL(Recv_init, x->buffers[x->at], BYTES, MPI_BYTE, source_of(x, m), tag_of(x, m),
             x->space->comm, &x->request[x->at]);
    else
        CALL(Send_init, x->buffers[x->at], (int)m->bytes, MPI_BYTE, m->to, m->tag, x->space->comm,
             &x->request[x->at]);
}

static void start(void *of)
{
    struct exchange *x = of;
    CALL(Start, &x->request[x->at]);
    if (!x->receives[x->at])
        told_sent(of_slot(x));
}

static void start_all(void *of)
{
    struct exchange *x = of;
    CALL(Startall, x->requests, x->request);
    for (x->at = 0; x->at < x->requests; x->at++)
        if (!x->receives[x->at])
            told_sent(of_slot(x));
}

static void free_request(void *of)
{
    struct exchange *x = of;
    CALL(Request_free, &x->request[x->at]);
}

static void persistent(struct exchange *x)
{
    int starts = 1 + draw_below(&x->plan, 4);
    each(x, 0, x->requests, init);
    for (int i = 0; i < starts; i++) {
        if (draw_below(&x->choice, 2) && x->requests > 0)
            by(anybody(x), start_all, x);
        else
            each(x, 0, x->requests, start);
        finish_all(x);
        for (int k = 0; k < x->n; k++)
            x->messages[k].taken = 0;
        CALL(Barrier, x->space->comm);
    }
    each(x, 0, x->requests, free_request);
}

/* ---- messages that are probed for -------------------------------------------- */

static void probe(void *of)
{
    struct exchange *x = of;
    MPI_Status status;
    const struct message *m = of_slot(x);
    CALL(Mprobe, source_of(x, m), tag_of(x, m), x->space->comm, &x->probed, &status);
}

static void receive_probed(void *of)
{
    struct exchange *x = of;
    MPI_Status status;
    CALL(Mrecv, x->buffers[x->at], BYTES, MPI_BYTE, &x->probed, &status);
    arrived(x, truth_span(), &status, x->buffers[x->at]);
}

static void begin_to_receive_probed(void *of)
{
    struct exchange *x = of;
    CALL(Imrecv, x->buffers[x->at], BYTES, MPI_BYTE, &x->probed, &x->other);
}

static void wait_for_other(void *of)
{
    struct exchange *x = of;
    MPI_Status status;
    CALL(Wait, &x->other, &status);
    arrived(x, truth_span(), &status, x->buffers[x->at]);
}

static void probed(struct exchange *x)
{
    int sends = 0; /* the first of them: they follow the receives */
    while (sends < x->requests && x->receives[sends])
        sends++;
    each(x, sends, x->requests, post);
    for (x->at = 0; x->at < sends; x->at++) {
        by(anybody(x), probe, x);
        if (draw_below(&x->choice, 2)) {
            by(anybody(x), receive_probed, x);
        } else {
            by(anybody(x), begin_to_receive_probed, x);
            by(anybody(x), wait_for_other, x);
        }
    }
    x->count = x->requests - sends;
    x->at = sends;
    if (x->count > 0)
        by(anybody(x), finish, x);
}

/* ---- receives that are cancelled ----------------------------------------------- */

static char nothing;

static void post_in_vain(void *of)
{
    struct exchange *x = of;
    CALL(Irecv, &nothing, 1, MPI_BYTE, x->space->me, NO_TAG, x->space->comm, &x->other);
}

static void cancel(void *of)
{
    struct exchange *x = of;
    CALL(Cancel, &x->other);
}

static void wait_in_vain(void *of)
{
    struct exchange *x = of;
    CALL(Wait, &x->other, MPI_STATUS_IGNORE);
}

static void cancelled(struct exchange *x)
{
    by(anybody(x), post_in_vain, x);
    by(anybody(x), cancel, x);
    by(anybody(x), wait_in_vain, x);
}

int main(int argc, char **argv)
{
    static void (*const every[])(struct exchange *) = {immediate, persistent, probed};
    pthread_t threads[CREW_MAXIMUM];
    int provided, numbers[CREW_MAXIMUM];
    if (argc < 3)
        return 2;
    if (argc > 3)
        crew.size = atoi(argv[3]);
    if (crew.size < 1 || crew.size > CREW_MAXIMUM)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_start("MPI_Init_thread");
    if (provided != MPI_THREAD_MULTIPLE)
        truth_broken("this MPI has no MPI_THREAD_MULTIPLE");
    struct space world;
    space_init(&world, MPI_COMM_WORLD);
    struct exchange x = {.space = &world, .plan = strtoull(argv[1], NULL, 0)};
    x.choice = x.plan * 1000003 + (uint64_t)world.me;
    for (int i = 1; i < crew.size; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, hand, &numbers[i]) != 0)
            truth_broken("cannot start a thread");
    }
    for (int round = 0; round < atoi(argv[2]); round++) {
        begin_exchange(&x);
        every[round % (int)(sizeof every / sizeof *every)](&x);
        cancelled(&x);
        end_exchange(&x);
    }
    end_crew();
    for (int i = 1; i < crew.size; i++)
        pthread_join(threads[i], NULL);
    space_finish(&world);
    truth_finish();
    return 0;
}
