/* What subscribers want: prefixes of topics, as an XPUB socket reports them. */
#ifndef HOLTER_DAEMON_SERVER_SUBSCRIPTIONS_H
#define HOLTER_DAEMON_SERVER_SUBSCRIPTIONS_H

#include <stddef.h>

#define SUBSCRIPTIONS_MAXIMUM                                                                      \
    4096u /**< prefixes kept; when there are more, everything counts as wanted */
#define SUBSCRIPTION_BYTES                                                                         \
    160u /**< longest prefix kept; no topic is longer, so longer ones match none */

/** Zero-initialised is empty. */
struct subscriptions {
    struct subscription *list; /**< owned */
    size_t count, room;
    size_t untold; /**< that did not fit */
};

void subscriptions_finish(struct subscriptions *subscriptions);

/** Somebody has subscribed to a prefix that nobody had subscribed to. */
void subscriptions_add(struct subscriptions *subscriptions, const void *prefix, size_t length);

/** The last subscriber to a prefix has gone. */
void subscriptions_remove(struct subscriptions *subscriptions, const void *prefix, size_t length);

/** Call for each prefix; for those that did not fit with the empty one, which fits all topics. */
void subscriptions_for_each(const struct subscriptions *subscriptions,
                            void (*one)(void *user, const void *prefix, size_t length), void *user);

/** Is any of them a prefix of this topic? */
int subscriptions_match(const struct subscriptions *subscriptions, const char *topic);

#endif
