/* The server of a replay: its start, its end, and its sockets. */
#include "daemon/replay/replay.h"

#include "daemon/replay/replay_network.h"
#include "daemon/replay/replay_server.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "proto/log.h"
#include "proto/moment.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>
#include <zmq.h>

#define LOG_TOPIC "replay"
#define MEMORY_MS 250 /* between two checks of the memory of checkpoints */

/* ---- ending --------------------------------------------------------------------------- */

void replay_server_stop(struct replay_server *server)
{
    server->phase = REPLAY_SERVER_STOPPED;
    uv_stop(&server->loop);
}

void replay_server_fail(struct replay_server *server, const char *what)
{
    if (server->phase == REPLAY_SERVER_RUNS) {
        log_error("%s", what);
        server->status = EXIT_FAILURE;
    }
    replay_server_stop(server);
}

void replay_server_leave(struct replay_server *server)
{
    const struct replay_note note = {.kind = REPLAY_NOTE_LEAVE};
    if (server->phase != REPLAY_SERVER_RUNS || server->active.link == NULL ||
        replay_watch_send(server->active.link, &note, NULL, 0) != 0) {
        replay_server_stop(server);
        return;
    }
    server->phase = REPLAY_SERVER_LEAVES;
    if (server->options->record == NULL)
        replay_server_start_leave_timer(server);
}

static void replay_server_on_signal(uv_signal_t *signal, int number)
{
    log_info("leaving on signal %d", number);
    replay_server_leave(signal->data);
}

/* While the server leaves, it waits for the link of the worker to be closed instead: the worker may
 * send a note after its stream has ended. */
static void replay_server_on_relay_closed(void *user)
{
    struct replay_server *server = user;
    if (server->phase == REPLAY_SERVER_RUNS)
        replay_server_fail(server, "the process that replays has ended");
}

/* ---- start and finish ---------------------------------------------------------------------- */

static int replay_server_on_recorded_alert(void *user, const struct wire_alert *alert)
{
    replay_marks_add(user, alert);
    return 0;
}

static int replay_server_on_first_message(void *user, const struct recorded *head,
                                          const void *bytes, size_t length)
{
    (void)user;
    (void)head;
    (void)bytes;
    (void)length;
    return 1; /* alerts come first: all were read */
}

/* Read the metadata and the alerts of the recording. The length of its windows becomes the
 * option. */
static int replay_server_read_recording(struct replay_server *server, char *why, size_t capacity)
{
    struct replay_options *options = server->options;
    struct recording_cursor *recording;
    uint64_t end_ns = 0, from_ns;
    int code = recording_cursor_open(&recording, options->file, why, capacity);
    if (code != 0)
        return code;
    options->server.window_ns = recording_cursor_window_ns(recording);
    options->grace_ns =
        options->grace_given ? options->grace_ns : server_default_grace(options->server.window_ns);
    code = replay_network_read(&server->network, options, recording, why, capacity);
    if (code != 0) {
        recording_cursor_close(recording);
        return code;
    }
    /* A file that grows is replayed up to its present end: so all workers stop at the same message.
     */
    if (recording_cursor_last(recording, &server->last) != 0)
        log_debug("%s: replayed up to its end when it is read", options->file);
    code = recording_cursor_span(recording, &server->begin_ns, &end_ns);
    recording_cursor_close(recording);
    if (code != 0)
        snprintf(why, capacity, "%s: %s", options->file, holter_strerror(code));
    else if (options->from != NULL)
        code = moment_parse(options->from, server->begin_ns, end_ns, &from_ns, why, capacity);
    if (code != 0)
        return code;
    server->shared = replay_shared_map();
    if (server->shared == NULL)
        return -ENOMEM;
    atomic_store(&server->shared->end_ns, end_ns);
    const struct recording_reader reader = {
        &server->shared->recorded, replay_server_on_recorded_alert, replay_server_on_first_message};
    if (options->server.rules == NULL)
        recording_read(options->file, &reader); /* if it fails, the time line is empty at first */
    return 0;
}

static void replay_server_on_memory_timer(uv_timer_t *timer)
{
    replay_server_thin_checkpoints(timer->data);
}

static void replay_server_start_handles(struct replay_server *server)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&server->loop, &server->signals[i]);
        server->signals[i].data = server;
        uv_signal_start(&server->signals[i], replay_server_on_signal, numbers[i]);
    }
    uv_timer_init(&server->loop, &server->memory_timer);
    uv_timer_init(&server->loop, &server->leave_timer);
    server->memory_timer.data = server->leave_timer.data = server;
    uv_timer_start(&server->memory_timer, replay_server_on_memory_timer, MEMORY_MS, MEMORY_MS);
}

static int replay_server_open_sockets(struct replay_server *server, char *why, size_t capacity)
{
    void *front, *stream;
    server->context = zmq_ctx_new();
    if (server->context == NULL)
        return -zmq_errno();
    zmq_ctx_set(server->context, ZMQ_MAX_SOCKETS, zmq_ctx_get(server->context, ZMQ_SOCKET_LIMIT));
    if (server->options->server.keys != NULL) {
        int code = zap_create(&server->zap, server->context, &server->loop,
                              server->options->server.keys, 0);
        if (code != 0) {
            snprintf(why, capacity, "keys in %s cannot be used: %s", server->options->server.keys,
                     holter_strerror(code));
            return code;
        }
    }
    int code = sockets_open_front(&front, server->context, &server->options->server, &server->locks,
                                  why, capacity);
    if (code != 0)
        return code;
    code = sockets_open_stream(&stream, server->context, &server->options->server, why, capacity);
    if (code != 0) {
        zmq_close(front);
        return code;
    }
    return relay_create(&server->relay, &server->loop, front, stream, replay_server_on_relay_closed,
                        server);
}

/* The index is forked before there is any thread, and before other descriptors are open. */
static int replay_server_start(struct replay_server *server, char *why, size_t capacity)
{
    int code = uv_loop_init(&server->loop);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);         /* ended children are not waited for, */
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* nor are those of the index */
    server->worker_options = (struct replay_worker_options){.options = server->options,
                                                            .timeline = &server->timeline,
                                                            .network = &server->network,
                                                            .shared = server->shared,
                                                            .begin_ns = server->begin_ns,
                                                            .server = (uint64_t)getpid()};
    code = code != 0 ? code : replay_checkpoints_create(&server->checkpoints, &server->loop, 0);
    code = code != 0 ? code : replay_server_start_index(server);
    if (code != 0) {
        snprintf(why, capacity, "%s", holter_strerror(code));
        return code;
    }
    replay_server_start_handles(server);
    snprintf(why, capacity, "no memory");
    return replay_server_open_sockets(server, why, capacity);
}

static void replay_server_finish(struct replay_server *server)
{
    replay_server_drop_worker(&server->active);
    replay_server_drop_worker(&server->next);
    replay_server_drop_worker(&server->preview);
    replay_server_drop_worker(&server->previous);
    replay_watch_close(server->index);
    replay_checkpoints_destroy(server->checkpoints);
    relay_destroy(server->relay);
    zap_destroy(server->zap);
    if (server->memory_timer.data != NULL) {
        for (int i = 0; i < 2; i++)
            uv_close((uv_handle_t *)&server->signals[i], NULL);
        uv_close((uv_handle_t *)&server->memory_timer, NULL);
        uv_close((uv_handle_t *)&server->leave_timer, NULL);
    }
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    if (server->context != NULL)
        zmq_ctx_term(server->context);
    listen_finish(&server->locks);
}

static int replay_server_serve(struct replay_server *server)
{
    char why[512] = "no memory";
    const char *directory = server->options->record;
    int code = directory == NULL ? 0 : recording_make_directory(directory);
    if (code != 0) { /* the worker that records starts later, and clients wait for it */
        log_error("cannot record in %s: %s", directory, holter_strerror(code));
        return EXIT_FAILURE;
    }
    code = replay_server_read_recording(server, why, sizeof(why));
    if (code != 0) {
        log_error("%s", why);
        return code == -HOLTER_EUSAGE || code == -HOLTER_ERANGE ? 2 : EXIT_FAILURE;
    }
    if (replay_server_start(server, why, sizeof(why)) != 0) {
        log_error("%s", why);
        replay_server_finish(server);
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < server->options->server.listen_count; i++)
        log_info("listening on %s", server->options->server.listen[i]);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    replay_server_finish(server);
    return server->status;
}

int replay_serve(struct replay_options *options, struct rules *rules)
{
    struct replay_server server = {.options = options,
                                   .rules = rules,
                                   .active = {.front = -1, .stream = -1},
                                   .next = {.front = -1, .stream = -1},
                                   .preview = {.front = -1, .stream = -1},
                                   .previous = {.front = -1, .stream = -1}};
    timeline_init(&server.timeline);
    int status = EXIT_FAILURE;
    if (getrandom(&server.instance, sizeof(server.instance), 0) != sizeof(server.instance))
        log_error("no random number: %s", holter_strerror(-errno));
    else
        status = replay_server_serve(&server);
    network_finish(&server.network);
    rules_finish(rules);
    return status;
}
