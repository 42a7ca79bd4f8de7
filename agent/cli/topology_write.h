/* Writes a network in the format of holter-topology(5). */
#ifndef HOLTER_AGENT_CLI_TOPOLOGY_WRITE_H
#define HOLTER_AGENT_CLI_TOPOLOGY_WRITE_H

#include "daemon/analysis/network/topology.h"

#include <stdbool.h>
#include <stdio.h>

/** Can the network be written? Trees and graphs cannot: they are always read from a file. */
bool topology_write_can(const struct topology *topology);

/** All keys but `routes`. */
void topology_write(FILE *out, const struct topology *topology);

/** A text in single quotes, without YAML escapes. */
void topology_write_text(FILE *out, const char *text);

/** Ends of a route. */
struct topology_ends {
    uint32_t source, destination;
};

/** Write an item of `routes`, on a line of its own, for each given route of the network.
 *  @param left_out  ends of routes that are not written; is sorted
 *  @return number of written routes */
size_t topology_write_routes(FILE *out, const struct topology *topology,
                             struct topology_ends *left_out, size_t count);

#endif
