/* The Hungarian method on a dense table, plainly: what assignments are tested against and measured
 * by. Rows are added one after the other, each by a shortest augmenting path; O(rows^2 columns). */
#ifndef TESTS_DAEMON_ANALYSIS_COMMUNITIES_PLAIN_ASSIGNMENT_H
#define TESTS_DAEMON_ANALYSIS_COMMUNITIES_PLAIN_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct plain_assignment {
    uint32_t rows, columns; /* rows at most columns */
    int64_t *weight;        /* owned; rows x columns */
};

static inline struct plain_assignment plain_assignment_create(uint32_t rows, uint32_t columns)
{
    return (struct plain_assignment){rows, columns,
                                     calloc((size_t)rows * columns + 1, sizeof(int64_t))};
}

static inline int64_t *plain_assignment_at(struct plain_assignment *p, uint32_t row,
                                           uint32_t column)
{
    return &p->weight[(size_t)row * p->columns + column];
}

/* The largest sum. Costs are negative weights; row and column 0 are none. */
static inline int64_t plain_assignment_solve(struct plain_assignment *p)
{
    uint32_t n = p->rows, m = p->columns;
    int64_t *row_price = calloc(n + 1, sizeof(int64_t)), *price = calloc(m + 1, sizeof(int64_t));
    int64_t *slack = calloc(m + 1, sizeof(int64_t)), sum = 0;
    uint32_t *row_of = calloc(m + 1, sizeof(uint32_t)), *before = calloc(m + 1, sizeof(uint32_t));
    bool *done = calloc(m + 1, sizeof(bool));
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t at = 0;
        row_of[0] = row;
        for (uint32_t c = 0; c <= m; c++) {
            slack[c] = INT64_MAX;
            done[c] = false;
        }
        while (row_of[at] != 0) {
            uint32_t from = row_of[at], next = 0;
            done[at] = true;
            for (uint32_t c = 1; c <= m; c++) {
                if (done[c])
                    continue;
                int64_t cost = -*plain_assignment_at(p, from - 1, c - 1);
                if (cost - row_price[from] - price[c] < slack[c]) {
                    slack[c] = cost - row_price[from] - price[c];
                    before[c] = at;
                }
                next = next == 0 || slack[c] < slack[next] ? c : next;
            }
            int64_t shift = slack[next];
            for (uint32_t c = 0; c <= m; c++) {
                if (done[c]) {
                    row_price[row_of[c]] += shift;
                    price[c] -= shift;
                } else {
                    slack[c] -= shift;
                }
            }
            at = next;
        }
        for (; at != 0; at = before[at])
            row_of[at] = row_of[before[at]];
    }
    for (uint32_t c = 1; c <= m; c++)
        if (row_of[c] != 0)
            sum += *plain_assignment_at(p, row_of[c] - 1, c - 1);
    free(row_price);
    free(price);
    free(slack);
    free(row_of);
    free(before);
    free(done);
    return sum;
}

static inline void plain_assignment_finish(struct plain_assignment *p)
{
    free(p->weight);
}

#endif
