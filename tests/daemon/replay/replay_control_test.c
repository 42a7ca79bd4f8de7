/* Replays of the daemon as a process: the stream at any speed, what clients ask, what is left when
 * processes die. */
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/client.h"
#include "tests/daemon/daemon_bed.h"
#include "tests/daemon/replay/replay_film.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#define PATIENCE_MS 60000 /* only a failing test waits that long */
#define WINDOWS 60u
#define TOPICS 40u
#define BEGIN_NS (FILM_FIRST * FILM_WINDOW_NS)

static struct daemon_bed bed;
static char path[160];
static pid_t daemon_pid;

static int set_up(void **state)
{
    (void)state;
    int code = daemon_bed_make(&bed);
    snprintf(path, sizeof(path), "%s/film.hrec", bed.directory);
    film_make(path, WINDOWS, 0);
    return code;
}

static int tear_down(void **state)
{
    (void)state;
    if (daemon_pid > 0) {
        kill(daemon_pid, SIGKILL);
        waitpid(daemon_pid, NULL, 0);
        daemon_pid = 0;
    }
    return daemon_bed_remove(&bed);
}

/* ---- the daemon ------------------------------------------------------------------- */

/* @param options  further options, ended by NULL */
static void start(const char *const *options)
{
    const char *words[24] = {"--replay", path};
    for (size_t i = 0; options != NULL && options[i] != NULL; i++)
        words[2 + i] = options[i];
    daemon_pid = daemon_bed_start(&bed, words);
}

static int ended(void)
{
    int status = daemon_bed_status(daemon_pid);
    daemon_pid = 0;
    return status;
}

static void stop(void)
{
    kill(daemon_pid, SIGTERM);
    assert_int_equal(ended(), 0);
}

/* Processes of a replay: they have the daemon's command line. @param out  room for 64 */
static size_t processes(pid_t *out)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        char name[300], words[4096] = "";
        snprintf(name, sizeof(name), "/proc/%s/cmdline", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(name, "r") : NULL;
        if (file == NULL)
            continue;
        size_t length = fread(words, 1, sizeof(words) - 1, file);
        fclose(file);
        for (size_t i = 0; i < length; i++)
            words[i] = words[i] == '\0' ? ' ' : words[i];
        if (strstr(words, bed.endpoint) != NULL && strstr(words, "--replay") != NULL && count < 64)
            out[count++] = atoi(entry->d_name);
    }
    closedir(proc);
    return count;
}

static void assert_none_left(void)
{
    pid_t left[64];
    uint64_t until = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    while (processes(left) > 0)
        assert_true(clock_mono_ns() < until);
}

/* ---- a client ------------------------------------------------------------------------ */

static struct client *dial(const char *topics)
{
    struct client *c;
    const struct client_options options = {.endpoint = bed.endpoint, .role = ROLE_VIEWER};
    assert_int_equal(client_create(&c, &options), 0);
    if (topics != NULL)
        assert_int_equal(client_follow(c, NULL, topics), 0);
    return c;
}

struct answer {
    int code;
    char text[400], state[17];
    double speed;
    uint64_t begin_ns, end_ns, position_ns, run, paused, looping, window, indexed_ns;
    uint64_t marks;
    struct {
        uint64_t since_ns;
        char title[129], kind[33];
    } first;
};

static void note(struct answer *out, const struct wire_replay *r)
{
    snprintf(out->state, sizeof(out->state), "%s", r->state);
    out->speed = r->speed;
    out->begin_ns = r->begin_ns;
    out->end_ns = r->end_ns;
    out->position_ns = r->position_ns;
    out->run = r->run;
    out->paused = r->paused;
    out->looping = r->looping;
    out->window = r->window;
    out->indexed_ns = r->indexed_ns;
    out->marks = r->marks_count;
    if (r->marks_count > 0) {
        out->first.since_ns = r->marks[0].since_ns;
        snprintf(out->first.title, sizeof(out->first.title), "%s", r->marks[0].title);
        snprintf(out->first.kind, sizeof(out->first.kind), "%s", r->marks[0].kind);
    }
}

static struct answer ask(struct client *c, const char *argument)
{
    struct answer out = {.code = 1};
    uint64_t until = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    int64_t id = -1;
    while (out.code == 1) {
        struct client_message got;
        if (id < 0 && client_state(c) == CLIENT_CONNECTED)
            id = client_ask(c, "replay", NULL, NULL, argument);
        int there = client_next(c, 20, &got) == 1 && (int64_t)got.id == id;
        if (there && got.message->type == WIRE_TYPE_REPLAY)
            note(&out, &got.message->replay);
        if (there && got.message->type == WIRE_TYPE_REPLY &&
            got.message->reply.code == -HOLTER_EUNREACHABLE) {
            id = -1; /* another run took over */
        } else if (there && got.message->type == WIRE_TYPE_REPLY) {
            out.code = (int)got.message->reply.code;
            snprintf(out.text, sizeof(out.text), "%s", got.message->reply.text);
        }
        assert_true(clock_mono_ns() < until);
    }
    return out;
}

static struct answer settled(struct client *c, const char *argument)
{
    struct answer out = ask(c, argument);
    assert_int_equal(out.code, 0);
    while (strcmp(out.state, "seeking") == 0 || (strcmp(out.state, "playing") == 0 && out.paused))
        out = ask(c, "");
    return out;
}

static struct answer until(struct client *c, const char *state)
{
    struct answer out = ask(c, "");
    while (strcmp(out.state, state) != 0)
        out = ask(c, "");
    return out;
}

/* ---- the stream, byte by byte ----------------------------------------------------------- */

struct frames_seen {
    struct topic {
        char name[80];
        uint64_t hash, frames;
    } list[TOPICS];
    size_t count;
};

static void frames_seen_add(struct frames_seen *h, zmq_msg_t parts[3])
{
    char name[80];
    snprintf(name, sizeof(name), "%.*s", (int)zmq_msg_size(&parts[0]),
             (const char *)zmq_msg_data(&parts[0]));
    size_t at = 0;
    while (at < h->count && strcmp(h->list[at].name, name) != 0)
        at++;
    assert_true(at < TOPICS);
    struct topic *t = &h->list[at];
    if (at == h->count) {
        snprintf(t->name, sizeof(t->name), "%s", name);
        h->count++;
    }
    for (int i = 1; i < 3; i++) {
        const uint8_t *bytes = zmq_msg_data(&parts[i]);
        size_t length = i == 1 ? 16 : zmq_msg_size(&parts[i]); /* the third number names the run */
        for (size_t k = 0; k < length; k++)
            t->hash = (t->hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    }
    t->frames++;
}

/* @return 1: the replay is at its end */
static int is_end(zmq_msg_t parts[3])
{
    struct wire_message message;
    struct wire_arena arena = {0};
    static const char topic[] = "replay/";
    if (zmq_msg_size(&parts[0]) < strlen(topic) ||
        memcmp(zmq_msg_data(&parts[0]), topic, strlen(topic)) != 0)
        return 0;
    int end = wire_decode(&message, &arena, zmq_msg_data(&parts[2]), zmq_msg_size(&parts[2]),
                          NULL) == 0 &&
              strcmp(message.replay.state, "ended") == 0;
    wire_arena_finish(&arena);
    return end;
}

static void receive(void *socket, zmq_msg_t parts[3])
{
    for (int i = 0; i < 3; i++) {
        zmq_msg_init(&parts[i]);
        if (zmq_msg_recv(&parts[i], socket, 0) < 0)
            fail_msg("no frame: %s", zmq_strerror(zmq_errno()));
    }
}

static void drop(zmq_msg_t parts[3])
{
    for (int i = 0; i < 3; i++)
        zmq_msg_close(&parts[i]);
}

/* All that is published from the begin to the end.
 * @param script  asked one after the other, while it goes on; ended by NULL */
static void frames_seen_collect(struct frames_seen *h, const char *const *options,
                                const char *const *script)
{
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    int none = 0, patience = PATIENCE_MS, synced = 0;
    zmq_msg_t parts[3];
    *h = (struct frames_seen){.count = 0};
    start(options);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof(none));
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(zmq_connect(socket, bed.stream), 0);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "sync/1", 6);
    struct client *c = dial(NULL);
    while (!synced) {
        receive(socket, parts);
        synced = zmq_msg_size(&parts[0]) == 6;
        drop(parts);
    }
    for (size_t i = 0; script[i] != NULL; i++) {
        struct answer a = ask(c, script[i]);
        if (a.code != 0)
            fail_msg("%s: %s", script[i], a.text);
    }
    for (int end = 0; !end;) {
        receive(socket, parts);
        end = is_end(parts);
        if (zmq_msg_size(&parts[0]) < 7 || memcmp(zmq_msg_data(&parts[0]), "replay/", 7) != 0)
            frames_seen_add(h, parts);
        drop(parts);
    }
    client_destroy(c);
    zmq_close(socket);
    zmq_ctx_term(context);
    stop();
}

static void assert_same(const struct frames_seen *a, const struct frames_seen *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        size_t at = 0;
        while (at < b->count && strcmp(b->list[at].name, a->list[i].name) != 0)
            at++;
        assert_true(at < b->count);
        if (a->list[i].frames != b->list[at].frames || a->list[i].hash != b->list[at].hash)
            fail_msg("%s: %llu and %llu frames, or other bytes", a->list[i].name,
                     (unsigned long long)a->list[i].frames, (unsigned long long)b->list[at].frames);
    }
}

static void the_stream_is_the_same_at_any_speed_and_with_pauses(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    static const char *const max[] = {"play", NULL}, *const fifty[] = {"speed 50", "play", NULL};
    static const char *const pauses[] = {"speed 20", "step", "play",      "pause", "step",
                                         "step",     "play", "speed 100", "pause", "speed max",
                                         "step",     "",     "loop off",  "play",  NULL};
    struct frames_seen first, other;
    frames_seen_collect(&first, paused, max);
    assert_true(first.count >= 10);
    frames_seen_collect(&other, paused, max);
    assert_same(&first, &other);
    frames_seen_collect(&other, paused, fifty);
    assert_same(&first, &other);
    frames_seen_collect(&other, paused, pauses);
    assert_same(&first, &other);
}

/* ---- what clients ask --------------------------------------------------------------------- */

static void a_replay_is_controlled_as_a_player_is(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", "--speed", "4", NULL};
    start(paused);
    struct client *c = dial(NULL);
    struct answer a = ask(c, "");
    assert_string_equal(a.state, "paused");
    assert_true(a.begin_ns == BEGIN_NS && a.position_ns == BEGIN_NS && a.speed == 4 && a.run == 1);
    assert_true(a.window == 0);
    a = settled(c, "seek +3s");
    assert_string_equal(a.state, "paused");
    assert_true(a.position_ns == BEGIN_NS + UINT64_C(3000000000) && a.run == 2 && a.speed == 4);
    uint64_t window = a.window;
    assert_int_equal(window, FILM_FIRST + 28);
    a = settled(c, "step");
    assert_int_equal(a.window, window + 1);
    assert_int_equal(a.run, 2);
    a = settled(c, "step back");
    assert_int_equal(a.window, window);
    assert_int_equal(a.run, 3);
    a = settled(c, "step back");
    assert_int_equal(a.window, window - 1);
    a = settled(c, "seek 0%");
    assert_int_equal(a.window, 0);
    a = settled(c, "step back"); /* there is nothing before */
    assert_int_equal(a.window, 0);
    a = settled(c, "seek -0");
    assert_string_equal(a.state, "ended");
    assert_int_equal(a.window, FILM_FIRST + WINDOWS - 1);
    a = settled(c, "speed max");
    a = settled(c, "play"); /* from the begin */
    a = until(c, "ended");
    assert_int_equal(a.window, FILM_FIRST + WINDOWS - 1);
    assert_true(a.position_ns == a.end_ns);
    client_destroy(c);
    stop();
    assert_none_left();
}

/* Each of them, however long the one before takes; a seek or play takes the place of those not made
 * yet. */
static void steps_asked_for_at_once_are_all_made(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL);
    uint64_t window = settled(c, "seek +3s").window;
    for (int i = 0; i < 4; i++)
        assert_int_equal(ask(c, "step").code, 0);
    struct answer a = settled(c, "step");
    assert_string_equal(a.state, "paused");
    assert_int_equal(a.window, window + 5);
    ask(c, "step");
    ask(c, "step");
    a = settled(c, "step back"); /* of the second one, made or not */
    assert_string_equal(a.state, "paused");
    assert_int_equal(a.window, window + 6);
    ask(c, "step");
    settled(c, "seek 0%");
    a = settled(c, "step");
    assert_int_equal(a.window, FILM_FIRST);
    ask(c, "step");
    ask(c, "play");
    a = until(c, "ended");
    assert_int_equal(a.window, FILM_FIRST + WINDOWS - 1);
    a = settled(c, "step"); /* there is nothing after it */
    assert_string_equal(a.state, "ended");
    client_destroy(c);
    stop();
    assert_none_left();
}

/* Each is counted from where the one before leads to, though nothing is there yet. */
static void steps_back_asked_for_at_once_are_all_made(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL);
    uint64_t window = settled(c, "seek +3s").window;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(c, "step back").code, 0);
    struct answer a = settled(c, "step back");
    assert_int_equal(a.window, window - 4);
    assert_string_equal(a.state, "paused");
    ask(c, "step back");
    ask(c, "step back");
    assert_int_equal(ask(c, "step").code, 0);
    a = settled(c, "step");
    assert_int_equal(a.window, window - 4);
    ask(c, "step back");
    a = settled(c, "pause");
    assert_int_equal(a.window, window - 5);
    client_destroy(c);
    stop();
    assert_none_left();
}

static void steps_back_and_forth_show_the_same_windows(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    pid_t all[64];
    start(paused);
    struct client *c = dial(NULL);
    struct answer a = settled(c, "seek +5s");
    for (uint64_t window = a.window; window > FILM_FIRST + 3;) {
        for (int i = 0; i < 3; i++, window--)
            a = settled(c, "step back");
        assert_int_equal(a.window, window);
        a = settled(c, "step");
        assert_int_equal(a.window, window + 1);
        a = settled(c, "step back");
        assert_int_equal(a.window, window);
    }
    assert_string_equal(a.state, "paused");
    while (a.indexed_ns < a.end_ns)
        a = ask(c, "");
    /* The server, the worker and the one before it, and a few checkpoints; others are ending. */
    uint64_t until_ns = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    while (processes(all) >= 8)
        assert_true(clock_mono_ns() < until_ns);
    settled(c, "seek +1s");
    client_destroy(c);
    stop();
    assert_none_left();
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL);
    assert_int_equal(ask(c, "bla").code, -HOLTER_EUSAGE);
    assert_int_equal(ask(c, "speed 0").code, -HOLTER_EUSAGE);
    assert_int_equal(ask(c, "seek 101%").code, -HOLTER_EUSAGE);
    assert_int_equal(ask(c, "seek +1h").code, -HOLTER_ERANGE);
    struct answer a = ask(c, "");
    assert_true(a.run == 1 && a.paused == 1);
    client_destroy(c);
    stop();
}

/* A request that was under way while a seek changed the run is repeated by its client: a step must
 * not be made twice. */
static void a_request_meant_for_another_run_is_not_executed(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct peer viewer;
    peer_dial(&bed, &viewer, NULL, ROLE_NONE);
    assert_int_equal(peer_greet(&viewer, "viewer", 0)->type, WIRE_TYPE_WELCOME);
    uint64_t instance = viewer.message.welcome.instance;
    struct wire_request request = {
        .id = 1, .op = "replay", .argument = "step", .instance = instance + 1};
    peer_send(&viewer, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_receive(&viewer)->type, WIRE_TYPE_WELCOME);
    assert_true(viewer.message.welcome.instance == instance);
    request = (struct wire_request){.id = 2, .op = "replay", .argument = "", .instance = instance};
    peer_send(&viewer, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_await(&viewer, WIRE_TYPE_REPLAY)->replay.window, 0);
    assert_int_equal(peer_reply(&viewer)->id, 2);
    peer_hang_up(&viewer);
    stop();
}

static void alerts_lie_on_the_line_of_time(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL);
    struct answer a = ask(c, "");
    while (a.indexed_ns < a.end_ns || a.marks == 0)
        a = ask(c, "");
    assert_string_equal(a.first.kind, "rank-died");
    assert_true(a.first.since_ns > BEGIN_NS + FILM_DEATH * FILM_WINDOW_NS);
    assert_true(a.first.since_ns < BEGIN_NS + (FILM_DEATH + 3) * FILM_WINDOW_NS);
    client_destroy(c);
    stop();
}

/* Clients may come when it has ended already. */
static void seeks_begin_at_checkpoints_after_a_replay_at_full_speed(void **state)
{
    (void)state;
    start(NULL);
    struct client *c = dial(NULL);
    struct answer a = until(c, "ended");
    while (a.indexed_ns < a.end_ns)
        a = ask(c, "");
    assert_true(a.run == 1 && a.marks > 0);
    a = settled(c, "pause");
    a = settled(c, "seek +3s");
    assert_int_equal(a.window, FILM_FIRST + 28);
    a = settled(c, "step back");
    assert_int_equal(a.window, FILM_FIRST + 27);
    a = settled(c, "play");
    a = until(c, "ended");
    assert_int_equal(a.window, FILM_FIRST + WINDOWS - 1);
    client_destroy(c);
    stop();
    assert_none_left();
}

static void a_replay_that_is_paused_on_its_way_is_indexed_to_its_end(void **state)
{
    (void)state;
    start(NULL);
    struct client *c = dial(NULL);
    struct answer a = ask(c, "pause");
    while (a.indexed_ns < a.end_ns || a.marks == 0)
        a = ask(c, "");
    a = settled(c, "seek -0");
    assert_int_equal(a.window, FILM_FIRST + WINDOWS - 1);
    a = settled(c, "seek +3s");
    assert_int_equal(a.window, FILM_FIRST + 28);
    client_destroy(c);
    stop();
    assert_none_left();
}

static void a_replay_begins_at_the_moment_of_the_option_from(void **state)
{
    (void)state;
    static const char *const from[] = {"--paused", "--from", "50%", NULL};
    start(from);
    struct client *c = dial(NULL);
    struct answer a = until(c, "paused");
    while (a.run < 2)
        a = until(c, "paused");
    assert_true(a.position_ns - a.begin_ns == (a.end_ns - a.begin_ns) / 2);
    client_destroy(c);
    stop();
    static const char *const outside[] = {"--from", "+1h", NULL};
    start(outside);
    assert_int_equal(ended(), 2);
}

static void a_loop_begins_again_until_it_is_switched_off(void **state)
{
    (void)state;
    static const char *const loop[] = {"--loop", NULL};
    start(loop);
    struct client *c = dial(NULL);
    uint64_t since_ns = clock_mono_ns(); /* the answer may be late, the run well on its way */
    struct answer a = ask(c, "");
    uint64_t first = a.run;
    while (a.run < first + 2)
        a = ask(c, "");
    /* Clients have the time to look at the run between: a second. */
    assert_true(clock_mono_ns() - since_ns >= UINT64_C(1000000000));
    assert_int_equal(a.looping, 1);
    assert_int_equal(ask(c, "loop off").code, 0);
    until(c, "ended");
    client_destroy(c);
    stop();
    static const char *const quit[] = {"--quit-at-end", NULL};
    start(quit);
    assert_int_equal(ended(), 0);
    assert_none_left();
}

static void a_loop_that_is_asked_for_at_the_end_begins_at_once(void **state)
{
    (void)state;
    start(NULL);
    struct client *c = dial(NULL);
    struct answer a = until(c, "ended");
    uint64_t run = a.run;
    assert_int_equal(ask(c, "loop on").code, 0);
    while (a.run < run + 2)
        a = ask(c, "");
    assert_int_equal(ask(c, "loop off").code, 0);
    until(c, "ended");
    assert_int_equal(ask(c, "pause").code, 0);
    assert_int_equal(ask(c, "loop on").code, 0); /* it is paused there */
    a = ask(c, "");
    assert_string_equal(a.state, "ended");
    assert_int_equal(a.looping, 1);
    run = a.run;
    assert_int_equal(ask(c, "play").code, 0);
    while (a.run < run + 2)
        a = ask(c, "");
    client_destroy(c);
    stop();
}

/* As a part of a recording that reached its size while it was replayed. */
static void a_loop_over_a_removed_file_stands_still(void **state)
{
    (void)state;
    static const char *const loop[] = {"--loop", "--paused", NULL};
    start(loop);
    struct client *c = dial(NULL);
    struct answer a = ask(c, "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ask(c, "play").code, 0);
    while (strcmp(a.state, "ended") != 0 && a.run < 10)
        a = ask(c, "");
    assert_string_equal(a.state, "ended");
    assert_int_equal(a.looping, 1);
    client_destroy(c);
    stop();
}

/* Before its first message a job has not fallen silent: who waits for its end would leave. */
static void a_job_runs_from_the_first_message_on(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL), *follower = dial("job,totals");
    struct client_message got;
    uint64_t windows = 0, until_ns = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    ask(c, "");
    while (client_next(follower, 20, &got) != 1) /* its current state has come */
        assert_true(clock_mono_ns() < until_ns);
    assert_int_equal(ask(c, "play").code, 0);
    for (int running = 1; running;) {
        assert_true(clock_mono_ns() < until_ns);
        if (client_next(follower, 20, &got) != 1)
            continue;
        windows += got.message->type == WIRE_TYPE_TOTALS;
        if (got.message->type != WIRE_TYPE_JOB)
            continue;
        assert_string_not_equal(got.message->job.state, "lost");
        running = strcmp(got.message->job.state, "running") == 0;
    }
    assert_true(windows >= WINDOWS);
    client_destroy(follower);
    client_destroy(c);
    stop();
}

/* Who follows sees the seek, and nothing of before it any more. */
static void followers_start_over_with_a_seek(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    start(paused);
    struct client *c = dial(NULL), *follower = dial("totals,replay");
    struct client_message got = {0};
    uint64_t newest = 0, run = 0, until_ns = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    settled(c, "seek +5s");
    while (run != 2 || newest < FILM_FIRST + 40) {
        if (client_next(follower, 20, &got) == 1 && got.message->type == WIRE_TYPE_REPLAY)
            run = got.message->replay.run;
        else if (got.message != NULL && got.message->type == WIRE_TYPE_TOTALS)
            newest = got.message->totals.window;
        assert_true(clock_mono_ns() < until_ns);
        got.message = NULL;
    }
    settled(c, "seek +1s");
    int first = 1;
    while (run != 3 || first) {
        int there = client_next(follower, 20, &got) == 1;
        if (there && got.message->type == WIRE_TYPE_REPLAY)
            run = got.message->replay.run;
        /* A current state is published first: of the other run, or of this one. */
        if (there && got.message->type == WIRE_TYPE_TOTALS && got.snapshot) {
            newest = got.message->totals.window;
            first = newest > FILM_FIRST + 10;
        }
        assert_true(clock_mono_ns() < until_ns);
    }
    assert_true(newest <= FILM_FIRST + 9);
    assert_int_equal(client_missed(follower), 0);
    client_destroy(follower);
    client_destroy(c);
    stop();
}

/* ---- the recording of a replay ------------------------------------------------------------------
 */

struct content {
    uint64_t hash, messages;
};

static int take_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct content *c = user;
    uint64_t heads[] = {head->type, head->instance, head->seq, head->window, head->received_ns};
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        c->hash = (c->hash ^ heads[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < length; i++)
        c->hash = (c->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    c->messages++;
    return 0;
}

static int take_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

/* All rows of all tables that hold results, as text. */
static uint64_t table_hash(const char *file)
{
    static const char *const names[] = {"job",     "totals",    "nodes",  "places",        "alert",
                                        "latency", "criterion", "region", "region_member", "phase",
                                        "curve",   "topology",  "seat",   "link"};
    sqlite3 *db;
    uint64_t hash = 1;
    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char sql[100];
        sqlite3_stmt *s;
        int rows = 0;
        snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1, 2", names[i]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
        for (; sqlite3_step(s) == SQLITE_ROW; rows++) {
            for (int k = 0; k < sqlite3_column_count(s); k++) {
                const unsigned char *text = sqlite3_column_text(s, k);
                for (; text != NULL && *text != '\0'; text++)
                    hash = (hash ^ *text) * UINT64_C(0x100000001b3);
                hash = (hash ^ 0x1f) * UINT64_C(0x100000001b3);
            }
        }
        sqlite3_finalize(s);
        if (i < 5 || i == 9) /* these have rows here */
            assert_true(rows > 0);
    }
    sqlite3_close(db);
    return hash;
}

static void recordings_of_the_same_replay_are_equal(void **state)
{
    (void)state;
    struct content original = {1, 0}, made[2] = {{1, 0}, {1, 0}};
    struct recording_reader reader = {&original, take_alert, take_message};
    uint64_t tables[2];
    assert_int_equal(recording_read(path, &reader), 0);
    for (int i = 0; i < 2; i++) {
        char records[160], file[200];
        snprintf(records, sizeof(records), "%s/r%d", bed.directory, i);
        snprintf(file, sizeof(file), "%s/holter-" FILM_JOB ".hrec", records);
        const char *const options[] = {"--record",       records,         "--speed",
                                       i ? "60" : "max", "--quit-at-end", NULL};
        start(options);
        assert_int_equal(ended(), 0);
        reader.user = &made[i];
        assert_int_equal(recording_read(file, &reader), 0);
        tables[i] = table_hash(file);
        assert_true(made[i].hash == original.hash);
        assert_int_equal(made[i].messages, original.messages);
    }
    assert_true(tables[0] == tables[1]);
    assert_none_left();
}

static void a_recorded_replay_goes_once_from_begin_to_end(void **state)
{
    (void)state;
    char records[160], file[200];
    snprintf(records, sizeof(records), "%s/r", bed.directory);
    const char *const options[] = {"--record", records, "--paused", NULL};
    start(options);
    struct client *c = dial(NULL);
    assert_int_equal(ask(c, "seek 50%").code, -HOLTER_EDENIED);
    assert_int_equal(ask(c, "step back").code, -HOLTER_EDENIED);
    assert_int_equal(ask(c, "loop on").code, -HOLTER_EDENIED);
    settled(c, "step");
    client_destroy(c);
    stop(); /* in the middle: what was recorded is whole */
    struct content content = {1, 0};
    const struct recording_reader reader = {&content, take_alert, take_message};
    snprintf(file, sizeof(file), "%s/holter-" FILM_JOB ".hrec", records);
    assert_int_equal(recording_read(file, &reader), 0);
    assert_true(content.messages >= 4 && content.messages < 10);
    static const char *const loop[] = {"--record", "/tmp", "--loop", NULL};
    start(loop);
    assert_int_equal(ended(), 2);
}

/* ---- when processes die -------------------------------------------------------------------- */

static void whatever_is_killed_nothing_is_left(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    size_t killed = 0, most = 1;
    for (; killed < most; killed++) {
        pid_t all[64];
        start(paused);
        struct client *c = dial(NULL);
        settled(c, "seek 50%");
        struct answer a = ask(c, "");
        while (a.indexed_ns < a.end_ns)
            a = ask(c, "");
        size_t count = processes(all);
        assert_true(count >= 3); /* server, a state or more, worker */
        most = count;
        kill(all[killed % count], SIGKILL);
        client_destroy(c);
        kill(daemon_pid, SIGTERM); /* of a state the loss is borne */
        ended();
        assert_none_left();
    }
}

static void the_end_of_the_worker_is_the_end_of_the_replay(void **state)
{
    (void)state;
    static const char *const paused[] = {"--paused", NULL};
    pid_t all[64];
    start(paused);
    struct client *c = dial(NULL);
    struct answer a = ask(c, "");
    while (a.indexed_ns < a.end_ns)
        a = ask(c, "");
    size_t count = processes(all);
    for (size_t i = 0; i < count; i++) {
        if (all[i] != daemon_pid)
            kill(all[i], SIGKILL);
    }
    client_destroy(c);
    assert_int_equal(ended(), 1);
    assert_none_left();
}

/* ---- hostile files -----------------------------------------------------------------------------
 */

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    film_make(path, 0, 0); /* continues what is there: so elsewhere */
    unlink(path);
    film_make(path, 0, 0);
    start(NULL);
    assert_int_equal(ended(), 1);
    FILE *file = fopen(path, "w");
    fclose(file);
    start(NULL);
    assert_int_equal(ended(), 1);
    file = fopen(path, "w");
    fputs("no recording", file);
    fclose(file);
    start(NULL);
    assert_int_equal(ended(), 1);
    unlink(path);
    start(NULL);
    assert_int_equal(ended(), 1);
    film_make(path, WINDOWS, 60); /* a damaged message in the middle */
    static const char *const quit[] = {"--quit-at-end", NULL};
    start(quit);
    assert_int_equal(ended(), 0);
    assert_none_left();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    bed.holterd = argv[1];
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_stream_is_the_same_at_any_speed_and_with_pauses),
        TEST(a_replay_is_controlled_as_a_player_is),
        TEST(steps_asked_for_at_once_are_all_made),
        TEST(steps_back_asked_for_at_once_are_all_made),
        TEST(steps_back_and_forth_show_the_same_windows),
        TEST(what_cannot_be_is_refused),
        TEST(a_request_meant_for_another_run_is_not_executed),
        TEST(alerts_lie_on_the_line_of_time),
        TEST(seeks_begin_at_checkpoints_after_a_replay_at_full_speed),
        TEST(a_replay_that_is_paused_on_its_way_is_indexed_to_its_end),
        TEST(a_replay_begins_at_the_moment_of_the_option_from),
        TEST(a_loop_begins_again_until_it_is_switched_off),
        TEST(a_loop_that_is_asked_for_at_the_end_begins_at_once),
        TEST(a_loop_over_a_removed_file_stands_still),
        TEST(a_job_runs_from_the_first_message_on),
        TEST(followers_start_over_with_a_seek),
        TEST(recordings_of_the_same_replay_are_equal),
        TEST(a_recorded_replay_goes_once_from_begin_to_end),
        TEST(whatever_is_killed_nothing_is_left),
        TEST(the_end_of_the_worker_is_the_end_of_the_replay),
        TEST(files_that_are_none_are_refused),
    };
    return cmocka_run_group_tests_name("replay_control", tests, NULL, NULL);
}
