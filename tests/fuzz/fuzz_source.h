/* The bytes of a fuzz input, which a target reads one after the other. */
#ifndef HOLTER_TESTS_FUZZ_SOURCE_H
#define HOLTER_TESTS_FUZZ_SOURCE_H

#include <stdint.h>

/** What is left of the input; zeros after its end. */
struct source {
    const uint8_t *at, *end;
};

static inline uint8_t byte(struct source *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

#endif
