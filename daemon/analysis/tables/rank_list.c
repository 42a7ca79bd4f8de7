/* Sets of ranks as text. */
#include "daemon/analysis/tables/rank_list.h"

#include "holter/order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void rank_list_write_runs(const uint32_t *ranks, size_t count, char *out, size_t capacity)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && ranks[next] - ranks[next - 1] <= 1;)
            next++;
        char run[32];
        const char *comma = i == 0 ? "" : ",";
        uint32_t first = ranks[i], last = ranks[next - 1];
        int n = first == last
                    ? snprintf(run, sizeof(run), "%s%" PRIu32, comma, first)
                    : snprintf(run, sizeof(run), "%s%" PRIu32 "-%" PRIu32, comma, first, last);
        /* Unless this is the last run, ",..." must still fit after it. */
        size_t suffix = next < count ? sizeof(",...") : 1;
        if (length + (size_t)n + suffix > capacity) {
            snprintf(out + length, capacity - length, "%s...", comma);
            return;
        }
        memcpy(out + length, run, (size_t)n + 1);
        length += (size_t)n;
    }
}

int rank_list(const uint32_t *ranks, size_t count, char *out, size_t capacity)
{
    size_t sorted = 1;
    while (sorted < count && ranks[sorted - 1] <= ranks[sorted])
        sorted++;
    if (sorted >= count) {
        rank_list_write_runs(ranks, count, out, capacity);
        return 0;
    }
    uint32_t few[RANK_LIST_FEW],
        *many = count <= RANK_LIST_FEW ? NULL : malloc(count * sizeof(*many));
    uint32_t *copy = count <= RANK_LIST_FEW ? few : many;
    if (copy == NULL) {
        snprintf(out, capacity, "...");
        return -ENOMEM;
    }
    memcpy(copy, ranks, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), order_u32);
    rank_list_write_runs(copy, count, out, capacity);
    free(many);
    return 0;
}
