/* Export of who sends to whom as a graph for Graphviz. */
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/saturate.h"
#include "daemon/export/export.h"
#include "holter/order.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST 8.0 /* width in points of the edge of most bytes */

struct edge {
    uint64_t from, to, messages, bytes;
};

struct graph {
    const struct export_source *source;
    enum export_graph kind;
    uint64_t *group_of; /* owned: by rank: its host or region; UINT64_MAX: none */
    struct edge *edges; /* owned; by bytes, descending */
    size_t count;
    struct edge rest; /* sums of the messages without an edge */
};

void export_dot_put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text >= 0x20)
            fputc(*text, out);
    }
}

/* ---- groups ------------------------------------------------------------------------ */

/* A row is of one rank, or of the group of ranks of which it names the first. */
static int export_dot_add_member(void *user, const struct cell *row, size_t columns)
{
    struct graph *g = user;
    const uint64_t ranks = g->source->content->rank_count;
    if (columns != 3 || row[0].integer < 0 || (uint64_t)row[0].integer >= ranks)
        return 0;
    const uint64_t first = (uint64_t)row[0].integer,
                   size = row[2].integer > 1 ? (uint64_t)row[2].integer : 1;
    for (uint64_t r = first; r < ranks && r - first < size; r++)
        g->group_of[r] = row[1].integer > 0 ? (uint64_t)row[1].integer : UINT64_MAX;
    return 0;
}

static int export_dot_find_groups(struct graph *g)
{
    const struct content *c = g->source->content;
    g->group_of = malloc((c->rank_count + 1) * sizeof(*g->group_of));
    if (g->group_of == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < c->rank_count; i++)
        g->group_of[i] = g->kind == EXPORT_RANKS          ? i
                         : g->kind == EXPORT_REGIONS      ? UINT64_MAX
                         : c->ranks[i].host == UINT32_MAX ? UINT64_MAX
                                                          : c->ranks[i].host;
    /* The last row of a rank is the newest. */
    return g->kind == EXPORT_REGIONS
               ? tables_query(g->source->tables,
                              "SELECT rank, region, rank_group FROM region_member, job ORDER BY"
                              " rank, since",
                              export_dot_add_member, g)
               : 0;
}

ORDER_FUNCTION(export_dot_compare_by_bytes, struct edge,
               4 * ORDER(b->bytes, a->bytes) + 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to))

/* The vertex of a rank, or UINT64_MAX: a rank that is not known, or in no region. */
static uint64_t export_dot_vertex_of(const struct graph *g, uint64_t rank)
{
    return rank < g->source->content->rank_count ? g->group_of[rank] : UINT64_MAX;
}

static int export_dot_add_up(struct graph *g)
{
    const struct content *c = g->source->content;
    struct key_table keys = {0};
    int code = 0;
    g->edges = calloc(c->pair_count + 1, sizeof(*g->edges));
    if (g->edges == NULL)
        return -ENOMEM;
    for (size_t i = 0; code == 0 && i < c->pair_count; i++) {
        const struct content_pair *p = &c->pairs[i];
        const uint64_t from = export_dot_vertex_of(g, p->source),
                       to = p->destination < 0 ? UINT64_MAX
                                               : export_dot_vertex_of(g, (uint64_t)p->destination);
        const int whole = from != UINT64_MAX && to != UINT64_MAX;
        if (p->messages == 0)
            continue;
        if (whole && (code = key_table_reserve(&keys, 1)) != 0)
            break;
        struct edge *e = whole ? &g->edges[key_table_add(&keys, (struct key){from, to})] : &g->rest;
        *e = (struct edge){from, to, saturated_sum(e->messages, p->messages),
                           saturated_sum(e->bytes, p->bytes)};
    }
    g->count = keys.count;
    key_table_finish(&keys);
    if (code == 0 && g->count > 0)
        qsort(g->edges, g->count, sizeof(*g->edges), export_dot_compare_by_bytes);
    return code;
}

/* ---- writing ----------------------------------------------------------------------- */

static void export_dot_put_name(FILE *out, const struct graph *g, uint64_t group)
{
    static const char letters[] = {
        [EXPORT_RANKS] = 'r', [EXPORT_HOSTS] = 'h', [EXPORT_REGIONS] = 'g'};
    fprintf(out, "%c%" PRIu64, letters[g->kind], group);
}

/* Write ranks in a box for each host: the ranks of each host form a list, beginning with the
 * lowest. */
static int export_dot_put_ranks(FILE *out, const struct content *c)
{
    uint32_t *first = malloc((c->host_count + c->rank_count + 1) * sizeof(*first));
    if (first == NULL)
        return -ENOMEM;
    uint32_t *next = first + c->host_count;
    memset(first, 0xff, c->host_count * sizeof(*first));
    for (size_t i = c->rank_count; i-- > 0;) {
        uint32_t host = c->ranks[i].host;
        if (host < c->host_count) {
            next[i] = first[host];
            first[host] = (uint32_t)i;
        }
    }
    for (uint32_t h = 0; h < c->host_count; h++) {
        fprintf(out, "  subgraph cluster_h%" PRIu32 " {\n    label=\"", h);
        export_dot_put_text(out, c->hosts[h]);
        fputs("\";\n", out);
        for (uint32_t i = first[h]; i != UINT32_MAX; i = next[i])
            fprintf(out, "    r%" PRIu32 " [label=\"%" PRIu32 "\"];\n", i, i);
        fputs("  }\n", out);
    }
    free(first);
    return 0;
}

static int export_dot_put_vertices(FILE *out, const struct graph *g)
{
    const struct content *c = g->source->content;
    if (g->kind == EXPORT_HOSTS) {
        for (uint32_t h = 0; h < c->host_count; h++) {
            fprintf(out, "  h%" PRIu32 " [label=\"", h);
            export_dot_put_text(out, c->hosts[h]);
            fputs("\"];\n", out);
        }
        return 0;
    }
    return g->kind == EXPORT_REGIONS ? 0 : export_dot_put_ranks(out, c);
}

static void export_dot_put_edges(FILE *out, const struct graph *g, size_t most)
{
    double widest = g->count > 0 ? sqrt((double)g->edges[0].bytes) : 0;
    for (size_t i = 0; i < g->count && i < most; i++) {
        const struct edge *e = &g->edges[i];
        double width = widest > 0 ? sqrt((double)e->bytes) / widest * WIDEST : 0;
        fputs("  ", out);
        export_dot_put_name(out, g, e->from);
        fputs(" -> ", out);
        export_dot_put_name(out, g, e->to);
        fprintf(out,
                " [penwidth=%.2f, messages=%" PRIu64 ", bytes=%" PRIu64 ", tooltip=\"%" PRIu64
                " messages, %" PRIu64 " bytes\"];\n",
                width > 0.3 ? width : 0.3, e->messages, e->bytes, e->messages, e->bytes);
    }
    if (g->count > most)
        fprintf(out, "  // %zu further edges of less bytes are left out\n", g->count - most);
    if (g->rest.messages > 0)
        fprintf(out,
                "  // %" PRIu64 " messages, %" PRIu64
                " bytes from or to ranks without a vertex are left out\n",
                g->rest.messages, g->rest.bytes);
}

int export_dot(FILE *out, const struct export_source *source, enum export_graph kind, size_t most)
{
    struct graph g = {.source = source, .kind = kind};
    int code = export_dot_find_groups(&g);
    code = code != 0 ? code : export_dot_add_up(&g);
    if (code == 0) {
        fputs("digraph \"", out);
        export_dot_put_text(out, source->content->job);
        fputs("\" {\n  node [shape=circle, fontname=\"Inter,DejaVu Sans\"];\n"
              "  edge [color=\"#4aa8ff\", arrowsize=0.6];\n",
              out);
        code = export_dot_put_vertices(out, &g);
        export_dot_put_edges(out, &g, most);
        fputs("}\n", out);
        if (fflush(out) != 0 || ferror(out))
            code = code != 0 ? code : -EIO;
    }
    free(g.group_of);
    free(g.edges);
    return code;
}
