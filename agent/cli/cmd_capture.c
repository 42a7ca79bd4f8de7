/* holter capture: the last calls of each rank of a running job. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/capture_request.h"
#include "proto/json.h"
#include "proto/moment.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: holter capture [OPTION]... [JOB]\n"
    "\n"
    "Reads back the newest calls of each rank of a running job: the flight recorder. Without JOB,\n"
    "of the newest running one. The job is not held up.\n"
    "\n"
    "      --ranks LIST        of these ranks, such as 3,8-11; default: all\n"
    "      --events N          records of each rank at most, 1 to 65536; default 256. A call is\n"
    "                          one, and each further message that it posts or completes\n"
    "      --until T           the newest calls that had ended at this time: -10s (ago), 10:05,\n"
    "                          2026-11-22T05:00:00Z; as far as the rings still have them\n"
    "  -f, --format FORMAT     text (default) or json, one object to a line\n"
    "  -o, --output FILE       write there; default: standard output\n"
    "  -c, --connect ENDPOINT  the daemon, tcp://HOST:PORT or ipc:///PATH, or a fleet,\n"
    "                          nats://HOST:PORT,...[/CLUSTER[/JOB]]; default: HOLTER_DAEMON,\n"
    "                          else the newest session of this user on this host\n"
    "      --keys DIR          CURVE keys of an operator, when the daemon asks for them\n"
    "      --timeout SECONDS   how long to wait for the daemon (default 5, fleet 30)\n"
    "\n"
    "Status: 0, 1 when nothing was captured, or not of all ranks that were asked for, 2 for wrong\n"
    "usage.\n";

struct capturing {
    struct dial dial;
    struct client *client;
    int json;
    const char *job; /* NULL: the newest running one */
    const char *output;
    char words[4096]; /* argument of the request */
    FILE *out;
    struct capture_view view;
    int has_parts;              /* of what was captured, at least one */
    uint64_t answered, records; /* of all nodes so far: an agent's answer has those of its own */
    char fault[400];            /* the first one, with its host */
    int printed;                /* what was captured, though it may not be of all ranks */
};

static int cmd_capture_add_word(void *user, const struct command_option *option, const char *value)
{
    struct capturing *c = user;
    return command_line_append("capture", c->words, sizeof c->words, option->name, value);
}

/* A time of the clock or before now. */
static int cmd_capture_set_until(void *user, const struct command_option *option, const char *value)
{
    struct capturing *c = user;
    const uint64_t now_ns = clock_real_ns();
    char why[256] = "it is to be a time such as -10s (ago), 10:05 or 2026-11-22T05:00:00Z";
    uint64_t until_ns;
    if (moment_needs_begin(value) ||
        moment_find(value, now_ns, now_ns, &until_ns, why, sizeof why) != 0) {
        terminal_print("capture: --until %s: %s", value, why);
        return 2;
    }
    return command_line_append_number("capture", c->words, sizeof c->words, option->name, until_ns);
}

static int cmd_capture_collect_message(struct capturing *c, const struct wire_message *message)
{
    struct wire_capture capture = wire_capture_from_captured(&message->captured);
    c->has_parts = 1;
    c->answered += !capture.more;
    c->records += capture.events_count;
    capture.answered = c->answered;
    capture.records = c->records;
    if (c->fault[0] == '\0' && capture.fault != NULL && capture.fault[0] != '\0')
        snprintf(c->fault, sizeof c->fault, "%s: %s", capture.host, capture.fault);
    if (!c->json)
        return capture_view_add(&c->view, &capture);
    fputs("{\"topic\":\"captures\",", c->out);
    json_fields(c->out, &(struct wire_message){.type = WIRE_TYPE_CAPTURE, .capture = capture});
    fputs("}\n", c->out);
    return 0;
}

/* @return the exit status */
static int cmd_capture_end(struct capturing *c, const struct wire_reply *reply)
{
    const char *text = reply->text != NULL ? reply->text : "";
    capture_print(c->out, &c->view);
    c->printed = c->has_parts;
    if (reply->code == -HOLTER_ENOJOB && c->job == NULL)
        terminal_print("capture: the daemon at %s knows no job yet", c->dial.endpoint);
    else if (reply->code == -HOLTER_ENOJOB)
        terminal_print("capture: %s: %s", c->job, text);
    else if (reply->code != 0 || text[0] != '\0')
        terminal_print("capture: %s", text[0] != '\0' ? text : holter_strerror((int)reply->code));
    else if (c->records == 0 && c->fault[0] != '\0')
        terminal_print("capture: nothing was captured: %s", c->fault);
    else if (c->records == 0)
        terminal_print("capture: nothing was captured: the ranks' memory has no call%s",
                       strstr(c->words, "until=") != NULL ? " that had ended by then" : "");
    return reply->code == -HOLTER_EUSAGE ? 2
                                         : reply->code != 0 || text[0] != '\0' || c->records == 0;
}

static int cmd_capture_run(struct capturing *c)
{
    uint64_t away_since = 0;
    int status = dial_wait(&c->dial, &c->client);
    if (status != 0)
        return status;
    int64_t id = client_ask(c->client, "capture", c->job, NULL, c->words);
    int result = id < 0 ? (int)id : 0;
    for (struct client_message got; result >= 0;) {
        if (dial_next(&c->dial, c->client, &away_since, &got) != 0)
            return 1;
        if (got.id != (uint64_t)id)
            continue;
        if (got.message->type == WIRE_TYPE_REPLY)
            return cmd_capture_end(c, &got.message->reply);
        if (got.message->type == WIRE_TYPE_CAPTURED)
            result = cmd_capture_collect_message(c, got.message);
    }
    terminal_print("capture: %s", holter_strerror(result));
    return 1;
}

int cmd_capture(int argc, char **argv)
{
    struct capturing c = {.dial = {.role = ROLE_OPERATOR, .word = &c.job, .job = &c.job},
                          .output = "-"};
    const struct command_option options[] = {
        {"ranks", .set = cmd_capture_add_word},  {"events", .set = cmd_capture_add_word},
        {"until", .set = cmd_capture_set_until}, {"format", 'f', .json = &c.json},
        {"output", 'o', .text = &c.output},      {0},
    };
    const struct command_line line = {"capture", help, options, .user = &c};
    int status = dial_parse(&c.dial, &line, argc, argv);
    if (status >= 0)
        return status;
    c.job = dial_job(&c.dial, c.job);
    status = dial_open(&c.dial, &c.client);
    if (status != 0)
        return status;
    struct output_file output;
    int code = output_file_open(&output, c.output);
    if (code == 0) {
        c.out = output.file;
        status = cmd_capture_run(&c);
        code = output_file_close(&output, status == 0 || c.printed);
    }
    if (code != 0) {
        terminal_print("capture: %s: %s", strcmp(c.output, "-") == 0 ? "standard output" : c.output,
                       strerror(-code));
        status = 1;
    }
    capture_view_finish(&c.view);
    client_destroy(c.client);
    return status;
}
