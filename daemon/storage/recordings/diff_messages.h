/* Messages of agents that two recordings have, for diff.c. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_MESSAGES_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_MESSAGES_H

#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/diff.h"

/** A difference of a table to be filled in. @param listed  of this table, counted up
 *  @return NULL: there are enough of this table, or no memory */
struct diff_item *diff_new_item(struct diff *diff, const struct diff_options *options,
                                const struct diff_table *table, size_t *listed);

/** Compare what is left of two recordings: messages belong together by type, agent, window and
 * number; what has no other one of its number then by type, agent and window. Memory: linear in
 * messages that one recording has earlier than the other, or alone.
 *  @param table  set @param most  messages of both, for progress; 0: not known @return 0 or a
 * negative error */
int diff_messages(struct diff *diff, const struct diff_options *options, struct diff_table *table,
                  struct recording_cursor *cursors[2], uint64_t most);

#endif
