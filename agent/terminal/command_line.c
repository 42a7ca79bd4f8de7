/* Reads options by getopt_long(3) and prints errors of usage. */
#include "agent/terminal/command_line.h"

#include "agent/terminal/terminal.h"
#include "proto/quantity.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

int command_line_number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > most)
        return -1;
    *out = value;
    return 0;
}

static int command_line_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(*out) ? -1 : 0;
}

static int command_line_word(const char *const *words, const char *value, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return 0;
        }
    }
    return -1;
}

/* Numbers, which have bounds. @return 0, or -1 if it is none within them */
static int command_line_set_number(const struct command_option *o, const char *value)
{
    uint64_t *whole = o->number        ? o->number
                      : o->bytes       ? o->bytes
                      : o->duration_ns ? o->duration_ns
                                       : o->seconds_ns;
    double real = 0;
    int code = o->number        ? command_line_number(value, UINT64_MAX, whole)
               : o->bytes       ? quantity_parse_bytes(value, whole)
               : o->duration_ns ? quantity_parse_duration(value, whole)
                                : command_line_real(value, &real);
    if (code != 0)
        return -1;
    if (o->seconds_ns)
        *whole = (uint64_t)llround(real * 1e9);
    else if (o->real)
        *o->real = real;
    else
        real = (double)*whole;
    if (o->seconds_ns && (*whole == 0 || real >= 1e9))
        return -1;
    return real >= o->least && (o->most == 0 || real <= o->most) ? 0 : -1;
}

/* @return as struct command_option's set */
static int command_line_set(const struct command_line *line, const struct command_option *o,
                            const char *value)
{
    static const char *const formats[] = {"text", "json", NULL};
    if (o->set)
        return o->set(line->user, o, value);
    if (o->flag)
        *o->flag = 1;
    else if (o->text)
        *o->text = value;
    else if (o->recording)
        return command_line_recording(line->command, *o->recording = value);
    else if (o->json)
        return command_line_word(formats, value, o->json);
    else if (o->word)
        return command_line_word(o->words, value, o->word);
    else
        return command_line_set_number(o, value);
    return 0;
}

int command_line_read(const struct command_line *line, int argc, char **argv)
{
    const struct command_option *tables[] = {line->options, line->more},
                                *options[COMMAND_LINE_OPTIONS];
    struct option names[COMMAND_LINE_OPTIONS + 2] = {{"help", no_argument, NULL, 'h'}};
    char letters[2 * COMMAND_LINE_OPTIONS + 3];
    char *letter = letters + sprintf(letters, line->stops ? "+h" : "h");
    int count = 0;
    for (int t = 0; t < 2; t++) {
        for (const struct command_option *o = tables[t]; o && o->name; o++, count++) {
            assert(count < COMMAND_LINE_OPTIONS);
            int bare = o->flag || o->bare;
            options[count] = o;
            names[count + 1] =
                (struct option){o->name, bare ? no_argument : required_argument, NULL, 256 + count};
            if (o->letter) {
                names[count + 1].val = o->letter;
                letter += sprintf(letter, "%c%s", o->letter, bare ? "" : ":");
            }
        }
    }
    optind = 0; /* glibc: reset getopt, which may have parsed other options before (getopt(3)) */
    for (int value; (value = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        int at = 0, status = 2;
        if (value == 'h') {
            fputs(line->help, stdout);
            return 0;
        }
        while (value != '?' && names[at + 1].val != value)
            at++;
        if (value != '?')
            status = command_line_set(line, options[at], optarg);
        if (status < 0)
            status = command_line_wrong(line->command, options[at]->name, optarg);
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
