/* Copies rows of a recording's plain tables into another recording. The messages of agents (tables
 * block and agent) are not copied: their numbers would no longer fit. */
#ifndef HOLTER_DAEMON_STORAGE_TABLE_COPY_H
#define HOLTER_DAEMON_STORAGE_TABLE_COPY_H

#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"

#include <stddef.h>
#include <stdint.h>

#define RECORDED_TABLES 19u
#define RECORDED_KEYS 4u

/** By which columns a row of a table belongs to a span of time. */
enum recorded_about {
    ALWAYS,    /**< whenever it was written */
    BY_WINDOW, /**< by the column window */
    BY_SINCE,  /**< from since_ns to updated_ns */
    BY_BEGIN,  /**< from begin_ns to end_ns */
    BY_ASKED,  /**< by asked_ns */
    BY_CAPTURE /**< with the capture that it belongs to */
};

/** A plain table of recordings. */
struct recorded_table {
    const char *name, *keys[RECORDED_KEYS + 1]; /**< columns of its primary key */
    enum recorded_about about;
    const char *state; /**< condition of the rows that hold at the end; NULL: none do */
    /** Of a table that holds the last state of a thing: the column with the time of the state. Of
     * two rows with the same key the newer one is kept. NULL: the one that is copied last. */
    const char *time;
    const char *join; /**< SQL: what becomes of two rows with the same key; NULL: as above */
};

extern const struct recorded_table recorded_tables[RECORDED_TABLES];

/** Write the query for the rows of a table, in the order of its key.
 *  @param span  only rows that are about it: those of its windows, of what began before its end and
 * ended after its begin, or of captures asked for within; tables that do not tell a time have all
 * rows. NULL: all rows
 *  @param window_ns  length of the recording's windows */
void recorded_table_query(const struct recorded_table *table, const struct recorded_span *span,
                          uint64_t window_ns, char *out, size_t capacity);

/** Copy the rows that are about a span of time, as recorded_table_query() selects them.
 *  @param to       written within its open transaction, or a new one
 *  @param damaged  counts on by the tables that are damaged: their other rows are copied
 *  @return 0, -ENOMEM or -EIO */
int table_copy_span(struct recording *to, struct recording_file *from,
                    const struct recorded_span *span, uint64_t window_ns, uint64_t *damaged);

/** Copy what holds at the end of a recording (job, places, network, regions, criteria) and all
 * alerts, whose numbers go on, into the next part of that recording; rows that are damaged are left
 * out.
 * @return as table_copy_span() */
int table_copy_state(struct recording *to, struct recording_file *from);

/** Read the job's id from the table job: a part that had just begun when the job ended has no
 * window that names it.
 *  @return 0, or -HOLTER_EEMPTY: the table has no row */
int table_copy_read_job(struct recording_file *from, char *job, size_t capacity);

/** Does a file hold neither a job nor a message? So does a part whose daemon was killed while
 * creating it. */
int table_copy_is_empty(struct recording_file *from);

#endif
