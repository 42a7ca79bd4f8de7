/* Forgets communicators that are not used any more: programs make and free them without end. */
#include "daemon/analysis/hang/hang_watch.h"

#include <stdlib.h>

#define FORGET_EVERY 64u   /* windows between two searches for such communicators */
#define FORGET_LEAST 4096u /* communicators that are kept in any case */

/* Counted calls of all members.
 * @param equal  set to whether all have made as many: only then may they count from 0 again */
static uint64_t forget_count_calls(const struct hang_watch *w, const struct hang_comm_seat *comm,
                                   int *equal)
{
    uint64_t sum = 0;
    *equal = 1;
    for (uint32_t m = comm->first; m != HANG_NONE; m = w->member_seats[m].next) {
        sum += w->member_seats[m].completed;
        *equal &= w->member_seats[m].completed == w->member_seats[comm->first].completed;
    }
    return sum;
}

/* Find the communicators to keep: those with calls since the last search, or with members that are
 * not at the same call, and those in which a rank is now. */
static void forget_choose(struct hang_watch *w, uint8_t *keep)
{
    int equal;
    for (uint32_t c = 0; c < w->comms.count; c++) {
        struct hang_comm_seat *comm = &w->comm_seats[c];
        const uint64_t calls = forget_count_calls(w, comm, &equal);
        keep[c] = calls != comm->calls || !equal || w->comms.keys[c].lo == HANG_WORLD;
        comm->calls = calls;
    }
    for (uint32_t r = 0; r < w->seat_count; r++) {
        const struct hang_seat *s = &w->seats[r];
        const uint32_t at = s->in_call != 0 ? hang_find_comm(w, hang_comm_of(s)) : KEY_NONE;
        if (at != KEY_NONE)
            keep[at] = 1;
    }
}

/* The tables without the others, in the order that they had. */
struct kept {
    struct key_table comms, members;
    struct hang_comm_seat *comm_seats;
    struct hang_member *member_seats;
    uint32_t *number; /* of each communicator among those that are kept */
};

static void forget_copy(const struct hang_watch *w, const uint8_t *keep, struct kept *k)
{
    for (uint32_t c = 0; c < w->comms.count; c++) {
        if (!keep[c])
            continue;
        k->number[c] = key_table_add(&k->comms, w->comms.keys[c]);
        k->comm_seats[k->number[c]] = w->comm_seats[c];
        k->comm_seats[k->number[c]].first = HANG_NONE;
    }
    for (uint32_t m = 0, last = KEY_NONE; m < w->members.count; m++) {
        const uint32_t c = hang_find_comm(w, w->members.keys[m].hi);
        if (c == KEY_NONE || !keep[c])
            continue;
        struct hang_comm_seat *comm = &k->comm_seats[k->number[c]];
        last = key_table_number_after(&k->members, w->members.keys[m], last);
        k->member_seats[last] = w->member_seats[m];
        k->member_seats[last].next = comm->first;
        comm->first = last;
    }
}

static void forget_replace(struct hang_watch *w, struct kept *k, size_t comms, size_t members)
{
    key_table_finish(&w->comms);
    key_table_finish(&w->members);
    free(w->comm_seats);
    free(w->member_seats);
    w->comms = k->comms;
    w->members = k->members;
    w->comm_seats = k->comm_seats;
    w->member_seats = k->member_seats;
    w->comm_capacity = comms;
    w->member_capacity = (uint32_t)members;
    w->member_last = KEY_NONE;
}

/* Without memory all are kept. */
static void forget_rebuild(struct hang_watch *w, const uint8_t *keep)
{
    size_t comms = 1, members = 1;
    for (uint32_t c = 0; c < w->comms.count; c++) {
        comms += keep[c];
        members += keep[c] ? w->comm_seats[c].members : 0;
    }
    if (comms == w->comms.count + (size_t)1)
        return;
    struct kept k = {.comm_seats = malloc(comms * sizeof(*k.comm_seats)),
                     .member_seats = malloc(members * sizeof(*k.member_seats)),
                     .number = malloc(w->comms.count * sizeof(*k.number))};
    if (k.comm_seats != NULL && k.member_seats != NULL && k.number != NULL &&
        key_table_reserve(&k.comms, comms) == 0 && key_table_reserve(&k.members, members) == 0) {
        forget_copy(w, keep, &k);
        forget_replace(w, &k, comms, members);
    } else {
        key_table_finish(&k.comms);
        key_table_finish(&k.members);
        free(k.comm_seats);
        free(k.member_seats);
    }
    free(k.number);
}

void hang_forget(struct hang_watch *w)
{
    uint8_t *keep;
    if (w->comms.count <= FORGET_LEAST || w->window - w->searched < FORGET_EVERY ||
        (keep = malloc(w->comms.count)) == NULL)
        return;
    w->searched = w->window;
    forget_choose(w, keep);
    forget_rebuild(w, keep);
    free(keep);
}
