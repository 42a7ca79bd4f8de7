/* One-sided calls. A window is a communicator of its own here, so that its traffic can be told
 * apart. */
#ifndef HOLTER_PROBE_RMA_H
#define HOLTER_PROBE_RMA_H

#include "shapes.h"

HOT struct posted rma_enter(const struct scope *s, uint64_t give, uint64_t get, int target,
                            MPI_Win win)
{
    const struct comm *w = window_find(s->t, win);
    struct posted p = {.bytes = 0,
                       .peer = comm_peer(w, target),
                       .tag = TAG_NONE,
                       .comm = w->slot,
                       .flags = comm_flags(w)};
    scope_enter(s, give, get, p.peer, TAG_NONE, 0, p.comm, p.flags);
    return p;
}

/** Synchronisation of the whole window. */
HOT void win_enter(const struct scope *s, MPI_Win win)
{
    const struct comm *w = window_find(s->t, win);
    scope_enter(s, 0, 0, PEER_NONE, TAG_NONE, 0, w->slot, comm_flags(w));
}

HOT void win_test_leave(const struct scope *s, int result, int flag, MPI_Win win)
{
    if (result == MPI_SUCCESS && !flag) {
        scope_poll(s, POLL_TEST, ticks());
        return;
    }
    win_enter(s, win);
    plain_leave(s, result, 0);
}

#endif
