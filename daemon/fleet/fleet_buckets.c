/* The buckets of a fleet: leases, which expire, and the jobs that there are. */
#include "daemon/fleet/fleet_nats_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static natsStatus bucket_open(struct fleet_nats *nats, enum fleet_bucket bucket, const char *kind,
                              kvConfig *config)
{
    char name[NATS_NAME_BYTES];
    snprintf(name, sizeof(name), "holter_%s_%s", nats->cluster, kind);
    natsStatus s = js_KeyValue(&nats->buckets[bucket], nats->reading, name);
    if (s == NATS_OK || nats->options.on_control == NULL)
        return s;
    config->Bucket = name;
    config->History = 1;
    config->StorageType = js_FileStorage;
    s = js_CreateKeyValue(&nats->buckets[bucket], nats->reading, config);
    return s == NATS_OK ? s : js_KeyValue(&nats->buckets[bucket], nats->reading, name);
}

natsStatus fleet_nats_open_buckets(struct fleet_nats *nats, int replicas)
{
    kvConfig leases, jobs;
    kvConfig_Init(&leases);
    kvConfig_Init(&jobs);
    leases.TTL = (int64_t)nats->options.lease_ns;
    leases.Replicas = jobs.Replicas = replicas;
    natsStatus s = bucket_open(nats, FLEET_LEASES, "leases", &leases);
    return s == NATS_OK ? bucket_open(nats, FLEET_JOBS, "jobs", &jobs) : s;
}

/* ---- values ---------------------------------------------------------------- */

static int bucket_read(struct fleet_nats *nats, enum fleet_bucket bucket, const char *key,
                       char out[NATS_VALUE_BYTES], uint64_t *revision)
{
    kvEntry *entry = NULL;
    natsStatus s = kvStore_Get(&entry, nats->buckets[bucket], key);
    out[0] = '\0';
    *revision = 0;
    if (s == NATS_OK) {
        const int length = kvEntry_ValueLen(entry);
        snprintf(out, NATS_VALUE_BYTES, "%.*s", length > 0 ? length : 0,
                 length > 0 ? (const char *)kvEntry_Value(entry) : "");
        *revision = kvEntry_Revision(entry);
    }
    kvEntry_Destroy(entry);
    return s == NATS_OK || s == NATS_NOT_FOUND ? 0 : -EAGAIN;
}

int fleet_nats_get(struct fleet_nats *nats, enum fleet_bucket bucket, const char *job,
                   char out[NATS_VALUE_BYTES])
{
    char key[NATS_JOB_BYTES];
    uint64_t revision;
    fleet_nats_key(job, key);
    return bucket_read(nats, bucket, key, out, &revision);
}

int fleet_nats_put(struct fleet_nats *nats, const char *job, const char *value)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    return kvStore_PutString(NULL, nats->buckets[FLEET_JOBS], key, value) == NATS_OK ? 0 : -EAGAIN;
}

void fleet_nats_forget(struct fleet_nats *nats, const char *job)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    kvStore_Delete(nats->buckets[FLEET_JOBS], key);
}

static int bucket_add_id(struct fleet_jobs *jobs, const char *key)
{
    char(*ids)[NATS_JOB_BYTES] = realloc(jobs->ids, (jobs->count + 1) * sizeof(*ids));
    if (ids == NULL)
        return -ENOMEM;
    jobs->ids = ids;
    snprintf(ids[jobs->count], sizeof(*ids), "%s", key);
    for (char *c = ids[jobs->count++]; *c != '\0'; c++)
        *c = *c == '=' ? '.' : *c;
    return 0;
}

int fleet_nats_list(struct fleet_nats *nats, enum fleet_bucket bucket, struct fleet_jobs *out)
{
    kvKeysList keys = {0};
    *out = (struct fleet_jobs){0};
    natsStatus s = kvStore_Keys(&keys, nats->buckets[bucket], NULL);
    int code = s == NATS_OK || s == NATS_NOT_FOUND ? 0 : -EAGAIN;
    for (int i = 0; code == 0 && i < keys.Count; i++)
        if (strlen(keys.Keys[i]) < NATS_JOB_BYTES)
            code = bucket_add_id(out, keys.Keys[i]);
    kvKeysList_Destroy(&keys);
    if (code != 0)
        fleet_jobs_finish(out);
    return code;
}

void fleet_jobs_finish(struct fleet_jobs *jobs)
{
    free(jobs->ids);
    *jobs = (struct fleet_jobs){0};
}

/* ---- leases ---------------------------------------------------------------- */

/* A call that was not answered may have been executed: then the value is ours. */
static int bucket_is_ours(struct fleet_nats *nats, const char *key, const char *value,
                          uint64_t *revision, int otherwise)
{
    char now[NATS_VALUE_BYTES];
    uint64_t found;
    if (bucket_read(nats, FLEET_LEASES, key, now, &found) != 0)
        return -EAGAIN;
    if (strcmp(now, value) != 0)
        return otherwise;
    *revision = found;
    return 0;
}

/* A lease that this daemon has already may be about to expire: it begins again. */
int fleet_nats_acquire(struct fleet_nats *nats, const char *job, const char *value,
                       uint64_t *revision)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    if (kvStore_CreateString(revision, nats->buckets[FLEET_LEASES], key, value) == NATS_OK)
        return 0;
    int code = bucket_is_ours(nats, key, value, revision, -EEXIST);
    return code == 0 ? fleet_nats_renew(nats, job, value, revision) : code;
}

int fleet_nats_renew(struct fleet_nats *nats, const char *job, const char *value,
                     uint64_t *revision)
{
    char key[NATS_JOB_BYTES];
    uint64_t next;
    fleet_nats_key(job, key);
    if (kvStore_UpdateString(&next, nats->buckets[FLEET_LEASES], key, value, *revision) ==
        NATS_OK) {
        *revision = next;
        return 0;
    }
    int code = bucket_is_ours(nats, key, value, revision, -ESTALE);
    return code == 0 ? -EAGAIN : code; /* ours, but of another revision: renew that next time */
}

void fleet_nats_release(struct fleet_nats *nats, const char *job)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    kvStore_Delete(nats->buckets[FLEET_LEASES], key);
}
