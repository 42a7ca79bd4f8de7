#include "daemon/recording.h"
#include "holter/error.h"
#include "tests/daemon/kept.h"
#include "tests/directory.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[128];

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/holter-job.0.hrec", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static struct recording *open_it(void)
{
    struct recording *r;
    char why[256] = "";
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return r;
}

static struct recorded head_of(uint64_t seq)
{
    return (struct recorded){.type = WIRE_TYPE_WINDOW,
                             .instance = UINT64_MAX - 5,
                             .seq = seq,
                             .window = 7 + seq,
                             .time_ns = 1000 * seq,
                             .received_ns = 1000 * seq + 1};
}

/* A message that does not compress, so that files grow. */
static void fill(uint8_t *bytes, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

struct read_back {
    uint64_t messages, alerts, last_seq;
    size_t length;
};

static int on_alert(void *user, const struct wire_alert *alert)
{
    struct read_back *b = user;
    assert_int_equal(alert->id, ++b->alerts);
    return 0;
}

static int on_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct read_back *b = user;
    uint8_t expected[4096];
    assert_int_equal(head->instance, UINT64_MAX - 5);
    assert_int_equal(head->seq, b->last_seq + 1);
    fill(expected, length, head->seq);
    assert_int_equal(length, b->length);
    assert_memory_equal(bytes, expected, length);
    b->last_seq = head->seq;
    b->messages++;
    return 0;
}

static uint64_t read_back(size_t length)
{
    struct read_back b = {.length = length};
    assert_int_equal(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}), 0);
    return b.messages;
}

static int64_t ask(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}

static void keep(struct recording *r, uint64_t seq, size_t length)
{
    uint8_t bytes[4096];
    struct recorded head = head_of(seq);
    fill(bytes, length, seq);
    assert_int_equal(recording_message(r, &head, bytes, length), 0);
}

static void messages_come_back_byte_for_byte_in_order(void **state)
{
    struct recording *r = open_it();
    (void)state;
    for (uint64_t i = 1; i <= 50; i++)
        keep(r, i, 1000);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(1000), 50);
    assert_int_equal(ask("SELECT sum(length) FROM block"), 50000);
    assert_int_equal(ask("PRAGMA user_version"), RECORDING_SCHEMA);
    assert_int_equal(ask("PRAGMA application_id"), RECORDING_APPLICATION);
}

static void tables_hold_what_was_published_last(void **state)
{
    struct recording *r = open_it();
    struct wire_job job = {.job = "job.0",
                           .state = "running",
                           .app = "lmp",
                           .mpi = "x",
                           .world = 4,
                           .launcher = "mpirun"};
    struct wire_totals totals = {
        .job = "job.0", .window = 3, .length_ns = 10, .sent = 5, .late = 0};
    struct wire_host_row host = {"n0"};
    struct wire_place_row place = {3, 0, 55, "0-1"};
    struct wire_places places = {
        .job = "job.0", .hosts = &host, .hosts_count = 1, .places = &place, .places_count = 1};
    struct wire_alert alert = {
        .job = "job.0", .id = 1, .kind = "rank-died", .state = "firing", .title = "t", .rank = 3};
    (void)state;
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_TOTALS, &totals), 0);
    totals.sent = 9, totals.late = 1;
    assert_int_equal(recording_table(r, WIRE_TYPE_TOTALS, &totals), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_PLACES, &places), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
    job.state = "died";
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(
        ask("SELECT count(*) FROM job WHERE state='died' AND world=4 AND launcher='mpirun'"), 1);
    assert_int_equal(ask("SELECT sent FROM totals WHERE window=3 AND late=1"), 9);
    assert_int_equal(
        ask("SELECT pid FROM places JOIN nodes USING(node) WHERE host='n0' AND cores='0-1'"), 55);
    assert_int_equal(ask("SELECT rank FROM alert WHERE kind='rank-died'"), 3);
    struct read_back b = {0};
    assert_int_equal(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}), 0);
    assert_int_equal(b.alerts, 1);
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
    struct recording *r = open_it();
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
    assert_int_equal(recording_table(r, WIRE_TYPE_CAPTURE, &m), 0);
    m.at_ns = 990, m.answered = 2, m.events_count = m.threads_count = 0, m.fault = "no room";
    assert_int_equal(recording_table(r, WIRE_TYPE_CAPTURE, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM captures WHERE id = 2 AND asked_ns = 900 AND at_ns"
                         " = 990 AND reason = 'why' AND alert = 3 AND nodes = 2 AND answered = 2"
                         " AND records = 3 AND fault = 'no room'"),
                     1);
    assert_int_equal(ask("SELECT count(*) FROM capture_events"), 3);
    assert_int_equal(ask("SELECT count(*) FROM capture_events WHERE capture = 2 AND rank = 4 AND"
                         " thread = 0 AND number = 1 AND host = 'n0' AND kind = 'call' AND call ="
                         " 'MPI_Send' AND enter_ns = 950 AND exit_ns = 970 AND peer = 3 AND tag = 7"
                         " AND bytes = 64 AND comm = 9 AND comm_name = 'rows' AND region = 'solve'"
                         " AND request = 5 AND state = 'send done' AND posted_ns = 940 AND source"
                         " IS NULL AND source_tag IS NULL"),
                     1);
    assert_int_equal(
        ask("SELECT count(*) FROM capture_events WHERE kind = 'message' AND peer = -3"
            " AND tag = -2 AND comm IS NULL AND request IS NULL AND posted_ns IS NULL"),
        1);
    assert_int_equal(ask("SELECT count(*) FROM capture_events WHERE thread = 1 AND exit_ns IS NULL"
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

static int no_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)user;
    (void)head;
    (void)bytes;
    (void)length;
    return 0;
}

/* A window of the job, without which a recording is none. */
static void keep_window(struct recording *r)
{
    struct wire_window w = {.seq = 1, .job = "job.0", .host = "a", .window = 1, .length_ns = 1000};
    kept_message(r, head_of(1), WIRE_TYPE_WINDOW, &w);
}

static void hot_links_have_rows_until_they_have_cooled(void **state)
{
    struct recording *r = open_it();
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
    assert_int_equal(recording_table(r, WIRE_TYPE_TOPOLOGY, &network), 0);
    network.seats += 2, network.seats_count = 1, network.more = 0, network.dimensions_count = 0;
    assert_int_equal(recording_table(r, WIRE_TYPE_TOPOLOGY, &network), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_LINKS, &m), 0);
    m.window = 8, m.links_count = 1, m.routes_count = 0, m.more = 1;
    rows[0].state = LINK_BUSY;
    assert_int_equal(recording_table(r, WIRE_TYPE_LINKS, &m), 0);
    m.links_count = 0, m.more = 0;
    assert_int_equal(recording_table(r, WIRE_TYPE_LINKS, &m), 0);
    m.window = 9;
    assert_int_equal(recording_table(r, WIRE_TYPE_LINKS, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM seat WHERE vertex IS NULL AND rank = 2"), 1);
    assert_int_equal(ask("SELECT count(*) FROM seat WHERE name = '(3)' AND rank = 1"), 1);
    assert_int_equal(ask("SELECT count(*) FROM topology WHERE text LIKE '%4 nodes%6 links'"), 1);
    assert_int_equal(ask("SELECT count(*) FROM link"), 4);
    assert_int_equal(ask("SELECT count(*) FROM link WHERE window = 7 AND state = 'hot' AND "
                         "source = '(0)' AND destination = '(1)' AND share IS NULL AND "
                         "measured IS NULL AND latency = 2.5"),
                     1);
    assert_int_equal(ask("SELECT count(*) FROM link WHERE window = 7 AND state = 'congested' AND "
                         "measured = 5 AND unit = 'bytes'"),
                     1);
    assert_int_equal(ask("SELECT count(*) FROM link WHERE window = 8 AND state = 'busy'"), 1);
    assert_int_equal(ask("SELECT count(*) FROM link WHERE window = 8 AND state = 'idle' AND "
                         "link = 2"),
                     1);
    assert_int_equal(ask("SELECT bytes FROM link_route WHERE source = 0 AND destination = 1"), 900);
}

static void a_network_comes_back_as_it_was_told(void **state)
{
    struct recording *r = open_it();
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
    assert_int_equal(recording_table(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    m.vertices_count = 0, m.edges = edges, m.edges_count = 4, m.hops = hops, m.hops_count = 3;
    assert_int_equal(recording_table(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    m.edges_count = 0, m.hops = hops + 3, m.hops_count = 3, m.more = 0;
    assert_int_equal(recording_table(r, WIRE_TYPE_TOPOLOGY, &m), 0);
    keep_window(r);
    assert_int_equal(recording_close(r), 0);
    char why[200];
    struct recording_cursor *cursor;
    struct network_parts parts;
    assert_int_equal(recording_cursor_open(&cursor, path, why, sizeof(why)), 0);
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
    network_parts_finish(&parts);
    assert_false(network_parts_has(&parts));
}

static void an_episode_is_one_row_with_its_evidence_and_comes_back_whole(void **state)
{
    struct recording *r = open_it();
    struct wire_alert alert = full_alert("pending");
    unsigned alerts = 0;
    (void)state;
    alert.fired_ns = 0, alert.causes_count = 0, alert.ratio = NAN;
    assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
    alert = full_alert("firing");
    assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
    alert = full_alert("resolved");
    assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM alert WHERE state='resolved' AND ratio=2.25 AND "
                         "slope IS NULL AND ranks='0-3,8' AND comm=-1"),
                     1);
    assert_int_equal(ask("SELECT count(*) FROM alert, json_each(causes) WHERE value->>'name'="
                         "'network' AND value->>'share'=0.8125"),
                     1);
    struct recording_reader reader = {&alerts, on_full_alert, no_message};
    assert_int_equal(recording_read(path, &reader), 0);
    assert_int_equal(alerts, 1);
}

static void latencies_are_a_row_a_window_and_series_and_criteria_the_latest(void **state)
{
    struct recording *r = open_it();
    struct wire_series_row series[] = {
        {.scope = SERIES_JOB, .messages = 9, .recent = 1.5, .reference = 2, .slope = NAN},
        {.scope = SERIES_REGION, .id = 4, .trend = TREND_GROWTH, .trend_since = 6, .slope = 0.25},
    };
    struct wire_criterion_row criterion = {1, 12, 1000, 900, 55};
    struct wire_latencies m = {.job = "job.0",
                               .window = 7,
                               .start_ns = 700,
                               .length_ns = 100,
                               .series = series,
                               .series_count = 2,
                               .criteria = &criterion,
                               .criteria_count = 1};
    (void)state;
    assert_int_equal(recording_table(r, WIRE_TYPE_LATENCIES, &m), 0);
    m.window = 8, m.start_ns = 800, m.series_count = 1;
    criterion.recent_ns = 1100;
    assert_int_equal(recording_table(r, WIRE_TYPE_LATENCIES, &m), 0);
    series[0].messages = 10; /* a correction */
    assert_int_equal(recording_table(r, WIRE_TYPE_LATENCIES, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM latency"), 3);
    assert_int_equal(ask("SELECT start_ns FROM latency WHERE scope='region' AND id=4 AND "
                         "trend='growth' AND slope=0.25"),
                     700);
    assert_int_equal(ask("SELECT messages FROM latency WHERE scope='job' AND window=8 AND "
                         "reference=2 AND slope IS NULL AND trend='calm'"),
                     10);
    assert_int_equal(ask("SELECT count(*) FROM criterion"), 1);
    assert_int_equal(ask("SELECT recent_ns FROM criterion WHERE locality='inter-node' AND "
                         "size_class=12 AND window=8"),
                     1100);
}

static void members_of_regions_are_kept_with_the_window_of_each_change(void **state)
{
    struct recording *r = open_it();
    struct wire_latency_region_row regions[] = {{1, 2, 3}, {2, 1, 3}};
    struct wire_region_member_row members[] = {{0, 1}, {1, 1}, {2, 2}};
    struct wire_regions m = {.job = "job.0",
                             .window = 3,
                             .regions = regions,
                             .regions_count = 2,
                             .members = members,
                             .members_count = 3};
    (void)state;
    assert_int_equal(recording_table(r, WIRE_TYPE_REGIONS, &m), 0);
    m.window = 9, members[1].region = 2, regions[0].ranks = 1, regions[1].ranks = 2;
    assert_int_equal(recording_table(r, WIRE_TYPE_REGIONS, &m), 0);
    m.window = 12, members[1].region = 1; /* and back */
    assert_int_equal(recording_table(r, WIRE_TYPE_REGIONS, &m), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM region_member"), 5);
    assert_int_equal(ask("SELECT region FROM region_member WHERE rank=1 AND since<=10 ORDER BY "
                         "since DESC LIMIT 1"),
                     2);
    assert_int_equal(ask("SELECT count(*) FROM (SELECT rank, region, max(since) FROM region_member "
                         "GROUP BY rank) WHERE region=1"),
                     2);
    assert_int_equal(ask("SELECT ranks FROM region WHERE id=2 AND since=3 AND window=12"), 2);
}

static void closed_phases_and_their_points_are_rows_and_open_ones_are_not(void **state)
{
    struct recording *r = open_it();
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
    assert_int_equal(recording_table(r, WIRE_TYPE_PHASES, &m), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_CURVE, &curve), 0);
    phases[1].open = 0; /* it has closed */
    points[1].provisional = 0;
    assert_int_equal(recording_table(r, WIRE_TYPE_PHASES, &m), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_CURVE, &curve), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM phase"), 2);
    assert_int_equal(ask("SELECT messages FROM phase WHERE id=1 AND end_ns=9 AND modularity=0.5"),
                     7);
    assert_int_equal(ask("SELECT id FROM phase WHERE modularity IS NULL AND open=0"), 2);
    assert_int_equal(ask("SELECT resembles FROM curve WHERE phase=1 AND height=-0.25"), 3);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void columns_that_somebody_added_do_no_harm(void **state)
{
    static const char *const tables[] = {
        "job",        "block",    "agent",         "part",          "nodes",  "places",
        "totals",     "alert",    "latency",       "criterion",     "region", "region_member",
        "phase",      "curve",    "topology",      "topology_part", "seat",   "link",
        "link_route", "captures", "capture_events"};
    char sql[100];
    (void)state;
    assert_int_equal(recording_close(open_it()), 0);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN note DEFAULT 5", tables[i]);
        run_sql(sql);
    }
    run_sql("CREATE TABLE notes(note TEXT)");
    struct recording *r = open_it();
    keep(r, 1, 100);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT sum(messages) FROM block"), 1);
    assert_int_equal(ask("SELECT note FROM agent"), 5);
}

/* The tables of version 1, as its daemon made them. */
static void make_version_1(void)
{
    run_sql("PRAGMA application_id=0x48524543; PRAGMA user_version=1;"
            "CREATE TABLE job(one INTEGER PRIMARY KEY CHECK(one = 1), job TEXT, state TEXT, app "
            "TEXT, command TEXT, mpi TEXT, user TEXT, world INTEGER, seen INTEGER, start_ns "
            "INTEGER, end_ns INTEGER, window_ns INTEGER, holter TEXT);"
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, time_ns INTEGER, window INTEGER, type "
            "INTEGER, instance INTEGER, seq INTEGER, received_ns INTEGER, length INTEGER, zstd "
            "BLOB);"
            "CREATE INDEX messages_by_time ON messages(time_ns);"
            "CREATE TABLE nodes(node INTEGER PRIMARY KEY, host TEXT);"
            "CREATE TABLE places(rank INTEGER PRIMARY KEY, node INTEGER, pid INTEGER, cores TEXT);"
            "CREATE TABLE totals(window INTEGER, start_ns INTEGER, sent INTEGER, PRIMARY "
            "KEY(window));"
            "CREATE TABLE alerts(id INTEGER PRIMARY KEY, kind TEXT, state TEXT, since_ns INTEGER, "
            "updated_ns INTEGER, title TEXT, text TEXT, rank INTEGER, host TEXT);"
            "INSERT INTO totals VALUES(3, 300, 9);"
            "INSERT INTO alerts VALUES(1,'rank-died','firing',10,11,'t','x',3,'');");
}

static int on_old_alert(void *user, const struct wire_alert *a)
{
    ++*(unsigned *)user;
    same_text(a->kind, "rank-died");
    same_text(a->rule, "");
    assert_true(a->fired_ns == 10 && a->rank == 3 && isnan(a->ratio) && a->causes_count == 0);
    return 0;
}

static void a_file_of_version_1_is_read_and_continued(void **state)
{
    unsigned alerts = 0;
    struct recording_reader reader = {&alerts, on_old_alert, no_message};
    struct wire_totals totals = {.job = "job.0", .window = 4, .sent = 5, .other_ns = 6};
    (void)state;
    make_version_1();
    assert_int_equal(recording_read(path, &reader), 0);
    struct recording *r = open_it();
    assert_int_equal(recording_table(r, WIRE_TYPE_TOTALS, &totals), 0);
    const struct wire_job job = {.job = "job.0", .state = "ended", .launcher = "srun of Slurm"};
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT launcher='srun of Slurm' FROM job"), 1);
    assert_int_equal(ask("PRAGMA user_version"), RECORDING_SCHEMA);
    assert_int_equal(ask("SELECT sum(sent) FROM totals"), 14);
    assert_int_equal(ask("SELECT other_ns FROM totals WHERE window=4"), 6);
    assert_int_equal(ask("SELECT count(*) FROM sqlite_master WHERE name='alerts'"), 0);
    assert_int_equal(recording_read(path, &reader), 0);
    assert_int_equal(alerts, 2);
}

static void a_file_that_cannot_be_brought_up_to_date_stays_as_it_was(void **state)
{
    struct recording *r;
    char why[256] = "";
    (void)state;
    make_version_1();
    run_sql("DROP TABLE alerts; CREATE TABLE alerts(x);");
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -EIO);
    assert_non_null(strstr(why, "no such column"));
    assert_int_equal(ask("PRAGMA user_version"), 1);
    assert_int_equal(ask("SELECT count(*) FROM sqlite_master WHERE name='latency'"), 0);
    run_sql("PRAGMA user_version=8"); /* made by a later Holter */
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -HOLTER_EVERSION);
    assert_non_null(strstr(why, "schema 8"));
}

/* What version 3 added is made; what was there stays. */
static void a_file_of_version_2_is_continued(void **state)
{
    (void)state;
    make_version_1();
    struct recording *r = open_it();
    assert_int_equal(recording_close(r), 0);
    run_sql("DROP TABLE phase; DROP TABLE curve; PRAGMA user_version=2;");
    unsigned alerts = 0;
    struct recording_reader reader = {&alerts, on_old_alert, no_message};
    assert_int_equal(recording_read(path, &reader), 0);
    assert_int_equal(alerts, 1);
    r = open_it();
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("PRAGMA user_version"), RECORDING_SCHEMA);
    assert_int_equal(ask("SELECT count(*) FROM phase"), 0);
    assert_int_equal(ask("SELECT sent FROM totals"), 9);
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
        struct recording *r = open_it();
        struct wire_alert alert = full_alert("firing");
        assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
        assert_int_equal(recording_close(r), 0);
        snprintf(sql, sizeof(sql), "UPDATE alert SET causes='%s'", texts[i]);
        run_sql(sql);
        struct recording_reader reader = {&count, count_only, no_message};
        assert_int_equal(recording_read(path, &reader), 0);
        assert_true(count <= 2);
    }
}

static void two_writers_never_have_one_file(void **state)
{
    struct recording *r = open_it(), *second;
    char why[256];
    (void)state;
    assert_int_equal(recording_open(&second, path, why, sizeof(why)), -EWOULDBLOCK);
    assert_non_null(strstr(why, "another daemon"));
    assert_int_equal(recording_close(r), 0);
    r = open_it();
    assert_int_equal(recording_close(r), 0);
}

static void a_full_disk_leaves_a_valid_file_up_to_the_last_commit(void **state)
{
    struct recording *r = open_it();
    uint8_t bytes[4096];
    uint64_t seq = 0, committed = 0;
    int code = 0;
    (void)state;
    recording_limit(r, 400);
    while (code == 0) {
        struct recorded head = head_of(seq + 1);
        fill(bytes, sizeof(bytes), seq + 1);
        code = recording_message(r, &head, bytes, sizeof(bytes));
        if (code == 0 && ++seq % 10 == 0) {
            code = recording_commit(r);
            committed = code == 0 ? seq : committed;
        }
        assert_true(seq < 1000);
    }
    assert_int_equal(code, -EIO);
    assert_string_equal(recording_error(r), "database or disk is full");
    recording_abandon(r);
    assert_true(committed >= 50);
    assert_int_equal(read_back(4096), committed);
    assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
                     1);
}

/* The child is killed in the middle of a transaction, with no chance to clean up. */
static void a_killed_writer_loses_what_was_not_committed_and_no_more(void **state)
{
    int told[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        struct recording *r = NULL;
        char why[256];
        if (recording_open(&r, path, why, sizeof(why)) != 0)
            _exit(1);
        for (uint64_t seq = 1; seq <= 60; seq++) {
            uint8_t bytes[4096];
            struct recorded head = head_of(seq);
            fill(bytes, sizeof(bytes), seq);
            recording_message(r, &head, bytes, sizeof(bytes));
            if (seq == 40)
                recording_commit(r);
        }
        if (write(told[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(read_back(4096), 40);
    assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
                     1);
    struct recording *r = open_it(); /* the dead one's lock is nobody's */
    keep(r, 41, 4096);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(4096), 41);
}

/* Bytes of the first block of messages that Huffman codes halve, with a commit after each so many of them. */
static int64_t bytes_of_first_block(uint64_t messages_a_commit)
{
    uint8_t bytes[4096];
    unlink(path);
    struct recording *r = open_it();
    for (uint64_t seq = 1; seq <= 300; seq++) {
        struct recorded head = head_of(seq);
        fill(bytes, sizeof(bytes), seq);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] >>= 4;
        assert_int_equal(recording_message(r, &head, bytes, sizeof(bytes)), 0);
        if (seq % messages_a_commit == 0)
            assert_int_equal(recording_commit(r), 0);
    }
    assert_int_equal(recording_close(r), 0);
    return ask("SELECT length(data) FROM block ORDER BY first LIMIT 1");
}

static void what_comes_slowly_is_packed_small_and_what_comes_fast_is_packed_fast(void **state)
{
    (void)state;
    int64_t trickled = bytes_of_first_block(10);
    assert_in_range(trickled, 500000, 700000);
    assert_in_range(bytes_of_first_block(301), 1000000, 1100000);
    assert_in_range(bytes_of_first_block(250), 1000000, 1100000);
}

static void put_state(const char *state)
{
    struct recording *r = open_it();
    struct wire_job job = {.job = "job.0", .state = state, .app = "a", .mpi = "m"};
    keep(r, 1, 10);
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
}

static void a_running_job_s_file_is_continued(void **state)
{
    char chosen[128];
    int exists = 1;
    (void)state;
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_false(exists);
    put_state("running");
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_true(exists);
}

/* Its daemon was killed before it had made tables in it. */
static void a_file_that_was_not_begun_is_begun(void **state)
{
    char chosen[128];
    int exists = 1;
    (void)state;
    fclose(fopen(path, "we"));
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_false(exists);
    put_state("running");
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_true(exists);
}

static void an_ended_job_s_file_is_left_alone(void **state)
{
    char chosen[128];
    int exists = 1;
    (void)state;
    put_state("ended");
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_non_null(strstr(chosen, "holter-job.0-2.hrec"));
    assert_false(exists);
    /* but for the agent whose messages it holds */
    assert_int_equal(
        recording_choose(directory, "job.0", UINT64_MAX - 5, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_true(exists);
}

static void other_files_are_refused(void **state)
{
    struct recording *r;
    char why[256];
    FILE *file = fopen(path, "w");
    struct read_back b = {0};
    (void)state;
    for (int i = 0; i < 3000; i++)
        fputs("this is no data base ", file);
    fclose(file);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -HOLTER_ECORRUPT);
    assert_true(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}) < 0);
    unlink(path);
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -HOLTER_EVERSION);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(messages_come_back_byte_for_byte_in_order),
        WITH_DIRECTORY(tables_hold_what_was_published_last),
        WITH_DIRECTORY(captures_are_a_row_each_and_one_for_each_record),
        WITH_DIRECTORY(an_episode_is_one_row_with_its_evidence_and_comes_back_whole),
        WITH_DIRECTORY(hot_links_have_rows_until_they_have_cooled),
        WITH_DIRECTORY(a_network_comes_back_as_it_was_told),
        WITH_DIRECTORY(latencies_are_a_row_a_window_and_series_and_criteria_the_latest),
        WITH_DIRECTORY(members_of_regions_are_kept_with_the_window_of_each_change),
        WITH_DIRECTORY(closed_phases_and_their_points_are_rows_and_open_ones_are_not),
        WITH_DIRECTORY(columns_that_somebody_added_do_no_harm),
        WITH_DIRECTORY(a_file_of_version_1_is_read_and_continued),
        WITH_DIRECTORY(a_file_of_version_2_is_continued),
        WITH_DIRECTORY(a_file_that_cannot_be_brought_up_to_date_stays_as_it_was),
        WITH_DIRECTORY(causes_that_are_no_json_are_none),
        WITH_DIRECTORY(two_writers_never_have_one_file),
        WITH_DIRECTORY(a_full_disk_leaves_a_valid_file_up_to_the_last_commit),
        WITH_DIRECTORY(a_killed_writer_loses_what_was_not_committed_and_no_more),
        WITH_DIRECTORY(what_comes_slowly_is_packed_small_and_what_comes_fast_is_packed_fast),
        WITH_DIRECTORY(a_running_job_s_file_is_continued),
        WITH_DIRECTORY(a_file_that_was_not_begun_is_begun),
        WITH_DIRECTORY(an_ended_job_s_file_is_left_alone),
        WITH_DIRECTORY(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
