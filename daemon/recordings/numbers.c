#include "daemon/recordings/numbers.h"

#include "daemon/analysis/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Runs in ascending order: nearly always one. */
struct numbers_agent {
    struct {
        uint64_t first, last;
    } * list;
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

/* @return as numbers_meet() */
static int meet(struct numbers_agent *r, uint64_t seq)
{
    size_t at = r->count;
    while (at > 0 && r->list[at - 1].first > seq)
        at--;
    if (at > 0 && seq <= r->list[at - 1].last)
        return 1;
    if (at > 0 && seq == r->list[at - 1].last + 1) {
        r->list[at - 1].last = seq;
        if (at < r->count && r->list[at].first == seq + 1) {
            r->list[at - 1].last = r->list[at].last;
            memmove(&r->list[at], &r->list[at + 1], (r->count - at - 1) * sizeof(*r->list));
            r->count--;
        }
        return 0;
    }
    if (at < r->count && r->list[at].first == seq + 1) {
        r->list[at].first = seq;
        return 0;
    }
    if (array_fit(&r->list, sizeof(*r->list), &r->room, r->count + 1) != 0)
        return -ENOMEM;
    memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof(*r->list));
    r->list[at].first = r->list[at].last = seq;
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
    if (head->type == WIRE_TYPE_WINDOW) {
        agent->window = agent->windows && agent->window < head->seq ? agent->window : head->seq;
        agent->windows = 1;
    }
    return meet(agent, head->seq);
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
