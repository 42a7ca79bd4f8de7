/* What a test has its program say on standard error. */
#ifndef HOLTER_TESTS_HEARD_H
#define HOLTER_TESTS_HEARD_H

#include <stddef.h>
#include <stdio.h>

struct heard {
    int saved;
    FILE *file;
};

/** Standard error goes to a file from now on. */
void heard_begin(struct heard *heard);

/** All that was said so far, cut off where there is no room. */
void heard_text(const struct heard *heard, char *out, size_t room);

/** It goes where it went before. */
void heard_end(struct heard *heard);

#endif
