/* A recording of a test, and what was made of it last. */
#ifndef HOLTER_TEST_EXPORTED_H
#define HOLTER_TEST_EXPORTED_H

#include "daemon/export/export.h"
#include "daemon/export/report.h"
#include "tests/directory.h"

#include <stddef.h>
#include <stdio.h>

/* A capture: rank 2 posted a message in MPI_Isend and is in MPI_Barrier, as a thread of rank 3 is.
 */
#define CAPTURED                                                                                   \
    "INSERT INTO captures VALUES(1, 1700000001000000000, 1700000001500000000, 'alert 1: <slow>',"  \
    " 1, 1, 1, 5, '');"                                                                            \
    "INSERT INTO capture_events(capture, rank, thread, number, kind, call, enter_ns, exit_ns,"     \
    " peer, bytes, state) VALUES"                                                                  \
    "(1, 2, 0, 8, 'call', 'MPI_Isend', 1700000001100000000, 1700000001100020000, 3, 64, 'send'),"  \
    "(1, 2, 0, 9, 'message', 'MPI_Isend', 1700000001100000000, 1700000001100020000, 1, 8,"         \
    " 'receive done'),"                                                                            \
    "(1, 2, 0, 10, 'call', 'MPI_Barrier', 1700000001200000000, NULL, NULL, 0, ''),"                \
    "(1, 3, 1, 4, 'region begins', 'MPI_Pcontrol', 1700000001200000000, 1700000001200000000, 1,"   \
    " 0, ''),"                                                                                     \
    "(1, 3, 1, 5, 'call', 'MPI_Barrier', 1700000001300000000, NULL, NULL, 0, '');"

extern char directory[DIRECTORY_ROOM], path[200]; /**< the recording, in a directory of its own */
extern struct export_source source;               /**< of it */
extern struct content content;                    /**< of source */
extern char *text;                                /**< of the last export, `length` bytes */
extern size_t length;

/** Make the recording of recorded.h, and open it. */
int exported_set_up(void **state);
int exported_tear_down(void **state);

void open_source(void);
void close_source(void);

/** Change the recording by SQL, and open it again. */
void change(const char *statements);

/** Begin an export. @return where to write it; closed by the caller, it is in `text` */
FILE *begin(void);

/** Make a report, and see to it that it is a page without scripts whose elements are closed. */
void write_report(const struct report_extras *extras);

/** How often something is in `text`. */
unsigned count_of(const char *what);

/** See to it that `text` is JSON to SQLite, which finds this at a path in it. */
void assert_json(const char *at, const char *expected);

#endif
