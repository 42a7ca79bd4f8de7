#include "daemon/replay.h"

#include "daemon/network.h"
#include "daemon/recording.h"
#include "daemon/recording_blocks.h"
#include "daemon/relay.h"
#include "daemon/replay_index.h"
#include "daemon/replay_network.h"
#include "daemon/replay_states.h"
#include "daemon/replay_worker.h"
#include "daemon/sockets.h"
#include "daemon/zap.h"
#include "holter/error.h"
#include "proto/log.h"
#include "proto/moment.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#define LOG_TOPIC "replay"
#define TICK_MS 250
#define LEAVE_MS 300 /* for a worker's last words */
/* What feeding takes, roughly, and how long a seek may take without a preview. */
#define BYTE_NS UINT64_C(5)
#define MESSAGE_NS UINT64_C(10000)
#define FAR_NS UINT64_C(500000000)

struct worker {
    struct replay_watch *link; /* NULL: there is none */
    int front, stream;         /* until the relay has them; -1 */
    struct replay_note note;   /* as it was forked, and how it is to go on */
};

struct server {
    struct options *options;
    struct rules *rules;
    struct network network;
    struct timeline timeline;
    uint64_t instance; /* of run 0 */
    uint64_t begin_ns;
    struct replay_shared *shared;
    struct replay_worker_options given;
    void *context;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t tick, patience;
    struct listen_locks locks;
    struct zap *zap;
    struct relay *relay;
    struct replay_states *states;
    struct replay_watch *index; /* NULL: there is none, or not yet */
    int leading;                /* the active worker leaves states behind, in place of the index */
    int held;                   /* who leads is to wait until states are packed */
    struct worker active, next, before; /* serving; on its way; saying its last words */
    struct worker preview;              /* on its way to the same target, with less to do */
    struct recording_weights weights;
    int indexed, leaving, status;
};

/* ---- ending --------------------------------------------------------------------------- */

static void stop(struct server *s)
{
    s->leaving = 2;
    uv_stop(&s->loop);
}

static void fail(struct server *s, const char *what)
{
    if (s->leaving != 0) {
        stop(s);
        return;
    }
    log_error("%s", what);
    s->status = EXIT_FAILURE;
    stop(s);
}

static void on_patience(uv_timer_t *timer);

/* In order: the worker says its last words, and ends its recording. */
static void leave(struct server *s)
{
    const struct replay_note note = {.kind = REPLAY_LEAVE};
    if (s->leaving != 0 || s->active.link == NULL ||
        replay_watch_send(s->active.link, &note, NULL, 0) != 0) {
        stop(s);
        return;
    }
    s->leaving = 1;
    if (s->options->record == NULL)
        uv_timer_start(&s->patience, on_patience, LEAVE_MS, 0);
}

static void on_signal(uv_signal_t *signal, int number)
{
    log_info("leaving on signal %d", number);
    leave(signal->data);
}

/* ---- workers ---------------------------------------------------------------------------- */

static void forget(struct worker *w)
{
    replay_watch_close(w->link);
    if (w->front >= 0)
        close(w->front);
    if (w->stream >= 0)
        close(w->stream);
    *w = (struct worker){.front = -1, .stream = -1};
}

static void on_worker(void *user, struct replay_watch *link, const struct replay_note *note,
                      int fd);

static int pairs_open(int mine[REPLAY_LINK_FDS], int theirs[REPLAY_LINK_FDS])
{
    static const int types[REPLAY_LINK_FDS] = {SOCK_STREAM, SOCK_STREAM, SOCK_SEQPACKET};
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair) != 0) {
            int code = -errno;
            while (i-- > 0) {
                close(mine[i]);
                close(theirs[i]);
            }
            return code;
        }
        mine[i] = pair[0];
        theirs[i] = pair[1];
    }
    return 0;
}

/* Have a worker made that goes to its note's target. */
static int begin_worker(struct server *s, struct worker *out, const struct replay_note *note)
{
    int mine[REPLAY_LINK_FDS], theirs[REPLAY_LINK_FDS];
    forget(out);
    int code = pairs_open(mine, theirs);
    if (code != 0)
        return code;
    code = note->preview ? replay_states_fork_first(s->states, note, theirs)
                         : replay_states_fork(s->states, note, theirs);
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        close(theirs[i]);
    *out = (struct worker){.front = mine[0], .stream = mine[1], .note = *note};
    if (code == 0)
        code = replay_watch_open(&out->link, &s->loop, mine[2], on_worker, s);
    else
        close(mine[2]);
    if (code != 0)
        forget(out);
    return code;
}

/* Does a seek take so long that a preview helps? By how much there is to be fed, as it is known before: so the same seek
 * of the same recording is the same on every machine. */
static int is_far(const struct server *s, const struct replay_target *target)
{
    struct replay_place from;
    if (target->kind != REPLAY_TO_TIME || s->options->record != NULL ||
        replay_states_before(s->states, target, &from) != 0)
        return 0;
    struct recording_weight way =
        recording_weights_between(&s->weights, from.time_ns, target->value);
    return way.messages > FAR_NS / MESSAGE_NS || way.bytes > FAR_NS / BYTE_NS ||
           way.messages * MESSAGE_NS + way.bytes * BYTE_NS > FAR_NS;
}

/* Where there is none the seek takes as long as it takes. */
static void begin_preview(struct server *s, const struct replay_note *seek)
{
    struct replay_note note = *seek;
    note.preview = 1;
    note.run--;
    note.instance--;
    if (begin_worker(s, &s->preview, &note) != 0)
        log_debug("no preview of a seek");
}

/* While somebody waits for a seek states are not packed: that would take a processor from the worker. */
static void pack_or_not(struct server *s)
{
    replay_states_rest(s->states, s->next.link != NULL);
}

static void seek(struct server *s, const struct replay_note *wanted)
{
    struct replay_note note = *wanted;
    int far = is_far(s, &wanted->target);
    note.kind = REPLAY_FORK;
    note.leads = 0;
    note.preview = 0;
    note.run = s->active.note.run + (far ? 2 : 1);
    note.instance = s->instance + note.run;
    atomic_store(&s->shared->reached_ns, 0);
    forget(&s->preview);
    int code = begin_worker(s, &s->next, &note);
    if (note.target.kind == REPLAY_TO_TIME)
        replay_states_forget_near(s->states); /* behind its begin: it may begin at one of them */
    if (code == 0 && far)
        begin_preview(s, &note);
    pack_or_not(s);
    if (code == 0)
        return;
    log_error("no seek: %s", holter_strerror(code));
    replay_watch_send(s->active.link, &(struct replay_note){.kind = REPLAY_FAILED}, NULL, 0);
}

/* The first worker serves the begin, while another one goes to where it is to begin. */
static int begin(struct server *s)
{
    struct replay_note note = {.kind = REPLAY_FORK,
                               .target = {REPLAY_TO_STEP, 0},
                               .speed = s->options->speed,
                               .paused = s->options->paused,
                               .looping = s->options->loop,
                               .leads = s->leading,
                               .run = 1,
                               .instance = s->instance + 1};
    return begin_worker(s, &s->next, &note);
}

static void seek_first(struct server *s)
{
    char why[300];
    struct replay_note note = s->active.note;
    note.target.kind = REPLAY_TO_TIME;
    uint64_t end_ns = atomic_load(&s->shared->end_ns);
    if (moment_parse(s->options->from, s->begin_ns, end_ns, &note.target.value, why, sizeof(why)) ==
        0)
        seek(s, &note);
}

/* A worker on its way has come: it takes over. */
static void take_over(struct server *s, struct worker *next)
{
    struct replay_note go = next->note;
    int first = s->active.link == NULL;
    go.kind = REPLAY_GO;
    go.seeking = go.preview;
    if (!go.preview)
        forget(&s->preview);
    relay_drop(s->relay);
    forget(&s->before);
    if (!first) {
        const struct replay_note bye = {.kind = REPLAY_LEAVE, .instance = go.instance};
        replay_watch_send(s->active.link, &bye, NULL, 0);
    }
    int code = relay_attach(s->relay, next->front, next->stream);
    next->front = next->stream = -1;
    s->before = s->active;
    s->active = *next;
    *next = (struct worker){.front = -1, .stream = -1};
    if (code != 0) {
        fail(s, holter_strerror(code));
        return;
    }
    if (first && s->options->from != NULL) {
        seek_first(s);
        go.seeking = s->next.link != NULL;
        go.target = s->next.note.target;
    }
    replay_watch_send(s->active.link, &go, NULL, 0);
    if (!first)
        uv_timer_start(&s->patience, on_patience, LEAVE_MS, 0);
    pack_or_not(s);
}

static void on_patience(uv_timer_t *timer)
{
    struct server *s = timer->data;
    if (s->leaving != 0) {
        stop(s);
        return;
    }
    relay_drop(s->relay);
    forget(&s->before);
}

static void on_worker_gone(struct server *s, const struct replay_watch *link)
{
    if (link == s->before.link) {
        forget(&s->before); /* the relay hears the rest */
    } else if (link == s->next.link) {
        log_error("the process that was to go on elsewhere has ended");
        forget(&s->next);
        forget(&s->preview);
        if (s->active.link == NULL)
            fail(s, "the replay cannot begin");
        else if (s->active.note.preview)
            fail(s, "the process that was to replay from there has ended");
        else
            replay_watch_send(s->active.link, &(struct replay_note){.kind = REPLAY_FAILED}, NULL,
                              0);
    } else if (link == s->preview.link) {
        forget(&s->preview);
    } else if (link == s->active.link) {
        fail(s, "the process that replays has ended");
    }
}

static void keep_states(struct server *s)
{
    struct replay_watch *leader = s->leading ? s->active.link : s->index;
    pack_or_not(s);
    struct replay_keeping keeping = replay_states_keep(s->states);
    if (leader == NULL)
        return;
    if (keeping.sparser)
        replay_watch_send(leader, &(struct replay_note){.kind = REPLAY_SPARSER}, NULL, 0);
    if (keeping.hold != s->held)
        replay_watch_send(
            leader, &(struct replay_note){.kind = REPLAY_HOLD, .paused = keeping.hold}, NULL, 0);
    s->held = keeping.hold;
}

static void take_state(struct server *s, const struct replay_note *note, int fd)
{
    int code = replay_states_add(s->states, note, fd);
    if (code != 0)
        log_warn("no state for seeks: %s", holter_strerror(code));
    keep_states(s);
}

static void on_index(void *user, struct replay_watch *link, const struct replay_note *note, int fd);

/* The worker has gone its own way: the index goes on from the last state. */
static void start_index_again(struct server *s)
{
    int pair[2], code = replay_link_pair(pair);
    s->leading = s->held = 0;
    if (code == 0) {
        code = replay_states_index(s->states, pair[1]);
        close(pair[1]);
        if (code == 0)
            code = replay_watch_open(&s->index, &s->loop, pair[0], on_index, s);
        else
            close(pair[0]);
    }
    if (code != 0)
        log_warn("no more states for seeks, which take longer: %s", holter_strerror(code));
}

/* What the worker says that leads. @return whether it was that */
static int take_lead(struct server *s, const struct replay_note *note, int fd)
{
    if (note->kind == REPLAY_STATE && fd >= 0)
        take_state(s, note, fd);
    else if (note->kind == REPLAY_DONE)
        s->leading = 0;
    else if (note->kind == REPLAY_FOLLOW)
        start_index_again(s);
    else
        return 0;
    s->indexed |= note->kind == REPLAY_DONE;
    return 1;
}

static void set_mode(struct server *s, const struct replay_note *mode)
{
    struct replay_note *notes[] = {&s->next.note, &s->preview.note};
    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
        notes[i]->speed = mode->speed;
        notes[i]->paused = mode->paused;
        notes[i]->looping = mode->looping;
    }
}

static void on_worker(void *user, struct replay_watch *link, const struct replay_note *note, int fd)
{
    struct server *s = user;
    if (note != NULL && note->kind == REPLAY_STATE && note->near && fd >= 0) {
        take_state(s, note, fd);
        return;
    }
    if (note != NULL && link == s->active.link && take_lead(s, note, fd))
        return;
    if (fd >= 0)
        close(fd);
    if (note == NULL) {
        on_worker_gone(s, link);
    } else if (link == s->next.link) {
        if (note->kind == REPLAY_READY && s->leaving == 0)
            take_over(s, &s->next);
    } else if (link == s->preview.link) {
        if (note->kind == REPLAY_READY && s->leaving == 0)
            take_over(s, &s->preview);
    } else if (link == s->before.link) {
        /* A client asked it before it knew that another one had taken over. */
        if (s->leaving == 0 && (note->kind == REPLAY_WANT || note->kind == REPLAY_MODE))
            replay_watch_send(s->active.link, note, NULL, 0);
    } else if (link == s->active.link && s->leaving == 0) {
        if (note->kind == REPLAY_WANT)
            seek(s, note);
        else if (note->kind == REPLAY_MODE)
            set_mode(s, note);
        else if (note->kind == REPLAY_STOP)
            leave(s);
    }
}

static void on_relay_over(void *user)
{
    fail(user, "the process that replays has ended");
}

/* ---- the index -------------------------------------------------------------------------- */

/* A worker that replays all as fast as it can is as fast as the index: it leaves states behind itself. One that records
 * needs none. */
static int worker_leads(const struct options *o)
{
    return o->record != NULL || (o->speed <= 0 && !o->paused && o->from == NULL);
}

static void on_index(void *user, struct replay_watch *link, const struct replay_note *note, int fd)
{
    struct server *s = user;
    if (note == NULL) {
        replay_watch_close(link);
        s->index = NULL;
        int begun = s->active.link != NULL || s->next.link != NULL;
        if (!s->indexed && !(s->leading && begun))
            fail(s, "the process that reads the recording has ended");
        return;
    }
    if (note->kind == REPLAY_STATE && fd >= 0) {
        take_state(s, note, fd);
        int code = s->active.link == NULL && s->next.link == NULL ? begin(s) : 0;
        if (code != 0)
            fail(s, holter_strerror(code));
        return;
    }
    if (fd >= 0)
        close(fd);
    s->indexed |= note->kind == REPLAY_DONE;
}

static int start_index(struct server *s)
{
    int pair[2], code = replay_link_pair(pair);
    if (code != 0)
        return code;
    s->leading = worker_leads(s->options);
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        const struct replay_index index = {
            .reel = {.options = s->options, .network = &s->network, .rules = s->rules},
            .shared = s->shared,
            .link = pair[1],
            .first_only = s->leading,
            .work = replay_worker_run,
            .work_user = &s->given};
        s->given.index = &index;
        replay_index_run(&index);
    }
    code = pid < 0 ? -errno : 0;
    close(pair[1]);
    if (code == 0)
        return replay_watch_open(&s->index, &s->loop, pair[0], on_index, s);
    close(pair[0]);
    return code;
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
static int read_recording(struct server *s, char *why, size_t room)
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
    keep_states(timer->data);
}

static void start_handles(struct server *s)
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

static int open_sockets(struct server *s, char *why, size_t room)
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
static int start(struct server *s, char *why, size_t room)
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
    code = code != 0 ? code : start_index(s);
    if (code != 0) {
        snprintf(why, room, "%s", holter_strerror(code));
        return code;
    }
    start_handles(s);
    snprintf(why, room, "no memory");
    return open_sockets(s, why, room);
}

static void finish(struct server *s)
{
    forget(&s->active);
    forget(&s->next);
    forget(&s->preview);
    forget(&s->before);
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

static int serve(struct server *s)
{
    char why[512] = "no memory";
    int code = read_recording(s, why, sizeof(why));
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
    struct server s = {.options = options,
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
