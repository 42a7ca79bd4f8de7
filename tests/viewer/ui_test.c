#include "tests/viewer/synthetic.h"

#include "viewer/places/absence.h"
#include "viewer/ui/ui_address.h"
#include "viewer/ui/ui_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t second = 1000000000;

struct fixture {
    struct model *model;
    struct synthetic job;
    struct ui ui;
    struct scene scene;
};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    model_apply(user, message, snapshot);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_int_equal(model_create(&f->model, 8 << 20), 0);
    synthetic_init(&f->job, 64, 16, 6, 1);
    synthetic_begin(&f->job, into, f->model);
    for (int i = 0; i < 200; i++)
        synthetic_window(&f->job, into, f->model);
    ui_init(&f->ui, 1600, 900, 1, THEME_DARK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    scene_finish(&f->scene);
    synthetic_finish(&f->job);
    ui_finish(&f->ui);
    model_destroy(f->model);
    free(f);
    return 0;
}

static int press_key(struct fixture *f, int key)
{
    const struct input in = {.kind = INPUT_KEY, .key = key};
    return ui_input(&f->ui, f->model, &f->scene, &in);
}

static int type_text(struct fixture *f, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    strcpy(in.text, text);
    return ui_input(&f->ui, f->model, &f->scene, &in);
}

static int mouse(struct fixture *f, enum input_kind kind, double x, double y)
{
    const struct input in = {.kind = kind, .x = x, .y = y, .clicks = 1};
    return ui_input(&f->ui, f->model, &f->scene, &in);
}

static void click(struct fixture *f, double x, double y)
{
    mouse(f, INPUT_PRESS, x, y);
    mouse(f, INPUT_RELEASE, x, y);
}

static int64_t newest(const struct fixture *f)
{
    int64_t begin, end;
    ui_whole_time(f->model, &begin, &end);
    return end;
}

static void following_keeps_the_newest_data_at_the_edge(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end;
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, newest(f));
    assert_int_equal(end - begin, 60 * second);
    synthetic_window(&f->job, into, f->model);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, newest(f));
}

static void space_holds_the_span_until_space_again(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end, held = newest(f);
    type_text(f, " ");
    assert_false(f->ui.time.follow);
    synthetic_window(&f->job, into, f->model);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, held);
    type_text(f, " ");
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, newest(f));
}

static void moving_back_stops_at_the_begin_of_the_job(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end, oldest, last;
    ui_whole_time(f->model, &oldest, &last);
    for (int i = 0; i < 100; i++)
        press_key(f, KEY_LEFT);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(begin, oldest);
    assert_int_equal(end - begin, 60 * second);
    press_key(f, KEY_HOME);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(begin, oldest);
    press_key(f, KEY_END);
    assert_true(f->ui.time.follow);
}

static void zooming_keeps_the_moment_under_the_mouse(void **state)
{
    struct fixture *f = *state;
    type_text(f, " ");
    press_key(f, KEY_LEFT);
    struct scene_hit *hit = scene_hit(&f->scene, (struct box){100, 100, 1000, 200}, HIT_TIME, 0, 0);
    int64_t begin, end;
    ui_visible(&f->ui, f->model, &begin, &end);
    hit->x0 = (double)begin;
    hit->x1 = (double)end;
    int64_t at = begin + (end - begin) / 4;
    struct input in = {.kind = INPUT_WHEEL, .x = 350, .y = 150, .wheel = 2};
    ui_input(&f->ui, f->model, &f->scene, &in);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_true(end - begin < 40 * second);
    assert_true(llabs(begin + (end - begin) / 4 - at) < second / 1000);
}

static void dragging_moves_time_with_the_mouse(void **state)
{
    struct fixture *f = *state;
    struct scene_hit *hit = scene_hit(&f->scene, (struct box){0, 0, 600, 200}, HIT_TIME, 0, 0);
    int64_t begin, end, moved;
    ui_visible(&f->ui, f->model, &begin, &end);
    hit->x0 = (double)begin;
    hit->x1 = (double)end;
    mouse(f, INPUT_PRESS, 100, 100);
    mouse(f, INPUT_MOVE, 150, 100);
    mouse(f, INPUT_MOVE, 200, 100);
    mouse(f, INPUT_RELEASE, 200, 100);
    ui_visible(&f->ui, f->model, &begin, &moved);
    assert_true(llabs(end - moved - 10 * second) < second / 1000);
    assert_false(f->ui.time.follow);
}

static void dragging_with_shift_marks_the_time_that_becomes_visible(void **state)
{
    static const enum hit_kind kinds[] = {HIT_TIME, HIT_SERIES, HIT_REGION};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int64_t first, last, begin, end;
        f->ui.time.follow = 1;
        f->ui.time.span_ns = 60 * second;
        ui_visible(&f->ui, f->model, &first, &last);
        f->scene.hit_count = 0;
        struct scene_hit *hit = scene_hit(&f->scene, (struct box){0, 0, 600, 200}, kinds[i], 0, 0);
        hit->x0 = (double)first;
        hit->x1 = (double)last;
        for (int k = 0; k < 4; k++) {
            const struct input in = {.kind = k == 0   ? INPUT_PRESS
                                             : k == 3 ? INPUT_RELEASE
                                                      : INPUT_MOVE,
                                     .x = 400 - 50 * (k < 2 ? k : 2),
                                     .y = 100,
                                     .shift = 1};
            ui_input(&f->ui, f->model, &f->scene, &in);
        }
        ui_visible(&f->ui, f->model, &begin, &end);
        assert_true(llabs(begin - first - 30 * second) < second / 1000);
        assert_true(llabs(end - first - 40 * second) < second / 1000);
        assert_false(f->ui.time.follow);
    }
}

static void one_selection_holds_in_all_views_and_backspace_leads_back(void **state)
{
    struct fixture *f = *state;
    scene_hit(&f->scene, (struct box){0, 0, 10, 10}, HIT_RANK, 7, 0);
    scene_hit(&f->scene, (struct box){20, 0, 10, 10}, HIT_PAIR, 3, 4);
    click(f, 5, 5);
    assert_int_equal(f->ui.selection.kind, SELECT_RANK);
    assert_int_equal(f->ui.selection.a, 7);
    type_text(f, "2");
    assert_int_equal(f->ui.view, VIEW_COMMGRAM);
    type_text(f, "2");
    assert_int_equal(f->ui.view, VIEW_MATRIX);
    assert_true(ui_rank_selected(&f->ui, 7));
    click(f, 25, 5);
    assert_true(ui_pair_selected(&f->ui, 3, 4));
    assert_true(ui_rank_selected(&f->ui, 4));
    press_key(f, KEY_BACKSPACE);
    assert_true(ui_rank_selected(&f->ui, 7));
    assert_int_equal(f->ui.view, VIEW_MATRIX);
    press_key(f, KEY_BACKSPACE);
    assert_int_equal(f->ui.view, VIEW_COMMGRAM);
    press_key(f, KEY_BACK);
    assert_int_equal(f->ui.view, VIEW_OVERVIEW);
    press_key(f, KEY_FORWARD);
    assert_int_equal(f->ui.view, VIEW_COMMGRAM);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(f->ui.selection.kind, SELECT_NONE);
}

static void every_place_with_data_is_reached_by_keys(void **state)
{
    struct fixture *f = *state;
    unsigned reached = 0, wanted = 0;
    for (int view = 0; view < VIEWS; view++)
        wanted |= place_absence(f->model, (enum view_id)view) ? 0u : 1u << view;
    for (int room = 0; room < ROOMS; room++) {
        char key[2] = {(char)('1' + room), 0};
        for (int i = 0; i < VIEWS; i++) {
            type_text(f, key);
            assert_int_equal(place_names[f->ui.view].room, room);
            reached |= 1u << f->ui.view;
        }
    }
    assert_int_equal(reached & wanted, wanted);
    assert_int_equal(reached & ~wanted, 1u << VIEW_LINKS); /* no network: its first place says so */
    /* a room opens its last place */
    f->ui.view = VIEW_OVERVIEW;
    ui_go(&f->ui, VIEW_RANKS);
    type_text(f, "5");
    type_text(f, "2");
    assert_int_equal(f->ui.view, VIEW_RANKS);
}

static void tab_moves_the_focus_and_enter_presses(void **state)
{
    struct fixture *f = *state;
    const struct input back = {.kind = INPUT_KEY, .key = KEY_TAB, .shift = 1};
    scene_hit(&f->scene, (struct box){0, 0, 10, 10}, HIT_BUTTON, COMMAND_VIEW, VIEW_RANKS);
    scene_hit(&f->scene, (struct box){20, 0, 10, 10}, HIT_RANK, 7, 0);
    scene_hit(&f->scene, (struct box){40, 0, 10, 10}, HIT_BUTTON, COMMAND_VIEW, VIEW_PAIRS);
    press_key(f, KEY_TAB);
    assert_int_equal(f->ui.focus.argument, VIEW_RANKS);
    press_key(f, KEY_TAB);
    assert_int_equal(f->ui.focus.argument, VIEW_PAIRS);
    press_key(f, KEY_TAB); /* around */
    assert_int_equal(f->ui.focus.argument, VIEW_RANKS);
    ui_input(&f->ui, f->model, &f->scene, &back);
    assert_int_equal(f->ui.focus.argument, VIEW_PAIRS);
    press_key(f, KEY_ENTER);
    assert_int_equal(f->ui.view, VIEW_PAIRS);
    /* what is searched for is above the button */
    ui_go(&f->ui, VIEW_RANKS);
    type_text(f, "/");
    type_text(f, "42");
    press_key(f, KEY_ENTER);
    assert_true(ui_rank_selected(&f->ui, 42));
    assert_int_equal(f->ui.view, VIEW_RANKS);
    assert_false(f->ui.overlay.searching);
    press_key(f, KEY_ESCAPE);
    assert_false(f->ui.focus.on);
}

static void an_address_opens_what_it_was_made_of(void **state)
{
    static const struct synthetic_latency slow = {4, 2, 60, 900, 0.1, 2};
    struct fixture *f = *state;
    char text[ADDRESS_TEXT];
    struct address address;
    ui_address(&f->ui, f->model, &address);
    assert_string_equal(address_print(&address, text, sizeof text), "overview");
    synthetic_growth(&f->job, &slow, 4, "firing", into, f->model);
    ui_go(&f->ui, VIEW_ALERTS);
    ui_pick_alert(&f->ui, f->model, 4);
    ui_address(&f->ui, f->model, &address);
    address_print(&address, text, sizeof text);
    assert_memory_equal(text, "latency/alerts/4?from=", 22);
    ui_select(&f->ui, (struct selection){SELECT_PAIR, 3, 4});
    ui_address(&f->ui, f->model, &address);
    assert_string_equal(address.select, "pair:3-4");
    struct ui other;
    ui_init(&other, 1600, 900, 1, THEME_DARK);
    assert_int_equal(ui_open_address(&other, f->model, &address), 0);
    assert_true(ui_pair_selected(&other, 3, 4) && other.alert_picked && other.alert == 4);
    /* the time that was seen, be the onset of the alert in it or not */
    int64_t begin, end, other_begin, other_end;
    ui_pan_time(&f->ui, f->model, 100 * (int64_t)SYNTHETIC_SECOND);
    ui_visible(&f->ui, f->model, &begin, &end);
    ui_address(&f->ui, f->model, &address);
    ui_finish(&other);
    ui_init(&other, 1600, 900, 1, THEME_DARK);
    ui_show_span(&other, f->model, ui_time_of(f->model, address.from),
                 ui_time_of(f->model, address.to));
    assert_int_equal(ui_open_address(&other, f->model, &address), 0);
    ui_visible(&other, f->model, &other_begin, &other_end);
    assert_true(other.alert_picked && other_begin == begin && other_end == end);
    address.alert = 99;
    assert_true(ui_open_address(&other, f->model, &address) < 0);
    ui_finish(&other);
}

static void selections_are_named_as_they_are_found(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"rank:7", "pair:3-4", "node:node002", "call:MPI_Waitall"};
    char text[ADDRESS_SELECT];
    struct selection found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ui_select_find(f->model, names[i], &found), 0);
        assert_string_equal(ui_select_text(f->model, &found, text, sizeof text), names[i]);
    }
    assert_true(ui_select_find(f->model, "node:nowhere", &found) < 0);
    assert_true(ui_select_find(f->model, "call:MPI_Nothing", &found) < 0);
    assert_true(ui_select_find(f->model, "region:17", &found) < 0);
}

static void going_back_restores_the_time_that_an_alert_moved(void **state)
{
    static const struct synthetic_latency slow = {4, 2, 60, 900, 0.1, 2};
    struct fixture *f = *state;
    synthetic_growth(&f->job, &slow, 4, "firing", into, f->model);
    ui_pick_alert(&f->ui, f->model, 4);
    assert_false(f->ui.time.follow);
    int64_t held = f->ui.time.end_ns;
    press_key(f, KEY_BACK);
    assert_true(f->ui.time.follow && !f->ui.alert_picked);
    press_key(f, KEY_FORWARD);
    assert_true(!f->ui.time.follow && f->ui.time.end_ns == held && f->ui.alert_picked);
    /* a span that the user holds stays held */
    ui_go(&f->ui, VIEW_RANKS);
    press_key(f, KEY_LEFT);
    held = f->ui.time.end_ns;
    press_key(f, KEY_BACK);
    assert_true(!f->ui.time.follow && f->ui.time.end_ns == held);
}

static struct alert alert_about(const char *kind, const char *names)
{
    struct alert a = {.id = 1, .rank = -1};
    snprintf(a.culprit, sizeof a.culprit, "%s", kind);
    snprintf(a.culprits, sizeof a.culprits, "%s", names);
    return a;
}

static void an_alert_marks_its_culprit(void **state)
{
    struct fixture *f = *state;
    char from[40], to[40];
    struct alert node = alert_about("node", "node002"),
                 pair = alert_about("node-pair", "node001 to node003, node000 to node002"),
                 rank = alert_about("rank", "5"), link = alert_about("link", "(0,0) to (0,1)");
    assert_int_equal(ui_alert_selection(f->model, &node).kind, SELECT_NODE);
    assert_int_equal(ui_alert_selection(f->model, &node).a, 2);
    assert_true(ui_alert_marks_node(f->model, &node, 2) &&
                !ui_alert_marks_node(f->model, &node, 1));
    assert_true(ui_alert_marks_rank(f->model, &node, 32) &&
                !ui_alert_marks_rank(f->model, &node, 0));
    assert_true(ui_alert_ends(&pair, from, to, sizeof from));
    assert_string_equal(from, "node001");
    assert_string_equal(to, "node003");
    assert_true(ui_alert_marks_node(f->model, &pair, 3));
    assert_int_equal(ui_alert_selection(f->model, &rank).kind, SELECT_RANK);
    assert_true(ui_alert_ends(&link, from, to, sizeof from));
    assert_string_equal(to, "(0,1)");
    assert_int_equal(ui_alert_link(f->model, &link), TOPOLOGY_NONE); /* no network is known */
    assert_false(ui_alert_ends(&node, from, to, sizeof from));
}

static void letters_choose_colours_time_and_drawer(void **state)
{
    struct fixture *f = *state;
    type_text(f, "l");
    assert_int_equal(f->ui.regions.colour, COLOUR_LATENCY);
    type_text(f, "l");
    assert_int_equal(f->ui.regions.colour, COLOUR_REGION);
    type_text(f, "c");
    assert_true(f->ui.compress);
    type_text(f, "d");
    assert_true(f->ui.overlay.drawer);
    press_key(f, KEY_ESCAPE);
    assert_false(f->ui.overlay.drawer);
}

static void an_alert_selects_what_it_is_about(void **state)
{
    static const struct synthetic_latency slow = {4, 2, 60, 900, 0.1, 2};
    struct fixture *f = *state;
    int64_t begin, end, onset = (int64_t)(SYNTHETIC_FIRST + 60) * second;
    synthetic_growth(&f->job, &slow, 4, "firing", into, f->model);
    ui_pick_alert(&f->ui, f->model, 99); /* there is no such alert */
    assert_int_equal(f->ui.selection.kind, SELECT_NONE);
    /* its region is not known here: the ranks it names are selected */
    ui_pick_alert(&f->ui, f->model, 4);
    assert_int_equal(f->ui.selection.kind, SELECT_ALERT);
    assert_true(ui_marks_rank(&f->ui, f->model, 16) && !ui_marks_rank(&f->ui, f->model, 15));
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_false(f->ui.time.follow);
    assert_true(begin < onset && onset < end);
    synthetic_regions(&f->job, &slow, into, f->model);
    ui_pick_alert(&f->ui, f->model, 4);
    assert_int_equal(f->ui.selection.kind, SELECT_REGION);
    synthetic_hang(&f->job, 5, 33, into, f->model);
    ui_pick_alert(&f->ui, f->model, 5);
    assert_true(ui_rank_selected(&f->ui, 33));
    press_key(f, KEY_ESCAPE);
    assert_false(f->ui.alert_picked);
    assert_int_equal(f->ui.selection.kind, SELECT_NONE);
}

static void escape_closes_what_lies_on_top_first(void **state)
{
    struct fixture *f = *state;
    ui_select(&f->ui, (struct selection){SELECT_RANK, 1, 0});
    type_text(f, "?");
    assert_true(f->ui.overlay.help);
    press_key(f, KEY_ESCAPE);
    assert_false(f->ui.overlay.help);
    assert_int_equal(f->ui.selection.kind, SELECT_RANK);
}

static void escape_closes_the_menu_of_the_topology_before_it_clears_the_selection(void **state)
{
    struct fixture *f = *state;
    ui_select(&f->ui, (struct selection){SELECT_RANK, 1, 0});
    ui_go(&f->ui, VIEW_TORUS);
    ui_command(&f->ui, f->model, COMMAND_TORUS_MENU, 0);
    assert_int_equal(f->ui.torus.menu, 1);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(f->ui.torus.menu, 0);
    assert_int_equal(f->ui.selection.kind, SELECT_RANK);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(f->ui.selection.kind, SELECT_NONE);
}

static void search_finds_ranks_nodes_calls_and_alerts(void **state)
{
    struct fixture *f = *state;
    type_text(f, "/");
    assert_true(f->ui.overlay.searching);
    type_text(f, "4");
    type_text(f, "2");
    assert_string_equal(f->ui.overlay.search, "42");
    press_key(f, KEY_ENTER);
    assert_false(f->ui.overlay.searching);
    assert_true(ui_rank_selected(&f->ui, 42));
    struct selection found[4];
    assert_int_equal(ui_search(f->model, "NODE00", found, 4), 4);
    assert_int_equal(found[3].kind, SELECT_NODE);
    assert_int_equal(found[3].a, 3);
    assert_int_equal(ui_search(f->model, "waitall", found, 4), 1);
    assert_int_equal(found[0].kind, SELECT_CALL);
    synthetic_hang(&f->job, 77, 33, into, f->model);
    assert_int_equal(ui_search(f->model, "77", found, 4), 1);
    assert_int_equal(found[0].kind, SELECT_ALERT);
    assert_int_equal(ui_search(f->model, "not arrived", found, 4), 1);
    ui_choose_found(&f->ui, f->model, found[0]);
    assert_true(f->ui.alert_picked && f->ui.alert == 77);
    assert_int_equal(ui_search(f->model, "64", found, 4), 0);
    assert_int_equal(ui_search(f->model, "99999999999999999999999", found, 4), 0);
    assert_int_equal(ui_search(f->model, "  ", found, 4), 0);
    static const char *const names[] = {"nid11", "nid9", "nid12", "nid10"};
    for (int i = 0; i < 4; i++)
        snprintf(f->model->hosts[i].name, sizeof f->model->hosts[i].name, "%s", names[i]);
    assert_int_equal(ui_search(f->model, "nid", found, 3), 3);
    assert_true(found[0].a == 1 && found[1].a == 3 && found[2].a == 0);
}

static void a_title_that_begins_with_the_number_of_its_alert_is_found(void **state)
{
    struct fixture *f = *state;
    struct selection found[4];
    struct wire_message m = {.type = WIRE_TYPE_ALERT};
    m.alert = (struct wire_alert){.job = f->model->job,
                                  .id = 3,
                                  .kind = "ranks-unwatched",
                                  .state = "firing",
                                  .title = "3 of 64 ranks not watched",
                                  .rank = -1};
    into(f->model, &m, 0);
    assert_int_equal(ui_search(f->model, "3 of 64", found, 4), 1);
    assert_int_equal(found[0].kind, SELECT_ALERT);
    assert_int_equal(found[0].a, 3);
    assert_int_equal(ui_search(f->model, "3", found, 4), 3); /* rank, alert and node003 */
    assert_int_equal(found[1].kind, SELECT_ALERT);
    assert_int_equal(found[2].kind, SELECT_NODE);
}

static void letters_typed_into_the_search_are_no_commands(void **state)
{
    struct fixture *f = *state;
    type_text(f, "/");
    assert_int_equal(type_text(f, "q"), UI_CHANGED);
    type_text(f, "\xc3\xa4");
    press_key(f, KEY_BACKSPACE);
    assert_string_equal(f->ui.overlay.search, "q");
    for (int i = 0; i < 200; i++)
        type_text(f, "x");
    assert_true(strlen(f->ui.overlay.search) < sizeof f->ui.overlay.search);
    press_key(f, KEY_ESCAPE);
    assert_int_equal(type_text(f, "q"), UI_QUIT);
}

static void the_matrix_zooms_around_a_cell_and_stays_in_the_job(void **state)
{
    struct fixture *f = *state;
    double column, row, extent;
    ui_zoom_matrix(&f->ui, f->model, 0.25, 40, 20);
    ui_matrix(&f->ui, f->model, &column, &row, &extent);
    assert_true(extent == 16);
    assert_true(column == 30 && row == 15);
    ui_pan_matrix(&f->ui, f->model, 1000, -1000);
    ui_matrix(&f->ui, f->model, &column, &row, &extent);
    assert_true(column == 48 && row == 0);
    for (int i = 0; i < 50; i++)
        ui_zoom_matrix(&f->ui, f->model, 0.5, 60, 60);
    ui_matrix(&f->ui, f->model, &column, &row, &extent);
    assert_true(extent == 4);
    f->ui.view = VIEW_MATRIX;
    type_text(f, "0");
    ui_matrix(&f->ui, f->model, &column, &row, &extent);
    assert_true(extent == 64);
}

static void what_the_keys_zoom_one_key_shows_as_a_whole(void **state)
{
    struct fixture *f = *state;
    static const enum view_id views[] = {VIEW_OVERVIEW, VIEW_LIVE, VIEW_PAIRS, VIEW_CALLS,
                                         VIEW_COMMGRAM};
    int64_t begin, end, oldest, last;
    ui_whole_time(f->model, &oldest, &last);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        f->ui.view = views[i];
        for (int k = 0; k < 4; k++)
            type_text(f, "+");
        ui_visible(&f->ui, f->model, &begin, &end);
        assert_true(end - begin < (last - oldest) / 2);
        type_text(f, "0");
        ui_visible(&f->ui, f->model, &begin, &end);
        assert_true(begin == oldest && end == last);
    }
}

static void lists_are_walked_with_the_keys(void **state)
{
    struct fixture *f = *state;
    f->ui.view = VIEW_RANKS;
    struct scene_hit *list =
        scene_hit(&f->scene, (struct box){0, 0, 100, 100}, HIT_LIST, LIST_RANKS, 0);
    list->y0 = 0;
    list->y1 = 4;
    list->x1 = 64;
    for (uint32_t i = 0; i < 64; i++) {
        struct scene_hit *row =
            scene_hit(&f->scene, (struct box){0, i * 25.0, 100, 25}, HIT_RANK, 63 - i, 0);
        row->list = LIST_RANKS + 1;
        row->row = i;
    }
    press_key(f, KEY_DOWN);
    ui_settle(&f->ui, f->model, &f->scene);
    assert_true(ui_rank_selected(&f->ui, 63));
    for (int i = 0; i < 6; i++) {
        press_key(f, KEY_DOWN);
        ui_settle(&f->ui, f->model, &f->scene);
    }
    assert_true(ui_rank_selected(&f->ui, 57));
    assert_true(f->ui.list.scroll[LIST_RANKS] == 3);
    press_key(f, KEY_PAGE_DOWN);
    press_key(f, KEY_PAGE_DOWN);
    press_key(f, KEY_PAGE_DOWN);
    ui_settle(&f->ui, f->model, &f->scene);
    assert_true(ui_rank_selected(&f->ui, 0));
    assert_true(f->ui.list.scroll[LIST_RANKS] == 60);
}

static void a_job_is_chosen_with_mouse_or_enter(void **state)
{
    struct fixture *f = *state;
    scene_hit(&f->scene, (struct box){0, 0, 10, 10}, HIT_JOB, 0, 0);
    f->ui.view = VIEW_JOBS;
    mouse(f, INPUT_PRESS, 5, 5);
    assert_true(mouse(f, INPUT_RELEASE, 5, 5) & UI_JOB);
    assert_string_equal(f->ui.wanted_job, "48213.0");
    assert_int_equal(f->ui.view, VIEW_OVERVIEW);
    f->ui.view = VIEW_JOBS;
    f->ui.list.cursor[LIST_JOBS] = 7; /* no such row */
    assert_false(press_key(f, KEY_ENTER) & UI_JOB);
    f->ui.list.cursor[LIST_JOBS] = 0;
    assert_true(press_key(f, KEY_ENTER) & UI_JOB);
}

static void new_data_glides_in_and_is_there_after_150_ms(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end, before = newest(f);
    assert_false(ui_follow_data(&f->ui, f->model, 1000));
    synthetic_window(&f->job, into, f->model);
    assert_true(ui_follow_data(&f->ui, f->model, 1000));
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, before);
    assert_true(ui_tick(&f->ui, 1060));
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_true(end > before && end < newest(f));
    assert_true(ui_tick(&f->ui, 1150));
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end, newest(f));
    assert_false(ui_tick(&f->ui, 1151));
}

static void a_short_job_fills_the_strip(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct ui ui;
    int64_t begin, end;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    synthetic_init(&job, 8, 4, 6, 1);
    synthetic_begin(&job, into, m);
    ui_init(&ui, 800, 600, 1, THEME_DARK);
    ui_visible(&ui, m, &begin, &end);
    assert_int_equal(begin, 0);
    assert_int_equal(end, 0);
    for (int i = 0; i < 30; i++)
        synthetic_window(&job, into, m);
    ui_visible(&ui, m, &begin, &end);
    assert_int_equal(end - begin, 30 * second);
    synthetic_finish(&job);
    ui_finish(&ui);
    model_destroy(m);
}

static void an_argument_that_does_not_exist_leaves_a_choice_as_it_is(void **state)
{
    struct fixture *f = *state;
    f->ui.network.metric = METRIC_LOAD;
    assert_int_equal(ui_command(&f->ui, f->model, COMMAND_METRIC, METRICS), 0);
    assert_int_equal(f->ui.network.metric, METRIC_LOAD);
    assert_int_equal(ui_command(&f->ui, f->model, COMMAND_TORUS_FIGURE, UINT64_MAX), 0);
    assert_int_equal(f->ui.torus.figure_chosen, 0);
    assert_int_equal(ui_command_next(&f->ui, f->model, COMMAND_METRIC), UI_CHANGED);
    assert_int_equal(f->ui.network.metric, (METRIC_LOAD + 1) % METRICS);
}

/* As where the job that ended last was shown until the next one began. */
static void choices_do_not_survive_the_job(void **state)
{
    struct fixture *f = *state;
    uint64_t first, last;
    assert_int_equal(ui_notice_job(&f->ui, f->model), 0);
    ui_pan_time(&f->ui, f->model, -20 * second);
    ui_select(&f->ui, (struct selection){SELECT_RANK, 5, 0});
    f->ui.alert_picked = 1;
    assert_int_equal(ui_notice_job(&f->ui, f->model), 0);
    assert_int_equal(f->ui.selection.kind, SELECT_RANK);
    struct wire_message next = {.type = WIRE_TYPE_TOTALS};
    next.totals = (struct wire_totals){
        .job = "next", .window = SYNTHETIC_FIRST + 1000, .length_ns = SYNTHETIC_SECOND};
    into(f->model, &next, 0);
    assert_false(ui_windows(&f->ui, f->model, &first, &last)); /* the time of the job before */
    assert_int_equal(ui_notice_job(&f->ui, f->model), 1);
    assert_true(ui_windows(&f->ui, f->model, &first, &last));
    assert_int_equal(last, SYNTHETIC_FIRST + 1000);
    assert_int_equal(f->ui.selection.kind, SELECT_NONE);
    assert_int_equal(f->ui.alert_picked, 0);
    assert_int_equal(ui_notice_job(&f->ui, f->model), 0);
}

static void a_span_that_was_held_does_not_survive_the_job(void **state)
{
    struct fixture *f = *state;
    int64_t begin, end;
    ui_notice_job(&f->ui, f->model);
    f->ui.view = VIEW_COMMGRAM; /* a phase of three milliseconds is opened */
    ui_open(&f->ui, f->model, newest(f) - 90000000, newest(f) - 87000000, NULL);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_true(end - begin < second / 100);
    for (uint64_t window = 0; window < 100; window++) {
        struct wire_message next = {.type = WIRE_TYPE_TOTALS};
        next.totals = (struct wire_totals){.job = "next",
                                           .window = SYNTHETIC_FIRST + 1000 + window,
                                           .length_ns = SYNTHETIC_SECOND};
        into(f->model, &next, 0);
    }
    assert_int_equal(ui_notice_job(&f->ui, f->model), 1);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end - begin, 60 * second);
    /* how much of the newest time is seen is a choice of the user for any job */
    ui_zoom_time(&f->ui, f->model, 0.5, end);
    strcpy(f->ui.job, "before");
    assert_int_equal(ui_notice_job(&f->ui, f->model), 1);
    ui_visible(&f->ui, f->model, &begin, &end);
    assert_int_equal(end - begin, 30 * second);
}

/* Numbers of links, groups, code regions and rows are those of one job. */
static void what_is_named_by_number_does_not_survive_the_job(void **state)
{
    struct fixture *f = *state;
    struct ui *ui = &f->ui;
    double column, row, extent;
    ui_notice_job(ui, f->model);
    ui_command(ui, f->model, COMMAND_LANDSCAPE_BY, RANK_CALLS_REGION);
    ui_command(ui, f->model, COMMAND_LANDSCAPE_EVENT, 1); /* "halo exchange" */
    assert_int_equal(flow_filter_pick(&ui->network.filter, FLOW_LINKS, &(uint64_t){5}, 1), 0);
    ui_command(ui, f->model, COMMAND_LINKS_UNFOLD, 6);
    ui_command(ui, f->model, COMMAND_NET_LEVEL, 1);
    ui_command(ui, f->model, COMMAND_NET_OPEN, 2);
    ui_command(ui, f->model, COMMAND_LANDSCAPE_LEVEL, UINT64_C(3000) << 32 | 4000);
    ui_zoom_matrix(ui, f->model, 0.25, 40, 40);
    ui->list.scroll[LIST_RANKS] = 30;
    ui->list.cursor[LIST_RANKS] = 35;
    struct wire_message next = {.type = WIRE_TYPE_JOB};
    next.job = (struct wire_job){.job = "next", .state = "running", .world = 64};
    into(f->model, &next, 0);
    assert_int_equal(ui_notice_job(ui, f->model), 1);
    assert_int_equal(ui->landscape.events[0].id, 0);
    assert_int_equal(ui->landscape.by, RANK_CALLS_REGION);
    assert_true(landscape_passes(&ui->landscape, 0));
    assert_false(flow_filter_active(&ui->network.filter));
    assert_int_equal(ui->network.unfolded, 0);
    assert_int_equal(ui->graph.open_count, 0);
    assert_false(ui->graph.chosen);
    ui_matrix(ui, f->model, &column, &row, &extent);
    assert_true(column == 0 && row == 0 && extent == 64);
    assert_true(ui->list.scroll[LIST_RANKS] == 0 && ui->list.cursor[LIST_RANKS] == 0);
}

/* The numbers of functions are those of MPI. */
static void a_function_chosen_among_metrics_is_that_of_the_next_job_too(void **state)
{
    struct fixture *f = *state;
    ui_notice_job(&f->ui, f->model);
    ui_command(&f->ui, f->model, COMMAND_LANDSCAPE_EVENT, 7);
    struct wire_message next = {.type = WIRE_TYPE_JOB};
    next.job = (struct wire_job){.job = "next", .state = "running", .world = 64};
    into(f->model, &next, 0);
    assert_int_equal(ui_notice_job(&f->ui, f->model), 1);
    assert_int_equal(f->ui.landscape.events[0].id, 8);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(following_keeps_the_newest_data_at_the_edge),
        T(space_holds_the_span_until_space_again),
        T(moving_back_stops_at_the_begin_of_the_job),
        T(zooming_keeps_the_moment_under_the_mouse),
        T(dragging_moves_time_with_the_mouse),
        T(dragging_with_shift_marks_the_time_that_becomes_visible),
        T(one_selection_holds_in_all_views_and_backspace_leads_back),
        T(letters_choose_colours_time_and_drawer),
        T(an_alert_selects_what_it_is_about),
        T(escape_closes_what_lies_on_top_first),
        T(escape_closes_the_menu_of_the_topology_before_it_clears_the_selection),
        T(search_finds_ranks_nodes_calls_and_alerts),
        T(a_title_that_begins_with_the_number_of_its_alert_is_found),
        T(every_place_with_data_is_reached_by_keys),
        T(tab_moves_the_focus_and_enter_presses),
        T(an_address_opens_what_it_was_made_of),
        T(selections_are_named_as_they_are_found),
        T(going_back_restores_the_time_that_an_alert_moved),
        T(an_alert_marks_its_culprit),
        T(letters_typed_into_the_search_are_no_commands),
        T(the_matrix_zooms_around_a_cell_and_stays_in_the_job),
        T(what_the_keys_zoom_one_key_shows_as_a_whole),
        T(lists_are_walked_with_the_keys),
        T(a_job_is_chosen_with_mouse_or_enter),
        T(choices_do_not_survive_the_job),
        T(a_span_that_was_held_does_not_survive_the_job),
        T(what_is_named_by_number_does_not_survive_the_job),
        T(a_function_chosen_among_metrics_is_that_of_the_next_job_too),
        T(new_data_glides_in_and_is_there_after_150_ms),
        cmocka_unit_test(a_short_job_fills_the_strip),
        T(an_argument_that_does_not_exist_leaves_a_choice_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
