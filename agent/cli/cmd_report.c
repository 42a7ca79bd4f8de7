/* holter report: writes a recording as one HTML file. */
#include "agent/cli/cmd.h"
#include "agent/cli/report_extras.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "agent/terminal/unfinished_output.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter report [OPTION]... RECORDING\n"
    "\n"
    "Writes one HTML file that needs nothing else: alerts with their causes, CommGram, latency,\n"
    "time in MPI, hot links, a better mapping, who sends to whom, calls, ranks, and pictures of\n"
    "the viewer.\n"
    "\n"
    "  -o, --output FILE   default: report.html; -: standard output\n"
    "      --topology T    network under the job, as a file or short form; default: as recorded\n"
    "      --no-pictures   without pictures of the viewer\n"
    "      --no-advice     without the search for a better mapping\n"
    "  -h, --help          this text\n"
    "\n"
    "Results that the recording lacks, because it was imported or --topology gives another\n"
    "network, are computed by a replay.\n"
    "\n"
    "Status: 0, 1 when something failed, 2 for wrong usage.\n";

struct reporting {
    const char *recording, *output, *topology;
    int no_pictures, no_advice;
    char analysed[400]; /* recording with the results of a replay; "": the recording has them */
    char state[24];     /* of the job, where the results are those of a replay */
    struct private_replay replay;
    struct report_picture pictures[REPORT_PICTURES];
    size_t picture_count;
    struct report_advice advice;
    struct export_source source;
    struct content content;
};

/* ---- contents ------------------------------------------------------------------------ */

static int cmd_report_open_source(struct reporting *r)
{
    struct progress progress;
    const struct recording_progress shown = {progress_show, &progress};
    char why[600];
    int code = tables_open(&r->source.tables, r->recording, why, sizeof(why));
    if (code != 0) {
        terminal_print("report: %s: %s", r->recording, why);
        return 1;
    }
    const struct content_options options = {.progress = &shown};
    progress_begin(&progress, "report");
    code = content_read(&r->content, r->recording, &options, why, sizeof(why));
    progress_end(&progress);
    if (code != 0) {
        terminal_print("report: %s", why);
        return 1;
    }
    r->source.path = r->recording;
    r->source.content = &r->content;
    return 0;
}

/* Does the recording lack results, or results for this network? */
static int cmd_report_lacks_results(const struct reporting *r)
{
    return r->topology != NULL ||
           tables_number(r->source.tables, "SELECT count(*) FROM totals", 0) <= 0;
}

static int cmd_report_replay(struct reporting *r)
{
    int lacking = cmd_report_lacks_results(r);
    char why[600];
    if (!lacking && r->no_pictures)
        return 0;
    r->replay = (struct private_replay){
        .command = "report", .recording = r->recording, .topology = r->topology};
    int status = private_replay_start(&r->replay, lacking ? r->analysed : NULL);
    if (status != 0)
        return lacking ? status : 0; /* the report has no pictures then */
    if (!r->no_pictures) {
        int captures =
            tables_number(r->source.tables, "SELECT count(*) FROM capture_events", 0) > 0;
        r->picture_count = report_pictures(&r->replay, captures, r->pictures);
    }
    if (!lacking)
        return 0;
    tables_text(r->source.tables, "SELECT state FROM job", r->state, sizeof(r->state));
    tables_close(r->source.tables);
    r->source.tables = NULL;
    int code = tables_open(&r->source.tables, r->analysed, why, sizeof(why));
    if (code == 0)
        return 0;
    terminal_print("report: the results of the replay: %s", why);
    return 1;
}

static int cmd_report_write(struct reporting *r, FILE *out, const char *name)
{
    struct report_extras extras = {
        .pictures = r->pictures,
        .picture_count = r->picture_count,
        .measures = r->advice.measures,
        .measure_count = r->advice.count,
        .mapping_network = r->advice.network,
        .mapping_command = r->advice.command,
        .mapping_none = r->advice.none[0] != '\0' ? r->advice.none : NULL,
        .state = r->state,
    };
    errno = 0;
    int code = report_write(out, &r->source, &extras);
    if (code != 0)
        terminal_print("report: %s: %s", code == -EIO ? name : r->recording,
                       code == -EIO && errno != 0 ? strerror(errno) : holter_strerror(code));
    return code != 0;
}

/* @return exit status */
static int cmd_report_gather(struct reporting *r)
{
    int status = cmd_report_open_source(r);
    status = status != 0 ? status : cmd_report_replay(r);
    if (status == 0 && !r->no_advice)
        report_advise(&r->advice, r->analysed[0] != '\0' ? r->analysed : r->recording, r->recording,
                      r->topology);
    return status;
}

/* The output is opened first, so that errors are reported before the recording is read. */
static int cmd_report_write_file(struct reporting *r)
{
    struct output_file output;
    int code = output_file_open(&output, r->output);
    if (code != 0) {
        terminal_print("report: %s: %s", r->output, strerror(-code));
        return 1;
    }
    int status = cmd_report_gather(r);
    if (status == 0)
        status = cmd_report_write(r, output.file,
                                  strcmp(r->output, "-") == 0 ? "standard output" : r->output);
    code = output_file_close(&output, status == 0);
    if (status == 0 && code != 0)
        terminal_print("report: %s: %s", r->output, strerror(-code));
    return status != 0 || code != 0;
}

/* ---- command line --------------------------------------------------------------------- */

/* @return -1 to go on, or the exit status */
static int cmd_report_parse(struct reporting *r, int argc, char **argv)
{
    const struct command_option options[] = {
        {"output", 'o', .text = &r->output},
        {"topology", .text = &r->topology},
        {"no-pictures", .flag = &r->no_pictures},
        {"no-advice", .flag = &r->no_advice},
        {0},
    };
    const struct command_line line = {"report", help, .options = options};
    int status = command_line_read_one(&line, argc, argv, "one recording", &r->recording);
    if (status >= 0)
        return status;
    if (output_is_same_file(r->recording, r->output)) {
        terminal_print("report: %s is the recording itself", r->output);
        return 2;
    }
    return -1;
}

int cmd_report(int argc, char **argv)
{
    struct reporting r = {.output = "report.html"};
    int status = cmd_report_parse(&r, argc, argv);
    if (status >= 0)
        return status;
    status = cmd_report_write_file(&r);
    for (size_t i = 0; i < r.picture_count; i++)
        free((void *)r.pictures[i].png);
    content_finish(&r.content);
    tables_close(r.source.tables);
    private_replay_stop(&r.replay);
    return status;
}
