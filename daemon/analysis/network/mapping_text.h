/* A mapping of ranks to nodes, in the text formats of launchers.
 *
 * - plain: "RANK NODE" a line; nodes by their number, row-major;
 *
 * - openmpi: rankfile of mpirun(1), "rank 0=host slot=0"; a host whose name is not known is given
 * by its position in the allocation, "+n0";
 *
 * - mpich: MPICH_RANK_ORDER of Cray MPICH (intro_mpi(3), MPICH_RANK_REORDER_METHOD=3): ranks
 * separated by commas, in the order of the slots of the allocation, here a line a node;
 *
 * - slurm: the file that SLURM_HOSTFILE names, for srun(1) --distribution=arbitrary: host of rank
 * 0, of rank 1, ..., a line each;
 *
 * - bgq: mapping file of runjob, coordinates "A B C D E T" of rank 0, of rank 1, ..., a line each;
 * T counts the ranks of a node.
 *
 * Pure: the text is memory of the caller's. */
#ifndef HOLTER_ANALYSIS_NETWORK_MAPPING_TEXT_H
#define HOLTER_ANALYSIS_NETWORK_MAPPING_TEXT_H

#include "daemon/analysis/network/topology.h"

#include <stddef.h>
#include <stdint.h>

/** X(NAME, "text") */
#define MAPPING_FORMATS(X)                                                                         \
    X(PLAIN, "plain")                                                                              \
    X(OPENMPI, "openmpi")                                                                          \
    X(MPICH, "mpich")                                                                              \
    X(SLURM, "slurm")                                                                              \
    X(BGQ, "bgq")

enum mapping_format {
#define X(NAME, text) MAPPING_##NAME,
    MAPPING_FORMATS(X)
#undef X
        MAPPING_KINDS
};

/** Where a rank is placed. */
struct mapping_seat {
    uint64_t rank;
    uint32_t vertex; /**< a node, or a core within one */
};

/** @return the format of this name, or -1: there is none */
int mapping_format_of(const char *name);
const char *mapping_format_name(enum mapping_format format);

/** A mapping that is written; all is borrowed. */
struct mapping {
    const struct mapping_seat *seats; /**< each rank once, in any order */
    size_t count;
    const struct topology *topology; /**< gives coordinates, and names where hosts has none */
    const char *const *hosts;        /**< by vertex, the node's host name, NULL or "": as the
                                          topology has it; NULL: none at all */
};

/** Write a mapping.
 *  @param out       set to text for free(), NUL-terminated
 *  @param length    set: its length without the NUL
 *  @param why       set on failure: a sentence
 *  @return 0, -ENOMEM, or -HOLTER_EUSAGE: the format cannot express this mapping, or a rank is
 * listed twice */
int mapping_text(char **out, size_t *length, enum mapping_format format,
                 const struct mapping *mapping, char *why, size_t capacity);

/** A plain mapping that is read. */
struct mapping_reader {
    const char *text; /**< borrowed */
    size_t length;
    uint32_t nodes; /**< vertices are below this */
    unsigned line;  /**< of the last line that was read, from 1 */
    char why[200];  /**< set on failure, but for -ENOMEM: a sentence */
};

/** Read a plain mapping. Empty lines and those that begin with '#' are skipped.
 *  @param out  set to memory for free(), by rank
 *  @return 0, -ENOMEM, or -HOLTER_EUSAGE */
int mapping_read(struct mapping_seat **out, size_t *count, struct mapping_reader *reader);

#endif
