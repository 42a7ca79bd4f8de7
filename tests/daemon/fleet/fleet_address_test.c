/* Addresses of a fleet, as clients give them. */
#include "daemon/fleet/fleet_find.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_of_an_address_follows_its_cluster),
        cmocka_unit_test(each_server_of_an_address_may_have_its_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
