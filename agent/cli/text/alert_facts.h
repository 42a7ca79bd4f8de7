/* What an alert reports besides its title and its causes, as names and texts. */
#ifndef HOLTER_AGENT_CLI_TEXT_ALERT_FACTS_H
#define HOLTER_AGENT_CLI_TEXT_ALERT_FACTS_H

#include "holter/wire.h"

typedef void alert_fact_fn(void *user, const char *name, const char *text);

/** Call a function with each fact that is known, in the order in which people read them: where,
 *  how much, what it costs, who is affected, which messages. Advice comes after the causes and is
 *  not among them. */
void alert_facts_list(const struct wire_alert *alert, alert_fact_fn *put, void *user);

#endif
