#include "tests/daemon/storage/recording_writer.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void keep(struct recording *recording, struct recorded head, enum wire_type type,
                 const void *message, size_t damaged)
{
    struct wire_buffer buffer = {0};
    head.type = type;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    memset(buffer.bytes, 0xc1, buffer.length < damaged ? buffer.length : damaged);
    assert_int_equal(recording_write_message(recording, &head, buffer.bytes, buffer.length), 0);
    wire_buffer_finish(&buffer);
}

void kept_message(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message)
{
    keep(recording, head, type, message, 0);
}

void kept_damaged(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message)
{
    keep(recording, head, type, message, 9);
}

int64_t kept_ask(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}
