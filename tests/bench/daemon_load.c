/* How much a daemon bears: simulated agents that speak the real wire, each on a connection of its
 * own, report windows of a halo exchange to a holterd that is pinned to one core.
 *
 *   daemon_load HOLTERD [--agents N] [--ranks N] [--windows N] [--window-ms N] [--spread-ms N]
 *               [--order ORDER] [--record DIR] [--viewer] [--workers N] [--burst-rows N] [--no-bursts]
 *
 * The work: ranks form a periodic 3-d box; each exchanges messages with its 26 neighbours in sizes
 * of faces, edges and corners, so that a window message of 8 ranks has 8 rank rows, about 190 pair
 * rows (a tenth of the pairs is silent in any window, another tenth each time), and 80 call rows;
 * besides, a row of transfer times for each pair within the node, a histogram of them, and both
 * halves of as many messages between nodes as the daemon asks for (32 of a node).
 * Ten times a window all ranks exchange and then call MPI_Allreduce: bursts of these are reported as
 * an agent would, in as many rows as the daemon's criteria ask for, and in --burst-rows (by default
 * an agent's guess) until they came; unless --no-bursts is given.
 * ORDER is how an agent lists its pairs: "same" in each window, "turned" (default: another rank and
 * another partner first in each window), or "shuffled". Agents report within --spread-ms after the
 * end of a window, by default half a window; the daemon's grace is 250 ms more, so that each window
 * is published when the last agent has reported.
 *
 * It checks that everything arrived: messages, sums of the published totals, acknowledgements; and
 * prints rates, the daemon's share of its core (all threads), its memory, how long after a window's
 * end the window was published, and each budget with its figure. The first window is told apart: in
 * it all tables are made. */
#include "daemon/record.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/message_key.h"
#include "holter/size_class.h"
#include "holter/time_class.h"
#include "holter/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define PARTNERS 26u
#define CALLS 10u
#define BUCKETS 40u               /* classes of transfer times in the histogram of a node */
#define HALVES_PICKED 12u         /* one of so many pairs between nodes has a message picked */
#define EXCHANGES 10u             /* of a window, at most the fewest messages of a pair */
#define BURST_ROWS 4096u          /* what an agent sends at most, unless it is told otherwise */
#define JOB_BURST_ROWS (1u << 19) /* what all agents together send, until they are told */
#define LEAST_BURST_ROWS 64u
#define ALLREDUCE 112u /* see agent/probe/calls.def */
#define JOB "load.0"
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

__extension__ typedef unsigned __int128 wide;

struct settings {
    const char *holterd;
    unsigned agents, ranks, windows, workers, burst_rows; /* 0: no bursts */
    uint64_t window_ns, spread_ns;
    const char *order;
    const char *record;
    int viewer;
    char endpoint[256], stream[264];
    unsigned box[3]; /* ranks in each dimension */
};

struct agent {
    void *socket;
    uint64_t instance, seq, acked, burst_rows;
    struct wire_buffer next; /* the message to send when it is due */
};

/* What a worker tells when it is done. */
struct tally {
    uint64_t messages, bytes, sent, unacked, late_sends;
};

static void die(const char *what)
{
    fprintf(stderr, "daemon_load: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* xorshift64* (Marsaglia; Vigna, "An experimental exploration of Marsaglia's xorshift generators").
 */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* ---- the work ------------------------------------------------------------ */

static void make_box(struct settings *s)
{
    unsigned left = s->agents * s->ranks;
    s->box[0] = s->box[1] = s->box[2] = 1;
    for (unsigned d = 2; left > 1; d++) {
        for (; left % d == 0; left /= d) {
            unsigned *least = &s->box[0];
            for (int i = 1; i < 3; i++)
                least = s->box[i] < *least ? &s->box[i] : least;
            *least *= d;
        }
    }
}

/* The i-th neighbour of a rank, and the size of its messages: faces, edges, corners of a block of
 * 64^3 doubles. */
static uint64_t neighbour(const struct settings *s, unsigned rank, unsigned i, uint64_t *bytes)
{
    static const uint64_t sizes[4] = {0, 64 * 64 * 8, 64 * 8, 8};
    unsigned cell = i < 13 ? i : i + 1,
             at[3] = {rank % s->box[0], rank / s->box[0] % s->box[1], rank / s->box[0] / s->box[1]};
    unsigned moved = 0;
    for (unsigned d = 0; d < 3; d++, cell /= 3) {
        at[d] = (at[d] + s->box[d] + cell % 3 - 1) % s->box[d];
        moved += cell % 3 != 1;
    }
    *bytes = sizes[moved];
    return at[0] + (uint64_t)s->box[0] * (at[1] + (uint64_t)s->box[1] * at[2]);
}

struct rows {
    struct wire_rank_row *ranks;
    struct wire_pair_row *pairs;
    struct wire_call_row *calls;
    struct wire_transfer_row *transfers;
    struct wire_half_row *halves;
    struct wire_latency_row latencies[BUCKETS];
    struct wire_burst_row bursts[2 * EXCHANGES];
    struct wire_burst_pair_row
        *burst_pairs; /* those with the most bytes first while a burst is made */
    uint64_t pair_count, transfer_count, half_count, burst_count, burst_pair_count;
};

static void make_pairs(const struct settings *s, unsigned agent, uint64_t window, struct rows *rows)
{
    uint64_t random = (agent + 1) * UINT64_C(0x9e3779b97f4a7c15) + window;
    int turned = strcmp(s->order, "same") != 0;
    rows->pair_count = 0;
    for (unsigned r = 0; r < s->ranks; r++) {
        unsigned local = turned ? (r + (unsigned)window) % s->ranks : r;
        unsigned rank = agent * s->ranks + local;
        for (unsigned p = 0; p < PARTNERS; p++) {
            unsigned i = turned ? (p + (unsigned)window * 7) % PARTNERS : p;
            uint64_t bytes, messages = 10 + random_next(&random) % 90;
            uint64_t destination = neighbour(s, rank, i, &bytes);
            if (messages % 10 == 0)
                continue;
            rows->pairs[rows->pair_count++] = (struct wire_pair_row){
                .source = rank,
                .destination = (int64_t)destination,
                .size_class = bytes == 8     ? 8
                              : bytes == 512 ? 112
                                             : 208,
                .messages = messages,
                .bytes = messages * bytes,
            };
        }
    }
    for (uint64_t i = rows->pair_count; strcmp(s->order, "shuffled") == 0 && i > 1; i--) {
        uint64_t j = random_next(&random) % i;
        struct wire_pair_row swap = rows->pairs[i - 1];
        rows->pairs[i - 1] = rows->pairs[j];
        rows->pairs[j] = swap;
    }
}

/* Both sides pick the same pairs: by a hash of source and destination. */
static void add_half(const struct settings *s, uint64_t from, uint64_t to, uint64_t window,
                     uint64_t bytes, int receive, struct rows *rows)
{
    uint64_t random = (from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15) + window;
    uint64_t time = random_next(&random), transfer = 20000 + time % 5000;
    if ((time >> 32) % HALVES_PICKED != 0)
        return;
    int64_t sent = (int64_t)(time % (s->window_ns / 2));
    rows->halves[rows->half_count++] = (struct wire_half_row){
        .key = message_key(1, (uint32_t)from, (uint32_t)to, 0, window),
        .receive = (uint64_t)receive,
        .source = from,
        .destination = to,
        .bytes = bytes,
        .begin_ns = receive ? sent + 1000 : sent,
        .length_ns = receive ? transfer - 1000 : 800,
        .together = 1,
        .local_ns = sent + 1000,
    };
}

/* As agents tell them: by ranks and times. */
static int by_time(const void *left, const void *right)
{
    const struct wire_half_row *a = left, *b = right;
    uint64_t first = a->receive ? a->destination : a->source;
    uint64_t second = b->receive ? b->destination : b->source;
    if (first != second)
        return first < second ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void make_latency(const struct settings *s, unsigned agent, uint64_t window,
                         struct rows *rows)
{
    rows->transfer_count = rows->half_count = 0;
    for (unsigned i = 0; i < s->ranks * PARTNERS; i++) {
        uint64_t bytes, rank = (uint64_t)agent * s->ranks + i / PARTNERS;
        uint64_t partner = neighbour(s, (unsigned)rank, i % PARTNERS, &bytes);
        if (partner / s->ranks == agent) {
            rows->transfers[rows->transfer_count++] =
                (struct wire_transfer_row){.source = rank,
                                           .destination = partner,
                                           .size_class = size_class_of(bytes),
                                           .messages = 50,
                                           .transfer_ns = 50 * 1500,
                                           .network_ns = 50 * 1200,
                                           .late_receiver_ns = 50 * 300,
                                           .log2_sum = 50 * time_log2(1500)};
            continue;
        }
        add_half(s, rank, partner, window, bytes, 0, rows);
        add_half(s, partner, rank, window, bytes, 1, rows);
    }
    qsort(rows->halves, rows->half_count, sizeof(*rows->halves), by_time);
    for (unsigned b = 0; b < BUCKETS; b++)
        rows->latencies[b] =
            (struct wire_latency_row){0, size_class_of(512), time_class_of(1500) - 20 + b, 10};
}

static uint64_t make_ranks(const struct settings *s, unsigned agent, uint64_t window,
                           struct rows *rows)
{
    uint64_t sent = 0;
    for (unsigned r = 0; r < s->ranks; r++) {
        uint64_t rank = agent * s->ranks + r, messages = 0, bytes = 0;
        for (uint64_t i = 0; i < rows->pair_count; i++) {
            if (rows->pairs[i].source != rank)
                continue;
            messages += rows->pairs[i].messages;
            bytes += rows->pairs[i].bytes;
        }
        sent += messages;
        rows->ranks[r] = (struct wire_rank_row){
            .rank = rank,
            .events = 3 * messages,
            .calls = 3 * messages,
            .polls = window % 1000,
            .sent = messages,
            .sent_bytes = bytes,
            .received = messages,
            .received_bytes = bytes,
            .send_ns = 300 * messages,
            .recv_ns = 200 * messages,
            .wait_ns = 12345678 + rank,
            .collective_ns = 23456789 + window,
            .other_ns = 1234,
            .threads = 1,
            .in_call = 40,
            .in_call_ns = 1234567,
            .in_call_comm = 1,
            .in_call_peer = -1,
        };
        for (unsigned c = 0; c < CALLS; c++) {
            rows->calls[r * CALLS + c] = (struct wire_call_row){
                .rank = rank,
                .call = 1 + 7 * c,
                .calls = messages,
                .bytes = bytes,
                .bytes_in = bytes,
                .time_ns = 300 * messages,
                .longest_ns = 4567,
            };
        }
    }
    return sent;
}

/* ---- bursts -------------------------------------------------------------- */

/* How many bursts of so many rows fit: an agent merges until they do. */
static unsigned fitting(uint64_t rows, uint64_t most)
{
    unsigned bursts = EXCHANGES;
    while (bursts > 1 && bursts * (rows + 1) > most)
        bursts = bursts * 3 / 4;
    return bursts;
}

static int by_bytes(const void *left, const void *right)
{
    const struct wire_burst_pair_row *a = left, *b = right;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* End a burst, whose rows were appended. Those beyond `keep` are folded.
 * @param first, end  of its exchanges */
static void end_burst(const struct settings *s, struct rows *rows, struct wire_burst_row burst,
                      unsigned agent, uint64_t window, unsigned first, unsigned end, uint64_t keep)
{
    struct wire_burst_pair_row *pairs = rows->burst_pairs + rows->burst_pair_count;
    uint64_t apart = s->window_ns / EXCHANGES, offset = agent * UINT64_C(7919) % (apart / 10);
    uint64_t begin = window * s->window_ns + apart / 4 + offset;
    if (burst.pairs > keep)
        qsort(pairs, burst.pairs, sizeof(*pairs), by_bytes);
    for (uint64_t i = 0; i < burst.pairs; i++) {
        burst.messages += pairs[i].messages;
        burst.bytes += pairs[i].bytes;
        burst.other_messages += i < keep ? 0 : pairs[i].messages;
        burst.other_bytes += i < keep ? 0 : pairs[i].bytes;
        burst.other_pairs += i >= keep;
    }
    burst.pairs -= burst.other_pairs;
    burst.first_ns = begin + first * apart + (burst.collective ? apart / 4 : 0);
    burst.last_ns = begin + (end - 1) * apart + apart / 8 + (burst.collective ? apart / 4 : 0);
    wide ends = (wide)burst.first_ns + burst.last_ns, sum = (burst.messages * ends + 1) / 2;
    burst.time_sum_high = (uint64_t)(sum >> 64);
    burst.time_sum_low = (uint64_t)sum;
    rows->bursts[rows->burst_count++] = burst;
    rows->burst_pair_count += burst.pairs;
}

static struct wire_burst_pair_row *next_row(struct rows *rows, struct wire_burst_row *burst)
{
    return &rows->burst_pairs[rows->burst_pair_count + burst->pairs++];
}

/* A run of exchanges; each sends a tenth of the window's messages. */
static struct wire_burst_row put_messages(struct rows *rows, unsigned first, unsigned end)
{
    struct wire_burst_row burst = {0};
    for (uint64_t i = 0; i < rows->pair_count; i++) {
        const struct wire_pair_row *pair = &rows->pairs[i];
        uint64_t messages = pair->messages * end / EXCHANGES - pair->messages * first / EXCHANGES;
        *next_row(rows, &burst) = (struct wire_burst_pair_row){
            .source = pair->source,
            .destination = (uint64_t)pair->destination,
            .size_class = pair->size_class,
            .messages = messages,
            .bytes = messages * (pair->bytes / pair->messages),
        };
    }
    return burst;
}

static struct wire_burst_row put_calls(const struct settings *s, struct rows *rows, unsigned agent,
                                       unsigned first, unsigned end)
{
    struct wire_burst_row burst = {.collective = 1};
    for (unsigned r = 0; r < s->ranks; r++)
        *next_row(rows, &burst) = (struct wire_burst_pair_row){
            .source = (uint64_t)agent * s->ranks + r,
            .size_class = 8,
            .messages = end - first,
            .bytes = 8 * (end - first),
        };
    return burst;
}

/* Calls take a quarter of the rows at most. */
static void make_bursts(const struct settings *s, unsigned agent, uint64_t window, uint64_t most,
                        struct rows *rows)
{
    unsigned calls = fitting(s->ranks, most / 4);
    uint64_t keep = most / 4 - 1, used = calls * (1 + (keep < s->ranks ? keep : s->ranks));
    rows->burst_count = rows->burst_pair_count = 0;
    for (unsigned i = 0; i < calls; i++) {
        unsigned first = i * EXCHANGES / calls, end = (i + 1) * EXCHANGES / calls;
        struct wire_burst_row burst = put_calls(s, rows, agent, first, end);
        end_burst(s, rows, burst, agent, window, first, end, keep);
    }
    unsigned bursts = fitting(rows->pair_count, most - used);
    for (unsigned i = 0; i < bursts; i++) {
        unsigned first = i * EXCHANGES / bursts, end = (i + 1) * EXCHANGES / bursts;
        struct wire_burst_row burst = put_messages(rows, first, end);
        end_burst(s, rows, burst, agent, window, first, end, most - used - 1);
    }
}

/* ---- agents -------------------------------------------------------------- */

static void encode(struct wire_buffer *buffer, enum wire_type type, const void *message)
{
    int code = wire_encode(buffer, type, message);
    if (code != 0) {
        fprintf(stderr, "daemon_load: %s: %s\n", wire_type_name(type), holter_strerror(code));
        exit(EXIT_FAILURE);
    }
}

static void send_message(struct wire_buffer *buffer, struct agent *agent, enum wire_type type,
                         const void *message)
{
    encode(buffer, type, message);
    if (zmq_send(agent->socket, buffer->bytes, buffer->length, 0) < 0)
        die("send");
}

/* Read what has come. @return the last welcome's daemon time, 0 when there was none */
static uint64_t read_answers(struct agent *agent, struct wire_arena *arena, int wait)
{
    zmq_msg_t part;
    uint64_t daemon_ns = 0;
    zmq_msg_init(&part);
    while (zmq_msg_recv(&part, agent->socket, wait ? 0 : ZMQ_DONTWAIT) >= 0) {
        struct wire_message message;
        wait = 0;
        if (wire_decode(&message, arena, zmq_msg_data(&part), zmq_msg_size(&part), NULL) != 0)
            continue;
        if (message.type == WIRE_TYPE_WELCOME)
            daemon_ns = message.welcome.daemon_ns;
        else if (message.type == WIRE_TYPE_ACK && message.ack.seq > agent->acked)
            agent->acked = message.ack.seq;
        else if (message.type == WIRE_TYPE_CRITERIA)
            agent->burst_rows =
                message.criteria.burst_rows == 0 ? BURST_ROWS : message.criteria.burst_rows;
        else if (message.type == WIRE_TYPE_REFUSED)
            fprintf(stderr, "daemon_load: refused: %s\n", message.refused.text);
    }
    zmq_msg_close(&part);
    return daemon_ns;
}

static uint64_t dial(const struct settings *s, void *context, struct agent *agent, unsigned number,
                     struct wire_buffer *buffer, struct wire_arena *arena)
{
    char host[32];
    int linger = 5000;
    snprintf(host, sizeof(host), "node%05u", number);
    *agent = (struct agent){.socket = zmq_socket(context, ZMQ_DEALER),
                            .instance = number + 1,
                            .burst_rows = s->burst_rows};
    if (agent->socket == NULL || zmq_connect(agent->socket, s->endpoint) != 0)
        die("connect");
    zmq_setsockopt(agent->socket, ZMQ_LINGER, &linger, sizeof(linger));
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = "agent",
                               .version = "load",
                               .host = host,
                               .pid = number + 1,
                               .instance = agent->instance};
    send_message(buffer, agent, WIRE_TYPE_HELLO, &hello);
    uint64_t daemon_ns = read_answers(agent, arena, 1), base = daemon_ns - clock_mono_ns();
    struct wire_member_row *members = calloc(s->ranks, sizeof(*members));
    for (unsigned r = 0; r < s->ranks; r++)
        members[r] = (struct wire_member_row){
            .rank = number * s->ranks + r, .pid = 1000 + r, .placement = "0"};
    struct wire_ranks ranks = {.seq = ++agent->seq,
                               .job = JOB,
                               .world = s->agents * s->ranks,
                               .app = "halo",
                               .mpi = "none",
                               .host = host,
                               .members = members,
                               .members_count = s->ranks};
    send_message(buffer, agent, WIRE_TYPE_RANKS, &ranks);
    free(members);
    return base;
}

static void wait_until(uint64_t base, uint64_t daemon_ns)
{
    uint64_t now = clock_mono_ns() + base;
    if (now >= daemon_ns)
        return;
    struct timespec pause = {(time_t)((daemon_ns - now) / S), (long)((daemon_ns - now) % S)};
    nanosleep(&pause, NULL);
}

/* What an agent reports of a window. @return messages its ranks sent */
static uint64_t make_window(const struct settings *s, struct agent *agent, unsigned number,
                            uint64_t window, int final, struct rows *rows)
{
    struct wire_comm_row comms[2] = {
        {.id = 1, .size = s->agents * s->ranks, .name = "MPI_COMM_WORLD"},
        {.id = 2, .size = 1, .name = "MPI_COMM_SELF"}};
    struct wire_region_row region = {"outside"};
    struct wire_collective_row collective = {.call = ALLREDUCE, .comm = 0, .root = -1};
    char host[32];
    snprintf(host, sizeof(host), "node%05u", number);
    make_pairs(s, number, window, rows);
    uint64_t sent = make_ranks(s, number, window, rows);
    make_latency(s, number, window, rows);
    if (s->burst_rows != 0)
        make_bursts(s, number, window, agent->burst_rows, rows);
    struct wire_node_row node = {.host = host,
                                 .agent_pid = number + 1,
                                 .connected = 1,
                                 .ranks = s->ranks,
                                 .events = 1000 * window,
                                 .cpu_ns = 10 * MS,
                                 .rss_bytes = 8 << 20,
                                 .clock_error_ns = 20000,
                                 .call_cost_ns = 30};
    struct wire_window message = {.seq = ++agent->seq,
                                  .job = JOB,
                                  .host = host,
                                  .window = window,
                                  .length_ns = s->window_ns,
                                  .flags = final ? WINDOW_FINAL : 0,
                                  .comms = comms,
                                  .comms_count = 2,
                                  .regions = &region,
                                  .regions_count = 1,
                                  .ranks = rows->ranks,
                                  .ranks_count = s->ranks,
                                  .pairs = rows->pairs,
                                  .pairs_count = rows->pair_count,
                                  .calls = rows->calls,
                                  .calls_count = s->ranks * CALLS,
                                  .transfers = rows->transfers,
                                  .transfers_count = rows->transfer_count,
                                  .latencies = rows->latencies,
                                  .latencies_count = BUCKETS,
                                  .halves = rows->halves,
                                  .halves_count = rows->half_count,
                                  .bursts = rows->bursts,
                                  .bursts_count = rows->burst_count,
                                  .burst_pairs = rows->burst_pairs,
                                  .burst_pairs_count = rows->burst_pair_count,
                                  .collectives = &collective,
                                  .collectives_count = rows->burst_count != 0,
                                  .clock_error_ns = 5000,
                                  .node = &node,
                                  .node_count = 1};
    encode(&agent->next, WIRE_TYPE_WINDOW, &message);
    return sent;
}

/* One window of the agents from first to last. Messages are made before they are due, so that
 * making them does not delay sending them. */
static void report(const struct settings *s, struct agent *agents, unsigned first, unsigned count,
                   uint64_t window, int final, uint64_t base, struct rows *rows,
                   struct tally *tally)
{
    static struct wire_arena arena;
    uint64_t end = (window + 1) * s->window_ns;
    for (unsigned i = 0; i < count; i++)
        tally->sent += make_window(s, &agents[i], first + i, window, final, rows);
    for (unsigned i = 0; i < count; i++) {
        uint64_t due = end + s->spread_ns * i / count;
        wait_until(base, due);
        tally->late_sends += clock_mono_ns() + base > due + 50 * MS;
        if (zmq_send(agents[i].socket, agents[i].next.bytes, agents[i].next.length, 0) < 0)
            die("send");
        tally->messages++;
        tally->bytes += agents[i].next.length;
        read_answers(&agents[i], &arena, 0);
    }
}

static void work(const struct settings *s, unsigned worker, int ready, int go, int done)
{
    unsigned first = s->agents * worker / s->workers, last = s->agents * (worker + 1) / s->workers;
    unsigned count = last - first;
    struct agent *agents = calloc(count, sizeof(*agents));
    size_t pairs = (size_t)s->ranks * PARTNERS;
    struct rows rows = {
        .ranks = calloc(s->ranks, sizeof(struct wire_rank_row)),
        .pairs = calloc(pairs, sizeof(struct wire_pair_row)),
        .calls = calloc((size_t)s->ranks * CALLS, sizeof(struct wire_call_row)),
        .transfers = calloc(pairs, sizeof(struct wire_transfer_row)),
        .halves = calloc(2 * pairs, sizeof(struct wire_half_row)),
        .burst_pairs = calloc(EXCHANGES * (pairs + s->ranks), sizeof(struct wire_burst_pair_row))};
    struct tally tally = {0};
    struct wire_buffer buffer = {0};
    struct wire_arena arena = {0};
    void *context = zmq_ctx_new();
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, (int)count + 16);
    uint64_t base = 0, begin;
    for (unsigned i = 0; i < count; i++)
        base = dial(s, context, &agents[i], first + i, &buffer, &arena);
    if (write(ready, &base, sizeof(base)) != sizeof(base) ||
        read(go, &begin, sizeof(begin)) != sizeof(begin))
        die("pipe");
    for (unsigned w = 0; w < s->windows; w++)
        report(s, agents, first, count, begin + w, w + 1 == s->windows, base, &rows, &tally);
    for (unsigned tries = 0; tries < 2400; tries++) {
        tally.unacked = 0;
        for (unsigned i = 0; i < count; i++) {
            read_answers(&agents[i], &arena, 0);
            tally.unacked += agents[i].acked < agents[i].seq;
        }
        if (tally.unacked == 0)
            break;
        usleep(50000);
    }
    for (unsigned i = 0; i < count; i++) {
        struct wire_bye bye = {agents[i].seq};
        send_message(&buffer, &agents[i], WIRE_TYPE_BYE, &bye);
    }
    if (write(done, &tally, sizeof(tally)) != sizeof(tally))
        die("pipe");
    for (unsigned i = 0; i < count; i++)
        zmq_close(agents[i].socket);
    zmq_ctx_term(context);
    exit(EXIT_SUCCESS);
}

/* ---- the daemon ---------------------------------------------------------- */

static void pin(int core, int but)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < cores; i++) {
        if ((core < 0 || i == core) && (i != but || cores == 1))
            CPU_SET((size_t)i, &set);
    }
    sched_setaffinity(0, sizeof(set), &set);
}

/* A recording that is there would be continued, and have all windows already: nothing would be measured. */
static int has_recording(const char *directory)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/holter-" JOB ".hrec", directory);
    if (access(path, F_OK) != 0)
        return 0;
    fprintf(stderr, "daemon_load: %s is there: have a directory without it\n", path);
    return 1;
}

static pid_t start_daemon(const struct settings *s)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char window[32], grace[32];
    snprintf(window, sizeof(window), "%" PRIu64 "ms", s->window_ns / MS);
    snprintf(grace, sizeof(grace), "%" PRIu64 "ms", s->spread_ns / MS + 250);
    pin(0, -1);
    execl(s->holterd, s->holterd, "--listen", s->endpoint, "--window", window, "--grace", grace,
          "--quit-when-idle", s->record == NULL ? "--no-record" : "--record", s->record, NULL);
    die(s->holterd);
    return -1;
}

static uint64_t cpu_ns_of(pid_t pid)
{
    char path[64];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2)
        user = system = 0;
    fclose(file);
    return (uint64_t)(user + system) * (S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Processor time of the thread that writes recordings; 0: there is none. */
static uint64_t recorder_ns_of(pid_t pid)
{
    char path[64], name[64], at[400];
    uint64_t ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && ns == 0 && (e = readdir(tasks)) != NULL;) {
        snprintf(at, sizeof(at), "%s/%s/comm", path, e->d_name);
        FILE *file = fopen(at, "re");
        int found = file != NULL && fgets(name, sizeof(name), file) != NULL &&
                    strncmp(name, RECORDER_THREAD "\n", sizeof(RECORDER_THREAD)) == 0;
        if (file != NULL)
            fclose(file);
        snprintf(at, sizeof(at), "%s/%s/schedstat", path, e->d_name);
        file = found ? fopen(at, "re") : NULL;
        if (file != NULL && fscanf(file, "%" SCNu64, &ns) != 1)
            ns = 0;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return ns;
}

static uint64_t rss_of(pid_t pid, const char *field)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoul(line + strlen(field) + 1, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return (uint64_t)kib * 1024;
}

/* ---- what is published --------------------------------------------------- */

struct seen {
    uint64_t windows, corrections, sent, agents_missing;
    uint64_t delays[4096];
    int ended;
    uint64_t by_window[4096]; /* messages sent, newest figures */
    uint64_t first;
    uint64_t frames, newest_frame; /* of topic totals: received, and the newest one's number */
};

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void take_frame(struct seen *seen, const struct wire_message *message,
                       const uint8_t numbers[WIRE_FRAME_NUMBERS])
{
    if (message->type == WIRE_TYPE_JOB)
        seen->ended = strcmp(message->job.state, "running") != 0;
    if (message->type != WIRE_TYPE_TOTALS)
        return;
    seen->newest_frame = 0;
    for (int i = 8; i < 16; i++)
        seen->newest_frame = seen->newest_frame << 8 | numbers[i];
    seen->frames++;
    const struct wire_totals *t = &message->totals;
    uint64_t at = t->window - seen->first;
    if (at >= 4096)
        return;
    seen->by_window[at] = t->sent;
    seen->agents_missing = t->agents_missing;
    if (t->late) {
        seen->corrections++;
        return;
    }
    seen->delays[seen->windows++] = t->published_ns - t->start_ns - t->length_ns;
}

static void watch(void *subscriber, struct seen *seen, uint64_t until_ns)
{
    struct wire_arena arena = {0};
    while (clock_mono_ns() < until_ns && !seen->ended) {
        zmq_pollitem_t item = {subscriber, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, 200) <= 0)
            continue;
        zmq_msg_t part;
        zmq_msg_init(&part);
        uint8_t numbers[WIRE_FRAME_NUMBERS] = {0};
        for (int more = 1; more;) {
            if (zmq_msg_recv(&part, subscriber, 0) < 0)
                die("stream");
            more = zmq_msg_more(&part);
            if (more && zmq_msg_size(&part) == sizeof(numbers))
                memcpy(numbers, zmq_msg_data(&part), sizeof(numbers));
        }
        struct wire_message message;
        if (wire_decode(&message, &arena, zmq_msg_data(&part), zmq_msg_size(&part), NULL) == 0)
            take_frame(seen, &message, numbers);
        zmq_msg_close(&part);
    }
    wire_arena_finish(&arena);
}

/* ---- the run ------------------------------------------------------------- */

static double ms_at(const uint64_t *sorted, uint64_t count, unsigned percent)
{
    return count == 0 ? NAN : (double)sorted[count * percent / 100] * 1e-6;
}

static void print_budget(const char *budget, int kept, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_budget(const char *budget, int kept, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("  budget: %-58s", budget);
    vprintf(format, list);
    printf("  %s\n", kept ? "kept" : "MISSED");
    va_end(list);
}

static int run(struct settings *s)
{
    pid_t daemon = start_daemon(s);
    pin(-1, 0);
    int ready[2], go[2], done[2];
    if (pipe(ready) != 0 || pipe(go) != 0 || pipe(done) != 0)
        die("pipe");
    for (unsigned w = 0; w < s->workers; w++) {
        if (fork() == 0)
            work(s, w, ready[1], go[0], done[1]);
    }
    void *context = zmq_ctx_new(), *subscriber = zmq_socket(context, ZMQ_SUB);
    zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, s->viewer ? "" : "totals/",
                   s->viewer ? 0 : strlen("totals/"));
    zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, "job/", strlen("job/"));
    zmq_connect(subscriber, s->stream);
    uint64_t base = 0, idle = clock_mono_ns();
    for (unsigned w = 0; w < s->workers; w++) {
        if (read(ready[0], &base, sizeof(base)) != sizeof(base))
            die("a worker");
    }
    double connected = (double)(clock_mono_ns() - idle) * 1e-9;
    static struct seen seen;
    uint64_t begin = (clock_mono_ns() + base) / s->window_ns + 2, rss0 = rss_of(daemon, "VmRSS");
    seen.first = begin;
    for (unsigned w = 0; w < s->workers; w++) {
        if (write(go[1], &begin, sizeof(begin)) != sizeof(begin))
            die("pipe");
    }
    wait_until(base, begin * s->window_ns + s->window_ns);
    uint64_t cpu = cpu_ns_of(daemon), recorder = recorder_ns_of(daemon), from = clock_mono_ns();
    /* The last window is left out of the measured time: it is the drain. */
    watch(subscriber, &seen, from + (s->windows - 1) * s->window_ns);
    double share = (double)(cpu_ns_of(daemon) - cpu) / (double)(clock_mono_ns() - from);
    double recording =
        (double)(recorder_ns_of(daemon) - recorder) / (double)(cpu_ns_of(daemon) - cpu);
    uint64_t rss = rss_of(daemon, "VmRSS");
    watch(subscriber, &seen, clock_mono_ns() + 100 * S);
    double each = (double)(cpu_ns_of(daemon) - cpu) / ((double)s->agents * s->windows);
    struct tally all = {0};
    for (unsigned w = 0; w < s->workers; w++) {
        struct tally one;
        if (read(done[0], &one, sizeof(one)) != sizeof(one))
            die("a worker");
        all.messages += one.messages;
        all.bytes += one.bytes;
        all.sent += one.sent;
        all.unacked += one.unacked;
        all.late_sends += one.late_sends;
    }
    int status = 0;
    while (waitpid(-1, &status, 0) > 0)
        ;
    zmq_close(subscriber);
    zmq_ctx_term(context);
    for (unsigned w = 0; w < s->windows && w < 4096; w++)
        seen.sent += seen.by_window[w];
    double first_ms = ms_at(seen.delays, seen.windows, 0);
    uint64_t others = seen.windows == 0 ? 0 : seen.windows - 1, *delays = seen.delays + 1;
    qsort(delays, others, sizeof(*delays), compare_numbers);
    double p50 = ms_at(delays, others, 50), p99 = ms_at(delays, others, 99);
    double spread_ms = (double)s->spread_ns * 1e-6;
    double cores = each * s->agents / (double)s->window_ns;
    uint64_t pairs = (uint64_t)s->agents * s->ranks * PARTNERS;
    double pair_bytes = ((double)rss - (double)rss0) / (double)pairs;
    int64_t missing = (int64_t)(all.sent - seen.sent);
    int lost = missing != 0 || all.unacked != 0;
    printf("agents %u  ranks %u  pairs %" PRIu64
           "  order %s  bursts %s  recording %s  viewer of everything %s\n",
           s->agents, s->agents * s->ranks, pairs, s->order, s->burst_rows != 0 ? "on" : "off",
           s->record ? "on" : "off", s->viewer ? "yes" : "no");
    printf("  %.0f window messages/s, %.1f MB/s, %.0f pair rows/s; connected in %.1f s\n",
           (double)s->agents * 1e9 / (double)s->window_ns,
           (double)all.bytes / s->windows * 1e9 / (double)s->window_ns * 1e-6,
           (double)pairs * 0.9 * 1e9 / (double)s->window_ns, connected);
    /* The share is smaller than the budget's figure where the daemon had to wait for its core. */
    printf("  daemon %.1f us for each window message, all threads; %.0f %% of its core meanwhile\n",
           each * 1e-3, share * 100);
    printf("  daemon %.1f MiB, of that %.1f MiB for connections\n", (double)rss / 1048576,
           (double)rss0 / 1048576);
    printf(
        "  window end to published: first %.0f ms, then p50 %.0f ms, p99 %.0f ms; the last agent "
        "reports %.0f ms after the end\n",
        first_ms, p50, p99, spread_ms);
    printf("  published %" PRIu64 " windows, %" PRIu64 " corrections; generator sent %" PRIu64
           " of %" PRIu64 " messages more than 50 ms behind its plan\n",
           seen.windows, seen.corrections, all.late_sends, all.messages);
    if (seen.newest_frame != seen.frames)
        printf("  the subscriber missed %" PRIu64 " frames, so sums below are not to be had\n",
               seen.newest_frame - seen.frames);
    print_budget("nothing lost", !lost,
                 "%" PRId64 " of %" PRIu64 " counted messages, %" PRIu64 " agents not acknowledged",
                 missing, all.sent, all.unacked);
    print_budget("one core, all threads", cores <= 1, "%.2f cores", cores);
    if (s->record != NULL)
        print_budget("recording, of the daemon's processor time", recording <= 0.1, "%.1f %%",
                     100 * recording);
    print_budget("published 100 ms after the last report was due, p99", p99 - spread_ms <= 100,
                 "%.0f ms", p99 - spread_ms);
    /* One run cannot tell whether it is linear: no verdict. */
    printf("  budget: %-58s%.0f bytes a pair above the connections'\n",
           "memory linear in pairs: the same with other --agents", pair_bytes);
    return lost ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"agents", 1, NULL, 'a'},     {"ranks", 1, NULL, 'r'},     {"windows", 1, NULL, 'w'},
        {"window-ms", 1, NULL, 'l'},  {"spread-ms", 1, NULL, 's'}, {"order", 1, NULL, 'o'},
        {"record", 1, NULL, 'R'},     {"viewer", 0, NULL, 'v'},    {"workers", 1, NULL, 'n'},
        {"burst-rows", 1, NULL, 'b'}, {"no-bursts", 0, NULL, 'B'}, {NULL, 0, NULL, 0}};
    struct settings s = {.agents = 1000,
                         .ranks = 8,
                         .windows = 10,
                         .workers = 4,
                         .burst_rows = UINT_MAX,
                         .window_ns = S,
                         .spread_ns = UINT64_MAX,
                         .order = "turned"};
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        unsigned number = optarg == NULL ? 0 : (unsigned)strtoul(optarg, NULL, 10);
        switch (option) {
        case 'a':
            s.agents = number;
            break;
        case 'r':
            s.ranks = number;
            break;
        case 'w':
            s.windows = number;
            break;
        case 'l':
            s.window_ns = number * MS;
            break;
        case 's':
            s.spread_ns = number * MS;
            break;
        case 'o':
            s.order = optarg;
            break;
        case 'R':
            s.record = optarg;
            break;
        case 'v':
            s.viewer = 1;
            break;
        case 'n':
            s.workers = number;
            break;
        case 'b':
            s.burst_rows = number;
            break;
        case 'B':
            s.burst_rows = 0;
            break;
        default:
            return 2;
        }
    }
    if (optind + 1 != argc || s.agents == 0 || s.ranks == 0 || s.windows < 2 || s.workers == 0 ||
        s.window_ns == 0 || (s.burst_rows != 0 && s.burst_rows < 64)) {
        fprintf(stderr, "usage: daemon_load [options] HOLTERD, see the head of its source\n");
        return 2;
    }
    if (s.record != NULL && has_recording(s.record))
        return 2;
    s.holterd = argv[optind];
    if (s.burst_rows == UINT_MAX) {
        unsigned rows = JOB_BURST_ROWS / s.agents;
        s.burst_rows = rows < LEAST_BURST_ROWS ? LEAST_BURST_ROWS
                       : rows > BURST_ROWS     ? BURST_ROWS
                                               : rows;
    }
    s.spread_ns = s.spread_ns == UINT64_MAX ? s.window_ns / 2 : s.spread_ns;
    char directory[] = "/tmp/holter-load-XXXXXX";
    if (mkdtemp(directory) == NULL)
        die(directory);
    snprintf(s.endpoint, sizeof(s.endpoint), "ipc://%s/d", directory);
    snprintf(s.stream, sizeof(s.stream), "%s.stream", s.endpoint);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    make_box(&s);
    int code = run(&s);
    rmdir(directory);
    return code;
}
