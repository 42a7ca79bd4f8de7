/* Topics "topology" and "links" as text. */
#include "agent/cli/text/text.h"

#include "daemon/analysis/tables/array.h"
#include "holter/plain_text.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERTEX_TEXT 80
#define CARTESIAN 0 /* of enum topology_kind, daemon/analysis/network/topology.h */

/* ---- names --------------------------------------------------------------- */

static void tap_network_drop(char ***texts, uint64_t *count)
{
    for (uint64_t i = 0; i < *count; i++)
        free((*texts)[i]);
    free(*texts);
    *texts = NULL;
    *count = 0;
}

/* Append empty entries. @return the first of them; NULL: no memory */
static char **tap_network_extend(char ***texts, uint64_t *count, uint64_t more)
{
    if (more == 0 || array_resize(texts, (*count + more) * sizeof **texts) != 0)
        return NULL;
    char **begin = *texts + *count;
    memset(begin, 0, more * sizeof *begin);
    *count += more;
    return begin;
}

static void tap_network_set_topology(struct network_names *names, const struct wire_topology *m)
{
    if (!names->more) {
        tap_network_drop(&names->vertices, &names->vertex_count);
        names->size_count = 0;
    }
    names->more = m->more != 0;
    char **vertices = tap_network_extend(&names->vertices, &names->vertex_count, m->vertices_count);
    for (uint64_t i = 0; vertices != NULL && i < m->vertices_count; i++)
        vertices[i] = m->vertices[i].name[0] ? strdup(m->vertices[i].name) : NULL;
    for (uint64_t i = 0; m->kind == CARTESIAN && i < m->dimensions_count &&
                         names->size_count < sizeof names->sizes / sizeof *names->sizes;
         i++)
        names->sizes[names->size_count++] = m->dimensions[i].size;
}

void network_names_take(struct network_names *names, const struct wire_message *message)
{
    if (message->type == WIRE_TYPE_JOB) {
        names->group = message->job.group;
        names->world = message->job.world;
    }
    if (message->type == WIRE_TYPE_TOPOLOGY)
        tap_network_set_topology(names, &message->topology);
    if (message->type != WIRE_TYPE_PLACES || message->places.hosts_count == 0)
        return;
    tap_network_drop(&names->nodes, &names->node_count);
    char **nodes =
        tap_network_extend(&names->nodes, &names->node_count, message->places.hosts_count);
    for (uint64_t i = 0; nodes != NULL && i < message->places.hosts_count; i++)
        nodes[i] = strdup(message->places.hosts[i].name);
}

void network_names_finish(struct network_names *names)
{
    tap_network_drop(&names->vertices, &names->vertex_count);
    tap_network_drop(&names->nodes, &names->node_count);
}

/* Row-major: the last dimension varies fastest. @return 0: there is no such vertex */
static int tap_network_coordinates(const struct network_names *names, uint64_t vertex,
                                   uint64_t at[16])
{
    for (uint64_t d = names->size_count; d-- > 0;) {
        if (names->sizes[d] == 0)
            return 0;
        at[d] = vertex % names->sizes[d];
        vertex /= names->sizes[d];
    }
    return names->size_count > 0 && vertex == 0;
}

const char *network_names_vertex(const struct network_names *names, uint64_t vertex,
                                 char text[VERTEX_TEXT])
{
    uint64_t at[16];
    if (vertex < names->vertex_count && names->vertices[vertex] != NULL) {
        snprintf(text, VERTEX_TEXT, "%s", names->vertices[vertex]);
        return text;
    }
    if (!tap_network_coordinates(names, vertex, at)) {
        snprintf(text, VERTEX_TEXT, "#%" PRIu64, vertex);
        return text;
    }
    text[0] = '\0';
    for (uint64_t d = 0; d < names->size_count; d++)
        text_append(text, VERTEX_TEXT, "%c%" PRIu64, d == 0 ? '(' : ',', at[d]);
    text_append(text, VERTEX_TEXT, ")");
    return text;
}

/* ---- the network --------------------------------------------------------- */

static void print_sizes(FILE *out, const struct wire_topology *m)
{
    const char *between = "";
    if (m->dimensions_count == 0 && m->vertices_count == 0 && m->edges_count == 0)
        return;
    fputs("  ", out);
    for (uint64_t i = 0; i < m->dimensions_count; i++, between = ", ")
        tap_print(out, "%s%s %" PRIu64, between, m->dimensions[i].name, m->dimensions[i].size);
    if (m->vertices_count) {
        fprintf(out, "%s%s", between, quantity_things(m->vertices_count, "place").text);
        between = ", ";
    }
    if (m->edges_count)
        fprintf(out, "%s%s", between, quantity_things(m->edges_count, "link").text);
    fputc('\n', out);
}

void tap_topology(FILE *out, const struct wire_topology *m)
{
    uint64_t placed = 0;
    for (uint64_t i = 0; i < m->seats_count; i++)
        placed += m->seats[i].vertex != WIRE_ANY;
    tap_head(out, "network", m->job);
    tap_print(out, " %s%s%s, %s", m->name, m->source[0] ? ", from " : ", as the agents see it",
              m->source, quantity_things(placed, "rank").text);
    if (placed < m->seats_count)
        fprintf(out, " and %" PRIu64 " without a place in it", m->seats_count - placed);
    fputc('\n', out);
    if (m->fault[0])
        tap_print(out, "  fault: %s\n", m->fault);
    print_sizes(out, m);
}

/* ---- links --------------------------------------------------------------- */

static void bytes_or_packets(FILE *out, int width, uint64_t value, uint64_t unit)
{
    if (value == WIRE_ANY)
        tap_cell(out, -width, "-");
    else if (unit)
        tap_count(out, width, value);
    else
        tap_bytes(out, width, value);
}

static void link_cells(FILE *out, const struct network_names *names, uint64_t from, uint64_t to)
{
    char text[VERTEX_TEXT];
    tap_cell(out, 16, network_names_vertex(names, from, text));
    fputs(" > ", out);
    tap_cell(out, 16, network_names_vertex(names, to, text));
}

static void print_links(FILE *out, const struct wire_links *m, const struct network_names *names)
{
    static const char *const states[] = {"idle", "busy", "hot", "congested"};
    if (m->links_count == 0)
        return;
    fputs("     link  from               to                state       messages      bytes"
          "    average       peak  share  latency   measured  ratio  collectives\n",
          out);
    for (uint64_t i = 0; i < m->links_count; i++) {
        const struct wire_link_row *l = &m->links[i];
        fprintf(out, "%9" PRIu64 "  ", l->link);
        link_cells(out, names, l->from, l->to);
        fputs("  ", out);
        tap_cell(out, 9, l->state <= LINK_CONGESTED ? states[l->state] : "?");
        tap_count(out, 11, l->messages);
        tap_bytes(out, 11, l->bytes);
        tap_bytes(out, 11, l->average > 0 && l->average < 1e18 ? (uint64_t)l->average : 0);
        tap_bytes(out, 11, l->peak);
        tap_real(out, 7, 2, "", l->share);
        tap_real(out, 9, 2, "x", l->latency);
        bytes_or_packets(out, 11, l->measured, l->unit);
        tap_real(out, 7, 2, "", l->ratio);
        tap_bytes(out, 13, l->collective_bytes);
        fputc('\n', out);
    }
}

static void print_routes(FILE *out, const struct wire_links *m)
{
    for (uint64_t i = 0; i < m->routes_count; i++) {
        const struct wire_link_route_row *r = &m->routes[i];
        fprintf(out, "%9" PRIu64 "  rank %" PRIu64 " to %" PRIu64 ": %s, %s over %s\n", r->link,
                r->source, r->destination, quantity_things(r->messages, "message").text,
                quantity_bytes((double)r->bytes).text, quantity_things(r->length, "link").text);
    }
}

static void print_interfaces(FILE *out, const struct wire_links *m,
                             const struct network_names *names)
{
    if (m->interfaces_count == 0)
        return;
    fputs("  node              interface               sent   received    dropped        per s"
          "  out by    in by\n",
          out);
    for (uint64_t i = 0; i < m->interfaces_count; i++) {
        const struct wire_interface_row *n = &m->interfaces[i];
        const char *node = n->node < names->node_count ? names->nodes[n->node] : NULL;
        char number[32];
        snprintf(number, sizeof number, "%" PRIu64, n->node);
        fputs("  ", out);
        tap_cell(out, 16, node != NULL ? node : number);
        fputs("  ", out);
        tap_cell(out, 16, n->name);
        bytes_or_packets(out, 12, n->sent, n->unit);
        bytes_or_packets(out, 11, n->received, n->unit);
        tap_count(out, 11, n->dropped);
        bytes_or_packets(out, 13, n->speed == 0 ? WIRE_ANY : n->speed, 0);
        bytes_or_packets(out, 8, n->link_out, 1);
        bytes_or_packets(out, 9, n->link_in, 1);
        fputc('\n', out);
    }
}

void tap_links(FILE *out, const struct wire_links *m, const struct network_names *names)
{
    tap_head(out, "links", m->job);
    fprintf(out, " window %" PRIu64 "  congested %" PRIu64 "  hot %" PRIu64 "  busy %" PRIu64,
            m->window, m->congested, m->hot, m->busy);
    fprintf(out, "  idle %" PRIu64 "  crossed by %s", m->idle,
            quantity_bytes((double)m->bytes).text);
    if (m->unplaced)
        fprintf(out, ", and %s not known where", quantity_bytes((double)m->unplaced).text);
    if (m->collective_bytes > 0)
        fprintf(out, "; by %s of collectives, as modelled",
                quantity_bytes((double)m->collective_bytes).text);
    fputc('\n', out);
    print_links(out, m, names);
    print_routes(out, m);
    print_interfaces(out, m, names);
    if (m->left_out)
        fprintf(out, "  and %s more that are not idle\n",
                quantity_things(m->left_out, "link").text);
}
