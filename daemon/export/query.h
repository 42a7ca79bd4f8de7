/* Statements of SQL on a recording: on its plain tables and the virtual ones of docs/sql.md.
 * Nothing in the file can be changed by them, no other file can be reached, and nothing in it is
 * trusted. */
#ifndef HOLTER_DAEMON_EXPORT_QUERY_H
#define HOLTER_DAEMON_EXPORT_QUERY_H

#include "daemon/export/row_writer.h"

#include <stddef.h>
#include <stdio.h>

struct query;

/** @param why  set on failure: a sentence for people
 *  @return 0, -ENOMEM, or an error of recording_file_open() */
int query_open(struct query **out, const char *path, char *why, size_t capacity);

/** NULL is fine. */
void query_close(struct query *query);

/** Called again and again while a statement runs. @return nonzero to end it */
typedef int query_is_interrupted(void *user);

void query_set_interrupt(struct query *query, query_is_interrupted *is_interrupted, void *user);

/** How results are written. */
struct query_output {
    FILE *file;
    enum row_format format;
    int no_header;
};

/** Run statements, and write the rows of each that has columns: between two results stands an empty
 * line; of JSON each is an array.
 * @param why  set on failure: "line 2, column 8: no such column: x"
 * @return 0, -HOLTER_EUSAGE when a statement is wrong or not allowed, -EINTR, -HOLTER_ECORRUPT,
 * -EIO when the output cannot be written, or -ENOMEM */
int query_run(struct query *query, const char *sql, const struct query_output *output, char *why,
              size_t capacity);

#endif
