/* Parses the command line of holterd: a table of options, and what is checked after all of them. */
#include "daemon/daemon_options.h"

#include "daemon/fleet/fleet.h"
#include "daemon/metrics/metrics_server.h"
#include "daemon/replay/replay_pace.h"
#include "daemon/storage/record_parts.h"
#include "holter/error.h"
#include "holter/refusal.h"
#include "holter/session.h"
#include "proto/command_option.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"
#include "proto/help_text.h"
#include "proto/moment.h"
#include "proto/utf8.h"
#include "version.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define WINDOW_MINIMUM_NS (100 * MS)
#define WINDOW_MAXIMUM_NS (60000 * MS)
#define GRACE_MAXIMUM_NS (60000 * MS)
#define CLUSTER_MAXIMUM 64u
#define URL_MAXIMUM 512u

static const char options_usage[] =
    "usage: holterd [OPTION]...\n"
    "Collects what agents report about running MPI jobs, publishes and records it.\n"
    "\n"
    "  --listen ENDPOINT   tcp://HOST:PORT or ipc:///PATH; may be given repeatedly. The\n"
    "                      published stream is on the next port, or on the path with \".stream\"\n"
    "                      appended. Default: HOLTER_DAEMON, else ipc in the user's run directory\n"
    "  --keys DIR          CURVE keys, see holter-keys(1); tcp endpoints need them\n"
    "  --no-keys           listen on tcp endpoints of this host without keys: all its users can\n"
    "                      read and control what is there\n"
    "  --record DIR        where recordings (holter-JOB.hrec) are written; default\n"
    "                      $XDG_DATA_HOME/holter, else ~/.local/share/holter\n"
    "  --max-size SIZE     maximum of a job's recording, at least 16M: it is written in parts, of\n"
    "                      which the oldest are removed; default: no limit\n"
    "  --no-record         do not record\n"
    "  --window TIME       length of windows, 100ms to 60s; default 1s\n"
    "  --grace TIME        how long after its end a window waits for late agents; default a\n"
    "                      quarter of the window, at most 250ms\n"
    "  --most-ranks N      jobs with more ranks are kept by groups of ranks; default 65536\n"
    "  --collectives HOW   modelled (default) or off: whether collectives take part in phases and\n"
    "                      pictures, as the messages of their algorithms\n"
    "  --topology NETWORK  the network under the jobs: a file, see holter-topology(5), or a short\n"
    "                      form such as torus:8,8,8, or cart, each job's grid of processes;\n"
    "                      default: HOLTER_TOPOLOGY, else hosts below one switch\n"
    "  --session KEY       serve only agents of this session\n"
    "  --replay FILE       replay a recording instead: agents are not served, no sink is used,\n"
    "                      and nothing is recorded unless --record is given; windows are as long\n"
    "                      as recorded\n"
    "  --speed X           of the replay, relative to real time: 0.01 to 100000, or max (default)\n"
    "  --from T            begin the replay there: nanoseconds since 1970, 2026-11-22T05:00:00Z,\n"
    "                      +90s (from its begin), -10s (from its end) or 40%\n"
    "  --loop              repeat the replay\n"
    "  --paused            begin the replay when a client requests it\n"
    "  --quit-at-end       exit after the replay\n"
    "  --results           serve no client: add the results of a replay to the recording itself,\n"
    "                      and exit\n"
    "  --quit-when-idle    exit when all jobs have ended and all agents are disconnected\n"
    "  --rules FILE        alert rules, see holter-rules(5); default: HOLTER_RULES, else built-in\n"
    "                      ones\n"
    "  --alert-log FILE    append alerts to FILE, one JSON object a line\n"
    "  --on-alert COMMAND  run COMMAND in a shell when an alert fires or is resolved, with JSON "
    "on\n"
    "                      standard input\n"
    "  --syslog            send alerts to syslog\n"
    "  --alertmanager URL  send alerts to Prometheus' Alertmanager, such as http://HOST:9093\n"
    "  --cluster NAME      label of alerts and metrics; default: HOLTER_CLUSTER, else\n"
    "                      SLURM_CLUSTER_NAME\n"
    "  --external-url URL  page about a job, named in its alerts; %j is replaced by the job's id\n"
    "  --metrics ADDRESS   HOST:PORT where Prometheus reads metrics over HTTP, as 127.0.0.1:9464:\n"
    "                      whoever connects sees jobs, users and nodes\n"
    "  --fleet SERVERS     join the fleet that shares the NATS servers nats://HOST:PORT,...;\n"
    "                      --cluster is its name\n"
    "  --export JOB        serve no client: record a whole job of the fleet, and exit\n"
    "  --fleet-keys DIR    credentials for these servers: user.creds, or nkey.seed and nkey.pub, "
    "or\n"
    "                      password; ca.pem; cert.pem and key.pem; default: HOLTER_FLEET_KEYS\n"
    "  --lease TIME        when the jobs of a dead daemon are taken over; default 3s\n"
    "  --checkpoint TIME   how often the state of a job is stored for that; default 60s\n"
    "  --check-rules       only check the rules and the options of alerts and metrics\n"
    "  --print-rules       only print the built-in rules\n"
    "  -V, --version, -h, --help\n";

/* The options, and what is needed only while they are parsed. */
struct options_parser {
    struct daemon_options *options;
    int record;      /* a recording is written, unless it is a replay without --record */
    int speed_given; /* of a replay */
    int check_only;
    int no_keys;
    struct refusal refusal;
};

/* ---- options with values of their own: functions `set` of struct command_option ---- */

enum { OPTIONS_STOPPED = 1, OPTIONS_REFUSED };

static int options_listen(void *user, const struct command_option *option, const char *value)
{
    struct options_parser *parser = user;
    struct daemon_options *options = parser->options;
    (void)option;
    if (options->listen_count < SERVER_ENDPOINTS_MAXIMUM) {
        options->listen[options->listen_count++] = value;
        return 0;
    }
    refusal_set(&parser->refusal, "--listen: at most %u endpoints", SERVER_ENDPOINTS_MAXIMUM);
    return OPTIONS_REFUSED;
}

static const char *const options_sinks[SINK_KINDS] = {[SINK_FILE] = "alert-log",
                                                      [SINK_COMMAND] = "on-alert",
                                                      [SINK_SYSLOG] = "syslog",
                                                      [SINK_ALERTMANAGER] = "alertmanager"};

static int options_add_sink(void *user, const struct command_option *option, const char *value)
{
    struct options_parser *parser = user;
    struct daemon_options *options = parser->options;
    if (options->sink_count == RULES_SINKS_MAXIMUM) {
        refusal_set(&parser->refusal, "at most %u sinks of alerts", RULES_SINKS_MAXIMUM);
        return OPTIONS_REFUSED;
    }
    for (unsigned kind = 0; kind < SINK_KINDS; kind++)
        if (options_sinks[kind] != NULL && strcmp(option->name, options_sinks[kind]) == 0)
            options->sinks[options->sink_count].kind = (enum sink_kind)kind;
    options->sinks[options->sink_count++].target = value;
    return 0;
}

/* --record and, without a value, --no-record. */
static int options_record(void *user, const struct command_option *option, const char *value)
{
    struct options_parser *parser = user;
    (void)option;
    parser->options->record = value;
    parser->record = value != NULL;
    return 0;
}

static int options_speed(void *user, const struct command_option *option, const char *value)
{
    struct options_parser *parser = user;
    (void)option;
    parser->speed_given = 1;
    return replay_pace_parse(value, &parser->options->speed) == 0 ? 0 : -1;
}

static int options_from(void *user, const struct command_option *option, const char *value)
{
    struct options_parser *parser = user;
    (void)option;
    parser->options->from = value;
    return moment_check(value, parser->refusal.text, parser->refusal.capacity) == 0
               ? 0
               : OPTIONS_REFUSED;
}

static int options_show(void *user, const struct command_option *option, const char *value)
{
    (void)user;
    (void)value;
    if (strcmp(option->name, "help") == 0)
        help_text_print(stdout, options_usage);
    else
        fputs(strcmp(option->name, "version") == 0 ? "holterd " HOLTER_VERSION
                                                     " (" HOLTER_BUILD_OPTIONS ")\n"
                                                   : rules_default_text(),
              stdout);
    return OPTIONS_STOPPED;
}

/* ---- defaults and checks ----------------------------------------------------------------- */

static int options_set_default_endpoint(struct options_parser *parser)
{
    struct daemon_options *options = parser->options;
    const char *endpoint = getenv("HOLTER_DAEMON");
    char fault[256] = "";
    int code = 0;
    if (options->listen_count > 0)
        return 0;
    if (endpoint != NULL && endpoint[0] != '\0')
        snprintf(options->default_listen, sizeof(options->default_listen), "%s", endpoint);
    else
        code = session_explain_default_endpoint(
            options->default_listen, sizeof(options->default_listen), fault, sizeof(fault));
    if (code != 0)
        snprintf(parser->refusal.text, parser->refusal.capacity,
                 "no run directory for the socket: %s; give --listen", fault);
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

/* @return text, or NULL if it is empty */
static const char *options_nonempty(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : text;
}

static int options_cluster_is_valid(const char *name)
{
    const size_t length = strlen(name);
    return length <= CLUSTER_MAXIMUM && utf8_prefix(name, length) == length;
}

static void options_set_defaults(struct daemon_options *options)
{
    if (!options->grace_given)
        options->grace_ns = server_default_grace(options->window_ns);
    /* The default network of a replay is the recorded one. */
    if (options->topology == NULL && options->replay == NULL)
        options->topology = getenv("HOLTER_TOPOLOGY");
    options->keys = options_nonempty(options->keys);
    options->session = options_nonempty(options->session);
    options->rules = options_nonempty(options->rules);
    options->topology = options_nonempty(options->topology);
    options->external_url = options_nonempty(options->external_url);
    options->metrics = options_nonempty(options->metrics);
    options->fleet = options_nonempty(options->fleet);
    options->fleet_keys = options_nonempty(options->fleet_keys);
    options->cluster = options_nonempty(options->cluster);
    /* An invalid name in the environment is ignored. */
    static const char *const variables[] = {"HOLTER_CLUSTER", "SLURM_CLUSTER_NAME"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *name = options_nonempty(getenv(variables[i]));
        if (options->cluster == NULL && name != NULL && options_cluster_is_valid(name))
            options->cluster = name;
    }
}

/* Is this a valid URL (RFC 3986) once %j is replaced by a job's id? Alertmanager rejects alerts
 * whose URL is invalid. */
static int options_url_is_valid(const char *url)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return 0;
    for (const char *at = url; *at != '\0'; at++) {
        const int escapes = *at == '%' && at[1] != 'j';
        if (*at <= ' ' || *at >= 0x7f || strchr("\"<>\\^`{|}", *at) != NULL ||
            (escapes && (at[1] == '\0' || at[2] == '\0' || strchr(hex, at[1]) == NULL ||
                         strchr(hex, at[2]) == NULL)))
            return 0;
    }
    return strlen(url) <= URL_MAXIMUM;
}

static int options_check_labels(struct options_parser *parser)
{
    const char *cluster = parser->options->cluster, *url = parser->options->external_url;
    if (cluster != NULL && !options_cluster_is_valid(cluster))
        return refusal_set(&parser->refusal,
                           "--cluster: expected a name of at most %u bytes of UTF-8",
                           CLUSTER_MAXIMUM);
    if (url != NULL && !options_url_is_valid(url))
        return refusal_set(&parser->refusal,
                           "--external-url %s: expected a URL of at most %u bytes that begins "
                           "with http:// or https://",
                           url, URL_MAXIMUM);
    return 0;
}

static int options_check_endpoint(struct options_parser *parser, const char *endpoint)
{
    char fault[256], stream[280];
    if (endpoint_check(endpoint, fault, sizeof(fault)) != 0)
        return refusal_set(&parser->refusal, "--listen %s: %s", endpoint, fault);
    if (endpoint_stream(stream, sizeof(stream), endpoint) != 0)
        return refusal_set(&parser->refusal,
                           "--listen %s: there is no endpoint for the stream, which needs the "
                           "next port or a longer path",
                           endpoint);
    if (parser->options->keys != NULL || endpoint_is_private(endpoint))
        return 0;
    if (!endpoint_is_local(endpoint))
        return refusal_set(&parser->refusal,
                           "--listen %s: other machines can reach it, so keys are needed: make "
                           "them with 'holter keys DIR' and give --keys DIR, or listen on "
                           "ipc:///PATH",
                           endpoint);
    if (!parser->no_keys)
        return refusal_set(&parser->refusal,
                           "--listen %s: every user of this machine can reach it, so keys are "
                           "needed: make them with 'holter keys DIR' and give --keys DIR, listen "
                           "on ipc:///PATH, or permit it to every user with --no-keys",
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
        return refusal_set(&parser->refusal, "--session '%s': expected 1 to 31 hexadecimal digits",
                           options->session);
    return code;
}

/* @return a sentence about options that exclude or need each other; NULL: none do */
static const char *options_find_contradiction(const struct options_parser *parser)
{
    const struct daemon_options *options = parser->options;
    int of_replay = parser->speed_given || options->from != NULL || options->loop ||
                    options->paused || options->quit_at_end;
    if (options->export != NULL && (options->fleet == NULL || !parser->record))
        return "--export needs --fleet, and excludes --no-record";
    if (options->export != NULL && !job_id_valid(options->export))
        return "--export: expected the id of a job, as 'holter status' lists it";
    if (options->replay == NULL && options->results)
        return "--results needs --replay";
    if (options->replay == NULL)
        return of_replay ? "--speed, --from, --loop, --paused and --quit-at-end need --replay"
                         : NULL;
    if (options->results && (of_replay || options->record != NULL))
        return "--results excludes --record and all other options of a replay";
    if (options->metrics != NULL)
        return "--replay and --metrics exclude each other";
    if (options->fleet != NULL)
        return "--replay and --fleet exclude each other";
    if (options->sink_count > 0)
        return "--replay excludes sinks of alerts, as alerts of a replay are not sent";
    if (options->record != NULL && (options->from != NULL || options->loop))
        return "--replay with --record excludes --from and --loop";
    if (options->loop && options->quit_at_end)
        return "--loop and --quit-at-end exclude each other";
    return NULL;
}

/* ---- parsing ---------------------------------------------------------------------------- */

/* Describe the argument that was refused. @return OPTIONS_REFUSED */
static int options_refuse_words(struct options_parser *parser, const struct command_option_end *end,
                                const char *word, int status)
{
    char fault[200];
    if (status == COMMAND_OPTIONS_READ) {
        refusal_set(&parser->refusal, "%s: not an option; see holterd --help", word);
    } else if (end->option == NULL) {
        command_option_explain(end, fault, sizeof fault);
        refusal_set(&parser->refusal, "%s (see holterd --help)", fault);
    } else {
        refusal_set(&parser->refusal, "--%s '%s': expected %s", end->option->name, end->word,
                    end->option->expected);
    }
    return OPTIONS_REFUSED;
}

/* @return 0, OPTIONS_STOPPED, or OPTIONS_REFUSED after setting why */
static int options_parse_words(struct options_parser *parser, int argc, char **argv)
{
    struct daemon_options *o = parser->options;
    static const char *const collectives[] = {"modelled", "off", NULL};
    const struct command_option options[] = {
        {"listen", .set = options_listen},
        {"keys", .text = &o->keys},
        {"no-keys", .flag = &parser->no_keys},
        {"record", .set = options_record},
        {"no-record", .set = options_record, .bare = true},
        {"max-size", .bytes = &o->maximum_record_bytes, .least = (double)RECORD_MINIMUM_BYTES,
         .expected = "a size of at least 16M, such as 500M or 20G"},
        {"window", .duration_ns = &o->window_ns, .least = (double)WINDOW_MINIMUM_NS,
         .most = (double)WINDOW_MAXIMUM_NS, .expected = "a time from 100ms to 60s"},
        {"grace", .duration_ns = &o->grace_ns, .most = (double)GRACE_MAXIMUM_NS,
         .expected = "a time from 0s to 60s"},
        {"most-ranks", .number = &o->most_ranks, .least = 1, .most = 16777216,
         .expected = "a number from 1 to 16777216"},
        {"collectives", .word = &o->no_collectives, .words = collectives,
         .expected = "modelled or off"},
        {"session", .text = &o->session},
        {"topology", .text = &o->topology},
        {"replay", .text = &o->replay},
        {"speed", .set = options_speed, .expected = "0.01 to 100000, or max"},
        {"from", .set = options_from},
        {"loop", .flag = &o->loop},
        {"paused", .flag = &o->paused},
        {"quit-at-end", .flag = &o->quit_at_end},
        {"results", .flag = &o->results},
        {"quit-when-idle", .flag = &o->quit_when_idle},
        {"rules", .text = &o->rules},
        {options_sinks[SINK_FILE], .set = options_add_sink},
        {options_sinks[SINK_COMMAND], .set = options_add_sink},
        {options_sinks[SINK_SYSLOG], .set = options_add_sink, .bare = true},
        {options_sinks[SINK_ALERTMANAGER], .set = options_add_sink},
        {"metrics", .text = &o->metrics},
        {"fleet", .text = &o->fleet},
        {"export", .text = &o->export},
        {"fleet-keys", .text = &o->fleet_keys},
        {"lease", .duration_ns = &o->lease_ns, .least = 1e9, .most = 60e9,
         .expected = "a time from 1s to 60s"},
        {"checkpoint", .duration_ns = &o->checkpoint_ns, .least = 1e9, .most = 3600e9,
         .expected = "a time from 1s to 1h"},
        {"cluster", .text = &o->cluster},
        {"external-url", .text = &o->external_url},
        {"check-rules", .flag = &parser->check_only},
        {"print-rules", .set = options_show, .bare = true},
        {"version", 'V', .set = options_show, .bare = true},
        {"help", 'h', .set = options_show, .bare = true},
        {0},
    };
    const struct command_option *const tables[] = {options, NULL};
    struct command_option_end end;
    int status = command_options_read(tables, true, parser, argc, argv, &end);
    if (status > 0)
        return status;
    if (status == COMMAND_OPTIONS_READ && optind == argc)
        return 0;
    return options_refuse_words(parser, &end, argv[optind], status);
}

enum daemon_options_verdict daemon_options_parse(struct daemon_options *out, int argc, char **argv,
                                                 char *why, size_t capacity)
{
    struct options_parser parser = {.options = out, .record = 1, .refusal = {why, capacity}};
    *out = (struct daemon_options){.window_ns = 1000 * MS,
                                   .lease_ns = 3000 * MS,
                                   .checkpoint_ns = 60000 * MS,
                                   .grace_ns = UINT64_MAX,
                                   .most_ranks = 65536,
                                   .session = getenv("HOLTER_SESSION"),
                                   .keys = getenv("HOLTER_KEYS"),
                                   .rules = getenv("HOLTER_RULES"),
                                   .fleet_keys = getenv("HOLTER_FLEET_KEYS")};
    int status = options_parse_words(&parser, argc, argv);
    if (status != 0)
        return status == OPTIONS_STOPPED ? OPTIONS_SHOWN : OPTIONS_WRONG;
    out->grace_given = out->grace_ns != UINT64_MAX;
    options_set_defaults(out);
    if (options_check_labels(&parser) != 0)
        return OPTIONS_WRONG;
    if (out->fleet != NULL && fleet_check(out->fleet, out->cluster, why, capacity) != 0)
        return OPTIONS_WRONG;
    if (parser.check_only)
        return out->metrics == NULL || metrics_server_check(out->metrics, why, capacity) == 0
                   ? OPTIONS_CHECK
                   : OPTIONS_WRONG;
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

/* ---- options of the parts of the daemon ------------------------------------------------ */

int daemon_options_read_rules(const struct daemon_options *options, struct rules *out,
                              file_fault *on_fault, void *user)
{
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
        snprintf(text, sizeof(text), "holterd: --%s: %s", options_sinks[kind], why);
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
                                   .users = options->replay == NULL && options->keys != NULL &&
                                            curve_has_users(options->keys),
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
                                   .most_ranks = options->most_ranks,
                                   .record = options->record,
                                   .maximum_record_bytes = options->maximum_record_bytes};
    daemon_options_fill_server(options, &out->server);
}
