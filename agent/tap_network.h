/* The network under a job and the state of its links as text for people. */
#ifndef HOLTER_AGENT_TAP_NETWORK_H
#define HOLTER_AGENT_TAP_NETWORK_H

#include "holter/wire.h"

#include <stdio.h>

/** Print a message of topic "topology" or "links": a line, and one for each row. */
void tap_topology(FILE *out, const struct wire_topology *topology);
void tap_links(FILE *out, const struct wire_links *links);

#endif
