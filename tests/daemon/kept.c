#include "tests/daemon/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void keep(struct recording *recording, struct recorded head, enum wire_type type,
                 const void *message, size_t damaged)
{
    struct wire_buffer buffer = {0};
    head.type = type;
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    memset(buffer.bytes, 0xc1, buffer.length < damaged ? buffer.length : damaged);
    assert_int_equal(recording_message(recording, &head, buffer.bytes, buffer.length), 0);
    wire_buffer_finish(&buffer);
}

void kept_message(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message)
{
    keep(recording, head, type, message, 0);
}

void kept_damaged(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message)
{
    keep(recording, head, type, message, 9);
}
