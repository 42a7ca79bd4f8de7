/* The ssh tunnel to a daemon on another host. */
#include "viewer/link/ssh.h"

#include "holter/error.h"
#include "holter/session.h"
#include "proto/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct ssh_tunnel {
    pid_t pid;
    int ended, status;
    int errors; /* what ssh says, read end */
    char said[512];
    char directory[256];
    char front[300], stream[300]; /* endpoints, "ipc://" + path */
};

/* Finds the user's newest daemon on the other host: the same search as session_find_daemon() does
 * here. The login shell there, which may be csh or fish, only starts sh: there are no single quotes
 * in what that reads. */
static const char find_daemon[] =
    "exec sh -c '"
    "d=${HOLTER_RUN_DIR:-${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/holter}}; d=${d:-/tmp/holter-$(id "
    "-u)}; "
    "[ -O \"$d\" ] && [ ! -L \"$d\" ] || d=$HOME/.holter/run-$(uname -n); "
    "s=$(ls -t \"$d\"/holterd.sock \"$d\"/*/holterd.sock 2>/dev/null | head -n 1); "
    "if [ -n \"${HOLTER_DAEMON:-}\" ]; then echo \"$HOLTER_DAEMON\"; elif [ -n \"$s\" ]; then echo "
    "\"ipc://$s\"; fi'";

static const char *ssh_program(void)
{
    const char *own = getenv("HOLTER_SSH");
    return own && *own ? own : "ssh";
}

/* Where ssh -L leads for an endpoint: "/path" or "host:port". @return 0 or -HOLTER_EUSAGE */
static int ssh_target(char *out, size_t capacity, const char *endpoint)
{
    char why[160];
    if (endpoint_check(endpoint, why, sizeof why) < 0)
        return -HOLTER_EUSAGE;
    int n = !strncmp(endpoint, "ipc://", 6)
                ? snprintf(out, capacity, "%s", endpoint + 6)
                : snprintf(out, capacity, "%s", endpoint + strlen("tcp://"));
    return n < 0 || (size_t)n >= capacity ? -HOLTER_EUSAGE : 0;
}

/* Start a program with its output and errors in pipes (-1: left as they are). The child is its own
 * process group, so that Ctrl-C in the terminal reaches us first and we end it in order. */
static pid_t ssh_start(const char *const *arguments, int out, int errors)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(out >= 0 ? out : nothing, 1);
    dup2(errors, 2);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    dprintf(2, "%s: %s", arguments[0], strerror(errno));
    _exit(127);
}

/* All that comes from a pipe until it ends, at most room - 1 bytes. */
static void ssh_read_all(int fd, char *out, size_t capacity)
{
    size_t n = 0;
    char waste[256];
    for (;;) {
        ssize_t got =
            n + 1 < capacity ? read(fd, out + n, capacity - 1 - n) : read(fd, waste, sizeof waste);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            break;
        if (got > 0 && n + 1 < capacity)
            n += (size_t)got;
    }
    out[n] = 0;
}

static void one_line(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == ' '))
        text[--n] = 0;
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

static int ask_endpoint(const char *host, char *endpoint, size_t capacity, char *why,
                        size_t why_capacity)
{
    int out[2], errors[2];
    if (pipe2(out, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(errors, O_CLOEXEC) < 0) {
        close(out[0]);
        close(out[1]);
        return -errno;
    }
    const char *const arguments[] = {ssh_program(), "-T", host, find_daemon, NULL};
    pid_t pid = ssh_start(arguments, out[1], errors[1]);
    close(out[1]);
    close(errors[1]);
    char said[400] = "";
    int status = 0;
    ssh_read_all(out[0], endpoint, capacity);
    ssh_read_all(errors[0], said, sizeof said);
    close(out[0]);
    close(errors[0]);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -errno;
    one_line(endpoint);
    one_line(said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(why, why_capacity, "ssh %s failed: %s", host, said[0] ? said : "no reason given");
        return -HOLTER_EUNREACHABLE;
    }
    if (!*endpoint) {
        snprintf(why, why_capacity,
                 "no daemon of yours runs on %s; --connect names another endpoint there", host);
        return -HOLTER_EUNREACHABLE;
    }
    return 0;
}

static int ssh_make_directory(struct ssh_tunnel *t, char *why, size_t capacity)
{
    char run[200];
    int error = session_run_dir(run, sizeof run);
    if (!error) {
        snprintf(t->directory, sizeof t->directory, "%s/tunnel-XXXXXX", run);
        error = mkdtemp(t->directory) ? 0 : -errno;
    }
    if (error) {
        t->directory[0] = 0;
        snprintf(why, capacity, "no directory for the tunnel's sockets: %s",
                 holter_strerror(error));
        return error;
    }
    snprintf(t->front, sizeof t->front, "ipc://%s/front", t->directory);
    snprintf(t->stream, sizeof t->stream, "ipc://%s/stream", t->directory);
    return 0;
}

static int ssh_launch(struct ssh_tunnel *t, const char *host, const char *front, const char *stream)
{
    char first[600], second[600];
    int errors[2];
    snprintf(first, sizeof first, "%s:%s", t->front + 6, front);
    snprintf(second, sizeof second, "%s:%s", t->stream + 6, stream);
    if (pipe2(errors, O_CLOEXEC) < 0)
        return -errno;
    const char *const arguments[] = {ssh_program(),
                                     "-N",
                                     "-T",
                                     "-o",
                                     "ExitOnForwardFailure=yes",
                                     "-o",
                                     "ServerAliveInterval=15",
                                     "-o",
                                     "StreamLocalBindUnlink=yes",
                                     "-L",
                                     first,
                                     "-L",
                                     second,
                                     host,
                                     NULL};
    t->pid = ssh_start(arguments, -1, errors[1]);
    int error = t->pid < 0 ? -errno : 0;
    close(errors[1]);
    t->errors = errors[0];
    fcntl(t->errors, F_SETFL, O_NONBLOCK);
    return error;
}

/* Keeps the end of what ssh says. All is read: ssh would wait for that, and the tunnel with it. */
static void listen_to_errors(struct ssh_tunnel *t)
{
    char more[sizeof t->said / 2];
    ssize_t got;
    while ((got = read(t->errors, more, sizeof more - 1)) > 0) {
        more[got] = 0;
        size_t n = strlen(t->said), all = n + strlen(more) + 1,
               over = all > sizeof t->said ? all - sizeof t->said : 0;
        memmove(t->said, t->said + over, n - over + 1);
        strcat(t->said, more);
    }
}

int ssh_ended(struct ssh_tunnel *t, char *why, size_t capacity)
{
    int status;
    if (!t->ended && waitpid(t->pid, &status, WNOHANG) == t->pid) {
        t->ended = 1;
        t->status = status;
    }
    listen_to_errors(t);
    if (!t->ended)
        return 0;
    one_line(t->said);
    snprintf(why, capacity, "ssh ended: %s", t->said[0] ? t->said : "no reason given");
    return 1;
}

/* ssh makes the sockets once it is through; until then it may be asking for a password. */
static int wait_for_sockets(struct ssh_tunnel *t, char *why, size_t capacity)
{
    struct stat front, stream;
    for (;;) {
        if (stat(t->front + 6, &front) == 0 && stat(t->stream + 6, &stream) == 0)
            return 0;
        if (ssh_ended(t, why, capacity))
            return -HOLTER_EUNREACHABLE;
        struct pollfd fd = {.fd = t->errors, .events = POLLIN};
        poll(&fd, 1, 50);
        listen_to_errors(t);
    }
}

int ssh_open(struct ssh_tunnel **out, const char *host, const char *endpoint, char *why,
             size_t capacity)
{
    char found[300], stream[300], front_target[300], stream_target[300];
    if (!*host || *host == '-') {
        snprintf(why, capacity, "--ssh wants the name of a host, not '%s'", host);
        return -HOLTER_EUSAGE;
    }
    if (endpoint)
        snprintf(found, sizeof found, "%s", endpoint);
    int error = endpoint ? 0 : ask_endpoint(host, found, sizeof found, why, capacity);
    if (error)
        return error;
    if (endpoint_stream(stream, sizeof stream, found) < 0 ||
        ssh_target(front_target, sizeof front_target, found) < 0 ||
        ssh_target(stream_target, sizeof stream_target, stream) < 0) {
        snprintf(why, capacity, "%s: not an endpoint, tcp://HOST:PORT or ipc:///PATH", found);
        return -HOLTER_EUSAGE;
    }
    struct ssh_tunnel *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->errors = -1;
    error = ssh_make_directory(t, why, capacity);
    if (!error)
        error = ssh_launch(t, host, front_target, stream_target);
    if (!error)
        error = wait_for_sockets(t, why, capacity);
    if (error) {
        ssh_close(t);
        return error;
    }
    *out = t;
    return 0;
}

void ssh_close(struct ssh_tunnel *t)
{
    if (!t)
        return;
    if (t->pid > 0 && !t->ended) {
        kill(t->pid, SIGTERM);
        waitpid(t->pid, NULL, 0);
    }
    if (t->errors >= 0)
        close(t->errors);
    if (t->directory[0]) {
        unlink(t->front + 6);
        unlink(t->stream + 6);
        rmdir(t->directory);
    }
    free(t);
}

const char *ssh_front(const struct ssh_tunnel *t)
{
    return t->front;
}

const char *ssh_stream(const struct ssh_tunnel *t)
{
    return t->stream;
}
