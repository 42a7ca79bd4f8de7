/* The name of this host. */
#ifndef HOLTER_PROTO_HOST_H
#define HOLTER_PROTO_HOST_H

#include <unistd.h>

/** A host's name with its NUL: Linux allows 64 bytes (gethostname(2)). */
enum { HOST_NAME_CAPACITY = 65 };

/** This host's name, as gethostname(2) has it; "" when it has none. */
static inline void host_name(char out[HOST_NAME_CAPACITY])
{
    if (gethostname(out, HOST_NAME_CAPACITY) != 0)
        out[0] = '\0';
    out[HOST_NAME_CAPACITY - 1] = '\0';
}

#endif
