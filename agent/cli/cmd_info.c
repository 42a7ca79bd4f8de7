/* holter info: what is in a recording. */
#include "agent/cli/cmd.h"
#include "agent/cli/text/text.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "daemon/storage/recordings/info.h"

#include <getopt.h>
#include <stdlib.h>

static const char help[] =
    "usage: holter info [OPTION]... FILE.hrec...\n"
    "\n"
    "Tells what is in recordings: job, ranks, hosts, span, calls, messages, losses, alerts, size.\n"
    "\n"
    "  -f, --format text|json    one object a line with json\n"
    "      --check               as without: every message is always read whole\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0, 1 when a file cannot be read or is damaged (what can be read is printed), 2 for\n"
    "wrong usage.\n";

/* @return the exit status */
static int cmd_info_print(const char *path, int json)
{
    struct info *info = malloc(sizeof(*info));
    struct progress progress;
    char why[700];
    if (info == NULL) {
        terminal_print("info: no memory");
        return 1;
    }
    progress_begin(&progress, path);
    const struct recording_progress shown = {progress_show, &progress};
    int code = info_read(info, path, &shown, why, sizeof(why));
    progress_end(&progress);
    if (code != 0) {
        terminal_print("info: %s", why);
        free(info);
        return 1;
    }
    if (json)
        info_print_json(stdout, info);
    else
        info_print_text(stdout, info);
    int status = info->damage_count > 0;
    info_finish(info);
    free(info);
    return status;
}

int cmd_info(int argc, char **argv)
{
    int json = 0;
    int checked; /* --check changes nothing: every message is decoded in any case */
    const struct command_option options[] = {
        {"format", 'f', .json = &json},
        {"check", .flag = &checked},
        {0},
    };
    const struct command_line line = {"info", help, .options = options};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    status = 0;
    if (optind == argc) {
        terminal_print("info: expected a recording; see `holter info --help`");
        return 2;
    }
    for (int i = optind; i < argc; i++) {
        if (i > optind && !json)
            fputc('\n', stdout);
        status |= cmd_info_print(argv[i], json);
    }
    return terminal_flush_output("info") != 0 ? 1 : status;
}
