/* Sends with their receives, channel by channel. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

#define MAXIMUM_SHIFTS 64 /* that are tried, so that no channel takes quadratic time */

/* An end with what orders it. */
struct channel_end {
    uint64_t comm;
    int64_t posted_ns;
    uint32_t from, to;
    int32_t tag;
    uint32_t end; /* position */
    uint8_t receive;
};

/* The ends of one channel, in the order of their posts. Receive j belongs to send j + shift. */
struct channel {
    const struct dependency_ends *e;
    const struct channel_end *sends, *receives;
    int64_t send_count, receive_count;
    const struct dependency_rank *from, *to; /* NULL: no records of it */
    int64_t slack_ns;                        /* error of the two clocks against each other */
};

ORDER_FUNCTION(dependency_match_compare, struct channel_end,
               64 * ORDER(a->comm, b->comm) + 32 * ORDER(a->from, b->from) +
                   16 * ORDER(a->to, b->to) + 8 * ORDER(a->tag, b->tag) +
                   4 * ORDER(a->receive, b->receive) + 2 * ORDER(a->posted_ns, b->posted_ns) +
                   ORDER(a->end, b->end))

static int dependency_match_is_same(const struct channel_end *x, const struct channel_end *y)
{
    return x->comm == y->comm && x->from == y->from && x->to == y->to && x->tag == y->tag;
}

static const struct dependency_end *dependency_match_send(const struct channel *c, int64_t i)
{
    return &c->e->ends[c->sends[i].end];
}

static const struct dependency_end *dependency_match_receive(const struct channel *c, int64_t i)
{
    return &c->e->ends[c->receives[i].end];
}

/* How many sends had begun at a time? */
static int64_t dependency_match_begun(const struct channel *c, int64_t ns)
{
    return (int64_t)BISECT(i, 0u, (uint64_t)c->send_count,
                           dependency_match_send(c, (int64_t)i)->begin_ns <= ns);
}

/* The greatest shift that the stamps allow if clocks differ by no more than this: no receive ends
 * before its send begins; messages whose receives are not known were received before the
 * receiver's records begin; and those whose sends are not known were sent before the sender's
 * records begin, or after they end. */
static int64_t dependency_match_latest(const struct channel *c, int64_t slack_ns)
{
    int64_t most = dependency_match_begun(c, c->to->first_ns + slack_ns);
    for (int64_t j = 0; j < c->receive_count; j++) {
        int64_t end_ns = dependency_match_receive(c, j)->end_ns + slack_ns;
        int64_t begun = dependency_match_begun(c, end_ns);
        if (begun == c->send_count && end_ns >= c->from->read_ns)
            continue;
        most = begun - 1 - j < most ? begun - 1 - j : most;
    }
    return most;
}

/* @param fastest_ns  set to the least transfer time @return do the sizes of all pairs agree, of
 * which there is at least one? */
static int dependency_match_agrees(const struct channel *c, int64_t shift, int64_t *fastest_ns)
{
    int64_t j = shift < 0 ? -shift : 0, pairs = 0;
    *fastest_ns = INT64_MAX;
    for (; j < c->receive_count && j + shift < c->send_count; j++, pairs++) {
        const struct dependency_end *s = dependency_match_send(c, j + shift);
        const struct dependency_end *r = dependency_match_receive(c, j);
        if (s->bytes != r->bytes)
            return 0;
        int64_t ns = r->end_ns - s->begin_ns;
        *fastest_ns = ns < *fastest_ns ? ns : *fastest_ns;
    }
    return pairs > 0;
}

static uint64_t dependency_match_distance(int64_t ns)
{
    return ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
}

/* @param out  set to the shift @return 0: there is none */
static int dependency_match_align(const struct channel *c, int64_t *out)
{
    int64_t least = c->from->complete ? 0 : 1 - c->receive_count;
    int64_t limit = c->to->complete ? 0 : c->send_count - 1;
    int64_t most = dependency_match_latest(c, c->slack_ns), sure = most, fastest_ns;
    int found = 0;
    uint64_t best = 0;
    if (least == limit) {
        *out = least;
        return 1;
    }
    most = most < limit ? most : limit;
    if (c->slack_ns > 0)
        sure = dependency_match_latest(c, 0);
    sure = sure < most ? sure : most;
    for (int64_t shift = most, tries = 0; shift >= least && tries < MAXIMUM_SHIFTS;
         shift--, tries++) {
        if (found && shift < sure)
            break;
        if (!dependency_match_agrees(c, shift, &fastest_ns) ||
            (found && dependency_match_distance(fastest_ns) >= best))
            continue;
        found = 1;
        best = dependency_match_distance(fastest_ns);
        *out = shift;
    }
    return found;
}

int64_t dependency_match_slack(const struct dependency_ends *e, const struct dependency_rank *a,
                               const struct dependency_rank *b)
{
    const struct dependency_host *hosts = e->calls->hosts;
    const uint64_t most = INT64_MAX / 16;
    if (a->host == b->host)
        return 0;
    uint64_t x = hosts[a->host].error_ns, y = hosts[b->host].error_ns;
    return x > most || y > most ? 0 : (int64_t)(x + y);
}

static const struct dependency_rank *dependency_match_find(const struct dependency_ends *e,
                                                           uint32_t rank)
{
    uint32_t at = BISECT(i, 0u, e->rank_count, e->ranks[i].rank < rank);
    return at < e->rank_count && e->ranks[at].rank == rank ? &e->ranks[at] : NULL;
}

static void dependency_match_channel(struct dependency_ends *e, struct channel *c,
                                     struct dependency_counts *counts)
{
    int64_t shift = 0;
    c->from = dependency_match_find(e, c->sends[0].from);
    c->to = dependency_match_find(e, c->sends[0].to);
    if (c->send_count == 0 || c->receive_count == 0)
        return;
    c->slack_ns = dependency_match_slack(e, c->from, c->to);
    int aligned = !c->from->complete || !c->to->complete;
    if (!dependency_match_align(c, &shift)) {
        counts->rejected +=
            (uint64_t)(c->send_count < c->receive_count ? c->send_count : c->receive_count);
        return;
    }
    for (int64_t j = shift < 0 ? -shift : 0; j < c->receive_count && j + shift < c->send_count;
         j++) {
        uint32_t send = c->sends[j + shift].end, receive = c->receives[j].end;
        if (e->ends[send].bytes != e->ends[receive].bytes) {
            counts->rejected++;
            continue;
        }
        e->match[send] = receive;
        e->match[receive] = send;
        e->kind[send] = e->kind[receive] = (uint8_t)aligned;
    }
}

int dependency_match(struct dependency_ends *e, struct dependency_counts *counts)
{
    struct channel_end *rows = malloc((e->count + (size_t)1) * sizeof *rows);
    if (rows == NULL)
        return -ENOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct dependency_end *end = &e->ends[i];
        if (!end->collective)
            rows[count++] = (struct channel_end){.comm = end->comm,
                                                 .posted_ns = end->posted_ns,
                                                 .from = end->receive ? end->peer : end->rank,
                                                 .to = end->receive ? end->rank : end->peer,
                                                 .tag = end->tag,
                                                 .end = i,
                                                 .receive = end->receive};
    }
    qsort(rows, count, sizeof *rows, dependency_match_compare);
    for (uint32_t i = 0, k, end; i < count; i = end) {
        for (k = i; k < count && dependency_match_is_same(&rows[k], &rows[i]); k++)
            if (rows[k].receive)
                break;
        for (end = k; end < count && dependency_match_is_same(&rows[end], &rows[i]); end++)
            continue;
        struct channel c = {.e = e,
                            .sends = rows + i,
                            .receives = rows + k,
                            .send_count = k - i,
                            .receive_count = end - k};
        dependency_match_channel(e, &c, counts);
    }
    free(rows);
    return 0;
}
