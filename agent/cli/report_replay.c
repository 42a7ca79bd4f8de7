/* The replay for a report: a private daemon on a private socket, and the viewer without a window.
 */
#include "agent/cli/report_extras.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/client.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The replay is aborted when no message arrives for this time. */
#define SILENCE_NS UINT64_C(60000000000)
#define MOST_PICTURE ((off_t)64 << 20)

/* ---- processes ---------------------------------------------------------------------- */

static void report_replay_name_log(const struct report_replay *r, char log[static 100])
{
    snprintf(log, 100, "%s/log", r->directory);
}

static pid_t report_replay_start_program(const struct report_replay *r, const char *const *words)
{
    char log[100];
    report_replay_name_log(r, log);
    return bound_child_start(words, log);
}

/* Print the last line of the log, which has the error. */
static void report_replay_report_log(const struct report_replay *r, const char *what)
{
    char log[100], last[400];
    report_replay_name_log(r, log);
    bound_child_explain(log, last, sizeof(last));
    terminal_print("report: %s%s%s", what, last[0] != '\0' ? ": " : "", last);
}

/* ---- the daemon --------------------------------------------------------------------- */

static int has_left(struct report_replay *r)
{
    if (waitpid(r->daemon, NULL, WNOHANG) == 0)
        return 0;
    r->daemon = 0;
    return 1;
}

static void report_replay_show_progress(struct progress *progress, const struct report_span *span,
                                        uint64_t window)
{
    if (window >= span->first && window <= span->last)
        progress_show(progress,
                      (double)(window - span->first) / ((double)(span->last - span->first) + 1));
}

/* The final state of the job is published when the whole recording was replayed. */
static int wait_for_end(struct report_replay *r, const struct report_span *span)
{
    struct client *client;
    struct client_options options = {.endpoint = r->endpoint, .role = ROLE_VIEWER};
    struct progress progress;
    int ended = 0;
    uint64_t heard_ns = clock_mono_ns();
    if (client_create(&client, &options) != 0 || client_follow(client, "", "job,totals") != 0) {
        terminal_print("report: no memory");
        return 1;
    }
    progress_begin(&progress, "replay");
    while (!ended && !has_left(r) && clock_mono_ns() - heard_ns < SILENCE_NS) {
        struct client_message message;
        int code = client_next(client, 200, &message);
        if (code < 0)
            break;
        if (code == 0)
            continue;
        heard_ns = clock_mono_ns();
        if (message.message->type == WIRE_TYPE_TOTALS)
            report_replay_show_progress(&progress, span, message.message->totals.window);
        ended = message.message->type == WIRE_TYPE_JOB &&
                strcmp(message.message->job.state, "running") != 0;
    }
    progress_end(&progress);
    client_destroy(client);
    if (ended)
        return 0;
    report_replay_report_log(r, "the recording cannot be replayed");
    return 1;
}

/* Find the only recording in a directory. */
static int find_recording(const char *directory, char *out, size_t capacity)
{
    DIR *list = opendir(directory);
    int found = 0;
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".hrec") == 0) {
            snprintf(out, capacity, "%s/%s", directory, entry->d_name);
            found = 1;
        }
    }
    if (list != NULL)
        closedir(list);
    return found;
}

/* The end is published before everything is written: the recording is complete when its lock is
 * released. */
static int await_recording(struct report_replay *r, const char *directory, char *out,
                           size_t capacity)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t since_ns = clock_mono_ns();
    char lock[420];
    for (;;) {
        int left = has_left(r); /* if it left without finishing, waiting is useless */
        if (find_recording(directory, out, capacity)) {
            snprintf(lock, sizeof(lock), "%s.lock", out);
            if (left || access(lock, F_OK) != 0)
                return 1;
        }
        if (left || clock_mono_ns() - since_ns >= SILENCE_NS)
            return 0;
        nanosleep(&pause, NULL);
    }
}

/* ---- life ----------------------------------------------------------------------------- */

int report_replay_start(struct report_replay *r, const char *recording, const char *topology,
                        const struct report_span *span, char *analysed)
{
    char program[PATH_MAX], records[80];
    *r = (struct report_replay){.directory = "/tmp/holter-report-XXXXXX"};
    int code = paths_program(program, sizeof(program), "holterd");
    if (code < 0) {
        terminal_print("report: holterd is not installed beside holter: %s", holter_strerror(code));
        return 1;
    }
    if ((code = unfinished_make_directory(&r->cleaner, r->directory)) != 0) {
        terminal_print("report: %s: %s", r->directory, holter_strerror(code));
        return 1;
    }
    snprintf(r->endpoint, sizeof(r->endpoint), "ipc://%s/d", r->directory);
    snprintf(records, sizeof(records), "%s/records", r->directory);
    const char *words[14] = {program, "--replay", recording, "--listen", r->endpoint};
    int count = 5;
    if (topology != NULL) {
        words[count++] = "--topology";
        words[count++] = topology;
    }
    if (analysed != NULL) {
        words[count++] = "--record";
        words[count++] = records;
    }
    r->daemon = report_replay_start_program(r, words);
    if (r->daemon < 0) {
        terminal_print("report: %s: %s", program, strerror(errno));
        r->daemon = 0;
        return 1;
    }
    if (wait_for_end(r, span) != 0)
        return 1;
    if (analysed == NULL || await_recording(r, records, analysed, 400))
        return 0;
    report_replay_report_log(r, "the replay left no results");
    return 1;
}

void report_replay_stop(struct report_replay *r)
{
    if (r->daemon > 0) {
        kill(r->daemon, SIGTERM);
        waitpid(r->daemon, NULL, 0);
    }
    r->daemon = 0;
    unfinished_remove(&r->cleaner);
}

/* ---- pictures ------------------------------------------------------------------------- */

static void *read_picture(const char *path, size_t *length)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    void *bytes = NULL;
    if (file != NULL && fstat(fileno(file), &status) == 0 && status.st_size > 0 &&
        status.st_size <= MOST_PICTURE)
        bytes = malloc((size_t)status.st_size);
    if (bytes != NULL) {
        *length = fread(bytes, 1, (size_t)status.st_size, file);
        if (*length != (size_t)status.st_size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    return bytes;
}

static int report_replay_take_snapshot(const struct report_replay *r, const char *viewer,
                                       const char *view, struct report_picture *out)
{
    char path[120];
    int status;
    snprintf(path, sizeof(path), "%s/%s.png", r->directory, view);
    const char *words[] = {viewer,       "--connect", r->endpoint, "--view",   view,
                           "--snapshot", path,        "--size",    "1440x810", NULL};
    pid_t pid = report_replay_start_program(r, words);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        return 1;
    out->png = read_picture(path, &out->length);
    return out->png == NULL;
}

size_t report_pictures(const struct report_replay *r, int captures, struct report_picture *out)
{
    static const struct {
        const char *view, *title, *text;
        int of_captures;
    } views[] = {
        {"live", "Live", "Live: curve, regions, evolution, and who waits", 0},
        {"commgram", "CommGram", "CommGram: phases, their communities, and what they send", 0},
        {"matrix", "Matrix", "Matrix: who sends to whom", 0},
        {"links", "Links", "Links of the network, the fullest first", 0},
        {"captures", "Captures", "Captures: the last calls of ranks, as they were read back", 1},
    };
    char viewer[PATH_MAX];
    size_t count = 0;
    if (paths_program(viewer, sizeof(viewer), "holter-view") < 0) {
        terminal_print("report: no pictures: holter-view is not installed beside holter");
        return 0;
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        if (views[i].of_captures && !captures)
            continue;
        out[count] = (struct report_picture){views[i].title, views[i].text, NULL, 0};
        if (report_replay_take_snapshot(r, viewer, views[i].view, &out[count]) == 0)
            count++;
        else
            report_replay_report_log(r, "a picture is missing");
    }
    return count;
}
