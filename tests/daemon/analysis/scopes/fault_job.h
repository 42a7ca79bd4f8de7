/* Jobs of hundreds or thousands of ranks with a known fault, for the analysis of scopes.
 *
 * Every pair of ranks has a time of flight of its own (by message size, by nodes, by pair);
 * messages are lognormal about it, with noise that pairs of nodes, nodes and the whole job share
 * and that lasts for some windows (autoregressive). The fault multiplies the times of the messages
 * in its scope, or makes partners wait for a rank. Deterministic by seed. */
#ifndef TESTS_DAEMON_ANALYSIS_SCOPES_FAULT_JOB_H
#define TESTS_DAEMON_ANALYSIS_SCOPES_FAULT_JOB_H

#include "daemon/analysis/scopes/scopes.h"
#include "tests/daemon/analysis/noise.h"

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    FAULT_CALM,
    FAULT_NODE,          /**< messages of a node, both directions */
    FAULT_NODE_OUT,      /**< messages that it sends */
    FAULT_NODES,         /**< four nodes */
    FAULT_PAIR,          /**< messages between two nodes */
    FAULT_LINK,          /**< messages over a link of the network */
    FAULT_LATE_RANK,     /**< partners wait for a rank */
    FAULT_STEP,          /**< all messages between nodes */
    FAULT_STEP_OF_ALL,   /**< all messages, also those within nodes */
    FAULT_WITHIN,        /**< messages within a node */
    FAULT_DRIFT,         /**< those of a node, by a constant factor a window */
    FAULT_NODE_AND_PAIR, /**< a node, and two other nodes */
    FAULT_LOSS,          /**< some messages of a node are sent again after RETRY_NS */
    FAULT_KINDS
};

enum fault_pattern {
    PATTERN_HALO,      /**< 26 neighbours in three dimensions */
    PATTERN_IRREGULAR, /**< random partners, near ones more often */
    PATTERN_PLANE,     /**< 8 neighbours in two dimensions */
    PATTERN_PATTERNS
};

struct fault_params {
    uint64_t seed;
    enum fault_kind kind;
    enum fault_pattern pattern;
    uint32_t nodes, ranks_per_node;
    double factor;           /**< of the fault; a window, when it is a drift; share that is lost */
    double delay_ns;         /**< when above 0, the fault adds this to each message instead */
    double spread;           /**< standard deviation of the logarithm of pairs' usual times */
    uint32_t onset, length;  /**< windows; length 0: until the end */
    double messages;         /**< of a pair in a window, in the mean */
    double noise;            /**< standard deviation of a message's logarithm */
    double shared;           /**< of the noise that nodes, pairs of nodes and the job have */
    double tail;             /**< share of messages that take 10 to 1,000 times as long */
    uint32_t exchange_every; /**< windows between exchanges of all with all; 0: none */
    uint32_t partners_every; /**< windows after which partners change; 0: they stay */
    uint32_t active_every;   /**< only each of so many windows has messages; 0: all have */
    uint32_t new_phase;      /**< window from which on messages have another size; 0: none */
};

struct fault_job;

struct fault_job *fault_job_create(const struct fault_params *params);
void fault_job_destroy(struct fault_job *job);

/** Place the ranks; tell the routes when the fault is on a link. */
void fault_job_prepare(struct fault_job *job, struct scopes *scopes);

/** The matched messages of a window; valid until the next one. */
const struct transfers *fault_job_window(struct fault_job *job, uint32_t window);

/** Is this the finding that the fault should be? */
bool fault_job_is_named(const struct fault_job *job, const struct scope_finding *finding);

/** Are there findings for all parts of the fault, and no others but symptoms? */
bool fault_job_is_explained(const struct fault_job *job, const struct scope_finding *findings,
                            size_t count);

const char *fault_kind_name(enum fault_kind kind);

#endif
