/* holter replay: runs a daemon that replays a recording, or controls one that does (--ask). */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: holter replay [OPTION]... FILE\n"
    "       holter replay --ask WORDS [OPTION]...\n"
    "\n"
    "Replays a recording, and serves its job until stopped: holter view, top, tap and commgram\n"
    "show it as they show a running one. With --ask, sends a request to a replay that runs, and\n"
    "prints where it is then.\n"
    "\n"
    "      --speed X           times as fast as it was, 0.01 to 100000, or max (default)\n"
    "      --from T            begin there: 90s or 10m (from its begin), -10s (before its end),\n"
    "                          40%, 10:05 (UTC), 2026-11-22T05:00:00Z, or nanoseconds since 1970\n"
    "      --loop              start again after its end\n"
    "      --paused            begin when a client requests it\n"
    "      --quit-at-end       exit after its end\n"
    "      --rules FILE        alert rules to judge it by, instead of the usual ones\n"
    "      --topology NETWORK  network under the job, a file, short form or cart, instead of the\n"
    "                          recorded one\n"
    "      --collectives HOW   modelled (default) or off: whether collectives take part in phases\n"
    "                          and pictures\n"
    "      --grace TIME        how long a window waits for late agents; default as holterd's\n"
    "      --record DIR        record it again, from its begin to its end, as it is judged now\n"
    "  -c, --connect ENDPOINT  where to serve it, tcp://HOST:PORT or ipc:///PATH; otherwise\n"
    "                          HOLTER_DAEMON, or the user's run directory\n"
    "      --keys DIR          CURVE keys, for tcp endpoints\n"
    "      --no-keys           serve on a tcp endpoint of this host without them, to all its\n"
    "                          users\n"
    "      --ask WORDS         \"pause\", \"play\", \"step\", \"step back\", \"seek T\", \"speed\n"
    "                          X\", \"loop on\", \"loop off\", or \"\", which asks where it is;\n"
    "                          waits for a seek, or a preview of where it goes; \"settle\" waits\n"
    "                          until it is no preview any more\n"
    "      --timeout SECONDS   --ask: how long the daemon may be away before it is given up\n"
    "                          (default 5)\n"
    "\n"
    "Status: that of holterd(1); --ask: 0, or 1 when it was refused or the daemon is out of\n"
    "reach; 2 for wrong usage.\n";

#define MAX_ARGUMENTS 64
#define SEEK_CHECK_MS 20 /* between checks of a seek in progress */

/* What the command line asks for: holterd for a recording, or a question to a replay that runs. */
struct request {
    int asks;
    const char *words;              /* of --ask */
    char *arguments[MAX_ARGUMENTS]; /* of holterd: program, "--replay", recording, options */
    int count;
};

static int cmd_replay_set_option(void *user, const struct command_option *option, const char *value)
{
    struct request *request = user;
    char *name;
    if (request->asks && strcmp(option->name, "ask") != 0) {
        terminal_print("replay: --ask goes with --connect, --keys and --timeout only");
        return 2;
    }
    if (request->asks) {
        request->words = value;
        return 0;
    }
    if (strcmp(option->name, "timeout") == 0) {
        terminal_print("replay: --timeout goes with --ask");
        return 2;
    }
    if (request->count + 2 >= MAX_ARGUMENTS ||
        asprintf(&name, "--%s", option->letter == 'c' ? "listen" : option->name) < 0) {
        terminal_print("replay: too many options");
        return 2;
    }
    request->arguments[request->count++] = name;
    if (value != NULL)
        request->arguments[request->count++] = (char *)value;
    return 0;
}

#define PASSED .set = cmd_replay_set_option
static const struct command_option replay_options[] = {
    {"speed", PASSED},
    {"from", PASSED},
    {"loop", PASSED, .bare = true},
    {"paused", PASSED, .bare = true},
    {"quit-at-end", PASSED, .bare = true},
    {"rules", PASSED},
    {"topology", PASSED},
    {"collectives", PASSED},
    {"grace", PASSED},
    {"record", PASSED},
    {"ask", PASSED},
    {0},
};

/* ---- asking ------------------------------------------------------------------------- */

struct asking {
    struct dial dial;
    const char *words;
    int settles; /* wait for the final state, not only for a preview */
};

/* Send one request and receive its answer; prints the state unless a seek or step is in progress.
 * @return 0, -1 if the request has to be repeated, or the exit status */
static int cmd_replay_ask(struct asking *asking, struct client *client)
{
    uint64_t away_since = 0;
    int seeks = 0;
    int64_t id = client_ask(client, "replay", NULL, NULL, asking->words);
    for (struct client_message got; id > 0;) {
        if (dial_next(&asking->dial, client, &away_since, &got) != 0)
            return 1;
        if ((int64_t)got.id != id)
            continue;
        const struct wire_message *m = got.message;
        if (m->type == WIRE_TYPE_REPLAY) {
            int steps = strcmp(m->replay.state, "playing") == 0 && m->replay.paused;
            seeks = steps || (strcmp(m->replay.state, "seeking") == 0 &&
                              (m->replay.known_ns == 0 || asking->settles));
            if (!seeks)
                tap_replay(stdout, &m->replay);
        } else if (m->type == WIRE_TYPE_REPLY && m->reply.code == -HOLTER_EUNREACHABLE) {
            return -1; /* another run took over, and the request was not executed */
        } else if (m->type == WIRE_TYPE_REPLY) {
            if (m->reply.code != 0)
                terminal_print("replay: %s", m->reply.text);
            asking->words = ""; /* from now on only the state is queried */
            return m->reply.code != 0 ? 1 : seeks ? -1 : 0;
        }
    }
    terminal_print("replay: %s", holter_strerror((int)id));
    return 1;
}

static int ask_running(struct request *request, int argc, char **argv)
{
    struct asking asking = {.settles = 0};
    const struct command_line line = {"replay", help, replay_options, .user = request};
    struct client *client = NULL;
    int status = dial_parse(&asking.dial, &line, argc, argv);
    if (status >= 0)
        return status;
    asking.words = request->words;
    status = dial_open(&asking.dial, &client);
    status = status != 0 ? status : dial_wait(&asking.dial, &client);
    if (asking.words != NULL && strcmp(asking.words, "settle") == 0) {
        asking.settles = 1;
        asking.words = "";
    }
    if (status == 0)
        status = cmd_replay_ask(&asking, client);
    while (status == -1) { /* after a seek the client reconnects by itself */
        struct client_message got;
        client_next(client, SEEK_CHECK_MS, &got);
        status = dial_wait(&asking.dial, &client);
        status = status != 0 ? status : cmd_replay_ask(&asking, client);
    }
    client_destroy(client);
    return status;
}

/* ---- serving ------------------------------------------------------------------------- */

static int is_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--ask") == 0 || strncmp(argv[i], "--ask=", 6) == 0)
            return 1;
    return 0;
}

int cmd_replay(int argc, char **argv)
{
    char program[PATH_MAX];
    const char *recording;
    struct request request = {
        .asks = is_asked(argc, argv), .arguments = {program, "--replay"}, .count = 3};
    static const struct command_option served[] = {
        {"connect", 'c', PASSED},
        {"keys", PASSED},
        {"no-keys", PASSED, .bare = true},
        {"timeout", PASSED},
        {0},
    };
    const struct command_line line = {"replay", help, replay_options, .more = served,
                                      .user = &request};
    if (request.asks)
        return ask_running(&request, argc, argv);
    int status = command_line_read_one(&line, argc, argv, "one recording", &recording);
    if (status >= 0)
        return status;
    request.arguments[2] = (char *)recording;
    if (paths_holterd(program, sizeof program, "replay") < 0)
        return 1;
    execv(program, request.arguments);
    terminal_print("replay: %s: %s", program, strerror(errno));
    return 1;
}
