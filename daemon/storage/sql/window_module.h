/* Makes the virtual tables and functions of recordings known to a database. */
#ifndef HOLTER_DAEMON_STORAGE_SQL_WINDOW_MODULE_H
#define HOLTER_DAEMON_STORAGE_SQL_WINDOW_MODULE_H

struct sqlite3;

/** Register the tables window_pair, window_rank, window_call, window_link and window_latency, which
 * need no CREATE, and the functions moment() and moment_text(). They read the main database, which
 * need not be a recording before they are used.
 * @return a code of SQLite */
int window_module_register(struct sqlite3 *db);

#endif
