/* Recordings for tests: messages are put in as a recorder does it, and SQL asks for what is there.
 */
#ifndef TESTS_DAEMON_STORAGE_RECORDING_WRITER_H
#define TESTS_DAEMON_STORAGE_RECORDING_WRITER_H

#include "daemon/storage/recording.h"

#include <stdint.h>

/** Encode a message and put it into a recording. @param head  all but the type */
void kept_message(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message);

/** The same, with bytes at its begin that are no message. */
void kept_damaged(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message);

/** Ask a file. @return first column of the first row, of which there has to be one */
int64_t kept_ask(const char *path, const char *sql);

#endif
