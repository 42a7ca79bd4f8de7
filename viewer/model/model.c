/* The facts about a job: dispatches published messages to the parts that keep them. */
#include "viewer/model/model.h"

#include "daemon/analysis/tables/array.h"
#include "viewer/model/model_tables.h"

#include "holter/call.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "holter/waiting.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int model_create(struct model **out, size_t budget)
{
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    history_init(&m->rank_history, RANK_COLUMNS, 0, budget * 5 / 16);
    latency_init(&m->latency, budget / 16);
    m->group = 1;
    model_lateness_init(&m->lateness);
    commgram_init(&m->commgram);
    m->pairs.columns = PAIR_COLUMNS;
    history_init(&m->pairs.history, PAIR_COLUMNS, 0, budget * 3 / 8);
    m->node_pairs.columns = PAIR_COLUMNS; /* where the history of ranks is of some groups only */
    history_init(&m->node_pairs.history, PAIR_COLUMNS, 0, budget / 4);
    m->calls.columns = CALLS_COLUMNS;
    history_init(&m->calls.history, CALLS_COLUMNS, 1u << CALLS_LONGEST_NS | 1u << CALLS_RANKS,
                 budget / 16);
    m->callers.columns = CALLER_COLUMNS;
    history_init(&m->callers.history, CALLER_COLUMNS, 0, budget / 8);
    m->waits.columns = 1;
    history_init(&m->waits.history, 1, 0, budget / 16);
    measured_init(&m->measured);
    *out = m;
    return 0;
}

static void table_clear(struct model_table *t)
{
    key_table_finish(&t->keys);
    array_release(&t->sums);
    t->capacity = 0;
    history_clear(&t->history);
}

/* All but the figures of ranks, pairs and calls, and by what groups of ranks they are. */
static void forget_facts(struct model *m)
{
    m->state[0] = m->app[0] = m->command[0] = m->mpi[0] = m->user[0] = m->recording[0] = 0;
    m->world = m->seen = m->start_ns = m->end_ns = m->window_ns = m->folded = 0;
    m->span = m->matched = m->unmatched = m->untracked = m->callers_left_out = 0;
    m->uncovered_used = 0;
    series_finish(&m->series);
    free(m->hosts);
    free(m->nodes);
    name_table_finish(&m->host_names);
    name_table_finish(&m->node_names);
    alerts_finish(&m->alerts);
    captures_finish(&m->captures);
    latency_clear(&m->latency);
    model_lateness_clear(&m->lateness);
    commgram_clear(&m->commgram);
    network_clear(&m->network);
    measured_clear(&m->measured);
    contexts_finish(&m->contexts);
    m->hosts = NULL;
    m->nodes = NULL;
    m->host_capacity = m->node_capacity = 0;
    m->host_count = m->node_count = 0;
    m->version++;
    m->details_version++;
}

void model_forget_job(struct model *m)
{
    forget_facts(m);
    m->job[0] = 0;
    m->group = 1;
    array_release(&m->ranks);
    array_release(&m->rank_sums);
    history_clear(&m->rank_history);
    table_clear(&m->pairs);
    table_clear(&m->node_pairs);
    table_clear(&m->calls);
    table_clear(&m->callers);
    table_clear(&m->waits);
    array_release(&m->comms);
    array_release(&m->regions);
    m->rank_count = m->comm_count = m->region_count = 0;
    m->ranks_more = m->pairs_more = m->calls_more = m->callers_more = 0;
    m->rewind = (struct rewind_known){0};
}

void model_rewind(struct model *m, int missed)
{
    if (missed || !m->playback.known || rewind_close(m)) {
        model_forget_job(m);
        return;
    }
    forget_facts(m);
    tables_keep_details(m);
    rewind_state(m);
}

void model_destroy(struct model *m)
{
    if (!m)
        return;
    model_forget_job(m);
    tables_finish(m);
    playback_clear(&m->playback);
    free(m->jobs);
    free(m);
}

static void apply_job(struct model *m, const struct wire_job *j)
{
    const uint64_t group = j->group > 1 && j->group <= MODEL_RANKS ? j->group : 1;
    if (group != m->group && m->rank_count > 0) { /* its rows were of other groups */
        model_forget_job(m);
        text_copy(m->job, sizeof m->job, j->job);
    }
    m->group = group;
    text_copy(m->state, sizeof m->state, j->state);
    text_copy(m->app, sizeof m->app, j->app);
    text_copy(m->command, sizeof m->command, j->command);
    text_copy(m->mpi, sizeof m->mpi, j->mpi);
    text_copy(m->user, sizeof m->user, j->user);
    text_copy(m->recording, sizeof m->recording, j->recording);
    m->world = j->world;
    m->seen = j->seen;
    m->start_ns = j->start_ns;
    m->end_ns = j->end_ns;
    m->window_ns = j->window_ns;
    m->span = j->span;
    m->uncovered_used = 0;
    for (uint64_t i = 0; i < j->uncovered_count; i++)
        m->uncovered_used += j->uncovered[i].used != 0;
}

uint64_t model_host_find(const struct model *m, const char *name)
{
    for (uint32_t i = 0; i < m->host_count; i++)
        if (!strcmp(m->hosts[i].name, name))
            return i;
    return UINT64_MAX;
}

static uint32_t host_number(struct model *m, const char *name)
{
    uint32_t number = name_table_number(&m->host_names, name, UINT32_MAX);
    if (number < m->host_count)
        return number;
    if (number != m->host_count || ARRAY_FIT(m->hosts, m->host_capacity, m->host_count + 1) != 0)
        return UINT32_MAX;
    struct model_host *host = &m->hosts[m->host_count];
    *host = (struct model_host){0};
    text_copy(host->name, sizeof host->name, name);
    return m->host_count++;
}

static int apply_places(struct model *m, const struct wire_places *p)
{
    int error = 0;
    uint32_t *number = malloc((p->hosts_count + 1) * sizeof *number);
    if (!number)
        return -ENOMEM;
    for (uint64_t i = 0; i < p->hosts_count; i++)
        number[i] = host_number(m, p->hosts[i].name ? p->hosts[i].name : "?");
    for (uint64_t i = 0; i < p->places_count; i++) {
        const struct wire_place_row *row = &p->places[i];
        if (row->rank >= MODEL_RANKS || row->node >= p->hosts_count) {
            m->ignored++;
            continue;
        }
        if (tables_need_rank(m, (uint32_t)row->rank) < 0) {
            error = -ENOMEM;
            break;
        }
        struct model_rank *r = &m->ranks[row->rank];
        if (r->node < m->host_count)
            m->hosts[r->node].ranks--;
        r->node = number[row->node];
        r->core = row->core;
        r->socket = row->socket;
        r->numa = row->numa;
        if (r->node < m->host_count)
            m->hosts[r->node].ranks++;
    }
    free(number);
    return error;
}

static int apply_nodes(struct model *m, const struct wire_nodes *n)
{
    for (uint64_t i = 0; i < n->nodes_count; i++) {
        const struct wire_node_row *row = &n->nodes[i];
        const char *host = row->host ? row->host : "?";
        uint32_t k = name_table_number(&m->node_names, host, UINT32_MAX);
        if (k > m->node_count)
            return -ENOMEM;
        if (k == m->node_count) {
            if (ARRAY_FIT(m->nodes, m->node_capacity, (size_t)k + 1) != 0)
                return -ENOMEM;
            m->nodes[k] = (struct model_node){.now = *row};
            text_copy(m->nodes[k].name, sizeof m->nodes[k].name, host);
            m->node_count++;
        }
        struct model_node *node = &m->nodes[k];
        /* A restarted agent counts from zero: no rate across that. What is known before the first
         * window has no time. */
        int anew = !node->window || row->agent_pid != node->now.agent_pid ||
                   row->cpu_ns < node->now.cpu_ns;
        if (anew || n->window != node->window) {
            node->before = anew ? *row : node->now;
            node->window_before = anew ? n->window : node->window;
        }
        node->now = *row;
        node->window = n->window;
        node->now.host = node->before.host = NULL;
    }
    return 0;
}

static int apply_alert(struct model *m, const struct wire_alert *a)
{
    int error = alerts_apply(&m->alerts, a);
    if (error)
        return error;
    if (a->kind && !strcmp(a->kind, "rank-died") && a->rank >= 0 && a->rank < MODEL_RANKS) {
        if (tables_need_rank(m, (uint32_t)a->rank) < 0)
            return -ENOMEM;
        m->ranks[a->rank].dead = 1;
    }
    return 0;
}

static int apply_status(struct model *m, const struct wire_status *s)
{
    struct model_daemon *d = &m->daemon;
    int same = d->known && s->cpu_ns >= d->cpu_ns && s->now_ns > d->now_ns;
    d->cpu_before_ns = same ? d->cpu_ns : s->cpu_ns;
    d->before_ns = same ? d->now_ns : s->now_ns;
    d->cpu_ns = s->cpu_ns;
    d->now_ns = s->now_ns;
    d->rss_bytes = s->rss_bytes;
    d->recorded_bytes = s->recorded_bytes;
    d->clients = s->clients;
    d->agents = s->agents;
    d->rejected = s->rejected;
    d->late = s->late;
    d->window_ns = s->window_ns;
    d->known = 1;
    text_copy(d->version, sizeof d->version, s->version);
    text_copy(d->host, sizeof d->host, s->host);
    text_copy(d->recorder_error, sizeof d->recorder_error, s->recorder_error);
    text_copy(d->topology_fault, sizeof d->topology_fault, s->topology_fault);
    struct model_job_row *jobs = calloc(s->jobs_count + 1, sizeof *jobs);
    if (!jobs)
        return -ENOMEM;
    for (uint64_t i = 0; i < s->jobs_count; i++) {
        const struct wire_job_row *row = &s->jobs[i];
        text_copy(jobs[i].job, sizeof jobs[i].job, row->job);
        text_copy(jobs[i].app, sizeof jobs[i].app, row->app);
        text_copy(jobs[i].state, sizeof jobs[i].state, row->state);
        text_copy(jobs[i].daemon, sizeof jobs[i].daemon, row->daemon);
        jobs[i].ranks = row->ranks;
        jobs[i].nodes = row->nodes;
        jobs[i].start_ns = row->start_ns;
        jobs[i].end_ns = row->end_ns;
    }
    free(m->jobs);
    m->jobs = jobs;
    m->job_count = (uint32_t)s->jobs_count;
    m->jobs_known = 1;
    return 0;
}

static int apply_topology(struct model *m, const struct wire_topology *t)
{
    const uint64_t replaced = m->network.replaced;
    int error = network_apply_topology(&m->network, t);
    if (m->network.replaced != replaced)
        measured_clear(&m->measured);
    return error;
}

static int apply_links(struct model *m, const struct wire_links *w)
{
    int error = network_apply_links(&m->network, w), sums = measured_apply(&m->measured, w);
    return error ? error : sums;
}

static int apply_job_message(struct model *m, const struct wire_job *j, int snapshot)
{
    if (snapshot) { /* a state begins with this message; the state before may be incomplete */
        m->ranks_more = m->pairs_more = m->calls_more = m->callers_more = m->latency.regions_more =
            m->lateness.more = 0;
        alerts_finish(&m->alerts); /* all that there are follow */
        commgram_restart(&m->commgram);
        network_restart(&m->network);
        rewind_state(m);
    }
    apply_job(m, j);
    return 0;
}

static int apply_totals(struct model *m, const struct wire_totals *totals, int snapshot)
{
    if (snapshot)
        rewind_state_window(m, totals->window);
    m->matched = totals->matched;
    m->unmatched = totals->unmatched;
    return series_put(&m->series, totals);
}

/* Answers to requests come late at times, when another job is shown already: those are ignored. */
static int model_apply_answer(struct model *m, const struct wire_message *message)
{
    switch (message->type) {
    case WIRE_TYPE_COMMGRAM:
        return strcmp(message->commgram.job, m->job) != 0
                   ? 0
                   : commgram_apply_picture(&m->commgram, &message->commgram);
    case WIRE_TYPE_MAPPING:
        return strcmp(message->mapping.job, m->job) != 0
                   ? 0
                   : network_apply_mapping(&m->network, &message->mapping);
    case WIRE_TYPE_ROUTES:
        return strcmp(message->routes.job, m->job) != 0
                   ? 0
                   : network_apply_routes(&m->network, &message->routes);
    case WIRE_TYPE_CAPTURED: /* its calls arrive with the topic, too */
        if (strcmp(message->captured.job, m->job) == 0)
            m->captures.answer = message->captured.id;
        return 0;
    case WIRE_TYPE_STATUS:
        return apply_status(m, &message->status);
    default:
        return 0;
    }
}

/* Keep the facts of a topic. A type without a case is of no use here. */
static int model_apply_topic(struct model *m, const struct wire_message *message, int snapshot)
{
    switch (message->type) {
    case WIRE_TYPE_JOB:
        return apply_job_message(m, &message->job, snapshot);
    case WIRE_TYPE_PLACES:
        return apply_places(m, &message->places);
    case WIRE_TYPE_TOTALS:
        return apply_totals(m, &message->totals, snapshot);
    case WIRE_TYPE_RANK_WINDOW:
        return tables_apply_ranks(m, &message->rank_window, snapshot);
    case WIRE_TYPE_HISTORY:
        return snapshot ? tables_apply_history(m, &message->history) : 0;
    case WIRE_TYPE_PAIR_WINDOW:
        return tables_apply_pairs(m, &message->pair_window, snapshot);
    case WIRE_TYPE_CALL_WINDOW:
        return tables_apply_calls(m, &message->call_window, snapshot);
    case WIRE_TYPE_CALLER_WINDOW:
        return tables_apply_callers(m, &message->caller_window, snapshot);
    case WIRE_TYPE_NODES:
        return apply_nodes(m, &message->nodes);
    case WIRE_TYPE_ALERT:
        return apply_alert(m, &message->alert);
    case WIRE_TYPE_LATENCIES:
        m->details_version++;
        return latency_apply(&m->latency, &message->latencies, snapshot);
    case WIRE_TYPE_LATENESS:
        return model_lateness_apply(&m->lateness, &message->lateness, snapshot, MODEL_RANKS);
    case WIRE_TYPE_REGIONS:
        return latency_apply_regions(&m->latency, &message->regions);
    case WIRE_TYPE_PHASES:
        return commgram_apply_phases(&m->commgram, &message->phases, snapshot);
    case WIRE_TYPE_CURVE:
        return commgram_apply_curve(&m->commgram, &message->curve, snapshot);
    case WIRE_TYPE_TOPOLOGY:
        return apply_topology(m, &message->topology);
    case WIRE_TYPE_LINKS:
        return apply_links(m, &message->links);
    case WIRE_TYPE_CAPTURE:
        return captures_apply(&m->captures, &message->capture);
    case WIRE_TYPE_REPLAY:
        return playback_apply(&m->playback, &message->replay, snapshot) < 0 ? -ENOMEM : 0;
    default:
        return model_apply_answer(m, message);
    }
}

int model_apply(struct model *m, const struct wire_message *message, int snapshot)
{
    const char *job = message->type == WIRE_TYPE_REPLAY ? NULL : wire_job_of(message);
    if (job && strcmp(job, m->job) != 0) {
        if (m->job[0])
            model_forget_job(m);
        text_copy(m->job, sizeof m->job, job);
    }
    int error = model_apply_topic(m, message, snapshot);
    if (error == -HOLTER_ERANGE) {
        m->ignored++;
        error = 0;
    }
    m->out_of_memory += error != 0;
    m->version++;
    return error;
}

uint64_t model_row_of(const struct model *m, uint64_t rank)
{
    return rank == PAIR_OTHERS || m->group <= 1 ? rank : rank - rank % m->group;
}

uint32_t model_row_deaths(const struct model *m, uint32_t rank)
{
    const uint64_t first = model_row_of(m, rank);
    uint32_t deaths = 0;
    for (uint64_t r = first; r < m->rank_count && model_row_of(m, r) == first; r++)
        deaths += m->ranks[r].dead;
    return deaths;
}

const char *model_host_of(const struct model *m, uint32_t rank)
{
    if (rank >= m->rank_count || m->ranks[rank].node >= m->host_count)
        return "?";
    return m->hosts[m->ranks[rank].node].name;
}

struct model_pair model_pair_at(const struct model_table *pairs, uint32_t number)
{
    const struct key *key = &pairs->keys.keys[number];
    return (struct model_pair){(uint32_t)key->hi, (uint32_t)key->lo};
}

uint32_t model_pair_find(const struct model *m, uint32_t source, uint32_t destination)
{
    return key_table_find(&m->pairs.keys, (struct key){source, destination});
}

struct model_call model_call_at(const struct model *m, uint32_t number)
{
    const struct key *key = &m->calls.keys.keys[number];
    return (struct model_call){(uint16_t)key->hi, (uint32_t)(key->lo >> 32), (uint32_t)key->lo};
}

uint64_t model_waiting_ns(const uint64_t *figures)
{
    const struct {
        uint64_t send_ns, recv_ns, wait_ns, poll_ns, collective_ns, one_sided_ns, send_wait_ns;
    } rank = {figures[CALL_SEND],        figures[CALL_RECV],       figures[CALL_WAIT],
              figures[CALL_POLL],        figures[CALL_COLLECTIVE], figures[CALL_ONE_SIDED],
              figures[RANK_SEND_WAIT_NS]};
    return WAITING_NS(&rank);
}

double model_time_of_ranks(const struct window_totals *window)
{
    return ranks_time_ns(window->ranks, window->length_ns, window->absent_ns);
}

uint64_t model_mpi_ns(const uint64_t *class_ns)
{
    uint64_t sum = 0;
    for (int c = 0; c < MODEL_CLASSES; c++)
        sum += class_ns[c];
    return sum;
}

int model_ended(const struct model *m)
{
    return m->job[0] && m->state[0] && strcmp(m->state, "running") != 0;
}

uint64_t model_recorded_bytes(const struct model *m)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < m->job_count; i++)
        running += !strcmp(m->jobs[i].state, "running");
    return running == 1 && !model_ended(m) ? m->daemon.recorded_bytes : 0;
}

int model_can_read_back(const struct model *m)
{
    return m->job[0] && !model_ended(m) && !m->playback.known;
}

int model_node_rates(const struct model *m, const struct model_node *n, double *cpu_share,
                     double *uplink)
{
    if (n->window <= n->window_before || !m->window_ns)
        return 0;
    double ns = (double)((n->window - n->window_before) * m->window_ns);
    *cpu_share = (double)(n->now.cpu_ns - n->before.cpu_ns) / ns;
    *uplink = (double)(n->now.uplink_bytes - n->before.uplink_bytes) / (ns / 1e9);
    return 1;
}

int model_is_one_window(const struct model *m)
{
    return model_ended(m) && m->series.count == 1 && m->series.dropped == 0;
}

int model_has_times(const struct model *m)
{
    uint64_t messages = 0;
    for (uint64_t i = 0; i < m->series.count; i++) {
        const struct window_totals *w = series_at(&m->series, m->series.first + i);
        if (w && model_mpi_ns(w->class_ns))
            return 1;
        messages += w ? w->sent : 0;
    }
    return messages == 0;
}

int model_is_timeless(const struct model *m)
{
    return model_is_one_window(m) && !model_has_times(m);
}

int model_has_agents(const struct model *m)
{
    for (uint32_t i = 0; i < m->node_count; i++)
        if (m->nodes[i].now.rss_bytes)
            return 1;
    return 0;
}

uint64_t model_now_ns(const struct model *m)
{
    const struct window_totals *newest = series_newest(&m->series);
    return newest ? (m->series.first + m->series.count) * newest->length_ns : 0;
}
