/* holterd: starts its modules in order, runs the loop, finishes them in reverse. */
#include "daemon/alert/rules.h"
#include "daemon/alert/sinks.h"
#include "daemon/daemon_options.h"
#include "daemon/fleet/fleet.h"
#include "daemon/job/daemon_time.h"
#include "daemon/job/jobs.h"
#include "daemon/metrics/metrics_collect.h"
#include "daemon/metrics/metrics_server.h"
#include "daemon/replay/replay.h"
#include "daemon/replay/results.h"
#include "daemon/server/control.h"
#include "daemon/server/front.h"
#include "daemon/server/publish.h"
#include "daemon/server/sockets.h"
#include "daemon/server/zap.h"
#include "daemon/topology/shared_network.h"
#include "holter/error.h"
#include "holter/file_limit.h"
#include "proto/endpoint.h"
#include "proto/host.h"
#include "proto/log.h"
#include "proto/quantity.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define LOG_TOPIC "main"
#define GATHER_NS UINT64_C(250000000) /* at most: agents wait for that long */
#define TICK_MS 20                    /* the accuracy of grace times */
#define MAXIMUM_PAIRS 131072u         /* pairs published per window: 8 messages */
#define LEAST_FILES 64u               /* open ones: of libraries, sockets, a recording, servers */
#define LOST_NS UINT64_C(30000000000) /* a job is lost after such a silence of all its agents */

enum { EXIT_USAGE = 2 };

struct daemon {
    struct daemon_options options;
    struct server_options server_options;
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
    struct metrics_server *metrics; /* NULL: there are none */
    struct fleet *fleet;            /* NULL: this daemon is alone */
    char metrics_token[41];
    uint64_t started_ns; /* daemon time */
    int status;          /* of the process, when it leaves */
    int record_stopped;  /* a recording stopped before its end */
};

/* ---- callbacks between modules ------------------------------------------- */

static void daemon_leave(struct daemon *d)
{
    uv_stop(&d->loop);
}

static void daemon_on_committed(void *user, uint64_t instance, uint64_t seq)
{
    struct daemon *d = user;
    if (d->front != NULL && d->fleet == NULL)
        front_send_ack(d->front, instance, seq);
}

static void daemon_send_agents(struct daemon *d, const uint64_t *instances, size_t count,
                               enum wire_type type, const void *message)
{
    if (d->fleet != NULL)
        fleet_send_agents(d->fleet, instances, count, type, message);
    else if (d->front != NULL)
        front_send_agents(d->front, instances, count, type, message);
}

static void daemon_on_criteria(void *user, const uint64_t *instances, size_t count,
                               const struct wire_criteria *message)
{
    daemon_send_agents(user, instances, count, WIRE_TYPE_CRITERIA, message);
}

static void daemon_on_capture_ask(void *user, const uint64_t *instances, size_t count,
                                  const struct wire_capture_ask *ask)
{
    daemon_send_agents(user, instances, count, WIRE_TYPE_CAPTURE_ASK, ask);
}

static int daemon_on_send(void *user, const struct peer_id *id, enum wire_type type,
                          const void *message)
{
    const struct daemon *d = user;
    struct peer *peer = front_find_peer(d->front, id);
    return peer == NULL ? -HOLTER_EUNREACHABLE : front_send(d->front, peer, type, message);
}

static void daemon_on_alert(void *user, const struct wire_alert *alert)
{
    struct daemon *d = user;
    if (d->captures != NULL) /* not while a recording that is continued is restored */
        captures_alert(d->captures, alert);
}

static void daemon_on_captured(void *user, uint64_t instance, const struct wire_captured *captured,
                               uint64_t id)
{
    captures_captured(((struct daemon *)user)->captures, instance, captured, id);
}

static uint64_t daemon_on_committed_seq(void *user, uint64_t instance)
{
    const struct daemon *d = user;
    return d->fleet != NULL ? fleet_stored_seq(d->fleet, instance)
                            : jobs_last_recorded(d->jobs, instance);
}

static int daemon_on_agent_message(void *user, uint64_t instance,
                                   const struct wire_message *message, zmq_msg_t *bytes,
                                   uint64_t now_ns, struct job_fault *fault)
{
    struct daemon *d = user;
    return d->fleet != NULL ? fleet_ingest(d->fleet, instance, message, bytes, now_ns, fault)
                            : jobs_ingest(d->jobs, instance, message, bytes, now_ns, fault);
}

static void daemon_on_agent_left(void *user, uint64_t instance, const struct wire_bye *bye)
{
    struct daemon *d = user;
    if (bye != NULL && d->fleet != NULL)
        fleet_agent_left(d->fleet, instance, bye, timeline_now(&d->timeline));
    else if (bye != NULL && bye->job != NULL && bye->job[0] != '\0')
        jobs_release_agent_of(d->jobs, bye->job, instance, bye->seq);
    else if (bye != NULL)
        jobs_release_agent(d->jobs, instance, bye->seq); /* it follows those that name a job */
}

static void daemon_on_request(void *user, struct peer *peer, const struct wire_request *request)
{
    struct daemon *d = user;
    control_request(d->control, d->front, peer, request);
}

static void daemon_advance(struct daemon *d, uint64_t watermark_ns, uint64_t now_ns)
{
    if (d->fleet != NULL)
        fleet_check_leases(d->fleet);
    jobs_advance(d->jobs, watermark_ns, now_ns);
}

static void daemon_on_turn(void *user, uint64_t watermark_ns, uint64_t now_ns)
{
    struct daemon *d = user;
    daemon_advance(d, watermark_ns, now_ns);
    captures_tick(d->captures, now_ns);
    if (d->fleet != NULL)
        fleet_tick(d->fleet);
}

static void daemon_on_stop(void *user)
{
    daemon_leave(user);
}

static void daemon_on_refused(void *user)
{
    struct daemon *d = user;
    log_error("--fleet %s: the servers refuse this daemon: leaving", d->options.fleet);
    d->status = EXIT_FAILURE;
    daemon_leave(d);
}

static void daemon_on_stop_when_idle(void *user)
{
    ((struct daemon *)user)->options.quit_when_idle = 1;
}

static void daemon_on_signal(uv_signal_t *signal, int number)
{
    log_info("leaving on signal %d", number);
    daemon_leave(signal->data);
}

static void daemon_on_tick(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    uint64_t now = timeline_now(&d->timeline);
    front_tick(d->front);
    sinks_check(d->sinks);
    daemon_advance(d, front_watermark(d->front, now), now);
    captures_tick(d->captures, now);
    if (d->fleet != NULL)
        fleet_tick(d->fleet);
    if (!d->options.quit_when_idle || !jobs_idle(d->jobs))
        return;
    struct front_counts counts;
    front_count(d->front, &counts);
    if (counts.had_agents && counts.agents_known == 0) {
        log_info("leaving: all jobs have ended and all agents have gone");
        daemon_leave(d);
    }
}

/* ---- start and finish ---------------------------------------------------- */

/* Each connection takes a descriptor: allow as many as the system does. Without those of their own,
 * libzmq and libuv abort. @return whether there are enough to begin with */
static int daemon_raise_limits(void)
{
    const rlim_t limit = file_limit_raise();
    if (limit >= LEAST_FILES)
        return 1;
    log_error("the limit of open files is %llu (ulimit -n): at least %u are needed",
              (unsigned long long)limit, LEAST_FILES);
    return 0;
}

static int daemon_start_loop(struct daemon *d)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    int code = uv_loop_init(&d->loop);
    if (code != 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        code = code != 0 ? code : uv_signal_start(&d->signals[i], daemon_on_signal, numbers[i]);
    }
    uv_timer_init(&d->loop, &d->tick);
    d->tick.data = d;
    return code;
}

static const char *daemon_find_owner(void *user, const char *job_id)
{
    const struct daemon *d = user;
    const struct job *job = d->jobs == NULL ? NULL : jobs_find(d->jobs, job_id);
    return job == NULL ? NULL : job_user(job);
}

/* The id of a job that is over may be that of another user's job from the next report on ranks on:
 * see jobs_ingest(). A fleet reads it later than messages after it come. */
static const char *daemon_find_reporting_user(void *user, const char *job_id, enum wire_type type)
{
    const struct daemon *d = user;
    const struct job *job = d->jobs == NULL ? NULL : jobs_find(d->jobs, job_id);
    const int may_follow = d->fleet != NULL || type == WIRE_TYPE_RANKS;
    return job == NULL || (may_follow && job_state(job) != JOB_RUNNING) ? NULL : job_user(job);
}

static int daemon_open_sockets(struct daemon *d, const struct front_callbacks *callbacks, char *why,
                               size_t capacity)
{
    void *zmq_socket;
    struct msg_socket *socket;
    int code =
        sockets_open_front(&zmq_socket, d->context, &d->server_options, &d->locks, why, capacity);
    code = code != 0 ? code : msg_socket_open_zmq(&socket, &d->loop, zmq_socket);
    if (code == 0)
        code = front_create(&d->front, socket, &d->server_options, &d->timeline, d->instance,
                            callbacks);
    code = code != 0 ? code : publisher_create(&d->publisher);
    if (code == 0 && d->server_options.users)
        publisher_separate_users(d->publisher, daemon_find_owner, d);
    code = code != 0
               ? code
               : sockets_open_stream(&zmq_socket, d->context, &d->server_options, why, capacity);
    code = code != 0 ? code : msg_socket_open_zmq(&socket, &d->loop, zmq_socket);
    if (code == 0)
        publisher_open(d->publisher, socket, d->instance);
    return code;
}

/* Where clients reach this daemon: the host in place of "any address". */
static void daemon_describe_endpoint(const struct daemon *d, char *out, size_t capacity)
{
    static const char *const any[] = {"tcp://*:", "tcp://0.0.0.0:", "tcp://[::]:"};
    const char *endpoint = endpoint_for_others(d->options.listen, d->options.listen_count);
    char host[HOST_NAME_CAPACITY];
    snprintf(out, capacity, "%s", endpoint);
    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
        if (strncmp(endpoint, any[i], strlen(any[i])) == 0 && gethostname(host, sizeof(host)) == 0)
            snprintf(out, capacity, "tcp://%.64s:%s", host, endpoint + strlen(any[i]));
}

/* Messages of agents shall be read within the grace of their windows. */
static uint64_t daemon_gather_ns(const struct daemon_options *options)
{
    const uint64_t part_ns = options->grace_ns / 4;
    return part_ns < GATHER_NS ? part_ns : GATHER_NS;
}

static int daemon_start_fleet(struct daemon *d, char *why, size_t capacity)
{
    char endpoint[400];
    daemon_describe_endpoint(d, endpoint, sizeof(endpoint));
    const struct fleet_options options = {.loop = &d->loop,
                                          .servers = d->options.fleet,
                                          .cluster = d->options.cluster,
                                          .keys = d->options.fleet_keys,
                                          .endpoint = endpoint,
                                          .instance = d->instance,
                                          .lease_ns = d->options.lease_ns,
                                          .checkpoint_ns = d->options.checkpoint_ns,
                                          .gather_ns = daemon_gather_ns(&d->options),
                                          .publisher = publisher_for_jobs(d->publisher),
                                          .sinks = d->sinks,
                                          .timeline = &d->timeline,
                                          .user = d,
                                          .on_refused = daemon_on_refused};
    return options.servers == NULL ? 0 : fleet_create(&d->fleet, &options, why, capacity);
}

static int daemon_start_jobs(struct daemon *d, char *why, size_t capacity)
{
    const struct daemon_options *o = &d->options;
    struct jobs_options jobs = {
        .job = {.window_ns = o->window_ns,
                .grace_ns = o->grace_ns,
                .lost_ns = LOST_NS,
                .most_pairs = MAXIMUM_PAIRS,
                .most_ranks = o->most_ranks,
                .modelled = !o->no_collectives,
                .beside = o->export == NULL, /* an export does not wait for a thread */
                .network = &d->network,
                .rules = &d->rules},
        .record = o->record,
        .most_bytes = o->maximum_record_bytes,
        .users = d->server_options.users,
        .record_stopped = &d->record_stopped,
        .publisher =
            d->fleet != NULL ? fleet_publisher(d->fleet) : publisher_for_jobs(d->publisher),
        .sinks = d->fleet != NULL ? NULL : d->sinks,
        .user = d,
        .kept = daemon_on_committed,
        .notify_agents = daemon_on_criteria,
        .alert = daemon_on_alert,
        .captured = daemon_on_captured,
    };
    return jobs_create(&d->jobs, &d->loop, &jobs, why, capacity);
}

static size_t daemon_on_other_jobs(void *user, struct wire_job_row *rows, size_t count,
                                   size_t capacity)
{
    const struct daemon *d = user;
    return fleet_list_jobs(d->fleet, rows, count, capacity);
}

static int daemon_start_requests(struct daemon *d)
{
    struct captures_options captures = {d->jobs, &d->rules, d, daemon_on_capture_ask,
                                        daemon_on_send};
    int code = captures_create(&d->captures, &captures);
    struct control_options control = {.options = &d->server_options,
                                      .timeline = &d->timeline,
                                      .jobs = d->jobs,
                                      .publisher = d->publisher,
                                      .captures = d->captures,
                                      .sinks = d->sinks,
                                      .network = &d->network,
                                      .user = d,
                                      .stop = daemon_on_stop,
                                      .other_jobs = daemon_on_other_jobs,
                                      .stop_when_idle = daemon_on_stop_when_idle};
    return code != 0 ? code : control_create(&d->control, &d->loop, &control);
}

static void daemon_fill_fleet(const struct daemon *d, struct metrics_fleet *out)
{
    struct fleet_counts counts;
    fleet_count(d->fleet, &counts);
    *out = (struct metrics_fleet){.jobs = (double)counts.held,
                                  .jobs_resuming = (double)counts.resuming,
                                  .jobs_taken = (double)counts.taken,
                                  .jobs_lost = (double)counts.lost,
                                  .messages_stored = (double)counts.stored,
                                  .unstored_bytes = (double)counts.unstored_bytes,
                                  .clock_error_seconds = (double)counts.clock_error_ns / 1e9,
                                  .envelopes_read = (double)counts.read,
                                  .states_stored = (double)counts.states,
                                  .rejected = (double)counts.rejected};
}

static char *daemon_on_metrics(void *user, enum metrics_format format, size_t *length)
{
    const struct daemon *d = user;
    struct metrics_fleet fleet;
    const struct metrics_sources sources = {.jobs = d->jobs,
                                            .front = d->front,
                                            .publisher = d->publisher,
                                            .sinks = d->sinks,
                                            .fleet = d->fleet == NULL ? NULL : &fleet,
                                            .cluster = d->options.cluster,
                                            .window_ns = d->options.window_ns,
                                            .started_ns = d->started_ns,
                                            .now_ns = timeline_now(&d->timeline),
                                            .records = d->options.record != NULL};
    struct metrics_snapshot snapshot;
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (d->fleet != NULL)
        daemon_fill_fleet(d, &fleet);
    int code = out == NULL ? -errno : metrics_collect(&snapshot, &sources);
    if (code == 0) {
        metrics_text_write(out, &snapshot, format);
        metrics_snapshot_finish(&snapshot);
    }
    if (out != NULL && fclose(out) == 0 && code == 0)
        return text;
    free(text);
    return NULL;
}

static int daemon_start_metrics(struct daemon *d, char *why, size_t capacity)
{
    const int users = d->server_options.users;
    const struct metrics_server_options options = {.token = users ? d->metrics_token : NULL,
                                                   .address = d->options.metrics,
                                                   .user = d,
                                                   .make_page = daemon_on_metrics};
    if (options.address == NULL)
        return 0;
    if (users && curve_load_token(d->options.keys, d->metrics_token) != 0) {
        snprintf(why, capacity, "--metrics: %s/metrics.token cannot be used", d->options.keys);
        return -EACCES;
    }
    int code = metrics_server_create(&d->metrics, &d->loop, &options, why, capacity);
    if (code == 0)
        log_info("metrics on %s", metrics_server_url(d->metrics));
    return code;
}

static int daemon_start_modules(struct daemon *d, char *why, size_t capacity)
{
    const char *keys = d->options.keys;
    d->context = zmq_ctx_new();
    if (d->context == NULL)
        return -zmq_errno();
    zmq_ctx_set(d->context, ZMQ_MAX_SOCKETS, zmq_ctx_get(d->context, ZMQ_SOCKET_LIMIT));
    if (keys != NULL) {
        int code = zap_create(&d->zap, d->context, &d->loop, keys, d->server_options.users);
        if (code != 0) {
            snprintf(why, capacity, "keys in %s cannot be used: %s", keys, holter_strerror(code));
            return code;
        }
    }
    const struct front_callbacks callbacks = {d,
                                              daemon_on_committed_seq,
                                              daemon_on_agent_message,
                                              daemon_on_agent_left,
                                              daemon_on_request,
                                              daemon_find_reporting_user,
                                              daemon_on_turn};
    int code = daemon_open_sockets(d, &callbacks, why, capacity);
    if (code != 0)
        return code;
    const struct sinks_options sinks = {.terminal = STDOUT_FILENO,
                                        .cluster = d->options.cluster,
                                        .external_url = d->options.external_url};
    code = sinks_create(&d->sinks, &d->rules, &sinks);
    if (code != 0) {
        snprintf(why, capacity, "no sinks for alerts: %s", holter_strerror(code));
        return code;
    }
    code = daemon_start_fleet(d, why, capacity);
    code = code != 0 ? code : daemon_start_jobs(d, why, capacity);
    code = code != 0 ? code : daemon_start_requests(d);
    if (code == 0 && d->fleet != NULL)
        fleet_start(d->fleet, d->jobs, d->front);
    return code != 0 ? code : daemon_start_metrics(d, why, capacity);
}

static void daemon_finish(struct daemon *d)
{
    metrics_server_destroy(d->metrics);
    fleet_stop(d->fleet);
    jobs_destroy(d->jobs, timeline_now(&d->timeline));
    fleet_destroy(d->fleet);
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
    sinks_destroy(d->sinks); /* last, as it may wait for slow sinks */
    rules_finish(&d->rules);
    network_finish(&d->network);
}

static int daemon_serve(struct daemon *d)
{
    char why[512] = "no memory";
    int code = daemon_start_loop(d);
    if (code == 0)
        network_read(&d->network, d->options.topology);
    if (d->network.fault[0] != '\0')
        log_warn("going on without the network of %s", d->options.topology);
    code = code != 0 ? code : daemon_start_modules(d, why, sizeof(why));
    if (code != 0) {
        log_error("%s", why);
        daemon_finish(d);
        return code == -HOLTER_EUSAGE ? EXIT_USAGE : EXIT_FAILURE;
    }
    uv_timer_start(&d->tick, daemon_on_tick, TICK_MS, TICK_MS);
    for (size_t i = 0; i < d->options.listen_count; i++)
        log_info("listening on %s", d->options.listen[i]);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    daemon_finish(d);
    return d->status;
}

static void daemon_on_rules_fault(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
}

/* @return the exit status of a daemon that has only printed something */
static int daemon_end_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    log_error("standard output: %s", strerror(errno != 0 ? errno : EIO));
    return EXIT_FAILURE;
}

/* @return -1 to go on, or the exit status */
static int daemon_read_command_line(struct daemon *d, int argc, char **argv)
{
    char why[512];
    enum daemon_options_verdict verdict =
        daemon_options_parse(&d->options, argc, argv, why, sizeof(why));
    if (verdict == OPTIONS_SHOWN)
        return daemon_end_output();
    if (verdict == OPTIONS_WRONG) {
        log_error("%s", why);
        return EXIT_USAGE;
    }
    if (daemon_options_read_rules(&d->options, &d->rules, daemon_on_rules_fault, NULL) != 0)
        return EXIT_USAGE;
    if (verdict != OPTIONS_CHECK)
        return -1;
    printf("%s: %s, %s\n", d->options.rules == NULL ? "built-in rules" : d->options.rules,
           quantity_things(d->rules.count, "rule").text,
           quantity_things(d->rules.sink_count, "sink").text);
    rules_finish(&d->rules);
    return daemon_end_output();
}

/* Written into a file of the user's, which keeps its mode. */
static int daemon_make_results(struct daemon *d)
{
    char why[600];
    struct replay_options options;
    daemon_options_fill_replay(&d->options, &options);
    int code = results_make(&options, &d->rules, stdout, why, sizeof(why));
    if (code != 0)
        log_error("%s", why);
    rules_finish(&d->rules);
    return code == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static struct jobs *daemon_on_export(void *user, uint64_t window_ns, char *why, size_t capacity)
{
    struct daemon *d = user;
    if (window_ns != 0)
        d->options.window_ns = window_ns;
    if (!d->options.grace_given)
        d->options.grace_ns = server_default_grace(d->options.window_ns);
    return daemon_start_jobs(d, why, capacity) == 0 ? d->jobs : NULL;
}

/* Serves nobody: a job of the fleet is recorded as a whole. */
static int daemon_export(struct daemon *d)
{
    char why[512] = "no memory";
    const struct fleet_export_options options = {.loop = &d->loop,
                                                 .servers = d->options.fleet,
                                                 .cluster = d->options.cluster,
                                                 .keys = d->options.fleet_keys,
                                                 .job = d->options.export,
                                                 .user = d,
                                                 .make_jobs = daemon_on_export};
    int code = daemon_start_loop(d);
    code = code != 0 ? code : publisher_create(&d->publisher);
    if (code == 0) {
        for (int i = 0; i < 2; i++) /* end it at once: the recording is cut short, as by a kill */
            uv_signal_stop(&d->signals[i]);
        publisher_silence(d->publisher);
        network_read(&d->network, d->options.topology);
        code = fleet_export(&options, why, sizeof(why));
    }
    const struct job *job = d->jobs == NULL ? NULL : jobs_find(d->jobs, options.job);
    if (job != NULL)
        printf("%s\n", job_recording(job));
    if (code != 0)
        log_error("%s", why);
    daemon_finish(d); /* all of it is written then, or the recorder has said why not */
    return daemon_end_output() == EXIT_SUCCESS && code == 0 && !d->record_stopped ? EXIT_SUCCESS
                                                                                  : EXIT_FAILURE;
}

/* Let no other file take the place of a standard file that is closed: what is logged would be
 * written there, and libuv aborts when it closes one. Writing and reading fails as before. */
static void daemon_fill_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    static struct daemon d;
    struct replay_options replay_options;
    daemon_fill_standard_files();
    log_start("holterd", -1);
    int status = daemon_read_command_line(&d, argc, argv);
    if (status >= 0)
        return status;
    umask(0077);
    if (!daemon_raise_limits())
        return EXIT_FAILURE;
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit (setrlimit(2)) is treated as a full disk */
    if (d.options.results)
        return daemon_make_results(&d);
    if (d.options.replay != NULL) {
        daemon_options_fill_replay(&d.options, &replay_options);
        return replay_serve(&replay_options, &d.rules);
    }
    daemon_options_fill_server(&d.options, &d.server_options);
    if (d.options.export != NULL)
        return daemon_export(&d);
    timeline_init(&d.timeline);
    d.started_ns = timeline_now(&d.timeline);
    if (getrandom(&d.instance, sizeof(d.instance), 0) != sizeof(d.instance)) {
        log_error("no random number: %s", holter_strerror(-errno));
        return EXIT_FAILURE;
    }
    return daemon_serve(&d);
}
