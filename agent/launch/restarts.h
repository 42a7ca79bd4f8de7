/* How often, and how soon, a process that crashed is started again. */
#ifndef HOLTER_AGENT_LAUNCH_RESTARTS_H
#define HOLTER_AGENT_LAUNCH_RESTARTS_H

#define RESTARTS_MAXIMUM 5   /* crashes that are tolerated ... */
#define RESTARTS_SECONDS 60u /* ... within this time */

/** The newest crashes of one process. Zero-initialised is none. */
struct restarts {
    unsigned long crashes[RESTARTS_MAXIMUM + 1]; /**< seconds, oldest first */
    int count;
};

/** Record a crash. Pure.
 *  @param now  seconds of any clock that does not go back
 *  @return milliseconds to wait before the next start, or -1: it has crashed too often */
int restarts_record_crash(struct restarts *restarts, unsigned long now);

#endif
