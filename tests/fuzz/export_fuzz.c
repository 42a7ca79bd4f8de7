/* A small recording with changed cells and messages, in all formats of others, and as a report.
 *
 * The input is a list of changes, five bytes each: a table, a column, a value, which rows, and a
 * byte of the messages. */
#include "daemon/export/export.h"
#include "daemon/export/report.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/sql/window_tables.h"
#include "daemon/topology/network_message.h"
#include "tests/directory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGE 5u
#define MOST_CHANGES 32u
#define WINDOWS 6u
#define NAMES_MOST 64u
#define S UINT64_C(1000000000)
#define SEEDS 16u

/* ---- the recording --------------------------------------------------------- */

static void put_message(struct recording *r, uint64_t seq, uint64_t window, enum wire_type type,
                        const void *message, const uint8_t *data, size_t size)
{
    struct wire_buffer buffer = {0};
    struct recorded head = {.type = type,
                            .instance = 1,
                            .seq = seq,
                            .window = window,
                            .time_ns = window * S,
                            .received_ns = (window + 1) * S};
    FUZZ_HOLDS(wire_encode(&buffer, type, message) == 0);
    for (size_t at = 0; at + CHANGE <= size; at += CHANGE)
        if (data[at + 4] != 0 && data[at + 3] % WINDOWS == seq % WINDOWS)
            buffer.bytes[(size_t)data[at + 2] * data[at + 1] % buffer.length] ^= data[at + 4];
    FUZZ_HOLDS(recording_write_message(r, &head, buffer.bytes, buffer.length) == 0);
    wire_buffer_finish(&buffer);
}

static void put_messages(struct recording *r, const uint8_t *data, size_t size)
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
    put_message(r, 1, 9, WIRE_TYPE_RANKS, &ranks, data, size);
    for (uint64_t w = 10; w < 10 + WINDOWS; w++) {
        struct wire_rank_row rows[] = {{.rank = 0, .sent = 3, .in_call_peer = -1}, {.rank = 1}};
        struct wire_pair_row pairs[] = {{0, 1, 0, 0, 73, 3, 300}, {1, -1, 0, 0, 73, 1, 100}};
        struct wire_call_row calls[] = {{.rank = 1, .call = 30, .calls = 2, .time_ns = 5000}};
        struct wire_half_row half = {.key = w / 2, /* sent by one host, received by the other */
                                     .receive = w % 2,
                                     .destination = 1,
                                     .bytes = 100,
                                     .begin_ns = 5,
                                     .length_ns = 7,
                                     .together = 1,
                                     .local_ns = 5};
        struct wire_window m = {.seq = w - 8,
                                .job = "j",
                                .host = w % 2 ? "h" : "i",
                                .halves = &half,
                                .halves_count = 1,
                                .clock_error_ns = w,
                                .window = w,
                                .length_ns = S,
                                .ranks = rows,
                                .ranks_count = 2,
                                .pairs = pairs,
                                .pairs_count = 2,
                                .calls = calls,
                                .calls_count = 1};
        put_message(r, w - 8, w, WIRE_TYPE_WINDOW, &m, data, size);
    }
}

static void put_topology(void *user, const struct wire_topology *message)
{
    recording_write_result(user, WIRE_TYPE_TOPOLOGY, message);
}

/* A network, so that pairs load links. */
static void put_network(struct recording *r)
{
    static const struct wire_seat_row seats[] = {{0, 0}, {1, 5}};
    struct topology_spec spec;
    char why[300];
    const struct network_publication network = {
        .job = "j", .source = "s", .fault = "", .spec = &spec, .seats = seats, .seat_count = 2};
    FUZZ_HOLDS(topology_short(&spec, "torus:2,3", why, sizeof(why)) == 0);
    network_message(&network, put_topology, r);
    topology_spec_finish(&spec);
}

static void put_tables(struct recording *r, uint64_t random)
{
    static const enum wire_type types[] = {WIRE_TYPE_JOB,    WIRE_TYPE_PLACES,    WIRE_TYPE_TOTALS,
                                           WIRE_TYPE_ALERT,  WIRE_TYPE_LATENCIES, WIRE_TYPE_REGIONS,
                                           WIRE_TYPE_PHASES, WIRE_TYPE_CURVE,     WIRE_TYPE_CURVE};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        void *message = random_message(wire_table(types[i]), &random, 4);
        recording_write_result(r, types[i], message); /* what is no table of a job is refused */
        random_message_free(wire_table(types[i]), message);
    }
}

struct names {
    char names[NAMES_MOST][64];
    unsigned count;
};

static int take_name(void *user, int columns, char **values, char **titles)
{
    struct names *n = user;
    (void)columns;
    (void)titles;
    if (n->count < NAMES_MOST && values[0] != NULL)
        snprintf(n->names[n->count++], sizeof(n->names[0]), "%s", values[0]);
    return 0;
}

/* A cell of any table becomes something else. */
static void change_cell(sqlite3 *db, const struct names *tables, const uint8_t *c)
{
    static const char *const values[] = {"NULL",
                                         "-1",
                                         "9223372036854775807",
                                         "1e300",
                                         "x''",
                                         "'<b>&\"''",
                                         "-0.0",
                                         "zeroblob(5000)",
                                         "0",
                                         "1",
                                         "-9.9e999",
                                         "9e999",
                                         "randomblob(100)",
                                         "4294967296",
                                         "-9223372036854775808",
                                         "char(10,13,34,44,92)"};
    struct names columns = {.count = 0};
    char sql[300];
    const char *table = tables->names[c[0] % tables->count];
    snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", table);
    sqlite3_exec(db, sql, take_name, &columns, NULL);
    if (columns.count == 0)
        return;
    snprintf(sql, sizeof(sql), "UPDATE OR REPLACE %s SET %s = %s WHERE rowid %% %u = 0", table,
             columns.names[c[1] % columns.count], values[c[2] % (sizeof(values) / sizeof(*values))],
             c[3] % 3u + 1);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void change_cells(const char *path, const uint8_t *data, size_t size)
{
    struct names tables = {.count = 0};
    sqlite3 *db;
    FUZZ_HOLDS(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON", NULL, NULL,
                 NULL);
    sqlite3_exec(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", take_name,
                 &tables, NULL);
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (size_t at = 0; tables.count > 0 && at + CHANGE <= size; at += CHANGE)
        change_cell(db, &tables, data + at);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

/* ---- what is made of it ---------------------------------------------------- */

/* Texts in a page never begin elements: its only script is its own, at its end. */
static void check_report(const struct export_source *source)
{
    static const struct report_extras none = {.mapping_none = "<b>"};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    FUZZ_HOLDS(out != NULL);
    int code = report_write(out, source, &none);
    fclose(out);
    FUZZ_HOLDS(code <= 0);
    FUZZ_HOLDS(code != 0 || strstr(text, "<b>&") == NULL);
    FUZZ_HOLDS(code != 0 || strstr(text, "<script") == strstr(text, "<script>// The script of"));
    FUZZ_HOLDS(code != 0 || strstr(strstr(text, "<script") + 1, "<script") == NULL);
    FUZZ_HOLDS(code != 0 || strlen(text) == length); /* no NUL */
    free(text);
}

static void check_json(const struct export_source *source)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    FUZZ_HOLDS(out != NULL);
    int code = export_json(out, source, NULL);
    fclose(out);
    for (size_t i = 0; code == 0 && i < length; i++)
        FUZZ_HOLDS((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    free(text);
}

/* The tables of windows, whole and of a span. */
static void export_windows(FILE *out, struct export_source *source)
{
    const struct recorded_span span = {11 * S, 13 * S};
    source->window_ns = S;
    for (int part = 0; part < 2; part++) {
        source->span = part ? &span : NULL;
        for (const struct window_table *t = window_tables; t->name != NULL; t++)
            export_csv(out, source, t->name);
    }
    source->span = NULL;
}

static void export_all(const char *path, const char *archive)
{
    char why[600];
    int left_out;
    struct content content = {.pairs = NULL};
    struct export_source source = {.path = path, .content = &content};
    if (tables_open(&source.tables, path, why, sizeof(why)) != 0)
        return;
    if (content_read(&content, path, &(struct content_options){0}, why, sizeof(why)) == 0) {
        FILE *null = fopen("/dev/null", "we");
        FUZZ_HOLDS(null != NULL);
        const char *const *lists[] = {tables_names, export_sums, export_graphs};
        for (int l = 0; l < 3; l++)
            for (size_t i = 0; lists[l][i] != NULL; i++)
                export_csv(null, &source, lists[l][i]);
        export_windows(null, &source);
        for (int graph = EXPORT_RANKS; graph <= EXPORT_REGIONS; graph++)
            export_dot(null, &source, (enum export_graph)graph, 5);
        export_perfetto(null, &source, 1, &left_out, why, sizeof(why));
        fclose(null);
        check_json(&source);
        check_report(&source);
        export_otf2(archive, &source, why, sizeof(why));
    }
    content_finish(&content);
    tables_close(source.tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording *r;
    char directory[64], path[96], archive[96], why[600];
    size = size < CHANGE * MOST_CHANGES ? size : CHANGE * MOST_CHANGES;
    FUZZ_HOLDS(fuzz_directory(directory) == 0);
    snprintf(path, sizeof(path), "%s/x.hrec", directory);
    snprintf(archive, sizeof(archive), "%s/archive", directory);
    FUZZ_HOLDS(recording_open(&r, path, why, sizeof(why)) == 0);
    put_messages(r, data, size);
    put_network(r);
    put_tables(r, size > 0 ? data[0] + UINT64_C(88172645463325252) : 7);
    FUZZ_HOLDS(recording_close(r) == 0);
    change_cells(path, data, size);
    export_all(path, archive);
    directory_remove(directory);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    if (number >= SEEDS)
        return SIZE_MAX;
    for (unsigned i = 0; i < number * CHANGE; i++)
        out[i] = i % CHANGE == 4 && number % 2 ? 0 : (uint8_t)(i * 37 + number * 11);
    return number * CHANGE;
}
