#include "daemon/import/trace/trace_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define PIECES 1000u

struct counting {
    atomic_uint done[PIECES];
};

static void count(void *user, uint32_t piece)
{
    struct counting *c = user;
    atomic_fetch_add(&c->done[piece], 1);
}

static void each_piece_is_worked_on_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct trace_pool *pool;
        static struct counting c;
        memset(&c, 0, sizeof(c));
        assert_int_equal(trace_pool_create(&pool, threads), 0);
        assert_int_equal(trace_pool_threads(pool), threads);
        for (uint32_t pieces = 0; pieces <= PIECES; pieces = pieces * 2 + 1)
            trace_pool_run(pool, count, &c, pieces);
        uint32_t runs = 0;
        for (uint32_t i = PIECES, edge = 511; i-- > 0;) {
            while (i < edge) {
                runs++;
                edge /= 2;
            }
            assert_int_equal(atomic_load(&c.done[i]), runs);
        }
        trace_pool_destroy(pool);
    }
    trace_pool_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_piece_is_worked_on_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
