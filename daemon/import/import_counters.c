/* Packets of torus links by code region, as a recording with one window for each visit of a region.
 */
#include "daemon/analysis/tables/saturate.h"
#include "daemon/import/counter_table.h"
#include "daemon/import/import.h"
#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS UINT64_C(1000000000)
#define MOST_WINDOWS 4096u
#define NO_WINDOW UINT32_MAX

/* A window: a code region, and how many visits came before. */
struct visit {
    int64_t region;
    uint32_t before;
};

/* A row of the table of links. */
struct sample {
    uint32_t source, destination;
    uint32_t window; /* NO_WINDOW: the row is malformed */
    uint32_t port;   /* 2 d: up along dimension d, 2 d + 1: down */
    uint64_t packets;
};

struct counters {
    struct faults *faults; /* of the file that is being read */
    const char *meta_path;
    file_fault *tell;
    void *user;
    struct counter_meta meta;
    struct counter_table nodes, links, ranks;
    struct topology *topology;
    char (*hosts)[65];
    uint32_t *host_of, rank_count, node_count;
    struct visit *visits;
    uint32_t visit_count;
    struct sample *samples; /* by row of the table */
    size_t wrong_links;
    char ports[2 * TOPOLOGY_DIMENSIONS][20]; /* names */
};

/* ---- tables beside the first file ------------------------------------------- */

static int import_counters_read_table(struct counters *c, const char *name,
                                      struct counter_table *out)
{
    char path[4400], *text;
    const char *slash = strrchr(c->meta_path, '/');
    size_t length;
    snprintf(path, sizeof(path), "%.*s%s", (int)(slash == NULL ? 0 : slash + 1 - c->meta_path),
             c->meta_path, name);
    struct faults faults = {path, c->tell, c->user, 0};
    int code = file_text(&text, &length, path, (size_t)1 << 30, &faults);
    if (code != 0)
        return code;
    code = counter_table_parse(out, text, length, &faults);
    free(text);
    return code;
}

/* ---- nodes and ranks ---------------------------------------------------------- */

/* Find the columns of the coordinates. @return 0 or -HOLTER_EUSAGE */
static int import_counters_columns(struct counters *c, const struct counter_table *table,
                                   const char (*names)[65], int out[TOPOLOGY_DIMENSIONS])
{
    for (uint32_t d = 0; d < c->meta.spec.dimension_count; d++) {
        out[d] = counter_table_column(
            table, names == NULL ? c->meta.spec.dimensions[d].name : names[d], c->faults);
        if (out[d] < 0)
            return -HOLTER_EUSAGE;
    }
    return 0;
}

/* Node at the coordinates of a row. @return TOPOLOGY_NONE, reported */
static uint32_t import_counters_node_at(struct counters *c, const struct counter_table *table,
                                        size_t row, const int column[TOPOLOGY_DIMENSIONS])
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    for (uint32_t d = 0; d < c->meta.spec.dimension_count; d++) {
        int64_t value = table->values[row * table->column_count + (size_t)column[d]];
        if (value < 0 || value >= (int64_t)c->meta.spec.dimensions[d].size) {
            fault_at(c->faults, table->lines[row],
                     "%s: coordinate %" PRId64 " of dimension %s, whose size is %u",
                     table->columns[column[d]], value, c->meta.spec.dimensions[d].name,
                     c->meta.spec.dimensions[d].size);
            return TOPOLOGY_NONE;
        }
        at[d] = (uint32_t)value;
    }
    return topology_at(c->topology, at);
}

struct numbered {
    int64_t id;
    uint32_t node;
};

ORDER_FUNCTION(import_counters_compare_by_id, struct numbered,
               2 * ORDER(a->id, b->id) + ORDER(a->node, b->node))

/* List the number and node of each node once. */
static int import_counters_list_nodes(struct counters *c, struct numbered **out, uint32_t *count)
{
    int column[TOPOLOGY_DIMENSIONS], id = counter_table_column(&c->nodes, "nodeid", c->faults);
    int code = id < 0 ? -HOLTER_EUSAGE : import_counters_columns(c, &c->nodes, NULL, column);
    struct numbered *list = calloc(c->nodes.rows + 1, sizeof(*list));
    uint32_t kept = 0;
    code = list == NULL ? -ENOMEM : code;
    for (size_t i = 0; code == 0 && i < c->nodes.rows; i++)
        list[i] = (struct numbered){c->nodes.values[i * c->nodes.column_count + (size_t)id],
                                    import_counters_node_at(c, &c->nodes, i, column)};
    if (code == 0 && c->faults->count == 0)
        qsort(list, c->nodes.rows, sizeof(*list), import_counters_compare_by_id);
    for (size_t i = 0; code == 0 && c->faults->count == 0 && i < c->nodes.rows; i++) {
        if (kept > 0 && list[kept - 1].id == list[i].id && list[kept - 1].node != list[i].node)
            fault_at(c->faults, 0, "node %" PRId64 " stands there with two places", list[i].id);
        if (kept == 0 || list[kept - 1].id != list[i].id)
            list[kept++] = list[i];
    }
    if (code != 0 || c->faults->count > 0) {
        free(list);
        return code != 0 ? code : -HOLTER_EUSAGE;
    }
    *out = list;
    *count = kept;
    return 0;
}

/* Without a table of ranks there is one rank on each listed node. */
static int import_counters_default_ranks(struct counters *c, const struct numbered *list,
                                         uint32_t count)
{
    c->host_of = calloc((size_t)count + 1, sizeof(*c->host_of));
    for (uint32_t i = 0; c->host_of != NULL && i < count; i++)
        c->host_of[i] = list[i].node;
    c->rank_count = count;
    return c->host_of == NULL ? -ENOMEM : 0;
}

static int import_counters_ranks_of_table(struct counters *c, const struct numbered *list,
                                          uint32_t count)
{
    int rank = counter_table_column(&c->ranks, "mpirank", c->faults),
        node = counter_table_column(&c->ranks, "nodeid", c->faults);
    size_t rows = c->ranks.rows;
    if (rank < 0 || node < 0)
        return -HOLTER_EUSAGE;
    if (rows > REMAP_MOST_PROCESSES) {
        fault_at(c->faults, 0, "more than %u ranks", REMAP_MOST_PROCESSES);
        return -HOLTER_EUSAGE;
    }
    c->host_of = calloc(rows + 1, sizeof(*c->host_of));
    if (c->host_of == NULL)
        return -ENOMEM;
    memset(c->host_of, 0xff, rows * sizeof(*c->host_of));
    for (size_t i = 0; i < rows; i++) {
        const int64_t *row = c->ranks.values + i * c->ranks.column_count;
        uint32_t at = BISECT(n, 0, count, list[n].id < row[node]);
        const struct numbered *found = at < count && list[at].id == row[node] ? &list[at] : NULL;
        if (row[rank] < 0 || row[rank] >= (int64_t)rows)
            fault_at(c->faults, c->ranks.lines[i], "rank %" PRId64 " of %zu ranks", row[rank],
                     rows);
        else if (c->host_of[row[rank]] != UINT32_MAX)
            fault_at(c->faults, c->ranks.lines[i], "rank %" PRId64 " stands there twice",
                     row[rank]);
        else if (found == NULL)
            fault_at(c->faults, c->ranks.lines[i],
                     "rank %" PRId64 " is on node %" PRId64 ", which is not listed", row[rank],
                     row[node]);
        else
            c->host_of[row[rank]] = found->node;
    }
    c->rank_count = (uint32_t)rows;
    return c->faults->count > 0 ? -HOLTER_EUSAGE : 0;
}

static int import_counters_read_nodes(struct counters *c)
{
    struct faults of_nodes = {c->meta.nodes, c->tell, c->user, 0},
                  of_ranks = {c->meta.ranks, c->tell, c->user, 0};
    struct numbered *list = NULL;
    uint32_t count = 0;
    c->faults = &of_nodes;
    int code = import_counters_list_nodes(c, &list, &count);
    c->faults = &of_ranks;
    if (code == 0)
        code = c->meta.ranks[0] == '\0' ? import_counters_default_ranks(c, list, count)
                                        : import_counters_ranks_of_table(c, list, count);
    free(list);
    if (code == 0 && c->rank_count == 0) {
        fault_at(c->meta.ranks[0] == '\0' ? &of_nodes : &of_ranks, 0, "there are no rows in it");
        code = -HOLTER_EUSAGE;
    }
    if (code != 0)
        return code;
    c->node_count = topology_nodes(c->topology);
    c->hosts = calloc((size_t)c->node_count + 1, sizeof(*c->hosts));
    for (uint32_t n = 0; c->hosts != NULL && n < c->node_count; n++)
        topology_vertex_name(c->topology, n, c->hosts[n], sizeof(c->hosts[n]));
    return c->hosts == NULL ? -ENOMEM : 0;
}

/* ---- links --------------------------------------------------------------------- */

/* The dimension and direction that lead from one node to its neighbour. @return UINT32_MAX: they
 * are not neighbours */
static uint32_t import_counters_port_of(const struct counters *c, uint32_t source,
                                        uint32_t destination)
{
    uint32_t a[TOPOLOGY_DIMENSIONS], b[TOPOLOGY_DIMENSIONS], port = UINT32_MAX;
    topology_coordinates(c->topology, source, a);
    topology_coordinates(c->topology, destination, b);
    for (uint32_t d = 0; d < c->meta.spec.dimension_count; d++) {
        uint32_t size = c->meta.spec.dimensions[d].size;
        if (a[d] == b[d])
            continue;
        if (port != UINT32_MAX)
            return UINT32_MAX;
        if ((a[d] + 1) % size == b[d])
            port = 2 * d;
        else if ((b[d] + 1) % size == a[d])
            port = 2 * d + 1;
        else
            return UINT32_MAX;
    }
    return port;
}

/* The window of a region's visit, given how many visits a link has had before. */
static uint32_t import_counters_window_of(struct counters *c, int64_t region, uint32_t before)
{
    for (uint32_t v = 0; v < c->visit_count; v++) {
        if (c->visits[v].region == region && c->visits[v].before == before)
            return v;
    }
    if (c->visit_count == MOST_WINDOWS)
        return UINT32_MAX;
    c->visits[c->visit_count] = (struct visit){region, before};
    return c->visit_count++;
}

struct link_row {
    uint32_t source, destination;
    size_t row;
    int64_t id, region;
};

ORDER_FUNCTION(import_counters_compare_by_region, struct link_row,
               16 * ORDER(a->source, b->source) + 8 * ORDER(a->destination, b->destination) +
                   4 * ORDER(a->id, b->id) + 2 * ORDER(a->region, b->region) +
                   ORDER(a->row, b->row))

/* The number of the link of a row, by which wires between the same nodes differ; 0: not known */
static int64_t import_counters_link_id(const struct counter_table *links, size_t row)
{
    for (uint32_t c = 0; c < links->column_count; c++) {
        if (strcmp(links->columns[c], "linkid") == 0)
            return links->values[row * links->column_count + c];
    }
    return 0;
}

/* Read a row of the table of links, except for its window. @return is it well-formed? Otherwise it
 * was reported */
static int import_counters_read_link(struct counters *c, size_t row, const int *from, const int *to,
                                     int packets)
{
    struct sample *sample = &c->samples[row];
    unsigned line = c->links.lines[row];
    int64_t value = c->links.values[row * c->links.column_count + (size_t)packets];
    sample->source = import_counters_node_at(c, &c->links, row, from);
    sample->destination = import_counters_node_at(c, &c->links, row, to);
    if (sample->source == TOPOLOGY_NONE || sample->destination == TOPOLOGY_NONE)
        return 0;
    sample->port = import_counters_port_of(c, sample->source, sample->destination);
    sample->packets = (uint64_t)value;
    if (sample->port == UINT32_MAX)
        fault_at(c->faults, line, "no link leads from %s to %s", c->hosts[sample->source],
                 c->hosts[sample->destination]);
    else if (value < 0)
        fault_at(c->faults, line, "packets: %" PRId64 " of them", value);
    return sample->port != UINT32_MAX && value >= 0;
}

/* @param count  set: number of well-formed rows */
static int import_counters_list_links(struct counters *c, struct link_row *list, size_t *count)
{
    int from[TOPOLOGY_DIMENSIONS], to[TOPOLOGY_DIMENSIONS];
    int packets = counter_table_column(&c->links, "packets", c->faults);
    int region = counter_table_column(&c->links, "code_region", c->faults);
    int code = region < 0 || packets < 0
                   ? -HOLTER_EUSAGE
                   : import_counters_columns(c, &c->links, (const char(*)[65])c->meta.source, from);
    code = code != 0
               ? code
               : import_counters_columns(c, &c->links, (const char(*)[65])c->meta.destination, to);
    *count = 0;
    for (size_t i = 0; code == 0 && i < c->links.rows; i++) {
        c->samples[i].window = NO_WINDOW;
        if (import_counters_read_link(c, i, from, to, packets))
            list[(*count)++] =
                (struct link_row){c->samples[i].source, c->samples[i].destination, i,
                                  import_counters_link_id(&c->links, i),
                                  c->links.values[i * c->links.column_count + (size_t)region]};
    }
    if (code == 0 && c->links.rows == 0)
        fault_at(c->faults, 0, "there are no rows in it");
    return code != 0 ? code : *count == 0 ? -HOLTER_EUSAGE : 0;
}

ORDER_FUNCTION(import_counters_compare_by_row, struct link_row, ORDER(a->row, b->row))

/* Number the windows in the order in which regions first occur in the file. */
static int import_counters_number_windows(struct counters *c, struct link_row *list, size_t count)
{
    uint32_t *before = calloc(c->links.rows + 1, sizeof(*before));
    int code = 0;
    if (before == NULL)
        return -ENOMEM;
    qsort(list, count, sizeof(*list), import_counters_compare_by_region);
    for (size_t i = 1; i < count; i++) {
        int same = list[i].source == list[i - 1].source &&
                   list[i].destination == list[i - 1].destination && list[i].id == list[i - 1].id &&
                   list[i].region == list[i - 1].region;
        before[list[i].row] = same ? before[list[i - 1].row] + 1 : 0;
    }
    qsort(list, count, sizeof(*list), import_counters_compare_by_row);
    for (size_t i = 0; code == 0 && i < count; i++) {
        struct sample *sample = &c->samples[list[i].row];
        sample->window = import_counters_window_of(c, list[i].region, before[list[i].row]);
        if (sample->window != NO_WINDOW)
            continue;
        fault_at(c->faults, c->links.lines[list[i].row],
                 "more than %u times that a code region comes", MOST_WINDOWS);
        code = -HOLTER_EUSAGE;
    }
    free(before);
    return code;
}

static int import_counters_read_links(struct counters *c)
{
    struct faults of_links = {c->meta.links, c->tell, c->user, 0};
    struct link_row *list = calloc(c->links.rows + 1, sizeof(*list));
    size_t count = 0;
    c->samples = calloc(c->links.rows + 1, sizeof(*c->samples));
    c->visits = calloc(MOST_WINDOWS, sizeof(*c->visits));
    c->faults = &of_links;
    int code = list == NULL || c->samples == NULL || c->visits == NULL
                   ? -ENOMEM
                   : import_counters_list_links(c, list, &count);
    code = code != 0 ? code : import_counters_number_windows(c, list, count);
    c->wrong_links = c->links.rows - count;
    free(list);
    return code;
}

/* ---- windows --------------------------------------------------------------------- */

/* In rings of two nodes both directions are the same link, which is called "+". */
static uint32_t import_counters_opposite_port(const struct counters *c, uint32_t port)
{
    return c->meta.spec.dimensions[port / 2].size == 2 ? port : port ^ 1;
}

static int import_counters_write_window(struct counters *c, struct import *import, uint32_t window,
                                        struct import_counter *rows)
{
    uint32_t ports = 2 * c->meta.spec.dimension_count;
    size_t all = (size_t)c->node_count * ports, used = 0;
    memset(rows, 0, all * sizeof(*rows));
    for (size_t i = 0; i < c->links.rows; i++) {
        const struct sample *s = &c->samples[i];
        if (s->window != window)
            continue;
        struct import_counter *from = &rows[(size_t)s->source * ports + s->port];
        struct import_counter *to =
            &rows[(size_t)s->destination * ports + import_counters_opposite_port(c, s->port)];
        from->row.sent += s->packets;
        from->row.length_ns = to->row.length_ns = WINDOW_NS;
        to->row.received += s->packets;
    }
    for (size_t i = 0; i < all; i++) {
        if (rows[i].row.length_ns == 0)
            continue;
        rows[used] = rows[i];
        rows[used].row.name = c->ports[i % ports];
        rows[used].row.medium = COUNTER_LINK;
        rows[used].row.unit = 1; /* packets */
        rows[used++].host = (uint32_t)(i / ports);
    }
    return used == 0 ? 0
                     : import_window(import,
                                     &(struct import_window){.counters = rows,
                                                             .counter_count = used,
                                                             .last = window + 1 == c->visit_count});
}

/* "x+", "x-", "y+" ...: the names that topology_interface() accepts. */
static void import_counters_name_ports(struct counters *c)
{
    for (uint32_t p = 0; p < 2 * c->meta.spec.dimension_count; p++) {
        const char *name = c->meta.spec.dimensions[p / 2].name;
        size_t length = strlen(name);
        memcpy(c->ports[p], name, length);
        c->ports[p][length] = p % 2 == 0 ? '+' : '-';
    }
}

static int import_counters_write_windows(struct counters *c, struct import *import)
{
    size_t all = (size_t)c->node_count * 2 * c->meta.spec.dimension_count;
    struct import_counter *rows = calloc(all + 1, sizeof(*rows));
    int code = rows == NULL ? -ENOMEM : 0;
    import_counters_name_ports(c);
    for (uint32_t w = 0; code == 0 && w < c->visit_count; w++)
        code = import_counters_write_window(c, import, w, rows);
    free(rows);
    return code;
}

/* Describe which region each window is of: "regions -2 1 2 3 ...". */
static void import_counters_describe_regions(const struct counters *c, char *out, size_t capacity)
{
    size_t used = strlen(out);
    for (uint32_t v = 0; v < c->visit_count && used + 24 < capacity; v++)
        used += (size_t)snprintf(out + used, capacity - used, " %" PRId64, c->visits[v].region);
}

static int import_counters_write_recording(struct counters *c, const char *path, const char *source)
{
    struct faults faults = {path, c->tell, c->user, 0};
    struct import *import;
    char why[300], command[1000], name[IMPORT_JOB_NAME];
    const char *base = text_base_name(source);
    import_job_name(name, base, strcspn(base, "."), "counters");
    snprintf(command, sizeof(command), "imported from %.300s; windows are code regions", base);
    import_counters_describe_regions(c, command, sizeof(command));
    struct import_job job = {.name = name,
                             .app = name,
                             .command = command,
                             .mpi = "imported: counters of links",
                             .ranks = c->rank_count,
                             .host_of = c->host_of,
                             .hosts = (const char(*)[65])c->hosts,
                             .host_count = c->node_count,
                             .window_ns = WINDOW_NS,
                             .network = c->topology,
                             .network_source = source};
    int code = import_create(&import, path, &job, why, sizeof(why));
    if (code != 0) {
        fault_at(&faults, 0, "%s", why);
        return code;
    }
    code = import_counters_write_windows(c, import);
    return import_finish(import, code, &faults);
}

/* ---- all -------------------------------------------------------------------------- */

static int import_counters_read_meta(struct counters *c)
{
    struct faults faults = {c->meta_path, c->tell, c->user, 0};
    char *text, why[300];
    size_t length;
    int code = file_text(&text, &length, c->meta_path, (size_t)1 << 20, &faults);
    if (code != 0)
        return code;
    code = counter_meta_parse(&c->meta, text, length, &faults);
    free(text);
    if (code == 0 && (code = topology_create(&c->topology, &c->meta.spec, why, sizeof(why))) != 0)
        fault_at(&faults, 0, "%s", why);
    return code;
}

static int import_counters_read_all(struct counters *c)
{
    int code = import_counters_read_meta(c);
    code = code != 0 ? code : import_counters_read_table(c, c->meta.nodes, &c->nodes);
    code = code != 0 ? code : import_counters_read_table(c, c->meta.links, &c->links);
    if (code == 0 && c->meta.ranks[0] != '\0')
        code = import_counters_read_table(c, c->meta.ranks, &c->ranks);
    code = code != 0 ? code : import_counters_read_nodes(c);
    return code != 0 ? code : import_counters_read_links(c);
}

/* Sum the packets. The counters of a link are in the windows of its two ends, and only hosts with
 * ranks have windows. @return 0 or -ENOMEM */
static int import_counters_sum_packets(const struct counters *c, struct import_counts *out)
{
    uint8_t *has_ranks = calloc((size_t)c->node_count + 1, sizeof(*has_ranks));
    if (has_ranks == NULL)
        return -ENOMEM;
    for (uint32_t r = 0; r < c->rank_count; r++)
        has_ranks[c->host_of[r]] = 1;
    for (size_t i = 0; i < c->links.rows; i++) {
        const struct sample *s = &c->samples[i];
        if (s->window == NO_WINDOW)
            continue;
        uint64_t *sum =
            has_ranks[s->source] || has_ranks[s->destination] ? &out->packets : &out->unseen;
        *sum = saturated_sum(*sum, s->packets);
    }
    free(has_ranks);
    return 0;
}

int import_counters(const char *path, const char *source, struct import_counts *out,
                    file_fault *tell, void *user)
{
    struct counters c = {.meta_path = source, .tell = tell, .user = user};
    int code = import_counters_read_all(&c);
    code = code != 0 ? code : import_counters_write_recording(&c, path, source);
    if (code == 0) {
        *out = (struct import_counts){
            .nodes = c.node_count, .ranks = c.rank_count, .windows = c.visit_count};
        out->rows = c.links.rows - c.wrong_links;
        out->wrong_rows = c.wrong_links + c.links.wrong + c.nodes.wrong + c.ranks.wrong;
        code = import_counters_sum_packets(&c, out);
    }
    if (code == -ENOMEM)
        tell(user, "no memory");
    topology_destroy(c.topology);
    counter_table_finish(&c.nodes);
    counter_table_finish(&c.links);
    counter_table_finish(&c.ranks);
    free(c.hosts);
    free(c.host_of);
    free(c.visits);
    free(c.samples);
    return code;
}
