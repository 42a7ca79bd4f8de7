/* The captures of a recording as ends of messages, for the graph of dependencies
 * (daemon/analysis/dependencies). A capture consists of one or more messages of each node. */
#ifndef HOLTER_DAEMON_EXPORT_CAPTURED_CALLS_H
#define HOLTER_DAEMON_EXPORT_CAPTURED_CALLS_H

#include "daemon/analysis/dependencies/dependency_calls.h"
#include "daemon/export/recording_rows.h"
#include "daemon/storage/recording.h"

/** One capture. Zero-initialised is empty. */
struct captured_calls {
    struct dependency_calls calls;
    char job[65];       /**< "": not known */
    uint64_t capture;   /**< its number; 0: not known */
    uint64_t asked_ns;  /**< time of the request, or that until which records were asked for */
    char reason[257];   /**< why it was captured; "": not known */
    char missing[1024]; /**< what is missing in it, for people; "": nothing */
};

void captured_calls_finish(struct captured_calls *captured);

/** Add the capture of one node, or a part of it. @return 0 or -ENOMEM */
int captured_calls_add(struct captured_calls *captured, const struct wire_captured *message);

/** What messages normally take in the job. Zero-initialised is empty. */
struct captured_criteria {
    struct wire_criterion_row *rows; /**< owned */
    size_t count;
};

void captured_criteria_finish(struct captured_criteria *criteria);
/** @return 0 or -ENOMEM */
int captured_criteria_add(struct captured_criteria *criteria, const struct wire_criterion_row *row);

/** Captures of a recording. */
struct captured_list {
    struct captured_calls *list; /**< owned; by number */
    size_t count;
    struct captured_criteria criteria;
    uint64_t broken; /**< messages that cannot be decoded, captures or others */
};

#define CAPTURED_ALL 0u
#define CAPTURED_NEWEST UINT64_MAX /**< the newest capture with records */

/** Read captures of a recording.
 *  @param number    of the capture, or CAPTURED_ALL or CAPTURED_NEWEST; there may be none
 *  @param progress  NULL: none
 *  @param out       to be finished, also on failure
 *  @param why       set on failure: a sentence for people
 *  @return 0 or a negative error */
int captured_list_read(struct captured_list *out, struct tables *tables, const char *path,
                       uint64_t number, const struct recording_progress *progress, char *why,
                       size_t capacity);
void captured_list_finish(struct captured_list *list);

#endif
