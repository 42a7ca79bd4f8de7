/* Addresses of a fleet, as clients give them. */
#include "daemon/fleet/fleet_find.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_job_of_an_address_follows_its_cluster(void **state)
{
    (void)state;
    assert_string_equal(fleet_address_job("nats://a:1,b:2/site/job.1"), "job.1");
    assert_null(fleet_address_job("nats://a:1,b:2/site/"));
    assert_null(fleet_address_job("nats://a:1,b:2/site"));
    assert_null(fleet_address_job("nats://a:1,b:2"));
}

static void each_server_of_an_address_may_have_its_scheme(void **state)
{
    (void)state;
    assert_true(fleet_is_address("tls://a:1"));
    assert_false(fleet_is_address("tcp://a:1"));
    assert_string_equal(fleet_address_path("nats://a:1,nats://b:2,tls://c:3/site/job.1"),
                        "/site/job.1");
    assert_string_equal(fleet_address_job("nats://a:1,nats://b:2,tls://c:3/site/job.1"), "job.1");
    assert_null(fleet_address_path("nats://a:1,nats://b:2"));
}

static void a_job_that_is_named_beside_an_address_takes_the_place_of_its_own(void **state)
{
    static const char *const addresses[][2] = {
        {"nats://a:1,b:2", "nats://a:1,b:2//new.2"},
        {"nats://a:1/", "nats://a:1//new.2"},
        {"nats://a:1,nats://b:2/site", "nats://a:1,nats://b:2/site/new.2"},
        {"nats://a:1/site/", "nats://a:1/site/new.2"},
        {"tls://a:1/site/old.1", "tls://a:1/site/new.2"},
    };
    char out[64];
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        assert_int_equal(fleet_address_set_job(addresses[i][0], "new.2", out, sizeof out), 0);
        assert_string_equal(out, addresses[i][1]);
        assert_string_equal(fleet_address_job(out), "new.2");
    }
    assert_int_equal(fleet_address_set_job("nats://a:1", "new.2", out, 10), -HOLTER_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_of_an_address_follows_its_cluster),
        cmocka_unit_test(a_job_that_is_named_beside_an_address_takes_the_place_of_its_own),
        cmocka_unit_test(each_server_of_an_address_may_have_its_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
