#include "daemon/alerts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void an_episode_is_one_alert_until_it_is_resolved(void **state)
{
    struct alerts alerts = {0};
    (void)state;
    const struct alert *a = alerts_raise(&alerts, "agent-lost", "n1", -1, 10, "silent", NULL);
    assert_non_null(a);
    assert_int_equal(a->id, 1);
    assert_null(alerts_raise(&alerts, "agent-lost", "n1", -1, 20, "silent", NULL));
    assert_ptr_equal(alerts_raise(&alerts, "agent-lost", "n1", -1, 30, "still silent", NULL), a);
    assert_int_equal(a->since_ns, 10);
    assert_int_equal(a->updated_ns, 30);
    assert_ptr_equal(alerts_resolve(&alerts, "agent-lost", "n1", 40), a);
    assert_false(a->firing);
    assert_null(alerts_resolve(&alerts, "agent-lost", "n1", 50));
    const struct alert *b = alerts_raise(&alerts, "agent-lost", "n1", -1, 60, "silent", NULL);
    assert_int_equal(b->id, 2);
    assert_false(a->firing);
    assert_true(b->firing);
    alerts_finish(&alerts);
}

static void kinds_and_hosts_are_told_apart(void **state)
{
    struct alerts alerts = {0};
    (void)state;
    const struct alert *host = alerts_raise(&alerts, "agent-lost", "n1", -1, 1, "t", NULL);
    const struct alert *other = alerts_raise(&alerts, "agent-lost", "n2", -1, 1, "t", NULL);
    const struct alert *kind = alerts_raise(&alerts, "data-lost", "n1", -1, 1, "t", NULL);
    const struct alert *none = alerts_raise(&alerts, "data-lost", NULL, -1, 1, "t", NULL);
    assert_int_equal(alerts.count, 4);
    assert_ptr_equal(alerts_resolve(&alerts, "data-lost", "n1", 2), kind);
    assert_ptr_equal(alerts_resolve(&alerts, "data-lost", "", 2), none);
    assert_true(host->firing);
    assert_ptr_equal(alerts_resolve(&alerts, "agent-lost", "n2", 2), other);
    assert_true(host->firing);
    assert_null(alerts_resolve(&alerts, "agent-lost", "n3", 2));
    alerts_finish(&alerts);
}

static void a_restored_alert_goes_on(void **state)
{
    struct alerts alerts = {0};
    (void)state;
    struct wire_alert alert = {
        .job = "",
        .id = 1,
        .kind = "data-lost",
        .state = "firing",
        .title = "data was lost",
        .text = "7 records",
        .host = "",
        .rank = -1,
    };
    assert_int_equal(alerts_restore(&alerts, &alert), 0);
    assert_int_not_equal(alerts_restore(&alerts, &alert), 0); /* ids follow one another */
    assert_null(alerts_raise(&alerts, "data-lost", NULL, -1, 9, "data was lost", "7 records"));
    assert_non_null(alerts_resolve(&alerts, "data-lost", NULL, 10));
    assert_int_equal(alerts.count, 1);
    alerts_finish(&alerts);
}

static void beyond_the_bound_further_episodes_are_not_kept(void **state)
{
    struct alerts alerts = {0};
    char host[16];
    (void)state;
    for (unsigned i = 0; i < ALERTS_MOST; i++) {
        snprintf(host, sizeof(host), "n%u", i);
        assert_non_null(alerts_raise(&alerts, "agent-lost", host, -1, 1, "t", NULL));
    }
    assert_null(alerts_raise(&alerts, "agent-lost", "one more", -1, 1, "t", NULL));
    for (unsigned i = 0; i < ALERTS_MOST; i++) {
        snprintf(host, sizeof(host), "n%u", i);
        assert_string_equal(alerts_resolve(&alerts, "agent-lost", host, 2)->host, host);
    }
    alerts_finish(&alerts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_episode_is_one_alert_until_it_is_resolved),
        cmocka_unit_test(kinds_and_hosts_are_told_apart),
        cmocka_unit_test(a_restored_alert_goes_on),
        cmocka_unit_test(beyond_the_bound_further_episodes_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
