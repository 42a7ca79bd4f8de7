/* The layouts of all functions, expanded from dumpi_format.def. */
#include "daemon/import/dumpi/dumpi_format.h"

#include <stddef.h>

/* Each kind has one field; AT_ROOT puts a condition before it. */
#define FIELD(kind, name) {DUMPI_KIND_##kind, 0, 0, #name},
#define AT_ROOT(a, b, field) {DUMPI_KIND_IF_EQUAL, a, b, NULL}, field
#define INT(name) FIELD(INT, name)
#define INT64(name) FIELD(INT64, name)
#define INTS(name) FIELD(INTS, name)
#define INTS_SINCE_0_6_8(name) FIELD(INTS_SINCE_0_6_8, name)
#define INTS_SINCE_0_6_9(name) FIELD(INTS_SINCE_0_6_9, name)
#define INT_LISTS(name) FIELD(INT_LISTS, name)
#define INT_OR_NOTHING(name) FIELD(INT_OR_NOTHING, name)
#define SKIP_BEFORE_0_6_2(name) FIELD(SKIP_BEFORE_0_6_2, name)
#define DEST(name) FIELD(DEST, name)
#define SOURCE(name) FIELD(SOURCE, name)
#define TAG(name) FIELD(TAG, name)
#define COMM(name) FIELD(COMM, name)
#define TYPE(name) FIELD(TYPE, name)
#define TYPES(name) FIELD(TYPES, name)
#define TYPE_AT_ROOT_OR_ALL(name) FIELD(TYPE_AT_ROOT_OR_ALL, name)
#define GROUP(name) FIELD(GROUP, name)
#define OP(name) FIELD(OP, name)
#define WIN(name) FIELD(WIN, name)
#define WIN_ASSERT(name) FIELD(WIN_ASSERT, name)
#define LOCKTYPE(name) FIELD(LOCKTYPE, name)
#define FILE_(name) FIELD(FILE, name)
#define FILEMODE(name) FIELD(FILEMODE, name)
#define WHENCE(name) FIELD(WHENCE, name)
#define INFO(name) FIELD(INFO, name)
#define INFOS(name) FIELD(INFOS, name)
#define KEYVAL(name) FIELD(KEYVAL, name)
#define ERRHANDLER(name) FIELD(ERRHANDLER, name)
#define COMPARISON(name) FIELD(COMPARISON, name)
#define TOPOLOGY(name) FIELD(TOPOLOGY, name)
#define COMBINER(name) FIELD(COMBINER, name)
#define ORDERING(name) FIELD(ORDERING, name)
#define DISTRIBUTIONS(name) FIELD(DISTRIBUTIONS, name)
#define THREADLEVEL(name) FIELD(THREADLEVEL, name)
#define TYPECLASS(name) FIELD(TYPECLASS, name)
#define REQUEST(name) FIELD(REQUEST, name)
#define REQUESTS(name) FIELD(REQUESTS, name)
#define IO_REQUEST(name) FIELD(IO_REQUEST, name)
#define IO_REQUESTS(name) FIELD(IO_REQUESTS, name)
#define STATUS(name) FIELD(STATUS, name)
#define STATUSES(name) FIELD(STATUSES, name)
#define STRING(name) FIELD(STRING, name)
#define STRINGS(name) FIELD(STRINGS, name)
#define STRING_LISTS(name) FIELD(STRING_LISTS, name)
#define ARGV(name) FIELD(ARGV, name)

#define END_OF_FIELDS                                                                              \
    {                                                                                              \
        DUMPI_KIND_NONE, 0, 0, NULL                                                                \
    }

#define CALL(name, list) static const struct dumpi_field fields_##name[] = {list END_OF_FIELDS};
#define IO_CALL(name, list)                                                                        \
    static const struct dumpi_field fields_io_##name[] = {list END_OF_FIELDS};
#include "daemon/import/dumpi/dumpi_format.def"
#undef CALL
#undef IO_CALL

static const struct dumpi_layout layouts[DUMPI_FUNCTIONS] = {
#define CALL(name, list) {"MPI_" #name, fields_##name},
#define IO_CALL(name, list) {"MPIO_" #name, fields_io_##name},
#include "daemon/import/dumpi/dumpi_format.def"
#undef CALL
#undef IO_CALL
};

const struct dumpi_layout *dumpi_layout(uint32_t function)
{
    return &layouts[function];
}
