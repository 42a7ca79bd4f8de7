/* The ranks of the session on this node, from the appearance of their segment to its removal, and
 * the jobs they belong to.
 * A segment is seen; mapped when its header is complete; joined to its job when MPI_Init has
 * returned; reported when its process is gone and the records of its rings are in the open window;
 * removed when that window is committed. */
#ifndef HOLTER_AGENT_NODE_CENSUS_H
#define HOLTER_AGENT_NODE_CENSUS_H

#include "agent/node/node.h"
#include "agent/node/node_job.h"

struct resident; /* a segment and its process */

struct census {
    uv_loop_t *loop;             /**< borrowed */
    const char *session;         /**< borrowed */
    int32_t reader;              /**< pid that is written into segments as that of their agent */
    struct journal *journal;     /**< borrowed */
    const struct places *places; /**< borrowed; NULL: cores are not known */
    void (*wake)(void *user);    /**< a process ended: call census_update_residents() soon */
    void *user;

    struct node_job *jobs;       /**< owned list */
    struct resident **residents; /**< owned */
    uint32_t count, capacity;
    uint32_t joined;        /**< residents that are in a job and whose end is not reported */
    uint32_t newcomers;     /**< joined in the last census_update_residents() */
    uint32_t uninitialised; /**< processes that ended before MPI_Init had returned */
    uint64_t sampled_ns;    /**< when the processes were looked at last */
    uint64_t resumed_flags; /**< WINDOW_* that the first window of every job gets */
};

/** Adds a segment. Known ones are ignored, before anything is asked of the kernel, and so is what
 * was removed or put there by another user. @return 1 if it was added, 0 if not, or -ENOMEM */
int census_add_segment(struct census *census, const char *name, int32_t pid);

/** Map complete segments, join ranks whose MPI_Init has returned, and remove processes that ended
 * before that.
 *  @param now_ns  CLOCK_MONOTONIC */
void census_update_residents(struct census *census, uint64_t now_ns);

/** When the earliest newcomer of a job began, CLOCK_MONOTONIC; UINT64_MAX when there is none, or
 *  its state is in the journal. */
uint64_t census_newcomers_begin(const struct census *census, const struct node_job *job);

/** Moves the newcomers of a job to other sums until census_return_newcomers(). @return 0 or -ENOMEM
 */
int census_move_newcomers(struct census *census, const struct node_job *job, struct event_sum *sum);

/** Sum and end a window for the newcomers of a job only. */
void census_drain_newcomers(struct census *census, const struct node_job *job,
                            const struct drain_clocks *clocks, struct event *batch);

/** Moves the newcomers back to the sums of their job, and stores how far their rings are summed. */
void census_return_newcomers(struct census *census, const struct node_job *job);

/** Sum the rings of all joined ranks. @return records taken */
uint64_t census_drain(struct census *census, const struct drain_clocks *clocks,
                      struct event *batch);

/** Reports the ranks whose process is gone and whose last records are in the sums. Records from
 * after the end of the open window, when the agent is late, belong to the next window.
 *  @return number of ranks reported */
uint32_t census_report_ended(struct census *census, const struct drain_clocks *clocks,
                             const struct daemon_clock *clock);

/** Whether a rank has been seen that has not joined its job yet. */
int census_is_joining(const struct census *census);

/** Whether a rank has ended and is not reported yet. */
int census_has_ended(const struct census *census);

/** Look at the processes of all joined ranks, unless that was done just before.
 *  @param now_ns  CLOCK_MONOTONIC */
void census_sample_processes(struct census *census, uint64_t now_ns);

/** The window ends for all joined ranks of a job: count calls in progress, and report what the
 * kernel has counted for their processes, and ranks that wait for long or do not call.
 *  @param window_ns  its length
 *  @param steal_ns   of core_times_read() */
void census_end_window(struct census *census, struct node_job *job, uint64_t window_ns,
                       const struct drain_clocks *clocks, uint64_t steal_ns);

/** Report of all ranks in the sums of a job how much of a window they were not there,
 *  and of their service threads.
 *  @param begin_ns  of the window, CLOCK_MONOTONIC  @param end_ns  its end */
void census_report_presence(const struct census *census, const struct node_job *job,
                            uint64_t begin_ns, uint64_t end_ns);

/** The window of a job is closed: store how far its rings are summed. */
void census_store_positions(struct census *census, struct node_job *job);

/** Copy the stored positions of all rings into a state. */
void census_copy_positions(const struct census *census, struct journal_state *state);

/** The windows of these jobs are committed: remove the ranks whose end they reported, and their
 * segments.
 *  @param job  NULL: of all jobs
 *  @return records that were to be reported as lost with these ranks later on */
uint64_t census_release_committed(struct census *census, struct node_job *job, uint64_t now_ns);

/** @return the job of an id, or NULL */
struct node_job *census_find_job(const struct census *census, const char *id);

/** Take a job out of the list and free it. */
void census_remove_job(struct census *census, struct node_job *job);

/** Ranks of a job whose rings can be read, also of those that have just ended.
 *  @param out  room for `capacity` of them, borrowed; by rank
 *  @return how many there are, which may be more than were written */
uint32_t census_ranks(const struct census *census, const struct node_job *job,
                      const struct rank **out, uint32_t capacity);

/** Bytes of /dev/shm that the ranks take. */
uint64_t census_shared_bytes(const struct census *census);

/** Whether there are no segments, in whatever state. */
int census_empty(const struct census *census);

/** Releases everything, without removing segments of live processes. */
void census_finish(struct census *census);

#endif
