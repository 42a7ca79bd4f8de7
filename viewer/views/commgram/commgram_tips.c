/* Tooltips of the CommGram: phases, bars, ribbons, points of the curve. */
#include "viewer/views/commgram/view_commgram_parts.h"

#include "daemon/analysis/tables/rank_list.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char arrow[] = "\xe2\x86\x92";

struct quantity commgram_format_size(double logarithm)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = logarithm < 10 ? 0 : (int)fmin(floor(logarithm / 10), 6);
    double value = exp2(logarithm - 10 * unit);
    return quantity_print(value < 9.95 && value != floor(value) ? "%.1f %s" : "%.0f %s", value,
                          units[unit]);
}

char *commgram_format_asked(const struct model *m, const char *ranks, char *out, size_t capacity)
{
    uint32_t *list = NULL;
    size_t count = 0;
    struct rank_runs runs;
    snprintf(out, capacity, "%s", ranks);
    if (m->group <= 1 || rank_list_parse(&list, &count, ranks, MODEL_RANKS) != 0)
        return out;
    rank_runs_begin(&runs, out, capacity, "\xe2\x80\xa6");
    for (size_t i = 0; i < count; i++)
        if (i == 0 || model_row_of(m, list[i]) != model_row_of(m, list[i - 1]))
            rank_runs_add_row(&runs, model_row_of(m, list[i]), m->group, m->world);
    rank_runs_end(&runs);
    free(list);
    return out;
}

static void commgram_tips_add_span_line(struct stage *s, uint64_t begin, uint64_t end)
{
    tooltip_add(&s->tip, 0, "%s to %s, %s", format_clock((int64_t)begin, 1).text,
                format_clock((int64_t)end, 1).text, format_duration((double)(end - begin)).text);
}

/* What the curve says of a phase. */
static void commgram_tips_add_pattern_lines(struct stage *s, int returned, uint64_t resembles,
                                            double resemblance, double difference)
{
    if (returned && resembles)
        tooltip_add(&s->tip, s->brush.theme->accent, "returns to the pattern of phase %" PRIu64,
                    resembles);
    else if (resembles)
        tooltip_add(&s->tip, 0, "most like phase %" PRIu64 ", differs by %s", resembles,
                    format_share(1 - resemblance).text);
    if (difference > 0)
        tooltip_add(&s->tip, 0, "differs from the phase before by %s",
                    format_share(difference).text);
}

static void commgram_tips_add_communities_line(struct stage *s, uint64_t communities,
                                               uint64_t ranks, double modularity)
{
    struct quantity how = quantity_print(isnan(modularity) ? "" : ", modularity %.2f", modularity);
    tooltip_add(&s->tip, 0, "%s %s%s in %s %s%s", quantity_grouped(ranks).text,
                s->model->group > 1 ? "group" : "rank", ranks == 1 ? "" : "s",
                quantity_grouped(communities).text, communities == 1 ? "community" : "communities",
                how.text);
}

void commgram_tip_column(struct stage *s, uint32_t column)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    if (column >= p->column_count)
        return;
    const struct wire_column_row *c = &p->columns[column];
    tooltip_add(&s->tip, 0, "phase %u of %u%s", column + 1, p->column_count,
                c->open ? ", still open" : "");
    commgram_tips_add_span_line(s, c->begin_ns, c->end_ns);
    commgram_tips_add_communities_line(s, c->communities, c->ranks, c->modularity);
    if (c->bars != c->communities)
        tooltip_add(&s->tip, s->brush.theme->faint, "drawn as %s bar%s",
                    quantity_grouped(c->bars).text, c->bars == 1 ? "" : "s");
    piece_traffic_tip(s, "", c->messages, c->bytes);
    if (c->modelled)
        tooltip_add(&s->tip, 0, "of these %s (%s) model collectives",
                    quantity_grouped(c->modelled).text,
                    format_si((double)c->modelled_bytes, "B").text);
    if (c->folded)
        tooltip_add(&s->tip, s->brush.theme->warn, "%s more (%s) whose pair is not known",
                    quantity_grouped(c->folded).text, format_si((double)c->folded_bytes, "B").text);
    commgram_tips_add_pattern_lines(s, c->returned != 0, c->resembles, c->resemblance,
                                    column ? c->difference : 0);
    tooltip_add(&s->tip, s->brush.theme->faint, "double click: open this phase");
}

/* "rank 7", "community 3". */
static char *commgram_tips_format_bar_name(const struct model *m, uint64_t bar, char *out,
                                           size_t capacity)
{
    const struct commgram_picture *p = &m->commgram.now;
    const struct wire_bar_row *b = &p->bars[bar];
    if (b->ranks == 1 && p->first_member[bar] < p->first_member[bar + 1])
        snprintf(out, capacity, "%s", piece_rank(m, p->members[p->first_member[bar]].rank).text);
    else
        snprintf(out, capacity, "community %" PRIu64, b->community);
    return out;
}

void commgram_tip_bar(struct stage *s, uint32_t bar)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct wire_bar_row *b = &p->bars[bar];
    char ranks[96];
    commgram_tips_format_bar_name(s->model, bar, ranks, sizeof ranks);
    uint32_t phase = b->column < p->column_count ? (uint32_t)b->column : p->column_count - 1;
    if (b->ranks == 1)
        tooltip_add(&s->tip, 0, "%s, phase %u", ranks, phase + 1);
    else
        tooltip_add(&s->tip, 0, "%s, phase %u: %s %s", ranks, phase + 1,
                    quantity_grouped(b->ranks).text, s->model->group > 1 ? "groups" : "ranks");
    commgram_bar_ranks(p, bar, s->model->group, s->model->world, ranks, sizeof ranks);
    if (ranks[0] && b->ranks > 1)
        tooltip_add(&s->tip, 0, "ranks %s", ranks);
    piece_traffic_tip(s, "sent ", b->sent, b->sent_bytes);
    piece_traffic_tip(s, "received ", b->received, b->received_bytes);
    tooltip_add(&s->tip, s->brush.theme->faint, "click: only its ribbons; double: only its ranks");
}

void commgram_tip_ribbon(struct stage *s, uint32_t ribbon, uint32_t others)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct wire_ribbon_row *r = &p->ribbons[ribbon];
    char from[96], to[96];
    commgram_tips_format_bar_name(s->model, r->from, from, sizeof from);
    commgram_tips_format_bar_name(s->model, r->to, to, sizeof to);
    tooltip_add(&s->tip, 0, "%s %s %s, phase %u", from, arrow, to, (unsigned)r->column + 1);
    if (p->bars[r->from].ranks > 1 || p->bars[r->to].ranks > 1) {
        commgram_bar_ranks(p, (uint32_t)r->from, s->model->group, s->model->world, from, 44);
        commgram_bar_ranks(p, (uint32_t)r->to, s->model->group, s->model->world, to, 44);
        if (from[0] && to[0])
            tooltip_add(&s->tip, 0, "ranks %s %s %s", from, arrow, to);
    }
    piece_traffic_tip(s, "", r->messages, r->bytes);
    tooltip_add(&s->tip, 0, "%s per message",
                format_si((double)r->bytes / (double)r->messages, "B").text);
    if (r->modelled)
        tooltip_add(&s->tip, 0, "they model collectives, by their algorithms");
    if (others)
        tooltip_add(&s->tip, s->brush.theme->faint, "%s more at this point",
                    quantity_grouped(others).text);
}

void commgram_tip_point(struct stage *s, uint32_t point)
{
    const struct commgram *g = &s->model->commgram;
    const struct wire_curve_point_row *c = commgram_point(g, point);
    const struct wire_phase_row *p = commgram_phase_find(g, c->phase);
    tooltip_add(&s->tip, 0, "phase %" PRIu64 "%s", c->phase,
                c->provisional ? ", still open: may change" : "");
    commgram_tips_add_span_line(s, c->begin_ns, c->end_ns);
    if (p) {
        commgram_tips_add_communities_line(s, p->communities, p->ranks, p->modularity);
        piece_traffic_tip(s, "", p->messages, p->bytes);
        if (p->modelled)
            tooltip_add(&s->tip, 0, "and %s (%s) that model collectives",
                        quantity_grouped(p->modelled).text,
                        format_si((double)p->modelled_bytes, "B").text);
        if (p->folded)
            tooltip_add(&s->tip, s->brush.theme->warn, "%s messages whose pair is not known",
                        quantity_grouped(p->folded).text);
    }
    commgram_tips_add_pattern_lines(s, c->returned != 0, c->resembles, c->resemblance,
                                    c->difference);
}
