/* Compares the followed run with another one. */
#include "viewer/model/other_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- time ---------------------------------------------------------------- */

static uint64_t other_run_window_ns(const struct model *m)
{
    const struct window_totals *newest = series_newest(&m->series);
    return newest && newest->length_ns ? newest->length_ns : 0;
}

/* Phases that do not change any more, with times since the first window. */
static struct run_phase *other_run_phases(const struct model *m, uint32_t *count)
{
    const struct commgram_rows *rows = &m->commgram.phases;
    const struct wire_phase_row *phases = rows->rows;
    const double start = (double)m->series.first * (double)other_run_window_ns(m);
    struct run_phase *out = malloc(((size_t)rows->provisional + 1) * sizeof *out);
    *count = out ? rows->provisional : 0;
    for (uint32_t i = 0; i < *count; i++) {
        const struct wire_phase_row *p = &phases[i];
        out[i] = (struct run_phase){.begin_ns = (double)p->begin_ns - start,
                                    .end_ns = (double)p->end_ns - start,
                                    .messages = p->messages + p->modelled,
                                    .bytes = p->bytes + p->modelled_bytes,
                                    .pairs = p->pairs,
                                    .ranks = p->ranks,
                                    .communities = p->communities};
    }
    return out;
}

/* Aligns both runs when they have ended, once: until then phases are still added. */
static int other_run_align(struct other_run *o, const struct model *before)
{
    uint32_t counts[2] = {0, 0};
    if (o->aligned || !model_ended(before) || !model_ended(o->model))
        return 0;
    struct run_phase *phases[2] = {other_run_phases(before, &counts[0]),
                                   other_run_phases(o->model, &counts[1])};
    int error = !phases[0] || !phases[1] ? -ENOMEM : 0;
    if (!error) {
        alignment_finish(&o->alignment);
        error = alignment_make(&o->alignment, phases[0], counts[0], phases[1], counts[1]);
    }
    free(phases[0]);
    free(phases[1]);
    o->aligned = !error;
    return error ? error : 1;
}

int other_run_windows(const struct other_run *o, const struct model *before, uint64_t *first,
                      uint64_t *last)
{
    const uint64_t lengths[2] = {other_run_window_ns(before), other_run_window_ns(o->model)};
    const struct series *a = &before->series, *b = &o->model->series;
    if (!lengths[0] || !lengths[1] || *first > *last)
        return 0;
    /* The end is that of what is before it: another phase may begin there. */
    const double from_ns = ((double)*first - (double)a->first) * (double)lengths[0],
                 to_ns = ((double)*last + 1 - (double)a->first) * (double)lengths[0];
    const double from = alignment_time(&o->alignment, from_ns),
                 to = alignment_time(&o->alignment, nextafter(to_ns, 0));
    const double begin = floor(from / (double)lengths[1]), end = ceil(to / (double)lengths[1]);
    if (!(end > 0) || !(begin < (double)b->count))
        return 0;
    *first = b->first + (begin > 0 ? (uint64_t)begin : 0);
    *last = b->first + (end < (double)b->count ? (uint64_t)end : b->count) - 1;
    return *first <= *last;
}

/* ---- network ------------------------------------------------------------- */

static int other_run_compare_networks(struct other_run *o, const struct model *before)
{
    const struct network *a = &before->network, *b = &o->model->network;
    if (o->networks[0] == a->version && o->networks[1] == b->version)
        return 0;
    o->networks[0] = a->version;
    o->networks[1] = b->version;
    o->same_network = network_is_same(a->topology, b->topology);
    return 1;
}

/* ---- figures ------------------------------------------------------------- */

/* Seconds of a window in which the ranks were absent, as those before the job began; the mean. */
static double other_run_absence(const struct model *m, uint64_t window)
{
    const struct window_totals *w = series_at(&m->series, window);
    return w && w->ranks ? (double)w->absent_ns / (double)w->ranks / 1e9 : 0;
}

/* Seconds until half of the messages were sent; NaN: there are none. */
static double other_run_half(const struct model *m)
{
    const double absent = other_run_absence(m, m->series.first);
    double all = 0, sent = 0;
    for (uint64_t i = 0; i < m->series.count; i++)
        all += (double)m->series.windows[i].sent;
    for (uint64_t i = 0; i < m->series.count; i++) {
        const struct window_totals *w = &m->series.windows[i];
        const double length = (double)w->length_ns / 1e9;
        if (w->present && w->sent && sent + (double)w->sent >= all / 2)
            return fmax(((double)i + (all / 2 - sent) / (double)w->sent) * length - absent, 0);
        sent += (double)w->sent;
    }
    return NAN;
}

static double other_run_latency(const struct model *m, enum series_scope scope, uint64_t first,
                                uint64_t last)
{
    struct latency_point point;
    const struct latency_series *series = latency_find(&m->latency, scope, 0);
    return series && latency_between(series, first, last, &point) ? point.reference : NAN;
}

static void other_run_figures_of(const struct model *m, uint64_t first, uint64_t last, int which,
                                 double out[OTHER_FIGURES][2])
{
    double sent = 0, bytes = 0, mpi = 0, time = 0;
    const double seconds =
        ((double)last + 1 - (double)first) * (double)other_run_window_ns(m) / 1e9 -
        other_run_absence(m, first) - (last > first ? other_run_absence(m, last) : 0);
    for (uint64_t w = first; w <= last; w++) {
        const struct window_totals *t = series_at(&m->series, w);
        if (!t)
            continue;
        sent += (double)t->sent;
        bytes += (double)t->sent_bytes;
        mpi += (double)model_mpi_ns(t->class_ns);
        time += model_time_of_ranks(t);
    }
    out[OTHER_SECONDS][which] = seconds;
    out[OTHER_HALF][which] = other_run_half(m);
    out[OTHER_MESSAGES][which] = seconds > 0 ? sent / seconds : NAN;
    out[OTHER_BYTES][which] = seconds > 0 ? bytes / seconds : NAN;
    out[OTHER_MPI][which] = time > 0 ? mpi / time : NAN;
    out[OTHER_INTRA][which] = other_run_latency(m, SERIES_INTRA, first, last);
    out[OTHER_INTER][which] = other_run_latency(m, SERIES_INTER, first, last);
}

void other_run_figures(const struct other_run *o, const struct model *before, enum range_kind kind,
                       uint64_t first, uint64_t last, double out[OTHER_FIGURES][2])
{
    const struct series *a = &before->series, *b = &o->model->series;
    for (int i = 0; i < OTHER_FIGURES; i++)
        out[i][0] = out[i][1] = NAN;
    if (kind == RANGE_START && a->count) {
        first = a->first;
        last = a->first + a->count - 1;
    }
    if (!a->count || !b->count)
        return;
    /* Windows before the first one known have no figures. */
    first = first > a->first ? first : a->first;
    last = last < a->first + a->count ? last : a->first + a->count - 1;
    if (first > last)
        return;
    other_run_figures_of(before, first, last, 0, out);
    if (kind == RANGE_START) {
        first = b->first;
        last = b->first + b->count - 1;
    } else if (!other_run_windows(o, before, &first, &last)) {
        return;
    }
    other_run_figures_of(o->model, first, last, 1, out);
}

/* ---- all ----------------------------------------------------------------- */

int other_run_update(struct other_run *o, const struct model *before, enum range_kind kind,
                     uint64_t first, uint64_t last)
{
    int aligned = other_run_align(o, before);
    int networks = other_run_compare_networks(o, before);
    if (kind == RANGE_SPAN && !other_run_windows(o, before, &first, &last))
        kind = RANGE_NONE;
    int figures = range_update(&o->range, o->model, kind, first, last);
    if (aligned < 0 || figures < 0)
        return -ENOMEM;
    o->version += aligned || networks || figures;
    return aligned || networks || figures;
}

uint64_t other_run_pair(const struct other_run *o, uint32_t source, uint32_t destination,
                        enum pair_column column)
{
    uint32_t n = model_pair_find(o->model, source, destination);
    return n < o->range.pairs.count ? o->range.pairs.figures[(size_t)n * PAIR_COLUMNS + column] : 0;
}

char *other_run_text(const struct other_run *o, char *out, size_t capacity)
{
    if (o->alignment.by_phase)
        snprintf(out, capacity, "aligned by phase, %u of %u", o->alignment.matched,
                 o->alignment.count);
    else
        snprintf(out, capacity, "aligned by time since the start");
    return out;
}

void other_run_finish(struct other_run *o)
{
    range_finish(&o->range);
    alignment_finish(&o->alignment);
}
