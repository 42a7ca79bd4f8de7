/* Wrappers of calls that initialise, finalise, abort and control: MPI_Init, MPI_Finalize,
 * MPI_Abort, MPI_Pcontrol. */
#ifndef HOLTER_PROBE_ENVIRONMENT_H
#define HOLTER_PROBE_ENVIRONMENT_H

#include "agent/probe/shapes.h"

/** A call in progress, inside which MPI_Abort or MPI_Finalize is called, does not return: a handler
 *  of errors aborts, or has left the call by an exception or longjmp(3). Where such a call calls
 *  itself, as below another tool that counts calls, it is recorded once. */
HOT void scope_end_unfinished(void)
{
    if (thread_self.gate == GATE_INSIDE && !thread_self.ending)
        thread_self.gate = 0;
    thread_self.ending = 1;
}

HOT void probe_set_finalized(void)
{
    atomic_store_explicit(&probe.segment->state, SEGMENT_FINALIZED, memory_order_release);
}

/** Runs before MPI_Abort, which does not return. */
HOT void probe_set_aborted(int code)
{
    atomic_store_explicit(&probe.segment->abort_code, code, memory_order_relaxed);
    atomic_store_explicit(&probe.segment->state, SEGMENT_ABORTED, memory_order_release);
}

/** Publish the call's record and, if a code region was entered or left, a second one for it.
 *  @param moved  value that region_control() returned */
HOT void shape_pcontrol_leave(const struct scope *s, int result, int moved)
{
    uint64_t t_exit = scope_exit(s);
    if (result != MPI_SUCCESS)
        scope_what(s, EVENT_FAILED, 0);
    record_publish(s->t, s->slot);
    if (moved != 0) {
        struct event *slot = ring_slot(&s->t->ring);
        ring_put(slot, RING_WORD_T_ENTER, s->t_enter);
        ring_put(slot, RING_WORD_T_EXIT, t_exit);
        ring_put(slot, RING_WORD_BYTES, 0);
        ring_put(slot, RING_WORD_BYTES_IN, 0);
        ring_put(slot, RING_WORD_ENDS, ring_ends(moved > 0 ? 1 : -1, TAG_NONE));
        ring_put(slot, RING_WORD_PLACE,
                 ring_place(0, COMM_SLOT_NONE, (uint16_t)(moved > 0 ? moved : -moved)));
        ring_put(slot, RING_WORD_WHAT, ring_what(s->call, 0, EVENT_REGION, 0));
        ring_enter(&s->t->ring, slot);
        record_publish(s->t, slot);
    }
    scope_leave(s);
}

#endif
