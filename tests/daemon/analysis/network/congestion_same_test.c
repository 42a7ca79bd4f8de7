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

/* Other figures for pairs of their own each, in ascending order; sometimes one of them for another
 * vertex. */
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

static void assert_same_pairs(struct congestion *a, struct congestion *b)
{
    size_t of_a, of_b;
    const struct congestion_pair *one = congestion_pairs(a, &of_a),
                                 *other = congestion_pairs(b, &of_b);
    assert_int_equal(of_a, of_b);
    for (size_t i = 0; i < of_a; i++) {
        assert_true(one[i].source == other[i].source && one[i].destination == other[i].destination);
        assert_true(one[i].bytes == other[i].bytes && one[i].messages == other[i].messages);
        assert_true(one[i].matched == other[i].matched &&
                    !(one[i].log_latency > other[i].log_latency ||
                      one[i].log_latency < other[i].log_latency));
    }
}

/* Figures of a window: sometimes what was sent stays as it was, and some have too many messages to
 * be packed. Logarithms are told as whole numbers of a unit. */
static void draw_figures(struct congestion_pair *pairs, struct congestion_figures *figures,
                         struct link_load *loads, struct log_sums *latencies, struct noise *noise)
{
    figures->same_loads = noise_uint(noise) % 3 > 0;
    bool large = noise_uint(noise) % 4 == 0;
    assert_int_equal(log_sums_begin(latencies, figures->count), 0);
    for (size_t i = 0; i < figures->count; i++) {
        if (!figures->same_loads) {
            pairs[i].bytes = noise_uint(noise) % 5 * MB;
            pairs[i].messages = 1 + noise_uint(noise) % 50;
        }
        loads[i] = (struct link_load){pairs[i].bytes, pairs[i].messages};
        pairs[i].matched = noise_uint(noise) % 3;
        if (large && noise_uint(noise) % 8 == 0)
            pairs[i].matched += LOG_SUMS_FULL;
        const double sum = pairs[i].matched == 0 ? 0 : round(noise_gauss(noise) / figures->unit);
        if (pairs[i].matched > 0)
            log_sums_add(latencies, i, pairs[i].matched, sum);
        pairs[i].log_latency = sum * figures->unit;
    }
}

/* One is told figures alone where it takes them; the other whole pairs, always, and in another
 * order. */
static void figures_alone_are_as_good_as_pairs(void **state)
{
    (void)state;
    struct noise noise = {.state = 23};
    size_t alone = 0;
    for (unsigned round = 0; round < 25; round++) {
        struct topology *topology = network_random(round % 5, &noise);
        struct congestion *congestion = create(topology), *whole = create(topology);
        struct congestion_pair pairs[80], mixed[80];
        struct link_load loads[80];
        struct log_sums latencies = {.count = 0};
        uint32_t vertices = topology_vertices(topology), links = topology_links(topology);
        size_t count = vertices < 2 ? 0 : vertices < 80 ? vertices : 80;
        struct congestion_figures figures = {count, loads, 0, &latencies,
                                             round % 2 == 0 ? 0.25 : 0x1p-16};
        draw_again(pairs, count, vertices, 0, &noise);
        for (uint64_t w = 0; w < 40; w++) {
            if (w % 9 == 8)
                draw_again(pairs, count, vertices, w % 2 == 0 ? 4 : 1, &noise);
            else
                draw_figures(pairs, &figures, loads, &latencies, &noise);
            for (size_t i = 0; i < count; i++)
                mixed[i] = pairs[count - 1 - i];
            for (uint64_t i = noise_uint(&noise) % 4, link; i > 0 && links > 0; i--) {
                uint64_t bytes = noise_uint(&noise) % (10 * MB);
                link = noise_uint(&noise) % links;
                tell_counter(congestion, (uint32_t)link, bytes);
                tell_counter(whole, (uint32_t)link, bytes);
            }
            if (w % 9 != 8 && congestion_update_figures(congestion, w, 1, &figures) == 0)
                alone++;
            else
                update(congestion, w, pairs, count);
            update(whole, w, mixed, count);
            assert_same_links(congestion, whole, links);
            if (w % 4 == 0)
                assert_same_pairs(congestion, whole);
        }
        assert_same_pairs(congestion, whole);
        congestion_destroy(congestion);
        congestion_destroy(whole);
        log_sums_finish(&latencies);
        topology_destroy(topology);
    }
    assert_true(alone > 100);
}

static int take_figures(struct congestion *congestion, uint64_t window, double seconds,
                        size_t count, uint64_t messages)
{
    const struct link_load loads[3] = {{MB, messages}, {0, messages}, {MB, messages}};
    struct log_sums latencies = {.count = 0};
    const struct congestion_figures figures = {count, loads, 0, &latencies, 0.5};
    assert_int_equal(log_sums_begin(&latencies, 3), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(log_sums_add_one(&latencies.packed[i], 1));
    int code = congestion_update_figures(congestion, window, seconds, &figures);
    log_sums_finish(&latencies);
    return code;
}

static void figures_alone_are_refused_of_pairs_that_are_not_known(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4");
    struct congestion *congestion = create(topology);
    struct congestion_pair pairs[] = {pair(0, 1, MB), pair(2, 3, MB)},
                           turned[] = {pair(2, 3, MB), pair(0, 1, MB)};
    update(congestion, 1, turned, 2);
    assert_int_equal(take_figures(congestion, 2, 1, 2, 1), -HOLTER_ERANGE);
    update(congestion, 2, pairs, 2);
    assert_int_equal(take_figures(congestion, 3, 1, 2, 1), 0);
    assert_int_equal(take_figures(congestion, 4, 1, 3, 1), -HOLTER_ERANGE);
    assert_int_equal(take_figures(congestion, 3, 1, 2, 1), -HOLTER_ERANGE);
    assert_int_equal(take_figures(congestion, 4, (double)NAN, 2, 1), -HOLTER_ERANGE);
    /* What sends nothing is no pair where it has no latency. */
    assert_int_equal(take_figures(congestion, 4, 1, 2, 0), -HOLTER_ERANGE);
    pairs[1].bytes = pairs[1].messages = 0;
    pairs[1].matched = 1;
    update(congestion, 4, pairs, 2);
    update(congestion, 5, pairs, 2);
    assert_int_equal(take_figures(congestion, 6, 1, 2, 1), -HOLTER_ERANGE);
    congestion_destroy(congestion);
    topology_destroy(topology);
}

/* Some of all pairs there can be, in ascending order. @return how many */
static size_t draw_ascending(struct congestion_pair *pairs, size_t room, uint32_t vertices,
                             struct noise *noise)
{
    size_t count = 0;
    for (uint32_t from = 0; from < vertices; from++)
        for (uint32_t to = 0; to < vertices && count < room; to++)
            if (from != to && noise_uint(noise) % 4 == 0)
                pairs[count++] = pair(from, to, MB);
    return count;
}

static struct topology *random_tree(struct noise *noise)
{
    struct topology *topology = network_random(TOPOLOGY_TREE, noise);
    while (topology_vertices(topology) < 4) {
        topology_destroy(topology);
        topology = network_random(TOPOLOGY_TREE, noise);
    }
    return topology;
}

/* One is told ends and figures apart, of pairs that become others every third window; the other
 * whole pairs, in another order. */
static void ends_and_figures_are_as_good_as_pairs(void **state)
{
    (void)state;
    struct noise noise = {.state = 24};
    struct topology *topology = random_tree(&noise);
    struct congestion *congestion = create(topology), *whole = create(topology);
    struct congestion_pair pairs[80], mixed[80], ends[80];
    struct link_load loads[80];
    struct log_sums latencies = {.count = 0};
    size_t count = 0, apart = 0;
    for (uint64_t w = 0; w < 200; w++) {
        if (w % 3 == 0)
            count = draw_ascending(pairs, 80, topology_vertices(topology), &noise);
        struct congestion_figures figures = {count, loads, 0, &latencies,
                                             w % 2 == 0 ? 0.25 : 0x1p-16};
        draw_figures(pairs, &figures, loads, &latencies, &noise);
        figures.same_loads = 0;
        for (size_t i = 0; i < count; i++) {
            mixed[i] = pairs[count - 1 - i];
            ends[i] = pair(pairs[i].source, pairs[i].destination, 0);
        }
        const int code = w % 3 == 0 ? congestion_update_ends(congestion, w, 1, ends, &figures)
                                    : congestion_update_figures(congestion, w, 1, &figures);
        apart += code == 0;
        if (code != 0)
            update(congestion, w, pairs, count);
        update(whole, w, mixed, count);
        assert_same_links(congestion, whole, topology_links(topology));
        if (w % 4 == 0)
            assert_same_pairs(congestion, whole);
    }
    assert_int_equal(apart, 200);
    congestion_destroy(congestion);
    congestion_destroy(whole);
    log_sums_finish(&latencies);
    topology_destroy(topology);
}

static int take_ends(const struct topology *topology, const struct congestion_pair *ends,
                     double seconds, uint64_t messages)
{
    struct congestion *congestion = create(topology);
    const struct link_load loads[2] = {{MB, 1}, {0, messages}};
    struct log_sums latencies = {.count = 0};
    const struct congestion_figures figures = {2, loads, 0, &latencies, 0.5};
    assert_int_equal(log_sums_begin(&latencies, 2), 0);
    int code = congestion_update_ends(congestion, 1, seconds, ends, &figures);
    log_sums_finish(&latencies);
    congestion_destroy(congestion);
    return code;
}

static void ends_are_refused_unless_they_are_in_order_and_there(void **state)
{
    (void)state;
    struct noise noise = {.state = 25};
    struct topology *tree = random_tree(&noise), *torus = network_short("torus:4,4");
    const struct congestion_pair known[] = {pair(0, 1, 0), pair(0, 2, 0)},
                                 twice[] = {pair(0, 1, 0), pair(0, 1, 0)},
                                 turned[] = {pair(1, 0, 0), pair(0, 1, 0)},
                                 own[] = {pair(0, 1, 0), pair(1, 1, 0)},
                                 beyond[] = {pair(0, 1, 0), pair(0, 99, 0)};
    assert_int_equal(take_ends(tree, known, 1, 1), 0);
    assert_int_equal(take_ends(tree, known, (double)NAN, 1), -HOLTER_ERANGE);
    assert_int_equal(take_ends(tree, known, 1, 0), -HOLTER_ERANGE);
    assert_int_equal(take_ends(tree, twice, 1, 1), -HOLTER_ERANGE);
    assert_int_equal(take_ends(tree, turned, 1, 1), -HOLTER_ERANGE);
    assert_int_equal(take_ends(tree, own, 1, 1), -HOLTER_ERANGE);
    assert_int_equal(take_ends(tree, beyond, 1, 1), -HOLTER_ERANGE);
    assert_int_equal(take_ends(torus, known, 1, 1), -HOLTER_ERANGE);
    topology_destroy(tree);
    topology_destroy(torus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_the_same_pairs_are_as_if_summed_up_anew),
        cmocka_unit_test(figures_alone_are_as_good_as_pairs),
        cmocka_unit_test(figures_alone_are_refused_of_pairs_that_are_not_known),
        cmocka_unit_test(ends_and_figures_are_as_good_as_pairs),
        cmocka_unit_test(ends_are_refused_unless_they_are_in_order_and_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
