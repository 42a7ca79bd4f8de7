/* Export of tables as CSV and JSON. */
#include "daemon/export/export.h"
#include "daemon/storage/table_copy.h"
#include "holter/call.h"
#include "holter/error.h"
#include "proto/json.h"
#include "proto/utf8.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_QUERY 128u

const char *const export_sums[] = {"ranks", "pairs", "calls", NULL};

/* Output of rows, of tables of the recording and of sums. */
struct sheet {
    FILE *out;
    int json;
    uint64_t rows;
};

static void export_tables_put_csv_text(FILE *out, const char *text)
{
    int quoted = strpbrk(text, ",\"\r\n") != NULL;
    size_t left = strlen(text), valid;
    if (quoted)
        fputc('"', out);
    for (; left > 0; text += valid, left -= valid) {
        valid = utf8_prefix(text, left);
        for (size_t i = 0; i < valid; i++) {
            if (text[i] == '"')
                fputc('"', out);
            fputc(text[i], out);
        }
        if (valid ==
            0) { /* replace invalid bytes: a reader would refuse the file because of them */
            fputs("\xef\xbf\xbd", out);
            valid = 1;
        }
    }
    if (quoted)
        fputc('"', out);
}

static void export_tables_put_value(const struct sheet *s, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        fprintf(s->out, "%" PRId64, cell->integer);
        return;
    case CELL_REAL:
        if (s->json)
            json_number(s->out, cell->real);
        else if (isfinite(cell->real))
            fprintf(s->out, "%.17g", cell->real);
        return;
    case CELL_TEXT:
        if (s->json)
            json_text(s->out, cell->text);
        else
            export_tables_put_csv_text(s->out, cell->text);
        return;
    default: /* NULL; exported tables have no columns of bytes */
        if (s->json)
            fputs("null", s->out);
    }
}

static int export_tables_put_row(void *user, const struct cell *row, size_t columns)
{
    struct sheet *s = user;
    for (size_t i = 0; !s->json && s->rows == 0 && i < columns; i++) {
        export_tables_put_csv_text(s->out, row[i].name);
        fputs(i + 1 < columns ? "," : "\r\n", s->out);
    }
    if (s->json)
        fputs(s->rows == 0 ? "\n{" : ",\n{", s->out);
    for (size_t i = 0; i < columns; i++) {
        if (s->json) {
            json_text(s->out, row[i].name);
            fputc(':', s->out);
        }
        export_tables_put_value(s, &row[i]);
        if (i + 1 < columns)
            fputc(',', s->out);
    }
    fputs(s->json ? "}" : "\r\n", s->out);
    s->rows++;
    return ferror(s->out) ? -EIO : 0;
}

/* ---- sums of messages ----------------------------------------------------------- */

static struct cell export_tables_number(const char *name, uint64_t value)
{
    /* Integers of SQLite, and so of all other tables, are below 2^63. */
    int64_t integer = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return (struct cell){name, CELL_INTEGER, integer, (double)value, ""};
}

static struct cell export_tables_text(const char *name, const char *value)
{
    return (struct cell){name, CELL_TEXT, 0, NAN, value};
}

static int export_tables_put_ranks(struct sheet *s, const struct content *c)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < c->rank_count; i++) {
        const struct wire_rank_row *r = &c->ranks[i].sums;
        uint32_t host = c->ranks[i].host;
        const struct cell row[] = {
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
        };
        code = export_tables_put_row(s, row, sizeof(row) / sizeof(*row));
    }
    return code;
}

static int export_tables_put_pairs(struct sheet *s, const struct content *c)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < c->pair_count; i++) {
        const struct content_pair *p = &c->pairs[i];
        struct cell row[] = {
            export_tables_number("source", p->source),
            export_tables_number("destination", 0),
            export_tables_number("messages", p->messages),
            export_tables_number("bytes", p->bytes),
            export_tables_number("matched", p->matched),
            export_tables_number("transfer_ns", p->transfer_ns),
            export_tables_number("error_ns", p->error_ns),
        };
        row[1].integer = p->destination;
        code = export_tables_put_row(s, row, sizeof(row) / sizeof(*row));
    }
    return code;
}

static int export_tables_put_calls(struct sheet *s, const struct content *c)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < c->call_count; i++) {
        const struct content_call *k = &c->calls[i];
        const struct cell row[] = {
            export_tables_number("rank", k->rank),
            export_tables_text("call", call_name(k->call)),
            export_tables_number("calls", k->sums.calls),
            export_tables_number("bytes", k->sums.bytes),
            export_tables_number("bytes_in", k->sums.bytes_in),
            export_tables_number("time_ns", k->sums.time_ns),
            export_tables_number("longest_ns", k->sums.longest_ns),
        };
        code = export_tables_put_row(s, row, sizeof(row) / sizeof(*row));
    }
    return code;
}

static int export_tables_put_sum(struct sheet *s, const struct content *content, const char *table)
{
    if (strcmp(table, "ranks") == 0)
        return export_tables_put_ranks(s, content);
    return strcmp(table, "pairs") == 0 ? export_tables_put_pairs(s, content)
                                       : export_tables_put_calls(s, content);
}

/* ---- tables ---------------------------------------------------------------------- */

int export_names_contain(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static int export_tables_put_table(struct sheet *s, const struct export_source *source,
                                   const char *table)
{
    char query[MOST_QUERY];
    if (source->content != NULL && export_names_contain(export_sums, table))
        return export_tables_put_sum(s, source->content, table);
    if (!export_names_contain(tables_names, table))
        return -HOLTER_EUSAGE;
    for (size_t i = 0; i < RECORDED_TABLES; i++)
        if (strcmp(recorded_tables[i].name, table) == 0)
            recorded_table_query(&recorded_tables[i], query, sizeof(query));
    return tables_query(source->tables, query, export_tables_put_row, s);
}

static int export_tables_flushed(FILE *out, int code)
{
    if (fflush(out) != 0 || ferror(out))
        return code != 0 ? code : -EIO;
    return code;
}

static int export_tables_put_name(void *user, const struct cell *row, size_t columns)
{
    struct sheet *s = user;
    fputs(s->rows++ > 0 ? "," : "", s->out);
    export_tables_put_csv_text(s->out, columns > 0 ? row[0].text : "");
    return 0;
}

/* Write the header of a table without rows. */
static int export_tables_put_names(struct sheet *s, struct tables *tables, const char *table)
{
    char query[MOST_QUERY];
    snprintf(query, sizeof(query), "SELECT name FROM pragma_table_info('%s')", table);
    int code = tables_query(tables, query, export_tables_put_name, s);
    if (s->rows > 0)
        fputs("\r\n", s->out);
    return code;
}

int export_csv(FILE *out, const struct export_source *source, const char *table)
{
    struct sheet sheet = {.out = out};
    int code = export_tables_put_table(&sheet, source, table);
    if (code == 0 && sheet.rows == 0 && export_names_contain(tables_names, table))
        code = export_tables_put_names(&sheet, source->tables, table);
    return export_tables_flushed(out, code);
}

int export_json(FILE *out, const struct export_source *source)
{
    const char *const *lists[] = {tables_names, export_sums};
    int code = 0, first = 1;
    fputs("{\"holter\":", out);
    json_text(out, HOLTER_VERSION);
    fputs(",\"tables\":{", out);
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; code == 0 && lists[l][i] != NULL; i++) {
            struct sheet sheet = {.out = out, .json = 1};
            fputs(first ? "\n" : ",\n", out);
            json_text(out, lists[l][i]);
            fputs(":[", out);
            code = export_tables_put_table(&sheet, source, lists[l][i]);
            fputc(']', out);
            first = 0;
        }
    }
    fputs("}}\n", out);
    return export_tables_flushed(out, code);
}
