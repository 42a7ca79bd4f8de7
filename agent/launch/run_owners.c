/* Who a session's directory belongs to: the runs that use it are registered in its "owners". When
 * none of them lives any more, all is removed. */
#include "agent/launch/registration.h"
#include "agent/launch/rendezvous.h"
#include "agent/launch/run.h"
#include "agent/terminal/paths.h"
#include "holter/plain_text.h"
#include "holter/session.h"
#include "proto/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAXIMUM_ATTEMPTS 100

int run_owners_join(const struct run_session *session)
{
    char owners[PATH_MAX + 8], host[HOST_NAME_CAPACITY];
    int rc = 0;
    snprintf(owners, sizeof owners, "%s/owners", session->dir);
    host_name(host);
    for (int attempts = 0; attempts < MAXIMUM_ATTEMPTS; attempts++) {
        if ((mkdir(session->dir, 0700) < 0 && errno != EEXIST) ||
            (mkdir(owners, 0700) < 0 && errno != EEXIST))
            rc = -errno;
        else
            rc = registration_write(owners, (int32_t)getpid(), host);
        if (rc != -ENOENT) /* another run has swept them away between two steps */
            break;
    }
    return rc;
}

struct run_owners_census {
    int32_t self; /* not counted */
    int living;
};

/* Of the processes of other hosts, which may share the directory, nothing is known. */
static void run_owners_count(void *user, const struct registration *owner)
{
    struct run_owners_census *census = user;
    char host[HOST_NAME_CAPACITY];
    host_name(host);
    census->living +=
        owner->pid != census->self && (owner->alive || strcmp(owner->word, host) != 0);
}

/** @return how many are registered, when none of them lives but for this process; -1: one does;
 *  -ENOENT: no list has been made yet */
static int run_owners_find_dead(const char *dir, int32_t self)
{
    char owners[PATH_MAX + 8];
    struct stat status;
    struct run_owners_census census = {.self = self};
    snprintf(owners, sizeof owners, "%s/owners", dir);
    if (lstat(dir, &status) < 0 || status.st_uid != geteuid())
        return -1;
    int count = registration_each(owners, run_owners_count, &census);
    return census.living == 0 ? count : -1;
}

static void run_owners_remove(const char *dir)
{
    static const char *const parts[] = {"bin", "owners"};
    char path[PATH_MAX + 16], keys[PATH_MAX];
    snprintf(path, sizeof path, "%s/own-keys", dir);
    ssize_t length = readlink(path, keys, sizeof keys - 1);
    if (length > 0) {
        keys[length] = '\0';
        paths_remove_flat(keys);
        rmdir(dirname(keys)); /* stays while another session's keys are there */
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, parts[i]);
        paths_remove_flat(path);
    }
    paths_remove_flat(dir);
}

int run_owners_have_note(const struct run_session *session, const char *name)
{
    char owners[PATH_MAX + 8];
    int noted = 0;
    snprintf(owners, sizeof owners, "%s/owners", session->dir);
    DIR *d = opendir(owners);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        noted |= text_begins(e->d_name, name);
    if (d != NULL)
        closedir(d);
    return noted;
}

void run_owners_read_alone(const struct run_session *session, const char *job, char *out,
                           size_t capacity)
{
    char path[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/owners/alone.%s", session->dir, job);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t length = fd < 0 ? 0 : read(fd, out, capacity - 1);
    if (fd >= 0)
        close(fd);
    out[length > 0 ? length : 0] = '\0';
}

void run_owners_leave(const struct run_session *session)
{
    char owners[PATH_MAX + 8];
    snprintf(owners, sizeof owners, "%s/owners", session->dir);
    if (run_owners_find_dead(session->dir, (int32_t)getpid()) >= 0)
        run_owners_remove(session->dir);
    else
        registration_remove(owners, (int32_t)getpid());
}

/** @return whether ranks or an agent, of any host, are in a session */
static int run_owners_have_ranks(const char *dir)
{
    DIR *d = opendir(dir);
    int others = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat status;
        others += e->d_name[0] != '.' && strcmp(e->d_name, "bin") != 0 &&
                  strcmp(e->d_name, "owners") != 0 &&
                  fstatat(dirfd(d), e->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISDIR(status.st_mode);
    }
    if (d != NULL)
        closedir(d);
    return others > 0;
}

/* Remove the directories of a run that was killed before it was registered in them, if there is
 * nothing else: a session may be used without a run, and one that begins makes them again. */
static void run_owners_remove_unused(const char *dir)
{
    char owners[PATH_MAX + 8];
    snprintf(owners, sizeof owners, "%s/owners", dir);
    DIR *d = opendir(owners);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] == '.') /* a registration that is not complete; "." and ".." refuse */
            unlinkat(dirfd(d), e->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(owners);
    rmdir(dir);
}

void run_owners_sweep(const char *run_dir)
{
    char dir[PATH_MAX];
    rendezvous_sweep(run_dir); /* what no agent serves on this host any more */
    DIR *d = opendir(run_dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (!session_key_valid(e->d_name) ||
            snprintf(dir, sizeof dir, "%s/%s", run_dir, e->d_name) >= (int)sizeof dir)
            continue;
        const int dead = run_owners_find_dead(dir, 0);
        if (dead > 0 && !run_owners_have_ranks(dir))
            run_owners_remove(dir);
        else if (dead == 0 || dead == -ENOENT)
            run_owners_remove_unused(dir);
    }
    if (d != NULL)
        closedir(d);
}
