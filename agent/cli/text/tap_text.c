/* Published messages as text: the topics of jobs, ranks, pairs, calls, latency and alerts. */
#include "agent/cli/text/text.h"

#include "agent/cli/text/alert_facts.h"
#include "holter/call.h"
#include "holter/size_class.h"
#include "holter/waiting.h"
#include "proto/quantity.h"
#include "proto/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tap_cell(FILE *out, int width, const char *text)
{
    int pad = abs(width) - (int)utf8_columns(text, strlen(text));
    if (width < 0 && pad > 0)
        fprintf(out, "%*s", pad, "");
    utf8_print_plain(out, text);
    if (width > 0 && pad > 0)
        fprintf(out, "%*s", pad, "");
}

void tap_print(FILE *out, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    int ends = format[strlen(format) - 1] == '\n';
    text[length - ends] = '\0';
    tap_cell(out, 0, text);
    fputs(ends ? "\n" : "", out);
    free(text);
}

void tap_count(FILE *out, int width, uint64_t count)
{
    tap_cell(out, -width, quantity_count((double)count).text);
}

void tap_bytes(FILE *out, int width, uint64_t bytes)
{
    tap_cell(out, -width, quantity_bytes((double)bytes).text);
}

void tap_duration(FILE *out, int width, double ns)
{
    tap_cell(out, -width, quantity_duration(ns).text);
}

static void number_cell(FILE *out, int width, uint64_t number)
{
    fprintf(out, "%*" PRIu64, width, number);
}

void tap_head(FILE *out, const char *topic, const char *job)
{
    tap_cell(out, 7, topic);
    fputc(' ', out);
    tap_cell(out, 12, job);
    fputc(' ', out);
}

void tap_real(FILE *out, int width, int digits, const char *unit, double value)
{
    char text[32] = "-";
    if (isfinite(value) && fabs(value) < 1e9)
        snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
    tap_cell(out, -width, text);
}

/* "window 1234", or "sum of 12 windows, to 1234" in a snapshot. */
static void window_cell(FILE *out, uint64_t window, uint64_t windows, int snapshot)
{
    if (snapshot && window == 0)
        fputs(" no window yet", out);
    else if (snapshot)
        fprintf(out, " sum of %s, to %" PRIu64, quantity_things(windows, "window").text, window);
    else
        fprintf(out, " window %" PRIu64, window);
}

static const char *tap_text_comm_name(const struct wire_comm_row *comms, uint64_t count,
                                      uint64_t index)
{
    return index < count ? comms[index].name : "";
}

static const char *tap_text_region_name(const struct wire_region_row *regions, uint64_t count,
                                        uint64_t index)
{
    return index < count ? regions[index].name : "";
}

/* The last two cells of a row. */
static void names_cell(FILE *out, const char *comm, const char *region)
{
    fputs("  ", out);
    tap_cell(out, region[0] ? 20 : 0, comm);
    fputs(region[0] ? "  " : "", out);
    tap_cell(out, 0, region);
    fputc('\n', out);
}

/* ---- topics -------------------------------------------------------------- */

static void tap_text_print_job(FILE *out, const struct wire_job *job)
{
    tap_head(out, "job", job->job);
    tap_cell(out, 8, job->state);
    fprintf(out, " %" PRIu64 " of %" PRIu64 " ranks, from %s", job->seen, job->world,
            quantity_clock(job->start_ns).text);
    if (job->end_ns > job->start_ns)
        fprintf(out, ", %s long", quantity_duration((double)(job->end_ns - job->start_ns)).text);
    tap_print(out, "; %s; %s%s%s\n", job->command[0] ? job->command : job->app, job->mpi,
              job->recording[0] ? "; recording " : "", job->recording);
    for (uint64_t i = 0; i < job->uncovered_count; i++)
        if (job->uncovered[i].used)
            tap_print(out, "  not covered, but used: %s\n", job->uncovered[i].name);
}

static void tap_text_print_places(FILE *out, const struct wire_places *places)
{
    tap_head(out, "places", places->job);
    fprintf(out, "%s on %s\n", quantity_things(places->places_count, "rank").text,
            quantity_things(places->hosts_count, "node").text);
    for (uint64_t i = 0; i < places->places_count; i++) {
        const struct wire_place_row *row = &places->places[i];
        fprintf(out, "  rank %6" PRIu64 "  ", row->rank);
        tap_cell(out, 20, row->node < places->hosts_count ? places->hosts[row->node].name : "?");
        tap_print(out, "  pid %-8" PRIu64 " cores %s\n", row->pid, row->placement);
    }
}

static void print_totals(FILE *out, const struct wire_totals *t)
{
    double seconds = (double)t->length_ns / 1e9;
    double whole = ranks_time_ns(t->ranks, t->length_ns, t->absent_ns);
    tap_head(out, "totals", t->job);
    fprintf(out, "%s ", quantity_clock(t->start_ns).text);
    tap_cell(out, -10, quantity_things(t->ranks, "rank").text);
    tap_cell(out, -8, quantity_count(seconds > 0 ? (double)t->sent / seconds : 0).text);
    fputs(" msg/s ", out);
    tap_cell(out, -9, quantity_bytes(seconds > 0 ? (double)t->sent_bytes / seconds : 0).text);
    fputs("/s  MPI ", out);
    tap_cell(out, -7, quantity_share((double)MPI_NS(t), whole).text);
    fputs("  waiting ", out);
    tap_cell(out, -7, quantity_share((double)WAITING_NS(t), whole).text);
    if (t->lost)
        fprintf(out, "  %s lost", quantity_things(t->lost, "record").text);
    if (t->agents_missing)
        fprintf(out, "  %s missing", quantity_things(t->agents_missing, "node").text);
    if (t->late)
        fputs("  (corrected)", out);
    fputc('\n', out);
}

static void print_ranks(FILE *out, const struct wire_rank_window *w, int snapshot)
{
    uint64_t windows = w->windows > 1 ? w->windows : 1;
    tap_head(out, "ranks", w->job);
    window_cell(out, w->window, windows, snapshot);
    fputc('\n', out);
    if (w->ranks_count)
        fputs("     rank     calls      sent      bytes  received      bytes      MPI  waiting  "
              "for rank   lost  in call\n",
              out);
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *r = &w->ranks[i];
        const uint64_t ranks = r->ranks > 1 ? r->ranks : 1; /* of a group */
        const double whole = ranks_time_ns(ranks, w->length_ns * windows, r->absent_ns);
        number_cell(out, 9, r->rank);
        tap_count(out, 10, r->calls);
        tap_count(out, 10, r->sent);
        tap_bytes(out, 11, r->sent_bytes);
        tap_count(out, 10, r->received);
        tap_bytes(out, 11, r->received_bytes);
        tap_cell(out, -9, quantity_share((double)MPI_NS(r), whole).text);
        tap_cell(out, -9, quantity_share((double)WAITING_NS(r), whole).text);
        if (r->awaited > 0 && waiting_is_for(r->awaited_ns, WAITING_NS(r)))
            number_cell(out, 10, r->awaited - 1);
        else
            tap_cell(out, -10, "-");
        tap_count(out, 7, r->lost);
        if (r->in_call) {
            fprintf(out, "  %s ", call_name((uint16_t)r->in_call));
            tap_duration(out, 0, (double)r->in_call_ns);
            if (r->in_call_peer >= 0)
                fprintf(out, " with %" PRId64, r->in_call_peer);
        }
        if (r->untracked)
            fprintf(out, "  %s not tracked", quantity_things(r->untracked, "request").text);
        fputc('\n', out);
    }
}

static void print_history(FILE *out, const struct wire_history *h)
{
    tap_head(out, "history", h->job);
    fprintf(out, "windows %" PRIu64 " to %" PRIu64 ", %s\n", h->first, h->last,
            quantity_things(h->ranks_count, "rank").text);
}

#define LATE_RANKS 4 /* that are named */

/* The ranks that caused most. */
static void print_lateness(FILE *out, const struct wire_lateness *l)
{
    const struct wire_lateness_row *worst[LATE_RANKS] = {NULL};
    tap_head(out, "lateness", l->job);
    fprintf(out, "window %" PRIu64 ", %s late", l->window,
            quantity_things(l->ranks_count, "rank").text);
    for (uint64_t i = 0; i < l->ranks_count; i++) {
        int at = LATE_RANKS;
        while (at > 0 &&
               (worst[at - 1] == NULL || l->ranks[i].caused_ns > worst[at - 1]->caused_ns))
            at--;
        for (int k = LATE_RANKS - 1; k > at; k--)
            worst[k] = worst[k - 1];
        if (at < LATE_RANKS && l->ranks[i].caused_ns > 0)
            worst[at] = &l->ranks[i];
    }
    for (int k = 0; k < LATE_RANKS && worst[k] != NULL; k++)
        fprintf(out, "%s rank %" PRIu64 " %s", k == 0 ? ", caused by" : ",", worst[k]->rank,
                quantity_duration((double)worst[k]->caused_ns).text);
    fputc('\n', out);
}

/* Sum of the rows of one pair, which are consecutive, one for each size class. */
struct pair_sum {
    uint64_t messages, bytes;
    uint64_t smallest, largest; /* floors of the first and the last size class, bytes */
};

static int same_pair(const struct wire_pair_row *a, const struct wire_pair_row *b)
{
    return a->source == b->source && a->destination == b->destination && a->comm == b->comm &&
           a->region == b->region;
}

/* Sum the first row and those after it with the same pair. @return number of rows */
static uint64_t sum_pair(const struct wire_pair_row *rows, uint64_t count, struct pair_sum *out)
{
    uint64_t n = 0;
    *out = (struct pair_sum){.smallest = UINT64_MAX};
    while (n < count && same_pair(&rows[0], &rows[n])) {
        uint64_t size = size_class_floor((uint16_t)rows[n].size_class);
        out->messages += rows[n].messages;
        out->bytes += rows[n].bytes;
        out->smallest = size < out->smallest ? size : out->smallest;
        out->largest = size > out->largest ? size : out->largest;
        n++;
    }
    return n;
}

static void print_pairs(FILE *out, const struct wire_pair_window *w, int snapshot)
{
    tap_head(out, "pairs", w->job);
    window_cell(out, w->window, w->windows, snapshot);
    if (w->folded)
        fprintf(out, ", %" PRIu64 " pairs folded into *", w->folded);
    fputc('\n', out);
    if (w->pairs_count)
        fputs("   source  destination  messages      bytes   smallest    largest  communicator     "
              "     region\n",
              out);
    for (uint64_t i = 0; i < w->pairs_count;) {
        const struct wire_pair_row *p = &w->pairs[i];
        struct pair_sum sum;
        i += sum_pair(p, w->pairs_count - i, &sum);
        number_cell(out, 9, p->source);
        if (p->destination < 0)
            tap_cell(out, -13, "*");
        else
            fprintf(out, "%13" PRId64, p->destination);
        tap_count(out, 10, sum.messages);
        tap_bytes(out, 11, sum.bytes);
        tap_bytes(out, 11, sum.smallest);
        tap_bytes(out, 11, sum.largest);
        names_cell(out, tap_text_comm_name(w->comms, w->comms_count, p->comm),
                   tap_text_region_name(w->regions, w->regions_count, p->region));
    }
}

static void call_cells(FILE *out, const struct wire_call_row *c)
{
    tap_count(out, 10, c->calls);
    tap_bytes(out, 11, c->bytes);
    tap_bytes(out, 11, c->bytes_in);
    tap_duration(out, 11, (double)c->time_ns);
}

static void tap_text_print_calls(FILE *out, const struct wire_call_window *w, int snapshot)
{
    tap_head(out, "calls", w->job);
    window_cell(out, w->window, w->windows, snapshot);
    fputc('\n', out);
    if (w->calls_count)
        fputs("  call                    ranks     calls      given        got       time       "
              "mean    longest"
              "  communicator          region\n",
              out);
    for (uint64_t i = 0; i < w->calls_count; i++) {
        const struct wire_call_row *c = &w->calls[i];
        fputs("  ", out);
        tap_cell(out, 22, call_name((uint16_t)c->call));
        tap_count(out, 7, c->rank);
        call_cells(out, c);
        tap_duration(out, 11, c->calls ? (double)c->time_ns / (double)c->calls : 0);
        tap_duration(out, 11, (double)c->longest_ns);
        names_cell(out, tap_text_comm_name(w->comms, w->comms_count, c->comm),
                   tap_text_region_name(w->regions, w->regions_count, c->region));
    }
}

static void tap_text_print_callers(FILE *out, const struct wire_caller_window *w, int snapshot)
{
    tap_head(out, "callers", w->job);
    window_cell(out, w->window, w->windows, snapshot);
    if (w->left_out)
        fprintf(out, "  %" PRIu64 " rows left out", w->left_out);
    fputc('\n', out);
    if (w->calls_count)
        fputs("     rank  call                       calls      given        got       time"
              "  communicator          region\n",
              out);
    for (uint64_t i = 0; i < w->calls_count; i++) {
        const struct wire_call_row *c = &w->calls[i];
        fprintf(out, "%9" PRIu64 "  ", c->rank);
        tap_cell(out, 22, call_name((uint16_t)c->call));
        call_cells(out, c);
        names_cell(out, tap_text_comm_name(w->comms, w->comms_count, c->comm),
                   tap_text_region_name(w->regions, w->regions_count, c->region));
    }
}

/* An agent that has not sent a window yet has not reported its own figures. */
static int tap_text_has_reported(const struct wire_node_row *n)
{
    return n->cpu_ns || n->rss_bytes || n->uplink_bytes;
}

static void print_nodes(FILE *out, const struct wire_nodes *nodes)
{
    tap_head(out, "nodes", nodes->job);
    if (nodes->window)
        fprintf(out, " window %" PRIu64, nodes->window);
    fputc('\n', out);
    fputs("  host                  ranks    events      lost   dropped     uplink        cpu     "
          "memory"
          "  clock offset        +-  call cost\n",
          out);
    for (uint64_t i = 0; i < nodes->nodes_count; i++) {
        const struct wire_node_row *n = &nodes->nodes[i];
        fputs("  ", out);
        tap_cell(out, 20, n->host);
        if (!tap_text_has_reported(n)) {
            fputs("  nothing reported yet\n", out);
            continue;
        }
        tap_count(out, 7, n->ranks);
        tap_count(out, 10, n->events);
        tap_count(out, 10, n->lost);
        tap_count(out, 10, n->windows_dropped);
        tap_bytes(out, 11, n->uplink_bytes);
        tap_duration(out, 11, (double)n->cpu_ns);
        tap_bytes(out, 11, n->rss_bytes);
        tap_duration(out, 14, (double)n->clock_offset_ns);
        tap_duration(out, 10, (double)n->clock_error_ns);
        if (n->call_cost_ns >= 0)
            tap_duration(out, 11, n->call_cost_ns);
        else
            tap_cell(out, -11, "-");
        fputs(n->connected ? "\n" : "  away\n", out);
    }
}

static void tap_text_print_fact(void *user, const char *name, const char *text)
{
    tap_print(user, "  %-10s%s\n", name, text);
}

static void print_causes(FILE *out, const struct wire_alert *a)
{
    for (uint64_t i = 0; i < a->causes_count; i++) {
        const struct wire_cause_row *cause = &a->causes[i];
        tap_print(out, "  %-10s%-14s%4.0f %%  %s\n", i == 0 ? "cause" : "", cause->name,
                  100 * (isfinite(cause->share) ? cause->share : 0), cause->text);
    }
}

static void print_alert(FILE *out, const struct wire_alert *alert)
{
    tap_head(out, "alerts", alert->job);
    tap_cell(out, 8, alert->state);
    tap_print(out, " #%" PRIu64 " since %s %s: %s%s%s%s\n", alert->id,
              quantity_clock(alert->onset_ns ? alert->onset_ns : alert->since_ns).text, alert->kind,
              alert->title, alert->text[0] ? " (" : "", alert->text, alert->text[0] ? ")" : "");
    alert_facts_list(alert, tap_text_print_fact, out);
    print_causes(out, alert);
    if (alert->advice[0])
        tap_text_print_fact(out, "advice", alert->advice);
}

static void tap_text_times_cell(FILE *out, double times)
{
    if (isfinite(times))
        fprintf(out, " %8.2fx", times);
    else
        fprintf(out, " %8s ", "-");
}

static void print_series(FILE *out, const struct wire_series_row *s)
{
    static const char *const scopes[] = {"job", "intra-node", "inter-node", "region"};
    static const char *const trends[] = {"", "  growing", "  steady high"};
    char name[32];
    if (s->scope == SERIES_REGION)
        snprintf(name, sizeof name, "region %" PRIu64, s->id);
    else
        snprintf(name, sizeof name, "%s", scopes[s->scope]);
    fputs("  ", out);
    tap_cell(out, 16, name);
    tap_count(out, 10, s->messages);
    tap_cell(out, -9, quantity_share((double)s->delayed, (double)s->messages).text);
    tap_cell(out, -20,
             quantity_measured((double)s->transfer_ns / (double)s->messages,
                               (double)s->error_ns / (double)s->messages)
                 .text);
    tap_text_times_cell(out, s->reference);
    tap_text_times_cell(out, s->typical > 0 ? s->typical : (double)NAN);
    tap_text_times_cell(out, s->recent);
    fputs(trends[s->trend], out);
    if (s->trend != TREND_CALM)
        fprintf(out, " since window %" PRIu64, s->trend_since);
    if (s->trend == TREND_GROWTH && isfinite(s->slope))
        fprintf(out, ", %+.0f %% a minute", 100 * s->slope);
    fputc('\n', out);
}

static void print_latencies(FILE *out, const struct wire_latencies *latencies)
{
    tap_head(out, "latency", latencies->job);
    fprintf(out, "window %" PRIu64 ", %s matched, %" PRIu64 " unmatched", latencies->window,
            quantity_things(latencies->matched, "message").text, latencies->unmatched);
    if (latencies->rejected)
        fprintf(out, ", %" PRIu64 " rejected", latencies->rejected);
    if (latencies->uncertain)
        fprintf(out, ", %" PRIu64 " within the clocks' uncertainty", latencies->uncertain);
    if (latencies->error_ns && latencies->error_ns != WIRE_ANY)
        fprintf(out, ", clocks within %s", quantity_duration((double)latencies->error_ns).text);
    fputc('\n', out);
    for (uint64_t i = 0, lines = 0; i < latencies->series_count; i++) {
        if (latencies->series[i].messages == 0)
            continue;
        if (lines++ == 0)
            fputs("                      messages  delayed           mean time reference   typical"
                  "    recent\n",
                  out);
        print_series(out, &latencies->series[i]);
    }
}

#define REGIONS_LISTED 256 /* limit that keeps the time linear in the number of members */

/* Write the ranks of a region as runs, "0-3,8". */
static void print_members(FILE *out, const struct wire_regions *regions, uint64_t id)
{
    uint64_t first = 0, last = 0, runs = 0;
    for (uint64_t i = 0; i <= regions->members_count; i++) {
        const struct wire_region_member_row *m = &regions->members[i];
        int ends = i == regions->members_count;
        if (!ends && m->region != id)
            continue;
        if (!ends && runs > 0 && m->rank == last + 1) {
            last = m->rank;
            continue;
        }
        if (runs > 0)
            fprintf(out, "%s%" PRIu64, runs > 1 ? "," : "", first);
        if (runs > 0 && first != last)
            fprintf(out, "-%" PRIu64, last);
        if (!ends) {
            first = last = m->rank;
            runs++;
        }
    }
}

static void print_regions(FILE *out, const struct wire_regions *regions)
{
    tap_head(out, "regions", regions->job);
    fprintf(out, "%" PRIu64 " from window %" PRIu64 " on\n", regions->regions_count,
            regions->window);
    for (uint64_t i = 0; i < regions->regions_count; i++) {
        const struct wire_latency_region_row *r = &regions->regions[i];
        fprintf(out, "  region %" PRIu64 " since window %" PRIu64 ", %s", r->id, r->since,
                quantity_things(r->ranks, "rank").text);
        fputs(i < REGIONS_LISTED ? ": " : "", out);
        if (i < REGIONS_LISTED)
            print_members(out, regions, r->id);
        fputc('\n', out);
    }
}

static void print_recorded(FILE *out, const struct wire_recorded *r)
{
    tap_head(out, "recorded", r->job);
    if (r->type == WIRE_TYPE_WINDOW)
        fprintf(out, "window %" PRIu64, r->window);
    else
        fputs(wire_type_name((unsigned)r->type) ? wire_type_name((unsigned)r->type) : "?", out);
    fprintf(out, " of agent %" PRIx64 ", its message %" PRIu64 ", %s%s\n", r->instance, r->seq,
            quantity_bytes((double)r->bytes_count).text, r->more ? " and more" : "");
}

/* Topics that are printed by other files. */
static void tap_text_print_other(FILE *out, const struct wire_message *message,
                                 const struct network_names *names)
{
    switch (message->type) {
    case WIRE_TYPE_PHASES:
        tap_phases(out, &message->phases);
        break;
    case WIRE_TYPE_CURVE:
        tap_curve(out, &message->curve);
        break;
    case WIRE_TYPE_COMMGRAM:
        tap_commgram(out, &message->commgram);
        break;
    case WIRE_TYPE_TOPOLOGY:
        tap_topology(out, &message->topology);
        break;
    case WIRE_TYPE_LINKS:
        tap_links(out, &message->links, names);
        break;
    case WIRE_TYPE_REPLAY:
        tap_replay(out, &message->replay);
        break;
    case WIRE_TYPE_CAPTURE:
        capture_brief(out, &message->capture);
        break;
    default:
        break;
    }
}

/* What a rank is in the tables of a job that is kept by groups of ranks. */
static void tap_text_print_group(FILE *out, unsigned type, const struct network_names *names)
{
    static const unsigned types[] = {
        WIRE_TYPE_RANK_WINDOW,   WIRE_TYPE_PAIR_WINDOW, WIRE_TYPE_CALL_WINDOW,
        WIRE_TYPE_CALLER_WINDOW, WIRE_TYPE_REGIONS,     WIRE_TYPE_PHASES,
        WIRE_TYPE_CURVE,         WIRE_TYPE_COMMGRAM,    WIRE_TYPE_LINKS};
    for (size_t i = 0; names->group > 1 && i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            fprintf(out, "  a rank in this table is a group: 0 stands for %s\n",
                    quantity_ranks(0, names->group, names->world).text);
}

void tap_text(FILE *out, const struct wire_message *message, int snapshot,
              const struct network_names *names)
{
    switch (message->type) {
    case WIRE_TYPE_JOB:
        tap_text_print_job(out, &message->job);
        break;
    case WIRE_TYPE_PLACES:
        tap_text_print_places(out, &message->places);
        break;
    case WIRE_TYPE_TOTALS:
        print_totals(out, &message->totals);
        break;
    case WIRE_TYPE_RANK_WINDOW:
        print_ranks(out, &message->rank_window, snapshot);
        break;
    case WIRE_TYPE_HISTORY:
        print_history(out, &message->history);
        break;
    case WIRE_TYPE_LATENESS:
        print_lateness(out, &message->lateness);
        break;
    case WIRE_TYPE_PAIR_WINDOW:
        print_pairs(out, &message->pair_window, snapshot);
        break;
    case WIRE_TYPE_CALL_WINDOW:
        tap_text_print_calls(out, &message->call_window, snapshot);
        break;
    case WIRE_TYPE_CALLER_WINDOW:
        tap_text_print_callers(out, &message->caller_window, snapshot);
        break;
    case WIRE_TYPE_NODES:
        print_nodes(out, &message->nodes);
        break;
    case WIRE_TYPE_ALERT:
        print_alert(out, &message->alert);
        break;
    case WIRE_TYPE_LATENCIES:
        print_latencies(out, &message->latencies);
        break;
    case WIRE_TYPE_REGIONS:
        print_regions(out, &message->regions);
        break;
    case WIRE_TYPE_RECORDED:
        print_recorded(out, &message->recorded);
        break;
    default:
        tap_text_print_other(out, message, names);
    }
    tap_text_print_group(out, message->type, names);
}
