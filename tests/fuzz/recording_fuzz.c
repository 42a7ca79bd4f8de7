/* Fuzzes everything that reads recordings. The input is a list of changes to a small recording:
 * of bytes anywhere in the file, of cells in its tables, of bytes of a block before compression.
 * The changed file is then read, cut, merged, compared, and continued.
 *
 * A change has six bytes: what is changed, where (three), a value, how many. */
#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/copy.h"
#include "daemon/storage/recordings/diff.h"
#include "daemon/storage/recordings/info.h"
#include "holter/error.h"
#include "holter/message_key.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define CHANGE 6u
#define MAX_CHANGES 64u
#define MAX_PLAIN (1u << 20)
#define SEEDS 12u
#define WINDOWS 6u
#define S UINT64_C(1000000000)

static char directory[64], base[96], path[96], out[96];
static uint8_t *image; /* of the unchanged recording */
static size_t image_length;

/* ---- the base ------------------------------------------------------------ */

static void recording_fuzz_write(struct recording *r, uint64_t seq, uint64_t window,
                                 enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    struct recorded head = {.type = type,
                            .instance = 1 + seq % 2,
                            .seq = seq / 2 + 1,
                            .window = window,
                            .time_ns = window * S,
                            .received_ns = (window + 1) * S + seq};
    FUZZ_HOLDS(wire_encode(&buffer, type, message) == 0);
    FUZZ_HOLDS(recording_write_message(r, &head, buffer.bytes, buffer.length) == 0);
    wire_buffer_finish(&buffer);
}

static void recording_fuzz_write_messages(struct recording *r)
{
    struct wire_member_row members[] = {{.rank = 0}, {.rank = 1}};
    struct wire_ranks ranks = {.seq = 1,
                               .job = "j",
                               .world = 2,
                               .app = "a",
                               .mpi = "m",
                               .host = "h",
                               .members = members,
                               .members_count = 2};
    uint64_t seq = 0;
    recording_fuzz_write(r, seq++, 9, WIRE_TYPE_RANKS, &ranks);
    recording_fuzz_write(r, seq++, 9, WIRE_TYPE_RANKS, &ranks);
    for (uint64_t w = 10; w < 10 + 2 * WINDOWS; w++) {
        struct wire_rank_row rows[] = {{.rank = 0, .sent = 3, .in_call_peer = -1}, {.rank = 1}};
        struct wire_pair_row pairs[] = {{0, 1, 0, 0, 73, 3, 300}, {1, -1, 0, 0, 73, 1, 100}};
        struct wire_half_row halves[12]; /* both ends, alternating */
        for (uint64_t i = 0; i < 12; i++)
            halves[i] = (struct wire_half_row){.key = message_key(1, i % 2, 2, 0, 6 * w + i / 2),
                                               .receive = w % 2,
                                               .source = i % 2,
                                               .destination = 2,
                                               .bytes = 1000 + i * w,
                                               .begin_ns = (int64_t)(1000 * i + i * w % 7) - 500,
                                               .length_ns = 770 + i * w % 77,
                                               .together = w % 2,
                                               .local_ns = (int64_t)(1000 * i) - 500};
        struct wire_node_row node = {.host = "h", .call_cost_ns = 20.5, .windows_dropped = w};
        struct wire_window m = {.seq = w,
                                .job = "j",
                                .host = "h",
                                .window = w / 2 + 5,
                                .length_ns = S,
                                .ranks = rows,
                                .ranks_count = 2,
                                .pairs = pairs,
                                .pairs_count = 2,
                                .halves = halves,
                                .halves_count = 12,
                                .node = &node,
                                .node_count = 1};
        recording_fuzz_write(r, seq++, w / 2 + 5, WIRE_TYPE_WINDOW, &m);
        if (w % 3 == 0)
            FUZZ_HOLDS(recording_commit(r) == 0);
    }
}

static void recording_fuzz_write_tables(struct recording *r)
{
    static const enum wire_type types[] = {WIRE_TYPE_JOB,    WIRE_TYPE_PLACES,    WIRE_TYPE_TOTALS,
                                           WIRE_TYPE_ALERT,  WIRE_TYPE_LATENCIES, WIRE_TYPE_REGIONS,
                                           WIRE_TYPE_PHASES, WIRE_TYPE_CURVE};
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        void *message = random_message(wire_table(types[i]), &state, 4);
        FUZZ_HOLDS(recording_write_result(r, types[i], message) == 0);
        random_message_free(wire_table(types[i]), message);
    }
}

static void recording_fuzz_clean_up(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", ".lock"};
    const char *const files[] = {base, path, out};
    char name[128];
    for (size_t f = 0; f < 3; f++) {
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
            snprintf(name, sizeof(name), "%s%s", files[f], suffixes[i]);
            unlink(name);
        }
    }
    rmdir(directory);
    free(image);
}

static void recording_fuzz_make_base(void)
{
    struct recording *r;
    char why[300];
    snprintf(directory, sizeof(directory), "%s/holter-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_HOLDS(mkdtemp(directory) != NULL);
    snprintf(base, sizeof(base), "%s/base.hrec", directory);
    snprintf(path, sizeof(path), "%s/holter-j.hrec", directory);
    snprintf(out, sizeof(out), "%s/out.hrec", directory);
    atexit(recording_fuzz_clean_up);
    FUZZ_HOLDS(recording_open(&r, base, why, sizeof(why)) == 0);
    recording_fuzz_write_messages(r);
    recording_fuzz_write_tables(r);
    FUZZ_HOLDS(recording_close(r) == 0);
    FILE *file = fopen(base, "re");
    FUZZ_HOLDS(file != NULL && fseek(file, 0, SEEK_END) == 0);
    image_length = (size_t)ftell(file);
    image = malloc(image_length);
    rewind(file);
    FUZZ_HOLDS(image != NULL && fread(image, 1, image_length, file) == image_length);
    fclose(file);
}

/* ---- changes ------------------------------------------------------------- */

static uint32_t recording_fuzz_position(const uint8_t *recording_fuzz_apply_changes)
{
    return (uint32_t)recording_fuzz_apply_changes[1] << 16 |
           (uint32_t)recording_fuzz_apply_changes[2] << 8 | recording_fuzz_apply_changes[3];
}

static void recording_fuzz_write_image(const uint8_t *data, size_t size)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    char name[128];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
    uint8_t *bytes = malloc(image_length);
    FUZZ_HOLDS(bytes != NULL);
    memcpy(bytes, image, image_length);
    for (size_t at = 0; at + CHANGE <= size; at += CHANGE) {
        const uint8_t *c = data + at;
        /* Half of the changes are near the begin, where the schema is. */
        size_t from = recording_fuzz_position(c) % (c[0] & 4 ? 8192 : image_length);
        for (unsigned i = 0; c[0] % 4 == 0 && i <= c[5] % 4u && from + i < image_length; i++)
            bytes[from + i] = (uint8_t)(c[4] + i);
    }
    FILE *file = fopen(path, "we");
    FUZZ_HOLDS(file != NULL && fwrite(bytes, 1, image_length, file) == image_length);
    fclose(file);
    free(bytes);
}

/* Replace the value of a cell of any table. */
static void recording_fuzz_change_cell(sqlite3 *db, const uint8_t *c)
{
    static const char *const tables[] = {"block",    "agent",     "job",           "part",
                                         "totals",   "alert",     "phase",         "curve",
                                         "latency",  "criterion", "places",        "nodes",
                                         "topology", "region",    "topology_part", "region_member"};
    static const char *const columns[] = {
        "first", "messages", "begin_ns",  "end_ns", "length", "data",   "agent",    "instance",
        "job",   "state",    "window_ns", "window", "part",   "causes", "rank",     "id",
        "node",  "start_ns", "message",   "region", "world",  "seen",   "since_ns", "removed_ns"};
    static const char *const values[] = {"NULL", "-1",       "9223372036854775807", "1e300",
                                         "x''",  "'text'",   "zeroblob(5000)",      "0",
                                         "1",    "-9.9e999", "randomblob(100)",     "4294967296"};
    char sql[200];
    snprintf(sql, sizeof(sql), "UPDATE OR REPLACE %s SET %s = %s WHERE rowid %% %u = 0",
             tables[c[1] % (sizeof(tables) / sizeof(*tables))],
             columns[c[2] % (sizeof(columns) / sizeof(*columns))],
             values[c[3] % (sizeof(values) / sizeof(*values))], c[4] % 3u + 1);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Change a byte of a block before compression. */
static void recording_fuzz_change_block(sqlite3 *db, const uint8_t *c)
{
    sqlite3_stmt *get = NULL, *set = NULL;
    static uint8_t plain[MAX_PLAIN], packed[2 * MAX_PLAIN];
    if (sqlite3_prepare_v2(db, "SELECT data, rowid FROM block LIMIT 1 OFFSET ?", -1, &get, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_int(get, 1, c[5] % 3);
        if (sqlite3_step(get) == SQLITE_ROW) {
            const uint8_t *data = sqlite3_column_blob(get, 0);
            size_t all = (size_t)sqlite3_column_bytes(get, 0);
            size_t frame = ZSTD_findFrameCompressedSize(data, all);
            frame = ZSTD_isError(frame) ? all : frame; /* other bytes may follow the frame */
            size_t length = ZSTD_decompress(plain, sizeof(plain), data, frame);
            sqlite3_int64 row = sqlite3_column_int64(get, 1);
            if (!ZSTD_isError(length) && length > 0) {
                plain[recording_fuzz_position(c) % length] = c[4];
                length = ZSTD_compress(packed, sizeof(packed), plain, length, 1);
                if (all - frame < sizeof(packed) - length) {
                    memcpy(packed + length, data + frame, all - frame);
                    length += all - frame;
                }
                sqlite3_prepare_v2(db, "UPDATE block SET data = ? WHERE rowid = ?", -1, &set, NULL);
                sqlite3_bind_blob(set, 1, packed, (int)length, SQLITE_STATIC);
                sqlite3_bind_int64(set, 2, row);
                sqlite3_step(set);
            }
        }
    }
    sqlite3_finalize(get);
    sqlite3_finalize(set);
}

static void recording_fuzz_apply_changes(const uint8_t *data, size_t size)
{
    sqlite3 *db;
    int tables = 0;
    recording_fuzz_write_image(data, size);
    for (size_t at = 0; at + CHANGE <= size; at += CHANGE)
        tables |= data[at] % 4 != 0;
    if (!tables)
        return;
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        for (size_t at = 0; at + CHANGE <= size; at += CHANGE) {
            if (data[at] % 4 == 1)
                recording_fuzz_change_cell(db, data + at);
            else if (data[at] % 4 != 0)
                recording_fuzz_change_block(db, data + at);
        }
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

/* ---- reading ------------------------------------------------------------- */

static int recording_fuzz_check_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    FUZZ_HOLDS(alert->title != NULL && alert->causes_count <= 16);
    return 0;
}

static int recording_fuzz_check_message(void *user, const struct recorded *head, const void *bytes,
                                        size_t length)
{
    (void)user;
    FUZZ_HOLDS(length <= WIRE_MESSAGE_BYTES && (bytes != NULL || length == 0));
    return head->window == UINT64_MAX ? 1 : 0;
}

/* A decoded message must be the same as its bytes decoded by wire_decode(). */
static void recording_fuzz_compare_decoded(struct recording_cursor *cursor,
                                           const struct wire_message *message, const void *bytes,
                                           size_t length, int fault)
{
    static struct wire_arena arena;
    static struct wire_buffer ours, theirs;
    struct wire_message expected;
    const void *made;
    size_t made_length;
    FUZZ_HOLDS(wire_decode(&expected, &arena, bytes, length, NULL) == fault);
    if (fault == 0) {
        FUZZ_HOLDS(message->type == expected.type);
        int code = wire_encode(&ours, message->type, &message->hello);
        FUZZ_HOLDS(wire_encode(&theirs, expected.type, &expected.hello) == code);
        FUZZ_HOLDS(code != 0 || (ours.length == theirs.length &&
                                 memcmp(ours.bytes, theirs.bytes, ours.length) == 0));
    }
    if (length % 2 == 0)
        return;
    FUZZ_HOLDS(recording_cursor_bytes(cursor, &made, &made_length) == 0);
    FUZZ_HOLDS(made_length == length && memcmp(made, bytes, length) == 0);
}

/* Read with two cursors in parallel, as bytes and decoded: both must agree. */
static void recording_fuzz_read_both_ways(void)
{
    static struct wire_arena arena;
    struct recording_cursor *plain, *decoded = NULL;
    struct recorded head, other;
    struct wire_message message;
    const void *bytes;
    size_t length, stated;
    uint64_t skipped;
    char why[1200];
    int code, fault;
    if (recording_cursor_salvage(&plain, path, why, sizeof(why)) != 0)
        return;
    FUZZ_HOLDS(recording_cursor_salvage(&decoded, path, why, sizeof(why)) == 0);
    do {
        while ((code = recording_cursor_next(plain, &head, &bytes, &length)) == 1) {
            FUZZ_HOLDS(recording_cursor_next_decoded(decoded, &other, &message, &arena, &stated,
                                                     &fault) == 1);
            FUZZ_HOLDS(memcmp(&head, &other, sizeof(head)) == 0 && stated == length);
            recording_fuzz_compare_decoded(decoded, &message, bytes, length, fault);
        }
        int end = recording_cursor_next_decoded(decoded, &other, &message, &arena, &stated, &fault);
        /* recording_cursor_next_decoded() does not make the bytes of a message: a length that the
         * block states wrongly is noticed by recording_cursor_next(), and only by
         * recording_cursor_bytes() here. */
        if (end == 1 && code == -HOLTER_ECORRUPT) {
            FUZZ_HOLDS(recording_cursor_bytes(decoded, &bytes, &length) == -HOLTER_ECORRUPT);
            break;
        }
        FUZZ_HOLDS(end == code);
        FUZZ_HOLDS(recording_cursor_number(plain) == recording_cursor_number(decoded));
    } while (code == -HOLTER_ECORRUPT && recording_cursor_skip(plain, &skipped) == 1 &&
             recording_cursor_skip(decoded, &skipped) == 1);
    recording_cursor_close(plain);
    recording_cursor_close(decoded);
}

static void recording_fuzz_read(void)
{
    static struct info info;
    char why[1200];
    struct recording_cursor *cursor;
    struct topology_parts network;
    recording_fuzz_read_both_ways();
    recording_read(path, &(struct recording_reader){NULL, recording_fuzz_check_alert,
                                                    recording_fuzz_check_message});
    if (info_read(&info, path, NULL, why, sizeof(why)) == 0) {
        FILE *null = fopen("/dev/null", "we");
        info_print_json(null, &info);
        fclose(null);
        info_finish(&info);
    }
    if (recording_cursor_salvage(&cursor, path, why, sizeof(why)) != 0)
        return;
    if (recording_cursor_network(cursor, &network) == 0)
        topology_parts_finish(&network);
    recording_cursor_close(cursor);
}

static void recording_fuzz_copy_and_compare(void)
{
    char why[1200];
    uint64_t begin, end;
    struct copy_counts counts;
    struct diff diff;
    const char *const paths[2] = {base, path};
    if (copy_span(path, &begin, &end, why, sizeof(why)) == 0)
        FUZZ_HOLDS(begin <= end);
    copy_cut(out, path, 11 * S, 14 * S, NULL, &counts, why, sizeof(why));
    unlink(out);
    copy_merge(out, paths, 2, NULL, &counts, why, sizeof(why));
    unlink(out);
    if (diff_read(&diff, paths, &(struct diff_options){.items = 3}, why, sizeof(why)) == 0)
        diff_finish(&diff);
}

/* Choose and continue the recording as a daemon does. */
static void recording_fuzz_continue(void)
{
    struct recording *r;
    struct recorded head = {.type = WIRE_TYPE_WINDOW, .instance = 9, .received_ns = 99 * S};
    char why[600], chosen[600];
    int exists;
    FUZZ_HOLDS(recording_choose_path(directory, "j", 1, chosen, sizeof(chosen), &exists) == 0);
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        return;
    if (recording_write_message(r, &head, "bytes", 5) == 0)
        recording_close(r);
    else
        recording_abandon(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (image == NULL)
        recording_fuzz_make_base();
    recording_fuzz_apply_changes(data, size < CHANGE * MAX_CHANGES ? size : CHANGE * MAX_CHANGES);
    recording_fuzz_read();
    recording_fuzz_copy_and_compare();
    recording_fuzz_continue();
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    if (number >= SEEDS)
        return SIZE_MAX;
    for (unsigned i = 0; i < number * CHANGE; i++)
        bytes[i] = (uint8_t)(i % CHANGE == 0 ? number + i / CHANGE : i * 37 + number * 11);
    return number * CHANGE;
}
