/* The text that dumpi2ascii prints of one file: each call is a line that tells when it was entered,
 * a line for each argument, and a line that tells when it returned. Before them what the header has
 * may stand, behind them what the footer has. Arguments are known by their names, those that are
 * called otherwise by their order. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_ASCII_H

#include "daemon/import/dumpi/dumpi_stream.h"

#define DUMPI_ASCII_LOOK 2048u /**< bytes that tell whether a file is such a text */

/** Is this the beginning of such a text? */
int dumpi_is_ascii(const uint8_t *begin, size_t length);

/** What stands before the calls, and behind them. @param reader  of the file @return 0 or -ENOMEM
 */
int dumpi_ascii_open(struct dumpi_file *file, struct dumpi_reader *reader);

/** As dumpi_stream_next(). Places are numbers of lines. */
int dumpi_ascii_next(struct dumpi_stream *stream);

#endif
