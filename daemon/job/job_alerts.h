/* The alerts of a job, and the conditions that raise one besides latency and hangs (growth/,
 * hang/): ranks that died or are not watched, agents that fell silent, losses, a recording that
 * stopped. */
#ifndef HOLTER_DAEMON_JOB_JOB_ALERTS_H
#define HOLTER_DAEMON_JOB_JOB_ALERTS_H

#include "daemon/alert/alerts.h"
#include "daemon/alert/rules.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job_nodes.h"
#include "daemon/job/job_places.h"
#include "daemon/job/job_stream.h"

struct job_death {
    struct wire_death_row row;
    char host[65];
    uint64_t window; /**< in which it was reported */
};

struct job_alerts {
    struct alerts list;
    const struct rules *rules; /**< borrowed; NULL: every alert is published */

    struct job_death *deaths; /**< owned; MPI_Abort first, then by time, then by rank */
    uint32_t *dead_ranks;     /**< owned; in the order in which they were reported */
    size_t death_count;
    size_t announced_deaths; /**< that the alert about them counts */
    char death_nodes[257];   /**< hosts of these, separated by commas, as many as fit */
    int finalized;           /**< a rank has ended after MPI_Finalize */

    struct job_losses losses, announced; /**< so far; and those that an alert has reported */
    uint64_t windows_without_loss;
    uint64_t silence_due_ns; /**< when nodes are next searched for silent ones */

    size_t recorded; /**< of the list, so many are in a recording that is continued */
    int restored; /**< the list is of a daemon before this one, and its episodes are to be compared
                     with those of this one: see job_alerts_end_orphans() */

    uint64_t watched;          /**< ranks that agents have reported */
    uint64_t watched_named;    /**< the same when the alert named the others */
    uint64_t watched_since_ns; /**< since when that is their number */
    char unwatched_ranks[257]; /**< that the alert about them names */
};

void job_alerts_finish(struct job_alerts *alerts);

/** An alert as a message, with the rule that it falls under.
 *  @return 0: there are rules, and none that it falls under */
int job_alerts_message(const struct job_alerts *alerts, const char *job, const struct alert *alert,
                       struct wire_alert *out);

/** Is an alert of this kind to be raised? Without a rule that it falls under it is not: it would
 * take a number that no recording has, and those after it could not be restored. */
int job_alerts_have_rule(const struct job_alerts *alerts, const char *kind);

/** Publish an alert that has changed. NULL is fine. */
void job_alerts_publish(const struct job_alerts *alerts, const struct job_stream *stream,
                        const struct alert *alert);

/** Publish what was raised while a recording was read again, and is not in its table. */
void job_alerts_publish_unrecorded(const struct job_alerts *alerts,
                                   const struct job_stream *stream);

/** Add a host to a list that is separated by commas, unless it is in it or does not fit. */
void job_alerts_list_host(const char *host, char *list, size_t capacity);

/** Keep the ranks that died according to a message.
 *  @param number  of its window */
void job_alerts_add_deaths(struct job_alerts *alerts, const struct wire_window *window,
                           uint64_t number, const char *host);

/** Raise an alert about the ranks that died, if there are new ones. The first one is the cause; of
 * the others it says that they ended after it, by the launcher or by themselves. Those that ended
 * in MPI_Finalize while others had left it are no deaths: the launcher ended them because of the
 * status of another rank. This is known one window later, as clocks of nodes are not the same.
 *  @param number  of the newest window that is closed; UINT64_MAX: all are */
void job_alerts_check_deaths(struct job_alerts *alerts, const struct job_stream *stream,
                             uint64_t number, uint64_t now_ns);

void job_alerts_add_losses(struct job_alerts *alerts, struct job_losses losses);

/** The losses up to here have been announced, possibly by the daemon before this one. */
void job_alerts_mark_losses(struct job_alerts *alerts);

/** Raise or resolve the alert about losses. */
void job_alerts_check_losses(struct job_alerts *alerts, const struct job_stream *stream,
                             uint64_t now_ns);

/** The job has ended: nothing more is lost of it. */
void job_alerts_end_losses(struct job_alerts *alerts, const struct job_stream *stream,
                           uint64_t now_ns);

/** How long a node may be silent. */
struct job_silence {
    uint64_t bound_ns, window_ns;
    uint64_t watermark_ns; /**< all that arrived before this time has been read */
};

/** Mark contact as lost for nodes that have been silent for too long. */
void job_alerts_check_silence(struct job_alerts *alerts, const struct job_stream *stream,
                              struct job_nodes *nodes, const struct job_silence *silence,
                              uint64_t now_ns);

/** The agent of a host reports again. */
void job_alerts_resolve_silence(struct job_alerts *alerts, const struct job_stream *stream,
                                const char *host, uint64_t now_ns);

/** Raise an alert when ranks of the job are not watched, and no agent has reported a further rank
 *  for some seconds: ranks may start late. Resolve it when all are watched.
 *  @param world  ranks of the job; 0: not known
 *  @param at_end  the job has ended: no further rank will be reported */
void job_alerts_check_unwatched(struct job_alerts *alerts, const struct job_stream *stream,
                                const struct job_places *places, uint64_t world, uint64_t now_ns,
                                int at_end);

/** End the restored alerts about latency and hangs that no analysis goes on with: the rules have
 * changed since a daemon before this one raised them.
 *  @param is_raised  whether an analysis has the episode of an alert open */
void job_alerts_end_orphans(struct job_alerts *alerts, const struct job_stream *stream,
                            uint64_t now_ns,
                            int (*is_raised)(const void *user, const struct alert *alert),
                            const void *user);

/** See state_bytes.h; all but its rules. */
void job_alerts_copy_state(struct state_bytes *b, struct job_alerts *alerts);

#endif
