/* Communication patterns as lists of messages in time: what generated recordings hold.
 *
 * A pattern is stages with pauses between them. All messages of a stage are sent within its span,
 * at times drawn from a generator that always begins alike: the same pattern, the same messages. */
#ifndef COMMGRAM_PATTERNS_H
#define COMMGRAM_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

struct pattern_message {
    uint64_t time_ns; /**< since the begin of the job */
    uint64_t bytes;
    uint32_t source, destination;
};

struct pattern {
    uint32_t ranks;
    struct pattern_message *messages; /**< owned; by time, source, destination */
    size_t count, room;
    uint64_t end_ns; /**< behind the last stage */
};

struct pattern_params {
    uint64_t span_ns;   /**< length of a stage; at least 1 */
    uint64_t step_ns;   /**< pause between stages that belong together */
    uint64_t pause_ns;  /**< pause between those that do not */
    uint64_t bytes;     /**< of an image, or of a message */
    uint32_t substages; /**< exchanges of a step of simulation */
    uint32_t repeat;    /**< how often all of it happens */
};

/** NAME NUMBER...: what there is, a line each, for a usage text. */
extern const char pattern_names[];

/** Make a pattern.
 *  @param numbers  its arguments, as pattern_names has them
 *  @return 0, -ENOMEM, -ENOENT: no such pattern, or -EINVAL: not its arguments */
int pattern_make(struct pattern *out, const char *name, const uint32_t *numbers, unsigned count,
                 const struct pattern_params *params);
void pattern_finish(struct pattern *pattern);

#endif
