/* The plain tables of a recording, for anybody to query: job, nodes, places, totals, alert,
 * latency, criterion, region, region_member, phase, curve, lateness, and those of
 * recording_network.h and recording_captures.h. docs/recording.md describes them.
 *
 * Tables that hold a message or its rows get their columns from the wire tables: a field that is
 * added to the wire is recorded without changes here. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_TABLES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_TABLES_H

#include "holter/wire.h"

#include <sqlite3.h>

struct recording_tables;

/** Create the tables if they do not exist, and prepare the statements that write them, within the
 * caller's transaction.
 * @return 0, -ENOMEM, or -EIO: see sqlite3_errmsg() */
int recording_tables_create(struct recording_tables **out, sqlite3 *db);

/** NULL is fine. */
void recording_tables_destroy(struct recording_tables *tables);

/** Write a published result. @param message  the struct of the type @return 0, -ENOMEM or -EIO */
int recording_tables_put(struct recording_tables *tables, enum wire_type type, const void *message);

/** Read the alerts back, in the order of their ids. Their field job is "".
 * @return 0, what visit() returned, -ENOMEM or -HOLTER_ECORRUPT */
int recording_tables_read_alerts(sqlite3 *db,
                                 int (*visit)(void *user, const struct wire_alert *alert),
                                 void *user);

#endif
