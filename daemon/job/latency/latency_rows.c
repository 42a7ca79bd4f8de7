#include "daemon/job/latency/latency_rows.h"

#include "daemon/job/row_limits.h"
#include "holter/error.h"
#include "holter/time_class.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NS UINT64_C(3600000000000) /* of one message's times: an hour */
#define MOST_LOG2 (UINT64_C(64) << 16)     /* of one message's time */

void latency_rows_finish(struct latency_rows *rows)
{
    transfers_finish(&rows->transfers);
    time_counts_finish(&rows->times);
    *rows = (struct latency_rows){0};
}

void latency_rows_clear(struct latency_rows *rows)
{
    transfers_clear(&rows->transfers);
    time_counts_clear(&rows->times);
}

/* ---- checking ------------------------------------------------------------ */

static int above(uint64_t sum, uint64_t messages, uint64_t each)
{
    return messages > UINT64_MAX / each || sum > messages * each;
}

/* So few messages, of times so short, that no further bound can be broken. */
static inline bool figures_fit(const struct wire_transfer_row *t)
{
    uint64_t n = t->messages, times = t->transfer_ns | t->late_sender_ns | t->late_receiver_ns |
                                      t->network_ns | t->joint_ns;
    return n - 1 < UINT64_MAX / LONGEST_NS && t->delayed <= n && times <= UINT32_MAX &&
           t->log2_sum <= n * MOST_LOG2;
}

static __attribute__((noinline)) bool figures_wrong(const struct wire_transfer_row *t)
{
    uint64_t n = t->messages;
    return n == 0 || t->delayed > n || above(t->transfer_ns, n, LONGEST_NS) ||
           above(t->late_sender_ns, n, LONGEST_NS) || above(t->late_receiver_ns, n, LONGEST_NS) ||
           above(t->network_ns, n, LONGEST_NS) || above(t->joint_ns, n, LONGEST_NS) ||
           above(t->log2_sum, n, MOST_LOG2);
}

static inline bool transfer_wrong(const struct wire_transfer_row *t, uint64_t world)
{
    bool others = t->destination == UINT64_MAX; /* several together, over the byte budget */
    return t->source >= world || (t->destination >= world && !others) ||
           t->size_class >= SIZE_CLASSES || (!figures_fit(t) && figures_wrong(t));
}

static int half_wrong(const struct wire_half_row *h, uint64_t world)
{
    int64_t most = (int64_t)LONGEST_NS;
    return h->source >= world || h->destination >= world || h->begin_ns < -most ||
           h->begin_ns > most || h->local_ns < -most || h->local_ns > most ||
           h->length_ns > LONGEST_NS;
}

_Static_assert(ROW_COLUMN(wire_transfer_row, source) == 0 &&
                   ROW_COLUMN(wire_transfer_row, messages) == 3 &&
                   ROW_COLUMN(wire_transfer_row, delayed) == 4 &&
                   ROW_COLUMN(wire_transfer_row, transfer_ns) == 5 &&
                   ROW_COLUMN(wire_transfer_row, late_sender_ns) == 6 &&
                   ROW_COLUMN(wire_transfer_row, late_receiver_ns) == 7 &&
                   ROW_COLUMN(wire_transfer_row, network_ns) == 8 &&
                   ROW_COLUMN(wire_transfer_row, joint_ns) == 9 &&
                   ROW_COLUMN(wire_transfer_row, log2_sum) == 10 &&
                   ROW_COLUMN(wire_latency_row, messages) == 3 &&
                   sizeof(struct wire_latency_row) == sizeof(row_four) &&
                   ROW_COLUMN(wire_half_row, receive) == 1 &&
                   ROW_COLUMN(wire_half_row, bytes) == 4 &&
                   ROW_COLUMN(wire_half_row, begin_ns) == 5 &&
                   ROW_COLUMN(wire_half_row, local_ns) == 8,
               "columns that are looked at together follow each other");

WIDE_LOOP bool transfers_fit_of(const struct wire_transfer_row *t, size_t count, uint64_t world)
{
    const row_four more = {0, 0, 0, UINT64_MAX};
    const row_four most = {world - 1, world - 1, SIZE_CLASSES - 1, UINT64_MAX / LONGEST_NS - 1};
    row_four above = {0}, figures = {0}, some;
    uint64_t below = 0; /* likewise: more delayed ones than messages, or too long times of these */
    for (size_t i = 0; i < count; i++) {
        const uint64_t *columns = &t[i].source;
        row_note_above(&above, columns, &more, &most);
        memcpy(&some, columns + 4, sizeof(some));
        figures |= some;
        memcpy(&some, columns + 7, sizeof(some));
        figures |= some;
        below |= (columns[3] - columns[4]) | (columns[3] * MOST_LOG2 - columns[10]);
    }
    return ((row_any(&above) | below) >> 63 | row_any(&figures) >> 32) == 0;
}

WIDE_LOOP bool latencies_fit_of(const struct wire_latency_row *l, size_t count)
{
    const row_four none = {0};
    const row_four most = {LOCALITIES - 1, SIZE_CLASSES - 1, TIME_CLASSES - 1, UINT32_MAX};
    row_four above = {0};
    for (size_t i = 0; i < count; i++)
        row_note_above(&above, &l[i].locality, &none, &most);
    return row_any(&above) >> 63 == 0;
}

WIDE_LOOP bool halves_fit_of(const struct wire_half_row *h, size_t count, uint64_t world)
{
    const row_four none = {0}, most_end = {0, world - 1, world - 1, 0};
    const row_four more = {LONGEST_NS, 0, 0, LONGEST_NS};
    const row_four most_time = {2 * LONGEST_NS, LONGEST_NS, 0, 2 * LONGEST_NS};
    row_four ends = {0}, times = {0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t *columns = &h[i].key;
        row_note_above(&ends, columns + 1, &none, &most_end);
        row_note_above(&times, columns + 5, &more, &most_time);
    }
    return (ends[1] | ends[2] | times[0] | times[1] | times[3]) >> 63 == 0;
}

WIDE_LOOP bool rows_fit_of(const struct wire_window *m, uint64_t world)
{
    return transfers_fit_of(m->transfers, m->transfers_count, world) &&
           latencies_fit_of(m->latencies, m->latencies_count) &&
           halves_fit_of(m->halves, m->halves_count, world);
}

WIDE static bool rows_fit_wide(const struct wire_window *m, uint64_t world)
{
    return rows_fit_of(m, world);
}

/* Can no row of these be wrong? */
static bool rows_fit(const struct wire_window *m, uint64_t world)
{
    return wide_is_here() ? rows_fit_wide(m, world) : rows_fit_of(m, world);
}

static int check_rows(const struct wire_window *m, uint64_t world, char *why, size_t room)
{
    for (uint64_t i = 0; i < m->transfers_count; i++) {
        if (transfer_wrong(&m->transfers[i], world)) {
            snprintf(why, room,
                     "window.transfers[%" PRIu64 "] of ranks %" PRIu64 " and %" PRIu64
                     " contradicts itself",
                     i, m->transfers[i].source, m->transfers[i].destination);
            return -HOLTER_ERANGE;
        }
    }
    for (uint64_t i = 0; i < m->latencies_count; i++) {
        const struct wire_latency_row *l = &m->latencies[i];
        if (l->locality >= LOCALITIES || l->size_class >= SIZE_CLASSES ||
            l->bucket >= TIME_CLASSES || l->messages > UINT32_MAX) {
            snprintf(why, room,
                     "window.latencies[%" PRIu64 "] has locality %" PRIu64 ", size class %" PRIu64
                     " or bucket %" PRIu64 " that is not there",
                     i, l->locality, l->size_class, l->bucket);
            return -HOLTER_ERANGE;
        }
    }
    for (uint64_t i = 0; i < m->halves_count; i++) {
        if (half_wrong(&m->halves[i], world)) {
            snprintf(why, room,
                     "window.halves[%" PRIu64 "] of ranks %" PRIu64 " and %" PRIu64
                     " has ranks or times that are out of range",
                     i, m->halves[i].source, m->halves[i].destination);
            return -HOLTER_ERANGE;
        }
    }
    return 0;
}

int latency_rows_check(const struct wire_window *m, uint64_t world, char *why, size_t room)
{
    int code = rows_fit(m, world) ? 0 : check_rows(m, world, why, room);
    if (code != 0)
        return code;
    for (uint64_t i = 0; i < m->pending_count; i++) {
        if (m->pending[i].rank >= world || m->pending[i].source >= (int64_t)world) {
            snprintf(why, room, "window.pending[%" PRIu64 "] names ranks that are not there", i);
            return -HOLTER_ERANGE;
        }
    }
    return 0;
}

/* ---- collecting ---------------------------------------------------------- */

static inline struct transfer transfer_in(const struct wire_transfer_row *t)
{
    return (struct transfer){
#define X(name) .name = t->name,
        TRANSFER_SUMS(X)
#undef X
            .source = (uint32_t)t->source,
        .destination = (uint32_t)t->destination,
        .size_class = (uint16_t)t->size_class,
        .locality = LOCALITY_INTRA,
    };
}

static inline unsigned class_in(const struct wire_latency_row *l)
{
    return time_counts_class((unsigned)l->locality, (unsigned)l->size_class);
}

/* The first so many rows of transfers and of times. */
static void give_back(struct latency_rows *rows, const struct wire_window *m, size_t transfers,
                      size_t times)
{
    transfers_cut(&rows->transfers, rows->transfers.count - transfers);
    for (size_t i = 0; i < times; i++) {
        const struct wire_latency_row *l = &m->latencies[i];
        time_counts_remove(&rows->times, class_in(l), (uint32_t)l->bucket, l->messages);
    }
}

typedef uint64_t two __attribute__((vector_size(16)));
typedef uint32_t low_halves __attribute__((vector_size(16)));

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define LOW_HALVES(a, b) __builtin_shufflevector((low_halves)(a), (low_halves)(b), 0, 2, 4, 6)
#else
#define LOW_HALVES(a, b) __builtin_shufflevector((low_halves)(a), (low_halves)(b), 1, 3, 5, 7)
#endif

#define SOME 64u /* rows that are written before one looks whether they fit */

_Static_assert(offsetof(struct transfer_times, late_sender_ns) == 4 &&
                   offsetof(struct transfer_times, late_receiver_ns) == 8 &&
                   offsetof(struct transfer_times, network_ns) == 12,
               "times stand in the order of their columns");
_Static_assert(offsetof(struct transfer_head, destination) == 4 &&
                   offsetof(struct transfer_head, log2_sum) == 8 &&
                   offsetof(struct transfer_head, packed) == 12,
               "a head is four numbers");

/* Write rows as if all fitted. @return whether they do */
static bool write_rows(struct transfer_head *head, struct transfer_times *times,
                       const struct wire_transfer_row *from, size_t count)
{
    two above = {0}, ends, early, late, rest;
    uint64_t counts = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_transfer_row *t = &from[i];
        const uint64_t *columns = &t->source;
        memcpy(&ends, columns, sizeof(ends));
        memcpy(&early, columns + ROW_COLUMN(wire_transfer_row, transfer_ns), sizeof(early));
        memcpy(&late, columns + ROW_COLUMN(wire_transfer_row, late_receiver_ns), sizeof(late));
        memcpy(&rest, columns + ROW_COLUMN(wire_transfer_row, joint_ns), sizeof(rest));
        above |= early | late | rest;
        counts |= t->messages | t->delayed;
        const low_halves four_times = LOW_HALVES(early, late);
        memcpy(&times[i], &four_times, sizeof(four_times));
        times[i].joint_ns = (uint32_t)t->joint_ns;
        const uint32_t packed = transfer_packed(LOCALITY_INTRA, (uint16_t)t->size_class,
                                                (uint32_t)t->messages, (uint32_t)t->delayed);
        const two figures = {t->log2_sum, packed};
        const low_halves all = LOW_HALVES(ends, figures);
        memcpy(&head[i], &all, sizeof(all));
    }
    return ((above[0] | above[1]) >> 32 | counts >> TRANSFER_COUNT_BITS) == 0;
}

/* There is room for them, unless they are wide. @param taken  so many are counted as are taken
 * @return 0 or -ENOMEM */
static int take_some(struct transfers *rows, const struct wire_transfer_row *from, size_t count,
                     size_t *taken)
{
    int code = 0;
    if (write_rows(rows->heads + rows->count, rows->times + rows->count, from, count)) {
        rows->count += count;
        *taken += count;
        return 0;
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        const struct transfer row = transfer_in(&from[i]);
        code = transfers_add(rows, &row);
        *taken += code == 0;
    }
    return code;
}

int latency_rows_take(struct latency_rows *rows, const struct wire_window *m)
{
    size_t transfers = 0, times = 0;
    int code = m->transfers_count == 0 ? 0 : transfers_room(&rows->transfers, m->transfers_count);
    while (code == 0 && transfers < m->transfers_count) {
        const size_t left = m->transfers_count - transfers;
        code = take_some(&rows->transfers, &m->transfers[transfers], left < SOME ? left : SOME,
                         &transfers);
    }
    for (; code == 0 && times < m->latencies_count; times += code == 0) {
        const struct wire_latency_row *l = &m->latencies[times];
        code = time_counts_add(&rows->times, class_in(l), (uint32_t)l->bucket, l->messages);
    }
    if (code != 0)
        give_back(rows, m, transfers, times);
    return code;
}

void latency_rows_give_back(struct latency_rows *rows, const struct wire_window *m)
{
    give_back(rows, m, m->transfers_count, m->latencies_count);
}

int latency_rows_move(struct latency_rows *to, struct latency_rows *from)
{
    const size_t before = to->transfers.count;
    int code = transfers_room(&to->transfers, from->transfers.count);
    for (size_t i = 0; code == 0 && i < from->transfers.count; i++) {
        const struct transfer row = transfer_at(&from->transfers, i);
        code = transfers_add(&to->transfers, &row);
    }
    code = code != 0 ? code : time_counts_move(&to->times, &from->times);
    if (code != 0)
        transfers_cut(&to->transfers, before);
    else
        transfers_clear(&from->transfers);
    return code;
}

/* In absolute times. */
static inline struct join_half half_in(const struct wire_half_row *h, uint64_t start)
{
    const uint64_t begin = start + (uint64_t)h->begin_ns;
    return (struct join_half){
        .key = h->key,
        .receive = (int)h->receive,
        .source = (uint32_t)h->source,
        .destination = (uint32_t)h->destination,
        .bytes = h->bytes,
        .begin_ns = begin,
        .end_ns = begin + h->length_ns,
        .local_ns = start + (uint64_t)h->local_ns,
        .together = h->together > UINT32_MAX ? UINT32_MAX : (uint32_t)h->together,
    };
}

/* Ends of a window of which no time, since all were checked, lies out of range. */
static void put_halves(struct join_writer *writer, const struct wire_half_row *h,
                       const struct wire_half_row *end, uint64_t start)
{
    for (; h < end; h++) {
        const struct join_half half = half_in(h, start);
        if (half.source == half.destination)
            writer->unsound = true;
        else if (half.receive == 0)
            join_put_send(writer, &half);
        else if (half.receive == 1 && half.together != 0)
            join_put_receive(writer, &half);
        else
            writer->unsound = true;
    }
}

int latency_rows_halves(const struct wire_window *m, uint32_t node, uint64_t window,
                        struct join *join)
{
    const uint64_t start = m->window * m->length_ns;
    const struct wire_half_row *const end = m->halves + m->halves_count;
    const struct join_report report = {.window = window,
                                       .keys_below = m->keys_below,
                                       .error_ns = m->clock_error_ns,
                                       .node = node,
                                       .count = m->halves_count};
    struct join_writer writer;
    if (m->halves_count == 0 && m->keys_below == 0)
        return 0;
    int code = join_begin(join, &writer, &report);
    if (code != 0 || writer.ends == NULL)
        return code;
    if (start >= LONGEST_NS && start <= JOIN_MOST_NS - 2 * LONGEST_NS) {
        put_halves(&writer, m->halves, end, start);
    } else {
        for (const struct wire_half_row *h = m->halves; h < end; h++) {
            const struct join_half half = half_in(h, start);
            join_put(&writer, &half);
        }
    }
    return join_commit(join, &writer);
}
