/* One job on this node: its ranks, their sums, and the messages that describe them. */
#ifndef HOLTER_AGENT_NODE_NODE_JOB_H
#define HOLTER_AGENT_NODE_NODE_JOB_H

#include "agent/host/counters.h"
#include "agent/host/places.h"
#include "agent/host/uncovered.h"
#include "agent/node/journal.h"
#include "agent/node/rank.h"
#include "daemon/encoding/window_message.h"

#define NODE_JOB_MAXIMUM_PAIRS (1u << 17) /* rows of pairs in one window: 8 MiB of sums */

struct node_job {
    struct node_job *next;
    char id[64];
    uint64_t world;
    char app[256], mpi[128], probe[32], user[64], command[1024];
    char session[32];
    const char *launcher;           /**< name; static. "": not known */
    int local_size;                 /**< ranks that it has started on this node; -1: not known */
    uint64_t command_rank;          /**< lowest rank seen: `command` is its command line */
    struct event_sum *sum;          /**< owned */
    struct match *match;            /**< owned */
    struct state_bytes matching;    /**< owned bytes: `match` as it was at the stored positions */
    struct transfer_sum *transfers; /**< owned: what was matched in the window that is open */
    struct match_counts counted;    /**< counts of `match` that are in the node's totals already */

    struct wire_member_row *members; /**< owned: every rank seen, ended ones too */
    char (*placements)[128];         /**< owned: their texts */
    uint32_t member_count, member_capacity, placement_capacity;
    uint32_t announced;            /**< members that a message has announced */
    uint64_t last_seq;             /**< number of its newest window or ranks in the journal */
    uint64_t unannounced_since_ns; /**< CLOCK_MONOTONIC; 0: all are announced */
    struct carts carts;
    struct uncovered uncovered;
    enum { SEARCH_NOT_BEGUN, SEARCH_RUNS, SEARCH_DONE } uncovered_search;
    int uncovered_announced;

    struct wire_death_row *deaths; /**< owned: of the window that is open */
    uint32_t death_count, death_capacity;
    struct wire_process_row *processes; /**< owned: of the window that ends */
    uint32_t process_count, process_capacity;
    uint32_t living;     /**< ranks whose process lives, or whose end is not in a window yet */
    int registered;      /**< a live registration names the job */
    int followed;        /**< ranks of another launch of the same id wait for its end */
    uint64_t flags;      /**< WINDOW_* to go with the next window */
    uint64_t burst_rows; /**< maximum of rows for bursts and their pairs in a window; 0: not
                            announced by the daemon yet */

    uint64_t captured_ns[3]; /**< CLOCK_MONOTONIC of its newest captures: asked for by persons, for
                                  alerts, because a rank died; 0: there was none */
    int has_died;            /**< a rank has died since the last check */
    uint64_t died;           /**< the first rank that died */
    int has_finalized;       /**< a rank has ended after MPI_Finalize */

    struct counters_mark counters_reported; /**< interface counts that were reported in windows */
};

/** @param first  one of its ranks
 *  @param journal  of which it takes the state of its matcher, if there is one
 *  @return 0 or -ENOMEM */
int node_job_create(struct node_job **out, struct rank *first, struct journal *journal);
void node_job_destroy(struct node_job *job);

/** Add a rank to the job, its sums and its matcher.
 *  @param places  NULL: cores are not known
 *  @param now_ns  CLOCK_MONOTONIC. @return 0, -HOLTER_ERANGE or -ENOMEM */
int node_job_add_rank(struct node_job *job, struct rank *rank, const struct places *places,
                      uint64_t now_ns);

/** Is this rank, which is to be added, of a later launch that has the same id, as where mpiexec has
 * the port of the one before? It has a rank's number again, or another number of ranks. */
int node_job_is_before(const struct node_job *job, const struct rank *rank);

/** Collect the Cartesian communicators that a rank of the job has made since the last call. */
void node_job_collect_carts(struct node_job *job, struct rank *rank, uint64_t now_ns);

/** The search for calls that the probe does not cover has ended, with or without success.
 *  @param found  owned by the job from now on */
void node_job_set_uncovered(struct node_job *job, const struct uncovered *found, uint64_t now_ns);

/** A rank died: the row is sent with the next window. */
void node_job_add_death(struct node_job *job, const struct wire_death_row *death);

/** What the kernel has counted for a rank in the window that ends. */
void node_job_add_process(struct node_job *job, const struct wire_process_row *row);

/** Counts records of a dropped message as lost by the rank that made them.
 *  @return 0: the rank is not there any more */
int node_job_count_lost(struct node_job *job, uint64_t rank, uint64_t records);

/** Encode the announcement of members and of places in Cartesian communicators: those not announced
 * yet, or all.
 *  @param buffer  filled with the message. @return 0 or an error of wire_encode() */
int node_job_announce(struct node_job *job, const char *host, uint64_t seq, int all,
                      struct wire_buffer *buffer);

/** What the matcher did since the last call. */
struct match_counts node_job_match_counts(struct node_job *job);

/** The positions of its rings are stored: keep what the matcher holds at them. */
void node_job_store_matching(struct node_job *job);

/** The stage `encode`: encode the window that ends, and begin the next one.
 *  @param window    number, length and flags, clock_error_ns, host and node set by the caller; the
 *                   rest is set here
 *  @param clock     daemon time, for the ends of messages between nodes
 *  @param counters  of interfaces; NULL: none are reported
 *  @return number of messages, or a negative error: then the rows are lost, and the caller counts
 *  them as lost */
int node_job_close_window(struct node_job *job, struct wire_window *window,
                          const struct transfer_clock *clock, const struct counters *counters,
                          struct window_output *output);

#endif
