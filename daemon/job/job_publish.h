/* What is known of a job, as messages for the outside: the last stage of the way of a window
 * message. Long lists are published in parts of WIRE_PART_ROWS rows. */
#ifndef HOLTER_DAEMON_JOB_JOB_PUBLISH_H
#define HOLTER_DAEMON_JOB_JOB_PUBLISH_H

#include "daemon/job/job_info.h"
#include "daemon/job/job_nodes.h"
#include "daemon/job/job_places.h"
#include "daemon/job/job_stream.h"
#include "daemon/job/job_sums.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/network/job_network.h"
#include "daemon/job/phases/job_phases.h"

/** Publish a message in parts. @param first  the first of its lists that is cut: see
 * wire_parts_of()
 */
void job_publish_parts(const struct job_stream *stream, enum wire_type type, void *message,
                       const char *first);

/** @param ranks  of which a node is known */
void job_publish_info(const struct job_stream *stream, const struct job_info *info, uint64_t ranks,
                      uint64_t window_ns, const struct job_network *network);
void job_publish_places(const struct job_stream *stream, const struct job_nodes *nodes,
                        const struct job_places *places);
void job_publish_nodes(const struct job_stream *stream, const struct job_nodes *nodes,
                       uint64_t window);

/** Publish totals, if anybody reads them. @param totals  their job is not set yet */
void job_publish_totals(const struct job_stream *stream, const struct wire_totals *totals);

/** Publish those rows of ranks, pairs and calls of a window that anybody reads. */
void job_publish_window_sums(const struct job_stream *stream, struct job_sums *sums,
                             const struct closed_window *window, size_t maximum_pairs);

/** One part of sums.
 *  @param windows  how many are added up in it */
struct job_sum {
    enum sum_part part;
    uint64_t window, windows, window_ns;
    const struct sum_result *result;
    const struct sum_result *nodes; /**< of SUM_PAIRS: those of nodes; NULL: there are none */
};
void job_publish_sum(const struct job_stream *stream, const struct job_sum *sum);

/** Publish latencies, and regions if they have changed, where anybody reads them. */
void job_publish_latency(const struct job_stream *stream, struct job_latency *latency);
/** @param latencies  its job is not set yet, as in those below */
void job_publish_latencies(const struct job_stream *stream, struct wire_latencies *latencies);
void job_publish_regions(const struct job_stream *stream, struct job_latency *latency);

void job_publish_topology(const struct job_stream *stream, struct job_network *network);
/** The network and the vertices of ranks, if they have changed. @return whether they have */
int job_publish_topology_changes(const struct job_stream *stream, struct job_network *network);
void job_publish_links(const struct job_stream *stream, struct wire_links *links);

/** Publish phases that are new, and open ones, if anything has changed and anybody reads them. */
void job_publish_phase_changes(const struct job_stream *stream, struct job_phases *phases);
void job_publish_phases(const struct job_stream *stream, struct wire_phases *phases);
void job_publish_curve(const struct job_stream *stream, struct wire_curve *curve);

#endif
