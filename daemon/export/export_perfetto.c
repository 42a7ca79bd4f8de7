/* Export of traces for ui.perfetto.dev: Trace Event Format, JSON. Its times are microseconds. */
#include "daemon/analysis/tables/array.h"
#include "daemon/export/export.h"
#include "holter/error.h"
#include "holter/waiting.h"
#include "proto/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Processes and threads of the trace are only used as headings. */
enum { JOB = 1, RANKS = 2, CALLS = 3 };
enum { PHASES = 1, ALERTS = 2, LINKS = 16 };

#define MAX_LINKS 64u /* maximum number of tracks of hot links; further links are left out */
#define FURTHER_ALERTS (LINKS + (int)MAX_LINKS)

struct trace {
    FILE *out;
    uint64_t base_ns;
    uint64_t events;
    char link[MAX_LINKS][160]; /* links with a track */
    unsigned links;
    int64_t *alert_ends; /* owned: end of the newest alert on each track of alerts */
    size_t alert_tracks, alert_capacity;
    int64_t rank, thread; /* the newest track of captured calls */
    int tracks;           /* number of tracks of captured calls */
    uint64_t slices;
};

/* ---- events ------------------------------------------------------------------------- */

static void export_perfetto_begin(struct trace *t, char phase, int process, int thread)
{
    fprintf(t->out, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", t->events++ == 0 ? "\n" : ",\n",
            phase, process, thread);
}

/* Times before the begin are written as the begin. */
static void export_perfetto_put_time(struct trace *t, int64_t time_ns)
{
    uint64_t since =
        time_ns > 0 && (uint64_t)time_ns > t->base_ns ? (uint64_t)time_ns - t->base_ns : 0;
    fprintf(t->out, ",\"ts\":%" PRIu64 ".%03" PRIu64, since / 1000, since % 1000);
}

static void export_perfetto_put_span(struct trace *t, int64_t from_ns, int64_t to_ns)
{
    uint64_t base = t->base_ns;
    uint64_t from = from_ns > 0 && (uint64_t)from_ns > base ? (uint64_t)from_ns : base;
    uint64_t to = to_ns > 0 && (uint64_t)to_ns > from ? (uint64_t)to_ns : from;
    export_perfetto_put_time(t, (int64_t)from);
    fprintf(t->out, ",\"dur\":%" PRIu64 ".%03" PRIu64, (to - from) / 1000, (to - from) % 1000);
}

static void export_perfetto_put_heading(struct trace *t, const char *kind, int process, int thread,
                                        const char *text)
{
    export_perfetto_begin(t, 'M', process, thread);
    json_put_text(t->out, ",", "name", kind);
    json_put_text(t->out, ",\"args\":{", "name", text);
    fputs("}}", t->out);
}

/* Write a counter with several values: columns of a row by their names. */
static void export_perfetto_put_counter(struct trace *t, const char *title, int64_t time_ns,
                                        const struct cell *cells, size_t count, double factor)
{
    int first = 1;
    export_perfetto_begin(t, 'C', JOB, 0);
    json_put_text(t->out, ",", "name", title);
    export_perfetto_put_time(t, time_ns);
    fputs(",\"args\":{", t->out);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(cells[i].real))
            continue;
        json_put_real(t->out, first ? "" : ",", cells[i].name, cells[i].real * factor);
        first = 0;
    }
    fputs("}}", t->out);
}

/* ---- the job ------------------------------------------------------------------------- */

static const char totals_query[] =
    "SELECT start_ns, 1e9 / length_ns AS rate, "
    "100.0 / max(" RECORDING_RANK_NS ", 1) AS share,"
    " sent AS \"messages/s\", sent_bytes AS \"bytes/s\", send_ns AS send, recv_ns AS recv,"
    " wait_ns AS wait, poll_ns AS poll, collective_ns AS collective, one_sided_ns AS \"one-sided\","
    " io_ns AS io, other_ns AS other FROM totals WHERE length_ns > 0 AND ranks > 0 ORDER BY window";

static int export_perfetto_put_totals(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    export_perfetto_put_counter(t, "messages sent", row[0].integer, &row[3], 1, row[1].real);
    export_perfetto_put_counter(t, "bytes sent", row[0].integer, &row[4], 1, row[1].real);
    export_perfetto_put_counter(t, "% of the time in MPI", row[0].integer, &row[5], columns - 5,
                                row[2].real);
    return ferror(t->out) ? -EIO : 0;
}

static const char latency_query[] =
    "SELECT start_ns, scope, reference AS \"by reference\", recent AS \"by recent\", typical"
    " FROM latency WHERE scope <> 'region' ORDER BY window, scope";

static int export_perfetto_put_latency(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    char title[80];
    snprintf(title, sizeof(title), "latency, %s", row[1].text);
    export_perfetto_put_counter(t, title, row[0].integer, &row[2], columns - 2, 1);
    return ferror(t->out) ? -EIO : 0;
}

static const char phase_query[] =
    "SELECT phase.id, phase.begin_ns, phase.end_ns, messages, bytes, phase.communities, height,"
    " returned, resembles FROM phase LEFT JOIN curve ON curve.phase = phase.id ORDER BY phase.id";

static void export_perfetto_put_arguments(struct trace *t, const struct cell *cells, size_t count)
{
    fputs(",\"args\":{", t->out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", t->out);
        json_text(t->out, cells[i].name);
        fputc(':', t->out);
        if (cells[i].kind == CELL_TEXT)
            json_text(t->out, cells[i].text);
        else if (cells[i].kind == CELL_INTEGER)
            fprintf(t->out, "%" PRId64, cells[i].integer);
        else
            json_number(t->out, cells[i].real);
    }
    fputs("}}", t->out);
}

/* A further part of a recording has alerts and phases from before it. */
static int export_perfetto_was_over(const struct trace *t, int64_t to_ns)
{
    return to_ns < (int64_t)t->base_ns;
}

/* An event of a track of the job, from a row behind its name: its begin, end and arguments. */
static int export_perfetto_put_row(struct trace *t, int track, const char *name,
                                   const struct cell *row, size_t columns)
{
    export_perfetto_begin(t, 'X', JOB, track);
    json_put_text(t->out, ",", "name", name);
    export_perfetto_put_span(t, row[0].integer, row[1].integer);
    export_perfetto_put_arguments(t, &row[2], columns - 2);
    return ferror(t->out) ? -EIO : 0;
}

static int export_perfetto_put_phase(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    char title[80];
    if (export_perfetto_was_over(t, row[2].integer))
        return 0;
    if (row[7].integer != 0)
        snprintf(title, sizeof(title), "phase %" PRId64 ", like %" PRId64, row[0].integer,
                 row[8].integer);
    else
        snprintf(title, sizeof(title), "phase %" PRId64, row[0].integer);
    export_perfetto_put_row(t, PHASES, title, row + 1, columns - 1);
    if (isfinite(row[6].real))
        export_perfetto_put_counter(t, "curve", row[1].integer, &row[6], 1, 1);
    return ferror(t->out) ? -EIO : 0;
}

/* An alert that is not over lasts to the end of the recording. */
static const char alert_query[] =
    "SELECT title, iif(onset_ns > 0, onset_ns, since_ns) AS from_ns, iif(state = 'firing',"
    " max(updated_ns, (SELECT ifnull(max(start_ns + length_ns), 0) FROM totals)), updated_ns),"
    " state, kind, severity, rule, ranks, nodes, ratio, causes, advice, text FROM alert"
    " WHERE " TABLES_ALERT_FIRED " ORDER BY from_ns, id";

/* Slices of a track must not overlap, but alerts may: each gets the first track whose alerts have
 * ended. @return the track, or a negative error */
static int export_perfetto_assign_track(struct trace *t, int64_t from_ns, int64_t to_ns)
{
    size_t i = 0;
    while (i < t->alert_tracks && t->alert_ends[i] > from_ns)
        i++;
    if (i == t->alert_tracks) {
        if (ARRAY_FIT(t->alert_ends, t->alert_capacity, i + 1) != 0)
            return -ENOMEM;
        t->alert_tracks++;
        if (i > 0)
            export_perfetto_put_heading(t, "thread_name", JOB, FURTHER_ALERTS + (int)i, "alerts");
    }
    t->alert_ends[i] = to_ns > from_ns ? to_ns : from_ns;
    return i == 0 ? ALERTS : FURTHER_ALERTS + (int)i;
}

static int export_perfetto_put_alert(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    if (export_perfetto_was_over(t, row[2].integer))
        return 0;
    int track = export_perfetto_assign_track(t, row[1].integer, row[2].integer);
    return track < 0 ? track : export_perfetto_put_row(t, track, row[0].text, row + 1, columns - 1);
}

/* Links that were hot in the most windows come first. */
static const char link_query[] =
    "SELECT source || ' to ' || destination, state, totals.start_ns, totals.start_ns +"
    " totals.length_ns, link.messages, bytes, average, share, latency, ratio FROM link JOIN totals"
    " ON totals.window = link.window WHERE state IN ('hot', 'congested')"
    " ORDER BY count(*) OVER (PARTITION BY link) DESC, link, link.window";

static int export_perfetto_track_of(struct trace *t, const char *link)
{
    unsigned i = 0;
    while (i < t->links && strcmp(t->link[i], link) != 0)
        i++;
    if (i == MAX_LINKS)
        return 0;
    if (i == t->links) {
        char title[180];
        snprintf(t->link[t->links++], sizeof(t->link[0]), "%.150s", link);
        snprintf(title, sizeof(title), "link %.150s", link);
        export_perfetto_put_heading(t, "thread_name", JOB, LINKS + (int)i, title);
    }
    return LINKS + (int)i;
}

static int export_perfetto_put_link(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    int track = strlen(row[0].text) > 150 ? 0 : export_perfetto_track_of(t, row[0].text);
    return track == 0 ? 0 : export_perfetto_put_row(t, track, row[1].text, row + 2, columns - 2);
}

/* Captures may overlap: of a record in several captures the one with a known duration is used. */
static const char captured_query[] =
    "SELECT rank, thread, kind, call, enter_ns, max(exit_ns), at_ns, peer, source, tag, bytes,"
    " bytes_in, comm_name AS comm, region, request, state, host, capture"
    " FROM capture_events JOIN captures ON captures.id = capture GROUP BY rank, thread, number"
    " ORDER BY rank, thread, number";
enum {
    IN_RANK,
    IN_THREAD,
    IN_KIND,
    IN_CALL,
    IN_ENTER,
    IN_EXIT,
    IN_AT,
    IN_ARGUMENTS,
    IN_STATE = 15
};

static void export_perfetto_begin_track(struct trace *t, const struct cell *row)
{
    char title[80];
    if (t->tracks > 0 && row[IN_RANK].integer == t->rank && row[IN_THREAD].integer == t->thread)
        return;
    if (t->tracks == 0)
        export_perfetto_put_heading(t, "process_name", CALLS, 0, "last calls of ranks");
    t->rank = row[IN_RANK].integer;
    t->thread = row[IN_THREAD].integer;
    if (t->thread == 0)
        snprintf(title, sizeof(title), "rank %" PRId64, t->rank);
    else
        snprintf(title, sizeof(title), "rank %" PRId64 ", thread %" PRId64, t->rank, t->thread);
    export_perfetto_put_heading(t, "thread_name", CALLS, ++t->tracks, title);
    export_perfetto_begin(t, 'M', CALLS, t->tracks);
    fprintf(t->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}", t->tracks);
}

/* A call is a slice, and its further messages are slices within it; begins and ends of code regions
 * are instants. */
static int export_perfetto_put_captured(void *user, const struct cell *row, size_t columns)
{
    struct trace *t = user;
    int is_message = strcmp(row[IN_KIND].text, "message") == 0;
    int is_call = strcmp(row[IN_KIND].text, "call") == 0;
    if (t->slices++ >= EXPORT_PERFETTO_ROWS)
        return 0;
    export_perfetto_begin_track(t, row);
    export_perfetto_begin(t, is_call || is_message ? 'X' : 'i', CALLS, t->tracks);
    json_put_text(t->out, ",", "name",
                  is_call      ? row[IN_CALL].text
                  : is_message ? row[IN_STATE].text
                               : row[IN_KIND].text);
    if (is_call || is_message)
        export_perfetto_put_span(t, row[IN_ENTER].integer,
                                 row[IN_EXIT].kind == CELL_INTEGER ? row[IN_EXIT].integer
                                                                   : row[IN_AT].integer);
    else
        export_perfetto_put_time(t, row[IN_ENTER].integer);
    export_perfetto_put_arguments(t, &row[IN_ARGUMENTS], columns - IN_ARGUMENTS);
    return ferror(t->out) ? -EIO : 0;
}

static int export_perfetto_put_job(struct trace *t, const struct export_source *source)
{
    static const struct {
        const char *query;
        table_row *row;
    } parts[] = {
        {totals_query, export_perfetto_put_totals}, {latency_query, export_perfetto_put_latency},
        {phase_query, export_perfetto_put_phase},   {alert_query, export_perfetto_put_alert},
        {link_query, export_perfetto_put_link},     {captured_query, export_perfetto_put_captured}};
    char app[260], title[360];
    int code = 0;
    tables_text(source->tables, "SELECT app FROM job", app, sizeof(app));
    snprintf(title, sizeof(title), "%s %s", source->content->job, app);
    export_perfetto_put_heading(t, "process_name", JOB, 0, title);
    export_perfetto_put_heading(t, "thread_name", JOB, PHASES, "phases");
    export_perfetto_put_heading(t, "thread_name", JOB, ALERTS, "alerts");
    for (size_t i = 0; code == 0 && i < sizeof(parts) / sizeof(*parts); i++)
        code = tables_query(source->tables, parts[i].query, parts[i].row, t);
    return code;
}

/* ---- ranks ---------------------------------------------------------------------------- */

static int export_perfetto_put_ranks(void *user, const struct wire_window *window)
{
    struct trace *t = user;
    uint64_t start = window->length_ns > 0 && window->window < UINT64_MAX / window->length_ns
                         ? window->window * window->length_ns
                         : 0;
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        const struct wire_rank_row *r = &window->ranks[i];
        const double whole = ranks_time_ns(1, window->length_ns, r->absent_ns);
        const struct {
            const char *name;
            uint64_t ns;
        } classes[] = {{"send", r->send_ns},
                       {"recv", r->recv_ns},
                       {"wait", r->wait_ns},
                       {"poll", r->poll_ns},
                       {"collective", r->collective_ns},
                       {"one-sided", r->one_sided_ns},
                       {"io", r->io_ns},
                       {"other", r->other_ns}};
        export_perfetto_begin(t, 'C', RANKS, 0);
        fprintf(t->out, ",\"name\":\"rank %" PRIu64 ", %% in MPI\"", r->rank);
        export_perfetto_put_time(t, start > INT64_MAX ? INT64_MAX : (int64_t)start);
        fputs(",\"args\":{", t->out);
        for (size_t k = 0; k < sizeof(classes) / sizeof(*classes); k++)
            fprintf(t->out, "%s\"%s\":%.4g", k > 0 ? "," : "", classes[k].name,
                    whole > 0 ? 100 * (double)classes[k].ns / whole : 0);
        fputs("}}", t->out);
    }
    return ferror(t->out) ? -EIO : 0;
}

int export_perfetto(FILE *out, const struct export_source *source, int ranks, int *left_out,
                    char *why, size_t capacity)
{
    const struct content *c = source->content;
    struct trace t = {.out = out};
    uint64_t windows = c->first_window <= c->last_window ? c->last_window - c->first_window + 1 : 0;
    if (windows > 0 && c->window_ns > 0 && c->first_window < UINT64_MAX / c->window_ns)
        t.base_ns = c->first_window * c->window_ns;
    *left_out = ranks && c->rank_count > 0 && windows > EXPORT_PERFETTO_ROWS / c->rank_count;
    snprintf(why, capacity, "cannot be written");
    fprintf(out,
            "{\"otherData\":{\"begin_ns\":\"%" PRIu64 "\"},\"displayTimeUnit\":\"ms\","
            "\"traceEvents\":[",
            t.base_ns);
    int code = export_perfetto_put_job(&t, source);
    if (code == 0 && ranks && !*left_out) {
        struct content again;
        export_perfetto_put_heading(&t, "process_name", RANKS, 0, "ranks");
        const struct content_options options = {
            .window = export_perfetto_put_ranks, .user = &t, .progress = source->progress};
        code = content_read(&again, source->path, &options, why, capacity);
        content_finish(&again);
    } else if (code != 0) {
        snprintf(why, capacity, "%s", holter_strerror(code));
    }
    free(t.alert_ends);
    fputs("\n]}\n", out);
    if (code == 0 && (fflush(out) != 0 || ferror(out)))
        code = -EIO;
    return code;
}
