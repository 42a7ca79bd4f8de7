#include "daemon/analysis/phases/phase_marks.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"

#include <stdlib.h>
#include <string.h>

#define MARKS ((size_t)1 << 16)
#define SAME_SHARE 2u   /* of the blocks of two graphs: where more differ all rows are added up */
#define STRETCHES 8u    /* of a block, in the mean: where there are more they are not compared */
#define DIFFERENT 4096u /* blocks that are compared */

void phase_marks_finish(struct phase_marks *m)
{
    free(m->of);
    *m = (struct phase_marks){0};
}

void phase_marks_clear(struct phase_marks *m)
{
    m->count = 0;
    m->lost = false;
}

/* Room to put them in order is there as well. */
static void phase_marks_append(struct phase_marks *m, uint64_t number, uint32_t place)
{
    m->lost = m->lost || number == 0 || m->count == MARKS ||
              array_fit(&m->of, sizeof(*m->of), &m->room, 2 * (m->count + 1)) != 0;
    if (!m->lost)
        m->of[m->count++] = (struct key_place){number, place};
}

void phase_marks_add(struct phase_marks *m, const struct phase_pool *pool,
                     const struct phase_list *list)
{
    for (uint32_t block = list->first; block != PHASE_BLOCK_NONE && !m->lost;) {
        const struct phase_link *link = &pool->links[block];
        phase_marks_append(m, link->times == 1 ? phase_store_number(&pool->store, link->place) : 0,
                           link->place);
        block = block == list->last ? PHASE_BLOCK_NONE : link->after;
    }
}

void phase_marks_sort(struct phase_marks *m)
{
    struct key_place *sorted = m->count == 0 ? m->of : key_order(m->of, m->of + m->count, m->count);
    if (sorted != m->of)
        memcpy(m->of, sorted, m->count * sizeof(*sorted));
}

const struct key_place *phase_difference_next(struct phase_difference *d, int *side)
{
    while (d->at[0] < d->end[0] && d->at[1] < d->end[1] && d->at[0]->key == d->at[1]->key) {
        d->at[0]++;
        d->at[1]++;
    }
    if (d->at[0] == d->end[0] && d->at[1] == d->end[1])
        return NULL;
    *side = d->at[0] == d->end[0] || (d->at[1] < d->end[1] && d->at[1]->key < d->at[0]->key);
    return d->at[*side]++;
}

bool phase_marks_can_compare(const struct phase_store *store, const struct phase_marks *one,
                             const struct phase_marks *other)
{
    struct phase_difference d = phase_marks_compare(one, other);
    const struct key_place *block;
    size_t differ = 0;
    int side;
    if (one->lost || other->lost || one->count == 0 || other->count == 0)
        return false;
    while ((block = phase_difference_next(&d, &side)) != NULL)
        if (++differ > (one->count + other->count) / SAME_SHARE ||
            phase_store_number(store, block->place) != block->key)
            return false;
    return true;
}

/* ---- rows of blocks that differ ------------------------------------------------------ */

void phase_stretches_finish(struct phase_stretches *s)
{
    free(s->of);
    free(s->places);
    *s = (struct phase_stretches){0};
}

/* Stretches of both sides.
 * @param counts  set to how many there are of each side, those of the second behind those of the
 * first
 * @return whether there was room */
static bool phase_marks_gather(struct phase_stretches *s, const struct phase_store *store,
                               const struct phase_difference *of, size_t counts[2])
{
    size_t count = 0, blocks = 0;
    for (int wanted = 0; wanted < 2; wanted++) {
        struct phase_difference d = *of;
        const struct key_place *block;
        int side;
        while ((block = phase_difference_next(&d, &side)) != NULL) {
            if (side != wanted)
                continue;
            const struct phase_row *rows = phase_store_rows(store, block->place);
            size_t room = ++blocks * STRETCHES;
            if (blocks > DIFFERENT || array_fit(&s->of, sizeof(*s->of), &s->room, room) != 0)
                return false;
            for (uint32_t left = store->places[block->place].rows, some; left > 0; left -= some) {
                if (count == room)
                    return false;
                some = BISECT(i, 1, left, rows[i].edge - rows[0].edge == i);
                s->of[count++] = (struct phase_stretch){rows, some};
                rows += some;
            }
        }
        counts[wanted] = count - (wanted == 0 ? 0 : counts[0]);
    }
    return true;
}

/* @return stretches from one on, by their first edges; their places are counted from that one */
static const struct key_place *phase_marks_sort_stretches(const struct phase_stretch *of,
                                                          size_t count, struct key_place *places)
{
    for (size_t i = 0; i < count; i++)
        places[i] = (struct key_place){of[i].rows[0].edge, (uint32_t)i};
    return count == 0 ? places : key_order(places, places + count, count);
}

bool phase_marks_have_same_rows(struct phase_stretches *s, const struct phase_store *store,
                                const struct phase_marks *one, const struct phase_marks *other)
{
    const struct phase_difference d = phase_marks_compare(one, other);
    size_t counts[2];
    if (!phase_marks_gather(s, store, &d, counts) ||
        array_fit(&s->places, sizeof(*s->places), &s->place_room, 2 * (counts[0] + counts[1])) != 0)
        return false;
    const struct phase_stretch *left = s->of, *right = s->of + counts[0];
    const struct key_place *a = phase_marks_sort_stretches(left, counts[0], s->places),
                           *a_end = a + counts[0];
    const struct key_place *b = phase_marks_sort_stretches(right, counts[1],
                                                           s->places + 2 * counts[0]),
                           *b_end = b + counts[1];
    uint32_t a_past = 0, b_past = 0; /* rows of the stretches at hand */
    while (a < a_end && b < b_end) {
        const struct phase_stretch *x = &left[a->place], *y = &right[b->place];
        uint32_t some =
            x->count - a_past < y->count - b_past ? x->count - a_past : y->count - b_past;
        if (memcmp(x->rows + a_past, y->rows + b_past, some * sizeof(*x->rows)) != 0)
            return false;
        a_past += some;
        b_past += some;
        if (a_past == x->count) {
            a++;
            a_past = 0;
        }
        if (b_past == y->count) {
            b++;
            b_past = 0;
        }
    }
    return a == a_end && b == b_end;
}
