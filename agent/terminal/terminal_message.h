/* Lines for the person at the terminal, on standard error. */
#ifndef HOLTER_AGENT_TERMINAL_TERMINAL_MESSAGE_H
#define HOLTER_AGENT_TERMINAL_TERMINAL_MESSAGE_H

/** Print one line, "holter: ...", by a single write(2), so that lines of many ranks do not mix.
 * Line breaks and control characters in arguments become "?". Preserves errno. */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Flush standard output and check that everything was written.
 *  @param command  name for the error message @return 0, or 1 after printing an error */
int terminal_flush_output(const char *command);

#endif
