/* The name of this host. */
#include "proto/host.h"

#include <unistd.h>

void host_name(char out[HOST_NAME_CAPACITY])
{
    if (gethostname(out, HOST_NAME_CAPACITY) != 0)
        out[0] = '\0';
    out[HOST_NAME_CAPACITY - 1] = '\0';
}
