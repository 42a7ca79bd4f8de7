/* The text that dumpi2ascii prints of one file: each call is a line with the time of its entry, a
 * line for each argument, and a line with the time of its return. The contents of the header may
 * precede the calls, those of the footer may follow. Arguments are identified by their names, or by
 * their order if the names differ. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_H

#include "daemon/import/dumpi/dumpi_stream.h"

#define DUMPI_ASCII_LOOK 2048u /**< bytes that are enough to recognise such a text */

/** Is this the beginning of such a text? */
int dumpi_is_ascii(const uint8_t *begin, size_t length);

/** Read what precedes and follows the calls. @param reader  of the file @return 0 or -ENOMEM */
int dumpi_ascii_open(struct dumpi_file *file, struct dumpi_reader *reader);

/** As dumpi_stream_next(). Places are line numbers. */
int dumpi_ascii_next(struct dumpi_stream *stream);

#endif
