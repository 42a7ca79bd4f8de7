/* Removes unfinished output by a cleaner process that waits on a pipe. */
#include "agent/terminal/unfinished_output.h"

#include "agent/terminal/terminal.h"
#include "daemon/storage/lock_file.h"
#include "daemon/storage/recording.h"
#include "holter/session.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_AT_ONCE 8 /* open directories while a tree is removed */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

/* A recording may have been locked by another process meanwhile. */
static void remove_file(const char *path)
{
    char lock[PATH_MAX + 8];
    struct stat status;
    recording_remove(path); /* of other files there is nothing beside it */
    snprintf(lock, sizeof(lock), "%s.lock", path);
    if (lstat(lock, &status) == 0)
        lock_file_release(lock_file_acquire(lock), lock);
}

/* Runs in a process of its own: wait for the message that the output is complete, or until all ends
 * of the pipe are closed. */
static _Noreturn void unfinished_output_watch_and_remove(const char *path, const int ends[2])
{
    char byte;
    ssize_t got;
    struct stat status;
    close(ends[1]);
    while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got == 0 && lstat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            nftw(path, remove_entry, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
        else
            remove_file(path);
    }
    _exit(0);
}

/* Start the cleaner of a path. Child processes inherit the pipe: their output is removed after they
 * have ended. The cleaner keeps all signals blocked, so that a signal to the process group does not
 * end it. @return 0, or -errno: nothing will remove the path */
static int unfinished_watch(struct unfinished *u, const char *path)
{
    sigset_t all, before;
    int ends[2], code = 0;
    *u = (struct unfinished){.held = -1};
    if (pipe(ends) != 0)
        return -errno;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    u->cleaner = fork();
    if (u->cleaner == 0)
        unfinished_output_watch_and_remove(path, ends);
    if (u->cleaner < 0)
        code = -errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    u->held = ends[1];
    if (code != 0) {
        close(u->held);
        u->cleaner = 0;
    }
    return code;
}

/* Signals are blocked meanwhile: none may end this process when there is a directory but nothing
 * that removes it. */
int unfinished_make_directory(struct unfinished *u, char *directory)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int code = mkdtemp(directory) == NULL ? -errno : 0;
    if (code == 0 && (code = unfinished_watch(u, directory)) != 0)
        rmdir(directory);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

void unfinished_begin(struct unfinished *u, const char *path)
{
    struct stat status;
    *u = (struct unfinished){.held = -1};
    signal(SIGXFSZ, SIG_IGN);
    if (lstat(path, &status) != 0)
        unfinished_watch(u, path);
}

static void unfinished_output_release(struct unfinished *u, int whole)
{
    if (u->cleaner == 0)
        return;
    while (whole && write(u->held, "", 1) < 0 && errno == EINTR)
        continue;
    close(u->held);
    while (waitpid(u->cleaner, NULL, 0) < 0 && errno == EINTR)
        continue;
    u->cleaner = 0;
}

void unfinished_end(struct unfinished *u)
{
    unfinished_output_release(u, 1);
}

void unfinished_remove(struct unfinished *u)
{
    unfinished_output_release(u, 0);
}

int output_check(const char *path)
{
    char parent[PATH_MAX + 2];
    snprintf(parent, sizeof(parent), "%.*s", PATH_MAX, path);
    size_t end = strlen(parent);
    while (end > 1 && parent[end - 1] == '/')
        end--;
    while (end > 0 && parent[end - 1] != '/')
        end--;
    snprintf(parent + end, sizeof(parent) - end, ".");
    return access(parent, W_OK | X_OK) == 0 ? 0 : -errno;
}

int output_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- files ------------------------------------------------------------------ */

int output_file_open(struct output_file *o, const char *path)
{
    struct stat status;
    char why[PATH_MAX + 100];
    *o = (struct output_file){.path = path};
    if (strcmp(path, "-") == 0) {
        o->file = stdout;
        return 0;
    }
    if (session_check_shared_file(path, why, sizeof why) != 0) {
        terminal_print("%s", why);
        return -EACCES;
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        o->file = fopen(path, "we");
        return o->file == NULL ? -errno : 0;
    }
    int length = snprintf(o->part, sizeof(o->part), "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof(o->part))
        return -ENAMETOOLONG;
    unlink(o->part); /* left by a process whose cleaner was killed */
    unfinished_begin(&o->unfinished, o->part);
    o->file = fopen(o->part, "wxe"); /* never through a link that another user has put there */
    int code = o->file == NULL ? -errno : 0;
    if (code != 0)
        unfinished_end(&o->unfinished);
    return code;
}

int output_file_close(struct output_file *o, int whole)
{
    int code = fflush(o->file) != 0 || ferror(o->file) ? -(errno == 0 ? EIO : errno) : 0;
    if (o->file != stdout && fclose(o->file) != 0 && code == 0)
        code = -errno;
    if (o->part[0] == '\0')
        return code;
    if (whole && code == 0 && rename(o->part, o->path) != 0)
        code = -errno;
    if (!whole || code != 0)
        unlink(o->part);
    unfinished_end(&o->unfinished);
    return code;
}
