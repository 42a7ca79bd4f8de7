/* The processes of searches, and their answers. */
#include "daemon/server/searches.h"

#include "daemon/server/front.h"
#include "daemon/server/msg_socket_frame.h"
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
#define CLIENT_CHECK_MS 200 /* between two checks that clients are connected */
#define SPARE_SECONDS 120.0 /* of processor time, in addition to the request's */
#define NICENESS 10         /* the daemon and the processes of the job go first */

struct search_process {
    struct searches *all;
    struct msg_stream *stream;
    pid_t process;
    struct front *front;
    struct peer_id peer;
    uint64_t id;
    int reroute;
    int answered;
    struct search_process *next;
};

struct searches {
    uv_timer_t client_timer;
    uv_loop_t *loop;
    struct search_process *list;
    unsigned count;
};

int searches_create(struct searches **out, uv_loop_t *loop)
{
    struct searches *s = calloc(1, sizeof(*s));
    int code = s == NULL ? -ENOMEM : uv_timer_init(loop, &s->client_timer);
    if (code != 0) {
        free(s);
        return code;
    }
    s->client_timer.data = s;
    s->loop = loop;
    *out = s;
    return 0;
}

/* ---- ending ------------------------------------------------------------------------------ */

/* End the process and remove the search. */
static void searches_end_process(struct search_process *search)
{
    struct searches *s = search->all;
    int status = 0;
    kill(search->process, SIGKILL);
    while (waitpid(search->process, &status, 0) < 0 && errno == EINTR)
        ;
    for (struct search_process **at = &s->list; *at != NULL; at = &(*at)->next) {
        if (*at == search) {
            *at = search->next;
            s->count--;
            break;
        }
    }
    if (s->list == NULL)
        uv_timer_stop(&s->client_timer);
    msg_stream_close(search->stream, free, search);
}

/* @param why  text of the reply, if the search has not sent one */
static void searches_finish(struct search_process *search, int code, const char *why)
{
    struct peer *peer = front_find_peer(search->front, &search->peer);
    if (!search->answered && peer != NULL) {
        const struct wire_reply reply = {.id = search->id, .code = code, .text = why};
        front_send(search->front, peer, WIRE_TYPE_REPLY, &reply);
    }
    searches_end_process(search);
}

/* The process has ended, or its client has left. */
static void searches_finish_unanswered(struct search_process *search)
{
    if (!search->answered && front_find_peer(search->front, &search->peer) != NULL)
        log_warn("a search ended before it was answered");
    searches_finish(search, -HOLTER_EINTERNAL, "the search ended before it was done");
}

static void searches_on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void searches_destroy(struct searches *s)
{
    if (s == NULL)
        return;
    while (s->list != NULL)
        searches_end_process(s->list);
    uv_close((uv_handle_t *)&s->client_timer, searches_on_closed);
}

static void searches_on_timer(uv_timer_t *timer)
{
    struct searches *s = timer->data;
    for (struct search_process *search = s->list, *next; search != NULL; search = next) {
        next = search->next;
        if (front_find_peer(search->front, &search->peer) == NULL)
            searches_finish_unanswered(search);
    }
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Forward an encoded message of the process. @return nonzero when it was the last, or cannot be
 * sent
 */
static int searches_forward(struct search_process *search, const struct msg_socket_part *encoded)
{
    struct peer *peer = front_find_peer(search->front, &search->peer);
    const uint8_t *bytes = encoded->bytes;
    zmq_msg_t message;
    if (peer == NULL || zmq_msg_init_size(&message, encoded->length) != 0)
        return 1;
    memcpy(zmq_msg_data(&message), bytes, encoded->length);
    int code = front_send_encoded(search->front, peer, &message);
    zmq_msg_close(&message);
    /* An array of two (MessagePack), the first of which is the type, below 128. */
    search->answered = encoded->length > 1 && bytes[1] == WIRE_TYPE_REPLY;
    return code != 0 || search->answered;
}

static int searches_on_message(void *user, const struct msg_socket_part *parts, size_t count)
{
    (void)count;
    if (searches_forward(user, &parts[0])) /* answered, or the client does not read */
        searches_finish(user, -HOLTER_EINTERNAL, "the search's answer could not be forwarded");
    return 1;
}

static void searches_on_ended(void *user)
{
    searches_finish_unanswered(user);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* In the child: it uses no descriptor of the daemon, and runs none of its exit handlers. */
static void searches_run_child(struct job *job, const struct network_ask *ask, int fd, uint64_t id,
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

static int searches_fork(struct search_process *search, struct job *job,
                         const struct network_ask *ask)
{
    const struct msg_stream_events events = {search, searches_on_message, searches_on_ended};
    int fds[2];
    sigset_t all, before;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of the daemon may run in the child */
    pid_t parent = getpid();
    search->process = fork();
    if (search->process == 0)
        searches_run_child(job, ask, fds[1], search->id, parent);
    int code = search->process < 0 ? -errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fds[1]);
    if (code != 0) {
        close(fds[0]);
        return code;
    }
    code = msg_stream_open(&search->stream, search->all->loop, fds[0], &events);
    if (code == 0) {
        msg_stream_resume(search->stream);
        return 0;
    }
    kill(search->process, SIGKILL);
    waitpid(search->process, NULL, 0);
    return code;
}

int searches_cancel(struct searches *s, const struct peer *peer, int reroute, const char *why)
{
    for (struct search_process *search = s->list; search != NULL; search = search->next) {
        if (search->reroute != reroute || !peer_has_id(peer, &search->peer))
            continue;
        searches_finish(search, -ECANCELED, why);
        return 0;
    }
    return -HOLTER_EEMPTY;
}

int searches_start(struct searches *s, struct front *front, const struct peer *peer, uint64_t id,
                   struct job *job, struct network_ask *ask)
{
    searches_cancel(s, peer, ask->reroute, "another was asked for");
    struct search_process *search =
        s->count >= SEARCHES_MAXIMUM ? NULL : calloc(1, sizeof(*search));
    if (search == NULL) {
        network_ask_finish(ask);
        return s->count >= SEARCHES_MAXIMUM ? -HOLTER_EFULL : -ENOMEM;
    }
    search->all = s;
    search->front = front;
    search->peer = peer->id;
    search->id = id;
    search->reroute = ask->reroute;
    int code = searches_fork(search, job, ask);
    network_ask_finish(ask);
    if (code != 0) {
        free(search);
        return code;
    }
    search->next = s->list;
    s->list = search;
    if (s->count++ == 0)
        uv_timer_start(&s->client_timer, searches_on_timer, CLIENT_CHECK_MS, CLIENT_CHECK_MS);
    return 0;
}
