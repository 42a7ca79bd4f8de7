/* The processes that feed ahead of a replay: the index, and the checkpoints that it forks. */
#include "daemon/replay/replay_index.h"

#include "daemon/server/publish.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define POLL_INTERVAL_NS UINT64_C(10000000) /* between two polls of the link */
#define WAIT_MS 20

struct indexer {
    const struct replay_index *given;
    struct replay_feeder *feeder;
    uint64_t spacing_ns;
    uint64_t checkpoint_cpu_ns; /* processor time at the last checkpoint */
    uint64_t polled_ns;         /* at the link; CLOCK_MONOTONIC */
    uint64_t steps;             /* after the message before */
};

/* ---- a checkpoint ------------------------------------------------------------------ */

static void replay_checkpoint_fork_worker(const struct indexer *x, int link,
                                          const struct replay_note *note,
                                          const int fds[REPLAY_LINK_FDS])
{
    if (fork() != 0)
        return; /* a worker that could not be forked closes its link, which the server sees */
    close(link);
    x->given->work(x->given->work_user, x->feeder, note, fds);
    _exit(0);
}

/* Fork workers until the server closes the link. */
static _Noreturn void replay_checkpoint_run(const struct indexer *x, int link)
{
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t count;
    signal(SIGCHLD, SIG_IGN); /* workers are not waited for */
    replay_feeder_mute_alerts(x->feeder, 1);
    replay_feeder_release_memory(x->feeder);
    publisher_silence(replay_feeder_publisher(x->feeder));
    while (replay_link_receive(link, &note, fds, &count) == 1) {
        if (note.kind == REPLAY_NOTE_FORK && count == REPLAY_LINK_FDS)
            replay_checkpoint_fork_worker(x, link, &note, fds);
        while (count > 0)
            close(fds[--count]);
    }
    _exit(0);
}

/* ---- leaving checkpoints -------------------------------------------------------------- */

/* Only between windows: a step back begins there. @return 0, or -EPIPE: the server has ended */
static int indexer_leave_checkpoint(struct indexer *x)
{
    struct replay_note note = {.kind = REPLAY_NOTE_CHECKPOINT,
                               .place = replay_feeder_place(x->feeder)};
    int pair[2];
    replay_feeder_close_file(x->feeder); /* children would share its position */
    int code = replay_link_pair(pair);
    if (code == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            close(pair[0]);
            close(x->given->link);
            replay_checkpoint_run(x, pair[1]);
        }
        note.process = pid;
        code = pid < 0 ? -errno : replay_link_send(x->given->link, &note, pair, 1);
        close(pair[0]);
        close(pair[1]);
    }
    x->checkpoint_cpu_ns = clock_process_cpu_ns();
    if (code == 0)
        atomic_store(&x->given->shared->indexed_ns, note.place.time_ns);
    else if (code != -EPIPE)
        log_warn("no checkpoint, seeks take longer: %s", holter_strerror(code));
    return code == -EPIPE ? code : 0;
}

/* ---- feeding ------------------------------------------------------------------------ */

static void indexer_on_alert(void *user, const struct wire_alert *alert)
{
    replay_shared_add_alert(user, alert);
}

/* Read what the server has sent, and wait while the index is to wait.
 * @return 0 when the server has ended */
static int indexer_read_link(struct indexer *x)
{
    struct pollfd readable = {.fd = x->given->link, .events = POLLIN};
    for (;;) {
        int waits = atomic_load(&x->given->shared->index_waits);
        if (poll(&readable, 1, waits ? WAIT_MS : 0) <= 0) {
            if (!waits)
                return 1;
            continue;
        }
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        if (replay_link_receive(x->given->link, &note, fds, &count) != 1)
            return 0;
        while (count > 0)
            close(fds[--count]);
        if (note.kind == REPLAY_NOTE_SPARSER && x->spacing_ns < UINT64_MAX / 2)
            x->spacing_ns *= 2;
    }
}

static int indexer_on_message(void *user, const struct replay_place *place)
{
    struct indexer *x = user;
    uint64_t now = clock_mono_ns();
    int stepped = place->steps != x->steps;
    x->steps = place->steps;
    if (place->ended)
        return 1;
    if (now - x->polled_ns >= POLL_INTERVAL_NS) {
        if (!indexer_read_link(x))
            return 0;
        x->polled_ns = now;
    }
    if (!stepped || clock_process_cpu_ns() - x->checkpoint_cpu_ns < x->spacing_ns)
        return 1;
    return indexer_leave_checkpoint(x) == 0;
}

void replay_index_run(const struct replay_index *index)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    struct indexer x = {.given = index,
                        .spacing_ns =
                            index->spacing_ns == 0 ? REPLAY_SPACING_NS : index->spacing_ns};
    struct replay_feeder_options options = index->feeder;
    char why[512];
    /* Signals that end the server are its business: it ends this process. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
        signal(ignored[i], SIG_IGN);
    options.user = index->shared;
    options.alert = indexer_on_alert;
    if (replay_feeder_create(&x.feeder, &options, why, sizeof(why)) != 0) {
        log_error("%s", why);
        _exit(1);
    }
    if (indexer_leave_checkpoint(&x) != 0)
        _exit(1);
    if (index->first_only)
        _exit(0);
    /* Workers go first. Niceness would do as well, but workers inherit it and could not undo it. */
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0});
    if (!replay_feeder_run(x.feeder, &end, indexer_on_message, &x) ||
        indexer_leave_checkpoint(&x) != 0)
        _exit(1);
    replay_shared_finish(index->shared, replay_feeder_place(x.feeder).time_ns);
    _exit(0);
}
