/* Network and links of a job as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_TAP_NETWORK_H
#define HOLTER_AGENT_CLI_TEXT_TAP_NETWORK_H

#include "holter/wire.h"

#include <stdio.h>

/** Names from earlier messages: of vertices from topic "topology", of nodes from topic "places".
 *  Zero-initialised: empty. */
struct network_names {
    char **vertices; /**< owned; NULL: the vertex has no name */
    uint64_t vertex_count;
    int more;     /**< the next message has more of them */
    char **nodes; /**< owned */
    uint64_t node_count;
    uint64_t sizes[16]; /**< Cartesian: of the dimensions */
    uint64_t size_count;
};

/** Store the names in a message; other topics are ignored. Without memory for the names, vertices
 * are printed by number. */
void network_names_take(struct network_names *names, const struct wire_message *message);
void network_names_finish(struct network_names *names);

/** A vertex: its name, its coordinates "(1,0,2)", or "#7". @return text */
const char *network_names_vertex(const struct network_names *names, uint64_t vertex, char text[80]);

/** Print a message of topic "topology": the network, its size, its faults. */
void tap_topology(FILE *out, const struct wire_topology *topology);

/** Print a message of topic "links": a line for each link, route and interface in it. */
void tap_links(FILE *out, const struct wire_links *links, const struct network_names *names);

#endif
