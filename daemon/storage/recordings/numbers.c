#include "daemon/storage/recordings/numbers.h"

#include "daemon/analysis/tables/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that follow each other, and between which windows those of them lie that are of window
 * messages. */
struct run {
    uint64_t first, last;
    uint64_t low, high; /* low above high: there is no window */
};

/* Runs in ascending order: nearly always one. */
struct numbers_agent {
    struct run *list;
    size_t count, room;
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
static int numbers_merge_runs(struct numbers_agent *r, const struct run *one)
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
    if (head->type == WIRE_TYPE_WINDOW)
        one.low = one.high = head->window;
    return numbers_merge_runs(agent, &one);
}

/* ---- what was not met ------------------------------------------------------ */

/* What lies between the windows of a run and those of the next run that has any. */
struct gap {
    uint64_t numbers;    /* that were not met */
    uint64_t first, end; /* windows between; the same: none */
    int follows;         /* the next window follows the one before */
    int behind;          /* there is no next one */
};

static int has_windows(const struct run *run)
{
    return run->low <= run->high;
}

/* @param at  a run, set to the next one with windows, or to the count of runs: behind the last
 * there are no windows */
static struct gap next_gap(const struct numbers_agent *agent, size_t *at)
{
    const struct run *run = &agent->list[*at];
    struct gap gap = {.numbers = 0};
    uint64_t high = run->high;
    do {
        if (++*at == agent->count) {
            gap.behind = 1;
            return gap;
        }
        run = &agent->list[*at];
        gap.numbers += run->first - agent->list[*at - 1].last - 1;
    } while (!has_windows(run));
    if (high < run->low) {
        gap.first = high + 1;
        gap.end = run->low;
        gap.follows = gap.first == gap.end;
    }
    return gap;
}

/* @return the first run with windows */
static size_t numbers_begin_of(const struct numbers_agent *agent)
{
    size_t at = 0;
    while (at < agent->count && !has_windows(&agent->list[at]))
        at++;
    return at;
}

/* An agent sends each window of a job on its node, with nothing between the messages of one: where
 * windows follow each other and numbers do not, these are of other jobs. */
static int is_shared(const struct numbers_agent *agent)
{
    for (size_t at = numbers_begin_of(agent); at < agent->count;) {
        struct gap gap = next_gap(agent, &at);
        if (gap.follows && gap.numbers > 0)
            return 1;
    }
    return 0;
}

/* Messages of the job that were not met. Of a shared agent it is only known that each window has
 * one. */
static uint64_t missing_in(const struct gap *gap, int shared)
{
    uint64_t windows = gap->end - gap->first;
    int bounded = shared && (windows > 0 || gap->follows || gap->behind);
    return bounded && windows < gap->numbers ? windows : gap->numbers;
}

uint64_t numbers_missing(const struct numbers *n)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < n->room; i++) {
        const struct numbers_agent *agent = &n->agent[i];
        int shared = is_shared(agent);
        for (size_t at = numbers_begin_of(agent); at < agent->count;) {
            struct gap gap = next_gap(agent, &at);
            missing += missing_in(&gap, shared);
        }
    }
    return missing;
}

static int numbers_for_each_hole(const struct numbers_agent *agent, numbers_hole *hole, void *user)
{
    int code = 0, shared = is_shared(agent);
    for (size_t at = numbers_begin_of(agent); code == 0 && at < agent->count;) {
        struct gap gap = next_gap(agent, &at);
        if (gap.first < gap.end)
            code = hole(user, gap.first, gap.end, missing_in(&gap, shared));
    }
    return code;
}

int numbers_holes(const struct numbers *n, numbers_hole *hole, void *user)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < n->room; i++)
        code = numbers_for_each_hole(&n->agent[i], hole, user);
    return code;
}
