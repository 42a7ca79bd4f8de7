/* Both runs of a comparison in the context column: figures before and after. */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/frame/frame.h"

#include <math.h>

enum { LINE = 19, HEAD = 44, FOOT = 12, LOADS = 4, NETWORK_LINES = 3 };

static const char two_networks[] = "Two networks, whose nodes are not the same: one beside the "
                                   "other, without a difference. A what-if is of the first.";

/* Of times, latencies and loads less is better; of rates more is. */
static int runs_is_rate(int figure)
{
    return figure == OTHER_MESSAGES || figure == OTHER_BYTES;
}

static struct quantity runs_format(int figure, double value)
{
    if (!isfinite(value))
        return quantity_print("-");
    switch (figure) {
    case OTHER_SECONDS:
    case OTHER_HALF:
        return quantity_duration(value * 1e9);
    case OTHER_MESSAGES:
        return format_si(value, "/s");
    case OTHER_BYTES:
        return format_si(value, "B/s");
    case OTHER_MPI:
        return format_share(value);
    default:
        return format_ratio(value);
    }
}

static void runs_add_line(const struct stage *s, struct box line, const char *name,
                          const struct quantity values[2], double ratio, int rate)
{
    const struct theme *t = s->brush.theme;
    const int known = isfinite(ratio) && fabs(ratio - 1) >= 0.0005, tenths = ratio < 10.9995;
    const double w = line.w;
    scene_text(s->brush.scene, line.x, line.y, w * 0.32, TEXT_SMALL, 0, t->second, name);
    scene_text(s->brush.scene, line.x + w * 0.32, line.y, w * 0.24, TEXT_SMALL,
               TEXT_RIGHT | TEXT_FIGURES, t->text, values[0].text);
    scene_text(s->brush.scene, line.x + w * 0.56, line.y, w * 0.24, TEXT_SMALL,
               TEXT_RIGHT | TEXT_FIGURES, t->text, values[1].text);
    if (known)
        scene_textf(s->brush.scene, line.x + w * 0.80, line.y, w * 0.20, TEXT_SMALL,
                    TEXT_RIGHT | TEXT_FIGURES, (ratio < 1) != rate ? t->info : t->bad,
                    "%+.*f\xc2\xa0%%", tenths, (ratio - 1) * 100);
}

/* Load of the links: known while a view of the network is in sight. Totals of two networks are
 * comparable by node only. @return y below the last line */
static double runs_add_loads(const struct stage *s, const struct other_run *second, struct box line)
{
    static const char *const names[2][LOADS] = {
        {"bytes", "hop-bytes", "fullest link", "mean link"},
        {"bytes/node", "hop-bytes/node", "fullest link", "mean link"}};
    const struct flows *f[2] = {piece_reality(s), second ? &second->range.flows : &s->range->flows};
    const double nodes[2] = {second ? fmax(s->model->host_count, 1) : 1,
                             second ? fmax(second->model->host_count, 1) : 1};
    for (int i = 0; i < LOADS; i++) {
        double values[2];
        for (int k = 0; k < 2; k++)
            values[k] = i == 0   ? (double)f[k]->bytes / nodes[k]
                        : i == 1 ? f[k]->hop_bytes / nodes[k]
                        : i == 2 ? (double)f[k]->largest
                                 : f[k]->mean;
        const struct quantity texts[2] = {format_si(values[0], "B"), format_si(values[1], "B")};
        runs_add_line(s, line, names[second != NULL][i], texts,
                      values[0] > 0 ? values[1] / values[0] : NAN, 0);
        line.y += LINE;
    }
    return line.y;
}

double context_runs(struct stage *s, struct box box)
{
    static const char *const names[OTHER_FIGURES] = {
        "time", "half sent after", "messages", "bytes", "in MPI", "intra-node", "inter-node"};
    const struct other_run *other = s->ui->network.other;
    const struct theme *t = s->brush.theme;
    double figures[OTHER_FIGURES][2];
    char text[80];
    uint64_t first = 0, last = 0;
    if (!other)
        return 0;
    ui_windows(s->ui, s->model, &first, &last);
    other_run_figures(other, s->model, s->range->kind, first, last, figures);
    const struct other_run *second = ui_second_network(s->ui);
    const int loads = second || (s->ui->network.applied & FLOWS_OTHER_RUN) != 0;
    scene_text(s->brush.scene, box.x + 2, box.y, box.w - 4, TEXT_TITLE, 0, t->text,
               "Before, after");
    scene_textf(s->brush.scene, box.x + 2, box.y + 22, box.w - 4, TEXT_SMALL, 0, t->second,
                "%.60s, %.60s; %s", other->names[0], other->names[1],
                other_run_text(other, text, sizeof text));
    struct box line = {box.x + 2, box.y + HEAD, box.w - 6, LINE};
    for (int i = 0; i < OTHER_FIGURES; i++, line.y += LINE) {
        const struct quantity values[2] = {runs_format(i, figures[i][0]),
                                           runs_format(i, figures[i][1])};
        runs_add_line(s, line, names[i], values,
                      figures[i][0] > 0 ? figures[i][1] / figures[i][0] : NAN, runs_is_rate(i));
    }
    if (!other->same_network && s->ui->view >= VIEW_LINKS)
        line.y += 4 + scene_paragraph(s->brush.scene, line.x, line.y, line.w, TEXT_SMALL, t->second,
                                      NETWORK_LINES, two_networks);
    if (loads)
        line.y = runs_add_loads(s, second, line);
    return line.y + FOOT - box.y;
}
