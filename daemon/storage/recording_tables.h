/* The plain tables of a recording, for anybody to query: job, nodes, places, totals, alert,
 * latency, criterion, region, region_member, phase, curve, and those of recording_network.h and
 * recording_captures.h. docs/recording.md describes them.
 *
 * Tables that hold a message or its rows have the columns of the wire tables, so that they do not
 * fall behind them; a file made before a column was added gets it when it is continued. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_TABLES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_TABLES_H

#include "holter/wire.h"

#include <sqlite3.h>

struct recording_tables;

/** Make the tables that are missing, bring those of older files up to date, prepare what writes
 *  them. Inside the caller's transaction.
 *  @param version  of the schema in the file; 0: a new one
 *  @return 0, -ENOMEM, or -EIO: see sqlite3_errmsg() */
int tables_create(struct recording_tables **out, sqlite3 *db, int64_t version);

/** NULL is fine. */
void tables_destroy(struct recording_tables *tables);

/** Write what was published. @param message  the struct of the type @return 0, -ENOMEM or -EIO */
int tables_put(struct recording_tables *tables, enum wire_type type, const void *message);

/** Read the alerts back, in order of their ids. Their job is "".
 *  @return 0, what visit() returned, -ENOMEM or -HOLTER_ECORRUPT */
int tables_read_alerts(sqlite3 *db, int (*visit)(void *user, const struct wire_alert *alert),
                       void *user);

#endif
