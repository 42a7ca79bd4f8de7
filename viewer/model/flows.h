/* What the network carries over a span of time: routes between vertices with their messages, and
 * the loads that follow for links and vertices. From the sums of pairs (range.h) and the seats of
 * ranks.
 *
 * Suggested seats and routes may take the place of the real ones: then everything here is as it
 * would be. Kept between frames, computed again only when sums, topology or that choice changed.
 * The way of each pair of ranks to its route is kept for longer: it changes with seats and new
 * pairs only.
 *
 * Memory: about 16 bytes a pair of ranks, 80 bytes a pair of vertices, 17 a link, 50 a vertex. */
#ifndef HOLTER_VIEWER_MODEL_FLOWS_H
#define HOLTER_VIEWER_MODEL_FLOWS_H

#include "viewer/model/model.h"

#define FLOWS_NONE UINT32_MAX

/** Suggestions that are applied, or-ed. */
enum flow_applied {
    FLOWS_MAPPING = 1u << SUGGEST_MAPPING,
    FLOWS_ROUTES = 1u << SUGGEST_ROUTES,
};

/** All messages from one vertex to another: a route of Visuco, section 4.1. */
struct flow {
    uint32_t source, destination; /**< vertices, never the same */
    uint32_t length;              /**< links on it; TOPOLOGY_NONE: there is no way */
    uint32_t given;               /**< suggested route that it takes: number in suggestion.routes;
                                       FLOWS_NONE: as the topology routes */
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
    FLOW_SHOWN = 1, /**< the filter lets it pass */
    FLOW_SELECTED =
        2, /**< belongs to the selection: of a link its routes, their ends and their ranks */
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

/** Numbers in rising order. Zero-initialised is empty. */
struct flow_set {
    uint64_t *items; /**< owned */
    uint32_t count, room;
};

/** What all network views show. Zero-initialised shows everything. A route passes when its figure,
 * or that of a link on it, or of a vertex of it, is in the range, and when it belongs to the picked
 * set. */
struct flow_filter {
    int ranged; /**< figures of metric from low to high */
    enum flow_metric metric;
    double low, high;

    int picked; /**< only what set holds: a lasso, or links, nodes chosen one by one */
    enum flow_kind kind;
    struct flow_set set; /**< routes: source << 32 | destination; links; vertices */

    uint64_t version; /**< raised by every change */
};

struct flows {
    struct flow *routes; /**< owned; used ones, by source, then destination */
    uint32_t route_count;
    uint64_t *loads, *messages;   /**< owned; by link: bytes and messages that cross it */
    uint32_t link_count;          /**< topology_links() */
    struct flow_vertex *vertices; /**< owned; topology_vertices() */
    uint32_t vertex_count;

    uint32_t *first_rank; /**< owned; vertex v holds ranks[first_rank[v]] .. ranks[first_rank[v + 1]
                             - 1] */
    uint32_t *ranks;      /**< owned */

    uint64_t bytes, total_messages; /**< that cross links */
    uint64_t local_bytes;           /**< between ranks of one vertex */
    uint64_t unplaced_bytes;        /**< of pairs with an end whose seat is not known */
    double hop_bytes;
    uint64_t largest;      /**< largest load of a link */
    uint32_t largest_link; /**< TOPOLOGY_NONE: none is loaded */
    uint32_t links_used;   /**< links with load */
    double mean;           /**< load of those */
    uint32_t longest;      /**< route */
    double most[METRICS];  /**< largest figure */

    /* by filter and selection */
    uint8_t *route_marks, *link_marks, *vertex_marks; /**< owned; enum flow_mark, or-ed */
    uint8_t *rank_marks;                              /**< owned; FLOW_SELECTED only */
    uint32_t rank_count;
    uint32_t shown_routes, selected_routes;
    uint64_t marks_version; /**< raised when one of them changed */

    uint32_t *ranked; /**< owned; what has a figure above 0, largest first: flows_rank() */
    uint32_t ranked_count;
    enum flow_metric ranked_metric;

    unsigned applied; /**< enum flow_applied: what it was computed with */
    uint64_t version; /**< raised when anything but the marks changed; 0: nothing there */

    struct flow_work *work; /**< owned; what it was computed from */
};

struct range;

/** Compute from sums and model, unless nothing changed.
 *  @param applied  enum flow_applied
 *  @return 1 when it changed, 0 when not, -ENOMEM (empty then) */
int flows_update(struct flows *flows, const struct model *model, const struct range *range,
                 unsigned applied);

/** Nobody looks: forget the figures, but not the ways of the pairs, until the next update. */
void flows_rest(struct flows *flows);

void flows_finish(struct flows *flows);

/** What is selected, for the marks. */
struct flow_pick {
    enum { PICK_NONE, PICK_LINK, PICK_ROUTE, PICK_VERTEX, PICK_RANKS, PICK_PAIR } kind;
    uint64_t a, b;        /**< link; vertices; vertex; source and destination ranks */
    const uint8_t *ranks; /**< PICK_RANKS: 1 for each that is selected, rank_count of them */
    uint32_t rank_count;
    uint64_t version; /**< raised when ranks changed */
};

/** Mark by filter and selection, unless nothing changed. @return 1 when they changed, 0, or -ENOMEM
 */
int flows_mark(struct flows *flows, const struct model *model, const struct flow_filter *filter,
               const struct flow_pick *pick);

/** Links of a route, suggested ones included.
 *  @return its length, TOPOLOGY_NONE: there is none; the first `room` links are set */
uint32_t flows_walk(const struct flows *flows, const struct model *model, uint32_t route,
                    uint32_t *links, uint32_t room);

/** Does a route cross a link? */
int flows_crosses(const struct flows *flows, const struct model *model, uint32_t route,
                  uint32_t link);

/** Number of a route, FLOWS_NONE: nothing went that way. */
uint32_t flows_find(const struct flows *flows, uint32_t source, uint32_t destination);

/** What a metric is a figure of, how many there are of it, and the figure of one. */
enum flow_kind flows_kind(enum flow_metric metric);
uint32_t flows_count(const struct flows *flows, enum flow_metric metric);
double flows_value(const struct flows *flows, enum flow_metric metric, uint32_t number);

/** Rank routes, links or vertices by a figure, unless nothing changed; equal ones by number.
 *  @return 1 when it changed, 0, or -ENOMEM (none is ranked) */
int flows_rank(struct flows *flows, enum flow_metric metric);

/** How many of those ranked have at least this figure. */
uint32_t flows_above(const struct flows *flows, double value);

/** "message size", "route length" ...; its unit, "B", "links", "messages". */
const char *flows_metric_name(enum flow_metric metric);
const char *flows_metric_unit(enum flow_metric metric);

/** Filters. Set takes the items over: they are sorted and copied. */
void flow_filter_range(struct flow_filter *filter, enum flow_metric metric, double low,
                       double high);
int flow_filter_pick(struct flow_filter *filter, enum flow_kind kind, const uint64_t *items,
                     uint32_t count);
void flow_filter_clear(struct flow_filter *filter);
void flow_filter_finish(struct flow_filter *filter);

/** Is anything left out? */
int flow_filter_active(const struct flow_filter *filter);

/** "link load 1.2 GB to 3.4 GB, 12 nodes picked"; "" when nothing is left out. */
char *flow_filter_text(const struct flow_filter *filter, char *out, size_t room);

#endif
