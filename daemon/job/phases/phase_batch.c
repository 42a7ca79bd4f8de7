/* Closed phases whose communities are computed together, possibly by a thread. */
#include "daemon/job/phases/phase_batch.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NICER 5 /* than the loop: messages go first where both share a core */

struct phase_batch {
    struct phase_labels *labels; /* the worker's while it works */
    struct phase_batch_item *items;
    size_t count, capacity;
    int started, beside;
    pthread_t thread;
};

int phase_batch_create(struct phase_batch **out)
{
    struct phase_batch *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    int code = phase_labels_create(&b->labels);
    if (code != 0) {
        free(b);
        return code;
    }
    *out = b;
    return 0;
}

static void phase_batch_join(struct phase_batch *b)
{
    if (b->beside)
        pthread_join(b->thread, NULL);
    b->beside = 0;
}

void phase_batch_clear(struct phase_batch *b)
{
    phase_batch_join(b);
    for (size_t i = 0; i < b->count; i++) {
        phase_graph_finish(&b->items[i].graph);
        free(b->items[i].labels);
    }
    b->count = 0;
    b->started = 0;
}

void phase_batch_destroy(struct phase_batch *b)
{
    if (b == NULL)
        return;
    phase_batch_clear(b);
    phase_labels_destroy(b->labels);
    free(b->items);
    free(b);
}

int phase_batch_add(struct phase_batch *b, const struct phase *phase, uint32_t ranks,
                    struct phase_graph *graph)
{
    if (ARRAY_FIT(b->items, b->capacity, b->count + 1) != 0)
        return -ENOMEM;
    struct phase_batch_item *item = &b->items[b->count++];
    *item = (struct phase_batch_item){.phase = *phase,
                                      .ranks = ranks,
                                      .analysed = graph != NULL,
                                      .code = graph == NULL ? -EINVAL : 0};
    if (graph != NULL) {
        item->graph = *graph;
        *graph = (struct phase_graph){0};
    }
    return 0;
}

size_t phase_batch_edges(const struct phase_batch *b)
{
    size_t edges = 0;
    for (size_t i = 0; i < b->count; i++)
        edges += b->items[i].graph.count;
    return edges;
}

static void *phase_batch_run(void *user)
{
    struct phase_batch *b = user;
    for (size_t i = 0; i < b->count; i++) {
        struct phase_batch_item *item = &b->items[i];
        if (item->code != 0)
            continue;
        item->labels = malloc(((size_t)item->ranks + 1) * sizeof(*item->labels));
        item->code = item->labels == NULL ? -ENOMEM
                                          : phase_labels_find(b->labels, item->ranks, &item->graph,
                                                              item->labels, &item->figures);
    }
    return NULL;
}

static void *phase_batch_thread(void *user)
{
    /* On Linux the priority is the thread's own (setpriority(2)). */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    return phase_batch_run(user);
}

void phase_batch_start(struct phase_batch *b, int beside)
{
    b->started = 1;
    b->beside = beside && pthread_create(&b->thread, NULL, phase_batch_thread, b) == 0;
    if (!b->beside)
        phase_batch_run(b);
}

int phase_batch_is_started(const struct phase_batch *b)
{
    return b->started;
}

int phase_batch_is_done(struct phase_batch *b)
{
    if (b->beside && pthread_tryjoin_np(b->thread, NULL) == 0)
        b->beside = 0;
    return !b->beside;
}

struct phase_batch_item *phase_batch_finish(struct phase_batch *b, size_t *count)
{
    phase_batch_join(b);
    *count = b->count;
    return b->items;
}

void phase_batch_copy_state(struct state_bytes *b, struct phase_batch **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct phase_batch *batch = *out;
    phase_labels_copy_state(b, &batch->labels);
    STATE_ARRAY(b, batch->items, batch->count, batch->capacity);
    if (batch->items == NULL)
        batch->count = batch->capacity = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct phase_batch_item *item = &batch->items[i];
        phase_graph_copy_state(b, &item->graph);
        STATE_ARRAY(b, item->labels, item->ranks, (size_t)item->ranks + 1);
    }
}
