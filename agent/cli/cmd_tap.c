/* holter tap: prints the published stream as lines. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/terminal.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/json.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: holter tap [OPTION]...\n"
    "\n"
    "Prints what the daemon publishes about a job: its current state first, then changes.\n"
    "\n"
    "  -t, --topic TOPICS    only these, separated by commas: job, places, totals, ranks, "
    "history,\n"
    "                        pairs, calls, callers, nodes, alerts, latency, lateness, regions,\n"
    "                        phases, curve, topology, links, captures, replay; default: all of\n"
    "                        these; recorded, the messages of agents, is printed only if it is\n"
    "                        named\n"
    "  -f, --format FORMAT   text (default) or json, one object to a line\n"
    "  -j, --job ID          this job; otherwise the newest running one, or the next to come\n"
    "      --for SECONDS     end after this time\n"
    "      --count N         end after N messages\n"
    "      --until-end       end when the job has ended\n"
    "      --no-snapshot     leave out the current state\n"
    "  -c, --connect ENDPOINT\n"
    "                        the daemon, tcp://HOST:PORT or ipc:///PATH, or a fleet,\n"
    "                        nats://HOST:PORT,...[/CLUSTER[/JOB]]; default: HOLTER_DAEMON, else\n"
    "                        the newest session of this user on this host\n"
    "      --keys DIR        CURVE keys, when the daemon asks for them\n"
    "      --timeout SECONDS how long the daemon may be unreachable before this fails (default 5,\n"
    "                        of a fleet 30)\n"
    "\n"
    "In text, \"waiting\" is the share of time in receives, waits, polls, collectives and\n"
    "one-sided calls, and of sends whose receive had not begun.\n"
    "\n"
    "Status: 0 when all requested messages were printed, 1 when they were not or the daemon is\n"
    "unreachable, 2 for wrong usage.\n";

#define CHECK_MS 250 /* interval of checks whether the daemon moved or is unreachable */

struct tap {
    struct dial dial;
    struct client *client;
    int signals; /* signalfd of the signals that end the command */
    /* options */
    const char *topics; /* NULL: all */
    const char *job;    /* NULL: the newest */
    int json;
    int no_snapshot; /* the current state is not printed */
    int until_end;
    uint64_t begun_ns;
    uint64_t for_ns;      /* 0: no end */
    uint64_t count;       /* 0: no end */
    const char *followed; /* topics, and those needed to detect the end */
    /* progress */
    uint64_t printed;
    struct network_names names;
    int ended;             /* the job has ended */
    int output_error;      /* errno of standard output; 0: no error */
    uint64_t asked_missed; /* missed frames at the last query of the state of the job */
};

/* ---- printing ------------------------------------------------------------ */

static int cmd_tap_wants_topic(const struct tap *tap, const char *topic)
{
    const char *at = tap->topics;
    while (at && *at) {
        size_t length = strcspn(at, ",");
        if (strlen(topic) == length && memcmp(at, topic, length) == 0)
            return 1;
        at += length + (at[length] == ',');
    }
    return tap->topics == NULL;
}

static void cmd_tap_print_json(const struct client_message *got)
{
    json_put_text(stdout, "{", "topic", wire_topic(got->message->type));
    printf(",\"frame\":%llu,\"snapshot\":%s,", (unsigned long long)got->frame,
           got->snapshot ? "true" : "false");
    json_fields(stdout, got->message);
    fputs("}\n", stdout);
}

static void cmd_tap_print_message(struct tap *tap, const struct client_message *got)
{
    const char *topic = wire_topic(got->message->type);
    const struct wire_job *job = got->message->type == WIRE_TYPE_JOB ? &got->message->job : NULL;
    if (job && strcmp(job->job, client_job(tap->client)) == 0)
        tap->ended = strcmp(job->state, "running") != 0;
    if (!topic || got->id) /* an answer to a request, not a published message */
        return;
    network_names_take(&tap->names, got->message);
    if (!cmd_tap_wants_topic(tap, topic) || (got->snapshot && tap->no_snapshot))
        return;
    if (tap->json)
        cmd_tap_print_json(got);
    else
        tap_text(stdout, got->message, got->snapshot, &tap->names);
    tap->printed++;
    /* Each line is written at once, for programs that read them. */
    if (fflush(stdout) || ferror(stdout))
        tap->output_error = errno ? errno : EIO;
}

/* ---- running ------------------------------------------------------------- */

static int cmd_tap_has_all(const struct tap *tap)
{
    if (tap->count && tap->printed >= tap->count)
        return 1;
    /* In a snapshot the end of the job may precede other topics. */
    return tap->until_end && tap->ended && client_is_current(tap->client);
}

/* Wait for a message, at most until the time limit.
 * @return 1 after a signal, or if the reader has closed standard output */
static int cmd_tap_wait(const struct tap *tap, uint64_t now, uint64_t end)
{
    struct pollfd watched[] = {{.fd = tap->signals, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    uint64_t wait_ms = (end - now) / 1000000 + 1;
    client_wait(tap->client, watched, 2, wait_ms > CHECK_MS ? CHECK_MS : (int)wait_ms);
    return watched[0].revents != 0 || (watched[1].revents & POLLERR);
}

/* The end of the job may have been among the missed frames. */
static void cmd_tap_ask_for_end(struct tap *tap)
{
    uint64_t missed = client_missed(tap->client);
    if (tap->until_end && missed != tap->asked_missed && client_is_current(tap->client) &&
        client_ask(tap->client, "jobs", NULL, NULL, NULL) > 0)
        tap->asked_missed = missed;
}

/* @return 1 at the requested end, 0 if a time limit or a signal came first, negative after an error
 */
static int cmd_tap_follow(struct tap *tap)
{
    uint64_t away_since = 0;
    const uint64_t end = tap->for_ns ? tap->begun_ns + tap->for_ns : UINT64_MAX;
    for (;;) {
        struct client_message got;
        int result = 0;
        while (!tap->output_error && !cmd_tap_has_all(tap) &&
               (result = client_next(tap->client, 0, &got)) == 1)
            cmd_tap_print_message(tap, &got);
        if (tap->output_error || cmd_tap_has_all(tap))
            return 1;
        if (result < 0) {
            terminal_print("tap: %s", holter_strerror(result));
            return -1;
        }
        if (dial_is_hopeless(&tap->dial, tap->client, &away_since))
            return -1;
        if (dial_moved(&tap->dial, &tap->client))
            client_follow(tap->client, dial_job(&tap->dial, tap->job), tap->followed);
        cmd_tap_ask_for_end(tap);
        uint64_t now = clock_mono_ns();
        if (now >= end || cmd_tap_wait(tap, now, end))
            return 0;
    }
}

static int cmd_tap_run(struct tap *tap)
{
    char topics[256];
    tap->followed = tap->topics;
    if (tap->topics) {
        /* Links are printed with the names of their ends. */
        int names = !tap->json && cmd_tap_wants_topic(tap, "links");
        snprintf(topics, sizeof topics, "%s%s%s", tap->topics,
                 tap->until_end || !tap->json ? ",job" : "", names ? ",topology,places" : "");
        tap->followed = topics;
    }
    if (client_follow(tap->client, tap->job, tap->followed)) {
        terminal_print("tap: %s", client_error(tap->client));
        return 2;
    }
    int result = cmd_tap_follow(tap);
    uint64_t missed = client_missed(tap->client);
    if (missed)
        terminal_print("tap: %llu messages were missed, because they were published faster than "
                       "they were printed",
                       (unsigned long long)missed);
    if (tap->output_error && tap->output_error != EPIPE) {
        terminal_print("tap: standard output: %s", strerror(tap->output_error));
        return 1;
    }
    if (tap->output_error == EPIPE) { /* the reader has enough: what is left is for nobody */
        __fpurge(stdout);
        clearerr(stdout);
    }
    if (result < 0)
        return 1;
    /* A time limit or a signal is the regular end, unless another end was requested. */
    return result == 1 || (!tap->count && !tap->until_end) ? 0 : 1;
}

int cmd_tap(int argc, char **argv)
{
    struct tap tap = {.dial = {.job = &tap.job, .waits_ns = &tap.for_ns},
                      .begun_ns = clock_mono_ns()};
    const struct command_option options[] = {
        {"topic", 't', .text = &tap.topics},
        {"format", 'f', .json = &tap.json},
        {"job", 'j', .text = &tap.job},
        {"for", .seconds_ns = &tap.for_ns},
        {"count", .number = &tap.count, .least = 1},
        {"until-end", .flag = &tap.until_end},
        {"no-snapshot", .flag = &tap.no_snapshot},
        {0},
    };
    const struct command_line line = {"tap", help, .options = options};
    int status = dial_parse(&tap.dial, &line, argc, argv);
    if (status >= 0)
        return status;
    /* If the reader closes the pipe, write(2) fails with EPIPE instead of a fatal signal. */
    signal(SIGPIPE, SIG_IGN);
    tap.signals = end_signals_open(0);
    tap.job = dial_job(&tap.dial, tap.job);
    status = dial_open(&tap.dial, &tap.client);
    if (status == 0)
        status = cmd_tap_run(&tap);
    client_destroy(tap.client);
    network_names_finish(&tap.names);
    if (tap.signals >= 0)
        close(tap.signals);
    return status;
}
