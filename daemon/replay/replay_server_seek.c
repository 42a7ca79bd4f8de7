#include "daemon/replay/replay_server.h"

#include "holter/error.h"
#include "proto/log.h"
#include "proto/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define LEAVE_MS 300 /* for a worker's last words */
/* What feeding takes, roughly, and how long a seek may take without a preview. */
#define BYTE_NS UINT64_C(5)
#define MESSAGE_NS UINT64_C(10000)
#define FAR_NS UINT64_C(500000000)

void replay_server_forget(struct replay_server_worker *w)
{
    replay_watch_close(w->link);
    if (w->front >= 0)
        close(w->front);
    if (w->stream >= 0)
        close(w->stream);
    *w = (struct replay_server_worker){.front = -1, .stream = -1};
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
static int begin_worker(struct replay_server *s, struct replay_server_worker *out,
                        const struct replay_note *note)
{
    int mine[REPLAY_LINK_FDS], theirs[REPLAY_LINK_FDS];
    replay_server_forget(out);
    int code = pairs_open(mine, theirs);
    if (code != 0)
        return code;
    code = note->preview ? replay_states_fork_first(s->states, note, theirs)
                         : replay_states_fork(s->states, note, theirs);
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        close(theirs[i]);
    *out = (struct replay_server_worker){.front = mine[0], .stream = mine[1], .note = *note};
    if (code == 0)
        code = replay_watch_open(&out->link, &s->loop, mine[2], on_worker, s);
    else
        close(mine[2]);
    if (code != 0)
        replay_server_forget(out);
    return code;
}

/* Does a seek take so long that a preview helps? By how much there is to be fed, as it is known
 * before: so the same seek of the same recording is the same on every machine. */
static int is_far(const struct replay_server *s, const struct replay_target *target)
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
static void begin_preview(struct replay_server *s, const struct replay_note *seek)
{
    struct replay_note note = *seek;
    note.preview = 1;
    note.run--;
    note.instance--;
    if (begin_worker(s, &s->preview, &note) != 0)
        log_debug("no preview of a seek");
}

void replay_server_pack_or_not(struct replay_server *s)
{
    replay_states_rest(s->states, s->next.link != NULL);
}

/* Nobody comes to take over: the active worker goes on, unless it is a preview, which is no replay.
 */
static void stay(struct replay_server *s)
{
    if (s->active.note.preview)
        replay_server_fail(s, "the process that was to replay from there has ended");
    else
        replay_watch_send(s->active.link, &(struct replay_note){.kind = REPLAY_FAILED}, NULL, 0);
}

static void seek(struct replay_server *s, const struct replay_note *wanted)
{
    struct replay_note note = *wanted;
    int far = is_far(s, &wanted->target);
    note.kind = REPLAY_FORK;
    note.leads = 0;
    note.preview = 0;
    note.run = s->active.note.run + (far ? 2 : 1);
    note.instance = s->instance + note.run;
    atomic_store(&s->shared->reached_ns, 0);
    replay_server_forget(&s->preview);
    int code = begin_worker(s, &s->next, &note);
    if (note.target.kind == REPLAY_TO_TIME)
        replay_states_forget_near(s->states); /* behind its begin: it may begin at one of them */
    if (code == 0 && far)
        begin_preview(s, &note);
    replay_server_pack_or_not(s);
    if (code == 0)
        return;
    log_error("no seek: %s", holter_strerror(code));
    stay(s);
}

int replay_server_begin(struct replay_server *s)
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

static void seek_first(struct replay_server *s)
{
    char why[300];
    struct replay_note note = s->active.note;
    note.target.kind = REPLAY_TO_TIME;
    uint64_t end_ns = atomic_load(&s->shared->end_ns);
    if (moment_parse(s->options->from, s->begin_ns, end_ns, &note.target.value, why, sizeof(why)) ==
        0)
        seek(s, &note);
}

static void on_patience(uv_timer_t *timer)
{
    struct replay_server *s = timer->data;
    if (s->leaving != 0) {
        replay_server_stop(s);
        return;
    }
    relay_drop(s->relay);
    replay_server_forget(&s->before);
}

void replay_server_be_patient(struct replay_server *s)
{
    uv_timer_start(&s->patience, on_patience, LEAVE_MS, 0);
}

/* A worker on its way has come: it takes over. */
static void take_over(struct replay_server *s, struct replay_server_worker *next)
{
    struct replay_note go = next->note;
    int first = s->active.link == NULL;
    go.kind = REPLAY_GO;
    go.seeking = go.preview;
    if (!go.preview)
        replay_server_forget(&s->preview);
    relay_drop(s->relay);
    replay_server_forget(&s->before);
    if (!first) {
        const struct replay_note bye = {.kind = REPLAY_LEAVE, .instance = go.instance};
        replay_watch_send(s->active.link, &bye, NULL, 0);
    }
    int code = relay_attach(s->relay, next->front, next->stream);
    next->front = next->stream = -1;
    s->before = s->active;
    s->active = *next;
    *next = (struct replay_server_worker){.front = -1, .stream = -1};
    if (code != 0) {
        replay_server_fail(s, holter_strerror(code));
        return;
    }
    if (first && s->options->from != NULL) {
        seek_first(s);
        go.seeking = s->next.link != NULL;
        go.target = s->next.note.target;
    }
    replay_watch_send(s->active.link, &go, NULL, 0);
    if (!first)
        replay_server_be_patient(s);
    replay_server_pack_or_not(s);
}

static void on_worker_gone(struct replay_server *s, const struct replay_watch *link)
{
    if (link == s->before.link) {
        replay_server_forget(&s->before); /* the relay hears the rest */
    } else if (link == s->next.link) {
        log_error("the process that was to go on elsewhere has ended");
        replay_server_forget(&s->next);
        replay_server_forget(&s->preview);
        if (s->active.link == NULL)
            replay_server_fail(s, "the replay cannot begin");
        else
            stay(s);
    } else if (link == s->preview.link) {
        replay_server_forget(&s->preview);
    } else if (link == s->active.link) {
        replay_server_fail(s, "the process that replays has ended");
    }
}

static void set_mode(struct replay_server *s, const struct replay_note *mode)
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
    struct replay_server *s = user;
    if (note != NULL && note->kind == REPLAY_STATE && note->near && fd >= 0) {
        replay_server_take_state(s, note, fd);
        return;
    }
    if (note != NULL && link == s->active.link && replay_server_take_lead(s, note, fd))
        return;
    if (fd >= 0)
        close(fd);
    if (note != NULL && note->kind == REPLAY_UNRECORDED)
        s->status = EXIT_FAILURE;
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
            replay_server_leave(s);
    }
}
