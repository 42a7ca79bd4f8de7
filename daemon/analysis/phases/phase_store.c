#include "daemon/analysis/phases/phase_store.h"


#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define SLAB ((size_t)PHASE_BLOCK * PHASE_BLOCK)
/* Of those found together, which are few unless somebody made them up. */
#define MOST_LOOKS 8u

void phase_store_finish(struct phase_store *s)
{
    for (uint32_t i = 0; i < s->slab_count; i++)
        free(s->slabs[i]);
    free(s->slabs);
    free(s->places);
    free(s->heads);
    free(s->guesses);
}

/* ---- finding ------------------------------------------------------------------------ */

/* Both halves of the product depend on all bits of its factors. */
static inline uint64_t phase_store_stir(uint64_t sum, const struct phase_row *row)
{
    uint64_t who = (uint64_t)row->edge << 32 | row->messages;
    wide product = (wide)(who ^ sum) * (row->bytes ^ UINT64_C(0xD6E8FEB86659FD93));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_rows(const struct phase_row *rows, uint32_t count)
{
    uint64_t a = count, b = UINT64_C(0x9E3779B97F4A7C15), c = UINT64_C(0xC2B2AE3D27D4EB4F),
             d = UINT64_C(0x165667B19E3779F9);
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) { /* a product takes as long as to begin four */
        a = phase_store_stir(a, &rows[i]);
        b = phase_store_stir(b, &rows[i + 1]);
        c = phase_store_stir(c, &rows[i + 2]);
        d = phase_store_stir(d, &rows[i + 3]);
    }
    for (; i < count; i++)
        a = phase_store_stir(a, &rows[i]);
    const struct phase_row sums[2] = {{(uint32_t)a, (uint32_t)(a >> 32), b},
                                      {(uint32_t)c, (uint32_t)(c >> 32), d}};
    return (uint32_t)(phase_store_stir(phase_store_stir(count, &sums[0]), &sums[1]) >> 32);
}

static uint32_t *phase_store_head_of(const struct phase_store *s, uint32_t hash)
{
    return &s->heads[hash & (s->slab_room * PHASE_BLOCK - 1)]; /* a power of two */
}

static uint32_t *guess_of(const struct phase_store *s, uint32_t first, uint32_t last,
                          uint32_t count)
{
    uint64_t ends = (uint64_t)first << 32 | last;
    uint64_t mixed = (ends + count) * UINT64_C(0x9E3779B97F4A7C15);
    return &s->guesses[mixed >> 32 & (s->slab_room * PHASE_BLOCK - 1)];
}

static void phase_store_list(struct phase_store *s, uint32_t place)
{
    uint32_t *head = phase_store_head_of(s, s->places[place].hash);
    s->places[place].after = *head;
    *head = place;
}

static void phase_store_unlist(struct phase_store *s, uint32_t place)
{
    uint32_t *at = phase_store_head_of(s, s->places[place].hash);
    while (*at != place)
        at = &s->places[*at].after;
    *at = s->places[place].after;
    s->places[place].rows = 0;
}

/* ---- places ------------------------------------------------------------------------- */

static int grow_tables(struct phase_store *s)
{
    uint32_t room = s->slab_room < 4 ? 4 : 2 * s->slab_room;
    size_t places = (size_t)room * PHASE_BLOCK;
    struct phase_row **slabs = realloc(s->slabs, room * sizeof(struct phase_row *));
    if (slabs == NULL)
        return -ENOMEM;
    s->slabs = slabs;
    struct phase_place *of = realloc(s->places, places * sizeof(*of));
    if (of == NULL)
        return -ENOMEM;
    s->places = of;
    uint32_t *heads = malloc(places * sizeof(*heads)), *guesses = malloc(places * sizeof(*guesses));
    if (heads == NULL || guesses == NULL) {
        free(heads);
        free(guesses);
        return -ENOMEM;
    }
    free(s->heads);
    free(s->guesses);
    s->heads = heads;
    s->guesses = guesses;
    s->slab_room = room;
    memset(heads, 0xff, places * sizeof(*heads)); /* PHASE_BLOCK_NONE */
    memset(guesses, 0xff, places * sizeof(*guesses));
    for (uint32_t i = 0; i < s->slab_count * PHASE_BLOCK; i++)
        if (s->places[i].rows > 0)
            phase_store_list(s, i);
    return 0;
}

static void phase_store_release(struct phase_store *s, uint32_t place)
{
    s->places[place] = (struct phase_place){.after = s->free};
    s->free = place;
}

int phase_store_grow(struct phase_store *s)
{
    if (s->slab_count == s->slab_room && grow_tables(s) != 0)
        return -ENOMEM;
    struct phase_row *slab = malloc(SLAB * sizeof(*slab));
    if (slab == NULL)
        return -ENOMEM;
    s->slabs[s->slab_count] = slab;
    for (uint32_t i = PHASE_BLOCK; i-- > 0;)
        phase_store_release(s, s->slab_count * PHASE_BLOCK + i);
    s->slab_count++;
    return 0;
}

size_t phase_store_bytes(const struct phase_store *s)
{
    size_t room = (size_t)s->slab_room * PHASE_BLOCK;
    return s->slab_count * SLAB * sizeof(struct phase_row) + s->slab_room * sizeof(*s->slabs) +
           room * (sizeof(*s->places) + sizeof(*s->heads) + sizeof(*s->guesses));
}

uint32_t phase_store_take(struct phase_store *s)
{
    uint32_t place = s->free;
    s->free = s->places[place].after;
    s->places[place] = (struct phase_place){.users = 1};
    return place;
}

void phase_store_give(struct phase_store *s, uint32_t place)
{
    if (--s->places[place].users > 0)
        return;
    if (s->places[place].rows > 0)
        phase_store_unlist(s, place);
    phase_store_release(s, place);
}

/* ---- sharing ------------------------------------------------------------------------ */

static bool phase_store_has(const struct phase_store *s, uint32_t place,
                            const struct phase_row *rows, uint32_t count)
{
    return s->places[place].rows == count &&
           memcmp(phase_store_rows(s, place), rows, count * sizeof(*rows)) == 0;
}

/* @return the place with the same rows as one that is not shared, or that one, which is found from
 * now on */
static uint32_t phase_store_find(struct phase_store *s, uint32_t place, uint32_t rows)
{
    const struct phase_row *own = phase_store_rows(s, place);
    uint32_t *guess = guess_of(s, own[0].edge, own[rows - 1].edge, rows), looks = 0;
    if (*guess != PHASE_BLOCK_NONE && phase_store_has(s, *guess, own, rows))
        return *guess;
    uint32_t hash = hash_rows(own, rows);
    for (uint32_t at = *phase_store_head_of(s, hash); at != PHASE_BLOCK_NONE;
         at = s->places[at].after) {
        if (s->places[at].hash == hash && phase_store_has(s, at, own, rows))
            return *guess = at;
        if (++looks == MOST_LOOKS)
            return place; /* its rows are nobody else's */
    }
    s->places[place].hash = hash;
    s->places[place].rows = rows;
    s->places[place].number = ++s->numbers;
    phase_store_list(s, place);
    return *guess = place;
}

uint32_t phase_store_share(struct phase_store *s, uint32_t place, uint32_t rows)
{
    if (!phase_store_is_open(s, place))
        return place;
    uint32_t found = phase_store_find(s, place, rows);
    if (found != place) {
        s->places[found].users++;
        phase_store_give(s, place);
    }
    return found;
}

uint32_t phase_store_own(struct phase_store *s, uint32_t place, uint32_t rows)
{
    if (s->places[place].users == 1) {
        if (s->places[place].rows > 0)
            phase_store_unlist(s, place);
        return place;
    }
    uint32_t copy = phase_store_take(s);
    memcpy(phase_store_rows(s, copy), phase_store_rows(s, place), rows * sizeof(struct phase_row));
    s->places[place].users--;
    return copy;
}
