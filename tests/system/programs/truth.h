/* Ground truth: what a test program did, counted by the program itself, independently of any
 * monitor.
 *
 * Calls that a monitor should see are made through the macros below, which count them. Messages are
 * counted by the program where it knows what it sends and receives. truth_write() puts the counts
 * out as lines, to $TRUTH_DIR/truth.<rank>, or to standard output when that is not set:
 *
 *   truth calls RANK MPI_NAME COUNT BYTES_GIVEN BYTES_GOT
 *   truth polls RANK COUNT
 *   truth sent SOURCE DESTINATION MESSAGES BYTES
 *   truth received RANK MESSAGES BYTES
 *   truth region RANK NAME MESSAGES BYTES       messages sent inside that code region
 *
 * Ranks are those of MPI_COMM_WORLD. Thread-safe.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stddef.h>

/** Make a call and count it. */
#define CALL(name, ...) (truth_call("MPI_" #name, 0, 0), MPI_##name(__VA_ARGS__))

/** Make a call and count it with the bytes that this rank gives and gets. */
#define CALL_BYTES(given, got, name, ...)                                                          \
    (truth_call("MPI_" #name, (given), (got)), MPI_##name(__VA_ARGS__))

/** Make a polling call whose result is in *found, and count it as a call or as a poll that found
 * nothing. */
#define POLL(found, name, ...) (MPI_##name(__VA_ARGS__), truth_poll("MPI_" #name, *(found)))

/** Start counting: after MPI_Init. Counts the MPI_Init (or the call named) itself. */
void truth_start(const char *init_call);

void truth_call(const char *name, size_t given, size_t got);

/** @return found */
int truth_poll(const char *name, int found);

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
