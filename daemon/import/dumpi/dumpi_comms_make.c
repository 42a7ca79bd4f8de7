/* Making of communicators as far as one call of one rank determines their members. */
#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_comms_state.h"
#include "holter/message_key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* mix64 of Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
 * figure 15. Ids are made as in the probe: from the parent, the number of communicators made from
 * it before, and the world rank of the first member. */
uint64_t dumpi_mix(uint64_t a, uint64_t b)
{
    uint64_t z =
        message_key_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0xd1b54a32d192ed03));
    return z > 2 ? z : z + 3; /* 0 stands for none, 1 for MPI_COMM_WORLD, 2 for MPI_COMM_SELF */
}

/* ---- communicators --------------------------------------------------------- */

uint32_t dumpi_add_comm(struct dumpi_comms *comms, uint32_t parent, uint16_t function, uint64_t id)
{
    if (ARRAY_FIT(comms->comms, comms->capacity, comms->count + (size_t)1) != 0)
        return DUMPI_NOBODY;
    struct comm *comm = &comms->comms[comms->count];
    *comm = (struct comm){.id = id};
    comm->parent = parent < comms->count ? comms->comms[parent].id : 0;
    comm->made_from = parent;
    strncpy(comm->name, dumpi_layout(function)->name, sizeof comm->name - 1);
    return comms->count++;
}

int32_t *dumpi_add_members(struct dumpi_comms *comms, uint32_t at, uint32_t size)
{
    struct comm *comm = &comms->comms[at];
    comm->size = size;
    if (comms->members + size > DUMPI_MAX_MEMBERS)
        return NULL;
    struct member_list *list = malloc(sizeof *list + (size_t)size * sizeof list->members[0]);
    if (list == NULL)
        return NULL;
    list->next = comms->lists;
    comms->lists = list;
    comms->members += size;
    return comm->members = list->members;
}

void dumpi_copy_members(struct comm *to, const struct comm *from)
{
    to->size = from->size;
    to->members = from->members;
    to->identity = from->identity;
    to->inter = from->inter;
}

/* ---- members that make together -------------------------------------------- */

uint32_t dumpi_find_part(const struct maker *m, uint32_t first, int *fresh)
{
    struct joint *joint = m->joint;
    if (joint->by_first == NULL)
        joint->by_first = calloc((size_t)m->comms->ranks + 1, sizeof *joint->by_first);
    if (joint->by_first == NULL)
        return DUMPI_NOBODY;
    uint32_t *part = &joint->by_first[first];
    *fresh = *part == 0;
    if (*fresh) {
        uint64_t id =
            dumpi_mix(dumpi_mix(m->comms->comms[m->parent].id, m->ordinal), dumpi_mix(3, first));
        uint32_t at = dumpi_add_comm(m->comms, m->parent, m->step->function, id);
        if (at == DUMPI_NOBODY)
            return at;
        *part = at + 1;
    }
    return *part - 1;
}

/* ---- kinds of making that need no other member ------------------------------ */

static int dumpi_maker_put(const struct maker *m, uint32_t comm, int32_t rank)
{
    if (m->place != NULL && comm != DUMPI_NOBODY)
        *m->place = (struct place){comm, rank, 0};
    return comm == DUMPI_NOBODY ? -ENOMEM : 0;
}

int dumpi_make_unknown(const struct maker *m, uint64_t salt, int inter)
{
    uint64_t parent =
        m->parent < m->comms->count ? m->comms->comms[m->parent].id : dumpi_mix(8, m->number);
    uint32_t at = dumpi_add_comm(m->comms, m->parent, m->step->function,
                                 dumpi_mix(dumpi_mix(parent, m->ordinal), salt));
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    m->comms->comms[at].inter = inter != 0;
    return dumpi_maker_put(m, at, -1);
}

static int dumpi_maker_make_copy(const struct maker *m)
{
    int fresh;
    uint32_t at = dumpi_find_part(m, 0, &fresh);
    if (at != DUMPI_NOBODY && fresh) {
        dumpi_copy_members(&m->comms->comms[at], &m->comms->comms[m->parent]);
        m->comms->comms[at].copy = 1;
    }
    return dumpi_maker_put(m, at, m->own);
}

static int dumpi_maker_make_of_group(const struct maker *m)
{
    const struct group *group = dumpi_group(m->rank, m->step->a);
    if (group == NULL || group->count == 0)
        return dumpi_make_unknown(m, (uint64_t)(uint32_t)m->step->a, 0);
    int fresh;
    uint32_t at = dumpi_find_part(m, (uint32_t)group_rank(group, 0), &fresh);
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    int32_t own = -1, *members = NULL;
    if (fresh && group->ranks == NULL && group->count == m->comms->ranks) {
        m->comms->comms[at].size = group->count;
        m->comms->comms[at].identity = 1;
    } else if (fresh) {
        members = dumpi_add_members(m->comms, at, group->count);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (members != NULL)
            members[i] = group_rank(group, i);
        if (group_rank(group, i) == (int32_t)m->number)
            own = (int32_t)i;
    }
    return dumpi_maker_put(m, at, own);
}

/* Make the rows, planes ... of a Cartesian communicator, whose ranks are in row-major order
 * (MPI 3.1, section 7.5.5): members have the same coordinates in all dimensions that are dropped.
 */
static int dumpi_maker_make_rows(const struct maker *m)
{
    const struct comm *parent = &m->comms->comms[m->parent];
    const int32_t *remain = m->rank->numbers + m->step->list;
    uint64_t all = 1;
    for (uint32_t i = 0; i < parent->dim_count && all <= parent->size; i++)
        all *= (uint64_t)parent->dims[i];
    if (parent->dim_count == 0 || all != parent->size || m->step->length < parent->dim_count ||
        m->own < 0 || (uint32_t)m->own >= parent->size)
        return dumpi_make_unknown(m, 6, 0);
    uint64_t size = 1, stride = 1, base = 0, own = 0, rest = (uint64_t)m->own;
    for (uint32_t i = parent->dim_count; i-- > 0;) {
        uint64_t dim = (uint64_t)parent->dims[i], at = rest % dim;
        own += remain[i] ? at * size : 0;
        base += remain[i] ? 0 : at * stride;
        size *= remain[i] ? dim : 1;
        stride *= dim;
        rest /= dim;
    }
    int fresh;
    uint32_t at = dumpi_find_part(m, (uint32_t)comm_member(parent, (uint32_t)base), &fresh);
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    parent = &m->comms->comms[m->parent]; /* the table may have been reallocated */
    int32_t *members = fresh ? dumpi_add_members(m->comms, at, (uint32_t)size) : NULL;
    for (uint64_t k = 0; members != NULL && k < size; k++) {
        uint64_t rank = base, left = k;
        stride = 1;
        for (uint32_t i = parent->dim_count; i-- > 0;) {
            uint64_t dim = (uint64_t)parent->dims[i];
            rank += remain[i] ? left % dim * stride : 0;
            left = remain[i] ? left / dim : left;
            stride *= dim;
        }
        members[k] = comm_member(parent, (uint32_t)rank);
    }
    return dumpi_maker_put(m, at, (int32_t)own);
}

/* Sizes of the dimensions of a new Cartesian communicator. @return number of its ranks; 0: invalid
 * sizes */
static uint32_t dumpi_maker_cart_size(const struct rank_comms *rank, const struct step *step,
                                      uint32_t most)
{
    uint64_t size = step->length == 0 ? 0 : 1;
    for (uint32_t i = 0; i < step->length; i++) {
        int32_t dim = rank->numbers[step->list + i];
        size = dim <= 0 ? 0 : size * (uint64_t)dim;
        if (size == 0 || size > most)
            return 0;
    }
    return (uint32_t)size;
}

int dumpi_store_dims(struct comm *comm, const struct rank_comms *rank, const struct step *step)
{
    if (step->function != DUMPI_Cart_create || comm->dims != NULL ||
        dumpi_maker_cart_size(rank, step, comm->size) != comm->size)
        return 0;
    comm->dims = malloc((step->length + 1) * sizeof *comm->dims);
    if (comm->dims == NULL)
        return -ENOMEM;
    memcpy(comm->dims, rank->numbers + step->list, step->length * sizeof *comm->dims);
    comm->dim_count = step->length;
    return 0;
}

static uint32_t topology_size(const struct maker *m)
{
    uint32_t most = m->comms->comms[m->parent].size;
    if (m->step->function == DUMPI_Cart_create)
        return dumpi_maker_cart_size(m->rank, m->step, most);
    return m->step->a > 0 && (uint32_t)m->step->a <= most ? (uint32_t)m->step->a : 0;
}

/* A communicator with a topology consists of the first ranks of the parent, in its order. */
static int dumpi_maker_make_topology(const struct maker *m)
{
    uint32_t size = topology_size(m);
    int fresh;
    if (size == 0)
        return dumpi_make_unknown(m, 9, 0);
    uint32_t at = dumpi_find_part(m, 0, &fresh);
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    struct comm *comm = &m->comms->comms[at];
    const struct comm *parent = &m->comms->comms[m->parent];
    if (fresh && size == parent->size) {
        dumpi_copy_members(comm, parent);
    } else if (fresh) {
        int32_t *members = dumpi_add_members(m->comms, at, size);
        for (uint32_t i = 0; members != NULL && i < size; i++)
            members[i] = comm_member(parent, i);
    }
    return dumpi_store_dims(comm, m->rank, m->step) != 0 ? -ENOMEM : dumpi_maker_put(m, at, m->own);
}

int dumpi_makes_inter(uint16_t function)
{
    return function == DUMPI_Intercomm_create || function == DUMPI_Comm_accept ||
           function == DUMPI_Comm_connect || function == DUMPI_Comm_spawn ||
           function == DUMPI_Comm_spawn_multiple || function == DUMPI_Comm_join;
}

/* A communicator of one rank only makes communicators of one rank. */
int dumpi_make_of_self(const struct maker *m)
{
    uint64_t id = dumpi_mix(dumpi_mix(m->comms->comms[m->parent].id, m->ordinal), m->number);
    uint32_t at = dumpi_add_comm(m->comms, m->parent, m->step->function, id);
    if (at == DUMPI_NOBODY)
        return -ENOMEM;
    m->comms->comms[at].size = 1;
    m->comms->comms[at].self = 1;
    return dumpi_maker_put(m, at, 0);
}

int dumpi_make_alone(const struct maker *m)
{
    if (m->comms->comms[m->parent].inter)
        return dumpi_make_unknown(m, 5, m->step->function != DUMPI_Intercomm_merge);
    switch (m->step->function) {
    case DUMPI_Comm_dup:
    case DUMPI_Win_create:
        return dumpi_maker_make_copy(m);
    case DUMPI_Comm_create:
        return dumpi_maker_make_of_group(m);
    case DUMPI_Cart_sub:
        return dumpi_maker_make_rows(m);
    case DUMPI_Cart_create:
    case DUMPI_Graph_create:
        return dumpi_maker_make_topology(m);
    default:
        return dumpi_make_unknown(m, 5, dumpi_makes_inter(m->step->function));
    }
}
