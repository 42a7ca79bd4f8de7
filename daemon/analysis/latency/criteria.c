/* Windows of messages, and the past that the reference criteria are made of: see criteria.h. */
#include "daemon/analysis/latency/criteria_state.h"
#include "daemon/analysis/latency/time_counts.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Weight of a window's median at the origin, and the half-lives after which the origin is moved:
 * weights keep at least 20 bits, and their sums fit in 64. */
#define WEIGHT_ONE (1u << 20)
#define WEIGHT_HALVINGS 16.0

#define NO_WINDOW UINT64_MAX
#define LOW 0.1 /* quantiles that are listed beside the median: this one, and as far from above */

/* What a window added to the horizons is kept as one number, an entry, for each class of times:
 * locality, size class and time class in the upper bits, messages in the lower ones. */
#define TIME_BITS 12u
#define SIZE_BITS 10u
#define MESSAGES_BITS 41u
#define MAXIMUM_MESSAGES ((UINT64_C(1) << MESSAGES_BITS) - 1) /* of a cell in a window */
_Static_assert(TIME_CLASSES <= 1u << TIME_BITS && SIZE_CLASSES <= 1u << SIZE_BITS &&
                   MESSAGES_BITS + TIME_BITS + SIZE_BITS + 1 <= 64,
               "an entry fits its bits");

/* Bytes in the middle of a class. */
static double criteria_class_middle(unsigned size_class)
{
    double floor = (double)size_class_floor((uint16_t)size_class);
    double next = size_class + 1 < SIZE_CLASSES
                      ? (double)size_class_floor((uint16_t)(size_class + 1))
                      : 2 * floor;
    return (floor + next - 1) / 2;
}

int criteria_create(struct criteria **out, const struct criteria_params *params)
{
    if (params->horizon < 1 || params->horizon > 65536 || params->minimum_messages < 1 ||
        !(params->reference_quantile > 0 && params->reference_quantile <= 0.5) ||
        !(params->half_life >= 1 && params->half_life <= CRITERIA_MAXIMUM_HALF_LIFE))
        return -HOLTER_ERANGE;
    struct criteria *criteria = calloc(1, sizeof(*criteria));
    struct slot *ring = calloc(params->horizon, sizeof(*ring));
    if (criteria == NULL || ring == NULL) {
        free(criteria);
        free(ring);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < params->horizon; i++)
        ring[i].window = NO_WINDOW;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
        criteria->used[l].few = 1; /* so that criteria are made with the first window */
    criteria->params = *params;
    criteria->ring = ring;
    criteria->newest = NO_WINDOW;
    for (unsigned s = 0; s < SIZE_CLASSES; s++) {
        criteria->sizes[s] = criteria_class_middle(s);
        for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
            criteria->recent[l][s] = criteria->reference[l][s] = NAN;
    }
    *out = criteria;
    return 0;
}

void criteria_destroy(struct criteria *criteria)
{
    if (criteria == NULL)
        return;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++) {
        for (unsigned s = 0; s < SIZE_CLASSES; s++) {
            struct cell *cell = criteria->cells[l][s];
            if (cell == NULL)
                continue;
            histogram_finish(&cell->progress);
            histogram_finish(&cell->horizon);
            histogram_finish(&cell->pool);
            histogram_finish(&cell->history);
            free(cell);
        }
    }
    for (uint32_t i = 0; i < criteria->params.horizon; i++)
        free(criteria->ring[i].entries);
    free(criteria->ring);
    free(criteria);
}

/* The cell of a class, made where there is none. @return NULL: no memory */
static struct cell *criteria_cell(struct criteria *criteria, unsigned locality, unsigned size_class)
{
    struct cell **cell = &criteria->cells[locality][size_class];
    if (*cell != NULL)
        return *cell;
    *cell = calloc(1, sizeof(**cell));
    if (*cell == NULL)
        return NULL;
    (*cell)->latest = (*cell)->fresh = (*cell)->own_recent = (*cell)->own_reference = NAN;
    struct used *used = &criteria->used[locality];
    used->of[used->count++] = (uint16_t)size_class;
    return *cell;
}

int criteria_add(struct criteria *criteria, unsigned locality, unsigned size_class,
                 uint32_t time_class, uint64_t messages)
{
    if (locality >= CRITERIA_LOCALITIES || size_class >= SIZE_CLASSES || time_class >= TIME_CLASSES)
        return -HOLTER_ERANGE;
    if (messages == 0)
        return 0;
    struct cell *cell = criteria_cell(criteria, locality, size_class);
    if (cell == NULL)
        return -ENOMEM;
    /* The limit keeps sums over horizons and pools below 2^64 whatever an agent sends: at most so
     * many are counted, and the error reports that there were more. */
    uint64_t capacity = MAXIMUM_MESSAGES - cell->progress.messages;
    int code =
        histogram_add(&cell->progress, time_class, messages < capacity ? messages : capacity);
    return code == 0 && messages > capacity ? -HOLTER_ERANGE : code;
}

/* Move the messages of a class into its cell. */
static int criteria_ingest_cell(struct criteria *criteria, unsigned locality, unsigned size_class,
                                struct histogram *times)
{
    int code = 0;
    for (uint32_t c = histogram_next(times, 0); c < TIME_CLASSES;
         c = histogram_next(times, c + 1)) {
        int failed = criteria_add(criteria, locality, size_class, c, histogram_count(times, c));
        code = code == 0 ? failed : code;
    }
    histogram_finish(times);
    return code;
}

int criteria_count_times(struct criteria *criteria, struct time_counts *times)
{
    int code = 0;
    for (size_t i = 0; times->cells != NULL && i < times->cells->count; i++) {
        unsigned class_ = times->cells->used[i];
        struct histogram *cell = times->cells->of[class_];
        if (cell->messages == 0)
            continue;
        int failed = criteria_ingest_cell(criteria, class_ % LOCALITIES, class_ / LOCALITIES, cell);
        code = code == 0 ? failed : code;
    }
    return code;
}

/* ---- the ring ------------------------------------------------------------ */

static void criteria_expire_slot(struct criteria *criteria, struct slot *slot)
{
    for (size_t i = 0; i < slot->count; i++) {
        uint32_t place = (uint32_t)(slot->entries[i] >> MESSAGES_BITS);
        uint32_t size_class = place >> TIME_BITS & ((1u << SIZE_BITS) - 1);
        uint32_t locality = place >> (TIME_BITS + SIZE_BITS);
        (void)histogram_remove(&criteria->cells[locality][size_class]->horizon,
                               place & ((1u << TIME_BITS) - 1),
                               slot->entries[i] & MAXIMUM_MESSAGES);
    }
    free(slot->entries);
    *slot = (struct slot){.window = NO_WINDOW};
}

/* Empty all slots whose windows have left the horizon that ends with this window. */
static void criteria_expire_slots(struct criteria *criteria, uint64_t window)
{
    for (uint32_t i = 0; i < criteria->params.horizon; i++) {
        struct slot *slot = &criteria->ring[i];
        if (slot->window != NO_WINDOW && window - slot->window >= criteria->params.horizon)
            criteria_expire_slot(criteria, slot);
    }
}

/* Class that stands for 2^bits neighbouring classes. */
static uint32_t criteria_coarse_class(uint32_t time_class, unsigned bits)
{
    uint32_t middle = (time_class >> bits << bits) + (1u << bits >> 1);
    return middle < TIME_CLASSES ? middle : TIME_CLASSES - 1;
}

/* Entries that a histogram takes when 2^bits classes of times are put together. */
static size_t criteria_histogram_entries(const struct histogram *histogram, unsigned bits)
{
    size_t entries = 0;
    uint32_t before = TIME_CLASSES;
    for (uint32_t c = histogram_next(histogram, 0); c < TIME_CLASSES;
         c = histogram_next(histogram, c + 1)) {
        entries += criteria_coarse_class(c, bits) != before;
        before = criteria_coarse_class(c, bits);
    }
    return entries;
}

/* Entries that the window in progress takes when 2^bits classes of times are put together. */
static size_t criteria_count_entries(const struct criteria *criteria, unsigned bits)
{
    size_t entries = 0;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
        for (unsigned i = 0; i < criteria->used[l].count; i++)
            entries += criteria_histogram_entries(
                &criteria->cells[l][criteria->used[l].of[i]]->progress, bits);
    return entries;
}

static int criteria_coarsen_histogram(struct histogram *histogram, unsigned bits)
{
    struct histogram result = {0};
    for (uint32_t c = histogram_next(histogram, 0); c < TIME_CLASSES;
         c = histogram_next(histogram, c + 1)) {
        int code =
            histogram_add(&result, criteria_coarse_class(c, bits), histogram_count(histogram, c));
        if (code != 0) {
            histogram_finish(&result);
            return code;
        }
    }
    histogram_finish(histogram);
    *histogram = result;
    return 0;
}

/* Move a cell's window in progress into its horizon and pool, and into the slot, which has space
 * for it. */
static int criteria_close_cell(struct cell *cell, uint64_t place, struct slot *slot, unsigned bits)
{
    int code = bits > 0 ? criteria_coarsen_histogram(&cell->progress, bits) : 0;
    if (code == 0)
        code = histogram_merge(&cell->horizon, &cell->progress);
    if (code != 0)
        return code;
    for (uint32_t c = histogram_next(&cell->progress, 0); c < TIME_CLASSES;
         c = histogram_next(&cell->progress, c + 1))
        slot->entries[slot->count++] =
            (place | c) << MESSAGES_BITS | histogram_count(&cell->progress, c);
    cell->closed = 1;
    cell->pooled++;
    return histogram_merge(&cell->pool, &cell->progress);
}

/* Move the window in progress of all cells into horizons, ring and pools. */
static int criteria_close_cells(struct criteria *criteria, uint64_t window)
{
    unsigned bits = 0;
    size_t capacity = criteria_count_entries(criteria, 0);
    while (capacity > CRITERIA_ENTRIES)
        capacity = criteria_count_entries(criteria, ++bits); /* six bits leave fewer than that */
    struct slot *slot = &criteria->ring[window % criteria->params.horizon];
    slot->entries = capacity > 0 ? malloc(capacity * sizeof(*slot->entries)) : NULL;
    int code = capacity > 0 && slot->entries == NULL ? -ENOMEM : 0;
    slot->window = window;
    for (uint64_t l = 0; l < CRITERIA_LOCALITIES; l++) {
        for (unsigned i = 0; i < criteria->used[l].count; i++) {
            const uint64_t s = criteria->used[l].of[i];
            struct cell *cell = criteria->cells[l][s];
            cell->window_messages = cell->progress.messages;
            cell->window_ns = histogram_quantile(&cell->progress, 0.5);
            if (cell->progress.messages == 0)
                continue;
            if (slot->entries != NULL) {
                int failed =
                    criteria_close_cell(cell, (l << SIZE_BITS | s) << TIME_BITS, slot, bits);
                code = code == 0 ? failed : code;
            }
            histogram_finish(&cell->progress);
        }
    }
    return code;
}

/* ---- the reference ------------------------------------------------------- */

/* Weight of a median of this window. Moves the origin when weights become too large. */
static uint64_t criteria_median_weight(struct criteria *criteria, uint64_t window)
{
    double halvings = (double)(window - criteria->origin) / criteria->params.half_life;
    if (halvings >= WEIGHT_HALVINGS) {
        unsigned bits = halvings < 63 ? (unsigned)halvings : 63;
        for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
            for (unsigned s = 0; s < SIZE_CLASSES; s++)
                if (criteria->cells[l][s] != NULL)
                    histogram_shift(&criteria->cells[l][s]->history, bits);
        uint64_t moved = (uint64_t)((double)bits * criteria->params.half_life);
        criteria->origin = halvings < 63 ? criteria->origin + moved : window;
        halvings = (double)(window - criteria->origin) / criteria->params.half_life;
    }
    return (uint64_t)(exp2(halvings) * WEIGHT_ONE);
}

/* The cell nearest by number of the class that had a median before this window; of two the one of
 * smaller messages. */
static const struct cell *criteria_nearest_cell(const struct criteria *criteria, unsigned locality,
                                                unsigned s)
{
    for (unsigned d = 1; d < SIZE_CLASSES; d++) {
        const struct cell *below = d <= s ? criteria->cells[locality][s - d] : NULL;
        const struct cell *above = s + d < SIZE_CLASSES ? criteria->cells[locality][s + d] : NULL;
        if (below != NULL && !isnan(below->latest))
            return below;
        if (above != NULL && !isnan(above->latest))
            return above;
    }
    return NULL;
}

static uint32_t criteria_class_of_ns(double ns)
{
    return ns < 1        ? time_class_of(1)
           : ns < 0x1p62 ? time_class_of((uint64_t)(ns + 0.5))
                         : TIME_CLASSES - 1;
}

/* Give a class that appears late the past of its neighbour, scaled to its first median. */
static int criteria_inherit_history(struct cell *cell, const struct cell *from)
{
    double scale = cell->fresh / fmax(from->latest, 1);
    const struct histogram *past = &from->history;
    for (uint32_t c = histogram_next(past, 0); c < TIME_CLASSES; c = histogram_next(past, c + 1)) {
        int code = histogram_add(&cell->history, criteria_class_of_ns(time_class_middle(c) * scale),
                                 histogram_count(past, c));
        if (code != 0)
            return code;
    }
    return 0;
}

/* Add the medians of pools that have enough messages to the histories. New classes first inherit
 * their neighbours' pasts, which must not have this window yet. */
static int criteria_close_references(struct criteria *criteria, uint64_t window)
{
    int code = 0;
    uint64_t weight = criteria_median_weight(criteria, window);
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++) {
        const struct used *used = &criteria->used[l];
        for (unsigned i = 0; i < used->count; i++) {
            struct cell *cell = criteria->cells[l][used->of[i]];
            cell->fresh = NAN;
            if (cell->pool.messages < criteria->params.minimum_messages)
                continue;
            cell->fresh = histogram_quantile(&cell->pool, 0.5);
            cell->fresh_windows = cell->pooled;
            cell->pooled = 0;
            histogram_finish(&cell->pool);
            const struct cell *neighbour =
                isnan(cell->latest) ? criteria_nearest_cell(criteria, l, used->of[i]) : NULL;
            int failed = neighbour != NULL ? criteria_inherit_history(cell, neighbour) : 0;
            code = code == 0 ? failed : code;
        }
        for (unsigned i = 0; i < used->count; i++) {
            struct cell *cell = criteria->cells[l][used->of[i]];
            if (isnan(cell->fresh))
                continue;
            int failed = histogram_add(&cell->history, criteria_class_of_ns(cell->fresh),
                                       weight * cell->fresh_windows);
            code = code == 0 ? failed : code;
            cell->latest = cell->fresh;
        }
    }
    return code;
}

int criteria_close(struct criteria *criteria, uint64_t window)
{
    if (window == NO_WINDOW || (criteria->newest != NO_WINDOW && window <= criteria->newest))
        return -HOLTER_ERANGE;
    if (criteria->newest == NO_WINDOW)
        criteria->origin = window;
    criteria->newest = window;
    criteria_expire_slots(criteria, window);
    int code = criteria_close_cells(criteria, window);
    int failed = criteria_close_references(criteria, window);
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
        criteria_find(criteria, l);
    return code == 0 ? failed : code;
}

/* ---- results ------------------------------------------------------------- */

int criteria_changed(const struct criteria *criteria, unsigned locality)
{
    return locality < CRITERIA_LOCALITIES && criteria->used[locality].changed;
}

double criteria_recent(const struct criteria *criteria, unsigned locality, unsigned size_class)
{
    if (locality >= CRITERIA_LOCALITIES || size_class >= SIZE_CLASSES)
        return NAN;
    return criteria->recent[locality][size_class];
}

double criteria_reference(const struct criteria *criteria, unsigned locality, unsigned size_class)
{
    if (locality >= CRITERIA_LOCALITIES || size_class >= SIZE_CLASSES)
        return NAN;
    return criteria->reference[locality][size_class];
}

size_t criteria_count(const struct criteria *criteria)
{
    size_t count = 0;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
        for (unsigned s = 0; s < SIZE_CLASSES; s++)
            count += criteria->cells[l][s] != NULL && criteria->cells[l][s]->closed;
    return count;
}

/* Whole nanoseconds; 0 for none, and for numbers that are none. */
static uint64_t criteria_round_ns(double ns)
{
    return ns >= 0 && ns < 1e18 ? (uint64_t)(ns + 0.5) : 0;
}

size_t criteria_list(const struct criteria *criteria, struct wire_criterion_row *out,
                     size_t capacity)
{
    size_t count = 0;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++) {
        for (unsigned s = 0; s < SIZE_CLASSES && count < capacity; s++) {
            const struct cell *cell = criteria->cells[l][s];
            if (cell == NULL || !cell->closed)
                continue;
            out[count++] = (struct wire_criterion_row){
                .locality = l,
                .size_class = s,
                .recent_ns = criteria_round_ns(criteria->recent[l][s]),
                .reference_ns = criteria_round_ns(criteria->reference[l][s]),
                .messages = cell->horizon.messages,
                .low_ns = criteria_round_ns(histogram_quantile(&cell->horizon, LOW)),
                .high_ns = criteria_round_ns(histogram_quantile(&cell->horizon, 1 - LOW)),
                .window_ns = criteria_round_ns(cell->window_ns),
                .window_messages = cell->window_messages,
            };
        }
    }
    return count;
}

/* ---- state ----------------------------------------------------------------- */

static void criteria_copy_cell(struct state_bytes *b, struct cell **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    histogram_copy_state(b, &(*out)->progress);
    histogram_copy_state(b, &(*out)->horizon);
    histogram_copy_state(b, &(*out)->pool);
    histogram_copy_state(b, &(*out)->history);
}

void criteria_copy_state(struct state_bytes *b, struct criteria **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct criteria *criteria = *out;
    for (unsigned l = 0; l < CRITERIA_LOCALITIES; l++)
        for (unsigned s = 0; s < SIZE_CLASSES; s++)
            criteria_copy_cell(b, &criteria->cells[l][s]);
    STATE_ARRAY(b, criteria->ring, criteria->params.horizon, 0);
    if (criteria->ring == NULL)
        criteria->params.horizon = 0;
    for (uint32_t i = 0; i < criteria->params.horizon; i++)
        STATE_ARRAY(b, criteria->ring[i].entries, criteria->ring[i].count, 0);
}
