/* Graphs of dependencies as tables. */
#include "daemon/export/export_graph.h"

#include "daemon/analysis/dependencies/dependencies.h"
#include "daemon/export/captured_calls.h"

#include "holter/call.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const export_graphs[] = {"graph_ranks", "graph_nodes",       "graph_edges",
                                     "graph_chain", "graph_collectives", NULL};

/* A graph, and one row of a table of it. */
struct graph_rows {
    const struct captured_calls *captured;
    const struct dependencies *d;
    uint32_t *chain; /* owned; events of the critical chain, the last one first */
    uint32_t chain_count;
    struct cell cells[TABLES_COLUMNS];
    size_t columns;
};

static void graph_rows_number(struct graph_rows *r, const char *name, int64_t value)
{
    r->cells[r->columns++] = (struct cell){name, CELL_INTEGER, value, (double)value, "", NULL, 0};
}

static void graph_rows_count(struct graph_rows *r, const char *name, uint64_t value)
{
    graph_rows_number(r, name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void graph_rows_text(struct graph_rows *r, const char *name, const char *value)
{
    r->cells[r->columns++] = (struct cell){name, CELL_TEXT, 0, NAN, value, NULL, 0};
}

static void graph_rows_known(struct graph_rows *r, const char *name, int known, int64_t value)
{
    graph_rows_number(r, name, value);
    if (!known)
        r->cells[r->columns - 1] = (struct cell){name, CELL_NULL, 0, NAN, "", NULL, 0};
}

/* A figure of which 0 means that it is not known. */
static void graph_rows_latency(struct graph_rows *r, double value)
{
    struct cell cell = {"latency", CELL_REAL, 0, value, "", NULL, 0};
    if (!(value > 0))
        cell = (struct cell){"latency", CELL_NULL, 0, NAN, "", NULL, 0};
    r->cells[r->columns++] = cell;
}

static const char *graph_rows_host(const struct graph_rows *r, uint32_t host)
{
    return host < r->captured->calls.host_count ? r->captured->calls.hosts[host].name : "";
}

static void graph_rows_make_rank(struct graph_rows *r, uint32_t at)
{
    const struct dependency_lane *l = &r->d->ranks.lanes[at];
    graph_rows_count(r, "rank", l->id);
    graph_rows_text(r, "host", graph_rows_host(r, l->host));
    graph_rows_count(r, "messages", l->messages);
    r->cells[r->columns++] = (struct cell){"balance", CELL_REAL, 0, l->balance, "", NULL, 0};
    graph_rows_count(r, "lateness_ns", l->lateness_ns);
    graph_rows_count(r, "caused_ns", l->caused_ns);
    graph_rows_latency(r, l->latency);
}

static void graph_rows_make_node(struct graph_rows *r, uint32_t at)
{
    const struct dependency_node *n = &r->d->ranks.nodes[at];
    graph_rows_count(r, "node", at);
    graph_rows_count(r, "rank", r->d->ranks.lanes[n->lane].id);
    graph_rows_count(r, "layer", n->layer);
    graph_rows_count(r, "step", n->first_step);
    graph_rows_count(r, "last_step", n->last_step);
    graph_rows_count(r, "receives", n->receives);
    graph_rows_count(r, "received_bytes", n->received_bytes);
    graph_rows_count(r, "sends", n->sends);
    graph_rows_count(r, "sent_bytes", n->sent_bytes);
    graph_rows_number(r, "begin_ns", n->begin_ns);
    graph_rows_number(r, "end_ns", n->end_ns);
    graph_rows_count(r, "lateness_ns", n->lateness_ns);
    graph_rows_count(r, "caused_ns", n->caused_ns);
    graph_rows_latency(r, n->latency);
}

static void graph_rows_make_edge(struct graph_rows *r, uint32_t at)
{
    const struct dependency_edge *e = &r->d->ranks.edges[at];
    const struct dependency_event *send = &r->d->events[e->send],
                                  *receive = &r->d->events[e->receive];
    graph_rows_count(r, "edge", at);
    graph_rows_count(r, "from_node", e->from);
    graph_rows_count(r, "to_node", e->to);
    graph_rows_count(r, "source", send->rank);
    graph_rows_count(r, "destination", receive->rank);
    graph_rows_number(r, "tag", send->tag);
    graph_rows_count(r, "bytes", e->bytes);
    graph_rows_number(r, "sent_ns", send->begin_ns);
    graph_rows_number(r, "received_ns", receive->end_ns);
    graph_rows_number(r, "transfer_ns", e->transfer_ns);
    graph_rows_latency(r, e->latency);
    graph_rows_count(r, "send_step", send->step);
    graph_rows_count(r, "receive_step", receive->step);
    graph_rows_count(r, "lateness_ns", receive->lateness_ns);
}

/* Events of the chain from its begin. */
static void graph_rows_make_event(struct graph_rows *r, uint32_t at)
{
    const struct dependency_event *e = &r->d->events[r->chain[r->chain_count - 1 - at]];
    graph_rows_count(r, "position", at);
    graph_rows_count(r, "rank", e->rank);
    graph_rows_count(r, "step", e->step);
    graph_rows_text(r, "event", dependencies_event_name(e));
    graph_rows_number(r, "peer", e->peer == DEPENDENCY_NONE ? PEER_NONE : (int64_t)e->peer);
    graph_rows_number(r, "tag", e->tag);
    graph_rows_count(r, "bytes", e->bytes);
    graph_rows_number(r, "begin_ns", e->begin_ns);
    graph_rows_number(r, "end_ns", e->end_ns);
    graph_rows_count(r, "lateness_ns", e->lateness_ns);
    graph_rows_count(r, "caused_ns", e->caused_ns);
    graph_rows_text(r, "call", call_name(e->call));
}

/* A rank's part in a collective. @param at  position in the members */
static void graph_rows_make_member(struct graph_rows *r, uint32_t at)
{
    const struct dependency_member *m = &r->d->members[at];
    const struct dependency_event *enter = &r->d->events[m->enter];
    const struct dependency_event *leave =
        m->leave == DEPENDENCY_NONE ? NULL : &r->d->events[m->leave];
    const struct dependency_collective *c = &r->d->collectives[enter->collective];
    graph_rows_count(r, "collective", enter->collective);
    graph_rows_text(r, "call", call_name(c->call));
    graph_rows_count(r, "comm", c->comm);
    graph_rows_count(r, "rank", enter->rank);
    graph_rows_count(r, "awaited", m->enter == c->awaited);
    graph_rows_count(r, "from_node", enter->node);
    graph_rows_known(r, "to_node", leave != NULL, leave == NULL ? 0 : (int64_t)leave->node);
    graph_rows_count(r, "step", enter->step);
    graph_rows_number(r, "entered_ns", enter->begin_ns);
    graph_rows_known(r, "left_ns", leave != NULL, leave == NULL ? 0 : leave->end_ns);
    graph_rows_count(r, "lateness_ns", enter->lateness_ns);
    graph_rows_count(r, "caused_ns", enter->caused_ns);
}

/* ---- tables ---------------------------------------------------------------- */

typedef void graph_rows_make(struct graph_rows *r, uint32_t at);

/* @return number of rows of a table */
static uint32_t graph_rows_find(const struct graph_rows *r, const char *table,
                                graph_rows_make **make)
{
    const struct dependency_graph *g = &r->d->ranks;
    const struct dependency_collective *last =
        r->d->collective_count == 0 ? NULL : &r->d->collectives[r->d->collective_count - 1];
    const struct {
        uint32_t rows;
        graph_rows_make *make;
    } tables[] = {{g->lane_count, graph_rows_make_rank},
                  {g->node_count, graph_rows_make_node},
                  {g->edge_count, graph_rows_make_edge},
                  {r->chain_count, graph_rows_make_event},
                  {last == NULL ? 0 : last->first + last->count, graph_rows_make_member}};
    size_t at = 0;
    while (export_graphs[at + 1] != NULL && strcmp(export_graphs[at], table) != 0)
        at++;
    *make = tables[at].make;
    return tables[at].rows;
}

static int graph_rows_put_graph(struct row_writer *writer, struct graph_rows *r, const char *table)
{
    graph_rows_make *make;
    int code = 0;
    r->chain = malloc((r->d->event_count + (size_t)1) * sizeof(*r->chain));
    if (r->chain == NULL)
        return -ENOMEM;
    r->chain_count =
        dependencies_chain(r->d, dependencies_latest(r->d), r->chain, r->d->event_count);
    uint32_t rows = graph_rows_find(r, table, &make);
    for (uint32_t i = 0; code == 0 && i < rows; i++) {
        r->columns = 0;
        graph_rows_count(r, "capture", r->captured->capture);
        make(r, i);
        code = row_writer_put(writer, r->cells, r->columns);
    }
    free(r->chain);
    return code;
}

/* The names of the columns of a table without rows: those of a graph of one message. */
static int graph_rows_put_names(struct row_writer *writer, const char *table)
{
    struct dependency_event events[2] = {{.match = 1}, {.receive = 1}};
    struct dependency_collective collective = {.count = 1};
    struct dependency_member member = {.leave = 1};
    struct dependency_lane lane = {.ranks = 1};
    struct dependency_node node = {.count = 2};
    struct dependency_edge edge = {.receive = 1};
    const struct dependencies d = {
        .events = events,
        .event_count = 2,
        .collectives = &collective,
        .members = &member,
        .collective_count = 1,
        .ranks = {&node, 1, &edge, 1, &lane, 1, 1},
    };
    const struct captured_calls captured = {.capture = 0};
    uint32_t chain = 0;
    struct graph_rows r = {.captured = &captured, .d = &d, .chain = &chain, .chain_count = 1};
    graph_rows_make *make;
    graph_rows_find(&r, table, &make);
    graph_rows_count(&r, "capture", 0);
    make(&r, 0);
    return row_writer_begin(writer, r.cells, r.columns);
}

int export_graph_put(struct row_writer *writer, const struct export_source *source,
                     const char *table)
{
    struct captured_list list;
    char why[600];
    int code = captured_list_read(&list, source->tables, source->path, CAPTURED_ALL,
                                  source->progress, why, sizeof(why));
    const struct recorded_span *span = source->span;
    const struct dependency_wishes wishes = {
        .from_ns = span == NULL ? 0 : (int64_t)span->from_ns,
        .to_ns = span == NULL ? 0 : (int64_t)span->to_ns - 1,
        .criteria = list.criteria.rows,
        .criteria_count = list.criteria.count,
    };
    for (size_t i = 0; code == 0 && i < list.count; i++) {
        struct dependencies d;
        struct graph_rows r = {.captured = &list.list[i], .d = &d};
        code = dependencies_make(&d, &list.list[i].calls, &wishes);
        code = code != 0 ? code : graph_rows_put_graph(writer, &r, table);
        dependencies_finish(&d);
    }
    if (code == 0 && writer->rows == 0)
        code = graph_rows_put_names(writer, table);
    captured_list_finish(&list);
    return code;
}
