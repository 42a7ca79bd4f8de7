/* holter keys: makes the CURVE keys of a daemon, and copies those of one role. */
#include "agent/cli/cmd.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "proto/curve_keys.h"

#include <errno.h>
#include <stdio.h>

static const char keys_help[] =
    "usage: holter keys [--for ROLE -o NEW | --user NAME -o NEW] DIR\n"
    "\n"
    "Makes the CURVE keys of a daemon in DIR, unless they are there already: one pair each for\n"
    "the daemon, for agents, viewers and operators. DIR is open to its owner alone.\n"
    "\n"
    "      --for ROLE       copy the keys of agent, viewer or operator from DIR, for somebody who\n"
    "                       has that role alone\n"
    "      --user NAME      make keys of an agent and a viewer for the user NAME, who sees with\n"
    "                       them the jobs of this user only; after the first user, restart the\n"
    "                       daemon\n"
    "  -o, --output NEW     the directory for them; it is made\n"
    "  -h, --help           this text\n"
    "\n"
    "  holter keys ~/keys && holterd --listen tcp://0.0.0.0:7000 --keys ~/keys\n"
    "  holter keys --for viewer -o ~/viewer ~/keys && holter view --keys ~/viewer\n"
    "\n"
    "Status: 0, 1 when it fails, 2 for wrong usage.\n";

/* Can the keys of a role be read there? If not, a failure is of this directory, else of the new
 * one. */
static int cmd_keys_has(const char *directory, enum role role)
{
    struct curve_keys keys;
    int code = curve_load(directory, role, &keys);
    curve_wipe(&keys);
    return code == 0;
}

int cmd_keys(int argc, char **argv)
{
    static const char *const words[] = {"agent", "viewer", "operator", NULL};
    static const enum role roles[] = {ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR};
    const char *output = NULL, *user = NULL, *directory;
    int word = -1;
    const struct command_option options[] = {
        {"for", .word = &word, .words = words, .expected = "agent, viewer or operator"},
        {"user", .text = &user},
        {"output", 'o', .text = &output},
        {0},
    };
    const struct command_line line = {"keys", keys_help, .options = options};
    int status = command_line_read_one(&line, argc, argv, "one directory", &directory);
    if (status >= 0)
        return status;
    if ((word >= 0) + (user != NULL) != (output != NULL)) {
        terminal_print("keys: --output NEW goes together with either --for ROLE or --user NAME");
        return 2;
    }
    int code = user != NULL ? curve_make_user(directory, user, output)
               : word >= 0  ? curve_copy(directory, roles[word], output)
                            : curve_make(directory);
    const char *made = output != NULL ? output : directory;
    const enum role needed = word >= 0 ? roles[word] : ROLE_SERVER;
    if (code == -HOLTER_EUSAGE) {
        terminal_print("keys: '%s' cannot be the name of a user", user);
        return 2;
    }
    if (code != 0) {
        terminal_print("keys: %s: %s", cmd_keys_has(directory, needed) ? made : directory,
                       code == -EEXIST && output == NULL
                           ? "it holds other files, or only some of the keys"
                           : holter_strerror(code));
        return 1;
    }
    if (user != NULL)
        printf("%s: keys of an agent and a viewer of %s\n", made, user);
    else
        printf("%s: keys of %s\n", made,
               word >= 0 ? words[word] : "the daemon, agents, viewers and operators");
    return 0;
}
