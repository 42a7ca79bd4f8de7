/* Writes the columns of all tables of recordings into files, between two marks, or checks that
 * they are up to date. They are read from a recording that is created for this purpose, so that
 * the documentation cannot differ from the code.
 *
 *   hrec-spec --check | --write FILE...     status 1 when a file differs or has no marks */
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 20)

static const struct {
    const char *suffix, *begin, *end;
    int roff;
} forms[] = {
    {".md", "<!-- tables of recordings: made by hrec-spec -->\n", "<!-- end of them -->\n", 0},
    {".5", ".\\\" tables: made by hrec-spec\n", ".\\\" end of them\n", 1},
};

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

static char *hrec_spec_make_tables(int roff)
{
    struct recording *made;
    struct recording_file file = {0};
    char path[] = "/tmp/hrec-spec-XXXXXX", why[300], *text = NULL;
    size_t length;
    int handle = mkstemp(path);
    if (handle < 0)
        return NULL;
    close(handle);
    int code = recording_open(&made, path, why, sizeof(why));
    code = code != 0 ? code : recording_close(made);
    code = code != 0 ? code : recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    FILE *out = open_memstream(&text, &length);
    if (code == 0 && out != NULL)
        code = hrec_spec_print_tables(out, &file, roff);
    if (out != NULL)
        fclose(out);
    recording_file_close(&file);
    unlink(path);
    if (code == 0)
        return text;
    fprintf(stderr, "hrec-spec: %s\n", why);
    free(text);
    return NULL;
}

static char *hrec_spec_contents(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, MAX_BYTES);
    if (file == NULL || text == NULL || fread(text, 1, MAX_BYTES - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static int hrec_spec_write_file(const char *path, const char *text, const char *from,
                                const char *tables, const char *rest)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return 1;
    fwrite(text, 1, (size_t)(from - text), file);
    fprintf(file, "%s%s", tables, rest);
    return fclose(file) != 0;
}

static int hrec_spec_handle_file(const char *path, int writes)
{
    size_t length = strlen(path), form = 0;
    if (length > 2 && strcmp(path + length - 2, forms[1].suffix) == 0)
        form = 1;
    char *text = hrec_spec_contents(path), *tables = hrec_spec_make_tables(forms[form].roff);
    char *from = text == NULL ? NULL : strstr(text, forms[form].begin);
    from = from == NULL ? NULL : from + strlen(forms[form].begin);
    const char *rest = from == NULL ? NULL : strstr(from, forms[form].end);
    int status = 1;
    if (tables == NULL || rest == NULL) {
        fprintf(stderr, "hrec-spec: %s: cannot be read, or has no marks\n", path);
    } else if (writes) {
        status = hrec_spec_write_file(path, text, from, tables, rest);
    } else {
        status =
            (size_t)(rest - from) != strlen(tables) || strncmp(from, tables, strlen(tables)) != 0;
        if (status)
            fprintf(stderr, "hrec-spec: %s: other tables; 'ninja spec' writes those there are\n",
                    path);
    }
    free(text);
    free(tables);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0, writes = argc > 1 && strcmp(argv[1], "--write") == 0;
    if (argc < 3 || (!writes && strcmp(argv[1], "--check") != 0)) {
        fputs("usage: hrec-spec --check | --write FILE...\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        status |= hrec_spec_handle_file(argv[i], writes);
    return status;
}
