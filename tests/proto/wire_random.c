#include "tests/proto/wire_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return random_next(state) % bound;
}

static char *random_text(uint64_t *state, uint64_t limit)
{
    static const char *const characters[] = {"a",  "Z",    "/", "\"", "\\",
                                             "\n", "\x1b", "é", "€",  "𝄞"};
    char *text = malloc(limit + 1);
    size_t length = 0,
           wanted = random_below(state, 4) == 0 ? limit : random_below(state, limit + 1) / 8;
    while (length < wanted) {
        const char *next = characters[random_below(state, sizeof characters / sizeof *characters)];
        if (length + strlen(next) > limit)
            break;
        memcpy(text + length, next, strlen(next));
        length += strlen(next);
    }
    text[length] = '\0';
    return text;
}

static void fill(enum wire_kind kind, uint64_t limit, void *slot, uint64_t *state)
{
    uint64_t bits = random_next(state) >> random_below(state, 64);
    switch (kind) {
    case WIRE_KIND_U64:
        *(uint64_t *)slot = limit == UINT64_MAX ? bits : bits % (limit + 1);
        break;
    case WIRE_KIND_I64:
        *(int64_t *)slot = (int64_t)(random_next(state) & 1 ? bits : ~bits);
        break;
    case WIRE_KIND_F64:
        *(double *)slot = bits % 8 ? ldexp((double)bits, -20) : (double)NAN;
        break;
    case WIRE_KIND_STR:
        *(char **)slot = random_text(state, limit);
        break;
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
}

/* Few: tests cut a message at every byte. */
static void fill_bytes(uint64_t limit, uint8_t *slot, uint64_t *state)
{
    uint64_t count = random_below(state, (limit < 700 ? limit : 700) + 1);
    uint8_t *bytes = malloc(count + 1);
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)random_next(state);
    memcpy(slot, &bytes, sizeof bytes);
    memcpy(slot + 8, &count, sizeof count);
}

void *random_message(const struct wire_table *table, uint64_t *state, unsigned max_rows)
{
    uint8_t *message = calloc(1, table->size);
    for (size_t f = 0; f < table->count; f++) {
        const struct wire_field *field = &table->fields[f];
        uint8_t *slot = message + field->offset;
        if (field->kind == WIRE_KIND_BIN) {
            if (field->required || random_below(state, 2))
                fill_bytes(field->limit, slot, state);
            continue;
        }
        if (field->kind != WIRE_KIND_ROWS) {
            if (field->required || random_below(state, 2))
                fill(field->kind, field->limit, slot, state);
            else if (field->kind == WIRE_KIND_F64)
                *(double *)(void *)slot = NAN;
            else if (field->kind == WIRE_KIND_STR)
                *(char **)(void *)slot = calloc(1, 1);
            continue;
        }
        const struct wire_rows *rows = field->rows();
        uint64_t most = max_rows < field->limit ? max_rows : field->limit;
        uint64_t count = random_below(state, most + 1);
        uint8_t *memory = calloc(count + 1, rows->size);
        for (uint64_t r = 0; r < count; r++) {
            for (size_t c = 0; c < rows->count; c++)
                fill(rows->columns[c].kind, rows->columns[c].limit,
                     memory + r * rows->size + rows->columns[c].offset, state);
        }
        memcpy(slot, &memory, sizeof memory);
        memcpy(slot + 8, &count, sizeof count);
    }
    return message;
}

static void read_rows(const uint8_t *slot, uint8_t **rows, uint64_t *count)
{
    memcpy(rows, slot, sizeof *rows);
    memcpy(count, slot + 8, sizeof *count);
}

void random_message_free(const struct wire_table *table, void *message)
{
    uint8_t *base = message;
    for (size_t f = 0; f < table->count; f++) {
        const struct wire_field *field = &table->fields[f];
        if (field->kind == WIRE_KIND_STR || field->kind == WIRE_KIND_BIN)
            free(*(char **)(void *)(base + field->offset));
        if (field->kind != WIRE_KIND_ROWS)
            continue;
        const struct wire_rows *table_rows = field->rows();
        uint8_t *rows;
        uint64_t count;
        read_rows(base + field->offset, &rows, &count);
        for (uint64_t r = 0; r < count; r++) {
            for (size_t c = 0; c < table_rows->count; c++) {
                if (table_rows->columns[c].kind == WIRE_KIND_STR)
                    free(*(char **)(void *)(rows + r * table_rows->size +
                                            table_rows->columns[c].offset));
            }
        }
        free(rows);
    }
    free(base);
}

static int same(enum wire_kind kind, const void *left, const void *right)
{
    if (kind == WIRE_KIND_STR) {
        const char *a = *(const char *const *)left, *b = *(const char *const *)right;
        return strcmp(a ? a : "", b ? b : "") == 0;
    }
    if (kind == WIRE_KIND_F64 && isnan(*(const double *)left))
        return isnan(*(const double *)right);
    return memcmp(left, right, 8) == 0;
}

static int same_bytes(const uint8_t *left, const uint8_t *right)
{
    uint8_t *a, *b;
    uint64_t count_a, count_b;
    read_rows(left, &a, &count_a);
    read_rows(right, &b, &count_b);
    return count_a == count_b && (count_a == 0 || memcmp(a, b, count_a) == 0);
}

const char *random_message_difference(const struct wire_table *table, const void *left,
                                      const void *right)
{
    for (size_t f = 0; f < table->count; f++) {
        const struct wire_field *field = &table->fields[f];
        const uint8_t *a = (const uint8_t *)left + field->offset;
        const uint8_t *b = (const uint8_t *)right + field->offset;
        if (field->kind == WIRE_KIND_BIN) {
            if (!same_bytes(a, b))
                return field->name;
            continue;
        }
        if (field->kind != WIRE_KIND_ROWS) {
            if (!same(field->kind, a, b))
                return field->name;
            continue;
        }
        const struct wire_rows *rows = field->rows();
        uint8_t *rows_a, *rows_b;
        uint64_t count_a, count_b;
        read_rows(a, &rows_a, &count_a);
        read_rows(b, &rows_b, &count_b);
        if (count_a != count_b)
            return field->name;
        for (uint64_t r = 0; r < count_a; r++) {
            for (size_t c = 0; c < rows->count; c++) {
                size_t at = r * rows->size + rows->columns[c].offset;
                if (!same(rows->columns[c].kind, rows_a + at, rows_b + at))
                    return rows->columns[c].name;
            }
        }
    }
    return NULL;
}
