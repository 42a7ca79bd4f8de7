/* Contents of a recording, and differences of two, as text. */
#include "agent/cli/text/text.h"

#include "holter/call.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define SHOWN_HOSTS 8u

static void info_text_print_line(FILE *out, const char *name, const char *text)
{
    if (text[0] != '\0')
        tap_print(out, "%-10s %s\n", name, text);
}

static void print_time(FILE *out, uint64_t ns)
{
    fputs(quantity_moment(ns).text, out);
}

/* Print which parts of the job are missing. */
static void print_part(FILE *out, const struct info *i)
{
    if (i->part == 0 && i->removed_before_ns == 0 && i->attached_ns == 0 && i->missed_before == 0)
        return;
    const char *between = "";
    fprintf(out, "%-10s ", "part");
    if (i->part > 0) {
        fprintf(out, "%" PRIu64 " of a recording in parts", i->part);
        between = i->removed_before_ns > 0 ? ": " : "; ";
    }
    if (i->removed_before_ns > 0) {
        fprintf(out, "%swhat came before ", between);
        print_time(out, i->removed_before_ns);
        fputs(" was removed", out);
        between = "; ";
    }
    if (i->attached_ns > 0) {
        fprintf(out, "%srecorded only from ", between);
        print_time(out, i->attached_ns);
        fputs(" on", out);
        between = "; ";
    }
    if (i->missed_before > 0) { /* other gaps are listed as losses */
        fprintf(out, "%s%s of agents did not come in parts before", between,
                quantity_things(i->missed_before, "message").text);
    }
    fputc('\n', out);
}

static void print_span(FILE *out, const struct info *i)
{
    if (i->end_ns <= i->begin_ns) {
        print_part(out, i);
        return;
    }
    fprintf(out, "%-10s ", "span");
    print_time(out, i->begin_ns);
    fputs(" to ", out);
    print_time(out, i->end_ns);
    fprintf(out, ", %s", quantity_duration((double)i->duration_ns).text);
    fprintf(out, "; %s of %s\n", quantity_things(i->windows, "window").text,
            quantity_duration((double)i->window_ns).text);
    print_part(out, i);
}

static void info_text_print_places(FILE *out, const struct info *i)
{
    fprintf(out, "%-10s %" PRIu64 " of %" PRIu64 " on %s:", "ranks", i->ranks_seen, i->world,
            quantity_things(i->host_total, "host").text);
    for (size_t h = 0; h < i->host_count && h < SHOWN_HOSTS; h++)
        tap_print(out, "%s%s", h > 0 ? ", " : " ", i->hosts[h]);
    fputs(i->host_total > SHOWN_HOSTS ? ", ...\n" : "\n", out);
    if (i->network[0] != '\0')
        tap_print(out, "network    %s%s%s%s\n", i->network, i->network_source[0] ? " (" : "",
                  i->network_source, i->network_source[0] ? ")" : "");
}

/* Numbers of the calls that were made, sorted by time, descending. */
static unsigned sort_calls(const struct info *i, unsigned order[INFO_CALLS])
{
    unsigned count = 0;
    for (unsigned call = 0; call < INFO_CALLS; call++) {
        unsigned at = count;
        if (i->calls[call].calls == 0 && i->calls[call].time_ns == 0)
            continue;
        for (; at > 0 && i->calls[order[at - 1]].time_ns < i->calls[call].time_ns; at--)
            order[at] = order[at - 1];
        order[at] = call;
        count++;
    }
    return count;
}

static void info_text_print_calls(FILE *out, const struct info *i)
{
    unsigned order[INFO_CALLS], count = sort_calls(i, order);
    if (count > 0)
        fprintf(out, "\n%-28s %14s %12s %12s %12s\n", "call", "calls", "given", "got", "time");
    for (unsigned n = 0; n < count; n++) {
        const struct recorded_calls *k = &i->calls[order[n]];
        fprintf(out, "%-28s %14" PRIu64 " %12s %12s %12s\n", call_name((uint16_t)order[n]),
                k->calls, quantity_bytes((double)k->bytes).text,
                quantity_bytes((double)k->bytes_in).text,
                quantity_duration((double)k->time_ns).text);
    }
}

/* Print the spans in which windows of agents are missing. */
static void info_text_print_holes(FILE *out, const struct info *i)
{
    for (size_t n = 0; n < i->hole_total && n < INFO_HOLES; n++) {
        const struct info_hole *hole = &i->holes[n];
        fputs("           ", out);
        print_time(out, hole->begin_ns);
        fputs(" to ", out);
        print_time(out, hole->end_ns);
        fprintf(out, ", %s: %s of agents not here\n",
                quantity_duration((double)(hole->end_ns - hole->begin_ns)).text,
                quantity_things(hole->missing, "message").text);
    }
    if (i->hole_total > INFO_HOLES)
        fprintf(out, "           and in %zu more spans\n", i->hole_total - INFO_HOLES);
}

static void info_text_print_losses(FILE *out, const struct info *i)
{
    if (i->sums.tallied > 0)
        fprintf(out, "%-10s %s by their ranks, unread: without latency and phases\n", "summed",
                quantity_things(i->sums.tallied, "record").text);
    fprintf(out, "%-10s ", "lost");
    const uint64_t unwatched = i->world > i->ranks_seen ? i->world - i->ranks_seen : 0;
    if (unwatched > 0)
        fprintf(out, "what %s did: not watched; else ", quantity_things(unwatched, "rank").text);
    if (i->sums.untracked > 0)
        fprintf(out, "the end of %s: not tracked; else ",
                quantity_things(i->sums.untracked, "request").text);
    if (i->sums.lost == 0 && i->dropped == 0 && i->missing == 0 && i->absent == 0 &&
        i->hole_total == 0) {
        fputs(i->cut_short                    ? "nothing until the recording ends\n"
              : strcmp(i->state, "lost") == 0 ? "nothing until its last window\n"
                                              : "nothing\n",
              out);
        return;
    }
    fprintf(out,
            "%" PRIu64 " records, %" PRIu64 " windows of agents; %" PRIu64
            " reports came late or not at all",
            i->sums.lost, i->dropped, i->missing);
    if (i->absent > 0)
        fprintf(out, "; %" PRIu64 " other messages of agents are not here", i->absent);
    fputc('\n', out);
    info_text_print_holes(out, i);
}

static void info_text_print_alerts(FILE *out, const struct info *i)
{
    fprintf(out, "%-10s %zu", "alerts", i->alert_total);
    if (i->alerts_pending > 0)
        fprintf(out, "; %" PRIu64 " more never fired", i->alerts_pending);
    fputc('\n', out);
    for (size_t n = 0; n < i->alert_count; n++) {
        const struct info_alert *a = &i->alerts[n];
        fputs("           ", out);
        print_time(out, a->since_ns);
        tap_print(out, "  %s  %s  %s\n", a->state, a->severity, a->title);
    }
    if (i->alert_total > i->alert_count)
        fprintf(out, "           and %zu more\n", i->alert_total - i->alert_count);
}

static void info_text_print_captures(FILE *out, const struct info *i)
{
    if (i->capture_total == 0)
        return;
    fprintf(out, "%-10s %" PRIu64 "\n", "captures", i->capture_total);
    for (size_t n = 0; n < i->capture_count; n++) {
        const struct info_capture *c = &i->captures[n];
        fputs("           ", out);
        print_time(out, c->at_ns);
        tap_print(out, "  %s  %s", quantity_things(c->records, "record").text, c->reason);
        if (c->answered < c->nodes)
            fprintf(out, "; %" PRIu64 " of %" PRIu64 " nodes answered", c->answered, c->nodes);
        fputc('\n', out);
    }
    if (i->capture_total > i->capture_count)
        fprintf(out, "           and %" PRIu64 " more\n", i->capture_total - i->capture_count);
}

static void print_stored(FILE *out, const struct info *i)
{
    fprintf(out, "%-10s %s of %s, %s as MessagePack", "stored",
            quantity_things(i->messages, "message").text, quantity_things(i->agents, "agent").text,
            quantity_bytes((double)i->raw_bytes).text);
    if (i->packed_bytes > 0)
        fprintf(out, ", packed %s: %.1f times less", quantity_bytes((double)i->packed_bytes).text,
                (double)i->raw_bytes / (double)i->packed_bytes);
    fputc('\n', out);
    tap_print(out, "%-10s %s, schema %" PRId64 ", by Holter %s\n", "file",
              quantity_bytes((double)i->file_bytes).text, i->version,
              i->holter[0] != '\0' ? i->holter : "of a version that is not known");
}

static void info_text_print_damages(FILE *out, const struct info *i)
{
    for (size_t n = 0; n < i->damage_count && n < INFO_DAMAGES; n++) {
        const struct info_damage *d = &i->damages[n];
        fprintf(out, "%-10s after message %" PRIu64 ": %s", "damaged", d->after, d->text);
        if (d->messages > 0)
            fprintf(out, ", %" PRIu64 " of them", d->messages);
        fputc('\n', out);
    }
    if (i->damage_count > INFO_DAMAGES)
        fprintf(out, "%-10s in %zu more places\n", "damaged", i->damage_count - INFO_DAMAGES);
    if (i->damage_count > 0)
        fprintf(
            out,
            "%-10s all that is listed here can be read; `holter cut` makes a whole file of it\n",
            "");
}

static void info_text_print_state(FILE *out, const struct info *i)
{
    if (i->stop.at_ns == 0) {
        info_text_print_line(out, "state",
                             i->cut_short ? "running when the recording ends" : i->state);
        return;
    }
    fprintf(out, "%-10s cut short at ", "state");
    print_time(out, i->stop.at_ns);
    tap_print(out, ": %s\n", i->stop.why);
}

void info_print_text(FILE *out, const struct info *i)
{
    tap_print(out, "%s\n", i->path);
    info_text_print_line(out, "job", i->job);
    info_text_print_state(out, i);
    info_text_print_line(out, "program", i->app);
    info_text_print_line(out, "command", i->command);
    info_text_print_line(out, "MPI", i->mpi);
    info_text_print_line(out, "launcher", i->launcher);
    info_text_print_line(out, "user", i->user);
    info_text_print_places(out, i);
    print_span(out, i);
    fprintf(out, "%-10s %" PRIu64 ", %s sent; %" PRIu64 ", %s received\n", "messages", i->sums.sent,
            quantity_bytes((double)i->sums.sent_bytes).text, i->sums.received,
            quantity_bytes((double)i->sums.received_bytes).text);
    if (i->matched + i->unmatched + i->of_unwatched > 0)
        fprintf(out, "%-10s %s, %" PRIu64 " of %" PRIu64 " received since the job's start",
                "matched", quantity_matched(i->matched, i->unmatched).text, i->matched,
                i->matched + i->unmatched);
    if (i->of_unwatched > 0)
        fprintf(out, "; %" PRIu64 " others came from ranks that are not watched", i->of_unwatched);
    if (i->matched + i->unmatched + i->of_unwatched > 0)
        fputc('\n', out);
    info_text_print_losses(out, i);
    fprintf(out, "%-10s %s, %s, %s hot at some time", "results",
            quantity_things(i->phases, "phase").text, quantity_things(i->regions, "region").text,
            quantity_things(i->hot_links, "link").text);
    if (i->rank_group > 1)
        fprintf(out, "; by groups of %s ranks", quantity_grouped(i->rank_group).text);
    fputc('\n', out);
    info_text_print_alerts(out, i);
    info_text_print_captures(out, i);
    print_stored(out, i);
    info_text_print_damages(out, i);
    info_text_print_calls(out, i);
}

/* ---- differences --------------------------------------------------------- */

static void print_item(FILE *out, const struct diff_item *item)
{
    if (item->column[0] == '\0')
        tap_print(out, "%s, %s: only in the %s\n", item->table, item->key,
                  item->value[0][0] != '\0' ? "first" : "second");
    else
        tap_print(out, "%s, %s: %s %s | %s\n", item->table, item->key, item->column, item->value[0],
                  item->value[1]);
}

void diff_print_text(FILE *out, const struct diff *d, const char *const paths[2])
{
    if (d->differences == 0) {
        tap_print(out, "%s and %s have the same contents, of job %s\n", paths[0], paths[1], d->job);
        return;
    }
    tap_print(out, "first      %s\n", paths[0]);
    tap_print(out, "second     %s\n", paths[1]);
    fprintf(out, "\n%-14s %12s %12s %12s %12s %12s\n", "table", "first", "second", "only first",
            "only second", "differing");
    for (size_t i = 0; i < DIFF_TABLES; i++) {
        const struct diff_table *t = &d->tables[i];
        if (t->only[0] > 0 || t->only[1] > 0 || t->differing > 0)
            fprintf(out,
                    "%-14s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
                    t->name, t->rows[0], t->rows[1], t->only[0], t->only[1], t->differing);
    }
    fputc('\n', out);
    for (size_t i = 0; i < d->count; i++)
        print_item(out, &d->items[i]);
}
