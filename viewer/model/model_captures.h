/* Captures: the last calls of ranks, read back from their rings for an alert, for a person, or by
 * an agent one of whose ranks died.
 *
 * A capture comes in parts, node by node, and after a seek or lost frames once more: a record has a
 * number in its thread, by which it is entered once. In bounded memory: beyond CAPTURES of them, or
 * CAPTURES_CALLS calls of all together, the oldest are given up, and what then has no room is
 * counted. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_CAPTURES_H
#define HOLTER_VIEWER_MODEL_MODEL_CAPTURES_H

#include "viewer/model/model_alerts.h"

#include "holter/call.h"
#include "holter/wire.h"

#define CAPTURES 64               /**< most that are kept, the newest */
#define CAPTURES_CALLS (1u << 19) /**< most calls of all of them, 64 bytes each */
#define CAPTURES_THREADS                                                                           \
    (1u << 18)             /**< most threads of one: as many as a daemon asks for records */
#define CAPTURES_NAMES 255 /**< most different communicators and code regions of one */

/** A call with the messages that it posted or completed. */
struct capture_call {
    int64_t begin_ns;         /**< daemon time */
    uint64_t length_ns;       /**< of one in progress until the ring was read */
    uint64_t bytes, bytes_in; /**< of all its messages; collectives: what goes in and comes out */
    int64_t tag;              /**< TAG_*: none */
    int32_t peer;             /**< rank of the other side of its first message, or root; PEER_* */
    uint32_t messages;        /**< further ones, besides its own */
    uint16_t call;
    uint8_t running;      /**< it had not returned */
    uint8_t peers;        /**< 1: its messages have different ones */
    uint8_t comm, region; /**< in capture.names; 0: none */
};

struct capture_thread {
    uint64_t rank, thread;
    struct capture_call *calls; /**< owned; as they were made, the oldest first */
    uint32_t count, room;
    uint64_t next;   /**< number behind that of the newest record that is known */
    int64_t read_ns; /**< when its ring was read, daemon time */
    uint64_t lapped; /**< records overwritten while they were read */
    uint8_t skips;   /**< the newest call had no room: neither have its messages */
};

struct capture_name {
    char text[65];
};

struct capture {
    uint64_t id, alert; /**< alert 0: it is for none */
    int64_t asked_ns;   /**< daemon time */
    char reason[257];
    char fault[323];                /**< what of it is missing, with the host's name; "": nothing */
    uint64_t nodes, answered;       /**< agents asked, and of those who have told all */
    struct capture_thread *threads; /**< owned; by rank, then thread */
    uint32_t thread_count, thread_room;
    uint32_t ranks;
    uint64_t calls;                  /**< kept */
    uint64_t left_out;               /**< calls for which there was no room */
    int64_t begin_ns, end_ns;        /**< of its calls; equal: there are none */
    uint64_t class_ns[CALL_CLASSES]; /**< time of its calls by enum call_class */
    uint64_t error_ns; /**< largest bound of the clocks' errors; WIRE_ANY: not known of one */
    struct capture_name *names; /**< owned; 0 is "" */
    uint32_t name_count;
};

/** Zero-initialised is empty. */
struct captures {
    struct capture *items; /**< owned; the newest number first */
    uint32_t count;
    uint64_t calls;     /**< of all of them */
    uint64_t forgotten; /**< captures given up for want of room */
};

/** @return 0, or -ENOMEM: not all of it was entered */
int captures_apply(struct captures *captures, const struct wire_capture *message);

void captures_finish(struct captures *captures);

/** By number; NULL: not known. */
const struct capture *captures_find(const struct captures *captures, uint64_t id);

/** The newest that is for an alert; of the death of a rank that which its agent made at that time.
 * NULL: none. */
const struct capture *captures_of_alert(const struct captures *captures, const struct alert *alert);

/** Has it calls of a rank? */
int capture_has_rank(const struct capture *capture, uint64_t rank);

#endif
