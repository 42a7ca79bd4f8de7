/* Contents of a report that are not tables of the recording: pictures of the viewer, a better
 * mapping, and the results of the analyses if the recording has none. */
#ifndef HOLTER_AGENT_CLI_REPORT_EXTRAS_H
#define HOLTER_AGENT_CLI_REPORT_EXTRAS_H

#include "agent/terminal/unfinished_output.h"
#include "daemon/export/report.h"

#include <sys/types.h>

#define REPORT_PICTURES 8u
#define REPORT_MEASURES 4u

/** A daemon that has replayed the recording and waits for clients. Zero-initialised: none. */
struct report_replay {
    char directory[64]; /**< its own, temporary */
    char endpoint[96];
    pid_t daemon;
    struct unfinished cleaner; /**< removes the directory, also when this process is killed */
};

/** Numbers of the first and the last window. */
struct report_span {
    uint64_t first, last;
};

/** Replay the recording to its end.
 *  @param span      windows of the recording, for the progress
 *  @param analysed  not NULL: the results are recorded again, into a temporary file whose path is
 *                   stored here, in 400 bytes
 *  @return 0, or 1 after printing an error */
int report_replay_start(struct report_replay *replay, const char *recording, const char *topology,
                        const struct report_span *span, char *analysed);

/** End the daemon and remove its files. */
void report_replay_stop(struct report_replay *replay);

/** @param captures  1: the recording has captures
 *  @param out  array of REPORT_PICTURES; the caller frees the png of each
 *  @return number of pictures; failures are printed and left out */
size_t report_pictures(const struct report_replay *replay, int captures,
                       struct report_picture *out);

/** Gains of a suggested mapping. Zero-initialise. */
struct report_advice {
    struct report_measure measures[REPORT_MEASURES];
    size_t count; /**< 0: `none` says why */
    char network[200], command[600], none[400];
};

/** @param recording  with results; may be a temporary file
 *  @param named      recording of the user, for the suggested command
 *  @param topology   file or short form; NULL: the network of the recording */
void report_advise(struct report_advice *out, const char *recording, const char *named,
                   const char *topology);

#endif
