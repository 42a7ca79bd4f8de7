/* Loads, states and better routes on networks and jobs that were recorded: tests/data. */
#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/reroute.h"
#include "tests/daemon/analysis/network/measured.h"
#include "tests/daemon/analysis/network/networks.h"
#include "tests/daemon/analysis/network/recorded_routes.h"
#include "tests/data_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_LENGTH 32u
#define RANKS 16u /* a node, of the jobs that do I/O */
#define REGIONS 12

/* ---- MPI-IO on 512 nodes: Visuco, section 7.3 ---- */

/* Each route of a file once, with weight 1, as the topology routes it; each hop must be the file's.
 */
static void measure_io(const char *name, struct measures *out)
{
    struct topology *topology = network_short("torus:4,4,4,4,2/order=A,B,C,D,E");
    struct recorded_hops recorded = recorded_routes(name);
    struct measured_pair *pair = calloc(recorded.count, sizeof(*pair));
    uint32_t seats[512], links[MAX_LENGTH], from, to;
    size_t pairs = 0;
    assert_non_null(pair);
    for (uint32_t node = 0; node < 512; node++)
        seats[node] = node;
    for (uint32_t i = 0, length; i < recorded.count; i += length) {
        const struct recorded_hop *hops = &recorded.hops[i];
        uint32_t source = hops->source / RANKS, destination = hops->destination / RANKS;
        length = recorded_route_length(&recorded, i);
        assert_true(recorded_route_complete(hops, length, RANKS));
        assert_int_equal(topology_route(topology, source, destination, links, MAX_LENGTH), length);
        for (uint32_t k = 0; k < length; k++) {
            assert_true(topology_link(topology, links[k], &from, &to));
            assert_int_equal(hops[k].from / RANKS, from);
            assert_int_equal(hops[k].to / RANKS, to);
        }
        pair[pairs++] = (struct measured_pair){source, destination, 1, 1};
    }
    assert_int_equal(pairs, 504);
    assert_int_equal(measures_of(out, topology, seats, 512, pair, pairs), 0);
    free(recorded.hops);
    free(pair);
    topology_destroy(topology);
}

/* The paper: the largest link load is 9 % less, total length 8 % less. All 504 routes of both files
 * are complete. The first is 9.1 %; of the second there are 7.1 % less, or 7.6 % more without the
 * optimisation than with it, which is what rounds to 8. */
static void optimised_io_loads_links_less(void **state)
{
    (void)state;
    struct measures before, after;
    measure_io("IoDefault_Mira_n512_c16", &before);
    measure_io("IoOpt_Mira_n512_c16", &after);
    assert_true(before.max_link == 33 && after.max_link == 30);
    assert_true(before.length == 1784 && after.length == 1658);
    assert_int_equal((int)(100 * (1 - after.max_link / before.max_link) + 0.5), 9);
    assert_int_equal((int)(100 * (before.length / after.length - 1) + 0.5), 8);
}

/* ---- MiniMD on 2,048 nodes: Visuco, section 7.1 ---- */

struct job {
    struct topology *topology;
    struct recorded_pair *pairs;
    uint32_t count;
    uint64_t *loads;
    struct reroute_route *routes; /* over the most loaded links */
    size_t route_count;
};

/* Those between ranks from `first` on, so many of them; only they load links. */
static void keep_cluster(struct job *job, uint32_t first, uint32_t ranks)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->count; i++)
        if (job->pairs[i].source - first < ranks && job->pairs[i].destination - first < ranks)
            job->pairs[kept++] = job->pairs[i];
    job->count = kept;
}

static void load_links(struct job *job)
{
    uint32_t links[MAX_LENGTH];
    for (size_t i = 0; i < job->count; i++) {
        const struct recorded_pair *pair = &job->pairs[i];
        uint32_t length =
            topology_route(job->topology, pair->source, pair->destination, links, MAX_LENGTH);
        assert_int_equal(length, pair->hops);
        while (length > 0)
            job->loads[links[--length]] += (uint64_t)pair->bytes;
    }
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The load of the last of the twentieth of loaded links that carry most. */
static uint64_t threshold(const struct job *job)
{
    uint32_t links = topology_links(job->topology), loaded = 0;
    uint64_t *sorted = calloc(links, sizeof(*sorted));
    assert_non_null(sorted);
    for (uint32_t link = 0; link < links; link++)
        if (job->loads[link] > 0)
            sorted[loaded++] = job->loads[link];
    qsort(sorted, loaded, sizeof(*sorted), descending);
    uint64_t least = sorted[loaded / 20 - 1];
    free(sorted);
    return least;
}

static struct job open_job(uint32_t first, uint32_t ranks)
{
    struct job job = {.topology = network_short("torus:4,4,4,16,2/order=D,B,A,C,E")};
    uint32_t links[MAX_LENGTH];
    struct recorded_pairs recorded = recorded_pairs("MiniMD_Mira_n2048_c1_s1");
    job.pairs = recorded.pairs;
    job.count = recorded.count;
    job.loads = calloc(topology_links(job.topology), sizeof(*job.loads));
    job.routes = calloc(job.count, sizeof(*job.routes));
    assert_true(job.loads != NULL && job.routes != NULL);
    keep_cluster(&job, first, ranks);
    load_links(&job);
    uint64_t least = threshold(&job);
    for (size_t i = 0; i < job.count; i++) {
        const struct recorded_pair *pair = &job.pairs[i];
        uint64_t most = 0;
        uint32_t length =
            topology_route(job.topology, pair->source, pair->destination, links, MAX_LENGTH);
        for (uint32_t k = 0; k < length; k++)
            most = job.loads[links[k]] > most ? job.loads[links[k]] : most;
        if (most >= least)
            job.routes[job.route_count++] = (struct reroute_route){.source = pair->source,
                                                                   .destination = pair->destination,
                                                                   .bytes = (uint64_t)pair->bytes};
    }
    return job;
}

static void close_job(struct job *job)
{
    free(job->pairs);
    free(job->loads);
    free(job->routes);
    topology_destroy(job->topology);
}

struct gains {
    size_t routes, improved;
    unsigned mean, most; /* per mille of the heaviest link's load, of those improved */
    uint64_t max_link, max_link_after;
};

static struct gains improve(struct job *job, uint32_t delta)
{
    struct reroute *reroute = NULL;
    struct reroute_result *results = calloc(job->route_count, sizeof(*results));
    struct reroute_params params = {REROUTE_LOAD, delta};
    struct gains gains = {.routes = job->route_count};
    double sum = 0, most = 0;
    assert_non_null(results);
    assert_int_equal(reroute_create(&reroute, job->topology), 0);
    reroute_set(reroute, job->loads);
    assert_int_equal(reroute_several(reroute, &params, job->routes, job->route_count, results), 0);
    for (size_t i = 0; i < job->route_count; i++) {
        double gain = 1 - (double)results[i].heaviest_after / (double)results[i].heaviest;
        assert_true(results[i].length_after <= results[i].length + delta);
        assert_true(gain >= 0);
        gains.improved += gain > 0;
        sum += gain;
        most = gain > most ? gain : most;
    }
    for (uint32_t link = 0; link < topology_links(job->topology); link++) {
        uint64_t load = reroute_loads(reroute)[link];
        gains.max_link = job->loads[link] > gains.max_link ? job->loads[link] : gains.max_link;
        gains.max_link_after = load > gains.max_link_after ? load : gains.max_link_after;
    }
    gains.mean = (unsigned)(1000 * sum / (double)gains.improved + 0.5);
    gains.most = (unsigned)(1000 * most + 0.5);
    free(results);
    reroute_destroy(reroute);
    return gains;
}

/* Of the whole job: what crosses the most loaded twentieth of links has few ways around, since a
 * halo exchange loads all links alike. */
static void hot_routes_of_the_whole_job_improve_little(void **state)
{
    (void)state;
    struct job job = open_job(0, 2048);
    struct gains gains = improve(&job, 0);
    assert_int_equal(gains.routes, 1397);
    assert_int_equal(gains.improved, 79);
    assert_int_equal(gains.mean, 8);
    assert_int_equal(gains.most, 92);
    assert_true(gains.max_link == 28663000 && gains.max_link_after == 28587000);
    close_job(&job);
}

/* The paper looks at a cluster that was selected by hand after aggregating dimensions D and E, two
 * of whose aggregates have heavy traffic within, and at the routes over the most loaded twentieth
 * of its links: 73 of them, of which 19 improve, by 18.4 % in the mean and 50.1 % at most. Which
 * cluster it was is not said. Two neighbouring aggregates (64 ranks) have 58 to 79 such routes, of
 * which 11 to 25 improve while all routes of the cluster load links; these are ranks 288 to 351. */
static void hot_routes_of_a_cluster_improve_as_in_the_paper(void **state)
{
    (void)state;
    struct job job = open_job(288, 64);
    struct gains gains = improve(&job, 0);
    assert_int_equal(gains.routes, 75);
    assert_int_equal(gains.improved, 19);
    assert_int_equal(gains.mean, 89);
    assert_int_equal(gains.most, 183);

    /* as if those that were filtered away loaded nothing */
    memset(job.loads, 0, topology_links(job.topology) * sizeof(*job.loads));
    for (size_t i = 0; i < job.route_count; i++) {
        uint32_t links[MAX_LENGTH];
        uint32_t length = topology_route(job.topology, job.routes[i].source,
                                         job.routes[i].destination, links, MAX_LENGTH);
        while (length > 0)
            job.loads[links[--length]] += job.routes[i].bytes;
    }
    gains = improve(&job, 0);
    assert_int_equal(gains.improved, 35);
    assert_int_equal(gains.mean, 287);
    assert_int_equal(gains.most, 511);
    close_job(&job);
}

/* ---- states ---- */

/* The same window ten times. @return links that are hot then, and the largest of their loads */
static size_t count_hot(const struct topology *topology, const struct congestion_pair *pairs,
                        size_t count, uint64_t *largest)
{
    struct congestion *congestion = NULL;
    size_t hot = 0;
    assert_int_equal(congestion_create(&congestion, topology), 0);
    for (uint64_t window = 0; window < 10; window++)
        assert_int_equal(congestion_update(congestion, window, 1, pairs, count), 0);
    *largest = 0;
    for (uint32_t link = 0; link < topology_links(topology); link++) {
        struct congestion_link told;
        if (!congestion_link(congestion, link, &told) || told.state != CONGESTION_HOT)
            continue;
        *largest = told.bytes > *largest ? told.bytes : *largest;
        hot++;
    }
    congestion_destroy(congestion);
    return hot;
}

/* The halo exchange loads the heaviest link 2.8 times as much as the mean. */
static void a_halo_exchange_has_no_hot_link(void **state)
{
    (void)state;
    struct job job = open_job(0, 2048);
    struct congestion_pair *pairs = calloc(job.count, sizeof(*pairs));
    uint64_t largest;
    assert_non_null(pairs);
    for (uint32_t i = 0; i < job.count; i++)
        pairs[i] = (struct congestion_pair){.source = job.pairs[i].source,
                                            .destination = job.pairs[i].destination,
                                            .bytes = (uint64_t)job.pairs[i].bytes,
                                            .messages = 1};
    assert_int_equal(count_hot(job.topology, pairs, job.count, &largest), 0);
    free(pairs);
    close_job(&job);
}

/* I/O over eight nodes: the last links of each are. A megabyte a route. */
static void funnels_of_io_are_hot(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:4,4,4,4,2/order=A,B,C,D,E");
    struct recorded_hops recorded = recorded_routes("IoDefault_Mira_n512_c16");
    struct congestion_pair *pairs = calloc(recorded.count, sizeof(*pairs));
    size_t count = 0;
    uint64_t largest;
    assert_non_null(pairs);
    for (uint32_t i = 0; i < recorded.count; i += recorded_route_length(&recorded, i))
        pairs[count++] =
            (struct congestion_pair){.source = recorded.hops[i].source / RANKS,
                                     .destination = recorded.hops[i].destination / RANKS,
                                     .bytes = 1000000,
                                     .messages = 1};
    size_t hot = count_hot(topology, pairs, count, &largest);
    assert_int_equal(largest, 33000000);
    assert_int_equal(hot, 32); /* above four times the mean, 3.43 MB */
    free(pairs);
    free(recorded.hops);
    topology_destroy(topology);
}

/* ---- counters of Blue Gene/P, 8x8x8 ---- */

struct counted {
    uint32_t from[3], to[3];
    int region; /* -2 to 8 */
    uint64_t packets;
};

static struct counted *read_counters(size_t *count)
{
    size_t length, used = 0;
    char *text = data_file("bgp-counters/bgpc_links.yaml", &length), *state = NULL;
    struct counted *rows = calloc(length / 8 + 1, sizeof(*rows));
    assert_non_null(rows);
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        struct counted *row = &rows[used];
        unsigned long long packets;
        used += sscanf(line, "%*u %u %u %u %u %u %u %d %llu", &row->from[0], &row->from[1],
                       &row->from[2], &row->to[0], &row->to[1], &row->to[2], &row->region,
                       &packets) == 8;
        row->packets = packets;
    }
    free(text);
    *count = used;
    return rows;
}

/* Tell a region's counters; several rows of a link are added up. @return sum of the file's */
static uint64_t tell(struct congestion *congestion, const struct topology *topology,
                     const struct counted *rows, size_t count, int region, size_t *links)
{
    uint64_t *packets = malloc(topology_links(topology) * sizeof(*packets)), sum = 0;
    assert_non_null(packets);
    memset(packets, 0xff, topology_links(topology) * sizeof(*packets));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].region != region)
            continue;
        uint32_t link = topology_link_between(topology, topology_at(topology, rows[i].from),
                                              topology_at(topology, rows[i].to));
        assert_int_not_equal(link, TOPOLOGY_NONE);
        packets[link] =
            packets[link] == UINT64_MAX ? rows[i].packets : packets[link] + rows[i].packets;
        sum += rows[i].packets;
    }
    *links = 0;
    for (uint32_t link = 0; link < topology_links(topology); link++) {
        if (packets[link] == UINT64_MAX)
            continue;
        assert_int_equal(congestion_set_counter(congestion, link, packets[link], 1), 0);
        (*links)++;
    }
    free(packets);
    return sum;
}

/* One window for each region: the measured packets are those of the file. */
static void measured_packets_are_reported_link_by_link(void **state)
{
    (void)state;
    struct topology *topology = network_short("torus:8,8,8");
    struct congestion *congestion = NULL;
    size_t count, links;
    struct counted *rows = read_counters(&count);
    struct congestion_link *listed = calloc(topology_links(topology), sizeof(*listed));
    assert_non_null(listed);
    assert_int_equal(congestion_create(&congestion, topology), 0);
    uint64_t all = 0;
    for (int region = -2; region < REGIONS; region++) {
        uint64_t told = 0, sum = tell(congestion, topology, rows, count, region, &links);
        assert_int_equal(congestion_update(congestion, (uint64_t)(region + 2), 1, NULL, 0), 0);
        assert_int_equal(congestion_links(congestion, listed, topology_links(topology)), links);
        for (size_t i = 0; i < links; i++) {
            assert_true(listed[i].packets);
            told += listed[i].measured;
        }
        assert_int_equal(told, sum);
        all += sum;
    }
    assert_int_equal(count, 52224);
    assert_int_equal(all, 32321586);
    congestion_destroy(congestion);
    topology_destroy(topology);
    free(rows);
    free(listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_io_loads_links_less),
        cmocka_unit_test(hot_routes_of_the_whole_job_improve_little),
        cmocka_unit_test(hot_routes_of_a_cluster_improve_as_in_the_paper),
        cmocka_unit_test(a_halo_exchange_has_no_hot_link),
        cmocka_unit_test(funnels_of_io_are_hot),
        cmocka_unit_test(measured_packets_are_reported_link_by_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
