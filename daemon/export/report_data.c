/* Reads what a report draws from the tables of a recording: see report_data.h. */
#include "daemon/export/report_data.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/export/report.h"
#include "daemon/storage/recording.h"
#include "holter/bisect.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void report_data_copy(char *out, size_t capacity, const struct cell *cell)
{
    snprintf(out, capacity, "%s", cell->text);
}

/* An amount, which cannot be negative. */
static double report_data_amount(const struct cell *cell)
{
    return cell->real > 0 ? cell->real : 0;
}

/* A point in time or a span, ns, limited such that two of them can be added. */
static int64_t report_data_moment(const struct cell *cell)
{
    const int64_t most = INT64_MAX / 4;
    return cell->integer < 0 ? 0 : cell->integer > most ? most : cell->integer;
}

/* ---- windows ------------------------------------------------------------------- */

static int report_data_add_window(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    if (d->window_count == REPORT_WINDOWS) {
        d->left_out = 1;
        return 1;
    }
    if (ARRAY_FIT(d->windows, d->window_capacity, d->window_count + 1) != 0)
        return -ENOMEM;
    struct report_window *w = &d->windows[d->window_count++];
    *w = (struct report_window){report_data_moment(&row[0]), report_data_moment(&row[1]),
                                report_data_amount(&row[2]), report_data_amount(&row[3]),
                                report_data_amount(&row[4]), report_data_amount(&row[5]),
                                report_data_amount(&row[6]), {0}};
    for (size_t i = 0; i < REPORT_CLASSES && 7 + i < columns; i++)
        w->class_ns[i] = report_data_amount(&row[7 + i]);
    return 0;
}

static int report_data_add_latency(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    static const char *const scopes[REPORT_SCOPES] = {"job", "intra-node", "inter-node"};
    size_t n = d->latency_count;
    (void)columns;
    if (n == REPORT_WINDOWS) {
        d->left_out = 1;
        return 1;
    }
    if (n == 0 || d->latencies[n - 1].start_ns != report_data_moment(&row[0])) {
        if (ARRAY_FIT(d->latencies, d->latency_capacity, n + 1) != 0)
            return -ENOMEM;
        d->latencies[n] = (struct report_latency){
            report_data_moment(&row[0]), report_data_moment(&row[1]), {NAN, NAN, NAN}, 0};
        n = ++d->latency_count;
    }
    for (int s = 0; s < REPORT_SCOPES; s++) {
        if (strcmp(row[2].text, scopes[s]) == 0 && row[3].real > 0)
            d->latencies[n - 1].reference[s] = row[3].real;
    }
    if (strcmp(row[2].text, "job") == 0)
        d->latencies[n - 1].high = strcmp(row[4].text, "growth") == 0   ? 1
                                   : strcmp(row[4].text, "steady") == 0 ? 2
                                                                        : 0;
    return 0;
}

/* Phases are sorted by number. @return the one with a number, or NULL */
static const struct report_phase *report_data_phase_of(const struct report_data *d, int64_t id)
{
    size_t low = BISECT(i, 0, d->phase_count, d->phases[i].id < id);
    return low < d->phase_count && d->phases[low].id == id ? &d->phases[low] : NULL;
}

static int report_data_add_phase(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    (void)columns;
    if (d->phase_count == REPORT_WINDOWS) {
        d->left_out = 1;
        return 1;
    }
    int code = ARRAY_FIT(d->phases, d->phase_capacity, d->phase_count + 1);
    if (code != 0)
        return code;
    /* The pattern of a phase that is missing: dropped, or cut off. */
    int64_t first = row[row[7].integer != 0 ? 4 : 0].integer;
    const struct report_phase *like = report_data_phase_of(d, first);
    if ((code = key_table_reserve(&d->patterns, 1)) != 0)
        return code;
    unsigned pattern = like != NULL
                           ? like->pattern
                           : key_table_add(&d->patterns, (struct key){.hi = (uint64_t)first});
    d->phases[d->phase_count++] = (struct report_phase){
        .pattern = pattern,
        .id = row[0].integer,
        .begin_ns = report_data_moment(&row[1]),
        .end_ns = report_data_moment(&row[2]),
        .communities = row[3].integer,
        .resembles = row[4].integer,
        .height = isfinite(row[5].real) ? row[5].real : 0,
        .messages = report_data_amount(&row[6]),
        .returned = row[7].integer != 0,
    };
    return 0;
}

/* ---- alerts and links ------------------------------------------------------------ */

static int report_data_add_alert(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    (void)columns;
    if (d->alert_count == REPORT_ALERTS)
        return 1;
    struct report_alert *a = &d->alerts[d->alert_count++];
    *a = (struct report_alert){.id = row[4].integer,
                               .since_ns = row[0].integer > 0 ? row[0].integer : row[1].integer,
                               .until_ns = row[2].integer,
                               .ratio = row[3].real,
                               .worst = row[13].real,
                               .progress = row[14].real,
                               .lost_ns = row[15].real,
                               .is_hang = strcmp(row[17].text, "hang") == 0};
    report_data_copy(a->state, sizeof(a->state), &row[5]);
    report_data_copy(a->severity, sizeof(a->severity), &row[6]);
    report_data_copy(a->title, sizeof(a->title), &row[7]);
    report_data_copy(a->text, sizeof(a->text), &row[8]);
    report_data_copy(a->ranks, sizeof(a->ranks), &row[9]);
    report_data_copy(a->nodes, sizeof(a->nodes), &row[10]);
    report_data_copy(a->advice, sizeof(a->advice), &row[11]);
    report_data_copy(a->culprit, sizeof(a->culprit), &row[12]);
    report_data_copy(a->victims, sizeof(a->victims), &row[16]);
    return 0;
}

static int report_data_add_cause(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    (void)columns;
    int64_t at = row[0].integer; /* position of the alert, from 1 */
    if (at < 1 || (uint64_t)at > d->alert_count)
        return 0;
    struct report_alert *a = &d->alerts[at - 1];
    if (a->cause_count == REPORT_CAUSES || !isfinite(row[2].real))
        return 0;
    struct report_cause *c = &a->causes[a->cause_count++];
    report_data_copy(c->name, sizeof(c->name), &row[1]);
    c->share = row[2].real < 0 ? 0 : row[2].real > 1 ? 1 : row[2].real;
    report_data_copy(c->text, sizeof(c->text), &row[3]);
    return 0;
}

static int report_data_add_link(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    (void)columns;
    if (d->link_count == REPORT_LINKS)
        return 1;
    struct report_link *l = &d->links[d->link_count++];
    *l = (struct report_link){.hot = report_data_amount(&row[1]),
                              .congested = report_data_amount(&row[2]),
                              .most_bytes = report_data_amount(&row[3]),
                              .share = row[4].real,
                              .ratio = row[5].real,
                              .latency = row[6].real};
    report_data_copy(l->name, sizeof(l->name), &row[0]);
    report_data_copy(l->ranks, sizeof(l->ranks), &row[7]);
    return 0;
}

static int report_data_add_capture(void *user, const struct cell *row, size_t columns)
{
    struct report_data *d = user;
    (void)columns;
    d->captures_all++;
    if (d->capture_count == REPORT_CAPTURES)
        return 0;
    struct report_capture *c = &d->captures[d->capture_count++];
    *c = (struct report_capture){.at_ns = row[0].integer,
                                 .records = report_data_amount(&row[1]),
                                 .ranks = report_data_amount(&row[2])};
    report_data_copy(c->reason, sizeof(c->reason), &row[3]);
    report_data_copy(c->calls, sizeof(c->calls), &row[4]);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------- */

/* Condition for plausible times, which can be added: rows with others belong to no job. */
#define PLAUSIBLE_TIMES                                                                            \
    "start_ns BETWEEN 0 AND 4000000000000000000 AND length_ns BETWEEN 1 AND 4000000000000000000"
#define TEXT_OF(number) AS_TEXT(number)
#define TOLD_LINKS TEXT_OF(REPORT_LINKS)
#define AS_TEXT(text) #text
/* A hint that SQLite before 3.35 does not know. */
#if SQLITE_VERSION_NUMBER >= 3035000
#define MATERIALIZED "MATERIALIZED"
#else
#define MATERIALIZED ""
#endif
/* Of too many those that the first line is about, in the order of their numbers. */
#define ALERTS_FROM                                                                                \
    " FROM (SELECT * FROM alert WHERE " TABLES_ALERT_FIRED                                         \
    " ORDER BY severity = 'info', state = 'firing' DESC,"                                          \
    " lost_ns DESC, id LIMIT " TEXT_OF(REPORT_ALERTS) ") ORDER BY id"
static const struct {
    const char *text;
    table_row *row;
} queries[] = {
    {"SELECT start_ns, length_ns, " RECORDING_RANK_NS ", sent, sent_bytes, lost, agents_missing,"
     " send_ns, recv_ns, wait_ns, poll_ns, collective_ns, one_sided_ns, io_ns, other_ns FROM totals"
     " WHERE " PLAUSIBLE_TIMES " ORDER BY window",
     report_data_add_window},
    {"SELECT start_ns, length_ns, scope, reference, trend FROM latency WHERE scope <> 'region'"
     " AND " PLAUSIBLE_TIMES " ORDER BY window, scope",
     report_data_add_latency},
    {"SELECT phase.id, phase.begin_ns, phase.end_ns, phase.communities, resembles, height, "
     "messages,"
     " returned FROM phase LEFT JOIN curve ON curve.phase = phase.id WHERE phase.begin_ns "
     "BETWEEN 0 AND"
     " phase.end_ns AND phase.end_ns < 4000000000000000000 ORDER BY phase.id",
     report_data_add_phase},
    {"SELECT onset_ns, since_ns, updated_ns, ratio, id, state, severity, title, text, ranks, "
     "nodes, advice, culprit, ratio_worst, progress, lost_ns, victims, kind" ALERTS_FROM,
     report_data_add_alert},
    /* Alerts whose text is not JSON have no causes, and what is no object is none. */
    {"SELECT a.place, json_extract(value, '$.name'), json_extract(value, '$.share'),"
     " json_extract(value, '$.text')"
     " FROM (SELECT row_number() OVER () AS place, causes FROM (SELECT causes" ALERTS_FROM
     ")) AS a,"
     " json_each(iif(json_valid(a.causes), a.causes, '[]')) WHERE type = 'object'"
     " ORDER BY a.place, 3 DESC",
     report_data_add_cause},
    /* One pass through the routes, which may be millions, for the few links of the report. */
    {"WITH told AS " MATERIALIZED "(SELECT link, source || ' to ' || destination AS name,"
     " sum(state = 'hot') AS hot, sum(state = 'congested') AS congested, max(bytes) AS most,"
     " max(share) AS share, avg(ratio) AS ratio, max(latency) AS latency FROM link"
     " WHERE state IN ('hot', 'congested') GROUP BY link"
     " ORDER BY congested DESC, most DESC LIMIT " TOLD_LINKS "),"
     " loads AS (SELECT link, source || ' to ' || destination AS ranks, total(bytes) AS bytes"
     " FROM link_route WHERE link IN (SELECT link FROM told) GROUP BY link, source, destination),"
     " largest AS " MATERIALIZED "(SELECT link, ranks, max(bytes) FROM loads GROUP BY link)"
     " SELECT name, hot, congested, most, share, ratio, latency, ranks"
     " FROM told LEFT JOIN largest USING (link) ORDER BY congested DESC, most DESC",
     report_data_add_link},
    {"SELECT at_ns, records, (SELECT count(DISTINCT rank) FROM capture_events WHERE capture = id),"
     " reason, (SELECT group_concat(call || ' (' || ranks || ')', ', ') FROM (SELECT call,"
     " count(DISTINCT rank) AS ranks FROM capture_events WHERE capture = id AND exit_ns IS NULL"
     " GROUP BY call ORDER BY ranks DESC, call LIMIT 5)) FROM captures ORDER BY id",
     report_data_add_capture},
};

/* @return 0 where the file holds no count that can be one */
static uint64_t report_data_count(struct tables *t, const char *query)
{
    double count = tables_number(t, query, 0);
    return count > 0 && count < 1e18 ? (uint64_t)count : 0;
}

static void report_data_read_texts(struct report_data *d, struct tables *t)
{
    tables_text(t, "SELECT app FROM job", d->app, sizeof(d->app));
    tables_text(t, "SELECT command FROM job", d->command, sizeof(d->command));
    tables_text(t, "SELECT mpi FROM job", d->mpi, sizeof(d->mpi));
    tables_text(t, "SELECT state FROM job", d->state, sizeof(d->state));
    tables_text(t, "SELECT text FROM topology", d->network, sizeof(d->network));
    tables_text(t, "SELECT fault FROM topology", d->network_fault, sizeof(d->network_fault));
}

/* One window, in which no call took time. */
static int report_data_is_timeless(const struct report_data *d)
{
    double ns = 0;
    for (unsigned k = 0; d->window_count == 1 && k < REPORT_CLASSES; k++)
        ns += d->windows[0].class_ns[k];
    return d->window_count == 1 && ns == 0;
}

/* An alert that is not over lasts to the end, however long ago its figures changed. */
static void report_data_end_open_alerts(struct report_data *d)
{
    for (size_t i = 0; i < d->alert_count; i++) {
        struct report_alert *a = &d->alerts[i];
        if (strcmp(a->state, "firing") == 0 && a->until_ns < d->end_ns)
            a->until_ns = d->end_ns;
    }
}

int report_data_read(struct report_data *out, struct tables *tables)
{
    *out = (struct report_data){.alerts = calloc(REPORT_ALERTS, sizeof(*out->alerts)),
                                .links = calloc(REPORT_LINKS, sizeof(*out->links))};
    if (out->alerts == NULL || out->links == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        int code = tables_query(tables, queries[i].text, queries[i].row, out);
        if (code < 0)
            return code;
    }
    report_data_read_texts(out, tables);
    out->alerts_all =
        report_data_count(tables, "SELECT count(*) FROM alert WHERE " TABLES_ALERT_FIRED);
    out->rank_group = report_data_count(tables, "SELECT rank_group FROM job");
    out->matched = report_data_count(tables, "SELECT matched" RECORDING_NEWEST_MATCHED);
    out->of_unwatched = report_data_count(tables, "SELECT unwatched" RECORDING_NEWEST_MATCHED);
    out->unwatched = report_data_count(tables, "SELECT max(world - seen, 0) FROM job");
    out->unmatched = report_data_count(tables, "SELECT unmatched" RECORDING_NEWEST_MATCHED);
    for (size_t i = 0; i < out->window_count; i++) {
        const struct report_window *w = &out->windows[i];
        int64_t end_ns = w->start_ns + w->length_ns;
        out->begin_ns = i == 0 || w->start_ns < out->begin_ns ? w->start_ns : out->begin_ns;
        out->end_ns = i == 0 || end_ns > out->end_ns ? end_ns : out->end_ns;
    }
    report_data_end_open_alerts(out);
    out->timeless = report_data_is_timeless(out);
    return 0;
}

void report_data_finish(struct report_data *d)
{
    free(d->windows);
    free(d->latencies);
    free(d->phases);
    free(d->alerts);
    free(d->links);
    key_table_finish(&d->patterns);
    *d = (struct report_data){0};
}
