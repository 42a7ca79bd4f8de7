/* Lookups in the job of an OTF2 archive: see otf2_job.h. */
#include "daemon/import/otf2/otf2_job.h"

#include "holter/bisect.h"

/* @return position of a rank; UINT32_MAX: it is not in the group */
static uint32_t otf2_job_position_of(const struct otf2_group *group, uint32_t rank)
{
    if (group->world == NULL)
        return rank < group->size ? rank : UINT32_MAX;
    uint32_t low = BISECT(i, 0, group->size, group->world[group->by_rank[i]] < (int32_t)rank);
    return low < group->size && group->world[group->by_rank[low]] == (int32_t)rank
               ? group->by_rank[low]
               : UINT32_MAX;
}

static int32_t otf2_job_member(const struct otf2_group *group, uint32_t position)
{
    if (position >= group->size)
        return PEER_UNKNOWN;
    return group->world == NULL ? (int32_t)position : group->world[position];
}

int32_t otf2_job_peer(const struct otf2_job *job, uint32_t rank, uint32_t number, uint32_t position,
                      int *inter)
{
    *inter = 0;
    if (number >= job->comm_count)
        return PEER_UNKNOWN;
    const struct otf2_comm *comm = &job->comms[number];
    if (comm->self)
        return position == 0 ? (int32_t)rank : PEER_UNKNOWN;
    if (comm->remote.size == 0)
        return otf2_job_member(&comm->group, position);
    *inter = 1;
    int of_first = otf2_job_position_of(&comm->group, rank) != UINT32_MAX;
    return otf2_job_member(of_first ? &comm->remote : &comm->group, position);
}

int otf2_job_comm(const struct otf2_job *job, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    if (slot >= job->comm_count)
        return 1;
    const struct otf2_comm *comm = &job->comms[slot];
    *out = comm->known;
    uint32_t position = otf2_job_position_of(&comm->group, rank);
    if (comm->self) {
        out->my_rank = 0;
        return 0;
    }
    if (position == UINT32_MAX && comm->remote.size > 0) {
        position = otf2_job_position_of(&comm->remote, rank);
        out->size = comm->known.remote_size;
        out->remote_size = comm->known.size;
    }
    out->my_rank = position <= INT32_MAX ? (int32_t)position : -1;
    return 0;
}
