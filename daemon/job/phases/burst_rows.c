#include "daemon/job/phases/burst_rows.h"

#include "daemon/analysis/tables/fetch.h"
#include "daemon/job/row_limits.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define AHEAD_NS UINT64_C(60000000000)     /* a clock that is not aligned yet may be so far off */
#define BEHIND_NS UINT64_C(86400000000000) /* the middle of a call that took two days */
#define NODE_BURSTS 32u                    /* of each node */
#define RANK_PAIRS 64u                     /* rows of a burst, for each rank */
#define RANK_CALLS 8u
#define LEAST_PAIRS 4096u
#define FINEST_CELL UINT64_C(1024)
#define MOST_FIGURE (UINT64_C(1) << 40) /* of a row that is checked in short */
#define ROWS_AHEAD 32u                  /* rows that are fetched before they are set */

__extension__ typedef unsigned __int128 wide;

/* Two columns of a row that follow each other. */
typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint32_t four __attribute__((vector_size(16), aligned(8), may_alias));

static two columns_at(const uint64_t *column)
{
    return *(const two *)column;
}

/* ---- checking ------------------------------------------------------------------ */

static int wrong(char *why, size_t room, const char *table, uint64_t row, const char *what)
{
    snprintf(why, room, "window.%s[%" PRIu64 "] %s", table, row, what);
    return -HOLTER_ERANGE;
}

/* Can messages between first and last have this sum of times? As a set of bursts asks. */
static int is_possible(const struct wire_burst_row *b)
{
    wide sum = (wide)b->time_sum_high << 64 | b->time_sum_low;
    if (b->messages == 0 || b->first_ns > b->last_ns)
        return 0;
    if (b->messages == 1)
        return b->first_ns == b->last_ns && sum == b->first_ns;
    wide ends = (wide)b->first_ns + b->last_ns, between = b->messages - 2;
    return sum >= ends + between * b->first_ns && sum <= ends + between * b->last_ns;
}

static const char *burst_fault(const struct wire_window *m, const struct wire_burst_row *b,
                               uint64_t pairs_left)
{
    uint64_t begin = m->window * m->length_ns, end = begin + m->length_ns;
    if (!is_possible(b))
        return "has times that no messages can have";
    if (b->last_ns > end + AHEAD_NS || (begin > BEHIND_NS && b->first_ns < begin - BEHIND_NS))
        return "lies outside of its window";
    if (b->collective > 1 || b->pairs > pairs_left)
        return "names rows of burst_pairs that are not there";
    if (b->other_pairs > b->other_messages ||
        (b->other_pairs == 0 && (b->other_messages | b->other_bytes) != 0))
        return "has others that contradict themselves";
    return NULL;
}

static const char *pair_fault(const struct wire_window *m, const struct wire_burst_pair_row *p,
                              uint64_t collective, uint64_t world)
{
    if (p->source >= world || p->destination >= (collective ? m->collectives_count : world))
        return "names a rank or a collective that is not there";
    if (p->messages == 0 || p->size_class >= SIZE_CLASSES)
        return "has no messages or an unknown size class";
    return NULL;
}

_Static_assert(ROW_COLUMN(wire_burst_pair_row, source) == 0 &&
                   ROW_COLUMN(wire_burst_pair_row, messages) == 3,
               "columns that are looked at together follow each other");

struct sums {
    uint64_t messages, bytes;
};

/* Add rows of which none is wrong, of so few messages and bytes that their sums, of as many rows as
 * there may be, are below 2^63. @return false: there may be others */
WIDE_LOOP bool add_fitting_of(const struct wire_burst_pair_row *p, size_t count, uint64_t ranks,
                              uint64_t destinations, struct sums *sums)
{
    const row_four more = {0, 0, 0, UINT64_MAX};
    const row_four most = {ranks - 1, destinations - 1, SIZE_CLASSES - 1, MOST_FIGURE - 1};
    row_four above = {0}, all = {0}, some;
    uint64_t bytes = 0, any = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *columns = &p[i].source;
        memcpy(&some, columns, sizeof(some));
        all += some;
        row_note_above(&above, columns, &more, &most);
        bytes += p[i].bytes;
        any |= p[i].bytes;
    }
    *sums = (struct sums){all[3], bytes};
    return (row_any(&above) >> 63 | any / MOST_FIGURE) == 0;
}

WIDE static bool add_fitting_wide(const struct wire_burst_pair_row *p, size_t count, uint64_t ranks,
                                  uint64_t destinations, struct sums *sums)
{
    return add_fitting_of(p, count, ranks, destinations, sums);
}

static bool add_fitting(const struct wire_burst_pair_row *p, size_t count, uint64_t ranks,
                        uint64_t destinations, struct sums *sums)
{
    return wide_is_here() ? add_fitting_wide(p, count, ranks, destinations, sums)
                          : add_fitting_of(p, count, ranks, destinations, sums);
}

/* Rows and others must be all of the burst.
 * @param first  of its rows @return 0, or -HOLTER_ERANGE and why */
static int check_pairs(const struct wire_window *m, uint64_t at, uint64_t first, uint64_t world,
                       char *why, size_t room)
{
    const struct wire_burst_row *b = &m->bursts[at];
    const struct wire_burst_pair_row *const pairs = m->burst_pairs + first;
    uint64_t messages = b->other_messages, bytes = b->other_bytes, i = 0;
    struct sums sums;
    int over = 0;
    if (add_fitting(pairs, b->pairs, world, b->collective ? m->collectives_count : world, &sums)) {
        over |= __builtin_add_overflow(messages, sums.messages, &messages);
        over |= __builtin_add_overflow(bytes, sums.bytes, &bytes);
        i = b->pairs;
    }
    for (; i < b->pairs; i++) {
        const char *fault = pair_fault(m, &pairs[i], b->collective, world);
        if (fault != NULL)
            return wrong(why, room, "burst_pairs", first + i, fault);
        over |= __builtin_add_overflow(messages, pairs[i].messages, &messages);
        over |= __builtin_add_overflow(bytes, pairs[i].bytes, &bytes);
    }
    if (over || messages != b->messages || bytes != b->bytes)
        return wrong(why, room, "bursts", at, "is not the sum of its rows and others");
    return 0;
}

static int check_bursts(const struct wire_window *m, uint64_t world, char *why, size_t room)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < m->bursts_count; i++) {
        const struct wire_burst_row *b = &m->bursts[i];
        const char *fault = burst_fault(m, b, m->burst_pairs_count - first);
        if (fault != NULL)
            return wrong(why, room, "bursts", i, fault);
        int code = check_pairs(m, i, first, world, why, room);
        if (code != 0)
            return code;
        first += b->pairs;
    }
    if (first != m->burst_pairs_count)
        return wrong(why, room, "burst_pairs", first, "belongs to no burst");
    return 0;
}

int burst_rows_check(const struct wire_window *m, uint64_t world, char *why, size_t room)
{
    for (uint64_t i = 0; i < m->collectives_count; i++) {
        const struct wire_collective_row *c = &m->collectives[i];
        if (c->comm >= m->comms_count || c->root >= (int64_t)world || c->root < INT32_MIN ||
            c->call > UINT16_MAX)
            return wrong(why, room, "collectives", i, "names what is not there");
    }
    for (uint64_t i = 0; i < m->comm_members_count; i++) {
        const struct wire_comm_member_row *c = &m->comm_members[i];
        /* With ranks of other jobs a communicator is larger than this one (MPI_Intercomm_merge). */
        if (c->comm >= m->comms_count || c->rank >= world || c->position >= m->comms[c->comm].size)
            return wrong(why, room, "comm_members", i, "names what is not there");
    }
    return check_bursts(m, world, why, room);
}

/* ---- sets ---------------------------------------------------------------------- */

void burst_rows_finish(struct burst_rows *rows)
{
    bursts_destroy(rows->messages.bursts);
    bursts_destroy(rows->calls.bursts);
    *rows = (struct burst_rows){0};
}

void burst_pool_finish(struct burst_pool *pool)
{
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++)
        bursts_destroy(pool->sets[i].bursts);
    *pool = (struct burst_pool){0};
}

static void give_back(struct burst_pool *pool, struct burst_set *set)
{
    if (set->bursts == NULL)
        return;
    bursts_clear(set->bursts);
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++) {
        if (pool->sets[i].bursts != NULL)
            continue;
        pool->sets[i] = *set;
        return;
    }
    /* The oldest goes: it may be of a size that is not asked for any more. */
    bursts_destroy(pool->sets[0].bursts);
    memmove(&pool->sets[0], &pool->sets[1], sizeof(pool->sets) - sizeof(pool->sets[0]));
    pool->sets[sizeof(pool->sets) / sizeof(pool->sets[0]) - 1] = *set;
}

void burst_rows_close(struct burst_rows *rows, struct burst_pool *pool)
{
    give_back(pool, &rows->messages);
    give_back(pool, &rows->calls);
    *rows = (struct burst_rows){0};
}

static struct bursts_params params_of(const struct burst_rows_size *size, int calls)
{
    uint64_t nodes = size->nodes < 2 ? 2 : size->nodes, cell = FINEST_CELL;
    uint64_t pairs = size->world * (calls ? RANK_CALLS : RANK_PAIRS);
    int many = nodes > BURST_ROWS_BUDGET / NODE_BURSTS;
    while (many && cell < size->window_ns / BURST_ROWS_BUDGET * 2)
        cell *= 2;
    return (struct bursts_params){
        .budget = many ? BURST_ROWS_BUDGET : (uint32_t)nodes * NODE_BURSTS,
        .pairs = pairs < LEAST_PAIRS        ? LEAST_PAIRS
                 : pairs > BURST_ROWS_PAIRS ? BURST_ROWS_PAIRS
                                            : (uint32_t)pairs,
        .cell_ns = cell,
        .whole = BURST_ROWS_WINDOW + (calls ? 0 : BURST_ROWS_MODELLED),
    };
}

static int is_same(const struct bursts_params *a, const struct bursts_params *b)
{
    return a->budget == b->budget && a->pairs == b->pairs && a->cell_ns == b->cell_ns;
}

/* Of the pool, or a new one. */
static int open_set(struct burst_set *set, struct burst_pool *pool,
                    const struct burst_rows_size *size, int calls)
{
    struct bursts_params wanted = params_of(size, calls);
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++) {
        if (pool->sets[i].bursts == NULL || !is_same(&pool->sets[i].params, &wanted))
            continue;
        *set = pool->sets[i];
        pool->sets[i] = (struct burst_set){0};
        return 0;
    }
    set->params = wanted;
    return bursts_create(&set->bursts, &wanted);
}

int burst_rows_open(struct burst_rows *rows, struct burst_pool *pool,
                    const struct burst_rows_size *size, const struct wire_window *m)
{
    uint64_t pairs[2] = {0};
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->bursts_count; i++) {
        int calls = m->bursts[i].collective != 0;
        struct burst_set *set = calls ? &rows->calls : &rows->messages;
        pairs[calls] += m->bursts[i].pairs;
        if (set->bursts == NULL)
            code = open_set(set, pool, size, calls);
    }
    uint64_t left = BURST_ROWS_WINDOW - rows->rows;
    for (int calls = 0; code == 0 && calls < 2; calls++) {
        struct burst_set *set = calls ? &rows->calls : &rows->messages;
        uint64_t more = pairs[calls] < left ? pairs[calls] : left;
        if (more > 0 && bursts_room(set->bursts, more) == NULL)
            code = -ENOMEM;
    }
    return code;
}

int burst_rows_need(struct burst_rows *rows, struct burst_pool *pool,
                    const struct burst_rows_size *size)
{
    return rows->messages.bursts != NULL ? 0 : open_set(&rows->messages, pool, size, 0);
}

/* ---- taking -------------------------------------------------------------------- */

int burst_rows_fits(const struct burst_rows *rows, const struct wire_window *m)
{
    uint64_t messages[2] = {0}, bytes[2] = {0};
    const struct bursts *sets[2] = {rows->messages.bursts, rows->calls.bursts};
    for (unsigned i = 0; i < 2; i++) {
        messages[i] = sets[i] == NULL ? 0 : bursts_messages(sets[i]);
        bytes[i] = sets[i] == NULL ? 0 : bursts_bytes(sets[i]);
    }
    for (uint64_t i = 0; i < m->bursts_count; i++) {
        const struct wire_burst_row *b = &m->bursts[i];
        if (__builtin_add_overflow(messages[b->collective], b->messages,
                                   &messages[b->collective]) ||
            __builtin_add_overflow(bytes[b->collective], b->bytes, &bytes[b->collective]))
            return -EOVERFLOW;
    }
    return 0;
}

/* Source, destination and class below 2^32 are the first half of a pair, messages and bytes the
 * other. */
static inline void set_row(struct burst_pair *out, const struct wire_burst_pair_row *p)
{
    const four ranks = (four)columns_at(&p->source), kind = (four)columns_at(&p->size_class);
    *(four *)&out->source = __builtin_shuffle(ranks, kind, (four){0, 2, 4, 5});
    *(two *)&out->messages = columns_at(&p->messages);
}

/* @param count        at least 1
 * @param collectives  NULL: destinations are ranks
 * @return whether they ascend strictly by ranks, in which case it need not be looked at again; of
 * ranks from 0 to 0 on that is not said */
static inline bool set_rows(struct burst_pair *out, const struct wire_burst_pair_row *p,
                            uint64_t count, const uint32_t *collectives)
{
    uint64_t before = 0;
    bool ascend = true;
    for (uint64_t i = 0; i < count; i++) {
        fetch_after(&p[i], ROWS_AHEAD * sizeof(*p));
        fetch_after_for_write(&out[i], ROWS_AHEAD * sizeof(*out));
        set_row(&out[i], &p[i]);
        if (collectives != NULL)
            out[i].destination = collectives[p[i].destination];
        uint64_t ranks =
            p[i].source << 32 | (collectives != NULL ? out[i].destination : p[i].destination);
        ascend &= ranks > before;
        before = ranks;
    }
    return ascend;
}

static bool set_pairs(struct burst_pair *out, const struct wire_burst_row *b,
                      const struct wire_burst_pair_row *pairs, const uint32_t *collectives)
{
    return b->collective ? set_rows(out, pairs, b->pairs, collectives)
                         : set_rows(out, pairs, b->pairs, NULL);
}

static void add_burst(struct burst_rows *rows, const struct wire_burst_row *b,
                      const struct wire_burst_pair_row *pairs, const uint32_t *collectives)
{
    struct bursts *set = b->collective ? rows->calls.bursts : rows->messages.bursts;
    struct burst_sums burst = {
        .first_ns = b->first_ns,
        .last_ns = b->last_ns,
        .time_sum_high = b->time_sum_high,
        .time_sum_low = b->time_sum_low,
        .messages = b->messages,
        .bytes = b->bytes,
        .others = {b->other_messages, b->other_bytes, b->other_pairs},
        .pair_count = b->pairs,
    };
    struct burst_pair *room = NULL;
    bool ascend = false;
    if (b->pairs > 0 && b->pairs <= BURST_ROWS_WINDOW - rows->rows)
        room = bursts_room(set, b->pairs);
    if (room != NULL) {
        ascend = set_pairs(room, b, pairs, collectives);
        burst.pairs = room;
    } else if (b->pairs > 0) { /* counted, but not who with whom */
        burst.others = (struct burst_others){b->messages, b->bytes, b->other_pairs + b->pairs};
        burst.pair_count = 0;
    }
    rows->rows += burst.pair_count;
    bursts_add_known(set, &burst, ascend); /* it was checked, and fits */
}

void burst_rows_take(struct burst_rows *rows, const struct wire_window *m,
                     const uint32_t *collectives)
{
    const struct wire_burst_pair_row *pairs = m->burst_pairs;
    for (uint64_t i = 0; i < m->bursts_count; i++) {
        add_burst(rows, &m->bursts[i], pairs, collectives);
        pairs += m->bursts[i].pairs;
    }
}
