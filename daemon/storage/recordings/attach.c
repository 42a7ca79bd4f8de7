/* Writes what a daemon publishes about a job into a recording, see attach.h. */
#include "daemon/storage/recordings/attach.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/record_parts.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_network.h"
#include "daemon/storage/recordings/numbers.h"
#include "holter/error.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_AGENTS (1u << 20) /* agents whose message numbers are checked */

/* Windows that have a row in a table. */
struct windows {
    uint64_t newest; /* 0: none */
    uint64_t before; /* newest window in the earlier parts */
};

struct attach {
    struct recording *recording; /* owned; NULL after a part that could not be created */
    struct record_parts parts;
    char why[600];
    uint64_t messages, newest_ns;
    uint64_t uncommitted_bytes;
    uint64_t written_since, written_missed; /* values in the table "part" */
    struct numbers numbers;                 /* numbers of the recorded messages */
    struct wire_buffer joined;              /* fragments of a long message received so far */
    uint64_t joined_instance, joined_seq;
    struct windows totals, latencies, latenesses;
};

/* ---- life ------------------------------------------------------------------ */

static void attach_destroy(struct attach *a)
{
    numbers_finish(&a->numbers);
    wire_buffer_finish(&a->joined);
    free(a);
}

int attach_check(const char *path, char *why, size_t capacity)
{
    char directory[520];
    unsigned first, last;
    const char *slash = strrchr(path, '/');
    recording_parts_find(path, &first, &last);
    if (last != 0) {
        snprintf(why, capacity, "%s: is there already", path);
        return -EEXIST;
    }
    snprintf(directory, sizeof(directory), "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
             slash == NULL ? "." : path);
    int code = access(directory, W_OK | X_OK) == 0 ? 0 : -errno;
    if (code != 0)
        snprintf(why, capacity, "%s: %s", path, holter_strerror(code));
    return code;
}

int attach_create(struct attach **out, const char *path, uint64_t max_bytes, char *why,
                  size_t capacity)
{
    int found = attach_check(path, why, capacity);
    if (found != 0)
        return found;
    struct attach *a = calloc(1, sizeof(*a));
    snprintf(why, capacity, "no memory");
    if (a == NULL)
        return -ENOMEM;
    int code = record_parts_begin(&a->parts, path, max_bytes);
    if (code != 0)
        snprintf(why, capacity, "%s: the path is too long", path);
    else
        code = recording_open(&a->recording, a->parts.path, why, capacity);
    if (code != 0) {
        attach_destroy(a);
        return code;
    }
    *out = a;
    return 0;
}

void attach_abandon(struct attach *a, const char *why)
{
    if (a == NULL)
        return;
    recording_stop(a->recording, a->newest_ns, why);
    attach_destroy(a);
}

/* ---- messages of agents ---------------------------------------------------- */

static int attach_is_followed(const struct attach *a, uint64_t instance)
{
    return a->numbers.agents.count < MAX_AGENTS ||
           key_table_find(&a->numbers.agents, (struct key){.hi = instance}) != KEY_NONE;
}

static int attach_write_message(struct attach *a, const struct wire_recorded *m, const void *bytes,
                                size_t length, int snapshot)
{
    struct recorded head = {.type = m->type,
                            .instance = m->instance,
                            .seq = m->seq,
                            .window = m->window,
                            .time_ns = m->time_ns,
                            .received_ns = m->received_ns};
    /* A daemon that was unreachable publishes its state again, with messages that are already
     * recorded. */
    if (attach_is_followed(a, m->instance) && numbers_add(&a->numbers, &head) == 1)
        return 0;
    if (snapshot && a->messages == 0)
        a->parts.attached_ns = m->received_ns;
    /* Arrival times never decrease, even if the daemon's clock was set back between two runs. */
    head.received_ns = head.received_ns > a->newest_ns ? head.received_ns : a->newest_ns;
    a->newest_ns = head.received_ns;
    if (head.type == WIRE_TYPE_RANKS)
        head.time_ns = head.received_ns;
    int code = recording_write_message(a->recording, &head, bytes, length);
    a->messages += code == 0;
    a->uncommitted_bytes += length;
    return code;
}

static int attach_join_parts(struct wire_buffer *joined, const struct wire_recorded *m)
{
    size_t length = joined->length + m->bytes_count;
    if (length > WIRE_MESSAGE_BYTES)
        return -HOLTER_EPROTOCOL;
    if (array_fit(&joined->bytes, 1, &joined->capacity, length + 1) != 0)
        return -ENOMEM;
    if (m->bytes_count > 0)
        memcpy(joined->bytes + joined->length, m->bytes, m->bytes_count);
    joined->length = length;
    return 0;
}

static int attach_write_recorded(struct attach *a, const struct wire_recorded *m, int snapshot)
{
    if (m->type != WIRE_TYPE_RANKS && m->type != WIRE_TYPE_WINDOW && m->type != WIRE_TYPE_CAPTURED)
        return -HOLTER_EPROTOCOL;
    if (m->offset == 0 && !m->more)
        return attach_write_message(a, m, m->bytes, m->bytes_count, snapshot);
    /* A message of which a fragment is missing is dropped as a whole: its number counts as
     * missing. */
    if (a->joined_instance != m->instance || a->joined_seq != m->seq || m->offset == 0)
        a->joined.length = 0;
    if (a->joined.length != m->offset)
        return 0;
    a->joined_instance = m->instance;
    a->joined_seq = m->seq;
    int code = attach_join_parts(&a->joined, m);
    if (code != 0 || m->more)
        return code;
    code = attach_write_message(a, m, a->joined.bytes, a->joined.length, snapshot);
    a->joined.length = 0;
    return code;
}

/* ---- results ------------------------------------------------------------------ */

static int attach_write_links(struct attach *a, const struct wire_links *m)
{
    struct wire_links kept;
    struct wire_link_row *rows;
    int code = network_tables_select_links(m, &kept, &rows) != 0
                   ? 0
                   : recording_write_result(a->recording, WIRE_TYPE_LINKS, &kept);
    free(rows);
    return code;
}

/* Windows that had ended before the recording began are not part of it. A daemon that was
 * unreachable publishes all windows again: those in earlier parts are not written a second time. */
static int attach_write_window(struct attach *a, const struct wire_message *m,
                               struct windows *windows, uint64_t window, uint64_t end_ns,
                               int snapshot)
{
    if (end_ns <= a->parts.attached_ns || (snapshot && window <= windows->before))
        return 0;
    windows->newest = window > windows->newest ? window : windows->newest;
    /* all messages of the union begin at the same address */
    return recording_write_result(a->recording, m->type, &m->totals);
}

int attach_write(struct attach *a, const struct wire_message *m, int snapshot)
{
    switch (m->type) {
    case WIRE_TYPE_RECORDED:
        return attach_write_recorded(a, &m->recorded, snapshot);
    case WIRE_TYPE_TOTALS:
        return attach_write_window(a, m, &a->totals, m->totals.window,
                                   m->totals.start_ns + m->totals.length_ns, snapshot);
    case WIRE_TYPE_LATENCIES:
        return attach_write_window(a, m, &a->latencies, m->latencies.window,
                                   m->latencies.start_ns + m->latencies.length_ns, snapshot);
    case WIRE_TYPE_LATENESS: /* a snapshot has sums of several windows, too */
        return m->lateness.windows > 1
                   ? 0
                   : attach_write_window(a, m, &a->latenesses, m->lateness.window,
                                         (m->lateness.window + 1) * m->lateness.length_ns,
                                         snapshot);
    case WIRE_TYPE_LINKS: /* a snapshot does not have the windows of the states */
        return snapshot ? 0 : attach_write_links(a, &m->links);
    case WIRE_TYPE_CAPTURE: /* captures from before the recording began are not part of it either */
        return m->capture.at_ns < a->parts.attached_ns
                   ? 0
                   : recording_write_result(a->recording, m->type, &m->capture);
    default:
        return wire_topic(m->type) ? recording_write_result(a->recording, m->type, &m->job) : 0;
    }
}

/* ---- committing ------------------------------------------------------------------ */

static int attach_write_part(struct attach *a)
{
    a->parts.missed = attach_missed_count(a);
    if (a->written_since == a->parts.attached_ns && a->written_missed == a->parts.missed)
        return 0;
    a->written_since = a->parts.attached_ns;
    a->written_missed = a->parts.missed;
    return recording_begin(a->recording) != 0 ? -EIO
                                              : record_parts_write_row(&a->parts, a->recording);
}

static int attach_commit_recording(struct attach *a)
{
    int code = attach_write_part(a);
    return code != 0 ? code : recording_commit(a->recording);
}

int attach_is_due(const struct attach *a)
{
    return record_parts_needs_commit(a->uncommitted_bytes, a->parts.max_bytes);
}

int attach_commit(struct attach *a)
{
    int code = attach_commit_recording(a);
    a->uncommitted_bytes = 0;
    if (code != 0 || !record_parts_needs_next(&a->parts, a->recording))
        return code;
    a->totals.before = a->totals.newest;
    a->latencies.before = a->latencies.newest;
    a->latenesses.before = a->latenesses.newest;
    return record_parts_next(&a->parts, &a->recording, a->newest_ns, a->why, sizeof(a->why));
}

int attach_close(struct attach *a)
{
    int code = attach_commit_recording(a); /* no further part is created for nothing */
    if (code != 0) {
        char why[256];
        snprintf(why, sizeof(why), "%s", attach_error(a, code));
        attach_abandon(a, why);
        return code;
    }
    code = recording_close(a->recording);
    attach_destroy(a);
    return code;
}

/* ---- small questions --------------------------------------------------------------- */

const char *attach_error(const struct attach *a, int code)
{
    if (a->recording == NULL)
        return a->why;
    return code == -EIO ? recording_error(a->recording) : holter_strerror(code);
}

const char *attach_path(const struct attach *a)
{
    return a->parts.path;
}

uint64_t attach_message_count(const struct attach *a)
{
    return a->messages;
}

uint64_t attach_missed_count(const struct attach *a)
{
    return numbers_count_missing(&a->numbers);
}
