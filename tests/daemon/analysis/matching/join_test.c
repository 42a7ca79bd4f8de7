#include "tests/daemon/analysis/matching/join_feed.h"

#include "daemon/analysis/matching/send_wait.h"
#include "holter/error.h"
#include "holter/order.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define EPOCH UINT64_C(1700000000) /* number of the first window, of a second each */

/* ---- what comes out ------------------------------------------------------ */

struct list {
    struct joined *rows;
    size_t count, capacity;
};

static void add_row(struct list *list, const struct joined *row)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->rows = realloc(list->rows, list->capacity * sizeof(*list->rows));
        assert_non_null(list->rows);
    }
    list->rows[list->count++] = *row;
}

static void take(void *user, const struct joined *message)
{
    add_row(user, message);
}

static void assert_same(const struct joined *a, const struct joined *b)
{
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->destination, b->destination);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->transfer_ns, b->transfer_ns);
    assert_int_equal(a->late_sender_ns, b->late_sender_ns);
    assert_int_equal(a->late_receiver_ns, b->late_receiver_ns);
    assert_int_equal(a->send_wait_ns, b->send_wait_ns);
    assert_int_equal(a->network_ns, b->network_ns);
    assert_int_equal(a->joint_ns, b->joint_ns);
    assert_int_equal(a->error_ns, b->error_ns);
    assert_int_equal(a->window, b->window);
    assert_int_equal(a->uncertain, b->uncertain);
}

/* The order in which messages are reported is not specified. */
static int by_meaning(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;
    const uint64_t one[] = {x->window, x->bytes, x->source, x->destination, x->transfer_ns};
    const uint64_t other[] = {y->window, y->bytes, y->source, y->destination, y->transfer_ns};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

static void assert_same_lists(struct list *a, struct list *b)
{
    assert_int_equal(a->count, b->count);
    if (a->count == 0)
        return;
    qsort(a->rows, a->count, sizeof(*a->rows), by_meaning);
    qsort(b->rows, b->count, sizeof(*b->rows), by_meaning);
    for (size_t i = 0; i < a->count; i++)
        assert_same(&a->rows[i], &b->rows[i]);
}

/* ---- what goes in -------------------------------------------------------- */

static struct join *join_of(uint32_t windows, size_t most)
{
    struct join *join;
    struct join_params params = {.windows = windows, .most_halves = most};
    assert_int_equal(join_create(&join, &params), 0);
    return join;
}

/* A message from rank 0 on node 0 to rank 1 on node 1; times in µs from the begin of the epoch. */
static struct join_half match_send_at(uint64_t key, uint64_t begin_us, uint64_t length_us)
{
    uint64_t begin = EPOCH * SECOND + begin_us * US;
    return (struct join_half){.key = key,
                              .destination = 1,
                              .bytes = 100,
                              .begin_ns = begin,
                              .end_ns = begin + length_us * US,
                              .local_ns = begin};
}

static struct join_half match_receive_at(uint64_t key, uint64_t begin_us, uint64_t end_us)
{
    uint64_t begin = EPOCH * SECOND + begin_us * US;
    return (struct join_half){.key = key,
                              .receive = 1,
                              .destination = 1,
                              .bytes = 100,
                              .begin_ns = begin,
                              .end_ns = EPOCH * SECOND + end_us * US,
                              .local_ns = begin,
                              .together = 1,
                              .node = 1};
}

static void add(struct join *join, uint64_t window, const struct join_half *half)
{
    assert_int_equal(join_feed(join, EPOCH + window, 0, half, 1), 0);
}

static void close_into(struct join *join, uint64_t window, struct list *list)
{
    list->count = 0;
    assert_int_equal(join_close(join, EPOCH + window, take, list), 0);
}

/* ---- the terms ----------------------------------------------------------- */

static void times_of_a_message_are_split_by_who_was_late(void **state)
{
    /* All in µs: send, entry and exit of the receiving call, then what is expected. */
    static const struct {
        uint64_t s, w, r, transfer, late_sender, late_receiver, network;
    } cases[] = {
        {100, 40, 130, 30, 60, 0, 30},   /* the receiver waited for the sender */
        {100, 150, 160, 60, 0, 50, 10},  /* the receiver came late */
        {100, 100, 115, 15, 0, 0, 15},   /* both at once */
        {100, 900, 900, 800, 0, 800, 0}, /* it was there long before */
        {500, 0, 2500, 2000, 500, 0, 2000},
    };
    struct list list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct join *join = join_of(2, 100);
        struct join_half send = match_send_at(7, cases[i].s, 1);
        struct join_half receive = match_receive_at(7, cases[i].w, cases[i].r);
        receive.bytes = 60; /* a receive may be given more room than there is message */
        add(join, 0, &send);
        add(join, 0, &receive);
        close_into(join, 0, &list);
        struct joined expected = {.source = 0,
                                  .destination = 1,
                                  .bytes = 60,
                                  .transfer_ns = cases[i].transfer * US,
                                  .late_sender_ns = cases[i].late_sender * US,
                                  .late_receiver_ns = cases[i].late_receiver * US,
                                  .network_ns = cases[i].network * US,
                                  .window = EPOCH};
        assert_int_equal(list.count, 1);
        assert_same(&list.rows[0], &expected);
        join_destroy(join);
    }
    free(list.rows);
}

/* The send of 250 µs meets its receiver after 200 µs; it is over when the receiver comes; and a
 * call that does more than send reports no length. */
static void a_send_waits_between_nodes_until_its_receiver_comes(void **state)
{
    static const struct {
        uint64_t length, enter, send_wait;
    } cases[] = {{250, 300, 200}, {250, 90, 0}, {250, 800, 250 - 20}, {0, 800, 0}};
    struct list list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct join *join = join_of(2, 100);
        struct join_half send = match_send_at(7, 100, cases[i].length);
        struct join_half receive = match_receive_at(7, cases[i].enter, 900);
        send.bytes = receive.bytes = 0;
        add(join, 0, &send);
        add(join, 0, &receive);
        close_into(join, 0, &list);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.rows[0].send_wait_ns, cases[i].send_wait * US);
        join_destroy(join);
    }
    free(list.rows);
}

/* A call that completed three messages: of ranks 0, 2, 3 on nodes 0, 2, 3. */
static void add_call_of_three(struct join *join, const uint64_t *sends_us, uint64_t enter_us,
                              uint64_t exit_us, uint64_t local_us)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct join_half send = match_send_at(10 + i, sends_us[i], 1);
        struct join_half receive = match_receive_at(10 + i, enter_us, exit_us);
        send.source = receive.source = i == 0 ? 0 : i + 1;
        send.node = send.source;
        receive.together = 3;
        receive.local_ns = EPOCH * SECOND + local_us * US;
        add(join, 0, &receive);
        if (sends_us[i] != UINT64_MAX / US)
            add(join, 0, &send);
    }
}

static void network_begins_with_the_latest_send_of_the_call(void **state)
{
    struct list list = {0};
    (void)state;
    struct join *join = join_of(2, 100);
    add_call_of_three(join, (uint64_t[]){100, 300, 250}, 50, 400, 50);
    close_into(join, 0, &list);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list.rows[i].network_ns, 100 * US);
        assert_int_equal(list.rows[i].joint_ns, 0);
    }
    assert_int_equal(list.rows[0].transfer_ns, 300 * US);
    join_destroy(join);

    join = join_of(2, 100); /* one of the same node was sent later still */
    add_call_of_three(join, (uint64_t[]){100, 300, 250}, 50, 400, 390);
    close_into(join, 0, &list);
    assert_int_equal(list.rows[2].network_ns, 10 * US);
    join_destroy(join);
    free(list.rows);
}

static void what_is_left_is_joint_while_a_send_of_the_call_is_unknown(void **state)
{
    const uint64_t unknown = UINT64_MAX / US;
    struct list list = {0};
    (void)state;
    struct join *join = join_of(2, 100);
    add_call_of_three(join, (uint64_t[]){100, 300, unknown}, 50, 400, 50);
    close_into(join, 0, &list);
    assert_int_equal(list.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(list.rows[i].network_ns, 0);
        assert_int_equal(list.rows[i].joint_ns, 100 * US); /* from the latest that is known */
    }
    /* The last send is reported a window later: now all sends of the call are known. */
    struct join_half send = match_send_at(12, 200, 1);
    send.source = send.node = 3;
    add(join, 1, &send);
    close_into(join, 1, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0].network_ns, 100 * US);
    assert_int_equal(list.rows[0].joint_ns, 0);
    assert_int_equal(list.rows[0].window, EPOCH);
    join_destroy(join);
    free(list.rows);
}

/* ---- waiting ------------------------------------------------------------- */

static void an_end_waits_for_the_given_number_of_windows(void **state)
{
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    for (uint64_t later = 0; later <= 4; later++) {
        struct join *join = join_of(3, 100);
        struct join_half send = match_send_at(7, 100, 1),
                         receive = match_receive_at(7, 200, 4000000);
        add(join, 0, &send);
        for (uint64_t window = 0; window <= 4; window++) {
            if (window == later)
                add(join, window, &receive);
            close_into(join, window, &list);
            assert_int_equal(list.count, window == later && later <= 3);
            if (list.count == 1)
                assert_int_equal(list.rows[0].window, EPOCH + later);
        }
        close_into(join, 8, &list);
        join_count(join, &counts);
        assert_int_equal(counts.matched, later <= 3);
        assert_int_equal(counts.unmatched, later <= 3 ? 0 : 2);
        assert_int_equal(counts.waiting, 0);
        join_destroy(join);
    }
    free(list.rows);
}

static void an_end_waits_four_seconds_or_as_many_windows_as_may_be(void **state)
{
    (void)state;
    assert_int_equal(join_wait(0), 4);
    assert_int_equal(join_wait(UINT64_C(60000000000)), 4);
    assert_int_equal(join_wait(1000000000), 4);
    assert_int_equal(join_wait(900000000), 5);
    assert_int_equal(join_wait(100000000), 40);
    assert_int_equal(join_wait(1000), JOIN_MAXIMUM_WINDOWS);
}

static void what_comes_after_its_window_is_joined_with_the_next(void **state)
{
    struct list list = {0};
    (void)state;
    struct join *join = join_of(3, 100);
    struct join_half send = match_send_at(7, 100, 1), receive = match_receive_at(7, 200, 300);
    add(join, 0, &send);
    close_into(join, 0, &list);
    close_into(join, 1, &list);
    add(join, 0, &receive);
    close_into(join, 2, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0].window, EPOCH);
    join_destroy(join);
    free(list.rows);
}

static void ends_beyond_the_other_nodes_sample_are_not_unmatched(void **state)
{
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    struct join *join = join_of(1, 100);
    struct join_half below = match_send_at(400, 100, 1), above = match_send_at(600, 100, 1);
    struct join_half receive = match_receive_at(499, 200, 300);
    add(join, 0, &below);
    add(join, 0, &above);
    assert_int_equal(join_feed(join, EPOCH, 500, &receive, 1), 0);
    close_into(join, 0, &list);
    close_into(join, 1, &list);
    join_count(join, &counts);
    assert_int_equal(counts.unmatched, 2); /* 400, 499; but not 600, which node 1 left out */
    /* A node that left out everything names no rank: any rank may be there. */
    below = match_send_at(700, 100, 1);
    add(join, 2, &below);
    assert_int_equal(join_feed(join, EPOCH + 2, 1, NULL, 0), 0);
    close_into(join, 2, &list);
    close_into(join, 3, &list);
    join_count(join, &counts);
    assert_int_equal(counts.unmatched, 2);
    /* And windows later everything counts again. */
    add(join, 6, &below);
    close_into(join, 6, &list);
    close_into(join, 7, &list);
    join_count(join, &counts);
    assert_int_equal(counts.unmatched, 3);
    join_destroy(join);
    free(list.rows);
}

/* ---- contradictions ------------------------------------------------------ */

static void ends_that_contradict_each_other_are_refused(void **state)
{
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    for (int what = 0; what < 6; what++) {
        struct join *join = join_of(2, 100);
        struct join_half send = match_send_at(7, 100, 1), receive = match_receive_at(7, 50, 200);
        send.error_ns = receive.error_ns = 5 * US;
        switch (what) {
        case 0:
            send.source = 5;
            break;
        case 1:
            receive.destination = 5;
            break;
        case 2:
            receive.bytes = send.bytes + 1;
            break;
        case 3: /* received 11 µs before it was sent, on clocks right to 10 µs together */
            receive.end_ns = send.begin_ns - 11 * US;
            break;
        case 4:
            receive.node = send.node;
            break;
        default: /* 9 µs before: that may be the clocks */
            receive.end_ns = send.begin_ns - 9 * US;
        }
        add(join, 0, &send);
        add(join, 0, &receive);
        close_into(join, 0, &list);
        close_into(join, 5, &list);
        join_count(join, &counts);
        assert_int_equal(counts.rejected, what < 5);
        assert_int_equal(counts.matched, what == 5);
        assert_int_equal(counts.uncertain, what == 5);
        assert_int_equal(counts.unmatched, 0);
        assert_int_equal(counts.waiting, 0);
        join_destroy(join);
    }
    free(list.rows);
}

static void an_end_that_comes_twice_matches_nothing(void **state)
{
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    for (uint64_t second = 0; second < 2; second++) {
        struct join *join = join_of(3, 100);
        struct join_half send = match_send_at(7, 100, 1), receive = match_receive_at(7, 150, 200);
        add(join, 0, &send);
        if (second == 1)
            close_into(join, 0, &list);
        add(join, second, &send);
        close_into(join, 1, &list);
        add(join, 2, &receive);
        close_into(join, 2, &list);
        assert_int_equal(list.count, 0);
        close_into(join, 9, &list);
        join_count(join, &counts);
        assert_int_equal(counts.matched, 0);
        assert_int_equal(counts.rejected, 2);
        assert_int_equal(counts.unmatched, 0);
        assert_int_equal(counts.waiting, 0);
        join_destroy(join);
    }
    free(list.rows);
}

static void of_a_message_with_an_unsound_half_nothing_is_taken(void **state)
{
    struct join_counts counts;
    (void)state;
    struct join *join = join_of(3, 100);
    for (int what = 0; what < 10; what++) {
        struct join_half halves[2] = {match_receive_at(7, 100, 200), match_receive_at(8, 100, 200)};
        struct join_half *bad = &halves[1];
        uint64_t window = EPOCH;
        bad->end_ns = what == 0 ? bad->begin_ns - 1 : bad->end_ns;
        bad->end_ns = what == 1 ? UINT64_MAX : bad->end_ns;
        bad->source = what == 2 ? bad->destination : bad->source;
        bad->receive = what == 3 ? 2 : what == 4 ? -1 : bad->receive;
        bad->together = what == 5 ? 0 : bad->together;
        bad->local_ns = what == 6 ? UINT64_MAX - 1 : bad->local_ns;
        bad->node = what == 7 ? 2 : bad->node; /* all are to be of one node */
        if (what == 8)
            halves[0].node = bad->node = UINT32_MAX;
        window = what == 9 ? UINT64_MAX : window;
        assert_int_equal(join_feed(join, window, 0, halves, 2), -HOLTER_ERANGE);
    }
    join_count(join, &counts);
    assert_int_equal(counts.waiting, 0);
    join_destroy(join);
}

static void parameters_out_of_range_are_refused(void **state)
{
    struct join *join = NULL;
    (void)state;
    assert_int_equal(join_create(&join, &(struct join_params){JOIN_MAXIMUM_WINDOWS + 1, 1000}),
                     -HOLTER_ERANGE);
    assert_int_equal(join_create(&join, &(struct join_params){2, 0}), -HOLTER_ERANGE);
    assert_int_equal(join_create(&join, &(struct join_params){2, SIZE_MAX}), -HOLTER_ERANGE);
    assert_null(join);
    join_destroy(NULL);
}

/* ---- a synthetic job ------------------------------------------------------ */

static uint64_t draw(uint64_t *random)
{
    *random += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    uint64_t x = *random;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A few windows of ends, some of them reported twice, of calls that complete several. @return a
 * digest of all results */
static uint64_t digest_of(uint64_t seed, bool turned)
{
    struct list list = {0};
    struct join *join = join_of(3, 4096);
    uint64_t random = seed, digest = 0;
    for (uint64_t window = 0; window < 6; window++) {
        struct join_half ends[60];
        int count = 0;
        while (count < 56) {
            uint64_t key = draw(&random) % 60, call = 100 * (draw(&random) % 4);
            int which = (int)(draw(&random) % 10);
            struct join_half send = match_send_at(key, 50 + draw(&random) % 300, 1);
            struct join_half receive = match_receive_at(key, call, 500 + call);
            receive.together = 1 + (uint32_t)(call / 100) % 4;
            for (int i = 0; i < 1 + (which == 2); i++)
                ends[count++] = send;
            for (int i = 0; i < (which != 3) + (which == 1); i++)
                ends[count++] = receive;
        }
        for (int i = 0; i < count; i++)
            add(join, window, &ends[turned ? count - 1 - i : i]);
        close_into(join, window, &list);
        for (size_t i = 0; i < list.count; i++) { /* in any order */
            const struct joined *m = &list.rows[i];
            uint64_t one = m->transfer_ns * 31 + m->joint_ns;
            digest += draw(&one) + m->network_ns + 7 * m->late_receiver_ns;
        }
    }
    join_destroy(join);
    free(list.rows);
    return digest;
}

/* An end that arrives twice does not describe the call that completed it, either. */
static void the_order_of_ends_changes_nothing_where_some_come_twice(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        assert_true(digest_of(seed, false) == digest_of(seed, true));
}

struct told {
    uint64_t window;
    struct join_half half;
};

/* Ends of a job: message i is halves 2 i and 2 i + 1. */
struct job {
    struct told *told;
    size_t count;
    uint64_t windows;
};

struct job_shape {
    uint32_t ranks, per_node;
    uint64_t messages;
    uint64_t windows;
    uint64_t error_ns; /* stated of each clock; its true error is at most that */
    uint64_t one_way;  /* 1: messages from lower to higher ranks only */
};

static int64_t skew_of(const struct job_shape *shape, uint32_t node)
{
    uint64_t random = node + 77;
    return shape->error_ns == 0
               ? 0
               : (int64_t)(draw(&random) % (2 * shape->error_ns + 1)) - (int64_t)shape->error_ns;
}

/* Each call completes the messages of one, two or three sources. */
static struct job job_of(const struct job_shape *shape, uint64_t seed)
{
    struct job job = {.windows = shape->windows};
    uint64_t random = seed;
    job.told = calloc(2 * shape->messages, sizeof(*job.told));
    assert_non_null(job.told);
    for (uint64_t i = 0; i < shape->messages;) {
        uint64_t together = 1 + draw(&random) % 3;
        together = together < shape->messages - i ? together : shape->messages - i;
        uint32_t low = shape->one_way ? shape->ranks / 2 : 0;
        uint32_t to = low + (uint32_t)(draw(&random) % (shape->ranks - low));
        uint64_t span = (shape->windows - 1) * SECOND;
        uint64_t enter = EPOCH * SECOND + MS + draw(&random) % span, leave = enter;
        uint64_t sent[3];
        for (uint64_t m = 0; m < together; m++) {
            /* before or after the receiver looks; 12 to 20 µs on the way, one in eight up to 1 ms
             */
            sent[m] = enter - 100 * US + draw(&random) % (200 * US);
            uint64_t way = 12 * US + draw(&random) % (draw(&random) % 8 == 0 ? MS : 8 * US);
            leave = sent[m] + way > leave ? sent[m] + way : leave;
        }
        int64_t skew_to = skew_of(shape, to / shape->per_node);
        for (uint64_t m = 0; m < together; m++, i++) {
            uint32_t from;
            do
                from = (uint32_t)(draw(&random) % (shape->one_way ? low : shape->ranks));
            while (from / shape->per_node == to / shape->per_node);
            uint64_t key = draw(&random), bytes = i; /* distinguishes messages */
            uint64_t begin = sent[m] + (uint64_t)skew_of(shape, from / shape->per_node);
            uint64_t entry = enter + (uint64_t)skew_to, exit = leave + (uint64_t)skew_to;
            struct join_half send = {.key = key,
                                     .source = from,
                                     .destination = to,
                                     .bytes = bytes,
                                     .begin_ns = begin,
                                     .end_ns = begin + 2 * US,
                                     .local_ns = begin,
                                     .node = from / shape->per_node,
                                     .error_ns = shape->error_ns};
            struct join_half receive = send;
            receive.receive = 1;
            receive.begin_ns = receive.local_ns = entry;
            receive.end_ns = exit;
            receive.together = (uint32_t)together;
            receive.node = to / shape->per_node;
            job.told[2 * i].half = send;
            job.told[2 * i + 1].half = receive;
            job.told[2 * i].window = (begin + 2 * US) / SECOND;
            job.told[2 * i + 1].window = exit / SECOND;
        }
    }
    job.count = 2 * shape->messages;
    return job;
}

static void shuffle(struct told *told, size_t count, uint64_t seed)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = draw(&seed) % i;
        struct told swap = told[i - 1];
        told[i - 1] = told[other];
        told[other] = swap;
    }
}

/* Run through a join. Ends come up to `ahead` windows before theirs is closed. */
static struct list run(struct join *join, const struct job *job, uint64_t ahead)
{
    struct list list = {0};
    uint8_t *added = calloc(job->count, 1);
    assert_non_null(added);
    for (uint64_t w = EPOCH; w < EPOCH + job->windows + 2; w++) {
        for (size_t i = 0; i < job->count; i++) {
            if (added[i] || job->told[i].window > w + ahead)
                continue;
            assert_int_equal(join_feed(join, job->told[i].window, 0, &job->told[i].half, 1), 0);
            added[i] = 1;
        }
        assert_int_equal(join_close(join, w, take, &list), 0);
    }
    free(added);
    return list;
}

/* ---- the batch reference -------------------------------------------------- */

static int by_key_and_side(const void *a, const void *b)
{
    const struct join_half *x = &((const struct told *)a)->half;
    const struct join_half *y = &((const struct told *)b)->half;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->receive - y->receive;
}

struct reference {
    uint64_t key;
    struct joined joined;
};

static int by_window_and_key(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    if (x->joined.window != y->joined.window)
        return x->joined.window < y->joined.window ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* All ends at once, on clocks without error; the latest send of a call is looked for among all. */
static struct list batch(const struct job *job)
{
    struct list list = {0};
    struct told *told = malloc(job->count * sizeof(*told));
    struct reference *rows = calloc(job->count / 2, sizeof(*rows));
    size_t count = 0;
    assert_non_null(told);
    assert_non_null(rows);
    memcpy(told, job->told, job->count * sizeof(*told));
    qsort(told, job->count, sizeof(*told), by_key_and_side);
    for (size_t i = 0; i + 1 < job->count; i++) {
        const struct join_half *s = &told[i].half, *r = &told[i + 1].half;
        if (s->key != r->key)
            continue;
        uint64_t latest = s->begin_ns > r->begin_ns ? s->begin_ns : r->begin_ns;
        for (size_t j = 0; j + 1 < job->count; j++)
            if (told[j].half.key == told[j + 1].half.key &&
                told[j + 1].half.destination == r->destination &&
                told[j + 1].half.begin_ns == r->begin_ns && told[j].half.begin_ns > latest)
                latest = told[j].half.begin_ns;
        rows[count++] = (struct reference){
            s->key,
            {.source = s->source,
             .destination = s->destination,
             .bytes = r->bytes,
             .transfer_ns = r->end_ns - s->begin_ns,
             .late_sender_ns = s->begin_ns > r->begin_ns ? s->begin_ns - r->begin_ns : 0,
             .late_receiver_ns = r->begin_ns > s->begin_ns ? r->begin_ns - s->begin_ns : 0,
             .send_wait_ns =
                 send_wait_ns(s->begin_ns, s->begin_ns + (s->end_ns - s->begin_ns) / US * US,
                              r->begin_ns, r->bytes),
             .network_ns = r->end_ns - latest,
             .window = told[i + 1].window},
        };
    }
    qsort(rows, count, sizeof(*rows), by_window_and_key);
    for (size_t i = 0; i < count; i++)
        add_row(&list, &rows[i].joined);
    free(told);
    free(rows);
    return list;
}

static void joined_messages_equal_the_batch_reference(void **state)
{
    const struct job_shape shape = {.ranks = 64, .per_node = 8, .messages = 1500, .windows = 6};
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct job job = job_of(&shape, seed);
        struct list expected = batch(&job);
        assert_int_equal(expected.count, shape.messages);
        shuffle(job.told, job.count, seed);
        struct join *join = join_of(2, 100000);
        struct list list = run(join, &job, seed % 3);
        assert_same_lists(&list, &expected);
        struct join_counts counts;
        join_count(join, &counts);
        assert_int_equal(counts.matched, shape.messages);
        assert_int_equal(counts.unmatched + counts.rejected + counts.uncertain + counts.waiting, 0);
        join_destroy(join);
        free(list.rows);
        free(expected.rows);
        free(job.told);
    }
}

/* As run(), but each node reports all ends of a window at once. */
static struct list run_by_node(struct join *join, const struct job *job, uint32_t nodes)
{
    struct list list = {0};
    struct join_half *halves = calloc(job->count, sizeof(*halves));
    assert_non_null(halves);
    for (uint64_t w = EPOCH; w < EPOCH + job->windows + 2; w++) {
        for (uint32_t node = 0; node < nodes; node++) {
            size_t count = 0;
            for (size_t i = 0; i < job->count; i++)
                if (job->told[i].window == w && job->told[i].half.node == node)
                    halves[count++] = job->told[i].half;
            assert_int_equal(join_feed(join, w, 0, halves, count), 0);
        }
        assert_int_equal(join_close(join, w, take, &list), 0);
    }
    free(halves);
    return list;
}

static void values_of_any_width_are_joined_as_others(void **state)
{
    const struct job_shape shape = {.ranks = 64, .per_node = 8, .messages = 1500, .windows = 6};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct job job = job_of(&shape, seed);
        for (size_t i = 0; i < job.count; i += 2) {
            struct join_half *send = &job.told[i].half, *receive = &job.told[i + 1].half;
            if (i % 3 == 0)
                send->bytes = receive->bytes = (uint64_t)(i + 1) << 32;
            if (i % 5 == 0) /* posted an hour before */
                send->begin_ns -= 3600 * SECOND;
            if (i % 7 == 0) /* or completed by a call that took long */
                receive->begin_ns -= 10 * SECOND, receive->local_ns = receive->begin_ns;
            receive->together = 1 + (uint32_t)(i % 11 == 0) * UINT32_MAX / 2;
        }
        shuffle(job.told, job.count, seed);
        struct join *join = join_of(2, 100000), *other = join_of(2, 100000);
        struct list one_by_one = run(join, &job, seed % 3);
        struct list by_node = run_by_node(other, &job, 8);
        assert_int_equal(one_by_one.count, shape.messages);
        assert_same_lists(&by_node, &one_by_one);
        struct list expected = batch(&job);
        assert_int_equal(expected.count, shape.messages);
        qsort(expected.rows, expected.count, sizeof(*expected.rows), by_meaning);
        for (size_t i = 0; i < expected.count; i++) {
            assert_int_equal(by_node.rows[i].bytes, expected.rows[i].bytes);
            assert_int_equal(by_node.rows[i].transfer_ns, expected.rows[i].transfer_ns);
            assert_int_equal(by_node.rows[i].late_receiver_ns, expected.rows[i].late_receiver_ns);
        }
        join_destroy(join);
        join_destroy(other);
        free(one_by_one.rows);
        free(by_node.rows);
        free(expected.rows);
        free(job.told);
    }
}

static void ends_of_one_message_may_have_errors_of_their_own(void **state)
{
    struct list list = {0};
    (void)state;
    struct join *join = join_of(2, 100);
    struct join_half sends[3] = {match_send_at(7, 100, 1), match_send_at(8, 100, 1),
                                 match_send_at(9, 100, 1)};
    sends[1].error_ns = 5 * US;
    assert_int_equal(join_feed(join, EPOCH, 0, sends, 3), 0);
    for (uint64_t key = 7; key < 10; key++) {
        struct join_half receive = match_receive_at(key, 50, 200 + key);
        receive.source = 0;
        add(join, 0, &receive);
    }
    close_into(join, 0, &list);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(list.rows[i].error_ns, 5 * US); /* the largest of the pair of nodes */
    join_destroy(join);
    free(list.rows);
}

/* Messages are numbered from 1, and a key is `times` their number, and `more`. */
static void join_keys(uint64_t times, uint64_t more)
{
    const struct job_shape shape = {.ranks = 64, .per_node = 8, .messages = 1500, .windows = 6};
    struct job job = job_of(&shape, 8);
    for (size_t i = 0; i < job.count; i++)
        job.told[i].half.key = (i / 2 + 1) * times + more;
    struct list expected = batch(&job);
    assert_int_equal(expected.count, shape.messages);
    shuffle(job.told, job.count, 8);
    struct join *join = join_of(2, 100000);
    struct list list = run(join, &job, 1);
    assert_same_lists(&list, &expected);
    join_destroy(join);
    free(list.rows);
    free(expected.rows);
    free(job.told);
}

static void keys_chosen_to_lie_together_are_joined_as_others(void **state)
{
    (void)state;
    /* By the factor with which keys are hashed these are small numbers. */
    join_keys(UINT64_C(0xf1de83e19937733d), 0);
}

static void keys_of_one_lower_half_are_joined_as_others(void **state)
{
    (void)state;
    join_keys(UINT64_C(1) << 32, 7);
    join_keys(UINT64_C(1) << 32, 0);
    /* Ends of two messages, some of which have the same place in the index. */
    for (uint64_t other = 2; other < 200; other++) {
        struct join *join = join_of(2, 100);
        struct join_half send = match_send_at(UINT64_C(1) << 32 | 7, 1000, 10),
                         receive = match_receive_at(other << 32 | 7, 900, 1100);
        struct list list = {0};
        add(join, 0, &send);
        add(join, 0, &receive);
        close_into(join, 0, &list);
        assert_int_equal(list.count, 0);
        struct join_counts counts;
        join_count(join, &counts);
        assert_int_equal(counts.waiting, 2);
        join_destroy(join);
        free(list.rows);
    }
}

static void order_of_arrival_changes_nothing(void **state)
{
    const struct job_shape shape = {
        .ranks = 64, .per_node = 4, .messages = 5000, .windows = 5, .error_ns = 300 * US};
    struct list first = {0};
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct job job = job_of(&shape, 99);
        /* Contradictions and repetitions take part. */
        for (size_t i = 0; i + 40 < job.count; i += 40) {
            job.told[i].half.key = job.told[i + 2].half.key;
            job.told[i + 4].half.begin_ns += 2 * MS, job.told[i + 4].half.end_ns += 2 * MS;
            job.told[i + 6].half.source ^= 1;
        }
        shuffle(job.told, job.count, seed);
        struct join *join = join_of(2, 100000);
        struct list list = run(join, &job, seed);
        if (seed == 0)
            first = list;
        assert_same_lists(&list, &first);
        join_destroy(join);
        if (seed != 0)
            free(list.rows);
        free(job.told);
    }
    assert_true(first.count > 4000);
    free(first.rows);
}

/* ---- clocks --------------------------------------------------------------- */

/* By how far the transfer times of a job with wrong clocks are off, compared with those of the same
 * job with exact clocks: within the error that is stated with each.
 * @return the errors, one for each of `list`; the caller frees them */
static uint64_t *errors_of(const struct job_shape *shape, struct list *list)
{
    struct job_shape exact = *shape;
    exact.error_ns = 0;
    struct job job = job_of(shape, 5), truth = job_of(&exact, 5);
    struct join *join = join_of(2, 1000000), *true_join = join_of(2, 1000000);
    *list = run(join, &job, 0);
    struct list true_list = run(true_join, &truth, 0);
    uint64_t *errors = calloc(list->count, sizeof(*errors));
    assert_non_null(errors);
    assert_int_equal(list->count, shape->messages);
    assert_int_equal(true_list.count, shape->messages);
    /* Skews may move ends over a window's end, and so change the order. */
    for (size_t i = 0; i < list->count; i++) {
        const struct joined *found = &list->rows[i], *is = NULL;
        for (size_t j = 0; j < true_list.count && is == NULL; j++)
            if (true_list.rows[j].source == found->source &&
                true_list.rows[j].bytes == found->bytes &&
                true_list.rows[j].destination == found->destination)
                is = &true_list.rows[j];
        assert_non_null(is);
        int64_t off = (int64_t)(found->transfer_ns - is->transfer_ns);
        errors[i] = (uint64_t)(off < 0 ? -off : off);
        assert_in_range(errors[i], 0, found->error_ns);
        assert_int_equal(found->uncertain, found->transfer_ns < found->error_ns);
    }
    join_destroy(join);
    join_destroy(true_join);
    free(true_list.rows);
    free(job.told);
    free(truth.told);
    return errors;
}

static void messages_in_both_directions_narrow_what_clocks_leave_open(void **state)
{
    const struct job_shape shape = {
        .ranks = 16, .per_node = 2, .messages = 20000, .windows = 4, .error_ns = 200 * US};
    struct list list;
    (void)state;
    uint64_t *errors = errors_of(&shape, &list);
    size_t narrow = 0, uncertain = 0;
    for (size_t i = 0; i < list.count; i++) {
        narrow += list.rows[i].error_ns < 30 * US;
        uncertain += (size_t)list.rows[i].uncertain;
    }
    assert_true(narrow > list.count * 99 / 100);
    assert_true(uncertain < list.count / 100);
    qsort(errors, list.count, sizeof(*errors), order_u64);
    assert_true(errors[list.count * 99 / 100] < 10 * US);
    free(errors);
    free(list.rows);
}

static void messages_one_way_have_an_error_of_at_most_what_clocks_leave_open(void **state)
{
    const struct job_shape shape = {.ranks = 16,
                                    .per_node = 2,
                                    .messages = 3000,
                                    .windows = 4,
                                    .error_ns = 200 * US,
                                    .one_way = 1};
    struct list list;
    (void)state;
    uint64_t *errors = errors_of(&shape, &list);
    for (size_t i = 0; i < list.count; i++)
        assert_in_range(list.rows[i].error_ns, 1, 400 * US);
    free(errors);
    free(list.rows);
}

static void on_clocks_that_are_not_known_every_transfer_is_uncertain(void **state)
{
    struct list list = {0};
    (void)state;
    struct join *join = join_of(2, 100);
    struct join_half send = match_send_at(7, 100, 1), receive = match_receive_at(7, 50, 900000);
    send.error_ns = UINT64_MAX;
    add(join, 0, &send);
    add(join, 0, &receive);
    close_into(join, 0, &list);
    assert_int_equal(list.count, 1);
    assert_true(list.rows[0].uncertain);
    assert_int_equal(list.rows[0].error_ns, UINT64_MAX);
    assert_int_equal(list.rows[0].late_sender_ns, 0);
    join_destroy(join);
    free(list.rows);
}

/* ---- bounds --------------------------------------------------------------- */

static void over_the_bound_the_smallest_keys_are_kept_of_both_ends(void **state)
{
    const struct job_shape shape = {.ranks = 64, .per_node = 8, .messages = 20000, .windows = 4};
    struct list first = {0};
    struct join_counts counts;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct job job = job_of(&shape, 3);
        shuffle(job.told, job.count, seed);
        const size_t before = memory_used();
        struct join *join = join_of(2, 4000);
        struct list list = run(join, &job, 0);
        join_count(join, &counts);
        assert_true(list.count > 1000);
        assert_int_equal(counts.unmatched + counts.rejected, 0);
        assert_true(memory_used() - before < 4000 * 400 + 100000);
        if (seed == 1)
            first = list;
        assert_same_lists(&list, &first);
        join_destroy(join);
        if (seed != 1)
            free(list.rows);
        free(job.told);
    }
    free(first.rows);
}

static void memory_is_bounded_whatever_is_reported(void **state)
{
    uint64_t random = 4;
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    const size_t before = memory_used();
    struct join *join = join_of(64, 10000);
    for (uint64_t i = 0; i < 300000; i++) {
        /* One end only, each in a window of its own; now and then all with one key. */
        struct join_half half = match_send_at(i % 7 == 0 ? 1 : draw(&random), i, 1);
        half.node = (uint32_t)draw(&random) % 1000000;
        uint64_t window = i < 150000 ? i % 3 : draw(&random) % 100000;
        assert_int_equal(join_feed(join, EPOCH + window, 1 + draw(&random) % 3, &half, 1), 0);
        join_count(join, &counts);
        assert_true(counts.waiting <= 10000);
        if (i % 10000 == 9999)
            close_into(join, i / 10000, &list);
    }
    /* What nodes left out is remembered by node: 64 windows of 16 bytes each way. */
    assert_true(memory_used() - before < (size_t)10000 * 400 + (size_t)300000 * 129 * 16 * 2);
    join_destroy(join);
    free(list.rows);
}

static void hostile_values_do_no_harm(void **state)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   UINT64_MAX,
                                   INT64_MAX,
                                   (uint64_t)INT64_MIN,
                                   UINT64_C(1) << 61,
                                   (UINT64_C(1) << 61) + 1,
                                   EPOCH * SECOND};
    uint64_t random = 11, taken = 0, keys_below;
    struct list list = {0};
    struct join_counts counts;
    (void)state;
    struct join *join = join_of(3, 5000);
    for (uint64_t i = 0; i < 200000; i++) {
        struct join_half half = draw(&random) % 2 == 0
                                    ? match_send_at(0, i % 1000, 5)
                                    : match_receive_at(0, i % 1000, i % 1000 + 50);
        uint64_t *fields[] = {&half.bytes,    &half.begin_ns, &half.end_ns,
                              &half.local_ns, &half.error_ns, &keys_below};
        keys_below = 0;
        half.key = draw(&random) % 500;
        half.source = (uint32_t)draw(&random) % 16 == 0 ? 3 : half.source;
        half.together = (uint32_t)odd[draw(&random) % 8] & 3;
        if (draw(&random) % 4 == 0)
            *fields[draw(&random) % 6] = odd[draw(&random) % 8];
        taken += join_feed(join, i / 1000, keys_below, &half, 1) == 0;
        if (i % 1000 == 999) /* every key about twice */
            assert_int_equal(join_close(join, i / 1000, take, &list), 0);
    }
    assert_true(taken > 10000);
    for (size_t i = 0; i < list.count; i++) {
        const struct joined *j = &list.rows[i];
        assert_true(j->transfer_ns <= UINT64_C(1) << 62);
        assert_true(j->late_receiver_ns + j->network_ns + j->joint_ns <= j->transfer_ns);
    }
    join_count(join, &counts);
    assert_int_equal(counts.matched, list.count);
    assert_true(counts.matched > 100);
    assert_true(counts.rejected > 100);
    join_destroy(join);
    free(list.rows);
}

static void ten_thousand_nodes_are_joined(void **state)
{
    const struct job_shape shape = {
        .ranks = 80000, .per_node = 8, .messages = 100000, .windows = 2, .error_ns = 50 * US};
    (void)state;
    struct job job = job_of(&shape, 21);
    const size_t before = memory_used();
    struct join *join = join_of(2, 1000000);
    struct list list = run(join, &job, 0);
    assert_int_equal(list.count, shape.messages);
    assert_true(memory_used() - before < (size_t)200 << 20);
    join_destroy(join);
    free(list.rows);
    free(job.told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_a_message_are_split_by_who_was_late),
        cmocka_unit_test(a_send_waits_between_nodes_until_its_receiver_comes),
        cmocka_unit_test(network_begins_with_the_latest_send_of_the_call),
        cmocka_unit_test(what_is_left_is_joint_while_a_send_of_the_call_is_unknown),
        cmocka_unit_test(an_end_waits_for_the_given_number_of_windows),
        cmocka_unit_test(an_end_waits_four_seconds_or_as_many_windows_as_may_be),
        cmocka_unit_test(what_comes_after_its_window_is_joined_with_the_next),
        cmocka_unit_test(ends_beyond_the_other_nodes_sample_are_not_unmatched),
        cmocka_unit_test(ends_that_contradict_each_other_are_refused),
        cmocka_unit_test(an_end_that_comes_twice_matches_nothing),
        cmocka_unit_test(the_order_of_ends_changes_nothing_where_some_come_twice),
        cmocka_unit_test(of_a_message_with_an_unsound_half_nothing_is_taken),
        cmocka_unit_test(parameters_out_of_range_are_refused),
        cmocka_unit_test(joined_messages_equal_the_batch_reference),
        cmocka_unit_test(values_of_any_width_are_joined_as_others),
        cmocka_unit_test(ends_of_one_message_may_have_errors_of_their_own),
        cmocka_unit_test(keys_chosen_to_lie_together_are_joined_as_others),
        cmocka_unit_test(keys_of_one_lower_half_are_joined_as_others),
        cmocka_unit_test(order_of_arrival_changes_nothing),
        cmocka_unit_test(messages_in_both_directions_narrow_what_clocks_leave_open),
        cmocka_unit_test(messages_one_way_have_an_error_of_at_most_what_clocks_leave_open),
        cmocka_unit_test(on_clocks_that_are_not_known_every_transfer_is_uncertain),
        cmocka_unit_test(over_the_bound_the_smallest_keys_are_kept_of_both_ends),
        cmocka_unit_test(memory_is_bounded_whatever_is_reported),
        cmocka_unit_test(hostile_values_do_no_harm),
        cmocka_unit_test(ten_thousand_nodes_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
