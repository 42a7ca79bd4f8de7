#include "daemon/replay/replay_index.h"

#include "daemon/replay/replay_pack.h"
#include "daemon/server/publish.h"
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
#include <sys/wait.h>
#include <unistd.h>

#define LOG_TOPIC "replay"
#define LOOK_NS UINT64_C(10000000) /* between looks at the link */

struct indexer {
    struct replay_leader leader;
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

static _Noreturn void go_on(const struct replay_index *index, struct replay_reel *reel, int link);

/* In a child of a state. */
static _Noreturn void become(const struct replay_index *index, struct replay_reel *reel,
                             const struct replay_note *note, const int *fds)
{
    if (note->kind == REPLAY_INDEX)
        go_on(index, reel, fds[0]);
    index->work(index->work_user, reel, note, fds);
    _exit(0);
}

struct sleeper {
    const struct replay_index *index;
    struct replay_reel *reel;
    int link;
    struct replay_pack *pack; /* NULL: it is not packed */
    int to_pack, is_open;     /* the pack stays open until another state is asked */
};

static int is_left_alone(void *user)
{
    const struct sleeper *s = user;
    struct pollfd look = {.fd = s->link, .events = POLLIN};
    return poll(&look, 1, 0) == 0;
}

/* Who seeks need not wait for that: then it is begun anew later. */
static void pack(struct sleeper *s)
{
    int code = replay_pack_make(&s->pack, is_left_alone, s);
    if (code == -ECANCELED)
        return;
    s->to_pack = 0;
    replay_link_send(s->link, &(struct replay_note){.kind = REPLAY_PACKED}, NULL, 0);
}

/* All is unpacked before the fork: fork(2) runs code of others, which may read the heap. */
static void make_child(struct sleeper *s, const struct replay_note *note, const int *fds)
{
    if (s->pack != NULL && !s->is_open && replay_pack_open(s->pack) != 0)
        _exit(1);
    s->is_open = s->pack != NULL;
    pid_t pid = fork();
    if (pid == 0) {
        close(s->link);
        replay_pack_free(s->pack);
        become(s->index, s->reel, note, fds);
    }
}

static void shut(struct sleeper *s)
{
    if (s->is_open)
        replay_pack_shut(s->pack);
    s->is_open = 0;
}

/* In the process of a state: fork workers until nobody wants any. */
static _Noreturn void sleep_as_state(const struct replay_index *index, struct replay_reel *reel,
                                     int link)
{
    struct sleeper s = {.index = index, .reel = reel, .link = link};
    struct replay_note note;
    int fds[REPLAY_LINK_FDS];
    size_t count;
    replay_signals();
    replay_reel_rest(reel);
    publisher_silence(replay_reel_publisher(reel));
    while (replay_link_receive(link, &note, fds, &count) == 1) {
        if ((note.kind == REPLAY_FORK && count == REPLAY_LINK_FDS) ||
            (note.kind == REPLAY_INDEX && count == 1))
            make_child(&s, &note, fds);
        while (count > 0)
            close(fds[--count]);
        if (note.kind == REPLAY_PACK)
            shut(&s);
        s.to_pack |= note.kind == REPLAY_PACK && s.pack == NULL;
        if (s.to_pack && is_left_alone(&s))
            pack(&s);
    }
    _exit(0);
}

/* ---- who leads ------------------------------------------------------------------------ */

#define NO_STATE 1 /* status of a child that could not fork */
#define NO_SERVER 2

/* In a child that ends at once: so a state is nobody's child, and who leads need not wait for its
 * end. */
static _Noreturn void leave_state(const struct replay_leader *l, const int pair[2])
{
    struct replay_note note = {
        .kind = REPLAY_STATE, .place = replay_reel_place(l->reel), .near = l->near};
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        close(l->link);
        for (size_t i = 0; i < l->other_count; i++)
            close(l->others[i]);
        sleep_as_state(l->index, l->reel, pair[1]);
    }
    note.process = pid;
    if (pid < 0)
        _exit(NO_STATE);
    _exit(replay_link_send(l->link, &note, &pair[0], 1) == 0 ? 0 : NO_SERVER);
}

int replay_leader_state(struct replay_leader *l)
{
    int pair[2], status = 0;
    replay_reel_park(l->reel);
    int code = replay_link_pair(pair);
    pid_t pid = code == 0 ? fork() : -1;
    if (pid == 0)
        leave_state(l, pair);
    if (code == 0 && pid < 0)
        code = -errno;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0) {
        close(pair[0]);
        close(pair[1]);
    }
    l->worked_ns = clock_process_cpu_ns();
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SERVER)
        return -EPIPE;
    if (code == 0 && status != 0)
        code = -EAGAIN;
    if (code != 0)
        log_warn("no state for seeks: %s", holter_strerror(code));
    else if (!l->near)
        atomic_store(&l->index->shared->indexed_ns, replay_reel_place(l->reel).time_ns);
    return 0;
}

void replay_leader_init(struct replay_leader *l, const struct replay_index *index,
                        struct replay_reel *reel, int link)
{
    *l = (struct replay_leader){.index = index,
                                .reel = reel,
                                .link = link,
                                .spacing_ns =
                                    index->spacing_ns == 0 ? REPLAY_SPACING_NS : index->spacing_ns,
                                .worked_ns = clock_process_cpu_ns()};
    signal(SIGCHLD, SIG_DFL);
    replay_reel_speak(reel);
}

void replay_leader_init_near(struct replay_leader *l, const struct replay_index *index,
                             struct replay_reel *reel, int link)
{
    *l = (struct replay_leader){.index = index, .reel = reel, .link = link, .near = 1};
    signal(SIGCHLD, SIG_DFL); /* children are waited for, as searches do too */
}

int replay_leader_due(const struct replay_leader *l)
{
    return clock_process_cpu_ns() - l->worked_ns >= l->spacing_ns;
}

int replay_leader_end(struct replay_leader *l)
{
    int code = replay_leader_state(l);
    return code != 0 ? code : replay_leader_done(l);
}

int replay_leader_done(struct replay_leader *l)
{
    struct replay_shared *shared = l->index->shared;
    const struct replay_note done = {.kind = REPLAY_DONE, .place = replay_reel_place(l->reel)};
    /* What the file says of its end may be wrong. */
    atomic_store(&shared->end_ns, done.place.time_ns);
    atomic_store(&shared->indexed_ns, done.place.time_ns);
    replay_shared_done(shared);
    return replay_link_send(l->link, &done, NULL, 0);
}

void replay_leader_thin(struct replay_leader *l)
{
    if (l->spacing_ns < UINT64_MAX / 2)
        l->spacing_ns *= 2;
}

/* ---- feeding ------------------------------------------------------------------------ */

static void on_alert(void *user, const struct wire_alert *alert)
{
    replay_shared_alert(user, alert);
}

/* Take what the server has sent, and wait while it says so. @return 0 when it has gone */
static int listen_to_server(struct indexer *x)
{
    struct pollfd look = {.fd = x->leader.link, .events = POLLIN};
    int held = 0;
    while (poll(&look, 1, held ? -1 : 0) > 0) {
        struct replay_note note;
        int fds[REPLAY_LINK_FDS];
        size_t count;
        if (replay_link_receive(x->leader.link, &note, fds, &count) != 1)
            return 0;
        while (count > 0)
            close(fds[--count]);
        if (note.kind == REPLAY_SPARSER)
            replay_leader_thin(&x->leader);
        else if (note.kind == REPLAY_HOLD)
            held = note.paused;
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
    return !stepped || !replay_leader_due(&x->leader) || replay_leader_state(&x->leader) == 0;
}

/* From where the reel is to the end. */
static _Noreturn void go_on(const struct replay_index *index, struct replay_reel *reel, int link)
{
    struct indexer x = {.steps = replay_reel_place(reel).steps};
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    replay_leader_init(&x.leader, index, reel, link);
    /* Of lower rank than those that serve. Niceness would do, but workers inherit it and could not
     * take it back. */
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0});
    if (!replay_reel_run(reel, &end, goes_on, &x) || replay_leader_end(&x.leader) != 0)
        _exit(1);
    _exit(0);
}

void replay_index_run(const struct replay_index *index)
{
    char why[512];
    struct replay_leader leader;
    struct replay_reel *reel;
    struct replay_reel_options options = index->reel;
    options.user = index->shared;
    options.alert = on_alert;
    replay_signals();
    replay_pack_prepare();
    if (replay_reel_create(&reel, &options, why, sizeof(why)) != 0) {
        log_error("%s", why);
        _exit(1);
    }
    replay_leader_init(&leader, index, reel, index->link);
    if (replay_leader_state(&leader) != 0)
        _exit(1);
    if (index->first_only)
        _exit(0);
    go_on(index, reel, index->link);
}
