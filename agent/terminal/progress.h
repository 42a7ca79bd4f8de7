/* Progress of long work on standard error: one line that is overwritten on a terminal, otherwise a
 * line from time to time. Nothing is shown in the first second. */
#ifndef HOLTER_AGENT_TERMINAL_PROGRESS_H
#define HOLTER_AGENT_TERMINAL_PROGRESS_H

#include <stdint.h>

struct progress {
    const char *what;
    uint64_t begun_ns, shown_ns; /* CLOCK_MONOTONIC */
    int terminal, shown;
};

/** @param what  borrowed */
void progress_begin(struct progress *progress, const char *what);

/** Callback for struct recording_progress.
 *  @param progress  a struct progress
 *  @param share     0 to 1 */
void progress_show(void *progress, double share);

/** Erase the line. */
void progress_end(struct progress *progress);

#endif
