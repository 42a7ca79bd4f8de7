#include "daemon/analysis/contact.h"

#include "include/holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VERTICES (1u << 24)
#define MOST_PAIRS (1u << 28)
#define LEAST_PLACES 64u /* of the index; a power of two */
/* What is left of a single message after three horizons. */
#define FORGOTTEN 0.05

struct pair {
    uint64_t key;      /* a << 32 | b */
    uint64_t messages; /* of the open window */
    double weight;     /* messages a window, fading */
    uint32_t windows;  /* with messages, up to `steady` */
    bool edge;
};

/* A vertex in the window that is closed. */
struct vertex {
    double heaviest; /* largest weight of its pairs */
    bool active;     /* it communicated */
};

struct contact {
    struct contact_params params;
    struct pair *pairs; /* owned */
    uint32_t count, room;
    uint32_t *index;         /* owned; open addressing: position + 1, 0: empty */
    uint32_t mask;           /* places less one; 0: no index yet */
    struct vertex *vertices; /* owned */
    uint32_t vertex_room;
    struct contact_edge *edges; /* owned */
    size_t edge_room;
};

int contact_create(struct contact **out, const struct contact_params *params)
{
    if (params->horizon < 1 || params->steady < 1 || !(params->enter > 0) ||
        !(params->enter <= 1) || !(params->leave >= 0) || !(params->leave <= params->enter) ||
        params->most_vertices > MOST_VERTICES || params->most_pairs > MOST_PAIRS)
        return -HOLTER_ERANGE;
    struct contact *contact = calloc(1, sizeof(*contact));
    if (contact == NULL)
        return -ENOMEM;
    contact->params = *params;
    *out = contact;
    return 0;
}

void contact_destroy(struct contact *contact)
{
    if (contact == NULL)
        return;
    free(contact->pairs);
    free(contact->index);
    free(contact->vertices);
    free(contact->edges);
    free(contact);
}

/* ---- the table of pairs --------------------------------------------------------- */

static uint32_t place_of(uint64_t key, uint32_t mask)
{
    key ^= key >> 32; /* Steele, Lea and Flood's SplitMix64, its mixing */
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 29;
    key *= 0x94d049bb133111ebu;
    return (uint32_t)(key >> 32) & mask;
}

static void index_pair(struct contact *c, uint32_t position)
{
    uint32_t place = place_of(c->pairs[position].key, c->mask);
    while (c->index[place] != 0)
        place = (place + 1) & c->mask;
    c->index[place] = position + 1;
}

static int fit_index(struct contact *c)
{
    if (c->mask != 0 && c->count < (c->mask + 1) / 2)
        return 0;
    uint32_t places = c->mask == 0 ? LEAST_PLACES : (c->mask + 1) * 2;
    uint32_t *index = calloc(places, sizeof(*index));
    if (index == NULL)
        return -ENOMEM;
    free(c->index);
    c->index = index;
    c->mask = places - 1;
    for (uint32_t i = 0; i < c->count; i++)
        index_pair(c, i);
    return 0;
}

static int fit_pair(struct contact *c)
{
    if (c->count < c->room)
        return 0;
    uint32_t need = c->room + c->room / 2 + LEAST_PLACES;
    struct pair *grown = realloc(c->pairs, need * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    c->pairs = grown;
    c->room = need;
    return 0;
}

static int fit_vertex(struct contact *c, uint32_t vertex)
{
    if (vertex < c->vertex_room)
        return 0;
    uint32_t need = vertex + vertex / 2 + LEAST_PLACES;
    struct vertex *grown = realloc(c->vertices, need * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    c->vertices = grown;
    c->vertex_room = need;
    return 0;
}

/* @return position, or count: not known */
static uint32_t find_pair(const struct contact *c, uint64_t key)
{
    uint32_t place = place_of(key, c->mask);
    while (c->mask != 0 && c->index[place] != 0) {
        if (c->pairs[c->index[place] - 1].key == key)
            return c->index[place] - 1;
        place = (place + 1) & c->mask;
    }
    return c->count;
}

int contact_add(struct contact *c, uint32_t source, uint32_t destination, uint64_t messages)
{
    uint32_t a = source < destination ? source : destination;
    uint32_t b = source < destination ? destination : source;
    uint64_t key = (uint64_t)a << 32 | b;
    if (b >= c->params.most_vertices)
        return -HOLTER_ERANGE;
    if (a == b || messages == 0)
        return 0;
    uint32_t position = find_pair(c, key);
    if (position == c->count) {
        if (c->count >= c->params.most_pairs)
            return -HOLTER_ELIMIT;
        if (fit_pair(c) != 0 || fit_index(c) != 0 || fit_vertex(c, b) != 0)
            return -ENOMEM;
        c->pairs[c->count] = (struct pair){.key = key};
        index_pair(c, c->count++);
    }
    uint64_t *sum = &c->pairs[position].messages;
    *sum = messages > UINT64_MAX - *sum ? UINT64_MAX : *sum + messages;
    return 0;
}

/* ---- the end of a window ----------------------------------------------------------- */

static struct vertex *low(struct contact *c, const struct pair *pair)
{
    return &c->vertices[pair->key >> 32];
}

static struct vertex *high(struct contact *c, const struct pair *pair)
{
    return &c->vertices[pair->key & UINT32_MAX];
}

static void take_in(struct contact *c)
{
    if (c->vertex_room > 0)
        memset(c->vertices, 0, c->vertex_room * sizeof(*c->vertices));
    for (uint32_t i = 0; i < c->count; i++)
        if (c->pairs[i].messages > 0)
            low(c, &c->pairs[i])->active = high(c, &c->pairs[i])->active = true;
    for (uint32_t i = 0; i < c->count; i++) {
        struct pair *pair = &c->pairs[i];
        struct vertex *a = low(c, pair), *b = high(c, pair);
        if (a->active || b->active)
            pair->weight += ((double)pair->messages - pair->weight) / c->params.horizon;
        pair->windows += pair->messages > 0 && pair->windows < c->params.steady;
        pair->messages = 0;
        a->heaviest = pair->weight > a->heaviest ? pair->weight : a->heaviest;
        b->heaviest = pair->weight > b->heaviest ? pair->weight : b->heaviest;
    }
}

static bool is_forgotten(const struct contact *c, const struct pair *pair)
{
    return pair->weight * c->params.horizon < FORGOTTEN;
}

static bool is_edge(struct contact *c, const struct pair *pair)
{
    double least = low(c, pair)->heaviest, other = high(c, pair)->heaviest;
    least = other < least ? other : least;
    return pair->windows >= c->params.steady && !is_forgotten(c, pair) &&
           pair->weight >= (pair->edge ? c->params.leave : c->params.enter) * least;
}

/* @return how many edges appeared or went */
static size_t judge(struct contact *c)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct pair *pair = &c->pairs[i];
        bool edge = is_edge(c, pair);
        if (edge == pair->edge)
            continue;
        pair->edge = edge;
        c->edges[count++] = (struct contact_edge){.a = (uint32_t)(pair->key >> 32),
                                                  .b = (uint32_t)(pair->key & UINT32_MAX),
                                                  .present = edge};
    }
    return count;
}

static void forget(struct contact *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (!is_forgotten(c, &c->pairs[i]))
            c->pairs[kept++] = c->pairs[i];
    if (kept == c->count)
        return;
    c->count = kept;
    memset(c->index, 0, ((size_t)c->mask + 1) * sizeof(*c->index));
    for (uint32_t i = 0; i < c->count; i++)
        index_pair(c, i);
}

static int compare(const void *left, const void *right)
{
    const struct contact_edge *one = left, *other = right;
    if (one->a != other->a)
        return one->a < other->a ? -1 : 1;
    return one->b < other->b ? -1 : one->b > other->b;
}

int contact_close(struct contact *c, const struct contact_edge **edges, size_t *count)
{
    if (c->count > c->edge_room || c->edges == NULL) {
        struct contact_edge *grown = realloc(c->edges, (c->room + 1) * sizeof(*grown));
        if (grown == NULL)
            return -ENOMEM;
        c->edges = grown;
        c->edge_room = c->room;
    }
    take_in(c);
    size_t changed = judge(c);
    forget(c);
    qsort(c->edges, changed, sizeof(*c->edges), compare);
    *edges = c->edges;
    *count = changed;
    return 0;
}

size_t contact_pairs(const struct contact *c)
{
    return c->count;
}

size_t contact_bytes(const struct contact *c)
{
    return sizeof(*c) + c->room * sizeof(*c->pairs) +
           (c->mask == 0 ? 0 : ((size_t)c->mask + 1) * sizeof(*c->index)) +
           c->vertex_room * sizeof(*c->vertices) + c->edge_room * sizeof(*c->edges);
}
