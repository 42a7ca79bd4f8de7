#include "daemon/recordings/numbers.h"

#include "daemon/analysis/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that follow each other, and between which windows those of them lie that are of window messages. */
struct run {
    uint64_t first, last;
    uint64_t low, high; /* low above high: there is no window */
};

/* Runs in ascending order: nearly always one. */
struct numbers_agent {
    struct run *list;
    size_t count, room;
    uint64_t window; /* the lowest number of a window message */
    int windows;     /* one was met */
};

void numbers_init(struct numbers *n)
{
    *n = (struct numbers){.room = 0};
    key_table_init(&n->agents);
}

void numbers_finish(struct numbers *n)
{
    for (uint32_t i = 0; i < n->room; i++)
        free(n->agent[i].list);
    free(n->agent);
    key_table_finish(&n->agents);
    *n = (struct numbers){.room = 0};
}

static void add_windows(struct run *run, const struct run *other)
{
    run->low = other->low < run->low ? other->low : run->low;
    run->high = other->high > run->high ? other->high : run->high;
}

/* @return as numbers_meet() */
static int meet(struct numbers_agent *r, const struct run *one)
{
    uint64_t seq = one->first;
    size_t at = r->count;
    while (at > 0 && r->list[at - 1].first > seq)
        at--;
    if (at > 0 && seq <= r->list[at - 1].last)
        return 1;
    if (at > 0 && seq == r->list[at - 1].last + 1) {
        r->list[at - 1].last = seq;
        add_windows(&r->list[at - 1], one);
        if (at < r->count && r->list[at].first == seq + 1) {
            r->list[at - 1].last = r->list[at].last;
            add_windows(&r->list[at - 1], &r->list[at]);
            memmove(&r->list[at], &r->list[at + 1], (r->count - at - 1) * sizeof(*r->list));
            r->count--;
        }
        return 0;
    }
    if (at < r->count && r->list[at].first == seq + 1) {
        r->list[at].first = seq;
        add_windows(&r->list[at], one);
        return 0;
    }
    if (array_fit(&r->list, sizeof(*r->list), &r->room, r->count + 1) != 0)
        return -ENOMEM;
    memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof(*r->list));
    r->list[at] = *one;
    r->count++;
    return 0;
}

int numbers_meet(struct numbers *n, const struct recorded *head)
{
    if (key_table_reserve(&n->agents, 1) != 0)
        return -ENOMEM;
    uint32_t at = key_table_add_hashed(&n->agents, (struct key){.hi = head->instance});
    if (array_fit_zero(&n->agent, sizeof(*n->agent), &n->room, (uint64_t)at + 1) != 0)
        return -ENOMEM;
    struct numbers_agent *agent = &n->agent[at];
    struct run one = {.first = head->seq, .last = head->seq, .low = UINT64_MAX};
    if (head->type == WIRE_TYPE_WINDOW) {
        one.low = one.high = head->window;
        agent->window = agent->windows && agent->window < head->seq ? agent->window : head->seq;
        agent->windows = 1;
    }
    return meet(agent, &one);
}

uint64_t numbers_missing(const struct numbers *n)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < n->room; i++) {
        const struct numbers_agent *agent = &n->agent[i];
        for (size_t r = 0; r + 1 < agent->count; r++) {
            if (agent->windows && agent->list[r].last >= agent->window)
                missing += agent->list[r + 1].first - agent->list[r].last - 1;
        }
    }
    return missing;
}

static int tell_holes(const struct numbers_agent *agent, numbers_hole *hole, void *user)
{
    uint64_t missing = 0, high = 0;
    int code = 0, began = 0;
    for (size_t r = 0; code == 0 && r < agent->count; r++) {
        const struct run *run = &agent->list[r];
        missing += r > 0 ? run->first - agent->list[r - 1].last - 1 : 0;
        if (run->low > run->high)
            continue;
        if (began && high < run->low && run->low - high > 1)
            code = hole(user, high + 1, run->low, missing);
        high = run->high;
        missing = 0;
        began = 1;
    }
    return code;
}

int numbers_holes(const struct numbers *n, numbers_hole *hole, void *user)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < n->room; i++)
        code = tell_holes(&n->agent[i], hole, user);
    return code;
}
