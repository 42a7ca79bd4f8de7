/* Optimal assignment: of all ways to give each row of a sparse table at most one column, each
 * column to one row, the one of the largest sum (maximum weight bipartite matching; Kuhn 1955,
 * cited as [30] in CommGram). Rows and columns are the communities of two partitions, entries what
 * they share.
 *
 * By shortest augmenting paths with potentials (Jonker and Volgenant 1987) on the entries that are
 * there: rows first bid for columns (their augmenting row reduction), and for each that is left a
 * path is searched, never longer than the row's own potential, at which it stays without a column.
 * All sums are integers, so the result is exact. It is at most (rows) searches of O(entries log
 * columns); contingencies of real partitions need few and short ones.
 *
 * Which of several assignments of the same sum is found depends on the order of rows and of entries
 * in them, and on nothing else.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_ASSIGNMENT_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_ASSIGNMENT_H

#include <stdint.h>

#define ASSIGNMENT_NONE UINT32_MAX
#define ASSIGNMENT_MAXIMUM (1u << 24)        /**< bound of each parameter */
#define ASSIGNMENT_TOTAL (UINT64_C(1) << 62) /**< the sum of all weights is at most this */

/** Memory is taken as needed: 28 bytes a row, 52 a column and 32 an entry, and half as much again.
 */
struct assignment_params {
    uint32_t most_rows;
    uint32_t most_columns; /**< columns are 0 to one less than this */
    uint32_t most_entries; /**< of all rows, those of the same row and column counted once */
};

struct assignment_entry {
    uint64_t weight;
    uint32_t column;
};

struct assignment;

/** An empty table. @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter is 0 or beyond its bound */
int assignment_create(struct assignment **out, const struct assignment_params *params);
void assignment_destroy(struct assignment *assignment);

/** Empties the table; its memory is reused. */
void assignment_clear(struct assignment *assignment);

/** Append a row, numbered from 0.
 *  @param entries  borrowed, in any order; those of the same column are added up, weights of 0 are
 *                  as none; may be NULL if count is 0
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT: too many rows or entries, or -HOLTER_ERANGE: a column that
 * is not below most_columns, or weights above ASSIGNMENT_TOTAL. After an error the table can only
 * be cleared: until then the same error is returned by this and assignment_solve() */
int assignment_row(struct assignment *assignment, const struct assignment_entry *entries,
                   uint32_t count);

/** Find the best assignment.
 *  @param minimum    sums below this are of no interest; 0: all are
 *  @param matched  set to the best sum when 0 is returned
 *  @return 0, 1: no assignment reaches `minimum`, found out as early as possible; or -ENOMEM or the
 *          error of assignment_row() */
int assignment_solve(struct assignment *assignment, uint64_t minimum, uint64_t *matched);

/** The column of a row after assignment_solve() returned 0; ASSIGNMENT_NONE: it has none. Never one
 *  that the row has no entry for. */
uint32_t assignment_column(const struct assignment *assignment, uint32_t row);

#endif
