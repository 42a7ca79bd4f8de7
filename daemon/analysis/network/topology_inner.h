/* Shared by the files of the topology, and included by no other file. */
#ifndef HOLTER_ANALYSIS_NETWORK_TOPOLOGY_INNER_H
#define HOLTER_ANALYSIS_NETWORK_TOPOLOGY_INNER_H

#include "daemon/analysis/network/topology.h"
#include "holter/refusal.h"

/** The operations of a kind of network. Vertices and links that are passed are in range, source and
 * destination differ. Routes follow the rule of the kind: given routes are looked up before. */
struct topology_rules {
    /** Check the spec; set nodes, vertices, links, diameter and state. */
    int (*make)(struct topology *topology, const struct refusal *why);
    void (*finish)(struct topology *topology); /**< NULL: nothing to free */
    int (*link)(const struct topology *topology, uint32_t link, uint32_t *from, uint32_t *to);
    uint32_t (*between)(const struct topology *topology, uint32_t from, uint32_t to);
    /** NULL: no two links lead from one vertex to the same other one. */
    uint32_t (*reverse)(const struct topology *topology, uint32_t link);
    uint32_t (*out)(const struct topology *topology, uint32_t vertex, uint32_t *links,
                    uint32_t capacity);
    /** NULL: the length of the route. */
    uint32_t (*distance)(const struct topology *topology, uint32_t source, uint32_t destination);
    uint32_t (*route)(const struct topology *topology, uint32_t source, uint32_t destination,
                      uint32_t *links, uint32_t capacity);
    int (*crosses)(const struct topology *topology, uint32_t source, uint32_t destination,
                   uint32_t link); /**< NULL: the route is walked */
};

extern const struct topology_rules topology_cartesian;
extern const struct topology_rules topology_dragonfly;
extern const struct topology_rules topology_fat_tree;
extern const struct topology_rules topology_tree;
extern const struct topology_rules topology_graph;

/** A vertex that has a given name. */
struct topology_label {
    const char *name; /**< borrowed from the spec */
    uint32_t vertex;
};

/** A route that was given. */
struct topology_given {
    uint32_t source, destination;
    const uint32_t *path; /**< borrowed from the spec: source .. destination */
    uint32_t count;       /**< vertices */
};

struct topology {
    struct topology_spec spec; /**< own copy */
    const struct topology_rules *rules;
    uint32_t nodes, vertices, links, diameter;
    struct topology_grid grid;     /**< Cartesian; else empty */
    void *state;                   /**< of the kind; owned */
    struct topology_label *labels; /**< owned; by name */
    uint32_t label_count;
    struct topology_given *given; /**< owned; by source and destination */
    uint32_t given_count;
};

/** Copy a spec with its arrays. @return 0 or -ENOMEM: nothing is left to free */
int topology_spec_copy(struct topology_spec *out, const struct topology_spec *spec);

/** Check and sort given names, and given routes; the kind's make() has been called. */
int topology_labels_make(struct topology *topology, const struct refusal *why);
int topology_given_make(struct topology *topology, const struct refusal *why);

/** The given route, NULL: there is none. */
const struct topology_given *topology_given_find(const struct topology *topology, uint32_t source,
                                                 uint32_t destination);

/** List the links of a given route, as topology_route(). */
uint32_t topology_given_route(const struct topology *topology, const struct topology_given *given,
                              uint32_t *links, uint32_t capacity);

/** Append to a route or a list of links. */
static inline void topology_put(uint32_t *links, uint32_t capacity, uint32_t *count, uint32_t link)
{
    if (*count < capacity)
        links[*count] = link;
    (*count)++;
}

#endif
