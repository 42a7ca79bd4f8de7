/* Addresses of a fleet, as clients give them; also where Holter was built without libnats. */
#include "daemon/fleet/fleet_find.h"

#include <string.h>

int fleet_is_address(const char *text)
{
    return strncmp(text, "nats://", 7) == 0 || strncmp(text, "tls://", 6) == 0;
}

const char *fleet_address_path(const char *address)
{
    const char *at = strchr(address, '/');
    while (at != NULL && at[1] == '/' && at > address && at[-1] == ':')
        at = strchr(at + 2, '/');
    return at;
}

const char *fleet_address_job(const char *address)
{
    const char *at = fleet_address_path(address);
    at = at == NULL ? NULL : strchr(at + 1, '/');
    return at == NULL || at[1] == '\0' ? NULL : at + 1;
}
