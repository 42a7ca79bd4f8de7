/* Connecting to a daemon from the command line: endpoint and keys from options, environment or run
 * directory. */
#ifndef HOLTER_AGENT_CLI_DIAL_H
#define HOLTER_AGENT_CLI_DIAL_H

#include "agent/terminal/command_line.h"
#include "proto/client.h"

#include <limits.h>
#include <stdint.h>

/** Lines of a command's help: the options that dial_parse() adds, except --timeout. */
#define DIAL_HELP                                                                                  \
    "  -c, --connect ENDPOINT  the daemon, tcp://HOST:PORT or ipc:///PATH, or a fleet,\n"          \
    "                          nats://HOST:PORT,...[/CLUSTER[/JOB]]; default: HOLTER_DAEMON,\n"    \
    "                          else the newest session of this user on this host\n"                \
    "      --keys DIR          CURVE keys, when the daemon asks for them\n"

struct dial {
    const char *command; /**< set: name for error messages, "tap" */
    char endpoint[PATH_MAX];
    char fleet[PATH_MAX];   /**< address of a fleet, see fleet_find(), which has named the endpoint;
                               "": none */
    uint64_t found_ns;      /**< CLOCK_MONOTONIC when the fleet was asked last */
    char why[512];          /**< why it named no daemon then; "": it did, or was not asked */
    char keys[PATH_MAX];    /**< "": none */
    int named;              /**< the endpoint was given by an option */
    int keys_named;         /**< the key directory was given by an option */
    enum role role;         /**< ROLE_NONE: ROLE_VIEWER */
    const char **word;      /**< set to the argument, if any; NULL: no argument is allowed */
    const char *const *job; /**< where an option or the argument names a job; NULL: nowhere */
    int for_recording; /**< set: the argument is a recording, for which no daemon is looked for */
    const uint64_t *waits_ns; /**< not NULL: a job of a fleet that is to come is waited for, at most
                                 for this time; 0: without a bound */
    const int *once; /**< not NULL: where it is not 0, such a job is waited for as for a daemon */
    const int *live; /**< not NULL: a daemon is looked for only where this is not 0 */
    uint64_t patience_ns; /**< set, with an endpoint: how long to wait for an unreachable daemon */
};

/** Read the command line, options and at most one argument, and find the endpoint and keys.
 *  @param line  without the options of all clients: --connect, --keys, --timeout
 *  @return -1 to go on, or the exit status after printing an error */
int dial_parse(struct dial *dial, const struct command_line *line, int argc, char **argv);

/** Ask the fleet for the endpoint, again and again where a job that is to come is waited for.
 *  @param dial  of which command, fleet and waits_ns are set @return as fleet_find() */
int dial_find_job(struct dial *dial, char *why, size_t capacity);

/** The job that a command is about: the one given by its option, else that of the fleet's address.
 *  @param job  NULL: none was given @return NULL: any */
const char *dial_job(const struct dial *dial, const char *job);

/** Make the client. @return 0, or the exit status after printing an error */
int dial_open(const struct dial *dial, struct client **out);

/** Replace the client if its daemon has never answered and another daemon has been started in the
 * run directory meanwhile; or if another daemon of the fleet holds the job now, which dial_job()
 * names then. Subscriptions and requests of the old client are lost.
 *  @return 1 if the client was replaced */
int dial_moved(struct dial *dial, struct client **client);

/** Wait for the welcome of the daemon. @return 0, or the exit status after printing an error */
int dial_wait(struct dial *dial, struct client **client);

/** Wait for the next message. @param since_ns  as for dial_is_hopeless()
 *  @return 0, or the exit status after printing an error */
int dial_next(const struct dial *dial, struct client *client, uint64_t *since_ns,
              struct client_message *out);

/** Was a request not answered because another run of a replay took over, after a seek or at the
 *  start of a loop? The request has to be sent again after dial_wait(). */
int dial_is_overtaken(const struct client *client, const struct wire_reply *reply);

/** Has the daemon refused the client, or been unreachable for longer than patience_ns? Prints an
 * error then.
 *  @param since_ns  state of the caller, 0 at first: begin of the outage, CLOCK_MONOTONIC
 *  @return 1 if the command should end */
int dial_is_hopeless(const struct dial *dial, const struct client *client, uint64_t *since_ns);

#endif
