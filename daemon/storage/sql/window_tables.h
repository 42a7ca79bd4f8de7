/* The virtual tables of a recording: the rows of its window messages, and of two of its plain
 * tables, each with the time of its window. docs/sql.md describes them.
 *
 * Rows of messages stand as the agents sent them: a window has a message of each node at least, and
 * rows of the same window and ids add up. */
#ifndef HOLTER_DAEMON_STORAGE_SQL_WINDOW_TABLES_H
#define HOLTER_DAEMON_STORAGE_SQL_WINDOW_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/** What a column holds. Those up to WINDOW_JOB are the first columns of every table. */
enum window_column_kind {
    WINDOW_NUMBER,   /**< number of the window */
    WINDOW_BEGIN_NS, /**< daemon time */
    WINDOW_END_NS,
    WINDOW_TIME,   /**< begin as text, UTC */
    WINDOW_SECOND, /**< begin, seconds since that of the recording */
    WINDOW_JOB,
    WINDOW_HOST, /**< of the message */
    /* Of rows of messages, at an offset in the row. */
    WINDOW_COUNT,  /**< uint64_t; the largest integer of SQLite stands for larger ones */
    WINDOW_SIGNED, /**< int64_t */
    WINDOW_CALL,   /**< number of a call, as its name; 0: NULL */
    WINDOW_COMM,   /**< position of a communicator in the message, as its id */
    WINDOW_COMM_NAME,
    WINDOW_REGION, /**< position of a code region, as its name */
    WINDOW_SIZE,   /**< class of sizes, as the smallest of them */
    /* Of links: computed of the pairs of a message. */
    WINDOW_LINK,
    WINDOW_LINK_SOURCE, /**< name of the vertex that it leaves */
    WINDOW_LINK_DESTINATION,
    WINDOW_LINK_MESSAGES,
    WINDOW_LINK_BYTES,
    WINDOW_PLAIN /**< of plain tables: as it stands there */
};

#define WINDOW_COMMON_COLUMNS 6u

struct window_column {
    const char *name, *type; /**< type as SQLite names it */
    enum window_column_kind kind;
    size_t offset; /**< in the row of a message */
    bool key;      /**< rows of other values are left out early where it is compared by = */
};

enum window_source { WINDOW_MESSAGES, WINDOW_LINKS, WINDOW_PLAIN_TABLE };

struct window_table {
    const char *name;
    enum window_source source;
    size_t rows, count, row_bytes;       /**< in struct wire_window; of messages and links */
    const char *plain;                   /**< of a plain table: its name */
    const struct window_column *columns; /**< ended by a name of NULL */
};

/** Ended by a name of NULL. */
extern const struct window_table window_tables[];

/** @return NULL: there is no such table */
const struct window_table *window_table_find(const char *name);

#endif
