/* Pictures and replays of the daemon as a process: what clients get of a job that ran, and of its
 * recording. */
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/wire.h"
#include "proto/client.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
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
#include <zmq.h>

#include <cmocka.h>

#define PATIENCE_MS 100000 /* only a failing test waits that long */
#define MS UINT64_C(1000000)
#define RANKS 8u
#define BYTES 1000u

__extension__ typedef unsigned __int128 wide;

static const char *holterd;
static char directory[DIRECTORY_ROOM], endpoint[96], records[96], recording[160];
static const char *replay_option[2]; /* NULL: none */
static const char *network;          /* NULL: none is given */
static void *context;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/d", directory);
    snprintf(records, sizeof(records), "%s/records", directory);
    snprintf(recording, sizeof(recording), "%s/holter-job.0.hrec", records);
    context = zmq_ctx_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    zmq_ctx_term(context);
    return directory_remove(directory);
}

/* ---- daemon and peers --------------------------------------------------------- */

static pid_t start(const char *option, const char *value)
{
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("HOLTER_KEYS");
        unsetenv("HOLTER_SESSION");
        unsetenv("HOLTER_TOPOLOGY");
        if (network != NULL)
            setenv("HOLTER_TOPOLOGY", network, 1);
        if (getenv("REPLAY_TEST_LOG") == NULL)
            dup2(open("/dev/null", O_WRONLY), 2);
        const char *words[] = {holterd, "--listen", endpoint,         "--window",       "100ms",
                               option,  value,      replay_option[0], replay_option[1], NULL};
        const char *plain[] = {holterd, "--listen",       endpoint,         "--window", "100ms",
                               option,  replay_option[0], replay_option[1], NULL};
        execv(holterd, (char *const *)(void *)(value == NULL ? plain : words));
        _exit(127);
    }
    return pid;
}

static int exit_status(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    assert_int_equal(exit_status(pid), 0);
}

struct peer {
    void *socket;
    struct wire_message message;
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t hash; /* of all that was received */
};

static void send_to(struct peer *p, enum wire_type type, const void *message)
{
    assert_int_equal(wire_encode(&p->buffer, type, message), 0);
    assert_true(zmq_send(p->socket, p->buffer.bytes, p->buffer.length, 0) >= 0);
}

static const struct wire_message *receive(struct peer *p)
{
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, p->socket, 0) < 0)
        fail_msg("no answer: %s", zmq_strerror(zmq_errno()));
    const uint8_t *bytes = zmq_msg_data(&part);
    for (size_t i = 0; i < zmq_msg_size(&part); i++)
        p->hash = (p->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    assert_int_equal(wire_decode(&p->message, &p->arena, bytes, zmq_msg_size(&part), NULL), 0);
    zmq_msg_close(&part);
    return &p->message;
}

static void come(struct peer *p, const char *role, uint64_t instance)
{
    int patience = PATIENCE_MS, none = 0;
    *p = (struct peer){.socket = zmq_socket(context, ZMQ_DEALER)};
    zmq_setsockopt(p->socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    zmq_setsockopt(p->socket, ZMQ_LINGER, &none, sizeof(none));
    assert_int_equal(zmq_connect(p->socket, endpoint), 0);
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = role,
                               .version = "test",
                               .host = "n0",
                               .pid = 1,
                               .instance = instance};
    send_to(p, WIRE_TYPE_HELLO, &hello);
    assert_int_equal(receive(p)->type, WIRE_TYPE_WELCOME);
}

static void hang_up(struct peer *p)
{
    zmq_close(p->socket);
    wire_arena_finish(&p->arena);
    wire_buffer_finish(&p->buffer);
}

static void ask(struct peer *p, uint64_t id, const char *op, const char *topic,
                const char *argument)
{
    struct wire_request request = {
        .id = id, .op = op, .job = "job.0", .topic = topic, .argument = argument};
    send_to(p, WIRE_TYPE_REQUEST, &request);
}

static const struct wire_reply *await_reply(struct peer *p)
{
    while (receive(p)->type != WIRE_TYPE_REPLY)
        ;
    return &p->message.reply;
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
    send_to(p, WIRE_TYPE_RANKS, &ranks);
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
    send_to(p, WIRE_TYPE_WINDOW, &w);
}

/* Forty windows of a run that is over, and its end. */
static void run_job(void)
{
    struct peer agent, viewer;
    uint64_t first = clock_real_ns() / (100 * MS) - 1000;
    come(&agent, "agent", 11);
    come(&viewer, "viewer", 0);
    send_ranks(&agent);
    for (unsigned i = 0; i < 40; i++)
        send_window(&agent, 2 + i, first + i,
                    i % 4 != 0     ? 0
                    : i % 16 == 12 ? 4
                    : i % 8 == 4   ? 2
                                   : 1,
                    i == 39 ? WINDOW_FINAL : 0);
    for (int ended = 0; !ended;) {
        ask(&viewer, 9, "snapshot", "job", "");
        assert_int_equal(receive(&viewer)->type == WIRE_TYPE_JOB ||
                             viewer.message.reply.code == -HOLTER_ENOJOB,
                         1);
        ended =
            viewer.message.type == WIRE_TYPE_JOB && strcmp(viewer.message.job.state, "ended") == 0;
        if (viewer.message.type != WIRE_TYPE_REPLY)
            await_reply(&viewer);
    }
    hang_up(&agent);
    hang_up(&viewer);
}

/* Phases and curve, then a picture: a hash of all answers, byte for byte. */
static uint64_t look(void)
{
    struct peer p;
    int ended = 0;
    while (!ended) { /* a replay may still be at it */
        come(&p, "viewer", 0);
        ask(&p, 1, "snapshot", "job", "");
        receive(&p);
        ended = p.message.type == WIRE_TYPE_JOB && strcmp(p.message.job.state, "ended") == 0;
        if (!ended)
            hang_up(&p);
    }
    await_reply(&p);
    p.hash = 0;
    ask(&p, 3, "snapshot", "curve", "");
    receive(&p);
    uint64_t curve = p.hash;
    await_reply(&p);
    p.hash = 0;
    ask(&p, 4, "snapshot", "phases", "");
    receive(&p);
    uint64_t rows = p.hash; /* the reply has a frame's number, which is none of the state */
    assert_int_equal(p.message.phases.phases_count, 10);
    await_reply(&p);
    p.hash = 0;
    ask(&p, 5, "commgram", "", "phases=10 communities=4");
    await_reply(&p);
    uint64_t picture = p.hash;
    p.hash = 0;
    ask(&p, 6, "snapshot", "topology", "");
    receive(&p);
    uint64_t topology = p.hash;
    assert_int_equal(p.message.type, WIRE_TYPE_TOPOLOGY);
    assert_int_equal(p.message.topology.seats_count, RANKS);
    await_reply(&p);
    p.hash = 0;
    ask(&p, 7, "snapshot", "links", "");
    receive(&p);
    assert_int_equal(p.message.type, WIRE_TYPE_LINKS);
    uint64_t links = p.hash;
    hang_up(&p);
    return curve * 31 + rows * 7 + picture + topology * 13 + links * 17;
}

static int64_t number_in_recording(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(recording, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}

/* The rows of the recording's tables are those of a snapshot. */
static void compare_with_tables(void)
{
    struct peer p;
    char sql[512];
    come(&p, "viewer", 0);
    ask(&p, 1, "snapshot", "phases", "");
    assert_int_equal(receive(&p)->type, WIRE_TYPE_PHASES);
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
    await_reply(&p);
    ask(&p, 2, "snapshot", "curve", "");
    assert_int_equal(receive(&p)->type, WIRE_TYPE_CURVE);
    for (uint64_t i = 0; i < p.message.curve.points_count; i++) {
        const struct wire_curve_point_row *r = &p.message.curve.points[i];
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM curve WHERE phase=%llu AND abs(height - %.17g) < 1e-15 AND "
                 "returned=%llu AND resembles=%llu",
                 (unsigned long long)r->phase, r->height, (unsigned long long)r->returned,
                 (unsigned long long)r->resembles);
        assert_int_equal(number_in_recording(sql), 1);
    }
    hang_up(&p);
    assert_int_equal(number_in_recording("SELECT count(*) FROM phase"), 10);
    assert_int_equal(number_in_recording("SELECT count(*) FROM curve"), 10);
}

/* ---- tests ------------------------------------------------------------------------- */

static void a_replay_is_what_was_live_byte_for_byte(void **state)
{
    (void)state;
    pid_t pid = start("--record", records);
    run_job();
    uint64_t live = look();
    stop(pid);
    for (int i = 0; i < 2; i++) {
        pid = start("--replay", recording);
        assert_true(look() == live);
        compare_with_tables();
        stop(pid);
    }
    assert_int_equal(number_in_recording("SELECT sum(messages) FROM block"), 41);
}

static void the_network_of_a_replay(const char *given, int64_t vertex_of_7, const char *source)
{
    char sql[200];
    network = given;
    pid_t pid = start("--record", records);
    run_job();
    uint64_t live = look();
    stop(pid);
    network = "mesh:100"; /* of the environment: does not count */
    pid = start("--replay", recording);
    assert_true(look() == live);
    stop(pid);
    assert_int_equal(number_in_recording("SELECT vertex FROM seat WHERE rank = 7"), vertex_of_7);
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM topology WHERE source = '%s' AND text LIKE '%%node%%'", source);
    assert_int_equal(number_in_recording(sql), 1);
    network = NULL;
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
    pid_t pid = start("--record", records);
    run_job();
    stop(pid);
    replay_option[0] = "--topology";
    replay_option[1] = "mesh:3,2";
    pid = start("--replay", recording);
    look();
    come(&p, "viewer", 0);
    ask(&p, 1, "snapshot", "topology", "");
    receive(&p);
    assert_string_equal(p.message.topology.source, "mesh:3,2");
    assert_int_equal(p.message.topology.dimensions_count, 2);
    await_reply(&p);
    ask(&p, 2, "status", "", "");
    assert_string_equal(receive(&p)->status.topology, "mesh:3,2");
    hang_up(&p);
    stop(pid);
    replay_option[0] = replay_option[1] = NULL;
}

static void who_names_no_job_follows_that_of_the_replay(void **state)
{
    (void)state;
    pid_t pid = start("--record", records);
    run_job();
    stop(pid);
    pid = start("--replay", recording);
    struct client_options options = {.endpoint = endpoint, .role = ROLE_VIEWER};
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
    stop(pid);
}

static void agents_are_not_served_by_a_replay(void **state)
{
    (void)state;
    struct peer agent;
    pid_t pid = start("--record", records);
    run_job();
    stop(pid);
    pid = start("--replay", recording);
    come(&agent, "agent", 12);
    send_ranks(&agent);
    assert_int_equal(receive(&agent)->type, WIRE_TYPE_REFUSED);
    assert_non_null(strstr(agent.message.refused.text, "replays"));
    hang_up(&agent);
    stop(pid);
}

static void other_files_are_not_replayed(void **state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof(path), "%s/none.hrec", directory);
    assert_int_equal(exit_status(start("--replay", path)), 1);
    FILE *file = fopen(path, "w");
    fputs("no recording at all, but long enough to be looked at", file);
    fclose(file);
    assert_int_equal(exit_status(start("--replay", path)), 1);
    remove(path);
    pid_t pid = start("--record", records); /* one without a window */
    struct peer agent;
    come(&agent, "agent", 11);
    send_ranks(&agent);
    while (receive(&agent)->type != WIRE_TYPE_ACK)
        ;
    hang_up(&agent);
    stop(pid);
    assert_int_equal(exit_status(start("--replay", recording)), 1);
}

static void a_picture_has_the_phases_and_communities_asked_for(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = start("--no-record", NULL);
    run_job();
    come(&p, "viewer", 0);
    ask(&p, 1, "commgram", "", "phases=10 communities=4");
    const struct wire_commgram *m = &receive(&p)->commgram;
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
    await_reply(&p);
    ask(&p, 2, "commgram", "", "communities=8 ranks=3 phases=1 modelled=0");
    receive(&p);
    messages = 0;
    assert_int_equal(m->columns_count, 1);
    for (uint64_t i = 0; i < m->ribbons_count; i++)
        messages += m->ribbons[i].messages;
    assert_int_equal(messages, 2 * 10);
    await_reply(&p);
    ask(&p, 3, "commgram", "", "from=10 to=20"); /* nothing was then */
    receive(&p);
    assert_int_equal(m->columns_count + m->bars_count + m->ribbons_count, 0);
    assert_int_equal(await_reply(&p)->code, 0);
    hang_up(&p);
    stop(pid);
}

static void wrong_words_are_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "phases=0",    "phases=x",         "phases=",    "phase=3",
        "from=-1",     "communities=0",    "ranks=",     "ranks=5-3",
        "ranks=1,",    "ranks=4294967296", "modelled=2", "to=99999999999999999999",
        "ranks=1-2-3", "banana",           "ranks=,1"};
    struct peer p;
    pid_t pid = start("--no-record", NULL);
    come(&p, "viewer", 0);
    ask(&p, 1, "commgram", "", "");
    assert_int_equal(await_reply(&p)->code, -HOLTER_ENOJOB);
    run_job();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ask(&p, 2 + i, "commgram", "", wrong[i]);
        assert_int_equal(await_reply(&p)->code, -HOLTER_EUSAGE);
        assert_non_null(strstr(p.message.reply.text, wrong[i]));
    }
    ask(&p, 50, "commgram", "", "from=7 to=3");
    assert_int_equal(await_reply(&p)->code, -HOLTER_EUSAGE);
    hang_up(&p);
    stop(pid);
}

static void answers_come_in_the_order_of_requests(void **state)
{
    (void)state;
    struct peer p, other;
    pid_t pid = start("--no-record", NULL);
    run_job();
    come(&p, "viewer", 0);
    come(&other, "viewer", 0);
    for (uint64_t id = 1; id <= 40; id++)
        ask(&p, id,
            id % 3 == 0   ? "status"
            : id % 3 == 1 ? "commgram"
                          : "snapshot",
            "phases", id % 3 == 1 ? "phases=10" : "");
    ask(&other, 7, "commgram", "", "");
    for (uint64_t id = 1; id <= 40; id++) {
        assert_int_equal(receive(&p)->type, id % 3 == 0   ? WIRE_TYPE_STATUS
                                            : id % 3 == 1 ? WIRE_TYPE_COMMGRAM
                                                          : WIRE_TYPE_PHASES);
        assert_int_equal(receive(&p)->type, WIRE_TYPE_REPLY);
        assert_int_equal(p.message.reply.id, id);
        assert_int_equal(p.message.reply.code, 0);
    }
    assert_int_equal(await_reply(&other)->id, 7);
    for (uint64_t id = 1; id <= 30; id++) /* and leaves */
        ask(&other, id, "commgram", "", "phases=10");
    struct wire_bye bye = {0};
    send_to(&other, WIRE_TYPE_BYE, &bye);
    ask(&p, 99, "status", "", "");
    assert_int_equal(await_reply(&p)->id, 99);
    hang_up(&other);
    hang_up(&p);
    stop(pid);
}

#define WITH_DIRECTORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    holterd = argv[1];
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(a_replay_is_what_was_live_byte_for_byte),
        WITH_DIRECTORY(a_replay_has_the_network_that_was_recorded),
        WITH_DIRECTORY(a_replay_of_a_faulty_network_says_so_again),
        WITH_DIRECTORY(a_replay_can_be_given_another_network),
        WITH_DIRECTORY(who_names_no_job_follows_that_of_the_replay),
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
