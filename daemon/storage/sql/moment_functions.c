/* moment() and moment_text(). */
#include "daemon/storage/sql/moment_functions.h"

#include "daemon/storage/sql/window_rows.h"
#include "proto/moment.h"

#include <sqlite3.h>
#include <stdint.h>

#define WHY 400u

static void moment_functions_moment(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    char why[WHY];
    uint64_t begin_ns, end_ns, ns;
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || text == NULL)
        return;
    if (window_rows_span(sqlite3_context_db_handle(out), &begin_ns, &end_ns, why, sizeof(why)) !=
            0 ||
        moment_find(text, begin_ns, end_ns, &ns, why, sizeof(why)) != 0) {
        sqlite3_result_error(out, why, -1);
        return;
    }
    sqlite3_result_int64(out, ns > INT64_MAX ? INT64_MAX : (sqlite3_int64)ns);
}

static void moment_functions_text(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    char text[40];
    sqlite3_int64 ns = sqlite3_value_int64(argv[0]);
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || ns < 0)
        return;
    window_rows_time_text((uint64_t)ns, text, sizeof(text));
    sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

int moment_functions_register(sqlite3 *db)
{
    /* Deterministic: the same result within one statement, which sees one state of the file. */
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code =
        sqlite3_create_function(db, "moment", 1, flags, NULL, moment_functions_moment, NULL, NULL);
    return code != SQLITE_OK
               ? code
               : sqlite3_create_function(db, "moment_text", 1, flags | SQLITE_INNOCUOUS, NULL,
                                         moment_functions_text, NULL, NULL);
}
