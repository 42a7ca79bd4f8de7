/* Reads a recording from begin to end and summarises it: tables, messages, gaps and damage. */
#include "daemon/storage/recordings/info.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/storage/recorded_hosts.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recording_tables.h"
#include "daemon/storage/recordings/numbers.h"
#include "daemon/storage/table_copy.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Windows that an agent has dropped, by its own count. */
struct dropping {
    uint64_t reported; /* total that the agent reported last */
    uint64_t others;   /* messages before its first window */
    int began;         /* its first window was read */
};

struct reading {
    struct info *info;
    struct recording_cursor *cursor;
    struct recording_file *file;
    struct recorded_hosts hosts;
    struct key_table agents;  /* hi: instance */
    struct dropping *dropped; /* owned: by agent */
    size_t dropped_capacity;
    uint64_t dropped_before; /* dropped windows before the first window */
    struct numbers numbers;  /* numbers of the messages */
    struct presence {
        uint64_t window_ns;  /* begin of the window */
        uint64_t absent_ns;  /* least that a rank is absent in it */
    } first, last;           /* windows that have ranks */
    struct info_hole *holes; /* owned: gaps of single agents */
    size_t hole_count, hole_capacity;
    size_t alert_capacity;
    const struct recording_progress *progress;
};

static void info_add_damage(struct info *info, uint64_t after, uint64_t messages, const char *text)
{
    if (info->damage_count < INFO_DAMAGES) {
        struct info_damage *d = &info->damages[info->damage_count];
        d->after = after;
        d->messages = messages;
        snprintf(d->text, sizeof(d->text), "%s", text);
    }
    info->damage_count++;
}

/* ---- tables -------------------------------------------------------------- */

static void info_copy_text(char *out, size_t capacity, sqlite3_stmt *s, int column)
{
    text_copy(out, capacity, recording_file_text(s, column));
}

static void info_read_job(struct reading *r)
{
    struct info *i = r->info;
    sqlite3_stmt *s = NULL;
    int code = recording_file_query(r->file, &s,
                                    "SELECT job, state, app, command, mpi, user, holter, world,"
                                    " seen, window_ns, launcher, rank_group FROM job");
    if (code == 1) {
        info_copy_text(i->job, sizeof(i->job), s, 0);
        info_copy_text(i->state, sizeof(i->state), s, 1);
        i->cut_short = recording_is_cut_short(i->path, i->state);
        info_copy_text(i->app, sizeof(i->app), s, 2);
        info_copy_text(i->command, sizeof(i->command), s, 3);
        info_copy_text(i->mpi, sizeof(i->mpi), s, 4);
        info_copy_text(i->user, sizeof(i->user), s, 5);
        info_copy_text(i->holter, sizeof(i->holter), s, 6);
        i->world = (uint64_t)sqlite3_column_int64(s, 7);
        i->ranks_seen = (uint64_t)sqlite3_column_int64(s, 8);
        i->window_ns = (uint64_t)sqlite3_column_int64(s, 9);
        info_copy_text(i->launcher, sizeof(i->launcher), s, 10);
        i->rank_group = (uint64_t)sqlite3_column_int64(s, 11);
    }
    sqlite3_finalize(s);
    if (code < 0)
        info_add_damage(i, 0, 0, "table job cannot be read");
}

static void info_read_network(struct reading *r)
{
    sqlite3_stmt *s = NULL;
    if (recording_file_query(r->file, &s, "SELECT text, source FROM topology") == 1) {
        info_copy_text(r->info->network, sizeof(r->info->network), s, 0);
        info_copy_text(r->info->network_source, sizeof(r->info->network_source), s, 1);
    }
    sqlite3_finalize(s);
}

static void info_read_part(struct reading *r)
{
    sqlite3_stmt *s = NULL;
    if (recording_file_query(r->file, &s,
                             "SELECT part, removed_ns, attached_ns, missed FROM part"
                             " WHERE one = 1") == 1) {
        r->info->part = (uint64_t)sqlite3_column_int64(s, 0);
        r->info->removed_before_ns = (uint64_t)sqlite3_column_int64(s, 1);
        r->info->attached_ns = (uint64_t)sqlite3_column_int64(s, 2);
        int64_t missed = sqlite3_column_int64(s, 3);
        r->info->missed = missed > 0 ? (uint64_t)missed : 0;
    }
    sqlite3_finalize(s);
}

static int info_add_alert(void *user, const struct wire_alert *a)
{
    struct reading *r = user;
    struct info *i = r->info;
    if (a->fired_ns == 0 && strcmp(a->state, "firing") != 0) {
        i->alerts_pending++;
        return 0;
    }
    if (i->alert_total++ >= INFO_ALERTS)
        return 0;
    if (ARRAY_FIT(i->alerts, r->alert_capacity, i->alert_count + 1) != 0)
        return -ENOMEM;
    struct info_alert *to = &i->alerts[i->alert_count++];
    *to = (struct info_alert){.id = a->id,
                              .since_ns = a->onset_ns != 0 ? a->onset_ns : a->since_ns,
                              .updated_ns = a->updated_ns};
    snprintf(to->kind, sizeof(to->kind), "%s", a->kind);
    snprintf(to->state, sizeof(to->state), "%s", a->state);
    snprintf(to->severity, sizeof(to->severity), "%s", a->severity);
    snprintf(to->title, sizeof(to->title), "%s", a->title);
    return 0;
}

static void info_read_captures(struct reading *r)
{
    struct info *i = r->info;
    sqlite3_stmt *s = NULL;
    int row = 0;
    if (recording_file_prepare(r->file, &s,
                               "SELECT id, at_ns, alert, records, nodes, answered, reason"
                               " FROM captures ORDER BY id") != 0)
        return;
    while ((row = recording_file_step(r->file, s)) == 1) {
        if (i->capture_total++ >= INFO_CAPTURES)
            continue;
        struct info_capture *to = &i->captures[i->capture_count++];
        to->id = (uint64_t)sqlite3_column_int64(s, 0);
        to->at_ns = (uint64_t)sqlite3_column_int64(s, 1);
        to->alert = (uint64_t)sqlite3_column_int64(s, 2);
        to->records = (uint64_t)sqlite3_column_int64(s, 3);
        to->nodes = (uint64_t)sqlite3_column_int64(s, 4);
        to->answered = (uint64_t)sqlite3_column_int64(s, 5);
        info_copy_text(to->reason, sizeof(to->reason), s, 6);
    }
    sqlite3_finalize(s);
    if (row < 0)
        info_add_damage(i, 0, 0, "the table of captures cannot be read to its end");
}

/* Read the other tables to their ends: what cannot be read there would count as 0. Of a file
 * without its end it is clear that something is missing. */
static void info_check_tables(struct reading *r)
{
    for (size_t i = 0; r->file->lacking == 0 && i < RECORDED_TABLES; i++) {
        const char *name = recorded_tables[i].name;
        char sql[64], text[128];
        sqlite3_stmt *s = NULL;
        if (strcmp(name, "job") == 0 || strcmp(name, "alert") == 0 ||
            strcmp(name, "captures") == 0 || !recording_file_has(r->file, name))
            continue;
        snprintf(sql, sizeof(sql), "SELECT * FROM %s", name);
        int code = recording_file_prepare(r->file, &s, sql);
        while (code == 0 && (code = recording_file_step(r->file, s)) == 1)
            code = 0;
        sqlite3_finalize(s);
        snprintf(text, sizeof(text), "the table %s cannot be read to its end", name);
        if (code < 0)
            info_add_damage(r->info, 0, 0, text);
    }
}

static int info_read_tables(struct reading *r)
{
    struct info *i = r->info;
    info_read_job(r);
    info_read_network(r);
    info_read_part(r);
    recording_find_stop(i->path, &i->stop);
    i->cut_short |= i->stop.at_ns > 0;
    info_read_captures(r);
    info_check_tables(r);
    i->windows = recording_file_count(r->file, "SELECT count(*) FROM totals");
    i->missing = recording_file_count(r->file, "SELECT sum(agents_missing) FROM totals");
    i->late = recording_file_count(r->file, "SELECT sum(late) FROM totals");
    i->matched = recording_file_count(r->file, "SELECT matched" RECORDING_NEWEST_MATCHED);
    i->unmatched = recording_file_count(r->file, "SELECT unmatched" RECORDING_NEWEST_MATCHED);
    i->of_unwatched = recording_file_count(r->file, "SELECT unwatched" RECORDING_NEWEST_MATCHED);
    i->phases = recording_file_count(r->file, "SELECT count(*) FROM phase");
    i->regions = recording_file_count(r->file, "SELECT count(*) FROM region");
    i->hot_links = recording_file_count(
        r->file, "SELECT count(DISTINCT link) FROM link WHERE state IN ('hot', 'congested')");
    i->blocks = recording_file_count(r->file, "SELECT count(*) FROM block");
    i->packed_bytes = recording_file_count(r->file, "SELECT sum(length(data)) FROM block");
    i->raw_bytes = recording_file_count(r->file, "SELECT sum(length) FROM block");
    int code = recording_tables_read_alerts(r->file->db, info_add_alert, r);
    if (code != -HOLTER_ECORRUPT)
        return code;
    info_add_damage(i, 0, 0, "the table of alerts cannot be read to its end");
    return 0;
}

/* ---- messages ------------------------------------------------------------ */

/* Hosts beyond the most that are counted are not. */
static int info_add_host(struct reading *r, const struct recorded *head,
                         const struct wire_message *m)
{
    const int64_t host = m->type == WIRE_TYPE_WINDOW
                             ? recorded_hosts_of_window(&r->hosts, head->instance, &m->window)
                         : m->type == WIRE_TYPE_RANKS
                             ? recorded_hosts_of_ranks(&r->hosts, head->instance, &m->ranks)
                             : recorded_hosts_of_agent(&r->hosts, head->instance, m->captured.host);
    return host == -ENOMEM ? -ENOMEM : 0;
}

/* An agent reports sums since its start, which may have been long before the recording begins.
 * Windows that it numbered before its first window here count as dropped, unless messages that it
 * did not drop are missing as well.
 * @return number of those that it dropped */
static uint64_t dropped_before(const struct dropping *d, uint64_t seq, uint64_t reported)
{
    uint64_t missing = seq > d->others ? seq - 1 - d->others : 0;
    return missing <= reported ? missing : 0;
}

static int info_add_agent(struct reading *r, const struct recorded *head,
                          const struct wire_window *w)
{
    uint32_t at = KEY_TABLE_EXTEND(&r->agents, (struct key){.hi = head->instance}, UINT32_MAX,
                                   r->dropped, r->dropped_capacity);
    if (at == KEY_NONE)
        return -ENOMEM;
    struct dropping *d = &r->dropped[at];
    d->others += w == NULL && !d->began;
    if (w == NULL || w->node_count == 0)
        return 0;
    uint64_t reported = w->node[0].windows_dropped;
    uint64_t before = !d->began ? dropped_before(d, head->seq, reported) : 0;
    r->dropped_before += before;
    r->info->dropped += !d->began ? before : reported - d->reported;
    d->reported = reported;
    d->began = 1;
    return 0;
}

static void info_add_span(struct info *i, const struct wire_window *w)
{
    uint64_t begin = w->window * w->length_ns;
    if (w->length_ns == 0 || w->window > INT64_MAX / w->length_ns)
        return;
    if (i->begin_ns == 0 || begin < i->begin_ns)
        i->begin_ns = begin;
    if (begin + w->length_ns > i->end_ns)
        i->end_ns = begin + w->length_ns;
    i->window_ns = i->window_ns == 0 ? w->length_ns : i->window_ns;
}

static void info_add_presence(struct reading *r, const struct wire_window *w)
{
    struct presence now = {w->window * w->length_ns, w->length_ns};
    if (w->length_ns == 0 || w->window > INT64_MAX / w->length_ns || w->ranks_count == 0)
        return;
    for (uint64_t n = 0; n < w->ranks_count; n++)
        now.absent_ns =
            w->ranks[n].absent_ns < now.absent_ns ? w->ranks[n].absent_ns : now.absent_ns;
    struct presence *const ends[] = {&r->first, &r->last};
    for (int e = 0; e < 2; e++) {
        const int is_beyond = e == 0 ? now.window_ns < ends[e]->window_ns || r->last.window_ns == 0
                                     : now.window_ns > ends[e]->window_ns;
        if (is_beyond ||
            (now.window_ns == ends[e]->window_ns && now.absent_ns < ends[e]->absent_ns))
            *ends[e] = now;
    }
}

static void info_add_window(struct info *i, const struct wire_window *w)
{
    info_add_span(i, w);
    for (uint64_t n = 0; n < w->ranks_count; n++)
        recorded_rank_add(&i->sums, &w->ranks[n]);
    for (uint64_t n = 0; n < w->calls_count; n++) {
        const struct wire_call_row *row = &w->calls[n];
        recorded_calls_add(&i->calls[row->call < INFO_CALLS ? row->call : 0], row);
    }
    if (i->job[0] == '\0')
        snprintf(i->job, sizeof(i->job), "%s", w->job);
}

static void info_add_ranks(struct info *i, const struct wire_ranks *m)
{
    if (i->app[0] == '\0')
        snprintf(i->app, sizeof(i->app), "%s", m->app);
    if (i->mpi[0] == '\0')
        snprintf(i->mpi, sizeof(i->mpi), "%s", m->mpi);
    if (i->launcher[0] == '\0')
        snprintf(i->launcher, sizeof(i->launcher), "%s", m->launcher);
    i->world = m->world > i->world ? m->world : i->world;
    if (i->job[0] == '\0')
        snprintf(i->job, sizeof(i->job), "%s", m->job);
}

static int info_add_message_kind(struct reading *r, const struct recorded *head,
                                 const struct wire_message *m)
{
    int captured = m != NULL && m->type == WIRE_TYPE_CAPTURED;
    if (m == NULL || (m->type != WIRE_TYPE_WINDOW && m->type != WIRE_TYPE_RANKS && !captured)) {
        info_add_damage(r->info, r->info->messages - 1, 1, "a message is not one of an agent");
        return 0;
    }
    int window = m->type == WIRE_TYPE_WINDOW;
    if (window) {
        info_add_window(r->info, &m->window);
        info_add_presence(r, &m->window);
    } else if (!captured)
        info_add_ranks(r->info, &m->ranks);
    int code = info_add_agent(r, head, window ? &m->window : NULL);
    return code != 0 ? code : info_add_host(r, head, m);
}

static int info_add_message(void *user, const struct recorded *head,
                            const struct wire_message *message, size_t length)
{
    struct reading *r = user;
    (void)length; /* lengths are summed in the table of blocks */
    r->info->messages++;
    int added = numbers_add(&r->numbers, head);
    return added < 0 ? added : info_add_message_kind(r, head, message);
}

/* Read all messages to the end, skipping what is damaged. */
static int info_read_messages(struct reading *r)
{
    uint64_t skipped;
    int code, more = 1;
    do {
        code = recording_scan(r->cursor, r->progress, info_add_message, r);
        if (code != -HOLTER_ECORRUPT)
            return code;
        uint64_t number = recording_cursor_number(r->cursor);
        more = recording_cursor_skip(r->cursor, &skipped);
        info_add_damage(r->info, number, skipped, "messages cannot be read");
    } while (more == 1);
    return more == -HOLTER_ECORRUPT ? 0 : more;
}

/* ---- what is not there ---------------------------------------------------- */

static int info_add_gap(void *user, uint64_t first, uint64_t end, uint64_t missing)
{
    struct reading *r = user;
    uint64_t window_ns = r->info->window_ns;
    if (window_ns == 0 || end > INT64_MAX / window_ns)
        return 0;
    if (ARRAY_FIT(r->holes, r->hole_capacity, r->hole_count + 1) != 0)
        return -ENOMEM;
    r->holes[r->hole_count++] = (struct info_hole){first * window_ns, end * window_ns, missing};
    return 0;
}

ORDER_FUNCTION(info_compare_by_begin, struct info_hole, ORDER(a->begin_ns, b->begin_ns))

/* Join gaps of several agents that overlap. */
static void info_join_gaps(struct reading *r)
{
    struct info *i = r->info;
    struct info_hole joined = {0, 0, 0};
    if (r->hole_count > 1)
        qsort(r->holes, r->hole_count, sizeof(*r->holes), info_compare_by_begin);
    for (size_t h = 0; h < r->hole_count; h++) {
        const struct info_hole *hole = &r->holes[h];
        int goes_on = i->hole_total > 0 && hole->begin_ns < joined.end_ns;
        if (!goes_on) {
            joined = *hole;
            i->hole_total++;
        } else {
            joined.end_ns = hole->end_ns > joined.end_ns ? hole->end_ns : joined.end_ns;
            joined.missing += hole->missing;
        }
        if (i->hole_total <= INFO_HOLES)
            i->holes[i->hole_total - 1] = joined;
    }
}

static int info_find_gaps(struct reading *r)
{
    uint64_t missing = numbers_count_missing(&r->numbers);
    uint64_t dropped = r->info->dropped - r->dropped_before;
    r->info->absent = missing > dropped ? missing - dropped : 0;
    r->info->missed_before = r->info->missed > missing ? r->info->missed - missing : 0;
    int code = numbers_for_each_gap(&r->numbers, info_add_gap, r);
    if (code == 0)
        info_join_gaps(r);
    return code;
}

/* A job begins and ends within windows. */
static void info_set_duration(struct reading *r)
{
    const uint64_t before = r->first.absent_ns;
    const uint64_t after = r->last.window_ns == r->first.window_ns ? 0 : r->last.absent_ns;
    const uint64_t whole = r->last.window_ns == 0
                               ? r->info->end_ns - r->info->begin_ns
                               : r->last.window_ns + r->info->window_ns - r->first.window_ns;
    r->info->duration_ns = before + after < whole ? whole - before - after : whole;
}

/* ---- all ----------------------------------------------------------------- */

static void info_finish_reading(struct reading *r)
{
    recording_cursor_close(r->cursor);
    key_table_finish(&r->agents);
    numbers_finish(&r->numbers);
    free(r->dropped);
    free(r->holes);
}

int info_read(struct info *out, const char *path, const struct recording_progress *progress,
              char *why, size_t capacity)
{
    struct reading r = {.info = out, .progress = progress};
    *out = (struct info){0};
    snprintf(out->path, sizeof(out->path), "%s", path);
    int code = recording_cursor_salvage(&r.cursor, path, why, capacity);
    if (code != 0)
        return code;
    r.file = recording_cursor_file(r.cursor);
    out->version = r.file->version;
    out->file_bytes = recording_bytes_at(path);
    code = recording_file_hold(r.file);
    code = code != 0 ? code : info_read_tables(&r);
    code = code != 0 ? code : info_read_messages(&r);
    if (r.file->lacking > 0)
        info_add_damage(out, recording_cursor_number(r.cursor), 0, "the file is cut short");
    code = code != 0 ? code : info_find_gaps(&r);
    info_set_duration(&r);
    out->agents = r.agents.count;
    out->hosts = r.hosts.names;
    out->host_total = r.hosts.count;
    r.hosts.names = NULL;
    recorded_hosts_finish(&r.hosts);
    out->host_count = out->host_total < INFO_HOSTS ? out->host_total : INFO_HOSTS;
    if (out->windows == 0 && out->window_ns > 0) /* nothing was published, as in an import */
        out->windows = (out->end_ns - out->begin_ns) / out->window_ns;
    if (code != 0)
        snprintf(why, capacity, "%s: %s", path, holter_strerror(code));
    info_finish_reading(&r);
    if (code != 0)
        info_finish(out);
    return code;
}

void info_finish(struct info *i)
{
    array_release(&i->hosts);
    array_release(&i->alerts);
    i->host_count = i->alert_count = 0;
}
