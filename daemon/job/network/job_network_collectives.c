/* What collectives put on the links of a job's network: the messages that their algorithms send
 * (daemon/analysis/phases/collective_edges.h), apart from those that ranks send each other. */
#include "daemon/job/network/job_network_state.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"

#include <errno.h>
#include <stdint.h>

static void collectives_add_pair(struct job_network *n, const struct burst_pair *pair)
{
    const uint32_t source = job_network_vertex(n, pair->source),
                   destination = job_network_vertex(n, pair->destination);
    const struct load_change change = {source, destination, (int64_t)pair->bytes,
                                       (int64_t)pair->messages};
    if (source == destination && source != TOPOLOGY_NONE)
        return;
    if (source == TOPOLOGY_NONE || destination == TOPOLOGY_NONE || pair->bytes > INT64_MAX ||
        link_loads_add(n->collectives, &change) != 0) {
        n->collective_unplaced = saturated_sum(n->collective_unplaced, pair->bytes);
        return;
    }
    n->collective_bytes = saturated_sum(n->collective_bytes, pair->bytes);
    n->collectives_loaded = 1;
}

int job_network_add_collectives(struct job_network *n, const struct closed_window *w)
{
    const struct burst_rows *rows = w->bursts;
    n->collective_bytes = n->collective_unplaced = 0;
    n->collectives_loaded = 0;
    if (n->collectives != NULL)
        link_loads_clear(n->collectives);
    if (rows == NULL)
        return 0;
    n->collective_unplaced = rows->modelled_others;
    if (rows->modelled_count == 0)
        return 0;
    if (n->collectives == NULL && link_loads_create(&n->collectives, n->graph->topology) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < rows->modelled_count; i++)
        collectives_add_pair(n, &rows->modelled[i]);
    return 0;
}

struct link_load job_network_collective_load(const struct job_network *n, uint32_t link)
{
    return n->collectives == NULL ? (struct link_load){0} : link_loads_values(n->collectives)[link];
}

/* Links that only collectives load now. Ranks may have loaded them before. */
int job_network_list_collective_links(struct job_network *n)
{
    const struct topology *t = n->graph->topology;
    const size_t known = n->link_count; /* by number */
    size_t at = 0;
    for (uint32_t link = 0; n->collectives_loaded && link < topology_links(t); link++) {
        struct congestion_link row;
        while (at < known && n->links[at].link < link)
            at++;
        if ((at < known && n->links[at].link == link) ||
            job_network_collective_load(n, link).messages == 0 ||
            !congestion_link(n->congestion, link, &row))
            continue;
        if (ARRAY_FIT(n->links, n->link_capacity, n->link_count + 1) != 0)
            return -ENOMEM;
        n->links[n->link_count++] = row;
    }
    return 0;
}
