/* Numbers for names, in the order of their first occurrence. */
#ifndef HOLTER_IMPORT_TRACE_NAMES_H
#define HOLTER_IMPORT_TRACE_NAMES_H

#include "daemon/analysis/tables/key_table.h"

#define TRACE_NAME 65u /**< bytes of a name, with its NUL */

/** Zero-initialised is empty. */
struct trace_names {
    char (*names)[TRACE_NAME]; /**< owned */
    size_t room;
    struct key_table keys; /**< hi: hash of the name; lo: number among those with this hash */
    uint32_t count;
};

#define TRACE_NAMES_FULL UINT32_MAX

void trace_names_finish(struct trace_names *names);

/** Number of a name; a new one gets the next, unless there are `most`. @return TRACE_NAMES_FULL:
 * too many names, or a longer one, or no memory */
uint32_t trace_names_find(struct trace_names *names, const char *name, uint32_t most);

#endif
