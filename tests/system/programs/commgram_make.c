/* commgram_make [OPTION...] FILE.hrec PATTERN NUMBER...
 *
 * Writes a recording of a job that never was: what the agents of its nodes would have sent, byte
 * for byte, of a communication pattern that is known exactly. The same arguments give the same
 * messages.
 * --help tells patterns and options. */
#include "commgram_patterns.h"

#include "daemon/storage/recording.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "tests/daemon/analysis/events/burst_feed.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define BEGIN_NS UINT64_C(1700000000000000000) /* the job begins in the window that holds this */
#define BUDGET 256u                            /* bursts while gathering, and as they are sent: */
#define BURSTS 32u
#define BURST_ROWS 4096u /* of bursts and burst_pairs of a window */
#define CALL_KINDS 3u

static const char usage[] = "usage: commgram_make [OPTION...] FILE.hrec PATTERN NUMBER...\n"
                            "patterns:\n%s"
                            "options:\n"
                            "  --window MS      length of a window (1000)\n"
                            "  --pause MS       pause between phases (1500)\n"
                            "  --step MS        pause between stages of a phase (20)\n"
                            "  --span MS        length of a stage (4)\n"
                            "  --bytes N        of an image, or of a message (4194304)\n"
                            "  --substages N    exchanges of a step of simulation (6)\n"
                            "  --repeat N       how often all of it happens (1)\n"
                            "  --per-node N     ranks of a node (24, or half of all)\n";

struct settings {
    struct pattern_params pattern;
    uint64_t window_ns, begin_ns; /* of a window; of the job, daemon time */
    uint32_t per_node;
    char job[65];
};

struct rows {
    struct wire_rank_row *ranks;
    struct wire_pair_row *pairs;
    struct wire_call_row *calls;
    struct wire_burst_row *bursts;
    struct wire_burst_pair_row *burst_pairs;
    uint64_t pair_count, call_count, burst_count, burst_pair_count;
};

struct node {
    char host[32];
    uint32_t first, count; /* ranks */
    uint64_t seq, events, bytes;
};

struct maker {
    const struct settings *settings;
    const struct pattern *pattern;
    struct recording *recording;
    struct bursts *bursts;
    struct wire_buffer buffer;
    struct rows rows;
    struct node *nodes;
    uint32_t node_count;
    uint64_t *received, *received_bytes; /* of each rank in the window */
};

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "commgram_make: %s: %s\n", what, holter_strerror(rc));
    exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
    void *all = calloc(count > 0 ? count : 1, size);
    check(all == NULL ? -ENOMEM : 0, "memory");
    return all;
}

/* ---- rows of one node's window ----------------------------------------------------- */

static void make_ranks(struct maker *m, const struct node *node,
                       const struct pattern_message *messages, size_t count)
{
    for (uint32_t r = 0; r < node->count; r++)
        m->rows.ranks[r] = (struct wire_rank_row){.rank = node->first + r, .threads = 1};
    for (size_t i = 0; i < count; i++) {
        struct wire_rank_row *row = &m->rows.ranks[messages[i].source - node->first];
        row->sent++;
        row->sent_bytes += messages[i].bytes;
    }
    m->rows.call_count = 0;
    for (uint32_t r = 0; r < node->count; r++) {
        struct wire_rank_row *row = &m->rows.ranks[r];
        uint64_t sent = row->sent, received = m->received[row->rank];
        row->received = received;
        row->received_bytes = m->received_bytes[row->rank];
        row->calls = row->events = sent + 2 * received;
        row->send_ns = 400 * sent;
        row->recv_ns = 300 * received;
        row->wait_ns = 5000 * received;
        struct wire_call_row calls[CALL_KINDS] = {
            {.call = CALL_Isend, .calls = sent, .bytes = row->sent_bytes, .time_ns = row->send_ns},
            {.call = CALL_Irecv, .calls = received, .time_ns = row->recv_ns},
            {.call = CALL_Wait,
             .calls = received,
             .bytes_in = row->received_bytes,
             .time_ns = row->wait_ns},
        };
        for (unsigned c = 0; c < CALL_KINDS; c++) {
            if (calls[c].calls == 0)
                continue;
            calls[c].rank = row->rank;
            calls[c].longest_ns = calls[c].time_ns / calls[c].calls;
            m->rows.calls[m->rows.call_count++] = calls[c];
        }
    }
}

static void gather(struct maker *m, const struct pattern_message *messages, size_t count)
{
    bursts_clear(m->bursts);
    for (size_t i = 0; i < count; i++) {
        struct burst_message message = {.time_ns = m->settings->begin_ns + messages[i].time_ns,
                                        .source = messages[i].source,
                                        .destination = messages[i].destination,
                                        .size_class = size_class_of(messages[i].bytes),
                                        .messages = 1,
                                        .bytes = messages[i].bytes};
        check(burst_feed_message(m->bursts, &message), "a message's burst");
    }
}

/* @return rows of bursts and of their pairs */
static uint64_t count_rows(struct maker *m)
{
    uint64_t rows = 0;
    for (uint32_t b = 0; b < bursts_count(m->bursts); b++) {
        struct burst_sums burst;
        check(bursts_read(m->bursts, b, &burst), "a burst");
        rows += 1 + burst.pair_count;
    }
    return rows;
}

static void add_burst(struct rows *rows, const struct burst_sums *burst)
{
    uint64_t messages = burst->others.messages, bytes = burst->others.bytes,
             folded = burst->others.pairs;
    uint64_t kept = burst->pair_count < BURST_ROWS - 1 ? burst->pair_count : BURST_ROWS - 1;
    for (uint64_t i = 0; i < burst->pair_count; i++) {
        const struct burst_pair *pair = &burst->pairs[i];
        if (i < kept) {
            rows->burst_pairs[rows->burst_pair_count++] = (struct wire_burst_pair_row){
                pair->source, pair->destination, pair->size_class, pair->messages, pair->bytes};
            continue;
        }
        messages += pair->messages;
        bytes += pair->bytes;
        folded++;
    }
    rows->bursts[rows->burst_count++] =
        (struct wire_burst_row){.first_ns = burst->first_ns,
                                .last_ns = burst->last_ns,
                                .time_sum_high = burst->time_sum_high,
                                .time_sum_low = burst->time_sum_low,
                                .messages = burst->messages,
                                .bytes = burst->bytes,
                                .pairs = kept,
                                .other_messages = messages,
                                .other_bytes = bytes,
                                .other_pairs = folded};
}

/* As agents do: the nearest merge first when there are too many rows. */
static void make_bursts(struct maker *m)
{
    uint32_t most = BURSTS;
    bursts_reduce(m->bursts, most);
    while (most > 1 && count_rows(m) > BURST_ROWS)
        bursts_reduce(m->bursts, --most);
    m->rows.burst_count = m->rows.burst_pair_count = 0;
    for (uint32_t b = 0; b < bursts_count(m->bursts); b++) {
        struct burst_sums burst;
        check(bursts_read(m->bursts, b, &burst), "a burst");
        add_burst(&m->rows, &burst);
    }
}

/* The window's pairs are those of its bursts together. Uses the set up. */
static void make_pairs(struct maker *m)
{
    struct burst_sums all;
    m->rows.pair_count = 0;
    if (bursts_count(m->bursts) == 0)
        return;
    bursts_reduce(m->bursts, 1);
    check(bursts_read(m->bursts, 0, &all), "a burst");
    for (size_t i = 0; i < all.pair_count; i++)
        m->rows.pairs[m->rows.pair_count++] =
            (struct wire_pair_row){.source = all.pairs[i].source,
                                   .destination = (int64_t)all.pairs[i].destination,
                                   .size_class = all.pairs[i].size_class,
                                   .messages = all.pairs[i].messages,
                                   .bytes = all.pairs[i].bytes};
}

/* ---- messages ---------------------------------------------------------------------- */

static void keep(struct maker *m, struct node *node, enum wire_type type, const void *message,
                 uint64_t window, uint64_t received_ns)
{
    uint64_t begin_ns = window * m->settings->window_ns;
    struct recorded head = {.type = type,
                            .instance = (uint64_t)(node - m->nodes) + 1,
                            .seq = node->seq,
                            .window = window,
                            .time_ns = window > 0 ? begin_ns : received_ns,
                            .received_ns = received_ns};
    check(wire_encode(&m->buffer, type, message), wire_type_name(type));
    node->bytes += m->buffer.length;
    if (recording_write_message(m->recording, &head, m->buffer.bytes, m->buffer.length) != 0) {
        fprintf(stderr, "commgram_make: %s\n", recording_error(m->recording));
        exit(EXIT_FAILURE);
    }
}

static void tell_ranks(struct maker *m, struct node *node)
{
    struct wire_member_row *members = allocate(node->count, sizeof(*members));
    for (uint32_t r = 0; r < node->count; r++)
        members[r] = (struct wire_member_row){.rank = node->first + r, .pid = 1000 + r};
    struct wire_ranks ranks = {.seq = ++node->seq,
                               .job = m->settings->job,
                               .world = m->pattern->ranks,
                               .app = m->settings->job,
                               .mpi = "none: a generated recording",
                               .host = node->host,
                               .members = members,
                               .members_count = node->count,
                               .cores = node->count};
    keep(m, node, WIRE_TYPE_RANKS, &ranks, 0, m->settings->begin_ns);
    free(members);
}

static void tell_window(struct maker *m, struct node *node, uint64_t window, int final)
{
    const struct rows *rows = &m->rows;
    struct wire_comm_row comm = {.id = 1, .size = m->pattern->ranks, .name = "MPI_COMM_WORLD"};
    struct wire_region_row region = {""};
    struct wire_node_row row = {.host = node->host,
                                .agent_pid = 1,
                                .connected = 1,
                                .ranks = node->count,
                                .events = node->events,
                                .uplink_bytes = node->bytes,
                                .up_ns =
                                    (window + 1) * m->settings->window_ns - m->settings->begin_ns};
    struct wire_window message = {.seq = ++node->seq,
                                  .job = m->settings->job,
                                  .host = node->host,
                                  .window = window,
                                  .length_ns = m->settings->window_ns,
                                  .flags = final ? WINDOW_FINAL : 0,
                                  .comms = &comm,
                                  .comms_count = 1,
                                  .regions = &region,
                                  .regions_count = 1,
                                  .ranks = rows->ranks,
                                  .ranks_count = node->count,
                                  .pairs = rows->pairs,
                                  .pairs_count = rows->pair_count,
                                  .calls = rows->calls,
                                  .calls_count = rows->call_count,
                                  .bursts = rows->bursts,
                                  .bursts_count = rows->burst_count,
                                  .burst_pairs = rows->burst_pairs,
                                  .burst_pairs_count = rows->burst_pair_count,
                                  .node = &row,
                                  .node_count = 1};
    keep(m, node, WIRE_TYPE_WINDOW, &message, window,
         (window + 1) * m->settings->window_ns + 5 * MS);
}

/* @param messages  of this node in the window, by time */
static void node_window(struct maker *m, struct node *node, uint64_t window, int final,
                        const struct pattern_message *messages, size_t count)
{
    struct rows *rows = &m->rows;
    make_ranks(m, node, messages, count);
    for (uint32_t r = 0; r < node->count; r++)
        node->events += rows->ranks[r].events;
    rows->pairs = allocate(count, sizeof(*rows->pairs));
    gather(m, messages, count);
    make_bursts(m);
    make_pairs(m);
    tell_window(m, node, window, final);
    free(rows->pairs);
}

/* ---- the job ----------------------------------------------------------------------- */

static int by_node(const void *left, const void *right, void *user)
{
    const struct pattern_message *a = left, *b = right;
    const struct settings *s = user;
    uint64_t window_a = a->time_ns / s->window_ns, window_b = b->time_ns / s->window_ns;
    uint32_t node_a = a->source / s->per_node, node_b = b->source / s->per_node;
    if (window_a != window_b)
        return window_a < window_b ? -1 : 1;
    if (node_a != node_b)
        return node_a < node_b ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->destination > b->destination) - (a->destination < b->destination);
}

static void count_received(struct maker *m, const struct pattern_message *messages, size_t count)
{
    memset(m->received, 0, m->pattern->ranks * sizeof(*m->received));
    memset(m->received_bytes, 0, m->pattern->ranks * sizeof(*m->received_bytes));
    for (size_t i = 0; i < count; i++) {
        m->received[messages[i].destination]++;
        m->received_bytes[messages[i].destination] += messages[i].bytes;
    }
}

static void make_windows(struct maker *m)
{
    const struct pattern_message *all = m->pattern->messages;
    uint64_t length = m->settings->window_ns, windows = m->pattern->end_ns / length + 1;
    for (uint64_t w = 0, at = 0; w < windows; w++) {
        size_t end = at;
        while (end < m->pattern->count && all[end].time_ns / length == w)
            end++;
        count_received(m, all + at, end - at);
        for (uint32_t n = 0; n < m->node_count; n++) {
            struct node *node = &m->nodes[n];
            size_t first = at;
            while (at < end && all[at].source < node->first + node->count)
                at++;
            node_window(m, node, m->settings->begin_ns / length + w, w + 1 == windows, all + first,
                        at - first);
        }
    }
}

static void make_nodes(struct maker *m)
{
    uint32_t per_node = m->settings->per_node, ranks = m->pattern->ranks;
    m->node_count = (ranks + per_node - 1) / per_node;
    m->nodes = allocate(m->node_count, sizeof(*m->nodes));
    for (uint32_t n = 0; n < m->node_count; n++) {
        struct node *node = &m->nodes[n];
        node->first = n * per_node;
        node->count = ranks - node->first < per_node ? ranks - node->first : per_node;
        snprintf(node->host, sizeof(node->host), "node%04u", n);
        tell_ranks(m, node);
    }
}

static void make_job(struct maker *m)
{
    const struct settings *s = m->settings;
    struct bursts_params params = BURSTS_DEFAULTS;
    params.budget = BUDGET;
    params.pairs = 1u << 16;
    check(bursts_create(&m->bursts, &params), "bursts");
    m->rows.ranks = allocate(s->per_node, sizeof(*m->rows.ranks));
    m->rows.calls = allocate(s->per_node * CALL_KINDS, sizeof(*m->rows.calls));
    m->rows.bursts = allocate(BURSTS, sizeof(*m->rows.bursts));
    m->rows.burst_pairs = allocate(BURST_ROWS, sizeof(*m->rows.burst_pairs));
    m->received = allocate(m->pattern->ranks, sizeof(*m->received));
    m->received_bytes = allocate(m->pattern->ranks, sizeof(*m->received_bytes));
    make_nodes(m);
    make_windows(m);
    uint64_t windows = m->pattern->end_ns / s->window_ns + 1;
    struct wire_job job = {.job = s->job,
                           .state = "ended",
                           .app = s->job,
                           .mpi = "none: a generated recording",
                           .world = m->pattern->ranks,
                           .seen = m->pattern->ranks,
                           .start_ns = s->begin_ns,
                           .end_ns = s->begin_ns + windows * s->window_ns,
                           .window_ns = s->window_ns};
    check(recording_write_result(m->recording, WIRE_TYPE_JOB, &job), "job");
}

static void finish(struct maker *m)
{
    bursts_destroy(m->bursts);
    wire_buffer_finish(&m->buffer);
    free(m->rows.ranks);
    free(m->rows.calls);
    free(m->rows.bursts);
    free(m->rows.burst_pairs);
    free(m->received);
    free(m->received_bytes);
    free(m->nodes);
}

/* ---- arguments --------------------------------------------------------------------- */

static _Noreturn void complain(const char *what, const char *which)
{
    fprintf(stderr, "commgram_make: %s%s\n", what, which);
    fprintf(stderr, usage, pattern_names);
    exit(2);
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < least || value > most)
        complain("not a number that fits here: ", text);
    return value;
}

static void parse_option(struct settings *s, int option, const char *text)
{
    switch (option) {
    case 'w':
        s->window_ns = number(text, 1, 60000) * MS;
        break;
    case 'p':
        s->pattern.pause_ns = number(text, 0, 3600000) * MS;
        break;
    case 's':
        s->pattern.step_ns = number(text, 0, 3600000) * MS;
        break;
    case 'l':
        s->pattern.span_ns = number(text, 1, 3600000) * MS;
        break;
    case 'b':
        s->pattern.bytes = number(text, 1, UINT32_MAX);
        break;
    case 'e':
        s->pattern.substages = (uint32_t)number(text, 1, 1000000);
        break;
    case 'r':
        s->pattern.repeat = (uint32_t)number(text, 1, 1000000);
        break;
    case 'n':
        s->per_node = (uint32_t)number(text, 1, 1u << 16);
        break;
    case 'h':
        printf(usage, pattern_names);
        exit(EXIT_SUCCESS);
    default:
        complain("see below", "");
    }
}

static struct settings parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"window", required_argument, NULL, 'w'}, {"pause", required_argument, NULL, 'p'},
        {"step", required_argument, NULL, 's'},   {"span", required_argument, NULL, 'l'},
        {"bytes", required_argument, NULL, 'b'},  {"substages", required_argument, NULL, 'e'},
        {"repeat", required_argument, NULL, 'r'}, {"per-node", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct settings s = {.window_ns = 1000 * MS,
                         .pattern = {.span_ns = 4 * MS,
                                     .step_ns = 20 * MS,
                                     .pause_ns = 1500 * MS,
                                     .bytes = 1u << 22,
                                     .substages = 6,
                                     .repeat = 1}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        parse_option(&s, option, optarg);
    s.begin_ns = BEGIN_NS / s.window_ns * s.window_ns;
    if (argc - optind < 3)
        complain("which file and pattern?", "");
    return s;
}

int main(int argc, char **argv)
{
    struct settings settings = parse(argc, argv);
    const char *path = argv[optind], *name = argv[optind + 1];
    unsigned count = (unsigned)(argc - optind) - 2;
    uint32_t numbers[8] = {0};
    struct pattern pattern;
    for (unsigned i = 0; i < count && i < 8; i++)
        numbers[i] = (uint32_t)number(argv[optind + 2 + (int)i], 1, UINT32_MAX);
    int rc = pattern_make(&pattern, name, numbers, count, &settings.pattern);
    if (rc == -ENOENT || rc == -EINVAL)
        complain("not such a pattern: ", name);
    check(rc, "pattern");
    if (settings.per_node == 0)
        settings.per_node = pattern.ranks < 48 ? (pattern.ranks + 1) / 2 : 24;
    snprintf(settings.job, sizeof(settings.job), "%s-%u", name, numbers[0]);
    qsort_r(pattern.messages, pattern.count, sizeof(*pattern.messages), by_node, &settings);
    struct maker maker = {.settings = &settings, .pattern = &pattern};
    char why[256] = "";
    remove(path);
    if (recording_open(&maker.recording, path, why, sizeof(why)) != 0)
        complain("cannot be written: ", why);
    make_job(&maker);
    check(recording_close(maker.recording), path);
    printf("%u ranks on %u nodes, %zu messages in %.3f s\n", pattern.ranks, maker.node_count,
           pattern.count, (double)pattern.end_ns / 1e9);
    finish(&maker);
    pattern_finish(&pattern);
    return EXIT_SUCCESS;
}
