/* The processor time that drains may take. */
#include "agent/node/drain.h"

#define BUDGET_LOOK_NS UINT64_C(500000000) /* time over which idle cores are counted */

int drain_budget_is_due(const struct drain_budget *budget, uint64_t now_ns)
{
    return budget->looked_ns == 0 || now_ns - budget->looked_ns >= BUDGET_LOOK_NS;
}

void drain_budget_observe(struct drain_budget *budget, uint64_t idle_ns, uint64_t now_ns)
{
    uint64_t elapsed = now_ns - budget->looked_ns;
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
