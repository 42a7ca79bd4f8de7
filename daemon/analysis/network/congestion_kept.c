#include "daemon/analysis/network/congestion_kept.h"

#include "include/holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @return KEPT_LINKS + 1: they are more than that, or one has no route */
static size_t count_links(const struct topology *topology, const struct congestion_pair *pairs,
                          size_t count)
{
    size_t links = 0;
    for (size_t i = 0; i < count && links <= KEPT_LINKS; i++)
        links += topology_distance(topology, pairs[i].source, pairs[i].destination);
    return links < KEPT_LINKS ? links : KEPT_LINKS + 1;
}

int congestion_fit(void *array_pointer, size_t element, size_t *room, size_t need)
{
    void *array;
    if (need <= *room)
        return 0;
    memcpy(&array, array_pointer, sizeof(array));
    array = realloc(array, need * element);
    if (array == NULL)
        return -ENOMEM;
    memcpy(array_pointer, &array, sizeof(array));
    *room = need;
    return 0;
}

int kept_routes_list(struct kept_routes *r, const struct topology *topology,
                     const struct congestion_pair *pairs, size_t count)
{
    size_t links = count_links(topology, pairs, count), used = 0;
    if (links > KEPT_LINKS)
        return -HOLTER_ELIMIT;
    if (congestion_fit(&r->first, sizeof(*r->first), &r->first_room, count + 1) != 0 ||
        congestion_fit(&r->links, sizeof(*r->links), &r->room, links + 1) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        r->first[i] = (uint32_t)used;
        used += topology_route(topology, pairs[i].source, pairs[i].destination, r->links + used,
                               (uint32_t)(links - used));
    }
    r->first[count] = (uint32_t)used;
    return 0;
}

void kept_routes_finish(struct kept_routes *r)
{
    free(r->first);
    free(r->links);
    *r = (struct kept_routes){0};
}

size_t kept_routes_bytes(const struct kept_routes *r)
{
    return r->first_room * sizeof(*r->first) + r->room * sizeof(*r->links);
}
