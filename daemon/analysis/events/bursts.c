/* Clustering of messages in time: bursts are opened, extended, and merged where pauses are
 * shortest. */
#include "daemon/analysis/events/bursts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* What is known of some messages but who sent them. */
struct extent {
    wide time_sum;
    uint64_t first, last;
    uint64_t messages, bytes;
};

struct cluster {
    struct extent extent;
    struct burst_pairs pairs;
};

struct bursts {
    struct bursts_params params;
    uint32_t shift; /* a time's cell is the time shifted right by so much */
    uint32_t count;
    uint64_t messages, bytes;    /* of all bursts */
    uint64_t *time;              /* owned; of each burst, ascending, each in a cell of its own */
    uint32_t *order;             /* owned; clusters, in order of time; then those not in use */
    uint32_t *first;             /* owned; of each burst, where in order[] its clusters begin; then
                                    their end */
    struct cluster *clusters;    /* owned; budget + 1 */
    struct burst_pair *reserved; /* owned; space for rows that are to be added next */
    size_t reserved_capacity;
    struct burst_pairs view; /* as read last */
};

static bool bursts_is_valid(const struct bursts_params *p)
{
    return p->budget >= 1 && p->budget <= BURSTS_MAXIMUM && p->pairs >= BURST_PAIRS_MINIMUM &&
           p->pairs <= BURSTS_MAXIMUM_PAIRS && p->cell_ns >= 1 &&
           p->cell_ns <= BURSTS_MAXIMUM_CELL && (p->cell_ns & (p->cell_ns - 1)) == 0;
}

static int bursts_allocate(struct bursts *set)
{
    uint32_t capacity = set->params.budget + 1;
    set->time = calloc(capacity, sizeof(*set->time));
    set->order = calloc(capacity, sizeof(*set->order));
    set->first = calloc((size_t)capacity + 1, sizeof(*set->first));
    set->clusters = calloc(capacity, sizeof(*set->clusters));
    if (set->time == NULL || set->order == NULL || set->first == NULL || set->clusters == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < capacity; i++) {
        set->order[i] = i;
        if (burst_pairs_init(&set->clusters[i].pairs) != 0)
            return -ENOMEM;
    }
    return 0;
}

int bursts_create(struct bursts **out, const struct bursts_params *params)
{
    if (!bursts_is_valid(params))
        return -EINVAL;
    struct bursts *set = calloc(1, sizeof(*set));
    if (set == NULL)
        return -ENOMEM;
    set->params = *params;
    set->shift = (uint32_t)__builtin_ctzll(params->cell_ns);
    if (bursts_allocate(set) != 0) {
        bursts_destroy(set);
        return -ENOMEM;
    }
    *out = set;
    return 0;
}

void bursts_destroy(struct bursts *set)
{
    if (set == NULL)
        return;
    for (uint32_t i = 0; set->clusters != NULL && i <= set->params.budget; i++)
        burst_pairs_finish(&set->clusters[i].pairs);
    free(set->reserved);
    burst_pairs_finish(&set->view);
    free(set->time);
    free(set->order);
    free(set->first);
    free(set->clusters);
    free(set);
}

void bursts_clear(struct bursts *set)
{
    for (uint32_t i = 0; i < set->first[set->count]; i++)
        burst_pairs_release(&set->clusters[set->order[i]].pairs);
    set->count = set->first[0] = 0;
    set->messages = set->bytes = 0;
}

/* ---- time ------------------------------------------------------------------------- */

static uint64_t bursts_mean_of(const struct extent *e)
{
    /* The part after the first message nearly always fits a 64-bit division. */
    wide rest = e->time_sum - (wide)e->first * e->messages;
    if (rest >> 64 == 0)
        return e->first + (uint64_t)rest / e->messages;
    return e->first + (uint64_t)(rest / e->messages);
}

static struct cluster *bursts_at(const struct bursts *set, uint32_t position)
{
    return &set->clusters[set->order[set->first[position]]];
}

static uint64_t bursts_cell_of(const struct bursts *set, uint64_t time)
{
    return time >> set->shift;
}

/* @return the first burst whose time is in this cell or a later one; count: none */
static uint32_t bursts_find(const struct bursts *set, uint64_t cell)
{
    return BISECT(i, 0, set->count, bursts_cell_of(set, set->time[i]) < cell);
}

static void bursts_extend(struct extent *to, const struct extent *by)
{
    to->time_sum += by->time_sum;
    to->first = by->first < to->first ? by->first : to->first;
    to->last = by->last > to->last ? by->last : to->last;
    to->messages += by->messages;
    to->bytes += by->bytes;
}

/* ---- bursts come and go ------------------------------------------------------------ */

/* Move the rows of each burst into its first cluster, so that the others can be used again. */
static void bursts_settle(struct bursts *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t first = set->first[i], kept = set->order[first];
        for (uint32_t at = first + 1; at < set->first[i + 1]; at++)
            burst_pairs_move(&set->clusters[kept].pairs, &set->clusters[set->order[at]].pairs,
                             set->params.pairs);
        set->order[first] = set->order[i];
        set->order[i] = kept;
        set->first[i] = i;
    }
    set->first[set->count] = set->count;
}

/* An empty pair table and this extent. */
static struct cluster *bursts_open_at(struct bursts *set, uint32_t position,
                                      const struct extent *extent)
{
    if (set->first[set->count] != set->count)
        bursts_settle(set);
    uint32_t unused = set->order[set->count], later = set->count - position;
    memmove(set->order + position + 1, set->order + position, later * sizeof(*set->order));
    memmove(set->time + position + 1, set->time + position, later * sizeof(*set->time));
    set->order[position] = unused;
    set->time[position] = bursts_mean_of(extent);
    set->clusters[unused].extent = *extent;
    set->count++;
    set->first[set->count] = set->count;
    return &set->clusters[unused];
}

/* Make one burst of this one and the next later one. Rows stay where they are, and are added up
 * when the burst is read. */
static void bursts_merge_at(struct bursts *set, uint32_t position)
{
    struct cluster *kept = bursts_at(set, position);
    uint32_t later = set->count - position - 2;
    bursts_extend(&kept->extent, &bursts_at(set, position + 1)->extent);
    set->time[position] = bursts_mean_of(&kept->extent);
    memmove(set->time + position + 1, set->time + position + 2, later * sizeof(*set->time));
    memmove(set->first + position + 1, set->first + position + 2,
            ((size_t)later + 1) * sizeof(*set->first));
    set->count--;
}

/* @return the earlier of the two; there are at least two */
static uint32_t bursts_find_nearest(const struct bursts *set)
{
    uint32_t best = 0;
    uint64_t minimum = UINT64_MAX;
    for (uint32_t i = 0; i + 1 < set->count; i++) {
        uint64_t apart = set->time[i + 1] - set->time[i];
        best = apart < minimum ? i : best;
        minimum = apart < minimum ? apart : minimum;
    }
    return best;
}

void bursts_reduce(struct bursts *set, uint32_t maximum)
{
    maximum = maximum == 0 ? 1 : maximum;
    while (set->count > maximum) /* in any order, if all become one */
        bursts_merge_at(set, maximum == 1 ? 0 : bursts_find_nearest(set));
}

void bursts_join_near(struct bursts *set, uint64_t apart_ns)
{
    while (set->count > 1) {
        uint32_t nearest = bursts_find_nearest(set);
        if (set->time[nearest + 1] - set->time[nearest] >= apart_ns)
            break;
        bursts_merge_at(set, nearest);
    }
}

/* Count what is to be added. @return 0 or -EOVERFLOW */
static int bursts_account(struct bursts *set, uint64_t messages, uint64_t bytes)
{
    uint64_t all_messages, all_bytes;
    if (__builtin_add_overflow(set->messages, messages, &all_messages) ||
        __builtin_add_overflow(set->bytes, bytes, &all_bytes))
        return -EOVERFLOW;
    set->messages = all_messages;
    set->bytes = all_bytes;
    return 0;
}

/* ---- bursts of other sets ------------------------------------------------------------ */

/* The burst that one of another set joins, or becomes. */
static struct cluster *bursts_host_for(struct bursts *set, const struct extent *extent,
                                       const struct burst_others *others)
{
    uint64_t cell = bursts_cell_of(set, bursts_mean_of(extent));
    uint32_t position = bursts_find(set, cell);
    bool joins = position < set->count && bursts_cell_of(set, set->time[position]) == cell;
    struct cluster *host = joins ? bursts_at(set, position) : bursts_open_at(set, position, extent);
    if (joins) {
        bursts_extend(&host->extent, extent);
        set->time[position] = bursts_mean_of(&host->extent);
    }
    burst_others_add(&host->pairs.others, others);
    return host;
}

static struct extent bursts_extent_of(const struct burst_sums *burst)
{
    return (struct extent){(wide)burst->time_sum_high << 64 | burst->time_sum_low, burst->first_ns,
                           burst->last_ns, burst->messages, burst->bytes};
}

struct burst_pair *bursts_reserve_rows(struct bursts *set, size_t rows)
{
    return ARRAY_FIT(set->reserved, set->reserved_capacity, rows) == 0 ? set->reserved : NULL;
}

int bursts_add(struct bursts *set, const struct burst_sums *burst)
{
    const struct extent extent = bursts_extent_of(burst);
    if (bursts_account(set, burst->messages, burst->bytes) != 0)
        return -EOVERFLOW;
    burst_pairs_append(&bursts_host_for(set, &extent, &burst->others)->pairs, set->params.pairs,
                       burst->pairs, burst->pair_count);
    bursts_reduce(set, set->params.budget);
    return 0;
}

/* ---- reading ---------------------------------------------------------------------------- */

uint32_t bursts_count(const struct bursts *set)
{
    return set->count;
}

uint64_t bursts_messages(const struct bursts *set)
{
    return set->messages;
}

uint64_t bursts_bytes(const struct bursts *set)
{
    return set->bytes;
}

/* @param unordered  so many rows may stay in any order, and several of a pair */
static int bursts_view(struct bursts *set, uint32_t number, uint32_t unordered,
                       struct burst_sums *out)
{
    if (number >= set->count)
        return -ERANGE;
    const struct extent *extent = &bursts_at(set, number)->extent;
    burst_pairs_clear(&set->view);
    for (uint32_t at = set->first[number]; at < set->first[number + 1]; at++)
        if (burst_pairs_gather(&set->view, &set->clusters[set->order[at]].pairs) != 0)
            return -ENOMEM;
    if (set->view.count > unordered)
        burst_pairs_order(&set->view, set->params.pairs);
    *out = (struct burst_sums){
        .time_ns = bursts_mean_of(extent),
        .first_ns = extent->first,
        .last_ns = extent->last,
        .time_sum_high = (uint64_t)(extent->time_sum >> 64),
        .time_sum_low = (uint64_t)extent->time_sum,
        .messages = extent->messages,
        .bytes = extent->bytes,
        .others = set->view.others,
        .pairs = set->view.rows,
        .pair_count = set->view.count,
    };
    return 0;
}

int bursts_read(struct bursts *set, uint32_t number, struct burst_sums *out)
{
    return bursts_view(set, number, 0, out);
}

int bursts_gather(struct bursts *set, uint32_t number, struct burst_sums *out)
{
    return bursts_view(set, number, set->params.pairs, out);
}

void bursts_copy_state(struct state_bytes *b, struct bursts **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct bursts *set = *out;
    const size_t capacity = (size_t)set->params.budget + 1;
    STATE_ARRAY(b, set->time, set->count, capacity);
    STATE_ARRAY(b, set->order, capacity, 0);
    STATE_ARRAY(b, set->first, capacity + 1, 0);
    STATE_ARRAY(b, set->clusters, capacity, 0);
    for (size_t i = 0; set->clusters != NULL && i < capacity; i++)
        burst_pairs_copy_state(b, &set->clusters[i].pairs);
    STATE_ARRAY(b, set->reserved, 0, set->reserved_capacity);
    STATE_NO_ARRAY(b, set->view.rows, set->view.capacity);
}
