/* Sinks: what is delivered when, failures, hanging sinks, the end of the daemon. */
/* Sinks against what receives: pipes, files, commands and a server of the test's own, which fail,
 * hang, are slow, or say too much. */
#include "daemon/alert/sinks.h"

#include "daemon/alert/sink.h"
#include "holter/error.h"
#include "tests/directory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define HOUR (UINT64_C(3600000) * MS)

static char directory[DIRECTORY_ROOM], path[96];

static const struct alert_labels labels = {
    .user = "ann", .job = "sim", .host = "n3", .culprit = "node n3"};

/* ---- what sinks report --------------------------------------------------- */

struct reports {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    unsigned count;
    char text[8][400];
};

static void on_report(void *user, const char *text)
{
    struct reports *r = user;
    pthread_mutex_lock(&r->mutex);
    if (r->count < 8)
        snprintf(r->text[r->count], sizeof(r->text[0]), "%s", text);
    r->count++;
    pthread_cond_signal(&r->more);
    pthread_mutex_unlock(&r->mutex);
}

/* Wait for so many. @return the last of them */
static const char *await_reports(struct reports *r, unsigned count)
{
    pthread_mutex_lock(&r->mutex);
    while (r->count < count)
        pthread_cond_wait(&r->more, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
    return r->text[count - 1];
}

/* ---- the bed ------------------------------------------------------------- */

struct bed {
    struct rules rules;
    struct sinks *sinks;
    struct sinks_options options;
    struct reports reports;
};

static int make_directory(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/alerts", directory);
    pthread_mutex_init(&bed->reports.mutex, NULL);
    pthread_cond_init(&bed->reports.more, NULL);
    bed->options = (struct sinks_options){.retry_ns = MS,
                                          .maximum_retry_ns = 2 * MS,
                                          .update_ns = HOUR,
                                          .hang_ns = HOUR,
                                          .leave_ns = HOUR,
                                          .user = &bed->reports,
                                          .report = on_report};
    *state = bed;
    return 0;
}

static int remove_directory(void **state)
{
    struct bed *bed = *state;
    rules_finish(&bed->rules);
    pthread_cond_destroy(&bed->reports.more);
    pthread_mutex_destroy(&bed->reports.mutex);
    free(bed);
    return directory_remove(directory);
}

static struct sink_rule *add_sink(struct bed *bed, enum sink_kind kind, const char *target)
{
    char why[300];
    if (rules_add_sink(&bed->rules, kind, target, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return &bed->rules.sinks[bed->rules.sink_count - 1];
}

static void start(struct bed *bed)
{
    assert_int_equal(sinks_create(&bed->sinks, &bed->rules, &bed->options), 0);
}

static struct sinks_counts counts(struct bed *bed)
{
    struct sinks_counts c;
    sinks_count(bed->sinks, &c);
    return c;
}

static struct wire_alert alert(uint64_t id, const char *state, uint64_t updates)
{
    return (struct wire_alert){.job = "job.0",
                               .id = id,
                               .kind = "latency",
                               .state = state,
                               .since_ns = 100,
                               .updated_ns = 100 + 5000 * MS,
                               .title = "latency 2x its reference",
                               .text = "",
                               .rank = -1,
                               .host = "",
                               .rule = "latency-growth",
                               .severity = "warning",
                               .ranks = "0-3",
                               .ratio = 2,
                               .slope = NAN,
                               .locality = "inter-node",
                               .sizes = "",
                               .advice = "",
                               .nodes = "",
                               .updates = updates,
                               .fired_ns = 200};
}

static void take(struct bed *bed, uint64_t id, const char *state, uint64_t updates)
{
    struct wire_alert a = alert(id, state, updates);
    sinks_queue(bed->sinks, &a, &labels);
}

static void read_line(int fd, char *out, size_t capacity)
{
    size_t used = 0;
    do
        assert_int_equal(read(fd, out + used, 1), 1);
    while (out[used++] != '\n' && used < capacity - 1);
    out[used] = '\0';
}

/* All of a file. @return number of lines */
static unsigned contents(const char *name, char *out, size_t capacity)
{
    FILE *file = fopen(name, "r");
    unsigned lines = 0;
    assert_non_null(file);
    size_t length = fread(out, 1, capacity - 1, file);
    out[length] = '\0';
    fclose(file);
    for (size_t i = 0; i < length; i++)
        lines += out[i] == '\n';
    return lines;
}

/* ---- what is delivered --------------------------------------------------- */

static void an_episode_is_delivered_once_and_its_end_once(void **state)
{
    struct bed *bed = *state;
    int ends[2];
    char line[512];
    assert_int_equal(pipe(ends), 0);
    bed->options.terminal = ends[1];
    add_sink(bed, SINK_TERMINAL, NULL);
    start(bed);
    take(bed, 1, "pending", 0);
    take(bed, 1, "firing", 0);
    read_line(ends[0], line, sizeof(line));
    assert_string_equal(line, "holter: alert (warning): latency 2x its reference\n");
    for (uint64_t i = 1; i < 50; i++)
        take(bed, 1, "firing", i);
    take(bed, 1, "resolved", 50);
    read_line(ends[0], line, sizeof(line));
    assert_string_equal(line, "holter: over after 5 s: latency 2x its reference\n");
    sinks_destroy(bed->sinks);
    close(ends[1]);
    assert_int_equal(read(ends[0], line, 1), 0);
    assert_int_equal(bed->reports.count, 0);
    close(ends[0]);
}

static void an_alert_that_never_fired_is_not_delivered(void **state)
{
    struct bed *bed = *state;
    char text[4096];
    add_sink(bed, SINK_FILE, path);
    start(bed);
    struct wire_alert a = alert(1, "resolved", 0);
    a.fired_ns = 0;
    take(bed, 1, "pending", 0);
    sinks_queue(bed->sinks, &a, &labels);
    take(bed, 2, "firing", 0);
    sinks_destroy(bed->sinks);
    assert_int_equal(contents(path, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "\"id\":2,"));
}

static void a_file_has_a_line_of_json_a_state_and_updates_at_a_bounded_rate(void **state)
{
    struct bed *bed = *state;
    char text[8192];
    add_sink(bed, SINK_FILE, path);
    start(bed);
    take(bed, 7, "firing", 0);
    while (counts(bed).delivered < 1)
        sched_yield();
    for (uint64_t i = 1; i <= 50; i++)
        take(bed, 7, "firing", i);
    sinks_destroy(bed->sinks); /* delivers what waits: the newest of the updates */
    assert_int_equal(contents(path, text, sizeof(text)), 2);
    assert_int_equal(strncmp(text, "{\"topic\":\"alerts\",\"job\":\"job.0\",\"id\":7,", 38), 0);
    assert_non_null(strstr(text, "\"ranks\":\"0-3\",\"ratio\":2,\"slope\":null"));
    assert_non_null(strstr(strchr(text, '\n'), "\"updates\":50"));
}

static void labels_are_those_of_the_first_state_whatever_comes_later(void **state)
{
    struct bed *bed = *state;
    struct alert_labels other = {.user = "bob", .job = "sim2", .host = "n4", .culprit = "rank 1"};
    struct wire_alert a = alert(7, "resolved", 1);
    char text[8192];
    bed->options.cluster = "meteor";
    bed->options.external_url = "http://desk/%j";
    add_sink(bed, SINK_FILE, path);
    start(bed);
    take(bed, 7, "firing", 0);
    while (counts(bed).delivered < 1)
        sched_yield();
    a.severity = "critical";
    sinks_queue(bed->sinks, &a, &other);
    sinks_destroy(bed->sinks);
    assert_int_equal(contents(path, text, sizeof(text)), 2);
    static const char wanted[] =
        "\"labels\":{\"alertname\":\"latency-growth\",\"cluster\":\"meteor\",\"user\":\"ann\","
        "\"job\":\"sim\",\"job_id\":\"job.0\",\"host\":\"n3\",\"kind\":\"latency\","
        "\"culprit\":\"node n3\",\"severity\":\"warning\",\"episode\":\"7\"},"
        "\"generatorURL\":\"http://desk/job.0\"}\n";
    const char *first = strstr(text, wanted);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, wanted));
}

static void severities_below_the_sink_s_are_not_delivered(void **state)
{
    struct bed *bed = *state;
    char text[8192];
    add_sink(bed, SINK_FILE, path)->severity = SEVERITY_CRITICAL;
    start(bed);
    struct wire_alert a = alert(1, "firing", 0), b = alert(2, "firing", 0);
    b.severity = "critical";
    sinks_queue(bed->sinks, &a, &labels);
    sinks_queue(bed->sinks, &b, &labels);
    b.severity = "info"; /* of an alert that was delivered, the end is delivered */
    b.state = "resolved";
    a.state = "resolved";
    sinks_queue(bed->sinks, &a, &labels);
    sinks_queue(bed->sinks, &b, &labels);
    sinks_destroy(bed->sinks);
    assert_in_range(contents(path, text, sizeof(text)), 1, 2);
    assert_null(strstr(text, "\"id\":1,"));
    assert_non_null(strstr(text, "\"state\":\"resolved\""));
}

static void of_an_alert_delivered_by_an_earlier_daemon_only_the_end_is_delivered(void **state)
{
    struct bed *bed = *state;
    char text[8192];
    add_sink(bed, SINK_COMMAND, "cat >>\"$HOLTER_TEST_ALERTS\"");
    setenv("HOLTER_TEST_ALERTS", path, 1);
    start(bed);
    struct wire_alert a = alert(1, "firing", 0);
    sinks_restore(bed->sinks, &a, &labels);
    take(bed, 1, "firing", 1);
    take(bed, 1, "resolved", 2);
    sinks_destroy(bed->sinks);
    assert_int_equal(contents(path, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "\"state\":\"resolved\""));
}

/* ---- failing and hanging ------------------------------------------------- */

static void
alerts_are_not_written_through_the_link_of_another_user_in_a_shared_directory(void **state)
{
    struct bed *bed = *state;
    char led[128], expected[160];
    if (geteuid() != 0)
        skip();
    snprintf(led, sizeof(led), "%s.led", path);
    snprintf(expected, sizeof(expected), "%s belongs to the user with number 4321", path);
    assert_int_equal(chmod(directory, 01777), 0);
    assert_int_equal(symlink(led, path), 0);
    assert_int_equal(lchown(path, 4321, 4321), 0);
    add_sink(bed, SINK_FILE, path);
    start(bed);
    take(bed, 1, "firing", 0);
    assert_non_null(strstr(await_reports(&bed->reports, 1), expected));
    sinks_destroy(bed->sinks);
    assert_int_equal(access(led, F_OK), -1);
}

static void a_folder_that_is_missing_is_reported_before_there_is_an_alert(void **state)
{
    struct bed *bed = *state;
    add_sink(bed, SINK_FILE, "/nowhere/file");
    start(bed);
    assert_string_equal(
        await_reports(&bed->reports, 1),
        "file /nowhere/file: its folder cannot be found: No such file or directory");
    sinks_destroy(bed->sinks);
}

static void every_sink_that_fails_is_named(void **state)
{
    struct bed *bed = *state;
    char error[256];
    add_sink(bed, SINK_FILE, "/nowhere/file");
    add_sink(bed, SINK_COMMAND, "exit 3");
    start(bed);
    take(bed, 1, "firing", 0);
    await_reports(&bed->reports, 3); /* the first of them is about the folder */
    sinks_error(bed->sinks, error, sizeof(error));
    assert_string_equal(error, "file /nowhere/file: No such file or directory; "
                               "command exit 3: it ended with status 3");
    sinks_destroy(bed->sinks);
}

static void
failure_and_recovery_are_logged_once_and_the_newest_state_is_delivered_late(void **state)
{
    struct bed *bed = *state;
    char file[128], text[8192], error[256];
    snprintf(file, sizeof(file), "%s/file", path);
    add_sink(bed, SINK_FILE, file);
    start(bed);
    sinks_error(bed->sinks, error, sizeof(error));
    assert_string_equal(error, "");
    take(bed, 1, "firing", 0);
    assert_non_null(strstr(await_reports(&bed->reports, 2), "fails: No such file"));
    while (counts(bed).failed < 4)
        sched_yield();
    sinks_error(bed->sinks, error, sizeof(error));
    assert_non_null(strstr(error, "No such file"));
    assert_true(sinks_have_undelivered(bed->sinks, "job.0"));
    assert_false(sinks_have_undelivered(bed->sinks, "job.1"));
    take(bed, 1, "firing", 1);
    take(bed, 1, "resolved", 2);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_non_null(strstr(await_reports(&bed->reports, 3), "works again"));
    while (sinks_have_undelivered(bed->sinks, "job.0"))
        sched_yield();
    sinks_error(bed->sinks, error, sizeof(error));
    assert_string_equal(error, "");
    sinks_destroy(bed->sinks);
    assert_int_equal(bed->reports.count, 3); /* the first is about the folder */
    /* the attempts before the directory was there delivered nothing */
    assert_in_range(contents(file, text, sizeof(text)), 1, 3);
    const char *last = strrchr(text, '{');
    while (last > text && last[-1] != '\n')
        last--;
    assert_non_null(strstr(last, "\"state\":\"resolved\""));
}

static void fill_pipe(int fd)
{
    char bytes[4096] = {0};
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, bytes, sizeof(bytes)) > 0 || write(fd, bytes, 1) > 0)
        ;
    assert_int_equal(errno, EAGAIN);
    fcntl(fd, F_SETFL, flags);
}

static void *drain(void *user)
{
    char bytes[4096];
    while (read(*(int *)user, bytes, sizeof(bytes)) > 0)
        ;
    return NULL;
}

static void a_terminal_that_hangs_is_reported_once_and_blocks_nobody(void **state)
{
    struct bed *bed = *state;
    int ends[2];
    pthread_t reader;
    assert_int_equal(pipe(ends), 0);
    fill_pipe(ends[1]);
    bed->options.terminal = ends[1];
    bed->options.maximum_waiting = 5;
    bed->options.hang_ns = 1;
    add_sink(bed, SINK_TERMINAL, NULL);
    start(bed);
    for (uint64_t id = 1; id <= 10; id++)
        take(bed, id, "firing", 0);
    assert_in_range(counts(bed).dropped, 4, 5);
    assert_non_null(strstr(await_reports(&bed->reports, 1), "more than 5 alerts wait"));
    while (bed->reports.count < 2) /* until it has taken up its work */
        sinks_check(bed->sinks);
    for (int i = 0; i < 100; i++)
        sinks_check(bed->sinks);
    assert_non_null(strstr(await_reports(&bed->reports, 2), "hangs"));
    assert_int_equal(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    assert_non_null(strstr(await_reports(&bed->reports, 3), "works again"));
    while (counts(bed).delivered + counts(bed).dropped < 10)
        sched_yield();
    sinks_destroy(bed->sinks);
    assert_int_equal(bed->reports.count, 3);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
}

static void a_thread_that_does_not_return_is_detached(void **state)
{
    struct bed *bed = *state;
    static int ends[2]; /* the thread keeps it */
    static struct bed left;
    left = *bed;
    assert_int_equal(pipe(ends), 0);
    fill_pipe(ends[1]);
    left.options.terminal = ends[1];
    left.options.leave_ns = MS;
    add_sink(&left, SINK_TERMINAL, NULL);
    start(&left);
    take(&left, 1, "firing", 0);
    sinks_destroy(left.sinks);
    assert_non_null(strstr(await_reports(&bed->reports, 1), "1 alert was not delivered"));
    rules_finish(&left.rules);
}

/* ---- commands ------------------------------------------------------------ */

static void a_command_gets_the_json_and_nothing_else_of_ours(void **state)
{
    struct bed *bed = *state;
    char text[8192], list[256];
    snprintf(list, sizeof(list), "%s/fds", directory);
    setenv("HOLTER_TEST_ALERTS", path, 1);
    setenv("HOLTER_TEST_LIST", list, 1);
    int leak = open("/dev/null", O_RDONLY); /* not to be closed by exec */
    add_sink(bed, SINK_COMMAND,
             "cat >\"$HOLTER_TEST_ALERTS\"; echo /proc/self/fd/* >\"$HOLTER_TEST_LIST\"; "
             "kill -l >/dev/null");
    start(bed);
    take(bed, 3, "firing", 0);
    sinks_destroy(bed->sinks);
    close(leak);
    assert_int_equal(contents(path, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "\"topic\":\"alerts\",\"job\":\"job.0\",\"id\":3,"));
    contents(list, text, sizeof(text));
    char inherited[32];
    snprintf(inherited, sizeof(inherited), "/fd/%d", leak);
    assert_true(leak > 3);
    assert_null(strstr(text, inherited));
    assert_int_equal(bed->reports.count, 0);
}

static void a_command_that_fails_is_reported_with_its_words(void **state)
{
    struct bed *bed = *state;
    add_sink(bed, SINK_COMMAND, "echo no route to pager >&2; echo more >&2; exit 3");
    start(bed);
    take(bed, 1, "firing", 0);
    const char *text = await_reports(&bed->reports, 1);
    assert_non_null(strstr(text, "it ended with status 3: no route to pager; it is tried again"));
    while (counts(bed).failed < 3)
        sched_yield();
    sinks_destroy(bed->sinks);
    assert_non_null(strstr(bed->reports.text[1], "1 alert was not delivered"));
    assert_int_equal(bed->reports.count, 2);
}

/* The read ends of the pipe see its end only when every process of the group is gone. */
static void a_command_that_hangs_is_killed_with_its_process_group(void **state)
{
    struct bed *bed = *state;
    char byte;
    assert_int_equal(mkfifo(path, 0600), 0);
    setenv("HOLTER_TEST_ALERTS", path, 1);
    add_sink(bed, SINK_COMMAND,
             "exec 3>\"$HOLTER_TEST_ALERTS\"; trap '' TERM; sleep 1000 & sleep 1000")
        ->timeout_ns = 20 * MS;
    bed->options.retry_ns = bed->options.maximum_retry_ns = MS;
    start(bed);
    take(bed, 1, "firing", 0);
    int fd = open(path, O_RDONLY); /* until one has opened it */
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), 0);
    assert_non_null(strstr(await_reports(&bed->reports, 1), "killed because it took too long"));
    close(fd);
    sinks_destroy(bed->sinks);
}

static void a_command_may_say_much_and_read_nothing(void **state)
{
    struct bed *bed = *state;
    char title[129], text[1025];
    memset(title, 't', sizeof(title) - 1);
    memset(text, 'x', sizeof(text) - 1);
    title[128] = text[1024] = '\0';
    add_sink(bed, SINK_COMMAND,
             "exec <&-; head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2");
    start(bed);
    struct wire_alert a = alert(1, "firing", 0);
    a.title = title;
    a.text = text;
    sinks_queue(bed->sinks, &a, &labels);
    while (counts(bed).delivered < 1)
        sched_yield();
    assert_int_equal(counts(bed).failed, 0);
    sinks_destroy(bed->sinks);
}

static void what_a_command_leaves_running_does_not_hold_it_up(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(mkfifo(path, 0600), 0);
    setenv("HOLTER_TEST_ALERTS", path, 1);
    add_sink(bed, SINK_COMMAND, "cat \"$HOLTER_TEST_ALERTS\" >&2 & exit 0");
    start(bed);
    take(bed, 1, "firing", 0);
    while (counts(bed).delivered < 1)
        sched_yield();
    sinks_destroy(bed->sinks);
    int fd = open(path, O_WRONLY); /* it waits for us, and ends */
    assert_true(fd >= 0);
    close(fd);
}

static void states_of_one_alert_are_delivered_in_order(void **state)
{
    struct bed *bed = *state;
    char text[65536], *at = text;
    setenv("HOLTER_TEST_ALERTS", path, 1);
    add_sink(bed, SINK_COMMAND, "cat >>\"$HOLTER_TEST_ALERTS\"");
    start(bed);
    for (uint64_t id = 1; id <= 20; id++)
        take(bed, id, "firing", 0);
    for (uint64_t id = 1; id <= 20; id++)
        take(bed, id, "resolved", 1);
    sinks_destroy(bed->sinks);
    unsigned lines = contents(path, text, sizeof(text)), resolved[21] = {0}, fired[21] = {0};
    assert_in_range(lines, 20, 40);
    for (unsigned i = 0; i < lines; i++) {
        char *end = strchr(at, '\n');
        *end = '\0';
        unsigned long id = strtoul(strstr(at, "\"id\":") + 5, NULL, 10);
        assert_in_range(id, 1, 20);
        assert_int_equal(resolved[id], 0); /* nothing comes after it */
        *(strstr(at, "\"resolved\"") != NULL ? &resolved[id] : &fired[id]) += 1;
        at = end + 1;
    }
    for (unsigned id = 1; id <= 20; id++) {
        assert_int_equal(resolved[id], 1);
        assert_in_range(fired[id], 0, 1);
    }
}

/* ---- syslog -------------------------------------------------------------- */

enum { NOT_PERMITTED = 77, WRONG = 1 };

/* In a process of its own: lay a writable layer over /dev, so that nothing of the machine's
 * changes.
 * @return 0 or NOT_PERMITTED */
static int own_devices(void)
{
    char options[256], upper[64], work[64];
    snprintf(upper, sizeof(upper), "%s/upper", directory);
    snprintf(work, sizeof(work), "%s/work", directory);
    snprintf(options, sizeof(options), "lowerdir=/dev,upperdir=%s,workdir=%s", upper, work);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", directory, "tmpfs", 0, NULL) != 0 || mkdir(upper, 0755) != 0 ||
        mkdir(work, 0755) != 0 || mount("overlay", "/dev", "overlay", 0, options) != 0)
        return NOT_PERMITTED;
    unlink("/dev/log");
    return 0;
}

/* @return the exit status */
static int tell_syslog(struct bed *bed)
{
    char text[2048] = "", error[256];
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    int code = own_devices();
    if (code != 0)
        return code;
    start(bed);
    take(bed, 1, "firing", 0);
    if (strstr(await_reports(&bed->reports, 1), "/dev/log: No such file") == NULL)
        return WRONG;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return NOT_PERMITTED;
    if (recv(fd, text, sizeof(text) - 1, 0) <= 0)
        return WRONG;
    /* facility daemon (3), severity warning (4): RFC 3164, section 4.1.1 */
    static const char line[] = "]: job job.0 of ann: alert (warning): latency 2x its reference";
    int right = strncmp(text, "<28>", 4) == 0 && strstr(text, " holterd[") != NULL &&
                strstr(text, line) != NULL;
    take(bed, 1, "resolved", 1);
    memset(text, 0, sizeof(text));
    right = right && recv(fd, text, sizeof(text) - 1, 0) > 0 && strncmp(text, "<29>", 4) == 0 &&
            strstr(text, "over after 5 s") != NULL;
    await_reports(&bed->reports, 2);
    sinks_error(bed->sinks, error, sizeof(error));
    sinks_destroy(bed->sinks);
    return right && error[0] == '\0' && bed->reports.count == 2 ? 0 : WRONG;
}

static void syslog_gets_the_line_and_its_absence_is_reported(void **state)
{
    struct bed *bed = *state;
    int status = 0;
    add_sink(bed, SINK_SYSLOG, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(tell_syslog(bed));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED)
        skip();
    assert_int_equal(status, 0);
}

/* ---- the line ------------------------------------------------------------ */

static void lines_say_what_and_why_and_steer_no_terminal(void **state)
{
    char line[1200];
    struct wire_cause_row causes[] = {{"network", 0.81, "numbers"}, {"mapping", 0.1, ""}};
    struct wire_alert a = alert(1, "firing", 0);
    (void)state;
    a.title = "a\x1b]0;b\a\nc \xc2\x9b"
              "31m \xe2\x80\xae\xff gr\xc3\xbc\xc3\x9f \xe2\x82\xac";
    a.causes = causes;
    a.causes_count = 2;
    a.advice = "look at node3";
    sink_line(&a, line, sizeof(line));
    assert_string_equal(line, "alert (warning): a?]0;b??c ?31m ?? gr\xc3\xbc\xc3\x9f \xe2\x82\xac; "
                              "network 81 %; look at node3");
    a.state = "resolved";
    a.title = "t";
    a.onset_ns = 50;
    a.updated_ns = 50 + 90000 * MS;
    sink_line(&a, line, sizeof(line));
    assert_string_equal(line, "over after 90 s: t");
}

/* ---- Alertmanager -------------------------------------------------------- */

static void alertmanager_gets_labels_that_stay_and_times(void **state)
{
    struct wire_cause_row causes[] = {{"network", 0.81, "2.1 ms more"}, {"mapping", 0.1, ""}};
    struct wire_message message = {.type = WIRE_TYPE_ALERT, .alert = alert(9, "firing", 3)};
    struct sink_delivery delivery = {.message = &message,
                                     .severity = "critical",
                                     .region = 2,
                                     .labels = &labels,
                                     .cluster = "fat\"cat",
                                     .external_url = "http://desk/d?var-job_id=%j&x=1%"};
    (void)state;
    message.alert.causes = causes;
    message.alert.causes_count = 2;
    message.alert.title = "say \"slow\"\n";
    message.alert.since_ns = UINT64_C(1700000000123456789);
    message.alert.slope = 0.25;
    char *body = sink_alertmanager_body(&delivery, 60000 * MS, UINT64_C(1700000100000000000));
    assert_string_equal(
        body,
        "[{\"labels\":{\"alertname\":\"latency-growth\",\"cluster\":\"fat\\\"cat\",\"user\":"
        "\"ann\",\"job\":\"sim\",\"job_id\":\"job.0\",\"host\":\"n3\",\"kind\":\"latency\","
        "\"culprit\":\"node n3\",\"severity\":\"critical\",\"region\":\"2\",\"episode\":\"9\"},"
        "\"generatorURL\":\"http://desk/d?var-job_id=job.0&x=1%\","
        "\"annotations\":{\"summary\":\"say \\\"slow\\\"\\n\",\"causes\":\"network 81 %: 2.1 "
        "ms more; mapping 10 %\",\"ranks\":\"0-3\",\"locality\":\"inter-node\",\"ratio\":"
        "\"2.0x\",\"slope\":\"25%/min\"},\"startsAt\":\"2023-11-14T22:13:20.123456789Z\","
        "\"endsAt\":\"2023-11-14T22:19:00.000000000Z\"}]");
    free(body);
    message.alert.state = "resolved";
    message.alert.updated_ns = UINT64_C(1700000200000000001);
    body = sink_alertmanager_body(&delivery, 60000 * MS, 0);
    assert_non_null(strstr(body, "\"endsAt\":\"2023-11-14T22:16:40.000000001Z\""));
    free(body);
    /* Alertmanager refuses an alert that ends before it begins: clocks are set back. */
    message.alert.updated_ns = UINT64_C(1600000000000000000);
    body = sink_alertmanager_body(&delivery, 60000 * MS, 0);
    assert_non_null(strstr(body, "\"endsAt\":\"2023-11-14T22:13:20.123456789Z\""));
    free(body);
}

/* A server on loopback. @param url  room for its address @return its listening socket */
static int listen_here(char url[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(url, 64, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    return fd;
}

/* Take one request. @return the connection, to be answered */
static int take_request(int server, char *out, size_t capacity)
{
    size_t used = 0, whole = SIZE_MAX;
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    while (used < whole) {
        ssize_t n = read(fd, out + used, capacity - 1 - used);
        assert_true(n > 0);
        used += (size_t)n;
        out[used] = '\0';
        const char *end = strstr(out, "\r\n\r\n"), *length = strstr(out, "Content-Length: ");
        if (end != NULL && length != NULL)
            whole = (size_t)(end + 4 - out) + strtoul(length + 16, NULL, 10);
    }
    return fd;
}

static void answer(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static void a_firing_alert_is_repeated_to_alertmanager_and_its_end_is_sent_once(void **state)
{
    struct bed *bed = *state;
    char url[64], request[8192];
    int server = listen_here(url);
    add_sink(bed, SINK_ALERTMANAGER, url)->repeat_ns = MS;
    start(bed);
    take(bed, 1, "firing", 0);
    for (int i = 0; i < 5; i++) {
        int fd = take_request(server, request, sizeof(request));
        assert_int_equal(strncmp(request, "POST /api/v2/alerts HTTP/1.1\r\n", 30), 0);
        assert_non_null(strstr(request, "Content-Type: application/json\r\n"));
        assert_non_null(strstr(request, "\"episode\":\"1\""));
        if (i == 4)
            take(bed, 1, "resolved", 1);
        answer(fd, OK);
    }
    answer(take_request(server, request, sizeof(request)), OK);
    assert_non_null(strstr(request, "\"endsAt\":\"1970-01-01T00:00:05.000000100Z\""));
    sinks_destroy(bed->sinks);
    assert_int_equal(bed->reports.count, 0);
    fcntl(server, F_SETFL, O_NONBLOCK);
    assert_int_equal(accept(server, NULL, NULL), -1); /* that was all */
    close(server);
}

/* As when a daemon drops a job that has ended, or another daemon of a fleet goes on with it. */
static void alerts_of_a_job_that_is_forgotten_are_still_delivered_but_not_repeated(void **state)
{
    struct bed *bed = *state;
    struct wire_alert other = alert(2, "firing", 0);
    char url[64], request[8192];
    int server = listen_here(url);
    add_sink(bed, SINK_ALERTMANAGER, url)->repeat_ns = MS;
    start(bed);
    take(bed, 1, "firing", 0);
    int fd = take_request(server, request, sizeof(request));
    sinks_forget(bed->sinks, "job.0");
    answer(fd, "HTTP/1.1 500 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull");
    fd = take_request(server, request, sizeof(request));
    assert_non_null(strstr(request, "\"episode\":\"1\""));
    other.job = "job.1";
    sinks_queue(bed->sinks, &other, &labels);
    answer(fd, OK);
    for (int i = 0; i < 5; i++) {
        answer(take_request(server, request, sizeof(request)), OK);
        assert_non_null(strstr(request, "\"episode\":\"2\""));
    }
    sinks_forget(bed->sinks, "job.1");
    take(bed, 1, "firing", 1); /* the first job is there again */
    for (int i = 0; i < 5; i++) {
        fd = take_request(server, request, sizeof(request));
        if (i > 0) /* a repeat may have been under way */
            assert_non_null(strstr(request, "\"episode\":\"1\""));
        answer(fd, OK);
    }
    sinks_destroy(bed->sinks);
    close(server);
}

static void a_server_that_refuses_or_says_much_is_tried_again(void **state)
{
    struct bed *bed = *state;
    static char much[3000000];
    char url[64], request[8192];
    int server = listen_here(url);
    add_sink(bed, SINK_ALERTMANAGER, url)->timeout_ns = HOUR;
    start(bed);
    take(bed, 1, "firing", 0);
    answer(take_request(server, request, sizeof(request)),
           "HTTP/1.1 500 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull");
    assert_non_null(strstr(await_reports(&bed->reports, 1), "it answers with status 500: full"));
    answer(take_request(server, request, sizeof(request)), "no HTTP at all\r\n\r\n");
    answer(take_request(server, request, sizeof(request)), "");
    int fd = take_request(server, request, sizeof(request));
    memset(much, 'x', sizeof(much));
    memcpy(much, "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n", 44);
    ssize_t sent = write(fd, much, sizeof(much)); /* less than announced: cut off */
    (void)sent;
    close(fd);
    answer(take_request(server, request, sizeof(request)), OK);
    assert_non_null(strstr(await_reports(&bed->reports, 2), "works again"));
    sinks_destroy(bed->sinks);
    assert_int_equal(bed->reports.count, 2);
    close(server);
}

static void *answer_all(void *user)
{
    char request[8192];
    for (int fd; (fd = accept4(*(int *)user, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(fd)) {
        ssize_t n = read(fd, request, sizeof(request));
        n = n > 0 ? write(fd, OK, strlen(OK)) : n;
        (void)n;
    }
    return NULL;
}

static void a_server_that_hangs_is_given_up_and_tried_again(void **state)
{
    struct bed *bed = *state;
    char url[64];
    pthread_t answers;
    int server = listen_here(url); /* connections are made, and nobody answers */
    add_sink(bed, SINK_ALERTMANAGER, url)->timeout_ns = 100 * MS;
    start(bed);
    take(bed, 1, "firing", 0);
    assert_non_null(strstr(await_reports(&bed->reports, 1), "did not answer in time"));
    assert_int_equal(pthread_create(&answers, NULL, answer_all, &server), 0);
    assert_non_null(strstr(await_reports(&bed->reports, 2), "works again"));
    sinks_destroy(bed->sinks);
    shutdown(server, SHUT_RDWR);
    pthread_join(answers, NULL);
    close(server);
}

static void without_a_server_nothing_waits_at_the_end(void **state)
{
    struct bed *bed = *state;
    char url[64];
    int server = listen_here(url);
    close(server);
    add_sink(bed, SINK_ALERTMANAGER, url);
    start(bed);
    take(bed, 1, "firing", 0);
    await_reports(&bed->reports, 1);
    sinks_destroy(bed->sinks);
    assert_non_null(strstr(bed->reports.text[1], "1 alert was not delivered"));
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        /* forks: before there are threads */
        IN_DIRECTORY(syslog_gets_the_line_and_its_absence_is_reported),
        IN_DIRECTORY(an_episode_is_delivered_once_and_its_end_once),
        IN_DIRECTORY(an_alert_that_never_fired_is_not_delivered),
        IN_DIRECTORY(a_file_has_a_line_of_json_a_state_and_updates_at_a_bounded_rate),
        IN_DIRECTORY(labels_are_those_of_the_first_state_whatever_comes_later),
        IN_DIRECTORY(severities_below_the_sink_s_are_not_delivered),
        IN_DIRECTORY(of_an_alert_delivered_by_an_earlier_daemon_only_the_end_is_delivered),
        IN_DIRECTORY(alerts_are_not_written_through_the_link_of_another_user_in_a_shared_directory),
        IN_DIRECTORY(a_folder_that_is_missing_is_reported_before_there_is_an_alert),
        IN_DIRECTORY(every_sink_that_fails_is_named),
        IN_DIRECTORY(failure_and_recovery_are_logged_once_and_the_newest_state_is_delivered_late),
        IN_DIRECTORY(a_terminal_that_hangs_is_reported_once_and_blocks_nobody),
        IN_DIRECTORY(a_thread_that_does_not_return_is_detached),
        IN_DIRECTORY(a_command_gets_the_json_and_nothing_else_of_ours),
        IN_DIRECTORY(a_command_that_fails_is_reported_with_its_words),
        IN_DIRECTORY(a_command_that_hangs_is_killed_with_its_process_group),
        IN_DIRECTORY(a_command_may_say_much_and_read_nothing),
        IN_DIRECTORY(what_a_command_leaves_running_does_not_hold_it_up),
        IN_DIRECTORY(states_of_one_alert_are_delivered_in_order),
        cmocka_unit_test(lines_say_what_and_why_and_steer_no_terminal),
        cmocka_unit_test(alertmanager_gets_labels_that_stay_and_times),
        IN_DIRECTORY(a_firing_alert_is_repeated_to_alertmanager_and_its_end_is_sent_once),
        IN_DIRECTORY(alerts_of_a_job_that_is_forgotten_are_still_delivered_but_not_repeated),
        IN_DIRECTORY(a_server_that_refuses_or_says_much_is_tried_again),
        IN_DIRECTORY(a_server_that_hangs_is_given_up_and_tried_again),
        IN_DIRECTORY(without_a_server_nothing_waits_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
