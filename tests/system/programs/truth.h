/* Ground truth: what a test program did, counted by the program itself, independently of any
 * monitor.
 *
 * Calls that a monitor should see are made through the macros below, which count them. Messages are
 * counted by the program where it knows what it sends and receives. truth_write() puts the counts
 * out as lines, to $TRUTH_DIR/truth.<rank>, or to standard output when that is not set:
 *
 *   truth calls RANK MPI_NAME COUNT BYTES_GIVEN BYTES_GOT
 *   truth polls RANK MPI_NAME COUNT             of these calls, polls that found nothing
 *   truth sent SOURCE DESTINATION MESSAGES BYTES
 *   truth received RANK MESSAGES BYTES
 *   truth region RANK NAME MESSAGES BYTES       messages sent inside that code region
 *
 * With TRUTH_TRACE in the environment each message is told by itself, too, by programs that know
 * which is which:
 *
 *   trace send RANK THREAD BEGIN END DESTINATION BYTES SERIAL
 *   trace receive RANK THREAD BEGIN END SOURCE BYTES SERIAL
 *
 * BEGIN and END are read right before and after the call that posted the send, or that completed
 * the receive; the k-th send of a source, destination and serial number is the message of their
 * k-th receive. With TRUTH_GATE in the environment, a path, the process stays until that exists.
 *
 * With TRUTH_LIVE in the environment the counts of calls stand in a file at any time, too, for a
 * rank that is killed: $TRUTH_LIVE/live.<rank> holds a struct truth_live for each kind of call, and
 * a call is in it from its begin. When the program has ended, $TRUTH_LIVE/times.<rank> has a line
 * for each call, in order: its name, and when it began and ended (CLOCK_REALTIME, ns).
 *
 * Ranks are those of MPI_COMM_WORLD. Thread-safe.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/** Make a call and count it. */
#define CALL(name, ...) (truth_call("MPI_" #name, 0, 0), truth_called(MPI_##name(__VA_ARGS__)))

/** Make a call and count it with the bytes that this rank gives and gets. */
#define CALL_BYTES(given, got, name, ...)                                                          \
    (truth_call("MPI_" #name, (given), (got)), truth_called(MPI_##name(__VA_ARGS__)))

/** Make a polling call whose result is in *found, and count it as a call, and as a poll if it found
 * nothing. */
#define POLL(found, name, ...)                                                                     \
    (truth_polls(), MPI_##name(__VA_ARGS__), truth_poll("MPI_" #name, *(found)))

struct truth_live {
    char name[56]; /* empty: the end */
    uint64_t calls;
};

/** Start counting: after MPI_Init. Counts the MPI_Init (or the call named) itself. */
void truth_start(const char *init_call);

/** MPI_Init, truth_start(), and this process in MPI_COMM_WORLD. */
void truth_init(int *argc, char ***argv, int *rank, int *size);

/** truth_start() in a program that has no MPI_COMM_WORLD. */
void truth_start_as(const char *init_call, int rank, int size);

void truth_call(const char *name, size_t given, size_t got);

/** @return rc */
int truth_called(int rc);

void truth_polls(void);

/** @return found */
int truth_poll(const char *name, int found);

/** Ticks right before and after a call: of the TSC, or nanoseconds of CLOCK_MONOTONIC where there
 *  is none. */
struct truth_span {
    uint64_t begin, end;
};

/** Of this thread's last call. */
struct truth_span truth_span(void);

/** Tell of one message, when that is asked for. */
void truth_trace_send(struct truth_span posted, int to_world, size_t bytes, uint64_t serial);
void truth_trace_receive(struct truth_span completed, int from_world, size_t bytes,
                         uint64_t serial);

/** A message to a world rank was posted. */
void truth_sent(int world, size_t bytes);

/** A message has been received. */
void truth_received(size_t bytes);

/** Messages sent from here on belong to this code region; NULL: to none. Not per thread. */
void truth_region(const char *name);

/** Count MPI_Finalize, call it, and write the lines. */
void truth_finish(void);

/** Write the lines without finalizing. */
void truth_write(void);

/** Stop the program with a message: the test program itself, or MPI, does not do what it should. */
_Noreturn void truth_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
