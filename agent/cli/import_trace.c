#include "agent/cli/import_trace.h"

#include "agent/cli/network_input.h"
#include "agent/terminal/progress.h"
#include "agent/terminal/terminal_message.h"
#include "daemon/import/csv/import_csv.h"
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/otf2/import_otf2.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <stdio.h>

struct showing {
    struct progress progress;
};

static void import_trace_on_progress(void *user, uint64_t read, uint64_t all, uint64_t until_ns)
{
    struct showing *s = user;
    (void)until_ns;
    progress_show(&s->progress, all == 0 ? 0 : (double)read / (double)all);
}

static void import_trace_on_fault(void *user, const char *text)
{
    struct showing *s = user;
    progress_end(&s->progress);
    terminal_print("import: %s", text);
}

static void print_messages(const struct trace_counts *c)
{
    struct quantity sent, received;
    printf("  sent         %" PRIu64 " messages, %" PRIu64 " bytes (%s)\n", c->sent, c->sent_bytes,
           quantity_bytes(&sent, (double)c->sent_bytes));
    printf("  received     %" PRIu64 " messages, %" PRIu64 " bytes (%s)\n", c->received,
           c->received_bytes, quantity_bytes(&received, (double)c->received_bytes));
    printf("  matched      %" PRIu64 " within hosts, %" PRIu64 " ends between hosts\n", c->matched,
           c->halves);
    if (c->unmatched > 0)
        printf("  unmatched    %" PRIu64 " ends within hosts\n", c->unmatched);
    if (c->rejected > 0)
        printf("  rejected     %" PRIu64
               " messages within hosts that were received before they were sent, or with another "
               "size\n",
               c->rejected);
    if (c->lost > 0)
        printf("  left out     %" PRIu64 " records that are none, or far beyond the end\n",
               c->lost);
    if (c->failed_streams > 0)
        printf("  broken       %" PRIu64 " files; what is whole of them is imported\n",
               c->failed_streams);
}

static void print_otf2(const struct import_wish *wish, const struct import_otf2_counts *c)
{
    struct quantity ranks, hosts, windows, window;
    printf("%s: %s on %s, %s of %s\n", wish->output, quantity_things(&ranks, c->ranks, "rank"),
           quantity_things(&hosts, c->hosts, "host"),
           quantity_things(&windows, c->counts.windows, "window"),
           quantity_duration(&window, (double)c->window_ns));
    printf("  events       %" PRIu64 " in %" PRIu32 " locations\n", c->events, c->streams);
    if (c->definitions_broken)
        printf("  broken       definitions: what they do not tell of is not imported\n");
    print_messages(&c->counts);
    if (c->sends != c->counts.sent || c->receives != c->counts.received)
        printf("  in the trace %" PRIu64 " sends, %" PRIu64 " receives\n", c->sends, c->receives);
    printf("  collectives  %" PRIu64 " that the trace tells of, %" PRIu64 " calls\n",
           c->collectives, c->counts.collectives);
    for (uint32_t i = 0; i < c->other_count; i++)
        printf("  unknown      %" PRIu64 " %s\n", c->others[i].count, c->others[i].name);
    if (c->nameless > 0)
        printf("  unknown      %" PRIu64 " calls of MPI\n", c->nameless);
    if (c->undefined > 0)
        printf("  undefined    %" PRIu64 " references\n", c->undefined);
    if (c->unbalanced > 0)
        printf("  unbalanced   %" PRIu64
               " regions that were left but not entered, or the other way round\n",
               c->unbalanced);
    if (c->forced > 0)
        printf("  open         %" PRIu64 " requests for so long that they count where they ended\n",
               c->forced);
    if (c->left_out > 0)
        printf("  left out     %" PRIu64 " locations that belong to no rank\n", c->left_out);
    if (c->early > 0)
        printf("  early        %" PRIu64
               " records before the begin of the trace: they count there\n",
               c->early);
    if (c->by_process)
        printf("  ranks        are the processes in their order: the list of their locations "
               "names some that are not there, or twice\n");
}

static void print_dumpi(const struct import_wish *wish, const struct dumpi_counts *c)
{
    struct quantity ranks, hosts, windows, window;
    const struct dumpi_facts *f = &c->facts;
    printf("%s: %s on %s, %s of %s\n", wish->output, quantity_things(&ranks, f->ranks, "rank"),
           quantity_things(&hosts, c->hosts, "host"),
           quantity_things(&windows, c->counts.windows, "window"),
           quantity_duration(&window, (double)c->window_ns));
    printf("  calls        %" PRIu64 " in %" PRIu32 " files of version %d.%d.%d\n", f->calls,
           f->files, f->version[0], f->version[1], f->version[2]);
    print_messages(&c->counts);
    printf("  collectives  %" PRIu64 " calls\n", c->counts.collectives);
    if (f->broken > 0 && c->counts.failed_streams == 0) /* else that is told above */
        printf("  broken       %" PRIu32 " files; what is whole of them is imported\n", f->broken);
    if (f->missing > 0)
        printf("  missing      files of %" PRIu32 " ranks\n", f->missing);
    if (f->left_out > 0)
        printf("  left out     %" PRIu32 " files of ranks behind the last\n", f->left_out);
    if (f->unknown > 0)
        printf("  unknown      %" PRIu64 " calls of functions\n", f->unknown);
    if (f->off > 0)
        printf("  turned off   %" PRIu64 " calls that the trace does not have\n", f->off);
    if (f->unresolved > 0)
        printf("  unknown      members of %" PRIu64 " communicators\n", f->unresolved);
}

/* @return what the exit status is of counts that all of them have */
static int is_wrong(const struct trace_counts *counts)
{
    return counts->failed_streams > 0 || counts->lost > 0;
}

/* What all of them are asked for alike. @return 0, or 1 after saying what is wrong */
static int import_trace_begin(struct trace_wishes *wishes, struct topology_file *network,
                              struct showing *showing, const struct import_wish *wish)
{
    progress_begin(&showing->progress, "import");
    *network = (struct topology_file){.topology = NULL};
    if (wish->topology != NULL &&
        topology_file_given(network, wish->topology, network_input_tell, NULL) != 0)
        return 1;
    *wishes = (struct trace_wishes){.window_ns = wish->window_ns,
                                    .threads = (unsigned)wish->threads,
                                    .per_node = wish->per_node,
                                    .hosts = wish->hosts,
                                    .network = network->topology,
                                    .network_source = wish->topology,
                                    .on_progress = import_trace_on_progress,
                                    .fault = import_trace_on_fault,
                                    .user = showing};
    return 0;
}

int import_trace_otf2(const struct import_wish *wish)
{
    struct showing showing;
    struct topology_file network;
    struct trace_wishes wishes;
    struct import_otf2_counts counts;
    if (import_trace_begin(&wishes, &network, &showing, wish) != 0)
        return 1;
    int code = import_otf2(wish->output, wish->source, &wishes, &counts);
    progress_end(&showing.progress);
    topology_file_finish(&network);
    if (code == 0)
        print_otf2(wish, &counts);
    return code != 0 || is_wrong(&counts.counts) || counts.definitions_broken;
}

int import_trace_dumpi(const struct import_wish *wish)
{
    struct showing showing;
    struct topology_file network;
    struct trace_wishes wishes;
    struct dumpi_counts counts;
    if (import_trace_begin(&wishes, &network, &showing, wish) != 0)
        return 1;
    int code = dumpi_import(wish->output, wish->source, &wishes, &counts);
    progress_end(&showing.progress);
    topology_file_finish(&network);
    if (code == 0)
        print_dumpi(wish, &counts);
    return code != 0 || is_wrong(&counts.counts) || counts.facts.broken > 0 ||
           counts.facts.missing > 0 || counts.facts.left_out > 0 || counts.facts.too_many;
}

static void print_csv(const struct import_wish *wish, const struct import_csv_counts *c)
{
    struct quantity ranks, hosts, windows, window;
    printf("%s: %s on %s, %s of %s\n", wish->output, quantity_things(&ranks, c->ranks, "rank"),
           quantity_things(&hosts, c->hosts, "host"),
           quantity_things(&windows, c->counts.windows, "window"),
           quantity_duration(&window, (double)c->window_ns));
    printf("  rows         %" PRIu64 "\n", c->rows);
    if (c->world > c->ranks)
        printf("  unnamed      %" PRIu32 " of %" PRIu32 " ranks are in no row\n",
               c->world - c->ranks, c->world);
    print_messages(&c->counts);
    if (c->one_sided > 0)
        printf("  sent only    %" PRIu64 " messages of which no receive_end is known\n",
               c->one_sided);
    if (c->backward > 0)
        printf("  backward     %" PRIu64 " messages that were received before they were sent\n",
               c->backward);
    if (c->unknown > 0)
        printf("  passed over  %" PRIu32 " columns that mean nothing here, the first is '%s'\n",
               c->unknown, c->first_unknown);
    if (c->bad > 0)
        printf("  left out     %" PRIu64 " rows that are wrong\n", c->bad);
}

int import_trace_csv(const struct import_wish *wish)
{
    struct showing showing;
    struct topology_file network;
    struct trace_wishes wishes;
    struct import_csv_counts counts;
    if (import_trace_begin(&wishes, &network, &showing, wish) != 0)
        return 1;
    int code = import_csv(wish->output, wish->source, &wishes, 0, &counts);
    progress_end(&showing.progress);
    topology_file_finish(&network);
    if (code == 0)
        print_csv(wish, &counts);
    return code != 0 || is_wrong(&counts.counts) || counts.bad > 0 || counts.broken;
}
