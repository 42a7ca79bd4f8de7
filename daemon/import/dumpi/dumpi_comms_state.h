/* The state of struct dumpi_comms: the steps of the ranks, and the communicators made from them.
 * Internal to dumpi_comms*.c and dumpi_groups.c. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_STATE_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_STATE_H

#include "daemon/import/dumpi/dumpi_comms.h"

#include <stdatomic.h>

#define DUMPI_NOBODY UINT32_MAX      /* no communicator */
#define DUMPI_LATER (UINT32_MAX - 1) /* the calls of its other members are not known yet */
#define DUMPI_MAX_STEPS (1u << 20)   /* maximum number of stored steps of a rank */

/* A call on communicators or groups. */
struct step {
    uint16_t function;
    uint16_t slot; /* of the communicator that it makes; 0: none */
    struct dumpi_making making;
    int32_t a, b;          /* arguments: color and key; groups; reorder */
    int32_t result;        /* handle of the group that it makes */
    uint32_t list, length; /* range in the rank's list of numbers */
    int32_t seen_rank,
        seen_size; /* what the program queried of the new communicator; -1: nothing */
};

/* A communicator as seen by one of its members. */
struct place {
    uint32_t comm; /* position; DUMPI_NOBODY, DUMPI_LATER */
    int32_t rank;  /* rank of the member; -1: unknown */
    uint32_t made; /* number of communicators made from it */
};

/* A group: world ranks, each once, in order. */
struct group {
    int32_t *ranks; /* owned; NULL: ranks of the group are world ranks */
    uint32_t count;
    int known;
};

static inline int32_t group_rank(const struct group *group, uint32_t i)
{
    return group->ranks == NULL ? (int32_t)i : group->ranks[i];
}

struct rank_comms {
    struct step *steps;
    uint32_t step_count;
    size_t step_capacity;
    int32_t *numbers;
    uint32_t number_count;
    size_t number_capacity;
    uint32_t slot_count;
    uint32_t *last; /* by handle: index + 1 of the step that made it; 0: none */
    uint32_t handle_capacity;
    int overflow; /* steps were dropped */
    int creates;  /* MPI_Comm_create was called: groups matter */
    struct {
        char text[64];
        uint32_t step;
    } * names;
    uint32_t name_count;
    /* State of the resolution. */
    uint32_t next;
    struct place *places; /* by slot */
    uint16_t *slot_of;    /* by handle, handle_capacity entries; UINT16_MAX: none */
    struct group *groups; /* by handle */
    uint32_t group_capacity;
    uint8_t queued;
};

struct arrival {
    uint32_t rank, step;
    int32_t own; /* rank in the parent */
};

/* One call by which all members of a communicator make others from it. */
struct joint {
    uint32_t arrived;         /* total number of arrivals */
    struct arrival *arrivals; /* members that wait for the others */
    uint32_t waiting;
    size_t capacity;
    uint32_t *by_first; /* by world rank of its first member: communicator + 1 */
};

struct comm {
    uint64_t id, parent;
    uint32_t size;
    int32_t *members; /* points into a member list, which copies share; NULL: see identity */
    uint8_t identity, self, copy, inter, doubtful;
    uint32_t made_from; /* position; DUMPI_NOBODY */
    int32_t *dims;      /* of a Cartesian communicator; owned */
    uint32_t dim_count;
    struct joint **joints;
    uint32_t joint_count;
    char name[64];
};

/* Members of communicators: kept until the end, because copies of a communicator share them. */
struct member_list {
    struct member_list *next;
    int32_t members[];
};

struct dumpi_comms {
    uint32_t ranks;
    struct rank_comms *of;
    int32_t *own; /* by rank: the rank itself, as the member of its MPI_COMM_SELF */
    struct comm *comms;
    uint32_t count;
    size_t capacity;
    struct member_list *lists;
    uint64_t members;     /* numbers stored in communicators */
    uint64_t group_ranks; /* and in groups */
    uint64_t unresolved;
    _Atomic uint64_t numbers;
    uint32_t *queue; /* ranks that can continue: a ring, each rank at most once */
    uint32_t queue_first, queue_count;
};

/* Id of a communicator, equal on all members. */
uint64_t dumpi_mix(uint64_t a, uint64_t b);

static inline int comm_known(const struct comm *comm)
{
    return comm->identity || comm->members != NULL;
}

/* World rank of a member. @param rank  below the size of a communicator with known members */
static inline int32_t comm_member(const struct comm *comm, uint32_t rank)
{
    return comm->identity ? (int32_t)rank : comm->members[rank];
}

/* ---- dumpi_comms_make.c: one call of one rank -------------------------------------- */

struct maker {
    struct dumpi_comms *comms;
    struct rank_comms *rank;
    uint32_t number; /* world rank */
    struct step *step;
    uint32_t parent, ordinal;
    int32_t own; /* rank in the parent */
    struct joint *joint;
    struct place *place; /* of the new communicator; NULL: it has no slot */
};

/* @return position of a new communicator; DUMPI_NOBODY: no memory */
uint32_t dumpi_add_comm(struct dumpi_comms *comms, uint32_t parent, uint16_t function, uint64_t id);
/* Allocate the list of members. @return NULL: too many, or no memory: the members stay unknown */
int32_t *dumpi_add_members(struct dumpi_comms *comms, uint32_t at, uint32_t size);
void dumpi_copy_members(struct comm *to, const struct comm *from);
/* The part of a joint call whose first member has this world rank: an existing part of another
 * member, or a new one. @param first  world rank @param fresh  set: the caller must fill in the
 * members */
uint32_t dumpi_find_part(const struct maker *maker, uint32_t first, int *fresh);
/* Store the dimensions of a Cartesian communicator. */
int dumpi_store_dims(struct comm *comm, const struct rank_comms *rank, const struct step *step);
int dumpi_makes_inter(uint16_t function);
/* Make a communicator with unknown members; the same members compute the same id. */
int dumpi_make_unknown(const struct maker *m, uint64_t salt, int inter);
int dumpi_make_of_self(const struct maker *m);
/* Make a communicator that depends on no other member. */
int dumpi_make_alone(const struct maker *m);

/* ---- dumpi_groups.c: groups of one rank ------------------------------------------ */

/* Perform a step on groups. @param comm  MPI_Comm_group: the communicator; NULL: unknown @return 0
 * or -ENOMEM */
int dumpi_group_step(struct dumpi_comms *comms, struct rank_comms *rank, const struct step *step,
                     const struct comm *comm);

/* @return NULL: unknown */
const struct group *dumpi_group(const struct rank_comms *rank, int32_t handle);

void dumpi_groups_finish(struct dumpi_comms *comms, struct rank_comms *rank);

#endif
