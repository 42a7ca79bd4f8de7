/* What about a job deserves an alert: ranks that died, agents that fell silent, losses, a recording
 * that stopped. */
#include "daemon/job/job_state.h"
#include "holter/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEATHS_TOLD 8u      /* listed one by one in the text of an alert */
#define WINDOWS_WITHOUT_LOSS 10u /* an episode of losses is over after so many without */

static const struct rule *rule_of(const struct rules *rules, const char *kind)
{
    for (int k = 0; k < RULE_KINDS; k++) {
        if (strcmp(rule_kind_name((enum rule_kind)k), kind) == 0)
            return rules_next(rules, (enum rule_kind)k, NULL);
    }
    return NULL;
}

int job_alert_message(const struct job *job, const struct alert *alert, struct wire_alert *out)
{
    *out = alert_message(alert, job->id);
    if (job->options.rules == NULL || alert->evidence != NULL)
        return 1;
    const struct rule *rule = rule_of(job->options.rules, alert->kind);
    if (rule == NULL)
        return 0;
    out->rule = rule->name;
    out->severity = severity_name(rule->severity);
    return 1;
}

void job_alert(struct job *job, const struct alert *alert)
{
    if (alert == NULL || job->replaying)
        return;
    struct wire_alert message;
    if (job_alert_message(job, alert, &message))
        job->output.publish(job->output.user, job->id, WIRE_TYPE_ALERT, &message);
}

void job_tell(void *user, const struct alert_report *report)
{
    struct job *job = user;
    job_alert(job, alerts_tell(&job->alerts, report));
}

static void describe_death(const struct job *job, const struct job_death *d, char *out, size_t room)
{
    const char *host = job->nodes[d->node]->host;
    char peer[32] = "";
    if (d->row.peer >= 0)
        snprintf(peer, sizeof(peer), ", peer %" PRId64, d->row.peer);
    if (d->row.aborted)
        snprintf(out, room, "rank %" PRIu64 " on %s called MPI_Abort(%" PRId64 ")", d->row.rank,
                 host, d->row.abort_code);
    else if (d->row.call == 0)
        snprintf(out, room, "rank %" PRIu64 " on %s died, no MPI call seen", d->row.rank, host);
    else
        snprintf(out, room, "rank %" PRIu64 " on %s died %s %s%s", d->row.rank, host,
                 d->row.in_call ? "in" : "after", call_name((uint16_t)d->row.call), peer);
}

static int death_precedes(const struct job_death *a, const struct job_death *b)
{
    /* MPI_Abort first: it is why the launcher killed the others. */
    if (a->row.aborted != b->row.aborted)
        return a->row.aborted > b->row.aborted;
    return a->row.at_ns != b->row.at_ns ? a->row.at_ns < b->row.at_ns : a->row.rank < b->row.rank;
}

static int add_death(struct job *job, const struct wire_death_row *row, uint32_t node)
{
    for (size_t i = 0; i < job->death_count; i++) {
        if (job->deaths[i].row.rank == row->rank && job->deaths[i].row.pid == row->pid)
            return 0;
    }
    struct job_death *grown = realloc(job->deaths, (job->death_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return 0;
    job->deaths = grown;
    struct job_death death = {*row, node};
    size_t at = job->death_count++;
    for (; at > 0 && death_precedes(&death, &grown[at - 1]); at--)
        grown[at] = grown[at - 1];
    grown[at] = death;
    return 1;
}

void job_note_deaths(struct job *job, const struct wire_window *m, uint32_t node, uint64_t now_ns)
{
    int added = 0;
    for (uint64_t i = 0; i < m->deaths_count; i++) {
        if (m->deaths[i].rank < JOB_MOST_RANKS && job->death_count < JOB_MOST_RANKS)
            added |= add_death(job, &m->deaths[i], node);
    }
    if (!added)
        return;
    char title[129], text[1025] = "", line[192];
    describe_death(job, &job->deaths[0], line, sizeof(line));
    if (job->death_count == 1)
        snprintf(title, sizeof(title), "%.128s", line);
    else
        snprintf(title, sizeof(title), "%.90s and %zu more", line, job->death_count - 1);
    size_t length = 0;
    for (size_t i = 0; i < job->death_count && i < MOST_DEATHS_TOLD; i++) {
        describe_death(job, &job->deaths[i], line, sizeof(line));
        int n =
            snprintf(text + length, sizeof(text) - length, "%s%.120s", i == 0 ? "" : "; ", line);
        length += n > 0 && length + (size_t)n < sizeof(text) ? (size_t)n : 0;
    }
    job_alert(job, alerts_raise(&job->alerts, "rank-died", NULL, (int64_t)job->deaths[0].row.rank,
                                now_ns, title, text));
}

void job_check_losses(struct job *job, uint64_t now_ns)
{
    if (job->lost == job->lost_told && job->windows_dropped == job->windows_dropped_told) {
        if (job->quiet_since_loss < WINDOWS_WITHOUT_LOSS)
            return;
        job->quiet_since_loss = 0; /* asked in each turn: looks through the alerts now and then */
        job_alert(job, alerts_resolve(&job->alerts, "data-lost", NULL, now_ns));
        return;
    }
    job->lost_told = job->lost;
    job->windows_dropped_told = job->windows_dropped;
    job->quiet_since_loss = 0;
    char text[257];
    snprintf(text, sizeof(text),
             "%" PRIu64 " records were overwritten before they were read, %" PRIu64
             " windows were dropped while the daemon could not be reached; sums lack them",
             job->lost, job->windows_dropped);
    job_alert(job,
              alerts_raise(&job->alerts, "data-lost", NULL, -1, now_ns, "data was lost", text));
}

void job_recording_stopped(struct job *job, const char *why, uint64_t now_ns)
{
    char title[129];
    snprintf(title, sizeof(title), "recording has stopped: %.90s", why);
    job_alert(job, alerts_raise(&job->alerts, "recording-stopped", NULL, -1, now_ns, title, why));
}

void job_check_silence(struct job *job, uint64_t heard_ns, uint64_t now_ns)
{
    uint64_t bound = JOB_WINDOWS_TO_LOSE_NODE * job->options.window_ns + job->options.grace_ns;
    if (now_ns < job->silence_due_ns)
        return;
    job->silence_due_ns = now_ns + job->options.window_ns / 4;
    for (uint32_t i = 0; i < job->node_count; i++) {
        struct job_node *n = job->nodes[i];
        if (n->final || n->lost_contact || heard_ns < n->heard_ns ||
            heard_ns - n->heard_ns <= bound)
            continue;
        n->lost_contact = 1;
        job->active--;
        char title[129], text[257];
        snprintf(title, sizeof(title), "no word from the agent on %.80s", n->host);
        snprintf(text, sizeof(text), "its last window was %" PRIu64 ", heard %.1f s ago",
                 n->last_window, (double)(heard_ns - n->heard_ns) * 1e-9);
        job_alert(job, alerts_raise(&job->alerts, "agent-lost", n->host, -1, now_ns, title, text));
    }
}
