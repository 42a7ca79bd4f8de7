#include "tests/daemon/export/recorded.h"

#include "holter/call.h"
#include "holter/size_class.h"
#include "tests/daemon/storage/recording_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define FIRST (RECORDED_BEGIN_NS / SECOND)

static void keep(struct recording *recording, enum wire_type type, const void *message,
                 uint64_t host, uint64_t seq, uint64_t window)
{
    struct recorded head = {.instance = host + 1,
                            .seq = seq,
                            .window = window,
                            .time_ns = window > 0 ? window * SECOND : RECORDED_BEGIN_NS,
                            .received_ns = (window > 0 ? window + 1 : FIRST) * SECOND + 1000};
    kept_message(recording, head, type, message);
}

static void keep_ranks(struct recording *recording, uint64_t host, const char *name)
{
    struct wire_member_row members[2] = {{.rank = 2 * host}, {.rank = 2 * host + 1}};
    struct wire_ranks ranks = {.seq = 1,
                               .job = "job.0",
                               .world = 4,
                               .app = "sim",
                               .host = name,
                               .members = members,
                               .members_count = 2};
    keep(recording, WIRE_TYPE_RANKS, &ranks, host, 1, 0);
}

static void keep_window(struct recording *recording, uint64_t host, const char *name,
                        uint64_t window)
{
    struct wire_comm_row comm = {.id = 1, .size = 4, .name = "MPI_COMM_WORLD"};
    struct wire_region_row region = {""};
    struct wire_rank_row ranks[2];
    struct wire_pair_row pairs[2];
    struct wire_call_row calls[2];
    const uint64_t inner = 2 * host, outer = inner + 1; /* which sends to the other host */
    const struct wire_transfer_row transfer = {.source = inner,
                                               .destination = outer,
                                               .size_class = size_class_of(100),
                                               .messages = 5 * (inner + 1),
                                               .transfer_ns = 10000 * (inner + 1)};
    const struct wire_half_row halves[2] = {{.key = 4 * window + outer,
                                             .source = outer,
                                             .destination = (outer + 1) % 4,
                                             .bytes = 100,
                                             .begin_ns = 1000,
                                             .length_ns = 500,
                                             .local_ns = 1000},
                                            {.key = 4 * window + (outer + 2) % 4,
                                             .receive = 1,
                                             .source = (outer + 2) % 4,
                                             .destination = inner,
                                             .bytes = 100,
                                             .begin_ns = 2000,
                                             .length_ns = 9000,
                                             .together = 1,
                                             .local_ns = 2000}};
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t rank = 2 * host + i, count = 10 * (rank + 1), before = 10 * ((rank + 3) % 4 + 1);
        ranks[i] = (struct wire_rank_row){.rank = rank,
                                          .events = count + before,
                                          .calls = count,
                                          .sent = count,
                                          .sent_bytes = 100 * count,
                                          .received = before,
                                          .received_bytes = 100 * before,
                                          .send_ns = (rank + 1) * 100000000,
                                          .threads = 1,
                                          .absent_ns = rank == 2 ? SECOND / 2 : 0};
        pairs[i] = (struct wire_pair_row){.source = rank,
                                          .destination = (int64_t)((rank + 1) % 4),
                                          .size_class = size_class_of(100),
                                          .messages = count,
                                          .bytes = 100 * count};
        calls[i] = (struct wire_call_row){.rank = rank,
                                          .call = call_by_name("MPI_Send"),
                                          .calls = count,
                                          .bytes = 100 * count,
                                          .time_ns = (rank + 1) * 100000000,
                                          .longest_ns = 5000 + window - FIRST};
    }
    struct wire_node_row node = {.host = name, .ranks = 2};
    struct wire_window message = {.seq = window - FIRST + 2,
                                  .job = "job.0",
                                  .host = node.host,
                                  .window = window,
                                  .length_ns = SECOND,
                                  .comms = &comm,
                                  .comms_count = 1,
                                  .regions = &region,
                                  .regions_count = 1,
                                  .ranks = ranks,
                                  .ranks_count = 2,
                                  .pairs = pairs,
                                  .pairs_count = 2,
                                  .calls = calls,
                                  .calls_count = 2,
                                  .transfers = &transfer,
                                  .transfers_count = 1,
                                  .halves = halves,
                                  .halves_count = 2,
                                  .clock_error_ns = 100,
                                  .node = &node,
                                  .node_count = 1};
    keep(recording, WIRE_TYPE_WINDOW, &message, host, message.seq, window);
}

static void keep_results(struct recording *recording)
{
    struct wire_job job = {.job = "job.0",
                           .state = "ended",
                           .app = "/opt/sim",
                           .command = "mpirun -n 4 ./sim",
                           .world = 4,
                           .seen = 4,
                           .start_ns = RECORDED_BEGIN_NS,
                           .end_ns = RECORDED_BEGIN_NS + 3 * SECOND,
                           .window_ns = SECOND};
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_JOB, &job), 0);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        struct wire_totals totals = {.job = "job.0",
                                     .window = w,
                                     .start_ns = w * SECOND,
                                     .length_ns = SECOND,
                                     .agents = 2,
                                     .ranks = 4,
                                     .sent = 100,
                                     .sent_bytes = 10000,
                                     .send_ns = SECOND,
                                     .matched = 4385,
                                     .unmatched = 363631};
        assert_int_equal(recording_write_result(recording, WIRE_TYPE_TOTALS, &totals), 0);
    }
    struct wire_cause_row causes[2] = {{.name = "network", .share = 0.75, .text = "it is <slow>"},
                                       {.name = "late sender", .share = 0.25, .text = "rank 3"}};
    struct wire_alert alert = {.job = "job.0",
                               .id = 1,
                               .kind = "latency",
                               .state = "resolved",
                               .since_ns = RECORDED_BEGIN_NS + SECOND,
                               .updated_ns = RECORDED_BEGIN_NS + 2 * SECOND,
                               .fired_ns = RECORDED_BEGIN_NS + SECOND,
                               .title = RECORDED_TITLE,
                               .rank = -1,
                               .severity = "critical",
                               .ranks = "0-1",
                               .ratio = 2.5,
                               .ratio_worst = 4,
                               .culprit = "node",
                               .culprits = "n1",
                               .progress = 0.54,
                               .lost_ns = 6000000000,
                               .causes = causes,
                               .causes_count = 2,
                               .advice = "look at the link"};
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_ALERT, &alert), 0);
    struct wire_phase_row phases[2] = {{.id = 1,
                                        .begin_ns = RECORDED_BEGIN_NS + 1000,
                                        .end_ns = RECORDED_BEGIN_NS + SECOND,
                                        .messages = 100,
                                        .communities = 2},
                                       {.id = 2,
                                        .begin_ns = RECORDED_BEGIN_NS + SECOND + 1000,
                                        .end_ns = RECORDED_BEGIN_NS + 2 * SECOND,
                                        .messages = 100,
                                        .communities = 2}};
    struct wire_phases phase = {.job = "job.0", .phases = phases, .phases_count = 2};
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_PHASES, &phase), 0);
    struct wire_curve_point_row points[2] = {
        {.phase = 1, .begin_ns = phases[0].begin_ns, .end_ns = phases[0].end_ns, .height = 0.5},
        {.phase = 2,
         .begin_ns = phases[1].begin_ns,
         .end_ns = phases[1].end_ns,
         .height = 0.5,
         .returned = 1,
         .resembles = 1}};
    struct wire_curve curve = {.job = "job.0", .points = points, .points_count = 2};
    assert_int_equal(recording_write_result(recording, WIRE_TYPE_CURVE, &curve), 0);
}

static const char *const recorded_hosts[2] = {"alpha", "beta"};

/* @param windows  of the second host */
static void recorded_make_windows(const char *path, const char *const hosts[2], uint64_t windows)
{
    struct recording *recording;
    char why[200] = "";
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    for (uint64_t host = 0; host < 2; host++)
        keep_ranks(recording, host, hosts[host]);
    for (uint64_t w = FIRST; w < FIRST + 3; w++) {
        for (uint64_t host = 0; host < 1 + (uint64_t)(w < FIRST + windows); host++)
            keep_window(recording, host, hosts[host], w);
    }
    keep_results(recording);
    assert_int_equal(recording_close(recording), 0);
}

void recorded_make(const char *path)
{
    recorded_make_on(path, recorded_hosts);
}

void recorded_make_on(const char *path, const char *const hosts[2])
{
    recorded_make_windows(path, hosts, 3);
}

void recorded_make_with_end(const char *path)
{
    recorded_make_windows(path, recorded_hosts, 1);
}
