/* Messages in the text form of a DUMPI file, counted without any of the reader's code.
 */
#ifndef TESTS_DAEMON_IMPORT_DUMPI_DUMPI_SUMS_H
#define TESTS_DAEMON_IMPORT_DUMPI_DUMPI_SUMS_H

#include <stdint.h>

struct dumpi_sums {
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t collectives, given, got; /* calls, and their bytes on this rank */
};

/** @param text    calls of one rank, as libdumpi's dumpi2ascii prints them
 *  @param rank, ranks  of it; all communicators of these texts have all ranks in their order
 *  Fails the test at what it does not know. */
void dumpi_sums_of_text(struct dumpi_sums *out, const char *text, int rank, int ranks);

#endif
