/* Networks of every kind for tests, small and random. */
#ifndef TESTS_DAEMON_ANALYSIS_NETWORK_NETWORKS_H
#define TESTS_DAEMON_ANALYSIS_NETWORK_NETWORKS_H

#include "daemon/analysis/network/topology.h"
#include "tests/daemon/analysis/noise.h"

/** Fails the test when it cannot be made. */
struct topology *network_short(const char *text);

/** A random spec of a kind, of at most 64 vertices; topology_spec_finish() it. */
void network_spec(struct topology_spec *spec, enum topology_kind kind, struct noise *noise);

/** The same, made. */
struct topology *network_random(enum topology_kind kind, struct noise *noise);

/** Room for vertices and edges, all zero; topology_spec_finish() it. */
void network_graph(struct topology_spec *spec, enum topology_kind kind, uint32_t nodes,
                   uint32_t vertices, uint32_t most_edges);
void network_edge(struct topology_spec *spec, uint32_t from, uint32_t to);

#endif
