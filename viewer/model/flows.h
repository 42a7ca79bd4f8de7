/* What the network carries over a span of time: routes between vertices with their messages, and
 * the resulting loads of links and vertices, computed from the sums of pairs (range.h) and the
 * placement of ranks.
 * Suggested placements and routes may replace the real ones: everything here is then as it would be
 * with them. Results are stored between frames and computed again only when sums, topology or the
 * applied suggestions changed.
 * Memory: 4 bytes a pair of ranks, 33 a pair of vertices that exchange messages, 17 a link, 50 a
 * vertex. */
#ifndef HOLTER_VIEWER_MODEL_FLOWS_H
#define HOLTER_VIEWER_MODEL_FLOWS_H

#include "viewer/model/model.h"
#include "viewer/model/what_if.h"

#define FLOWS_NONE UINT32_MAX

/** Kinds of steps of the what-if that are applied, or-ed. */
enum flow_applied {
    FLOWS_MAPPING = 1u << SUGGEST_MAPPING,
    FLOWS_ROUTES = 1u << SUGGEST_ROUTES,
    FLOWS_OTHER_RUN = 1u << SUGGESTIONS, /**< not a step: what another run has sent */
};

/** All messages from one vertex to another: a route of Visuco, section 4.1. */
struct flow {
    uint32_t source, destination; /**< vertices, never the same */
    uint32_t length;              /**< links on it; TOPOLOGY_NONE: there is no route */
    uint32_t given; /**< suggested route that is used: index in what_if.routes; FLOWS_NONE: the
                       topology's */
    uint64_t messages, bytes;
};

struct flow_vertex {
    uint64_t in, out; /**< degrees (Visuco, section 4.1): messages received and sent, to and from
                                       other vertices */
    uint64_t in_bytes, out_bytes;
    uint64_t transit; /**< bytes of routes that pass through it */
};

/** Bits of flows.route_marks and the like. */
enum flow_mark {
    FLOW_SHOWN = 1, /**< not excluded by the filter */
    FLOW_SELECTED =
        2, /**< part of the selection: of a link its routes, their ends and their ranks */
};

/** Figures that routes, links or vertices are ranked, coloured and filtered by (Visuco,
 * section 4.3).
 */
enum flow_metric {
    METRIC_BYTES,     /**< message size: bytes of a route */
    METRIC_LENGTH,    /**< of a route, links */
    METRIC_HOP_BYTES, /**< of a route: bytes times length */
    METRIC_LOAD,      /**< of a link, bytes */
    METRIC_IN,        /**< in-degree of a vertex */
    METRIC_OUT,       /**< out-degree */
    METRIC_TRANSIT,   /**< bytes that pass through a vertex */
    METRICS,
};

enum flow_kind { FLOW_ROUTES, FLOW_LINKS, FLOW_VERTICES };

/** Numbers in ascending order. Zero-initialised is empty. */
struct flow_set {
    uint64_t *items; /**< owned */
    uint32_t count, capacity;
};

int flow_set_has(const struct flow_set *set, uint64_t item);

/** The filter of all network views. Zero-initialised shows everything. A route is shown when its
 *  figure, or that of a link or vertex on it, is in the range, and when it belongs to the picked
 * set. */
struct flow_filter {
    int ranged; /**< only figures of the metric from low to high */
    enum flow_metric metric;
    double low, high; /**< high may be infinite: also what becomes larger later */

    int picked; /**< only the set: from a lasso, or links or nodes chosen individually */
    enum flow_kind kind;
    struct flow_set set; /**< routes: source << 32 | destination; links; vertices */

    uint64_t version; /**< incremented by every change */
};

struct flows {
    struct flow *routes; /**< owned; routes with messages, by source, then destination */
    uint32_t route_count;
    uint64_t *loads, *messages;   /**< owned; by link: bytes and messages that cross it */
    uint32_t link_count;          /**< topology_links() */
    struct flow_vertex *vertices; /**< owned; topology_vertices() */
    uint32_t vertex_count;

    uint32_t *first_rank; /**< owned; vertex v holds ranks[first_rank[v]] .. ranks[first_rank[v + 1]
                             - 1] */
    uint32_t *ranks;      /**< owned */

    uint64_t bytes;          /**< that cross links */
    uint64_t local_bytes;    /**< between ranks of one vertex */
    uint64_t unplaced_bytes; /**< of pairs with an end whose placement is not known */
    double hop_bytes;
    uint64_t largest;        /**< largest load of a link */
    uint32_t largest_link;   /**< TOPOLOGY_NONE: none is loaded */
    uint32_t links_used;     /**< links with load */
    double mean;             /**< mean load of these */
    uint32_t longest;        /**< route */
    double maximum[METRICS]; /**< largest figure */

    /* by filter and selection */
    uint8_t *route_marks, *link_marks, *vertex_marks; /**< owned; enum flow_mark, or-ed */
    uint8_t *rank_marks;                              /**< owned; FLOW_SELECTED only */
    uint32_t rank_count;
    uint32_t shown_routes, selected_routes;
    uint64_t marks_version; /**< incremented when one of them changed */

    uint32_t *ranked; /**< owned; those with a figure above 0, largest first: flows_rank() */
    uint32_t ranked_count;
    enum flow_metric ranked_metric;

    const struct what_if *shown; /**< borrowed; state that it was computed for; NULL: the reality */
    unsigned applied;            /**< enum flow_applied of it; 0: the reality */
    uint64_t version; /**< incremented when anything but the marks changed; 0: not computed yet */

    struct flow_work *work; /**< owned; intermediate results */
};

/** Did all messages stay within nodes? */
static inline int flows_stayed_local(const struct flows *flows)
{
    return flows->bytes == 0 && flows->unplaced_bytes == 0 && flows->local_bytes > 0;
}

struct range;

/** Computes the flows from sums and model, unless nothing changed.
 *  @param shown  state of the network, borrowed until the next call; NULL: the reality
 *  @return 1 when it changed, 0 when not, -ENOMEM (empty then) */
int flows_update(struct flows *flows, const struct model *model, const struct range *range,
                 const struct what_if *shown);

/** No view shows flows: drops the figures until the next update. */
void flows_rest(struct flows *flows);

void flows_finish(struct flows *flows);

/** What is selected, for the marks. */
struct flow_pick {
    enum { PICK_NONE, PICK_LINK, PICK_ROUTE, PICK_VERTEX, PICK_RANKS, PICK_PAIR } kind;
    uint64_t a, b;        /**< link; vertices; vertex; source and destination ranks */
    const uint8_t *ranks; /**< PICK_RANKS: 1 for each that is selected, rank_count of them */
    uint32_t rank_count;
    uint64_t version; /**< incremented when ranks changed */
};

/** Sets the marks by filter and selection, unless nothing changed. @return 1 when they changed, 0,
 * or -ENOMEM */
int flows_mark(struct flows *flows, const struct model *model, const struct flow_filter *filter,
               const struct flow_pick *pick);

/** Links of a route, suggested ones included.
 *  @return its length, TOPOLOGY_NONE: there is none; the first `capacity` links are set */
uint32_t flows_walk(const struct flows *flows, const struct model *model, uint32_t route,
                    uint32_t *links, uint32_t capacity);

/** Whether a route crosses a link. */
int flows_crosses(const struct flows *flows, const struct model *model, uint32_t route,
                  uint32_t link);

/** Index of a route, FLOWS_NONE: it has no messages. */
uint32_t flows_find(const struct flows *flows, uint32_t source, uint32_t destination);

/** The kind of item that a metric applies to, how many items there are, and the figure of one. */
enum flow_kind flows_kind(enum flow_metric metric);
uint32_t flows_count(const struct flows *flows, enum flow_metric metric);
double flows_value(const struct flows *flows, enum flow_metric metric, uint32_t number);

/** Ranks routes, links or vertices by a figure, unless nothing changed; equal ones by index.
 *  @return 1 when it changed, 0, or -ENOMEM (none is ranked) */
int flows_rank(struct flows *flows, enum flow_metric metric);

/** Whether they are ranked by this figure, and nothing changed since. */
int flows_is_ranked(const struct flows *flows, enum flow_metric metric);

/** How many of the ranked items have at least this figure. */
uint32_t flows_above(const struct flows *flows, double value);

/** Name of a metric, "message size", "route length" ...; its unit, "B", "links", "messages". */
const char *flows_metric_name(enum flow_metric metric);
const char *flows_metric_unit(enum flow_metric metric);

/** Change the filter. flow_filter_set sorts the items and copies them. */
void flow_filter_range(struct flow_filter *filter, enum flow_metric metric, double low,
                       double high);
int flow_filter_pick(struct flow_filter *filter, enum flow_kind kind, const uint64_t *items,
                     uint32_t count);
void flow_filter_clear(struct flow_filter *filter);
void flow_filter_finish(struct flow_filter *filter);

/** Whether the filter excludes anything. */
int flow_filter_active(const struct flow_filter *filter);

/** "link load 1.2 GiB to 3.4 GiB, 12 nodes picked"; "" when nothing is excluded. */
char *flow_filter_text(const struct flow_filter *filter, char *out, size_t capacity);

#endif
