/* The options --from and --to. */
#include "agent/cli/recording_span.h"

#include "agent/terminal/terminal.h"
#include "daemon/storage/recordings/copy.h"
#include "proto/moment.h"

#include <string.h>

int recording_span_set(struct recording_span *span, const char *command,
                       const struct command_option *option, const char *value)
{
    char why[256];
    if (moment_check(value, why, sizeof(why)) != 0) {
        terminal_print("%s: --%s: %s", command, option->name, why);
        return 2;
    }
    *(strcmp(option->name, "from") == 0 ? &span->from : &span->to) = value;
    return 0;
}

int recording_span_find(const struct recording_span *span, const char *command, const char *path,
                        uint64_t *from_ns, uint64_t *to_ns)
{
    char why[1200];
    uint64_t begin_ns, end_ns;
    int code = 0;
    if (copy_span(path, &begin_ns, &end_ns, why, sizeof(why)) != 0) {
        terminal_print("%s: %s", command, why);
        return 1;
    }
    *from_ns = begin_ns;
    *to_ns = end_ns;
    if (span->from != NULL)
        code = moment_parse(span->from, begin_ns, end_ns, from_ns, why, sizeof(why));
    if (code == 0 && span->to != NULL)
        code = moment_parse(span->to, begin_ns, end_ns, to_ns, why, sizeof(why));
    if (code == 0 && *to_ns > *from_ns)
        return 0;
    terminal_print("%s: %s: %s", command, path, code != 0 ? why : "--to is not after --from");
    return 2;
}
