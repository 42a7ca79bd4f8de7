/* Sums over a recording of a trace. */
#ifndef HOLTER_TESTS_RECORDED_SUMS_H
#define HOLTER_TESTS_RECORDED_SUMS_H

#include <stdint.h>

#define RECORDED_RANKS 64u
#define RECORDED_CALLS 1024u

struct recorded_sums {
    uint64_t messages, windows, first_window, last_window, window_ns, finals, announced;
    uint64_t events, calls, sent, sent_bytes, received, received_bytes, lost;
    uint64_t pair_messages, pair_bytes, absent_ns;
    uint64_t pairs[RECORDED_RANKS][RECORDED_RANKS];     /**< messages */
    uint64_t pair_size[RECORDED_RANKS][RECORDED_RANKS]; /**< bytes */
    uint64_t call[RECORDED_CALLS], call_ns[RECORDED_CALLS], call_bytes[RECORDED_CALLS],
        call_bytes_in[RECORDED_CALLS]; /**< by number of the call */
    uint64_t rank_received[RECORDED_RANKS], rank_received_bytes[RECORDED_RANKS];
    uint64_t rank_events[RECORDED_RANKS], threads[RECORDED_RANKS];
    uint64_t transfers, transfer_ns, late_sender_ns, late_receiver_ns, halves, bursts;
    uint64_t matched, unmatched, rejected;
    uint64_t region_sent; /**< messages in pairs of code regions */
    char region[64];      /**< the last region that is not "" */
    char comm[64];        /**< the last communicator above 2 */
    uint64_t comm_size, comm_members;
    uint64_t captured, captured_threads, captured_written; /**< records, threads, and records that
                                                                these had in all */
    uint64_t captures, captured_ns; /**< captures, and when the last one was requested */
    uint64_t digest;         /**< of all messages but captures, with what is kept about them */
    uint64_t capture_digest; /**< of captures */
};

/** Sum up a recording; fails the test when a message is damaged. */
void recorded_sums_read(struct recorded_sums *out, const char *path);

#endif
