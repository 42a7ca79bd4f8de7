/* Binary search for the first of sorted items that does not precede a given position (lower bound).
 * bsearch(3) only finds an equal item, and not where a missing one would be. */
#ifndef HOLTER_BISECT_H
#define HOLTER_BISECT_H

/** The first position in [begin, end) for which an expression is false, or end.
 *
 *      uint32_t at = BISECT(i, 0, count, rows[i].time_ns < time_ns);
 *
 *  @param i       name of the variable for the position in the expression, of the type of end
 *  @param begin, end  unsigned, each evaluated once; begin <= end, or the result is begin
 *  @param before  expression in i: true for the first positions, false for all following ones.
 *                 If it is not, as for unsorted rows of a file, the result is some position from
 *                 begin to end
 *  @return the position, after at most as many steps as the number of positions has bits */
#define BISECT(i, begin, end, before)                                                              \
    __extension__({                                                                                \
        __typeof__((end) + 0u) bisect_low = (begin), bisect_high = (end);                          \
        while (bisect_low < bisect_high) {                                                         \
            const __typeof__((end) + 0u) i = bisect_low + (bisect_high - bisect_low) / 2;          \
            if (before)                                                                            \
                bisect_low = i + 1;                                                                \
            else                                                                                   \
                bisect_high = i;                                                                   \
        }                                                                                          \
        bisect_low;                                                                                \
    })

#endif
