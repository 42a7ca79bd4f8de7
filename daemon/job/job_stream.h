/* Where the messages about one job go, and whether anybody reads them. */
#ifndef HOLTER_DAEMON_JOB_JOB_STREAM_H
#define HOLTER_DAEMON_JOB_JOB_STREAM_H

#include "daemon/job/job.h"

/** Where the parts of a job publish; borrowed by them. */
struct job_stream {
    const char *job; /**< id of the job, set in each message */
    struct job_output output;
    int silent; /**< nothing is published: messages are read again from a recording */
};

/** Would anybody read this type now? */
static inline int job_stream_wants(const struct job_stream *stream, enum wire_type type)
{
    return !stream->silent &&
           stream->output.has_subscribers(stream->output.user, stream->job, type);
}

/** @param message  the struct of the type, with its job set */
static inline void job_stream_publish(const struct job_stream *stream, enum wire_type type,
                                      const void *message)
{
    stream->output.publish(stream->output.user, stream->job, type, message);
}

#endif
