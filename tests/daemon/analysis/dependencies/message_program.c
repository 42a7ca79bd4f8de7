#include "tests/daemon/analysis/dependencies/message_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

uint32_t program_random(struct program *p, uint32_t below)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)((p->random >> 16) % below);
}

static struct program_event *add(struct program *p, int64_t at_ns, uint32_t rank)
{
    assert_true(p->count < PROGRAM_EVENTS && rank < PROGRAM_RANKS);
    struct program_event *e = &p->events[p->count++];
    *e = (struct program_event){
        .begin_ns = at_ns, .end_ns = at_ns + 4, .rank = rank, .index = p->made[rank]++};
    for (uint32_t i = p->count - 1; i-- > 0;) {
        if (p->events[i].rank != rank)
            continue;
        memcpy(e->clock, p->events[i].clock, sizeof e->clock);
        break;
    }
    e->clock[rank]++;
    p->ranks = rank >= p->ranks ? rank + 1 : p->ranks;
    return e;
}

uint32_t program_send(struct program *p, int64_t at_ns, uint32_t from, uint32_t to, int32_t tag,
                      uint64_t bytes)
{
    struct program_event *e = add(p, at_ns, from);
    e->peer = to;
    e->tag = tag;
    e->bytes = bytes;
    e->message = p->messages;
    return p->messages++;
}

void program_receive(struct program *p, int64_t at_ns, uint32_t message)
{
    const struct program_event *send = p->events;
    while (send->message != message || send->receive)
        send++;
    struct program_event *e = add(p, at_ns, send->peer);
    e->peer = send->rank;
    e->tag = send->tag;
    e->bytes = send->bytes;
    e->message = message;
    e->receive = 1;
    for (uint32_t i = 0; i < PROGRAM_RANKS; i++)
        e->clock[i] = send->clock[i] > e->clock[i] ? send->clock[i] : e->clock[i];
}

/* The oldest message of a random channel of the rank that is under way, or -1. */
static int64_t under_way(struct program *p, uint32_t rank)
{
    uint32_t heads[PROGRAM_EVENTS], count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct program_event *s = &p->events[i];
        int taken = s->receive || s->peer != rank, behind = 0;
        for (uint32_t k = i + 1; !taken && k < p->count; k++)
            taken = p->events[k].receive && p->events[k].message == s->message;
        for (uint32_t k = 0; !taken && k < count; k++)
            behind |= p->events[heads[k]].rank == s->rank && p->events[heads[k]].tag == s->tag;
        if (!taken && !behind)
            heads[count++] = i;
    }
    return count == 0 ? -1 : (int64_t)p->events[heads[program_random(p, count)]].message;
}

void program_run(struct program *p, uint32_t ranks, uint32_t events, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t at_ns = 1000; p->count < events; at_ns += 5 + program_random(p, 20)) {
        uint32_t rank = program_random(p, ranks);
        int64_t message = program_random(p, 2) ? under_way(p, rank) : -1;
        if (message >= 0)
            program_receive(p, at_ns, (uint32_t)message);
        else
            program_send(p, at_ns, rank, program_random(p, ranks), (int32_t)program_random(p, 2),
                         program_random(p, 3) * 1000);
    }
    p->ranks = ranks;
}

void program_record(const struct program *p, struct dependency_calls *calls, const uint32_t *first,
                    const int64_t *skew_ns, uint32_t hosts, uint64_t error_ns)
{
    uint32_t threads[PROGRAM_RANKS];
    for (uint32_t r = 0; r < p->ranks; r++) {
        char name[16];
        int64_t skew = skew_ns == NULL ? 0 : skew_ns[r];
        snprintf(name, sizeof name, "n%u", r % hosts);
        uint32_t host = dependency_calls_host(calls, name, error_ns);
        threads[r] =
            dependency_calls_thread(calls, r, 0, host, p->events[p->count - 1].end_ns + skew);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const struct program_event *e = &p->events[i];
        int64_t skew = skew_ns == NULL ? 0 : skew_ns[e->rank];
        const struct dependency_record record = {
            .number = e->index,
            .comm = 1,
            .bytes = e->bytes,
            .begin_ns = e->begin_ns + skew,
            .end_ns = e->end_ns + skew,
            .posted_ns = e->begin_ns + skew,
            .peer = e->peer,
            .tag = e->tag,
            .flags = e->receive ? EVENT_RECV | EVENT_POST | EVENT_DONE
                                : EVENT_SEND | EVENT_POST | EVENT_DONE,
        };
        if (first == NULL || e->index >= first[e->rank])
            assert_int_equal(dependency_calls_add(calls, threads[e->rank], &record), 0);
    }
}

void program_add_source(struct dependency_calls *calls, uint64_t comm, uint32_t rank,
                        uint32_t source)
{
    const struct wire_source_row row = {comm, rank, source};
    const struct wire_capture capture = {.sources = &row, .sources_count = 1};
    assert_int_equal(dependency_calls_add_capture(calls, &capture), 0);
}
