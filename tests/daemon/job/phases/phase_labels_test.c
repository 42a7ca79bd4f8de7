/* Labels of phases that return, against communities that know the phase before only. */
#include "daemon/job/phases/phase_labels.h"

#include "daemon/analysis/communities/communities.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 64u
#define PATTERNS 4u
#define MOST (RANKS * 8u)

/* Each rank's partners in a pattern: other strides, so that communities differ. */
static size_t make(struct phase_edge *edges, uint32_t pattern, uint64_t times, uint64_t *random,
                   uint32_t changed)
{
    static const uint32_t strides[PATTERNS][3] = {{1, 2, 3}, {8, 16, 24}, {5, 10, 15}, {32, 1, 33}};
    size_t count = 0;
    for (uint32_t rank = 0; rank + (pattern == 2) < RANKS;
         rank++) /* of one pattern a rank is absent */
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t group = pattern == 1 ? 0 : rank / 4 * 4;
            uint32_t to = pattern == 1 ? (rank + strides[1][i]) % RANKS
                                       : group + (rank + strides[pattern][i]) % 4;
            to = pattern > 1 ? (rank + strides[pattern][i]) % (RANKS - (pattern == 2)) : to;
            edges[count++] = (struct phase_edge){rank, to, 3, 0, times, times * (100 + rank % 5)};
        }
    for (uint32_t i = 0; i < changed; i++)
        edges[random_next(random) % count].bytes += 1 + random_next(random) % 50;
    return count;
}

static int by_ranks(const void *left, const void *right)
{
    const struct phase_edge *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->destination > b->destination) - (a->destination < b->destination);
}

/* As the headers specify: edges of pairs to the communities of before, cut at the best level.
 */
static void find_plainly(struct communities *c, const struct phase_graph *graph, uint32_t *labels,
                         double *modularity)
{
    static struct communities_edge edges[MOST];
    bool present[RANKS] = {false};
    size_t count = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const struct phase_edge *e = &graph->edges[i];
        double weight = (double)e->messages + (double)e->bytes;
        bool same = i > 0 && by_ranks(&e[-1], e) == 0;
        present[e->source] = present[e->destination] = true;
        if (e->source == e->destination)
            continue;
        if (same)
            edges[count - 1].weight += weight;
        else
            edges[count++] = (struct communities_edge){e->source, e->destination, weight};
    }
    assert_int_equal(communities_update(c, RANKS, edges, count), 0);
    uint32_t best = communities_best(c);
    assert_int_equal(communities_cut(c, RANKS - best, labels), 0);
    *modularity = communities_modularity(c, best);
    for (uint32_t r = 0; r < RANKS; r++)
        labels[r] = present[r] ? labels[r] : PHASE_LABELS_ABSENT;
}

static void phases_that_return_are_reported_as_if_they_were_new(void **state)
{
    static struct phase_edge edges[MOST];
    struct communities_params params = COMMUNITIES_DEFAULTS;
    struct communities *plain;
    struct phase_labels *labels;
    uint64_t random = 1;
    uint32_t pattern = 0, seen = 0;
    (void)state;
    params.most_vertices = PHASE_LABELS_RANKS;
    assert_int_equal(communities_create(&plain, &params), 0);
    assert_int_equal(phase_labels_create(&labels), 0);
    for (uint32_t phase = 0; phase < 600; phase++) {
        struct phase_figures figures;
        struct phase_graph graph = {.edges = edges, .other_messages = phase};
        uint32_t one[RANKS], other[RANKS];
        double modularity;
        if (random_next(&random) % 3 == 0)
            pattern = random_next(&random) % (phase < 300 ? 2 : PATTERNS);
        uint64_t times = random_next(&random) % 4 == 0 ? 2 + random_next(&random) % 2 : 1;
        graph.count = make(edges, pattern, times, &random,
                           random_next(&random) % 6 == 0 ? random_next(&random) % 8 : 0);
        qsort(edges, graph.count, sizeof(edges[0]), by_ranks);
        find_plainly(plain, &graph, other, &modularity);
        assert_int_equal(phase_labels_find(labels, RANKS, &graph, one, &figures), 0);
        assert_memory_equal(one, other, sizeof(one));
        assert_memory_equal(&figures.modularity, &modularity, sizeof(modularity));
        assert_int_equal(figures.folded, phase);
        assert_int_equal(figures.messages, graph.count * times);
        assert_int_equal(figures.ranks, RANKS - (pattern == 2));
        seen |= 1u << pattern;
    }
    assert_int_equal(seen, (1u << PATTERNS) - 1);
    phase_labels_destroy(labels);
    communities_destroy(plain);
}

/* Messages to partners at random, `inside` of a thousand within groups of `size` ranks. */
static size_t make_mixed(struct phase_edge *edges, uint32_t size, uint32_t inside,
                         uint32_t messages, uint64_t *random)
{
    static uint32_t counts[RANKS][RANKS];
    size_t count = 0;
    memset(counts, 0, sizeof(counts));
    for (uint32_t i = 0; i < messages; i++) {
        uint32_t from = random_next(random) % RANKS, to = random_next(random) % RANKS;
        if (random_next(random) % 1000 < inside)
            to = from / size * size + to % size;
        counts[from][to] += from != to;
    }
    for (uint32_t from = 0; from < RANKS; from++)
        for (uint32_t to = 0; to < RANKS; to++)
            if (counts[from][to] > 0)
                edges[count++] = (struct phase_edge){
                    from, to, 3, 0, counts[from][to], UINT64_C(1000) * counts[from][to]};
    return count;
}

static void find_mixed(struct phase_labels *labels, uint32_t inside, uint32_t messages,
                       uint64_t *random, struct phase_figures *figures)
{
    static struct phase_edge edges[RANKS * RANKS];
    struct phase_graph graph = {.edges = edges};
    uint32_t found[RANKS];
    graph.count = make_mixed(edges, 16, inside, messages, random);
    assert_int_equal(phase_labels_find(labels, RANKS, &graph, found, figures), 0);
    assert_int_equal(figures->ranks, RANKS);
    uint32_t most = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        most = found[r] > most ? found[r] : most;
    assert_int_equal(most + 1, figures->communities);
}

static void messages_to_anybody_make_one_community(void **state)
{
    struct phase_labels *labels;
    struct phase_figures figures;
    uint64_t random = 7;
    (void)state;
    assert_int_equal(phase_labels_create(&labels), 0);
    for (uint32_t each = 25; each <= 1600; each *= 2)
        for (uint32_t i = 0; i < 20; i++) {
            find_mixed(labels, 0, each * RANKS, &random, &figures);
            assert_int_equal(figures.communities, 1);
            assert_true(figures.modularity == 0);
        }
    phase_labels_destroy(labels);
}

/* Of four groups a quarter of all messages stays inside by chance, so that modularity is about
 * three quarters of the share that is sent inside on purpose. */
static void what_stays_among_few_above_the_floor_makes_communities(void **state)
{
    struct phase_labels *labels;
    struct phase_figures figures;
    uint64_t random = 8;
    (void)state;
    assert_int_equal(phase_labels_create(&labels), 0);
    for (uint32_t inside = 120; inside <= 1000; inside += 110) {
        find_mixed(labels, inside, 1000 * RANKS, &random, &figures);
        assert_int_equal(figures.communities, 4);
        assert_true(figures.modularity > COMMUNITIES_FLOOR);
        find_mixed(labels, 40, 1000 * RANKS, &random, &figures);
        assert_int_equal(figures.communities, 1);
    }
    phase_labels_destroy(labels);
}

/* Messages at random that are few have communities by chance; what a rank sends to itself does not
 * make them many. */
static void messages_of_ranks_to_themselves_do_not_lower_the_floor(void **state)
{
    static struct phase_edge edges[RANKS * RANKS + 1];
    struct phase_graph graph = {.edges = edges};
    struct phase_labels *labels;
    struct phase_figures figures;
    uint32_t found[RANKS];
    uint64_t random = 9;
    (void)state;
    assert_int_equal(phase_labels_create(&labels), 0);
    for (uint32_t i = 0; i < 20; i++) {
        edges[0] = (struct phase_edge){0, 0, 3, 0, 1000000, 8000000};
        graph.count = 1 + make_mixed(edges + 1, 16, 0, 25 * RANKS, &random);
        assert_int_equal(phase_labels_find(labels, RANKS, &graph, found, &figures), 0);
        assert_true(figures.messages > 1000000);
        assert_int_equal(figures.communities, 1);
    }
    phase_labels_destroy(labels);
}

static void without_ranks_there_are_sums_only(void **state)
{
    struct phase_edge edge = {0, 1, 3, 0, 2, 6};
    const struct phase_graph graph = {.edges = &edge, .count = 1};
    struct phase_labels *labels;
    struct phase_figures figures;
    uint32_t label;
    (void)state;
    assert_int_equal(phase_labels_create(&labels), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(phase_labels_find(labels, 0, &graph, &label, &figures), -EINVAL);
        assert_int_equal(figures.messages, 2);
        assert_true(isnan(figures.modularity));
    }
    phase_labels_destroy(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_that_return_are_reported_as_if_they_were_new),
        cmocka_unit_test(messages_to_anybody_make_one_community),
        cmocka_unit_test(what_stays_among_few_above_the_floor_makes_communities),
        cmocka_unit_test(messages_of_ranks_to_themselves_do_not_lower_the_floor),
        cmocka_unit_test(without_ranks_there_are_sums_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
