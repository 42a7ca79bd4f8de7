/* Placement of the ranks of a trace on the hosts that the user requested. */
#ifndef HOLTER_IMPORT_TRACE_PLACES_H
#define HOLTER_IMPORT_TRACE_PLACES_H

#include <stddef.h>
#include <stdint.h>

/** Zero-initialised is empty. */
struct trace_places {
    uint32_t *host_of; /**< owned; by rank: position in hosts */
    char (*hosts)[65]; /**< owned */
    uint32_t host_count;
};

/** Place ranks on the hosts of a list, in blocks and in its order; hosts for which no rank is left
 * are dropped.
 * @param list      as hostlist_expand() accepts it; no host may occur twice
 * @param per_node  ranks on each; 0: an equal share
 * @param why       set on failure: a sentence
 * @return 0, -ENOMEM or -HOLTER_EUSAGE */
int trace_places_list(struct trace_places *out, const char *list, uint32_t ranks, uint32_t per_node,
                      char *why, size_t capacity);

/** Check that the ranks fit on the hosts. @param per_node  ranks a host; 0: set to the minimum; why
 * as above
 * @return 0, or -HOLTER_EUSAGE: they do not fit */
int trace_places_fit(uint32_t ranks, uint32_t hosts, uint32_t *per_node, char *why,
                     size_t capacity);

void trace_places_finish(struct trace_places *places);

#endif
