/* Writes and reads the tables of the network: its description, placement, and hot links. */
#include "daemon/storage/recording_network.h"

#include "daemon/storage/recording_bind.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum statement { TOPOLOGY, PART, SEAT, LINK, WAS_HOT, COOLED, ROUTE, STATEMENTS };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS topology(one INTEGER PRIMARY KEY CHECK(one = 1), name TEXT,"
    " kind TEXT, source TEXT, fault TEXT, text TEXT);"
    "CREATE TABLE IF NOT EXISTS topology_part(part INTEGER PRIMARY KEY, message BLOB);"
    "CREATE TABLE IF NOT EXISTS seat(rank INTEGER PRIMARY KEY, vertex INTEGER, name TEXT);"
    "CREATE TABLE IF NOT EXISTS link(window INTEGER, link INTEGER, source TEXT, destination TEXT,"
    " state TEXT, since INTEGER, messages INTEGER, bytes INTEGER, average REAL, peak INTEGER,"
    " share REAL, latency REAL, measured INTEGER, unit TEXT, ratio REAL,"
    " PRIMARY KEY(window, link)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS link_route(window INTEGER, link INTEGER, source INTEGER,"
    " destination INTEGER, messages INTEGER, bytes INTEGER, length INTEGER,"
    " PRIMARY KEY(window, link, source, destination)) WITHOUT ROWID;";

static const char *const texts[STATEMENTS] = {
    [TOPOLOGY] =
        "INSERT OR REPLACE INTO topology(one, name, kind, source, fault, text) VALUES(1,?,?,?,?,?)",
    [PART] = "INSERT OR REPLACE INTO topology_part(part, message) VALUES(?,?)",
    [SEAT] = "INSERT OR REPLACE INTO seat(rank, vertex, name) VALUES(?,?,?)",
    [LINK] =
        "INSERT OR REPLACE INTO link(window, link, source, destination, state, since, messages,"
        " bytes, average, peak, share, latency, measured, unit, ratio)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WAS_HOT] =
        "SELECT 1 FROM link WHERE window = ? AND link = ? AND state IN ('hot', 'congested')",
    /* Links that were hot in the window before and have no row in this one are idle. */
    [COOLED] =
        "INSERT OR IGNORE INTO link(window, link, source, destination, state, since, messages,"
        " bytes, average, peak, unit) SELECT ?1, link, source, destination, 'idle', ?1, 0, 0,"
        " 0, 0, 'bytes' FROM link"
        " WHERE window = ?2 AND state IN ('hot', 'congested')",
    [ROUTE] =
        "INSERT OR REPLACE INTO link_route(window, link, source, destination, messages, bytes,"
        " length) VALUES(?,?,?,?,?,?,?)",
};

static const char *const states[] = {"idle", "busy", "hot", "congested"};

struct network_tables {
    sqlite3 *db;
    sqlite3_stmt *put[STATEMENTS];
    struct topology_parts parts;
    int64_t part;
    struct topology *topology; /* for the names of vertices; NULL: there is no network */
    int loaded;                /* a network that the file has is known */
    struct wire_buffer buffer;
    uint64_t window; /* the last one whose links were written; 0: none of this network */
};

int network_tables_create(struct network_tables **out, sqlite3 *db)
{
    struct network_tables *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->db = db;
    int code = recording_file_make(db, schema, texts, STATEMENTS, t->put);
    if (code != 0) {
        network_tables_destroy(t);
        return code;
    }
    *out = t;
    return 0;
}

void network_tables_destroy(struct network_tables *t)
{
    if (t == NULL)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(t->put[i]);
    topology_parts_finish(&t->parts);
    topology_destroy(t->topology);
    wire_buffer_finish(&t->buffer);
    free(t);
}

/* ---- writing ------------------------------------------------------------------------- */

/* The network of a file that is continued, or that another part was copied to. */
static void recording_network_load(struct network_tables *t)
{
    struct topology_parts parts;
    char why[160];
    t->loaded = 1;
    if (network_tables_read(t->db, &parts) != 0)
        return;
    if (topology_parts_has(&parts) &&
        topology_create(&t->topology, &parts.spec, why, sizeof(why)) != 0)
        t->topology = NULL;
    topology_parts_finish(&parts);
}

static void recording_network_bind_name(struct network_tables *t, sqlite3_stmt *s, int at,
                                        uint64_t vertex)
{
    char name[TOPOLOGY_NAME + 1] = "";
    if (!t->loaded)
        recording_network_load(t);
    if (t->topology == NULL || vertex >= topology_vertices(t->topology)) {
        sqlite3_bind_null(s, at);
        return;
    }
    topology_vertex_name(t->topology, (uint32_t)vertex, name, sizeof(name));
    bind_copy(s, at, name);
}

/* ---- the network ------------------------------------------------------------------------ */

static const char *recording_network_kind_name(const struct topology_spec *spec)
{
    static const char *const kinds[] = {"cartesian", "dragonfly", "fat tree", "tree", "graph"};
    return (size_t)spec->kind < sizeof(kinds) / sizeof(*kinds) ? kinds[spec->kind] : "";
}

/* "cartesian 4 x 4 x 2: 32 nodes, 128 links" */
static void recording_network_describe(const struct network_tables *t, char *out, size_t capacity)
{
    const struct topology_spec *spec = &t->parts.spec;
    uint64_t links = 0;
    uint32_t from, to;
    out[0] = '\0';
    if (t->topology == NULL)
        return;
    for (uint32_t i = 0; i < topology_links(t->topology); i++)
        links += (uint64_t)topology_link(t->topology, i, &from, &to);
    text_append(out, capacity, "%s", recording_network_kind_name(spec));
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        text_append(out, capacity, "%s%u%s", d == 0 ? " " : " x ", spec->dimensions[d].size,
                    spec->dimensions[d].connection == TOPOLOGY_MESH  ? " (mesh)"
                    : spec->dimensions[d].connection == TOPOLOGY_ALL ? " (all to all)"
                                                                     : "");
    text_append(out, capacity, ": %s, %u vertices, %s",
                quantity_things(topology_nodes(t->topology), "node").text,
                topology_vertices(t->topology), quantity_things(links, "link").text);
}

static int recording_network_put_part(struct network_tables *t, const struct wire_topology *m)
{
    struct wire_topology bare = *m;
    bare.seats_count = 0;
    if (wire_encode(&t->buffer, WIRE_TYPE_TOPOLOGY, &bare) != 0)
        return -ENOMEM;
    sqlite3_bind_int64(t->put[PART], 1, t->part++);
    sqlite3_bind_blob64(t->put[PART], 2, t->buffer.bytes, t->buffer.length, SQLITE_TRANSIENT);
    return bind_put_row(t->put[PART]);
}

static int recording_network_put_whole(struct network_tables *t)
{
    char text[512], why[160];
    struct topology_parts *p = &t->parts;
    topology_destroy(t->topology);
    t->topology = NULL;
    t->loaded = 1;
    if (topology_parts_has(p) && topology_create(&t->topology, &p->spec, why, sizeof(why)) != 0)
        t->topology = NULL;
    recording_network_describe(t, text, sizeof(text));
    bind_copy(t->put[TOPOLOGY], 1, p->spec.name);
    bind_copy(t->put[TOPOLOGY], 2,
              topology_parts_has(p) ? recording_network_kind_name(&p->spec) : "");
    bind_copy(t->put[TOPOLOGY], 3, p->source);
    bind_copy(t->put[TOPOLOGY], 4, p->fault);
    bind_copy(t->put[TOPOLOGY], 5, text);
    int code = bind_put_row(t->put[TOPOLOGY]);
    for (size_t i = 0; code == 0 && i < p->seat_count; i++) {
        bind_number(t->put[SEAT], 1, p->seats[i].rank);
        bind_number(t->put[SEAT], 2, p->seats[i].vertex);
        recording_network_bind_name(t, t->put[SEAT], 3, p->seats[i].vertex);
        if (p->seats[i].vertex == UINT64_MAX)
            sqlite3_bind_null(t->put[SEAT], 2);
        code = bind_put_row(t->put[SEAT]);
    }
    return code;
}

int network_tables_put_topology(struct network_tables *t, const struct wire_topology *m)
{
    int code = 0;
    if (!t->parts.more) {
        t->part = 0;
        t->window = 0; /* links of another network have other numbers */
        code = recording_file_exec(
            t->db, "DELETE FROM topology_part; DELETE FROM seat; DELETE FROM topology");
    }
    code = code != 0 ? code : topology_parts_add(&t->parts, m);
    code = code != 0 ? code : recording_network_put_part(t, m);
    if (code == -HOLTER_ERANGE)
        return 0; /* there is no network whose vertices could be named */
    if (code != 0 || m->more)
        return code;
    code = recording_network_put_whole(t);
    topology_parts_finish(&t->parts);
    return code;
}

/* ---- links ------------------------------------------------------------------------------- */

static int recording_network_put_link(struct network_tables *t, uint64_t window,
                                      const struct wire_link_row *l)
{
    sqlite3_stmt *s = t->put[LINK];
    bind_number(s, 1, window);
    bind_number(s, 2, l->link);
    recording_network_bind_name(t, s, 3, l->from);
    recording_network_bind_name(t, s, 4, l->to);
    bind_copy(s, 5, l->state <= LINK_CONGESTED ? states[l->state] : "");
    bind_number(s, 6, l->since);
    bind_number(s, 7, l->messages);
    bind_number(s, 8, l->bytes);
    sqlite3_bind_double(s, 9, l->average); /* NaN becomes NULL, also in the columns below */
    bind_number(s, 10, l->peak);
    sqlite3_bind_double(s, 11, l->share);
    sqlite3_bind_double(s, 12, l->latency);
    if (l->measured == UINT64_MAX)
        sqlite3_bind_null(s, 13);
    else
        bind_number(s, 13, l->measured);
    bind_copy(s, 14, l->unit ? "packets" : "bytes");
    sqlite3_bind_double(s, 15, l->ratio);
    return bind_put_row(s);
}

/* Was a link hot or congested in the window before? @return 1, 0 or -EIO */
static int recording_network_was_hot(struct network_tables *t, uint64_t link)
{
    sqlite3_stmt *s = t->put[WAS_HOT];
    bind_number(s, 1, t->window);
    bind_number(s, 2, link);
    int step = sqlite3_step(s);
    sqlite3_reset(s);
    return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -EIO;
}

static int recording_network_put_route(struct network_tables *t, uint64_t window,
                                       const struct wire_link_route_row *r)
{
    const uint64_t numbers[] = {window,      r->link,  r->source, r->destination,
                                r->messages, r->bytes, r->length};
    return bind_put_numbers(t->put[ROUTE], 7, numbers);
}

int network_tables_put_links(struct network_tables *t, const struct wire_links *m)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < m->links_count; i++) {
        const struct wire_link_row *link = &m->links[i];
        code = link->state >= LINK_HOT ? 1 : recording_network_was_hot(t, link->link);
        code = code == 1 ? recording_network_put_link(t, m->window, link) : code;
    }
    for (uint64_t i = 0; code == 0 && i < m->routes_count; i++)
        code = recording_network_put_route(t, m->window, &m->routes[i]);
    if (code != 0 || m->more)
        return code;
    const uint64_t windows[] = {m->window, t->window};
    t->window = m->window;
    return bind_put_numbers(t->put[COOLED], 2, windows);
}

int network_tables_select_links(const struct wire_links *m, struct wire_links *out,
                                struct wire_link_row **rows)
{
    size_t count = 0;
    *rows = malloc((m->links_count + 1) * sizeof(**rows));
    if (*rows == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->links_count; i++) {
        if (m->links[i].state >= LINK_HOT || m->links[i].since == m->window)
            (*rows)[count++] = m->links[i];
    }
    *out = *m;
    out->links = *rows;
    out->links_count = count;
    out->interfaces_count = 0;
    return 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int recording_network_read_part(sqlite3_stmt *s, struct wire_arena *arena,
                                       struct topology_parts *out)
{
    struct wire_message message;
    const void *bytes = sqlite3_column_blob(s, 0);
    size_t length = (size_t)sqlite3_column_bytes(s, 0);
    if (bytes == NULL || wire_decode(&message, arena, bytes, length, NULL) != 0 ||
        message.type != WIRE_TYPE_TOPOLOGY)
        return -HOLTER_ECORRUPT;
    int code = topology_parts_add(out, &message.topology);
    return code == -HOLTER_ERANGE ? -HOLTER_ECORRUPT : code;
}

int network_tables_read(sqlite3 *db, struct topology_parts *out)
{
    sqlite3_stmt *s = NULL;
    struct wire_arena arena = {0};
    *out = (struct topology_parts){.more = 0};
    if (sqlite3_table_column_metadata(db, NULL, "topology_part", "message", NULL, NULL, NULL, NULL,
                                      NULL) != SQLITE_OK)
        return 0; /* no network was written */
    if (sqlite3_prepare_v2(db, "SELECT message FROM topology_part ORDER BY part", -1, &s, NULL) !=
        SQLITE_OK)
        return -EIO;
    int code = 0, step;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW)
        code = recording_network_read_part(s, &arena, out);
    if (code == 0 && (step != SQLITE_DONE || out->more))
        code = -HOLTER_ECORRUPT;
    sqlite3_finalize(s);
    wire_arena_finish(&arena);
    if (code != 0)
        topology_parts_finish(out);
    return code;
}
