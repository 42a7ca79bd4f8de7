/* What a kind of sink is: how it tells one alert. sinks.c decides what is told, when, and again.
 *
 * tell() runs in a thread of the sink and may block; what has a time limit of its own (a command, a
 * connection) keeps to sink_time_left(). */
#ifndef HOLTER_DAEMON_ALERT_SINK_H
#define HOLTER_DAEMON_ALERT_SINK_H

#include "daemon/alert/rules.h"
#include "holter/wire.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/** One thing to tell. Borrowed for the call. */
struct telling {
    const struct wire_message *message; /**< of type WIRE_TYPE_ALERT, firing or resolved */
    const char *json;                   /**< the same as one line of JSON, '\n' at its end */
    size_t json_length;
    const char *severity; /**< when it was first taken: what names an episode stays */
    uint64_t region;      /**< the same */
    int terminal;         /**< descriptor of the terminal sink */
    uint64_t end_ns;      /**< CLOCK_MONOTONIC: the telling has to be over */
    const _Atomic uint64_t
        *leave_ns; /**< the same, when the daemon leaves; until then UINT64_MAX */
};

/** Time that is left for the telling, milliseconds; 0: none. */
int sink_time_left(const struct telling *telling);

struct sink_type {
    const char *name;
    unsigned workers; /**< tellings at a time; those of one alert never overlap */
    int updates;      /**< told of updates, not only of firing and resolved */
    int repeats;      /**< told again of what fires, each repeat_ns of its rule */
    /** Make what tellings of one thread share. May be NULL. @return 0 or -ENOMEM */
    int (*create)(void **out, const struct sink_rule *rule);
    /** @param why  set on failure: a sentence for people
     *  @return 0, or negative: told again later */
    int (*tell)(void *state, const struct sink_rule *rule, const struct telling *telling, char *why,
                size_t room);
    void (*destroy)(void *state); /**< may be NULL */
};

extern const struct sink_type sink_terminal, sink_file, sink_command, sink_syslog,
    sink_alertmanager;

/** One line for people, without a line end: "alert (warning): ..." or "resolved after 12 s: ...".
 *  Nothing in it steers a terminal. */
void sink_line(const struct wire_alert *alert, char *out, size_t room);

/** The JSON that Alertmanager's API version 2 takes (POST /api/v2/alerts): one alert.
 *  @param now_ns  CLOCK_REALTIME: what fires ends four repeats after it, unless told again
 *  @return owned text, or NULL without memory */
char *sink_alertmanager_body(const struct telling *telling, uint64_t repeat_ns, uint64_t now_ns);

#endif
