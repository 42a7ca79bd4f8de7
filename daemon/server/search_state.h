/* The inside of a search, shared by search.c (what it works on), search_mapping.c and
 * search_routes.c. */
#ifndef HOLTER_DAEMON_SERVER_SEARCH_STATE_H
#define HOLTER_DAEMON_SERVER_SEARCH_STATE_H

#include "daemon/analysis/network/remap/remap.h"
#include "daemon/server/searches.h"
#include "holter/wire.h"

#define SEARCH_WHY 200u

struct search {
    struct job *job;
    const struct network_ask *ask;
    const struct topology *topology;
    int fd;
    struct wire_buffer buffer;
    char why[SEARCH_WHY]; /**< set with an error */

    /** The job is kept by groups of ranks: a process is a node, with all of its ranks. */
    int by_node;
    uint32_t processes;       /**< ranks that have a vertex */
    uint32_t *seats;          /**< owned: vertex of each */
    uint32_t *process_of;     /**< owned: by rank; UINT32_MAX: it has none */
    uint32_t rank_count;      /**< of process_of */
    struct remap_edge *edges; /**< owned: messages between processes */
    size_t edge_count;
};

/** Send an answer. @return 0, or -errno when the daemon has ended */
int search_send(struct search *search, enum wire_type type, const void *message);

/** Send an answer in parts. @param first  the first of its lists that is cut: see wire_parts_of()
 *  @return as search_send() */
int search_send_parts(struct search *search, enum wire_type type, void *message, const char *first);

/** @return 0 or a negative error, with search->why */
int search_mapping(struct search *search);
int search_routes(struct search *search);

#endif
