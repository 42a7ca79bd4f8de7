/* The results of a recording that has none: it is replayed once, and the tables that the recording
 * of a running job has are written into the file. One transaction: all, or nothing. */
#ifndef HOLTER_DAEMON_REPLAY_RESULTS_H
#define HOLTER_DAEMON_REPLAY_RESULTS_H

#include "daemon/alert/rules.h"
#include "daemon/replay/replay_options.h"

#include <stdio.h>

/** @param options  replay: the file
 *  @param progress  gets the progress, a share from 0 to 1 per line; may be NULL
 *  @param why       set on failure: a sentence for people
 *  @return 0, -EWOULDBLOCK when a daemon writes it, or another negative error */
int results_make(const struct replay_options *options, const struct rules *rules, FILE *progress,
                 char *why, size_t capacity);

#endif
