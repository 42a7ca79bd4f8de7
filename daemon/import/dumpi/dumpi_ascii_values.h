/* Lines of a DUMPI text, and the values of arguments in them. Internal to dumpi_ascii.c. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_VALUES_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_VALUES_H

#include "daemon/import/dumpi/dumpi_stream.h"

/** Read the next line, without its end and terminated by NUL. @return 1; 0: there is none, see the
 * reader's error */
int dumpi_line_next(struct dumpi_line *line, struct dumpi_reader *reader);
void dumpi_line_finish(struct dumpi_line *line);

/** Next whole number; text in round brackets is skipped. @return 0: there is none */
int dumpi_ascii_number(const char **at, const char *end, int64_t *out);

/** Number of the function with that name. @return DUMPI_FUNCTIONS: unknown */
uint32_t dumpi_ascii_function(const char *name, size_t length);

/** The arguments of a call while its lines are read. */
struct dumpi_filling {
    struct dumpi_stream *stream;
    uint8_t kinds[DUMPI_ARGUMENTS];
    const char *names[DUMPI_ARGUMENTS];
    uint32_t optional, filled; /**< bits by argument */
    unsigned count, next;      /**< next: index after the last argument */
};

/** @param function  DUMPI_FUNCTIONS: unknown */
void dumpi_filling_begin(struct dumpi_filling *filling, struct dumpi_stream *stream,
                         uint32_t function);
/** Add a line. Lines that are not arguments are ignored. */
void dumpi_filling_add_line(struct dumpi_filling *filling, const char *line, size_t length);
/** @return 1: all required arguments were found */
int dumpi_filling_end(const struct dumpi_filling *filling);

#endif
