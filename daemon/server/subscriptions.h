/* The prefixes of topics that are subscribed to, as an XPUB socket reports them. */
#ifndef HOLTER_DAEMON_SERVER_SUBSCRIPTIONS_H
#define HOLTER_DAEMON_SERVER_SUBSCRIPTIONS_H

#include <stddef.h>

#define SUBSCRIPTIONS_MAXIMUM 4096u /**< number of prefixes; with more, every topic matches */
/** Longest stored prefix: no topic is longer, so that longer prefixes match none. */
#define SUBSCRIPTION_BYTES 160u

/** Zero-initialised is empty. */
struct subscriptions {
    struct subscription *list; /**< owned */
    size_t count, capacity;
    size_t overflow; /**< number of prefixes that did not fit */
    int counted; /**< every subscriber of a prefix is reported, not only the first and the last */
};

void subscriptions_finish(struct subscriptions *subscriptions);

/** Add a prefix: it has its first subscriber. */
void subscriptions_add(struct subscriptions *subscriptions, const void *prefix, size_t length);

/** Remove a prefix: its last subscriber has left. */
void subscriptions_remove(struct subscriptions *subscriptions, const void *prefix, size_t length);

/** Call a function for each prefix; with the empty one for those that did not fit. */
void subscriptions_for_each(const struct subscriptions *subscriptions,
                            void (*one)(void *user, const void *prefix, size_t length), void *user);

/** Does any prefix match this topic? */
int subscriptions_match(const struct subscriptions *subscriptions, const char *topic);

#endif
