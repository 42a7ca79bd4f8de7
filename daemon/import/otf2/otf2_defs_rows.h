/* Rows of the definitions, and lookups in them. Internal to otf2_defs*.c. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_DEFS_ROWS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_DEFS_ROWS_H

#include "daemon/import/otf2/otf2_defs.h"

struct location {
    uint64_t events;
    uint32_t process;
    int32_t rank;
    int is_thread; /* neither a stream of an accelerator nor one for metrics only */
};

struct process {
    uint32_t node, creator;
    int32_t rank;
    int is_process;
};

struct tree_node {
    uint32_t name, class_name, parent;
    int shares_memory;
};

struct region_def {
    uint32_t name;
    OTF2_Paradigm paradigm;
    OTF2_RegionRole role;
    struct otf2_region made;
};

struct group {
    size_t first; /* index of its first member */
    uint32_t count;
    uint8_t type, paradigm;
    int global;
    struct otf2_group made;
    int is_made;
};

struct comm {
    uint32_t name, group, remote, parent;
};

/** The row of a reference. @return NULL: it is undefined */
const void *otf2_row(const struct otf2_rows *rows, uint64_t ref);

/** A string; "" when it is undefined. */
const char *otf2_text(const struct otf2_defs *defs, uint32_t ref);

#endif
