/* What is known of a job, as messages for the outside. Long ones are made in parts of
 * WIRE_PART_ROWS rows. */
#include "daemon/job/job_state.h"

#include <stdlib.h>
#include <string.h>

static void tell(const struct job *job, const struct job_output *output, enum wire_type type,
                 const void *message)
{
    output->publish(output->user, job->id, type, message);
}

/* Rows from, from + 1, ... of a long list, which are told together. A list without rows is one
 * part. */
struct part {
    size_t rows; /* of the list */
    size_t from, count;
    uint64_t more; /* there are further parts */
    int begun;
};

/* The next part, at first the first. @return 0: all are told */
static int next_part(struct part *part)
{
    if (part->begun && !part->more)
        return 0;
    part->begun = 1;
    part->from += part->count;
    const size_t left = part->rows - part->from;
    part->count = left < WIRE_PART_ROWS ? left : WIRE_PART_ROWS;
    part->more = part->count < left;
    return 1;
}

void job_publish_job(struct job *job, const struct job_output *output)
{
    struct wire_uncovered_row *rows =
        malloc((job->uncovered_count == 0 ? 1 : job->uncovered_count) * sizeof(*rows));
    if (rows == NULL)
        return;
    for (size_t i = 0; i < job->uncovered_count; i++)
        rows[i] = (struct wire_uncovered_row){job->uncovered[i].name, job->uncovered[i].used};
    char fault[NETWORK_TEXT];
    job_network_fault(job->network, fault, sizeof(fault));
    struct wire_job message = {
        .job = job->id,
        .state = job_state_name(job->state),
        .app = job->app,
        .command = job->command,
        .mpi = job->mpi,
        .user = job->user,
        .world = job->world,
        .seen = job->place_keys.count,
        .start_ns = job_start_ns(job),
        .end_ns = job->state == JOB_RUNNING ? 0 : job->end_ns,
        .window_ns = job->options.window_ns,
        .recording = job->recording,
        .uncovered = rows,
        .uncovered_count = job->uncovered_count,
        .network_fault = fault,
        .launcher = job->launcher,
    };
    tell(job, output, WIRE_TYPE_JOB, &message);
    free(rows);
}

static int compare_places(const void *a, const void *b)
{
    uint64_t x = ((const struct wire_place_row *)a)->rank,
             y = ((const struct wire_place_row *)b)->rank;
    return x < y ? -1 : x > y;
}

void job_publish_places(struct job *job, const struct job_output *output)
{
    size_t count = job->place_keys.count;
    struct wire_host_row *hosts = malloc((job->node_count + 1) * sizeof(*hosts));
    struct wire_place_row *places = malloc((count + 1) * sizeof(*places));
    for (uint32_t i = 0; hosts != NULL && i < job->node_count; i++)
        hosts[i].name = job->nodes[i]->host;
    for (size_t i = 0; places != NULL && i < count; i++) {
        const struct job_place *p = &job->places[i];
        places[i] = (struct wire_place_row){p->rank, p->node, p->pid, p->placement};
    }
    if (hosts != NULL && places != NULL) {
        qsort(places, count, sizeof(*places), compare_places);
        for (struct part part = {.rows = count}; next_part(&part);) {
            struct wire_places message = {
                .job = job->id,
                .hosts = hosts,
                .hosts_count = job->node_count,
                .places = places + part.from,
                .places_count = part.count,
                .more = part.more,
            };
            tell(job, output, WIRE_TYPE_PLACES, &message);
        }
    }
    free(hosts);
    free(places);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct wire_node_row *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    return order != 0 ? order : x->agent_pid < y->agent_pid ? -1 : x->agent_pid > y->agent_pid;
}

void job_publish_nodes(struct job *job, const struct job_output *output, uint64_t window)
{
    struct wire_node_row *rows = malloc((job->node_count + 1) * sizeof(*rows));
    if (rows == NULL)
        return;
    for (uint32_t i = 0; i < job->node_count; i++) {
        rows[i] = job->nodes[i]->row;
        rows[i].connected = !job->nodes[i]->lost_contact && !job->nodes[i]->final;
    }
    qsort(rows, job->node_count, sizeof(*rows), compare_nodes);
    for (struct part part = {.rows = job->node_count}; next_part(&part);) {
        struct wire_nodes message = {
            .job = job->id,
            .window = window,
            .nodes = rows + part.from,
            .nodes_count = part.count,
            .more = part.more,
        };
        tell(job, output, WIRE_TYPE_NODES, &message);
    }
    free(rows);
}

/* ---- sums, in parts ------------------------------------------------------- */

/* Communicators and regions that the rows of a result name. */
struct names {
    struct wire_comm_row *comms;
    struct wire_region_row *regions;
};

static int names_of(const struct sum_result *r, struct names *out)
{
    out->comms = malloc((r->comm_count + 1) * sizeof(*out->comms));
    out->regions = malloc((r->region_count + 1) * sizeof(*out->regions));
    if (out->comms == NULL || out->regions == NULL)
        return 0;
    for (size_t i = 0; i < r->comm_count; i++) {
        const struct comm_row *c = &r->comms[i];
        out->comms[i] = (struct wire_comm_row){c->id, c->parent, c->size, c->remote_size, c->name};
    }
    for (size_t i = 0; i < r->region_count; i++)
        out->regions[i].name = r->regions[i].name;
    return 1;
}

static void names_finish(struct names *names)
{
    free(names->comms);
    free(names->regions);
}

/* What the parts of one sum have in common. */
struct telling {
    const struct job *job;
    const struct job_output *output;
    uint64_t window, windows;
    struct names names;
    void *rows; /* room for those of one part */
};

/* Tell these rows of job->result. */
typedef void tell_part(struct telling *telling, const struct part *part);

/* A sum without rows is told too, as one part. Without memory it is not told. */
static void tell_in_parts(struct telling *t, size_t rows, size_t row_bytes, tell_part *tell_rows)
{
    t->rows = malloc(((rows < WIRE_PART_ROWS ? rows : WIRE_PART_ROWS) + 1) * row_bytes);
    if (names_of(&t->job->result, &t->names) && t->rows != NULL)
        for (struct part part = {.rows = rows}; next_part(&part);)
            tell_rows(t, &part);
    names_finish(&t->names);
    free(t->rows);
}

static void tell_ranks(struct telling *t, const struct part *part)
{
    struct wire_rank_row *rows = t->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct rank_row *row = &t->job->result.ranks[part->from + i];
        rows[i] = (struct wire_rank_row){
#define X(name) .name = row->name,
            RANK_SUMS(X)
#undef X
                .rank = row->rank,
            .threads = row->threads,
            .in_call = row->in_call,
            .in_call_ns = row->in_call_ns,
            .in_call_comm = row->in_call_comm,
            .in_call_peer = row->in_call_peer,
            .process_state = row->process_state,
        };
    }
    struct wire_rank_window message = {
        .job = t->job->id,
        .window = t->window,
        .length_ns = t->job->options.window_ns,
        .ranks = rows,
        .ranks_count = part->count,
        .windows = t->windows,
        .more = part->more,
    };
    tell(t->job, t->output, WIRE_TYPE_RANK_WINDOW, &message);
}

static void tell_pairs(struct telling *t, const struct part *part)
{
    const struct sum_result *r = &t->job->result;
    struct wire_pair_row *rows = t->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct pair_row *p = &r->pairs[part->from + i];
        rows[i] = (struct wire_pair_row){p->source,     p->destination, p->comm, p->region,
                                         p->size_class, p->messages,    p->bytes};
    }
    struct wire_pair_window message = {
        .job = t->job->id,
        .window = t->window,
        .windows = t->windows,
        .comms = t->names.comms,
        .comms_count = r->comm_count,
        .regions = t->names.regions,
        .regions_count = r->region_count,
        .pairs = rows,
        .pairs_count = part->count,
        .folded = r->folded,
        .more = part->more,
    };
    tell(t->job, t->output, WIRE_TYPE_PAIR_WINDOW, &message);
}

static void tell_calls(struct telling *t, const struct part *part)
{
    const struct sum_result *r = &t->job->result;
    struct wire_call_row *rows = t->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct call_row *c = &r->calls[part->from + i];
        rows[i] = (struct wire_call_row){c->rank,  c->call,     c->comm,    c->region,    c->calls,
                                         c->bytes, c->bytes_in, c->time_ns, c->longest_ns};
    }
    struct wire_call_window message = {
        .job = t->job->id,
        .window = t->window,
        .windows = t->windows,
        .comms = t->names.comms,
        .comms_count = r->comm_count,
        .regions = t->names.regions,
        .regions_count = r->region_count,
        .calls = rows,
        .calls_count = part->count,
        .more = part->more,
    };
    tell(t->job, t->output, WIRE_TYPE_CALL_WINDOW, &message);
}

void job_publish_sum(const struct job *job, const struct job_output *output, enum sum_part part,
                     uint64_t window, uint64_t windows)
{
    const struct sum_result *r = &job->result;
    struct telling telling = {.job = job, .output = output, .window = window, .windows = windows};
    if (part == SUM_RANKS)
        tell_in_parts(&telling, r->rank_count, sizeof(struct wire_rank_row), tell_ranks);
    else if (part == SUM_PAIRS)
        tell_in_parts(&telling, r->pair_count, sizeof(struct wire_pair_row), tell_pairs);
    else
        tell_in_parts(&telling, r->call_count, sizeof(struct wire_call_row), tell_calls);
}

int job_wanted(const struct job *job, enum wire_type type)
{
    return !job->replaying && job->output.wanted(job->output.user, job->id, type);
}

/* ---- network ------------------------------------------------------------- */

struct network_reader {
    const struct job *job;
    const struct job_output *output;
};

static void tell_network(void *user, const struct wire_topology *message)
{
    const struct network_reader *reader = user;
    tell(reader->job, reader->output, WIRE_TYPE_TOPOLOGY, message);
}

void job_publish_topology(struct job *job, const struct job_output *output)
{
    struct network_reader reader = {job, output};
    job_network_tell(job->network, job->id, tell_network, &reader);
}

void job_tell_topology(struct job *job)
{
    if (job->replaying || !job_network_changed(job->network))
        return;
    if (job_wanted(job, WIRE_TYPE_TOPOLOGY))
        job_publish_topology(job, &job->output);
    job->job_changed = 1; /* it tells who has no place in it */
    job_network_told(job->network, 1);
}

/* Three lists, one behind the other. */
void job_publish_links(const struct job *job, const struct job_output *output, struct wire_links *m)
{
    const struct wire_link_row *links = m->links;
    const struct wire_link_route_row *routes = m->routes;
    const struct wire_interface_row *interfaces = m->interfaces;
    size_t counts[3] = {m->links_count, m->routes_count, m->interfaces_count}, done[3] = {0};
    m->job = job->id;
    do {
        size_t room = WIRE_PART_ROWS, part[3];
        for (int i = 0; i < 3; i++) {
            part[i] = counts[i] - done[i] < room ? counts[i] - done[i] : room;
            room -= part[i];
        }
        m->links = links + done[0];
        m->links_count = part[0];
        m->routes = routes + done[1];
        m->routes_count = part[1];
        m->interfaces = interfaces + done[2];
        m->interfaces_count = part[2];
        for (int i = 0; i < 3; i++)
            done[i] += part[i];
        m->more = done[0] < counts[0] || done[1] < counts[1] || done[2] < counts[2];
        tell(job, output, WIRE_TYPE_LINKS, m);
    } while (m->more);
}

/* ---- latency ------------------------------------------------------------- */

void job_publish_latencies(const struct job *job, const struct job_output *output,
                           struct wire_latencies *m)
{
    const struct wire_rank_latency_row *ranks = m->ranks;
    m->job = job->id;
    for (struct part part = {.rows = m->ranks_count}; next_part(&part);) {
        m->ranks = ranks + part.from;
        m->ranks_count = part.count;
        m->more = part.more;
        tell(job, output, WIRE_TYPE_LATENCIES, m);
        m->series_count = m->criteria_count = 0; /* what is said once goes with the first part */
    }
}

void job_publish_regions(struct job *job, const struct job_output *output)
{
    struct wire_regions m;
    if (job_latency_regions(job->latency, &m) != 0)
        return;
    const struct wire_region_member_row *members = m.members;
    m.job = job->id;
    for (struct part part = {.rows = m.members_count}; next_part(&part);) {
        m.members = members + part.from;
        m.members_count = part.count;
        m.more = part.more;
        tell(job, output, WIRE_TYPE_REGIONS, &m);
        m.regions_count = 0;
    }
}

/* ---- phases and curve ---------------------------------------------------- */

void job_publish_phases(const struct job *job, const struct job_output *output,
                        struct wire_phases *m)
{
    const struct wire_phase_row *rows = m->phases;
    m->job = job->id;
    for (struct part part = {.rows = m->phases_count}; next_part(&part);) {
        m->phases = rows + part.from;
        m->phases_count = part.count;
        m->more = part.more;
        tell(job, output, WIRE_TYPE_PHASES, m);
    }
}

void job_publish_curve(const struct job *job, const struct job_output *output, struct wire_curve *m)
{
    const struct wire_curve_point_row *rows = m->points;
    m->job = job->id;
    for (struct part part = {.rows = m->points_count}; next_part(&part);) {
        m->points = rows + part.from;
        m->points_count = part.count;
        m->more = part.more;
        tell(job, output, WIRE_TYPE_CURVE, m);
    }
}

/* ---- the state for who comes late ---------------------------------------- */

static void snapshot_totals(struct job *job, const struct job_output *output)
{
    uint64_t oldest = job->next_window > JOB_RECENT ? job->next_window - JOB_RECENT : 0;
    for (uint64_t window = oldest; window < job->next_window; window++) {
        struct wire_totals message = job->recent[window % JOB_RECENT];
        if (message.length_ns == 0 || message.window != window)
            continue;
        message.job = job->id;
        message.late = 0;
        tell(job, output, WIRE_TYPE_TOTALS, &message);
    }
}

static void snapshot_alerts(struct job *job, const struct job_output *output)
{
    for (size_t i = 0; i < job->alerts.count; i++) {
        struct wire_alert message;
        if (job_alert_message(job, job->alerts.list[i], &message))
            tell(job, output, WIRE_TYPE_ALERT, &message);
    }
}

static void snapshot_latency(struct job *job, const struct job_output *output)
{
    struct wire_latencies message;
    for (size_t n = 0; job_latency_kept(job->latency, n, &message) == 0; n++) {
        if (job_latency_kept(job->latency, n + 1, &(struct wire_latencies){0}) != 0 &&
            job_latency_message(job->latency, &message) != 0)
            return;
        job_publish_latencies(job, output, &message);
    }
}

/* Of jobs without phases nothing is told. */
static void snapshot_phases(struct job *job, enum wire_type type, const struct job_output *output)
{
    struct wire_phases phases;
    struct wire_curve curve;
    if (job_phases_all(job->phases, &phases, &curve) != 0)
        return;
    if (type == WIRE_TYPE_PHASES && phases.phases_count > 0)
        job_publish_phases(job, output, &phases);
    else if (type == WIRE_TYPE_CURVE && curve.points_count > 0)
        job_publish_curve(job, output, &curve);
}

static void snapshot_links(struct job *job, const struct job_output *output)
{
    struct wire_links message, older;
    if (!job_network_links(job->network, &message))
        return;
    job_measured_network(&job->measured, job_network_made(job->network));
    for (size_t i = 0; job_measured_message(&job->measured, i, &older); i++)
        if (older.window < message.window)
            job_publish_links(job, output, &older);
    if (job_network_links(job->network, &message))
        job_publish_links(job, output, &message);
}

static void snapshot_history(struct job *job, const struct job_output *output)
{
    struct wire_history message;
    for (size_t i = 0; rank_history_message(&job->ranks_before, i, &message); i++) {
        message.job = job->id;
        message.length_ns = job->options.window_ns;
        output->publish(output->user, job->id, WIRE_TYPE_HISTORY, &message);
    }
}

static int sum_part_of(enum wire_type type, enum sum_part *part)
{
    *part = type == WIRE_TYPE_RANK_WINDOW   ? SUM_RANKS
            : type == WIRE_TYPE_PAIR_WINDOW ? SUM_PAIRS
                                            : SUM_CALLS;
    return *part != SUM_CALLS || type == WIRE_TYPE_CALL_WINDOW;
}

void job_snapshot(struct job *job, enum wire_type type, const struct job_output *output)
{
    uint64_t newest = job->next_window == 0 ? 0 : job->next_window - 1,
             windows = job->windows_summed;
    enum sum_part part;
    if (type == WIRE_TYPE_JOB)
        job_publish_job(job, output);
    else if (type == WIRE_TYPE_PLACES)
        job_publish_places(job, output);
    else if (type == WIRE_TYPE_TOPOLOGY)
        job_publish_topology(job, output);
    else if (type == WIRE_TYPE_NODES)
        job_publish_nodes(job, output, newest);
    else if (type == WIRE_TYPE_TOTALS)
        snapshot_totals(job, output);
    else if (type == WIRE_TYPE_ALERT)
        snapshot_alerts(job, output);
    else if (type == WIRE_TYPE_LATENCIES)
        snapshot_latency(job, output);
    else if (type == WIRE_TYPE_REGIONS)
        job_publish_regions(job, output);
    else if (type == WIRE_TYPE_HISTORY)
        snapshot_history(job, output);
    else if (type == WIRE_TYPE_LINKS)
        snapshot_links(job, output);
    else if (type == WIRE_TYPE_RECORDED)
        job_publish_said(job, output);
    else if (type == WIRE_TYPE_CAPTURE)
        job_publish_captures(job, output);
    else if (type == WIRE_TYPE_PHASES || type == WIRE_TYPE_CURVE)
        snapshot_phases(job, type, output);
    else if (sum_part_of(type, &part) &&
             run_sum_result(job->run, part, job->options.most_pairs, &job->result) == 0)
        job_publish_sum(job, output, part, newest, windows);
}

/* ---- as the list of jobs has it ------------------------------------------ */

uint64_t job_start_ns(const struct job *job)
{
    return job->start_ns == UINT64_MAX ? 0 : job->start_ns;
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {"running", "ended", "died", "lost"};
    return names[state];
}

void job_row(const struct job *job, struct wire_job_row *out)
{
    *out = (struct wire_job_row){
        .job = job->id,
        .app = job->app,
        .ranks = job->world,
        .nodes = job->node_count,
        .start_ns = job_start_ns(job),
        .end_ns = job->state == JOB_RUNNING ? 0 : job->end_ns,
        .state = job_state_name(job->state),
    };
}
