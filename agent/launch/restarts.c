/* Counts crashes within the last minute: each doubles the wait, too many end it. */
#include "agent/launch/restarts.h"

#include <string.h>

#define FIRST_WAIT_MS 50

int restarts_record_crash(struct restarts *restarts, unsigned long now)
{
    int recent = 0;
    if (restarts->count == RESTARTS_MAXIMUM + 1)
        memmove(restarts->crashes, restarts->crashes + 1,
                (size_t)--restarts->count * sizeof *restarts->crashes);
    restarts->crashes[restarts->count++] = now;
    for (int i = 0; i < restarts->count; i++)
        recent += now - restarts->crashes[i] < RESTARTS_SECONDS;
    return recent > RESTARTS_MAXIMUM ? -1 : FIRST_WAIT_MS << (recent - 1);
}
