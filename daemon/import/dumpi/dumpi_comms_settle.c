/* Alignment of the calls of all ranks. Each rank performs its steps in order, in turns with the
 * others, and waits where it needs a communicator that other ranks have not made yet. */
#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_comms_state.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD, SELF };

/* ---- beginning ----------------------------------------------------------------- */

static int dumpi_settle_add_predefined(struct dumpi_comms *comms)
{
    uint32_t world = dumpi_add_comm(comms, DUMPI_NOBODY, 0, 1),
             self = dumpi_add_comm(comms, DUMPI_NOBODY, 0, 2);
    if (self != SELF)
        return -ENOMEM;
    comms->comms[world].size = comms->ranks;
    comms->comms[world].identity = 1;
    strcpy(comms->comms[world].name, "MPI_COMM_WORLD");
    comms->comms[self].size = 1;
    comms->comms[self].self = 1;
    strcpy(comms->comms[self].name, "MPI_COMM_SELF");
    return 0;
}

/* ---- members that make together ------------------------------------------------- */

/* The joint call of all members with this ordinal. @return NULL: no memory */
static struct joint *dumpi_settle_joint_of(struct dumpi_comms *comms, uint32_t parent,
                                           uint32_t ordinal)
{
    struct comm *comm = &comms->comms[parent];
    if (array_fit_zero(&comm->joints, sizeof(struct joint *), &comm->joint_count,
                       (uint64_t)ordinal + 1) != 0)
        return NULL;
    if (comm->joints[ordinal] == NULL)
        comm->joints[ordinal] = calloc(1, sizeof(struct joint));
    return comm->joints[ordinal];
}

static void dumpi_settle_remove_joint(struct dumpi_comms *comms, uint32_t parent, uint32_t ordinal)
{
    struct joint **joint = &comms->comms[parent].joints[ordinal];
    free((*joint)->arrivals);
    free((*joint)->by_first);
    free(*joint);
    *joint = NULL;
}

/* ---- kinds that need all members ------------------------------------------- */

struct bid {
    int32_t color, key;
    uint32_t order; /* rank in the parent */
    struct arrival from;
};

ORDER_FUNCTION(dumpi_settle_compare_bids, struct bid,
               4 * ORDER(a->color, b->color) + 2 * ORDER(a->key, b->key) +
                   ORDER(a->order, b->order))

static struct place *dumpi_comms_place_of(struct dumpi_comms *comms, const struct arrival *arrival)
{
    struct rank_comms *rank = &comms->of[arrival->rank];
    uint16_t slot = rank->steps[arrival->step].slot;
    return slot == 0 ? NULL : &rank->places[slot];
}

/* Collect and sort the bids of members that belong to some part; *count of them. Where ranks may
 * have been reordered the key is the rank that the program queried, if all members queried it. */
static struct bid *dumpi_settle_gather_bids(struct dumpi_comms *comms, const struct joint *joint,
                                            uint32_t *count)
{
    struct bid *bids = malloc(((size_t)joint->waiting + 1) * sizeof *bids);
    int split = 0, all_queried = 1;
    *count = 0;
    for (uint32_t i = 0; bids != NULL && i < joint->waiting; i++) {
        const struct arrival *arrival = &joint->arrivals[i];
        const struct step *step = &comms->of[arrival->rank].steps[arrival->step];
        if (step->making.child == DUMPI_COMM_NULL)
            continue;
        split = step->function == DUMPI_Comm_split;
        all_queried &= step->seen_rank >= 0;
        bids[(*count)++] =
            (struct bid){split ? step->a : 0, split ? step->b : step->seen_rank,
                         arrival->own < 0 ? arrival->rank : (uint32_t)arrival->own, *arrival};
    }
    for (uint32_t i = 0; bids != NULL && !split && !all_queried && i < *count; i++)
        bids[i].key = 0;
    if (bids != NULL)
        qsort(bids, *count, sizeof *bids, dumpi_settle_compare_bids);
    return bids;
}

/* Make the part of one color: ranks by key, then by rank in the parent (MPI 3.1, section 6.4.2,
 * MPI_COMM_SPLIT). If the members' calls do not belong together there is such a part already, or
 * some members are missing: then its members are unknown. */
static int dumpi_settle_make_part(struct maker *m, const struct bid *bids, uint32_t count,
                                  int whole)
{
    int fresh = 0;
    struct dumpi_comms *comms = m->comms;
    m->number = bids[0].from.rank;
    m->rank = &comms->of[m->number];
    m->step = &m->rank->steps[bids[0].from.step];
    uint32_t at = whole ? dumpi_find_part(m, m->number, &fresh) : DUMPI_NOBODY;
    uint64_t salt = dumpi_mix(7, (uint32_t)bids[0].color);
    if (!fresh)
        at = dumpi_add_comm(comms, m->parent, m->step->function,
                            dumpi_mix(dumpi_mix(comms->comms[m->parent].id, m->ordinal), salt));
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    int32_t *members = fresh ? dumpi_add_members(comms, at, count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct place *place = dumpi_comms_place_of(comms, &bids[i].from);
        if (members != NULL)
            members[i] = (int32_t)bids[i].from.rank;
        if (place != NULL)
            *place = (struct place){at, fresh ? (int32_t)i : -1, 0};
    }
    return fresh ? dumpi_store_dims(&comms->comms[at], m->rank, m->step) : 0;
}

static void dumpi_comms_wake_rank(struct dumpi_comms *comms, uint32_t rank)
{
    if (comms->of[rank].queued)
        return;
    comms->of[rank].queued = 1;
    comms->queue[(comms->queue_first + comms->queue_count++) % comms->ranks] = rank;
}

/* @param whole  the calls of all members are known */
static int dumpi_comms_resolve(struct dumpi_comms *comms, uint32_t parent, uint32_t ordinal,
                               int whole)
{
    struct joint *joint = comms->comms[parent].joints[ordinal];
    struct maker maker = {.comms = comms, .parent = parent, .ordinal = ordinal, .joint = joint};
    uint32_t count;
    struct bid *bids = dumpi_settle_gather_bids(comms, joint, &count);
    int code = bids == NULL ? -ENOMEM : 0;
    whole &= joint->waiting == joint->arrived;
    for (uint32_t first = 0, last; code == 0 && first < count; first = last) {
        for (last = first + 1; last < count && bids[last].color == bids[first].color; last++)
            ;
        code = dumpi_settle_make_part(&maker, bids + first, last - first, whole);
    }
    for (uint32_t i = 0; i < joint->waiting; i++)
        dumpi_comms_wake_rank(comms, joint->arrivals[i].rank);
    free(bids);
    return code;
}

static int dumpi_comms_arrive(const struct maker *m)
{
    struct joint *joint = m->joint;
    if (ARRAY_FIT(joint->arrivals, joint->capacity, joint->waiting + (size_t)1) != 0)
        return -ENOMEM;
    joint->arrivals[joint->waiting++] =
        (struct arrival){m->number, (uint32_t)(m->step - m->rank->steps), m->own};
    return 0;
}

/* ---- steps ------------------------------------------------------------------ */

static int dumpi_settle_needs_others(const struct step *step)
{
    return step->function == DUMPI_Comm_split ||
           ((step->function == DUMPI_Cart_create || step->function == DUMPI_Graph_create) &&
            step->b);
}

static int dumpi_settle_make_joint(struct maker *m, int mine)
{
    m->joint = dumpi_settle_joint_of(m->comms, m->parent, m->ordinal);
    if (m->joint == NULL)
        return -ENOMEM;
    int waits = dumpi_settle_needs_others(m->step);
    int code = waits ? dumpi_comms_arrive(m) : mine ? dumpi_make_alone(m) : 0;
    m->joint->arrived++;
    if (waits && m->place != NULL && mine)
        m->place->comm = DUMPI_LATER;
    int whole = m->joint->arrived == m->comms->comms[m->parent].size;
    if (code == 0 && whole && m->joint->waiting > 0)
        code = dumpi_comms_resolve(m->comms, m->parent, m->ordinal, 1);
    if (whole)
        dumpi_settle_remove_joint(m->comms, m->parent, m->ordinal);
    return code;
}

static int dumpi_comms_build_comm(struct maker *m)
{
    int mine = m->step->making.child != DUMPI_COMM_NULL || m->step->making.window;
    const struct comm *parent = m->parent == DUMPI_NOBODY ? NULL : &m->comms->comms[m->parent];
    int inter = dumpi_makes_inter(m->step->function);
    if (parent != NULL && parent->self && !inter)
        return mine ? dumpi_make_of_self(m) : 0;
    if (parent != NULL && comm_known(parent) && !inter)
        return dumpi_settle_make_joint(m, mine);
    inter |= parent != NULL && parent->inter && m->step->function != DUMPI_Intercomm_merge;
    return mine ? dumpi_make_unknown(m, (uint64_t)(uint32_t)m->step->a, inter) : 0;
}

/* @return the place of a handle; NULL: unknown */
static struct place *dumpi_settle_place_by_handle(struct rank_comms *rank, int32_t handle)
{
    uint32_t at = (uint16_t)handle;
    uint16_t slot = handle < 0 || at >= rank->handle_capacity ? UINT16_MAX : rank->slot_of[at];
    return slot == UINT16_MAX ? NULL : &rank->places[slot];
}

/* Perform one step. @return 1: done; 0: it must wait; -ENOMEM */
static int dumpi_comms_run_step(struct dumpi_comms *comms, uint32_t number)
{
    struct rank_comms *rank = &comms->of[number];
    struct step *step = &rank->steps[rank->next];
    int makes = step->making.child != DUMPI_COMM_NULL || step->making.parent >= 0;
    int32_t of = makes ? step->making.parent : step->function == DUMPI_Comm_group ? step->a : -1;
    struct place *from = dumpi_settle_place_by_handle(rank, of);
    if (from != NULL && from->comm == DUMPI_LATER)
        return 0;
    const struct comm *comm =
        from == NULL || from->comm >= comms->count ? NULL : &comms->comms[from->comm];
    rank->next++;
    if (!makes)
        return !rank->creates || dumpi_group_step(comms, rank, step, comm) == 0 ? 1 : -ENOMEM;
    struct maker maker = {.comms = comms,
                          .rank = rank,
                          .number = number,
                          .step = step,
                          .parent = comm == NULL ? DUMPI_NOBODY : from->comm,
                          .ordinal = from == NULL ? rank->next : from->made,
                          .own = from == NULL ? -1 : from->rank,
                          .place = step->slot == 0 ? NULL : &rank->places[step->slot]};
    if (from != NULL)
        from->made++;
    int code = comm == NULL ? dumpi_make_unknown(&maker, 10, dumpi_makes_inter(step->function))
                            : dumpi_comms_build_comm(&maker);
    if (code != 0)
        return code;
    if (!step->making.window && step->making.child > DUMPI_COMM_SELF)
        rank->slot_of[(uint16_t)step->making.child] = step->slot == 0 ? UINT16_MAX : step->slot;
    return 1;
}

static int dumpi_comms_begin(struct dumpi_comms *comms)
{
    if (dumpi_settle_add_predefined(comms) != 0)
        return -ENOMEM;
    comms->queue = malloc(((size_t)comms->ranks + 1) * sizeof *comms->queue);
    if (comms->queue == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < comms->ranks; i++) {
        struct rank_comms *rank = &comms->of[i];
        rank->places = malloc(rank->slot_count * sizeof *rank->places);
        if (rank->places == NULL)
            return -ENOMEM;
        for (uint32_t k = 0; k < rank->slot_count; k++)
            rank->places[k] = (struct place){DUMPI_NOBODY, -1, 0};
        rank->places[WORLD] = (struct place){WORLD, (int32_t)i, 0};
        rank->places[SELF] = (struct place){SELF, 0, 0};
        if (rank->step_count == 0)
            continue;
        uint32_t room =
            rank->handle_capacity > DUMPI_COMM_SELF ? rank->handle_capacity : DUMPI_COMM_SELF + 1;
        rank->slot_of = malloc(room * sizeof *rank->slot_of);
        if (rank->slot_of == NULL)
            return -ENOMEM;
        rank->handle_capacity = room;
        memset(rank->slot_of, 0xff, room * sizeof *rank->slot_of);
        rank->slot_of[DUMPI_COMM_WORLD] = WORLD;
        rank->slot_of[DUMPI_COMM_SELF] = SELF;
        dumpi_comms_wake_rank(comms, i);
    }
    return 0;
}

static int dumpi_comms_run(struct dumpi_comms *comms)
{
    while (comms->queue_count > 0) {
        uint32_t number = comms->queue[comms->queue_first];
        struct rank_comms *rank = &comms->of[number];
        comms->queue_first = (comms->queue_first + 1) % comms->ranks;
        comms->queue_count--;
        rank->queued = 0;
        int code = rank->next < rank->step_count ? dumpi_comms_run_step(comms, number) : 0;
        if (code < 0)
            return code;
        if (code == 1 && rank->next < rank->step_count)
            dumpi_comms_wake_rank(comms, number);
        if (rank->next == rank->step_count)
            dumpi_groups_finish(comms, rank);
    }
    return 0;
}

/* Resolve a split that lacks a member, whose file is truncated or missing. @return 1: there was one
 */
static int dumpi_settle_resolve_next_open(struct dumpi_comms *comms, uint32_t *from,
                                          uint32_t *ordinal)
{
    for (; *from < comms->count; (*from)++, *ordinal = 0) {
        for (; *ordinal < comms->comms[*from].joint_count; (*ordinal)++) {
            struct joint *joint = comms->comms[*from].joints[*ordinal];
            if (joint == NULL)
                continue;
            int code = joint->arrivals == NULL ? 0 : dumpi_comms_resolve(comms, *from, *ordinal, 0);
            dumpi_settle_remove_joint(comms, *from, *ordinal);
            return code == 0 ? 1 : code;
        }
    }
    *from = *ordinal = 0;
    return 0;
}

static int dumpi_settle_force_open(struct dumpi_comms *comms)
{
    uint32_t from = 0, ordinal = 0;
    int found = 0;
    for (;;) {
        int code = dumpi_comms_run(comms);
        int open = code != 0 ? code : dumpi_settle_resolve_next_open(comms, &from, &ordinal);
        if (open < 0)
            return open;
        if (open == 0 && !found) /* stop after a whole round without progress */
            return 0;
        found = open;
    }
}

/* ---- ranks that the program queried ------------------------------------------- */

typedef void each_recorded(struct comm *comm, const struct step *step, struct place *place,
                           uint32_t number);

static void dumpi_comms_for_each_recorded(struct dumpi_comms *comms, each_recorded *each)
{
    for (uint32_t i = 0; i < comms->ranks; i++) {
        struct rank_comms *rank = &comms->of[i];
        for (uint32_t k = 0; k < rank->step_count; k++) {
            const struct step *step = &rank->steps[k];
            struct place *place = step->slot == 0 ? NULL : &rank->places[step->slot];
            if (place == NULL || place->comm >= comms->count || step->making.window)
                continue;
            struct comm *comm = &comms->comms[place->comm];
            if (!comm->self && !comm->inter)
                each(comm, step, place, i);
        }
    }
}

static int dumpi_comms_contradicts(const struct comm *comm, const struct step *step,
                                   uint32_t number)
{
    if (step->seen_size > 0 && (uint32_t)step->seen_size != comm->size)
        return 1;
    return step->seen_rank >= 0 &&
           ((uint32_t)step->seen_rank >= comm->size ||
            comm_member(comm, (uint32_t)step->seen_rank) != (int32_t)number);
}

static void dumpi_comms_mark_doubtful(struct comm *comm, const struct step *step,
                                      struct place *place, uint32_t number)
{
    (void)place;
    if (comm_known(comm) && !dumpi_comms_contradicts(comm, step, number))
        return;
    comm->doubtful = 1;
    if (step->seen_size > 0)
        comm->size = (uint32_t)step->seen_size;
}

/* Put the ranks that the program queried into the communicators that contradict them or are
 * unknown. */
static void dumpi_comms_place_member(struct comm *comm, const struct step *step,
                                     struct place *place, uint32_t number)
{
    if (step->seen_rank < 0) {
        place->rank = comm->doubtful ? -1 : place->rank;
        return;
    }
    place->rank = step->seen_rank;
    if (comm->doubtful && comm->members != NULL && (uint32_t)step->seen_rank < comm->size &&
        comm->members[step->seen_rank] == -1)
        comm->members[step->seen_rank] = (int32_t)number;
}

static int dumpi_settle_has_gaps(const struct comm *comm)
{
    for (uint32_t i = 0; comm->members != NULL && i < comm->size; i++)
        if (comm->members[i] == -1)
            return 1;
    return comm->size == 0;
}

/* For communicators in doubt, and those made from them, use the members that the program queried if
 * they are complete; otherwise the members are unknown. */
static void dumpi_settle_resolve_doubtful(struct dumpi_comms *comms)
{
    dumpi_comms_for_each_recorded(comms, dumpi_comms_mark_doubtful);
    for (uint32_t i = SELF + 1; i < comms->count; i++) {
        struct comm *comm = &comms->comms[i];
        comm->doubtful |= comm->made_from < i && comms->comms[comm->made_from].doubtful;
        if (!comm->doubtful || comm->self)
            continue;
        comm->members = NULL;
        comm->identity = 0;
        int32_t *members =
            comm->size > comms->ranks ? NULL : dumpi_add_members(comms, i, comm->size);
        for (uint32_t k = 0; members != NULL && k < comm->size; k++)
            members[k] = -1;
    }
    dumpi_comms_for_each_recorded(comms, dumpi_comms_place_member);
    for (uint32_t i = SELF + 1; i < comms->count; i++) {
        struct comm *comm = &comms->comms[i];
        if (!comm->doubtful || comm->self)
            continue;
        if (dumpi_settle_has_gaps(comm))
            comm->members = NULL;
        if (comm->members == NULL && comm->copy && comms->comms[comm->made_from].doubtful)
            dumpi_copy_members(comm, &comms->comms[comm->made_from]);
    }
}

/* ---- the end ------------------------------------------------------------------ */

static void dumpi_settle_assign_ids(struct dumpi_comms *comms)
{
    for (uint32_t i = 0; i < comms->ranks; i++) {
        const struct rank_comms *rank = &comms->of[i];
        for (uint32_t k = 0; k < rank->name_count; k++) {
            uint16_t slot = rank->steps[rank->names[k].step].slot;
            uint32_t at = slot == 0 ? DUMPI_NOBODY : rank->places[slot].comm;
            if (at < comms->count)
                memcpy(comms->comms[at].name, rank->names[k].text, sizeof comms->comms[at].name);
        }
    }
}

static int dumpi_settle_count_unresolved(struct dumpi_comms *comms)
{
    uint64_t *ids = malloc(((size_t)comms->count + 1) * sizeof *ids);
    uint32_t count = 0;
    if (ids == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < comms->count; i++)
        if (!comm_known(&comms->comms[i]) && !comms->comms[i].inter && !comms->comms[i].self)
            ids[count++] = comms->comms[i].id;
    qsort(ids, count, sizeof *ids, order_u64);
    for (uint32_t i = 0; i < count; i++)
        comms->unresolved += i == 0 || ids[i] != ids[i - 1];
    free(ids);
    return 0;
}

int dumpi_comms_resolve_all(struct dumpi_comms *comms)
{
    int code = dumpi_comms_begin(comms);
    if (code == 0)
        code = dumpi_settle_force_open(comms);
    if (code != 0)
        return code;
    dumpi_settle_resolve_doubtful(comms);
    dumpi_settle_assign_ids(comms);
    for (uint32_t i = 0; i < comms->ranks; i++) {
        struct rank_comms *rank = &comms->of[i];
        array_release(&rank->slot_of);
        array_release(&rank->steps);
        array_release(&rank->numbers);
        array_release(&rank->last);
        rank->step_count = rank->name_count = 0;
    }
    return dumpi_settle_count_unresolved(comms);
}
