#include "daemon/replay_index.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define LOOK_NS UINT64_C(10000000) /* between looks at the link */

struct indexer {
    const struct replay_index *index;
    struct replay_reel *reel;
    uint64_t spacing_ns;
    uint64_t worked_ns; /* processor time at the last state */
    uint64_t looked_ns; /* at the last look, CLOCK_MONOTONIC */
    uint64_t steps;     /* at the message before */
};

void replay_signals(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
        signal(ignored[i], SIG_IGN); /* SIGCHLD: children leave no trace */
}

/* ---- a state ----------------------------------------------------------------------- */

/* In the process of a state: fork workers until nobody wants any. */
static _Noreturn void sleep_as_state(const struct replay_index *index, struct replay_reel *reel,
                                     int link)
{
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t count;
    replay_reel_hush(reel);
    while (replay_link_receive(link, &note, fds, &count) == 1) {
        pid_t pid = note.kind == REPLAY_FORK && count == REPLAY_LINK_FDS ? fork() : -1;
        if (pid == 0) {
            close(link);
            index->work(index->work_user, reel, &note, fds);
            _exit(0);
        }
        while (count > 0)
            close(fds[--count]);
    }
    _exit(0);
}

/* @return 0, or negative: the server has gone */
static int make_state(struct indexer *x)
{
    int pair[2];
    const struct replay_index *index = x->index;
    replay_reel_park(x->reel);
    int code = replay_link_pair(pair);
    pid_t pid = code == 0 ? fork() : -1;
    if (pid == 0) {
        close(pair[0]);
        close(index->link);
        sleep_as_state(index, x->reel, pair[1]);
    }
    if (code == 0 && pid < 0)
        code = -errno;
    if (code != 0) {
        log_warn("no state for seeks: %s", holter_strerror(code));
    } else {
        struct replay_note note = {
            .kind = REPLAY_STATE, .place = replay_reel_place(x->reel), .process = pid};
        int sent = replay_link_send(index->link, &note, &pair[0], 1);
        close(pair[0]);
        close(pair[1]);
        if (sent != 0)
            return sent;
        atomic_store(&index->shared->indexed_ns, note.place.time_ns);
    }
    x->worked_ns = clock_process_cpu_ns();
    return 0;
}

/* ---- feeding ------------------------------------------------------------------------ */

static void on_alert(void *user, const struct wire_alert *alert)
{
    replay_shared_alert(user, alert);
}

/* Take what the server has sent. @return 0 when it has gone */
static int listen_to_server(struct indexer *x)
{
    struct pollfd look = {.fd = x->index->link, .events = POLLIN};
    while (poll(&look, 1, 0) > 0) {
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        if (replay_link_receive(x->index->link, &note, fds, &count) != 1)
            return 0;
        while (count > 0)
            close(fds[--count]);
        if (note.kind == REPLAY_SPARSER && x->spacing_ns < UINT64_MAX / 2)
            x->spacing_ns *= 2;
    }
    return 1;
}

static int goes_on(void *user, const struct replay_place *place)
{
    struct indexer *x = user;
    uint64_t now = clock_mono_ns();
    int stepped = place->steps != x->steps;
    x->steps = place->steps;
    if (place->ended)
        return 1;
    if (now - x->looked_ns >= LOOK_NS) {
        if (!listen_to_server(x))
            return 0;
        x->looked_ns = now;
    }
    /* Between windows: a step back ends there. */
    if (stepped && clock_process_cpu_ns() - x->worked_ns >= x->spacing_ns)
        return make_state(x) == 0;
    return 1;
}

void replay_index_run(const struct replay_index *index)
{
    char why[512];
    struct indexer x = {.index = index,
                        .spacing_ns =
                            index->spacing_ns == 0 ? REPLAY_SPACING_NS : index->spacing_ns};
    struct replay_reel_options options = index->reel;
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    options.user = index->shared;
    options.alert = on_alert;
    /* Of lower rank than those that serve. Niceness would do, but workers inherit it and could not take it back. */
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0});
    replay_signals();
    if (replay_reel_create(&x.reel, &options, why, sizeof(why)) != 0) {
        log_error("%s", why);
        _exit(1);
    }
    if (make_state(&x) != 0 || !replay_reel_run(x.reel, &end, goes_on, &x) || make_state(&x) != 0)
        _exit(1);
    struct replay_place place = replay_reel_place(x.reel);
    /* What the file says of its end may be wrong. */
    atomic_store(&index->shared->end_ns, place.time_ns);
    atomic_store(&index->shared->indexed_ns, place.time_ns);
    replay_shared_done(index->shared);
    const struct replay_note done = {.kind = REPLAY_DONE, .place = place};
    replay_link_send(index->link, &done, NULL, 0);
    _exit(0);
}
