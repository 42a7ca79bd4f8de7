#include "daemon/server/searches.h"

#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_TOPIC "search"
#define LOOK_MS 200         /* how often it is seen whether clients are still there */
#define SPARE_SECONDS 120.0 /* of processor time, besides what was asked for */
#define NICENESS 10         /* the daemon and the job's own processes go first */
#define READ_BYTES 65536u

struct one {
    struct searches *all; /* NULL: the list is gone */
    uv_pipe_t pipe;
    pid_t process;
    struct front *front;
    uint8_t peer[PEER_ID_BYTES];
    size_t peer_length;
    uint64_t id;
    int reroute;
    uint8_t *bytes; /* owned: what came of messages that are not whole yet */
    size_t length, room;
    int answered;
    struct one *next;
};

struct searches {
    uv_timer_t look;
    uv_loop_t *loop;
    struct one *list;
    unsigned count;
};

int searches_create(struct searches **out, uv_loop_t *loop)
{
    struct searches *s = calloc(1, sizeof(*s));
    int code = s == NULL ? -ENOMEM : uv_timer_init(loop, &s->look);
    if (code != 0) {
        free(s);
        return code;
    }
    s->look.data = s;
    s->loop = loop;
    *out = s;
    return 0;
}

/* ---- ending ------------------------------------------------------------------------------ */

static void on_one_closed(uv_handle_t *handle)
{
    struct one *one = handle->data;
    free(one->bytes);
    free(one);
}

/* The process has answered, or nobody waits for it any more. */
static void end(struct one *one)
{
    struct searches *s = one->all;
    int status = 0;
    kill(one->process, SIGKILL);
    while (waitpid(one->process, &status, 0) < 0 && errno == EINTR)
        ;
    for (struct one **at = &s->list; *at != NULL; at = &(*at)->next) {
        if (*at == one) {
            *at = one->next;
            s->count--;
            break;
        }
    }
    if (s->list == NULL)
        uv_timer_stop(&s->look);
    one->all = NULL;
    uv_close((uv_handle_t *)&one->pipe, on_one_closed);
}

/* @param why  told when it was not answered */
static void finish(struct one *one, int code, const char *why)
{
    struct peer *peer = front_peer(one->front, one->peer, one->peer_length);
    if (!one->answered && peer != NULL) {
        const struct wire_reply reply = {.id = one->id, .code = code, .text = why};
        front_send(one->front, peer, WIRE_TYPE_REPLY, &reply);
    }
    end(one);
}

/* Its process has ended, or its client has left. */
static void finish_ended(struct one *one)
{
    if (!one->answered && front_peer(one->front, one->peer, one->peer_length) != NULL)
        log_warn("a search ended before it was answered");
    finish(one, -HOLTER_EINTERNAL, "the search ended before it was done");
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void searches_destroy(struct searches *s)
{
    if (s == NULL)
        return;
    while (s->list != NULL)
        end(s->list);
    uv_close((uv_handle_t *)&s->look, on_closed);
}

static void on_look(uv_timer_t *timer)
{
    struct searches *s = timer->data;
    for (struct one *one = s->list, *next; one != NULL; one = next) {
        next = one->next;
        if (front_peer(one->front, one->peer, one->peer_length) == NULL)
            finish_ended(one);
    }
}

/* ---- answers ------------------------------------------------------------------------------- */

/* It comes from a process of ours, encoded as it is sent. @return nonzero when the peer has all it
 * asked for */
static int pass_on(struct one *one, const uint8_t *bytes, uint32_t length)
{
    struct peer *peer = front_peer(one->front, one->peer, one->peer_length);
    zmq_msg_t message;
    if (peer == NULL || zmq_msg_init_size(&message, length) != 0)
        return 1;
    memcpy(zmq_msg_data(&message), bytes, length);
    int code = front_send_encoded(one->front, peer, &message);
    zmq_msg_close(&message);
    /* An array of two (MessagePack), the first of which is the type, below 128. */
    one->answered = length > 1 && bytes[1] == WIRE_TYPE_REPLY;
    return code != 0 || one->answered;
}

/* @return nonzero at the end */
static int take(struct one *one)
{
    size_t at = 0;
    int over = 0;
    while (!over && one->length - at >= sizeof(uint32_t)) {
        uint32_t length;
        memcpy(&length, one->bytes + at, sizeof(length));
        if (length > WIRE_MESSAGE_BYTES)
            return 1;
        if (one->length - at - sizeof(length) < length)
            break;
        over = pass_on(one, one->bytes + at + sizeof(length), length);
        at += sizeof(length) + length;
    }
    one->length -= at;
    memmove(one->bytes, one->bytes + at, one->length);
    return over;
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct one *one = handle->data;
    (void)wanted;
    *out = uv_buf_init(NULL, 0); /* without memory: it ends */
    if (one->room - one->length < READ_BYTES) {
        size_t room = 2 * one->room + READ_BYTES;
        uint8_t *bytes = realloc(one->bytes, room);
        if (bytes == NULL)
            return;
        one->bytes = bytes;
        one->room = room;
    }
    *out = uv_buf_init((char *)one->bytes + one->length, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct one *one = stream->data;
    (void)buffer;
    if (one->all == NULL || count == 0)
        return;
    if (count > 0)
        one->length += (size_t)count;
    if (count < 0)
        finish_ended(one);
    else if (take(one)) /* it is answered, or its client takes nothing any more */
        finish(one, -HOLTER_EINTERNAL, "the search's answer could not be passed on");
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* In the process of its own: nothing of the daemon's is touched, and nothing of it told when it
 * ends. */
static void become_search(struct job *job, const struct network_ask *ask, int fd, uint64_t id,
                          pid_t parent)
{
    static const int reset[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD, SIGALRM, SIGABRT};
    const struct rlimit time = {(rlim_t)(2 * ask->seconds + SPARE_SECONDS),
                                (rlim_t)(2 * ask->seconds + SPARE_SECONDS)};
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (size_t i = 0; i < sizeof(reset) / sizeof(*reset); i++)
        signal(reset[i], SIG_DFL);
    setrlimit(RLIMIT_CPU, &time);
    setpriority(PRIO_PROCESS, 0, NICENESS);
    if (fd > 3)
        syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0u);
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    search_run(job, ask, fd, id);
    _exit(0);
}

static int start(struct one *one, struct job *job, const struct network_ask *ask)
{
    int fds[2];
    sigset_t all, before;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* handlers are the daemon's: none may run there */
    pid_t parent = getpid();
    one->process = fork();
    if (one->process == 0)
        become_search(job, ask, fds[1], one->id, parent);
    int code = one->process < 0 ? -errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fds[1]);
    if (code == 0)
        code = uv_pipe_open(&one->pipe, fds[0]);
    else
        close(fds[0]);
    if (code == 0)
        code = uv_read_start((uv_stream_t *)&one->pipe, on_room, on_read);
    return code;
}

int searches_end(struct searches *s, const struct peer *peer, int reroute, const char *why)
{
    for (struct one *one = s->list; one != NULL; one = one->next) {
        if (one->reroute != reroute || one->peer_length != peer->id_length ||
            memcmp(one->peer, peer->id, peer->id_length) != 0)
            continue;
        finish(one, -ECANCELED, why);
        return 0;
    }
    return -HOLTER_EEMPTY;
}

int searches_begin(struct searches *s, struct front *front, const struct peer *peer, uint64_t id,
                   struct job *job, struct network_ask *ask)
{
    searches_end(s, peer, ask->reroute, "another was asked for");
    struct one *one = s->count >= SEARCHES_MOST ? NULL : calloc(1, sizeof(*one));
    int code = s->count >= SEARCHES_MOST ? -HOLTER_EFULL : one == NULL ? -ENOMEM : 0;
    if (code == 0) {
        code = uv_pipe_init(s->loop, &one->pipe, 0);
        one->pipe.data = one;
    }
    if (code != 0) {
        free(one);
        network_ask_finish(ask);
        return code;
    }
    one->front = front;
    memcpy(one->peer, peer->id, peer->id_length);
    one->peer_length = peer->id_length;
    one->id = id;
    one->reroute = ask->reroute;
    code = start(one, job, ask);
    network_ask_finish(ask);
    if (code != 0) {
        if (one->process > 0) {
            kill(one->process, SIGKILL);
            waitpid(one->process, NULL, 0);
        }
        uv_close((uv_handle_t *)&one->pipe, on_one_closed);
        return code;
    }
    one->all = s;
    one->next = s->list;
    s->list = one;
    if (s->count++ == 0)
        uv_timer_start(&s->look, on_look, LOOK_MS, LOOK_MS);
    return 0;
}
