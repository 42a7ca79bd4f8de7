/* Sizes of the datatypes of a rank, from its calls and from the table in its file. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_TYPES_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_TYPES_H

#include "daemon/import/dumpi/dumpi_stream.h"

#define DUMPI_MAX_BYTES (UINT64_MAX >> 1)

/** Sums and products do not overflow: they stay at DUMPI_MAX_BYTES. */
static inline uint64_t dumpi_bytes_sum(uint64_t a, uint64_t b)
{
    return a > DUMPI_MAX_BYTES - b ? DUMPI_MAX_BYTES : a + b;
}

static inline uint64_t dumpi_bytes_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > DUMPI_MAX_BYTES ? DUMPI_MAX_BYTES
                                                                               : product;
}

struct dumpi_types {
    uint64_t *sizes; /**< bytes, by handle; UINT64_MAX: unknown */
    uint32_t capacity;
};

/** @param file  its table is used for types that no call defines
 * @return 0 or -ENOMEM */
int dumpi_types_init(struct dumpi_types *types, const struct dumpi_file *file);
void dumpi_types_finish(struct dumpi_types *types);

/** Bytes of one element. @return 0 for an unknown type, or MPI_DATATYPE_NULL */
uint64_t dumpi_type_size(const struct dumpi_types *types, int64_t type);

/** Bytes of count elements; 0 for negative counts. */
uint64_t dumpi_type_bytes(const struct dumpi_types *types, int64_t count, int64_t type);

/** Update the sizes from a call; calls that make no type are ignored. @return 0 or -ENOMEM */
int dumpi_types_update(struct dumpi_types *types, const struct dumpi_stream *stream);

#endif
