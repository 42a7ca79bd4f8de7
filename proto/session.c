/* Run directory, keys of sessions, job ids. */
#include "holter/session.h"

#include "holter/error.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "holterd.sock"

/* @return 0 or -HOLTER_ERANGE */
static int session_format(char *out, size_t capacity, const char *first, const char *second)
{
    int length = snprintf(out, capacity, "%s%s", first, second);
    return length < 0 || (size_t)length >= capacity ? -HOLTER_ERANGE : 0;
}

/* Does it belong to the user, and may nobody else write to it? */
static int session_is_own(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void session_describe_owner(const char *path, uid_t owner, char *why, size_t capacity)
{
    snprintf(why, capacity, "%s belongs to the user with number %u", path, owner);
}

int session_check_shared_file(const char *path, char *why, size_t capacity)
{
    struct stat file, directory;
    char parent[4096];
    const char *name = strrchr(path, '/');
    if (snprintf(parent, sizeof parent, "%.*s.", name ? (int)(name - path) + 1 : 0, path) >=
            (int)sizeof parent ||
        lstat(path, &file) || stat(parent, &directory) || !(directory.st_mode & S_IWOTH) ||
        file.st_uid == geteuid() || file.st_uid == directory.st_uid)
        return 0;
    session_describe_owner(path, file.st_uid, why, capacity);
    return -EACCES;
}

/* Make a directory unless it is there. One that another user owns or may write to could hold his
 * sockets in place of ours.
 * @param why  set on failure */
static int session_use_directory(const char *path, char *why, size_t capacity)
{
    struct stat status;
    if ((mkdir(path, 0700) && errno != EEXIST) || lstat(path, &status)) {
        const int error = errno;
        snprintf(why, capacity, "%s: %s", path, strerror(error));
        return -error;
    }
    if (status.st_uid != geteuid()) { /* a link is its maker's, whatever it leads to */
        session_describe_owner(path, status.st_uid, why, capacity);
        return -EPERM;
    }
    if (!S_ISDIR(status.st_mode)) {
        snprintf(why, capacity, "%s is no directory", path);
        return -ENOTDIR;
    }
    if (session_is_own(&status))
        return 0;
    snprintf(why, capacity, "%s: other users may write to it", path);
    return -EPERM;
}

/* Below the home directory, which may be shared by hosts, for when somebody else has taken the name
 * in /tmp. */
static int session_use_home(char path[4096], char *why, size_t capacity)
{
    const char *home = getenv("HOME");
    char host[256] = "", parent[4096], fault[256];
    if (home == NULL || *home != '/' || gethostname(host, sizeof host - 1) != 0 ||
        session_format(parent, sizeof parent, home, "/.holter") ||
        snprintf(path, 4096, "%s/run-%s", parent, host) >= 4096 ||
        session_use_directory(parent, fault, sizeof fault))
        return -EPERM; /* `why` is about /tmp */
    return session_use_directory(path, why, capacity);
}

/* $XDG_RUNTIME_DIR as it has to be (XDG Base Directory Specification). After su or sudo -E it may
 * be that of another user, who could replace what is in it. */
static int session_is_runtime_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && session_is_own(&status) &&
           access(path, W_OK | X_OK) == 0;
}

int session_explain_run_dir(char *out, size_t capacity, char *why, size_t why_capacity)
{
    char path[4096];
    const char *chosen = getenv("HOLTER_RUN_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    const int is_chosen = chosen && *chosen;
    const int is_runtime = runtime && *runtime == '/' && session_is_runtime_directory(runtime);
    int error;
    if (is_chosen && *chosen != '/') { /* processes with other working directories have to meet */
        snprintf(why, why_capacity, "HOLTER_RUN_DIR=%s: the path must begin at the root", chosen);
        return -EINVAL;
    }
    snprintf(why, why_capacity, "the path is too long");
    if (is_chosen) {
        error = session_format(path, sizeof path, chosen, "");
    } else if (is_runtime) {
        error = session_format(path, sizeof path, runtime, "/holter");
    } else {
        char uid[24];
        snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
        error = session_format(path, sizeof path, "/tmp/holter-", uid);
    }
    if (!error)
        error = session_use_directory(path, why, why_capacity);
    if (error == -EPERM && !is_chosen && !is_runtime)
        error = session_use_home(path, why, why_capacity);
    return error ? error : session_format(out, capacity, path, "");
}

int session_run_dir(char *out, size_t capacity)
{
    char why[256];
    return session_explain_run_dir(out, capacity, why, sizeof why);
}

int session_explain_default_endpoint(char *out, size_t capacity, char *why, size_t why_capacity)
{
    char directory[4096], path[sizeof directory + sizeof "/" SOCKET_NAME];
    int error = session_explain_run_dir(directory, sizeof directory, why, why_capacity);
    if (error)
        return error;
    error = session_format(path, sizeof path, directory, "/" SOCKET_NAME);
    if (!error)
        error = session_format(out, capacity, "ipc://", path);
    if (error)
        snprintf(why, why_capacity, "the path is too long");
    return error;
}

int session_default_endpoint(char *out, size_t capacity)
{
    char why[256];
    return session_explain_default_endpoint(out, capacity, why, sizeof why);
}

/* A daemon that was killed leaves its socket behind: nobody listens on that. */
static int is_served(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (session_format(address.sun_path, sizeof address.sun_path, path, ""))
        return 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    int served =
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN;
    close(fd);
    return served;
}

struct newest {
    char path[4096];
    struct timespec made;
};

static void session_compare_newest(struct newest *newest, const char *path)
{
    struct stat status;
    if (lstat(path, &status) || !S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
        return;
    const struct timespec *made = &status.st_mtim;
    if (newest->path[0] &&
        (made->tv_sec < newest->made.tv_sec ||
         (made->tv_sec == newest->made.tv_sec && made->tv_nsec <= newest->made.tv_nsec)))
        return;
    if (is_served(path) && !session_format(newest->path, sizeof newest->path, path, ""))
        newest->made = *made;
}

int session_find_daemon(char *out, size_t capacity)
{
    const char *named = getenv("HOLTER_DAEMON");
    if (named && *named)
        return session_format(out, capacity, named, "");
    char directory[2048], path[4096];
    int error = session_run_dir(directory, sizeof directory);
    if (error)
        return error;
    struct newest newest = {.path = ""};
    snprintf(path, sizeof path, "%s/" SOCKET_NAME, directory);
    session_compare_newest(&newest, path);
    DIR *sessions = opendir(directory);
    for (struct dirent *entry; sessions && (entry = readdir(sessions));) {
        if (!session_key_valid(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s/" SOCKET_NAME, directory, entry->d_name);
        session_compare_newest(&newest, path);
    }
    if (sessions)
        closedir(sessions);
    return newest.path[0] ? session_format(out, capacity, "ipc://", newest.path)
                          : session_default_endpoint(out, capacity);
}

int session_find_keys(char *out, size_t capacity, const char *endpoint)
{
    const char *named = getenv("HOLTER_KEYS"), *slash = strrchr(endpoint, '/');
    if (named && *named)
        return session_format(out, capacity, named, "");
    char path[4096] = "";
    if (strncmp(endpoint, "ipc:///", 7) == 0) {
        int length =
            snprintf(path, sizeof path, "%.*s/keys", (int)(slash - endpoint - 6), endpoint + 6);
        if (length < 0 || (size_t)length >= sizeof path)
            return -HOLTER_ERANGE;
        if (access(path, R_OK | X_OK))
            path[0] = '\0';
    }
    return session_format(out, capacity, path, "");
}

void session_key_of(const char *endpoint, char out[17])
{
    /* FNV-1a, 64 bits (draft-eastlake-fnv, section 2): names things, protects nothing. */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const unsigned char *c = (const unsigned char *)endpoint; *c; c++)
        hash = (hash ^ *c) * UINT64_C(0x100000001b3);
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

int session_key_valid(const char *key)
{
    size_t length = strnlen(key, 32);
    return length >= 1 && length <= 31 && strspn(key, "0123456789abcdefABCDEF") == length;
}

void session_job_id(char out[64], const char *base, const char *step)
{
    /* The step tells one mpirun from the next: a long base must not push it out. */
    size_t step_length = strnlen(step, 31);
    int base_length = (int)(62 - step_length);
    snprintf(out, 64, "%.*s.%.*s", base_length, base, (int)step_length, step);
    for (char *c = out; *c; c++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c) ||
            (c == out && *c == '.'))
            *c = '_';
    }
}
