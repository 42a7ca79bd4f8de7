/* The graph of dependencies as JSON, and for Graphviz. */
#ifndef HOLTER_AGENT_CLI_GRAPH_WRITE_H
#define HOLTER_AGENT_CLI_GRAPH_WRITE_H

#include "agent/cli/graph_source.h"
#include "daemon/analysis/dependencies/dependencies.h"

#include <stdio.h>

/** What to write. All of it is borrowed. */
struct graph_written {
    const struct graph_source *source;
    const struct dependencies *dependencies;
    const struct dependency_graph *graph; /**< of ranks or of hosts */
    int hosts;                            /**< the graph is that of hosts */
};

/** Write the graph as one JSON object. */
void graph_write_json(FILE *out, const struct graph_written *w);

/** Write the graph for Graphviz: layers from left to right, coloured by relative latency. */
void graph_write_dot(FILE *out, const struct graph_written *w);

#endif
