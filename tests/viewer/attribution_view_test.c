/* The attribution view: three plots with the period before, causes, and what can be done. */
#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct synthetic_latency growing = {
    .regions = 4, .slow = 3, .onset = 100, .recovery = 900, .rate = 0.1, .most = 2.4};

static struct model *job_of(uint32_t ranks, uint32_t per_node, int windows, int alert)
{
    struct model *m;
    struct synthetic job;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, ranks, per_node, 26, 1);
    synthetic_begin(&job, desk_apply, m);
    synthetic_regions(&job, &growing, desk_apply, m);
    for (int i = 0; i < windows; i++) {
        synthetic_window(&job, desk_apply, m);
        synthetic_latencies(&job, &growing, desk_apply, m);
    }
    if (alert)
        synthetic_growth(&job, &growing, 7, "firing", desk_apply, m);
    synthetic_finish(&job);
    return m;
}

/* Curves in a panel that are as wide. */
static int curves(const struct scene *s, const char *panel, double width)
{
    int n = 0;
    for (size_t i = 0; i < s->item_count; i++)
        n += s->items[i].kind == SCENE_CURVE && s->items[i].width == width &&
             !strcmp(s->panels[s->items[i].panel].name, panel);
    return n;
}

static void each_cause_has_its_plot_with_the_period_before_as_thin_lines(void **state)
{
    (void)state;
    struct model *m = job_of(64, 16, 130, 1);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    desk_check(&d, "attribution");
    assert_non_null(find_text(&d.scene, "all ranks, 60\xc2\xa0s; thin and faint"));
    assert_non_null(find_text(&d.scene, "A1 Mapping"));
    assert_non_null(find_text(&d.scene, "A2 Pattern"));
    assert_non_null(find_text(&d.scene, "A3 Background"));
    assert_int_equal(curves(&d.scene, "attribution.mapping.plot", 2), 2);
    assert_int_equal(curves(&d.scene, "attribution.mapping.plot", 1), 2);
    assert_int_equal(curves(&d.scene, "attribution.background.plot", 1.8), 3); /* sizes */
    assert_int_equal(curves(&d.scene, "attribution.background.plot", 1), 3);
    assert_non_null(find_text(&d.scene, "before "));
    assert_non_null(find_text(&d.scene, "all are alike")); /* every rank has as many messages */
    assert_non_null(find_text(&d.scene, "64\xc2\xa0"
                                        "B"));
    desk_close(&d);
    model_destroy(m);
}

static void headings_of_narrow_plots_are_short_and_not_cut(void **state)
{
    (void)state;
    struct model *m = job_of(64, 16, 130, 1);
    struct desk d;
    desk_open(&d, 800, 520, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    for (size_t i = 0; i < d.scene.item_count; i++) {
        const struct scene_item *item = &d.scene.items[i];
        const char *panel = d.scene.panels[item->panel].name;
        if (item->kind == SCENE_TEXT && !strncmp(panel, "attribution", 11) &&
            strcmp(panel, "attribution.advice") != 0)
            assert_null(strstr(scene_text_of(&d.scene, item), "\xe2\x80\xa6"));
    }
    assert_non_null(find_text(&d.scene, "ranks differ by"));
    desk_close(&d);
    model_destroy(m);
}

static void no_mapping_is_searched_for_where_all_ranks_are_on_one_node(void **state)
{
    (void)state;
    struct model *m = job_of(16, 16, 130, 1);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "Ask for its gain"));
    assert_non_null(find_text(&d.scene, "All ranks are on one node"));
    desk_close(&d);
    model_destroy(m);
}

static void causes_are_ranked_and_lead_to_what_can_be_done(void **state)
{
    (void)state;
    struct model *m = job_of(64, 16, 130, 1);
    struct desk d;
    desk_open(&d, 1024, 640, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "late sender"));
    assert_non_null(find_text(&d.scene, "71\xc2\xa0%"));
    assert_non_null(find_text(&d.scene, "O1 Remap the ranks"));
    assert_non_null(find_text(&d.scene, "8.0\xc2\xa0%"));
    assert_non_null(find_text(&d.scene, "no cause"));      /* of the pattern */
    assert_non_null(find_text(&d.scene, "74.0\xc2\xa0%")); /* network and slow node */
    assert_non_null(find_text(&d.scene, "No network is known, so no mapping"));
    desk_close(&d);
    model_destroy(m);
}

static void the_gain_of_a_mapping_is_the_one_that_the_daemon_predicts(void **state)
{
    (void)state;
    struct model *m = job_of(64, 16, 130, 1);
    struct desk d;
    const struct wire_gain_row gains[] = {{"inter-node-messages", 1385144, 1159653, 0},
                                          {"hop-bytes", 5e9, 5e9, 0}};
    struct wire_message message = {.type = WIRE_TYPE_MAPPING};
    message.mapping = (struct wire_mapping){.job = "48213.0",
                                            .objective = "inter-node",
                                            .progress = 1,
                                            .gains = gains,
                                            .gains_count = 2};
    network_asked(&m->network, SUGGEST_MAPPING, "inter-node");
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "searching for a mapping"));
    desk_apply(m, &message, 0);
    desk_layout(&d, m);
    desk_check(&d, "gain");
    assert_non_null(find_text(&d.scene, "1.16\xc2\xa0M"));
    assert_non_null(find_text(&d.scene, "-16.3"));
    assert_non_null(find_text(&d.scene, "hop-bytes stay 4.66"));
    desk_close(&d);
    model_destroy(m);
}

static void what_is_not_known_is_said_with_the_reason(void **state)
{
    (void)state;
    struct model *m = job_of(16, 16, 30, 0); /* one node */
    struct desk d;
    for (uint32_t i = 0; i < m->latency.criteria_count; i++)
        m->latency.criteria[i].locality = 0;
    history_clear(&m->latency.classes);
    desk_open(&d, 1024, 640, 1, THEME_LIGHT, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    desk_check(&d, "one node");
    assert_non_null(find_text(&d.scene, "All ranks run on one node"));
    assert_non_null(find_text(&d.scene, "nothing was before it"));
    assert_non_null(find_text(&d.scene, "No alert has causes so far"));
    assert_non_null(find_text(&d.scene, "0\xc2\xa0%")); /* nothing crosses nodes */
    desk_close(&d);
    model_destroy(m);
    m = job_of(64, 16, 30, 0);
    history_clear(&m->latency.classes);
    history_clear(&m->rank_history);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    desk_layout(&d, m);
    desk_check(&d, "no histories");
    assert_non_null(find_text(&d.scene, "No figures of ranks for this time: none was received"));
    assert_non_null(find_text(&d.scene, "No figures of single ranks were received yet."));
    assert_non_null(find_text(&d.scene, "No message between nodes was matched in this time"));
    desk_close(&d);
    model_destroy(m);
}

static void a_selection_restricts_what_is_counted(void **state)
{
    (void)state;
    struct model *m = job_of(64, 16, 130, 0);
    struct desk d;
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    d.ui.selection = (struct selection){SELECT_REGION, 3, 0};
    desk_layout(&d, m);
    desk_check(&d, "region");
    assert_non_null(find_text(&d.scene, "ranks 32-47, 60\xc2\xa0s"));
    d.ui.selection = (struct selection){SELECT_RANK, 5, 0};
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "rank 5, 60\xc2\xa0s"));
    desk_close(&d);
    model_destroy(m);
}

/* Figures of each fourth rank only, as the daemon sends them of a job by groups of four. */
static void by_fours(void *user, const struct wire_message *message, int snapshot)
{
    struct wire_message some = *message;
    static struct wire_rank_row rows[64];
    if (message->type == WIRE_TYPE_RANK_WINDOW) {
        some.rank_window.ranks = rows;
        some.rank_window.ranks_count = 0;
        for (uint64_t i = 0; i < message->rank_window.ranks_count; i++)
            if (message->rank_window.ranks[i].rank % 4 == 0)
                rows[some.rank_window.ranks_count++] = message->rank_window.ranks[i];
    }
    desk_apply(user, &some, snapshot);
}

static void in_a_job_by_groups_a_rank_counts_with_its_group(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct desk d;
    assert_int_equal(model_create(&m, 64 << 20), 0);
    synthetic_init(&job, 64, 16, 26, 1);
    synthetic_begin(&job, desk_apply, m);
    m->group = 4;
    for (int i = 0; i < 30; i++)
        synthetic_window(&job, by_fours, m);
    synthetic_finish(&job);
    desk_open(&d, 1600, 900, 1, THEME_DARK, VIEW_ATTRIBUTION);
    d.ui.selection = (struct selection){SELECT_RANK, 6, 0};
    desk_layout(&d, m);
    assert_null(find_text(&d.scene, "sent no message"));
    assert_non_null(find_text(&d.scene, "ranks 4-7, "));
    assert_non_null(find_text(&d.scene, "messages of a group of ranks against the mean"));
    ui_go(&d.ui, VIEW_LIVE);
    desk_layout(&d, m);
    assert_non_null(find_text(&d.scene, "share of time, each row the mean of 4 ranks"));
    desk_close(&d);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_has_its_plot_with_the_period_before_as_thin_lines),
        cmocka_unit_test(headings_of_narrow_plots_are_short_and_not_cut),
        cmocka_unit_test(no_mapping_is_searched_for_where_all_ranks_are_on_one_node),
        cmocka_unit_test(causes_are_ranked_and_lead_to_what_can_be_done),
        cmocka_unit_test(the_gain_of_a_mapping_is_the_one_that_the_daemon_predicts),
        cmocka_unit_test(what_is_not_known_is_said_with_the_reason),
        cmocka_unit_test(a_selection_restricts_what_is_counted),
        cmocka_unit_test(in_a_job_by_groups_a_rank_counts_with_its_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
