/* What a callback for faults was told. */
#ifndef HOLTER_TESTS_TOLD_H
#define HOLTER_TESTS_TOLD_H

#include "holter/plain_text.h"

struct told {
    char text[8000]; /* lines */
};

/** A callback. @param user  a struct told */
static inline void tell(void *user, const char *text)
{
    struct told *told = user;
    text_append(told->text, sizeof(told->text), "%s\n", text);
}

#endif
