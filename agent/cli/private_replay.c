/* Replays a recording for one command: a private daemon on a private socket. */
#include "agent/cli/private_replay.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/client.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The replay is aborted when no message arrives for this time. */
#define SILENCE_NS UINT64_C(60000000000)

/* ---- processes ---------------------------------------------------------------------- */

static void private_replay_name_log(const struct private_replay *r, char log[static 100])
{
    snprintf(log, 100, "%s/log", r->directory);
}

pid_t private_replay_start_program(const struct private_replay *r, const char *const *words)
{
    char log[100];
    private_replay_name_log(r, log);
    return bound_child_start(words, log);
}

void private_replay_report(const struct private_replay *r, const char *what)
{
    char log[100], last[1024];
    private_replay_name_log(r, log);
    bound_child_explain(log, last, sizeof(last));
    terminal_print("%s: %s%s%s", r->command, what, last[0] != '\0' ? ": " : "", last);
}

/* ---- the daemon --------------------------------------------------------------------- */

static int private_replay_has_left(struct private_replay *r)
{
    if (waitpid(r->daemon, NULL, WNOHANG) == 0)
        return 0;
    r->daemon = 0;
    return 1;
}

static void private_replay_show_progress(struct progress *progress, const struct wire_replay *m)
{
    if (m->position_ns >= m->begin_ns && m->position_ns <= m->end_ns)
        progress_show(progress, (double)(m->position_ns - m->begin_ns) /
                                    ((double)(m->end_ns - m->begin_ns) + 1));
}

/* The final state of the job is published when the whole recording was replayed, and after it that
 * of the replay, with what could not be read. */
static int private_replay_wait_for_end(struct private_replay *r)
{
    struct client *client;
    struct client_options options = {.endpoint = r->endpoint, .role = ROLE_VIEWER};
    struct progress progress;
    char fault[257] = "";
    int job_ended = 0, replay_ended = 0;
    uint64_t heard_ns = clock_mono_ns();
    if (client_create(&client, &options) != 0 || client_follow(client, "", "job,replay") != 0) {
        terminal_print("%s: no memory", r->command);
        return 1;
    }
    progress_begin(&progress, "replay");
    while (!(job_ended && replay_ended) && !private_replay_has_left(r) &&
           clock_mono_ns() - heard_ns < SILENCE_NS) {
        struct client_message message;
        int code = client_next(client, 200, &message);
        if (code < 0)
            break;
        if (code == 0)
            continue;
        heard_ns = clock_mono_ns();
        if (message.message->type == WIRE_TYPE_REPLAY) {
            private_replay_show_progress(&progress, &message.message->replay);
            text_copy(fault, sizeof(fault), message.message->replay.fault);
            replay_ended = strcmp(message.message->replay.state, "ended") == 0;
        }
        job_ended |= message.message->type == WIRE_TYPE_JOB &&
                     strcmp(message.message->job.state, "running") != 0;
    }
    progress_end(&progress);
    client_destroy(client);
    if (fault[0] != '\0')
        terminal_print("%s: %s: %s", r->command, r->recording, fault);
    if (job_ended)
        return 0;
    private_replay_report(r, "the recording cannot be replayed");
    return 1;
}

/* Find the only recording in a directory. */
static int private_replay_find_recording(const char *directory, char *out, size_t capacity)
{
    DIR *list = opendir(directory);
    int found = 0;
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (text_ends(entry->d_name, ".hrec")) {
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
static int private_replay_await_recording(struct private_replay *r, const char *directory,
                                          char *out, size_t capacity)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t since_ns = clock_mono_ns();
    char lock[420];
    for (;;) {
        int left =
            private_replay_has_left(r); /* if it left without finishing, waiting is useless */
        if (private_replay_find_recording(directory, out, capacity)) {
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

int private_replay_start(struct private_replay *r, char *analysed)
{
    char program[PATH_MAX], records[80];
    snprintf(r->directory, sizeof(r->directory), "/tmp/holter-replay-XXXXXX");
    if (paths_holterd(program, sizeof(program), r->command) < 0)
        return 1;
    int code = unfinished_make_directory(&r->cleaner, r->directory);
    if (code != 0) {
        terminal_print("%s: %s: %s", r->command, r->directory, holter_strerror(code));
        return 1;
    }
    snprintf(r->endpoint, sizeof(r->endpoint), "ipc://%s/d", r->directory);
    snprintf(records, sizeof(records), "%s/records", r->directory);
    const char *words[14] = {program, "--replay", r->recording, "--listen", r->endpoint};
    int count = 5;
    if (r->topology != NULL) {
        words[count++] = "--topology";
        words[count++] = r->topology;
    }
    if (analysed != NULL) {
        words[count++] = "--record";
        words[count++] = records;
    }
    r->daemon = private_replay_start_program(r, words);
    if (r->daemon < 0) {
        terminal_print("%s: %s: %s", r->command, program, strerror(errno));
        r->daemon = 0;
        return 1;
    }
    if (private_replay_wait_for_end(r) != 0)
        return 1;
    if (analysed == NULL || private_replay_await_recording(r, records, analysed, 400))
        return 0;
    private_replay_report(r, "the replay left no results");
    return 1;
}

void private_replay_stop(struct private_replay *r)
{
    if (r->daemon > 0) {
        kill(r->daemon, SIGTERM);
        waitpid(r->daemon, NULL, 0);
    }
    r->daemon = 0;
    unfinished_remove(&r->cleaner);
}
