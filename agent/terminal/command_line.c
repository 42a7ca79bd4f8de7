/* Reads options by getopt_long(3) and prints errors of usage. */
#include "agent/terminal/command_line.h"

#include "agent/terminal/terminal_message.h"

#include <stdio.h>
#include <string.h>

int command_line_wrong(const char *command, const char *option, const char *value)
{
    terminal_print("%s: --%s cannot be '%s'; see `holter %s --help`", command, option, value,
                   command);
    return 2;
}

int command_line_format(const char *command, const char *value, int *json)
{
    *json = strcmp(value, "json") == 0;
    return *json || strcmp(value, "text") == 0 ? 0 : command_line_wrong(command, "format", value);
}

int command_line_recording(const char *command, const char *value)
{
    if (value[0] == '\0')
        return command_line_wrong(command, "output", value);
    if (strcmp(value, "-") != 0)
        return 0;
    terminal_print("%s: --output: '-' is not a file: a recording cannot be written to standard "
                   "output",
                   command);
    return 2;
}

int command_line_append(const char *command, char *words, size_t size, const char *name,
                        const char *value)
{
    size_t used = strlen(words), left = size - used;
    if (strchr(value, ' ') != NULL)
        return command_line_wrong(command, name, value);
    if ((size_t)snprintf(words + used, left, "%s%s=%s", used == 0 ? "" : " ", name, value) < left)
        return 0;
    terminal_print("%s: --%s is too long: %zu characters are left for it", command, name, left);
    return 2;
}

int command_line_read(const struct command_line *line, int argc, char **argv)
{
    optind = 0; /* glibc: reset getopt, which may have parsed other options before (getopt(3)) */
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

int command_line_read_one(const struct command_line *line, int argc, char **argv, const char *what,
                          const char **argument)
{
    int status = command_line_read(line, argc, argv);
    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        terminal_print("%s: expected %s; see `holter %s --help`", line->command, what,
                       line->command);
        return 2;
    }
    *argument = argv[optind];
    return -1;
}
