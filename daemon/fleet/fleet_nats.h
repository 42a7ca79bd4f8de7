/* A thin layer over libnats: one connection, one stream, two buckets, acknowledged publishing,
 * reading in order, leases. All functions wait for the servers' answer, at most NATS_WAIT_MS; those
 * that read wait for a part of a lease. They may be called from several threads; only the callback
 * of a subscription runs in a thread of libnats.
 *
 * Names: stream holter_CLUSTER with the subjects holter.CLUSTER.*.in, .out and .state; buckets
 * holter_CLUSTER_leases, whose keys expire, and holter_CLUSTER_jobs. A job's id is a token of
 * subjects and a key, in which '=' stands for '.'. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_NATS_H
#define HOLTER_DAEMON_FLEET_FLEET_NATS_H

#include <stddef.h>
#include <stdint.h>

#define FLEET_CLUSTER_DEFAULT "default"
#define NATS_WAIT_MS 2000
#define NATS_JOB_BYTES 65u    /**< a job's id with its end */
#define NATS_VALUE_BYTES 512u /**< a value of a bucket with its end */
#define NATS_SERVERS_MAXIMUM 16u
#define NATS_REPLICAS 3 /**< of streams, when so many servers or more are given */

struct fleet_nats;
struct fleet_subscription;

enum fleet_subject { FLEET_IN, FLEET_OUT, FLEET_STATE };

struct fleet_nats_options {
    const char *servers; /**< "nats://HOST:PORT,HOST:PORT,...", borrowed */
    const char *cluster; /**< letters, digits, '-' and '_'; borrowed */
    /** Directory with what the servers ask for, each file optional: user.creds, or nkey.seed with
     * nkey.pub, or password; ca.pem; cert.pem with key.pem. NULL: nothing. */
    const char *keys;
    uint64_t lease_ns; /**< how long a lease lasts that is not renewed */
    void *user;
    /** A message to all daemons, see fleet_nats_send_all(); in a thread of libnats. NULL: nothing
     * is received or added, for clients. */
    void (*on_control)(void *user, const void *bytes, size_t length);
    uint64_t instance; /**< of this daemon */
    /** A question about the fleet's clock, and an answer to one, see fleet_clock.h; each in a
     * thread of libnats that waits for nothing else. @param reply  for fleet_nats_answer_clock() */
    void (*on_clock_ask)(void *user, const void *bytes, size_t length, const char *reply);
    void (*on_clock_answer)(void *user, const void *bytes, size_t length);
    /** The servers refuse these keys, or what was sent, for good: nothing more is stored or
     * received; in a thread of libnats. Not called where on_control is NULL. */
    void (*on_refused)(void *user);
};

/** Check the list of servers, and the name of the cluster. @return 0 or -HOLTER_EUSAGE */
int fleet_nats_check(const char *servers, const char *cluster, char *why, size_t capacity);

/** Connect; add the stream and the buckets where they are missing. @return 0 or a negative error */
int fleet_nats_connect(struct fleet_nats **out, const struct fleet_nats_options *options, char *why,
                       size_t capacity);
/** NULL is fine. Subscriptions are to be closed before. */
void fleet_nats_close(struct fleet_nats *nats);

/** How long a lease of the fleet lasts, which may not be what the options say. */
uint64_t fleet_nats_lease_ns(const struct fleet_nats *nats);

/** Longest message that the servers accept, and that the stream did when it was last asked about,
 * bytes. */
size_t fleet_nats_maximum(const struct fleet_nats *nats);

/** One message to a stream. */
struct fleet_publication {
    enum fleet_subject subject;
    const char *job;
    const char *id; /**< the same message sent again under the same id is stored once */
    /** Number of the subject's last message, 0: it has none; UINT64_MAX: whatever it is. */
    uint64_t expected;
    const void *bytes;
    size_t length;
};

/** Publish, and wait until it is stored. @param seq  its number in the stream
 *  @return 0, -ESTALE: another message is the subject's last one, -HOLTER_ERANGE: it is longer than
 *  fleet_nats_maximum() is now, or -EAGAIN: try again */
int fleet_nats_publish(struct fleet_nats *nats, const struct fleet_publication *publication,
                       uint64_t *seq);

/** Why the last fleet_nats_publish() of this thread was not stored: the servers, the stream, and
 * their answer. */
void fleet_nats_describe(const struct fleet_nats *nats, char *why, size_t capacity);

/** Send to all daemons of the cluster that are connected; not stored. */
void fleet_nats_send_all(struct fleet_nats *nats, const void *bytes, size_t length);

/** Ask about the fleet's clock. @param to  instance of a daemon; 0: all */
void fleet_nats_ask_clock(struct fleet_nats *nats, uint64_t to, const void *bytes, size_t length);
void fleet_nats_answer_clock(struct fleet_nats *nats, const char *reply, const void *bytes,
                             size_t length);

/** Number of the last message of a subject; 0: it has none. @return 0 or -EAGAIN */
int fleet_nats_last(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                    uint64_t *seq);

/** When the stream was made: in another one the numbers of messages begin again. @return 0: no
 * answer */
uint64_t fleet_nats_stream_made_ns(struct fleet_nats *nats);

/** Delete the messages of a subject before a number; UINT64_MAX: all of them. */
void fleet_nats_delete(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                       uint64_t before);

/** Messages of a subject in order. @return 0, or anything else to read no further */
typedef int fleet_on_message(void *user, uint64_t seq, const void *bytes, size_t length);

/** Read the messages of a subject from a number to a number, both included.
 *  @return 0, -EAGAIN, or what the callback returned */
int fleet_nats_read(struct fleet_nats *nats, enum fleet_subject subject, const char *job,
                    uint64_t from, uint64_t to, fleet_on_message *on_message, void *user);

/** Subscribe to the messages of a job that agents sent, from number `from` on. They arrive after
 * fleet_subscription_open() was called. When they are not read quickly enough, the callback is
 * called once with NULL as bytes, and never again: subscribe again, to what comes after the last
 * message. @return 0 or -EAGAIN */
int fleet_nats_subscribe(struct fleet_subscription **out, struct fleet_nats *nats, const char *job,
                         uint64_t from, fleet_on_message *on_message, void *user);
void fleet_subscription_open(struct fleet_subscription *subscription);
/** Whether messages still come; otherwise, and for NULL, subscribe again. */
int fleet_subscription_is_valid(const struct fleet_subscription *subscription);
/** Waits for a callback that runs. NULL is fine. */
void fleet_subscription_close(struct fleet_subscription *subscription);

/** Take the lease of a job that nobody holds. @param revision  for fleet_nats_renew()
 *  @return 0, -EEXIST: somebody holds it, or -EAGAIN */
int fleet_nats_acquire(struct fleet_nats *nats, const char *job, const char *value,
                       uint64_t *revision);
/** Renew the lease. @return 0, -ESTALE: it is lost, or -EAGAIN */
int fleet_nats_renew(struct fleet_nats *nats, const char *job, const char *value,
                     uint64_t *revision);
/** Give up the lease of that revision. One that was acquired since then remains. */
void fleet_nats_release(struct fleet_nats *nats, uint64_t revision);

/** Ids of the jobs that have a value in one of the buckets. */
struct fleet_jobs {
    char (*ids)[NATS_JOB_BYTES]; /**< owned */
    size_t count;
};
enum fleet_bucket { FLEET_LEASES, FLEET_JOBS };
/** @return 0, -ENOMEM or -EAGAIN */
int fleet_nats_list(struct fleet_nats *nats, enum fleet_bucket bucket, struct fleet_jobs *out);
int fleet_jobs_contain(const struct fleet_jobs *jobs, const char *id);
void fleet_jobs_finish(struct fleet_jobs *jobs);

/** Value of a job in a bucket, "" when it has none. @return 0 or -EAGAIN */
int fleet_nats_get(struct fleet_nats *nats, enum fleet_bucket bucket, const char *job,
                   char out[NATS_VALUE_BYTES]);
/** Set the value of a job in the bucket of jobs. @return 0 or -EAGAIN */
int fleet_nats_put(struct fleet_nats *nats, const char *job, const char *value);
/** Remove the value of a job from the bucket of jobs. */
void fleet_nats_forget(struct fleet_nats *nats, const char *job);

#endif
