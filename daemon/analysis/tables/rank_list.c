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

/* ---- reading --------------------------------------------------------------- */

const char *rank_list_number(const char *at, uint64_t maximum, uint64_t *out)
{
    const char *begin = at;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > maximum || value > (maximum - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return at == begin ? NULL : at;
}

/* By words of 64: a list may name all ranks many times, and must not take long. */
static void rank_list_mark(uint64_t *marks, uint64_t first, uint64_t last)
{
    for (uint64_t at = first / 64; at <= last / 64; at++) {
        uint64_t from = at == first / 64 ? first % 64 : 0, to = at == last / 64 ? last % 64 : 63;
        marks[at] |= UINT64_MAX << from & UINT64_MAX >> (63 - to);
    }
}

static int rank_list_mark_all(uint64_t *marks, const char *at, uint32_t most)
{
    while (at != NULL) {
        uint64_t first, last;
        at = rank_list_number(at, most - 1, &first);
        last = first;
        if (at != NULL && *at == '-')
            at = rank_list_number(at + 1, most - 1, &last);
        if (at == NULL || last < first || (*at != ',' && *at != '\0'))
            return -EINVAL;
        rank_list_mark(marks, first, last);
        at = *at == ',' ? at + 1 : NULL;
    }
    return 0;
}

int rank_list_parse(uint32_t **out, size_t *count, const char *text, uint32_t most)
{
    uint64_t *marks = calloc(most / 64 + 1, sizeof(*marks));
    uint32_t *ranks = NULL;
    size_t used = 0, all = 0;
    int code = marks == NULL ? -ENOMEM : rank_list_mark_all(marks, text, most);
    for (uint32_t i = 0; code == 0 && i <= most / 64; i++)
        all += (size_t)__builtin_popcountll(marks[i]);
    if (code == 0 && (ranks = malloc(all * sizeof(*ranks))) == NULL)
        code = -ENOMEM;
    for (uint32_t rank = 0; code == 0 && rank < most; rank++)
        if (marks[rank / 64] >> (rank % 64) & 1)
            ranks[used++] = rank;
    free(marks);
    if (code == 0) {
        *out = ranks;
        *count = used;
    }
    return code;
}
