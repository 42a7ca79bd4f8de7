/* A recorder in a loop of its own, and what it reported. */
#ifndef TESTS_DAEMON_STORAGE_RECORD_BED_H
#define TESTS_DAEMON_STORAGE_RECORD_BED_H

#include "daemon/storage/record.h"
#include "tests/directory.h"

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define RECORD_BED_AGENT 9u /**< of whom all messages are */

struct record_bed {
    char directory[DIRECTORY_ROOM], path[128], other_path[128]; /**< of files in the directory */
    uv_loop_t loop;
    struct recorder *r;
    uint64_t kept;          /**< number of the newest message that is safe */
    unsigned stops;         /**< of recordings */
    char job[65], why[256]; /**< of the last one */
};

/** A bed with an empty directory, for cmocka. @param state  set to it */
int record_bed_make(void **state);
int record_bed_drop(void **state);

/** Remove all files. */
void record_bed_clear(struct record_bed *bed);

/** Start a recorder. @param options  NULL: the usual ones */
void record_bed_begin(struct record_bed *bed, const struct recorder_options *options);

/** Let it finish. */
void record_bed_end(struct record_bed *bed);

/** Keep a window message that does not compress. */
void record_bed_keep(struct record_bed *bed, const char *job, uint64_t seq, size_t length);

/** Wait until the message of this number is committed: then the recorder's thread waits for more.
 */
void record_bed_rest(struct record_bed *bed, uint64_t kept);

/** Numbers of the messages in a file, as digits: 12 for 1 and 2. Fails the test when it cannot be
 * read. */
uint64_t record_bed_messages(const char *path);

#endif
