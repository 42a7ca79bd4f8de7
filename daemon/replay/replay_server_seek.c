/* Workers: each seek has another one forked from a checkpoint, which takes over at its target. */
#include "daemon/replay/replay_server.h"

#include "daemon/storage/recording_blocks.h"
#include "holter/error.h"
#include "proto/log.h"
#include "proto/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define LEAVE_MS 300 /* that a worker may take to send what it has left to send */
/* Roughly what feeding takes, and the time that a seek may take without a preview. */
#define FEED_BYTE_NS UINT64_C(5)
#define FEED_MESSAGE_NS UINT64_C(10000)
#define PREVIEW_FROM_NS UINT64_C(500000000)

void replay_server_drop_worker(struct replay_server_worker *worker)
{
    replay_watch_close(worker->link);
    if (worker->front >= 0)
        close(worker->front);
    if (worker->stream >= 0)
        close(worker->stream);
    *worker = (struct replay_server_worker){.front = -1, .stream = -1};
}

static void replay_server_on_worker(void *user, struct replay_watch *link,
                                    const struct replay_note *note, int fd);

static int replay_server_open_pairs(int mine[REPLAY_LINK_FDS], int theirs[REPLAY_LINK_FDS])
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

/* Have a checkpoint fork a worker that goes to its note's target. */
static int replay_server_fork_worker(struct replay_server *server, struct replay_server_worker *out,
                                     const struct replay_note *note)
{
    int mine[REPLAY_LINK_FDS], theirs[REPLAY_LINK_FDS];
    replay_server_drop_worker(out);
    int code = replay_server_open_pairs(mine, theirs);
    if (code != 0)
        return code;
    code = replay_checkpoints_fork(server->checkpoints, note, theirs);
    for (size_t i = 0; i < REPLAY_LINK_FDS; i++)
        close(theirs[i]);
    *out = (struct replay_server_worker){.front = mine[0], .stream = mine[1], .note = *note};
    if (code == 0)
        code =
            replay_watch_open(&out->link, &server->loop, mine[2], replay_server_on_worker, server);
    else
        close(mine[2]);
    if (code != 0)
        replay_server_drop_worker(out);
    return code;
}

/* Does a seek take so long that a preview helps? Estimated from what is to be fed, not measured, so
 * that a seek has the same stages on every machine. */
static int replay_server_needs_preview(const struct replay_server *server,
                                       const struct replay_target *target)
{
    struct replay_place from;
    struct recording_cursor *recording;
    uint64_t messages, bytes;
    char why[512];
    if (target->kind != REPLAY_TO_TIME || server->options->record != NULL ||
        replay_checkpoints_find(server->checkpoints, target, &from) != 0)
        return 0;
    if (recording_cursor_open(&recording, server->options->file, why, sizeof(why)) != 0)
        return 0;
    recording_blocks_between(recording, from.time_ns, target->value, &messages, &bytes);
    recording_cursor_close(recording);
    return messages > PREVIEW_FROM_NS / FEED_MESSAGE_NS || bytes > PREVIEW_FROM_NS / FEED_BYTE_NS ||
           messages * FEED_MESSAGE_NS + bytes * FEED_BYTE_NS > PREVIEW_FROM_NS;
}

static void replay_server_fork_preview(struct replay_server *server, const struct replay_note *seek)
{
    struct replay_note note = *seek;
    note.preview = 1;
    note.run--;
    note.instance--;
    if (replay_server_fork_worker(server, &server->preview, &note) != 0)
        log_debug("no preview of a seek");
}

/* No worker is on its way to take over: the active one goes on, unless it is a preview. */
static void replay_server_cancel_seek(struct replay_server *server)
{
    if (server->active.note.preview)
        replay_server_fail(server, "the process that was to replay from there has ended");
    else
        replay_watch_send(server->active.link,
                          &(struct replay_note){.kind = REPLAY_NOTE_SEEK_FAILED}, NULL, 0);
}

static void replay_server_seek(struct replay_server *server, const struct replay_note *request)
{
    struct replay_note note = *request;
    int far = replay_server_needs_preview(server, &request->target);
    note.kind = REPLAY_NOTE_FORK;
    note.preview = 0;
    note.run = server->active.note.run + (far ? 2 : 1);
    note.instance = server->instance + note.run;
    atomic_store(&server->shared->reached_ns, 0);
    replay_server_drop_worker(&server->preview);
    int code = replay_server_fork_worker(server, &server->next, &note);
    if (code == 0 && far)
        replay_server_fork_preview(server, &note);
    if (code == 0)
        return;
    log_error("no seek: %s", holter_strerror(code));
    replay_server_cancel_seek(server);
}

int replay_server_begin(struct replay_server *server)
{
    struct replay_note note = {.kind = REPLAY_NOTE_FORK,
                               .target = {REPLAY_TO_STEP, 0},
                               .speed = server->options->speed,
                               .paused = server->options->paused,
                               .looping = server->options->loop,
                               .run = 1,
                               .instance = server->instance + 1};
    return replay_server_fork_worker(server, &server->next, &note);
}

static void replay_server_seek_from(struct replay_server *server)
{
    char why[300];
    struct replay_note note = server->active.note;
    note.target.kind = REPLAY_TO_TIME;
    uint64_t end_ns = atomic_load(&server->shared->end_ns);
    if (moment_parse(server->options->from, server->begin_ns, end_ns, &note.target.value, why,
                     sizeof(why)) == 0)
        replay_server_seek(server, &note);
}

static void replay_server_on_leave_timer(uv_timer_t *timer)
{
    struct replay_server *server = timer->data;
    if (server->phase != REPLAY_SERVER_RUNS) {
        replay_server_stop(server);
        return;
    }
    relay_drop_previous(server->relay);
    replay_server_drop_worker(&server->previous);
}

void replay_server_start_leave_timer(struct replay_server *server)
{
    uv_timer_start(&server->leave_timer, replay_server_on_leave_timer, LEAVE_MS, 0);
}

/* A worker has reached its target: it takes over. */
static void replay_server_replace_worker(struct replay_server *server,
                                         struct replay_server_worker *next)
{
    struct replay_note serve = next->note;
    int first = server->active.link == NULL;
    serve.kind = REPLAY_NOTE_SERVE;
    serve.seeking = serve.preview;
    if (!serve.preview)
        replay_server_drop_worker(&server->preview);
    relay_drop_previous(server->relay);
    replay_server_drop_worker(&server->previous);
    if (!first) {
        const struct replay_note leave = {.kind = REPLAY_NOTE_LEAVE, .instance = serve.instance};
        replay_watch_send(server->active.link, &leave, NULL, 0);
    }
    int code = relay_attach(server->relay, next->front, next->stream);
    next->front = next->stream = -1;
    server->previous = server->active;
    server->active = *next;
    *next = (struct replay_server_worker){.front = -1, .stream = -1};
    if (code != 0) {
        replay_server_fail(server, holter_strerror(code));
        return;
    }
    if (first && server->options->from != NULL) {
        replay_server_seek_from(server);
        serve.seeking = server->next.link != NULL;
        serve.target = server->next.note.target;
    }
    replay_watch_send(server->active.link, &serve, NULL, 0);
    if (!first)
        replay_server_start_leave_timer(server);
}

/* ---- what workers send -------------------------------------------------------------------- */

static void replay_server_on_next_closed(struct replay_server *server)
{
    log_error("the process that was to go on elsewhere has ended");
    replay_server_drop_worker(&server->next);
    replay_server_drop_worker(&server->preview);
    if (server->active.link == NULL)
        replay_server_fail(server, "the replay cannot begin");
    else
        replay_server_cancel_seek(server);
}

static void replay_server_on_worker_closed(struct replay_server *server,
                                           const struct replay_watch *link)
{
    if (link == server->previous.link)
        replay_server_drop_worker(&server->previous); /* the relay receives the rest */
    else if (link == server->next.link)
        replay_server_on_next_closed(server);
    else if (link == server->preview.link)
        replay_server_drop_worker(&server->preview);
    else if (link == server->active.link)
        replay_server_fail(server, "the process that replays has ended");
}

/* The pace of the workers that are on their way. */
static void replay_server_set_mode(struct replay_server *server, const struct replay_note *mode)
{
    struct replay_note *notes[] = {&server->next.note, &server->preview.note};
    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
        notes[i]->speed = mode->speed;
        notes[i]->paused = mode->paused;
        notes[i]->looping = mode->looping;
    }
}

static void replay_server_on_active(struct replay_server *server, const struct replay_note *note)
{
    if (note->kind == REPLAY_NOTE_SEEK)
        replay_server_seek(server, note);
    else if (note->kind == REPLAY_NOTE_MODE)
        replay_server_set_mode(server, note);
    else if (note->kind == REPLAY_NOTE_STOP)
        replay_server_leave(server);
}

/* A client may have asked the previous worker before it knew of the active one. */
static void replay_server_on_previous(struct replay_server *server, const struct replay_note *note)
{
    if (note->kind == REPLAY_NOTE_SEEK || note->kind == REPLAY_NOTE_MODE)
        replay_watch_send(server->active.link, note, NULL, 0);
}

static void replay_server_on_worker(void *user, struct replay_watch *link,
                                    const struct replay_note *note, int fd)
{
    struct replay_server *server = user;
    if (fd >= 0)
        close(fd);
    if (note == NULL) {
        replay_server_on_worker_closed(server, link);
        return;
    }
    if (note->kind == REPLAY_NOTE_UNRECORDED)
        server->status = EXIT_FAILURE;
    if (server->phase != REPLAY_SERVER_RUNS)
        return;
    if (link == server->active.link)
        replay_server_on_active(server, note);
    else if (link == server->previous.link)
        replay_server_on_previous(server, note);
    else if (link == server->next.link && note->kind == REPLAY_NOTE_READY)
        replay_server_replace_worker(server, &server->next);
    else if (link == server->preview.link && note->kind == REPLAY_NOTE_READY)
        replay_server_replace_worker(server, &server->preview);
}
