/* The network under a job, from what its agents report to what is published. */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "daemon/job/network/job_network.h"
#include "daemon/topology/network_tree.h"
#include "daemon/topology/shared_network.h"
#include "holter/size_class.h"
#include "holter/time_class.h"

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

/* ---- what the job publishes ----------------------------------------------------- */

struct told {
    char name[65], source[513], fault[513], job_fault[513];
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
    struct wire_link_row links[MOST];
    size_t link_count;
    struct wire_link_route_row routes[MOST];
    size_t route_count;
    struct wire_interface_row interfaces[MOST];
    size_t interface_count;
    struct wire_links last; /* rows are not kept */
    unsigned windows;
    char alert_links[513], alert_text[1025]; /* of the newest that fires */
    uint64_t stream;                         /* hash of all messages */
    int more;
};

static struct told told;

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_TOPOLOGY || type == WIRE_TYPE_LINKS || type == WIRE_TYPE_ALERT ||
           type == WIRE_TYPE_JOB;
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

static void take_links(struct told *t, const struct wire_links *m)
{
    t->last = *m;
    t->windows++;
    assert_int_equal(m->more, 0);
    assert_true(m->links_count <= MOST && m->routes_count <= MOST && m->interfaces_count <= MOST);
    t->link_count = m->links_count;
    t->route_count = m->routes_count;
    t->interface_count = m->interfaces_count;
    for (uint64_t i = 0; i < m->links_count; i++)
        t->links[i] = m->links[i];
    for (uint64_t i = 0; i < m->routes_count; i++)
        t->routes[i] = m->routes[i];
    for (uint64_t i = 0; i < m->interfaces_count; i++)
        t->interfaces[i] = m->interfaces[i];
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
    const struct wire_job *job_message = message;
    if (type == WIRE_TYPE_JOB)
        snprintf(t->job_fault, sizeof(t->job_fault), "%s", job_message->network_fault);
    const struct wire_alert *alert = message;
    if (type == WIRE_TYPE_ALERT && strcmp(alert->state, "firing") == 0) {
        snprintf(t->alert_links, sizeof(t->alert_links), "%s", alert->links);
        snprintf(t->alert_text, sizeof(t->alert_text), "%s", alert->text);
    } else if (type == WIRE_TYPE_TOPOLOGY)
        take_topology(t, message);
    else if (type == WIRE_TYPE_LINKS)
        take_links(t, message);
}

/* ---- a job ------------------------------------------------------------------------- */

static struct network given;
static struct rules rules; /* the built-in ones */
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
                                  .rules = &rules,
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
    assert_int_equal(job_accept_ranks(job, node + 1, &ranks, FIRST * S, &fault), 0);
}

/* What a host reports of a window. */
struct report {
    struct wire_rank_row ranks[2];
    struct wire_pair_row pairs[16];
    struct wire_counter_row counters[4];
    struct wire_transfer_row transfers[4];
    struct wire_latency_row latencies[4];
    struct wire_window window;
};

static void begin(struct report *r, unsigned node, uint64_t first, uint64_t number)
{
    memset(r, 0, sizeof(*r));
    for (unsigned i = 0; i < 2; i++)
        r->ranks[i] = (struct wire_rank_row){.rank = first + i, .in_call_peer = -1};
    r->window = (struct wire_window){.seq = ++seq[node],
                                     .job = "test.0",
                                     .host = "",
                                     .window = number,
                                     .length_ns = S,
                                     .ranks = r->ranks,
                                     .ranks_count = 2,
                                     .pairs = r->pairs,
                                     .counters = r->counters,
                                     .transfers = r->transfers,
                                     .latencies = r->latencies};
}

static void sends(struct report *r, uint64_t source, int64_t destination, uint64_t bytes)
{
    r->pairs[r->window.pairs_count++] =
        (struct wire_pair_row){.source = source,
                               .destination = destination,
                               .size_class = size_class_of(bytes / 10),
                               .messages = 10,
                               .bytes = bytes};
}

static void counts(struct report *r, const char *name, uint64_t sent, uint64_t received)
{
    r->counters[r->window.counters_count++] =
        (struct wire_counter_row){.name = name, .sent = sent, .received = received, .length_ns = S};
}

static void report(struct job *job, unsigned node, const struct report *r)
{
    struct job_fault fault = {""};
    uint64_t end = (r->window.window + 1) * S;
    if (job_accept_window(job, node + 1, &r->window, end, &fault) != 0)
        fail_msg("%s", fault.text);
    job_advance(job, end, end);
}

/* NULL: it is not published */
static const struct wire_link_row *link_of(uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < told.link_count; i++) {
        if (told.links[i].from == from && told.links[i].to == to)
            return &told.links[i];
    }
    return NULL;
}

static uint64_t bytes_on(uint64_t from, uint64_t to)
{
    const struct wire_link_row *link = link_of(from, to);
    return link == NULL ? 0 : link->bytes;
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

/* ---- the tree of the hosts that agents report ------------------------------------------ */

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
    assert_string_equal(seat(4), "n1/rank4");
    assert_string_equal(seat(6), "n3/rank6");
    assert_string_equal(seat(7), "n3/rank7"); /* not that of rank 6 */
    assert_true(linked("n10/core0", "n10/numa0") && linked("n10/numa0", "n10"));
    assert_true(linked("n1/rank4", "n1/numa1") && linked("n3/rank6", "n3"));
    assert_true(linked("n2/core4", "n2") && linked("n2", "network") && linked("n10", "network"));
    assert_int_equal(told.vertices[vertex("network")].kind, VERTEX_SWITCH);
    assert_int_equal(told.vertices[vertex("n2/core4")].kind, VERTEX_CORE);
    assert_int_equal(told.vertices[vertex("n1/numa1")].kind, VERTEX_NUMA);
    assert_int_equal(told.vertices[vertex("n3/rank6")].kind, VERTEX_PROCESS);
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
    assert_int_equal(told.vertex_count, 7);
    assert_string_equal(told.vertices[0].name, "");
    assert_int_equal(told.seats[0], 2);
    assert_int_equal(told.seats[2], 4);
    end_job(job);
}

static void too_many_cores_leave_ranks_on_their_hosts(void **state)
{
    (void)state;
    const uint32_t hosts = 10000;
    struct topology_spec spec;
    struct tree_host *host = calloc(hosts, sizeof(*host));
    struct tree_rank *rank = calloc(hosts, sizeof(*rank));
    char(*names)[16] = calloc(hosts, sizeof(*names));
    for (uint32_t i = 0; i < hosts; i++) {
        snprintf(names[i], sizeof(names[i]), "h%u", i);
        host[i] = (struct tree_host){.name = names[i], .lowest = i};
        rank[i] = (struct tree_rank){.rank = i, .host = i, .core = 1, .numa = i < 2500};
    }
    assert_int_equal(network_tree(&spec, host, hosts, rank, hosts), 0);
    assert_int_equal(spec.vertex_count, hosts + 2500 + 1); /* NUMA nodes fit */
    assert_int_equal(rank[5].vertex, hosts + 5);
    assert_int_equal(rank[7000].vertex, host[7000].vertex);
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
    assert_string_equal(told.source, "mesh:2");
    assert_string_equal(told.fault,
                        "host c is not in mesh:2: its ranks have no place in the network");
    assert_string_equal(told.job_fault, told.fault);
    appear(job, 3, "d", 6, 0, 0);
    job_advance(job, FIRST * S + S, FIRST * S + S);
    assert_string_equal(
        told.job_fault,
        "host c and 1 more are not in mesh:2: their ranks have no place in the network");
    end_job(job);
}

static void a_network_with_a_fault_is_reported_and_not_used(void **state)
{
    (void)state;
    struct job *job = make_job("torus:2,x");
    appear(job, 0, "a", 0, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_true(told.fault[0] != '\0');
    assert_string_equal(told.source, "");
    assert_int_equal(told.kind, TOPOLOGY_TREE);
    assert_string_equal(seat(0), "a/rank0");
    end_job(job);
}

/* ---- windows ------------------------------------------------------------------------------- */

/* Four hosts in a line, two ranks each: 0 and 1 on the first. */
static struct job *make_line(const char *network)
{
    struct job *job = make_job(network);
    for (unsigned node = 0; node < 4; node++) {
        char host[8];
        snprintf(host, sizeof(host), "n%u", node);
        appear(job, node, host, 2 * node, 0, 0);
    }
    return job;
}

/* All ranks send to the next one; 0 also sends `more` to 6, across the whole line. */
static void send_window(struct job *job, uint64_t number, uint64_t more, unsigned turn)
{
    for (unsigned i = 0; i < 4; i++) {
        struct report r;
        unsigned node = (turn + i) % 4;
        begin(&r, node, 2 * node, number);
        sends(&r, 2 * node, 2 * node + 1, 1000); /* stays on the host */
        if (node < 3)
            sends(&r, 2 * node + 1, 2 * node + 2, 100);
        if (node == 0 && more > 0)
            sends(&r, 0, 6, more);
        report(job, node, &r);
    }
}

static void loads_are_the_bytes_of_all_routes_over_a_link(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4");
    send_window(job, FIRST, 5000, 0);
    assert_int_equal(told.windows, 1);
    assert_int_equal(told.link_count, 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(bytes_on(i, i + 1), 5100);
        assert_int_equal(link_of(i, i + 1)->messages, 20);
        assert_int_equal(link_of(i, i + 1)->state, LINK_BUSY);
        assert_true(link_of(i, i + 1)->measured == UINT64_MAX);
        assert_true(isnan(link_of(i, i + 1)->share));
    }
    assert_int_equal(told.last.busy, 3);
    assert_int_equal(told.last.idle, 3);
    assert_int_equal(told.last.bytes, 5300);
    assert_true(fabs(told.last.hop_bytes - 15300) < 1e-6);
    assert_int_equal(told.last.unplaced, 0);
    assert_int_equal(told.route_count, 0);
    send_window(job, FIRST + 1, 0, 0);
    assert_int_equal(bytes_on(0, 1), 100);
    assert_int_equal(link_of(0, 1)->peak, 5100);
    end_job(job);
}

static void without_a_network_messages_load_the_links_of_hosts_and_cores(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "a", 0, 1, 0);
    appear(job, 1, "b", 2, 1, 0);
    appear(job, 2, "c", 4, 0, 0);
    appear(job, 3, "d", 6, 0, 0);
    struct report r;
    begin(&r, 0, 0, FIRST);
    sends(&r, 0, 1, 1000);
    sends(&r, 0, 2, 500);
    sends(&r, 1, 4, 70);
    report(job, 0, &r);
    for (unsigned node = 1; node < 4; node++) {
        begin(&r, node, 2 * node, FIRST);
        report(job, node, &r);
    }
    assert_int_equal(bytes_on((uint64_t)vertex("a/core0"), (uint64_t)vertex("a")), 1500);
    assert_int_equal(bytes_on((uint64_t)vertex("a"), (uint64_t)vertex("a/core1")), 1000);
    assert_int_equal(bytes_on((uint64_t)vertex("a"), (uint64_t)vertex("network")), 570);
    assert_int_equal(bytes_on((uint64_t)vertex("network"), (uint64_t)vertex("c")), 70);
    assert_int_equal(bytes_on((uint64_t)vertex("b"), (uint64_t)vertex("b/core0")), 500);
    end_job(job);
}

static void what_has_no_place_is_counted(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:3"); /* n3 is not in it */
    struct report r;
    begin(&r, 0, 0, FIRST);
    sends(&r, 0, 6, 1000);
    sends(&r, 1, -1, 200);
    sends(&r, 1, 2, 30);
    report(job, 0, &r);
    for (unsigned node = 1; node < 4; node++) {
        begin(&r, node, 2 * node, FIRST);
        if (node == 3)
            sends(&r, 6, 0, 4);
        report(job, node, &r);
    }
    assert_int_equal(told.last.unplaced, 1204);
    assert_int_equal(told.last.bytes, 30);
    end_job(job);
}

static void a_hot_link_names_the_ranks_that_load_it(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4/capacity=10000");
    for (uint64_t i = 0; i < 10; i++)
        send_window(job, FIRST + i, 9000, 0);
    assert_int_equal(told.last.hot, 3);
    assert_int_equal(link_of(1, 2)->state, LINK_HOT);
    assert_true(fabs(link_of(1, 2)->share - 0.91) < 1e-9);
    assert_true(link_of(1, 2)->since > FIRST && link_of(1, 2)->since < FIRST + 10);
    assert_int_equal(told.route_count, 6);
    for (size_t i = 0; i < told.route_count; i += 2) {
        assert_int_equal(told.routes[i].link, told.links[i / 2].link);
        assert_int_equal(told.routes[i].source, 0);
        assert_int_equal(told.routes[i].destination, 6);
        assert_int_equal(told.routes[i].bytes, 9000);
        assert_int_equal(told.routes[i].messages, 10);
        assert_int_equal(told.routes[i].length, 3);
        assert_int_equal(told.routes[i + 1].bytes, 100);
    }
    for (uint64_t i = 10; i < 30; i++)
        send_window(job, FIRST + i, 0, 0);
    assert_int_equal(told.last.hot, 0);
    assert_int_equal(told.route_count, 0);
    end_job(job);
}

static void slow_messages_make_a_hot_link_congested(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4/capacity=10000");
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t slow = i < 40 ? 1 : 8;
        for (unsigned node = 0; node < 4; node++) {
            struct report r;
            begin(&r, node, 2 * node, FIRST + i);
            if (node == 0) {
                /* reported as messages within a node: what is matched between nodes comes in halves
                 */
                uint64_t ns = slow * 1000000;
                unsigned class = size_class_of(900);
                sends(&r, 0, 6, 9000);
                r.transfers[r.window.transfers_count++] = (struct wire_transfer_row){
                    .source = 0,
                    .destination = 6,
                    .size_class = class,
                    .messages = 100,
                    .transfer_ns = 100 * ns,
                    .network_ns = 100 * ns,
                    .log2_sum = (uint64_t)(100 * 65536 * log2((double)ns))};
                r.latencies[r.window.latencies_count++] = (struct wire_latency_row){
                    .size_class = class, .bucket = time_class_of(ns), .messages = 100};
            }
            report(job, node, &r);
        }
        if (i == 39)
            assert_int_equal(link_of(1, 2)->state, LINK_HOT);
    }
    assert_int_equal(link_of(1, 2)->state, LINK_CONGESTED);
    assert_true(link_of(1, 2)->latency > 4);
    assert_int_equal(told.last.congested, 3);
    assert_non_null(strstr(told.alert_links, "(1) to (2) (congested, latency 8.0x)"));
    assert_non_null(strstr(told.alert_text, told.alert_links));
    end_job(job);
}

static void traffic_of_others_shows_as_measured_above_modelled(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4");
    for (uint64_t i = 0; i < 20; i++) {
        for (unsigned node = 0; node < 4; node++) {
            struct report r;
            begin(&r, node, 2 * node, FIRST + i);
            if (node == 0) {
                sends(&r, 0, 2, 1000);
                counts(&r, "eth0", 3000, 11);
            } else if (node == 3) {
                counts(&r, "eth0", 7, 500);
            } else {
                counts(&r, "left", 1,
                       2); /* which link that is, a mesh by dimensions does not know */
            }
            report(job, node, &r);
        }
    }
    assert_int_equal(link_of(0, 1)->measured, 3000);
    assert_int_equal(link_of(0, 1)->unit, 0);
    assert_true(fabs(link_of(0, 1)->ratio - 3) < 1e-6);
    assert_int_equal(link_of(1, 0)->measured, 11);
    assert_true(isnan(link_of(1, 0)->ratio));
    assert_int_equal(link_of(2, 3)->measured, 500); /* counted by the receiver */
    assert_null(link_of(1, 2));
    assert_int_equal(told.interface_count, 4);
    assert_int_equal(told.interfaces[0].node, 0);
    assert_string_equal(told.interfaces[0].name, "eth0");
    assert_int_equal(told.interfaces[0].link_out, link_of(0, 1)->link);
    assert_int_equal(told.interfaces[0].link_in, link_of(1, 0)->link);
    assert_true(told.interfaces[1].link_out == UINT64_MAX);
    end_job(job);
}

static void counters_of_a_gap_are_spread_over_it(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4");
    for (unsigned node = 0; node < 4; node++) {
        struct report r;
        begin(&r, node, 2 * node, FIRST);
        counts(&r, "eth0", 4000, 400);
        r.counters[0].length_ns = 4 * S;
        report(job, node, &r);
    }
    assert_int_equal(link_of(0, 1)->measured, 1000);
    end_job(job);
}

static void in_the_tree_a_host_has_its_fastest_interfaces_together(void **state)
{
    (void)state;
    struct job *job = make_line(NULL);
    for (uint64_t i = 0; i < 3; i++) {
        for (unsigned node = 0; node < 4; node++) {
            struct report r;
            begin(&r, node, 2 * node, FIRST + i);
            counts(&r, "eth0", 4000, 400);
            counts(&r, "mlx5_0/1", 10, 1);
            counts(&r, "mlx5_1/1", 20, 2);
            for (int c = 1; c < 3 && i > 0; c++)
                r.counters[c].speed = 1000;
            r.counters[1].medium = r.counters[2].medium = COUNTER_INFINIBAND;
            sends(&r, 2 * node, (int64_t)(2 * node + 2) % 8, 60);
            report(job, node, &r);
        }
    }
    const struct wire_link_row *up = link_of(0, (uint64_t)vertex("network")),
                               *down = link_of((uint64_t)vertex("network"), 0);
    assert_int_equal(up->measured, 30);
    assert_int_equal(down->measured, 3);
    assert_true(fabs(up->share - 0.03) < 1e-9); /* of two times 1000 */
    assert_true(told.interfaces[0].link_out == UINT64_MAX);
    assert_int_equal(told.interfaces[2].link_out, up->link);
    end_job(job);
}

/* As where a cluster has a network for management beside the one that is described. */
static void the_only_link_of_a_node_has_its_fastest_interfaces_together(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4/capacity=5000");
    for (unsigned node = 0; node < 4; node++) {
        struct report r;
        begin(&r, node, 2 * node, FIRST);
        counts(&r, "eth0", 4000, 400);
        counts(&r, "mlx5_0/1", 10, 1);
        counts(&r, "mlx5_1/1", 20, 2);
        r.counters[1].medium = r.counters[2].medium = COUNTER_INFINIBAND;
        sends(&r, 2 * node, (int64_t)(2 * node + 2) % 8, 60);
        report(job, node, &r);
    }
    assert_int_equal(link_of(0, 1)->measured, 30);
    assert_int_equal(link_of(1, 0)->measured, 3);
    assert_true(told.interfaces[0].link_out == UINT64_MAX);
    assert_int_equal(told.interfaces[1].link_out, link_of(0, 1)->link);
    end_job(job);
}

static void the_order_of_messages_does_not_show(void **state)
{
    (void)state;
    uint64_t stream = 0;
    for (unsigned turn = 0; turn < 4; turn++) {
        struct job *job = make_line("mesh:4/capacity=10000");
        for (uint64_t i = 0; i < 10; i++)
            send_window(job, FIRST + i, 9000 + i, turn);
        assert_int_equal(told.windows, 10);
        assert_true(turn == 0 || told.stream == stream);
        stream = told.stream;
        end_job(job);
    }
}

/* As of a job that was started again under its id with other ranks on its hosts: messages between
 * hosts stand under the lowest rank of each. */
static void ranks_that_move_leave_another_as_the_lowest_of_their_host(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "n1", 0, 0, 0);
    appear(job, 1, "n2", 2, 0, 0);
    appear(job, 2, "n3", 4, 0, 0);
    const struct job_network *n = job_network(job);
    assert_int_equal(job_network_node_rank(n, 3), 2);
    appear(job, 0, "n1", 1, 0, 0); /* 0 to 2 are on n1 */
    assert_int_equal(job_network_node_rank(n, 1), 0);
    assert_int_equal(job_network_node_rank(n, 2), 0);
    assert_int_equal(job_network_node_rank(n, 3), 3);
    appear(job, 2, "n3", 3, 0, 0); /* 3 and others are on n3, nobody is on n2 */
    assert_int_equal(job_network_node_rank(n, 3), 3);
    assert_int_equal(job_network_node_rank(n, 5), 3);
    appear(job, 1, "n2", 6, 0, 0);
    assert_int_equal(job_network_node_rank(n, 7), 6);
    end_job(job);
}

/* As of a job that was started again under its id. */
static void hosts_that_all_ranks_have_left_take_no_nodes(void **state)
{
    (void)state;
    struct job *job = make_job("torus:2");
    appear(job, 0, "a1", 0, 0, 0);
    appear(job, 1, "a2", 2, 0, 0);
    job_advance(job, FIRST * S, FIRST * S);
    assert_int_equal(told.seats[2], 1);
    appear(job, 2, "b1", 0, 0, 0);
    appear(job, 3, "b2", 2, 0, 0);
    job_advance(job, (FIRST + 1) * S, (FIRST + 1) * S);
    assert_string_equal(told.fault, "");
    assert_int_equal(told.seats[0], 0);
    assert_int_equal(told.seats[2], 1);
    end_job(job);
}

static void a_rank_that_is_bound_again_moves(void **state)
{
    (void)state;
    struct job *job = make_job(NULL);
    appear(job, 0, "a", 0, 0, 0);
    appear(job, 1, "b", 2, 0, 0);
    appear(job, 2, "c", 4, 0, 0);
    appear(job, 3, "d", 6, 0, 0);
    send_window(job, FIRST, 100, 0);
    assert_int_equal(told.topologies, 1);
    assert_string_equal(seat(0), "a/rank0");
    appear(job, 0, "a", 0, 3, 1);
    send_window(job, FIRST + 1, 100, 0);
    assert_int_equal(told.topologies, 2);
    assert_string_equal(seat(0), "a/core2");
    assert_int_equal(bytes_on((uint64_t)vertex("a/core2"), (uint64_t)vertex("a/numa0")), 1100);
    end_job(job);
}

static void late_subscribers_get_the_last_window(void **state)
{
    (void)state;
    struct job *job = make_line("mesh:4/capacity=10000");
    for (uint64_t i = 0; i < 10; i++)
        send_window(job, FIRST + i, 9000, 0);
    struct told live = told;
    memset(&told, 0, sizeof(told));
    struct job_output output = {&told, wanted, publish, NULL};
    job_snapshot(job, WIRE_TYPE_TOPOLOGY, &output);
    job_snapshot(job, WIRE_TYPE_LINKS, &output);
    assert_int_equal(told.seat_count, live.seat_count);
    assert_memory_equal(told.seats, live.seats, sizeof(told.seats));
    assert_int_equal(told.link_count, live.link_count);
    assert_int_equal(told.route_count, live.route_count);
    for (size_t i = 0; i < told.link_count; i++)
        assert_int_equal(told.links[i].since, live.links[i].since);
    assert_int_equal(told.last.hot, 3);
    end_job(job);
}

int main(void)
{
    if (rules_default(&rules) != 0)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_network_ranks_sit_on_cores_below_their_hosts),
        cmocka_unit_test(the_order_in_which_agents_come_does_not_show),
        cmocka_unit_test(hosts_of_one_name_stay_two),
        cmocka_unit_test(names_that_contradict_each_other_are_left_out),
        cmocka_unit_test(too_many_cores_leave_ranks_on_their_hosts),
        cmocka_unit_test(hosts_are_sorted_as_people_do),
        cmocka_unit_test(hosts_sit_on_a_short_form_in_the_order_of_their_names),
        cmocka_unit_test(hosts_beyond_the_network_have_no_place),
        cmocka_unit_test(a_network_with_a_fault_is_reported_and_not_used),
        cmocka_unit_test(loads_are_the_bytes_of_all_routes_over_a_link),
        cmocka_unit_test(without_a_network_messages_load_the_links_of_hosts_and_cores),
        cmocka_unit_test(what_has_no_place_is_counted),
        cmocka_unit_test(a_hot_link_names_the_ranks_that_load_it),
        cmocka_unit_test(slow_messages_make_a_hot_link_congested),
        cmocka_unit_test(traffic_of_others_shows_as_measured_above_modelled),
        cmocka_unit_test(counters_of_a_gap_are_spread_over_it),
        cmocka_unit_test(in_the_tree_a_host_has_its_fastest_interfaces_together),
        cmocka_unit_test(the_only_link_of_a_node_has_its_fastest_interfaces_together),
        cmocka_unit_test(the_order_of_messages_does_not_show),
        cmocka_unit_test(ranks_that_move_leave_another_as_the_lowest_of_their_host),
        cmocka_unit_test(hosts_that_all_ranks_have_left_take_no_nodes),
        cmocka_unit_test(a_rank_that_is_bound_again_moves),
        cmocka_unit_test(late_subscribers_get_the_last_window),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rules_finish(&rules);
    return failed;
}
