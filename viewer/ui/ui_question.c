/* What is asked of the daemon: routes and ranks of the selection, the span of time, and the state
 * of the what-if. */
#include "viewer/ui/ui_question.h"

#include "daemon/analysis/tables/rank_list.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "viewer/layout/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ui_question_finish(struct ui_question *q)
{
    free((void *)q->request.seats);
    free((void *)q->request.hops);
    free((void *)q->request.routes);
    q->request = (struct wire_request){0};
}

/* ---- what is selected ---- */

/* Marks of the routes that a question is about; 0: nothing is selected. */
static uint8_t question_marks(const struct ui *ui)
{
    enum select_kind kind = ui->selection.kind;
    uint8_t marks = flow_filter_active(&ui->network.filter) ? FLOW_SHOWN : 0;
    return kind != SELECT_NONE && kind != SELECT_CALL ? marks | FLOW_SELECTED : marks;
}

static uint32_t question_count_routes(const struct flows *f, uint8_t marks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->route_count; i++)
        count += (f->route_marks[i] & marks) == marks;
    return count;
}

/* Whether the question is about a selected route that carries nothing. */
static int question_is_idle_route(const struct ui *ui, const struct flows *f)
{
    const struct selection *s = &ui->selection;
    return s->kind == SELECT_ROUTE && s->a < f->vertex_count && s->b < f->vertex_count &&
           s->a != s->b && flows_find(f, (uint32_t)s->a, (uint32_t)s->b) == FLOWS_NONE;
}

/* 1: the visible time is a part of what is known. */
static int question_span(const struct ui *ui, const struct model *m, uint64_t *first,
                         uint64_t *last)
{
    const struct series *s = &m->series;
    if (ui->time.range == RANGE_START || !s->count || !ui_windows(ui, m, first, last))
        return 0;
    return *first > s->first || s->dropped || *last + 1 < s->first + s->count;
}

static void question_add_time(const struct ui *ui, const struct model *m, char *out,
                              size_t capacity)
{
    uint64_t first, last;
    if (question_span(ui, m, &first, &last))
        text_append(out, capacity, "%s",
                    m->group > 1 ? ", since the start" : ", in the visible time");
}

static void question_name_routes(const struct ui *ui, const struct flows *f, uint8_t marks,
                                 char *out, size_t capacity)
{
    uint32_t count = question_count_routes(f, marks);
    struct quantity all = quantity_grouped(f->route_count), some = quantity_grouped(count);
    if (!marks && f->route_count > QUESTION_TOP)
        snprintf(out, capacity, "the %u routes over the most loaded links, of %s", QUESTION_TOP,
                 all.text);
    else if (!marks)
        snprintf(out, capacity, "all %s routes", all.text);
    else if (question_is_idle_route(ui, f))
        snprintf(out, capacity, "the selected route");
    else if (count > QUESTION_ROUTES)
        snprintf(out, capacity, "the first %s of %s selected routes",
                 quantity_grouped(QUESTION_ROUTES).text, some.text);
    else if (marks == FLOW_SHOWN)
        snprintf(out, capacity, "the %s of %s routes that are in sight", some.text, all.text);
    else
        snprintf(out, capacity, "the %s of %s routes %s%s", some.text, all.text,
                 ui->selection.kind == SELECT_LINK ? "over the selected link" : "that are selected",
                 marks & FLOW_SHOWN ? " and in sight" : "");
}

/* ---- ranks ---- */

/* Marks the ranks at the ends of the routes in sight. */
static uint8_t *question_ranks_in_sight(const struct flows *f, uint8_t marks, uint32_t ranks)
{
    uint8_t *marked = calloc((size_t)ranks + 1, 1);
    for (uint32_t i = 0; marked && i < f->route_count; i++) {
        const uint32_t ends[] = {f->routes[i].source, f->routes[i].destination};
        if ((f->route_marks[i] & marks) != marks)
            continue;
        for (int e = 0; e < 2; e++)
            for (uint32_t k = f->first_rank[ends[e]]; k < f->first_rank[ends[e] + 1]; k++)
                if (f->ranks[k] < ranks)
                    marked[f->ranks[k]] = 1;
    }
    return marked;
}

/* Appends " ranks=LIST": those of the selection; where only a filter is set, those at the ends of
 * the routes in sight. @return 0: they do not fit, or memory ran out */
static int question_add_ranks(const struct ui *ui, const struct model *m, char *out,
                              size_t capacity)
{
    const struct flows *f = ui->network.flows;
    int filtered = flow_filter_active(&ui->network.filter) && f && f->route_count;
    uint8_t *marked = NULL;
    struct rank_runs runs;
    if (ui->selection.kind == SELECT_NONE && !filtered)
        return 1;
    if (filtered && !(marked = question_ranks_in_sight(f, question_marks(ui), m->rank_count)))
        return 0;
    text_append(out, capacity, " ranks=");
    const size_t used = strlen(out);
    rank_runs_begin(&runs, out + used, capacity - used, "");
    for (uint32_t r = 0; r < m->rank_count; r++)
        if (marked ? marked[r] : ui_marks_rank(ui, m, r))
            rank_runs_add(&runs, r, r);
    free(marked);
    return rank_runs_end(&runs) && out[used];
}

/* ---- rows ---- */

static int question_add_seats(struct ui_question *q, const struct what_if *w)
{
    struct wire_seat_row *rows = malloc(((size_t)w->seat_count + 1) * sizeof *rows);
    uint32_t n = 0;
    if (!rows)
        return -ENOMEM;
    for (uint32_t r = 0; r < w->seat_count; r++)
        if (w->seats[r] != TOPOLOGY_NONE)
            rows[n++] = (struct wire_seat_row){r, w->seats[r]};
    q->request.seats = rows;
    q->request.seats_count = n;
    return 0;
}

static int question_add_hops(struct ui_question *q, const struct what_if *w)
{
    struct wire_hop_row *rows = malloc(((size_t)w->path_count + 1) * sizeof *rows);
    size_t n = 0;
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->route_count; i++) {
        const struct network_reroute *r = &w->routes[i];
        for (uint32_t k = 1; k < r->count; k++)
            rows[n++] = (struct wire_hop_row){r->source, r->destination, w->path[r->first + k]};
    }
    q->request.hops = rows;
    q->request.hops_count = n;
    return 0;
}

static int question_add_routes(struct ui_question *q, const struct ui *ui, const struct flows *f,
                               uint8_t marks)
{
    uint32_t count = question_count_routes(f, marks), n = 0;
    count = count < QUESTION_ROUTES ? count : QUESTION_ROUTES;
    struct wire_route_row *rows = malloc(((size_t)count + 1) * sizeof *rows);
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < f->route_count && n < count; i++)
        if ((f->route_marks[i] & marks) == marks)
            rows[n++] = (struct wire_route_row){f->routes[i].source, f->routes[i].destination};
    if (!n && question_is_idle_route(ui, f))
        rows[n++] = (struct wire_route_row){ui->selection.a, ui->selection.b};
    q->request.routes = rows;
    q->request.routes_count = n;
    return 0;
}

/* ---- the question ---- */

/* A sentence about why there is none. */
static int question_refuse(char *why, size_t capacity, const char *text)
{
    snprintf(why, capacity, "%s", text);
    return -HOLTER_EUSAGE;
}

static int question_make_mapping(struct ui_question *q, const struct ui *ui, const struct model *m,
                                 char *why, size_t capacity)
{
    snprintf(q->argument, sizeof q->argument, "objective=%s time=%u",
             ui_objective_name(ui->network.objective), ui_remap_seconds(ui));
    if (ui->network.only_selected &&
        !question_add_ranks(ui, m, q->argument, sizeof q->argument - 80))
        return question_refuse(why, capacity,
                               "no rank is selected, or the selected ranks are too many to name");
    return 0;
}

static int question_make_routes(struct ui_question *q, const struct ui *ui, char *why,
                                size_t capacity)
{
    static const char *const criteria[ROUTE_CRITERIA] = {"load", "length"};
    const struct flows *f = ui->network.flows;
    uint8_t marks = question_marks(ui);
    int error = 0;
    snprintf(q->argument, sizeof q->argument, "first=%s delta=%u%s",
             criteria[ui->network.criterion], ui->network.delta, marks ? "" : " top=100");
    if (!f || (marks && f->vertex_count == 0))
        return question_refuse(why, capacity, "the routes are not known yet");
    if (marks)
        error = question_add_routes(q, ui, f, marks);
    if (!error && marks && !q->request.routes_count)
        return question_refuse(why, capacity, "none of the selected routes is in sight");
    if (!error && ui->network.what_if.route_count)
        error = question_add_hops(q, &ui->network.what_if);
    return error;
}

int ui_question_make(struct ui_question *q, const struct ui *ui, const struct model *m,
                     enum suggestion_kind kind, char *why, size_t capacity)
{
    uint64_t first, last;
    *q = (struct ui_question){.request = {.op = ""}};
    if (!m->network.topology)
        return question_refuse(why, capacity, "no network is known yet");
    if (ui->network.what_if.count && ui->network.compare == COMPARE_BEFORE)
        return question_refuse(why, capacity,
                               "the reality is shown, but the what-if has steps: show \"after\", "
                               "or undo them");
    int error = kind == SUGGEST_MAPPING ? question_make_mapping(q, ui, m, why, capacity)
                                        : question_make_routes(q, ui, why, capacity);
    if (!error && ui->network.what_if.seat_count)
        error = question_add_seats(q, &ui->network.what_if);
    if (error == -ENOMEM)
        snprintf(why, capacity, "%s", holter_strerror(error));
    if (error)
        return error;
    if (m->group <= 1 && question_span(ui, m, &first, &last)) /* of nodes no span is kept */
        text_append(q->argument, sizeof q->argument, " from=%" PRIu64 " to=%" PRIu64, first, last);
    q->request.argument = q->argument;
    ui_question_subject(ui, m, kind, q->subject, sizeof q->subject);
    return 0;
}

void ui_question_subject(const struct ui *ui, const struct model *m, enum suggestion_kind kind,
                         char *out, size_t capacity)
{
    const struct flows *f = ui->network.flows;
    if (kind == SUGGEST_MAPPING)
        snprintf(out, capacity, "%s ranks", ui->network.only_selected ? "the selected" : "all");
    else if (f)
        question_name_routes(ui, f, question_marks(ui), out, capacity);
    else
        snprintf(out, capacity, "the %u routes over the most loaded links", QUESTION_TOP);
    question_add_time(ui, m, out, capacity);
}
