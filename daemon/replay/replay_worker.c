#include "daemon/replay/replay_worker_state.h"

#include "daemon/server/publish.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define SLICE_NS UINT64_C(10000000) /* of feeding, between looks at clients */
#define TELL_MS 100                 /* how often it is told where it is */
#define TICK_MS 100
#define LOOK_NS                                                                                    \
    UINT64_C(5000000) /* while it feeds silently, between looks whether that is still wanted */
/* What waits to be sent or recorded: beyond this much it feeds no more until it is less. */
#define MOST_STREAM ((size_t)4 << 20)
#define MOST_RECORD ((size_t)64 << 20)
#define FULL_MS 5
#define LEAD_NS UINT64_C(200000000) /* that clients may hold up the one that leads */
#define FLUSH_MS 1
/* A run of a loop takes this long at least, or clients do nothing but dial. */
#define LOOP_NS UINT64_C(1000000000)

uint64_t worker_end_ns(const struct worker *w)
{
    return atomic_load(&w->given->shared->end_ns);
}

/* ---- where it is ------------------------------------------------------------------ */

uint64_t worker_position(struct worker *w)
{
    uint64_t next;
    int left = replay_reel_peek(w->reel, &next);
    uint64_t begin = w->given->begin_ns, media;
    if (w->ended)
        return replay_reel_place(w->reel).time_ns;
    media = left ? replay_pace_now(&w->pace, clock_mono_ns(), next)
                 : replay_reel_place(w->reel).time_ns;
    return media > begin ? media : begin;
}

static int fill_marks(struct worker *w)
{
    uint64_t version;
    struct replay_shared *shared = w->given->shared;
    if (atomic_load(&shared->version) == w->marks_version && w->change > 0)
        return 0;
    if (replay_shared_marks(shared, &w->marks, &version) != 0)
        return 0; /* later */
    w->marks_version = version;
    for (uint32_t i = 0; i < w->marks.count; i++) {
        const struct replay_mark *m = &w->marks.list[i];
        w->rows[i] = (struct wire_mark_row){m->id,       m->kind,   m->severity, m->since_ns,
                                            m->fired_ns, m->end_ns, m->title};
    }
    return 1;
}

/* @param marked  whether marks are told in any case */
const struct wire_replay *worker_fill_state(struct worker *w, int marked)
{
    struct jobs *jobs = replay_reel_jobs(w->reel);
    const struct options *options = w->given->options;
    int news = fill_marks(w), to_time = w->seeking && w->target.kind == REPLAY_TO_TIME;
    uint64_t target_ns = to_time ? w->target.value : 0; /* 0: a step */
    marked |= news;
    w->state = (struct wire_replay){
        .job = job_id(jobs_replayed(jobs)),
        .file = options->replay,
        .state = w->seeking                        ? "seeking"
                 : w->ended                        ? "ended"
                 : w->pace.paused && w->steps == 0 ? "paused"
                                                   : "playing",
        .begin_ns = w->given->begin_ns,
        .end_ns = worker_end_ns(w),
        .position_ns = worker_position(w),
        .change = ++w->change,
        .run = w->note.run,
        .speed = w->pace.speed,
        .paused = (uint64_t)w->pace.paused,
        .looping = (uint64_t)w->looping,
        .window = replay_reel_window(w->reel),
        .window_ns = options->window_ns,
        .indexed_ns = atomic_load(&w->given->shared->indexed_ns),
        .target_ns = target_ns,
        /* Another seek was asked for meanwhile: of its target this is no preview. */
        .known_ns = to_time && target_ns == w->note.target.value ? w->known_ns : 0,
        .reached_ns = w->seeking ? atomic_load(&w->given->shared->reached_ns) : 0,
        .fault = replay_reel_fault(w->reel),
        .marked = (uint64_t)marked,
        .marks = w->rows,
        .marks_count = marked ? w->marks.count : 0,
        .marks_left_out = marked ? w->marks.left_out : 0,
    };
    return &w->state;
}

void worker_tell(struct worker *w)
{
    const struct wire_replay *state = worker_fill_state(w, 0);
    struct publisher *publisher = replay_reel_publisher(w->reel);
    publisher_publish(publisher, state->job, WIRE_TYPE_REPLAY, state);
}

/* ---- feeding ------------------------------------------------------------------------ */

static void on_end(struct worker *w)
{
    w->ended = 1;
    worker_lead_to_end(w);
    log_info("replayed %" PRIu64 " messages in %.1f s", replay_reel_messages(w->reel),
             (double)(clock_mono_ns() - w->begun_ns) * 1e-9);
}

void worker_want(struct worker *w, const struct replay_target *target)
{
    worker_lead_no_more(w);
    w->steps = 0;
    struct replay_note note = {.kind = REPLAY_WANT,
                               .target = *target,
                               .speed = w->pace.speed,
                               .paused = w->pace.paused,
                               .looping = w->looping};
    if (replay_link_send(w->link, &note, NULL, 0) != 0)
        return; /* the server has gone, which ends us */
    w->seeking = 1;
    w->target = *target;
}

/* What comes behind the end. A file that is gone would end each loop at once. */
static void behind_end(struct worker *w)
{
    const struct replay_target begin = {REPLAY_TO_STEP, 0};
    int read = replay_reel_messages(w->reel) > 0;
    if (w->looping && !w->pace.paused && read)
        worker_want(w, &begin);
    else if (w->given->options->quit_at_end && !w->looping)
        replay_link_send(w->link, &(struct replay_note){.kind = REPLAY_STOP}, NULL, 0);
    worker_tell(w);
}

static void feed(struct worker *w)
{
    uint64_t time_ns;
    int stepped;
    if (replay_reel_peek(w->reel, &time_ns)) {
        stepped = replay_reel_feed(w->reel);
        replay_pace_fed(&w->pace, time_ns, clock_mono_ns());
        if (stepped)
            worker_lead_on(w);
    } else {
        stepped = replay_reel_feed(w->reel); /* which ends the job */
        on_end(w);
    }
    if (w->steps > 0 && (stepped || w->ended))
        w->steps = w->ended ? 0 : w->steps - 1;
}

static int is_full(const struct worker *w)
{
    return port_backlog(w->stream_port) > MOST_STREAM ||
           port_backlog(w->front_port) > MOST_STREAM ||
           jobs_replay_backlog(replay_reel_jobs(w->reel)) > MOST_RECORD;
}

static int may_feed(const struct worker *w)
{
    return w->going && !w->leaving && !w->seeking && !w->ended && (!w->pace.paused || w->steps > 0);
}

/* Wall time at which something is to be fed next: 0 is now. */
static uint64_t next_due(struct worker *w)
{
    uint64_t time_ns;
    if (!may_feed(w))
        return UINT64_MAX;
    int left = replay_reel_peek(w->reel, &time_ns);
    if (left && w->steps == 0)
        return replay_pace_due(&w->pace, time_ns);
    /* The end of the job comes with its last message, but in a loop. */
    return !left && w->looping && !w->pace.paused ? w->begun_ns + LOOP_NS : 0;
}

static void on_idle(uv_idle_t *idle)
{
    struct worker *w = idle->data;
    uint64_t begun = clock_mono_ns(), now = begun, steps = w->steps;
    while (now - begun < SLICE_NS && !is_full(w) && next_due(w) <= now) {
        feed(w);
        now = clock_mono_ns();
    }
    if (w->ended && w->going && !w->seeking && !w->leaving)
        behind_end(w);
    else if (steps > 0 && w->steps == 0)
        worker_tell(w); /* it stands still again */
    worker_plan(w);
}

static void on_next(uv_timer_t *timer)
{
    worker_plan(timer->data);
}

/* When to feed again. */
void worker_plan(struct worker *w)
{
    uint64_t due = next_due(w), now = clock_mono_ns();
    uv_idle_stop(&w->idle);
    uv_timer_stop(&w->next);
    if (due == UINT64_MAX)
        return;
    int full = is_full(w);
    w->full_ns = !full ? 0 : w->full_ns == 0 ? now : w->full_ns;
    if (full && now - w->full_ns > LEAD_NS)
        worker_lead_no_more(w);
    if (full) {
        uv_timer_start(&w->next, on_next, FULL_MS, 0);
    } else if (due <= now) {
        uv_idle_start(&w->idle, on_idle);
    } else {
        /* Rounded down: the rest is spent in turns of the loop, below a millisecond. */
        uint64_t wait_ms = (due - now) / 1000000;
        uv_timer_start(&w->next, on_next, wait_ms < 60000 ? wait_ms : 60000, 0);
    }
}

static uint64_t on_ask_kept(void *user, uint64_t instance)
{
    (void)user;
    (void)instance;
    return 0;
}

static int on_take(void *user, uint64_t instance, const struct wire_message *message,
                   zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault)
{
    (void)user;
    (void)instance;
    (void)message;
    (void)bytes;
    (void)now_ns;
    snprintf(fault->text, sizeof(fault->text), "this daemon replays a recording");
    return -HOLTER_EDENIED;
}

static void on_left(void *user, uint64_t instance, int in_order)
{
    (void)user;
    (void)instance;
    (void)in_order;
}

static void on_request(void *user, struct peer *peer, const struct wire_request *request)
{
    struct worker *w = user;
    if (!w->replaced) /* who asks has been told, hears no answer, and asks the other one */
        control_request(w->control, w->front, peer, request);
}

static void on_turn(void *user, uint64_t heard_ns, uint64_t now_ns)
{
    (void)user;
    (void)heard_ns;
    (void)now_ns;
}

static void on_stop(void *user)
{
    const struct worker *w = user;
    replay_link_send(w->link, &(struct replay_note){.kind = REPLAY_STOP}, NULL, 0);
}

/* ---- the server ------------------------------------------------------------------------ */

static void leave_now(struct worker *w)
{
    w->leaving = 1;
    uv_stop(&w->loop);
}

/* The last words are to reach the server. */
static void on_flush(uv_timer_t *timer)
{
    struct worker *w = timer->data;
    if (port_backlog(w->front_port) == 0 && port_backlog(w->stream_port) == 0)
        leave_now(w);
}

static void on_note(struct worker *w, const struct replay_note *note)
{
    switch (note->kind) {
    case REPLAY_GO:
        w->going = 1;
        w->begun_ns = clock_mono_ns();
        w->looping = note->looping;
        w->seeking = note->seeking;
        w->target = note->target;
        replay_pace_set(&w->pace, note->speed, note->paused, w->pace.media_ns, clock_mono_ns());
        worker_lead_or_not(w);
        if (w->ended)
            behind_end(w);
        else
            worker_tell(w);
        worker_plan(w);
        return;
    case REPLAY_FAILED:
        w->seeking = 0;
        worker_set_pace(w, w->pace.speed, w->pace.paused);
        worker_tell(w);
        worker_plan(w);
        return;
    case REPLAY_WANT:
        worker_want(w, &note->target);
        worker_tell(w);
        worker_plan(w);
        return;
    case REPLAY_MODE:
        w->looping = note->looping;
        worker_set_pace(w, note->speed, note->paused);
        worker_tell_mode(w);
        worker_tell(w);
        worker_plan(w);
        return;
    case REPLAY_SPARSER:
        replay_leader_thin(&w->leader);
        return;
    case REPLAY_HOLD: /* it does not wait: the index does, which goes on from here */
        if (note->paused)
            worker_lead_no_more(w);
        return;
    case REPLAY_LEAVE:
        w->replaced = note->instance != 0;
        if (w->replaced)
            front_restart(w->front, note->instance);
        w->leaving = 1;
        worker_plan(w);
        uv_timer_start(&w->flush, on_flush, 0, FLUSH_MS);
        return;
    default:
        return;
    }
}

static void on_link(uv_poll_t *poll, int status, int events)
{
    struct worker *w = poll->data;
    (void)status;
    (void)events;
    for (;;) {
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        int code = replay_link_receive(w->link, &note, fds, &count);
        if (code == -EAGAIN)
            return;
        if (code != 1) {
            leave_now(w);
            return;
        }
        while (count > 0)
            close(fds[--count]);
        on_note(w, &note);
    }
}

static void on_over(void *user)
{
    leave_now(user);
}

static void on_tell(uv_timer_t *timer)
{
    struct worker *w = timer->data;
    struct replay_shared *shared = w->given->shared;
    int moves = may_feed(w) || w->seeking || atomic_load(&shared->version) != w->marks_version ||
                w->state.indexed_ns != atomic_load(&shared->indexed_ns) ||
                w->state.end_ns != worker_end_ns(w);
    if (moves && w->going && !w->leaving)
        worker_tell(w);
}

static void on_tick(uv_timer_t *timer)
{
    front_tick(((struct worker *)timer->data)->front);
}

/* ---- life -------------------------------------------------------------------------------- */

static int start_handles(struct worker *w)
{
    int code = uv_loop_init(&w->loop);
    uv_timer_t *timers[] = {&w->next, &w->tell, &w->tick, &w->flush};
    for (size_t i = 0; code == 0 && i < sizeof(timers) / sizeof(*timers); i++) {
        uv_timer_init(&w->loop, timers[i]);
        timers[i]->data = w;
    }
    if (code == 0) {
        uv_idle_init(&w->loop, &w->idle);
        w->idle.data = w;
        fcntl(w->link, F_SETFL, fcntl(w->link, F_GETFL) | O_NONBLOCK);
        code = uv_poll_init(&w->loop, &w->link_poll, w->link);
        w->link_poll.data = w;
    }
    return code != 0 ? code : uv_poll_start(&w->link_poll, UV_READABLE, on_link);
}

static int start_modules(struct worker *w, const int fds[2])
{
    const struct replay_worker_options *g = w->given;
    const struct front_verbs verbs = {w, on_ask_kept, on_take, on_left, on_request, on_turn};
    struct control_options control = {.options = g->options,
                                      .timeline = g->timeline,
                                      .jobs = replay_reel_jobs(w->reel),
                                      .publisher = replay_reel_publisher(w->reel),
                                      .network = g->network,
                                      .user = w,
                                      .stop = on_stop,
                                      .stop_when_idle = on_stop,
                                      .replay = worker_ask,
                                      .replay_state = worker_replay_state,
                                      .pid = g->server};
    int code = port_open_pipe(&w->front_port, &w->loop, fds[0], on_over, w);
    code = code != 0 ? code : port_open_pipe(&w->stream_port, &w->loop, fds[1], on_over, w);
    code = code != 0 ? code : control_create(&w->control, &w->loop, &control);
    if (code == 0)
        code = front_create(&w->front, w->front_port, g->options, g->timeline, w->note.instance,
                            &verbs);
    if (code == 0)
        publisher_open(replay_reel_publisher(w->reel), w->stream_port, w->note.instance);
    return code;
}

static int start_recording(struct worker *w)
{
    char why[400];
    const char *directory = w->given->options->record;
    if (directory == NULL)
        return 0;
    int code = jobs_replay_record(replay_reel_jobs(w->reel), &w->loop, directory,
                                  &w->record_stopped, why, sizeof(why));
    w->recording = code == 0;
    if (code != 0)
        log_error("%s", why);
    return code;
}

/* ---- on the way -------------------------------------------------------------------------- */

static int goes_on(void *user, const struct replay_place *place)
{
    struct worker *w = user;
    worker_leave_on_way(w, place);
    uint64_t now = clock_mono_ns();
    if (now - w->looked_ns < LOOK_NS)
        return 1;
    w->looked_ns = now;
    if (w->note.preview) /* how far it is, is told of the other one */
        return !replay_link_over(w->link);
    atomic_store(&w->given->shared->reached_ns, place->time_ns);
    return !replay_link_over(w->link);
}

static void start_pace(struct worker *w)
{
    struct replay_place place = replay_reel_place(w->reel);
    const struct replay_target *t = &w->note.target;
    uint64_t media =
        t->kind == REPLAY_TO_TIME && t->value > place.time_ns ? t->value : place.time_ns;
    media = media > w->given->begin_ns ? media : w->given->begin_ns;
    replay_pace_init(&w->pace, w->note.speed, w->note.paused, media, clock_mono_ns());
    w->looping = w->note.looping;
    w->ended = place.ended;
}

/* The system takes what is open with the process; a recording alone has to be ended in order. */
static _Noreturn void end(struct worker *w, int status)
{
    if (w->recording)
        replay_reel_destroy(w->reel, timeline_now(w->given->timeline));
    if (w->record_stopped)
        replay_link_send(w->link, &(struct replay_note){.kind = REPLAY_UNRECORDED}, NULL, 0);
    _exit(status);
}

void replay_worker_run(void *user, struct replay_reel *reel, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS])
{
    struct worker *w = calloc(1, sizeof(*w));
    if (w == NULL)
        _exit(1);
    *w = (struct worker){.given = user, .reel = reel, .note = *note, .link = fds[2]};
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    worker_start_near(w, fds);
    if (note->preview && replay_reel_jump(reel, note->target.value, &w->known_ns) != 0)
        _exit(0); /* there is none: the other one comes */
    if (!replay_reel_run(reel, &note->target, goes_on, w))
        _exit(0);
    if (!note->preview)
        atomic_store(&w->given->shared->reached_ns, replay_reel_place(reel).time_ns);
    start_pace(w);
    int code = start_handles(w);
    code = code != 0 ? code : start_modules(w, fds);
    code = code != 0 ? code : start_recording(w);
    if (code == 0)
        worker_start_leading(w, fds);
    if (code == 0 && (code = replay_link_send(w->link, &(struct replay_note){.kind = REPLAY_READY},
                                              NULL, 0)) == -EPIPE)
        end(w, 0); /* another seek came meanwhile: nobody waits for this one */
    if (code != 0) {
        log_error("a worker of the replay cannot start: %s", holter_strerror(code));
        end(w, 1);
    }
    uv_timer_start(&w->tell, on_tell, TELL_MS, TELL_MS);
    uv_timer_start(&w->tick, on_tick, TICK_MS, TICK_MS);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    end(w, 0);
}
