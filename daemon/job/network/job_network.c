/* The network under one job: which network is in use, and which vertex each rank is on. */
#include "daemon/job/network/job_network_state.h"
#include "holter/error.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/topology/network_tree.h"
#include "holter/order.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "network"

/* ---- life -------------------------------------------------------------------------- */

int job_network_create(struct job_network **out, const struct job_network_options *options)
{
    struct job_network *n = calloc(1, sizeof(*n));
    if (n == NULL)
        return -ENOMEM;
    n->options = *options;
    n->places_changed = 1;
    *out = n;
    return 0;
}

static void network_graph_destroy(struct network_graph *graph)
{
    if (graph == NULL)
        return;
    topology_destroy(graph->own);
    free(graph);
}

void job_network_destroy(struct job_network *n)
{
    if (n == NULL)
        return;
    congestion_destroy(n->congestion);
    link_loads_destroy(n->collectives);
    network_graph_destroy(n->graph);
    counter_rows_finish(&n->counters);
    job_measured_finish(&n->before);
    network_grid_finish(&n->grid);
    free(n->nodes);
    free(n->ranks);
    free(n->seats);
    free(n->by_vertex);
    free(n->pairs);
    free(n->links);
    free(n->link_rows);
    free(n->route_rows);
    free(n->interface_rows);
    free(n->first);
    free(n->measured);
    free(n);
}

/* ---- places ------------------------------------------------------------------------ */

static int network_reserve_node(struct job_network *n, uint32_t node, const char *host)
{
    if (ARRAY_FIT_AT(n->nodes, n->node_capacity, node) != 0)
        return -ENOMEM;
    for (; n->node_count <= node; n->node_count++)
        n->nodes[n->node_count] = (struct network_node){.lowest = TOPOLOGY_NONE,
                                                        .vertex = TOPOLOGY_NONE,
                                                        .uplink = TOPOLOGY_NONE,
                                                        .downlink = TOPOLOGY_NONE};
    if (n->nodes[node].host[0] == '\0')
        snprintf(n->nodes[node].host, sizeof(n->nodes[node].host), "%s",
                 host[0] == '\0' ? "?" : host);
    return 0;
}

static int network_reserve_rank(struct job_network *n, uint32_t rank)
{
    if (ARRAY_FIT_AT(n->ranks, n->rank_capacity, rank) != 0 ||
        ARRAY_FIT_AT(n->seats, n->seat_capacity, rank) != 0)
        return -ENOMEM;
    for (; n->rank_count <= rank; n->rank_count++) {
        n->ranks[n->rank_count] = (struct network_rank){.node = NETWORK_NO_NODE};
        n->seats[n->rank_count] = TOPOLOGY_NONE;
    }
    return 0;
}

/* Numbers of cores are one higher than the node's own; no node has so many. */
static uint32_t network_clamp_number(uint64_t number)
{
    return number < UINT32_C(1) << 24 ? (uint32_t)number : 0;
}

void job_network_set_by_node(struct job_network *n, int by_node)
{
    n->places_changed |= n->by_node != by_node;
    n->by_node = by_node;
}

int job_network_is_by_node(const struct job_network *n)
{
    return n->by_node;
}

int job_network_place(struct job_network *n, uint32_t rank, uint32_t node, const char *host,
                      uint64_t core, uint64_t numa)
{
    if (network_reserve_node(n, node, host) != 0 || network_reserve_rank(n, rank) != 0)
        return -ENOMEM;
    struct network_rank *r = &n->ranks[rank], place = {.node = node,
                                                       .core = network_clamp_number(core),
                                                       .numa = network_clamp_number(numa)};
    if (r->node == place.node && r->core == place.core && r->numa == place.numa)
        return 0;
    n->lowest_moved |=
        r->node != NETWORK_NO_NODE && r->node != node && n->nodes[r->node].lowest == rank;
    *r = place;
    if (rank < n->nodes[node].lowest)
        n->nodes[node].lowest = rank;
    n->places_changed = 1;
    return 0;
}

void job_network_end_places(struct job_network *n)
{
    if (!n->lowest_moved)
        return;
    for (uint32_t i = 0; i < n->node_count; i++)
        n->nodes[i].lowest = TOPOLOGY_NONE;
    for (uint32_t rank = n->rank_count; rank-- > 0;) {
        if (n->ranks[rank].node != NETWORK_NO_NODE)
            n->nodes[n->ranks[rank].node].lowest = rank;
    }
    n->lowest_moved = 0;
}

int job_network_add_grids(struct job_network *n, const struct wire_ranks *m)
{
    if (n->options.given == NULL || !n->options.given->is_grid || n->by_node)
        return 0;
    int changed = network_grid_update(&n->grid, m);
    n->places_changed |= changed != 0;
    n->grid_changed |= changed != 0 && changed != 1;
    return changed < 0 ? changed : 0;
}

/* ---- the network that was given -------------------------------------------------------- */

static int network_is_given(const struct job_network *n)
{
    return n->options.given != NULL && n->options.given->file.topology != NULL;
}

int job_network_is_tree(const struct job_network *n)
{
    return !network_is_given(n) && n->grid.ranks == 0;
}

static void network_log_missing(struct job_network *n, struct network_node *node)
{
    node->logged = 1;
    if (n->missed_reported++ < JOB_NETWORK_HOSTS_NAMED)
        log_warn("job %s: host %s is not in %s: its ranks have no place in the network",
                 n->options.job, node->host, n->options.given->source);
    else if (n->missed_reported == JOB_NETWORK_HOSTS_NAMED + 1)
        log_warn("job %s: further hosts are not in %s", n->options.job, n->options.given->source);
}

static int network_compare_nodes(const void *a, const void *b, void *user)
{
    const struct network_node *nodes = user;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int order = network_compare_hosts(nodes[i].host, nodes[j].host);
    return order != 0 ? order : 2 * ORDER(nodes[i].lowest, nodes[j].lowest) + ORDER(i, j);
}

/* Hosts that all ranks have left, as of a job that was started again under its id, are in use no
 * longer. */
static int network_is_used(const struct network_node *node)
{
    return node->host[0] != '\0' && node->lowest != TOPOLOGY_NONE;
}

/* Hosts of imports are named by coordinates, so that any network with those knows them. @return how
 * many */
static uint32_t network_place_by_name(struct job_network *n, const struct network *given)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < n->node_count; i++) {
        n->nodes[i].vertex = topology_file_host(&given->file, n->nodes[i].host);
        known += n->nodes[i].vertex != TOPOLOGY_NONE;
    }
    return known;
}

/* The nodes of the job in the order of their names, one a node of the network. */
static int network_place_in_order(struct job_network *n, const struct topology *topology)
{
    uint32_t *order = malloc(((size_t)n->node_count + 1) * sizeof(*order)), count = 0;
    if (order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < n->node_count; i++) {
        if (network_is_used(&n->nodes[i]))
            order[count++] = i;
    }
    qsort_r(order, count, sizeof(*order), network_compare_nodes, n->nodes);
    for (uint32_t i = 0; i < count; i++)
        n->nodes[order[i]].vertex = i < topology_nodes(topology) ? i : TOPOLOGY_NONE;
    free(order);
    return 0;
}

static int network_build_given(struct job_network *n)
{
    const struct network *given = n->options.given;
    if (n->graph == NULL) {
        n->graph = calloc(1, sizeof(*n->graph));
        if (n->graph == NULL)
            return -ENOMEM;
        *n->graph = (struct network_graph){.topology = given->file.topology};
        n->changed = 1;
    }
    if (network_place_by_name(n, given) == 0 && !network_names_hosts(given) &&
        network_place_in_order(n, given->file.topology) != 0)
        return -ENOMEM;
    n->missed = 0;
    for (uint32_t i = 0; i < n->node_count; i++) {
        struct network_node *node = &n->nodes[i];
        node->missed = network_is_used(node) && node->vertex == TOPOLOGY_NONE;
        n->missed += (size_t)node->missed;
        if (node->missed && !node->logged)
            network_log_missing(n, node);
    }
    return 0;
}

static void network_place_on_hosts(struct job_network *n)
{
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        uint32_t node = n->ranks[rank].node,
                 seat = node == NETWORK_NO_NODE ? TOPOLOGY_NONE : n->nodes[node].vertex;
        n->changed |= n->seats[rank] != seat;
        n->seats[rank] = seat;
    }
}

/* ---- the tree: all hosts below one switch ------------------------------------------------ */

struct tree_input {
    struct tree_host *hosts;
    struct tree_rank *ranks;
    uint32_t *host_of; /* by node: position in hosts */
    uint32_t *rank_of; /* by position in ranks: the rank */
    uint32_t host_count, rank_count;
};

static void tree_input_finish(struct tree_input *in)
{
    free(in->hosts);
    free(in->ranks);
    free(in->host_of);
    free(in->rank_of);
}

static int tree_input_list(const struct job_network *n, struct tree_input *in)
{
    *in = (struct tree_input){
        .hosts = calloc((size_t)n->node_count + 1, sizeof(*in->hosts)),
        .ranks = calloc((size_t)n->rank_count + 1, sizeof(*in->ranks)),
        .host_of = calloc((size_t)n->node_count + 1, sizeof(*in->host_of)),
        .rank_of = calloc((size_t)n->rank_count + 1, sizeof(*in->rank_of)),
    };
    if (in->hosts == NULL || in->ranks == NULL || in->host_of == NULL || in->rank_of == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < n->node_count; i++) {
        const struct network_node *node = &n->nodes[i];
        in->host_of[i] = in->host_count;
        if (node->host[0] != '\0')
            in->hosts[in->host_count++] = (struct tree_host){
                .name = node->host, .lowest = node->lowest, .capacity = node->speed};
    }
    for (uint32_t rank = 0; rank < n->rank_count && !n->by_node; rank++) {
        const struct network_rank *r = &n->ranks[rank];
        if (r->node == NETWORK_NO_NODE)
            continue;
        in->rank_of[in->rank_count] = rank;
        in->ranks[in->rank_count++] = (struct tree_rank){
            .rank = rank, .host = in->host_of[r->node], .core = r->core, .numa = r->numa};
    }
    return 0;
}

static int network_tree_equals(const struct topology_spec *a, const struct topology_spec *b)
{
    if (a->vertex_count != b->vertex_count || a->edge_count != b->edge_count)
        return 0;
    for (uint32_t i = 0; i < a->vertex_count; i++) {
        if (a->vertices[i].kind != b->vertices[i].kind ||
            strcmp(a->vertices[i].name, b->vertices[i].name) != 0)
            return 0;
    }
    for (uint32_t i = 0; i < a->edge_count; i++) {
        const struct topology_edge *x = &a->edges[i], *y = &b->edges[i];
        if (x->from != y->from || x->to != y->to || x->capacity < y->capacity ||
            x->capacity > y->capacity)
            return 0;
    }
    return 1;
}

static int network_create_tree(struct topology **out, struct topology_spec *spec)
{
    char why[160];
    int code = network_tree_topology(out, spec, why, sizeof(why));
    if (code == 0 && why[0] != '\0')
        log_warn("the tree of hosts: %s: it goes without names", why);
    return code;
}

/* @param graph  on the heap; owned from now on */
static void network_use_graph(struct job_network *n, struct network_graph *graph)
{
    graph->topology = graph->own;
    congestion_destroy(n->congestion);
    link_loads_destroy(n->collectives);
    n->congestion = NULL;
    n->collectives = NULL;
    network_graph_destroy(n->graph);
    n->graph = graph;
    n->made++;
    n->changed = 1;
}

static int network_use_tree(struct job_network *n, struct topology_spec *spec)
{
    if (n->graph != NULL && network_tree_equals(topology_spec(n->graph->topology), spec))
        return 0;
    struct network_graph *graph = calloc(1, sizeof(*graph));
    int code = graph == NULL ? -ENOMEM : network_create_tree(&graph->own, spec);
    if (code != 0)
        free(graph);
    else
        network_use_graph(n, graph);
    return code;
}

static void network_update_vertices(struct job_network *n, const struct tree_input *in)
{
    const struct topology *t = n->graph->topology;
    uint32_t top = topology_vertices(t) - 1; /* the switch */
    for (uint32_t i = 0; i < n->node_count; i++) {
        struct network_node *node = &n->nodes[i];
        int is_known = node->host[0] != '\0';
        node->vertex = is_known ? in->hosts[in->host_of[i]].vertex : TOPOLOGY_NONE;
        node->uplink = is_known ? topology_link_between(t, node->vertex, top) : TOPOLOGY_NONE;
        node->downlink = is_known ? topology_link_between(t, top, node->vertex) : TOPOLOGY_NONE;
    }
    for (uint32_t i = 0; i < in->rank_count; i++) {
        uint32_t rank = in->rank_of[i];
        n->changed |= n->seats[rank] != in->ranks[i].vertex;
        n->seats[rank] = in->ranks[i].vertex;
    }
}

static int network_build_tree(struct job_network *n)
{
    struct tree_input in;
    struct topology_spec spec = {.name = ""};
    int code = tree_input_list(n, &in);
    if (code == 0 && in.host_count > 0) {
        code = network_tree(&spec, in.hosts, in.host_count, in.ranks, in.rank_count);
        code = code != 0 ? code : network_use_tree(n, &spec);
        topology_spec_finish(&spec);
        if (code == 0)
            network_update_vertices(n, &in);
    }
    tree_input_finish(&in);
    return code;
}

/* ---- the grid of processes --------------------------------------------------------------- */

static int network_use_grid(struct job_network *n)
{
    char why[160] = "";
    struct topology_spec spec;
    struct network_graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL)
        return -ENOMEM;
    network_grid_spec(&n->grid, &spec);
    graph->is_grid = 1;
    int code = topology_create(&graph->own, &spec, why, sizeof(why));
    topology_spec_finish(&spec);
    if (code != 0) {
        log_warn("job %s: its process grid: %s", n->options.job, why);
        free(graph);
        return code;
    }
    log_info("job %s: its grid of %u processes is the network", n->options.job, n->grid.ranks);
    network_use_graph(n, graph);
    n->grid_changed = 0;
    return 0;
}

/* What interfaces count belongs to no link of a grid. */
static int network_build_grid(struct job_network *n)
{
    int code = n->graph != NULL && n->graph->is_grid && !n->grid_changed ? 0 : network_use_grid(n);
    for (uint32_t i = 0; code == 0 && i < n->node_count; i++)
        n->nodes[i].vertex = n->nodes[i].uplink = n->nodes[i].downlink = TOPOLOGY_NONE;
    for (uint32_t rank = 0; code == 0 && rank < n->rank_count; rank++) {
        uint32_t seat = network_grid_node(&n->grid, rank);
        n->changed |= n->seats[rank] != seat;
        n->seats[rank] = seat;
    }
    return code;
}

/* ---- vertices of ranks --------------------------------------------------------------------- */

static int network_compare_vertices(const void *a, const void *b, void *user)
{
    const uint32_t *seats = user;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return 2 * ORDER(seats[i], seats[j]) + ORDER(i, j);
}

static int network_sort_vertices(struct job_network *n)
{
    if (ARRAY_RESIZE(n->by_vertex, (size_t)n->rank_count + 1) != 0)
        return -ENOMEM;
    uint32_t *by_vertex = n->by_vertex;
    n->placed_ranks = 0;
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        if (n->seats[rank] != TOPOLOGY_NONE)
            by_vertex[n->placed_ranks++] = rank;
    }
    qsort_r(by_vertex, n->placed_ranks, sizeof(*by_vertex), network_compare_vertices, n->seats);
    return 0;
}

static void network_count_links(struct network_graph *graph)
{
    uint32_t from, to, numbers = topology_links(graph->topology);
    graph->links = 0;
    for (uint32_t link = 0; link < numbers; link++)
        graph->links += (uint64_t)topology_link(graph->topology, link, &from, &to);
}

int job_network_rebuild(struct job_network *n)
{
    if (!n->places_changed)
        return 0;
    int code = network_is_given(n)      ? network_build_given(n)
               : job_network_is_tree(n) ? network_build_tree(n)
                                        : network_build_grid(n);
    if (code == 0 && (network_is_given(n) || n->by_node))
        network_place_on_hosts(n);
    code = code != 0 ? code : network_sort_vertices(n);
    n->places_changed = code != 0;
    return code;
}

int job_network_follow_links(struct job_network *n)
{
    if (n->graph == NULL || n->congestion != NULL)
        return 0;
    network_count_links(n->graph);
    return congestion_create(&n->congestion, n->graph->topology);
}

/* ---- queries ------------------------------------------------------------------------------- */

int job_network_has_changed(struct job_network *n)
{
    /* Later the network changes with windows only, so that a replay finds the same. */
    if (!n->closed)
        job_network_rebuild(n);
    return n->changed;
}

void job_network_set_published(struct job_network *n, int published)
{
    n->changed = !published;
}

static void network_describe_missing(const struct job_network *n, char *out, size_t capacity)
{
    uint32_t first = 0;
    while (!n->nodes[first].missed)
        first++;
    char more[40] = " is";
    if (n->missed > 1)
        snprintf(more, sizeof(more), " and %zu more are", n->missed - 1);
    snprintf(out, capacity, "host %s%s not in %.300s: %s ranks have no place in the network",
             n->nodes[first].host, more, n->options.given->source, n->missed > 1 ? "their" : "its");
}

void job_network_describe_fault(const struct job_network *n, char *out, size_t capacity)
{
    out[0] = '\0';
    if (n->options.given != NULL && n->options.given->is_grid && n->by_node)
        snprintf(out, capacity,
                 "the job is kept by groups of ranks: its hosts stand for its process grid");
    else if (n->options.given != NULL && n->options.given->is_grid && n->grid.ranks == 0)
        snprintf(out, capacity,
                 "the job has made no Cartesian communicator (MPI_Cart_create) of two ranks or "
                 "more so far: hosts and cores stand for its process grid");
    else if (network_is_given(n) && n->missed > 0)
        network_describe_missing(n, out, capacity);
}

void job_network_publish(struct job_network *n, const char *job, network_tell *publish, void *user)
{
    job_network_has_changed(n);
    char fault[NETWORK_TEXT];
    job_network_describe_fault(n, fault, sizeof(fault));
    if (fault[0] == '\0' && n->options.given != NULL)
        snprintf(fault, sizeof(fault), "%s", n->options.given->fault);
    if (n->graph == NULL && fault[0] == '\0')
        return;
    struct wire_seat_row *seats = malloc(((size_t)n->rank_count + 1) * sizeof(*seats));
    if (seats == NULL)
        return;
    size_t count = 0;
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        if (n->ranks[rank].node != NETWORK_NO_NODE)
            seats[count++] = (struct wire_seat_row){
                rank, n->seats[rank] == TOPOLOGY_NONE ? UINT64_MAX : n->seats[rank]};
    }
    struct network_publication announcement = {
        .job = job,
        .source = network_is_given(n) || !job_network_is_tree(n) ? n->options.given->source : "",
        .fault = fault,
        .spec = n->graph == NULL ? NULL : topology_spec(n->graph->topology),
        .seats = seats,
        .seat_count = count,
    };
    network_message(&announcement, publish, user);
    free(seats);
}

const struct topology *job_network_topology(struct job_network *n)
{
    job_network_has_changed(n);
    return n->graph == NULL ? NULL : n->graph->topology;
}

uint64_t job_network_node_rank(const struct job_network *n, uint64_t rank)
{
    return rank < n->rank_count && n->ranks[rank].node != NETWORK_NO_NODE
               ? n->nodes[n->ranks[rank].node].lowest
               : rank;
}

uint32_t job_network_vertex(const struct job_network *n, uint32_t rank)
{
    return rank < n->rank_count ? n->seats[rank] : TOPOLOGY_NONE;
}

uint32_t job_network_ranks(const struct job_network *n)
{
    return n->rank_count;
}

size_t job_network_route(const struct job_network *n, uint32_t from, uint32_t to, uint32_t *links,
                         size_t capacity)
{
    if (n->graph == NULL || n->graph->topology == NULL || from >= n->node_count ||
        to >= n->node_count)
        return 0;
    const uint32_t source = n->nodes[from].vertex, destination = n->nodes[to].vertex;
    if (source == TOPOLOGY_NONE || destination == TOPOLOGY_NONE || source == destination)
        return 0;
    const uint32_t length =
        topology_route(n->graph->topology, source, destination, links, (uint32_t)capacity);
    return length == TOPOLOGY_NONE ? 0 : length;
}

void job_network_name_link(const struct job_network *n, uint32_t link, char *out, size_t capacity)
{
    char from_name[TOPOLOGY_NAME + 1], to_name[TOPOLOGY_NAME + 1];
    uint32_t from, to;
    out[0] = '\0';
    if (n->graph == NULL || n->graph->topology == NULL ||
        topology_link(n->graph->topology, link, &from, &to) == 0)
        return;
    topology_vertex_name(n->graph->topology, from, from_name, sizeof(from_name));
    topology_vertex_name(n->graph->topology, to, to_name, sizeof(to_name));
    snprintf(out, capacity, "%s to %s", from_name, to_name);
}

uint64_t job_network_made(const struct job_network *n)
{
    return n->graph == NULL ? 0 : n->made;
}

/* ---- state --------------------------------------------------------------------------------- */

int job_network_is_settled(const struct job_network *n)
{
    return !n->places_changed;
}

/* Rows are made again when they are asked for. */
static void network_forget_memory(struct job_network *n)
{
    n->links = NULL;
    n->link_rows = NULL;
    n->interface_rows = NULL;
    n->link_count = n->link_capacity = n->link_rows_count = n->link_rows_capacity = 0;
    n->interface_rows_count = n->interface_rows_capacity = 0;
    n->rows_made = 0;
    n->first = NULL;
    n->first_capacity = 0;
}

static void network_copy_places(struct state_bytes *b, struct job_network *n)
{
    STATE_ARRAY(b, n->nodes, n->node_count, n->node_capacity);
    STATE_ARRAY(b, n->ranks, n->rank_count, n->rank_capacity);
    STATE_ARRAY(b, n->seats, n->rank_count, n->seat_capacity);
    STATE_ARRAY(b, n->by_vertex, n->placed_ranks, (size_t)n->rank_count + 1);
    STATE_ARRAY(b, n->grid.place_of, n->grid.room, 0);
}

/* The graph is made of the places, as it was. */
static int network_make_again(struct job_network *n, int has_graph)
{
    struct job_network before = *n;
    n->graph = NULL;
    n->congestion = NULL;
    n->collectives = NULL;
    n->places_changed = has_graph;
    int code = job_network_rebuild(n);
    if (n->graph != NULL)
        network_count_links(n->graph);
    n->made = before.made;
    n->changed = before.changed;
    n->grid_changed = before.grid_changed;
    return code != 0 ? code : (n->graph != NULL) == has_graph ? 0 : -HOLTER_EVERSION;
}

void job_network_copy_state(struct state_bytes *b, struct job_network **out,
                            const struct job_network_options *options)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct job_network *n = *out;
    const int has_graph = n->graph != NULL;
    n->options = *options;
    if (b->reads)
        network_forget_memory(n);
    network_copy_places(b, n);
    job_measured_copy_state(b, &n->before);
    counter_rows_copy_state(b, &n->counters);
    STATE_ARRAY(b, n->pairs, n->pair_count, n->pair_capacity);
    STATE_ARRAY(b, n->measured, n->measured_count, n->measured_capacity);
    STATE_ARRAY(b, n->route_rows, n->route_rows_count, n->route_rows_capacity);
    if (b->reads && b->code == 0)
        b->code = network_make_again(n, has_graph);
    else if (b->reads)
        n->graph = NULL;
    const struct topology *topology = n->graph == NULL ? NULL : n->graph->topology;
    congestion_copy_state(b, &n->congestion, topology);
    link_loads_copy_state(b, &n->collectives, topology);
}
