/* The metrics: one list for what is collected, for the text, and for the table of docs/metrics.md.
 *
 * X(name, KIND, "unit", "meaning") of a figure, which is a double. Its metric is called
 * holter_<group>_<name>, of a counter with the suffix "_total". Units are base units, and the last
 * word of the name: seconds, bytes, ratio. NaN: the figure is not known, and there is no sample of
 * it.
 *
 * The number of series is bounded: about 55 a job and 14 a node of it; nothing is by rank or
 * pair. */
#ifndef HOLTER_DAEMON_METRICS_METRICS_FAMILIES_H
#define HOLTER_DAEMON_METRICS_METRICS_FAMILIES_H

/** holter_daemon_*: the daemon itself. */
#define METRICS_DAEMON(X)                                                                          \
    X(start_time_seconds, GAUGE, "seconds", "when it was started, since 1970")                     \
    X(cpu_seconds, COUNTER, "seconds", "processor time of the daemon")                             \
    X(resident_memory_bytes, GAUGE, "bytes", "resident memory of the daemon")                      \
    X(agents, GAUGE, "", "agents connected")                                                       \
    X(clients, GAUGE, "", "viewers and other clients connected")                                   \
    X(jobs, GAUGE, "", "jobs that run")                                                            \
    X(window_seconds, GAUGE, "seconds", "length of a window")                                      \
    X(windows_published, COUNTER, "", "windows of jobs published, corrections included")           \
    X(publish_delay_seconds, GAUGE, "seconds",                                                     \
      "longest time from the end of a running job's newest window to its publication")             \
    X(frames_published, COUNTER, "", "frames of the published stream")                             \
    X(messages, COUNTER, "", "window messages of agents accepted")                                 \
    X(message_bytes, COUNTER, "bytes", "bytes of these messages")                                  \
    X(messages_duplicate, COUNTER, "", "messages that agents sent again and that were known")      \
    X(messages_late, COUNTER, "",                                                                  \
      "window messages that came after their window was published; they count in the sums")        \
    X(messages_rejected, COUNTER, "", "messages refused: malformed, over a limit, not allowed")    \
    X(recording, GAUGE, "", "1: jobs are recorded; 0: they are not")                               \
    X(recording_failed, GAUGE, "", "1: the recording of a job has stopped because of a fault")     \
    X(recording_bytes, GAUGE, "bytes", "size of the open recordings, as of the last commit")       \
    X(alerts_delivered, COUNTER, "", "deliveries of alerts to sinks that succeeded")               \
    X(alert_delivery_failures, COUNTER, "", "deliveries of alerts that failed; they are retried")  \
    X(alerts_dropped, COUNTER, "", "alerts not delivered, as a sink's queue was full")

/** holter_fleet_*: a daemon of a fleet, as gateway of its agents and worker for its jobs. */
#define METRICS_FLEET(X)                                                                           \
    X(jobs, GAUGE, "", "jobs whose lease the daemon holds")                                        \
    X(jobs_resuming, GAUGE, "",                                                                    \
      "of these, jobs whose messages before it took them are being read")                          \
    X(jobs_taken, COUNTER, "", "jobs that it took: new ones, and those of other daemons")          \
    X(jobs_lost, COUNTER, "", "jobs that another daemon has gone on with")                         \
    X(messages_stored, COUNTER, "", "messages of agents that the servers have stored")             \
    X(unstored_bytes, GAUGE, "bytes", "messages of agents that wait for the servers")              \
    X(clock_error_seconds, GAUGE, "seconds",                                                       \
      "bound of the error of this daemon's time; 0: its clock is the fleet's")                     \
    X(envelopes_read, COUNTER, "", "envelopes of its jobs that it has read from the servers")      \
    X(states_stored, COUNTER, "", "states of jobs that it gave to the servers")                    \
    X(rejected, COUNTER, "", "messages of the servers that are not what they should be")

/** holter_job_*: each running job, and those that metrics_lists_job() keeps. */
#define METRICS_JOB(X)                                                                             \
    X(start_time_seconds, GAUGE, "seconds", "begin of its first window, since 1970")               \
    X(ranks_expected, GAUGE, "", "size of MPI_COMM_WORLD")                                         \
    X(ranks_watched, GAUGE, "", "ranks that agents have reported")                                 \
    X(nodes, GAUGE, "", "nodes that have reported ranks")                                          \
    X(nodes_missing, GAUGE, "", "nodes that did not report the newest window in time")             \
    X(nodes_left_out, GAUGE, "", "nodes without figures of their agent: a page has 16,384")        \
    X(windows, COUNTER, "", "windows published, corrections included")                             \
    X(publish_delay_seconds, GAUGE, "seconds",                                                     \
      "time from the end of the newest window to its publication")                                 \
    X(rank_seconds, COUNTER, "seconds",                                                            \
      "time of all ranks together, from their start of MPI to the end of their processes")         \
    X(calls, COUNTER, "", "MPI calls, polls included")                                             \
    X(polls, COUNTER, "", "polling calls that found nothing")                                      \
    X(messages_sent, COUNTER, "", "messages sent")                                                 \
    X(sent_bytes, COUNTER, "bytes", "bytes of these messages")                                     \
    X(messages_received, COUNTER, "", "messages received")                                         \
    X(received_bytes, COUNTER, "bytes", "bytes of these messages")                                 \
    X(send_wait_seconds, COUNTER, "seconds",                                                       \
      "part of the time in sends in which ranks waited for receivers")                             \
    X(mpi_ratio, GAUGE, "ratio", "share of the ranks' time in MPI, newest window")                 \
    X(waiting_ratio, GAUGE, "ratio", "share of the ranks' time waiting for others, newest window") \
    X(latency_ratio, GAUGE, "ratio",                                                               \
      "largest growth of message time that an alert reports now, times its level before; 1: none") \
    X(progress_ratio, GAUGE, "ratio",                                                              \
      "smallest progress that an alert reports now, work a second by that before; 1: none")        \
    X(messages_matched, COUNTER, "", "messages received that were matched with their send")        \
    X(matched_ratio, GAUGE, "ratio",                                                               \
      "share of the received messages that latency rests on; ranks not watched left out")          \
    X(records_lost, COUNTER, "", "records overwritten before they were read: sums lack them")      \
    X(windows_lost, COUNTER, "", "windows that agents dropped before the daemon got them")         \
    X(alerts_fired, COUNTER, "", "alerts that have fired")                                         \
    X(links_hot, GAUGE, "", "hot links of the network in the newest window")                       \
    X(links_congested, GAUGE, "", "congested links in the newest window")                          \
    X(hottest_link_bytes, GAUGE, "bytes", "modelled load of the fullest link, newest window")      \
    X(hottest_link_ratio, GAUGE, "ratio",                                                          \
      "largest load of a link by its capacity, newest window; none where no capacity is known")

/** holter_agent_*: the agent of each node of a running job. An agent that was started again counts
 * from 0. */
#define METRICS_AGENT(X)                                                                           \
    X(connected, GAUGE, "", "1: it reported within the last windows; 0: silent, or it has left")   \
    X(ranks, GAUGE, "", "ranks alive on the node")                                                 \
    X(uptime_seconds, GAUGE, "seconds", "time since its start")                                    \
    X(cpu_seconds, COUNTER, "seconds", "its processor time")                                       \
    X(resident_memory_bytes, GAUGE, "bytes", "its resident memory, rings of ranks left out")       \
    X(shared_memory_bytes, GAUGE, "bytes", "what the ranks there take of /dev/shm for Holter")     \
    X(sent_bytes, COUNTER, "bytes", "bytes sent to the daemon")                                    \
    X(records, COUNTER, "", "records read from the ranks' rings")                                  \
    X(records_lost, COUNTER, "", "records lost there")                                             \
    X(windows_dropped, COUNTER, "", "windows dropped, as its buffer was full")                     \
    X(restarts, COUNTER, "", "times that it was started again after a crash")                      \
    X(degraded, GAUGE, "", "1: detail is left out to stay in the byte budget")                     \
    X(clock_error_seconds, GAUGE, "seconds", "bound of the error of the node's clock")             \
    X(call_cost_seconds, GAUGE, "seconds", "measured cost of the probe for each MPI call")

/** Classes of MPI calls, of holter_job_mpi_seconds: X(field of struct sum_totals, name) */
#define METRICS_CLASSES(X)                                                                         \
    X(send_ns, "send")                                                                             \
    X(recv_ns, "recv")                                                                             \
    X(wait_ns, "wait")                                                                             \
    X(poll_ns, "poll")                                                                             \
    X(collective_ns, "collective")                                                                 \
    X(one_sided_ns, "one-sided")                                                                   \
    X(io_ns, "io")                                                                                 \
    X(other_ns, "other")

#endif
