#include "agent/tap_network.h"

#include "agent/quantity.h"
#include "agent/tap_text.h"

#include <inttypes.h>
#include <math.h>

static void head(FILE *out, const char *topic, const char *job)
{
    tap_cell(out, 7, topic);
    fputc(' ', out);
    tap_cell(out, 12, job);
}

static void real_cell(FILE *out, int width, const char *unit, double value)
{
    char text[32] = "-";
    if (isfinite(value) && fabs(value) < 1e9)
        snprintf(text, sizeof text, "%.2f%s", value, unit);
    tap_cell(out, -width, text);
}

void tap_topology(FILE *out, const struct wire_topology *m)
{
    struct quantity q;
    head(out, "network", m->job);
    fputs("  ", out);
    tap_cell(out, 0, m->name);
    fputs(m->source[0] ? ", from " : ", as the agents see it", out);
    tap_cell(out, 0, m->source);
    if (m->fault[0]) {
        fputs("; not used: ", out);
        tap_cell(out, 0, m->fault);
    }
    fputc('\n', out);
    for (uint64_t i = 0; i < m->dimensions_count; i++) {
        fputs("  ", out);
        tap_cell(out, 16, m->dimensions[i].name);
        fprintf(out, " %10" PRIu64 "\n", m->dimensions[i].size);
    }
    if (m->vertices_count)
        fprintf(out, "  %s", quantity_things(&q, m->vertices_count, "place"));
    if (m->edges_count)
        fprintf(out, "  %s", quantity_things(&q, m->edges_count, "link"));
    fprintf(out, "  %s\n", quantity_things(&q, m->seats_count, "rank"));
}

static void print_links(FILE *out, const struct wire_links *m)
{
    static const char *const states[] = {"idle", "busy", "hot", "congested"};
    fputs(
        "     link     from       to  state       messages      bytes    average       peak  share"
        "  latency   measured  ratio\n",
        out);
    for (uint64_t i = 0; i < m->links_count; i++) {
        const struct wire_link_row *l = &m->links[i];
        fprintf(out, "%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "  ", l->link, l->from, l->to);
        tap_cell(out, 9, l->state <= LINK_CONGESTED ? states[l->state] : "?");
        tap_count(out, 11, l->messages);
        tap_bytes(out, 11, l->bytes);
        tap_bytes(out, 11, l->average > 0 && l->average < 1e18 ? (uint64_t)l->average : 0);
        tap_bytes(out, 11, l->peak);
        real_cell(out, 7, "", l->share);
        real_cell(out, 9, "x", l->latency);
        if (l->measured == UINT64_MAX)
            tap_cell(out, -11, "-");
        else if (l->unit)
            tap_count(out, 11, l->measured);
        else
            tap_bytes(out, 11, l->measured);
        real_cell(out, 7, "", l->ratio);
        fputc('\n', out);
    }
}

void tap_links(FILE *out, const struct wire_links *m)
{
    struct quantity q;
    head(out, "links", m->job);
    fprintf(out, "  window %" PRIu64 "  congested %" PRIu64 "  hot %" PRIu64 "  busy %" PRIu64,
            m->window, m->congested, m->hot, m->busy);
    fprintf(out, "  idle %" PRIu64 "  crossed by %s\n", m->idle,
            quantity_bytes(&q, (double)m->bytes));
    if (m->links_count)
        print_links(out, m);
    for (uint64_t i = 0; i < m->routes_count; i++) {
        const struct wire_link_route_row *r = &m->routes[i];
        fprintf(out, "%9" PRIu64 "  ranks %" PRIu64 " to %" PRIu64 ", %s", r->link, r->source,
                r->destination, quantity_bytes(&q, (double)r->bytes));
        fprintf(out, " over %s\n", quantity_things(&q, r->length, "link"));
    }
    for (uint64_t i = 0; i < m->interfaces_count; i++) {
        const struct wire_interface_row *n = &m->interfaces[i];
        fprintf(out, "  node %" PRIu64 " ", n->node);
        tap_cell(out, 16, n->name);
        fprintf(out, " sent %s", quantity_bytes(&q, (double)n->sent));
        fprintf(out, ", received %s\n", quantity_bytes(&q, (double)n->received));
    }
    if (m->left_out)
        fprintf(out, "  and %s more that are not idle\n", quantity_things(&q, m->left_out, "link"));
}
