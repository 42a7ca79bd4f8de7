/* The tables captures and capture_events of a recording, described in docs/recording.md. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H
#define HOLTER_DAEMON_STORAGE_RECORDING_CAPTURES_H

#include "holter/wire.h"

#include <sqlite3.h>

#define CAPTURE_STATEMENTS 2

/** SQL: what becomes of the row of a capture when another one of it comes. Its messages come from
 * several nodes, and may be in two parts of a recording: the earliest time, the most that was
 * known, and all reasons why something is missing. */
#define CAPTURE_JOIN                                                                               \
    " ON CONFLICT(id) DO UPDATE SET at_ns = min(at_ns, excluded.at_ns),"                           \
    " answered = max(answered, excluded.answered), records = max(records, excluded.records),"      \
    " fault = CASE WHEN excluded.fault = '' OR instr(fault, excluded.fault) > 0 OR length(fault) " \
    "> 4096 THEN fault WHEN instr(excluded.fault, fault) > 0 THEN excluded.fault"                  \
    " ELSE fault || '; ' || excluded.fault END"

/** Create the tables if they do not exist, and prepare the statements that write them, within the
 * caller's transaction. @param put  to be finalised, also on failure @return 0 or -EIO */
int capture_tables_create(sqlite3_stmt *put[CAPTURE_STATEMENTS], sqlite3 *db);

/** Write what a node has captured, or a part of it. @return 0 or -EIO */
int capture_tables_put(sqlite3_stmt *const put[CAPTURE_STATEMENTS],
                       const struct wire_capture *message);

#endif
