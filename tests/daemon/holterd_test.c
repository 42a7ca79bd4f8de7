/* The daemon as a process: what agents, clients and strangers get to see of it. */
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "proto/curve.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#define PATIENCE_MS 100000 /* only a failing test waits that long */
#define MS UINT64_C(1000000)

static const char *holterd;
static char directory[DIRECTORY_ROOM], endpoint[96], stream[112], records[96], keys[96];
static void *context;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/d", directory);
    snprintf(stream, sizeof(stream), "%s.stream", endpoint);
    snprintf(records, sizeof(records), "%s/records", directory);
    snprintf(keys, sizeof(keys), "%s/keys", directory);
    context = zmq_ctx_new();
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4096);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    zmq_ctx_term(context);
    return directory_remove(directory);
}

/* ---- the daemon ---------------------------------------------------------- */

static pid_t start(const char *extra, const char *value)
{
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("HOLTER_KEYS");
        unsetenv("HOLTER_SESSION");
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execl(holterd, holterd, "--listen", endpoint, "--record", records, "--window", "100ms",
              extra, value, NULL);
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

/* ---- peers --------------------------------------------------------------- */

struct peer {
    void *socket;
    struct wire_message message;
    struct wire_arena arena;
    struct wire_buffer buffer;
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
    assert_int_equal(
        wire_decode(&p->message, &p->arena, zmq_msg_data(&part), zmq_msg_size(&part), NULL), 0);
    zmq_msg_close(&part);
    return &p->message;
}

/* Read on until a message of this type. */
static const struct wire_message *await(struct peer *p, enum wire_type type)
{
    do
        receive(p);
    while (p->message.type != type);
    return &p->message;
}

static void dial(struct peer *p, enum role key)
{
    int patience = PATIENCE_MS, none = 0;
    *p = (struct peer){.socket = zmq_socket(context, ZMQ_DEALER)};
    zmq_setsockopt(p->socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    zmq_setsockopt(p->socket, ZMQ_LINGER, &none, sizeof(none));
    if (key != ROLE_NONE) {
        struct curve_keys k;
        assert_int_equal(curve_load(keys, key, &k), 0);
        assert_int_equal(curve_apply_client(p->socket, &k), 0);
    }
    assert_int_equal(zmq_connect(p->socket, endpoint), 0);
}

static void hang_up(struct peer *p)
{
    zmq_close(p->socket);
    wire_arena_finish(&p->arena);
    wire_buffer_finish(&p->buffer);
}

static const struct wire_message *greet(struct peer *p, const char *role, uint64_t instance)
{
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = role,
                               .version = "test",
                               .host = "n0",
                               .pid = 1,
                               .instance = instance};
    send_to(p, WIRE_TYPE_HELLO, &hello);
    return receive(p);
}

static void come(struct peer *p, const char *role, uint64_t instance)
{
    dial(p, ROLE_NONE);
    assert_int_equal(greet(p, role, instance)->type, WIRE_TYPE_WELCOME);
}

static void send_ranks(struct peer *p, uint64_t seq)
{
    struct wire_member_row member = {.rank = 0, .pid = 100, .placement = "0"};
    struct wire_ranks ranks = {.seq = seq,
                               .job = "job.0",
                               .world = 1,
                               .app = "app",
                               .mpi = "mpi",
                               .host = "n0",
                               .members = &member,
                               .members_count = 1};
    send_to(p, WIRE_TYPE_RANKS, &ranks);
}

static void send_window(struct peer *p, uint64_t seq, uint64_t window, uint64_t flags)
{
    struct wire_rank_row rank = {.rank = 0, .calls = 3, .sent = 2, .in_call_peer = -1};
    struct wire_pair_row pair = {.source = 0, .destination = 0, .messages = 2, .bytes = 16};
    struct wire_window w = {.seq = seq,
                            .job = "job.0",
                            .host = "n0",
                            .window = window,
                            .length_ns = 100 * MS,
                            .flags = flags,
                            .ranks = &rank,
                            .ranks_count = 1,
                            .pairs = &pair,
                            .pairs_count = 1};
    send_to(p, WIRE_TYPE_WINDOW, &w);
}

static void await_ack(struct peer *p, uint64_t seq)
{
    while (await(p, WIRE_TYPE_ACK)->ack.seq < seq)
        ;
}

/* Report the job and so many windows, the last with these flags, as messages from number 1 on. */
static void report(struct peer *agent, uint64_t first, uint64_t count, uint64_t flags)
{
    send_ranks(agent, 1);
    for (uint64_t i = 0; i < count; i++)
        send_window(agent, 2 + i, first + i, i + 1 == count ? flags : 0);
    await_ack(agent, 1 + count);
}

static struct wire_status status_of(struct peer *p)
{
    struct wire_request request = {.id = 5, .op = "status"};
    send_to(p, WIRE_TYPE_REQUEST, &request);
    struct wire_status status = await(p, WIRE_TYPE_STATUS)->status;
    assert_int_equal(await(p, WIRE_TYPE_REPLY)->reply.code, 0);
    return status;
}

/* Messages sent in the job, from its snapshot. */
static uint64_t sent_in_snapshot(struct peer *p)
{
    uint64_t sent = 0;
    struct wire_request request = {.id = 6, .op = "snapshot", .job = "job.0", .topic = "ranks"};
    send_to(p, WIRE_TYPE_REQUEST, &request);
    while (receive(p)->type != WIRE_TYPE_REPLY) {
        assert_int_equal(p->message.type, WIRE_TYPE_RANK_WINDOW);
        for (uint64_t i = 0; i < p->message.rank_window.ranks_count; i++)
            sent += p->message.rank_window.ranks[i].sent;
    }
    assert_int_equal(p->message.reply.code, 0);
    return sent;
}

/* Until the snapshot shows so many, and no more. */
static void await_sent(struct peer *p, uint64_t count)
{
    uint64_t sent;
    while ((sent = sent_in_snapshot(p)) < count)
        ;
    assert_int_equal(sent, count);
}

static void ask_to_stop(struct peer *p, int code)
{
    struct wire_request request = {.id = 7, .op = "stop"};
    send_to(p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(await(p, WIRE_TYPE_REPLY)->reply.code, code);
}

static uint64_t first_window(void)
{
    return clock_real_ns() / (100 * MS);
}

/* ---- tests --------------------------------------------------------------- */

static void a_job_is_taken_in_recorded_and_shown(void **state)
{
    struct peer agent, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    come(&agent, "agent", 11);
    come(&viewer, "viewer", 0);
    report(&agent, w, 5, WINDOW_FINAL);
    await_sent(&viewer, 10);
    struct wire_status status = status_of(&viewer);
    assert_int_equal(status.messages, 5);
    assert_int_equal(status.agents, 1);
    assert_int_equal(status.rejected, 0);
    hang_up(&agent);
    hang_up(&viewer);
    stop(pid);
    assert_int_equal(access(strchr(endpoint, '/') + 2, F_OK), -1); /* no socket is left */
}

static void messages_sent_twice_count_once(void **state)
{
    struct peer agent, again, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    come(&agent, "agent", 11);
    report(&agent, w, 1, 0);
    hang_up(&agent);
    dial(&again, ROLE_NONE);
    assert_int_equal(greet(&again, "agent", 11)->welcome.acked, 2);
    send_ranks(&again, 1);
    send_window(&again, 2, w, 0);
    send_window(&again, 3, w + 1, WINDOW_FINAL);
    await_ack(&again, 3);
    come(&viewer, "viewer", 0);
    await_sent(&viewer, 4);
    assert_int_equal(status_of(&viewer).duplicates, 2);
    hang_up(&again);
    hang_up(&viewer);
    stop(pid);
}

static void a_killed_daemon_continues_where_it_was(void **state)
{
    struct peer agent, again, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    come(&agent, "agent", 11);
    report(&agent, w, 5, 0);
    kill(pid, SIGKILL);
    assert_int_equal(exit_status(pid), -SIGKILL);
    hang_up(&agent);
    pid = start(NULL, NULL); /* on the socket that the dead one left */
    come(&again, "agent", 11);
    send_ranks(&again, 1);
    send_window(&again, 6, w + 4, 0);
    send_window(&again, 7, w + 5, WINDOW_FINAL);
    await_ack(&again, 7);
    come(&viewer, "viewer", 0);
    await_sent(&viewer, 12);
    assert_int_equal(status_of(&viewer).duplicates, 2);
    hang_up(&again);
    hang_up(&viewer);
    stop(pid);
}

static void a_second_daemon_on_the_endpoint_leaves_and_harms_nothing(void **state)
{
    struct peer viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    come(&viewer, "viewer", 0);
    assert_int_equal(exit_status(start(NULL, NULL)), 1);
    status_of(&viewer);
    hang_up(&viewer);
    come(&viewer, "viewer", 0);
    hang_up(&viewer);
    stop(pid);
}

static void strangers_and_breaches_are_refused_and_counted(void **state)
{
    struct peer p, viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    come(&viewer, "viewer", 0);
    dial(&p, ROLE_NONE); /* no hello */
    send_window(&p, 1, 1, 0);
    assert_int_equal(receive(&p)->refused.code, -HOLTER_EPROTOCOL);
    assert_int_equal(greet(&p, "agent", 3)->type, WIRE_TYPE_WELCOME); /* it may begin anew */
    hang_up(&p);
    dial(&p, ROLE_NONE); /* garbage */
    assert_true(zmq_send(p.socket, "\xc1garbage", 8, 0) == 8);
    assert_int_equal(receive(&p)->type, WIRE_TYPE_REFUSED);
    hang_up(&p);
    come(&p, "viewer", 0); /* viewers send no windows */
    send_window(&p, 1, 1, 0);
    assert_int_equal(receive(&p)->refused.code, -HOLTER_EDENIED);
    hang_up(&p);
    come(&p, "agent", 4); /* agents do not ask */
    struct wire_request request = {.id = 1, .op = "stop"};
    send_to(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(receive(&p)->refused.code, -HOLTER_EDENIED);
    hang_up(&p);
    dial(&p, ROLE_NONE); /* another protocol */
    struct wire_hello hello = {
        .protocol = WIRE_PROTOCOL + 1, .role = "viewer", .version = "x", .host = "h", .pid = 1};
    send_to(&p, WIRE_TYPE_HELLO, &hello);
    assert_int_equal(receive(&p)->refused.code, -HOLTER_EPROTOCOL);
    hang_up(&p);
    come(&p, "agent", 5); /* a job id that is a path */
    struct wire_ranks ranks = {
        .seq = 1, .job = "../../etc/x", .world = 1, .app = "a", .mpi = "m", .host = "h"};
    send_to(&p, WIRE_TYPE_RANKS, &ranks);
    assert_int_equal(receive(&p)->refused.code, -HOLTER_ERANGE);
    hang_up(&p);
    struct wire_status status = status_of(&viewer);
    assert_int_equal(status.rejected, 6);
    assert_non_null(strstr(status.rejected_last, "job id"));
    hang_up(&viewer);
    stop(pid);
}

/* Bytes that are no ZeroMQ, on both sockets. */
static void throw_garbage(void)
{
    for (int i = 0; i < 40; i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        char junk[700];
        snprintf(address.sun_path, sizeof(address.sun_path), "%s",
                 (i % 2 ? endpoint : stream) + strlen("ipc://"));
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        for (size_t j = 0; j < sizeof(junk); j++)
            junk[j] = (char)(i * 31 + (int)j * 7);
        if (i % 4 < 2)
            snprintf(junk, sizeof(junk), "GET / HTTP/1.1\r\nHost: holter\r\n\r\n");
        assert_true(send(fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0);
        close(fd);
    }
}

static void raw_garbage_changes_nothing(void **state)
{
    struct peer viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    come(&viewer, "viewer", 0);
    throw_garbage();
    status_of(&viewer);
    hang_up(&viewer);
    throw_garbage(); /* while it leaves, too */
    stop(pid);
}

static void a_thousand_viewers_get_the_same_state(void **state)
{
    static struct peer viewers[1000];
    struct peer agent;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    come(&agent, "agent", 11);
    report(&agent, w, 1, WINDOW_FINAL);
    come(&viewers[0], "viewer", 0);
    await_sent(&viewers[0], 2);
    hang_up(&viewers[0]);
    for (int i = 0; i < 1000; i++)
        come(&viewers[i], "viewer", 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(sent_in_snapshot(&viewers[i]), 2);
    for (int i = 0; i < 1000; i++)
        hang_up(&viewers[i]);
    hang_up(&agent);
    stop(pid);
}

static void with_keys_the_key_gives_the_role(void **state)
{
    struct peer p;
    (void)state;
    assert_int_equal(curve_make(keys), 0);
    pid_t pid = start("--keys", keys);
    dial(&p, ROLE_VIEWER);
    assert_int_equal(greet(&p, "operator", 0)->type, WIRE_TYPE_REFUSED);
    hang_up(&p);
    dial(&p, ROLE_AGENT);
    assert_int_equal(greet(&p, "viewer", 0)->type, WIRE_TYPE_REFUSED);
    hang_up(&p);
    dial(&p, ROLE_OPERATOR);
    assert_int_equal(greet(&p, "agent", 3)->type, WIRE_TYPE_REFUSED);
    hang_up(&p);
    dial(&p, ROLE_AGENT);
    assert_int_equal(greet(&p, "agent", 3)->type, WIRE_TYPE_WELCOME);
    hang_up(&p);
    dial(&p, ROLE_VIEWER);
    assert_int_equal(greet(&p, "viewer", 0)->type, WIRE_TYPE_WELCOME);
    ask_to_stop(&p, -HOLTER_EDENIED);
    hang_up(&p);
    dial(&p, ROLE_OPERATOR);
    assert_int_equal(greet(&p, "operator", 0)->type, WIRE_TYPE_WELCOME);
    ask_to_stop(&p, 0);
    hang_up(&p);
    assert_int_equal(exit_status(pid), 0);
}

static void when_idle_it_leaves_by_itself(void **state)
{
    struct peer agent;
    pid_t pid = start("--quit-when-idle", NULL);
    uint64_t w = first_window();
    (void)state;
    come(&agent, "agent", 11);
    report(&agent, w, 1, WINDOW_FINAL);
    struct wire_bye bye = {2};
    send_to(&agent, WIRE_TYPE_BYE, &bye);
    assert_int_equal(exit_status(pid), 0);
    hang_up(&agent);
}

#define AS_PROCESS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    holterd = argv[1];
    const struct CMUnitTest tests[] = {
        AS_PROCESS(a_job_is_taken_in_recorded_and_shown),
        AS_PROCESS(messages_sent_twice_count_once),
        AS_PROCESS(a_killed_daemon_continues_where_it_was),
        AS_PROCESS(a_second_daemon_on_the_endpoint_leaves_and_harms_nothing),
        AS_PROCESS(strangers_and_breaches_are_refused_and_counted),
        AS_PROCESS(raw_garbage_changes_nothing),
        AS_PROCESS(a_thousand_viewers_get_the_same_state),
        AS_PROCESS(with_keys_the_key_gives_the_role),
        AS_PROCESS(when_idle_it_leaves_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
