/* The request "remap". */
#include "daemon/server/search_state.h"

#include "daemon/analysis/network/measures.h"
#include "daemon/job/network/job_network.h"
#include "holter/clock.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRESS_NS UINT64_C(1000000000) /* between two progress messages */
#define GAINS 4u

static const char *const objectives[] = {"hop-bytes", "max-link", "inter-node"};

struct mapping {
    struct search *search;
    struct remap *remap;
    uint32_t *selected, *nodes; /* owned */
    struct remap_problem problem;
};

static void mapping_finish(struct mapping *m)
{
    remap_destroy(m->remap);
    free(m->selected);
    free(m->nodes);
}

/* By groups of ranks those of one host are one process, and need not follow each other. */
static int mapping_select_ranks(struct mapping *m)
{
    const struct network_ask *ask = m->search->ask;
    uint8_t *chosen = calloc((size_t)m->search->processes + 1, 1);
    int code = 0;
    m->selected = malloc(((size_t)ask->rank_count + 1) * sizeof(*m->selected));
    if (m->selected == NULL || chosen == NULL)
        code = -ENOMEM;
    for (uint32_t i = 0; code == 0 && i < ask->rank_count; i++) {
        uint32_t rank = ask->ranks[i];
        if (rank >= m->search->rank_count || m->search->process_of[rank] == UINT32_MAX) {
            snprintf(m->search->why, sizeof(m->search->why), "rank %u has no place in the network",
                     rank);
            code = -HOLTER_EUSAGE;
        } else if (!chosen[m->search->process_of[rank]]) {
            chosen[m->search->process_of[rank]] = 1;
            m->selected[m->problem.selected_count++] = m->search->process_of[rank];
        }
    }
    free(chosen);
    m->problem.selected = m->selected;
    return code;
}

/* Places of ranks of one host are of one node, also in the grid of processes. */
static void mapping_join_hosts(struct mapping *m)
{
    const struct job_network *network = job_network(m->search->job);
    for (uint32_t rank = 0; rank < m->search->rank_count; rank++) {
        const uint64_t lowest = job_network_node_rank(network, rank);
        const uint32_t vertex = job_network_vertex(network, rank),
                       first = job_network_vertex(network, (uint32_t)lowest);
        if (vertex != TOPOLOGY_NONE && first != TOPOLOGY_NONE)
            m->nodes[vertex] = m->nodes[first];
    }
}

static int mapping_begin(struct mapping *m)
{
    struct search *s = m->search;
    const struct network_ask *ask = s->ask;
    m->nodes = malloc(((size_t)topology_vertices(s->topology) + 1) * sizeof(*m->nodes));
    int code = m->nodes == NULL ? -ENOMEM : measures_nodes(s->topology, m->nodes);
    if (code == 0)
        mapping_join_hosts(m);
    m->problem = (struct remap_problem){
        .topology = s->topology,
        .processes = s->processes,
        .seats = s->seats,
        .edges = s->edges,
        .edge_count = s->edge_count,
        .nodes = m->nodes,
        .objective = ask->objective,
        .messages = ask->messages != 0,
        .seed = ask->seed,
        .effort = ask->seconds,
    };
    if (code == 0 && ask->ranks != NULL)
        code = mapping_select_ranks(m);
    return code != 0 ? code : remap_create(&m->remap, &m->problem, s->why, sizeof(s->why));
}

/* The objective comes first. @return nonzero when it is shown that no mapping is better */
static int mapping_measure(const struct mapping *m, const struct remap_measures *after,
                           struct wire_gain_row gains[GAINS])
{
    bool optimal = false;
    struct remap_measures before;
    double bound = remap_bound(m->remap, &optimal);
    unsigned first = m->problem.objective == REMAP_INTER_NODE ? 2u + m->problem.messages
                                                              : (unsigned)m->problem.objective;
    remap_given(m->remap, &before);
    struct wire_gain_row all[GAINS] = {
        {"hop-bytes", before.hop_bytes, after->hop_bytes, NAN},
        {"max-link", before.max_link, after->max_link, NAN},
        {"inter-node-bytes", before.inter_node_bytes, after->inter_node_bytes, NAN},
        {"inter-node-messages", before.inter_node_messages, after->inter_node_messages, NAN}};
    all[first].bound = bound > 0 || optimal ? bound : NAN;
    gains[0] = all[first];
    for (unsigned i = 0, at = 1; i < GAINS; i++) {
        if (i != first)
            gains[at++] = all[i];
    }
    return optimal;
}

static int mapping_send_progress(const struct mapping *m, double progress)
{
    const struct network_ask *ask = m->search->ask;
    struct wire_gain_row gains[GAINS];
    struct remap_measures so_far;
    remap_best(m->remap, &so_far);
    mapping_measure(m, &so_far, gains);
    const struct wire_mapping message = {.job = job_id(m->search->job),
                                         .objective = objectives[ask->objective],
                                         .progress = progress,
                                         .seed = ask->seed,
                                         .gains = gains,
                                         .gains_count = 1};
    return search_send(m->search, WIRE_TYPE_MAPPING, &message);
}

static int mapping_run(struct mapping *m)
{
    int code = mapping_send_progress(m, 0);
    uint64_t reported_ns = clock_mono_ns();
    for (double done = 0; code == 0 && done < 1;) {
        done = remap_step(m->remap);
        if (done >= 1 || clock_mono_ns() - reported_ns < PROGRESS_NS)
            continue;
        reported_ns = clock_mono_ns();
        code = mapping_send_progress(m, done);
    }
    return code;
}

static int mapping_send_result(const struct mapping *m)
{
    struct search *s = m->search;
    struct remap_measures after;
    struct wire_gain_row gains[GAINS];
    const uint32_t *best = remap_best(m->remap, &after);
    struct wire_seat_row *rows = malloc(((size_t)s->rank_count + 1) * sizeof(*rows));
    uint64_t count = 0;
    if (rows == NULL)
        return -ENOMEM;
    for (uint32_t rank = 0; rank < s->rank_count; rank++) {
        if (s->process_of[rank] != UINT32_MAX)
            rows[count++] = (struct wire_seat_row){rank, best[s->process_of[rank]]};
    }
    struct wire_mapping message = {.job = job_id(s->job),
                                   .objective = objectives[s->ask->objective],
                                   .progress = 1,
                                   .seed = s->ask->seed,
                                   .gains = gains,
                                   .gains_count = GAINS,
                                   .seats = rows,
                                   .seats_count = count,
                                   .optimal = (uint64_t)mapping_measure(m, &after, gains)};
    int code = search_send_parts(s, WIRE_TYPE_MAPPING, &message, "gains");
    free(rows);
    return code;
}

int search_mapping(struct search *s)
{
    struct mapping m = {.search = s};
    int code = mapping_begin(&m);
    code = code != 0 ? code : mapping_run(&m);
    code = code != 0 ? code : mapping_send_result(&m);
    mapping_finish(&m);
    return code;
}
