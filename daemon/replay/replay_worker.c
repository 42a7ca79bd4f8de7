/* The life of a worker: on its way to the target, serving, and leaving. */
#include "daemon/replay/replay_worker_internal.h"

#include "daemon/server/publish.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define REPORT_MS 100 /* between two reports of the position */
#define TICK_MS 100
#define FLUSH_MS 1
#define POLL_INTERVAL_NS UINT64_C(5000000) /* between two polls of the link, while seeking */

int replay_worker_send(struct replay_worker *worker, const struct replay_note *note)
{
    return replay_link_send(worker->link, note, NULL, 0);
}

void replay_worker_seek(struct replay_worker *worker, const struct replay_target *target)
{
    const struct replay_note note = {.kind = REPLAY_NOTE_SEEK,
                                     .target = *target,
                                     .speed = worker->pace.speed,
                                     .paused = worker->pace.paused,
                                     .looping = worker->looping};
    worker->steps = 0;
    if (replay_worker_send(worker, &note) != 0)
        return;
    worker->seeking = 1;
    worker->seek_target = *target;
}

/* ---- what peers send ---------------------------------------------------------------------- */

static void replay_worker_on_request(void *user, struct peer *peer,
                                     const struct wire_request *request)
{
    struct replay_worker *worker = user;
    /* A client that knows of the successor expects no answer, and asks the successor. */
    if (!worker->replaced)
        control_request(worker->control, worker->front, peer, request);
}

static void replay_worker_on_stop(void *user)
{
    replay_worker_send(user, &(struct replay_note){.kind = REPLAY_NOTE_STOP});
}

/* ---- what the server sends ------------------------------------------------------------------ */

static void replay_worker_end_loop(void *user)
{
    struct replay_worker *worker = user;
    worker->leaving = 1;
    uv_stop(&worker->loop);
}

static void replay_worker_on_flush(uv_timer_t *timer)
{
    struct replay_worker *worker = timer->data;
    if (msg_socket_backlog(worker->front_port) == 0 && msg_socket_backlog(worker->stream_port) == 0)
        replay_worker_end_loop(worker);
}

static void replay_worker_on_serve(struct replay_worker *worker, const struct replay_note *note)
{
    worker->serving = 1;
    worker->begun_ns = clock_mono_ns();
    worker->looping = note->looping;
    worker->seeking = note->seeking;
    worker->seek_target = note->target;
    replay_pace_set(&worker->pace, note->speed, note->paused, worker->pace.media_ns,
                    worker->begun_ns);
    if (worker->ended)
        replay_worker_on_end_of_recording(worker);
    else
        replay_worker_publish(worker);
}

static void replay_worker_on_seek_failed(struct replay_worker *worker,
                                         const struct replay_note *note)
{
    (void)note;
    worker->seeking = 0;
    replay_worker_set_pace(worker, worker->pace.speed, worker->pace.paused);
    replay_worker_publish(worker);
}

static void replay_worker_on_seek(struct replay_worker *worker, const struct replay_note *note)
{
    replay_worker_seek(worker, &note->target);
    replay_worker_publish(worker);
}

static void replay_worker_on_mode(struct replay_worker *worker, const struct replay_note *note)
{
    worker->looping = note->looping;
    replay_worker_set_pace(worker, note->speed, note->paused);
    replay_worker_send_mode(worker);
    replay_worker_publish(worker);
}

/* What was sent has to reach the server before this process ends. */
static void replay_worker_on_leave(struct replay_worker *worker, const struct replay_note *note)
{
    worker->replaced = note->instance != 0;
    if (worker->replaced)
        front_announce_restart(worker->front, note->instance);
    worker->leaving = 1;
    uv_timer_start(&worker->flush, replay_worker_on_flush, 0, FLUSH_MS);
}

static const struct {
    enum replay_note_kind kind;
    void (*handle)(struct replay_worker *worker, const struct replay_note *note);
} replay_worker_notes[] = {
    {REPLAY_NOTE_SERVE, replay_worker_on_serve},
    {REPLAY_NOTE_SEEK_FAILED, replay_worker_on_seek_failed},
    {REPLAY_NOTE_SEEK, replay_worker_on_seek},
    {REPLAY_NOTE_MODE, replay_worker_on_mode},
    {REPLAY_NOTE_LEAVE, replay_worker_on_leave},
};

static void replay_worker_on_note(struct replay_worker *worker, const struct replay_note *note)
{
    for (size_t i = 0; i < sizeof(replay_worker_notes) / sizeof(replay_worker_notes[0]); i++) {
        if (replay_worker_notes[i].kind != note->kind)
            continue;
        replay_worker_notes[i].handle(worker, note);
        replay_worker_schedule(worker);
        return;
    }
}

static void replay_worker_on_link(void *user, struct replay_watch *watch,
                                  const struct replay_note *note, int fd)
{
    (void)watch;
    if (fd >= 0)
        close(fd);
    if (note == NULL)
        replay_worker_end_loop(user);
    else
        replay_worker_on_note(user, note);
}

static void replay_worker_on_report_timer(uv_timer_t *timer)
{
    struct replay_worker *worker = timer->data;
    struct replay_shared *shared = worker->given->shared;
    int changed = replay_worker_is_feeding(worker) || worker->seeking ||
                  atomic_load(&shared->version) != worker->marks_version ||
                  worker->report.indexed_ns != atomic_load(&shared->indexed_ns) ||
                  worker->report.end_ns != replay_worker_end_ns(worker);
    if (changed && worker->serving && !worker->leaving)
        replay_worker_publish(worker);
}

/* As fast as it can, and without a client who could seek: on one processor the index would only
 * halve the speed. */
static void replay_worker_hold_index(struct replay_worker *worker)
{
    struct front_counts counts;
    front_count(worker->front, &counts);
    int waits = replay_worker_is_feeding(worker) && !worker->pace.paused &&
                worker->pace.speed <= 0 && counts.clients == 0;
    atomic_store(&worker->given->shared->index_waits, waits);
}

static void replay_worker_on_tick(uv_timer_t *timer)
{
    struct replay_worker *worker = timer->data;
    front_tick(worker->front);
    if (worker->serving && !worker->leaving)
        replay_worker_hold_index(worker);
}

/* ---- life -------------------------------------------------------------------------------- */

static int replay_worker_start_handles(struct replay_worker *worker)
{
    int code = uv_loop_init(&worker->loop);
    uv_timer_t *timers[] = {&worker->feed_timer, &worker->report_timer, &worker->tick,
                            &worker->flush};
    for (size_t i = 0; code == 0 && i < sizeof(timers) / sizeof(*timers); i++) {
        uv_timer_init(&worker->loop, timers[i]);
        timers[i]->data = worker;
    }
    if (code != 0)
        return code;
    uv_idle_init(&worker->loop, &worker->feed_idle);
    worker->feed_idle.data = worker;
    return replay_watch_open(&worker->watch, &worker->loop, worker->link, replay_worker_on_link,
                             worker);
}

static int replay_worker_start_modules(struct replay_worker *worker, const int fds[2])
{
    const struct replay_worker_options *given = worker->given;
    struct publisher *publisher = replay_feeder_publisher(worker->feeder);
    const struct front_callbacks callbacks = {.user = worker, .request = replay_worker_on_request};
    struct control_options control = {.options = &given->options->server,
                                      .timeline = given->timeline,
                                      .jobs = replay_feeder_jobs(worker->feeder),
                                      .publisher = publisher,
                                      .network = given->network,
                                      .user = worker,
                                      .stop = replay_worker_on_stop,
                                      .stop_when_idle = replay_worker_on_stop,
                                      .replay = replay_worker_request,
                                      .replay_state = replay_worker_report,
                                      .pid = given->server};
    int code = msg_socket_open_pipe(&worker->front_port, &worker->loop, fds[0],
                                    replay_worker_end_loop, worker);
    if (code == 0)
        code = msg_socket_open_pipe(&worker->stream_port, &worker->loop, fds[1],
                                    replay_worker_end_loop, worker);
    code = code != 0 ? code : control_create(&worker->control, &worker->loop, &control);
    if (code == 0)
        code = front_create(&worker->front, worker->front_port, &given->options->server,
                            given->timeline, worker->note.instance, &callbacks);
    if (code == 0)
        publisher_open(publisher, worker->stream_port, worker->note.instance);
    return code;
}

static int replay_worker_start_recording(struct replay_worker *worker)
{
    char why[400];
    const char *directory = worker->given->options->record;
    if (directory == NULL)
        return 0;
    int code = jobs_replay_record(replay_feeder_jobs(worker->feeder), &worker->loop, directory,
                                  &worker->record_stopped, why, sizeof(why));
    worker->recording = code == 0;
    if (code == 0)
        replay_feeder_mute_alerts(worker->feeder, 0); /* the index does not run */
    else
        log_error("%s", why);
    return code;
}

static int replay_worker_on_the_way(void *user, const struct replay_place *place)
{
    struct replay_worker *worker = user;
    uint64_t now = clock_mono_ns();
    if (now - worker->polled_ns < POLL_INTERVAL_NS)
        return 1;
    worker->polled_ns = now;
    if (!worker->note.preview) /* progress is that of the worker that is no preview */
        atomic_store(&worker->given->shared->reached_ns, place->time_ns);
    return !replay_link_closed(worker->link);
}

static void replay_worker_init_pace(struct replay_worker *worker)
{
    struct replay_place place = replay_feeder_place(worker->feeder);
    const struct replay_target *target = &worker->note.target;
    uint64_t media_ns = place.time_ns, begin_ns = worker->given->begin_ns;
    if (target->kind == REPLAY_TO_TIME && target->value > media_ns)
        media_ns = target->value;
    media_ns = media_ns > begin_ns ? media_ns : begin_ns;
    replay_pace_set(&worker->pace, worker->note.speed, worker->note.paused, media_ns,
                    clock_mono_ns());
    worker->looping = worker->note.looping;
    worker->ended = place.ended;
}

/* The system closes what is open with the process; only a recording has to be ended in order. */
static _Noreturn void replay_worker_end(struct replay_worker *worker, int status)
{
    if (worker->recording)
        replay_feeder_destroy(worker->feeder, timeline_now(worker->given->timeline));
    if (worker->record_stopped)
        replay_worker_send(worker, &(struct replay_note){.kind = REPLAY_NOTE_UNRECORDED});
    _exit(status);
}

static void replay_worker_reach_target(struct replay_worker *worker)
{
    const struct replay_note *note = &worker->note;
    if (note->preview &&
        replay_feeder_jump(worker->feeder, note->target.value, &worker->known_ns) != 0)
        _exit(0); /* the seek goes on without a preview */
    if (!replay_feeder_run(worker->feeder, &note->target, replay_worker_on_the_way, worker))
        _exit(0); /* another seek was asked for */
    if (!note->preview)
        atomic_store(&worker->given->shared->reached_ns,
                     replay_feeder_place(worker->feeder).time_ns);
    replay_worker_init_pace(worker);
}

void replay_worker_run(void *user, struct replay_feeder *feeder, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS])
{
    struct replay_worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL)
        _exit(1);
    *worker =
        (struct replay_worker){.given = user, .feeder = feeder, .note = *note, .link = fds[2]};
    signal(SIGCHLD, SIG_DFL); /* searches wait for their processes */
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    replay_worker_reach_target(worker);
    int code = replay_worker_start_handles(worker);
    code = code != 0 ? code : replay_worker_start_modules(worker, fds);
    code = code != 0 ? code : replay_worker_start_recording(worker);
    if (code == 0)
        code = replay_worker_send(worker, &(struct replay_note){.kind = REPLAY_NOTE_READY});
    if (code == -EPIPE)
        replay_worker_end(worker, 0); /* another seek was asked for */
    if (code != 0) {
        log_error("a worker of the replay cannot start: %s", holter_strerror(code));
        replay_worker_end(worker, 1);
    }
    uv_timer_start(&worker->report_timer, replay_worker_on_report_timer, REPORT_MS, REPORT_MS);
    uv_timer_start(&worker->tick, replay_worker_on_tick, TICK_MS, TICK_MS);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
    replay_worker_end(worker, 0);
}
