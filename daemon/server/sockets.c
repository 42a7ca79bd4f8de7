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

/* ---- the front ----------------------------------------------------------------- */

static void sockets_configure_front(void *socket)
{
    int receive_queue = RECEIVE_QUEUE, send_queue = SEND_QUEUE, linger = 500,
        backlog = FRONT_BACKLOG, on = 1;
    int idle_s = 10, probe_s = 5, probes = 4;
    int64_t maximum = WIRE_MESSAGE_BYTES;
    zmq_setsockopt(socket, ZMQ_RCVHWM, &receive_queue, sizeof(receive_queue));
    zmq_setsockopt(socket, ZMQ_SNDHWM, &send_queue, sizeof(send_queue));
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    zmq_setsockopt(socket, ZMQ_BACKLOG, &backlog, sizeof(backlog));
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &maximum, sizeof(maximum));
    /* Sending to a peer that has left is an error. */
    zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &on, sizeof(on));
    /* The kernel detects within 30 s that a host is down. Heartbeats of libzmq cost more than all
     * other work here: each cancels a timer, for which libzmq searches all timers of all
     * connections (poller_base_t::cancel_timer). */
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE, &on, sizeof(on));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_IDLE, &idle_s, sizeof(idle_s));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_INTVL, &probe_s, sizeof(probe_s));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_CNT, &probes, sizeof(probes));
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
    int queue = STREAM_QUEUE, linger = 1000, backlog = STREAM_BACKLOG;
    int64_t maximum = SOCKETS_SUBSCRIPTION_BYTES;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &queue, sizeof(queue));
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &maximum, sizeof(maximum));
    zmq_setsockopt(socket, ZMQ_BACKLOG, &backlog, sizeof(backlog));
}

int sockets_open_stream(void **out, void *context, const struct server_options *options, char *why,
                        size_t capacity)
{
    void *socket = zmq_socket(context, ZMQ_XPUB);
    if (socket == NULL)
        return -zmq_errno();
    sockets_configure_stream(socket);
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
