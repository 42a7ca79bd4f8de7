/* The contents of DUMPI files: the functions of MPI-2 by their numbers, and the arguments of their
 * records.
 *
 * Source: "The DUMPI trace file format" (docs/traceformat.dox of libdumpi), and files. All numbers
 * are big-endian on every machine. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FORMAT_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FORMAT_H

#include <stdint.h>

/** Numbers of functions in files. */
enum dumpi_function {
#define CALL(name, fields) DUMPI_##name,
#define IO_CALL(name, fields) DUMPIO_##name,
#include "daemon/import/dumpi/dumpi_format.def"
#undef CALL
#undef IO_CALL
    DUMPI_FUNCTIONS, /**< number of functions; as a function number: unknown */
};

#define DUMPI_END (DUMPI_FUNCTIONS + 3u) /**< end marker in place of a function */

/** How a field is stored, and its meaning. Arrays begin with their length, 32 bits. */
enum dumpi_kind {
    DUMPI_KIND_NONE,     /**< marks the end of the fields */
    DUMPI_KIND_IF_EQUAL, /**< not a field: a condition, the next field exists when arguments a and b
                            are equal */
    /* 8 bits */
    DUMPI_KIND_OP,
    DUMPI_KIND_COMPARISON,
    DUMPI_KIND_TOPOLOGY,
    DUMPI_KIND_COMBINER,
    DUMPI_KIND_ORDERING,
    DUMPI_KIND_THREADLEVEL,
    DUMPI_KIND_TYPECLASS,
    DUMPI_KIND_FILEMODE,
    DUMPI_KIND_LOCKTYPE,
    DUMPI_KIND_WIN_ASSERT,
    DUMPI_KIND_WHENCE,
    /* 16 bits */
    DUMPI_KIND_COMM,
    DUMPI_KIND_TYPE,
    DUMPI_KIND_GROUP,
    DUMPI_KIND_WIN,
    DUMPI_KIND_FILE,
    DUMPI_KIND_INFO,
    DUMPI_KIND_KEYVAL,
    DUMPI_KIND_ERRHANDLER,
    DUMPI_KIND_TYPE_AT_ROOT_OR_ALL, /**< on ranks other than the root only in newer files */
    /* 32 bits */
    DUMPI_KIND_INT,
    DUMPI_KIND_DEST,
    DUMPI_KIND_SOURCE,
    DUMPI_KIND_TAG,
    DUMPI_KIND_REQUEST,
    DUMPI_KIND_IO_REQUEST,
    DUMPI_KIND_SKIP_BEFORE_0_6_2, /**< repeated in files before that version */
    DUMPI_KIND_INT_OR_NOTHING,
    /* 64 bits */
    DUMPI_KIND_INT64,
    /* arrays */
    DUMPI_KIND_INTS,
    DUMPI_KIND_INTS_SINCE_0_6_9, /**< one number without a length in files before that version */
    DUMPI_KIND_INTS_SINCE_0_6_8,
    DUMPI_KIND_REQUESTS,
    DUMPI_KIND_IO_REQUESTS,
    DUMPI_KIND_TYPES,
    DUMPI_KIND_INFOS,
    DUMPI_KIND_DISTRIBUTIONS,
    DUMPI_KIND_STATUS,   /**< an array of at most one element, */
    DUMPI_KIND_STATUSES, /**< or of more: struct dumpi_status; missing when the record's mask says
                            so */
    DUMPI_KIND_INT_LISTS,
    DUMPI_KIND_STRING,
    DUMPI_KIND_STRINGS,
    DUMPI_KIND_ARGV, /**< as many strings as the previous field states */
    DUMPI_KIND_STRING_LISTS,
};

struct dumpi_field {
    uint8_t kind; /**< enum dumpi_kind */
    uint8_t a, b; /**< DUMPI_KIND_IF_EQUAL */
    const char *name;
};

#define DUMPI_ARGUMENTS 12u /**< maximum number of arguments of a function */

struct dumpi_layout {
    const char *name;                 /**< "MPI_Send" */
    const struct dumpi_field *fields; /**< ends with DUMPI_KIND_NONE */
};

/** @param function  below DUMPI_FUNCTIONS */
const struct dumpi_layout *dumpi_layout(uint32_t function);

/** Handles that are equal in all files. */
enum {
    DUMPI_TYPE_NULL = 1,
    DUMPI_TYPES_NAMED = 28, /**< numbers below this are predefined types of MPI */
    DUMPI_COMM_NULL = 1,
    DUMPI_COMM_WORLD = 2,
    DUMPI_COMM_SELF = 3,
    DUMPI_GROUP_EMPTY = 2,
    DUMPI_REQUEST_NULL = 1,
    DUMPI_ROOT = -2,
    DUMPI_ANY_SOURCE = -1, /**< also MPI_PROC_NULL where that is -1 (MPICH and relatives) */
    DUMPI_ANY_TAG = -1,
};

#endif
