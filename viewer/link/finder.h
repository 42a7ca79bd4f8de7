/* Where the daemon of a job is now, asked of the process that `holter view` leaves behind for it:
 * the viewer itself does not know fleets. */
#ifndef HOLTER_VIEWER_LINK_FINDER_H
#define HOLTER_VIEWER_LINK_FINDER_H

#include <stddef.h>
#include <stdint.h>

#define FINDER_ENDPOINT_BYTES 256u

/** Zero-initialised: nobody is asked. */
struct finder {
    int fd;            /**< a stream socket; 0: nobody is asked */
    uint64_t asked_ms; /**< when the last question was sent */
    /** Of answers, "JOB ENDPOINT", as far as they have come. */
    char line[2 * FINDER_ENDPOINT_BYTES];
    size_t length;
};

/** Ask, at most once a second, and read what was answered. It does not wait.
 *  @param job  "": the one that the viewer was started for
 *  @param out  an endpoint @return 1: it was set */
int finder_ask(struct finder *finder, const char *job, uint64_t now_ms,
               char out[FINDER_ENDPOINT_BYTES]);

#endif
