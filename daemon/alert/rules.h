/* Alert rules: what raises an alert, when, how severe it is, and which sinks deliver it. From a
 * YAML file that docs/man/holter-rules.5 describes, or the built-in defaults, which are such a file
 * themselves.
 *
 * A file is read as a whole or not at all; every fault in it is reported with file, line and key.
 * Anchors and aliases are refused, and size, depth and number of values are bounded, so that a
 * hostile file costs no more than a large one. */
#ifndef HOLTER_DAEMON_ALERT_RULES_H
#define HOLTER_DAEMON_ALERT_RULES_H

#include "daemon/topology/file_text.h"

#define RULES_MAXIMUM 64u             /**< rules of a file */
#define RULES_SINKS_MAXIMUM 16u       /**< sinks of a file */
#define RULES_BYTES ((size_t)1 << 18) /**< longest file */

/** X(NAME, "kind in the file, and kind of the alert", maximum number of such rules in a file) */
#define RULE_KINDS_LIST(X)                                                                         \
    X(LATENCY, "latency", RULES_MAXIMUM)                                                           \
    X(HANG, "hang", 1)                                                                             \
    X(RANK_DIED, "rank-died", 1)                                                                   \
    X(AGENT_LOST, "agent-lost", 1)                                                                 \
    X(RANKS_UNWATCHED, "ranks-unwatched", 1)                                                       \
    X(DATA_LOST, "data-lost", 1)                                                                   \
    X(RECORDING_STOPPED, "recording-stopped", 1)

enum rule_kind {
#define X(NAME, text, maximum) RULE_##NAME,
    RULE_KINDS_LIST(X)
#undef X
        RULE_KINDS
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

/** One rule. What does not belong to its kind is 0. */
struct rule {
    char name[65]; /**< unique in the file; field "rule" of the alert */
    enum rule_kind kind;
    enum severity severity;
    int capture; /**< whether the newest calls of its ranks are captured when it fires */
    /* latency */
    uint64_t scopes; /**< bits: 1 << enum scope_kind of those that are watched */
    double above;    /**< ratio to the reference, above 1, from which it counts */
    double clear;    /**< ratio below which it counts as back, below above */
    double growth;   /**< slope from which growth counts, too: share of the reference a minute */
    uint64_t least_messages; /**< windows with fewer messages are not judged */
    uint64_t clear_for_ns;   /**< how long below clear before the alert is resolved */
    /* latency, hang */
    uint64_t for_ns; /**< how long it lasts, pending, before it fires */
    /* hang */
    uint64_t stopped_for_ns; /**< the same where a process was stopped, at most for_ns */
    double times_longest;    /**< of the longest such call so far that a call has to last, too */
};

enum sink_kind {
    SINK_TERMINAL,
    SINK_FILE,
    SINK_COMMAND,
    SINK_SYSLOG,
    SINK_ALERTMANAGER,
    SINK_KINDS
};

/** A sink that alerts are delivered to. */
struct sink_rule {
    enum sink_kind kind;
    enum severity severity; /**< the lowest severity that it delivers */
    char *target;           /**< owned: path, command or URL; NULL for terminal and syslog */
    uint64_t timeout_ns;    /**< command, alertmanager: how long one delivery may take */
    uint64_t repeat_ns;     /**< alertmanager: how often a firing alert is repeated */
};

struct rules {
    struct rule list[RULES_MAXIMUM];
    size_t count;
    struct sink_rule sinks[RULES_SINKS_MAXIMUM];
    size_t sink_count;
};

/** The built-in rules. @return 0 or -ENOMEM */
int rules_default(struct rules *out);

/** Their text: a file with comments. Static. */
const char *rules_default_text(void);

/** Read a file. What it does not give (all rules, all sinks, a key of a rule) is as in the
 *  defaults.
 *  @param out  set on success; to be finished
 *  @return 0, or after reporting at least one fault: -HOLTER_EUSAGE for what stands in the file, or
 *          -errno for a file that cannot be read */
int rules_read(struct rules *out, const char *path, file_fault *on_fault, void *user);

/** The same of a text. @param name  of the file, for the faults */
int rules_parse(struct rules *out, const char *name, const char *text, size_t length,
                file_fault *on_fault, void *user);

/** Free what the rules own. Zero-initialised is fine. */
void rules_finish(struct rules *rules);

/** The next rule of a kind.
 *  @param after  NULL: the first
 *  @return NULL when there is none: such alerts are not raised */
const struct rule *rules_next(const struct rules *rules, enum rule_kind kind,
                              const struct rule *after);

/** "latency", "hang", ... */
const char *rule_kind_name(enum rule_kind kind);

/** "info", "warning", "critical". */
const char *severity_name(enum severity severity);

/** @return enum severity; SEVERITY_WARNING for other texts and NULL */
enum severity severity_parse(const char *name);

/** Add a sink of the command line, unless the rules have it.
 *  @param target  copied; NULL for those without @param why  set on failure
 *  @return 0, -HOLTER_EUSAGE when the target is wrong for the kind, or there are too many sinks, or
 *          -ENOMEM */
int rules_add_sink(struct rules *rules, enum sink_kind kind, const char *target, char *why,
                   size_t capacity);

#endif
