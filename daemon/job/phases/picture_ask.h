/* What a client wants to see of the CommGram: the argument of the request "commgram", see
 * WIRE_REQUEST in holter/wire.h. */
#ifndef HOLTER_DAEMON_JOB_PHASES_PICTURE_ASK_H
#define HOLTER_DAEMON_JOB_PHASES_PICTURE_ASK_H

#include <stddef.h>
#include <stdint.h>

#define PICTURE_PHASES 24u       /**< when none are asked for */
#define PICTURE_RANKS (1u << 20) /**< ranks of a list are below */

struct picture_ask {
    int64_t from_ns, to_ns; /**< daemon time; INT64_MIN, INT64_MAX: all */
    uint64_t phases;
    uint64_t communities; /**< 0: those that are found in each phase */
    int modelled;         /**< 0: without the messages that model collectives */
    uint32_t *only;       /**< ranks, ascending, each once; owned */
    size_t only_count;
};

/** @param argument  words separated by spaces; NULL for none
 *  @param why       set on failure: names the word
 *  @return 0, -HOLTER_EUSAGE or -ENOMEM */
int picture_ask_parse(struct picture_ask *out, const char *argument, char *why, size_t capacity);

void picture_ask_finish(struct picture_ask *ask);

#endif
