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
    int to_world;
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

/** Stop the program when these are not the bytes of this message. */
void message_check(const struct message *message, const char *bytes, size_t length);

/** Find the message a payload claims to be, among those this rank receives.
 *  @return its position, or -1 when the payload is too short to name itself */
int message_find(const struct message *messages, int n, const char *bytes, size_t length);

#endif
