#include "daemon/analysis/phases/collective_edges.h"

#include "holter/call.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MOST 40u
#define STEPS 64u

/* What all ranks of a communicator send in one collective, played step by step. */
struct play {
    uint32_t size, root;
    const char *algorithm;
    uint64_t knows[MOST];         /* bit r: something that depends on what rank r had */
    uint64_t in[MOST], out[MOST]; /* bytes */
    uint64_t messages_in[MOST], messages_out[MOST];
    uint64_t between[MOST][MOST]; /* bytes */
    bool twice;                   /* a rank received data that it already had */
};

static uint64_t all_of(uint32_t size)
{
    return (UINT64_C(1) << size) - 1;
}

static void play_step(struct play *p, const struct collective_edges *edges, uint32_t step)
{
    uint64_t before[MOST];
    memcpy(before, p->knows, sizeof(before));
    for (uint32_t r = 0; r < p->size; r++)
        for (uint32_t i = 0; i < edges[r].count; i++) {
            const struct collective_edge *e = &edges[r].edges[i];
            if (e->step != step)
                continue;
            p->twice |= (p->knows[e->destination] & before[r]) != 0;
            p->knows[e->destination] |= before[r];
        }
}

static void play(struct play *p, uint16_t call, uint32_t size, uint32_t root, uint64_t bytes)
{
    static struct collective_edges edges[MOST];
    memset(p, 0, sizeof(*p));
    p->size = size;
    p->root = root;
    for (uint32_t r = 0; r < size; r++) {
        const struct collective_call c = {call, size, r, root, 1, bytes};
        assert_int_equal(collective_edges(&c, &edges[r]), 0);
        p->knows[r] = UINT64_C(1) << r;
        uint32_t step = 0;
        for (uint32_t i = 0; i < edges[r].count; i++) {
            const struct collective_edge *e = &edges[r].edges[i];
            assert_true(e->destination < size && e->destination != r);
            assert_true(e->step >= step && e->step < STEPS);
            step = e->step;
            p->out[r] += e->bytes;
            p->in[e->destination] += e->bytes;
            p->messages_out[r] += e->messages;
            p->messages_in[e->destination] += e->messages;
            p->between[r][e->destination] += e->bytes;
        }
    }
    p->algorithm = edges[0].algorithm;
    for (uint32_t step = 0; step < STEPS; step++) {
        bool round = strstr(p->algorithm, "ring") != NULL; /* p - 1 messages in one row */
        for (uint32_t again = 0; again < (round ? size : 1); again++)
            play_step(p, edges, step);
    }
}

static void assert_all_know(const struct play *p, uint64_t what)
{
    for (uint32_t r = 0; r < p->size; r++)
        assert_true((p->knows[r] & what) == what);
}

static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

#define EACH_SIZE(size) for (uint32_t size = 1; size <= MOST; size++)
#define EACH_ROOT(root, size) for (uint32_t root = 0; root < (size); root += 1 + (size) / 5)

/* ---- rooted --------------------------------------------------------------------- */

static void short_bcast_reaches_everybody_once(void **state)
{
    struct play p;
    (void)state;
    EACH_SIZE(size)
    EACH_ROOT(root, size)
    {
        play(&p, CALL_Bcast, size, root, 1000);
        assert_all_know(&p, UINT64_C(1) << root);
        for (uint32_t r = 0; r < size; r++) {
            assert_int_equal(p.messages_in[r], r != root);
            assert_int_equal(p.in[r], r != root ? 1000 : 0);
        }
    }
}

static void long_bcast_scatters_and_gathers(void **state)
{
    struct play p;
    (void)state;
    for (uint32_t size = 8; size <= MOST; size++)
        EACH_ROOT(root, size)
    for (uint64_t bytes = 12288; bytes < 2000000; bytes *= 50) {
        play(&p, CALL_Bcast, size, root, bytes);
        bool doubling = is_power(size) && bytes < 524288;
        assert_string_equal(p.algorithm,
                            doubling ? "scatter, recursive doubling" : "scatter, ring");
        assert_all_know(&p, UINT64_C(1) << root);
        for (uint32_t r = 0; r < size; r++) {
            uint64_t least = r == root ? bytes - bytes / size - 1 : bytes;
            assert_true(p.in[r] >= least && p.in[r] <= 2 * bytes);
        }
    }
}

static void gather_brings_all_to_the_root(void **state)
{
    static const uint16_t calls[] = {CALL_Gather, CALL_Gatherv};
    struct play p;
    (void)state;
    for (int i = 0; i < 2; i++)
        EACH_SIZE(size)
    EACH_ROOT(root, size)
    {
        play(&p, calls[i], size, root, 700);
        assert_true(p.knows[root] == all_of(size));
        assert_int_equal(p.in[root], 700 * (size - 1));
        assert_false(p.twice);
        for (uint32_t r = 0; r < size; r++) /* what comes in goes on, with one's own */
            assert_true(r == root ? p.out[r] == 0 : p.out[r] == p.in[r] + 700);
    }
}

static void scatter_leaves_each_its_part(void **state)
{
    static const uint16_t calls[] = {CALL_Scatter, CALL_Scatterv};
    struct play p;
    (void)state;
    for (int i = 0; i < 2; i++)
        EACH_SIZE(size)
    EACH_ROOT(root, size)
    {
        play(&p, calls[i], size, root, 1001 * size);
        assert_all_know(&p, UINT64_C(1) << root);
        for (uint32_t r = 0; r < size; r++) {
            assert_int_equal(p.messages_in[r], r != root);
            assert_true(r == root || p.in[r] - p.out[r] == 1001);
        }
        assert_int_equal(p.out[root] - p.in[root], 1001 * (size - 1));
    }
}

static void reduce_takes_everybody_into_account(void **state)
{
    struct play p;
    (void)state;
    EACH_SIZE(size)
    EACH_ROOT(root, size)
    {
        play(&p, CALL_Reduce, size, root, 2048);
        assert_true(p.knows[root] == all_of(size));
        assert_false(p.twice); /* nothing is added twice */
        for (uint32_t r = 0; r < size; r++)
            assert_int_equal(p.out[r], r == root ? 0 : 2048);
        play(&p, CALL_Reduce, size, root, 100000);
        assert_true(p.knows[root] == all_of(size));
        assert_true(size == 1 || strcmp(p.algorithm, "Rabenseifner") == 0);
    }
}

/* ---- all with all --------------------------------------------------------------- */

static void barrier_shows_that_all_wait_for_all(void **state)
{
    struct play p;
    (void)state;
    EACH_SIZE(size)
    {
        play(&p, CALL_Barrier, size, 0, 0);
        assert_all_know(&p, all_of(size));
        for (uint32_t r = 0; r < size; r++)
            assert_true(p.in[r] == 0 && p.messages_in[r] == p.messages_out[r]);
    }
}

static void allreduce_shows_that_all_wait_for_all(void **state)
{
    struct play p;
    (void)state;
    EACH_SIZE(size)
    for (uint64_t bytes = 8; bytes < 10000000; bytes *= 100) {
        play(&p, CALL_Allreduce, size, 0, bytes);
        assert_all_know(&p, all_of(size));
        assert_string_equal(p.algorithm, size == 1       ? "none"
                                         : bytes <= 2048 ? "recursive doubling"
                                                         : "Rabenseifner");
        for (uint32_t r = 0; r < size && is_power(size); r++) {
            assert_int_equal(p.messages_in[r], p.messages_out[r]);
            assert_true(p.in[r] <= p.out[r] + size && p.out[r] <= p.in[r] + size);
        }
    }
    EACH_SIZE(size)
    { /* nothing is lost to rounding: 2 (p - 1) n, and what is folded in and out */
        uint64_t sum = 0, power = 1;
        while (power <= size / 2)
            power *= 2;
        play(&p, CALL_Allreduce, size, 0, 1000003);
        for (uint32_t r = 0; r < size; r++)
            sum += p.out[r];
        assert_int_equal(sum, 2 * 1000003 * (power - 1 + size - power));
    }
    /* by hand: half, a quarter, an eighth, and back */
    play(&p, CALL_Allreduce, 8, 0, 8000);
    assert_true(p.between[0][1] == 8000 && p.between[0][2] == 4000 && p.between[0][4] == 2000);
    assert_int_equal(p.out[3], 14000);
}

static void allgather_brings_all_to_all(void **state)
{
    static const uint64_t sizes[] = {10, 5000, 30000};
    struct play p;
    (void)state;
    for (int i = 0; i < 3; i++)
        EACH_SIZE(size)
        {
            play(&p, i == 1 ? CALL_Allgatherv : CALL_Allgather, size, 0, sizes[i]);
            assert_all_know(&p, all_of(size));
            uint64_t all = sizes[i] * size;
            assert_string_equal(p.algorithm, size == 1                        ? "none"
                                             : is_power(size) && all < 524288 ? "recursive doubling"
                                             : all < 81920                    ? "Bruck"
                                                                              : "ring");
            for (uint32_t r = 0; r < size; r++)
                assert_true(p.in[r] == sizes[i] * (size - 1) && p.out[r] == p.in[r]);
        }
}

static void alltoall_brings_each_part_to_its_rank(void **state)
{
    static const uint16_t calls[] = {CALL_Alltoall, CALL_Alltoallv, CALL_Alltoallw};
    struct play p;
    (void)state;
    for (int i = 0; i < 3; i++)
        EACH_SIZE(size)
        {
            play(&p, calls[i], size, 0, 300 * size);
            for (uint32_t r = 0; r < size; r++)
                for (uint32_t to = 0; to < size; to++)
                    assert_int_equal(p.between[r][to], r == to ? 0 : 300);
        }
    for (uint32_t size = 8; size <= MOST;
         size++) { /* Bruck passes each on by the bits of its way */
        uint64_t bits = 0;
        for (uint32_t distance = 1; distance < size; distance++)
            bits += (unsigned)__builtin_popcount(distance);
        play(&p, CALL_Alltoall, size, 0, 200 * size);
        assert_string_equal(p.algorithm, "Bruck");
        assert_all_know(&p, all_of(size));
        for (uint32_t r = 0; r < size; r++)
            assert_true(p.out[r] == 200 * bits && p.in[r] == p.out[r]);
    }
}

static void reduce_scatter_shows_that_all_wait_for_all(void **state)
{
    static const uint16_t calls[] = {CALL_Reduce_scatter, CALL_Reduce_scatter_block};
    struct play p;
    (void)state;
    for (int i = 0; i < 2; i++)
        EACH_SIZE(size)
        {
            play(&p, calls[i], size, 0, 10000);
            assert_all_know(&p, all_of(size));
            play(&p, calls[i], size, 0, 1000000);
            for (uint32_t r = 0; r < size; r++)
                assert_int_equal(p.messages_in[r], size - 1);
        }
}

static void scan_reports_each_of_those_before(void **state)
{
    static const uint16_t calls[] = {CALL_Scan, CALL_Exscan};
    struct play p;
    (void)state;
    for (int i = 0; i < 2; i++)
        EACH_SIZE(size)
        {
            play(&p, calls[i], size, 0, 40);
            for (uint32_t r = 0; r < size; r++) {
                assert_true((p.knows[r] & all_of(r)) == all_of(r));
                assert_int_equal(p.messages_in[r], p.messages_out[r]);
            }
        }
}

/* ---- what is not so simple ------------------------------------------------------- */

static void immediate_and_persistent_calls_are_alike(void **state)
{
    struct collective_edges one, other;
    (void)state;
    for (uint16_t kind = 0; kind <= CALL_Exscan - CALL_Barrier; kind++)
        for (uint16_t form = 20; form <= 40; form = (uint16_t)(form + 20)) {
            struct collective_call c = {(uint16_t)(CALL_Barrier + kind), 13, 4, 2, 3, 90000};
            assert_int_equal(collective_edges(&c, &one), 0);
            c.call = (uint16_t)(c.call + form);
            assert_int_equal(collective_edges(&c, &other), 0);
            assert_string_equal(one.algorithm, other.algorithm);
            assert_int_equal(one.count, other.count);
            assert_memory_equal(one.edges, other.edges, one.count * sizeof(one.edges[0]));
            assert_int_equal(collective_teller(c.call),
                             collective_teller((uint16_t)(CALL_Barrier + kind)));
        }
    assert_int_equal(collective_teller(CALL_Ibcast), COLLECTIVE_ROOT);
    assert_int_equal(collective_teller(CALL_Allreduce_init), COLLECTIVE_EACH);
    assert_int_equal(collective_teller(CALL_Neighbor_alltoall), COLLECTIVE_NOBODY);
    assert_int_equal(collective_teller(CALL_Send), COLLECTIVE_NOBODY);
}

static void calls_that_are_alike_count_together(void **state)
{
    struct collective_edges one, many;
    (void)state;
    const struct collective_call once = {CALL_Allreduce, 16, 5, 0, 1, 800};
    const struct collective_call often = {CALL_Allreduce, 16, 5, 0, 1000, 800000};
    assert_int_equal(collective_edges(&once, &one), 0);
    assert_int_equal(collective_edges(&often, &many), 0);
    assert_int_equal(one.count, 4);
    assert_int_equal(many.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(many.edges[i].messages, 1000 * one.edges[i].messages);
        assert_int_equal(many.edges[i].bytes, 1000 * one.edges[i].bytes);
    }
}

static void too_many_rows_are_spread(void **state)
{
    struct collective_edges out;
    struct collective_call c = {CALL_Alltoallv, 65, 3, 0, 2, 6500};
    (void)state;
    assert_int_equal(collective_edges(&c, &out), 0);
    assert_true(out.count == 64 && out.spread_messages == 0);
    c.size = 4320;
    c.bytes = 4320 * 1000;
    assert_int_equal(collective_edges(&c, &out), 0);
    assert_int_equal(out.count, 0);
    assert_int_equal(out.spread_messages, 2 * 4319);
    assert_int_equal(out.spread_bytes, 4319 * 1000);
    c = (struct collective_call){CALL_Iscatterv, 100, 7, 7, 1, 100};
    assert_int_equal(collective_edges(&c, &out), 0);
    assert_true(out.spread_messages == 99 && out.spread_bytes == 99 && out.count == 0);
}

static void hostile_numbers_are_survived(void **state)
{
    static const uint32_t sizes[] = {
        0, 1, 2, 3, 64, 4320, 1u << 23, (1u << 24) - 1, 1u << 24, (1u << 24) + 1, UINT32_MAX};
    static const uint64_t numbers[] = {0, 1, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX};
    struct collective_edges out;
    (void)state;
    for (uint32_t call = 0; call <= 400; call++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            for (size_t n = 0; n < 25; n++) {
                uint32_t size = sizes[i], last = size > 0 ? size - 1 : 0;
                const struct collective_call c = {(uint16_t)call,     size,
                                                  n % 2 ? last : 0,   n % 3 ? last / 2 : last,
                                                  numbers[n / 5 % 5], numbers[n % 5]};
                int rc = collective_edges(&c, &out);
                if (collective_teller((uint16_t)call) == COLLECTIVE_NOBODY)
                    assert_int_equal(rc, -HOLTER_EMISSING);
                else
                    assert_int_equal(rc, size > 0 && size <= 1u << 24 ? 0 : -HOLTER_ERANGE);
                assert_true(rc != 0 || out.count <= COLLECTIVE_MAXIMUM_EDGES);
            }
    const struct collective_call beyond = {CALL_Bcast, 4, 4, 0, 1, 1};
    const struct collective_call rootless = {CALL_Bcast, 4, 0, 4, 1, 1};
    const struct collective_call unrooted = {CALL_Barrier, 4, 0, UINT32_MAX, 1, 1};
    assert_int_equal(collective_edges(&beyond, &out), -HOLTER_ERANGE);
    assert_int_equal(collective_edges(&rootless, &out), -HOLTER_ERANGE);
    assert_int_equal(collective_edges(&unrooted, &out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_bcast_reaches_everybody_once),
        cmocka_unit_test(long_bcast_scatters_and_gathers),
        cmocka_unit_test(gather_brings_all_to_the_root),
        cmocka_unit_test(scatter_leaves_each_its_part),
        cmocka_unit_test(reduce_takes_everybody_into_account),
        cmocka_unit_test(barrier_shows_that_all_wait_for_all),
        cmocka_unit_test(allreduce_shows_that_all_wait_for_all),
        cmocka_unit_test(allgather_brings_all_to_all),
        cmocka_unit_test(alltoall_brings_each_part_to_its_rank),
        cmocka_unit_test(reduce_scatter_shows_that_all_wait_for_all),
        cmocka_unit_test(scan_reports_each_of_those_before),
        cmocka_unit_test(immediate_and_persistent_calls_are_alike),
        cmocka_unit_test(calls_that_are_alike_count_together),
        cmocka_unit_test(too_many_rows_are_spread),
        cmocka_unit_test(hostile_numbers_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
