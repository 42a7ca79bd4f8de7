/* Messages of a real job with changed figures, as agents would send them that are broken, or of
 * somebody else: each input is how the job is kept, and a list of changes to the first messages of
 * a recording. Whatever comes, the job goes on; what it publishes can be sent, and its state
 * restored.
 *
 * A change has eight bytes: of which message (one) and field (one), of rows in which row (two) and
 * column (one), what (one), and a value (two). */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "daemon/job/job_accept.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "proto/wire_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOB "fuzz.0"
#define MESSAGES 128u
#define CHANGE 8u
#define SEEDS 24u
#define SEED_CHANGES 40u

/* The messages that are changed; read once. */
static struct kept {
    struct recorded head;
    void *bytes;
    size_t length;
} messages[MESSAGES];
static size_t message_count;

static int keep(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)user;
    struct kept *kept = &messages[message_count];
    *kept = (struct kept){*head, malloc(length), length};
    FUZZ_HOLDS(kept->bytes != NULL);
    memcpy(kept->bytes, bytes, length);
    return ++message_count == MESSAGES;
}

static int skip_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static void read_messages(void)
{
    const struct recording_reader reader = {NULL, skip_alert, keep};
    if (message_count == 0)
        FUZZ_HOLDS(recording_read(FUZZ_RECORDING, &reader) == 1);
}

/* ---- changes --------------------------------------------------------------------------------- */

static uint64_t changed_number(uint64_t number, uint8_t kind, uint64_t value)
{
    static const uint64_t extremes[] = {
        0,        UINT64_MAX,        INT64_MAX,         UINT32_MAX,     1u << 24,
        1u << 20, UINT64_C(1) << 53, UINT64_C(1) << 63, UINT64_MAX / 2, INT64_MAX - 1};
    switch (kind % 6) {
    case 0:
        return value;
    case 1:
        return extremes[value % (sizeof extremes / sizeof *extremes)];
    case 2:
        return number + value;
    case 3:
        return number - value;
    case 4:
        return number << value % 64;
    default:
        return value % 16;
    }
}

static void change_value(enum wire_kind kind, uint64_t limit, uint8_t *slot, const uint8_t *change)
{
    static const char *const texts[] = {"", "node1", "x", "../x", "\xc3\xa9\n"};
    static const double reals[] = {0, -1, 1e300, -1e300, 1e-300};
    const uint64_t value = change[6] | (uint64_t)change[7] << 8;
    uint64_t number;
    memcpy(&number, slot, sizeof number);
    if (kind == WIRE_KIND_U64 || kind == WIRE_KIND_I64) {
        number = changed_number(number, change[5], value);
        number = kind == WIRE_KIND_U64 && number > limit ? limit : number;
        memcpy(slot, &number, sizeof number);
    } else if (kind == WIRE_KIND_F64) {
        memcpy(slot, &reals[value % 5], sizeof *reals);
    } else if (kind == WIRE_KIND_STR) {
        memcpy(slot, &texts[value % 5], sizeof *texts);
    }
}

/* Rows of the arena: they may be changed, and be fewer. */
static void change_rows(const struct wire_rows *rows, uint8_t *slot, const uint8_t *change)
{
    const uint64_t value = change[6] | (uint64_t)change[7] << 8;
    uint8_t *memory;
    uint64_t count;
    memcpy(&memory, slot, sizeof memory);
    memcpy(&count, slot + sizeof memory, sizeof count);
    if (count == 0)
        return;
    if (change[5] % 16 == 15) {
        count = value % (count + 1);
        memcpy(slot + sizeof memory, &count, sizeof count);
        return;
    }
    const uint64_t row = (change[2] | (uint64_t)change[3] << 8) % count;
    const struct wire_column *column = &rows->columns[change[4] % rows->count];
    change_value(column->kind, column->limit, memory + row * rows->size + column->offset, change);
}

static void change_message(struct wire_message *message, const uint8_t *change)
{
    const struct wire_table *table = wire_table(message->type);
    const struct wire_field *field = &table->fields[change[1] % table->count];
    uint8_t *slot = (uint8_t *)&message->hello + field->offset;
    if (field->kind == WIRE_KIND_ROWS)
        change_rows(field->rows(), slot, change);
    else
        change_value(field->kind, field->limit, slot, change);
}

/* ---- the job --------------------------------------------------------------------------------- */

static int has_subscribers(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    (void)user;
    (void)job;
    FUZZ_HOLDS(wire_encode(&buffer, type, message) == 0);
    wire_buffer_finish(&buffer);
}

static void notify_agents(void *user, const uint64_t *instances, size_t count,
                          const struct wire_criteria *message)
{
    (void)instances;
    (void)count;
    publish(user, JOB, WIRE_TYPE_CRITERIA, message);
}

static const struct job_output output = {NULL, has_subscribers, publish, notify_agents};

/* @return the job, or the one that was restored from its state */
static struct job *restore_job(struct job *job, const struct job_options *options)
{
    struct state_bytes state = {0};
    struct job *restored;
    if (job_save(job, &state) == 0) {
        FUZZ_HOLDS(job_restore(&restored, JOB, options, &output, state.bytes, state.length) == 0);
        job_destroy(job);
        job = restored;
    }
    free(state.bytes);
    return job;
}

static void send_message(struct job *job, const struct kept *kept, const uint8_t *changes,
                         size_t count)
{
    struct wire_message message;
    struct wire_arena arena = {0};
    struct job_fault fault;
    uint64_t capture;
    const size_t number = (size_t)(kept - messages);
    FUZZ_HOLDS(wire_decode(&message, &arena, kept->bytes, kept->length, NULL) == 0);
    for (size_t i = 0; i < count; i++)
        if (changes[i * CHANGE] % message_count == number)
            change_message(&message, changes + i * CHANGE);
    const uint64_t seq = job_message_seq(&message);
    if (seq != 0 && !job_has_accepted(job, kept->head.instance, seq)) {
        const int code = job_accept(job, &kept->head, &message, &capture, &fault);
        FUZZ_HOLDS(code == 0 || code == -EAGAIN || code == -HOLTER_ERANGE ||
                   code == -HOLTER_ELIMIT || code == -HOLTER_EDENIED);
    }
    wire_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rules rules;
    struct job *job;
    read_messages();
    if (size == 0)
        return 0;
    FUZZ_HOLDS(rules_default(&rules) == 0);
    const struct job_options options = {.window_ns = 500000000,
                                        .grace_ns = 250000000,
                                        .lost_ns = 30 * UINT64_C(1000000000),
                                        .most_pairs = data[0] & 1 ? 5 : 1000,
                                        .most_ranks = data[0] & 2 ? 4 : 0,
                                        .modelled = data[0] & 4,
                                        .rules = data[0] & 8 ? NULL : &rules};
    const size_t changes = (size - 1) / CHANGE;
    FUZZ_HOLDS(job_create(&job, JOB, &options, &output) == 0);
    for (size_t i = 0; i < message_count; i++) {
        const uint64_t now_ns = messages[i].head.received_ns;
        send_message(job, &messages[i], data + 1, changes);
        job_advance(job, now_ns, now_ns);
        if (data[0] & 16 && i == message_count / 2)
            job = restore_job(job, &options);
    }
    for (unsigned type = 0; type < 64; type++)
        if (wire_topic(type) != NULL)
            job_snapshot(job, type, &output);
    job = restore_job(job, &options);
    job_finish(job, messages[message_count - 1].head.received_ns);
    FUZZ_HOLDS(changes > 0 || job_count_closed(job) >= message_count / 4 - 2);
    job_destroy(job);
    rules_finish(&rules);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    uint64_t random = number + 1;
    if (number >= SEEDS)
        return SIZE_MAX;
    out[0] = (uint8_t)number;
    for (size_t i = 1; i <= SEED_CHANGES * CHANGE; i++)
        out[i] = (uint8_t)random_next(&random);
    return number == 0 ? 1 : 1 + SEED_CHANGES * CHANGE;
}
