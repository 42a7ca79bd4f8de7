/* Command lines of the commands: options and arguments, read and checked in one way for all of
 * them. */
#ifndef HOLTER_AGENT_TERMINAL_COMMAND_LINE_H
#define HOLTER_AGENT_TERMINAL_COMMAND_LINE_H

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
    const char **recording; /**< a file in which a recording can be written */
    int *json;              /**< 1 for "json", 0 for "text" */
    int *word;              /**< position in words */
    uint64_t *number;       /**< a whole number from least to most */
    double *real;           /**< a number from least to most */
    uint64_t *seconds_ns;   /**< "2.5"; stored as nanoseconds, above 0 */
    uint64_t *duration_ns;  /**< see quantity_parse_duration(); nanoseconds from least to most */
    uint64_t *bytes;        /**< see quantity_parse_bytes(); from least to most */

    const char *const *words; /**< ended by NULL */
    double least, most;       /**< most 0: no limit */

    /** Set instead of a pointer: handles the value itself. @param value  NULL if bare
     *  @return 0, -1 if the value is not expected, or the exit status after printing an error */
    int (*set)(void *user, const struct command_option *option, const char *value);
    bool bare; /**< of set: the option takes no value */
};

#define COMMAND_LINE_OPTIONS 24 /**< most in both tables of a command line */

struct command_line {
    const char *command;                  /**< name for error messages, "cut" */
    const char *help;                     /**< text that --help and -h print */
    const struct command_option *options; /**< ended by {0} */
    const struct command_option *more;    /**< a second table; NULL: none */
    bool stops;                           /**< options end at the first argument */
    void *user;                           /**< for the functions `set` */
};

/** Read all options; optind is then the index of the first argument.
 *  @return -1 to go on, or the exit status: 0 after --help, 2 after an error, which was printed */
int command_line_read(const struct command_line *line, int argc, char **argv);

/** Read all options, and the only argument, which has to be there.
 *  @param what      what the argument is, "one recording", for the error message
 *  @param argument  set to the argument on success
 *  @return as command_line_read() */
int command_line_read_one(const struct command_line *line, int argc, char **argv, const char *what,
                          const char **argument);

/** Append "NAME=VALUE" to the words of a question to the daemon, which checks the value.
 *  @param words  of size bytes, "" at first
 *  @return 0, or the exit status 2 after printing an error */
int command_line_append(const char *command, char *words, size_t size, const char *name,
                        const char *value);

/** Check that --output names a file in which a recording can be written.
 *  @return 0, or the exit status 2 after printing an error */
int command_line_recording(const char *command, const char *value);

/** Read a whole number, of digits only. @return 0, or -1 if it is not one up to `most` */
int command_line_number(const char *text, uint64_t most, uint64_t *out);

/** Print that the value of an option is not valid. @param option  long name of the option
 *  @return the exit status, 2 */
int command_line_wrong(const char *command, const char *option, const char *value);

#endif
