#include "agent/terminal/command_line.h"

#include "agent/terminal/terminal_message.h"

#include <stdio.h>
#include <string.h>

int command_line_wrong(const char *command, const char *option, const char *value)
{
    terminal_print("%s: --%s cannot be '%s'; `holter %s --help` tells more", command, option, value,
                   command);
    return 2;
}

int command_line_recording(const char *command, const char *value)
{
    if (value[0] == '\0')
        return command_line_wrong(command, "output", value);
    if (strcmp(value, "-") != 0)
        return 0;
    terminal_print("%s: --output: '-' is no file: a recording cannot be written to standard output",
                   command);
    return 2;
}

int command_line_read(const struct command_line *line, int argc, char **argv)
{
    optind = 0; /* glibc: start anew, options were parsed before (getopt(3)) */
    for (int option; (option = getopt_long(argc, argv, line->letters, line->names, NULL)) != -1;) {
        if (option == 'h') {
            fputs(line->help, stdout);
            return 0;
        }
        int status = option == '?' ? 2 : line->set(line->user, option, optarg);
        if (status != 0)
            return status;
    }
    return -1;
}
