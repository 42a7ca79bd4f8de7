/* How a worker feeds at its pace, and reports where it is. */
#include "daemon/replay/replay_worker_internal.h"
#include "daemon/server/publish.h"

#include "holter/clock.h"
#include "proto/log.h"

#include <inttypes.h>

#define LOG_TOPIC "replay"
#define SLICE_NS UINT64_C(10000000) /* feeding time between two polls of clients */
/* It feeds no more while so many bytes wait to be sent or recorded. */
#define STREAM_BACKLOG_MAXIMUM ((size_t)4 << 20)
#define RECORD_BACKLOG_MAXIMUM ((size_t)64 << 20)
#define BACKLOG_RETRY_MS 5
#define WAIT_MAXIMUM_MS 60000u
/* A run of a loop takes this long at least: else clients would only reconnect. */
#define LOOP_MINIMUM_NS UINT64_C(1000000000)

/* ---- reporting ---------------------------------------------------------------------- */

uint64_t replay_worker_end_ns(const struct replay_worker *worker)
{
    return atomic_load(&worker->given->shared->end_ns);
}

static uint64_t replay_worker_position(struct replay_worker *worker)
{
    uint64_t next_ns, begin_ns = worker->given->begin_ns;
    uint64_t media_ns = replay_feeder_place(worker->feeder).time_ns;
    if (worker->ended)
        return media_ns;
    if (replay_feeder_peek(worker->feeder, &next_ns))
        media_ns = replay_pace_now(&worker->pace, clock_mono_ns(), next_ns);
    return media_ns > begin_ns ? media_ns : begin_ns;
}

/* @return whether they have changed */
static int replay_worker_fill_marks(struct replay_worker *worker)
{
    uint64_t version;
    struct replay_shared *shared = worker->given->shared;
    if (atomic_load(&shared->version) == worker->marks_version && worker->change > 0)
        return 0;
    if (replay_shared_read_marks(shared, &worker->marks, &version) != 0)
        return 0; /* the next report tries again */
    worker->marks_version = version;
    for (uint32_t i = 0; i < worker->marks.count; i++) {
        const struct replay_mark *mark = &worker->marks.list[i];
        worker->rows[i] =
            (struct wire_mark_row){mark->id,       mark->kind,   mark->severity, mark->since_ns,
                                   mark->fired_ns, mark->end_ns, mark->title};
    }
    return 1;
}

static const char *replay_worker_state_name(const struct replay_worker *worker)
{
    if (worker->seeking)
        return "seeking";
    if (worker->ended)
        return "ended";
    return worker->pace.paused && worker->steps == 0 ? "paused" : "playing";
}

const struct wire_replay *replay_worker_fill_report(struct replay_worker *worker, int with_marks)
{
    const struct replay_options *options = worker->given->options;
    struct replay_shared *shared = worker->given->shared;
    int marked = replay_worker_fill_marks(worker) || with_marks;
    int to_time = worker->seeking && worker->seek_target.kind == REPLAY_TO_TIME;
    uint64_t target_ns = to_time ? worker->seek_target.value : 0; /* 0: a step, or none */
    worker->report = (struct wire_replay){
        .job = job_id(jobs_replayed(replay_feeder_jobs(worker->feeder))),
        .file = options->file,
        .state = replay_worker_state_name(worker),
        .begin_ns = worker->given->begin_ns,
        .end_ns = replay_worker_end_ns(worker),
        .position_ns = replay_worker_position(worker),
        .change = ++worker->change,
        .run = worker->note.run,
        .speed = worker->pace.speed,
        .paused = (uint64_t)worker->pace.paused,
        .looping = (uint64_t)worker->looping,
        .window = replay_feeder_window(worker->feeder),
        .window_ns = options->server.window_ns,
        .indexed_ns = atomic_load(&shared->indexed_ns),
        .target_ns = target_ns,
        /* This is no preview of a target that was asked for meanwhile. */
        .known_ns = to_time && target_ns == worker->note.target.value ? worker->known_ns : 0,
        .reached_ns = worker->seeking ? atomic_load(&shared->reached_ns) : 0,
        .fault = replay_feeder_fault(worker->feeder),
        .marked = (uint64_t)marked,
        .marks = worker->rows,
        .marks_count = marked ? worker->marks.count : 0,
        .marks_left_out = marked ? worker->marks.left_out : 0,
    };
    return &worker->report;
}

void replay_worker_publish(struct replay_worker *worker)
{
    const struct wire_replay *report = replay_worker_fill_report(worker, 0);
    publisher_publish(replay_feeder_publisher(worker->feeder), report->job, WIRE_TYPE_REPLAY,
                      report);
}

/* ---- feeding ------------------------------------------------------------------------ */

static void replay_worker_feed_message(struct replay_worker *worker)
{
    uint64_t time_ns;
    int stepped, left = replay_feeder_peek(worker->feeder, &time_ns);
    stepped = replay_feeder_feed(worker->feeder); /* after the last message: the end of the job */
    if (left) {
        replay_pace_fed(&worker->pace, time_ns, clock_mono_ns());
    } else {
        worker->ended = 1;
        if (worker->recording) /* the index does not run */
            replay_shared_finish(worker->given->shared,
                                 replay_feeder_place(worker->feeder).time_ns);
        log_info("replayed %" PRIu64 " messages in %.1f s", replay_feeder_messages(worker->feeder),
                 (double)(clock_mono_ns() - worker->begun_ns) * 1e-9);
    }
    if (worker->ended)
        worker->steps = 0;
    else if (worker->steps > 0 && stepped)
        worker->steps--;
}

void replay_worker_on_end_of_recording(struct replay_worker *worker)
{
    const struct replay_target begin = {REPLAY_TO_STEP, 0};
    /* A loop over a file that has been removed would end each run at once. */
    int has_messages = replay_feeder_messages(worker->feeder) > 0;
    if (worker->looping && !worker->pace.paused && has_messages)
        replay_worker_seek(worker, &begin);
    else if (worker->given->options->quit_at_end && !worker->looping)
        replay_worker_send(worker, &(struct replay_note){.kind = REPLAY_NOTE_STOP});
    replay_worker_publish(worker);
}

static int replay_worker_is_congested(const struct replay_worker *worker)
{
    return msg_socket_backlog(worker->stream_port) > STREAM_BACKLOG_MAXIMUM ||
           msg_socket_backlog(worker->front_port) > STREAM_BACKLOG_MAXIMUM ||
           jobs_replay_backlog(replay_feeder_jobs(worker->feeder)) > RECORD_BACKLOG_MAXIMUM;
}

int replay_worker_is_feeding(const struct replay_worker *worker)
{
    return worker->serving && !worker->leaving && !worker->seeking && !worker->ended &&
           (!worker->pace.paused || worker->steps > 0);
}

/* @return CLOCK_MONOTONIC time at which the next message is due; 0: now; UINT64_MAX: never */
static uint64_t replay_worker_next_due(struct replay_worker *worker)
{
    uint64_t time_ns;
    if (!replay_worker_is_feeding(worker))
        return UINT64_MAX;
    int left = replay_feeder_peek(worker->feeder, &time_ns);
    if (left && worker->steps == 0)
        return replay_pace_due(&worker->pace, time_ns);
    /* The end of the job follows its last message at once, but not in a loop. */
    return !left && worker->looping && !worker->pace.paused ? worker->begun_ns + LOOP_MINIMUM_NS
                                                            : 0;
}

static void replay_worker_on_idle(uv_idle_t *idle)
{
    struct replay_worker *worker = idle->data;
    uint64_t begun = clock_mono_ns(), now = begun, steps = worker->steps;
    while (now - begun < SLICE_NS && !replay_worker_is_congested(worker) &&
           replay_worker_next_due(worker) <= now) {
        replay_worker_feed_message(worker);
        now = clock_mono_ns();
    }
    if (worker->ended && worker->serving && !worker->seeking && !worker->leaving)
        replay_worker_on_end_of_recording(worker);
    else if (steps > 0 && worker->steps == 0)
        replay_worker_publish(worker); /* all steps were made */
    replay_worker_schedule(worker);
}

static void replay_worker_on_feed_timer(uv_timer_t *timer)
{
    replay_worker_schedule(timer->data);
}

void replay_worker_schedule(struct replay_worker *worker)
{
    uint64_t due = replay_worker_next_due(worker), now = clock_mono_ns();
    uv_idle_stop(&worker->feed_idle);
    uv_timer_stop(&worker->feed_timer);
    if (due == UINT64_MAX)
        return;
    if (replay_worker_is_congested(worker)) {
        uv_timer_start(&worker->feed_timer, replay_worker_on_feed_timer, BACKLOG_RETRY_MS, 0);
    } else if (due <= now) {
        uv_idle_start(&worker->feed_idle, replay_worker_on_idle);
    } else {
        /* Rounded down: what is left, below a millisecond, is spent in turns of the loop. */
        uint64_t wait_ms = (due - now) / 1000000;
        uv_timer_start(&worker->feed_timer, replay_worker_on_feed_timer,
                       wait_ms < WAIT_MAXIMUM_MS ? wait_ms : WAIT_MAXIMUM_MS, 0);
    }
}

void replay_worker_set_pace(struct replay_worker *worker, double speed, int paused)
{
    worker->steps = paused ? worker->steps : 0;
    replay_pace_set(&worker->pace, speed, paused, replay_worker_position(worker), clock_mono_ns());
}
