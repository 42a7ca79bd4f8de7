/* Binary heaps in arrays: the item that comes before all others is the first. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_HEAP_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_HEAP_H

#include <stddef.h>

/** Defines, for items of a type of which before(&a, &b) says whether a comes before b:
 *
 *  - name_rise(heap, at, item): put an item at `at`, where the heap grows, or above;
 *  - name_sink(heap, count, at, item): put an item at `at`, or below, among `count` items. */
#define HEAP(name, type, before)                                                                   \
    static inline void name##_rise(type *heap, size_t at, type item)                               \
    {                                                                                              \
        for (; at > 0 && before(&item, &heap[(at - 1) / 2]); at = (at - 1) / 2)                    \
            heap[at] = heap[(at - 1) / 2];                                                         \
        heap[at] = item;                                                                           \
    }                                                                                              \
    static inline void name##_sink(type *heap, size_t count, size_t at, type item)                 \
    {                                                                                              \
        for (size_t child; (child = 2 * at + 1) < count; at = child) {                             \
            child += child + 1 < count && before(&heap[child + 1], &heap[child]);                  \
            if (!before(&heap[child], &item))                                                      \
                break;                                                                             \
            heap[at] = heap[child];                                                                \
        }                                                                                          \
        heap[at] = item;                                                                           \
    }

#endif
