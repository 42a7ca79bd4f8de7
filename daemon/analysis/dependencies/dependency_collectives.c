/* Which calls of ranks are one collective. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/call.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 4 }; /* calls before and after the likely one */

/* A call of a rank. */
struct collective_row {
    uint64_t comm;
    uint32_t repeated;     /* the call that made it, if it is persistent */
    uint32_t enter, leave; /* ends; leave: DEPENDENCY_NONE: it is in progress */
    uint32_t collective;   /* position, or DEPENDENCY_NONE */
};

/* Calls of one rank on one communicator, in their order. Those that start persistent collectives of
 * one kind are apart: MPI orders them by the calls that made these, and not against others. */
struct collective_run {
    struct collective_row *rows;
    const struct dependency_rank *rank;
    int64_t count;
};

ORDER_FUNCTION(dependency_collectives_compare, struct collective_row,
               4 * ORDER(a->comm, b->comm) + 2 * ORDER(a->repeated, b->repeated) +
                   ORDER(a->enter, b->enter))

/* Ends of collectives of one rank that one call began. */
struct collective_end {
    const struct dependency_end *end;
    uint32_t rank, place;
};

ORDER_FUNCTION(dependency_collectives_compare_ends, struct collective_end,
               16 * ORDER(a->rank, b->rank) + 8 * ORDER(a->end->posted_ns, b->end->posted_ns) +
                   4 * ORDER(a->end->comm, b->end->comm) +
                   2 * ORDER(a->end->request, b->end->request) + ORDER(a->place, b->place))

static int dependency_collectives_is_left(const struct collective_end *enter,
                                          const struct collective_end *leave)
{
    return leave->end->receive && enter->rank == leave->rank &&
           enter->end->posted_ns == leave->end->posted_ns && enter->end->comm == leave->end->comm &&
           enter->end->request == leave->end->request;
}

/* When a rank left the call that it entered; of one that it is still in when its ring was read. */
static int64_t dependency_collectives_end_ns(const struct dependency_ends *e,
                                             const struct collective_row *row)
{
    const struct dependency_end *enter = &e->ends[row->enter];
    int64_t read_ns = e->calls->threads[enter->thread].read_ns;
    int64_t end_ns = row->leave != DEPENDENCY_NONE ? e->ends[row->leave].end_ns
                     : read_ns == INT64_MAX        ? enter->end_ns
                                                   : read_ns;
    return end_ns > enter->end_ns ? end_ns : enter->end_ns;
}

/* Enters with what leaves them. @return number of rows; UINT32_MAX: there is no memory */
static uint32_t dependency_collectives_list(struct dependency_ends *e, struct collective_row *rows)
{
    struct collective_end *ends = malloc((e->count + (size_t)1) * sizeof *ends);
    uint32_t found = 0, count = 0;
    if (ends == NULL)
        return UINT32_MAX;
    for (uint32_t i = 0; i < e->count; i++)
        if (e->ends[i].collective)
            ends[found++] = (struct collective_end){&e->ends[i], e->rank_of[i], i};
    qsort(ends, found, sizeof *ends, dependency_collectives_compare_ends);
    for (uint32_t i = 0; i < found; i++) {
        if (ends[i].end->receive)
            continue;
        int left = i + 1 < found && dependency_collectives_is_left(&ends[i], &ends[i + 1]);
        uint32_t started = ends[i].end->started;
        rows[count] = (struct collective_row){
            .comm = ends[i].end->comm,
            .repeated = call_is_persistent_collective(started) ? started : 0,
            .enter = ends[i].place,
            .leave = left ? ends[i + 1].place : DEPENDENCY_NONE,
            .collective = DEPENDENCY_NONE};
        if (left)
            e->ends[ends[i + 1].place].comm_rank = ends[i].end->comm_rank;
        e->ends[ends[i].place].end_ns = dependency_collectives_end_ns(e, &rows[count++]);
    }
    free(ends);
    qsort(rows, count, sizeof *rows, dependency_collectives_compare);
    return count;
}

static const struct dependency_end *dependency_collectives_call(const struct dependency_ends *e,
                                                                const struct collective_run *run,
                                                                int64_t i)
{
    return &e->ends[run->rows[i].enter];
}

static int dependency_collectives_are_alike(const struct dependency_end *a,
                                            const struct dependency_end *b)
{
    return a->started == b->started &&
           (!call_flow_has_root(call_flow_of(a->started)) || a->peer == b->peer);
}

/* The mean difference of the ends of calls if call i of one rank is call i + shift of the other.
 * @return NAN: they cannot be the same */
static double dependency_collectives_distance(const struct dependency_ends *e,
                                              const struct collective_run *run,
                                              const struct collective_run *other, int64_t shift)
{
    int64_t slack_ns = dependency_match_slack(e, run->rank, other->rank), pairs = 0;
    double sum_ns = 0;
    for (int64_t i = shift < 0 ? -shift : 0; i < run->count && i + shift < other->count; i++) {
        const struct dependency_end *a = dependency_collectives_call(e, run, i);
        const struct dependency_end *b = dependency_collectives_call(e, other, i + shift);
        if (!dependency_collectives_are_alike(a, b) ||
            (call_flow_of(a->started) == CALL_FLOW_ALL &&
             (a->begin_ns > b->end_ns + slack_ns || b->begin_ns > a->end_ns + slack_ns)))
            return NAN;
        sum_ns += fabs((double)(a->end_ns - b->end_ns));
        pairs++;
    }
    return pairs > 0 ? sum_ns / (double)pairs : NAN;
}

/* @param out  set to the shift @return 0: there is none */
static int dependency_collectives_align(const struct dependency_ends *e,
                                        const struct collective_run *run,
                                        const struct collective_run *other, int64_t *out)
{
    int64_t end_ns = dependency_collectives_call(e, run, run->count - 1)->end_ns;
    int64_t near =
        (int64_t)BISECT(i, 0u, (uint64_t)other->count,
                        dependency_collectives_call(e, other, (int64_t)i)->end_ns < end_ns);
    int64_t limit = near;
    double least = INFINITY;
    *out = 0;
    if (run->rank->complete && other->rank->complete)
        return 1;
    /* One call may complete several. */
    while (limit + 1 < other->count && dependency_collectives_call(e, other, limit)->end_ns ==
                                           dependency_collectives_call(e, other, limit + 1)->end_ns)
        limit++;
    for (int64_t last = near - TRIED; last <= limit + TRIED; last++) {
        int64_t shift = last - (run->count - 1);
        double distance = dependency_collectives_distance(e, run, other, shift);
        if (!(distance < least))
            continue;
        least = distance;
        *out = shift;
    }
    return least < INFINITY;
}

/* The next run of rows of one communicator. */
static struct collective_run dependency_collectives_run(const struct dependency_ends *e,
                                                        struct collective_row *rows, uint32_t count)
{
    uint32_t rank = e->rank_of[rows[0].enter];
    struct collective_run run = {.rows = rows, .rank = &e->ranks[rank]};
    while (run.count < count && e->rank_of[rows[run.count].enter] == rank)
        run.count++;
    return run;
}

/* Number the collectives of one communicator, from a number on.
 * @return the number after the last one */
static uint32_t dependency_collectives_number(const struct dependency_ends *e,
                                              struct collective_row *rows, uint32_t count,
                                              uint32_t next, struct dependency_counts *counts)
{
    struct collective_run most = {.count = 0}, run;
    uint32_t lowest = DEPENDENCY_NONE, highest = 0;
    for (uint32_t i = 0; i < count; i += (uint32_t)run.count) {
        run = dependency_collectives_run(e, rows + i, count - i);
        most = run.count > most.count ? run : most;
    }
    /* A shift is greater than -count. */
    for (uint32_t i = 0; i < count; i += (uint32_t)run.count) {
        int64_t shift = 0;
        run = dependency_collectives_run(e, rows + i, count - i);
        int found = run.rows == most.rows || dependency_collectives_align(e, &run, &most, &shift);
        counts->rejected += found ? 0 : (uint64_t)run.count;
        for (int64_t k = 0; found && k < run.count; k++) {
            uint32_t at = (uint32_t)(count + shift + k);
            run.rows[k].collective = at;
            lowest = at < lowest ? at : lowest;
            highest = at > highest ? at : highest;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].collective != DEPENDENCY_NONE)
            rows[i].collective += next - lowest;
    return next + highest - lowest + 1;
}

/* Does a rank belong to what its collective is by the first one? */
static int dependency_collectives_fits(const struct dependency_ends *e,
                                       const struct dependency_collective *c,
                                       const struct dependency_end *end)
{
    return c->count == 0 ||
           dependency_collectives_are_alike(&e->ends[e->members[c->first].enter], end);
}

ORDER_FUNCTION(dependency_collectives_compare_members, struct dependency_member,
               2 * ORDER(a->comm_rank, b->comm_rank) + ORDER(a->enter, b->enter))

/* Members of a scan by their numbers in the communicator, of which no two have the same. */
static void dependency_collectives_rank(const struct dependency_ends *e,
                                        struct dependency_collective *c,
                                        struct dependency_counts *counts)
{
    struct dependency_member *m = &e->members[c->first];
    uint32_t kept = 0;
    qsort(m, c->count, sizeof *m, dependency_collectives_compare_members);
    for (uint32_t k = 0; k < c->count; k++)
        if (kept == 0 || m[kept - 1].comm_rank < m[k].comm_rank)
            m[kept++] = m[k];
    counts->rejected += c->count - kept;
    c->count = kept;
}

static void dependency_collectives_fill(struct dependency_ends *e,
                                        const struct collective_row *rows, uint32_t count,
                                        struct dependency_counts *counts)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].collective != DEPENDENCY_NONE)
            e->collectives[rows[i].collective].count++;
    for (uint32_t i = 0; i < e->collective_count; i++) {
        e->collectives[i].first = used;
        used += e->collectives[i].count;
        e->collectives[i].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].collective == DEPENDENCY_NONE)
            continue;
        struct dependency_collective *c = &e->collectives[rows[i].collective];
        const struct dependency_end *end = &e->ends[rows[i].enter];
        if (!dependency_collectives_fits(e, c, end)) {
            counts->rejected++;
            continue;
        }
        c->comm = end->comm;
        c->call = end->started;
        c->root = call_flow_has_root(call_flow_of(end->started)) ? end->peer : DEPENDENCY_NONE;
        e->members[c->first + c->count++] =
            (struct dependency_member){.enter = rows[i].enter,
                                       .leave = rows[i].leave,
                                       .comm_rank = end->comm_rank,
                                       .first_sink = DEPENDENCY_NONE};
    }
    for (uint32_t i = 0; i < e->collective_count; i++)
        if (call_flow_of(e->collectives[i].call) == CALL_FLOW_PREFIX)
            dependency_collectives_rank(e, &e->collectives[i], counts);
}

uint32_t dependency_member_of(const struct dependency_ends *e,
                              const struct dependency_collective *c, uint64_t rank)
{
    uint32_t at = c->first, end = c->first + c->count;
    at += BISECT(k, 0u, c->count, e->ends[e->members[at + k].enter].rank < rank);
    return at < end && e->ends[e->members[at].enter].rank == rank ? at : DEPENDENCY_NONE;
}

ORDER_FUNCTION(dependency_collectives_compare_sources, struct wire_source_row,
               4 * ORDER(a->comm, b->comm) + 2 * ORDER(a->rank, b->rank) +
                   ORDER(a->source, b->source))

/* Had a rank left its call when a neighbour entered the one that is said to be the same? Then it is
 * another one. */
static int dependency_collectives_left_before(const struct dependency_ends *e,
                                              const struct dependency_member *m, uint32_t enter)
{
    int64_t slack_ns =
        dependency_match_slack(e, &e->ranks[e->rank_of[m->enter]], &e->ranks[e->rank_of[enter]]);
    return m->leave != DEPENDENCY_NONE &&
           e->ends[enter].begin_ns > e->ends[m->leave].end_ns + slack_ns;
}

/* For which neighbours a member of a collective waits. @param rows  in their order */
static int dependency_collectives_wait(struct dependency_ends *e,
                                       const struct dependency_collective *c,
                                       struct dependency_member *m,
                                       const struct wire_source_row *rows, size_t count,
                                       struct dependency_counts *counts)
{
    const struct wire_source_row first = {.comm = c->comm, .rank = e->ends[m->enter].rank};
    size_t i =
        BISECT(k, (size_t)0, count, dependency_collectives_compare_sources(&rows[k], &first) < 0);
    m->first_wait = (uint32_t)e->wait_count;
    for (; i < count && rows[i].comm == first.comm && rows[i].rank == first.rank; i++) {
        uint32_t at = dependency_member_of(e, c, rows[i].source);
        if (at == DEPENDENCY_NONE || (i > 0 && memcmp(&rows[i], &rows[i - 1], sizeof *rows) == 0))
            continue; /* its calls are not known, or it is a neighbour on both sides */
        if (e->wait_count >= DEPENDENCY_NONE ||
            ARRAY_FIT(e->waits, e->wait_capacity, e->wait_count + 1) != 0)
            return -ENOMEM;
        struct dependency_member *source = &e->members[at];
        if (dependency_collectives_left_before(e, m, source->enter)) {
            counts->rejected++;
            continue;
        }
        counts->aligned_waits += !e->ranks[e->rank_of[m->enter]].complete ||
                                 !e->ranks[e->rank_of[source->enter]].complete;
        e->waits[e->wait_count] =
            (struct dependency_wait){source->enter, m->leave, source->first_sink};
        source->first_sink = (uint32_t)e->wait_count++;
        m->waits++;
    }
    return 0;
}

static int dependency_collectives_list_waits(struct dependency_ends *e,
                                             struct dependency_counts *counts)
{
    size_t count = e->calls->source_count;
    struct wire_source_row *rows = malloc((count + 1) * sizeof *rows);
    int error = rows == NULL ? -ENOMEM : 0;
    for (size_t i = 0; error == 0 && i < count; i++)
        rows[i] = e->calls->sources[i];
    if (error == 0)
        qsort(rows, count, sizeof *rows, dependency_collectives_compare_sources);
    for (uint32_t i = 0; error == 0 && i < e->collective_count; i++) {
        const struct dependency_collective *c = &e->collectives[i];
        int has_neighbours = call_flow_of(c->call) == CALL_FLOW_NEIGHBOURS;
        for (uint32_t k = 0; error == 0 && has_neighbours && k < c->count; k++)
            error =
                dependency_collectives_wait(e, c, &e->members[c->first + k], rows, count, counts);
    }
    free(rows);
    return error;
}

/* One rank alone depends on nobody. */
static void dependency_collectives_keep(struct dependency_ends *e)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->collective_count; i++) {
        const struct dependency_collective c = e->collectives[i];
        if (c.count < 2)
            continue;
        for (uint32_t k = c.first; k < c.first + c.count; k++) {
            e->collective_of[e->members[k].enter] = kept;
            if (e->members[k].leave != DEPENDENCY_NONE)
                e->collective_of[e->members[k].leave] = kept;
        }
        e->collectives[kept++] = c;
    }
    e->collective_count = kept;
}

int dependency_collectives(struct dependency_ends *e, struct dependency_counts *counts)
{
    struct collective_row *rows = malloc((e->count + (size_t)1) * sizeof *rows);
    e->collective_of = malloc((e->count + (size_t)1) * sizeof *e->collective_of);
    if (rows == NULL || e->collective_of == NULL) {
        free(rows);
        return -ENOMEM;
    }
    memset(e->collective_of, 0xff, (e->count + (size_t)1) * sizeof *e->collective_of);
    uint32_t count = dependency_collectives_list(e, rows);
    if (count == UINT32_MAX) {
        free(rows);
        return -ENOMEM;
    }
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && rows[end].comm == rows[i].comm &&
                      rows[end].repeated == rows[i].repeated;
             end++)
            continue;
        e->collective_count =
            dependency_collectives_number(e, rows + i, end - i, e->collective_count, counts);
    }
    e->collectives = calloc(e->collective_count + (size_t)1, sizeof *e->collectives);
    e->members = malloc((count + (size_t)1) * sizeof *e->members);
    int error = e->collectives != NULL && e->members != NULL ? 0 : -ENOMEM;
    if (error == 0) {
        dependency_collectives_fill(e, rows, count, counts);
        dependency_collectives_keep(e);
        error = dependency_collectives_list_waits(e, counts);
    }
    free(rows);
    return error;
}
