/* Plain tables of a recording, as docs/recording.md has them: read only, row by row.
 *
 * A file may hold anything: cells come with the type that they have there, and a table that is not
 * there is empty. Nothing in the file is trusted, see recording_file.h. */
#ifndef HOLTER_DAEMON_EXPORT_RECORDING_ROWS_H
#define HOLTER_DAEMON_EXPORT_RECORDING_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define TABLES_COLUMNS 64u /**< of a table; a wider one is refused */

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BYTES };

struct cell {
    const char *name; /**< of the column */
    enum cell_kind kind;
    int64_t integer;  /**< as nearly as it can be told, whatever the kind */
    double real;      /**< likewise; NaN of a NULL */
    const char *text; /**< never NULL; of bytes: "" */
};

struct tables;

/** @param why  set on failure: a sentence for people
 *  @return 0, -ENOMEM, or as recording_file_open() */
int tables_open(struct tables **out, const char *path, char *why, size_t room);

/** NULL is fine. */
void tables_close(struct tables *tables);

/** Told of each row. @param row  valid for the call @return 0, or what ends the reading */
typedef int table_row(void *user, const struct cell *row, size_t columns);

/** Rows of a query, which is the caller's own text. Asking for a table or column that the file does
 * not have gives no rows.
 *  @return 0, what the callback returned, -HOLTER_ECORRUPT or -ENOMEM */
int tables_query(struct tables *tables, const char *query, table_row *row, void *user);

/** One number. @return it; `otherwise` when there is none */
double tables_number(struct tables *tables, const char *query, double otherwise);

/** One text, cut to fit; "" when there is none. */
void tables_text(struct tables *tables, const char *query, char *out, size_t room);

/** Names of the tables that recordings have, in the order in which they are told; ended by NULL. */
extern const char *const tables_names[];

/** Columns that tell a row's place in order: of a name of tables_names. */
const char *tables_order(const char *name);

#endif
