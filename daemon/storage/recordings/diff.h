/* What two recordings of one job say differently: the tables row by row, and the messages. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_DIFF_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DIFF_TABLES 19u /**< 18 tables, and the messages */

/** Rows of a table. */
struct diff_table {
    const char *name;
    uint64_t rows[2];   /**< in each recording */
    uint64_t only[2];   /**< rows whose key the other one does not have */
    uint64_t differing; /**< rows of both with other values */
};

/** A row that differs in one column, or that one recording has alone: then column is empty. */
struct diff_item {
    const char *table;
    char key[160], column[64], value[2][160];
};

struct diff {
    struct diff_table tables[DIFF_TABLES];
    struct diff_item *items; /**< owned: the first ones of each table */
    size_t count, room;
    char job[65];
    uint64_t differences; /**< rows that differ, or that one has alone, together */
};

struct diff_options {
    double tolerance; /**< numbers that differ by no more of the larger one are equal; 0: none */
    size_t items;     /**< of each table, listed at most */
    struct recording_progress progress;
};

/** Compare two recordings. Left out is what tells when and by whom a result was made: the version
 * of Holter, when a window was published.
 *  @param out  finish it
 *  @param why  set on failure @return 0, -HOLTER_ENOJOB: they are of different jobs, or negative:
 * one cannot be read */
int diff_read(struct diff *out, const char *const paths[2], const struct diff_options *options,
              char *why, size_t room);

void diff_finish(struct diff *diff);

/** One object. */
void diff_print_json(FILE *out, const struct diff *diff, const char *const paths[2]);

#endif
