/* The tables of a recording that tell of captures: captures, capture_events. docs/recording.md
 * describes them. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H

#include "holter/wire.h"

#include <sqlite3.h>

struct capture_tables;

/** Make the tables that are missing, prepare what writes them. Inside the caller's transaction.
 *  @return 0, -ENOMEM or -EIO */
int capture_tables_create(struct capture_tables **out, sqlite3 *db);

/** NULL is fine. */
void capture_tables_destroy(struct capture_tables *tables);

/** What a node captured, or a part of it. @return 0 or -EIO */
int capture_tables_put(struct capture_tables *tables, const struct wire_capture *message);

#endif
