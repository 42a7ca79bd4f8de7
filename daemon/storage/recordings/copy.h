/* Makes recordings of others: a cut of one, or the merge of several of one job. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_COPY_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_COPY_H

#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

struct copy_counts {
    uint64_t messages; /**< written */
    uint64_t twice;    /**< found a second time and left out */
    uint64_t
        missing; /**< merge: messages of agents missing in all files, according to their numbers */
    uint64_t damaged; /**< unreadable, left out */
    uint64_t tables;  /**< of which rows were unreadable and left out */
    uint64_t lacking; /**< bytes missing at the ends of truncated files: the number of messages is
                         unknown */
};

/** Span of a recording, by the begin of its windows, daemon time.
 * @return 0, or negative: it has no window, or cannot be read */
int copy_span(const char *path, uint64_t *begin_ns, uint64_t *end_ns, char *why, size_t capacity);

/** Cut a recording: windows that begin before `to_ns` and end after `from_ns`, the earlier
 * messages about ranks as if they had been sent at the begin of the cut, and the rows of the
 * tables that are about this span.
 * @param out  no file of this name may exist; none is left on failure
 * @param from_ns, to_ns  0 and UINT64_MAX: no bound
 * @param why  set on failure
 * @return 0, -EEXIST, -HOLTER_EEMPTY: no window is in this span; or negative */
int copy_cut(const char *out, const char *path, uint64_t from_ns, uint64_t to_ns,
             const struct recording_progress *progress, struct copy_counts *counts, char *why,
             size_t capacity);

/** Merge recordings of one job: messages in the order of their arrival, each once, identified by
 * agent and number. In the tables newer rows replace older ones.
 * @param paths  in any order
 * @return as copy_cut(); -HOLTER_ENOJOB: the recordings are of different jobs, or of
 * two runs under one id: ranks are other processes, and no agent is in both; or their rows are of
 * groups of ranks of different sizes */
int copy_merge(const char *out, const char *const *paths, size_t count,
               const struct recording_progress *progress, struct copy_counts *counts, char *why,
               size_t capacity);

#endif
