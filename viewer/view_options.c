/* The command line of holter-view. */
#include "viewer/view_options.h"

#include "viewer/views/views.h"

#include "holter/error.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "usage: holter-view [--connect ENDPOINT | --ssh HOST] [options]\n"
    "\n"
    "A window on a running MPI job: what its ranks send, and where they wait.\n"
    "\n"
    "  -c, --connect ENDPOINT  daemon, tcp://HOST:PORT or ipc:///PATH (default: HOLTER_DAEMON, "
    "else your\n"
    "                          newest daemon on this host)\n"
    "      --ssh HOST          reach the daemon on HOST through ssh; --connect is then its "
    "endpoint there\n"
    "      --keys DIR          CURVE keys of the session (default: HOLTER_KEYS, else those beside "
    "its socket)\n"
    "  -j, --job ID            job to follow (default: the newest that runs, else that ended)\n"
    "      --view VIEW         live, commgram, regions, alerts, matrix, pairs, ranks, calls, "
    "nodes,\n"
    "                          captures, jobs, links, network, torus or routes\n"
    "      --phases K          CommGram: at most so many columns, 1 to 256 (default: 24)\n"
    "      --communities C     CommGram: at most so many bars in one (default: 16)\n"
    "      --from T, --to T    span of time: seconds since the job's start (12.5), or before its "
    "newest data\n"
    "                          (-60) (default: its last minute; with one of them, from its start "
    "or "
    "to its end)\n"
    "      --ranks LIST        CommGram: only messages from or to these ranks, as 3,8-11\n"
    "      --mapping FILE      torus: a panel with the loads of the same messages under this "
    "mapping "
    "of\n"
    "                          lines \"rank node\", nodes numbered row-major; may be repeated\n"
    "      --select WHAT       rank:N, pair:A-B, or, by names of vertices, link:(0,0)-(0,1), "
    "route:A-B,\n"
    "                          vertex:A\n"
    "      --suggest WHAT      ask for a better mapping, mapping:OBJECTIVE (hop-bytes, max-link or "
    "inter-node),\n"
    "                          or routes of what is selected; may be repeated; a snapshot waits "
    "for "
    "the result\n"
    "      --apply             show the network as suggested\n"
    "      --no-collectives    CommGram: without the messages that stand for collectives\n"
    "      --size WxH          size of the window or picture in pixels (default: 1600x900)\n"
    "      --scale N           size of letters and lines, 0.5 to 4 (default: 1)\n"
    "      --theme THEME       dark or light\n"
    "      --since-start       sums since the start of the job, not of the visible time\n"
    "      --snapshot FILE     take a picture without a display and leave; the scene as text, if "
    "FILE "
    "ends in .txt\n"
    "      --after S           take it after S seconds of data, or when the job has ended "
    "(default: 5)\n"
    "  -h, --help\n"
    "  -V, --version\n"
    "\n"
    "Press ? in the window for keys.\n";

enum {
    OPTION_SSH = 256,
    OPTION_KEYS,
    OPTION_VIEW,
    OPTION_SIZE,
    OPTION_SCALE,
    OPTION_THEME,
    OPTION_START,
    OPTION_SNAPSHOT,
    OPTION_AFTER,
    OPTION_MAPPING,
    OPTION_SELECT,
    OPTION_SUGGEST,
    OPTION_APPLY,
    OPTION_PHASES,
    OPTION_COMMUNITIES,
    OPTION_FROM,
    OPTION_TO,
    OPTION_RANKS,
    OPTION_NO_COLLECTIVES
};

static const struct option names[] = {
    {"connect", required_argument, NULL, 'c'},
    {"ssh", required_argument, NULL, OPTION_SSH},
    {"keys", required_argument, NULL, OPTION_KEYS},
    {"job", required_argument, NULL, 'j'},
    {"view", required_argument, NULL, OPTION_VIEW},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"scale", required_argument, NULL, OPTION_SCALE},
    {"theme", required_argument, NULL, OPTION_THEME},
    {"since-start", no_argument, NULL, OPTION_START},
    {"snapshot", required_argument, NULL, OPTION_SNAPSHOT},
    {"after", required_argument, NULL, OPTION_AFTER},
    {"phases", required_argument, NULL, OPTION_PHASES},
    {"communities", required_argument, NULL, OPTION_COMMUNITIES},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"ranks", required_argument, NULL, OPTION_RANKS},
    {"mapping", required_argument, NULL, OPTION_MAPPING},
    {"select", required_argument, NULL, OPTION_SELECT},
    {"suggest", required_argument, NULL, OPTION_SUGGEST},
    {"apply", no_argument, NULL, OPTION_APPLY},
    {"no-collectives", no_argument, NULL, OPTION_NO_COLLECTIVES},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static int view_options_number(const char *text, double low, double high, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < low || value > high)
        return -HOLTER_EUSAGE;
    *out = value;
    return 0;
}

static int view_options_size(const char *text, struct options *o)
{
    int w, h, used = 0;
    if (sscanf(text, "%5dx%5d%n", &w, &h, &used) != 2 || text[used] || w < 320 || h < 200 ||
        w > 16384 || h > 16384)
        return -HOLTER_EUSAGE;
    o->w = w;
    o->h = h;
    return 0;
}

static int view_options_parse_whole(const char *text, unsigned most, unsigned *out)
{
    double value;
    if (view_options_number(text, 1, most, &value) < 0 || value != floor(value))
        return -HOLTER_EUSAGE;
    *out = (unsigned)value;
    return 0;
}

/* "3,8-11": numbers and spans of them, none of which runs backwards. */
static int view_options_rank_list(const char *text, struct options *o)
{
    const char *at = text;
    if (strlen(text) >= sizeof o->ranks)
        return -HOLTER_EUSAGE;
    do {
        char *end;
        at += *at == ',' && at != text;
        if (*at < '0' || *at > '9')
            return -HOLTER_EUSAGE;
        unsigned long long first = strtoull(at, &end, 10), last = first;
        if (*end == '-') {
            at = end + 1;
            if (*at < '0' || *at > '9')
                return -HOLTER_EUSAGE;
            last = strtoull(at, &end, 10);
        }
        if (last < first || last >= MODEL_RANKS || (*end && *end != ','))
            return -HOLTER_EUSAGE;
        at = end;
    } while (*at);
    snprintf(o->ranks, sizeof o->ranks, "%s", text);
    return 0;
}

static int view_options_set_commgram_option(struct options *o, int option, const char *value)
{
    switch (option) {
    case OPTION_PHASES:
        return view_options_parse_whole(value, UI_MAXIMUM_PHASES, &o->phases);
    case OPTION_COMMUNITIES:
        return view_options_parse_whole(value, MODEL_RANKS, &o->communities);
    case OPTION_FROM:
        return view_options_number(value, -1e9, 1e9, &o->from);
    case OPTION_TO:
        return view_options_number(value, -1e9, 1e9, &o->to);
    case OPTION_RANKS:
        return view_options_rank_list(value, o);
    default:
        o->no_collectives = 1;
        return 0;
    }
}

/* "mapping", "mapping:max-link" or "routes". */
static int view_options_suggestion(const char *text, struct options *o)
{
    static const char mapping[] = "mapping:";
    if (!strcmp(text, "routes")) {
        o->suggest |= 1 << SUGGEST_ROUTES;
        return 0;
    }
    int given = !strncmp(text, mapping, strlen(mapping));
    if (!given && strcmp(text, "mapping"))
        return -HOLTER_EUSAGE;
    o->suggest |= 1 << SUGGEST_MAPPING;
    o->objective = REMAP_HOP_BYTES;
    if (!given)
        return 0;
    while (o->objective < REMAP_OBJECTIVES &&
           strcmp(text + strlen(mapping), ui_objective_name((enum remap_objective)o->objective)))
        o->objective++;
    return o->objective < REMAP_OBJECTIVES ? 0 : -HOLTER_EUSAGE;
}

static int view_options_set_network_option(struct options *o, int option, const char *value)
{
    switch (option) {
    case OPTION_MAPPING:
        if (o->mapping_count == OPTIONS_MAPPINGS)
            return -HOLTER_EUSAGE;
        o->mappings[o->mapping_count++] = value;
        return 0;
    case OPTION_SELECT:
        o->select = value;
        return ui_select_kind(value) == SELECT_NONE ? -HOLTER_EUSAGE : 0;
    case OPTION_SUGGEST:
        return view_options_suggestion(value, o);
    default:
        o->apply = 1;
        return 0;
    }
}

static int view_options_set_option(struct options *o, int option, const char *value)
{
    if (option >= OPTION_PHASES)
        return view_options_set_commgram_option(o, option, value);
    if (option >= OPTION_MAPPING)
        return view_options_set_network_option(o, option, value);
    switch (option) {
    case 'c':
        o->endpoint = value;
        return 0;
    case 'j':
        o->job = value;
        return 0;
    case OPTION_SSH:
        o->ssh_host = value;
        return 0;
    case OPTION_KEYS:
        o->key_dir = value;
        return 0;
    case OPTION_VIEW:
        o->view = view_by_name(value);
        return o->view < 0 ? -HOLTER_EUSAGE : 0;
    case OPTION_SIZE:
        return view_options_size(value, o);
    case OPTION_SCALE:
        return view_options_number(value, 0.5, 4, &o->scale);
    case OPTION_THEME:
        o->theme = strcmp(value, "light") ? THEME_DARK : THEME_LIGHT;
        return strcmp(value, "light") && strcmp(value, "dark") ? -HOLTER_EUSAGE : 0;
    case OPTION_START:
        o->since_start = 1;
        return 0;
    case OPTION_SNAPSHOT:
        o->snapshot = value;
        return 0;
    case OPTION_AFTER:
        return view_options_number(value, 0, 1e6, &o->after);
    case 'h':
        o->show_help = 1;
        return 0;
    default:
        o->show_version = 1;
        return 0;
    }
}

int options_parse(struct options *o, int argc, char **argv, char *why, size_t room)
{
    *o = (struct options){
        .view = -1, .w = 1600, .h = 900, .after = 5, .scale = 1, .from = NAN, .to = NAN};
    int option, index = -1;
    opterr = 0;
    optind = 0;
    while (index = -1, (option = getopt_long(argc, argv, ":c:j:hV", names, &index)) != -1) {
        if (option == '?' || option == ':') {
            snprintf(why, room, option == ':' ? "%s needs a value" : "unknown option %s",
                     argv[optind - 1]);
            return -HOLTER_EUSAGE;
        }
        if (view_options_set_option(o, option, optarg) < 0) {
            snprintf(why, room, "--%s: '%s' is out of place",
                     index >= 0 ? names[index].name : "option", optarg);
            return -HOLTER_EUSAGE;
        }
    }
    /* Which is first of a time since the begin and one before the end is known with the job only.
     */
    if (o->from > o->to && !signbit(o->from) == !signbit(o->to)) {
        snprintf(why, room, "--from %g is behind --to %g", o->from, o->to);
        return -HOLTER_EUSAGE;
    }
    if (optind < argc) {
        snprintf(why, room, "unexpected argument '%s'", argv[optind]);
        return -HOLTER_EUSAGE;
    }
    return 0;
}
