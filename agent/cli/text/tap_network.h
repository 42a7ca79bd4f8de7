/* Network and links of a job as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_TAP_NETWORK_H
#define HOLTER_AGENT_CLI_TEXT_TAP_NETWORK_H

#include "holter/wire.h"

#include <stdio.h>

/** Names that earlier messages gave: of vertices by topic "topology", of nodes by topic "places".
 *  Zero-initialised is empty. */
struct network_names {
    char **vertices; /**< owned; NULL: this one has no name of its own */
    uint64_t vertex_count;
    int more;     /**< the next message goes on with them */
    char **nodes; /**< owned */
    uint64_t node_count;
    uint64_t sizes[16]; /**< Cartesian: of the dimensions */
    uint64_t size_count;
};

/** Take names from a message; those of other topics say nothing. Where there is no memory for them,
 *  vertices are told by number. */
void network_names_take(struct network_names *names, const struct wire_message *message);
void network_names_finish(struct network_names *names);

/** A vertex: its name, its coordinates "(1,0,2)", or "#7". @return text */
const char *network_names_vertex(const struct network_names *names, uint64_t vertex, char text[80]);

/** Print a message of topic "topology": the network, its size, what is wrong with it. */
void tap_topology(FILE *out, const struct wire_topology *topology);

/** Print a message of topic "links": a line for each link, route and interface in it. */
void tap_links(FILE *out, const struct wire_links *links, const struct network_names *names);

#endif
