#include "tests/daemon/import/trace/recorded_sums.h"

#include "daemon/storage/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define AGENTS 4096u

struct reading {
    struct recorded_sums *sums;
    struct wire_arena arena;
    uint64_t numbers[AGENTS]; /* of the last message of an agent */
};

static uint64_t mix(uint64_t digest, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static void add_ranks(struct recorded_sums *s, const struct wire_window *w)
{
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *row = &w->ranks[i];
        s->events += row->events;
        s->calls += row->calls;
        s->sent += row->sent;
        s->sent_bytes += row->sent_bytes;
        s->received += row->received;
        s->absent_ns += row->absent_ns;
        s->received_bytes += row->received_bytes;
        s->lost += row->lost;
        if (row->rank < RECORDED_RANKS) {
            s->rank_events[row->rank] += row->events;
            s->rank_received[row->rank] += row->received;
            s->rank_received_bytes[row->rank] += row->received_bytes;
            s->threads[row->rank] = row->threads;
        }
    }
}

static void add_pairs(struct recorded_sums *s, const struct wire_window *w)
{
    for (uint64_t i = 0; i < w->pairs_count; i++) {
        const struct wire_pair_row *row = &w->pairs[i];
        s->pair_messages += row->messages;
        s->pair_bytes += row->bytes;
        s->region_sent += row->region != 0 ? row->messages : 0;
        if (row->source < RECORDED_RANKS && row->destination >= 0 &&
            row->destination < RECORDED_RANKS) {
            s->pairs[row->source][row->destination] += row->messages;
            s->pair_size[row->source][row->destination] += row->bytes;
        }
    }
}

static void add_rest(struct recorded_sums *s, const struct wire_window *w)
{
    for (uint64_t i = 0; i < w->calls_count; i++)
        if (w->calls[i].call < RECORDED_CALLS) {
            s->call[w->calls[i].call] += w->calls[i].calls;
            s->call_ns[w->calls[i].call] += w->calls[i].time_ns;
            s->call_bytes[w->calls[i].call] += w->calls[i].bytes;
            s->call_bytes_in[w->calls[i].call] += w->calls[i].bytes_in;
        }
    for (uint64_t i = 0; i < w->transfers_count; i++) {
        s->transfers += w->transfers[i].messages;
        s->transfer_ns += w->transfers[i].transfer_ns;
        s->late_sender_ns += w->transfers[i].late_sender_ns;
        s->late_receiver_ns += w->transfers[i].late_receiver_ns;
    }
    for (uint64_t i = 0; i < w->regions_count; i++)
        if (w->regions[i].name[0] != '\0')
            snprintf(s->region, sizeof(s->region), "%s", w->regions[i].name);
    for (uint64_t i = 0; i < w->comms_count; i++)
        if (w->comms[i].id > 2) {
            snprintf(s->comm, sizeof(s->comm), "%s", w->comms[i].name);
            s->comm_size = w->comms[i].size;
        }
    s->comm_members += w->comm_members_count;
    s->halves += w->halves_count;
    s->bursts += w->bursts_count;
    if (w->node_count == 1 && w->flags & WINDOW_FINAL) {
        s->matched += w->node->matched;
        s->unmatched += w->node->unmatched;
        s->rejected += w->node->rejected;
    }
}

static void add_capture(struct recorded_sums *s, const struct wire_captured *m)
{
    s->captures += m->asked_ns != s->captured_ns;
    s->captured_ns = m->asked_ns;
    s->captured += m->events_count;
    s->captured_threads += m->threads_count;
    for (uint64_t i = 0; i < m->threads_count; i++)
        s->captured_written += m->threads[i].records;
}

static int take(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct reading *r = user;
    struct recorded_sums *s = r->sums;
    struct wire_message message;
    s->messages++;
    uint64_t *digest = head->type == WIRE_TYPE_CAPTURED ? &s->capture_digest : &s->digest;
    *digest = mix(mix(*digest, head, sizeof(*head)), bytes, length);
    assert_int_equal(wire_decode(&message, &r->arena, bytes, length, NULL), 0);
    /* A message whose number came before would be taken for one that was sent twice. */
    if (head->instance < AGENTS)
        assert_int_equal(head->seq, ++r->numbers[head->instance]);
    if (message.type == WIRE_TYPE_RANKS)
        s->announced += message.ranks.members_count;
    if (message.type == WIRE_TYPE_CAPTURED)
        add_capture(s, &message.captured);
    if (message.type != WIRE_TYPE_WINDOW)
        return 0;
    const struct wire_window *w = &message.window;
    if (s->windows++ == 0)
        s->first_window = w->window;
    s->last_window = w->window;
    s->window_ns = w->length_ns;
    s->finals += (w->flags & WINDOW_FINAL) != 0;
    add_ranks(s, w);
    add_pairs(s, w);
    add_rest(s, w);
    return 0;
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

void recorded_sums_read(struct recorded_sums *out, const char *path)
{
    memset(out, 0, sizeof(*out));
    struct reading reading = {.sums = out};
    struct recording_reader reader = {&reading, no_alert, take};
    assert_int_equal(recording_read(path, &reader), 0);
    wire_arena_finish(&reading.arena);
}
