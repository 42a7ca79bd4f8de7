/* Phases, the curve of communication patterns, and the picture of the CommGram. */
#include "viewer/model/model_commgram.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"

#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/plain_text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two first columns of both tables of rows. */
struct head {
    uint64_t number, provisional;
};
static_assert(offsetof(struct wire_phase_row, id) == 0 &&
                  offsetof(struct wire_phase_row, open) == sizeof(uint64_t) &&
                  offsetof(struct wire_curve_point_row, phase) == 0 &&
                  offsetof(struct wire_curve_point_row, provisional) == sizeof(uint64_t),
              "rows begin with their number");

void commgram_init(struct commgram *g)
{
    *g = (struct commgram){.phases = {.size = sizeof(struct wire_phase_row)},
                           .points = {.size = sizeof(struct wire_curve_point_row)}};
}

static void picture_finish(struct commgram_picture *p)
{
    free(p->columns);
    free(p->bars);
    free(p->members);
    free(p->ribbons);
    free(p->first_bar);
    free(p->first_member);
    *p = (struct commgram_picture){0};
}

void commgram_clear(struct commgram *g)
{
    uint64_t version = g->version, pictures = g->pictures;
    free(g->phases.rows);
    free(g->points.rows);
    picture_finish(&g->now);
    picture_finish(&g->next);
    commgram_init(g);
    g->version = version + 1;
    g->pictures = pictures;
}

/* ---- phases and points --------------------------------------------------- */

static struct head *head_at(const struct commgram_rows *r, uint32_t i)
{
    return (struct head *)((char *)r->rows + (size_t)i * r->size);
}

/* First row whose number is at least that. */
static uint32_t model_commgram_lower_bound(const struct commgram_rows *r, uint64_t number)
{
    return BISECT(i, 0, r->count, head_at(r, i)->number < number);
}

static void drop_provisional(struct commgram_rows *r)
{
    uint32_t kept = r->provisional;
    for (uint32_t i = r->provisional; i < r->count; i++)
        if (!head_at(r, i)->provisional && i != kept++)
            memcpy(head_at(r, kept - 1), head_at(r, i), r->size);
    r->count = r->provisional = kept;
}

/* Before the rows of a message: what it replaces goes. */
static void begin_rows(struct commgram_rows *r, int snapshot, uint64_t more)
{
    if (!r->more && snapshot)
        r->count = r->provisional = 0;
    else if (!r->more)
        drop_provisional(r);
    r->more = more != 0;
}

static int model_commgram_make_room(struct commgram_rows *r)
{
    if (r->count < r->capacity)
        return 0;
    if (r->count == COMMGRAM_PHASES) { /* a quarter at once, so that it is rarely done */
        uint32_t gone = COMMGRAM_PHASES / 4;
        memmove(r->rows, head_at(r, gone), (size_t)(r->count - gone) * r->size);
        r->count -= gone;
        r->provisional = r->provisional > gone ? r->provisional - gone : 0;
        r->dropped += gone;
        return 0;
    }
    return array_fit_zero(&r->rows, r->size, &r->capacity, (uint64_t)r->count + 1);
}

static int model_commgram_put_row(struct commgram_rows *r, const void *row)
{
    const struct head *head = row;
    uint32_t at = model_commgram_lower_bound(r, head->number);
    int known = at < r->count && head_at(r, at)->number == head->number;
    if (!known && r->dropped && at == 0)
        return 0; /* older than what is kept */
    if (!known) {
        uint64_t dropped = r->dropped;
        if (model_commgram_make_room(r) < 0)
            return -ENOMEM;
        if (r->dropped != dropped)
            at = model_commgram_lower_bound(r, head->number);
        memmove((char *)r->rows + (size_t)(at + 1) * r->size,
                (char *)r->rows + (size_t)at * r->size, (size_t)(r->count - at) * r->size);
        r->count++;
        r->provisional += at <= r->provisional;
    }
    memcpy(head_at(r, at), row, r->size);
    if (head->provisional)
        r->provisional = at < r->provisional ? at : r->provisional;
    return 0;
}

static double model_commgram_finite(double value)
{
    return isfinite(value) ? value : 0;
}

int commgram_apply_phases(struct commgram *g, const struct wire_phases *m, int snapshot)
{
    int error = 0;
    begin_rows(&g->phases, snapshot, m->more);
    for (uint64_t i = 0; i < m->phases_count && !error; i++) {
        struct wire_phase_row row = m->phases[i];
        if (row.begin_ns > row.end_ns || row.end_ns > INT64_MAX)
            continue;
        error = model_commgram_put_row(&g->phases, &row);
    }
    g->version++;
    return error;
}

int commgram_apply_curve(struct commgram *g, const struct wire_curve *m, int snapshot)
{
    int error = 0;
    begin_rows(&g->points, snapshot, m->more);
    for (uint64_t i = 0; i < m->points_count && !error; i++) {
        struct wire_curve_point_row row = m->points[i];
        if (row.begin_ns > row.end_ns || row.end_ns > INT64_MAX)
            continue;
        row.height = fmin(fmax(model_commgram_finite(row.height), -1e9), 1e9);
        row.difference = model_commgram_finite(row.difference);
        row.resemblance = model_commgram_finite(row.resemblance);
        error = model_commgram_put_row(&g->points, &row);
    }
    g->version++;
    return error;
}

void commgram_restart(struct commgram *g)
{
    g->phases.more = g->points.more = 0;
}

const struct wire_phase_row *commgram_phase(const struct commgram *g, uint32_t i)
{
    return (const struct wire_phase_row *)g->phases.rows + i;
}

const struct wire_curve_point_row *commgram_point(const struct commgram *g, uint32_t i)
{
    return (const struct wire_curve_point_row *)g->points.rows + i;
}

const struct wire_phase_row *commgram_phase_find(const struct commgram *g, uint64_t id)
{
    uint32_t i = model_commgram_lower_bound(&g->phases, id);
    return i < g->phases.count && commgram_phase(g, i)->id == id ? commgram_phase(g, i) : NULL;
}

uint32_t commgram_point_at(const struct commgram *g, uint64_t ns)
{
    return BISECT(i, 0, g->points.count, commgram_point(g, i)->end_ns < ns);
}

/* ---- questions ----------------------------------------------------------- */

int commgram_same(const struct commgram_request *a, const struct commgram_request *b)
{
    return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->phases == b->phases &&
           a->communities == b->communities && a->modelled == b->modelled &&
           !strcmp(a->ranks, b->ranks);
}

char *commgram_argument(const struct commgram_request *q, char *out, size_t capacity)
{
    snprintf(out, capacity,
             "from=%" PRIu64 " to=%" PRIu64 " phases=%" PRIu64 " communities=%" PRIu64, q->from_ns,
             q->to_ns, q->phases, q->communities);
    if (q->ranks[0])
        text_append(out, capacity, " ranks=%s", q->ranks);
    if (!q->modelled)
        text_append(out, capacity, " modelled=0");
    return out;
}

void commgram_asked(struct commgram *g, const struct commgram_request *request)
{
    picture_finish(&g->next);
    g->wanted = *request;
    g->waiting = 1;
}

void commgram_replied(struct commgram *g, int code, const char *text)
{
    if (!g->waiting)
        return;
    picture_finish(&g->next);
    int there = g->now.version && commgram_same(&g->now.asked, &g->wanted);
    g->waiting = 0;
    g->error = code ? code : there ? 0 : -HOLTER_EEMPTY;
    snprintf(g->error_text, sizeof g->error_text, "%s",
             !g->error       ? ""
             : text && *text ? text
                             : holter_strerror(g->error));
    g->version++;
}

/* ---- pictures ------------------------------------------------------------ */

/* One table of a picture, and the rows of it in a message. */
struct rows {
    void *to; /* address of the pointer to the table */
    uint32_t *count, *capacity;
    size_t size; /* of a row, bytes */
    const void *more;
    uint64_t more_count;
};

/* Append rows; those beyond the bound are counted. */
static int model_commgram_append(const struct rows *r, uint64_t *ignored)
{
    const uint64_t fit = COMMGRAM_ROWS - *r->count,
                   more = r->more_count > fit ? fit : r->more_count;
    *ignored += r->more_count - more;
    if (array_fit_zero(r->to, r->size, r->capacity, *r->count + more) != 0)
        return -ENOMEM;
    char *table;
    memcpy(&table, r->to, sizeof table);
    if (more)
        memcpy(table + (size_t)*r->count * r->size, r->more, (size_t)more * r->size);
    *r->count += (uint32_t)more;
    return 0;
}

ORDER_FUNCTION(bar_order, struct wire_bar_row,
               2 * ORDER(a->column, b->column) + ORDER(a->bar, b->bar))

/* Their bar is its place among all bars by now. */
ORDER_FUNCTION(member_order, struct wire_bar_ranks_row,
               2 * ORDER(a->bar, b->bar) + ORDER(a->rank, b->rank))

uint32_t commgram_bar(const struct commgram_picture *p, uint64_t column, uint64_t bar)
{
    if (!p->first_bar || column > p->column_count)
        return COMMGRAM_NONE;
    uint32_t low = p->first_bar[column], end = p->first_bar[column + 1];
    if (bar < end - low && p->bars[low + bar].bar == bar)
        return low + (uint32_t)bar; /* they are counted without gaps */
    low = BISECT(i, low, end, p->bars[i].bar < bar);
    return low < end && p->bars[low].bar == bar ? low : COMMGRAM_NONE;
}

/* Bars in order, without repeats and without those of columns that do not exist. */
static int index_bars(struct commgram_picture *p)
{
    uint32_t kept = 0;
    if (p->bar_count)
        qsort(p->bars, p->bar_count, sizeof *p->bars, bar_order);
    for (uint32_t i = 0; i < p->bar_count; i++) {
        int again = kept && bar_order(&p->bars[kept - 1], &p->bars[i]) == 0;
        if (again || p->bars[i].column > p->column_count)
            p->ignored++;
        else
            p->bars[kept++] = p->bars[i];
    }
    p->bar_count = kept;
    p->first_bar = calloc((size_t)p->column_count + 2, sizeof *p->first_bar);
    if (!p->first_bar)
        return -ENOMEM;
    for (uint32_t i = 0; i < kept; i++)
        p->first_bar[p->bars[i].column + 1]++;
    for (uint32_t k = 0; k <= p->column_count; k++)
        p->first_bar[k + 1] += p->first_bar[k];
    return 0;
}

static int index_members(struct commgram_picture *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->member_count; i++) {
        struct wire_bar_ranks_row row = p->members[i];
        uint32_t bar = commgram_bar(p, row.column, row.bar);
        if (bar == COMMGRAM_NONE || !row.count || row.rank + row.count < row.rank) {
            p->ignored++;
            continue;
        }
        row.bar = bar;
        p->members[kept++] = row;
    }
    p->member_count = kept;
    if (kept)
        qsort(p->members, kept, sizeof *p->members, member_order);
    p->first_member = calloc((size_t)p->bar_count + 2, sizeof *p->first_member);
    if (!p->first_member)
        return -ENOMEM;
    for (uint32_t i = 0; i < kept; i++)
        p->first_member[p->members[i].bar + 1]++;
    for (uint32_t k = 0; k < p->bar_count; k++)
        p->first_member[k + 1] += p->first_member[k];
    return 0;
}

static void index_ribbons(struct commgram_picture *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->ribbon_count; i++) {
        struct wire_ribbon_row row = p->ribbons[i];
        uint32_t from =
            row.column < p->column_count ? commgram_bar(p, row.column, row.from) : COMMGRAM_NONE;
        uint32_t to =
            from != COMMGRAM_NONE ? commgram_bar(p, row.column + 1, row.to) : COMMGRAM_NONE;
        if (to == COMMGRAM_NONE || !row.messages) {
            p->ignored++;
            continue;
        }
        row.from = from;
        row.to = to;
        p->ribbons[kept++] = row;
    }
    p->ribbon_count = kept;
}

static int model_commgram_complete(struct commgram *g)
{
    struct commgram_picture *p = &g->next;
    if (index_bars(p) < 0 || index_members(p) < 0) {
        picture_finish(p);
        return -ENOMEM;
    }
    index_ribbons(p);
    p->asked = g->wanted;
    p->version = ++g->pictures;
    picture_finish(&g->now);
    g->now = *p;
    *p = (struct commgram_picture){0};
    g->error = 0;
    g->error_text[0] = 0;
    return 0;
}

int commgram_apply_picture(struct commgram *g, const struct wire_commgram *m)
{
    struct commgram_picture *p = &g->next;
    if (!g->waiting || m->from_ns > m->to_ns)
        return 0;
    p->resolved = m->resolved;
    const struct rows tables[] = {
        {&p->columns, &p->column_count, &p->column_capacity, sizeof *p->columns, m->columns,
         m->columns_count},
        {&p->bars, &p->bar_count, &p->bar_capacity, sizeof *p->bars, m->bars, m->bars_count},
        {&p->members, &p->member_count, &p->member_capacity, sizeof *p->members, m->members,
         m->members_count},
        {&p->ribbons, &p->ribbon_count, &p->ribbon_capacity, sizeof *p->ribbons, m->ribbons,
         m->ribbons_count},
    };
    int error = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !error; i++)
        error = model_commgram_append(&tables[i], &p->ignored);
    if (!error && !m->more)
        error = model_commgram_complete(g);
    g->version++;
    return error;
}

int commgram_bar_has(const struct commgram_picture *p, uint32_t bar, uint64_t rank)
{
    if (bar >= p->bar_count)
        return 0;
    uint32_t first = p->first_member[bar], behind = p->first_member[bar + 1];
    /* Its last member that begins at the rank, or before, is the one that could have it. */
    behind = BISECT(i, first, behind, p->members[i].rank <= rank);
    return behind > first && rank - p->members[behind - 1].rank < p->members[behind - 1].count;
}

int commgram_bar_ranks(const struct commgram_picture *p, uint32_t bar, uint64_t group,
                       uint64_t world, char *out, size_t capacity)
{
    struct rank_runs runs;
    rank_runs_begin(&runs, out, capacity, "\xe2\x80\xa6");
    for (uint32_t i = bar < p->bar_count ? p->first_member[bar] : 0;
         bar < p->bar_count && i < p->first_member[bar + 1]; i++)
        rank_runs_add_row(&runs, p->members[i].rank,
                          p->members[i].count > 1 ? p->members[i].count : group, world);
    return !rank_runs_end(&runs);
}
