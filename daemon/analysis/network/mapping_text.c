#include "daemon/analysis/network/mapping_text.h"

#include "daemon/analysis/network/measures.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
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

/* ---- text that grows ----------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, room;
    int code; /* -ENOMEM from then on */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    char piece[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof(piece) ? (size_t)n : sizeof(piece) - 1;
    if (t->length + length + 1 > t->room) {
        size_t room = t->room * 2 + 4096;
        char *bytes = t->code == 0 ? realloc(t->bytes, room) : NULL;
        if (bytes == NULL) {
            t->code = -ENOMEM;
            return;
        }
        t->bytes = bytes;
        t->room = room;
    }
    memcpy(t->bytes + t->length, piece, length + 1);
    t->length += length;
}

/* ---- where a seat is ----------------------------------------------------- */

struct row {
    uint64_t rank;
    uint32_t vertex, node; /* node: the vertex itself, or the one that a core belongs to */
    uint32_t position;     /* of the node among those of the mapping */
    uint32_t slot;         /* of the rank among those of its node */
};

struct writer {
    struct text text;
    const struct topology *topology;
    const char *const *hosts;
    struct row *rows;
    size_t count;
    char *why;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->why, w->room, format, args);
    va_end(args);
    return -HOLTER_EUSAGE;
}

static int mapping_compare_nodes(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static int mapping_compare_ranks(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Rows by rank; of each its node, and its slot there. */
static int mapping_resolve_place(struct writer *w, const struct mapping_seat *seats)
{
    uint32_t *nodes = malloc(((size_t)topology_vertices(w->topology) + 1) * sizeof(*nodes));
    int code = nodes == NULL ? -ENOMEM : measures_nodes(w->topology, nodes);
    for (size_t i = 0; code == 0 && i < w->count; i++) {
        if (seats[i].vertex >= topology_vertices(w->topology))
            code = wrong(w, "rank %" PRIu64 " has no place", seats[i].rank);
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
            return wrong(w, "rank %" PRIu64 " stands there twice", w->rows[i].rank);
    }
    return 0;
}

/* @return host of a node, NULL: not known */
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

/* Formats that say nothing of ranks but their order. */
static int mapping_check_ranks(struct writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->rows[i].rank != i)
            return wrong(w, "this format wants all ranks from 0 up, and rank %zu is not there", i);
    }
    return 0;
}

/* ---- formats ------------------------------------------------------------- */

static int mapping_put_plain(struct writer *w)
{
    for (size_t i = 0; i < w->count; i++)
        put(&w->text, "%" PRIu64 " %" PRIu32 "\n", w->rows[i].rank, w->rows[i].vertex);
    return 0;
}

static int mapping_put_openmpi(struct writer *w)
{
    int code = mapping_check_ranks(w);
    for (size_t i = 0; i < w->count; i++) {
        const struct row *row = &w->rows[i];
        const char *host = mapping_host_of(w, row->node);
        put(&w->text, "rank %" PRIu64 "=", row->rank);
        if (host != NULL)
            put(&w->text, "%.200s", host);
        else
            put(&w->text, "+n%" PRIu32, row->position);
        put(&w->text, " slot=%" PRIu32 "\n", row->slot);
    }
    return code;
}

static int mapping_put_mpich(struct writer *w)
{
    uint32_t full = 0, nodes = 0;
    int code = mapping_check_ranks(w);
    if (code != 0)
        return code;
    qsort(w->rows, w->count, sizeof(*w->rows), mapping_compare_nodes);
    for (size_t i = 0; i < w->count; i++) {
        full = w->rows[i].slot + 1 > full ? w->rows[i].slot + 1 : full;
        nodes = w->rows[i].position + 1;
    }
    for (size_t i = 0; i < w->count; i++) {
        int last = i + 1 == w->count || w->rows[i + 1].position != w->rows[i].position;
        if (last && w->rows[i].slot + 1 != full && w->rows[i].position + 1 != nodes)
            return wrong(w,
                         "node %" PRIu32 " has %" PRIu32 " ranks, others %" PRIu32
                         ": a list of ranks cannot leave slots empty",
                         w->rows[i].node, w->rows[i].slot + 1, full);
        put(&w->text, "%" PRIu64 "%s", w->rows[i].rank,
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
            return wrong(w, "the host name of node %" PRIu32 " is not known", w->rows[i].node);
        put(&w->text, "%.200s\n", host);
    }
    return mapping_check_ranks(w);
}

static int mapping_put_bgq(struct writer *w)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    if (topology_spec(w->topology)->kind != TOPOLOGY_CARTESIAN)
        return wrong(w, "the network has no coordinates");
    for (size_t i = 0; i < w->count; i++) {
        uint32_t dimensions = topology_coordinates(w->topology, w->rows[i].node, at);
        for (uint32_t d = 0; d < dimensions; d++)
            put(&w->text, "%" PRIu32 " ", at[d]);
        put(&w->text, "%" PRIu32 "\n", w->rows[i].slot);
    }
    return mapping_check_ranks(w);
}

int mapping_text(char **out, size_t *length, enum mapping_format format,
                 const struct mapping_seat *seats, size_t count, const struct topology *topology,
                 const char *const *hosts, char *why, size_t room)
{
    static int (*const writers[])(struct writer *) = {mapping_put_plain, mapping_put_openmpi,
                                                      mapping_put_mpich, mapping_put_slurm,
                                                      mapping_put_bgq};
    struct writer w = {
        .topology = topology, .hosts = hosts, .count = count, .why = why, .room = room};
    w.rows = calloc(count + 1, sizeof(*w.rows));
    if (w.rows == NULL)
        return -ENOMEM;
    put(&w.text, "%s", "");
    int code = mapping_resolve_place(&w, seats);
    code = code != 0 ? code : mapping_check_order(&w);
    code = code != 0 ? code : writers[format](&w);
    code = code != 0 ? code : w.text.code;
    free(w.rows);
    if (code != 0) {
        free(w.text.bytes);
        return code;
    }
    *out = w.text.bytes;
    *length = w.text.length;
    return 0;
}

/* ---- reading ------------------------------------------------------------- */

static int mapping_write_reason(char *why, size_t room, const char *text)
{
    snprintf(why, room, "%s", text);
    return -HOLTER_EUSAGE;
}

/* A number and the blanks behind it. @return 0 when there is none */
static int mapping_parse_number(const char **at, const char *end, uint64_t most, uint64_t *out)
{
    const char *c = *at;
    uint64_t value = 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++) {
        if (value > most)
            return 0;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == *at || value > most)
        return 0;
    while (c < end && (*c == ' ' || *c == '\t' || *c == '\r'))
        c++;
    *at = c;
    *out = value;
    return 1;
}

static int mapping_compare_seats(const void *left, const void *right)
{
    const struct mapping_seat *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* @return 1: a seat, 0: nothing stands there, or -HOLTER_EUSAGE */
static int mapping_read_line(const char *at, const char *end, uint32_t nodes,
                             struct mapping_seat *out, char *why, size_t room)
{
    uint64_t rank, node;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    if (at == end || *at == '#')
        return 0;
    if (!mapping_parse_number(&at, end, UINT32_MAX - 1, &rank) ||
        !mapping_parse_number(&at, end, UINT32_MAX - 1, &node) || at != end)
        return mapping_write_reason(why, room, "two numbers are wanted, a rank and its node");
    if (node >= nodes) {
        snprintf(why, room, "there is no node %" PRIu64 ": the network has %" PRIu32, node, nodes);
        return -HOLTER_EUSAGE;
    }
    *out = (struct mapping_seat){rank, (uint32_t)node};
    return 1;
}

/* Seats of all lines, in their order. @param line  where it ended */
static int mapping_read_lines(struct mapping_seat *seats, size_t *count, const char *text,
                              size_t length, uint32_t nodes, unsigned *line, char *why, size_t room)
{
    const char *at = text, *end = text + length;
    for (*line = 1; at < end; ++*line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        int code = mapping_read_line(at, stop, nodes, &seats[*count], why, room);
        if (code < 0)
            return code;
        *count += (size_t)code;
        at = stop == end ? end : stop + 1;
    }
    return 0;
}

/* Line on which a rank stands for the second time. */
static unsigned mapping_find_second_line(const char *text, size_t length, uint64_t rank)
{
    char why[100];
    struct mapping_seat seat;
    unsigned line = 1, seen = 0;
    for (const char *at = text, *end = text + length; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        if (mapping_read_line(at, stop, UINT32_MAX, &seat, why, sizeof(why)) == 1 &&
            seat.rank == rank && seen++ == 1)
            return line;
        at = stop == end ? end : stop + 1;
    }
    return line;
}

int mapping_read(struct mapping_seat **out, size_t *count, const char *text, size_t length,
                 uint32_t nodes, unsigned *line, char *why, size_t room)
{
    size_t lines = 1, used = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    struct mapping_seat *seats = calloc(lines, sizeof(*seats));
    *line = 0;
    int code = seats == NULL
                   ? -ENOMEM
                   : mapping_read_lines(seats, &used, text, length, nodes, line, why, room);
    if (code == 0)
        qsort(seats, used, sizeof(*seats), mapping_compare_seats);
    for (size_t i = 1; code == 0 && i < used; i++) {
        if (seats[i].rank == seats[i - 1].rank) {
            snprintf(why, room, "rank %" PRIu64 " stands there twice", seats[i].rank);
            *line = mapping_find_second_line(text, length, seats[i].rank);
            code = -HOLTER_EUSAGE;
        }
    }
    if (code != 0) {
        free(seats);
        return code;
    }
    *out = seats;
    *count = used;
    return 0;
}
