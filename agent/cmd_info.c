/* holter info: what is in a recording. */
#include "agent/cmd.h"
#include "agent/info_text.h"
#include "agent/progress.h"
#include "agent/say.h"
#include "daemon/recordings/info.h"

#include <getopt.h>
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

int cmd_info(int argc, char **argv)
{
    int json = 0, status = 0;
    optind = 0; /* glibc: start anew, options were parsed before (getopt(3)) */
    for (int option; (option = getopt_long(argc, argv, "f:h", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option == 'f' && (strcmp(optarg, "json") == 0 || strcmp(optarg, "text") == 0)) {
            json = optarg[0] == 'j';
            continue;
        }
        if (option == 'f')
            say("info: --format is text or json, not '%s'", optarg);
        return 2;
    }
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
