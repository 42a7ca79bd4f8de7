/* The tables captures and capture_events of a recording, described in docs/recording.md. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H

#include "holter/wire.h"

#include <sqlite3.h>

#define CAPTURE_STATEMENTS 2

/** Create the tables if they do not exist, and prepare the statements that write them, within the
 * caller's transaction. @param put  to be finalised, also on failure @return 0 or -EIO */
int capture_tables_create(sqlite3_stmt *put[CAPTURE_STATEMENTS], sqlite3 *db);

/** Write what a node has captured, or a part of it. @return 0 or -EIO */
int capture_tables_put(sqlite3_stmt *const put[CAPTURE_STATEMENTS],
                       const struct wire_capture *message);

#endif
