/* The published messages of a job, as `holter top` receives them in its tests. */
#ifndef TESTS_AGENT_CLI_TOP_TOP_STORY_H
#define TESTS_AGENT_CLI_TOP_TOP_STORY_H

#include "agent/cli/top/top_model.h"

#define STORY_START_NS UINT64_C(1700000000000000000)
#define STORY_SECOND_NS UINT64_C(1000000000)

/** Eight ranks on two nodes, in two regions, for so many windows of a second; from window 20 on
 *  messages between the nodes take longer, which is an alert from window 24 on. */
void story_tell(struct top_model *model, uint64_t windows);

/** One alert more. */
void story_alert(struct top_model *model, uint64_t id, const char *state, const char *title);

#endif
