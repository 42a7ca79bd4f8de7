/* Any bytes as what an agent captured: taken by a job or refused with a reason, told, kept in
 * tables, and printed. */
#include "agent/cli/text/text.h"
#include "daemon/job/job_captures.h"
#include "daemon/storage/recording_captures.h"
#include "proto/capture_request.h"
#include "proto/wire_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)
#define ROWS 64u /* of a message that is put right */

struct told {
    struct capture_view view;
    sqlite3_stmt *tables[CAPTURE_STATEMENTS];
    unsigned count;
};

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_CAPTURE;
}

static void tell(void *user, const char *job, enum wire_type type, const void *message)
{
    struct told *told = user;
    (void)job;
    if (type != WIRE_TYPE_CAPTURE)
        return;
    told->count++;
    FUZZ_HOLDS(capture_view_add(&told->view, message) == 0);
    FUZZ_HOLDS(capture_tables_put(told->tables, message) == 0);
}

static void print(const struct capture_view *view)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return;
    capture_print(out, view);
    for (size_t i = 0; i < view->count; i++)
        capture_brief(out, &view->parts[i].message.capture);
    fclose(out);
    for (size_t i = 0; i < length; i++)
        FUZZ_HOLDS(((unsigned char)text[i] >= 0x20 && text[i] != 0x7f) || text[i] == '\n');
    free(text);
}

/* As it came, and put right, so that what lies behind the checks is reached, too. */
static void take(struct job *job, const struct wire_captured *message)
{
    struct wire_capture_event_row events[ROWS];
    struct wire_capture_thread_row threads[ROWS];
    struct wire_source_row sources[ROWS];
    struct wire_captured m = *message;
    struct job_fault fault = {""};
    uint64_t id;
    int code = job_accept_captured(job, 1, message, S, &id, &fault);
    FUZZ_HOLDS(code == 0 || fault.text[0] != '\0');
    m.events_count = m.events_count < ROWS ? m.events_count : ROWS;
    m.threads_count = m.threads_count < ROWS ? m.threads_count : ROWS;
    m.sources_count = m.sources_count < ROWS ? m.sources_count : ROWS;
    for (uint64_t i = 0; i < m.threads_count; i++) {
        threads[i] = m.threads[i];
        threads[i].rank %= JOB_MAXIMUM_RANKS;
    }
    for (uint64_t i = 0; i < m.sources_count; i++) {
        sources[i] = m.sources[i];
        sources[i].rank %= JOB_MAXIMUM_RANKS;
        sources[i].source %= JOB_MAXIMUM_RANKS;
    }
    for (uint64_t i = 0; i < m.events_count; i++) {
        events[i] = m.events[i];
        events[i].thread = m.threads_count == 0 ? 0 : events[i].thread % m.threads_count;
        events[i].comm = m.comms_count == 0 ? 0 : events[i].comm % m.comms_count;
        events[i].region = m.regions_count == 0 ? 0 : events[i].region % m.regions_count;
        events[i].kind += events[i].kind == 0;
    }
    m.events = events;
    m.threads = threads;
    m.sources = sources;
    m.events_count = m.threads_count == 0 ? 0 : m.events_count;
    m.id %= 1000;
    FUZZ_HOLDS(job_accept_captured(job, 1, &m, S, &id, &fault) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct told told = {.count = 0};
    struct job *job = NULL;
    sqlite3 *db = NULL;
    const struct job_options options = {
        .window_ns = S, .grace_ns = S, .lost_ns = 30 * S, .most_pairs = 100};
    const struct job_output output = {&told, wanted, tell, NULL};
    int is_one =
        wire_decode(&message, &arena, data, size, NULL) == 0 && message.type == WIRE_TYPE_CAPTURED;
    if (is_one && sqlite3_open(":memory:", &db) == SQLITE_OK &&
        capture_tables_create(told.tables, db) == 0 &&
        job_create(&job, "fuzz.0", &options, &output) == 0) {
        take(job, &message.captured);
        job_finish(job, 2 * S);
        FUZZ_HOLDS(told.count == 1 || told.count == 2);
        print(&told.view);
    }
    job_destroy(job);
    for (int i = 0; i < CAPTURE_STATEMENTS; i++)
        sqlite3_finalize(told.tables[i]);
    sqlite3_close(db);
    capture_view_finish(&told.view);
    wire_arena_finish(&arena);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    const struct wire_table *table = wire_table(WIRE_TYPE_CAPTURED);
    uint64_t random = 1 + number;
    struct wire_buffer buffer = {0};
    size_t length = 0;
    if (number >= 8)
        return SIZE_MAX;
    void *message = random_message(table, &random, 6);
    if (wire_encode(&buffer, table->type, message) == 0 && buffer.length <= FUZZ_BYTES)
        memcpy(out, buffer.bytes, length = buffer.length);
    random_message_free(table, message);
    wire_buffer_finish(&buffer);
    return length;
}
