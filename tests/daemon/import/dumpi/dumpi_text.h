/* A DUMPI file as the text that libdumpi's dumpi2ascii makes of it. */
#ifndef TESTS_DAEMON_IMPORT_DUMPI_DUMPI_TEXT_H
#define TESTS_DAEMON_IMPORT_DUMPI_DUMPI_TEXT_H

#include "daemon/import/dumpi/dumpi_stream.h"

#include <stdio.h>

/** The calls, all with their arguments. @return how many; fails the test when the file is not whole
 */
unsigned dumpi_text_calls(FILE *out, const struct dumpi_file *file);

/** The whole file, as dumpi2ascii -a writes one without keyvals, performance counters and names of
 * addresses. Time of day is that of TZ. */
void dumpi_text_all(FILE *out, const struct dumpi_file *file);

#endif
