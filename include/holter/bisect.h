/* Binary search: the first of some items in order that is not before a place. bsearch(3) finds one
 * that is equal, and says nothing of where a missing one would be. */
#ifndef HOLTER_BISECT_H
#define HOLTER_BISECT_H

/** The first position in [begin, end) for which an expression is false, or end.
 *
 *      uint32_t at = BISECT(i, 0, count, rows[i].time_ns < time_ns);
 *
 *  @param i       names the position that the expression is about, which is of the type of end
 *  @param begin, end  unsigned, each evaluated once; begin <= end, or the result is begin
 *  @param before  expression in i: true for some positions at the begin, false for all behind them.
 * Where it is not, as for rows of a file that are out of order, the result is still one from begin
 * to end
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
