/* The view of calls: rows that sum up several kinds of call, and the card of the row selected. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include "holter/call.h"
#include "viewer/ui/ui_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 5000 };

/* A job with a window of calls. */
static struct model *model_with_window(struct wire_call_window window)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, 8, 4, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    struct wire_message message = {.type = WIRE_TYPE_TOTALS};
    message.totals = (struct wire_totals){.job = m->job,
                                          .window = SYNTHETIC_FIRST,
                                          .start_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
                                          .length_ns = SYNTHETIC_SECOND,
                                          .ranks = 8};
    desk_apply(m, &message, 0);
    window.job = m->job;
    window.window = SYNTHETIC_FIRST;
    window.windows = 1;
    message = (struct wire_message){.type = WIRE_TYPE_CALL_WINDOW, .call_window = window};
    desk_apply(m, &message, 0);
    synthetic_finish(&job);
    return m;
}

/* One function on two communicators, and another one in a code region. */
static struct model *model_with_calls(void)
{
    static const struct wire_comm_row comms[] = {
        {.name = ""}, {.id = 1, .size = 8, .name = "world"}, {.id = 2, .size = 4, .name = "half"}};
    static const struct wire_region_row regions[] = {{.name = ""}, {.name = "solve"}};
    const uint64_t reduce = (uint64_t)call_by_name("MPI_Allreduce"),
                   send = (uint64_t)call_by_name("MPI_Send");
    const struct wire_call_row rows[] = {
        {.call = reduce, .comm = 1, .calls = 100, .time_ns = 5000000000, .longest_ns = 7000000},
        {.call = reduce, .comm = 2, .calls = 1000, .time_ns = 4000000000, .longest_ns = 9000000},
        {.call = send, .comm = 1, .region = 1, .calls = 30, .time_ns = 1000, .longest_ns = 90}};
    return model_with_window((struct wire_call_window){.comms = comms,
                                                       .comms_count = 3,
                                                       .regions = regions,
                                                       .regions_count = 2,
                                                       .calls = rows,
                                                       .calls_count = 3});
}

/* Selects the row of the view that has a text, with the mouse. */
static void click_row(struct desk *d, const struct model *m, const char *text)
{
    const struct scene_item *found = NULL;
    for (size_t i = 0; i < d->scene.item_count; i++)
        if (!found && !strcmp(scene_text_of(&d->scene, &d->scene.items[i]), text) &&
            !strcmp(d->scene.panels[d->scene.items[i].panel].name, "calls"))
            found = &d->scene.items[i];
    assert_non_null(found);
    struct input in = {
        .kind = INPUT_PRESS, .x = found->box.x + 2, .y = found->box.y + 4, .clicks = 1};
    ui_input(&d->ui, m, &d->scene, &in);
    in.kind = INPUT_RELEASE;
    ui_input(&d->ui, m, &d->scene, &in);
    d->ui.mouse.x = d->ui.mouse.y = -1;
    desk_layout(d, m);
}

/* Whether a text stands in the column beside the view. */
static int beside(const struct desk *d, const char *text)
{
    for (size_t i = 0; i < d->scene.item_count; i++)
        if (!strcmp(d->scene.panels[d->scene.items[i].panel].name, "context") &&
            !strcmp(scene_text_of(&d->scene, &d->scene.items[i]), text))
            return 1;
    return 0;
}

static int rows_selected(const struct desk *d)
{
    int n = 0;
    for (size_t i = 0; i < d->scene.hit_count; i++)
        n += d->scene.hits[i].kind == HIT_CALL && d->scene.hits[i].selected;
    return n;
}

static void the_card_has_the_figures_of_the_row(void **state)
{
    static const struct {
        enum call_group by;
        const char *row, *title, *calls, *time, *longest;
    } cases[] = {
        {GROUP_CALL, "MPI_Allreduce", "MPI_Allreduce", "1,100", "9\xc2\xa0s", "9\xc2\xa0ms"},
        {GROUP_COMM, "world, 8 ranks", "calls on world", "130", "5\xc2\xa0s", "7\xc2\xa0ms"},
        {GROUP_REGION, "solve", "calls in region solve", "30", "1\xc2\xa0\xc2\xb5s",
         "90\xc2\xa0ns"},
        {GROUP_NONE, "half, 4 ranks", "MPI_Allreduce", "1,000", "4\xc2\xa0s", "9\xc2\xa0ms"}};
    struct model *m = model_with_calls();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CALLS);
        d.ui.group = cases[i].by;
        desk_layout(&d, m);
        click_row(&d, m, cases[i].row);
        assert_int_equal(rows_selected(&d), 1);
        assert_true(beside(&d, cases[i].title));
        assert_true(beside(&d, cases[i].calls));
        assert_true(beside(&d, cases[i].time));
        assert_true(beside(&d, cases[i].longest));
        d.ui.group = (enum call_group)((cases[i].by + 1) % (GROUP_NONE + 1));
        desk_layout(&d, m); /* none of these rows is the selected one */
        assert_int_equal(rows_selected(&d), 0);
        desk_close(&d);
    }
    model_destroy(m);
}

static void only_what_differs_within_a_row_is_said_to_be_several(void **state)
{
    struct model *m = model_with_calls();
    struct desk d;
    (void)state;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CALLS);
    desk_layout(&d, m);
    int several = 0;
    for (size_t i = 0; i < d.scene.item_count; i++)
        several += !strcmp(scene_text_of(&d.scene, &d.scene.items[i]), "several");
    assert_int_equal(several, 1); /* communicators of MPI_Allreduce, which is outside regions */
    d.ui.group = GROUP_REGION;
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "1 kinds"));
    assert_non_null(find_text(&d.scene, "2 kinds of call"));
    assert_non_null(find_text(&d.scene, "MPI_Send"));
    desk_close(&d);
    model_destroy(m);
}

/* A function on very many communicators of one rank, most of its time on the last of them. */
static void each_of_many_communicators_counts(void **state)
{
    static struct wire_comm_row comms[MANY + 1] = {{.name = ""}};
    static struct wire_call_row rows[MANY];
    static char names[MANY + 1][16];
    const uint64_t reduce = (uint64_t)call_by_name("MPI_Allreduce");
    struct desk d;
    (void)state;
    for (uint32_t i = 1; i <= MANY; i++) {
        snprintf(names[i], sizeof names[i], "comm %u", i);
        comms[i] = (struct wire_comm_row){.id = i, .size = 1, .name = names[i]};
        rows[i - 1] = (struct wire_call_row){
            .call = reduce, .comm = i, .calls = 1, .time_ns = i < MANY ? 1000 : (MANY - 1) * 1000};
    }
    struct model *m = model_with_window((struct wire_call_window){
        .comms = comms, .comms_count = MANY + 1, .calls = rows, .calls_count = MANY});
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_CALLS);
    for (int by = GROUP_COMM; by <= GROUP_NONE; by += GROUP_NONE - GROUP_COMM) {
        d.ui.group = (enum call_group)by;
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "comm 5000, 1 rank"));
        assert_null(find_text(&d.scene, "1 ranks"));
        assert_non_null(find_text(&d.scene, "50.0\xc2\xa0%")); /* of the time of all */
    }
    desk_close(&d);
    model_destroy(m);
}

/* In a window that has no room for all columns. */
static void rows_that_differ_by_region_only_name_it(void **state)
{
    static const char deep[] = "a region whose name is as long as names of templates are";
    static const struct wire_comm_row comms[] = {{.name = ""},
                                                 {.id = 1, .size = 8, .name = "world"}};
    const struct wire_region_row regions[] = {{.name = ""}, {.name = "solve"}, {.name = deep}};
    const uint64_t reduce = (uint64_t)call_by_name("MPI_Allreduce");
    const struct wire_call_row rows[] = {
        {.call = reduce, .comm = 1, .region = 1, .calls = 100, .time_ns = 5000000000},
        {.call = reduce, .comm = 1, .region = 2, .calls = 100, .time_ns = 5000000000}};
    struct model *m = model_with_window((struct wire_call_window){.comms = comms,
                                                                  .comms_count = 2,
                                                                  .regions = regions,
                                                                  .regions_count = 3,
                                                                  .calls = rows,
                                                                  .calls_count = 2});
    struct desk d;
    (void)state;
    desk_open(&d, 1200, 700, 1, THEME_DARK, VIEW_CALLS);
    for (int by = GROUP_REGION; by <= GROUP_NONE; by++) {
        d.ui.group = (enum call_group)by;
        desk_layout(&d, m);
        assert_non_null(find_text(&d.scene, "solve"));
        assert_non_null(find_text(&d.scene, "a region"));
    }
    desk_close(&d);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_card_has_the_figures_of_the_row),
        cmocka_unit_test(only_what_differs_within_a_row_is_said_to_be_several),
        cmocka_unit_test(each_of_many_communicators_counts),
        cmocka_unit_test(rows_that_differ_by_region_only_name_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
