/* Decodes all messages of a recording in their order, and reports progress. */
#include "daemon/storage/recording_scan.h"

#include "daemon/storage/recording_file.h"

#include <errno.h>

#define PROGRESS_INTERVAL 256u /* messages between two reports of progress */

static void recording_scan_show_progress(const struct recording_progress *progress, uint64_t number,
                                         uint64_t end)
{
    if (number % PROGRESS_INTERVAL == 0 && end > 0)
        progress->show(progress->user, number < end ? (double)number / (double)end : 1);
}

int recording_scan(struct recording_cursor *cursor, const struct recording_progress *progress,
                   recording_visit *visit, void *user)
{
    int shown = progress != NULL && progress->show != NULL;
    uint64_t end = !shown ? 0
                          : recording_file_count(recording_cursor_file(cursor),
                                                 "SELECT max(first + messages) FROM block");
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int code = 0, more, fault;
    while ((more = recording_cursor_next_decoded(cursor, &head, &message, &arena, &length,
                                                 &fault)) == 1) {
        code = fault == -ENOMEM ? fault : visit(user, &head, fault == 0 ? &message : NULL, length);
        if (code != 0)
            break;
        if (shown)
            recording_scan_show_progress(progress, recording_cursor_number(cursor), end);
    }
    wire_arena_finish(&arena);
    return code != 0 ? code : more;
}
