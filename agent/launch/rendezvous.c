/* Registrations and locks of a session on this node, as files under the run directory. */
#include "agent/launch/rendezvous.h"

#include "agent/terminal/paths.h"
#include "holter/error.h"
#include "holter/segment.h"
#include "holter/session.h"
#include "proto/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A segment whose process is dead is left alone this long, seconds, when its header was never
 * completed, since its maker may live in another pid namespace that shares /dev/shm; and when its
 * session has no directory here, since an agent with another run directory may be about to read it.
 */
#define UNCLEAR_AGE 60

/** This host's name as that of a directory. @return 0 or -HOLTER_ERANGE */
static int rendezvous_host_directory(char out[HOST_NAME_CAPACITY])
{
    host_name(out);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    return out[0] != '\0' && strcmp(out, ".") != 0 && strcmp(out, "..") != 0 ? 0 : -HOLTER_ERANGE;
}

int rendezvous_init(struct rendezvous *r, const char *run_dir, const char *session)
{
    char host[HOST_NAME_CAPACITY];
    if (!session_key_valid(session) || rendezvous_host_directory(host) != 0)
        return -HOLTER_ERANGE;
    snprintf(r->session, sizeof r->session, "%s", session);
    int n = snprintf(r->session_dir, sizeof r->session_dir, "%s/%s", run_dir, session);
    if (n < 0 || (size_t)n >= sizeof r->session_dir)
        return -HOLTER_ERANGE;
    n = snprintf(r->dir, sizeof r->dir, "%s/%s", r->session_dir, host);
    if (n < 0 || (size_t)n >= sizeof r->dir)
        return -HOLTER_ERANGE;
    snprintf(r->ranks, sizeof r->ranks, "%s/ranks", r->dir);
    return 0;
}

static int rendezvous_make_dir(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

static int rendezvous_make_dirs(const struct rendezvous *r)
{
    int rc = rendezvous_make_dir(r->session_dir);
    if (rc == 0)
        rc = rendezvous_make_dir(r->dir);
    if (rc == 0)
        rc = rendezvous_make_dir(r->ranks);
    return rc;
}

static int rendezvous_lock_file(const char *path, int operation)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    while (flock(fd, operation) != 0) {
        if (errno == EINTR)
            continue;
        int rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}

/* Is this descriptor still the file of that name? A leaving agent unlinks lock files while others
 * wait for the lock: what they get then is a lock on a file without a name, which excludes nobody.
 */
static int rendezvous_is_still_named(int fd, const char *path)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

/* @return descriptor that holds the gate, or -errno (-EWOULDBLOCK only with LOCK_NB) */
static int rendezvous_enter_gate(const struct rendezvous *r, int nonblocking)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/gate", r->dir);
    for (;;) {
        if (!nonblocking) {
            int rc = rendezvous_make_dirs(r);
            if (rc == -ENOENT) /* a leaving agent took the parent away between two steps */
                continue;
            if (rc != 0)
                return rc;
        }
        int fd = rendezvous_lock_file(path, LOCK_EX | (nonblocking ? LOCK_NB : 0));
        if (fd == -ENOENT && !nonblocking)
            continue;
        if (fd < 0)
            return fd;
        if (rendezvous_is_still_named(fd, path))
            return fd;
        close(fd);
        if (nonblocking)
            return -EWOULDBLOCK;
    }
}

static int rendezvous_acquire_agent_lock(const struct rendezvous *r)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/agent.lock", r->dir);
    return rendezvous_lock_file(path, LOCK_EX | LOCK_NB);
}

int rendezvous_each(const struct rendezvous *r,
                    void (*each)(void *user, const struct registration *registration), void *user)
{
    return registration_each(r->ranks, each, user);
}

void rendezvous_forget(const struct rendezvous *r, int32_t pid)
{
    registration_remove(r->ranks, pid);
}

static int rendezvous_sweep_segments(const char *run_dir, const char *held_session);

struct sweep {
    const struct rendezvous *r;
    int removed;
};

static void rendezvous_remove_and_count(void *user, const struct registration *registration)
{
    struct sweep *sweep = user;
    if (registration->alive)
        return;
    rendezvous_forget(sweep->r, registration->pid);
    sweep->removed++;
}

/* The caller has gate and lock of the session: what is dead now no agent will come to look at. */
static void rendezvous_sweep_before_start(const struct rendezvous *r)
{
    char run_dir[PATH_MAX];
    struct sweep sweep = {r, 0};
    rendezvous_each(r, rendezvous_remove_and_count, &sweep);
    snprintf(run_dir, sizeof run_dir, "%s", r->session_dir);
    *strrchr(run_dir, '/') = '\0';
    rendezvous_sweep_segments(run_dir, r->session);
}

int rendezvous_join(const struct rendezvous *r, int32_t pid, const char *job, int *lock_fd)
{
    int gate = rendezvous_enter_gate(r, 0);
    if (gate < 0)
        return gate;
    int lock = rendezvous_acquire_agent_lock(r);
    int rc = lock >= 0 ? 1 : lock == -EWOULDBLOCK ? 0 : lock;
    if (rc == 1)
        rendezvous_sweep_before_start(r);
    int written = rc < 0 ? rc : registration_write(r->ranks, pid, job);
    if (written != 0)
        rc = written;
    if (rc == 1)
        *lock_fd = lock;
    else if (lock >= 0)
        close(lock);
    close(gate);
    return rc;
}

int rendezvous_lock(const struct rendezvous *r, int *lock_fd)
{
    int gate = rendezvous_enter_gate(r, 0);
    if (gate < 0)
        return gate;
    int lock = rendezvous_acquire_agent_lock(r);
    if (lock >= 0)
        rendezvous_sweep_before_start(r);
    close(gate);
    if (lock < 0)
        return lock == -EWOULDBLOCK ? -EEXIST : lock;
    *lock_fd = lock;
    return 0;
}

/* In the forked process: become the agent, or report the error through the pipe. Async-signal-safe
 * calls only (the caller may have threads). */
static void rendezvous_exec_agent(const char *path, char **argv, int lock_fd, int report_fd)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    pid_t agent = fork();
    if (agent > 0)
        _exit(0);
    if (agent == 0) {
        /* All but lock and report are closed in exec, whoever opened them. */
        syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
        fcntl(lock_fd, F_SETFD, 0);
        execv(path, argv);
    }
    int why = errno;
    close(lock_fd); /* whoever reads the report finds the lock free */
    ssize_t written = write(report_fd, &why, sizeof why);
    _exit(written == (ssize_t)sizeof why ? 127 : 126);
}

int rendezvous_spawn(const char *path, const char *const argv[], int lock_fd)
{
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    char number[16], *option = "--lock-fd";
    snprintf(number, sizeof number, "%d", lock_fd);
    char **full = calloc(count + 3, sizeof *full);
    int report[2] = {-1, -1}, rc = full == NULL ? -ENOMEM : 0;
    if (rc == 0 && pipe2(report, O_CLOEXEC) != 0)
        rc = -errno;
    if (rc == 0) {
        memcpy(full, argv, count * sizeof *full);
        full[count] = option;
        full[count + 1] = number;
        pid_t pid = fork();
        if (pid == 0)
            rendezvous_exec_agent(path, full, lock_fd, report[1]);
        if (pid < 0)
            rc = -errno;
        close(report[1]);
        int why = 0;
        while (rc == 0 && read(report[0], &why, sizeof why) < 0 && errno == EINTR) {
        }
        if (rc == 0 && why != 0)
            rc = -why;
        close(report[0]);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(full);
    close(lock_fd);
    return rc;
}

void rendezvous_note_uninitialised(const struct rendezvous *r)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/owners/uninitialised", r->session_dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
}

static void rendezvous_count_alive(void *user, const struct registration *registration)
{
    if (registration->alive)
        *(int *)user = 1;
}

int rendezvous_is_made_here(const struct segment *segment)
{
    char host[HOST_NAME_CAPACITY];
    host_name(host);
    return strncmp(host, segment->host, sizeof segment->host - 1) == 0;
}

static int rendezvous_is_of_other_host(const char *path)
{
    struct segment *segment;
    size_t bytes;
    if (segment_open(&segment, &bytes, path, 0) != 0)
        return 0;
    const int other = !rendezvous_is_made_here(segment);
    segment_unmap(segment, bytes);
    return other;
}

/* @return 1 when a segment of the session and this host is in /dev/shm, dead or alive */
static int rendezvous_has_segments(const struct rendezvous *r)
{
    DIR *d = opendir("/dev/shm");
    int left = 0;
    for (struct dirent *entry; d != NULL && !left && (entry = readdir(d)) != NULL;) {
        uint32_t uid;
        char session[32], path[80];
        int32_t pid;
        snprintf(path, sizeof path, "/%.78s", entry->d_name);
        left = segment_name_parse(entry->d_name, &uid, session, &pid) == 0 &&
               uid == (uint32_t)getuid() && strcmp(session, r->session) == 0 &&
               segment_is_own(path) && !rendezvous_is_of_other_host(path);
    }
    if (d != NULL)
        closedir(d);
    return left;
}

/* The caller has gate and lock. @return 0 when the session's files on this node are gone, or -EBUSY
 */
static int rendezvous_remove_unless_used(const struct rendezvous *r)
{
    int alive = 0;
    rendezvous_each(r, rendezvous_count_alive, &alive);
    if (alive || rendezvous_has_segments(r))
        return -EBUSY;
    char path[PATH_MAX];
    paths_remove_flat(r->ranks);
    snprintf(path, sizeof path, "%s/agent.lock", r->dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/gate", r->dir);
    unlink(path);
    rmdir(r->dir);
    rmdir(r->session_dir); /* stays while the daemon's socket or another host's files are in it */
    return 0;
}

int rendezvous_leave(const struct rendezvous *r, int lock_fd)
{
    int gate = rendezvous_enter_gate(r, 1), rc = -EAGAIN;
    if (gate >= 0)
        rc = rendezvous_remove_unless_used(r);
    else if (gate == -ENOENT) /* somebody removed the directory: nobody finds this agent any more */
        rc = rendezvous_has_segments(r) ? -EBUSY : 0;
    if (rc == 0)
        close(lock_fd);
    if (gate >= 0)
        close(gate);
    return rc;
}

static int rendezvous_process_is_dead(int32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static int rendezvous_segment_is_old(const char *name)
{
    char path[NAME_MAX + sizeof "/dev/shm/"];
    struct stat status;
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    return lstat(path, &status) == 0 && status.st_uid == getuid() &&
           time(NULL) - status.st_mtime > UNCLEAR_AGE;
}

/* @return 1 when nobody will ever use this segment again */
static int rendezvous_segment_is_stale(const char *name, int32_t pid)
{
    char path[NAME_MAX + sizeof "/dev/shm/"];
    snprintf(path, sizeof path, "/%s", name);
    if (!segment_is_own(path))
        return 0;
    struct segment *segment;
    size_t bytes;
    if (segment_open(&segment, &bytes, path, 0) == 0) {
        int stale = rendezvous_is_made_here(segment) && !segment_owner_alive(segment);
        segment_unmap(segment, bytes);
        return stale;
    }
    return rendezvous_process_is_dead(pid) && rendezvous_segment_is_old(name);
}

/* Take gate and lock of a session, when no agent serves it.
 * @return 1 with both (-1, -1 when the session has no directory here), 0 when an agent serves it or
 * somebody is in the gate */
static int rendezvous_hold_session(const char *run_dir, const char *session, int *gate, int *lock)
{
    struct rendezvous r;
    struct stat status;
    *gate = *lock = -1;
    if (rendezvous_init(&r, run_dir, session) != 0)
        return 0;
    if (stat(r.dir, &status) != 0)
        return errno == ENOENT;
    *gate = rendezvous_enter_gate(&r, 1);
    if (*gate < 0)
        return 0;
    *lock = rendezvous_acquire_agent_lock(&r);
    if (*lock >= 0)
        return 1;
    close(*gate);
    return 0;
}

static void rendezvous_release_session(int gate, int lock)
{
    if (lock >= 0)
        close(lock);
    if (gate >= 0)
        close(gate);
}

static int rendezvous_sweep_segments(const char *run_dir, const char *held_session)
{
    DIR *d = opendir("/dev/shm");
    int removed = 0;
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        uint32_t uid;
        char session[32], path[80];
        int32_t pid;
        int gate = -1, lock = -1;
        if (segment_name_parse(entry->d_name, &uid, session, &pid) != 0 ||
            uid != (uint32_t)getuid() || strlen(entry->d_name) > sizeof path - 2 ||
            !rendezvous_segment_is_stale(entry->d_name, pid))
            continue;
        if (strcmp(session, held_session) != 0 &&
            (!rendezvous_hold_session(run_dir, session, &gate, &lock) ||
             (gate < 0 && !rendezvous_segment_is_old(entry->d_name))))
            continue;
        snprintf(path, sizeof path, "/%.78s", entry->d_name);
        removed += shm_unlink(path) == 0;
        rendezvous_release_session(gate, lock);
    }
    if (d != NULL)
        closedir(d);
    return removed;
}

int rendezvous_sweep(const char *run_dir)
{
    int removed = rendezvous_sweep_segments(run_dir, "");
    DIR *d = opendir(run_dir);
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        struct rendezvous r;
        int gate, lock;
        if (rendezvous_init(&r, run_dir, entry->d_name) != 0 ||
            !rendezvous_hold_session(run_dir, entry->d_name, &gate, &lock))
            continue;
        struct sweep sweep = {&r, 0};
        if (gate >= 0) {
            rendezvous_each(&r, rendezvous_remove_and_count, &sweep);
            rendezvous_remove_unless_used(&r);
        }
        removed += sweep.removed;
        rendezvous_release_session(gate, lock);
    }
    if (d != NULL)
        closedir(d);
    return removed;
}
