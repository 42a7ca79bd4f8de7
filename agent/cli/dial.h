/* Reaching a daemon from the command line: endpoint and keys from options, environment or run
 * directory. */
#ifndef HOLTER_AGENT_CLI_DIAL_H
#define HOLTER_AGENT_CLI_DIAL_H

#include "agent/terminal/command_line.h"
#include "proto/client.h"

#include <limits.h>
#include <stdint.h>

struct dial {
    const char *command; /**< "tap": put before what is said */
    char endpoint[PATH_MAX];
    char keys[PATH_MAX]; /**< "": none */
    int named;           /**< the endpoint was given, not found */
    int keys_named;      /**< the key directory was given */
    enum role role;
    const char **word;    /**< set to the one word that may stand beside options; NULL: none may */
    uint64_t patience_ns; /**< how long a daemon may be away before it is given up */
};

/** Options that all clients have: entries that end a command's list, and their letters. */
enum { DIAL_OPTION_KEYS = 1000, DIAL_OPTION_TIMEOUT };
#define DIAL_OPTIONS                                                                               \
    {"connect", required_argument, NULL, 'c'},                                                     \
        {"keys", required_argument, NULL, DIAL_OPTION_KEYS},                                       \
        {"timeout", required_argument, NULL, DIAL_OPTION_TIMEOUT},                                 \
        {"help", no_argument, NULL, 'h'},                                                          \
    {                                                                                              \
        NULL, 0, NULL, 0                                                                           \
    }
#define DIAL_LETTERS "c:h"

/** Read a command line of options, and of one word where that is wanted, and find out where to
 * dial.
 *  @param line  its letters and names include DIAL_LETTERS and DIAL_OPTIONS; `set` is told of its
 * own options
 *  @return -1 to go on, or the exit status, after saying why */
int dial_parse(struct dial *dial, const struct command_line *line, int argc, char **argv);

/** Make the client. @return 0, or the exit status, after saying why */
int dial_open(const struct dial *dial, struct client **out);

/** Has another daemon appeared where daemons are looked for, while the one dialled has never
 *  answered? The client is then made anew, for that one; what it followed or asked is gone.
 *  @return 1 when it was */
int dial_moved(struct dial *dial, struct client **client);

/** Wait until the daemon has said welcome. @return 0, or the exit status, after saying why */
int dial_wait(struct dial *dial, struct client **client);

/** Was a question not answered because a replay was sent elsewhere, or began anew? It is to be
 * asked of the run that took over, behind dial_wait(). */
int dial_is_overtaken(const struct client *client, const struct wire_reply *reply);

/** A time in seconds from the command line, "2.5". @return nanoseconds, or 0 when it is none
 *  above 0 */
uint64_t dial_seconds(const char *text);

/** Is the daemon out of reach for good: refused, or away for too long? Says so then.
 *  @param since_ns  state of the caller, 0 at first: since when the daemon is away, CLOCK_MONOTONIC
 *  @return 1 when it is to be given up */
int dial_is_hopeless(const struct dial *dial, const struct client *client, uint64_t *since_ns);

#endif
