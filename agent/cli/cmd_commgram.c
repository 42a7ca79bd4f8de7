/* holter commgram: the picture of a span of time as text, for scripts. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/private_replay.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter commgram [OPTION]... [RECORDING]\n"
    "\n"
    "Prints the CommGram of a job, as holter-view draws it: phases, their communities, and the\n"
    "messages between these. Of a recording it is that of its whole job.\n"
    "\n"
    "      --from SECONDS      begin of the span, since the start of the job; default: its start\n"
    "      --to SECONDS        end of the span; default: the end of the job, or now\n"
    "      --phases K          number of phases, 1 to 256; default 24\n"
    "      --communities C     number of communities of each phase; default: as found\n"
    "      --ranks LIST        only messages from or to these ranks, such as 3,8-11\n"
    "      --no-collectives    omit the messages that stand for collectives\n"
    "  -f, --format FORMAT     text (default) or json, one object to a line\n"
    "  -j, --job ID            job; default: the newest running one, else the newest\n" DIAL_HELP
    "      --timeout SECONDS   how long to wait for the daemon (default 5, fleet 30)\n"
    "\n"
    "Status: 0 when there was an answer, 1 when there was none, 2 for wrong usage.\n";

struct asking {
    struct dial dial;
    struct client *client;
    int json;
    const char *job;       /* NULL: the newest */
    const char *recording; /* NULL: a daemon is asked */
    double from, to;       /* seconds since the job's begin; NaN: not given */
    uint64_t phases;       /* 0: not given */
    char words[3500];      /* argument of the request, except from and to */
    char found[65];        /* the job */
    uint64_t start_ns;
    struct network_names names; /* of the job: its groups of ranks */
    FILE *out;                  /* output of the current request */
};

enum { OVERTAKEN = -1 }; /* another run of a replay took over: repeat all requests */

static int cmd_commgram_add_word(void *user, const struct command_option *option, const char *value)
{
    struct asking *a = user;
    int modelled = strcmp(option->name, "no-collectives") == 0;
    return command_line_append("commgram", a->words, sizeof a->words,
                               modelled ? "modelled" : option->name, modelled ? "0" : value);
}

static void cmd_commgram_print(const struct asking *a, const struct wire_message *message)
{
    if (a->json) {
        fprintf(a->out, "{\"topic\":\"commgram\",\"group\":%" PRIu64 ",",
                a->names.group > 1 ? a->names.group : 1);
        json_fields(a->out, message);
        fputs("}\n", a->out);
    } else {
        tap_text(a->out, message, 0, &a->names);
    }
}

static int cmd_commgram_refused(const struct asking *a, const struct wire_reply *reply)
{
    const char *text =
        reply->text && reply->text[0] ? reply->text : holter_strerror((int)reply->code);
    if (reply->code != -HOLTER_ENOJOB)
        terminal_print("%s", text);
    else if (a->job && a->job[0])
        terminal_print("commgram: %s: %s", a->job, text);
    else
        terminal_print("commgram: the daemon at %s has no job yet", a->dial.endpoint);
    return reply->code == -HOLTER_EUSAGE ? 2 : 1;
}

/* Receive the answers to a request up to its reply. @return 0, OVERTAKEN, or the exit status */
static int cmd_commgram_receive_answers(struct asking *a, int64_t id)
{
    uint64_t away_since = 0;
    struct client_message got;
    while (dial_next(&a->dial, a->client, &away_since, &got) == 0) {
        if (got.id != (uint64_t)id)
            continue;
        const struct wire_message *m = got.message;
        if (m->type == WIRE_TYPE_JOB) {
            snprintf(a->found, sizeof a->found, "%s", m->job.job);
            a->start_ns = m->job.start_ns;
            network_names_take(&a->names, m);
        } else if (m->type == WIRE_TYPE_COMMGRAM) {
            cmd_commgram_print(a, m);
        } else if (m->type == WIRE_TYPE_REPLY && dial_is_overtaken(a->client, &m->reply)) {
            return OVERTAKEN;
        } else if (m->type == WIRE_TYPE_REPLY) {
            return m->reply.code != 0 ? cmd_commgram_refused(a, &m->reply) : 0;
        }
    }
    return 1;
}

/* Send a request, and print its answers when all were received. @return as
 * cmd_commgram_receive_answers() */
static int cmd_commgram_ask(struct asking *a, const char *op, const char *topic,
                            const char *argument)
{
    char *text = NULL;
    size_t length = 0;
    int64_t id = client_ask(a->client, op, a->found[0] ? a->found : a->job, topic, argument);
    a->out = id > 0 ? open_memstream(&text, &length) : NULL;
    if (a->out == NULL) {
        terminal_print("commgram: %s", holter_strerror(id < 0 ? (int)id : -ENOMEM));
        return 1;
    }
    int status = cmd_commgram_receive_answers(a, id);
    fclose(a->out);
    if (status == 0 && fwrite(text, 1, length, stdout) < length) {
        terminal_print("commgram: standard output: %s", strerror(errno));
        status = 1;
    }
    free(text);
    return status;
}

static int cmd_commgram_ask_all(struct asking *a)
{
    char argument[3600] = "";
    int status = cmd_commgram_ask(a, "snapshot", "job", NULL);
    if (status)
        return status;
    if (!isnan(a->from))
        text_append(argument, sizeof argument, "from=%" PRIu64,
                    a->start_ns + (uint64_t)llround(a->from * 1e9));
    if (!isnan(a->to))
        text_append(argument, sizeof argument, " to=%" PRIu64,
                    a->start_ns + (uint64_t)llround(a->to * 1e9));
    if (a->phases != 0)
        text_append(argument, sizeof argument, " phases=%" PRIu64, a->phases);
    text_append(argument, sizeof argument, "%s%s", a->words[0] == '\0' ? "" : " ", a->words);
    return cmd_commgram_ask(a, "commgram", NULL, argument);
}

static int cmd_commgram_run(struct asking *a)
{
    int status = OVERTAKEN;
    while (status == OVERTAKEN) {
        status = dial_wait(&a->dial, &a->client);
        status = status ? status : cmd_commgram_ask_all(a);
    }
    return status;
}

/* Replay the recording, and ask the daemon that has done so. @return exit status */
static int cmd_commgram_run_recording(struct asking *a)
{
    struct private_replay replay = {.command = "commgram", .recording = a->recording};
    int status = private_replay_start(&replay, NULL);
    snprintf(a->dial.endpoint, sizeof a->dial.endpoint, "%s", replay.endpoint);
    status = status ? status : dial_open(&a->dial, &a->client);
    status = status ? status : cmd_commgram_run(a);
    private_replay_stop(&replay);
    return status;
}

int cmd_commgram(int argc, char **argv)
{
    struct asking a = {.from = NAN, .to = NAN};
    const struct command_option options[] = {
        {"from", .real = &a.from, .most = 1e9},
        {"to", .real = &a.to, .most = 1e9},
        {"phases", .number = &a.phases, .least = 1, .most = 256},
        {"communities", .set = cmd_commgram_add_word},
        {"ranks", .set = cmd_commgram_add_word},
        {"no-collectives", .set = cmd_commgram_add_word, .bare = true},
        {"format", 'f', .json = &a.json},
        {"job", 'j', .text = &a.job},
        {0},
    };
    const struct command_line line = {"commgram", help, options, .user = &a};
    a.dial.word = &a.recording;
    a.dial.job = &a.job;
    a.dial.for_recording = 1;
    int status = dial_parse(&a.dial, &line, argc, argv);
    if (status >= 0)
        return status;
    a.job = dial_job(&a.dial, a.job);
    if (a.recording) {
        status = cmd_commgram_run_recording(&a);
    } else {
        status = dial_open(&a.dial, &a.client);
        status = status ? status : cmd_commgram_run(&a);
    }
    client_destroy(a.client);
    return status;
}
