/* Two runs beside each other: what corresponds, and what the views of the network show of it. */
#include "viewer/ui/ui.h"

#include "tests/viewer/synthetic_network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bed {
    struct synthetic_network nets[2];
    struct model *models[2];
    struct range range;
    struct ui ui;
    struct other_run other;
};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

/* Two jobs of the same name, so that no figure is taken for that of the other by its name. */
static void open_bed(struct bed *b, const char *first, const char *second, int windows)
{
    const char *const forms[2] = {first, second};
    memset(b, 0, sizeof *b);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(model_create(&b->models[i], 64u << 20), 0);
        synthetic_network_init(&b->nets[i], forms[i], 2);
        synthetic_network_begin(&b->nets[i], into, b->models[i]);
        for (int w = 0; w < windows * (i + 1); w++)
            synthetic_network_window(&b->nets[i], into, b->models[i]);
    }
    ui_init(&b->ui, 1600, 900, 1, THEME_DARK);
    b->ui.view = VIEW_LINKS;
    b->ui.time.range = RANGE_START;
    b->other = (struct other_run){.model = b->models[1], .names = {"a.hrec", "b.hrec"}};
    b->ui.network.other = &b->other;
}

static void close_bed(struct bed *b)
{
    other_run_finish(&b->other);
    ui_finish(&b->ui);
    range_finish(&b->range);
    for (int i = 0; i < 2; i++) {
        synthetic_network_finish(&b->nets[i]);
        model_destroy(b->models[i]);
    }
}

static void update(struct bed *b, enum network_compare compare)
{
    uint64_t first = 0, last = 0;
    b->ui.network.compare = compare;
    ui_windows(&b->ui, b->models[0], &first, &last);
    assert_true(range_update(&b->range, b->models[0], b->ui.time.range, first, last) >= 0);
    assert_true(other_run_update(&b->other, b->models[0], b->range.kind, first, last) >= 0);
    assert_true(ui_update_flows(&b->ui, b->models[0], &b->range) >= 0);
}

/* The second job has run twice as long: twice the bytes over each link. */
static void each_state_has_the_loads_of_its_run(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    update(&b, COMPARE_BEFORE);
    const uint64_t before = b.range.flows.bytes;
    assert_true(before > 0);
    assert_int_equal(b.ui.network.applied, 0);
    update(&b, COMPARE_AFTER);
    assert_true(b.other.same_network);
    assert_int_equal(b.ui.network.applied, FLOWS_OTHER_RUN);
    assert_true(b.range.flows.bytes > before * 3 / 2);
    assert_int_equal(b.range.reality.bytes, before);
    update(&b, COMPARE_DIFFERENCE);
    assert_true(ui_shows_difference(&b.ui));
    update(&b, COMPARE_BEFORE);
    assert_int_equal(b.range.flows.bytes, before);
    close_bed(&b);
}

static void another_network_is_not_drawn_on_the_first(void **state)
{
    struct bed b;
    char text[400];
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,2,4", 5);
    update(&b, COMPARE_AFTER);
    assert_false(b.other.same_network);
    assert_int_equal(b.ui.network.applied, 0);
    assert_non_null(strstr(ui_network_state(&b.ui, text, sizeof text), "first of two networks"));
    b.ui.view = VIEW_MATRIX; /* pairs of ranks need no network */
    assert_non_null(strstr(ui_network_state(&b.ui, text, sizeof text), "after: b.hrec"));
    close_bed(&b);
}

static void windows_correspond_by_time_since_the_start(void **state)
{
    struct bed b;
    uint64_t first = SYNTHETIC_FIRST + 3, last = SYNTHETIC_FIRST + 5;
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    assert_true(other_run_windows(&b.other, b.models[0], &first, &last));
    assert_int_equal(first, SYNTHETIC_FIRST + 3);
    assert_int_equal(last, SYNTHETIC_FIRST + 5);
    first = last = SYNTHETIC_FIRST + 1000; /* after the end of the other run */
    assert_false(other_run_windows(&b.other, b.models[0], &first, &last));
    close_bed(&b);
}

/* Two phases without a pause between them; the other run does something else there. */
static void windows_of_a_phase_correspond_to_those_of_its_match(void **state)
{
    struct bed b;
    const double ns = SYNTHETIC_SECOND;
    const struct run_phase one[] = {{0, 2 * ns, 9, 1000, 8, 4, 2},
                                    {2 * ns, 4 * ns, 90, 9000, 8, 4, 2}},
                           two[] = {{0, 2 * ns, 9, 1000, 8, 4, 2},
                                    {4 * ns, 6 * ns, 90, 9000, 8, 4, 2}};
    uint64_t first = SYNTHETIC_FIRST, last = SYNTHETIC_FIRST + 1;
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    assert_int_equal(alignment_make(&b.other.alignment, one, 2, two, 2), 0);
    assert_true(other_run_windows(&b.other, b.models[0], &first, &last));
    assert_int_equal(first, SYNTHETIC_FIRST);
    assert_int_equal(last, SYNTHETIC_FIRST + 1);
    first = SYNTHETIC_FIRST + 2;
    last = SYNTHETIC_FIRST + 3;
    assert_true(other_run_windows(&b.other, b.models[0], &first, &last));
    assert_int_equal(first, SYNTHETIC_FIRST + 4);
    assert_int_equal(last, SYNTHETIC_FIRST + 5);
    close_bed(&b);
}

/* The first job goes on for longer than the other one has, which is a recording. */
static void a_span_after_the_end_of_the_other_run_has_no_figures_of_it(void **state)
{
    struct bed b;
    const uint64_t late = SYNTHETIC_FIRST + 30;
    const struct synthetic_replay replay = {.state = "ended", .speed = 1, .run = 1, .change = 1};
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    synthetic_replay(&replay, 1, into, b.models[1]);
    for (int w = 0; w < 30; w++)
        synthetic_network_window(&b.nets[0], into, b.models[0]);
    assert_true(other_run_update(&b.other, b.models[0], RANGE_SPAN, late, late + 5) >= 0);
    assert_int_equal(b.other.range.total[PAIR_BYTES], 0);
    assert_int_equal(b.other.range.by_waiting_count, 0);
    assert_true(other_run_update(&b.other, b.models[0], RANGE_SPAN, late - 20, late - 15) >= 0);
    assert_true(b.other.range.total[PAIR_BYTES] > 0);
    close_bed(&b);
}

static void figures_of_both_runs_stand_side_by_side(void **state)
{
    struct bed b;
    double figures[OTHER_FIGURES][2];
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    other_run_figures(&b.other, b.models[0], RANGE_START, 0, 0, figures);
    assert_float_equal(figures[OTHER_SECONDS][0], 10, 1e-9);
    assert_float_equal(figures[OTHER_SECONDS][1], 20, 1e-9);
    assert_true(figures[OTHER_HALF][0] > 3 && figures[OTHER_HALF][0] < 7);
    assert_true(isnan(figures[OTHER_INTRA][0])); /* no latencies are published */
    close_bed(&b);
}

static void a_run_lasts_while_its_ranks_are_there(void **state)
{
    struct bed b;
    double figures[OTHER_FIGURES][2], half;
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    other_run_figures(&b.other, b.models[0], RANGE_START, 0, 0, figures);
    half = figures[OTHER_HALF][0];
    const struct series *series = &b.models[0]->series;
    struct window_totals *first = &series->windows[0], *last = &series->windows[series->count - 1];
    first->absent_ns = first->ranks * UINT64_C(500000000);
    last->absent_ns = last->ranks * UINT64_C(250000000);
    other_run_figures(&b.other, b.models[0], RANGE_START, 0, 0, figures);
    assert_float_equal(figures[OTHER_SECONDS][0], 9.25, 1e-9);
    assert_float_equal(figures[OTHER_SECONDS][1], 20, 1e-9);
    assert_true(fabs(figures[OTHER_HALF][0] - (half - 0.5)) < 1e-9);
    close_bed(&b);
}

static void a_what_if_is_shown_in_place_of_the_other_run(void **state)
{
    struct bed b;
    (void)state;
    open_bed(&b, "torus:4,4,2", "torus:4,4,2", 10);
    update(&b, COMPARE_AFTER);
    assert_non_null(ui_other_run(&b.ui));
    network_asked(&b.models[0]->network, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&b.nets[0], 1, into, b.models[0]);
    assert_int_equal(ui_network_show(&b.ui, b.models[0], SUGGEST_MAPPING), 0);
    assert_null(ui_other_run(&b.ui));
    update(&b, COMPARE_AFTER);
    assert_int_equal(b.ui.network.applied, FLOWS_MAPPING);
    close_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_has_the_loads_of_its_run),
        cmocka_unit_test(another_network_is_not_drawn_on_the_first),
        cmocka_unit_test(windows_correspond_by_time_since_the_start),
        cmocka_unit_test(windows_of_a_phase_correspond_to_those_of_its_match),
        cmocka_unit_test(a_span_after_the_end_of_the_other_run_has_no_figures_of_it),
        cmocka_unit_test(figures_of_both_runs_stand_side_by_side),
        cmocka_unit_test(a_run_lasts_while_its_ranks_are_there),
        cmocka_unit_test(a_what_if_is_shown_in_place_of_the_other_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
