/* View "links" as text, and what the mouse and the keys do there. */
#include "viewer/layout/format.h"
#include "viewer/layout/scene_table.h"
#include "viewer/places/absence.h"
#include "viewer/ui/ui_input.h"
#include "viewer/ui/ui_question.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"
#include "viewer/views/regions/rank_graph.h"

#include "holter/error.h"
#include "tests/viewer/by_groups.h"
#include "tests/viewer/network_bed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct network_bed *b = calloc(1, sizeof *b);
    network_bed_open(b, VIEW_LINKS,
                     &(struct network_job){"torus:8,4,4/capacity=2e8", NULL, 2, 30, 1});
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    network_bed_close(*state);
    free(*state);
    return 0;
}

static void lay_out(struct network_bed *b)
{
    desk_layout(&b->desk, b->model);
}

static int press_key(struct network_bed *b, int key)
{
    return network_bed_input(b, (struct input){.kind = INPUT_KEY, .key = key});
}

static int drag(struct network_bed *b, double x0, double y0, double x1, double y1)
{
    network_bed_input(b, (struct input){.kind = INPUT_PRESS, .x = x0, .y = y0, .clicks = 1});
    if (hypot(x1 - x0, y1 - y0) > 0)
        network_bed_input(b, (struct input){.kind = INPUT_MOVE, .x = x1, .y = y1});
    return network_bed_input(b,
                             (struct input){.kind = INPUT_RELEASE, .x = x1, .y = y1, .clicks = 1});
}

static const struct scene_hit *hit_of(const struct scene *s, enum hit_kind kind, uint64_t a)
{
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == kind && s->hits[i].a == a)
            return &s->hits[i];
    fail_msg("no hit of kind %d for %llu", (int)kind, (unsigned long long)a);
    return NULL;
}

static int click(struct network_bed *b, enum hit_kind kind, uint64_t a)
{
    struct box box = hit_of(&b->desk.scene, kind, a)->box;
    double x = box.x + box.w / 2, y = box.y + box.h / 2;
    return drag(b, x, y, x, y);
}

static int button(struct network_bed *b, enum ui_command command, uint64_t argument)
{
    struct box box = network_bed_button(b, command, argument)->box;
    double x = box.x + box.w / 2, y = box.y + box.h / 2;
    return drag(b, x, y, x, y);
}

#define SEEN(text) assert_non_null(find_text(&b->desk.scene, text))
#define NOT_SEEN(text) assert_null(find_text(&b->desk.scene, text))

/* ---- ranking -----------------------------------------------------------------------------------
 */

static void hot_links_are_described_in_words(void **state)
{
    struct network_bed *b = *state;
    SEEN("Hot links");
    SEEN("(0,0,0) \xe2\x86\x92 (1,0,0)");
    SEEN("congested for 29");
    SEEN("s, B+"); /* dimension and direction of one whose routes are not known */
    SEEN("of capacity");
    SEEN("2.4x"); /* latency */
    SEEN("1.4x"); /* measured by modelled */
    SEEN("busy in the newest window");
    SEEN("whole time: A and C carry most"); /* what the sentence is about */
    assert_int_equal(b->desk.pictures.links != NULL, 1);
    const struct scene_hit *first = hit_of(&b->desk.scene, HIT_LINK, b->net.links[0].link);
    assert_int_equal(first->row, 0);
    assert_int_equal(hit_of(&b->desk.scene, HIT_LINK, b->net.links[5].link)->row, 5);
}

static void the_what_if_ranks_links_although_their_list_was_never_open(void **state)
{
    (void)state;
    struct network_bed b = {0};
    network_bed_open(&b, VIEW_WHAT_IF,
                     &(struct network_job){"torus:8,4,4/capacity=2e8", NULL, 2, 30, 1});
    assert_null(find_text(&b.desk.scene, "Nothing to rank"));
    assert_non_null(find_text(&b.desk.scene, "Largest first"));
    network_bed_close(&b);
}

static void the_ranking_follows_the_newest_window(void **state)
{
    struct network_bed *b = *state;
    struct wire_link_row row = b->net.links[7];
    row.bytes *= 50;
    row.state = LINK_HOT;
    struct wire_message m = {.type = WIRE_TYPE_LINKS};
    m.links = (struct wire_links){.job = "48213.0",
                                  .window = b->net.job.window,
                                  .links = &row,
                                  .links_count = 1,
                                  .left_out = 12345,
                                  .hot = 1};
    desk_apply(b->model, &m, 0);
    lay_out(b);
    assert_int_equal(hit_of(&b->desk.scene, HIT_LINK, row.link)->row, 0);
    SEEN("and 12,345 links with less load");
    SEEN("0 congested, 1 hot");
}

static void the_overview_of_a_job_without_an_alert_names_a_congested_link(void **state)
{
    struct network_bed *b = *state;
    struct wire_link_row rows[2] = {b->net.links[7], b->net.links[8]};
    struct wire_message m = {.type = WIRE_TYPE_LINKS};
    char expected[200], name[100];
    rows[0].state = rows[1].state = LINK_CONGESTED;
    b->desk.ui.view = VIEW_OVERVIEW;
    for (uint64_t count = 0; count <= 2; count++) {
        m.links = (struct wire_links){.job = "48213.0",
                                      .window = b->net.job.window,
                                      .links = rows,
                                      .links_count = count,
                                      .congested = count};
        snprintf(expected, sizeof expected,
                 count == 0   ? "no alert so far"
                 : count == 1 ? "no alert so far; link %s is congested"
                              : "no alert so far; 2 links are congested",
                 network_link_name(&b->model->network, (uint32_t)rows[0].link, name, sizeof name));
        desk_apply(b->model, &m, 0);
        lay_out(b);
        SEEN(expected);
        assert_int_equal(find_text(&b->desk.scene, "congested") != NULL, count > 0);
    }
}

static void held_time_has_its_own_ranking(void **state)
{
    struct network_bed *b = *state;
    network_bed_type(b, " ");
    assert_false(b->desk.ui.time.follow);
    SEEN("loaded, ");
    NOT_SEEN("newest window");
    const struct scene_hit *first =
        hit_of(&b->desk.scene, HIT_LINK, b->desk.range.flows.largest_link);
    assert_int_equal(first->row, 0);
}

static void the_state_of_a_link_says_of_which_time_it_is(void **state)
{
    struct network_bed *b = *state;
    b->desk.ui.selection = (struct selection){SELECT_LINK, b->net.links[7].link, 0};
    lay_out(b);
    NOT_SEEN("hot at ");
    /* the job has ended: nothing is busy or idle now */
    strcpy(b->model->state, "ended");
    lay_out(b);
    SEEN("hot at the end");
    SEEN("busy in the last window");
    NOT_SEEN("newest window");
    /* a past span: the state at its end */
    network_bed_type(b, " ");
    ui_pan_time(&b->desk.ui, b->model, -5ll * 1000000000);
    lay_out(b);
    assert_false(b->desk.ui.time.follow);
    NOT_SEEN("at the end");
    int64_t begin, end;
    ui_visible(&b->desk.ui, b->model, &begin, &end);
    char text[80];
    snprintf(text, sizeof text, "hot at %s", format_clock(end, 0).text);
    SEEN(text);
}

/* What a viewer that comes later receives of links in a window before. */
static void apply_as_before(void *model, const struct wire_message *message, int snapshot)
{
    static struct wire_link_row rows[4096];
    struct wire_message copy = *message;
    if (message->type == WIRE_TYPE_LINKS) {
        const struct wire_links *links = &message->links;
        assert_true(links->links_count <= sizeof rows / sizeof *rows);
        for (uint64_t i = 0; i < links->links_count; i++)
            rows[i] = (struct wire_link_row){.link = links->links[i].link,
                                             .from = links->links[i].from,
                                             .to = links->links[i].to,
                                             .measured = links->links[i].measured,
                                             .share = NAN,
                                             .latency = NAN,
                                             .ratio = NAN};
        copy.links = (struct wire_links){.job = links->job,
                                         .window = links->window,
                                         .links = rows,
                                         .links_count = links->links_count};
    }
    desk_apply(model, &copy, snapshot);
}

static void the_state_of_a_link_is_not_known_of_the_time_before_the_viewer_came(void **state)
{
    (void)state;
    struct network_bed bed, *b = &bed;
    network_bed_begin(b, &(struct network_job){"torus:4,4,4/capacity=2e8", NULL, 2, 0, 1});
    for (int i = 0; i < 40; i++)
        synthetic_network_window(&b->net, i < 20 ? apply_as_before : desk_apply, b->model);
    desk_open(&b->desk, 1600, 900, 1, THEME_DARK, VIEW_LINKS);
    b->desk.ui.selection = (struct selection){SELECT_LINK, b->net.links[0].link, 0};
    lay_out(b);
    const struct scene *s = &b->desk.scene;
    uint32_t curves = 0;
    for (size_t i = 0; i < s->item_count; i++) /* of its load: 20 windows, none before */
        if (s->items[i].kind == SCENE_CURVE && s->items[i].width == 1.4) {
            assert_true(s->items[i].count <= 20);
            curves += s->items[i].count == 20;
        }
    assert_true(curves > 0);
    network_bed_type(b, " ");
    ui_pan_time(&b->desk.ui, b->model, -5ll * 1000000000);
    lay_out(b);
    SEEN(" at ");
    NOT_SEEN("not known at that time");
    b->desk.ui.time.span_ns = 5ll * 1000000000;
    ui_pan_time(&b->desk.ui, b->model, -25ll * 1000000000);
    lay_out(b);
    SEEN("not known at that time");
    NOT_SEEN("idle at ");
    network_bed_close(b);
}

/* Box of the panel with a name. The test fails where there is none. */
static struct box panel_of(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->panel_count; i++)
        if (!strcmp(s->panels[i].name, name))
            return s->panels[i].box;
    fail_msg("no panel %s", name);
    return (struct box){0};
}

static void suggestions_follow_a_list_that_does_not_change(void **state)
{
    struct network_bed *b = *state;
    struct wire_link_row row = b->net.links[7];
    struct wire_message m = {.type = WIRE_TYPE_LINKS};
    m.links = (struct wire_links){
        .job = "48213.0", .window = b->net.job.window, .links = &row, .links_count = 1, .busy = 1};
    desk_apply(b->model, &m, 0);
    lay_out(b);
    struct box list = panel_of(&b->desk.scene, "links"),
               better = panel_of(&b->desk.scene, "better");
    assert_true(better.y > list.y + list.h + 100);
    strcpy(b->model->state, "ended");
    lay_out(b);
    list = panel_of(&b->desk.scene, "links");
    better = panel_of(&b->desk.scene, "better");
    assert_true(better.y <= list.y + list.h + 12);
}

static void routes_of_a_link_are_shown_as_far_as_there_is_room(void **state)
{
    struct network_bed *b = *state;
    uint32_t whole = 0;
    desk_close(&b->desk);
    desk_open(&b->desk, 2560, 1440, 1, THEME_DARK, VIEW_LINKS);
    lay_out(b);
    for (size_t i = 0; i < b->desk.scene.item_count; i++) {
        const struct scene_item *item = &b->desk.scene.items[i];
        const char *text = scene_text_of(&b->desk.scene, item);
        if (!strstr(text, " for ") || !strstr(text, ": "))
            continue;
        assert_int_equal(item->whole_count, 0);
        whole += strstr(text, " \xe2\x86\x92 ") != NULL;
    }
    assert_true(whole > 0);
    desk_close(&b->desk);
    desk_open(&b->desk, 1100, 700, 1, THEME_DARK, VIEW_LINKS);
    lay_out(b);
    SEEN("congested for ");
    for (size_t i = 0; i < b->desk.scene.item_count; i++)
        if (strstr(scene_text_of(&b->desk.scene, &b->desk.scene.items[i]), "congested for "))
            assert_int_equal(b->desk.scene.items[i].whole_count, 0);
}

static void messages_without_sizes_are_not_shown_as_bytes(void **state)
{
    struct network_bed *b = *state;
    struct model *m = b->model;
    lay_out(b);
    NOT_SEEN("1 B is one message");
    for (uint64_t k = 0; k < m->series.count; k++) {
        struct window_totals *w =
            (struct window_totals *)series_at(&m->series, m->series.first + k);
        memset(w->class_ns, 0, sizeof w->class_ns);
        w->sent_bytes = w->sent;
    }
    lay_out(b);
    SEEN("1 B is one message");
    ui_go(&b->desk.ui, VIEW_WHAT_IF);
    lay_out(b);
    SEEN("drag to filter; 1 B is one message");
    ui_go(&b->desk.ui, VIEW_OVERVIEW);
    lay_out(b);
    NOT_SEEN("bytes sent");
    SEEN("messages sent");
    ui_go(&b->desk.ui, VIEW_LIVE);
    lay_out(b);
    NOT_SEEN("Bytes");
    ui_go(&b->desk.ui, VIEW_MATRIX);
    lay_out(b);
    NOT_SEEN("bytes");
    ui_go(&b->desk.ui, VIEW_PAIRS);
    lay_out(b);
    NOT_SEEN("bytes");
    NOT_SEEN("per message");
    NOT_SEEN("1\xc2\xa0"
             "B");
    ui_go(&b->desk.ui, VIEW_RANKS);
    lay_out(b);
    NOT_SEEN("bytes sent");
    NOT_SEEN("calls");
    SEEN("sent");
}

static void messages_without_times_are_not_called_unmatched(void **state)
{
    struct network_bed *b = *state;
    struct model *m = b->model;
    m->matched = 0;
    m->unmatched = 12;
    lay_out(b);
    SEEN("matched none");
    for (uint64_t k = 0; k < m->series.count; k++) {
        struct window_totals *w =
            (struct window_totals *)series_at(&m->series, m->series.first + k);
        memset(w->class_ns, 0, sizeof w->class_ns);
    }
    lay_out(b);
    NOT_SEEN("matched");
}

static void a_click_selects_the_link_with_its_ranks_everywhere(void **state)
{
    struct network_bed *b = *state;
    uint64_t link = b->net.links[0].link;
    uint32_t count;
    click(b, HIT_LINK, link);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    assert_int_equal(b->desk.ui.selection.a, link);
    const struct wire_link_route_row *r = network_routes_of(&b->model->network, link, &count);
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++)
        assert_true(ui_marks_rank(&b->desk.ui, b->model, (uint32_t)r[i].source) &&
                    ui_marks_rank(&b->desk.ui, b->model, (uint32_t)r[i].destination));
    SEEN("largest routes in the newest window");
    SEEN("clear");
    click(b, HIT_PAIR, r[0].source); /* the first of them, in the card */
    assert_int_equal(b->desk.ui.selection.kind, SELECT_PAIR);
    press_key(b, KEY_BACKSPACE);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    press_key(b, KEY_ESCAPE);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_NONE);
}

static void keys_walk_the_list(void **state)
{
    struct network_bed *b = *state;
    press_key(b, KEY_DOWN);
    assert_int_equal(b->desk.ui.selection.a, b->net.links[0].link);
    press_key(b, KEY_DOWN);
    press_key(b, KEY_DOWN);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    assert_int_equal(b->desk.ui.selection.a, b->net.links[2].link);
}

static void rows_of_several_links_are_copied_with_the_others(void **state)
{
    struct network_bed *b = *state;
    struct scene_table table = {0};
    network_bed_type(b, "w"); /* since the start */
    lay_out(b);
    const struct links_drawing *d = b->desk.pictures.links;
    const struct scene_hit *area = ui_list_area(&b->desk.scene, LIST_LINKS);
    assert_non_null(area);
    const size_t shown = (size_t)fmin(floor(area->y1 - area->y0), d->row_count);
    assert_int_equal(scene_table_add_list(&table, &b->desk.scene, area), shown);
    char *text = scene_table_print(&table, TABLE_TEXT);
    assert_non_null(strstr(text, "links like this"));
    free(text);
    scene_table_finish(&table);
}

static void keys_walk_past_a_row_of_several_links(void **state)
{
    struct network_bed *b = *state;
    network_bed_type(b, "w"); /* since the start */
    lay_out(b);
    const struct links_drawing *d = b->desk.pictures.links;
    uint32_t run = 0;
    while (run < d->row_count && d->rows[run].count == 1)
        run++;
    assert_true(run < d->row_count);
    b->desk.ui.list.scroll[LIST_LINKS] = run; /* the first one in sight */
    ui_command(&b->desk.ui, b->model, COMMAND_LINKS_UNFOLD, d->order[d->rows[run].at] + 1);
    lay_out(b);
    press_key(b, KEY_DOWN);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_NONE);
    press_key(b, KEY_DOWN);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    assert_int_equal(b->desk.ui.selection.a, d->order[d->rows[run + 1].at]);
}

static void columns_sort_it(void **state)
{
    struct network_bed *b = *state;
    const struct scene *s = &b->desk.scene;
    const struct scene_hit *sort = NULL;
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == HIT_SORT && s->hits[i].a == LIST_LINKS)
            sort = &s->hits[i]; /* the last: measured */
    assert_non_null(sort);
    double x = sort->box.x + sort->box.w / 2, y = sort->box.y + sort->box.h / 2;
    drag(b, x, y, x, y);
    assert_int_equal(hit_of(s, HIT_LINK, b->net.hot)->row, 0);
    drag(b, x, y, x, y);
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == HIT_LINK && s->hits[i].list == LIST_LINKS + 1 && !s->hits[i].row)
            assert_int_not_equal(s->hits[i].a, b->net.hot);
}

/* As counters of others are imported: no messages at all. */
static void without_messages_counters_are_ranked(void **state)
{
    struct network_bed bed = {0}, *b = &bed;
    (void)state;
    network_bed_begin(b, &(struct network_job){"torus:4,4,2", NULL, 1, 0, 1});
    synthetic_network_read(&b->net, "", 1);
    for (uint64_t w = 0; w < 10; w++) {
        struct wire_link_row rows[40] = {0};
        for (uint64_t i = 0; i < 40; i++)
            rows[i] = (struct wire_link_row){.link = i,
                                             .share = NAN,
                                             .latency = NAN,
                                             .ratio = NAN,
                                             .unit = 1,
                                             .measured = w == 9 ? 0 : i * 1000};
        uint64_t window = b->net.job.window;
        synthetic_window(&b->net.job, desk_apply, b->model);
        struct wire_message m = {.type = WIRE_TYPE_LINKS};
        m.links = (struct wire_links){
            .job = "48213.0", .window = window, .links = rows, .links_count = 40};
        desk_apply(b->model, &m, 0);
    }
    desk_open(&b->desk, 1600, 900, 1, THEME_DARK, VIEW_LINKS);
    lay_out(b);
    SEEN("no messages known: as interfaces counted");
    NOT_SEEN("collectives");
    SEEN("351"); /* packets of link 39 in nine windows */
    b->model->network.links[39].measured = 39000;
    ui_select(&b->desk.ui, (struct selection){SELECT_LINK, 39, 0});
    lay_out(b);
    SEEN("39.0\xc2\xa0kpackets");
    NOT_SEEN("the model"); /* there is none of packets */
    SEEN("351\xc2\xa0kpackets");
    NOT_SEEN("\xe2\x80\x93 the mean"); /* of loads that messages caused: there is none */
    press_key(b, KEY_ESCAPE);
    lay_out(b);
    SEEN("packets counted");
    NOT_SEEN("latency"); /* a column without a figure would only narrow the names */
    NOT_SEEN("measured");
    assert_int_equal(hit_of(&b->desk.scene, HIT_LINK, 39)->row, 0);
    assert_int_equal(hit_of(&b->desk.scene, HIT_LINK, 36)->row, 3);
    desk_check(&b->desk, "counters");
    NOT_SEEN("Largest first"); /* nor is there anything to suggest */
    NOT_SEEN("Suggest mapping");
    assert_null(place_absence(b->model, VIEW_TORUS));
    assert_non_null(place_absence(b->model, VIEW_NETWORK));
    assert_non_null(place_absence(b->model, VIEW_WHAT_IF));
    b->desk.ui.view = VIEW_OVERVIEW; /* shows them in place of figures of messages */
    lay_out(b);
    SEEN("no messages known: as interfaces counted");
    NOT_SEEN("Who sends to whom");
    b->desk.ui.view = VIEW_LINKS;
    for (uint32_t i = 0; i < b->model->network.link_count; i++)
        b->model->network.links[i].collective_bytes = 7890000;
    b->model->network.links_version++;
    lay_out(b);
    SEEN("no messages but those inside collectives: as interfaces counted");
    SEEN("7.52");
    NOT_SEEN("0.5x");
    const struct scene_hit *sort = NULL;
    for (size_t i = 0; i < b->desk.scene.hit_count; i++)
        if (b->desk.scene.hits[i].kind == HIT_SORT)
            sort = &b->desk.scene.hits[i]; /* the last: collectives */
    assert_non_null(sort);
    double x = sort->box.x + sort->box.w / 2, y = sort->box.y + sort->box.h / 2;
    drag(b, x, y, x, y);
    assert_int_equal(hit_of(&b->desk.scene, HIT_LINK, 10)->row, 10);
    SEEN("0.5x"); /* link 10 of the mean load, by whatever the list is ordered */
    const struct wire_pair_row own = {.source = 3, .destination = 3, .messages = 2, .bytes = 9};
    struct wire_message m = {.type = WIRE_TYPE_PAIR_WINDOW};
    m.pair_window = (struct wire_pair_window){.job = "48213.0",
                                              .window = b->net.job.window - 1,
                                              .windows = 1,
                                              .pairs = &own,
                                              .pairs_count = 1};
    desk_apply(b->model, &m, 0);
    lay_out(b);
    SEEN("all messages stayed within nodes: as interfaces counted");
    SEEN("All messages stayed within nodes.");
    NOT_SEEN("only counters");
    desk_close(&b->desk);
    synthetic_network_finish(&b->net);
    model_destroy(b->model);
}

/* ---- figures by rank ---------------------------------------------------------------------------
 */

static void a_brush_along_the_values_filters_all_views(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    struct box plot = hit_of(&b->desk.scene, HIT_METRIC, METRIC_LOAD)->box;
    double middle = plot.x + plot.w / 2;
    drag(b, middle, plot.y + 20, plot.x + plot.w - 1, plot.y + 26);
    assert_true(b->desk.ui.network.filter.ranged);
    assert_float_equal(b->desk.ui.network.filter.low, f->maximum[METRIC_LOAD] / 2,
                       f->maximum[METRIC_LOAD] / 50);
    assert_in_range(f->shown_routes, 1, f->route_count - 1);
    SEEN("only link load");
    for (uint32_t i = 0; i < b->net.link_count; i++)
        assert_true((f->link_marks[b->net.links[i].link] & FLOW_SHOWN) ||
                    (double)f->loads[b->net.links[i].link] < b->desk.ui.network.filter.low);
    press_key(b, KEY_ESCAPE);
    assert_false(flow_filter_active(&b->desk.ui.network.filter));
    assert_int_equal(f->shown_routes, f->route_count);
    NOT_SEEN("only link load");
}

static void a_brush_along_the_ranks_keeps_the_first_of_them(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    button(b, COMMAND_METRIC, METRIC_HOP_BYTES);
    const struct scene_hit *hit = hit_of(&b->desk.scene, HIT_METRIC, METRIC_HOP_BYTES);
    struct box plot = hit->box;
    assert_float_equal(hit->y1, f->ranked_count, 0.5);
    drag(b, plot.x + 9, plot.y + 0.2, plot.x + 10, plot.y + plot.h / 4);
    assert_int_equal(b->desk.ui.network.filter.metric, METRIC_HOP_BYTES);
    uint32_t kept = flows_above(f, b->desk.ui.network.filter.low);
    assert_true(kept >= f->ranked_count / 4 && kept < f->ranked_count);
    assert_int_equal(f->shown_routes, kept);
    button(b, COMMAND_FILTER_CLEAR, 0);
    assert_int_equal(f->shown_routes, f->route_count);
}

static void a_click_selects_what_has_that_rank(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    for (int metric = 0; metric < METRICS; metric++) {
        button(b, COMMAND_METRIC, (uint64_t)metric);
        struct box plot = hit_of(&b->desk.scene, HIT_METRIC, (uint64_t)metric)->box;
        drag(b, plot.x + 3, plot.y + 0.3, plot.x + 3, plot.y + 0.3);
        enum flow_kind kind = flows_kind((enum flow_metric)metric);
        const struct selection *sel = &b->desk.ui.selection;
        if (kind == FLOW_ROUTES) {
            assert_int_equal(sel->kind, SELECT_ROUTE);
            assert_int_equal(sel->a, f->routes[f->ranked[0]].source);
            assert_int_equal(f->selected_routes, 1);
        } else {
            assert_int_equal(sel->kind, kind == FLOW_LINKS ? SELECT_LINK : SELECT_VERTEX);
            assert_int_equal(sel->a, f->ranked[0]);
        }
    }
}

static void keys_choose_figure_scale_and_range(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    assert_int_equal(b->desk.ui.network.metric, METRIC_LOAD);
    network_bed_type(b, "[");
    uint32_t half = flows_above(f, b->desk.ui.network.filter.low);
    assert_in_range(half, f->ranked_count / 2, f->ranked_count - 1);
    network_bed_type(b, "[");
    assert_true(flows_above(f, b->desk.ui.network.filter.low) <= half);
    for (int i = 0; i < 12; i++)
        network_bed_type(b, "]");
    assert_false(b->desk.ui.network.filter.ranged);
    network_bed_type(b, "n");
    assert_int_equal(b->desk.ui.network.metric, METRIC_IN);
    network_bed_type(b, "i");
    assert_int_equal(b->desk.ui.network.rank_log, 1);
    const struct scene_hit *hit = hit_of(&b->desk.scene, HIT_METRIC, METRIC_IN);
    assert_float_equal(hit->y1, log10(f->ranked_count + 1), 1e-9);
    desk_check(&b->desk, "logarithm");
}

static void equal_figures_are_a_sentence_in_place_of_bars(void **state)
{
    (void)state;
    struct network_bed b = {0};
    network_bed_open(&b, VIEW_LINKS, &(struct network_job){"torus:2", NULL, 1, 30, 1});
    button(&b, COMMAND_METRIC, METRIC_LENGTH);
    assert_non_null(find_text(&b.desk.scene, "all 2 routes have route length 1"));
    for (size_t i = 0; i < b.desk.scene.hit_count; i++)
        assert_int_not_equal(b.desk.scene.hits[i].kind, HIT_METRIC);
    desk_check(&b.desk, "equal figures");
    network_bed_close(&b);
}

static void the_ends_of_the_colours_can_be_moved(void **state)
{
    struct network_bed *b = *state;
    const struct scene *s = &b->desk.scene;
    struct box low = {0};
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == HIT_HANDLE && !s->hits[i].b)
            low = s->hits[i].box;
    drag(b, low.x + 6, low.y + 5, low.x + 6 + low.w / 2, low.y + 5);
    assert_float_equal(b->desk.ui.network.colour_low[METRIC_LOAD], 0.25, 0.02);
    assert_float_equal(b->desk.ui.network.colour_high[METRIC_LOAD], 1, 0);
    assert_int_equal(b->desk.ui.network.filter.ranged, 0);
    desk_check(&b->desk, "colours");
}

/* ---- a sentence before a list -------------------------------------------------------------------
 */

/* All links up along A carry 200 bytes, those up along B half of it, the others nothing. */
static void a_sentence_says_what_the_loads_are(void **state)
{
    struct network_bed *b = *state;
    const struct topology *t = b->model->network.topology;
    uint64_t *loads = calloc(topology_links(t) + 1u, sizeof *loads);
    struct link_classes classes;
    struct flows flows = {.largest = 200, .largest_link = TOPOLOGY_NONE, .mean = 150};
    char text[400];
    link_classes_sum(&classes, t, loads);
    assert_string_equal(link_classes_text(&classes, &b->model->network, &flows, text, sizeof text),
                        "");
    for (uint32_t l = 0, dimension; l < topology_links(t); l++) {
        int direction;
        if (!topology_link_axis(t, l, &dimension, &direction) || direction || dimension > 1)
            continue;
        loads[l] = dimension ? 100 : 200;
        flows.largest_link = dimension ? flows.largest_link : l;
    }
    link_classes_sum(&classes, t, loads);
    assert_string_equal(
        link_classes_text(&classes, &b->model->network, &flows, text, sizeof text),
        "A carries 2.0x as much as B; A-, B-, C unused; 128 links share the top load of 200\xc2\xa0"
        "B");
    loads[flows.largest_link] = flows.largest = 300;
    link_classes_sum(&classes, t, loads);
    link_classes_text(&classes, &b->model->network, &flows, text, sizeof text);
    assert_non_null(strstr(text, " has the top load of 300"));
    assert_non_null(strstr(text, ", 2.0x the mean"));
    flows.largest = 200;
    for (uint32_t l = 0; l < topology_links(t); l++) {
        loads[l] = loads[l] ? 200 : 0;
        flows.links_used += loads[l] > 0;
    }
    link_classes_sum(&classes, t, loads);
    assert_string_equal(link_classes_text(&classes, &b->model->network, &flows, text, sizeof text),
                        "A-, B-, C unused; all 256 loaded links carry 200\xc2\xa0"
                        "B");
    free(loads);
}

static void a_long_name_loses_its_middle_and_keeps_both_ends(void **state)
{
    struct network_bed *b = *state;
    struct scene *s = &b->desk.scene;
    double w = scene_width(s, TEXT_BODY, 0, "rack-12-host-3");
    scene_text(s, 0, 0, w, TEXT_BODY, TEXT_MIDDLE, 1,
               "rack-12-host-345 \xe2\x86\x92 rack-77-host-999");
    const char *text = scene_text_of(s, &s->items[s->item_count - 1]);
    assert_int_equal(strncmp(text, "rack", 4), 0);
    assert_non_null(strstr(text, "\xe2\x80\xa6"));
    assert_string_equal(text + strlen(text) - 3, "999");
    assert_true(s->items[s->item_count - 1].box.w <= w + 0.01);
    lay_out(b);
}

static void links_with_the_same_figures_are_one_row_until_they_are_listed(void **state)
{
    struct network_bed *b = *state;
    network_bed_type(b, "w"); /* since the start */
    lay_out(b);
    const struct links_drawing *d = b->desk.pictures.links;
    uint32_t listed = 0, run = UINT32_MAX;
    for (uint32_t i = 0; i < d->row_count; i++) {
        listed += d->rows[i].count;
        run = d->rows[i].count > 1 && run == UINT32_MAX ? i : run;
    }
    assert_int_equal(listed, d->count);
    assert_true(run != UINT32_MAX && d->row_count < d->count);
    uint32_t rows = d->row_count, first = d->order[d->rows[run].at], count = d->rows[run].count;
    for (uint32_t i = 1; i < count; i++)
        assert_true((double)b->desk.range.flows.loads[d->order[d->rows[run].at + i]] >=
                    (1 - LINK_ALIKE) * (double)b->desk.range.flows.loads[first]);
    ui_command(&b->desk.ui, b->model, COMMAND_LINKS_UNFOLD, first + 1);
    lay_out(b);
    d = b->desk.pictures.links;
    assert_int_equal(d->row_count, rows + count);
    assert_int_equal(d->rows[run + 1].at, d->rows[run].at);
    ui_command(&b->desk.ui, b->model, COMMAND_LINKS_UNFOLD, 0);
    lay_out(b);
}

/* The question that would be asked now; NULL where another code than 0 is expected. */
static struct ui_question *ask(struct network_bed *b, enum suggestion_kind kind, int code)
{
    char why[200] = "";
    struct ui_question *q = malloc(sizeof *q);
    assert_non_null(q);
    assert_int_equal(ui_question_make(q, &b->desk.ui, b->model, kind, why, sizeof why), code);
    assert_int_equal(why[0] != 0, code != 0);
    if (!code)
        return q;
    ui_question_finish(q);
    free(q);
    return NULL;
}

static void forget(struct ui_question *q)
{
    ui_question_finish(q);
    free(q);
}

/* @return number of routes that are suggested */
static uint32_t suggest_routes(struct network_bed *b)
{
    network_asked(&b->model->network, SUGGEST_ROUTES, "");
    uint32_t count = synthetic_network_routes(&b->net, desk_apply, b->model);
    network_replied(&b->model->network, SUGGEST_ROUTES, 0, NULL);
    lay_out(b);
    return count;
}

/* ---- suggestions -------------------------------------------------------------------------------
 */

static void a_mapping_is_asked_for_shown_and_undone(void **state)
{
    struct network_bed *b = *state;
    struct network *n = &b->model->network;
    button(b, COMMAND_OBJECTIVE, REMAP_MAX_LINK);
    assert_true(button(b, COMMAND_REMAP, 0) & UI_REMAP);
    struct ui_question *q = ask(b, SUGGEST_MAPPING, 0);
    assert_string_equal(q->argument, "objective=max-link time=2");
    forget(q);
    button(b, COMMAND_REMAP_TIME, 0);
    SEEN("for 10 s");
    q = ask(b, SUGGEST_MAPPING, 0);
    assert_string_equal(q->argument, "objective=max-link time=10");
    forget(q);
    network_asked(n, SUGGEST_MAPPING, "max-link");
    strcpy(n->suggestions[SUGGEST_MAPPING].subject, "all ranks");
    synthetic_network_mapping(&b->net, 0.4, desk_apply, b->model);
    lay_out(b);
    SEEN("searching, 40.0\xc2\xa0%; so far:");
    SEEN("-22.0");
    synthetic_network_mapping(&b->net, 1, desk_apply, b->model);
    network_replied(n, SUGGEST_MAPPING, 0, NULL);
    lay_out(b);
    SEEN("-36.6");
    SEEN("for all ranks; at most -46.3");
    SEEN("largest link load");
    uint64_t before = b->desk.range.flows.version;
    button(b, COMMAND_APPLY, SUGGEST_MAPPING);
    SEEN("in all views now");
    SEEN("suggestion 1: mapping");
    SEEN("step 1: mapping for less ");
    SEEN("Largest load ");
    assert_true(b->desk.range.flows.version > before);
    assert_int_equal(b->desk.range.flows.applied, FLOWS_MAPPING);
    button(b, COMMAND_COMPARE, COMPARE_BEFORE);
    SEEN("reality, before suggestion 1: mapping");
    assert_int_equal(b->desk.range.flows.applied, 0);
    button(b, COMMAND_COMPARE, COMPARE_DIFFERENCE);
    SEEN("suggestion 1: mapping, difference from the reality");
    assert_true(b->desk.ui.network.what_if.seats != NULL);
    /* another answer is saved beside its button, what is shown beside the steps */
    assert_true(button(b, COMMAND_SAVE_MAPPING, SAVED_ANSWER) & UI_MAPPING);
    assert_int_equal(b->desk.ui.network.saved, SAVED_ANSWER);
    assert_true(button(b, COMMAND_SAVE_MAPPING, SAVED_STATE) & UI_MAPPING);
    assert_int_equal(b->desk.ui.network.saved, SAVED_STATE);
    /* its key does nothing where the steps are not seen */
    ui_go(&b->desk.ui, VIEW_PAIRS);
    network_bed_type(b, "u");
    assert_int_equal(b->desk.ui.network.what_if.count, 1);
    ui_go(&b->desk.ui, VIEW_LINKS);
    lay_out(b);
    button(b, COMMAND_UNDO_STEP, 0);
    NOT_SEEN("suggestion 1");
    assert_int_equal(b->desk.range.flows.applied, 0);
    assert_true(button(b, COMMAND_SAVE_MAPPING, SAVED_ANSWER) & UI_MAPPING);
    assert_true(button(b, COMMAND_DISCARD, SUGGEST_MAPPING) & UI_DISCARD);
    assert_int_equal(b->desk.ui.network.discarded, SUGGEST_MAPPING);
}

static void only_selected_ranks_move_when_that_is_wanted(void **state)
{
    struct network_bed *b = *state;
    ui_select(&b->desk.ui, (struct selection){SELECT_NODE, 4, 0});
    lay_out(b);
    button(b, COMMAND_ONLY_SELECTED, 1);
    struct ui_question *q = ask(b, SUGGEST_MAPPING, 0);
    assert_string_equal(q->argument, "objective=hop-bytes time=2 ranks=8-9");
    forget(q);
}

static void routes_are_asked_for_what_is_selected(void **state)
{
    struct network_bed *b = *state;
    char expected[64];
    const struct flows *f = &b->desk.range.flows;
    SEEN("For the 100 routes over the most loaded links");
    assert_true(button(b, COMMAND_REROUTE, 0) & UI_REROUTE);
    struct ui_question *q = ask(b, SUGGEST_ROUTES, 0);
    assert_string_equal(q->argument, "first=load delta=0 top=100");
    assert_int_equal(q->request.routes_count, 0);
    forget(q);
    click(b, HIT_LINK, b->net.hot);
    button(b, COMMAND_REROUTE_FIRST, ROUTE_LENGTH);
    button(b, COMMAND_REROUTE_DELTA, 2);
    SEEN("over the selected link");
    q = ask(b, SUGGEST_ROUTES, 0);
    assert_string_equal(q->argument, "first=length delta=2");
    assert_int_equal(q->request.routes_count, f->selected_routes);
    assert_true(f->selected_routes > 0);
    for (uint64_t i = 0; i < q->request.routes_count; i++)
        assert_true(flows_crosses(f, b->model,
                                  flows_find(f, (uint32_t)q->request.routes[i].source,
                                             (uint32_t)q->request.routes[i].destination),
                                  b->net.hot));
    forget(q);
    ui_select(&b->desk.ui, (struct selection){SELECT_PAIR, 0, 2});
    lay_out(b);
    q = ask(b, SUGGEST_ROUTES, 0);
    assert_int_equal(q->request.routes_count, 1);
    assert_int_equal(q->request.routes[0].source, 0);
    assert_int_equal(q->request.routes[0].destination, 1);
    forget(q);
    uint32_t count = suggest_routes(b);
    snprintf(expected, sizeof expected, "%u of %u routes better", count, count);
    SEEN(expected);
    SEEN("on average");
}

static void the_gain_of_one_route_is_one_figure(void **state)
{
    (void)state;
    struct network_reroute routes[] = {
        {.count = 1, .heaviest = 100, .heaviest_after = 75, .length = 3, .length_after = 3},
        {.count = 0, .heaviest = 100, .heaviest_after = 100},
        {.count = 1, .heaviest = 100, .heaviest_after = 25, .length = 3, .length_after = 3}};
    struct suggestion g = {.routes = routes, .route_count = 2};
    char text[160];
    assert_string_equal(piece_route_gains(&g, text, sizeof text), "heaviest link -25.0\xc2\xa0%");
    g.route_count = 3;
    assert_string_equal(piece_route_gains(&g, text, sizeof text),
                        "heaviest link -50.0\xc2\xa0% on average, -75.0\xc2\xa0% at most");
}

/* Visuco, Fig. 10: the routes over the most loaded links are brushed, and rerouted. */
static void a_brush_is_what_is_asked_about(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    flow_filter_range(&b->desk.ui.network.filter, METRIC_LOAD, (double)f->largest * 0.9,
                      (double)f->largest);
    lay_out(b);
    assert_true(f->shown_routes > 0 && f->shown_routes < f->route_count);
    struct ui_question *q = ask(b, SUGGEST_ROUTES, 0);
    assert_int_equal(q->request.routes_count, f->shown_routes);
    assert_non_null(strstr(q->subject, "in sight"));
    for (uint32_t i = 0, at = 0; i < f->route_count; i++) {
        if (!(f->route_marks[i] & FLOW_SHOWN))
            continue;
        assert_int_equal(q->request.routes[at].source, f->routes[i].source);
        assert_int_equal(q->request.routes[at++].destination, f->routes[i].destination);
    }
    forget(q);
    network_bed_type(b, "a"); /* without a what-if it compares nothing */
    lay_out(b);
    assert_int_equal(b->desk.range.flows.applied, 0);
    b->desk.ui.network.compare = COMPARE_AFTER;
    ui_select(&b->desk.ui, (struct selection){SELECT_RANK, 1, 0}); /* sends over none of them */
    lay_out(b);
    ask(b, SUGGEST_ROUTES, -HOLTER_EUSAGE);
    b->desk.ui.network.only_selected = 1;
    ui_select(&b->desk.ui, (struct selection){0});
    lay_out(b);
    q = ask(b, SUGGEST_MAPPING, 0);
    assert_non_null(strstr(q->argument, " ranks="));
    forget(q);
}

/* The brushed routes stay in sight when their load is less. */
static void a_brush_keeps_its_routes_while_they_are_compared(void **state)
{
    struct network_bed *b = *state;
    const struct flows *f = &b->desk.range.flows;
    flow_filter_range(&b->desk.ui.network.filter, METRIC_LOAD, (double)f->largest * 0.9,
                      (double)f->largest);
    lay_out(b);
    uint32_t count = suggest_routes(b);
    button(b, COMMAND_APPLY, SUGGEST_ROUTES);
    assert_int_equal(f->shown_routes, count);
    for (int i = 0; i < 3; i++) /* the difference, both, and before again */
        network_bed_type(b, "a");
    assert_int_equal(b->desk.ui.network.compare, COMPARE_BEFORE);
    assert_int_equal(f->shown_routes, count);
    network_bed_type(b, "u");
    assert_int_equal(b->desk.ui.network.what_if.count, 0);
}

static void loads_of_collectives_are_a_column_when_there_are_some(void **state)
{
    struct network_bed *b = *state;
    lay_out(b);
    assert_null(find_text(&b->desk.scene, "collectives"));
    b->model->network.links[0].collective_bytes = 7890000;
    lay_out(b);
    assert_non_null(find_text(&b->desk.scene, "collectives"));
    assert_non_null(find_text(&b->desk.scene, "7.52"));
    desk_check(&b->desk, "a column of collectives");
}

/* A part of the time is asked about by its windows; the whole time is not limited. */
static void the_visible_time_is_what_is_asked_about(void **state)
{
    struct network_bed *b = *state;
    char expected[64];
    uint64_t first = 0, last = 0;
    struct ui_question *q = ask(b, SUGGEST_MAPPING, 0);
    assert_null(strstr(q->argument, "from="));
    forget(q);
    ui_zoom_time(&b->desk.ui, b->model, 0.02, (int64_t)b->model->start_ns);
    ui_pan_time(&b->desk.ui, b->model, -2ll * 1000000000);
    lay_out(b);
    assert_true(ui_windows(&b->desk.ui, b->model, &first, &last));
    q = ask(b, SUGGEST_ROUTES, 0);
    snprintf(expected, sizeof expected, " from=%llu to=%llu", (unsigned long long)first,
             (unsigned long long)last);
    assert_non_null(strstr(q->argument, expected));
    assert_non_null(strstr(q->subject, "in the visible time"));
    forget(q);
}

/* Latency and counters are known of the reality only: the room is that of the names. */
static void a_comparison_has_no_columns_that_stay_empty(void **state)
{
    struct network_bed *b = *state;
    suggest_routes(b);
    SEEN("measured");
    button(b, COMMAND_APPLY, SUGGEST_ROUTES);
    SEEN("before, after");
    NOT_SEEN("measured");
    button(b, COMMAND_UNDO_STEP, 0);
    SEEN("measured");
}

static void a_narrow_panel_says_what_an_answer_is_in_full(void **state)
{
    struct network_bed *b = *state;
    char expected[64];
    b->desk.ui.w = 1024;
    b->desk.ui.h = 640;
    uint32_t count = suggest_routes(b);
    snprintf(expected, sizeof expected, "%u of %u routes better", count, count);
    const char *text = find_text(&b->desk.scene, expected);
    assert_non_null(text);
    assert_null(strstr(text, "\xe2\x80\xa6"));
    SEEN("largest link load");
    SEEN("hop-bytes.");
}

/* Steps build on each other: what is asked for later names the state that is shown. */
static void routes_are_asked_for_on_the_mapping_that_is_shown(void **state)
{
    struct network_bed *b = *state;
    struct network *n = &b->model->network;
    const struct what_if *w = &b->desk.ui.network.what_if;
    network_asked(n, SUGGEST_MAPPING, "hop-bytes");
    synthetic_network_mapping(&b->net, 1, desk_apply, b->model);
    network_replied(n, SUGGEST_MAPPING, 0, NULL);
    lay_out(b);
    button(b, COMMAND_APPLY, SUGGEST_MAPPING);
    struct ui_question *q = ask(b, SUGGEST_ROUTES, 0);
    assert_int_equal(q->request.seats_count, n->seat_count);
    for (uint64_t i = 0; i < q->request.seats_count; i++)
        assert_int_equal(q->request.seats[i].vertex, w->seats[q->request.seats[i].rank]);
    forget(q);
    button(b, COMMAND_COMPARE, COMPARE_BEFORE); /* not the state that would be answered for */
    ask(b, SUGGEST_ROUTES, -HOLTER_EUSAGE);
    button(b, COMMAND_COMPARE, COMPARE_AFTER);
    suggest_routes(b);
    SEEN("for another state: ask again"); /* the answer is said to be for the reality */
    assert_int_equal(ui_network_show(&b->desk.ui, b->model, SUGGEST_ROUTES), -HOLTER_EUSAGE);
    n->suggestions[SUGGEST_ROUTES].base = what_if_state(w);
    lay_out(b);
    button(b, COMMAND_APPLY, SUGGEST_ROUTES);
    SEEN("suggestion 2: mapping + routes");
    SEEN("step 2: ");
    q = ask(b, SUGGEST_MAPPING, 0);
    assert_int_equal(q->request.hops_count, 0);
    forget(q);
    q = ask(b, SUGGEST_ROUTES, 0);
    assert_true(q->request.hops_count > 0);
    for (uint64_t i = 0; i < q->request.hops_count; i++)
        assert_non_null(what_if_route(w, (uint32_t)q->request.hops[i].source,
                                      (uint32_t)q->request.hops[i].destination));
    forget(q);
    button(b, COMMAND_UNDO_STEP, 0);
    SEEN("suggestion 1: mapping");
    NOT_SEEN("mapping + routes");
    button(b, COMMAND_UNDO_STEP, 0);
    assert_int_equal(w->count, 0);
    assert_null(w->seats);
}

/* The scale is that of the reality: the same load has the same colour before and after. */
static void a_better_network_looks_less_bright(void **state)
{
    struct network_bed *b = *state;
    suggest_routes(b);
    double before = b->desk.range.flows.maximum[METRIC_LOAD];
    struct stage s = {.ui = &b->desk.ui, .range = &b->desk.range, .model = b->model};
    s.brush.theme = &b->desk.theme;
    color_t color = piece_metric_color(&s, METRIC_LOAD, before / 2);
    button(b, COMMAND_APPLY, SUGGEST_ROUTES);
    assert_true(b->desk.range.flows.maximum[METRIC_LOAD] < before);
    assert_true(piece_metric_most(&s, METRIC_LOAD) == before);
    assert_int_equal(piece_metric_color(&s, METRIC_LOAD, before / 2), color);
    button(b, COMMAND_UNDO_STEP, 0);
}

static void what_went_wrong_is_said(void **state)
{
    struct network_bed *b = *state;
    network_asked(&b->model->network, SUGGEST_MAPPING, "hop-bytes");
    network_replied(&b->model->network, SUGGEST_MAPPING, -1, "the job has no messages yet");
    lay_out(b);
    SEEN("the job has no messages yet");
}

/* ---- layout ------------------------------------------------------------------------------------
 */

static void it_fits_windows_of_all_sizes(void **state)
{
    static const double sizes[][2] = {{1600, 900},  {1280, 720}, {1024, 640},
                                      {2400, 1400}, {800, 500},  {640, 420}};
    static const char *const forms[] = {"torus:4,4,4,4,2", "fattree:4,4,4/1,2,2",
                                        "dragonfly:groups=9,routers=4,nodes=2,global=2"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct network_bed bed = {0};
        network_bed_begin(&bed, &(struct network_job){forms[i], NULL, 2, 12, 1});
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int shown = 0; shown < METRICS; shown++) {
                desk_open(&bed.desk, sizes[s][0], sizes[s][1], shown % 2 ? 2 : 1,
                          shown % 2 ? THEME_LIGHT : THEME_DARK, VIEW_LINKS);
                bed.desk.ui.network.metric = (enum flow_metric)shown;
                bed.desk.ui.network.rank_log = shown % 3 == 1;
                bed.desk.ui.selection =
                    (struct selection){shown % 2 ? SELECT_LINK : SELECT_VERTEX, 3, 0};
                if (shown > 2)
                    flow_filter_range(&bed.desk.ui.network.filter, METRIC_LENGTH, 2, 5);
                desk_layout(&bed.desk, bed.model);
                desk_check(&bed.desk, forms[i]);
                bed.desk.ui.overlay.drawer = 1;
                bed.desk.ui.time.follow = 0;
                bed.desk.ui.time.end_ns = (int64_t)model_now_ns(bed.model);
                bed.desk.ui.selection = (struct selection){SELECT_ROUTE, 0, 1};
                desk_layout(&bed.desk, bed.model);
                desk_check(&bed.desk, forms[i]);
                desk_close(&bed.desk);
            }
        }
        synthetic_network_finish(&bed.net);
        model_destroy(bed.model);
    }
}

static void a_fault_of_the_description_is_shown_in_its_place(void **state)
{
    struct network_bed *b = *state;
    struct wire_message m = {.type = WIRE_TYPE_TOPOLOGY};
    m.topology = (struct wire_topology){.job = "48213.0",
                                        .name = "Mira",
                                        .source = "/etc/holter/mira.yaml",
                                        .fault = "line 12: dimension C has no size"};
    desk_apply(b->model, &m, 0);
    lay_out(b);
    SEEN("/etc/holter/mira.yaml");
    SEEN("line 12: dimension C has no size");
    desk_check(&b->desk, "fault");
    ui_go(&b->desk.ui, VIEW_LIVE);
    lay_out(b);
    SEEN("Hot links"); /* in the context column: the daemon still publishes them */
    desk_check(&b->desk, "live");
}

static void what_is_not_in_the_network_is_said_below_its_links(void **state)
{
    struct network_bed *b = *state;
    snprintf(b->model->network.fault, sizeof b->model->network.fault,
             "host n9 is not in mira.yaml: its ranks have no place in the network");
    lay_out(b);
    SEEN("host n9 is not in mira.yaml");
    assert_true(b->model->network.topology != NULL);
    desk_check(&b->desk, "missing");
}

static void the_context_column_leads_to_the_view(void **state)
{
    struct network_bed *b = *state;
    ui_go(&b->desk.ui, VIEW_RANKS);
    lay_out(b);
    SEEN("load, share of capacity");
    click(b, HIT_LINK, b->net.links[1].link);
    assert_int_equal(b->desk.ui.selection.kind, SELECT_LINK);
    desk_check(&b->desk, "ranks");
    uint32_t marked = 0;
    for (uint32_t r = 0; r < b->model->rank_count; r++)
        marked += ui_marks_rank(&b->desk.ui, b->model, r) != 0;
    assert_in_range(marked, 2, b->model->rank_count - 1);
}

/* By name and by number; torus:8,4,4 with 256 ranks. */
static void selections_are_found_by_name(void **state)
{
    const struct network_bed *b = *state;
    static const char *const none[] = {
        "rank:256",   "rank:-1",        "rank:",      "rank:99999999999999999999", "pair:1",
        "pair:1-256", "vertex:(8,0,0)", "vertex:128", "link:(0,0,0)-(2,0,0)",      "link:(0,0,0)",
        "route:-"};
    struct selection s;
    assert_int_equal(ui_select_find(b->model, "rank:255", &s), 0);
    assert_true(s.kind == SELECT_RANK && s.a == 255);
    assert_int_equal(ui_select_find(b->model, "pair:3-4", &s), 0);
    assert_true(s.kind == SELECT_PAIR && s.a == 3 && s.b == 4);
    assert_int_equal(ui_select_find(b->model, "vertex:(0,1,0)", &s), 0);
    assert_true(s.kind == SELECT_VERTEX && s.a == 4);
    assert_int_equal(ui_select_find(b->model, "route:127-(0,1,0)", &s), 0);
    assert_true(s.kind == SELECT_ROUTE && s.a == 127 && s.b == 4);
    assert_int_equal(ui_select_find(b->model, "link:(0,0,0)-(0,0,1)", &s), 0);
    assert_int_equal(s.kind, SELECT_LINK);
    assert_int_equal(s.a, topology_link_between(b->model->network.topology, 0, 1));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(ui_select_find(b->model, none[i], &s), -HOLTER_EMISSING);
    assert_int_equal(ui_select_find(b->model, "cell:3", &s), -HOLTER_EUSAGE);
}

static void a_group_is_one_disc_of_the_regions(void **state)
{
    enum { NODES = 8, RANKS = 3000 * NODES };
    static struct model_rank ranks[RANKS];
    struct model *m = calloc(1, sizeof(*m));
    struct rank_graph graph = {0}, none = {0};
    (void)state;
    assert_non_null(m);
    for (uint32_t r = 0; r < RANKS; r++)
        ranks[r].node = r / (RANKS / NODES);
    m->ranks = ranks;
    m->world = m->rank_count = RANKS;
    m->group = 1;
    assert_int_equal(rank_graph_build(&graph, &none, m, 0), 0);
    assert_int_equal(graph.vertex_count, NODES);
    rank_graph_finish(&graph);
    m->group = 2 * RANKS / NODES; /* on two nodes */
    assert_int_equal(rank_graph_build(&graph, &none, m, 0), 0);
    assert_int_equal(graph.unit, UNIT_RANK);
    assert_int_equal(graph.vertex_count, NODES / 2);
    assert_int_equal(graph.vertices[1].rank, m->group);
    assert_int_equal(graph.vertices[1].ranks, m->group);
    rank_graph_finish(&graph);
    free(m);
}

static void a_summary_says_nothing_of_links_where_some_are_hot(void **state)
{
    struct network_bed *b = *state;
    struct range *r = &b->desk.range;
    for (uint32_t rank = 0; rank < r->ranks.count; rank++) /* none waits longer than others */
        memcpy(r->ranks.figures + (size_t)rank * RANK_COLUMNS, r->ranks.figures,
               RANK_COLUMNS * sizeof *r->ranks.figures);
    for (uint32_t pair = 0; pair < r->pairs.count; pair++) /* likewise */
        memcpy(r->pairs.figures + (size_t)pair * PAIR_COLUMNS, r->pairs.figures,
               PAIR_COLUMNS * sizeof *r->pairs.figures);
    lay_out(b);
    SEEN("Nothing else stands out");
    NOT_SEEN("none is hot");
}

static void a_job_by_groups_of_ranks_has_the_links_and_routes_of_its_nodes(void **state)
{
    struct network_bed *b = *state;
    lay_out(b);
    const uint64_t largest = b->desk.range.flows.largest;
    model_keep_by_groups(b->model, 4, 2);
    lay_out(b);
    assert_int_equal(b->desk.range.flows.largest, largest);
    SEEN("whole time: A and C carry most");
    SEEN("Suggest mapping");
    uint32_t count;
    const struct wire_link_route_row *r = network_routes_of(&b->model->network, b->net.hot, &count);
    char from[80], to[80], name[180];
    assert_true(count > 0);
    snprintf(name, sizeof name, "%s \xe2\x86\x92 %s",
             piece_route_end(b->model, r[0].source, "", from, sizeof from),
             piece_route_end(b->model, r[0].destination, "", to, sizeof to));
    ui_select(&b->desk.ui, (struct selection){SELECT_LINK, b->net.hot, 0});
    lay_out(b);
    SEEN("largest routes in the newest window");
    int listed = 0, groups = 0;
    for (size_t i = 0; i < b->desk.scene.item_count; i++) {
        const struct scene_item *item = &b->desk.scene.items[i];
        if (item->kind == SCENE_TEXT && item->style == TEXT_SMALL)
            listed += !strcmp(scene_whole_text(&b->desk.scene, item), name);
        groups += !strcmp(scene_text_of(&b->desk.scene, item), "groups");
    }
    assert_int_equal(listed, 1); /* by its nodes, as in the list */
    assert_int_equal(groups, 1); /* of ranks, whose messages pass it */
    click(b, HIT_ROUTE, network_seat(&b->model->network, (uint32_t)r[0].source));
    assert_int_equal(b->desk.ui.selection.kind, SELECT_ROUTE);
    press_key(b, KEY_ESCAPE);
    lay_out(b);
    b->desk.ui.network.metric = METRIC_IN;
    lay_out(b);
    NOT_SEEN("Nothing to rank");
    ui_go(&b->desk.ui, VIEW_ROUTES);
    lay_out(b);
    SEEN("Suggest routes");
    ui_go(&b->desk.ui, VIEW_WHAT_IF);
    lay_out(b);
    SEEN("Suggest mapping");
    ui_go(&b->desk.ui, VIEW_TORUS);
    lay_out(b);
    NOT_SEEN("all messages"); /* of all contexts: those are of ranks */
}

static void of_a_job_by_groups_of_ranks_suggestions_are_by_all_messages(void **state)
{
    struct network_bed *b = *state;
    struct ui_question q;
    char why[200];
    ui_zoom_time(&b->desk.ui, b->model, 0.25, b->desk.ui.time.end_ns);
    for (int by_groups = 0; by_groups < 2; by_groups++) {
        if (by_groups)
            model_keep_by_groups(b->model, 4, 2);
        lay_out(b);
        assert_int_equal(
            ui_question_make(&q, &b->desk.ui, b->model, SUGGEST_MAPPING, why, sizeof why), 0);
        assert_int_equal(strstr(q.argument, "from=") == NULL, by_groups);
        assert_string_equal(q.subject, by_groups ? "all ranks, since the start"
                                                 : "all ranks, in the visible time");
        ui_question_finish(&q);
    }
}

static void lists_of_a_job_by_groups_of_ranks_say_so(void **state)
{
    struct network_bed *b = *state;
    ui_go(&b->desk.ui, VIEW_RANKS);
    lay_out(b);
    SEEN("for rank");
    model_keep_by_groups(b->model, 4, 2);
    lay_out(b);
    SEEN("by groups of 4 ranks, each under its first");
    NOT_SEEN("for rank"); /* of single ranks only */
    ui_go(&b->desk.ui, VIEW_PAIRS);
    lay_out(b);
    SEEN("by groups of 4 ranks, each under its first");
    ui_go(&b->desk.ui, VIEW_MATRIX);
    lay_out(b);
    SEEN("Each cell is what one group of 4 ranks in a row sends to another.");
    NOT_SEEN("zoom in for pairs");
}

static void a_group_is_named_by_its_first_and_last_rank(void **state)
{
    struct model *m = calloc(1, sizeof(*m));
    (void)state;
    assert_non_null(m);
    m->world = 40;
    assert_string_equal(piece_rank(m, 32).text, "rank 32");
    m->group = 16;
    assert_string_equal(piece_rank(m, 16).text, "ranks 16-31");
    assert_string_equal(piece_rank(m, 32).text, "ranks 32-39"); /* the last one */
    assert_string_equal(piece_rank(m, PAIR_OTHERS).text, "others");
    free(m);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selections_are_found_by_name, setup, teardown),
        T(hot_links_are_described_in_words),
        cmocka_unit_test(the_what_if_ranks_links_although_their_list_was_never_open),
        T(the_ranking_follows_the_newest_window),
        T(the_overview_of_a_job_without_an_alert_names_a_congested_link),
        T(held_time_has_its_own_ranking),
        T(the_state_of_a_link_says_of_which_time_it_is),
        cmocka_unit_test(the_state_of_a_link_is_not_known_of_the_time_before_the_viewer_came),
        T(suggestions_follow_a_list_that_does_not_change),
        T(routes_of_a_link_are_shown_as_far_as_there_is_room),
        T(messages_without_sizes_are_not_shown_as_bytes),
        T(messages_without_times_are_not_called_unmatched),
        T(a_click_selects_the_link_with_its_ranks_everywhere),
        T(keys_walk_the_list),
        T(rows_of_several_links_are_copied_with_the_others),
        T(keys_walk_past_a_row_of_several_links),
        T(columns_sort_it),
        cmocka_unit_test(a_group_is_named_by_its_first_and_last_rank),
        cmocka_unit_test(a_group_is_one_disc_of_the_regions),
        cmocka_unit_test(without_messages_counters_are_ranked),
        T(a_brush_along_the_values_filters_all_views),
        T(a_brush_along_the_ranks_keeps_the_first_of_them),
        T(a_click_selects_what_has_that_rank),
        T(keys_choose_figure_scale_and_range),
        cmocka_unit_test(equal_figures_are_a_sentence_in_place_of_bars),
        T(the_ends_of_the_colours_can_be_moved),
        T(a_mapping_is_asked_for_shown_and_undone),
        T(only_selected_ranks_move_when_that_is_wanted),
        T(routes_are_asked_for_what_is_selected),
        cmocka_unit_test(the_gain_of_one_route_is_one_figure),
        T(a_brush_is_what_is_asked_about),
        T(a_sentence_says_what_the_loads_are),
        T(a_long_name_loses_its_middle_and_keeps_both_ends),
        T(links_with_the_same_figures_are_one_row_until_they_are_listed),
        T(a_brush_keeps_its_routes_while_they_are_compared),
        T(loads_of_collectives_are_a_column_when_there_are_some),
        T(the_visible_time_is_what_is_asked_about),
        T(routes_are_asked_for_on_the_mapping_that_is_shown),
        T(a_better_network_looks_less_bright),
        T(a_comparison_has_no_columns_that_stay_empty),
        T(a_narrow_panel_says_what_an_answer_is_in_full),
        T(what_went_wrong_is_said),
        cmocka_unit_test(it_fits_windows_of_all_sizes),
        T(a_fault_of_the_description_is_shown_in_its_place),
        T(what_is_not_in_the_network_is_said_below_its_links),
        T(the_context_column_leads_to_the_view),
        T(a_summary_says_nothing_of_links_where_some_are_hot),
        T(a_job_by_groups_of_ranks_has_the_links_and_routes_of_its_nodes),
        T(of_a_job_by_groups_of_ranks_suggestions_are_by_all_messages),
        T(lists_of_a_job_by_groups_of_ranks_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
