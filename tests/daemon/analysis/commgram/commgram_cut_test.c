#include "daemon/analysis/commgram/commgram_cut.h"

#include "tests/daemon/analysis/regions/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 4320u
#define SILENT 5u /* every so many ranks one does not communicate, in random trees */

/* What was together stays together. */
static void assert_is_coarser(const uint32_t *labels, const uint32_t *finer, uint32_t ranks)
{
    static uint32_t of_finer[RANKS];
    memset(of_finer, 0xff, sizeof(of_finer));
    for (uint32_t r = 0; r < ranks; r++) {
        if (finer[r] == COMMGRAM_ABSENT)
            continue;
        assert_true(of_finer[finer[r]] == COMMGRAM_ABSENT || of_finer[finer[r]] == labels[r]);
        of_finer[finer[r]] = labels[r];
    }
}

/* Labels count from 0 in the order of lowest ranks, and silent ranks have none. */
static void assert_are_labels(const struct commgram_tree *tree, const uint32_t *labels,
                              uint32_t count)
{
    uint32_t next = 0;
    for (uint32_t r = 0; r < tree->ranks; r++) {
        assert_int_equal(labels[r] == COMMGRAM_ABSENT, !tree->active[r]);
        if (!tree->active[r])
            continue;
        assert_true(labels[r] <= next);
        next += labels[r] == next;
    }
    assert_int_equal(next, count);
}

static void pairs_become_groups_of_about_equal_size(void **state)
{
    static struct commgram_merge merges[RANKS / 2];
    static bool active[RANKS];
    static uint32_t labels[RANKS], finer[RANKS];
    (void)state;
    memset(active, 1, sizeof(active));
    for (uint32_t i = 0; i < RANKS / 2; i++) /* a stage of binary swap: 2,160 pairs, far apart */
        merges[i] = (struct commgram_merge){i, i + RANKS / 2};
    const struct commgram_tree tree = {RANKS, active, merges, RANKS / 2};
    for (uint32_t communities = 40; communities >= 1; communities--) {
        uint32_t count, size[40] = {0}, most = 0, least = RANKS;
        assert_int_equal(commgram_cut(&tree, communities, labels, &count), 0);
        assert_int_equal(count, communities);
        assert_are_labels(&tree, labels, count);
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_int_equal(labels[r], labels[(r + RANKS / 2) % RANKS]);
            size[labels[r]]++;
        }
        for (uint32_t i = 0; i < count; i++) {
            most = size[i] > most ? size[i] : most;
            least = size[i] < least ? size[i] : least;
        }
        assert_true(most <= 2 * least + 4);
        assert_true((communities & (communities - 1)) != 0 || most - least <= 2 * communities);
        if (communities < 40)
            assert_is_coarser(labels, finer, RANKS);
        memcpy(finer, labels, sizeof(finer));
    }
}

static void levels_of_any_forest_are_nested(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        struct commgram_merge merges[100];
        bool active[100];
        uint32_t ranks = 1 + random_next(&random) % 100, labels[100], finer[100], count = 0;
        uint32_t root[100], roots = 0, merge_count = 0;
        for (uint32_t r = 0; r < ranks; r++) {
            active[r] = round % 2 == 0 || random_next(&random) % SILENT != 0;
            if (active[r])
                root[roots++] = r;
        }
        uint32_t parts = roots == 0 ? 0 : 1 + random_next(&random) % roots, all = roots;
        for (; roots > parts; merge_count++) { /* any two clusters, called by their lowest ranks */
            uint32_t a = random_next(&random) % roots, b = random_next(&random) % roots;
            if (a == b) {
                merge_count--;
                continue;
            }
            uint32_t low = root[a] < root[b] ? a : b, high = low == a ? b : a;
            merges[merge_count] = (struct commgram_merge){root[low], root[high]};
            root[high] = root[--roots];
        }
        const struct commgram_tree tree = {ranks, active, merges, merge_count};
        for (uint32_t communities = 101; communities >= 1; communities--) {
            assert_int_equal(commgram_cut(&tree, communities, labels, &count), 0);
            assert_int_equal(count, communities < all ? communities : all);
            assert_are_labels(&tree, labels, count);
            if (communities < 101)
                assert_is_coarser(labels, finer, ranks);
            memcpy(finer, labels, sizeof(finer));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_become_groups_of_about_equal_size),
        cmocka_unit_test(levels_of_any_forest_are_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
