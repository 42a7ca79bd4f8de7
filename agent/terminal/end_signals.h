/* Signals that end a command, read from a descriptor between its other input. */
#ifndef HOLTER_AGENT_TERMINAL_END_SIGNALS_H
#define HOLTER_AGENT_TERMINAL_END_SIGNALS_H

/** Block SIGINT, SIGTERM and, if hangup is set, SIGHUP.
 *  @return a non-blocking signalfd(2) for them, which the caller closes, or -1 */
int end_signals_open(int hangup);

#endif
