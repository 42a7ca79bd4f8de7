/* Rows and columns of an adjacency matrix in a given order: some blocks are folded to thin bands,
 * and a cell holds several rows where a single row would have less than a pixel (Visuco,
 * section 6.2).
 *
 * The order has levels; level 0 is the outermost. A block of one level holds whole blocks of the
 * next level, and the blocks of the last level are single rows. The array `starts` describes the
 * order: for each row the outermost level at which a block begins there; 0 for the first row.
 *
 * Pure functions. Memory: 10 bytes a row for an axis, 8 for cells. */
#ifndef HOLTER_VIEWER_LAYOUT_ADJACENCY_H
#define HOLTER_VIEWER_LAYOUT_ADJACENCY_H

#include <stdint.h>

#define ADJACENCY_LEVELS 16u

/** Positions of the rows along one side of the matrix, which reaches from 0 to 1. Zero-initialised
 * is empty. */
struct adjacency_axis {
    uint32_t count;
    double *at;        /**< owned; row r lies between at[r] and at[r + 1] */
    uint8_t *folded;   /**< owned; by row */
    uint32_t open;     /**< rows that are not folded */
    uint32_t bands;    /**< thin bands; neighbouring folded blocks share one */
    uint32_t blocks;   /**< folded blocks */
    double open_share; /**< share of the side that open rows occupy */
};

/** Lay out the rows. All open rows are equally wide.
 * @param fold  level whose blocks are folded if they contain no used row; -1: fold nothing
 * @param used  by row; if no row is used, nothing is folded
 * @return 0 or -ENOMEM */
int adjacency_fold(struct adjacency_axis *axis, const uint8_t *starts, uint32_t count, int fold,
                   const uint8_t *used);

/** Row at a position between 0 and 1. */
uint32_t adjacency_row(const struct adjacency_axis *axis, double place);

void adjacency_axis_finish(struct adjacency_axis *axis);

/** Rows that share a cell. Zero-initialised is empty. */
struct adjacency_cells {
    uint32_t count;
    uint32_t *first; /**< owned; rows of cell c are first[c] .. first[c + 1] - 1 */
    uint32_t *cell;  /**< owned; by row */
    int level;       /**< level whose blocks the cells are ... */
    uint32_t group;  /**< ... or, if above 1, number of neighbouring blocks in one cell, all within
                        one block of the next outer level */
    uint32_t most;   /**< largest number of rows in an open cell */
};

/** Aggregate rows from the innermost level outwards until the average cell has at least the share
 * `least` of the side. Where whole blocks would leave only a few cells, neighbouring blocks are
 * joined by powers of two instead. Neighbouring folded blocks form one cell.
 * @return 0 or -ENOMEM */
int adjacency_reduce(struct adjacency_cells *cells, const struct adjacency_axis *axis,
                     const uint8_t *starts, uint32_t levels, double least);

void adjacency_cells_finish(struct adjacency_cells *cells);

#endif
