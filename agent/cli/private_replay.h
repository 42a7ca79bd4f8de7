/* A daemon of one command that replays a recording, on a private socket in a temporary directory.
 */
#ifndef HOLTER_AGENT_CLI_PRIVATE_REPLAY_H
#define HOLTER_AGENT_CLI_PRIVATE_REPLAY_H

#include "agent/terminal/unfinished_output.h"

#include <sys/types.h>

/** Zero-initialised: none. */
struct private_replay {
    /* set by the caller, borrowed */
    const char *command; /**< name for error messages, "report" */
    const char *recording;
    const char *topology; /**< instead of the recorded network; NULL: that one */

    char directory[64]; /**< its own */
    char endpoint[96];
    pid_t daemon;
    struct unfinished cleaner; /**< removes the directory, also when this process is killed */
};

/** Replay the recording to its end; the daemon then waits for clients.
 *  @param analysed  not NULL: the results are recorded again, into a temporary file whose path is
 *                   stored here, in 400 bytes
 *  @return 0, or 1 after printing an error */
int private_replay_start(struct private_replay *replay, char *analysed);

/** Start a program whose output is appended to the log of the replay. @return pid, or -1 */
pid_t private_replay_start_program(const struct private_replay *replay, const char *const *words);

/** Print what went wrong, and the last line of the log, which has the error. */
void private_replay_report(const struct private_replay *replay, const char *what);

/** End the daemon and remove its files. */
void private_replay_stop(struct private_replay *replay);

#endif
