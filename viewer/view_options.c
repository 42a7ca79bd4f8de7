/* The command line of holter-view. */
#include "viewer/view_options.h"

#include "viewer/ui/ui_dependencies.h"
#include "viewer/views/views.h"

#include "holter/error.h"
#include "proto/command_option.h"
#include "proto/rank_spans.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char options_help[] =
    "usage: holter-view [--connect ENDPOINT | --ssh HOST] [options]\n"
    "       holter view [options] RECORDING [RECORDING]\n"
    "\n"
    "A window on a running MPI job: what its ranks send, and where they wait. Of two recordings, "
    "before and\n"
    "after a change, the views of the network and the matrix show both, or the difference.\n"
    "\n"
    "  -c, --connect ENDPOINT  daemon, tcp://HOST:PORT or ipc:///PATH, or with holter view a "
    "fleet,\n"
    "                          nats://HOST:PORT,...[/CLUSTER[/JOB]] (default: HOLTER_DAEMON, else "
    "your\n"
    "                          newest daemon on this host)\n"
    "      --ssh HOST          reach the daemon on HOST through ssh; --connect is then its "
    "endpoint there\n"
    "      --keys DIR          CURVE keys of the session (default: HOLTER_KEYS, else those beside "
    "its socket)\n"
    "      --against ENDPOINT  compare with the job of this daemon, as with the second of two "
    "recordings\n"
    "      --play              start a replay that waits at its begin; a snapshot is taken at "
    "its end\n"
    "      --names A,B         of the two jobs, as pictures name them\n"
    "  -j, --job ID            job to follow (default: the newest that runs, else that ended)\n"
    "      --view VIEW         overview, live, commgram, matrix, pairs, ranks, calls, landscape, "
    "alerts,\n"
    "                          regions, attribution, dependencies, captures, criteria, nodes, "
    "jobs,\n"
    "                          monitor, links, network, torus, routes or what-if\n"
    "      --at ADDRESS        open what an address names, as the window shows and copies it:\n"
    "                          ROOM[/PLACE[/ALERT]][?alert=N&select=WHAT&from=T&to=T&sums=start]\n"
    "      --phases K          CommGram: at most so many columns, 1 to 256 (default: 24)\n"
    "      --communities C     CommGram: at most so many bars in one (default: as found)\n"
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
    "      --shape SHAPE       landscape: list, matrix, histogram, 3d or layout (default: 3d, with "
    "--layout\n"
    "                          layout)\n"
    "      --arrange BY        dependencies: layer (default), step, or window: the lateness of "
    "ranks "
    "as the job\n"
    "                          runs\n"
    "      --layout FILE       landscape: ranks as points where the formulas of this file put them "
    "(ParaProf's\n"
    "                          BEGIN VIZ=NAME ... END VIZ)\n"
    "      --select WHAT       rank:N, pair:A-B, node:HOST, region:N, call:NAME, or, by names of "
    "vertices,\n"
    "                          link:(0,0)-(0,1), route:A-B, vertex:A\n"
    "      --suggest WHAT      ask for a better mapping, mapping:OBJECTIVE (hop-bytes, max-link or "
    "inter-node),\n"
    "                          or routes of what is selected; may be repeated; a snapshot waits "
    "for "
    "the result\n"
    "      --apply             show the network as suggested, both suggestions one on top of the "
    "other\n"
    "      --compare WHAT      with --apply, and of two runs: show the network before, after "
    "(default "
    "with\n"
    "                          --apply), the difference (default of two runs), or both side by "
    "side\n"
    "      --no-collectives    CommGram: without the messages that stand for collectives\n"
    "      --size WxH          size of the window or picture in pixels (default: 1600x900)\n"
    "      --scale N           size of letters and lines, 0.5 to 4 (default: 1)\n"
    "      --theme THEME       dark or light\n"
    "      --since-start       sums since the start of the job, not of the visible time\n"
    "      --snapshot FILE     take a picture without a display and leave; FILE.txt: the scene as "
    "text\n"
    "      --save-in DIR       where the window saves pictures, pages, scenes and mappings\n"
    "                          (default: the working directory)\n"
    "      --after S           take it after S seconds of data, or when the job has ended "
    "(default: 5)\n"
    "  -h, --help\n"
    "  -V, --version\n"
    "\n"
    "Press ? in the window for keys.\n";

static int view_options_size(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    (void)option;
    int w, h, used = 0;
    if (sscanf(text, "%5dx%5d%n", &w, &h, &used) != 2 || text[used] || w < 320 || h < 200 ||
        w > 16384 || h > 16384)
        return -1;
    o->w = w;
    o->h = h;
    return 0;
}

static int view_options_rank_list(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    (void)option;
    if (strlen(text) >= sizeof o->ranks || strchr(text, '.') || rank_spans_check(text, MODEL_RANKS))
        return -1;
    strcpy(o->ranks, text);
    return 0;
}

/* "mapping", "mapping:max-link" or "routes". */
static int view_options_suggestion(void *user, const struct command_option *option,
                                   const char *text)
{
    struct options *o = user;
    (void)option;
    static const char mapping[] = "mapping:";
    if (!strcmp(text, "routes")) {
        o->suggest |= 1 << SUGGEST_ROUTES;
        return 0;
    }
    int given = !strncmp(text, mapping, strlen(mapping));
    if (!given && strcmp(text, "mapping"))
        return -1;
    o->suggest |= 1 << SUGGEST_MAPPING;
    o->objective = REMAP_HOP_BYTES;
    if (!given)
        return 0;
    while (o->objective < REMAP_OBJECTIVES &&
           strcmp(text + strlen(mapping), ui_objective_name((enum remap_objective)o->objective)))
        o->objective++;
    return o->objective < REMAP_OBJECTIVES ? 0 : -1;
}

static int view_options_view(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    (void)option;
    o->view = place_find(text);
    return o->view < 0 ? -1 : 0;
}

static int view_options_mapping(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    (void)option;
    if (o->mapping_count == OPTIONS_MAPPINGS)
        return -1;
    o->mappings[o->mapping_count++] = text;
    return 0;
}

static int view_options_select(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    (void)option;
    o->select = text;
    return ui_select_kind(text) == SELECT_NONE ? -1 : 0;
}

/* "before.hrec,after.hrec", or "before.hrec//after.hrec", where names may have commas */
static int view_options_names(void *user, const struct command_option *option, const char *text)
{
    struct options *o = user;
    const char *between = strstr(text, "//"), *second = between ? between + 2 : NULL;
    (void)option;
    if (!between && (between = strchr(text, ',')) != NULL)
        second = between + 1;
    if (!between || between == text || !second[0])
        return -1;
    snprintf(o->name_text[0], sizeof o->name_text[0], "%.*s", (int)(between - text), text);
    snprintf(o->name_text[1], sizeof o->name_text[1], "%s", second);
    for (int i = 0; i < 2; i++)
        o->names[i] = o->name_text[i];
    return 0;
}

/* @return 0, or -1 after setting why */
static int view_options_read(struct options *o, int argc, char **argv, char *why, size_t capacity)
{
    static const char *const themes[] = {[THEME_DARK] = "dark", [THEME_LIGHT] = "light", NULL};
    static const char *const compares[] = {
        [COMPARE_BEFORE] = "before", [COMPARE_AFTER] = "after", "difference", "both", NULL};
    static const char *const shapes[] = {"list", "matrix", "histogram", "3d", "layout", NULL};
    static const char *const arrangements[] = {
        [BY_LAYER] = "layer", [BY_STEP] = "step", [BY_WINDOW] = "window", NULL};
    const struct command_option options[] = {
        {"connect", 'c', .text = &o->endpoint},
        {"ssh", .text = &o->ssh_host},
        {"finder", .number = &o->finder, .least = 3, .most = 1e6},
        {"against", .text = &o->against},
        {"play", .flag = &o->play},
        {"names", .set = view_options_names},
        {"keys", .text = &o->key_dir},
        {"job", 'j', .text = &o->job},
        {"view", .set = view_options_view},
        {"at", .text = &o->at},
        {"size", .set = view_options_size},
        {"scale", .real = &o->scale, .least = 0.5, .most = 4},
        {"theme", .word = &o->theme, .words = themes},
        {"since-start", .flag = &o->since_start},
        {"snapshot", .text = &o->snapshot},
        {"save-in", .text = &o->save_in},
        {"after", .real = &o->after, .most = 1e6},
        {"phases", .number = &o->phases, .least = 1, .most = UI_MAXIMUM_PHASES},
        {"communities", .number = &o->communities, .least = 1, .most = MODEL_RANKS},
        {"from", .real = &o->from, .least = -1e9, .most = 1e9},
        {"to", .real = &o->to, .least = -1e9, .most = 1e9},
        {"ranks", .set = view_options_rank_list},
        {"mapping", .set = view_options_mapping},
        {"select", .set = view_options_select},
        {"suggest", .set = view_options_suggestion},
        {"layout", .text = &o->layout},
        {"shape", .word = &o->shape, .words = shapes},
        {"arrange", .word = &o->arrange, .words = arrangements},
        {"apply", .flag = &o->apply},
        {"compare", .word = &o->compare, .words = compares},
        {"no-collectives", .flag = &o->no_collectives},
        {"help", 'h', .flag = &o->show_help},
        {"version", 'V', .flag = &o->show_version},
        {0},
    };
    const struct command_option *const tables[] = {options, NULL};
    struct command_option_end end;
    if (command_options_read(tables, false, o, argc, argv, &end) == COMMAND_OPTIONS_READ)
        return 0;
    if (end.option)
        snprintf(why, capacity, "--%s cannot be '%s'", end.option->name, end.word);
    else
        command_option_explain(&end, why, capacity);
    return -1;
}

/* What an address sets. @return 0, or -1 after setting why */
static int view_options_address(struct options *o, char *why, size_t capacity)
{
    struct address *a = &o->address;
    char fault[200];
    if (address_parse(a, o->at, fault, sizeof fault)) {
        snprintf(why, capacity, "--at: %s", fault);
        return -1;
    }
    if (a->select[0] && ui_select_kind(a->select) == SELECT_NONE) {
        snprintf(why, capacity, "--at: '%.60s' names nothing that can be selected", a->select);
        return -1;
    }
    if (o->view >= 0 || o->select) {
        snprintf(why, capacity, "--at cannot be combined with --view or --select");
        return -1;
    }
    o->view = (int)a->view;
    o->from = isnan(a->from) ? o->from : a->from;
    o->to = isnan(a->to) ? o->to : a->to;
    o->since_start |= a->since_start;
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *why, size_t capacity)
{
    *o = (struct options){.view = -1,
                          .save_in = ".",
                          .shape = -1,
                          .compare = -1,
                          .w = 1600,
                          .h = 900,
                          .after = 5,
                          .scale = 1,
                          .from = NAN,
                          .to = NAN};
    if (view_options_read(o, argc, argv, why, capacity) < 0)
        return -HOLTER_EUSAGE;
    if (o->at && view_options_address(o, why, capacity) < 0)
        return -HOLTER_EUSAGE;
    /* Which is first of a time since the begin and one before the end is known with the job only.
     */
    if (o->from > o->to && !signbit(o->from) == !signbit(o->to)) {
        snprintf(why, capacity, "--from %g is after --to %g", o->from, o->to);
        return -HOLTER_EUSAGE;
    }
    o->play |= o->against != NULL;
    if (o->compare < 0)
        o->compare = o->against ? COMPARE_DIFFERENCE : COMPARE_AFTER;
    if (optind < argc) {
        snprintf(why, capacity, "unexpected argument '%s'", argv[optind]);
        return -HOLTER_EUSAGE;
    }
    return 0;
}
