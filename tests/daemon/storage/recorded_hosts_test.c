/* Hosts of recordings. */
#include "daemon/storage/recorded_hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct recorded_hosts hosts;

static int forget(void **state)
{
    (void)state;
    recorded_hosts_finish(&hosts);
    return 0;
}

/* An agent's message of two ranks. */
static int64_t of_ranks(uint64_t instance, const char *host, uint64_t first)
{
    struct wire_member_row members[2] = {{.rank = first}, {.rank = first + 1}};
    return recorded_hosts_of_ranks(
        &hosts, instance,
        &(struct wire_ranks){.host = host, .members = members, .members_count = 2});
}

/* An agent's window of one rank. */
static int64_t of_window(uint64_t instance, const char *host, uint64_t rank)
{
    struct wire_rank_row row = {.rank = rank};
    return recorded_hosts_of_window(
        &hosts, instance, &(struct wire_window){.host = host, .ranks = &row, .ranks_count = 1});
}

static void hosts_of_one_name_are_told_apart_by_their_agents(void **state)
{
    (void)state;
    assert_int_equal(of_ranks(11, "box", 0), 0);
    assert_int_equal(of_ranks(12, "box", 2), 1);
    assert_int_equal(of_window(11, "box", 0), 0);
    assert_int_equal(of_window(12, "box", 2), 1);
    assert_int_equal(recorded_hosts_of_agent(&hosts, 12, "box"), 1);
    assert_int_equal(recorded_hosts_of_agent(&hosts, 13, "other"), 2);
    assert_int_equal(hosts.count, 3);
    assert_string_equal(hosts.names[1], "box");
    assert_string_equal(hosts.names[2], "other");
}

static void an_agent_that_was_started_again_is_on_the_host_of_its_ranks(void **state)
{
    (void)state;
    assert_int_equal(of_ranks(11, "box", 0), 0);
    assert_int_equal(of_ranks(12, "box", 2), 1);
    assert_int_equal(of_ranks(13, "box", 1), 0);
    assert_int_equal(of_window(14, "box", 3), 1);
    /* a rank of this number on a host of another name is one of another host */
    assert_int_equal(of_ranks(15, "shelf", 0), 2);
    /* a part of a recording may begin with windows */
    assert_int_equal(of_window(16, "barrel", 9), 3);
    assert_int_equal(of_ranks(17, "barrel", 9), 3);
}

static void ranks_that_no_job_has_cost_no_memory(void **state)
{
    (void)state;
    assert_int_equal(of_ranks(11, "box", UINT64_MAX - 1), 0);
    assert_int_equal(of_window(12, "box", UINT64_C(1) << 24), 1);
    assert_int_equal(hosts.rank_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hosts_of_one_name_are_told_apart_by_their_agents, forget),
        cmocka_unit_test_teardown(an_agent_that_was_started_again_is_on_the_host_of_its_ranks,
                                  forget),
        cmocka_unit_test_teardown(ranks_that_no_job_has_cost_no_memory, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
