/* Lines for the person at the terminal, on standard error. */
#ifndef HOLTER_AGENT_TERMINAL_TERMINAL_MESSAGE_H
#define HOLTER_AGENT_TERMINAL_TERMINAL_MESSAGE_H

/** One line, "holter: ...", in a single write(2), so that lines of many ranks do not mix.
 * Characters that would end it or move the cursor, of names that others gave, become "?". errno is
 * kept. */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** End what was printed on standard output: nothing of it may be lost without a word.
 *  @param command  for the line that says so @return 0, or 1 after saying why */
int say_printed(const char *command);

#endif
