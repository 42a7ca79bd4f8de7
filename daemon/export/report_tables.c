/* The tables of a report: links, captures, pairs, calls, ranks. */
#include "daemon/export/report_chart.h"
#include "daemon/export/report_parts.h"
#include "holter/call.h"
#include "holter/order.h"
#include "holter/waiting.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SHOWN 20u        /* maximum rows of a table */
#define MATRIX_CELLS 64u /* cells on a side; with more ranks several share a cell */
#define MATRIX_SIDE 512.0
#define MATRIX_LABELS 8u
#define PALEST 0.2 /* opacity of the smallest amounts */

void page_begin_table(FILE *out, const char *label)
{
    fprintf(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: %s\"><table>\n",
        label);
}

void page_end_table(FILE *out)
{
    fputs("</table></div>\n", out);
}

static void report_tables_put_text_cell(FILE *out, const char *text)
{
    html_put(out, "<td>", text, "</td>");
}

static void report_tables_put_number_cell(FILE *out, const char *text)
{
    fprintf(out, "<td class=\"n\">%s</td>", text);
}

/* A number that is not finite has an empty cell. */
static void report_tables_put_real_cell(FILE *out, double number, int decimals, const char *unit)
{
    char text[60] = "";
    if (isfinite(number))
        snprintf(text, sizeof(text), "%.*f%s", decimals, number, unit);
    report_tables_put_number_cell(out, text);
}

/* ---- links --------------------------------------------------------------------------- */

static void report_tables_put_link(FILE *out, const struct report_link *l)
{
    fputs("<tr>", out);
    report_tables_put_text_cell(out, l->name);
    report_tables_put_real_cell(out, l->hot, 0, "");
    report_tables_put_real_cell(out, l->congested, 0, "");
    report_tables_put_number_cell(out, quantity_bytes(l->most_bytes).text);
    report_tables_put_real_cell(out, 100 * l->share, 0, " %");
    report_tables_put_real_cell(out, l->ratio, 2, "x");
    report_tables_put_real_cell(out, l->latency, 1, "x");
    report_tables_put_text_cell(out, l->ranks);
    fputs("</tr>\n", out);
}

void page_links(const struct page *p)
{
    const struct report_data *d = p->data;
    if (d->network[0] == '\0' && d->network_fault[0] == '\0')
        return;
    html_put(p->out,
             "<section><h2>Network: hot links</h2>\n<p class=\"second\">Network: ", d->network,
             "</p>\n");
    if (d->network_fault[0] != '\0') {
        html_put(p->out, "<p class=\"worse\">", d->network_fault, "</p>\n");
    }
    if (d->link_count == 0) {
        fputs("<p>No link was hot in any window.</p></section>\n", p->out);
        return;
    }
    page_begin_table(p->out, "hot links");
    fputs("<tr><th>link</th><th class=\"n\">windows hot</th>"
          "<th class=\"n\">congested</th><th class=\"n\">most in a window</th>"
          "<th class=\"n\">of capacity</th><th class=\"n\">measured by modelled</th>"
          "<th class=\"n\">slowest messages</th><th>loaded most by ranks</th></tr>\n",
          p->out);
    for (size_t i = 0; i < d->link_count; i++)
        report_tables_put_link(p->out, &d->links[i]);
    page_end_table(p->out);
    fputs("</section>\n", p->out);
}

/* ---- captures ------------------------------------------------------------------------ */

void page_captures(const struct page *p)
{
    const struct report_data *d = p->data;
    if (d->capture_count == 0)
        return;
    fputs("<section><h2>Last calls of ranks</h2>\n<p class=\"second\">Read back from the ranks; "
          "all of them are in the recording.</p>\n",
          p->out);
    page_begin_table(p->out, "captures");
    fputs("<tr><th>at</th><th>why</th><th class=\"n\">ranks</th><th "
          "class=\"n\">records</th><th>calls that they were in "
          "(ranks)</th></tr>\n",
          p->out);
    for (size_t i = 0; i < d->capture_count; i++) {
        const struct report_capture *c = &d->captures[i];
        fputs("<tr><td>", p->out);
        page_since(p, c->at_ns);
        fputs("</td>", p->out);
        report_tables_put_text_cell(p->out, c->reason);
        report_tables_put_real_cell(p->out, c->ranks, 0, "");
        report_tables_put_real_cell(p->out, c->records, 0, "");
        report_tables_put_text_cell(p->out, c->calls);
        fputs("</tr>\n", p->out);
    }
    page_end_table(p->out);
    if (d->captures_all > d->capture_count)
        fprintf(p->out, "<p>And %zu more.</p>\n", d->captures_all - d->capture_count);
    fputs("</section>\n", p->out);
}

/* ---- who sends to whom ----------------------------------------------------------------- */

/* A rank, or the first one of a group that shares a cell, with its node. */
static void report_tables_put_rank_name(FILE *out, const struct content *c, uint64_t rank,
                                        uint64_t group)
{
    fprintf(out, "rank %" PRIu64 "%s", rank, group > 1 ? " and following" : "");
    if (group == 1 && rank < c->rank_count && c->ranks[rank].sums.rank == rank &&
        c->ranks[rank].host < c->host_count)
        html_put(out, " on ", c->hosts[c->ranks[rank].host], "");
}

static void report_tables_put_cells(const struct page *p, const double *cells, unsigned side,
                                    uint64_t group, double most)
{
    double size = MATRIX_SIDE / side;
    for (unsigned i = 0; i < side * side; i++) {
        if (!(cells[i] > 0))
            continue;
        /* Logarithmic shade: it covers four decades below the largest cell. */
        double depth = most > 1 ? 1 + log10(cells[i] / most) / 4 : 1;
        const unsigned column = i % side, row = i / side;
        fprintf(p->out,
                "<rect class=\"cell\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                "fill-opacity=\"%.2f\"><title>",
                column * size, row * size, size > 2 ? size - 0.5 : size,
                size > 2 ? size - 0.5 : size, depth < PALEST ? PALEST : depth);
        report_tables_put_rank_name(p->out, p->source->content, row * group, group);
        fputs(" to ", p->out);
        report_tables_put_rank_name(p->out, p->source->content, column * group, group);
        fprintf(p->out, ": %s</title></rect>\n", quantity_bytes(cells[i]).text);
    }
}

/* Label some rows and columns with their ranks. */
static void report_tables_put_matrix_axes(FILE *out, unsigned side, uint64_t group)
{
    unsigned step = (side + MATRIX_LABELS - 1) / MATRIX_LABELS;
    for (unsigned i = 0; i < side; i += step) {
        double at = 100 * (i + 0.5) / side;
        fprintf(out,
                "<span class=\"y\" style=\"top:%.2f%%\">%" PRIu64 "</span>"
                "<span class=\"x\" style=\"left:%.2f%%\">%" PRIu64 "</span>\n",
                at, i * group, at, i * group);
    }
}

static void report_tables_put_matrix(const struct page *p, const double *cells, unsigned side,
                                     uint64_t group)
{
    double most = 0;
    for (unsigned i = 0; i < side * side; i++)
        most = cells[i] > most ? cells[i] : most;
    fprintf(p->out,
            "<div class=\"plot matrix\"><p class=\"what\">sending rank, downwards</p>\n"
            "<div class=\"plane\"><svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"Matrix of bytes between ranks\">\n<rect width=\"%.0f\" "
            "height=\"%.0f\" fill=\"none\" stroke=\"var(--line)\"/>\n",
            MATRIX_SIDE, MATRIX_SIDE, MATRIX_SIDE, MATRIX_SIDE);
    report_tables_put_cells(p, cells, side, group, most);
    fputs("</svg>\n", p->out);
    report_tables_put_matrix_axes(p->out, side, group);
    fprintf(p->out,
            "</div><p class=\"when\">receiving rank</p>\n<p class=\"legend second\"><span>"
            "<i class=\"k0\"></i>%s, the most</span>",
            quantity_bytes(most).text);
    const double least = most * pow(10, 4 * (PALEST - 1));
    if (least >= 1)
        fprintf(p->out, "<span><i class=\"k0\" style=\"opacity:%.2f\"></i>%s or less</span>",
                PALEST, quantity_bytes(least).text);
    fputs("</p></div>\n", p->out);
}

static int report_tables_compare_by_bytes(const void *a, const void *b)
{
    const struct content_pair *x = *(const struct content_pair *const *)a,
                              *y = *(const struct content_pair *const *)b;
    return 2 * ORDER(y->bytes, x->bytes) + ORDER(x, y);
}

static void report_tables_put_pairs(const struct page *p)
{
    const struct content *c = p->source->content;
    const struct content_pair **order = malloc((c->pair_count + 1) * sizeof(*order));
    if (order == NULL)
        return; /* the matrix shows the same */
    for (size_t i = 0; i < c->pair_count; i++)
        order[i] = &c->pairs[i];
    qsort(order, c->pair_count, sizeof(*order), report_tables_compare_by_bytes);
    page_begin_table(p->out, "pairs of ranks");
    fputs("<tr><th>from</th><th>to</th><th class=\"n\">messages</th><th class=\"n\">bytes</th>"
          "<th class=\"n\">mean transfer time</th></tr>\n",
          p->out);
    for (size_t i = 0; i < c->pair_count && i < SHOWN; i++) {
        const struct content_pair *pair = order[i];
        fprintf(p->out, "<tr><td>rank %" PRIu64 "</td>", pair->source);
        if (pair->destination < 0)
            fputs("<td>several</td>", p->out);
        else
            fprintf(p->out, "<td>rank %" PRId64 "</td>", pair->destination);
        report_tables_put_number_cell(p->out, quantity_count((double)pair->messages).text);
        report_tables_put_number_cell(p->out, quantity_bytes((double)pair->bytes).text);
        report_tables_put_number_cell(
            p->out, pair->matched == 0
                        ? ""
                        : quantity_measured((double)pair->transfer_ns / (double)pair->matched,
                                            (double)pair->error_ns / (double)pair->matched)
                              .text);
        fputs("</tr>\n", p->out);
    }
    page_end_table(p->out);
    free(order);
}

void page_matrix(const struct page *p)
{
    const struct content *c = p->source->content;
    static const unsigned most = MATRIX_CELLS;
    uint64_t group = (c->rank_count + most - 1) / most;
    double *cells = calloc((size_t)most * most, sizeof(*cells));
    if (c->pair_count == 0 || c->rank_count == 0 || cells == NULL) {
        free(cells);
        return;
    }
    unsigned side = (unsigned)((c->rank_count + group - 1) / group);
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct content_pair *pair = &c->pairs[i];
        if (pair->destination < 0 || pair->source >= c->rank_count ||
            (uint64_t)pair->destination >= c->rank_count)
            continue;
        cells[pair->source / group * side + (uint64_t)pair->destination / group] +=
            (double)pair->bytes;
    }
    fputs("<section><h2>Who sends to whom</h2>\n", p->out);
    fprintf(p->out,
            "<p class=\"second\">Rows send, columns receive; the stronger the colour, the more "
            "bytes%s.</p>\n<div class=\"sides\">",
            group > 1 ? "; neighbouring ranks are put together" : "");
    report_tables_put_matrix(p, cells, side, group);
    report_tables_put_pairs(p);
    fputs("</div></section>\n", p->out);
    free(cells);
}

/* ---- calls ----------------------------------------------------------------------------- */

struct call_sum {
    uint16_t call;
    double calls, bytes, time_ns, longest_ns;
};

ORDER_FUNCTION(report_tables_compare_by_time, struct call_sum,
               2 * ORDER(b->time_ns, a->time_ns) + ORDER(a->call, b->call))

void page_calls(const struct page *p)
{
    const struct content *c = p->source->content;
    struct call_sum *sums = calloc((size_t)UINT16_MAX + 1, sizeof(*sums));
    double whole = 0;
    if (sums == NULL || c->call_count == 0) {
        free(sums);
        return;
    }
    for (size_t i = 0; i < c->call_count; i++) {
        const struct content_call *k = &c->calls[i];
        struct call_sum *s = &sums[k->call];
        s->call = k->call;
        s->calls += (double)k->sums.calls;
        s->bytes += (double)k->sums.bytes;
        s->time_ns += (double)k->sums.time_ns;
        s->longest_ns =
            (double)k->sums.longest_ns > s->longest_ns ? (double)k->sums.longest_ns : s->longest_ns;
        whole += (double)k->sums.time_ns;
    }
    qsort(sums, (size_t)UINT16_MAX + 1, sizeof(*sums), report_tables_compare_by_time);
    fputs("<section><h2>MPI calls</h2>\n", p->out);
    page_begin_table(p->out, "MPI calls");
    fputs("<tr><th>call</th>"
          "<th class=\"n\">calls</th><th class=\"n\">bytes given</th><th class=\"n\">time, all "
          "ranks</th>"
          "<th class=\"n\">of MPI</th><th class=\"n\">mean</th><th class=\"n\">longest</th></tr>\n",
          p->out);
    for (size_t i = 0; i <= UINT16_MAX && (sums[i].calls > 0 || sums[i].time_ns > 0); i++) {
        const struct call_sum *s = &sums[i];
        fputs("<tr>", p->out);
        report_tables_put_text_cell(p->out, call_name(s->call));
        report_tables_put_number_cell(p->out, quantity_count(s->calls).text);
        report_tables_put_number_cell(p->out, s->bytes > 0 ? quantity_bytes(s->bytes).text : "");
        report_tables_put_number_cell(p->out, quantity_duration(s->time_ns).text);
        report_tables_put_number_cell(p->out, quantity_share(s->time_ns, whole).text);
        report_tables_put_number_cell(
            p->out, s->calls > 0 ? quantity_duration(s->time_ns / s->calls).text : "");
        report_tables_put_number_cell(p->out, quantity_duration(s->longest_ns).text);
        fputs("</tr>\n", p->out);
    }
    page_end_table(p->out);
    fputs("</section>\n", p->out);
    free(sums);
}

/* ---- ranks ----------------------------------------------------------------------------- */

/* A rank with its share, of the part of the job in which it was there. */
struct rank_share {
    const struct content_rank *rank;
    double percent; /* of its threads together */
};

ORDER_FUNCTION(report_tables_compare_by_share, struct rank_share,
               2 * ORDER(b->percent, a->percent) + ORDER(a->rank, b->rank))

double page_rank_time(const struct page *p, const struct content_rank *rank)
{
    const struct content *c = p->source->content;
    const uint64_t length_ns = (uint64_t)(p->data->end_ns - p->data->begin_ns);
    const uint64_t others = c->last_window - c->first_window + 1 - rank->windows;
    return ranks_time_ns(1, length_ns, rank->sums.absent_ns + others * c->window_ns);
}

static double report_tables_share(const struct page *p, const struct content_rank *rank)
{
    const double whole = page_rank_time(p, rank);
    return whole > 0 ? 100 * (double)MPI_NS(&rank->sums) / whole : 0;
}

static void report_tables_put_rank(const struct page *p, const struct rank_share *row)
{
    const struct content *c = p->source->content;
    const struct content_rank *rank = row->rank;
    const double share = row->percent;
    fprintf(p->out, "<tr><td>rank %" PRIu64 "</td>", rank->sums.rank);
    report_tables_put_text_cell(p->out, rank->host < c->host_count ? c->hosts[rank->host] : "");
    report_tables_put_number_cell(p->out, quantity_share(share, 100).text);
    fprintf(p->out,
            "<td><div class=\"track\"><div class=\"bar\" style=\"width:%.1f%%\"></div></div></td>",
            share > 100 ? 100 : share);
    report_tables_put_number_cell(p->out, quantity_count((double)rank->sums.sent).text);
    report_tables_put_number_cell(p->out, quantity_bytes((double)rank->sums.sent_bytes).text);
    fputs("</tr>\n", p->out);
}

void page_ranks(const struct page *p)
{
    const struct content *c = p->source->content;
    struct rank_share *order = malloc((c->rank_count + 1) * sizeof(*order));
    if (c->rank_count == 0 || order == NULL) {
        free(order);
        return;
    }
    for (size_t i = 0; i < c->rank_count; i++)
        order[i] = (struct rank_share){&c->ranks[i], report_tables_share(p, &c->ranks[i])};
    qsort(order, c->rank_count, sizeof(*order), report_tables_compare_by_share);
    fputs("<section><h2>Ranks</h2>\n", p->out);
    if (!p->data->timeless)
        fputs("<p class=\"second\">By the share of their time in MPI: those at the top wait for "
              "others, those at the bottom are often waited for.</p>\n",
              p->out);
    page_begin_table(p->out, "ranks");
    fputs("<tr><th>rank</th><th>node</th><th class=\"n\">in MPI</th><th></th><th "
          "class=\"n\">messages "
          "sent</th>"
          "<th class=\"n\">bytes sent</th></tr>\n",
          p->out);
    size_t both = c->rank_count > 2 * (size_t)SHOWN ? SHOWN : c->rank_count;
    for (size_t i = 0; i < both; i++)
        report_tables_put_rank(p, &order[i]);
    if (both < c->rank_count) {
        fprintf(p->out, "<tr><td class=\"second\" colspan=\"6\">%zu ranks in between</td></tr>\n",
                c->rank_count - 2 * both);
        for (size_t i = c->rank_count - both; i < c->rank_count; i++)
            report_tables_put_rank(p, &order[i]);
    }
    page_end_table(p->out);
    fputs("</section>\n", p->out);
    free(order);
}
