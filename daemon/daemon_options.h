/* The command line of holterd, and the options of the rooms that are made from it. */
#ifndef HOLTER_DAEMON_DAEMON_OPTIONS_H
#define HOLTER_DAEMON_DAEMON_OPTIONS_H

#include "daemon/alert/rules.h"
#include "daemon/replay/replay_options.h"
#include "daemon/server/server_options.h"

#include <stddef.h>
#include <stdint.h>

struct daemon_options {
    /** Endpoints. All texts here are borrowed from the arguments or the environment, except for the
     * two defaults below. */
    const char *listen[SERVER_ENDPOINTS_MAXIMUM];
    size_t listen_count;
    const char *keys;              /**< directory; NULL: no keys */
    const char *record;            /**< directory; NULL: no recording */
    uint64_t maximum_record_bytes; /**< of all parts of a recording together; 0: no limit */
    const char *session;           /**< NULL: agents of all sessions */
    uint64_t window_ns;
    uint64_t grace_ns;
    int grace_given;
    const char *replay;            /**< recording to be replayed; NULL: none */
    double speed;                  /**< of a replay; 0: as fast as it goes */
    const char *from;              /**< where a replay begins, see proto/moment.h */
    int loop, paused, quit_at_end; /**< of a replay */
    int results;                   /**< add the results of a replay to the recording, and exit */
    int quit_when_idle;
    uint64_t most_ranks;  /**< jobs with more ranks are kept by groups of ranks */
    int no_collectives;   /**< --collectives=off */
    const char *rules;    /**< file; NULL: the built-in ones */
    const char *topology; /**< file or short form of the network; NULL: none */
    /** Sinks besides those of the rules; the target is NULL for syslog. */
    struct {
        enum sink_kind kind;
        const char *target;
    } sinks[RULES_SINKS_MAXIMUM];
    size_t sink_count;
    const char *cluster; /**< name of the cluster, for alerts and metrics; NULL: not known */
    const char *metrics; /**< HOST:PORT of the page of metrics; NULL: none */
    const char *fleet;   /**< NATS servers of the fleet that this daemon belongs to; NULL: none */
    const char *export;  /**< id of a job of the fleet to be exported; NULL: none */
    const char *fleet_keys;   /**< directory of the credentials for these servers; NULL: none */
    uint64_t lease_ns;        /**< time to live of the lease of a job of the fleet */
    uint64_t checkpoint_ns;   /**< interval at which the states of these jobs are stored */
    const char *external_url; /**< of a page about a job, for alerts; NULL: none */
    char default_listen[280];
    char default_record[512];
};

enum daemon_options_verdict {
    OPTIONS_RUN,
    OPTIONS_SHOWN, /**< --help, --version or --print-rules was answered */
    OPTIONS_WRONG, /**< see why */
    OPTIONS_CHECK, /**< --check-rules: only the rules and sinks are to be checked */
};

/** Parse the command line. Paths that are not given are derived from the environment, see
 * session.h.
 *  @param why  set with OPTIONS_WRONG: a sentence for people */
enum daemon_options_verdict daemon_options_parse(struct daemon_options *out, int argc, char **argv,
                                                 char *why, size_t capacity);

/** Read the alert rules of the file, or the built-in ones, and add the sinks of the command line.
 *  @param on_fault  called for each fault
 *  @return 0, -HOLTER_EUSAGE or another error, after on_fault was called */
int daemon_options_read_rules(const struct daemon_options *options, struct rules *out,
                              file_fault *on_fault, void *user);

/** The options of the server, and of a replay. */
void daemon_options_fill_server(const struct daemon_options *options, struct server_options *out);
void daemon_options_fill_replay(const struct daemon_options *options, struct replay_options *out);

#endif
