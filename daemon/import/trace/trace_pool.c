/* A pool of threads for the pieces of one task at a time: see trace_pool.h. */
#include "daemon/import/trace/trace_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MOST 64u

struct trace_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    pthread_t threads[THREADS_MOST];
    unsigned count; /* threads besides the caller's */
    /* Protected by the lock: */
    uint64_t task; /* number of the newest task */
    unsigned busy; /* threads that have not finished it */
    int ends;
    /* The newest task: */
    trace_pool_work *work;
    void *user;
    uint32_t pieces;
    atomic_uint next;
};

static void trace_pool_work_on(struct trace_pool *p)
{
    uint32_t piece;
    while ((piece = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->pieces)
        p->work(p->user, piece);
}

static void *trace_pool_follow(void *user)
{
    struct trace_pool *p = user;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->task == seen && !p->ends)
            pthread_cond_wait(&p->begun, &p->lock);
        if (p->ends)
            break;
        seen = p->task;
        pthread_mutex_unlock(&p->lock);
        trace_pool_work_on(p);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int trace_pool_create(struct trace_pool **out, unsigned threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct trace_pool *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begun, NULL);
    pthread_cond_init(&p->done, NULL);
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
    pthread_mutex_lock(&p->lock);
    p->ends = 1;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->count; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->begun);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

unsigned trace_pool_threads(const struct trace_pool *p)
{
    return p->count + 1;
}

void trace_pool_run(struct trace_pool *p, trace_pool_work *work, void *user, uint32_t pieces)
{
    if (pieces < 2 || p->count == 0) {
        for (uint32_t i = 0; i < pieces; i++)
            work(user, i);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->work = work;
    p->user = user;
    p->pieces = pieces;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    p->task++;
    p->busy = p->count;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    trace_pool_work_on(p);
    pthread_mutex_lock(&p->lock);
    while (p->busy > 0)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
