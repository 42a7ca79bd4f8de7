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
#define TICK_MS 250

/* ---- ending --------------------------------------------------------------------------- */

void replay_server_stop(struct replay_server *s)
{
    s->leaving = 2;
    uv_stop(&s->loop);
}

void replay_server_fail(struct replay_server *s, const char *what)
{
    if (s->leaving != 0) {
        replay_server_stop(s);
        return;
    }
    log_error("%s", what);
    s->status = EXIT_FAILURE;
    replay_server_stop(s);
}

void replay_server_leave(struct replay_server *s)
{
    const struct replay_note note = {.kind = REPLAY_LEAVE};
    if (s->leaving != 0 || s->active.link == NULL ||
        replay_watch_send(s->active.link, &note, NULL, 0) != 0) {
        replay_server_stop(s);
        return;
    }
    s->leaving = 1;
    if (s->options->record == NULL)
        replay_server_be_patient(s);
}

static void on_signal(uv_signal_t *signal, int number)
{
    log_info("leaving on signal %d", number);
    replay_server_leave(signal->data);
}

/* While it leaves its link tells when it has ended: it may have a word to say on it behind its
 * stream. */
static void on_relay_over(void *user)
{
    struct replay_server *s = user;
    if (s->leaving == 0)
        replay_server_fail(s, "the process that replays has ended");
}

/* ---- start and finish ---------------------------------------------------------------------- */

static int on_recorded_alert(void *user, const struct wire_alert *alert)
{
    replay_marks_take(user, alert);
    return 0;
}

static int on_first_message(void *user, const struct recorded *head, const void *bytes,
                            size_t length)
{
    (void)user;
    (void)head;
    (void)bytes;
    (void)length;
    return 1; /* alerts come first: that was all */
}

/* What the recording says of itself; it says how long its windows are. */
static int read_recording(struct replay_server *s, char *why, size_t room)
{
    struct options *o = s->options;
    struct recording_cursor *recording;
    uint64_t end_ns = 0, from_ns;
    int code = recording_cursor_open(&recording, o->replay, why, room);
    if (code != 0)
        return code;
    o->window_ns = recording_cursor_window_ns(recording);
    o->grace_ns = o->grace_given ? o->grace_ns : options_grace(o->window_ns);
    code = replay_network_read(&s->network, o, recording, why, room);
    if (code != 0) {
        recording_cursor_close(recording);
        return code;
    }
    /* A file that grows is replayed as far as it is now: so all runs meet the same end. */
    if (recording_cursor_last(recording, &s->last) != 0)
        log_debug("%s: replayed as far as it is when it is read", o->replay);
    code = recording_cursor_span(recording, &s->begin_ns, &end_ns);
    if (code == 0 && recording_weights_read(&s->weights, recording) != 0)
        log_debug("%s: seeks have no previews", o->replay);
    recording_cursor_close(recording);
    if (code != 0)
        snprintf(why, room, "%s: %s", o->replay, holter_strerror(code));
    else if (o->from != NULL)
        code = moment_parse(o->from, s->begin_ns, end_ns, &from_ns, why, room);
    if (code != 0)
        return code;
    s->shared = replay_shared_map();
    if (s->shared == NULL)
        return -ENOMEM;
    atomic_store(&s->shared->end_ns, end_ns);
    const struct recording_reader reader = {&s->shared->recorded, on_recorded_alert,
                                            on_first_message};
    if (o->rules == NULL)
        recording_read(o->replay, &reader); /* without them the line of time is empty for a while */
    return 0;
}

static void on_tick(uv_timer_t *timer)
{
    replay_server_keep_states(timer->data);
}

static void start_handles(struct replay_server *s)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&s->loop, &s->signals[i]);
        s->signals[i].data = s;
        uv_signal_start(&s->signals[i], on_signal, numbers[i]);
    }
    uv_timer_init(&s->loop, &s->tick);
    uv_timer_init(&s->loop, &s->patience);
    s->tick.data = s->patience.data = s;
    uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
}

static int open_sockets(struct replay_server *s, char *why, size_t room)
{
    void *front, *stream;
    s->context = zmq_ctx_new();
    if (s->context == NULL)
        return -zmq_errno();
    zmq_ctx_set(s->context, ZMQ_MAX_SOCKETS, zmq_ctx_get(s->context, ZMQ_SOCKET_LIMIT));
    if (s->options->keys != NULL) {
        int code = zap_create(&s->zap, s->context, &s->loop, s->options->keys);
        if (code != 0) {
            snprintf(why, room, "keys in %s cannot be used: %s", s->options->keys,
                     holter_strerror(code));
            return code;
        }
    }
    int code = sockets_front(&front, s->context, s->options, &s->locks, why, room);
    if (code != 0)
        return code;
    code = sockets_stream(&stream, s->context, s->options, why, room);
    if (code != 0) {
        zmq_close(front);
        return code;
    }
    return relay_create(&s->relay, &s->loop, front, stream, on_relay_over, s);
}

/* The index is forked before there is any thread, and before descriptors of others. */
static int start(struct replay_server *s, char *why, size_t room)
{
    int code = uv_loop_init(&s->loop);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);         /* children leave no trace, */
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* nor do theirs */
    s->given = (struct replay_worker_options){.options = s->options,
                                              .timeline = &s->timeline,
                                              .rules = s->rules,
                                              .network = &s->network,
                                              .shared = s->shared,
                                              .begin_ns = s->begin_ns,
                                              .server = (uint64_t)getpid()};
    code = code != 0 ? code : replay_states_create(&s->states, &s->loop, 0);
    code = code != 0 ? code : replay_server_start_index(s);
    if (code != 0) {
        snprintf(why, room, "%s", holter_strerror(code));
        return code;
    }
    start_handles(s);
    snprintf(why, room, "no memory");
    return open_sockets(s, why, room);
}

static void finish(struct replay_server *s)
{
    replay_server_forget(&s->active);
    replay_server_forget(&s->next);
    replay_server_forget(&s->preview);
    replay_server_forget(&s->before);
    replay_watch_close(s->index);
    replay_states_destroy(s->states);
    relay_destroy(s->relay);
    zap_destroy(s->zap);
    if (s->tick.data != NULL) {
        for (int i = 0; i < 2; i++)
            uv_close((uv_handle_t *)&s->signals[i], NULL);
        uv_close((uv_handle_t *)&s->tick, NULL);
        uv_close((uv_handle_t *)&s->patience, NULL);
    }
    uv_run(&s->loop, UV_RUN_DEFAULT);
    uv_loop_close(&s->loop);
    if (s->context != NULL)
        zmq_ctx_term(s->context);
    listen_finish(&s->locks);
}

static int serve(struct replay_server *s)
{
    char why[512] = "no memory";
    const char *directory = s->options->record;
    int code = directory == NULL ? 0 : recording_directory(directory);
    if (code != 0) { /* the process that records comes later, and others wait for it */
        log_error("cannot record in %s: %s", directory, holter_strerror(code));
        return EXIT_FAILURE;
    }
    code = read_recording(s, why, sizeof(why));
    if (code != 0) {
        log_error("%s", why);
        return code == -HOLTER_EUSAGE || code == -HOLTER_ERANGE ? 2 : EXIT_FAILURE;
    }
    if (start(s, why, sizeof(why)) != 0) {
        log_error("%s", why);
        finish(s);
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < s->options->listen_count; i++)
        log_info("listening on %s", s->options->listen[i]);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    finish(s);
    return s->status;
}

int replay_serve(struct options *options, struct rules *rules)
{
    struct replay_server s = {.options = options,
                              .rules = rules,
                              .active = {.front = -1, .stream = -1},
                              .next = {.front = -1, .stream = -1},
                              .preview = {.front = -1, .stream = -1},
                              .before = {.front = -1, .stream = -1}};
    timeline_init(&s.timeline);
    int status = EXIT_FAILURE;
    if (getrandom(&s.instance, sizeof(s.instance), 0) != sizeof(s.instance))
        log_error("no random number: %s", holter_strerror(-errno));
    else
        status = serve(&s);
    recording_weights_finish(&s.weights);
    network_finish(&s.network);
    rules_finish(rules);
    return status;
}
