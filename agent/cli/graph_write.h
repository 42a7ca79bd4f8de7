/* The graph of dependencies as JSON, and for Graphviz. */
#ifndef HOLTER_AGENT_CLI_GRAPH_WRITE_H
#define HOLTER_AGENT_CLI_GRAPH_WRITE_H

#include "agent/cli/graph_source.h"
#include "daemon/analysis/dependencies/dependencies.h"

#include <stdio.h>

/** What is written. Borrowed. */
struct graph_written {
    const struct graph_source *source;
    const struct dependencies *dependencies;
    const struct dependency_graph *graph; /**< of ranks, or of hosts */
    int hosts;                            /**< nodes are of hosts */
};

/** One object. */
void graph_write_json(FILE *out, const struct graph_written *w);

/** Layers from left to right, coloured by relative latency. */
void graph_write_dot(FILE *out, const struct graph_written *w);

#endif
