/* Reads the options of a command and prints errors of usage. */
#include "agent/terminal/command_line.h"

#include "agent/terminal/terminal.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

int command_line_wrong(const char *command, const char *option, const char *value)
{
    terminal_print("%s: --%s cannot be '%s'; see `holter %s --help`", command, option, value,
                   command);
    return 2;
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

#define HELP_ASKED 256 /* not an exit status */

static int command_line_ask_help(void *user, const struct command_option *option, const char *value)
{
    (void)user;
    (void)option;
    (void)value;
    return HELP_ASKED;
}

int command_line_read(const struct command_line *line, int argc, char **argv)
{
    static const struct command_option help[] = {
        {"help", 'h', .set = command_line_ask_help, .bare = true}, {0}};
    const struct command_option *const tables[] = {help, line->options, line->more, NULL};
    struct command_option_end end;
    int status = command_options_read(tables, line->stops, line->user, argc, argv, &end);
    if (status == HELP_ASKED)
        return fputs(line->help, stdout) < 0;
    if (status != COMMAND_OPTIONS_REFUSED)
        return status;
    if (end.option == NULL) /* getopt_long(3) has printed it */
        return 2;
    if (end.option->recording)
        return command_line_recording(line->command, end.word);
    return command_line_wrong(line->command, end.option->name, end.word);
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
