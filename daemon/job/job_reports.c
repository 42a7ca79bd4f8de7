/* Windows as agents report them: checked, and taken in. */
#include "daemon/job/job_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- checking ------------------------------------------------------------ */

/* Which rows of a message are those of its node's last one: they were right then. */
struct again {
    int pairs, calls;
};

static uint64_t world_of(const struct job *job)
{
    return job->world != 0 ? job->world : JOB_MOST_RANKS;
}

/* @return number of an agent's node, or KEY_NONE: it has told of none so far */
static uint32_t find_node(const struct job *job, uint64_t instance)
{
    uint32_t at = key_table_find(&job->instance_keys, (struct key){.hi = instance});
    return at == KEY_NONE ? KEY_NONE : job->instances[at].node;
}

/* @param node  number; KEY_NONE: none so far */
static struct again look_at_last(const struct job *job, uint32_t node, const struct wire_window *m)
{
    struct again again = {0, 0};
    if (node == KEY_NONE)
        return again;
    const struct report_rows *last = &job->nodes[node]->rows;
    again.pairs = report_rows_pairs(last, m, world_of(job));
    again.calls = report_rows_calls(last, m, world_of(job));
    return again;
}

static int check_pairs(const struct job *job, const struct wire_window *m, struct job_fault *fault)
{
    uint64_t world = world_of(job), comms = m->comms_count == 0 ? 1 : m->comms_count;
    uint64_t regions = m->regions_count == 0 ? 1 : m->regions_count;
    for (uint64_t i = 0; i < m->pairs_count; i++) {
        const struct wire_pair_row *p = &m->pairs[i];
        if (p->source >= world || p->destination < -1 || p->destination >= (int64_t)world ||
            p->comm >= comms || p->region >= regions || p->size_class > 1023)
            return job_refuse(fault, -HOLTER_ERANGE,
                              "window.pairs[%" PRIu64 "] names rank %" PRIu64 " or %" PRId64
                              ", communicator %" PRIu64 " or region %" PRIu64 " that is not there",
                              i, p->source, p->destination, p->comm, p->region);
    }
    return 0;
}

static int check_calls(const struct job *job, const struct wire_window *m, struct job_fault *fault)
{
    uint64_t world = world_of(job), comms = m->comms_count == 0 ? 1 : m->comms_count;
    uint64_t regions = m->regions_count == 0 ? 1 : m->regions_count;
    for (uint64_t i = 0; i < m->calls_count; i++) {
        const struct wire_call_row *c = &m->calls[i];
        if (c->rank >= world || c->comm >= comms || c->region >= regions || c->call > UINT16_MAX)
            return job_refuse(fault, -HOLTER_ERANGE,
                              "window.calls[%" PRIu64 "] names rank %" PRIu64
                              ", communicator %" PRIu64 " or region %" PRIu64 " that is not there",
                              i, c->rank, c->comm, c->region);
    }
    return 0;
}

static int check_window(const struct job *job, const struct wire_window *m,
                        const struct again *again, struct job_fault *fault)
{
    uint64_t world = world_of(job), end;
    if (m->length_ns == 0 || __builtin_mul_overflow(m->window + 1, m->length_ns, &end) ||
        m->window + 1 == 0 || end > INT64_MAX)
        return job_refuse(fault, -HOLTER_ERANGE,
                          "window %" PRIu64 " of %" PRIu64 " ns ends outside of time", m->window,
                          m->length_ns);
    for (uint64_t i = 0; i < m->ranks_count; i++) {
        if (m->ranks[i].rank >= world)
            return job_refuse(fault, -HOLTER_ERANGE,
                              "window.ranks[%" PRIu64 "].rank is %" PRIu64 " of %" PRIu64, i,
                              m->ranks[i].rank, world);
    }
    int code = again->pairs ? 0 : check_pairs(job, m, fault);
    if (code == 0 && !again->calls)
        code = check_calls(job, m, fault);
    if (code != 0)
        return code;
    if (latency_rows_check(m, world, fault->text, sizeof(fault->text)) != 0 ||
        burst_rows_check(m, world, fault->text, sizeof(fault->text)) != 0)
        return -HOLTER_ERANGE;
    if (job->node_count >= JOB_MOST_NODES)
        return job_refuse(fault, -HOLTER_ELIMIT, "the job has %u nodes already", job->node_count);
    return 0;
}

/* ---- taking in ------------------------------------------------------------ */

/* Numbers that the run gave to the communicators and regions that a message names by position; of
 * each at least one. */
static int map_names(struct job *job, const struct wire_window *m, size_t comms, size_t regions)
{
    if (array_fit(&job->maps, sizeof(*job->maps), &job->maps_room, comms + regions) != 0)
        return -ENOMEM;
    uint32_t *comm = job->maps, *region = job->maps + comms;
    *comm = *region = 0;
    for (size_t i = 0; i < m->comms_count; i++) {
        const struct wire_comm_row *c = &m->comms[i];
        struct comm_row row = {
            .id = c->id, .parent = c->parent, .size = c->size, .remote_size = c->remote_size};
        if (c->name != NULL)
            memcpy(row.name, c->name, strnlen(c->name, sizeof(row.name) - 1));
        int64_t number = run_sum_comm(job->run, &row);
        if (number < 0)
            return -ENOMEM;
        comm[i] = (uint32_t)number;
    }
    for (size_t i = 0; i < m->regions_count; i++) {
        const char *name = i == 0 || m->regions[i].name == NULL ? "" : m->regions[i].name;
        int64_t number = run_sum_region(job->run, name);
        if (number < 0)
            return -ENOMEM;
        region[i] = (uint32_t)number;
    }
    return 0;
}

static void make_rank(struct rank_row *restrict row, const struct wire_rank_row *restrict r)
{
    row->rank = (uint32_t)r->rank;
    row->in_call = (uint32_t)r->in_call;
    row->process_state = (uint32_t)r->process_state;
    row->seldom = 0;
    row->unused = 0;
#define X(name) row->name = r->name;
    X(in_call_ns) X(in_call_comm) X(in_call_peer) X(threads) RANK_SUMS(X)
#undef X
}

static int make_ranks(struct job *job, const struct wire_window *m, struct window_rows *rows)
{
    if (array_fit(&job->rank_rows, sizeof(*job->rank_rows), &job->rank_rows_room, m->ranks_count) !=
        0)
        return -ENOMEM;
    for (size_t i = 0; i < m->ranks_count; i++)
        make_rank(&job->rank_rows[i], &m->ranks[i]);
    rows->ranks = job->rank_rows;
    rows->rank_count = m->ranks_count;
    return 0;
}

static int make_pairs(struct job *job, const struct wire_window *m, const uint32_t *comm,
                      const uint32_t *region, struct window_rows *rows)
{
    if (array_fit(&job->pair_rows, sizeof(*job->pair_rows), &job->pair_rows_room, m->pairs_count) !=
        0)
        return -ENOMEM;
    for (size_t i = 0; i < m->pairs_count; i++) {
        const struct wire_pair_row *p = &m->pairs[i];
        job->pair_rows[i] = (struct pair_row){
            (uint32_t)p->source,
            (int32_t)p->destination,
            comm[p->comm],
            (uint16_t)region[p->region],
            (uint16_t)p->size_class,
            p->messages,
            p->bytes,
        };
    }
    rows->pairs = job->pair_rows;
    rows->pair_count = m->pairs_count;
    return 0;
}

static int make_calls(struct job *job, const struct wire_window *m, const uint32_t *comm,
                      const uint32_t *region, struct window_rows *rows)
{
    if (array_fit(&job->call_rows, sizeof(*job->call_rows), &job->call_rows_room, m->calls_count) !=
        0)
        return -ENOMEM;
    for (size_t i = 0; i < m->calls_count; i++) {
        const struct wire_call_row *c = &m->calls[i];
        job->call_rows[i] = (struct call_row){
            (uint32_t)c->rank, (uint32_t)c->call, comm[c->comm], region[c->region], c->calls,
            c->bytes,          c->bytes_in,       c->time_ns,    c->longest_ns,
        };
    }
    rows->calls = job->call_rows;
    rows->call_count = m->calls_count;
    return 0;
}

_Static_assert(offsetof(struct wire_pair_row, bytes) ==
                       offsetof(struct wire_pair_row, messages) + sizeof(uint64_t) &&
                   offsetof(struct wire_call_row, longest_ns) ==
                       offsetof(struct wire_call_row, calls) + 4 * sizeof(uint64_t),
               "figures of a row follow each other");

/* @param again  cleared where names have other numbers than in the node's last message */
static int make_rows(struct job *job, const struct job_node *node, const struct wire_window *m,
                     struct again *again, struct window_rows *rows)
{
    size_t comms = m->comms_count == 0 ? 1 : m->comms_count;
    size_t regions = m->regions_count == 0 ? 1 : m->regions_count;
    *rows = (struct window_rows){0};
    if (map_names(job, m, comms, regions) != 0 || make_ranks(job, m, rows) != 0)
        return -ENOMEM;
    if ((again->pairs || again->calls) &&
        !report_rows_named(&node->rows, job->maps, comms + regions))
        *again = (struct again){0, 0};
    const uint32_t *comm = job->maps, *region = job->maps + comms;
    if (again->pairs && m->pairs_count > 0)
        rows->pairs_again =
            (struct figures_again){&m->pairs[0].messages, sizeof(m->pairs[0]) / sizeof(uint64_t)};
    if (again->calls && m->calls_count > 0)
        rows->calls_again =
            (struct figures_again){&m->calls[0].calls, sizeof(m->calls[0]) / sizeof(uint64_t)};
    int code = again->pairs ? 0 : make_pairs(job, m, comm, region, rows);
    return code != 0 || again->calls ? code : make_calls(job, m, comm, region, rows);
}

static void keep_rows(const struct job *job, struct job_node *node, const struct wire_window *m,
                      const struct again *again)
{
    size_t comms = m->comms_count == 0 ? 1 : m->comms_count;
    size_t regions = m->regions_count == 0 ? 1 : m->regions_count;
    if (!again->pairs || !again->calls)
        report_rows_keep(&node->rows, m, world_of(job), job->maps, comms + regions);
}

/* Is the job met in its midst, as in a cut? Then messages are missing before the first window of an
 * agent that it did not drop, and what it lost before, of which it tells sums since its start, is
 * not of what is seen here. */
static int is_midst(const struct job_instance *agent, const struct wire_window *m)
{
    uint64_t before = agent->others + m->node[0].windows_dropped;
    return !agent->reported && m->seq > before && m->seq - 1 > before;
}

static void begin_node_row(struct job_node *node, const struct wire_window *m)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < m->ranks_count; i++)
        lost += m->ranks[i].lost;
    uint64_t told = m->node[0].lost, before = told > lost ? told - lost : 0;
    uint64_t dropped = m->node[0].windows_dropped;
    node->row.lost = before > node->row.lost ? before : node->row.lost;
    node->row.windows_dropped =
        dropped > node->row.windows_dropped ? dropped : node->row.windows_dropped;
}

static void note_node_row(struct job *job, struct job_node *node, const struct job_instance *agent,
                          const struct wire_window *m)
{
    if (m->node_count == 0)
        return;
    const struct wire_node_row *row = &m->node[0];
    if (is_midst(agent, m))
        begin_node_row(node, m);
    /* Counts begin anew with an agent that was started again: only what rises is a loss. */
    job->lost += row->lost > node->row.lost ? row->lost - node->row.lost : 0;
    job->windows_dropped += row->windows_dropped > node->row.windows_dropped
                                ? row->windows_dropped - node->row.windows_dropped
                                : 0;
    node->row = *row;
    node->row.host = node->host;
}

static void note_window(struct job *job, struct job_node *node, const struct wire_window *m,
                        uint64_t number)
{
    uint64_t start = number * job->options.window_ns;
    if (start < job->start_ns) {
        job->start_ns = start;
        job->job_changed = 1;
    }
    if (start + job->options.window_ns > job->end_ns)
        job->end_ns = start + job->options.window_ns;
    if (node->first_window > number)
        node->first_window = number;
    if (node->last_window < number)
        node->last_window = number;
    if ((m->flags & WINDOW_FINAL) != 0 && !node->final) {
        node->final = 1;
        job->active -= !node->lost_contact;
    } else if ((m->flags & WINDOW_FINAL) == 0 && node->final && number == node->last_window) {
        node->final = 0;
        job->active += !node->lost_contact;
    }
    if (job->state == JOB_LOST) {
        job->state = JOB_RUNNING;
        job->job_changed = 1;
    }
}

int job_window(struct job *job, uint64_t instance, const struct wire_window *message,
               uint64_t now_ns, struct job_fault *fault)
{
    const uint32_t known = find_node(job, instance);
    struct again again = look_at_last(job, known, message);
    int code = check_window(job, message, &again, fault);
    if (code != 0)
        return code;
    uint32_t place = KEY_NONE; /* of a rank that says which node it is */
    if (known == KEY_NONE && message->ranks_count > 0)
        place = key_table_find(&job->place_keys, (struct key){.hi = message->ranks[0].rank});
    struct job_node *node = job_node_of(job, instance, message->host, place);
    struct window_rows rows;
    /* Agents keep windows through a restart of the daemon, which may have another window length
     * since. */
    uint64_t number = message->length_ns == job->options.window_ns
                          ? message->window
                          : message->window * message->length_ns / job->options.window_ns;
    struct open_window *window = node == NULL ? NULL : job_window_for(job, number, now_ns);
    if (window == NULL || make_rows(job, node, message, &again, &rows) != 0)
        return job_refuse(fault, -ENOMEM, "no memory for a window");
    code = job_phases_prepare(job->phases, &window->bursts, message, job->node_count, job->world);
    if (code != 0)
        return job_refuse(fault, code == -EOVERFLOW ? -HOLTER_ELIMIT : code,
                          "window of %" PRIu64 " bursts: %s", message->bursts_count,
                          holter_strerror(code));
    if (counter_rows_prepare(&window->counters, message) != 0)
        return job_refuse(fault, -ENOMEM, "no memory for the counters of a window");
    struct job_instance *agent = job_instance_of(job, instance);
    code = job_latency_take(job->latency, &window->latency, message, agent->node, number,
                            fault->text, sizeof(fault->text));
    if (code != 0)
        return code;
    code = open_window_watch(window, message, again.calls ? &node->rows : NULL);
    code = code != 0 ? code : open_window_report(window, agent->node);
    code = code != 0 ? code : window_sum_update(window->sum, &rows, &node->rows.numbers);
    if (code != 0)
        return job_refuse(fault, code == -ERANGE ? -HOLTER_ELIMIT : code,
                          "window of %" PRIu64 " pairs: %s", message->pairs_count,
                          holter_strerror(code));
    keep_rows(job, node, message, &again);
    job_phases_take(job->phases, &window->bursts, message);
    counter_rows_take(&window->counters, message, agent->node);
    window->flags |= message->flags;
    job->late += (uint64_t)window->late;
    job_node_heard(job, node, now_ns);
    note_window(job, node, message, number);
    note_node_row(job, node, agent, message);
    agent->reported = 1;
    job_note_deaths(job, message, agent->node, now_ns);
    agent->last_seq = message->seq > agent->last_seq ? message->seq : agent->last_seq;
    return 0;
}
