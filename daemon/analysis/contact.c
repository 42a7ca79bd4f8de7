#include "daemon/analysis/contact.h"

#include "daemon/analysis/array.h"
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
    uint64_t key;     /* a << 32 | b */
    double weight;    /* messages a window, fading */
    uint32_t windows; /* with messages, up to `steady` */
    bool edge;
};

struct vertex {
    double heaviest; /* largest weight of its pairs, when a window is closed */
    bool active;     /* it communicated in that window */
    bool paired;     /* some pair is remembered */
};

struct contact {
    struct contact_params params;
    struct pair *pairs; /* owned */
    uint64_t *
        messages; /* owned; by pair: of the open window, as soon as any is told; else of the last one */
    uint32_t count, room;
    uint32_t *index;         /* owned; open addressing: position + 1, 0: empty */
    uint32_t mask;           /* places less one; 0: no index yet */
    struct vertex *vertices; /* owned */
    uint32_t vertex_room;
    uint32_t paired;            /* vertices with pairs */
    struct contact_edge *edges; /* owned */
    size_t edge_room;
    uint32_t heard; /* pairs with messages */
    bool told;      /* messages of the open window */
    bool again;     /* that it has those of the last one, and no others */
    bool settled;   /* the last window changed nothing */
    bool left_out;  /* messages of a pair that there was no room for */
    /* Of each row of ranks the position of its pair: the next window's rows mostly are of the same. */
    uint32_t *rows; /* owned */
    size_t row_count, row_room;
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
    free(contact->messages);
    free(contact->index);
    free(contact->vertices);
    free(contact->edges);
    free(contact->rows);
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
    uint64_t *messages = realloc(c->messages, need * sizeof(*messages));
    if (messages == NULL)
        return -ENOMEM;
    c->messages = messages;
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
    memset(grown + c->vertex_room, 0, (need - c->vertex_room) * sizeof(*grown));
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

static inline uint64_t key_of(uint32_t source, uint32_t destination)
{
    return source < destination ? (uint64_t)source << 32 | destination
                                : (uint64_t)destination << 32 | source;
}

static inline void add_to(uint64_t *messages, uint64_t more)
{
    uint64_t sum = *messages + more;
    *messages = sum < more ? UINT64_MAX : sum;
}

/* Its ends have a pair. */
static void join_ends(struct contact *c, uint64_t key)
{
    struct vertex *ends[2] = {&c->vertices[key >> 32], &c->vertices[(uint32_t)key]};
    for (int i = 0; i < 2; i++) {
        c->paired += !ends[i]->paired;
        ends[i]->paired = true;
    }
}

/* The first messages of a window are told, or none are. */
static void open_window(struct contact *c)
{
    c->again = false;
    if (c->told)
        return;
    if (c->count > 0)
        memset(c->messages, 0, c->count * sizeof(*c->messages));
    c->heard = 0;
    c->left_out = false;
    c->told = true;
}

/* @param position  set to that of the pair, or UINT32_MAX where the messages are of none */
static int add_messages(struct contact *c, uint32_t source, uint32_t destination, uint64_t messages,
                        uint32_t *position)
{
    *position = UINT32_MAX;
    if (source >= c->params.most_vertices || destination >= c->params.most_vertices)
        return -HOLTER_ERANGE;
    if (source == destination || messages == 0)
        return 0;
    uint64_t key = key_of(source, destination);
    uint32_t at = find_pair(c, key);
    if (at == c->count) {
        if (c->count >= c->params.most_pairs) {
            c->left_out = true; /* there may be room when they are told again */
            return -HOLTER_ELIMIT;
        }
        if (fit_pair(c) != 0 || fit_index(c) != 0 || fit_vertex(c, (uint32_t)key) != 0)
            return -ENOMEM;
        c->pairs[c->count] = (struct pair){.key = key};
        c->messages[c->count] = 0;
        join_ends(c, key);
        index_pair(c, c->count++);
    }
    c->heard += c->messages[at] == 0;
    add_to(&c->messages[at], messages);
    *position = at;
    return 0;
}

int contact_add(struct contact *c, uint32_t source, uint32_t destination, uint64_t messages)
{
    uint32_t position;
    open_window(c);
    return add_messages(c, source, destination, messages, &position);
}

/* Rows that stand where they stood in the window before, from one on. @return the first that does not */
static size_t add_known(struct contact *c, const struct pair_row *rows, size_t i, size_t count)
{
    const struct pair *const pairs = c->pairs;
    uint64_t *const sums = c->messages;
    const uint32_t most = c->params.most_vertices, known = c->count, *const at = c->rows;
    uint32_t heard = 0;
    for (; i < count; i++) {
        uint32_t from = rows[i].source, to = (uint32_t)rows[i].destination;
        uint64_t messages = rows[i].messages;
        if (from >= most || to >= most || from == to || messages == 0)
            continue;
        if (at[i] >= known || pairs[at[i]].key != key_of(from, to))
            break;
        heard += sums[at[i]] == 0;
        add_to(&sums[at[i]], messages);
    }
    c->heard += heard;
    return i;
}

int contact_add_ranks(struct contact *c, const struct pair_row *rows, size_t count)
{
    /* Without room for all, rows beyond it are looked for. */
    size_t planned = count < 2 * (size_t)c->params.most_pairs ? count : 0;
    if (array_fit(&c->rows, sizeof(*c->rows), &c->row_room, planned) != 0)
        planned = c->row_room;
    open_window(c);
    for (; c->row_count < planned; c->row_count++)
        c->rows[c->row_count] = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (i < planned)
            i = add_known(c, rows, i, planned);
        if (i == count)
            break;
        uint32_t at, to = (uint32_t)rows[i].destination;
        int code = add_messages(c, rows[i].source, to, rows[i].messages, &at);
        if (code == -ENOMEM)
            return -ENOMEM;
        if (code == 0 && i < planned)
            c->rows[i] = at;
    }
    return 0;
}

bool contact_again(struct contact *c)
{
    bool again = !c->told && !c->left_out;
    if (again)
        c->told = c->again = true;
    return again;
}

/* ---- the end of a window ----------------------------------------------------------- */

/* A window's messages of a pair, towards its weight. @return whether it changes what is remembered */
static inline bool fade(struct pair *pair, uint64_t messages, double horizon, uint32_t steady)
{
    double before = pair->weight;
    bool further = pair->windows < steady && messages > 0;
    pair->weight += ((double)messages - before) / horizon;
    pair->windows += further;
    return further || pair->weight != before;
}

static inline void weigh(struct vertex *vertices, const struct pair *pair)
{
    struct vertex *a = &vertices[pair->key >> 32], *b = &vertices[(uint32_t)pair->key];
    a->heaviest = pair->weight > a->heaviest ? pair->weight : a->heaviest;
    b->heaviest = pair->weight > b->heaviest ? pair->weight : b->heaviest;
}

/* None of the vertices with pairs is silent. @return whether nothing of what is remembered changes */
static bool take_in_all(struct contact *c)
{
    struct vertex *const vertices = c->vertices;
    const uint64_t *messages = c->messages;
    const double horizon = c->params.horizon;
    const uint32_t steady = c->params.steady;
    bool changed = false;
    for (struct pair *pair = c->pairs, *end = pair + c->count; pair < end; pair++) {
        changed |= fade(pair, *messages++, horizon, steady);
        weigh(vertices, pair);
    }
    return !changed;
}

/* Pairs of vertices that are silent stay as they are. */
static bool take_in_some(struct contact *c)
{
    struct vertex *const vertices = c->vertices;
    const uint64_t *messages = c->messages;
    bool changed = false;
    for (struct pair *pair = c->pairs, *end = pair + c->count; pair < end; pair++, messages++) {
        if (vertices[pair->key >> 32].active || vertices[(uint32_t)pair->key].active)
            changed |= fade(pair, *messages, c->params.horizon, c->params.steady);
        weigh(vertices, pair);
    }
    return !changed;
}

static inline uint32_t activate(struct vertex *vertex)
{
    bool before = vertex->active;
    vertex->active = true;
    return !before;
}

/* Which vertices communicated, as far as it takes to see that all with pairs did. @return whether they did */
static bool are_all_active(const struct contact *c)
{
    uint32_t silent = c->paired;
    for (uint32_t i = 0; i < c->count && silent > 0; i++) {
        if (c->messages[i] == 0)
            continue;
        silent -= activate(&c->vertices[c->pairs[i].key >> 32]);
        silent -= activate(&c->vertices[(uint32_t)c->pairs[i].key]);
    }
    return silent == 0;
}

static inline bool is_forgotten(double horizon, const struct pair *pair)
{
    return pair->weight * horizon < FORGOTTEN;
}

/* The smaller one of the largest weights of a pair's ends. */
static inline double least_of(const struct vertex *vertices, const struct pair *pair)
{
    double least = vertices[pair->key >> 32].heaviest;
    double other = vertices[(uint32_t)pair->key].heaviest;
    return other < least ? other : least;
}

/* @param forgotten  set to how many pairs can be left out
 * @return how many edges appeared or went */
static size_t judge(struct contact *c, uint32_t *forgotten)
{
    const struct vertex *const vertices = c->vertices;
    const double shares[2] = {c->params.enter, c->params.leave}, horizon = c->params.horizon;
    const uint32_t steady = c->params.steady;
    size_t count = 0;
    uint32_t left_out = 0;
    for (struct pair *pair = c->pairs, *end = pair + c->count; pair < end; pair++) {
        const bool out = is_forgotten(horizon, pair), known = pair->windows >= steady;
        const bool large = pair->weight >= shares[pair->edge] * least_of(vertices, pair);
        const bool edge = known & !out & large; /* what is no jump cannot be foreseen wrongly */
        left_out += out;
        if (edge == pair->edge)
            continue;
        pair->edge = edge;
        c->edges[count++] = (struct contact_edge){
            .a = (uint32_t)(pair->key >> 32), .b = (uint32_t)pair->key, .present = edge};
    }
    *forgotten = left_out;
    return count;
}

static void begin_vertices(struct contact *c)
{
    for (uint32_t v = 0; v < c->vertex_room; v++) {
        c->vertices[v].heaviest = 0;
        c->vertices[v].active = false;
    }
}

static void forget(struct contact *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (is_forgotten(c->params.horizon, &c->pairs[i]))
            continue;
        c->messages[kept] = c->messages[i];
        c->pairs[kept++] = c->pairs[i];
    }
    c->count = kept;
    memset(c->index, 0, ((size_t)c->mask + 1) * sizeof(*c->index));
    for (uint32_t v = 0; v < c->vertex_room; v++)
        c->vertices[v].paired = false;
    c->paired = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        index_pair(c, i);
        join_ends(c, c->pairs[i].key);
    }
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
    *edges = c->edges;
    *count = 0;
    bool done = c->again && c->settled;
    if (!c->told)
        open_window(c);
    c->told = c->again = false;
    if (done)
        return 0;
    uint32_t forgotten;
    bool all = c->heard == c->count || are_all_active(c);
    bool same = all ? take_in_all(c) : take_in_some(c);
    size_t changed = judge(c, &forgotten);
    c->settled = same && changed == 0 && forgotten == 0;
    if (forgotten > 0)
        forget(c);
    begin_vertices(c);
    qsort(c->edges, changed, sizeof(*c->edges), compare);
    *count = changed;
    return 0;
}

size_t contact_pairs(const struct contact *c)
{
    return c->count;
}
