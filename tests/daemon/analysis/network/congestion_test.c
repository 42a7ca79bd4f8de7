/* States and averages of links over windows. */
#include "daemon/analysis/network/congestion.h"
#include "holter/error.h"
#include "tests/daemon/analysis/network/congestion_plain.h"
#include "tests/daemon/analysis/network/machines.h"
#include "tests/daemon/analysis/network/networks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct congestion_link look(const struct congestion *congestion, uint32_t link)
{
    struct congestion_link out;
    assert_true(congestion_link(congestion, link, &out));
    return out;
}

/* Every message with so many times the reference's latency. */
static struct congestion_pair slow_pair(uint32_t source, uint32_t destination, uint64_t bytes,
                                        double latency)
{
    return (struct congestion_pair){source, destination, bytes, 10, 10, 10 * log(latency)};
}

static size_t count_state(const struct congestion *congestion, const struct topology *topology,
                          enum congestion_state state)
{
    size_t count = 0;
    struct congestion_link link;
    for (uint32_t l = 0; l < topology_links(topology); l++)
        count += congestion_link(congestion, l, &link) && link.state == state;
    return count;
}

/* Nearest neighbours in all dimensions of a 4x4x4 torus. @return how many pairs */
static size_t halo(const struct topology *topology, uint64_t bytes, struct congestion_pair *out)
{
    size_t count = 0;
    for (uint32_t link = 0; link < topology_links(topology); link++) {
        uint32_t from, to;
        if (topology_link(topology, link, &from, &to))
            out[count++] = pair(from, to, bytes);
    }
    return count;
}

static void nothing_is_hot_in_a_balanced_job(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[385];
    for (uint64_t w = 0; w < 20; w++) {
        size_t count = halo(topology, 50 * MB, pairs);
        for (size_t i = 0; i < count; i++)
            pairs[i].bytes += (i * 7 + w) % 10 * MB;
        update(congestion, w, pairs, count);
        assert_int_equal(count_state(congestion, topology, CONGESTION_BUSY), 384);
    }
    update(congestion, 20, NULL, 0);
    assert_int_equal(count_state(congestion, topology, CONGESTION_IDLE), 384);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

/* All pairs of one dimension exchange much, and all links carry a barrier. */
static void a_barrier_does_not_make_the_halo_hot(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:8,8,8");
    struct congestion *congestion = create(topology);
    struct congestion_pair *pairs = calloc(4096, sizeof(*pairs));
    assert_non_null(pairs);
    size_t count = halo(topology, 64, pairs);
    for (size_t i = 0; i < count; i++)
        if (pairs[i].source / 64 != pairs[i].destination / 64 && pairs[i].source % 16 == 0)
            pairs[i].bytes = 80 * MB;
    for (uint64_t w = 0; w < 10; w++)
        update(congestion, w, pairs, count);
    assert_int_equal(count_state(congestion, topology, CONGESTION_HOT), 0);
    free(pairs);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void the_link_of_a_bottleneck_is_hot_and_cools(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[385];
    uint32_t link = topology_link_between(topology, 0, 1);
    for (uint64_t w = 10; w < 40; w++) {
        size_t count = halo(topology, 5 * MB, pairs);
        if (w >= 20 && w < 30)
            pairs[count++] = pair(0, 1, 100 * MB); /* out of order, and a second time */
        update(congestion, w, pairs, count);
        bool hot = look(congestion, link).state == CONGESTION_HOT;
        if (w < 20 || w > 38)
            assert_false(hot);
        else if (w >= 23 && w < 30)
            assert_true(hot);
        assert_int_equal(count_state(congestion, topology, CONGESTION_HOT), hot);
    }
    assert_int_equal(look(congestion, link).peak, 105 * MB);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void a_single_window_makes_nothing_hot(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[385];
    for (uint64_t w = 0; w < 40; w++) {
        size_t count = halo(topology, 5 * MB, pairs);
        if (w == 0 || w == 20) /* the start of a job, and a spike */
            pairs[0].bytes = w == 0 ? 500 * MB : 60 * MB;
        update(congestion, w, pairs, count);
        assert_int_equal(count_state(congestion, topology, CONGESTION_HOT), 0);
    }
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void a_small_load_is_never_hot(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[385];
    for (uint64_t w = 0; w < 10; w++) {
        size_t count = halo(topology, 9000, pairs);
        pairs[0].bytes = 900000;
        update(congestion, w, pairs, count);
    }
    assert_int_equal(count_state(congestion, topology, CONGESTION_HOT), 0);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void known_capacity_decides_with_hysteresis(void **state)
{
    (void)state;
    struct topology *topology = machine_line(4, 100.0 * MB);
    struct congestion *congestion = create(topology);
    uint32_t link = topology_link_between(topology, 1, 2);
    static const struct {
        uint64_t megabytes;
        enum congestion_state state;
    } steps[] = {{65, CONGESTION_BUSY}, {80, CONGESTION_HOT},  {60, CONGESTION_HOT},
                 {45, CONGESTION_BUSY}, {65, CONGESTION_BUSY}, {80, CONGESTION_HOT}};
    uint64_t window = 0;
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++)
        for (unsigned i = 0; i < 12; i++) {
            struct congestion_pair one = pair(0, 3, steps[s].megabytes * MB);
            update(congestion, window++, &one, 1);
            if (i == 11) {
                struct congestion_link described = look(congestion, link);
                assert_int_equal(described.state, steps[s].state);
                assert_true(fabs(described.share - (double)steps[s].megabytes / 100) < 1e-12);
            }
        }
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void hot_and_slow_is_congested(void **state)
{
    (void)state;
    struct topology *topology = machine_line(4, 100.0 * MB);
    struct congestion *congestion = create(topology);
    uint32_t link = topology_link_between(topology, 1, 2),
             other = topology_link_between(topology, 3, 2);
    uint64_t window = 0;
    static const struct {
        double latency;
        enum congestion_state state;
    } steps[] = {{1.1, CONGESTION_HOT},
                 {2, CONGESTION_CONGESTED},
                 {1.1, CONGESTION_CONGESTED},
                 {1, CONGESTION_HOT}};
    for (size_t s = 0; s < 4; s++) {
        for (unsigned i = 0; i < 12; i++) {
            struct congestion_pair pairs[2] = {slow_pair(0, 3, 90 * MB, steps[s].latency),
                                               slow_pair(3, 2, 10 * MB, 3)};
            update(congestion, window++, pairs, 2);
        }
        struct congestion_link described = look(congestion, link);
        assert_int_equal(described.state, steps[s].state);
        assert_true(fabs(described.latency - steps[s].latency) < 1e-5);
        assert_int_equal(look(congestion, other).state, CONGESTION_BUSY); /* slow, and not hot */
    }
    /* nothing is known of latency any more */
    for (unsigned i = 0; i < 20; i++) {
        struct congestion_pair one = pair(0, 3, 90 * MB);
        update(congestion, window++, &one, 1);
    }
    assert_int_equal(look(congestion, link).state, CONGESTION_HOT);
    assert_true(isnan(look(congestion, link).latency));
    congestion_destroy(congestion);
    topology_destroy(topology);
}

/* A load that swings around every threshold. */
static void states_hold_for_a_while(void **state)
{
    (void)state;
    struct topology *topology = machine_line(3, 100.0 * MB);
    struct congestion *congestion = create(topology);
    struct noise noise = {.state = 3};
    uint32_t link = topology_link_between(topology, 0, 1);
    uint64_t changed = 0;
    unsigned changes = 0;
    bool was = false;
    for (uint64_t w = 0; w < 500; w++) {
        struct congestion_pair one =
            slow_pair(0, 2, noise_uint(&noise) % 130 * MB, 0.9 + 0.6 * noise_uniform(&noise));
        update(congestion, w, &one, 1);
        struct congestion_link described = look(congestion, link);
        bool hot = described.state >= CONGESTION_HOT;
        assert_true(described.since <= w);
        if (hot != was) {
            assert_true(w - changed >= CONGESTION_HOLD);
            assert_int_equal(described.since, w);
            changed = w;
            changes++;
        }
        was = hot;
    }
    assert_true(changes > 2 && changes < 60);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

static void measured_above_modelled_shows_background_traffic(void **state)
{
    (void)state;
    struct topology *topology = machine_line(3, 100.0 * MB);
    struct congestion *congestion = create(topology);
    uint32_t link = topology_link_between(topology, 0, 1), back = topology_reverse(topology, link);
    for (uint64_t w = 0; w < 60; w++) {
        struct congestion_pair one = pair(0, 2, (10 + w % 2 * 10) * MB);
        uint64_t background = w < 30 ? 0 : 70 * MB;
        assert_int_equal(congestion_set_counter(congestion, link, one.bytes + background, 0), 0);
        assert_int_equal(congestion_set_counter(congestion, back, 1234, 1), 0);
        update(congestion, w, &one, 1);
        if (w == 29) {
            assert_true(look(congestion, link).ratio == 1);
            assert_int_equal(look(congestion, link).state, CONGESTION_BUSY);
        }
    }
    struct congestion_link described = look(congestion, link);
    assert_int_equal(described.measured, 90 * MB);
    assert_true(described.ratio > 4 && described.ratio < 6);
    assert_int_equal(described.state, CONGESTION_HOT); /* whoever fills it */
    described = look(congestion, back);
    assert_true(described.packets && described.measured == 1234 && isnan(described.ratio));
    update(congestion, 60, NULL, 0);
    assert_true(look(congestion, link).measured == CONGESTION_UNKNOWN);
    assert_true(isnan(look(congestion, link).ratio));
    congestion_destroy(congestion);
    topology_destroy(topology);
}

/* ---- the incremental form against sums from nothing ---- */

static void draw_window(struct congestion_pair *pairs, size_t count, uint32_t vertices, bool all,
                        struct noise *noise)
{
    for (size_t i = 0; i < count; i++) {
        if (!all && noise_uint(noise) % 10 != 0)
            continue;
        pairs[i] = (struct congestion_pair){.source = (uint32_t)(noise_uint(noise) % vertices),
                                            .destination = (uint32_t)(noise_uint(noise) % vertices),
                                            .bytes = noise_uint(noise) % 5 * MB,
                                            .messages = noise_uint(noise) % 50,
                                            .matched = noise_uint(noise) % 3};
        pairs[i].log_latency = pairs[i].matched == 0 ? 0 : noise_gauss(noise);
    }
}

static void windows_equal_sums_from_scratch(void **state)
{
    (void)state;
    struct noise noise = {.state = 21};
    for (unsigned round = 0; round < 25; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct congestion *congestion = create(topology), *shuffled = create(topology);
        struct congestion_pair pairs[80], mixed[80];
        struct plain plain = {.weight = 0};
        uint32_t vertices = topology_vertices(topology);
        assert_true(topology_links(topology) <= 1024);
        for (uint64_t w = 0; w < 12; w++) {
            size_t count = w == 7 ? 0 : 80;
            draw_window(pairs, 80, vertices, w == 0, &noise);
            for (size_t i = 0; i < 80; i++)
                mixed[i] = pairs[79 - i];
            update(congestion, w, pairs, count);
            update(shuffled, w, mixed, count);
            assert_window(congestion, topology, pairs, count, &plain);
            assert_same_links(congestion, shuffled, topology_links(topology));
        }
        congestion_destroy(congestion);
        congestion_destroy(shuffled);
        topology_destroy(topology);
    }
}

static void windows_left_out_carry_nothing(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct congestion *one = create(topology), *two = create(topology);
    struct congestion_pair load = pair(0, 1, 64 * MB);
    uint32_t link = topology_link_between(topology, 0, 1);
    update(one, 5, &load, 1);
    update(two, 5, &load, 1);
    for (uint64_t w = 6; w < 12; w++)
        update(two, w, NULL, 0);
    update(one, 12, &load, 1);
    update(two, 12, &load, 1);
    assert_true(fabs(look(one, link).average - look(two, link).average) < 1e-3);
    update(one, UINT64_MAX - 1, &load, 1);
    assert_true(look(one, link).average > 0 && isfinite(look(one, link).average));
    congestion_destroy(one);
    congestion_destroy(two);
    topology_destroy(topology);
}

/* ---- routes of links ---- */

static int compare_routes(const struct congestion_pair *pairs, size_t a, size_t b)
{
    if (pairs[a].bytes != pairs[b].bytes)
        return pairs[a].bytes > pairs[b].bytes ? -1 : 1;
    if (pairs[a].messages != pairs[b].messages)
        return pairs[a].messages > pairs[b].messages ? -1 : 1;
    return (a > b) - (a < b);
}

static void try_routes(const struct topology *topology, const struct congestion_pair *pairs,
                       size_t count, const uint32_t *links, size_t link_count, size_t top)
{
    struct congestion_route *out = calloc(link_count * top + 1, sizeof(*out));
    size_t found = 0, at = 0, *order = calloc(count + 1, sizeof(*order));
    assert_true(out != NULL && order != NULL);
    const struct congestion_query query = {topology, pairs, count, links, link_count, top};
    assert_int_equal(congestion_routes(&query, out, &found), 0);
    for (size_t l = 0; l < link_count; l++) {
        size_t crossing = 0;
        for (size_t p = 0; p < count; p++) {
            if (!topology_crosses(topology, pairs[p].source, pairs[p].destination, links[l]))
                continue;
            size_t place = crossing++;
            for (; place > 0 && compare_routes(pairs, p, order[place - 1]) < 0; place--)
                order[place] = order[place - 1];
            order[place] = p;
        }
        for (size_t i = 0; i < crossing && i < top; i++, at++) {
            assert_true(at < found);
            assert_int_equal(out[at].link, links[l]);
            assert_int_equal(out[at].pair, order[i]);
            assert_int_equal(out[at].length, topology_distance(topology, pairs[order[i]].source,
                                                               pairs[order[i]].destination));
        }
    }
    assert_int_equal(at, found);
    free(out);
    free(order);
}

static void routes_of_a_link_come_largest_first(void **state)
{
    (void)state;
    struct noise noise = {.state = 77};
    for (unsigned round = 0; round < 30; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct congestion_pair pairs[80];
        uint32_t links = topology_links(topology), *all = calloc(links + 1u, sizeof(*all));
        assert_non_null(all);
        for (uint32_t link = 0; link < links; link++)
            all[link] = link;
        draw_window(pairs, 80, topology_vertices(topology), true, &noise);
        for (size_t top = 0; top < 5; top++) {
            try_routes(topology, pairs, 80, all, links, top);
            try_routes(topology, pairs, 80, all, links < 3 ? links : 3, top);
        }
        try_routes(topology, pairs, 80, all, links, 200);
        free(all);
        topology_destroy(topology);
    }
}

/* ---- refusals ---- */

static void what_makes_no_sense_is_left_out(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[] = {
        pair(0, 99, MB),
        pair(UINT32_MAX, 1, MB),
        pair(3, 3, MB),
        {2, 3, UINT64_MAX, UINT64_MAX, 5, (double)NAN},
        {3, 2, 1, 1, UINT64_MAX, (double)INFINITY},
    };
    size_t count;
    for (uint64_t w = 0; w < 5; w++)
        update(congestion, w, pairs, 5);
    congestion_pairs(congestion, &count);
    assert_int_equal(count, 2);
    assert_int_equal(congestion_update(congestion, 4, 1, NULL, 0), -HOLTER_ERANGE);
    assert_int_equal(congestion_update(congestion, 5, 0, NULL, 0), -HOLTER_ERANGE);
    assert_int_equal(congestion_update(congestion, 5, (double)NAN, NULL, 0), -HOLTER_ERANGE);
    assert_int_equal(congestion_set_counter(congestion, 64, 1, 0), -HOLTER_ERANGE);
    struct congestion_link link;
    assert_false(congestion_link(congestion, 64, &link));
    update(congestion, 5, NULL, 0);
    assert_int_equal(count_state(congestion, topology, CONGESTION_BUSY), 0);
    congestion_destroy(congestion);
    congestion_destroy(NULL);
    topology_destroy(topology);
}

/* Draw other figures for each pair. Pairs stay in ascending order of their sources; in some windows
 * some of them get another destination. */
static void draw_pairs(struct congestion_pair *pairs, size_t count, uint32_t vertices, uint64_t w,
                       struct noise *noise)
{
    for (size_t i = 0; i < count; i++) {
        struct congestion_pair *p = &pairs[i];
        if (w == 0)
            p->source = (uint32_t)(i * vertices / count);
        if (w == 0 || (w % 5 == 4 && noise_uint(noise) % 8 == 0))
            p->destination =
                (p->source + 1 + (uint32_t)(noise_uint(noise) % (vertices - 1))) % vertices;
        p->bytes = noise_uint(noise) % 5 * MB;
        p->messages = 1 + noise_uint(noise) % 50;
        p->matched = noise_uint(noise) % 3;
        p->log_latency = p->matched == 0 ? 0 : noise_gauss(noise);
    }
}

static void links_are_sums_over_routes_whatever_the_order_of_pairs(void **state)
{
    (void)state;
    struct noise noise = {.state = 22};
    for (unsigned round = 0; round < 25; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct congestion *congestion = create(topology), *turned = create(topology);
        struct congestion_pair pairs[80], mixed[80];
        struct plain plain = {.weight = 0};
        uint32_t vertices = topology_vertices(topology);
        size_t count = vertices < 2 ? 0 : vertices < 80 ? vertices : 80;
        assert_true(topology_links(topology) <= 1024);
        for (uint64_t w = 0; w < 20; w++) {
            draw_pairs(pairs, count, vertices, w, &noise);
            for (size_t i = 0; i < count; i++)
                mixed[i] = pairs[count - 1 - i];
            update(congestion, w, pairs, count);
            update(turned, w, mixed, count);
            assert_window(congestion, topology, pairs, count, &plain);
            assert_same_links(congestion, turned, topology_links(topology));
        }
        congestion_destroy(congestion);
        congestion_destroy(turned);
        topology_destroy(topology);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_sums_over_routes_whatever_the_order_of_pairs),
        cmocka_unit_test(nothing_is_hot_in_a_balanced_job),
        cmocka_unit_test(a_barrier_does_not_make_the_halo_hot),
        cmocka_unit_test(the_link_of_a_bottleneck_is_hot_and_cools),
        cmocka_unit_test(a_single_window_makes_nothing_hot),
        cmocka_unit_test(a_small_load_is_never_hot),
        cmocka_unit_test(known_capacity_decides_with_hysteresis),
        cmocka_unit_test(hot_and_slow_is_congested),
        cmocka_unit_test(states_hold_for_a_while),
        cmocka_unit_test(measured_above_modelled_shows_background_traffic),
        cmocka_unit_test(windows_equal_sums_from_scratch),
        cmocka_unit_test(windows_left_out_carry_nothing),
        cmocka_unit_test(routes_of_a_link_come_largest_first),
        cmocka_unit_test(what_makes_no_sense_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
