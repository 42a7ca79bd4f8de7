/* Makes a recording of a small job. */
#include "tests/daemon/replay/replay_film.h"

#include "holter/size_class.h"
#include "tests/daemon/agent_words.h"
#include "tests/daemon/storage/recording_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 8u
#define NODES 2u
#define BYTES 1000u

__extension__ typedef unsigned __int128 wide;

struct film {
    struct recording *recording;
    uint64_t seqs[NODES];
    unsigned messages, damaged;
};

static void keep(struct film *f, unsigned node, enum wire_type type, const void *message,
                 uint64_t window, uint64_t received_ns)
{
    struct recorded head = {.instance = 100 + node,
                            .seq = f->seqs[node],
                            .window = window,
                            .time_ns = window == 0 ? received_ns : window * FILM_WINDOW_NS,
                            .received_ns = received_ns};
    if (++f->messages == f->damaged)
        kept_damaged(f->recording, head, type, message);
    else
        kept_message(f->recording, head, type, message);
}

static void keep_ranks(struct film *f, unsigned node)
{
    struct agent_words words;
    struct wire_ranks m =
        agent_words_ranks(&words, FILM_JOB, node, RANKS / NODES, RANKS, ++f->seqs[node]);
    for (unsigned i = 0; i < RANKS / NODES; i++) {
        words.members[i].pid = 100 + i;
        words.members[i].core = 1 + i;
        words.members[i].numa = 1;
    }
    keep(f, node, WIRE_TYPE_RANKS, &m, 0, FILM_FIRST * FILM_WINDOW_NS + node);
}

static void keep_window(struct film *f, unsigned node, unsigned at, int last, uint64_t received_ns)
{
    char host[8];
    unsigned each = RANKS / NODES, from = node * each, distance = 1u << (at / 5 % 3);
    int talks = at % 5 < 3;
    struct wire_rank_row rows[RANKS / NODES];
    struct wire_pair_row sums[RANKS / NODES];
    struct wire_burst_pair_row pairs[RANKS / NODES];
    struct wire_transfer_row transfers[RANKS / NODES];
    struct wire_call_row calls[RANKS / NODES];
    uint64_t window = FILM_FIRST + at, middle = window * FILM_WINDOW_NS + FILM_WINDOW_NS / 2;
    wide sum = (wide)middle * each;
    for (unsigned i = 0; i < each; i++) {
        unsigned rank = from + i, other = rank ^ distance, local = from + (i ^ 1u);
        rows[i] = (struct wire_rank_row){.rank = rank,
                                         .calls = 3 + at % 7,
                                         .sent = talks ? 1 + at % 3 : 0,
                                         .wait_ns = 1000 * (rank + at),
                                         .in_call_peer = -1};
        sums[i] = (struct wire_pair_row){.source = rank,
                                         .destination = other,
                                         .size_class = size_class_of(BYTES),
                                         .messages = 1 + at % 3,
                                         .bytes = BYTES};
        calls[i] =
            (struct wire_call_row){.rank = rank, .call = 5, .calls = 1 + at % 3, .time_ns = 900};
        pairs[i] = (struct wire_burst_pair_row){i, other, size_class_of(BYTES), 1, BYTES};
        pairs[i].source = rank;
        transfers[i] = (struct wire_transfer_row){.source = rank,
                                                  .destination = local,
                                                  .size_class = size_class_of(BYTES),
                                                  .messages = 20,
                                                  .transfer_ns = 20 * (2000 + 100 * (at % 11)),
                                                  .network_ns = 20 * 1500};
    }
    snprintf(host, sizeof(host), "n%u", node);
    struct wire_burst_row burst = {.first_ns = middle,
                                   .last_ns = middle,
                                   .time_sum_high = (uint64_t)(sum >> 64),
                                   .time_sum_low = (uint64_t)sum,
                                   .messages = each,
                                   .bytes = each * BYTES,
                                   .pairs = each};
    struct wire_death_row death = {
        .rank = 2, .pid = 102, .call = 5, .in_call = 1, .peer = 3, .at_ns = middle};
    int dies = node == 0 && at == FILM_DEATH;
    struct wire_window m = {.seq = ++f->seqs[node],
                            .job = FILM_JOB,
                            .host = host,
                            .window = window,
                            .length_ns = FILM_WINDOW_NS,
                            .flags = last ? WINDOW_FINAL : 0,
                            .ranks = rows,
                            .ranks_count = each,
                            .pairs = sums,
                            .pairs_count = talks ? each : 0,
                            .calls = calls,
                            .calls_count = talks ? each : 0,
                            .transfers = transfers,
                            .transfers_count = talks ? each : 0,
                            .bursts = &burst,
                            .bursts_count = (uint64_t)talks,
                            .burst_pairs = pairs,
                            .burst_pairs_count = talks ? each : 0,
                            .deaths = &death,
                            .deaths_count = (uint64_t)dies};
    keep(f, node, WIRE_TYPE_WINDOW, &m, window, received_ns);
}

static void keep_captured(struct film *f, unsigned node, uint64_t at_ns)
{
    char host[8];
    struct wire_capture_thread_row thread = {.rank = node * RANKS / NODES, .records = 9};
    struct wire_capture_event_row events[] = {
        {.number = 7,
         .kind = 1,
         .call = 1,
         .begin_ns = -900,
         .length_ns = 50,
         .peer = 1,
         .bytes = 8},
        {.number = 8,
         .kind = 1,
         .call = 100,
         .begin_ns = -800,
         .running = 1,
         .peer = -1,
         .tag = -1},
    };
    snprintf(host, sizeof(host), "n%u", node);
    struct wire_captured m = {.seq = ++f->seqs[node],
                              .job = FILM_JOB,
                              .host = host,
                              .window = FILM_FIRST + FILM_CAPTURE,
                              .id = 1,
                              .asked_ns = at_ns,
                              .at_ns = at_ns,
                              .threads = &thread,
                              .threads_count = 1,
                              .events = events,
                              .events_count = 2,
                              .reason = "asked for by hand",
                              .nodes = NODES,
                              .fault = ""};
    keep(f, node, WIRE_TYPE_CAPTURED, &m, 0, at_ns);
}

void film_make(const char *path, unsigned windows, unsigned damaged)
{
    char why[256];
    struct film f = {.damaged = damaged};
    assert_int_equal(recording_open(&f.recording, path, why, sizeof(why)), 0);
    for (unsigned node = 0; node < NODES && windows > 0; node++)
        keep_ranks(&f, node);
    for (unsigned at = 0; at < windows; at++) {
        uint64_t end_ns = (FILM_FIRST + at + 1) * FILM_WINDOW_NS;
        for (unsigned node = 0; node < NODES && at == FILM_CAPTURE; node++)
            keep_captured(&f, node, end_ns - 5000000 + node);
        keep_window(&f, 0, at, at + 1 == windows, end_ns + 2000000);
        if (at == 20) /* late: after the next window of the other node */
            continue;
        if (at == 21)
            keep_window(&f, 1, 20, 0, end_ns + 2500000);
        keep_window(&f, 1, at, at + 1 == windows, end_ns + 3000000);
    }
    assert_int_equal(recording_close(f.recording), 0);
}
