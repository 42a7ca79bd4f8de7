/* Positions in the order of 64-bit keys. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_KEY_ORDER_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_KEY_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct key_place {
    uint64_t key;
    uint32_t place; /**< of what has this key, in the caller's array */
};

/** Key of a figure that is a number, by which the largest comes first: bits of those that are not
 *  negative rise with the figure, bits of the others fall. */
static inline uint64_t key_of_largest(double figure)
{
    uint64_t bits;
    figure += 0.0; /* minus zero becomes zero */
    memcpy(&bits, &figure, sizeof(bits));
    return bits >> 63 ? bits : ~bits & INT64_MAX;
}

/** Sort by key; equal keys keep their order. By radix: the time is linear,
 *  whatever the keys.
 *  @param spare  space for as many, overwritten
 *  @return where the sorted ones are: places or spare */
struct key_place *key_order(struct key_place *places, struct key_place *spare, size_t count);

/** Sort rows in the same way. @param size  of a row, bytes @return 0 or -ENOMEM */
int key_order_rows(void *rows, size_t size, size_t count, uint64_t (*key_of)(const void *row));

#endif
