/* Better mappings and routes: questions to the daemon, their results, buttons to apply them. */
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 17, FIGURES = 128, CHANGE = 58 };

static double better_add_button(const struct stage *s, double x, double y, const char *label,
                                enum ui_command command, uint64_t argument)
{
    const struct theme *t = s->brush.theme;
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, label) + 20;
    scene_rect(s->brush.scene, (struct box){x, y, w, 24}, 5, t->line);
    return widget_button(&s->brush, x, y, label, 0, command, argument) + 6;
}

/* Name of a measure for people; measures without an entry keep the daemon's name. */
static const char *better_measure_name(const char *name)
{
    static const char *const words[][2] = {
        {"max-link", "largest link load"},
        {"inter-node-bytes", "bytes between nodes"},
        {"inter-node-messages", "messages between nodes"},
        {"length", "sum of lengths"},
        {"longest", "longest route"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], name))
            return words[i][1];
    return name;
}

static int better_is_in_bytes(const char *name)
{
    return strstr(name, "bytes") || !strcmp(name, "max-link");
}

static void better_add_gain_line(const struct stage *s, struct box box,
                                 const struct network_gain *g)
{
    const struct theme *t = s->brush.theme;
    char change[32] = "";
    const char *unit = better_is_in_bytes(g->name) ? "B" : "";
    double share = g->before > 0 ? (g->after - g->before) / g->before : 0;
    double label = fmax(box.w - CHANGE - FIGURES, 0);
    scene_text(s->brush.scene, box.x, box.y, label, TEXT_SMALL, 0, t->second,
               better_measure_name(g->name));
    scene_textf(s->brush.scene, box.x + label, box.y, FIGURES, TEXT_SMALL,
                TEXT_RIGHT | TEXT_FIGURES, t->text, "%s \xe2\x86\x92 %s",
                format_si(g->before, unit).text, format_si(g->after, unit).text);
    if (fabs(share) >= 0.0005)
        snprintf(change, sizeof change, "%+.1f\xc2\xa0%%", share * 100);
    scene_text(s->brush.scene, box.x + label + FIGURES, box.y, CHANGE, TEXT_SMALL,
               TEXT_RIGHT | TEXT_FIGURES,
               share < 0   ? t->good
               : share > 0 ? t->warn
                           : t->second,
               change[0] ? change : "same");
}

static void better_add_gains(const struct stage *s, struct box box, const struct suggestion *g)
{
    for (uint32_t i = 0; i < g->gain_count && (i + 1) * LINE <= box.h; i++)
        better_add_gain_line(s, (struct box){box.x, box.y + i * LINE, box.w, LINE}, &g->gains[i]);
}

static uint32_t better_routes(const struct suggestion *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->route_count; i++)
        n += g->routes[i].count > 0;
    return n;
}

static void better_add_result_line(const struct stage *s, struct box box, enum suggestion_kind kind)
{
    const struct suggestion *g = &s->model->network.suggestions[kind];
    int applied = (s->ui->network.applied & 1u << kind) != 0;
    char text[100];
    double x = box.x;
    if (kind == SUGGEST_ROUTES)
        snprintf(text, sizeof text, "%u of %u routes better", better_routes(g), g->route_count);
    else
        snprintf(text, sizeof text, g->optimal ? "none has less %s" : "for less %s", g->objective);
    x += better_add_button(s, x, box.y, applied ? "Undo" : "Show it", COMMAND_APPLY, kind);
    if (kind == SUGGEST_MAPPING)
        x += better_add_button(s, x, box.y, "Save", COMMAND_SAVE_MAPPING, 0);
    x += better_add_button(s, x, box.y, "Discard", COMMAND_DISCARD, kind);
    scene_text(s->brush.scene, x + 4, box.y + 4, box.x + box.w - x - 4, TEXT_SMALL, 0,
               applied ? s->brush.theme->info : s->brush.theme->second,
               applied ? "in all views now" : text);
}

/* State or result of a question, below its button. */
static void better_add_outcome(const struct stage *s, struct box box, enum suggestion_kind kind,
                               const char *hint)
{
    const struct theme *t = s->brush.theme;
    const struct suggestion *g = &s->model->network.suggestions[kind];
    if (g->waiting && !g->ready) {
        double w = better_add_button(s, box.x, box.y - 2, "Give up", COMMAND_DISCARD, kind);
        scene_textf(s->brush.scene, box.x + w + 4, box.y + 2, box.w - w - 4, TEXT_SMALL, 0,
                    t->second, "searching, %s", format_share(g->progress).text);
        widget_bar(&s->brush, (struct box){box.x, box.y + 30, box.w, 6}, g->progress, t->accent);
    } else if (g->error) {
        scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_SMALL, t->bad, 3, g->error_text);
    } else if (g->ready) {
        better_add_result_line(s, (struct box){box.x, box.y - 2, box.w, 24}, kind);
        better_add_gains(s, (struct box){box.x, box.y + 26, box.w, box.h - 26}, g);
    } else {
        scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_SMALL, t->faint, 3, hint);
    }
}

static const char *better_route_hint(const struct stage *s)
{
    switch (s->ui->selection.kind) {
    case SELECT_NONE:
        return "For the 100 routes over the most loaded links; select a link, route or rank for "
               "its "
               "own.";
    case SELECT_LINK:
        return "For all routes over the selected link.";
    default:
        return "For the selected routes.";
    }
}

void better_layout(struct stage *s, struct box panel)
{
    static const char *const objectives[] = {"hop-bytes", "largest load", "inter-node"};
    static const char *const who[] = {"all ranks", "selected"};
    const struct theme *t = s->brush.theme;
    piece_panel(s, panel, "better");
    double half = floor(panel.w * 0.58), x = panel.x + 12, y = panel.y + 8;
    struct box left = {x, y + 34, half - 24, panel.h - 48};
    struct box right = {panel.x + half + 12, y + 34, panel.w - half - 24, panel.h - 48};
    x += better_add_button(s, x, y, "Suggest mapping", COMMAND_REMAP, 0);
    double end = panel.x + half - 12, wide = 4;
    for (int i = 0; i < REMAP_OBJECTIVES; i++)
        wide += scene_width(s->brush.scene, TEXT_SMALL, 0, objectives[i]) + 18;
    double second =
        end - x >= wide ? y : y + 30; /* below the first button where there is no room beside it */
    widget_choice(&s->brush, end, second, objectives, REMAP_OBJECTIVES,
                  (int)s->ui->network.objective, COMMAND_OBJECTIVE);
    left.y = second + 34;
    if (s->ui->selection.kind != SELECT_NONE && end - x < wide) {
        widget_choice(&s->brush, end, y, who, 2, s->ui->network.only_selected,
                      COMMAND_ONLY_SELECTED);
    } else if (s->ui->selection.kind != SELECT_NONE) {
        widget_choice(&s->brush, end, left.y - 4, who, 2, s->ui->network.only_selected,
                      COMMAND_ONLY_SELECTED);
        left.y += 26;
    }
    left.h = panel.y + panel.h - 10 - left.y;
    better_add_outcome(
        s, left, SUGGEST_MAPPING,
        "The daemon looks for places of the ranks that make it smaller, from the messages since "
        "the start.");
    scene_line(s->brush.scene, panel.x + half, panel.y + 10, panel.x + half, panel.y + panel.h - 10,
               1, t->line);
    better_add_button(s, right.x, y, "Suggest routes", COMMAND_REROUTE, 0);
    better_add_outcome(s, right, SUGGEST_ROUTES, better_route_hint(s));
}
