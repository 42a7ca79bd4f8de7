/* Options of command lines, and words of requests, as a table that says where each value goes; and
 * which word was meant. */
#ifndef HOLTER_PROTO_COMMAND_OPTION_H
#define HOLTER_PROTO_COMMAND_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One option. One of the pointers is set; it says what value is expected and where it goes. Values
 *  that are not expected are refused. */
struct command_option {
    const char *name; /**< long name; NULL ends a table */
    char letter;      /**< short name; 0: none */

    int *flag;              /**< takes no value; set to 1 */
    const char **text;      /**< borrowed from the command line */
    const char **recording; /**< a file in which a recording can be written: not "-" */
    int *json;              /**< 1 for "json", 0 for "text" */
    int *word;              /**< position in words */
    uint64_t *number;       /**< a whole number from least to most */
    double *real;           /**< a number from least to most */
    uint64_t *seconds_ns;   /**< "2.5"; stored as nanoseconds, above 0 */
    uint64_t *duration_ns;  /**< see quantity_parse_duration(); nanoseconds from least to most */
    uint64_t *bytes;        /**< see quantity_parse_bytes(); from least to most */

    const char *const *words; /**< ended by NULL */
    double least, most;       /**< most 0: no limit */
    const char *expected;     /**< for errors: the values that are expected; NULL: not said */

    /** Set instead of a pointer: handles the value itself. @param value  NULL if bare
     *  @return 0, -1 if the value is not expected, or a number above 0, which ends the reading */
    int (*set)(void *user, const struct command_option *option, const char *value);
    bool bare; /**< of set: the option takes no value */
};

#define COMMAND_OPTIONS 40 /**< most in all tables together */

enum command_option_fault {
    COMMAND_OPTION_VALUE,     /**< its value is not expected, or `set` has ended the reading */
    COMMAND_OPTION_UNKNOWN,   /**< there is no such option */
    COMMAND_OPTION_AMBIGUOUS, /**< the begin of several options */
    COMMAND_OPTION_MISSING,   /**< its value is missing */
    COMMAND_OPTION_BARE,      /**< it takes no value, but has one */
};

/** Where reading ended. */
struct command_option_end {
    const struct command_option *option; /**< NULL: its value was not read */
    const char *word;                    /**< its value; without one, the option as written */
    enum command_option_fault fault;
    const struct command_option *near; /**< the option without its value, or the one that was
                                            probably meant; NULL: none */
};

#define COMMAND_OPTIONS_READ (-1)
#define COMMAND_OPTIONS_REFUSED (-2)

/** The only argument of a program or command: it lists the options of the tables, for shells that
 *  complete them, and ends the process. */
#define COMMAND_OPTIONS_LIST "--list-options"

/** Read all options; optind is then the index of the first argument.
 *  @param tables  each ended by {0}, the list by NULL @param stops  at the first argument
 *  @param user    for the functions `set` @param end  set when an option is refused; nothing is
 *  printed
 *  @return COMMAND_OPTIONS_READ, COMMAND_OPTIONS_REFUSED, or what a function `set` returned */
int command_options_read(const struct command_option *const tables[], bool stops, void *user,
                         int argc, char **argv, struct command_option_end *end);

/** Say in one sentence what is wrong with an option whose value was not read (end->option is NULL).
 */
void command_option_explain(const struct command_option_end *end, char *why, size_t capacity);

/** Read words "name=value", separated by spaces, as the arguments of requests have them, by a table
 *  whose options all have `expected`, and none of them `text`, `recording` or `flag`.
 *  @param argument  NULL: no words
 *  @param why       set on failure: a sentence that begins with the request and the word
 *  @return 0, -HOLTER_EUSAGE, -ENOMEM, or what a function `set` returned above 0, negated */
int command_words_read(const char *request, const struct command_option *options, void *user,
                       const char *argument, char *why, size_t capacity);

/** Read a whole number, of digits only. @return 0, or -1 if it is not one up to `most` */
int command_option_number(const char *text, uint64_t most, uint64_t *out);

/** The word that was probably meant: the nearest one of those that exist. */
struct near_word {
    const char *word; /**< as it was written; borrowed */
    const char *best; /**< the nearest candidate so far; NULL: none is near */
    size_t distance;  /**< of that one */
};

/** Compare with one more word that exists. The first one of several at the same distance remains.
 *  @param candidate  borrowed */
void near_word_try(struct near_word *near, const char *candidate);

#endif
