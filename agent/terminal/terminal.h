/* The person at the terminal: lines and progress of long work on standard error, and the signals
 * that end a command. */
#ifndef HOLTER_AGENT_TERMINAL_TERMINAL_H
#define HOLTER_AGENT_TERMINAL_TERMINAL_H

#include <stdint.h>

/** Print one line, "holter: ...", by a single write(2), so that lines of many ranks do not mix.
 * Line breaks and control characters in arguments become "?". Preserves errno. */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Flush standard output and check that everything was written.
 *  @param command  name for the error message @return 0, or 1 after printing an error */
int terminal_flush_output(const char *command);

/** Progress of long work: one line that is overwritten on a terminal, otherwise a line from time to
 *  time. Nothing is shown in the first second. */
struct progress {
    const char *what;
    uint64_t begun_ns, shown_ns; /* CLOCK_MONOTONIC */
    int terminal, shown;
};

/** @param what  borrowed */
void progress_begin(struct progress *progress, const char *what);

/** Callback for struct recording_progress.
 *  @param progress  a struct progress
 *  @param share     0 to 1 */
void progress_show(void *progress, double share);

/** Erase the line. */
void progress_end(struct progress *progress);

/** Block SIGINT, SIGTERM and, if hangup is set, SIGHUP.
 *  @return a non-blocking signalfd(2) for them, which the caller closes, or -1 */
int end_signals_open(int hangup);

#endif
