/* Reads the figures of one recording for a comparison. */
#include "agent/cli/compare/compare.h"

#include "agent/terminal/terminal.h"
#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/network/measures.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "holter/waiting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables -------------------------------------------------------------- */

/* A callback for each row of a query. @return 0 or negative */
typedef int compare_row(struct compare_run *run, sqlite3_stmt *row);

/* @return 0, also if there is no such table, or negative */
static int compare_run_query(struct compare_run *run, struct recording_file *file,
                             const char *table, const char *sql, compare_row *take)
{
    sqlite3_stmt *statement = NULL;
    if (!recording_file_has(file, table))
        return 0;
    int code = recording_file_prepare(file, &statement, sql);
    while (code == 0 && (code = recording_file_step(file, statement)) == 1)
        code = take(run, statement);
    sqlite3_finalize(statement);
    return code;
}

static int compare_run_take_job(struct compare_run *run, sqlite3_stmt *row)
{
    text_copy(run->app, sizeof(run->app), recording_file_text(row, 0));
    run->world = (uint64_t)sqlite3_column_int64(row, 1);
    run->rank_group = (uint64_t)sqlite3_column_int64(row, 2);
    return 0;
}

/* Classes of time in the order of the query below. */
struct compare_times {
    uint64_t send_ns, recv_ns, wait_ns, poll_ns, collective_ns, one_sided_ns, io_ns, other_ns,
        send_wait_ns;
};

/* The run begins and ends within its first and last window: ranks are absent for the rest. */
static int compare_run_take_window(struct compare_run *run, sqlite3_stmt *row)
{
    uint64_t ns[9];
    struct compare_totals *t = &run->totals;
    const double begin = sqlite3_column_double(row, 0), length = sqlite3_column_double(row, 1);
    const double absent = fmin(sqlite3_column_double(row, 16), length); /* mean of the ranks */
    const int is_first = run->progress_count == 0;
    for (int i = 0; i < 9; i++)
        ns[i] = (uint64_t)sqlite3_column_int64(row, 7 + i);
    const struct compare_times times = {ns[0], ns[1], ns[2], ns[3], ns[4],
                                        ns[5], ns[6], ns[7], ns[8]};
    if (is_first)
        run->begin_ns = begin + absent;
    t->rank_ns += sqlite3_column_double(row, 2);
    t->lost += sqlite3_column_double(row, 3);
    t->calls += sqlite3_column_double(row, 4);
    t->sent += sqlite3_column_double(row, 5);
    t->sent_bytes += sqlite3_column_double(row, 6);
    t->mpi_ns += (double)MPI_NS(&times);
    t->waiting_ns += (double)WAITING_NS(&times);
    if (ARRAY_FIT(run->progress, run->progress_capacity, run->progress_count + 1) != 0)
        return -ENOMEM;
    if (is_first || sqlite3_column_double(row, 2) > 0) /* else all ranks have ended */
        run->seconds = (begin + length - (is_first ? 0 : absent) - run->begin_ns) / 1e9;
    run->progress[run->progress_count++] = (struct compare_progress){run->seconds, t->sent};
    return 0;
}

static int compare_run_take_latency(struct compare_run *run, sqlite3_stmt *row)
{
    const unsigned char *scope = sqlite3_column_text(row, 0);
    if (scope == NULL)
        return 0;
    struct compare_latency *l = &run->latency[strcmp((const char *)scope, "inter-node") == 0];
    l->messages = sqlite3_column_double(row, 1);
    l->transfer_ns = sqlite3_column_double(row, 2);
    l->delayed = sqlite3_column_double(row, 3);
    l->relative = sqlite3_column_double(row, 4);
    return 0;
}

static int compare_run_take_phase(struct compare_run *run, sqlite3_stmt *row)
{
    if (ARRAY_FIT(run->phases, run->phase_capacity, run->phase_count + 1) != 0)
        return -ENOMEM;
    run->phases[run->phase_count++] = (struct run_phase){
        .begin_ns = sqlite3_column_double(row, 0) - run->begin_ns,
        .end_ns = sqlite3_column_double(row, 1) - run->begin_ns,
        .messages = (uint64_t)sqlite3_column_int64(row, 2),
        .bytes = (uint64_t)sqlite3_column_int64(row, 3),
        .pairs = (uint64_t)sqlite3_column_int64(row, 4),
        .ranks = (uint64_t)sqlite3_column_int64(row, 5),
        .communities = (uint64_t)sqlite3_column_int64(row, 6),
    };
    return 0;
}

static int compare_run_read_tables(struct compare_run *run, struct recording_file *file)
{
    static const struct {
        const char *table, *sql;
        compare_row *take;
    } queries[] = {
        {"job", "SELECT app, world, rank_group FROM job", compare_run_take_job},
        {"totals",
         "SELECT start_ns, length_ns, " RECORDING_RANK_NS
         ", lost, calls, sent, sent_bytes, send_ns,"
         " recv_ns, wait_ns, poll_ns, collective_ns, one_sided_ns, io_ns, other_ns, send_wait_ns,"
         " 1.0 * absent_ns / max(ranks, 1)"
         " FROM totals ORDER BY window",
         compare_run_take_window},
        {"latency",
         "SELECT scope, total(messages), total(transfer_ns), total(delayed),"
         " total(messages * reference) FROM latency WHERE scope IN ('intra-node', 'inter-node')"
         " GROUP BY scope",
         compare_run_take_latency},
        {"phase",
         "SELECT begin_ns, end_ns, messages + modelled, bytes + modelled_bytes, pairs, ranks,"
         " communities FROM phase ORDER BY begin_ns, id",
         compare_run_take_phase},
    };
    int code = 0;
    run->seconds = NAN;
    for (size_t i = 0; code == 0 && i < sizeof(queries) / sizeof(*queries); i++)
        code = compare_run_query(run, file, queries[i].table, queries[i].sql, queries[i].take);
    if (run->world == 0) /* the daemon ended before it wrote the row of the job */
        run->world = run->input.pairs.processes;
    if (run->progress_count == 1 && run->totals.mpi_ns == 0) { /* an import without times */
        run->seconds = NAN;
        run->totals.rank_ns = 0;
        run->progress_count = 0;
    } else if (run->progress_count == 0) /* the recording has no results */
        run->totals = (struct compare_totals){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return code;
}

/* ---- network ------------------------------------------------------------- */

/* Sum up the loads of links. Messages between vertices without a route load no link. */
static int compare_run_load_links(struct compare_run *run)
{
    const struct topology *t = run->input.network.topology;
    struct link_loads *loads = NULL;
    uint32_t *nodes = calloc((size_t)topology_vertices(t) + 1, sizeof(*nodes));
    run->loads = calloc((size_t)topology_links(t) + 1, sizeof(*run->loads));
    int code = nodes != NULL && run->loads != NULL ? measures_nodes(t, nodes) : -ENOMEM;
    code = code != 0 ? code : link_loads_create(&loads, t);
    for (size_t i = 0; code == 0 && i < run->input.pairs.edge_count; i++) {
        const struct remap_edge *e = &run->input.pairs.edges[i];
        const uint32_t from = run->input.seats[e->from], to = run->input.seats[e->to];
        if (from == TOPOLOGY_NONE || to == TOPOLOGY_NONE)
            continue;
        link_loads_add(loads,
                       &(struct load_change){from, to, (int64_t)e->bytes, (int64_t)e->messages});
        run->inter_node_bytes += nodes[from] != nodes[to] ? (double)e->bytes : 0;
    }
    for (uint32_t i = 0; code == 0 && i < topology_links(t); i++) {
        run->loads[i] = link_loads_values(loads)[i].bytes;
        run->hop_bytes += (double)run->loads[i];
        run->largest_load = fmax(run->largest_load, (double)run->loads[i]);
    }
    link_loads_destroy(loads);
    free(nodes);
    return code;
}

/* ---- all ----------------------------------------------------------------- */

int compare_run_read(struct compare_run *run)
{
    struct recording_cursor *cursor = NULL;
    char why[700] = "";
    int status = network_input_read(&run->input);
    if (status != 0)
        return status;
    if (run->input.pairs.source != PAIRS_RECORDING) {
        terminal_print("compare: %s is not a recording", run->input.path);
        return 1;
    }
    int code = recording_cursor_open(&cursor, run->input.path, why, sizeof(why));
    code = code != 0 ? code : recording_file_hold(recording_cursor_file(cursor));
    code = code != 0 ? code : compare_run_read_tables(run, recording_cursor_file(cursor));
    recording_cursor_close(cursor);
    code = code != 0 ? code : compare_run_load_links(run);
    if (code == 0)
        return 0;
    terminal_print("compare: %s", why[0] != '\0' ? why : holter_strerror(code));
    return 1;
}

double compare_run_reached(const struct compare_run *run, double messages)
{
    struct compare_progress before = {0, 0};
    for (size_t i = 0; i < run->progress_count; i++) {
        const struct compare_progress p = run->progress[i];
        if (p.sent >= messages && p.sent > before.sent)
            return before.at_s +
                   (p.at_s - before.at_s) * (messages - before.sent) / (p.sent - before.sent);
        before = p;
    }
    return NAN;
}

void compare_run_finish(struct compare_run *run)
{
    network_input_finish(&run->input);
    array_release(&run->phases);
    array_release(&run->progress);
    free(run->loads);
}
