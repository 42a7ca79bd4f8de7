/* Converts captured messages to those of topic "captures". */
#include "proto/capture_request.h"

struct wire_capture wire_capture_from_captured(const struct wire_captured *m)
{
    return (struct wire_capture){
        .job = m->job,
        .id = m->id,
        .asked_ns = m->asked_ns,
        .reason = m->reason,
        .alert = m->alert,
        .nodes = m->nodes,
        .host = m->host,
        .at_ns = m->at_ns,
        .clock_error_ns = m->clock_error_ns,
        .threads = m->threads,
        .threads_count = m->threads_count,
        .events = m->events,
        .events_count = m->events_count,
        .comms = m->comms,
        .comms_count = m->comms_count,
        .regions = m->regions,
        .regions_count = m->regions_count,
        .fault = m->fault,
        .more = m->more,
        .sources = m->sources,
        .sources_count = m->sources_count,
    };
}
