/* The totals of windows, in a ring. */
#include "viewer/model/series.h"

#include "daemon/analysis/tables/array.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t series_clip32(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void series_fill(struct window_totals *out, const struct wire_totals *t)
{
    *out = (struct window_totals){
        .start_ns = t->start_ns,
        .length_ns = t->length_ns,
        .events = t->events,
        .lost = t->lost,
        .calls = t->calls,
        .polls = t->polls,
        .sent = t->sent,
        .sent_bytes = t->sent_bytes,
        .received = t->received,
        .received_bytes = t->received_bytes,
        .class_ns = {t->send_ns, t->recv_ns, t->wait_ns, t->poll_ns, t->collective_ns,
                     t->one_sided_ns, t->io_ns, t->other_ns},
        .absent_ns = t->absent_ns,
        .ranks = series_clip32(t->ranks),
        .agents = series_clip32(t->agents),
        .agents_missing = series_clip32(t->agents_missing),
        .present = 1,
    };
}

/* Room for a window beyond the newest one: grow, or let the oldest go. */
static int series_extend(struct series *s, uint64_t window)
{
    uint64_t need = window - s->first + 1;
    if (need > SERIES_WINDOWS) {
        uint64_t go = need - SERIES_WINDOWS;
        uint64_t kept = go < s->count ? s->count - go : 0;
        for (uint64_t i = 0; i < (go < s->count ? go : s->count); i++) {
            s->missing -= !s->windows[i].present;
            s->dropped += s->windows[i].present;
        }
        if (kept)
            memmove(s->windows, s->windows + go, kept * sizeof *s->windows);
        s->count = kept;
        s->first = kept ? s->first + go : window;
        need = window - s->first + 1;
    }
    if (ARRAY_FIT(s->windows, s->capacity, need) != 0)
        return -ENOMEM;
    memset(s->windows + s->count, 0, (need - s->count) * sizeof *s->windows);
    s->missing += need - s->count;
    s->count = need;
    return 0;
}

/* Room for a window before the oldest one. */
static int series_prepend(struct series *s, uint64_t window)
{
    uint64_t more = s->first - window;
    if (more > SERIES_WINDOWS - s->count)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(s->windows, s->capacity, s->count + more) != 0)
        return -ENOMEM;
    memmove(s->windows + more, s->windows, s->count * sizeof *s->windows);
    memset(s->windows, 0, more * sizeof *s->windows);
    s->first = window;
    s->count += more;
    s->missing += more;
    return 0;
}

/* Times of the window fit into the signed times of the viewer, sums and small multiples of them as
 * well. */
static int series_has_times(const struct wire_totals *totals)
{
    const uint64_t longest_ns = INT64_MAX / 64, latest_ns = INT64_MAX / 2;
    return totals->length_ns > 0 && totals->length_ns <= longest_ns &&
           totals->window < latest_ns / totals->length_ns && totals->start_ns <= latest_ns;
}

int series_put(struct series *s, const struct wire_totals *totals)
{
    int error = 0;
    if (!series_has_times(totals))
        return -HOLTER_ERANGE;
    if (s->count == 0)
        s->first = totals->window;
    if (totals->window < s->first)
        error = series_prepend(s, totals->window);
    else if (totals->window - s->first >= s->count)
        error = series_extend(s, totals->window);
    if (error)
        return error;
    struct window_totals *w = &s->windows[totals->window - s->first];
    s->missing -= !w->present;
    series_fill(w, totals);
    return 0;
}

const struct window_totals *series_at(const struct series *s, uint64_t window)
{
    if (window < s->first || window - s->first >= s->count ||
        !s->windows[window - s->first].present)
        return NULL;
    return &s->windows[window - s->first];
}

const struct window_totals *series_newest(const struct series *s)
{
    return s->count ? &s->windows[s->count - 1] : NULL;
}

void series_finish(struct series *s)
{
    free(s->windows);
    memset(s, 0, sizeof *s);
}
