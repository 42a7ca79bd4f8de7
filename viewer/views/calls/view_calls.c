/* View "calls": which MPI functions take how much time, on which communicator, in which code
 * region. */
#include "viewer/views/views.h"

#include "daemon/analysis/tables/key_table.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include "holter/call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW = 26, HEAD = 70 }; /* HEAD: what is above and below the rows */
enum { NAME, COMM, REGION, COUNT, BYTES, BYTES_IN, TIME, MEAN, LONGEST, SHARE, BAR, COLUMNS };

static const struct table calls_table = {
    .columns =
        {
            [NAME] = {"function", 150, 0, 0},
            [COMM] = {"communicator", 0, 0, 0, 0},
            [REGION] = {"region", 100, 0, 0, 3},
            [COUNT] = {"calls", 104, TEXT_RIGHT, 1},
            [BYTES] = {"bytes sent", 96, TEXT_RIGHT, 1, 2},
            [BYTES_IN] = {"received", 90, TEXT_RIGHT, 1, 4},
            [TIME] = {"time", 92, TEXT_RIGHT, 1},
            [MEAN] = {"mean", 82, TEXT_RIGHT, 1, 1},
            [LONGEST] = {"longest", 84, TEXT_RIGHT, 1, 5},
            [SHARE] = {"share", 68, TEXT_RIGHT, 0, 1},
            [BAR] = {"", 70, 0, 0, 6},
        },
    .count = COLUMNS,
    .list = LIST_CALLS,
};

/* Calls that are summed in one row. */
struct group {
    uint32_t number; /* index of one kind of call in the group */
    uint32_t kinds;
    uint8_t comms, regions; /* 1: of several */
    uint64_t sums[CALLS_COLUMNS];
};

static uint64_t calls_view_group_key(const struct stage *s, uint32_t number)
{
    struct model_call c = model_call_at(s->model, number);
    switch (s->ui->group) {
    case GROUP_CALL:
        return c.call;
    case GROUP_COMM:
        return c.comm;
    case GROUP_REGION:
        return c.region;
    default:
        return number;
    }
}

/* @param groups  by number of their key @return how many groups there are */
static uint32_t calls_view_gather(const struct stage *s, struct group **groups)
{
    const struct range *r = s->range;
    struct key_table keys = {0};
    size_t capacity = 0;
    for (uint32_t i = 0; i < r->calls.count; i++) {
        const uint64_t *f = r->calls.figures + (size_t)i * CALLS_COLUMNS;
        if (!f[CALLS_COUNT] && !f[CALLS_TIME_NS])
            continue;
        const struct key key = {0, calls_view_group_key(s, i)};
        const uint32_t k = KEY_TABLE_EXTEND(&keys, key, UINT32_MAX, *groups, capacity);
        if (k == KEY_NONE)
            break; /* no memory */
        struct group *g = *groups + k;
        g->number = g->kinds ? g->number : i;
        const struct model_call own = model_call_at(s->model, i),
                                first = model_call_at(s->model, g->number);
        g->kinds++;
        g->comms |= own.comm != first.comm;
        g->regions |= own.region != first.region;
        for (int c = CALLS_COUNT; c <= CALLS_TIME_NS; c++)
            g->sums[c] += f[c];
        for (int c = CALLS_LONGEST_NS; c < CALLS_COLUMNS; c++)
            g->sums[c] = f[c] > g->sums[c] ? f[c] : g->sums[c];
    }
    const uint32_t count = keys.count;
    key_table_finish(&keys);
    return count;
}

static double calls_view_figure(const struct group *g, int column)
{
    switch (column) {
    case COUNT:
        return (double)g->sums[CALLS_COUNT];
    case BYTES:
        return (double)g->sums[CALLS_BYTES];
    case BYTES_IN:
        return (double)g->sums[CALLS_BYTES_IN];
    case MEAN:
        return (double)g->sums[CALLS_TIME_NS] / fmax((double)g->sums[CALLS_COUNT], 1);
    case LONGEST:
        return (double)g->sums[CALLS_LONGEST_NS];
    default:
        return (double)g->sums[CALLS_TIME_NS];
    }
}

struct order {
    int column, descending;
};

static int calls_view_compare(const void *left, const void *right, void *user)
{
    const struct order *o = user;
    const struct group *a = left, *b = right;
    double x = calls_view_figure(a, o->column), y = calls_view_figure(b, o->column);
    int ascending = x < y ? -1 : x > y;
    return ascending               ? (o->descending ? -ascending : ascending)
           : a->number < b->number ? -1
                                   : a->number > b->number;
}

static void calls_view_format_comm(const struct stage *s, uint32_t index, char *out,
                                   size_t capacity)
{
    const struct model_comm *c = index < s->model->comm_count ? &s->model->comms[index] : NULL;
    if (!c || !c->id)
        snprintf(out, capacity, "\xe2\x80\x93");
    else
        snprintf(out, capacity, "%s, %s rank%s", c->name[0] ? c->name : "unnamed",
                 quantity_grouped(c->size).text, c->size == 1 ? "" : "s");
}

struct names {
    char function[128], comm[128], region[128];
};

/* What a row says in its columns of names. */
static void calls_view_names(const struct stage *s, const struct group *g, struct names *out)
{
    struct model_call c = model_call_at(s->model, g->number);
    enum call_group by = s->ui->group;
    const char *region = c.region < s->model->region_count ? s->model->regions[c.region].name : "";
    if (by == GROUP_CALL || by == GROUP_NONE || g->kinds == 1)
        snprintf(out->function, sizeof out->function, "%s", call_name(c.call));
    else
        snprintf(out->function, sizeof out->function, "%u kinds of call", g->kinds);
    snprintf(out->comm, sizeof out->comm, "several");
    if (!g->comms)
        calls_view_format_comm(s, c.comm, out->comm, sizeof out->comm);
    snprintf(out->region, sizeof out->region, "%s",
             g->regions ? "several"
             : *region  ? region
                        : "outside");
}

static void calls_view_need_names(const struct stage *s, struct table *table, const struct group *g)
{
    struct names names;
    calls_view_names(s, g, &names);
    table_need(&s->brush, table, NAME, names.function);
    table_need(&s->brush, table, COMM, names.comm);
    table_need(&s->brush, table, REGION, names.region);
}

static void calls_view_add_names(const struct stage *s, const struct table *table, struct box row,
                                 const struct group *g)
{
    const struct theme *t = s->brush.theme;
    enum call_group by = s->ui->group;
    struct names names;
    calls_view_names(s, g, &names);
    widget_cell(&s->brush, table, row, NAME,
                by == GROUP_CALL || by == GROUP_NONE ? t->text : t->second, names.function);
    widget_cell(&s->brush, table, row, COMM, by == GROUP_COMM ? t->text : t->second, names.comm);
    widget_cell(&s->brush, table, row, REGION, by == GROUP_REGION ? t->text : t->second,
                names.region);
}

/* @param total  time of all groups, and of the largest of them */
static void calls_view_call_row(struct stage *s, const struct table *table, struct box row,
                                const struct group *g, uint32_t at, const double *total)
{
    const struct theme *t = s->brush.theme;
    double time = (double)g->sums[CALLS_TIME_NS];
    piece_row(s, row, HIT_CALL, g->number, s->ui->group,
              ui_calls_selected(s->ui, s->model, s->ui->group, g->number), LIST_CALLS, at);
    calls_view_add_names(s, table, row, g);
    widget_cell(&s->brush, table, row, COUNT, t->text, quantity_grouped(g->sums[CALLS_COUNT]).text);
    widget_cell(&s->brush, table, row, BYTES, t->text,
                format_si((double)g->sums[CALLS_BYTES], "B").text);
    widget_cell(&s->brush, table, row, BYTES_IN, t->text,
                format_si((double)g->sums[CALLS_BYTES_IN], "B").text);
    widget_cell(&s->brush, table, row, TIME, t->text, format_duration(time).text);
    widget_cell(&s->brush, table, row, MEAN, t->second,
                format_duration(calls_view_figure(g, MEAN)).text);
    widget_cell(&s->brush, table, row, LONGEST, t->second,
                format_duration((double)g->sums[CALLS_LONGEST_NS]).text);
    widget_cell(&s->brush, table, row, SHARE, t->text, format_share(time / fmax(total[0], 1)).text);
    struct box bar = column_box(table, BAR, row.x, row.w);
    int class_ = (int)call_class_of(model_call_at(s->model, g->number).call);
    color_t color =
        s->ui->group == GROUP_CALL || s->ui->group == GROUP_NONE ? t->classes[class_] : t->info;
    widget_bar(&s->brush, (struct box){bar.x, row.y + 9, bar.w, 8}, time / fmax(total[1], 1),
               color);
}

static void calls_view_add_table(struct stage *s, struct box panel, struct group *groups,
                                 uint32_t n)
{
    struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    int sorted = s->ui->list.sort[LIST_CALLS] < 0 ? TIME : s->ui->list.sort[LIST_CALLS];
    struct order o = {sorted,
                      s->ui->list.sort[LIST_CALLS] < 0 || s->ui->list.descending[LIST_CALLS]};
    struct table table = calls_table;
    if (s->ui->group == GROUP_REGION || (s->ui->group == GROUP_NONE && s->model->region_count > 1))
        table.columns[REGION].drop = 0; /* rows differ by it */
    qsort_r(groups, n, sizeof *groups, calls_view_compare, &o);
    double total[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        total[0] += (double)groups[i].sums[CALLS_TIME_NS];
        total[1] = fmax(total[1], (double)groups[i].sums[CALLS_TIME_NS]);
    }
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    uint32_t last, first = piece_list(s, list, LIST_CALLS, n, ROW, &last);
    for (uint32_t i = first; i < last; i++)
        calls_view_need_names(s, &table, &groups[i]);
    widget_table_head(&s->brush, &table, head, sorted, o.descending);
    for (uint32_t i = first; i < last; i++)
        calls_view_call_row(s, &table,
                            (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 1},
                            &groups[i], i, total);
}

static void calls_layout(struct stage *s, struct box box)
{
    static const char *const by[] = {"function", "communicator", "region", "each"};
    struct box panel = box_inset(box, 14, 10);
    char what[128];
    struct group *groups = NULL;
    uint32_t n = calls_view_gather(s, &groups);
    if (n)
        panel = piece_list_panel(panel, HEAD, n, ROW);
    piece_panel(s, panel, "calls");
    snprintf(what, sizeof what, "whole calls that ended, all ranks, %s",
             piece_calls_range_text(s).text);
    double right = panel.x + panel.w - 12;
    right -=
        widget_choice(&s->brush, right, panel.y + 6, by, 4, (int)s->ui->group, COMMAND_GROUP) + 8;
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Calls", what);
    if (n)
        calls_view_add_table(s, panel, groups, n);
    else
        piece_empty(s, panel, "No calls in this span of time", NULL);
    free(groups);
}

const struct view calls_view = {.layout = calls_layout};
