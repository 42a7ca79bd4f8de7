/* The plan of a randomised test: every rank draws the same messages from the same seed, so that
 * sender and receiver know of each other without a word. Each message's bytes are determined by its
 * serial number. */
#ifndef PLAN_H
#define PLAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/** splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t draw(uint64_t *state);

/** Uniform enough in [0, below). */
int draw_below(uint64_t *state, int below);

/** A communicator and who is at its two ends. For an intra-communicator both ends are the same
 * group. */
struct space {
    MPI_Comm comm;
    int inter;       /**< 1: an inter-communicator */
    int here, there; /**< ranks at this end and at the other */
    int *here_world; /**< their ranks in MPI_COMM_WORLD; owned */
    int *there_world;
    int me; /**< this rank in its own end */
};

void space_init(struct space *space, MPI_Comm comm);
void space_finish(struct space *space);

struct message {
    int from, to; /**< positions in the sender's end and the receiver's end */
    int sent_by_me, received_by_me;
    int to_world;   /**< of what this rank sends, else -1 */
    int from_world; /**< of what it receives, else -1 */
    int taken;      /**< message_find() has found it */
    int tag;
    size_t bytes;
    uint64_t serial;
};

#define PLAN_TAGS 5

/** Draw messages between the ends of a space.
 *  @param state      the plan's generator, in the same state on all ranks of the space
 *  @param first_tag  tags are first_tag to first_tag + PLAN_TAGS - 1
 *  @return array of n messages, to be freed */
struct message *plan_draw(uint64_t *state, const struct space *space, int n, size_t most_bytes,
                          int first_tag);

/** Allocated bytes of a message, at least one. */
char *message_payload(const struct message *message);

/** Serial number of the message that begins with these eight bytes. */
uint64_t message_serial(const char *bytes);

/** Stop the program when these are not the bytes of this message. */
void message_check(const struct message *message, const char *bytes, size_t length);

/** Find the message that came from a source with a tag and these bytes, among those this rank
 *  receives, each once. Of messages that are all alike the first is meant, as they cannot overtake
 *  each other. Stops the program when there is none.
 *  @param from  position in the sender's end
 *  @return its position */
int message_find(struct message *messages, int n, int from, int tag, const char *bytes,
                 size_t length);

#endif
