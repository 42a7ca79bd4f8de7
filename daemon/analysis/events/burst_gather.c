/* Gathering the messages and collectives of a window into bursts, and their rows. */
#include "daemon/analysis/events/burst_gather.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "daemon/analysis/tables/key_table.h"
#include "holter/call.h"
#include "holter/order.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ROWS (1u << 19) /* of all nodes of a job in one window */
#define MINIMUM_ROWS 64u
#define MAXIMUM_MESSAGES (1u << 16) /* in the log */
#define MAXIMUM_CALLS (1u << 13)
#define MAXIMUM_PAIRS 4096u /* rows of one burst of messages */
#define MAXIMUM_CALL_PAIRS 512u
#define MAXIMUM_COLLECTIVES 4096u /* of one window: call, communicator, root */
#define MAXIMUM_CALL_ROWS (1u << 13)
#define MAXIMUM_CREATED (1u << 12) /* persistent collectives that are remembered */
#define MAXIMUM_MEMBERS (1u << 13)

__extension__ typedef unsigned __int128 wide;

/* The log and the bursts of messages, or of calls. */
struct kind {
    struct burst_log log;
    struct bursts *set; /* owned */
    uint64_t unknown;   /* messages whose pair is not known */
};

struct burst_gather {
    struct kind messages, calls;
    struct burst_desk *desk;              /* owned */
    struct key_table collectives;         /* call and communicator, root */
    struct key_table call_rows;           /* rank and number of the collective, size class */
    struct key_table persistent;          /* rank and request of persistent collectives */
    uint16_t *persistent_calls;           /* owned; by number in persistent */
    struct wire_comm_member_row *members; /* owned; of any communicator */
    uint32_t member_count, member_capacity;
    struct {
        struct wire_burst_row *bursts;
        struct wire_burst_pair_row *pairs;
        struct wire_collective_row *collectives;
        struct wire_comm_member_row *members;
        uint32_t *positions; /* of collectives among the reported ones, plus 1; 0: not reported */
        uint64_t pair_capacity, pair_count, burst_count;
    } rows;
};

static int burst_gather_kind_init(struct kind *kind, uint32_t maximum, uint32_t pairs)
{
    struct bursts_params params = {BURST_GATHER_BURSTS, pairs, BURST_LOG_CELL_NS};
    return burst_log_init(&kind->log, maximum) == 0 ? bursts_create(&kind->set, &params) : -ENOMEM;
}

static int burst_gather_allocate(struct burst_gather *gather)
{
    gather->persistent_calls = malloc(MAXIMUM_CREATED * sizeof *gather->persistent_calls);
    gather->rows.bursts = malloc(2 * BURST_GATHER_BURSTS * sizeof *gather->rows.bursts);
    if (gather->persistent_calls == NULL || gather->rows.bursts == NULL ||
        burst_gather_kind_init(&gather->messages, MAXIMUM_MESSAGES, MAXIMUM_PAIRS) != 0 ||
        burst_gather_kind_init(&gather->calls, MAXIMUM_CALLS, MAXIMUM_CALL_PAIRS) != 0 ||
        burst_desk_create(&gather->desk) != 0)
        return -ENOMEM;
    return 0;
}

int burst_gather_create(struct burst_gather **out)
{
    struct burst_gather *gather = calloc(1, sizeof *gather);
    if (gather == NULL)
        return -ENOMEM;
    if (burst_gather_allocate(gather) != 0) {
        burst_gather_destroy(gather);
        return -ENOMEM;
    }
    *out = gather;
    return 0;
}

void burst_gather_destroy(struct burst_gather *gather)
{
    if (gather == NULL)
        return;
    burst_log_finish(&gather->messages.log);
    burst_log_finish(&gather->calls.log);
    bursts_destroy(gather->messages.set);
    bursts_destroy(gather->calls.set);
    burst_desk_destroy(gather->desk);
    key_table_finish(&gather->collectives);
    key_table_finish(&gather->call_rows);
    key_table_finish(&gather->persistent);
    free(gather->persistent_calls);
    free(gather->members);
    free(gather->rows.bursts);
    free(gather->rows.pairs);
    free(gather->rows.collectives);
    free(gather->rows.members);
    free(gather->rows.positions);
    free(gather);
}

void burst_gather_clear(struct burst_gather *gather)
{
    gather->messages.log.count = gather->calls.log.count = 0;
    gather->messages.unknown = gather->calls.unknown = 0;
    bursts_clear(gather->messages.set);
    bursts_clear(gather->calls.set);
    key_table_clear(&gather->collectives);
    key_table_clear(&gather->call_rows);
    gather->member_count = 0;
}

uint64_t burst_gather_share(uint64_t nodes)
{
    uint64_t rows = nodes == 0 ? BURST_GATHER_ROWS : ALL_ROWS / nodes;
    return rows > BURST_GATHER_ROWS ? BURST_GATHER_ROWS : rows < MINIMUM_ROWS ? MINIMUM_ROWS : rows;
}

/* ---- messages ------------------------------------------------------------ */

struct burst_log *burst_gather_log(struct burst_gather *gather)
{
    return &gather->messages.log;
}

static void burst_gather_flush_kind(struct burst_gather *gather, struct kind *kind,
                                    const struct burst_names *names, uint64_t rows)
{
    struct burst_bounds bounds = {BURST_GATHER_BURSTS, rows};
    kind->unknown += burst_log_flush(&kind->log, gather->desk, names, &bounds, kind->set);
}

void burst_gather_messages(struct burst_gather *gather, const struct burst_names *names)
{
    burst_gather_flush_kind(gather, &gather->messages, names, BURST_GATHER_ROWS);
}

/* ---- collectives --------------------------------------------------------- */

enum burst_kind burst_kind_of(uint16_t call)
{
    if ((call >= CALL_Barrier && call <= CALL_Exscan) ||
        (call >= CALL_Ibarrier && call <= CALL_Iexscan))
        return BURST_COLLECTIVE;
    if (call >= CALL_Barrier_init && call <= CALL_Exscan_init)
        return BURST_INIT;
    return call == CALL_Start || call == CALL_Startall ? BURST_START : BURST_NO_COLLECTIVE;
}

static struct key burst_gather_request_key(const struct burst_call *call)
{
    return (struct key){call->rank, call->request};
}

static void burst_gather_store_request(struct burst_gather *gather, const struct burst_call *call)
{
    struct key key = burst_gather_request_key(call);
    if (call->request == 0)
        return;
    uint32_t number = key_table_number(&gather->persistent, key, MAXIMUM_CREATED);
    /* When the table is full it is emptied: starts of forgotten requests count as MPI_Start. */
    if (number == KEY_NONE) {
        key_table_clear(&gather->persistent);
        number = key_table_number(&gather->persistent, key, MAXIMUM_CREATED);
    }
    if (number != KEY_NONE)
        gather->persistent_calls[number] = call->call;
}

static uint32_t burst_gather_call_row(struct burst_gather *gather, const struct burst_call *call,
                                      uint16_t number)
{
    struct key key = {(uint64_t)number << 32 | call->comm, (uint32_t)call->root};
    uint32_t collective = key_table_number(&gather->collectives, key, MAXIMUM_COLLECTIVES);
    if (collective == KEY_NONE)
        return BURST_LOG_NO_ROW;
    key = (struct key){(uint64_t)call->rank << 32 | collective, size_class_of(call->bytes)};
    return key_table_number(&gather->call_rows, key, MAXIMUM_CALL_ROWS);
}

static int burst_gather_call_pair(const void *user, uint32_t number, struct burst_pair *out)
{
    const struct burst_gather *gather = user;
    struct key key = gather->call_rows.keys[number];
    out->source = (uint32_t)(key.hi >> 32);
    out->destination = (uint32_t)key.hi;
    out->size_class = (uint32_t)key.lo;
    return 0;
}

static void burst_gather_flush_calls(struct burst_gather *gather, uint64_t rows)
{
    struct burst_names names = {burst_gather_call_pair, gather};
    burst_gather_flush_kind(gather, &gather->calls, &names, rows);
}

void burst_gather_call(struct burst_gather *gather, enum burst_kind kind,
                       const struct burst_call *call)
{
    uint16_t number = call->call;
    if (kind == BURST_INIT) {
        burst_gather_store_request(gather, call);
        return;
    }
    if (kind == BURST_START) {
        uint32_t found = key_table_find(&gather->persistent, burst_gather_request_key(call));
        number = found != KEY_NONE ? gather->persistent_calls[found] : number;
    }
    if (burst_log_full(&gather->calls.log))
        burst_gather_flush_calls(gather, BURST_GATHER_ROWS / 4);
    burst_log_add(&gather->calls.log, call->time_ns, call->bytes,
                  burst_gather_call_row(gather, call, number));
}

void burst_gather_member(struct burst_gather *gather, const struct wire_comm_member_row *member)
{
    if (gather->member_count < MAXIMUM_MEMBERS &&
        ARRAY_FIT_AT(gather->members, gather->member_capacity, gather->member_count) == 0)
        gather->members[gather->member_count++] = *member;
}

/* ---- rows ---------------------------------------------------------------- */

static wide burst_gather_clamp(wide value, wide minimum, wide maximum)
{
    return value < minimum ? minimum : value > maximum ? maximum : value;
}

static uint64_t burst_gather_shift_time(uint64_t time_ns, int64_t shift_ns)
{
    uint64_t by = shift_ns < 0 ? 0 - (uint64_t)shift_ns : (uint64_t)shift_ns;
    if (shift_ns < 0)
        return time_ns > by ? time_ns - by : 0;
    return time_ns < UINT64_MAX - by ? time_ns + by : UINT64_MAX;
}

static wide burst_gather_shift_sum(wide sum, int64_t shift_ns, uint64_t messages)
{
    wide by = (wide)(shift_ns < 0 ? 0 - (uint64_t)shift_ns : (uint64_t)shift_ns) * messages;
    if (shift_ns < 0)
        return sum > by ? sum - by : 0;
    return sum < ~(wide)0 - by ? sum + by : ~(wide)0;
}

/* Convert times to daemon time. All are shifted by the clock offset at their mean, which keeps
 * their sum exact. */
static struct wire_burst_row burst_row(const struct burst_sums *one,
                                       const struct burst_clock *clock, uint64_t kind)
{
    int64_t shift = (int64_t)(clock->at(clock->user, one->time_ns) - one->time_ns);
    uint64_t from =
        clock->begin_ns > BURST_GATHER_SLACK_NS ? clock->begin_ns - BURST_GATHER_SLACK_NS : 0;
    uint64_t to = clock->end_ns + BURST_GATHER_SLACK_NS;
    wide sum = burst_gather_shift_sum((wide)one->time_sum_high << 64 | one->time_sum_low, shift,
                                      one->messages);
    uint64_t first =
        (uint64_t)burst_gather_clamp(burst_gather_shift_time(one->first_ns, shift), from, to);
    uint64_t last =
        (uint64_t)burst_gather_clamp(burst_gather_shift_time(one->last_ns, shift), from, to);
    wide rest = one->messages - 1;
    sum = burst_gather_clamp(sum, rest * first + last, first + rest * last);
    return (struct wire_burst_row){
        .collective = kind,
        .first_ns = first,
        .last_ns = last,
        .time_sum_high = (uint64_t)(sum >> 64),
        .time_sum_low = (uint64_t)sum,
        .messages = one->messages,
        .bytes = one->bytes,
        .other_messages = one->others.messages,
        .other_bytes = one->others.bytes,
        .other_pairs = one->others.pairs,
    };
}

/* Keep the `keep` pairs of a burst with the most bytes, of equal ones the first, and add the rest
 * to its "others". @return 0 or -ENOMEM */
static int burst_gather_fold(struct wire_burst_row *burst, struct wire_burst_pair_row *pairs,
                             uint64_t keep)
{
    const uint64_t count = burst->pairs;
    struct key_place *places = malloc((2 * count + 1) * sizeof *places);
    if (places == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        places[i] = (struct key_place){~pairs[i].bytes, (uint32_t)i};
    const struct key_place *sorted = key_order(places, places + count, count);
    for (uint64_t i = keep; i < count; i++) {
        struct wire_burst_pair_row *row = &pairs[sorted[i].place];
        burst->other_messages += row->messages;
        burst->other_bytes += row->bytes;
        burst->other_pairs++;
        row->messages = 0; /* it has one at least otherwise */
    }
    free(places);
    burst->pairs = 0;
    for (uint64_t i = 0; i < count; i++)
        if (pairs[i].messages > 0)
            pairs[burst->pairs++] = pairs[i];
    return 0;
}

static int burst_gather_reserve_pairs(struct burst_gather *gather, uint64_t need)
{
    if (need <= gather->rows.pair_capacity)
        return 0;
    uint64_t capacity =
        2 * gather->rows.pair_capacity > need ? 2 * gather->rows.pair_capacity : need;
    if (ARRAY_RESIZE(gather->rows.pairs, capacity) != 0)
        return -ENOMEM;
    gather->rows.pair_capacity = capacity;
    return 0;
}

/* Append the rows of one burst. */
static int burst_gather_append(struct burst_gather *gather, const struct burst_sums *one,
                               const struct burst_clock *clock, uint64_t kind)
{
    if (burst_gather_reserve_pairs(gather, gather->rows.pair_count + one->pair_count) != 0)
        return -ENOMEM;
    struct wire_burst_row *row = &gather->rows.bursts[gather->rows.burst_count++];
    *row = burst_row(one, clock, kind);
    row->pairs = one->pair_count;
    for (size_t i = 0; i < one->pair_count; i++) {
        const struct burst_pair *pair = &one->pairs[i];
        gather->rows.pairs[gather->rows.pair_count++] = (struct wire_burst_pair_row){
            .source = pair->source,
            .destination = pair->destination,
            .size_class = pair->size_class,
            .messages = pair->messages,
            .bytes = pair->bytes,
        };
    }
    return 0;
}

/* Append the rows of a set. If its only burst has more than `maximum` rows, pairs lose theirs.
 * @return 0, -ENOMEM, or -ERANGE: there are more rows, of bursts that can be merged */
static int burst_gather_append_set(struct burst_gather *gather, struct bursts *set,
                                   const struct burst_clock *clock, uint64_t kind, uint64_t maximum)
{
    struct burst_sums one;
    uint64_t rows = 0;
    uint32_t count = bursts_count(set);
    for (uint32_t i = 0; i < count; i++) {
        int rc = bursts_read(set, i, &one);
        rows += 1 + one.pair_count;
        if (rc == 0 && rows > maximum && count > 1)
            return -ERANGE;
        if (rc == 0)
            rc = burst_gather_append(gather, &one, clock, kind);
        if (rc != 0)
            return rc;
    }
    if (rows > maximum) { /* there is one burst */
        struct wire_burst_row *burst = &gather->rows.bursts[gather->rows.burst_count - 1];
        gather->rows.pair_count -= burst->pairs;
        if (burst_gather_fold(burst, gather->rows.pairs + gather->rows.pair_count,
                              maximum < 2 ? 0 : maximum - 1) != 0)
            return -ENOMEM;
        gather->rows.pair_count += burst->pairs;
    }
    return 0;
}

/* Append the rows of a set, after merging its bursts until the rows fit. */
static int burst_gather_fit_set(struct burst_gather *gather, struct bursts *set,
                                const struct burst_clock *clock, uint64_t kind, uint64_t maximum)
{
    uint64_t pairs = gather->rows.pair_count, bursts = gather->rows.burst_count;
    for (;;) {
        int rc = burst_gather_append_set(gather, set, clock, kind, maximum);
        if (rc != -ERANGE)
            return rc;
        gather->rows.pair_count = pairs;
        gather->rows.burst_count = bursts;
        bursts_reduce(set, bursts_count(set) * 3 / 4);
    }
}

/* Number the collectives that rows name, in the order of their first occurrence. */
static uint64_t burst_gather_place_collectives(struct burst_gather *gather, uint64_t first_pair)
{
    uint64_t count = 0;
    uint32_t *positions = gather->rows.positions;
    memset(positions, 0, gather->collectives.count * sizeof *positions);
    for (uint64_t i = first_pair; i < gather->rows.pair_count; i++)
        positions[gather->rows.pairs[i].destination] = 1;
    for (uint32_t i = 0; i < gather->collectives.count; i++) {
        struct key key = gather->collectives.keys[i];
        if (positions[i] == 0)
            continue;
        gather->rows.collectives[count] =
            (struct wire_collective_row){key.hi >> 32, (uint32_t)key.hi, (int32_t)(uint32_t)key.lo};
        positions[i] = (uint32_t)++count;
    }
    for (uint64_t i = first_pair; i < gather->rows.pair_count; i++)
        gather->rows.pairs[i].destination = positions[gather->rows.pairs[i].destination] - 1;
    return count;
}

ORDER_FUNCTION(burst_gather_compare_comms, struct wire_comm_member_row,
               2 * ORDER(a->comm, b->comm) + ORDER(a->rank, b->rank))

/* Set the members of the communicators that collectives name. Reuses the memory of the positions,
 * which are not needed any more. */
static uint64_t burst_gather_pick_members(struct burst_gather *gather, uint64_t collectives)
{
    uint64_t count = 0;
    uint32_t *comms = gather->rows.positions;
    for (uint64_t i = 0; i < collectives; i++)
        comms[i] = (uint32_t)gather->rows.collectives[i].comm;
    qsort(comms, collectives, sizeof *comms, order_u32);
    for (uint32_t i = 0; i < gather->member_count; i++) {
        uint32_t comm = (uint32_t)gather->members[i].comm;
        if (bsearch(&comm, comms, collectives, sizeof *comms, order_u32) != NULL)
            gather->rows.members[count++] = gather->members[i];
    }
    qsort(gather->rows.members, count, sizeof *gather->rows.members, burst_gather_compare_comms);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct wire_comm_member_row *row = &gather->rows.members[i];
        if (i == 0 || burst_gather_compare_comms(row - 1, row) != 0)
            gather->rows.members[kept++] = *row;
    }
    return kept;
}

static int burst_gather_reserve_names(struct burst_gather *gather)
{
    const size_t capacity = gather->collectives.count + (size_t)1;
    if (ARRAY_RESIZE(gather->rows.collectives, capacity) != 0 ||
        ARRAY_RESIZE(gather->rows.positions, capacity) != 0 ||
        ARRAY_RESIZE(gather->rows.members, gather->member_count + (size_t)1) != 0)
        return -ENOMEM;
    return 0;
}

/* If there are messages, calls have at most a quarter of the rows. Their rows are made twice: first
 * to know how many are left for messages, whose rows stand before them. */
static int burst_gather_fill_rows(struct burst_gather *gather, const struct burst_names *names,
                                  const struct burst_clock *clock, uint64_t maximum,
                                  uint64_t *call_pairs)
{
    int quiet = gather->messages.log.count == 0 && bursts_count(gather->messages.set) == 0;
    uint64_t for_calls = quiet ? maximum : maximum / 4;
    burst_gather_flush_calls(gather, for_calls);
    int rc = burst_gather_fit_set(gather, gather->calls.set, clock, 1, for_calls);
    if (rc != 0)
        return rc;
    uint64_t used = gather->rows.burst_count + gather->rows.pair_count;
    uint64_t rest = maximum > used ? maximum - used : 1;
    gather->rows.burst_count = gather->rows.pair_count = 0;
    burst_gather_flush_kind(gather, &gather->messages, names, rest);
    rc = burst_gather_fit_set(gather, gather->messages.set, clock, 0, rest);
    *call_pairs = gather->rows.pair_count;
    return rc == 0 ? burst_gather_fit_set(gather, gather->calls.set, clock, 1, for_calls) : rc;
}

static int burst_gather_is_folded(const struct burst_gather *gather)
{
    uint64_t others = 0;
    for (uint64_t i = 0; i < gather->rows.burst_count; i++)
        others += gather->rows.bursts[i].other_messages;
    return others > gather->messages.unknown + gather->calls.unknown;
}

int burst_gather_rows(struct burst_gather *gather, const struct burst_names *names,
                      const struct burst_clock *clock, uint64_t most_rows, struct burst_rows *out)
{
    uint64_t call_pairs = 0;
    uint64_t maximum =
        most_rows < BURST_GATHER_MAXIMUM_ROWS ? most_rows : BURST_GATHER_MAXIMUM_ROWS;
    gather->rows.burst_count = gather->rows.pair_count = 0;
    int rc = burst_gather_fill_rows(gather, names, clock, maximum, &call_pairs);
    if (rc == 0)
        rc = burst_gather_reserve_names(gather);
    if (rc != 0)
        return rc;
    uint64_t collectives = burst_gather_place_collectives(gather, call_pairs);
    *out = (struct burst_rows){
        .bursts = gather->rows.bursts,
        .pairs = gather->rows.pairs,
        .collectives = gather->rows.collectives,
        .members = gather->rows.members,
        .bursts_count = gather->rows.burst_count,
        .pairs_count = gather->rows.pair_count,
        .collectives_count = collectives,
        .members_count = burst_gather_pick_members(gather, collectives),
        .folded = burst_gather_is_folded(gather),
    };
    return 0;
}

void burst_rows_shift(struct wire_burst_row *bursts, uint64_t count, int64_t shift_ns)
{
    for (uint64_t i = 0; i < count; i++) {
        struct wire_burst_row *row = &bursts[i];
        wide sum = burst_gather_shift_sum((wide)row->time_sum_high << 64 | row->time_sum_low,
                                          shift_ns, row->messages);
        row->first_ns = burst_gather_shift_time(row->first_ns, shift_ns);
        row->last_ns = burst_gather_shift_time(row->last_ns, shift_ns);
        row->time_sum_high = (uint64_t)(sum >> 64);
        row->time_sum_low = (uint64_t)sum;
    }
}
