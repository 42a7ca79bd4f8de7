/* The pairs of vertices that exchange messages, and which of them are edges: see contact.h. */
#include "daemon/analysis/regions/contact.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "include/holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERTICES_LIMIT (1u << 24)
#define PAIRS_LIMIT (1u << 28)
#define MINIMUM_SLOTS 64u /* of the index; a power of two */

/* A pair is forgotten when less is left of its messages: of a single one after three horizons. */
#define FORGOTTEN_MESSAGES 0.05

struct contact_pair {
    uint32_t a, b;     /* a below b */
    uint64_t messages; /* of the open window */
    double weight;     /* messages a window, fading */
    uint32_t windows;  /* with messages, counted up to `steady` */
    bool edge;
};

struct contact_vertex {
    bool active;     /* it communicated in the window that is closed */
    double heaviest; /* largest weight of its pairs */
};

struct contact {
    struct contact_params params;
    struct contact_pair *pairs; /* owned */
    uint32_t pair_count;
    size_t pair_capacity;
    uint32_t *index;                 /* owned; open addressing: position of a pair + 1, 0: empty */
    uint32_t index_mask;             /* slots less one; 0: no index yet */
    struct contact_vertex *vertices; /* owned */
    uint32_t vertex_capacity;
    struct contact_edge *edges; /* owned; those that changed with the last window */
    size_t edge_capacity;
};

int contact_create(struct contact **out, const struct contact_params *params)
{
    if (params->horizon < 1 || params->steady < 1 || !(params->enter > 0) ||
        !(params->enter <= 1) || !(params->leave >= 0) || !(params->leave <= params->enter) ||
        params->max_vertices > VERTICES_LIMIT || params->max_pairs > PAIRS_LIMIT)
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

/* Mixes with the finisher of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014). */
static uint32_t contact_hash_pair(uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    key ^= key >> 32;
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 29;
    key *= 0x94d049bb133111ebu;
    return (uint32_t)(key >> 32);
}

/* @return the slot of the pair, or the empty one where it belongs; there is an index */
static uint32_t *contact_find_slot(const struct contact *contact, uint32_t a, uint32_t b)
{
    for (uint32_t slot = contact_hash_pair(a, b);; slot++) {
        uint32_t *entry = &contact->index[slot & contact->index_mask];
        if (*entry == 0)
            return entry;
        const struct contact_pair *pair = &contact->pairs[*entry - 1];
        if (pair->a == a && pair->b == b)
            return entry;
    }
}

static void contact_fill_index(struct contact *contact)
{
    memset(contact->index, 0, ((size_t)contact->index_mask + 1) * sizeof(*contact->index));
    for (uint32_t i = 0; i < contact->pair_count; i++)
        *contact_find_slot(contact, contact->pairs[i].a, contact->pairs[i].b) = i + 1;
}

/* Reserve space for one pair more: the index is at most half full. @return 0 or -ENOMEM */
static int contact_reserve_pair(struct contact *contact)
{
    int code = array_fit(&contact->pairs, sizeof(*contact->pairs), &contact->pair_capacity,
                         (size_t)contact->pair_count + 1);
    if (code != 0)
        return code;
    if (contact->index_mask != 0 && contact->pair_count < (contact->index_mask + 1) / 2)
        return 0;
    uint32_t slots = contact->index_mask == 0 ? MINIMUM_SLOTS : (contact->index_mask + 1) * 2;
    uint32_t *index = malloc(slots * sizeof(*index));
    if (index == NULL)
        return -ENOMEM;
    free(contact->index);
    contact->index = index;
    contact->index_mask = slots - 1;
    contact_fill_index(contact);
    return 0;
}

/* @return 0, -HOLTER_ELIMIT or -ENOMEM */
static int contact_add_pair(struct contact *contact, uint32_t a, uint32_t b, uint64_t messages)
{
    if (contact->pair_count >= contact->params.max_pairs)
        return -HOLTER_ELIMIT;
    int code = contact_reserve_pair(contact);
    if (code == 0)
        code = array_fit_zero(&contact->vertices, sizeof(*contact->vertices),
                              &contact->vertex_capacity, (uint64_t)b + 1);
    if (code != 0)
        return code;
    *contact_find_slot(contact, a, b) = contact->pair_count + 1;
    contact->pairs[contact->pair_count++] =
        (struct contact_pair){.a = a, .b = b, .messages = messages};
    return 0;
}

int contact_add(struct contact *contact, uint32_t source, uint32_t destination, uint64_t messages)
{
    if (source >= contact->params.max_vertices || destination >= contact->params.max_vertices)
        return -HOLTER_ERANGE;
    if (source == destination || messages == 0)
        return 0;
    uint32_t a = source < destination ? source : destination;
    uint32_t b = source < destination ? destination : source;
    uint32_t entry = contact->index_mask == 0 ? 0 : *contact_find_slot(contact, a, b);
    if (entry == 0)
        return contact_add_pair(contact, a, b, messages);
    uint64_t *sum = &contact->pairs[entry - 1].messages;
    *sum = messages > UINT64_MAX - *sum ? UINT64_MAX : *sum + messages;
    return 0;
}

/* ---- the end of a window ----------------------------------------------------------- */

static void contact_mark_active(struct contact *contact)
{
    for (uint32_t v = 0; v < contact->vertex_capacity; v++)
        contact->vertices[v] = (struct contact_vertex){.active = false};
    for (uint32_t i = 0; i < contact->pair_count; i++) {
        const struct contact_pair *pair = &contact->pairs[i];
        if (pair->messages > 0)
            contact->vertices[pair->a].active = contact->vertices[pair->b].active = true;
    }
}

static void contact_raise_heaviest(struct contact_vertex *vertex, double weight)
{
    vertex->heaviest = weight > vertex->heaviest ? weight : vertex->heaviest;
}

static void contact_update_weights(struct contact *contact)
{
    for (uint32_t i = 0; i < contact->pair_count; i++) {
        struct contact_pair *pair = &contact->pairs[i];
        struct contact_vertex *a = &contact->vertices[pair->a], *b = &contact->vertices[pair->b];
        if (a->active || b->active)
            pair->weight += ((double)pair->messages - pair->weight) / contact->params.horizon;
        if (pair->messages > 0 && pair->windows < contact->params.steady)
            pair->windows++;
        pair->messages = 0;
        contact_raise_heaviest(a, pair->weight);
        contact_raise_heaviest(b, pair->weight);
    }
}

static bool contact_is_forgotten(const struct contact *contact, const struct contact_pair *pair)
{
    return pair->weight * contact->params.horizon < FORGOTTEN_MESSAGES;
}

static bool contact_is_edge(const struct contact *contact, const struct contact_pair *pair)
{
    const double a = contact->vertices[pair->a].heaviest, b = contact->vertices[pair->b].heaviest;
    const double share = pair->edge ? contact->params.leave : contact->params.enter;
    return pair->windows >= contact->params.steady && !contact_is_forgotten(contact, pair) &&
           pair->weight >= share * (a < b ? a : b);
}

/* Drop the pairs that are forgotten. */
static void contact_clear_pairs(struct contact *contact)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < contact->pair_count; i++)
        if (!contact_is_forgotten(contact, &contact->pairs[i]))
            contact->pairs[kept++] = contact->pairs[i];
    if (kept == contact->pair_count)
        return;
    contact->pair_count = kept;
    contact_fill_index(contact);
}

static int contact_compare_edges(const void *left, const void *right)
{
    const struct contact_edge *one = left, *other = right;
    return 2 * ORDER(one->a, other->a) + ORDER(one->b, other->b);
}

int contact_close(struct contact *contact, const struct contact_edge **edges, size_t *count)
{
    size_t changed = 0;
    if (array_fit(&contact->edges, sizeof(*contact->edges), &contact->edge_capacity,
                  (size_t)contact->pair_count + 1) != 0)
        return -ENOMEM;
    contact_mark_active(contact);
    contact_update_weights(contact);
    for (uint32_t i = 0; i < contact->pair_count; i++) {
        struct contact_pair *pair = &contact->pairs[i];
        bool edge = contact_is_edge(contact, pair);
        if (edge != pair->edge)
            contact->edges[changed++] =
                (struct contact_edge){.a = pair->a, .b = pair->b, .present = edge};
        pair->edge = edge;
    }
    contact_clear_pairs(contact);
    qsort(contact->edges, changed, sizeof(*contact->edges), contact_compare_edges);
    *edges = contact->edges;
    *count = changed;
    return 0;
}

size_t contact_pairs(const struct contact *contact)
{
    return contact->pair_count;
}
