/* A radix sort of 64-bit keys (Knuth, The Art of Computer Programming 3, section 5.2.5). */
#include "daemon/analysis/tables/key_order.h"

#include <errno.h>
#include <stdlib.h>

#define DIGIT_BITS 11u
#define RADIX (1u << DIGIT_BITS)
#define SHORT 64u /* insertion is quicker for so few */

static struct key_place *key_order_insert(struct key_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct key_place moving = places[i];
        size_t at = i;
        for (; at > 0 && places[at - 1].key > moving.key; at--)
            places[at] = places[at - 1];
        places[at] = moving;
    }
    return places;
}

/* Move the keys to their places by one digit; those with the same one keep their order. */
static void key_order_by_digit(const struct key_place *places, struct key_place *to, size_t count,
                               unsigned shift)
{
    size_t starts[RADIX + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(places[i].key >> shift & (RADIX - 1)) + 1]++;
    for (unsigned r = 0; r < RADIX; r++)
        starts[r + 1] += starts[r];
    for (size_t i = 0; i < count; i++)
        to[starts[places[i].key >> shift & (RADIX - 1)]++] = places[i];
}

struct key_place *key_order(struct key_place *places, struct key_place *spare, size_t count)
{
    uint64_t differences = 0; /* bits that are not the same in all keys */
    size_t sorted = 1;
    while (sorted < count && places[sorted - 1].key <= places[sorted].key)
        sorted++;
    if (sorted >= count)
        return places;
    if (count <= SHORT)
        return key_order_insert(places, count);
    for (size_t i = 1; i < count; i++)
        differences |= places[i].key ^ places[0].key;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differences >> shift & (RADIX - 1)) == 0)
            continue;
        key_order_by_digit(places, spare, count, shift);
        struct key_place *moved = spare;
        spare = places;
        places = moved;
    }
    return places;
}

int key_order_rows(void *rows, size_t size, size_t count, uint64_t (*key_of)(const void *row))
{
    struct key_place *places = malloc((2 * count + 1) * sizeof(*places));
    char *at = rows, *copy = malloc(count * size + 1);
    if (places == NULL || copy == NULL) {
        free(places);
        free(copy);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        places[i] = (struct key_place){key_of(at + i * size), (uint32_t)i};
    const struct key_place *sorted = key_order(places, places + count, count);
    if (count > 0)
        memcpy(copy, rows, count * size);
    for (size_t i = 0; i < count; i++)
        memcpy(at + i * size, copy + sorted[i].place * size, size);
    free(places);
    free(copy);
    return 0;
}
