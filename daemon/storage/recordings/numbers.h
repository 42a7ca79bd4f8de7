/* Numbers of the messages that were received from the agents of a job. Each agent numbers its
 * messages from 1 without gaps, those of all jobs on its node together. Memory: linear in agents
 * and in gaps. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_NUMBERS_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_NUMBERS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/storage/block/recorded.h"

/** Zero-initialised: none. */
struct numbers {
    struct key_table agents;     /* hi: instance */
    struct numbers_agent *agent; /* owned; by agent */
    uint32_t capacity;
};

void numbers_finish(struct numbers *numbers);

/** Add the number of a message. @return 1: it was added before, 0: it is new, -ENOMEM */
int numbers_add(struct numbers *numbers, const struct recorded *head);

/** Number of messages of the job that are missing, counted from each agent's first window:
 * messages about ranks may have been sent long before. Where windows are consecutive but numbers
 * are not, the missing numbers belong to other jobs; of such an agent, missing windows are
 * counted instead. */
uint64_t numbers_count_missing(const struct numbers *numbers);

/** Visit a span of missing windows of one agent.
 * @param first, end  windows `first` to `end` - 1
 * @param missing     number of messages missing there */
typedef int numbers_gap_visit(void *user, uint64_t first, uint64_t end, uint64_t missing);

/** Visit all spans of missing windows, agent by agent. @return 0, or what `hole` returned if not 0
 */
int numbers_for_each_gap(const struct numbers *numbers, numbers_gap_visit *hole, void *user);

#endif
