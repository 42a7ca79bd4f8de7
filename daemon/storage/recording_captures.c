/* Writes the tables captures and capture_events. */
#include "daemon/storage/recording_captures.h"

#include "daemon/storage/recording_bind.h"
#include "daemon/storage/recording_file.h"
#include "holter/call.h"
#include "holter/event.h"
#include "proto/event_text.h"

enum statement { CAPTURE, EVENT };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS captures(id INTEGER PRIMARY KEY, asked_ns INTEGER, at_ns INTEGER,"
    " reason TEXT, alert INTEGER, nodes INTEGER, answered INTEGER, records INTEGER, fault TEXT);"
    "CREATE TABLE IF NOT EXISTS capture_events(capture INTEGER, rank INTEGER, thread INTEGER,"
    " number INTEGER, host TEXT, kind TEXT, call TEXT, enter_ns INTEGER, exit_ns INTEGER,"
    " peer INTEGER, tag INTEGER, bytes INTEGER, bytes_in INTEGER, comm INTEGER, comm_name TEXT,"
    " region TEXT, request INTEGER, state TEXT, posted_ns INTEGER, source INTEGER,"
    " source_tag INTEGER, PRIMARY KEY(capture, rank, thread, number)) WITHOUT ROWID;";

static const char *const texts[CAPTURE_STATEMENTS] = {
    [CAPTURE] =
        "INSERT INTO captures(id, asked_ns, at_ns, reason, alert, nodes, answered, records, fault) "
        "VALUES(?,?,?,?,?,?,?,?,?)" CAPTURE_JOIN,
    [EVENT] = "INSERT OR REPLACE INTO capture_events(capture, rank, thread, number, host, kind,"
              " call, enter_ns, exit_ns, peer, tag, bytes, bytes_in, comm, comm_name, region,"
              " request, state, posted_ns, source, source_tag)"
              " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
};

int capture_tables_create(sqlite3_stmt *put[CAPTURE_STATEMENTS], sqlite3 *db)
{
    return recording_file_make(db, schema, texts, CAPTURE_STATEMENTS, put);
}

/* ---- writing ------------------------------------------------------------------------- */

static int recording_captures_put_row(sqlite3_stmt *const put[CAPTURE_STATEMENTS],
                                      const struct wire_capture *m)
{
    sqlite3_stmt *s = put[CAPTURE];
    bind_number(s, 1, m->id);
    bind_number(s, 2, m->asked_ns);
    bind_number(s, 3, m->at_ns);
    bind_copy(s, 4, m->reason);
    bind_number(s, 5, m->alert);
    bind_number(s, 6, m->nodes);
    bind_number(s, 7, m->answered);
    bind_number(s, 8, m->records);
    bind_copy(s, 9, m->fault);
    return bind_put_row(s);
}

/* Numbers that mean "none" become NULL. Peers and tags keep those that mean "any" and the like. */
static void recording_captures_bind_unless(sqlite3_stmt *s, int at, int none, uint64_t number)
{
    if (none)
        sqlite3_bind_null(s, at);
    else
        bind_number(s, at, number);
}

static const char *recording_captures_kind_name(uint64_t kind, int64_t peer)
{
    return kind == EVENT_PART     ? "message"
           : kind != EVENT_REGION ? "call"
           : peer > 0             ? "region begins"
                                  : "region ends";
}

static int recording_captures_put_event(sqlite3_stmt *const put[CAPTURE_STATEMENTS],
                                        const struct wire_capture *m,
                                        const struct wire_capture_event_row *e)
{
    char state[EVENT_STATE_ROOM];
    sqlite3_stmt *s = put[EVENT];
    const struct wire_capture_thread_row *thread = &m->threads[e->thread];
    uint64_t enter = m->at_ns + (uint64_t)e->begin_ns;
    const struct wire_comm_row *comm = e->comm < m->comms_count ? &m->comms[e->comm] : NULL;
    bind_number(s, 1, m->id);
    bind_number(s, 2, thread->rank);
    bind_number(s, 3, thread->thread);
    bind_number(s, 4, e->number);
    bind_copy(s, 5, m->host);
    bind_copy(s, 6, recording_captures_kind_name(e->kind, e->peer));
    bind_copy(s, 7, call_name((uint16_t)e->call));
    bind_number(s, 8, enter);
    recording_captures_bind_unless(s, 9, e->running != 0, enter + e->length_ns);
    recording_captures_bind_unless(s, 10, e->kind == EVENT_REGION || e->peer == PEER_NONE,
                                   (uint64_t)e->peer);
    recording_captures_bind_unless(s, 11, e->kind == EVENT_REGION || e->tag == TAG_NONE,
                                   (uint64_t)e->tag);
    bind_number(s, 12, e->bytes);
    bind_number(s, 13, e->bytes_in);
    recording_captures_bind_unless(s, 14, comm == NULL || comm->id == 0,
                                   comm == NULL ? 0 : comm->id);
    bind_copy(s, 15, comm == NULL ? "" : comm->name);
    bind_copy(s, 16, e->region < m->regions_count ? m->regions[e->region].name : "");
    recording_captures_bind_unless(s, 17, e->request == 0, e->request);
    bind_copy(s, 18, event_state_text(e->flags, state));
    recording_captures_bind_unless(s, 19, e->posted_ns == 0, m->at_ns + (uint64_t)e->posted_ns);
    recording_captures_bind_unless(s, 20, e->source == PEER_NONE, (uint64_t)e->source);
    recording_captures_bind_unless(s, 21, e->source_tag == TAG_NONE, (uint64_t)e->source_tag);
    return bind_put_row(s);
}

int capture_tables_put(sqlite3_stmt *const put[CAPTURE_STATEMENTS], const struct wire_capture *m)
{
    int code = recording_captures_put_row(put, m);
    for (uint64_t i = 0; code == 0 && i < m->events_count; i++) {
        if (m->events[i].thread < m->threads_count)
            code = recording_captures_put_event(put, m, &m->events[i]);
    }
    return code;
}
