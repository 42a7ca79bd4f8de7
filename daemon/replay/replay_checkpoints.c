/* The list of checkpoints, ordered by place, and its bounds. */
#include "daemon/replay/replay_checkpoints.h"

#include "daemon/replay/replay_memory.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "replay"

struct replay_checkpoint {
    struct replay_place place;
    struct replay_watch *watch;
    int64_t process;
    uint64_t bytes; /* of memory, when it was measured last; 0: never */
};

struct replay_checkpoints {
    uv_loop_t *loop;
    struct replay_checkpoint list[REPLAY_CHECKPOINTS_MAXIMUM]; /* by place */
    size_t count;
    size_t measured;        /* the checkpoint that was measured last */
    uint64_t maximum_bytes; /* of memory; 0: a share of what is available */
};

/* Can a worker that begins at this place reach the target? */
static int replay_place_precedes(const struct replay_place *place,
                                 const struct replay_target *target)
{
    if (target->kind == REPLAY_TO_TIME)
        return place->time_ns <= target->value;
    /* The state after the last step is that before the end of the job. */
    return place->steps < target->value || (place->steps == target->value && !place->ended);
}

static void replay_checkpoints_remove(struct replay_checkpoints *checkpoints, size_t at)
{
    struct replay_checkpoint *list = checkpoints->list;
    replay_watch_close(list[at].watch);
    checkpoints->count--;
    memmove(&list[at], &list[at + 1], (checkpoints->count - at) * sizeof(list[0]));
}

/* A checkpoint sends nothing: its link is readable when the process has ended. */
static void replay_checkpoints_on_note(void *user, struct replay_watch *watch,
                                       const struct replay_note *note, int fd)
{
    struct replay_checkpoints *checkpoints = user;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; note == NULL && i < checkpoints->count; i++) {
        if (checkpoints->list[i].watch != watch)
            continue;
        log_warn("a checkpoint was killed: seeks to places after it take longer");
        replay_checkpoints_remove(checkpoints, i);
        return;
    }
}

int replay_checkpoints_create(struct replay_checkpoints **out, uv_loop_t *loop,
                              uint64_t maximum_bytes)
{
    struct replay_checkpoints *checkpoints = calloc(1, sizeof(*checkpoints));
    if (checkpoints == NULL)
        return -ENOMEM;
    checkpoints->loop = loop;
    checkpoints->maximum_bytes = maximum_bytes;
    *out = checkpoints;
    return 0;
}

void replay_checkpoints_destroy(struct replay_checkpoints *checkpoints)
{
    if (checkpoints == NULL)
        return;
    while (checkpoints->count > 0)
        replay_checkpoints_remove(checkpoints, checkpoints->count - 1);
    free(checkpoints);
}

/* This takes milliseconds, as the kernel walks through all pages: one checkpoint at a time. */
static void replay_checkpoints_measure(struct replay_checkpoint *checkpoint)
{
    checkpoint->bytes = replay_memory_of_process(checkpoint->process);
}

int replay_checkpoints_add(struct replay_checkpoints *checkpoints, const struct replay_note *note,
                           int link)
{
    struct replay_checkpoint checkpoint = {.place = note->place, .process = note->process};
    if (checkpoints->count == REPLAY_CHECKPOINTS_MAXIMUM) {
        close(link);
        return -HOLTER_EFULL;
    }
    int code = replay_watch_open(&checkpoint.watch, checkpoints->loop, link,
                                 replay_checkpoints_on_note, checkpoints);
    if (code != 0)
        return code;
    /* The one before it shares little with the index by now. */
    if (checkpoints->count > 0)
        replay_checkpoints_measure(&checkpoints->list[checkpoints->count - 1]);
    checkpoints->list[checkpoints->count++] = checkpoint;
    return 0;
}

int replay_checkpoints_fork(struct replay_checkpoints *checkpoints, const struct replay_note *note,
                            const int fds[REPLAY_LINK_FDS])
{
    int code = -HOLTER_EEMPTY;
    for (size_t i = checkpoints->count; i-- > 0 && code != 0;) {
        struct replay_checkpoint *checkpoint = &checkpoints->list[i];
        /* A preview jumps, which is possible only before anything is fed. */
        if (note->preview ? checkpoint->place.time_ns == 0
                          : replay_place_precedes(&checkpoint->place, &note->target))
            code = replay_watch_send(checkpoint->watch, note, fds, REPLAY_LINK_FDS);
    }
    return code;
}

int replay_checkpoints_find(const struct replay_checkpoints *checkpoints,
                            const struct replay_target *target, struct replay_place *out)
{
    for (size_t i = checkpoints->count; i-- > 0;) {
        if (replay_place_precedes(&checkpoints->list[i].place, target)) {
            *out = checkpoints->list[i].place;
            return 0;
        }
    }
    return -HOLTER_EEMPTY;
}

/* A checkpoint grows as its neighbours end: what it shared with them is its own then. */
static int replay_checkpoints_exceed_memory(struct replay_checkpoints *checkpoints)
{
    uint64_t used = 0, available, limit = checkpoints->maximum_bytes;
    checkpoints->measured = (checkpoints->measured + 1) % checkpoints->count;
    replay_checkpoints_measure(&checkpoints->list[checkpoints->measured]);
    for (size_t i = 0; i < checkpoints->count; i++)
        used += checkpoints->list[i].bytes;
    if (limit == 0 && replay_memory_available(&available) == 0)
        limit = (available + used) / REPLAY_CHECKPOINTS_SHARE;
    return limit != 0 && used > limit;
}

int replay_checkpoints_thin(struct replay_checkpoints *checkpoints)
{
    int too_many = checkpoints->count == REPLAY_CHECKPOINTS_MAXIMUM;
    if (checkpoints->count <= 2 || (!too_many && !replay_checkpoints_exceed_memory(checkpoints)))
        return 0;
    size_t last = checkpoints->count - 1; /* stays, as the first one does */
    for (size_t i = last; i-- > 0;) {
        if (i % 2 == 1)
            replay_checkpoints_remove(checkpoints, i);
    }
    return 1;
}
