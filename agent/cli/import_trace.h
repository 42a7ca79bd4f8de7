/* Import of traces for `holter import`. */
#ifndef HOLTER_AGENT_CLI_IMPORT_TRACE_H
#define HOLTER_AGENT_CLI_IMPORT_TRACE_H

#include "daemon/import/import_format.h"
#include "daemon/import/trace/trace.h"

/** Options of an import. */
struct import_options {
    const char *source, *output;
    const char *topology; /**< NULL: none */
    uint64_t window_ns;   /**< length of windows; 0: chosen by the length of the trace */
    uint64_t threads;     /**< 0: as many as there are processors */
    const char *hosts;    /**< csv, otf2: list of hosts; NULL: none */
    uint32_t per_node;    /**< csv, otf2: ranks of each host; 0: not given */
};

/** Import an OTF2 archive, a DUMPI trace or a table of messages, and print a summary.
 *  @return exit status, after printing errors */
int import_trace(const struct import_options *options, enum import_format format);

/** Run holterd to add the results of the analyses to an imported recording, and show its progress.
 *  @return 0, or 1 after printing an error; the recording is unchanged then */
int import_results(const char *recording);

#endif
