/* Captures: the last calls of ranks, read back from their rings for an alert, on request of a user,
 * or by an agent one of whose ranks died.
 * A capture arrives in parts, node by node, and after a seek or lost frames again: a record is
 * identified by its number in its thread and stored only once. In bounded memory: beyond CAPTURES
 * of them, or CAPTURES_CALLS calls of all together, the oldest are dropped, and calls that do not
 * fit even then are counted. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_CAPTURES_H
#define HOLTER_VIEWER_MODEL_MODEL_CAPTURES_H

#include "viewer/model/model_alerts.h"

#include "daemon/analysis/dependencies/dependency_calls.h"

#include "holter/call.h"
#include "holter/wire.h"

#define CAPTURES 64                  /**< maximum stored, the newest */
#define CAPTURES_CALLS (1u << 19)    /**< maximum of calls of all of them, 64 bytes each */
#define CAPTURES_MESSAGES (1u << 19) /**< maximum of ends of messages of all of them */
/** Maximum of threads in one capture: as many as a daemon requests records of. */
#define CAPTURES_THREADS (1u << 18)
#define CAPTURES_NAMES 255 /**< maximum of different communicators and code regions of one */

/** A call with the messages that it posted or completed. */
struct capture_call {
    int64_t begin_ns;         /**< daemon time */
    uint64_t length_ns;       /**< of one in progress: up to the time when the ring was read */
    uint64_t bytes, bytes_in; /**< of its messages; collectives: contributed and received */
    int64_t tag;              /**< TAG_*: none */
    int32_t peer;             /**< rank of the other side of its first message, or root; PEER_* */
    uint32_t messages;        /**< further messages, besides the first */
    uint16_t call;
    uint8_t running;      /**< in progress: it had not returned */
    uint8_t peers;        /**< 1: its messages have different peers */
    uint8_t comm, region; /**< index in capture.names; 0: none */
};

struct capture_thread {
    uint64_t rank, thread;
    struct capture_call *calls; /**< owned; in the order of the calls, the oldest first */
    uint32_t count, capacity;
    uint64_t next;   /**< number after that of the newest known record */
    int64_t read_ns; /**< when its ring was read, daemon time */
    uint8_t skips;   /**< the newest call did not fit: its messages are skipped as well */
};

struct capture_name {
    char text[65];
};

struct capture {
    uint64_t id, alert; /**< alert 0: for no alert */
    int64_t asked_ns;   /**< daemon time */
    char reason[257];
    char fault[323];                /**< what is missing in it, with the host's name; "": nothing */
    uint64_t nodes, answered;       /**< agents that were asked, that answered completely */
    struct capture_thread *threads; /**< owned; by rank, then thread */
    uint32_t thread_count, thread_capacity;
    uint32_t ranks;
    uint64_t calls;                  /**< stored */
    uint64_t left_out;               /**< calls that did not fit */
    int64_t begin_ns, end_ns;        /**< of its calls; equal: there are none */
    uint64_t class_ns[CALL_CLASSES]; /**< time of its calls by enum call_class */
    uint64_t error_ns; /**< largest bound of the clocks' errors; WIRE_ANY: not known of one */
    struct capture_name *names; /**< owned; 0 is "" */
    uint32_t name_count;
    struct dependency_calls messages; /**< owned; the ends of its messages */
    int without_messages; /**< they were dropped, or not all stored, for a maximum was reached */
};

/** Zero-initialised is empty. */
struct captures {
    struct capture *items; /**< owned; the newest number first */
    uint32_t count;
    uint64_t calls;    /**< of all of them */
    uint64_t dropped;  /**< captures dropped because a maximum was reached */
    int waiting;       /**< a capture was requested here, and the daemon has not answered yet */
    uint64_t answer;   /**< number of the capture that answered the last request; 0: none yet */
    char refused[257]; /**< why the last request made none; "": it made one */
};

/** @return 0, or -ENOMEM: it was not stored completely */
int captures_apply(struct captures *captures, const struct wire_capture *message);

void captures_finish(struct captures *captures);

/** Handles the reply to a request for a capture: code 0, or the error with its text. */
void captures_replied(struct captures *captures, int code, const char *text);

/** By number; NULL: not known. */
const struct capture *captures_find(const struct captures *captures, uint64_t id);

/** The newest one for an alert; for the death of a rank the one that its agent made at that time.
 *  NULL: none. */
const struct capture *captures_of_alert(const struct captures *captures, const struct alert *alert);

/** Whether it has calls of a rank. */
int capture_has_rank(const struct capture *capture, uint64_t rank);

#endif
