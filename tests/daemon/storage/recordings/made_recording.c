#include "tests/daemon/storage/recordings/made_recording.h"

#include "proto/capture_request.h"
#include "tests/daemon/storage/recording_writer.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const hosts[] = {"a", "b"};

static void put_ranks(struct recording *r, const char *job, uint64_t node)
{
    struct wire_member_row members[] = {{.rank = 2 * node}, {.rank = 2 * node + 1}};
    struct wire_ranks m = {.seq = 1,
                           .job = job,
                           .world = 4,
                           .app = "/bin/sim",
                           .mpi = "none",
                           .launcher = "mpiexec of MPICH",
                           .host = hosts[node],
                           .members = members,
                           .members_count = 2};
    uint64_t now = MADE_BEGIN * MADE_S + 1000 + node;
    kept_message(
        r, (struct recorded){.instance = node + 1, .seq = 1, .time_ns = now, .received_ns = now},
        WIRE_TYPE_RANKS, &m);
}

static void put_window(struct recording *r, const char *job, uint64_t node, uint64_t number)
{
    struct wire_rank_row ranks[] = {
        {.rank = 2 * node, .sent = 10, .sent_bytes = 1000, .lost = number == 2},
        {.rank = 2 * node + 1, .received = 10, .received_bytes = 1000}};
    struct wire_pair_row pair = {.source = 2 * node,
                                 .destination = (int64_t)(2 * node + 1),
                                 .size_class = 73,
                                 .messages = 10,
                                 .bytes = 1000};
    struct wire_call_row call = {
        .rank = 2 * node, .call = 1, .calls = 10, .bytes = 1000, .time_ns = 5000};
    struct wire_window m = {.seq = 2 + number,
                            .job = job,
                            .host = hosts[node],
                            .window = MADE_BEGIN + number,
                            .length_ns = MADE_S,
                            .ranks = ranks,
                            .ranks_count = 2,
                            .pairs = &pair,
                            .pairs_count = 1,
                            .calls = &call,
                            .calls_count = 1};
    kept_message(r,
                 (struct recorded){.instance = node + 1,
                                   .seq = m.seq,
                                   .window = m.window,
                                   .time_ns = m.window * MADE_S,
                                   .received_ns = (m.window + 1) * MADE_S + 1000 + node},
                 WIRE_TYPE_WINDOW, &m);
}

static void put_tables(struct recording *r, const char *job, uint64_t from, uint64_t end)
{
    struct wire_job row = {.job = job,
                           .state = "ended",
                           .app = "/bin/sim",
                           .mpi = "none",
                           .world = 4,
                           .seen = 4,
                           .start_ns = (MADE_BEGIN + from) * MADE_S,
                           .end_ns = (MADE_BEGIN + end) * MADE_S,
                           .window_ns = MADE_S};
    struct wire_alert alert = {.job = job,
                               .id = 1,
                               .kind = "latency",
                               .state = "resolved",
                               .severity = "warning",
                               .title = "latency grew",
                               .since_ns = (MADE_BEGIN + 3) * MADE_S,
                               .fired_ns = (MADE_BEGIN + 4) * MADE_S,
                               .updated_ns = (MADE_BEGIN + 5) * MADE_S};
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &row), 0);
    if (from <= 3 && end > 3)
        assert_int_equal(recording_write_result(r, WIRE_TYPE_ALERT, &alert), 0);
    for (uint64_t n = from; n < end; n++) {
        struct wire_totals t = {.job = job,
                                .window = MADE_BEGIN + n,
                                .start_ns = (MADE_BEGIN + n) * MADE_S,
                                .length_ns = MADE_S,
                                .sent = 20,
                                .matched = 19 * (n + 1),
                                .unmatched = n + 1};
        assert_int_equal(recording_write_result(r, WIRE_TYPE_TOTALS, &t), 0);
    }
}

void made(const char *path, const char *job, uint64_t from, uint64_t end)
{
    struct recording *r;
    char why[300];
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    for (uint64_t node = 0; node < 2; node++)
        put_ranks(r, job, node);
    for (uint64_t n = from; n < end; n++) {
        for (uint64_t node = 0; node < 2; node++)
            put_window(r, job, node, n);
    }
    put_tables(r, job, from, end);
    assert_int_equal(recording_close(r), 0);
}

void made_capture(const char *path, const char *job, uint64_t id, uint64_t second)
{
    made_capture_until(path, job, id, second, second);
}

void made_capture_until(const char *path, const char *job, uint64_t id, uint64_t second,
                        uint64_t arrival)
{
    struct recording *r;
    char why[300];
    uint64_t at_ns = (MADE_BEGIN + second) * MADE_S + MADE_S / 2;
    uint64_t received_ns = (MADE_BEGIN + arrival) * MADE_S + MADE_S / 2;
    struct wire_capture_thread_row thread = {.rank = 0, .records = 2};
    struct wire_capture_event_row events[] = {
        {.number = 0, .kind = 1, .call = 1, .begin_ns = -100, .length_ns = 10, .source = -1},
        {.number = 1, .kind = 1, .call = 100, .begin_ns = -50, .running = 1, .source = -1}};
    struct wire_captured m = {.seq = 100 + id,
                              .job = job,
                              .host = hosts[0],
                              .window = MADE_BEGIN + second,
                              .id = id,
                              .asked_ns = at_ns,
                              .at_ns = at_ns,
                              .threads = &thread,
                              .threads_count = 1,
                              .events = events,
                              .events_count = 2,
                              .reason = "to see",
                              .nodes = 1};
    struct wire_capture told = wire_capture_from_captured(&m);
    told.answered = 1;
    told.records = 2;
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    kept_message(
        r,
        (struct recorded){
            .instance = 1, .seq = m.seq, .time_ns = received_ns, .received_ns = received_ns},
        WIRE_TYPE_CAPTURED, &m);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_CAPTURE, &told), 0);
    assert_int_equal(recording_close(r), 0);
}

int64_t made_ask(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    int64_t number = 0;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    if (sqlite3_step(s) == SQLITE_ROW)
        number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}
