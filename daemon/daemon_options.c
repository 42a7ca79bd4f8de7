/* Parses the command line of holterd: a table of options, and what is checked after all of them. */
#include "daemon/daemon_options.h"

#include "daemon/replay/replay_pace.h"
#include "daemon/storage/record_parts.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/endpoint.h"
#include "proto/moment.h"
#include "proto/quantity.h"
#include "version.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define WINDOW_MINIMUM_NS (100 * MS)
#define WINDOW_MAXIMUM_NS (60000 * MS)
#define GRACE_MAXIMUM_NS (60000 * MS)

static const char options_usage[] =
    "usage: holterd [options]\n"
    "Collects what Holter's agents report about running MPI jobs, publishes and records it.\n"
    "\n"
    "  --listen ENDPOINT   tcp://HOST:PORT or ipc:///PATH; may be given several times. The "
    "published stream is\n"
    "                      on the next port, or on the path with \".stream\" appended.\n"
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
    "  --replay FILE       replay a recording instead: agents are not served, no sink is used, and "
    "nothing is\n"
    "                      recorded unless --record is given; windows are as long as recorded\n"
    "  --speed X           of a replay: times as fast as it was, 0.01 to 100000, or max (default)\n"
    "  --from T            begin it there: nanoseconds since 1970, 2026-11-22T05:00:00Z, +90s "
    "(from its begin),\n"
    "                      -10s (before its end) or 40%\n"
    "  --loop              begin it again after its end\n"
    "  --paused            begin it when a client says so\n"
    "  --quit-at-end       leave after its end\n"
    "  --results           serve nobody: put the results of a replay into the recording itself, "
    "and "
    "leave\n"
    "  --quit-when-idle    leave when all jobs have ended and all agents have gone\n"
    "  --rules FILE        alert rules, see holter-rules(5); default: HOLTER_RULES, else built-in "
    "ones\n"
    "  --alert-log FILE    append alerts to FILE, one JSON object a line\n"
    "  --on-alert COMMAND  run COMMAND in a shell for each alert and its end, JSON on standard "
    "input\n"
    "  --syslog            send alerts to syslog\n"
    "  --alertmanager URL  send alerts to Prometheus' Alertmanager, such as http://HOST:9093\n"
    "  --check-rules       only check the rules and the options on alerts: 0 right, 2 wrong\n"
    "  --print-rules       only print the built-in rules\n"
    "  --version, --help\n";

/* What is known while the command line is parsed. */
struct options_parser {
    struct daemon_options *options;
    int record;         /* a live daemon records */
    int replay_options; /* an option was given that only a replay has */
    int check_only, shown;
    char *why;
    size_t capacity;
};

enum options_kind {
    OPTION_TEXT, /* stored as it is */
    OPTION_FLAG,
    OPTION_LISTEN,
    OPTION_RECORD, /* --record and, without a value, --no-record */
    OPTION_SIZE,
    OPTION_WINDOW,
    OPTION_GRACE,
    OPTION_COLLECTIVES,
    OPTION_SPEED,
    OPTION_FROM,
    OPTION_SINK,
    OPTION_CHECK,
    OPTION_SHOW,
};

struct options_entry {
    const char *name;
    int has_value; /* no_argument or required_argument */
    enum options_kind kind;
    size_t offset;        /* of the member of struct daemon_options that it sets */
    enum sink_kind sink;  /* of an option that adds a sink */
    int is_replay_option; /* only a replay has it */
};

#define MEMBER(name) .offset = offsetof(struct daemon_options, name)
#define VALUE(of_kind) .has_value = required_argument, .kind = (of_kind)
#define NO_VALUE(of_kind) .has_value = no_argument, .kind = (of_kind)
#define TEXT(member) VALUE(OPTION_TEXT), MEMBER(member)
#define FLAG(member) NO_VALUE(OPTION_FLAG), MEMBER(member)

static const struct options_entry options_table[] = {
    {"listen", VALUE(OPTION_LISTEN)},
    {"keys", TEXT(keys)},
    {"record", VALUE(OPTION_RECORD)},
    {"no-record", NO_VALUE(OPTION_RECORD)},
    {"max-size", VALUE(OPTION_SIZE), MEMBER(maximum_record_bytes)},
    {"window", VALUE(OPTION_WINDOW), MEMBER(window_ns)},
    {"grace", VALUE(OPTION_GRACE), MEMBER(grace_ns)},
    {"collectives", VALUE(OPTION_COLLECTIVES)},
    {"session", TEXT(session)},
    {"topology", TEXT(topology)},
    {"replay", TEXT(replay)},
    {"speed", VALUE(OPTION_SPEED), .is_replay_option = 1},
    {"from", VALUE(OPTION_FROM), .is_replay_option = 1},
    {"loop", FLAG(loop), .is_replay_option = 1},
    {"paused", FLAG(paused), .is_replay_option = 1},
    {"quit-at-end", FLAG(quit_at_end), .is_replay_option = 1},
    {"results", FLAG(results)},
    {"quit-when-idle", FLAG(quit_when_idle)},
    {"rules", TEXT(rules)},
    {"alert-log", VALUE(OPTION_SINK), .sink = SINK_FILE},
    {"on-alert", VALUE(OPTION_SINK), .sink = SINK_COMMAND},
    {"syslog", NO_VALUE(OPTION_SINK), .sink = SINK_SYSLOG},
    {"alertmanager", VALUE(OPTION_SINK), .sink = SINK_ALERTMANAGER},
    {"check-rules", NO_VALUE(OPTION_CHECK)},
    {"print-rules", NO_VALUE(OPTION_SHOW)},
    {"version", NO_VALUE(OPTION_SHOW)},
    {"help", NO_VALUE(OPTION_SHOW)},
};

/* @return -HOLTER_EUSAGE, after setting why */
__attribute__((format(printf, 2, 3))) static int options_refuse(struct options_parser *parser,
                                                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->why, parser->capacity, format, arguments);
    va_end(arguments);
    return -HOLTER_EUSAGE;
}

static int options_set_time(struct options_parser *parser, const struct options_entry *entry,
                            const char *value, uint64_t minimum_ns, uint64_t maximum_ns)
{
    uint64_t *time_ns = (uint64_t *)((char *)parser->options + entry->offset);
    if (quantity_parse_duration(value, time_ns) == 0 && *time_ns >= minimum_ns &&
        *time_ns <= maximum_ns)
        return 0;
    return options_refuse(parser,
                          "--%s '%s': a time from %gs to %gs is expected, such as 500ms or 1s",
                          entry->name, value, (double)minimum_ns * 1e-9, (double)maximum_ns * 1e-9);
}

static int options_add(struct options_parser *parser, const struct options_entry *entry,
                       const char *value)
{
    struct daemon_options *options = parser->options;
    if (entry->kind == OPTION_LISTEN && options->listen_count == SERVER_ENDPOINTS_MAXIMUM)
        return options_refuse(parser, "--listen: at most %u endpoints", SERVER_ENDPOINTS_MAXIMUM);
    if (entry->kind == OPTION_SINK && options->sink_count == RULES_SINKS_MAXIMUM)
        return options_refuse(parser, "at most %u sinks of alerts", RULES_SINKS_MAXIMUM);
    if (entry->kind == OPTION_LISTEN) {
        options->listen[options->listen_count++] = value;
        return 0;
    }
    options->sinks[options->sink_count].kind = entry->sink;
    options->sinks[options->sink_count++].target = value;
    return 0;
}

static void options_show(const char *name)
{
    fputs(strcmp(name, "help") == 0      ? options_usage
          : strcmp(name, "version") == 0 ? "holterd " HOLTER_VERSION " (" HOLTER_BUILD_OPTIONS ")\n"
                                         : rules_default_text(),
          stdout);
}

/* Handle an option. @param value  NULL: it takes none @return 0 or -HOLTER_EUSAGE */
static int options_handle(struct options_parser *parser, const struct options_entry *entry,
                          const char *value)
{
    struct daemon_options *options = parser->options;
    void *member = (char *)options + entry->offset;
    uint64_t *size = member;
    switch (entry->kind) {
    case OPTION_TEXT:
        *(const char **)member = value;
        return 0;
    case OPTION_FLAG:
        *(int *)member = 1;
        return 0;
    case OPTION_LISTEN:
    case OPTION_SINK:
        return options_add(parser, entry, value);
    case OPTION_RECORD:
        options->record = value;
        parser->record = value != NULL;
        return 0;
    case OPTION_SIZE:
        if (quantity_parse_bytes(value, size) == 0 && *size >= RECORD_MINIMUM_BYTES)
            return 0;
        return options_refuse(parser,
                              "--%s '%s': a size such as 500M or 20G is expected, 16M and more",
                              entry->name, value);
    case OPTION_WINDOW:
        return options_set_time(parser, entry, value, WINDOW_MINIMUM_NS, WINDOW_MAXIMUM_NS);
    case OPTION_GRACE:
        options->grace_given = 1;
        return options_set_time(parser, entry, value, 0, GRACE_MAXIMUM_NS);
    case OPTION_COLLECTIVES:
        options->no_collectives = strcmp(value, "off") == 0;
        if (options->no_collectives || strcmp(value, "modelled") == 0)
            return 0;
        return options_refuse(parser, "--collectives '%s': modelled or off is expected", value);
    case OPTION_SPEED:
        if (replay_pace_parse(value, &options->speed) == 0)
            return 0;
        return options_refuse(parser, "--speed '%s': %g to %.0f, or max, is expected", value,
                              PACE_SLOWEST, PACE_FASTEST);
    case OPTION_FROM:
        options->from = value;
        return moment_check(value, parser->why, parser->capacity);
    case OPTION_CHECK:
        parser->check_only = 1;
        return 0;
    case OPTION_SHOW:
        options_show(entry->name);
        parser->shown = 1;
        return 0;
    }
    return 0;
}

#define OPTIONS_COUNT (sizeof(options_table) / sizeof(options_table[0]))
#define OPTIONS_FIRST 256 /* value of the first option for getopt_long(3) */

/* ---- after all options ------------------------------------------------------------------- */

static int options_set_default_endpoint(struct options_parser *parser)
{
    struct daemon_options *options = parser->options;
    const char *endpoint = getenv("HOLTER_DAEMON");
    int code = 0;
    if (options->listen_count > 0)
        return 0;
    if (endpoint != NULL && endpoint[0] != '\0')
        snprintf(options->default_listen, sizeof(options->default_listen), "%s", endpoint);
    else
        code = session_default_endpoint(options->default_listen, sizeof(options->default_listen));
    if (code != 0)
        snprintf(parser->why, parser->capacity,
                 "no run directory for the socket: %s; give --listen", holter_strerror(code));
    else
        options->listen[options->listen_count++] = options->default_listen;
    return code;
}

static void options_set_default_record(struct daemon_options *options)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char *path = options->default_record;
    if (data != NULL && data[0] == '/')
        snprintf(path, sizeof(options->default_record), "%s/holter", data);
    else if (home != NULL && home[0] == '/')
        snprintf(path, sizeof(options->default_record), "%s/.local/share/holter", home);
    else
        snprintf(path, sizeof(options->default_record), ".");
    options->record = path;
}

/* @return the text, NULL if it is empty */
static const char *options_text(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : text;
}

static void options_set_defaults(struct daemon_options *options)
{
    if (!options->grace_given)
        options->grace_ns = server_default_grace(options->window_ns);
    /* A replay has the network that was recorded. */
    if (options->topology == NULL && options->replay == NULL)
        options->topology = getenv("HOLTER_TOPOLOGY");
    options->keys = options_text(options->keys);
    options->session = options_text(options->session);
    options->rules = options_text(options->rules);
    options->topology = options_text(options->topology);
}

static int options_check_endpoint(struct options_parser *parser, const char *endpoint)
{
    char fault[256], stream[280];
    if (endpoint_check(endpoint, fault, sizeof(fault)) != 0)
        return options_refuse(parser, "--listen %s: %s", endpoint, fault);
    if (endpoint_stream(stream, sizeof(stream), endpoint) != 0)
        return options_refuse(parser,
                              "--listen %s: there is no endpoint left for the stream, which takes "
                              "the next port or a longer path",
                              endpoint);
    if (parser->options->keys == NULL && !endpoint_is_local(endpoint))
        return options_refuse(parser,
                              "--listen %s: other machines can reach it, so keys are needed: make "
                              "them with 'holter keys DIR' and give --keys DIR, or listen on "
                              "tcp://127.0.0.1:PORT or ipc:///PATH",
                              endpoint);
    return 0;
}

static int options_check_server(struct options_parser *parser)
{
    const struct daemon_options *options = parser->options;
    int code = 0;
    for (size_t i = 0; code == 0 && i < options->listen_count; i++)
        code = options_check_endpoint(parser, options->listen[i]);
    if (code == 0 && options->session != NULL && !session_key_valid(options->session))
        return options_refuse(parser, "--session '%s': 1 to 31 hexadecimal digits are expected",
                              options->session);
    return code;
}

/* @return what contradicts what; NULL: nothing */
static const char *options_find_contradiction(const struct options_parser *parser)
{
    const struct daemon_options *options = parser->options;
    if (options->replay == NULL && options->results)
        return "--results are of a --replay";
    if (options->replay == NULL)
        return parser->replay_options
                   ? "--speed, --from, --loop, --paused and --quit-at-end are of a --replay"
                   : NULL;
    if (options->results && (parser->replay_options || options->record != NULL))
        return "--results go once through the recording: no other option of a replay, and no "
               "--record";
    if (options->sink_count > 0)
        return "a --replay reports to no sink of alerts";
    if (options->record != NULL && (options->from != NULL || options->loop))
        return "a --replay that is recorded goes once from its begin to its end: no --from, no "
               "--loop";
    if (options->loop && options->quit_at_end)
        return "a --loop has no end to quit at";
    return NULL;
}

/* ---- parsing ---------------------------------------------------------------------------- */

static int options_parse_words(struct options_parser *parser, int argc, char **argv)
{
    struct option names[OPTIONS_COUNT + 1] = {{NULL, 0, NULL, 0}};
    int option, code = 0;
    for (size_t i = 0; i < OPTIONS_COUNT; i++)
        names[i] = (struct option){options_table[i].name, options_table[i].has_value, NULL,
                                   OPTIONS_FIRST + (int)i};
    optind = 0; /* GNU: start again from scratch, as tests parse more than once */
    opterr = 0;
    while (code == 0 && !parser->shown &&
           (option = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        if (option < OPTIONS_FIRST)
            return options_refuse(parser,
                                  "%s: unknown option, or its value is missing; see holterd --help",
                                  argv[optind - 1]);
        const struct options_entry *entry = &options_table[option - OPTIONS_FIRST];
        parser->replay_options |= entry->is_replay_option;
        code = options_handle(parser, entry, entry->has_value ? optarg : NULL);
    }
    if (code == 0 && !parser->shown && optind < argc)
        return options_refuse(parser, "%s: not an option; see holterd --help", argv[optind]);
    return code;
}

enum daemon_options_verdict daemon_options_parse(struct daemon_options *out, int argc, char **argv,
                                                 char *why, size_t capacity)
{
    struct options_parser parser = {.options = out, .record = 1, .why = why, .capacity = capacity};
    *out = (struct daemon_options){.window_ns = 1000 * MS,
                                   .session = getenv("HOLTER_SESSION"),
                                   .keys = getenv("HOLTER_KEYS"),
                                   .rules = getenv("HOLTER_RULES")};
    if (options_parse_words(&parser, argc, argv) != 0)
        return OPTIONS_WRONG;
    if (parser.shown)
        return OPTIONS_SHOWN;
    options_set_defaults(out);
    if (parser.check_only)
        return OPTIONS_CHECK;
    const char *contradiction = options_find_contradiction(&parser);
    if (contradiction != NULL) {
        snprintf(why, capacity, "%s", contradiction);
        return OPTIONS_WRONG;
    }
    if (options_set_default_endpoint(&parser) != 0)
        return OPTIONS_WRONG;
    if (parser.record && out->replay == NULL && out->record == NULL)
        options_set_default_record(out);
    return options_check_server(&parser) == 0 ? OPTIONS_RUN : OPTIONS_WRONG;
}

/* ---- for the rooms --------------------------------------------------------------------- */

int daemon_options_read_rules(const struct daemon_options *options, struct rules *out,
                              file_fault *on_fault, void *user)
{
    static const char *const names[SINK_KINDS] = {[SINK_FILE] = "--alert-log",
                                                  [SINK_COMMAND] = "--on-alert",
                                                  [SINK_SYSLOG] = "--syslog",
                                                  [SINK_ALERTMANAGER] = "--alertmanager"};
    char why[400], text[500];
    struct rules rules = {.count = 0};
    int code = options->rules == NULL ? rules_default(&rules)
                                      : rules_read(&rules, options->rules, on_fault, user);
    if (code != 0 && options->rules == NULL)
        on_fault(user, holter_strerror(code));
    for (size_t i = 0; i < options->sink_count; i++) {
        enum sink_kind kind = options->sinks[i].kind;
        int added = rules_add_sink(&rules, kind, options->sinks[i].target, why, sizeof(why));
        if (added == 0)
            continue;
        snprintf(text, sizeof(text), "%s: %s", names[kind], why);
        on_fault(user, text);
        code = added;
    }
    if (code != 0) {
        rules_finish(&rules);
        return code;
    }
    *out = rules;
    return 0;
}

void daemon_options_fill_server(const struct daemon_options *options, struct server_options *out)
{
    *out = (struct server_options){.listen_count = options->listen_count,
                                   .keys = options->keys,
                                   .session = options->session,
                                   .rules = options->rules,
                                   .window_ns = options->window_ns,
                                   .replays = options->replay != NULL};
    memcpy(out->listen, options->listen, sizeof(out->listen));
}

void daemon_options_fill_replay(const struct daemon_options *options, struct replay_options *out)
{
    *out = (struct replay_options){.file = options->replay,
                                   .topology = options->topology,
                                   .grace_ns = options->grace_ns,
                                   .grace_given = options->grace_given,
                                   .speed = options->speed,
                                   .from = options->from,
                                   .loop = options->loop,
                                   .paused = options->paused,
                                   .quit_at_end = options->quit_at_end,
                                   .no_collectives = options->no_collectives,
                                   .record = options->record,
                                   .maximum_record_bytes = options->maximum_record_bytes};
    daemon_options_fill_server(options, &out->server);
}
