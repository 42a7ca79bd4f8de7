/* The journal: a ring of messages in shared memory, beside two states of which one is in force. */
#include "agent/node/journal.h"

#include "holter/clock.h"
#include "holter/error.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#define PADDING 0u         /* type of the record that fills the space before the end of the ring */
#define DROPPED UINT32_MAX /* type of a message that is not read any more */

struct record {
    uint32_t length; /* of the bytes after this header */
    uint32_t type;
    uint64_t seq;
};

/* Before the state of a matcher. */
struct matching_head {
    char job[64];
    uint32_t length, taken;
};

struct journal {
    uint64_t instance;
    uint64_t start_ns;
    _Atomic uint64_t restarts;
    _Atomic uint32_t in_force; /* index of the valid state */
    _Atomic uint64_t begin;    /* position of the oldest message */
    size_t capacity;           /* bytes of the ring */
    uint64_t end, next_seq;    /* of the current worker, not committed yet */
    int has_committed;         /* the current worker */
    struct journal_state states[2];
    _Alignas(8) uint8_t ring[];
};

static size_t journal_mapped_size(size_t bytes)
{
    return sizeof(struct journal) + bytes;
}

int journal_create(struct journal **out, size_t bytes)
{
    struct journal *journal = mmap(NULL, journal_mapped_size(bytes), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (journal == MAP_FAILED)
        return -ENOMEM;
    journal->capacity = bytes;
    journal->start_ns = clock_mono_ns();
    journal->states[0].next_seq = 1;
    if (getrandom(&journal->instance, sizeof journal->instance, 0) !=
        (ssize_t)sizeof journal->instance) {
        journal_destroy(journal);
        return -errno;
    }
    journal->instance |= 1; /* never 0, which means none */
    journal_resume(journal);
    *out = journal;
    return 0;
}

void journal_destroy(struct journal *journal)
{
    if (journal != NULL)
        munmap(journal, journal_mapped_size(journal->capacity));
}

uint64_t journal_instance(const struct journal *journal)
{
    return journal->instance;
}

uint64_t journal_start_ns(const struct journal *journal)
{
    return journal->start_ns;
}

uint64_t journal_restarts(const struct journal *journal)
{
    return atomic_load(&journal->restarts);
}

void journal_count_restart(struct journal *journal)
{
    atomic_fetch_add(&journal->restarts, 1);
}

const struct journal_state *journal_state(const struct journal *journal)
{
    return &journal->states[atomic_load(&journal->in_force)];
}

void journal_resume(struct journal *journal)
{
    const struct journal_state *state = journal_state(journal);
    journal->end = state->end;
    journal->next_seq = state->next_seq;
    journal->has_committed = 0;
    /* A worker may have dropped messages for one that it did not commit before it crashed. */
    if (atomic_load(&journal->begin) > state->end)
        atomic_store(&journal->begin, state->end);
}

struct journal_state *journal_prepare(struct journal *journal)
{
    uint32_t next = 1 - atomic_load(&journal->in_force);
    struct journal_state *state = &journal->states[next];
    const struct journal_state *from = journal_state(journal);
    memcpy(state, from,
           offsetof(struct journal_state, rings) + from->ring_count * sizeof *from->rings);
    state->matching_length = 0;
    return state;
}

static size_t journal_matching_size(size_t length)
{
    return sizeof(struct matching_head) + ((length + 7) & ~(size_t)7);
}

void journal_add_matching(struct journal_state *state, const char job[64], const void *bytes,
                          size_t length)
{
    if (length == 0 || length > JOURNAL_MATCHING ||
        journal_matching_size(length) > JOURNAL_MATCHING - state->matching_length)
        return;
    struct matching_head *head = (void *)(state->matching + state->matching_length);
    *head = (struct matching_head){.length = (uint32_t)length};
    memcpy(head->job, job, sizeof head->job);
    memcpy(head + 1, bytes, length);
    state->matching_length += (uint32_t)journal_matching_size(length);
}

uint8_t *journal_take_matching(struct journal *journal, const char job[64], size_t *length)
{
    struct journal_state *state = &journal->states[atomic_load(&journal->in_force)];
    for (uint32_t at = 0; !journal->has_committed && at < state->matching_length;) {
        struct matching_head *head = (void *)(state->matching + at);
        at += (uint32_t)journal_matching_size(head->length);
        if (head->taken || memcmp(head->job, job, sizeof head->job) != 0)
            continue;
        head->taken = 1;
        *length = head->length;
        return (uint8_t *)(head + 1);
    }
    return NULL;
}

void journal_commit(struct journal *journal)
{
    uint32_t next = 1 - atomic_load(&journal->in_force);
    journal->states[next].end = journal->end;
    journal->states[next].next_seq = journal->next_seq;
    atomic_store(&journal->in_force, next);
    journal->has_committed = 1;
}

static struct record *journal_record_at(const struct journal *journal, uint64_t position)
{
    return (struct record *)(uintptr_t)(journal->ring + position % journal->capacity);
}

static size_t journal_padded(size_t length)
{
    return sizeof(struct record) + ((length + 7) & ~(size_t)7);
}

/* The first message at or after a position that lies before `end`. */
static int journal_read_until(const struct journal *journal, uint64_t position, uint64_t end,
                              struct journal_message *out)
{
    uint64_t begin = atomic_load(&journal->begin);
    position = position < begin ? begin : position;
    while (position < end) {
        size_t left = journal->capacity - (size_t)(position % journal->capacity);
        const struct record *record = journal_record_at(journal, position);
        if (left < sizeof *record || record->type == PADDING) {
            position += left;
            continue;
        }
        if (record->type == DROPPED) {
            position += journal_padded(record->length);
            continue;
        }
        *out = (struct journal_message){
            .position = position,
            .next_position = position + journal_padded(record->length),
            .seq = record->seq,
            .type = record->type,
            .length = record->length,
            .bytes = (const uint8_t *)(record + 1),
        };
        return 1;
    }
    return 0;
}

int journal_read(const struct journal *journal, uint64_t position, struct journal_message *out)
{
    return journal_read_until(journal, position, journal_state(journal)->end, out);
}

uint64_t journal_next_seq(const struct journal *journal)
{
    return journal->next_seq;
}

int journal_append(struct journal *journal, uint32_t type, const void *bytes, size_t length,
                   void (*dropped)(void *user, const struct journal_message *message), void *user)
{
    size_t need = journal_padded(length);
    size_t left = journal->capacity - (size_t)(journal->end % journal->capacity);
    if (length > UINT32_MAX || need > journal->capacity)
        return -HOLTER_ELIMIT;
    size_t skip = left < need ? left : 0;
    struct journal_message oldest;
    while (journal->end + skip + need - atomic_load(&journal->begin) > journal->capacity) {
        if (!journal_read_until(journal, 0, journal->end, &oldest)) {
            atomic_store(&journal->begin, journal->end + skip); /* only padding is left */
            break;
        }
        if (dropped != NULL)
            dropped(user, &oldest);
        atomic_store(&journal->begin, oldest.next_position);
    }
    if (skip >= sizeof(struct record))
        journal_record_at(journal, journal->end)->type = PADDING;
    journal->end += skip;
    struct record *record = journal_record_at(journal, journal->end);
    *record = (struct record){(uint32_t)length, type, journal->next_seq};
    memcpy(record + 1, bytes, length);
    journal->end += need;
    journal->next_seq++;
    return 0;
}

int journal_drop(struct journal *journal, uint64_t seq, struct journal_message *out)
{
    uint64_t position = 0;
    while (journal_read(journal, position, out) && out->seq <= seq) {
        if (out->seq == seq) {
            journal_record_at(journal, out->position)->type = DROPPED;
            return 1;
        }
        position = out->next_position;
    }
    return 0;
}

void journal_ack(struct journal *journal, uint64_t seq)
{
    struct journal_message oldest;
    while (journal_read(journal, 0, &oldest) && oldest.seq <= seq)
        atomic_store(&journal->begin, oldest.next_position);
}

int journal_has_pending(const struct journal *journal)
{
    struct journal_message oldest;
    return journal_read_until(journal, 0, journal->end, &oldest);
}

size_t journal_backlog(const struct journal *journal)
{
    return (size_t)(journal->end - atomic_load(&journal->begin));
}

size_t journal_resident(const struct journal *journal)
{
    const struct journal_state *state = journal_state(journal);
    size_t ring = journal->end < journal->capacity ? (size_t)journal->end : journal->capacity;
    return ring + 2 * (offsetof(struct journal_state, rings) +
                       state->ring_count * sizeof(struct journal_ring) + state->matching_length);
}
