/* Prefixes of topics. */
#include "daemon/server/subscriptions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_prefix_matches_its_topics_until_it_is_removed(void **state)
{
    struct subscriptions s = {0};
    (void)state;
    assert_false(subscriptions_match(&s, "totals/a"));
    subscriptions_add(&s, "totals/", 7);
    subscriptions_add(&s, "pairs/b", 7);
    assert_true(subscriptions_match(&s, "totals/a"));
    assert_true(subscriptions_match(&s, "pairs/b"));
    assert_false(subscriptions_match(&s, "pairs/a"));
    assert_false(subscriptions_match(&s, "total"));
    subscriptions_remove(&s, "totals/", 7);
    assert_false(subscriptions_match(&s, "totals/a"));
    subscriptions_add(&s, "", 0);
    assert_true(subscriptions_match(&s, "anything"));
    subscriptions_finish(&s);
}

static void counted_subscribers_leave_one_by_one(void **state)
{
    struct subscriptions s = {.counted = 1};
    (void)state;
    subscriptions_add(&s, "totals/", 7);
    subscriptions_add(&s, "totals/", 7);
    subscriptions_remove(&s, "totals/", 7);
    assert_true(subscriptions_match(&s, "totals/a"));
    subscriptions_remove(&s, "totals/", 7);
    assert_false(subscriptions_match(&s, "totals/a"));
    subscriptions_finish(&s);
}

static void with_too_many_prefixes_every_topic_matches(void **state)
{
    struct subscriptions s = {0};
    char prefix[32];
    (void)state;
    for (int i = 0; i < 10000; i++) {
        int length = snprintf(prefix, sizeof(prefix), "junk%d", i);
        subscriptions_add(&s, prefix, (size_t)length);
    }
    assert_true(s.count <= SUBSCRIPTIONS_MAXIMUM);
    assert_true(subscriptions_match(&s, "totals/a"));
    for (int i = 0; i < 10000; i++) {
        int length = snprintf(prefix, sizeof(prefix), "junk%d", i);
        subscriptions_remove(&s, prefix, (size_t)length);
    }
    assert_false(subscriptions_match(&s, "totals/a"));
    subscriptions_finish(&s);
}

static void overlong_prefixes_match_nothing(void **state)
{
    struct subscriptions s = {0};
    char prefix[1000];
    (void)state;
    memset(prefix, 'x', sizeof(prefix));
    subscriptions_add(&s, prefix, sizeof(prefix));
    assert_int_equal(s.count, 0);
    assert_false(subscriptions_match(&s, "x"));
    subscriptions_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_matches_its_topics_until_it_is_removed),
        cmocka_unit_test(counted_subscribers_leave_one_by_one),
        cmocka_unit_test(with_too_many_prefixes_every_topic_matches),
        cmocka_unit_test(overlong_prefixes_match_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
