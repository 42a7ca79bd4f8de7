#include "agent/cli/top/top_layout.h"

#include "proto/utf8.h"
#include "tests/agent/cli/top/top_story.h"
#include "tests/proto/wire_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct top_page page;

static struct top_view view_of(int columns, int rows)
{
    return (struct top_view){
        .columns = columns, .rows = rows, .utf8 = true, .keys = true, .daemon = "tcp://login:7"};
}

static void assert_page(const struct top_model *model, const struct top_view *view,
                        const char *const *lines, int count)
{
    top_layout(model, view, &page);
    assert_int_equal(page.count, count);
    for (int i = 0; i < count; i++)
        assert_string_equal(page.lines[i].text, lines[i]);
}

static void a_replay_is_not_live(void **state)
{
    static const char *const words[][2] = {{"playing", " REPLAY 22:13:50"},
                                           {"paused", " REPLAY PAUSED 22:13:50"},
                                           {"ended", " REPLAY ENDED 22:13:50"}};
    struct top_model model = {0};
    struct top_view view = view_of(80, 24);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wire_message m = {.type = WIRE_TYPE_REPLAY};
        m.replay = (struct wire_replay){.job = "",
                                        .file = "lmp.hrec",
                                        .state = words[i][0],
                                        .begin_ns = STORY_START_NS,
                                        .end_ns = STORY_START_NS + 49 * STORY_SECOND_NS};
        assert_int_equal(top_model_apply(&model, &m, 0), 0);
        if (i == 0)
            story_tell(&model, 30); /* the job comes after its replay */
        top_layout(&model, &view, &page);
        assert_non_null(strstr(page.lines[0].text, words[i][1]));
        assert_null(strstr(page.lines[0].text, "LIVE"));
        assert_non_null(strstr(page.lines[1].text, "replay at 30.0 s of 49.0 s, windows"));
    }
    view.paused = true;
    top_layout(&model, &view, &page);
    assert_non_null(strstr(page.lines[0].text, " PAUSED 22:13:50"));
    top_model_finish(&model);
}

static void the_page_shows_latency_alerts_ranks_and_nodes(void **state)
{
    static const char *const lines[] = {
        "holter lmp.0  lmp, 8 ranks on 2 nodes                              LIVE 22:13:50",
        "running for 30.0 s, windows of 1.00 s",
        "2.50 k messages/s, 3.00 MiB/s, in MPI 50.0 %, waiting 37.5 %, progress 54.0 %",
        "LATENCY                  by its reference; 99.99 % of 75.0 k messages matched, …",
        "job                      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃  1.97x",
        "intra-node               ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  1.01x",
        "inter-node               ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▃▃▄▄▅▅▅▆  3.90x ▲ +650 %/min for 10.0 s",
        "region 1: 0-3,7          ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  1.04x",
        "region 2: 4-6            ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▃▃▄▄▅▅▅▆  3.90x ■ high for 8.00 s",
        "ALERTS                   1 firing, 1 in all",
        "> firing   22:13:41    2.4x Messages of region 2 take 2.4 t… network 83 %       ",
        "RANKS by waiting          waiting for rank  latency         in call",
        "      7  node2             56.0 %        2        -",
        "      6  node2             48.0 %        2    3.10x ± 0.40",
        "      5  node2             40.0 %        2        -         MPI_Recv for 412 ms…",
        "      4  node2             32.0 %        2        -",
        "      3  node1             24.0 %        -        -",
        "      2  node1             16.0 %        -        -",
        "      1  node1              8.0 %        -    1.02x",
        "      0  node1              0.0 %        -        -",
        "NODES              ranks    agent    memory    lost dropped  matched unmatched",
        "node1                  4    0.1 %  9.00 MiB       0       0   52.1 k         0",
        "away: node2            4    0.1 %  9.00 MiB      17       0   52.0 k         3",
        "",
        "q quit  j/k alert  Enter evidence  s sort  p pause  ? help",
    };
    struct top_model model = {0};
    struct top_view view = view_of(80, 25);
    (void)state;
    story_tell(&model, 30);
    assert_page(&model, &view, lines, 25);
    top_model_finish(&model);
}

static void a_small_ascii_terminal_keeps_what_matters_most(void **state)
{
    static const char *const lines[] = {
        "holter lmp.0  lmp, 8 ranks on 2 nodes      LOST 22:13:50",
        "running for 30.0 s, windows of 1.00 s",
        "LATENCY                  by its reference; 99.99 % of 7~",
        "and 5 more",
        "ALERTS                   1 firing, 1 in all",
        "> firing   22:13:41    2.4x Message~ network 83 %       ",
        "no answer from tcp://login:7: reconnecting  q quit  j/k~",
    };
    struct top_model model = {0};
    struct top_view view = view_of(56, 7);
    (void)state;
    view.utf8 = false;
    view.link = TOP_LOST;
    story_tell(&model, 30);
    assert_page(&model, &view, lines, 7);
    top_model_finish(&model);
}

static void evidence_takes_the_place_of_ranks_and_nodes(void **state)
{
    static const char *const lines[] = {
        "holter lmp.0  lmp, 8 ranks on 2 nodes                PAUSED 22:13:50",
        "running for 30.0 s, windows of 1.00 s",
        "3.00 MiB/s, in MPI 50.0 %, waiting 37.5 %, progress 54.0 %",
        "ALERTS                   1 firing, 1 in all",
        "> firing   22:13:41    2.4x Messages of region … network 83 %       ",
        "EVIDENCE of alert 1  warning latency region-latency",
        "            Messages of region 2 take 2.4 times as long",
        "            Transfers of region 2 take longer than they did.",
        "  since     22:13:41.000, firing 22:13:46.000",
        "  node      node2",
        "  latency   2.4x what it was, at worst 3.1x, +650 % a minute, clocks",
        "            within 12.0 µs",
        "  job makes 54 % of its progress, 6.00 s lost",
        "  region    2",
        "  ranks     4-6",
        "  delays    7",
        "  nodes     node2",
        "  messages  inter-node",
        "  sizes     1 to 4 KiB",
        "  cause     network          83 %  network time grew from 80 us to",
        "                                   210 us",
        "            late-sender      17 %  of rank 2",
        "  advice    Look at the links of node2, or move its ranks to another",
        "            node.",
        "",
        "p continue  q quit  ? help",
    };
    struct top_model model = {0};
    struct top_view view = view_of(68, 26);
    (void)state;
    view.evidence = view.paused = true;
    story_tell(&model, 30);
    assert_page(&model, &view, lines, 26);
    top_model_finish(&model);
}

static void the_chosen_alert_stays_chosen_and_in_sight(void **state)
{
    struct top_model model = {0};
    struct top_view view = view_of(80, 10);
    (void)state;
    story_tell(&model, 30);
    for (uint64_t id = 2; id < 30; id++) {
        char title[32];
        snprintf(title, sizeof title, "number %u", (unsigned)id);
        story_alert(&model, id, id % 2 == 0 ? "resolved" : "firing", title);
    }
    view.alert = 4; /* among the last */
    top_layout(&model, &view, &page);
    int found = 0;
    for (int i = 0; i < page.count; i++)
        if (page.lines[i].text[0] == '>') {
            assert_non_null(strstr(page.lines[i].text, "number 4 "));
            found++;
        }
    assert_int_equal(found, 1);
    assert_int_equal(model.alerts[top_chosen(&model, &view)]->message.alert.id, 4);
    top_model_finish(&model);
}

static void ranks_are_in_the_order_asked_for(void **state)
{
    static const char *const first[] = {"      7  ", "      6  ", "      0  "};
    struct top_model model = {0};
    struct top_view view = view_of(80, 24);
    (void)state;
    story_tell(&model, 30);
    for (view.sort = 0; view.sort < TOP_SORTS; view.sort++) {
        top_layout(&model, &view, &page);
        assert_memory_equal(page.lines[12].text, first[view.sort], 9);
    }
    top_model_finish(&model);
}

static void groups_of_ranks_are_named_by_their_first_and_last_rank(void **state)
{
    struct wire_rank_row rows[] = {{.rank = 0, .ranks = 2048, .in_call_peer = -1},
                                   {.rank = 2048, .ranks = 952, .in_call_peer = -1}};
    struct wire_latency_region_row region = {.id = 1, .ranks = 3000};
    struct wire_region_member_row members[] = {{0, 1}, {2048, 1}};
    struct wire_message messages[] = {
        {.type = WIRE_TYPE_JOB,
         .job = {.job = "j", .state = "running", .world = 3000, .seen = 3000, .group = 2048}},
        {.type = WIRE_TYPE_RANK_WINDOW,
         .rank_window = {.job = "j", .length_ns = 1, .ranks = rows, .ranks_count = 2}},
        {.type = WIRE_TYPE_REGIONS,
         .regions = {.job = "j",
                     .regions = &region,
                     .regions_count = 1,
                     .members = members,
                     .members_count = 2}}};
    struct top_model model = {0};
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        assert_int_equal(top_model_apply(&model, &messages[i], 0), 0);
    struct top_view view = view_of(100, 30);
    static const char *const shown[] = {"by groups of 2,048 ranks", "ranks 0-2047 ",
                                        "ranks 2048-2999 "};
    top_layout(&model, &view, &page);
    for (size_t i = 0; i < 3; i++) {
        int line = 0;
        while (line < page.count && strstr(page.lines[line].text, shown[i]) == NULL)
            line++;
        assert_true(line < page.count);
    }
    assert_string_equal(top_model_region_ranks(&model, 1, text, sizeof text), "0-2999");
    top_model_finish(&model);
}

static void before_a_job_the_page_says_what_it_waits_for(void **state)
{
    static const char *const lines[] = {
        "holter no job yet                DIALLING -",
        "waiting for a job at tcp://login:7",
        "",
        "",
        "",
        "q quit  j/k alert  Enter evidence  s sort …",
    };
    struct top_model model = {0};
    struct top_view view = view_of(43, 6);
    (void)state;
    view.link = TOP_DIALLING;
    assert_page(&model, &view, lines, 6);
    top_model_finish(&model);
}

static void scopes_without_messages_are_left_out(void **state)
{
    struct top_model model = {0};
    struct top_view view = view_of(80, 24);
    struct wire_series_row rows[] = {
        {.scope = SERIES_JOB}, {.scope = SERIES_INTRA, .messages = 1}, {.scope = SERIES_INTER}};
    struct wire_message message = {
        .type = WIRE_TYPE_LATENCIES,
        .latencies = {.job = "one", .window = 7, .series = rows, .series_count = 3}};
    (void)state;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    top_layout(&model, &view, &page);
    assert_memory_equal(page.lines[3].text, "job ", 4);
    assert_memory_equal(page.lines[4].text, "intra-node ", 11);
    assert_memory_equal(page.lines[5].text, "ALERTS ", 7);
    top_model_finish(&model);
}

static void a_wide_page_shows_rates_of_ranks(void **state)
{
    struct top_model model = {0};
    struct top_view view = view_of(160, 30);
    (void)state;
    story_tell(&model, 30);
    top_layout(&model, &view, &page);
    assert_string_equal(page.lines[2].text,
                        "12.0 k calls/s, 2.50 k messages/s, 3.00 MiB/s, in MPI 50.0 %, waiting "
                        "37.5 %, progress 54.0 %");
    for (int i = 0; i < page.count; i++)
        if (strncmp(page.lines[i].text, "RANKS", 5) == 0)
            assert_non_null(strstr(page.lines[i].text, "in MPI  messages/s     bytes/s  in call"));
    top_model_finish(&model);
}

static void the_help_is_whole_on_narrow_terminals(void **state)
{
    struct top_model model = {0};
    char text[8192];
    (void)state;
    story_tell(&model, 30);
    for (int columns = 60; columns <= 200; columns += 20) {
        struct top_view view = view_of(columns, 40);
        view.help = true;
        top_layout(&model, &view, &page);
        text[0] = '\0';
        for (int i = 0; i < page.count; i++) {
            strcat(text, page.lines[i].text);
            strcat(text, " ");
        }
        assert_null(strstr(text, "…"));
        assert_non_null(strstr(text, "compared with before."));
        assert_non_null(strstr(text, "or not matched."));
    }
    top_model_finish(&model);
}

/* Neither beyond the terminal, nor into it. */
static void assert_fits(const struct top_view *view)
{
    assert_true(page.count <= view->rows);
    for (int i = 0; i < page.count; i++) {
        const struct top_line *line = &page.lines[i];
        int columns = 0;
        assert_int_equal(utf8_prefix(line->text, strlen(line->text)), strlen(line->text));
        for (const char *c = line->text; *c; c++) {
            unsigned char byte = (unsigned char)*c;
            columns += (byte & 0xc0) != 0x80;
            assert_true(byte >= 0x20 && byte != 0x7f);
            assert_true(view->utf8 || byte < 0x80);
            assert_false(byte == 0xc2 && (unsigned char)c[1] < 0xa0); /* C1 */
        }
        assert_int_equal(columns, line->columns);
        assert_true(columns <= view->columns);
        for (int s = 0; s < line->span_count; s++) {
            assert_true(line->spans[s].from < line->spans[s].to);
            assert_true(line->spans[s].to <= columns);
            assert_true(s == 0 || line->spans[s].from >= line->spans[s - 1].to);
        }
    }
}

/* Each size with some of the options, all of which occur with some sizes near to it. */
static void every_size_fits_its_terminal(void **state)
{
    struct top_model model = {0};
    (void)state;
    story_tell(&model, 300);
    for (int rows = 0; rows <= 60; rows++)
        for (int columns = 1; columns <= 140; columns += rows % 7 + 1)
            for (int flags = (rows + columns) % 5; flags < 16; flags += 5) {
                struct top_view view = view_of(columns, rows);
                view.utf8 = flags & 1;
                view.evidence = flags & 2;
                view.help = (flags & 12) == 12;
                view.paused = flags & 4;
                view.keys = flags & 8;
                top_layout(&model, &view, &page);
                assert_fits(&view);
            }
    top_model_finish(&model);
}

/* Whatever the wire lets through. */
static void hostile_messages_neither_break_nor_steer_the_page(void **state)
{
    struct top_model model = {0};
    const struct wire_table *table;
    uint64_t seed = 77;
    (void)state;
    for (int round = 0; round < 300; round++) {
        for (size_t t = 0; (table = wire_table_at(t)); t++) {
            void *fields = random_message(table, &seed, 6);
            struct wire_message message = {.type = table->type};
            memcpy(&message.hello, fields, table->size);
            if (wire_topic(table->type) && round % 60 != 0)
                message.job.job = "one"; /* the job is the first field of all that is published */
            assert_int_equal(top_model_apply(&model, &message, round % 5 == 0), 0);
            random_message_free(table, fields);
        }
        struct top_view view =
            view_of(1 + (int)random_below(&seed, 400), (int)random_below(&seed, 250));
        view.utf8 = round & 1;
        view.evidence = round & 2;
        top_layout(&model, &view, &page);
        assert_fits(&view);
    }
    top_model_finish(&model);
}

static void shares_of_ranks_since_the_begin_are_not_those_of_a_window(void **state)
{
    (void)state;
    struct top_model model = {0};
    struct top_view view = view_of(80, 30);
    struct wire_rank_row row = {.rank = 1, .recv_ns = 3 * STORY_SECOND_NS, .in_call_peer = -1};
    struct wire_message so_far = {.type = WIRE_TYPE_RANK_WINDOW,
                                  .rank_window = {.job = "lmp.0",
                                                  .window = 40,
                                                  .windows = 30,
                                                  .length_ns = STORY_SECOND_NS,
                                                  .ranks = &row,
                                                  .ranks_count = 1}};
    (void)state;
    story_tell(&model, 30);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(top_model_apply(&model, &so_far, i == 0), 0);
        top_layout(&model, &view, &page);
        int at = 0;
        while (strncmp(page.lines[at].text, "RANKS", 5) != 0)
            at++;
        assert_non_null(strstr(page.lines[at].text, i == 0 ? "  waited for" : " waiting for"));
        assert_non_null(strstr(page.lines[at + 1].text, i == 0 ? "  10.0 %" : " 300.0 %"));
        so_far.rank_window.window++;
        so_far.rank_window.windows = 0;
    }
    top_model_finish(&model);
}

/* Characters of East Asia take two columns of a terminal: the state at the right of the line would
 * be beyond its edge. */
static void wide_characters_take_two_columns(void **state)
{
    struct top_model model = {0};
    struct top_view view = view_of(43, 24);
    (void)state;
    story_tell(&model, 3);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    message.job = (struct wire_job){.job = "lmp.0",
                                    .state = "running",
                                    .app = "/opt/流体計算プログラム",
                                    .command = "",
                                    .mpi = "",
                                    .world = 8,
                                    .seen = 8,
                                    .start_ns = STORY_START_NS};
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    top_layout(&model, &view, &page);
    assert_string_equal(page.lines[0].text, "holter lmp.0  流体計算…       LIVE 22:13:23");
    view.utf8 = false;
    top_layout(&model, &view, &page);
    assert_string_equal(page.lines[0].text, "holter lmp.0  ?????????~      LIVE 22:13:23");
    top_model_finish(&model);
}

int main(void)
{
    setenv("TZ", "PST8PDT", 1); /* times of day are UTC all the same */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_is_not_live),
        cmocka_unit_test(the_page_shows_latency_alerts_ranks_and_nodes),
        cmocka_unit_test(a_small_ascii_terminal_keeps_what_matters_most),
        cmocka_unit_test(evidence_takes_the_place_of_ranks_and_nodes),
        cmocka_unit_test(the_chosen_alert_stays_chosen_and_in_sight),
        cmocka_unit_test(ranks_are_in_the_order_asked_for),
        cmocka_unit_test(groups_of_ranks_are_named_by_their_first_and_last_rank),
        cmocka_unit_test(before_a_job_the_page_says_what_it_waits_for),
        cmocka_unit_test(scopes_without_messages_are_left_out),
        cmocka_unit_test(shares_of_ranks_since_the_begin_are_not_those_of_a_window),
        cmocka_unit_test(a_wide_page_shows_rates_of_ranks),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(the_help_is_whole_on_narrow_terminals),
        cmocka_unit_test(every_size_fits_its_terminal),
        cmocka_unit_test(hostile_messages_neither_break_nor_steer_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
