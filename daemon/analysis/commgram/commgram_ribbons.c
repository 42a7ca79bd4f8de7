/* Ribbons of the CommGram: what communities send to each other. */
#include "daemon/analysis/commgram/commgram_ribbons.h"

#include "daemon/analysis/tables/key_order.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>

/* Sort key of a row: octaves of the mean size count from 1, 0 is for empty messages. */
static uint64_t commgram_ribbons_kind_of(const struct wire_ribbon_row *r)
{
    uint64_t mean = r->bytes / r->messages;
    unsigned octave = mean == 0 ? 0 : 64u - (unsigned)__builtin_clzll(mean);
    return (uint64_t)r->modelled << 8 | octave;
}

static uint64_t ends_of(const struct wire_ribbon_row *r)
{
    return (uint64_t)r->from << 32 | r->to;
}

/* Sorts indices of the rows. @return owned; *sorted points into it; NULL: no memory */
static struct key_place *order_rows(const struct wire_ribbon_row *rows, size_t count,
                                    struct key_place **sorted)
{
    struct key_place *places = malloc((2 * count + 1) * sizeof(*places));
    if (places == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct key_place){commgram_ribbons_kind_of(&rows[i]), (uint32_t)i};
    struct key_place *first = key_order(places, places + count, count);
    for (size_t i = 0; i < count; i++)
        first[i].key = ends_of(&rows[first[i].place]);
    *sorted = key_order(first, first == places ? places + count : places, count);
    return places;
}

int commgram_ribbons_join(struct wire_ribbon_row *rows, size_t *count)
{
    struct key_place *sorted, *places = order_rows(rows, *count, &sorted);
    struct wire_ribbon_row *joined = malloc((*count + 1) * sizeof(*joined));
    size_t n = 0;
    if (places == NULL || joined == NULL) {
        free(places);
        free(joined);
        return -ENOMEM;
    }
    for (size_t i = 0; i < *count;) {
        const struct wire_ribbon_row *first = &rows[sorted[i].place];
        uint64_t ends = ends_of(first), kind = commgram_ribbons_kind_of(first);
        struct wire_ribbon_row one = *first;
        for (i++; i < *count; i++) {
            const struct wire_ribbon_row *r = &rows[sorted[i].place];
            if (ends_of(r) != ends || commgram_ribbons_kind_of(r) != kind)
                break;
            one.messages = saturated_sum(one.messages, r->messages);
            one.bytes = saturated_sum(one.bytes, r->bytes);
        }
        one.size_class = size_class_of(one.bytes / one.messages);
        joined[n++] = one;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = joined[i];
    *count = n;
    free(places);
    free(joined);
    return 0;
}

int commgram_ribbons_limit(struct wire_ribbon_row *rows, size_t *count, size_t maximum,
                           struct wire_ribbon_row *rest)
{
    if (*count <= maximum)
        return 0;
    struct key_place *places = malloc(2 * *count * sizeof(*places));
    if (places == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < *count; i++)
        places[i] =
            (struct key_place){~saturated_sum(rows[i].bytes, rows[i].messages), (uint32_t)i};
    struct key_place *sorted = key_order(places, places + *count, *count);
    for (size_t i = maximum; i < *count; i++) {
        struct wire_ribbon_row *r = &rows[sorted[i].place];
        rest->messages = saturated_sum(rest->messages, r->messages);
        rest->bytes = saturated_sum(rest->bytes, r->bytes);
        r->messages = 0;
    }
    size_t n = 0;
    for (size_t i = 0; i < *count; i++)
        if (rows[i].messages > 0)
            rows[n++] = rows[i];
    *count = n;
    free(places);
    return 0;
}
