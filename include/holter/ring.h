/* The ring: an overwriting single-producer ring of events in shared memory.
 *
 * The writer never waits: it overwrites the oldest record. Before it overwrites records that the
 * agent has not taken, it adds them to the ring's tally (holter/tally.h): each record is either
 * taken by ring_take() or in the tally, never both: agent and writer advance control->tail by
 * compare-and-swap.
 *
 * Other readers copy records and then check whether the writer has overwritten them meanwhile (a
 * sequence lock over the whole ring), so any number of them may read, and the writer waits for none
 * of them. The ring is also the flight recorder of its thread.
 *
 * The protocol of these readers, as published by H.-J. Boehm, "Can seqlocks get along with
 * programming language memory models?" (MSPC 2012), section 4: writer: entry fields of slot[head];
 * seq = head (release); the MPI call; t_exit; release fence; other exit fields; head = head + 1
 * (release); release fence before the next record's stores reader: h = head (acquire); copy;
 * acquire fence; h2 = head (relaxed); record i of the copy is good when i + capacity > h2
 */
#ifndef HOLTER_RING_H
#define HOLTER_RING_H

#include "holter/event.h"
#include "holter/tally.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum ring_state {
    RING_FREE = 0,   /**< not assigned to a thread */
    RING_ACTIVE = 1, /**< its thread is running */
    /** Its thread has ended; events may still be unread; the agent frees it. A new thread
     *  may claim a free or a closed ring: the head continues, so that readers keep their position
     *  and no record is read twice. */
    RING_CLOSED = 2,
    RING_RESERVING = 3, /**< assigned; its memory is being reserved */
};

/** Control block of one ring. Fields that the writer stores often, fields that it stores rarely and
 *  fields that readers store are on different cache lines. */
struct ring_control {
    _Alignas(64) _Atomic uint64_t
        head; /**< records ever published; the next one goes to head mod capacity */
    _Alignas(64) _Atomic uint32_t state; /**< enum ring_state */
    uint32_t tid;                        /**< kernel thread id of the writer */
    uint64_t capacity;                   /**< records, a power of two */
    /** Of the first record, bytes from the start of the segment, a multiple of 64. */
    uint64_t offset;
    uint64_t tally_offset;        /**< of the first row of the tally, likewise */
    uint32_t tally_capacity;      /**< rows, a power of two */
    _Atomic uint32_t tally_count; /**< rows in use, the first ones */
    /** Requests whose completion is not observed, and messages and calls on communicators without a
     *  slot. */
    _Alignas(64) _Atomic uint64_t untracked;
    /** First record that the agent has not processed: a later agent continues there. Only the agent
     *  writes it. */
    _Atomic uint64_t agent_next;
    /** Records below it were taken by the agent or added to the tally. */
    _Atomic uint64_t tail;
    /** The writer signals its reader when the head reaches alarm_at, see ring_alarm(). Set by the
     *  agent at every drain, cleared by the writer after the signal. */
    _Atomic uint64_t alarm_at;
    _Atomic int32_t alarm_pid; /**< process to be signalled; 0: none */
    /** Number of the figures of tally_row.counted that the agent has committed, from 0 up. Only the
     *  agent writes it. */
    _Atomic uint32_t tally_epoch;
    uint8_t reserved[24];
};

_Static_assert(sizeof(struct ring_control) == 192, "ring control block is part of the contract");

/** Writer's handle, in the memory of the writing thread, never in shared memory. */
struct ring_writer {
    struct ring_control *control; /**< borrowed from the segment */
    struct event *slots;          /**< borrowed from the segment */
    uint64_t mask;                /**< capacity - 1 */
    uint64_t head;                /**< private copy of control->head */
    uint64_t due;                 /**< head at which ring_maintain() has to be called */
    struct tally_row *tally;      /**< borrowed from the segment */
    uint64_t tally_mask;          /**< rows - 1 */
};

/** Reader's handle: one per reader and ring. */
struct ring_reader {
    const struct ring_control *control; /**< borrowed */
    const struct event *slots;          /**< borrowed */
    /** Copied and checked when the reader was made; never read again from memory. */
    uint64_t capacity;
    uint64_t next; /**< index of the first record not yet read */
    /** Records that were not read, since the start: overwritten, or in the tally. */
    uint64_t lost;
    uint64_t taken_until; /**< records below it were taken by an earlier reader; ring_copy() reads
                             them once more */
};

/* A record is written as eight words, each by one relaxed atomic store: a reader that copies a slot
 * while it is being written gets words that are old or new, never undefined behaviour. On x86-64
 * and AArch64 these are plain stores. The words of struct event, in its order: */
enum ring_word {
    RING_WORD_SEQ,
    RING_WORD_T_ENTER,
    RING_WORD_T_EXIT,
    RING_WORD_BYTES,
    RING_WORD_BYTES_IN, /**< or t_post */
    RING_WORD_ENDS,     /**< peer, tag: ring_ends() */
    RING_WORD_PLACE,    /**< request, comm, region: ring_place() */
    RING_WORD_WHAT,     /**< call, flags, kind, parts: ring_what() */
    RING_WORDS,
};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the words of a record are packed for little-endian machines"
#endif

static inline uint64_t ring_ends(int32_t peer, int32_t tag)
{
    return (uint64_t)(uint32_t)peer | (uint64_t)(uint32_t)tag << 32;
}

static inline int32_t ring_peer(uint64_t ends)
{
    return (int32_t)(uint32_t)ends;
}

static inline uint64_t ring_place(uint32_t request, uint16_t comm, uint16_t region)
{
    return (uint64_t)request | (uint64_t)comm << 32 | (uint64_t)region << 48;
}

static inline uint16_t ring_comm(uint64_t place)
{
    return (uint16_t)(place >> 32);
}

static inline uint64_t ring_what(uint16_t call, uint32_t flags, uint16_t kind, uint16_t parts)
{
    return (uint64_t)call | (uint64_t)(uint16_t)flags << 16 | (uint64_t)kind << 32 |
           (uint64_t)parts << 48;
}

/** Store one word of a record. */
static inline void ring_put(struct event *slot, enum ring_word word, uint64_t value)
{
    typedef uint64_t __attribute__((may_alias)) event_word;
    __atomic_store_n((event_word *)(void *)slot + word, value, __ATOMIC_RELAXED);
}

/* Compiler and processor may not move later stores before it. (ThreadSanitizer does not model
 * fences, and needs none here: every shared access is atomic.) */
static inline void ring_fence(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"
    atomic_thread_fence(memory_order_release);
#pragma GCC diagnostic pop
}

/** Slot of the next published record. The writer stores the entry fields, including t_exit = 0, and
 *  calls ring_enter(); after the MPI call it stores t_exit, calls ring_fence(), stores the other
 * exit fields, and calls ring_publish(). Parts are written completely and published one by one.
 * None of these functions blocks, allocates or makes a system call. */
static inline struct event *ring_slot(const struct ring_writer *w)
{
    return &w->slots[w->head & w->mask];
}

/** The entry fields are complete: from now on readers see the slot as a call in progress. */
static inline void ring_enter(const struct ring_writer *w, struct event *slot)
{
    typedef uint64_t __attribute__((may_alias)) event_word;
    __atomic_store_n((event_word *)(void *)slot + RING_WORD_SEQ, w->head, __ATOMIC_RELEASE);
}

/** The record is complete: readers may read it. */
static inline void ring_publish(struct ring_writer *w)
{
    w->head++;
    atomic_store_explicit(&w->control->head, w->head, memory_order_release);
    ring_fence(); /* a reader that sees a store to the next slot also sees this head */
}

/** The writer calls ring_maintain() at the latest after this many records. */
#define RING_MAINTAIN_EVERY 256u

/** Signal for the reader. Its default action is to be ignored, so that it does no harm to an
 * unrelated process that reuses the pid of a former reader. */
#define RING_ALARM_SIGNAL SIGURG

/** Fill a writer's handle from the control block of a new ring or of one that was closed.
 *  @param segment  start of the mapped segment */
void ring_writer_init(struct ring_writer *w, void *segment, struct ring_control *control);

/** Does ring_maintain() have to be called? To be asked after each ring_publish(). */
static inline int ring_is_due(const struct ring_writer *w)
{
    return w->head == w->due;
}

/** Writer: send RING_ALARM_SIGNAL to the reader if the head has reached alarm_at, once for each
 * call of ring_alarm_set(), and add the oldest records to the tally if the ring is full of records
 * that were not taken. Does not block and preserves errno. */
void ring_maintain(struct ring_writer *w);

/** Reader: request a signal when the writer reaches record number `at`. @param pid  of the reader
 */
void ring_alarm_set(struct ring_control *control, uint64_t at, int32_t pid);

/** Make a reader.
 *  @param reader   filled on success
 *  @param segment  start of the mapped segment
 *  @param bytes    length of the mapping: nothing outside it is accessed, even if the control
 *                  block is corrupt
 *  @param index    which ring of the segment
 *  @return 0, -HOLTER_EEMPTY when no thread has used that ring yet, -HOLTER_ECORRUPT when the
 *          control block does not fit the mapping */
int ring_reader_init(struct ring_reader *reader, const void *segment, size_t bytes, uint32_t index);

/** Copy published records, oldest first.
 *  @param out  array of max records
 *  @return number of records copied; 0 when there are none. Records that were overwritten are
 *          skipped and added to reader->lost. */
size_t ring_read(struct ring_reader *reader, struct event *out, size_t max);

/** Copy the next records without passing over them, for the reader that takes them: the agent.
 *  Records that are in the tally are skipped and added to reader->lost.
 *  @return number of records copied */
size_t ring_copy(struct ring_reader *reader, struct event *out, size_t max);

/** Take the first `count` records that ring_copy() has just copied: they will not be in the tally.
 *  @param control  that of the reader, writable
 *  @return 1; 0: the writer has added some of them to the tally meanwhile, the copy is void */
int ring_take(struct ring_reader *reader, struct ring_control *control, size_t count);

/** Copy the record of the call in progress.
 *  @param out  set on success: entry fields are valid, t_exit is 0
 *  @return 0, or -HOLTER_EEMPTY when the thread is outside MPI or changed the record meanwhile */
int ring_peek(const struct ring_reader *reader, struct event *out);

/** Copy the next unread record if its writer has begun it, whether or not it has been published.
 * Only the entry fields of an unpublished record are valid.
 *  @return 0, or -HOLTER_EEMPTY when it has not been begun, or was overwritten already */
int ring_begun(const struct ring_reader *reader, struct event *out);

/** Copy the newest published records before an index without consuming them: the flight recorder.
 *  @param end  UINT64_MAX: the newest of all
 *  @return number of records copied, oldest first, at most max and at most the capacity */
size_t ring_capture_before(const struct ring_reader *reader, uint64_t end, struct event *out,
                           size_t max);

#endif
