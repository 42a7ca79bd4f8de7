/* Drops the facts that a replay will publish again after a seek backwards. */
#include "viewer/model/rewind.h"

#include "viewer/model/model.h"

#include <string.h>

static int rewind_is_known(const struct rewind_known *k, uint64_t stretch)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (stretch >= k->spans[i].first && stretch <= k->spans[i].last)
            return 1;
    return 0;
}

/* Put a span among those that are known, joined with its neighbours. @return 0, or 1: there is no
 * room */
static int rewind_mark_known(struct rewind_known *k, uint64_t first, uint64_t last)
{
    uint32_t at = 0, end;
    while (at < k->count && k->spans[at].last + 1 < first)
        at++;
    for (end = at; end < k->count && k->spans[end].first <= last + 1; end++) {
        first = k->spans[end].first < first ? k->spans[end].first : first;
        last = k->spans[end].last > last ? k->spans[end].last : last;
    }
    if (at == end && k->count == REWIND_SPANS)
        return 1;
    memmove(&k->spans[at + 1], &k->spans[end], (k->count - end) * sizeof *k->spans);
    k->spans[at] = (struct rewind_span){first, last};
    k->count = k->count - (end - at) + 1;
    return 0;
}

int rewind_enters(struct model *m, uint64_t window)
{
    struct rewind_known *k = &m->rewind;
    const struct series *s = &m->series;
    uint64_t newest = s->count ? s->first + s->count - 1 : 0;
    uint64_t stretch = window > newest ? window : newest;
    if (!m->playback.known)
        return 1;
    if (stretch <= k->state)
        return 0;
    k->newest = stretch > k->newest ? stretch : k->newest;
    if (rewind_is_known(k, stretch))
        return 0;
    if (window < stretch)
        k->late = stretch;
    return 1;
}

void rewind_state(struct model *m)
{
    struct rewind_known *k = &m->rewind;
    k->torn |= k->newest > 0;
    k->state = k->newest = k->late = 0;
}

void rewind_state_window(struct model *m, uint64_t window)
{
    m->rewind.state = window > m->rewind.state ? window : m->rewind.state;
}

int rewind_close(struct model *m)
{
    struct rewind_known *k = &m->rewind;
    struct history *const histories[] = {&m->rank_history,       &m->pairs.history,
                                         &m->node_pairs.history, &m->calls.history,
                                         &m->waits.history,      &m->callers.history};
    uint64_t last = k->newest;
    if (k->torn)
        return 1;
    if (!last)
        return 0;
    k->newest = 0;
    if (!rewind_is_known(k, last)) {
        if (k->late == last)
            return 1;
        for (size_t i = 0; i < sizeof histories / sizeof *histories; i++)
            if (!history_whole(histories[i], last) && history_drop(histories[i], last))
                return 1;
    } else {
        last++; /* all of it is known */
    }
    return last > k->state + 1 && rewind_mark_known(k, k->state + 1, last - 1);
}
