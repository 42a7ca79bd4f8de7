/* A thin layer over libnats: connection, stream, publishing and reading. Leases and other values
 * stand in fleet_buckets.c. */
#include "daemon/fleet/fleet_nats_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/clock.h"
#include "holter/condition.h"
#include "holter/error.h"
#include "proto/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet-servers"
#define SERVERS_BYTES 2048u
#define NATS_REASON_BYTES 320u
#define PING_MS 2000
#define RECONNECT_MS 200
#define LEASE_SHARE 5u
#define HEARTBEAT_NS INT64_C(1000000000)
#define PENDING_BYTES (64 << 20) /* of messages that were received and not read */

/* ---- names ----------------------------------------------------------------- */

void fleet_nats_key(const char *job, char out[NATS_JOB_BYTES])
{
    size_t i = 0;
    for (; i + 1 < NATS_JOB_BYTES && job[i] != '\0'; i++)
        out[i] = job[i] == '.' ? '=' : job[i];
    out[i] = '\0';
}

static void nats_subject(const struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                         char out[NATS_NAME_BYTES])
{
    static const char *const names[] = {"in", "out", "state"};
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    snprintf(out, NATS_NAME_BYTES, "holter.%s.%s.%s", nats->cluster, key, names[subject]);
}

static int nats_is_token(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (!isascii((unsigned char)*c) ||
            (!isalnum((unsigned char)*c) && strchr("-_", *c) == NULL))
            return 0;
    return text[0] != '\0';
}

/* @param out  the list cut into its servers, each with a scheme */
static int nats_split_servers(const char *list, char out[NATS_SERVERS_MAXIMUM][256], int *count)
{
    char copy[SERVERS_BYTES], *rest = copy, *word;
    if (snprintf(copy, sizeof(copy), "%s", list) >= (int)sizeof(copy))
        return -HOLTER_EUSAGE;
    *count = 0;
    while ((word = strsep(&rest, ",")) != NULL) {
        const int has_scheme = strstr(word, "://") != NULL;
        if (word[0] == '\0' || *count == (int)NATS_SERVERS_MAXIMUM || strpbrk(word, " \t\n") ||
            (has_scheme && strncmp(word, "nats://", 7) != 0 && strncmp(word, "tls://", 6) != 0) ||
            snprintf(out[*count], 256, "%s%s", has_scheme ? "" : "nats://", word) >= 256)
            return -HOLTER_EUSAGE;
        ++*count;
    }
    return 0;
}

int fleet_nats_check(const char *servers, const char *cluster, char *why, size_t capacity)
{
    char list[NATS_SERVERS_MAXIMUM][256];
    int count;
    if (nats_split_servers(servers, list, &count) != 0) {
        snprintf(why, capacity,
                 "--fleet %.200s: nats://HOST:PORT,HOST:PORT,... is expected, of at "
                 "most %u servers",
                 servers, NATS_SERVERS_MAXIMUM);
        return -HOLTER_EUSAGE;
    }
    if (nats_is_token(cluster) && strlen(cluster) < NATS_CLUSTER_BYTES)
        return 0;
    snprintf(why, capacity,
             "--cluster %.64s: of a fleet, at most %u letters, digits, - and _ are "
             "expected",
             cluster, NATS_CLUSTER_BYTES - 1);
    return -HOLTER_EUSAGE;
}

/* ---- connecting -------------------------------------------------------------- */

/* What fails is returned by the call that fails, or found by its time; libnats would print. Only
 * what the servers forbid is reported nowhere else: the call waits in vain. */
static void nats_on_error(natsConnection *connection, natsSubscription *subscription, natsStatus s,
                          void *user)
{
    const struct fleet_nats *nats = user;
    const char *text = NULL;
    (void)subscription;
    if (s == NATS_NOT_PERMITTED || s == NATS_CONNECTION_AUTH_FAILED) {
        natsConnection_GetLastError(connection, &text);
        log_warn("%.200s: %.300s, %.300s", nats->options.servers, text, nats->keys.text);
    }
}

/* libnats does not try again after servers have refused it twice, or for another reason than its
 * keys, as a message that is longer than they accept since their configuration was changed. */
static void nats_on_closed(natsConnection *connection, void *user)
{
    const struct fleet_nats *nats = user;
    const char *text = NULL;
    if (nats->closing || nats->options.on_refused == NULL)
        return;
    if (natsConnection_GetLastError(connection, &text) != NATS_CONNECTION_AUTH_FAILED)
        log_warn("%.200s: %.300s", nats->options.servers, text == NULL ? "closed" : text);
    nats->options.on_refused(nats->options.user);
}

static natsStatus nats_set_options(natsOptions *options, struct fleet_nats *nats, int soon,
                                   int *servers)
{
    const struct fleet_nats_options *given = &nats->options;
    char list[NATS_SERVERS_MAXIMUM][256];
    const char *urls[NATS_SERVERS_MAXIMUM];
    if (nats_split_servers(given->servers, list, servers) != 0)
        return NATS_INVALID_ARG;
    for (int i = 0; i < *servers; i++)
        urls[i] = list[i];
    natsStatus s = natsOptions_SetServers(options, urls, *servers);
    s = s == NATS_OK ? natsOptions_SetName(options, "holterd") : s;
    s = s == NATS_OK ? natsOptions_SetTimeout(options, NATS_WAIT_MS) : s;
    s = s == NATS_OK ? natsOptions_SetMaxReconnect(options, -1) : s;
    s = s == NATS_OK ? natsOptions_SetReconnectWait(options, RECONNECT_MS) : s;
    s = s == NATS_OK ? natsOptions_SetReconnectJitter(options, RECONNECT_MS, RECONNECT_MS) : s;
    s = s == NATS_OK ? natsOptions_SetPingInterval(options, PING_MS) : s;
    s = s == NATS_OK ? natsOptions_SetMaxPingsOut(options, 2) : s;
    s = s == NATS_OK ? natsOptions_SetErrorHandler(options, nats_on_error, nats) : s;
    s = s == NATS_OK ? natsOptions_SetClosedCB(options, nats_on_closed, nats) : s;
    /* One thread calls the callbacks of all subscriptions, but for those that must not wait. */
    s = s == NATS_OK ? nats_SetMessageDeliveryPoolSize(1) : s;
    s = s == NATS_OK ? natsOptions_UseGlobalMessageDelivery(options, !soon) : s;
    s = s == NATS_OK ? natsOptions_SetSendAsap(options, soon) : s;
    /* Answers to daemons have a subject that others need not be allowed to subscribe to. */
    if (s == NATS_OK && given->on_control != NULL)
        s = natsOptions_SetCustomInboxPrefix(options, nats->inbox);
    return s;
}

static void nats_on_control(natsConnection *connection, natsSubscription *subscription,
                            natsMsg *message, void *user)
{
    const struct fleet_nats *nats = user;
    (void)connection;
    (void)subscription;
    nats->options.on_control(nats->options.user, natsMsg_GetData(message),
                             (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
}

/* libnats calls back no more for a subscription: it was closed here, or with the connection. */
static void nats_note_completed(void *user)
{
    struct fleet_nats *nats = user;
    pthread_mutex_lock(&nats->mutex);
    nats->subscriptions--;
    pthread_cond_signal(&nats->completed);
    pthread_mutex_unlock(&nats->mutex);
}

static natsStatus nats_note_subscription(struct fleet_nats *nats, natsSubscription *subscription,
                                         natsOnCompleteCB on_complete, void *user)
{
    pthread_mutex_lock(&nats->mutex);
    nats->subscriptions++;
    pthread_mutex_unlock(&nats->mutex);
    natsStatus s = natsSubscription_SetOnCompleteCB(subscription, on_complete, user);
    if (s != NATS_OK)
        nats_note_completed(nats);
    return s;
}

natsStatus fleet_nats_listen(struct fleet_nats *nats, natsConnection *connection,
                             const char *subject, natsMsgHandler handler, natsSubscription **out)
{
    natsStatus s = natsConnection_Subscribe(out, connection, subject, handler, nats);
    return s == NATS_OK ? nats_note_subscription(nats, *out, nats_note_completed, nats) : s;
}

/* The administrator may change it at any time. */
static void nats_note_maximum(struct fleet_nats *nats, const jsStreamInfo *info)
{
    const int64_t limit = info->Config == NULL ? 0 : info->Config->MaxMsgSize;
    nats->maximum = limit > 0 ? (size_t)limit : 0;
}

/* A stream that is there is used as it is: its limits and replicas are the administrator's. */
static natsStatus nats_add_stream(struct fleet_nats *nats, int replicas)
{
    char in[NATS_NAME_BYTES], out[NATS_NAME_BYTES], state[NATS_NAME_BYTES];
    const char *subjects[] = {in, out, state};
    jsStreamConfig config;
    jsErrCode code = 0;
    jsStreamInfo *info = NULL;
    snprintf(in, sizeof(in), "holter.%s.*.in", nats->cluster);
    snprintf(out, sizeof(out), "holter.%s.*.out", nats->cluster);
    snprintf(state, sizeof(state), "holter.%s.*.state", nats->cluster);
    natsStatus s = js_GetStreamInfo(&info, nats->js, nats->stream, NULL, &code);
    if (s == NATS_OK)
        nats_note_maximum(nats, info);
    jsStreamInfo_Destroy(info);
    if (s == NATS_OK)
        return s;
    jsStreamConfig_Init(&config);
    config.Name = nats->stream;
    config.Subjects = subjects;
    config.SubjectsLen = 3;
    config.Storage = js_FileStorage;
    config.Replicas = replicas;
    s = js_AddStream(NULL, nats->js, &config, NULL, &code);
    return code == JSStreamNameExistErr ? NATS_OK : s; /* another daemon was first */
}

natsStatus fleet_nats_dial(struct fleet_nats *nats, int soon, natsConnection **out, int *servers)
{
    natsOptions *options = NULL;
    natsStatus s = natsOptions_Create(&options);
    s = s == NATS_OK ? nats_set_options(options, nats, soon, servers) : s;
    if (s == NATS_OK && fleet_keys_set(options, nats->options.keys, &nats->keys) != 0)
        s = NATS_INVALID_ARG;
    s = s == NATS_OK ? natsConnection_Connect(out, options) : s;
    natsOptions_Destroy(options);
    return s;
}

static natsStatus nats_open(struct fleet_nats *nats, int *servers)
{
    jsOptions js;
    natsStatus s = fleet_nats_dial(nats, 0, &nats->connection, servers);
    s = s == NATS_OK ? jsOptions_Init(&js) : s;
    if (s == NATS_OK) {
        js.Wait = NATS_WAIT_MS;
        s = natsConnection_JetStream(&nats->js, nats->connection, &js);
    }
    if (s == NATS_OK) {
        if (nats->options.on_control != NULL)
            fleet_nats_adopt_lease(nats);
        /* Several such waits, for a server that has died, fit into a lease. */
        const uint64_t share_ms = nats->options.lease_ns / LEASE_SHARE / UINT64_C(1000000);
        nats->read_ms = share_ms == 0 || share_ms > NATS_WAIT_MS ? NATS_WAIT_MS : (int64_t)share_ms;
        js.Wait = nats->read_ms;
        s = natsConnection_JetStream(&nats->reading, nats->connection, &js);
    }
    return s;
}

/* What failed, and what is known of it beside that, without the place in libnats' sources.
 *  @param detail  NULL: nothing */
static const char *nats_describe(natsStatus s, const char *detail, char out[NATS_REASON_BYTES])
{
    const char *status = natsStatus_GetText(s);
    const char *end = detail == NULL || detail[0] != '(' ? NULL : strstr(detail, "): ");
    detail = detail == NULL ? "" : end != NULL ? end + 3 : detail;
    const int is_more = detail[0] != '\0' && strcmp(detail, status) != 0;
    snprintf(out, NATS_REASON_BYTES, "%s%s%.200s", status, is_more ? ": " : "",
             is_more ? detail : "");
    return out;
}

/* The servers' own words where there are some, and the files that they were shown. */
static void nats_describe_failure(const struct fleet_nats *nats, const char *step, natsStatus s,
                                  char *why, size_t capacity)
{
    char reason[NATS_REASON_BYTES];
    const char *detail = nats_GetLastError(NULL), *said = NULL;
    const int is_client = nats->options.on_control == NULL;
    if (is_client && s == NATS_NOT_FOUND) {
        snprintf(why, capacity, "%.200s: no daemon has joined a fleet \"%s\" there; %s",
                 nats->options.servers, nats->cluster, nats->keys.text);
        return;
    }
    if (nats->connection != NULL)
        natsConnection_GetLastError(nats->connection, &said);
    if (said != NULL && said[0] != '\0')
        detail = said;
    snprintf(why, capacity, "%s%.200s: %s: %s; %s", is_client ? "" : "--fleet ",
             nats->options.servers, step, nats_describe(s, detail, reason), nats->keys.text);
}

static void nats_init_completion(struct fleet_nats *nats)
{
    pthread_mutex_init(&nats->mutex, NULL);
    condition_init(&nats->completed);
}

/* A subscription that was not completed is lost memory when the library is closed. */
static void nats_wait_for_completion(struct fleet_nats *nats)
{
    const uint64_t until = clock_mono_ns() + NATS_WAIT_MS * UINT64_C(1000000);
    int code = 0;
    pthread_mutex_lock(&nats->mutex);
    while (nats->subscriptions > 0 && code == 0)
        code = condition_wait(&nats->completed, &nats->mutex, until);
    pthread_mutex_unlock(&nats->mutex);
}

int fleet_nats_connect(struct fleet_nats **out, const struct fleet_nats_options *options, char *why,
                       size_t capacity)
{
    struct fleet_nats *nats = calloc(1, sizeof(*nats));
    int servers = 0;
    if (nats == NULL)
        return -ENOMEM;
    nats_init_completion(nats);
    nats->options = *options;
    snprintf(nats->cluster, sizeof(nats->cluster), "%s", options->cluster);
    snprintf(nats->stream, sizeof(nats->stream), "holter_%s", options->cluster);
    snprintf(nats->control, sizeof(nats->control), "holter.%s.agents", options->cluster);
    snprintf(nats->inbox, sizeof(nats->inbox), "holter.%s.inbox", options->cluster);
    const char *step = "connecting";
    natsStatus s = nats_open(nats, &servers);
    const int replicas = servers >= NATS_REPLICAS ? NATS_REPLICAS : 1;
    if (s == NATS_OK && options->on_control != NULL) {
        step = "stream";
        s = nats_add_stream(nats, replicas);
    }
    if (s == NATS_OK) {
        step = "buckets";
        s = fleet_nats_open_buckets(nats, replicas);
    }
    if (s == NATS_OK && options->on_control != NULL)
        s = fleet_nats_listen(nats, nats->connection, nats->control, nats_on_control,
                              &nats->control_subscription);
    if (s == NATS_OK && options->on_clock_ask != NULL) {
        step = "clock";
        s = fleet_nats_open_clock(nats);
    }
    if (s == NATS_OK) {
        *out = nats;
        return 0;
    }
    nats_describe_failure(nats, step, s, why, capacity);
    fleet_nats_close(nats);
    return -HOLTER_EUNREACHABLE;
}

void fleet_nats_close(struct fleet_nats *nats)
{
    if (nats == NULL)
        return;
    nats->closing = 1;
    fleet_nats_close_clock(nats);
    natsSubscription_Destroy(nats->control_subscription);
    kvStore_Destroy(nats->buckets[FLEET_LEASES]);
    kvStore_Destroy(nats->buckets[FLEET_JOBS]);
    jsCtx_Destroy(nats->reading);
    jsCtx_Destroy(nats->js);
    natsConnection_Destroy(nats->connection);
    nats_wait_for_completion(nats);
    nats_CloseAndWait(NATS_WAIT_MS); /* no callback runs after this */
    pthread_cond_destroy(&nats->completed);
    pthread_mutex_destroy(&nats->mutex);
    free(nats);
}

int fleet_nats_is_connected(struct fleet_nats *nats)
{
    return natsConnection_Status(nats->connection) == NATS_CONN_STATUS_CONNECTED;
}

uint64_t fleet_nats_lease_ns(const struct fleet_nats *nats)
{
    return nats->options.lease_ns;
}

size_t fleet_nats_maximum(const struct fleet_nats *nats)
{
    const int64_t payload = natsConnection_GetMaxPayload(nats->connection);
    const size_t maximum = payload > 0 ? (size_t)payload : 0, of_stream = nats->maximum;
    return of_stream > 0 && of_stream < maximum ? of_stream : maximum;
}

/* ---- publishing ---------------------------------------------------------------- */

int fleet_nats_publish(struct fleet_nats *nats, const struct fleet_publication *publication,
                       uint64_t *seq)
{
    char subject[NATS_NAME_BYTES], expected[24];
    jsErrCode code = 0;
    jsPubAck *ack = NULL;
    natsMsg *message = NULL;
    nats_subject(nats, publication->subject, publication->job, subject);
    natsStatus s =
        natsMsg_Create(&message, subject, NULL, publication->bytes, (int)publication->length);
    s = s == NATS_OK ? natsMsgHeader_Set(message, "Nats-Msg-Id", publication->id) : s;
    if (s == NATS_OK && publication->expected != UINT64_MAX) {
        snprintf(expected, sizeof(expected), "%llu", (unsigned long long)publication->expected);
        s = natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", expected);
    }
    s = s == NATS_OK ? js_PublishMsg(&ack, nats->js, message, NULL, &code) : s;
    natsMsg_Destroy(message);
    if (s == NATS_OK)
        *seq = ack->Sequence;
    jsPubAck_Destroy(ack);
    if (s == NATS_OK)
        return 0;
    if (s == NATS_MAX_PAYLOAD ||
        (code == JSStreamMessageExceedsMaximumErr && fleet_nats_stream_made_ns(nats) != 0))
        return -HOLTER_ERANGE;
    return code == JSStreamWrongLastSequenceErr ? -ESTALE : -EAGAIN;
}

/* Without a connection the call has waited in vain: what counts is why there is none. */
void fleet_nats_describe(const struct fleet_nats *nats, char *why, size_t capacity)
{
    natsStatus s = NATS_OK;
    char reason[NATS_REASON_BYTES];
    const char *detail = nats_GetLastError(&s);
    const char *hint = s == NATS_NO_RESPONDERS ? ": it was deleted, or has no leader" : "";
    const int lost = natsConnection_Status(nats->connection) != NATS_CONN_STATUS_CONNECTED;
    if (lost)
        s = natsConnection_GetLastError(nats->connection, &detail);
    snprintf(why, capacity, "%.200s: stream %s: %s%s%s", nats->options.servers, nats->stream,
             lost ? "no connection: " : "", nats_describe(s, detail, reason), hint);
}

void fleet_nats_send_all(struct fleet_nats *nats, const void *bytes, size_t length)
{
    natsConnection_Publish(nats->connection, nats->control, bytes, (int)length);
}

/* ---- reading --------------------------------------------------------------------- */

/* @return -EAGAIN; what failed is logged for those who look for it */
static int nats_fail(const char *what, const char *subject, natsStatus s)
{
    char reason[NATS_REASON_BYTES];
    log_info("%s %s: %s", what, subject, nats_describe(s, nats_GetLastError(NULL), reason));
    return -EAGAIN;
}

int fleet_nats_last(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                    uint64_t *seq)
{
    char name[NATS_NAME_BYTES];
    jsErrCode code = 0;
    natsMsg *message = NULL;
    nats_subject(nats, subject, job, name);
    natsStatus s = js_GetLastMsg(&message, nats->reading, nats->stream, name, NULL, &code);
    if (s == NATS_OK)
        *seq = natsMsg_GetSequence(message);
    natsMsg_Destroy(message);
    if (s == NATS_NOT_FOUND || code == JSNoMessageFoundErr) {
        *seq = 0;
        return 0;
    }
    return s == NATS_OK ? 0 : nats_fail("last message of", name, s);
}

uint64_t fleet_nats_stream_made_ns(struct fleet_nats *nats)
{
    jsStreamInfo *info = NULL;
    natsStatus s = js_GetStreamInfo(&info, nats->reading, nats->stream, NULL, NULL);
    const uint64_t made_ns = s == NATS_OK ? (uint64_t)info->Created : 0;
    if (s == NATS_OK)
        nats_note_maximum(nats, info);
    jsStreamInfo_Destroy(info);
    return made_ns;
}

static natsStatus nats_set_reading(jsSubOptions *options, const struct fleet_nats *nats,
                                   uint64_t from)
{
    natsStatus s = jsSubOptions_Init(options);
    options->Stream = nats->stream;
    options->Ordered = true;
    options->Config.DeliverPolicy = from <= 1 ? js_DeliverAll : js_DeliverByStartSequence;
    options->Config.OptStartSeq = from <= 1 ? 0 : from;
    options->Config.Heartbeat = HEARTBEAT_NS;
    return s;
}

/* libnats drops messages that exceed PENDING_BYTES, and goes on with later ones. What a consumer
 * sends is numbered from 1 on, also after libnats has set it up again.
 * @return whether no message is missing between the newest one and this one, the newest from now on
 */
static int nats_order_add(struct nats_order *order, natsSubscription *subscription,
                          natsMsg *message)
{
    jsMsgMetaData *meta = NULL;
    int64_t dropped = 0;
    if (natsMsg_GetMetaData(&meta, message) != NATS_OK)
        return 0;
    const struct nats_order next = {meta->Sequence.Stream, meta->Sequence.Consumer};
    jsMsgMetaData_Destroy(meta);
    /* A new consumer begins after the last message that libnats received, even if it dropped it. */
    if (next.consumer == 1 && order->consumer != 0)
        natsSubscription_GetDropped(subscription, &dropped);
    if (dropped > 0 || (next.consumer != 1 && next.consumer != order->consumer + 1))
        return 0;
    *order = next;
    return 1;
}

struct nats_reading {
    const char *name;  /* subject */
    uint64_t from, to; /* numbers of messages */
    int with_bytes;    /* 0: only the messages' numbers are sent */
    fleet_on_message *on_message;
    void *user;
};

/* Read until a message is missing, or to the end: `from` is then the next one to be read. */
static int nats_read_on(struct fleet_nats *nats, struct nats_reading *reading,
                        natsSubscription *subscription)
{
    struct nats_order order = {0};
    int code = 0, in_order = 1;
    while (code == 0 && in_order && reading->from <= reading->to) {
        natsMsg *message = NULL;
        natsStatus s = natsSubscription_NextMsg(&message, subscription, nats->read_ms);
        if (s == NATS_SLOW_CONSUMER)
            continue; /* what was dropped is seen by the numbers */
        if (s != NATS_OK)
            return nats_fail("reading on", reading->name, s);
        in_order = nats_order_add(&order, subscription, message);
        if (in_order && order.stream >= reading->from && order.stream <= reading->to)
            code = reading->on_message(reading->user, order.stream, natsMsg_GetData(message),
                                       (size_t)natsMsg_GetDataLength(message));
        if (in_order && order.stream >= reading->from)
            reading->from = order.stream + 1;
        natsMsg_Destroy(message);
    }
    return code;
}

static int nats_read(struct fleet_nats *nats, struct nats_reading *reading)
{
    int code = 0;
    while (code == 0 && reading->from <= reading->to) {
        jsSubOptions options;
        natsSubscription *subscription = NULL;
        natsStatus s = nats_set_reading(&options, nats, reading->from);
        options.Config.HeadersOnly = !reading->with_bytes;
        s = s == NATS_OK ? js_SubscribeSync(&subscription, nats->reading, reading->name, NULL,
                                            &options, NULL)
                         : s;
        s = s == NATS_OK ? natsSubscription_SetPendingLimits(subscription, -1, PENDING_BYTES) : s;
        code = s == NATS_OK ? nats_read_on(nats, reading, subscription)
                            : nats_fail("reading", reading->name, s);
        if (subscription != NULL)
            natsSubscription_Unsubscribe(subscription);
        natsSubscription_Destroy(subscription);
    }
    return code;
}

int fleet_nats_read(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                    uint64_t from, uint64_t to, fleet_on_message *on_message, void *user)
{
    char name[NATS_NAME_BYTES];
    struct nats_reading reading = {name, from, to, 1, on_message, user};
    nats_subject(nats, subject, job, name);
    return nats_read(nats, &reading);
}

struct nats_numbers {
    uint64_t *list; /* owned */
    size_t count;
};

static int nats_note_number(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct nats_numbers *numbers = user;
    (void)bytes;
    (void)length;
    if (ARRAY_RESIZE(numbers->list, numbers->count + 1) != 0)
        return -ENOMEM;
    numbers->list[numbers->count++] = seq;
    return 0;
}

/* Message by message: a server of version 2.9 that was killed takes a purge of one subject, when it
 * reads its journal at its next start, for one of all subjects. */
void fleet_nats_delete(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                       uint64_t before)
{
    char name[NATS_NAME_BYTES];
    struct nats_numbers numbers = {0};
    uint64_t last = 0;
    natsStatus s = NATS_OK;
    nats_subject(nats, subject, job, name);
    if (fleet_nats_last(nats, subject, job, &last) == 0 && last > 0) {
        struct nats_reading reading = {
            name, 1, last < before ? last : before, 0, nats_note_number, &numbers};
        nats_read(nats, &reading);
    }
    for (size_t i = 0; s == NATS_OK && i < numbers.count && numbers.list[i] < before; i++)
        s = js_DeleteMsg(nats->js, nats->stream, numbers.list[i], NULL, NULL);
    if (s != NATS_OK)
        nats_fail("deleting from", name, s); /* with those of the next state */
    free(numbers.list);
}

static void nats_on_message(natsConnection *connection, natsSubscription *from, natsMsg *message,
                            void *user)
{
    struct fleet_subscription *subscription = user;
    (void)connection;
    pthread_mutex_lock(&subscription->mutex);
    while (!subscription->opened && !subscription->closed)
        pthread_cond_wait(&subscription->changed, &subscription->mutex);
    const int reads = !subscription->closed && !subscription->interrupted;
    if (reads && !nats_order_add(&subscription->order, from, message)) {
        subscription->interrupted = 1;
        subscription->on_message(subscription->user, 0, NULL, 0);
    } else if (reads && subscription->order.stream > subscription->last) {
        subscription->last = subscription->order.stream;
        subscription->on_message(subscription->user, subscription->last, natsMsg_GetData(message),
                                 (size_t)natsMsg_GetDataLength(message));
    }
    pthread_mutex_unlock(&subscription->mutex);
    natsMsg_Destroy(message);
}

static void subscription_release(struct fleet_subscription *subscription)
{
    pthread_mutex_lock(&subscription->mutex);
    const int owners = --subscription->owners;
    pthread_mutex_unlock(&subscription->mutex);
    if (owners > 0)
        return;
    pthread_cond_destroy(&subscription->changed);
    pthread_mutex_destroy(&subscription->mutex);
    free(subscription);
}

static void nats_on_complete(void *user)
{
    struct fleet_subscription *subscription = user;
    struct fleet_nats *nats = subscription->nats;
    subscription_release(subscription);
    nats_note_completed(nats);
}

int fleet_nats_subscribe(struct fleet_subscription **out, struct fleet_nats *nats, const char *job,
                         uint64_t from, fleet_on_message *on_message, void *user)
{
    char name[NATS_NAME_BYTES];
    jsSubOptions options;
    struct fleet_subscription *subscription = calloc(1, sizeof(*subscription));
    if (subscription == NULL)
        return -EAGAIN;
    pthread_mutex_init(&subscription->mutex, NULL);
    pthread_cond_init(&subscription->changed, NULL);
    subscription->owners = 2;
    subscription->nats = nats;
    subscription->on_message = on_message;
    subscription->user = user;
    subscription->last = from == 0 ? 0 : from - 1;
    nats_subject(nats, FLEET_IN, job, name);
    natsStatus s = nats_set_reading(&options, nats, from);
    s = s == NATS_OK ? js_Subscribe(&subscription->subscription, nats->reading, name,
                                    nats_on_message, subscription, NULL, &options, NULL)
                     : s;
    s = s == NATS_OK
            ? natsSubscription_SetPendingLimits(subscription->subscription, -1, PENDING_BYTES)
            : s;
    if (s == NATS_OK)
        s = nats_note_subscription(nats, subscription->subscription, nats_on_complete,
                                   subscription);
    if (s == NATS_OK) {
        *out = subscription;
        return 0;
    }
    natsSubscription_Destroy(subscription->subscription);
    subscription->owners = 1;
    subscription_release(subscription);
    return nats_fail("subscribing to", name, s);
}

void fleet_subscription_open(struct fleet_subscription *subscription)
{
    pthread_mutex_lock(&subscription->mutex);
    subscription->opened = 1;
    pthread_cond_broadcast(&subscription->changed);
    pthread_mutex_unlock(&subscription->mutex);
}

int fleet_subscription_is_valid(const struct fleet_subscription *subscription)
{
    return subscription != NULL && !subscription->interrupted &&
           natsSubscription_IsValid(subscription->subscription);
}

void fleet_subscription_close(struct fleet_subscription *subscription)
{
    if (subscription == NULL)
        return;
    natsSubscription *inner = subscription->subscription;
    pthread_mutex_lock(&subscription->mutex);
    subscription->closed = 1;
    pthread_cond_broadcast(&subscription->changed);
    pthread_mutex_unlock(&subscription->mutex);
    if (fleet_nats_is_connected(subscription->nats)) /* else the server forgets it by itself */
        natsSubscription_Unsubscribe(inner);
    natsSubscription_Destroy(inner);
    subscription_release(subscription);
}
