/* Pictures and replays of the daemon as a process: what clients get of a job that ran, and of its
 * recording. */
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/wire.h"
#include "proto/client.h"
#include "tests/daemon/daemon_bed.h"
#include "tests/daemon/storage/recording_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#define PATIENCE_MS 100000 /* only a failing test waits that long */
#define MS UINT64_C(1000000)
#define RANKS 8u
#define BYTES 1000u

__extension__ typedef unsigned __int128 wide;

static struct daemon_bed bed;
static char recording[160];
static const char *replay_option[2]; /* NULL: none */

static int set_up(void **state)
{
    (void)state;
    int code = daemon_bed_make(&bed);
    snprintf(recording, sizeof(recording), "%s/holter-job.0.hrec", bed.records);
    return code;
}

static int tear_down(void **state)
{
    (void)state;
    return daemon_bed_remove(&bed);
}

/* @param value  NULL: the option has none */
static pid_t start(const char *option, const char *value)
{
    const char *const words[] = {option, value, replay_option[0], replay_option[1]};
    const char *options[8] = {"--window", "100ms"};
    size_t count = 2;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (words[i] != NULL)
            options[count++] = words[i];
    }
    return daemon_bed_start(&bed, options);
}

/* ---- a job of one node, whose ranks pair up in one way after the other ------------- */

static void send_ranks(struct peer *p)
{
    struct wire_member_row members[RANKS];
    for (unsigned i = 0; i < RANKS; i++)
        members[i] = (struct wire_member_row){
            .rank = i, .pid = 100 + i, .placement = "0", .core = 1 + i, .numa = 1 + i / 4};
    struct wire_ranks ranks = {.seq = 1,
                               .job = "job.0",
                               .world = RANKS,
                               .app = "app",
                               .mpi = "mpi",
                               .host = "n0",
                               .members = members,
                               .members_count = RANKS};
    peer_send(p, WIRE_TYPE_RANKS, &ranks);
}

/* distance 0: silence */
static void send_window(struct peer *p, uint64_t seq, uint64_t window, unsigned distance,
                        uint64_t flags)
{
    struct wire_rank_row rows[RANKS];
    struct wire_burst_pair_row pairs[RANKS];
    struct wire_pair_row sums[RANKS];
    uint64_t at = window * 100 * MS + 50 * MS;
    wide sum = (wide)at * RANKS;
    for (unsigned i = 0; i < RANKS; i++) {
        rows[i] = (struct wire_rank_row){.rank = i, .calls = 3, .sent = 1, .in_call_peer = -1};
        sums[i] = (struct wire_pair_row){.source = i,
                                         .destination = i ^ distance,
                                         .size_class = size_class_of(BYTES),
                                         .messages = 1,
                                         .bytes = BYTES};
        pairs[i] = (struct wire_burst_pair_row){i, i ^ distance, size_class_of(BYTES), 1, BYTES};
    }
    struct wire_burst_row burst = {.first_ns = at,
                                   .last_ns = at,
                                   .time_sum_high = (uint64_t)(sum >> 64),
                                   .time_sum_low = (uint64_t)sum,
                                   .messages = RANKS,
                                   .bytes = RANKS * BYTES,
                                   .pairs = RANKS};
    struct wire_window w = {.seq = seq,
                            .job = "job.0",
                            .host = "n0",
                            .window = window,
                            .length_ns = 100 * MS,
                            .flags = flags,
                            .ranks = rows,
                            .ranks_count = RANKS,
                            .pairs = sums,
                            .pairs_count = distance > 0 ? RANKS : 0,
                            .bursts = &burst,
                            .bursts_count = distance > 0,
                            .burst_pairs = pairs,
                            .burst_pairs_count = distance > 0 ? RANKS : 0};
    peer_send(p, WIRE_TYPE_WINDOW, &w);
}

/* Forty windows of a run that is over, and its end. */
static void run_job(void)
{
    struct peer agent, viewer;
    uint64_t first = clock_real_ns() / (100 * MS) - 1000;
    peer_come(&bed, &agent, "agent", 11);
    peer_come(&bed, &viewer, "viewer", 0);
    send_ranks(&agent);
    for (unsigned i = 0; i < 40; i++)
        send_window(&agent, 2 + i, first + i,
                    i % 4 != 0     ? 0
                    : i % 16 == 12 ? 4
                    : i % 8 == 4   ? 2
                                   : 1,
                    i == 39 ? WINDOW_FINAL : 0);
    for (int ended = 0; !ended;) {
        peer_ask(&viewer, 9, "snapshot", "job", "");
        assert_int_equal(peer_receive(&viewer)->type == WIRE_TYPE_JOB ||
                             viewer.message.reply.code == -HOLTER_ENOJOB,
                         1);
        ended =
            viewer.message.type == WIRE_TYPE_JOB && strcmp(viewer.message.job.state, "ended") == 0;
        if (viewer.message.type != WIRE_TYPE_REPLY)
            peer_reply(&viewer);
    }
    peer_hang_up(&agent);
    peer_hang_up(&viewer);
}

/* Phases and curve, then a picture: a hash of all answers, byte for byte. */
static uint64_t look(void)
{
    struct peer p;
    int ended = 0;
    while (!ended) { /* a replay may still be at it */
        peer_come(&bed, &p, "viewer", 0);
        peer_ask(&p, 1, "snapshot", "job", "");
        peer_receive(&p);
        ended = p.message.type == WIRE_TYPE_JOB && strcmp(p.message.job.state, "ended") == 0;
        if (!ended)
            peer_hang_up(&p);
    }
    peer_reply(&p);
    p.hash = 0;
    peer_ask(&p, 3, "snapshot", "curve", "");
    peer_receive(&p);
    uint64_t curve = p.hash;
    peer_reply(&p);
    p.hash = 0;
    peer_ask(&p, 4, "snapshot", "phases", "");
    peer_receive(&p);
    uint64_t rows = p.hash; /* the reply has a frame's number, which is none of the state */
    assert_int_equal(p.message.phases.phases_count, 10);
    peer_reply(&p);
    p.hash = 0;
    peer_ask(&p, 5, "commgram", "", "phases=10 communities=4");
    peer_reply(&p);
    uint64_t picture = p.hash;
    p.hash = 0;
    peer_ask(&p, 6, "snapshot", "topology", "");
    peer_receive(&p);
    uint64_t topology = p.hash;
    assert_int_equal(p.message.type, WIRE_TYPE_TOPOLOGY);
    assert_int_equal(p.message.topology.seats_count, RANKS);
    peer_reply(&p);
    p.hash = 0;
    peer_ask(&p, 7, "snapshot", "links", "");
    peer_receive(&p);
    assert_int_equal(p.message.type, WIRE_TYPE_LINKS);
    uint64_t links = p.hash;
    peer_hang_up(&p);
    return curve * 31 + rows * 7 + picture + topology * 13 + links * 17;
}

static int64_t number_in_recording(const char *sql)
{
    return kept_ask(recording, sql);
}

/* The rows of the recording's tables are those of a snapshot. */
static void compare_with_tables(void)
{
    struct peer p;
    char sql[512];
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "snapshot", "phases", "");
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_PHASES);
    for (uint64_t i = 0; i < p.message.phases.phases_count; i++) {
        const struct wire_phase_row *r = &p.message.phases.phases[i];
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM phase WHERE id=%llu AND begin_ns=%llu AND end_ns=%llu AND "
                 "messages=%llu AND communities=%llu AND abs(modularity - %.17g) < 1e-15",
                 (unsigned long long)r->id, (unsigned long long)r->begin_ns,
                 (unsigned long long)r->end_ns, (unsigned long long)r->messages,
                 (unsigned long long)r->communities, r->modularity);
        assert_int_equal(number_in_recording(sql), 1);
    }
    peer_reply(&p);
    peer_ask(&p, 2, "snapshot", "curve", "");
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_CURVE);
    for (uint64_t i = 0; i < p.message.curve.points_count; i++) {
        const struct wire_curve_point_row *r = &p.message.curve.points[i];
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM curve WHERE phase=%llu AND abs(height - %.17g) < 1e-15 AND "
                 "returned=%llu AND resembles=%llu",
                 (unsigned long long)r->phase, r->height, (unsigned long long)r->returned,
                 (unsigned long long)r->resembles);
        assert_int_equal(number_in_recording(sql), 1);
    }
    peer_hang_up(&p);
    assert_int_equal(number_in_recording("SELECT count(*) FROM phase"), 10);
    assert_int_equal(number_in_recording("SELECT count(*) FROM curve"), 10);
}

/* ---- tests ------------------------------------------------------------------------- */

static void a_replay_is_what_was_live_byte_for_byte(void **state)
{
    (void)state;
    pid_t pid = start("--record", bed.records);
    run_job();
    uint64_t live = look();
    daemon_bed_stop(pid);
    for (int i = 0; i < 2; i++) {
        pid = start("--replay", recording);
        assert_true(look() == live);
        compare_with_tables();
        daemon_bed_stop(pid);
    }
    assert_int_equal(number_in_recording("SELECT sum(messages) FROM block"), 41);
}

static void the_network_of_a_replay(const char *given, int64_t vertex_of_7, const char *source)
{
    char sql[200];
    bed.topology = given;
    pid_t pid = start("--record", bed.records);
    run_job();
    uint64_t live = look();
    daemon_bed_stop(pid);
    bed.topology = "mesh:100"; /* of the environment: does not count */
    pid = start("--replay", recording);
    assert_true(look() == live);
    daemon_bed_stop(pid);
    assert_int_equal(number_in_recording("SELECT vertex FROM seat WHERE rank = 7"), vertex_of_7);
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM topology WHERE source = '%s' AND text LIKE '%%node%%'", source);
    assert_int_equal(number_in_recording(sql), 1);
    bed.topology = NULL;
}

static void a_replay_has_the_network_that_was_recorded(void **state)
{
    (void)state;
    the_network_of_a_replay("torus:4,4", 0, "torus:4,4");
}

static void a_replay_of_a_faulty_network_says_so_again(void **state)
{
    (void)state;
    the_network_of_a_replay("torus:4,4,", 1 + 2 + 7, "");
    assert_int_equal(number_in_recording("SELECT count(*) FROM topology WHERE fault <> ''"), 1);
}

static void a_replay_can_be_given_another_network(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = start("--record", bed.records);
    run_job();
    daemon_bed_stop(pid);
    replay_option[0] = "--topology";
    replay_option[1] = "mesh:3,2";
    pid = start("--replay", recording);
    look();
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "snapshot", "topology", "");
    peer_receive(&p);
    assert_string_equal(p.message.topology.source, "mesh:3,2");
    assert_int_equal(p.message.topology.dimensions_count, 2);
    peer_reply(&p);
    peer_ask(&p, 2, "status", "", "");
    assert_string_equal(peer_receive(&p)->status.topology, "mesh:3,2");
    peer_hang_up(&p);
    daemon_bed_stop(pid);
    replay_option[0] = replay_option[1] = NULL;
}

static void a_client_that_names_no_job_follows_that_of_the_replay(void **state)
{
    (void)state;
    pid_t pid = start("--record", bed.records);
    run_job();
    daemon_bed_stop(pid);
    pid = start("--replay", recording);
    struct client_options options = {.endpoint = bed.endpoint, .role = ROLE_VIEWER};
    struct client_message got;
    struct client *client;
    int ended = 0, phases = 0;
    assert_int_equal(client_create(&client, &options), 0);
    assert_int_equal(client_follow(client, NULL, "job,phases"), 0);
    while (!ended || !phases) {
        if (client_next(client, 100, &got) != 1)
            continue;
        ended |= got.message->type == WIRE_TYPE_JOB && strcmp(got.message->job.state, "ended") == 0;
        phases |= got.message->type == WIRE_TYPE_PHASES;
    }
    client_destroy(client);
    daemon_bed_stop(pid);
}

static void agents_are_not_served_by_a_replay(void **state)
{
    (void)state;
    struct peer agent;
    pid_t pid = start("--record", bed.records);
    run_job();
    daemon_bed_stop(pid);
    pid = start("--replay", recording);
    peer_dial(&bed, &agent, NULL, ROLE_NONE);
    assert_int_equal(peer_greet(&agent, "agent", 12)->type, WIRE_TYPE_REFUSED);
    assert_non_null(strstr(agent.message.refused.text, "replays"));
    peer_hang_up(&agent);
    daemon_bed_stop(pid);
}

static void other_files_are_not_replayed(void **state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof(path), "%s/none.hrec", bed.directory);
    assert_int_equal(daemon_bed_status(start("--replay", path)), 1);
    FILE *file = fopen(path, "w");
    fputs("no recording at all, but long enough to be looked at", file);
    fclose(file);
    assert_int_equal(daemon_bed_status(start("--replay", path)), 1);
    remove(path);
    pid_t pid = start("--record", bed.records); /* one without a window */
    struct peer agent;
    peer_come(&bed, &agent, "agent", 11);
    send_ranks(&agent);
    while (peer_receive(&agent)->type != WIRE_TYPE_ACK)
        ;
    peer_hang_up(&agent);
    daemon_bed_stop(pid);
    assert_int_equal(daemon_bed_status(start("--replay", recording)), 1);
}

static void a_picture_has_the_phases_and_communities_asked_for(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = start("--no-record", NULL);
    run_job();
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "commgram", "", "phases=10 communities=4");
    const struct wire_commgram *m = &peer_receive(&p)->commgram;
    assert_int_equal(p.message.type, WIRE_TYPE_COMMGRAM);
    assert_int_equal(m->columns_count, 10);
    assert_int_equal(m->more, 0);
    assert_true(m->resolved >= 10);
    uint64_t messages = 0, bars = 0;
    for (uint64_t i = 0; i < m->ribbons_count; i++)
        messages += m->ribbons[i].messages;
    for (uint64_t i = 0; i < m->bars_count; i++)
        bars += m->bars[i].column == 0;
    assert_int_equal(messages, 10 * RANKS);
    assert_int_equal(bars, 4);
    peer_reply(&p);
    peer_ask(&p, 2, "commgram", "", "communities=8 ranks=3 phases=1 modelled=0");
    peer_receive(&p);
    messages = 0;
    assert_int_equal(m->columns_count, 1);
    for (uint64_t i = 0; i < m->ribbons_count; i++)
        messages += m->ribbons[i].messages;
    assert_int_equal(messages, 2 * 10);
    peer_reply(&p);
    peer_ask(&p, 3, "commgram", "", "from=10 to=20"); /* nothing was then */
    peer_receive(&p);
    assert_int_equal(m->columns_count + m->bars_count + m->ribbons_count, 0);
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void wrong_words_are_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "phases=0",    "phases=x",         "phases=",    "phase=3",
        "from=-1",     "communities=-1",   "ranks=",     "ranks=5-3",
        "ranks=1,",    "ranks=4294967296", "modelled=2", "to=99999999999999999999",
        "ranks=1-2-3", "banana",           "ranks=,1"};
    struct peer p;
    pid_t pid = start("--no-record", NULL);
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "commgram", "", "");
    assert_int_equal(peer_reply(&p)->code, -HOLTER_ENOJOB);
    run_job();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        peer_ask(&p, 2 + i, "commgram", "", wrong[i]);
        assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
        assert_non_null(strstr(p.message.reply.text, wrong[i]));
    }
    peer_ask(&p, 50, "commgram", "", "from=7 to=3");
    assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void answers_come_in_the_order_of_requests(void **state)
{
    (void)state;
    struct peer p, other;
    pid_t pid = start("--no-record", NULL);
    run_job();
    peer_come(&bed, &p, "viewer", 0);
    peer_come(&bed, &other, "viewer", 0);
    for (uint64_t id = 1; id <= 40; id++)
        peer_ask(&p, id,
                 id % 3 == 0   ? "status"
                 : id % 3 == 1 ? "commgram"
                               : "snapshot",
                 "phases", id % 3 == 1 ? "phases=10" : "");
    peer_ask(&other, 7, "commgram", "", "");
    for (uint64_t id = 1; id <= 40; id++) {
        assert_int_equal(peer_receive(&p)->type, id % 3 == 0   ? WIRE_TYPE_STATUS
                                                 : id % 3 == 1 ? WIRE_TYPE_COMMGRAM
                                                               : WIRE_TYPE_PHASES);
        assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_REPLY);
        assert_int_equal(p.message.reply.id, id);
        assert_int_equal(p.message.reply.code, 0);
    }
    assert_int_equal(peer_reply(&other)->id, 7);
    for (uint64_t id = 1; id <= 30; id++) /* and leaves */
        peer_ask(&other, id, "commgram", "", "phases=10");
    struct wire_bye bye = {0};
    peer_send(&other, WIRE_TYPE_BYE, &bye);
    peer_ask(&p, 99, "status", "", "");
    assert_int_equal(peer_reply(&p)->id, 99);
    peer_hang_up(&other);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

#define WITH_DIRECTORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    bed.holterd = argv[1];
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(a_replay_is_what_was_live_byte_for_byte),
        WITH_DIRECTORY(a_replay_has_the_network_that_was_recorded),
        WITH_DIRECTORY(a_replay_of_a_faulty_network_says_so_again),
        WITH_DIRECTORY(a_replay_can_be_given_another_network),
        WITH_DIRECTORY(a_client_that_names_no_job_follows_that_of_the_replay),
        WITH_DIRECTORY(agents_are_not_served_by_a_replay),
        WITH_DIRECTORY(other_files_are_not_replayed),
        WITH_DIRECTORY(a_picture_has_the_phases_and_communities_asked_for),
        WITH_DIRECTORY(wrong_words_are_named),
        WITH_DIRECTORY(answers_come_in_the_order_of_requests),
    };
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
