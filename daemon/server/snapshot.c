/* Current states, encoded once per frame. */
#include "daemon/server/snapshot.h"

#include <stdlib.h>
#include <string.h>

static void snapshots_destroy_entry(struct snapshot *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        zmq_msg_close(&s->parts[i]);
    free(s->parts);
    free(s);
}

void snapshots_finish(struct snapshots *snapshots)
{
    for (size_t i = 0; i < SNAPSHOTS_MAXIMUM; i++)
        snapshots_destroy_entry(snapshots->list[i]);
    wire_buffer_finish(&snapshots->buffer);
    *snapshots = (struct snapshots){0};
}

struct snapshots_making {
    struct snapshots *snapshots;
    struct snapshot *made;
};

static int snapshots_want_all(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void snapshots_add_part(void *user, const char *job, enum wire_type type,
                               const void *message)
{
    struct snapshots_making *making = user;
    struct snapshot *s = making->made;
    struct wire_buffer *buffer = &making->snapshots->buffer;
    (void)job;
    if (wire_encode(buffer, type, message) != 0)
        return;
    if (s->count == s->capacity) {
        size_t capacity = s->capacity == 0 ? 4 : 2 * s->capacity;
        zmq_msg_t *parts = calloc(capacity, sizeof(*parts));
        if (parts == NULL)
            return;
        for (size_t i = 0; i < s->count; i++) {
            zmq_msg_init(&parts[i]); /* a zmq_msg_t must not be copied byte by byte */
            zmq_msg_move(&parts[i], &s->parts[i]);
        }
        free(s->parts);
        s->parts = parts;
        s->capacity = capacity;
    }
    if (zmq_msg_init_size(&s->parts[s->count], buffer->length) != 0)
        return;
    memcpy(zmq_msg_data(&s->parts[s->count]), buffer->bytes, buffer->length);
    s->count++;
}

const struct snapshot *snapshots_get(struct snapshots *snapshots, struct job *job, uint64_t number,
                                     enum wire_type type, uint64_t frame)
{
    size_t at = 0;
    for (; at < SNAPSHOTS_MAXIMUM - 1 && snapshots->list[at] != NULL; at++) {
        const struct snapshot *s = snapshots->list[at];
        if (s->type != type || s->number != number)
            continue;
        /* Messages of agents about ranks make frames only while there are subscribers. */
        if (type != WIRE_TYPE_RECORDED && s->frame == frame && s->closings == job_count_closed(job))
            return s;
        break;
    }
    /* Replace an older state of the same kind, or use a free place, or that of the oldest. */
    struct snapshot *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    snapshots_destroy_entry(snapshots->list[at]);
    memmove(&snapshots->list[1], &snapshots->list[0], at * sizeof(struct snapshot *));
    snapshots->list[0] = made;
    made->number = number;
    made->type = type;
    made->frame = frame;
    made->closings = job_count_closed(job);
    struct snapshots_making making = {snapshots, made};
    job_snapshot(job, type,
                 &(struct job_output){&making, snapshots_want_all, snapshots_add_part, NULL});
    return made;
}
