/* What a hostile daemon may send to a client: messages of the front and frames of the stream, in
 * any order. The client has no sockets here: what it would send fails, which it must bear as
 * well.
 *
 * The input is a list of pieces: a byte that says what it is, two bytes of length (big-endian),
 * the bytes. A frame is three pieces in a row. */
#include "proto/client_state.h"
#include "proto/wire_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_FRONT = 0, PIECE_FRAME = 1, PIECE_PHASE = 2, PIECES };

/* Cut the next piece off. @return 0 at the end */
static int next_piece(const uint8_t **at, size_t *left, uint8_t *kind, struct client_part *out)
{
    if (*left < 3)
        return 0;
    size_t length = (size_t)((*at)[1] << 8 | (*at)[2]);
    *kind = (*at)[0] % PIECES;
    *at += 3;
    *left -= 3;
    if (length > *left)
        length = *left;
    *out = (struct client_part){*at, length};
    *at += length;
    *left -= length;
    return 1;
}

/* Ask as a user and as a follower would have done before. */
static void ask(struct client *c, const struct client_part *piece)
{
    if (piece->length < 2)
        return;
    c->follow.phase = (enum follow_phase)(piece->bytes[0] % (FOLLOW_LIVE + 1));
    c->follow.request = c->next_id + 1;
    strcpy(c->follow.sync, "sync/1");
    if (c->pending_count < CLIENT_PENDING)
        c->pending[c->pending_count++] =
            (struct pending){++c->next_id, piece->bytes[1] & 1 ? REQUEST_FOLLOW : REQUEST_USER,
                             piece->bytes[1] & 2 ? WIRE_TYPE_MAPPING : (enum wire_type)0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client *c = calloc(1, sizeof *c);
    struct client_message got;
    struct client_part piece, frame[3];
    uint8_t kind;
    if (!c)
        return 0;
    c->follow = (struct follow){.phase = FOLLOW_LIVE, .topics = UINT64_MAX, .job = "j"};
    strcpy(c->endpoint, "ipc:///nowhere");
    while (next_piece(&data, &size, &kind, &piece)) {
        int result = 0;
        if (kind == PIECE_PHASE) {
            ask(c, &piece);
        } else if (kind == PIECE_FRONT) {
            result = client_take(c, &piece, &got);
        } else {
            frame[0] = piece;
            if (next_piece(&data, &size, &kind, &frame[1]) &&
                next_piece(&data, &size, &kind, &frame[2]))
                result = follow_frame(c, frame, &got);
        }
        FUZZ_HOLDS(result == 0 || result == 1);
        FUZZ_HOLDS(result == 0 || wire_table(got.message->type));
        FUZZ_HOLDS(c->pending_count <= CLIENT_PENDING && c->failed_count <= CLIENT_PENDING);
        FUZZ_HOLDS(strnlen(c->follow.job, sizeof c->follow.job) < sizeof c->follow.job);
        FUZZ_HOLDS(strnlen(c->error, sizeof c->error) < sizeof c->error);
    }
    client_destroy(c);
    return 0;
}

static size_t put(uint8_t *out, size_t at, uint8_t kind, const void *bytes, size_t length)
{
    out[at] = kind;
    out[at + 1] = (uint8_t)(length >> 8);
    out[at + 2] = (uint8_t)length;
    memcpy(out + at + 3, bytes, length);
    return at + 3 + length;
}

/* A message of each type, as part of an answer and as a frame, for job "j". */
size_t fuzz_seed(unsigned number, uint8_t *out)
{
    const struct wire_table *table = wire_table_at(number / 6);
    uint64_t random = 77 + number;
    struct wire_buffer buffer = {0};
    char topic[64];
    uint8_t numbers[WIRE_FRAME_NUMBERS] = {[7] = 5, [15] = 2},
            phase[2] = {(uint8_t)(number % 6), (uint8_t)(number / 6)};
    if (!table)
        return SIZE_MAX;
    void *message = random_message(table, &random, 2);
    const char **job = message;
    char *given = NULL;
    if (wire_topic(table->type)) {
        given = (char *)*job;
        *job = "j";
    }
    size_t at = put(out, 0, PIECE_PHASE, phase, sizeof phase);
    if (wire_encode(&buffer, table->type, message) == 0 && buffer.length < 16384) {
        at = put(out, at, PIECE_FRONT, buffer.bytes, buffer.length);
        at = put(out, at, PIECE_FRAME, topic,
                 (size_t)snprintf(topic, sizeof topic, "%s/j",
                                  given ? wire_topic(table->type) : "sync"));
        at = put(out, at, 0, numbers, sizeof numbers);
        at = put(out, at, 0, buffer.bytes, buffer.length);
    }
    struct wire_reply reply = {.id = 1, .frame = 4};
    if (wire_encode(&buffer, WIRE_TYPE_REPLY, &reply) == 0)
        at = put(out, at, PIECE_FRONT, buffer.bytes, buffer.length);
    if (given)
        *job = given;
    random_message_free(table, message);
    wire_buffer_finish(&buffer);
    return at;
}
