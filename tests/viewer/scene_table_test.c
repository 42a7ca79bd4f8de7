/* Rows of lists and lines of panels, as text and csv for the clipboard. */
#include "viewer/layout/scene_table.h"

#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct table three = {
    .columns = {{"node", 100, 0, 0}, {"bytes", 100, TEXT_RIGHT, 0}, {"waits", 100, TEXT_RIGHT, 0}},
    .count = 3,
    .list = LIST_NODES,
};

/* A list of rows of three cells, of which those from `first` on are visible. */
static void list_scene(struct scene *s, struct desk *d, const char *const (*rows)[3], size_t first,
                       size_t count, size_t selected)
{
    const struct brush brush = {s, &d->theme, -1, -1};
    scene_begin(s, 400, 300, 1, d->measure);
    scene_panel(s, (struct box){0, 0, 400, 300}, 0, "nodes");
    scene_text(s, 10, 8, 200, TEXT_TITLE, 0, 0xff, "Nodes");
    widget_table_head(&brush, &three, (struct box){10, 30, 320, 24}, 1, 1);
    struct scene_hit *area = scene_hit(s, (struct box){10, 56, 330, 200}, HIT_LIST, LIST_NODES, 0);
    area->x1 = (double)(first + count);
    for (size_t i = first; i < first + count; i++) {
        struct box row = {10, 56 + 20 * (double)(i - first), 320, 19};
        struct scene_hit *hit = scene_hit(s, row, HIT_NODE, i, 0);
        hit->list = LIST_NODES + 1;
        hit->row = (uint32_t)i;
        hit->selected = i == selected;
        for (int c = 0; c < 3; c++)
            widget_cell(&brush, &three, row, c, 0xff, rows[i][c]);
    }
    scene_end(s);
}

static const char *const rows_of_nodes[][3] = {
    {"n1, left", "12.4\xc2\xa0KiB", "1.5\xc2\xa0ms"},
    {"n2",
     "900\xc2\xa0"
     "B",
     "2\xc2\xa0min\xc2\xa0"
     "5\xc2\xa0s"},
    {"n\"3", "0", "\xe2\x80\x93"},
};

static void check_print(const struct scene_table *t, enum scene_table_form form, const char *wanted)
{
    char *text = scene_table_print(t, form);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_list_is_copied_over_its_pages_with_one_unit_a_column(void **state)
{
    struct scene s = {0};
    struct scene_table t = {0};
    struct desk d;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    list_scene(&s, &d, rows_of_nodes, 0, 2, 99);
    assert_int_equal(scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES)), 2);
    list_scene(&s, &d, rows_of_nodes, 1, 2, 99);
    assert_int_equal(scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES)), 1);
    assert_int_equal(scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES)), 0);
    scene_table_reduce(&t);
    check_print(&t, TABLE_TEXT,
                "node         bytes      waits\n"
                "n1, left  12.4 KiB     1.5 ms\n"
                "n2           900 B  2 min 5 s\n"
                "n\"3              0          \xe2\x80\x93\n");
    check_print(&t, TABLE_CSV,
                "node,bytes (B),waits (s)\r\n"
                "\"n1, left\",12697.6,0.0015\r\n"
                "n2,900,125\r\n"
                "\"n\"\"3\",0,\r\n");
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

/* The one is shown whole, of the other the end of the second line is left out. */
static void a_text_of_two_lines_is_one_cell(void **state)
{
    (void)state;
    static const char text[] = "node7: messages take 5.1x as long since 12:30:01; the job makes "
                               "83\xc2\xa0% of its progress";
    struct scene s = {0};
    struct desk d;
    struct scene_table t = {0};
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    scene_begin(&s, 900, 300, 1, d.measure);
    scene_panel(&s, (struct box){0, 0, 900, 300}, 0, "alerts");
    const struct brush brush = {&s, &d.theme, -1, -1};
    widget_table_head(&brush, &three, (struct box){10, 30, 820, 24}, 1, 1);
    scene_hit(&s, (struct box){10, 56, 830, 200}, HIT_LIST, LIST_NODES, 0)->x1 = 2;
    for (int i = 0; i < 2; i++) {
        struct scene_hit *hit =
            scene_hit(&s, (struct box){10, 56 + 50 * (double)i, 820, 49}, HIT_NODE, (uint64_t)i, 0);
        hit->list = LIST_NODES + 1;
        hit->row = (uint32_t)i;
        s.cell = 1;
        scene_paragraph(&s, 10, hit->box.y + 5, i ? 200 : 500, TEXT_BODY, 0xff, 2, text);
        s.cell = 0;
    }
    scene_end(&s);
    assert_int_equal(scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES)), 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(t.rows[i].cells[0], "node7: messages take 5.1x as long since 12:30:01; "
                                                "the job makes 83 % of its progress");
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

static void of_selected_rows_only_these_are_copied(void **state)
{
    struct scene s = {0};
    struct scene_table t = {0};
    struct desk d;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    list_scene(&s, &d, rows_of_nodes, 0, 3, 1);
    scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES));
    scene_table_reduce(&t);
    check_print(&t, TABLE_CSV, "node,bytes (B),waits (s)\r\nn2,900,125\r\n");
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

static void what_is_no_figure_of_one_unit_stays_as_it_is_shown(void **state)
{
    static const char *const rows[][3] = {{"1", "<0.1\xc2\xa0%", "14:03:07"},
                                          {"2",
                                           "\xc2\xb1"
                                           "8.0\xc2\xa0%",
                                           "1.3x \xc2\xb1 0.4x"}};
    struct scene s = {0};
    struct scene_table t = {0};
    struct desk d;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    list_scene(&s, &d, rows, 0, 2, 99);
    scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES));
    check_print(&t, TABLE_CSV,
                "node,bytes (%),waits\r\n1,<0.1,14:03:07\r\n2,8,1.3x \xc2\xb1 0.4x\r\n");
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

static void a_panel_is_copied_line_by_line_without_its_buttons(void **state)
{
    struct scene s = {0};
    struct scene_table t = {0};
    struct desk d;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    scene_begin(&s, 400, 300, 1, d.measure);
    scene_panel(&s, (struct box){0, 0, 400, 300}, 0, "context");
    scene_text(&s, 200, 40, 100, TEXT_SMALL, 0, 0xff, "8 on 4 nodes");
    scene_text(&s, 10, 10, 100, TEXT_TITLE, 0, 0xff, "rank 3");
    scene_text(&s, 10, 41, 100, TEXT_AXIS, 0, 0xff, "ranks");
    widget_button(&(struct brush){&s, &d.theme, -1, -1}, 10, 80, "read back", 0,
                  COMMAND_CAPTURE_READ, 0);
    scene_end(&s);
    scene_table_add_panel(&t, &s, 0);
    check_print(&t, TABLE_TEXT, "rank 3\nranks  8 on 4 nodes\n");
    check_print(&t, TABLE_CSV, "what,value\r\nrank 3,\r\nranks,8 on 4 nodes\r\n");
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

/* Programs, communicators and hosts may have any name, and what is copied goes to terminals. */
static void a_control_character_in_a_name_neither_ends_a_line_nor_is_copied(void **state)
{
    static const char *const rows[][3] = {{"n1\nrm \x1b[31m", "1", "2"}};
    struct scene s = {0};
    struct scene_table t = {0};
    struct desk d;
    char *dump = NULL;
    size_t bytes;
    (void)state;
    desk_open(&d, 400, 300, 1, THEME_DARK, VIEW_NODES);
    list_scene(&s, &d, rows, 0, 1, 99);
    scene_table_add_list(&t, &s, ui_list_area(&s, LIST_NODES));
    check_print(&t, TABLE_TEXT, "node         bytes  waits\nn1?rm ?[31m      1      2\n");
    FILE *file = open_memstream(&dump, &bytes);
    scene_dump(&s, file);
    fclose(file);
    assert_non_null(strstr(dump, "n1?rm ?[31m"));
    assert_null(strchr(dump, '\x1b'));
    free(dump);
    scene_table_finish(&t);
    scene_finish(&s);
    desk_close(&d);
}

/* Each of the tables has a cell with a title in all its rows. */
static void every_table_of_a_job_has_titles_and_cells(void **state)
{
    static const enum view_id tables[] = {VIEW_PAIRS, VIEW_RANKS, VIEW_CALLS, VIEW_NODES,
                                          VIEW_ALERTS};
    struct synthetic job;
    struct model *m;
    (void)state;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, 64, 16, 6, 1);
    synthetic_begin(&job, desk_apply, m);
    for (int i = 0; i < 5; i++)
        synthetic_window(&job, desk_apply, m);
    synthetic_death(&job, 3, desk_apply, m);
    for (size_t v = 0; v < sizeof tables / sizeof *tables; v++) {
        struct scene_table t = {0};
        struct desk d;
        desk_open(&d, 1600, 900, 1, THEME_DARK, tables[v]);
        desk_layout(&d, m);
        const struct scene_hit *area = ui_list_in_sight(&d.ui, &d.scene);
        assert_non_null(area);
        size_t shown = (size_t)fmin(floor(area->y1 - area->y0), area->x1);
        assert_int_equal(scene_table_add_list(&t, &d.scene, area), shown);
        for (size_t i = 0; i < t.count; i++) {
            int cells = 0;
            for (int c = 0; c < t.columns; c++) {
                cells += t.rows[i].cells[c] != NULL;
                if (t.rows[i].cells[c] && !t.head.cells[c])
                    fail_msg("%s: '%s' has no title", place_names[tables[v]].name,
                             t.rows[i].cells[c]);
            }
            assert_true(cells >= 3);
        }
        scene_table_finish(&t);
        desk_close(&d);
    }
    synthetic_finish(&job);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_copied_over_its_pages_with_one_unit_a_column),
        cmocka_unit_test(a_text_of_two_lines_is_one_cell),
        cmocka_unit_test(of_selected_rows_only_these_are_copied),
        cmocka_unit_test(what_is_no_figure_of_one_unit_stays_as_it_is_shown),
        cmocka_unit_test(a_panel_is_copied_line_by_line_without_its_buttons),
        cmocka_unit_test(a_control_character_in_a_name_neither_ends_a_line_nor_is_copied),
        cmocka_unit_test(every_table_of_a_job_has_titles_and_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
