/* In place of fleet_find.c where libnats was not there, or not wanted. */
#include "daemon/fleet/fleet_find.h"

#include "holter/error.h"

#include <stdio.h>
#include <string.h>

int fleet_is_address(const char *text)
{
    return strncmp(text, "nats://", 7) == 0;
}

const char *fleet_address_job(const char *address)
{
    const char *at = strchr(address + strlen("nats://"), '/');
    at = at == NULL ? NULL : strchr(at + 1, '/');
    return at == NULL || at[1] == '\0' ? NULL : at + 1;
}

int fleet_find(const char *address, char *out, size_t capacity, char *why, size_t why_capacity)
{
    (void)out;
    (void)capacity;
    snprintf(why, why_capacity, "%.200s: this holter was built without fleets (libnats)", address);
    return -HOLTER_EUSAGE;
}
