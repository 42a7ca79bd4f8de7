/* Windows of the same pairs as the one before, against windows whose pairs are never known. */
#include "daemon/analysis/network/congestion.h"
#include "include/holter/error.h"
#include "tests/daemon/analysis/network/congestion_plain.h"
#include "tests/daemon/analysis/network/networks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Other figures for pairs of their own each, in ascending order; sometimes one of them for another vertex. */
static void draw_again(struct congestion_pair *pairs, size_t count, uint32_t vertices, uint64_t w,
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

/* The other one is given them in another order, so that it never finds them as they were. */
static void windows_of_the_same_pairs_are_as_if_summed_up_anew(void **state)
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
            draw_again(pairs, count, vertices, w, &noise);
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

static void tell_counter(struct congestion *congestion, uint32_t link, uint64_t bytes)
{
    struct congestion_link known;
    assert_int_equal(congestion_measured(congestion, link, bytes, bytes % 7 == 0),
                     congestion_link(congestion, link, &known) ? 0 : -HOLTER_ERANGE);
}

/* One is told latencies alone where it takes them, as doubles of a unit; the other whole pairs, always. */
static void latencies_alone_are_as_good_as_pairs(void **state)
{
    (void)state;
    struct noise noise = {.state = 23};
    size_t alone = 0;
    for (unsigned round = 0; round < 25; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct congestion *congestion = create(topology), *whole = create(topology);
        struct congestion_pair pairs[80];
        struct congestion_latency latencies[80];
        uint32_t vertices = topology_vertices(topology), links = topology_links(topology);
        size_t count = vertices < 2 ? 0 : vertices < 80 ? vertices : 80, of_pairs;
        draw_again(pairs, count, vertices, 0, &noise);
        for (uint64_t w = 0; w < 40; w++) {
            if (w % 9 == 8)
                draw_again(pairs, count, vertices, w % 2 == 0 ? 4 : 1, &noise);
            for (size_t i = 0; i < count; i++) {
                latencies[i] = (struct congestion_latency){noise_uint(&noise) % 3, 0};
                latencies[i].log_latency = latencies[i].matched == 0 ? 0 : noise_gauss(&noise);
                pairs[i].matched = latencies[i].matched;
                pairs[i].log_latency = latencies[i].log_latency * 0.25;
            }
            for (uint64_t i = noise_uint(&noise) % 4, link; i > 0 && links > 0; i--) {
                uint64_t bytes = noise_uint(&noise) % (10 * MB);
                link = noise_uint(&noise) % links;
                tell_counter(congestion, (uint32_t)link, bytes);
                tell_counter(whole, (uint32_t)link, bytes);
            }
            if (w % 9 != 8 &&
                congestion_update_latencies(congestion, w, 1, latencies, count, 0.25) == 0)
                alone++;
            else
                update(congestion, w, pairs, count);
            update(whole, w, pairs, count);
            assert_same_links(congestion, whole, links);
        }
        const struct congestion_pair *one = congestion_pairs(congestion, &of_pairs),
                                     *other = congestion_pairs(whole, &of_pairs);
        for (size_t i = 0; i < of_pairs; i++)
            assert_true(one[i].matched == other[i].matched &&
                        one[i].log_latency == other[i].log_latency);
        congestion_destroy(congestion);
        congestion_destroy(whole);
        topology_destroy(topology);
    }
    assert_true(alone > 100);
}

static void latencies_alone_are_refused_of_pairs_that_are_not_known(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[] = {pair(0, 1, MB), pair(2, 3, MB)},
                           turned[] = {pair(2, 3, MB), pair(0, 1, MB)};
    const struct congestion_latency latencies[3] = {{1, 0.5}, {1, 0.5}, {1, 0.5}};
    update(congestion, 1, turned, 2);
    assert_int_equal(congestion_update_latencies(congestion, 2, 1, latencies, 2, 1),
                     -HOLTER_ERANGE);
    update(congestion, 2, pairs, 2);
    assert_int_equal(congestion_update_latencies(congestion, 3, 1, latencies, 2, 1), 0);
    assert_int_equal(congestion_update_latencies(congestion, 4, 1, latencies, 3, 1),
                     -HOLTER_ERANGE);
    assert_int_equal(congestion_update_latencies(congestion, 3, 1, latencies, 2, 1),
                     -HOLTER_ERANGE);
    assert_int_equal(congestion_update_latencies(congestion, 4, (double)NAN, latencies, 2, 1),
                     -HOLTER_ERANGE);
    /* What sends nothing is no pair where it has no latency. */
    pairs[1].bytes = pairs[1].messages = 0;
    pairs[1].matched = 1;
    update(congestion, 4, pairs, 2);
    update(congestion, 5, pairs, 2);
    assert_int_equal(congestion_update_latencies(congestion, 6, 1, latencies, 2, 1),
                     -HOLTER_ERANGE);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_the_same_pairs_are_as_if_summed_up_anew),
        cmocka_unit_test(latencies_alone_are_as_good_as_pairs),
        cmocka_unit_test(latencies_alone_are_refused_of_pairs_that_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
