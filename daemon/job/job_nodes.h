/* The nodes of a job and the agents that report them. A node outlives its agent: one that was
 * started again reports the same node under another instance. */
#ifndef HOLTER_DAEMON_JOB_JOB_NODES_H
#define HOLTER_DAEMON_JOB_JOB_NODES_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#define JOB_MAXIMUM_NODES (1u << 20) /**< nodes of one job */

struct job_node {
    char host[65];
    uint64_t instance;     /**< of the agent that reports it now */
    uint64_t criteria_of;  /**< of the agent that was sent the newest criteria; 0: none was */
    uint64_t first_window; /**< number of its first window; UINT64_MAX: none yet */
    uint64_t last_window;
    uint64_t last_message_ns; /**< when its last message came, daemon time */
    int final;                /**< no window follows last_window */
    int lost_contact;
    int left; /**< its agent has left, and its last messages never came */
    uint64_t matched, unmatched, rejected; /**< by all its agents, see the row */
    uint64_t lost; /**< windows of its agents that came to another daemon, and are not stored any
                        more; the row counts them as dropped */
    struct wire_node_row row; /**< newest report of the agent on itself; its host points here */
};

/** One agent process. Numbers of messages are its own, and so are counts: one that comes to a node
 * in place of another counts from 0. */
struct job_agent {
    uint64_t instance;
    uint64_t last_seq;      /**< highest number of its messages that were accepted */
    uint64_t others;        /**< messages that were no windows, before its first window */
    uint64_t lost, dropped; /**< as in the row that it reported last */
    uint64_t matched, unmatched, rejected; /**< likewise */
    uint32_t node;                         /**< KEY_NONE: not known yet */
    int reported;                          /**< a window has come */
    int announced;                         /**< a message about its ranks was accepted */
};

/** Zero-initialised: none. */
struct job_nodes {
    struct job_node **list; /**< owned */
    uint32_t count, capacity;
    uint32_t active;             /**< nodes that are neither final nor lost */
    struct key_table agent_keys; /**< hi: instance */
    struct job_agent *agents;    /**< owned; by number of the key */
    size_t agent_capacity;
    uint64_t last_message_ns; /**< when the last message of any agent came */
    uint64_t lost;            /**< windows of nodes that are not known yet */
};

void job_nodes_finish(struct job_nodes *nodes);

/** @return NULL: no message of it came */
struct job_agent *job_nodes_find_agent(const struct job_nodes *nodes, uint64_t instance);

/** Number of the node that an agent reports; KEY_NONE: not known. */
uint32_t job_nodes_find_node(const struct job_nodes *nodes, uint64_t instance);

/** Find or add the agent of a message, and its node. A new agent is bound to a known node if one of
 * its ranks was on it and the host is the same; else to a new node, since two nodes may have one
 * name (containers).
 *  @param known_node  of one of its ranks; KEY_NONE: none is known
 *  @param bound       set to 1 when the agent was new, else left alone
 *  @return NULL without memory */
struct job_agent *job_nodes_bind_agent(struct job_nodes *nodes, uint64_t instance, const char *host,
                                       uint32_t known_node, int *bound);

/** A message of a node came. @return 1: contact to it was lost until now */
int job_nodes_mark_active(struct job_nodes *nodes, struct job_node *node, uint64_t now_ns);

void job_nodes_mark_lost(struct job_nodes *nodes, struct job_node *node);
void job_nodes_set_final(struct job_nodes *nodes, struct job_node *node, int final);

/** The node whose last window the agent is still expected to report. @return NULL: none */
struct job_node *job_nodes_expect_agent(const struct job_nodes *nodes, uint64_t instance);

/** Its agent has left in order. A node whose last window is not known to be its last one, and of
 * whose agent messages are missing, stays without its end: its row counts them as dropped.
 *  @param missing  numbers of the agent that no message came of
 *  @return those that are lost to the job */
uint64_t job_nodes_release_agent(struct job_nodes *nodes, uint64_t instance, uint64_t missing);

/** Windows that were sent have not come; of which nodes they were is not known. */
void job_nodes_add_lost(struct job_nodes *nodes, uint64_t windows);

/** A message of it was accepted. */
void job_agent_note_seq(struct job_agent *agent, uint64_t seq);

/** Are there nodes, and does none of them report any more? */
int job_nodes_all_final(const struct job_nodes *nodes);

/** Are there nodes, and has every agent left whose node is not final? */
int job_nodes_all_left(const struct job_nodes *nodes);

/** Note that a node has reported a window. */
void job_nodes_note_window(struct job_nodes *nodes, struct job_node *node, uint64_t number,
                           int final);

/** What agents have lost beyond what was known before. */
struct job_losses {
    uint64_t records, windows;
};

/** Take over what an agent reports on itself, and what it has lost. */
struct job_losses job_nodes_update_row(struct job_node *node, struct job_agent *agent,
                                       const struct wire_window *window);

/** See state_bytes.h. */
void job_nodes_copy_state(struct state_bytes *b, struct job_nodes *nodes);

#endif
