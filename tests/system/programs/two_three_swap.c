#include "two_three_swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS (1u << 24)

uint64_t swap_part(uint64_t bytes, uint32_t member, uint32_t of)
{
    /* In two steps, so that it does not overflow. */
    return bytes / of * member + bytes % of * member / of;
}

struct maker {
    struct swap_plan *plan;
    uint64_t bytes;
    uint32_t *merged; /* owners of the group that is being made */
    int failed;
};

/* A group within a group, while they are merged. */
struct child {
    uint32_t first, count; /* ranks, and places in plan->owner */
    uint32_t next;         /* member whose turn is next */
};

static void send(struct maker *m, const struct swap_message *message)
{
    struct swap_plan *plan = m->plan;
    if (plan->count == plan->room) {
        size_t capacity = plan->room == 0 ? 1024 : 2 * plan->room;
        struct swap_message *more = realloc(plan->messages, capacity * sizeof(*more));
        if (more == NULL) {
            m->failed = 1;
            return;
        }
        plan->messages = more;
        plan->room = capacity;
    }
    plan->messages[plan->count++] = *message;
}

/* Of members whose parts begin at the same place that of the first group comes first. */
static struct child *first_of(struct child *children, uint32_t count)
{
    struct child *first = NULL;
    for (struct child *c = children; c < children + count; c++) {
        if (c->next == c->count)
            continue;
        if (first == NULL || (uint64_t)c->next * first->count < (uint64_t)first->next * c->count)
            first = c;
    }
    return first;
}

/* What a member holds goes to those that hold it from now on. */
static void divide(struct maker *m, uint32_t stage, const struct child *child, uint32_t member,
                   uint32_t all)
{
    uint64_t first = swap_part(m->bytes, member, child->count);
    uint64_t end = swap_part(m->bytes, member + 1, child->count);
    uint32_t from = m->plan->owner[child->first + member];
    uint32_t to = (uint32_t)((uint64_t)member * all / child->count);
    for (; to < all; to++) {
        uint64_t begins = swap_part(m->bytes, to, all), ends = swap_part(m->bytes, to + 1, all);
        begins = begins > first ? begins : first;
        ends = ends < end ? ends : end;
        if (swap_part(m->bytes, to, all) >= end)
            break;
        if (begins < ends && m->merged[to] != from)
            send(m, &(struct swap_message){stage, from, m->merged[to], begins, ends - begins});
    }
}

static void merge(struct maker *m, uint32_t stage, struct child *children, uint32_t count)
{
    uint32_t all = 0, first = children[0].first;
    for (uint32_t c = 0; c < count; c++)
        all += children[c].count;
    for (uint32_t i = 0; i < all; i++) {
        struct child *next = first_of(children, count);
        m->merged[i] = m->plan->owner[next->first + next->next++];
    }
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < children[c].count; i++)
            divide(m, stage, &children[c], i, all);
    memcpy(m->plan->owner + first, m->merged, all * sizeof(*m->merged));
}

static uint64_t max_leaves(uint32_t height)
{
    uint64_t most = 1;
    while (height-- > 0)
        most *= 3;
    return most;
}

/* Depth: the logarithm of the ranks. */
static void make_group(struct maker *m, uint32_t first, uint32_t count, uint32_t height)
{
    struct child children[3] = {{0}};
    if (height == 0)
        return;
    uint32_t parts = (count + 1) / 2 <= max_leaves(height - 1) ? 2 : 3;
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t begin = (uint32_t)((uint64_t)count * p / parts);
        uint32_t end = (uint32_t)((uint64_t)count * (p + 1) / parts);
        children[p] = (struct child){first + begin, end - begin, 0};
        make_group(m, first + begin, end - begin, height - 1);
    }
    merge(m, height - 1, children, parts);
}

static int by_stage(const void *left, const void *right)
{
    const struct swap_message *a = left, *b = right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

int swap_plan_make(struct swap_plan *out, uint32_t ranks, uint64_t bytes)
{
    struct swap_plan plan = {0};
    struct maker m = {.plan = &plan, .bytes = bytes};
    if (ranks < 1 || ranks > MOST_RANKS)
        return -ERANGE;
    while (ranks >> (plan.stages + 1) != 0)
        plan.stages++;
    plan.owner = malloc(ranks * sizeof(*plan.owner));
    m.merged = malloc(ranks * sizeof(*m.merged));
    m.failed = plan.owner == NULL || m.merged == NULL;
    for (uint32_t r = 0; !m.failed && r < ranks; r++)
        plan.owner[r] = r;
    if (!m.failed)
        make_group(&m, 0, ranks, plan.stages);
    free(m.merged);
    if (m.failed) {
        swap_plan_finish(&plan);
        return -ENOMEM;
    }
    if (plan.count > 0)
        qsort(plan.messages, plan.count, sizeof(*plan.messages), by_stage);
    *out = plan;
    return 0;
}

void swap_plan_finish(struct swap_plan *plan)
{
    free(plan->messages);
    free(plan->owner);
    *plan = (struct swap_plan){0};
}
