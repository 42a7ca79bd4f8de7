/* What the viewer knows of the job it follows: facts, and nothing of pixels.
 *
 * model_apply() takes the messages of the published stream in the order in which they come;
 * everything else reads. Snapshots (the current state that a client is given first) replace the
 * sums since the start; news add to them. Windows that nobody delivered stay gaps.
 */
#ifndef HOLTER_VIEWER_MODEL_MODEL_H
#define HOLTER_VIEWER_MODEL_MODEL_H

#include "daemon/analysis/sums/history.h"
#include "viewer/model/contexts.h"
#include "viewer/model/keymap.h"
#include "viewer/model/measured.h"
#include "viewer/model/model_alerts.h"
#include "viewer/model/model_captures.h"
#include "viewer/model/model_commgram.h"
#include "viewer/model/model_latency.h"
#include "viewer/model/model_network.h"
#include "viewer/model/playback.h"
#include "viewer/model/rewind.h"
#include "viewer/model/series.h"

#include "holter/wire.h"

#define MODEL_RANKS (1u << 22) /**< highest number of ranks that is taken in */
#define MODEL_PAIRS (1u << 25) /**< most pairs; the rest is counted in model.ignored */

/** Figures kept for each rank. */
enum rank_column {
    RANK_CLASS_NS = 0, /**< MODEL_CLASSES columns: time in each class of calls */
    RANK_SENT = MODEL_CLASSES,
    RANK_SENT_BYTES,
    RANK_RECEIVED,
    RANK_RECEIVED_BYTES,
    RANK_CALLS,
    RANK_LOST,    /**< records lost */
    RANK_TIME_NS, /**< time watched: lengths of the windows in which the rank reported */
    RANK_COLUMNS,
};

/** Figures kept for each pair. */
enum pair_column { PAIR_MESSAGES, PAIR_BYTES, PAIR_COLUMNS };

/** Figures kept for each kind of call. */
enum call_column {
    CALLS_COUNT,
    CALLS_BYTES,
    CALLS_BYTES_IN,
    CALLS_TIME_NS,
    CALLS_LONGEST_NS, /**< a maximum, not a sum */
    CALLS_RANKS,      /**< a maximum: ranks that made it within one window */
    CALLS_COLUMNS,
};

/** Destination of a row that stands for many. */
#define PAIR_OTHERS UINT32_MAX

struct model_pair {
    uint32_t source, destination; /**< ranks; destination may be PAIR_OTHERS */
};

/** Where a rank runs and what it was doing when last heard of. */
struct model_rank {
    uint32_t node;    /**< index in model.hosts; UINT32_MAX: not known yet */
    uint64_t pid;     /**< 0: not known yet */
    uint8_t seen;     /**< reported at least once */
    uint8_t dead;     /**< an alert says that it died */
    uint16_t in_call; /**< call in progress at the end of its newest window; 0: none */
    uint64_t in_call_ns;
    uint64_t in_call_comm; /**< id */
    int64_t in_call_peer;  /**< negative: PEER_* */
    uint64_t newest;       /**< newest window it reported */
};

struct model_host {
    char name[65];
    uint32_t ranks; /**< ranks placed there */
};

struct model_comm {
    uint64_t id, size, remote_size;
    char name[65];
};

struct model_region {
    char name[65]; /**< "" is outside all regions */
};

/** A kind of call: which function, on which communicator, in which code region. */
struct model_call {
    uint16_t call;
    uint32_t comm;   /**< index in model.comms */
    uint32_t region; /**< index in model.regions */
};

/** An agent as last reported, and what it was one report before, for rates. */
struct model_node {
    struct wire_node_row now, before; /**< host points to name */
    uint64_t window, window_before;   /**< of the two reports; equal: no rate yet */
    char name[65];
};

/** A job in the daemon's list. */
struct model_job_row {
    char job[65], app[257], state[17];
    uint64_t ranks, nodes, start_ns, end_ns;
};

/** Daemon as it last described itself. */
struct model_daemon {
    uint8_t known;
    char version[65], host[65], recorder_error[257];
    char topology_fault[513]; /**< why the file that was given is not used; "": it is */
    uint64_t cpu_ns, cpu_before_ns, now_ns, before_ns; /**< two reports, for its share of a core */
    uint64_t rss_bytes, recorded_bytes, clients, agents, rejected, late, window_ns;
};

/** Items with a fixed number and their sums since the start. */
struct model_table {
    struct keymap keys;
    uint64_t *sums; /**< owned; columns figures for each key */
    uint32_t room;
    unsigned columns;
    struct history history;
};

struct model {
    char job[65]; /**< "": none yet */
    char state[17], app[257], command[1025], mpi[129], user[65], recording[513];
    uint64_t world, seen, start_ns, end_ns, window_ns;
    uint32_t uncovered_used; /**< functions the application uses and Holter does not cover */
    uint32_t uncovered;

    struct series series;

    struct model_rank *ranks; /**< owned; by rank */
    uint64_t *rank_sums;      /**< owned; RANK_COLUMNS figures a rank, since the start */
    uint32_t rank_count;      /**< length of both */
    struct history rank_history;

    struct model_table pairs; /**< keys: source, destination */
    struct model_table calls; /**< keys: call, index of communicator, index of region */
    uint64_t folded;          /**< pairs that stand in PAIR_OTHERS rows of the newest window */

    struct model_host *hosts; /**< owned */
    uint32_t host_count;
    struct model_comm *comms; /**< owned; 0 is "no communicator" */
    uint32_t comm_count;
    struct model_region *regions; /**< owned; 0 is outside */
    uint32_t region_count;
    struct model_node *nodes; /**< owned */
    uint32_t node_count;
    struct alerts alerts;
    struct captures captures;
    struct latency latency;
    struct commgram commgram;
    struct network network;
    struct measured measured;
    struct contexts contexts;
    struct model_job_row *jobs; /**< owned */
    uint32_t job_count;
    uint8_t jobs_known;
    struct model_daemon daemon;
    struct playback playback; /**< of the daemon: stays when the job is forgotten */
    struct rewind_known rewind;

    uint64_t version;         /**< raised by every message that changed something */
    uint64_t details_version; /**< raised when figures of ranks, pairs or calls changed */
    uint64_t ignored;         /**< rows that were outside the bounds above */
    uint64_t out_of_memory;   /**< messages that could not be entered in full */

    /* a current state that comes in several messages is not complete yet */
    uint8_t ranks_more, pairs_more;
    uint8_t calls_more;
    struct model_scratch *scratch; /**< owned */
};

/** @param budget  bytes for the history of ranks, pairs and calls together
 *  @return 0 or -ENOMEM */
int model_create(struct model **out, size_t budget);

/** NULL is fine. */
void model_destroy(struct model *model);

/** Take in one message. Types that are none of the viewer's business are passed over.
 *  @param message   borrowed for the call
 *  @param snapshot  1: part of a current state, which replaces the sums since the start
 *  @return 0, or -ENOMEM: some rows were not entered (counted in out_of_memory) */
int model_apply(struct model *model, const struct wire_message *message, int snapshot);

/** Forget the job and follow another: everything but the list of jobs, the daemon and its replay is
 * dropped. */
void model_forget_job(struct model *model);

/** The replay that is followed goes elsewhere: forget the job but for details of its windows, as
 * far as they can be told from those to come (see rewind.h). @param missed  1: some of its messages
 * never came, so that nothing can */
void model_rewind(struct model *model, int missed);

/** Host name of a rank, "?" when it is not known. */
const char *model_host_of(const struct model *model, uint32_t rank);

/** A pair by its number. */
struct model_pair model_pair_at(const struct model *model, uint32_t number);

/** Number of a pair, or KEYMAP_NONE. */
uint32_t model_pair_find(const struct model *model, uint32_t source, uint32_t destination);

/** A kind of call by its number. */
struct model_call model_call_at(const struct model *model, uint32_t number);

/** Time that counts as waiting for others: receives, waits, polls and collectives. */
uint64_t model_waiting_ns(const uint64_t *class_ns);

/** Time in MPI: all classes. */
uint64_t model_mpi_ns(const uint64_t *class_ns);

/** 1 once the job will send nothing more. */
int model_ended(const struct model *model);

/** Daemon time of the newest figures: the end of the newest window. */
uint64_t model_now_ns(const struct model *model);

#endif
