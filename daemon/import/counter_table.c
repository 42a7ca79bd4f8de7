/* Reader of counter tables of torus networks, and of the YAML file that names the tables: see
 * counter_table.h. */
#include "daemon/import/counter_table.h"

#include "daemon/topology/yaml_tree.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 4096u

static int counter_table_is_line(const char *begin, const char *end, const char *text)
{
    size_t length = strlen(text);
    while (end > begin && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    return (size_t)(end - begin) == length && memcmp(begin, text, length) == 0;
}

/* ---- tables ---------------------------------------------------------------- */

/* A line "- [linkid, int32]" declares a column. */
static int counter_table_add_column(struct counter_table *table, const char *begin, const char *end)
{
    char line[200], name[65];
    size_t length =
        (size_t)(end - begin) < sizeof(line) - 1 ? (size_t)(end - begin) : sizeof(line) - 1;
    memcpy(line, begin, length);
    line[length] = '\0';
    if (table->column_count == COUNTER_COLUMNS || sscanf(line, "- [%64[^], ]", name) != 1)
        return 0;
    memcpy(table->columns[table->column_count++], name, sizeof(name));
    return 1;
}

/* Read the declarations of columns, up to the line "...". */
static int counter_table_read_head(struct counter_table *table, struct lines *lines,
                                   struct faults *faults)
{
    const char *begin, *end;
    int ended = 0;
    while (!ended && lines_next(lines, &begin, &end)) {
        ended = counter_table_is_line(begin, end, "...");
        if (begin < end && *begin == '-' && !counter_table_is_line(begin, end, "---") &&
            !counter_table_add_column(table, begin, end))
            fault_at(faults, lines->number, "a column such as `- [linkid, int32]` is expected");
    }
    if (faults->count == 0 && table->column_count == 0)
        fault_at(faults, lines->number, "no columns are declared: this is not a table of counters");
    else if (faults->count == 0 && !ended)
        fault_at(faults, lines->number, "the line ... behind the columns is missing");
    return faults->count > 0 ? -HOLTER_EUSAGE : 0;
}

static int counter_table_parse_whole(const char **at, const char *end, int64_t *out)
{
    const char *word, *digits;
    size_t length;
    uint64_t value;
    if (!word_next(at, end, &word, &length))
        return 0;
    digits = *word == '-' ? word + 1 : word;
    if (!word_whole(&digits, word + length, &value))
        return 0;
    *out = *word == '-' ? -(int64_t)value : (int64_t)value;
    return 1;
}

static void counter_table_read_row(struct counter_table *table, const char *at, const char *end,
                                   unsigned line, struct faults *faults)
{
    int64_t *row = table->values + table->rows * table->column_count, extra;
    const char *begin = at, *word;
    size_t length;
    if (!word_next(&begin, end, &word, &length))
        return;
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (!counter_table_parse_whole(&at, end, &row[c])) {
            fault_at(faults, line, "column %s: a whole number is expected", table->columns[c]);
            return;
        }
    }
    if (counter_table_parse_whole(&at, end, &extra) || word_next(&at, end, &word, &length))
        fault_at(faults, line, "more numbers than the %u columns", table->column_count);
    else
        table->lines[table->rows++] = line;
}

int counter_table_parse(struct counter_table *out, const char *text, size_t length,
                        struct faults *faults)
{
    struct counter_table table = {.column_count = 0};
    struct lines lines = lines_of(text, length);
    const char *begin, *end;
    size_t most = 1;
    int code = counter_table_read_head(&table, &lines, faults);
    for (const char *c = lines.at; c < lines.end; c++)
        most += *c == '\n';
    if (code == 0 && most > COUNTER_VALUES / table.column_count) {
        fault_at(faults, 0, "too many numbers");
        code = -HOLTER_EUSAGE;
    }
    if (code != 0)
        return code;
    table.values = calloc(most * table.column_count, sizeof(*table.values));
    table.lines = calloc(most, sizeof(*table.lines));
    if (table.values == NULL || table.lines == NULL)
        code = -ENOMEM;
    while (code == 0 && lines_next(&lines, &begin, &end))
        counter_table_read_row(&table, begin, end, lines.number, faults);
    table.wrong = faults->count;
    if (code == 0 && table.wrong > 0 && table.rows == 0)
        code = -HOLTER_EUSAGE;
    if (code != 0) {
        counter_table_finish(&table);
        return code;
    }
    *out = table;
    return 0;
}

void counter_table_finish(struct counter_table *table)
{
    free(table->values);
    free(table->lines);
    *table = (struct counter_table){.column_count = 0};
}

int counter_table_column(const struct counter_table *table, const char *name, struct faults *faults)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (strcmp(table->columns[c], name) == 0)
            return (int)c;
    }
    fault_at(faults, 0, "there is no column %s", name);
    return -1;
}

/* ---- the first file --------------------------------------------------------- */

static const char *counter_table_text_of(const struct tree_node *map, const char *key)
{
    const struct tree_node *value = tree_value(map, key);
    return value == NULL || value->kind != TREE_TEXT ? "" : value->text;
}

struct meta_reader {
    struct counter_meta *meta;
    struct faults *faults;
    unsigned line; /* number of the line before the first line of the document */
};

static void counter_table_copy_name(struct meta_reader *r, const struct tree_node *map,
                                    const char *key, char *out, size_t capacity)
{
    const char *text = counter_table_text_of(map, key);
    if (text[0] == '\0' || strlen(text) >= capacity || strchr(text, '/') != NULL)
        fault_at(r->faults, map == NULL ? 0 : r->line + map->line,
                 "%s: is missing, too long, or leads to another folder", key);
    else
        snprintf(out, capacity, "%s", text);
}

static void counter_table_read_dimension(struct meta_reader *r, const struct tree_node *hardware,
                                         const struct tree_node *name)
{
    struct topology_spec *spec = &r->meta->spec;
    struct topology_dimension *d = &spec->dimensions[spec->dimension_count];
    const struct tree_node *sizes = tree_value(hardware, "dim");
    if (name->kind != TREE_TEXT || strlen(name->text) >= sizeof(d->name) ||
        spec->dimension_count == TOPOLOGY_DIMENSIONS) {
        fault_at(r->faults, r->line + name->line,
                 "coords: names of at most %u dimensions are expected", TOPOLOGY_DIMENSIONS);
        return;
    }
    snprintf(d->name, sizeof(d->name), "%s", name->text);
    uint64_t size = 0;
    const char *text = counter_table_text_of(sizes, name->text), *at = text;
    if (!word_whole(&at, text + strlen(text), &size) || size == 0 || size > TOPOLOGY_MAX_VERTICES)
        fault_at(r->faults, r->line + name->line, "dim: no size of dimension %s", name->text);
    d->size = (uint32_t)size;
    counter_table_copy_name(r, tree_value(hardware, "source_coords"), name->text,
                            r->meta->source[spec->dimension_count], 65);
    counter_table_copy_name(r, tree_value(hardware, "destination_coords"), name->text,
                            r->meta->destination[spec->dimension_count], 65);
    spec->dimension_count++;
}

static void counter_table_read_hardware(struct meta_reader *r, const struct tree_node *hardware)
{
    const struct tree_node *coords = tree_value(hardware, "coords");
    if (r->meta->spec.dimension_count > 0) {
        fault_at(r->faults, r->line + hardware->line, "hardware: stands there twice");
        return;
    }
    if (strcmp(counter_table_text_of(hardware, "network"), "torus") != 0)
        fault_at(r->faults, r->line + hardware->line, "network: only a torus is known");
    if (coords == NULL || coords->kind != TREE_LIST || coords->child == NULL) {
        fault_at(r->faults, r->line + hardware->line, "coords: is missing");
        return;
    }
    counter_table_copy_name(r, hardware, "coords_table", r->meta->nodes, sizeof(r->meta->nodes));
    counter_table_copy_name(r, hardware, "link_coords_table", r->meta->links,
                            sizeof(r->meta->links));
    for (const struct tree_node *name = coords->child; name != NULL && r->faults->count == 0;
         name = name->next)
        counter_table_read_dimension(r, hardware, name);
    topology_spec_order(&r->meta->spec);
    snprintf(r->meta->spec.name, sizeof(r->meta->spec.name), "torus");
}

/* Read a projection: it names the file that joins nodes and ranks. */
static void counter_table_read_projection(struct meta_reader *r, const struct tree_node *root)
{
    const struct tree_node *domains = tree_value(root, "subdomain");
    int node = 0, rank = 0;
    if (strcmp(counter_table_text_of(root, "type"), "file") != 0 || domains == NULL ||
        domains->kind != TREE_LIST)
        return;
    for (const struct tree_node *d = domains->child; d != NULL; d = d->next) {
        node |= strcmp(counter_table_text_of(d, "type"), "NODE") == 0;
        rank |= strcmp(counter_table_text_of(d, "type"), "RANK") == 0;
    }
    if (node && rank)
        counter_table_copy_name(r, root, "filename", r->meta->ranks, sizeof(r->meta->ranks));
}

static int counter_table_read_document(struct meta_reader *r, const char *text, size_t length)
{
    struct tree tree = {0};
    struct tree_fault fault;
    int code = tree_read(&tree, text, length, MOST_VALUES, &fault);
    if (code != 0) {
        fault_at(r->faults, r->line + fault.line, "%s", fault.why);
        return code;
    }
    const struct tree_node *root = &tree.nodes[0], *hardware = tree_value(root, "hardware");
    if (hardware != NULL)
        counter_table_read_hardware(r, hardware);
    else if (strcmp(counter_table_text_of(root, "filetype"), "projection") == 0)
        counter_table_read_projection(r, root);
    tree_finish(&tree);
    return 0;
}

static int counter_table_is_blank(const char *at, const char *end)
{
    const char *word;
    size_t length;
    return !word_next(&at, end, &word, &length);
}

int counter_meta_parse(struct counter_meta *out, const char *text, size_t length,
                       struct faults *faults)
{
    struct meta_reader r = {out, faults, 0};
    struct lines lines = lines_of(text, length);
    const char *begin, *end, *document = text;
    int code = 0, says = 0, more = 1;
    memset(out, 0, sizeof(*out));
    while (code == 0 && more) {
        more = lines_next(&lines, &begin, &end);
        int ends = !more || counter_table_is_line(begin, end, "---") ||
                   counter_table_is_line(begin, end, "...");
        if (!ends) {
            says |= !counter_table_is_blank(begin, end);
            continue;
        }
        if (says)
            code = counter_table_read_document(&r, document,
                                               (size_t)((more ? begin : lines.end) - document));
        document = lines.at;
        r.line = lines.number;
        says = 0;
    }
    if (code == 0 && faults->count == 0 && out->spec.dimension_count == 0)
        fault_at(faults, 0, "`hardware` is missing: this does not describe counters");
    return code != 0 ? code : faults->count > 0 ? -HOLTER_EUSAGE : 0;
}
