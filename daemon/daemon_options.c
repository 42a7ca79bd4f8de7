#include "daemon/daemon_options.h"

#include "daemon/replay/replay_pace.h"
#include "daemon/storage/record_parts.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/duration.h"
#include "proto/endpoint.h"
#include "proto/moment.h"
#include "proto/quantity.h"
#include "version.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LEAST_WINDOW (100 * MS)
#define MOST_WINDOW (60000 * MS)
#define MOST_GRACE (60000 * MS)

static const char usage[] =
    "usage: holterd [options]\n"
    "Collects what Holter's agents report about running MPI jobs, publishes and records it.\n"
    "\n"
    "  --listen ENDPOINT   tcp://HOST:PORT or ipc:///PATH; may be given several times. The "
    "published stream is\n"
    "                      on the next port, or on the path with \".stream\" behind it.\n"
    "                      Default: HOLTER_DAEMON, else ipc in the user's run directory\n"
    "  --keys DIR          CURVE keys; without them only local endpoints can be listened on\n"
    "  --record DIR        where recordings (JOB.hrec) are written; default $XDG_DATA_HOME/holter\n"
    "  --max-size SIZE     of a job's recording, 16M and more: it goes on in parts, of which the "
    "oldest are\n"
    "                      removed; default: no limit\n"
    "  --no-record         write none\n"
    "  --window TIME       length of windows, 100ms to 60s; default 1s\n"
    "  --grace TIME        how long after its end a window waits for late agents; default a "
    "quarter of the\n"
    "                      window, at most 250ms\n"
    "  --collectives HOW   modelled (default) or off: whether collectives take part in phases and\n"
    "                      pictures, as the messages of their algorithms\n"
    "  --topology NETWORK  the network under the jobs: a file, see holter-topology(5), or a short "
    "form "
    "such as\n"
    "                      torus:8,8,8, or cart, each job's grid of processes; default:\n"
    "                      HOLTER_TOPOLOGY, else hosts below one switch\n"
    "  --session KEY       serve only agents of this session\n"
    "  --replay FILE       replay a recording instead: agents are not served, no sink is told, and "
    "nothing is\n"
    "                      recorded unless --record is given; windows are as long as recorded\n"
    "  --speed X           of a replay: times as fast as it was, 0.01 to 100000, or max (default)\n"
    "  --from T            begin it there: nanoseconds since 1970, 2026-11-22T05:00:00Z, +90s "
    "(from its begin),\n"
    "                      -10s (before its end) or 40%\n"
    "  --loop              begin it anew behind its end\n"
    "  --paused            begin it when a client says so\n"
    "  --quit-at-end       leave behind its end\n"
    "  --results           serve nobody: put the results of a replay into the recording itself, "
    "and "
    "leave\n"
    "  --quit-when-idle    leave when all jobs have ended and all agents have gone\n"
    "  --rules FILE        alert rules, see holter-rules(5); default: HOLTER_RULES, else built-in "
    "ones\n"
    "  --alert-log FILE    append alerts to FILE, one JSON object a line\n"
    "  --on-alert COMMAND  run COMMAND in a shell for each alert and its end, JSON on standard "
    "input\n"
    "  --syslog            tell alerts to syslog\n"
    "  --alertmanager URL  tell alerts to Prometheus' Alertmanager, such as http://HOST:9093\n"
    "  --check-rules       only check the rules and the options on alerts: 0 right, 2 wrong\n"
    "  --print-rules       only print the built-in rules\n"
    "  --version, --help\n";

int options_size(const char *text, uint64_t *out)
{
    return quantity_parse_bytes(text, out);
}

int options_duration(const char *text, uint64_t *out)
{
    return duration_parse(text, out);
}

uint64_t options_grace(uint64_t window_ns)
{
    return window_ns / 4 < 250 * MS ? window_ns / 4 : 250 * MS;
}

int options_rules(const struct options *o, struct rules *out, rules_fault *tell, void *user)
{
    static const char *const names[SINK_KINDS] = {[SINK_FILE] = "--alert-log",
                                                  [SINK_COMMAND] = "--on-alert",
                                                  [SINK_SYSLOG] = "--syslog",
                                                  [SINK_ALERTMANAGER] = "--alertmanager"};
    char why[400], text[500];
    struct rules rules = {.count = 0};
    int code = o->rules == NULL ? rules_default(&rules) : rules_read(&rules, o->rules, tell, user);
    if (code != 0 && o->rules == NULL)
        tell(user, holter_strerror(code));
    for (size_t i = 0; i < o->sink_count; i++) {
        int added = rules_add_sink(&rules, o->sinks[i].kind, o->sinks[i].target, why, sizeof(why));
        if (added == 0)
            continue;
        snprintf(text, sizeof(text), "%s: %s", names[o->sinks[i].kind], why);
        tell(user, text);
        code = added;
    }
    if (code != 0) {
        rules_finish(&rules);
        return code;
    }
    *out = rules;
    return 0;
}

static int bounded(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                   char *why, size_t room)
{
    if (options_duration(text, out) == 0 && *out >= least && *out <= most)
        return 0;
    snprintf(why, room, "%s '%s': a time from %gs to %gs is wanted, such as 500ms or 1s", name,
             text, (double)least * 1e-9, (double)most * 1e-9);
    return -HOLTER_EUSAGE;
}

static int default_paths(struct options *o, int record, char *why, size_t room)
{
    const char *endpoint = getenv("HOLTER_DAEMON"), *data = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    if (o->listen_count == 0) {
        int code = 0;
        if (endpoint != NULL && endpoint[0] != '\0')
            snprintf(o->default_listen, sizeof(o->default_listen), "%s", endpoint);
        else
            code = session_default_endpoint(o->default_listen, sizeof(o->default_listen));
        if (code != 0) {
            snprintf(why, room, "no run directory for the socket: %s; give --listen",
                     holter_strerror(code));
            return code;
        }
        o->listen[o->listen_count++] = o->default_listen;
    }
    if (!record || o->record != NULL)
        return 0;
    if (data != NULL && data[0] == '/')
        snprintf(o->default_record, sizeof(o->default_record), "%s/holter", data);
    else if (home != NULL && home[0] == '/')
        snprintf(o->default_record, sizeof(o->default_record), "%s/.local/share/holter", home);
    else
        snprintf(o->default_record, sizeof(o->default_record), ".");
    o->record = o->default_record;
    return 0;
}

static int check(const struct options *o, char *why, size_t room)
{
    char fault[256], stream[280];
    for (size_t i = 0; i < o->listen_count; i++) {
        const char *e = o->listen[i];
        if (endpoint_check(e, fault, sizeof(fault)) != 0) {
            snprintf(why, room, "--listen %s: %s", e, fault);
            return -HOLTER_EUSAGE;
        }
        if (endpoint_stream(stream, sizeof(stream), e) != 0) {
            snprintf(why, room,
                     "--listen %s: no room for the stream behind it (next port, or longer path)",
                     e);
            return -HOLTER_EUSAGE;
        }
        if (o->keys == NULL && !endpoint_is_local(e)) {
            snprintf(why, room,
                     "--listen %s: other machines can reach it, so keys are needed: make them with "
                     "'holter keys DIR' and give --keys DIR, or listen on tcp://127.0.0.1:PORT or "
                     "ipc:///PATH",
                     e);
            return -HOLTER_EUSAGE;
        }
    }
    if (o->session != NULL && !session_key_valid(o->session)) {
        snprintf(why, room, "--session '%s': 1 to 31 hexadecimal digits are wanted", o->session);
        return -HOLTER_EUSAGE;
    }
    return 0;
}

enum {
    OPT_LISTEN = 256,
    OPT_KEYS,
    OPT_RECORD,
    OPT_NO_RECORD,
    OPT_MAX_SIZE,
    OPT_WINDOW,
    OPT_GRACE,
    OPT_COLLECTIVES,
    OPT_SESSION,
    OPT_TOPOLOGY,
    OPT_REPLAY,
    OPT_SPEED,
    OPT_FROM,
    OPT_LOOP,
    OPT_PAUSED,
    OPT_QUIT_AT_END,
    OPT_RESULTS,
    OPT_QUIT,
    OPT_RULES,
    OPT_ALERT_LOG,
    OPT_ON_ALERT,
    OPT_SYSLOG,
    OPT_ALERTMANAGER,
    OPT_CHECK_RULES,
    OPT_PRINT_RULES,
    OPT_VERSION,
    OPT_HELP
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"keys", required_argument, NULL, OPT_KEYS},
    {"record", required_argument, NULL, OPT_RECORD},
    {"no-record", no_argument, NULL, OPT_NO_RECORD},
    {"max-size", required_argument, NULL, OPT_MAX_SIZE},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"grace", required_argument, NULL, OPT_GRACE},
    {"collectives", required_argument, NULL, OPT_COLLECTIVES},
    {"session", required_argument, NULL, OPT_SESSION},
    {"topology", required_argument, NULL, OPT_TOPOLOGY},
    {"replay", required_argument, NULL, OPT_REPLAY},
    {"speed", required_argument, NULL, OPT_SPEED},
    {"from", required_argument, NULL, OPT_FROM},
    {"loop", no_argument, NULL, OPT_LOOP},
    {"paused", no_argument, NULL, OPT_PAUSED},
    {"quit-at-end", no_argument, NULL, OPT_QUIT_AT_END},
    {"results", no_argument, NULL, OPT_RESULTS},
    {"quit-when-idle", no_argument, NULL, OPT_QUIT},
    {"rules", required_argument, NULL, OPT_RULES},
    {"alert-log", required_argument, NULL, OPT_ALERT_LOG},
    {"on-alert", required_argument, NULL, OPT_ON_ALERT},
    {"syslog", no_argument, NULL, OPT_SYSLOG},
    {"alertmanager", required_argument, NULL, OPT_ALERTMANAGER},
    {"check-rules", no_argument, NULL, OPT_CHECK_RULES},
    {"print-rules", no_argument, NULL, OPT_PRINT_RULES},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* @return 1 when it is one of the options on alerts, 0 when not, or -HOLTER_EUSAGE */
static int take_sink(struct options *o, int option, char *why, size_t room)
{
    static const struct {
        int option;
        enum sink_kind kind;
    } kinds[] = {{OPT_ALERT_LOG, SINK_FILE},
                 {OPT_ON_ALERT, SINK_COMMAND},
                 {OPT_SYSLOG, SINK_SYSLOG},
                 {OPT_ALERTMANAGER, SINK_ALERTMANAGER}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].option != option)
            continue;
        if (o->sink_count == RULES_SINKS) {
            snprintf(why, room, "at most %u sinks of alerts", RULES_SINKS);
            return -HOLTER_EUSAGE;
        }
        o->sinks[o->sink_count].kind = kinds[i].kind;
        o->sinks[o->sink_count++].target = optarg;
        return 1;
    }
    return 0;
}

static int size_of(const char *text, uint64_t *out, char *why, size_t room)
{
    if (options_size(text, out) == 0 && *out >= RECORD_LEAST_BYTES)
        return 0;
    snprintf(why, room, "--max-size '%s': a size such as 500M or 20G is wanted, 16M and more",
             text);
    return -HOLTER_EUSAGE;
}

static int take(struct options *o, int option, int *record, char *why, size_t room)
{
    switch (option) {
    case OPT_LISTEN:
        if (o->listen_count == OPTIONS_LISTEN) {
            snprintf(why, room, "--listen: at most %u endpoints", OPTIONS_LISTEN);
            return -HOLTER_EUSAGE;
        }
        o->listen[o->listen_count++] = optarg;
        return 0;
    case OPT_KEYS:
        o->keys = optarg;
        return 0;
    case OPT_RECORD:
        o->record = optarg;
        *record = 1;
        return 0;
    case OPT_NO_RECORD:
        o->record = NULL;
        *record = 0;
        return 0;
    case OPT_MAX_SIZE:
        return size_of(optarg, &o->most_bytes, why, room);
    case OPT_WINDOW:
        return bounded("--window", optarg, LEAST_WINDOW, MOST_WINDOW, &o->window_ns, why, room);
    case OPT_GRACE:
        return bounded("--grace", optarg, 0, MOST_GRACE, &o->grace_ns, why, room);
    case OPT_COLLECTIVES:
        o->no_collectives = strcmp(optarg, "off") == 0;
        if (o->no_collectives || strcmp(optarg, "modelled") == 0)
            return 0;
        snprintf(why, room, "--collectives '%s': modelled or off is wanted", optarg);
        return -HOLTER_EUSAGE;
    case OPT_SESSION:
        o->session = optarg;
        return 0;
    case OPT_RULES:
        o->rules = optarg;
        return 0;
    case OPT_TOPOLOGY:
        o->topology = optarg;
        return 0;
    case OPT_REPLAY:
        o->replay = optarg;
        return 0;
    case OPT_QUIT:
        o->quit_when_idle = 1;
        return 0;
    case OPT_RESULTS:
        o->results = 1;
        return 0;
    case OPT_SPEED:
        if (replay_pace_parse(optarg, &o->speed) == 0)
            return 0;
        snprintf(why, room, "--speed '%s': %g to %.0f, or max, is wanted", optarg, PACE_SLOWEST,
                 PACE_FASTEST);
        return -HOLTER_EUSAGE;
    case OPT_FROM:
        o->from = optarg;
        return moment_check(optarg, why, room);
    case OPT_LOOP:
        o->loop = 1;
        return 0;
    case OPT_PAUSED:
        o->paused = 1;
        return 0;
    case OPT_QUIT_AT_END:
        o->quit_at_end = 1;
        return 0;
    default:
        return take_sink(o, option, why, room) < 0 ? -HOLTER_EUSAGE : 0;
    }
}

/* What goes together with a replay. */
static int check_replay(const struct options *o, int replay_options, char *why, size_t room)
{
    const char *fault = NULL;
    if (o->replay == NULL && o->results)
        fault = "--results are of a --replay";
    else if (o->replay == NULL)
        fault = replay_options
                    ? "--speed, --from, --loop, --paused and --quit-at-end are of a --replay"
                    : NULL;
    else if (o->results && (replay_options || o->record != NULL))
        fault =
            "--results go once through the recording: no other option of a replay, and no --record";
    else if (o->sink_count > 0)
        fault = "a --replay tells no sink of alerts";
    else if (o->record != NULL && (o->from != NULL || o->loop))
        fault =
            "a --replay that is recorded goes once from its begin to its end: no --from, no --loop";
    else if (o->loop && o->quit_at_end)
        fault = "a --loop has no end to quit at";
    if (fault == NULL)
        return 0;
    snprintf(why, room, "%s", fault);
    return -HOLTER_EUSAGE;
}

/* What is answered at once. @return 1 when the option is one of those */
static int show(int option)
{
    if (option != OPT_HELP && option != OPT_VERSION && option != OPT_PRINT_RULES)
        return 0;
    fputs(option == OPT_HELP      ? usage
          : option == OPT_VERSION ? "holterd " HOLTER_VERSION " (" HOLTER_BUILD_OPTIONS ")\n"
                                  : rules_default_text(),
          stdout);
    return 1;
}

enum options_verdict options_parse(struct options *out, int argc, char **argv, char *why,
                                   size_t room)
{
    *out = (struct options){
        .window_ns = 1000 * MS, .grace_ns = UINT64_MAX, .session = getenv("HOLTER_SESSION")};
    int record = 1, only_check = 0, replay_options = 0, option;
    out->keys = getenv("HOLTER_KEYS");
    out->rules = getenv("HOLTER_RULES");
    optind = 0; /* GNU: begin anew, tests parse more than once */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        if (show(option))
            return OPTIONS_SHOWN;
        if (option == '?') {
            snprintf(why, room, "%s: unknown option, or its value is missing; see holterd --help",
                     argv[optind - 1]);
            return OPTIONS_WRONG;
        }
        only_check |= option == OPT_CHECK_RULES;
        replay_options |= option >= OPT_SPEED && option <= OPT_QUIT_AT_END;
        if (take(out, option, &record, why, room) != 0)
            return OPTIONS_WRONG;
    }
    if (optind < argc) {
        snprintf(why, room, "%s: not an option; see holterd --help", argv[optind]);
        return OPTIONS_WRONG;
    }
    if (out->grace_ns == UINT64_MAX)
        out->grace_ns = options_grace(out->window_ns);
    else
        out->grace_given = 1;
    if (out->keys != NULL && out->keys[0] == '\0')
        out->keys = NULL;
    if (out->session != NULL && out->session[0] == '\0')
        out->session = NULL;
    if (out->rules != NULL && out->rules[0] == '\0')
        out->rules = NULL;
    if (out->topology == NULL && out->replay == NULL) /* of a replay the recorded one goes first */
        out->topology = getenv("HOLTER_TOPOLOGY");
    if (out->topology != NULL && out->topology[0] == '\0')
        out->topology = NULL;
    if (only_check)
        return OPTIONS_CHECK;
    if (check_replay(out, replay_options, why, room) != 0)
        return OPTIONS_WRONG;
    if (out->replay != NULL)
        record = 0;
    if (default_paths(out, record, why, room) != 0 || check(out, why, room) != 0)
        return OPTIONS_WRONG;
    return OPTIONS_RUN;
}
