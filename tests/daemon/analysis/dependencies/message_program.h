/* Programs whose ranks send messages to each other, executed step by step: what each rank records,
 * and which receive took which send. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_DEPENDENCIES_MESSAGE_PROGRAM_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_DEPENDENCIES_MESSAGE_PROGRAM_H

#include "daemon/analysis/dependencies/dependencies.h"

#define PROGRAM_RANKS 16u
#define PROGRAM_EVENTS 4096u

struct program_event {
    int64_t begin_ns, end_ns; /* by a perfect clock */
    uint64_t bytes;
    uint32_t rank, peer, index; /* index in its rank */
    int32_t tag;
    uint32_t message;              /* number, the same at both ends */
    uint32_t clock[PROGRAM_RANKS]; /* PCLVis, Eq. 4-6 */
    int receive;
};

struct program {
    uint32_t ranks, count, messages;
    struct program_event events[PROGRAM_EVENTS]; /* in the order of time */
    uint32_t made[PROGRAM_RANKS];                /* events by rank */
    uint64_t random;
};

/** A number below a bound. */
uint32_t program_random(struct program *p, uint32_t below);

/** A rank sends; the program's time is that of the event. @return number of the message */
uint32_t program_send(struct program *p, int64_t at_ns, uint32_t from, uint32_t to, int32_t tag,
                      uint64_t bytes);

/** The receiver of a message takes it. */
void program_receive(struct program *p, int64_t at_ns, uint32_t message);

/** Ranks send and receive at random, until there are so many events. */
void program_run(struct program *p, uint32_t ranks, uint32_t events, uint64_t seed);

/** What rings hold of it.
 *  @param first  by rank: events before this one are not known; NULL: all are
 *  @param skew_ns  by rank: error of its clock; NULL: none
 *  @param hosts  ranks r and r + hosts are on one host; all ranks of a host should have one error
 *  @param error_ns  that agents claim */
void program_record(const struct program *p, struct dependency_calls *calls, const uint32_t *first,
                    const int64_t *skew_ns, uint32_t hosts, uint64_t error_ns);

/** A rank has a neighbour that sends to it. */
void program_add_source(struct dependency_calls *calls, uint64_t comm, uint32_t rank,
                        uint32_t source);

#endif
