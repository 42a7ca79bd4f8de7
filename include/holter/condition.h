/* Condition variables that wait until a time of clock_mono_ns(). */
#ifndef HOLTER_CONDITION_H
#define HOLTER_CONDITION_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/** A condition whose limits are times of CLOCK_MONOTONIC, pthread_condattr_setclock(3). */
static inline void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/** Wait until the condition is signalled, which may also seem so without a reason. With the mutex
 *  held. @param until_ns  CLOCK_MONOTONIC; UINT64_MAX: without a limit. @return 0, or ETIMEDOUT */
static inline int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                 uint64_t until_ns)
{
    const uint64_t second = UINT64_C(1000000000);
    const struct timespec until = {(time_t)(until_ns / second), (long)(until_ns % second)};
    return until_ns == UINT64_MAX ? pthread_cond_wait(condition, mutex)
                                  : pthread_cond_timedwait(condition, mutex, &until);
}

#endif
