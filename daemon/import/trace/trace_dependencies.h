/* The messages of a trace for the graph of dependencies (daemon/analysis/dependencies): its streams
 * are read whole, one after the other, and nothing is recorded. */
#ifndef HOLTER_IMPORT_TRACE_DEPENDENCIES_H
#define HOLTER_IMPORT_TRACE_DEPENDENCIES_H

#include "daemon/analysis/dependencies/dependency_calls.h"
#include "daemon/import/trace/trace.h"

struct trace_messages {
    struct dependency_calls
        calls;               /**< times are nanoseconds since 1970, or since the trace's zero */
    uint64_t failed_streams; /**< streams that ended with an error, which was reported */
};

/** @param out  the calls are to be finished, also on failure
 *  @return 0 or -ENOMEM */
int trace_dependencies(const struct trace_job *job, const struct trace_reader *reader,
                       struct trace_messages *out);

#endif
