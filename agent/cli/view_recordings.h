/* The viewer on one recording, or on two of them: each is replayed by a private daemon. */
#ifndef HOLTER_AGENT_CLI_VIEW_RECORDINGS_H
#define HOLTER_AGENT_CLI_VIEW_RECORDINGS_H

#include "agent/terminal/unfinished_output.h"

#include <sys/types.h>

#define VIEW_RECORDINGS 2 /**< at most */

struct view_recordings {
    const char *paths[VIEW_RECORDINGS]; /**< borrowed from argv */
    int count;                          /**< 0: no recording is named */
    int whole;        /**< the recordings are played to their end, not watched from their begin */
    char **arguments; /**< borrowed: argv of the viewer without the recordings, NULL at the end */
    int argument_count;
    char directory[64];
    struct unfinished cleaner; /**< removes the directory, also when this process is killed */
    pid_t daemons[VIEW_RECORDINGS], viewer;
};

/** Is a word of the command line a recording? It may have any name: `holter run -o` gives it the
 * one that is asked for. */
int view_recordings_is_name(const char *word);

/** Move arguments that are recordings out of argv.
 *  @return -1 to go on, or the exit status 2 after printing that there are too many */
int view_recordings_take(struct view_recordings *out, int argc, char **argv);

/** Replay the recordings, run the viewer, and end the daemons when it has ended.
 *  @return the viewer's exit status, or 1 after printing an error */
int view_recordings_run(struct view_recordings *v);

#endif
