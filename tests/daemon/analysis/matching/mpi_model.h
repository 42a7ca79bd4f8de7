/* A model of MPI's point-to-point semantics: threads of ranks make random calls, and their records
 * come out as a probe writes them, with the truth about which send each receive took.
 *
 * Messages are delivered in the order in which their sends took effect; a receive takes the first
 * that it may (MPI 4.0, section 3.5), also while it is not looked at. All times are nanoseconds,
 * and no two calls begin or end at the same one. */
#ifndef TESTS_DAEMON_ANALYSIS_MATCHING_MPI_MODEL_H
#define TESTS_DAEMON_ANALYSIS_MATCHING_MPI_MODEL_H

#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

#define MODEL_RANKS 4
#define MODEL_THREADS 4
#define MODEL_COMMS 3

struct model_options {
    uint64_t seed;
    int steps;      /**< calls to make, about */
    int threads;    /**< of each rank, at most MODEL_THREADS */
    int shared;     /**< threads of a rank use the same tags: nobody may know their order */
    uint64_t sizes; /**< different sizes of messages */
    int wildcards;  /**< receives with MPI_ANY_SOURCE, MPI_ANY_TAG */
    int handed;     /**< threads complete, cancel and start again what others have posted */
};

/** What a matched message must look like. */
struct model_message {
    uint32_t source, destination;
    uint64_t bytes, send_ns, enter_ns, exit_ns; /**< entry of send; the call that completed it */
    int taken;                                  /**< by the test */
};

struct model_ring {
    struct event *events; /**< owned; in the order of their ends */
    size_t count, capacity;
    struct event underway; /**< kind 0: none */
};

struct model {
    struct model_options options;
    struct model_ring rings[MODEL_RANKS][MODEL_THREADS];
    struct model_message *truth; /**< owned; messages received */
    size_t truth_count, truth_capacity;
    uint64_t now_ns;
    uint64_t sent, unreceived; /**< messages sent; of them, those never completed by a receiver */
    struct model_state *state; /**< owned */
};

/** @return NULL: no memory */
struct model *model_create(const struct model_options *options);

/** Go on for some calls. @return 0 when all is over: every request complete, every message that a
 *  receive waited for received */
int model_run(struct model *model, int calls);

void model_destroy(struct model *model);

#endif
