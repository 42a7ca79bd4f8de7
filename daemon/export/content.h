/* What the messages of a recording hold, summed over all its windows: who sent to whom, who called
 * what, what each rank did. Memory: linear in pairs that exchanged messages, and in (rank, call).
 */
#ifndef HOLTER_EXPORT_CONTENT_H
#define HOLTER_EXPORT_CONTENT_H

#include "daemon/storage/recorded_sums.h"
#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

struct content_pair {
    uint64_t source;
    int64_t destination; /**< -1: several that were told together */
    uint64_t messages, bytes;
    uint64_t matched,
        transfer_ns; /**< of those matched at both ends; their transfer times together */
};

struct content_call {
    uint64_t rank;
    uint16_t call;
    struct recorded_calls sums;
};

/** A rank where it ran, and the sums of its rows. */
struct content_rank {
    uint32_t host;             /**< position in hosts; UINT32_MAX: not known */
    struct wire_rank_row sums; /**< of a window's state (in_call ...) the last */
};

struct content {
    struct content_pair *pairs; /**< by (source, destination) */
    size_t pair_count;
    struct content_call *calls; /**< by (rank, call) */
    size_t call_count;
    struct content_rank *ranks; /**< by rank */
    size_t rank_count;
    char (*hosts)[65];
    uint32_t host_count;
    char job[65];
    uint64_t window_ns;
    uint64_t first_window, last_window; /**< numbers; first > last: none */
    uint64_t messages;                  /**< of agents */
    uint64_t refused;                   /**< of them, that cannot be read */
};

/** A window of an agent. @return 0, or what ends the reading */
typedef int content_window(void *user, const struct wire_window *window);

/** What of a recording is read. Zero-initialised: all that is summed. */
struct content_options {
    content_window *window; /**< told of each window message too; NULL: nobody */
    void *user;
    const struct recording_progress *progress; /**< NULL: nobody */
};

/** Read all messages.
 *  @param out  finish it
 *  @param why  set on failure @return 0, what `window` returned, or a negative error */
int content_read(struct content *out, const char *path, const struct content_options *options,
                 char *why, size_t room);

/** Zero-initialised is fine. */
void content_finish(struct content *content);

#endif
