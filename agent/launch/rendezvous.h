/* Where the wrappers of a session's ranks and the agent of their node find each other.
 *
 * <run dir>/<session>/<host>/     (the host's name, because a run directory may be shared by nodes)
 * - gate: lock file, flock(2): held for the moments in which who serves the node may change.
 * - agent.lock: lock file, flock(2): held as long as an agent serves the session on this node.
 * - ranks/<pid>: registration of a wrapped process: one line, its start time and its job.
 *
 * A wrapper registers before it becomes the application, an agent leaves only after a look at the
 * registrations, and both do so under the gate: there is never a registered process without an
 * agent. The lock on agent.lock belongs to the open file description, so it is handed over to the
 * agent through fork and exec, without a moment in which nobody holds it.
 */
#ifndef HOLTER_AGENT_LAUNCH_RENDEZVOUS_H
#define HOLTER_AGENT_LAUNCH_RENDEZVOUS_H

#include "agent/launch/registration.h"
#include "holter/segment.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/** One session on this node. Plain data, no resources. */
struct rendezvous {
    char session[32];
    char session_dir[PATH_MAX - 384]; /**< <run dir>/<session> */
    char dir[PATH_MAX - 256];         /**< <run dir>/<session>/<host> */
    char ranks[PATH_MAX - 248];       /**< <dir>/ranks: the registrations */
};

/** Name the places of a session. Makes nothing.
 *  @param run_dir  as session_run_dir() gives it
 *  @return 0, or -HOLTER_ERANGE when the key is not 1 to 31 hexadecimal digits or the path is too
 * long */
int rendezvous_init(struct rendezvous *r, const char *run_dir, const char *session);

/** Register a process, and learn whether the node needs an agent. A caller that gets 1 must start
 * one with rendezvous_spawn(). Files of dead sessions are removed then. Blocks only as long as
 * another process of the session is in here.
 *  @param pid      the process, usually the caller
 *  @param job      its job id
 *  @param lock_fd  set when 1 is returned: the agent's lock, held by the caller (close-on-exec)
 *  @return 0: registered, an agent is there; 1: registered, and the caller holds the agent's lock;
 * or -errno: not registered */
int rendezvous_join(const struct rendezvous *r, int32_t pid, const char *job, int *lock_fd);

/** Start an agent that takes the lock over. It is not a child of the caller afterwards, has a
 * session of its own and none of the caller's descriptors, so that no launcher waits for it.
 *  @param path     program
 *  @param argv     its arguments, NULL at the end; "--lock-fd N" is appended
 *  @param lock_fd  from rendezvous_join(); closed here in the caller, also on failure
 *  @return 0 when the program has started, or -errno of fork or exec */
int rendezvous_spawn(const char *path, const char *const argv[], int lock_fd);

/** Take the agent's lock, for an agent started by hand.
 *  @param lock_fd  set on success (close-on-exec)
 *  @return 0, -EEXIST when an agent serves the session here, or another -errno */
int rendezvous_lock(const struct rendezvous *r, int *lock_fd);

/** Look at all registrations.
 *  @param each  called for each one; may call rendezvous_forget() for it
 *  @return how many there are, or -errno */
int rendezvous_each(const struct rendezvous *r,
                    void (*each)(void *user, const struct registration *registration), void *user);

/** Remove a registration; none there is fine. */
void rendezvous_forget(const struct rendezvous *r, int32_t pid);

/** Was it made on this host? Hosts that are containers may share /dev/shm. */
int rendezvous_is_made_here(const struct segment *segment);

/** Tell a `holter run` that processes ended before MPI_Init had returned in them. */
void rendezvous_note_uninitialised(const struct rendezvous *r);

/** The agent wants to leave. Never blocks.
 *  @param lock_fd  the agent's lock; closed when 0 is returned
 *  @return 0: nobody is registered and no segment of the session and this host is left; the
 * session's files on this node are removed and the lock is released. -EAGAIN: somebody is just
 * registering. -EBUSY: somebody is there. In both cases the agent must stay. */
int rendezvous_leave(const struct rendezvous *r, int lock_fd);

/** Remove what was left when no agent was there to clean up: registrations of dead processes,
 * segments of this user and host whose process is dead, in all sessions that no agent serves.
 * Segments of live processes stay.
 *  @param run_dir  as session_run_dir() gives it
 *  @return number of things removed */
int rendezvous_sweep(const char *run_dir);

#endif
