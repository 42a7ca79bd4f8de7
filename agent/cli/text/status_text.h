/* The state of daemon, jobs and agents as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_STATUS_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_STATUS_TEXT_H

#include "holter/wire.h"

#include <stdio.h>

/** The daemon. */
void status_text_daemon(FILE *out, const char *endpoint, const struct wire_status *status);

/** A job of which only the row in the list of jobs is known. */
void status_text_brief(FILE *out, const struct wire_job_row *row);

/** A job. @param latest   its newest window; NULL: none yet
 *          @param verbose  list calls that are not covered and not used as well */
void status_text_job(FILE *out, const struct wire_job *job, const struct wire_totals *latest,
                     int verbose);

/** How many links of the network under a job are in each state. */
void status_text_links(FILE *out, const struct wire_links *links);

/** The agents of a job. */
void status_text_nodes(FILE *out, const struct wire_nodes *nodes);

#endif
