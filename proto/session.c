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
static int session_format(char *out, size_t room, const char *first, const char *second)
{
    int length = snprintf(out, room, "%s%s", first, second);
    return length < 0 || (size_t)length >= room ? -HOLTER_ERANGE : 0;
}

/* A directory that another user owns or may write to could hold his sockets in place of ours. */
static int session_check_private(const char *path)
{
    struct stat status;
    if (lstat(path, &status))
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

int session_run_dir(char *out, size_t room)
{
    char path[4096];
    const char *chosen = getenv("HOLTER_RUN_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    int error;
    if (chosen && *chosen) {
        error = session_format(path, sizeof path, chosen, "");
    } else if (runtime && *runtime == '/' && access(runtime, W_OK | X_OK) == 0) {
        error = session_format(path, sizeof path, runtime, "/holter");
    } else {
        char uid[24];
        snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
        error = session_format(path, sizeof path, "/tmp/holter-", uid);
    }
    if (error)
        return error;
    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    error = session_check_private(path);
    return error ? error : session_format(out, room, path, "");
}

int session_default_endpoint(char *out, size_t room)
{
    char directory[4096], path[sizeof directory + sizeof "/" SOCKET_NAME];
    int error = session_run_dir(directory, sizeof directory);
    if (!error)
        error = session_format(path, sizeof path, directory, "/" SOCKET_NAME);
    return error ? error : session_format(out, room, "ipc://", path);
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

int session_find_daemon(char *out, size_t room)
{
    const char *named = getenv("HOLTER_DAEMON");
    if (named && *named)
        return session_format(out, room, named, "");
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
    return newest.path[0] ? session_format(out, room, "ipc://", newest.path)
                          : session_default_endpoint(out, room);
}

int session_find_keys(char *out, size_t room, const char *endpoint)
{
    const char *named = getenv("HOLTER_KEYS"), *slash = strrchr(endpoint, '/');
    if (named && *named)
        return session_format(out, room, named, "");
    char path[4096] = "";
    if (strncmp(endpoint, "ipc:///", 7) == 0) {
        int length =
            snprintf(path, sizeof path, "%.*s/keys", (int)(slash - endpoint - 6), endpoint + 6);
        if (length < 0 || (size_t)length >= sizeof path)
            return -HOLTER_ERANGE;
        if (access(path, R_OK | X_OK))
            path[0] = '\0';
    }
    return session_format(out, room, path, "");
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
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
            *c = '_';
    }
}
