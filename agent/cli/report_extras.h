/* What goes into a report beside the recording's own tables: pictures of the viewer, a better
 * mapping, and the results of a recording that has none. */
#ifndef HOLTER_AGENT_CLI_REPORT_EXTRAS_H
#define HOLTER_AGENT_CLI_REPORT_EXTRAS_H

#include "daemon/export/report.h"

#include <sys/types.h>

#define REPORT_PICTURES 8u
#define REPORT_MEASURES 4u

/** A daemon that has replayed the recording, for as long as it is asked. Zero-initialised is none.
 */
struct report_replay {
    char directory[64]; /**< its own, temporary */
    char endpoint[96];
    pid_t daemon;
    pid_t cleaner; /**< removes the directory, also when this process is killed; 0: there is none */
    int held;      /**< by all that use the directory: the pipe whose end the cleaner waits for */
};

/** Numbers of the first and the last window. */
struct report_span {
    uint64_t first, last;
};

/** Replay to the end.
 *  @param span      of the recording: for the progress that is shown
 *  @param analysed  not NULL: the results are recorded anew, into a file whose path is set; room
 * for 400
 *  @return 0, or 1 after saying why */
int report_replay_start(struct report_replay *replay, const char *recording, const char *topology,
                        const struct report_span *span, char *analysed);

/** End the daemon and remove all that is its own. */
void report_replay_stop(struct report_replay *replay);

/** @param captures  1: there are captures to be seen
 *  @param out  room for REPORT_PICTURES; free the png of each
 *  @return how many: those that could not be made are said and left out */
size_t report_pictures(const struct report_replay *replay, int captures,
                       struct report_picture *out);

/** What a suggested mapping would bring. Zero-initialise. */
struct report_advice {
    struct report_measure measures[REPORT_MEASURES];
    size_t count; /**< 0: `none` says why */
    char network[200], command[600], none[400];
};

/** @param recording  with results
 *  @param named      the user's own, for the command that is told: `recording` may be a temporary
 * one
 *  @param topology   file or short form; NULL: what the recording has */
void report_advise(struct report_advice *out, const char *recording, const char *named,
                   const char *topology);

#endif
