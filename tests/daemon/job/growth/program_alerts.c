/* Watch a simulated program: see program_alerts.h. */
#include "tests/daemon/job/growth/program_alerts.h"

#include "daemon/alert/rules.h"
#include "daemon/job/growth/job_growth.h"
#include "holter/waiting.h"
#include "tests/daemon/analysis/attribution/summed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS UINT64_C(500000000) /* as the rules see it */

static void program_take_alert(void *user, const struct alert_report *report)
{
    struct program_alerts *alerts = user;
    const struct alert_evidence *v = report->evidence;
    struct program_alert *a = NULL;
    for (size_t i = PROGRAM_ALERTS; i-- > 0;) {
        if (alerts->list[i].episode == 0)
            a = &alerts->list[i];
    }
    for (size_t i = 0; i < PROGRAM_ALERTS; i++) {
        if (alerts->list[i].episode == v->episode)
            a = &alerts->list[i];
    }
    if (a == NULL || (report->state != ALERT_FIRING && a->episode == 0))
        return;
    alerts->fired += a->episode == 0;
    a->fires = report->state == ALERT_FIRING;
    if (!a->fires)
        return;
    if (a->episode == 0 || strcmp(a->culprits, v->culprits) != 0)
        a->found = (uint32_t)(report->now_ns / WINDOW_NS) - 2;
    a->onset = (uint32_t)(v->onset_ns / WINDOW_NS) - 1;
    a->episode = v->episode;
    snprintf(a->title, sizeof(a->title), "%s", report->title);
    snprintf(a->culprit, sizeof(a->culprit), "%s", v->culprit);
    snprintf(a->culprits, sizeof(a->culprits), "%s", v->culprits);
    snprintf(a->cause, sizeof(a->cause), "%s", v->cause_count > 0 ? v->causes[0].name : "");
}

/* Add up the ranks of each node, and put numbers of nodes into the rows of messages.
 * @param nodes  by number, zero-initialised */
static void program_number_nodes(const struct synthetic_job *job,
                                 const struct attribution_window *rows, struct node_row *nodes)
{
    for (size_t i = 0; i < rows->rank_count; i++) {
        const struct wire_rank_row *r = &rows->ranks[i];
        const uint32_t node = synthetic_node(job, (uint32_t)r->rank);
        struct node_row *n = &nodes[node];
        n->sum.rank = node;
        n->sum.ranks++;
#define X(name) n->sum.name += r->name;
        RANK_SUMS(X)
#undef X
        n->longest_mpi_ns = MPI_NS(r) > n->longest_mpi_ns ? MPI_NS(r) : n->longest_mpi_ns;
    }
    for (size_t i = 0; i < rows->transfers->count; i++) {
        struct transfer *t = &rows->transfers->rows[i];
        t->source = synthetic_node(job, t->source);
        t->destination = synthetic_node(job, t->destination);
    }
}

/* A window as the daemon closes it. @param nodes  of the job; 0: it is kept by ranks */
static void program_close_window(struct job_growth *growth, const struct synthetic_job *job,
                                 uint32_t nodes, struct attribution_window *rows)
{
    struct message_ranks messages = {.count = 0};
    struct latency_rows latency = {.transfers = *rows->transfers};
    struct sum_totals totals = {.ranks = rows->rank_count};
    struct node_row *node_rows = calloc((size_t)nodes + 1, sizeof(*node_rows));
    if (node_rows == NULL)
        abort();
    if (nodes > 0)
        program_number_nodes(job, rows, node_rows);
    sum_messages(&messages, rows);
    for (size_t i = 0; i < rows->rank_count; i++) {
#define X(name) totals.name += rows->ranks[i].name;
        RANK_SUMS(X)
#undef X
    }
    if (job_growth_update(
            growth, &(struct closed_window){.number = rows->number,
                                            .length_ns = rows->length_ns,
                                            .totals = &totals,
                                            .ranks = rows->ranks,
                                            .rank_count = rows->rank_count,
                                            .pairs = rows->pairs,
                                            .pair_count = rows->pair_count,
                                            .node_pairs = nodes > 0 ? rows->pairs : NULL,
                                            .node_pair_count = nodes > 0 ? rows->pair_count : 0,
                                            .node_rows = node_rows,
                                            .node_row_count = nodes,
                                            .latency = &latency,
                                            .scale = rows->scale,
                                            .rank_messages = &messages}) != 0)
        abort();
    message_ranks_finish(&messages);
    free(node_rows);
}

/* Waits in sends of a rank that are of earlier windows. */
static void program_add_late_waits(struct attribution_window *window, struct wire_rank_row *rows,
                                   uint32_t rank, uint64_t ns)
{
    memcpy(rows, window->ranks, window->rank_count * sizeof(*rows));
    for (size_t i = 0; i < window->rank_count; i++)
        rows[i].send_wait_ns += rows[i].rank == rank ? ns : 0;
    window->ranks = rows;
}

/* As where ranks synchronise windows for one-sided calls in place of reducing. */
static void program_make_one_sided(struct attribution_window *window, struct wire_rank_row *rows)
{
    memcpy(rows, window->ranks, window->rank_count * sizeof(*rows));
    for (size_t i = 0; i < window->rank_count; i++) {
        rows[i].one_sided_ns += rows[i].collective_ns;
        rows[i].collective_ns = 0;
    }
    window->ranks = rows;
}

/* As where another daemon takes over. */
static void program_restore(struct job_growth **growth, const struct job_growth_options *options)
{
    struct state_bytes written = {.reads = 0};
    job_growth_copy_state(&written, growth, options);
    job_growth_destroy(*growth);
    struct state_bytes read = {.reads = 1, .bytes = written.bytes, .length = written.length};
    *growth = NULL;
    job_growth_copy_state(&read, growth, options);
    if (written.code != 0 || read.code != 0 || read.at != read.length)
        abort();
    free(written.bytes);
}

/* How a program is watched. */
struct program_watching {
    bool by_node;
    uint64_t late_waits_ns; /* in each window since the onset, of the rank that is the reason */
    uint32_t restored;      /* before this window; 0: never */
    bool one_sided;         /* its collectives are one-sided calls */
};

static void program_watch_by(const struct synthetic_params *p,
                             const struct program_watching *watching, struct program_alerts *out)
{
    struct rules rules;
    struct job_growth *growth = NULL;
    struct job_latency *latency = NULL;
    struct synthetic_job *job = synthetic_create(p);
    struct wire_rank_row *rows = calloc(synthetic_ranks(p), sizeof(*rows));
    memset(out, 0, sizeof(*out));
    if (job == NULL || rows == NULL || rules_default(&rules) != 0 ||
        job_latency_create(&latency, WINDOW_NS) != 0)
        abort();
    const struct job_growth_options options = {.rules = &rules,
                                               .latency = latency,
                                               .window_ns = WINDOW_NS,
                                               .user = out,
                                               .on_report = program_take_alert};
    if (job_growth_create(&growth, &options) != 0)
        abort();
    job_latency_set_groups(latency, watching->by_node ? 1 : 0);
    for (uint32_t r = 0; r < synthetic_ranks(p); r++) {
        char host[16];
        snprintf(host, sizeof(host), "n%u", synthetic_node(job, r));
        if (job_latency_place(latency, r, synthetic_node(job, r)) != 0 ||
            job_growth_place(growth, r, synthetic_node(job, r), host) != 0)
            abort();
    }
    for (uint32_t w = 0; w < p->windows; w++) {
        struct attribution_window window;
        out->early = w == p->onset ? out->fired : out->early;
        synthetic_window(job, w, &window);
        if (w >= p->onset && watching->late_waits_ns > 0)
            program_add_late_waits(&window, rows, p->rank, watching->late_waits_ns);
        if (watching->one_sided)
            program_make_one_sided(&window, rows);
        if (w > 0 && w == watching->restored)
            program_restore(&growth, &options);
        program_close_window(growth, job, watching->by_node ? p->nodes : 0, &window);
    }
    for (size_t i = 0; i < PROGRAM_ALERTS; i++)
        out->firing += out->list[i].fires;
    job_growth_destroy(growth);
    job_latency_destroy(latency);
    rules_finish(&rules);
    synthetic_destroy(job);
    free(rows);
}

void program_watch(const struct synthetic_params *p, struct program_alerts *out)
{
    program_watch_by(p, &(struct program_watching){.by_node = false}, out);
}

void program_watch_groups(const struct synthetic_params *p, struct program_alerts *out)
{
    program_watch_by(p, &(struct program_watching){.by_node = true}, out);
}

void program_watch_late_waits(const struct synthetic_params *p, uint64_t ns,
                              struct program_alerts *out)
{
    program_watch_by(p, &(struct program_watching){.late_waits_ns = ns}, out);
}

void program_watch_restored(const struct synthetic_params *p, uint32_t window,
                            struct program_alerts *out)
{
    program_watch_by(p, &(struct program_watching){.restored = window}, out);
}

void program_watch_one_sided(const struct synthetic_params *p, struct program_alerts *out)
{
    program_watch_by(p, &(struct program_watching){.one_sided = true}, out);
}

bool program_names_culprit(const struct synthetic_params *p, const struct program_alert *a)
{
    char name[16];
    if (p->reason == SYNTHETIC_BACKGROUND)
        return strcmp(a->culprit, "inter-node") == 0;
    if (p->reason == SYNTHETIC_LINK && p->nodes == 2) /* no message shows whose link it is */
        return strcmp(a->culprit, "node-pair") == 0 && strcmp(a->culprits, "n0 and n1") == 0;
    snprintf(name, sizeof(name), p->reason == SYNTHETIC_RANK ? "%u" : "n%u",
             p->reason == SYNTHETIC_RANK ? p->rank : p->node);
    return strcmp(a->culprit, p->reason == SYNTHETIC_RANK ? "rank" : "node") == 0 &&
           strcmp(a->culprits, name) == 0;
}

bool program_names_cause(const struct synthetic_params *p, const struct program_alert *a)
{
    if (!program_names_culprit(p, a))
        return false;
    if (p->reason != SYNTHETIC_RANK)
        return strcmp(a->cause, p->reason == SYNTHETIC_LINK         ? "network"
                                : p->reason == SYNTHETIC_BACKGROUND ? "background"
                                                                    : "slow-node") == 0;
    return strncmp(a->cause, "late-", 5) == 0 || strcmp(a->cause, "collective") == 0;
}
