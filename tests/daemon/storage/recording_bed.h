/* A recording in a directory of its own: made, and asked with SQL. */
#ifndef TESTS_DAEMON_STORAGE_RECORDING_BED_H
#define TESTS_DAEMON_STORAGE_RECORDING_BED_H

#include "daemon/storage/recording.h"
#include "tests/directory.h"

#include <stddef.h>
#include <stdint.h>

/** The directory, and the recording in it. */
extern char recording_bed_directory[DIRECTORY_ROOM], recording_bed_path[128];

/** An empty directory, for cmocka. */
int recording_bed_make(void **state);
int recording_bed_drop(void **state);

#define RECORDING_BED(test)                                                                        \
    cmocka_unit_test_setup_teardown(test, recording_bed_make, recording_bed_drop)

/** Open or make the recording. */
struct recording *recording_bed_open(void);

/** Of a window message. */
struct recorded recording_bed_head(uint64_t seq);

/** The number that a query finds first. */
int64_t recording_bed_ask(const char *sql);

/** Run statements on the file. */
void recording_bed_run(const char *sql);

/** A reader's, to whom messages do not matter. */
int recording_bed_no_message(void *user, const struct recorded *head, const void *bytes,
                             size_t length);

#endif
