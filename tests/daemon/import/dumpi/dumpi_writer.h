/* DUMPI files for tests, of any version. */
#ifndef TESTS_DAEMON_IMPORT_DUMPI_DUMPI_WRITER_H
#define TESTS_DAEMON_IMPORT_DUMPI_DUMPI_WRITER_H

#include "daemon/import/dumpi/dumpi_stream.h"

#include <stdio.h>

struct dumpi_writer {
    uint8_t *bytes;
    size_t length, room;
    uint8_t version[3];
    uint8_t mask;
    uint16_t thread;
    uint64_t now_ns,
        call_ns; /* begin of the next call; how long each takes. 1 us after it the next begins */
    uint32_t counters; /* performance counters of each call */
    int gatherv_type;  /* ranks that are not the root have the type of MPI_Gatherv, too */
    const char *host;
    uint64_t start_s;
    int32_t mesh_place; /* -1: there is no mesh */
    uint32_t off_function,
        off_calls; /* of that function, while it was not to be recorded; 0: there is no footer */
};

/** Version 13, wall clock and processor clock, statuses and threads; base_s: of both clocks. */
void dumpi_writer_begin(struct dumpi_writer *writer, uint32_t base_s);

/** A call. Arguments as the layout has them: numbers as long long; arrays as int length, const
 * int32_t *; statuses as int length, const struct dumpi_status *; strings as const char *; argv as
 * const char *const *. Those that are not there are not given. */
void dumpi_writer_call(struct dumpi_writer *writer, uint32_t function, ...);

void dumpi_writer_bytes(struct dumpi_writer *writer, const void *bytes, size_t length);
void dumpi_writer_number(struct dumpi_writer *writer, uint64_t value, unsigned bytes);

/** End of the calls, header, sizes of types, index. @param types  0: no table */
void dumpi_writer_end(struct dumpi_writer *writer, const int32_t *sizes, uint32_t types);

/** Write it, and forget it. @param cut  bytes left out at the end */
void dumpi_writer_save(struct dumpi_writer *writer, const char *path, size_t cut);

#endif
