/* Plans and opens the session of `holter run`: names, directories, keys and its daemon. */
#include "agent/launch/run.h"

#include "agent/launch/launch_hosts.h"
#include "agent/launch/rank_env.h"
#include "agent/launch/session_options.h"
#include "agent/terminal/terminal.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LEAST_FILES 8 /* that can be opened: sockets, pipes, the daemon's log */
#define PORT_TRIES 16
#define FIRST_PORT 20000u
#define PORTS 12000u /**< below the range that the kernel gives to outgoing connections */

/* A socket's path with ".stream" appended has to fit sockaddr_un. */
#define SOCKET_CAPACITY (sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof ".stream")

static uint64_t run_session_random_number(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = clock_real_ns() ^ (uint64_t)getpid() << 48;
    return number;
}

/* ---- names and places ---------------------------------------------------- */

/** First part of the job ids: the scheduler's number, else the moment, which sorts recordings by
 *  time. A daemon that others use too may meet another command of the same second. */
static void run_session_plan_job(struct run_session *s)
{
    struct rank_env_source source = {.variable = NULL};
    const char *job = rank_env_job(&source);
    time_t now = time(NULL);
    struct tm tm;
    if (job != NULL) { /* a word of command lines that Open MPI splits at spaces */
        snprintf(s->job, sizeof s->job, "%s", job);
        for (char *c = s->job; *c != '\0'; c++)
            if (!isalnum((unsigned char)*c) && strchr("-_.", *c) == NULL)
                *c = '_';
        return;
    }
    size_t length = strftime(s->job, sizeof s->job, "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    if (!s->daemon_wanted)
        snprintf(s->job + length, sizeof s->job - length, "-%06x",
                 (unsigned)(run_session_random_number() & 0xffffff));
}

static int run_session_plan_local(struct run_session *s)
{
    char run_dir[PATH_MAX], why[300];
    if (session_explain_run_dir(run_dir, sizeof run_dir, why, sizeof why) < 0) {
        terminal_print("no directory for sockets: %s; HOLTER_RUN_DIR can name another one", why);
        return -1;
    }
    if (snprintf(s->dir, sizeof s->dir, "%s/%s", run_dir, s->key) >= (int)sizeof s->dir ||
        strlen(s->dir) + strlen("/holterd.sock") > SOCKET_CAPACITY) {
        terminal_print("%s: too long for a socket; HOLTER_RUN_DIR can name a shorter one", run_dir);
        return -1;
    }
    snprintf(s->log, sizeof s->log, "%.*s/holterd.log", (int)sizeof s->log - 16, s->dir);
    if (s->daemon_wanted)
        snprintf(s->local, sizeof s->local, "ipc://%.*s/holterd.sock", (int)sizeof s->local - 24,
                 s->dir);
    return 0;
}

static int run_session_port_is_free(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    int rc = fd < 0 ? -1 : setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (rc == 0)
        rc = bind(fd, (struct sockaddr *)&address, sizeof address);
    if (fd >= 0)
        close(fd);
    return rc == 0;
}

/** A port for the front with the next one free for the stream. */
static unsigned run_session_choose_port(void)
{
    unsigned port = 0;
    for (int i = 0; i < PORT_TRIES; i++) {
        port = FIRST_PORT + (unsigned)(run_session_random_number() % PORTS);
        if (run_session_port_is_free(port) && run_session_port_is_free(port + 1))
            break;
    }
    return port;
}

/** Endpoint that other hosts dial: the one asked for, with this host's address for "all addresses",
 *  or one of our own choice. */
static int run_session_plan_remote(struct run_session *s, const char *listen,
                                   const struct run_target *target)
{
    char address[128] = "";
    static const char *const wildcards[] = {"tcp://*:", "tcp://0.0.0.0:", "tcp://[::]:"};
    const char *port = NULL;
    for (size_t i = 0; listen != NULL && i < sizeof wildcards / sizeof *wildcards; i++)
        if (strncmp(listen, wildcards[i], strlen(wildcards[i])) == 0)
            port = listen + strlen(wildcards[i]);
    if (listen != NULL && port == NULL) {
        snprintf(s->remote, sizeof s->remote, "%s", listen);
        return 0;
    }
    if (launch_hosts_own_address(target->other_host[0] == '\0' ? NULL : target->other_host, address,
                                 sizeof address) < 0) {
        terminal_print(
            "no address of this host is known that other hosts could reach; --listen can name one");
        return -1;
    }
    if (port != NULL)
        snprintf(s->remote, sizeof s->remote, "tcp://%s:%s", address, port);
    else
        snprintf(s->remote, sizeof s->remote, "tcp://%s:%u", address, run_session_choose_port());
    return 0;
}

/** Keys lie where all hosts can read them: in the home directory, which clusters share. */
static int run_session_plan_keys(struct run_session *s, const char *keys)
{
    const char *home = getenv("HOME");
    int private = endpoint_is_private(s->remote[0] != '\0' ? s->remote : s->local);
    if (keys != NULL) {
        if (realpath(keys, s->keys) == NULL) {
            terminal_print("%s: %s", keys, strerror(errno));
            return -1;
        }
        return 0;
    }
    if (!s->daemon_wanted || private)
        return 0;
    int n = home != NULL && home[0] == '/' && access(home, W_OK) == 0
                ? snprintf(s->keys, sizeof s->keys, "%s/.holter/%s", home, s->key)
                : -1;
    char here[PATH_MAX];
    if (n < 0 && getcwd(here, sizeof here) != NULL)
        n = snprintf(s->keys, sizeof s->keys, "%s/.holter/%s", here, s->key);
    s->own_keys = n > 0 && (size_t)n < sizeof s->keys;
    if (!s->own_keys)
        terminal_print("no directory for keys that other hosts could read; --keys can name one");
    return s->own_keys ? 0 : -1;
}

/* @return 0 or a negative error */
static int run_session_find_directory(char out[PATH_MAX], const struct run_options *options,
                                      const char *directory)
{
    if (options->record != NULL && options->dry_run) { /* it would be made */
        snprintf(out, PATH_MAX, "%s", directory);
        return 0;
    }
    int code = options->record == NULL ? 0 : recording_make_directory(directory);
    if (code == 0 && (realpath(directory, out) == NULL || access(out, W_OK | X_OK) < 0))
        code = -errno;
    return code;
}

static void run_session_plan_record(struct run_session *s, const struct run_options *options)
{
    char copy[PATH_MAX];
    const char *directory = options->record == NULL ? "." : options->record;
    if (options->no_record || !s->daemon_wanted)
        return;
    if (options->output != NULL) {
        snprintf(copy, sizeof copy, "%s", options->output);
        directory = dirname(copy);
    }
    int code = run_session_find_directory(s->record, options, directory);
    if (code != 0) {
        terminal_print("%s: %s; nothing is recorded", directory, holter_strerror(code));
        s->record[0] = '\0';
    }
}

int run_session_plan(struct run_session *session, const struct run_options *options,
                     const struct run_target *target)
{
    struct run_session s = {0};
    const char *daemon = session_options_or_environment(options->daemon, "HOLTER_DAEMON");
    const char *key =
        daemon == NULL ? NULL : session_options_or_environment(NULL, "HOLTER_SESSION");
    if (key != NULL && session_key_valid(key) && strlen(key) < sizeof s.key)
        snprintf(s.key, sizeof s.key, "%s", key);
    else
        snprintf(s.key, sizeof s.key, "%016llx", (unsigned long long)run_session_random_number());
    s.daemon_wanted = daemon == NULL;
    run_session_plan_job(&s);
    if (run_session_plan_local(&s) < 0)
        return -1;
    if (daemon != NULL)
        snprintf(s.local, sizeof s.local, "%s", daemon);
    if (s.daemon_wanted && (target->other_hosts || options->listen != NULL) &&
        run_session_plan_remote(&s, options->listen, target) < 0)
        return -1;
    if (run_session_plan_keys(&s, session_options_or_environment(options->keys, "HOLTER_KEYS")) < 0)
        return -1;
    run_session_plan_record(&s, options);
    *session = s;
    return 0;
}

const char *run_agent_endpoint(const struct run_session *session)
{
    return session->remote[0] != '\0' ? session->remote : session->local;
}

/* ---- making and removing ------------------------------------------------- */

static int run_session_make_keys(struct run_session *s)
{
    char parent[PATH_MAX];
    if (!s->own_keys)
        return 0;
    snprintf(parent, sizeof parent, "%s", s->keys);
    int rc = mkdir(dirname(parent), 0700) < 0 && errno != EEXIST ? -errno : curve_make(s->keys);
    if (rc < 0)
        terminal_print("%s: cannot make keys: %s", s->keys, holter_strerror(rc));
    return rc < 0 ? -1 : 0;
}

/** Link the keys where programs of this host look for them, and where the next run finds those that
 *  have to be removed. */
static int run_session_link_keys(const struct run_session *s, const char *name)
{
    char link[PATH_MAX + 16];
    snprintf(link, sizeof link, "%s/%s", s->dir, name);
    return symlink(s->keys, link) < 0 && errno != EEXIST ? -errno : 0;
}

/** What an agent that was killed could not clear away, and sessions whose run was killed. */
static void run_session_sweep(const struct run_session *s)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", s->dir);
    run_owners_sweep(dirname(path));
}

/* Without descriptors for its own ends of sockets libzmq aborts. */
static int run_session_check_files(void)
{
    int files[LEAST_FILES], count = 0;
    while (count < LEAST_FILES && (files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    const int refused = count < LEAST_FILES && (errno == EMFILE || errno == ENFILE);
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (refused)
        terminal_print("too few files can be opened (ulimit -n): %d, but %d are needed", count,
                       LEAST_FILES);
    return refused ? -1 : 0;
}

int run_session_open(struct run_session *session, const struct run_options *options)
{
    if (run_session_check_files() != 0)
        return -1;
    session->options = options;
    session->started = time(NULL);
    run_session_sweep(session);
    int rc = run_owners_join(session);
    if (rc == 0)
        rc = run_shim_create_links(session);
    if (rc == 0 && session->own_keys)
        rc = run_session_link_keys(session, "own-keys");
    if (rc == 0 && session->keys[0] != '\0')
        rc = run_session_link_keys(session, "keys");
    if (rc < 0)
        terminal_print("%s: %s", session->dir, holter_strerror(rc));
    if (rc == 0)
        rc = run_session_make_keys(session);
    if (rc == 0 && session->daemon_wanted)
        rc = run_daemon_start(session);
    if (rc < 0)
        run_session_close(session);
    return rc < 0 ? -1 : 0;
}

void run_session_close(struct run_session *session)
{
    run_daemon_stop(session);
    run_owners_leave(session);
    run_session_sweep(session);
}
