/* Contents of a report that are not tables of the recording: pictures of the viewer, a better
 * mapping, and the results of the analyses if the recording has none. */
#ifndef HOLTER_AGENT_CLI_REPORT_EXTRAS_H
#define HOLTER_AGENT_CLI_REPORT_EXTRAS_H

#include "agent/cli/private_replay.h"
#include "daemon/export/report.h"

#define REPORT_PICTURES 8u
#define REPORT_MEASURES 4u

/** Take pictures of the job. @param replay  that has started
 *  @param captures  1: the recording has captures
 *  @param out  array of REPORT_PICTURES; the caller frees the png of each
 *  @return number of pictures; failures are printed and left out */
size_t report_pictures(const struct private_replay *replay, int captures,
                       struct report_picture *out);

/** Gains of a suggested mapping. Zero-initialise. */
struct report_advice {
    struct report_measure measures[REPORT_MEASURES];
    size_t count; /**< 0: `none` says why */
    char network[200], command[2000], none[400];
};

/** @param recording  with results; may be a temporary file
 *  @param named      recording of the user, for the suggested command
 *  @param topology   file or short form; NULL: the network of the recording */
void report_advise(struct report_advice *out, const char *recording, const char *named,
                   const char *topology);

#endif
