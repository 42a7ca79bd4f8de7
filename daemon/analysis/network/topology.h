/* The network under a job: vertices, directed links, and the one route that messages take between
 * two vertices.
 *
 * Vertices are compute nodes, numbered from 0, and after them switches. A link is directed
 * and has a number below topology_links(); in regular networks numbers follow from the coordinates
 * and some stand for no link (at the edge of a mesh). Routing is deterministic: dimension order for
 * Cartesian networks, up and down for trees (D-mod-K in fat trees), minimal for dragonflies, and
 * the shortest path by the lowest vertices for graphs (Visuco, section 3); routes that are given
 * take precedence. The files topology_KIND.c describe the numbers of vertices and links, and the
 * exact rule. Dragonflies, trees and graphs have routes between any two vertices, fat trees between
 * nodes.
 *
 * Memory: a copy of the spec; trees and graphs about 50 bytes a vertex and 4 a link; graphs also 2
 * bytes for each pair of vertices (128 MiB at most) and vertices x links steps when made (2^31 at
 * most).
 *
 * Cartesian networks cover tori, meshes, hypercubes (sizes 2), HyperX and the tiers of a Cray XC as
 * in Visuco, section 7.4 (all-to-all along each dimension). Nodes are numbered row-major: the last
 * dimension varies fastest.
 *
 * Immutable once made: const functions may be called from several threads at once.
 * Pure: no clock, no file, no socket. */
#ifndef HOLTER_ANALYSIS_NETWORK_TOPOLOGY_H
#define HOLTER_ANALYSIS_NETWORK_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#define TOPOLOGY_DIMENSIONS 12u
#define TOPOLOGY_NAME 64u /**< bytes of a name at most */
#define TOPOLOGY_MAX_VERTICES (1u << 20)
#define TOPOLOGY_MAXIMUM_LINKS (1u << 24)
#define TOPOLOGY_MAXIMUM_SEATS (1u << 24) /**< ranks that have a place in a network */
#define TOPOLOGY_MAXIMUM_GRAPH 8192u      /**< vertices of a graph that is not a tree */
#define TOPOLOGY_NONE UINT32_MAX

/* The numbers of these enums stand on the wire. */

enum topology_kind {
    TOPOLOGY_CARTESIAN,
    TOPOLOGY_DRAGONFLY, /**< groups, routers a group, nodes a router: all routers of a group linked,
                           groups linked all to all */
    TOPOLOGY_FAT_TREE,  /**< XGFT(h; m1..mh; w1..wh): Oehring et al., IPPS 1995 */
    TOPOLOGY_TREE,  /**< vertices and one parent each, as Slurm's tree plugin has it: no circle, one
                       link  each way between two vertices. Its nodes are numbered first */
    TOPOLOGY_GRAPH, /**< vertices and links as given, strongly connected; nodes first */
};

/** How neighbours along a dimension are linked. */
enum topology_connection {
    TOPOLOGY_TORUS, /**< a ring; of size 2: one link each way, as a mesh */
    TOPOLOGY_MESH,  /**< a line */
    TOPOLOGY_ALL,   /**< all to all */
};

/** Which way round a ring of even size when both are equally long. */
enum topology_tie {
    TOPOLOGY_TIE_PARITY, /**< up from an even coordinate, down from an odd one (Blue Gene/Q) */
    TOPOLOGY_TIE_PLUS,
    TOPOLOGY_TIE_MINUS,
};

enum topology_vertex {
    VERTEX_NODE,
    VERTEX_SWITCH,
    VERTEX_CORE, /**< within a node, where no network is known */
    VERTEX_NUMA,
    VERTEX_PROCESS, /**< of a rank that may run on several cores */
};

struct topology_dimension {
    char name[17];
    enum topology_connection connection;
    uint32_t size; /**< Cartesian: coordinates. Dragonfly, in order: groups, routers a group, nodes
                      a router, global links a router. Fat tree, from the leaves up: children of a
                      switch */
    uint32_t up;   /**< fat tree: parents of a vertex below this level; else 0 */
    uint32_t step; /**< Cartesian: when a route corrects it, 0 first; a permutation */
};

struct topology_named {
    char name[TOPOLOGY_NAME + 1];
    enum topology_vertex kind;
};

/** A directed link of a tree or graph. */
struct topology_edge {
    uint32_t from, to;
    double capacity; /**< bytes a second; 0: the network's */
    char interface[TOPOLOGY_NAME +
                   1]; /**< of the node at its beginning or, if that is a switch, at its end;
                                              "": not known */
};

/** Vertices of a given route, source first: path[first] .. path[first + count - 1]. */
struct topology_table {
    uint32_t first, count;
};

/** The description of a network. Zero-initialised is empty. Arrays are owned by who filled it in.
 */
struct topology_spec {
    char name[TOPOLOGY_NAME + 1];
    enum topology_kind kind;
    enum topology_tie tie;
    double capacity; /**< bytes a second of each link, 0: not known */
    struct topology_dimension dimensions[TOPOLOGY_DIMENSIONS];
    uint32_t dimension_count;

    /* trees and graphs; of the others only names, if any: nodes in their order */
    struct topology_named *vertices;
    uint32_t vertex_count;
    struct topology_edge *edges; /**< trees: both directions of each link, as of graphs */
    uint32_t edge_count;

    /* routes that are given, for any kind; they take precedence over the rule */
    struct topology_table *routes;
    uint32_t route_count;
    uint32_t *path;
    uint32_t path_count;
};

struct topology;

/** How nodes and links of a Cartesian network are numbered.
 *
 *  A node has the number sum(coordinate[d] * stride[d]), so that its coordinate is
 *  node / stride[d] % size[d]. Each node has `ports` links going out, some of which are missing at
 *  the edges of a mesh: link = node * ports + port. Ports of dimension d begin at port[d]:
 *
 *    - torus or mesh of size 3 or more: port[d] up, port[d] + 1 down;
 *    - all to all: port[d] + the other coordinate, less 1 if that is above the node's own;
 *    - size 2, however linked: port[d] to the other coordinate;
 *    - size 1: no port. */
struct topology_grid {
    uint32_t dimensions, ports;
    uint32_t size[TOPOLOGY_DIMENSIONS];
    uint32_t stride[TOPOLOGY_DIMENSIONS];
    uint32_t port[TOPOLOGY_DIMENSIONS];
    uint32_t order[TOPOLOGY_DIMENSIONS]; /**< the dimension that a route corrects at each step */
};

void topology_spec_finish(struct topology_spec *spec);

/** Set the steps of a Cartesian network in which a route corrects its dimensions when nothing else
 * is known: all-to-all dimensions first, the last of them first, then the longest dimension, of
 * equal ones the first. Recorded routes show other orders, which are used instead, for
 * five-dimensional tori that have the shape of a Blue Gene/Q partition of 32, 64, 128, 256 or 2048
 * nodes, and for five all-to-all tiers (Cray XC: cpu, slot, cage, row, column). */
void topology_spec_order(struct topology_spec *spec);

/** Read a short form of a network:
 *
 *  - `torus:4,4,4,16,2`, `mesh:8,8`, `hypercube:10`: sizes; a size may end in m (mesh), t (torus)
 * or a (all to all), as in `torus:4,4,4,8m,2`;
 *
 *  - `dragonfly:2,12,3,16,4`: tiers, all-to-all in each (Cray XC: row, column, cage, slot, cpu);
 *
 *  - `dragonfly:groups=9,routers=4,nodes=2,global=2`;
 *
 *  - `fattree:4,4,4/1,2,2`: XGFT, children by level from the leaves, then parents;
 *
 *  - `fattree:k=8`: three levels of k-port switches.
 *
 *  Options follow, each after a '/': `order=D,B,A,C,E` (first corrected first; default:
 *  topology_spec_order()), `tie=parity|plus|minus`, `capacity=BYTES_A_SECOND`.
 *
 *  @param why  set on failure: what is wrong and at which character
 *  @return 0, -HOLTER_EUSAGE or -ENOMEM */
int topology_short(struct topology_spec *out, const char *text, char *why, size_t capacity);

/** @param spec  copied
 *  @param why   set on failure
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT, or -HOLTER_EUSAGE: it contradicts itself, a route has a gap,
 * a node cannot be reached ... */
int topology_create(struct topology **out, const struct topology_spec *spec, char *why,
                    size_t capacity);

/** NULL is fine. */
void topology_destroy(struct topology *topology);

/** The network's own copy, borrowed. */
const struct topology_spec *topology_spec(const struct topology *topology);

/** The numbering of a Cartesian network, borrowed; NULL: the network is not Cartesian. */
const struct topology_grid *topology_grid(const struct topology *topology);
uint32_t topology_nodes(const struct topology *topology);
uint32_t topology_vertices(const struct topology *topology);

/** One more than the highest number of a link. */
uint32_t topology_links(const struct topology *topology);

/** Ends of a link. @return 0 when the number stands for none: nothing is set */
int topology_link(const struct topology *topology, uint32_t link, uint32_t *from, uint32_t *to);

/** The link from one vertex to a neighbour, TOPOLOGY_NONE: there is none. Of several: the first,
 * which is the one that routes take. */
uint32_t topology_link_between(const struct topology *topology, uint32_t from, uint32_t to);

/** The same wire the other way, TOPOLOGY_NONE: there is none. Of several links between two vertices
 * the first belongs to the first the other way, and so on. */
uint32_t topology_reverse(const struct topology *topology, uint32_t link);

/** Bytes a second; 0: not known. */
double topology_capacity(const struct topology *topology, uint32_t link);

/** Links that leave a vertex. @return how many there are; the first `capacity` are set */
uint32_t topology_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                      uint32_t capacity);

/** Length of the route; TOPOLOGY_NONE: there is none. Cartesian: no route is walked. */
uint32_t topology_distance(const struct topology *topology, uint32_t source, uint32_t destination);

/** The route, link by link.
 *  @return its length, TOPOLOGY_NONE: there is none; the first `capacity` links are set */
uint32_t topology_route(const struct topology *topology, uint32_t source, uint32_t destination,
                        uint32_t *links, uint32_t capacity);

/** @return whether a link is on the route. Cartesian: at most one comparison a dimension */
int topology_crosses(const struct topology *topology, uint32_t source, uint32_t destination,
                     uint32_t link);

/** Upper bound of the length of routes. */
uint32_t topology_diameter(const struct topology *topology);

/** Coordinates of a vertex: Cartesian, one a dimension; dragonfly, of nodes: group, router, node;
 * else none.
 *  @param out  space for TOPOLOGY_DIMENSIONS @return how many */
uint32_t topology_coordinates(const struct topology *topology, uint32_t vertex, uint32_t *out);

/** Node at coordinates; TOPOLOGY_NONE: out of range. */
uint32_t topology_at(const struct topology *topology, const uint32_t *coordinates);

/** Dimension that a link runs along, and its direction: 0 up, 1 down, 2 all-to-all. Not Cartesian:
 * returns 0.
 */
int topology_link_axis(const struct topology *topology, uint32_t link, uint32_t *dimension,
                       int *direction);

/** 1 if the network is drawn as tiers, not as rings: trees, dragonflies, and Cartesian networks
 * whose dimensions are linked all to all. */
int topology_has_tiers(const struct topology *topology);

/** 1 for the five tiers of a Cray XC (Visuco, section 7.4): a column of a row is a cabinet, two
 * neighbouring ones a group. */
int topology_is_cray_xc(const struct topology_spec *spec);

/** Level of a vertex: of a fat tree 0 for nodes, then one for each level of switches; else 0 for
 * nodes and 1 for switches. @param index  its number within its level */
uint32_t topology_level(const struct topology *topology, uint32_t vertex, uint32_t *index);

/** "node", "level 2" of a fat tree, "router" of a dragonfly, "switch". */
const char *topology_level_name(const struct topology *topology, uint32_t level);

/** Node or other vertex of this name: given, or as topology_vertex_name(); TOPOLOGY_NONE: there is
 * none. */
uint32_t topology_find(const struct topology *topology, const char *name);

/** A vertex' name for people: given, else its coordinates "(1,0,2,1,0)", of a dragonfly's router
 * "router (1,3)", with its group, else "node 7", or "switch 7", "numa 7", "core 7" of those that
 * are no nodes, counted together from 0.
 *  @return length of the whole name, as snprintf() */
int topology_vertex_name(const struct topology *topology, uint32_t vertex, char *text,
                         size_t capacity);
enum topology_vertex topology_vertex_kind(const struct topology *topology, uint32_t vertex);

/** Link that leaves a node by an interface, and the one that enters by it. Of Cartesian networks
 * interfaces are named by dimension and direction, "A+", "A-" (mind: what enters by "A-" came up
 * along A). TOPOLOGY_NONE: not known. A node with one link each way has it whatever the interface,
 * unless the network names another for it. */
void topology_interface(const struct topology *topology, uint32_t node, const char *interface,
                        uint32_t *link_out, uint32_t *link_in);

#endif
