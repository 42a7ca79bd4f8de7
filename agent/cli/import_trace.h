/* Import of traces for `holter import`. */
#ifndef HOLTER_AGENT_CLI_IMPORT_TRACE_H
#define HOLTER_AGENT_CLI_IMPORT_TRACE_H

#include "daemon/import/import_format.h"
#include "daemon/import/trace/trace.h"

/** Import an OTF2 archive, a DUMPI trace or a table of messages, and print a summary.
 *  @param asked  what its options say: the network is read from network_source, NULL: there is none
 *  @return exit status, after printing errors */
int import_trace(const char *output, const char *source, enum import_format format,
                 const struct trace_wishes *asked);

/** Run holterd to add the results of the analyses to an imported recording, and show its progress.
 *  @return 0, or 1 after printing an error; the recording is unchanged then */
int import_results(const char *recording);

#endif
