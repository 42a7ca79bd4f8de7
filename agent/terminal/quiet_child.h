/* Child processes whose standard streams are /dev/null. */
#ifndef HOLTER_AGENT_TERMINAL_QUIET_CHILD_H
#define HOLTER_AGENT_TERMINAL_QUIET_CHILD_H

#include <sys/types.h>

/** Streams of a child that are /dev/null. */
enum quiet_streams { QUIET_INPUT = 1, QUIET_OUTPUT = 2, QUIET_ERRORS = 4 };

/** fork(2).
 *  @param streams  sum of `enum quiet_streams`
 *  @return as fork(2): the child gets 0, and is to call one of exec(3) or _exit(2) */
pid_t quiet_child_fork(unsigned streams);

/** @param child  of quiet_child_fork(); -1: it could not be started
 *  @return its exit status; -1: it had none */
int quiet_child_wait(pid_t child);

#endif
