/* Addresses of a fleet, as clients give them; also where Holter was built without libnats. */
#include "daemon/fleet/fleet_find.h"

#include "holter/error.h"

#include <stdio.h>
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

int fleet_address_set_job(const char *address, const char *job, char *out, size_t capacity)
{
    const char *path = fleet_address_path(address);
    const char *end = path == NULL ? NULL : strchr(path + 1, '/');
    const size_t length = end == NULL ? strlen(address) : (size_t)(end - address);
    const int used =
        snprintf(out, capacity, "%.*s%s/%s", (int)length, address, path == NULL ? "/" : "", job);
    return used < 0 || (size_t)used >= capacity ? -HOLTER_ERANGE : 0;
}
