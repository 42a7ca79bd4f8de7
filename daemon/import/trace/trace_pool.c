/* A pool of threads for the pieces of one task at a time: see trace_pool.h. */
#include "daemon/import/trace/trace_pool.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MOST 64u

struct trace_pool {
    sem_t begun, done;
    pthread_t threads[THREADS_MOST];
    unsigned count; /* threads besides the caller's */
    int ends;
    /* The newest task: */
    trace_pool_work *work;
    void *user;
    uint32_t pieces;
    atomic_uint next;
};

static void trace_pool_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void trace_pool_work_on(struct trace_pool *p)
{
    uint32_t piece;
    while ((piece = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->pieces)
        p->work(p->user, piece);
}

static void *trace_pool_follow(void *user)
{
    struct trace_pool *p = user;
    for (;;) {
        trace_pool_wait(&p->begun);
        if (p->ends)
            return NULL;
        trace_pool_work_on(p);
        sem_post(&p->done);
    }
}

int trace_pool_create(struct trace_pool **out, unsigned threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct trace_pool *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    sem_init(&p->begun, 0, 0);
    sem_init(&p->done, 0, 0);
    if (threads == 0)
        threads = processors > 0 ? (unsigned)processors : 1;
    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    while (p->count + 1 < threads &&
           pthread_create(&p->threads[p->count], NULL, trace_pool_follow, p) == 0)
        p->count++;
    *out = p;
    return 0;
}

void trace_pool_destroy(struct trace_pool *p)
{
    if (p == NULL)
        return;
    p->ends = 1;
    for (unsigned i = 0; i < p->count; i++)
        sem_post(&p->begun);
    for (unsigned i = 0; i < p->count; i++)
        pthread_join(p->threads[i], NULL);
    sem_destroy(&p->begun);
    sem_destroy(&p->done);
    free(p);
}

unsigned trace_pool_threads(const struct trace_pool *p)
{
    return p->count + 1;
}

void trace_pool_run(struct trace_pool *p, trace_pool_work *work, void *user, uint32_t pieces)
{
    unsigned helpers =
        pieces < 2 ? 0 : p->count; /* a thread may be woken twice: no piece is left */
    p->work = work;
    p->user = user;
    p->pieces = pieces;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    for (unsigned i = 0; i < helpers; i++)
        sem_post(&p->begun);
    trace_pool_work_on(p);
    for (unsigned i = 0; i < helpers; i++)
        trace_pool_wait(&p->done);
}
