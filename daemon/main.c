/* holterd: starts its modules in order, runs the loop, finishes them in reverse. */
#include "daemon/alert/rules.h"
#include "daemon/alert/sinks.h"
#include "daemon/daemon_options.h"
#include "daemon/job/daemon_time.h"
#include "daemon/job/jobs.h"
#include "daemon/replay/replay.h"
#include "daemon/replay/results.h"
#include "daemon/server/control.h"
#include "daemon/server/front.h"
#include "daemon/server/publish.h"
#include "daemon/server/sockets.h"
#include "daemon/server/zap.h"
#include "daemon/topology/network_grid.h"
#include "daemon/topology/shared_network.h"
#include "holter/error.h"
#include "proto/log.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define LOG_TOPIC "main"
#define TICK_MS 20                    /* how exactly grace is kept */
#define MOST_PAIRS 131072u            /* rows of pairs published for one window: 8 parts */
#define LOST_NS UINT64_C(30000000000) /* a job whose agents are all silent for so long is lost */

enum { EXIT_USAGE = 2 };

struct daemon {
    struct options options;
    struct timeline timeline;
    uint64_t instance;
    void *context;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t tick;
    struct listen_locks locks;
    struct rules rules;
    struct network network;
    struct sinks *sinks;
    struct zap *zap;
    struct publisher *publisher;
    struct jobs *jobs;
    struct captures *captures;
    struct control *control;
    struct front *front;
    int leaving;
};

/* ---- what modules tell each other ---------------------------------------- */

static void leave(struct daemon *d)
{
    d->leaving = 1;
    uv_stop(&d->loop);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    struct daemon *d = user;
    if (d->front != NULL)
        front_ack(d->front, instance, seq);
}

static void on_tell_agents(void *user, const uint64_t *instances, size_t count,
                           const struct wire_criteria *message)
{
    struct daemon *d = user;
    if (d->front != NULL)
        front_tell_agents(d->front, instances, count, WIRE_TYPE_CRITERIA, message);
}

static void on_ask_capture(void *user, const uint64_t *instances, size_t count,
                           const struct wire_capture_ask *ask)
{
    struct daemon *d = user;
    if (d->front != NULL)
        front_tell_agents(d->front, instances, count, WIRE_TYPE_CAPTURE_ASK, ask);
}

static int on_send(void *user, const void *id, size_t length, enum wire_type type,
                   const void *message)
{
    const struct daemon *d = user;
    struct peer *peer = front_peer(d->front, id, length);
    return peer == NULL ? -HOLTER_EUNREACHABLE : front_send(d->front, peer, type, message);
}

static void on_alert(void *user, const struct wire_alert *alert)
{
    struct daemon *d = user;
    if (d->captures != NULL) /* none of a recording that is continued */
        captures_alert(d->captures, alert);
}

static void on_captured(void *user, uint64_t instance, const struct wire_captured *captured,
                        uint64_t id)
{
    captures_captured(((struct daemon *)user)->captures, instance, captured, id);
}

static uint64_t on_ask_kept(void *user, uint64_t instance)
{
    return jobs_kept(((struct daemon *)user)->jobs, instance);
}

static int on_take(void *user, uint64_t instance, const struct wire_message *message,
                   zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault)
{
    return jobs_take(((struct daemon *)user)->jobs, instance, message, bytes, now_ns, fault);
}

static void on_left(void *user, uint64_t instance, int in_order)
{
    if (in_order)
        jobs_bye(((struct daemon *)user)->jobs, instance);
}

static void on_request(void *user, struct peer *peer, const struct wire_request *request)
{
    struct daemon *d = user;
    control_request(d->control, d->front, peer, request);
}

static void on_turn(void *user, uint64_t heard_ns, uint64_t now_ns)
{
    struct daemon *d = user;
    jobs_advance(d->jobs, heard_ns, now_ns);
    captures_tick(d->captures, now_ns);
}

static void on_stop(void *user)
{
    leave(user);
}

static void on_stop_when_idle(void *user)
{
    ((struct daemon *)user)->options.quit_when_idle = 1;
}

static void on_signal(uv_signal_t *signal, int number)
{
    log_info("leaving on signal %d", number);
    leave(signal->data);
}

static void on_tick(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    uint64_t now = timeline_now(&d->timeline);
    front_tick(d->front);
    sinks_check(d->sinks);
    jobs_advance(d->jobs, front_heard(d->front, now), now);
    captures_tick(d->captures, now);
    if (!d->options.quit_when_idle || !jobs_idle(d->jobs))
        return;
    struct front_counts counts;
    front_count(d->front, &counts);
    if (counts.had_agents && counts.agents == 0) {
        log_info("leaving: all jobs have ended and all agents have gone");
        leave(d);
    }
}

/* ---- start and finish ---------------------------------------------------- */

/* One descriptor for each connection: as many as the system lets us have. */
static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int start_loop(struct daemon *d)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    int code = uv_loop_init(&d->loop);
    if (code != 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        code = code != 0 ? code : uv_signal_start(&d->signals[i], on_signal, numbers[i]);
    }
    uv_timer_init(&d->loop, &d->tick);
    d->tick.data = d;
    return code;
}

static int open_sockets(struct daemon *d, const struct front_verbs *verbs, char *why, size_t room)
{
    void *socket;
    struct port *port;
    int code = sockets_front(&socket, d->context, &d->options, &d->locks, why, room);
    code = code != 0 ? code : port_open_socket(&port, &d->loop, socket);
    if (code == 0)
        code = front_create(&d->front, port, &d->options, &d->timeline, d->instance, verbs);
    code = code != 0 ? code : publisher_create(&d->publisher);
    code = code != 0 ? code : sockets_stream(&socket, d->context, &d->options, why, room);
    code = code != 0 ? code : port_open_socket(&port, &d->loop, socket);
    if (code == 0)
        publisher_open(d->publisher, port, d->instance);
    return code;
}

static int start_modules(struct daemon *d, char *why, size_t room)
{
    struct options *o = &d->options;
    d->context = zmq_ctx_new();
    if (d->context == NULL)
        return -zmq_errno();
    zmq_ctx_set(d->context, ZMQ_MAX_SOCKETS, zmq_ctx_get(d->context, ZMQ_SOCKET_LIMIT));
    if (o->keys != NULL) {
        int code = zap_create(&d->zap, d->context, &d->loop, o->keys);
        if (code != 0) {
            snprintf(why, room, "keys in %s cannot be used: %s", o->keys, holter_strerror(code));
            return code;
        }
    }
    struct front_verbs verbs = {d, on_ask_kept, on_take, on_left, on_request, on_turn};
    int code = open_sockets(d, &verbs, why, room);
    if (code != 0)
        return code;
    code = sinks_create(&d->sinks, &d->rules, &(struct sinks_options){.terminal = STDOUT_FILENO});
    if (code != 0) {
        snprintf(why, room, "no sinks for alerts: %s", holter_strerror(code));
        return code;
    }
    struct jobs_options jobs = {
        .job = {.window_ns = o->window_ns,
                .grace_ns = o->grace_ns,
                .lost_ns = LOST_NS,
                .most_pairs = MOST_PAIRS,
                .modelled = !o->no_collectives,
                .beside = o->replay == NULL,
                .network = &d->network,
                .rules = &d->rules},
        .record = o->record,
        .most_bytes = o->most_bytes,
        .publisher = publisher_for_jobs(d->publisher),
        .sinks = d->sinks,
        .user = d,
        .kept = on_kept,
        .tell_agents = on_tell_agents,
        .alert = on_alert,
        .captured = on_captured,
    };
    code = jobs_create(&d->jobs, &d->loop, &jobs, why, room);
    struct captures_options captures = {d->jobs, &d->rules, d, on_ask_capture, on_send};
    code = code != 0 ? code : captures_create(&d->captures, &captures);
    struct control_options control = {.options = o,
                                      .timeline = &d->timeline,
                                      .jobs = d->jobs,
                                      .publisher = d->publisher,
                                      .captures = d->captures,
                                      .sinks = d->sinks,
                                      .network = &d->network,
                                      .user = d,
                                      .stop = on_stop,
                                      .stop_when_idle = on_stop_when_idle};
    return code != 0 ? code : control_create(&d->control, &d->loop, &control);
}

static void finish(struct daemon *d)
{
    jobs_destroy(d->jobs, timeline_now(&d->timeline));
    control_destroy(d->control);
    captures_destroy(d->captures);
    publisher_destroy(d->publisher);
    front_destroy(d->front);
    zap_destroy(d->zap);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    uv_close((uv_handle_t *)&d->tick, NULL);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    uv_loop_close(&d->loop);
    if (d->context != NULL)
        zmq_ctx_term(d->context);
    listen_finish(&d->locks);
    sinks_destroy(d->sinks); /* may wait for those that are slow: last */
    rules_finish(&d->rules);
    network_finish(&d->network);
}

static int serve(struct daemon *d)
{
    char why[512] = "no memory";
    int code = start_loop(d);
    if (code == 0)
        network_read(&d->network, d->options.topology);
    if (d->network.fault[0] != '\0')
        log_warn("going on without the network of %s", d->options.topology);
    code = code != 0 ? code : start_modules(d, why, sizeof(why));
    if (code != 0) {
        log_error("%s", why);
        finish(d);
        return EXIT_FAILURE;
    }
    uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
    for (size_t i = 0; i < d->options.listen_count; i++)
        log_info("listening on %s", d->options.listen[i]);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    finish(d);
    return EXIT_SUCCESS;
}

static void on_fault(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
}

/* @return -1 to go on, or the exit status */
static int read_command_line(struct daemon *d, int argc, char **argv)
{
    char why[512];
    enum options_verdict verdict = options_parse(&d->options, argc, argv, why, sizeof(why));
    if (verdict == OPTIONS_SHOWN)
        return EXIT_SUCCESS;
    if (verdict == OPTIONS_WRONG) {
        log_error("%s", why);
        return EXIT_USAGE;
    }
    if (options_rules(&d->options, &d->rules, on_fault, NULL) != 0)
        return EXIT_USAGE;
    if (verdict != OPTIONS_CHECK)
        return -1;
    printf("%s: %zu rules, %zu sinks\n",
           d->options.rules == NULL ? "built-in rules" : d->options.rules, d->rules.count,
           d->rules.sink_count);
    rules_finish(&d->rules);
    return EXIT_SUCCESS;
}

/* Written into a file of the user's, which keeps its mode. */
static int make_results(struct daemon *d)
{
    char why[600];
    int code = results_make(&d->options, &d->rules, stdout, why, sizeof(why));
    if (code != 0)
        log_error("%s", why);
    rules_finish(&d->rules);
    return code == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    log_start("holterd", -1);
    int status = read_command_line(&d, argc, argv);
    if (status >= 0)
        return status;
    umask(0077);
    raise_limits();
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit (setrlimit(2)) is a full disk */
    if (d.options.results)
        return make_results(&d);
    if (d.options.replay != NULL)
        return replay_serve(&d.options, &d.rules);
    timeline_init(&d.timeline);
    if (getrandom(&d.instance, sizeof(d.instance), 0) != sizeof(d.instance)) {
        log_error("no random number: %s", holter_strerror(-errno));
        return EXIT_FAILURE;
    }
    return serve(&d);
}
