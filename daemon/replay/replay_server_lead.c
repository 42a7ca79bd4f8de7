#include "daemon/replay/replay_server.h"

#include "daemon/replay/replay_index.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <unistd.h>

#define LOG_TOPIC "replay"

void replay_server_keep_states(struct replay_server *s)
{
    struct replay_watch *leader = s->leading ? s->active.link : s->index;
    replay_server_pack_or_not(s);
    struct replay_keeping keeping = replay_states_keep(s->states);
    if (leader == NULL)
        return;
    if (keeping.sparser)
        replay_watch_send(leader, &(struct replay_note){.kind = REPLAY_SPARSER}, NULL, 0);
    if (keeping.hold != s->held)
        replay_watch_send(
            leader, &(struct replay_note){.kind = REPLAY_HOLD, .paused = keeping.hold}, NULL, 0);
    s->held = keeping.hold;
}

void replay_server_take_state(struct replay_server *s, const struct replay_note *note, int fd)
{
    int code = replay_states_add(s->states, note, fd);
    if (code != 0)
        log_warn("no state for seeks: %s", holter_strerror(code));
    replay_server_keep_states(s);
}

static void on_index(void *user, struct replay_watch *link, const struct replay_note *note, int fd)
{
    struct replay_server *s = user;
    if (note == NULL) {
        replay_watch_close(link);
        s->index = NULL;
        int begun = s->active.link != NULL || s->next.link != NULL;
        if (!s->indexed && !(s->leading && begun))
            replay_server_fail(s, "the process that reads the recording has ended");
        return;
    }
    if (note->kind == REPLAY_STATE && fd >= 0) {
        replay_server_take_state(s, note, fd);
        int code = s->active.link == NULL && s->next.link == NULL ? replay_server_begin(s) : 0;
        if (code != 0)
            replay_server_fail(s, holter_strerror(code));
        return;
    }
    if (fd >= 0)
        close(fd);
    s->indexed |= note->kind == REPLAY_DONE;
}

/* A worker that replays all as fast as it can is as fast as the index: it leaves states behind
 * itself. One that records needs none. */
static int worker_leads(const struct options *o)
{
    return o->record != NULL || (o->speed <= 0 && !o->paused && o->from == NULL);
}

int replay_server_start_index(struct replay_server *s)
{
    int pair[2], code = replay_link_pair(pair);
    if (code != 0)
        return code;
    s->leading = worker_leads(s->options);
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        const struct replay_index index = {.reel = {.options = s->options,
                                                    .network = &s->network,
                                                    .rules = s->rules,
                                                    .last = s->last},
                                           .shared = s->shared,
                                           .link = pair[1],
                                           .first_only = s->leading,
                                           .work = replay_worker_run,
                                           .work_user = &s->given};
        s->given.index = &index;
        replay_index_run(&index);
    }
    code = pid < 0 ? -errno : 0;
    close(pair[1]);
    if (code == 0)
        return replay_watch_open(&s->index, &s->loop, pair[0], on_index, s);
    close(pair[0]);
    return code;
}

/* The worker has gone its own way: the index goes on from the last state. */
static void start_index_again(struct replay_server *s)
{
    int pair[2], code = replay_link_pair(pair);
    s->leading = s->held = 0;
    if (code == 0) {
        code = replay_states_index(s->states, pair[1]);
        close(pair[1]);
        if (code == 0)
            code = replay_watch_open(&s->index, &s->loop, pair[0], on_index, s);
        else
            close(pair[0]);
    }
    if (code != 0)
        log_warn("no more states for seeks, which take longer: %s", holter_strerror(code));
}

int replay_server_take_lead(struct replay_server *s, const struct replay_note *note, int fd)
{
    if (note->kind == REPLAY_STATE && fd >= 0)
        replay_server_take_state(s, note, fd);
    else if (note->kind == REPLAY_DONE)
        s->leading = 0;
    else if (note->kind == REPLAY_FOLLOW)
        start_index_again(s);
    else
        return 0;
    s->indexed |= note->kind == REPLAY_DONE;
    return 1;
}
