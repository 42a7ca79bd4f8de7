/* Holds back the state that a replay publishes after a seek until it is complete. */
#include "viewer/link/held_state.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Header before each message. */
struct head {
    uint64_t length;
    uint8_t snapshot;
};

static int held_state_need_room(struct held_state *h, size_t more)
{
    if (more > HELD_STATE_BYTES || h->length > HELD_STATE_BYTES - more)
        return -HOLTER_EFULL;
    if (h->length + more <= h->capacity)
        return 0;
    size_t capacity = h->capacity ? h->capacity : 1 << 16;
    while (capacity < h->length + more)
        capacity *= 2;
    uint8_t *bytes = realloc(h->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    h->bytes = bytes;
    h->capacity = capacity;
    return 0;
}

int held_state_add(struct held_state *h, const struct wire_message *message, int snapshot)
{
    struct head head = {.snapshot = snapshot != 0};
    int error = wire_encode(&h->buffer, message->type,
                            &message->job); /* all members of the union begin at the same address */
    if (!error)
        error = held_state_need_room(h, sizeof head + h->buffer.length);
    if (error)
        return error;
    head.length = h->buffer.length;
    memcpy(h->bytes + h->length, &head, sizeof head);
    memcpy(h->bytes + h->length + sizeof head, h->buffer.bytes, h->buffer.length);
    h->length += sizeof head + h->buffer.length;
    return 0;
}

void held_state_release(struct held_state *h, struct model *model, int missed)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct head head;
    model_rewind(model, missed);
    for (size_t at = 0; at < h->length; at += sizeof head + head.length) {
        memcpy(&head, h->bytes + at, sizeof head);
        if (wire_decode(&message, &arena, h->bytes + at + sizeof head, head.length, NULL) == 0)
            model_apply(model, &message, head.snapshot);
    }
    wire_arena_finish(&arena);
    held_state_clear(h);
}

void held_state_clear(struct held_state *h)
{
    h->length = 0;
    if (h->capacity <= 1 << 20)
        return;
    free(h->bytes); /* large messages are rare */
    h->bytes = NULL;
    h->capacity = 0;
}

void held_state_finish(struct held_state *h)
{
    free(h->bytes);
    wire_buffer_finish(&h->buffer);
    *h = (struct held_state){0};
}
