#include "tests/daemon/storage/recording_bed.h"

#include "tests/daemon/storage/recording_writer.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

char recording_bed_directory[DIRECTORY_ROOM], recording_bed_path[128];

int recording_bed_make(void **state)
{
    (void)state;
    assert_int_equal(directory_make(recording_bed_directory), 0);
    snprintf(recording_bed_path, sizeof(recording_bed_path), "%s/holter-job.0.hrec",
             recording_bed_directory);
    return 0;
}

int recording_bed_drop(void **state)
{
    (void)state;
    return directory_remove(recording_bed_directory);
}

struct recording *recording_bed_open(void)
{
    struct recording *r;
    char why[256] = "";
    if (recording_open(&r, recording_bed_path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return r;
}

struct recorded recording_bed_head(uint64_t seq)
{
    return (struct recorded){.type = WIRE_TYPE_WINDOW,
                             .instance = UINT64_MAX - 5,
                             .seq = seq,
                             .window = 7 + seq,
                             .time_ns = 1000 * seq,
                             .received_ns = 1000 * seq + 1};
}

int64_t recording_bed_ask(const char *sql)
{
    return kept_ask(recording_bed_path, sql);
}

void recording_bed_run(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(recording_bed_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

int recording_bed_no_message(void *user, const struct recorded *head, const void *bytes,
                             size_t length)
{
    (void)user;
    (void)head;
    (void)bytes;
    (void)length;
    return 0;
}
