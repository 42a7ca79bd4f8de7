/* Writing and reading mappings of ranks to nodes: see mapping_text.h. */
#include "daemon/analysis/network/mapping_text.h"

#include "daemon/analysis/network/measures.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define X(NAME, text) text,
    MAPPING_FORMATS(X)
#undef X
};

int mapping_format_of(const char *name)
{
    for (int i = 0; i < MAPPING_KINDS; i++) {
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    return -1;
}

const char *mapping_format_name(enum mapping_format format)
{
    return names[format];
}

/* ---- places of ranks ----------------------------------------------------- */

struct row {
    uint64_t rank;
    uint32_t vertex, node; /* node: the vertex itself, or the one that a core belongs to */
    uint32_t position;     /* of the node among those of the mapping */
    uint32_t slot;         /* of the rank among those of its node */
};

struct writer {
    FILE *out;
    const struct topology *topology;
    const char *const *hosts;
    struct row *rows;
    size_t count;
    struct refusal refusal;
};

ORDER_FUNCTION(mapping_compare_nodes, struct row,
               4 * ORDER(a->node, b->node) + 2 * ORDER(a->vertex, b->vertex) +
                   ORDER(a->rank, b->rank))

ORDER_FUNCTION(mapping_compare_ranks, struct row, ORDER(a->rank, b->rank))

/* Sort the rows by rank, and find the node of each, and its slot there. */
static int mapping_resolve_place(struct writer *w, const struct mapping_seat *seats)
{
    uint32_t *nodes = malloc(((size_t)topology_vertices(w->topology) + 1) * sizeof(*nodes));
    int code = nodes == NULL ? -ENOMEM : measures_nodes(w->topology, nodes);
    for (size_t i = 0; code == 0 && i < w->count; i++) {
        if (seats[i].vertex >= topology_vertices(w->topology))
            code = refusal_set(&w->refusal, "rank %" PRIu64 " has no place", seats[i].rank);
        else
            w->rows[i] = (struct row){seats[i].rank, seats[i].vertex, nodes[seats[i].vertex], 0, 0};
    }
    free(nodes);
    if (code != 0)
        return code;
    qsort(w->rows, w->count, sizeof(*w->rows), mapping_compare_nodes);
    for (size_t i = 1; i < w->count; i++) {
        int same = w->rows[i].node == w->rows[i - 1].node;
        w->rows[i].position = w->rows[i - 1].position + !same;
        w->rows[i].slot = same ? w->rows[i - 1].slot + 1 : 0;
    }
    return 0;
}

static int mapping_check_order(struct writer *w)
{
    qsort(w->rows, w->count, sizeof(*w->rows), mapping_compare_ranks);
    for (size_t i = 1; i < w->count; i++) {
        if (w->rows[i].rank == w->rows[i - 1].rank)
            return refusal_set(&w->refusal, "rank %" PRIu64 " stands there twice", w->rows[i].rank);
    }
    return 0;
}

/* @return host name of a node; NULL: not known */
static const char *mapping_host_of(const struct writer *w, uint32_t node)
{
    const struct topology_spec *spec = topology_spec(w->topology);
    if (w->hosts != NULL && w->hosts[node] != NULL && w->hosts[node][0] != '\0')
        return w->hosts[node];
    if (spec->vertices != NULL && node < spec->vertex_count &&
        spec->vertices[node].name[0] != '\0' && spec->vertices[node].kind == VERTEX_NODE)
        return spec->vertices[node].name;
    return NULL;
}

static int mapping_compare_hosts(const void *a, const void *b, void *user)
{
    const char *x = mapping_host_of(user, ((const struct row *)a)->node),
               *y = mapping_host_of(user, ((const struct row *)b)->node);
    int order = x == NULL || y == NULL ? (x != NULL) - (y != NULL) : strcmp(x, y);
    return order != 0 ? order : mapping_compare_nodes(a, b);
}

/* Count the slots of hosts, one of which may stand at several nodes, as in a grid of processes.
 * @return whether one does */
static int mapping_count_host_slots(struct writer *w)
{
    int several = 0;
    qsort_r(w->rows, w->count, sizeof(*w->rows), mapping_compare_hosts, w);
    for (size_t i = 1; i < w->count; i++) {
        struct row *row = &w->rows[i];
        const char *host = mapping_host_of(w, row->node),
                   *before = mapping_host_of(w, row[-1].node);
        if (host == NULL || before == NULL || strcmp(host, before) != 0)
            continue;
        several |= row->node != row[-1].node;
        row->slot = row[-1].slot + 1;
    }
    qsort(w->rows, w->count, sizeof(*w->rows), mapping_compare_ranks);
    return several;
}

/* Check ranks for formats that list them without numbers: they must be 0, 1, 2, ... */
static int mapping_check_ranks(struct writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->rows[i].rank != i)
            return refusal_set(
                &w->refusal, "this format wants all ranks from 0 up, and rank %zu is not there", i);
    }
    return 0;
}

/* ---- formats ------------------------------------------------------------- */

static int mapping_put_plain(struct writer *w)
{
    for (size_t i = 0; i < w->count; i++)
        fprintf(w->out, "%" PRIu64 " %" PRIu32 "\n", w->rows[i].rank, w->rows[i].vertex);
    return 0;
}

static int mapping_put_openmpi(struct writer *w)
{
    int code = mapping_check_ranks(w);
    mapping_count_host_slots(w);
    for (size_t i = 0; i < w->count; i++) {
        const struct row *row = &w->rows[i];
        const char *host = mapping_host_of(w, row->node);
        fprintf(w->out, "rank %" PRIu64 "=", row->rank);
        if (host != NULL)
            fprintf(w->out, "%.200s", host);
        else
            fprintf(w->out, "+n%" PRIu32, row->position);
        fprintf(w->out, " slot=%" PRIu32 "\n", row->slot);
    }
    return code;
}

static int mapping_put_mpich(struct writer *w)
{
    uint32_t full = 0, nodes = 0;
    int code = mapping_check_ranks(w);
    if (code != 0)
        return code;
    if (mapping_count_host_slots(w))
        return refusal_set(
            &w->refusal, "several nodes of this network are one host: a list of ranks has no place "
                         "for them");
    qsort(w->rows, w->count, sizeof(*w->rows), mapping_compare_nodes);
    for (size_t i = 0; i < w->count; i++) {
        full = w->rows[i].slot + 1 > full ? w->rows[i].slot + 1 : full;
        nodes = w->rows[i].position + 1;
    }
    for (size_t i = 0; i < w->count; i++) {
        int last = i + 1 == w->count || w->rows[i + 1].position != w->rows[i].position;
        if (last && w->rows[i].slot + 1 != full && w->rows[i].position + 1 != nodes)
            return refusal_set(&w->refusal,
                               "node %" PRIu32 " has %" PRIu32 " ranks, others %" PRIu32
                               ": a list of ranks cannot leave slots empty",
                               w->rows[i].node, w->rows[i].slot + 1, full);
        fprintf(w->out, "%" PRIu64 "%s", w->rows[i].rank,
                i + 1 == w->count ? "\n"
                : last            ? ",\n"
                                  : ",");
    }
    return 0;
}

static int mapping_put_slurm(struct writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const char *host = mapping_host_of(w, w->rows[i].node);
        if (host == NULL)
            return refusal_set(&w->refusal, "the host name of node %" PRIu32 " is not known",
                               w->rows[i].node);
        fprintf(w->out, "%.200s\n", host);
    }
    return mapping_check_ranks(w);
}

static int mapping_put_bgq(struct writer *w)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    if (topology_spec(w->topology)->kind != TOPOLOGY_CARTESIAN)
        return refusal_set(&w->refusal, "the network has no coordinates");
    for (size_t i = 0; i < w->count; i++) {
        uint32_t dimensions = topology_coordinates(w->topology, w->rows[i].node, at);
        for (uint32_t d = 0; d < dimensions; d++)
            fprintf(w->out, "%" PRIu32 " ", at[d]);
        fprintf(w->out, "%" PRIu32 "\n", w->rows[i].slot);
    }
    return mapping_check_ranks(w);
}

int mapping_text(char **out, size_t *length, enum mapping_format format,
                 const struct mapping *mapping, char *why, size_t capacity)
{
    static int (*const writers[])(struct writer *) = {mapping_put_plain, mapping_put_openmpi,
                                                      mapping_put_mpich, mapping_put_slurm,
                                                      mapping_put_bgq};
    struct writer w = {.topology = mapping->topology,
                       .hosts = mapping->hosts,
                       .count = mapping->count,
                       .refusal = {why, capacity}};
    *out = NULL;
    w.out = open_memstream(out, length);
    w.rows = calloc(w.count + 1, sizeof(*w.rows));
    int code =
        w.out == NULL || w.rows == NULL ? -ENOMEM : mapping_resolve_place(&w, mapping->seats);
    code = code != 0 ? code : mapping_check_order(&w);
    code = code != 0 ? code : writers[format](&w);
    if (w.out != NULL && fclose(w.out) != 0 && code == 0)
        code = -ENOMEM;
    free(w.rows);
    if (code != 0) {
        free(*out);
        *out = NULL;
    }
    return code;
}

/* ---- reading ------------------------------------------------------------- */

static int mapping_refuse(struct mapping_reader *reader, const char *text)
{
    snprintf(reader->why, sizeof(reader->why), "%s", text);
    return -HOLTER_EUSAGE;
}

/* Read a number and the blanks after it. @return 0: there is none */
static int mapping_parse_number(const char **at, const char *end, uint64_t maximum, uint64_t *out)
{
    const char *c = *at;
    uint64_t value = 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++) {
        if (value > maximum)
            return 0;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == *at || value > maximum)
        return 0;
    while (c < end && (*c == ' ' || *c == '\t' || *c == '\r'))
        c++;
    *at = c;
    *out = value;
    return 1;
}

ORDER_FUNCTION(mapping_compare_places, struct mapping_seat, ORDER(a->rank, b->rank))

/* Read a line.
 * @return 1: a rank and its node, 0: the line is empty or a comment, or -HOLTER_EUSAGE */
static int mapping_read_line(struct mapping_reader *reader, const char *at, const char *end,
                             struct mapping_seat *out)
{
    uint64_t rank, node;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    if (at == end || *at == '#')
        return 0;
    if (!mapping_parse_number(&at, end, UINT32_MAX - 1, &rank) ||
        !mapping_parse_number(&at, end, UINT32_MAX - 1, &node) || at != end)
        return mapping_refuse(reader, "two numbers are expected, a rank and its node");
    if (node >= reader->nodes) {
        snprintf(reader->why, sizeof(reader->why),
                 "there is no node %" PRIu64 ": the network has %" PRIu32, node, reader->nodes);
        return -HOLTER_EUSAGE;
    }
    *out = (struct mapping_seat){rank, (uint32_t)node};
    return 1;
}

/* Read the lines in their order, until one lists `rank` for the second time.
 * @param rank   UINT64_MAX: read all lines
 * @param count  set: seats that were read */
static int mapping_read_lines(struct mapping_reader *reader, uint64_t rank,
                              struct mapping_seat *seats, size_t *count)
{
    const char *at = reader->text, *end = reader->text + reader->length;
    unsigned seen = 0;
    *count = 0;
    for (reader->line = 1; at < end; reader->line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        int code = mapping_read_line(reader, at, stop, &seats[*count]);
        if (code < 0)
            return code;
        if (code == 1 && seats[*count].rank == rank && ++seen == 2)
            return 0;
        *count += (size_t)code;
        at = stop == end ? end : stop + 1;
    }
    return 0;
}

/* Describe a rank that is listed twice, with the line of the second time. */
static int mapping_refuse_twice(struct mapping_reader *reader, uint64_t rank,
                                struct mapping_seat *seats)
{
    size_t count;
    mapping_read_lines(reader, rank, seats, &count);
    snprintf(reader->why, sizeof(reader->why), "rank %" PRIu64 " stands there twice", rank);
    return -HOLTER_EUSAGE;
}

int mapping_read(struct mapping_seat **out, size_t *count, struct mapping_reader *reader)
{
    size_t lines = 1, used = 0;
    for (size_t i = 0; i < reader->length; i++)
        lines += reader->text[i] == '\n';
    struct mapping_seat *seats = calloc(lines, sizeof(*seats));
    int code = seats == NULL ? -ENOMEM : mapping_read_lines(reader, UINT64_MAX, seats, &used);
    if (code == 0)
        qsort(seats, used, sizeof(*seats), mapping_compare_places);
    for (size_t i = 1; code == 0 && i < used; i++)
        if (seats[i].rank == seats[i - 1].rank)
            code = mapping_refuse_twice(reader, seats[i].rank, seats);
    if (code != 0) {
        free(seats);
        return code;
    }
    *out = seats;
    *count = used;
    return 0;
}
