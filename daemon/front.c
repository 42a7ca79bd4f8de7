#include "daemon/front.h"

#include "daemon/zap.h"
#include "holter/error.h"
#include "proto/curve.h"
#include "proto/log.h"
#include "proto/zloop.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "front"
#define TURN 512                   /* messages read in one turn of the loop */
#define TURN_NS UINT64_C(10000000) /* and for how long at most */
#define RECEIVE_QUEUE 64           /* messages that wait to be read, of one peer */
#define SEND_QUEUE 8192 /* that wait to be sent to one peer: a snapshot has up to about 2,000 */
#define CLIENT_SILENCE_NS                                                                          \
    UINT64_C(600000000000) /* clients say little while they watch the stream */
#define AGENT_SILENCE_NS UINT64_C(120000000000)
#define EXPIRE_NS UINT64_C(1000000000)
#define BACKLOG 4096
#define PACE_NS UINT64_C(100000000) /* the rate of messages is looked at so often */
#define PACE_MESSAGES 100u          /* with more of them, they are gathered */
#define GATHER_MS 2
#define PATIENT_WINDOWS 10u /* windows stay open so long while the socket is never read dry */

struct front {
    void *socket;
    struct zloop *zloop;
    struct peers *peers;
    const struct options *options; /* borrowed */
    const struct timeline *timeline;
    uint64_t instance;
    struct front_verbs verbs;
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t dry_ns;                      /* when the socket was last read dry, daemon time */
    uint64_t expire_ns;                   /* when peers are next looked through */
    uint64_t read, read_before, paced_ns; /* messages, now and when last looked at */
    int had_agents;
    uint64_t rejected;
    char rejected_last[257];
};

/* ---- sending ------------------------------------------------------------- */

static int send_head(struct front *f, const struct peer *peer)
{
    if (zmq_send(f->socket, peer->id, peer->id_length, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
        return -zmq_errno();
    return 0;
}

int front_send(struct front *f, struct peer *peer, enum wire_type type, const void *message)
{
    int code = wire_encode(&f->buffer, type, message);
    code = code != 0 ? code : send_head(f, peer);
    if (code == 0 && zmq_send(f->socket, f->buffer.bytes, f->buffer.length, ZMQ_DONTWAIT) < 0)
        code = -zmq_errno();
    zloop_sent(f->zloop);
    return code;
}

int front_send_encoded(struct front *f, struct peer *peer, zmq_msg_t *encoded)
{
    zmq_msg_t copy;
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, encoded);
    int code = send_head(f, peer);
    if (code == 0 && zmq_msg_send(&copy, f->socket, ZMQ_DONTWAIT) < 0)
        code = -zmq_errno();
    zmq_msg_close(&copy);
    zloop_sent(f->zloop);
    return code;
}

struct peer *front_peer(const struct front *f, const void *id, size_t length)
{
    struct peer *peer = peers_find(f->peers, id, length);
    return peer == NULL || peer->refused ? NULL : peer;
}

void front_ack(struct front *f, uint64_t instance, uint64_t seq)
{
    struct peer *peer = peers_find_instance(f->peers, instance);
    if (peer == NULL || peer->refused)
        return;
    struct wire_ack ack = {.seq = seq};
    front_send(f, peer, WIRE_TYPE_ACK, &ack);
}

void front_tell_agents(struct front *f, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message)
{
    zmq_msg_t encoded;
    if (wire_encode(&f->buffer, type, message) != 0 ||
        zmq_msg_init_size(&encoded, f->buffer.length) != 0)
        return; /* without memory they go on with what they were told before */
    memcpy(zmq_msg_data(&encoded), f->buffer.bytes, f->buffer.length);
    for (size_t i = 0; i < count; i++) {
        struct peer *peer = peers_find_instance(f->peers, instances[i]);
        if (peer != NULL && !peer->refused)
            front_send_encoded(f, peer, &encoded);
    }
    zmq_msg_close(&encoded);
}

static void send_refused(struct front *f, struct peer *peer, int code, const char *text)
{
    struct wire_refused refused = {.code = code, .text = text};
    front_send(f, peer, WIRE_TYPE_REFUSED, &refused);
}

/* ---- refusing ------------------------------------------------------------ */

/* Where a message came from, for people. */
static void describe(const struct peer *peer, zmq_msg_t *payload, char *out, size_t room)
{
    const char *address = zmq_msg_gets(payload, "Peer-Address");
    if (peer != NULL && peer->host[0] != '\0')
        snprintf(out, room, "%s %s pid %" PRIu64, role_name(peer->role), peer->host, peer->pid);
    else
        snprintf(out, room, "%.80s",
                 address != NULL && address[0] != '\0' ? address : "a local peer");
}

static void count_rejected(struct front *f, const struct peer *peer, zmq_msg_t *payload,
                           const char *why)
{
    char source[160];
    describe(peer, payload, source, sizeof(source));
    f->rejected++;
    snprintf(f->rejected_last, sizeof(f->rejected_last), "%.90s: %.160s", source, why);
    log_warn("rejected a message from %s: %s", source, why);
}

/* Tell the peer, and read nothing more from it. */
static void refuse(struct front *f, struct peer *peer, zmq_msg_t *payload, int code,
                   const char *why)
{
    count_rejected(f, peer, payload, why);
    send_refused(f, peer, code, why);
    if (peer->role == ROLE_AGENT && peer->instance != 0)
        peers_set_instance(f->peers, peer, 0);
    peer->refused = 1;
}

static void refuse_newcomer(struct front *f, zmq_msg_t *id, zmq_msg_t *payload, int lasting,
                            int code, const char *why)
{
    struct peer stranger = {.id_length = zmq_msg_size(id)};
    if (stranger.id_length > PEER_ID_BYTES) {
        count_rejected(f, NULL, payload, "its routing id is too long");
        return;
    }
    memcpy(stranger.id, zmq_msg_data(id), stranger.id_length);
    count_rejected(f, NULL, payload, why);
    send_refused(f, &stranger, code, why);
    struct peer *kept =
        lasting ? peers_add(f->peers, stranger.id, stranger.id_length, f->dry_ns) : NULL;
    if (kept != NULL)
        kept->refused = 1;
}

/* ---- hello --------------------------------------------------------------- */

static int rank_of(enum role role)
{
    return role == ROLE_OPERATOR ? 2 : role == ROLE_VIEWER ? 1 : 0;
}

/* May a holder of this key say that it has this role? Operators may look on as viewers do. */
static int key_allows(enum role key, enum role said)
{
    if (said == ROLE_AGENT || key == ROLE_AGENT)
        return said == key;
    return rank_of(said) <= rank_of(key);
}

static const char *check_hello(const struct front *f, const struct wire_hello *hello,
                               zmq_msg_t *payload, int *code)
{
    enum role said = role_by_name(hello->role);
    *code = -HOLTER_EPROTOCOL;
    if (hello->protocol != WIRE_PROTOCOL)
        return "the daemon " HOLTER_VERSION " speaks another version of the protocol";
    *code = -HOLTER_EDENIED;
    if (said != ROLE_AGENT && said != ROLE_VIEWER && said != ROLE_OPERATOR)
        return "hello names no role that exists";
    if (f->options->keys != NULL) {
        const char *key = zmq_msg_gets(payload, "User-Id");
        if (key == NULL || !key_allows(role_by_name(key), said))
            return "the key does not give that role";
    }
    if (said != ROLE_AGENT)
        return NULL;
    if (hello->instance == 0)
        return "an agent's hello has no instance";
    if (f->options->session != NULL && strcmp(hello->session, f->options->session) != 0)
        return "the daemon serves another session";
    return NULL;
}

static void take_hello(struct front *f, struct peer *peer, zmq_msg_t *id, zmq_msg_t *payload,
                       const struct wire_hello *hello, uint64_t now_ns)
{
    int code;
    const char *why = check_hello(f, hello, payload, &code);
    if (why != NULL && peer == NULL) {
        refuse_newcomer(f, id, payload, 1, code, why);
        return;
    }
    if (why != NULL) {
        refuse(f, peer, payload, code, why);
        return;
    }
    if (peer == NULL)
        peer = peers_add(f->peers, zmq_msg_data(id), zmq_msg_size(id), now_ns);
    if (peer == NULL) {
        refuse_newcomer(f, id, payload, 0, -HOLTER_ELIMIT, "too many connections");
        return;
    }
    peer->role = role_by_name(hello->role);
    peer->pid = hello->pid;
    peer->said_bye = 0;
    snprintf(peer->host, sizeof(peer->host), "%s", hello->host);
    if (peer->role == ROLE_AGENT) {
        f->had_agents = 1;
        peers_set_instance(f->peers, peer, hello->instance);
    }
    struct wire_welcome welcome = {
        .protocol = WIRE_PROTOCOL,
        .version = HOLTER_VERSION,
        .instance = f->instance,
        .window_ns = f->options->window_ns,
        .daemon_ns = timeline_now(f->timeline),
        .acked = peer->role == ROLE_AGENT ? f->verbs.kept(f->verbs.user, hello->instance) : 0,
        .replays = peer->role != ROLE_AGENT && f->options->replay != NULL,
    };
    front_send(f, peer, WIRE_TYPE_WELCOME, &welcome);
}

/* ---- messages ------------------------------------------------------------ */

static void take_agent_message(struct front *f, struct peer *peer, zmq_msg_t *payload,
                               const struct wire_message *message, uint64_t now_ns)
{
    struct job_fault fault = {""};
    int code = 0;
    switch (message->type) {
    case WIRE_TYPE_CLOCK_ASK: {
        struct wire_clock_answer answer = {message->clock_ask.t1_ns, now_ns,
                                           timeline_now(f->timeline)};
        front_send(f, peer, WIRE_TYPE_CLOCK_ANSWER, &answer);
        return;
    }
    case WIRE_TYPE_RANKS:
    case WIRE_TYPE_WINDOW:
        code = f->verbs.take(f->verbs.user, peer->instance, message, payload, now_ns, &fault);
        break;
    case WIRE_TYPE_BYE:
        peer->said_bye = 1;
        f->verbs.left(f->verbs.user, peer->instance, 1);
        return;
    default:
        code = -HOLTER_EDENIED;
        snprintf(fault.text, sizeof(fault.text), "agents may not send %s",
                 wire_type_name(message->type));
    }
    if (code == 0)
        return;
    if (fault.text[0] == '\0')
        snprintf(fault.text, sizeof(fault.text), "%s", holter_strerror(code));
    refuse(f, peer, payload, code, fault.text);
}

static void take_client_message(struct front *f, struct peer *peer, zmq_msg_t *payload,
                                const struct wire_message *message, uint64_t now_ns)
{
    if (message->type == WIRE_TYPE_REQUEST) {
        f->verbs.request(f->verbs.user, peer, &message->request);
    } else if (message->type == WIRE_TYPE_CLOCK_ASK) {
        struct wire_clock_answer answer = {message->clock_ask.t1_ns, now_ns,
                                           timeline_now(f->timeline)};
        front_send(f, peer, WIRE_TYPE_CLOCK_ANSWER, &answer);
    } else if (message->type == WIRE_TYPE_BYE) {
        peers_remove(f->peers, peer);
    } else {
        char why[96];
        snprintf(why, sizeof(why), "a %s may not send %s", role_name(peer->role),
                 wire_type_name(message->type));
        refuse(f, peer, payload, -HOLTER_EDENIED, why);
    }
}

static void take_message(struct front *f, zmq_msg_t *id, zmq_msg_t *payload, uint64_t now_ns)
{
    struct peer *peer = peers_find(f->peers, zmq_msg_data(id), zmq_msg_size(id));
    if (peer != NULL && peer->refused)
        return;
    if (peer != NULL && !peer_may(peer, now_ns, zmq_msg_size(payload))) {
        refuse(f, peer, payload, -HOLTER_ELIMIT, "it sends more than any agent needs to");
        return;
    }
    struct wire_message message;
    struct wire_fault fault = {0};
    int code =
        wire_decode(&message, &f->arena, zmq_msg_data(payload), zmq_msg_size(payload), &fault);
    if (code != 0) {
        char why[160];
        snprintf(why, sizeof(why), "%s at byte %zu (%s)", holter_strerror(code), fault.offset,
                 fault.where);
        if (peer == NULL)
            refuse_newcomer(f, id, payload, 1, code, why);
        else
            refuse(f, peer, payload, code, why);
        return;
    }
    if (message.type == WIRE_TYPE_HELLO) {
        take_hello(f, peer, id, payload, &message.hello, now_ns);
        return;
    }
    if (peer == NULL) {
        /* Usual after a restart of the daemon: the peer is told to begin anew, and may. */
        refuse_newcomer(f, id, payload, 0, -HOLTER_EPROTOCOL, "say hello first");
        return;
    }
    peer->heard_ns = now_ns;
    if (peer->role == ROLE_AGENT)
        take_agent_message(f, peer, payload, &message, now_ns);
    else
        take_client_message(f, peer, payload, &message, now_ns);
}

/* ---- reading ------------------------------------------------------------- */

/* Read one message of two parts. @return 1; 0: dry */
static int receive(struct front *f, zmq_msg_t *id, zmq_msg_t *payload)
{
    if (zmq_msg_recv(id, f->socket, ZMQ_DONTWAIT) < 0)
        return 0;
    int parts = 1;
    zmq_msg_t rest;
    zmq_msg_init(&rest);
    int more = zmq_msg_more(id);
    while (more) {
        zmq_msg_t *into = ++parts == 2 ? payload : &rest;
        if (zmq_msg_recv(into, f->socket, ZMQ_DONTWAIT) < 0)
            break;
        more = zmq_msg_more(into);
    }
    zmq_msg_close(&rest);
    if (parts == 2) {
        take_message(f, id, payload, timeline_now(f->timeline));
    } else {
        struct peer *peer = peers_find(f->peers, zmq_msg_data(id), zmq_msg_size(id));
        if (peer == NULL)
            refuse_newcomer(f, id, payload, 1, -HOLTER_EMALFORMED, "not a message of one part");
        else if (!peer->refused)
            refuse(f, peer, payload, -HOLTER_EMALFORMED, "not a message of one part");
    }
    return 1;
}

/* Waking for each message costs more than the message where thousands come in a second. */
static void pace(struct front *f, uint64_t now_ns)
{
    if (now_ns - f->paced_ns < PACE_NS)
        return;
    zloop_gather(f->zloop, f->read - f->read_before > PACE_MESSAGES ? GATHER_MS : 0);
    f->read_before = f->read;
    f->paced_ns = now_ns;
}

static int on_readable(void *user, void *socket)
{
    struct front *f = user;
    (void)socket;
    uint64_t begun = timeline_now(f->timeline), now = begun;
    int dry = 0;
    for (int i = 0; i < TURN && now - begun < TURN_NS; i++) {
        zmq_msg_t id, payload;
        zmq_msg_init(&id);
        zmq_msg_init(&payload);
        now = timeline_now(f->timeline);
        dry = !receive(f, &id, &payload);
        zmq_msg_close(&id);
        zmq_msg_close(&payload);
        if (dry) {
            f->dry_ns = now;
            break;
        }
        f->read++;
    }
    pace(f, now);
    f->verbs.turn(f->verbs.user, front_heard(f, now), timeline_now(f->timeline));
    return !dry;
}

uint64_t front_heard(const struct front *f, uint64_t now_ns)
{
    /* A socket that is never dry must not keep windows open for ever. */
    uint64_t bound = now_ns - PATIENT_WINDOWS * f->options->window_ns;
    return f->dry_ns > bound ? f->dry_ns : bound;
}

/* ---- life ---------------------------------------------------------------- */

static void on_expired(void *user, const struct peer *peer)
{
    struct front *f = user;
    if (peer->role == ROLE_AGENT && peer->instance != 0 && !peer->said_bye)
        f->verbs.left(f->verbs.user, peer->instance, 0);
}

void front_tick(struct front *f)
{
    uint64_t now = timeline_now(f->timeline), agent = 10 * f->options->window_ns;
    int events = 0;
    size_t size = sizeof(events);
    /* The loop reads as soon as something is there; what is not there has been heard. */
    if (zmq_getsockopt(f->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) == 0)
        f->dry_ns = now;
    zloop_sent(f->zloop);
    if (now < f->expire_ns)
        return;
    f->expire_ns = now + EXPIRE_NS;
    peers_expire(f->peers, front_heard(f, now), agent > AGENT_SILENCE_NS ? agent : AGENT_SILENCE_NS,
                 CLIENT_SILENCE_NS, on_expired, f);
}

void front_count(const struct front *f, struct front_counts *out)
{
    *out = (struct front_counts){.rejected = f->rejected, .had_agents = f->had_agents};
    snprintf(out->rejected_last, sizeof(out->rejected_last), "%s", f->rejected_last);
    peers_count(f->peers, &out->agents, &out->clients);
}

static void set_options(void *socket)
{
    int receive_queue = RECEIVE_QUEUE, send_queue = SEND_QUEUE, linger = 500, backlog = BACKLOG,
        on = 1;
    int idle_s = 10, probe_s = 5, probes = 4;
    int64_t most = WIRE_MESSAGE_BYTES;
    zmq_setsockopt(socket, ZMQ_RCVHWM, &receive_queue, sizeof(receive_queue));
    zmq_setsockopt(socket, ZMQ_SNDHWM, &send_queue, sizeof(send_queue));
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
    zmq_setsockopt(socket, ZMQ_BACKLOG, &backlog, sizeof(backlog));
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof(most));
    /* Sending to a peer that has gone is an error, not silence. */
    zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &on, sizeof(on));
    /* The kernel finds out that a host has gone, within 30 s. libzmq's own heartbeats cost more
     * than all other work here: each takes a timer back, for which libzmq walks through all timers
     * of all connections (poller_base_t::cancel_timer). */
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE, &on, sizeof(on));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_IDLE, &idle_s, sizeof(idle_s));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_INTVL, &probe_s, sizeof(probe_s));
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_CNT, &probes, sizeof(probes));
}

static int set_up(struct front *f, struct listen_locks *locks, char *why, size_t room)
{
    set_options(f->socket);
    if (f->options->keys != NULL) {
        struct curve_keys keys;
        int code = curve_load(f->options->keys, ROLE_SERVER, &keys);
        code = code != 0 ? code : curve_apply_server(f->socket, &keys);
        curve_wipe(&keys);
        if (code != 0) {
            snprintf(why, room, "%s/server.key: %s", f->options->keys, holter_strerror(code));
            return code;
        }
    }
    zap_domain(f->socket, ZAP_FRONT);
    for (size_t i = 0; i < f->options->listen_count; i++) {
        int code = listen_bind(locks, f->socket, f->options->listen[i], why, room);
        if (code != 0)
            return code;
    }
    return 0;
}

int front_create(struct front **out, void *context, uv_loop_t *loop, const struct options *options,
                 const struct timeline *timeline, uint64_t instance,
                 const struct front_verbs *verbs, struct listen_locks *locks, char *why,
                 size_t room)
{
    struct front *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return -ENOMEM;
    f->options = options;
    f->timeline = timeline;
    f->instance = instance;
    f->verbs = *verbs;
    f->dry_ns = timeline_now(timeline);
    int code = peers_create(&f->peers);
    if (code == 0) {
        f->socket = zmq_socket(context, ZMQ_ROUTER);
        code = f->socket == NULL ? -zmq_errno() : set_up(f, locks, why, room);
    }
    code = code != 0 ? code : zloop_open(&f->zloop, loop, f->socket, on_readable, f);
    if (code != 0) {
        if (f->socket != NULL)
            zmq_close(f->socket);
        peers_destroy(f->peers);
        free(f);
        return code;
    }
    *out = f;
    return 0;
}

static void on_closed(void *user)
{
    struct front *f = user;
    zmq_close(f->socket);
    peers_destroy(f->peers);
    wire_arena_finish(&f->arena);
    wire_buffer_finish(&f->buffer);
    free(f);
}

void front_destroy(struct front *f)
{
    if (f != NULL)
        zloop_close(f->zloop, on_closed);
}
