#include "agent/window_message.h"

#include "holter/error.h"

#include <stdlib.h>

#define OTHERS (-1)

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* A total order, so that what is kept does not depend on the order of the rows. */
static int by_size(const void *left, const void *right)
{
    const struct wire_pair_row *a = left, *b = right;
    int order = (b->destination != OTHERS) - (a->destination != OTHERS);
    order = order ? order : compare(b->bytes, a->bytes);
    order = order ? order : compare(b->messages, a->messages);
    order = order ? order : compare(a->source, b->source);
    order = order ? order : compare((uint64_t)a->destination, (uint64_t)b->destination);
    order = order ? order : compare(a->comm, b->comm);
    order = order ? order : compare(a->region, b->region);
    return order ? order : compare(a->size_class, b->size_class);
}

static int by_source_and_class(const void *left, const void *right)
{
    const struct wire_pair_row *a = left, *b = right;
    int order = compare(a->source, b->source);
    return order ? order : compare(a->size_class, b->size_class);
}

uint64_t window_message_fold(struct wire_pair_row *pairs, uint64_t count, uint64_t keep, int sizes)
{
    if (keep >= count)
        return count;
    qsort(pairs, count, sizeof *pairs, by_size);
    while (keep > 0 && pairs[keep - 1].destination == OTHERS)
        keep--;
    qsort(pairs + keep, count - keep, sizeof *pairs, by_source_and_class);
    uint64_t kept = keep;
    for (uint64_t i = keep; i < count; i++) {
        struct wire_pair_row row = pairs[i];
        row.destination = OTHERS;
        row.comm = row.region = 0;
        struct wire_pair_row *last = kept > keep ? &pairs[kept - 1] : NULL;
        if (last != NULL && last->source == row.source &&
            (sizes || last->size_class == row.size_class)) {
            last->messages += row.messages;
            last->bytes += row.bytes;
            last->size_class = row.size_class; /* ascending: the largest so far */
        } else {
            pairs[kept++] = row;
        }
    }
    return kept;
}

static void set_rows(struct wire_window *window, const struct window_rows *rows)
{
    window->comms = rows->comms;
    window->comms_count = rows->comms_count;
    window->regions = rows->regions;
    window->regions_count = rows->regions_count;
    window->ranks = rows->ranks;
    window->ranks_count = rows->ranks_count;
    window->pairs = rows->pairs;
    window->pairs_count = rows->pairs_count;
    window->calls = rows->calls;
    window->calls_count = rows->calls_count;
}

static int encoded_length(struct wire_buffer *buffer, const struct wire_window *window, size_t *out)
{
    int rc = wire_encode(buffer, WIRE_TYPE_WINDOW, window);
    *out = buffer->length;
    return rc;
}

/* Leave out pairs until the window fits its budget, or none is left. A window that no message could
 * hold
 * (-HOLTER_ELIMIT) counts as too long. */
static int fit_budget(struct wire_buffer *buffer, struct wire_window *window,
                      struct window_rows *rows, size_t budget)
{
    size_t whole, without;
    int rc = encoded_length(buffer, window, &whole);
    if ((rc == 0 && whole <= budget) || rows->pairs_count == 0 || (rc != 0 && rc != -HOLTER_ELIMIT))
        return rc == -HOLTER_ELIMIT ? 0 : rc;
    uint64_t keep = rows->pairs_count;
    window->pairs_count = 0;
    rc = encoded_length(buffer, window, &without);
    if (rc != 0 && rc != -HOLTER_ELIMIT)
        return rc;
    if (budget > without && whole > without)
        keep = (uint64_t)((double)keep * (double)(budget - without) / (double)(whole - without));
    else
        keep = 0;
    window->degraded |= DEGRADED_PAIRS;
    for (;;) {
        int sizes = keep == 0;
        rows->pairs_count = window->pairs_count =
            window_message_fold(rows->pairs, rows->pairs_count, keep, sizes);
        window->degraded |= sizes ? DEGRADED_SIZES : 0;
        rc = encoded_length(buffer, window, &whole);
        if (sizes || rc != 0 || whole <= budget)
            return rc == -HOLTER_ELIMIT ? 0 : rc;
        keep = keep < 16 ? 0 : keep * 3 / 4;
    }
}

struct emission {
    struct wire_buffer buffer;
    const struct window_limits *limits;
    uint64_t *next_seq;
    window_emit *emit;
    void *user;
    int count;
};

static int emit_parts(struct emission *to, struct wire_window part, uint64_t flags_at_end);

/* Both halves of each list of rows, one after the other. What is said once goes with the first. */
static int emit_halves(struct emission *to, const struct wire_window *whole, uint64_t flags_at_end)
{
    struct wire_window first = *whole, second = *whole;
    first.ranks_count /= 2;
    first.pairs_count /= 2;
    first.calls_count /= 2;
    second.ranks += first.ranks_count;
    second.ranks_count -= first.ranks_count;
    second.pairs += first.pairs_count;
    second.pairs_count -= first.pairs_count;
    second.calls += first.calls_count;
    second.calls_count -= first.calls_count;
    second.deaths_count = second.node_count = 0;
    int rc = emit_parts(to, first, 0);
    return rc < 0 ? rc : emit_parts(to, second, flags_at_end);
}

static int emit_parts(struct emission *to, struct wire_window part, uint64_t flags_at_end)
{
    struct wire_window whole = part;
    part.flags |= flags_at_end;
    part.seq = *to->next_seq;
    int rc = wire_encode(&to->buffer, WIRE_TYPE_WINDOW, &part);
    int divisible = part.ranks_count > 1 || part.pairs_count > 1 || part.calls_count > 1;
    if ((rc == -HOLTER_ELIMIT || (rc == 0 && to->buffer.length > to->limits->longest)) && divisible)
        return emit_halves(to, &whole, flags_at_end);
    if (rc != 0)
        return rc;
    rc = to->emit(to->user, part.seq, to->buffer.bytes, to->buffer.length);
    if (rc < 0)
        return rc;
    ++*to->next_seq;
    to->count++;
    return 0;
}

int window_message_encode(struct wire_window *window, struct window_rows *rows,
                          const struct window_limits *limits, uint64_t *next_seq, window_emit *emit,
                          void *user)
{
    struct emission to = {.limits = limits, .next_seq = next_seq, .emit = emit, .user = user};
    set_rows(window, rows);
    window->degraded |= rows->folded ? DEGRADED_PAIRS : 0;
    int rc = fit_budget(&to.buffer, window, rows, limits->budget);
    if (rc == 0) {
        struct wire_window part = *window;
        uint64_t final = part.flags & WINDOW_FINAL; /* nothing follows: only on the last part */
        part.flags &= ~(uint64_t)WINDOW_FINAL;
        rc = emit_parts(&to, part, final);
    }
    wire_buffer_finish(&to.buffer);
    return rc < 0 ? rc : to.count;
}
