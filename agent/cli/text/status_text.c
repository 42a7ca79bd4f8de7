/* State of daemon, jobs and agents as text. */
#include "agent/cli/text/text.h"

#include "holter/waiting.h"
#include "proto/quantity.h"

#include <inttypes.h>

void status_text_daemon(FILE *out, const char *endpoint, const struct wire_status *s)
{
    struct quantity a, b, c;
    double up_ns = s->now_ns > s->started_ns ? (double)(s->now_ns - s->started_ns) : 0;
    tap_print(out, "holterd %s at %s, pid %" PRIu64 " on %s, up %s\n", s->version, endpoint, s->pid,
              s->host, quantity_duration(&a, up_ns));
    fprintf(out, "  connected  %s, %s\n", quantity_things(&a, s->agents, "agent"),
            quantity_things(&b, s->clients, "client"));
    fprintf(out, "  taken in   %s window messages (windows of %s), %s, %s/s\n",
            quantity_count(&a, (double)s->messages),
            s->window_ns ? quantity_duration(&b, (double)s->window_ns) : "?",
            quantity_bytes(&c, (double)s->bytes),
            quantity_bytes(&(struct quantity){""}, up_ns > 0 ? (double)s->bytes / up_ns * 1e9 : 0));
    fprintf(out,
            "  of them    %" PRIu64 " resent, %" PRIu64 " late; %" PRIu64 " messages rejected\n",
            s->duplicates, s->late, s->rejected);
    if (s->rejected_last[0])
        tap_print(out, "             the last: %s\n", s->rejected_last);
    fprintf(out, "  published  %s frames\n", quantity_count(&a, (double)s->published));
    fprintf(out, "  recorded   %s\n", quantity_bytes(&a, (double)s->recorded_bytes));
    if (s->recorder_error[0])
        tap_print(out, "             stopped: %s\n", s->recorder_error);
    if (s->rules[0])
        tap_print(out, "  alerts     rules of %s\n", s->rules);
    if (s->sink_error[0])
        tap_print(out, "  alerts     a sink fails: %s\n", s->sink_error);
    if (s->topology_fault[0])
        tap_print(out, "  network    not used: %s\n", s->topology_fault);
    else if (s->topology[0])
        tap_print(out, "  network    %s\n", s->topology);
    fprintf(out, "  cost       %s of a core, %s of memory\n",
            quantity_share(&a, (double)s->cpu_ns, up_ns), quantity_bytes(&b, (double)s->rss_bytes));
}

void status_text_brief(FILE *out, const struct wire_job_row *row)
{
    struct quantity ranks, nodes, begin, length;
    tap_print(out, "job %s: %s, %s on %s, from %s", row->job, row->state,
              quantity_things(&ranks, row->ranks, "rank"),
              quantity_things(&nodes, row->nodes, "node"), quantity_clock(&begin, row->start_ns));
    if (row->end_ns > row->start_ns)
        fprintf(out, ", %s long",
                quantity_duration(&length, (double)(row->end_ns - row->start_ns)));
    tap_print(out, "; %s\n", row->app);
}

/* Uncovered calls that the application uses are listed by name, the others only with --verbose. */
static void print_uncovered(FILE *out, const struct wire_job *job, int verbose)
{
    uint64_t used = 0, listed = 0;
    for (uint64_t i = 0; i < job->uncovered_count; i++)
        used += job->uncovered[i].used;
    uint64_t shown = verbose ? job->uncovered_count : used;
    fputs("  uncovered  ", out);
    for (uint64_t i = 0; i < job->uncovered_count; i++) {
        const struct wire_uncovered_row *row = &job->uncovered[i];
        if (!row->used && !verbose)
            continue;
        tap_print(out, "%s%s%s", row->name, row->used && verbose ? " (used)" : "",
                  ++listed < shown ? ", " : "");
    }
    if (used == 0)
        fputs(shown ? "; none of them is used" : "no call that the program uses", out);
    if (!verbose && job->uncovered_count > used)
        fprintf(out, " (and %" PRIu64 " not used: -v)", job->uncovered_count - used);
    fputc('\n', out);
}

static void print_rates(FILE *out, const struct wire_totals *t)
{
    struct quantity at, messages, bytes, records, share, wait;
    double seconds = t->length_ns ? (double)t->length_ns / 1e9 : 1;
    double whole = (double)t->length_ns * (double)t->ranks;
    uint64_t wait_ns = WAITING_NS(t), mpi_ns = MPI_NS(t);
    fprintf(out, "  at %s  %s msg/s, %s/s, %s records/s; MPI %s, waiting %s of the ranks' time\n",
            quantity_clock(&at, t->start_ns), quantity_count(&messages, (double)t->sent / seconds),
            quantity_bytes(&bytes, (double)t->sent_bytes / seconds),
            quantity_count(&records, (double)t->events / seconds),
            quantity_share(&share, (double)mpi_ns, whole),
            quantity_share(&wait, (double)wait_ns, whole));
    if (t->agents_missing)
        fprintf(out, "             %s did not report that window in time\n",
                quantity_things(&at, t->agents_missing, "node"));
}

void status_text_job(FILE *out, const struct wire_job *job, const struct wire_totals *latest,
                     int verbose)
{
    struct quantity begin, length;
    tap_print(out, "job %s: %s, %" PRIu64 " of %s, from %s", job->job, job->state, job->seen,
              quantity_things(&length, job->world, "rank"), quantity_clock(&begin, job->start_ns));
    if (job->end_ns > job->start_ns)
        fprintf(out, ", %s long",
                quantity_duration(&length, (double)(job->end_ns - job->start_ns)));
    fputc('\n', out);
    tap_print(out, "  command    %s\n", job->command[0] ? job->command : job->app);
    tap_print(out, "  MPI        %s\n", job->mpi);
    if (job->recording[0])
        tap_print(out, "  recording  %s\n", job->recording);
    if (job->network_fault && job->network_fault[0])
        tap_print(out, "  network    %s\n", job->network_fault);
    if (latest)
        print_rates(out, latest);
    print_uncovered(out, job, verbose);
}

void status_text_links(FILE *out, const struct wire_links *links)
{
    fprintf(out,
            "  links      %" PRIu64 " congested, %" PRIu64 " hot, %" PRIu64 " busy, %" PRIu64
            " idle\n",
            links->congested, links->hot, links->busy, links->idle);
}

static void degraded_cell(FILE *out, uint64_t degraded)
{
    static const struct {
        uint64_t flag;
        const char *name;
    } names[] = {{DEGRADED_SAMPLES, "samples"},
                 {DEGRADED_PAIRS, "pairs"},
                 {DEGRADED_BURSTS, "bursts"},
                 {DEGRADED_SIZES, "sizes"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (degraded & names[i].flag)
            fprintf(out, " %s", names[i].name);
    }
}

static void print_node(FILE *out, const struct wire_node_row *n)
{
    struct quantity q;
    double up_s = (double)n->up_ns / 1e9;
    fputs("  ", out);
    tap_cell(out, 18, n->host);
    if (!n->cpu_ns && !n->rss_bytes && !n->uplink_bytes) {
        fputs(n->connected ? "  nothing reported yet\n" : "  away, nothing reported yet\n", out);
        return;
    }
    tap_cell(out, -7, quantity_count(&q, (double)n->ranks));
    tap_cell(out, -10, quantity_count(&q, (double)n->events));
    tap_cell(out, -10, up_s > 0 ? quantity_count(&q, (double)n->events / up_s) : "-");
    tap_cell(out, -9, quantity_count(&q, (double)n->lost));
    tap_cell(out, -9, quantity_count(&q, (double)n->windows_dropped));
    tap_cell(out, -11, quantity_bytes(&q, (double)n->uplink_bytes));
    tap_cell(out, -11, up_s > 0 ? quantity_bytes(&q, (double)n->uplink_bytes / up_s) : "-");
    tap_cell(out, -9, quantity_share(&q, (double)n->cpu_ns, (double)n->up_ns));
    tap_cell(out, -10, quantity_bytes(&q, (double)n->rss_bytes));
    tap_cell(out, -10, quantity_bytes(&q, (double)n->shm_bytes));
    tap_cell(out, -10, quantity_duration(&q, (double)n->clock_offset_ns));
    tap_cell(out, -9, quantity_duration(&q, (double)n->clock_error_ns));
    tap_cell(out, -8, n->call_cost_ns >= 0 ? quantity_duration(&q, n->call_cost_ns) : "-");
    if (!n->connected)
        fputs("  away", out);
    if (n->restarts)
        fprintf(out, "  restarted %" PRIu64 "x", n->restarts);
    if (n->degraded) {
        fputs("  left out:", out);
        degraded_cell(out, n->degraded);
    }
    fputc('\n', out);
}

/* Print how many messages between the ranks of each node were matched. */
static void print_matching(FILE *out, const struct wire_nodes *nodes)
{
    struct quantity q;
    fputs("  messages matched on  matched  unmatched  rejected; between nodes: "
          "ends sampled  passed over\n",
          out);
    for (uint64_t i = 0; i < nodes->nodes_count; i++) {
        const struct wire_node_row *n = &nodes->nodes[i];
        fputs("  ", out);
        tap_cell(out, 18, n->host);
        tap_cell(out, -10, quantity_count(&q, (double)n->matched));
        tap_cell(out, -11, quantity_count(&q, (double)n->unmatched));
        tap_cell(out, -10, quantity_count(&q, (double)n->rejected));
        tap_cell(out, -29, quantity_count(&q, (double)n->sampled));
        tap_cell(out, -13, quantity_count(&q, (double)n->passed_over));
        fputc('\n', out);
    }
}

void status_text_nodes(FILE *out, const struct wire_nodes *nodes)
{
    if (nodes->nodes_count == 0)
        return;
    fputs(
        "  agent on            ranks   records       per s     lost  dropped     uplink      per s"
        "      cpu    memory  /dev/shm     clock       +-    call\n",
        out);
    for (uint64_t i = 0; i < nodes->nodes_count; i++)
        print_node(out, &nodes->nodes[i]);
    print_matching(out, nodes);
}
