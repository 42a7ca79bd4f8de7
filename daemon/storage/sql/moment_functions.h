/* Functions of SQL for points in time:
 *   moment(T)        nanoseconds since 1970 of a point in time as proto/moment.h reads it, relative
 *                    ones within the recording; it need not lie within
 *   moment_text(N)   the text of nanoseconds since 1970, UTC, to the millisecond */
#ifndef HOLTER_DAEMON_STORAGE_SQL_MOMENT_FUNCTIONS_H
#define HOLTER_DAEMON_STORAGE_SQL_MOMENT_FUNCTIONS_H

struct sqlite3;

/** @return a code of SQLite */
int moment_functions_register(struct sqlite3 *db);

#endif
