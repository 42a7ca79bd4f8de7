/* The curve by its definition, plainly: all differences of all phases by a dense Hungarian method.
 * What the analysis is tested against. */
#ifndef TESTS_DAEMON_ANALYSIS_COMMGRAM_PLAIN_CURVE_H
#define TESTS_DAEMON_ANALYSIS_COMMGRAM_PLAIN_CURVE_H

#include "daemon/analysis/commgram/commgram_curve.h"
#include "tests/daemon/analysis/communities/plain_assignment.h"

#include <math.h>

#define RANKS 60u
#define LONGEST 400u

struct phase {
    uint32_t ranks;
    uint32_t labels[RANKS];
};

static inline uint32_t label_at(const struct phase *phase, uint32_t rank)
{
    return rank < phase->ranks ? phase->labels[rank] : CURVE_ABSENT;
}

/* Communities by their first ranks. @return how many */
static inline uint32_t plain_number(const struct phase *phase, uint32_t *number)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        number[r] = UINT32_MAX;
        for (uint32_t first = 0; first < r && number[r] == UINT32_MAX; first++)
            if (label_at(phase, first) == label_at(phase, r))
                number[r] = number[first];
        if (number[r] == UINT32_MAX && label_at(phase, r) != CURVE_ABSENT)
            number[r] = count++;
    }
    return count;
}

static inline double plain_difference(const struct phase *one, const struct phase *other)
{
    int64_t all = 0;
    uint32_t number[2][RANKS], rows = plain_number(one, number[0]),
                               columns = plain_number(other, number[1]);
    if (rows > columns)
        return plain_difference(other, one);
    struct plain_assignment p = plain_assignment_create(rows, columns);
    for (uint32_t r = 0; r < RANKS; r++) {
        all += number[0][r] != UINT32_MAX || number[1][r] != UINT32_MAX;
        if (number[0][r] != UINT32_MAX && number[1][r] != UINT32_MAX)
            *plain_assignment_at(&p, number[0][r], number[1][r]) += 1;
    }
    int64_t matched = plain_assignment_solve(&p);
    plain_assignment_finish(&p);
    return all == 0 ? 0 : (double)(all - matched) / (double)all;
}

struct plain_pattern {
    const struct phase *phase;
    uint64_t first, last;
    double height;
};

struct plain {
    struct curve_params params;
    struct plain_pattern patterns[LONGEST];
    uint32_t count, current;
    uint64_t phases;
    const struct phase *last;
};

/* The nearest of all but one; of equals the one that was there last. */
static inline uint32_t plain_nearest(const struct plain *p, const struct phase *phase,
                                     uint32_t except, double *least)
{
    uint32_t best = UINT32_MAX;
    *least = 1;
    for (uint32_t i = 0; i < p->count; i++) {
        if (i == except)
            continue;
        double d = plain_difference(p->patterns[i].phase, phase);
        if (d < *least ||
            (best != UINT32_MAX && d == *least && p->patterns[i].last > p->patterns[best].last)) {
            *least = d;
            best = i;
        }
    }
    return best;
}

static inline void plain_forget(struct plain *p)
{
    uint32_t oldest = 0;
    if (p->count < p->params.most_patterns)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        oldest = p->patterns[i].last < p->patterns[oldest].last ? i : oldest;
    p->count--;
    p->current = p->current == p->count ? oldest : p->current;
    p->patterns[oldest] = p->patterns[p->count];
}

/* Height of a pattern of its own, d from the pattern before. */
static inline double plain_step(const struct plain *p, const struct phase *phase, double d)
{
    double least, from = p->patterns[p->current].height, error[2];
    uint32_t other = plain_nearest(p, phase, p->current, &least);
    if (other == UINT32_MAX)
        return from - d;
    for (int up = 0; up < 2; up++) {
        error[up] = fabs((up == 1 ? from + d : from - d) - p->patterns[other].height);
        if (d <= least)
            error[up] = fabs(error[up] - least);
    }
    return error[1] < error[0] - 1e-12 ? from + d : from - d;
}

static inline struct curve_point plain_append(struct plain *p, const struct phase *phase)
{
    struct curve_point point = {.phase = p->phases, .resembles = CURVE_NO_PHASE};
    uint32_t like = UINT32_MAX;
    if (p->phases > 0) {
        point.difference = plain_difference(p->last, phase);
        double least;
        like = plain_nearest(p, phase, UINT32_MAX, &least);
        point.resemblance = 1 - least;
        point.returned = like != UINT32_MAX && least <= p->params.tolerance;
        double d = plain_difference(p->patterns[p->current].phase, phase);
        point.height = point.returned ? p->patterns[like].height : plain_step(p, phase, d);
    }
    if (like != UINT32_MAX)
        point.resembles = p->patterns[like].first;
    if (!point.returned) {
        plain_forget(p);
        like = p->count++;
        p->patterns[like] = (struct plain_pattern){phase, p->phases, 0, point.height};
    }
    p->current = like;
    p->patterns[like].last = p->phases++;
    p->last = phase;
    return point;
}

#endif
