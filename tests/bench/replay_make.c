/* Makes the recording of a large job up. */
#include "tests/bench/replay_make.h"

#include "daemon/storage/recording.h"
#include "holter/call.h"
#include "holter/message_key.h"
#include "holter/size_class.h"
#include "holter/time_class.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTNERS 32u /* of a stencil or a line */
#define LINE_BYTES 8192u
#define LINE_WINDOWS 60u /* between redistributions */
#define LINE_LENGTH 2u   /* windows that one takes */
#define MAX_STEPS 256u   /* that begin in a window */
#define SLOW_NODES 4u
#define FIRST_WINDOW UINT64_C(1800000000)
#define MESSAGE_NS 900u /* a message of no bytes within a node */

__extension__ typedef unsigned __int128 wide;

struct table {
    struct wire_rank_row *ranks;
    struct wire_pair_row *pairs;
    struct wire_call_row *calls;
    struct wire_transfer_row *transfers;
    struct wire_latency_row *latencies;
    struct wire_half_row *halves;
    struct wire_burst_row *bursts;
    struct wire_burst_pair_row *burst_pairs;
    size_t pair_count, call_count, transfer_count, latency_count, half_count, burst_count,
        burst_pair_count;
};

struct make {
    const struct replay_make *s;
    unsigned box[3];
    uint64_t window, steps, first_step; /* steps that begin in the window, and their first */
    int line;                           /* the window is of a redistribution */
    struct table t;
    uint32_t *histogram; /* by size (0 to 3) and time class */
    struct wire_buffer buffer;
};

/* ---- numbers ------------------------------------------------------------------------ */

/* A number that belongs to its arguments (SplitMix64's mixing: Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03) +
                 c * UINT64_C(0x8cb92ba72f3d8dd7);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* About 1, mostly within a tenth, seldom several times that. */
static double scatter(uint64_t number)
{
    double sum = (double)(number & 0xffff) + (double)(number >> 16 & 0xffff) +
                 (double)(number >> 32 & 0xffff);
    double x = 0.85 + sum / (3 * 65536.0) * 0.3;
    return (number >> 48) % 400 == 0 ? 3 * x : x;
}

static void place(const struct make *m, unsigned rank, unsigned at[3])
{
    at[0] = rank % m->box[0];
    at[1] = rank / m->box[0] % m->box[1];
    at[2] = rank / m->box[0] / m->box[1];
}

/* Sizes of x, y and z faces, then of edges and corners. */
static unsigned neighbour(const struct make *m, unsigned rank, unsigned i, uint64_t *bytes)
{
    static const uint64_t sizes[5] = {32768, 65536, 131072, 512, 8};
    unsigned cell = i < 13 ? i : i + 1, at[3], moved = 0, dimension = 0;
    place(m, rank, at);
    if (m->s->partners == 6)
        cell = (unsigned[]){12, 14, 10, 16, 4, 22}[i];
    for (unsigned d = 0; d < 3; d++, cell /= 3) {
        at[d] = (at[d] + m->box[d] + cell % 3 - 1) % m->box[d];
        moved += cell % 3 != 1;
        dimension = cell % 3 != 1 ? d : dimension;
    }
    *bytes = moved == 1 ? sizes[dimension] : sizes[moved + 1];
    return at[0] + m->box[0] * (at[1] + m->box[1] * at[2]);
}

static unsigned node_of(const struct make *m, unsigned rank)
{
    return rank / (m->s->ranks / m->s->nodes);
}

static int is_slow(const struct make *m, unsigned node)
{
    uint64_t at = m->window - FIRST_WINDOW, all = m->s->windows;
    return at * 5 >= all * 2 && at * 20 < all * 9 && node < SLOW_NODES;
}

/* Transfer time of a message; between nodes by a network of 10 GB/s. */
static uint64_t transfer_ns(const struct make *m, unsigned from, unsigned to, uint64_t bytes,
                            uint64_t number)
{
    unsigned a = node_of(m, from), b = node_of(m, to);
    double ns = a == b ? MESSAGE_NS + (double)bytes / 8 : 2200 + (double)bytes / 10;
    ns *= a != b && (is_slow(m, a) || is_slow(m, b)) ? 4 : 1;
    return (uint64_t)(ns * scatter(number));
}

/* ---- who sends to whom --------------------------------------------------------------- */

struct exchange {
    unsigned from, to;
    uint64_t bytes, messages; /* of one; in the window */
};

static unsigned partners_of(const struct make *m)
{
    return m->line ? m->box[0] - 1 : m->s->partners;
}

/* What a rank sends, by destination, as agents list it. @return how many */
static unsigned exchanges_of(const struct make *m, unsigned rank, struct exchange *out)
{
    unsigned count = partners_of(m), x = rank % m->box[0];
    for (unsigned i = 0; i < count; i++) {
        struct exchange e = {.from = rank, .bytes = LINE_BYTES, .messages = m->steps};
        e.to = m->line ? rank - x + (x + 1 + i) % m->box[0] : neighbour(m, rank, i, &e.bytes);
        unsigned at = i;
        for (; at > 0 && out[at - 1].to > e.to; at--)
            out[at] = out[at - 1];
        out[at] = e;
    }
    return count;
}

static unsigned size_slot(uint64_t bytes)
{
    return bytes >= 131072 ? 3 : bytes >= 65536 ? 2 : bytes >= 32768 ? 1 : bytes >= 8192 ? 4 : 0;
}

/* ---- tables of a node ---------------------------------------------------------------- */

static void add_transfer(struct make *m, const struct exchange *e)
{
    struct wire_transfer_row row = {.source = e->from,
                                    .destination = e->to,
                                    .size_class = size_class_of(e->bytes),
                                    .messages = e->messages};
    for (uint64_t i = 0; i < e->messages; i++) {
        uint64_t number = mixed((uint64_t)e->from << 32 | e->to, m->first_step + i, 1);
        uint64_t ns = transfer_ns(m, e->from, e->to, e->bytes, number), late = number % (ns / 3);
        row.transfer_ns += ns + late;
        row.network_ns += ns;
        row.late_receiver_ns += late;
        row.late_sender_ns += number >> 20 & 0x3fff;
        row.log2_sum += time_log2(ns + late);
        m->histogram[size_slot(e->bytes) * TIME_CLASSES + time_class_of(ns + late)]++;
    }
    m->t.transfers[m->t.transfer_count++] = row;
}

/* When a rank begins to send in a step: after the step's begin, as late as its computing took. */
static uint64_t send_ns(const struct make *m, unsigned rank, uint64_t step)
{
    return step * m->s->step_ns + mixed(rank, step, 2) % 300000;
}

static void add_halves(struct make *m, const struct exchange *e, unsigned place, int receive,
                       unsigned together)
{
    for (uint64_t i = 0; i < e->messages; i++) {
        uint64_t step = m->first_step + i, pair = (uint64_t)e->from << 32 | e->to;
        uint64_t number = mixed(pair, step, 1), sent = send_ns(m, e->from, step) + 700 * place;
        uint64_t waits = send_ns(m, e->to, step) + 9000; /* MPI_Waitall completes all of a step */
        uint64_t end = sent + transfer_ns(m, e->from, e->to, e->bytes, number);
        int64_t begin = (int64_t)((receive ? waits : sent) - m->window * m->s->window_ns);
        m->t.halves[m->t.half_count++] = (struct wire_half_row){
            .key = message_key(1, e->from, e->to, 0, step),
            .receive = (uint64_t)receive,
            .source = e->from,
            .destination = e->to,
            .bytes = e->bytes,
            .begin_ns = begin,
            .length_ns = !receive      ? 500 + number % 300
                         : end > waits ? end - waits
                                       : 200,
            .together = receive ? together : 0,
            .local_ns = receive ? begin - 4000 : begin,
        };
    }
}

static void add_partners(struct make *m, unsigned rank, struct wire_rank_row *row)
{
    struct exchange exchanges[MAX_PARTNERS];
    unsigned count = m->steps == 0 ? 0 : exchanges_of(m, rank, exchanges);
    unsigned outside = 0;
    for (unsigned i = 0; i < count; i++)
        outside += node_of(m, exchanges[i].to) != node_of(m, rank);
    for (unsigned i = 0; i < count; i++) {
        struct exchange e = exchanges[i], back = {e.to, e.from, e.bytes, e.messages};
        m->t.pairs[m->t.pair_count++] = (struct wire_pair_row){
            .source = rank,
            .destination = e.to,
            .size_class = size_class_of(e.bytes),
            .messages = e.messages,
            .bytes = e.messages * e.bytes,
        };
        row->sent += e.messages;
        row->sent_bytes += e.messages * e.bytes;
        if (node_of(m, e.to) == node_of(m, rank)) {
            add_transfer(m, &e);
        } else {
            add_halves(m, &e, i, 0, 0);
            add_halves(m, &back, count - 1 - i, 1, outside);
        }
    }
    row->received = row->sent; /* who is sent to sends as much */
    row->received_bytes = row->sent_bytes;
}

static void add_call(struct make *m, const struct wire_rank_row *row, enum call call,
                     uint64_t calls, uint64_t bytes, uint64_t bytes_in, uint64_t ns)
{
    m->t.calls[m->t.call_count++] = (struct wire_call_row){
        .rank = row->rank,
        .call = call,
        .calls = calls,
        .bytes = bytes,
        .bytes_in = bytes_in,
        .time_ns = ns,
        .longest_ns = calls <= 1 ? ns : ns / calls + ns % 1000,
    };
}

static void add_rank(struct make *m, unsigned rank)
{
    struct wire_rank_row row = {.rank = rank, .threads = 1, .process_state = 'R'};
    uint64_t number = mixed(rank, m->window, 4);
    add_partners(m, rank, &row);
    int slow = is_slow(m, node_of(m, rank));
    row.send_ns = (uint64_t)((double)row.sent * 650 * scatter(number));
    row.recv_ns = (uint64_t)((double)row.received * 320 * scatter(mixed(rank, m->window, 5)));
    row.wait_ns = (uint64_t)((double)(m->steps * (slow ? 420000u : 130000u)) *
                             scatter(mixed(rank, m->window, 6)));
    row.collective_ns = (uint64_t)((double)(m->steps * 90000) * scatter(mixed(rank, m->window, 7)));
    row.calls = row.sent + row.received + 3 * m->steps;
    row.events = row.calls;
    m->t.ranks[rank % (m->s->ranks / m->s->nodes)] = row;
    if (m->steps == 0)
        return;
    add_call(m, &row, CALL_Isend, row.sent, row.sent_bytes, 0, row.send_ns);
    add_call(m, &row, CALL_Irecv, row.received, 0, 0, row.recv_ns);
    add_call(m, &row, CALL_Waitall, m->steps, 0, row.received_bytes, row.wait_ns);
    add_call(m, &row, CALL_Allreduce, 2 * m->steps, 16 * m->steps, 16 * m->steps,
             row.collective_ns);
}

static void add_latencies(struct make *m)
{
    static const uint64_t sizes[5] = {8, 32768, 65536, 131072, 8192};
    for (unsigned size = 0; size < 5; size++) {
        for (uint32_t c = 0; c < TIME_CLASSES; c++) {
            uint32_t *messages = &m->histogram[size * TIME_CLASSES + c];
            if (*messages > 0)
                m->t.latencies[m->t.latency_count++] =
                    (struct wire_latency_row){0, size_class_of(sizes[size]), c, *messages};
            *messages = 0;
        }
    }
}

/* ---- bursts -------------------------------------------------------------------------- */

static void set_time(struct wire_burst_row *b, uint64_t first, uint64_t last)
{
    wide sum = b->messages == 1 ? (wide)first : (wide)(first + last) * b->messages / 2;
    b->first_ns = first;
    b->last_ns = b->messages == 1 ? first : last;
    b->time_sum_high = (uint64_t)(sum >> 64);
    b->time_sum_low = (uint64_t)sum;
}

static void add_row(struct make *m, struct wire_burst_row *b, struct wire_burst_pair_row row)
{
    m->t.burst_pairs[m->t.burst_pair_count++] = row;
    b->pairs++;
    b->messages += row.messages;
    b->bytes += row.bytes;
}

static void add_step(struct make *m, unsigned node, uint64_t step)
{
    struct exchange exchanges[MAX_PARTNERS];
    unsigned each = m->s->ranks / m->s->nodes, first = node * each;
    struct wire_burst_row messages = {0}, calls = {.collective = 1};
    uint64_t at = step * m->s->step_ns + 1000, jitter = mixed(node, step, 8) % 100000;
    for (unsigned r = first; r < first + each; r++) {
        unsigned count = exchanges_of(m, r, exchanges);
        for (unsigned i = 0; i < count; i++) {
            const struct exchange *e = &exchanges[i];
            add_row(m, &messages,
                    (struct wire_burst_pair_row){r, e->to, size_class_of(e->bytes), 1, e->bytes});
        }
    }
    set_time(&messages, at + jitter, at + jitter + 310000);
    m->t.bursts[m->t.burst_count++] = messages;
    for (unsigned r = first; r < first + each; r++)
        add_row(m, &calls, (struct wire_burst_pair_row){r, 0, 8, 2, 16});
    set_time(&calls, at + 900000 + jitter, at + 1100000 + jitter);
    m->t.bursts[m->t.burst_count++] = calls;
}

/* ---- messages ------------------------------------------------------------------------ */

/* As agents send them: by ranks and times. */
static int by_time(const void *left, const void *right)
{
    const struct wire_half_row *a = left, *b = right;
    uint64_t first = a->receive ? a->destination : a->source;
    uint64_t second = b->receive ? b->destination : b->source;
    if (first != second)
        return first < second ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->length_ns != b->length_ns)
        return a->length_ns < b->length_ns ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

static void make_tables(struct make *m, unsigned node)
{
    unsigned each = m->s->ranks / m->s->nodes;
    struct table *t = &m->t;
    t->pair_count = t->call_count = t->transfer_count = t->latency_count = t->half_count = 0;
    t->burst_count = t->burst_pair_count = 0;
    for (unsigned r = 0; r < each; r++)
        add_rank(m, node * each + r);
    if (t->half_count > 0)
        qsort(t->halves, t->half_count, sizeof(*t->halves), by_time);
    add_latencies(m);
    for (uint64_t i = 0; i < m->steps; i++)
        add_step(m, node, m->first_step + i);
}

static int encode_window(struct make *m, unsigned node, uint64_t seq)
{
    struct wire_comm_row comms[] = {{.id = 1, .size = m->s->ranks, .name = "MPI_COMM_WORLD"}};
    struct wire_region_row regions[] = {{"outside"}};
    struct wire_collective_row collectives[] = {{.call = CALL_Allreduce, .comm = 0, .root = -1}};
    uint64_t number = mixed(node, m->window, 9), each = m->s->ranks / m->s->nodes, off = 0;
    char host[16];
    snprintf(host, sizeof(host), "node%04u", node);
    for (size_t i = 0; i < m->t.half_count; i++)
        off += m->t.halves[i].receive ? 0 : m->t.halves[i].bytes;
    struct wire_counter_row counters[] = {{"hsn0", COUNTER_ETHERNET, 0, off + off / 50,
                                           off + off / 45, 0, UINT64_C(25000000000),
                                           m->s->window_ns + number % 50000}};
    struct wire_node_row nodes[] = {{.host = host,
                                     .agent_pid = 2000 + node,
                                     .connected = 1,
                                     .ranks = each,
                                     .events = seq * each * 20 + number % 100,
                                     .uplink_bytes = seq * 30000 + number % 3000,
                                     .cpu_ns = seq * 4000000 + number % 700000,
                                     .rss_bytes = 9 << 20,
                                     .clock_offset_ns = (int64_t)(number % 4000) - 2000,
                                     .clock_error_ns = 4000 + number % 900,
                                     .call_cost_ns = 31.5,
                                     .up_ns = seq * m->s->window_ns,
                                     .matched = seq * 224,
                                     .sampled = seq * 320}};
    const struct table *t = &m->t;
    const struct wire_window message = {
        .seq = seq,
        .job = REPLAY_MAKE_JOB,
        .host = host,
        .window = m->window,
        .length_ns = m->s->window_ns,
        .flags = m->window + 1 == FIRST_WINDOW + m->s->windows ? WINDOW_FINAL : 0,
        .comms = comms,
        .comms_count = 1,
        .regions = regions,
        .regions_count = 1,
        .ranks = t->ranks,
        .ranks_count = each,
        .pairs = t->pairs,
        .pairs_count = t->pair_count,
        .calls = t->calls,
        .calls_count = t->call_count,
        .node = nodes,
        .node_count = 1,
        .transfers = t->transfers,
        .transfers_count = t->transfer_count,
        .latencies = t->latencies,
        .latencies_count = t->latency_count,
        .halves = t->halves,
        .halves_count = t->half_count,
        .clock_error_ns = 6000,
        .bursts = t->bursts,
        .bursts_count = t->burst_count,
        .burst_pairs = t->burst_pairs,
        .burst_pairs_count = t->burst_pair_count,
        .collectives = collectives,
        .collectives_count = t->burst_count > 0,
        .counters = counters,
        .counters_count = 1,
    };
    return wire_encode(&m->buffer, WIRE_TYPE_WINDOW, &message);
}

static int encode_ranks(struct make *m, unsigned node)
{
    unsigned each = m->s->ranks / m->s->nodes;
    char host[16], (*cores)[16] = malloc(each * sizeof(*cores));
    struct wire_member_row *members = calloc(each, sizeof(*members));
    int code = -ENOMEM;
    snprintf(host, sizeof(host), "node%04u", node);
    for (unsigned r = 0; members != NULL && cores != NULL && r < each; r++) {
        snprintf(cores[r], sizeof(cores[r]), "%u", r);
        members[r] = (struct wire_member_row){.rank = node * each + r,
                                              .pid = 30000 + r,
                                              .placement = cores[r],
                                              .core = r + 1,
                                              .numa = 1 + r / ((each + 3) / 4)};
    }
    const struct wire_ranks message = {.seq = 1,
                                       .job = REPLAY_MAKE_JOB,
                                       .world = m->s->ranks,
                                       .app = "/opt/apps/stencil",
                                       .mpi = "made up",
                                       .host = host,
                                       .cores = each,
                                       .members = members,
                                       .members_count = each,
                                       .user = "made",
                                       .command = "stencil --cg"};
    if (members != NULL && cores != NULL)
        code = wire_encode(&m->buffer, WIRE_TYPE_RANKS, &message);
    free(members);
    free(cores);
    return code;
}

/* ---- the job ------------------------------------------------------------------------- */

static uint64_t instance_of(unsigned node)
{
    return mixed(node, 0, 10);
}

static int make_window(struct make *m, uint64_t window, replay_take *take, void *user)
{
    uint64_t begin = window * m->s->window_ns, end = begin + m->s->window_ns;
    uint64_t at = window - FIRST_WINDOW;
    m->window = window;
    m->line = at % LINE_WINDOWS >= LINE_WINDOWS - LINE_LENGTH;
    m->first_step = (begin + m->s->step_ns - 1) / m->s->step_ns;
    m->steps = (end - 2000000 + m->s->step_ns - 1) / m->s->step_ns - m->first_step;
    m->steps = m->steps > MAX_STEPS ? MAX_STEPS : m->steps;
    for (unsigned i = 0; i < m->s->nodes; i++) {
        unsigned node = (i + (unsigned)at * 7) % m->s->nodes; /* another order each time */
        uint64_t seq = at + 2, received = end + 3000000 + i * 100000;
        make_tables(m, node);
        int code = encode_window(m, node, seq);
        code = code != 0 ? code
                         : take(user, m->buffer.bytes, m->buffer.length, WIRE_TYPE_WINDOW,
                                instance_of(node), seq, window, received);
        if (code != 0)
            return code;
    }
    return 0;
}

static int make_all(struct make *m, replay_take *take, void *user)
{
    uint64_t begin = FIRST_WINDOW * m->s->window_ns;
    int code = 0;
    for (unsigned node = 0; code == 0 && node < m->s->nodes; node++) {
        code = encode_ranks(m, node);
        code = code != 0 ? code
                         : take(user, m->buffer.bytes, m->buffer.length, WIRE_TYPE_RANKS,
                                instance_of(node), 1, 0, begin + node);
    }
    for (uint64_t w = FIRST_WINDOW; code == 0 && w < FIRST_WINDOW + m->s->windows; w++)
        code = make_window(m, w, take, user);
    return code;
}

static int allocate(struct make *m)
{
    struct table *t = &m->t;
    size_t each = m->s->ranks / m->s->nodes, partners = m->s->partners, steps = MAX_STEPS;
    partners = partners < m->box[0] ? m->box[0] : partners;
    if (m->s->window_ns / m->s->step_ns + 2 < steps)
        steps = m->s->window_ns / m->s->step_ns + 2;
    t->ranks = calloc(each, sizeof(*t->ranks));
    t->pairs = calloc(each * partners, sizeof(*t->pairs));
    t->calls = calloc(each * 4, sizeof(*t->calls));
    t->transfers = calloc(each * partners, sizeof(*t->transfers));
    t->latencies = calloc(5 * (size_t)TIME_CLASSES, sizeof(*t->latencies));
    t->halves = calloc(2 * each * partners * steps, sizeof(*t->halves));
    t->bursts = calloc(2 * steps, sizeof(*t->bursts));
    t->burst_pairs = calloc(each * (partners + 1) * steps, sizeof(*t->burst_pairs));
    m->histogram = calloc(5 * (size_t)TIME_CLASSES, sizeof(*m->histogram));
    return t->ranks == NULL || t->pairs == NULL || t->calls == NULL || t->transfers == NULL ||
                   t->latencies == NULL || t->halves == NULL || t->bursts == NULL ||
                   t->burst_pairs == NULL || m->histogram == NULL
               ? -ENOMEM
               : 0;
}

static void finish(struct make *m)
{
    struct table *t = &m->t;
    free(t->ranks);
    free(t->pairs);
    free(t->calls);
    free(t->transfers);
    free(t->latencies);
    free(t->halves);
    free(t->bursts);
    free(t->burst_pairs);
    free(m->histogram);
    wire_buffer_finish(&m->buffer);
}

int replay_make(const struct replay_make *s, replay_take *take, void *user)
{
    struct make m = {.s = s, .box = {1, 1, 1}};
    if (s->ranks < 8 || (s->ranks & (s->ranks - 1)) != 0 || s->nodes == 0 ||
        s->ranks % s->nodes != 0 || (s->partners != 6 && s->partners != 26) || s->window_ns == 0 ||
        s->step_ns == 0)
        return -EINVAL;
    for (unsigned left = s->ranks, d = 0; left > 1; left /= 2, d++)
        m.box[d % 3] *= 2;
    if (m.box[0] > MAX_PARTNERS)
        return -EINVAL;
    int code = allocate(&m);
    code = code != 0 ? code : make_all(&m, take, user);
    finish(&m);
    return code;
}

/* ---- as a file ----------------------------------------------------------------------- */

struct file {
    struct recording *recording;
    uint64_t window_ns, bytes;
};

static int keep(void *user, const void *bytes, size_t length, uint64_t type, uint64_t instance,
                uint64_t seq, uint64_t window, uint64_t received_ns)
{
    struct file *file = user;
    const struct recorded head = {
        .type = type,
        .instance = instance,
        .seq = seq,
        .window = window,
        .time_ns = window == 0 ? received_ns : window * file->window_ns,
        .received_ns = received_ns,
    };
    file->bytes += length;
    return recording_write_message(file->recording, &head, bytes, length);
}

int replay_make_file(const struct replay_make *s, const char *path, uint64_t *bytes)
{
    struct file file = {.window_ns = s->window_ns};
    char why[256];
    int code = recording_open(&file.recording, path, why, sizeof(why));
    if (code != 0)
        return code;
    const struct wire_job job = {.job = REPLAY_MAKE_JOB,
                                 .state = "ended",
                                 .app = "/opt/apps/stencil",
                                 .command = "stencil --cg",
                                 .mpi = "made up",
                                 .user = "made",
                                 .world = s->ranks,
                                 .seen = s->ranks,
                                 .start_ns = FIRST_WINDOW * s->window_ns,
                                 .end_ns = (FIRST_WINDOW + s->windows) * s->window_ns,
                                 .window_ns = s->window_ns,
                                 .recording = ""};
    code = recording_write_result(file.recording, WIRE_TYPE_JOB, &job);
    code = code != 0 ? code : replay_make(s, keep, &file);
    int closed = recording_close(file.recording);
    if (bytes != NULL)
        *bytes = file.bytes;
    return code != 0 ? code : closed;
}
