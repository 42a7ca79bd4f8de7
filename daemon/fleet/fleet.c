/* A daemon of a fleet: joins gateway and worker to the link, the jobs and the front. */
#include "daemon/fleet/fleet_state.h"

#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_TOPIC "fleet"

int fleet_check(const char *servers, const char *cluster, char *why, size_t capacity)
{
    return fleet_nats_check(servers, cluster == NULL ? FLEET_CLUSTER_DEFAULT : cluster, why,
                            capacity);
}

void fleet_reject(struct fleet *fleet, const char *job, const char *why)
{
    fleet->counts.rejected++;
    log_warn("job %s: rejected a message of the servers: %s", job, why);
}

void fleet_count(const struct fleet *fleet, struct fleet_counts *out)
{
    *out = fleet->counts;
    out->held = fleet->held_count;
    for (size_t i = 0; i < fleet->held_count; i++)
        out->resuming += fleet->held[i]->resuming != 0;
    out->clock_error_ns = fleet->options.timeline->error_ns;
    out->unstored_bytes = fleet->gateway.bytes + fleet_link_backlog(fleet->link);
}

/* ---- events ------------------------------------------------------------------- */

static void fleet_on_event(void *user, const struct fleet_event *event)
{
    struct fleet *fleet = user;
    if (event->type == FLEET_STORED && event->job[0] == '\0')
        gateway_on_stored(fleet, event->token);
    if (fleet->jobs == NULL)
        return;
    switch (event->type) {
    case FLEET_STORED:
        worker_on_stored(fleet, event);
        break;
    case FLEET_JOURNAL:
        worker_on_journal(fleet, event);
        break;
    case FLEET_SAVED:
        worker_on_saved(fleet, event);
        break;
    case FLEET_ACQUIRED:
        worker_on_acquired(fleet, event);
        break;
    case FLEET_MESSAGE:
        worker_on_message(fleet, event);
        break;
    case FLEET_REGAINED:
        worker_on_regained(fleet, event);
        break;
    case FLEET_TOO_LONG:
        gateway_on_too_long(fleet, event);
        break;
    case FLEET_LOST:
        worker_on_lost(fleet, event->job);
        break;
    case FLEET_CONTROL:
        gateway_on_control(fleet, event->bytes, event->length);
        break;
    case FLEET_REFUSED:
        fleet->options.on_refused(fleet->options.user);
        break;
    }
}

static void fleet_on_turn(void *user, int empty)
{
    struct fleet *fleet = user;
    if (fleet->jobs == NULL)
        return;
    const uint64_t now = timeline_now(fleet->options.timeline);
    worker_on_turn(fleet, empty);
    jobs_advance(fleet->jobs, front_watermark(fleet->front, now), now);
    fleet_tick(fleet);
}

void fleet_tick(struct fleet *fleet)
{
    struct timeline line;
    fleet_link_read_clock(fleet->link, &line);
    timeline_follow(fleet->options.timeline, &line);
    worker_tick(fleet);
    gateway_flush(fleet, 0);
    if (fleet->jobs != NULL)
        roster_announce(fleet);
}

/* ---- what jobs publish ------------------------------------------------------------ */

static int fleet_wants(void *user, const char *job, enum wire_type type)
{
    const struct fleet *fleet = user;
    const struct jobs_publisher *publisher = &fleet->options.publisher;
    return worker_wants(fleet, job, type) || publisher->wants(publisher->user, job, type);
}

static void fleet_publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct fleet *fleet = user;
    const struct jobs_publisher *publisher = &fleet->options.publisher;
    worker_on_publish(fleet, job, type, message);
    publisher->publish(publisher->user, job, type, message);
}

static void fleet_forget(void *user, const char *job)
{
    struct fleet *fleet = user;
    const struct jobs_publisher *publisher = &fleet->options.publisher;
    worker_on_forgotten(fleet, job);
    publisher->forget(publisher->user, job);
}

struct jobs_publisher fleet_publisher(struct fleet *fleet)
{
    return (struct jobs_publisher){fleet, fleet_wants, fleet_publish, fleet_forget};
}

/* ---- life --------------------------------------------------------------------------- */

int fleet_create(struct fleet **out, const struct fleet_options *options, char *why,
                 size_t capacity)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    if (fleet == NULL)
        return -ENOMEM;
    fleet->options = *options;
    gateway_init(&fleet->gateway);
    snprintf(fleet->endpoint, sizeof(fleet->endpoint), "%s", options->endpoint);
    snprintf(fleet->value, sizeof(fleet->value), "%s %016" PRIx64, options->endpoint,
             options->instance);
    const struct fleet_link_options link = {
        .loop = options->loop,
        .nats = {.servers = options->servers,
                 .cluster = options->cluster == NULL ? FLEET_CLUSTER_DEFAULT : options->cluster,
                 .keys = options->keys,
                 .lease_ns = options->lease_ns,
                 .instance = options->instance},
        .value = fleet->value,
        .user = fleet,
        .on_event = fleet_on_event,
        .on_turn = fleet_on_turn,
    };
    int code = fleet_link_create(&fleet->link, &link, why, capacity);
    if (code != 0) {
        free(fleet);
        return code;
    }
    fleet_link_read_clock(fleet->link, options->timeline);
    if (fleet_link_maximum(fleet->link) < WIRE_MESSAGE_BYTES)
        log_warn("the fleet's servers accept messages of %zu bytes: longer ones of agents are "
                 "refused, and lost; set max_payload to 32MB, and no max_msg_size of the stream",
                 fleet_link_maximum(fleet->link));
    *out = fleet;
    return 0;
}

void fleet_start(struct fleet *fleet, struct jobs *jobs, struct front *front)
{
    fleet->jobs = jobs;
    fleet->front = front;
}

void fleet_stop(struct fleet *fleet)
{
    if (fleet == NULL || fleet->jobs == NULL)
        return;
    worker_tick(fleet);
    gateway_flush(fleet, 1);
    fleet->jobs = NULL;
    fleet_link_stop(fleet->link);
    fleet->front = NULL;
}

void fleet_destroy(struct fleet *fleet)
{
    if (fleet == NULL)
        return;
    fleet_link_destroy(fleet->link);
    gateway_finish(&fleet->gateway);
    worker_finish(fleet);
    roster_finish(fleet);
    wire_arena_finish(&fleet->arena);
    wire_buffer_finish(&fleet->buffer);
    free(fleet);
}
