/* Messages that come from ranks that are not watched. */
#include "daemon/job/job_unwatched.h"

#include <stdlib.h>

void job_unwatched_finish(struct job_unwatched *unwatched)
{
    key_table_finish(&unwatched->destinations);
    free(unwatched->sent_to);
}

/* Without memory they count as sent to a watched rank. */
static void job_unwatched_add_sent(struct job_unwatched *unwatched, const struct unplaced *row)
{
    uint32_t at = KEY_TABLE_EXTEND(&unwatched->destinations, (struct key){.hi = row->destination},
                                   UINT32_MAX, unwatched->sent_to, unwatched->capacity);
    if (at != KEY_NONE)
        unwatched->sent_to[at] += row->messages;
}

void job_unwatched_update(struct job_unwatched *unwatched, const struct closed_window *window,
                          const struct job_places *places, int complete)
{
    unwatched->received += window->totals->received;
    unwatched->sent += window->totals->sent;
    unwatched->lost += window->totals->lost;
    for (size_t i = 0; i < window->unplaced_count; i++)
        job_unwatched_add_sent(unwatched, &window->unplaced[i]);
    if (places->keys.count >= window->world)
        unwatched->messages = 0;
    if (!complete || places->keys.count >= window->world)
        return;
    uint64_t between_watched = unwatched->sent + unwatched->lost;
    for (uint32_t i = 0; i < unwatched->destinations.count; i++) {
        uint64_t rank = unwatched->destinations.keys[i].hi;
        if (job_places_find_node(places, rank) == KEY_NONE)
            between_watched -= unwatched->sent_to[i];
    }
    unwatched->messages =
        unwatched->received > between_watched ? unwatched->received - between_watched : 0;
}

void job_unwatched_copy_state(struct state_bytes *b, struct job_unwatched *unwatched)
{
    STATE_VALUE(b, *unwatched);
    key_table_copy_state(b, &unwatched->destinations);
    STATE_ARRAY(b, unwatched->sent_to, unwatched->destinations.count, unwatched->capacity);
}
