/* Rows that are read or written in order, a few of them ahead, are fetched into the cache. The
 * processor does that by itself where rows are narrow, if late; of wide ones, of which only the
 * begin is wanted, it does not. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_FETCH_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_FETCH_H

#include <stddef.h>
#include <stdint.h>

#define FETCH_LINE 64u /* bytes of the cache */
#define FETCH_AHEAD 4u /* rows */

/** Have the row FETCH_AHEAD behind `at` at hand soon, if there is one.
 *  Always inline: of a function that only fetches the compiler leaves out the calls.
 *  @param size  of a row, bytes @param length  of its begin, bytes, of which lines are fetched */
static inline __attribute__((always_inline)) void
fetch_ahead(const void *rows, size_t size, size_t count, size_t at, size_t length)
{
    if (count < FETCH_AHEAD || at >= count - FETCH_AHEAD)
        return;
    const char *row = (const char *)rows + (at + FETCH_AHEAD) * size;
    for (size_t i = 0; i < length; i += FETCH_LINE)
        __builtin_prefetch(row + i, 1);
}

/** Have what lies so many bytes behind a row at hand soon, of rows that are narrow: the processor
 * fetches such by itself, but of no page before it is there. There may be nothing that far behind.
 */
static inline __attribute__((always_inline)) void fetch_after(const void *row, size_t distance)
{
    __builtin_prefetch((const void *)((uintptr_t)row + distance));
}

/** The same of rows that are written. */
static inline __attribute__((always_inline)) void fetch_after_for_write(void *row, size_t distance)
{
    __builtin_prefetch((const void *)((uintptr_t)row + distance), 1);
}

#endif
