/* Tables of messages and rows, expanded from holter/wire.h. */
#include "proto/wire_table.h"

#include <string.h>

_Static_assert(sizeof(void *) == 8 && sizeof(double) == 8, "every column is a slot of eight bytes");

#define KIND_U64 WIRE_KIND_U64, NULL
#define KIND_I64 WIRE_KIND_I64, NULL
#define KIND_F64 WIRE_KIND_F64, NULL
#define KIND_STR WIRE_KIND_STR, NULL
#define KIND_BIN WIRE_KIND_BIN, NULL
#define KIND_ROWS(table) WIRE_KIND_ROWS, wire_rows_##table

#define COLUMN_KIND_U64 WIRE_KIND_U64
#define COLUMN_KIND_I64 WIRE_KIND_I64
#define COLUMN_KIND_F64 WIRE_KIND_F64
#define COLUMN_KIND_STR WIRE_KIND_STR

#define REQUIRED 1
#define OPTIONAL 0

/* Each table sits in a function of its own, where RECORD can stand for the struct it describes. */
#define COLUMN(kind, name, limit, doc)                                                             \
    {#name, doc, COLUMN_KIND_##kind, offsetof(RECORD, name), limit},
#define X(table, COLUMNS, base)                                                                    \
    static const struct wire_rows *wire_rows_##table(void)                                         \
    {                                                                                              \
        typedef struct wire_##table##_row RECORD;                                                  \
        static const struct wire_column columns[] = {COLUMNS(COLUMN)};                             \
        static const struct wire_rows rows = {#table, columns, sizeof columns / sizeof *columns,   \
                                              base, sizeof(RECORD)};                               \
        _Static_assert(sizeof(RECORD) == 8 * (sizeof columns / sizeof *columns),                   \
                       "every column is a slot of eight bytes");                                   \
        _Static_assert((base) <= sizeof columns / sizeof *columns, "as many columns as promised"); \
        return &rows;                                                                              \
    }
WIRE_ROW_TABLES(X)
#undef X
#undef COLUMN

#define FIELD(key, kind, name, limit, need, doc)                                                   \
    {#name, doc, KIND_##kind, offsetof(RECORD, name), limit, key, need},
#define X(number, NAME, message, FIELDS, direction)                                                \
    static const struct wire_table *wire_message_##message(void)                                   \
    {                                                                                              \
        typedef struct wire_##message RECORD;                                                      \
        static const struct wire_field fields[] = {FIELDS(FIELD)};                                 \
        static const struct wire_table table = {                                                   \
            number,        #NAME, #message, direction, fields, sizeof fields / sizeof *fields,     \
            sizeof(RECORD)};                                                                       \
        return &table;                                                                             \
    }
WIRE_MESSAGES(X)
#undef X
#undef FIELD

_Static_assert(offsetof(struct wire_job, job) == 0 && offsetof(struct wire_places, job) == 0 &&
                   offsetof(struct wire_totals, job) == 0 &&
                   offsetof(struct wire_rank_window, job) == 0 &&
                   offsetof(struct wire_history, job) == 0 &&
                   offsetof(struct wire_pair_window, job) == 0 &&
                   offsetof(struct wire_call_window, job) == 0 &&
                   offsetof(struct wire_caller_window, job) == 0 &&
                   offsetof(struct wire_nodes, job) == 0 && offsetof(struct wire_alert, job) == 0,
               "wire_job_of() reads the first field");

const struct wire_table *wire_table(unsigned type)
{
    switch (type) {
#define X(number, NAME, name, FIELDS, direction)                                                   \
    case number:                                                                                   \
        return wire_message_##name();
        WIRE_MESSAGES(X)
#undef X
    default:
        return NULL;
    }
}

const struct wire_table *wire_table_at(size_t index)
{
    static const struct wire_table *(*const tables[])(void) = {
#define X(number, NAME, name, FIELDS, direction) wire_message_##name,
        WIRE_MESSAGES(X)
#undef X
    };
    return index < sizeof tables / sizeof *tables ? tables[index]() : NULL;
}

const struct wire_rows *wire_rows_at(size_t index)
{
    static const struct wire_rows *(*const tables[])(void) = {
#define X(name, COLUMNS, base) wire_rows_##name,
        WIRE_ROW_TABLES(X)
#undef X
    };
    return index < sizeof tables / sizeof *tables ? tables[index]() : NULL;
}

const struct wire_field *wire_field_by_key(const struct wire_table *table, uint64_t key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->fields[i].key == key)
            return &table->fields[i];
    }
    return NULL;
}

const char *wire_type_name(unsigned type)
{
    const struct wire_table *table = wire_table(type);
    return table ? table->name : NULL;
}

const char *wire_topic(unsigned type)
{
    const struct wire_table *table = wire_table(type);
    static const char published[] = "topic ";
    if (!table || strncmp(table->direction, published, sizeof published - 1) != 0)
        return NULL;
    return table->direction + sizeof published - 1;
}

const char *wire_job_of(const struct wire_message *message)
{
    return wire_topic(message->type) ? message->job.job : NULL;
}

struct wire_parts wire_parts_of(enum wire_type type, void *message, const char *first)
{
    return (struct wire_parts){.message = message, .table = wire_table(type), .first = first};
}

int wire_parts_next(struct wire_parts *p)
{
    uint64_t capacity = WIRE_PART_ROWS, rest = 0;
    int cut = 0;
    if (p->begun && !*p->more)
        return 0;
    for (size_t i = 0; i < p->table->count; i++) {
        const struct wire_field *field = &p->table->fields[i];
        uint8_t *slot = (uint8_t *)p->message + field->offset;
        if (strcmp(field->name, "more") == 0)
            p->more = (uint64_t *)(void *)slot;
        cut |= strcmp(field->name, p->first) == 0;
        if (!cut || field->kind != WIRE_KIND_ROWS)
            continue;
        const uint8_t **rows = (const uint8_t **)(void *)slot;
        uint64_t *count = (uint64_t *)(void *)(slot + sizeof *rows);
        if (p->begun) {
            *rows += *count * field->rows()->size;
            p->left[i] -= *count;
        } else {
            p->left[i] = *count;
        }
        *count = p->left[i] < capacity ? p->left[i] : capacity;
        capacity -= *count;
        rest += p->left[i] - *count;
    }
    p->begun = 1;
    *p->more = rest > 0;
    return 1;
}
