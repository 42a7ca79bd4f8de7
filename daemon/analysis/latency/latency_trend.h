/* Growth and steady periods of the latency of one group of messages: of its typical message, and of
 * all of them together.
 *
 * The geometric mean (latency_typical()) hardly changes when a scheduler holds up a few messages,
 * and so shows small changes of all. But it hardly changes either when a tenth of the messages wait
 * fifty times as long, as before a congested link; the mean (latency_reference()) does, but it
 * varies more while all is well. Each has a trend of its own, that of the mean with a larger
 * minimum rise.
 *
 * The reference is the best level so far: when it becomes better, all latencies by it grow although
 * no message takes longer. Trends are therefore followed in units of the first reference.
 *
 * Pure. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_LATENCY_TREND_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_LATENCY_TREND_H

#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/latency/trend.h"
#include "daemon/analysis/tables/state_bytes.h"

struct latency_trend;

/** @param out       owned by the caller; set on success
 *  @param window_s  length of a window, seconds
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when the length is outside the range of trends */
int latency_trend_create(struct latency_trend **out, double window_s);
void latency_trend_destroy(struct latency_trend *trend);

/** Add a window, in ascending order (others change nothing). The result is that of the trend that
 * is not calm, of two such trends that of the greater ratio, with the earlier onset; while both are
 *  calm, that of the typical message. Levels are relative to the reference of this window. */
void latency_trend_update(struct latency_trend *trend, uint64_t window,
                          const struct latency_sum *sum, struct trend_result *out);

/** See state_bytes.h. */
void latency_trend_copy_state(struct state_bytes *b, struct latency_trend **trend);

#endif
