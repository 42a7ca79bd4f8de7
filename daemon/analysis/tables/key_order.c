/* A radix sort of 64-bit keys (Knuth, The Art of Computer Programming 3, section 5.2.5). */
#include "daemon/analysis/tables/key_order.h"

#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS 6u /* of 64 bits */
#define RADIX (1u << DIGIT_BITS)
#define SHORT 64u /* insertion is quicker for so few */

static struct key_place *key_order_insert(struct key_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct key_place moving = places[i];
        size_t at = i;
        for (; at > 0 && places[at - 1].key > moving.key; at--)
            places[at] = places[at - 1];
        places[at] = moving;
    }
    return places;
}

struct key_place *key_order(struct key_place *places, struct key_place *spare, size_t count)
{
    size_t counts[DIGITS][RADIX], sorted = 1;
    while (sorted < count && places[sorted - 1].key <= places[sorted].key)
        sorted++;
    if (sorted >= count)
        return places;
    if (count <= SHORT)
        return key_order_insert(places, count);
    memset(counts, 0, sizeof(counts));
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            counts[d][places[i].key >> d * DIGIT_BITS & (RADIX - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        unsigned shift = d * DIGIT_BITS;
        if (counts[d][places[0].key >> shift & (RADIX - 1)] == count)
            continue; /* the same digit in all keys */
        size_t at = 0;
        for (unsigned r = 0; r < RADIX; r++) {
            size_t with_digit = counts[d][r];
            counts[d][r] = at;
            at += with_digit;
        }
        for (size_t i = 0; i < count; i++)
            spare[counts[d][places[i].key >> shift & (RADIX - 1)]++] = places[i];
        struct key_place *moved = spare;
        spare = places;
        places = moved;
    }
    return places;
}
