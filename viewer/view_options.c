/* The command line of holter-view. */
#include "viewer/view_options.h"

#include "viewer/views/views.h"

#include "holter/error.h"

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

static int view_options_parse_whole(const char *text, unsigned maximum, unsigned *out)
{
    double value;
    if (view_options_number(text, 1, maximum, &value) < 0 || value != floor(value))
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

static int view_options_view(const char *text, struct options *o)
{
    o->view = view_by_name(text);
    return o->view < 0 ? -HOLTER_EUSAGE : 0;
}

static int view_options_theme(const char *text, struct options *o)
{
    o->theme = strcmp(text, "light") ? THEME_DARK : THEME_LIGHT;
    return strcmp(text, "light") && strcmp(text, "dark") ? -HOLTER_EUSAGE : 0;
}

static int view_options_mapping(const char *text, struct options *o)
{
    if (o->mapping_count == OPTIONS_MAPPINGS)
        return -HOLTER_EUSAGE;
    o->mappings[o->mapping_count++] = text;
    return 0;
}

static int view_options_select(const char *text, struct options *o)
{
    o->select = text;
    return ui_select_kind(text) == SELECT_NONE ? -HOLTER_EUSAGE : 0;
}

/* One of text, flag, number, whole and set is there: where the value goes. */
struct view_option {
    const char *name;
    char letter; /* 0: none */
    const char **text;
    int *flag; /* takes no value; set to 1 */
    double *number, low, high;
    unsigned *whole; /* from 1 to high */
    int (*set)(const char *text, struct options *o);
};

#define OPTIONS_COUNT 23

static void view_options_list(struct options *o, struct view_option out[OPTIONS_COUNT])
{
    const struct view_option all[OPTIONS_COUNT] = {
        {"connect", 'c', .text = &o->endpoint},
        {"ssh", .text = &o->ssh_host},
        {"keys", .text = &o->key_dir},
        {"job", 'j', .text = &o->job},
        {"view", .set = view_options_view},
        {"size", .set = view_options_size},
        {"scale", .number = &o->scale, .low = 0.5, .high = 4},
        {"theme", .set = view_options_theme},
        {"since-start", .flag = &o->since_start},
        {"snapshot", .text = &o->snapshot},
        {"after", .number = &o->after, .high = 1e6},
        {"phases", .whole = &o->phases, .high = UI_MAXIMUM_PHASES},
        {"communities", .whole = &o->communities, .high = MODEL_RANKS},
        {"from", .number = &o->from, .low = -1e9, .high = 1e9},
        {"to", .number = &o->to, .low = -1e9, .high = 1e9},
        {"ranks", .set = view_options_rank_list},
        {"mapping", .set = view_options_mapping},
        {"select", .set = view_options_select},
        {"suggest", .set = view_options_suggestion},
        {"apply", .flag = &o->apply},
        {"no-collectives", .flag = &o->no_collectives},
        {"help", 'h', .flag = &o->show_help},
        {"version", 'V', .flag = &o->show_version},
    };
    memcpy(out, all, sizeof all);
}

static int view_options_set(struct options *o, const struct view_option *option, const char *value)
{
    if (option->set)
        return option->set(value, o);
    if (option->number)
        return view_options_number(value, option->low, option->high, option->number);
    if (option->whole)
        return view_options_parse_whole(value, (unsigned)option->high, option->whole);
    if (option->text)
        *option->text = value;
    else
        *option->flag = 1;
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *why, size_t capacity)
{
    *o = (struct options){
        .view = -1, .w = 1600, .h = 900, .after = 5, .scale = 1, .from = NAN, .to = NAN};
    struct view_option options[OPTIONS_COUNT];
    struct option names[OPTIONS_COUNT + 1] = {0};
    view_options_list(o, options);
    for (int i = 0; i < OPTIONS_COUNT; i++)
        names[i] =
            (struct option){options[i].name, options[i].flag ? no_argument : required_argument,
                            NULL, options[i].letter ? options[i].letter : 256 + i};
    opterr = 0;
    optind = 0;
    int option, index;
    while ((option = getopt_long(argc, argv, ":c:j:hV", names, NULL)) != -1) {
        if (option == '?' || option == ':') {
            snprintf(why, capacity, option == ':' ? "%s needs a value" : "unknown option %s",
                     argv[optind - 1]);
            return -HOLTER_EUSAGE;
        }
        for (index = 0; names[index].val != option;)
            index++;
        if (view_options_set(o, &options[index], optarg) < 0) {
            snprintf(why, capacity, "--%s: '%s' is out of place", names[index].name, optarg);
            return -HOLTER_EUSAGE;
        }
    }
    /* Which is first of a time since the begin and one before the end is known with the job only.
     */
    if (o->from > o->to && !signbit(o->from) == !signbit(o->to)) {
        snprintf(why, capacity, "--from %g is behind --to %g", o->from, o->to);
        return -HOLTER_EUSAGE;
    }
    if (optind < argc) {
        snprintf(why, capacity, "unexpected argument '%s'", argv[optind]);
        return -HOLTER_EUSAGE;
    }
    return 0;
}
