/* Tables of comma-separated values (RFC 4180), row by row, in bounded memory.
 *
 * Ends of lines are LF or CR LF; CR alone where the first quarter of a MiB has no LF. A field in
 * quotes may hold separators, ends of lines and doubled quotes. A byte order mark at the beginning
 * of the file is passed over. */
#ifndef HOLTER_IMPORT_CSV_READER_H
#define HOLTER_IMPORT_CSV_READER_H

#include <stddef.h>
#include <stdint.h>

#define CSV_ROW_BYTES 65536u /**< of a row at most; what is longer is no row */
#define CSV_FIELDS 1024u     /**< of a row at most */

/** A field: borrowed from the reader until the next row. Quotes are taken off. */
struct csv_field {
    const char *text; /**< no NUL behind it; may hold any byte */
    uint32_t length;
};

enum csv_fault {
    CSV_WHOLE,
    CSV_TOO_LONG,   /**< more than CSV_ROW_BYTES */
    CSV_TOO_MANY,   /**< more than CSV_FIELDS */
    CSV_OPEN_QUOTE, /**< a quote that is not closed: its line is passed over */
    CSV_AFTER_QUOTE /**< text behind a closing quote */
};

struct csv_row {
    const struct csv_field *fields;
    uint32_t count;  /**< 0 for a row that is not whole */
    uint64_t line;   /**< on which it begins, from 1 up */
    uint64_t offset; /**< of its first byte in the file */
    enum csv_fault fault;
};

struct csv_reader;

/** Where bytes come from. @return how many; 0 at the end; a negative error */
typedef long csv_source(void *user, void *out, size_t room);

/** @return 0 or -ENOMEM */
int csv_reader_create(struct csv_reader **out, csv_source *source, void *user);

/** NULL is fine. */
void csv_reader_destroy(struct csv_reader *reader);

/** Next line that is neither empty nor begins with '#', as it is, without moving on.
 *  @param whole  set to 0 when it is longer than CSV_ROW_BYTES
 *  @return 1, 0 at the end, or the error of the source */
int csv_reader_peek(struct csv_reader *reader, const char **line, size_t *length, int *whole);

/** From now on fields are parted by this. */
void csv_reader_separator(struct csv_reader *reader, char separator);

/** Next row; empty lines are passed over.
 *  @return 1, also for one that is not whole; 0 at the end, or the error of the source */
int csv_reader_next(struct csv_reader *reader, struct csv_row *out);

#endif
