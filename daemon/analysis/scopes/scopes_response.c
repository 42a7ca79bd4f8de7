/* How much messages of a scope deviate, by the time that they usually take. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>

#define PRIOR_WEIGHT                                                                               \
    4.0 /* of a response like that of the scope: some two rows at twice the time                   \
         */
#define MOST_FACTOR 4.0

void scope_response_add(struct scope_response *r, uint32_t octave, double weight, double y,
                        double effect)
{
    if (effect <= 0)
        return;
    r->product[octave] += scope_round(weight * effect * (y - effect));
    r->weight[octave] += scope_round(weight * effect * effect);
    r->square += scope_round(weight * (y - effect) * (y - effect));
    r->count += 1;
}

void scope_response_merge(struct scope_response *into, const struct scope_response *r)
{
    for (uint32_t o = 0; o < SCOPE_OCTAVES; o++) {
        into->product[o] += r->product[o];
        into->weight[o] += r->weight[o];
    }
    into->square += r->square;
    into->count += r->count;
    scope_response_solve(into);
}

/* What rows scatter by about the means of their octaves, as a multiple of their own variance. */
static double response_scatter(const struct scope_response *r)
{
    double square = r->square, count = r->count;
    for (uint32_t o = 0; o < SCOPE_OCTAVES; o++) {
        square -= r->weight[o] > 0 ? r->product[o] * r->product[o] / r->weight[o] : 0;
        count -= r->weight[o] > 0;
    }
    return fmax(1, square / fmax(count, 1));
}

void scope_response_solve(struct scope_response *r)
{
    const double prior = PRIOR_WEIGHT * response_scatter(r);
    double sum = 0, weight = 0;
    for (uint32_t o = 0; o < SCOPE_OCTAVES; o++) {
        const double more = r->product[o] / (r->weight[o] + prior);
        r->factor[o] = scope_limit(1 + more, 0, MOST_FACTOR);
        sum += r->weight[o] * r->factor[o];
        weight += r->weight[o];
    }
    /* What all messages deviate by remains the effect. */
    for (uint32_t o = 0; sum > 0 && o < SCOPE_OCTAVES; o++)
        r->factor[o] *= weight / sum;
}
