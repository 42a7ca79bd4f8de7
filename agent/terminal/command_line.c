/* Reads the options of a command and prints errors of usage. */
#include "agent/terminal/command_line.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "proto/help_text.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int command_line_wrong(const char *command, const char *option, const char *value)
{
    terminal_print("%s: --%s cannot be '%s'; see `holter %s --help`", command, option, value,
                   command);
    return 2;
}

/* Check that --output names a file in which a recording can be written.
 *  @return 0, or the exit status 2 after printing an error */
static int command_line_recording(const char *command, const char *value)
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

int command_line_append_number(const char *command, char *words, size_t size, const char *name,
                               uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return command_line_append(command, words, size, name, text);
}

#define HELP_ASKED 256 /* not an exit status */

static int command_line_ask_help(void *user, const struct command_option *option, const char *value)
{
    (void)user;
    (void)option;
    (void)value;
    return HELP_ASKED;
}

static bool command_line_is_strict(const int *const strict[2])
{
    return (strict[0] != NULL && *strict[0]) || (strict[1] != NULL && *strict[1]);
}

int command_line_leave_out(const char *command, const int *const strict[2], const char *why)
{
    if (command_line_is_strict(strict)) {
        terminal_print("%s: %s (see `holter %s --help`)", command, why, command);
        return 2;
    }
    terminal_print("%s: continuing without it: %s", command, why);
    return 0;
}

static void command_line_explain(const struct command_option_end *end, char *why, size_t capacity)
{
    if (end->option == NULL)
        command_option_explain(end, why, capacity);
    else
        snprintf(why, capacity, "--%s cannot be '%s'", end->option->name, end->word);
}

/* Whether the word after an unknown option may be its value: it is not a program, and further words
 * follow, which may begin with one. */
static bool command_line_is_value(char **words)
{
    char program[PATH_MAX];
    return words[0] != NULL && words[0][0] != '-' && words[1] != NULL &&
           paths_search(program, sizeof program, words[0], getenv("PATH")) != 0;
}

/* Remove the option at which reading ended, and its value, from the words. */
static void command_line_remove(char **argv, const struct command_option_end *end)
{
    bool apart = end->option != NULL && end->word == argv[optind - 1];
    int first = optind - 1 - apart, count = 1 + apart;
    if (end->word == argv[optind]) /* an unknown letter among others */
        first = optind;
    if (end->fault == COMMAND_OPTION_UNKNOWN && strchr(end->word, '=') == NULL)
        count += command_line_is_value(argv + first + count);
    char **to = argv + first, **from = to + count;
    while ((*to++ = *from++) != NULL)
        ;
}

/* Read what can be read: each option that cannot is removed, and reading begins again.
 * @param argv  its words are removed @return as command_options_read() */
static int command_line_read_rest(const struct command_line *line,
                                  const struct command_option *const tables[], char **argv,
                                  bool quiet)
{
    struct command_option_end end;
    char why[300];
    for (;;) {
        int argc = 0;
        while (argv[argc] != NULL)
            argc++;
        int status = command_options_read(tables, line->stops, line->user, argc, argv, &end);
        if (status != COMMAND_OPTIONS_REFUSED)
            return status;
        command_line_explain(&end, why, sizeof why);
        if (!quiet && command_line_leave_out(line->command, line->strict, why) != 0)
            return 2;
        command_line_remove(argv, &end);
    }
}

/* The first reading finds out only whether a fault is to be refused, wherever that is said. */
static int command_line_read_job(const struct command_line *line,
                                 const struct command_option *const tables[], int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words != NULL) {
        memcpy(words, argv, (size_t)argc * sizeof *words);
        command_line_read_rest(line, tables, words, true);
        free(words);
    }
    return command_line_read_rest(line, tables, argv, false);
}

int command_line_read(const struct command_line *line, int argc, char **argv)
{
    static const struct command_option help[] = {
        {"help", 'h', .set = command_line_ask_help, .bare = true}, {0}};
    const struct command_option *const tables[] = {help, line->options, line->more, NULL};
    struct command_option_end end;
    char why[300];
    int status = line->strict[0] != NULL
                     ? command_line_read_job(line, tables, argc, argv)
                     : command_options_read(tables, line->stops, line->user, argc, argv, &end);
    if (status == HELP_ASKED)
        return help_text_print(stdout, line->help) != 0;
    if (status != COMMAND_OPTIONS_REFUSED)
        return status;
    if (end.option != NULL && end.option->recording)
        return command_line_recording(line->command, end.word);
    if (end.option != NULL)
        return command_line_wrong(line->command, end.option->name, end.word);
    command_line_explain(&end, why, sizeof why);
    terminal_print("%s: %s (see `holter %s --help`)", line->command, why, line->command);
    return 2;
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
