/* holter info: what is in a recording. */
#include "agent/cmd.h"
#include "agent/command_line.h"
#include "agent/info_text.h"
#include "agent/progress.h"
#include "agent/say.h"
#include "daemon/recordings/info.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: holter info [OPTION]... FILE.hrec...\n"
    "\n"
    "Tells what is in recordings: job, ranks, hosts, span, calls, messages, losses, alerts, size.\n"
    "\n"
    "  -f, --format text|json    one object a line with json\n"
    "  -h, --help                this text\n"
    "\n"
    "Status: 0, 1 when a file cannot be read or is damaged (what can be read is told), 2 for "
    "wrong\n"
    "usage.\n";

static const struct option long_options[] = {
    {"format", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void show(void *user, double share)
{
    progress_show(user, share);
}

/* @return the exit status */
static int tell(const char *path, int json)
{
    struct info *info = malloc(sizeof(*info));
    struct progress progress;
    char why[700];
    if (info == NULL) {
        say("info: no memory");
        return 1;
    }
    progress_begin(&progress, path);
    int code = info_read(info, path, show, &progress, why, sizeof(why));
    progress_end(&progress);
    if (code != 0) {
        say("info: %s", why);
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

static int set_option(void *user, int option, const char *value)
{
    int *json = user;
    (void)option;
    *json = strcmp(value, "json") == 0;
    return *json || strcmp(value, "text") == 0 ? 0 : command_line_wrong("info", "format", value);
}

int cmd_info(int argc, char **argv)
{
    int json = 0;
    const struct command_line line = {"info", help, "f:h", long_options, set_option, &json};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    status = 0;
    if (optind == argc) {
        say("info: which recording? `holter info --help` tells more");
        return 2;
    }
    for (int i = optind; i < argc; i++) {
        if (i > optind && !json)
            fputc('\n', stdout);
        status |= tell(argv[i], json);
    }
    return fflush(stdout) != 0 ? 1 : status;
}
