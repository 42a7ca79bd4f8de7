/* Tables of comma-separated values (RFC 4180), row by row, in bounded memory.
 *
 * Lines end in LF or CR LF; in CR alone where the first quarter of a MiB has no LF. A quoted field
 * may contain separators, line ends and doubled quotes. A byte order mark at the beginning of the
 * file is skipped. */
#ifndef HOLTER_IMPORT_CSV_READER_H
#define HOLTER_IMPORT_CSV_READER_H

#include <stddef.h>
#include <stdint.h>

#define CSV_ROW_BYTES 65536u /**< maximum length of a row; longer ones are malformed */
#define CSV_FIELDS 1024u     /**< maximum number of fields of a row */

/** A field: borrowed from the reader until the next row. Its quotes are removed. */
struct csv_field {
    const char *text; /**< not terminated by NUL; may contain any byte */
    uint32_t length;
};

enum csv_fault {
    CSV_WHOLE,
    CSV_TOO_LONG,   /**< more than CSV_ROW_BYTES */
    CSV_TOO_MANY,   /**< more than CSV_FIELDS */
    CSV_OPEN_QUOTE, /**< a quote that nothing closes before more text: its line is skipped */
    CSV_AFTER_QUOTE /**< text after a closing quote */
};

struct csv_row {
    const struct csv_field *fields;
    uint32_t count;  /**< 0 for a malformed row */
    uint64_t line;   /**< number of its first line, from 1 */
    uint64_t offset; /**< of its first byte in the file */
    enum csv_fault fault;
    int is_remark; /**< it begins with '#', without a quote before */
};

struct csv_reader;

/** Source of bytes. @return number of bytes; 0 at the end; a negative error */
typedef long csv_source(void *user, void *out, size_t capacity);

/** @return 0 or -ENOMEM */
int csv_reader_create(struct csv_reader **out, csv_source *source, void *user);

/** NULL is fine. */
void csv_reader_destroy(struct csv_reader *reader);

/** Peek at the next line that is neither empty nor begins with '#', unchanged and without consuming
 * it.
 * @param whole  set to 0 when it is longer than CSV_ROW_BYTES
 * @return 1, 0 at the end, or the error of the source */
int csv_reader_peek(struct csv_reader *reader, const char **line, size_t *length, int *whole);

/** Set the separator of fields from now on. */
void csv_reader_separator(struct csv_reader *reader, char separator);

/** Read the next row; empty lines are skipped.
 * @return 1, also for a malformed row; 0 at the end, or the error of the source */
int csv_reader_next(struct csv_reader *reader, struct csv_row *out);

#endif
