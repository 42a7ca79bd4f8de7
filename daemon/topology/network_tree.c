/* The tree of switch, hosts, NUMA nodes and cores, for jobs without a described network: see
 * network_tree.h. */
#include "daemon/topology/network_tree.h"

#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int network_tree_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compare two runs of digits as numbers, of any length. */
static int network_tree_compare_numbers(const char **a, const char **b)
{
    const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
    size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
    int order = m != n ? (m < n ? -1 : 1) : strncmp(x, y, m);
    *a = x + m;
    *b = y + n;
    return order;
}

int network_compare_hosts(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        int order = network_tree_is_digit(*x) && network_tree_is_digit(*y)
                        ? network_tree_compare_numbers(&x, &y)
                    : *x != *y ? ((unsigned char)*x < (unsigned char)*y ? -1 : 1)
                               : (x++, y++, 0);
        if (order != 0)
            return order;
    }
    if (*x != *y)
        return *x == '\0' ? -1 : 1;
    return strcmp(a, b); /* as numbers, n01 and n1 are equal */
}

/* Numbers of cores from here up represent ranks without a core. */
#define UNPLACED_CORE 0x80000000u
#define MAX_HOST_NAME 48u /* bytes: with a longer one, the names of the parts would not fit */

/* A core or NUMA node of a host, and the rank that its agent places there. */
struct part {
    uint32_t host; /* vertex */
    uint32_t core, numa;
    size_t rank; /* position */
};

struct tree {
    struct topology_spec spec;
    struct tree_host *hosts;
    uint32_t host_count;
    uint32_t *order;    /* owned: positions of hosts, sorted */
    struct part *parts; /* owned: by rank, sorted by host, core, NUMA node */
    size_t rank_count;
    struct part *cores; /* owned: distinct, sorted */
    size_t core_count;
    struct part *numas; /* owned: likewise */
    size_t numa_count;
};

static void network_tree_finish(struct tree *t)
{
    free(t->order);
    free(t->parts);
    free(t->cores);
    free(t->numas);
}

/* ---- order --------------------------------------------------------------------------- */

static int network_tree_compare_hosts(const void *a, const void *b, void *user)
{
    const struct tree_host *hosts = user;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int order = network_compare_hosts(hosts[i].name, hosts[j].name);
    return order != 0 ? order : 2 * ORDER(hosts[i].lowest, hosts[j].lowest) + ORDER(i, j);
}

ORDER_FUNCTION(network_tree_compare_parts, struct part,
               4 * ORDER(a->host, b->host) + 2 * ORDER(a->core, b->core) + ORDER(a->numa, b->numa))

static int network_tree_sort_hosts(struct tree *t)
{
    t->order = malloc(((size_t)t->host_count + 1) * sizeof(*t->order));
    if (t->order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->host_count; i++)
        t->order[i] = i;
    qsort_r(t->order, t->host_count, sizeof(*t->order), network_tree_compare_hosts, t->hosts);
    for (uint32_t i = 0; i < t->host_count; i++)
        t->hosts[t->order[i]].vertex = i;
    return 0;
}

/* Collect the cores and NUMA nodes that any rank names. If ranks disagree about a core, the lowest
 * NUMA node is used. */
static int network_tree_find_parts(struct tree *t, const struct tree_rank *ranks)
{
    size_t capacity = t->rank_count + 1;
    t->parts = malloc(capacity * sizeof(*t->parts));
    t->cores = malloc(capacity * sizeof(*t->cores));
    t->numas = malloc(capacity * sizeof(*t->numas));
    if (t->parts == NULL || t->cores == NULL || t->numas == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->rank_count; i++) {
        int known = ranks[i].core != 0 && ranks[i].core < UNPLACED_CORE;
        t->parts[i] =
            (struct part){t->hosts[ranks[i].host].vertex,
                          known ? ranks[i].core : UNPLACED_CORE | ranks[i].rank, ranks[i].numa, i};
    }
    qsort(t->parts, t->rank_count, sizeof(*t->parts), network_tree_compare_parts);
    size_t numas = 0;
    for (size_t i = 0; i < t->rank_count; i++) {
        struct part *p = &t->parts[i], *last = &t->cores[t->core_count - 1];
        if (t->core_count == 0 || last->host != p->host || last->core != p->core) {
            t->cores[t->core_count++] = *p;
        } else if (last->numa == 0) {
            last->numa = p->numa;
        }
        if (p->numa != 0)
            t->numas[numas++] = (struct part){.host = p->host, .numa = p->numa};
    }
    qsort(t->numas, numas, sizeof(*t->numas), network_tree_compare_parts);
    for (size_t i = 0; i < numas; i++) {
        if (t->numa_count == 0 ||
            network_tree_compare_parts(&t->numas[t->numa_count - 1], &t->numas[i]) != 0)
            t->numas[t->numa_count++] = t->numas[i];
    }
    return 0;
}

/* ---- vertices and links ---------------------------------------------------------------- */

static void network_tree_name_hosts(struct tree *t)
{
    uint32_t same = 1;
    for (uint32_t i = 0; i < t->host_count; i++) {
        const char *name = t->hosts[t->order[i]].name;
        struct topology_named *v = &t->spec.vertices[i];
        same = i > 0 && strcmp(name, t->hosts[t->order[i - 1]].name) == 0 ? same + 1 : 1;
        v->kind = VERTEX_NODE;
        if (same == 1)
            snprintf(v->name, sizeof(v->name), "%s", name);
        else
            snprintf(v->name, sizeof(v->name), "%.50s#%u", name, same);
    }
}

static void network_tree_name_part(const struct tree *t, struct topology_named *v, uint32_t host,
                                   const char *what, uint32_t number)
{
    const char *name = t->spec.vertices[host].name;
    if (strlen(name) > MAX_HOST_NAME)
        snprintf(v->name, sizeof(v->name), "host %u/%s%u", host, what, number);
    else
        snprintf(v->name, sizeof(v->name), "%.48s/%s%u", name, what, number);
}

static void network_tree_add_link(struct tree *t, uint32_t below, uint32_t above, double capacity)
{
    struct topology_edge *e = &t->spec.edges[t->spec.edge_count];
    e[0] = (struct topology_edge){.from = below, .to = above, .capacity = capacity};
    e[1] = (struct topology_edge){.from = above, .to = below, .capacity = capacity};
    t->spec.edge_count += 2;
}

static uint32_t network_tree_numa_vertex(const struct tree *t, uint32_t host, uint32_t numa)
{
    const struct part key = {.host = host, .numa = numa};
    const struct part *found =
        numa == 0 || t->numa_count == 0
            ? NULL
            : bsearch(&key, t->numas, t->numa_count, sizeof(key), network_tree_compare_parts);
    return found == NULL ? host : t->host_count + (uint32_t)(found - t->numas);
}

/* Vertices of hosts, NUMA nodes, cores and the switch. */
static size_t network_tree_count_vertices(const struct tree *t)
{
    return (size_t)t->host_count + t->numa_count + t->core_count + 1;
}

static int network_tree_make_vertices(struct tree *t)
{
    size_t count = network_tree_count_vertices(t);
    if (count > TOPOLOGY_MAX_VERTICES)
        return -HOLTER_ELIMIT;
    t->spec.vertices = calloc(count, sizeof(*t->spec.vertices));
    t->spec.edges = calloc(2 * count, sizeof(*t->spec.edges));
    if (t->spec.vertices == NULL || t->spec.edges == NULL)
        return -ENOMEM;
    t->spec.vertex_count = (uint32_t)count;
    uint32_t numa = t->host_count, core = numa + (uint32_t)t->numa_count;
    network_tree_name_hosts(t);
    for (uint32_t i = 0; i < t->host_count; i++)
        network_tree_add_link(t, i, (uint32_t)count - 1, t->hosts[t->order[i]].capacity);
    for (size_t i = 0; i < t->numa_count; i++, numa++) {
        t->spec.vertices[numa].kind = VERTEX_NUMA;
        network_tree_name_part(t, &t->spec.vertices[numa], t->numas[i].host, "numa",
                               t->numas[i].numa - 1);
        network_tree_add_link(t, numa, t->numas[i].host, 0);
    }
    for (size_t i = 0; i < t->core_count; i++, core++) {
        uint32_t number = t->cores[i].core;
        int loose = number >= UNPLACED_CORE;
        t->spec.vertices[core].kind = loose ? VERTEX_PROCESS : VERTEX_CORE;
        network_tree_name_part(t, &t->spec.vertices[core], t->cores[i].host,
                               loose ? "rank" : "core",
                               loose ? number - UNPLACED_CORE : number - 1);
        network_tree_add_link(t, core,
                              network_tree_numa_vertex(t, t->cores[i].host, t->cores[i].numa), 0);
    }
    t->spec.vertices[count - 1].kind = VERTEX_SWITCH;
    snprintf(t->spec.vertices[count - 1].name, sizeof(t->spec.vertices->name), "network");
    return 0;
}

/* Set the vertices of the ranks. Parts and cores are sorted alike: each part is on the current
 * core, on a later one, or on none. */
static void network_tree_place_ranks(const struct tree *t, struct tree_rank *ranks)
{
    size_t core = 0;
    for (size_t i = 0; i < t->rank_count; i++) {
        const struct part *p = &t->parts[i];
        while (core < t->core_count &&
               (t->cores[core].host < p->host ||
                (t->cores[core].host == p->host && t->cores[core].core < p->core)))
            core++;
        int on_core = core < t->core_count && t->cores[core].host == p->host &&
                      t->cores[core].core == p->core;
        ranks[p->rank].vertex = on_core ? t->host_count + (uint32_t)(t->numa_count + core)
                                        : network_tree_numa_vertex(t, p->host, p->numa);
    }
}

int network_tree(struct topology_spec *out, struct tree_host *hosts, uint32_t host_count,
                 struct tree_rank *ranks, size_t rank_count)
{
    struct tree t = {.hosts = hosts, .host_count = host_count, .rank_count = rank_count};
    int code = network_tree_sort_hosts(&t);
    code = code != 0 ? code : network_tree_find_parts(&t, ranks);
    if (network_tree_count_vertices(&t) > NETWORK_TREE_MAX_VERTICES)
        t.core_count = 0;
    if (network_tree_count_vertices(&t) > NETWORK_TREE_MAX_VERTICES)
        t.numa_count = 0;
    code = code != 0 ? code : network_tree_make_vertices(&t);
    if (code == 0) {
        network_tree_place_ranks(&t, ranks);
        t.spec.kind = TOPOLOGY_TREE;
        snprintf(t.spec.name, sizeof(t.spec.name), "hosts and cores");
        *out = t.spec;
    } else {
        topology_spec_finish(&t.spec);
    }
    network_tree_finish(&t);
    return code;
}

int network_tree_topology(struct topology **out, struct topology_spec *spec, char *why,
                          size_t capacity)
{
    snprintf(why, capacity, "%s", "");
    int code = topology_create(out, spec, why, capacity);
    if (code == 0 || code == -ENOMEM)
        return code;
    for (uint32_t i = 0; i < spec->vertex_count; i++)
        spec->vertices[i].name[0] = '\0';
    char other[160];
    return topology_create(out, spec, other, sizeof(other));
}
