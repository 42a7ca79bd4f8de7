/* holter tap, holter top and holter status as their users meet them, against a daemon played by the
 * test. The command runs in a process of its own; both sides are driven until it ends, or a
 * generous limit ends a broken test. */
#include "agent/cli/cmd.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "tests/directory.h"
#include "tests/proto/fake_daemon.h"

#include <errno.h>
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

#define BROKEN_NS UINT64_C(100000000000)
#define OUTPUT_BYTES 65536

struct bed {
    char top[DIRECTORY_ROOM];
    struct fake_daemon daemon;
    const char *state; /* of the job, in snapshots */
    unsigned news;     /* totals to publish behind each snapshot */
    int ends;          /* and then the end of the job */
    uint64_t frame;
    int answered;           /* a snapshot was: the news may follow */
    char out[OUTPUT_BYTES]; /* what the command printed */
    char err[4096];
};

/* ---- the daemon ---------------------------------------------------------- */

static struct wire_job job_message(const char *state)
{
    return (struct wire_job){.job = "lmp.0",
                             .state = state,
                             .app = "/bin/lmp",
                             .mpi = "MPI 1",
                             .world = 4,
                             .seen = 4,
                             .window_ns = 1000000000};
}

static struct wire_totals totals_message(uint64_t window)
{
    return (struct wire_totals){.job = "lmp.0",
                                .window = window,
                                .start_ns = window * 1000000000,
                                .length_ns = 1000000000,
                                .ranks = 4,
                                .sent = 1000};
}

static void answer_request(struct bed *bed, zmq_msg_t *identity, const struct wire_request *request)
{
    struct wire_reply reply = {.id = request->id};
    struct wire_job job = job_message(bed->state);
    if (strcmp(request->op, "status") == 0) {
        struct wire_job_row row = {
            .job = "lmp.0", .app = "/bin/lmp", .ranks = 4, .nodes = 1, .state = bed->state};
        struct wire_status status = {.version = "9.9",
                                     .pid = 77,
                                     .host = "login1",
                                     .started_ns = 1,
                                     .now_ns = 1000000001,
                                     .window_ns = 1000000000,
                                     .rejected = 3,
                                     .rejected_last = "somebody: something",
                                     .jobs = &row,
                                     .jobs_count = 1};
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_STATUS, &status);
    } else {
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_JOB, &job);
    }
    if (strcmp(request->op, "snapshot") == 0) {
        struct wire_totals totals = totals_message(7);
        struct wire_node_row node = {.host = "node17",
                                     .connected = 1,
                                     .ranks = 4,
                                     .events = 5000,
                                     .rss_bytes = 1 << 20,
                                     .cpu_ns = 1000,
                                     .call_cost_ns = 18,
                                     .up_ns = 1000000000};
        struct wire_nodes nodes = {.job = "lmp.0", .window = 7, .nodes = &node, .nodes_count = 1};
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_TOTALS, &totals);
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_NODES, &nodes);
        reply.frame = bed->frame;
        bed->answered = 1;
    }
    fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_REPLY, &reply);
}

static void take_front(void *user, zmq_msg_t *identity, const struct wire_message *message)
{
    struct bed *bed = user;
    struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL, .version = "9.9", .instance = 5};
    if (message->type == WIRE_TYPE_HELLO)
        fake_daemon_answer(&bed->daemon, identity, WIRE_TYPE_WELCOME, &welcome);
    else if (message->type == WIRE_TYPE_REQUEST)
        answer_request(bed, identity, &message->request);
}

static void publish(struct bed *bed, const char *topic, enum wire_type type, const void *message)
{
    bed->frame++;
    fake_daemon_publish(&bed->daemon, topic, bed->frame, bed->frame, type, message);
}

static void serve(struct bed *bed)
{
    fake_daemon_serve(&bed->daemon, take_front, bed);
    fake_daemon_confirm(&bed->daemon, 1);
    for (; bed->answered && bed->news > 0; bed->news--) {
        struct wire_totals totals = totals_message(8 + bed->frame);
        publish(bed, "totals/lmp.0", WIRE_TYPE_TOTALS, &totals);
    }
    if (bed->answered && bed->ends) {
        struct wire_job job = job_message("ended");
        publish(bed, "job/lmp.0", WIRE_TYPE_JOB, &job);
        bed->ends = 0;
    }
}

/* ---- the command --------------------------------------------------------- */

/* Run this program again: a fork of a process with ZeroMQ's threads may only call exec. */
static pid_t start(char **argv, const int out[2], const int err[2])
{
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        close(out[0]);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return pid;
}

static void collect(int fd, char *text, size_t capacity)
{
    size_t length = strlen(text);
    ssize_t got;
    while ((got = read(fd, text + length, capacity - 1 - length)) > 0) {
        length += (size_t)got;
        text[length] = '\0';
    }
}

/* Run to the end. @param unread  close the reading end at once @return the exit status */
static int run(struct bed *bed, char **argv, int unread)
{
    int out[2], err[2], status = 0;
    assert_int_equal(pipe(out) | pipe(err), 0);
    pid_t pid = start(argv, out, err);
    uint64_t begin = clock_mono_ns();
    if (unread)
        close(out[0]);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (bed->daemon.front) {
            zmq_pollitem_t items[] = {{bed->daemon.front, 0, ZMQ_POLLIN, 0},
                                      {bed->daemon.stream, 0, ZMQ_POLLIN, 0}};
            zmq_poll(items, 2, 5);
            serve(bed);
        }
        if (!unread)
            collect(out[0], bed->out, sizeof bed->out);
        collect(err[0], bed->err, sizeof bed->err);
        if (clock_mono_ns() - begin > BROKEN_NS) {
            kill(pid, SIGKILL);
            fail_msg("the command never ended; it said: %s", bed->err);
        }
    }
    if (!unread) {
        collect(out[0], bed->out, sizeof bed->out);
        close(out[0]);
    }
    collect(err[0], bed->err, sizeof bed->err);
    close(err[0]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define COMMAND(bed, command, ...)                                                                 \
    run(bed,                                                                                       \
        (char *[]){#command, "--timeout", "100", "--connect", (bed)->daemon.endpoint, __VA_ARGS__, \
                   NULL},                                                                          \
        0)

static unsigned lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static int make_bed(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    *state = bed;
    if (directory_make(bed->top) != 0)
        return -1;
    snprintf(bed->daemon.endpoint, sizeof bed->daemon.endpoint, "ipc://%s/sock", bed->top);
    bed->state = "running";
    return 0;
}

static int drop_bed(void **state)
{
    struct bed *bed = *state;
    fake_daemon_finish(&bed->daemon);
    int result = directory_remove(bed->top);
    free(bed);
    return result;
}

/* ---- tests --------------------------------------------------------------- */

static void tap_ends_after_as_many_messages_as_asked(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    bed->news = 5;
    assert_int_equal(COMMAND(bed, tap, "-t", "totals", "-f", "json", "--count", "3"), 0);
    assert_int_equal(lines(bed->out), 3);
    assert_memory_equal(
        bed->out,
        "{\"topic\":\"totals\",\"frame\":0,\"snapshot\":true,\"job\":\"lmp.0\",\"window\":7,",
        strlen(
            "{\"topic\":\"totals\",\"frame\":0,\"snapshot\":true,\"job\":\"lmp.0\",\"window\":7,"));
    assert_non_null(strstr(bed->out, "{\"topic\":\"totals\",\"frame\":2,\"snapshot\":false,"));
    assert_string_equal(bed->err, "");
}

static void tap_can_leave_out_the_current_state(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    bed->news = 2;
    assert_int_equal(COMMAND(bed, tap, "--no-snapshot", "-f", "json", "--count", "2"), 0);
    assert_null(strstr(bed->out, "\"snapshot\":true"));
}

static void tap_ends_with_the_job(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    bed->news = 2;
    bed->ends = 1;
    assert_int_equal(COMMAND(bed, tap, "-t", "totals", "--until-end"), 0);
    assert_int_equal(lines(bed->out), 3);
    assert_non_null(strstr(bed->out, "totals  lmp.0"));
}

static void tap_shows_the_whole_state_of_a_job_that_has_ended(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    bed->state = "ended";
    assert_int_equal(COMMAND(bed, tap, "--job", "lmp.0", "--until-end"), 0);
    assert_non_null(strstr(bed->out, "node17")); /* which comes behind the job's end */
}

static void tap_fails_when_less_came_than_was_asked(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, tap, "-t", "alerts", "--count", "1", "--for", "0.2"), 1);
    assert_int_equal(COMMAND(bed, tap, "-t", "alerts", "--for", "0.2"), 0);
}

static void a_daemon_out_of_reach_is_named(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(COMMAND(bed, tap, "--timeout", "0.1"), 1);
    assert_non_null(strstr(bed->err, bed->daemon.endpoint));
    bed->err[0] = '\0';
    assert_int_equal(COMMAND(bed, status, "--timeout", "0.1"), 1);
    assert_non_null(strstr(bed->err, bed->daemon.endpoint));
    assert_string_equal(bed->out, "");
}

static void wrong_usage_is_distinguished_from_failure(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(COMMAND(bed, tap, "--count", "0"), 2);
    assert_int_equal(COMMAND(bed, tap, "--count", "-1"), 2);
    assert_int_equal(COMMAND(bed, tap, "--for", "soon"), 2);
    assert_int_equal(COMMAND(bed, tap, "--format", "xml"), 2);
    assert_int_equal(COMMAND(bed, tap, "--topic", "nonsense"), 2);
    assert_int_equal(COMMAND(bed, tap, "word"), 2);
    assert_int_equal(COMMAND(bed, tap, "--connect", "nowhere"), 2);
    assert_int_equal(COMMAND(bed, status, "--format", "xml"), 2);
    assert_int_equal(COMMAND(bed, status, "--timeout", "nan"), 2);
    assert_int_equal(COMMAND(bed, status, "--connect", "nowhere"), 2);
    assert_string_equal(bed->out, "");
    assert_int_equal(COMMAND(bed, tap, "--help"), 0);
    assert_non_null(strstr(bed->out, "usage: holter tap"));
}

static void a_reader_that_goes_away_is_no_failure(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    char *argv[] = {"tap", "--timeout", "100", "--connect", bed->daemon.endpoint, NULL};
    assert_int_equal(run(bed, argv, 1), 0);
    assert_string_equal(bed->err, "");
}

static void status_shows_daemon_job_and_agents(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, status, "-v"), 0);
    assert_non_null(strstr(bed->out, "holterd 9.9 at ipc://"));
    assert_non_null(strstr(bed->out, "somebody: something"));
    assert_non_null(strstr(bed->out, "job lmp.0: running, 4 of 4 ranks"));
    assert_non_null(strstr(bed->out, "1.00 k msg/s"));
    assert_non_null(strstr(bed->out, "node17"));
}

static void status_as_json_is_one_object(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, status, "-f", "json"), 0);
    assert_int_equal(lines(bed->out), 1);
    assert_memory_equal(bed->out, "{\"endpoint\":\"ipc://", 18);
    assert_non_null(strstr(bed->out, ",\"daemon\":{\"version\":\"9.9\",\"pid\":77,"));
    assert_non_null(strstr(
        bed->out, "\"agents\":[{\"job\":\"lmp.0\",\"window\":7,\"nodes\":[{\"host\":\"node17\","));
}

static void status_of_an_unknown_job_fails(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, status, "--job", "other.9"), 1);
    assert_non_null(strstr(bed->err, "other.9"));
}

static void top_prints_a_page_once(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, top, "--once"), 0);
    assert_memory_equal(bed->out, "holter lmp.0  lmp, 4 ranks on 1 node ", 37);
    assert_non_null(strstr(bed->out, "\nNODES "));
    assert_non_null(strstr(bed->out, "\nnode17 "));
    assert_string_equal(bed->err, "");
}

static void top_wants_a_terminal(void **state)
{
    struct bed *bed = *state;
    fake_daemon_up(&bed->daemon);
    assert_int_equal(COMMAND(bed, top, "--job", "lmp.0"), 2);
    assert_non_null(strstr(bed->err, "must be a terminal"));
    bed->err[0] = '\0';
    assert_int_equal(COMMAND(bed, top, "--once", "--timeout", "never"), 2);
    assert_int_equal(COMMAND(bed, top, "word"), 2);
    assert_string_equal(bed->out, "");
}

static void top_names_a_daemon_out_of_reach(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(COMMAND(bed, top, "--once", "--timeout", "0.1"), 1);
    assert_non_null(strstr(bed->err, bed->daemon.endpoint));
}

int main(int argc, char **argv)
{
    if (strcmp(argv[0], "top") == 0)
        return cmd_top(argc, argv);
    if (strcmp(argv[0], "tap") == 0)
        return cmd_tap(argc, argv);
    if (strcmp(argv[0], "status") == 0)
        return cmd_status(argc, argv);
#define T(name) cmocka_unit_test_setup_teardown(name, make_bed, drop_bed)
    const struct CMUnitTest tests[] = {
        T(tap_ends_after_as_many_messages_as_asked),
        T(tap_can_leave_out_the_current_state),
        T(tap_ends_with_the_job),
        T(tap_shows_the_whole_state_of_a_job_that_has_ended),
        T(tap_fails_when_less_came_than_was_asked),
        T(a_daemon_out_of_reach_is_named),
        T(wrong_usage_is_distinguished_from_failure),
        T(a_reader_that_goes_away_is_no_failure),
        T(top_prints_a_page_once),
        T(top_wants_a_terminal),
        T(top_names_a_daemon_out_of_reach),
        T(status_shows_daemon_job_and_agents),
        T(status_as_json_is_one_object),
        T(status_of_an_unknown_job_fails),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
