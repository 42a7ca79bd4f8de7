/* The connection to the daemon: hello and welcome, requests and their answers, detection of a lost
 * connection. */
#include "proto/client.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/client_state.h"
#include "proto/endpoint.h"
#include "proto/host.h"
#include "version.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define HELLO_INTERVAL_NS UINT64_C(1000000000) /* unless an option gives another */
#define HELLOS_UNTIL_LOST 3
#define LEAVE_MS 100     /* maximum time for the last message */
#define HELLOS_REFUSED 5 /* after so many intervals of hello a refused client tries again */
#define TICKS_PER_HELLO 4
/* Frames queued for a slow reader; further ones are dropped by the daemon. */
#define STREAM_HWM 512

void client_complain(struct client *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->error, sizeof c->error, format, args);
    va_end(args);
}

/* ---- sockets ------------------------------------------------------------- */

static int client_set_option(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) ? -errno : 0;
}

static void client_close_socket(void **socket)
{
    if (*socket)
        zmq_close(*socket);
    *socket = NULL;
}

static int client_open_socket(struct client *c, void **out, int type, const char *endpoint)
{
    void *socket = zmq_socket(c->context, type);
    if (!socket)
        return -errno;
    int64_t longest = WIRE_MESSAGE_BYTES;
    int error = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &longest, sizeof longest) ? -errno : 0;
    const struct {
        int option, value;
    } options[] = {{ZMQ_LINGER, 0},          {ZMQ_IPV6, 1},
                   {ZMQ_RECONNECT_IVL, 100}, {ZMQ_RECONNECT_IVL_MAX, 1000},
                   {ZMQ_RCVHWM, STREAM_HWM}, {ZMQ_TCP_KEEPALIVE, 1}};
    for (size_t i = 0; i < sizeof options / sizeof *options && !error; i++)
        error = client_set_option(socket, options[i].option, options[i].value);
    if (!error && c->has_keys)
        error = curve_apply_client(socket, &c->keys);
    if (!error && zmq_connect(socket, endpoint))
        error = -errno;
    *out = socket;
    if (error)
        client_close_socket(out);
    return error;
}

int client_open_stream(struct client *c)
{
    client_close_socket(&c->stream);
    return client_open_socket(c, &c->stream, ZMQ_SUB, c->stream_endpoint);
}

static uint64_t client_tick_ns(const struct client *c)
{
    return c->hello_interval_ns / TICKS_PER_HELLO;
}

uint64_t client_due_ns(const struct client *c, unsigned hellos)
{
    return clock_mono_ns() + hellos * c->hello_interval_ns;
}

/* ---- sending ------------------------------------------------------------- */

static int client_send_message(struct client *c, enum wire_type type, const void *message)
{
    int error = wire_encode(&c->buffer, type, message);
    if (error)
        return error;
    return zmq_send(c->front, c->buffer.bytes, c->buffer.length, ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

void client_send_hello(struct client *c)
{
    char host[HOST_NAME_CAPACITY];
    host_name(host);
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = role_name(c->role),
                               .version = HOLTER_VERSION,
                               .host = host,
                               .pid = (uint64_t)getpid()};
    /* If the queue is full, the daemon is unreachable, and enough hello messages are queued. */
    (void)client_send_message(c, WIRE_TYPE_HELLO, &hello);
    c->hello_ns = clock_mono_ns();
    c->unanswered++;
}

/* The type of the message that answers a request whose answer takes long; 0: other requests. */
static enum wire_type client_slow_answer(const char *op)
{
    return !strcmp(op, "remap")     ? WIRE_TYPE_MAPPING
           : !strcmp(op, "reroute") ? WIRE_TYPE_ROUTES
           : !strcmp(op, "capture") ? WIRE_TYPE_CAPTURED
                                    : (enum wire_type)0;
}

int64_t client_request(struct client *c, enum request_kind kind, const struct wire_request *request)
{
    if (c->pending_count == CLIENT_PENDING)
        return -HOLTER_EFULL;
    struct wire_request numbered = *request;
    numbered.id = ++c->next_id;
    numbered.instance = c->instance;
    int error = client_send_message(c, WIRE_TYPE_REQUEST, &numbered);
    if (error)
        return error;
    c->pending[c->pending_count++] =
        (struct pending){numbered.id, kind, client_slow_answer(numbered.op)};
    return (int64_t)numbered.id;
}

int64_t client_ask_rows(struct client *c, const struct wire_request *request)
{
    if (!c->front)
        return -HOLTER_EUNREACHABLE;
    return client_request(c, REQUEST_USER, request);
}

int64_t client_ask(struct client *c, const char *op, const char *job, const char *topic,
                   const char *argument)
{
    return client_ask_rows(
        c, &(struct wire_request){.op = op, .job = job, .topic = topic, .argument = argument});
}

/* ---- state --------------------------------------------------------------- */

/* Drop the connection with all pending requests, and connect again. */
static void client_start_over(struct client *c, enum client_state state)
{
    client_close_socket(&c->front);
    client_close_socket(&c->stream);
    for (size_t i = 0; i < c->pending_count; i++) {
        if (c->pending[i].kind == REQUEST_USER && c->failed_count < CLIENT_PENDING)
            c->failed[c->failed_count++] = c->pending[i].id;
    }
    c->pending_count = 0;
    c->instance = 0;
    c->unanswered = 0;
    c->state = state;
    follow_forget(c);
    int error = client_open_socket(c, &c->front, ZMQ_DEALER, c->endpoint);
    if (error)
        client_complain(c, "%s: %s", c->endpoint, holter_strerror(error));
    else
        client_send_hello(c);
}

static void client_on_tick(struct client *c)
{
    uint64_t now = clock_mono_ns();
    if (c->state == CLIENT_REFUSED) {
        if (now - c->hello_ns > HELLOS_REFUSED * c->hello_interval_ns)
            client_start_over(c, CLIENT_REFUSED);
        return;
    }
    if (now - c->hello_ns >= c->hello_interval_ns) {
        if (!c->front || c->unanswered >= HELLOS_UNTIL_LOST) {
            if (c->state == CLIENT_CONNECTED)
                client_complain(c, "%s: the daemon does not answer any more", c->endpoint);
            client_start_over(c, c->state == CLIENT_CONNECTED ? CLIENT_LOST : c->state);
            return;
        }
        client_send_hello(c);
    }
    follow_tick(c, now);
}

static void client_on_welcome(struct client *c, const struct wire_welcome *welcome)
{
    if (welcome->protocol != WIRE_PROTOCOL) {
        client_complain(c, "%s: the daemon (version %s) speaks protocol %llu, this program %u",
                        c->endpoint, welcome->version, (unsigned long long)welcome->protocol,
                        WIRE_PROTOCOL);
        c->state = CLIENT_REFUSED;
        return;
    }
    if (c->instance == welcome->instance)
        return; /* the answer to a later hello */
    if (c->instance != 0) {
        /* Another run of the daemon: queued messages and pending requests belong to the old one.
         * After a seek the new run of a replay can be reached at once. */
        client_start_over(c, c->replays ? CLIENT_DIALLING : CLIENT_LOST);
        return;
    }
    int error = 0;
    if (c->stream_given[0])
        snprintf(c->stream_endpoint, sizeof c->stream_endpoint, "%s", c->stream_given);
    else if (welcome->stream[0] && endpoint_check(welcome->stream, NULL, 0) == 0)
        snprintf(c->stream_endpoint, sizeof c->stream_endpoint, "%s", welcome->stream);
    else
        error = endpoint_stream(c->stream_endpoint, sizeof c->stream_endpoint, c->endpoint);
    if (!error)
        error = client_open_stream(c);
    if (error) {
        client_complain(c, "%s: %s", c->stream_endpoint, holter_strerror(error));
        c->state = CLIENT_REFUSED;
        return;
    }
    c->instance = welcome->instance;
    c->replays = welcome->replays != 0;
    snprintf(c->prefix, sizeof c->prefix, "%s", welcome->prefix);
    c->state = CLIENT_CONNECTED;
    c->error[0] = '\0';
    follow_begin(c);
}

static void client_on_refused(struct client *c, const struct wire_refused *refused)
{
    client_complain(c, "%s: refused: %s", c->endpoint, refused->text);
    /* A refusal after a welcome comes from another run of the daemon, which expects a hello first.
     */
    client_start_over(c, c->state == CLIENT_CONNECTED ? CLIENT_LOST : CLIENT_REFUSED);
}

/* ---- receiving ----------------------------------------------------------- */

/* First pending request that messages of a type answer. @param slow  0: any other type than those
 * of client_slow_answer() @return NULL: there is none */
static const struct pending *client_find_answered(const struct client *c, enum wire_type slow)
{
    for (size_t i = 0; i < c->pending_count; i++)
        if (c->pending[i].slow == slow)
            return &c->pending[i];
    return NULL;
}

static int client_on_reply(struct client *c, struct client_message *out)
{
    const struct wire_reply *reply = &c->message.reply;
    const struct pending *first = client_find_answered(c, (enum wire_type)0);
    size_t at = 0;
    while (at < c->pending_count && c->pending[at].id != reply->id)
        at++;
    /* Answers come in the order of the requests, except for slow ones. Unexpected answers are
     * dropped. */
    if (at == c->pending_count || (!c->pending[at].slow && &c->pending[at] != first))
        return 0;
    enum request_kind kind = c->pending[at].kind;
    memmove(c->pending + at, c->pending + at + 1, (--c->pending_count - at) * sizeof *c->pending);
    if (kind == REQUEST_FOLLOW) {
        follow_reply(c, reply);
        return 0;
    }
    *out = (struct client_message){.message = &c->message, .id = reply->id};
    return 1;
}

/* @return 1 when out was set */
static int client_on_front(struct client *c, struct client_message *out)
{
    c->unanswered = 0;
    switch (c->message.type) {
    case WIRE_TYPE_WELCOME:
        client_on_welcome(c, &c->message.welcome);
        return 0;
    case WIRE_TYPE_REFUSED:
        client_on_refused(c, &c->message.refused);
        return 0;
    case WIRE_TYPE_REPLY:
        return client_on_reply(c, out);
    default:
        break;
    }
    int slow = c->message.type == WIRE_TYPE_MAPPING || c->message.type == WIRE_TYPE_ROUTES ||
               c->message.type == WIRE_TYPE_CAPTURED;
    const struct pending *asked =
        client_find_answered(c, slow ? c->message.type : (enum wire_type)0);
    if (!asked)
        return 0;
    if (asked->kind == REQUEST_FOLLOW && !follow_answer(c, asked->id))
        return 0;
    *out = (struct client_message){.message = &c->message,
                                   .snapshot = wire_topic(c->message.type) != NULL,
                                   .id = asked->kind == REQUEST_USER ? asked->id : 0};
    return 1;
}

int client_decode(struct client *c, const char *endpoint, const struct client_part *message)
{
    struct wire_fault fault;
    int error = wire_decode(&c->message, &c->arena, message->bytes, message->length, &fault);
    if (error && error != -ENOMEM)
        client_complain(c, "%s: %s: %s", endpoint, fault.where, holter_strerror(error));
    return error;
}

int client_take(struct client *c, const struct client_part *message, struct client_message *out)
{
    int error = client_decode(c, c->endpoint, message);
    return error == 0 ? client_on_front(c, out) : error == -ENOMEM ? error : 0;
}

/* @return as client_take(), or -HOLTER_EEMPTY */
static int client_read_front(struct client *c, struct client_message *out)
{
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    int result = -HOLTER_EEMPTY;
    if (c->front && zmq_msg_recv(&frame, c->front, ZMQ_DONTWAIT) >= 0) {
        const struct client_part message = {zmq_msg_data(&frame), zmq_msg_size(&frame)};
        result = client_take(c, &message, out);
    }
    zmq_msg_close(&frame);
    return result;
}

/* Answer a request that was lost with its connection. */
static int client_fail_request(struct client *c, struct client_message *out)
{
    uint64_t id = c->failed[0];
    memmove(c->failed, c->failed + 1, --c->failed_count * sizeof *c->failed);
    c->message =
        (struct wire_message){.type = WIRE_TYPE_REPLY,
                              .reply = {.id = id,
                                        .code = -HOLTER_EUNREACHABLE,
                                        .text = "the connection was lost before the answer"}};
    *out = (struct client_message){.message = &c->message, .id = id};
    return 1;
}

/* @return 1 when out was set, 0 when no message is left, -ENOMEM */
static int client_read_all(struct client *c, struct client_message *out)
{
    enum client_state state = c->state;
    for (;;) {
        if (c->failed_count)
            return client_fail_request(c, out);
        int result = client_read_front(c, out);
        if (result == -HOLTER_EEMPTY && follow_reads(c))
            result = follow_read(c, out);
        if (result == -HOLTER_EEMPTY || c->state != state)
            return result == 1;
        if (result != 0)
            return result;
    }
}

int client_wait(struct client *c, struct pollfd *fds, int count, int timeout_ms)
{
    uint64_t tick_ms = client_tick_ns(c) / 1000000 + 1;
    long wait_ms = (uint64_t)timeout_ms < tick_ms ? timeout_ms : (long)tick_ms;
    zmq_pollitem_t items[2 + CLIENT_WAIT_FDS] = {{.socket = c->front, .events = ZMQ_POLLIN}};
    int own = c->front != NULL;
    if (follow_reads(c))
        items[own++] = (zmq_pollitem_t){.socket = c->stream, .events = ZMQ_POLLIN};
    for (int i = 0; i < count; i++)
        items[own + i] = (zmq_pollitem_t){.fd = fds[i].fd,
                                          .events = fds[i].events & POLLIN ? ZMQ_POLLIN : (short)0};
    int error = zmq_poll(items, own + count, wait_ms) < 0 ? -errno : 0;
    for (int i = 0; i < count; i++)
        fds[i].revents = (short)((items[own + i].revents & ZMQ_POLLIN ? POLLIN : 0) |
                                 (items[own + i].revents & ZMQ_POLLERR ? POLLERR : 0));
    return error;
}

int client_next(struct client *c, int timeout_ms, struct client_message *out)
{
    uint64_t until = clock_mono_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000, now;
    enum client_state state = c->state;
    for (;;) {
        int result = client_read_all(c, out);
        if (result != 0)
            return result;
        client_on_tick(c);
        if (c->failed_count)
            continue;
        if (c->state != state || (now = clock_mono_ns()) >= until)
            return 0;
        /* Rounded up: less than a millisecond would be a busy loop. */
        result = client_wait(c, NULL, 0, (int)((until - now + 999999) / 1000000));
        if (result == -EINTR)
            return 0;
        if (result != 0)
            return result;
    }
}

/* ---- life ---------------------------------------------------------------- */

static int client_set_up(struct client *c, const struct client_options *options)
{
    char why[sizeof c->error];
    if (endpoint_check(options->endpoint, why, sizeof why) ||
        strlen(options->endpoint) >= sizeof c->endpoint)
        return -HOLTER_EUSAGE;
    strcpy(c->endpoint, options->endpoint);
    if (options->stream) {
        if (endpoint_check(options->stream, why, sizeof why) ||
            strlen(options->stream) >= sizeof c->stream_given)
            return -HOLTER_EUSAGE;
        strcpy(c->stream_given, options->stream);
    }
    c->role = options->role;
    c->hello_interval_ns =
        options->hello_interval_ns ? options->hello_interval_ns : HELLO_INTERVAL_NS;
    c->in_fleet = options->in_fleet;
    if (options->key_dir) {
        int error = curve_load(options->key_dir, options->role, &c->keys);
        if (error)
            return error;
        c->has_keys = 1;
    }
    c->context = zmq_ctx_new();
    return c->context ? 0 : -ENOMEM;
}

int client_create(struct client **out, const struct client_options *options)
{
    struct client *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    int error = client_set_up(c, options);
    if (error) {
        client_destroy(c);
        return error;
    }
    client_start_over(c, CLIENT_DIALLING);
    *out = c;
    return 0;
}

/* Say goodbye, so that the daemon does not count this client any more. */
static void client_leave(struct client *c)
{
    const int linger_ms = LEAVE_MS;
    if (c->state == CLIENT_CONNECTED && c->front &&
        zmq_setsockopt(c->front, ZMQ_LINGER, &linger_ms, sizeof linger_ms) == 0)
        (void)client_send_message(c, WIRE_TYPE_BYE, &(struct wire_bye){0});
}

void client_destroy(struct client *c)
{
    if (!c)
        return;
    client_leave(c);
    client_close_socket(&c->front);
    client_close_socket(&c->stream);
    if (c->context)
        zmq_ctx_term(c->context);
    wire_buffer_finish(&c->buffer);
    wire_arena_finish(&c->arena);
    curve_wipe(&c->keys);
    free(c);
}

enum client_state client_state(const struct client *c)
{
    return c->state;
}

uint64_t client_instance(const struct client *c)
{
    return c->instance;
}

int client_replays(const struct client *c)
{
    return c->replays;
}

const char *client_job(const struct client *c)
{
    return c->follow.job;
}

uint64_t client_missed(const struct client *c)
{
    return c->missed;
}

const char *client_error(const struct client *c)
{
    return c->error;
}
