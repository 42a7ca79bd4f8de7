/* holter replay: a daemon that replays a recording, in the foreground. */
#include "agent/cmd.h"
#include "agent/paths.h"
#include "agent/say.h"
#include "holter/error.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: holter replay [OPTION]... FILE\n"
    "\n"
    "Replays a recording as fast as it goes, and serves its job until stopped: holter view, top, "
    "tap and\n"
    "commgram show it as they show a running one.\n"
    "\n"
    "  -c, --connect ENDPOINT  where to serve it, tcp://HOST:PORT or ipc:///PATH; otherwise "
    "HOLTER_DAEMON, or\n"
    "                          the user's run directory\n"
    "      --keys DIR          CURVE keys, for endpoints that other hosts can reach\n"
    "      --rules FILE        alert rules to judge it by, instead of the usual ones\n"
    "      --topology NETWORK  network under the job, a file, short form or cart, instead of "
    "the recorded one\n"
    "\n"
    "Status: that of holterd(1); 2 for wrong usage.\n";

#define MOST_ARGUMENTS 32

enum { OPT_KEYS = 256, OPT_RULES, OPT_TOPOLOGY };

static const struct option long_options[] = {
    {"connect", required_argument, NULL, 'c'},
    {"keys", required_argument, NULL, OPT_KEYS},
    {"rules", required_argument, NULL, OPT_RULES},
    {"topology", required_argument, NULL, OPT_TOPOLOGY},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int cmd_replay(int argc, char **argv)
{
    static char replay[] = "--replay", listen[] = "--listen", keys[] = "--keys",
                rules[] = "--rules", topology[] = "--topology";
    char program[PATH_MAX];
    char *arguments[MOST_ARGUMENTS] = {program, replay, NULL};
    int count = 3, option;
    optind = 0; /* glibc: start anew, options were parsed before (getopt(3)) */
    while ((option = getopt_long(argc, argv, "c:h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option == '?')
            return 2;
        if (count + 2 >= MOST_ARGUMENTS) {
            say("replay: too many options");
            return 2;
        }
        arguments[count++] = option == 'c'         ? listen
                             : option == OPT_KEYS  ? keys
                             : option == OPT_RULES ? rules
                                                   : topology;
        arguments[count++] = optarg;
    }
    if (optind + 1 != argc) {
        say("replay: one recording is wanted; `holter replay --help` tells more");
        return 2;
    }
    arguments[2] = argv[optind];
    int rc = paths_program(program, sizeof program, "holterd");
    if (rc < 0) {
        say("replay: holterd is not installed beside holter: %s", holter_strerror(rc));
        return 1;
    }
    execv(program, arguments);
    say("replay: %s: %s", program, strerror(errno));
    return 1;
}
