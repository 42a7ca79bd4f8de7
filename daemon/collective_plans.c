#include "daemon/collective_plans.h"

#include "daemon/analysis/array.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PLANS (COLLECTIVE_PLANS_ROWS / 4)

static void forget(struct collective_plans *p)
{
    key_table_finish(&p->keys);
    p->row_count = 0;
    p->before = KEY_NONE;
    p->full = 0;
}

void collective_plans_finish(struct collective_plans *p)
{
    key_table_finish(&p->keys);
    free(p->plans);
    free(p->rows);
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

void collective_plans_keep(struct collective_plans *p, const struct collective_plan *plan,
                           const struct burst_pair *rows)
{
    p->full = p->full || plan->count > COLLECTIVE_PLANS_ROWS - p->row_count ||
              p->keys.count == MOST_PLANS;
    if (p->full || key_table_reserve(&p->keys, 1) != 0 ||
        array_fit(&p->plans, sizeof(*p->plans), &p->plan_room, (size_t)p->keys.count + 1) != 0 ||
        array_fit(&p->rows, sizeof(*p->rows), &p->row_room, p->row_count + plan->count) != 0)
        return;
    /* One of the same calls, or of the same key, is put out of its place; its rows stay until all go. */
    uint32_t at = key_table_add_hashed(&p->keys, key_of(&plan->call));
    p->plans[at] = *plan;
    p->plans[at].first = p->row_count;
    if (plan->count > 0)
        memcpy(p->rows + p->row_count, rows, plan->count * sizeof(*rows));
    p->row_count += plan->count;
    p->before = at;
}

size_t collective_plans_bytes(const struct collective_plans *p)
{
    return key_table_bytes(&p->keys) + p->plan_room * sizeof(*p->plans) +
           p->row_room * sizeof(*p->rows);
}
