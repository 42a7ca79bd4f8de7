/* Seeded random numbers for tests of the analyses. */
#ifndef TESTS_DAEMON_ANALYSIS_NOISE_H
#define TESTS_DAEMON_ANALYSIS_NOISE_H

#include <math.h>
#include <stdint.h>

/** state: the seed, not 0. */
struct noise {
    uint64_t state;
};

/** xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016). */
static inline uint64_t noise_uint(struct noise *noise)
{
    noise->state ^= noise->state >> 12;
    noise->state ^= noise->state << 25;
    noise->state ^= noise->state >> 27;
    return noise->state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

/** Uniform, above 0 and below 1. */
static inline double noise_uniform(struct noise *noise)
{
    return ((double)noise_uint(noise) + 0.5) * 0x1p-53;
}

/** Standard normal (Box and Muller). */
static inline double noise_gauss(struct noise *noise)
{
    double radius = sqrt(-2 * log(noise_uniform(noise)));
    return radius * cos(6.283185307179586 * noise_uniform(noise));
}

/** Student's t with so many degrees of freedom, above 2, scaled to variance 1. */
static inline double noise_student(struct noise *noise, int degrees)
{
    double sum = 0;
    for (int i = 0; i < degrees; i++) {
        double g = noise_gauss(noise);
        sum += g * g;
    }
    return noise_gauss(noise) / sqrt(sum / degrees) * sqrt((degrees - 2.0) / degrees);
}

#endif
