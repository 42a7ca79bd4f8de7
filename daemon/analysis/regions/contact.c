#include "daemon/analysis/regions/contact_state.h"

#include "daemon/analysis/tables/array.h"
#include "include/holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VERTICES (1u << 24)
#define MOST_PAIRS (1u << 28)
#define LEAST_PLACES 64u /* of the index; a power of two */

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
    free(contact->keys);
    free(contact->weights);
    free(contact->windows);
    free(contact->messages);
    free(contact->known);
    free(contact->edge);
    free(contact->busy);
    free(contact->ranges);
    free(contact->cover);
    free(contact->index);
    free(contact->vertices);
    free(contact->heaviest);
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
    uint32_t place = place_of(c->keys[position], c->mask);
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

/* Room in an array that others share the size of; what is new is zero. @return 0 or -ENOMEM: it is
 * as it was */
static int grow(void *array_pointer, size_t element, uint32_t room, uint32_t need)
{
    void **array = array_pointer, *grown = realloc(*array, need * element);
    if (grown == NULL)
        return -ENOMEM;
    memset((char *)grown + room * element, 0, (need - room) * element);
    *array = grown;
    return 0;
}

static int fit_pair(struct contact *c)
{
    if (c->count < c->room)
        return 0;
    uint32_t room = c->room, need = (room + room / 2) / BLOCK * BLOCK + BLOCK;
    int code = grow(&c->messages, sizeof(*c->messages), room, need);
    code = code != 0 ? code : grow(&c->keys, sizeof(*c->keys), room, need);
    code = code != 0 ? code : grow(&c->weights, sizeof(*c->weights), room, need);
    code = code != 0 ? code : grow(&c->windows, sizeof(*c->windows), room, need);
    code = code != 0 ? code : grow(&c->known, sizeof(*c->known), room / BLOCK, need / BLOCK);
    code = code != 0 ? code : grow(&c->edge, sizeof(*c->edge), room / BLOCK, need / BLOCK);
    code = code != 0 ? code : grow(&c->busy, sizeof(*c->busy), room / BLOCK, need / BLOCK);
    code = code != 0 ? code : grow(&c->ranges, sizeof(*c->ranges), room / BLOCK, need / BLOCK);
    c->room = code == 0 ? need : room;
    return code;
}

static int fit_vertex(struct contact *c, uint32_t vertex)
{
    if (vertex < c->vertex_room)
        return 0;
    uint32_t room = c->vertex_room, need = vertex + vertex / 2 + LEAST_PLACES;
    int code = grow(&c->vertices, sizeof(*c->vertices), room, need);
    code = code != 0 ? code : grow(&c->heaviest, sizeof(*c->heaviest), room, need);
    c->vertex_room = code == 0 ? need : room;
    return code;
}

/* @return position, or count: not known */
static uint32_t find_pair(const struct contact *c, uint64_t key)
{
    uint32_t place = place_of(key, c->mask);
    while (c->mask != 0 && c->index[place] != 0) {
        if (c->keys[c->index[place] - 1] == key)
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
        if (ends[i]->paired)
            continue;
        ends[i]->paired = true;
        c->paired++;
        c->least_heaviest = 0; /* so nothing is sure of any block, and all ranges are found */
    }
}

/* The first messages of a window are told, or none are. */
static void open_window(struct contact *c)
{
    c->again = false;
    if (c->told)
        return;
    for (uint32_t from = 0; from < c->count; from += BLOCK) {
        if (c->busy[from / BLOCK])
            memset(c->messages + from, 0, BLOCK * sizeof(*c->messages));
        c->busy[from / BLOCK] = false;
    }
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
        c->keys[c->count] = key;
        join_ends(c, key);
        index_pair(c, c->count++);
    }
    c->heard += c->messages[at] == 0;
    c->busy[at / BLOCK] = true;
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

/* Rows that stand where they stood in the window before, from one on. @return the first that does
 * not */
static size_t add_known(struct contact *c, const struct pair_row *rows, size_t i, size_t count)
{
    const uint64_t *const keys = c->keys;
    uint64_t *const sums = c->messages;
    bool *const busy = c->busy;
    const uint32_t most = c->params.most_vertices, known = c->count, *const at = c->rows;
    uint32_t heard = 0;
    for (; i < count; i++) {
        uint32_t from = rows[i].source, to = (uint32_t)rows[i].destination;
        uint64_t messages = rows[i].messages;
        if (from >= most || to >= most || from == to || messages == 0)
            continue;
        if (at[i] >= known || keys[at[i]] != key_of(from, to))
            break;
        heard += sums[at[i]] == 0;
        busy[at[i] / BLOCK] = true;
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

static inline uint32_t activate(struct vertex *vertex)
{
    bool before = vertex->active;
    vertex->active = true;
    return !before;
}

/* @return whether each pair of the cover has messages, and it covers all vertices with pairs */
static bool is_cover_heard(const struct contact *c)
{
    uint32_t heard = 0;
    if (c->covered != c->paired)
        return false;
    while (heard < c->cover_count && c->messages[c->cover[heard]] != 0)
        heard++;
    return heard == c->cover_count;
}

/* Which vertices communicated, as far as it takes to see that all with pairs did. Pairs that show
 * it become the cover.
 * @return whether they did */
static bool are_all_active(struct contact *c)
{
    uint32_t silent = c->paired, count = 0;
    const bool room = array_fit(&c->cover, sizeof(*c->cover), &c->cover_room, silent) == 0;
    for (uint32_t i = 0; i < c->count && silent > 0; i++) {
        if (!c->busy[i / BLOCK] || c->messages[i] == 0)
            continue;
        uint32_t before = silent;
        silent -= activate(&c->vertices[c->keys[i] >> 32]);
        silent -= activate(&c->vertices[(uint32_t)c->keys[i]]);
        if (room && silent < before)
            c->cover[count++] = i;
    }
    c->cover_count = count;
    c->covered = room && silent == 0 ? c->paired : 0;
    return silent == 0;
}

static inline bool is_forgotten(const struct contact *c, uint32_t i)
{
    return c->weights[i] * c->params.horizon < FORGOTTEN;
}

/* The smaller one of the largest weights of a pair's ends. */
static inline double least_of(const double *heaviest, uint64_t key)
{
    double least = heaviest[key >> 32], other = heaviest[(uint32_t)key];
    return other < least ? other : least;
}

/* Of a whole block: does no edge appear or go, and can no pair be left out? So it is nearly always.
 */
static bool block_stays(const struct contact *c, uint32_t from)
{
    const uint64_t *keys = c->keys + from;
    const double *weights = c->weights + from, *heaviest = c->heaviest, enter = c->params.enter,
                 leave = c->params.leave;
    uint64_t edges = c->edge[from / BLOCK], knowns = c->known[from / BLOCK];
    two_flags differs = {0};
    for (uint32_t i = 0; i < BLOCK; i += 2, edges >>= 2, knowns >>= 2) {
        const two_flags edge = contact_lanes[edges & 3], known = contact_lanes[knowns & 3];
        const two_numbers enters = {enter, enter}, leaves = {leave, leave};
        const two_numbers share =
            (two_numbers)(((two_flags)enters & ~edge) | ((two_flags)leaves & edge));
        two_numbers weight, least = {least_of(heaviest, keys[i]), least_of(heaviest, keys[i + 1])};
        memcpy(&weight, weights + i, sizeof(weight));
        differs |= weight * c->params.horizon < FORGOTTEN;
        differs |= (known & (weight >= share * least)) ^ edge;
    }
    return (differs[0] | differs[1]) == 0;
}

/* @param forgotten  added to: how many pairs can be left out
 * @return how many edges of a block appeared or went; they are put behind `changed` */
static size_t judge_block(struct contact *c, uint32_t from, struct contact_edge *changed,
                          uint32_t *forgotten)
{
    const double shares[2] = {c->params.enter, c->params.leave};
    uint64_t *edges = &c->edge[from / BLOCK], knowns = c->known[from / BLOCK];
    size_t count = 0;
    for (uint32_t i = 0, some = pairs_of_block(c, from); i < some; i++) {
        const uint64_t key = c->keys[from + i];
        const bool was = *edges >> i & 1, out = is_forgotten(c, from + i);
        const bool edge = (knowns >> i & 1) && !out &&
                          c->weights[from + i] >= shares[was] * least_of(c->heaviest, key);
        *forgotten += out;
        if (edge == was)
            continue;
        *edges ^= UINT64_C(1) << i;
        changed[count++] =
            (struct contact_edge){.a = (uint32_t)(key >> 32), .b = (uint32_t)key, .present = edge};
    }
    return count;
}

/* Does the range of a block's weights say that no edge appears or goes, and no pair can be left
 * out? */
static bool is_sure(const struct contact *c, const struct range *range, double most)
{
    return range->least_edge >= c->params.leave * most &&
           range->most_other < c->params.enter * c->least_heaviest &&
           range->least * c->params.horizon >= FORGOTTEN;
}

/* @return the first block from one on that has to be looked at, or behind the last */
static uint32_t next_unsure(const struct contact *c, uint32_t from, double most)
{
    while (from < c->count && is_sure(c, &c->ranges[from / BLOCK], most))
        from += BLOCK;
    return from;
}

/* The heaviest pairs of vertices are sought only when the ranges of weights do not say enough.
 * @param forgotten  set to how many pairs can be left out
 * @return how many edges appeared or went */
static size_t judge(struct contact *c, uint32_t *forgotten)
{
    size_t count = 0;
    double most = 0;
    *forgotten = 0;
    for (uint32_t block = 0; block * BLOCK < c->count; block++)
        most = c->ranges[block].most > most ? c->ranges[block].most : most;
    uint32_t from = next_unsure(c, 0, most);
    if (from < c->count)
        contact_find_heaviest(c);
    while ((from = next_unsure(c, from, most)) < c->count) {
        if (c->count - from < BLOCK || !block_stays(c, from)) {
            count += judge_block(c, from, c->edges + count, forgotten);
            contact_find_range(c, from);
        }
        from += BLOCK;
    }
    return count;
}

static void begin_vertices(struct contact *c)
{
    for (uint32_t v = 0; v < c->vertex_room; v++)
        c->vertices[v].active = false;
}

static void set_bit(uint64_t *bits, uint32_t at, uint64_t value)
{
    uint64_t bit = UINT64_C(1) << at % BLOCK;
    bits[at / BLOCK] = value != 0 ? bits[at / BLOCK] | bit : bits[at / BLOCK] & ~bit;
}

/* Put a pair in place of one before it, or of itself. */
static void move_pair(struct contact *c, uint32_t to, uint32_t from)
{
    c->keys[to] = c->keys[from];
    c->weights[to] = c->weights[from];
    c->windows[to] = c->windows[from];
    c->messages[to] = c->messages[from];
    set_bit(c->known, to, c->known[from / BLOCK] >> from % BLOCK & 1);
    set_bit(c->edge, to, c->edge[from / BLOCK] >> from % BLOCK & 1);
}

static void clear_pair(struct contact *c, uint32_t at)
{
    c->keys[at] = c->messages[at] = 0;
    c->weights[at] = 0;
    c->windows[at] = 0;
    set_bit(c->known, at, 0);
    set_bit(c->edge, at, 0);
}

static void forget(struct contact *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (!is_forgotten(c, i))
            move_pair(c, kept++, i);
    for (uint32_t i = kept; i < c->count; i++)
        clear_pair(c, i);
    memset(c->busy, 0, c->room / BLOCK * sizeof(*c->busy));
    c->count = kept;
    memset(c->index, 0, ((size_t)c->mask + 1) * sizeof(*c->index));
    for (uint32_t v = 0; v < c->vertex_room; v++)
        c->vertices[v].paired = false;
    c->paired = c->covered = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->busy[i / BLOCK] |= c->messages[i] != 0;
        index_pair(c, i);
        join_ends(c, c->keys[i]);
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
    bool seen = c->heard == c->count || is_cover_heard(c), all = seen || are_all_active(c);
    bool same = contact_weigh(c, all);
    if (!seen)
        begin_vertices(c);
    size_t changed = judge(c, &forgotten);
    c->settled = same && changed == 0 && forgotten == 0;
    if (forgotten > 0)
        forget(c);
    qsort(c->edges, changed, sizeof(*c->edges), compare);
    *count = changed;
    return 0;
}

size_t contact_pairs(const struct contact *c)
{
    return c->count;
}
