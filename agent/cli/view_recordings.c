/* Runs the viewer on recordings: private daemons on private sockets. */
#include "agent/cli/view_recordings.h"

#include "agent/cli/graph_source.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VIEW_WORDS 9 /* that are added to the arguments of the viewer */

int view_recordings_is_name(const char *word)
{
    struct stat status;
    if (word[0] == '-')
        return 0;
    return text_ends(word, ".hrec") ||
           (stat(word, &status) == 0 && S_ISREG(status.st_mode) && graph_source_is_recording(word));
}

int view_recordings_take(struct view_recordings *out, int argc, char **argv)
{
    *out = (struct view_recordings){.arguments = argv, .directory = "/tmp/holter-view-XXXXXX"};
    for (int i = 0; i < argc; i++) {
        if (i == 0 || !view_recordings_is_name(argv[i])) {
            out->whole |= strncmp(argv[i], "--sn", 4) == 0; /* --snapshot, which may be shortened */
            argv[out->argument_count++] = argv[i];
            continue;
        }
        if (out->count == VIEW_RECORDINGS) {
            terminal_print("view: expected one recording, or two to compare");
            return 2;
        }
        out->paths[out->count++] = argv[i];
    }
    argv[out->argument_count] = NULL;
    out->whole |= out->count > 1;
    return -1;
}

/* ---- processes ----------------------------------------------------------- */

static int view_recordings_start_daemon(struct view_recordings *v, const char *program, int which)
{
    char endpoint[96], log[96];
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/%d", v->directory, which);
    snprintf(log, sizeof(log), "%s/log%d", v->directory, which);
    /* A single recording is watched as `holter replay` shows it; two, and pictures, are of the
     * whole. */
    const char *const speed = v->whole ? "max" : "1";
    const char *const words[] = {program,   "--replay", v->paths[which], "--listen", endpoint,
                                 "--speed", speed,      "--paused",      NULL};
    v->daemons[which] = bound_child_start(words, log);
    return v->daemons[which] > 0 ? 0 : -errno;
}

static int view_recordings_start_viewer(struct view_recordings *v)
{
    char endpoints[VIEW_RECORDINGS][96], names[600];
    const char **words = calloc((size_t)v->argument_count + VIEW_WORDS + 1, sizeof(*words));
    int count = v->argument_count;
    if (words == NULL)
        return -ENOMEM;
    for (int i = 0; i < count; i++)
        words[i] = v->arguments[i];
    for (int i = 0; i < v->count; i++)
        snprintf(endpoints[i], sizeof(endpoints[i]), "ipc://%s/%d", v->directory, i);
    words[count++] = "--connect";
    words[count++] = endpoints[0];
    if (v->whole)
        words[count++] = "--play";
    if (v->count > 1) {
        snprintf(names, sizeof(names), "%.255s//%.255s", text_base_name(v->paths[0]),
                 text_base_name(v->paths[1])); /* which have no '/' */
        words[count++] = "--against";
        words[count++] = endpoints[1];
        words[count++] = "--names";
        words[count++] = names;
    }
    v->viewer = bound_child_start(words, NULL);
    free(words);
    return v->viewer > 0 ? 0 : -errno;
}

/* ---- the end ------------------------------------------------------------- */

/* Print the last line of a daemon's log, which has the error. */
static void view_recordings_report(const struct view_recordings *v, int which)
{
    char log[96], last[1024];
    snprintf(log, sizeof(log), "%s/log%d", v->directory, which);
    bound_child_explain(log, last, sizeof(last));
    terminal_print("view: %s cannot be replayed%s%s", v->paths[which], last[0] != '\0' ? ": " : "",
                   last);
}

/* Wait for the viewer; the end of a daemon ends it. @return exit status */
static int view_recordings_wait(struct view_recordings *v)
{
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            return 1;
        if (pid == v->viewer) {
            v->viewer = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
        for (int i = 0; i < v->count; i++) {
            if (pid != v->daemons[i])
                continue;
            v->daemons[i] = 0;
            view_recordings_report(v, i);
            return 1;
        }
    }
}

static void view_recordings_end(struct view_recordings *v)
{
    const pid_t all[] = {v->viewer, v->daemons[0], v->daemons[1]};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i] > 0 && kill(all[i], SIGTERM) == 0)
            waitpid(all[i], NULL, 0);
    }
    unfinished_remove(&v->cleaner);
}

int view_recordings_run(struct view_recordings *v)
{
    char program[PATH_MAX];
    if (paths_holterd(program, sizeof(program), "view") < 0)
        return 1;
    for (int i = 0; i < v->count; i++) {
        if (access(v->paths[i], R_OK) != 0) {
            terminal_print("view: %s: %s", v->paths[i], strerror(errno));
            return 1;
        }
    }
    int code = unfinished_make_directory(&v->cleaner, v->directory);
    if (code != 0) {
        terminal_print("view: %s: %s", v->directory, strerror(-code));
        return 1;
    }
    for (int i = 0; code == 0 && i < v->count; i++)
        code = view_recordings_start_daemon(v, program, i);
    code = code != 0 ? code : view_recordings_start_viewer(v);
    if (code != 0)
        terminal_print("view: %s", holter_strerror(code));
    const int status = code != 0 ? 1 : view_recordings_wait(v);
    view_recordings_end(v);
    return status;
}
