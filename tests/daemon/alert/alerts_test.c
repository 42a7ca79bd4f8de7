/* The episodes of a job: raised, updated, resolved, restored. */
#include "daemon/alert/alerts.h"

#include <math.h>
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
    assert_int_equal(a->state, ALERT_RESOLVED);
    assert_null(alerts_resolve(&alerts, "agent-lost", "n1", 50));
    const struct alert *b = alerts_raise(&alerts, "agent-lost", "n1", -1, 60, "silent", NULL);
    assert_int_equal(b->id, 2);
    assert_int_equal(a->state, ALERT_RESOLVED);
    assert_int_equal(b->state, ALERT_FIRING);
    alerts_finish(&alerts);
}

static void alerts_of_other_kinds_and_hosts_are_other_episodes(void **state)
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
    assert_int_equal(host->state, ALERT_FIRING);
    assert_ptr_equal(alerts_resolve(&alerts, "agent-lost", "n2", 2), other);
    assert_int_equal(host->state, ALERT_FIRING);
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
    assert_int_equal(alerts_restore(&alerts, &alert), 0); /* the same one */
    assert_int_equal(alerts.count, 1);
    alert.id = 3;
    assert_int_not_equal(alerts_restore(&alerts, &alert), 0); /* ids follow one another */
    alert.id = 1;
    assert_null(alerts_raise(&alerts, "data-lost", NULL, -1, 9, "data was lost", "7 records"));
    assert_non_null(alerts_resolve(&alerts, "data-lost", NULL, 10));
    assert_int_equal(alerts.count, 1);
    alerts_finish(&alerts);
}

/* As of a recording whose oldest parts were removed: a finding has the number of one before it. */
static void a_restored_episode_stays_when_another_one_gets_its_number(void **state)
{
    struct alerts alerts = {0};
    struct alert_evidence evidence = {.rule = "slow", .episode = 1};
    const struct wire_alert restored = {.job = "",
                                        .id = 1,
                                        .kind = "latency",
                                        .state = "firing",
                                        .title = "old",
                                        .text = "",
                                        .host = "",
                                        .rule = "slow",
                                        .episode = 1,
                                        .since_ns = 10};
    struct alert_report report = {.kind = "latency",
                                  .rank = -1,
                                  .state = ALERT_FIRING,
                                  .since_ns = 50,
                                  .now_ns = 60,
                                  .title = "new",
                                  .evidence = &evidence};
    (void)state;
    assert_int_equal(alerts_restore(&alerts, &restored), 0);
    const struct alert *other = alerts_report(&alerts, &report);
    assert_int_equal(other->id, 2);
    assert_string_equal(alerts.list[0]->title, "old");
    report.since_ns = 10;
    report.state = ALERT_RESOLVED;
    assert_ptr_equal(alerts_report(&alerts, &report), alerts.list[0]);
    assert_int_equal(other->state, ALERT_FIRING);
    alerts_finish(&alerts);
}

static void beyond_the_bound_further_episodes_are_not_kept(void **state)
{
    struct alerts alerts = {0};
    char host[16];
    (void)state;
    for (unsigned i = 0; i < ALERTS_MAXIMUM; i++) {
        snprintf(host, sizeof(host), "n%u", i);
        assert_non_null(alerts_raise(&alerts, "agent-lost", host, -1, i + 1, "t", NULL));
    }
    assert_null(alerts_raise(&alerts, "agent-lost", "one more", -1, 1, "t", NULL));
    for (unsigned i = 0; i < ALERTS_MAXIMUM; i += 97) {
        snprintf(host, sizeof(host), "n%u", i);
        assert_string_equal(alerts_resolve(&alerts, "agent-lost", host, 2)->host, host);
    }
    alerts_finish(&alerts);
}

static struct alert_report report_of(enum alert_state state, uint64_t since, uint64_t now,
                                     const struct alert_evidence *evidence)
{
    return (struct alert_report){.kind = "latency",
                                 .rank = -1,
                                 .state = state,
                                 .since_ns = since,
                                 .now_ns = now,
                                 .title = "latency has grown",
                                 .evidence = evidence};
}

static void an_episode_is_pending_before_it_fires_and_keeps_its_evidence(void **state)
{
    struct alerts alerts = {0};
    struct alert_evidence evidence = {.rule = "growth", .ratio = 2.5, .slope = NAN};
    (void)state;
    snprintf(evidence.causes[0].name, sizeof(evidence.causes[0].name), "network");
    evidence.causes[0].share = 0.9;
    evidence.cause_count = 1;
    struct alert_report report = report_of(ALERT_PENDING, 10, 12, &evidence);
    const struct alert *a = alerts_report(&alerts, &report);
    assert_non_null(a);
    assert_string_equal(alert_message(a, "j").state, "pending");
    assert_int_equal(alert_message(a, "j").fired_ns, 0);
    assert_null(alerts_report(&alerts, &report));
    report = report_of(ALERT_FIRING, 10, 13, &evidence);
    assert_ptr_equal(alerts_report(&alerts, &report), a);
    evidence.ratio = 3.5;
    report.now_ns = 14;
    assert_ptr_equal(alerts_report(&alerts, &report), a);
    struct wire_alert message = alert_message(a, "j");
    assert_string_equal(message.state, "firing");
    assert_int_equal(message.fired_ns, 13);
    assert_int_equal(message.updates, 2);
    assert_true(message.ratio == 3.5 && message.slope != message.slope);
    assert_int_equal(message.causes_count, 1);
    assert_string_equal(message.causes[0].name, "network");
    report = report_of(ALERT_RESOLVED, 10, 20, &evidence);
    assert_ptr_equal(alerts_report(&alerts, &report), a);
    assert_null(alerts_report(&alerts, &(struct alert_report){.kind = "latency",
                                                              .state = ALERT_RESOLVED,
                                                              .since_ns = 30,
                                                              .title = "",
                                                              .evidence = &evidence}));
    assert_int_equal(alerts.count, 1);
    alerts_finish(&alerts);
}

static void an_episode_fed_again_is_the_restored_one(void **state)
{
    struct alerts first = {0}, again = {0};
    struct alert_evidence evidence = {.rule = "growth", .ratio = 2.5, .slope = NAN};
    (void)state;
    struct alert_report fire = report_of(ALERT_FIRING, 10, 13, &evidence);
    struct alert_report end = report_of(ALERT_RESOLVED, 10, 20, &evidence);
    alerts_report(&first, &fire);
    struct wire_alert message = alert_message(alerts_report(&first, &end), "j");
    assert_int_equal(alerts_restore(&again, &message), 0);
    assert_non_null(alerts_report(&again, &fire));
    assert_non_null(alerts_report(&again, &end));
    assert_int_equal(again.count, 1);
    fire.since_ns = 30;
    assert_non_null(alerts_report(&again, &fire));
    assert_int_equal(again.count, 2);
    alerts_finish(&first);
    alerts_finish(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_episode_is_one_alert_until_it_is_resolved),
        cmocka_unit_test(alerts_of_other_kinds_and_hosts_are_other_episodes),
        cmocka_unit_test(a_restored_alert_goes_on),
        cmocka_unit_test(an_episode_is_pending_before_it_fires_and_keeps_its_evidence),
        cmocka_unit_test(an_episode_fed_again_is_the_restored_one),
        cmocka_unit_test(a_restored_episode_stays_when_another_one_gets_its_number),
        cmocka_unit_test(beyond_the_bound_further_episodes_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
