/* Numbers for names, in the order of their first occurrence. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_NAME_TABLE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_NAME_TABLE_H

#include "daemon/analysis/tables/key_table.h"

#define NAME_TABLE_BYTES 65u /**< bytes of a name, with its NUL */

/** Zero-initialised is empty. */
struct name_table {
    char (*names)[NAME_TABLE_BYTES]; /**< owned */
    size_t capacity;
    struct key_table keys; /**< hi: hash of the name; lo: number among those with this hash */
    uint32_t count;
};

#define NAME_TABLE_NONE UINT32_MAX

void name_table_finish(struct name_table *names);

/** Forget all names, and keep the memory. */
void name_table_clear(struct name_table *names);

/** Number of a name; a new one gets the next, unless there are `most`. @return NAME_TABLE_NONE:
 * too many names, or a longer one, or no memory */
uint32_t name_table_number(struct name_table *names, const char *name, uint32_t most);

/** See state_bytes.h. */
void name_table_copy_state(struct state_bytes *b, struct name_table *names);

#endif
