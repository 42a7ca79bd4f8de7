/* A kind of sink: how it delivers one alert. sinks.c decides what is delivered, when, and whether
 * it is tried again.
 *
 * send() runs in a thread of the sink and may block; a command or a connection keeps to
 * sink_time_left(). */
#ifndef HOLTER_DAEMON_ALERT_SINK_H
#define HOLTER_DAEMON_ALERT_SINK_H

#include "daemon/alert/alert_labels.h"
#include "daemon/alert/rules.h"
#include "holter/wire.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** One state of an alert to be delivered. Borrowed for the call. */
struct sink_delivery {
    const struct wire_message *message; /**< of type WIRE_TYPE_ALERT, firing or resolved */
    const char *json;                   /**< the same as one line of JSON, '\n' at its end */
    size_t json_length;
    const char *severity; /**< of the first state: labels of an episode stay the same */
    uint64_t region;      /**< likewise */
    const struct alert_labels *labels; /**< likewise */
    const char *cluster;               /**< NULL: no name is known */
    const char *external_url; /**< address of a page about the job, %j: its id; NULL: none */
    int terminal;             /**< descriptor of the terminal sink */
    uint64_t end_ns;          /**< when the delivery has to end; CLOCK_MONOTONIC */
    const _Atomic uint64_t
        *leave_ns; /**< when it has to end because the daemon ends; until then UINT64_MAX */
};

/** Time that is left for the delivery, milliseconds; 0: none. */
int sink_time_left(const struct sink_delivery *delivery);

struct sink_operations {
    const char *name;
    unsigned workers; /**< deliveries at a time; those of one alert never overlap */
    int updates;      /**< updates are delivered, not only firing and resolved */
    int repeats;      /**< a firing alert is delivered each repeat_ns of its rule */
    /** Create what deliveries of one thread share. May be NULL. @return 0 or -ENOMEM */
    int (*create)(void **out, const struct sink_rule *rule);
    /** @param why  set on failure: a sentence for people
     *  @return 0, or negative: it is tried again later */
    int (*send)(void *state, const struct sink_rule *rule, const struct sink_delivery *delivery,
                char *why, size_t capacity);
    void (*destroy)(void *state); /**< may be NULL */
};

extern const struct sink_operations sink_terminal, sink_file, sink_command, sink_syslog,
    sink_alertmanager;

/** A member of a JSON object, unless the value is empty. @param count  of members so far */
void sink_put_member(FILE *out, int *count, const char *name, const char *value);

/** "labels":{...}: the same during an episode. */
void sink_put_labels(FILE *out, const struct sink_delivery *delivery);

/** ,"generatorURL":"...", if there is one. */
void sink_put_generator(FILE *out, const struct sink_delivery *delivery);

/** One line for people, without a line end: "alert (warning): ..." or "over after 12 s: ...".
 *  It has no control characters. */
void sink_line(const struct wire_alert *alert, char *out, size_t capacity);

/** The JSON that Alertmanager's API version 2 takes (POST /api/v2/alerts): one alert.
 *  @param now_ns  CLOCK_REALTIME: a firing alert expires four repeats later, unless it is repeated
 *  @return owned text, or NULL without memory */
char *sink_alertmanager_body(const struct sink_delivery *delivery, uint64_t repeat_ns,
                             uint64_t now_ns);

#endif
