/* A job on a network that never ran: halo exchange between neighbours with a few far pairs over one
 * link, or the pairs of a recording of others; its topology, and the links of each window. */
#ifndef HOLTER_TESTS_VIEWER_SYNTHETIC_NETWORK_H
#define HOLTER_TESTS_VIEWER_SYNTHETIC_NETWORK_H

#include "tests/viewer/synthetic.h"

#include "daemon/analysis/network/topology.h"

struct synthetic_network {
    struct synthetic job;
    struct topology *topology;
    struct wire_seat_row *seats; /**< by rank */
    uint32_t hot; /**< link that the far pairs share; TOPOLOGY_NONE: there are none */
    uint32_t hot_pairs;
    uint64_t *loads, *messages; /**< by link, of the window that was sent last */
    double *average;
    uint64_t *peak;
    struct wire_link_row *links; /**< of that window, largest load first */
    uint32_t link_count;
    uint32_t most_rows; /**< links in a message; 0: all */
    uint32_t part_rows; /**< rows of a list in one message of the topology; 0: all */
    int measured;       /**< links have counters: 3 % above the model, the hot one 40 % */
};

/** @param form      short form of topology.h
 *  @param per_node  ranks on each node */
void synthetic_network_init(struct synthetic_network *net, const char *form, uint32_t per_node);

/** In place of the halo exchange, pairs of a hopbyte file: "source destination bytes hops" a line.
 *  @param share  what one message has of a pair's bytes; windows have 120 or so */
void synthetic_network_read(struct synthetic_network *net, const char *hopbytes, double share);

/** In place of the halo exchange, the ends of recorded routes: "Hop 1: [source-destination] ..."
 * for the first hop of each. The files have no sizes: each carries 64 KiB. */
void synthetic_network_read_routes(struct synthetic_network *net, const char *text);

/** In place of the halo exchange, so many pairs of ranks: near ones, and every fourth anywhere. */
void synthetic_network_scatter(struct synthetic_network *net, uint32_t pairs, uint64_t seed);
void synthetic_network_finish(struct synthetic_network *net);

/** Job, places, status and topology. */
void synthetic_network_begin(struct synthetic_network *net, synthetic_sink *sink, void *user);

/** The topology alone, as of seats. */
void synthetic_network_topology(const struct synthetic_network *net, synthetic_sink *sink,
                                void *user);

/** All messages of the next window, links at the end. */
void synthetic_network_window(struct synthetic_network *net, synthetic_sink *sink, void *user);

/** An answer to "remap": ranks of the halo moved by one node, with gains. @param progress  below 1:
 * only that */
void synthetic_network_mapping(const struct synthetic_network *net, double progress,
                               synthetic_sink *sink, void *user);

/** An answer to "reroute" for the far pairs: each goes another way round, as far as there is one.
 *  @return routes in it */
uint32_t synthetic_network_routes(const struct synthetic_network *net, synthetic_sink *sink,
                                  void *user);

#endif
