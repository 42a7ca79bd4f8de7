/* Command line of holterd. */
#ifndef HOLTER_DAEMON_DAEMON_OPTIONS_H
#define HOLTER_DAEMON_DAEMON_OPTIONS_H

#include "daemon/alert/rules.h"

#include <stddef.h>
#include <stdint.h>

#define OPTIONS_LISTEN 8u /**< endpoints that can be listened on */

struct options {
    const char
        *listen[OPTIONS_LISTEN]; /**< borrowed from the arguments, but for a default endpoint */
    size_t listen_count;
    const char *keys;    /**< NULL: no keys */
    const char *record;  /**< directory; NULL: no recording */
    uint64_t most_bytes; /**< of a recording, all parts together; 0: no limit */
    const char *session;
    uint64_t window_ns;
    uint64_t grace_ns;
    const char *replay; /**< recording to be replayed; NULL: none */
    double speed;       /**< of a replay; 0: as fast as it goes */
    const char *from;   /**< where a replay begins, see proto/moment.h; NULL: at the begin */
    int loop, paused, quit_at_end; /**< of a replay */
    int results;                   /**< of a replay: put them into the recording, serve nobody */
    int grace_given;
    int quit_when_idle;
    int no_collectives;   /**< --collectives=off */
    const char *rules;    /**< file; NULL: the defaults */
    const char *topology; /**< file or short form of the network; NULL: none */
    /** Sinks besides those of the rules; targets are borrowed, NULL for syslog. */
    struct {
        enum sink_kind kind;
        const char *target;
    } sinks[RULES_SINKS];
    size_t sink_count;
    char default_listen[280];
    char default_record[512];
};

enum options_verdict {
    OPTIONS_RUN,
    OPTIONS_SHOWN, /**< --help or --version was answered */
    OPTIONS_WRONG, /**< why says how */
    OPTIONS_CHECK, /**< the rules and sinks are to be checked, and nothing else done */
};

/** Read the command line. Paths that are not given are derived from the environment, see session.h.
 *  @param why  set with OPTIONS_WRONG */
enum options_verdict options_parse(struct options *out, int argc, char **argv, char *why,
                                   size_t room);

/** The alert rules in force: of the file, or the defaults, and the sinks of the command line.
 *  @param tell  told of each fault
 *  @return 0, -HOLTER_EUSAGE or another error, after telling */
int options_rules(const struct options *options, struct rules *out, rules_fault *tell, void *user);

/** Grace for windows of this length, when none is given. */
uint64_t options_grace(uint64_t window_ns);

/** A size in bytes: "1000", "500M", "20GiB" (powers of 1024). @return 0 or -HOLTER_EUSAGE */
int options_size(const char *text, uint64_t *out);

/** A duration: a number and "ms", "s", "us" or "min"; a bare number is seconds.
 *  @return 0, or -HOLTER_EUSAGE; out is set on success, nanoseconds */
int options_duration(const char *text, uint64_t *out);

#endif
