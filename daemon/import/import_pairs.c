/* Hop-byte and route files as a recording of one window. */
#include "daemon/import/import.h"

#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS UINT64_C(1000000000)

struct places {
    uint32_t *node;    /* by rank */
    uint32_t *host_of; /* by rank */
    char (*hosts)[65];
    uint32_t host_count;
};

static void import_pairs_places_finish(struct places *p)
{
    free(p->node);
    free(p->host_of);
    free(p->hosts);
}

static int import_pairs_compare_by_node(const void *left, const void *right, void *user)
{
    const uint32_t *node = user, a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return 2 * ORDER(node[a], node[b]) + ORDER(a, b);
}

static void import_pairs_name_host(char out[65], const struct topology_file *network, uint32_t node)
{
    if (network == NULL)
        snprintf(out, 65, "n%" PRIu32, node);
    else
        topology_vertex_name(network->topology, node, out, 65);
}

/* Make the list of hosts from the nodes in use, and the host of each rank. */
static int import_pairs_make_hosts(struct places *p, uint32_t ranks,
                                   const struct topology_file *network)
{
    uint32_t *order = calloc((size_t)ranks + 1, sizeof(*order));
    p->host_of = calloc((size_t)ranks + 1, sizeof(*p->host_of));
    p->hosts = calloc((size_t)ranks + 1, sizeof(*p->hosts));
    if (order == NULL || p->host_of == NULL || p->hosts == NULL) {
        free(order);
        return -ENOMEM;
    }
    for (uint32_t r = 0; r < ranks; r++)
        order[r] = r;
    qsort_r(order, ranks, sizeof(*order), import_pairs_compare_by_node, p->node);
    for (uint32_t i = 0; i < ranks; i++) {
        if (i == 0 || p->node[order[i]] != p->node[order[i - 1]])
            import_pairs_name_host(p->hosts[p->host_count++], network, p->node[order[i]]);
        p->host_of[order[i]] = p->host_count - 1;
    }
    free(order);
    return 0;
}

static int import_pairs_find_places(struct places *p, const struct pairs *pairs,
                                    const struct topology_file *network, uint64_t per_node,
                                    char *why, size_t capacity)
{
    *p = (struct places){0};
    snprintf(why, capacity, "no memory");
    int code = 0;
    if (network != NULL) {
        code = pairs_seats(&p->node, pairs, network, per_node, why, capacity);
    } else {
        p->node = calloc((size_t)pairs->processes + 1, sizeof(*p->node));
        code = p->node == NULL ? -ENOMEM : 0;
        for (uint32_t i = 0; code == 0 && i < pairs->processes; i++)
            p->node[i] = (uint32_t)(pairs->ids[i] / (per_node == 0 ? 1 : per_node));
    }
    return code != 0 ? code : import_pairs_make_hosts(p, pairs->processes, network);
}

static int import_pairs_write_job(const char *path, const struct import_job *job,
                                  const struct pairs *pairs, struct faults *faults)
{
    struct import *import;
    struct import_window window = {
        .pairs = pairs->edges, .pair_count = pairs->edge_count, .last = 1};
    char why[300] = "no memory";
    int code = import_create(&import, path, job, why, sizeof(why));
    if (code != 0) {
        fault_at(faults, 0, "%s", why);
        return code;
    }
    return import_finish(import, import_window(import, &window), faults);
}

int import_pairs(const char *path, const char *source, const struct pairs *pairs,
                 const struct topology_file *network, const char *network_source, uint64_t per_node,
                 file_fault *tell, void *user)
{
    struct faults faults = {path, tell, user, 0};
    struct places places;
    const char *base = text_base_name(source);
    char why[300], name[IMPORT_JOB_NAME], command[600];
    import_job_name(name, base, strcspn(base, "."), "pairs");
    snprintf(command, sizeof(command), "imported from %.500s", source);
    int code = import_pairs_find_places(&places, pairs, network, per_node, why, sizeof(why));
    if (code != 0) {
        fault_at(&faults, 0, "%s", why);
    } else {
        struct import_job job = {.name = name,
                                 .app = name,
                                 .command = command,
                                 .mpi = pairs->source == PAIRS_ROUTES ? "imported: a route file"
                                                                      : "imported: a hop-byte file",
                                 .ranks = pairs->processes,
                                 .host_of = places.host_of,
                                 .hosts = (const char(*)[65])places.hosts,
                                 .host_count = places.host_count,
                                 .window_ns = WINDOW_NS,
                                 .network = network == NULL ? NULL : network->topology,
                                 .network_source = network_source};
        code = import_pairs_write_job(path, &job, pairs, &faults);
    }
    import_pairs_places_finish(&places);
    return code;
}
