#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_broken(const char *rule, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, rule);
    abort();
}
