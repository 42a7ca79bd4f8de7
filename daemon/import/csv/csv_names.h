/* Numbers for names, in the order of their first occurrence. */
#ifndef HOLTER_IMPORT_CSV_NAMES_H
#define HOLTER_IMPORT_CSV_NAMES_H

#include "daemon/import/csv/csv_message.h"

struct csv_names {
    char (*names)[CSV_NAME]; /**< owned */
    uint32_t count, room;
    uint32_t *slots; /**< owned; number + 1 by hash, 0: empty; twice the capacity */
    uint32_t most;
};

#define CSV_NAMES_FULL UINT32_MAX

/** @param most  maximum number of names */
void csv_names_init(struct csv_names *names, uint32_t most);
void csv_names_finish(struct csv_names *names);

/** Number of a name, which is added if new. @return CSV_NAMES_FULL: too many names, or no memory */
uint32_t csv_names_find(struct csv_names *names, const char *name);

#endif
