#include "viewer/options.h"

#include "viewer/views/view.h"

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
    "  -j, --job ID            job to follow (default: the newest that runs)\n"
    "      --view VIEW         live, regions, alerts, matrix, pairs, ranks, calls, nodes or jobs\n"
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
    OPTION_AFTER
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
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static int number(const char *text, double low, double high, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < low || value > high)
        return -HOLTER_EUSAGE;
    *out = value;
    return 0;
}

static int size(const char *text, struct options *o)
{
    int w, h, used = 0;
    if (sscanf(text, "%5dx%5d%n", &w, &h, &used) != 2 || text[used] || w < 320 || h < 200 ||
        w > 16384 || h > 16384)
        return -HOLTER_EUSAGE;
    o->w = w;
    o->h = h;
    return 0;
}

static int take(struct options *o, int option, const char *value)
{
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
        return size(value, o);
    case OPTION_SCALE:
        return number(value, 0.5, 4, &o->scale);
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
        return number(value, 0, 1e6, &o->after);
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
    *o = (struct options){.view = -1, .w = 1600, .h = 900, .after = 5, .scale = 1};
    int option, index = -1;
    opterr = 0;
    optind = 0;
    while (index = -1, (option = getopt_long(argc, argv, ":c:j:hV", names, &index)) != -1) {
        if (option == '?' || option == ':') {
            snprintf(why, room, option == ':' ? "%s needs a value" : "unknown option %s",
                     argv[optind - 1]);
            return -HOLTER_EUSAGE;
        }
        if (take(o, option, optarg) < 0) {
            snprintf(why, room, "--%s: '%s' is out of place",
                     index >= 0 ? names[index].name : "option", optarg);
            return -HOLTER_EUSAGE;
        }
    }
    if (optind < argc) {
        snprintf(why, room, "unexpected argument '%s'", argv[optind]);
        return -HOLTER_EUSAGE;
    }
    return 0;
}
