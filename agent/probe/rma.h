/* One-sided calls. An RMA window is recorded as a communicator of its own, so that its traffic can
 * be distinguished. */
#ifndef HOLTER_PROBE_RMA_H
#define HOLTER_PROBE_RMA_H

#include "agent/probe/shapes.h"

HOT void shape_rma_enter(const struct scope *s, uint64_t give, uint64_t get, int target,
                         MPI_Win win, uint32_t flags)
{
    const struct comm *w = window_find(s->t, win);
    scope_enter(s, give, get, ring_ends(comm_peer(w, target), TAG_NONE), 0, w->slot,
                w->flags | flags);
}

/** Synchronisation of the whole RMA window. */
HOT void shape_window_enter(const struct scope *s, MPI_Win win)
{
    const struct comm *w = window_find(s->t, win);
    scope_enter(s, 0, 0, NO_ENDS, 0, w->slot, w->flags);
}

HOT void shape_window_test_leave(const struct scope *s, int result, int flag, MPI_Win win)
{
    if (result == MPI_SUCCESS && !flag) {
        scope_poll(s, POLL_TEST, probe_read_ticks());
        return;
    }
    shape_window_enter(s, win);
    shape_plain_leave(s, result);
}

#endif
