/* What clients ask of a replay, and how a worker carries it out. */
#include "daemon/replay/replay_worker_internal.h"

#include "daemon/replay/replay_request.h"
#include "holter/error.h"
#include "proto/moment.h"

#include <errno.h>
#include <stdio.h>

void replay_worker_send_mode(struct replay_worker *worker)
{
    const struct replay_note mode = {.kind = REPLAY_NOTE_MODE,
                                     .speed = worker->pace.speed,
                                     .paused = worker->pace.paused,
                                     .looping = worker->looping};
    if (worker->seeking)
        replay_worker_send(worker, &mode);
}

static int replay_worker_refuse_seek(const struct replay_worker *worker, char *why, size_t capacity)
{
    if (!worker->recording)
        return 0;
    snprintf(why, capacity,
             "this replay is recorded, from its begin to its end: it cannot be sent elsewhere");
    return -HOLTER_EDENIED;
}

/* The number of steps up to where the last step or seek that was asked for ends: the next one is
 * counted from there. For a seek to a time it is not known before it is reached, and a preview
 * counts from where it began. */
static int replay_worker_count_steps(const struct replay_worker *worker, uint64_t *steps, char *why,
                                     size_t capacity)
{
    if (worker->note.preview || (worker->seeking && worker->seek_target.kind == REPLAY_TO_TIME)) {
        snprintf(why, capacity, "a seek is under way: ask again when it is done");
        return -EBUSY;
    }
    *steps = worker->seeking ? worker->seek_target.value
                             : replay_feeder_place(worker->feeder).steps + worker->steps;
    return 0;
}

static int replay_worker_seek_step(struct replay_worker *worker, uint64_t steps, char *why,
                                   size_t capacity)
{
    const struct replay_target target = {REPLAY_TO_STEP, steps};
    int code = replay_worker_refuse_seek(worker, why, capacity);
    if (code == 0)
        replay_worker_seek(worker, &target);
    return code;
}

/* ---- the requests ------------------------------------------------------------------- */

/* After the end it plays from the begin. */
static int replay_worker_play(struct replay_worker *worker, char *why, size_t capacity)
{
    int from_begin = worker->ended && !worker->seeking;
    int code = from_begin ? replay_worker_refuse_seek(worker, why, capacity) : 0;
    if (code != 0)
        return code;
    replay_worker_set_pace(worker, worker->pace.speed, 0);
    return from_begin ? replay_worker_seek_step(worker, 0, why, capacity) : 0;
}

/* The step is made in turns of the loop, as there may be many messages before the next window. */
static int replay_worker_step(struct replay_worker *worker, char *why, size_t capacity)
{
    uint64_t steps;
    int code = replay_worker_count_steps(worker, &steps, why, capacity);
    if (code == 0 && worker->seeking)
        code = replay_worker_refuse_seek(worker, why, capacity);
    if (code != 0)
        return code;
    replay_worker_set_pace(worker, worker->pace.speed, 1);
    if (worker->seeking)
        return replay_worker_seek_step(worker, steps + 1, why, capacity);
    worker->steps += !worker->ended;
    return 0;
}

static int replay_worker_step_back(struct replay_worker *worker, char *why, size_t capacity)
{
    uint64_t steps;
    int code = replay_worker_count_steps(worker, &steps, why, capacity);
    code = code != 0 ? code : replay_worker_refuse_seek(worker, why, capacity);
    if (code != 0)
        return code;
    replay_worker_set_pace(worker, worker->pace.speed, 1);
    return replay_worker_seek_step(worker, steps > 0 ? steps - 1 : 0, why, capacity);
}

static int replay_worker_seek_moment(struct replay_worker *worker, const char *moment, char *why,
                                     size_t capacity)
{
    struct replay_target target = {.kind = REPLAY_TO_TIME};
    int code = replay_worker_refuse_seek(worker, why, capacity);
    if (code == 0)
        code = moment_parse(moment, worker->given->begin_ns, replay_worker_end_ns(worker),
                            &target.value, why, capacity);
    if (code == 0)
        replay_worker_seek(worker, &target);
    return code;
}

/* After the end a loop begins at once, unless it is paused. */
static int replay_worker_set_loop(struct replay_worker *worker, int on, char *why, size_t capacity)
{
    int code = on ? replay_worker_refuse_seek(worker, why, capacity) : 0;
    if (code != 0)
        return code;
    worker->looping = on;
    if (on && worker->ended && !worker->seeking && !worker->pace.paused)
        return replay_worker_seek_step(worker, 0, why, capacity);
    return 0;
}

static int replay_worker_execute(struct replay_worker *worker, const struct replay_request *request,
                                 char *why, size_t capacity)
{
    switch (request->verb) {
    case REPLAY_REPORT:
        break;
    case REPLAY_PAUSE:
        worker->steps = 0;
        replay_worker_set_pace(worker, worker->pace.speed, 1);
        break;
    case REPLAY_PLAY:
        return replay_worker_play(worker, why, capacity);
    case REPLAY_STEP:
        return replay_worker_step(worker, why, capacity);
    case REPLAY_STEP_BACK:
        return replay_worker_step_back(worker, why, capacity);
    case REPLAY_SEEK:
        return replay_worker_seek_moment(worker, request->moment, why, capacity);
    case REPLAY_SPEED:
        replay_worker_set_pace(worker, request->speed, worker->pace.paused);
        break;
    case REPLAY_LOOP:
        return replay_worker_set_loop(worker, request->on, why, capacity);
    }
    return 0;
}

int replay_worker_request(void *user, const char *argument, char *why, size_t capacity)
{
    struct replay_worker *worker = user;
    struct replay_request request;
    int code = replay_request_parse(&request, argument, why, capacity);
    if (code != 0 || request.verb == REPLAY_REPORT)
        return code;
    code = replay_worker_execute(worker, &request, why, capacity);
    replay_worker_send_mode(worker);
    replay_worker_publish(worker);
    replay_worker_schedule(worker);
    return code;
}

const struct wire_replay *replay_worker_report(void *user)
{
    return replay_worker_fill_report(user, 1);
}
