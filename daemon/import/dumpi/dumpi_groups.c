/* Groups of one rank: lists of world ranks. */
#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_comms_state.h"

#include <errno.h>
#include <stdlib.h>

static const struct group nobody = {.known = 1};
static const struct group unknown;

const struct group *dumpi_group(const struct rank_comms *rank, int32_t handle)
{
    uint32_t at = (uint16_t)handle;
    if (at == DUMPI_GROUP_EMPTY)
        return &nobody;
    return at < rank->group_capacity && rank->groups[at].known ? &rank->groups[at] : NULL;
}

void dumpi_groups_finish(struct dumpi_comms *comms, struct rank_comms *rank)
{
    for (uint32_t i = 0; i < rank->group_capacity; i++) {
        comms->group_ranks -= rank->groups[i].ranks == NULL ? 0 : rank->groups[i].count;
        free(rank->groups[i].ranks);
    }
    array_release(&rank->groups);
    rank->group_capacity = 0;
}

/* Replace the group of a handle. @param group  its memory changes ownership */
static int dumpi_groups_put_group(struct dumpi_comms *comms, struct rank_comms *rank,
                                  int32_t handle, struct group group)
{
    uint32_t at = (uint16_t)handle;
    if (ARRAY_FIT_AT(rank->groups, rank->group_capacity, at) != 0) {
        free(group.ranks);
        return -ENOMEM;
    }
    struct group *place = &rank->groups[at];
    comms->group_ranks -= place->ranks == NULL ? 0 : place->count;
    free(place->ranks);
    if (group.ranks != NULL && comms->group_ranks + group.count > DUMPI_MAX_MEMBERS) {
        free(group.ranks);
        group = unknown;
    }
    comms->group_ranks += group.ranks == NULL ? 0 : group.count;
    *place = group;
    return 0;
}

/* Marks: 1 in the first group, 2 in the second. */
static uint8_t *dumpi_groups_mark(const struct dumpi_comms *comms, const struct group *first,
                                  const struct group *second)
{
    uint8_t *marks = calloc((size_t)comms->ranks + 1, 1);
    for (uint32_t i = 0; marks != NULL && i < first->count; i++)
        marks[group_rank(first, i)] |= 1;
    for (uint32_t i = 0; marks != NULL && i < second->count; i++)
        marks[group_rank(second, i)] |= 2;
    return marks;
}

/* In the order of the first group, then of the second (MPI 3.1, section 6.3.2). */
static int dumpi_groups_combine(struct dumpi_comms *comms, struct rank_comms *rank,
                                const struct step *step)
{
    const struct group *first = dumpi_group(rank, step->a), *second = dumpi_group(rank, step->b);
    if (first == NULL || second == NULL)
        return dumpi_groups_put_group(comms, rank, step->result, unknown);
    uint8_t *marks = dumpi_groups_mark(comms, first, second);
    int32_t *ranks = malloc(((size_t)first->count + second->count + 1) * sizeof *ranks);
    if (marks == NULL || ranks == NULL) {
        free(marks);
        free(ranks);
        return -ENOMEM;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < first->count; i++) {
        int32_t world = group_rank(first, i);
        int both = marks[world] == 3;
        if (step->function == DUMPI_Group_union ||
            both == (step->function == DUMPI_Group_intersection))
            ranks[count++] = world;
    }
    for (uint32_t i = 0; step->function == DUMPI_Group_union && i < second->count; i++)
        if (marks[group_rank(second, i)] == 2)
            ranks[count++] = group_rank(second, i);
    free(marks);
    return dumpi_groups_put_group(comms, rank, step->result,
                                  (struct group){ranks, count, ranks != NULL});
}

/* Positions that a list, or a list of ranges (first, last, stride), names. @param named  all 0 at
 * first: set to 1 for those named
 * @return their number; -1: the list is invalid, or names a position twice */
static int64_t dumpi_groups_positions(const struct rank_comms *rank, const struct step *step,
                                      uint32_t size, int32_t *out, uint8_t *named)
{
    const int32_t *list = rank->numbers + step->list;
    int64_t count = 0;
    int ranges =
        step->function == DUMPI_Group_range_incl || step->function == DUMPI_Group_range_excl;
    uint32_t each = ranges ? 3 : 1;
    for (uint32_t i = 0; i + each <= step->length; i += each) {
        int64_t at = list[i], last = ranges ? list[i + 1] : at, stride = ranges ? list[i + 2] : 1;
        if (stride == 0)
            return -1;
        for (; stride > 0 ? at <= last : at >= last; at += stride) {
            if (at < 0 || at >= size || named[at])
                return -1;
            named[at] = 1;
            out[count++] = (int32_t)at;
        }
    }
    return count;
}

static int dumpi_groups_choose(struct dumpi_comms *comms, struct rank_comms *rank,
                               const struct step *step)
{
    const struct group *from = dumpi_group(rank, step->a);
    if (from == NULL)
        return dumpi_groups_put_group(comms, rank, step->result, unknown);
    int without = step->function == DUMPI_Group_excl || step->function == DUMPI_Group_range_excl;
    int32_t *ranks = malloc(((size_t)from->count + 1) * sizeof *ranks);
    uint8_t *named = calloc((size_t)from->count + 1, 1);
    if (ranks == NULL || named == NULL) {
        free(ranks);
        free(named);
        return -ENOMEM;
    }
    int64_t count = dumpi_groups_positions(rank, step, from->count, ranks, named);
    if (without && count >= 0) {
        count = 0;
        for (uint32_t i = 0; i < from->count; i++)
            if (!named[i])
                ranks[count++] = (int32_t)i;
    }
    for (int64_t i = 0; i < count; i++)
        ranks[i] = group_rank(from, (uint32_t)ranks[i]);
    free(named);
    if (count < 0) {
        free(ranks);
        return dumpi_groups_put_group(comms, rank, step->result, unknown);
    }
    return dumpi_groups_put_group(comms, rank, step->result,
                                  (struct group){ranks, (uint32_t)count, 1});
}

static int dumpi_groups_of_comm(struct dumpi_comms *comms, struct rank_comms *rank,
                                const struct step *step, const struct comm *comm)
{
    if (comm == NULL || comm->self || !comm_known(comm))
        return dumpi_groups_put_group(comms, rank, step->result, unknown);
    if (comm->identity)
        return dumpi_groups_put_group(comms, rank, step->result,
                                      (struct group){NULL, comm->size, 1});
    int32_t *ranks = malloc(((size_t)comm->size + 1) * sizeof *ranks);
    if (ranks == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < comm->size; i++)
        ranks[i] = comm->members[i];
    return dumpi_groups_put_group(comms, rank, step->result, (struct group){ranks, comm->size, 1});
}

int dumpi_group_step(struct dumpi_comms *comms, struct rank_comms *rank, const struct step *step,
                     const struct comm *comm)
{
    switch (step->function) {
    case DUMPI_Group_union:
    case DUMPI_Group_intersection:
    case DUMPI_Group_difference:
        return dumpi_groups_combine(comms, rank, step);
    case DUMPI_Group_incl:
    case DUMPI_Group_excl:
    case DUMPI_Group_range_incl:
    case DUMPI_Group_range_excl:
        return dumpi_groups_choose(comms, rank, step);
    case DUMPI_Comm_group:
        return dumpi_groups_of_comm(comms, rank, step, comm);
    default: /* freed, or a group of something with unknown members */
        return dumpi_groups_put_group(comms, rank, step->result, unknown);
    }
}
