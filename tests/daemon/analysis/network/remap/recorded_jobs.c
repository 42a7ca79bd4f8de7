#include "tests/daemon/analysis/network/remap/recorded_jobs.h"

#include "tests/daemon/analysis/network/networks.h"
#include "tests/daemon/analysis/network/recorded_routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *shape(uint32_t nodes)
{
    const struct {
        uint32_t nodes;
        const char *text;
    } shapes[] = {{32, "torus:2,2,2,2,2"},    {64, "torus:2,2,4,2,2"},   {128, "torus:2,2,4,4,2"},
                  {256, "torus:4,2,4,4,2"},   {512, "torus:4,4,4,4,2"},  {1024, "torus:4,4,4,8m,2"},
                  {2048, "torus:4,4,4,16,2"}, {8192, "torus:8,4,8,16,2"}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (shapes[i].nodes == nodes)
            return shapes[i].text;
    fail_msg("no shape of %u nodes", nodes);
    return "";
}

/* Nodes are identified by numbers: those that occur become processes, in their order. */
static uint32_t seat_nodes(uint32_t *seats, uint32_t *process, uint32_t nodes)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < nodes; v++)
        if (process[v]) {
            process[v] = count;
            seats[count++] = v;
        }
    return count;
}

static uint32_t seat_ranks(uint32_t *seats, uint32_t *process, uint32_t nodes, uint32_t ranks)
{
    for (uint32_t p = 0; p < nodes * ranks; p++) {
        seats[p] = p / ranks;
        process[p] = p;
    }
    return nodes * ranks;
}

void recorded_job(struct recorded_job *job, const char *name)
{
    const struct recorded_pairs pairs = recorded_pairs(name);
    const bool theta = strstr(name, "_Theta_") != NULL;
    uint32_t nodes = 0, ranks = 1, *seats, *process;
    struct remap_edge *edges = calloc(pairs.count + 1u, sizeof(*edges));
    assert_int_equal(sscanf(strstr(name, "_n"), "_n%u_c%u", &nodes, &ranks), 2);
    job->topology = network_short(theta ? "dragonfly:2,12,3,16,4" : shape(nodes));
    const uint32_t room = theta ? topology_nodes(job->topology) : nodes * ranks;
    seats = calloc(room + 1u, sizeof(*seats));
    process = calloc(room + 1u, sizeof(*process));
    for (uint32_t i = 0; i < pairs.count; i++)
        process[pairs.pairs[i].source] = process[pairs.pairs[i].destination] = 1;
    const uint32_t count =
        theta ? seat_nodes(seats, process, room) : seat_ranks(seats, process, nodes, ranks);
    for (uint32_t i = 0; i < pairs.count; i++)
        edges[i] =
            (struct remap_edge){process[pairs.pairs[i].source], process[pairs.pairs[i].destination],
                                (uint64_t)pairs.pairs[i].bytes, 1};
    job->problem = (struct remap_problem){.topology = job->topology,
                                          .processes = count,
                                          .seats = seats,
                                          .edges = edges,
                                          .edge_count = pairs.count,
                                          .seed = 1};
    free(process);
    free(pairs.pairs);
}

void recorded_job_finish(struct recorded_job *job)
{
    free((void *)job->problem.seats);
    free((void *)job->problem.edges);
    topology_destroy(job->topology);
}
