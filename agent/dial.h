/* Reaching a daemon from the command line: endpoint and keys from options, environment or run
 * directory. */
#ifndef HOLTER_AGENT_DIAL_H
#define HOLTER_AGENT_DIAL_H

#include "proto/client.h"

#include <getopt.h>
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

/** What a client takes from its command line. */
struct dial_options {
    const char *help;           /**< for --help */
    const char *letters;        /**< of its short options, DIAL_LETTERS included */
    const struct option *names; /**< its long options, DIAL_OPTIONS included */
    /** One of its own options. @param value  NULL: it has none @return 0, or the exit status */
    int (*set)(void *user, int option, const char *value);
    void *user;
};

/** Read a command line of options, and of one word where that is wanted, and find out where to dial.
 *  @return -1 to go on, or the exit status, after saying why */
int dial_parse(struct dial *dial, const struct dial_options *options, int argc, char **argv);

/** Say that an option cannot have a value. @return the exit status, 2 */
int dial_wrong(const struct dial *dial, const char *option, const char *value);

/** Make the client. @return 0, or the exit status, after saying why */
int dial_open(const struct dial *dial, struct client **out);

/** Has another daemon appeared where daemons are looked for, while the one dialled has never
 *  answered? The client is then made anew, for that one; what it followed or asked is gone.
 *  @return 1 when it was */
int dial_moved(struct dial *dial, struct client **client);

/** Wait until the daemon has said welcome. @return 0, or the exit status, after saying why */
int dial_wait(struct dial *dial, struct client **client);

/** A time in seconds from the command line, "2.5". @return nanoseconds, or 0 when it is none
 *  above 0 */
uint64_t dial_seconds(const char *text);

/** Is the daemon out of reach for good: refused, or away for too long? Says so then.
 *  @param since_ns  state of the caller, 0 at first: since when the daemon is away, CLOCK_MONOTONIC
 *  @return 1 when it is to be given up */
int dial_is_hopeless(const struct dial *dial, const struct client *client, uint64_t *since_ns);

#endif
