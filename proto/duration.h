/* Durations as people write them in options. */
#ifndef HOLTER_PROTO_DURATION_H
#define HOLTER_PROTO_DURATION_H

#include <stdint.h>

/** A number and "ms", "s", "us", "ns" or "min"; a bare number is seconds.
 *  @param out  nanoseconds @return 0 or -HOLTER_EUSAGE */
int duration_parse(const char *text, uint64_t *out);

#endif
