/* Matching: point-to-point messages of the ranks of one job on this node, from the records of both
 * ends.
 *
 * Pure: no clock, no I/O, no shared memory. Times are nanoseconds of CLOCK_MONOTONIC; records are
 * data, never an index that is used unchecked.
 *
 * Words
 *   channel  messages of one (communicator id, source, destination, tag). MPI lets no message
 *            overtake another of its channel (MPI 4.0, section 3.5), so the n-th send belongs to
 *            the n-th receive that matched the channel, both counted in the order of posting.
 *   member   a rank of the job that lives on this node.
 *
 * Order of posting
 *   Sends and receives of one thread are posted in the order of its records. A receive with
 *   wildcards takes its place in a channel when it completes, but at the moment of its posting: a
 *   receive is not matched while a receive that was posted before it, and could take the same
 *   message, is still open. A message that MPI_Mprobe takes counts as received by a receive posted
 *   at that call. Threads of a member are merged by the entry of the posting calls; where two such
 *   calls overlap on one channel their order is not known, and the messages concerned are matched
 *   only where sizes and causality (PCLVis, section 3: a receive cannot end before its send began)
 *   leave one possibility.
 *
 * Threads that complete what others have posted
 *   Rings are drained one after the other, so the record of an end may be read before that of its
 * post: in the same round, or one round earlier. It is kept until the post is read, for at most two
 * rounds; then it is dropped and counted. An end names the entry of the call that posted it
 * (event.t_post): a persistent request has the same number in all its starts. At most
 * 65,536 ends of all members together are kept, 7 MB; beyond that, records of the member count as
 * lost.
 *
 * Unknown order
 *   After lost records the order of a member's messages is unknown: the ends that its channels
 *   hold are dropped, and so are further ends, until the channel is synchronised again (see
 * match_settle.c). Posts read in the two rounds after the loss are dropped, too, unless their ends
 * are read: those may have been lost in another ring. Communicators that were made after the loss
 * are synchronised from the start. A pair that has different sizes, or whose receive ended before
 * its send began, is rejected, and desynchronises its channel. So does a send or receive that
 * failed, unless it was refused for an argument. Dropped messages are counted.
 *
 * Pauses
 *   Records of calls while MPI_Pcontrol(0) was in force (EVENT_PAUSED) keep the order; what they
 *   end is neither reported nor counted.
 *
 * Members and others
 *   A peer that is not a member yet may become one: its process may be found later. Messages
 *   exchanged with it are held until match_all_added(), or for MATCH_REMOTE_AFTER_NS; after that it
 *   is taken to live on another node, and the ends of its messages are reported one by one, with a
 *   key that both nodes compute alike.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_MATCH_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_MATCH_H

#include "daemon/analysis/clocks/tick_clock.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

#define MATCH_REMOTE_AFTER_NS UINT64_C(2000000000)

/** A matched message; times as struct wire_transfer_row has them. */
struct match_message {
    uint32_t source, destination; /**< ranks in MPI_COMM_WORLD */
    uint64_t bytes;
    uint64_t transfer_ns;
    uint64_t late_sender_ns;
    uint64_t late_receiver_ns;
    uint64_t send_wait_ns;
    uint64_t network_ns;
    uint64_t joint_ns;
};

/** One end of a message between two nodes. */
struct match_half {
    uint64_t key; /**< message_key() of it */
    uint32_t source, destination;
    uint64_t bytes;
    uint64_t enter_ns; /**< of the call that posted the send or completed the receive */
    uint64_t exit_ns;  /**< of that call; enter_ns: of a send whose call does more than send;
                            UINT64_MAX: of one whose call took more than 4 s */
    uint64_t local_ns; /**< receive: latest send of those that came from this node; 0: none */
    uint32_t together; /**< receive: messages that the call completed, less those matched within
                            the node; send: 0 */
    int receive;
};

/** Where results go; called from match_events() and match_settle(). */
struct match_sink {
    void (*message)(void *user, const struct match_message *message);
    void (*half)(void *user, const struct match_half *half);
    void *user;
};

struct match_counts {
    uint64_t matched;   /**< messages between members */
    uint64_t unmatched; /**< ends of such messages that were dropped, and messages of which one end
                             alone came while recording was paused */
    uint64_t rejected; /**< pairs whose sizes or times contradict each other; not those of pauses */
};

struct match;
struct match_member;

/** @param world  ranks of the job. @return 0 or -ENOMEM */
int match_create(struct match **out, uint64_t world, const struct match_sink *sink);
void match_destroy(struct match *match);

/** A rank of the job appeared on the node. @return it, owned by the match; NULL: no memory, or a
 * rank outside the world */
struct match_member *match_add(struct match *match, uint64_t rank);

/** No further member will be added: messages with other ranks are between nodes, from the next
 *  match_settle() on also those that were held. Where one is added all the same, it is as if this
 *  had not been called, but for what was taken to be between nodes until then. */
void match_all_added(struct match *match);

/** To be called when the member's process has ended and all its records were processed: drop the
 * ends that its channels still hold, and free the member. NULL is fine. */
void match_remove(struct match *match, struct match_member *member);

/** Records of the member were lost, or calls were not recorded: see above. */
void match_lost(struct match *match, struct match_member *member);

/** How often that was so: match_events() finds losses as well. */
uint64_t match_losses(const struct match_member *member);

/** Where a member's records come from. */
struct match_source {
    const struct tick_clock *clock;
    uint32_t ring; /**< of the member, below 65536; one for each thread */
    /** Id of the communicator in a slot of the member's table; 0: not known. *fresh is set to 1
     *  when it was made after the last loss of the member before match_events(). */
    uint64_t (*comm)(void *user, uint32_t slot, int *fresh);
    void *user;
};

/** Process records of one ring, oldest first, after those processed before. */
void match_events(struct match *match, struct match_member *member,
                  const struct match_source *source, const struct event *events, size_t count);

/** A ring's call in progress, for members of several threads; forgotten with the next records of
 *  that ring.
 *  @param event  NULL: none
 *  @return entry of the call, if its record names what it posts only when it ends; else UINT64_MAX
 */
uint64_t match_underway(struct match_member *member, const struct match_source *source,
                        const struct event *event);

/** For a member of several threads: the records of all calls that began before this moment were
 *  processed, except those in progress. To be called after each round of match_events(): a round
 *  drains each ring once, and begins after every event that the round before has read. */
void match_known_until(struct match *match, struct match_member *member, uint64_t ns);

/** Match what can be matched: after a round of match_events() for all members.
 *  @param now_ns  CLOCK_MONOTONIC */
void match_settle(struct match *match, uint64_t now_ns);

/** Match what can be matched within a round: no more is known to be complete than at the last
 *  match_settle(). */
void match_settle_again(struct match *match);

#define MATCH_MAXIMUM_OPEN 16u

/** A receive that is open. */
struct match_open {
    uint64_t comm;
    int32_t source; /**< rank, or PEER_ANY */
    int32_t tag;    /**< or TAG_ANY */
};

/** Receives that a member has posted and not completed, oldest first.
 *  @return how many were written, at most capacity and MATCH_MAXIMUM_OPEN */
uint32_t match_open_receives(const struct match *match, const struct match_member *member,
                             struct match_open *out, uint32_t capacity);

struct match_counts match_counts(const struct match *match);

/** The member of a rank that match_copy_state() has read, for the process that is the rank now;
 * only once, since jobs may have several processes of one rank. @return NULL: there is none */
struct match_member *match_resume(struct match *match, uint32_t rank);

/** See state_bytes.h; all but its sink. It is read into a match that was just made; after an error
 *  that can only be destroyed. */
void match_copy_state(struct state_bytes *b, struct match *match);

#endif
