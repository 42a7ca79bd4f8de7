/* The alarm of a ring. A file of its own, because the probe links nothing else of the ring. */
#include "holter/ring.h"

#include <errno.h>

void ring_alarm(const struct ring_writer *w)
{
    struct ring_control *control = w->control;
    uint64_t at = atomic_load_explicit(&control->alarm_at, memory_order_relaxed);
    int32_t pid = atomic_load_explicit(&control->alarm_pid, memory_order_relaxed);
    /* 0, 1 and what is below would be more than one process */
    if (pid <= 1 || w->head < at ||
        !atomic_compare_exchange_strong_explicit(&control->alarm_at, &at, UINT64_MAX,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    int error = errno;
    kill((pid_t)pid, RING_ALARM_SIGNAL);
    errno = error;
}

void ring_alarm_set(struct ring_control *control, uint64_t at, int32_t pid)
{
    atomic_store_explicit(&control->alarm_pid, pid, memory_order_relaxed);
    if (atomic_load_explicit(&control->alarm_at, memory_order_relaxed) != at)
        atomic_store_explicit(&control->alarm_at, at, memory_order_relaxed);
}
