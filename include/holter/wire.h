/* The wire: every message that two Holter processes exchange.
 *
 * One list below defines each message: from it come the C structs, the tables of encoder and
 * decoder, the limits, and the tables of proto/SPEC.md (a test compares them). A message is a
 * MessagePack array [type, fields]; fields is a map from small integer keys to values; rows are
 * arrays of arrays. Unknown keys and trailing columns are skipped, so that fields can be added;
 * numbers are never reused. The first columns of a table (their number is in WIRE_ROW_TABLES) are
 * in every row; columns that were added later may be missing. proto/SPEC.md defines the order in
 * which messages are exchanged.
 *
 * Units are in the comments: times are nanoseconds; "daemon time" is the daemon's CLOCK_REALTIME
 * at its start plus its CLOCK_MONOTONIC since, so that it never jumps.
 *
 * FIELD(key, kind, name, limit, need, doc)
 *   kind   U64, I64, F64, STR (UTF-8, limit bytes), BIN (any bytes, as many as limit; not in rows),
 *          or ROWS(table), limit rows
 *   limit  largest value, most bytes or most rows; a message over it is rejected
 *          (-HOLTER_ELIMIT, numbers -HOLTER_ERANGE)
 *   need   REQUIRED or OPTIONAL; an absent optional field is 0, NaN, "", no bytes or no rows
 * COLUMN(kind, name, limit, doc)
 */
#ifndef HOLTER_WIRE_H
#define HOLTER_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_PROTOCOL 1u /**< raised when an old peer could misread a message */

/* Limits of every message; each message has further ones. */
#define WIRE_MESSAGE_BYTES (16u << 20) /**< longest message */
#define WIRE_DEPTH 8u                  /**< deepest nesting, also inside skipped values */

#define WIRE_MAX_ROWS (1u << 20)
/** Published sums with more rows are split into messages of at most this many rows, each of which
 * can be decoded alone; all but the last have more = 1. The longest row takes at most 270 bytes, so
 * that a part stays below 5 MiB. */
#define WIRE_PART_ROWS (1u << 14)
/** The same for bytes of forwarded messages. */
#define WIRE_PART_BYTES (4u << 20)
#define WIRE_ANY UINT64_MAX

/* ---- rows ---------------------------------------------------------------- */

/** A communicator that rows of the same message refer to by its position, counted from 0. */
#define WIRE_COMM_ROW(COLUMN)                                                                      \
    COLUMN(U64, id, WIRE_ANY, "job-wide id; 0: none or unknown")                                   \
    COLUMN(U64, parent, WIRE_ANY, "id of the communicator it was made from; 0: none")              \
    COLUMN(U64, size, WIRE_ANY, "ranks in it (local group)")                                       \
    COLUMN(U64, remote_size, WIRE_ANY, "ranks in the remote group; 0: intra-communicator")         \
    COLUMN(STR, name, 64, "name, or the call that made it")

/** A code region that rows refer to by its position, counted from 0; position 0 is "outside". */
#define WIRE_REGION_ROW(COLUMN) COLUMN(STR, name, 64, "name given to MPI_Pcontrol")

/** A rank on the agent's node. */
#define WIRE_MEMBER_ROW(COLUMN)                                                                    \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, pid, WIRE_ANY, "process id on its node")                                           \
    COLUMN(STR, placement, 128, "cores it may run on, a cpu list")                                 \
    COLUMN(U64, core, WIRE_ANY,                                                                    \
           "1 + number of the physical core that these belong to; 0: several, or not known")       \
    COLUMN(U64, numa, WIRE_ANY, "1 + number of their NUMA node; 0: several, or not known")         \
    COLUMN(U64, socket, WIRE_ANY, "1 + number of their socket; 0: several, or not known")

/** Traffic of a network interface of a node since the previous report, from the counters of the
 *  interface: all traffic of all programs. */
#define WIRE_COUNTER_ROW(COLUMN)                                                                   \
    COLUMN(STR, name, 64,                                                                          \
           "interface, \"eth0\", \"mlx5_0/1\", \"cxi0\"; imports: the link, \"x+\"")               \
    COLUMN(U64, medium, 7, "enum counter_medium")                                                  \
    COLUMN(U64, unit, 1, "unit of the counts: 0 bytes, 1 packets, if bytes are not known")         \
    COLUMN(U64, sent, WIRE_ANY, "traffic out of the node")                                         \
    COLUMN(U64, received, WIRE_ANY, "traffic into the node")                                       \
    COLUMN(U64, dropped, WIRE_ANY, "packets dropped or damaged, both directions")                  \
    COLUMN(U64, speed, WIRE_ANY, "bytes a second in each direction; 0: not known")                 \
    COLUMN(U64, length_ns, WIRE_ANY, "time since the previous report")

/** What the kernel counted for the main thread of a rank's process, proc(5): why it is late. */
#define WIRE_PROCESS_ROW(COLUMN)                                                                   \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, length_ns, 86400000000000, "time that the figures are of; not 0")                  \
    COLUMN(U64, user_ns, 86400000000000, "time in user mode, in ticks of the kernel's clock")      \
    COLUMN(U64, system_ns, 86400000000000, "time in system calls and faults, likewise")            \
    COLUMN(U64, queued_ns, 86400000000000, "time in which it could have run, and had no core")     \
    COLUMN(U64, voluntary, WIRE_ANY, "context switches because it waited")                         \
    COLUMN(U64, involuntary, WIRE_ANY, "context switches because others got its core")             \
    COLUMN(U64, minor_faults, WIRE_ANY, "page faults without reading")                             \
    COLUMN(U64, major_faults, WIRE_ANY, "page faults that read from a device")                     \
    COLUMN(U64, samples, 4294967295, "how often its state was looked at")                          \
    COLUMN(U64, runnable, 4294967295, "of these, on a core or waiting for one: R")                 \
    COLUMN(U64, stopped, 4294967295, "of these, stopped by a signal or a debugger: T, t")          \
    COLUMN(U64, blocked, 4294967295, "of these, in uninterruptible sleep: D")                      \
    COLUMN(U64, block_ns, 86400000000000, "delay by block devices; 0 where it is not accounted")   \
    COLUMN(U64, clock_khz, 100000000, "mean clock of its core when it ran last; 0: not known")     \
    COLUMN(U64, steal_ns, 86400000000000, "mean time that the host took from a core of its node")

/** Activity of one rank in one window. Sums over all windows are the totals of the run. */
#define WIRE_RANK_ROW(COLUMN)                                                                      \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, events, WIRE_ANY, "records of its rings that were summed")                         \
    COLUMN(U64, lost, WIRE_ANY, "records overwritten before they were read, or that had no ring")  \
    COLUMN(U64, calls, WIRE_ANY, "MPI calls, polls that found nothing included")                   \
    COLUMN(U64, polls, WIRE_ANY, "polling calls that found nothing")                               \
    COLUMN(U64, sent, WIRE_ANY, "messages sent, counted when posted")                              \
    COLUMN(U64, sent_bytes, WIRE_ANY, "bytes of them")                                             \
    COLUMN(U64, received, WIRE_ANY, "messages received, counted when complete")                    \
    COLUMN(U64, received_bytes, WIRE_ANY, "bytes of them")                                         \
    COLUMN(U64, send_ns, WIRE_ANY, "time in calls of class send, clipped to the window")           \
    COLUMN(U64, recv_ns, WIRE_ANY, "time in calls of class recv")                                  \
    COLUMN(U64, wait_ns, WIRE_ANY, "time in calls of class wait")                                  \
    COLUMN(U64, poll_ns, WIRE_ANY, "time in calls of class poll")                                  \
    COLUMN(U64, collective_ns, WIRE_ANY, "time in calls of class collective")                      \
    COLUMN(U64, one_sided_ns, WIRE_ANY, "time in calls of class one-sided")                        \
    COLUMN(U64, io_ns, WIRE_ANY, "time in calls of class io")                                      \
    COLUMN(U64, other_ns, WIRE_ANY, "time in calls of class other")                                \
    COLUMN(U64, untracked, WIRE_ANY,                                                               \
           "requests and calls that the probe lost track of: end or communicator are not known")   \
    COLUMN(U64, threads, WIRE_ANY, "threads that called MPI so far")                               \
    COLUMN(U64, in_call, 65535, "call in progress at the window's end; 0: none")                   \
    COLUMN(U64, in_call_ns, WIRE_ANY, "time since the entry of that call")                         \
    COLUMN(U64, in_call_comm, WIRE_ANY, "communicator of that call, its id; 0: none")              \
    COLUMN(I64, in_call_peer, WIRE_ANY, "peer of that call; negative: PEER_*")                     \
    COLUMN(U64, process_state, 127,                                                                \
           "state of its process when it made no call, a letter of proc(5); 0: not read")          \
    COLUMN(U64, send_wait_ns, WIRE_ANY,                                                            \
           "published: part of send_ns in which it waited for the receivers, by the matched "      \
           "messages and the call in progress; where these tell it late, of a window before")      \
    COLUMN(U64, awaited, WIRE_ANY,                                                                 \
           "published: 1 + the rank that it waited for longest; 0: none, or not known")            \
    COLUMN(U64, awaited_ns, WIRE_ANY, "published: time in which it waited for that rank")          \
    COLUMN(U64, tallied, WIRE_ANY,                                                                 \
           "of events: not read but summed by the rank itself, without latency and bursts")        \
    COLUMN(U64, ranks, WIRE_ANY,                                                                   \
           "published: ranks that reported in this row, of a job in groups of ranks; 0: one")      \
    COLUMN(U64, crossing, WIRE_ANY,                                                                \
           "published: of the messages sent, those that are not known to stay within a node")      \
    COLUMN(U64, crossing_bytes, WIRE_ANY, "published: bytes of them")                              \
    COLUMN(U64, absent_ns, WIRE_ANY,                                                               \
           "time of the window before MPI was initialised and after the process ended")            \
    COLUMN(U64, service_ns, WIRE_ANY,                                                              \
           "waiting of threads that serve requests while others of the rank work: in no class")

/** A rank that came later to messages or collectives than the ranks that it had them with: logical
 *  steps that they have in common (Isaacs et al.). See daemon/analysis/waits/rank_lateness.h. */
#define WIRE_LATENESS_ROW(COLUMN)                                                                  \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, late_ns, WIRE_ANY,                                                                 \
           "how much later: the most that a rank waited for it, or that it entered the "           \
           "collectives of a kind after the first")                                                \
    COLUMN(U64, caused_ns, WIRE_ANY,                                                               \
           "of that, what it did not inherit from those that it waited for itself")

/** Messages from one rank to another, as the sender counted them. */
#define WIRE_PAIR_ROW(COLUMN)                                                                      \
    COLUMN(U64, source, WIRE_ANY, "sending rank")                                                  \
    COLUMN(I64, destination, WIRE_ANY, "receiving rank; -1: all others of this source together")   \
    COLUMN(U64, comm, WIRE_MAX_ROWS, "position in the message's communicators")                    \
    COLUMN(U64, region, WIRE_MAX_ROWS, "position in the message's regions")                        \
    COLUMN(U64, size_class, 1023, "class of the message size, see holter/size_class.h")            \
    COLUMN(U64, messages, WIRE_ANY, "how many")                                                    \
    COLUMN(U64, bytes, WIRE_ANY, "bytes together")

/** Calls of one kind by one rank. The times of all classes of a rank add up from these rows, but
 *  for calls still in progress. */
#define WIRE_CALL_ROW(COLUMN)                                                                      \
    COLUMN(U64, rank, WIRE_ANY, "calling rank")                                                    \
    COLUMN(U64, call, 65535, "number of the call, see agent/probe/calls.def")                      \
    COLUMN(U64, comm, WIRE_MAX_ROWS, "position in the message's communicators")                    \
    COLUMN(U64, region, WIRE_MAX_ROWS, "position in the message's regions")                        \
    COLUMN(U64, calls, WIRE_ANY, "how many ended in the window")                                   \
    COLUMN(U64, bytes, WIRE_ANY, "bytes given: sent, or put into the collective")                  \
    COLUMN(U64, bytes_in, WIRE_ANY, "bytes got: received, or taken from the collective")           \
    COLUMN(U64, time_ns, WIRE_ANY, "time in them, whole calls")                                    \
    COLUMN(U64, longest_ns, WIRE_ANY, "longest of them")                                           \
    COLUMN(U64, polls, WIRE_ANY, "of these calls, polls that found nothing")                       \
    COLUMN(U64, collective_ns, WIRE_ANY,                                                           \
           "of this time, that of waits and tests whose first request was of a collective; "       \
           "in windows of agents only")

/** A rank that ended without MPI_Finalize. */
#define WIRE_DEATH_ROW(COLUMN)                                                                     \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, pid, WIRE_ANY, "its process")                                                      \
    COLUMN(U64, aborted, 1, "1: it called MPI_Abort; 0: it was killed, crashed or left")           \
    COLUMN(I64, abort_code, WIRE_ANY, "argument of MPI_Abort")                                     \
    COLUMN(U64, call, 65535, "last call, or the one it died in; 0: none seen")                     \
    COLUMN(U64, in_call, 1, "1: it died inside that call")                                         \
    COLUMN(I64, peer, WIRE_ANY, "peer of that call; negative: PEER_*")                             \
    COLUMN(U64, comm, WIRE_ANY, "communicator of that call, its id; 0: none")                      \
    COLUMN(U64, at_ns, WIRE_ANY,                                                                   \
           "exit of the last call, or entry of the one in progress, daemon time")                  \
    COLUMN(U64, ended_ns, WIRE_ANY, "when the agent noticed the end of the process, daemon time")

/** Times of messages from one rank to another, matched at both ends. Of each message, with s the
 *  entry of the call that posted the send, w the entry and r the exit of the call that completed
 *  the receive: transfer r - s (PCLVis, section 3); late sender max(0, s - w), which lies before
 * the transfer; late receiver max(0, w - s); network the remaining part of the transfer, from the
 *  latest of s, w and the sends of all other messages that the same call completed. If not all of
 *  these sends are known, the remaining part counts as joint. */
#define WIRE_TRANSFER_ROW(COLUMN)                                                                  \
    COLUMN(U64, source, WIRE_ANY, "sending rank")                                                  \
    COLUMN(U64, destination, WIRE_ANY,                                                             \
           "receiving rank; largest number: several receivers of this source")                     \
    COLUMN(U64, size_class, 1023, "class of the message size, see holter/size_class.h")            \
    COLUMN(U64, messages, WIRE_ANY, "how many were matched")                                       \
    COLUMN(U64, delayed, WIRE_ANY, "of them, those above the recent criterion of their class")     \
    COLUMN(U64, transfer_ns, WIRE_ANY, "transfer times together")                                  \
    COLUMN(U64, late_sender_ns, WIRE_ANY,                                                          \
           "time in which receivers waited for sends that had not begun")                          \
    COLUMN(U64, late_receiver_ns, WIRE_ANY, "time before the receivers waited or tested")          \
    COLUMN(U64, network_ns, WIRE_ANY, "the rest of the transfer times")                            \
    COLUMN(U64, joint_ns, WIRE_ANY,                                                                \
           "remaining time of calls that also completed messages of other nodes")                  \
    COLUMN(U64, log2_sum, WIRE_ANY, "binary logarithms of the transfer times, sum, in 1/65536")    \
    COLUMN(U64, send_wait_ns, WIRE_ANY,                                                            \
           "time in calls of class send until the receivers waited or tested")

/** Histogram of transfer times. */
#define WIRE_LATENCY_ROW(COLUMN)                                                                   \
    COLUMN(U64, locality, 1, "0: both ends on one node, 1: on two")                                \
    COLUMN(U64, size_class, 1023, "class of the message size, see holter/size_class.h")            \
    COLUMN(U64, bucket, 65535, "class of the transfer time, see holter/time_class.h")              \
    COLUMN(U64, messages, WIRE_ANY, "how many")

/** One end of a message between two nodes, picked by its key. Times are relative to the begin of
 *  the message's window. */
#define WIRE_HALF_ROW(COLUMN)                                                                      \
    COLUMN(U64, key, WIRE_ANY,                                                                     \
           "of communicator, source, destination, tag and ordinal: holter/message_key.h")          \
    COLUMN(U64, receive, 1, "0: the sending end, 1: the receiving end")                            \
    COLUMN(U64, source, WIRE_ANY, "sending rank")                                                  \
    COLUMN(U64, destination, WIRE_ANY, "receiving rank")                                           \
    COLUMN(U64, bytes, WIRE_ANY, "size")                                                           \
    COLUMN(I64, begin_ns, 3600000000000,                                                           \
           "entry of the call that posted the send or completed the receive")                      \
    COLUMN(U64, length_ns, 3600000000000,                                                          \
           "until that call's exit; of a send that a call of another class posted: 0")             \
    COLUMN(U64, together, WIRE_ANY,                                                                \
           "receive: messages of other nodes that the same call completed, with this one")         \
    COLUMN(I64, local_ns, 3600000000000,                                                           \
           "receive: latest send among messages from the same node; none: begin_ns")

/** A receive for which a rank has been waiting for a long time. */
#define WIRE_PENDING_ROW(COLUMN)                                                                   \
    COLUMN(U64, rank, WIRE_ANY, "waiting rank")                                                    \
    COLUMN(I64, source, WIRE_ANY, "rank it is to come from; negative: PEER_*")                     \
    COLUMN(I64, tag, WIRE_ANY, "tag; negative: TAG_*")                                             \
    COLUMN(U64, comm, WIRE_ANY, "communicator, its id; 0: unknown")                                \
    COLUMN(U64, waited_ns, WIRE_ANY, "time in the call that waits for it")

/** Normal transfer time of messages of one size class and locality. */
#define WIRE_CRITERION_ROW(COLUMN)                                                                 \
    COLUMN(U64, locality, 1, "0: both ends on one node, 1: on two")                                \
    COLUMN(U64, size_class, 1023, "class of the message size, see holter/size_class.h")            \
    COLUMN(U64, recent_ns, WIRE_ANY, "median transfer time over the horizon")                      \
    COLUMN(U64, reference_ns, WIRE_ANY, "best sustained level of that median in this job")         \
    COLUMN(U64, messages, WIRE_ANY, "messages within the horizon; 0: interpolated")                \
    COLUMN(U64, low_ns, WIRE_ANY, "of these messages a tenth takes less time; 0: none")            \
    COLUMN(U64, high_ns, WIRE_ANY, "of these messages a tenth takes more time; 0: none")           \
    COLUMN(U64, window_ns, WIRE_ANY, "median transfer time of the newest window; 0: no messages")  \
    COLUMN(U64, window_messages, WIRE_ANY, "messages of the newest window")

/** Latency of one window: of the job, of a locality, of a region. */
#define WIRE_SERIES_ROW(COLUMN)                                                                    \
    COLUMN(U64, scope, 3, "enum series_scope")                                                     \
    COLUMN(U64, id, WIRE_ANY, "region; 0 for other scopes")                                        \
    COLUMN(U64, messages, WIRE_ANY, "matched messages")                                            \
    COLUMN(U64, delayed, WIRE_ANY, "of them, those above the recent criterion")                    \
    COLUMN(F64, recent, 0,                                                                         \
           "mean of transfer time by recent criterion (PCLVis, Eq. 2); NaN: no messages")          \
    COLUMN(F64, reference, 0, "mean of transfer time by reference criterion; NaN: no messages")    \
    COLUMN(U64, transfer_ns, WIRE_ANY, "as in transfer, over all messages")                        \
    COLUMN(U64, late_sender_ns, WIRE_ANY, "")                                                      \
    COLUMN(U64, late_receiver_ns, WIRE_ANY, "")                                                    \
    COLUMN(U64, network_ns, WIRE_ANY, "")                                                          \
    COLUMN(U64, joint_ns, WIRE_ANY, "")                                                            \
    COLUMN(U64, trend, 2, "enum series_trend")                                                     \
    COLUMN(U64, trend_since, WIRE_ANY, "number of the window in which it began")                   \
    COLUMN(F64, slope, 0, "growth of reference a minute, as a share; NaN: not known")              \
    COLUMN(F64, typical, 0,                                                                        \
           "geometric mean of transfer time by reference criterion; NaN: no messages")             \
    COLUMN(U64, error_ns, WIRE_ANY,                                                                \
           "by so much transfer_ns may be wrong: uncertainty of the clocks, over all messages")

/** Latency of one rank in one window. */
#define WIRE_RANK_LATENCY_ROW(COLUMN)                                                              \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, messages, WIRE_ANY, "matched messages that it sent or received")                   \
    COLUMN(F64, reference, 0, "mean of transfer time by reference criterion; NaN: no messages")    \
    COLUMN(F64, typical, 0,                                                                        \
           "geometric mean of transfer time by reference criterion; NaN: no messages")             \
    COLUMN(F64, error, 0,                                                                          \
           "by so much reference may be wrong: uncertainty of the clocks, mean; 0: one clock")

/** A communication region: ranks that communicate with each other more than with others (PCLVis,
 * section 4.2). */
#define WIRE_LATENCY_REGION_ROW(COLUMN)                                                            \
    COLUMN(U64, id, WIRE_ANY, "from 1 up; the same as long as the region can be recognised")       \
    COLUMN(U64, ranks, WIRE_ANY, "how many belong to it")                                          \
    COLUMN(U64, since, WIRE_ANY, "number of the window in which it appeared")

#define WIRE_REGION_MEMBER_ROW(COLUMN)                                                             \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, region, WIRE_ANY, "id of its region")

/** A cause that an alert is attributed to (PCLVis, section 6, and Scalasca's wait states). */
#define WIRE_CAUSE_ROW(COLUMN)                                                                     \
    COLUMN(STR, name, 32,                                                                          \
           "network, late-sender, late-receiver, mapping, pattern, background, slow-node, "        \
           "collective; and of ranks whose processes are known: computes-longer, interrupted, "    \
           "stopped, paging, io, clock")                                                           \
    COLUMN(F64, share, 0, "of the growth, 0 to 1")                                                 \
    COLUMN(STR, text, 256, "the figures that support it, for people")

/** A burst: a short run of communication of the window's ranks (CommGram, section F; see
 *  daemon/analysis/events/bursts.h). The time of a message is the middle of the call that posted
 *  it, which for a blocking call is close to the mean of sending and receiving; the time of a
 *  collective is the middle of its call. */
#define WIRE_BURST_ROW(COLUMN)                                                                     \
    COLUMN(U64, collective, 1, "0: messages, 1: calls of collectives")                             \
    COLUMN(U64, first_ns, WIRE_ANY, "time of the earliest message or call, daemon time")           \
    COLUMN(U64, last_ns, WIRE_ANY, "time of the latest")                                           \
    COLUMN(U64, time_sum_high, WIRE_ANY, "sum of their times, upper 64 bits")                      \
    COLUMN(U64, time_sum_low, WIRE_ANY, "lower 64 bits")                                           \
    COLUMN(U64, messages, WIRE_ANY, "how many messages or calls")                                  \
    COLUMN(U64, bytes, WIRE_ANY, "bytes of them; collectives: bytes that the ranks contributed")   \
    COLUMN(U64, pairs, WIRE_MAX_ROWS,                                                              \
           "number of its rows in burst_pairs; they follow those of the previous burst")           \
    COLUMN(U64, other_messages, WIRE_ANY, "messages of the burst that are in no row")              \
    COLUMN(U64, other_bytes, WIRE_ANY, "bytes of them")                                            \
    COLUMN(U64, other_pairs, WIRE_ANY, "pairs that these messages belong to")

/** Messages of a burst from one rank to another, or calls of a collective by one rank. */
#define WIRE_BURST_PAIR_ROW(COLUMN)                                                                \
    COLUMN(U64, source, WIRE_ANY, "sending or calling rank")                                       \
    COLUMN(U64, destination, WIRE_ANY, "receiving rank; or position in the message's collectives") \
    COLUMN(U64, size_class, 1023, "class of the size, see holter/size_class.h")                    \
    COLUMN(U64, messages, WIRE_ANY, "how many messages or calls")                                  \
    COLUMN(U64, bytes, WIRE_ANY, "bytes together")

/** A collective that rows of burst_pairs refer to by its position, counted from 0. */
#define WIRE_COLLECTIVE_ROW(COLUMN)                                                                \
    COLUMN(U64, call, 65535, "number of the call, see agent/probe/calls.def")                      \
    COLUMN(U64, comm, WIRE_MAX_ROWS, "position in the message's communicators")                    \
    COLUMN(I64, root, WIRE_ANY, "world rank of the root; negative: PEER_*")

/** Position of a rank in a communicator that is named by collectives of the message. There are no
 *  rows for MPI_COMM_WORLD, where positions are ranks. */
#define WIRE_COMM_MEMBER_ROW(COLUMN)                                                               \
    COLUMN(U64, comm, WIRE_MAX_ROWS, "position in the message's communicators")                    \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, position, WIRE_ANY, "its rank in the communicator")

/** A dimension of a Cartesian communicator. The dimensions of one communicator are consecutive
 * rows, in order; the product of the sizes is its number of ranks. */
#define WIRE_CART_ROW(COLUMN)                                                                      \
    COLUMN(U64, id, WIRE_ANY, "job-wide id of the communicator")                                   \
    COLUMN(U64, made, WIRE_ANY, "communicators made from the same parent before it")               \
    COLUMN(U64, size, WIRE_ANY, "ranks along the dimension")                                       \
    COLUMN(U64, wraps, 1, "1: periodic")

/** Position of a rank in a Cartesian communicator; coordinates follow from it in row-major order.
 */
#define WIRE_CART_MEMBER_ROW(COLUMN)                                                               \
    COLUMN(U64, cart, WIRE_MAX_ROWS, "position of its first dimension in the message's carts")     \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, position, WIRE_ANY, "its rank in the communicator")

/** A phase of the job: a run of bursts between gaps (CommGram, section F). Closed phases keep their
 *  numbers and bounds. */
#define WIRE_PHASE_ROW(COLUMN)                                                                     \
    COLUMN(U64, id, WIRE_ANY, "from 1, in order of time; open phase: the number it will get")      \
    COLUMN(U64, open, 1, "1: it may still change")                                                 \
    COLUMN(U64, begin_ns, WIRE_ANY, "time of its first burst, daemon time")                        \
    COLUMN(U64, end_ns, WIRE_ANY, "time of its last burst")                                        \
    COLUMN(U64, bursts, WIRE_ANY, "bursts in it")                                                  \
    COLUMN(U64, messages, WIRE_ANY, "messages between ranks")                                      \
    COLUMN(U64, bytes, WIRE_ANY, "bytes of them")                                                  \
    COLUMN(U64, modelled, WIRE_ANY, "further messages that collectives send by their algorithms")  \
    COLUMN(U64, modelled_bytes, WIRE_ANY, "bytes of them")                                         \
    COLUMN(U64, pairs, WIRE_ANY, "pairs of ranks that communicated")                               \
    COLUMN(U64, ranks, WIRE_ANY, "ranks that communicated")                                        \
    COLUMN(U64, communities, WIRE_ANY, "communities of these ranks, at the greatest modularity")   \
    COLUMN(F64, modularity, 0, "the modularity; NaN: not known")                                   \
    COLUMN(U64, folded, WIRE_ANY,                                                                  \
           "messages whose pair is not known, because rows were left out to bound the size")

/** A point of the CommGram curve (CommGram, section H): one for each phase. */
#define WIRE_CURVE_POINT_ROW(COLUMN)                                                               \
    COLUMN(U64, phase, WIRE_ANY, "id of the phase")                                                \
    COLUMN(U64, provisional, 1, "1: the phase is still open")                                      \
    COLUMN(U64, begin_ns, WIRE_ANY, "begin of the phase, daemon time")                             \
    COLUMN(U64, end_ns, WIRE_ANY, "its end")                                                       \
    COLUMN(F64, height, 0, "height of the curve; the first phase is at 0")                         \
    COLUMN(F64, difference, 0, "to the communities of the previous phase, 0 to 1")                 \
    COLUMN(U64, returned, 1, "1: the pattern is an earlier one; resemblance is 0.95 at least")     \
    COLUMN(U64, resembles, WIRE_ANY,                                                               \
           "id of the first phase with that pattern, or of the most similar phase; 0: none")       \
    COLUMN(F64, resemblance, 0,                                                                    \
           "to that phase: share of ranks that stay together; 1: the same, 0: no such phase")      \
    COLUMN(U64, communities, WIRE_ANY, "of the phase")

/** A column of the CommGram picture: a phase as it was cut for the picture. */
#define WIRE_COLUMN_ROW(COLUMN)                                                                    \
    COLUMN(U64, begin_ns, WIRE_ANY, "time of its first burst, daemon time")                        \
    COLUMN(U64, end_ns, WIRE_ANY, "time of its last burst")                                        \
    COLUMN(U64, open, 1, "1: it contains bursts that may still change")                            \
    COLUMN(U64, bursts, WIRE_ANY, "bursts in it")                                                  \
    COLUMN(U64, messages, WIRE_ANY, "messages between ranks that the picture shows")               \
    COLUMN(U64, bytes, WIRE_ANY, "bytes of them")                                                  \
    COLUMN(U64, modelled, WIRE_ANY, "of these messages, those that represent collectives")         \
    COLUMN(U64, modelled_bytes, WIRE_ANY, "bytes of them")                                         \
    COLUMN(U64, folded, WIRE_ANY, "further messages whose pair is not known")                      \
    COLUMN(U64, folded_bytes, WIRE_ANY, "bytes of them")                                           \
    COLUMN(U64, ranks, WIRE_ANY, "ranks that communicated")                                        \
    COLUMN(U64, communities, WIRE_ANY,                                                             \
           "found among them, at the greatest modularity; there may be more bars, or fewer")       \
    COLUMN(F64, modularity, 0, "of these communities")                                             \
    COLUMN(F64, height, 0, "of the curve through these columns")                                   \
    COLUMN(F64, difference, 0, "to the communities of the previous column, 0 to 1")                \
    COLUMN(U64, returned, 1, "1: an earlier column has its pattern")                               \
    COLUMN(U64, resembles, WIRE_ANY,                                                               \
           "first column of that pattern, or of the most similar one, from 1; 0: none")            \
    COLUMN(F64, resemblance, 0,                                                                    \
           "to that column: share of ranks that stay together; 1: the same, 0: no such column")    \
    COLUMN(U64, bars, WIRE_ANY, "drawn for the communities that were asked for")

/** A bar: a community within a column. A picture of K phases has K + 1 columns of bars: messages of
 *  phase k go from the bars of column k to those of column k + 1, which show phase k + 1; the last
 *  column shows the last phase a second time. */
#define WIRE_BAR_ROW(COLUMN)                                                                       \
    COLUMN(U64, column, WIRE_MAX_ROWS, "counted from 0")                                           \
    COLUMN(U64, bar, WIRE_MAX_ROWS, "counted from 0, from the top")                                \
    COLUMN(U64, community, WIRE_ANY, "identity of the community across columns: its colour")       \
    COLUMN(U64, ranks, WIRE_ANY, "ranks in it")                                                    \
    COLUMN(U64, sent, WIRE_ANY, "messages that they sent in this column's phase")                  \
    COLUMN(U64, sent_bytes, WIRE_ANY, "bytes of them")                                             \
    COLUMN(U64, received, WIRE_ANY, "messages that they received in this column's phase")          \
    COLUMN(U64, received_bytes, WIRE_ANY, "bytes of them")

/** Consecutive ranks of a bar. */
#define WIRE_BAR_RANKS_ROW(COLUMN)                                                                 \
    COLUMN(U64, column, WIRE_MAX_ROWS, "counted from 0")                                           \
    COLUMN(U64, bar, WIRE_MAX_ROWS, "counted from 0, from the top")                                \
    COLUMN(U64, rank, WIRE_ANY, "the first")                                                       \
    COLUMN(U64, count, WIRE_ANY, "how many")

/** Messages of one phase from one bar to another, of about one size. */
#define WIRE_RIBBON_ROW(COLUMN)                                                                    \
    COLUMN(U64, column, WIRE_MAX_ROWS, "phase, counted from 0")                                    \
    COLUMN(U64, from, WIRE_MAX_ROWS, "bar of that column")                                         \
    COLUMN(U64, to, WIRE_MAX_ROWS, "bar of the next column")                                       \
    COLUMN(U64, size_class, 1023, "class of their mean size, see holter/size_class.h")             \
    COLUMN(U64, modelled, 1, "1: they represent collectives")                                      \
    COLUMN(U64, messages, WIRE_ANY, "how many")                                                    \
    COLUMN(U64, bytes, WIRE_ANY, "bytes together")

/** A dimension of a regular network, or a level of a fat tree. See
 * daemon/analysis/network/topology.h. */
#define WIRE_DIMENSION_ROW(COLUMN)                                                                 \
    COLUMN(STR, name, 16, "\"A\", \"x\", \"group\"")                                               \
    COLUMN(U64, size, WIRE_ANY, "coordinates along it; fat tree: children of a switch")            \
    COLUMN(U64, connection, 7, "enum topology_connection")                                         \
    COLUMN(U64, step, 255, "when routes correct it: 0 first")                                      \
    COLUMN(U64, up, WIRE_ANY, "fat tree: parents of a switch below; else 0")

/** A vertex of a network given as a graph: nodes first. */
#define WIRE_VERTEX_ROW(COLUMN)                                                                    \
    COLUMN(STR, name, 64, "host, switch, core")                                                    \
    COLUMN(U64, kind, 7, "enum topology_vertex")

/** A directed link of a network given as a graph. Its number is its position. */
#define WIRE_EDGE_ROW(COLUMN)                                                                      \
    COLUMN(U64, from, WIRE_MAX_ROWS, "vertex")                                                     \
    COLUMN(U64, to, WIRE_MAX_ROWS, "vertex")                                                       \
    COLUMN(F64, capacity, 0, "bytes a second; 0: the capacity of the whole network")               \
    COLUMN(STR, interface, 64, "interface by which it leaves or enters a node")

/** A vertex of a given route. The rows of a route are consecutive. */
#define WIRE_HOP_ROW(COLUMN)                                                                       \
    COLUMN(U64, source, WIRE_ANY, "vertex where the route begins")                                 \
    COLUMN(U64, destination, WIRE_ANY, "vertex where it ends")                                     \
    COLUMN(U64, vertex, WIRE_ANY, "next vertex on the route, the destination last")

/** A route that is asked about. */
#define WIRE_ROUTE_ROW(COLUMN)                                                                     \
    COLUMN(U64, source, WIRE_ANY, "vertex where it begins")                                        \
    COLUMN(U64, destination, WIRE_ANY, "vertex where it ends")

/** Placement of a rank in the network. */
#define WIRE_SEAT_ROW(COLUMN)                                                                      \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, vertex, WIRE_ANY, "vertex; largest number: not known")

/** A directed link in a window. */
#define WIRE_LINK_ROW(COLUMN)                                                                      \
    COLUMN(U64, link, WIRE_ANY, "number of the link in the topology")                              \
    COLUMN(U64, from, WIRE_ANY, "vertex that it leaves")                                           \
    COLUMN(U64, to, WIRE_ANY, "vertex that it enters")                                             \
    COLUMN(U64, state, 7, "enum link_state")                                                       \
    COLUMN(U64, since, WIRE_ANY, "number of the window in which that state began")                 \
    COLUMN(U64, messages, WIRE_ANY, "messages whose routes cross it")                              \
    COLUMN(U64, bytes, WIRE_ANY, "modelled load: bytes of them")                                   \
    COLUMN(F64, average, 0, "moving average of the load, bytes a window")                          \
    COLUMN(U64, peak, WIRE_ANY, "largest load of a window so far")                                 \
    COLUMN(F64, share, 0, "load divided by the capacity of the link in a window; NaN: not known")  \
    COLUMN(F64, latency, 0,                                                                        \
           "relative latency (by the reference criterion) of matched messages that cross it; "     \
           "NaN: none")                                                                            \
    COLUMN(U64, measured, WIRE_ANY, "count of the node's interface; largest number: not known")    \
    COLUMN(U64, unit, 1, "of measured: 0 bytes, 1 packets")                                        \
    COLUMN(F64, ratio, 0, "measured divided by modelled, both as moving averages; NaN: not known") \
    COLUMN(U64, collective_messages, WIRE_ANY,                                                     \
           "that collectives send over it by their algorithms")                                    \
    COLUMN(U64, collective_bytes, WIRE_ANY, "bytes of them; neither is in messages or bytes")

enum link_state { LINK_IDLE, LINK_BUSY, LINK_HOT, LINK_CONGESTED };

/** Ranks whose messages load a hot link. */
#define WIRE_LINK_ROUTE_ROW(COLUMN)                                                                \
    COLUMN(U64, link, WIRE_ANY, "number of the link")                                              \
    COLUMN(U64, source, WIRE_ANY, "sending rank")                                                  \
    COLUMN(U64, destination, WIRE_ANY, "receiving rank")                                           \
    COLUMN(U64, messages, WIRE_ANY, "how many")                                                    \
    COLUMN(U64, bytes, WIRE_ANY, "bytes together")                                                 \
    COLUMN(U64, length, WIRE_ANY, "links on the route")

/** A network interface in a window, with or without a known link of the topology. */
#define WIRE_INTERFACE_ROW(COLUMN)                                                                 \
    COLUMN(U64, node, WIRE_MAX_ROWS, "position in the hosts of topic places")                      \
    COLUMN(STR, name, 64, "interface")                                                             \
    COLUMN(U64, medium, 7, "enum counter_medium")                                                  \
    COLUMN(U64, unit, 1, "0 bytes, 1 packets")                                                     \
    COLUMN(U64, sent, WIRE_ANY, "traffic out of the node")                                         \
    COLUMN(U64, received, WIRE_ANY, "traffic into the node")                                       \
    COLUMN(U64, dropped, WIRE_ANY, "packets dropped or damaged")                                   \
    COLUMN(U64, speed, WIRE_ANY, "bytes a second in each direction; 0: not known")                 \
    COLUMN(U64, link_out, WIRE_ANY, "link that leaves by it; largest number: none known")          \
    COLUMN(U64, link_in, WIRE_ANY, "link that enters by it; largest number: none known")

/** An alert of a replayed recording, for the time line. */
#define WIRE_MARK_ROW(COLUMN)                                                                      \
    COLUMN(U64, id, WIRE_ANY, "number of the alert within the job")                                \
    COLUMN(STR, kind, 32, "as in topic alerts")                                                    \
    COLUMN(STR, severity, 16, "\"info\", \"warning\" or \"critical\"")                             \
    COLUMN(U64, since_ns, WIRE_ANY, "begin, daemon time")                                          \
    COLUMN(U64, fired_ns, WIRE_ANY, "when it began to fire; 0: it never did")                      \
    COLUMN(U64, end_ns, WIRE_ANY, "when it was resolved; 0: not resolved")                         \
    COLUMN(STR, title, 128, "one line for people")

/** A figure of a mapping or routing, before and after. */
#define WIRE_GAIN_ROW(COLUMN)                                                                      \
    COLUMN(STR, name, 32,                                                                          \
           "\"hop-bytes\", \"max-link\", \"inter-node-bytes\", \"inter-node-messages\", "          \
           "\"length\", \"longest\"")                                                              \
    COLUMN(F64, before, 0, "as it is")                                                             \
    COLUMN(F64, after, 0, "as suggested")                                                          \
    COLUMN(F64, bound, 0, "no mapping can be better than this; NaN: not known")

/** A route for which a better one was searched. */
#define WIRE_REROUTE_ROW(COLUMN)                                                                   \
    COLUMN(U64, source, WIRE_ANY, "vertex where it begins")                                        \
    COLUMN(U64, destination, WIRE_ANY, "vertex where it ends")                                     \
    COLUMN(U64, bytes, WIRE_ANY, "bytes over it")                                                  \
    COLUMN(U64, length, WIRE_ANY, "links on it")                                                   \
    COLUMN(U64, length_after, WIRE_ANY,                                                            \
           "links on the suggested route; the same: no better one was found")                      \
    COLUMN(U64, heaviest, WIRE_ANY, "load of its most loaded link")                                \
    COLUMN(U64, heaviest_after, WIRE_ANY, "load of the suggested route's, with these bytes on it")

/** A function of the MPI library that Holter does not cover. */
#define WIRE_UNCOVERED_ROW(COLUMN)                                                                 \
    COLUMN(STR, name, 64, "function")                                                              \
    COLUMN(U64, used, 1, "1: the application refers to it")

/** A job as the list of jobs shows it. */
#define WIRE_JOB_ROW(COLUMN)                                                                       \
    COLUMN(STR, job, 64, "job id")                                                                 \
    COLUMN(STR, app, 256, "path of the executable")                                                \
    COLUMN(U64, ranks, WIRE_ANY, "size of MPI_COMM_WORLD")                                         \
    COLUMN(U64, nodes, WIRE_ANY, "agents that reported ranks of it")                               \
    COLUMN(U64, start_ns, WIRE_ANY, "first window's start, daemon time")                           \
    COLUMN(U64, end_ns, WIRE_ANY, "last window's end, daemon time; 0: still running")              \
    COLUMN(STR, state, 16, "\"running\", \"ended\", \"died\", \"lost\" or \"cut short\"")          \
    COLUMN(STR, daemon, 256,                                                                       \
           "endpoint of the daemon of the fleet that has the job; empty: the one that answers")    \
    COLUMN(STR, session, 31, "session key of its ranks; empty: not known")

/** An agent, with its cost and losses. */
#define WIRE_NODE_ROW(COLUMN)                                                                      \
    COLUMN(STR, host, 64, "host name")                                                             \
    COLUMN(U64, agent_pid, WIRE_ANY, "process id of the agent there")                              \
    COLUMN(U64, connected, 1, "1: a message was received within the last three windows")           \
    COLUMN(U64, ranks, WIRE_ANY, "ranks alive on the node")                                        \
    COLUMN(U64, events, WIRE_ANY, "records drained, since the agent's start")                      \
    COLUMN(U64, lost, WIRE_ANY, "records lost there: lapped rings, threads without a ring")        \
    COLUMN(U64, windows_dropped, WIRE_ANY,                                                         \
           "window messages that the agent dropped because its buffer was full")                   \
    COLUMN(U64, uplink_bytes, WIRE_ANY, "bytes sent to the daemon")                                \
    COLUMN(U64, cpu_ns, WIRE_ANY, "processor time of the agent")                                   \
    COLUMN(U64, rss_bytes, WIRE_ANY, "resident memory of the agent, rings left out")               \
    COLUMN(I64, clock_offset_ns, WIRE_ANY, "daemon time minus the node's CLOCK_REALTIME")          \
    COLUMN(U64, clock_error_ns, WIRE_ANY, "bound of that offset's error; 0: not known")            \
    COLUMN(U64, degraded, WIRE_ANY,                                                                \
           "detail left out to stay in the byte budget, DEGRADED_* or-ed")                         \
    COLUMN(U64, restarts, WIRE_ANY, "times the agent was restarted after a crash")                 \
    COLUMN(F64, call_cost_ns, 0, "measured cost of the probe per call; NaN: not measured")         \
    COLUMN(U64, up_ns, WIRE_ANY, "time since the agent's start; 0: not reported")                  \
    COLUMN(U64, matched, WIRE_ANY, "messages matched on the node, since the agent's start")        \
    COLUMN(U64, unmatched, WIRE_ANY,                                                               \
           "ends of messages within the node that were dropped unmatched")                         \
    COLUMN(U64, rejected, WIRE_ANY, "matches refused: sizes or times contradict each other")       \
    COLUMN(U64, sampled, WIRE_ANY,                                                                 \
           "ends of messages between nodes sent to the daemon for matching")                       \
    COLUMN(U64, passed_over, WIRE_ANY, "ends of messages between nodes that were not sampled")     \
    COLUMN(U64, shm_bytes, WIRE_ANY, "bytes of /dev/shm that the ranks there take")

/** A thread whose newest records were captured. */
#define WIRE_CAPTURE_THREAD_ROW(COLUMN)                                                            \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, thread, WIRE_ANY, "number of the thread in its rank, from 0")                      \
    COLUMN(U64, tid, WIRE_ANY, "kernel's number of it")                                            \
    COLUMN(U64, records, WIRE_ANY, "records that it has written so far")                           \
    COLUMN(U64, lapped, WIRE_ANY, "requested records that were overwritten while they were read")

/** A record of a captured thread: a call, a further message of the call before it, or the begin or
 *  end of a code region. Fields are those of struct event in holter/event.h. */
#define WIRE_CAPTURE_EVENT_ROW(COLUMN)                                                             \
    COLUMN(U64, thread, WIRE_MAX_ROWS, "position in the message's threads")                        \
    COLUMN(U64, number, WIRE_ANY, "number of the record in its thread, from 0")                    \
    COLUMN(U64, kind, 3, "enum event_kind")                                                        \
    COLUMN(U64, call, 65535, "number of the call, see agent/probe/calls.def")                      \
    COLUMN(I64, begin_ns, WIRE_ANY, "entry of the call, relative to the message's at_ns")          \
    COLUMN(U64, length_ns, WIRE_ANY, "until its exit; of a call in progress until at_ns")          \
    COLUMN(U64, running, 1, "1: the call is in progress: only its arguments are known")            \
    COLUMN(I64, peer, WIRE_ANY, "rank of the other side, or root; negative: PEER_*")               \
    COLUMN(I64, tag, WIRE_ANY, "tag; negative: TAG_*")                                             \
    COLUMN(U64, comm, WIRE_MAX_ROWS, "position in the message's communicators")                    \
    COLUMN(U64, region, WIRE_MAX_ROWS, "position in the message's regions")                        \
    COLUMN(U64, bytes, WIRE_ANY,                                                                   \
           "size of the message; collectives: bytes that the rank contributes")                    \
    COLUMN(U64, bytes_in, WIRE_ANY, "collectives, reads: bytes that the rank receives")            \
    COLUMN(U64, request, WIRE_ANY, "number of the request in its rank; 0: none")                   \
    COLUMN(U64, flags, 65535, "enum event_flag, or-ed")                                            \
    COLUMN(I64, posted_ns, WIRE_ANY,                                                               \
           "completed requests: entry of the call that posted it, as begin_ns; 0: not known")      \
    COLUMN(I64, source, WIRE_ANY, "MPI_Sendrecv: rank it receives from; others: PEER_NONE")        \
    COLUMN(I64, source_tag, WIRE_ANY, "tag of that; TAG_NONE")                                     \
    COLUMN(U64, comm_rank, WIRE_ANY,                                                               \
           "the rank's number in the communicator, from 1 up; 0: not known")                       \
    COLUMN(U64, started, 65535,                                                                    \
           "requests of collectives: number of the call that made the request; 0: none")

/** A neighbour of a rank in the topology of a communicator. */
#define WIRE_SOURCE_ROW(COLUMN)                                                                    \
    COLUMN(U64, comm, WIRE_ANY, "id of the communicator")                                          \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, source, WIRE_ANY, "rank there that sends to it in collectives of neighbours")

/* ---- agent to daemon ----------------------------------------------------- */

/** First message on every connection, of agents and clients alike. */
#define WIRE_HELLO(FIELD)                                                                          \
    FIELD(1, U64, protocol, 65535, REQUIRED, "WIRE_PROTOCOL of the sender")                        \
    FIELD(2, STR, role, 16, REQUIRED, "\"agent\", \"viewer\" or \"operator\"")                     \
    FIELD(3, STR, version, 64, REQUIRED, "Holter's version, for people")                           \
    FIELD(4, STR, host, 64, REQUIRED, "host name")                                                 \
    FIELD(5, U64, pid, WIRE_ANY, REQUIRED, "process id")                                           \
    FIELD(6, U64, instance, WIRE_ANY, OPTIONAL,                                                    \
          "agents: random number that names this agent; its numbering of messages")                \
    FIELD(7, STR, session, 32, OPTIONAL, "agents: key of the session they serve")

/** Answer to hello. */
#define WIRE_WELCOME(FIELD)                                                                        \
    FIELD(1, U64, protocol, 65535, REQUIRED, "WIRE_PROTOCOL of the daemon")                        \
    FIELD(2, STR, version, 64, REQUIRED, "Holter's version, for people")                           \
    FIELD(3, U64, instance, WIRE_ANY, REQUIRED, "random number that names this run of the daemon") \
    FIELD(4, U64, window_ns, WIRE_ANY, REQUIRED,                                                   \
          "window length; window k is [k, k+1) times this, daemon time")                           \
    FIELD(5, U64, daemon_ns, WIRE_ANY, REQUIRED, "daemon time when this was sent")                 \
    FIELD(6, U64, acked, WIRE_ANY, OPTIONAL,                                                       \
          "agents: highest sequence number committed from this instance; 0: none")                 \
    FIELD(7, U64, budget, WIRE_ANY, OPTIONAL,                                                      \
          "agents: limit in bytes a second; 0: the agent's own default")                           \
    FIELD(8, STR, stream, 256, OPTIONAL,                                                           \
          "clients: endpoint of the published stream; empty: derived from the one dialled")        \
    FIELD(9, U64, replays, 1, OPTIONAL,                                                            \
          "clients: 1: the daemon replays a recording: follow its job even if it has ended")       \
    FIELD(10, STR, prefix, 72, OPTIONAL,                                                           \
          "clients: what stands before the topics of their stream, as their key is of a user")

/** The peer cannot be served; the daemon closes the connection after this message. */
#define WIRE_REFUSED(FIELD)                                                                        \
    FIELD(1, I64, code, WIRE_ANY, REQUIRED, "negative error code, see holter/error.h")             \
    FIELD(2, STR, text, 256, REQUIRED, "what and why, for people")                                 \
    FIELD(3, U64, seq, WIRE_ANY, OPTIONAL,                                                         \
          "agents: number of the message, which would be refused again: it is to be dropped")

/** Clock exchange, agent to daemon (RFC 5905 section 8: t1). */
#define WIRE_CLOCK_ASK(FIELD)                                                                      \
    FIELD(1, U64, t1_ns, WIRE_ANY, REQUIRED, "agent's CLOCK_MONOTONIC when this left")

/** Clock exchange, daemon to agent (RFC 5905 section 8: t1, t2, t3). */
#define WIRE_CLOCK_ANSWER(FIELD)                                                                   \
    FIELD(1, U64, t1_ns, WIRE_ANY, REQUIRED, "as asked")                                           \
    FIELD(2, U64, t2_ns, WIRE_ANY, REQUIRED, "daemon time when the clock_ask message arrived")     \
    FIELD(3, U64, t3_ns, WIRE_ANY, REQUIRED, "daemon time when this left")                         \
    FIELD(4, U64, error_ns, WIRE_ANY, OPTIONAL,                                                    \
          "bound of the error of daemon time in a fleet, whose daemons share one clock")

/** Ranks that appeared on a node. Sent when ranks appear, and again after each reconnect. */
#define WIRE_RANKS(FIELD)                                                                          \
    FIELD(1, U64, seq, WIRE_ANY, REQUIRED,                                                         \
          "number of this message, from 1 up, among all acknowledged messages of the instance")    \
    FIELD(2, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(3, U64, world, WIRE_ANY, REQUIRED, "size of MPI_COMM_WORLD")                             \
    FIELD(4, STR, app, 256, REQUIRED, "path of the executable")                                    \
    FIELD(5, STR, mpi, 128, REQUIRED, "MPI library version")                                       \
    FIELD(6, STR, host, 64, REQUIRED, "host name")                                                 \
    FIELD(7, U64, cores, WIRE_ANY, OPTIONAL, "cores of the node")                                  \
    FIELD(8, ROWS(member), members, WIRE_MAX_ROWS, REQUIRED, "ranks on this node")                 \
    FIELD(9, ROWS(uncovered), uncovered, 4096, OPTIONAL,                                           \
          "functions of this MPI library that Holter does not cover")                              \
    FIELD(10, STR, user, 64, OPTIONAL, "user who runs the job")                                    \
    FIELD(11, STR, command, 1024, OPTIONAL, "command line of the lowest rank seen")                \
    FIELD(12, STR, probe, 32, OPTIONAL, "Holter's version in the probe")                           \
    FIELD(13, ROWS(cart), carts, WIRE_MAX_ROWS, OPTIONAL,                                          \
          "Cartesian communicators of two ranks or more that ranks on this node have made")        \
    FIELD(14, ROWS(cart_member), cart_members, WIRE_MAX_ROWS, OPTIONAL,                            \
          "ranks on this node in them")                                                            \
    FIELD(15, STR, launcher, 64, OPTIONAL, "program that started the ranks; empty: not known")     \
    FIELD(16, STR, session, 31, OPTIONAL, "session key of the ranks; empty: not known")

/** One window of one job on one node. Merging two of the same window adds their rows. */
#define WIRE_WINDOW(FIELD)                                                                         \
    FIELD(1, U64, seq, WIRE_ANY, REQUIRED, "number of this message, see ranks")                    \
    FIELD(2, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(3, STR, host, 64, REQUIRED, "host name of the node")                                     \
    FIELD(4, U64, window, WIRE_ANY, REQUIRED,                                                      \
          "number of the window: start divided by length, daemon time")                            \
    FIELD(5, U64, length_ns, WIRE_ANY, REQUIRED, "window length")                                  \
    FIELD(6, U64, flags, 255, REQUIRED, "WINDOW_*, or-ed")                                         \
    FIELD(7, U64, degraded, 255, OPTIONAL, "DEGRADED_*, or-ed")                                    \
    FIELD(8, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")       \
    FIELD(9, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")    \
    FIELD(10, ROWS(rank), ranks, WIRE_MAX_ROWS, REQUIRED, "every rank of the job on the node")     \
    FIELD(11, ROWS(pair), pairs, WIRE_MAX_ROWS, OPTIONAL, "messages sent by these ranks")          \
    FIELD(12, ROWS(call), calls, WIRE_MAX_ROWS, OPTIONAL, "calls made by these ranks")             \
    FIELD(13, ROWS(death), deaths, WIRE_MAX_ROWS, OPTIONAL, "ranks that died in this window")      \
    FIELD(14, ROWS(node), node, 1, OPTIONAL, "the agent's own cost and losses")                    \
    FIELD(15, ROWS(transfer), transfers, WIRE_MAX_ROWS, OPTIONAL,                                  \
          "messages within the node, matched in this window")                                      \
    FIELD(16, ROWS(latency), latencies, WIRE_MAX_ROWS, OPTIONAL, "transfer times of those")        \
    FIELD(17, ROWS(half), halves, WIRE_MAX_ROWS, OPTIONAL, "ends of messages between nodes")       \
    FIELD(18, U64, clock_error_ns, WIRE_ANY, OPTIONAL,                                             \
          "bound of the error of the halves' times; WIRE_ANY: not known")                          \
    FIELD(19, U64, keys_below, WIRE_ANY, OPTIONAL,                                                 \
          "halves with this key or a higher one were left out; 0: none")                           \
    FIELD(20, ROWS(pending), pending, 4096, OPTIONAL,                                              \
          "receives for which ranks have been waiting for a long time")                            \
    FIELD(21, ROWS(burst), bursts, 8192, OPTIONAL, "runs of messages and of calls, by time")       \
    FIELD(22, ROWS(burst_pair), burst_pairs, WIRE_MAX_ROWS, OPTIONAL,                              \
          "messages and calls in the bursts")                                                      \
    FIELD(23, ROWS(collective), collectives, 65536, OPTIONAL, "collectives that those rows name")  \
    FIELD(24, ROWS(comm_member), comm_members, WIRE_MAX_ROWS, OPTIONAL,                            \
          "positions of the node's ranks in communicators of collectives")                         \
    FIELD(25, ROWS(counter), counters, 256, OPTIONAL, "network interfaces of the node")            \
    FIELD(26, ROWS(process), processes, WIRE_MAX_ROWS, OPTIONAL,                                   \
          "processes of those ranks of which something could be read")

enum counter_medium { COUNTER_ETHERNET, COUNTER_INFINIBAND, COUNTER_SLINGSHOT, COUNTER_LINK };

enum series_scope { SERIES_JOB, SERIES_INTRA, SERIES_INTER, SERIES_REGION };

/** TREND_GROWTH: sustained increase. TREND_STEADY: sustained high level without return (PCLVis,
 *  section 5.1). */
enum series_trend { TREND_CALM, TREND_GROWTH, TREND_STEADY };

enum wire_window_flag {
    WINDOW_FINAL = 1, /**< no rank of the job is left on the node; no window follows */
    WINDOW_GAP =
        2, /**< windows before this one are missing: the agent was disconnected or dropped them */
    WINDOW_CLOCK = 4,      /**< the node's alignment to daemon time was not known, or jumped */
    WINDOW_RESUMED = 8,    /**< first window of an agent that took over from a crashed one */
    WINDOW_FINALIZED = 16, /**< a process of the job on the node has ended after MPI_Finalize */
};

enum wire_degraded {
    DEGRADED_SAMPLES = 1, /**< samples left out */
    DEGRADED_PAIRS = 2,   /**< all but the largest pairs are summed in "all others" */
    DEGRADED_BURSTS = 4,  /**< bursts merged */
    DEGRADED_SIZES = 8,   /**< size classes of a pair are summed in the largest class */
};

/** Acknowledges messages that the daemon has accepted, and committed if it records. */
#define WIRE_ACK(FIELD)                                                                            \
    FIELD(1, U64, seq, WIRE_ANY, REQUIRED, "all messages of the instance up to this number")

/** Normal transfer times, by which the agent counts delayed messages. Sent when they change. */
#define WIRE_CRITERIA(FIELD)                                                                       \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, ROWS(criterion), criteria, 2048, REQUIRED, "one row a locality and size class")       \
    FIELD(3, U64, most_halves, WIRE_ANY, OPTIONAL,                                                 \
          "limit of halves in one window; 0: as the byte budget allows")                           \
    FIELD(4, U64, burst_rows, WIRE_ANY, OPTIONAL,                                                  \
          "limit of rows in bursts and burst_pairs of one window; 0: the agent's default")

/** The agent disconnects after its last message. */
#define WIRE_BYE(FIELD)                                                                            \
    FIELD(1, U64, seq, WIRE_ANY, REQUIRED,                                                         \
          "agents: number of the last message it has made, of the job if one is named: what the "  \
          "daemon lacks of them is lost")                                                          \
    FIELD(2, STR, job, 64, OPTIONAL,                                                               \
          "agents: a job that it reports, one message for each; empty: of those the daemon knows")

/** Requests the newest records of ranks: the rings are the flight recorder. Sent to all agents
 * that, to the daemon's knowledge, have such ranks; they answer with captured messages. */
#define WIRE_CAPTURE_ASK(FIELD)                                                                    \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, id, WIRE_ANY, REQUIRED, "number of the capture within the job, from 1 up")       \
    FIELD(3, U64, asked_ns, WIRE_ANY, REQUIRED,                                                    \
          "when it was asked for, daemon time; until_ns, if that is given")                        \
    FIELD(4, U64, events, 65536, REQUIRED, "records of one rank at most")                          \
    FIELD(5, STR, ranks, 4096, OPTIONAL, "ranks, \"0-3,8\"; empty: all")                           \
    FIELD(6, STR, reason, 256, OPTIONAL, "why, for people")                                        \
    FIELD(7, U64, alert, WIRE_ANY, OPTIONAL, "alert that it is for; 0: a person asked")            \
    FIELD(8, U64, nodes, WIRE_ANY, OPTIONAL, "agents that were asked")                             \
    FIELD(9, U64, until_ns, WIRE_ANY, OPTIONAL,                                                    \
          "only calls that ended by then, daemon time: the newest of these; 0: all")

/** Records that an agent captured, or a part of them; recorded as windows are. */
#define WIRE_CAPTURED(FIELD)                                                                       \
    FIELD(1, U64, seq, WIRE_ANY, REQUIRED, "number of this message, see ranks")                    \
    FIELD(2, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(3, STR, host, 64, REQUIRED, "host name of the node")                                     \
    FIELD(4, U64, window, WIRE_ANY, REQUIRED,                                                      \
          "number of the window that was open; its message follows this one")                      \
    FIELD(5, U64, id, WIRE_ANY, REQUIRED, "as asked; 0: the agent captured by itself")             \
    FIELD(6, U64, asked_ns, WIRE_ANY, REQUIRED, "as asked")                                        \
    FIELD(7, U64, at_ns, WIRE_ANY, REQUIRED, "when the rings were read, daemon time")              \
    FIELD(8, ROWS(capture_thread), threads, WIRE_MAX_ROWS, REQUIRED, "threads of the records")     \
    FIELD(9, ROWS(capture_event), events, WIRE_MAX_ROWS, REQUIRED, "by thread, the oldest first")  \
    FIELD(10, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")      \
    FIELD(11, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")   \
    FIELD(12, STR, reason, 256, OPTIONAL, "as asked")                                              \
    FIELD(13, U64, alert, WIRE_ANY, OPTIONAL, "as asked")                                          \
    FIELD(14, U64, nodes, WIRE_ANY, OPTIONAL, "as asked")                                          \
    FIELD(15, U64, clock_error_ns, WIRE_ANY, OPTIONAL,                                             \
          "bound of the error of daemon time there; WIRE_ANY: not known")                          \
    FIELD(16, STR, fault, 256, OPTIONAL, "why records are missing, for people")                    \
    FIELD(17, U64, more, 1, OPTIONAL,                                                              \
          "1: another message of this agent with more records follows")                            \
    FIELD(18, ROWS(source), sources, WIRE_MAX_ROWS, OPTIONAL,                                      \
          "neighbours of the ranks that have collectives of neighbours among the records")

/* ---- clients and daemon -------------------------------------------------- */

/* clang-format off */
/** Request of a client. The answers to a request are sent together, in the order of the requests,
 *  and end with a reply. "remap", "reroute" and "capture" take seconds: later requests are
 *  answered meanwhile, between their answers; each of the three has a type of answer of its own.
 *
 *  op "status"     one status message
 *  op "jobs"       the job message of every known job, the newest last
 *  op "snapshot"   the current state of one job: messages of the topics in `topic`
 *  op "commgram"   commgram messages: the picture of a span of time. argument, words separated by
 *                  spaces, each optional: from=NS to=NS (daemon time; default: all), phases=K
 *                  (default 24), communities=C (default 0: those found in each phase), ranks=LIST
 *                  (only messages from or to these ranks, "3,8-11"), modelled=0 (without the
 *                  messages that represent collectives)
 *  op "remap"      mapping messages: first progress, at most one a second, then a better mapping
 *                  of the ranks to their present nodes, for all messages since the start.
 *                  argument: objective=hop-bytes|max-link|inter-node (default hop-bytes),
 *                  time=SECONDS (of one core, 0.1 to 600, default 2), seed=N (default 1),
 *                  ranks=LIST (only these move; default: all), from=WINDOW to=WINDOW, messages=1
 *                  (inter-node: count messages instead of bytes). A client has one search at a
 *                  time: a new one ends it with the reply -ECANCELED, which is sent before the
 *                  first answer of the new one
 *  op "reroute"    routes messages: better routes. argument: routes=SRC-DST,... (vertices) or
 *                  link=N (all routes over that link) or top=K (the K routes with the most loaded
 *                  heaviest link, default 100); first=length|load (Visuco, Eq. 1 or 2; default
 *                  load), delta=HOPS (default 0), from=WINDOW to=WINDOW. One search at a time, as
 *                  for remap
 *                  Both may name a state other than the present one: a mapping in `seats`, and
 *                  routes that are in force in `hops`
 *  op "cancel"     no message; ends the client's search (argument: remap or reroute), which is
 *                  replied to with -ECANCELED unless its result was sent already
 *  op "capture"    operators: captured messages, as agents send them. argument, words separated
 *                  by spaces, each optional: ranks=LIST (default: all), events=N (of one rank at
 *                  most, default 256), until=T (of calls that ended by then, nanoseconds since
 *                  1970; as far as the rings still have them). Ends when all agents have
 *                  answered, or after five seconds without an answer: the reply names the agents
 *                  that did not answer
 *  op "replay"     only a daemon that replays a recording: one replay message with the state
 *                  after the argument has been applied: "" (nothing changes), "pause", "play" (at
 *                  the end: from the begin), "step" and "step back" (to the next or previous
 *                  state in which a window was published, then pause; answered before the step is
 *                  made), "seek T", "speed X" (X times real time, 0.01 to 100000, or max), "loop
 *                  on", "loop off". T is parsed by proto/moment.h: nanoseconds since 1970, a time
 *                  as in RFC 3339, +12.5s from the begin, -10s before the end, or 40%. Viewers
 *                  may send this request, because it changes only what is shown
 *  op "stop"       operators: the daemon ends; no message */
/* clang-format on */
#define WIRE_REQUEST(FIELD)                                                                        \
    FIELD(1, U64, id, WIRE_ANY, REQUIRED, "number that the answers repeat")                        \
    FIELD(2, STR, op, 32, REQUIRED, "operation, see above")                                        \
    FIELD(3, STR, job, 64, OPTIONAL, "job id; empty: the newest running job, or all")              \
    FIELD(4, STR, topic, 256, OPTIONAL,                                                            \
          "snapshot: topics, separated by commas; empty: all but \"recorded\"")                    \
    FIELD(5, STR, argument, 65536, OPTIONAL, "further argument of the operation")                  \
    FIELD(6, U64, instance, WIRE_ANY, OPTIONAL,                                                    \
          "run of the daemon that is meant, of its welcome; another run does not execute the "     \
          "request and sends its own welcome; 0: any run")                                         \
    FIELD(7, ROWS(seat), seats, WIRE_MAX_ROWS, OPTIONAL,                                           \
          "remap, reroute: the mapping that is asked about; other ranks sit where they do")        \
    FIELD(8, ROWS(hop), hops, WIRE_MAX_ROWS, OPTIONAL,                                             \
          "reroute: routes that are in force in place of the network's")                           \
    FIELD(9, ROWS(route), routes, 131072, OPTIONAL,                                                \
          "reroute: better ones for these, in place of routes=")

/** Ends the answers to a request. */
#define WIRE_REPLY(FIELD)                                                                          \
    FIELD(1, U64, id, WIRE_ANY, REQUIRED, "number of the request")                                 \
    FIELD(2, I64, code, WIRE_ANY, REQUIRED, "0, or a negative error code")                         \
    FIELD(3, STR, text, 1024, OPTIONAL, "what went wrong, for people")                             \
    FIELD(4, U64, frame, WIRE_ANY, OPTIONAL,                                                       \
          "snapshot: number of the newest published frame that it contains")

/** State of the daemon. */
#define WIRE_STATUS(FIELD)                                                                         \
    FIELD(1, STR, version, 64, REQUIRED, "Holter's version")                                       \
    FIELD(2, U64, pid, WIRE_ANY, REQUIRED, "process id")                                           \
    FIELD(3, STR, host, 64, REQUIRED, "host name")                                                 \
    FIELD(4, U64, started_ns, WIRE_ANY, REQUIRED, "start, daemon time")                            \
    FIELD(5, U64, now_ns, WIRE_ANY, REQUIRED, "daemon time now")                                   \
    FIELD(6, U64, window_ns, WIRE_ANY, REQUIRED, "window length")                                  \
    FIELD(7, U64, agents, WIRE_ANY, REQUIRED, "agents connected")                                  \
    FIELD(8, U64, clients, WIRE_ANY, REQUIRED, "viewers and other clients connected")              \
    FIELD(9, U64, messages, WIRE_ANY, REQUIRED, "window messages accepted")                        \
    FIELD(10, U64, bytes, WIRE_ANY, REQUIRED, "bytes of them")                                     \
    FIELD(11, U64, duplicates, WIRE_ANY, REQUIRED,                                                 \
          "resent messages that had been accepted before")                                         \
    FIELD(12, U64, late, WIRE_ANY, REQUIRED,                                                       \
          "window messages received after their window was published; they count in the totals")   \
    FIELD(13, U64, rejected, WIRE_ANY, REQUIRED,                                                   \
          "messages refused: malformed, over a limit, not allowed")                                \
    FIELD(14, STR, rejected_last, 256, OPTIONAL, "newest rejected message: from where and why")    \
    FIELD(15, U64, published, WIRE_ANY, REQUIRED, "frames published")                              \
    FIELD(16, U64, cpu_ns, WIRE_ANY, REQUIRED, "processor time of the daemon")                     \
    FIELD(17, U64, rss_bytes, WIRE_ANY, REQUIRED, "resident memory of the daemon")                 \
    FIELD(18, U64, recorded_bytes, WIRE_ANY, OPTIONAL, "bytes in recordings being written")        \
    FIELD(19, STR, recorder_error, 256, OPTIONAL, "why recording stopped; empty: it did not")      \
    FIELD(20, ROWS(job), jobs, 4096, OPTIONAL, "jobs known")                                       \
    FIELD(21, U64, matched, WIRE_ANY, OPTIONAL, "messages matched, within nodes and between them") \
    FIELD(22, U64, unmatched, WIRE_ANY, OPTIONAL, "ends of messages that were dropped unmatched")  \
    FIELD(23, U64, match_rejected, WIRE_ANY, OPTIONAL,                                             \
          "matches refused: sizes or times contradict each other")                                 \
    FIELD(24, STR, rules, 512, OPTIONAL, "file of the alert rules in force; empty: the defaults")  \
    FIELD(25, STR, sink_error, 256, OPTIONAL, "alert sink that fails, and why; empty: none")       \
    FIELD(26, STR, topology, 512, OPTIONAL, "network that was given; empty: none")                 \
    FIELD(27, STR, topology_fault, 512, OPTIONAL, "why the network is not used; empty: it is used")

/* ---- topics of the published stream -------------------------------------- */
/* A published frame is three parts: "<topic>/<job id>", three numbers (8 bytes each, big-endian:
 * the frame's number in one count over the whole stream of the job, and in the count of its
 * topic, both from 1 up; the instance of the daemon's run, as in "welcome"), and one message. By
 * the first number a client drops frames that its snapshot already contains; by the second it
 * detects missed frames, whatever topics it subscribed to; by the third it recognises frames of
 * another run, which ZeroMQ may deliver before the welcome of that run.
 *
 * A subscription to "sync/<anything>" is answered by one frame of that topic, its counts 0 and
 * an empty message: when a client receives it, its earlier subscriptions on that connection are in
 * force. */

/** Bytes of the numbers of a frame. */
#define WIRE_FRAME_NUMBERS 24u

/** Topic "job": description and state of the job. Published when it changes. */
#define WIRE_JOB(FIELD)                                                                            \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, STR, state, 16, REQUIRED,                                                             \
          "\"running\", \"ended\", \"died\", \"lost\" (its agents stopped sending) or "            \
          "\"cut short\" (the recording that is replayed ends before it)")                         \
    FIELD(3, STR, app, 256, REQUIRED, "path of the executable")                                    \
    FIELD(4, STR, command, 1024, OPTIONAL, "command line")                                         \
    FIELD(5, STR, mpi, 128, REQUIRED, "MPI library version")                                       \
    FIELD(6, STR, user, 64, OPTIONAL, "user who runs it")                                          \
    FIELD(7, U64, world, WIRE_ANY, REQUIRED, "ranks in MPI_COMM_WORLD")                            \
    FIELD(8, U64, seen, WIRE_ANY, REQUIRED, "ranks that reported so far")                          \
    FIELD(9, U64, start_ns, WIRE_ANY, REQUIRED, "first window's start, daemon time")               \
    FIELD(10, U64, end_ns, WIRE_ANY, REQUIRED, "last window's end, daemon time; 0: running")       \
    FIELD(11, U64, window_ns, WIRE_ANY, REQUIRED, "window length")                                 \
    FIELD(12, STR, recording, 512, OPTIONAL, "path of the recording on the daemon's host")         \
    FIELD(13, ROWS(uncovered), uncovered, 4096, OPTIONAL, "functions Holter does not cover")       \
    FIELD(14, STR, network_fault, 512, OPTIONAL,                                                   \
          "parts of the job that the given network lacks; empty: none known")                      \
    FIELD(15, STR, launcher, 64, OPTIONAL, "program that started its ranks; empty: not known")     \
    FIELD(16, U64, group, WIRE_ANY, OPTIONAL,                                                      \
          "consecutive ranks that are one row, under the first of them, in the tables of ranks, "  \
          "pairs, calls, latency and regions; 0 and 1: none are. Of groups there is no lateness, " \
          "and not for whom they wait; of hangs only those of the whole job. Links are loaded by " \
          "what nodes send each other, of which the lowest rank stands for all of its node")       \
    FIELD(17, U64, span, WIRE_ANY, OPTIONAL,                                                       \
          "windows in which it does about the same work each time, by which growth is judged: "    \
          "more than 1 where its iterations take about as long as a window, or longer; 0: not "    \
          "known")                                                                                 \
    FIELD(18, STR, session, 31, OPTIONAL, "session key of its ranks; empty: not known")

/** A rank and its node. */
#define WIRE_PLACE_ROW(COLUMN)                                                                     \
    COLUMN(U64, rank, WIRE_ANY, "rank in MPI_COMM_WORLD")                                          \
    COLUMN(U64, node, WIRE_MAX_ROWS, "position in the message's hosts")                            \
    COLUMN(U64, pid, WIRE_ANY, "process id")                                                       \
    COLUMN(STR, placement, 128, "cores it may run on")                                             \
    COLUMN(U64, core, WIRE_ANY,                                                                    \
           "1 + number of the physical core that these belong to; 0: several, or not known")       \
    COLUMN(U64, socket, WIRE_ANY, "1 + number of their socket; 0: several, or not known")          \
    COLUMN(U64, numa, WIRE_ANY, "1 + number of their NUMA node; 0: several, or not known")

#define WIRE_HOST_ROW(COLUMN) COLUMN(STR, name, 64, "host name")

/** Topic "places": which rank runs where. Published when ranks appear. */
#define WIRE_PLACES(FIELD)                                                                         \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, ROWS(host), hosts, WIRE_MAX_ROWS, REQUIRED, "nodes of the job")                       \
    FIELD(3, ROWS(place), places, WIRE_MAX_ROWS, REQUIRED, "ranks seen so far")                    \
    FIELD(4, U64, more, 1, OPTIONAL, "1: another message with more of the ranks follows")

/** Topic "totals": sums of one window over the whole job. */
#define WIRE_TOTALS(FIELD)                                                                         \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window")                              \
    FIELD(3, U64, start_ns, WIRE_ANY, REQUIRED, "its start, daemon time")                          \
    FIELD(4, U64, length_ns, WIRE_ANY, REQUIRED, "its length")                                     \
    FIELD(5, U64, published_ns, WIRE_ANY, REQUIRED,                                                \
          "daemon time when the window was closed and published")                                  \
    FIELD(6, U64, flags, 255, REQUIRED, "WINDOW_* of all nodes, or-ed")                            \
    FIELD(7, U64, agents, WIRE_ANY, REQUIRED, "nodes that reported it")                            \
    FIELD(8, U64, agents_missing, WIRE_ANY, REQUIRED,                                              \
          "nodes of the job that did not report it in time")                                       \
    FIELD(9, U64, ranks, WIRE_ANY, REQUIRED, "ranks that reported it")                             \
    FIELD(10, U64, events, WIRE_ANY, REQUIRED, "records")                                          \
    FIELD(11, U64, lost, WIRE_ANY, REQUIRED, "records lost")                                       \
    FIELD(12, U64, calls, WIRE_ANY, REQUIRED, "MPI calls, polls included")                         \
    FIELD(13, U64, polls, WIRE_ANY, REQUIRED, "polling calls that found nothing")                  \
    FIELD(14, U64, sent, WIRE_ANY, REQUIRED, "messages sent")                                      \
    FIELD(15, U64, sent_bytes, WIRE_ANY, REQUIRED, "bytes of them")                                \
    FIELD(16, U64, received, WIRE_ANY, REQUIRED, "messages received")                              \
    FIELD(17, U64, received_bytes, WIRE_ANY, REQUIRED, "bytes of them")                            \
    FIELD(18, U64, send_ns, WIRE_ANY, REQUIRED, "time in class send, summed over ranks")           \
    FIELD(19, U64, recv_ns, WIRE_ANY, REQUIRED, "time in class recv")                              \
    FIELD(20, U64, wait_ns, WIRE_ANY, REQUIRED, "time in class wait")                              \
    FIELD(21, U64, poll_ns, WIRE_ANY, REQUIRED, "time in class poll")                              \
    FIELD(22, U64, collective_ns, WIRE_ANY, REQUIRED, "time in class collective")                  \
    FIELD(23, U64, one_sided_ns, WIRE_ANY, REQUIRED, "time in class one-sided")                    \
    FIELD(24, U64, io_ns, WIRE_ANY, REQUIRED, "time in class io")                                  \
    FIELD(25, U64, other_ns, WIRE_ANY, REQUIRED, "time in class other")                            \
    FIELD(26, U64, late, 1, OPTIONAL,                                                              \
          "1: correction of a window that was published already: replaces its figures")            \
    FIELD(27, U64, send_wait_ns, WIRE_ANY, OPTIONAL,                                               \
          "part of send_ns in which ranks waited for receivers")                                   \
    FIELD(28, U64, matched, WIRE_ANY, OPTIONAL,                                                    \
          "messages received since the job's start that were matched: latency rests on them")      \
    FIELD(29, U64, unmatched, WIRE_ANY, OPTIONAL,                                                  \
          "the other messages received since then; some of them may still be matched")             \
    FIELD(30, U64, unwatched, WIRE_ANY, OPTIONAL,                                                  \
          "further messages received since then: from ranks that are not watched")                 \
    FIELD(                                                                                         \
        31, U64, absent_ns, WIRE_ANY, OPTIONAL,                                                    \
        "time of the window before ranks initialised MPI and after they ended, summed over ranks")

/** Topic "ranks": one window, rank by rank. */
#define WIRE_RANK_WINDOW(FIELD)                                                                    \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window")                              \
    FIELD(3, U64, length_ns, WIRE_ANY, REQUIRED, "its length")                                     \
    FIELD(4, ROWS(rank), ranks, WIRE_MAX_ROWS, REQUIRED, "one row a rank")                         \
    FIELD(5, U64, windows, WIRE_ANY, OPTIONAL,                                                     \
          "snapshot: how many windows are summed here; 0 and 1: one")                              \
    FIELD(6, U64, more, 1, OPTIONAL,                                                               \
          "1: another message with more ranks of the same window follows")

/** Topic "history": activity of ranks in stretches of past windows, oldest first; older stretches
 * are longer. Only in snapshots, and only for jobs of at most WIRE_PART_ROWS ranks. Windows that a
 * client receives as topic "ranks" are not in it. */
#define WIRE_HISTORY(FIELD)                                                                        \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, first, WIRE_ANY, REQUIRED, "number of the stretch's first window")               \
    FIELD(3, U64, last, WIRE_ANY, REQUIRED, "number of its last window")                           \
    FIELD(4, U64, length_ns, WIRE_ANY, REQUIRED, "length of a window")                             \
    FIELD(5, ROWS(rank), ranks, WIRE_MAX_ROWS, REQUIRED,                                           \
          "one row a rank: sums; calls in progress are left out")

/** Topic "lateness": which ranks were late in a window, and which of them caused it. In a snapshot
 * there is a message for each stretch of windows since the start, oldest first; older stretches are
 * longer, and their figures are sums. */
#define WIRE_LATENESS(FIELD)                                                                       \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the (newest) window")                     \
    FIELD(3, U64, windows, WIRE_ANY, REQUIRED, "from how many windows up to it the rows are")      \
    FIELD(4, U64, length_ns, WIRE_ANY, REQUIRED, "length of a window")                             \
    FIELD(5, ROWS(lateness), ranks, WIRE_MAX_ROWS, REQUIRED,                                       \
          "by rank; those late by 1/1024 of a window and more")                                    \
    FIELD(6, U64, more, 1, OPTIONAL,                                                               \
          "1: another message with more ranks of the same windows follows")

/** Topic "pairs": messages between ranks in one window; in a snapshot, since the start. */
#define WIRE_PAIR_WINDOW(FIELD)                                                                    \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the (newest) window")                     \
    FIELD(3, U64, windows, WIRE_ANY, REQUIRED, "how many windows are summed here")                 \
    FIELD(4, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")       \
    FIELD(5, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")    \
    FIELD(6, ROWS(pair), pairs, WIRE_MAX_ROWS, REQUIRED,                                           \
          "if there are too many, the largest by bytes")                                           \
    FIELD(7, U64, folded, WIRE_ANY, OPTIONAL, "pairs that are summed in rows of destination -1")   \
    FIELD(8, U64, more, 1, OPTIONAL, "1: another message with more rows of the same sum follows")  \
    FIELD(9, ROWS(pair), node_pairs, WIRE_MAX_ROWS, OPTIONAL,                                      \
          "messages between nodes, each under its lowest rank, of a job by groups of ranks")

/** Topic "calls": calls by kind, in one window; in a snapshot, since the start. Summed over
 *  ranks: the rank column holds how many ranks made the call. */
#define WIRE_CALL_WINDOW(FIELD)                                                                    \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the (newest) window")                     \
    FIELD(3, U64, windows, WIRE_ANY, REQUIRED, "how many windows are summed here")                 \
    FIELD(4, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")       \
    FIELD(5, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")    \
    FIELD(6, ROWS(call), calls, WIRE_MAX_ROWS, REQUIRED,                                           \
          "one row for each call, communicator and region")                                        \
    FIELD(7, U64, more, 1, OPTIONAL, "1: another message with more rows of the same sum follows")

/** Topic "callers": calls by kind and rank, in one window; in a snapshot, since the start. Rows are
 * in the order of ranks. If there are too many, whole kinds are left out, those with the least
 * time. */
#define WIRE_CALLER_WINDOW(FIELD)                                                                  \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the (newest) window")                     \
    FIELD(3, U64, windows, WIRE_ANY, REQUIRED, "how many windows are summed here")                 \
    FIELD(4, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")       \
    FIELD(5, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")    \
    FIELD(6, ROWS(call), calls, WIRE_MAX_ROWS, REQUIRED,                                           \
          "one row for each rank, call, communicator and region; longest_ns is 0")                 \
    FIELD(7, U64, more, 1, OPTIONAL, "1: another message with more rows of the same sum follows")  \
    FIELD(8, U64, left_out, WIRE_ANY, OPTIONAL, "rows that are left out")                          \
    FIELD(9, U64, left_out_ns, WIRE_ANY, OPTIONAL, "time of the calls in them")

/** Topic "nodes": the agents' cost and losses, once a window. */
#define WIRE_NODES(FIELD)                                                                          \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window")                              \
    FIELD(3, ROWS(node), nodes, WIRE_MAX_ROWS, REQUIRED, "one row an agent of the job")            \
    FIELD(4, U64, more, 1, OPTIONAL, "1: another message with more agents follows")

/** Topic "alerts": a condition that a person should know of. Updated under the same id while it
 *  lasts. */
#define WIRE_ALERT(FIELD)                                                                          \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, id, WIRE_ANY, REQUIRED, "number of the alert within the job")                    \
    FIELD(3, STR, kind, 32, REQUIRED,                                                              \
          "\"latency\", \"hang\", \"rank-died\", \"agent-lost\", \"data-lost\", "                  \
          "\"ranks-unwatched\", \"recording-stopped\"")                                            \
    FIELD(4, STR, state, 16, REQUIRED, "\"pending\", \"firing\" or \"resolved\"")                  \
    FIELD(5, U64, since_ns, WIRE_ANY, REQUIRED, "begin, daemon time")                              \
    FIELD(6, U64, updated_ns, WIRE_ANY, REQUIRED, "daemon time of this state")                     \
    FIELD(7, STR, title, 128, REQUIRED, "one line for people")                                     \
    FIELD(8, STR, text, 1024, OPTIONAL, "what is known, for people")                               \
    FIELD(9, I64, rank, WIRE_ANY, OPTIONAL, "rank it is about; -1: none")                          \
    FIELD(10, STR, host, 64, OPTIONAL, "node it is about")                                         \
    FIELD(11, STR, rule, 64, OPTIONAL, "name of the rule that raised it")                          \
    FIELD(12, STR, severity, 16, OPTIONAL, "\"info\", \"warning\" or \"critical\"")                \
    FIELD(13, U64, region, WIRE_ANY, OPTIONAL, "communication region it is about; 0: none")        \
    FIELD(14, STR, ranks, 256, OPTIONAL, "ranks that carry it, \"0-3,8\"")                         \
    FIELD(15, F64, ratio, 0, OPTIONAL,                                                             \
          "typical time of the culprit by its time before the onset, now; NaN: does not apply")    \
    FIELD(16, F64, slope, 0, OPTIONAL, "growth a minute, as a share; NaN: does not apply")         \
    FIELD(17, U64, onset_ns, WIRE_ANY, OPTIONAL,                                                   \
          "begin of the window in which the condition began; 0: since_ns")                         \
    FIELD(18, STR, locality, 16, OPTIONAL, "\"intra-node\", \"inter-node\" or \"both\"")           \
    FIELD(19, STR, sizes, 128, OPTIONAL, "message sizes that carry it, for people")                \
    FIELD(20, ROWS(cause), causes, 16, OPTIONAL, "what it is attributed to, largest share first")  \
    FIELD(21, STR, advice, 512, OPTIONAL, "what to do, for people")                                \
    FIELD(22, U64, updates, WIRE_ANY, OPTIONAL, "how often it was updated")                        \
    FIELD(23, U64, error_ns, WIRE_ANY, OPTIONAL,                                                   \
          "uncertainty of the clocks involved; 0: one clock")                                      \
    FIELD(24, U64, comm, WIRE_ANY, OPTIONAL, "communicator it is about, its id; 0: none")          \
    FIELD(25, STR, nodes, 256, OPTIONAL, "nodes that carry it, separated by commas")               \
    FIELD(26, U64, fired_ns, WIRE_ANY, OPTIONAL, "when it began to fire; 0: it was only pending")  \
    FIELD(27, STR, links, 512, OPTIONAL, "hot links on the routes of its ranks, for people")       \
    FIELD(28, U64, episode, WIRE_ANY, OPTIONAL,                                                    \
          "number of the finding that the alert is about; 0: the rule has one at a time")          \
    FIELD(29, STR, culprit, 16, OPTIONAL,                                                          \
          "scope that explains it: \"job\", \"intra-node\", \"inter-node\", \"node\", "            \
          "\"node-pair\", \"link\" or \"rank\"")                                                   \
    FIELD(30, STR, culprits, 512, OPTIONAL, "names of these nodes, pairs, links or ranks")         \
    FIELD(31, STR, alternatives, 256, OPTIONAL,                                                    \
          "scopes that no message tells apart from the culprit")                                   \
    FIELD(32, STR, victims, 256, OPTIONAL, "ranks that it delays, \"0-3,8\"")                      \
    FIELD(33, F64, ratio_worst, 0, OPTIONAL, "largest ratio so far; NaN: does not apply")          \
    FIELD(34, F64, progress, 0, OPTIONAL,                                                          \
          "work a second by the work before, at most 1; NaN: not known")                           \
    FIELD(35, U64, lost_ns, WIRE_ANY, OPTIONAL, "time that the job has lost so far")

/** A job whose progress is below this is said to be slowed. */
#define WIRE_PROGRESS_SLOWED 0.95

/** Topic "latency": transfer times of one window relative to the criteria. */
#define WIRE_LATENCIES(FIELD)                                                                      \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window")                              \
    FIELD(3, U64, start_ns, WIRE_ANY, REQUIRED, "its start, daemon time")                          \
    FIELD(4, U64, length_ns, WIRE_ANY, REQUIRED, "its length")                                     \
    FIELD(5, ROWS(series), series, WIRE_MAX_ROWS, REQUIRED, "of the job, localities and regions")  \
    FIELD(6, ROWS(criterion), criteria, 2048, OPTIONAL,                                            \
          "one row a locality and size class in use")                                              \
    FIELD(7, ROWS(rank_latency), ranks, WIRE_MAX_ROWS, OPTIONAL, "ranks with messages")            \
    FIELD(8, U64, matched, WIRE_ANY, OPTIONAL, "messages matched in the window")                   \
    FIELD(9, U64, unmatched, WIRE_ANY, OPTIONAL,                                                   \
          "ends of messages between nodes that were dropped unmatched in the window")              \
    FIELD(10, U64, rejected, WIRE_ANY, OPTIONAL, "matches refused in the window")                  \
    FIELD(11, U64, error_ns, WIRE_ANY, OPTIONAL,                                                   \
          "largest uncertainty between two nodes' clocks; WIRE_ANY: not known")                    \
    FIELD(12, U64, uncertain, WIRE_ANY, OPTIONAL,                                                  \
          "messages between nodes whose transfer time is below the uncertainty of the clocks")     \
    FIELD(13, U64, more, 1, OPTIONAL, "1: another message with more ranks follows")

/** Topic "regions": communication regions. Published when they change. */
#define WIRE_REGIONS(FIELD)                                                                        \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window from which they hold")         \
    FIELD(3, ROWS(latency_region), regions, WIRE_MAX_ROWS, REQUIRED, "the regions")                \
    FIELD(4, ROWS(region_member), members, WIRE_MAX_ROWS, REQUIRED, "ranks and their regions")     \
    FIELD(                                                                                         \
        5, U64, ranks_together, WIRE_ANY, OPTIONAL,                                                \
        "if there are too many ranks: how many ranks of a node are treated as one; 0 and 1: none") \
    FIELD(6, U64, more, 1, OPTIONAL, "1: another message with more members follows")

/** Topic "phases": phases of the job. Published when one was closed, and once a window for the open
 *  one; in a snapshot all known phases, oldest first. Rows replace those of the same id; an open
 *  phase that is not published again no longer exists. */
#define WIRE_PHASES(FIELD)                                                                         \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the newest window in it")                 \
    FIELD(3, ROWS(phase), phases, WIRE_MAX_ROWS, REQUIRED, "newly closed, then open ones")         \
    FIELD(4, U64, gap_ns, WIRE_ANY, OPTIONAL,                                                      \
          "gap between bursts that ends a phase; 0: not known yet")                                \
    FIELD(5, U64, modelled, 1, OPTIONAL, "1: collectives take part, by their algorithms")          \
    FIELD(6, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/** Topic "curve": the CommGram curve. Published with phases, under the same rules. */
#define WIRE_CURVE(FIELD)                                                                          \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the newest window in it")                 \
    FIELD(3, ROWS(curve_point), points, WIRE_MAX_ROWS, REQUIRED,                                   \
          "new points, then provisional ones")                                                     \
    FIELD(4, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/** Answer to "commgram": the picture of a span of time (CommGram, sections D to H). */
#define WIRE_COMMGRAM(FIELD)                                                                       \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, from_ns, WIRE_ANY, REQUIRED, "begin of the span, daemon time")                   \
    FIELD(3, U64, to_ns, WIRE_ANY, REQUIRED, "its end")                                            \
    FIELD(4, U64, phases, WIRE_ANY, REQUIRED, "as asked for; there are as many columns, or fewer") \
    FIELD(5, U64, communities, WIRE_ANY, REQUIRED,                                                 \
          "as asked for; a column has as many bars, or fewer, and with 0 one for each community")  \
    FIELD(6, ROWS(column), columns, WIRE_MAX_ROWS, OPTIONAL, "phases, by time")                    \
    FIELD(7, ROWS(bar), bars, WIRE_MAX_ROWS, OPTIONAL, "by column, from the top")                  \
    FIELD(8, ROWS(bar_ranks), members, WIRE_MAX_ROWS, OPTIONAL, "ranks of the bars")               \
    FIELD(9, ROWS(ribbon), ribbons, WIRE_MAX_ROWS, OPTIONAL, "messages between bars, by column")   \
    FIELD(10, U64, resolved, WIRE_ANY, OPTIONAL,                                                   \
          "parts in which the span is stored: the maximum number of phases")                       \
    FIELD(11, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/** Topic "topology": the network of the job, and the placement of its ranks. Published when it
 *  changes. The rows of several messages (more = 1) are concatenated. */
#define WIRE_TOPOLOGY(FIELD)                                                                       \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, STR, name, 64, REQUIRED, "of the network, for people")                                \
    FIELD(3, U64, kind, 15, REQUIRED, "enum topology_kind")                                        \
    FIELD(4, STR, source, 512, OPTIONAL,                                                           \
          "file from which it was read; empty: derived from the reports of agents")                \
    FIELD(5, ROWS(dimension), dimensions, 16, OPTIONAL, "dimensions; levels of a fat tree")        \
    FIELD(6, U64, tie, 7, OPTIONAL, "enum topology_tie")                                           \
    FIELD(7, F64, capacity, 0, OPTIONAL, "bytes a second of each link; 0: not known")              \
    FIELD(8, ROWS(vertex), vertices, WIRE_MAX_ROWS, OPTIONAL, "graphs: vertices, nodes first")     \
    FIELD(9, ROWS(edge), edges, WIRE_MAX_ROWS, OPTIONAL, "graphs: directed links")                 \
    FIELD(10, ROWS(hop), hops, WIRE_MAX_ROWS, OPTIONAL, "routes that are given")                   \
    FIELD(11, ROWS(seat), seats, WIRE_MAX_ROWS, OPTIONAL, "ranks")                                 \
    FIELD(12, STR, fault, 512, OPTIONAL, "why the given network is not used, or what it lacks")    \
    FIELD(13, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/** Topic "links": congestion state of the network, every window. */
#define WIRE_LINKS(FIELD)                                                                          \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, window, WIRE_ANY, REQUIRED, "number of the window")                              \
    FIELD(3, ROWS(link), links, WIRE_MAX_ROWS, REQUIRED,                                           \
          "links that are not idle, are measured or carry collectives, largest load first; only "  \
          "the largest if there "                                                                  \
          "are too many")                                                                          \
    FIELD(4, ROWS(link_route), routes, WIRE_MAX_ROWS, OPTIONAL,                                    \
          "of hot and congested links, by link, largest first")                                    \
    FIELD(5, ROWS(interface), interfaces, WIRE_MAX_ROWS, OPTIONAL, "interfaces of the nodes")      \
    FIELD(6, U64, idle, WIRE_ANY, OPTIONAL, "links in that state")                                 \
    FIELD(7, U64, busy, WIRE_ANY, OPTIONAL, "links in that state")                                 \
    FIELD(8, U64, hot, WIRE_ANY, OPTIONAL, "links in that state")                                  \
    FIELD(9, U64, congested, WIRE_ANY, OPTIONAL, "links in that state")                            \
    FIELD(10, U64, bytes, WIRE_ANY, OPTIONAL, "bytes of messages that crossed a link")             \
    FIELD(11, F64, hop_bytes, 0, OPTIONAL, "bytes times links on their route, sum")                \
    FIELD(12, U64, unplaced, WIRE_ANY, OPTIONAL,                                                   \
          "bytes of messages of ranks whose place, or whose pair, is not known")                   \
    FIELD(13, U64, left_out, WIRE_ANY, OPTIONAL, "links that are not idle and have no row")        \
    FIELD(14, U64, more, 1, OPTIONAL, "1: another message with more rows follows")                 \
    FIELD(15, U64, collective_bytes, WIRE_ANY, OPTIONAL,                                           \
          "bytes of messages that stand for collectives and crossed a link")                       \
    FIELD(16, U64, collective_unplaced, WIRE_ANY, OPTIONAL,                                        \
          "bytes of such messages whose ends, or the places of these, are not known")

/** Topic "replay": state of the replay of a recording. Published when the state changes, and ten
 * times a second while it plays. Its frames are counted separately from those of other topics.
 * Times are times of arrival at the recording daemon: the other topics show the state after all
 * messages received up to position_ns. */
#define WIRE_REPLAY(FIELD)                                                                         \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, STR, file, 512, REQUIRED, "the recording")                                            \
    FIELD(3, STR, state, 16, REQUIRED,                                                             \
          "\"playing\", also during a step, \"paused\", \"seeking\" or \"ended\"")                 \
    FIELD(4, U64, begin_ns, WIRE_ANY, REQUIRED, "its first message, daemon time")                  \
    FIELD(5, U64, end_ns, WIRE_ANY, REQUIRED, "its last message")                                  \
    FIELD(6, U64, position_ns, WIRE_ANY, REQUIRED, "daemon time that is shown")                    \
    FIELD(7, U64, change, WIRE_ANY, REQUIRED,                                                      \
          "rises with each replay message of a run: ignore a message whose number is not higher")  \
    FIELD(8, U64, run, WIRE_ANY, REQUIRED,                                                         \
          "1, plus 1 for each seek, after which all state is published again, see the "            \
          "specification")                                                                         \
    FIELD(9, F64, speed, 0, REQUIRED, "relative to real time; 0: as fast as possible")             \
    FIELD(10, U64, paused, 1, OPTIONAL, "1: paused, or paused after the current seek or step")     \
    FIELD(11, U64, looping, 1, OPTIONAL, "1: it starts again after its end")                       \
    FIELD(12, U64, window, WIRE_ANY, OPTIONAL, "newest published window; 0: none")                 \
    FIELD(13, U64, window_ns, WIRE_ANY, OPTIONAL, "length of windows")                             \
    FIELD(14, U64, indexed_ns, WIRE_ANY, OPTIONAL,                                                 \
          "seeks are fast up to this time; end_ns: everywhere")                                    \
    FIELD(15, U64, target_ns, WIRE_ANY, OPTIONAL,                                                  \
          "seeking: target; 0: not seeking, or stepping back")                                     \
    FIELD(16, U64, reached_ns, WIRE_ANY, OPTIONAL, "seeking: time that is reached so far")         \
    FIELD(17, STR, fault, 256, OPTIONAL, "what could not be read or applied; empty: nothing")      \
    FIELD(18, U64, marked, 1, OPTIONAL,                                                            \
          "1: marks are complete, 0: unchanged and left out; a snapshot has them")                 \
    FIELD(19, ROWS(mark), marks, 1024, OPTIONAL,                                                   \
          "alerts, by begin: the recorded ones until all is indexed, then those of this replay")   \
    FIELD(20, U64, marks_left_out, WIRE_ANY, OPTIONAL,                                             \
          "further alerts, beyond the limit of marks")                                             \
    FIELD(21, U64, known_ns, WIRE_ANY, OPTIONAL,                                                   \
          "seeking: a preview is shown, which contains data from this time on; 0: no preview")

/** Topic "recorded": messages of agents as the daemon accepted them, byte for byte, for clients
 * that make their own recording. It is not included in "all topics" and must be named. A snapshot
 * has all ranks messages so far, as if received at the time of the snapshot. Not published for
 * replayed jobs. */
#define WIRE_RECORDED(FIELD)                                                                       \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, type, 255, REQUIRED, "of the message: 6 or 7")                                   \
    FIELD(3, U64, instance, WIRE_ANY, REQUIRED, "agent that sent it")                              \
    FIELD(4, U64, seq, WIRE_ANY, REQUIRED, "its number")                                           \
    FIELD(5, U64, window, WIRE_ANY, OPTIONAL, "number of the window; 0 for other messages")        \
    FIELD(6, U64, time_ns, WIRE_ANY, REQUIRED, "begin of the window, or arrival: daemon time")     \
    FIELD(7, U64, received_ns, WIRE_ANY, REQUIRED, "arrival, daemon time")                         \
    FIELD(8, BIN, bytes, WIRE_PART_BYTES, REQUIRED, "of the message, as received")                 \
    FIELD(9, U64, more, 1, OPTIONAL, "1: another message with more bytes of it follows")           \
    FIELD(10, U64, offset, WIRE_MESSAGE_BYTES, OPTIONAL, "bytes of the message in earlier parts")

/** Topic "captures": records that one node captured, or a part of them, published together with the
 *  window that was open. In a snapshot all stored captures, oldest first. */
#define WIRE_CAPTURE(FIELD)                                                                        \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, U64, id, WIRE_ANY, REQUIRED, "number of the capture within the job")                  \
    FIELD(3, U64, asked_ns, WIRE_ANY, REQUIRED, "when it was asked for, daemon time")              \
    FIELD(4, STR, reason, 256, OPTIONAL, "why, for people")                                        \
    FIELD(5, U64, alert, WIRE_ANY, OPTIONAL, "alert that it is for; 0: a person asked")            \
    FIELD(6, U64, nodes, WIRE_ANY, OPTIONAL, "agents that were asked")                             \
    FIELD(7, U64, answered, WIRE_ANY, OPTIONAL,                                                    \
          "of those, agents that have answered completely, this one included")                     \
    FIELD(8, U64, records, WIRE_ANY, OPTIONAL, "records of the capture so far, these included")    \
    FIELD(9, STR, host, 64, REQUIRED, "node that these are from")                                  \
    FIELD(10, U64, at_ns, WIRE_ANY, REQUIRED, "when its rings were read, daemon time")             \
    FIELD(11, U64, clock_error_ns, WIRE_ANY, OPTIONAL,                                             \
          "bound of the error of daemon time there; WIRE_ANY: not known")                          \
    FIELD(12, ROWS(capture_thread), threads, WIRE_MAX_ROWS, REQUIRED, "threads of the records")    \
    FIELD(13, ROWS(capture_event), events, WIRE_MAX_ROWS, REQUIRED, "by thread, the oldest first") \
    FIELD(14, ROWS(comm), comms, WIRE_MAX_ROWS, OPTIONAL, "communicators that the rows name")      \
    FIELD(15, ROWS(region), regions, WIRE_MAX_ROWS, OPTIONAL, "code regions that the rows name")   \
    FIELD(16, STR, fault, 256, OPTIONAL, "why records are missing, for people")                    \
    FIELD(17, U64, more, 1, OPTIONAL, "1: another message with more of this node follows")         \
    FIELD(18, ROWS(source), sources, WIRE_MAX_ROWS, OPTIONAL, "see captured")

/** Answer to "remap": a mapping, or the progress of the search. */
#define WIRE_MAPPING(FIELD)                                                                        \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, STR, objective, 32, REQUIRED, "\"hop-bytes\", \"max-link\" or \"inter-node\"")        \
    FIELD(3, F64, progress, 0, REQUIRED, "0 to 1; 1: this is the result")                          \
    FIELD(4, U64, seed, WIRE_ANY, OPTIONAL, "of the search")                                       \
    FIELD(5, ROWS(gain), gains, 64, OPTIONAL,                                                      \
          "every measure, the objective first; before the result: the objective, so far")          \
    FIELD(6, ROWS(seat), seats, WIRE_MAX_ROWS, OPTIONAL, "suggested placement of each rank")       \
    FIELD(7, U64, optimal, 1, OPTIONAL, "1: it reaches the bound, so none is better")              \
    FIELD(8, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/** Answer to "reroute": better routes. */
#define WIRE_ROUTES(FIELD)                                                                         \
    FIELD(1, STR, job, 64, REQUIRED, "job id")                                                     \
    FIELD(2, ROWS(reroute), routes, WIRE_MAX_ROWS, REQUIRED, "those that were asked for")          \
    FIELD(3, ROWS(hop), hops, WIRE_MAX_ROWS, OPTIONAL, "vertices of the suggested ones")           \
    FIELD(4, ROWS(gain), gains, 64, OPTIONAL, "every measure")                                     \
    FIELD(5, U64, more, 1, OPTIONAL, "1: another message with more rows follows")

/* ---- the lists ----------------------------------------------------------- */

/** X(name, columns, number of columns that every row has). The number never changes: columns
 * appended later are left out by older senders. */
#define WIRE_ROW_TABLES(X)                                                                         \
    X(comm, WIRE_COMM_ROW, 5)                                                                      \
    X(region, WIRE_REGION_ROW, 1)                                                                  \
    X(member, WIRE_MEMBER_ROW, 3)                                                                  \
    X(rank, WIRE_RANK_ROW, 23)                                                                     \
    X(pair, WIRE_PAIR_ROW, 7)                                                                      \
    X(call, WIRE_CALL_ROW, 9)                                                                      \
    X(death, WIRE_DEATH_ROW, 9)                                                                    \
    X(uncovered, WIRE_UNCOVERED_ROW, 2)                                                            \
    X(transfer, WIRE_TRANSFER_ROW, 11)                                                             \
    X(latency, WIRE_LATENCY_ROW, 4)                                                                \
    X(half, WIRE_HALF_ROW, 9)                                                                      \
    X(pending, WIRE_PENDING_ROW, 5)                                                                \
    X(criterion, WIRE_CRITERION_ROW, 5)                                                            \
    X(series, WIRE_SERIES_ROW, 15)                                                                 \
    X(rank_latency, WIRE_RANK_LATENCY_ROW, 3)                                                      \
    X(latency_region, WIRE_LATENCY_REGION_ROW, 3)                                                  \
    X(region_member, WIRE_REGION_MEMBER_ROW, 2)                                                    \
    X(cause, WIRE_CAUSE_ROW, 3)                                                                    \
    X(job, WIRE_JOB_ROW, 7)                                                                        \
    X(node, WIRE_NODE_ROW, 15)                                                                     \
    X(place, WIRE_PLACE_ROW, 4)                                                                    \
    X(host, WIRE_HOST_ROW, 1)                                                                      \
    X(burst, WIRE_BURST_ROW, 11)                                                                   \
    X(burst_pair, WIRE_BURST_PAIR_ROW, 5)                                                          \
    X(collective, WIRE_COLLECTIVE_ROW, 3)                                                          \
    X(comm_member, WIRE_COMM_MEMBER_ROW, 3)                                                        \
    X(cart, WIRE_CART_ROW, 4)                                                                      \
    X(cart_member, WIRE_CART_MEMBER_ROW, 3)                                                        \
    X(phase, WIRE_PHASE_ROW, 14)                                                                   \
    X(curve_point, WIRE_CURVE_POINT_ROW, 10)                                                       \
    X(column, WIRE_COLUMN_ROW, 19)                                                                 \
    X(bar, WIRE_BAR_ROW, 8)                                                                        \
    X(bar_ranks, WIRE_BAR_RANKS_ROW, 4)                                                            \
    X(ribbon, WIRE_RIBBON_ROW, 7)                                                                  \
    X(counter, WIRE_COUNTER_ROW, 8)                                                                \
    X(process, WIRE_PROCESS_ROW, 16)                                                               \
    X(dimension, WIRE_DIMENSION_ROW, 5)                                                            \
    X(vertex, WIRE_VERTEX_ROW, 2)                                                                  \
    X(edge, WIRE_EDGE_ROW, 4)                                                                      \
    X(hop, WIRE_HOP_ROW, 3)                                                                        \
    X(seat, WIRE_SEAT_ROW, 2)                                                                      \
    X(link, WIRE_LINK_ROW, 14)                                                                     \
    X(link_route, WIRE_LINK_ROUTE_ROW, 6)                                                          \
    X(interface, WIRE_INTERFACE_ROW, 10)                                                           \
    X(gain, WIRE_GAIN_ROW, 4)                                                                      \
    X(reroute, WIRE_REROUTE_ROW, 7)                                                                \
    X(mark, WIRE_MARK_ROW, 7)                                                                      \
    X(capture_thread, WIRE_CAPTURE_THREAD_ROW, 5)                                                  \
    X(capture_event, WIRE_CAPTURE_EVENT_ROW, 18)                                                   \
    X(route, WIRE_ROUTE_ROW, 2)                                                                    \
    X(lateness, WIRE_LATENESS_ROW, 3)                                                              \
    X(source, WIRE_SOURCE_ROW, 3)

/** X(type number, TYPE, struct name, fields, "sender and receiver, or topic") */
#define WIRE_MESSAGES(X)                                                                           \
    X(1, HELLO, hello, WIRE_HELLO, "agent, client to daemon")                                      \
    X(2, WELCOME, welcome, WIRE_WELCOME, "daemon to agent, client")                                \
    X(3, REFUSED, refused, WIRE_REFUSED, "daemon to agent, client")                                \
    X(4, CLOCK_ASK, clock_ask, WIRE_CLOCK_ASK, "agent to daemon")                                  \
    X(5, CLOCK_ANSWER, clock_answer, WIRE_CLOCK_ANSWER, "daemon to agent")                         \
    X(6, RANKS, ranks, WIRE_RANKS, "agent to daemon")                                              \
    X(7, WINDOW, window, WIRE_WINDOW, "agent to daemon")                                           \
    X(8, ACK, ack, WIRE_ACK, "daemon to agent")                                                    \
    X(9, BYE, bye, WIRE_BYE, "agent, client to daemon")                                            \
    X(10, CRITERIA, criteria, WIRE_CRITERIA, "daemon to agent")                                    \
    X(11, CAPTURE_ASK, capture_ask, WIRE_CAPTURE_ASK, "daemon to agent")                           \
    X(12, CAPTURED, captured, WIRE_CAPTURED, "agent to daemon, daemon to client")                  \
    X(20, REQUEST, request, WIRE_REQUEST, "client to daemon")                                      \
    X(21, REPLY, reply, WIRE_REPLY, "daemon to client")                                            \
    X(22, STATUS, status, WIRE_STATUS, "daemon to client")                                         \
    X(23, COMMGRAM, commgram, WIRE_COMMGRAM, "daemon to client")                                   \
    X(24, MAPPING, mapping, WIRE_MAPPING, "daemon to client")                                      \
    X(25, ROUTES, routes, WIRE_ROUTES, "daemon to client")                                         \
    X(40, JOB, job, WIRE_JOB, "topic job")                                                         \
    X(41, PLACES, places, WIRE_PLACES, "topic places")                                             \
    X(42, TOTALS, totals, WIRE_TOTALS, "topic totals")                                             \
    X(43, RANK_WINDOW, rank_window, WIRE_RANK_WINDOW, "topic ranks")                               \
    X(44, PAIR_WINDOW, pair_window, WIRE_PAIR_WINDOW, "topic pairs")                               \
    X(45, CALL_WINDOW, call_window, WIRE_CALL_WINDOW, "topic calls")                               \
    X(46, NODES, nodes, WIRE_NODES, "topic nodes")                                                 \
    X(47, ALERT, alert, WIRE_ALERT, "topic alerts")                                                \
    X(48, LATENCIES, latencies, WIRE_LATENCIES, "topic latency")                                   \
    X(49, REGIONS, regions, WIRE_REGIONS, "topic regions")                                         \
    X(50, PHASES, phases, WIRE_PHASES, "topic phases")                                             \
    X(51, CURVE, curve, WIRE_CURVE, "topic curve")                                                 \
    X(52, TOPOLOGY, topology, WIRE_TOPOLOGY, "topic topology")                                     \
    X(53, LINKS, links, WIRE_LINKS, "topic links")                                                 \
    X(54, REPLAY, replay, WIRE_REPLAY, "topic replay")                                             \
    X(55, RECORDED, recorded, WIRE_RECORDED, "topic recorded")                                     \
    X(56, CAPTURE, capture, WIRE_CAPTURE, "topic captures")                                        \
    X(57, HISTORY, history, WIRE_HISTORY, "topic history")                                         \
    X(58, CALLER_WINDOW, caller_window, WIRE_CALLER_WINDOW, "topic callers")                       \
    X(59, LATENESS, lateness, WIRE_LATENESS, "topic lateness")

/* ---- the structs --------------------------------------------------------- */

enum wire_type {
#define X(number, NAME, name, FIELDS, direction) WIRE_TYPE_##NAME = number,
    WIRE_MESSAGES(X)
#undef X
};

/* C type of each kind. BIN is two slots, as rows are. ROWS(table) expands to WIRE_C_ROWS_NAME,
 * which is applied to the name of the field. */
#define WIRE_C_U64(name) uint64_t name;
#define WIRE_C_I64(name) int64_t name;
#define WIRE_C_F64(name) double name;
#define WIRE_C_STR(name) const char *name; /* NUL-terminated; NULL is encoded as "" */
#define WIRE_C_BIN(name)                                                                           \
    const void *name;                                                                              \
    uint64_t name##_count;
#define WIRE_C_ROWS(table) const struct wire_##table##_row *WIRE_C_ROWS_NAME
#define WIRE_C_ROWS_NAME(name)                                                                     \
    name;                                                                                          \
    uint64_t name##_count;
#define WIRE_C_COLUMN(kind, name, limit, doc) WIRE_C_##kind(name)
#define WIRE_C_FIELD(key, kind, name, limit, need, doc) WIRE_C_##kind(name)

/* struct wire_comm_row, struct wire_region_row, ... */
#define X(name, COLUMNS, base)                                                                     \
    struct wire_##name##_row {                                                                     \
        COLUMNS(WIRE_C_COLUMN)                                                                     \
    };
WIRE_ROW_TABLES(X)
#undef X

/* struct wire_hello, struct wire_welcome, ... */
#define X(number, NAME, name, FIELDS, direction)                                                   \
    struct wire_##name {                                                                           \
        FIELDS(WIRE_C_FIELD)                                                                       \
    };
WIRE_MESSAGES(X)
#undef X

/* ---- encoding and decoding ----------------------------------------------- */

/** A growing buffer for encoded messages. Zero-initialised, it is empty. */
struct wire_buffer {
    uint8_t *bytes; /**< owned */
    size_t length;
    size_t capacity;
};

/** Free what the buffer owns and make it empty. */
void wire_buffer_finish(struct wire_buffer *buffer);

/** Encode a message into the buffer, replacing its contents.
 *  @param message  the struct that belongs to the type; texts longer than their limit are cut at
 *                  a UTF-8 boundary; absent optional fields (0, NULL, no rows) take no bytes
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT when a count is over its limit, -HOLTER_ERANGE when a
 *          number is */
int wire_encode(struct wire_buffer *buffer, enum wire_type type, const void *message);

#define WIRE_MOST_FIELDS 63u /**< of a message: keys are 1 to 63, each once */

/** Encoding details of a decoded message, from which, with its values, the same bytes can be
 * encoded again. */
struct wire_shape {
    unsigned count; /**< fields that were present, in this order */
    struct {
        uint8_t key;
        uint8_t width; /**< columns of each of its rows; 0: it has no rows */
    } fields[WIRE_MOST_FIELDS];
};

/** Memory that a decoded message points into; reused from message to message. Zero-initialised
 *  is empty. */
struct wire_arena {
    void *blocks;
    size_t used;
    struct wire_shape shape; /**< of the message */
};

/** Free what the arena owns. */
void wire_arena_finish(struct wire_arena *arena);

/** Error in a message, for logs and counters. */
struct wire_fault {
    int code;       /**< negative */
    size_t offset;  /**< byte where it was noticed */
    char where[64]; /**< "window.pairs[12].bytes" */
};

/** A decoded message. Its texts and rows are in the arena and valid until the arena is used again.
 */
struct wire_message {
    enum wire_type type;
    /** Set by wire_decode() if every value had its shortest encoding and every key and column is in
     *  the tables; else NULL. In the arena. */
    const struct wire_shape *shape;
    union {
#define X(number, NAME, name, FIELDS, direction) struct wire_##name name;
        WIRE_MESSAGES(X)
#undef X
    };
};

/** Copy a message by encoding and decoding it.
 *  @param out    set on success; must not be the message itself
 *  @param arena  borrowed; emptied first, and owns what the copy points to
 *  @return as wire_encode() and wire_decode() */
int wire_copy(struct wire_message *out, struct wire_arena *arena,
              const struct wire_message *message);

/** Decode one message. Never asserts, never reads outside the bytes, allocates no more
 *  memory than the bytes can fill; hostile input costs at most time linear in its length.
 *  @param out    set on success
 *  @param arena  borrowed; emptied first
 *  @param fault  may be NULL; filled on failure
 *  @return 0, or one of -HOLTER_ETRUNCATED, EMALFORMED, ELIMIT, ETYPE, ERANGE, EMISSING,
 *          EPROTOCOL (unknown type), -ENOMEM */
int wire_decode(struct wire_message *out, struct wire_arena *arena, const void *bytes,
                size_t length, struct wire_fault *fault);

/** Name of a type, "window"; NULL for an unknown one. */
const char *wire_type_name(unsigned type);

/** Topic that a published message belongs to ("totals"), or NULL for the types that are not
 *  published. */
const char *wire_topic(unsigned type);

#endif
