/* The thread that wakes the window when messages wait at the socket. */
#include "viewer/link/waker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct waker {
    pthread_t thread;
    int fd;
    int control; /* eventfd: 1 for each rearm, STOP to end */
    void (*wake)(void);
};

#define STOP (UINT64_C(1) << 32)

static void *waker_watch(void *user)
{
    struct waker *w = user;
    int armed = 1;
    for (;;) {
        struct pollfd fds[2] = {{.fd = w->control, .events = POLLIN},
                                {.fd = armed ? w->fd : -1, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        uint64_t value = 0;
        if (fds[0].revents && read(w->control, &value, sizeof value) == (ssize_t)sizeof value) {
            if (value >= STOP)
                return NULL;
            armed = 1;
        }
        if (armed && fds[1].revents) {
            armed = 0;
            w->wake();
        }
    }
}

int waker_start(struct waker **out, int fd, void (*wake)(void))
{
    struct waker *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->fd = fd;
    w->wake = wake;
    w->control = eventfd(0, EFD_CLOEXEC);
    int error = w->control < 0 ? errno : pthread_create(&w->thread, NULL, waker_watch, w);
    if (error) {
        if (w->control >= 0)
            close(w->control);
        free(w);
        return -error;
    }
    *out = w;
    return 0;
}

static void waker_write_event(struct waker *w, uint64_t value)
{
    while (write(w->control, &value, sizeof value) < 0 && errno == EINTR)
        ;
}

void waker_rearm(struct waker *w)
{
    waker_write_event(w, 1);
}

void waker_stop(struct waker *w)
{
    if (!w)
        return;
    waker_write_event(w, STOP);
    pthread_join(w->thread, NULL);
    close(w->control);
    free(w);
}
