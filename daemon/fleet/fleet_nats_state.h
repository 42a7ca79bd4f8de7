/* State that the files of the layer over libnats share. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_NATS_STATE_H
#define HOLTER_DAEMON_FLEET_FLEET_NATS_STATE_H

#include "daemon/fleet/fleet_nats.h"

#include <nats/nats.h>
#include <pthread.h>

#define NATS_CLUSTER_BYTES 65u
#define NATS_NAME_BYTES 192u
#define NATS_PATH_BYTES 1024u

/* The end of a message about the connection: the credential files in use, or the invalid one. */
struct fleet_keys_report {
    char text[2 * NATS_PATH_BYTES];
};

struct fleet_nats {
    struct fleet_nats_options options;
    char cluster[NATS_CLUSTER_BYTES];
    char stream[NATS_NAME_BYTES];
    _Atomic size_t maximum;        /* bytes of a message of the stream; 0: no limit of its own */
    char control[NATS_NAME_BYTES]; /* subject of messages to all daemons */
    char inbox[NATS_NAME_BYTES];   /* prefix of the subjects of answers to this daemon */
    struct fleet_keys_report keys;
    _Atomic int closing; /* this daemon closes the connection */
    natsConnection *connection;
    jsCtx *js;
    jsCtx *reading; /* context with the timeout read_ms */
    int64_t read_ms;
    kvStore *buckets[2]; /* by enum fleet_bucket */
    int is_missing[2];   /* the same: it was deleted, which was logged; of the thread that lists */
    unsigned
        refusals[2]; /* the same: values in a row that it has refused; of the thread of leases */
    natsSubscription *control_subscription;
    natsConnection *clock; /* of questions and answers about the clock, see fleet_nats_clock.c */
    natsSubscription *clock_subscriptions[3];
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t completed;
    unsigned subscriptions; /* with a callback, which libnats has not completed */
};

/* Sequence numbers of the newest message of a subscription, see nats_order_add(). */
struct nats_order {
    uint64_t stream, consumer; /* in the stream, and of the consumer; 0: none yet */
};

struct fleet_subscription {
    struct fleet_nats *nats;
    natsSubscription *subscription;
    pthread_mutex_t mutex; /* held while the callback runs */
    pthread_cond_t changed;
    int opened;
    int owners; /* libnats, and the caller of fleet_nats_subscribe() */
    fleet_on_message *on_message;
    void *user;
    uint64_t last; /* number of the newest message that was passed on */
    struct nats_order order;
    _Atomic int interrupted; /* messages are missing: nothing more is passed on */
    int closed;
};

/** Connect. @param soon  what is published leaves at once, and each subscription has a thread of
 * its own @param servers  receives how many were given */
natsStatus fleet_nats_dial(struct fleet_nats *nats, int soon, natsConnection **out, int *servers);
/** Subscribe, so that fleet_nats_close() waits for the last callback. */
natsStatus fleet_nats_listen(struct fleet_nats *nats, natsConnection *connection,
                             const char *subject, natsMsgHandler handler, natsSubscription **out);

/** Is there a server? Else each request waits for an answer in vain. */
int fleet_nats_is_connected(struct fleet_nats *nats);

natsStatus fleet_nats_open_clock(struct fleet_nats *nats);
void fleet_nats_close_clock(struct fleet_nats *nats);

/** The id of a job as a token of subjects and as a key. */
void fleet_nats_key(const char *job, char out[NATS_JOB_BYTES]);

/** Set the credentials in the files of a directory. @param directory  NULL: none
 *  @return 0, or -HOLTER_EUSAGE: the report names the file */
int fleet_keys_set(natsOptions *options, const char *directory, struct fleet_keys_report *report);

/** Leases last as long as the fleet's bucket has it: one that expires before its holder renews it
 *  would go from daemon to daemon. */
void fleet_nats_adopt_lease(struct fleet_nats *nats);
natsStatus fleet_nats_open_buckets(struct fleet_nats *nats, int replicas);

#endif
