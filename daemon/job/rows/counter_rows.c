/* Counters of network interfaces that agents report of one window. */
#include "daemon/job/rows/counter_rows.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/order.h"

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
        last->sent = saturated_sum(last->sent, c->sent);
        last->received = saturated_sum(last->received, c->received);
        last->dropped = saturated_sum(last->dropped, c->dropped);
        last->length_ns = saturated_sum(last->length_ns, c->length_ns);
        last->speed = order_maximum(last->speed, c->speed);
        last->medium = order_maximum(last->medium, c->medium);
    }
    rows->count = kept;
}

void counter_rows_copy_state(struct state_bytes *b, struct counter_rows *rows)
{
    STATE_VALUE(b, *rows);
    STATE_ARRAY(b, rows->list, rows->count, rows->capacity);
}
