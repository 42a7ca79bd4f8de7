/* In place of fleet_find.c where libnats was not found or is disabled. */
#include "daemon/fleet/fleet_find.h"

#include "holter/error.h"

#include <stdio.h>

int fleet_find(const char *address, char *out, size_t capacity, char *why, size_t why_capacity)
{
    (void)out;
    (void)capacity;
    snprintf(why, why_capacity, "%.200s: this holter was built without fleets (libnats)", address);
    return -HOLTER_EUSAGE;
}
