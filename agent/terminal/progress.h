/* How far work is that takes long, on standard error: one line that is written over on a terminal,
 * else a line now and then. Work that takes less than a second shows nothing. */
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

/** @param progress  a struct progress: this is what who reads recordings calls (struct
 * recording_progress)
 *  @param share     0 to 1 */
void progress_show(void *progress, double share);

/** Take the line away. */
void progress_end(struct progress *progress);

#endif
