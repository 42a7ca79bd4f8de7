/* Copies the newest records of a rank out of its rings, merged over its threads. */
#include "agent/node/rank_capture.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 4 /* attempts to read a call in progress while its thread goes on */

void rank_capture_finish(struct rank_capture *capture)
{
    free(capture->list);
    free(capture->merged);
    free(capture->batch);
    free(capture->lapped);
    *capture = (struct rank_capture){0};
}

static int rank_capture_reserve(struct rank_capture *c, size_t maximum, uint32_t rings)
{
    if (ARRAY_FIT_ZERO(c->lapped, c->ring_capacity, rings) != 0)
        return -ENOMEM;
    if (maximum <= c->capacity)
        return 0;
    if (ARRAY_RESIZE(c->list, maximum) != 0 || ARRAY_RESIZE(c->merged, maximum) != 0 ||
        ARRAY_RESIZE(c->batch, 2 * maximum) != 0)
        return -ENOMEM;
    c->capacity = maximum;
    return 0;
}

/* Index of the first record of a ring that is later than a time. */
static uint64_t rank_capture_find_end(const struct ring_reader *reader,
                                      const struct tick_clock *clock, uint64_t until_ns)
{
    uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
    uint64_t first = head < reader->capacity ? 0 : head - reader->capacity;
    struct event event;
    return BISECT(i, first, head,
                  ring_capture_before(reader, i + 1, &event, 1) == 0 ||
                      (tick_clock_ns(clock, event.t_enter) <= until_ns &&
                       tick_clock_ns(clock, event.t_exit) <= until_ns));
}

/* Reads the published records of a ring and, if it follows them without a gap, the call in
 * progress. When the thread goes on between the two reads, the ring is read again.
 * @param end  index of the first record that is not to be read, nor the call in progress;
 *             UINT64_MAX: none
 * @return how many; *running: the last is in progress */
static size_t rank_capture_read_ring(const struct ring_reader *reader, uint64_t end,
                                     struct event *out, size_t maximum, int *running,
                                     uint64_t *lapped)
{
    size_t count = 0;
    struct event now;
    *running = 0;
    for (int look = 0; look < LOOKS; look++) {
        uint64_t head = atomic_load_explicit(&reader->control->head, memory_order_acquire);
        uint64_t oldest = head < reader->capacity - 1 ? 0 : head - (reader->capacity - 1);
        uint64_t last = head < end ? head : end, wanted = last > oldest ? last - oldest : 0;
        wanted = wanted < maximum ? wanted : maximum;
        count = ring_capture_before(reader, end, out, maximum);
        *lapped = wanted > count ? wanted - count : 0;
        if (end != UINT64_MAX || ring_peek(reader, &now) != 0)
            return count;
        if (now.seq == (count > 0 ? out[count - 1].seq + 1 : head)) {
            size_t from = count == maximum ? 1 : 0;
            memmove(out, out + from, (count - from) * sizeof *out);
            out[count - from] = now;
            *running = 1;
            return count - from + 1;
        }
    }
    return count;
}

/* Calls while recording was paused, and their parts, are in the ring for the matcher alone.
 * @return how many are left */
static size_t rank_capture_drop_paused(struct event *events, size_t count)
{
    size_t kept = 0;
    int paused = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != EVENT_PART)
            paused = (events[i].flags & EVENT_PAUSED) != 0;
        if (!paused && !(events[i].flags & EVENT_PAUSED))
            events[kept++] = events[i];
    }
    return kept;
}

/* Drop the records of pauses, and read as many older ones in their place.
 * @param list  2 * maximum records, of which the first `count` are read
 * @return how many are in the list then */
static size_t rank_capture_pass_pauses(const struct ring_reader *reader, struct event *list,
                                       size_t count, size_t maximum)
{
    uint64_t before = count > 0 ? list[0].seq : 0;
    size_t kept = rank_capture_drop_paused(list, count), found;
    struct event *older = list + maximum;
    while (kept < count && (found = ring_capture_before(reader, before, older, maximum)) > 0) {
        before = older[0].seq;
        found = rank_capture_drop_paused(older, found);
        size_t taken = found < count - kept ? found : count - kept;
        memmove(list + taken, list, kept * sizeof *list);
        memcpy(list, older + found - taken, taken * sizeof *list);
        kept += taken;
    }
    return kept;
}

/* Parts of a call that is not in the copy are useless. */
static size_t rank_capture_count_orphans(const struct event *events, size_t count)
{
    size_t at = 0;
    while (at < count && events[at].kind == EVENT_PART)
        at++;
    return at;
}

/* Merges two lists in order of time into `merged`, which then replaces the list: the newest
 * records, at most `maximum`. */
static void rank_capture_merge(struct rank_capture *c, const struct event *events, size_t count,
                               uint32_t ring, int running, size_t maximum)
{
    size_t old = c->count, all = old + count, kept = all < maximum ? all : maximum, at = kept;
    size_t fresh = count; /* index in `events`: not merged yet */
    while (at > 0) {
        int from_old =
            fresh == 0 || (old > 0 && c->list[old - 1].event.t_enter > events[fresh - 1].t_enter);
        if (from_old) {
            c->merged[--at] = c->list[--old];
        } else {
            fresh--;
            c->merged[--at] =
                (struct captured_record){events[fresh], ring, running && fresh + 1 == count};
        }
    }
    struct captured_record *list = c->list;
    c->list = c->merged;
    c->merged = list;
    c->count = kept;
}

ORDER_FUNCTION(rank_capture_compare_places, struct captured_record,
               2 * ORDER(a->ring, b->ring) + ORDER(a->event.seq, b->event.seq))

/* Merging may have separated parts from their call. */
static void rank_capture_drop_orphans(struct rank_capture *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        int first = kept == 0 || c->list[kept - 1].ring != c->list[i].ring;
        if (!(first && c->list[i].event.kind == EVENT_PART))
            c->list[kept++] = c->list[i];
    }
    c->count = kept;
}

int rank_capture_read(struct rank_capture *c, const struct rank *rank, size_t maximum,
                      const struct tick_clock *clock, uint64_t until_ns)
{
    maximum = maximum < 1 ? 1 : maximum > RANK_CAPTURE_MAXIMUM ? RANK_CAPTURE_MAXIMUM : maximum;
    int rc = rank_capture_reserve(c, maximum, rank->open);
    c->count = 0;
    for (uint32_t i = 0; rc == 0 && i < rank->open; i++) {
        int running;
        const struct ring_reader *reader = &rank->rings[i].reader;
        uint64_t end =
            until_ns == UINT64_MAX ? UINT64_MAX : rank_capture_find_end(reader, clock, until_ns);
        size_t count =
            rank_capture_read_ring(reader, end, c->batch, maximum, &running, &c->lapped[i]);
        count = rank_capture_pass_pauses(reader, c->batch, count, maximum);
        size_t from = rank_capture_count_orphans(c->batch, count);
        rank_capture_merge(c, c->batch + from, count - from, i, running, maximum);
    }
    if (rc == 0) {
        if (rank->open > 1) /* merged by time */
            qsort(c->list, c->count, sizeof *c->list, rank_capture_compare_places);
        rank_capture_drop_orphans(c);
    }
    return rc;
}
