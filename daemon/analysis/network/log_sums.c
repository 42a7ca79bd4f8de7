#include "daemon/analysis/network/log_sums.h"

#include "daemon/analysis/network/congestion_kept.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void log_sums_finish(struct log_sums *s)
{
    free(s->packed);
    free(s->wide);
    *s = (struct log_sums){.count = 0};
}

int log_sums_begin(struct log_sums *s, size_t count)
{
    const size_t even = count + count % 2;
    s->count = 0;
    if (congestion_fit(&s->packed, sizeof(*s->packed), &s->room, even) != 0)
        return -ENOMEM;
    s->count = count;
    s->has_wide = s->failed = false;
    if (count > 0)
        memset(s->packed, 0, even * sizeof(*s->packed));
    return 0;
}

static struct log_sum unpack(uint64_t packed)
{
    const uint64_t sum = packed + (uint64_t)LOG_SUMS_HALF;
    const int64_t low = (int64_t)(sum & (2 * (uint64_t)LOG_SUMS_HALF - 1)) - LOG_SUMS_HALF;
    return (struct log_sum){sum >> LOG_SUMS_SHIFT, (double)low};
}

static void add_apart(struct log_sums *s, size_t at, struct log_sum more)
{
    if (!s->has_wide) {
        if (congestion_fit(&s->wide, sizeof(*s->wide), &s->wide_room, s->room) != 0) {
            s->failed = true;
            return;
        }
        memset(s->wide, 0, s->wide_room * sizeof(*s->wide)); /* 0.0 is all bits zero */
        s->has_wide = true;
    }
    s->wide[at].messages += more.messages;
    s->wide[at].sum += more.sum;
}

/* Put what is packed of a pair apart. */
static void put_apart(struct log_sums *s, size_t at)
{
    add_apart(s, at, unpack(s->packed[at]));
    s->packed[at] = 0;
}

void log_sums_add(struct log_sums *s, size_t at, uint64_t messages, double sum)
{
    if (messages >= LOG_SUMS_FULL || !(fabs(sum) < (double)messages * (double)LOG_SUMS_MOST)) {
        add_apart(s, at, (struct log_sum){messages, sum});
        return;
    }
    s->packed[at] += (messages << LOG_SUMS_SHIFT) + (uint64_t)(int64_t)sum;
    if (s->packed[at] >= LOG_SUMS_FULL << LOG_SUMS_SHIFT)
        put_apart(s, at);
}

struct log_sum log_sums_at(const struct log_sums *s, size_t at)
{
    struct log_sum all = unpack(s->packed[at]);
    if (s->has_wide) {
        all.messages += s->wide[at].messages;
        all.sum += s->wide[at].sum;
    }
    return all;
}

size_t log_sums_bytes(const struct log_sums *s)
{
    return s->room * sizeof(*s->packed) + s->wide_room * sizeof(*s->wide);
}
