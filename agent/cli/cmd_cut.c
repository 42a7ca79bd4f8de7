/* holter cut, holter merge: copy a part of a recording, join recordings. */
#include "agent/cli/cmd.h"
#include "agent/cli/recording_span.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "daemon/storage/recordings/copy.h"
#include "proto/quantity.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

static const char cut_help[] =
    "usage: holter cut [--from T] [--to T] -o OUT.hrec FILE.hrec\n"
    "\n"
    "Makes a recording of a part of one, which replays as that part.\n"
    "\n"
    "      --from T         begin; default: the begin of the recording\n"
    "      --to T           end; default: its end\n"
    "  -o, --output OUT     the new recording; there must be none of this name\n"
    "  -h, --help           this text\n"
    "\n"
    "T is a time: 2026-11-22T05:00:00Z, 10:05 (UTC), nanoseconds since 1970, 90s from the begin, "
    "-10m before\n"
    "the end, or 40% of the recording. Windows of which a part lies between are in the new one.\n"
    "\n"
    "Status: 0, 1 when it fails, or when what is damaged had to be left out, 2 for wrong usage.\n";

static const char merge_help[] =
    "usage: holter merge -o OUT.hrec FILE.hrec...\n"
    "\n"
    "Makes one recording of several of one job: parts, or recordings that overlap.\n"
    "\n"
    "  -o, --output OUT     the new recording; there must be none of this name\n"
    "  -h, --help           this text\n"
    "\n"
    "Status: 0, 1 when it fails, or when what is damaged had to be left out, 2 for wrong usage.\n";

struct asked {
    const char *command, *output;
    struct recording_span span;
};

static int cmd_cut_set_moment(void *user, const struct command_option *option, const char *value)
{
    struct asked *a = user;
    return recording_span_set(&a->span, a->command, option, value);
}

/* @return -1 to go on, or the exit status */
static int cmd_cut_parse(struct asked *a, int argc, char **argv, const char *help)
{
    const struct command_option options[] = {
        {"output", 'o', .recording = &a->output},
        {0},
    };
    static const struct command_option moments[] = {
        {"from", .set = cmd_cut_set_moment},
        {"to", .set = cmd_cut_set_moment},
        {0},
    };
    const struct command_line line = {a->command, help, options,
                                      .more = help == cut_help ? moments : NULL, .user = a};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (a->output == NULL || optind == argc) {
        terminal_print("%s: expected -o and a recording; see `holter %s --help`", a->command,
                       a->command);
        return 2;
    }
    return -1;
}

/* @return the exit status */
static int cmd_cut_report(const struct asked *a, int code, const struct copy_counts *counts,
                          const char *why)
{
    if (code != 0) {
        terminal_print("%s: %s", a->command, why);
        return 1;
    }
    printf("%s: %s", a->output, quantity_things(counts->messages, "message").text);
    if (counts->twice > 0)
        printf(", %" PRIu64 " that were there twice left out", counts->twice);
    if (counts->missing > 0)
        printf("; %" PRIu64 " between them are in none of the files", counts->missing);
    putchar('\n');
    if (counts->damaged == 0 && counts->lacking == 0 && counts->tables == 0)
        return terminal_flush_output(a->command);
    if (counts->lacking > 0)
        terminal_print("%s: cut short: %" PRIu64
                       " bytes at the end are missing; what can be read is there",
                       a->command, counts->lacking);
    else if (counts->damaged > 0)
        terminal_print("%s: %" PRIu64 " messages could not be read and were left out", a->command,
                       counts->damaged);
    if (counts->lacking == 0 && counts->tables > 0)
        terminal_print("%s: rows of %s could not be read and were left out", a->command,
                       quantity_things(counts->tables, "table").text);
    return 1;
}

int cmd_cut(int argc, char **argv)
{
    struct asked a = {.command = "cut"};
    struct copy_counts counts;
    struct progress progress;
    char why[1200];
    uint64_t from_ns, to_ns;
    int status = cmd_cut_parse(&a, argc, argv, cut_help);
    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        terminal_print("cut: expected one recording; `holter merge` joins several into one");
        return 2;
    }
    const char *path = argv[optind];
    status = recording_span_find(&a.span, "cut", path, &from_ns, &to_ns);
    if (status != 0)
        return status;
    struct unfinished unfinished;
    unfinished_begin(&unfinished, a.output);
    progress_begin(&progress, "cut");
    int code = copy_cut(
        a.output, path, a.span.from == NULL ? 0 : from_ns, a.span.to == NULL ? UINT64_MAX : to_ns,
        &(struct recording_progress){progress_show, &progress}, &counts, why, sizeof(why));
    progress_end(&progress);
    unfinished_end(&unfinished);
    return cmd_cut_report(&a, code, &counts, why);
}

int cmd_merge(int argc, char **argv)
{
    struct asked a = {.command = "merge"};
    struct copy_counts counts;
    struct progress progress;
    char why[1200];
    int status = cmd_cut_parse(&a, argc, argv, merge_help);
    if (status >= 0)
        return status;
    struct unfinished unfinished;
    unfinished_begin(&unfinished, a.output);
    progress_begin(&progress, "merge");
    int code = copy_merge(a.output, (const char *const *)argv + optind, (size_t)(argc - optind),
                          &(struct recording_progress){progress_show, &progress}, &counts, why,
                          sizeof(why));
    progress_end(&progress);
    unfinished_end(&unfinished);
    return cmd_cut_report(&a, code, &counts, why);
}
