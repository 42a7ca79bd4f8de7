/* DUMPI traces that tests write themselves, and their records. */
#ifndef TESTS_DAEMON_IMPORT_DUMPI_DUMPI_OWN_H
#define TESTS_DAEMON_IMPORT_DUMPI_DUMPI_OWN_H

#include "daemon/import/dumpi/dumpi.h"
#include "tests/daemon/import/dumpi/dumpi_sums.h"
#include "tests/daemon/import/dumpi/dumpi_writer.h"
#include "tests/directory.h"

#define RECORDS 400 /* of a stream, at most */

/* Handles, and how arguments are passed to dumpi_writer_call(). */
enum { INT_ = 9, DOUBLE_ = 14, WORLD_ = 2, SELF_ = 3, NOBODY_ = 1 };
#define LL(value) ((long long)(value))
#define IGNORED 0, (const struct dumpi_status *)NULL
#define STATUS(bytes, source, tag) 1, (&(struct dumpi_status){bytes, source, tag, 0, 0})

enum {
    SENT = EVENT_SEND | EVENT_POST | EVENT_DONE,
    RECEIVED = EVENT_RECV | EVENT_POST | EVENT_DONE,
};

extern char directory[DIRECTORY_ROOM]; /**< of the test that runs */
extern char told[8000];                /**< reported faults of the files, line by line */
extern struct dumpi_writer writers[4]; /**< by rank */

/** Before and after each test. */
int make_directory(void **state);
int remove_directory(void **state);

void hear(void *user, const char *text);

/** Path of a file in the directory; until the next. */
const char *in_directory(const char *name);

void begin_files(int ranks);
/** @param cut  bytes left out at the end */
void save_rank(int rank, size_t cut);
void end_files(int ranks);
struct dumpi_trace *open_files(void);

/** All records of a stream. @param code  set to what ended it; NULL: nothing may be wrong @return
 * how many */
int records_of(struct dumpi_trace *trace, uint32_t stream, struct event *out, int *code);

/** What the records of a stream say about messages. */
void dumpi_sums_of_stream(struct dumpi_sums *out, struct dumpi_trace *trace, uint32_t stream);

struct trace_comm comm_of(struct dumpi_trace *trace, uint32_t rank, uint32_t slot);

#endif
