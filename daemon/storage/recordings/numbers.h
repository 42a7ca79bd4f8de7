/* Which messages of a job's agents were met, by their numbers: each agent counts its own from 1 on
 * without gaps, those of all jobs on its node together. Memory: linear in agents and in gaps. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_NUMBERS_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_NUMBERS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/storage/block/recorded.h"

struct numbers {
    struct key_table agents;     /* hi: instance */
    struct numbers_agent *agent; /* owned; by agent */
    uint32_t room;
};

void numbers_init(struct numbers *numbers);
void numbers_finish(struct numbers *numbers);

/** @return 1: it was met before, 0: it was not, -ENOMEM */
int numbers_meet(struct numbers *numbers, const struct recorded *head);

/** Messages of the job between those of agents that were not met, from each agent's first window
 * on: what it said about ranks before may have been said long before. Where windows go on but
 * numbers do not, those are of other jobs; of an agent with such ones it is windows that are
 * counted. */
uint64_t numbers_missing(const struct numbers *numbers);

/** Windows of an agent of which nothing was met, between others of it whose numbers do not follow
 * each other.
 *  @param first, end  windows `first` to `end` - 1 @param missing  messages that were not met there
 */
typedef int numbers_hole(void *user, uint64_t first, uint64_t end, uint64_t missing);

/** Tell of all of these, agent by agent. @return 0, or what `hole` returned when it was not 0 */
int numbers_holes(const struct numbers *numbers, numbers_hole *hole, void *user);

#endif
