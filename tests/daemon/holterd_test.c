/* The daemon as a process: what agents, clients and strangers get to see of it. */
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "proto/curve_keys.h"
#include "tests/daemon/daemon_bed.h"

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

static struct daemon_bed bed;
static char keys[96];

static int set_up(void **state)
{
    (void)state;
    int code = daemon_bed_make(&bed);
    snprintf(keys, sizeof(keys), "%s/keys", bed.directory);
    return code;
}

static int tear_down(void **state)
{
    (void)state;
    return daemon_bed_remove(&bed);
}

/* @param option  NULL: none @param value  NULL: it has none */
static pid_t start(const char *option, const char *value)
{
    const char *const options[] = {"--record", bed.records, "--window", "100ms",
                                   option,     value,       NULL};
    return daemon_bed_start(&bed, options);
}

/* ---- peers --------------------------------------------------------------- */

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
    peer_send(p, WIRE_TYPE_RANKS, &ranks);
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
    peer_send(p, WIRE_TYPE_WINDOW, &w);
}

static void await_ack(struct peer *p, uint64_t seq)
{
    while (peer_await(p, WIRE_TYPE_ACK)->ack.seq < seq)
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
    peer_send(p, WIRE_TYPE_REQUEST, &request);
    struct wire_status status = peer_await(p, WIRE_TYPE_STATUS)->status;
    assert_int_equal(peer_await(p, WIRE_TYPE_REPLY)->reply.code, 0);
    return status;
}

/* Messages sent in the job, from its snapshot. */
static uint64_t sent_in_snapshot(struct peer *p)
{
    uint64_t sent = 0;
    struct wire_request request = {.id = 6, .op = "snapshot", .job = "job.0", .topic = "ranks"};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
    while (peer_receive(p)->type != WIRE_TYPE_REPLY) {
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

static void ask_for_a_capture(struct peer *p, int code)
{
    struct wire_request request = {.id = 8, .op = "capture"};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_await(p, WIRE_TYPE_REPLY)->reply.code, code);
}

static void ask_to_stop(struct peer *p, int code)
{
    struct wire_request request = {.id = 7, .op = "stop"};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_await(p, WIRE_TYPE_REPLY)->reply.code, code);
}

static uint64_t first_window(void)
{
    return clock_real_ns() / (100 * MS);
}

/* ---- tests --------------------------------------------------------------- */

static void a_job_is_ingested_recorded_and_shown(void **state)
{
    struct peer agent, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    peer_come(&bed, &agent, "agent", 11);
    peer_come(&bed, &viewer, "viewer", 0);
    report(&agent, w, 5, WINDOW_FINAL);
    await_sent(&viewer, 10);
    struct wire_status status = status_of(&viewer);
    assert_int_equal(status.messages, 5);
    assert_int_equal(status.agents, 1);
    assert_int_equal(status.rejected, 0);
    peer_hang_up(&agent);
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
    assert_int_equal(access(strchr(bed.endpoint, '/') + 2, F_OK), -1); /* no socket is left */
}

static void messages_sent_twice_count_once(void **state)
{
    struct peer agent, again, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    peer_come(&bed, &agent, "agent", 11);
    report(&agent, w, 1, 0);
    peer_hang_up(&agent);
    peer_dial(&bed, &again, NULL, ROLE_NONE);
    assert_int_equal(peer_greet(&again, "agent", 11)->welcome.acked, 2);
    send_ranks(&again, 1);
    send_window(&again, 2, w, 0);
    send_window(&again, 3, w + 1, WINDOW_FINAL);
    await_ack(&again, 3);
    peer_come(&bed, &viewer, "viewer", 0);
    await_sent(&viewer, 4);
    assert_int_equal(status_of(&viewer).duplicates, 2);
    peer_hang_up(&again);
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

static void a_killed_daemon_continues_where_it_was(void **state)
{
    struct peer agent, again, viewer;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    peer_come(&bed, &agent, "agent", 11);
    report(&agent, w, 5, 0);
    kill(pid, SIGKILL);
    assert_int_equal(daemon_bed_status(pid), -SIGKILL);
    peer_hang_up(&agent);
    pid = start(NULL, NULL); /* on the socket that the dead one left */
    peer_come(&bed, &again, "agent", 11);
    send_ranks(&again, 1);
    send_window(&again, 6, w + 4, 0);
    send_window(&again, 7, w + 5, WINDOW_FINAL);
    await_ack(&again, 7);
    peer_come(&bed, &viewer, "viewer", 0);
    await_sent(&viewer, 12);
    assert_int_equal(status_of(&viewer).duplicates, 2);
    peer_hang_up(&again);
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

static void a_second_daemon_on_the_endpoint_leaves_and_harms_nothing(void **state)
{
    struct peer viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    peer_come(&bed, &viewer, "viewer", 0);
    assert_int_equal(daemon_bed_status(start(NULL, NULL)), 1);
    status_of(&viewer);
    peer_hang_up(&viewer);
    peer_come(&bed, &viewer, "viewer", 0);
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

static void strangers_and_breaches_are_refused_and_counted(void **state)
{
    struct peer p, viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    peer_come(&bed, &viewer, "viewer", 0);
    peer_dial(&bed, &p, NULL, ROLE_NONE); /* no hello */
    send_window(&p, 1, 1, 0);
    assert_int_equal(peer_receive(&p)->refused.code, -HOLTER_EPROTOCOL);
    assert_int_equal(peer_greet(&p, "agent", 3)->type, WIRE_TYPE_WELCOME); /* it may begin again */
    peer_hang_up(&p);
    peer_dial(&bed, &p, NULL, ROLE_NONE); /* garbage */
    assert_true(zmq_send(p.socket, "\xc1garbage", 8, 0) == 8);
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_REFUSED);
    peer_hang_up(&p);
    peer_come(&bed, &p, "viewer", 0); /* viewers send no windows */
    send_window(&p, 1, 1, 0);
    assert_int_equal(peer_receive(&p)->refused.code, -HOLTER_EDENIED);
    peer_hang_up(&p);
    peer_come(&bed, &p, "agent", 4); /* agents do not ask */
    struct wire_request request = {.id = 1, .op = "stop"};
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_receive(&p)->refused.code, -HOLTER_EDENIED);
    peer_hang_up(&p);
    peer_dial(&bed, &p, NULL, ROLE_NONE); /* another protocol */
    struct wire_hello hello = {
        .protocol = WIRE_PROTOCOL + 1, .role = "viewer", .version = "x", .host = "h", .pid = 1};
    peer_send(&p, WIRE_TYPE_HELLO, &hello);
    assert_int_equal(peer_receive(&p)->refused.code, -HOLTER_EPROTOCOL);
    peer_hang_up(&p);
    peer_come(&bed, &p, "agent", 5); /* a job id that is a path */
    struct wire_ranks ranks = {
        .seq = 7, .job = "../../etc/x", .world = 1, .app = "a", .mpi = "m", .host = "h"};
    peer_send(&p, WIRE_TYPE_RANKS, &ranks);
    const struct wire_refused refused = peer_receive(&p)->refused;
    assert_int_equal(refused.code, -HOLTER_ERANGE);
    assert_int_equal(refused.seq, 7); /* it is not to be sent again */
    peer_hang_up(&p);
    struct wire_status status = status_of(&viewer);
    assert_int_equal(status.rejected, 6);
    assert_non_null(strstr(status.rejected_last, "job id"));
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

/* Bytes that are no ZeroMQ, on both sockets. */
static void throw_garbage(void)
{
    for (int i = 0; i < 40; i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        char junk[700];
        snprintf(address.sun_path, sizeof(address.sun_path), "%.100s",
                 (i % 2 ? bed.endpoint : bed.stream) + strlen("ipc://"));
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
    peer_come(&bed, &viewer, "viewer", 0);
    throw_garbage();
    status_of(&viewer);
    peer_hang_up(&viewer);
    throw_garbage(); /* while it leaves, too */
    daemon_bed_stop(pid);
}

static void a_thousand_viewers_get_the_same_state(void **state)
{
    static struct peer viewers[1000];
    struct peer agent;
    pid_t pid = start(NULL, NULL);
    uint64_t w = first_window();
    (void)state;
    peer_come(&bed, &agent, "agent", 11);
    report(&agent, w, 1, WINDOW_FINAL);
    peer_come(&bed, &viewers[0], "viewer", 0);
    await_sent(&viewers[0], 2);
    peer_hang_up(&viewers[0]);
    for (int i = 0; i < 1000; i++)
        peer_come(&bed, &viewers[i], "viewer", 0);
    for (int i = 0; i < 1000; i++) {
        /* Clients that are silent for some seconds are forgotten: they say hello again. */
        assert_int_equal(peer_greet(&viewers[i], "viewer", 0)->type, WIRE_TYPE_WELCOME);
        assert_int_equal(sent_in_snapshot(&viewers[i]), 2);
    }
    for (int i = 0; i < 1000; i++)
        peer_hang_up(&viewers[i]);
    peer_hang_up(&agent);
    daemon_bed_stop(pid);
}

static void with_keys_the_key_gives_the_role(void **state)
{
    struct peer p;
    (void)state;
    assert_int_equal(curve_make(keys), 0);
    pid_t pid = start("--keys", keys);
    peer_dial(&bed, &p, keys, ROLE_VIEWER);
    assert_int_equal(peer_greet(&p, "operator", 0)->type, WIRE_TYPE_REFUSED);
    peer_hang_up(&p);
    peer_dial(&bed, &p, keys, ROLE_AGENT);
    assert_int_equal(peer_greet(&p, "viewer", 0)->type, WIRE_TYPE_REFUSED);
    peer_hang_up(&p);
    peer_dial(&bed, &p, keys, ROLE_OPERATOR);
    assert_int_equal(peer_greet(&p, "agent", 3)->type, WIRE_TYPE_REFUSED);
    peer_hang_up(&p);
    peer_dial(&bed, &p, keys, ROLE_AGENT);
    assert_int_equal(peer_greet(&p, "agent", 3)->type, WIRE_TYPE_WELCOME);
    peer_hang_up(&p);
    peer_dial(&bed, &p, keys, ROLE_VIEWER);
    assert_int_equal(peer_greet(&p, "viewer", 0)->type, WIRE_TYPE_WELCOME);
    ask_to_stop(&p, -HOLTER_EDENIED);
    ask_for_a_capture(&p, -HOLTER_EDENIED);
    peer_hang_up(&p);
    peer_dial(&bed, &p, keys, ROLE_OPERATOR);
    assert_int_equal(peer_greet(&p, "operator", 0)->type, WIRE_TYPE_WELCOME);
    ask_for_a_capture(&p, -HOLTER_ENOJOB);
    ask_to_stop(&p, 0);
    peer_hang_up(&p);
    assert_int_equal(daemon_bed_status(pid), 0);
}

static void when_idle_it_leaves_by_itself(void **state)
{
    struct peer agent;
    pid_t pid = start("--quit-when-idle", NULL);
    uint64_t w = first_window();
    (void)state;
    peer_come(&bed, &agent, "agent", 11);
    report(&agent, w, 1, WINDOW_FINAL);
    struct wire_bye bye = {.seq = 2};
    peer_send(&agent, WIRE_TYPE_BYE, &bye);
    assert_int_equal(daemon_bed_status(pid), 0);
    peer_hang_up(&agent);
}

/* The state of the job once it does not run any more. */
static void await_end(struct peer *p, const char *state)
{
    const struct wire_request request = {.id = 9, .op = "snapshot", .job = "job.0", .topic = "job"};
    char seen[sizeof("running")] = "running";
    while (strcmp(seen, "running") == 0) {
        peer_send(p, WIRE_TYPE_REQUEST, &request);
        snprintf(seen, sizeof(seen), "%s", peer_await(p, WIRE_TYPE_JOB)->job.state);
        assert_int_equal(peer_await(p, WIRE_TYPE_REPLY)->reply.code, 0);
    }
    assert_string_equal(seen, state);
}

/* An agent reports a window, and leaves. @param seq  that it says its last message had */
static void leave_after_window(struct peer *viewer, uint64_t seq, const char *state)
{
    struct peer agent;
    uint64_t w = first_window();
    peer_come(&bed, &agent, "agent", 11);
    peer_come(&bed, viewer, "viewer", 0);
    report(&agent, w, 1, 0);
    struct wire_bye bye = {.seq = seq};
    peer_send(&agent, WIRE_TYPE_BYE, &bye);
    await_end(viewer, state);
    peer_hang_up(&agent);
}

static void an_agent_that_leaves_in_order_is_not_waited_for(void **state)
{
    struct peer viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    leave_after_window(&viewer, 2, "ended");
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

/* Windows that agents could not send, by the newest rows of the nodes. */
static uint64_t dropped_in_snapshot(struct peer *p)
{
    uint64_t dropped = 0;
    struct wire_request request = {.id = 6, .op = "snapshot", .job = "job.0", .topic = "nodes"};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
    while (peer_receive(p)->type != WIRE_TYPE_REPLY)
        for (uint64_t i = 0; p->message.type == WIRE_TYPE_NODES && i < p->message.nodes.nodes_count;
             i++)
            dropped += p->message.nodes.nodes[i].windows_dropped;
    return dropped;
}

static void what_an_agent_that_leaves_could_not_send_is_lost(void **state)
{
    struct peer viewer;
    pid_t pid = start(NULL, NULL);
    (void)state;
    leave_after_window(&viewer, 5, "lost");
    assert_int_equal(dropped_in_snapshot(&viewer), 3);
    const struct wire_request request = {
        .id = 9, .op = "snapshot", .job = "job.0", .topic = "alerts"};
    peer_send(&viewer, WIRE_TYPE_REQUEST, &request);
    assert_string_equal(peer_await(&viewer, WIRE_TYPE_ALERT)->alert.kind, "data-lost");
    peer_hang_up(&viewer);
    daemon_bed_stop(pid);
}

/* Start the daemon without standard input and output, as shells do for <&- and >&-. */
static pid_t start_without_files(void)
{
    int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    fflush(stdout);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    pid_t daemon = start(NULL, NULL);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    close(input);
    close(output);
    return daemon;
}

static void a_daemon_without_standard_files_serves_and_leaves_in_order(void **state)
{
    struct peer viewer;
    (void)state;
    pid_t daemon = start_without_files();
    peer_dial(&bed, &viewer, NULL, ROLE_VIEWER);
    peer_greet(&viewer, "viewer", 0);
    peer_hang_up(&viewer);
    daemon_bed_stop(daemon);
}

#define AS_PROCESS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    bed.holterd = argv[1];
    const struct CMUnitTest tests[] = {
        AS_PROCESS(a_job_is_ingested_recorded_and_shown),
        AS_PROCESS(messages_sent_twice_count_once),
        AS_PROCESS(a_killed_daemon_continues_where_it_was),
        AS_PROCESS(a_second_daemon_on_the_endpoint_leaves_and_harms_nothing),
        AS_PROCESS(strangers_and_breaches_are_refused_and_counted),
        AS_PROCESS(raw_garbage_changes_nothing),
        AS_PROCESS(a_thousand_viewers_get_the_same_state),
        AS_PROCESS(with_keys_the_key_gives_the_role),
        AS_PROCESS(when_idle_it_leaves_by_itself),
        AS_PROCESS(an_agent_that_leaves_in_order_is_not_waited_for),
        AS_PROCESS(what_an_agent_that_leaves_could_not_send_is_lost),
        AS_PROCESS(a_daemon_without_standard_files_serves_and_leaves_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
