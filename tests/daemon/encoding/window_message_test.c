#include "daemon/encoding/window_message.h"

#include "holter/call.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS 4000u
#define RANKS 16u
#define CALLS 300u

#define TRANSFERS 300
#define HALVES 500

struct bed {
    struct wire_comm_row comms[2];
    struct wire_region_row regions[2];
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row pairs[PAIRS];
    struct wire_call_row calls[CALLS];
    struct wire_death_row death;
    struct wire_node_row node;
    struct wire_counter_row counters[2];
    struct wire_process_row processes[RANKS];
    struct wire_transfer_row transfer_rows[TRANSFERS];
    struct wire_half_row halves[HALVES];
    struct window_rows rows;
    struct transfer_rows transfers;
    struct wire_window window;
};

static void make(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    bed->comms[0].name = bed->regions[0].name = "";
    bed->comms[1] = (struct wire_comm_row){.id = 1, .size = RANKS, .name = "MPI_COMM_WORLD"};
    bed->regions[1].name = "force";
    uint64_t seed = 7;
    for (unsigned i = 0; i < RANKS; i++)
        bed->ranks[i] = (struct wire_rank_row){.rank = i, .events = 10 + i};
    for (unsigned i = 0; i < RANKS; i++)
        bed->processes[i] = (struct wire_process_row){.rank = i, .length_ns = 1000000000};
    for (unsigned i = 0; i < PAIRS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bed->pairs[i] = (struct wire_pair_row){.source = i % RANKS,
                                               .destination = (int64_t)(i / RANKS),
                                               .comm = 1,
                                               .region = i % 2,
                                               .size_class = seed >> 61,
                                               .messages = 1 + (seed >> 40) % 50,
                                               .bytes = (seed >> 30) % 1000000};
    }
    for (unsigned i = 0; i < CALLS; i++)
        bed->calls[i] =
            (struct wire_call_row){.rank = i % RANKS, .call = 1 + i / RANKS, .comm = 1, .calls = i};
    bed->node = (struct wire_node_row){.host = "here"};
    bed->rows = (struct window_rows){.comms = bed->comms,
                                     .regions = bed->regions,
                                     .ranks = bed->ranks,
                                     .pairs = bed->pairs,
                                     .calls = bed->calls,
                                     .comms_count = 2,
                                     .regions_count = 2,
                                     .ranks_count = RANKS,
                                     .pairs_count = PAIRS,
                                     .calls_count = CALLS};
    bed->window = (struct wire_window){.job = "job.0",
                                       .host = "here",
                                       .window = 77,
                                       .length_ns = 1000000000,
                                       .flags = WINDOW_FINAL | WINDOW_GAP,
                                       .deaths = &bed->death,
                                       .deaths_count = 1,
                                       .node = &bed->node,
                                       .node_count = 1,
                                       .counters = bed->counters,
                                       .counters_count = 2,
                                       .processes = bed->processes,
                                       .processes_count = RANKS};
    bed->counters[0] = (struct wire_counter_row){.name = "eth0", .sent = UINT64_MAX};
    bed->counters[1] = (struct wire_counter_row){.name = "mlx5_0/1", .sent = 5};
}

/* Messages within the node and ends of others, too. Two ends have each key: they are to stay or go
 * together. */
static void add_messages(struct bed *bed)
{
    for (unsigned i = 0; i < TRANSFERS; i++)
        bed->transfer_rows[i] = (struct wire_transfer_row){.source = i % RANKS,
                                                           .destination = i / RANKS,
                                                           .size_class = i % 7,
                                                           .messages = 1 + i * 37 % 100,
                                                           .transfer_ns = i * 1000};
    for (unsigned i = 0; i < HALVES; i++)
        bed->halves[i] = (struct wire_half_row){.key = 1000000 * (uint64_t)(1 + i / 2),
                                                .receive = i % 2,
                                                .source = i * 3 % RANKS,
                                                .destination = (i * 3 + 1) % RANKS,
                                                .begin_ns = i * 7919 % 1000};
    bed->transfers = (struct transfer_rows){.transfers = bed->transfer_rows,
                                            .halves = bed->halves,
                                            .transfers_count = TRANSFERS,
                                            .halves_count = HALVES};
}

/* What the receiver adds up. */
struct sums {
    uint64_t messages[RANKS], bytes[RANKS], calls, events, deaths, nodes, rows, counters, processes;
    uint64_t transferred, transfer_ns, transfers, halves, largest_key, keys_below, out_of_order;
    uint64_t expected_seq, finals, degraded;
    unsigned parts;
    size_t longest;
    int final_was_last;
};

static int add_up(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct sums *sums = user;
    struct wire_arena arena = {0};
    struct wire_message message;
    assert_int_equal(wire_decode(&message, &arena, bytes, length, NULL), 0);
    assert_int_equal(message.type, WIRE_TYPE_WINDOW);
    const struct wire_window *window = &message.window;
    assert_int_equal(seq, sums->expected_seq);
    assert_int_equal(window->seq, sums->expected_seq++);
    assert_int_equal(window->window, 77);
    assert_true(window->flags & WINDOW_GAP);
    for (uint64_t i = 0; i < window->pairs_count; i++) {
        const struct wire_pair_row *pair = &window->pairs[i];
        sums->messages[pair->source] += pair->messages;
        sums->bytes[pair->source] += pair->bytes;
        assert_true(pair->destination == -1 || window->comms[pair->comm].id == 1);
    }
    for (uint64_t i = 0; i < window->transfers_count; i++) {
        sums->transferred += window->transfers[i].messages;
        sums->transfer_ns += window->transfers[i].transfer_ns;
    }
    for (uint64_t i = 0; i < window->halves_count; i++)
        if (window->halves[i].key > sums->largest_key)
            sums->largest_key = window->halves[i].key;
    for (uint64_t i = 1; i < window->halves_count; i++) {
        const struct wire_half_row *a = &window->halves[i - 1], *b = a + 1;
        uint64_t first = a->receive ? a->destination : a->source;
        uint64_t second = b->receive ? b->destination : b->source;
        sums->out_of_order += first > second || (first == second && a->begin_ns > b->begin_ns);
    }
    sums->transfers += window->transfers_count;
    sums->halves += window->halves_count;
    sums->keys_below = window->keys_below;
    for (uint64_t i = 0; i < window->calls_count; i++)
        sums->calls += window->calls[i].calls;
    for (uint64_t i = 0; i < window->ranks_count; i++)
        sums->events += window->ranks[i].events;
    sums->rows += window->pairs_count;
    sums->deaths += window->deaths_count;
    sums->nodes += window->node_count;
    sums->counters += window->counters_count;
    sums->processes += window->processes_count;
    sums->final_was_last = (window->flags & WINDOW_FINAL) != 0;
    sums->finals += (uint64_t)sums->final_was_last;
    sums->degraded |= window->degraded;
    sums->parts++;
    sums->longest = length > sums->longest ? length : sums->longest;
    wire_arena_finish(&arena);
    return 0;
}

static void encode(struct bed *bed, struct sums *sums, size_t budget, size_t longest)
{
    struct window_output output = {budget, longest, sums->expected_seq = 5, add_up, sums};
    int parts = window_message_encode(&bed->window, &bed->rows, &bed->transfers, NULL, &output);
    assert_true(parts > 0);
    assert_int_equal(parts, sums->parts);
    assert_int_equal(output.next_seq, 5 + sums->parts);
}

/* Whatever was left out or split: the totals of each source are those of the rows. */
static void check_totals(const struct sums *sums)
{
    struct bed *whole = malloc(sizeof *whole);
    uint64_t messages[RANKS] = {0}, bytes[RANKS] = {0}, calls = 0, events = 0;
    assert_non_null(whole);
    make(whole);
    for (unsigned i = 0; i < PAIRS; i++) {
        messages[whole->pairs[i].source] += whole->pairs[i].messages;
        bytes[whole->pairs[i].source] += whole->pairs[i].bytes;
    }
    for (unsigned i = 0; i < CALLS; i++)
        calls += whole->calls[i].calls;
    for (unsigned i = 0; i < RANKS; i++)
        events += whole->ranks[i].events;
    assert_memory_equal(sums->messages, messages, sizeof messages);
    assert_memory_equal(sums->bytes, bytes, sizeof bytes);
    assert_int_equal(sums->calls, calls);
    assert_int_equal(sums->events, events);
    assert_int_equal(sums->deaths, 1);
    assert_int_equal(sums->nodes, 1);
    assert_int_equal(sums->processes, RANKS);
    assert_int_equal(sums->counters, 2); /* reported once, whatever the number of parts */
    assert_int_equal(sums->finals, 1);
    assert_true(sums->final_was_last);
    free(whole);
}

static void window_within_its_budget_is_one_message_with_everything(void **state)
{
    (void)state;
    static struct bed bed;
    struct sums sums = {0};
    make(&bed);
    encode(&bed, &sums, 1u << 20, 1u << 20);
    assert_int_equal(sums.parts, 1);
    assert_int_equal(sums.degraded, 0);
    assert_int_equal(sums.rows, PAIRS);
    check_totals(&sums);
}

static void window_over_its_budget_keeps_its_largest_pairs_and_all_totals(void **state)
{
    (void)state;
    static struct bed bed;
    for (size_t budget = 40000; budget >= 15000; budget -= 5000) {
        struct sums sums = {0};
        make(&bed);
        encode(&bed, &sums, budget, 1u << 20);
        assert_int_equal(sums.parts, 1);
        assert_true(sums.longest <= budget);
        assert_int_equal(sums.degraded, DEGRADED_PAIRS);
        assert_true(sums.rows > 10 && sums.rows < PAIRS);
        check_totals(&sums);
    }
}

static void window_that_cannot_fit_keeps_its_totals_all_the_same(void **state)
{
    (void)state;
    static struct bed bed;
    struct sums sums = {0};
    make(&bed);
    encode(&bed, &sums, 100, 1u << 20);
    assert_int_equal(sums.degraded, DEGRADED_PAIRS | DEGRADED_SIZES);
    assert_int_equal(sums.rows, RANKS);
    check_totals(&sums);
}

static void long_window_is_sent_in_parts_that_add_up(void **state)
{
    (void)state;
    static struct bed bed;
    struct sums sums = {0};
    make(&bed);
    encode(&bed, &sums, 1u << 20, 5000);
    assert_true(sums.parts > 10);
    assert_true(sums.longest <= 5000);
    assert_int_equal(sums.degraded, 0);
    check_totals(&sums);
}

static void check_transfers(const struct sums *sums)
{
    uint64_t messages = 0, transfer_ns = 0;
    for (unsigned i = 0; i < TRANSFERS; i++) {
        messages += 1 + i * 37 % 100;
        transfer_ns += i * 1000;
    }
    assert_int_equal(sums->transferred, messages);
    assert_int_equal(sums->transfer_ns, transfer_ns);
}

static void ends_of_messages_go_first_and_those_of_large_keys(void **state)
{
    (void)state;
    static struct bed bed;
    struct sums whole = {0};
    make(&bed);
    add_messages(&bed);
    encode(&bed, &whole, 1u << 20, 1u << 20);
    assert_int_equal(whole.halves, HALVES);
    assert_int_equal(whole.keys_below, 0);
    assert_int_equal(whole.degraded, 0);
    struct sums sums = {0};
    make(&bed);
    add_messages(&bed);
    encode(&bed, &sums, whole.longest - 3000, 1u << 20);
    assert_true(sums.longest <= whole.longest - 3000);
    assert_int_equal(sums.degraded, DEGRADED_SAMPLES);
    assert_int_equal(sums.rows, PAIRS);
    assert_int_equal(sums.transfers, TRANSFERS);
    assert_true(sums.halves > HALVES / 4 && sums.halves < HALVES);
    assert_int_equal(sums.halves % 2, 0); /* both of a key, or none */
    assert_true(sums.largest_key < sums.keys_below);
    assert_int_equal(sums.keys_below, 1000000 * (sums.halves / 2 + 1));
    check_totals(&sums);
    check_transfers(&sums);
}

static void ends_of_messages_are_reported_in_the_order_they_happened(void **state)
{
    (void)state;
    static struct bed bed;
    struct sums sums = {0};
    make(&bed);
    add_messages(&bed);
    encode(&bed, &sums, 1u << 20, 1u << 20);
    assert_int_equal(sums.halves, HALVES);
    assert_int_equal(sums.out_of_order, 0);
}

static void transfers_are_put_together_and_add_up(void **state)
{
    (void)state;
    static struct bed bed;
    for (size_t budget = 30000; budget >= 100; budget /= 3) {
        struct sums sums = {0};
        make(&bed);
        add_messages(&bed);
        encode(&bed, &sums, budget, 1u << 20);
        assert_int_equal(sums.halves, 0);
        assert_int_equal(sums.keys_below, 1000000);
        assert_true(sums.degraded & DEGRADED_PAIRS);
        assert_true(sums.transfers < TRANSFERS);
        check_totals(&sums);
        check_transfers(&sums);
    }
    struct sums parts = {0};
    make(&bed);
    add_messages(&bed);
    encode(&bed, &parts, 1u << 20, 5000);
    assert_int_equal(parts.halves, HALVES);
    assert_int_equal(parts.transfers, TRANSFERS);
    check_totals(&parts);
    check_transfers(&parts);
}

static void fold_keeps_the_largest(void **state)
{
    (void)state;
    static struct bed bed;
    make(&bed);
    uint64_t count = window_message_fold(bed.pairs, PAIRS, 100, 0);
    assert_true(count > 100 && count <= 100 + RANKS * 8);
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(bed.pairs[i].destination >= 0);
        least = bed.pairs[i].bytes < least ? bed.pairs[i].bytes : least;
    }
    static struct bed whole;
    make(&whole);
    unsigned larger = 0;
    for (unsigned i = 0; i < PAIRS; i++)
        larger += whole.pairs[i].bytes > least;
    assert_true(larger < 100);
    for (uint64_t i = 100; i < count; i++)
        assert_int_equal(bed.pairs[i].destination, -1);
}

static int refuse(void *user, uint64_t seq, const void *bytes, size_t length)
{
    (void)user;
    (void)seq;
    (void)bytes;
    (void)length;
    return -HOLTER_ELIMIT;
}

static void refusal_of_the_receiver_is_passed_on(void **state)
{
    (void)state;
    static struct bed bed;
    struct window_output output = {1u << 20, 1u << 20, 9, refuse, NULL};
    make(&bed);
    assert_int_equal(window_message_encode(&bed.window, &bed.rows, &bed.transfers, NULL, &output),
                     -HOLTER_ELIMIT);
    assert_int_equal(output.next_seq, 9);
}

/* Numbers that take most bytes: what is known to fit without looking does. */
static void window_of_large_numbers_stays_in_its_budget(void **state)
{
    (void)state;
    static struct bed bed;
    for (size_t budget = 60000; budget < 400000; budget += 20000) {
        struct sums sums = {0};
        make(&bed);
        for (unsigned i = 0; i < PAIRS; i++) {
            bed.pairs[i].messages = UINT64_MAX / 2 - i;
            bed.pairs[i].bytes = UINT64_MAX - i;
        }
        for (unsigned i = 0; i < CALLS; i++)
            bed.calls[i].calls = bed.calls[i].bytes = bed.calls[i].time_ns = UINT64_MAX;
        encode(&bed, &sums, budget, 1u << 20);
        assert_true(sums.longest <= budget);
        assert_true(sums.rows == PAIRS || sums.degraded == DEGRADED_PAIRS);
    }
}

/* ---- bursts -------------------------------------------------------------- */

#define WINDOW_BEGIN UINT64_C(77000000000)

static uint32_t one_comm(void *user, uint32_t slot, uint64_t *since)
{
    (void)slot, (void)since;
    struct wire_comm_row row = {.id = 9, .size = RANKS, .name = "MPI_Comm_split"};
    uint32_t position = event_sum_comm(user, &row);
    return position;
}

static uint64_t same_time(const void *user, uint64_t mono_ns)
{
    (void)user;
    return mono_ns;
}

/* Each rank sends to 120 others of 300, in five runs, and calls collectives. */
static struct event_sum *gather(uint32_t most_pairs)
{
    struct event_sum *sum;
    struct tick_clock clock;
    struct ring_sum ring = {0};
    struct slot_position comms[2] = {{0}};
    assert_int_equal(event_sum_create(&sum, most_pairs), 0);
    tick_clock_init_ns(&clock);
    struct sum_tables tables = {
        .comms = comms, .comm_count = 2, .comm_epoch = 1, .find_comm = one_comm, .user = sum};
    struct sum_source source = {&ring, &tables, &clock, WINDOW_BEGIN + 1000000000,
                                WINDOW_BEGIN + 1000000000};
    for (int rank = 0; rank < (int)RANKS; rank++) {
        assert_int_equal(event_sum_add_rank(sum, (uint64_t)rank, 300), rank);
        for (unsigned i = 0; i < 600; i++) {
            uint64_t at = WINDOW_BEGIN + i / 120 * 200000000 + (uint64_t)rank * 5000 + i * 10;
            struct event event = {.t_enter = at,
                                  .t_exit = at + 8,
                                  .bytes = 1 + i % 90,
                                  .peer = (int32_t)(i * 7 + (unsigned)rank) % 310,
                                  .comm = 1,
                                  .kind = EVENT_CALL,
                                  .call = CALL_Send,
                                  .flags = EVENT_SEND | EVENT_POST | EVENT_DONE};
            if (i % 60 == 0)
                event = (struct event){.t_enter = at,
                                       .t_exit = at + 8,
                                       .bytes = 8,
                                       .peer = (int32_t)(i / 120),
                                       .comm = 1,
                                       .kind = EVENT_CALL,
                                       .call = CALL_Bcast};
            assert_int_equal(event_sum_events(sum, rank, &source, &event, 1), 1);
        }
        event_sum_member(sum, rank, 1, (uint32_t)rank);
    }
    event_sum_sort_bursts(sum);
    return sum;
}

struct burst_totals {
    uint64_t pairs, messages, bytes, calls, bursts, rows, members, degraded, parts;
    size_t longest;
};

static int add_bursts(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct burst_totals *totals = user;
    struct wire_arena arena = {0};
    struct wire_message message;
    (void)seq;
    assert_int_equal(wire_decode(&message, &arena, bytes, length, NULL), 0);
    const struct wire_window *window = &message.window;
    uint64_t at = 0;
    for (uint64_t i = 0; i < window->pairs_count; i++) {
        totals->pairs += window->pairs[i].messages;
        totals->bytes -= window->pairs[i].bytes;
    }
    for (uint64_t i = 0; i < window->bursts_count; i++) {
        const struct wire_burst_row *burst = &window->bursts[i];
        uint64_t messages = burst->other_messages, of_burst = burst->other_bytes;
        for (uint64_t end = at + burst->pairs; at < end; at++) {
            const struct wire_burst_pair_row *pair = &window->burst_pairs[at];
            messages += pair->messages;
            of_burst += pair->bytes;
            if (!burst->collective)
                continue;
            assert_true(pair->destination < window->collectives_count);
            const struct wire_collective_row *named = &window->collectives[pair->destination];
            assert_int_equal(named->call, CALL_Bcast);
            assert_int_equal(window->comms[named->comm].id, 9);
        }
        assert_int_equal(messages, burst->messages);
        assert_int_equal(of_burst, burst->bytes);
        *(burst->collective ? &totals->calls : &totals->messages) += burst->messages;
        totals->bytes += burst->collective ? 0 : burst->bytes;
    }
    assert_int_equal(at, window->burst_pairs_count);
    totals->bursts += window->bursts_count;
    totals->rows += window->bursts_count + window->burst_pairs_count;
    totals->members += window->comm_members_count;
    totals->degraded |= window->degraded;
    totals->longest = length > totals->longest ? length : totals->longest;
    totals->parts++;
    wire_arena_finish(&arena);
    return 0;
}

static struct burst_totals encode_bursts(size_t budget, size_t longest, uint64_t most_rows,
                                         uint32_t most_pairs)
{
    static struct bed bed;
    struct burst_totals totals = {0};
    struct window_output output = {budget, longest, 1, add_bursts, &totals};
    struct event_sum *sum = gather(most_pairs);
    make(&bed);
    assert_int_equal(event_sum_rows(sum, &bed.rows), 0);
    struct window_bursts bursts = {
        sum, {same_time, NULL, WINDOW_BEGIN, WINDOW_BEGIN + 1000000000}, most_rows};
    assert_true(window_message_encode(&bed.window, &bed.rows, &bed.transfers, &bursts, &output) >
                0);
    event_sum_destroy(sum);
    assert_int_equal(totals.messages, totals.pairs);
    assert_int_equal(totals.messages, RANKS * 590);
    assert_int_equal(totals.bytes, 0);
    assert_int_equal(totals.calls, RANKS * 10);
    return totals;
}

static void bursts_hold_the_messages_of_all_pairs(void **state)
{
    (void)state;
    struct burst_totals totals = encode_bursts(1u << 20, 1u << 20, 30000, 1u << 16);
    assert_int_equal(totals.bursts, 64);
    assert_int_equal(totals.members, RANKS);
    assert_int_equal(totals.degraded, 0);
    /* Pairs that are together in "others" have no rows in bursts either. */
    totals = encode_bursts(1u << 20, 1u << 20, 30000, 500);
    assert_true(totals.rows < 30000);
    assert_int_equal(totals.degraded, DEGRADED_PAIRS);
}

static void bursts_have_the_rows_that_are_wanted_at_most(void **state)
{
    (void)state;
    for (uint64_t most = 20000; most > 1; most /= 2) {
        struct burst_totals totals = encode_bursts(1u << 20, 1u << 20, most, 1u << 16);
        assert_true(totals.rows <= most);
        assert_int_equal(totals.degraded, most > 10000 ? 0 : totals.degraded & DEGRADED_BURSTS);
    }
}

static void bursts_over_the_budget_shrink_and_add_up(void **state)
{
    (void)state;
    struct burst_totals whole = encode_bursts(1u << 20, 1u << 20, 30000, 1u << 16);
    struct burst_totals totals = encode_bursts(whole.longest - 1, 1u << 20, 30000, 1u << 16);
    assert_true(totals.longest <= whole.longest - 1);
    assert_int_equal(totals.degraded, DEGRADED_BURSTS); /* they took most of it */
    assert_true(totals.rows < whole.rows);
    for (size_t budget = 100000; budget > 5000; budget /= 2) {
        totals = encode_bursts(budget, 1u << 20, 30000, 1u << 16);
        assert_true(totals.longest <= budget);
        assert_true(totals.degraded & DEGRADED_BURSTS);
        assert_true(totals.bursts >= 2);
    }
    totals = encode_bursts(1, 1u << 20, 30000, 1u << 16);
    assert_int_equal(totals.rows, 2);
    assert_int_equal(totals.members, 0);
}

static void bursts_of_a_long_window_keep_their_pairs_in_every_part(void **state)
{
    (void)state;
    struct burst_totals totals = encode_bursts(1u << 20, 20000, 30000, 1u << 16);
    assert_true(totals.parts > 5);
    assert_true(totals.longest <= 20000);
    assert_int_equal(totals.bursts, 64);
    assert_int_equal(totals.members, RANKS);
    assert_int_equal(totals.degraded, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_within_its_budget_is_one_message_with_everything),
        cmocka_unit_test(window_over_its_budget_keeps_its_largest_pairs_and_all_totals),
        cmocka_unit_test(window_that_cannot_fit_keeps_its_totals_all_the_same),
        cmocka_unit_test(long_window_is_sent_in_parts_that_add_up),
        cmocka_unit_test(ends_of_messages_go_first_and_those_of_large_keys),
        cmocka_unit_test(ends_of_messages_are_reported_in_the_order_they_happened),
        cmocka_unit_test(transfers_are_put_together_and_add_up),
        cmocka_unit_test(fold_keeps_the_largest),
        cmocka_unit_test(refusal_of_the_receiver_is_passed_on),
        cmocka_unit_test(window_of_large_numbers_stays_in_its_budget),
        cmocka_unit_test(bursts_hold_the_messages_of_all_pairs),
        cmocka_unit_test(bursts_have_the_rows_that_are_wanted_at_most),
        cmocka_unit_test(bursts_over_the_budget_shrink_and_add_up),
        cmocka_unit_test(bursts_of_a_long_window_keep_their_pairs_in_every_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
