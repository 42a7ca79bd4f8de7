/* The figures of a window, or of the run: how they lie in memory. */
#include "daemon/analysis/sums/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64u

_Static_assert(RANK_ROW_OFTEN % CACHE_LINE == 0 && sizeof(struct rank_row) % CACHE_LINE == 0,
               "what is seldom told of a rank lies in a line of its own");

int sums_grow(void **array, size_t element, uint32_t room, uint32_t need)
{
    /* The first time the kernel's zero pages do, and those that nobody writes take no memory. */
    void *grown = *array == NULL ? calloc(need, element) : realloc(*array, element * need);
    if (grown == NULL)
        return -ENOMEM;
    if (*array == NULL)
        room = need;
    *array = grown;
    memset((char *)grown + element * room, 0, element * (need - room));
    return 0;
}

static uint32_t larger_room(uint32_t room, uint32_t need)
{
    uint64_t grown = room + (uint64_t)room / 2;
    grown = grown < need ? need : grown;
    grown = (grown + 63) / 64 * 64; /* whole words of the bit arrays */
    return grown > UINT32_MAX - 63 ? UINT32_MAX - 63 : (uint32_t)grown;
}

/* Rows begin with a line of the cache. */
static int grow_ranks(struct figures *f, uint32_t need)
{
    struct rank_row *grown = aligned_alloc(CACHE_LINE, need * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    if (f->rank_room > 0)
        memcpy(grown, f->ranks, f->rank_room * sizeof(*grown));
    memset(grown + f->rank_room, 0, (need - f->rank_room) * sizeof(*grown));
    free(f->ranks);
    f->ranks = grown;
    return 0;
}

int figures_fit_ranks(struct figures *f, uint32_t need)
{
    if (need <= f->rank_room)
        return 0;
    uint32_t room = larger_room(f->rank_room, need);
    if (grow_ranks(f, room) != 0 ||
        sums_grow((void **)&f->rank_newest, sizeof(*f->rank_newest), f->rank_room, room) != 0 ||
        sums_grow((void **)&f->rank_present, sizeof(uint64_t), f->rank_room / 64, room / 64) != 0 ||
        sums_grow((void **)&f->rank_owed, sizeof(uint64_t), f->rank_room / 64, room / 64) != 0)
        return -ENOMEM;
    f->rank_room = room;
    return 0;
}

static int figures_fit_pairs(struct figures *f, uint32_t need)
{
    uint32_t room = (need + PAIR_BLOCK - 1) / PAIR_BLOCK * PAIR_BLOCK;
    uint32_t words = f->pair_blocks == NULL ? 0 : f->pair_room / PAIR_BLOCK / 64 + 1;
    if (sums_grow((void **)&f->pairs, sizeof(*f->pairs), f->pair_room, room) != 0 ||
        (f->wide != NULL &&
         sums_grow((void **)&f->wide, sizeof(*f->wide), f->pair_room, room) != 0) ||
        sums_grow((void **)&f->pair_blocks, sizeof(uint64_t), words, room / PAIR_BLOCK / 64 + 1) !=
            0)
        return -ENOMEM;
    f->pair_room = room;
    return 0;
}

int figures_fit_wide(struct figures *f)
{
    if (f->wide == NULL && f->pair_room > 0)
        f->wide = calloc(f->pair_room, sizeof(*f->wide));
    return f->wide != NULL || f->pair_room == 0 ? 0 : -ENOMEM;
}

int figures_fit(struct figures *f, const struct run_sum *run)
{
    if (figures_fit_ranks(f, run->ranks.room) != 0)
        return -ENOMEM;
    if (run->pairs.room > f->pair_room && figures_fit_pairs(f, run->pairs.room) != 0)
        return -ENOMEM;
    if (run->calls.room > f->call_room) {
        if (sums_grow((void **)&f->calls, sizeof(*f->calls), f->call_room, run->calls.room) != 0)
            return -ENOMEM;
        f->call_room = run->calls.room;
    }
    if (run->callers.room > f->caller_room) {
        uint32_t room = larger_room(f->caller_room, run->callers.room);
        if (sums_grow((void **)&f->callers, sizeof(uint64_t), f->caller_room / 64, room / 64) != 0)
            return -ENOMEM;
        f->caller_room = room;
    }
    return 0;
}

void figures_finish(struct figures *f)
{
    free(f->ranks);
    free(f->rank_newest);
    free(f->rank_present);
    free(f->rank_owed);
    free(f->pairs);
    free(f->wide);
    free(f->pair_blocks);
    free(f->calls);
    free(f->callers);
}

void figures_swap_ranks(struct figures *a, struct figures *b)
{
    struct figures was = *a;
    a->ranks = b->ranks;
    a->rank_newest = b->rank_newest;
    a->rank_present = b->rank_present;
    a->rank_owed = b->rank_owed;
    a->rank_room = b->rank_room;
    b->ranks = was.ranks;
    b->rank_newest = was.rank_newest;
    b->rank_present = was.rank_present;
    b->rank_owed = was.rank_owed;
    b->rank_room = was.rank_room;
}

/* Only what was added to is written: the rest may be pages that were never touched. */
void figures_clear_pairs(struct figures *f)
{
    for (uint32_t from = 0; from < f->pair_room; from += PAIR_BLOCK) {
        if (!bit_get(f->pair_blocks, from / PAIR_BLOCK))
            continue;
        memset(&f->pairs[from], 0, PAIR_BLOCK * sizeof(*f->pairs));
        if (f->has_wide)
            memset(&f->wide[from], 0, PAIR_BLOCK * sizeof(*f->wide));
    }
    f->has_wide = 0;
    if (f->pair_room > 0)
        memset(f->pair_blocks, 0, (f->pair_room / PAIR_BLOCK / 64 + 1) * sizeof(*f->pair_blocks));
}

void figures_clear(struct figures *f)
{
    figures_clear_pairs(f);
    if (f->rank_room > 0)
        memset(f->rank_present, 0, f->rank_room / 64 * sizeof(*f->rank_present));
    if (f->call_room > 0)
        memset(f->calls, 0, f->call_room * sizeof(*f->calls));
    if (f->caller_room > 0)
        memset(f->callers, 0, f->caller_room / 64 * sizeof(*f->callers));
}

size_t figures_bytes(const struct figures *f)
{
    return f->rank_room * (sizeof(*f->ranks) + sizeof(*f->rank_newest)) + f->rank_room / 4 +
           f->pair_room * (sizeof(*f->pairs) + (f->wide != NULL ? sizeof(*f->wide) : 0)) +
           f->call_room * sizeof(*f->calls) + f->caller_room / 8;
}
