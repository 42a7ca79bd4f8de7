/* The graph of partners, and the rows of the process correlation: see correlation.h. */
#include "daemon/analysis/regions/correlation.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERTICES_LIMIT 65536u
#define PAIRS_LIMIT (1u << 26) /* keeps sums of R over pairs within 64 bits */
#define ENTRIES_AT_ONCE 4u

/* What a path of each length adds to 36 R. */
#define LENGTH_1 36u
#define LENGTH_2 9u
#define LENGTH_3 4u

struct vertex {
    uint32_t *partners; /* owned; ascending */
    uint32_t degree, capacity;
    uint32_t relays;       /* partners that relay paths */
    uint32_t row_count;    /* entries of row */
    struct correlate *row; /* owned */
    bool touched;          /* edges came or went since settled */
};

/* Sums over the paths from one vertex. All zero between rows. */
struct walk {
    uint32_t *two;             /* owned; paths of length 2 to each vertex */
    uint32_t *weight;          /* owned; 36 R */
    uint32_t *seen_two, *seen; /* owned; the vertices whose figure is not zero */
};

struct correlation {
    struct correlation_params params;
    struct vertex *vertices; /* owned; space for params.max_vertices */
    uint32_t count;          /* vertices */
    struct walk walk;        /* for as many */
    uint64_t pairs;          /* entries of all rows */
    bool changed;            /* some vertex is touched */
};

int correlation_create(struct correlation **out, const struct correlation_params *params)
{
    uint64_t relaying = params->hub < params->max_vertices ? params->hub : params->max_vertices;
    if (params->max_vertices > VERTICES_LIMIT || params->max_pairs > PAIRS_LIMIT ||
        params->max_vertices * (LENGTH_2 + LENGTH_3 * relaying) > UINT32_MAX - LENGTH_1)
        return -HOLTER_ERANGE;
    /* Lists of vertices seen are written one past their end. The system takes no memory for pages
     * of zeros that are not written. */
    const size_t capacity = (size_t)params->max_vertices + 1;
    struct correlation *correlation = calloc(1, sizeof(*correlation));
    if (correlation == NULL)
        return -ENOMEM;
    correlation->params = *params;
    struct walk *walk = &correlation->walk;
    correlation->vertices = calloc(capacity, sizeof(*correlation->vertices));
    walk->two = calloc(capacity, sizeof(*walk->two));
    walk->weight = calloc(capacity, sizeof(*walk->weight));
    walk->seen_two = calloc(capacity, sizeof(*walk->seen_two));
    walk->seen = calloc(capacity, sizeof(*walk->seen));
    if (correlation->vertices == NULL || walk->two == NULL || walk->weight == NULL ||
        walk->seen_two == NULL || walk->seen == NULL) {
        correlation_destroy(correlation);
        return -ENOMEM;
    }
    *out = correlation;
    return 0;
}

void correlation_destroy(struct correlation *correlation)
{
    if (correlation == NULL)
        return;
    for (uint32_t v = 0; v < correlation->count; v++) {
        free(correlation->vertices[v].partners);
        free(correlation->vertices[v].row);
    }
    free(correlation->vertices);
    free(correlation->walk.two);
    free(correlation->walk.weight);
    free(correlation->walk.seen_two);
    free(correlation->walk.seen);
    free(correlation);
}

/* Position of the first partner that is not below the given one. */
static uint32_t correlation_partner_position(const struct vertex *vertex, uint32_t partner)
{
    return BISECT(i, 0, vertex->degree, vertex->partners[i] < partner);
}

static bool correlation_has_partner(const struct vertex *vertex, uint32_t partner)
{
    uint32_t at = correlation_partner_position(vertex, partner);
    return at < vertex->degree && vertex->partners[at] == partner;
}

static int correlation_reserve_partner(struct vertex *vertex)
{
    if (vertex->degree < vertex->capacity)
        return 0;
    uint32_t need = vertex->capacity + vertex->capacity / 2 + ENTRIES_AT_ONCE;
    if (ARRAY_RESIZE(vertex->partners, need) != 0)
        return -ENOMEM;
    vertex->capacity = need;
    return 0;
}

static void correlation_insert_partner(struct vertex *vertex, uint32_t partner)
{
    uint32_t at = correlation_partner_position(vertex, partner);
    memmove(vertex->partners + at + 1, vertex->partners + at,
            (vertex->degree - at) * sizeof(*vertex->partners));
    vertex->partners[at] = partner;
    vertex->degree++;
}

static void correlation_remove_partner(struct vertex *vertex, uint32_t partner)
{
    uint32_t at = correlation_partner_position(vertex, partner);
    vertex->degree--;
    memmove(vertex->partners + at, vertex->partners + at + 1,
            (vertex->degree - at) * sizeof(*vertex->partners));
}

int correlation_edge(struct correlation *c, uint32_t a, uint32_t b, bool present)
{
    if (a >= c->params.max_vertices || b >= c->params.max_vertices)
        return -HOLTER_ERANGE;
    if (a == b)
        return 0;
    bool known = a < c->count && b < c->count && correlation_has_partner(&c->vertices[a], b);
    if (known == present)
        return 0;
    if (present) {
        if (correlation_reserve_partner(&c->vertices[a]) != 0 ||
            correlation_reserve_partner(&c->vertices[b]) != 0)
            return -ENOMEM;
        uint32_t highest = a > b ? a : b;
        c->count = highest < c->count ? c->count : highest + 1;
        correlation_insert_partner(&c->vertices[a], b);
        correlation_insert_partner(&c->vertices[b], a);
    } else {
        correlation_remove_partner(&c->vertices[a], b);
        correlation_remove_partner(&c->vertices[b], a);
    }
    c->vertices[a].touched = c->vertices[b].touched = true;
    c->changed = true;
    return 0;
}

static bool correlation_relays_paths(const struct correlation *c, const struct vertex *vertex)
{
    return vertex->degree <= c->params.hub;
}

static void correlation_count_relays(struct correlation *c)
{
    for (uint32_t v = 0; v < c->count; v++) {
        struct vertex *vertex = &c->vertices[v];
        vertex->relays = 0;
        for (uint32_t i = 0; i < vertex->degree; i++)
            vertex->relays += correlation_relays_paths(c, &c->vertices[vertex->partners[i]]);
    }
}

/* Count the paths p-x-q. @return how many q there are */
static uint32_t correlation_walk_two(struct correlation *c, uint32_t p)
{
    struct walk *w = &c->walk;
    const struct vertex *from = &c->vertices[p];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < from->degree; i++) {
        const struct vertex *x = &c->vertices[from->partners[i]];
        for (uint32_t j = 0; correlation_relays_paths(c, x) && j < x->degree; j++) {
            uint32_t q = x->partners[j];
            w->seen_two[seen] = q;
            seen += w->two[q]++ == 0;
            seen -= q == p && w->two[q] == 1; /* p itself is no path's second vertex */
        }
    }
    w->two[p] = 0;
    return seen;
}

/* Walks p-x-q-r, q not p, with q to follow from correlation_walk_two(). @return how many r */
static uint32_t correlation_walk_three(struct correlation *c, uint32_t two)
{
    struct walk *w = &c->walk;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < two; i++) {
        const struct vertex *q = &c->vertices[w->seen_two[i]];
        uint32_t share = LENGTH_3 * w->two[w->seen_two[i]];
        for (uint32_t j = 0; correlation_relays_paths(c, q) && j < q->degree; j++) {
            uint32_t r = q->partners[j];
            w->seen[seen] = r;
            seen += w->weight[r] == 0;
            w->weight[r] += share;
        }
    }
    return seen;
}

/* Set walk.weight to 36 R from p to all others. @return how many vertices are in walk.seen */
static uint32_t correlation_walk_paths(struct correlation *c, uint32_t p)
{
    struct walk *w = &c->walk;
    const struct vertex *from = &c->vertices[p];
    uint32_t two = correlation_walk_two(c, p), seen = correlation_walk_three(c, two);
    for (uint32_t i = 0; i < two; i++) {
        uint32_t q = w->seen_two[i];
        w->seen[seen] = q;
        seen += w->weight[q] == 0;
        w->weight[q] += LENGTH_2 * w->two[q];
        w->two[q] = 0;
    }
    for (uint32_t i = 0; i < from->degree; i++) {
        uint32_t r = from->partners[i];
        const struct vertex *to = &c->vertices[r];
        w->seen[seen] = r;
        seen += w->weight[r] == 0;
        w->weight[r] += LENGTH_1;
        if (correlation_relays_paths(c, to)) /* walks p-r-q-r are no paths */
            w->weight[r] -= LENGTH_3 * (to->relays - correlation_relays_paths(c, from));
    }
    return seen;
}

static void correlation_clear_weights(struct walk *w, uint32_t seen)
{
    for (uint32_t i = 0; i < seen; i++)
        w->weight[w->seen[i]] = 0;
}

static int correlation_resize_row(struct correlation *c, struct vertex *vertex, uint32_t need)
{
    if (c->pairs + need > c->params.max_pairs)
        return -HOLTER_ELIMIT;
    if (need == 0)
        array_release(&vertex->row);
    else if (need != vertex->row_count && ARRAY_RESIZE(vertex->row, need) != 0)
        return -ENOMEM;
    vertex->row_count = need;
    c->pairs += need;
    return 0;
}

static int correlation_compute_row(struct correlation *c, uint32_t p)
{
    struct walk *w = &c->walk;
    struct vertex *vertex = &c->vertices[p];
    uint32_t seen = correlation_walk_paths(c, p);
    int rc = correlation_resize_row(c, vertex, seen - (w->weight[p] != 0));
    uint32_t count = 0;
    for (uint32_t i = 0; rc == 0 && i < seen; i++) {
        uint32_t q = w->seen[i];
        if (q != p)
            vertex->row[count++] = (struct correlate){.vertex = q, .weight = w->weight[q]};
    }
    correlation_clear_weights(w, seen);
    return rc;
}

int correlation_update(struct correlation *c)
{
    int rc = 0;
    correlation_count_relays(c);
    c->pairs = 0;
    for (uint32_t v = 0; rc == 0 && v < c->count; v++)
        rc = correlation_compute_row(c, v);
    return rc;
}

bool correlation_touched(const struct correlation *c, uint32_t vertex)
{
    return vertex < c->count && c->vertices[vertex].touched;
}

bool correlation_changed(const struct correlation *c)
{
    return c->changed;
}

void correlation_clear_changes(struct correlation *c)
{
    for (uint32_t v = 0; v < c->count; v++)
        c->vertices[v].touched = false;
    c->changed = false;
}

uint32_t correlation_vertices(const struct correlation *c)
{
    return c->count;
}

const uint32_t *correlation_partners(const struct correlation *c, uint32_t vertex, uint32_t *count)
{
    *count = vertex < c->count ? c->vertices[vertex].degree : 0;
    return *count == 0 ? NULL : c->vertices[vertex].partners;
}

const struct correlate *correlation_row(const struct correlation *c, uint32_t vertex,
                                        uint32_t *count)
{
    *count = vertex < c->count ? c->vertices[vertex].row_count : 0;
    return *count == 0 ? NULL : c->vertices[vertex].row;
}

void correlation_copy_state(struct state_bytes *b, struct correlation **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct correlation *c = *out;
    const size_t capacity = (size_t)c->params.max_vertices + 1;
    STATE_ARRAY(b, c->vertices, c->count, capacity);
    if (c->vertices == NULL)
        c->count = 0;
    for (uint32_t v = 0; v < c->count; v++) {
        struct vertex *vertex = &c->vertices[v];
        STATE_ARRAY(b, vertex->partners, vertex->degree, vertex->capacity);
        STATE_ARRAY(b, vertex->row, vertex->row_count, 0);
    }
    STATE_ARRAY(b, c->walk.two, 0, capacity);
    STATE_ARRAY(b, c->walk.weight, 0, capacity);
    STATE_ARRAY(b, c->walk.seen_two, 0, capacity);
    STATE_ARRAY(b, c->walk.seen, 0, capacity);
}
