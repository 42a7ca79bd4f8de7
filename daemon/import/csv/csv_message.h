/* Rows of a table of messages: columns by their names, values by their columns. Pure: neither file
 * nor clock. */
#ifndef HOLTER_IMPORT_CSV_MESSAGE_H
#define HOLTER_IMPORT_CSV_MESSAGE_H

#include "daemon/import/csv/csv_reader.h"

#include <stdint.h>

#define CSV_RANKS_MOST (1u << 20)                   /**< ranks are below this */
#define CSV_TIME_MOST UINT64_C(4611686018427387904) /**< nanoseconds, 146 years */
#define CSV_NAME 64u                                /**< bytes of a name, with its NUL */
#define CSV_WHY 200u

enum csv_column {
    CSV_SOURCE,
    CSV_DESTINATION,
    CSV_BYTES,
    CSV_SEND_BEGIN,
    CSV_SEND_END,
    CSV_RECEIVE_BEGIN,
    CSV_RECEIVE_END,
    CSV_TAG,
    CSV_COMMUNICATOR,
    CSV_REGION,
    CSV_CALL,
    CSV_SOURCE_HOST,
    CSV_DESTINATION_HOST,
    CSV_COLUMNS
};

/** Which field a column is in. */
struct csv_columns {
    int32_t field[CSV_COLUMNS]; /**< -1: there is no such column */
    uint8_t whole_ns[CSV_COLUMNS];
    uint32_t count;   /**< of fields that a row has */
    uint32_t unknown; /**< columns that mean nothing here */
    char first_unknown[CSV_NAME];
    char separator; /**< ',', ';' or tab */
};

/** A message. Times are nanoseconds, as the table has them. */
struct csv_message {
    uint32_t source, destination;
    uint64_t bytes;
    uint64_t send_begin, send_end;
    uint64_t receive_begin, receive_end; /**< only where `received` is set */
    int received;
    int32_t tag;
    uint16_t call; /**< enum call, one that sends */
    char communicator[CSV_NAME], region[CSV_NAME], source_host[CSV_NAME],
        destination_host[CSV_NAME]; /**< "": not given */
};

/** Understand a header line; its separator is the one by which most columns are known.
 *  @param why  set on failure: a sentence @return 0 or -HOLTER_EUSAGE */
int csv_columns_read(struct csv_columns *out, const char *line, size_t length, char why[CSV_WHY]);

/** Does it say nothing: empty fields, or a comment, which begins with # and has not as many fields
 * as others? */
int csv_row_is_blank(const struct csv_columns *columns, const struct csv_row *row);

/** Understand a row. @param why  set on failure: a sentence that names the column
 *  @return 0 or -HOLTER_EUSAGE */
int csv_message_read(struct csv_message *out, const struct csv_columns *columns,
                     const struct csv_row *row, char why[CSV_WHY]);

/** A decimal number times 10^power, rounded to the nearest whole number, half away from zero;
 * without a detour through floating point: "1700000000.123456789", power 9. Signs and exponents are
 * understood.
 *  @param comma  the decimal point may be a comma
 *  @return 0, or -HOLTER_EUSAGE when it is no number, -HOLTER_ERANGE beyond 2^62 either way */
int csv_number(const char *text, size_t length, int power, int comma, int64_t *out);

/** The same of a whole number, "1000", "1e3" or "1000.0". @return also -HOLTER_EUSAGE when it is
 * none */
int csv_whole(const char *text, size_t length, int comma, int64_t *out);

#endif
