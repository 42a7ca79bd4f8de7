/* Packed sums of logarithms, against sums of their own. */
#include "daemon/analysis/network/log_sums.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PAIRS 7u

static void add(struct log_sums *sums, struct log_sum *plain, uint64_t messages, int64_t log)
{
    size_t at = (size_t)(plain[PAIRS].messages++ * 5 % PAIRS);
    if (messages != 1 || !log_sums_add_one(&sums->packed[at], log))
        log_sums_add(sums, at, messages, (double)log);
    plain[at].messages += messages;
    plain[at].sum += (double)log;
}

static void assert_sums(const struct log_sums *sums, const struct log_sum *plain)
{
    assert_false(sums->failed);
    for (size_t i = 0; i < PAIRS; i++) {
        const struct log_sum sum = log_sums_at(sums, i);
        assert_int_equal(sum.messages, plain[i].messages);
        assert_true(sum.sum - plain[i].sum < 0.5 && plain[i].sum - sum.sum < 0.5);
    }
}

static void sums_are_those_of_all_messages(void **state)
{
    (void)state;
    struct noise noise = {.state = 31};
    struct log_sums sums = {.count = 0};
    for (unsigned round = 0; round < 200; round++) {
        struct log_sum plain[PAIRS + 1] = {{0, 0}};
        const uint64_t most = UINT64_C(1) << round % 25; /* LOG_SUMS_MOST and beyond */
        assert_int_equal(log_sums_begin(&sums, PAIRS), 0);
        for (unsigned i = 0; i < 300; i++) {
            const uint64_t messages = noise_uint(&noise) % 4 > 0 ? 1
                                      : round % 3 == 0 ? 1 + noise_uint(&noise) % LOG_SUMS_FULL
                                                       : 2 + noise_uint(&noise) % 1000;
            add(&sums, plain, messages,
                (int64_t)(noise_uint(&noise) % (2 * most + 1)) - (int64_t)most);
        }
        assert_sums(&sums, plain);
    }
    log_sums_finish(&sums);
}

static void as_many_as_are_packed_go_apart(void **state)
{
    (void)state;
    struct log_sums sums = {.count = 0};
    struct log_sum plain[PAIRS + 1] = {{0, 0}};
    const int64_t logs[2] = {LOG_SUMS_MOST - 1, -LOG_SUMS_MOST};
    for (unsigned sign = 0; sign < 2; sign++) {
        assert_int_equal(log_sums_begin(&sums, PAIRS), 0);
        for (size_t i = 0; i <= PAIRS; i++)
            plain[i] = (struct log_sum){0, 0};
        for (uint64_t i = 0; i < 3 * LOG_SUMS_FULL * PAIRS; i++)
            add(&sums, plain, 1, logs[sign]);
        assert_true(sums.has_wide);
        assert_sums(&sums, plain);
    }
    log_sums_finish(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_messages),
        cmocka_unit_test(as_many_as_are_packed_go_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
