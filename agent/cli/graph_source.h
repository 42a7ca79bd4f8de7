/* Where `holter graph` has its messages from: a capture of a recording or of a running job, or a
 * trace. */
#ifndef HOLTER_AGENT_CLI_GRAPH_SOURCE_H
#define HOLTER_AGENT_CLI_GRAPH_SOURCE_H

#include "agent/cli/dial.h"
#include "daemon/export/captured_calls.h"

/** Zero-initialised is empty. A trace has no number, job or reason. */
struct graph_source {
    struct captured_calls captured;
    struct captured_criteria criteria;
};

void graph_source_finish(struct graph_source *source);

/** Read a capture of a recording. @param capture  0: the newest @return exit status, after printing
 * an error */
int graph_source_recording(struct graph_source *source, const char *path, uint64_t capture);

/** Read a trace of OTF2 or DUMPI, or a table of messages (csv). @param path  as the user wrote it
 * @return as above */
int graph_source_trace(struct graph_source *source, const char *path);

/** Is it a recording of Holter? */
int graph_source_is_recording(const char *path);

/** Capture a running job. @param job  NULL: the newest running one @param words  argument of the
 * request @return as above */
int graph_source_live(struct graph_source *source, struct dial *dial, const char *job,
                      const char *words);

#endif
