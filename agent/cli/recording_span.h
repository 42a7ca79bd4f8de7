/* The options --from and --to of commands that take a part of a recording. */
#ifndef HOLTER_AGENT_CLI_RECORDING_SPAN_H
#define HOLTER_AGENT_CLI_RECORDING_SPAN_H

#include "proto/command_option.h"

#include <stdint.h>

/** Points in time as they were given, see proto/moment.h; NULL: not given. Borrowed. */
struct recording_span {
    const char *from, *to;
};

/** Set one of them: "from", or else "to". @return 0, or 2 after printing what is wrong */
int recording_span_set(struct recording_span *span, const char *command,
                       const struct command_option *option, const char *value);

/** Find both times in a recording. Those that were not given are its begin or end.
 *  @return 0, or the exit status after printing what is wrong: 1 when the recording cannot be read,
 *  2 when the times are not in it, or the end is not after the begin */
int recording_span_find(const struct recording_span *span, const char *command, const char *path,
                        uint64_t *from_ns, uint64_t *to_ns);

#endif
