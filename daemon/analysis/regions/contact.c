/* The pairs of vertices that exchange messages, and which of them are edges: see contact.h. */
#include "daemon/analysis/regions/contact.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

#define VERTICES_LIMIT (1u << 24)
#define PAIRS_LIMIT (1u << 28)

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
    struct key_table numbers;   /* of pairs, by a and b */
    struct contact_pair *pairs; /* owned; by number */
    size_t pair_capacity;
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
    key_table_finish(&contact->numbers);
    free(contact->vertices);
    free(contact->edges);
    free(contact);
}

/* ---- the table of pairs --------------------------------------------------------- */

int contact_add(struct contact *contact, uint32_t source, uint32_t destination, uint64_t messages)
{
    if (source >= contact->params.max_vertices || destination >= contact->params.max_vertices)
        return -HOLTER_ERANGE;
    if (source == destination || messages == 0)
        return 0;
    uint32_t a = source < destination ? source : destination;
    uint32_t b = source < destination ? destination : source;
    if (ARRAY_FIT_AT(contact->vertices, contact->vertex_capacity, b) != 0)
        return -ENOMEM;
    uint32_t number =
        KEY_TABLE_EXTEND(&contact->numbers, ((struct key){a, b}), contact->params.max_pairs,
                         contact->pairs, contact->pair_capacity);
    if (number == KEY_NONE)
        return contact->numbers.count < contact->params.max_pairs ? -ENOMEM : -HOLTER_ELIMIT;
    struct contact_pair *pair = &contact->pairs[number];
    pair->a = a;
    pair->b = b;
    pair->messages = saturated_sum(pair->messages, messages);
    return 0;
}

/* ---- the end of a window ----------------------------------------------------------- */

static void contact_mark_active(struct contact *contact)
{
    for (uint32_t v = 0; v < contact->vertex_capacity; v++)
        contact->vertices[v] = (struct contact_vertex){.active = false};
    for (uint32_t i = 0; i < contact->numbers.count; i++) {
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
    for (uint32_t i = 0; i < contact->numbers.count; i++) {
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

/* Drop the pairs that are forgotten, and give the others new numbers, for which there is space. */
static void contact_clear_pairs(struct contact *contact)
{
    const uint32_t count = contact->numbers.count;
    key_table_clear(&contact->numbers);
    for (uint32_t i = 0; i < count; i++) {
        const struct contact_pair pair = contact->pairs[i];
        if (!contact_is_forgotten(contact, &pair))
            contact->pairs[key_table_add(&contact->numbers, (struct key){pair.a, pair.b})] = pair;
    }
}

ORDER_FUNCTION(contact_compare_edges, struct contact_edge,
               2 * ORDER(a->a, b->a) + ORDER(a->b, b->b))

int contact_close(struct contact *contact, const struct contact_edge **edges, size_t *count)
{
    size_t changed = 0;
    if (ARRAY_FIT(contact->edges, contact->edge_capacity, (size_t)contact->numbers.count + 1) != 0)
        return -ENOMEM;
    contact_mark_active(contact);
    contact_update_weights(contact);
    for (uint32_t i = 0; i < contact->numbers.count; i++) {
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

void contact_copy_state(struct state_bytes *b, struct contact **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct contact *c = *out;
    key_table_copy_state(b, &c->numbers);
    STATE_ARRAY(b, c->pairs, c->numbers.count, c->pair_capacity);
    STATE_ARRAY(b, c->vertices, c->vertex_capacity, 0);
    STATE_NO_ARRAY(b, c->edges, c->edge_capacity);
}
