/* Better mappings and routes: questions to the daemon, their results, and the steps of the what-if.
 */
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/ui/ui_question.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 17, FIGURES = 128, CHANGE = 58, BETTER = 214, IDLE = 158, STEPS = 3 };

/* Steps of the what-if that are listed: the newest ones. */
static uint32_t better_steps_shown(const struct stage *s)
{
    uint32_t count = s->ui->network.what_if.count;
    return count < STEPS ? count : STEPS;
}

static double better_steps_height(const struct stage *s)
{
    uint32_t steps = better_steps_shown(s);
    return steps ? fmax(36, 18 + LINE * steps) : 0;
}

static double better_button_width(const struct stage *s, const char *label)
{
    return scene_width(s->brush.scene, TEXT_SMALL, 0, label) + 20;
}

static double better_add_button(const struct stage *s, double x, double y, const char *label,
                                enum ui_command command, uint64_t argument)
{
    const struct theme *t = s->brush.theme;
    double w = better_button_width(s, label);
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
    const char *name = better_measure_name(g->name);
    /* where a panel is narrow, the name of a figure says more than its absolute values */
    double figures =
        scene_width(s->brush.scene, TEXT_SMALL, 0, name) + CHANGE + FIGURES <= box.w ? FIGURES : 0;
    double label = fmax(box.w - CHANGE - figures, 0);
    scene_text(s->brush.scene, box.x, box.y, label, TEXT_SMALL, 0, t->second, name);
    if (figures > 0)
        scene_textf(s->brush.scene, box.x + label, box.y, figures, TEXT_SMALL,
                    TEXT_RIGHT | TEXT_FIGURES, t->text, "%s \xe2\x86\x92 %s",
                    format_si(g->before, unit).text, format_si(g->after, unit).text);
    if (fabs(share) >= 0.0005)
        snprintf(change, sizeof change, "%+.1f\xc2\xa0%%", share * 100);
    scene_text(s->brush.scene, box.x + label + figures, box.y, CHANGE, TEXT_SMALL,
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

/* The step of the what-if that an answer is, from 1; 0: none. */
static uint32_t better_step_of(const struct stage *s, enum suggestion_kind kind)
{
    const struct what_if *w = &s->ui->network.what_if;
    for (uint32_t i = w->count; i > 0; i--)
        if (w->steps[i - 1].kind == kind &&
            w->steps[i - 1].answer.version == s->model->network.suggestions[kind].version)
            return i;
    return 0;
}

/* The buttons of an answer, and what it is beside or, in a narrow panel, below them.
 * @return height */
static double better_add_result_line(const struct stage *s, struct box box,
                                     enum suggestion_kind kind)
{
    const struct suggestion *g = &s->model->network.suggestions[kind];
    uint32_t step = better_step_of(s, kind);
    int fits = g->base == what_if_state(&s->ui->network.what_if);
    char text[160];
    double x = box.x;
    if (kind == SUGGEST_ROUTES)
        snprintf(text, sizeof text, "%s of %s routes better",
                 quantity_grouped(suggestion_better_routes(g)).text,
                 quantity_grouped(g->route_count).text);
    else
        snprintf(text, sizeof text, g->optimal ? "none has less %s" : "for less %s", g->objective);
    if (step && step == s->ui->network.what_if.count)
        x += better_add_button(s, x, box.y, "Undo", COMMAND_UNDO_STEP, 0);
    else if (fits)
        x += better_add_button(s, x, box.y, "Show it", COMMAND_APPLY, kind);
    if (kind == SUGGEST_MAPPING)
        x += better_add_button(s, x, box.y, "Save", COMMAND_SAVE_MAPPING, SAVED_ANSWER);
    x += better_add_button(s, x, box.y, "Discard", COMMAND_DISCARD, kind);
    if (step)
        snprintf(text, sizeof text, "step %u, in all views now", step);
    else if (!fits)
        snprintf(text, sizeof text, "for another state: ask again");
    int below = x + 4 + scene_width(s->brush.scene, TEXT_SMALL, 0, text) > box.x + box.w;
    struct box at = {below ? box.x : x + 4, box.y + (below ? 28 : 4), 0, 0};
    scene_text(s->brush.scene, at.x, at.y, box.x + box.w - at.x, TEXT_SMALL, 0,
               step ? s->brush.theme->info : s->brush.theme->second, text);
    return below ? 28 + LINE : 28;
}

static void better_add_result(const struct stage *s, struct box box, enum suggestion_kind kind)
{
    const struct theme *t = s->brush.theme;
    const struct suggestion *g = &s->model->network.suggestions[kind];
    double y = box.y - 2, end = box.y + box.h;
    char gains[160];
    y += better_add_result_line(s, (struct box){box.x, y, box.w, 24}, kind);
    if (g->subject[0] && y + LINE <= end) {
        const struct network_gain *first = g->gain_count ? &g->gains[0] : NULL;
        char bound[64] = "";
        if (first && !g->optimal && first->bound > 0 && first->before > 0)
            snprintf(bound, sizeof bound, "; at most %+.1f\xc2\xa0%%",
                     100 * (first->bound / first->before - 1));
        scene_textf(s->brush.scene, box.x, y, box.w, TEXT_SMALL, 0, t->second, "for %s%s",
                    g->subject, bound);
        y += LINE;
    }
    /* average and largest gain of the routes that are better: Visuco, section 7.1 */
    if (kind == SUGGEST_ROUTES && y + LINE <= end && piece_route_gains(g, gains, sizeof gains)) {
        scene_text(s->brush.scene, box.x, y, box.w, TEXT_SMALL, 0, t->good, gains);
        y += LINE;
    }
    better_add_gains(s, (struct box){box.x, y, box.w, end - y}, g);
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
                    t->second, "searching, %s%s", format_share(g->progress).text,
                    g->gain_count ? "; so far:" : "");
        widget_bar(&s->brush, (struct box){box.x, box.y + 30, box.w, 6}, g->progress, t->accent);
        better_add_gains(s, (struct box){box.x, box.y + 42, box.w, box.h - 42}, g);
    } else if (g->error) {
        scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_SMALL, t->bad, 3, g->error_text);
    } else if (g->ready) {
        better_add_result(s, box, kind);
    } else {
        scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_SMALL, t->faint, 3, hint);
    }
}

/* ---- the panel ---- */

/* A choice that ends at `end`, beside what ends at x where there is room, else a row lower.
 * @return y of the row that it is in */
static double better_add_choice(const struct stage *s, struct box line, const char *const *words,
                                int count, int active, enum ui_command command)
{
    double wide = 8;
    for (int i = 0; i < count; i++)
        wide += scene_width(s->brush.scene, TEXT_SMALL, 0, words[i]) + 18;
    line.y += line.w >= wide ? 0 : 30;
    widget_choice(&s->brush, line.x + line.w, line.y, words, count, active, command);
    return line.y;
}

static void better_add_mapping(const struct stage *s, struct box box)
{
    static const char *const objectives[] = {"hop-bytes", "largest load", "inter-node"};
    static const char *const aims[] = {"less hop-bytes", "a smaller largest load of a link",
                                       "fewer bytes between nodes"};
    static const char *const who[] = {"all ranks", "selected"};
    const struct ui_network_choice *n = &s->ui->network;
    int some = s->ui->selection.kind != SELECT_NONE || flow_filter_active(&n->filter);
    double end = box.x + box.w, x = box.x;
    char text[100];
    x += better_add_button(s, x, box.y, "Suggest mapping", COMMAND_REMAP, 0);
    snprintf(text, sizeof text, "for %u s", ui_remap_seconds(s->ui));
    x += better_add_button(s, x, box.y, text, COMMAND_REMAP_TIME, 0);
    double y = box.y;
    if (some) {
        y = 30 + better_add_choice(s, (struct box){x, y, end - x, 0}, who, 2, n->only_selected,
                                   COMMAND_ONLY_SELECTED);
        x = box.x;
    }
    y = better_add_choice(s, (struct box){x, y, end - x, 0}, objectives, REMAP_OBJECTIVES,
                          (int)n->objective, COMMAND_OBJECTIVE);
    y += 34;
    snprintf(text, sizeof text, "The daemon looks for places of the ranks with %s.",
             aims[n->objective]);
    better_add_outcome(s, (struct box){box.x, y, box.w, box.y + box.h - y}, SUGGEST_MAPPING, text);
}

static void better_add_routes(const struct stage *s, struct box box)
{
    static const char *const criteria[ROUTE_CRITERIA] = {"least load", "least length"};
    static const char *const deltas[ROUTE_DELTAS] = {"no longer", "+1 link", "+2", "+3"};
    const struct ui_network_choice *n = &s->ui->network;
    char subject[128], hint[200];
    double x = box.x, end = box.x + box.w;
    x += better_add_button(s, x, box.y, "Suggest routes", COMMAND_REROUTE, 0);
    double second = better_add_choice(s, (struct box){x, box.y, end - x, 0}, criteria,
                                      ROUTE_CRITERIA, (int)n->criterion, COMMAND_REROUTE_FIRST);
    double y = second + 30;
    widget_choice(&s->brush, end, y, deltas, ROUTE_DELTAS, (int)n->delta, COMMAND_REROUTE_DELTA);
    y += 34;
    ui_question_subject(s->ui, s->model, SUGGEST_ROUTES, subject, sizeof subject);
    snprintf(hint, sizeof hint, "For %s.", subject);
    better_add_outcome(s, (struct box){box.x, y, box.w, box.y + box.h - y}, SUGGEST_ROUTES, hint);
}

/* The list of steps: the newest ones, one a line, with what they bring. */
static void better_add_steps(const struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct what_if *w = &s->ui->network.what_if;
    uint32_t shown = better_steps_shown(s);
    scene_line(s->brush.scene, box.x, box.y, box.x + box.w, box.y, 1, t->line);
    double right = box.x + box.w;
    right -= piece_compare(s, right, box.y + 6) + 6;
    if (w->seats)
        right -= better_button_width(s, "Save") + 6;
    if (w->seats)
        better_add_button(s, right, box.y + 6, "Save", COMMAND_SAVE_MAPPING, SAVED_STATE);
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t step = w->count - shown + i;
        double width = fmax(right - box.x - 10, 0);
        char text[300];
        size_t used =
            (size_t)snprintf(text, sizeof text, "step %u: %s", step + 1, w->steps[step].name);
        for (uint32_t g = 0; g < w->steps[step].answer.gain_count && g < 2; g++) {
            const struct network_gain *gain = &w->steps[step].answer.gains[g];
            double share = gain->before > 0 ? (gain->after - gain->before) / gain->before : 0;
            if (fabs(share) < 0.0005)
                continue;
            text_append(text, sizeof text, ", %s %+.1f\xc2\xa0%%", better_measure_name(gain->name),
                        share * 100);
            if (scene_width(s->brush.scene, TEXT_SMALL, 0, text) > width)
                text[used] = '\0'; /* rather no figure than one that is cut */
            used = strlen(text);
        }
        scene_text(s->brush.scene, box.x, box.y + 9 + LINE * i, width, TEXT_SMALL, 0,
                   step + 1 == w->count ? t->text : t->second, text);
    }
}

/* Height of the questions and answers; of questions alone, if nothing was asked. */
static double better_questions_height(const struct stage *s, int small)
{
    const struct suggestion *all = s->model->network.suggestions;
    for (int i = 0; i < SUGGESTIONS; i++)
        small = small && !all[i].waiting && !all[i].ready && !all[i].error;
    return small ? IDLE : BETTER;
}

double better_height(const struct stage *s, int small)
{
    return better_questions_height(s, small) + better_steps_height(s);
}

void better_layout(struct stage *s, struct box panel)
{
    piece_panel(s, panel, "better");
    double steps = better_steps_height(s), questions = panel.h - steps, high = questions - 14;
    double half = floor(panel.w * 0.54), y = panel.y + 8;
    better_add_mapping(s, (struct box){panel.x + 12, y, half - 24, high});
    scene_line(s->brush.scene, panel.x + half, panel.y + 10, panel.x + half,
               panel.y + questions - 8, 1, s->brush.theme->line);
    better_add_routes(s, (struct box){panel.x + half + 12, y, panel.w - half - 24, high});
    if (steps > 0)
        better_add_steps(s, (struct box){panel.x + 12, panel.y + questions, panel.w - 24, steps});
}
