/* Receives messages of agents and clients: checks, roles, refusals. */
#include "daemon/server/front.h"

#include "daemon/job/job_accept.h"
#include "daemon/server/publish.h"
#include "daemon/server/zap.h"
#include "holter/error.h"
#include "proto/log.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "front"
#define TURN_MESSAGES 512          /* messages that are read in one turn of the loop */
#define TURN_NS UINT64_C(10000000) /* maximum duration of reading in one turn */
/* Clients send a hello each second, and those that were killed send no bye. */
#define CLIENT_SILENCE_NS UINT64_C(5000000000)
#define AGENT_SILENCE_NS UINT64_C(120000000000)
/* Agents send something each second. One that has gone to another daemon is counted by that one. */
#define COUNTED_NS UINT64_C(5000000000)
#define REFUSAL_NS UINT64_C(600000000000)
#define EXPIRE_NS UINT64_C(1000000000)
#define RATE_INTERVAL_NS UINT64_C(100000000) /* between two checks of the rate of messages */
#define RATE_DELAY_FROM 100u                 /* from this many messages on, reading is delayed */
#define READ_DELAY_MS 2
/* Windows stay open so long while the socket is never read dry. */
#define WATERMARK_LAG_WINDOWS 10u

struct front {
    struct msg_socket *socket;
    struct peers *peers;
    const struct server_options *options; /* borrowed */
    const struct timeline *timeline;
    uint64_t instance;
    struct front_callbacks callbacks;
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t emptied_ns;                  /* when the socket was last found empty, daemon time */
    uint64_t expire_ns;                   /* when silent peers are dropped next */
    uint64_t read, read_before, rated_ns; /* number of messages, now and at rated_ns */
    int had_agents;
    uint64_t rejected;
    char rejected_last[257];
};

/* ---- sending ------------------------------------------------------------- */

int front_send(struct front *f, struct peer *peer, enum wire_type type, const void *message)
{
    int code = wire_encode(&f->buffer, type, message);
    const struct msg_socket_part parts[] = {{peer->id.bytes, peer->id.length},
                                            {f->buffer.bytes, f->buffer.length}};
    return code != 0 ? code : msg_socket_send(f->socket, parts, 2);
}

int front_send_encoded(struct front *f, struct peer *peer, zmq_msg_t *encoded)
{
    const struct msg_socket_part id = {peer->id.bytes, peer->id.length};
    return msg_socket_send_shared(f->socket, &id, 1, encoded);
}

struct peer *front_find_peer(const struct front *f, const struct peer_id *id)
{
    struct peer *peer = peers_find(f->peers, id->bytes, id->length);
    return peer == NULL || peer->refused ? NULL : peer;
}

void front_send_ack(struct front *f, uint64_t instance, uint64_t seq)
{
    struct peer *peer = peers_find_instance(f->peers, instance);
    if (peer == NULL || peer->refused)
        return;
    struct wire_ack ack = {.seq = seq};
    front_send(f, peer, WIRE_TYPE_ACK, &ack);
}

void front_send_agents(struct front *f, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message)
{
    zmq_msg_t encoded;
    if (wire_encode(&f->buffer, type, message) != 0 ||
        zmq_msg_init_size(&encoded, f->buffer.length) != 0)
        return; /* without memory the agents keep what they have */
    memcpy(zmq_msg_data(&encoded), f->buffer.bytes, f->buffer.length);
    for (size_t i = 0; i < count; i++) {
        struct peer *peer = peers_find_instance(f->peers, instances[i]);
        if (peer != NULL && !peer->refused)
            front_send_encoded(f, peer, &encoded);
    }
    zmq_msg_close(&encoded);
}

static void front_send_refused(struct front *f, struct peer *peer, int code, const char *text,
                               uint64_t seq)
{
    struct wire_refused refused = {.code = code, .text = text, .seq = seq};
    front_send(f, peer, WIRE_TYPE_REFUSED, &refused);
}

/* ---- refusing ------------------------------------------------------------ */

/* Describe the sender of a message, for people. */
static void front_describe_sender(const struct peer *peer, struct msg_socket_message *from,
                                  char *out, size_t capacity)
{
    if (peer != NULL && peer->host[0] != '\0')
        snprintf(out, capacity, "%s %s pid %" PRIu64, role_name(peer->role), peer->host, peer->pid);
    else
        snprintf(out, capacity, "%.80s", from->address[0] != '\0' ? from->address : "a local peer");
}

static void front_count_rejected(struct front *f, const struct peer *peer,
                                 struct msg_socket_message *from, const char *why)
{
    char source[160];
    front_describe_sender(peer, from, source, sizeof(source));
    f->rejected++;
    snprintf(f->rejected_last, sizeof(f->rejected_last), "%.90s: %.160s", source, why);
    log_warn("rejected a message from %s: %s", source, why);
}

/* Send the reason to the peer, and ignore it from now on.
 * @param seq  number of a message that is always refused; 0: none */
static void front_refuse_message(struct front *f, struct peer *peer,
                                 struct msg_socket_message *from, int code, const char *why,
                                 uint64_t seq)
{
    front_count_rejected(f, peer, from, why);
    front_send_refused(f, peer, code, why, seq);
    if (peer->role == ROLE_AGENT && peer->instance != 0)
        peers_set_instance(f->peers, peer, 0);
    peer->refused = 1;
}

void front_refuse_agent(struct front *f, uint64_t instance, uint64_t seq, int code, const char *why)
{
    struct peer *peer = peers_find_instance(f->peers, instance);
    struct msg_socket_message from = {.address = ""};
    if (peer != NULL && !peer->refused)
        front_refuse_message(f, peer, &from, code, why, seq);
}

static void front_refuse_peer(struct front *f, struct peer *peer, struct msg_socket_message *from,
                              int code, const char *why)
{
    front_refuse_message(f, peer, from, code, why, 0);
}

static void front_refuse_stranger(struct front *f, struct msg_socket_message *from, int lasting,
                                  int code, const char *why)
{
    struct peer sender = {.id.length = zmq_msg_size(&from->parts[0])};
    if (sender.id.length > PEER_ID_BYTES) {
        front_count_rejected(f, NULL, from, "its routing id is too long");
        return;
    }
    memcpy(sender.id.bytes, zmq_msg_data(&from->parts[0]), sender.id.length);
    /* Usual after each seek of a replay, as after a restart: not logged. */
    if (lasting || !f->options->replays)
        front_count_rejected(f, NULL, from, why);
    front_send_refused(f, &sender, code, why, 0);
    struct peer *kept =
        lasting ? peers_add(f->peers, sender.id.bytes, sender.id.length, f->emptied_ns) : NULL;
    if (kept != NULL)
        kept->refused = 1;
}

/* @param peer  NULL: the sender is not known */
static void front_refuse_sender(struct front *f, struct peer *peer, struct msg_socket_message *from,
                                int code, const char *why)
{
    if (peer == NULL)
        front_refuse_stranger(f, from, 1, code, why);
    else
        front_refuse_peer(f, peer, from, code, why);
}

/* ---- hello --------------------------------------------------------------- */

static int front_role_level(enum role role)
{
    return role == ROLE_OPERATOR ? 2 : role == ROLE_VIEWER ? 1 : 0;
}

/* May the holder of this key claim this role? Operators may be viewers, too. */
static int front_key_allows(enum role key, enum role claimed)
{
    if (claimed == ROLE_AGENT || key == ROLE_AGENT)
        return claimed == key;
    return front_role_level(claimed) <= front_role_level(key);
}

static const char *front_check_hello(const struct front *f, const struct wire_hello *hello,
                                     struct msg_socket_message *from, int *code)
{
    enum role claimed = role_by_name(hello->role);
    *code = -HOLTER_EPROTOCOL;
    if (hello->protocol != WIRE_PROTOCOL)
        return "the daemon " HOLTER_VERSION " speaks another version of the protocol";
    *code = -HOLTER_EDENIED;
    if (claimed != ROLE_AGENT && claimed != ROLE_VIEWER && claimed != ROLE_OPERATOR)
        return "hello names no role that exists";
    if (f->options->keys != NULL) {
        const char *user;
        if (from->user[0] == '\0' || !front_key_allows(zap_user_role(from->user, &user), claimed))
            return "the key does not give that role";
    }
    if (claimed != ROLE_AGENT)
        return NULL;
    if (f->callbacks.ingest == NULL)
        return "this daemon replays a recording";
    if (hello->instance == 0)
        return "an agent's hello has no instance";
    if (f->options->session != NULL && strcmp(hello->session, f->options->session) != 0)
        return "the daemon serves another session";
    return NULL;
}

static void front_send_welcome(struct front *f, struct peer *peer, uint64_t instance,
                               uint64_t acked)
{
    char prefix[PUBLISHER_PREFIX_BYTES];
    publisher_write_prefix(prefix, peer->user);
    struct wire_welcome welcome = {
        .protocol = WIRE_PROTOCOL,
        .version = HOLTER_VERSION,
        .instance = instance,
        .window_ns = f->options->window_ns,
        .daemon_ns = timeline_now(f->timeline),
        .acked = acked,
        .replays = (uint64_t)f->options->replays,
        .prefix = prefix,
    };
    front_send(f, peer, WIRE_TYPE_WELCOME, &welcome);
}

static void front_on_hello(struct front *f, struct peer *peer, struct msg_socket_message *from,
                           const struct wire_hello *hello, uint64_t now_ns)
{
    int code;
    const char *why = front_check_hello(f, hello, from, &code);
    if (why != NULL) {
        front_refuse_sender(f, peer, from, code, why);
        return;
    }
    if (peer == NULL)
        peer = peers_add(f->peers, zmq_msg_data(&from->parts[0]), zmq_msg_size(&from->parts[0]),
                         now_ns);
    if (peer == NULL) {
        front_refuse_stranger(f, from, 0, -HOLTER_ELIMIT, "too many connections");
        return;
    }
    peer->role = role_by_name(hello->role);
    const char *user;
    zap_user_role(from->user, &user);
    snprintf(peer->user, sizeof(peer->user), "%s", user);
    peer->pid = hello->pid;
    peer->has_left = 0;
    peer->last_message_ns = now_ns;
    snprintf(peer->host, sizeof(peer->host), "%s", hello->host);
    if (peer->role == ROLE_AGENT) {
        f->had_agents = 1;
        peers_set_instance(f->peers, peer, hello->instance);
    }
    front_send_welcome(f, peer, f->instance,
                       peer->role == ROLE_AGENT
                           ? f->callbacks.committed_seq(f->callbacks.user, hello->instance)
                           : 0);
}

struct front_restarting {
    struct front *front;
    uint64_t instance;
};

static void front_announce_restart_to(void *user, struct peer *peer)
{
    const struct front_restarting *restart = user;
    struct front *f = restart->front;
    if (peer->role != ROLE_AGENT && !peer->refused)
        front_send_welcome(f, peer, restart->instance, 0);
}

void front_announce_restart(struct front *f, uint64_t instance)
{
    struct front_restarting restart = {f, instance};
    f->instance = instance; /* requests that are meant for this run come too late */
    peers_for_each(f->peers, front_announce_restart_to, &restart);
}

/* ---- messages ------------------------------------------------------------ */

/* Reports of one job come from the agents of one user: others would otherwise make it theirs, and
 * see it. @return 0, or -HOLTER_EDENIED and why */
static int front_check_owner(const struct front *f, const struct peer *peer,
                             const struct wire_message *message, struct job_fault *fault)
{
    const int ranks = message->type == WIRE_TYPE_RANKS;
    const char *job = ranks                               ? message->ranks.job
                      : message->type == WIRE_TYPE_WINDOW ? message->window.job
                      : message->type == WIRE_TYPE_BYE    ? message->bye.job
                                                          : message->captured.job;
    if (!f->options->users)
        return 0;
    const char *owner = f->callbacks.owner(f->callbacks.user, job, message->type);
    const char *named = ranks && message->ranks.user != NULL ? message->ranks.user : "";
    const char *user = peer->user[0] != '\0' ? peer->user : named;
    if ((owner == NULL || owner[0] == '\0' || user[0] == '\0' || strcmp(owner, user) == 0) &&
        (!ranks || strcmp(named, user) == 0))
        return 0;
    snprintf(fault->text, sizeof(fault->text),
             "the job is another user's than the key's or report's");
    return -HOLTER_EDENIED;
}

/* A bye that names no job is about all of them, and so nobody else's either. */
static int front_on_bye(struct front *f, struct peer *peer, const struct wire_message *message,
                        struct job_fault *fault)
{
    const char *job = message->bye.job;
    const int names_one = job != NULL && job[0] != '\0';
    peer->has_left = 1;
    int code = names_one ? front_check_owner(f, peer, message, fault) : 0;
    if (code == 0)
        f->callbacks.left(f->callbacks.user, peer->instance, &message->bye);
    return code;
}

static void front_on_agent_message(struct front *f, struct peer *peer,
                                   struct msg_socket_message *from,
                                   const struct wire_message *message, uint64_t now_ns)
{
    struct job_fault fault = {""};
    int code = 0;
    switch (message->type) {
    case WIRE_TYPE_RANKS:
    case WIRE_TYPE_WINDOW:
    case WIRE_TYPE_CAPTURED:
        code = front_check_owner(f, peer, message, &fault);
        if (code == 0)
            code = f->callbacks.ingest(f->callbacks.user, peer->instance, message, &from->parts[1],
                                       now_ns, &fault);
        break;
    case WIRE_TYPE_BYE:
        code = front_on_bye(f, peer, message, &fault);
        break;
    default:
        code = -HOLTER_EDENIED;
        snprintf(fault.text, sizeof(fault.text), "agents may not send %s",
                 wire_type_name(message->type));
    }
    if (code == 0)
        return;
    if (fault.text[0] == '\0')
        snprintf(fault.text, sizeof(fault.text), "%s", holter_strerror(code));
    /* There may be memory, or room for a further job, or the job of that id may be over, when the
     * agent sends it again. */
    const int lasts = code != -ENOMEM && code != -EAGAIN && code != -HOLTER_ELIMIT;
    front_refuse_message(f, peer, from, code, fault.text, lasts ? job_message_seq(message) : 0);
}

static void front_on_client_message(struct front *f, struct peer *peer,
                                    struct msg_socket_message *from,
                                    const struct wire_message *message)
{
    if (message->type == WIRE_TYPE_REQUEST && message->request.instance != 0 &&
        message->request.instance != f->instance) {
        /* The client counts the request as not executed once it learns of this run. */
        front_send_welcome(f, peer, f->instance, 0);
    } else if (message->type == WIRE_TYPE_REQUEST) {
        f->callbacks.request(f->callbacks.user, peer, &message->request);
    } else if (message->type == WIRE_TYPE_BYE) {
        peers_remove(f->peers, peer);
    } else {
        char why[96];
        snprintf(why, sizeof(why), "a %s may not send %s", role_name(peer->role),
                 wire_type_name(message->type));
        front_refuse_peer(f, peer, from, -HOLTER_EDENIED, why);
    }
}

static void front_answer_clock(struct front *f, struct peer *peer, const struct wire_clock_ask *ask,
                               uint64_t now_ns)
{
    const struct wire_clock_answer answer = {ask->t1_ns, now_ns, timeline_now(f->timeline),
                                             f->timeline->error_ns};
    front_send(f, peer, WIRE_TYPE_CLOCK_ANSWER, &answer);
}

static void front_on_message(struct front *f, struct msg_socket_message *from, uint64_t now_ns)
{
    struct peer *peer =
        peers_find(f->peers, zmq_msg_data(&from->parts[0]), zmq_msg_size(&from->parts[0]));
    if (peer != NULL && peer->refused)
        return;
    if (peer != NULL && !peer_charge_rate(peer, now_ns, zmq_msg_size(&from->parts[1]))) {
        front_refuse_peer(f, peer, from, -HOLTER_ELIMIT, "it sends more than any agent needs to");
        return;
    }
    struct wire_message message;
    struct wire_fault fault = {0};
    int code = wire_decode(&message, &f->arena, zmq_msg_data(&from->parts[1]),
                           zmq_msg_size(&from->parts[1]), &fault);
    if (code != 0) {
        char why[160];
        snprintf(why, sizeof(why), "%s at byte %zu (%s)", holter_strerror(code), fault.offset,
                 fault.where);
        front_refuse_sender(f, peer, from, code, why);
        return;
    }
    if (message.type == WIRE_TYPE_HELLO) {
        front_on_hello(f, peer, from, &message.hello, now_ns);
        return;
    }
    if (peer == NULL) {
        /* Usual after a restart of the daemon: the peer is asked for a hello, which it may send. */
        front_refuse_stranger(f, from, 0, -HOLTER_EPROTOCOL, "say hello first");
        return;
    }
    peer->last_message_ns = now_ns;
    if (message.type == WIRE_TYPE_CLOCK_ASK)
        front_answer_clock(f, peer, &message.clock_ask, now_ns);
    else if (peer->role == ROLE_AGENT)
        front_on_agent_message(f, peer, from, &message, now_ns);
    else
        front_on_client_message(f, peer, from, &message);
}

/* ---- reading ------------------------------------------------------------- */

/* Read one message, of two parts. @return 0: there was none */
static int front_receive_message(struct front *f)
{
    struct msg_socket_message from;
    if (!msg_socket_receive(f->socket, &from))
        return 0;
    if (from.count == 2) {
        front_on_message(f, &from, timeline_now(f->timeline));
    } else {
        struct peer *peer =
            peers_find(f->peers, zmq_msg_data(&from.parts[0]), zmq_msg_size(&from.parts[0]));
        if (peer == NULL || !peer->refused)
            front_refuse_sender(f, peer, &from, -HOLTER_EMALFORMED, "not a message of one part");
    }
    msg_socket_message_finish(&from);
    return 1;
}

/* At thousands of messages a second, waking for each costs more than the message. */
static void front_adapt_read_delay(struct front *f, uint64_t now_ns)
{
    if (now_ns - f->rated_ns < RATE_INTERVAL_NS)
        return;
    msg_socket_set_read_delay(f->socket,
                              f->read - f->read_before > RATE_DELAY_FROM ? READ_DELAY_MS : 0);
    f->read_before = f->read;
    f->rated_ns = now_ns;
}

static int front_on_readable(void *user)
{
    struct front *f = user;
    uint64_t begun = timeline_now(f->timeline), now = begun;
    int empty = 0;
    for (int i = 0; i < TURN_MESSAGES && now - begun < TURN_NS; i++) {
        now = timeline_now(f->timeline);
        empty = !front_receive_message(f);
        if (empty) {
            f->emptied_ns = now;
            break;
        }
        f->read++;
    }
    front_adapt_read_delay(f, now);
    if (f->callbacks.turn != NULL)
        f->callbacks.turn(f->callbacks.user, front_watermark(f, now), timeline_now(f->timeline));
    return !empty;
}

uint64_t front_watermark(const struct front *f, uint64_t now_ns)
{
    /* A socket that is never empty must not keep windows open without bound. */
    uint64_t bound = now_ns - WATERMARK_LAG_WINDOWS * f->options->window_ns;
    return f->emptied_ns > bound ? f->emptied_ns : bound;
}

/* ---- life ---------------------------------------------------------------- */

static void front_on_expired(void *user, const struct peer *peer)
{
    struct front *f = user;
    if (peer->role == ROLE_AGENT && peer->instance != 0 && !peer->has_left)
        f->callbacks.left(f->callbacks.user, peer->instance, NULL);
}

void front_tick(struct front *f)
{
    uint64_t now = timeline_now(f->timeline), agent = 10 * f->options->window_ns;
    const struct peer_limits limits = {agent > AGENT_SILENCE_NS ? agent : AGENT_SILENCE_NS,
                                       CLIENT_SILENCE_NS, REFUSAL_NS};
    /* The loop reads at once: when the socket is empty, all was read. */
    if (msg_socket_is_empty(f->socket))
        f->emptied_ns = now;
    if (now < f->expire_ns)
        return;
    f->expire_ns = now + EXPIRE_NS;
    peers_expire(f->peers, front_watermark(f, now), &limits, front_on_expired, f);
}

void front_count(const struct front *f, struct front_counts *out)
{
    *out = (struct front_counts){.rejected = f->rejected, .had_agents = f->had_agents};
    snprintf(out->rejected_last, sizeof(out->rejected_last), "%s", f->rejected_last);
    const uint64_t read_ns = front_watermark(f, timeline_now(f->timeline));
    peers_count(f->peers, 0, &out->agents_known, &out->clients);
    peers_count(f->peers, read_ns > COUNTED_NS ? read_ns - COUNTED_NS : 0, &out->agents,
                &out->clients);
}

int front_create(struct front **out, struct msg_socket *socket,
                 const struct server_options *options, const struct timeline *timeline,
                 uint64_t instance, const struct front_callbacks *callbacks)
{
    struct front *f = calloc(1, sizeof(*f));
    int code = f == NULL ? -ENOMEM : peers_create(&f->peers);
    if (code != 0) {
        msg_socket_close(socket, NULL, NULL);
        free(f);
        return code;
    }
    f->socket = socket;
    f->options = options;
    f->timeline = timeline;
    f->instance = instance;
    f->callbacks = *callbacks;
    f->emptied_ns = timeline_now(timeline);
    msg_socket_start(socket, front_on_readable, f);
    *out = f;
    return 0;
}

static void front_on_closed(void *user)
{
    struct front *f = user;
    peers_destroy(f->peers);
    wire_arena_finish(&f->arena);
    wire_buffer_finish(&f->buffer);
    free(f);
}

void front_destroy(struct front *f)
{
    if (f != NULL)
        msg_socket_close(f->socket, front_on_closed, f);
}
