/* The criteria view: transfer time against message size. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct model *model_with(const struct wire_criterion_row *rows, uint64_t count)
{
    struct model *m;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    message.job =
        (struct wire_job){.job = "1", .state = "running", .app = "a", .mpi = "", .world = 8};
    assert_int_equal(model_apply(m, &message, 0), 0);
    message = (struct wire_message){.type = WIRE_TYPE_LATENCIES};
    message.latencies = (struct wire_latencies){.job = "1",
                                                .window = 9,
                                                .start_ns = 9000000000,
                                                .length_ns = 1000000000,
                                                .criteria = rows,
                                                .criteria_count = count,
                                                .error_ns = 6400};
    assert_int_equal(model_apply(m, &message, 0), 0);
    return m;
}

static const struct wire_criterion_row rows[] = {
    {0, 0, 400, 380, 50, 300, 900, 410, 2},
    {0, 232, 3100, 3000, 40000, 2000, 5000, 3200, 700},
    {1, 232, 20000, 9600, 20000, 9000, 40000, 21000, 300},
    {1, 312, 61000, 60000, 0, 0, 0, 0, 0}, /* interpolated */
};

/* The widest items of a kind in the plot. */
static int plot_items(const struct scene *s, enum scene_kind kind, double w)
{
    int n = 0;
    for (size_t i = 0; i < s->item_count; i++)
        n += s->items[i].kind == kind && fabs(s->items[i].box.w - w) < 1e-9 &&
             !strcmp(s->panels[s->items[i].panel].name, "criteria.plot");
    return n;
}

static void medians_quantiles_and_references_are_drawn_for_each_size(void **state)
{
    (void)state;
    struct model *m = model_with(rows, 4);
    static const double sizes[][2] = {{1600, 900}, {1024, 640}, {800, 500}};
    for (size_t i = 0; i < 3; i++) {
        struct desk d;
        desk_open(&d, sizes[i][0], sizes[i][1], 1, (enum theme_kind)(i % THEMES), VIEW_CRITERIA);
        desk_layout(&d, m);
        desk_check(&d, "criteria");
        assert_int_equal(plot_items(&d.scene, SCENE_DISC, 8), 3);    /* medians */
        assert_int_equal(plot_items(&d.scene, SCENE_DISC, 4), 1);    /* interpolated */
        assert_int_equal(plot_items(&d.scene, SCENE_OUTLINE, 6), 4); /* references */
        assert_int_equal(plot_items(&d.scene, SCENE_LINE, 6), 6);    /* ends of three bars */
        assert_non_null(find_text(&d.scene, "between nodes"));
        assert_non_null(find_text(&d.scene, "3 size classes in use")); /* one on both curves */
        desk_close(&d);
    }
    model_destroy(m);
}

static void the_mouse_over_a_size_shows_its_counts_and_figures(void **state)
{
    (void)state;
    struct model *m = model_with(rows, 4);
    struct desk d;
    double x = 0, y = 0;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CRITERIA);
    desk_layout(&d, m);
    for (size_t i = 0, discs = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        if (item->kind != SCENE_DISC || strcmp(d.scene.panels[item->panel].name, "criteria.plot"))
            continue;
        if (discs++ == 2) { /* the third row */
            x = item->box.x + item->box.w / 2;
            y = item->box.y + item->box.h / 2;
        }
    }
    d.ui.mouse.x = x;
    d.ui.mouse.y = y;
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "98,304 to 102,399 bytes, between nodes"));
    assert_non_null(find_text(&d.scene, "20,000 messages in the horizon"));
    assert_non_null(find_text(&d.scene, "median 20"));
    assert_non_null(find_text(&d.scene, "four fifths take 9"));
    assert_non_null(find_text(&d.scene, "now 2.1x of it"));
    assert_non_null(find_text(&d.scene, "newest window: 300 messages"));
    assert_non_null(find_text(&d.scene, "clocks known to"));
    desk_close(&d);
    model_destroy(m);
}

/* Rows of a daemon that is none. */
static void impossible_rows_are_left_out(void **state)
{
    (void)state;
    const struct wire_criterion_row bad[] = {
        {9, 4, 10, 10, 1, 1, 1, 1, 1},
        {0, UINT64_MAX, 10, 10, 1, 1, 1, 1, 1},
        {0, 4, 0, 0, 0, 0, 0, 0, 0},
        {1, 991, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, 1, 1},
    };
    for (uint64_t count = 0; count <= 4; count++) {
        struct model *m = model_with(bad, count);
        struct desk d;
        desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_CRITERIA);
        d.ui.mouse.x = d.ui.mouse.y = 300;
        desk_layout(&d, m);
        desk_check(&d, "bad rows");
        assert_non_null(
            find_text(&d.scene, count < 4 ? "No latency criteria yet" : "1 size class in use"));
        desk_close(&d);
        model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_quantiles_and_references_are_drawn_for_each_size),
        cmocka_unit_test(the_mouse_over_a_size_shows_its_counts_and_figures),
        cmocka_unit_test(impossible_rows_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
