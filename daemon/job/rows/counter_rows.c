/* Counters of network interfaces that agents report of one window. */
#include "daemon/job/rows/counter_rows.h"

#include "daemon/analysis/tables/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void counter_rows_finish(struct counter_rows *rows)
{
    free(rows->list);
    *rows = (struct counter_rows){0};
}

int counter_rows_reserve(struct counter_rows *rows, const struct wire_window *window)
{
    return ARRAY_FIT(rows->list, rows->capacity, rows->count + window->counters_count);
}

void counter_rows_add(struct counter_rows *rows, const struct wire_window *window, uint32_t node)
{
    for (uint64_t i = 0; i < window->counters_count; i++) {
        const struct wire_counter_row *from = &window->counters[i];
        struct counter *c = &rows->list[rows->count++];
        *c = (struct counter){
            .node = node,
            .medium = from->medium,
            .unit = from->unit,
            .sent = from->sent,
            .received = from->received,
            .dropped = from->dropped,
            .speed = from->speed,
            .length_ns = from->length_ns,
        };
        snprintf(c->name, sizeof(c->name), "%s", from->name == NULL ? "" : from->name);
    }
}

static int counter_compare(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void counter_add_clamped(uint64_t *to, uint64_t more)
{
    if (__builtin_add_overflow(*to, more, to))
        *to = UINT64_MAX;
}

static void counter_set_maximum(uint64_t *to, uint64_t other)
{
    *to = *to < other ? other : *to;
}

void counter_rows_sort(struct counter_rows *rows)
{
    size_t kept = 0;
    if (rows->count > 1)
        qsort(rows->list, rows->count, sizeof(*rows->list), counter_compare);
    for (size_t i = 0; i < rows->count; i++) {
        const struct counter *c = &rows->list[i];
        struct counter *last = kept == 0 ? NULL : &rows->list[kept - 1];
        if (last == NULL || counter_compare(last, c) != 0) {
            rows->list[kept++] = *c;
            continue;
        }
        counter_add_clamped(&last->sent, c->sent);
        counter_add_clamped(&last->received, c->received);
        counter_add_clamped(&last->dropped, c->dropped);
        counter_add_clamped(&last->length_ns, c->length_ns);
        counter_set_maximum(&last->speed, c->speed);
        counter_set_maximum(&last->medium, c->medium);
    }
    rows->count = kept;
}

void counter_rows_copy_state(struct state_bytes *b, struct counter_rows *rows)
{
    STATE_VALUE(b, *rows);
    STATE_ARRAY(b, rows->list, rows->count, rows->capacity);
}
