/* View "pairs": the busiest pairs of ranks, or all pairs of the selected rank. */
#include "viewer/views/views.h"

#include "daemon/analysis/tables/array.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 26, HEAD = 70 }; /* pixels: height of a row; of a panel without its rows */
enum { SOURCE, FROM, DESTINATION, TO, MESSAGES, BYTES, EACH, SHARE, BAR, COLUMNS };

static const struct table pairs_table = {
    .columns =
        {
            [SOURCE] = {"source", 76, TEXT_RIGHT, 0},
            [FROM] = {"on node", 0, 0, 0, 4},
            [DESTINATION] = {"destination", 96, TEXT_RIGHT, 0},
            [TO] = {"on node", 0, 0, 0, 3},
            [MESSAGES] = {"messages", 104, TEXT_RIGHT, 0},
            [BYTES] = {"bytes", 96, TEXT_RIGHT, 0},
            [EACH] = {"per message", 100, TEXT_RIGHT, 0, 2},
            [SHARE] = {"share", 76, TEXT_RIGHT, 0, 1},
            [BAR] = {"", 150, 0, 0, 5},
        },
    .count = COLUMNS,
    .list = LIST_PAIRS,
};

struct order {
    const struct range *range;
    enum pair_column column;
};

static int pairs_view_compare_busier(const void *left, const void *right, void *user)
{
    const struct order *o = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint64_t x = o->range->pairs.figures[(size_t)a * PAIR_COLUMNS + o->column];
    uint64_t y = o->range->pairs.figures[(size_t)b * PAIR_COLUMNS + o->column];
    return x != y ? (x < y ? 1 : -1) : a < b ? -1 : a > b;
}

/* Write the pairs of a rank to pictures->order, busiest first. @return their number, or -ENOMEM */
static int pairs_view_pairs_of_rank(const struct stage *s, uint64_t rank, enum pair_column q)
{
    struct pictures *p = s->pictures;
    const struct range *r = s->range;
    const uint64_t key = mix_number(mix_number(1 + r->version, rank), (uint64_t)q);
    if (p->order_key == key)
        return (int)p->order_count;
    if (ARRAY_FIT(p->order, p->order_capacity, r->pairs.count) != 0)
        return -ENOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        struct model_pair pair = model_pair_at(&s->model->pairs, i);
        if ((pair.source == rank || pair.destination == rank) &&
            r->pairs.figures[(size_t)i * PAIR_COLUMNS + PAIR_MESSAGES])
            p->order[n++] = i;
    }
    struct order o = {r, q};
    if (n > 0)
        qsort_r(p->order, n, sizeof *p->order, pairs_view_compare_busier, &o);
    p->order_count = n;
    p->order_key = key;
    return (int)n;
}

static void pairs_view_add_pair_row(struct stage *s, const struct table *table, struct box row,
                                    uint32_t number, uint32_t at, double most)
{
    const struct theme *t = s->brush.theme;
    const struct range *r = s->range;
    enum pair_column q = s->quantity;
    const uint64_t *figures = r->pairs.figures + (size_t)number * PAIR_COLUMNS;
    struct model_pair p = model_pair_at(&s->model->pairs, number);
    piece_row(s, row, HIT_PAIR, p.source, p.destination,
              ui_pair_selected(s->ui, p.source, p.destination), LIST_PAIRS, at);
    widget_cell(&s->brush, table, row, SOURCE, t->text, quantity_print("%u", p.source).text);
    widget_cell(&s->brush, table, row, FROM, t->second, model_host_of(s->model, p.source));
    widget_cell(&s->brush, table, row, DESTINATION, t->text,
                p.destination == PAIR_OTHERS ? "others" : quantity_print("%u", p.destination).text);
    widget_cell(&s->brush, table, row, TO, t->second,
                p.destination == PAIR_OTHERS ? "" : model_host_of(s->model, p.destination));
    widget_cell(&s->brush, table, row, MESSAGES, t->text,
                quantity_grouped(figures[PAIR_MESSAGES]).text);
    widget_cell(&s->brush, table, row, BYTES, t->text,
                format_si((double)figures[PAIR_BYTES], "B").text);
    widget_cell(
        &s->brush, table, row, EACH, t->second,
        format_si((double)figures[PAIR_BYTES] / fmax((double)figures[PAIR_MESSAGES], 1), "B").text);
    widget_cell(&s->brush, table, row, SHARE, t->text,
                format_share((double)figures[q] / fmax((double)r->total[q], 1)).text);
    struct box bar = column_box(table, BAR, row.x, row.w);
    widget_bar(&s->brush, (struct box){bar.x, row.y + 9, bar.w, 8},
               (double)figures[q] / fmax(most, 1), t->info);
}

static void pairs_layout(struct stage *s, struct box box)
{
    const struct range *r = s->range;
    enum pair_column q = s->quantity;
    struct box panel = box_inset(box, 14, 10);
    struct table table = pairs_table;
    if (!piece_has_sizes(s->model))
        table.columns[BYTES].drop = table.columns[EACH].drop = COLUMN_OMITTED;
    char what[224];
    int one = s->ui->selection.kind == SELECT_RANK;
    int found =
        one ? pairs_view_pairs_of_rank(s, model_row_of(s->model, s->ui->selection.a), q) : 0;
    const uint32_t *order = one ? s->pictures->order : r->top[q];
    uint32_t rows = one ? (found > 0 ? (uint32_t)found : 0) : r->top_count[q];
    if (rows)
        panel = piece_list_panel(panel, HEAD, rows, ROW);
    piece_panel(s, panel, "pairs");
    struct quantity range = piece_pairs_range_text(s);
    struct quantity count = quantity_grouped(one ? rows : r->pairs_used);
    if (one)
        snprintf(what, sizeof what, "%s of %s, %s", count.text,
                 piece_rank(s->model, s->ui->selection.a).text, range.text);
    else if (r->pairs_used > rows)
        snprintf(what, sizeof what, "the %u busiest of %s, %s; select a rank for all of its own",
                 rows, count.text, range.text);
    else
        snprintf(what, sizeof what, "%s, %s", count.text, range.text);
    if (s->model->group > 1)
        text_append(what, sizeof what, "; %s", piece_grouping(s->model).text);
    double right = panel.x + panel.w - 12;
    right -= piece_quantity_choice(s, right, panel.y + 6) + 8;
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Pairs", what);
    struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    if (!rows) {
        piece_empty(s, list, "No messages between ranks", NULL);
        return;
    }
    uint32_t last, first = piece_list(s, list, LIST_PAIRS, rows, ROW, &last);
    for (uint32_t i = first; i < last; i++) {
        struct model_pair p = model_pair_at(&s->model->pairs, order[i]);
        table_need(&s->brush, &table, FROM, model_host_of(s->model, p.source));
        table_need(&s->brush, &table, TO, model_host_of(s->model, p.destination));
    }
    widget_table_head(&s->brush, &table, head, q == PAIR_BYTES ? BYTES : MESSAGES, 1);
    double most = (double)r->pairs.figures[(size_t)order[0] * PAIR_COLUMNS + q];
    for (uint32_t i = first; i < last; i++)
        pairs_view_add_pair_row(s, &table,
                                (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 1},
                                order[i], i, most);
}

const struct view pairs_view = {.layout = pairs_layout};
