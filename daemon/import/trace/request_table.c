/* Hash table of the open requests of a rank: see request_table.h. */
#include "daemon/import/trace/request_table.h"

#include "holter/event.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 64u

void request_table_init(struct request_table *t)
{
    *t = (struct request_table){.count = 0};
}

void request_table_finish(struct request_table *t)
{
    free(t->entries);
    *t = (struct request_table){.count = 0};
}

/* Home slot of an id. In an empty table it is meaningless, and request_table_next_of() finds
 * nothing there. */
static uint32_t request_table_home(const struct request_table *t, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (t->room - 1);
}

/* The first empty entry from the home of an id on. */
static struct open_request *request_table_free_entry(const struct request_table *t, uint64_t id)
{
    uint32_t at = request_table_home(t, id);
    while (t->entries[at].taken)
        at = (at + 1) & (t->room - 1);
    return &t->entries[at];
}

static int request_table_grow(struct request_table *t)
{
    struct open_request *old = t->entries;
    uint32_t old_capacity = t->room, room = old_capacity == 0 ? FIRST_ROOM : 2 * old_capacity;
    struct open_request *entries = calloc(room, sizeof(*entries));
    if (entries == NULL)
        return -ENOMEM;
    t->entries = entries;
    t->room = room;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].taken)
            *request_table_free_entry(t, old[i].id) = old[i];
    free(old);
    return 0;
}

struct open_request *request_table_add(struct request_table *t, uint64_t id,
                                       struct call_queue *queue)
{
    if (2 * (t->count + 1) > t->room && request_table_grow(t) != 0)
        return NULL;
    t->count++;
    struct open_request *request = request_table_free_entry(t, id);
    *request =
        (struct open_request){.id = id, .queue = queue, .position = REQUEST_NOWHERE, .taken = 1};
    return request;
}

/* The next request of this id, starting at an entry. @return NULL: there are no more */
static struct open_request *request_table_next_of(const struct request_table *t, uint64_t id,
                                                  uint32_t *at)
{
    if (t->room == 0)
        return NULL;
    for (; t->entries[*at].taken; *at = (*at + 1) & (t->room - 1)) {
        struct open_request *request = &t->entries[*at];
        if (request->id != id)
            continue;
        *at = (*at + 1) & (t->room - 1);
        return request;
    }
    return NULL;
}

struct open_request *request_table_own(const struct request_table *t, uint64_t id,
                                       const struct call_queue *queue)
{
    struct open_request *request, *newest = NULL;
    uint32_t at = request_table_home(t, id);
    while ((request = request_table_next_of(t, id, &at)) != NULL)
        if (request->queue == queue && (newest == NULL || request->order >= newest->order))
            newest = request;
    return newest;
}

static int request_table_is_same_kind(const struct open_request *post,
                                      const struct open_request *end)
{
    return end->flags & EVENT_CANCELLED ||
           ((post->flags ^ end->flags) & (EVENT_SEND | EVENT_RECV)) == 0;
}

/* How well a post fits an end; 0: not at all. */
static int request_table_rank_of(const struct open_request *post, const struct open_request *end)
{
    if (!request_table_is_same_kind(post, end))
        return 0;
    if (post->queue == end->queue)
        return post->order < end->order ? 3 : 0;
    return post->t_post < end->t_post ? 2 : post->t_post == end->t_post;
}

struct open_request *request_table_match(const struct request_table *t,
                                         const struct open_request *end)
{
    struct open_request *request, *best = NULL;
    uint32_t at = request_table_home(t, end->id);
    int best_rank = 0;
    while ((request = request_table_next_of(t, end->id, &at)) != NULL) {
        int rank = request_table_rank_of(request, end);
        int newer = best == NULL ||
                    (rank == 3 ? request->order >= best->order : request->t_post > best->t_post);
        if (rank == 0 || rank < best_rank || (rank == best_rank && !newer))
            continue;
        best = request;
        best_rank = rank;
    }
    return best;
}

struct open_request *request_table_at(const struct request_table *t, uint64_t id,
                                      const struct call_queue *queue, uint64_t position,
                                      int in_call)
{
    struct open_request *request;
    uint32_t at = request_table_home(t, id);
    while ((request = request_table_next_of(t, id, &at)) != NULL)
        if (request->queue == queue && request->position == position && request->in_call == in_call)
            return request;
    return NULL;
}

/* Entries after the removed one that would become unreachable move up (Knuth, The Art of Computer
 * Programming, volume 3, section 6.4, algorithm R). */
void request_table_remove(struct request_table *t, struct open_request *request)
{
    uint32_t mask = t->room - 1, hole = (uint32_t)(request - t->entries), at = hole;
    t->count--;
    for (;;) {
        t->entries[hole].taken = 0;
        for (;;) {
            at = (at + 1) & mask;
            if (t->entries[at].taken == 0)
                return;
            if (((at - request_table_home(t, t->entries[at].id)) & mask) >= ((at - hole) & mask))
                break;
        }
        t->entries[hole] = t->entries[at];
        hole = at;
    }
}

struct open_request *request_table_victim(struct request_table *t)
{
    while (t->entries[t->evicted & (t->room - 1)].taken == 0)
        t->evicted++;
    return &t->entries[t->evicted++ & (t->room - 1)];
}
