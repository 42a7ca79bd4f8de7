/* Tables of counters of torus networks: a YAML head that names the columns, then rows of numbers;
 * and the file that says which tables belong together (hardware: coords, dim, source_coords ...).
 */
#ifndef HOLTER_IMPORT_COUNTER_TABLE_H
#define HOLTER_IMPORT_COUNTER_TABLE_H

#include "daemon/analysis/network/topology.h"
#include "daemon/topology/file_text.h"

#include <stddef.h>
#include <stdint.h>

#define COUNTER_COLUMNS 64u
#define COUNTER_VALUES ((size_t)1 << 26)

struct counter_table {
    char columns[COUNTER_COLUMNS][65];
    uint32_t column_count;
    int64_t *values; /**< owned: row after row */
    unsigned *lines; /**< owned: of each row */
    size_t rows;
    uint64_t wrong; /**< rows that were left out */
};

/** Rows that are wrong are told and left out.
 *  @return 0, -HOLTER_EUSAGE after telling: no columns, or all rows are wrong; or -ENOMEM */
int counter_table_parse(struct counter_table *out, const char *text, size_t length,
                        struct faults *faults);
void counter_table_finish(struct counter_table *table);

/** Position of a column. @return -1 after telling: there is none */
int counter_table_column(const struct counter_table *table, const char *name,
                         struct faults *faults);

/** What the first file says. */
struct counter_meta {
    struct topology_spec spec; /**< torus: dimensions with names and sizes */
    char source[TOPOLOGY_DIMENSIONS][65], destination[TOPOLOGY_DIMENSIONS][65]; /**< columns */
    char nodes[257], links[257];                                                /**< tables */
    char ranks[257]; /**< table from rank to node; "": a rank a node */
};

/** @return 0, -HOLTER_EUSAGE after telling, or -ENOMEM */
int counter_meta_parse(struct counter_meta *out, const char *text, size_t length,
                       struct faults *faults);

#endif
