/* What clients ask of a replay. */
#include "daemon/replay_worker_state.h"

#include "daemon/replay_ask.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/moment.h"

#include <errno.h>
#include <stdio.h>

void worker_set_pace(struct worker *w, double speed, int paused)
{
    w->steps = paused ? w->steps : 0;
    replay_pace_set(&w->pace, speed, paused, worker_position(w), clock_mono_ns());
    worker_lead_or_not(w);
}

void worker_tell_mode(struct worker *w)
{
    const struct replay_note mode = {.kind = REPLAY_MODE,
                                     .speed = w->pace.speed,
                                     .paused = w->pace.paused,
                                     .looping = w->looping};
    if (w->seeking)
        replay_link_send(w->link, &mode, NULL, 0);
}

/* It is made in turns of the loop: what lies before the next window may take long. */
static void step(struct worker *w)
{
    worker_set_pace(w, w->pace.speed, 1);
    if (w->ended)
        return;
    if (w->steps == 0)
        worker_leave_near(w);
    w->steps++;
}

static int refuse_seek(const struct worker *w, char *why, size_t room)
{
    if (!w->recording)
        return 0;
    snprintf(why, room,
             "this replay is recorded, from its begin to its end: it cannot be sent elsewhere");
    return -HOLTER_EDENIED;
}

static int seek(struct worker *w, const char *moment, char *why, size_t room)
{
    struct replay_target target = {.kind = REPLAY_TO_TIME};
    uint64_t begin = w->given->begin_ns;
    int code = refuse_seek(w, why, room);
    code =
        code != 0 ? code : moment_parse(moment, begin, worker_end_ns(w), &target.value, why, room);
    if (code == 0)
        worker_want(w, &target);
    return code;
}

static int busy(char *why, size_t room)
{
    snprintf(why, room, "a seek is under way: ask again when it is done");
    return -EBUSY;
}

static int step_back(struct worker *w, char *why, size_t room)
{
    if (w->note.preview)
        return busy(why, room); /* it counts steps from where it began */
    uint64_t steps = replay_reel_place(w->reel).steps + w->steps; /* behind those asked for */
    const struct replay_target target = {REPLAY_TO_STEP, steps > 0 ? steps - 1 : 0};
    int code = refuse_seek(w, why, room);
    if (code == 0) {
        worker_set_pace(w, w->pace.speed, 1);
        worker_want(w, &target);
    }
    return code;
}

static int play(struct worker *w, char *why, size_t room)
{
    const struct replay_target begin = {REPLAY_TO_STEP, 0};
    if (!w->ended || w->seeking) {
        worker_set_pace(w, w->pace.speed, 0);
        return 0;
    }
    int code = refuse_seek(w, why, room);
    if (code == 0) {
        worker_set_pace(w, w->pace.speed, 0);
        worker_want(w, &begin);
    }
    return code;
}

int worker_ask(void *user, const char *argument, char *why, size_t room)
{
    struct worker *w = user;
    struct replay_ask ask;
    int code = replay_ask_parse(&ask, argument, why, room);
    if (code != 0 || ask.verb == REPLAY_LOOK)
        return code;
    if (w->seeking && ask.verb == REPLAY_STEP)
        return busy(why, room);
    switch (ask.verb) {
    case REPLAY_LOOK:
        break;
    case REPLAY_PAUSE:
        w->steps = 0;
        worker_set_pace(w, w->pace.speed, 1);
        break;
    case REPLAY_PLAY:
        code = play(w, why, room);
        break;
    case REPLAY_STEP:
        step(w);
        break;
    case REPLAY_STEP_BACK:
        code = step_back(w, why, room);
        break;
    case REPLAY_SEEK:
        code = seek(w, ask.moment, why, room);
        break;
    case REPLAY_SPEED:
        worker_set_pace(w, ask.speed, w->pace.paused);
        break;
    case REPLAY_LOOP:
        code = ask.on ? refuse_seek(w, why, room) : 0;
        w->looping = code == 0 ? ask.on : w->looping;
        break;
    }
    worker_tell_mode(w);
    worker_tell(w);
    worker_plan(w);
    return code;
}

const struct wire_replay *worker_replay_state(void *user)
{
    return worker_fill_state(user, 1);
}
