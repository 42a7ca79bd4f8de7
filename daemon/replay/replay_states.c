#include "daemon/replay/replay_states.h"

#include "daemon/replay/replay_thin.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define MOST_PACKERS 4
#define MEASURED 2u /* at a time */

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
    uint64_t bytes;  /* of memory, when it was measured last */
    uint64_t number; /* as they came */
    int near;
    enum { PLAIN, ASKED, PACKED } packed;
};

struct replay_states {
    uv_loop_t *loop;
    struct state list[REPLAY_STATES]; /* by place */
    size_t count, near;
    uint64_t added, most_bytes;
    size_t measured;         /* the one that was measured last */
    size_t packing, packers; /* so many were asked, and have not answered; at most */
    uint64_t limit;          /* of memory, bytes */
    int told;                /* that memory is short */
    int resting;             /* see replay_states_rest() */
    uint64_t open;           /* number of the one that was asked last for a worker */
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
    s->near -= (size_t)s->list[at].near;
    s->packing -= (size_t)(s->list[at].packed == ASKED);
    s->count--;
    memmove(&s->list[at], &s->list[at + 1], (s->count - at) * sizeof(s->list[0]));
}

static void measure(struct state *state)
{
    state->bytes = replay_memory_of(state->process);
}

static void take_packed(struct replay_states *s, struct state *state);

/* States say that they are packed, or, by going, that they are lost. */
static void on_note(void *user, struct replay_watch *watch, const struct replay_note *note, int fd)
{
    struct replay_states *s = user;
    size_t at = 0;
    if (fd >= 0)
        close(fd);
    while (at < s->count && s->list[at].watch != watch)
        at++;
    if (at == s->count)
        return;
    if (note == NULL) {
        log_warn("a state that seeks begin at is lost: those behind it take longer");
        remove_at(s, at);
    } else if (note->kind == REPLAY_PACKED && s->list[at].packed == ASKED) {
        take_packed(s, &s->list[at]);
    }
}

int replay_states_create(struct replay_states **out, uv_loop_t *loop, uint64_t most_bytes)
{
    struct replay_states *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->loop = loop;
    s->most_bytes = most_bytes;
    s->limit = UINT64_MAX;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    s->packers = processors < 1 ? 1 : processors > MOST_PACKERS ? MOST_PACKERS : (size_t)processors;
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

/* @return whether one comes before the other */
static int is_before(const struct replay_place *one, const struct replay_place *other)
{
    return one->steps != other->steps ? one->steps < other->steps : one->time_ns < other->time_ns;
}

void replay_states_forget_near(struct replay_states *s)
{
    for (size_t i = s->count; i-- > 0;)
        if (s->list[i].near)
            remove_at(s, i);
}

static void give_up_oldest_near(struct replay_states *s)
{
    size_t oldest = s->count;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].near && (oldest == s->count || s->list[i].number < s->list[oldest].number))
            oldest = i;
    if (oldest < s->count)
        remove_at(s, oldest);
}

/* The last of those that who leads has left. @return count: there is none */
static size_t last_of_leader(const struct replay_states *s)
{
    for (size_t i = s->count; i-- > 0;)
        if (!s->list[i].near)
            return i;
    return s->count;
}

int replay_states_add(struct replay_states *s, const struct replay_note *note, int link)
{
    struct state state = {
        .place = note->place, .process = note->process, .number = s->added++, .near = note->near};
    if (s->near == REPLAY_NEAR && note->near)
        give_up_oldest_near(s);
    size_t at = s->count, last = last_of_leader(s);
    while (at > 0 && is_before(&state.place, &s->list[at - 1].place))
        at--;
    int known = at > 0 && !is_before(&s->list[at - 1].place, &state.place);
    if (s->count == REPLAY_STATES || (known && state.near)) {
        close(link);
        return known ? 0 : -HOLTER_EFULL;
    }
    int code = replay_watch_open(&state.watch, s->loop, link, on_note, s);
    if (code != 0)
        return code;
    if (last < s->count)
        measure(&s->list[last]);
    memmove(&s->list[at + 1], &s->list[at], (s->count - at) * sizeof(s->list[0]));
    s->list[at] = state;
    s->count++;
    s->near += (size_t)state.near;
    return 0;
}

/* Who was asked is asked again soon, for steps and seeks nearby: until somebody goes elsewhere it
 * stays open. */
static void leave_open(struct replay_states *s, size_t at)
{
    const struct replay_note shut = {.kind = REPLAY_PACK};
    for (size_t i = 0; i < s->count; i++)
        if (i != at && s->list[i].number == s->open && s->list[i].packed == PACKED &&
            !s->list[at].near)
            replay_watch_send(s->list[i].watch, &shut, NULL, 0);
    if (!s->list[at].near)
        s->open = s->list[at].number;
}

int replay_states_fork(struct replay_states *s, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS])
{
    int code = -HOLTER_EEMPTY;
    for (size_t i = s->count; i-- > 0 && code != 0;) {
        if (replay_place_leads(&s->list[i].place, &note->target))
            code = replay_watch_send(s->list[i].watch, note, fds, REPLAY_LINK_FDS);
        if (code == 0)
            leave_open(s, i);
    }
    return code;
}

int replay_states_index(struct replay_states *s, int link)
{
    const struct replay_note note = {.kind = REPLAY_INDEX};
    size_t last = last_of_leader(s);
    return last == s->count ? -HOLTER_EEMPTY
                            : replay_watch_send(s->list[last].watch, &note, &link, 1);
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

/* ---- memory ------------------------------------------------------------------------------- */

/* A state grows as those beside it are given up: what they shared is its own then. The one that is
 * open for who seeks counts as it was: none is given up for it. */
static void measure_next(struct replay_states *s)
{
    for (size_t i = 0; i < MEASURED && i < s->count; i++) {
        s->measured = (s->measured + 1) % s->count;
        const struct state *state = &s->list[s->measured];
        if (state->packed != PACKED || state->number != s->open)
            measure(&s->list[s->measured]);
    }
}

static uint64_t bytes_of(const struct replay_states *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->count; i++)
        bytes += s->list[i].bytes;
    return bytes;
}

/* The first of those that can be packed. Not the very first, which has met nothing yet; nor the
 * last that who leads has left: it shares its memory with that; nor those near somebody, who is
 * likely to ask for them.
 * @return count: there is none */
static size_t next_to_pack(const struct replay_states *s)
{
    size_t last = last_of_leader(s);
    for (size_t i = 1; i < last && last < s->count; i++)
        if (s->list[i].packed == PLAIN && !s->list[i].near)
            return i;
    return s->count;
}

/* @return whether there are some that will be smaller */
static int pack_more(struct replay_states *s)
{
    const struct replay_note note = {.kind = REPLAY_PACK};
    if (s->resting)
        return s->packing > 0 || next_to_pack(s) < s->count;
    for (size_t at; s->packing < s->packers && (at = next_to_pack(s)) < s->count;) {
        int code = replay_watch_send(s->list[at].watch, &note, NULL, 0);
        s->list[at].packed = code == 0 ? ASKED : PACKED; /* it has gone, and we will hear of it */
        s->packing += code == 0;
    }
    return s->packing > 0;
}

static int is_much(const struct replay_states *s)
{
    return bytes_of(s) > REPLAY_PACK_FROM(s->limit);
}

static void take_packed(struct replay_states *s, struct state *state)
{
    state->packed = PACKED;
    s->packing--;
    measure(state);
    if (is_much(s))
        pack_more(s);
}

void replay_states_rest(struct replay_states *s, int resting)
{
    s->resting = resting;
}

static void thin(struct replay_states *s)
{
    size_t leaders = s->count - s->near, at = leaders;
    for (size_t i = s->count; i-- > 0;)
        if (!s->list[i].near && replay_thin_gives_up(--at, leaders))
            remove_at(s, i);
}

struct replay_keeping replay_states_keep(struct replay_states *s)
{
    struct replay_keeping keeping = {0};
    struct replay_memory memory;
    measure_next(s);
    int known = replay_memory_read(&memory) == 0, scarce = known && replay_memory_short(&memory);
    s->limit = s->most_bytes > 0 ? s->most_bytes
               : known           ? memory.total / REPLAY_STATES_SHARE
                                 : UINT64_MAX;
    int smaller = is_much(s) && pack_more(s);
    uint64_t bytes = bytes_of(s);
    keeping.hold = smaller && bytes > REPLAY_HOLD_FROM(s->limit);
    int too_much = s->count > 2 && (scarce || (bytes > s->limit && !smaller));
    if (too_much && s->near > 0) {
        give_up_oldest_near(s);
    } else if (too_much || s->count - s->near >= REPLAY_STATES - REPLAY_NEAR) {
        if (scarce && !s->told++)
            log_warn("memory is short: every other state that seeks begin at is given up");
        thin(s);
        keeping.sparser = 1;
    }
    return keeping;
}
