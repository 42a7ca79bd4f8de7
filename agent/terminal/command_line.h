/* Command lines of the commands: options and arguments, read and checked in one way for all of
 * them. */
#ifndef HOLTER_AGENT_TERMINAL_COMMAND_LINE_H
#define HOLTER_AGENT_TERMINAL_COMMAND_LINE_H

#include "proto/command_option.h"

#include <stddef.h>
#include <stdint.h>

struct command_line {
    const char *command;                  /**< name for error messages, "cut" */
    const char *help;                     /**< text that --help and -h print */
    const struct command_option *options; /**< ended by {0} */
    const struct command_option *more;    /**< a second table; NULL: none */
    bool stops;                           /**< options end at the first argument */
    void *user; /**< for the functions `set`, which return an exit status above 0 */
    /** Set for a command that runs a program, which no fault of an option may keep from running:
     *  such an option is reported, left out and removed from argv, unless one of these flags, which
     *  options of the table set, is given. */
    const int *strict[2];
};

/** Read all options; optind is then the index of the first argument, and NULL ends argv.
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

/** Append "NAME=NUMBER", as command_line_append(). */
int command_line_append_number(const char *command, char *words, size_t size, const char *name,
                               uint64_t number);

/** Print that a command which runs a program ignores one of its options.
 *  @param strict  from struct command_line
 *  @param why     names the option and its fault
 *  @return 0, or the exit status 2 if the fault is to be refused */
int command_line_leave_out(const char *command, const int *const strict[2], const char *why);

/** Print that the value of an option is not valid. @param option  long name of the option
 *  @return the exit status, 2 */
int command_line_wrong(const char *command, const char *option, const char *value);

#endif
