/* Sets of ranks as text. */
#include "daemon/analysis/tables/rank_list.h"

#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rank_runs_begin(struct rank_runs *r, char *out, size_t capacity, const char *more)
{
    *r = (struct rank_runs){.out = out, .capacity = capacity, .more = more};
    out[0] = '\0';
}

/* Write the open run. @param is_last  otherwise a comma and `more` must still fit after it */
static void rank_runs_write(struct rank_runs *r, int is_last)
{
    char run[48];
    const char *comma = r->length == 0 ? "" : ",";
    if (!r->is_open || r->is_cut)
        return;
    int n = r->first == r->last
                ? snprintf(run, sizeof(run), "%s%" PRIu64, comma, r->first)
                : snprintf(run, sizeof(run), "%s%" PRIu64 "-%" PRIu64, comma, r->first, r->last);
    size_t after = is_last ? 1 : strlen(r->more) + 2;
    r->is_cut = r->length + (size_t)n + after > r->capacity;
    if (r->is_cut)
        snprintf(r->out + r->length, r->capacity - r->length, "%s%s", comma, r->more);
    else
        memcpy(r->out + r->length, run, (size_t)n + 1);
    r->length += r->is_cut ? 0 : (size_t)n;
}

void rank_runs_add(struct rank_runs *r, uint64_t first, uint64_t last)
{
    if (r->is_open && first <= r->last + 1) {
        r->last = last;
        return;
    }
    rank_runs_write(r, 0);
    r->first = first;
    r->last = last;
    r->is_open = 1;
}

void rank_runs_add_row(struct rank_runs *runs, uint64_t rank, uint64_t group, uint64_t world)
{
    const uint64_t last = rank + (group > 1 ? group - 1 : 0);
    rank_runs_add(runs, rank, world > rank && last >= world ? world - 1 : last);
}

int rank_runs_end(struct rank_runs *r)
{
    rank_runs_write(r, 1);
    return !r->is_cut;
}

static void rank_list_write(const uint32_t *ranks, size_t count, char *out, size_t capacity)
{
    struct rank_runs runs;
    rank_runs_begin(&runs, out, capacity, "...");
    for (size_t i = 0; i < count; i++)
        rank_runs_add(&runs, ranks[i], ranks[i]);
    rank_runs_end(&runs);
}

int rank_list(const uint32_t *ranks, size_t count, char *out, size_t capacity)
{
    size_t sorted = 1;
    while (sorted < count && ranks[sorted - 1] <= ranks[sorted])
        sorted++;
    if (sorted >= count) {
        rank_list_write(ranks, count, out, capacity);
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
    rank_list_write(copy, count, out, capacity);
    free(many);
    return 0;
}

/* ---- reading --------------------------------------------------------------- */

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
        at = text_number(at, most - 1, &first);
        last = first;
        if (at != NULL && *at == '-')
            at = text_number(at + 1, most - 1, &last);
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
