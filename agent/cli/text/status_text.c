/* State of daemon, jobs and agents as text. */
#include "agent/cli/text/text.h"

#include "holter/waiting.h"
#include "proto/quantity.h"

#include <inttypes.h>

void status_text_daemon(FILE *out, const char *endpoint, const struct wire_status *s)
{
    double up_ns = s->now_ns > s->started_ns ? (double)(s->now_ns - s->started_ns) : 0;
    tap_print(out, "holterd %s at %s, pid %" PRIu64 " on %s, up %s\n", s->version, endpoint, s->pid,
              s->host, quantity_duration(up_ns).text);
    fprintf(out, "  connected  %s, %s\n", quantity_things(s->agents, "agent").text,
            quantity_things(s->clients, "client").text);
    fprintf(out, "  received   %s window messages (windows of %s), %s, %s/s\n",
            quantity_count((double)s->messages).text,
            s->window_ns ? quantity_duration((double)s->window_ns).text : "?",
            quantity_bytes((double)s->bytes).text,
            quantity_bytes(up_ns > 0 ? (double)s->bytes / up_ns * 1e9 : 0).text);
    fprintf(out,
            "  of these   %" PRIu64 " resent, %" PRIu64 " late; %" PRIu64 " messages rejected\n",
            s->duplicates, s->late, s->rejected);
    if (s->rejected_last[0])
        tap_print(out, "             the last: %s\n", s->rejected_last);
    fprintf(out, "  published  %s frames\n", quantity_count((double)s->published).text);
    fprintf(out, "  recordings %s in those being written\n",
            quantity_bytes((double)s->recorded_bytes).text);
    if (s->recorder_error[0])
        tap_print(out, "             stopped: %s\n", s->recorder_error);
    if (s->rules[0])
        tap_print(out, "  alerts     rules of %s\n", s->rules);
    if (s->sink_error[0])
        tap_print(out, "  alerts     not all are delivered: %s\n", s->sink_error);
    if (s->topology_fault[0])
        tap_print(out, "  network    not used: %s\n", s->topology_fault);
    else if (s->topology[0])
        tap_print(out, "  network    %s\n", s->topology);
    fprintf(out, "  cost       %s of a core, %s of memory\n",
            quantity_share((double)s->cpu_ns, up_ns).text,
            quantity_bytes((double)s->rss_bytes).text);
}

void status_text_brief(FILE *out, const struct wire_job_row *row)
{
    tap_print(out, "job %s: %s, %s on %s, from %s", row->job, row->state,
              quantity_things(row->ranks, "rank").text, quantity_things(row->nodes, "node").text,
              quantity_clock(row->start_ns).text);
    if (row->end_ns > row->start_ns)
        fprintf(out, ", %s long", quantity_duration((double)(row->end_ns - row->start_ns)).text);
    tap_print(out, "; %s", row->app);
    if (row->daemon[0] != '\0')
        tap_print(out, "; %s", row->daemon);
    fputc('\n', out);
}

/* Uncovered calls that the application uses are listed by name, the others only with --verbose. */
static void status_text_print_uncovered(FILE *out, const struct wire_job *job, int verbose)
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

static void status_text_print_rates(FILE *out, const struct wire_totals *t)
{
    double seconds = t->length_ns ? (double)t->length_ns / 1e9 : 1;
    double whole = ranks_time_ns(t->ranks, t->length_ns, t->absent_ns);
    uint64_t wait_ns = WAITING_NS(t), mpi_ns = MPI_NS(t);
    fprintf(out, "  at %s  %s msg/s, %s/s, %s records/s; MPI %s, waiting %s of the ranks' time\n",
            quantity_clock(t->start_ns).text, quantity_count((double)t->sent / seconds).text,
            quantity_bytes((double)t->sent_bytes / seconds).text,
            quantity_count((double)t->events / seconds).text,
            quantity_share((double)mpi_ns, whole).text,
            quantity_share((double)wait_ns, whole).text);
    if (t->agents_missing)
        fprintf(out, "             %s did not report that window in time\n",
                quantity_things(t->agents_missing, "node").text);
}

void status_text_job(FILE *out, const struct wire_job *job, const struct wire_totals *latest,
                     int verbose)
{
    tap_print(out, "job %s: %s, %" PRIu64 " of %s, from %s", job->job, job->state, job->seen,
              quantity_things(job->world, "rank").text, quantity_clock(job->start_ns).text);
    if (job->end_ns > job->start_ns)
        fprintf(out, ", %s long", quantity_duration((double)(job->end_ns - job->start_ns)).text);
    if (job->group > 1)
        fprintf(out, ", by groups of %s ranks", quantity_grouped(job->group).text);
    fputc('\n', out);
    tap_print(out, "  command    %s\n", job->command[0] ? job->command : job->app);
    tap_print(out, "  MPI        %s\n", job->mpi);
    if (job->recording[0])
        tap_print(out, "  recording  %s\n", job->recording);
    if (job->span > 1)
        fprintf(out,
                "  windows    of %s hold less than two iterations: growth is judged by %s of them, "
                "more surely with windows of %s\n",
                quantity_duration((double)job->window_ns).text, quantity_grouped(job->span).text,
                quantity_duration((double)(job->span * job->window_ns)).text);
    if (job->network_fault && job->network_fault[0])
        tap_print(out, "  network    %s\n", job->network_fault);
    if (latest)
        status_text_print_rates(out, latest);
    status_text_print_uncovered(out, job, verbose);
}

void status_text_links(FILE *out, const struct wire_links *links)
{
    fprintf(out,
            "  links      %" PRIu64 " congested, %" PRIu64 " hot, %" PRIu64 " busy, %" PRIu64
            " idle\n",
            links->congested, links->hot, links->busy, links->idle);
}

static void status_text_print_degraded(FILE *out, uint64_t degraded)
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

static void status_text_print_node(FILE *out, const struct wire_node_row *n)
{
    double up_s = (double)n->up_ns / 1e9;
    fputs("  ", out);
    tap_cell(out, 18, n->host);
    if (!n->cpu_ns && !n->rss_bytes && !n->uplink_bytes) {
        fputs(n->connected ? "  nothing reported yet\n" : "  away, nothing reported yet\n", out);
        return;
    }
    tap_cell(out, -7, quantity_count((double)n->ranks).text);
    tap_cell(out, -10, quantity_count((double)n->events).text);
    tap_cell(out, -10, up_s > 0 ? quantity_count((double)n->events / up_s).text : "-");
    tap_cell(out, -9, quantity_count((double)n->lost).text);
    tap_cell(out, -9, quantity_count((double)n->windows_dropped).text);
    tap_cell(out, -11, quantity_bytes((double)n->uplink_bytes).text);
    tap_cell(out, -11, up_s > 0 ? quantity_bytes((double)n->uplink_bytes / up_s).text : "-");
    tap_cell(out, -9, quantity_share((double)n->cpu_ns, (double)n->up_ns).text);
    tap_cell(out, -10, quantity_bytes((double)n->rss_bytes).text);
    tap_cell(out, -10, quantity_bytes((double)n->shm_bytes).text);
    tap_cell(out, -10, quantity_duration((double)n->clock_offset_ns).text);
    tap_cell(out, -9, quantity_duration((double)n->clock_error_ns).text);
    tap_cell(out, -8, n->call_cost_ns >= 0 ? quantity_duration(n->call_cost_ns).text : "-");
    if (!n->connected)
        fputs("  away", out);
    if (n->restarts)
        fprintf(out, "  restarted %" PRIu64 "x", n->restarts);
    if (n->degraded) {
        fputs("  left out:", out);
        status_text_print_degraded(out, n->degraded);
    }
    fputc('\n', out);
}

/* Print how many messages between the ranks of each node were matched. */
static void status_text_print_matching(FILE *out, const struct wire_nodes *nodes)
{
    fputs("  messages matched on  matched  unmatched  rejected; between nodes: "
          "ends sampled  passed over\n",
          out);
    for (uint64_t i = 0; i < nodes->nodes_count; i++) {
        const struct wire_node_row *n = &nodes->nodes[i];
        fputs("  ", out);
        tap_cell(out, 18, n->host);
        tap_cell(out, -10, quantity_count((double)n->matched).text);
        tap_cell(out, -11, quantity_count((double)n->unmatched).text);
        tap_cell(out, -10, quantity_count((double)n->rejected).text);
        tap_cell(out, -29, quantity_count((double)n->sampled).text);
        tap_cell(out, -13, quantity_count((double)n->passed_over).text);
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
        status_text_print_node(out, &nodes->nodes[i]);
    status_text_print_matching(out, nodes);
}
