/* Export of tables as CSV and JSON. */
#include "daemon/export/export.h"
#include "daemon/export/export_graph.h"
#include "daemon/export/row_writer.h"
#include "daemon/storage/sql/window_tables.h"
#include "daemon/storage/table_copy.h"
#include "holter/call.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/json.h"
#include "proto/utf8.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_QUERY 400u

const char *const export_sums[] = {"ranks", "pairs", "calls", NULL};

/* ---- sums of messages ----------------------------------------------------------- */

static struct cell export_tables_number(const char *name, uint64_t value)
{
    /* Integers of SQLite, and so of all other tables, are below 2^63. */
    int64_t integer = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return (struct cell){name, CELL_INTEGER, integer, (double)value, "", NULL, 0};
}

static struct cell export_tables_text(const char *name, const char *value)
{
    return (struct cell){name, CELL_TEXT, 0, NAN, value, NULL, 0};
}

/* A row of one of the sums. @param index  in its array; that of a table without rows is all zero
 * @return the number of columns */
typedef size_t export_tables_make(const struct content *c, size_t index, struct cell *row);

static size_t export_tables_make_rank(const struct content *c, size_t index, struct cell *row)
{
    static const struct content_rank none = {.host = UINT32_MAX};
    const struct content_rank *rank = index < c->rank_count ? &c->ranks[index] : &none;
    const struct wire_rank_row *r = &rank->sums;
    uint32_t host = rank->host;
    const struct cell cells[] = {
        export_tables_number("rank", r->rank),
        export_tables_text("host", host < c->host_count ? c->hosts[host] : ""),
        export_tables_number("events", r->events),
        export_tables_number("lost", r->lost),
        export_tables_number("calls", r->calls),
        export_tables_number("polls", r->polls),
        export_tables_number("sent", r->sent),
        export_tables_number("sent_bytes", r->sent_bytes),
        export_tables_number("received", r->received),
        export_tables_number("received_bytes", r->received_bytes),
        export_tables_number("send_ns", r->send_ns),
        export_tables_number("recv_ns", r->recv_ns),
        export_tables_number("wait_ns", r->wait_ns),
        export_tables_number("poll_ns", r->poll_ns),
        export_tables_number("collective_ns", r->collective_ns),
        export_tables_number("one_sided_ns", r->one_sided_ns),
        export_tables_number("io_ns", r->io_ns),
        export_tables_number("other_ns", r->other_ns),
        export_tables_number("untracked", r->untracked),
        export_tables_number("threads", r->threads),
        export_tables_number("tallied", r->tallied),
        export_tables_number("service_ns", r->service_ns),
    };
    memcpy(row, cells, sizeof(cells));
    return sizeof(cells) / sizeof(*cells);
}

static size_t export_tables_make_pair(const struct content *c, size_t index, struct cell *row)
{
    static const struct content_pair none = {0};
    const struct content_pair *p = index < c->pair_count ? &c->pairs[index] : &none;
    const struct cell cells[] = {
        export_tables_number("source", p->source),
        export_tables_number("destination", 0),
        export_tables_number("messages", p->messages),
        export_tables_number("bytes", p->bytes),
        export_tables_number("matched", p->matched),
        export_tables_number("transfer_ns", p->transfer_ns),
        export_tables_number("error_ns", p->error_ns),
    };
    memcpy(row, cells, sizeof(cells));
    row[1].integer = p->destination;
    return sizeof(cells) / sizeof(*cells);
}

static size_t export_tables_make_call(const struct content *c, size_t index, struct cell *row)
{
    static const struct content_call none = {0};
    const struct content_call *k = index < c->call_count ? &c->calls[index] : &none;
    const struct cell cells[] = {
        export_tables_number("rank", k->rank),
        export_tables_text("call", call_name(k->call)),
        export_tables_number("calls", k->sums.calls),
        export_tables_number("bytes", k->sums.bytes),
        export_tables_number("bytes_in", k->sums.bytes_in),
        export_tables_number("time_ns", k->sums.time_ns),
        export_tables_number("longest_ns", k->sums.longest_ns),
        export_tables_number("polls", k->sums.polls),
        export_tables_number("collective_ns", k->sums.collective_ns),
    };
    memcpy(row, cells, sizeof(cells));
    return sizeof(cells) / sizeof(*cells);
}

static int export_tables_put_sum(struct row_writer *w, const struct content *c, const char *table)
{
    const struct {
        const char *table;
        size_t count;
        export_tables_make *make;
    } sums[] = {{"ranks", c->rank_count, export_tables_make_rank},
                {"pairs", c->pair_count, export_tables_make_pair},
                {"calls", c->call_count, export_tables_make_call}};
    struct cell row[TABLES_COLUMNS];
    int code = 0;
    for (size_t s = 0; s < sizeof(sums) / sizeof(*sums); s++) {
        if (strcmp(sums[s].table, table) != 0)
            continue;
        if (sums[s].count == 0)
            code = row_writer_begin(w, row, sums[s].make(c, 0, row));
        for (size_t i = 0; code == 0 && i < sums[s].count; i++)
            code = row_writer_put(w, row, sums[s].make(c, i, row));
    }
    return code;
}

/* ---- tables ---------------------------------------------------------------------- */

int export_names_contain(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Write the query for the rows of a table. @return 0, or -HOLTER_EUSAGE: there is no such table */
static int export_tables_make_query(const struct export_source *source, const char *table,
                                    char *out, size_t capacity)
{
    const struct recorded_span *span = source->span;
    uint64_t window_ns = source->window_ns == 0 ? 1 : source->window_ns;
    snprintf(out, capacity, "SELECT * FROM %s", table);
    if (window_table_find(table) != NULL) {
        if (span != NULL)
            text_append(out, capacity, " WHERE window BETWEEN %" PRIu64 " AND %" PRIu64,
                        span->from_ns / window_ns, (span->to_ns - 1) / window_ns);
        return 0;
    }
    if (!export_names_contain(tables_names, table))
        return -HOLTER_EUSAGE;
    /* Those of the file itself are never copied, and have one row at most. */
    for (size_t i = 0; i < RECORDED_TABLES; i++)
        if (strcmp(recorded_tables[i].name, table) == 0)
            recorded_table_query(&recorded_tables[i], span, window_ns, out, capacity);
    return 0;
}

static int export_tables_add_name(void *user, const struct cell *row, size_t columns)
{
    struct row_writer *w = user;
    fputs(w->rows++ > 0 ? "," : "", w->out);
    utf8_print_csv(w->out, columns > 0 ? row[0].text : "");
    return 0;
}

/* Write the header of a table without rows. @return -ENODATA where the recording has no such table
 */
static int export_tables_put_names(FILE *out, struct tables *tables, const char *table)
{
    char query[MOST_QUERY];
    struct row_writer names = {.out = out};
    snprintf(query, sizeof(query), "SELECT name FROM pragma_table_info('%s')", table);
    int code = tables_query(tables, query, export_tables_add_name, &names);
    if (names.rows == 0)
        return code != 0 ? code : -ENODATA;
    fputs("\r\n", out);
    return code;
}

static int export_tables_put_table(FILE *out, enum row_format format,
                                   const struct export_source *source, const char *table)
{
    struct row_writer writer = {.out = out, .format = format};
    char query[MOST_QUERY];
    const int is_sum = source->content != NULL && export_names_contain(export_sums, table);
    const int is_graph = export_names_contain(export_graphs, table);
    int code = is_sum     ? export_tables_put_sum(&writer, source->content, table)
               : is_graph ? export_graph_put(&writer, source, table)
                          : export_tables_make_query(source, table, query, sizeof(query));
    if (code == 0 && !is_sum && !is_graph)
        code = tables_query(source->tables, query, row_writer_put, &writer);
    int ended = row_writer_end(&writer);
    code = code != 0 ? code : ended;
    return code == 0 && writer.rows == 0 && format == ROW_CSV && !is_sum && !is_graph
               ? export_tables_put_names(out, source->tables, table)
               : code;
}

static int export_tables_flushed(FILE *out, int code)
{
    if (fflush(out) != 0 || ferror(out))
        return code != 0 ? code : -EIO;
    return code;
}

int export_csv(FILE *out, const struct export_source *source, const char *table)
{
    return export_tables_flushed(out, export_tables_put_table(out, ROW_CSV, source, table));
}

static int export_tables_put_member(FILE *out, const struct export_source *source,
                                    const char *table)
{
    json_text(out, table);
    fputs(":[", out);
    int code = export_tables_put_table(out, ROW_JSON, source, table);
    fputc(']', out);
    return code;
}

int export_json(FILE *out, const struct export_source *source, const char *table)
{
    const char *const *lists[] = {tables_names, export_sums, export_graphs};
    int code = 0, first = 1;
    json_put_text(out, "{", "holter", HOLTER_VERSION);
    fputs(",\"tables\":{", out);
    if (table != NULL) {
        fputc('\n', out);
        code = export_tables_put_member(out, source, table);
    }
    for (size_t l = 0; table == NULL && l < 3; l++) {
        for (size_t i = 0; code == 0 && lists[l][i] != NULL; i++) {
            fputs(first ? "\n" : ",\n", out);
            code = export_tables_put_member(out, source, lists[l][i]);
            first = 0;
        }
    }
    fputs("}}\n", out);
    return export_tables_flushed(out, code);
}
