/* Lines for the person at the terminal, on standard error. */
#ifndef HOLTER_AGENT_SAY_H
#define HOLTER_AGENT_SAY_H

/** One line, "holter: ...", in a single write(2), so that lines of many ranks do not mix. errno is
 *  kept. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
