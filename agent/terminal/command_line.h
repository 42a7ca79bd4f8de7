/* Command lines of the commands: options and arguments, read and checked in one way for all of
 * them. */
#ifndef HOLTER_AGENT_TERMINAL_COMMAND_LINE_H
#define HOLTER_AGENT_TERMINAL_COMMAND_LINE_H

#include <getopt.h>
#include <stddef.h>

struct command_line {
    const char *command;        /**< name for error messages, "cut" */
    const char *help;           /**< text that --help prints */
    const char *letters;        /**< short options, h among them; see getopt_long(3) */
    const struct option *names; /**< long options, --help among them */
    /** Handle one option. @param value  argument of the option, NULL if it has none
     *  @return 0, or the exit status after printing an error */
    int (*set)(void *user, int option, const char *value);
    void *user;
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

/** Read the value of --format where it is text or json.
 *  @return 0, or the exit status 2 after printing an error */
int command_line_format(const char *command, const char *value, int *json);

/** Check that --output names a file in which a recording can be written.
 *  @return 0, or the exit status 2 after printing an error */
int command_line_recording(const char *command, const char *value);

/** Append "NAME=VALUE" to the words of a question to the daemon, which checks the value.
 *  @param words  of size bytes, "" at first
 *  @return 0, or the exit status 2 after printing an error */
int command_line_append(const char *command, char *words, size_t size, const char *name,
                        const char *value);

/** Print that the value of an option is not valid. @param option  long name of the option
 *  @return the exit status, 2 */
int command_line_wrong(const char *command, const char *option, const char *value);

#endif
