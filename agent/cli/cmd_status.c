/* holter status: prints the state of daemon, jobs and agents. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "proto/json.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter status [OPTION]...\n"
    "\n"
    "Tells how the daemon, its jobs and their agents are: rates, losses, clocks, cost.\n"
    "\n"
    "  -f, --format FORMAT     text (default) or json: one object\n"
    "  -j, --job ID            details of this job only\n"
    "  -v, --verbose           details of jobs that have ended, and all calls that are not "
    "covered\n" DIAL_HELP
    "      --timeout SECONDS   how long to wait for the daemon (default 5, fleet 30)\n"
    "\n"
    "Status: 0 when the daemon answered, 1 when it did not, 2 for wrong usage.\n";

/* A copy of a message, which remains valid after the next client_next(). */
struct stored {
    struct wire_message message;
    struct wire_arena arena;
};

struct status {
    struct dial dial;
    struct client *client;
    int json;
    int verbose;
    const char *job; /* NULL: all */
    struct stored *stored;
    size_t count;
};

/* ---- asking -------------------------------------------------------------- */

enum { OVERTAKEN = 1 }; /* another run of a replay took over: repeat all requests */

/* The newest stored message of this type and job; NULL: none. */
static struct stored *cmd_status_find(const struct status *status, enum wire_type type,
                                      const char *job)
{
    for (size_t i = status->count; i-- > 0;) {
        if (status->stored[i].message.type == type &&
            strcmp(wire_job_of(&status->stored[i].message), job) == 0)
            return &status->stored[i];
    }
    return NULL;
}

/* Only the newest window of a job is stored. */
static int cmd_status_store_message(struct status *status, const struct wire_message *message)
{
    struct stored *place = NULL;
    if (message->type == WIRE_TYPE_TOTALS)
        place = cmd_status_find(status, WIRE_TYPE_TOTALS, message->totals.job);
    else if (message->type == WIRE_TYPE_LINKS)
        place = cmd_status_find(status, WIRE_TYPE_LINKS, message->links.job);
    if (!place) {
        struct stored *more = reallocarray(status->stored, status->count + 1, sizeof *more);
        if (!more)
            return -ENOMEM;
        status->stored = more;
        place = &more[status->count++];
        *place = (struct stored){0};
    }
    return wire_copy(&place->message, &place->arena, message);
}

/* Remove all stored messages. */
static void cmd_status_release_messages(struct status *status)
{
    for (size_t i = 0; i < status->count; i++)
        wire_arena_finish(&status->stored[i].arena);
    free(status->stored);
    status->stored = NULL;
    status->count = 0;
}

/* Send a request and store all answers.
 * @return 0, OVERTAKEN, or an error code, which was printed */
static int cmd_status_ask(struct status *status, const char *op, const char *job,
                          const char *topics)
{
    uint64_t away_since = 0;
    int64_t id = client_ask(status->client, op, job, topics, NULL);
    if (id < 0) {
        terminal_print("status: %s", holter_strerror((int)id));
        return (int)id;
    }
    struct client_message got;
    while (dial_next(&status->dial, status->client, &away_since, &got) == 0) {
        if (got.id != (uint64_t)id)
            continue;
        const struct wire_reply *reply = &got.message->reply;
        if (got.message->type != WIRE_TYPE_REPLY) {
            int error = cmd_status_store_message(status, got.message);
            if (error == 0)
                continue;
            terminal_print("status: %s", holter_strerror(error));
            return error;
        }
        if (dial_is_overtaken(status->client, reply))
            return OVERTAKEN;
        if (reply->code)
            terminal_print("status: %s: %s", status->dial.endpoint,
                           reply->text[0] ? reply->text : holter_strerror((int)reply->code));
        return (int)reply->code;
    }
    return -HOLTER_EUNREACHABLE;
}

/* Are details of this job printed? Those of running jobs and of the newest other one. Jobs of other
 * daemons have none here: only the daemon that holds a job can be asked about it. */
static int is_detailed(const struct status *status, const struct wire_status *daemon,
                       uint64_t index)
{
    const struct wire_job_row *row = &daemon->jobs[index];
    if (row->daemon[0] != '\0')
        return 0;
    if (status->job)
        return strcmp(row->job, status->job) == 0;
    return status->verbose || strcmp(row->state, "running") == 0 || index + 1 == daemon->jobs_count;
}

/* Another daemon of the fleet may have it. */
static void cmd_status_report_unknown(const struct status *status)
{
    const struct wire_status *daemon = &status->stored[0].message.status;
    for (uint64_t i = 0; i < daemon->jobs_count; i++) {
        if (strcmp(daemon->jobs[i].job, status->job) == 0) {
            terminal_print("status: job \"%s\" is at %s", status->job, daemon->jobs[i].daemon);
            return;
        }
    }
    terminal_print("status: %s knows no job \"%s\"", status->dial.endpoint, status->job);
}

static int cmd_status_ask_all(struct status *status)
{
    int error = cmd_status_ask(status, "status", NULL, NULL);
    if (error)
        return error;
    if (status->count == 0 || status->stored[0].message.type != WIRE_TYPE_STATUS) {
        terminal_print("status: %s: the daemon gave no status", status->dial.endpoint);
        return -HOLTER_EMISSING;
    }
    int found = 0;
    for (uint64_t i = 0; i < status->stored[0].message.status.jobs_count && !error; i++) {
        /* A request may move the stored messages, but not the rows in their arenas. */
        const struct wire_status *daemon = &status->stored[0].message.status;
        if (!is_detailed(status, daemon, i))
            continue;
        found = 1;
        error = cmd_status_ask(status, "snapshot", daemon->jobs[i].job, "job,totals,nodes,links");
        if (error == -HOLTER_ENOJOB)
            error = 0; /* the daemon has removed the job meanwhile */
    }
    if (!error && status->job && !found) {
        cmd_status_report_unknown(status);
        return -HOLTER_ENOJOB;
    }
    return error;
}

/* @return 0, or the exit status */
static int ask_daemon(struct status *status)
{
    int result, error = OVERTAKEN;
    while (error == OVERTAKEN) {
        cmd_status_release_messages(status);
        if ((result = dial_wait(&status->dial, &status->client)) != 0)
            return result;
        error = cmd_status_ask_all(status);
    }
    return error ? 1 : 0;
}

/* ---- printing ------------------------------------------------------------ */

static void cmd_status_print_text(const struct status *status)
{
    const struct wire_status *daemon = &status->stored[0].message.status;
    status_text_daemon(stdout, status->dial.endpoint, daemon);
    for (uint64_t i = 0; i < daemon->jobs_count; i++) {
        const char *job = daemon->jobs[i].job;
        const struct stored *about = cmd_status_find(status, WIRE_TYPE_JOB, job),
                            *latest = cmd_status_find(status, WIRE_TYPE_TOTALS, job),
                            *links = cmd_status_find(status, WIRE_TYPE_LINKS, job);
        if (!about) {
            if (!status->job)
                status_text_brief(stdout, &daemon->jobs[i]);
            continue;
        }
        fputc('\n', stdout);
        status_text_job(stdout, &about->message.job, latest ? &latest->message.totals : NULL,
                        status->verbose);
        if (links)
            status_text_links(stdout, &links->message.links);
        for (size_t k = 0; k < status->count; k++) {
            if (status->stored[k].message.type == WIRE_TYPE_NODES &&
                strcmp(status->stored[k].message.nodes.job, job) == 0)
                status_text_nodes(stdout, &status->stored[k].message.nodes);
        }
    }
    if (daemon->jobs_count == 0)
        puts("no job yet");
}

static void print_object(const struct stored *stored)
{
    fputc('{', stdout);
    json_fields(stdout, &stored->message);
    fputc('}', stdout);
}

/* Number of links in each state; topic "links" lists them. */
static void print_json_links(const struct stored *stored)
{
    const struct wire_links *links = stored ? &stored->message.links : NULL;
    if (!links) {
        fputs(",\"links\":null", stdout);
        return;
    }
    printf(",\"links\":{\"window\":%" PRIu64 ",\"idle\":%" PRIu64 ",\"busy\":%" PRIu64
           ",\"hot\":%" PRIu64 ",\"congested\":%" PRIu64 "}",
           links->window, links->idle, links->busy, links->hot, links->congested);
}

static void print_json_job(const struct status *status, const struct stored *about)
{
    const char *job = about->message.job.job;
    const struct stored *latest = cmd_status_find(status, WIRE_TYPE_TOTALS, job);
    int parts = 0;
    fputc('{', stdout);
    json_fields(stdout, &about->message);
    fputs(",\"latest\":", stdout);
    if (latest)
        print_object(latest);
    else
        fputs("null", stdout);
    print_json_links(cmd_status_find(status, WIRE_TYPE_LINKS, job));
    fputs(",\"agents\":[", stdout);
    for (size_t i = 0; i < status->count; i++) {
        if (status->stored[i].message.type != WIRE_TYPE_NODES ||
            strcmp(wire_job_of(&status->stored[i].message), job) != 0)
            continue;
        fputs(parts++ ? "," : "", stdout);
        print_object(&status->stored[i]);
    }
    fputs("]}", stdout);
}

/* {"endpoint": ..., "daemon": {status},
 *  "jobs": [{job, "latest": totals, "links": numbers of them, "agents": [nodes, ...]}, ...]} */
static void cmd_status_print_json(const struct status *status)
{
    int jobs = 0;
    json_put_text(stdout, "{", "endpoint", status->dial.endpoint);
    fputs(",\"daemon\":", stdout);
    print_object(&status->stored[0]);
    fputs(",\"jobs\":[", stdout);
    for (size_t i = 0; i < status->count; i++) {
        if (status->stored[i].message.type != WIRE_TYPE_JOB)
            continue;
        fputs(jobs++ ? "," : "", stdout);
        print_json_job(status, &status->stored[i]);
    }
    fputs("]}\n", stdout);
}

int cmd_status(int argc, char **argv)
{
    struct status status = {.dial = {.job = &status.job}};
    const struct command_option options[] = {
        {"format", 'f', .json = &status.json},
        {"job", 'j', .text = &status.job},
        {"verbose", 'v', .flag = &status.verbose},
        {0},
    };
    const struct command_line line = {"status", help, .options = options};
    int result = dial_parse(&status.dial, &line, argc, argv);
    if (result >= 0)
        return result;
    status.job = dial_job(&status.dial, status.job);
    result = dial_open(&status.dial, &status.client);
    if (result == 0)
        result = ask_daemon(&status);
    if (result == 0) {
        if (status.json)
            cmd_status_print_json(&status);
        else
            cmd_status_print_text(&status);
        result = terminal_flush_output("status");
    }
    client_destroy(status.client);
    cmd_status_release_messages(&status);
    return result;
}
