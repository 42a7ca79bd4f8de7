#include "daemon/collective_plans.h"

#include "daemon/analysis/array.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PLANS (COLLECTIVE_PLANS_ROWS / 4)
#define CHUNK 16384u /* rows, or as many as one plan has */

static void free_chunks(struct collective_plans *p)
{
    for (size_t i = 0; i < p->chunk_count; i++)
        free(p->chunks[i].rows);
    p->chunk_count = p->used = p->row_count = 0;
}

static void forget(struct collective_plans *p)
{
    key_table_finish(&p->keys);
    free_chunks(p);
    p->stays++;
    p->before = KEY_NONE;
    p->full = 0;
}

void collective_plans_finish(struct collective_plans *p)
{
    key_table_finish(&p->keys);
    free_chunks(p);
    free(p->plans);
    free(p->chunks);
    *p = (struct collective_plans){0};
}

void collective_plans_window(struct collective_plans *p)
{
    if (p->full)
        forget(p);
    p->before = KEY_NONE;
}

/* Calls and bytes are mixed into one word: other calls may have it, so that plans are compared as well. */
static struct key key_of(const struct plan_call *call)
{
    return (struct key){(uint64_t)call->collective << 32 | call->rank,
                        call->calls * UINT64_C(0x9e3779b97f4a7c15) ^ call->bytes};
}

const struct collective_plan *collective_plans_find(struct collective_plans *p,
                                                    const struct plan_call *call,
                                                    const struct plan_group *group)
{
    struct key key = key_of(call);
    uint32_t next = p->before == KEY_NONE ? 0 : p->before + 1;
    uint32_t at = key_table_is(&p->keys, next, key) ? next : key_table_find(&p->keys, key);
    if (at == KEY_NONE)
        return NULL;
    const struct collective_plan *plan = &p->plans[at];
    p->before = at;
    return plan->call.calls == call->calls && plan->call.bytes == call->bytes &&
                   plan->group.size == group->size && plan->group.stamp == group->stamp
               ? plan
               : NULL;
}

/* Rows of the last chunk that are free. */
static size_t left_of(const struct collective_plans *p)
{
    return p->chunk_count == 0 ? 0 : p->chunks[p->chunk_count - 1].room - p->used;
}

/* Have so many rows free in the last chunk. What is left of the one before it stays unused.
 * @return whether there is room and memory */
static bool fit_rows(struct collective_plans *p, size_t rows)
{
    size_t left = left_of(p), most = COLLECTIVE_PLANS_ROWS - p->row_count;
    if (rows <= left)
        return true;
    if (left > most || rows > most - left)
        return false;
    size_t room = rows > CHUNK ? rows : CHUNK < most - left ? CHUNK : most - left;
    if (array_fit(&p->chunks, sizeof(*p->chunks), &p->chunk_room, p->chunk_count + 1) != 0)
        return false;
    struct plan_chunk chunk = {malloc(room * sizeof(*chunk.rows)), room};
    if (chunk.rows == NULL)
        return false;
    p->chunks[p->chunk_count++] = chunk;
    p->row_count += left;
    p->used = 0;
    return true;
}

/* Copy the rows of a plan behind those of the one before it. Room for them was made. */
static void put_rows(struct collective_plans *p, struct collective_plan *plan,
                     const struct burst_pair *rows)
{
    plan->rows = NULL;
    plan->follows = false;
    if (plan->count == 0)
        return;
    struct burst_pair *to = p->chunks[p->chunk_count - 1].rows + p->used;
    memcpy(to, rows, plan->count * sizeof(*rows));
    plan->rows = to;
    plan->follows = p->used > 0 && burst_pair_compare(to - 1, to) < 0;
    p->used += plan->count;
    p->row_count += plan->count;
}

void collective_plans_keep(struct collective_plans *p, const struct collective_plan *plan,
                           const struct burst_pair *rows)
{
    p->full = p->full || plan->count > COLLECTIVE_PLANS_ROWS - p->row_count ||
              p->keys.count == MOST_PLANS;
    if (p->full || key_table_reserve(&p->keys, 1) != 0 ||
        array_fit(&p->plans, sizeof(*p->plans), &p->plan_room, (size_t)p->keys.count + 1) != 0)
        return;
    if (!fit_rows(p, plan->count)) {
        p->full = plan->count + left_of(p) > COLLECTIVE_PLANS_ROWS - p->row_count;
        return;
    }
    p->stays += p->stays == 0;
    /* One of the same calls, or of the same key, is put out of its place; its rows stay until all go. */
    uint32_t at = key_table_add_hashed(&p->keys, key_of(&plan->call));
    p->plans[at] = *plan;
    put_rows(p, &p->plans[at], rows);
    p->before = at;
}

size_t collective_plans_bytes(const struct collective_plans *p)
{
    return key_table_bytes(&p->keys) + p->plan_room * sizeof(*p->plans) +
           p->chunk_room * sizeof(*p->chunks) +
           (p->row_count + left_of(p)) * sizeof(struct burst_pair);
}
