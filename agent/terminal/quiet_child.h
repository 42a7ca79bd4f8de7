/* Child processes whose output does not reach the terminal. */
#ifndef HOLTER_AGENT_TERMINAL_QUIET_CHILD_H
#define HOLTER_AGENT_TERMINAL_QUIET_CHILD_H

#include <stddef.h>
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

/** Whether a program of Holter can be loaded: a library may be missing on this host, or
 *  LD_LIBRARY_PATH may name another one. Runs it with --version; the dynamic linker writes to
 *  standard error what is wrong. */
int quiet_child_loads(const char *program);

/** fork(2).
 *  @param signal  sent to the child when this process ends
 *  @return as fork(2) */
pid_t bound_child_fork(int signal);

/** Start a program that gets SIGTERM when this process ends.
 *  @param words  its path and arguments, ended by NULL
 *  @param log    file to which its output is appended; the variables of a session, which this
 *                terminal may be in, are removed. NULL: output and variables of this process
 *  @return pid, or -1 */
pid_t bound_child_start(const char *const *words, const char *log);

/** Copy the last line of a log that is not empty: why its program ended. "": there is none. */
void bound_child_explain(const char *log, char *out, size_t capacity);

#endif
