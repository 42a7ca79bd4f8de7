/* Parses the header and the rows of a table of messages. Pure: neither file nor clock. */
#ifndef HOLTER_IMPORT_CSV_MESSAGE_H
#define HOLTER_IMPORT_CSV_MESSAGE_H

#include "daemon/import/csv/csv_reader.h"

#include <stdint.h>

#define CSV_MAX_RANKS (1u << 20)                   /**< ranks are below this */
#define CSV_MAX_TIME UINT64_C(4611686018427387904) /**< nanoseconds, 146 years */
#define CSV_NAME 64u                               /**< bytes of a name, with its NUL */
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

/** The columns that a header names. */
struct csv_columns {
    int32_t field[CSV_COLUMNS]; /**< index of the field of each column; -1: it is missing */
    uint8_t whole_ns[CSV_COLUMNS];
    uint32_t count;   /**< number of fields of a row */
    uint32_t unknown; /**< number of columns with unknown names, which are ignored */
    char first_unknown[CSV_NAME];
    char separator; /**< ',', ';' or tab */
};

/** A message. Times are nanoseconds on the table's own clock. */
struct csv_message {
    uint32_t source, destination;
    uint64_t bytes;
    uint64_t send_begin, send_end;
    uint64_t receive_begin, receive_end; /**< only valid where `received` is set */
    int received;
    int32_t tag;
    uint16_t call; /**< enum call: a call that sends */
    char communicator[CSV_NAME], region[CSV_NAME], source_host[CSV_NAME],
        destination_host[CSV_NAME]; /**< "": not given */
};

/** Parse a header line; of the possible separators the one with the most known columns is chosen.
 * @param why  set on failure: a sentence @return 0 or -HOLTER_EUSAGE */
int csv_columns_read(struct csv_columns *out, const char *line, size_t length, char why[CSV_WHY]);

/** Is the row empty, or a comment (begins with # and has another number of fields than the header)?
 */
int csv_row_is_blank(const struct csv_columns *columns, const struct csv_row *row);

/** Parse a row. @param why  set on failure: a sentence that names the column
 * @return 0 or -HOLTER_EUSAGE */
int csv_message_read(struct csv_message *out, const struct csv_columns *columns,
                     const struct csv_row *row, char why[CSV_WHY]);

/** A decimal number times 10^power, rounded to the nearest whole number, half away from zero;
 * without floating point: "1700000000.123456789", power 9. Signs and exponents are supported.
 * @param comma  the decimal point may be a comma
 * @return 0, -HOLTER_EUSAGE when it is not a number, -HOLTER_ERANGE beyond 2^62 either way */
int csv_number(const char *text, size_t length, int power, int comma, int64_t *out);

/** The same for a whole number: "1000", "1e3" or "1000.0". @return also -HOLTER_EUSAGE for a number
 * that is not whole */
int csv_whole(const char *text, size_t length, int comma, int64_t *out);

#endif
