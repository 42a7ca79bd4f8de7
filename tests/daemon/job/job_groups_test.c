/* A job that is kept by groups of ranks has the loads of links that it has when it is kept by
 * ranks: two jobs get the same messages, one of each kind. */
#include "daemon/job/job.h"
#include "daemon/job/network/job_network.h"
#include "tests/bench/replay_make.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 256u
#define NODES 16u
#define ON_NODE (RANKS / NODES)
#define GROUPS 4u      /* each on four nodes */
#define LATE_NODE 3u   /* whose ranks are known after others have sent to them */
#define NAME_ROOM 160u /* of a link */

struct kept {
    struct job *job;
    struct wire_buffer links; /* published last; empty: compared */
    struct wire_arena arena;
    struct wire_message decoded;
};

struct pair {
    struct kept ranks, groups;
    struct wire_arena arena;
    struct wire_buffer late; /* the message about the ranks of LATE_NODE */
    uint64_t late_instance;
    uint64_t sent[4][NODES][NODES]; /* bytes by window, modulo 4 */
    uint64_t windows, links, hot, unplaced, latencies;
};

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_LINKS;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct kept *kept = user;
    (void)job;
    if (type == WIRE_TYPE_LINKS)
        assert_int_equal(wire_encode(&kept->links, type, message), 0);
}

static struct wire_links *decode_links(struct kept *kept)
{
    assert_int_equal(
        wire_decode(&kept->decoded, &kept->arena, kept->links.bytes, kept->links.length, NULL), 0);
    wire_buffer_finish(&kept->links);
    return &kept->decoded.links;
}

static int joins_hosts(const struct kept *kept, const struct wire_link_row *row)
{
    const struct topology *t = job_network_topology(job_network(kept->job));
    const unsigned from = topology_vertex_kind(t, (uint32_t)row->from),
                   to = topology_vertex_kind(t, (uint32_t)row->to);
    return (from == VERTEX_NODE || from == VERTEX_SWITCH) &&
           (to == VERTEX_NODE || to == VERTEX_SWITCH);
}

/* Numbers of links differ where one network has the insides of hosts. */
static void assert_same_link(struct pair *p, const struct wire_link_row *row,
                             const struct wire_links *of_ranks)
{
    char name[NAME_ROOM], other[NAME_ROOM];
    job_network_name_link(job_network(p->groups.job), (uint32_t)row->link, name, sizeof(name));
    for (uint64_t i = 0; i < of_ranks->links_count; i++) {
        struct wire_link_row same = of_ranks->links[i];
        job_network_name_link(job_network(p->ranks.job), (uint32_t)same.link, other, sizeof(other));
        if (strcmp(name, other) != 0)
            continue;
        same.link = row->link;
        same.from = row->from;
        same.to = row->to;
        if (!isnan(row->latency)) { /* rounded by pair of vertices */
            assert_true(fabs(same.latency - row->latency) < 1e-6 * row->latency);
            same.latency = row->latency;
        }
        assert_memory_equal(row, &same, sizeof(same));
        p->links++;
        p->hot += row->state >= 2;
        p->latencies += row->latency > 0;
        return;
    }
    fail_msg("only the job by groups has loads of %s", name);
}

static void compare_windows(struct pair *p)
{
    const struct wire_links *ranks = decode_links(&p->ranks), *groups = decode_links(&p->groups);
    uint64_t between_hosts = 0;
    assert_int_equal(groups->window, ranks->window);
    assert_int_equal(groups->unplaced, ranks->unplaced);
    for (uint64_t i = 0; i < ranks->links_count; i++)
        between_hosts += (uint64_t)joins_hosts(&p->ranks, &ranks->links[i]);
    assert_int_equal(groups->links_count, between_hosts);
    for (uint64_t i = 0; i < groups->links_count; i++)
        assert_same_link(p, &groups->links[i], ranks);
    for (uint64_t i = 0; i < groups->routes_count; i++) { /* a node is its lowest rank */
        const struct wire_link_route_row *r = &groups->routes[i];
        assert_int_equal(r->source % ON_NODE, 0);
        assert_int_equal(r->destination % ON_NODE, 0);
        assert_int_equal(
            r->bytes, p->sent[groups->window % 4][r->source / ON_NODE][r->destination / ON_NODE]);
    }
    memset(p->sent[(groups->window + 2) % 4], 0, sizeof(p->sent[0]));
    assert_int_equal(groups->routes_count > 0, groups->hot + groups->congested > 0);
    p->windows++;
    p->unplaced += groups->unplaced;
}

static void give(struct kept *kept, const struct wire_message *message, uint64_t instance,
                 uint64_t now)
{
    struct job_fault fault = {""};
    int code = message->type == WIRE_TYPE_RANKS
                   ? job_accept_ranks(kept->job, instance, &message->ranks, now, &fault)
                   : job_accept_window(kept->job, instance, &message->window, now, &fault);
    assert_string_equal(fault.text, "");
    assert_int_equal(code, 0);
    job_advance(kept->job, now, now);
}

static void give_both(struct pair *p, const void *bytes, size_t length, uint64_t instance,
                      uint64_t now)
{
    struct wire_message message;
    assert_int_equal(wire_decode(&message, &p->arena, bytes, length, NULL), 0);
    give(&p->ranks, &message, instance, now);
    give(&p->groups, &message, instance, now);
    assert_int_equal(p->groups.links.length > 0, p->ranks.links.length > 0);
    if (p->groups.links.length > 0)
        compare_windows(p);
}

static int take(void *user, const void *bytes, size_t length, uint64_t type, uint64_t instance,
                uint64_t seq, uint64_t window, uint64_t received_ns)
{
    struct pair *p = user;
    struct wire_message message;
    (void)seq;
    assert_int_equal(wire_decode(&message, &p->arena, bytes, length, NULL), 0);
    for (uint64_t i = 0; type == WIRE_TYPE_WINDOW && i < message.window.pairs_count; i++) {
        const struct wire_pair_row *row = &message.window.pairs[i];
        p->sent[window % 4][row->source / ON_NODE][row->destination / (int64_t)ON_NODE] +=
            row->bytes;
    }
    if (type == WIRE_TYPE_RANKS && message.ranks.members[0].rank == LATE_NODE * ON_NODE) {
        assert_int_equal(wire_encode(&p->late, WIRE_TYPE_RANKS, &message.ranks), 0);
        p->late_instance = instance;
        return 0;
    }
    if (type == WIRE_TYPE_WINDOW && instance == p->late_instance && p->late.length > 0) {
        give_both(p, p->late.bytes, p->late.length, instance, received_ns);
        wire_buffer_finish(&p->late);
    }
    give_both(p, bytes, length, instance, received_ns);
    return 0;
}

static void create(struct kept *kept, const struct replay_make *settings,
                   const struct network *network, uint64_t most_ranks)
{
    const struct job_output output = {.user = kept, .has_subscribers = wanted, .publish = publish};
    const struct job_options options = {.window_ns = settings->window_ns,
                                        .grace_ns = settings->window_ns / 4,
                                        .lost_ns = 60 * settings->window_ns,
                                        .most_pairs = 65536,
                                        .most_ranks = most_ranks,
                                        .network = network};
    assert_int_equal(job_create(&kept->job, REPLAY_MAKE_JOB, &options, &output), 0);
}

/* @param given  a network; "": the tree of hosts */
static struct pair compare(const char *given)
{
    struct pair p = {.windows = 0};
    struct network network = {0};
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    settings.ranks = RANKS;
    settings.nodes = NODES;
    settings.partners = 26;
    settings.windows = 40;
    network_read(&network, given);
    create(&p.ranks, &settings, &network, 0);
    create(&p.groups, &settings, &network, GROUPS);
    assert_int_equal(replay_make(&settings, take, &p), 0);
    job_destroy(p.ranks.job);
    job_destroy(p.groups.job);
    network_finish(&network);
    wire_arena_finish(&p.arena);
    wire_arena_finish(&p.ranks.arena);
    wire_arena_finish(&p.groups.arena);
    assert_true(p.windows + 2 >= settings.windows);
    assert_true(p.links > 0);
    assert_true(p.latencies > 0);
    return p;
}

static void links_of_a_torus_are_loaded_as_by_ranks(void **state)
{
    (void)state;
    struct pair p = compare("torus:4,4/capacity=2000000");
    assert_int_equal(p.unplaced, 0);
    assert_true(p.hot > 0);
}

static void messages_of_hosts_without_a_place_are_not_routed(void **state)
{
    (void)state;
    struct pair p = compare("torus:5,3");
    assert_true(p.unplaced > 0);
}

static void links_between_hosts_of_a_tree_are_loaded_as_by_ranks(void **state)
{
    (void)state;
    struct pair p = compare("");
    assert_int_equal(p.unplaced, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_a_torus_are_loaded_as_by_ranks),
        cmocka_unit_test(messages_of_hosts_without_a_place_are_not_routed),
        cmocka_unit_test(links_between_hosts_of_a_tree_are_loaded_as_by_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
