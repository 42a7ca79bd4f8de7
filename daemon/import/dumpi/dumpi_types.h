/* Sizes of the datatypes of a rank, as far as its calls, or the table in its file, tell them. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_TYPES_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_TYPES_H

#include "daemon/import/dumpi/dumpi_stream.h"

struct dumpi_types {
    uint64_t *sizes; /**< bytes, by handle; UINT64_MAX: not known */
    uint32_t room;
};

/** @param file  its table is for those of which no call tells
 *  @return 0 or -ENOMEM */
int dumpi_types_init(struct dumpi_types *types, const struct dumpi_file *file);
void dumpi_types_finish(struct dumpi_types *types);

/** Bytes of one element. @return 0 for what is not known, or MPI_DATATYPE_NULL */
uint64_t dumpi_type_size(const struct dumpi_types *types, int64_t type);

/** Bytes of count elements; 0 for negative counts. Does not overflow: UINT64_MAX >> 1 at most. */
uint64_t dumpi_type_bytes(const struct dumpi_types *types, int64_t count, int64_t type);

/** Learn from a call; others than those that make types do nothing. @return 0 or -ENOMEM */
int dumpi_types_take(struct dumpi_types *types, const struct dumpi_stream *stream);

#endif
