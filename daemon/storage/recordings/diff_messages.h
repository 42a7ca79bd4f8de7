/* Compares the messages of agents in two recordings, for diff.c. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_MESSAGES_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_MESSAGES_H

#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/diff.h"

/** Add a difference of a table. @param listed  differences of this table listed so far;
 * incremented
 * @return the item to be filled in; NULL: the table has enough, or there is no memory */
struct diff_item *diff_add_item(struct diff *diff, const struct diff_options *options,
                                const struct diff_table *table, size_t *listed);

/** Compare the messages of two recordings. Messages match by type, agent, window and number; those
 * without a match then by type, agent and window. Memory: linear in the messages that one
 * recording has earlier than the other, or alone.
 * @param table  set
 * @param total  messages of both, for progress; 0: not known
 * @return 0 or negative */
int diff_messages(struct diff *diff, const struct diff_options *options, struct diff_table *table,
                  struct recording_cursor *cursors[2], uint64_t total);

#endif
