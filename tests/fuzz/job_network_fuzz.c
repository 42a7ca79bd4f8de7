/* Anything in place of what agents report of places, messages and interfaces, and of what clients
 * ask to have improved: each input is an argument of "remap" and "reroute", a zero, and what
 * messages are made of. */
#include "daemon/analysis/network/topology_parts.h"
#include "daemon/job/job.h"
#include "daemon/job/network/job_network.h"
#include "daemon/server/network_ask.h"
#include "daemon/topology/shared_network.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_source.h"
#include "tests/proto/wire_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)
#define FIRST 1000u /* window */
#define WORLD 24u
#define STEPS 24u
#define ROWS 6u

/* Mostly below a bound, which only hostile ones leave. */
static uint64_t number(struct source *s, uint64_t below)
{
    static const uint64_t telling[] = {0,         1,          UINT32_MAX,     UINT64_C(1) << 24,
                                       INT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 53};
    uint8_t kind = byte(s);
    if (kind == 255)
        return telling[byte(s) % (sizeof telling / sizeof *telling)];
    return below == 0 ? 0 : (kind | (uint64_t)byte(s) << 8) % below;
}

/* ---- what is published ---------------------------------------------------------------- */

struct told {
    struct topology_parts parts;
    uint64_t vertices, links;
};

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_TOPOLOGY || type == WIRE_TYPE_LINKS;
}

/* A network that is published can be built again. */
static void check_topology(struct told *t, const struct wire_topology *m)
{
    char why[200];
    struct topology *topology;
    FUZZ_HOLDS(topology_parts_add(&t->parts, m) == 0);
    if (m->more || !topology_parts_has(&t->parts)) /* only a fault */
        return;
    FUZZ_HOLDS(topology_create(&topology, &t->parts.spec, why, sizeof(why)) == 0);
    t->vertices = topology_vertices(topology);
    t->links = topology_links(topology);
    for (size_t i = 0; i < t->parts.seat_count; i++)
        FUZZ_HOLDS(t->parts.seats[i].vertex == UINT64_MAX ||
                   t->parts.seats[i].vertex < t->vertices);
    topology_destroy(topology);
}

static void check_links(const struct told *t, const struct wire_links *m)
{
    for (uint64_t i = 0; i < m->links_count; i++) {
        const struct wire_link_row *l = &m->links[i];
        FUZZ_HOLDS(l->link < t->links && l->from < t->vertices && l->to < t->vertices);
        FUZZ_HOLDS(l->state <= LINK_CONGESTED && (i == 0 || l->bytes <= m->links[i - 1].bytes));
        FUZZ_HOLDS(l->state != LINK_IDLE || l->measured != UINT64_MAX);
    }
    for (uint64_t i = 0; i < m->routes_count; i++)
        FUZZ_HOLDS(m->routes[i].source < WORLD && m->routes[i].destination < WORLD);
    FUZZ_HOLDS(m->idle + m->busy + m->hot + m->congested <= t->links);
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    (void)job;
    if (!wanted(NULL, NULL, type))
        return;
    FUZZ_HOLDS(wire_encode(&buffer, type, message) == 0);
    wire_buffer_finish(&buffer);
    if (type == WIRE_TYPE_TOPOLOGY)
        check_topology(user, message);
    else
        check_links(user, message);
}

/* ---- what agents report ----------------------------------------------------------------- */

static const char *const hosts[] = {"n1", "n2", "n10", "", "network", "n1/core0", "n1#2", "(1,0)"};
#define HOSTS (sizeof hosts / sizeof *hosts)

static void say_ranks(struct job *job, struct source *s, uint64_t *seq)
{
    struct wire_member_row members[ROWS];
    struct job_fault fault;
    unsigned node = byte(s) % 6, count = byte(s) % ROWS;
    for (unsigned i = 0; i < count; i++)
        members[i] = (struct wire_member_row){
            .rank = number(s, WORLD), .pid = 1, .core = number(s, 4), .numa = number(s, 3)};
    struct wire_cart_row carts[4];
    struct wire_cart_member_row places[4];
    unsigned cart_count = byte(s) % 5, place_count = byte(s) % 5;
    for (unsigned i = 0; i < cart_count; i++)
        carts[i] = (struct wire_cart_row){.id = number(s, 2),
                                          .made = number(s, 2),
                                          .size = 1 + number(s, 3),
                                          .wraps = byte(s) % 2};
    for (unsigned i = 0; i < place_count; i++)
        places[i] = (struct wire_cart_member_row){
            .cart = number(s, cart_count), .rank = number(s, WORLD), .position = number(s, 2)};
    struct wire_ranks m = {.seq = ++*seq,
                           .job = "job.0",
                           .world = WORLD,
                           .app = "",
                           .mpi = "",
                           .host = hosts[byte(s) % HOSTS],
                           .members = members,
                           .members_count = count,
                           .carts = carts,
                           .carts_count = cart_count,
                           .cart_members = places,
                           .cart_members_count = place_count};
    int code = job_accept_ranks(job, node + 1, &m, FIRST * S, &fault);
    FUZZ_HOLDS(code == 0 || code == -HOLTER_ERANGE || code == -HOLTER_ELIMIT);
}

static void say_window(struct job *job, struct source *s, uint64_t *seq, uint64_t window)
{
    struct wire_pair_row pairs[ROWS];
    struct wire_counter_row counters[ROWS];
    struct wire_transfer_row transfers[ROWS];
    static const char *const names[] = {"eth0", "A+", "", "mlx5_0/1"};
    struct job_fault fault;
    unsigned node = byte(s) % 6, count = byte(s) % ROWS;
    for (unsigned i = 0; i < count; i++) {
        pairs[i] = (struct wire_pair_row){.source = number(s, WORLD),
                                          .destination = (int64_t)number(s, WORLD) - (byte(s) == 7),
                                          .messages = number(s, 100),
                                          .bytes = number(s, 1u << 20)};
        counters[i] = (struct wire_counter_row){.name = names[byte(s) % 4],
                                                .medium = byte(s) % 8,
                                                .unit = byte(s) % 2,
                                                .sent = number(s, 1u << 20),
                                                .received = number(s, 1u << 20),
                                                .speed = number(s, 1u << 16),
                                                .length_ns = number(s, 4 * S)};
        uint64_t messages = number(s, 100);
        transfers[i] = (struct wire_transfer_row){.source = number(s, WORLD),
                                                  .destination = number(s, WORLD),
                                                  .messages = messages,
                                                  .transfer_ns = messages * number(s, 1u << 20),
                                                  .log2_sum = number(s, 64u << 16)};
    }
    struct wire_window w = {.seq = ++*seq,
                            .job = "job.0",
                            .host = hosts[byte(s) % HOSTS],
                            .window = window,
                            .length_ns = S,
                            .pairs = pairs,
                            .pairs_count = count,
                            .counters = counters,
                            .counters_count = count,
                            .transfers = transfers,
                            .transfers_count = byte(s) % 2 ? count : 0};
    int code = job_accept_window(job, node + 1, &w, (window + 1) * S, &fault);
    FUZZ_HOLDS(code == 0 || code == -HOLTER_ERANGE || code == -HOLTER_ELIMIT);
}

static void check_ask(const char *argument)
{
    for (int reroute = 0; reroute < 2; reroute++) {
        char why[200] = "";
        struct network_ask ask;
        const struct wire_request request = {.op = "", .argument = argument};
        int code = network_ask_parse(&ask, reroute, &request, why, sizeof(why));
        FUZZ_HOLDS(code == 0 || (code == -HOLTER_EUSAGE && why[0] != '\0'));
        if (code != 0)
            continue;
        FUZZ_HOLDS(ask.seconds >= 0.1 && ask.seconds <= 600 && ask.from <= ask.to);
        for (uint32_t i = 1; i < ask.rank_count; i++)
            FUZZ_HOLDS(ask.ranks[i] > ask.ranks[i - 1]);
        network_ask_finish(&ask);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const networks[] = {NULL,
                                           "torus:3,2/capacity=1000",
                                           "mesh:4",
                                           "fattree:k=4",
                                           "dragonfly:groups=3,routers=2,nodes=2,global=1",
                                           "torus:x",
                                           "cart"};
    char argument[512] = "";
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    size_t length = zero == NULL ? size : (size_t)(zero - data);
    memcpy(argument, data, length < 511 ? length : 511);
    check_ask(argument);
    if (zero == NULL)
        return 0;
    struct source s = {zero + 1, data + size};
    struct network given;
    struct told told = {.vertices = 0};
    struct job *job;
    network_read(&given, networks[byte(&s) % 7]);
    struct job_options options = {
        .window_ns = S, .grace_ns = S / 4, .lost_ns = 30 * S, .most_pairs = 100, .network = &given};
    struct job_output output = {&told, wanted, publish, NULL};
    FUZZ_HOLDS(job_create(&job, "job.0", &options, &output) == 0);
    uint64_t seq = 0, window = FIRST;
    for (unsigned step = 0; step < STEPS && s.at < s.end; step++) {
        uint8_t what = byte(&s);
        if (what % 3 == 0)
            say_ranks(job, &s, &seq);
        else
            say_window(job, &s, &seq, window);
        window += what % 5 == 0;
        job_advance(job, window * S, window * S);
    }
    job_finish(job, (window + 1) * S);
    job_snapshot(job, WIRE_TYPE_TOPOLOGY, &output);
    job_snapshot(job, WIRE_TYPE_LINKS, &output);
    job_destroy(job);
    topology_parts_finish(&told.parts);
    network_finish(&given);
    return 0;
}

size_t fuzz_seed(unsigned seed, uint8_t *out)
{
    static const char *const arguments[] = {"",
                                            "objective=max-link time=3.5 seed=9 ranks=1,4-6",
                                            "routes=1-2,3-4 delta=2",
                                            "link=7 first=length",
                                            "from=1 to=9 messages=1",
                                            "top=5"};
    uint64_t state = seed + 1;
    if (seed >= 48)
        return SIZE_MAX;
    size_t length = strlen(arguments[seed % 6]);
    memcpy(out, arguments[seed % 6], length + 1);
    for (length++; length < 2000; length++)
        out[length] = (uint8_t)(random_next(&state) % 254);
    out[strlen(arguments[seed % 6]) + 1] = (uint8_t)(seed / 6);
    return length;
}
