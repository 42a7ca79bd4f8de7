/* Copies rows of a recording's plain tables into another recording. The messages of agents (tables
 * block and agent) are not copied: their numbers would no longer fit. */
#ifndef HOLTER_DAEMON_STORAGE_TABLE_COPY_H
#define HOLTER_DAEMON_STORAGE_TABLE_COPY_H

#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"

#include <stddef.h>
#include <stdint.h>

/** Copy the rows that are about a span of time.
 *  @param to               written within its open transaction, or a new one
 *  @param from_ns, to_ns   bounds of the span, daemon time; 0 and UINT64_MAX: all rows
 *  @param window_ns        length of the windows of `from`
 *  @return 0, -ENOMEM or -EIO; rows that are damaged are left out */
int table_copy_span(struct recording *to, struct recording_file *from, uint64_t from_ns,
                    uint64_t to_ns, uint64_t window_ns);

/** Copy what holds at the end of a recording (job, places, network, regions, criteria, the newest
 * alerts) into the next part of that recording. @return as table_copy_span() */
int table_copy_state(struct recording *to, struct recording_file *from);

/** Read the job's id from the table job: a part that had just begun when the job ended has no
 * window that names it.
 *  @return 0, or -HOLTER_EEMPTY: the table has no row */
int table_copy_read_job(struct recording_file *from, char *job, size_t capacity);

/** Does a file hold neither a job nor a message? So does a part whose daemon was killed while
 * creating it. */
int table_copy_is_empty(struct recording_file *from);

#endif
