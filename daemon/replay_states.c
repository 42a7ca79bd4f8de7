#include "daemon/replay_states.h"

#include "daemon/replay_thin.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "replay"

/* ---- links ------------------------------------------------------------------------------ */

struct replay_watch {
    uv_poll_t poll;
    int link;
    replay_watch_note *note;
    void *user;
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct replay_watch *w = poll->data;
    (void)status;
    (void)events;
    while (!uv_is_closing((uv_handle_t *)poll)) {
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        int code = replay_link_receive(w->link, &note, fds, &count);
        if (code == -EAGAIN)
            return;
        while (count > 1)
            close(fds[--count]);
        w->note(w->user, w, code == 1 ? &note : NULL, count == 1 ? fds[0] : -1);
        if (code != 1)
            return;
    }
}

int replay_watch_open(struct replay_watch **out, uv_loop_t *loop, int link, replay_watch_note *note,
                      void *user)
{
    struct replay_watch *w = calloc(1, sizeof(*w));
    int code = w == NULL ? -ENOMEM : 0;
    if (code == 0 && fcntl(link, F_SETFL, fcntl(link, F_GETFL) | O_NONBLOCK) != 0)
        code = -errno;
    code = code != 0 ? code : uv_poll_init(loop, &w->poll, link);
    if (code != 0) {
        close(link);
        free(w);
        return code;
    }
    w->poll.data = w;
    w->link = link;
    w->note = note;
    w->user = user;
    uv_poll_start(&w->poll, UV_READABLE, on_readable);
    *out = w;
    return 0;
}

int replay_watch_send(struct replay_watch *w, const struct replay_note *note, const int *fds,
                      size_t count)
{
    return replay_link_send(w->link, note, fds, count);
}

static void on_closed(uv_handle_t *handle)
{
    struct replay_watch *w = handle->data;
    close(w->link);
    free(w);
}

void replay_watch_close(struct replay_watch *w)
{
    if (w != NULL && !uv_is_closing((uv_handle_t *)&w->poll))
        uv_close((uv_handle_t *)&w->poll, on_closed);
}

/* ---- states ------------------------------------------------------------------------------- */

struct state {
    struct replay_place place;
    struct replay_watch *watch;
    int64_t process;
    uint64_t bytes; /* of memory, when it was measured last */
};

struct replay_states {
    uv_loop_t *loop;
    struct state list[REPLAY_STATES];
    size_t count;
    size_t measured; /* the one that was measured last */
    int told;        /* that memory is short */
};

int replay_place_leads(const struct replay_place *place, const struct replay_target *target)
{
    if (target->kind == REPLAY_TO_TIME)
        return place->time_ns <= target->value;
    /* Other states of that step are those right behind it. */
    return place->steps < target->value || (place->steps == target->value && !place->ended);
}

static void remove_at(struct replay_states *s, size_t at)
{
    replay_watch_close(s->list[at].watch);
    s->count--;
    memmove(&s->list[at], &s->list[at + 1], (s->count - at) * sizeof(s->list[0]));
}

/* States say nothing but that they have gone. */
static void on_note(void *user, struct replay_watch *watch, const struct replay_note *note, int fd)
{
    struct replay_states *s = user;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; note == NULL && i < s->count; i++) {
        if (s->list[i].watch != watch)
            continue;
        log_warn("a state that seeks begin at is lost: those behind it take longer");
        remove_at(s, i);
        return;
    }
}

int replay_states_create(struct replay_states **out, uv_loop_t *loop)
{
    struct replay_states *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->loop = loop;
    *out = s;
    return 0;
}

void replay_states_destroy(struct replay_states *s)
{
    if (s == NULL)
        return;
    while (s->count > 0)
        remove_at(s, s->count - 1);
    free(s);
}

int replay_states_add(struct replay_states *s, const struct replay_place *place, int64_t process,
                      int link)
{
    struct replay_watch *watch;
    if (s->count == REPLAY_STATES) {
        close(link);
        return -HOLTER_EFULL;
    }
    int code = replay_watch_open(&watch, s->loop, link, on_note, s);
    if (code != 0)
        return code;
    if (s->count > 0)
        s->list[s->count - 1].bytes = replay_memory_of(s->list[s->count - 1].process);
    s->list[s->count++] = (struct state){*place, watch, process, 0};
    return 0;
}

int replay_states_fork(struct replay_states *s, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS])
{
    int code = -HOLTER_EEMPTY;
    for (size_t i = s->count; i-- > 0 && code != 0;) {
        if (replay_place_leads(&s->list[i].place, &note->target))
            code = replay_watch_send(s->list[i].watch, note, fds, REPLAY_LINK_FDS);
    }
    return code;
}

int replay_states_index(struct replay_states *s, int link)
{
    const struct replay_note note = {.kind = REPLAY_INDEX};
    return s->count == 0 ? -HOLTER_EEMPTY
                         : replay_watch_send(s->list[s->count - 1].watch, &note, &link, 1);
}

int replay_states_fork_first(struct replay_states *s, const struct replay_note *note,
                             const int fds[REPLAY_LINK_FDS])
{
    return s->count == 0 ? -HOLTER_EEMPTY
                         : replay_watch_send(s->list[0].watch, note, fds, REPLAY_LINK_FDS);
}

int replay_states_before(const struct replay_states *s, const struct replay_target *target,
                         struct replay_place *out)
{
    for (size_t i = s->count; i-- > 0;) {
        if (replay_place_leads(&s->list[i].place, target)) {
            *out = s->list[i].place;
            return 0;
        }
    }
    return -HOLTER_EEMPTY;
}

/* A state grows as those beside it are given up: what they shared is its own then. */
static void measure_next(struct replay_states *s)
{
    if (s->count == 0)
        return;
    s->measured = (s->measured + 1) % s->count;
    s->list[s->measured].bytes = replay_memory_of(s->list[s->measured].process);
}

/* @return 1: too much memory is theirs, 2: it is short on the machine, 0 */
static int is_too_much(const struct replay_states *s)
{
    struct replay_memory memory;
    uint64_t bytes = 0;
    if (s->count <= 2 || replay_memory_read(&memory) != 0)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        bytes += s->list[i].bytes;
    return bytes > memory.total / REPLAY_STATES_SHARE ? 1 : replay_memory_short(&memory) ? 2 : 0;
}

int replay_states_thin(struct replay_states *s)
{
    measure_next(s);
    int too_much = is_too_much(s);
    if (s->count < REPLAY_STATES && !too_much)
        return 0;
    if (too_much == 2 && !s->told++)
        log_warn("memory is short: every other state that seeks begin at is given up");
    size_t count = s->count;
    for (size_t i = count; i-- > 0;) {
        if (replay_thin_gives_up(i, count))
            remove_at(s, i);
    }
    return 1;
}
