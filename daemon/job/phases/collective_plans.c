#include "daemon/job/phases/collective_plans.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLANS (COLLECTIVE_PLANS_ROWS / 4)
#define CHUNK 16384u /* rows, or as many as one plan has */
#define MOST_SUM                                                                                   \
    (UINT64_C(1) << 45) /* of a plan that is taken with others: MOST_PLANS of them fit 64 bits */
_Static_assert(MOST_PLANS <= 1u << 18, "of so many plans sums fit 64 bits");

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
    p->totalled = 0;
    p->full = 0;
}

void collective_plans_finish(struct collective_plans *p)
{
    key_table_finish(&p->keys);
    free_chunks(p);
    free(p->plans);
    free(p->fors);
    free(p->totals);
    free(p->chunks);
    *p = (struct collective_plans){0};
}

void collective_plans_window(struct collective_plans *p)
{
    if (p->full)
        forget(p);
    p->before = KEY_NONE;
}

/* Calls and bytes are mixed into one word: other calls may have it, so that plans are compared as
 * well. */
static struct key key_of(const struct plan_call *call)
{
    return (struct key){(uint64_t)call->collective << 32 | call->rank,
                        call->calls * UINT64_C(0x9e3779b97f4a7c15) ^ call->bytes};
}

static inline bool is_for(const struct plan_for *of, const struct plan_call *call,
                          const struct plan_group *group)
{
    return of->call.collective == call->collective && of->call.rank == call->rank &&
           of->call.calls == call->calls && of->call.bytes == call->bytes &&
           of->group.size == group->size && of->group.stamp == group->stamp;
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
    p->before = at;
    return is_for(&p->fors[at], call, group) ? &p->plans[at] : NULL;
}

static uint32_t next_of(const struct collective_plans *p)
{
    return p->before == KEY_NONE ? 0 : p->before + 1;
}

uint32_t collective_plans_following(const struct collective_plans *p,
                                    const struct burst_pair *calls, const uint32_t *order,
                                    uint32_t most, const struct plan_group *group,
                                    const struct burst_pair *end)
{
    uint32_t next = next_of(p), there = p->keys.count - next, count = 0;
    if (there == 0 || p->plans[next].rows != end)
        return 0;
    most = most < there ? most : there;
    for (const struct plan_for *of = p->fors + next; count < most; count++, of++) {
        const struct burst_pair *row = &calls[order[count]];
        const struct plan_call call = {row->destination, row->source, row->messages, row->bytes};
        if (!of->joins || !is_for(of, &call, group))
            break;
    }
    return count;
}

static void total_up(struct collective_plans *p, uint32_t end)
{
    if (p->totalled == 0)
        p->totals[0] = (struct plan_total){.rows = 0};
    for (; p->totalled < end; p->totalled++) {
        const struct collective_plan *plan = &p->plans[p->totalled];
        struct plan_total total = p->totals[p->totalled];
        total.messages += plan->messages;
        total.bytes += plan->bytes;
        total.steps += plan->steps;
        total.rows += (uint32_t)plan->count;
        total.unsorted += !plan->ascends;
        p->totals[p->totalled + 1] = total;
    }
}

struct plan_total collective_plans_total(struct collective_plans *p, uint32_t count)
{
    uint32_t next = next_of(p);
    total_up(p, next + count);
    const struct plan_total *from = &p->totals[next], *to = &p->totals[next + count];
    return (struct plan_total){.messages = to->messages - from->messages,
                               .bytes = to->bytes - from->bytes,
                               .steps = to->steps - from->steps,
                               .rows = to->rows - from->rows,
                               .unsorted = to->unsorted - from->unsorted};
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

/* Whether a plan may be taken with the one before it. */
static void see_whether_joins(struct collective_plans *p, uint32_t at)
{
    if (at == 0 || at >= p->keys.count)
        return;
    const struct collective_plan *plan = &p->plans[at], *before = plan - 1;
    p->fors[at].joins = plan->follows && plan->others.pairs == 0 && before->count > 0 &&
                        plan->rows == before->rows + before->count && plan->messages < MOST_SUM &&
                        plan->bytes < MOST_SUM;
}

static int fit_plan(struct collective_plans *p)
{
    size_t count = (size_t)p->keys.count + 1;
    return key_table_reserve(&p->keys, 1) != 0 ||
                   array_fit(&p->plans, sizeof(*p->plans), &p->plan_room, count) != 0 ||
                   array_fit(&p->fors, sizeof(*p->fors), &p->for_room, count) != 0 ||
                   array_fit(&p->totals, sizeof(*p->totals), &p->total_room, count + 1) != 0
               ? -ENOMEM
               : 0;
}

void collective_plans_keep(struct collective_plans *p, const struct plan_call *call,
                           const struct plan_group *group, const struct collective_plan *plan,
                           const struct burst_pair *rows)
{
    p->full = p->full || plan->count > COLLECTIVE_PLANS_ROWS - p->row_count ||
              p->keys.count == MOST_PLANS;
    if (p->full || fit_plan(p) != 0)
        return;
    if (!fit_rows(p, plan->count)) {
        p->full = plan->count + left_of(p) > COLLECTIVE_PLANS_ROWS - p->row_count;
        return;
    }
    p->stays += p->stays == 0;
    /* One of the same calls, or of the same key, is put out of its place; its rows stay until all
     * go. */
    uint32_t at = key_table_add_hashed(&p->keys, key_of(call));
    p->plans[at] = *plan;
    p->fors[at] = (struct plan_for){*call, *group, 0};
    put_rows(p, &p->plans[at], rows);
    see_whether_joins(p, at);
    see_whether_joins(p, at + 1);
    p->totalled = at < p->totalled ? at : p->totalled;
    p->before = at;
}

size_t collective_plans_bytes(const struct collective_plans *p)
{
    return key_table_bytes(&p->keys) + p->plan_room * sizeof(*p->plans) +
           p->for_room * sizeof(*p->fors) + p->total_room * sizeof(*p->totals) +
           p->chunk_room * sizeof(*p->chunks) +
           (p->row_count + left_of(p)) * sizeof(struct burst_pair);
}
