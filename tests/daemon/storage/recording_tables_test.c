#include "tests/daemon/storage/recording_bed.h"

#include "tests/daemon/storage/recording_writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static int count_alerts(void *user, const struct wire_alert *alert)
{
    assert_int_equal(alert->id, ++*(uint64_t *)user);
    return 0;
}

static void the_ranks_that_caused_most_lateness_are_recorded(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_lateness_row rows[100];
    struct wire_lateness m = {.job = "job.0",
                              .window = 4,
                              .windows = 1,
                              .length_ns = 10000,
                              .ranks = rows,
                              .ranks_count = 100};
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        rows[i] = (struct wire_lateness_row){i, 5000, i * 37 % 100 * 10};
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LATENESS, &m), 0);
    m.window = 5;
    m.length_ns = 80000; /* of which 800 is a hundredth */
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LATENESS, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM lateness WHERE window = 4"), 32);
    assert_int_equal(recording_bed_ask("SELECT min(caused_ns) FROM lateness WHERE window = 4"),
                     680);
    assert_int_equal(recording_bed_ask("SELECT max(caused_ns) FROM lateness WHERE window = 4"),
                     990);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM lateness WHERE window = 5"), 20);
    assert_int_equal(recording_bed_ask("SELECT late_ns FROM lateness WHERE rank = 27"), 5000);
}

static void tables_hold_what_was_published_last(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_job job = {.job = "job.0",
                           .state = "running",
                           .app = "lmp",
                           .mpi = "x",
                           .world = 4,
                           .launcher = "mpirun",
                           .group = 2};
    struct wire_totals totals = {
        .job = "job.0", .window = 3, .length_ns = 10, .sent = 5, .late = 0};
    struct wire_host_row host = {"n0"};
    struct wire_place_row place = {3, 0, 55, "0-1", 7, 2, 4};
    struct wire_places places = {
        .job = "job.0", .hosts = &host, .hosts_count = 1, .places = &place, .places_count = 1};
    struct wire_alert alert = {
        .job = "job.0", .id = 1, .kind = "rank-died", .state = "firing", .title = "t", .rank = 3};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOTALS, &totals), 0);
    totals.sent = 9, totals.late = 1;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOTALS, &totals), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_PLACES, &places), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
    job.state = "died";
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(
        recording_bed_ask(
            "SELECT count(*) FROM job WHERE state='died' AND world=4 AND launcher='mpirun' AND"
            " rank_group=2"),
        1);
    assert_int_equal(recording_bed_ask("SELECT sent FROM totals WHERE window=3 AND late=1"), 9);
    assert_int_equal(
        recording_bed_ask(
            "SELECT pid FROM places JOIN nodes USING(node) WHERE host='n0' AND cores='0-1'"
            " AND core=7 AND socket=2 AND numa=4"),
        55);
    assert_int_equal(recording_bed_ask("SELECT rank FROM alert WHERE kind='rank-died'"), 3);
    uint64_t alerts = 0;
    struct recording_reader reader = {&alerts, count_alerts, recording_bed_no_message};
    assert_int_equal(recording_read(recording_bed_path, &reader), 0);
    assert_int_equal(alerts, 1);
}

static struct wire_capture_event_row capture_event(uint64_t number, uint64_t kind)
{
    return (struct wire_capture_event_row){.number = number,
                                           .kind = kind,
                                           .call = 1,
                                           .begin_ns = -50,
                                           .length_ns = 20,
                                           .peer = -1,
                                           .tag = -1,
                                           .source = -1,
                                           .source_tag = -1};
}

static void captures_are_a_row_each_and_one_for_each_record(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_capture_thread_row threads[] = {{.rank = 4}, {.rank = 4, .thread = 1}};
    struct wire_comm_row comms[] = {{.name = ""}, {.id = 9, .name = "rows"}};
    struct wire_region_row regions[] = {{""}, {"solve"}};
    struct wire_capture_event_row events[] = {capture_event(1, 1), capture_event(2, 2),
                                              capture_event(1, 1), capture_event(5, 1)};
    struct wire_capture m = {.id = 2,
                             .asked_ns = 900,
                             .at_ns = 1000,
                             .reason = "why",
                             .alert = 3,
                             .nodes = 2,
                             .answered = 1,
                             .records = 3,
                             .host = "n0",
                             .threads = threads,
                             .threads_count = 2,
                             .events = events,
                             .events_count = 4,
                             .comms = comms,
                             .comms_count = 2,
                             .regions = regions,
                             .regions_count = 2};
    (void)state;
    events[0].peer = 3, events[0].tag = 7, events[0].comm = events[0].region = 1;
    events[0].bytes = 64, events[0].request = 5, events[0].flags = 1 | 8, events[0].posted_ns = -60;
    events[1].peer = -3, events[1].tag = -2;
    events[2].thread = events[2].running = 1, events[2].source = 6, events[2].source_tag = 8;
    events[3].thread = 7; /* of no thread: not a row */
    assert_int_equal(recording_write_result(r, WIRE_TYPE_CAPTURE, &m), 0);
    m.at_ns = 990, m.answered = 2, m.events_count = m.threads_count = 0, m.fault = "no room";
    assert_int_equal(recording_write_result(r, WIRE_TYPE_CAPTURE, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM captures WHERE id = 2 AND asked_ns = 900 AND at_ns"
                          " = 990 AND reason = 'why' AND alert = 3 AND nodes = 2 AND answered = 2"
                          " AND records = 3 AND fault = 'no room'"),
        1);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM capture_events"), 3);
    assert_int_equal(recording_bed_ask(
                         "SELECT count(*) FROM capture_events WHERE capture = 2 AND rank = 4 AND"
                         " thread = 0 AND number = 1 AND host = 'n0' AND kind = 'call' AND call ="
                         " 'MPI_Send' AND enter_ns = 950 AND exit_ns = 970 AND peer = 3 AND tag = 7"
                         " AND bytes = 64 AND comm = 9 AND comm_name = 'rows' AND region = 'solve'"
                         " AND request = 5 AND state = 'send done' AND posted_ns = 940 AND source"
                         " IS NULL AND source_tag IS NULL"),
                     1);
    assert_int_equal(
        recording_bed_ask(
            "SELECT count(*) FROM capture_events WHERE kind = 'message' AND peer = -3"
            " AND tag = -2 AND comm IS NULL AND request IS NULL AND posted_ns IS NULL"),
        1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM capture_events WHERE thread = 1 AND exit_ns IS NULL"
                          " AND peer IS NULL AND tag IS NULL AND source = 6 AND source_tag = 8"),
        1);
}

static struct wire_cause_row causes[] = {{"network", 0.8125, "2.1 ms \"more\"\n"},
                                         {"mapping", 0.1, ""}};

static struct wire_alert full_alert(const char *state)
{
    return (struct wire_alert){.job = "job.0",
                               .id = 1,
                               .kind = "latency",
                               .state = state,
                               .since_ns = 10,
                               .updated_ns = 30,
                               .title = "latency 2x",
                               .text = "text",
                               .rank = -1,
                               .host = "n0",
                               .rule = "latency-growth",
                               .severity = "warning",
                               .region = 3,
                               .ranks = "0-3,8",
                               .ratio = 2.25,
                               .slope = NAN,
                               .onset_ns = 5,
                               .locality = "inter-node",
                               .sizes = "1 KiB",
                               .causes = causes,
                               .causes_count = 2,
                               .advice = "look at n0",
                               .updates = 4,
                               .error_ns = 77,
                               .comm = UINT64_MAX,
                               .nodes = "n0,n1",
                               .fired_ns = 20};
}

static void same_text(const char *a, const char *b)
{
    assert_string_equal(a, b);
}

static int on_full_alert(void *user, const struct wire_alert *a)
{
    struct wire_alert e = full_alert("resolved");
    ++*(unsigned *)user;
    assert_int_equal(a->id, e.id);
    same_text(a->kind, e.kind);
    same_text(a->state, e.state);
    same_text(a->title, e.title);
    same_text(a->text, e.text);
    same_text(a->host, e.host);
    same_text(a->rule, e.rule);
    same_text(a->severity, e.severity);
    same_text(a->ranks, e.ranks);
    same_text(a->locality, e.locality);
    same_text(a->sizes, e.sizes);
    same_text(a->advice, e.advice);
    same_text(a->nodes, e.nodes);
    assert_true(a->since_ns == 10 && a->fired_ns == 20 && a->updated_ns == 30 && a->onset_ns == 5);
    assert_true(a->region == 3 && a->rank == -1 && a->updates == 4 && a->error_ns == 77);
    assert_true(a->comm == UINT64_MAX && a->ratio == 2.25 && isnan(a->slope));
    assert_int_equal(a->causes_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        same_text(a->causes[i].name, causes[i].name);
        same_text(a->causes[i].text, causes[i].text);
        assert_true(a->causes[i].share == causes[i].share);
    }
    return 0;
}

/* A window of the job, without which a recording is none. */
static void keep_window(struct recording *r)
{
    struct wire_window w = {.seq = 1, .job = "job.0", .host = "a", .window = 1, .length_ns = 1000};
    kept_message(r, recording_bed_head(1), WIRE_TYPE_WINDOW, &w);
}

static void hot_links_have_rows_until_they_have_cooled(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_dimension_row line = {"x", 4, 1, 0, 0};
    struct wire_seat_row seats[] = {{0, 0}, {1, 3}, {2, UINT64_MAX}};
    struct wire_topology network = {.job = "job.0",
                                    .name = "line",
                                    .source = "line.yaml",
                                    .fault = "",
                                    .dimensions = &line,
                                    .dimensions_count = 1,
                                    .seats = seats,
                                    .seats_count = 2,
                                    .more = 1};
    struct wire_link_row rows[] = {
        {.link = 0,
         .from = 0,
         .to = 1,
         .state = LINK_HOT,
         .bytes = 900,
         .share = NAN,
         .latency = 2.5,
         .measured = UINT64_MAX,
         .ratio = NAN},
        {.link = 2, .from = 1, .to = 2, .state = LINK_CONGESTED, .measured = 5, .ratio = 2},
        {.link = 4, .from = 2, .to = 3, .state = LINK_BUSY, .since = 7}};
    struct wire_link_route_row route = {0, 0, 1, 10, 900, 3};
    struct wire_links m = {.job = "job.0",
                           .window = 7,
                           .links = rows,
                           .links_count = 3,
                           .routes = &route,
                           .routes_count = 1};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOPOLOGY, &network), 0);
    network.seats += 2, network.seats_count = 1, network.more = 0, network.dimensions_count = 0;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOPOLOGY, &network), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LINKS, &m), 0);
    m.window = 8, m.links_count = 1, m.routes_count = 0, m.more = 1;
    rows[0].state = LINK_BUSY;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LINKS, &m), 0);
    m.links_count = 0, m.more = 0;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LINKS, &m), 0);
    m.window = 9;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LINKS, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM seat WHERE vertex IS NULL AND rank = 2"), 1);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM seat WHERE name = '(3)' AND rank = 1"),
                     1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM topology WHERE text LIKE '%4 nodes%6 links'"), 1);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM link"), 4);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM link WHERE window = 7 AND state = 'hot' AND "
                          "source = '(0)' AND destination = '(1)' AND share IS NULL AND "
                          "measured IS NULL AND latency = 2.5"),
        1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM link WHERE window = 7 AND state = 'congested' AND "
                          "measured = 5 AND unit = 'bytes'"),
        1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM link WHERE window = 8 AND state = 'busy'"), 1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM link WHERE window = 8 AND state = 'idle' AND "
                          "link = 2"),
        1);
    assert_int_equal(
        recording_bed_ask("SELECT bytes FROM link_route WHERE source = 0 AND destination = 1"),
        900);
}

static void a_network_is_read_back_as_it_was_published(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_vertex_row vertices[] = {{"a", 0}, {"b", 0}, {"s", 1}};
    struct wire_edge_row edges[] = {{0, 2, 5, "eth0"}, {2, 0, 5, ""}, {1, 2, 0, ""}, {2, 1, 0, ""}};
    struct wire_hop_row hops[] = {{0, 1, 2}, {0, 1, 1}, {0, 1, 2}, {0, 1, 1}, {1, 0, 2}, {1, 0, 0}};
    struct wire_topology m = {.job = "job.0",
                              .name = "n",
                              .kind = TOPOLOGY_GRAPH,
                              .source = "n.yaml",
                              .capacity = 9,
                              .vertices = vertices,
                              .vertices_count = 3,
                              .more = 1};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    m.vertices_count = 0, m.edges = edges, m.edges_count = 4, m.hops = hops, m.hops_count = 3;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    m.edges_count = 0, m.hops = hops + 3, m.hops_count = 3, m.more = 0;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    keep_window(r);
    assert_int_equal(recording_close(r), 0);
    char why[200];
    struct recording_cursor *cursor;
    struct topology_parts parts;
    assert_int_equal(recording_cursor_open(&cursor, recording_bed_path, why, sizeof(why)), 0);
    assert_int_equal(recording_cursor_network(cursor, &parts), 0);
    recording_cursor_close(cursor);
    assert_string_equal(parts.source, "n.yaml");
    assert_int_equal(parts.spec.kind, TOPOLOGY_GRAPH);
    assert_int_equal(parts.spec.vertex_count, 3);
    assert_string_equal(parts.spec.vertices[2].name, "s");
    assert_int_equal(parts.spec.edge_count, 4);
    assert_string_equal(parts.spec.edges[0].interface, "eth0");
    assert_true(parts.spec.edges[0].capacity > 4 && parts.spec.capacity > 8);
    assert_int_equal(parts.spec.route_count, 3);
    assert_int_equal(parts.spec.routes[2].count, 3);
    assert_int_equal(parts.spec.path[parts.spec.routes[2].first], 1);
    topology_parts_finish(&parts);
    assert_false(topology_parts_has(&parts));
}

static void an_episode_is_one_row_with_its_evidence_and_comes_back_whole(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_alert alert = full_alert("pending");
    unsigned alerts = 0;
    (void)state;
    alert.fired_ns = 0, alert.causes_count = 0, alert.ratio = NAN;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
    alert = full_alert("firing");
    assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
    alert = full_alert("resolved");
    assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM alert WHERE state='resolved' AND ratio=2.25 AND "
                          "slope IS NULL AND ranks='0-3,8' AND comm=-1"),
        1);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM alert, json_each(causes) WHERE value->>'name'="
                          "'network' AND value->>'share'=0.8125"),
        1);
    struct recording_reader reader = {&alerts, on_full_alert, recording_bed_no_message};
    assert_int_equal(recording_read(recording_bed_path, &reader), 0);
    assert_int_equal(alerts, 1);
}

static void latencies_are_a_row_a_window_and_series_and_criteria_the_latest(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_series_row series[] = {
        {.scope = SERIES_JOB, .messages = 9, .recent = 1.5, .reference = 2, .slope = NAN},
        {.scope = SERIES_REGION, .id = 4, .trend = TREND_GROWTH, .trend_since = 6, .slope = 0.25},
    };
    struct wire_criterion_row criterion = {
        .locality = 1, .size_class = 12, .recent_ns = 1000, .reference_ns = 900, .messages = 55};
    struct wire_latencies m = {.job = "job.0",
                               .window = 7,
                               .start_ns = 700,
                               .length_ns = 100,
                               .series = series,
                               .series_count = 2,
                               .criteria = &criterion,
                               .criteria_count = 1};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LATENCIES, &m), 0);
    m.window = 8, m.start_ns = 800, m.series_count = 1;
    criterion.recent_ns = 1100;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LATENCIES, &m), 0);
    series[0].messages = 10; /* a correction */
    assert_int_equal(recording_write_result(r, WIRE_TYPE_LATENCIES, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM latency"), 3);
    assert_int_equal(
        recording_bed_ask("SELECT start_ns FROM latency WHERE scope='region' AND id=4 AND "
                          "trend='growth' AND slope=0.25"),
        700);
    assert_int_equal(
        recording_bed_ask("SELECT messages FROM latency WHERE scope='job' AND window=8 AND "
                          "reference=2 AND slope IS NULL AND trend='calm'"),
        10);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM criterion"), 1);
    assert_int_equal(
        recording_bed_ask("SELECT recent_ns FROM criterion WHERE locality='inter-node' AND "
                          "size_class=12 AND window=8"),
        1100);
}

static void members_of_regions_are_kept_with_the_window_of_each_change(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_latency_region_row regions[] = {{1, 2, 3}, {2, 1, 3}};
    struct wire_region_member_row members[] = {{0, 1}, {1, 1}, {2, 2}};
    struct wire_regions m = {.job = "job.0",
                             .window = 3,
                             .regions = regions,
                             .regions_count = 2,
                             .members = members,
                             .members_count = 3};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_REGIONS, &m), 0);
    m.window = 9, members[1].region = 2, regions[0].ranks = 1, regions[1].ranks = 2;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_REGIONS, &m), 0);
    m.window = 12, members[1].region = 1; /* and back */
    assert_int_equal(recording_write_result(r, WIRE_TYPE_REGIONS, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM region_member"), 5);
    assert_int_equal(
        recording_bed_ask("SELECT region FROM region_member WHERE rank=1 AND since<=10 ORDER BY "
                          "since DESC LIMIT 1"),
        2);
    assert_int_equal(recording_bed_ask(
                         "SELECT count(*) FROM (SELECT rank, region, max(since) FROM region_member "
                         "GROUP BY rank) WHERE region=1"),
                     2);
    assert_int_equal(
        recording_bed_ask("SELECT ranks FROM region WHERE id=2 AND since=3 AND window=12"), 2);
}

static void closed_phases_and_their_points_are_rows_and_open_ones_are_not(void **state)
{
    struct recording *r = recording_bed_open();
    struct wire_phase_row phases[] = {
        {.id = 1, .begin_ns = 5, .end_ns = 9, .messages = 7, .modularity = 0.5},
        {.id = 2, .open = 1, .modularity = NAN},
    };
    struct wire_curve_point_row points[] = {{.phase = 1, .height = -0.25, .resembles = 3},
                                            {.phase = 2, .provisional = 1}};
    struct wire_phases m = {
        .job = "job.0", .window = 7, .phases = phases, .phases_count = 2, .modelled = 1};
    struct wire_curve curve = {.job = "job.0", .window = 7, .points = points, .points_count = 2};
    (void)state;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_PHASES, &m), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_CURVE, &curve), 0);
    phases[1].open = 0; /* it has closed */
    points[1].provisional = 0;
    assert_int_equal(recording_write_result(r, WIRE_TYPE_PHASES, &m), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_CURVE, &curve), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM phase"), 2);
    assert_int_equal(
        recording_bed_ask("SELECT messages FROM phase WHERE id=1 AND end_ns=9 AND modularity=0.5"),
        7);
    assert_int_equal(recording_bed_ask("SELECT id FROM phase WHERE modularity IS NULL AND open=0"),
                     2);
    assert_int_equal(
        recording_bed_ask("SELECT resembles FROM curve WHERE phase=1 AND height=-0.25"), 3);
}

static int count_only(void *user, const struct wire_alert *alert)
{
    *(uint64_t *)user += alert->causes_count;
    return 0;
}

static void causes_that_are_no_json_are_none(void **state)
{
    static const char *const texts[] = {"", "{", "7", "[1,2]", "{\"a\":1}", "[[],{}]"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char sql[160];
        uint64_t count = 0;
        struct recording *r = recording_bed_open();
        struct wire_alert alert = full_alert("firing");
        assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
        assert_int_equal(recording_close(r), 0);
        snprintf(sql, sizeof(sql), "UPDATE alert SET causes='%s'", texts[i]);
        recording_bed_run(sql);
        struct recording_reader reader = {&count, count_only, recording_bed_no_message};
        assert_int_equal(recording_read(recording_bed_path, &reader), 0);
        assert_true(count <= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORDING_BED(tables_hold_what_was_published_last),
        RECORDING_BED(the_ranks_that_caused_most_lateness_are_recorded),
        RECORDING_BED(captures_are_a_row_each_and_one_for_each_record),
        RECORDING_BED(an_episode_is_one_row_with_its_evidence_and_comes_back_whole),
        RECORDING_BED(hot_links_have_rows_until_they_have_cooled),
        RECORDING_BED(a_network_is_read_back_as_it_was_published),
        RECORDING_BED(latencies_are_a_row_a_window_and_series_and_criteria_the_latest),
        RECORDING_BED(members_of_regions_are_kept_with_the_window_of_each_change),
        RECORDING_BED(closed_phases_and_their_points_are_rows_and_open_ones_are_not),
        RECORDING_BED(causes_that_are_no_json_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
