/* Reads the options of a command line by getopt_long(3). */
#include "proto/command_option.h"

#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/quantity.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- "did you mean" ---- */

#define LONGEST 40 /* longer words are not near to any */

static size_t near_word_minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Distance of two words: insertions, deletions, substitutions and exchanges of neighbours (Damerau,
 * A technique for computer detection and correction of spelling errors, CACM 7(3), 1964, in the
 * form known as optimal string alignment). */
static size_t near_word_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], length = strlen(a), other = strlen(b);
    if (length > LONGEST || other > LONGEST)
        return length + other;
    for (size_t j = 0; j <= other; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= other; j++) {
            row[j] = near_word_minimum(above[j], row[j - 1]) + 1;
            row[j] = near_word_minimum(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = near_word_minimum(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[length % 3][other];
}

void near_word_try(struct near_word *near, const char *candidate)
{
    size_t distance = near_word_distance(near->word, candidate);
    size_t length = strlen(near->word);
    size_t maximum = length < 3 ? 1 : (length + 1) / 3; /* a third of the letters may be wrong */
    if (distance > maximum || (near->best != NULL && distance >= near->distance))
        return;
    near->best = candidate;
    near->distance = distance;
}

/* ---- options ---- */

int command_option_number(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t value;
    const char *end = text_number(text, most, &value);
    if (end == NULL || *end != '\0')
        return -1;
    *out = value;
    return 0;
}

static int command_option_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(*out) ? -1 : 0;
}

static int command_option_word(const char *const *words, const char *value, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return 0;
        }
    }
    return -1;
}

/* Parse a number, and check its bounds. @return 0 or -1 */
static int command_option_set_number(const struct command_option *o, const char *value)
{
    uint64_t *whole = o->number        ? o->number
                      : o->bytes       ? o->bytes
                      : o->duration_ns ? o->duration_ns
                                       : o->seconds_ns;
    double real = 0;
    int code = o->number        ? command_option_number(value, UINT64_MAX, whole)
               : o->bytes       ? quantity_parse_bytes(value, whole)
               : o->duration_ns ? quantity_parse_duration(value, whole)
                                : command_option_real(value, &real);
    if (code != 0 || (o->duration_ns && *whole > INT64_MAX))
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

/* Set the value of an option. @return as command_option.set */
static int command_option_set(const struct command_option *o, void *user, const char *value)
{
    static const char *const formats[] = {"text", "json", NULL};
    if (o->set)
        return o->set(user, o, value);
    if (o->json)
        return command_option_word(formats, value, o->json);
    if (o->word)
        return command_option_word(o->words, value, o->word);
    if (o->flag)
        *o->flag = 1;
    else if (o->text)
        *o->text = value;
    else if (o->recording)
        return *(*o->recording = value) == '\0' || strcmp(value, "-") == 0 ? -1 : 0;
    else
        return command_option_set_number(o, value);
    return 0;
}

/* Print each option for the shell's completion as "--output -o any": its names (the long one twice
 * if it has no letter) and its values: "none", "any" or words separated by commas. */
static void command_options_list(const struct command_option *options)
{
    static const char *const formats[] = {"text", "json", NULL};
    for (const struct command_option *o = options; o->name; o++) {
        const char *const *words = o->json ? formats : o->word ? o->words : NULL;
        printf("--%s ", o->name);
        if (o->letter)
            printf("-%c ", o->letter);
        else
            printf("--%s ", o->name);
        for (int i = 0; words && words[i]; i++)
            printf("%s%s", i == 0 ? "" : ",", words[i]);
        puts(words ? "" : o->flag || o->bare ? "none" : "any");
    }
}

/* All options of several tables, as getopt_long(3) has them. */
struct command_option_names {
    const struct command_option *options[COMMAND_OPTIONS];
    struct option names[COMMAND_OPTIONS + 1];
    char letters[2 * COMMAND_OPTIONS + 3];
    int count;
};

static void command_option_collect(struct command_option_names *n,
                                   const struct command_option *const tables[], bool stops)
{
    *n = (struct command_option_names){.count = 0};
    char *letter = n->letters + sprintf(n->letters, stops ? "+:" : ":");
    for (int t = 0; tables[t]; t++) {
        for (const struct command_option *o = tables[t]; o->name; o++, n->count++) {
            assert(n->count < COMMAND_OPTIONS);
            int bare = o->flag || o->bare;
            n->options[n->count] = o;
            n->names[n->count] = (struct option){o->name, bare ? no_argument : required_argument,
                                                 NULL, o->letter ? o->letter : 256 + n->count};
            if (o->letter)
                letter += sprintf(letter, "%c%s", o->letter, bare ? "" : ":");
        }
    }
}

/* Find out why getopt_long(3) refused an option: if optopt names it, its value is missing or not
 * allowed; if optopt is 0, it is a long option that is unknown or ambiguous. */
static void command_option_diagnose(const struct command_option_names *n, int value, char **argv,
                                    struct command_option_end *end)
{
    const char *word = end->word = argv[optind - 1], *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");
    int begun = 0;
    end->fault = value == ':'  ? COMMAND_OPTION_MISSING
                 : optopt == 0 ? COMMAND_OPTION_UNKNOWN
                               : COMMAND_OPTION_BARE;
    for (int i = 0; i < n->count && optopt != 0; i++)
        if (n->names[i].val == optopt)
            end->near = n->options[i];
    if (optopt != 0 && end->near == NULL) { /* a letter, of which several may stand in a word */
        end->fault = COMMAND_OPTION_UNKNOWN;
        if (word[0] != '-' || word[1] == '-' || strchr(word, optopt) == NULL)
            end->word = argv[optind];
    }
    if (optopt != 0)
        return;
    char written[64];
    snprintf(written, sizeof written, "%.*s", (int)length, name);
    struct near_word near = {.word = written};
    for (int i = 0; i < n->count; i++) {
        begun += strncmp(n->names[i].name, name, length) == 0;
        near_word_try(&near, n->names[i].name);
        if (near.best == n->names[i].name)
            end->near = n->options[i];
    }
    if (begun > 1)
        end->fault = COMMAND_OPTION_AMBIGUOUS;
}

void command_option_explain(const struct command_option_end *end, char *why, size_t capacity)
{
    const char *near = end->near == NULL ? "" : end->near->name;
    size_t length = strcspn(end->word, "=");
    switch (end->fault) {
    case COMMAND_OPTION_MISSING:
        snprintf(why, capacity, "option '--%s' needs a value", near);
        break;
    case COMMAND_OPTION_BARE:
        snprintf(why, capacity, "option '--%s' takes no value", near);
        break;
    case COMMAND_OPTION_AMBIGUOUS:
        snprintf(why, capacity, "option '%.*s' is ambiguous", (int)length, end->word);
        break;
    case COMMAND_OPTION_VALUE:
    case COMMAND_OPTION_UNKNOWN:
        snprintf(why, capacity, "unknown option '%.*s'%s%s%s", (int)length, end->word,
                 near[0] == '\0' ? "" : "; did you mean '--", near, near[0] == '\0' ? "" : "'?");
        break;
    }
}

int command_options_read(const struct command_option *const tables[], bool stops, void *user,
                         int argc, char **argv, struct command_option_end *end)
{
    struct command_option_names n;
    if (argc == 2 && strcmp(argv[1], COMMAND_OPTIONS_LIST) == 0) {
        for (int t = 0; tables[t]; t++)
            command_options_list(tables[t]);
        exit(fflush(stdout) != 0);
    }
    command_option_collect(&n, tables, stops);
    opterr = 0;
    optind = 0; /* glibc: reset getopt, which may have parsed other options before (getopt(3)) */
    for (int value; (value = getopt_long(argc, argv, n.letters, n.names, NULL)) != -1;) {
        int at = 0;
        *end = (struct command_option_end){.option = NULL};
        if (value == '?' || value == ':') {
            command_option_diagnose(&n, value, argv, end);
            return COMMAND_OPTIONS_REFUSED;
        }
        while (n.names[at].val != value)
            at++;
        end->option = n.options[at];
        end->word = optarg;
        int status = command_option_set(end->option, user, optarg);
        if (status != 0)
            return status < 0 ? COMMAND_OPTIONS_REFUSED : status;
    }
    return COMMAND_OPTIONS_READ;
}

/* The option of a word "name=value", or the end of the table. */
static const struct command_option *command_option_of(const struct command_option *options,
                                                      const char *word)
{
    size_t length = strcspn(word, "=");
    while (options->name && (word[length] == '\0' || strlen(options->name) != length ||
                             memcmp(options->name, word, length) != 0))
        options++;
    return options;
}

int command_words_read(const char *request, const struct command_option *options, void *user,
                       const char *argument, char *why, size_t capacity)
{
    char names[200] = "", *rest;
    char *copy = strdup(argument ? argument : "");
    int status = copy ? 0 : ENOMEM;
    snprintf(why, capacity, "no memory");
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word && status == 0;
         word = strtok_r(NULL, " ", &rest)) {
        const struct command_option *o = command_option_of(options, word);
        status = o->name ? command_option_set(o, user, strchr(word, '=') + 1) : -1;
        for (const struct command_option *each = options; !o->name && each->name; each++)
            snprintf(strchr(names, '\0'), sizeof names - strlen(names), "%s%s=",
                     each == options ? ""
                     : each[1].name  ? ", "
                                     : " or ",
                     each->name);
        if (status < 0)
            snprintf(why, capacity, "%s: '%.60s': expected %s", request, word,
                     o->name ? o->expected : names);
    }
    free(copy);
    return status < 0 ? -HOLTER_EUSAGE : -status;
}
