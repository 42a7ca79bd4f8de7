/* Rows and columns of an adjacency matrix in a given order: blocks that are folded to thin bands,
 * and cells that hold several rows where one would have less than a pixel (Visuco, section 6.2).
 *
 * The order has levels, 0 the outermost: a block of a level holds whole blocks of the next, and
 * those of the last level are single rows. It is told by `starts`: of each row the outermost level
 * of which a block begins there; 0 for the first.
 *
 * Pure. Memory: 10 bytes a row for an axis, 8 for cells. */
#ifndef HOLTER_VIEWER_LAYOUT_ADJACENCY_H
#define HOLTER_VIEWER_LAYOUT_ADJACENCY_H

#include <stdint.h>

#define ADJACENCY_LEVELS 16u

/** Where rows are, along one side of the whole matrix, which goes from 0 to 1. Zero-initialised is
 * empty. */
struct adjacency_axis {
    uint32_t count;
    double *at;        /**< owned; edges: row r from at[r] to at[r + 1] */
    uint8_t *folded;   /**< owned; by row */
    uint32_t open;     /**< rows that are not folded */
    uint32_t bands;    /**< thin bands; each holds what was folded side by side */
    uint32_t blocks;   /**< folded blocks */
    double open_share; /**< of the side that open rows have */
};

/** Lay out the rows, equally wide but for those of folded blocks.
 *  @param fold  level whose blocks are folded when no row of theirs is used; -1: none is
 *  @param used  by row; of no row: nothing is folded
 *  @return 0 or -ENOMEM */
int adjacency_fold(struct adjacency_axis *axis, const uint8_t *starts, uint32_t count, int fold,
                   const uint8_t *used);

/** Row at a place. */
uint32_t adjacency_row(const struct adjacency_axis *axis, double place);

void adjacency_axis_finish(struct adjacency_axis *axis);

/** Rows that share a cell. Zero-initialised is empty. */
struct adjacency_cells {
    uint32_t count;
    uint32_t *first; /**< owned; rows of cell c are first[c] .. first[c + 1] - 1 */
    uint32_t *cell;  /**< owned; by row */
    int level;       /**< cells are blocks of it ... */
    uint32_t group;  /**< ... or, above 1, so many of them side by side in one block of the next
                        outer  level */
    uint32_t most;   /**< rows in a cell that is not folded, at most */
    uint32_t rows;   /**< of the axis, when cell was made */
};

/** Aggregate from the innermost level outwards until cells have at least that share of the side on
 * the mean. Where whole blocks would leave but a few cells they are put together by powers of two
 * instead. What is folded side by side is one cell.
 *  @return 0 or -ENOMEM */
int adjacency_reduce(struct adjacency_cells *cells, const struct adjacency_axis *axis,
                     const uint8_t *starts, uint32_t levels, double least);

void adjacency_cells_finish(struct adjacency_cells *cells);

#endif
