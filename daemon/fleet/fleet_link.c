/* The way between the daemon's loop and the servers of a fleet: events for the loop, and the
 * threads that publish. The thread of leases stands in fleet_leases.c, the one that reads the past
 * of jobs in fleet_past.c. */
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/fleet/fleet_link_state.h"

#include "holter/clock.h"
#include "holter/condition.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define LOG_TOPIC "fleet"
#define EVENT_BYTES (32u << 20) /* of messages that the loop has not handled */
#define TURN_NS UINT64_C(10000000)
#define RETRY_NS UINT64_C(100000000)
#define STOP_NS UINT64_C(3000000000)

/* ---- events ------------------------------------------------------------------ */

void link_post(struct fleet_link *link, const struct fleet_event *event, const void *bytes)
{
    struct fleet_event *copy = NULL;
    /* Without memory for an event the daemon would no longer be exact: wait for some. */
    while ((copy = malloc(sizeof(*copy) + event->length)) == NULL) {
        const struct timespec pause = {0, (long)RETRY_NS};
        nanosleep(&pause, NULL);
    }
    *copy = *event;
    copy->bytes = (uint8_t *)(copy + 1);
    copy->next = NULL;
    if (event->length > 0)
        memcpy(copy->bytes, bytes, event->length);
    pthread_mutex_lock(&link->mutex);
    /* Journals are short, and a job is not held up by the messages of others. */
    while (event->type == FLEET_MESSAGE && link->event_bytes > EVENT_BYTES && !link->stopped)
        pthread_cond_wait(&link->drained, &link->mutex);
    *link->last_event = copy;
    link->last_event = &copy->next;
    link->event_bytes += event->length;
    if (!link->stopped)
        uv_async_send(&link->async);
    pthread_mutex_unlock(&link->mutex);
}

static struct fleet_event *link_next_event(struct fleet_link *link)
{
    pthread_mutex_lock(&link->mutex);
    struct fleet_event *event = link->first_event;
    if (event != NULL) {
        link->first_event = event->next;
        if (event->next == NULL)
            link->last_event = &link->first_event;
        link->event_bytes -= event->length;
        pthread_cond_broadcast(&link->drained);
    }
    pthread_mutex_unlock(&link->mutex);
    return event;
}

static void link_on_async(uv_async_t *async)
{
    struct fleet_link *link = async->data;
    const uint64_t begun = clock_mono_ns();
    struct fleet_event *event;
    int more = 1;
    while (more && (event = link_next_event(link)) != NULL) {
        link->options.on_event(link->options.user, event);
        free(event);
        more = clock_mono_ns() - begun < TURN_NS;
    }
    pthread_mutex_lock(&link->mutex);
    const int empty = link->first_event == NULL;
    pthread_mutex_unlock(&link->mutex);
    link->options.on_turn(link->options.user, empty);
    if (!empty)
        uv_async_send(&link->async);
}

static void link_on_control(void *user, const void *bytes, size_t length)
{
    link_post(user, &(struct fleet_event){.type = FLEET_CONTROL, .length = length}, bytes);
}

/* ---- the clock ----------------------------------------------------------------- */

static void link_on_clock_ask(void *user, const void *bytes, size_t length, const char *reply)
{
    struct fleet_link *link = user;
    const uint64_t received = clock_mono_ns();
    uint8_t answer[FLEET_CLOCK_ANSWER_BYTES];
    pthread_mutex_lock(&link->clock_mutex);
    int code = fleet_clock_answer(&link->clock, bytes, length, received, clock_mono_ns(), answer);
    pthread_mutex_unlock(&link->clock_mutex);
    if (code == 1)
        fleet_nats_answer_clock(link->nats, reply, answer, sizeof(answer));
    else if (code < 0)
        log_warn("a question about the fleet's clock: %s", holter_strerror(code));
}

static void link_on_clock_answer(void *user, const void *bytes, size_t length)
{
    struct fleet_link *link = user;
    const uint64_t received = clock_mono_ns();
    pthread_mutex_lock(&link->clock_mutex);
    int code = fleet_clock_observe(&link->clock, bytes, length, received);
    pthread_cond_signal(&link->clock_known);
    pthread_mutex_unlock(&link->clock_mutex);
    if (code == -HOLTER_ERANGE)
        log_warn(
            "an answer about the fleet's clock came too late, or out of order: it is not used");
    else if (code < 0)
        log_warn("an answer about the fleet's clock: %s", holter_strerror(code));
}

void link_ask_clock(struct fleet_link *link)
{
    uint8_t ask[FLEET_CLOCK_ASK_BYTES];
    uint64_t to;
    pthread_mutex_lock(&link->clock_mutex);
    const int asks = fleet_clock_ask(&link->clock, clock_mono_ns(), &to, ask);
    pthread_mutex_unlock(&link->clock_mutex);
    if (asks)
        fleet_nats_ask_clock(link->nats, to, ask, sizeof(ask));
}

/* Agents are not served before: their windows are numbered by this clock. */
static void link_wait_for_clock(struct fleet_link *link)
{
    for (int known = 0; !known;) {
        link_ask_clock(link);
        pthread_mutex_lock(&link->clock_mutex);
        if (!link->clock.is_known)
            condition_wait(&link->clock_known, &link->clock_mutex,
                           clock_mono_ns() + FLEET_CLOCK_FIRST_ASK_NS);
        known = link->clock.is_known;
        pthread_mutex_unlock(&link->clock_mutex);
    }
}

void fleet_link_read_clock(struct fleet_link *link, struct timeline *out)
{
    const uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&link->clock_mutex);
    *out = (struct timeline){link->clock.time.mapping, fleet_clock_error(&link->clock, now)};
    pthread_mutex_unlock(&link->clock_mutex);
}

static void link_on_refused(void *user)
{
    link_post(user, &(struct fleet_event){.type = FLEET_REFUSED}, NULL);
}

/* ---- publishing ---------------------------------------------------------------- */

struct link_job *link_find_job(struct fleet_link *link, const char *job)
{
    struct link_job *found = link->jobs;
    while (found != NULL && strcmp(found->id, job) != 0)
        found = found->next;
    return found;
}

/* A state is not what agents wait for. */
static size_t link_backlog_of(const struct link_publication *publication)
{
    return publication->subject == FLEET_STATE ? 0 : publication->length;
}

static int link_queue(struct fleet_link *link, const char *job,
                      const struct link_publication *given)
{
    struct link_publication *publication = malloc(sizeof(*publication));
    if (publication == NULL)
        return -ENOMEM;
    *publication = *given;
    snprintf(publication->job, sizeof(publication->job), "%s", job);
    pthread_mutex_lock(&link->mutex);
    publication->id = ++link->publications;
    struct link_queue *queue = given->subject == FLEET_IN ? &link->messages : &link->journals;
    *queue->last = publication;
    queue->last = &publication->next;
    queue->backlog += link_backlog_of(publication);
    pthread_cond_broadcast(&link->published);
    pthread_mutex_unlock(&link->mutex);
    return 0;
}

int fleet_link_publish(struct fleet_link *link, enum fleet_subject subject, const char *job,
                       uint8_t *bytes, size_t length, uint64_t token)
{
    const struct link_publication publication = {
        .subject = subject, .token = token, .bytes = bytes, .length = length};
    return link_queue(link, job, &publication);
}

int fleet_link_publish_state(struct fleet_link *link, const char *job, uint8_t *bytes,
                             size_t length, uint64_t position)
{
    const struct link_publication publication = {
        .subject = FLEET_STATE, .position = position, .bytes = bytes, .length = length};
    return link_queue(link, job, &publication);
}

uint64_t fleet_link_packing_ns(struct fleet_link *link, const char *job)
{
    pthread_mutex_lock(&link->mutex);
    const struct link_job *held = link_find_job(link, job);
    const uint64_t packing_ns = held != NULL ? held->packing_ns : 0;
    pthread_mutex_unlock(&link->mutex);
    return packing_ns;
}

size_t link_queue_backlog(struct link_queue *queue)
{
    pthread_mutex_lock(&queue->link->mutex);
    const size_t backlog = queue->backlog;
    pthread_mutex_unlock(&queue->link->mutex);
    return backlog;
}

size_t fleet_link_backlog(struct fleet_link *link)
{
    return link_queue_backlog(&link->messages);
}

/* @return the number to be expected of a journal; 0 with held unset: it is not this daemon's */
static uint64_t link_expected(struct fleet_link *link, const struct link_publication *publication,
                              int *held)
{
    uint64_t expected = UINT64_MAX;
    *held = 1;
    if (publication->subject != FLEET_IN) {
        pthread_mutex_lock(&link->mutex);
        const struct link_job *job = link_find_job(link, publication->job);
        *held = job != NULL && job->valid_ns != 0 && job->begun;
        if (publication->subject == FLEET_OUT)
            expected = *held ? job->journal_last : 0;
        pthread_mutex_unlock(&link->mutex);
    }
    return expected;
}

/* A journal that was removed, as by limits of the stream, has no last number to be expected. */
static int link_journal_is_gone(struct fleet_link *link, const struct link_publication *publication)
{
    uint64_t last = 1;
    return publication->subject == FLEET_OUT && fleet_link_holds(link, publication->job) &&
           fleet_nats_last(link->nats, FLEET_OUT, publication->job, &last) == 0 && last == 0 &&
           fleet_nats_stream_made_ns(link->nats) == link->made_ns;
}

int link_try(struct fleet_link *link, const struct link_publication *publication, uint64_t *seq)
{
    char id[64];
    int held;
    /* Pieces of a state have one number: their position tells them apart. */
    snprintf(id, sizeof(id), "%" PRIx64 "-%" PRIu64 "-%" PRIu64, link->run, publication->id,
             publication->position);
    *seq = 0;
    struct fleet_publication message = {
        publication->subject, publication->job,   id, link_expected(link, publication, &held),
        publication->bytes,   publication->length};
    if (!held)
        return 0;
    int code = fleet_nats_publish(link->nats, &message, seq);
    if (code == -ESTALE && link_journal_is_gone(link, publication)) {
        message.expected = 0;
        code = fleet_nats_publish(link->nats, &message, seq);
    }
    if (code == -EAGAIN || code == -HOLTER_ERANGE || publication->subject != FLEET_OUT)
        return code;
    pthread_mutex_lock(&link->mutex);
    struct link_job *job = link_find_job(link, publication->job);
    if (job != NULL && code == 0)
        job->journal_last = *seq;
    else if (job != NULL)
        job->valid_ns = 0; /* another daemon goes on with it */
    pthread_mutex_unlock(&link->mutex);
    return code;
}

int link_publish_until_stored(struct fleet_link *link, const struct link_publication *publication,
                              uint64_t *seq)
{
    char why[512], said[sizeof(why)] = "";
    int code;
    while ((code = link_try(link, publication, seq)) == -EAGAIN) {
        fleet_nats_describe(link->nats, why, sizeof(why));
        if (strcmp(why, said) != 0)
            log_warn("the servers do not store, trying again: %s", why);
        memcpy(said, why, sizeof(why));
        pthread_mutex_lock(&link->mutex);
        const int leaves = link->stops_publishing && clock_mono_ns() >= link->stop_ns;
        if (!leaves)
            condition_wait(&link->published, &link->mutex, clock_mono_ns() + RETRY_NS);
        pthread_mutex_unlock(&link->mutex);
        if (leaves)
            return -EAGAIN;
    }
    if (said[0] != '\0')
        log_warn("the servers store again");
    return code == -ESTALE ? 0 : code;
}

/* The agent is to know, which counts what it has sent in vain. */
static void link_post_too_long(struct fleet_link *link, const struct link_publication *message)
{
    struct fleet_event event = {.type = FLEET_TOO_LONG, .length = message->length};
    log_warn("job %s: a message is dropped: it has %zu bytes, and the servers accept %zu now, see "
             "max_payload and max_msg_size",
             message->job, message->length, fleet_link_maximum(link));
    snprintf(event.job, sizeof(event.job), "%s", message->job);
    if (message->subject == FLEET_IN)
        link_post(link, &event, message->bytes);
}

/* What the servers accept may have been lowered since the envelope was filled: each of its messages
 * is published by itself, after a head in place of the message before it. @return 0 or -EAGAIN */
static int link_publish_entries(struct fleet_link *link, const struct link_publication *publication,
                                uint64_t *seq)
{
    uint8_t head[FLEET_HEAD_BYTES];
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct link_publication message = *publication;
    int code = 0;
    if (fleet_reader_init(&reader, publication->bytes, publication->length) != 0)
        return 0;
    memcpy(head, publication->bytes, sizeof(head));
    while (code != -EAGAIN && fleet_reader_next(&reader, &entry) == 1) {
        uint64_t stored = 0;
        message.position++; /* of its id */
        message.length = FLEET_HEAD_BYTES + FLEET_ENTRY_BYTES + entry.length;
        message.bytes = publication->bytes + (reader.at - message.length);
        memcpy(message.bytes, head, sizeof(head));
        code = link_publish_until_stored(link, &message, &stored);
        if (code == -HOLTER_ERANGE)
            link_post_too_long(link, &message);
        *seq = stored != 0 ? stored : *seq;
    }
    return code == -EAGAIN ? code : 0;
}

static int link_publish_envelope(struct fleet_link *link,
                                 const struct link_publication *publication, uint64_t *seq)
{
    int code = link_publish_until_stored(link, publication, seq);
    return code == -HOLTER_ERANGE ? link_publish_entries(link, publication, seq) : code;
}

static struct link_publication *link_next_publication(struct link_queue *queue)
{
    struct fleet_link *link = queue->link;
    pthread_mutex_lock(&link->mutex);
    while (queue->first == NULL && !link->stops_publishing)
        pthread_cond_wait(&link->published, &link->mutex);
    struct link_publication *publication = queue->first;
    if (publication != NULL) {
        queue->first = publication->next;
        if (publication->next == NULL)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&link->mutex);
    return publication;
}

static void link_post_stored(struct fleet_link *link, const struct link_publication *publication,
                             uint64_t seq)
{
    struct fleet_event event = {.type = FLEET_STORED, .token = publication->token, .seq = seq};
    if (publication->subject == FLEET_OUT && seq == 0)
        return; /* another daemon has gone on with the job */
    if (publication->subject == FLEET_OUT)
        snprintf(event.job, sizeof(event.job), "%s", publication->job);
    link_post(link, &event, NULL);
}

static void *link_run_publisher(void *user)
{
    struct link_queue *queue = user;
    struct fleet_link *link = queue->link;
    struct link_publication *publication;
    int gave_up = 0;
    while ((publication = link_next_publication(queue)) != NULL) {
        uint64_t seq = 0;
        if (publication->subject == FLEET_STATE)
            gave_up = gave_up || link_publish_saved(link, publication) == -EAGAIN;
        else
            gave_up = gave_up || link_publish_envelope(link, publication, &seq) == -EAGAIN;
        if (!gave_up && publication->token != 0)
            link_post_stored(link, publication, seq);
        pthread_mutex_lock(&link->mutex);
        queue->backlog -= link_backlog_of(publication);
        pthread_mutex_unlock(&link->mutex);
        free(publication->bytes);
        free(publication);
    }
    return NULL;
}

size_t fleet_link_maximum(const struct fleet_link *link)
{
    const size_t headers = 512; /* of a message, and its subjects */
    size_t maximum = fleet_nats_maximum(link->nats);
    return maximum > headers ? maximum - headers : 0;
}

void fleet_link_send_all(struct fleet_link *link, const void *bytes, size_t length)
{
    fleet_nats_send_all(link->nats, bytes, length);
}

/* ---- requests to the thread of leases ---------------------------------------------- */

void link_request(struct fleet_link *link, enum link_request_type type, const char *job,
                  uint64_t from)
{
    struct link_request *request = malloc(sizeof(*request));
    if (request == NULL)
        return; /* the next look at the jobs makes up for it */
    *request = (struct link_request){.type = type, .from = from};
    snprintf(request->job, sizeof(request->job), "%s", job);
    pthread_mutex_lock(&link->mutex);
    *link->last_request = request;
    link->last_request = &request->next;
    pthread_cond_signal(&link->requested);
    pthread_mutex_unlock(&link->mutex);
}

void fleet_link_note(struct fleet_link *link, const char *job)
{
    link_request(link, LINK_NOTE, job, 0);
}

void fleet_link_set_running(struct fleet_link *link, const char *job, int running)
{
    link_request(link, running ? LINK_RUNNING : LINK_ENDED, job, 0);
}

void fleet_link_release(struct fleet_link *link, const char *job)
{
    link_request(link, LINK_RELEASE, job, 0);
}

void fleet_link_note_load(struct fleet_link *link, uint64_t daemon, uint64_t load)
{
    pthread_mutex_lock(&link->mutex);
    fleet_balance_note(&link->balance, daemon, load, clock_mono_ns());
    pthread_mutex_unlock(&link->mutex);
}

void fleet_link_read(struct fleet_link *link, const char *job, uint64_t from)
{
    link_request(link, LINK_READ, job, from);
}

int fleet_link_holds(struct fleet_link *link, const char *job)
{
    pthread_mutex_lock(&link->mutex);
    const struct link_job *held = link_find_job(link, job);
    const int holds = held != NULL && clock_mono_ns() < held->valid_ns;
    pthread_mutex_unlock(&link->mutex);
    return holds;
}

/* ---- life -------------------------------------------------------------------------- */

static void link_init_conditions(struct fleet_link *link)
{
    pthread_mutex_init(&link->mutex, NULL);
    condition_init(&link->published);
    condition_init(&link->requested);
    condition_init(&link->drained);
    condition_init(&link->reading);
    pthread_mutex_init(&link->clock_mutex, NULL);
    condition_init(&link->clock_known);
    link->messages = (struct link_queue){.link = link, .last = &link->messages.first};
    link->journals = (struct link_queue){.link = link, .last = &link->journals.first};
    link->last_event = &link->first_event;
    link->last_request = &link->first_request;
}

static void link_free(struct fleet_link *link)
{
    struct fleet_event *event;
    while ((event = link_next_event(link)) != NULL)
        free(event);
    for (struct link_request *request; (request = link->first_request) != NULL; free(request))
        link->first_request = request->next;
    fleet_jobs_finish(&link->vacant);
    pthread_cond_destroy(&link->published);
    pthread_cond_destroy(&link->requested);
    pthread_cond_destroy(&link->drained);
    pthread_cond_destroy(&link->reading);
    pthread_mutex_destroy(&link->mutex);
    pthread_cond_destroy(&link->clock_known);
    pthread_mutex_destroy(&link->clock_mutex);
    free(link);
}

static void link_on_closed(uv_handle_t *handle)
{
    link_free(handle->data);
}

/* At the start, without threads, there is nothing to go on with. */
static void link_start_threads(struct fleet_link *link)
{
    struct link_queue *queues[] = {&link->messages, &link->journals};
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
        if (pthread_create(&queues[i]->publisher, NULL, link_run_publisher, queues[i]) != 0)
            abort();
    if (pthread_create(&link->leaser, NULL, link_run_leases, link) != 0 ||
        pthread_create(&link->reader, NULL, link_run_past, link) != 0)
        abort();
}

int fleet_link_create(struct fleet_link **out, const struct fleet_link_options *options, char *why,
                      size_t capacity)
{
    struct fleet_link *link = calloc(1, sizeof(*link));
    if (link == NULL)
        return -ENOMEM;
    link->options = *options;
    link->options.nats.user = link;
    link->options.nats.on_control = link_on_control;
    link->options.nats.on_refused = link_on_refused;
    link->options.nats.on_clock_ask = link_on_clock_ask;
    link->options.nats.on_clock_answer = link_on_clock_answer;
    link_init_conditions(link);
    int code = getrandom(&link->run, sizeof(link->run), 0) == sizeof(link->run) ? 0 : -errno;
    code = code != 0 ? code : uv_async_init(options->loop, &link->async, link_on_async);
    if (code != 0) {
        snprintf(why, capacity, "--fleet: %s", holter_strerror(code));
        link_free(link);
        return code;
    }
    link->async.data = link;
    fleet_clock_init(&link->clock, options->nats.instance, clock_mono_ns(), clock_real_ns());
    code = fleet_nats_connect(&link->nats, &link->options.nats, why, capacity);
    if (code == 0) {
        link->options.nats.lease_ns = fleet_nats_lease_ns(link->nats);
        link_wait_for_clock(link);
        link_start_threads(link);
    }
    if (code != 0) {
        uv_close((uv_handle_t *)&link->async, link_on_closed);
        return code;
    }
    *out = link;
    return 0;
}

void fleet_link_stop(struct fleet_link *link)
{
    struct fleet_event *event;
    if (link == NULL || link->stopped)
        return;
    pthread_mutex_lock(&link->mutex);
    link->stopped = 1;
    link->stops_publishing = 1;
    link->stop_ns = clock_mono_ns() + STOP_NS;
    pthread_cond_broadcast(&link->published);
    pthread_cond_broadcast(&link->drained);
    pthread_mutex_unlock(&link->mutex);
    pthread_join(link->messages.publisher, NULL);
    pthread_join(link->journals.publisher, NULL);
    pthread_mutex_lock(&link->mutex);
    link->stops_leasing = 1;
    pthread_cond_broadcast(&link->requested);
    pthread_mutex_unlock(&link->mutex);
    pthread_join(link->leaser, NULL);
    pthread_mutex_lock(&link->mutex);
    link->stops_reading = 1;
    pthread_cond_broadcast(&link->reading);
    pthread_mutex_unlock(&link->mutex);
    pthread_join(link->reader, NULL);
    fleet_nats_close(link->nats);
    while ((event = link_next_event(link)) != NULL) {
        if (event->type == FLEET_STORED)
            link->options.on_event(link->options.user, event);
        free(event);
    }
}

void fleet_link_destroy(struct fleet_link *link)
{
    if (link == NULL)
        return;
    fleet_link_stop(link);
    uv_close((uv_handle_t *)&link->async, link_on_closed);
}
