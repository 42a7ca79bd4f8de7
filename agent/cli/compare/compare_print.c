/* A comparison as text, and as one JSON object. */
#include "agent/cli/compare/compare.h"

#include "agent/cli/text/text.h"
#include "proto/json.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const compare_units[] = {[COMPARE_COUNT] = "count",
                                            [COMPARE_BYTES] = "B",
                                            [COMPARE_SECONDS] = "s",
                                            [COMPARE_SHARE] = "share",
                                            [COMPARE_TIMES] = "times"};
static const char *const compare_sides[2] = {"before", "after"};

/* ---- text ---------------------------------------------------------------- */

static struct quantity compare_print_value(enum compare_unit unit, double value)
{
    if (!isfinite(value))
        return quantity_print("-");
    switch (unit) {
    case COMPARE_BYTES:
        return quantity_bytes(value);
    case COMPARE_SECONDS:
        return quantity_duration(value * 1e9);
    case COMPARE_SHARE:
        return quantity_share(value, 1);
    case COMPARE_TIMES:
        return quantity_ratio(value);
    default:
        return quantity_count(value);
    }
}

static struct quantity compare_print_change(double before, double after)
{
    if (before == after)
        return quantity_print("same");
    if (!isfinite(before) || !isfinite(after))
        return quantity_print("-");
    if (before <= 0)
        return quantity_print("new");
    if (after <= 0)
        return quantity_print("gone");
    if (after / before >= 10)
        return quantity_print("%s", quantity_ratio(after / before).text);
    return quantity_print("%+.2f %%", 100 * (after - before) / before);
}

static void compare_print_row(FILE *out, const char *name, enum compare_unit unit,
                              const double value[2], const char *per)
{
    const struct quantity before = compare_print_value(unit, value[0]),
                          after = compare_print_value(unit, value[1]);
    char cell[2][64];
    snprintf(cell[0], sizeof(cell[0]), "%s%s", before.text, per);
    snprintf(cell[1], sizeof(cell[1]), "%s%s", after.text, per);
    tap_cell(out, 34, name);
    tap_cell(out, -16, cell[0]);
    tap_cell(out, -16, cell[1]);
    tap_cell(out, -13, compare_print_change(value[0], value[1]).text);
    tap_print(out, "\n");
}

static void compare_print_head(FILE *out, const char *title)
{
    tap_print(out, "\n");
    tap_cell(out, 34, title);
    tap_cell(out, -16, "before");
    tap_cell(out, -16, "after");
    tap_cell(out, -13, "change");
    tap_print(out, "\n");
}

static void compare_print_list(FILE *out, const struct comparison *c, const char *title,
                               const struct compare_list *list, uint64_t lines)
{
    const int seconds = list == &c->phases;
    const char *per = !seconds && c->per_second ? "/s" : "";
    char head[80];
    size_t differ = 0;
    if (list->count == 0)
        return;
    while (differ < list->count && list->items[differ].value[0] != list->items[differ].value[1])
        differ++;
    snprintf(head, sizeof(head), "%s: %zu of %zu differ", title, differ, list->count);
    if (differ == 0 || lines == 0) {
        tap_print(out, "\n");
        tap_print(out, "%s\n", head);
        return;
    }
    compare_print_head(out, head);
    for (size_t i = 0; i < differ && i < lines; i++) {
        const struct compare_item *item = &list->items[i];
        char name[180];
        if (seconds && strcmp(item->name[0], item->name[1]) == 0)
            snprintf(name, sizeof(name), "%s", item->name[0]);
        else
            snprintf(name, sizeof(name), "%s %s %s", item->name[0], seconds ? "as" : "->",
                     item->name[1]);
        compare_print_row(out, name, seconds ? COMPARE_SECONDS : COMPARE_BYTES, item->value, per);
    }
}

/* What a row of the phases is of. */
static struct quantity compare_print_group(uint64_t ranks)
{
    return ranks > 1 ? quantity_print("by groups of %" PRIu64 " ranks", ranks)
                     : quantity_print("of ranks");
}

static void compare_print_alignment(FILE *out, const struct comparison *c)
{
    const struct alignment *a = &c->alignment;
    const size_t after = c->runs[1]->phase_count;
    if (a->by_phase)
        tap_print(out, "aligned by phase: %" PRIu32 " of %" PRIu32 " and %s match\n", a->matched,
                  a->count, quantity_things(after, "phase").text);
    else
        tap_print(out,
                  "aligned by time since the start: %" PRIu32 " of %" PRIu32 " and %s match%s\n",
                  a->matched, a->count, quantity_things(after, "phase").text,
                  c->per_second ? "; links and pairs are bytes a second" : "");
    const uint64_t groups[2] = {c->runs[0]->rank_group, c->runs[1]->rank_group};
    if (groups[0] != 0 && groups[1] != 0 && groups[0] != groups[1])
        tap_print(out, "phases are %s before, %s after: they hardly match\n",
                  compare_print_group(groups[0]).text, compare_print_group(groups[1]).text);
}

/* What differs most, in one line. */
static void compare_print_most(FILE *out, const struct comparison *c)
{
    const struct compare_figure *f = compare_largest(c);
    const struct compare_item *link = c->links.count > 0 ? &c->links.items[0] : NULL;
    const struct compare_item *pair = c->pairs.count > 0 ? &c->pairs.items[0] : NULL;
    int any = 0;
    tap_print(out, "differs most: ");
    if (f != NULL)
        any += fprintf(out, "%s, %s", f->name, compare_print_change(f->value[0], f->value[1]).text);
    if (link != NULL && link->value[0] != link->value[1]) {
        tap_print(out, "%slink %s -> %s, ", any ? "; " : "", link->name[0], link->name[1]);
        any += fprintf(out, "%s", compare_print_change(link->value[0], link->value[1]).text);
    }
    if (pair != NULL && pair->value[0] != pair->value[1]) {
        tap_print(out, "%sranks %s -> %s, ", any ? "; " : "", pair->name[0], pair->name[1]);
        any += fprintf(out, "%s", compare_print_change(pair->value[0], pair->value[1]).text);
    }
    tap_print(out, "%s\n", any ? "" : "nothing");
}

void compare_print_text(FILE *out, const struct comparison *c, uint64_t lines)
{
    for (int i = 0; i < 2; i++) {
        const struct compare_run *run = c->runs[i];
        tap_print(out, "%-7s %s: %s, %s, ", compare_sides[i], run->input.path,
                  run->app[0] != '\0' ? run->app : "job", quantity_things(run->world, "rank").text);
        tap_print(out, "%s\n", compare_print_value(COMPARE_SECONDS, run->seconds).text);
    }
    compare_print_alignment(out, c);
    compare_print_most(out, c);
    compare_print_head(out, "figure");
    for (size_t i = 0; i < c->figure_count; i++)
        compare_print_row(out, c->figures[i].name, c->figures[i].unit, c->figures[i].value, "");
    compare_print_list(out, c, "links", &c->links, lines);
    compare_print_list(out, c, "pairs of ranks", &c->pairs, lines);
    compare_print_list(out, c, "phases", &c->phases, lines);
}

/* ---- JSON ---------------------------------------------------------------- */

static void compare_print_values(FILE *out, const double value[2])
{
    json_put_real(out, ",", "before", value[0]);
    json_put_real(out, ",", "after", value[1]);
    fputc('}', out);
}

static void compare_print_items(FILE *out, const char *name, const struct compare_list *list,
                                const char *const ends[2], uint64_t lines)
{
    fprintf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < list->count && i < lines; i++) {
        json_put_text(out, i > 0 ? ",{" : "{", ends[0], list->items[i].name[0]);
        json_put_text(out, ",", ends[1], list->items[i].name[1]);
        compare_print_values(out, list->items[i].value);
    }
    fputc(']', out);
}

void compare_print_json(FILE *out, const struct comparison *c, uint64_t lines)
{
    const struct compare_figure *most = compare_largest(c);
    fputs("{\"files\":[", out);
    json_text(out, c->runs[0]->input.path);
    fputc(',', out);
    json_text(out, c->runs[1]->input.path);
    fprintf(out, "],\"aligned\":\"%s\",\"phases\":[%zu,%zu],\"matched\":%" PRIu32,
            c->alignment.by_phase ? "phase" : "time", c->runs[0]->phase_count,
            c->runs[1]->phase_count, c->alignment.matched);
    fprintf(out, ",\"rank_groups\":[%" PRIu64 ",%" PRIu64 "]", c->runs[0]->rank_group,
            c->runs[1]->rank_group);
    json_put_text(out, ",", "per", c->per_second ? "second" : "run");
    json_put_text(out, ",", "most", most != NULL ? most->name : "");
    fputs(",\"figures\":[", out);
    for (size_t i = 0; i < c->figure_count; i++) {
        json_put_text(out, i > 0 ? ",{" : "{", "name", c->figures[i].name);
        json_put_text(out, ",", "unit", compare_units[c->figures[i].unit]);
        compare_print_values(out, c->figures[i].value);
    }
    fputc(']', out);
    compare_print_items(out, "links", &c->links, (const char *const[]){"from", "to"}, lines);
    compare_print_items(out, "pairs", &c->pairs, (const char *const[]){"source", "destination"},
                        lines);
    compare_print_items(out, "durations", &c->phases, (const char *const[]){"phase", "phase_after"},
                        lines);
    fputs("}\n", out);
}
