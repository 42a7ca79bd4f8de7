/* Converts between media time and wall time. */
#include "daemon/replay/replay_pace.h"

#include "holter/error.h"

#include <stdlib.h>
#include <string.h>

#define NEVER_NS 9e18 /* nanoseconds that are never reached */

void replay_pace_set(struct replay_pace *p, double speed, int paused, uint64_t media_ns,
                     uint64_t wall_ns)
{
    *p = (struct replay_pace){speed, paused, media_ns, wall_ns};
}

uint64_t replay_pace_now(const struct replay_pace *p, uint64_t wall_ns, uint64_t next_ns)
{
    uint64_t passed = wall_ns > p->wall_ns ? wall_ns - p->wall_ns : 0, media = p->media_ns;
    if (!p->paused && p->speed > 0) {
        double elapsed = (double)passed * p->speed;
        uint64_t left = UINT64_MAX - media;
        media += elapsed >= (double)left || elapsed >= NEVER_NS ? left : (uint64_t)elapsed;
    }
    /* Media time does not pass a message that was not fed. */
    return next_ns > p->media_ns && media > next_ns ? next_ns
           : next_ns <= p->media_ns                 ? p->media_ns
                                                    : media;
}

uint64_t replay_pace_due(const struct replay_pace *p, uint64_t media_ns)
{
    if (p->paused)
        return UINT64_MAX;
    if (p->speed <= 0 || media_ns <= p->media_ns)
        return 0;
    double wait = (double)(media_ns - p->media_ns) / p->speed;
    return wait >= NEVER_NS || wait >= (double)(UINT64_MAX - p->wall_ns)
               ? UINT64_MAX
               : p->wall_ns + (uint64_t)wait;
}

void replay_pace_fed(struct replay_pace *p, uint64_t media_ns, uint64_t wall_ns)
{
    if (p->speed > 0 && !p->paused)
        return;
    p->media_ns = media_ns > p->media_ns ? media_ns : p->media_ns;
    p->wall_ns = wall_ns;
}

static int replay_pace_speed_valid(double speed)
{
    return speed == 0 || (speed >= PACE_SLOWEST && speed <= PACE_FASTEST);
}

int replay_pace_parse(const char *text, double *out)
{
    char *end;
    if (strcmp(text, "max") == 0) {
        *out = 0;
        return 0;
    }
    /* Digits only: strtod(3) would accept "nan", "inf" and hexadecimal numbers too. */
    size_t length = strlen(text);
    if (length == 0 || length > 16 || strspn(text, "0123456789.") != length || text[0] == '.')
        return -HOLTER_EUSAGE;
    double speed = strtod(text, &end);
    if (*end != '\0' || speed == 0 || !replay_pace_speed_valid(speed))
        return -HOLTER_EUSAGE;
    *out = speed;
    return 0;
}
