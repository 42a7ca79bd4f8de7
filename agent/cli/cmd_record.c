/* holter record: records a running job from the stream that its daemon publishes. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/terminal/terminal.h"
#include "daemon/storage/record_parts.h"
#include "daemon/storage/recordings/attach.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: holter record [OPTION]... [JOB]\n"
    "\n"
    "Records a running job from now on, in addition to the recording of its daemon, if there is\n"
    "one. Ends with the job, or when interrupted. Default of JOB: the newest running one, else "
    "the\n"
    "next that starts.\n"
    "\n"
    "  -o, --output FILE       the recording, a new file; otherwise holter-JOB.hrec, or\n"
    "                          holter-JOB-2.hrec and so on, in this directory\n"
    "      --max-size SIZE     of the recording, 16M and more: it goes on in parts, of which the\n"
    "                          oldest are removed\n" DIAL_HELP
    "      --timeout SECONDS   how long the daemon may be unreachable before this fails (default "
    "5,\n"
    "                          of a fleet 30)\n"
    "  -h, --help              this text\n"
    "\n"
    "Status: 0 when the job ended or a signal was received, 1 when there was nothing to record, "
    "the\n"
    "recording cannot be written or the daemon is unreachable, 2 for wrong usage.\n";

#define CHECK_MS 250         /* interval of checks whether the daemon moved or is unreachable */
#define WAIT_NS 1000000000u  /* time without a job after which a message is printed */
#define COMMIT_NS 500000000u /* between commits: the manual promises one second */

struct record {
    struct dial dial;
    struct client *client;
    struct attach *attach; /* NULL: nothing was recorded yet */
    int signals;           /* signalfd of the signals that end the command */
    const char *job, *output;
    uint64_t most_bytes;
    uint64_t committed_ns; /* CLOCK_MONOTONIC */
    uint64_t asked_missed; /* missed frames at the last query of the state of the job */
    uint64_t reported;     /* missed messages that were reported */
    int ended;             /* the job has ended */
    uint64_t connected_ns; /* CLOCK_MONOTONIC; 0: not yet */
    int reported_waiting;  /* the lack of a job was reported */
};

/* ---- the file ---------------------------------------------------------------- */

/* The id of the job becomes a part of the file name. */
static int is_name(const char *job)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return job[0] != '\0' && strspn(job, good) == strlen(job);
}

static int cmd_record_begin(struct record *r, const char *job)
{
    char path[512], why[600];
    int code = is_name(job) ? 0 : -HOLTER_EPROTOCOL;
    if (code == 0 && r->output != NULL)
        code = snprintf(path, sizeof path, "%s", r->output) < (int)sizeof path ? 0 : -ENAMETOOLONG;
    else if (code == 0)
        code = recording_choose_new(".", job, path, sizeof path);
    if (code != 0) {
        terminal_print("record: job %.64s: %s", job, holter_strerror(code));
        return -1;
    }
    if (attach_create(&r->attach, path, r->most_bytes, why, sizeof why) != 0) {
        terminal_print("record: %s", why);
        return -1;
    }
    r->committed_ns = clock_mono_ns();
    terminal_print("recording job %s in %s", job, path);
    return 0;
}

static int cmd_record_fail(struct record *r, int code)
{
    char why[600];
    snprintf(why, sizeof why, "%s", attach_error(r->attach, code));
    terminal_print("record: %s: %s; it holds what came up to the last commit",
                   attach_path(r->attach), why);
    attach_abandon(r->attach, why);
    r->attach = NULL;
    return -1;
}

/* @return 0, or -1 after printing why the recording cannot continue */
static int cmd_record_commit(struct record *r, uint64_t now_ns)
{
    if (r->attach == NULL || (now_ns - r->committed_ns < COMMIT_NS && !attach_is_due(r->attach)))
        return 0;
    int code = attach_commit(r->attach);
    r->committed_ns = now_ns;
    if (code != 0)
        return cmd_record_fail(r, code);
    uint64_t missed = attach_missed_count(r->attach);
    if (missed > r->reported)
        terminal_print("record: %" PRIu64 " messages of agents did not come", missed - r->reported);
    r->reported = missed;
    return 0;
}

static int cmd_record_write_message(struct record *r, const struct client_message *got)
{
    const struct wire_message *m = got->message;
    if (wire_topic(m->type) == NULL || m->type == WIRE_TYPE_REPLAY ||
        (got->id != 0 && strcmp(m->job.job, client_job(r->client)) != 0))
        return 0;
    if (client_replays(r->client)) {
        terminal_print(
            "record: this daemon replays a recording; `holter replay --record` records that");
        return -1;
    }
    if (m->type == WIRE_TYPE_JOB)
        r->ended = strcmp(m->job.state, "running") != 0;
    if (r->ended && r->attach == NULL) {
        terminal_print("record: job %s has ended", m->job.job);
        return -1;
    }
    /* The job message comes first; for a job that starts now, a recorded message may precede it. */
    const char *job = m->type == WIRE_TYPE_JOB        ? m->job.job
                      : m->type == WIRE_TYPE_RECORDED ? m->recorded.job
                                                      : NULL;
    if (r->attach == NULL && (job == NULL || cmd_record_begin(r, job) != 0))
        return job == NULL ? 0 : -1;
    int code = attach_write(r->attach, m, got->snapshot);
    return code != 0 ? cmd_record_fail(r, code) : cmd_record_commit(r, clock_mono_ns());
}

/* ---- running ------------------------------------------------------------------- */

/* The end of the job may have been among the missed frames. */
static void cmd_record_ask_for_end(struct record *r)
{
    uint64_t missed = client_missed(r->client);
    if (missed != r->asked_missed && client_is_current(r->client) &&
        client_ask(r->client, "jobs", NULL, NULL, NULL) > 0)
        r->asked_missed = missed;
}

/* The user may have mistyped the job. */
static void cmd_record_report_waiting(struct record *r, uint64_t now_ns)
{
    if (r->attach != NULL || r->reported_waiting || client_state(r->client) != CLIENT_CONNECTED)
        return;
    r->connected_ns = r->connected_ns == 0 ? now_ns : r->connected_ns;
    if (now_ns - r->connected_ns < WAIT_NS)
        return;
    r->reported_waiting = 1;
    if (r->job != NULL)
        terminal_print("record: there is no job %s yet; waiting for it", r->job);
    else
        terminal_print("record: no job runs; waiting for the next");
}

/* @return 1 at the end of the job, or -1 */
static int cmd_record_follow(struct record *r)
{
    uint64_t away_since = 0;
    for (;;) {
        struct client_message got;
        struct pollfd watched = {.fd = r->signals, .events = POLLIN};
        int result = 0;
        while (!(r->ended && client_is_current(r->client)) &&
               (result = client_next(r->client, 0, &got)) == 1) {
            if (cmd_record_write_message(r, &got) != 0)
                return -1;
        }
        if (r->ended && client_is_current(r->client))
            return 1;
        if (result < 0) {
            terminal_print("record: %s", holter_strerror(result));
            return -1;
        }
        if (cmd_record_commit(r, clock_mono_ns()) != 0 ||
            dial_is_hopeless(&r->dial, r->client, &away_since))
            return -1;
        if (dial_moved(&r->dial, &r->client))
            client_follow(r->client, dial_job(&r->dial, r->job), ATTACH_TOPICS);
        cmd_record_ask_for_end(r);
        cmd_record_report_waiting(r, clock_mono_ns());
        client_wait(r->client, &watched, 1, CHECK_MS);
        if (watched.revents != 0)
            return 1;
    }
}

/* Close the file. @return the exit status */
static int cmd_record_finish(struct record *r, int status)
{
    uint64_t missed = client_missed(r->client);
    if (r->attach == NULL) {
        if (status == 0)
            terminal_print("record: no job came");
        return 1;
    }
    char path[600];
    uint64_t messages = attach_message_count(r->attach), gaps = attach_missed_count(r->attach);
    snprintf(path, sizeof path, "%s", attach_path(r->attach));
    int code = attach_close(r->attach);
    r->attach = NULL;
    if (code != 0) {
        terminal_print("record: %s: its last second could not be written: %s", path,
                       holter_strerror(code));
        return 1;
    }
    if (missed > 0)
        terminal_print("record: %" PRIu64 " frames came faster than they could be written", missed);
    printf("%s: %s", path, quantity_things(messages, "message").text);
    if (gaps > 0)
        printf(", %" PRIu64 " did not come", gaps);
    putchar('\n');
    return terminal_flush_output("record") != 0 || messages == 0 ? 1 : status;
}

int cmd_record(int argc, char **argv)
{
    static const uint64_t no_bound;
    struct record r = {.dial = {.word = &r.job, .job = &r.job, .waits_ns = &no_bound}};
    const struct command_option options[] = {
        {"output", 'o', .recording = &r.output},
        {"max-size", .bytes = &r.most_bytes, .least = RECORD_MINIMUM_BYTES},
        {0},
    };
    const struct command_line line = {"record", help, .options = options};
    int status = dial_parse(&r.dial, &line, argc, argv);
    if (status >= 0)
        return status;
    r.job = dial_job(&r.dial, r.job);
    char why[600];
    if (r.output != NULL && attach_check(r.output, why, sizeof why) != 0) {
        terminal_print("record: %s", why);
        return 1;
    }
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit (setrlimit(2)) is a full disk */
    r.signals = end_signals_open(0);
    status = dial_open(&r.dial, &r.client);
    if (status == 0 && client_follow(r.client, r.job, ATTACH_TOPICS) != 0) {
        terminal_print("record: %s", client_error(r.client));
        status = 2;
    }
    if (status == 0)
        status = cmd_record_finish(&r, cmd_record_follow(&r) == 1 ? 0 : 1);
    client_destroy(r.client);
    if (r.signals >= 0)
        close(r.signals);
    return status;
}
