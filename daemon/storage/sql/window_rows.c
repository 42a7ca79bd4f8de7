/* Rows of window messages, of what these put on the links of the network, and of plain tables. */
#include "daemon/storage/sql/window_rows.h"

#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/tables/saturate.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_blocks.h"
#include "daemon/storage/recording_file.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "holter/size_class.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define ID_BITS 24 /* of an id: number of the row in its message or window */

/** The network, and where ranks are in it. Empty where the recording has none. */
struct window_network {
    struct topology_parts parts;
    struct topology *topology;
    struct link_loads *loads; /* of the message */
    uint32_t *vertices;       /* owned: of ranks; TOPOLOGY_NONE: not known */
    uint64_t ranks;
};

struct window_rows {
    const struct window_table *table;
    sqlite3 *db;
    struct recording_cursor *cursor;
    uint64_t begin_ns, window_ns;
    struct window_filter filter;
    uint64_t stop_ns; /* no message of the range is received later */
    struct wire_message message;
    struct wire_arena arena;
    size_t row, row_count; /* of the message: the next one, and how many; links count as rows */
    uint64_t window;
    struct window_network network;
    sqlite3_stmt *plain;
    char why[256];
};

static uint64_t window_rows_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* ---- life -------------------------------------------------------------------- */

/* The vertices of ranks stand in a table of their own. */
static int window_rows_load_seats(struct window_rows *r)
{
    static const char query[] = "SELECT rank, vertex FROM main.seat WHERE rank BETWEEN 0 AND ?1"
                                " AND vertex BETWEEN 0 AND ?2";
    struct recording_file *file = recording_cursor_file(r->cursor);
    struct window_network *n = &r->network;
    sqlite3_stmt *seats = NULL;
    int more = 0;
    n->ranks = recording_file_count(file, "SELECT max(rank) + 1 FROM main.seat");
    n->ranks = n->ranks < TOPOLOGY_MAX_VERTICES ? n->ranks : TOPOLOGY_MAX_VERTICES;
    n->vertices = malloc((n->ranks + 1) * sizeof(*n->vertices));
    if (n->vertices == NULL)
        return -ENOMEM;
    memset(n->vertices, 0xff, (n->ranks + 1) * sizeof(*n->vertices)); /* TOPOLOGY_NONE */
    int code = recording_file_prepare(file, &seats, query);
    if (code == 0) {
        sqlite3_bind_int64(seats, 1, (sqlite3_int64)n->ranks);
        sqlite3_bind_int64(seats, 2, (sqlite3_int64)topology_vertices(n->topology) - 1);
    }
    while (code == 0 && (more = recording_file_step(file, seats)) == 1)
        n->vertices[sqlite3_column_int64(seats, 0)] = (uint32_t)sqlite3_column_int64(seats, 1);
    sqlite3_finalize(seats);
    return code != 0 ? code : more;
}

/* Load the network that was published last. @return 0, also where there is none, or negative */
static int window_rows_load_network(struct window_rows *r)
{
    struct window_network *n = &r->network;
    char why[256];
    int code = recording_cursor_network(r->cursor, &n->parts);
    if (code != 0 || !topology_parts_has(&n->parts))
        return code;
    code = topology_create(&n->topology, &n->parts.spec, why, sizeof(why));
    code = code != 0 ? code : link_loads_create(&n->loads, n->topology);
    return code != 0 ? code : window_rows_load_seats(r);
}

/* Prepare the query of a plain table: its columns after the window, in the order of ours. */
static int window_rows_prepare(struct window_rows *r)
{
    char sql[512] = "SELECT window";
    for (const struct window_column *c = r->table->columns + WINDOW_COMMON_COLUMNS; c->name != NULL;
         c++)
        text_append(sql, sizeof(sql), ", %s", c->name);
    text_append(sql, sizeof(sql),
                " FROM main.%s WHERE window BETWEEN ? AND ? ORDER BY window, scope, id",
                r->table->plain);
    return recording_file_prepare(recording_cursor_file(r->cursor), &r->plain, sql);
}

int window_rows_open(struct window_rows **out, sqlite3 *db, const struct window_table *table,
                     char *why, size_t capacity)
{
    struct window_rows *r = calloc(1, sizeof(*r));
    uint64_t end_ns;
    snprintf(why, capacity, "no memory");
    if (r == NULL)
        return -ENOMEM;
    r->table = table;
    r->db = db;
    int code = recording_cursor_borrow(&r->cursor, db, why, capacity);
    if (code == 0) {
        r->window_ns = recording_cursor_window_ns(r->cursor);
        if (!recording_cursor_published(r->cursor, &r->begin_ns, &end_ns) &&
            recording_cursor_span(r->cursor, &r->begin_ns, &end_ns) != 0)
            r->begin_ns = 0;
        code = table->source == WINDOW_LINKS         ? window_rows_load_network(r)
               : table->source == WINDOW_PLAIN_TABLE ? window_rows_prepare(r)
                                                     : 0;
        if (code != 0)
            snprintf(why, capacity, "table %s: %s",
                     table->plain != NULL ? table->plain : "topology", holter_strerror(code));
    }
    if (code == 0)
        *out = r;
    else
        window_rows_close(r);
    return code;
}

void window_rows_close(struct window_rows *r)
{
    if (r == NULL)
        return;
    sqlite3_finalize(r->plain);
    link_loads_destroy(r->network.loads);
    topology_destroy(r->network.topology);
    topology_parts_finish(&r->network.parts);
    free(r->network.vertices);
    wire_arena_finish(&r->arena);
    recording_cursor_close(r->cursor);
    free(r);
}

uint64_t window_rows_window_ns(const struct window_rows *r)
{
    return r->window_ns;
}

uint64_t window_rows_begin_ns(const struct window_rows *r)
{
    return r->begin_ns;
}

const char *window_rows_error(const struct window_rows *r)
{
    return r->why;
}

/* Describe an error of the reading. @return the code */
static int window_rows_fail(struct window_rows *r, int code)
{
    if (sqlite3_errcode(r->db) == SQLITE_INTERRUPT)
        code = -EINTR;
    if (r->table->source == WINDOW_PLAIN_TABLE)
        snprintf(r->why, sizeof(r->why), "table %s: %s", r->table->plain, holter_strerror(code));
    else
        snprintf(r->why, sizeof(r->why),
                 "message %" PRIu64
                 " of the recording: %s; `holter cut` copies what can be read of it",
                 recording_cursor_number(r->cursor) + 1, holter_strerror(code));
    return code;
}

/* ---- links ------------------------------------------------------------------- */

static uint32_t window_rows_vertex(const struct window_network *n, uint64_t rank)
{
    return rank < n->ranks ? n->vertices[rank] : TOPOLOGY_NONE;
}

/* Put the pairs of the message on the links. Pairs without vertices, or a route between them, load
 * nothing. */
static void window_rows_load_links(struct window_rows *r)
{
    struct window_network *n = &r->network;
    const struct wire_window *w = &r->message.window;
    r->row_count = 0;
    if (n->loads == NULL)
        return;
    link_loads_clear(n->loads);
    for (uint64_t i = 0; i < w->pairs_count; i++) {
        const struct wire_pair_row *p = &w->pairs[i];
        struct load_change change = {
            window_rows_vertex(n, p->source),
            p->destination < 0 ? TOPOLOGY_NONE : window_rows_vertex(n, (uint64_t)p->destination),
            (int64_t)p->bytes, (int64_t)p->messages};
        if (change.source != TOPOLOGY_NONE && change.destination != TOPOLOGY_NONE &&
            link_loads_add(n->loads, &change) == 0)
            r->row_count = topology_links(n->topology);
    }
}

/* Is there a load on the link that is the current row? */
static int window_rows_link_is_loaded(const struct window_rows *r)
{
    const struct link_load *load = &link_loads_values(r->network.loads)[r->row];
    return load->messages != 0 || load->bytes != 0;
}

static void window_rows_name_vertex(const struct window_rows *r, int destination,
                                    sqlite3_context *out)
{
    char name[TOPOLOGY_NAME + 1] = "";
    uint32_t from, to;
    if (topology_link(r->network.topology, (uint32_t)r->row, &from, &to) == 0)
        return;
    topology_vertex_name(r->network.topology, destination ? to : from, name, sizeof(name));
    sqlite3_result_text(out, name, -1, SQLITE_TRANSIENT);
}

/* ---- reading ----------------------------------------------------------------- */

int window_rows_begin(struct window_rows *r, const struct window_filter *filter)
{
    uint64_t start = 1, window_ns = r->window_ns;
    r->filter = *filter;
    r->row = r->row_count = 0;
    r->window = UINT64_MAX; /* none */
    r->stop_ns = UINT64_MAX;
    if (r->table->source == WINDOW_PLAIN_TABLE) {
        uint64_t last = filter->last > INT64_MAX ? INT64_MAX : filter->last;
        uint64_t first = filter->first > INT64_MAX ? INT64_MAX : filter->first;
        sqlite3_reset(r->plain);
        sqlite3_bind_int64(r->plain, 1, (sqlite3_int64)first);
        sqlite3_bind_int64(r->plain, 2, filter->first > filter->last ? -1 : (sqlite3_int64)last);
        return 0;
    }
    if (filter->first <= filter->last && window_ns > 0)
        recording_blocks_bound(r->cursor, window_rows_product(filter->first, window_ns),
                               window_rows_product(saturated_sum(filter->last, 1), window_ns),
                               &start, &r->stop_ns);
    recording_cursor_seek(r->cursor, start - 1);
    return 0;
}

/* Read the next message of a window in the range. @return 1, 0 or negative */
static int window_rows_next_message(struct window_rows *r)
{
    struct recorded head;
    size_t length;
    int code, fault;
    if (r->filter.first > r->filter.last)
        return 0;
    while ((code = recording_cursor_next_decoded(r->cursor, &head, &r->message, &r->arena, &length,
                                                 &fault)) == 1) {
        if (head.received_ns > r->stop_ns)
            return 0;
        if (head.type != WIRE_TYPE_WINDOW)
            continue;
        if (fault != 0 || r->message.type != WIRE_TYPE_WINDOW) {
            snprintf(r->why, sizeof(r->why), "message %" PRIu64 " of the recording is damaged",
                     recording_cursor_number(r->cursor));
            return fault == -ENOMEM ? fault : -HOLTER_ECORRUPT;
        }
        r->window = r->message.window.window;
        if (r->window >= r->filter.first && r->window <= r->filter.last)
            return 1;
    }
    return code == 0 ? 0 : window_rows_fail(r, code);
}

static const uint8_t *window_rows_field(const struct window_rows *r)
{
    const uint8_t *first;
    memcpy(&first, (const uint8_t *)&r->message.window + r->table->rows, sizeof(first));
    return first + r->row * r->table->row_bytes;
}

static uint64_t window_rows_slot(const struct window_rows *r, const struct window_column *column)
{
    uint64_t slot;
    memcpy(&slot, window_rows_field(r) + column->offset, sizeof(slot));
    return slot;
}

/* Has the row the values that are asked for? */
static int window_rows_is_requested(const struct window_rows *r)
{
    for (size_t i = 0; i < r->filter.key_count; i++) {
        const struct window_column *c = &r->table->columns[r->filter.keys[i].column];
        uint64_t slot = c->kind == WINDOW_LINK ? r->row : window_rows_slot(r, c);
        if (c->kind != WINDOW_SIGNED && slot > INT64_MAX)
            slot = INT64_MAX; /* as it is shown */
        if ((int64_t)slot != r->filter.keys[i].value)
            return 0;
    }
    return r->table->source != WINDOW_LINKS || window_rows_link_is_loaded(r);
}

static int window_rows_next_plain(struct window_rows *r)
{
    int code = recording_file_step(recording_cursor_file(r->cursor), r->plain);
    if (code == 1) {
        uint64_t window = (uint64_t)sqlite3_column_int64(r->plain, 0);
        r->row = window == r->window ? r->row + 1 : 0;
        r->window = window;
    }
    return code < 0 ? window_rows_fail(r, code) : code;
}

int window_rows_next(struct window_rows *r)
{
    if (r->table->source == WINDOW_PLAIN_TABLE)
        return window_rows_next_plain(r);
    if (r->row_count > 0)
        r->row++;
    for (;;) {
        for (; r->row < r->row_count; r->row++)
            if (window_rows_is_requested(r))
                return 1;
        r->row = r->row_count = 0;
        int code = window_rows_next_message(r);
        if (code != 1)
            return code;
        if (r->table->source == WINDOW_LINKS) {
            window_rows_load_links(r);
        } else {
            uint64_t count;
            memcpy(&count, (const uint8_t *)&r->message.window + r->table->count, sizeof(count));
            r->row_count = (size_t)count;
        }
    }
}

int64_t window_rows_id(const struct window_rows *r)
{
    uint64_t of =
        r->table->source == WINDOW_PLAIN_TABLE ? r->window : recording_cursor_number(r->cursor);
    return (int64_t)(of << ID_BITS | r->row);
}

/* ---- values ------------------------------------------------------------------ */

void window_rows_time_text(uint64_t ns, char *out, size_t capacity)
{
    struct tm t;
    time_t seconds = (time_t)(ns / SECOND);
    size_t used = gmtime_r(&seconds, &t) == NULL ? 0 : strftime(out, capacity, "%FT%T", &t);
    snprintf(out + used, capacity - used, ".%03uZ", (unsigned)(ns % SECOND / 1000000));
}

static void window_rows_result_count(sqlite3_context *out, uint64_t value)
{
    sqlite3_result_int64(out, value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value);
}

static void window_rows_result_text(sqlite3_context *out, const char *text)
{
    if (text != NULL)
        sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

/* A column that every table has, or the host. */
static void window_rows_result_common(const struct window_rows *r, enum window_column_kind kind,
                                      sqlite3_context *out)
{
    uint64_t begin_ns = window_rows_product(r->window, r->window_ns);
    char time[40];
    switch (kind) {
    case WINDOW_NUMBER:
        window_rows_result_count(out, r->window);
        return;
    case WINDOW_BEGIN_NS:
        window_rows_result_count(out, begin_ns);
        return;
    case WINDOW_END_NS:
        window_rows_result_count(out, saturated_sum(begin_ns, r->window_ns));
        return;
    case WINDOW_TIME:
        window_rows_time_text(begin_ns > INT64_MAX ? INT64_MAX : begin_ns, time, sizeof(time));
        window_rows_result_text(out, time);
        return;
    case WINDOW_SECOND:
        sqlite3_result_double(out, begin_ns >= r->begin_ns
                                       ? (double)(begin_ns - r->begin_ns) / (double)SECOND
                                       : -(double)(r->begin_ns - begin_ns) / (double)SECOND);
        return;
    case WINDOW_JOB:
        window_rows_result_text(out, recording_cursor_job(r->cursor));
        return;
    default:
        window_rows_result_text(out, r->message.window.host);
    }
}

/* A column of a row of a message. Positions in the message that it does not have give NULL. */
static void window_rows_result_slot(const struct window_rows *r, const struct window_column *column,
                                    sqlite3_context *out)
{
    const struct wire_window *w = &r->message.window;
    uint64_t slot = window_rows_slot(r, column);
    switch (column->kind) {
    case WINDOW_SIGNED:
        sqlite3_result_int64(out, (sqlite3_int64)slot);
        return;
    case WINDOW_CALL:
        window_rows_result_text(out, slot == 0 ? NULL : call_name((uint16_t)slot));
        return;
    case WINDOW_COMM:
        if (slot < w->comms_count) /* an id: negative from 2^63, as in all tables */
            sqlite3_result_int64(out, (sqlite3_int64)w->comms[slot].id);
        return;
    case WINDOW_COMM_NAME:
        window_rows_result_text(out, slot < w->comms_count ? w->comms[slot].name : NULL);
        return;
    case WINDOW_REGION:
        window_rows_result_text(out, slot < w->regions_count ? w->regions[slot].name : NULL);
        return;
    case WINDOW_SIZE:
        window_rows_result_count(out, size_class_floor((uint16_t)slot));
        return;
    default:
        window_rows_result_count(out, slot);
    }
}

void window_rows_result(struct window_rows *r, size_t column, sqlite3_context *out)
{
    const struct window_column *c = &r->table->columns[column];
    const struct link_load *load =
        r->table->source == WINDOW_LINKS ? &link_loads_values(r->network.loads)[r->row] : NULL;
    if (c->kind <= WINDOW_HOST)
        window_rows_result_common(r, c->kind, out);
    else if (c->kind == WINDOW_PLAIN)
        sqlite3_result_value(
            out, sqlite3_column_value(r->plain, (int)(column - WINDOW_COMMON_COLUMNS + 1)));
    else if (c->kind == WINDOW_LINK)
        window_rows_result_count(out, r->row);
    else if (c->kind == WINDOW_LINK_SOURCE || c->kind == WINDOW_LINK_DESTINATION)
        window_rows_name_vertex(r, c->kind == WINDOW_LINK_DESTINATION, out);
    else if (c->kind == WINDOW_LINK_MESSAGES || c->kind == WINDOW_LINK_BYTES)
        window_rows_result_count(out, c->kind == WINDOW_LINK_BYTES ? load->bytes : load->messages);
    else
        window_rows_result_slot(r, c, out);
}

/* ---- spans ------------------------------------------------------------------- */

int window_rows_span(sqlite3 *db, uint64_t *begin_ns, uint64_t *end_ns, char *why, size_t capacity)
{
    struct recording_cursor *cursor;
    int code = recording_cursor_borrow(&cursor, db, why, capacity);
    if (code != 0)
        return code;
    if (!recording_cursor_published(cursor, begin_ns, end_ns) &&
        (code = recording_cursor_span(cursor, begin_ns, end_ns)) != 0)
        snprintf(why, capacity, "the recording has no window that can be read");
    recording_cursor_close(cursor);
    return code;
}
