/* Searches for better mappings and routes, asked of the daemon as a process. */
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "holter/wire.h"
#include "tests/daemon/daemon_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define RANKS 8u
#define BYTES 1000u

static struct daemon_bed bed;

static int set_up(void **state)
{
    (void)state;
    return daemon_bed_make(&bed);
}

static int tear_down(void **state)
{
    (void)state;
    return daemon_bed_remove(&bed);
}

static const char *most_ranks = "65536";

static pid_t start(const char *network)
{
    /* The window is complete when all agents sent theirs, however long each takes. */
    const char *const options[] = {"--window",   "100ms", "--grace",      "60s",      "--no-record",
                                   "--topology", network, "--most-ranks", most_ranks, NULL};
    return daemon_bed_start(&bed, options);
}

/* ---- a job: eight hosts in a ring, whose ranks send to the third next one --------------- */

#define MOST 64u
#define PARTNERS 6u

static unsigned per_host = 1; /* ranks; several send all over the place */
static int round_robin;       /* consecutive ranks are on consecutive hosts */

static unsigned rank_of(unsigned node, unsigned i)
{
    return round_robin ? i * RANKS + node : node * per_host + i;
}

static void send_ranks(struct peer *agent, unsigned node, const char *host)
{
    struct wire_member_row members[MOST];
    const struct wire_cart_row ring = {.id = 5, .size = (uint64_t)RANKS * per_host, .wraps = 1};
    struct wire_cart_member_row places[MOST];
    for (unsigned i = 0; i < per_host; i++) {
        members[i] =
            (struct wire_member_row){.rank = rank_of(node, i), .pid = 100 + i, .placement = "0"};
        places[i] =
            (struct wire_cart_member_row){.rank = rank_of(node, i), .position = rank_of(node, i)};
    }
    struct wire_ranks ranks = {.seq = 1,
                               .job = "job.0",
                               .world = (uint64_t)RANKS * per_host,
                               .app = "app",
                               .mpi = "mpi",
                               .host = host,
                               .members = members,
                               .members_count = per_host,
                               .carts = &ring,
                               .carts_count = 1,
                               .cart_members = places,
                               .cart_members_count = per_host};
    peer_send(agent, WIRE_TYPE_RANKS, &ranks);
}

static void run_agent(unsigned node, uint64_t window)
{
    struct peer agent;
    char host[8];
    struct wire_rank_row rows[MOST];
    struct wire_pair_row pairs[MOST * PARTNERS];
    unsigned count = 0, world = RANKS * per_host;
    uint64_t seed = 17 + node;
    snprintf(host, sizeof(host), "n%u", node);
    peer_come(&bed, &agent, "agent", 11 + node);
    send_ranks(&agent, node, host);
    for (unsigned i = 0; i < per_host; i++) {
        unsigned rank = rank_of(node, i);
        rows[i] = (struct wire_rank_row){.rank = rank, .in_call_peer = -1};
        for (unsigned j = 0; j < (per_host == 1 ? 1 : PARTNERS); j++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            unsigned random = (unsigned)(seed >> 40) % (world - 1) + 1;
            pairs[count++] =
                (struct wire_pair_row){.source = rank,
                                       .destination = (rank + (per_host == 1 ? 3 : random)) % world,
                                       .size_class = size_class_of(BYTES),
                                       .messages = 10,
                                       .bytes = 10 * BYTES};
        }
    }
    struct wire_window w = {.seq = 2,
                            .job = "job.0",
                            .host = host,
                            .window = window,
                            .length_ns = 100 * MS,
                            .flags = WINDOW_FINAL,
                            .ranks = rows,
                            .ranks_count = per_host,
                            .pairs = pairs,
                            .pairs_count = count};
    peer_send(&agent, WIRE_TYPE_WINDOW, &w);
    while (peer_receive(&agent)->type != WIRE_TYPE_ACK || agent.message.ack.seq < 2)
        ;
    peer_hang_up(&agent);
}

static pid_t run_job(const char *network)
{
    struct peer p;
    pid_t pid = start(network);
    uint64_t window = clock_real_ns() / (100 * MS) - 1000;
    for (unsigned node = 0; node < RANKS; node++)
        run_agent(node, window);
    peer_come(&bed, &p, "viewer", 0);
    for (int ended = 0; !ended;) {
        struct wire_request request = {.id = 1, .op = "snapshot", .job = "job.0", .topic = "job"};
        peer_send(&p, WIRE_TYPE_REQUEST, &request);
        peer_receive(&p);
        ended = p.message.type == WIRE_TYPE_JOB && strcmp(p.message.job.state, "ended") == 0;
        if (p.message.type != WIRE_TYPE_REPLY)
            peer_reply(&p);
    }
    peer_hang_up(&p);
    return pid;
}

/* ---- mappings ---------------------------------------------------------------------------- */

/* Up to the result. */
static const struct wire_mapping *await_mapping(struct peer *p)
{
    do {
        assert_int_equal(peer_receive(p)->type, WIRE_TYPE_MAPPING);
    } while (p->message.mapping.progress < 1);
    return &p->message.mapping;
}

static void a_mapping_that_is_better_comes_with_its_gain(void **state)
{
    (void)state;
    struct peer p;
    uint64_t seats[2][RANKS] = {{0}}, taken = 0;
    pid_t pid = run_job("torus:8");
    peer_come(&bed, &p, "viewer", 0);
    for (uint64_t i = 0; i < 2; i++) {
        peer_ask(&p, 5 + i, "remap", NULL, "time=0.2 seed=7");
        const struct wire_mapping *m = await_mapping(&p);
        assert_string_equal(m->job, "job.0");
        assert_string_equal(m->objective, "hop-bytes");
        assert_int_equal(m->seed, 7);
        assert_int_equal(m->seats_count, RANKS);
        assert_int_equal(m->gains_count, 4);
        assert_string_equal(m->gains[0].name, "hop-bytes");
        assert_true(m->gains[0].before > 239999 && m->gains[0].before < 240001);
        assert_true(m->gains[0].after > 79999 && m->gains[0].after < 80001);
        assert_int_equal(m->optimal, 1);
        for (unsigned r = 0; r < RANKS; r++) {
            assert_int_equal(m->seats[r].rank, r);
            seats[i][r] = m->seats[r].vertex;
            taken |= UINT64_C(1) << m->seats[r].vertex;
        }
        assert_int_equal(peer_reply(&p)->id, 5 + i);
        assert_int_equal(p.message.reply.code, 0);
    }
    assert_int_equal(taken, 255);
    assert_memory_equal(seats[0], seats[1], sizeof(seats[0]));
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static double ask_bytes_between_nodes(const char *network)
{
    struct peer p;
    pid_t pid = run_job(network);
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 5, "remap", NULL, "time=0.1 objective=inter-node");
    const struct wire_mapping *m = await_mapping(&p);
    assert_string_equal(m->gains[0].name, "inter-node-bytes");
    const double before = m->gains[0].before;
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
    return before;
}

static void in_the_grid_of_processes_ranks_of_a_host_are_on_one_node(void **state)
{
    (void)state;
    per_host = 4;
    const double bytes = ask_bytes_between_nodes("torus:8");
    assert_true(bytes > 0 && bytes < RANKS * 4 * PARTNERS * 10 * BYTES);
    const double in_grid = ask_bytes_between_nodes("cart");
    per_host = 1;
    assert_memory_equal(&in_grid, &bytes, sizeof(bytes));
}

static void ranks_that_are_not_asked_for_stay(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = run_job("torus:8");
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 5, "remap", NULL, "time=0.2 ranks=1,3-4 objective=max-link");
    const struct wire_mapping *m = await_mapping(&p);
    assert_string_equal(m->gains[0].name, "max-link");
    assert_true(m->gains[0].after <= m->gains[0].before);
    for (unsigned r = 0; r < RANKS; r++)
        assert_true(m->seats[r].vertex == r || r == 1 || r == 3 || r == 4);
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_ask(&p, 6, "remap", NULL, "ranks=1,99");
    while (peer_receive(&p)->type == WIRE_TYPE_MAPPING)
        ;
    assert_int_equal(p.message.reply.code, -HOLTER_EUSAGE);
    assert_non_null(strstr(p.message.reply.text, "rank 99"));
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void what_is_asked_meanwhile_is_answered_at_once(void **state)
{
    (void)state;
    struct peer p, other;
    per_host = MOST;
    pid_t pid = run_job("torus:8,8");
    per_host = 1;
    peer_come(&bed, &p, "viewer", 0);
    peer_come(&bed, &other, "viewer", 0);
    peer_ask(&p, 1, "remap", NULL, "time=600 objective=max-link");
    peer_ask(&p, 2, "status", NULL, "");
    peer_ask(&p, 3, "commgram", NULL, "");
    peer_ask(&p, 4, "reroute", NULL, "top=5");
    peer_ask(&p, 5, "snapshot", NULL, "");
    peer_ask(&other, 7, "status", NULL, "");
    assert_int_equal(peer_reply(&other)->id, 7);
    unsigned answered = 0;
    while (answered != (1u << 2 | 1u << 3 | 1u << 4 | 1u << 5)) {
        const struct wire_reply *reply = peer_reply(&p);
        assert_int_equal(reply->code, 0);
        assert_in_range(reply->id, 2, 5);
        answered |= 1u << reply->id;
    }
    peer_ask(&p, 6, "cancel", NULL, "reroute"); /* is over: nothing happens */
    assert_int_equal(peer_reply(&p)->id, 6);
    assert_int_equal(p.message.reply.code, 0);
    peer_ask(&p, 7, "cancel", NULL, "remap");
    assert_int_equal(peer_reply(&p)->id, 1);
    assert_int_equal(p.message.reply.code, -ECANCELED);
    assert_int_equal(peer_reply(&p)->id, 7);
    assert_int_equal(p.message.reply.code, 0);
    peer_hang_up(&p);
    peer_hang_up(&other);
    daemon_bed_stop(pid);
}

/* Each rank sits three vertices behind the one before it: the one that it sends to is its
 * neighbour. Where they sit now, it is three links away. */
static void ask_for_routes_of_another_mapping(struct peer *p, uint64_t id)
{
    struct wire_seat_row seats[RANKS];
    for (unsigned r = 0; r < RANKS; r++)
        seats[r] = (struct wire_seat_row){r, (uint64_t)3 * r % RANKS};
    const struct wire_request request = {.id = id,
                                         .op = "reroute",
                                         .job = "job.0",
                                         .argument = "top=5",
                                         .seats = seats,
                                         .seats_count = RANKS};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
}

static void a_request_behind_a_picture_keeps_its_rows(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = run_job("torus:8");
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "commgram", NULL, "");
    ask_for_routes_of_another_mapping(&p, 2);
    const struct wire_routes *r = &peer_await(&p, WIRE_TYPE_ROUTES)->routes;
    assert_string_equal(r->gains[1].name, "hop-bytes");
    assert_true(r->gains[1].before > 79999 && r->gains[1].before < 80001);
    assert_int_equal(peer_reply(&p)->id, 2);
    assert_int_equal(p.message.reply.code, 0);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

/* What is found for a job of one or MOST ranks a host. */
struct found {
    struct wire_reroute_row routes[16];
    uint64_t route_count;
    double max_link, hop_bytes; /* now */
    double better;              /* by the mapping */
    uint64_t seats[RANKS * MOST], seat_count;
};

static void find_better(struct found *found, const char *limit)
{
    struct peer p;
    most_ranks = limit;
    pid_t pid = run_job("torus:8");
    most_ranks = "65536";
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "reroute", NULL, "top=16 first=load");
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_ROUTES);
    const struct wire_routes *r = &p.message.routes;
    assert_in_range(r->routes_count, 1, 16);
    found->route_count = r->routes_count;
    memcpy(found->routes, r->routes, r->routes_count * sizeof(*r->routes));
    found->max_link = r->gains[0].before;
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_ask(&p, 2, "remap", NULL, "time=0.2 seed=7");
    const struct wire_mapping *m = await_mapping(&p);
    found->hop_bytes = m->gains[0].before;
    found->better = m->gains[0].after;
    found->seat_count = m->seats_count;
    assert_int_equal(m->seats_count, RANKS * per_host);
    for (uint64_t i = 0; i < m->seats_count; i++) {
        assert_int_equal(m->seats[i].rank, i);
        found->seats[i] = m->seats[i].vertex;
    }
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_ask(&p, 3, "remap", NULL, "from=0 to=1");
    while (peer_receive(&p)->type == WIRE_TYPE_MAPPING)
        ;
    assert_int_equal(p.message.reply.code, -HOLTER_EEMPTY); /* there are no bursts of messages */
    assert_int_equal(strstr(p.message.reply.text, "not of a span") != NULL, limit[0] == '4');
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

/* With groups of ranks of two hosts each. */
static void find_by_ranks_and_groups(struct found *ranks, struct found *groups)
{
    find_better(ranks, "65536");
    find_better(groups, "4");
    assert_int_equal(groups->route_count, ranks->route_count);
    assert_memory_equal(groups->routes, ranks->routes, ranks->route_count * sizeof(*ranks->routes));
    assert_memory_equal(&groups->max_link, &ranks->max_link, sizeof(ranks->max_link));
    assert_memory_equal(&groups->hop_bytes, &ranks->hop_bytes, sizeof(ranks->hop_bytes));
    assert_true(groups->better < groups->hop_bytes);
}

static void by_groups_of_ranks_hosts_get_the_mapping_of_single_ranks_on_them(void **state)
{
    (void)state;
    static struct found ranks, groups;
    find_by_ranks_and_groups(&ranks, &groups);
    assert_memory_equal(&groups.better, &ranks.better, sizeof(ranks.better));
    assert_memory_equal(groups.seats, ranks.seats, RANKS * sizeof(*ranks.seats));
}

static void by_groups_of_ranks_routes_are_those_by_ranks_and_hosts_move_as_a_whole(void **state)
{
    (void)state;
    static struct found ranks, groups;
    per_host = MOST;
    find_by_ranks_and_groups(&ranks, &groups);
    per_host = 1;
    for (unsigned i = 0; i < RANKS * MOST; i++)
        assert_int_equal(groups.seats[i], groups.seats[i / MOST * MOST]);
}

static void by_groups_of_ranks_selected_ranks_of_one_host_need_not_be_neighbours(void **state)
{
    (void)state;
    struct peer p;
    per_host = 2;
    round_robin = 1;
    most_ranks = "4";
    pid_t pid = run_job("torus:8");
    most_ranks = "65536";
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "remap", NULL, "time=0.2 ranks=0-2,8-10");
    const struct wire_mapping *m = await_mapping(&p);
    assert_int_equal(m->seats_count, RANKS * 2);
    for (unsigned r = 0; r < RANKS * 2; r++)
        assert_true(m->seats[r].vertex == r % RANKS || r % RANKS < 3);
    assert_int_equal(peer_reply(&p)->code, 0);
    per_host = 1;
    round_robin = 0;
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void another_ends_the_one_before(void **state)
{
    (void)state;
    struct peer p;
    per_host = MOST;
    pid_t pid = run_job("torus:8,8");
    per_host = 1;
    peer_come(&bed, &p, "viewer", 0);
    for (unsigned i = 1; i < 7; i++) { /* more than may be under way */
        peer_ask(&p, i, "remap", NULL, "time=600 objective=max-link");
        if (i > 1) {
            assert_int_equal(peer_reply(&p)->id, i - 1);
            assert_int_equal(p.message.reply.code, -ECANCELED);
        }
        assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_MAPPING);
        assert_true(p.message.mapping.progress < 1);
        assert_int_equal(p.message.mapping.gains_count, 1); /* of the best so far */
        assert_string_equal(p.message.mapping.gains[0].name, "max-link");
    }
    peer_ask(&p, 7, "remap", NULL, "objective=wrong"); /* is none, and ends none */
    assert_int_equal(peer_reply(&p)->id, 7);
    peer_ask(&p, 8, "remap", NULL, "time=0.1");
    assert_int_equal(peer_reply(&p)->id, 6);
    await_mapping(&p);
    assert_int_equal(peer_reply(&p)->id, 8);
    assert_int_equal(p.message.reply.code, 0);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void more_than_four_searches_are_refused_until_one_ends(void **state)
{
    (void)state;
    struct peer p[5];
    struct wire_bye bye = {0};
    per_host = MOST;
    pid_t pid = run_job("torus:8,8");
    per_host = 1;
    for (unsigned i = 0; i < 5; i++)
        peer_come(&bed, &p[i], "viewer", 0);
    for (unsigned i = 0; i < 4; i++) {
        peer_ask(&p[i], 1, "remap", NULL, "time=600 objective=max-link");
        assert_int_equal(peer_receive(&p[i])->type, WIRE_TYPE_MAPPING);
    }
    peer_ask(&p[4], 2, "remap", NULL, "");
    assert_int_equal(peer_reply(&p[4])->code, -HOLTER_EFULL);
    assert_non_null(strstr(p[4].message.reply.text, "ask again"));
    peer_send(&p[0], WIRE_TYPE_BYE, &bye);
    do {
        peer_ask(&p[4], 3, "reroute", NULL, "");
    } while (peer_reply(&p[4])->code == -HOLTER_EFULL);
    assert_int_equal(p[4].message.reply.code, 0);
    for (unsigned i = 0; i < 5; i++)
        peer_hang_up(&p[i]);
    daemon_bed_stop(pid); /* ends what is under way */
}

/* ---- routes ---------------------------------------------------------------------------------- */

static void better_routes_come_with_their_vertices(void **state)
{
    (void)state;
    struct peer p;
    pid_t pid = run_job("mesh:4,2");
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 5, "reroute", NULL, "top=50 first=load");
    const struct wire_routes *m = &peer_receive(&p)->routes;
    assert_int_equal(p.message.type, WIRE_TYPE_ROUTES);
    assert_int_equal(m->routes_count, RANKS);
    assert_string_equal(m->gains[0].name, "max-link");
    assert_true(m->gains[0].after <= m->gains[0].before);
    uint64_t better = 0, hops = 0;
    for (uint64_t i = 0; i < m->routes_count; i++) {
        const struct wire_reroute_row *r = &m->routes[i];
        assert_int_equal(r->bytes, 10 * BYTES);
        assert_int_equal(r->destination, (r->source + 3) % RANKS);
        assert_true(r->heaviest_after <= r->heaviest && r->length_after <= r->length);
        better += r->heaviest_after < r->heaviest;
    }
    for (uint64_t i = 0; i < m->hops_count; i++)
        hops += m->hops[i].vertex == m->hops[i].destination;
    assert_int_equal(hops, better);
    assert_int_equal(peer_reply(&p)->code, 0);
    peer_ask(&p, 6, "reroute", NULL, "routes=0-3,5-0,0-3 first=length");
    peer_receive(&p);
    assert_int_equal(m->routes_count, 2);
    assert_int_equal(m->routes[0].source, 0);
    assert_int_equal(m->routes[1].source, 5);
    peer_reply(&p);
    peer_ask(&p, 7, "reroute", NULL, "routes=0-8");
    assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
    assert_non_null(strstr(p.message.reply.text, "0-8"));
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

/* Ranks 0 and 3 have changed places: rank 0 sends its messages from vertex 3 to vertex 0. */
static void routes_are_suggested_for_the_mapping_that_is_asked_about(void **state)
{
    (void)state;
    struct peer p;
    const struct wire_seat_row seats[] = {{0, 3}, {3, 0}}, wrong[] = {{0, 8}};
    const struct wire_route_row routes[] = {{3, 0}};
    struct wire_request request = {
        .id = 5, .op = "reroute", .argument = "first=load", .routes = routes, .routes_count = 1};
    pid_t pid = run_job("mesh:4,2");
    peer_come(&bed, &p, "viewer", 0);
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    const struct wire_routes *m = &peer_receive(&p)->routes;
    assert_int_equal(m->routes_count, 1);
    assert_int_equal(m->routes[0].bytes, 0); /* nobody sends from 3 to 0 as the job is mapped */
    peer_reply(&p);
    request.seats = seats;
    request.seats_count = 2;
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    peer_receive(&p);
    assert_int_equal(m->routes_count, 1);
    assert_int_equal(m->routes[0].source, 3);
    assert_int_equal(m->routes[0].bytes, 10 * BYTES);
    peer_reply(&p);
    request.seats = wrong;
    request.seats_count = 1;
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

/* On mesh:4,2 vertex 2x + y stands at (x, y). The route from 0 to 3 is (0,0), (1,0), (1,1) or
 * (0,0), (0,1), (1,1): whichever is in force carries the bytes. */
static void routes_in_force_count_in_what_is_suggested(void **state)
{
    (void)state;
    struct peer p;
    const struct wire_hop_row around[2][2] = {{{0, 3, 1}, {0, 3, 3}}, {{0, 3, 2}, {0, 3, 3}}},
                              broken[][1] = {{{0, 3, 3}}, {{0, 3, 1}}, {{0, 99, 1}}};
    const struct wire_route_row routes[] = {{0, 3}};
    struct wire_request request = {.id = 5,
                                   .op = "reroute",
                                   .argument = "first=load delta=2",
                                   .routes = routes,
                                   .routes_count = 1,
                                   .hops_count = 2};
    double most[2];
    pid_t pid = run_job("mesh:4,2");
    peer_come(&bed, &p, "viewer", 0);
    const struct wire_routes *m = &p.message.routes;
    for (int i = 0; i < 2; i++) {
        request.hops = around[i];
        peer_send(&p, WIRE_TYPE_REQUEST, &request);
        peer_receive(&p);
        assert_int_equal(p.message.type, WIRE_TYPE_ROUTES);
        assert_int_equal(m->routes_count, 1);
        assert_int_equal(m->routes[0].length, 2);
        most[i] = (double)m->routes[0].heaviest;
        peer_reply(&p);
    }
    assert_true(most[0] != most[1]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        request.hops = broken[i];
        request.hops_count = 1;
        peer_send(&p, WIRE_TYPE_REQUEST, &request);
        assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
    }
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

/* The route in force from 0 to 3 crosses link 2, which leads from 0 to 1, as that from 6 to 1 does;
 * that of the network would cross link 0, which leads from 0 to 2. */
static void routes_across_a_link_are_those_in_force(void **state)
{
    (void)state;
    struct peer p;
    const struct wire_hop_row around[] = {{0, 3, 1}, {0, 3, 3}};
    struct wire_request request = {
        .id = 5, .op = "reroute", .argument = "link=2", .hops = around, .hops_count = 2};
    pid_t pid = run_job("mesh:4,2");
    peer_come(&bed, &p, "viewer", 0);
    const struct wire_routes *m = &p.message.routes;
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_ROUTES);
    assert_int_equal(m->routes_count, 2);
    assert_int_equal(m->routes[0].source, 0);
    assert_int_equal(m->routes[0].heaviest, 20 * BYTES);
    assert_int_equal(m->routes[1].source, 6);
    peer_reply(&p);
    request.argument = "link=0";
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_ROUTES);
    assert_int_equal(m->routes_count, 0);
    peer_reply(&p);
    request.argument = "top=1"; /* on the most loaded link */
    peer_send(&p, WIRE_TYPE_REQUEST, &request);
    assert_int_equal(peer_receive(&p)->type, WIRE_TYPE_ROUTES);
    assert_int_equal(m->routes_count, 1);
    assert_int_equal(m->routes[0].source, 0);
    assert_int_equal(m->routes[0].heaviest, 20 * BYTES);
    peer_reply(&p);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

static void wrong_words_are_named(void **state)
{
    (void)state;
    static const char *const remap[] = {
        "objective=x", "time=0",        "time=601", "time=1s", "seed=-1", "ranks=",     "ranks=3-1",
        "ranks=1,",    "ranks=1048576", "from=x",   "top=3",   "banana",  "messages=2", "time=nan"};
    static const char *const reroute[] = {"routes=", "routes=1",   "routes=1-2,", "link=-1",
                                          "top=0",   "top=131073", "first=x",     "delta=65",
                                          "seed=1",  "routes=a-b"};
    struct peer p;
    pid_t pid = start("torus:8");
    peer_come(&bed, &p, "viewer", 0);
    peer_ask(&p, 1, "remap", NULL, "");
    assert_int_equal(peer_reply(&p)->code, -HOLTER_ENOJOB);
    for (size_t i = 0; i < sizeof(remap) / sizeof(*remap); i++) {
        peer_ask(&p, 2, "remap", NULL, remap[i]);
        assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
        assert_non_null(strstr(p.message.reply.text, remap[i]));
    }
    for (size_t i = 0; i < sizeof(reroute) / sizeof(*reroute); i++) {
        peer_ask(&p, 2, "reroute", NULL, reroute[i]);
        assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
        assert_non_null(strstr(p.message.reply.text, reroute[i]));
    }
    peer_ask(&p, 3, "remap", NULL, "from=7 to=3");
    assert_int_equal(peer_reply(&p)->code, -HOLTER_EUSAGE);
    peer_hang_up(&p);
    daemon_bed_stop(pid);
}

#define WITH_DIRECTORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    bed.holterd = argv[1];
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(a_mapping_that_is_better_comes_with_its_gain),
        WITH_DIRECTORY(in_the_grid_of_processes_ranks_of_a_host_are_on_one_node),
        WITH_DIRECTORY(ranks_that_are_not_asked_for_stay),
        WITH_DIRECTORY(what_is_asked_meanwhile_is_answered_at_once),
        WITH_DIRECTORY(a_request_behind_a_picture_keeps_its_rows),
        WITH_DIRECTORY(by_groups_of_ranks_hosts_get_the_mapping_of_single_ranks_on_them),
        WITH_DIRECTORY(by_groups_of_ranks_routes_are_those_by_ranks_and_hosts_move_as_a_whole),
        WITH_DIRECTORY(by_groups_of_ranks_selected_ranks_of_one_host_need_not_be_neighbours),
        WITH_DIRECTORY(another_ends_the_one_before),
        WITH_DIRECTORY(more_than_four_searches_are_refused_until_one_ends),
        WITH_DIRECTORY(better_routes_come_with_their_vertices),
        WITH_DIRECTORY(routes_are_suggested_for_the_mapping_that_is_asked_about),
        WITH_DIRECTORY(routes_in_force_count_in_what_is_suggested),
        WITH_DIRECTORY(routes_across_a_link_are_those_in_force),
        WITH_DIRECTORY(wrong_words_are_named),
    };
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
