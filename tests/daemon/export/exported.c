#include "tests/daemon/export/exported.h"

#include "tests/daemon/export/recorded.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char directory[DIRECTORY_ROOM], path[200];
struct export_source source;
struct content content;
char *text;
size_t length;

void open_source(void)
{
    char why[300] = "";
    assert_int_equal(tables_open(&source.tables, path, why, sizeof(why)), 0);
    assert_int_equal(content_read(&content, path, &(struct content_options){0}, why, sizeof(why)),
                     0);
    source.path = path;
    source.content = &content;
}

void close_source(void)
{
    tables_close(source.tables);
    source.tables = NULL;
    content_finish(&content);
}

int exported_set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/job.hrec", directory);
    recorded_make(path);
    open_source();
    return 0;
}

int exported_tear_down(void **state)
{
    (void)state;
    close_source();
    free(text);
    text = NULL;
    return directory_remove(directory);
}

FILE *begin(void)
{
    free(text);
    text = NULL;
    return open_memstream(&text, &length);
}

unsigned count_of(const char *what)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

void assert_json(const char *at, const char *expected)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_valid(?1), ?1 ->> ?2", -1, &s, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(s, 1, text, (int)length, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, at, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(s, 0), 1);
    assert_string_equal((const char *)sqlite3_column_text(s, 1), expected);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

void change(const char *statements)
{
    sqlite3 *db;
    close_source();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, statements, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    open_source();
}

/* Are all elements closed, in order? What a style sheet and a script contain is no markup. */
static void assert_balanced(const char *at)
{
    char open[64][16];
    unsigned depth = 0;
    while ((at = strchr(at, '<')) != NULL) {
        char name[16] = "";
        int closing = at[1] == '/';
        if (at[1] == '!') {
            at++;
            continue;
        }
        assert_int_equal(sscanf(at + 1 + closing, "%15[a-z0-9]", name), 1);
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (!closing && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)) {
            at = strstr(end, name[1] == 'c' ? "</script>" : "</style>");
            assert_non_null(at);
            at += strlen(name);
            continue;
        }
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/' && strcmp(name, "meta") != 0 && strcmp(name, "img") != 0) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof(name));
        }
        at = end;
    }
    assert_int_equal(depth, 0);
}

void write_report(const struct report_extras *extras)
{
    FILE *out = begin();
    assert_int_equal(report_write(out, &source, extras), 0);
    fclose(out);
    assert_balanced(text);
    assert_int_equal(count_of("<script"), 1); /* its own */
    assert_non_null(strstr(text, "</main>\n<script>// The script of reports"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf,"));
}
