/* What the viewer knows of the job it follows: data only, nothing of the display.
 * model_apply() receives the messages of the published stream in order; everything else only reads.
 * Snapshots (the current state that a client receives first) replace the sums since the start;
 * later messages add to them. Windows that were not delivered stay gaps. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_H
#define HOLTER_VIEWER_MODEL_MODEL_H

#include "daemon/analysis/sums/history.h"
#include "daemon/analysis/tables/name_table.h"
#include "viewer/model/contexts.h"
#include "viewer/model/measured.h"
#include "viewer/model/model_alerts.h"
#include "viewer/model/model_captures.h"
#include "viewer/model/model_commgram.h"
#include "viewer/model/model_latency.h"
#include "viewer/model/model_lateness.h"
#include "viewer/model/model_network.h"
#include "viewer/model/playback.h"
#include "viewer/model/rewind.h"
#include "viewer/model/series.h"

#include "holter/wire.h"

#define MODEL_RANKS (1u << 22) /**< maximum number of ranks */
/** Maximum of pairs; further ones are counted in model.ignored. */
#define MODEL_PAIRS (1u << 25)

/** Figures stored for each rank. */
enum rank_column {
    RANK_CLASS_NS = 0, /**< MODEL_CLASSES columns: time in each class of calls */
    RANK_SENT = MODEL_CLASSES,
    RANK_SENT_BYTES,
    RANK_RECEIVED,
    RANK_RECEIVED_BYTES,
    RANK_CALLS,
    RANK_LOST,         /**< records lost */
    RANK_UNTRACKED,    /**< requests whose completion was not observed */
    RANK_TIME_NS,      /**< time observed: that of the windows in which the rank reported, less the
                            time in which it was not there; of a group that of all together */
    RANK_SEND_WAIT_NS, /**< part of the time in sends in which it waited for receivers */
    RANK_CROSSING,     /**< of the messages sent, those not known to stay within a node */
    RANK_CROSSING_BYTES,
    RANK_COLUMNS,
};

/** Figures stored for each pair. */
enum pair_column { PAIR_MESSAGES, PAIR_BYTES, PAIR_COLUMNS };

/** Figures stored for each kind of call. */
enum call_column {
    CALLS_COUNT,
    CALLS_BYTES,
    CALLS_BYTES_IN,
    CALLS_TIME_NS,
    CALLS_LONGEST_NS, /**< a maximum, not a sum */
    CALLS_RANKS,      /**< a maximum: ranks that made it within one window */
    CALLS_COLUMNS,
};

/** Figures stored for each rank and kind of call. */
enum caller_column { CALLER_COUNT, CALLER_BYTES, CALLER_BYTES_IN, CALLER_TIME_NS, CALLER_COLUMNS };

/** Destination of a row that sums up many pairs. */
#define PAIR_OTHERS UINT32_MAX

struct model_pair {
    uint32_t source, destination; /**< ranks; destination may be PAIR_OTHERS */
};

/** Where a rank runs and what it was doing in its last report. */
struct model_rank {
    uint32_t node;               /**< index in model.hosts; UINT32_MAX: not known yet */
    uint64_t core, socket, numa; /**< they count from 1; 0: not known */
    uint8_t dead;                /**< an alert reported that it died */
    uint16_t in_call;            /**< call in progress at the end of its newest window; 0: none */
    uint64_t in_call_ns;
    int64_t in_call_peer; /**< negative: PEER_* */
    uint64_t newest;      /**< newest window it reported */
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

/** A rank that makes a call in a code region. */
struct model_caller {
    uint32_t rank;
    uint16_t call;
    uint32_t region; /**< index in model.regions */
};

/** An agent as last reported, and its report before that one, for rates. */
struct model_node {
    struct wire_node_row now, before; /**< host points to name */
    uint64_t window, window_before;   /**< of the two reports; equal: no rate yet */
    char name[65];
};

/** A job in the daemon's list. */
struct model_job_row {
    char job[65], app[257], state[17];
    char daemon[257]; /**< endpoint of another daemon of the fleet, which has it; "": this one */
    uint64_t ranks, nodes, start_ns, end_ns;
};

/** The daemon's last report of itself. */
struct model_daemon {
    uint8_t known;
    char version[65], host[65], recorder_error[257];
    char topology_fault[513]; /**< why the topology file is not used; "": it is used */
    uint64_t cpu_ns, cpu_before_ns, now_ns, before_ns; /**< two reports, for its share of a core */
    uint64_t rss_bytes, recorded_bytes, clients, agents, rejected, late, window_ns;
};

/** Items with a fixed number, and their sums since the start. */
struct model_table {
    struct key_table keys;
    uint32_t last;  /**< number added last */
    uint64_t *sums; /**< owned; columns figures for each key */
    uint32_t capacity;
    unsigned columns;
    struct history history;
};

struct model {
    char job[65]; /**< "": none yet */
    char state[17], app[257], command[1025], mpi[129], user[65], recording[513];
    uint64_t world, seen, start_ns, end_ns, window_ns;
    uint64_t span;  /**< windows in which it does about the same work each time; 0: not known */
    uint64_t group; /**< consecutive ranks that are one row, under the first of them; 1: none are */
    uint32_t uncovered_used; /**< functions the application uses and Holter does not cover */

    struct series series;
    uint64_t matched, unmatched; /**< of the messages received until the newest totals */

    struct model_rank *ranks; /**< owned; by rank */
    uint64_t *rank_sums;      /**< owned; RANK_COLUMNS figures a rank, since the start */
    uint32_t rank_count;      /**< length of both */
    uint64_t untracked;       /**< RANK_UNTRACKED of all ranks */
    struct history rank_history;

    struct model_table pairs;      /**< hi: source, lo: destination */
    struct model_table node_pairs; /**< of a job by groups of ranks: likewise nodes, each under its
                                        lowest rank */
    struct model_table calls;      /**< hi: call, lo: index of communicator << 32 | of region */
    struct model_table callers;    /**< hi: a rank, lo: call << 32 | index of region */
    uint64_t callers_left_out; /**< rows of callers that the newest window was published without */
    struct model_table waits;  /**< hi: a rank, lo: the rank that it waited for longest in a window;
                                    one figure: that time */
    uint64_t folded; /**< pairs that are summed up in PAIR_OTHERS rows of the newest window */

    struct model_host *hosts;     /**< owned */
    struct name_table host_names; /**< numbers as in hosts */
    uint32_t host_count;
    size_t host_capacity;
    struct model_comm *comms; /**< owned; 0 is "no communicator" */
    uint32_t comm_count;
    struct model_region *regions; /**< owned; 0 is outside */
    uint32_t region_count;
    struct model_node *nodes;     /**< owned */
    struct name_table node_names; /**< likewise */
    uint32_t node_count;
    size_t node_capacity;
    struct alerts alerts;
    struct captures captures;
    struct latency latency;
    struct rank_lateness_known lateness;
    struct commgram commgram;
    struct network network;
    struct measured measured;
    struct contexts contexts;
    struct model_job_row *jobs; /**< owned */
    uint32_t job_count;
    uint8_t jobs_known;
    struct model_daemon daemon;
    struct playback playback; /**< of the daemon: stays when the job is dropped */
    struct rewind_known rewind;

    uint64_t version;         /**< incremented by every message that changed something */
    uint64_t details_version; /**< incremented when figures of ranks, pairs or calls changed */
    uint64_t ignored;         /**< rows that were outside the bounds above */
    uint64_t out_of_memory;   /**< messages that could not be stored completely */

    /* a current state in several messages is not complete yet */
    uint8_t ranks_more, pairs_more;
    uint8_t calls_more, callers_more;
    struct model_scratch *scratch; /**< owned */
};

/** @param budget  bytes for the history of ranks, pairs and calls together
 *  @return 0 or -ENOMEM */
int model_create(struct model **out, size_t budget);

/** NULL is fine. */
void model_destroy(struct model *model);

/** Applies one message. Types that the viewer does not use are ignored.
 *  @param message   borrowed for the call
 *  @param snapshot  1: part of a current state, which replaces the sums since the start
 *  @return 0, or -ENOMEM: some rows were not stored (counted in out_of_memory) */
int model_apply(struct model *model, const struct wire_message *message, int snapshot);

/** Drops everything about the job, to follow another: the list of jobs, the daemon and its replay
 * stay. */
void model_forget_job(struct model *model);

/** The replay seeks: drops the job except details of its windows, as far as they can be
 * distinguished from those still to come (see rewind.h). @param missed  1: some messages were lost,
 * so they cannot */
void model_rewind(struct model *model, int missed);

/** The rank under which the figures of a rank are: itself, or the first of its group. PAIR_OTHERS
 *  stays. */
uint64_t model_row_of(const struct model *model, uint64_t rank);

/** How many of the ranks of a row have died, as alerts reported. */
uint32_t model_row_deaths(const struct model *model, uint32_t rank);

/** Host name of a rank, "?" when it is not known. */
const char *model_host_of(const struct model *model, uint32_t rank);

/** Number of a host; UINT64_MAX: it is not known. */
uint64_t model_host_find(const struct model *model, const char *name);

/** A pair by its number in a table of pairs. */
struct model_pair model_pair_at(const struct model_table *pairs, uint32_t number);

/** Number of a pair, or KEY_NONE. */
uint32_t model_pair_find(const struct model *model, uint32_t source, uint32_t destination);

/** A kind of call by its number. */
struct model_call model_call_at(const struct model *model, uint32_t number);

/** A caller by its number. */
static inline struct model_caller model_caller_at(const struct model *model, uint32_t number)
{
    const struct key *key = &model->callers.keys.keys[number];
    return (struct model_caller){(uint32_t)key->hi, (uint16_t)(key->lo >> 32), (uint32_t)key->lo};
}

/** Time that counts as waiting for others, as WAITING_NS() defines it. @param figures  of a rank */
uint64_t model_waiting_ns(const uint64_t *figures);

/** Time in MPI: all classes. */
uint64_t model_mpi_ns(const uint64_t *class_ns);

/** Time of the ranks in a window, of which the times of classes are shares. */
double model_time_of_ranks(const struct window_totals *window);

/** 1 when the job will send nothing more. */
int model_ended(const struct model *model);

/** Bytes of the recording of the job; 0: not known, as the daemon counts all that it writes. */
uint64_t model_recorded_bytes(const struct model *model);

/** May its agents be asked for the last calls of its ranks? Not those of a replay. */
int model_can_read_back(const struct model *model);

/** What an agent takes, between its two newest reports.
 *  @param cpu_share  share of one core
 *  @param uplink     bytes per second
 *  @return 1, or 0: there are no two reports, and nothing is set */
int model_node_rates(const struct model *model, const struct model_node *node, double *cpu_share,
                     double *uplink);
/** 1 when it has ended, and all of it is one window: nothing of it is over time. */
int model_is_one_window(const struct model *model);
/** Whether calls have times: those of imported counts of messages have none. */
int model_has_times(const struct model *model);

/** Whether the one window of a job that has ended has no time of a call: its length was made up
 * when counters were imported, and neither times nor rates are shown. */
int model_is_timeless(const struct model *model);

/** 1 when agents watched it; a file that was imported had none. */
int model_has_agents(const struct model *model);

/** Daemon time of the newest figures: the end of the newest window. */
uint64_t model_now_ns(const struct model *model);

#endif
