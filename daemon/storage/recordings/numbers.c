/* Keeps the numbers of received messages as runs, by agent, and derives which messages are
 * missing. */
#include "daemon/storage/recordings/numbers.h"

#include "daemon/analysis/tables/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A run of consecutive numbers, and the range of windows that its window messages have. */
struct run {
    uint64_t first, last;
    uint64_t low, high; /* low > high: the run has no window */
};

/* Runs in ascending order: nearly always there is one. */
struct numbers_agent {
    struct run *list;
    size_t count, capacity;
};

void numbers_finish(struct numbers *n)
{
    for (uint32_t i = 0; i < n->capacity; i++)
        free(n->agent[i].list);
    free(n->agent);
    key_table_finish(&n->agents);
    *n = (struct numbers){.capacity = 0};
}

static void numbers_extend_windows(struct run *run, const struct run *other)
{
    run->low = other->low < run->low ? other->low : run->low;
    run->high = other->high > run->high ? other->high : run->high;
}

/* Add a run of one number. @return as numbers_add() */
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
        numbers_extend_windows(&r->list[at - 1], one);
        if (at < r->count && r->list[at].first == seq + 1) {
            r->list[at - 1].last = r->list[at].last;
            numbers_extend_windows(&r->list[at - 1], &r->list[at]);
            memmove(&r->list[at], &r->list[at + 1], (r->count - at - 1) * sizeof(*r->list));
            r->count--;
        }
        return 0;
    }
    if (at < r->count && r->list[at].first == seq + 1) {
        r->list[at].first = seq;
        numbers_extend_windows(&r->list[at], one);
        return 0;
    }
    if (ARRAY_FIT(r->list, r->capacity, r->count + 1) != 0)
        return -ENOMEM;
    memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof(*r->list));
    r->list[at] = *one;
    r->count++;
    return 0;
}

int numbers_add(struct numbers *n, const struct recorded *head)
{
    uint32_t at = key_table_add(&n->agents, (struct key){.hi = head->instance});
    if (at == KEY_NONE || ARRAY_FIT_AT(n->agent, n->capacity, at) != 0)
        return -ENOMEM;
    struct numbers_agent *agent = &n->agent[at];
    struct run one = {.first = head->seq, .last = head->seq, .low = UINT64_MAX};
    if (head->type == WIRE_TYPE_WINDOW)
        one.low = one.high = head->window;
    return numbers_merge_runs(agent, &one);
}

/* ---- missing messages ------------------------------------------------------ */

/* The gap between a run with windows and the next one that has any. */
struct gap {
    uint64_t numbers;    /* numbers that are missing */
    uint64_t first, end; /* windows first to end - 1 are missing; equal: none */
    int follows;         /* the window after the gap follows the one before it */
    int is_last;         /* no run with windows follows */
};

static int numbers_has_windows(const struct run *run)
{
    return run->low <= run->high;
}

/* @param at  index of a run; set to that of the next run with windows, or to the number of runs
 * if there is none */
static struct gap numbers_next_gap(const struct numbers_agent *agent, size_t *at)
{
    const struct run *run = &agent->list[*at];
    struct gap gap = {.numbers = 0};
    uint64_t high = run->high;
    do {
        if (++*at == agent->count) {
            gap.is_last = 1;
            return gap;
        }
        run = &agent->list[*at];
        gap.numbers += run->first - agent->list[*at - 1].last - 1;
    } while (!numbers_has_windows(run));
    if (high < run->low) {
        gap.first = high + 1;
        gap.end = run->low;
        gap.follows = gap.first == gap.end;
    }
    return gap;
}

/* @return index of the first run with windows */
static size_t numbers_first_run(const struct numbers_agent *agent)
{
    size_t at = 0;
    while (at < agent->count && !numbers_has_windows(&agent->list[at]))
        at++;
    return at;
}

/* Does the agent send messages of several jobs? It sends each window of a job without messages of
 * other jobs in between: where windows are consecutive and numbers are not, the missing numbers
 * belong to other jobs. */
static int numbers_is_shared(const struct numbers_agent *agent)
{
    for (size_t at = numbers_first_run(agent); at < agent->count;) {
        struct gap gap = numbers_next_gap(agent, &at);
        if (gap.follows && gap.numbers > 0)
            return 1;
    }
    return 0;
}

/* Missing messages of the job. If the agent is shared by several jobs, it is only known that each
 * missing window has a message. */
static uint64_t numbers_missing_in_gap(const struct gap *gap, int shared)
{
    uint64_t windows = gap->end - gap->first;
    int bounded = shared && (windows > 0 || gap->follows || gap->is_last);
    return bounded && windows < gap->numbers ? windows : gap->numbers;
}

uint64_t numbers_count_missing(const struct numbers *n)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < n->capacity; i++) {
        const struct numbers_agent *agent = &n->agent[i];
        int shared = numbers_is_shared(agent);
        for (size_t at = numbers_first_run(agent); at < agent->count;) {
            struct gap gap = numbers_next_gap(agent, &at);
            missing += numbers_missing_in_gap(&gap, shared);
        }
    }
    return missing;
}

static int numbers_visit_agent_gaps(const struct numbers_agent *agent, numbers_gap_visit *hole,
                                    void *user)
{
    int code = 0, shared = numbers_is_shared(agent);
    for (size_t at = numbers_first_run(agent); code == 0 && at < agent->count;) {
        struct gap gap = numbers_next_gap(agent, &at);
        if (gap.first < gap.end)
            code = hole(user, gap.first, gap.end, numbers_missing_in_gap(&gap, shared));
    }
    return code;
}

int numbers_for_each_gap(const struct numbers *n, numbers_gap_visit *hole, void *user)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < n->capacity; i++)
        code = numbers_visit_agent_gaps(&n->agent[i], hole, user);
    return code;
}
