/* The newest records of each stream of a trace, stored in its recording as a capture: it serves as
 * the flight recorder of a job that was not watched. Of a short trace these are all records. */
#ifndef HOLTER_IMPORT_TRACE_CAPTURE_H
#define HOLTER_IMPORT_TRACE_CAPTURE_H

#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

struct trace_host;
struct wire_buffer;

#define TRACE_CAPTURE_RECORDS (1u << 17) /**< of all streams together */
#define TRACE_CAPTURE_STREAM 16384u      /**< of one stream, at most */

/** The newest records of a stream. Zero-initialised is empty. */
struct trace_kept {
    struct event *events; /**< owned; number n is at n modulo the capacity */
    size_t capacity;
    uint64_t count; /**< records so far */
};

/** How many records of each stream are kept. */
uint32_t trace_capture_share(uint32_t streams);

/** Keep records, in the order of their calls. @param share  see trace_capture_share()
 *  @return 0 or -ENOMEM */
int trace_capture_keep(struct trace_kept *kept, uint32_t share, const struct event *events,
                       size_t count);
void trace_capture_finish(struct trace_kept *kept);

/** Encode the capture of a host, all of whose records were read. Hosts may end in different
 * windows: the time of the request, by which the daemon joins their parts, is that of
 * host->capture_ns.
 *  @param window  its last one
 *  @param nodes  hosts that send a part of the capture
 *  @return 0 or a negative error */
int trace_capture_encode(struct wire_buffer *out, const struct trace_host *host, uint64_t window,
                         uint64_t at_ns, uint64_t seq, uint32_t nodes);

#endif
