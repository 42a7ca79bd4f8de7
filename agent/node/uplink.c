/* The connection to the daemon: hello, clock round trips, and sending of what the journal holds. */
#include "agent/node/uplink.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"
#include "proto/log.h"
#include "proto/zloop.h"
#include "version.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define LOG_TOPIC "uplink"

#define TICK_MS 250
#define SILENCE_NS UINT64_C(3000000000) /* without an answer for this long: reconnect */
#define REFUSED_NS UINT64_C(5000000000) /* wait after a rejection */
/* Wait after a handshake that fails, for other keys, or as the daemon ends: less than an agent that
 * has to leave waits for its last acknowledgements. */
#define HANDSHAKE_NS UINT64_C(1000000000)
#define HANDSHAKE_FAILED                                                                           \
    (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |                  \
     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
/* Interval of clock round trips, later on; shorter at first, while the drift is not known. */
#define CLOCK_INTERVAL_NS UINT64_C(1000000000)
#define CLOCK_EARLY_INTERVAL_NS UINT64_C(200000000)
#define EARLY_NS UINT64_C(3000000000)
#define FIRST_ROUND_TRIPS 8   /* round trips right after the welcome */
#define FURTHER_ROUND_TRIPS 3 /* further ones, while they take longer than the shortest */
/* A daemon whose round trip takes longer is busy: no further clock samples are requested. */
#define BUSY_TRIP_NS UINT64_C(1000000)
#define READ_BATCH 64 /* messages read in one turn of the loop */
#define LINGER_MS 500

static void uplink_on_tick(uv_timer_t *timer);

struct uplink {
    struct uplink_options options;
    struct curve_keys keys;
    void *context;
    void *socket;
    void *monitor; /* PAIR socket that reports lost connections */
    struct zloop *socket_watch;
    struct zloop *monitor_watch;
    uv_timer_t timer;
    struct wire_buffer buffer;
    struct wire_arena arena;

    int welcomed;
    int ready; /* the clock was read once since the welcome: windows have their final numbers */
    int redial_pending;
    char endpoint[512];        /* that is dialled */
    size_t endpoint_at;        /* its position in the list */
    int stays;                 /* dial that one again */
    uint64_t daemon;           /* instance of the last daemon; 0: none yet */
    uint64_t refusal_limit_ns; /* a rejection before it is the second in a row */
    uint64_t received_ns;      /* last message from the daemon, or dialled */
    uint64_t asked_ns;
    uint64_t welcomed_ns;
    uint64_t trip_ns;            /* duration of the newest round trip */
    uint64_t dial_at_ns;         /* earliest time of the next connection attempt */
    unsigned first_trips_left;   /* round trips still to be made in any case, */
    unsigned further_trips_left; /* and those still allowed after a slow one */
    uint64_t position;           /* position in the journal of the next message to send */
    uint64_t in_flight;          /* bytes sent and not acknowledged */
    uint64_t bytes;
    unsigned dials;
    void (*closed)(void *user);
};

static int uplink_send_message(struct uplink *uplink, enum wire_type type, const void *message)
{
    if (uplink->socket == NULL)
        return -EAGAIN;
    int rc = wire_encode(&uplink->buffer, type, message);
    if (rc != 0)
        return rc;
    if (zmq_send(uplink->socket, uplink->buffer.bytes, uplink->buffer.length, ZMQ_DONTWAIT) < 0)
        return -zmq_errno();
    uplink->bytes += uplink->buffer.length;
    zloop_sent(uplink->socket_watch);
    return 0;
}

static void uplink_send_hello(struct uplink *uplink)
{
    struct wire_hello hello = {
        .protocol = WIRE_PROTOCOL,
        .role = role_name(ROLE_AGENT),
        .version = HOLTER_VERSION,
        .host = uplink->options.host,
        .pid = (uint64_t)getpid(),
        .instance = journal_instance(uplink->options.journal),
        .session = uplink->options.session,
    };
    uplink_send_message(uplink, WIRE_TYPE_HELLO, &hello);
}

static void uplink_ask_clock(struct uplink *uplink)
{
    struct wire_clock_ask ask = {.t1_ns = clock_mono_ns()};
    uplink->asked_ns = ask.t1_ns;
    uplink_send_message(uplink, WIRE_TYPE_CLOCK_ASK, &ask);
}

static void uplink_handle_welcome(struct uplink *uplink, const struct wire_welcome *welcome)
{
    if (welcome->window_ns < UINT64_C(1000000) || welcome->window_ns > UINT64_C(3600000000000)) {
        log_error("daemon at %s wants windows of %llu ns: not served", uplink->endpoint,
                  (unsigned long long)welcome->window_ns);
        return;
    }
    int fresh = welcome->instance != uplink->daemon;
    log_info("welcomed by daemon %s at %s%s", welcome->version, uplink->endpoint,
             fresh ? "" : " again");
    uplink->daemon = welcome->instance;
    uplink->welcomed = 1;
    uplink->ready = 0;
    uplink->position = 0;
    uplink->in_flight = 0;
    uplink->first_trips_left = FIRST_ROUND_TRIPS;
    uplink->welcomed_ns = clock_mono_ns();
    journal_ack(uplink->options.journal, welcome->acked);
    uplink->options.welcome(uplink->options.user, welcome, fresh);
    uplink_ask_clock(uplink);
}

static void uplink_handle_ack(struct uplink *uplink, uint64_t seq)
{
    struct journal *journal = uplink->options.journal;
    struct journal_message oldest;
    journal_ack(journal, seq);
    uint64_t begin =
        journal_read(journal, 0, &oldest) ? oldest.position : journal_state(journal)->end;
    uplink->in_flight = uplink->position > begin ? uplink->position - begin : 0;
    uplink_send_pending(uplink);
}

static void uplink_schedule_redial(struct uplink *uplink, uint64_t wait_ns)
{
    uplink->welcomed = uplink->ready = 0;
    uplink->redial_pending = 1; /* by the timer, outside the socket's own callback */
    uplink->dial_at_ns = clock_mono_ns() + wait_ns;
    uv_timer_start(&uplink->timer, uplink_on_tick, 0, TICK_MS);
}

static void uplink_handle_clock(struct uplink *uplink, const struct wire_clock_answer *answer,
                                uint64_t now_ns)
{
    int slow = uplink->options.clock(uplink->options.user, answer, now_ns);
    uplink->trip_ns = now_ns > uplink->asked_ns ? now_ns - uplink->asked_ns : 0;
    uplink->ready = uplink->welcomed;
    uplink_send_pending(uplink);
    if (uplink->first_trips_left > 0) {
        uplink->first_trips_left--;
        uplink_ask_clock(uplink);
    } else if (slow && uplink->further_trips_left > 0 && uplink->trip_ns < BUSY_TRIP_NS) {
        uplink->further_trips_left--;
        uplink_ask_clock(uplink);
    }
}

/* After a welcome, a rejection means that another daemon at the same endpoint has not received a
 * hello yet; or that this daemon rejects a message: for good, or until it has more room. */
static void uplink_handle_refused(struct uplink *uplink, const struct wire_refused *refused,
                                  uint64_t now_ns)
{
    const int is_message = uplink->welcomed && refused->seq != 0;
    log_error("daemon at %s refuses: %s (%s)", uplink->endpoint, refused->text,
              holter_errname((int)refused->code));
    if (is_message) {
        log_error("message %llu is dropped", (unsigned long long)refused->seq);
        uplink->options.refused(uplink->options.user, refused->seq);
    }
    uplink->stays = is_message;
    uplink_schedule_redial(uplink,
                           uplink->welcomed && now_ns >= uplink->refusal_limit_ns ? 0 : REFUSED_NS);
    uplink->refusal_limit_ns = now_ns + REFUSED_NS;
}

static void uplink_handle_message(struct uplink *uplink, const struct wire_message *message,
                                  uint64_t now_ns)
{
    uplink->received_ns = now_ns;
    switch (message->type) {
    case WIRE_TYPE_WELCOME:
        uplink_handle_welcome(uplink, &message->welcome);
        break;
    case WIRE_TYPE_CLOCK_ANSWER:
        uplink_handle_clock(uplink, &message->clock_answer, now_ns);
        break;
    case WIRE_TYPE_CRITERIA:
        if (uplink->options.criteria != NULL)
            uplink->options.criteria(uplink->options.user, &message->criteria);
        break;
    case WIRE_TYPE_CAPTURE_ASK:
        if (uplink->options.capture != NULL)
            uplink->options.capture(uplink->options.user, &message->capture_ask);
        break;
    case WIRE_TYPE_ACK:
        uplink_handle_ack(uplink, message->ack.seq);
        break;
    case WIRE_TYPE_REFUSED:
        uplink_handle_refused(uplink, &message->refused, now_ns);
        break;
    default:
        log_warn("unexpected %s from the daemon", wire_type_name(message->type));
    }
}

static int uplink_read_socket(void *user, void *socket)
{
    struct uplink *uplink = user;
    for (int i = 0; i < READ_BATCH; i++) {
        zmq_msg_t part;
        zmq_msg_init(&part);
        if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&part);
            return 0;
        }
        uint64_t now = clock_mono_ns(); /* t4 is read before decoding takes time */
        struct wire_message message;
        struct wire_fault fault;
        int rc =
            wire_decode(&message, &uplink->arena, zmq_msg_data(&part), zmq_msg_size(&part), &fault);
        if (rc == 0)
            uplink_handle_message(uplink, &message, now);
        else
            log_warn("message from the daemon: %s at byte %zu, %s", holter_strerror(rc),
                     fault.offset, fault.where);
        zmq_msg_close(&part);
    }
    return 1;
}

/* A daemon with other keys ends the connection without a word, unless only the agent's is wrong. */
static void uplink_handle_no_handshake(struct uplink *uplink, int is_known_daemon)
{
    const char *keys = uplink->options.key_dir;
    char why[PATH_MAX + sizeof uplink->endpoint];
    if (is_known_daemon)
        snprintf(why, sizeof why, "the daemon at %s does not know the key in %s", uplink->endpoint,
                 keys);
    else if (keys != NULL)
        snprintf(why, sizeof why,
                 "the daemon at %s ends the connection, as one with other keys than those in %s, "
                 "or with none",
                 uplink->endpoint, keys);
    else
        snprintf(why, sizeof why, "the daemon at %s ends the connection, as one that asks for keys",
                 uplink->endpoint);
    log_error("%s", why);
    const int has_dialled_all = uplink->dials >= endpoint_list_count(uplink->options.endpoint);
    if (uplink->options.denied != NULL && uplink->daemon == 0 && has_dialled_all)
        uplink->options.denied(uplink->options.user, why);
    uplink_schedule_redial(uplink, HANDSHAKE_NS);
}

/* A connection was lost: the next daemon that accepts one needs a hello first. */
static int uplink_read_monitor(void *user, void *socket)
{
    struct uplink *uplink = user;
    for (int i = 0; i < READ_BATCH; i++) {
        uint8_t event[6];
        char address[256];
        int more = zmq_recv(socket, event, sizeof event, ZMQ_DONTWAIT);
        if (more < 0)
            return 0;
        zmq_recv(socket, address, sizeof address, ZMQ_DONTWAIT);
        uint16_t number;
        memcpy(&number, event, sizeof number);
        if (uplink->redial_pending)
            continue;
        if ((number & HANDSHAKE_FAILED) != 0) {
            uplink_handle_no_handshake(uplink, number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
        } else if (number == ZMQ_EVENT_DISCONNECTED) {
            log_info("connection to the daemon at %s is lost", uplink->endpoint);
            uplink_schedule_redial(uplink, 0);
        }
    }
    return 1;
}

/* A uv_poll's descriptor may be closed as soon as uv_close() was called for it (libuv,
 * uv_poll_stop). */
static void uplink_disconnect(struct uplink *uplink, int linger_ms)
{
    if (uplink->socket == NULL)
        return;
    zloop_close(uplink->monitor_watch, NULL);
    zloop_close(uplink->socket_watch, NULL);
    zmq_socket_monitor(uplink->socket, NULL, 0);
    zmq_setsockopt(uplink->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    zmq_close(uplink->socket);
    if (uplink->monitor != NULL)
        zmq_close(uplink->monitor);
    uplink->socket = uplink->monitor = NULL;
    uplink->socket_watch = uplink->monitor_watch = NULL;
    uplink->welcomed = uplink->ready = 0;
}

/* Watches for lost connections. Without a monitor their loss is detected by silence, later. */
static void uplink_watch_connection(struct uplink *uplink)
{
    char name[64];
    snprintf(name, sizeof name, "inproc://monitor-%u", uplink->dials);
    if (zmq_socket_monitor(uplink->socket, name, ZMQ_EVENT_DISCONNECTED | HANDSHAKE_FAILED) != 0)
        return;
    uplink->monitor = zmq_socket(uplink->context, ZMQ_PAIR);
    if (uplink->monitor == NULL)
        return;
    int linger = 0;
    zmq_setsockopt(uplink->monitor, ZMQ_LINGER, &linger, sizeof linger);
    if (zmq_connect(uplink->monitor, name) != 0 ||
        zloop_open(&uplink->monitor_watch, uplink->options.loop, uplink->monitor,
                   uplink_read_monitor, uplink) != 0)
        log_warn("lost connections will be noticed late: %s", zmq_strerror(zmq_errno()));
}

static int uplink_set_options(struct uplink *uplink)
{
    static const struct {
        int option, value;
    } settings[] = {
        {ZMQ_LINGER, 0},
        {ZMQ_SNDHWM, 1000},
        {ZMQ_RECONNECT_IVL, 100},      /* ms */
        {ZMQ_RECONNECT_IVL_MAX, 2000}, /* ms */
        {ZMQ_IPV6, 1},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (zmq_setsockopt(uplink->socket, settings[i].option, &settings[i].value, sizeof(int)) !=
            0)
            return -zmq_errno();
    int64_t longest = WIRE_MESSAGE_BYTES;
    if (zmq_setsockopt(uplink->socket, ZMQ_MAXMSGSIZE, &longest, sizeof longest) != 0)
        return -zmq_errno();
    return uplink->options.key_dir != NULL ? curve_apply_client(uplink->socket, &uplink->keys) : 0;
}

/* Each time the next one of the list, the first time one by the agent's number, which is odd, so
 * that agents are spread over the daemons. */
static void uplink_choose_endpoint(struct uplink *uplink)
{
    const char *list = uplink->options.endpoint;
    const size_t count = endpoint_list_count(list);
    uplink->endpoint_at = uplink->dials == 0
                              ? (journal_instance(uplink->options.journal) >> 1) % count
                              : (uplink->endpoint_at + !uplink->stays) % count;
    uplink->stays = 0;
    endpoint_of_list(list, uplink->endpoint_at, uplink->endpoint, sizeof uplink->endpoint);
}

static int uplink_connect(struct uplink *uplink)
{
    uplink_disconnect(uplink, 0);
    uplink_choose_endpoint(uplink);
    uplink->dials++;
    uplink->redial_pending = 0;
    uplink->received_ns = clock_mono_ns();
    uplink->socket = zmq_socket(uplink->context, ZMQ_DEALER);
    int rc = uplink->socket == NULL ? -zmq_errno() : uplink_set_options(uplink);
    if (rc == 0) {
        uplink_watch_connection(uplink);
        rc = zloop_open(&uplink->socket_watch, uplink->options.loop, uplink->socket,
                        uplink_read_socket, uplink);
    }
    if (rc == 0 && zmq_connect(uplink->socket, uplink->endpoint) != 0)
        rc = -zmq_errno();
    if (rc != 0) {
        log_error("cannot dial %s: %s", uplink->endpoint, holter_strerror(rc));
        uplink_disconnect(uplink, 0);
        return rc;
    }
    uplink_send_hello(uplink);
    return 0;
}

static void uplink_on_tick(uv_timer_t *timer)
{
    struct uplink *uplink = timer->data;
    uint64_t now = clock_mono_ns();
    if (uplink->redial_pending || uplink->socket == NULL) {
        if (now >= uplink->dial_at_ns)
            uplink_connect(uplink);
        else
            uplink_disconnect(uplink, 0); /* libzmq would try again by itself */
        return;
    }
    if (now - uplink->received_ns > SILENCE_NS) {
        if (uplink->welcomed)
            log_warn("nothing heard from the daemon at %s: dialling again", uplink->endpoint);
        uplink_connect(uplink);
        return;
    }
    int early = now - uplink->welcomed_ns < EARLY_NS && uplink->trip_ns < BUSY_TRIP_NS;
    uint64_t every = early ? CLOCK_EARLY_INTERVAL_NS : CLOCK_INTERVAL_NS;
    if (uplink->welcomed && now - uplink->asked_ns >= every) {
        uplink->further_trips_left = FURTHER_ROUND_TRIPS;
        uplink_ask_clock(uplink);
    }
    uplink_send_pending(uplink);
}

int uplink_create(struct uplink **out, const struct uplink_options *options)
{
    struct uplink *uplink = calloc(1, sizeof *uplink);
    if (uplink == NULL)
        return -ENOMEM;
    uplink->options = *options;
    int rc = 0;
    if (options->key_dir != NULL)
        rc = curve_load(options->key_dir, ROLE_AGENT, &uplink->keys);
    if (rc == 0 && (uplink->context = zmq_ctx_new()) == NULL)
        rc = -zmq_errno();
    if (rc != 0) {
        curve_wipe(&uplink->keys);
        free(uplink);
        return rc;
    }
    uv_timer_init(options->loop, &uplink->timer);
    uplink->timer.data = uplink;
    uv_timer_start(&uplink->timer, uplink_on_tick, TICK_MS, TICK_MS);
    uplink_connect(uplink); /* a failure is logged and retried */
    *out = uplink;
    return 0;
}

void uplink_send_pending(struct uplink *uplink)
{
    struct journal_message message;
    int sent = 0;
    while (uplink->ready && journal_read(uplink->options.journal, uplink->position, &message) &&
           (uplink->in_flight == 0 || uplink->in_flight + message.length <= UPLINK_FLIGHT)) {
        if (zmq_send(uplink->socket, message.bytes, message.length, ZMQ_DONTWAIT) < 0)
            break;
        uplink->position = message.next_position;
        uplink->in_flight += message.next_position - message.position;
        uplink->bytes += message.length;
        sent = 1;
    }
    if (sent)
        zloop_sent(uplink->socket_watch);
}

int uplink_connected(const struct uplink *uplink)
{
    return uplink->welcomed;
}

uint64_t uplink_bytes(const struct uplink *uplink)
{
    return uplink->bytes;
}

static void uplink_on_timer_closed(uv_handle_t *handle)
{
    struct uplink *uplink = handle->data;
    zmq_ctx_term(uplink->context); /* blocks until pending messages are sent, at most LINGER_MS */
    wire_buffer_finish(&uplink->buffer);
    wire_arena_finish(&uplink->arena);
    curve_wipe(&uplink->keys);
    if (uplink->closed != NULL)
        uplink->closed(uplink->options.user);
    free(uplink);
}

/* Also while the welcome is on its way: the daemon has received the hello by then. */
void uplink_send_bye(struct uplink *uplink, const char *job, uint64_t seq)
{
    struct wire_bye bye = {.seq = seq, .job = job};
    uplink_send_message(uplink, WIRE_TYPE_BYE, &bye);
}

void uplink_close(struct uplink *uplink, void (*closed)(void *user))
{
    if (uplink == NULL)
        return;
    uplink_send_bye(uplink, NULL, journal_next_seq(uplink->options.journal) - 1);
    uplink_disconnect(uplink, LINGER_MS);
    uplink->closed = closed;
    uv_close((uv_handle_t *)&uplink->timer, uplink_on_timer_closed);
}
