/* Tables of counters of torus networks: a YAML head that names the columns, then rows of numbers;
 * and the file that lists which tables belong together (hardware: coords, dim, source_coords ...).
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
    int64_t *values; /**< owned: one row after the other */
    unsigned *lines; /**< owned: line number of each row */
    size_t rows;
    uint64_t wrong; /**< rows that were left out */
};

/** Parse a table. Malformed rows are reported and left out.
 * @return 0; -HOLTER_EUSAGE, reported: there are no columns, or all rows are malformed; or -ENOMEM
 */
int counter_table_parse(struct counter_table *out, const char *text, size_t length,
                        struct faults *faults);
void counter_table_finish(struct counter_table *table);

/** Index of a column. @return -1, reported: there is no such column */
int counter_table_column(const struct counter_table *table, const char *name,
                         struct faults *faults);

/** The contents of the first file. */
struct counter_meta {
    struct topology_spec spec; /**< a torus: dimensions with names and sizes */
    char source[TOPOLOGY_DIMENSIONS][65],
        destination[TOPOLOGY_DIMENSIONS][65]; /**< names of columns */
    char nodes[257], links[257];              /**< names of tables */
    char ranks[257]; /**< table from rank to node; "": one rank on each node */
};

/** @return 0, -HOLTER_EUSAGE, reported, or -ENOMEM */
int counter_meta_parse(struct counter_meta *out, const char *text, size_t length,
                       struct faults *faults);

#endif
