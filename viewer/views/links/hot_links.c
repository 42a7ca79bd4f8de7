/* Ranking of hot links: figures of each link, order, rows with sparklines. */
#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROW = 40,
    FOLDED = 4, /* so many like links are one row */
    SIGN = 26,  /* width of the sign of a link's state, left of its name */
    SENTENCE = 20,
    NOTE = 22,
    ROUTES = 6, /* maximum number of routes whose ends are in a row */
};
enum { NUMBER, LINK, SPARK, LOAD, MULTIPLE, LATENCY, RATIO, COLLECTIVE, COLUMNS };

/* What the load is relative to: the network's capacity where it is known. */
static const char of_capacity[] = "of capacity";

static const struct table links_table = {
    .columns =
        {
            [NUMBER] = {"", 30, TEXT_RIGHT, 0},
            [LINK] = {"link", 0, 0, 0},
            [SPARK] = {"visible time", 104, 0, 0, 4},
            [LOAD] = {"load", 78, TEXT_RIGHT, 1},
            [MULTIPLE] = {"of the mean", 92, TEXT_RIGHT, 0, 2},
            [LATENCY] = {"latency", 66, TEXT_RIGHT, 1, 1},
            [RATIO] = {"measured", 78, TEXT_RIGHT, 1, 3},
            [COLLECTIVE] = {"collectives", 86, TEXT_RIGHT, 1, 5},
        },
    .count = COLUMNS,
    .list = LIST_LINKS,
};

/* ---- figures ---- */

static uint64_t hot_links_visible(const struct stage *s, uint64_t *first)
{
    uint64_t last = 0;
    *first = 0;
    ui_windows(s->ui, s->model, first, &last);
    return last;
}

/* Mean load of the loaded links in the newest window. */
static double hot_links_live_mean(const struct network *n)
{
    const struct network_counts *c = &n->counts;
    uint64_t loaded = c->states[LINK_BUSY] + c->states[LINK_HOT] + c->states[LINK_CONGESTED];
    return loaded ? c->hop_bytes / (double)loaded : 0;
}

/* The most recent visible windows, as many as samples are stored for. */
static uint64_t hot_links_sampled(const struct stage *s, uint64_t *first)
{
    uint64_t last = hot_links_visible(s, first);
    if (last - *first >= NETWORK_WINDOWS)
        *first = last - NETWORK_WINDOWS + 1;
    return last;
}

static void hot_links_add_counted(const struct stage *s, uint32_t link, struct link_figures *out)
{
    const struct links_drawing *d = s->pictures->links;
    uint64_t first, last = hot_links_sampled(s, &first);
    for (uint64_t w = first; w <= last; w++) {
        const struct network_sample *sample = network_sample(&s->model->network, link, w);
        if (!sample || isnan(sample->measured))
            continue;
        out->load += (double)sample->measured;
        out->packets |= sample->unit;
    }
    out->state = out->load > 0 ? LINK_BUSY
                               : LINK_IDLE; /* hot or congested cannot be derived from counters */
    out->multiple = d && d->mean > 0 ? out->load / d->mean : NAN;
}

/* What was measured of a link in the newest window, or the last visible one. */
static void hot_links_read_measured(const struct stage *s, int live, uint32_t link,
                                    struct link_figures *out)
{
    const struct network *n = &s->model->network;
    const struct wire_link_row *row = live ? network_row(n, link) : NULL;
    uint64_t first;
    const struct network_sample *sample =
        live ? NULL : network_sample(n, link, hot_links_visible(s, &first));
    out->latency = row ? row->latency : sample ? (double)sample->latency : NAN;
    out->ratio = row ? row->ratio : NAN;
    if (sample && !sample->unit && sample->load > 0)
        out->ratio = (double)(sample->measured / sample->load);
}

void link_figures(const struct stage *s, int live, uint32_t link, struct link_figures *out)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    const struct wire_link_row *row = network_row(n, link);
    const enum link_state would = LINK_BUSY;
    double mean = live ? hot_links_live_mean(n) : piece_reality(s)->mean;
    *out =
        (struct link_figures){.state = s->ui->network.applied ? would : piece_link_state(s, link),
                              .multiple = NAN,
                              .share = NAN,
                              .latency = NAN,
                              .ratio = NAN,
                              .collective = NAN,
                              .real = NAN};
    if (piece_loads_are_measured(s)) {
        hot_links_add_counted(s, link, out);
        out->collective = row && s->ui->time.follow ? (double)row->collective_bytes : NAN;
        return;
    }
    if (s->ui->network.applied) { /* only the load can be predicted for a suggested mapping */
        const struct flows *r = piece_reality(s);
        out->load = link < f->link_count ? (double)f->loads[link] : 0;
        out->real = link < r->link_count ? (double)r->loads[link] : 0;
    } else if (live) {
        out->load = row ? (double)row->bytes : 0;
        out->share = row ? row->share : NAN;
        out->collective = row ? (double)row->collective_bytes : NAN;
        out->since = row ? row->since : 0;
    } else {
        out->load = link < f->link_count ? (double)f->loads[link] : 0;
    }
    if (!s->ui->network.applied)
        hot_links_read_measured(s, live, link, out);
    out->multiple = mean > 0 ? out->load / mean : NAN;
}

/* ---- order ---- */

struct sorted {
    double figure;
    uint32_t link;
};

ORDER_FUNCTION(hot_links_compare_falling, struct sorted,
               2 * ORDER(b->figure, a->figure) + ORDER(a->link, b->link))

ORDER_FUNCTION(hot_links_compare_rising, struct sorted,
               2 * ORDER(a->figure, b->figure) + ORDER(a->link, b->link))

/* Whether the figures by rank have the links in the order of the list already. */
static int hot_links_is_ranked(const struct stage *s, const struct links_drawing *d)
{
    int column = s->ui->list.sort[LIST_LINKS];
    return !d->live && !d->measured && !ui_shows_difference(s->ui) &&
           (column < 0 || (column == LOAD && s->ui->list.descending[LIST_LINKS])) &&
           flows_is_ranked(&s->range->flows, METRIC_LOAD);
}

/* Sort links by a figure; figures are computed once, not for each comparison. */
static int hot_links_sort_links(const struct stage *s, struct links_drawing *d)
{
    int column = s->ui->list.sort[LIST_LINKS];
    struct sorted *items = malloc(((size_t)d->count + 1) * sizeof *items);
    double sum = 0;
    uint32_t some = 0;
    if (!items)
        return -1;
    for (uint32_t i = 0; i < d->count; i++) {
        struct link_figures f;
        uint32_t link = d->order[i];
        link_figures(s, d->live, link, &f);
        double load = ui_shows_difference(s->ui) ? fabs(f.load - f.real) : f.load;
        double figure = column == LATENCY      ? f.latency
                        : column == RATIO      ? f.ratio
                        : column == COLLECTIVE ? f.collective
                                               : load;
        items[i] = (struct sorted){isnan(figure) ? -1 : figure, link};
        sum += f.load;
        some += f.load > 0;
    }
    qsort(items, d->count, sizeof *items,
          column < 0 || s->ui->list.descending[LIST_LINKS] ? hot_links_compare_falling
                                                           : hot_links_compare_rising);
    for (uint32_t i = 0; i < d->count; i++)
        d->order[i] = items[i].link;
    d->mean = some ? sum / some : 0;
    free(items);
    return 0;
}

static int hot_links_passes(const struct stage *s, uint32_t link)
{
    const struct flows *f = &s->range->flows;
    if (!flow_filter_active(&s->ui->network.filter))
        return 1;
    return link < f->link_count && (f->link_marks[link] & FLOW_SHOWN);
}

static int hot_links_is_live(const struct stage *s)
{
    return s->ui->time.follow && !piece_loads_are_measured(s) && s->ui->time.range == RANGE_SPAN &&
           !s->ui->network.applied && !s->second && s->model->network.link_count;
}

static uint64_t hot_links_compute_key(const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    uint64_t first, last = hot_links_visible(s, &first), key = 1;
    key = mix_number(key, s->model->network.links_version);
    key = mix_number(key, s->model->network.version);
    key = mix_number(mix_number(key, f->version), s->range->reality.version);
    key = mix_number(key, (uint64_t)s->ui->network.compare);
    key = mix_number(key, s->ui->network.filter.version);
    key = mix_number(mix_number(key, last), s->ui->network.unfolded);
    key = mix_number(key, (uint64_t)hot_links_is_live(s) * 64 +
                              (uint64_t)(s->ui->list.sort[LIST_LINKS] + 1) * 2 +
                              (uint64_t)(s->ui->list.descending[LIST_LINKS] != 0));
    return key | 1;
}

static int hot_links_fill_order(const struct stage *s, struct links_drawing *d)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    const struct flows *real = piece_reality(s);
    uint32_t all = d->measured              ? n->trace_count
                   : d->live                ? n->link_count
                   : s->ui->network.applied ? f->link_count
                                            : f->links_used;
    if (ARRAY_FIT_ZERO(d->order, d->room, all) != 0)
        return -1;
    d->count = 0;
    int ranked = hot_links_is_ranked(s, d);
    for (uint32_t i = 0; ranked && i < f->ranked_count; i++)
        if (hot_links_passes(s, f->ranked[i]))
            d->order[d->count++] = f->ranked[i];
    for (uint32_t i = 0; d->live && i < n->link_count; i++)
        if (hot_links_passes(s, (uint32_t)n->links[i].link))
            d->order[d->count++] = (uint32_t)n->links[i].link;
    for (uint32_t i = 0; d->measured && i < n->trace_count; i++)
        d->order[d->count++] = n->traces[i].link;
    for (uint32_t l = 0; !d->live && !d->measured && l < f->link_count; l++)
        if (((f->loads[l] && !ranked) ||
             (!f->loads[l] && real != f && l < real->link_count && real->loads[l])) &&
            hot_links_passes(s, l))
            d->order[d->count++] = l;
    return 0;
}

/* ---- equal links in one row ---- */

static int hot_links_is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= LINK_ALIKE * fmax(fabs(a), fabs(b));
}

static int hot_links_is_like(const struct link_figures *a, const struct link_figures *b)
{
    return a->state == b->state && hot_links_is_near(a->load, b->load) &&
           hot_links_is_near(a->real, b->real);
}

static int hot_links_add_row(struct links_drawing *d, uint32_t at, uint32_t count)
{
    if (ARRAY_FIT_AT(d->rows, d->row_capacity, d->row_count) != 0)
        return -1;
    d->rows[d->row_count++] = (struct links_row){at, count};
    return 0;
}

/* Adds the links of a run, in one row where they are many; opened ones follow their row. */
static int hot_links_add_run(struct links_drawing *d, uint32_t first, uint32_t end)
{
    int fold = end - first >= FOLDED, open = d->unfolded == d->order[first] + 1;
    if (fold && hot_links_add_row(d, first, end - first) < 0)
        return -1;
    for (uint32_t i = first; i < end && (!fold || open); i++)
        if (hot_links_add_row(d, i, 1) < 0)
            return -1;
    return 0;
}

/* Makes the rows of the list: neighbours in its order with the same figures are one. */
static int hot_links_fold(const struct stage *s, struct links_drawing *d)
{
    struct link_figures now, next;
    d->row_count = 0;
    d->unfolded = s->ui->network.unfolded;
    if (d->count)
        link_figures(s, d->live, d->order[0], &now);
    for (uint32_t i = 0, first = 0; i < d->count; i++) {
        if (i + 1 < d->count)
            link_figures(s, d->live, d->order[i + 1], &next);
        if (i + 1 < d->count && hot_links_is_like(&now, &next))
            continue; /* as the first of the run */
        if (hot_links_add_run(d, first, i + 1) < 0)
            return -1;
        first = i + 1;
        now = next;
    }
    return 0;
}

/* Whether links have a latency and a measured load: columns without a figure are left out. */
static void hot_links_find_columns(const struct stage *s, struct links_drawing *d)
{
    struct link_figures f;
    d->latencies = d->ratios = 0;
    if (d->measured || s->ui->network.applied)
        return;
    for (uint32_t i = 0; i < d->count && !(d->latencies && d->ratios); i++) {
        hot_links_read_measured(s, d->live, d->order[i], &f);
        d->latencies |= !isnan(f.latency);
        d->ratios |= !isnan(f.ratio);
    }
}

const struct links_drawing *links_order(struct stage *s)
{
    uint64_t key = hot_links_compute_key(s);
    if (!s->pictures->links && !(s->pictures->links = calloc(1, sizeof *s->pictures->links)))
        return NULL;
    struct links_drawing *d = s->pictures->links;
    if (d->key == key)
        return d;
    d->live = hot_links_is_live(s);
    d->measured = piece_loads_are_measured(s);
    d->mean = 0;
    d->key = 0;
    if (hot_links_fill_order(s, d) < 0) {
        d->count = 0;
        return NULL;
    }
    /* the daemon orders by falling load */
    if ((s->ui->list.sort[LIST_LINKS] >= 0 || !d->live) && !hot_links_is_ranked(s, d) &&
        hot_links_sort_links(s, d) < 0) {
        d->count = 0;
        return NULL;
    }
    if (hot_links_fold(s, d) < 0) {
        d->count = 0;
        return NULL;
    }
    hot_links_find_columns(s, d);
    d->key = key;
    return d;
}

/* ---- rows ---- */

static double hot_links_height_of(const struct network_sample *sample, int measured)
{
    double value = (double)(measured ? sample->measured : sample->load);
    return isnan(value) ? 0 : value;
}

void link_sparkline(const struct stage *s, struct box box, uint32_t link, color_t color)
{
    const struct network *n = &s->model->network;
    int measured = piece_loads_are_measured(s);
    uint64_t first, last = hot_links_sampled(s, &first);
    double most = 0;
    for (uint64_t w = first; w <= last; w++) {
        const struct network_sample *sample = network_sample(n, link, w);
        most = sample ? fmax(most, hot_links_height_of(sample, measured)) : most;
    }
    scene_line(s->brush.scene, box.x, box.y + box.h, box.x + box.w, box.y + box.h, 1,
               s->brush.theme->line);
    if (most <= 0)
        return;
    double step = box.w / (double)(last > first ? last - first : 1);
    if (first == last) /* a single window cannot form a line */
        scene_disc(s->brush.scene, box.x + box.w / 2, box.y, 2, color);
    scene_points(s->brush.scene);
    for (uint64_t w = first; w <= last; w++) {
        const struct network_sample *sample = network_sample(n, link, w);
        if (!sample || (!measured && w < n->states_known)) { /* a gap, or no traffic */
            scene_curve(s->brush.scene, 1.4, color);
            scene_points(s->brush.scene);
            continue;
        }
        scene_point(s->brush.scene, box.x + step * (double)(w - first),
                    box.y + box.h - box.h * hot_links_height_of(sample, measured) / most);
    }
    scene_curve(s->brush.scene, 1.4, color);
}

/* Routes over a link, the first ones with their ends: ": 0 → 31, 5 → 77 and 2 more". */
static void hot_links_format_routes(const struct stage *s, const struct wire_link_route_row *routes,
                                    uint32_t count, uint32_t named, char *out, size_t capacity)
{
    char from[80], to[80];
    out[0] = 0;
    if (named == 0)
        snprintf(out, capacity, ", %s", quantity_things(count, "route").text);
    for (uint32_t i = 0; i < named; i++)
        text_append(out, capacity, "%s%s \xe2\x86\x92 %s", i ? ", " : ": ",
                    piece_route_end(s->model, routes[i].source, "", from, sizeof from),
                    piece_route_end(s->model, routes[i].destination, "", to, sizeof to));
    if (named > 0 && count > named)
        text_append(out, capacity, " and %u more", count - named);
}

/* Second line of a row: "congested for 12 s: 0 → 31, 5 → 77 and 2 more", with as many routes as
 * fit in w, or "busy, E+". */
static void hot_links_format_detail(const struct stage *s, const struct link_figures *f,
                                    uint32_t link, int live, double w, char *out, size_t capacity)
{
    const struct network *n = &s->model->network;
    const struct window_totals *newest = series_newest(&s->model->series);
    uint32_t count = 0;
    if (piece_loads_are_measured(s)) {
        snprintf(out, capacity, f->packets ? "packets counted" : "bytes counted");
        return;
    }
    if (s->ui->network.applied) { /* state and latency are known for the present routes only */
        char change[100];
        snprintf(out, capacity, "%s",
                 piece_change_text(METRIC_LOAD, f->real, f->load, change, sizeof change));
        return;
    }
    snprintf(out, capacity, "%s", piece_state_text(s, f->state).text);
    if (live && newest && f->since && f->since <= n->window && f->state >= LINK_HOT)
        text_append(
            out, capacity, " for %s",
            format_duration((double)(n->window - f->since + 1) * (double)newest->length_ns).text);
    const size_t used = strlen(out);
    const struct wire_link_route_row *r = live ? network_routes_of(n, link, &count) : NULL;
    for (uint32_t named = count < ROUTES ? count : ROUTES; count > 0; named--) {
        hot_links_format_routes(s, r, count, named, out + used, capacity - used);
        if (named == 0 || scene_width(s->brush.scene, TEXT_AXIS, 0, out) <= w)
            break;
    }
    if (count == 0 && n->topology && link_class_of(n->topology, link) < LINK_CLASSES) {
        struct link_class c;
        link_class_name(&c, n->topology, link);
        text_append(out, capacity, ", %s", c.name);
    }
}

static void hot_links_add_figures(const struct stage *s, const struct table *table, struct box row,
                                  const struct link_figures *f)
{
    const struct theme *t = s->brush.theme;
    int less = f->load < f->real, differs = ui_shows_difference(s->ui);
    struct quantity load =
        format_si(differs ? fabs(f->load - f->real) : f->load, f->packets ? "" : "B");
    widget_cell(&s->brush, table, row, LOAD, t->text,
                differs ? quantity_print("%s%s", less ? "-" : "+", load.text).text : load.text);
    if (!isnan(f->share))
        widget_cell(&s->brush, table, row, MULTIPLE, t->text, format_share(f->share).text);
    else /* in one column with shares of capacities it says that it is none */
        widget_cell(&s->brush, table, row, MULTIPLE, t->text,
                    quantity_print(table->columns[MULTIPLE].title == of_capacity ? "%s mean" : "%s",
                                   format_ratio(f->multiple).text)
                        .text);
    if (table->count <= LATENCY)
        return;
    widget_cell(&s->brush, table, row, LATENCY,
                isnan(f->latency)   ? t->faint
                : f->latency >= 4   ? t->bad
                : f->latency > 1.25 ? t->warn
                                    : t->second,
                format_ratio(f->latency).text);
    widget_cell(&s->brush, table, row, RATIO,
                f->ratio > 1.25   ? t->warn
                : isnan(f->ratio) ? t->faint
                                  : t->second,
                format_ratio(f->ratio).text);
    if (table->count > COLLECTIVE && !isnan(f->collective))
        widget_cell(&s->brush, table, row, COLLECTIVE, t->second,
                    format_si(f->collective, "B").text);
}

/* Before and after as bars on the scale of the reality: its load above, that of the what-if below.
 */
static void hot_links_add_change(const struct stage *s, struct box box,
                                 const struct link_figures *f)
{
    const struct theme *t = s->brush.theme;
    double most = piece_metric_most(s, METRIC_LOAD), h = floor(box.h / 2) - 1;
    scene_rect(s->brush.scene,
               (struct box){box.x, box.y, box.w * fmin(f->real / fmax(most, 1), 1), h}, 1,
               t->second);
    scene_rect(s->brush.scene,
               (struct box){box.x, box.y + h + 2, box.w * fmin(f->load / fmax(most, 1), 1), h}, 1,
               f->load > f->real ? t->bad : t->info);
}

/* How many of equal links belong to each class: "E+: 4,096, E-: 4,096". */
static void hot_links_format_classes(const struct stage *s, const struct links_drawing *d,
                                     const struct links_row *row, char *out, size_t capacity)
{
    const struct topology *t = s->model->network.topology;
    uint32_t counts[LINK_CLASSES] = {0};
    struct link_class c;
    out[0] = 0;
    for (uint32_t i = 0; t && i < row->count; i++) {
        uint32_t number = link_class_of(t, d->order[row->at + i]);
        if (number < LINK_CLASSES)
            counts[number]++;
    }
    for (uint32_t i = 0; t && i < row->count; i++) {
        uint32_t link = d->order[row->at + i], number = link_class_of(t, link);
        if (number == LINK_CLASSES || !counts[number])
            continue;
        link_class_name(&c, t, link);
        text_append(out, capacity, "%s%s: %s", out[0] ? ", " : "", c.name,
                    quantity_grouped(counts[number]).text);
        counts[number] = 0;
    }
}

/* A row that stands for several equal links; a click lists them. */
static void hot_links_run_row(struct stage *s, const struct table *table, struct box row,
                              const struct links_drawing *d, uint32_t number)
{
    const struct theme *t = s->brush.theme;
    const struct links_row *run = &d->rows[number];
    struct link_figures f;
    char text[300];
    uint32_t link = d->order[run->at];
    int open = d->unfolded == link + 1;
    link_figures(s, d->live, link, &f);
    scene_rect(s->brush.scene, row, 4,
               box_has(row, s->brush.mouse_x, s->brush.mouse_y) ? t->raised : t->panel);
    struct scene_hit *hit =
        scene_hit(s->brush.scene, row, HIT_BUTTON, COMMAND_LINKS_UNFOLD, open ? 0 : link + 1);
    hit->list = LIST_LINKS + 1; /* it is copied with the others */
    hit->row = number;
    struct box box = column_box(table, LINK, row.x, row.w);
    piece_state_sign(&s->brush, box.x + 12, row.y + row.h / 2, 5, f.state);
    scene_textf(s->brush.scene, box.x + SIGN, row.y + 3, box.w - SIGN, TEXT_BODY, 0, t->text,
                "%s links like this%s", quantity_grouped(run->count).text, open ? ":" : "");
    hot_links_format_classes(s, d, run, text, sizeof text);
    scene_text(s->brush.scene, box.x + SIGN, row.y + 20, box.w - SIGN, TEXT_AXIS, TEXT_CLAUSES,
               t->second, text);
    if (box_has(row, s->brush.mouse_x, s->brush.mouse_y) &&
        scene_width(s->brush.scene, TEXT_AXIS, 0, text) > box.w - SIGN)
        tooltip_add_text(&s->tip, 0, text);
    box = column_box(table, SPARK, row.x, row.w);
    box = (struct box){box.x + 4, row.y + 8, box.w - 8, row.h - 17};
    if (box.w > 0 && s->ui->network.applied)
        hot_links_add_change(s, box, &f);
    f.collective = NAN; /* like links differ in it */
    hot_links_add_figures(s, table, row, &f);
}

static void hot_links_link_row(struct stage *s, const struct table *table, struct box row,
                               const struct links_drawing *d, uint32_t at, uint32_t number)
{
    const struct theme *t = s->brush.theme;
    const struct selection *sel = &s->ui->selection;
    const struct flows *flows = &s->range->flows;
    uint32_t link = d->order[at];
    struct link_figures f;
    char name[200], text[800];
    link_figures(s, d->live, link, &f);
    piece_row(s, row, HIT_LINK, link, 0, sel->kind == SELECT_LINK && sel->a == link, LIST_LINKS,
              number);
    if (sel->kind != SELECT_NONE && sel->kind != SELECT_LINK && link < flows->link_count &&
        (flows->link_marks[link] & FLOW_SELECTED)) /* its routes are selected */
        scene_rect(s->brush.scene, (struct box){row.x, row.y + 3, 3, row.h - 6}, 1.5,
                   color_fade(t->accent, 0.7));
    snprintf(text, sizeof text, "%u", at + 1);
    widget_cell(&s->brush, table, row, NUMBER, t->faint, text);
    struct box box = column_box(table, LINK, row.x, row.w);
    piece_state_sign(&s->brush, box.x + 12, row.y + row.h / 2, 5, f.state);
    scene_text(s->brush.scene, box.x + SIGN, row.y + 3, box.w - SIGN, TEXT_BODY, TEXT_MIDDLE,
               t->text, network_link_name(&s->model->network, link, name, sizeof name));
    hot_links_format_detail(s, &f, link, d->live, box.w - SIGN, text, sizeof text);
    scene_text(s->brush.scene, box.x + SIGN, row.y + 20, box.w - SIGN, TEXT_AXIS, TEXT_CLAUSES,
               f.state >= LINK_HOT ? piece_state_color(t, f.state) : t->second, text);
    box = column_box(table, SPARK, row.x, row.w);
    box = (struct box){box.x + 4, row.y + 8, box.w - 8, row.h - 17};
    if (box.w > 0 && s->ui->network.applied)
        hot_links_add_change(s, box, &f);
    else if (box.w > 0)
        link_sparkline(s, box, link, piece_state_color(t, f.state));
    hot_links_add_figures(s, table, row, &f);
    if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
        piece_link_tip(s, link);
}

/* Names take the room that they need from columns that can be left out. */
static void hot_links_need_names(const struct stage *s, struct table *table,
                                 const struct links_drawing *d, uint32_t first, uint32_t last)
{
    struct column *column = &table->columns[LINK];
    char text[300];
    for (uint32_t i = first; i < last; i++) {
        const struct links_row *row = &d->rows[i];
        if (row->count > 1)
            hot_links_format_classes(s, d, row, text, sizeof text);
        else
            network_link_name(&s->model->network, d->order[row->at], text, sizeof text);
        table_need(&s->brush, table, LINK, text);
    }
    column->need += column->need > 0 ? SIGN : 0;
}

/* ---- the panel ---- */

/* Did collectives load a link in the newest window? Only then their figure is of use. */
static int hot_links_have_collectives(const struct stage *s, const struct links_drawing *d)
{
    const struct network *n = &s->model->network;
    const int newest = d->live || (d->measured && s->ui->time.follow);
    for (uint32_t i = 0; newest && i < n->link_count; i++)
        if (n->links[i].collective_bytes)
            return 1;
    return 0;
}

static void hot_links_what_text(const struct stage *s, const struct links_drawing *d, char *out,
                                size_t capacity)
{
    const struct network_counts *c = &s->model->network.counts;
    if (d->live) {
        snprintf(out, capacity, "%s congested, %s hot, %s busy in the %s window",
                 quantity_grouped(c->states[LINK_CONGESTED]).text,
                 quantity_grouped(c->states[LINK_HOT]).text,
                 quantity_grouped(c->states[LINK_BUSY]).text,
                 model_ended(s->model) ? "last" : "newest");
        return;
    }
    struct quantity range = piece_pairs_range_text(s);
    if (d->measured) {
        snprintf(out, capacity, "%s: as interfaces counted, %s",
                 flows_stayed_local(&s->range->flows) ? "all messages stayed within nodes"
                 : hot_links_have_collectives(s, d)   ? "no messages but those inside collectives"
                                                      : "no messages known",
                 range.text);
        return;
    }
    snprintf(out, capacity, "%s loaded, %s", quantity_grouped(s->range->flows.links_used).text,
             range.text);
}

/* What the loads say, in a sentence. Of the reality by classes of links; of a what-if what it
 * changes. */
static const char *hot_links_sentence(const struct stage *s)
{
    const struct flows *f = &s->range->flows, *real = piece_reality(s);
    struct links_drawing *d = s->pictures->links;
    struct link_classes classes;
    char load[100], hops[100];
    if (!s->model->network.topology || !f->links_used)
        return "";
    if (d->sentence_key == d->key)
        return d->sentence;
    d->sentence_key = d->key;
    if (s->ui->network.applied) {
        snprintf(
            d->sentence, sizeof d->sentence, "Largest load %s; hop-bytes %s",
            piece_change_text(METRIC_LOAD, (double)real->largest, (double)f->largest, load,
                              sizeof load),
            piece_change_text(METRIC_HOP_BYTES, real->hop_bytes, f->hop_bytes, hops, sizeof hops));
        return d->sentence;
    }
    link_classes_sum(&classes, s->model->network.topology, f->loads);
    return link_classes_text(&classes, &s->model->network, f, d->sentence, sizeof d->sentence);
}

/* Note below the list: links that are not listed. @return its height */
static double hot_links_add_omitted(const struct stage *s, struct box panel,
                                    const struct links_drawing *d)
{
    const struct network_counts *c = &s->model->network.counts;
    char text[600];
    if (s->model->network.topology && s->model->network.fault[0])
        snprintf(text, sizeof text, "%s", s->model->network.fault);
    else if (d->live && c->left_out)
        snprintf(text, sizeof text, "and %s links with less load",
                 quantity_grouped(c->left_out).text);
    else if (d->live && c->unplaced)
        snprintf(text, sizeof text, "%s of messages not shown: their ranks' places are not known",
                 format_si((double)c->unplaced, "B").text);
    else
        return 0;
    scene_text(s->brush.scene, panel.x + 14, panel.y + panel.h - 21, panel.w - 28, TEXT_SMALL, 0,
               s->brush.theme->second, text);
    return NOTE;
}

static void hot_links_explain_empty(const struct stage *s, struct box box)
{
    const char *fault = s->model->daemon.topology_fault;
    if (flow_filter_active(&s->ui->network.filter))
        piece_empty(s, box, "No link passes", "The filter lets no loaded link pass.");
    else if (fault[0])
        piece_empty(s, box, "No link is loaded; the network's description cannot be used", fault);
    else if (s->model->network.fault[0])
        piece_empty(s, box, "No link is loaded", s->model->network.fault);
    else
        piece_empty(s, box, "No link is loaded",
                    flows_stayed_local(&s->range->flows) ? "All messages stayed within nodes."
                                                         : NULL);
}

/* The columns for which there are figures. */
static struct table hot_links_choose_columns(struct stage *s, const struct links_drawing *d,
                                             int sorted)
{
    struct table table = links_table;
    if (d->live && !isnan(s->model->network.links[0].share))
        table.columns[MULTIPLE].title = of_capacity;
    table.count = hot_links_have_collectives(s, d) ? COLUMNS : COLLECTIVE;
    if (d->measured) { /* counters are those of the visible time */
        table.columns[COLLECTIVE].title = "collectives now";
        table.columns[COLLECTIVE].w = 116;
    }
    if (s->model->series.count < 2) /* no course */
        table.columns[SPARK].drop = COLUMN_OMITTED;
    if (!d->latencies && sorted != LATENCY)
        table.columns[LATENCY].drop = COLUMN_OMITTED;
    if (!d->ratios && sorted != RATIO)
        table.columns[RATIO].drop = COLUMN_OMITTED;
    if (s->ui->network.applied) { /* nothing but the load is known of both states */
        table.count = LATENCY;
        table.columns[SPARK].title = "before, after";
        table.columns[SPARK].drop = links_table.columns[SPARK].drop;
        table.columns[SPARK].w = 90; /* two bars; the names need the rest */
    }
    if (ui_shows_difference(s->ui))
        table.columns[LOAD].title = "change";
    return table;
}

double hot_links_layout(struct stage *s, struct box panel)
{
    char what[500], sentence[500] = "";
    const struct links_drawing *d = links_order(s);
    const char *loads = d ? hot_links_sentence(s) : "";
    if (loads[0]) /* the rows may be of the newest window */
        snprintf(sentence, sizeof sentence, "%s%s%s", d->live ? piece_pairs_range_text(s).text : "",
                 d->live ? ": " : "", loads);
    int lines = scene_width(s->brush.scene, TEXT_SMALL, 0, sentence) > panel.w - 24 ? 2 : 1;
    double below = loads[0] ? SENTENCE + (lines - 1) * text_line(TEXT_SMALL) : 0;
    if (d && d->count)
        panel = piece_list_panel(panel, 70 + below + NOTE, d->row_count, ROW);
    piece_panel(s, panel, "links");
    const double foot = panel.y + panel.h;
    if (!d)
        return foot;
    hot_links_what_text(s, d, what, sizeof what);
    piece_add_state(s, what, sizeof what);
    double right = panel.x + panel.w - 12;
    if (!s->ui->network.what_if.count) /* its choice is with the steps */
        right -= piece_compare(s, right, panel.y + 6) + 8;
    right -= piece_filter(s, right, panel.y + 6, panel.w * 0.34) + 8;
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Hot links", what);
    scene_paragraph(s->brush.scene, panel.x + 12, panel.y + 35, panel.w - 24, TEXT_SMALL,
                    s->brush.theme->info, lines, sentence);
    struct box head = {panel.x + 8, panel.y + 38 + below, panel.w - 20, 24};
    int sorted = s->ui->list.sort[LIST_LINKS] < 0 ? LOAD : s->ui->list.sort[LIST_LINKS];
    struct table table = hot_links_choose_columns(s, d, sorted);
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - 70 - below};
    list.h -= hot_links_add_omitted(s, panel, d);
    uint32_t last = 0, first = 0;
    if (d->count)
        first = piece_list(s, list, LIST_LINKS, d->row_count, ROW, &last);
    hot_links_need_names(s, &table, d, first, last);
    widget_table_head(&s->brush, &table, head, sorted,
                      s->ui->list.sort[LIST_LINKS] < 0 || s->ui->list.descending[LIST_LINKS]);
    if (!d->count) {
        hot_links_explain_empty(s, list);
        return foot;
    }
    for (uint32_t i = first; i < last; i++) {
        struct box row = {list.x, list.y + (i - first) * ROW, head.w, ROW - 2};
        if (d->rows[i].count > 1)
            hot_links_run_row(s, &table, row, d, i);
        else
            hot_links_link_row(s, &table, row, d, d->rows[i].at, i);
    }
    return foot;
}
