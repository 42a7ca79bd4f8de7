/* All messages of a recording, decoded, one after the other. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_SCAN_H
#define HOLTER_DAEMON_STORAGE_RECORDING_SCAN_H

#include "daemon/storage/recording.h"

/** Told of each message.
 *  @param message  valid for the call; NULL: its bytes are none that can be decoded
 *  @param length   of them
 *  @return 0, or what ends the reading */
typedef int recording_visit(void *user, const struct recorded *head,
                            const struct wire_message *message, size_t length);

/** Read from where the cursor stands to the end.
 *  @param progress  told how far it is in the recording; NULL: nobody
 *  @return 0, what the visit returned, or what recording_cursor_decoded() did: after
 * -HOLTER_ECORRUPT recording_cursor_skip() may pass over the damage, and another call goes on */
int recording_scan(struct recording_cursor *cursor, const struct recording_progress *progress,
                   recording_visit *visit, void *user);

#endif
