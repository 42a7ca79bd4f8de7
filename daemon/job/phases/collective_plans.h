/* What calls of collectives were expanded to, kept: a job calls the same collectives again and
 * again, and the same call of the same rank stands for the same messages.
 *
 * A plan belongs to a collective, the rank whose row told of the calls, how many there were and the
 * bytes that they gave. It holds as long as its collective's communicator is what it was
 * (plan_group).
 *
 * Rows of plans lie in chunks, where they stay as they are until all are forgotten: those of plans
 * that were made one after the other may be taken as one. Of these nothing is looked at but what
 * they are for.
 *
 * Bounds: COLLECTIVE_PLANS_ROWS rows of 32 bytes and a quarter as many plans of 190. When either is
 * used up nothing more is kept in this window, and all are forgotten before the next: who has more
 * different calls in each window pays for making them, as if there were no plans. */
#ifndef HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_PLANS_H
#define HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_PLANS_H

#include "daemon/analysis/events/bursts.h"
#include "daemon/analysis/tables/key_table.h"

#include <stdbool.h>

#define COLLECTIVE_PLANS_ROWS (1u << 19)

/** What a plan was made for. */
struct plan_call {
    uint32_t collective, rank;
    uint64_t calls, bytes;
};

/** The communicator then. */
struct plan_group {
    uint32_t size;
    uint32_t stamp; /**< changes whenever a position gets another rank */
};

struct collective_plan {
    const struct burst_pair *rows; /**< where they lie */
    size_t count;
    uint64_t messages, bytes; /**< others included; below UINT64_MAX */
    struct burst_others others;
    uint32_t steps; /**< positions gone through */
    bool ascends;   /**< do the rows, strictly? */
    bool follows;   /**< and does the first ascend from the row that lies before it? */
};

/** What is looked at of each plan of many. */
struct plan_for {
    struct plan_call call;
    struct plan_group group;
    uint32_t joins; /**< its rows follow those of the plan before it and lie behind them, and it has
                       no others */
};

/** What several plans come to. */
struct plan_total {
    uint64_t messages, bytes, steps;
    uint32_t rows, unsorted; /**< how many do not ascend */
};

struct plan_chunk {
    struct burst_pair *rows; /**< owned */
    size_t room;
};

/** Zero-initialised is empty. */
struct collective_plans {
    struct key_table keys;
    struct collective_plan *plans; /**< owned; by number of the key */
    struct plan_for *fors;         /**< owned; likewise */
    struct plan_total *totals;     /**< owned; by number, and one more: of all plans below it */
    uint32_t totalled;             /**< up to which number they hold */
    struct plan_chunk *chunks;     /**< owned; rows are put into the last */
    size_t plan_room, for_room, total_room, chunk_room, chunk_count;
    size_t used, row_count; /**< rows of the last chunk; of all, with what is left of the others */
    uint64_t stays;         /**< number of the rows: another one when they are forgotten */
    uint32_t before;        /**< plan that was found last: the next one mostly follows it */
    int full;
};

void collective_plans_finish(struct collective_plans *plans);

/** A window begins. */
void collective_plans_window(struct collective_plans *plans);

/** @return NULL: there is none; borrowed until the next call */
const struct collective_plan *collective_plans_find(struct collective_plans *plans,
                                                    const struct plan_call *call,
                                                    const struct plan_group *group);

/** Of plans that were made one after the other, from the one on that was made after the one that
 * was found or kept last: how many are for these calls and may be taken as one.
 *  @param calls  of which `most` are asked for, in this order
 *  @param end    behind the rows that were taken last */
uint32_t collective_plans_following(const struct collective_plans *plans,
                                    const struct burst_pair *calls, const uint32_t *order,
                                    uint32_t most, const struct plan_group *group,
                                    const struct burst_pair *end);

/** What the first of these come to. */
struct plan_total collective_plans_total(struct collective_plans *plans, uint32_t count);

/** So many of these were taken: the last of them is the one found last. */
static inline void collective_plans_pass(struct collective_plans *plans, uint32_t count)
{
    if (count > 0)
        plans->before = plans->before == KEY_NONE ? count - 1 : plans->before + count;
}

/** Keep a plan, unless there is no room or memory for it.
 *  @param plan  all but `rows` and `follows` is set
 *  @param rows  of it; copied */
void collective_plans_keep(struct collective_plans *plans, const struct plan_call *call,
                           const struct plan_group *group, const struct collective_plan *plan,
                           const struct burst_pair *rows);

/** Bytes on the heap. */
size_t collective_plans_bytes(const struct collective_plans *plans);

#endif
