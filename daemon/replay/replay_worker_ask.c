/* What clients ask of a replay. */
#include "daemon/replay/replay_worker_state.h"

#include "daemon/replay/replay_ask.h"
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

/* How many steps lead to where the last one that was asked for ends: the next is counted from
 * there. How many lead to a point in time is not known before it is reached, and a preview counts
 * them from where it began. */
static int count_steps(const struct worker *w, uint64_t *steps, char *why, size_t room)
{
    if (w->note.preview || (w->seeking && w->target.kind == REPLAY_TO_TIME)) {
        snprintf(why, room, "a seek is under way: ask again when it is done");
        return -EBUSY;
    }
    *steps = w->seeking ? w->target.value : replay_reel_place(w->reel).steps + w->steps;
    return 0;
}

static int step_to(struct worker *w, uint64_t steps, char *why, size_t room)
{
    const struct replay_target target = {REPLAY_TO_STEP, steps};
    int code = refuse_seek(w, why, room);
    if (code == 0) {
        worker_set_pace(w, w->pace.speed, 1);
        worker_want(w, &target);
    }
    return code;
}

/* It is made in turns of the loop: what lies before the next window may take long. */
static int step(struct worker *w, char *why, size_t room)
{
    uint64_t steps;
    int code = count_steps(w, &steps, why, room);
    if (code == 0 && w->seeking)
        return step_to(w, steps + 1, why, room);
    if (code != 0)
        return code;
    worker_set_pace(w, w->pace.speed, 1);
    if (w->ended)
        return 0;
    if (w->steps == 0)
        worker_leave_near(w);
    w->steps++;
    return 0;
}

static int step_back(struct worker *w, char *why, size_t room)
{
    uint64_t steps;
    int code = count_steps(w, &steps, why, room);
    return code != 0 ? code : step_to(w, steps > 0 ? steps - 1 : 0, why, room);
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

/* At the end it begins anew at once, unless it is paused. */
static int loop(struct worker *w, int on, char *why, size_t room)
{
    const struct replay_target begin = {REPLAY_TO_STEP, 0};
    int code = on ? refuse_seek(w, why, room) : 0;
    if (code != 0)
        return code;
    w->looping = on;
    if (on && w->ended && !w->seeking && !w->pace.paused)
        worker_want(w, &begin);
    return 0;
}

int worker_ask(void *user, const char *argument, char *why, size_t room)
{
    struct worker *w = user;
    struct replay_ask ask;
    int code = replay_ask_parse(&ask, argument, why, room);
    if (code != 0 || ask.verb == REPLAY_LOOK)
        return code;
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
        code = step(w, why, room);
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
        code = loop(w, ask.on, why, room);
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
