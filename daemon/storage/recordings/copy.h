/* Recordings made of others: a cut of one, or several of one job put together. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_COPY_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_COPY_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

struct copy_counts {
    uint64_t messages; /**< written */
    uint64_t twice;    /**< found again, and left out */
    uint64_t
        missing; /**< of a merge: messages of agents between those that were found in any file */
    uint64_t damaged; /**< that could not be read, and were left out */
    uint64_t lacking; /**< bytes at the ends of files that were cut short: how many messages is not
                         known */
};

/** Begin and end of a recording, by arrival of its messages and begin of its windows, daemon time.
 *  @return 0, or negative: there is no window in it, it cannot be read */
int copy_span(const char *path, uint64_t *begin_ns, uint64_t *end_ns, char *why, size_t room);

/** Windows of a recording that begin before `to_ns` and end after `from_ns`, with what agents said
 * about ranks before that, as if they had said it then; and of the tables what is about this time.
 *  @param out  there must be no file of this name; none is left on failure
 *  @param from_ns, to_ns  0 and UINT64_MAX: no bound
 *  @param why  set on failure @return 0, -EEXIST, -HOLTER_EEMPTY: no window is in this time; or
 * negative */
int copy_cut(const char *out, const char *path, uint64_t from_ns, uint64_t to_ns,
             const struct recording_progress *progress, struct copy_counts *counts, char *why,
             size_t room);

/** Recordings of one job as one, messages in the order of their arrival, each once: an agent's
 * message is known by its number. In the tables what was told later goes before what was told
 * earlier.
 *  @param paths  in any order @return as copy_cut(); -HOLTER_ENOJOB: they are of different jobs */
int copy_merge(const char *out, const char *const *paths, size_t count,
               const struct recording_progress *progress, struct copy_counts *counts, char *why,
               size_t room);

#endif
