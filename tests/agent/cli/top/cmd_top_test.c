/* holter top as its users see it: on a terminal, connected to a daemon that the test imitates. The
 * command runs in its own process until the expected text is on the terminal, or a generous time
 * limit ends a broken test. */
#include "agent/cli/cmd.h"

#include "holter/call.h"
#include "holter/clock.h"
#include "holter/wire.h"
#include "tests/directory.h"
#include "tests/proto/fake_daemon.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define BROKEN_NS (100 * S)
#define OUTPUT_BYTES 65536

struct bed {
    char top[DIRECTORY_ROOM];
    struct fake_daemon daemon;
    uint64_t instance;
    int replays;
    int is_mute;       /* it does not answer */
    int greeted;       /* the command has dialled it */
    uint64_t window;   /* newest one, in snapshots */
    const char *alert; /* title of the one there is, in snapshots */
    uint16_t call;     /* in which the rank is, in snapshots */
    uint64_t frame;
    pid_t pid;
    int terminal;
    char seen[OUTPUT_BYTES]; /* what was written to the terminal */
};

/* ---- the daemon ---------------------------------------------------------- */

static void answer_snapshot(struct bed *bed, zmq_msg_t *identity)
{
    struct wire_totals totals = {.job = "lmp.0",
                                 .window = bed->window,
                                 .start_ns = bed->window * S,
                                 .length_ns = S,
                                 .ranks = 1};
    struct wire_alert alert = {
        .job = "lmp.0", .id = 1, .kind = "hang", .state = "firing", .title = bed->alert};
    struct wire_rank_row rank = {.in_call = bed->call, .in_call_ns = S};
    struct wire_rank_window ranks = {
        .job = "lmp.0", .window = bed->window, .length_ns = S, .ranks = &rank, .ranks_count = 1};
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_TOTALS, &totals);
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_ALERT, &alert);
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_RANK_WINDOW, &ranks);
}

static void take_front(void *user, zmq_msg_t *identity, const struct wire_message *message)
{
    struct bed *bed = user;
    struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                   .version = "9.9",
                                   .instance = bed->instance,
                                   .replays = (uint64_t)bed->replays};
    struct wire_job job = {
        .job = "lmp.0", .state = "running", .app = "/bin/lmp", .mpi = "MPI 1", .window_ns = S};
    struct wire_reply reply = {.frame = bed->frame};
    bed->greeted = 1;
    if (bed->is_mute)
        return;
    if (message->type == WIRE_TYPE_HELLO) {
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_WELCOME, &welcome);
        return;
    }
    reply.id = message->request.id;
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_JOB, &job);
    if (strcmp(message->request.op, "snapshot") == 0)
        answer_snapshot(bed, identity);
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_REPLY, &reply);
}

static void publish_totals(struct bed *bed)
{
    uint64_t window = ++bed->window;
    struct wire_totals totals = {
        .job = "lmp.0", .window = window, .start_ns = window * S, .length_ns = S};
    bed->frame++;
    fake_daemon_publish(&bed->daemon, "totals/lmp.0", bed->frame, bed->frame, WIRE_TYPE_TOTALS,
                        &totals);
}

/* ---- the command --------------------------------------------------------- */

/* Run this program again: a fork of a process with ZeroMQ's threads may only call exec. */
static void start(struct bed *bed)
{
    char *argv[] = {"top", "--connect", bed->daemon.endpoint, NULL};
    bed->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(bed->terminal >= 0);
    assert_int_equal(grantpt(bed->terminal) | unlockpt(bed->terminal), 0);
    fcntl(bed->terminal, F_SETFL, O_NONBLOCK);
    char name[128];
    assert_int_equal(ptsname_r(bed->terminal, name, sizeof name), 0);
    setenv("TERM", "xterm", 1);
    setenv("LINES", "40", 1);
    setenv("COLUMNS", "100", 1);
    bed->pid = fork();
    if (bed->pid != 0)
        return;
    int side = open(name, O_RDWR | O_NOCTTY);
    for (int fd = 0; fd < 3; fd++)
        dup2(side, fd);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static void collect(struct bed *bed)
{
    size_t length = strlen(bed->seen);
    ssize_t got;
    while ((got = read(bed->terminal, bed->seen + length, sizeof bed->seen - 1 - length)) > 0)
        length += (size_t)got;
    bed->seen[length] = '\0';
}

/* Wait until a text is written to the terminal, after the text of the last wait. */
static void wait_for(struct bed *bed, const char *text)
{
    uint64_t begin = clock_mono_ns();
    bed->seen[0] = '\0';
    while (strstr(bed->seen, text) == NULL) {
        zmq_pollitem_t items[] = {{bed->daemon.front, 0, ZMQ_POLLIN, 0},
                                  {bed->daemon.stream, 0, ZMQ_POLLIN, 0},
                                  {NULL, bed->terminal, ZMQ_POLLIN, 0}};
        zmq_poll(items, 3, 5);
        fake_daemon_serve(&bed->daemon, take_front, bed);
        fake_daemon_confirm(&bed->daemon, 1);
        collect(bed);
        if (clock_mono_ns() - begin > BROKEN_NS)
            fail_msg("\"%s\" was never shown", text);
    }
}

static int make_bed(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    *state = bed;
    if (directory_make(bed->top) != 0)
        return -1;
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/sock", bed->top);
    bed->instance = 5;
    bed->window = 100;
    bed->alert = "first of all";
    bed->call = CALL_Send;
    return 0;
}

static int drop_bed(void **state)
{
    struct bed *bed = *state;
    int status;
    if (bed->pid > 0) {
        kill(bed->pid, SIGKILL);
        waitpid(bed->pid, &status, 0);
        close(bed->terminal);
    }
    fake_daemon_finish(&bed->daemon);
    int result = directory_remove(bed->top);
    free(bed);
    return result;
}

/* ---- tests --------------------------------------------------------------- */

static void what_was_missed_is_made_up_for(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    start(bed);
    wait_for(bed, "first of all");
    bed->alert = "and another";
    publish_totals(bed);
    bed->frame += 3; /* the frame of the alert is among those that are not sent */
    publish_totals(bed);
    wait_for(bed, "and another");
}

static void a_replay_that_was_sent_back_is_shown_where_it_is(void **state)
{
    struct bed *bed = *state;
    bed->replays = 1;
    fake_daemon_up(&bed->daemon);
    start(bed);
    wait_for(bed, "MPI_Send");
    fake_daemon_down(&bed->daemon);
    bed->instance++;
    bed->window = 7;
    bed->call = CALL_Barrier;
    bed->frame = 0;
    fake_daemon_up(&bed->daemon);
    wait_for(bed, "Barrier");
}

static void a_signal_ends_it_while_no_daemon_answers(void **state)
{
    struct bed *bed = *state;
    int status = 0;
    bed->is_mute = 1;
    fake_daemon_up(&bed->daemon);
    start(bed);
    while (!bed->greeted) {
        zmq_pollitem_t item = {bed->daemon.front, 0, ZMQ_POLLIN, 0};
        zmq_poll(&item, 1, 5);
        fake_daemon_serve(&bed->daemon, take_front, bed);
    }
    kill(bed->pid, SIGINT);
    assert_int_equal(waitpid(bed->pid, &status, 0), bed->pid);
    bed->pid = 0;
    close(bed->terminal);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[0], "top") == 0)
        return cmd_top(argc, argv);
#define T(name) cmocka_unit_test_setup_teardown(name, make_bed, drop_bed)
    const struct CMUnitTest tests[] = {
        T(what_was_missed_is_made_up_for),
        T(a_replay_that_was_sent_back_is_shown_where_it_is),
        T(a_signal_ends_it_while_no_daemon_answers),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
