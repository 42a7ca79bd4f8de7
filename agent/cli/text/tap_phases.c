/* Topics "phases" and "curve" and the CommGram picture as text. */
#include "agent/cli/text/text.h"

#include "holter/size_class.h"
#include "proto/quantity.h"

#include <inttypes.h>

static void span_cells(FILE *out, uint64_t begin_ns, uint64_t end_ns)
{
    tap_cell(out, 14, quantity_clock(begin_ns).text);
    tap_cell(out, -10, quantity_duration(end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0).text);
}

/* @param is_known  whether it resembles any phase */
static void tap_phases_print_pattern(FILE *out, int returned, uint64_t resembles, int is_known)
{
    if (returned)
        fprintf(out, "  that of phase %" PRIu64, resembles);
    else if (is_known)
        fprintf(out, "  new, most like phase %" PRIu64, resembles);
    else
        fputs("  new", out);
}

void tap_phases(FILE *out, const struct wire_phases *m)
{
    tap_head(out, "phases", m->job);
    fprintf(out, " window %" PRIu64, m->window);
    if (m->gap_ns)
        fprintf(out, ", ended by pauses of %s", quantity_duration((double)m->gap_ns).text);
    fputs(m->modelled ? ", with collectives\n" : "\n", out);
    if (m->phases_count)
        fputs("     id  begin             length  messages      bytes  modelled     pairs   ranks"
              "  communities  modularity    folded\n",
              out);
    for (uint64_t i = 0; i < m->phases_count; i++) {
        const struct wire_phase_row *p = &m->phases[i];
        fprintf(out, "%7" PRIu64 "  ", p->id);
        span_cells(out, p->begin_ns, p->end_ns);
        tap_count(out, 10, p->messages);
        tap_bytes(out, 11, p->bytes);
        tap_count(out, 10, p->modelled);
        tap_count(out, 10, p->pairs);
        tap_count(out, 8, p->ranks);
        tap_count(out, 13, p->communities);
        tap_real(out, 12, 3, "", p->modularity);
        tap_count(out, 10, p->folded);
        fputs(p->open ? "  open\n" : "\n", out);
    }
}

void tap_curve(FILE *out, const struct wire_curve *m)
{
    tap_head(out, "curve", m->job);
    fprintf(out, " window %" PRIu64, m->window);
    fputc('\n', out);
    if (m->points_count)
        fputs("  phase  begin             length    height  difference  communities  pattern\n",
              out);
    for (uint64_t i = 0; i < m->points_count; i++) {
        const struct wire_curve_point_row *p = &m->points[i];
        fprintf(out, "%7" PRIu64 "  ", p->phase);
        span_cells(out, p->begin_ns, p->end_ns);
        tap_real(out, 10, 4, "", p->height);
        tap_real(out, 12, 4, "", p->difference);
        tap_count(out, 13, p->communities);
        tap_phases_print_pattern(out, p->returned != 0, p->resembles, p->resembles != 0);
        fputs(p->provisional ? ", still open\n" : "\n", out);
    }
}

/* ---- the picture --------------------------------------------------------------- */

static void print_columns(FILE *out, const struct wire_commgram *m)
{
    if (m->columns_count)
        fputs("  phase  begin             length  messages      bytes  modelled    folded   ranks"
              "    bars  communities  modularity    height  pattern\n",
              out);
    for (uint64_t i = 0; i < m->columns_count; i++) {
        const struct wire_column_row *c = &m->columns[i];
        fprintf(out, "%7" PRIu64 "  ", i);
        span_cells(out, c->begin_ns, c->end_ns);
        tap_count(out, 10, c->messages);
        tap_bytes(out, 11, c->bytes);
        tap_count(out, 10, c->modelled);
        tap_count(out, 10, c->folded);
        tap_count(out, 8, c->ranks);
        tap_count(out, 8, c->bars);
        tap_count(out, 13, c->communities);
        tap_real(out, 12, 3, "", c->modularity);
        tap_real(out, 10, 4, "", c->height);
        tap_phases_print_pattern(out, c->returned != 0, c->resembles - 1, c->resembles != 0);
        fputs(c->open ? ", still open\n" : "\n", out);
    }
}

/* Runs of ranks are in the order of bars. */
static void print_bars(FILE *out, const struct wire_commgram *m)
{
    uint64_t run = 0;
    for (uint64_t i = 0; i < m->bars_count; i++) {
        const struct wire_bar_row *b = &m->bars[i];
        fprintf(out, "  column %" PRIu64 " bar %" PRIu64 " community %" PRIu64 ": ", b->column,
                b->bar, b->community);
        for (uint64_t n = 0; run < m->members_count; run++, n++) {
            const struct wire_bar_ranks_row *r = &m->members[run];
            if (r->column != b->column || r->bar != b->bar)
                break;
            fprintf(out, "%s%" PRIu64, n ? "," : "", r->rank);
            if (r->count > 1)
                fprintf(out, "-%" PRIu64, r->rank + r->count - 1);
        }
        fputc('\n', out);
    }
}

void tap_commgram(FILE *out, const struct wire_commgram *m)
{
    fputs("commgram ", out);
    tap_cell(out, 0, m->job);
    fprintf(out, " from %s, %s long, at %s and %" PRIu64 " communit%s",
            quantity_clock(m->from_ns).text,
            quantity_duration(m->to_ns > m->from_ns ? (double)(m->to_ns - m->from_ns) : 0).text,
            quantity_things(m->phases, "phase").text, m->communities,
            m->communities == 1 ? "y" : "ies");
    if (m->resolved && m->resolved < m->phases)
        fprintf(out, ", kept in %" PRIu64 " parts", m->resolved);
    fputc('\n', out);
    if (!m->columns_count && !m->bars_count && !m->members_count && !m->ribbons_count && !m->more)
        fputs("  no messages between ranks are known of this time\n", out);
    print_columns(out, m);
    print_bars(out, m);
    for (uint64_t i = 0; i < m->ribbons_count; i++) {
        const struct wire_ribbon_row *r = &m->ribbons[i];
        fprintf(out, "  phase %" PRIu64 " from bar %" PRIu64 " to %" PRIu64 ":", r->column, r->from,
                r->to);
        tap_count(out, 10, r->messages);
        tap_bytes(out, 11, r->bytes);
        fprintf(out, " in messages of ");
        tap_bytes(out, 0, size_class_floor((uint16_t)r->size_class));
        fputs(r->modelled ? ", of collectives\n" : "\n", out);
    }
}
