/* The word that was probably meant: the nearest one of those that exist. */
#ifndef HOLTER_PROTO_NEAR_WORD_H
#define HOLTER_PROTO_NEAR_WORD_H

#include <stddef.h>

struct near_word {
    const char *word; /**< as it was written; borrowed */
    const char *best; /**< the nearest candidate so far; NULL: none is near */
    size_t distance;  /**< of that one */
};

/** Compare with one more word that exists. The first one of several at the same distance remains.
 *  @param candidate  borrowed */
void near_word_try(struct near_word *near, const char *candidate);

#endif
