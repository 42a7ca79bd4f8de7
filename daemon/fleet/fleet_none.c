/* In place of the other sources of this room where libnats was not found or is disabled. */
#include "daemon/fleet/fleet.h"

#include "holter/error.h"

#include <stdio.h>

int fleet_check(const char *servers, const char *cluster, char *why, size_t capacity)
{
    (void)cluster;
    snprintf(why, capacity, "--fleet %.200s: this holterd was built without fleets (libnats)",
             servers);
    return -HOLTER_EUSAGE;
}

int fleet_create(struct fleet **out, const struct fleet_options *options, char *why,
                 size_t capacity)
{
    *out = NULL;
    return fleet_check(options->servers, options->cluster, why, capacity);
}

struct jobs_publisher fleet_publisher(struct fleet *fleet)
{
    (void)fleet;
    return (struct jobs_publisher){0};
}

void fleet_start(struct fleet *fleet, struct jobs *jobs, struct front *front)
{
    (void)fleet;
    (void)jobs;
    (void)front;
}

void fleet_stop(struct fleet *fleet)
{
    (void)fleet;
}

void fleet_destroy(struct fleet *fleet)
{
    (void)fleet;
}

int fleet_ingest(struct fleet *fleet, uint64_t instance, const struct wire_message *message,
                 zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault)
{
    (void)fleet;
    (void)instance;
    (void)message;
    (void)bytes;
    (void)now_ns;
    (void)fault;
    return -HOLTER_EDENIED;
}

void fleet_count(const struct fleet *fleet, struct fleet_counts *out)
{
    (void)fleet;
    *out = (struct fleet_counts){0};
}

uint64_t fleet_stored_seq(const struct fleet *fleet, uint64_t instance)
{
    (void)fleet;
    (void)instance;
    return 0;
}

void fleet_agent_left(struct fleet *fleet, uint64_t instance, const struct wire_bye *bye,
                      uint64_t now_ns)
{
    (void)fleet;
    (void)instance;
    (void)bye;
    (void)now_ns;
}

void fleet_send_agents(struct fleet *fleet, const uint64_t *instances, size_t count,
                       enum wire_type type, const void *message)
{
    (void)fleet;
    (void)instances;
    (void)count;
    (void)type;
    (void)message;
}

void fleet_check_leases(struct fleet *fleet)
{
    (void)fleet;
}

void fleet_tick(struct fleet *fleet)
{
    (void)fleet;
}

size_t fleet_list_jobs(const struct fleet *fleet, struct wire_job_row *rows, size_t count,
                       size_t capacity)
{
    (void)fleet;
    (void)rows;
    (void)capacity;
    return count;
}

int fleet_export(const struct fleet_export_options *options, char *why, size_t capacity)
{
    return fleet_check(options->servers, options->cluster, why, capacity);
}
