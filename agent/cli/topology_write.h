/* A network as holter-topology(5) has it. */
#ifndef HOLTER_AGENT_CLI_TOPOLOGY_WRITE_H
#define HOLTER_AGENT_CLI_TOPOLOGY_WRITE_H

#include "daemon/analysis/network/topology.h"

#include <stdbool.h>
#include <stdio.h>

/** Can it be written? Not trees and graphs: whoever has one has a file of it. */
bool topology_write_can(const struct topology *topology);

/** All keys but `routes`. */
void topology_write(FILE *out, const struct topology *topology);

/** A text in single quotes, which YAML takes as it stands. */
void topology_write_text(FILE *out, const char *text);

/** Of a route. */
struct topology_ends {
    uint32_t source, destination;
};

/** An item of `routes`, on a new line, for each route that the network was given.
 *  @param left_out  those between these are not written; is sorted
 *  @return how many were written */
size_t topology_write_routes(FILE *out, const struct topology *topology,
                             struct topology_ends *left_out, size_t count);

#endif
