/* Where `holter graph` has its messages from: a capture of a recording or of a running job, or a
 * trace. */
#ifndef HOLTER_AGENT_CLI_GRAPH_SOURCE_H
#define HOLTER_AGENT_CLI_GRAPH_SOURCE_H

#include "agent/cli/dial.h"
#include "daemon/analysis/dependencies/dependency_calls.h"

/** Zero-initialised is empty. */
struct graph_source {
    struct dependency_calls calls;
    char job[65];                        /**< "": not known */
    uint64_t capture;                    /**< number of it; 0: a trace, or not known */
    char reason[257];                    /**< why it was captured; "": not known */
    struct wire_criterion_row *criteria; /**< owned; what messages normally take in the job */
    size_t criteria_count;
    char missing[1024]; /**< what is missing in it, for people; "": nothing */
};

void graph_source_finish(struct graph_source *source);

/** Read a capture of a recording. @param capture  0: the newest @return exit status, after printing
 * an error */
int graph_source_recording(struct graph_source *source, const char *path, uint64_t capture);

/** Read a trace of OTF2 or DUMPI. @param path  as the user wrote it @return as above */
int graph_source_trace(struct graph_source *source, const char *path);

/** Is it a recording of Holter? */
int graph_source_is_recording(const char *path);

/** Capture a running job. @param job  NULL: the newest running one @param words  argument of the
 * request @return as above */
int graph_source_live(struct graph_source *source, struct dial *dial, const char *job,
                      const char *words);

#endif
