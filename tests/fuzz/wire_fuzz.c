/* Any bytes to the decoder. What it accepts must come out of the encoder, and be read again as the
 * same. */
#include "proto/wire_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_arena arena = {0}, again_arena = {0};
    struct wire_buffer buffer = {0};
    struct wire_message message, again;
    struct wire_fault fault;
    int error = wire_decode(&message, &arena, data, size, &fault);
    /* A row may leave out the columns that were added later: of a node's 21 columns 15 bytes can
     * stand for all. */
    FUZZ_HOLDS(arena.used <= 11 * size + 64);
    if (error) {
        FUZZ_HOLDS(error < 0 && fault.code == error && fault.offset <= size);
        FUZZ_HOLDS(strnlen(fault.where, sizeof fault.where) < sizeof fault.where);
    } else {
        FUZZ_HOLDS(wire_encode(&buffer, message.type, &message.hello) == 0);
        FUZZ_HOLDS(wire_decode(&again, &again_arena, buffer.bytes, buffer.length, NULL) == 0);
        FUZZ_HOLDS(random_message_difference(wire_table(message.type), &message.hello,
                                             &again.hello) == NULL);
    }
    wire_buffer_finish(&buffer);
    wire_arena_finish(&arena);
    wire_arena_finish(&again_arena);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    const struct wire_table *table = wire_table_at(number / 4);
    uint64_t random = 1 + number;
    struct wire_buffer buffer = {0};
    size_t length = 0;
    if (!table)
        return SIZE_MAX;
    void *message = random_message(table, &random, 4);
    if (wire_encode(&buffer, table->type, message) == 0 && buffer.length <= FUZZ_BYTES)
        memcpy(out, buffer.bytes, length = buffer.length);
    random_message_free(table, message);
    wire_buffer_finish(&buffer);
    return length;
}
