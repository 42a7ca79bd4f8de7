/* Windows, the stage `journal`: what is appended, committed, dropped and numbered again. */
#ifndef HOLTER_AGENT_NODE_WINDOWS_JOURNAL_H
#define HOLTER_AGENT_NODE_WINDOWS_JOURNAL_H

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

#endif
