/* Prints the columns of all tables of recordings, for the documentation. They are read from a
 * recording that is created for this purpose, so that it cannot differ from the code.
 *
 *   hrec-spec markdown | roff */
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int hrec_spec_print_table(FILE *out, struct recording_file *file, const char *table,
                                 int roff)
{
    sqlite3_stmt *s = NULL;
    char sql[160];
    int row;
    const char *comma = "";
    snprintf(sql, sizeof(sql), "SELECT name, type, pk FROM pragma_table_info('%s')", table);
    if (recording_file_prepare(file, &s, sql) != 0)
        return -1;
    fprintf(out, roff ? ".TP\n.B %s\n" : "| `%s` | ", table);
    while ((row = recording_file_step(file, s)) == 1) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const char *type = (const char *)sqlite3_column_text(s, 1);
        fprintf(out, roff ? "%s%s %s" : "%s`%s` %s", comma, name, type);
        if (sqlite3_column_int(s, 2) > 0)
            fputs(roff ? " (key)" : " key", out);
        comma = roff ? ",\n" : ", ";
    }
    fputs(roff ? "\n" : " |\n", out);
    sqlite3_finalize(s);
    return row;
}

static int hrec_spec_print_tables(FILE *out, struct recording_file *file, int roff)
{
    sqlite3_stmt *s = NULL;
    int code = recording_file_prepare(
        file, &s, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    if (!roff)
        fputs("| table | columns |\n| --- | --- |\n", out);
    while (code == 0 && recording_file_step(file, s) == 1)
        code = hrec_spec_print_table(out, file, (const char *)sqlite3_column_text(s, 0), roff);
    sqlite3_finalize(s);
    return code;
}

static int hrec_spec_print(int roff)
{
    struct recording *made;
    struct recording_file file = {0};
    char path[] = "/tmp/hrec-spec-XXXXXX", why[300] = "no temporary file";
    int handle = mkstemp(path);
    int code = handle < 0 ? -1 : 0;
    if (handle >= 0)
        close(handle);
    code = code != 0 ? code : recording_open(&made, path, why, sizeof(why));
    code = code != 0 ? code : recording_close(made);
    code = code != 0 ? code : recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    code = code != 0 ? code : hrec_spec_print_tables(stdout, &file, roff);
    recording_file_close(&file);
    if (handle >= 0)
        unlink(path);
    if (code != 0)
        fprintf(stderr, "hrec-spec: %s\n", why);
    return code != 0;
}

int main(int argc, char **argv)
{
    int roff = argc == 2 && strcmp(argv[1], "roff") == 0;
    if (!roff && (argc != 2 || strcmp(argv[1], "markdown") != 0)) {
        fputs("usage: hrec-spec markdown | roff\n", stderr);
        return 2;
    }
    return hrec_spec_print(roff);
}
