/* Order of rows by several columns, for qsort(3). */
#ifndef HOLTER_ORDER_H
#define HOLTER_ORDER_H

/** -1, 0 or 1: a is less than, equal to or greater than b; descending with both exchanged. With
 *  weights an earlier column prevails over all later ones:
 *
 *      return 4 * ORDER(b->bytes, a->bytes) + 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to); */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
