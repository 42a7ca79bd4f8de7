/* The pace of drains: the rate expected of a ring, and how long that lets the agent sleep; and the
 * processor time that they may take. */
#include "agent/node/drain.h"

#define FORGET_NS 6e10 /* time after which a rate that did not occur again counts half */

void drain_pace_observe(struct drain_pace *pace, uint64_t records, uint64_t now_ns)
{
    if (pace->last_ns != 0 && now_ns > pace->last_ns) {
        double elapsed = (double)(now_ns - pace->last_ns);
        double rate = (double)records / elapsed;
        /* 2^-x near 0 is 1 - x ln 2: elapsed is milliseconds */
        double kept = 1 - 0.693 * (elapsed < FORGET_NS ? elapsed : FORGET_NS) / FORGET_NS;
        pace->expected = pace->expected * kept > rate ? pace->expected * kept : rate;
    }
    pace->last_ns = now_ns;
}

uint64_t drain_pace_wait(const struct drain_pace *pace, uint64_t capacity)
{
    double wait = DRAIN_FILL * (double)capacity / (pace->expected > 1e-12 ? pace->expected : 1e-12);
    if (wait >= (double)DRAIN_MAXIMUM_NS)
        return DRAIN_MAXIMUM_NS;
    return wait <= (double)DRAIN_MINIMUM_NS ? DRAIN_MINIMUM_NS : (uint64_t)wait;
}

#define BUDGET_LOOK_NS UINT64_C(500000000) /* time over which idle cores are counted */

void drain_budget_observe(struct drain_budget *budget, uint64_t idle_ns, uint64_t now_ns)
{
    uint64_t elapsed = now_ns - budget->looked_ns;
    if (budget->looked_ns != 0 && elapsed < BUDGET_LOOK_NS)
        return;
    if (budget->looked_ns != 0)
        budget->full =
            idle_ns != 0 && idle_ns >= budget->idle_ns && idle_ns - budget->idle_ns < elapsed / 2;
    budget->looked_ns = now_ns;
    budget->idle_ns = idle_ns;
}

static double drain_budget_credit(const struct drain_budget *budget, uint64_t now_ns)
{
    double saved = budget->credit_ns + DRAIN_SHARE * (double)(now_ns - budget->credit_at_ns);
    return saved < DRAIN_CREDIT_NS ? saved : DRAIN_CREDIT_NS;
}

uint64_t drain_budget_next(const struct drain_budget *budget, uint64_t now_ns)
{
    double credit = drain_budget_credit(budget, now_ns);
    return !budget->full || credit > 0 ? now_ns : now_ns + (uint64_t)(1 - credit / DRAIN_SHARE);
}

void drain_budget_spend(struct drain_budget *budget, uint64_t cpu_ns, uint64_t now_ns)
{
    budget->credit_ns = budget->full ? drain_budget_credit(budget, now_ns) - (double)cpu_ns
                                     : (double)DRAIN_CREDIT_NS;
    budget->credit_at_ns = now_ns;
}
