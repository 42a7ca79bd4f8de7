/* Summary of a recording. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_INFO_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_INFO_H

#include "daemon/storage/recorded_sums.h"
#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define INFO_CALLS 1024u  /**< calls with smaller numbers are counted separately */
#define INFO_ALERTS 256u  /**< alerts that are listed; all are counted */
#define INFO_CAPTURES 64u /**< captures that are listed; all are counted */
#define INFO_HOSTS 65536u /**< hosts that are listed; all are counted, up to 2^20 */
#define INFO_HOLES 16u    /**< gaps that are listed; all are counted */
#define INFO_DAMAGES 16u  /**< damaged places that are listed; all are counted */

struct info_alert {
    uint64_t id, since_ns, updated_ns;
    char kind[33], state[17], severity[17], title[129];
};

struct info_capture {
    uint64_t id, at_ns, alert, records, nodes, answered;
    char reason[257];
};

/** A place that cannot be read. */
struct info_damage {
    uint64_t after;    /**< number of the last message before it */
    uint64_t messages; /**< messages lost there, as far as it is known */
    char text[128];
};

/** A span of time of which windows of agents are missing. */
struct info_hole {
    uint64_t begin_ns, end_ns; /**< daemon time */
    uint64_t missing;          /**< messages of agents */
};

struct info {
    char path[512], job[65], state[17], app[257], command[1025], mpi[129], user[65], holter[65];
    char launcher[65];   /**< "": not known */
    uint64_t rank_group; /**< ranks in a row of regions and phases; 0 and 1: every rank */
    int cut_short;       /**< it ends before the job, recording_is_cut_short() */
    struct recording_stop stop;
    uint64_t file_bytes;
    int64_t version; /**< of the schema */
    uint64_t world, ranks_seen, window_ns;
    uint64_t begin_ns,
        end_ns;           /**< begin of the first window, end of the last, daemon time; 0: none */
    uint64_t duration_ns; /**< from when the first rank was there until the last one was not */
    uint64_t windows;     /**< that were published */
    uint64_t matched, unmatched; /**< of the messages received until then */
    uint64_t of_unwatched;       /**< other received ones: their senders are not watched */
    char (*hosts)[65];           /**< owned, in order of their first message */
    size_t host_count, host_total;
    char network[513], network_source[513]; /**< empty: unknown, or as the agents see it */

    struct wire_rank_row sums;               /**< over all ranks */
    struct recorded_calls calls[INFO_CALLS]; /**< by number; of larger ones at 0 */
    uint64_t dropped, missing, late;         /**< windows of agents, reports, corrections */
    uint64_t absent; /**< messages between those of agents, other than windows that they dropped */
    struct info_hole holes[INFO_HOLES]; /**< by time, also where they dropped windows */
    size_t hole_total;
    struct info_alert *alerts;       /**< owned */
    size_t alert_count, alert_total; /**< of those that fired */
    uint64_t alerts_pending;         /**< others: they are, or were until they were over */
    uint64_t phases, regions, hot_links;
    struct info_capture captures[INFO_CAPTURES];
    size_t capture_count;
    uint64_t capture_total;

    uint64_t messages, agents; /**< of agents; processes of them */
    uint64_t blocks, raw_bytes, packed_bytes;
    uint64_t removed_before_ns; /**< windows before this were removed with older parts; 0: none */
    uint64_t part;              /**< 0: it is the only one */
    uint64_t attached_ns;       /**< recorded from then on, by `holter record`; 0: from the begin */
    uint64_t missed;            /**< messages of agents that did not come since */
    uint64_t missed_before;     /**< of these, in parts before this one */
    struct info_damage damages[INFO_DAMAGES];
    size_t damage_count;
};

/** Read a recording from begin to end.
 *  @param progress  NULL: nobody
 *  @param out  finish it; also when something is damaged: then damage_count says so, and the rest
 * is what can be read
 *  @param why  set on failure @return 0, or negative: it cannot be opened, or there is no memory */
int info_read(struct info *out, const char *path, const struct recording_progress *progress,
              char *why, size_t capacity);

void info_finish(struct info *info);

void info_print_json(FILE *out, const struct info *info);

#endif
