/* A list of subscribed prefixes. */
#include "daemon/server/subscriptions.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

struct subscription {
    size_t length;
    size_t subscribers; /* if they are counted, else 1 */
    char prefix[SUBSCRIPTION_BYTES];
};

void subscriptions_finish(struct subscriptions *subscriptions)
{
    free(subscriptions->list);
    *subscriptions = (struct subscriptions){0};
}

static struct subscription *subscriptions_find(const struct subscriptions *s, const void *prefix,
                                               size_t length)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->list[i].length == length && memcmp(s->list[i].prefix, prefix, length) == 0)
            return &s->list[i];
    }
    return NULL;
}

void subscriptions_add(struct subscriptions *s, const void *prefix, size_t length)
{
    if (length > SUBSCRIPTION_BYTES)
        return;
    struct subscription *known = subscriptions_find(s, prefix, length);
    if (known != NULL) {
        known->subscribers += s->counted != 0;
        return;
    }
    if (s->count >= SUBSCRIPTIONS_MAXIMUM || ARRAY_FIT(s->list, s->capacity, s->count + 1) != 0) {
        s->overflow++;
        return;
    }
    struct subscription *added = &s->list[s->count++];
    added->length = length;
    added->subscribers = 1;
    memcpy(added->prefix, prefix, length);
}

void subscriptions_remove(struct subscriptions *s, const void *prefix, size_t length)
{
    if (length > SUBSCRIPTION_BYTES)
        return;
    struct subscription *gone = subscriptions_find(s, prefix, length);
    if (gone != NULL && gone->subscribers > 1)
        gone->subscribers--;
    else if (gone != NULL)
        *gone = s->list[--s->count];
    else if (s->overflow > 0)
        s->overflow--;
}

void subscriptions_for_each(const struct subscriptions *s,
                            void (*one)(void *user, const void *prefix, size_t length), void *user)
{
    for (size_t i = 0; i < s->count; i++)
        one(user, s->list[i].prefix, s->list[i].length);
    if (s->overflow > 0)
        one(user, "", 0);
}

int subscriptions_match(const struct subscriptions *s, const char *topic)
{
    size_t length = strlen(topic);
    for (size_t i = 0; i < s->count; i++) {
        const struct subscription *one = &s->list[i];
        if (one->length <= length && memcmp(one->prefix, topic, one->length) == 0)
            return 1;
    }
    return s->overflow > 0;
}
