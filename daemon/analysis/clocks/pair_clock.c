/* The interval in which the clocks of two nodes may be apart, narrowed by the messages between
 * them. */
#include "daemon/analysis/clocks/pair_clock.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>

void pair_clocks_init(struct pair_clocks *clocks, uint32_t maximum)
{
    *clocks = (struct pair_clocks){.maximum = maximum};
}

void pair_clocks_finish(struct pair_clocks *clocks)
{
    key_table_finish(&clocks->keys);
    free(clocks->pairs);
    free(clocks->noted);
    pair_clocks_init(clocks, clocks->maximum);
}

static uint32_t pair_clock_find(struct pair_clocks *clocks, struct key key)
{
    uint32_t known = clocks->keys.count;
    uint32_t number =
        KEY_TABLE_EXTEND(&clocks->keys, key, clocks->maximum, clocks->pairs, clocks->capacity);
    if (number == known)
        clocks->pairs[number] = (struct pair_clock){
            .minimum = {INT64_MAX, INT64_MAX},
            .now = {INT64_MAX, INT64_MAX},
        };
    return number;
}

uint32_t pair_clocks_note(struct pair_clocks *clocks, uint32_t from, uint32_t to,
                          int64_t difference_ns, uint64_t error_ns, uint64_t at_ns)
{
    uint32_t low = from > to ? to : from, high = from > to ? from : to;
    if (clocks->noted_count == 0 && clocks->keys.count >= clocks->maximum) {
        uint32_t maximum = clocks->maximum;
        pair_clocks_finish(clocks);
        pair_clocks_init(clocks, maximum);
    }
    uint32_t number = pair_clock_find(clocks, (struct key){.hi = (uint64_t)low << 32 | high});
    if (number == KEY_NONE ||
        ARRAY_FIT(clocks->noted, clocks->noted_capacity, clocks->keys.count) != 0)
        return KEY_NONE;
    struct pair_clock *pair = &clocks->pairs[number];
    if (pair->now[0] == INT64_MAX && pair->now[1] == INT64_MAX) {
        clocks->noted[clocks->noted_count++] = number;
        pair->now_ns = pair->error_ns = 0;
    }
    if (error_ns > pair->error_ns)
        pair->error_ns = error_ns;
    if (at_ns > pair->now_ns)
        pair->now_ns = at_ns;
    if (difference_ns < pair->now[from > to])
        pair->now[from > to] = difference_ns;
    return number;
}

/* What was least in earlier turns may be so much more by now. */
static int64_t pair_clock_widen_bound(const struct pair_clock *pair, int64_t minimum)
{
    uint64_t age = pair->now_ns > pair->at_ns ? pair->now_ns - pair->at_ns : 0;
    double error = (double)pair->error_ns, last = (double)pair->last_error_ns;
    double larger = error > last ? error : last,
           change = error > last ? error - last : last - error;
    double wider = 2 * PAIR_CLOCK_RATE * (double)age + PAIR_CLOCK_STEP * larger + change + 1;
    if (minimum == INT64_MAX || wider > 1e18 || minimum > INT64_MAX / 4)
        return INT64_MAX;
    return minimum + (int64_t)wider;
}

static void pair_clock_update_offset(struct pair_clock *pair)
{
    for (int way = 0; way < 2; way++) {
        int64_t old = pair_clock_widen_bound(pair, pair->minimum[way]);
        pair->minimum[way] = old < pair->now[way] ? old : pair->now[way];
        pair->now[way] = INT64_MAX;
    }
    pair->at_ns = pair->now_ns;
    pair->last_error_ns = pair->error_ns;
    pair->offset_ns = 0;
    pair->remain_ns = pair->error_ns;
    const int one_way = pair->minimum[0] == INT64_MAX || pair->minimum[1] == INT64_MAX;
    const int64_t error = pair->error_ns > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)pair->error_ns;
    const int64_t high = pair->minimum[0] < error ? pair->minimum[0] : error;
    const int64_t low = -(pair->minimum[1] < error ? pair->minimum[1] : error);
    if (low > high) { /* the bounds exclude each other: discard those derived from messages */
        pair->minimum[0] = pair->minimum[1] = INT64_MAX;
        return;
    }
    pair->offset_ns = !one_way ? low + (high - low) / 2 : low > 0 ? low : high < 0 ? high : 0;
    const int64_t above = high - pair->offset_ns, below = pair->offset_ns - low;
    pair->remain_ns = (uint64_t)(above > below ? above : below);
}

void pair_clocks_update(struct pair_clocks *clocks)
{
    for (uint32_t i = 0; i < clocks->noted_count; i++)
        pair_clock_update_offset(&clocks->pairs[clocks->noted[i]]);
    clocks->noted_count = 0;
}

void pair_clocks_copy_state(struct state_bytes *b, struct pair_clocks *clocks)
{
    STATE_VALUE(b, *clocks);
    key_table_copy_state(b, &clocks->keys);
    STATE_ARRAY(b, clocks->pairs, clocks->keys.count, clocks->capacity);
    STATE_ARRAY(b, clocks->noted, clocks->noted_count, clocks->noted_capacity);
}
