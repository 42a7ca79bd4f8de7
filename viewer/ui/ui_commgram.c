/* Choices about the CommGram: detail, path, and the request that follows from them. */
#include "viewer/ui/ui.h"

#include "daemon/analysis/tables/rank_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t minimum_span = 1000000; /* ns; shorter phases are not opened */

int64_t ui_time_of(const struct model *m, double seconds)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    int64_t start = m->start_ns ? (int64_t)m->start_ns : begin;
    double ns = fmin(fmax(seconds * 1e9, -9e17), 9e17);
    return (signbit(seconds) ? end : start) + (int64_t)ns;
}

void ui_show_span(struct ui *ui, const struct model *m, int64_t begin, int64_t end)
{
    int64_t oldest, newest;
    ui_whole_time(m, &oldest, &newest);
    if (newest <= oldest)
        return;
    begin = begin < oldest ? oldest : begin > newest - minimum_span ? newest - minimum_span : begin;
    end = end > newest ? newest : end < begin + minimum_span ? begin + minimum_span : end;
    ui->time.follow = ui->time.moving = 0;
    ui->time.span_ns = end - begin;
    ui->time.end_ns = end;
}

/* ---- the path ------------------------------------------------------------ */

void ui_open(struct ui *ui, const struct model *m, int64_t begin, int64_t end, const char *ranks)
{
    ui_remember(ui);
    if (ui->commgram.level < UI_LEVELS) {
        struct ui_level *l = &ui->commgram.levels[ui->commgram.level++];
        *l = (struct ui_level){ui->time.follow, ui->time.span_ns, ui->time.end_ns, ""};
        memcpy(l->opened, ui->commgram.opened, sizeof l->opened);
    }
    if (begin < end)
        ui_show_span(ui, m, begin, end + 1); /* the last burst belongs to it */
    if (ranks)
        snprintf(ui->commgram.opened, sizeof ui->commgram.opened, "%s", ranks);
}

void ui_open_bar(struct ui *ui, const struct model *m, uint64_t column, uint64_t bar)
{
    const struct commgram_picture *p = &m->commgram.now;
    uint32_t at = commgram_bar(p, column, bar);
    char ranks[COMMGRAM_LIST];
    if (at == COMMGRAM_NONE || p->first_member[at] == p->first_member[at + 1] ||
        commgram_bar_ranks(p, at, 1, 0, ranks, sizeof ranks))
        return; /* more ranks than a request can name */
    ui_open(ui, m, 0, 0, ranks);
    ui->selection = (struct selection){0};
}

void ui_close_to(struct ui *ui, int level)
{
    if (level < 0 || level >= ui->commgram.level)
        return;
    const struct ui_level *l = &ui->commgram.levels[level];
    ui->commgram.level = level;
    ui->time.follow = l->follow;
    ui->time.span_ns = l->span_ns;
    ui->time.end_ns = l->end_ns;
    memcpy(ui->commgram.opened, l->opened, sizeof ui->commgram.opened);
}

/* ---- mouse --------------------------------------------------------------- */

/* A click on a bar selects its community, a double click opens its ranks. */
void ui_click_bar(struct ui *ui, const struct model *m, const struct scene_hit *hit, int clicks)
{
    const struct commgram_picture *p = &m->commgram.now;
    uint32_t bar = commgram_bar(p, hit->a, hit->b);
    if (bar == COMMGRAM_NONE)
        return;
    if (clicks > 1)
        ui_open_bar(ui, m, hit->a, hit->b);
    else
        ui_select(ui, (struct selection){SELECT_COMMUNITY, p->bars[bar].community, hit->a});
}

/* Moves the nearer end of the range of sizes to the position of the mouse. */
void ui_move_size(struct ui *ui, const struct scene_hit *hit)
{
    double at = fmin(fmax(scene_hit_x(hit, ui->mouse.x), hit->x0), hit->x1);
    if (ui->commgram.size_handle)
        ui->commgram.size_high = at >= hit->x1 ? UI_SIZE_MAXIMUM : fmax(at, ui->commgram.size_low);
    else
        ui->commgram.size_low = at <= hit->x0 ? UI_SIZE_MINIMUM : fmin(at, ui->commgram.size_high);
}

/* Shows the marked span of time, which in the CommGram is a level of its path: the phases that it
 * touches, or in a plot over time exactly that span. */
void ui_open_marked(struct ui *ui, const struct model *m, const struct scene *scene,
                    const struct scene_hit *pressed)
{
    double x0 = fmin(ui->mouse.press_x, ui->mouse.x), x1 = fmax(ui->mouse.press_x, ui->mouse.x);
    if (scene_hit_is_timed(pressed)) {
        int64_t first, last;
        ui_visible(ui, m, &first, &last);
        first = (int64_t)fmax(scene_hit_x(pressed, x0), (double)first);
        last = (int64_t)fmin(scene_hit_x(pressed, x1), (double)last);
        if (ui->view == VIEW_COMMGRAM) {
            ui_open(ui, m, first, last, NULL);
        } else if (first < last) {
            ui_remember(ui);
            ui_show_span(ui, m, first, last);
        }
        return;
    }
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct scene_hit *h = &scene->hits[i];
        if (h->kind != HIT_COLUMN || h->box.x >= x1 || h->box.x + h->box.w <= x0)
            continue;
        begin = h->a < begin ? h->a : begin;
        end = h->b > end ? h->b : end;
    }
    if (begin < end)
        ui_open(ui, m, (int64_t)begin, (int64_t)end, NULL);
}

/* ---- commands ------------------------------------------------------------ */

/* A quarter more or less, at least one. */
static uint64_t ui_commgram_step(uint64_t value, int more, uint64_t maximum)
{
    uint64_t quarter = value / (more ? 4 : 5);
    quarter = quarter ? quarter : 1;
    if (more)
        return value + quarter > maximum ? maximum : value + quarter;
    return value > quarter ? value - quarter : 1;
}

/* From the communities that are found, the most of a phase in the picture, when no number is
 * chosen; fewer than one are those that are found again. */
static uint64_t ui_commgram_step_communities(const struct ui *ui, const struct model *m, int more)
{
    const uint64_t ranks = m->world > m->rank_count ? m->world : m->rank_count;
    uint64_t now = ui->commgram.communities;
    if (now == 1 && !more)
        return 0;
    for (size_t i = 0; ui->commgram.communities == 0 && i < m->commgram.now.column_count; i++)
        now = m->commgram.now.columns[i].communities > now ? m->commgram.now.columns[i].communities
                                                           : now;
    return ui_commgram_step(now ? now : 1, more, ranks ? ranks : 1);
}

int ui_commgram_command(struct ui *ui, const struct model *m, enum ui_command command,
                        uint64_t argument)
{
    int64_t begin, end;
    switch (command) {
    case COMMAND_PHASES:
        ui->commgram.phases =
            ui_commgram_step(ui->commgram.phases, argument != 0, UI_MAXIMUM_PHASES);
        break;
    case COMMAND_COMMUNITIES:
        ui->commgram.communities = ui_commgram_step_communities(ui, m, argument != 0);
        break;
    case COMMAND_SIZES_ALL:
        ui->commgram.size_low = UI_SIZE_MINIMUM;
        ui->commgram.size_high = UI_SIZE_MAXIMUM;
        break;
    case COMMAND_LEVEL:
        if (argument < UI_LEVELS)
            ui_close_to(ui, (int)argument);
        break;
    case COMMAND_TIME_ALL:
        ui_whole_time(m, &begin, &end);
        if (ui->time.follow)
            ui->time.span_ns = end - begin > minimum_span ? end - begin : ui->time.span_ns;
        else
            ui_show_span(ui, m, begin, end);
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

/* ---- the question -------------------------------------------------------- */

/* The selected ranks; of a job by groups the first rank of each group, which stands for it.
 * @return 0: they do not fit */
static int ui_commgram_marked(const struct ui *ui, const struct model *m, char *out,
                              size_t capacity)
{
    struct rank_runs runs;
    uint64_t added = UINT64_MAX;
    rank_runs_begin(&runs, out, capacity, "");
    for (uint32_t r = 0; r < m->rank_count; r++) {
        const uint64_t row = model_row_of(m, r);
        if (row == added || !ui_marks_rank(ui, m, r))
            continue;
        rank_runs_add(&runs, row, row);
        added = row;
    }
    return rank_runs_end(&runs);
}

int ui_commgram_request(const struct ui *ui, const struct model *m, struct commgram_request *out)
{
    int64_t begin, end;
    int fits = 1;
    if (!m->job[0] || !ui_settled_time(ui, m, &begin, &end))
        return 0;
    *out = (struct commgram_request){.from_ns = (uint64_t)begin,
                                     .to_ns = (uint64_t)end,
                                     .phases = ui->commgram.phases,
                                     .communities = ui->commgram.communities,
                                     .modelled = !ui->commgram.unmodelled};
    switch (ui->selection.kind) {
    case SELECT_RANK:
        snprintf(out->ranks, sizeof out->ranks, "%" PRIu64, model_row_of(m, ui->selection.a));
        break;
    case SELECT_PAIR:
        snprintf(out->ranks, sizeof out->ranks, "%" PRIu64, model_row_of(m, ui->selection.a));
        if (ui->selection.b < MODEL_RANKS)
            snprintf(out->ranks, sizeof out->ranks, "%" PRIu64 ",%" PRIu64,
                     model_row_of(m, ui->selection.a), model_row_of(m, ui->selection.b));
        break;
    case SELECT_NODE:
    case SELECT_REGION:
    case SELECT_ALERT:
        fits = ui_commgram_marked(ui, m, out->ranks, sizeof out->ranks);
        break;
    default:
        break;
    }
    if (!fits)
        out->ranks[0] = 0;
    if (!out->ranks[0])
        memcpy(out->ranks, ui->commgram.opened, sizeof out->ranks);
    return fits ? 1 : 2;
}
