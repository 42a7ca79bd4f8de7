/* The alerts of a job: ranks that died or are not watched, agents that fell silent, losses, a
 * recording that stopped. */
#include "daemon/job/job_alerts.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"
#include "daemon/job/job.h"
#include "holter/call.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_DEATHS_LISTED 8u            /* one by one in the text of an alert */
#define WINDOWS_WITHOUT_LOSS 10u            /* an episode of losses is over after so many without */
#define LATE_START_NS UINT64_C(10000000000) /* ranks that start within this time are watched */

void job_alerts_finish(struct job_alerts *alerts)
{
    alerts_finish(&alerts->list);
    free(alerts->deaths);
    free(alerts->dead_ranks);
}

static const struct rule *job_alerts_find_rule(const struct rules *rules, const char *kind)
{
    for (int k = 0; k < RULE_KINDS; k++) {
        if (strcmp(rule_kind_name((enum rule_kind)k), kind) == 0)
            return rules_next(rules, (enum rule_kind)k, NULL);
    }
    return NULL;
}

int job_alerts_message(const struct job_alerts *alerts, const char *job, const struct alert *alert,
                       struct wire_alert *out)
{
    *out = alert_message(alert, job);
    if (strcmp(alert->kind, "rank-died") == 0)
        out->nodes = alerts->death_nodes;
    if (strcmp(alert->kind, "ranks-unwatched") == 0)
        out->ranks = alerts->unwatched_ranks;
    if (alerts->rules == NULL || alert->evidence != NULL)
        return 1;
    const struct rule *rule = job_alerts_find_rule(alerts->rules, alert->kind);
    if (rule == NULL)
        return 0;
    out->rule = rule->name;
    out->severity = severity_name(rule->severity);
    return 1;
}

int job_alerts_have_rule(const struct job_alerts *alerts, const char *kind)
{
    return alerts->rules == NULL || job_alerts_find_rule(alerts->rules, kind) != NULL;
}

void job_alerts_publish(const struct job_alerts *alerts, const struct job_stream *stream,
                        const struct alert *alert)
{
    struct wire_alert message;
    if (alert != NULL && !stream->silent &&
        job_alerts_message(alerts, stream->job, alert, &message))
        job_stream_publish(stream, WIRE_TYPE_ALERT, &message);
}

void job_alerts_publish_unrecorded(const struct job_alerts *alerts, const struct job_stream *stream)
{
    for (size_t i = alerts->recorded; i < alerts->list.count; i++)
        job_alerts_publish(alerts, stream, alerts->list.list[i]);
}

/* ---- deaths -------------------------------------------------------------- */

/* @param first  it is the first one: the others ended after it, for whatever reason */
static void job_death_describe(const struct job_death *death, int first, char *out, size_t size)
{
    const struct wire_death_row *row = &death->row;
    const char *verb = first ? "died" : "ended";
    char peer[32] = "";
    if (row->peer >= 0)
        snprintf(peer, sizeof(peer), ", peer %" PRId64, row->peer);
    if (row->aborted)
        snprintf(out, size, "rank %" PRIu64 " on %s called MPI_Abort(%" PRId64 ")", row->rank,
                 death->host, row->abort_code);
    else if (row->call == 0)
        snprintf(out, size, "rank %" PRIu64 " on %s %s, no MPI call seen", row->rank, death->host,
                 verb);
    else
        snprintf(out, size, "rank %" PRIu64 " on %s %s %s %s%s", row->rank, death->host, verb,
                 row->in_call ? "in" : "after", call_name((uint16_t)row->call), peer);
}

static int job_death_precedes(const struct job_death *a, const struct job_death *b)
{
    /* MPI_Abort first: it is why the launcher killed the others. */
    if (a->row.aborted != b->row.aborted)
        return a->row.aborted > b->row.aborted;
    if (a->row.ended_ns != b->row.ended_ns)
        return a->row.ended_ns < b->row.ended_ns;
    return a->row.at_ns != b->row.at_ns ? a->row.at_ns < b->row.at_ns : a->row.rank < b->row.rank;
}

/* Without memory it is left out. */
static void job_alerts_add_death(struct job_alerts *alerts, const struct job_death *death)
{
    size_t count = alerts->death_count;
    for (size_t i = 0; i < count; i++) {
        if (alerts->deaths[i].row.rank == death->row.rank &&
            alerts->deaths[i].row.pid == death->row.pid)
            return;
    }
    if (ARRAY_RESIZE(alerts->deaths, count + 1) != 0 ||
        ARRAY_RESIZE(alerts->dead_ranks, count + 1) != 0)
        return;
    struct job_death *deaths = alerts->deaths;
    alerts->dead_ranks[count] = (uint32_t)death->row.rank;
    size_t at = alerts->death_count++;
    for (; at > 0 && job_death_precedes(death, &deaths[at - 1]); at--)
        deaths[at] = deaths[at - 1];
    deaths[at] = *death;
}

void job_alerts_add_deaths(struct job_alerts *alerts, const struct wire_window *window,
                           uint64_t number, const char *host)
{
    alerts->finalized |= (window->flags & WINDOW_FINALIZED) != 0;
    for (uint64_t i = 0; i < window->deaths_count; i++) {
        struct job_death death = {.row = window->deaths[i], .window = number};
        snprintf(death.host, sizeof(death.host), "%s", host);
        if (death.row.rank < JOB_MAXIMUM_RANKS && alerts->death_count < JOB_MAXIMUM_RANKS)
            job_alerts_add_death(alerts, &death);
    }
}

/* Whether it is to be announced when the window of that number is closed. */
static int job_death_is_certain(const struct job_alerts *alerts, const struct job_death *death,
                                uint64_t number)
{
    if (death->row.in_call && death->row.call == CALL_Finalize)
        return !alerts->finalized && death->window < number;
    return 1;
}

/* Is the host in the list, which is separated by commas? */
static int job_alerts_host_is_listed(const char *list, const char *host)
{
    const size_t length = strlen(host);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, host, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    }
    return 0;
}

void job_alerts_list_host(const char *host, char *list, size_t capacity)
{
    const size_t used = strlen(list);
    if (!job_alerts_host_is_listed(list, host) && used + strlen(host) + 1 < capacity)
        snprintf(list + used, capacity - used, "%s%s", used == 0 ? "" : ",", host);
}

void job_alerts_check_deaths(struct job_alerts *alerts, const struct job_stream *stream,
                             uint64_t number, uint64_t now_ns)
{
    char title[129], text[1025] = "", line[192], nodes[sizeof(alerts->death_nodes)] = "";
    size_t length = 0, count = 0;
    int64_t first = -1;
    for (size_t i = 0; i < alerts->death_count; i++) {
        const struct job_death *death = &alerts->deaths[i];
        if (!job_death_is_certain(alerts, death, number))
            continue;
        first = count == 0 ? (int64_t)death->row.rank : first;
        job_alerts_list_host(death->host, nodes, sizeof(nodes));
        if (count++ >= MAXIMUM_DEATHS_LISTED)
            continue;
        job_death_describe(death, count == 1, line, sizeof(line));
        if (count == 1)
            snprintf(title, sizeof(title), "%.128s", line);
        int n = snprintf(text + length, sizeof(text) - length, "%s%.120s",
                         count == 1 ? "" : "; after that ", line);
        length += n > 0 && length + (size_t)n < sizeof(text) ? (size_t)n : 0;
    }
    if (count <= alerts->announced_deaths)
        return;
    alerts->announced_deaths = count;
    memcpy(alerts->death_nodes, nodes, sizeof(nodes));
    if (!job_alerts_have_rule(alerts, "rank-died"))
        return;
    size_t end = strnlen(title, 90);
    if (count > 1)
        snprintf(title + end, sizeof(title) - end, "; %zu more ended after it", count - 1);
    job_alerts_publish(alerts, stream,
                       alerts_raise(&alerts->list, "rank-died", NULL, first, now_ns, title, text));
}

/* ---- losses -------------------------------------------------------------- */

void job_alerts_add_losses(struct job_alerts *alerts, struct job_losses losses)
{
    alerts->losses.records += losses.records;
    alerts->losses.windows += losses.windows;
}

static int job_alerts_are_losses_announced(const struct job_alerts *alerts)
{
    return alerts->losses.records == alerts->announced.records &&
           alerts->losses.windows == alerts->announced.windows;
}

void job_alerts_mark_losses(struct job_alerts *alerts)
{
    if (job_alerts_are_losses_announced(alerts))
        return;
    alerts->announced = alerts->losses;
    alerts->windows_without_loss = 0;
}

void job_alerts_end_losses(struct job_alerts *alerts, const struct job_stream *stream,
                           uint64_t now_ns)
{
    job_alerts_publish(alerts, stream, alerts_resolve(&alerts->list, "data-lost", NULL, now_ns));
}

static void job_losses_describe(const struct job_losses *losses, char *out, size_t size)
{
    char records[112] = "", windows[112] = "";
    if (losses->records > 0)
        snprintf(records, sizeof(records), "%s %s overwritten before %s read; ",
                 quantity_things(losses->records, "record").text,
                 losses->records == 1 ? "was" : "were",
                 losses->records == 1 ? "it was" : "they were");
    if (losses->windows > 0)
        snprintf(windows, sizeof(windows), "%s did not reach the daemon; ",
                 quantity_things(losses->windows, "window").text);
    snprintf(out, size, "%s%ssums lack them", records, windows);
}

void job_alerts_check_losses(struct job_alerts *alerts, const struct job_stream *stream,
                             uint64_t now_ns)
{
    const struct job_losses *losses = &alerts->losses;
    if (job_alerts_are_losses_announced(alerts)) {
        if (alerts->windows_without_loss < WINDOWS_WITHOUT_LOSS)
            return;
        /* Resolving searches the alerts, so it is tried only every few windows. */
        alerts->windows_without_loss = 0;
        job_alerts_end_losses(alerts, stream, now_ns);
        return;
    }
    job_alerts_mark_losses(alerts);
    if (!job_alerts_have_rule(alerts, "data-lost"))
        return;
    char text[257];
    job_losses_describe(losses, text, sizeof(text));
    job_alerts_publish(
        alerts, stream,
        alerts_raise(&alerts->list, "data-lost", NULL, -1, now_ns, "data was lost", text));
}

/* ---- silent agents ------------------------------------------------------- */

void job_alerts_check_silence(struct job_alerts *alerts, const struct job_stream *stream,
                              struct job_nodes *nodes, const struct job_silence *silence,
                              uint64_t now_ns)
{
    if (now_ns < alerts->silence_due_ns)
        return;
    alerts->silence_due_ns = now_ns + silence->window_ns / 4;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct job_node *node = nodes->list[i];
        if (node->final || node->lost_contact || silence->watermark_ns < node->last_message_ns ||
            silence->watermark_ns - node->last_message_ns <= silence->bound_ns)
            continue;
        job_nodes_mark_lost(nodes, node);
        if (!job_alerts_have_rule(alerts, "agent-lost"))
            continue;
        char title[129], text[257];
        snprintf(title, sizeof(title), "no word from the agent on %.80s", node->host);
        snprintf(text, sizeof(text), "its last window was %" PRIu64 ", heard %.1f s ago",
                 node->last_window, (double)(silence->watermark_ns - node->last_message_ns) * 1e-9);
        job_alerts_publish(
            alerts, stream,
            alerts_raise(&alerts->list, "agent-lost", node->host, -1, now_ns, title, text));
    }
}

void job_alerts_resolve_silence(struct job_alerts *alerts, const struct job_stream *stream,
                                const char *host, uint64_t now_ns)
{
    job_alerts_publish(alerts, stream, alerts_resolve(&alerts->list, "agent-lost", host, now_ns));
}

/* ---- ranks that are not watched ------------------------------------------ */

static void job_alerts_raise_unwatched(struct job_alerts *alerts, const struct job_stream *stream,
                                       const struct job_places *places, uint64_t world,
                                       uint64_t now_ns)
{
    struct rank_runs runs;
    char title[129];
    alerts->watched_named = places->keys.count;
    if (!job_alerts_have_rule(alerts, "ranks-unwatched"))
        return;
    rank_runs_begin(&runs, alerts->unwatched_ranks, sizeof(alerts->unwatched_ranks), "...");
    for (uint64_t rank = 0; rank < world; rank++) {
        if (key_table_find(&places->keys, (struct key){.hi = rank}) == KEY_NONE)
            rank_runs_add(&runs, rank, rank);
    }
    rank_runs_end(&runs);
    snprintf(title, sizeof(title), "%" PRIu64 " of %" PRIu64 " ranks not watched: %.70s",
             world - places->keys.count, world, alerts->unwatched_ranks);
    job_alerts_publish(
        alerts, stream,
        alerts_raise(&alerts->list, "ranks-unwatched", NULL, -1, now_ns, title,
                     "no agent has reported them, and what they do is in no figure: they were "
                     "started without the probe, or their node has no room in /dev/shm, which the "
                     "first of them says on its standard error"));
}

void job_alerts_check_unwatched(struct job_alerts *alerts, const struct job_stream *stream,
                                const struct job_places *places, uint64_t world, uint64_t now_ns,
                                int at_end)
{
    const uint64_t watched = places->keys.count;
    if (alerts->watched != watched) {
        alerts->watched = watched;
        alerts->watched_since_ns = now_ns;
    }
    if (watched >= world)
        job_alerts_publish(alerts, stream,
                           alerts_resolve(&alerts->list, "ranks-unwatched", NULL, now_ns));
    else if (alerts->watched_named != watched &&
             (at_end || now_ns >= alerts->watched_since_ns + LATE_START_NS))
        job_alerts_raise_unwatched(alerts, stream, places, world, now_ns);
}

/* ---- restored alerts ----------------------------------------------------- */

static void job_alerts_end_orphan(struct job_alerts *alerts, const struct job_stream *stream,
                                  const struct alert *alert, uint64_t now_ns)
{
    const struct alert before = *alert;
    char text[sizeof(before.text)];
    snprintf(text, sizeof(text), "over: the rules that are in force now do not raise it; %.900s",
             before.text);
    const struct alert_report report = {.kind = before.kind,
                                        .host = before.host,
                                        .rank = before.rank,
                                        .state = ALERT_RESOLVED,
                                        .since_ns = before.since_ns,
                                        .now_ns = now_ns,
                                        .title = before.title,
                                        .text = text,
                                        .evidence = before.evidence};
    job_alerts_publish(alerts, stream, alerts_report(&alerts->list, &report));
}

void job_alerts_end_orphans(struct job_alerts *alerts, const struct job_stream *stream,
                            uint64_t now_ns,
                            int (*is_raised)(const void *user, const struct alert *alert),
                            const void *user)
{
    for (size_t i = 0; i < alerts->list.count; i++) {
        const struct alert *alert = alerts->list.list[i];
        if (alert->evidence != NULL && alert->state != ALERT_RESOLVED && !is_raised(user, alert))
            job_alerts_end_orphan(alerts, stream, alert, now_ns);
    }
}

void job_alerts_copy_state(struct state_bytes *b, struct job_alerts *alerts)
{
    const struct rules *rules = alerts->rules;
    STATE_VALUE(b, *alerts);
    alerts->rules = rules;
    alerts_copy_state(b, &alerts->list);
    STATE_ARRAY(b, alerts->deaths, alerts->death_count, 0);
    STATE_ARRAY(b, alerts->dead_ranks, alerts->death_count, 0);
}
