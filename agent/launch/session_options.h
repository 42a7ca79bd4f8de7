/* Which session, of which daemon, with which keys: what holter-agent and the wrapper of a rank
 * both read from options or the environment. */
#ifndef HOLTER_AGENT_LAUNCH_SESSION_OPTIONS_H
#define HOLTER_AGENT_LAUNCH_SESSION_OPTIONS_H

#include <stddef.h>

#define SESSION_OPTIONS_USAGE                                                                      \
    "  --daemon ENDPOINT   daemon to report to, tcp://HOST:PORT or ipc:///PATH\n"                  \
    "                      (HOLTER_DAEMON, else holterd.sock in the user's run directory)\n"       \
    "  --session KEY       key of the session (HOLTER_SESSION, else made from the endpoint)\n"     \
    "  --keys DIR          directory of the session's CURVE keys (HOLTER_KEYS)\n"

/** As given on the command line; borrowed. NULL: not given. */
struct session_options {
    const char *daemon, *session, *keys;
};

/** An option's value, else that of an environment variable. @return NULL when neither is there or
 *  it is empty */
const char *session_options_or_environment(const char *given, const char *variable);

/** Check the variables that programs of Holter below this one read: HOLTER_RING and HOLTER_LOG. One
 *  with a wrong value is removed from the environment.
 *  @param speaks  report it @return how many are wrong */
int session_options_check_variables(int speaks);

/** The session that options and environment determine. */
struct session_place {
    char daemon[2048]; /**< endpoint, or a list of several, see endpoint_of_list() */
    char session[32];  /**< key */
    const char *keys;  /**< directory of CURVE keys, borrowed; NULL: none */
};

/** @param why  set on failure: a sentence that names the fault
 *  @return 0, -HOLTER_EUSAGE for a wrong value, or another error of the run directory */
int session_options_resolve(struct session_place *out, const struct session_options *given,
                            char *why, size_t capacity);

#endif
