/* Places of ranks on machines that hwloc makes up. */
#include "agent/host/places.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct places *make(const char *machine)
{
    struct places *places = NULL;
    assert_int_equal(places_create(&places, machine), 0);
    return places;
}

static void assert_place(const struct places *places, const char *list, uint64_t core,
                         uint64_t numa)
{
    const struct place got = places_find(places, list);
    if (got.core != core || got.numa != numa)
        print_error("processors %s\n", list);
    assert_int_equal(got.core, core);
    assert_int_equal(got.numa, numa);
}

static void processors_of_one_core_are_that_core(void **state)
{
    (void)state;
    struct places *places = make("numa:2 core:4 pu:2");
    assert_place(places, "0", 1, 1);
    assert_place(places, "1", 1, 1);
    assert_place(places, "0-1", 1, 1);
    assert_place(places, "0,1", 1, 1);
    assert_place(places, "6", 4, 1);
    assert_place(places, "8-9", 5, 2);
    assert_place(places, "15", 8, 2);
    places_destroy(places);
}

static void processors_of_several_cores_are_of_none(void **state)
{
    (void)state;
    struct places *places = make("numa:2 core:4 pu:2");
    assert_place(places, "1-2", 0, 1);
    assert_place(places, "0-7", 0, 1);
    assert_place(places, "8,10,12-15", 0, 2);
    assert_place(places, "7-8", 0, 0);
    assert_place(places, "0-15", 0, 0);
    assert_place(places, "0,15,0", 0, 0); /* back in the first core, but not only there */
    places_destroy(places);
}

/* Linux numbers the second threads of cores behind all first ones. */
static void threads_of_a_core_need_not_be_neighbours(void **state)
{
    (void)state;
    struct places *places = make("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
    assert_place(places, "0,4", 1, 1);
    assert_place(places, "0,5", 0, 1);
    assert_place(places, "7", 4, 2);
    assert_place(places, "2-3,6-7", 0, 2);
    assert_place(places, "0-3", 0, 0);
    places_destroy(places);
}

static void machines_without_numa_are_one_node(void **state)
{
    (void)state;
    struct places *places = make("core:2 pu:1");
    assert_place(places, "0", 1, 1);
    assert_place(places, "1", 2, 1);
    assert_place(places, "0-1", 0, 1);
    places_destroy(places);
}

static void processors_of_one_socket_are_in_it(void **state)
{
    (void)state;
    struct places *places = make("pack:2 numa:2 core:2 pu:2");
    assert_int_equal(places_find(places, "0").socket, 1);
    assert_int_equal(places_find(places, "0-7").socket, 1);
    assert_int_equal(places_find(places, "8,15").socket, 2);
    assert_int_equal(places_find(places, "7-8").socket, 0);
    places_destroy(places);
}

/* As high-bandwidth memory beside the ordinary one is: what has the processors first is meant. */
static void of_numa_nodes_over_the_same_processors_the_first_is_meant(void **state)
{
    (void)state;
    struct places *places = make("pack:2 [numa(memory=1GB)] [numa(memory=1MB)] core:2 pu:1");
    assert_place(places, "0-1", 0, 1);
    uint64_t numa = places_find(places, "2-3").numa;
    assert_true(numa > 1 && numa <= 4);
    places_destroy(places);
}

static void what_is_no_list_of_known_processors_is_nowhere(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "",
        "x",
        "-",
        "-1",
        "0-",
        "0,",
        ",0",
        "0,,1",
        "0-1-2",
        "3-2",
        "0 ",
        "16",
        "0,16",
        "0-16",
        "99999",
        "65535",
        "65536",
        "0-99999999999999999999",
        "18446744073709551616",
        "0;1",
        "0-1\n",
        "0x1",
    };
    struct places *places = make("numa:2 core:4 pu:2");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_place(places, lists[i], 0, 0);
    assert_place(NULL, "0", 0, 0);
    places_destroy(places);
    places_destroy(NULL);
}

static void a_machine_that_hwloc_does_not_understand_is_refused(void **state)
{
    (void)state;
    struct places *places = NULL;
    assert_int_equal(places_create(&places, "no such thing"), -ENODEV);
    assert_null(places);
}

static void large_machines_are_taken(void **state)
{
    (void)state;
    struct places *places = make("pack:4 numa:4 core:32 pu:2");
    assert_place(places, "1022-1023", 512, 16);
    assert_place(places, "0-63", 0, 1);
    places_destroy(places);
}

/* Whatever machine this is: each of its processors is on some core at most, and the call works. */
static void this_machine_is_understood(void **state)
{
    (void)state;
    struct places *places = make(NULL);
    const struct place place = places_find(places, "0");
    assert_true(place.core <= PLACES_MAXIMUM && place.socket <= PLACES_MAXIMUM &&
                place.numa <= PLACES_MAXIMUM);
    places_destroy(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_of_one_core_are_that_core),
        cmocka_unit_test(processors_of_several_cores_are_of_none),
        cmocka_unit_test(threads_of_a_core_need_not_be_neighbours),
        cmocka_unit_test(machines_without_numa_are_one_node),
        cmocka_unit_test(processors_of_one_socket_are_in_it),
        cmocka_unit_test(of_numa_nodes_over_the_same_processors_the_first_is_meant),
        cmocka_unit_test(what_is_no_list_of_known_processors_is_nowhere),
        cmocka_unit_test(a_machine_that_hwloc_does_not_understand_is_refused),
        cmocka_unit_test(large_machines_are_taken),
        cmocka_unit_test(this_machine_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
