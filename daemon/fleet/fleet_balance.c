/* Loads of the daemons of a fleet. */
#include "daemon/fleet/fleet_balance.h"

void fleet_balance_note(struct fleet_balance *balance, uint64_t daemon, uint64_t load,
                        uint64_t now_ns)
{
    size_t oldest = 0, at = 0;
    while (at < balance->count && balance->daemons[at].daemon != daemon) {
        oldest = balance->daemons[at].at_ns < balance->daemons[oldest].at_ns ? at : oldest;
        at++;
    }
    if (at == FLEET_BALANCE_DAEMONS)
        at = oldest;
    balance->count += at == balance->count;
    balance->daemons[at] = (struct fleet_balance_daemon){daemon, load, now_ns};
}

int fleet_balance_is_least(const struct fleet_balance *balance, uint64_t daemon, uint64_t load,
                           uint64_t since_ns)
{
    for (size_t i = 0; i < balance->count; i++) {
        const struct fleet_balance_daemon *other = &balance->daemons[i];
        const int is_less = other->load < load || (other->load == load && other->daemon < daemon);
        if (other->daemon != daemon && other->at_ns >= since_ns && is_less)
            return 0;
    }
    return 1;
}
