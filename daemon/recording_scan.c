#include "daemon/recording_scan.h"

#include <errno.h>

int recording_scan(struct recording_cursor *cursor, recording_visit *visit, void *user)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int code = 0, more, fault;
    while ((more = recording_cursor_decoded(cursor, &head, &message, &arena, &length, &fault)) ==
           1) {
        code = fault == -ENOMEM ? fault : visit(user, &head, fault == 0 ? &message : NULL, length);
        if (code != 0)
            break;
    }
    wire_arena_finish(&arena);
    return code != 0 ? code : more;
}
