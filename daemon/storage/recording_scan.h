/* Visits all messages of a recording, decoded, in their order. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_SCAN_H
#define HOLTER_DAEMON_STORAGE_RECORDING_SCAN_H

#include "daemon/storage/recording.h"

/** Visit a message.
 * @param message  valid during the call; NULL: its bytes cannot be decoded
 * @param length   of its bytes
 * @return 0, or a value that ends the reading */
typedef int recording_visit(void *user, const struct recorded *head,
                            const struct wire_message *message, size_t length);

/** Read from the position of the cursor to the end.
 * @param progress  callback for progress; NULL: none
 * @return 0, what the visit returned, or what recording_cursor_next_decoded() returned: after
 * -HOLTER_ECORRUPT recording_cursor_skip() may skip the damage, and another call continues */
int recording_scan(struct recording_cursor *cursor, const struct recording_progress *progress,
                   recording_visit *visit, void *user);

#endif
