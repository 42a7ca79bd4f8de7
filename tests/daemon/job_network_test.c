/* The network under a job, from what its agents report to what is published. */
#include "daemon/job.h"
#include "daemon/network.h"
#include "daemon/network_tree.h"
#include "holter/size_class.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define FIRST 1000u
#define MOST 64u

/* ---- what the job tells --------------------------------------------------------- */

struct told {
    char name[65], source[513], fault[513];
    uint64_t kind, dimensions;
    struct {
        char name[65];
        uint64_t kind;
    } vertices[MOST];
    size_t vertex_count;
    struct wire_edge_row edges[2 * MOST];
    size_t edge_count;
    uint64_t seats[MOST];
    size_t seat_count;
    unsigned topologies;
    uint64_t stream; /* hash of all messages */
    int more;
};

static struct told told;

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_TOPOLOGY || type == WIRE_TYPE_LINKS;
}

static void take_topology(struct told *t, const struct wire_topology *m)
{
    if (!t->more) {
        t->vertex_count = t->edge_count = t->seat_count = 0;
        t->dimensions = m->dimensions_count;
        t->topologies++;
    }
    t->more = (int)m->more;
    t->kind = m->kind;
    snprintf(t->name, sizeof(t->name), "%s", m->name);
    snprintf(t->source, sizeof(t->source), "%s", m->source);
    snprintf(t->fault, sizeof(t->fault), "%s", m->fault);
    for (uint64_t i = 0; i < m->vertices_count; i++, t->vertex_count++) {
        assert_true(t->vertex_count < MOST);
        snprintf(t->vertices[t->vertex_count].name, 65, "%s", m->vertices[i].name);
        t->vertices[t->vertex_count].kind = m->vertices[i].kind;
    }
    for (uint64_t i = 0; i < m->edges_count; i++)
        t->edges[t->edge_count++] = m->edges[i];
    for (uint64_t i = 0; i < m->seats_count; i++, t->seat_count++) {
        assert_true(m->seats[i].rank < MOST);
        t->seats[m->seats[i].rank] = m->seats[i].vertex;
    }
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct told *t = user;
    struct wire_buffer buffer = {0};
    (void)job;
    if (!wanted(NULL, NULL, type))
        return;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    for (size_t i = 0; i < buffer.length; i++)
        t->stream = (t->stream ^ buffer.bytes[i]) * UINT64_C(0x100000001b3);
    wire_buffer_finish(&buffer);
    if (type == WIRE_TYPE_TOPOLOGY)
        take_topology(t, message);
}

/* ---- a job ------------------------------------------------------------------------- */

static struct network given;
static uint64_t seq[MOST];

static struct job *make_job(const char *network)
{
    struct job *job;
    memset(seq, 0, sizeof(seq));
    memset(&told, 0, sizeof(told));
    network_read(&given, network);
    struct job_options options = {.window_ns = S,
                                  .grace_ns = 250 * MS,
                                  .lost_ns = 30 * S,
                                  .most_pairs = 1000,
                                  .network = &given};
    struct job_output output = {&told, wanted, publish, NULL};
    assert_int_equal(job_create(&job, "test.0", &options, &output), 0);
    return job;
}

static void end_job(struct job *job)
{
    job_destroy(job);
    network_finish(&given);
}

/* Two ranks of a host, from `first` on. core, numa: of the first; 0: not known */
static void appear(struct job *job, unsigned node, const char *host, uint64_t first, uint64_t core,
                   uint64_t numa)
{
    struct job_fault fault;
    struct wire_member_row members[2] = {
        {.rank = first, .pid = 10, .core = core, .numa = numa},
        {.rank = first + 1, .pid = 11, .core = core == 0 ? 0 : core + 1, .numa = numa}};
    struct wire_ranks ranks = {.seq = ++seq[node],
                               .job = "test.0",
                               .world = 8,
                               .app = "/bin/app",
                               .mpi = "MPI",
                               .host = host,
                               .members = members,
                               .members_count = 2};
    assert_int_equal(job_ranks(job, node + 1, &ranks, FIRST * S, &fault), 0);
}

static int vertex(const char *name)
{
    for (size_t i = 0; i < told.vertex_count; i++) {
        if (strcmp(told.vertices[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static const char *seat(unsigned rank)
{
    return told.seats[rank] < told.vertex_count ? told.vertices[told.seats[rank]].name : "none";
}

/* Is there a link both ways? */
static int linked(const char *a, const char *b)
{
    int ways = 0;
    for (size_t i = 0; i < told.edge_count; i++) {
        ways += (int)told.edges[i].from == vertex(a) && (int)told.edges[i].to == vertex(b);
        ways += (int)told.edges[i].from == vertex(b) && (int)told.edges[i].to == vertex(a);
    }
    return ways == 2;
}

/* ---- the tree of what agents tell ------------------------------------------------------ */

static void without_a_network_ranks_sit_on_cores_below_their_hosts(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "n10", 0, 1, 1);
    appear(job, 1, "n2", 2, 5, 0);
    appear(job, 2, "n1", 4, 0, 2);
    appear(job, 3, "n3", 6, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_int_equal(told.topologies, 1);
    assert_string_equal(told.source, "");
    assert_int_equal(told.kind, TOPOLOGY_TREE);
    assert_int_equal(vertex("n1"), 0); /* as people sort them */
    assert_int_equal(vertex("n2"), 1);
    assert_int_equal(vertex("n3"), 2);
    assert_int_equal(vertex("n10"), 3);
    assert_string_equal(seat(0), "n10/core0");
    assert_string_equal(seat(1), "n10/core1");
    assert_string_equal(seat(2), "n2/core4");
    assert_string_equal(seat(4), "n1/numa1");
    assert_string_equal(seat(6), "n3");
    assert_true(linked("n10/core0", "n10/numa0") && linked("n10/numa0", "n10"));
    assert_true(linked("n2/core4", "n2") && linked("n2", "network") && linked("n10", "network"));
    assert_int_equal(told.vertices[vertex("network")].kind, VERTEX_SWITCH);
    assert_int_equal(told.vertices[vertex("n2/core4")].kind, VERTEX_CORE);
    assert_int_equal(told.vertices[vertex("n1/numa1")].kind, VERTEX_NUMA);
    end_job(job);
}

static void the_order_in_which_agents_come_does_not_show(void **state)
{
    (void)state;
    uint64_t stream = 0;
    for (unsigned turn = 0; turn < 4; turn++) {
        struct job *job = make_job(NULL);
        for (unsigned i = 0; i < 4; i++) {
            unsigned node = (turn + i) % 4;
            char host[8];
            snprintf(host, sizeof(host), "n%u", 7 * node + 3);
            appear(job, node, host, 2 * node, node + 1, 1 + node % 2);
        }
        job_advance(job, FIRST * S, FIRST * S);
        assert_int_equal(told.topologies, 1);
        assert_true(turn == 0 || told.stream == stream);
        stream = told.stream;
        end_job(job);
    }
}

static void hosts_of_one_name_stay_two(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "box", 0, 1, 0);
    appear(job, 1, "box", 2, 1, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_string_equal(seat(0), "box/core0");
    assert_string_equal(seat(2), "box#2/core0");
    end_job(job);
}

static void names_that_contradict_each_other_are_left_out(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "network", 0, 1, 0);
    appear(job, 1, "network/core0", 2, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_int_equal(told.vertex_count, 5);
    assert_string_equal(told.vertices[0].name, "");
    assert_int_equal(told.seats[0], 2);
    end_job(job);
}

static void too_many_cores_leave_ranks_on_their_hosts(void **state)
{
    (void)state;
    const uint32_t hosts = 40000;
    struct topology_spec spec;
    struct tree_host *host = calloc(hosts, sizeof(*host));
    struct tree_rank *rank = calloc(hosts, sizeof(*rank));
    char(*names)[16] = calloc(hosts, sizeof(*names));
    for (uint32_t i = 0; i < hosts; i++) {
        snprintf(names[i], sizeof(names[i]), "h%u", i);
        host[i] = (struct tree_host){.name = names[i], .lowest = i};
        rank[i] = (struct tree_rank){.host = i, .core = 1, .numa = i < 10000};
    }
    assert_int_equal(network_tree(&spec, host, hosts, rank, hosts), 0);
    assert_int_equal(spec.vertex_count, hosts + 10000 + 1); /* NUMA nodes fit */
    assert_int_equal(rank[5].vertex, hosts + 5);
    assert_int_equal(rank[20000].vertex, host[20000].vertex);
    topology_spec_finish(&spec);
    for (uint32_t i = 0; i < hosts; i++)
        rank[i].numa = 1;
    assert_int_equal(network_tree(&spec, host, hosts, rank, hosts), 0);
    assert_int_equal(spec.vertex_count, hosts + 1);
    assert_int_equal(rank[5].vertex, host[5].vertex);
    topology_spec_finish(&spec);
    free(host);
    free(rank);
    free(names);
}

static void hosts_are_sorted_as_people_do(void **state)
{
    (void)state;
    static const char *const sorted[] = {"",   "a",   "n1",    "n01",    "n1a",
                                         "n2", "n10", "n10-9", "n10-10", "n99999999999999999999999",
                                         "na"};
    for (size_t i = 0; i < sizeof(sorted) / sizeof(*sorted); i++) {
        for (size_t j = 0; j < sizeof(sorted) / sizeof(*sorted); j++) {
            int order = network_compare_hosts(sorted[i], sorted[j]);
            if (strcmp(sorted[i], "n1") == 0 && strcmp(sorted[j], "n01") == 0)
                assert_true(order > 0); /* the same number: then as bytes */
            else if (strcmp(sorted[i], "n01") == 0 && strcmp(sorted[j], "n1") == 0)
                assert_true(order < 0);
            else
                assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

/* ---- a network that was given ------------------------------------------------------------ */

static void hosts_sit_on_a_short_form_in_the_order_of_their_names(void **state)
{
    (void)state;
    struct job *job = make_job("torus:2,2");
    appear(job, 0, "n10", 0, 1, 1);
    appear(job, 1, "n2", 2, 5, 0);
    appear(job, 2, "n1", 4, 0, 2);
    job_advance(job, FIRST * S, FIRST * S);
    assert_string_equal(told.source, "torus:2,2");
    assert_string_equal(told.fault, "");
    assert_int_equal(told.kind, TOPOLOGY_CARTESIAN);
    assert_int_equal(told.dimensions, 2);
    assert_int_equal(told.seats[0], 2);
    assert_int_equal(told.seats[2], 1);
    assert_int_equal(told.seats[4], 0);
    end_job(job);
}

static void hosts_beyond_the_network_have_no_place(void **state)
{
    (void)state;
    struct job *job = make_job("mesh:2");
    appear(job, 0, "a", 0, 0, 0);
    appear(job, 1, "b", 2, 0, 0);
    appear(job, 2, "c", 4, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_int_equal(told.seats[2], 1);
    assert_true(told.seats[4] == UINT64_MAX);
    end_job(job);
}

static void a_network_with_a_fault_is_told_and_not_used(void **state)
{
    (void)state;
    struct job *job = make_job("torus:2,x");
    appear(job, 0, "a", 0, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_true(told.fault[0] != '\0');
    assert_string_equal(told.source, "");
    assert_int_equal(told.kind, TOPOLOGY_TREE);
    assert_string_equal(seat(0), "a");
    end_job(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_network_ranks_sit_on_cores_below_their_hosts),
        cmocka_unit_test(the_order_in_which_agents_come_does_not_show),
        cmocka_unit_test(hosts_of_one_name_stay_two),
        cmocka_unit_test(names_that_contradict_each_other_are_left_out),
        cmocka_unit_test(too_many_cores_leave_ranks_on_their_hosts),
        cmocka_unit_test(hosts_are_sorted_as_people_do),
        cmocka_unit_test(hosts_sit_on_a_short_form_in_the_order_of_their_names),
        cmocka_unit_test(hosts_beyond_the_network_have_no_place),
        cmocka_unit_test(a_network_with_a_fault_is_told_and_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
