/* Inside of dumpi_ascii: lines, and the values of arguments in them. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_VALUES_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_VALUES_H

#include "daemon/import/dumpi/dumpi_stream.h"

/** Next line, without its end, a NUL behind it. @return 1; 0: there is none, see the reader's error
 */
int dumpi_line_next(struct dumpi_line *line, struct dumpi_reader *reader);
void dumpi_line_finish(struct dumpi_line *line);

/** Next whole number; what stands in round brackets is passed over. @return 0: there is none */
int dumpi_ascii_number(const char **at, const char *end, int64_t *out);

/** Number of the function with that name. @return DUMPI_FUNCTIONS: there is none */
uint32_t dumpi_ascii_function(const char *name, size_t length);

/** Arguments of a call, as they come. */
struct dumpi_filling {
    struct dumpi_stream *stream;
    uint8_t kinds[DUMPI_ARGUMENTS];
    const char *names[DUMPI_ARGUMENTS];
    uint32_t optional, filled; /**< bits by argument */
    unsigned count, next;      /**< next: argument behind the one that came last */
};

/** @param function  DUMPI_FUNCTIONS: it has none */
void dumpi_filling_begin(struct dumpi_filling *filling, struct dumpi_stream *stream,
                         uint32_t function);
/** A line. What is no argument is passed over. */
void dumpi_filling_take(struct dumpi_filling *filling, const char *line, size_t length);
/** @return 1: all arguments came that must */
int dumpi_filling_end(const struct dumpi_filling *filling);

#endif
