/* What the node agent can do and what it costs.
 *
 *   agent_bench sum                       rings of 64 ranks drained and summed, as fast as one core
 *                                         can; without and with matching of their messages
 *   agent_bench live AGENT [RATE [SECONDS [RANKS]]]
 *       AGENT watches RANKS processes that write RATE events a second together, and reports to a
 *       daemon that acknowledges everything: processor share, memory, uplink, losses
 *
 * The mix of events: each rank has 26 partners (a 3-D halo with corners), messages of several sizes
 * and tags, Isend, Irecv and Waitall with its parts, an Allreduce now and then, two regions, two
 * communicators. */
#include "agent/node/rank_drain.h"
#include "agent/node/rank_match.h"
#include "daemon/analysis/matching/match.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/session.h"
#include "holter/wire.h"
#include "tests/agent/node/fake_rank.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define SESSION "be7c4"
#define PARTNERS 26
#define SUM_RANKS 64
#define SUM_ROUNDS 90
/* Events of each rank in a round: what an agent finds that did not run for a second. */
#define SUM_EVENTS 2048u

/* ---- the mix ------------------------------------------------------------- */

struct mix {
    int32_t rank, size;
    uint64_t step;                 /* of the halo exchange */
    unsigned phase;                /* within the step */
    uint64_t posted[2 * PARTNERS]; /* when its requests were, in this step */
    uint64_t waited;               /* begin of Waitall, which is that of its parts, too */
};

static int32_t mix_partner(const struct mix *mix, unsigned number)
{
    static const int offsets[PARTNERS] = {1,  -1,  4,   -4,  16,  -16, 5,   -5, 3,
                                          -3, 17,  -17, 15,  -15, 20,  -20, 12, -12,
                                          21, -21, 19,  -19, 13,  -13, 11,  -11};
    return ((mix->rank + offsets[number]) % mix->size + mix->size) % mix->size;
}

/* Sizes of faces, edges and corners, the same for a partner from step to step, now and then
 * another: what a rank sends to its partner of that number in a step. */
static uint64_t mix_bytes(int32_t rank, uint64_t step, unsigned number)
{
    uint64_t base = number < 6 ? 32768 : number < 18 ? 1024 : 64;
    uint64_t random =
        ((uint64_t)rank * 977 + step * PARTNERS + number) * UINT64_C(0x9e3779b97f4a7c15);
    return random >> 60 == 0 ? base / 2 : base;
}

/* The next record of the halo exchange: 26 Irecv, 26 Isend, Waitall with 52 parts, Allreduce. */
static void mix_next(struct mix *mix, struct event *event, uint64_t now)
{
    unsigned phase = mix->phase++;
    *event = (struct event){.t_enter = now,
                            .t_exit = now + 1,
                            .kind = EVENT_CALL,
                            .tag = 7,
                            .region = (uint16_t)(1 + mix->step % 2),
                            .request = phase + 1};
    if (phase < 2 * PARTNERS)
        mix->posted[phase] = now;
    if (phase < PARTNERS) {
        event->call = CALL_Irecv;
        event->flags = EVENT_RECV | EVENT_POST;
        event->peer = mix_partner(mix, phase);
        event->bytes = 32768;
    } else if (phase < 2 * PARTNERS) {
        event->call = CALL_Isend;
        event->flags = EVENT_SEND | EVENT_POST;
        event->peer = mix_partner(mix, phase - PARTNERS);
        event->bytes = mix_bytes(mix->rank, mix->step, phase - PARTNERS);
    } else if (phase == 2 * PARTNERS) {
        event->call = CALL_Waitall;
        event->peer = PEER_NONE;
        event->comm = COMM_SLOT_NONE;
        event->parts = 2 * PARTNERS;
        mix->waited = now;
    } else if (phase <= 4 * PARTNERS) {
        unsigned part = phase - 2 * PARTNERS - 1;
        event->kind = EVENT_PART;
        event->t_enter = mix->waited;
        event->t_exit = mix->waited + 1;
        event->call = CALL_Waitall;
        event->flags = EVENT_DONE | (part < PARTNERS ? EVENT_RECV : EVENT_SEND);
        event->peer = mix_partner(mix, part % PARTNERS);
        event->request = part + 1;
        /* Partners of numbers that differ in the lowest bit lie opposite: it sends to its other
         * one. */
        event->bytes = part < PARTNERS ? mix_bytes(event->peer, mix->step, part ^ 1)
                                       : mix_bytes(mix->rank, mix->step, part - PARTNERS);
        event->t_post = mix->posted[part];
    } else {
        event->call = CALL_Allreduce;
        event->peer = PEER_NONE;
        event->comm = 1;
        event->bytes = event->bytes_in = 8;
        mix->phase = 0;
        mix->step++;
    }
}

/* ---- sum ----------------------------------------------------------------- */

static int sum_ranks_open(struct fake_rank *fakes, struct rank **ranks, struct event_sum *sum,
                          struct match *match)
{
    for (int i = 0; i < SUM_RANKS; i++) {
        int32_t pid = (int32_t)getpid() + i;
        int rc = fake_rank_create(&fakes[i], SESSION, pid, "bench", i, SUM_RANKS,
                                  SEGMENT_FIRST_CAPACITY);
        if (rc == 0) {
            fake_rank_comm(&fakes[i], 1, 77, SUM_RANKS, "MPI_Comm_dup");
            fake_rank_region(&fakes[i], 1, "force");
            fake_rank_region(&fakes[i], 2, "neighbour");
            rc = rank_open(&ranks[i], fakes[i].name, SESSION, (int32_t)getpid());
        }
        if (rc == 0)
            rc = rank_is_initialised(ranks[i]) ? rank_join(ranks[i], sum) : -HOLTER_EEMPTY;
        if (rc != 0)
            return rc;
        if (match != NULL)
            rank_match_start(ranks[i], match);
    }
    return 0;
}

static uint64_t same_time(const void *user, uint64_t mono_ns)
{
    (void)user;
    return mono_ns;
}

/* In turns, as the agent does. @return records taken */
static uint64_t drain_ranks(struct rank **ranks, const struct drain_clocks *clocks,
                            struct match *match, struct event *batch)
{
    uint64_t total = 0, more;
    do {
        more = 0;
        for (int i = 0; i < SUM_RANKS; i++)
            more += rank_drain_turn(ranks[i], clocks, NULL, batch);
        if (match != NULL)
            match_settle_again(match);
        total += more;
    } while (more > 0);
    for (int i = 0; i < SUM_RANKS; i++)
        total += rank_drain(ranks[i], clocks, NULL, batch);
    return total;
}

/* The rings are filled, untimed, then drained, timed, so that records come from memory, not from
 * cache. */
static int bench_sum(int matching)
{
    static struct fake_rank fakes[SUM_RANKS];
    static struct rank *ranks[SUM_RANKS];
    static struct mix mixes[SUM_RANKS];
    static struct event batch[RANK_BATCH];
    struct event_sum *sum;
    struct transfer_sum *transfers;
    struct match *match = NULL;
    if (event_sum_create(&sum, 1u << 17) != 0 || transfer_sum_create(&transfers, 1u << 17) != 0)
        return 1;
    struct match_sink sink = {transfer_sum_message, transfer_sum_half, transfers};
    int rc = matching ? match_create(&match, SUM_RANKS, &sink) : 0;
    if (rc == 0)
        rc = sum_ranks_open(fakes, ranks, sum, match);
    struct tick_clock plain;
    tick_clock_init_ns(&plain);
    uint64_t spent = 0, events = 0, now = clock_mono_ns(), rows_ns = 0, bursts_ns = 0, messages = 0;
    for (int round = 0; rc == 0 && round < SUM_ROUNDS; round++) {
        for (int i = 0; i < SUM_RANKS; i++) {
            mixes[i].rank = i;
            mixes[i].size = SUM_RANKS;
            for (unsigned e = 0; e < SUM_EVENTS; e++) {
                struct event event;
                mix_next(&mixes[i], &event, now + 1 + e); /* all ranks at the same time */
                fake_rank_write(&fakes[i], &event);
            }
        }
        now += SUM_EVENTS + 1;
        struct drain_clocks clocks = {&plain, &plain, now + 1000, now + 1000};
        uint64_t begin = clock_process_cpu_ns();
        events += drain_ranks(ranks, &clocks, match, batch);
        if (matching)
            match_settle(match, now);
        uint64_t drained = clock_process_cpu_ns();
        struct burst_clock same = {same_time, NULL, 0, now};
        struct burst_rows bursts;
        rc = event_sum_bursts(sum, &same, BURST_GATHER_ROWS, &bursts);
        uint64_t gathered = clock_process_cpu_ns();
        for (uint64_t i = 0; rc == 0 && i < bursts.bursts_count; i++)
            messages += bursts.bursts[i].messages;
        struct window_rows rows;
        rc = rc == 0 ? event_sum_rows(sum, &rows) : rc;
        if (rc == 0 && round == SUM_ROUNDS - 1)
            printf(
                "rows of a window          %llu pairs, %llu calls, %llu bursts with %llu pairs\n",
                (unsigned long long)rows.pairs_count, (unsigned long long)rows.calls_count,
                (unsigned long long)bursts.bursts_count, (unsigned long long)bursts.pairs_count);
        event_sum_clear(sum);
        transfer_sum_clear(transfers);
        spent += drained - begin;
        bursts_ns += gathered - drained;
        rows_ns += clock_process_cpu_ns() - gathered;
    }
    for (int i = 0; i < SUM_RANKS; i++) {
        rank_destroy(ranks[i]);
        fake_rank_destroy(&fakes[i]);
    }
    event_sum_destroy(sum);
    if (matching)
        printf("matched                   %llu messages\n",
               (unsigned long long)match_counts(match).matched);
    match_destroy(match);
    transfer_sum_destroy(transfers);
    if (rc != 0) {
        fprintf(stderr, "agent_bench: %s\n", holter_strerror(rc));
        return 1;
    }
    printf("%s %.2f million events/s on one core (%.1f ns an event)\n",
           matching ? "drained, summed, matched " : "drained and summed        ",
           (double)events / (double)spent * 1e3, (double)spent / (double)events);
    printf("rows made and cleared     %.3f ms a window\n", (double)rows_ns / SUM_ROUNDS / 1e6);
    printf("bursts made               %.3f ms a window (%.1f ns a message or call)\n",
           (double)bursts_ns / SUM_ROUNDS / 1e6, (double)bursts_ns / (double)messages);
    return 0;
}

/* ---- live ---------------------------------------------------------------- */

/* A rank: writes its share of the rate in small bursts, as a simulation does, for so many seconds.
 * All ranks are in the same step at the same time, so that what they exchange can be matched. */
static void be_rank(int32_t rank, int32_t size, double rate, double seconds, uint64_t begin)
{
    struct fake_rank fake;
    struct mix mix = {.rank = rank, .size = size};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fake_rank_create(&fake, SESSION, (int32_t)getpid(), "bench.0", rank, size,
                         SEGMENT_FIRST_CAPACITY) != 0)
        _exit(1);
    fake_rank_comm(&fake, 1, 77, (uint32_t)size, "MPI_Comm_dup");
    fake_rank_region(&fake, 1, "force");
    fake_rank_region(&fake, 2, "neighbour");
    uint64_t written = 0, end = begin + (uint64_t)(seconds * 1e9);
    for (uint64_t now = begin; now < end; now = clock_mono_ns()) {
        uint64_t due = (uint64_t)((double)(now - begin) * 1e-9 * rate);
        for (; written < due; written++) {
            struct event event;
            mix_next(&mix, &event, begin + (uint64_t)((double)written / rate * 1e9));
            fake_rank_write(&fake, &event);
        }
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
    }
    struct event last = {.t_enter = clock_mono_ns(),
                         .kind = EVENT_CALL,
                         .call = CALL_Finalize,
                         .peer = PEER_NONE,
                         .comm = COMM_SLOT_NONE};
    last.t_exit = last.t_enter + 1;
    fake_rank_write(&fake, &last);
    atomic_store(&fake.segment->state, SEGMENT_FINALIZED);
    FILE *out = fdopen(3, "w"); /* how many it wrote, for the balance at the end */
    if (out != NULL) {
        fprintf(out, "%llu\n", (unsigned long long)written + 1);
        fclose(out);
    }
    _exit(0);
}

struct totals {
    uint64_t events, lost, sent, messages, bytes, windows;
    struct wire_node_row node, settled; /* the last, and that of the third window */
    uint64_t node_ns, settled_ns;       /* when they came */
    int bye;
};

static void answer(void *socket, zmq_msg_t *peer, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    if (wire_encode(&buffer, type, message) == 0) {
        zmq_send(socket, zmq_msg_data(peer), zmq_msg_size(peer), ZMQ_SNDMORE);
        zmq_send(socket, buffer.bytes, buffer.length, 0);
    }
    wire_buffer_finish(&buffer);
}

static void take(void *socket, zmq_msg_t *peer, const struct wire_message *message, size_t length,
                 struct totals *totals)
{
    uint64_t now = clock_real_ns();
    if (message->type == WIRE_TYPE_HELLO) {
        struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL,
                                       .version = "bench",
                                       .instance = 1,
                                       .window_ns = 1000000000,
                                       .daemon_ns = now};
        answer(socket, peer, WIRE_TYPE_WELCOME, &welcome);
    } else if (message->type == WIRE_TYPE_CLOCK_ASK) {
        struct wire_clock_answer clock = {message->clock_ask.t1_ns, now, now, 0};
        answer(socket, peer, WIRE_TYPE_CLOCK_ANSWER, &clock);
    } else if (message->type == WIRE_TYPE_RANKS) {
        struct wire_ack ack = {message->ranks.seq};
        answer(socket, peer, WIRE_TYPE_ACK, &ack);
    } else if (message->type == WIRE_TYPE_WINDOW) {
        const struct wire_window *window = &message->window;
        struct wire_ack ack = {window->seq};
        answer(socket, peer, WIRE_TYPE_ACK, &ack);
        totals->windows++;
        totals->bytes += length;
        for (uint64_t i = 0; i < window->ranks_count; i++) {
            totals->events += window->ranks[i].events;
            totals->lost += window->ranks[i].lost;
            totals->sent += window->ranks[i].sent;
        }
        for (uint64_t i = 0; i < window->pairs_count; i++)
            totals->messages += window->pairs[i].messages;
        if (window->node_count > 0 && !(window->flags & WINDOW_FINAL)) {
            totals->node = window->node[0];
            totals->node_ns = clock_mono_ns();
        }
        if (totals->windows == 3) {
            totals->settled = totals->node;
            totals->settled_ns = totals->node_ns;
        }
    } else if (message->type == WIRE_TYPE_BYE) {
        totals->bye = 1;
    }
}

static void be_daemon(void *socket, struct totals *totals, uint64_t until_ns)
{
    struct wire_arena arena = {0};
    while (!totals->bye && clock_mono_ns() < until_ns) {
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, 100) <= 0)
            continue;
        zmq_msg_t peer, body;
        zmq_msg_init(&peer);
        zmq_msg_init(&body);
        struct wire_message message;
        if (zmq_msg_recv(&peer, socket, 0) >= 0 && zmq_msg_recv(&body, socket, 0) >= 0 &&
            wire_decode(&message, &arena, zmq_msg_data(&body), zmq_msg_size(&body), NULL) == 0)
            take(socket, &peer, &message, zmq_msg_size(&body), totals);
        zmq_msg_close(&peer);
        zmq_msg_close(&body);
    }
    wire_arena_finish(&arena);
}

static pid_t start_agent(const char *path, const char *endpoint)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execl(path, path, "--foreground", "--session", SESSION, "--daemon", endpoint, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static uint64_t sum_of_written(int fd)
{
    FILE *in = fdopen(fd, "r");
    unsigned long long one, sum = 0;
    while (in != NULL && fscanf(in, "%llu", &one) == 1)
        sum += one;
    if (in != NULL)
        fclose(in);
    return sum;
}

static void report(const struct totals *totals, uint64_t written, double seconds)
{
    double cpu = (double)totals->node.cpu_ns / 1e9;
    double steady = (double)(totals->node.cpu_ns - totals->settled.cpu_ns) /
                    (double)(totals->node_ns - totals->settled_ns);
    printf("events                    %llu written, %llu summed, %llu lost%s\n",
           (unsigned long long)written, (unsigned long long)totals->events,
           (unsigned long long)totals->lost,
           totals->events + totals->lost == written && totals->sent == totals->messages
               ? ""
               : "  DO NOT ADD UP");
    printf("messages                  %llu sent, %llu matched, %llu ends given up, %llu pairs "
           "rejected\n",
           (unsigned long long)totals->sent, (unsigned long long)totals->node.matched,
           (unsigned long long)totals->node.unmatched, (unsigned long long)totals->node.rejected);
    printf("rate                      %.0f events/s\n", (double)written / seconds);
    printf("processor of the agent    %.2f %% of a core (%.2f %% with its start)\n", 100 * steady,
           100 * cpu / seconds);
    printf("resident without rings    %.1f MiB\n", (double)totals->node.rss_bytes / (1 << 20));
    printf("uplink                    %.1f kB/s in %llu messages\n",
           (double)totals->node.uplink_bytes / seconds / 1e3, (unsigned long long)totals->windows);
    printf("probe's cost a call       %.1f ns (as the agent measures it)\n",
           totals->node.call_cost_ns);
}

static int bench_live(const char *agent, double rate, double seconds, int ranks)
{
    char dir[] = "/tmp/holter-bench-XXXXXX", endpoint[64];
    if (mkdtemp(dir) == NULL)
        return 1;
    setenv("HOLTER_RUN_DIR", dir, 1);
    snprintf(endpoint, sizeof endpoint, "ipc://%s/daemon", dir);
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_ROUTER);
    int counts[2];
    if (zmq_bind(socket, endpoint) != 0 || pipe(counts) != 0)
        return 1;
    pid_t agent_pid = start_agent(agent, endpoint);
    uint64_t begin = clock_mono_ns();
    for (int i = 0; i < ranks; i++) {
        if (fork() == 0) {
            dup2(counts[1], 3);
            be_rank(i, ranks, rate / ranks, seconds, begin);
        }
    }
    close(counts[1]);
    struct totals totals = {0};
    be_daemon(socket, &totals, clock_mono_ns() + (uint64_t)((seconds + 10) * 1e9));
    uint64_t written = sum_of_written(counts[0]);
    kill(agent_pid, SIGTERM);
    while (wait(NULL) > 0) {
    }
    zmq_close(socket);
    zmq_ctx_term(context);
    rmdir(dir);
    report(&totals, written, seconds);
    return totals.events + totals.lost == written && totals.bye ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "sum") == 0)
        return bench_sum(0) | bench_sum(1);
    if (argc >= 3 && strcmp(argv[1], "live") == 0)
        return bench_live(argv[2], argc > 3 ? strtod(argv[3], NULL) : 100000,
                          argc > 4 ? strtod(argv[4], NULL) : 10, argc > 5 ? atoi(argv[5]) : 64);
    fprintf(stderr, "usage: agent_bench sum | live AGENT [RATE [SECONDS [RANKS]]]\n");
    return 2;
}
