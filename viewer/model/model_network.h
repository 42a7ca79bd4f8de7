/* The network under the job as the daemon reports it: its topology and the placement of ranks, the
 * state of its links in the newest window with a ring of earlier windows, and the better mappings
 * and routes that were requested. Memory: the topology, 8 bytes a rank, a row for each link of the
 * newest window, and rings of NETWORK_WINDOWS samples (20 bytes each) for at most NETWORK_TRACES
 * links, 20 MiB. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_NETWORK_H
#define HOLTER_VIEWER_MODEL_MODEL_NETWORK_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stdint.h>

#define NETWORK_WINDOWS 256u       /**< windows that a ring holds */
#define NETWORK_TRACES 4096u       /**< links with a ring; if there are more, those reported last */
#define NETWORK_UNKNOWN UINT64_MAX /**< of what counters measured */

struct network_sample {
    float load;     /**< bytes */
    float measured; /**< NaN: not known */
    float latency;  /**< NaN: none matched */
    uint8_t state;  /**< enum link_state */
    uint8_t unit;
    uint8_t present; /**< 0: the link had no row in that window */
};

/** Samples of a link in earlier windows. */
struct network_trace {
    uint32_t link;
    uint64_t newest;                /**< last window that it has a sample of */
    struct network_sample *samples; /**< owned; sample of window w at w % NETWORK_WINDOWS */
};

/** Counts of the newest window. */
struct network_counts {
    uint64_t states[4]; /**< links by enum link_state */
    double hop_bytes;
    uint64_t unplaced; /**< bytes of messages whose route is not known */
    uint64_t left_out; /**< links that are not idle but have no row */
};

/** A measure before and after. */
struct network_gain {
    char name[33];
    double before, after, bound; /**< bound NaN: not known */
};

/** A route for which another is suggested: vertices path[first] .. path[first + count - 1] of the
 * suggestion, its source first; count 0: none is better. */
struct network_reroute {
    uint32_t source, destination; /**< vertices */
    uint32_t length, length_after;
    uint64_t bytes, heaviest, heaviest_after;
    uint32_t first, count;
};

enum suggestion_kind { SUGGEST_MAPPING, SUGGEST_ROUTES, SUGGESTIONS };

/** The daemon's answer to the last request for suggestions. Whether it is applied to the views is
 * the user's choice: see flows.h. */
struct suggestion {
    int waiting;     /**< requested, no result yet */
    double progress; /**< 0 to 1 */
    int error;       /**< 0, or why there is no result; negative */
    char error_text[257];
    int ready; /**< 1: the fields below are a result */
    char objective[33];
    char subject[128]; /**< what it was asked for, for people: set by the asker; "": not said */
    uint64_t base;     /**< state of the what-if that it was asked for: see what_if.h; 0: reality */
    int optimal;       /**< 1: none is better */
    struct network_gain *gains; /**< owned */
    uint32_t gain_count;
    uint32_t *seats; /**< owned; mapping: vertex by rank, TOPOLOGY_NONE: unknown */
    uint32_t seat_count;
    struct network_reroute *routes; /**< owned; by source, then destination */
    uint32_t route_count;
    uint32_t *path; /**< owned */
    uint32_t path_count;
    uint64_t version; /**< incremented by each result */
    int more;         /**< parts are missing */
};

struct network {
    struct topology *topology; /**< owned; NULL: not received yet, or it cannot be used */
    char name[65], source[513];
    char fault[513]; /**< why the topology file or the received topology cannot be used; "": no
                        fault */
    uint32_t *seats; /**< owned; vertex by rank, TOPOLOGY_NONE: not known */
    uint32_t seat_count;
    uint64_t version;  /**< incremented when topology or seats changed; 0: never received */
    uint64_t replaced; /**< how often another network came, whose links have other numbers */

    uint64_t window;             /**< of all rows below; only when rows_known */
    uint8_t rows_known;          /**< links were received at least once */
    uint64_t states_known;       /**< windows before this one have no states, only what counters
                                    measured; 0: none has */
    struct wire_link_row *links; /**< owned; largest load first; their link is below
                                    TOPOLOGY_MAXIMUM_LINKS, their state an enum link_state */
    uint32_t link_count;
    uint32_t *by_link;                  /**< owned; positions in links, in order of link */
    struct wire_link_route_row *routes; /**< owned; by link, largest first */
    uint32_t route_count;
    struct network_counts counts;
    uint64_t links_version; /**< incremented by each window */

    struct network_trace *traces; /**< owned; in order of link */
    uint32_t trace_count;

    struct suggestion suggestions[SUGGESTIONS];

    struct network_parts *parts; /**< owned; parts of messages that are not complete yet */
};

/** Applies a message of topic topology. Contradictions in it are described in `fault`, without an
 *  error. @return 0 or -ENOMEM */
int network_apply_topology(struct network *network, const struct wire_topology *message);

/** Have two networks the same vertices, by number and name, and the same links? NULL: no. */
int network_is_same(const struct topology *a, const struct topology *b);

/** Applies a message of topic links. @return 0 or -ENOMEM */
int network_apply_links(struct network *network, const struct wire_links *message);

/** Apply answers. @return 0 or -ENOMEM */
int network_apply_mapping(struct network *network, const struct wire_mapping *message);
int network_apply_routes(struct network *network, const struct wire_routes *message);

/** Notes an open request: the previous answer is dropped. */
void network_asked(struct network *network, enum suggestion_kind kind, const char *objective);

/** Handles the reply that completes it; code 0: all answers were received. */
void network_replied(struct network *network, enum suggestion_kind kind, int code,
                     const char *text);

/** What a suggestion changes of a figure, by its name; NULL: it says nothing of it. */
const struct network_gain *suggestion_gain(const struct suggestion *suggestion, const char *name);

/** Number of routes for which there is a better one. */
uint32_t suggestion_better_routes(const struct suggestion *suggestion);

/** Drops a suggestion. */
void suggestion_clear(struct suggestion *suggestion);

/** A state begins: an incomplete previous one is dropped. */
void network_restart(struct network *network);

/** Drops everything. */
void network_clear(struct network *network);

/** Row of a link in the newest window; NULL: it has none. */
const struct wire_link_row *network_row(const struct network *network, uint64_t link);

/** Sample of a link in a window; NULL: not known. */
const struct network_sample *network_sample(const struct network *network, uint32_t link,
                                            uint64_t window);

/** Routes that load a hot link. @param count  set  @return the first of them */
const struct wire_link_route_row *network_routes_of(const struct network *network, uint64_t link,
                                                    uint32_t *count);

/** Vertex of a rank; TOPOLOGY_NONE: not known. */
uint32_t network_seat(const struct network *network, uint64_t rank);

/** "(3,1,0) → (3,2,0)"; numbers if the topology is not known. */
char *network_link_name(const struct network *network, uint32_t link, char *out, size_t capacity);

/** The same, shorter: a part of a host that is linked with it loses the host's name, "rank6 -> n1".
 */
char *network_link_short_name(const struct network *network, uint32_t link, char *out,
                              size_t capacity);

/** Name of a vertex. */
char *network_vertex_name(const struct network *network, uint32_t vertex, char *out,
                          size_t capacity);

/** "idle", "busy", "hot", "congested". */
const char *network_state_name(enum link_state state);

#endif
