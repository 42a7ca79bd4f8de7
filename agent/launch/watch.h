/* Put this process under watch: everything that has to happen before it becomes the application. */
#ifndef HOLTER_AGENT_LAUNCH_WATCH_H
#define HOLTER_AGENT_LAUNCH_WATCH_H

#include "agent/launch/session_options.h"

/** Options of the user. Texts are borrowed; NULL: not given, the environment decides. */
struct watch_options {
    struct session_options session;
    const char *job; /**< first part of the job id */
    int verbose;
};

/** Find the application's MPI, register with the node's agent (start it when this is the first
 *  rank), and set the environment that preloads the probe. When any of it cannot be done, one rank
 * of the node reports why, the environment is as it was, and the application is to be run
 * unwatched.
 *  @param program  path of the application, as found through PATH
 *  @return 0, or -1 when it is to be run unwatched or without what a variable was to set */
int watch_start_process(const struct watch_options *options, const char *program);

/** Value of LD_PRELOAD with a probe in it: before what the user preloads, but after the runtime of
 *  the address sanitizer, which has to be the first library of all.
 *  @param user       present value; NULL: none
 *  @param sanitizer  runtime that the program links; "": none
 *  @return 0, or -HOLTER_ERANGE when it does not fit */
int watch_preload(char *out, unsigned long capacity, const char *probe, const char *user,
                  const char *sanitizer);

#endif
