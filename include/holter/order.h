/* Order of numbers, and of rows by several columns, for qsort(3). */
#ifndef HOLTER_ORDER_H
#define HOLTER_ORDER_H

#include <stdint.h>

/** -1, 0 or 1: a is less than, equal to or greater than b; descending with both exchanged. With
 *  weights an earlier column prevails over all later ones:
 *
 *      return 4 * ORDER(b->bytes, a->bytes) + 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to); */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/** Define a static function for qsort(3) and bsearch(3): the order of elements `a` and `b`.
 *
 *      ORDER_FUNCTION(by_ends, struct edge, 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to)) */
#define ORDER_FUNCTION(name, type, order)                                                          \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = left, *b = right;                                                          \
        return order;                                                                              \
    }

/** Ascending. */
static inline int order_u32(const void *a, const void *b)
{
    return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int order_u64(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int order_doubles(const void *a, const void *b)
{
    return ORDER(*(const double *)a, *(const double *)b);
}

static inline uint64_t order_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
