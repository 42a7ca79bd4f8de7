/* What agents of the load report: rows of a halo exchange in a box of ranks. */
#include "holter/message_key.h"
#include "holter/size_class.h"
#include "holter/time_class.h"
#include "tests/bench/load.h"

#include <stdlib.h>
#include <string.h>

#define CALLS 10u         /* the last of them is the collective */
#define BUCKETS 40u       /* classes of transfer times in the histogram of a node */
#define HALVES_PICKED 12u /* one of so many pairs between nodes has a message picked */
#define ALLREDUCE 112u    /* see agent/probe/calls.def */
#define WAITED_NS 30000u  /* of a receiver, for each message of a lower rank of its node */
#define LATE_NS 2000000u  /* at most, of a rank, for each collective */

__extension__ typedef unsigned __int128 wide;

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

void load_make_box(struct load *s)
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
static uint64_t neighbour(const struct load *s, unsigned rank, unsigned i, uint64_t *bytes)
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

struct load_rows {
    struct wire_rank_row *ranks;
    struct wire_pair_row *pairs;
    struct wire_call_row *calls;
    struct wire_transfer_row *transfers;
    struct wire_half_row *halves;
    struct wire_latency_row latencies[BUCKETS];
    struct wire_burst_row bursts[2 * LOAD_EXCHANGES];
    struct wire_burst_pair_row *burst_pairs; /* those with the most bytes first while one is made */
    struct wire_comm_row comms[2];
    struct wire_region_row region;
    struct wire_collective_row collective;
    uint64_t pair_count, transfer_count, half_count, burst_count, burst_pair_count;
};

static void make_pairs(const struct load *s, unsigned agent, uint64_t window,
                       struct load_rows *rows)
{
    uint64_t random = (agent + 1) * UINT64_C(0x9e3779b97f4a7c15) + window;
    int turned = strcmp(s->order, "same") != 0;
    rows->pair_count = 0;
    for (unsigned r = 0; r < s->ranks; r++) {
        unsigned local = turned ? (r + (unsigned)window) % s->ranks : r;
        unsigned rank = agent * s->ranks + local;
        for (unsigned p = 0; p < LOAD_PARTNERS; p++) {
            unsigned i = turned ? (p + (unsigned)window * 7) % LOAD_PARTNERS : p;
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
static void add_half(const struct load *s, uint64_t from, uint64_t to, uint64_t window,
                     uint64_t bytes, int receive, struct load_rows *rows)
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

/* As agents report them: by ranks and times. */
static int by_time(const void *left, const void *right)
{
    const struct wire_half_row *a = left, *b = right;
    uint64_t first = a->receive ? a->destination : a->source;
    uint64_t second = b->receive ? b->destination : b->source;
    if (first != second)
        return first < second ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void make_latency(const struct load *s, unsigned agent, uint64_t window,
                         struct load_rows *rows)
{
    rows->transfer_count = rows->half_count = 0;
    for (unsigned i = 0; i < s->ranks * LOAD_PARTNERS; i++) {
        uint64_t bytes, rank = (uint64_t)agent * s->ranks + i / LOAD_PARTNERS;
        uint64_t partner = neighbour(s, (unsigned)rank, i % LOAD_PARTNERS, &bytes);
        if (partner / s->ranks == agent) {
            rows->transfers[rows->transfer_count++] =
                (struct wire_transfer_row){.source = rank,
                                           .destination = partner,
                                           .size_class = size_class_of(bytes),
                                           .messages = 50,
                                           .transfer_ns = 50 * 1500,
                                           .network_ns = 50 * 1200,
                                           .late_sender_ns = rank < partner ? 50 * WAITED_NS : 0,
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

static uint64_t make_ranks(const struct load *s, unsigned agent, uint64_t window,
                           struct load_rows *rows)
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
        rows->calls[(r + 1) * CALLS - 1] = (struct wire_call_row){
            .rank = rank,
            .call = ALLREDUCE,
            .calls = LOAD_EXCHANGES,
            .bytes = UINT64_C(8) * LOAD_EXCHANGES,
            .bytes_in = UINT64_C(8) * LOAD_EXCHANGES,
            .time_ns = LOAD_EXCHANGES * (UINT64_C(100000) + rank * UINT64_C(7919) % LATE_NS),
            .longest_ns = LATE_NS,
        };
    }
    return sent;
}

/* ---- bursts -------------------------------------------------------------- */

/* How many bursts of so many rows fit: an agent merges until they do. */
static unsigned fitting(uint64_t rows, uint64_t most)
{
    unsigned bursts = LOAD_EXCHANGES;
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
static void end_burst(const struct load *s, struct load_rows *rows, struct wire_burst_row burst,
                      unsigned agent, uint64_t window, unsigned first, unsigned end, uint64_t keep)
{
    struct wire_burst_pair_row *pairs = rows->burst_pairs + rows->burst_pair_count;
    uint64_t apart = s->window_ns / LOAD_EXCHANGES, offset = agent * UINT64_C(7919) % (apart / 10);
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
    burst.last_ns = burst.messages == 1 ? burst.first_ns
                                        : burst.first_ns + (end - 1 - first) * apart + apart / 8;
    wide ends = (wide)burst.first_ns + burst.last_ns, sum = (burst.messages * ends + 1) / 2;
    burst.time_sum_high = (uint64_t)(sum >> 64);
    burst.time_sum_low = (uint64_t)sum;
    rows->bursts[rows->burst_count++] = burst;
    rows->burst_pair_count += burst.pairs;
}

static struct wire_burst_pair_row *next_row(struct load_rows *rows, struct wire_burst_row *burst)
{
    return &rows->burst_pairs[rows->burst_pair_count + burst->pairs++];
}

/* A run of exchanges; each sends a tenth of the window's messages. */
static struct wire_burst_row put_messages(struct load_rows *rows, unsigned first, unsigned end)
{
    struct wire_burst_row burst = {0};
    for (uint64_t i = 0; i < rows->pair_count; i++) {
        const struct wire_pair_row *pair = &rows->pairs[i];
        uint64_t messages =
            pair->messages * end / LOAD_EXCHANGES - pair->messages * first / LOAD_EXCHANGES;
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

static struct wire_burst_row put_calls(const struct load *s, struct load_rows *rows, unsigned agent,
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
static void make_bursts(const struct load *s, unsigned agent, uint64_t window, uint64_t most,
                        struct load_rows *rows)
{
    unsigned calls = fitting(s->ranks, most / 4);
    uint64_t keep = most / 4 - 1, used = calls * (1 + (keep < s->ranks ? keep : s->ranks));
    rows->burst_count = rows->burst_pair_count = 0;
    for (unsigned i = 0; i < calls; i++) {
        unsigned first = i * LOAD_EXCHANGES / calls, end = (i + 1) * LOAD_EXCHANGES / calls;
        struct wire_burst_row burst = put_calls(s, rows, agent, first, end);
        end_burst(s, rows, burst, agent, window, first, end, keep);
    }
    unsigned bursts = fitting(rows->pair_count, most - used);
    for (unsigned i = 0; i < bursts; i++) {
        unsigned first = i * LOAD_EXCHANGES / bursts, end = (i + 1) * LOAD_EXCHANGES / bursts;
        struct wire_burst_row burst = put_messages(rows, first, end);
        end_burst(s, rows, burst, agent, window, first, end, most - used - 1);
    }
}

/* ---- a window's message ---------------------------------------------------- */

struct load_rows *load_rows_create(const struct load *s)
{
    size_t pairs = (size_t)s->ranks * LOAD_PARTNERS;
    struct load_rows *rows = calloc(1, sizeof(*rows));
    if (rows == NULL)
        load_die("rows");
    rows->ranks = calloc(s->ranks, sizeof(*rows->ranks));
    rows->pairs = calloc(pairs, sizeof(*rows->pairs));
    rows->calls = calloc((size_t)s->ranks * CALLS, sizeof(*rows->calls));
    rows->transfers = calloc(pairs, sizeof(*rows->transfers));
    rows->halves = calloc(2 * pairs, sizeof(*rows->halves));
    rows->burst_pairs = calloc(LOAD_EXCHANGES * (pairs + s->ranks), sizeof(*rows->burst_pairs));
    if (rows->ranks == NULL || rows->pairs == NULL || rows->calls == NULL ||
        rows->transfers == NULL || rows->halves == NULL || rows->burst_pairs == NULL)
        load_die("rows");
    return rows;
}

uint64_t load_rows_make(const struct load *s, unsigned agent, uint64_t window, uint64_t most,
                        struct load_rows *rows, struct wire_window *message)
{
    make_pairs(s, agent, window, rows);
    uint64_t sent = make_ranks(s, agent, window, rows);
    make_latency(s, agent, window, rows);
    if (s->burst_rows != 0)
        make_bursts(s, agent, window, most, rows);
    rows->comms[0] =
        (struct wire_comm_row){.id = 1, .size = s->agents * s->ranks, .name = "MPI_COMM_WORLD"};
    rows->comms[1] = (struct wire_comm_row){.id = 2, .size = 1, .name = "MPI_COMM_SELF"};
    rows->region = (struct wire_region_row){"outside"};
    rows->collective = (struct wire_collective_row){.call = ALLREDUCE, .comm = 0, .root = -1};
    *message = (struct wire_window){.job = LOAD_JOB,
                                    .window = window,
                                    .length_ns = s->window_ns,
                                    .comms = rows->comms,
                                    .comms_count = 2,
                                    .regions = &rows->region,
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
                                    .collectives = &rows->collective,
                                    .collectives_count = rows->burst_count != 0};
    return sent;
}
