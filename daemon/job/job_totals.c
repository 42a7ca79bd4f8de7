/* Totals of the newest windows of a job, as they were published. */
#include "daemon/job/job_totals.h"

void job_totals_finish(struct job_totals *totals)
{
    for (uint32_t i = 0; i < JOB_RECENT_WINDOWS; i++)
        node_set_finish(&totals->reported[i]);
}

const struct wire_totals *job_totals_find(const struct job_totals *totals, uint64_t window)
{
    const struct wire_totals *known = &totals->recent[window % JOB_RECENT_WINDOWS];
    return known->length_ns != 0 && known->window == window ? known : NULL;
}

/* How many of the received messages latency rests on; all others are unmatched, whatever the
 * reason, but for those that cannot be matched, as their senders are not watched. A window that was
 * lost may have had receives of which an agent reports the match later. */
static void job_totals_count_matched(const struct job_totals *totals,
                                     const struct totals_messages *messages,
                                     struct wire_totals *out)
{
    uint64_t matched = messages->matched, unwatched = messages->unwatched;
    out->matched = matched < totals->sums.received ? matched : totals->sums.received;
    out->unmatched = totals->sums.received - out->matched;
    out->unwatched = unwatched < out->unmatched ? unwatched : out->unmatched;
    out->unmatched -= out->unwatched;
}

static uint64_t job_totals_lacks(uint64_t recorded, uint64_t counted)
{
    return recorded > counted ? recorded - counted : 0;
}

/* What was received in parts of the recording that were removed is known when the newest window
 * that was recorded is closed again. */
static void job_totals_add_removed(struct job_totals *totals, struct wire_totals *out)
{
    const struct recorded_matches *recorded = &totals->recorded;
    struct recorded_matches *removed = &totals->removed;
    if (recorded->window != 0 && out->window == recorded->window && !out->late) {
        removed->matched = job_totals_lacks(recorded->matched, out->matched);
        removed->unmatched = job_totals_lacks(recorded->unmatched, out->unmatched);
        removed->unwatched = job_totals_lacks(recorded->unwatched, out->unwatched);
    }
    out->matched += removed->matched;
    out->unmatched += removed->unmatched;
    out->unwatched += removed->unwatched;
}

void job_totals_update(struct job_totals *totals, const struct closed_window *window,
                       const struct totals_messages *messages, uint64_t next)
{
    const struct wire_totals *known = job_totals_find(totals, window->number);
    struct node_set *reported = &totals->reported[window->number % JOB_RECENT_WINDOWS];
    struct wire_totals out = {.window = window->number};
    const struct sum_totals *sums = window->totals;
    totals->sums.ranks += sums->ranks;
#define X(name) totals->sums.name += sums->name;
    RANK_SUMS(X)
#undef X
    totals->has_newest =
        !(window->late && known == NULL && window->number + JOB_RECENT_WINDOWS <= next);
    if (!totals->has_newest)
        return;
    if (known != NULL)
        out = *known;
    else
        node_set_clear(reported);
#define X(name) out.name += sums->name;
    RANK_TOTALS(X)
#undef X
    out.ranks += sums->ranks;
    uint64_t added = node_set_join(reported, window->reported);
    out.agents += added;
    if (known == NULL)
        out.agents_missing = window->missing_nodes;
    else
        out.agents_missing -= out.agents_missing < added ? out.agents_missing : added;
    out.start_ns = window->number * window->length_ns;
    out.length_ns = window->length_ns;
    out.published_ns = window->published_ns;
    out.flags |= window->flags;
    out.late = (uint64_t)window->late;
    job_totals_count_matched(totals, messages, &out);
    job_totals_add_removed(totals, &out);
    totals->newest = out;
    totals->recent[window->number % JOB_RECENT_WINDOWS] = out;
}

void job_totals_copy_state(struct state_bytes *b, struct job_totals *totals)
{
    STATE_VALUE(b, *totals);
    for (uint32_t i = 0; i < JOB_RECENT_WINDOWS; i++)
        node_set_copy_state(b, &totals->reported[i]);
}
