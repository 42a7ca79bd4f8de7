/* Windows, the stage `close`: which windows end, and what is sent of them. */
#ifndef HOLTER_AGENT_NODE_WINDOWS_CLOSE_H
#define HOLTER_AGENT_NODE_WINDOWS_CLOSE_H

#include "agent/node/windows.h"

/** The clocks of a drain that ends at `end_ns`, CLOCK_MONOTONIC. */
struct drain_clocks windows_clocks_until(const struct windows *windows, uint64_t end_ns,
                                         uint64_t now_ns);

/** End of the open window, CLOCK_MONOTONIC. */
uint64_t windows_end_of_open(const struct windows *windows);

/** Open the window that follows the open one.
 *  @param end_daemon_ns  end of the open one, daemon time
 *  @param now_ns         CLOCK_MONOTONIC */
void windows_open_next(struct windows *windows, uint64_t end_daemon_ns, uint64_t now_ns);

/** Drain up to `end_ns`, close the open window of all jobs and commit, then open the next. */
void windows_close_all(struct windows *windows, uint64_t end_ns, uint64_t now_ns);

/** Close the last window of jobs that have no rank left on the node: it need not wait for its end.
 *  @return nonzero when there was one */
int windows_close_final(struct windows *windows, uint64_t now_ns);

/** Close the windows that were over before the newcomers of a job were known.
 *  @return nonzero when messages were appended */
int windows_close_backlog(struct windows *windows, struct node_job *job, uint64_t now_ns);

#endif
