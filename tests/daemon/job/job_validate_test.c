/* Rows of messages are valid up to the limits of their columns, and not beyond, wherever they
 * stand. */
#include "daemon/analysis/latency/latency.h"
#include "daemon/job/job_validate.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/time_class.h"
#include "tests/proto/wire_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HOUR_NS UINT64_C(3600000000000)
#define YEAR_NS (365 * 24 * HOUR_NS)
#define MOST_MESSAGES (UINT64_C(1) << 40)
#define WORLD 1000u
#define MOST_ROWS 21u

static uint64_t seed = 88172645463325252u;

static uint64_t any(uint64_t below)
{
    return random_next(&seed) % below;
}

/* A value about a limit of a column of numbers that are not below 0, or far above. */
static uint64_t about(uint64_t most)
{
    const uint64_t values[] = {0,        1,        most - 1,           most,
                               most + 1, most * 2, UINT64_C(1) << 63,  (UINT64_C(1) << 63) + most,
                               ~most,    0 - most, UINT64_MAX - 1,     UINT64_MAX,
                               most / 2, most / 3, UINT64_C(1) << 32u, UINT32_MAX};
    return values[any(sizeof(values) / sizeof(values[0]))];
}

static int is_right(struct wire_window *window)
{
    struct job_fault fault;
    window->length_ns = 1;
    int code = job_validate_window(window, WORLD, &fault);
    assert_true(code == 0 || code == -HOLTER_ERANGE);
    return code == 0;
}

static int is_time(int64_t ns)
{
    return ns >= -(int64_t)HOUR_NS && ns <= (int64_t)HOUR_NS;
}

static void halves_keep_their_limits(void **state)
{
    struct wire_half_row rows[MOST_ROWS];
    unsigned right = 0;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t count = 1 + any(MOST_ROWS);
        struct wire_half_row *h = &rows[any(count)];
        struct wire_window message = {.halves = rows, .halves_count = count};
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct wire_half_row){.key = UINT64_MAX,
                                             .receive = any(2),
                                             .source = any(WORLD),
                                             .destination = any(WORLD),
                                             .bytes = UINT64_MAX - i,
                                             .begin_ns = -(int64_t)any(HOUR_NS),
                                             .length_ns = any(HOUR_NS),
                                             .together = UINT64_MAX,
                                             .local_ns = (int64_t)any(HOUR_NS)};
        uint64_t *const columns[] = {&h->source, &h->destination, (uint64_t *)&h->begin_ns,
                                     &h->length_ns, (uint64_t *)&h->local_ns};
        const size_t at = any(5);
        *columns[at] = about(at < 2 ? WORLD - 1 : HOUR_NS);
        const int wanted = h->source < WORLD && h->destination < WORLD && is_time(h->begin_ns) &&
                           h->length_ns <= HOUR_NS && is_time(h->local_ns);
        assert_int_equal(is_right(&message), wanted);
        right += (unsigned)wanted;
    }
    assert_true(right > 5000 && right < 15000);
}

static int may_take(uint64_t sum, uint64_t messages, uint64_t each)
{
    uint64_t most;
    return messages <= MOST_MESSAGES &&
           (__builtin_mul_overflow(messages, each, &most) || sum <= most);
}

static void transfers_keep_their_limits(void **state)
{
    struct wire_transfer_row rows[MOST_ROWS];
    unsigned right = 0;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t count = 1 + any(MOST_ROWS);
        struct wire_transfer_row *t = &rows[any(count)];
        struct wire_window message = {.transfers = rows, .transfers_count = count};
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct wire_transfer_row){.source = any(WORLD),
                                                 .destination = any(WORLD),
                                                 .size_class = any(SIZE_CLASSES),
                                                 .messages = 4 + any(4),
                                                 .delayed = any(5),
                                                 .transfer_ns = any(HOUR_NS),
                                                 .log2_sum = any(UINT64_C(256) << 16)};
        uint64_t *const columns = &t->source;
        const size_t at = any(11);
        columns[at] = about(at < 2    ? WORLD - 1
                            : at == 2 ? SIZE_CLASSES - 1
                            : at == 3 ? MOST_MESSAGES
                            : at == 4 ? t->messages
                            : at < 10 ? t->messages * YEAR_NS
                                      : t->messages * (UINT64_C(64) << 16));
        int wanted = t->source < WORLD &&
                     (t->destination < WORLD || t->destination == UINT64_MAX) &&
                     t->size_class < SIZE_CLASSES && t->messages > 0 && t->delayed <= t->messages &&
                     may_take(t->log2_sum, t->messages, UINT64_C(64) << 16);
        for (size_t i = 5; i < 10; i++)
            wanted &= may_take(columns[i], t->messages, YEAR_NS);
        assert_int_equal(is_right(&message), wanted);
        right += (unsigned)wanted;
    }
    assert_true(right > 5000 && right < 15000);
}

/* A rank that serves others waits in MPI_Recv for hours; in a window of a minute a pair may send
 * more than five million messages. */
static void long_waits_and_many_messages_are_right(void **state)
{
    struct wire_transfer_row row = {.source = 1, .messages = 1, .late_sender_ns = 50 * HOUR_NS};
    struct wire_window message = {.transfers = &row, .transfers_count = 1};
    (void)state;
    assert_true(is_right(&message));
    row = (struct wire_transfer_row){.source = 1, .messages = 60000000, .transfer_ns = 60000000};
    assert_true(is_right(&message));
}

static void times_keep_their_limits(void **state)
{
    static const uint64_t most[] = {LOCALITIES - 1, SIZE_CLASSES - 1, TIME_CLASSES - 1, UINT32_MAX};
    struct wire_latency_row rows[MOST_ROWS];
    unsigned right = 0;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t count = 1 + any(MOST_ROWS), at = any(4);
        struct wire_latency_row *l = &rows[any(count)];
        struct wire_window message = {.latencies = rows, .latencies_count = count};
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct wire_latency_row){any(most[0] + 1), any(most[1] + 1),
                                                any(most[2] + 1), any(most[3] + 1)};
        uint64_t *const columns = &l->locality;
        columns[at] = about(most[at]);
        const int wanted = columns[at] <= most[at];
        assert_int_equal(is_right(&message), wanted);
        right += (unsigned)wanted;
    }
    assert_true(right > 5000 && right < 15000);
}

/* Of messages, or of calls of so many collectives. */
static void pairs_keep_their_limits(void **state)
{
    struct wire_burst_pair_row rows[MOST_ROWS];
    struct wire_comm_row comm = {.size = WORLD};
    struct wire_collective_row collectives[3] = {{0}};
    unsigned right = 0;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t count = 1 + any(MOST_ROWS), changed = any(count), at = any(5);
        struct wire_burst_row burst = {.collective = any(2), .pairs = count};
        struct wire_window message = {.length_ns = 1,
                                      .comms = &comm,
                                      .comms_count = 1,
                                      .collectives = collectives,
                                      .collectives_count = 3,
                                      .bursts = &burst,
                                      .bursts_count = 1,
                                      .burst_pairs = rows,
                                      .burst_pairs_count = count};
        const uint64_t places = burst.collective ? 3 : WORLD;
        int wanted = 1;
        for (size_t i = 0; i < count; i++) {
            rows[i] = (struct wire_burst_pair_row){any(WORLD), any(places), any(SIZE_CLASSES),
                                                   1 + any(100), any(100)};
            uint64_t *const columns = &rows[i].source;
            if (i == changed)
                columns[at] = about(at == 0   ? WORLD - 1
                                    : at == 1 ? places - 1
                                    : at == 2 ? SIZE_CLASSES - 1
                                              : UINT64_C(1) << (any(2) ? 40 : 63));
            wanted &= rows[i].source < WORLD && rows[i].destination < places &&
                      rows[i].size_class < SIZE_CLASSES && rows[i].messages > 0 &&
                      !__builtin_add_overflow(burst.messages, rows[i].messages, &burst.messages) &&
                      !__builtin_add_overflow(burst.bytes, rows[i].bytes, &burst.bytes);
        }
        assert_int_equal(is_right(&message), wanted);
        burst.messages++;
        assert_false(is_right(&message));
        burst.messages--;
        burst.bytes++;
        assert_false(is_right(&message));
        right += (unsigned)wanted;
    }
    assert_true(right > 5000 && right < 19000);
}

static void processes_keep_their_limits(void **state)
{
    struct wire_process_row rows[MOST_ROWS];
    unsigned right = 0;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t count = 1 + any(MOST_ROWS);
        struct wire_process_row *p = &rows[any(count)];
        struct wire_window message = {.processes = rows, .processes_count = count};
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct wire_process_row){.rank = any(WORLD),
                                                .length_ns = 1 + any(HOUR_NS),
                                                .samples = 30,
                                                .runnable = any(11),
                                                .stopped = any(11),
                                                .blocked = any(11)};
        uint64_t *const columns[] = {&p->rank, &p->length_ns, &p->runnable, &p->stopped,
                                     &p->blocked};
        const size_t at = any(5);
        *columns[at] = about(at == 0 ? WORLD - 1 : at == 1 ? HOUR_NS : 10);
        const int wanted = p->rank < WORLD && p->length_ns > 0 && p->runnable <= 30 &&
                           p->stopped <= 30 && p->blocked <= 30 &&
                           p->runnable + p->stopped + p->blocked <= 30;
        assert_int_equal(is_right(&message), wanted);
        right += (unsigned)wanted;
    }
    assert_true(right > 5000 && right < 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_keep_their_limits),
        cmocka_unit_test(transfers_keep_their_limits),
        cmocka_unit_test(long_waits_and_many_messages_are_right),
        cmocka_unit_test(times_keep_their_limits),
        cmocka_unit_test(pairs_keep_their_limits),
        cmocka_unit_test(processes_keep_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
