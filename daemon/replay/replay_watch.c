/* A link between processes of a replay, polled by a libuv loop. */
#include "daemon/replay/replay_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct replay_watch {
    uv_poll_t poll;
    int link;
    replay_watch_on_note *on_note;
    void *user;
};

static void replay_watch_on_readable(uv_poll_t *poll, int status, int events)
{
    struct replay_watch *watch = poll->data;
    (void)status;
    (void)events;
    while (!uv_is_closing((uv_handle_t *)poll)) {
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        int code = replay_link_receive(watch->link, &note, fds, &count);
        if (code == -EAGAIN)
            return;
        while (count > 1)
            close(fds[--count]);
        watch->on_note(watch->user, watch, code == 1 ? &note : NULL, count == 1 ? fds[0] : -1);
        if (code != 1)
            return;
    }
}

int replay_watch_open(struct replay_watch **out, uv_loop_t *loop, int link,
                      replay_watch_on_note *on_note, void *user)
{
    struct replay_watch *watch = calloc(1, sizeof(*watch));
    int code = watch == NULL ? -ENOMEM : 0;
    if (code == 0 && fcntl(link, F_SETFL, fcntl(link, F_GETFL) | O_NONBLOCK) != 0)
        code = -errno;
    code = code != 0 ? code : uv_poll_init(loop, &watch->poll, link);
    if (code != 0) {
        close(link);
        free(watch);
        return code;
    }
    watch->poll.data = watch;
    watch->link = link;
    watch->on_note = on_note;
    watch->user = user;
    uv_poll_start(&watch->poll, UV_READABLE, replay_watch_on_readable);
    *out = watch;
    return 0;
}

int replay_watch_send(struct replay_watch *watch, const struct replay_note *note, const int *fds,
                      size_t count)
{
    return replay_link_send(watch->link, note, fds, count);
}

static void replay_watch_on_closed(uv_handle_t *handle)
{
    struct replay_watch *watch = handle->data;
    close(watch->link);
    free(watch);
}

void replay_watch_close(struct replay_watch *watch)
{
    if (watch != NULL && !uv_is_closing((uv_handle_t *)&watch->poll))
        uv_close((uv_handle_t *)&watch->poll, replay_watch_on_closed);
}
