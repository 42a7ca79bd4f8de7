/* Assigns the counters of the interfaces of a job's nodes to the links of its network. */
#include "daemon/job/network/job_network_state.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

#define GAP_PARTS 4u /* counters that cover a quarter more than a window follow a gap */

/* Order of media: messages most probably use the one with the highest number in a node. */
static unsigned counter_medium_speed(uint64_t medium)
{
    return medium == COUNTER_LINK         ? 3
           : medium == COUNTER_SLINGSHOT  ? 2
           : medium == COUNTER_INFINIBAND ? 1
                                          : 0;
}

/* Does a node have one link, by whatever interface? */
static int counter_is_of_only_link(const struct job_network *n, uint32_t vertex)
{
    uint32_t link_out, link_in;
    topology_interface(n->graph->topology, vertex, "", &link_out, &link_in);
    return link_out != TOPOLOGY_NONE;
}

/* Interfaces of one node are adjacent. @return position after the last of this one */
static size_t counter_end_of_node(const struct counter_rows *rows, size_t from)
{
    size_t to = from;
    while (to < rows->count && rows->list[to].node == rows->list[from].node)
        to++;
    return to;
}

static int counter_is_fastest(const struct counter_rows *rows, const struct counter *counter)
{
    size_t at = (size_t)(counter - rows->list);
    while (at > 0 && rows->list[at - 1].node == counter->node)
        at--;
    for (size_t end = counter_end_of_node(rows, at); at < end; at++) {
        if (counter_medium_speed(rows->list[at].medium) > counter_medium_speed(counter->medium))
            return 0;
    }
    return 1;
}

void job_network_interface(const struct job_network *n, const struct counter *c, uint32_t *link_out,
                           uint32_t *link_in)
{
    const struct network_node *node = c->node < n->node_count ? &n->nodes[c->node] : NULL;
    *link_out = *link_in = TOPOLOGY_NONE;
    if (node == NULL || n->graph == NULL || node->vertex == TOPOLOGY_NONE)
        return;
    const int is_tree = job_network_is_tree(n);
    if ((is_tree || counter_is_of_only_link(n, node->vertex)) &&
        !counter_is_fastest(&n->counters, c))
        return;
    if (!is_tree) {
        topology_interface(n->graph->topology, node->vertex, c->name, link_out, link_in);
    } else {
        *link_out = node->uplink;
        *link_in = node->downlink;
    }
}

/* Counts that cover more than a window, because reports were lost, are spread evenly over their
 * time. */
static uint64_t counter_scale_to_window(const struct job_network *n, const struct counter *c,
                                        uint64_t count)
{
    uint64_t window = n->options.window_ns;
    if (c->length_ns <= window + window / GAP_PARTS)
        return count;
    return (uint64_t)((double)count * ((double)window / (double)c->length_ns));
}

ORDER_FUNCTION(counter_compare_measured, struct network_measured,
               4 * ORDER(a->link, b->link) + 2 * ORDER(a->receiver, b->receiver) +
                   ORDER(a->packets, b->packets))

/* Figures of the sender take precedence over those of the receiver, and bytes over packets. Several
 * interfaces at one end of a link are its lanes. */
static void counter_pass_measured(struct job_network *n, size_t count)
{
    for (size_t i = 0; i < count;) {
        const struct network_measured *m = &n->measured[i];
        uint64_t amount = 0;
        size_t next = i;
        for (; next < count && counter_compare_measured(m, &n->measured[next]) == 0; next++)
            amount = saturated_sum(amount, n->measured[next].amount);
        amount = amount < CONGESTION_UNKNOWN ? amount : CONGESTION_UNKNOWN - 1;
        congestion_set_counter(n->congestion, m->link, amount, m->packets);
        for (i = next; i < count && n->measured[i].link == m->link;)
            i++;
    }
}

int job_network_measure(struct job_network *n)
{
    size_t count = 0;
    if (ARRAY_FIT(n->measured, n->measured_capacity, 2 * n->counters.count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < n->counters.count; i++) {
        const struct counter *c = &n->counters.list[i];
        uint32_t out, in;
        job_network_interface(n, c, &out, &in);
        if (out != TOPOLOGY_NONE)
            n->measured[count++] = (struct network_measured){
                out, 0, c->unit != 0, counter_scale_to_window(n, c, c->sent)};
        if (in != TOPOLOGY_NONE)
            n->measured[count++] = (struct network_measured){
                in, 1, c->unit != 0, counter_scale_to_window(n, c, c->received)};
    }
    if (count > 1)
        qsort(n->measured, count, sizeof(*n->measured), counter_compare_measured);
    counter_pass_measured(n, count);
    n->measured_count = count;
    return 0;
}

void job_network_update_speeds(struct job_network *n)
{
    for (size_t i = 0; i < n->counters.count;) {
        uint32_t node = n->counters.list[i].node;
        double speed = 0;
        for (size_t end = counter_end_of_node(&n->counters, i); i < end; i++) {
            const struct counter *c = &n->counters.list[i];
            if (counter_is_fastest(&n->counters, c) && c->speed < UINT64_C(1) << 50)
                speed += (double)c->speed;
        }
        if (node >= n->node_count || speed <= n->nodes[node].speed)
            continue; /* as interfaces may be missing from a report, the speed never decreases */
        n->nodes[node].speed = speed;
        n->places_changed = 1;
    }
}
