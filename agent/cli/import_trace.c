/* Imports traces (OTF2, DUMPI, tables of messages) and prints a summary. */
#include "agent/cli/import_trace.h"

#include "agent/cli/network_input.h"
#include "agent/terminal/terminal.h"
#include "daemon/import/csv/import_csv.h"
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/otf2/import_otf2.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <stdio.h>

/* An import of any format. */
struct importing {
    struct progress progress;
    struct topology_file network;
    struct trace_wishes wishes;
};

static void import_trace_on_progress(void *user, uint64_t read, uint64_t all, uint64_t until_ns)
{
    struct importing *i = user;
    (void)until_ns;
    progress_show(&i->progress, all == 0 ? 0 : (double)read / (double)all);
}

static void import_trace_on_fault(void *user, const char *text)
{
    struct importing *i = user;
    progress_end(&i->progress);
    terminal_print("import: %s", text);
}

static void import_trace_print_head(const char *output, uint64_t ranks, uint64_t hosts,
                                    const struct trace_counts *counts, uint64_t window_ns)
{
    printf("%s: %s on %s, %s of %s\n", output, quantity_things(ranks, "rank").text,
           quantity_things(hosts, "host").text, quantity_things(counts->windows, "window").text,
           quantity_duration((double)window_ns).text);
}

/* A line of the summary, unless the count is 0. */
static void import_trace_print_count(const char *label, uint64_t count, const char *what)
{
    if (count > 0)
        printf("  %-12s %" PRIu64 " %s\n", label, count, what);
}

static void print_messages(const struct trace_counts *c)
{
    printf("  sent         %s, %s (%s)\n", quantity_things(c->sent, "message").text,
           quantity_things(c->sent_bytes, "byte").text, quantity_bytes((double)c->sent_bytes).text);
    printf("  received     %s, %s (%s)\n", quantity_things(c->received, "message").text,
           quantity_things(c->received_bytes, "byte").text,
           quantity_bytes((double)c->received_bytes).text);
    printf("  matched      %" PRIu64 " within hosts, %" PRIu64 " ends between hosts\n", c->matched,
           c->halves);
    import_trace_print_count("unmatched", c->unmatched, "ends within hosts");
    import_trace_print_count(
        "rejected", c->rejected,
        "messages within hosts that were received before they were sent, or with another size");
    import_trace_print_count("left out", c->lost,
                             "records that are none, far beyond the end, or of too many bytes");
    import_trace_print_count("broken", c->failed_streams,
                             "files; what is whole of them is imported");
}

/* @return the exit status by the counts that all formats have */
static int is_wrong(const struct trace_counts *counts)
{
    return counts->failed_streams > 0 || counts->lost > 0 || counts->records == 0;
}

/* These print a summary. @return the exit status */
static int print_otf2(const char *output, const struct import_otf2_counts *c)
{
    import_trace_print_head(output, c->ranks, c->hosts, &c->counts, c->window_ns);
    printf("  events       %" PRIu64 " in %" PRIu32 " locations\n", c->events, c->streams);
    if (c->definitions_broken)
        printf("  broken       definitions: what is missing in them is not imported\n");
    print_messages(&c->counts);
    if (c->sends != c->counts.sent || c->receives != c->counts.received)
        printf("  in the trace %" PRIu64 " sends, %" PRIu64 " receives\n", c->sends, c->receives);
    printf("  collectives  %" PRIu64 " in the trace, %" PRIu64 " calls\n", c->collectives,
           c->counts.collectives);
    for (uint32_t i = 0; i < c->other_count; i++)
        printf("  unknown      %" PRIu64 " %s\n", c->others[i].count, c->others[i].name);
    import_trace_print_count("unknown", c->nameless, "calls of MPI");
    import_trace_print_count("undefined", c->undefined, "references");
    import_trace_print_count("unbalanced", c->unbalanced,
                             "regions that were left but not entered, or the other way round");
    import_trace_print_count("open", c->forced,
                             "requests for so long that they count where they ended");
    import_trace_print_count("left out", c->left_out, "locations that belong to no rank");
    import_trace_print_count("early", c->early,
                             "records before the begin of the trace: they count there");
    if (c->by_process)
        printf("  ranks        are the processes in their order: the list of their locations "
               "names some that are not there, or twice\n");
    return is_wrong(&c->counts) || c->definitions_broken;
}

static int print_dumpi(const char *output, const struct dumpi_counts *c)
{
    const struct dumpi_facts *f = &c->facts;
    import_trace_print_head(output, f->ranks, c->hosts, &c->counts, c->window_ns);
    printf("  calls        %" PRIu64 " in %" PRIu32 " files of version %d.%d.%d\n", f->calls,
           f->files, f->version[0], f->version[1], f->version[2]);
    print_messages(&c->counts);
    printf("  collectives  %" PRIu64 " calls\n", c->counts.collectives);
    if (c->counts.failed_streams == 0) /* otherwise reported above */
        import_trace_print_count("broken", f->broken, "files; what is whole of them is imported");
    if (f->missing > 0)
        printf("  missing      files of %" PRIu32 " ranks\n", f->missing);
    import_trace_print_count("left out", f->left_out, "files of ranks beyond the last");
    import_trace_print_count("unknown", f->unknown, "calls of functions");
    import_trace_print_count("turned off", f->off, "calls that the trace does not have");
    if (f->unresolved > 0)
        printf("  unknown      members of %" PRIu64 " communicators\n", f->unresolved);
    return is_wrong(&c->counts) || f->broken > 0 || f->missing > 0 || f->left_out > 0 ||
           f->too_many;
}

static int print_csv(const char *output, const struct import_csv_counts *c)
{
    import_trace_print_head(output, c->ranks, c->hosts, &c->counts, c->window_ns);
    printf("  rows         %" PRIu64 "\n", c->rows);
    if (c->world > c->ranks)
        printf("  unnamed      %" PRIu32 " of %" PRIu32 " ranks are in no row\n",
               c->world - c->ranks, c->world);
    print_messages(&c->counts);
    import_trace_print_count("sent only", c->one_sided,
                             "messages of which no receive_end is known");
    import_trace_print_count("backward", c->backward,
                             "messages that were received before they were sent");
    if (c->unknown > 0)
        printf("  passed over  %" PRIu32 " columns that mean nothing here, the first is '%s'\n",
               c->unknown, c->first_unknown);
    import_trace_print_count("left out", c->bad, "rows that are wrong");
    return is_wrong(&c->counts) || c->bad > 0 || c->broken;
}

int import_trace(const char *output, const char *source, enum import_format format,
                 const struct trace_wishes *asked)
{
    struct importing i = {.wishes = *asked};
    struct import_otf2_counts otf2;
    struct dumpi_counts dumpi;
    struct import_csv_counts csv;
    progress_begin(&i.progress, "import");
    if (asked->network_source != NULL &&
        topology_file_given(&i.network, asked->network_source, network_input_report, "import") != 0)
        return 1;
    i.wishes.network = i.network.topology;
    i.wishes.on_progress = import_trace_on_progress;
    i.wishes.fault = import_trace_on_fault;
    i.wishes.user = &i;
    int code = format == IMPORT_OTF2    ? import_otf2(output, source, &i.wishes, &otf2)
               : format == IMPORT_DUMPI ? dumpi_import(output, source, &i.wishes, &dumpi)
                                        : import_csv(output, source, &i.wishes, &csv);
    progress_end(&i.progress);
    topology_file_finish(&i.network);
    if (code != 0)
        return 1;
    return format == IMPORT_OTF2    ? print_otf2(output, &otf2)
           : format == IMPORT_DUMPI ? print_dumpi(output, &dumpi)
                                    : print_csv(output, &csv);
}
