/* Opens and configures the ZeroMQ sockets of the daemon. */
#include "daemon/server/sockets.h"

#include "daemon/server/zap.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"

#include <stdio.h>
#include <zmq.h>

#define RECEIVE_QUEUE 64 /* messages of one peer that wait to be read */
#define SEND_QUEUE 8192  /* messages to one peer that wait; a snapshot has up to about 2,000 */
#define FRONT_BACKLOG 4096
#define STREAM_QUEUE 512 /* frames that wait for one subscriber; about a minute of windows */
#define STREAM_BACKLOG 4096

static int sockets_set_keys(void *socket, const struct server_options *options, char *why,
                            size_t capacity)
{
    struct curve_keys keys;
    if (options->keys == NULL)
        return 0;
    int code = curve_load(options->keys, ROLE_SERVER, &keys);
    code = code != 0 ? code : curve_apply_server(socket, &keys);
    curve_wipe(&keys);
    if (code != 0)
        snprintf(why, capacity, "%s/server.key: %s", options->keys, holter_strerror(code));
    return code;
}

struct socket_option {
    int option, value;
};

/* @param longest  message that is received, bytes */
static void sockets_configure(void *socket, const struct socket_option *options, size_t count,
                              int64_t longest)
{
    for (size_t i = 0; i < count; i++)
        zmq_setsockopt(socket, options[i].option, &options[i].value, sizeof(options[i].value));
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &longest, sizeof(longest));
}

/* ---- the front ----------------------------------------------------------------- */

static void sockets_configure_front(void *socket)
{
    /* Sending to a peer that has left is an error. The kernel detects within 30 s that a host is
     * down: heartbeats of libzmq cost more than all other work here, as each cancels a timer, for
     * which libzmq searches all timers of all connections (poller_base_t::cancel_timer). */
    static const struct socket_option options[] = {
        {ZMQ_RCVHWM, RECEIVE_QUEUE},  {ZMQ_SNDHWM, SEND_QUEUE},     {ZMQ_LINGER, 500},
        {ZMQ_BACKLOG, FRONT_BACKLOG}, {ZMQ_ROUTER_MANDATORY, 1},    {ZMQ_TCP_KEEPALIVE, 1},
        {ZMQ_TCP_KEEPALIVE_IDLE, 10}, {ZMQ_TCP_KEEPALIVE_INTVL, 5}, {ZMQ_TCP_KEEPALIVE_CNT, 4},
    };
    sockets_configure(socket, options, sizeof(options) / sizeof(options[0]), WIRE_MESSAGE_BYTES);
}

int sockets_open_front(void **out, void *context, const struct server_options *options,
                       struct listen_locks *locks, char *why, size_t capacity)
{
    void *socket = zmq_socket(context, ZMQ_ROUTER);
    if (socket == NULL)
        return -zmq_errno();
    sockets_configure_front(socket);
    int code = sockets_set_keys(socket, options, why, capacity);
    zap_domain(socket, ZAP_FRONT);
    for (size_t i = 0; code == 0 && i < options->listen_count; i++)
        code = listen_bind(locks, socket, options->listen[i], why, capacity);
    if (code == 0)
        *out = socket;
    else
        zmq_close(socket);
    return code;
}

/* ---- the stream ---------------------------------------------------------------- */

static void sockets_configure_stream(void *socket)
{
    static const struct socket_option options[] = {
        {ZMQ_SNDHWM, STREAM_QUEUE}, {ZMQ_LINGER, 1000}, {ZMQ_BACKLOG, STREAM_BACKLOG}};
    sockets_configure(socket, options, sizeof(options) / sizeof(options[0]),
                      SOCKETS_SUBSCRIPTION_BYTES);
}

int sockets_open_stream(void **out, void *context, const struct server_options *options, char *why,
                        size_t capacity)
{
    void *socket = zmq_socket(context, ZMQ_XPUB);
    if (socket == NULL)
        return -zmq_errno();
    sockets_configure_stream(socket);
    if (options->users) /* see publisher_separate_users() */
        zmq_setsockopt(socket, ZMQ_XPUB_MANUAL, &options->users, sizeof(options->users));
    int code = sockets_set_keys(socket, options, why, capacity);
    zap_domain(socket, ZAP_STREAM);
    for (size_t i = 0; code == 0 && i < options->listen_count; i++) {
        char stream[300];
        code = endpoint_stream(stream, sizeof(stream), options->listen[i]);
        /* The lock of the front covers both sockets of an ipc endpoint. */
        code = code != 0 ? code : listen_bind(NULL, socket, stream, why, capacity);
    }
    if (code == 0)
        *out = socket;
    else
        zmq_close(socket);
    return code;
}
