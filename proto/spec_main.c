/* Writes the tables of SPEC.md from the wire tables, or checks that they are the same.
 *
 *   wire-spec --check SPEC.md   status 1 when they differ
 *   wire-spec --write SPEC.md   replace them */
#include "proto/wire_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char marker[] = "<!-- tables: made by wire-spec from include/holter/wire.h -->\n";

static void print_limit(FILE *out, enum wire_kind kind, uint64_t limit)
{
    static const char *const units[] = {"", "", "", " bytes", " rows", " bytes"};
    if (kind == WIRE_KIND_F64 || limit == UINT64_MAX)
        fputs("any", out);
    else
        fprintf(out, "%" PRIu64 "%s", limit, units[kind]);
}

/* A cell of a Markdown table: a bar would end it. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static const char *wire_spec_kind_name(enum wire_kind kind)
{
    static const char *const names[] = {"uint", "int", "float", "str", "rows", "bin"};
    return names[kind];
}

static void print_message(FILE *out, const struct wire_table *table)
{
    fprintf(out, "\n### %d `%s`: %s\n\n", (int)table->type, table->name, table->direction);
    fputs(
        "| key | field | kind | limit | need | meaning |\n| --- | --- | --- | --- | --- | --- |\n",
        out);
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        fprintf(out, "| %u | `%s` | ", field->key, field->name);
        if (field->kind == WIRE_KIND_ROWS)
            fprintf(out, "rows of [%s](#rows-of-%s)", field->rows()->name, field->rows()->name);
        else
            fputs(wire_spec_kind_name(field->kind), out);
        fputs(" | ", out);
        print_limit(out, field->kind, field->limit);
        fprintf(out, " | %s | ", field->required ? "required" : "optional");
        print_cell(out, field->doc);
        fputs(" |\n", out);
    }
}

static void print_rows(FILE *out, const struct wire_rows *table)
{
    fprintf(out, "\n### Rows of %s\n\n", table->name);
    if (table->base == table->count)
        fputs("Every row has all of these columns.\n\n", out);
    else
        fprintf(out, "Every row has at least the first %zu of these columns.\n\n", table->base);
    fputs("| column | name | kind | limit | meaning |\n| --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_column *column = &table->columns[i];
        fprintf(out, "| %zu | `%s` | %s | ", i, column->name, wire_spec_kind_name(column->kind));
        print_limit(out, column->kind, column->limit);
        fputs(" | ", out);
        print_cell(out, column->doc);
        fputs(" |\n", out);
    }
}

static char *wire_spec_make_tables(void)
{
    char *text = NULL;
    size_t length;
    const struct wire_table *table;
    const struct wire_rows *rows;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fputs("\n## Messages\n", out);
    for (size_t i = 0; (table = wire_table_at(i)); i++)
        print_message(out, table);
    fputs("\n## Rows\n", out);
    for (size_t i = 0; (rows = wire_rows_at(i)); i++)
        print_rows(out, rows);
    fclose(out);
    return text;
}

static char *wire_spec_read_all(const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    char *text = calloc(1, 1 << 20);
    if (text && fread(text, 1, (1 << 20) - 1, in) == 0) {
        free(text);
        text = NULL;
    }
    fclose(in);
    return text;
}

static int wire_spec_check_page(const char *path, const char *after, const char *tables)
{
    size_t same = 0, line = 1;
    while (after[same] && after[same] == tables[same])
        line += after[same++] == '\n';
    if (after[same] == tables[same])
        return 0;
    fprintf(stderr,
            "wire-spec: %s differs from include/holter/wire.h in line %zu below the marker; "
            "`ninja spec` writes it\n",
            path, line);
    return 1;
}

static int wire_spec_replace(const char *path, const char *before, size_t length,
                             const char *tables)
{
    FILE *out = fopen(path, "w");
    int failed = !out || fwrite(before, 1, length, out) != length || fputs(tables, out) == EOF;
    if ((out && fclose(out)) || failed) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int writes = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (!writes && !(argc == 3 && strcmp(argv[1], "--check") == 0)) {
        fputs("usage: wire-spec --check|--write SPEC.md\n", stderr);
        return 2;
    }
    int status = 1;
    char *text = wire_spec_read_all(argv[2]), *tables = wire_spec_make_tables();
    char *mark = text ? strstr(text, marker) : NULL;
    if (!mark || !tables)
        fprintf(stderr, "wire-spec: %s cannot be read or has no line \"%.*s\"\n", argv[2],
                (int)sizeof marker - 2, marker);
    else if (writes)
        status =
            wire_spec_replace(argv[2], text, (size_t)(mark - text) + sizeof marker - 1, tables);
    else
        status = wire_spec_check_page(argv[2], mark + sizeof marker - 1, tables);
    free(text);
    free(tables);
    return status;
}
