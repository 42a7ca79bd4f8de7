/* One clock for the daemons of a fleet: which one is the reference, and what is asked of it. */
#include "daemon/fleet/fleet_clock.h"

#include "daemon/fleet/fleet_envelope.h"
#include "holter/error.h"

#include <string.h>

#define FIRST_SAMPLES 4u /* before the time may be used */
#define MOST_UNANSWERED 4u
#define LOST_NS (2 * FLEET_CLOCK_ALONE_NS) /* so long are they waited for, at least */
#define LOOK_EVERY 16u /* questions after which a reference asks whether there is another one */
/* After a sign of others, who ask several times in it. */
#define YIELD_NS (4 * FLEET_CLOCK_ALONE_NS)
#define MOST_LOOKING_NS (20 * FLEET_CLOCK_ALONE_NS)

static const uint8_t clock_magic[8] = {'H', 'L', 'T', 'R', 'C', 'L', 'K', '1'};

/* Numbers after the magic. */
enum { ASK_FROM, ASK_T1, ASK_LOOKING, ASK_NUMBERS };
enum { LOOKING_NOT, LOOKING_WITHOUT_TIME, LOOKING_WITH_TIME };
enum {
    ANSWER_TO,
    ANSWER_FROM,
    ANSWER_REFERENCE,
    ANSWER_T1,
    ANSWER_T2,
    ANSWER_T3,
    ANSWER_ERROR,
    ANSWER_NUMBERS
};
_Static_assert(sizeof(clock_magic) + 8 * ASK_NUMBERS == FLEET_CLOCK_ASK_BYTES, "a question");
_Static_assert(sizeof(clock_magic) + 8 * ANSWER_NUMBERS == FLEET_CLOCK_ANSWER_BYTES, "an answer");

static void clock_write(uint8_t *out, const uint64_t *numbers, size_t count)
{
    memcpy(out, clock_magic, sizeof(clock_magic));
    for (size_t i = 0; i < count; i++)
        fleet_put(out + sizeof(clock_magic) + 8 * i, numbers[i], 8);
}

static int clock_read(const uint8_t *bytes, size_t length, size_t expected, uint64_t *numbers,
                      size_t count)
{
    if (length != expected || memcmp(bytes, clock_magic, sizeof(clock_magic)) != 0)
        return -HOLTER_EMALFORMED;
    for (size_t i = 0; i < count; i++)
        numbers[i] = fleet_get(bytes + sizeof(clock_magic) + 8 * i, 8);
    return 0;
}

void fleet_clock_init(struct fleet_clock *clock, uint64_t instance, uint64_t mono_ns,
                      uint64_t real_ns)
{
    *clock = (struct fleet_clock){.instance = instance, .looking_ns = mono_ns};
    daemon_clock_init(&clock->time, mono_ns, real_ns);
}

/* ---- the reference --------------------------------------------------------------- */

static int clock_is_reference(const struct fleet_clock *clock)
{
    return clock->reference == clock->instance;
}

/* The fleet's time goes on as it was, or begins. */
static void clock_become_reference(struct fleet_clock *clock, uint64_t mono_ns)
{
    daemon_clock_detach(&clock->time, mono_ns);
    clock->reference = clock->instance;
    clock->is_known = 1;
    clock->asked = 0;
}

static void clock_follow(struct fleet_clock *clock, uint64_t reference, uint64_t mono_ns)
{
    if (clock->reference == reference)
        return;
    clock->held_error_ns = fleet_clock_error(clock, mono_ns);
    daemon_clock_restart(&clock->time);
    clock->reference = reference;
    clock->unanswered = 0;
}

/* Is this daemon to be the reference? Not while another one is that goes before, or others answer,
 * who will have a reference soon. */
static int clock_is_alone(const struct fleet_clock *clock, uint64_t mono_ns)
{
    const uint64_t looked = mono_ns - clock->looking_ns;
    const uint64_t sign_ns =
        clock->yields_ns > clock->heard_ns ? clock->yields_ns : clock->heard_ns;
    return looked >= MOST_LOOKING_NS ||
           (looked >= FLEET_CLOCK_ALONE_NS && (sign_ns == 0 || mono_ns - sign_ns >= YIELD_NS));
}

/* One that knows the fleet's time goes before one that does not, then the lower instance. */
static int clock_goes_before(const struct fleet_clock *clock, uint64_t looking, uint64_t instance)
{
    const uint64_t own = clock->is_known ? LOOKING_WITH_TIME : LOOKING_WITHOUT_TIME;
    return looking == own ? instance < clock->instance : looking > own;
}

/* ---- questions ------------------------------------------------------------------- */

int fleet_clock_ask(struct fleet_clock *clock, uint64_t mono_ns, uint64_t *to,
                    uint8_t out[FLEET_CLOCK_ASK_BYTES])
{
    if (clock->reference != 0 && !clock_is_reference(clock) &&
        clock->unanswered >= MOST_UNANSWERED && mono_ns - clock->unanswered_ns >= LOST_NS) {
        clock->lost = clock->reference;
        clock->reference = 0;
        clock->looking_ns = mono_ns;
        clock->yields_ns = clock->heard_ns = 0;
    }
    if (clock->reference == 0 && clock_is_alone(clock, mono_ns))
        clock_become_reference(clock, mono_ns);
    if (clock_is_reference(clock) && clock->asked++ % LOOK_EVERY != 0)
        return 0;
    *to = clock_is_reference(clock) ? 0 : clock->reference;
    if (*to != 0 && clock->unanswered++ == 0)
        clock->unanswered_ns = mono_ns;
    const uint64_t numbers[ASK_NUMBERS] = {clock->instance, mono_ns,
                                           clock->reference != 0 ? LOOKING_NOT
                                           : clock->is_known     ? LOOKING_WITH_TIME
                                                                 : LOOKING_WITHOUT_TIME};
    clock_write(out, numbers, ASK_NUMBERS);
    return 1;
}

int fleet_clock_answer(struct fleet_clock *clock, const void *bytes, size_t length,
                       uint64_t received_ns, uint64_t mono_ns,
                       uint8_t out[FLEET_CLOCK_ANSWER_BYTES])
{
    uint64_t ask[ASK_NUMBERS];
    int code = clock_read(bytes, length, FLEET_CLOCK_ASK_BYTES, ask, ASK_NUMBERS);
    if (code != 0)
        return code;
    if (clock_goes_before(clock, ask[ASK_LOOKING], ask[ASK_FROM]))
        clock->yields_ns = received_ns;
    if (ask[ASK_FROM] == clock->instance || clock->reference == 0 || !clock->is_known)
        return 0;
    const uint64_t answer[ANSWER_NUMBERS] = {
        [ANSWER_TO] = ask[ASK_FROM],
        [ANSWER_FROM] = clock->instance,
        [ANSWER_REFERENCE] = clock->reference,
        [ANSWER_T1] = ask[ASK_T1],
        [ANSWER_T2] = daemon_clock_at(&clock->time, received_ns),
        [ANSWER_T3] = daemon_clock_at(&clock->time, mono_ns),
        [ANSWER_ERROR] = fleet_clock_error(clock, mono_ns),
    };
    clock_write(out, answer, ANSWER_NUMBERS);
    return 1;
}

/* ---- answers --------------------------------------------------------------------- */

/* Whom an answer makes this daemon follow. */
static void clock_choose_reference(struct fleet_clock *clock, uint64_t from, uint64_t reference,
                                   uint64_t mono_ns)
{
    if (clock_is_reference(clock)) {
        if (from == reference && from < clock->instance)
            clock_follow(clock, reference, mono_ns);
    } else if (clock->reference == 0) {
        if (reference != clock->lost || from == reference)
            clock_follow(clock, reference, mono_ns);
    } else if (from == clock->reference) {
        clock_follow(clock, reference, mono_ns); /* it has found another one itself */
    }
}

int fleet_clock_observe(struct fleet_clock *clock, const void *bytes, size_t length,
                        uint64_t mono_ns)
{
    uint64_t answer[ANSWER_NUMBERS];
    int code = clock_read(bytes, length, FLEET_CLOCK_ANSWER_BYTES, answer, ANSWER_NUMBERS);
    if (code != 0)
        return code;
    if (answer[ANSWER_TO] != clock->instance || answer[ANSWER_FROM] == clock->instance ||
        answer[ANSWER_REFERENCE] == 0 || answer[ANSWER_REFERENCE] == clock->instance)
        return 0;
    clock->heard_ns = mono_ns;
    clock_choose_reference(clock, answer[ANSWER_FROM], answer[ANSWER_REFERENCE], mono_ns);
    if (clock->reference != answer[ANSWER_FROM])
        return 0;
    code = daemon_clock_observe(&clock->time, answer[ANSWER_T1], answer[ANSWER_T2],
                                answer[ANSWER_T3], mono_ns);
    if (code != 0)
        return code;
    clock->time.source_error_ns = answer[ANSWER_ERROR];
    clock->unanswered = 0;
    clock->lost = 0;
    clock->is_known |= clock->time.count >= FIRST_SAMPLES;
    return 0;
}

uint64_t fleet_clock_error(const struct fleet_clock *clock, uint64_t mono_ns)
{
    if (clock_is_reference(clock))
        return 0;
    if (clock->time.count == 0)
        return clock->is_known ? clock->held_error_ns : UINT64_MAX;
    const uint64_t error = daemon_clock_error(&clock->time, mono_ns);
    const int64_t apart = (int64_t)(daemon_clock_best(&clock->time, mono_ns) -
                                    daemon_clock_at(&clock->time, mono_ns));
    const uint64_t distance = (uint64_t)(apart < 0 ? -apart : apart);
    return error + distance;
}
