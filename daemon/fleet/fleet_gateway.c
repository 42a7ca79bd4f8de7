/* The gateway: what agents send goes into the stream, and is acknowledged when it is stored. */
#include "daemon/fleet/fleet_state.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_accept.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet"
#define FLUSH_BYTES (256u << 10) /* published at once, whatever waits */
#define NOTE_NS UINT64_C(10000000000)
#define SILENCE_NS UINT64_C(3600000000000)
#define BACKLOG_BYTES (256u << 20) /* beyond it nothing is taken from agents */

void gateway_init(struct gateway *gateway)
{
    *gateway = (struct gateway){.last = NULL};
    gateway->last = &gateway->first;
}

static void gateway_job_destroy(struct gateway_job *job)
{
    fleet_envelope_finish(&job->envelope);
    commit_acks_clear(&job->agents);
    commit_acks_clear(&job->left);
    free(job);
}

void gateway_finish(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->job_count; i++)
        gateway_job_destroy(gateway->jobs[i]);
    free(gateway->jobs);
    for (struct gateway_acks *acks; (acks = gateway->first) != NULL; free(acks)) {
        gateway->first = acks->next;
        commit_acks_clear(&acks->seqs);
    }
    commit_acks_clear(&gateway->received);
    commit_acks_clear(&gateway->stored);
}

/* ---- receiving --------------------------------------------------------------- */

/* Forget jobs that are long over. */
static void gateway_sweep(struct gateway *gateway, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < gateway->job_count; i++) {
        struct gateway_job *job = gateway->jobs[i];
        if (job->envelope.length > 0 || now_ns < job->received_ns + SILENCE_NS)
            gateway->jobs[kept++] = job;
        else
            gateway_job_destroy(job);
    }
    gateway->job_count = kept;
}

static struct gateway_job *gateway_add_job(struct gateway *gateway, const char *id, uint64_t now_ns)
{
    gateway_sweep(gateway, now_ns);
    struct gateway_job *job = calloc(1, sizeof(*job));
    if (job == NULL || ARRAY_RESIZE(gateway->jobs, gateway->job_count + 1) != 0) {
        free(job);
        return NULL;
    }
    snprintf(job->id, sizeof(job->id), "%s", id);
    gateway->jobs[gateway->job_count++] = job;
    return job;
}

/* The fleet is asked from time to time to hold the job: the first request may have been lost,
 * and a job that had ended may begin again. */
static struct gateway_job *gateway_find_job(struct fleet *fleet, const char *id, uint64_t now_ns)
{
    struct gateway *gateway = &fleet->gateway;
    size_t at = 0;
    while (at < gateway->job_count && strcmp(gateway->jobs[at]->id, id) != 0)
        at++;
    struct gateway_job *job =
        at < gateway->job_count ? gateway->jobs[at] : gateway_add_job(gateway, id, now_ns);
    if (job == NULL)
        return NULL;
    job->received_ns = now_ns;
    if (now_ns - job->noted_ns >= NOTE_NS) {
        job->noted_ns = now_ns;
        fleet_link_note(fleet->link, id);
    }
    return job;
}

static void gateway_describe_too_long(const struct fleet *fleet, size_t length,
                                      struct job_fault *fault)
{
    snprintf(fault->text, sizeof(fault->text),
             "a message of %zu bytes: the fleet's servers accept %zu, see max_payload and "
             "max_msg_size",
             length, fleet_link_maximum(fleet->link));
}

static int gateway_check(struct fleet *fleet, const char *id, size_t length,
                         struct job_fault *fault)
{
    int code = jobs_check_id(id, fault);
    if (code != 0)
        return code;
    if (FLEET_HEAD_BYTES + FLEET_ENTRY_BYTES + length > fleet_link_maximum(fleet->link)) {
        gateway_describe_too_long(fleet, length, fault);
        return -HOLTER_ERANGE;
    }
    /* The agent keeps what it has, and sends it again when it has connected again. */
    if (fleet->gateway.bytes + fleet_link_backlog(fleet->link) + length > BACKLOG_BYTES) {
        snprintf(fault->text, sizeof(fault->text), "the fleet's servers do not keep up");
        return -HOLTER_ELIMIT;
    }
    return 0;
}

/* Add an entry to the envelope of the job; one that is full is published first. */
static int gateway_add(struct fleet *fleet, struct gateway_job *job,
                       const struct fleet_entry *entry)
{
    if (job->envelope.length + FLEET_HEAD_BYTES + FLEET_ENTRY_BYTES + entry->length >
        fleet_link_maximum(fleet->link))
        gateway_flush(fleet, 1);
    int code = fleet_envelope_add(&job->envelope, entry);
    if (code != 0)
        return code;
    if (fleet->gateway.bytes == 0)
        fleet->gateway.since_ns = entry->time_ns;
    fleet->gateway.bytes += entry->length;
    return 0;
}

int fleet_ingest(struct fleet *fleet, uint64_t instance, const struct wire_message *message,
                 zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault)
{
    const char *id = job_message_job(message);
    const struct fleet_entry entry = {instance, now_ns, zmq_msg_data(bytes), zmq_msg_size(bytes)};
    int code = gateway_check(fleet, id, entry.length, fault);
    if (code != 0)
        return code;
    snprintf(fault->text, sizeof(fault->text), "no memory");
    struct gateway_job *job = gateway_find_job(fleet, id, now_ns);
    if (job == NULL)
        return -ENOMEM;
    code = gateway_add(fleet, job, &entry);
    if (code != 0)
        return code;
    commit_acks_add(&job->agents, instance, job_message_seq(message));
    commit_acks_add(&fleet->gateway.received, instance, job_message_seq(message));
    fleet->gateway.messages++;
    if (fleet->gateway.bytes > FLUSH_BYTES)
        gateway_flush(fleet, 1);
    return 0;
}

uint64_t fleet_stored_seq(const struct fleet *fleet, uint64_t instance)
{
    return commit_acks_find(&fleet->gateway.stored, instance);
}

/* The worker learns of it in the order of the messages.
 *  @param seq  number of the agent's last message of the job */
static void gateway_add_bye(struct fleet *fleet, struct gateway_job *job, uint64_t instance,
                            uint64_t seq, uint64_t now_ns)
{
    const struct wire_bye bye = {.seq = seq, .job = job->id};
    if (wire_encode(&fleet->buffer, WIRE_TYPE_BYE, &bye) != 0)
        return;
    const struct fleet_entry entry = {instance, now_ns, fleet->buffer.bytes, fleet->buffer.length};
    gateway_add(fleet, job, &entry);
}

/* @return number of the agent's newest message of the job; 0: there is none, or the agent has left
 * the job since */
static uint64_t gateway_job_last(const struct gateway_job *job, uint64_t instance)
{
    const uint64_t last = commit_acks_find(&job->agents, instance);
    return last > commit_acks_find(&job->left, instance) ? last : 0;
}

/* The messages of jobs that the agent has left do not count. */
static void gateway_on_bye_to_all(struct fleet *fleet, uint64_t instance, uint64_t seq,
                                  uint64_t now_ns)
{
    const struct gateway *gateway = &fleet->gateway;
    uint64_t last = commit_acks_find(&gateway->stored, instance), expecting = 0, number = 0;
    for (size_t i = 0; i < gateway->job_count; i++) {
        const uint64_t of_job = commit_acks_find(&gateway->jobs[i]->agents, instance);
        last = of_job > last ? of_job : last;
        expecting += gateway_job_last(gateway->jobs[i], instance) != 0;
    }
    const uint64_t missing = seq > last ? seq - last : 0;
    for (size_t i = 0; i < gateway->job_count; i++) {
        const uint64_t of_job = gateway_job_last(gateway->jobs[i], instance);
        if (of_job != 0)
            gateway_add_bye(fleet, gateway->jobs[i], instance,
                            of_job + jobs_share_missing(missing, expecting, number++), now_ns);
    }
}

/* An agent that has come from another gateway and has sent nothing since is known here by the job
 * that it names only. */
void fleet_agent_left(struct fleet *fleet, uint64_t instance, const struct wire_bye *bye,
                      uint64_t now_ns)
{
    struct job_fault fault;
    if (bye->job == NULL || bye->job[0] == '\0') {
        gateway_on_bye_to_all(fleet, instance, bye->seq, now_ns);
        return;
    }
    struct gateway_job *job =
        jobs_check_id(bye->job, &fault) == 0 ? gateway_find_job(fleet, bye->job, now_ns) : NULL;
    if (job == NULL)
        return;
    commit_acks_add(&job->left, instance, bye->seq);
    gateway_add_bye(fleet, job, instance, bye->seq, now_ns);
}

/* ---- publishing ---------------------------------------------------------------- */

/* Acknowledgements are due when the last envelope of the batch is stored: envelopes are stored in
 * their order, and an agent's messages may be in several. */
static void gateway_expect(struct fleet *fleet, uint64_t token)
{
    struct gateway *gateway = &fleet->gateway;
    struct gateway_acks *acks = calloc(1, sizeof(*acks));
    if (acks == NULL)
        return; /* they go with those of a later batch */
    acks->token = token;
    acks->messages = gateway->messages;
    gateway->messages = 0;
    commit_acks_merge(&acks->seqs, &gateway->received);
    *gateway->last = acks;
    gateway->last = &acks->next;
}

/* A message of the stream takes each of the daemons and servers that handle it longer than the
 * agents' messages in it do, which are therefore gathered for a part of the grace of windows. What
 * comes while a batch is under way is the next one. */
static int gateway_is_due(const struct fleet *fleet)
{
    const uint64_t now_ns = timeline_now(fleet->options.timeline);
    return now_ns >= fleet->gateway.since_ns + fleet->options.gather_ns &&
           fleet_link_backlog(fleet->link) == 0;
}

void gateway_flush(struct fleet *fleet, int now)
{
    struct gateway *gateway = &fleet->gateway;
    size_t last = gateway->job_count;
    if (fleet->link == NULL || gateway->bytes == 0 || (!now && !gateway_is_due(fleet)))
        return;
    while (last > 0 && gateway->jobs[last - 1]->envelope.length == 0)
        last--;
    if (last == 0)
        return;
    const uint64_t token = ++fleet->tokens;
    gateway->bytes = 0;
    for (size_t i = 0; i < last; i++) {
        struct fleet_envelope *envelope = &gateway->jobs[i]->envelope;
        if (envelope->length == 0)
            continue;
        if (fleet_link_publish(fleet->link, FLEET_IN, gateway->jobs[i]->id, envelope->bytes,
                               envelope->length, i + 1 == last ? token : 0) != 0) {
            gateway->bytes += envelope->length;
            return; /* without memory the rest goes with the next batch, unacknowledged till then */
        }
        *envelope = (struct fleet_envelope){0};
    }
    gateway_expect(fleet, token);
}

void gateway_on_stored(struct fleet *fleet, uint64_t token)
{
    struct gateway *gateway = &fleet->gateway;
    for (struct gateway_acks *acks; (acks = gateway->first) != NULL && acks->token <= token;) {
        gateway->first = acks->next;
        if (gateway->first == NULL)
            gateway->last = &gateway->first;
        for (uint32_t i = 0; i < acks->seqs.agents.count; i++) {
            const uint64_t instance = acks->seqs.agents.keys[i].hi;
            commit_acks_keep(&gateway->stored, instance, acks->seqs.seqs[i]);
            if (fleet->front != NULL)
                front_send_ack(fleet->front, instance, acks->seqs.seqs[i]);
        }
        fleet->counts.stored += acks->messages;
        commit_acks_clear(&acks->seqs);
        free(acks);
    }
}

void gateway_on_too_long(struct fleet *fleet, const struct fleet_event *event)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct wire_message message;
    struct job_fault fault;
    if (fleet_reader_init(&reader, event->bytes, event->length) != 0 ||
        fleet_reader_next(&reader, &entry) != 1 ||
        wire_decode(&message, &fleet->arena, entry.bytes, entry.length, NULL) != 0 ||
        job_message_seq(&message) == 0)
        return;
    gateway_describe_too_long(fleet, entry.length, &fault);
    front_refuse_agent(fleet->front, entry.instance, job_message_seq(&message), -HOLTER_ERANGE,
                       fault.text);
}

/* ---- to agents ------------------------------------------------------------------- */

void fleet_send_agents(struct fleet *fleet, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message)
{
    struct fleet_envelope envelope = {0};
    if (fleet->link == NULL || wire_encode(&fleet->buffer, type, message) != 0)
        return;
    const size_t length = fleet->buffer.length;
    for (size_t i = 0; i < count; i++) {
        const struct fleet_entry entry = {instances[i], 0, fleet->buffer.bytes, length};
        if (envelope.length > 0 && envelope.length + FLEET_ENTRY_BYTES + length > FLUSH_BYTES) {
            fleet_link_send_all(fleet->link, envelope.bytes, envelope.length);
            envelope.length = 0;
        }
        if (fleet_envelope_add(&envelope, &entry) != 0)
            break; /* without memory the agents keep what they have */
    }
    if (envelope.length > 0)
        fleet_link_send_all(fleet->link, envelope.bytes, envelope.length);
    fleet_envelope_finish(&envelope);
}

void gateway_on_control(struct fleet *fleet, const uint8_t *bytes, size_t length)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct wire_message message;
    int code = fleet_reader_init(&reader, bytes, length);
    while (code == 0 && (code = fleet_reader_next(&reader, &entry)) == 1) {
        code = 0;
        if (entry.length == 0) {
            fleet_link_note_load(fleet->link, entry.instance, entry.time_ns);
            continue;
        }
        if (entry.instance == fleet->options.instance)
            continue; /* the list of this daemon's own jobs */
        code = wire_decode(&message, &fleet->arena, entry.bytes, entry.length, NULL);
        if (code != 0)
            break;
        if (message.type == WIRE_TYPE_CRITERIA)
            front_send_agents(fleet->front, &entry.instance, 1, message.type, &message.criteria);
        else if (message.type == WIRE_TYPE_CAPTURE_ASK)
            front_send_agents(fleet->front, &entry.instance, 1, message.type, &message.capture_ask);
        else if (message.type == WIRE_TYPE_STATUS)
            roster_note(fleet, &entry);
        else
            fleet_reject(fleet, "-", "agents are not sent messages of that type");
    }
    if (code != 0)
        fleet_reject(fleet, "-", holter_strerror(code));
}
