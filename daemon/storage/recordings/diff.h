/* Compares two recordings of one job: the tables row by row, and the messages. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_H

#include "daemon/storage/recording.h"
#include "daemon/storage/table_copy.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DIFF_TABLES (RECORDED_TABLES + 1u) /**< and the messages */

/** Result for one table. */
struct diff_table {
    const char *name;
    uint64_t rows[2];   /**< in each recording */
    uint64_t only[2];   /**< rows whose key only this recording has */
    uint64_t differing; /**< rows that both have, with different values */
};

/** A row that differs in a column, or that only one recording has: then column is empty. */
struct diff_item {
    const char *table;
    char key[160], column[64], value[2][160];
};

struct diff {
    struct diff_table tables[DIFF_TABLES];
    struct diff_item *items; /**< owned: the first differences of each table */
    size_t count, capacity;
    char job[65];
    uint64_t differences; /**< rows that differ, and rows that only one recording has */
};

struct diff_options {
    double tolerance; /**< relative tolerance: numbers are equal if they differ by no more than this
                         share of the larger one; 0: exact */
    size_t items;     /**< differences listed per table at most */
    struct recording_progress progress;
};

/** Compare two recordings. Columns that state when and by which version a result was made are
 * ignored.
 * @param out  finish it
 * @param why  set on failure
 * @return 0, -HOLTER_ENOJOB: the recordings are of different jobs; or negative: one cannot be
 * read */
int diff_read(struct diff *out, const char *const paths[2], const struct diff_options *options,
              char *why, size_t capacity);

void diff_finish(struct diff *diff);

/** One object. */
void diff_print_json(FILE *out, const struct diff *diff, const char *const paths[2]);

#endif
