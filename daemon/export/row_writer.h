/* Rows of tables as CSV (RFC 4180), JSON (RFC 8259) or text in columns. */
#ifndef HOLTER_DAEMON_EXPORT_ROW_WRITER_H
#define HOLTER_DAEMON_EXPORT_ROW_WRITER_H

#include "daemon/export/recording_rows.h"

#include <stdint.h>
#include <stdio.h>

enum row_format { ROW_TEXT, ROW_CSV, ROW_JSON };

/** Rows after which the widths of columns are settled. */
#define ROW_WRITER_TEXTS 256u

/** Writes the rows of one table. Initialise `out` and `format`, and let the rest be zero. */
struct row_writer {
    FILE *out; /**< borrowed */
    enum row_format format;
    int no_header; /**< CSV and text: no line with the names of the columns */
    uint64_t rows;
    /** Of text: rows that are not written yet, their cells one after the other. */
    char **texts; /**< owned */
    size_t text_count, columns;
    size_t widths[TABLES_COLUMNS];
    unsigned char numbers[TABLES_COLUMNS]; /**< aligned to the right */
};

/** Write the names of the columns, where the format has them in a line of their own. To be called
 * before the first row; row_writer_put() does it otherwise.
 * @return 0, -ENOMEM or -EIO */
int row_writer_begin(struct row_writer *writer, const struct cell *row, size_t columns);

/** Write a row: a callback for tables_query(). Bytes are written as hexadecimal digits.
 * @param writer  a struct row_writer
 * @param columns at most TABLES_COLUMNS
 * @return 0, -ENOMEM or -EIO */
int row_writer_put(void *writer, const struct cell *row, size_t columns);

/** Write what is left, and release memory. Safe after an error. @return 0 or -EIO */
int row_writer_end(struct row_writer *writer);

#endif
