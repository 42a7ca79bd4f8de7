/* Prints the tables of SPEC.md from the wire tables. */
#include "proto/wire_table.h"

#include <inttypes.h>
#include <stdio.h>

static void print_limit(enum wire_kind kind, uint64_t limit)
{
    static const char *const units[] = {"", "", "", " bytes", " rows", " bytes"};
    if (kind == WIRE_KIND_F64 || limit == UINT64_MAX)
        fputs("any", stdout);
    else
        printf("%" PRIu64 "%s", limit, units[kind]);
}

/* A cell of a Markdown table: a bar would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static const char *wire_spec_kind_name(enum wire_kind kind)
{
    static const char *const names[] = {"uint", "int", "float", "str", "rows", "bin"};
    return names[kind];
}

static void print_message(const struct wire_table *table)
{
    printf("\n### %d `%s`: %s\n\n", (int)table->type, table->name, table->direction);
    fputs(
        "| key | field | kind | limit | need | meaning |\n| --- | --- | --- | --- | --- | --- |\n",
        stdout);
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        printf("| %u | `%s` | ", field->key, field->name);
        if (field->kind == WIRE_KIND_ROWS)
            printf("rows of [%s](#rows-of-%s)", field->rows()->name, field->rows()->name);
        else
            fputs(wire_spec_kind_name(field->kind), stdout);
        fputs(" | ", stdout);
        print_limit(field->kind, field->limit);
        printf(" | %s | ", field->required ? "required" : "optional");
        print_cell(field->doc);
        fputs(" |\n", stdout);
    }
}

static void print_rows(const struct wire_rows *table)
{
    printf("\n### Rows of %s\n\n", table->name);
    if (table->base == table->count)
        fputs("Every row has all of these columns.\n\n", stdout);
    else
        printf("Every row has at least the first %zu of these columns.\n\n", table->base);
    fputs("| column | name | kind | limit | meaning |\n| --- | --- | --- | --- | --- |\n", stdout);
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_column *column = &table->columns[i];
        printf("| %zu | `%s` | %s | ", i, column->name, wire_spec_kind_name(column->kind));
        print_limit(column->kind, column->limit);
        fputs(" | ", stdout);
        print_cell(column->doc);
        fputs(" |\n", stdout);
    }
}

int main(void)
{
    const struct wire_table *table;
    const struct wire_rows *rows;
    fputs("\n## Messages\n", stdout);
    for (size_t i = 0; (table = wire_table_at(i)); i++)
        print_message(table);
    fputs("\n## Rows\n", stdout);
    for (size_t i = 0; (rows = wire_rows_at(i)); i++)
        print_rows(rows);
    return 0;
}
