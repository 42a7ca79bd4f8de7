/* The buckets of a fleet: leases, which expire, and the jobs that there are. */
#include "daemon/analysis/tables/array.h"
#include "daemon/fleet/fleet_nats_state.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "fleet-servers"
#define NATS_REFUSALS 3u /* in a row, which are logged */

static const char *const bucket_kinds[] = {[FLEET_LEASES] = "leases", [FLEET_JOBS] = "jobs"};

/* Names of a bucket and of the stream that stores it, and the subject of a key in it. */
struct bucket_stream {
    char bucket[NATS_NAME_BYTES], name[NATS_NAME_BYTES + 4], subject[2 * NATS_NAME_BYTES];
};

static struct bucket_stream bucket_stream_of(const struct fleet_nats *nats,
                                             enum fleet_bucket bucket, const char *key)
{
    struct bucket_stream stream;
    snprintf(stream.bucket, sizeof(stream.bucket), "holter_%s_%s", nats->cluster,
             bucket_kinds[bucket]);
    snprintf(stream.name, sizeof(stream.name), "KV_%s", stream.bucket);
    snprintf(stream.subject, sizeof(stream.subject), "$KV.%s.%s", stream.bucket, key);
    return stream;
}

/* As js_CreateKeyValue() does, but single messages may be deleted, see bucket_delete(). */
static natsStatus bucket_create(struct fleet_nats *nats, const struct bucket_stream *stream,
                                int64_t age_ns, int replicas)
{
    const char *subjects[] = {stream->subject};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = stream->name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.MaxMsgsPerSubject = 1;
    config.MaxAge = config.Duplicates = age_ns;
    config.Discard = js_DiscardNew;
    config.Storage = js_FileStorage;
    config.Replicas = replicas;
    config.AllowDirect = true;
    return js_AddStream(NULL, nats->reading, &config, NULL, NULL);
}

static natsStatus bucket_open(struct fleet_nats *nats, enum fleet_bucket bucket, int64_t age_ns,
                              int replicas)
{
    const struct bucket_stream stream = bucket_stream_of(nats, bucket, ">");
    natsStatus s = js_KeyValue(&nats->buckets[bucket], nats->reading, stream.bucket);
    if (s == NATS_OK || nats->options.on_control == NULL)
        return s;
    bucket_create(nats, &stream, age_ns, replicas); /* unless another daemon does so meanwhile */
    return js_KeyValue(&nats->buckets[bucket], nats->reading, stream.bucket);
}

void fleet_nats_adopt_lease(struct fleet_nats *nats)
{
    const struct bucket_stream stream = bucket_stream_of(nats, FLEET_LEASES, "");
    const double given_s = (double)nats->options.lease_ns / 1e9;
    jsStreamInfo *info = NULL;
    if (js_GetStreamInfo(&info, nats->js, stream.name, NULL, NULL) != NATS_OK)
        return; /* it is made with the lease that was given */
    const int64_t age_ns = info->Config == NULL ? 0 : info->Config->MaxAge;
    jsStreamInfo_Destroy(info);
    if (age_ns <= 0 || (uint64_t)age_ns == nats->options.lease_ns)
        return;
    nats->options.lease_ns = (uint64_t)age_ns;
    log_warn("leases of this fleet last %g s, not %g s: to change that, edit the stream %s, and "
             "start its daemons again",
             (double)age_ns / 1e9, given_s, stream.name);
}

natsStatus fleet_nats_open_buckets(struct fleet_nats *nats, int replicas)
{
    natsStatus s = bucket_open(nats, FLEET_LEASES, (int64_t)nats->options.lease_ns, replicas);
    return s == NATS_OK ? bucket_open(nats, FLEET_JOBS, 0, replicas) : s;
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

/* Limits of a bucket would keep jobs from being held, without a word. A value that could not be
 * made may have been there, and have expired since: that is rare. */
static void bucket_note_refusal(struct fleet_nats *nats, enum fleet_bucket bucket, int refused)
{
    nats->refusals[bucket] = refused ? nats->refusals[bucket] + 1 : 0;
    if (nats->refusals[bucket] == NATS_REFUSALS)
        log_warn("%.200s: the bucket holter_%s_%s takes no further job: see its limits",
                 nats->options.servers, nats->cluster, bucket_kinds[bucket]);
}

int fleet_nats_put(struct fleet_nats *nats, const char *job, const char *value)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    const natsStatus s = kvStore_PutString(NULL, nats->buckets[FLEET_JOBS], key, value);
    bucket_note_refusal(nats, FLEET_JOBS, s == NATS_ERR);
    return s == NATS_OK ? 0 : -EAGAIN;
}

/* kvStore_Delete() would leave a mark in its place, which is listed as a value: one for each job
 * that ever ran. A server of version 2.9 cannot purge one key, see fleet_nats_delete(). */
static natsStatus bucket_delete(struct fleet_nats *nats, enum fleet_bucket bucket,
                                uint64_t revision)
{
    const struct bucket_stream stream = bucket_stream_of(nats, bucket, "");
    return js_DeleteMsg(nats->reading, stream.name, revision, NULL, NULL);
}

void fleet_nats_forget(struct fleet_nats *nats, const char *job)
{
    char key[NATS_JOB_BYTES], value[NATS_VALUE_BYTES];
    uint64_t revision;
    fleet_nats_key(job, key);
    if (bucket_read(nats, FLEET_JOBS, key, value, &revision) == 0 && revision > 0 &&
        bucket_delete(nats, FLEET_JOBS, revision) != NATS_OK)
        kvStore_Delete(nats->buckets[FLEET_JOBS], key); /* a bucket of other tools denies it */
}

static int bucket_add_id(struct fleet_jobs *jobs, const char *key)
{
    if (ARRAY_RESIZE(jobs->ids, jobs->count + 1) != 0)
        return -ENOMEM;
    snprintf(jobs->ids[jobs->count], sizeof(*jobs->ids), "%s", key);
    for (char *c = jobs->ids[jobs->count++]; *c != '\0'; c++)
        *c = *c == '=' ? '.' : *c;
    return 0;
}

static void bucket_note_missing(struct fleet_nats *nats, enum fleet_bucket bucket, int missing)
{
    if (missing && !nats->is_missing[bucket] && nats->options.on_control != NULL)
        log_warn("%.200s: the bucket holter_%s_%s was deleted: no job is taken or kept until all "
                 "daemons are started again",
                 nats->options.servers, nats->cluster, bucket_kinds[bucket]);
    nats->is_missing[bucket] = missing;
}

/* One request, which the servers answer from memory: kvStore_Keys() makes a consumer each time. */
int fleet_nats_list(struct fleet_nats *nats, enum fleet_bucket bucket, struct fleet_jobs *out)
{
    const struct bucket_stream stream = bucket_stream_of(nats, bucket, "*");
    const size_t prefix = strlen(stream.subject) - 1;
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = stream.subject;
    *out = (struct fleet_jobs){0};
    natsStatus s = js_GetStreamInfo(&info, nats->reading, stream.name, &options, NULL);
    int code = s == NATS_OK ? 0 : -EAGAIN;
    bucket_note_missing(nats, bucket, s == NATS_NOT_FOUND);
    const jsStreamStateSubjects *subjects = code == 0 ? info->State.Subjects : NULL;
    for (int i = 0; code == 0 && subjects != NULL && i < subjects->Count; i++) {
        const char *subject = subjects->List[i].Subject;
        const size_t length = strlen(subject);
        if (length > prefix && length - prefix < NATS_JOB_BYTES)
            code = bucket_add_id(out, subject + prefix);
    }
    jsStreamInfo_Destroy(info);
    if (code != 0)
        fleet_jobs_finish(out);
    return code;
}

int fleet_jobs_contain(const struct fleet_jobs *jobs, const char *id)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (strcmp(jobs->ids[i], id) == 0)
            return 1;
    return 0;
}

void fleet_jobs_finish(struct fleet_jobs *jobs)
{
    free(jobs->ids);
    *jobs = (struct fleet_jobs){0};
}

/* ---- leases ---------------------------------------------------------------- */

/* A call that was not answered may have been executed: then the value is ours.
 * @param otherwise  returned for another value; where that is -EEXIST, -EAGAIN for none */
static int bucket_is_ours(struct fleet_nats *nats, const char *key, const char *value,
                          uint64_t *revision, int otherwise)
{
    char now[NATS_VALUE_BYTES];
    uint64_t found;
    if (bucket_read(nats, FLEET_LEASES, key, now, &found) != 0)
        return -EAGAIN;
    if (strcmp(now, value) != 0)
        return found == 0 && otherwise == -EEXIST ? -EAGAIN : otherwise;
    *revision = found;
    return 0;
}

/* A lease that this daemon has already may be about to expire: it begins again. */
int fleet_nats_acquire(struct fleet_nats *nats, const char *job, const char *value,
                       uint64_t *revision)
{
    char key[NATS_JOB_BYTES];
    fleet_nats_key(job, key);
    const natsStatus s = kvStore_CreateString(revision, nats->buckets[FLEET_LEASES], key, value);
    int code = s == NATS_OK ? 0 : bucket_is_ours(nats, key, value, revision, -EEXIST);
    bucket_note_refusal(nats, FLEET_LEASES, s == NATS_ERR && code == -EAGAIN);
    if (s == NATS_OK)
        return 0;
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

void fleet_nats_release(struct fleet_nats *nats, uint64_t revision)
{
    if (fleet_nats_is_connected(nats)) /* else it expires */
        bucket_delete(nats, FLEET_LEASES, revision);
}
