/* Addresses, and the way back and forward. */
#include "viewer/places/address.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char why[200];

static struct address parsed(const char *text)
{
    struct address a;
    if (address_parse(&a, text, why, sizeof why))
        fail_msg("%s: %s", text, why);
    return a;
}

static void an_address_names_room_place_and_alert(void **state)
{
    (void)state;
    struct address a = parsed("latency/alerts/3?from=12.5&to=60");
    assert_int_equal(a.view, VIEW_ALERTS);
    assert_true(a.alert_given && a.alert == 3);
    assert_true(a.from == 12.5 && a.to == 60);
    assert_true(!a.select[0] && !a.since_start);
    a = parsed("network");
    assert_int_equal(a.view, VIEW_LINKS);
    assert_true(!a.alert_given && isnan(a.from) && isnan(a.to));
    a = parsed("communication/matrix?select=pair:3-4&sums=start&alert=7");
    assert_int_equal(a.view, VIEW_MATRIX);
    assert_string_equal(a.select, "pair:3-4");
    assert_true(a.since_start && a.alert_given && a.alert == 7);
    assert_int_equal(parsed("communication/metrics").view, VIEW_LANDSCAPE);
    assert_int_equal(parsed("communication/landscape").view, VIEW_LANDSCAPE);
    a = parsed("network/links?select=link:a%20%26%25b-c");
    assert_string_equal(a.select, "link:a &%b-c");
}

static void every_place_has_an_address_that_leads_there(void **state)
{
    (void)state;
    for (int view = 0; view < VIEWS; view++) {
        char text[ADDRESS_TEXT], again[ADDRESS_TEXT];
        struct address a = {.view = (enum view_id)view, .from = -60, .to = NAN};
        a.alert_given = view % 2;
        a.alert = UINT64_MAX;
        strcpy(a.select, "link:(0,0) & 50%?-\"x\"");
        address_print(&a, text, sizeof text);
        struct address b = parsed(text);
        assert_int_equal(b.view, view);
        assert_true(b.from == -60 && isnan(b.to));
        assert_int_equal(b.alert_given, a.alert_given);
        assert_string_equal(b.select, a.select);
        assert_string_equal(address_print(&b, again, sizeof again), text);
        assert_int_equal(place_find(place_names[view].name), view);
        assert_true(room_first(place_names[view].room) <= (enum view_id)view);
    }
}

static void an_address_is_as_short_as_can_be(void **state)
{
    (void)state;
    char text[ADDRESS_TEXT];
    struct address a = {.view = VIEW_OVERVIEW, .from = NAN, .to = NAN};
    assert_string_equal(address_print(&a, text, sizeof text), "overview");
    a.from = 12.5;
    a.to = 3600;
    assert_string_equal(address_print(&a, text, sizeof text), "overview?from=12.5&to=3600");
    a.view = VIEW_ALERTS;
    assert_string_equal(address_print(&a, text, sizeof text), "latency?from=12.5&to=3600");
    a.alert_given = 1;
    a.alert = 3;
    assert_string_equal(address_print(&a, text, sizeof text), "latency/alerts/3?from=12.5&to=3600");
    assert_string_equal(address_print(&a, text, 12), "latency/ale"); /* and no byte further */
}

static void a_wrong_address_is_explained(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"", "no room ''"},
        {"lobby", "no room 'lobby'"},
        {"latency/", "no place ''"},
        {"latency/matrix", "room 'latency' has no place 'matrix'"},
        {"latency/alerts/x", "'x' is no number"},
        {"latency/alerts/-1", "no number"},
        {"latency/alerts/3/4", "no number"},
        {"latency/alerts/99999999999999999999999", "no number"},
        {"communication/matrix/3", "nothing can follow"},
        {"overview?", "has no value"},
        {"overview?from", "has no value"},
        {"overview?from=", "no number of seconds"},
        {"overview?from=1e99", "no number of seconds"},
        {"overview?from=nan", "no number of seconds"},
        {"overview?from=5&to=3", "after"},
        {"overview?when=3", "none of"},
        {"overview?select=", "empty"},
        {"overview?select=a%2", "wrong % sequence"},
        {"overview?select=a%00b", "wrong % sequence"},
        {"overview?sums=end", "not 'start'"},
    };
    struct address untouched = {.view = VIEW_JOBS};
    char lengthy[2000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = 0;
    assert_int_equal(address_parse(&untouched, lengthy, why, sizeof why), -HOLTER_EUSAGE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(address_parse(&untouched, wrong[i][0], why, sizeof why), -HOLTER_EUSAGE);
        if (!strstr(why, wrong[i][1]))
            fail_msg("'%s': '%s' does not say '%s'", wrong[i][0], why, wrong[i][1]);
    }
    assert_int_equal(untouched.view, VIEW_JOBS);
}

static void back_and_forward_walk_the_places_that_were_visited(void **state)
{
    (void)state;
    struct history_of_places h = {0};
    struct place at = {.view = VIEW_OVERVIEW};
    assert_false(places_back(&h, &at) || places_forward(&h, &at));
    for (int view = 1; view < 4; view++) {
        places_leave(&h, &at);
        at.view = (enum view_id)view;
    }
    assert_true(places_back(&h, &at));
    assert_int_equal(at.view, 2);
    assert_true(places_back(&h, &at));
    assert_int_equal(at.view, 1);
    assert_true(places_forward(&h, &at));
    assert_int_equal(at.view, 2);
    places_leave(&h, &at); /* somewhere else: nothing lies ahead any more */
    at.view = VIEW_JOBS;
    assert_false(places_forward(&h, &at));
    assert_true(places_back(&h, &at));
    assert_int_equal(at.view, 2);
    assert_true(places_forward(&h, &at));
    assert_int_equal(at.view, VIEW_JOBS);
}

static void a_long_way_forgets_its_begin(void **state)
{
    (void)state;
    struct history_of_places h = {0};
    struct place at = {0};
    for (uint64_t i = 1; i <= 3 * HISTORY_PLACES; i++) {
        places_leave(&h, &at);
        at.selection = (struct selection){SELECT_RANK, i, 0};
    }
    for (int i = 0; i < HISTORY_PLACES; i++)
        assert_true(places_back(&h, &at));
    assert_int_equal(at.selection.a, 2 * HISTORY_PLACES);
    assert_false(places_back(&h, &at));
    for (int i = 0; i < HISTORY_PLACES; i++)
        assert_true(places_forward(&h, &at));
    assert_int_equal(at.selection.a, 3 * HISTORY_PLACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_names_room_place_and_alert),
        cmocka_unit_test(every_place_has_an_address_that_leads_there),
        cmocka_unit_test(an_address_is_as_short_as_can_be),
        cmocka_unit_test(a_wrong_address_is_explained),
        cmocka_unit_test(back_and_forward_walk_the_places_that_were_visited),
        cmocka_unit_test(a_long_way_forgets_its_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
