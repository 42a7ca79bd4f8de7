/* mixed ROUNDS THREADS: threads of each rank call MPI at the same time (MPI_THREAD_MULTIPLE), each
 * with its own tag and communicator: immediate and persistent requests, messages that are probed
 * for from any source and received in another order, receives that are cancelled, collectives, and
 * puts into memory that the ranks of a node share. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_THREADS 90
#define WORDS 64
#define HELD 3 /* messages that a thread holds at a time, of each rank before it */

struct worker {
    pthread_t thread;
    int number, tag, rounds;
    MPI_Comm comm; /* of the threads of this number in all ranks */
    long out[WORDS], in[HELD][WORDS];
};

static int rank, size;

static int next(void)
{
    return (rank + 1) % size;
}

static int previous(void)
{
    return (rank + size - 1) % size;
}

/* Sizes differ from thread to thread and from round to round. */
static int words_of(const struct worker *w, int round)
{
    return (w->number * 7 + round) % WORDS + 1;
}

static void told(int words)
{
    truth_sent(next(), (size_t)words * sizeof(long));
    truth_received((size_t)words * sizeof(long));
}

static void immediate(struct worker *w, int words)
{
    MPI_Request requests[2];
    CALL(Irecv, w->in[0], WORDS, MPI_LONG, previous(), w->tag, w->comm, &requests[0]);
    CALL(Isend, w->out, words, MPI_LONG, next(), w->tag, w->comm, &requests[1]);
    CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    told(words);
}

static void persistent(struct worker *w, int words)
{
    MPI_Request requests[2];
    CALL(Recv_init, w->in[0], WORDS, MPI_LONG, previous(), w->tag, w->comm, &requests[0]);
    CALL(Send_init, w->out, words, MPI_LONG, next(), w->tag, w->comm, &requests[1]);
    for (int i = 0; i < 3; i++) {
        CALL_BYTES((size_t)words * sizeof(long), 0, Startall, 2, requests);
        for (int open = 2; open > 0;) {
            int index, found = 0;
            if (POLL(&found, Testany, 2, requests, &index, &found, MPI_STATUS_IGNORE))
                open--;
        }
        told(words);
    }
    CALL(Request_free, &requests[0]);
    CALL(Request_free, &requests[1]);
}

/* All are held as messages before the first is received, and the last is received first. */
static void probed(struct worker *w, int words)
{
    MPI_Request sends[HELD], receives[HELD];
    MPI_Message messages[HELD];
    for (int i = 0; i < HELD; i++)
        CALL(Isend, w->out, words, MPI_LONG, next(), w->tag, w->comm, &sends[i]);
    for (int i = 0; i < HELD; i++)
        CALL(Mprobe, MPI_ANY_SOURCE, w->tag, w->comm, &messages[i], MPI_STATUS_IGNORE);
    for (int i = HELD - 1; i >= 0; i--)
        CALL(Imrecv, w->in[i], WORDS, MPI_LONG, &messages[i], &receives[i]);
    for (int i = 0; i < HELD; i++) {
        int index;
        CALL(Waitany, HELD, receives, &index, MPI_STATUS_IGNORE);
        told(words);
    }
    CALL(Waitall, HELD, sends, MPI_STATUSES_IGNORE);
}

static void from_any_source(struct worker *w, int words)
{
    MPI_Request send;
    CALL(Isend, w->out, words, MPI_LONG, next(), w->tag, w->comm, &send);
    CALL(Recv, w->in[0], WORDS, MPI_LONG, MPI_ANY_SOURCE, w->tag, w->comm, MPI_STATUS_IGNORE);
    CALL(Wait, &send, MPI_STATUS_IGNORE);
    told(words);
}

static void cancelled(struct worker *w, int words)
{
    MPI_Request request;
    int source = words % 2 ? MPI_ANY_SOURCE : previous();
    CALL(Irecv, w->in[0], WORDS, MPI_LONG, source, MOST_THREADS + w->tag, w->comm, &request);
    CALL(Cancel, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void collective(struct worker *w, int words)
{
    size_t bytes = (size_t)words * sizeof(long);
    CALL_BYTES(bytes, bytes, Allreduce, w->out, w->in[0], words, MPI_LONG, MPI_SUM, w->comm);
}

static void *work(void *of)
{
    static void (*const every[])(struct worker *, int) = {immediate,       persistent, probed,
                                                          from_any_source, cancelled,  collective};
    const int ways = (int)(sizeof every / sizeof *every);
    struct worker *w = of;
    for (int round = 0; round < w->rounds; round++)
        every[(w->number + round) % ways](w, words_of(w, round));
    return NULL;
}

/* Each rank writes into the part of the next one: by MPI, and by storing, which nobody sees. */
static void share_memory(void)
{
    long given = rank + 1, *base, *of_next;
    MPI_Aint bytes;
    int unit;
    MPI_Comm node;
    MPI_Win win;
    CALL(Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    CALL(Win_allocate_shared, 2 * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &base, &win);
    MPI_Win_shared_query(win, next(), &bytes, &unit, &of_next);
    CALL(Win_lock_all, MPI_MODE_NOCHECK, win);
    CALL_BYTES(sizeof given, 0, Put, &given, 1, MPI_LONG, next(), 0, 1, MPI_LONG, win);
    CALL(Win_flush, next(), win);
    of_next[1] = given;
    CALL(Win_sync, win);
    CALL(Barrier, node);
    CALL(Win_sync, win);
    if (base[0] != previous() + 1 || base[1] != previous() + 1)
        truth_broken("shared memory holds %ld and %ld", base[0], base[1]);
    CALL(Win_unlock_all, win);
    CALL(Win_free, &win);
    CALL(Comm_free, &node);
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    int provided, threads = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_start("MPI_Init_thread");
    if (provided != MPI_THREAD_MULTIPLE)
        truth_broken("this MPI has no MPI_THREAD_MULTIPLE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    share_memory();
    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){.number = i, .tag = i, .rounds = atoi(argv[1])};
        CALL(Comm_dup, MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            truth_broken("cannot start a thread");
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < threads; i++)
        CALL(Comm_free, &workers[i].comm);
    truth_finish();
    return 0;
}
