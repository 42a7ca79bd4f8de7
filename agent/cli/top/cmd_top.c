/* holter top: shows the live stream in a terminal. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/top/top_layout.h"
#include "agent/cli/top/top_model.h"
#include "agent/cli/top/top_screen.h"
#include "agent/terminal/terminal.h"
#include "holter/clock.h"
#include "holter/error.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char help[] =
    "usage: holter top [OPTION]...\n"
    "\n"
    "Shows a running job in the terminal: latency of the job, within and between nodes and of\n"
    "each region, alerts with their evidence, the ranks that wait longest, and the agents.\n"
    "\n"
    "      --once            print one page as text, and end\n"
    "  -j, --job ID          this job; otherwise the newest running one, or the next to come\n"
    "  -c, --connect ENDPOINT  the daemon, tcp://HOST:PORT or ipc:///PATH, or a fleet,\n"
    "                          nats://HOST:PORT,...[/CLUSTER[/JOB]]; default: HOLTER_DAEMON,\n"
    "                          else the newest session of this user on this host\n"
    "      --keys DIR        CURVE keys, when the daemon asks for them\n"
    "      --timeout SECONDS how long to wait for the daemon, and with --once for a job\n"
    "                        (default 5, of a fleet 30)\n"
    "\n"
    "Keys: q quit, arrows or j and k choose an alert, Enter shows its evidence, s sorts the\n"
    "ranks, p or space pauses, ? helps.\n"
    "\n"
    "Status: 0, 1 when the daemon is out of reach or, with --once, there is no job, 2 for wrong\n"
    "usage, or when standard output is no terminal and --once is not given.\n";

#define TOPICS "job,places,totals,ranks,nodes,alerts,latency,regions,replay"
#define CHECK_MS 250        /* interval of checks whether the daemon moved or is unreachable */
#define FRAME_NS 100000000u /* drawn at most ten times a second */
#define REFRESH_NS UINT64_C(5000000000) /* minimum interval of snapshots after missed frames */
#define PLAIN_COLUMNS 100               /* size of a page that is printed to a file */
#define PLAIN_ROWS 60

struct top {
    struct dial dial;
    struct client *client;
    struct top_screen *screen; /* NULL: printed once */
    struct top_model model;
    struct top_view view;
    struct top_page *page; /* owned */
    const char *job;       /* NULL: the newest */
    int once;
    int signals; /* signalfd of the signals that end the command */
    bool changed;
    uint64_t run;          /* run of the daemon, or of its replay, that the model shows */
    uint64_t missed;       /* missed frames at the last refresh */
    uint64_t refreshed_ns; /* CLOCK_MONOTONIC; 0: not yet */
};

/* @return -1 to go on, or the exit status */
static int cmd_top_parse(struct top *top, int argc, char **argv)
{
    const struct command_option options[] = {
        {"once", .flag = &top->once},
        {"job", 'j', .text = &top->job},
        {0},
    };
    const struct command_line line = {"top", help, .options = options};
    int status = dial_parse(&top->dial, &line, argc, argv);
    top->job = dial_job(&top->dial, top->job);
    if (status >= 0 || top->once || (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO)))
        return status;
    terminal_print(
        "top: standard input and output must be a terminal; `holter top --once` prints one page");
    return 2;
}

/* ---- receiving --------------------------------------------------------------- */

/* Another run of a replay may be at an earlier time, whose messages would look outdated: reset. */
static void cmd_top_notice_run(struct top *top)
{
    uint64_t run = client_instance(top->client);
    if (run == top->run)
        return;
    if (client_replays(top->client))
        top_model_finish(&top->model);
    top->run = run;
}

/* @return 0, or a negative error */
static int cmd_top_apply_messages(struct top *top)
{
    struct client_message got;
    int result;
    while ((result = client_next(top->client, 0, &got)) == 1) {
        if (top->view.paused || wire_topic(got.message->type) == NULL)
            continue;
        if (got.snapshot)
            cmd_top_notice_run(top);
        int rc = top_model_apply(&top->model, got.message, got.snapshot);
        if (rc != 0)
            return rc;
        top->changed = true;
    }
    return result;
}

static enum top_link cmd_top_link_of(const struct client *client)
{
    switch (client_state(client)) {
    case CLIENT_CONNECTED:
        return TOP_LIVE;
    case CLIENT_LOST:
        return TOP_LOST;
    default:
        return TOP_DIALLING;
    }
}

static void cmd_top_follow(struct top *top)
{
    if (dial_moved(&top->dial, &top->client))
        client_follow(top->client, dial_job(&top->dial, top->job), TOPICS);
}

/* A missed frame may have been the end of an alert or of the job: request a snapshot. */
static void cmd_top_recover_missed(struct top *top)
{
    uint64_t now = clock_mono_ns(), missed = client_missed(top->client);
    if (missed == top->missed || !client_is_current(top->client) ||
        (top->refreshed_ns != 0 && now - top->refreshed_ns < REFRESH_NS))
        return;
    top->missed = missed;
    top->refreshed_ns = now;
    client_refresh(top->client);
}

/* ---- printed once --------------------------------------------------------------- */

static void set_plain_size(struct top_view *view)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    view->rows = PLAIN_ROWS;
    view->columns = PLAIN_COLUMNS;
    if (asked > 0 && asked <= TOP_MOST_COLUMNS)
        view->columns = (int)asked;
    else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        view->columns = size.ws_col;
}

static int print_page(struct top *top)
{
    top->view.link = cmd_top_link_of(top->client);
    set_plain_size(&top->view);
    top_layout(&top->model, &top->view, top->page);
    for (int i = 0; i < top->page->count; i++) {
        const char *text = top->page->lines[i].text;
        size_t length = strlen(text);
        while (length > 0 && text[length - 1] == ' ')
            length--;
        printf("%.*s\n", (int)length, text);
    }
    return terminal_flush_output("top");
}

static int run_once(struct top *top)
{
    uint64_t end = clock_mono_ns() + top->dial.patience_ns;
    while (!client_is_current(top->client) || !top->model.job[0]) {
        struct pollfd watched = {.fd = top->signals, .events = POLLIN};
        int result = cmd_top_apply_messages(top);
        if (result < 0) {
            terminal_print("top: %s", holter_strerror(result));
            return 1;
        }
        if (client_is_current(top->client) && top->model.job[0])
            break;
        if (clock_mono_ns() >= end) {
            terminal_print("top: there is no job%s%s at %s", top->job != NULL ? " " : "",
                           top->job != NULL ? top->job : "", top->dial.endpoint);
            return 1;
        }
        client_wait(top->client, &watched, 1, CHECK_MS);
        if (watched.revents)
            return 1;
        cmd_top_follow(top);
    }
    return print_page(top);
}

/* ---- live --------------------------------------------------------------------------- */

static void cmd_top_choose(struct top *top, int step)
{
    size_t count = top->model.alert_count;
    if (count == 0)
        return;
    size_t at = top_chosen(&top->model, &top->view);
    if (step < 0 && at > 0)
        at--;
    if (step > 0 && at + 1 < count)
        at++;
    top->view.alert = top->model.alerts[at]->message.alert.id;
}

/* Messages are ignored while paused: request a snapshot afterwards. */
static void toggle_pause(struct top *top)
{
    top->view.paused = !top->view.paused;
    if (!top->view.paused)
        client_refresh(top->client);
}

/* @return 1 to quit */
static int cmd_top_handle_keys(struct top *top)
{
    enum top_key key;
    while ((key = top_screen_key()) != TOP_KEY_NONE) {
        struct top_view *view = &top->view;
        top->changed = true;
        if (key == TOP_KEY_QUIT)
            return 1;
        if (key == TOP_KEY_UP || key == TOP_KEY_DOWN)
            cmd_top_choose(top, key == TOP_KEY_UP ? -1 : 1);
        else if (key == TOP_KEY_ENTER)
            view->evidence = !view->evidence;
        else if (key == TOP_KEY_PAUSE)
            toggle_pause(top);
        else if (key == TOP_KEY_SORT)
            view->sort = (view->sort + 1) % TOP_SORTS;
        else if (key == TOP_KEY_HELP)
            view->help = !view->help;
    }
    return 0;
}

static void cmd_top_draw(struct top *top)
{
    top_screen_size(&top->view.rows, &top->view.columns);
    top_layout(&top->model, &top->view, top->page);
    top_screen_draw(top->screen, top->page);
    top->changed = false;
}

/* @return 0 when a key or a signal ends it, or a negative error */
static int cmd_top_watch(struct top *top)
{
    uint64_t drawn = 0;
    for (;;) {
        int result = cmd_top_apply_messages(top);
        enum top_link now = cmd_top_link_of(top->client);
        top->changed = top->changed || now != top->view.link;
        top->view.link = now;
        if (result < 0)
            return result;
        if (client_state(top->client) == CLIENT_REFUSED)
            return -HOLTER_EDENIED;
        if (cmd_top_handle_keys(top))
            return 0;
        cmd_top_follow(top);
        cmd_top_recover_missed(top);
        uint64_t since = clock_mono_ns() - drawn;
        if (top->changed && since >= FRAME_NS) {
            cmd_top_draw(top);
            drawn = clock_mono_ns();
        }
        struct pollfd watched[] = {{.fd = top->signals, .events = POLLIN},
                                   {.fd = STDIN_FILENO, .events = POLLIN}};
        /* The signal of a resized terminal interrupts the wait, too. */
        client_wait(top->client, watched, 2, top->changed ? (int)(FRAME_NS / 1000000) : CHECK_MS);
        if (watched[0].revents || (watched[1].revents & POLLERR))
            return 0;
    }
}

static int run_live(struct top *top)
{
    int result = top_screen_create(&top->screen);
    if (result == -ENOTTY) {
        const char *term = getenv("TERM");
        terminal_print(
            "top: cannot draw on a terminal of type \"%s\"; `holter top --once` prints one page",
            term ? term : "");
        return 1;
    }
    top->changed = true;
    top->view.keys = true;
    result = result ? result : cmd_top_watch(top);
    top_screen_destroy(top->screen);
    if (result == -HOLTER_EDENIED)
        terminal_print("top: %s", client_error(top->client));
    else if (result < 0)
        terminal_print("top: %s", holter_strerror(result));
    return result < 0;
}

/* ---- start and end ---------------------------------------------------------------------- */

static int cmd_top_run(struct top *top)
{
    int status = dial_wait(&top->dial, &top->client);
    if (status)
        return status;
    top->signals = end_signals_open(1); /* until here they end the process by themselves */
    if (client_follow(top->client, top->job, TOPICS)) {
        terminal_print("top: %s", client_error(top->client));
        return 2;
    }
    return top->once ? run_once(top) : run_live(top);
}

int cmd_top(int argc, char **argv)
{
    static const uint64_t no_bound = 0;
    struct top top = {
        .dial = {.role = ROLE_VIEWER, .job = &top.job, .waits_ns = &no_bound, .once = &top.once},
        .signals = -1};
    int status = cmd_top_parse(&top, argc, argv);
    if (status >= 0)
        return status;
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    top.view.utf8 = top_screen_utf8();
    top.view.daemon = top.dial.endpoint;
    top.page = calloc(1, sizeof *top.page);
    status = top.page ? dial_open(&top.dial, &top.client) : 1;
    if (status == 0)
        status = cmd_top_run(&top);
    top_model_finish(&top.model);
    client_destroy(top.client);
    free(top.page);
    if (top.signals >= 0)
        close(top.signals);
    return status;
}
