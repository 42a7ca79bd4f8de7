/* A job that is kept by groups of ranks has the loads of links and the culprits of lost progress
 * that it has when it is kept by ranks: two jobs get the same messages, one of each kind. */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "daemon/job/network/job_network.h"
#include "tests/bench/replay_make.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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
    uint64_t bytes[NODES][NODES]; /* as published, between nodes */
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
    return type == WIRE_TYPE_LINKS || type == WIRE_TYPE_PAIR_WINDOW;
}

/* @param rows  of ranks, or of nodes under their lowest rank */
static void add_bytes(struct kept *kept, const struct wire_pair_row *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        kept->bytes[rows[i].source / ON_NODE][rows[i].destination / (int64_t)ON_NODE] +=
            rows[i].bytes;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct kept *kept = user;
    (void)job;
    if (type == WIRE_TYPE_PAIR_WINDOW) {
        const struct wire_pair_window *w = message;
        const int by_groups = w->node_pairs_count > 0;
        add_bytes(kept, by_groups ? w->node_pairs : w->pairs,
                  by_groups ? w->node_pairs_count : w->pairs_count);
    }
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
    assert_memory_equal(p.groups.bytes, p.ranks.bytes, sizeof(p.ranks.bytes));
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

/* ---- growth -------------------------------------------------------------- */

#define MS UINT64_C(1000000)
#define ONSET 16u /* windows */
#define DELAYED 5u

struct watched {
    struct job *job;
    char culprits[513], cause[33]; /* of the alert about a node that was reported last */
    uint64_t alerts;
};

/* What delays ranks of the node DELAYED. */
enum delay { DELAY_OTHERS, DELAY_IO, DELAY_WORK, DELAY_WORK_OF_HALF };

struct delayed_job {
    struct watched ranks, groups;
    struct wire_arena arena;
    enum delay delay;
    uint64_t first; /* window */
};

static int wants_alerts(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_ALERT;
}

static void publish_alert(void *user, const char *job, enum wire_type type, const void *message)
{
    struct watched *watched = user;
    const struct wire_alert *alert = message;
    (void)job;
    if (type != WIRE_TYPE_ALERT || strcmp(alert->state, "firing") != 0)
        return;
    snprintf(watched->culprits, sizeof(watched->culprits), "%s", alert->nodes);
    snprintf(watched->cause, sizeof(watched->cause), "%s",
             alert->causes_count > 0 ? alert->causes[0].name : "");
    watched->alerts++;
}

/* A rank computes for half of a window. From the onset on it does half of that, and waits for the
 * ranks that are delayed. */
static void set_figures(const struct delayed_job *d, uint64_t window, struct wire_rank_row *r,
                        struct wire_process_row *p)
{
    const int after = window >= d->first + ONSET;
    const int delayed = after && r->rank / ON_NODE == DELAYED &&
                        (d->delay != DELAY_WORK_OF_HALF || r->rank % 2 == 0);
    const uint64_t outside_ns = delayed ? 950 * MS : after ? 250 * MS : 500 * MS;
    const uint64_t work_ns = delayed && d->delay < DELAY_WORK ? 250 * MS : outside_ns;
    *r = (struct wire_rank_row){.rank = r->rank,
                                .threads = 1,
                                .calls = after ? 50 : 100,
                                .sent = after ? 50 : 100,
                                .sent_bytes = after ? 50000 : 100000,
                                .collective_ns = 1000 * MS - outside_ns};
    *p = (struct wire_process_row){.rank = r->rank,
                                   .length_ns = 1000 * MS,
                                   .user_ns = work_ns,
                                   .samples = 20,
                                   .runnable = work_ns / (50 * MS)};
    if (work_ns != outside_ns && d->delay == DELAY_OTHERS) {
        p->queued_ns = outside_ns - work_ns;
        p->runnable = outside_ns / (50 * MS);
    } else if (work_ns != outside_ns) {
        p->block_ns = outside_ns - work_ns;
    }
}

static void watch(struct watched *watched, const struct wire_message *message, uint64_t instance,
                  uint64_t now)
{
    struct kept kept = {.job = watched->job};
    give(&kept, message, instance, now);
}

static int take_delayed(void *user, const void *bytes, size_t length, uint64_t type,
                        uint64_t instance, uint64_t seq, uint64_t window, uint64_t received_ns)
{
    struct delayed_job *d = user;
    struct wire_message message;
    struct wire_rank_row ranks[ON_NODE];
    struct wire_process_row processes[ON_NODE];
    (void)seq;
    assert_int_equal(wire_decode(&message, &d->arena, bytes, length, NULL), 0);
    if (type == WIRE_TYPE_WINDOW) {
        d->first = d->first == 0 ? window : d->first;
        assert_int_equal(message.window.ranks_count, ON_NODE);
        for (unsigned i = 0; i < ON_NODE; i++) {
            ranks[i].rank = message.window.ranks[i].rank;
            set_figures(d, window, &ranks[i], &processes[i]);
        }
        message.window.ranks = ranks;
        message.window.processes = processes;
        message.window.processes_count = ON_NODE;
        message.window.transfers_count = message.window.halves_count = 0;
        message.window.latencies_count = 0;
    }
    watch(&d->ranks, &message, instance, received_ns);
    watch(&d->groups, &message, instance, received_ns);
    return 0;
}

static void create_watched(struct watched *watched, const struct rules *rules, uint64_t most_ranks)
{
    const struct job_output output = {
        .user = watched, .has_subscribers = wants_alerts, .publish = publish_alert};
    const struct job_options options = {.window_ns = 1000 * MS,
                                        .grace_ns = 250 * MS,
                                        .lost_ns = 60000 * MS,
                                        .most_pairs = 65536,
                                        .most_ranks = most_ranks,
                                        .rules = rules};
    assert_int_equal(job_create(&watched->job, REPLAY_MAKE_JOB, &options, &output), 0);
}

static void assert_same_cause(enum delay delay, const char *cause)
{
    struct delayed_job d = {.delay = delay};
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    struct rules rules;
    settings.ranks = RANKS;
    settings.nodes = NODES;
    settings.windows = ONSET + 14;
    assert_int_equal(rules_default(&rules), 0);
    create_watched(&d.ranks, &rules, 0);
    create_watched(&d.groups, &rules, GROUPS);
    assert_int_equal(replay_make(&settings, take_delayed, &d), 0);
    assert_string_equal(d.ranks.culprits, "node0005");
    assert_string_equal(d.ranks.cause, cause);
    assert_string_equal(d.groups.culprits, d.ranks.culprits);
    assert_string_equal(d.groups.cause, d.ranks.cause);
    job_destroy(d.ranks.job);
    job_destroy(d.groups.job);
    rules_finish(&rules);
    wire_arena_finish(&d.arena);
}

static void other_processes_on_the_cores_of_a_node_are_the_cause_as_by_ranks(void **state)
{
    (void)state;
    assert_same_cause(DELAY_OTHERS, "interrupted");
}

static void files_that_a_node_waits_for_are_the_cause_as_by_ranks(void **state)
{
    (void)state;
    assert_same_cause(DELAY_IO, "io");
}

static void a_node_that_computes_longer_is_the_cause_as_by_ranks(void **state)
{
    (void)state;
    assert_same_cause(DELAY_WORK, "slow-node");
}

static void longer_work_of_some_ranks_of_a_node_is_the_cause_as_by_ranks(void **state)
{
    (void)state;
    assert_same_cause(DELAY_WORK_OF_HALF, "computes-longer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_a_torus_are_loaded_as_by_ranks),
        cmocka_unit_test(messages_of_hosts_without_a_place_are_not_routed),
        cmocka_unit_test(links_between_hosts_of_a_tree_are_loaded_as_by_ranks),
        cmocka_unit_test(other_processes_on_the_cores_of_a_node_are_the_cause_as_by_ranks),
        cmocka_unit_test(files_that_a_node_waits_for_are_the_cause_as_by_ranks),
        cmocka_unit_test(a_node_that_computes_longer_is_the_cause_as_by_ranks),
        cmocka_unit_test(longer_work_of_some_ranks_of_a_node_is_the_cause_as_by_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
