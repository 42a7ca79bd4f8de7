/* Numbers for names, in the order of their first occurrence. */
#ifndef HOLTER_IMPORT_CSV_NAMES_H
#define HOLTER_IMPORT_CSV_NAMES_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/import/csv/csv_message.h"

struct csv_names {
    char (*names)[CSV_NAME]; /**< owned */
    size_t room;
    struct key_table keys; /**< hi: hash of the name; lo: number among those with this hash */
    uint32_t count, most;
};

#define CSV_NAMES_FULL UINT32_MAX

/** @param most  maximum number of names */
void csv_names_init(struct csv_names *names, uint32_t most);
void csv_names_finish(struct csv_names *names);

/** Number of a name, which is added if new. @return CSV_NAMES_FULL: too many names, or no memory */
uint32_t csv_names_find(struct csv_names *names, const char *name);

#endif
