/* Inside of dumpi_comms: what ranks have told, and what was made of it. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_STATE_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_COMMS_STATE_H

#include "daemon/import/dumpi/dumpi_comms.h"

#include <stdatomic.h>

#define DUMPI_NOBODY UINT32_MAX      /* no communicator */
#define DUMPI_LATER (UINT32_MAX - 1) /* its other members have not told yet */
#define DUMPI_STEPS_MOST (1u << 20)  /* of a rank that are kept */

/* A call about communicators or groups. */
struct step {
    uint16_t function;
    uint16_t slot; /* of what it makes; 0: nothing */
    struct dumpi_making making;
    int32_t a, b;                 /* color and key; groups; reorder */
    int32_t result;               /* group */
    uint32_t list, length;        /* in the rank's numbers */
    int32_t seen_rank, seen_size; /* what the program was told of what was made; -1: nothing */
};

/* A communicator as one of its members has it. */
struct place {
    uint32_t comm; /* position; DUMPI_NOBODY, DUMPI_LATER */
    int32_t rank;  /* own one; -1: not known */
    uint32_t made; /* how many were made from it */
};

/* A group: world ranks, each once, in order. */
struct group {
    int32_t *ranks; /* own memory; NULL: world rank and rank are the same */
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
    size_t step_room;
    int32_t *numbers;
    uint32_t number_count;
    size_t number_room;
    uint32_t slot_count;
    uint32_t *last; /* by handle: step that made it, from 1; 0: none */
    uint32_t handle_room;
    int overflow; /* steps were left out */
    int creates;  /* MPI_Comm_create was called: groups matter */
    struct {
        char text[64];
        uint32_t step;
    } * names;
    uint32_t name_count;
    /* settling */
    uint32_t next;
    struct place *places; /* by slot */
    uint16_t *slot_of;    /* by handle, handle_room of them; UINT16_MAX: none */
    struct group *groups; /* by handle */
    uint32_t group_room;
    uint8_t queued;
};

struct arrival {
    uint32_t rank, step;
    int32_t own; /* rank in the communicator */
};

/* All members of a communicator making others from it by one call. */
struct joint {
    uint32_t arrived;         /* all */
    struct arrival *arrivals; /* those that wait for the others */
    uint32_t waiting;
    size_t room;
    uint32_t *by_first; /* communicators by the world rank of their first member, from 1 */
};

struct comm {
    uint64_t id, parent;
    uint32_t size;
    int32_t *members; /* of a member list, perhaps of another communicator's; NULL: see identity */
    uint8_t identity, self, copy, inter, doubtful;
    uint16_t function;  /* that made it */
    uint32_t made_from; /* position; DUMPI_NOBODY */
    int32_t *dims;      /* of a Cartesian one: own memory */
    uint32_t dim_count;
    struct joint **joints;
    uint32_t joint_count;
    char name[64];
};

/* Members of communicators: kept until the end, for copies have the same. */
struct member_list {
    struct member_list *next;
    int32_t members[];
};

struct dumpi_comms {
    uint32_t ranks;
    struct rank_comms *of;
    int32_t *own; /* by rank: itself, as the members of its MPI_COMM_SELF */
    struct comm *comms;
    uint32_t count;
    size_t room;
    struct member_list *lists;
    uint64_t members;     /* numbers held by communicators */
    uint64_t group_ranks; /* and by groups */
    uint64_t unresolved;
    _Atomic uint64_t numbers;
    uint32_t *queue; /* ranks that may go on: a ring, each at most once */
    uint32_t queue_first, queue_count;
};

/* Same id on all members. */
uint64_t dumpi_mix(uint64_t a, uint64_t b);

static inline int comm_known(const struct comm *comm)
{
    return comm->identity || comm->members != NULL;
}

/* World rank of a member. @param rank  below the size of a communicator whose members are known */
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
    struct place *place; /* of what is made; NULL: it has no slot */
};

/* @return position of a new one; DUMPI_NOBODY: no memory */
uint32_t dumpi_add_comm(struct dumpi_comms *comms, uint32_t parent, uint16_t function, uint64_t id);
/* Room for the members. @return NULL: too many, or no memory: they stay unknown */
int32_t *dumpi_add_members(struct dumpi_comms *comms, uint32_t at, uint32_t size);
void dumpi_copy_members(struct comm *to, const struct comm *from);
/* The part of a making whose first member this is: one of another member, or a new one.
 * @param first  world rank @param fresh  set: its members are to be told */
uint32_t dumpi_part_of(struct dumpi_comms *comms, struct joint *joint, uint32_t parent,
                       uint32_t ordinal, uint16_t function, uint32_t first, int *fresh);
/* Keep what a Cartesian communicator's ranks are laid out by. */
int dumpi_keep_dims(struct comm *comm, const struct rank_comms *rank, const struct step *step);
int dumpi_makes_inter(uint16_t function);
/* Nobody knows who is in it; the same members have the same id. */
int dumpi_make_unknown(const struct maker *m, uint64_t salt, int inter);
int dumpi_make_of_self(const struct maker *m);
/* What needs no other member to tell. */
int dumpi_make_at_once(const struct maker *m);

/* ---- dumpi_groups.c: groups of one rank ------------------------------------------ */

/* Do what a step says about groups. @param comm  MPI_Comm_group: of which communicator; NULL: not
 * known
 * @return 0 or -ENOMEM */
int dumpi_group_step(struct dumpi_comms *comms, struct rank_comms *rank, const struct step *step,
                     const struct comm *comm);

/* @return NULL: not known */
const struct group *dumpi_group(const struct rank_comms *rank, int32_t handle);

void dumpi_groups_finish(struct dumpi_comms *comms, struct rank_comms *rank);

#endif
