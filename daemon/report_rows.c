#include "daemon/report_rows.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/hang.h"

#include <stdlib.h>
#include <string.h>

/* What fits in a row that is kept. */
#define MOST_CLASS 1023u
#define MOST_PAIR_NAME 2047u
#define MOST_CALL 4095u
#define MOST_CALL_NAME 1023u

void report_rows_finish(struct report_rows *r)
{
    free(r->names);
    free(r->pairs);
    free(r->calls);
    free(r->counting);
    row_numbers_finish(&r->numbers);
    *r = (struct report_rows){0};
}

/* Positions are the same only where there are as many of them. */
static int is_alike(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    return r->world == world && r->comms == m->comms_count && r->regions == m->regions_count;
}

int report_rows_pairs(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    size_t count = r->pair_count;
    uint64_t differs = 0;
    if (m->pairs_count != count || r->numbers.pair_count != count || !is_alike(r, m, world))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_pair_row *p = &m->pairs[i];
        const struct report_pair *k = &r->pairs[i];
        differs |= (p->source ^ k->source) | (uint64_t)(p->destination ^ k->destination) |
                   (p->comm ^ k->comm) | (p->region ^ k->region) | (p->size_class ^ k->size_class);
    }
    return differs == 0;
}

int report_rows_calls(const struct report_rows *r, const struct wire_window *m, uint64_t world)
{
    size_t count = r->call_count;
    uint64_t differs = 0;
    if (m->calls_count != count || r->numbers.call_count != count || !is_alike(r, m, world))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_call_row *c = &m->calls[i];
        const struct report_call *k = &r->calls[i];
        differs |= (c->rank ^ k->rank) | (c->call ^ k->call) | (c->comm ^ k->comm) |
                   (c->region ^ k->region);
    }
    return differs == 0;
}

int report_rows_named(const struct report_rows *r, const uint32_t *names, size_t count)
{
    return r->world != 0 && memcmp(r->names, names, count * sizeof(*names)) == 0;
}

/* @return how many rows, or more than any message has: one does not fit */
static size_t keep_pairs(struct report_rows *r, const struct wire_window *m)
{
    for (size_t i = 0; i < m->pairs_count; i++) {
        const struct wire_pair_row *p = &m->pairs[i];
        if (p->size_class > MOST_CLASS || p->comm > MOST_PAIR_NAME || p->region > MOST_PAIR_NAME)
            return SIZE_MAX;
        r->pairs[i] = (struct report_pair){(uint32_t)p->source, (int32_t)p->destination,
                                           p->size_class & MOST_CLASS, p->comm & MOST_PAIR_NAME,
                                           p->region & MOST_PAIR_NAME};
    }
    return m->pairs_count;
}

static size_t keep_calls(struct report_rows *r, const struct wire_window *m)
{
    int fits = 1;
    r->counting_count = 0;
    for (size_t i = 0; i < m->calls_count; i++) {
        const struct wire_call_row *c = &m->calls[i];
        if (hang_counts((uint32_t)c->call))
            r->counting[r->counting_count++] = (uint32_t)i;
        fits &= c->call <= MOST_CALL && c->comm <= MOST_CALL_NAME && c->region <= MOST_CALL_NAME;
        r->calls[i] = (struct report_call){(uint32_t)c->rank, c->call & MOST_CALL,
                                           c->comm & MOST_CALL_NAME, c->region & MOST_CALL_NAME};
    }
    return fits ? m->calls_count : SIZE_MAX;
}

void report_rows_keep(struct report_rows *r, const struct wire_window *m, uint64_t world,
                      const uint32_t *names, size_t count)
{
    r->world = 0; /* which is alike to none */
    if (array_fit(&r->names, sizeof(*r->names), &r->name_room, count) != 0 ||
        array_fit(&r->pairs, sizeof(*r->pairs), &r->pair_room, m->pairs_count) != 0 ||
        array_fit(&r->calls, sizeof(*r->calls), &r->call_room, m->calls_count) != 0 ||
        array_fit(&r->counting, sizeof(*r->counting), &r->counting_room, m->calls_count) != 0)
        return;
    memcpy(r->names, names, count * sizeof(*names));
    r->pair_count = keep_pairs(r, m);
    r->call_count = keep_calls(r, m);
    r->comms = m->comms_count;
    r->regions = m->regions_count;
    r->world = world;
}
