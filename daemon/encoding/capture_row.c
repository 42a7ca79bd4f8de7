/* Records of calls as rows of captures. */
#include "daemon/encoding/capture_row.h"

#include "holter/call.h"

static int capture_row_is_sendrecv(uint16_t call)
{
    return call == CALL_Sendrecv || call == CALL_Sendrecv_replace;
}

/* The fifth word of a record has a meaning for each kind of call, see struct event. */
static void capture_row_fill_fifth(struct wire_capture_event_row *row, const struct event *event,
                                   capture_time *time, const void *user)
{
    if (event->kind == EVENT_CALL && capture_row_is_sendrecv(event->call)) {
        row->source = event_receive_source(event);
        row->source_tag = event_receive_tag(event);
    } else if (event->flags & EVENT_DONE && event->request != 0) {
        row->posted_ns = event->t_post == 0 ? 0 : time(user, event->t_post);
    } else if (!(event->flags & (EVENT_SEND | EVENT_RECV)) &&
               call_class_of(event->call) != CALL_WAIT) {
        row->bytes_in = event->bytes_in;
    }
}

struct wire_capture_event_row capture_row(const struct event *event, uint64_t thread, int running,
                                          capture_time *time, const void *user)
{
    struct wire_capture_event_row row = {
        .thread = thread,
        .number = event->seq,
        .kind = event->kind,
        .call = event->call,
        .begin_ns = time(user, event->t_enter),
        .running = (uint64_t)running,
        .peer = event->peer,
        .tag = event_started(event) != 0 ? TAG_NONE : event->tag,
        .bytes = event->bytes,
        .request = event->request,
        .flags = event->flags,
        .source = PEER_NONE,
        .source_tag = TAG_NONE,
        .started = event_started(event),
    };
    int64_t end_ns = running ? 0 : time(user, event->t_exit);
    row.length_ns = end_ns > row.begin_ns ? (uint64_t)(end_ns - row.begin_ns) : 0;
    capture_row_fill_fifth(&row, event, time, user);
    return row;
}
