#include "daemon/analysis/commgram/commgram_cache.h"

#include "holter/error.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void cache_forgets_what_was_not_used_for_longest(void **state)
{
    const struct commgram_merge merges[4] = {{0, 1}, {2, 3}, {0, 2}, {4, 5}};
    struct commgram_cache *cache = NULL;
    struct commgram_dendrogram known;
    (void)state;
    assert_int_equal(commgram_cache_create(&cache, 100, 0), -HOLTER_ERANGE);
    assert_int_equal(commgram_cache_create(&cache, 100, 4097), -HOLTER_ERANGE);
    assert_int_equal(commgram_cache_create(&cache, 3 * 32, 100), 0);
    for (uint64_t i = 0; i < 3; i++)
        commgram_cache_put(cache, &(struct commgram_key){i, 7},
                           &(struct commgram_dendrogram){merges, 4, 3, 0.5});
    assert_true(commgram_cache_get(cache, &(struct commgram_key){0, 7}, &known));
    assert_int_equal(known.count, 4);
    assert_int_equal(known.best, 3);
    assert_true(known.modularity == 0.5);
    commgram_cache_put(cache, &(struct commgram_key){3, 7},
                       &(struct commgram_dendrogram){merges, 2, 1, 0.5});
    assert_false(commgram_cache_get(cache, &(struct commgram_key){1, 7}, &known));
    assert_true(commgram_cache_get(cache, &(struct commgram_key){0, 7}, &known));
    assert_true(commgram_cache_get(cache, &(struct commgram_key){2, 7}, &known));
    assert_false(commgram_cache_get(cache, &(struct commgram_key){2, 8}, &known));
    size_t bytes = memory_used();
    for (uint64_t i = 0; i < 1000; i++)
        commgram_cache_put(cache, &(struct commgram_key){i % 5, 9},
                           &(struct commgram_dendrogram){merges, (uint32_t)(i % 5), 0, 0});
    /* Merges of 16 bytes more fit, and malloc(3) may round up each of the five by as much. */
    assert_true(memory_used() <= bytes + 16 + 5 * 16);
    static struct commgram_merge large[13];
    commgram_cache_put(cache, &(struct commgram_key){77, 7},
                       &(struct commgram_dendrogram){large, 13, 13, 0});
    assert_false(commgram_cache_get(cache, &(struct commgram_key){77, 7}, &known));
    commgram_cache_destroy(cache);
    commgram_cache_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_forgets_what_was_not_used_for_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
