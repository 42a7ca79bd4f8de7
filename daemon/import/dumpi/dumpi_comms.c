/* Collects the communicator calls of the ranks, and answers what a communicator of a rank is: see
 * dumpi_comms.h. */
#include "daemon/import/dumpi/dumpi_comms_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/event.h"
#include "holter/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------ */

int dumpi_comms_grow(struct dumpi_comms *comms, uint32_t ranks)
{
    if (ARRAY_RESIZE(comms->of, (size_t)ranks + 1) != 0 ||
        ARRAY_RESIZE(comms->own, (size_t)ranks + 1) != 0)
        return -ENOMEM;
    for (; comms->ranks < ranks; comms->ranks++) {
        comms->of[comms->ranks] = (struct rank_comms){.slot_count = 2};
        comms->own[comms->ranks] = (int32_t)comms->ranks;
    }
    return 0;
}

int dumpi_comms_create(struct dumpi_comms **out, uint32_t ranks)
{
    struct dumpi_comms *comms = calloc(1, sizeof *comms);
    if (comms == NULL)
        return -ENOMEM;
    if (dumpi_comms_grow(comms, ranks) != 0) {
        dumpi_comms_destroy(comms);
        return -ENOMEM;
    }
    *out = comms;
    return 0;
}

void dumpi_comms_destroy(struct dumpi_comms *comms)
{
    if (comms == NULL)
        return;
    for (uint32_t i = 0; i < comms->ranks; i++) {
        struct rank_comms *rank = &comms->of[i];
        dumpi_groups_finish(comms, rank);
        free(rank->steps);
        free(rank->numbers);
        free(rank->last);
        free(rank->names);
        free(rank->places);
        free(rank->slot_of);
    }
    for (uint32_t i = 0; i < comms->count; i++) {
        struct comm *comm = &comms->comms[i];
        free(comm->dims);
        for (uint32_t k = 0; k < comm->joint_count; k++) {
            if (comm->joints[k] == NULL)
                continue;
            free(comm->joints[k]->arrivals);
            free(comm->joints[k]->by_first);
            free(comm->joints[k]);
        }
        free(comm->joints);
    }
    for (struct member_list *list = comms->lists; list != NULL;) {
        struct member_list *next = list->next;
        free(list);
        list = next;
    }
    free(comms->comms);
    free(comms->of);
    free(comms->own);
    free(comms->queue);
    free(comms);
}

/* ---- what calls tell ------------------------------------------------------- */

/* Where the calls that make communicators and RMA windows have the handles, by argument. */
static const struct {
    unsigned function;
    int parent, child; /* parent -1: none */
    int window;
} dumpi_makers[] = {
    {DUMPI_Comm_dup, 0, 1, 0},     {DUMPI_Comm_create, 0, 2, 0},
    {DUMPI_Comm_split, 0, 3, 0},   {DUMPI_Intercomm_merge, 0, 2, 0},
    {DUMPI_Cart_create, 0, 5, 0},  {DUMPI_Intercomm_create, 0, 5, 0},
    {DUMPI_Graph_create, 1, 6, 0}, {DUMPI_Cart_sub, 1, 3, 0},
    {DUMPI_Comm_accept, 3, 4, 0},  {DUMPI_Comm_connect, 3, 4, 0},
    {DUMPI_Comm_spawn, 2, 3, 0},   {DUMPI_Comm_spawn_multiple, 3, 4, 0},
    {DUMPI_Comm_join, -1, 1, 0},   {DUMPI_Win_create, 3, 4, 1},
};

int dumpi_comm_making(const struct dumpi_stream *s, struct dumpi_making *out)
{
    for (size_t i = 0; i < sizeof dumpi_makers / sizeof *dumpi_makers; i++) {
        if (dumpi_makers[i].function != s->call.function)
            continue;
        const int parent = dumpi_makers[i].parent;
        out->parent = parent < 0 ? -1 : (int32_t)dumpi_value(s, (unsigned)parent);
        out->child = (int32_t)dumpi_value(s, (unsigned)dumpi_makers[i].child);
        out->window = dumpi_makers[i].window;
        return 1;
    }
    return 0;
}

/* ---- noting ---------------------------------------------------------------- */

static struct step *dumpi_comms_add_step(struct rank_comms *rank, const struct dumpi_stream *s)
{
    if (rank->step_count == DUMPI_MAX_STEPS) {
        rank->overflow = 1;
        return NULL;
    }
    if (ARRAY_FIT(rank->steps, rank->step_capacity, rank->step_count + (size_t)1) != 0)
        return NULL;
    struct step *step = &rank->steps[rank->step_count++];
    *step = (struct step){.function = (uint16_t)s->call.function, .seen_rank = -1, .seen_size = -1};
    return step;
}

/* Store an array of the call. Beyond the limit of all lists together the rank's lists are dropped.
 */
static int dumpi_comms_store_list(struct dumpi_comms *comms, struct rank_comms *rank,
                                  struct step *step, const struct dumpi_stream *s,
                                  unsigned argument)
{
    uint64_t count = (uint64_t)dumpi_value(s, argument);
    if (atomic_fetch_add(&comms->numbers, count) + count > DUMPI_MAX_MEMBERS) {
        atomic_fetch_sub(&comms->numbers, count);
        count = 0;
    }
    if (ARRAY_FIT(rank->numbers, rank->number_capacity, rank->number_count + count) != 0)
        return -ENOMEM;
    step->list = rank->number_count;
    step->length = (uint32_t)count;
    if (count > 0)
        memcpy(rank->numbers + step->list, dumpi_words(s, argument), count * sizeof(int32_t));
    rank->number_count += (uint32_t)count;
    return 0;
}

/* Record that a handle stands from now on for what the last step made. */
static int dumpi_comms_note_handle(struct rank_comms *rank, int32_t handle)
{
    uint32_t at = (uint16_t)handle;
    if (ARRAY_FIT_AT(rank->last, rank->handle_capacity, at) != 0)
        return -ENOMEM;
    rank->last[at] = rank->step_count;
    return 0;
}

static int dumpi_comms_note_making(struct dumpi_comms *comms, struct rank_comms *rank,
                                   const struct dumpi_making *made, const struct dumpi_stream *s)
{
    uint32_t function = s->call.function;
    struct step *step = dumpi_comms_add_step(rank, s);
    if (step == NULL)
        return rank->overflow ? 0 : -ENOMEM;
    step->making = *made;
    if (rank->slot_count < DUMPI_MAX_SLOTS)
        step->slot = (uint16_t)rank->slot_count++;
    if (!made->window && dumpi_comms_note_handle(rank, made->child) != 0)
        return -ENOMEM;
    rank->creates |= function == DUMPI_Comm_create;
    switch (function) {
    case DUMPI_Comm_split:
        step->a = (int32_t)dumpi_value(s, 1);
        step->b = (int32_t)dumpi_value(s, 2);
        return 0;
    case DUMPI_Comm_create:
        step->a = (int32_t)dumpi_value(s, 1);
        return 0;
    case DUMPI_Cart_create:
        step->b = dumpi_value(s, 4) != 0;
        return dumpi_comms_store_list(comms, rank, step, s, 2);
    case DUMPI_Cart_sub:
        return dumpi_comms_store_list(comms, rank, step, s, 2);
    case DUMPI_Graph_create:
        step->a = (int32_t)dumpi_value(s, 2);
        step->b = dumpi_value(s, 5) != 0;
        return 0;
    default:
        return 0;
    }
}

static int dumpi_comms_note_group(struct dumpi_comms *comms, struct rank_comms *rank,
                                  const struct dumpi_stream *s, unsigned b, unsigned result,
                                  unsigned list)
{
    struct step *step = dumpi_comms_add_step(rank, s);
    if (step == NULL)
        return rank->overflow ? 0 : -ENOMEM;
    step->making = (struct dumpi_making){-1, DUMPI_COMM_NULL, 0};
    step->a = (int32_t)dumpi_value(s, 0);
    step->b = (int32_t)dumpi_value(s, b);
    step->result = (int32_t)dumpi_value(s, result);
    return list == 0 ? 0 : dumpi_comms_store_list(comms, rank, step, s, list);
}

static struct step *dumpi_comms_is_making(struct rank_comms *rank, int64_t handle)
{
    uint32_t at = (uint16_t)handle;
    if (at <= DUMPI_COMM_SELF || at >= rank->handle_capacity || rank->last[at] == 0)
        return NULL;
    return &rank->steps[rank->last[at] - 1];
}

static int dumpi_comms_note_name(struct rank_comms *rank, const struct step *maker,
                                 const char *text)
{
    if (maker == NULL || rank->name_count >= 4096)
        return 0;
    if (ARRAY_RESIZE(rank->names, rank->name_count + 1) != 0)
        return -ENOMEM;
    strncpy(rank->names[rank->name_count].text, text, sizeof rank->names[0].text - 1);
    rank->names[rank->name_count].text[sizeof rank->names[0].text - 1] = '\0';
    rank->names[rank->name_count++].step = (uint32_t)(maker - rank->steps);
    return 0;
}

/* Store rank and size that the program obtained of a communicator in the step that made it. */
static void dumpi_comms_note_recorded(struct rank_comms *rank, const struct dumpi_stream *s)
{
    struct step *maker = dumpi_comms_is_making(rank, dumpi_value(s, 0));
    if (maker == NULL)
        return;
    int32_t queried = (int32_t)dumpi_value(s, 1);
    if (s->call.function == DUMPI_Comm_rank && maker->seen_rank < 0)
        maker->seen_rank = queried;
    if (s->call.function == DUMPI_Comm_size && maker->seen_size < 0)
        maker->seen_size = queried;
}

int dumpi_comms_note(struct dumpi_comms *comms, uint32_t number, const struct dumpi_stream *s)
{
    struct rank_comms *rank = &comms->of[number];
    struct dumpi_making made;
    switch (s->call.function) {
    case DUMPI_Comm_rank:
    case DUMPI_Comm_size:
        dumpi_comms_note_recorded(rank, s);
        return 0;
    case DUMPI_Comm_set_name:
        return dumpi_comms_note_name(rank, dumpi_comms_is_making(rank, dumpi_value(s, 0)),
                                     dumpi_text(s, 1));
    case DUMPI_Comm_group:
    case DUMPI_Comm_remote_group:
    case DUMPI_Win_get_group:
    case DUMPI_File_get_group:
        return dumpi_comms_note_group(comms, rank, s, 0, 1, 0);
    case DUMPI_Group_free:
        return dumpi_comms_note_group(comms, rank, s, 0, 0, 0);
    case DUMPI_Group_union:
    case DUMPI_Group_intersection:
    case DUMPI_Group_difference:
        return dumpi_comms_note_group(comms, rank, s, 1, 2, 0);
    case DUMPI_Group_incl:
    case DUMPI_Group_excl:
    case DUMPI_Group_range_incl:
    case DUMPI_Group_range_excl:
        return dumpi_comms_note_group(comms, rank, s, 0, 3, 2);
    default:
        return dumpi_comm_making(s, &made) ? dumpi_comms_note_making(comms, rank, &made, s) : 0;
    }
}

/* ---- asking ---------------------------------------------------------------- */

static const struct comm *dumpi_comms_comm_at(const struct dumpi_comms *comms, uint32_t rank,
                                              uint32_t slot, const struct place **place)
{
    const struct rank_comms *of = rank < comms->ranks ? &comms->of[rank] : NULL;
    if (of == NULL || of->places == NULL || slot >= of->slot_count ||
        of->places[slot].comm >= comms->count)
        return NULL;
    *place = &of->places[slot];
    return &comms->comms[of->places[slot].comm];
}

uint64_t dumpi_comms_unresolved(const struct dumpi_comms *comms)
{
    return comms->unresolved;
}

int dumpi_comms_describe(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot,
                         struct trace_comm *out)
{
    const struct place *place;
    const struct comm *comm = dumpi_comms_comm_at(comms, rank, slot, &place);
    if (comm == NULL)
        return 1;
    *out = (struct trace_comm){.id = comm->id,
                               .parent = comm->parent,
                               .size = comm->size,
                               .remote_size = comm->inter ? 1 : 0,
                               .my_rank = place->rank};
    memcpy(out->name, comm->name, sizeof out->name);
    return 0;
}

struct dumpi_view dumpi_comms_view(const struct dumpi_comms *comms, uint32_t rank, uint32_t slot)
{
    const struct place *place;
    const struct comm *comm = dumpi_comms_comm_at(comms, rank, slot, &place);
    if (comm == NULL)
        return (struct dumpi_view){.slot = COMM_SLOT_OTHER, .rank = -1};
    return (struct dumpi_view){.slot = (uint16_t)slot,
                               .rank = place->rank,
                               .size = comm->size,
                               .flags = comm->inter ? EVENT_INTER : 0,
                               .members = comm->self ? &comms->own[rank] : comm->members,
                               .identity = comm->identity};
}

int32_t dumpi_view_peer(const struct dumpi_view *view, int64_t rank)
{
    if (rank < 0 || rank >= view->size)
        return PEER_UNKNOWN;
    return view->identity          ? (int32_t)rank
           : view->members != NULL ? view->members[rank]
                                   : PEER_UNKNOWN;
}
