/* The plain tables of a recording, as docs/recording.md describes them, and its virtual ones, see
 * docs/sql.md: read-only, row by row.
 *
 * Files may be corrupt or hostile: cells have the type that they have in the file, and a missing
 * table is empty. Nothing in the file is trusted, see recording_file.h. */
#ifndef HOLTER_DAEMON_EXPORT_RECORDING_ROWS_H
#define HOLTER_DAEMON_EXPORT_RECORDING_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define TABLES_COLUMNS 64u /**< maximum of a table; wider ones are refused */

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BYTES };

struct cell {
    const char *name; /**< of the column */
    enum cell_kind kind;
    int64_t integer;   /**< the nearest whole number, whatever the kind */
    double real;       /**< the value as a floating-point number; NaN for NULL */
    const char *text;  /**< never NULL; "" for bytes */
    const void *bytes; /**< of CELL_BYTES; NULL where there are none */
    size_t length;     /**< of those */
};

/** Read a column of the current row of a statement. */
struct sqlite3_stmt;
struct cell cell_read(struct sqlite3_stmt *statement, int column);

struct tables;

/** @param why  set on failure: a sentence for people
 * @return 0, -ENOMEM, or an error of recording_file_open() */
int tables_open(struct tables **out, const char *path, char *why, size_t capacity);

/** NULL is fine. */
void tables_close(struct tables *tables);

/** Called with each row. @param row  valid for the call @return 0, or a value that ends the reading
 */
typedef int table_row(void *user, const struct cell *row, size_t columns);

/** Read the rows of a query, which must be the caller's own text. A query of a missing table or
 * column has no rows.
 * @return 0, what the callback returned, -HOLTER_ECORRUPT or -ENOMEM */
int tables_query(struct tables *tables, const char *query, table_row *row, void *user);

/** Read one number. @return it; `otherwise` when there is none */
double tables_number(struct tables *tables, const char *query, double otherwise);

/** Read one text, truncated to fit; "" when there is none. */
void tables_text(struct tables *tables, const char *query, char *out, size_t capacity);

/** SQL: condition of alerts that fired: neither those that are pending, nor those that were only
 * pending until they were over. */
#define TABLES_ALERT_FIRED "(state = 'firing' OR (state <> 'pending' AND fired_ns <> 0))"

/** Names of the tables of recordings, in the order of export; terminated by NULL. */
extern const char *const tables_names[];

#endif
