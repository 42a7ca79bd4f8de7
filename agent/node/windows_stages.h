/* Windows, the stages `journal` (what is appended, committed, dropped and numbered again) and
 * `close` (which windows end, and what is sent of them). */
#ifndef HOLTER_AGENT_NODE_WINDOWS_STAGES_H
#define HOLTER_AGENT_NODE_WINDOWS_STAGES_H

#include "agent/node/windows.h"

/** Append a message to the journal. @return 0 or an error of journal_append() */
int windows_append(struct windows *windows, enum wire_type type, const void *bytes, size_t length);

/** The same for the messages of a window. @param user  struct windows
 *  @param seq  not used: the journal counts the same numbers */
int windows_append_window(void *user, uint64_t seq, const void *bytes, size_t length);

/** Append the announcement of a job's ranks. @param all  also those announced before */
void windows_announce_ranks(struct windows *windows, struct node_job *job, int all);

/** The agent's totals up to now, over all its workers. */
struct node_totals windows_totals(const struct windows *windows);

/** Make valid what was appended, with the state of the rings as of the last window of each job. */
void windows_commit(struct windows *windows);

/** Windows that were closed on a guess of daemon time, before a daemon was there to see them, get
 *  the numbers that they would have had.
 *  @param shift_ns  daemon time less the guess
 *  @return 0 or a negative error: the windows not yet numbered are lost */
int windows_renumber(struct windows *windows, int64_t shift_ns);

/** The clocks of a drain that ends at `end_ns`, CLOCK_MONOTONIC. */
struct drain_clocks windows_clocks_until(const struct windows *windows, uint64_t end_ns,
                                         uint64_t now_ns);

/** End of the open window, CLOCK_MONOTONIC. */
uint64_t windows_end_of_open(const struct windows *windows);

/** Does the open window begin more than DAEMON_CLOCK_AHEAD_NS after daemon time? */
int windows_are_ahead(const struct windows *windows, uint64_t now_ns);

/** Open the window that is now, if that is a later one or the open one is ahead. */
void windows_follow_clock(struct windows *windows, uint64_t now_ns);

/** Open the window that follows the open one.
 *  @param end_daemon_ns  end of the open one, daemon time
 *  @param now_ns         CLOCK_MONOTONIC */
void windows_open_next(struct windows *windows, uint64_t end_daemon_ns, uint64_t now_ns);

/** Drain all rings, unless ranks use all cores and drains have taken their share of them.
 *  @param must  drain them all the same */
void windows_drain(struct windows *windows, const struct drain_clocks *clocks, int must);

/** Drain up to `end_ns`, close the open window of all jobs and commit, then open the next.
 *  @param must_drain  as windows_drain() has it */
void windows_close_all(struct windows *windows, uint64_t end_ns, uint64_t now_ns, int must_drain);

/** Close the last window of jobs that have no rank left on the node: it need not wait for its end.
 *  @return nonzero when there was one */
int windows_close_final(struct windows *windows, uint64_t now_ns);

/** Close the windows that were over before the newcomers of a job were known.
 *  @return nonzero when messages were appended */
int windows_close_backlog(struct windows *windows, struct node_job *job, uint64_t now_ns);

#endif
