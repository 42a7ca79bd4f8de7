/* For clients: the daemon of a fleet that holds a job. */
#include "daemon/fleet/fleet_find.h"

#include "daemon/fleet/fleet_nats.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_BYTES 2048u
#define KEYS_VARIABLE "HOLTER_FLEET_KEYS"

/* An address cut into its parts. */
struct fleet_address {
    char text[ADDRESS_BYTES];
    const char *servers, *cluster, *job; /* in text; job is NULL when there is none */
};

static int fleet_address_parse(struct fleet_address *out, const char *text, char *why,
                               size_t capacity)
{
    if (snprintf(out->text, sizeof(out->text), "%s", text) >= (int)sizeof(out->text)) {
        snprintf(why, capacity, "%.80s...: too long", text);
        return -HOLTER_EUSAGE;
    }
    const char *path = fleet_address_path(out->text);
    char *rest = path == NULL ? NULL : out->text + (path - out->text);
    out->servers = out->text;
    if (rest != NULL)
        *rest++ = '\0';
    const char *cluster = strsep(&rest, "/");
    out->cluster = cluster == NULL || cluster[0] == '\0' ? FLEET_CLUSTER_DEFAULT : cluster;
    out->job = rest == NULL || rest[0] == '\0' ? NULL : rest;
    return fleet_nats_check(out->servers, out->cluster, why, capacity);
}

/* The value of a lease is an endpoint, which may have spaces in its path, and a number. */
static int fleet_find_job(struct fleet_nats *nats, const char *job, char *out, size_t capacity)
{
    char value[NATS_VALUE_BYTES];
    int code = fleet_nats_get(nats, FLEET_LEASES, job, value);
    const char *number = strrchr(value, ' ');
    const size_t length = number == NULL ? 0 : (size_t)(number - value);
    if (code != 0)
        return -HOLTER_EUNREACHABLE;
    if (length == 0 || length >= capacity)
        return -HOLTER_ENOJOB;
    snprintf(out, capacity, "%.*s", (int)length, value);
    return 0;
}

static void fleet_find_name_jobs(const struct fleet_jobs *jobs, char *why, size_t capacity)
{
    snprintf(why, capacity,
             jobs->count == 0 ? "no job is held by a daemon of the fleet"
                              : "several jobs; add /CLUSTER/JOB, which may be:");
    for (size_t i = 0; i < jobs->count; i++)
        text_append(why, capacity, " %s", jobs->ids[i]);
}

/* Leases of jobs that have ended are kept: they count only where no job runs. */
static void fleet_find_keep_running(struct fleet_nats *nats, struct fleet_jobs *held)
{
    struct fleet_jobs running;
    size_t kept = 0;
    if (held->count < 2 || fleet_nats_list(nats, FLEET_JOBS, &running) != 0)
        return;
    for (size_t i = 0; i < held->count; i++) {
        if (!fleet_jobs_contain(&running, held->ids[i]))
            continue;
        if (kept != i)
            memcpy(held->ids[kept], held->ids[i], sizeof(*held->ids));
        kept++;
    }
    held->count = kept > 0 ? kept : held->count;
    fleet_jobs_finish(&running);
}

static int fleet_find_any(struct fleet_nats *nats, char *out, size_t capacity, char *why,
                          size_t why_capacity)
{
    struct fleet_jobs jobs;
    int code = fleet_nats_list(nats, FLEET_LEASES, &jobs);
    if (code != 0)
        return code == -ENOMEM ? code : -HOLTER_EUNREACHABLE;
    fleet_find_keep_running(nats, &jobs);
    code = jobs.count == 1   ? fleet_find_job(nats, jobs.ids[0], out, capacity)
           : jobs.count == 0 ? -HOLTER_ENOJOB
                             : -EEXIST;
    if (jobs.count != 1)
        fleet_find_name_jobs(&jobs, why, why_capacity);
    fleet_jobs_finish(&jobs);
    return code;
}

int fleet_find(const char *address, char *out, size_t capacity, char *why, size_t why_capacity)
{
    struct fleet_address parts = {.job = NULL};
    struct fleet_nats *nats;
    int code = fleet_address_parse(&parts, address, why, why_capacity);
    const char *keys = getenv(KEYS_VARIABLE);
    const struct fleet_nats_options options = {.servers = parts.servers,
                                               .cluster = parts.cluster,
                                               .keys =
                                                   keys != NULL && keys[0] != '\0' ? keys : NULL};
    code = code != 0 ? code : fleet_nats_connect(&nats, &options, why, why_capacity);
    if (code != 0)
        return code;
    snprintf(why, why_capacity, "no daemon of the fleet holds job %.64s now",
             parts.job == NULL ? "" : parts.job);
    code = parts.job != NULL ? fleet_find_job(nats, parts.job, out, capacity)
                             : fleet_find_any(nats, out, capacity, why, why_capacity);
    if (code == -HOLTER_EUNREACHABLE)
        snprintf(why, why_capacity, "%.200s: no answer in time", parts.servers);
    fleet_nats_close(nats);
    return code;
}
