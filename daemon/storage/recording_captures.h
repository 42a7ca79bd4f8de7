/* The tables captures and capture_events of a recording, described in docs/recording.md. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H

#include "holter/wire.h"

#include <sqlite3.h>

struct capture_tables;

/** Create the tables if they do not exist, and prepare the statements that write them, within the
 * caller's transaction.
 * @return 0, -ENOMEM or -EIO */
int capture_tables_create(struct capture_tables **out, sqlite3 *db);

/** NULL is fine. */
void capture_tables_destroy(struct capture_tables *tables);

/** Write what a node has captured, or a part of it. @return 0 or -EIO */
int capture_tables_put(struct capture_tables *tables, const struct wire_capture *message);

#endif
