/* Included before each source of the loadable extension: functions of SQLite are called through the
 * table that the program which loads the extension gives it, whatever copy of SQLite that has. */
#ifndef HOLTER_DAEMON_STORAGE_SQL_SQL_EXTENSION_H
#define HOLTER_DAEMON_STORAGE_SQL_SQL_EXTENSION_H

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#endif
