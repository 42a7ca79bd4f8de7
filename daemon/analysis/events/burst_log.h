/* The messages of a window one by one, until they are put into a set of bursts.
 *
 * A message takes a row of 24 bytes when it is logged. Later all messages are processed together:
 * they are put in order of time (by cells of BURST_LOG_CELL_NS), cut at their largest
 * pauses into up to BURST_LOG_RUNS runs, those are merged by daemon/analysis/events/bursts.h
 * (CommGram, section III-F) into at most a given number of bursts, and only then what each pair
 * sent in a burst is added up. So neither clustering nor summing is done message by message.
 *
 * The pair of ranks is given by the number that the owner has for its own sum of the pair; with it
 * the burst's sum is found without a search.
 *
 * Pure: no clock, no I/O. Memory: 24 bytes for each of `maximum` messages; in the desk, which logs
 * share, 36 bytes for each message of the largest, and 2 MiB. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_LOG_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_LOG_H

#include "daemon/analysis/events/bursts.h"

/** Times within a cell of so many nanoseconds are not distinguished; as in BURSTS_DEFAULTS. */
#define BURST_LOG_CELL_NS 1024u
#define BURST_LOG_RUNS 512u          /**< runs that are distinguished before they are merged */
#define BURST_LOG_NUMBERS (1u << 17) /**< messages of higher numbers have no row */
#define BURST_LOG_ROWS (1u << 14)    /**< pairs of a log; later pairs have none */
#define BURST_LOG_NO_ROW UINT32_MAX  /**< number of a message whose pair is not known */

struct burst_entry {
    uint64_t time_ns;
    uint64_t bytes;
    uint32_t number;
};

struct burst_log {
    struct burst_entry *entries; /**< owned */
    uint32_t count, capacity, maximum;
};

/** @param maximum  messages. @return 0 or -ENOMEM */
int burst_log_init(struct burst_log *log, uint32_t maximum);
void burst_log_finish(struct burst_log *log);

/** Reserve space for one more. @return 0; 1: the log is full and has to be processed first */
int burst_log_grow(struct burst_log *log);

/** Add a message. There must be space: ask burst_log_full() first. */
static inline void burst_log_add(struct burst_log *log, uint64_t time_ns, uint64_t bytes,
                                 uint32_t number)
{
    log->entries[log->count++] = (struct burst_entry){time_ns, bytes, number};
}

static inline int burst_log_full(struct burst_log *log)
{
    return log->count == log->capacity && burst_log_grow(log);
}

/** What is needed while logs are put away. */
struct burst_desk;

int burst_desk_create(struct burst_desk **out);
void burst_desk_destroy(struct burst_desk *desk);

/** The pairs that the numbers of a log stand for. */
struct burst_names {
    /** Set source, destination and size class. @return 0; 1: the pair is not known */
    int (*pair)(const void *user, uint32_t number, struct burst_pair *out);
    const void *user;
};

/** How many bursts a log may become. */
struct burst_bounds {
    uint32_t bursts;
    uint64_t rows; /**< of all bursts: to stay within, fewer bursts are made, but at least one */
};

/** Move all messages of the log to bursts of the set, which may merge them. Every message is
 *  counted, even without memory: messages without a row count in "others". Bytes of a burst beyond
 *  2^64 are left out.
 *  @return number of messages without a row because `names` do not know their pair */
uint64_t burst_log_flush(struct burst_log *log, struct burst_desk *desk,
                         const struct burst_names *names, const struct burst_bounds *bounds,
                         struct bursts *set);

#endif
