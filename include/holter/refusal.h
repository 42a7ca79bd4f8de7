/* Why something that a person gave is refused, as a text in a buffer of the caller. */
#ifndef HOLTER_REFUSAL_H
#define HOLTER_REFUSAL_H

#include "holter/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/** Where the reason is written, cut to what fits. */
struct refusal {
    char *text;      /**< borrowed */
    size_t capacity; /**< 0: nothing is written */
};

/** Write the reason as printf(). @return -HOLTER_EUSAGE */
__attribute__((format(printf, 2, 3))) static inline int refusal_set(const struct refusal *refusal,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->text, refusal->capacity, format, arguments);
    va_end(arguments);
    return -HOLTER_EUSAGE;
}

/** Write that there is too much of something, see refusal_set(). @return -HOLTER_ELIMIT */
#define refusal_limit(refusal, ...) (refusal_set(refusal, __VA_ARGS__), -HOLTER_ELIMIT)

#endif
