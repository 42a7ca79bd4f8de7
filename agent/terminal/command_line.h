/* Options of a command, read in the same way for all of them. */
#ifndef HOLTER_AGENT_TERMINAL_COMMAND_LINE_H
#define HOLTER_AGENT_TERMINAL_COMMAND_LINE_H

#include <getopt.h>

struct command_line {
    const char *command;        /**< "cut": put before what is said */
    const char *help;           /**< for --help */
    const char *letters;        /**< of the short options, h among them */
    const struct option *names; /**< the long options, --help among them, see getopt_long(3) */
    /** Take an option. @param value  NULL: it has none @return 0, or the exit status after saying
     * why */
    int (*set)(void *user, int option, const char *value);
    void *user;
};

/** Read all options; what is left of argv begins at optind.
 *  @return -1 to go on, or the exit status: 0 after --help, 2 for wrong usage, after saying why */
int command_line_read(const struct command_line *line, int argc, char **argv);

/** Is this the name of a file that --output can make a recording of? @return 0, or the exit status,
 * 2, after saying why */
int command_line_recording(const char *command, const char *value);

/** Say that an option cannot have a value. @param option  its long name @return the exit status, 2
 */
int command_line_wrong(const char *command, const char *option, const char *value);

#endif
