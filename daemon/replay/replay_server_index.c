/* The server's side of the index and of its checkpoints. */
#include "daemon/replay/replay_server.h"

#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <unistd.h>

#define LOG_TOPIC "replay"

void replay_server_thin_checkpoints(struct replay_server *server)
{
    const struct replay_note sparser = {.kind = REPLAY_NOTE_SPARSER};
    if (replay_checkpoints_thin(server->checkpoints) && server->index != NULL)
        replay_watch_send(server->index, &sparser, NULL, 0);
}

static void replay_server_add_checkpoint(struct replay_server *server,
                                         const struct replay_note *note, int fd)
{
    int code = replay_checkpoints_add(server->checkpoints, note, fd);
    if (code != 0)
        log_warn("no checkpoint, seeks take longer: %s", holter_strerror(code));
    replay_server_thin_checkpoints(server);
    if (server->active.link != NULL || server->next.link != NULL)
        return;
    code = replay_server_begin(server);
    if (code != 0)
        replay_server_fail(server, holter_strerror(code));
}

/* A replay that is recorded cannot seek: its index ends after the first checkpoint. */
static void replay_server_on_index_closed(struct replay_server *server)
{
    int first_only = server->options->record != NULL;
    int begun = server->active.link != NULL || server->next.link != NULL;
    replay_watch_close(server->index);
    server->index = NULL;
    if (!atomic_load(&server->shared->indexed) && !(first_only && begun))
        replay_server_fail(server, "the process that reads the recording has ended");
}

static void replay_server_on_index(void *user, struct replay_watch *link,
                                   const struct replay_note *note, int fd)
{
    struct replay_server *server = user;
    (void)link;
    if (note == NULL)
        replay_server_on_index_closed(server);
    else if (note->kind == REPLAY_NOTE_CHECKPOINT && fd >= 0)
        replay_server_add_checkpoint(server, note, fd);
    else if (fd >= 0)
        close(fd);
}

int replay_server_start_index(struct replay_server *server)
{
    int pair[2], code = replay_link_pair(pair);
    if (code != 0)
        return code;
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        const struct replay_index index = {.feeder = {.options = server->options,
                                                      .network = &server->network,
                                                      .rules = server->rules,
                                                      .last = server->last},
                                           .shared = server->shared,
                                           .link = pair[1],
                                           .first_only = server->options->record != NULL,
                                           .work = replay_worker_run,
                                           .work_user = &server->worker_options};
        replay_index_run(&index);
    }
    code = pid < 0 ? -errno : 0;
    close(pair[1]);
    if (code == 0)
        return replay_watch_open(&server->index, &server->loop, pair[0], replay_server_on_index,
                                 server);
    close(pair[0]);
    return code;
}
