/* What happens on the node: segments and registrations that appear, processes that end.
 * Directories are watched (inotify(7)), processes by their pidfd (pidfd_open(2)), which reports
 * their end at once, after a kill -9 too. Where the kernel refuses either (limits on watches or
 * descriptors), the agent polls once a second instead. */
#ifndef HOLTER_AGENT_NODE_NODE_H
#define HOLTER_AGENT_NODE_NODE_H

#include "agent/launch/rendezvous.h"

#include <uv.h>

struct node;

struct node_options {
    uv_loop_t *loop;                     /**< borrowed */
    const struct rendezvous *rendezvous; /**< borrowed */
    /** A file with the name of a segment of the session is in /dev/shm; reported again at every
     * scan. @param name  with its slash @return 1 if it is a new segment */
    int (*segment)(void *user, const char *name, int32_t pid);
    /** Something changed: process it now. */
    void (*wake)(void *user);
    void *user;
};

/** @return 0 or -ENOMEM */
int node_create(struct node **out, const struct node_options *options);

/** Scans /dev/shm. */
void node_scan_segments(struct node *node);

/** Whether the registrations have changed since the last call. */
int node_registrations_changed(struct node *node);

/** Stop watching; the memory is freed when the loop has closed the handles. NULL is fine. */
void node_close(struct node *node);

/** Reports the end of a process. */
struct process_watch;

/** @param pid_start  its start time, which distinguishes it from an earlier process with the same
 * pid
 *  @param ended      called once, from the loop or from process_watch_check(); may close the watch
 *  @return 0, -ESRCH when it has ended already, or -ENOMEM */
int process_watch_open(struct process_watch **out, uv_loop_t *loop, int32_t pid, uint64_t pid_start,
                       void (*ended)(void *user), void *user);

/** Without a pidfd: checks whether the process lives. */
void process_watch_check(struct process_watch *watch);

/** NULL is fine. */
void process_watch_close(struct process_watch *watch);

#endif
