/* Synthetic MPI jobs with a known reason of delay: a discrete-event simulation of programs that
 * compute, exchange messages with partners and reduce, on nodes with a network between them.
 *
 * What a job reports of a window is made from the times of its calls by the definitions of
 * holter/wire.h (rank, pair and transfer rows), not from the reason. Deterministic by seed. */
#ifndef TESTS_DAEMON_ANALYSIS_ATTRIBUTION_SYNTHETIC_JOB_H
#define TESTS_DAEMON_ANALYSIS_ATTRIBUTION_SYNTHETIC_JOB_H

#include "daemon/analysis/attribution/attribution.h"

#include <stdint.h>

enum synthetic_reason {
    SYNTHETIC_CALM,       /**< nothing */
    SYNTHETIC_LINK,       /**< messages to and from one node take longer */
    SYNTHETIC_BACKGROUND, /**< messages between all nodes take longer, by turns */
    SYNTHETIC_RANK,       /**< one rank computes three times as long */
    SYNTHETIC_NODE,       /**< the processors of one node are slowed */
    SYNTHETIC_MESSAGES,   /**< one rank handles many more messages */
    SYNTHETIC_MAPPING,    /**< partners are spread over nodes, from the start */
    SYNTHETIC_REASONS
};

enum synthetic_pattern {
    PATTERN_RING,
    PATTERN_GRID,
    PATTERN_TORUS,
    PATTERN_GRAPH,
    PATTERN_NONE /**< no messages; never drawn */
};

enum synthetic_style {
    STYLE_WAITALL,  /**< Irecv, Isend, one Waitall */
    STYLE_WAIT,     /**< Irecv, Isend, Wait for each */
    STYLE_SENDRECV, /**< blocking Sendrecv, partner by partner */
    STYLES,         /**< those that are drawn */
    STYLE_MASTER    /**< rank 0 answers the others, who wait for its answers; by the ring */
};

/** A job; drawn by synthetic_draw(), may be changed before it is made. */
struct synthetic_params {
    uint64_t seed;
    enum synthetic_reason reason;
    enum synthetic_pattern pattern;
    enum synthetic_style style;
    uint32_t nodes, ranks_per_node;
    uint32_t collective_every; /**< iterations between reductions; 0: none */
    double iterations;         /**< in a window of a calm job, about */
    uint32_t windows, onset;   /**< windows; the first with the reason */
    uint32_t bytes;            /**< of a message */
    double compute_ns;         /**< of an iteration */
    double imbalance;          /**< constant differences between ranks, as a share */
    double noise;              /**< standard deviation of compute and network times, as a share */
    double preemption;         /**< chance that a rank is held up in an iteration */
    double sampling;           /**< share of messages between nodes that are matched */
    double strength;           /**< of the reason, by an iteration's time */
    uint32_t rank, node;       /**< that are the reason */
    int one_way;               /**< link: only messages from the node take longer */
    double share;   /**< by which times grow; 0: by strength, those of a rank threefold */
    int ramp;       /**< they grow by it in each window once more */
    uint32_t pulse; /**< windows that the reason lasts and is away by turns; 0: it stays */
    enum synthetic_reason second; /**< a further one: a link, a rank or a node; 0: none */
    uint32_t second_place;        /**< its rank or node */
    uint32_t second_onset; /**< its first window, of a rank or node; it does not grow; 0: as the
                              first */
    uint32_t new_phase;    /**< window from which on messages and iterations are longer; 0: none */
};

struct synthetic_job;

/** A job of this reason, everything else by the seed. */
struct synthetic_params synthetic_draw(uint64_t seed, enum synthetic_reason reason);

/** @return NULL without memory */
struct synthetic_job *synthetic_create(const struct synthetic_params *params);
void synthetic_destroy(struct synthetic_job *job);

uint32_t synthetic_ranks(const struct synthetic_params *params);

/** Node of a rank. */
uint32_t synthetic_node(const struct synthetic_job *job, uint32_t rank);

/** What it reports of a window, from 0 up; rows are valid until the next call. Numbers of windows
 *  begin with 1. */
void synthetic_window(struct synthetic_job *job, uint32_t window, struct attribution_window *out);

#endif
