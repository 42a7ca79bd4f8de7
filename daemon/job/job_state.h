/* The inside of a job, shared by job.c (what is known), job_reports.c (what agents report of
 * windows), job_windows.c (windows) and job_messages.c (messages for the outside). */
#ifndef HOLTER_DAEMON_JOB_JOB_STATE_H
#define HOLTER_DAEMON_JOB_JOB_STATE_H

#include "daemon/alert/alerts.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/job/job.h"
#include "daemon/job/job_captures.h"
#include "daemon/job/job_rank_messages.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/latency/job_watch.h"
#include "daemon/job/network/job_measured.h"
#include "daemon/job/network/job_network.h"
#include "daemon/job/phases/job_phases.h"
#include "daemon/job/rank_history.h"
#include "daemon/job/report_rows.h"

#define JOB_RECENT 1024u /**< windows whose totals are kept for late joiners and corrections */
#define JOB_WINDOWS_TO_LOSE_NODE                                                                   \
    3u /**< a node is lost when it was silent for so many and the grace */
#define JOB_OPEN_WINDOWS                                                                           \
    64u /**< open at one time; when there are more, the oldest is published                        \
         */

struct job_node {
    char host[65];
    uint64_t instance;     /**< of the agent that reports it now */
    uint64_t first_window; /**< number of its first window; UINT64_MAX: none yet */
    uint64_t last_window;
    uint64_t heard_ns; /**< when its last message came, daemon time */
    uint64_t cores;
    int final; /**< no window follows last_window */
    int lost_contact;
    struct report_rows rows;  /**< that it reported last */
    struct wire_node_row row; /**< newest own report; its host points here */
};

/** One agent process. Numbers of messages are its own. */
struct job_instance {
    uint64_t instance;
    uint64_t last_seq;
    uint64_t others; /**< messages that were no windows, before its first one */
    uint32_t node;   /**< KEY_NONE: not known yet */
    int reported;    /**< a window has come */
};

struct job_place {
    uint32_t rank;
    uint32_t node;
    uint64_t pid;
    char *placement; /**< owned; NULL: "" */
};

struct job_uncovered {
    char name[65];
    uint64_t used;
};

struct job_death {
    struct wire_death_row row;
    uint32_t node;
};

/** Some of the nodes of a job. */
struct node_set {
    uint64_t *bits; /**< by node, owned */
    uint32_t words;
};

struct open_window {
    uint64_t number;
    uint64_t due_ns; /**< when it is published at the latest, if all is heard by then */
    int late;        /**< a correction */
    uint64_t flags;  /**< WINDOW_*, or-ed */
    uint64_t nodes;  /**< that reported */
    struct node_set reported;
    struct window_sum *sum;
    struct latency_rows latency;
    struct burst_rows bursts;
    struct counter_rows counters;
    struct hang_calls *calls; /**< owned: those that hang_counts() */
    size_t call_count, call_room;
    struct hang_pending *pending; /**< owned */
    size_t pending_count, pending_room;
};

/** What hangs are looked for in. */
struct watch_rows {
    struct hang_comm *comms; /**< owned, both */
    uint32_t *dead;
    size_t comm_room, dead_room;
};

struct job {
    char id[65];
    struct job_options options;
    struct job_output output;
    int replaying;
    enum job_state state;
    int job_changed, places_changed; /* not published yet */
    uint64_t changes_due_ns;         /* when they may be published again */

    char app[257], command[1025], mpi[129], user[65], launcher[65], recording[513];
    uint64_t world;            /**< size of MPI_COMM_WORLD; 0: not known yet */
    uint64_t command_rank;     /**< rank whose command line it is */
    uint64_t start_ns, end_ns; /**< of the first and the last window seen; UINT64_MAX, 0: none */
    uint64_t heard_ns;         /**< when the last message came */
    uint64_t silence_due_ns;   /**< when nodes are next looked through for silence */

    struct job_node **nodes; /**< owned */
    uint32_t node_count, node_room;
    uint32_t active; /**< nodes that are neither final nor lost */

    struct key_table instance_keys;
    struct job_instance *instances;
    uint32_t instance_room;

    struct key_table place_keys; /**< hi: rank */
    struct job_place *places;
    uint32_t place_room;

    struct job_uncovered *uncovered; /**< sorted by name */
    size_t uncovered_count;

    struct job_death *deaths; /**< sorted by time, then rank */
    size_t death_count;

    struct run_sum *run;
    struct job_latency *latency;
    struct job_phases *phases;
    struct job_network *network;
    struct job_measured measured;
    struct job_watch *watch; /**< NULL: there are no rules */
    size_t deaths_watched;   /**< deaths that the watch knows */
    uint64_t windows_summed;
    struct open_window open[JOB_OPEN_WINDOWS]; /**< sorted by number */
    uint32_t open_count;
    struct latency_rows idle_latency; /* room of a window that was closed, for the next to open */
    struct hang_calls *idle_calls;    /* likewise; owned */
    size_t idle_call_room;
    uint64_t next_window; /**< windows below it have been published */
    uint64_t told_window; /**< newest in the tables of the recording that is fed again */
    struct wire_totals recent[JOB_RECENT];    /**< by number modulo; texts not set */
    struct node_set recent_nodes[JOB_RECENT]; /**< likewise: those that are counted there */
    uint64_t lost, windows_dropped;           /**< all that agents have lost, as they say */
    uint64_t lost_told, windows_dropped_told; /**< of that, what an alert has told */
    uint64_t closings;                        /* windows published, corrections included */
    uint64_t quiet_since_loss;                /**< windows published since the last loss */
    uint64_t late;

    struct job_said said;
    struct job_captures captures;
    struct alerts alerts;
    /* Room that is used again for each message. */
    struct rank_row *rank_rows;
    struct pair_row *pair_rows;
    struct call_row *call_rows;
    size_t rank_rows_room, pair_rows_room, call_rows_room;
    uint32_t *maps;
    size_t maps_room;
    struct rank_history ranks_before;
    struct watch_rows watch_rows;
    struct sum_result result, judged_ranks, judged_pairs, judged_calls;
};

/** Say why a message is not taken. @return code */
int job_refuse(struct job_fault *fault, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** An agent, which may be new. @return NULL without memory */
struct job_instance *job_instance_of(struct job *job, uint64_t instance);
/** The node of an agent. An agent that reports a rank of a node known already, on the same host,
 * has taken over from the agent that reported it before. Two nodes of one name (containers) stay
 * two.
 *  @param place  of one of its ranks; KEY_NONE: none is known @return NULL without memory */
struct job_node *job_node_of(struct job *job, uint64_t instance, const char *host, uint32_t place);
void job_node_heard(struct job *job, struct job_node *node, uint64_t now_ns);

void job_windows_finish(struct job *job);
/** Keep what hangs are told by. @param known  has the keys of the message's calls; NULL: they are
 * not known
 *  @return 0 or -ENOMEM */
int open_window_watch(struct open_window *window, const struct wire_window *message,
                      const struct report_rows *known);
/** List the pairs that a window that is closed is judged by. */
void job_list_pairs(struct job *job, const struct open_window *window);
/** Judge a window that is closed, of which pairs are listed: latency, trends, alerts. */
void job_judge(struct job *job, struct open_window *window);
void job_tell(void *user, const struct alert_report *report);
void job_alert(struct job *job, const struct alert *alert);
/** As a message, with the rule that it falls under. @return 0 when no rule wants it to be told */
int job_alert_message(const struct job *job, const struct alert *alert, struct wire_alert *out);
void job_note_deaths(struct job *job, const struct wire_window *message, uint32_t node,
                     uint64_t now_ns);
void job_check_losses(struct job *job, uint64_t now_ns);
void job_check_silence(struct job *job, uint64_t heard_ns, uint64_t now_ns);

/** The open window that a report belongs to; opened when there is none. @return NULL without memory
 *  */
struct open_window *job_window_for(struct job *job, uint64_t number, uint64_t now_ns);
/** Note that a node has reported it. @return 0 or -ENOMEM */
int open_window_report(struct open_window *window, uint32_t node);
/** Publish what is due. */
void job_windows_advance(struct job *job, uint64_t heard_ns, uint64_t now_ns);
const char *job_state_name(enum job_state state);
void job_windows_flush(struct job *job, uint64_t now_ns);

/** Would anybody read this type now? Nobody does while a recording is read. */
int job_wanted(const struct job *job, enum wire_type type);
void job_publish_job(struct job *job, const struct job_output *output);
/** @param message  its job is not set yet */
void job_publish_latencies(const struct job *job, const struct job_output *output,
                           struct wire_latencies *message);
void job_publish_regions(struct job *job, const struct job_output *output);
/** @param message  its job is not set yet */
void job_publish_phases(const struct job *job, const struct job_output *output,
                        struct wire_phases *message);
void job_publish_curve(const struct job *job, const struct job_output *output,
                       struct wire_curve *message);
/** Phases that are new, and open ones, if that has changed. */
void job_tell_phases(struct job *job);
void job_publish_places(struct job *job, const struct job_output *output);
void job_publish_topology(struct job *job, const struct job_output *output);
/** @param message  its job is not set yet */
void job_publish_links(const struct job *job, const struct job_output *output,
                       struct wire_links *message);
/** The network and the seats of ranks, if they have changed. */
void job_tell_topology(struct job *job);
void job_publish_nodes(struct job *job, const struct job_output *output, uint64_t window);
/** What is in job->result. @param windows  how many are summed up in it */
void job_publish_sum(const struct job *job, const struct job_output *output, enum sum_part part,
                     uint64_t window, uint64_t windows);

#endif
