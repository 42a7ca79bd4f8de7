#include "plan.h"
#include "truth.h"

#include <stdlib.h>
#include <string.h>

uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int draw_below(uint64_t *state, int below)
{
    return (int)(draw(state) % (uint64_t)below);
}

static int *world_ranks(MPI_Group group, int n)
{
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int *from = malloc(sizeof(int) * (size_t)n), *to = malloc(sizeof(int) * (size_t)n);
    if (!from || !to)
        truth_broken("out of memory");
    for (int i = 0; i < n; i++)
        from[i] = i;
    MPI_Group_translate_ranks(group, n, from, world, to);
    MPI_Group_free(&world);
    free(from);
    return to;
}

void space_init(struct space *space, MPI_Comm comm)
{
    MPI_Group here, there;
    space->comm = comm;
    MPI_Comm_test_inter(comm, &space->inter);
    MPI_Comm_rank(comm, &space->me);
    MPI_Comm_group(comm, &here);
    if (space->inter)
        MPI_Comm_remote_group(comm, &there);
    else
        MPI_Comm_group(comm, &there);
    MPI_Group_size(here, &space->here);
    MPI_Group_size(there, &space->there);
    space->here_world = world_ranks(here, space->here);
    space->there_world = world_ranks(there, space->there);
    MPI_Group_free(&here);
    MPI_Group_free(&there);
}

void space_finish(struct space *space)
{
    free(space->here_world);
    free(space->there_world);
}

static size_t draw_bytes(uint64_t *state, size_t most)
{
    static const size_t limits[] = {1, 64, 64, 1024, 1024, 4096, 16384, 65536, 262144, 8388608};
    size_t limit = limits[draw_below(state, 10)];
    if (limit > most)
        limit = most;
    return limit < 2 ? 0 : (size_t)draw_below(state, (int)limit + 1);
}

struct message *plan_draw(uint64_t *state, const struct space *space, int n, size_t most_bytes,
                          int first_tag)
{
    struct message *plan = calloc((size_t)n, sizeof *plan);
    if (!plan)
        truth_broken("out of memory");
    /* both ends of an inter-communicator must name them alike: the one with the lower first rank is
     * A */
    int i_am_a = !space->inter || space->here_world[0] < space->there_world[0];
    int a = i_am_a ? space->here : space->there, b = i_am_a ? space->there : space->here;
    for (int i = 0; i < n; i++) {
        struct message *m = &plan[i];
        int from_a = draw_below(state, 2) || !space->inter;
        m->from = draw_below(state, from_a ? a : b);
        m->to = draw_below(state, from_a ? b : a);
        m->tag = first_tag + draw_below(state, PLAN_TAGS);
        m->bytes = draw_bytes(state, most_bytes);
        m->serial = draw(state);
        m->sent_by_me = (from_a == i_am_a || !space->inter) && m->from == space->me;
        m->received_by_me = (from_a != i_am_a || !space->inter) && m->to == space->me;
        m->to_world = m->sent_by_me ? space->there_world[m->to] : -1;
        m->from_world = m->received_by_me ? space->there_world[m->from] : -1;
    }
    return plan;
}

static char payload_byte(const struct message *m, size_t i)
{
    return (char)((m->serial >> (i % 8 * 8)) + i / 8);
}

char *message_payload(const struct message *message)
{
    char *bytes = malloc(message->bytes + 1);
    if (!bytes)
        truth_broken("out of memory");
    for (size_t i = 0; i < message->bytes; i++)
        bytes[i] = payload_byte(message, i);
    return bytes;
}

uint64_t message_serial(const char *bytes)
{
    uint64_t serial = 0;
    for (size_t i = 0; i < 8; i++)
        serial |= (uint64_t)(unsigned char)bytes[i] << (i * 8);
    return serial;
}

void message_check(const struct message *message, const char *bytes, size_t length)
{
    if (length != message->bytes)
        truth_broken("a message of %zu bytes arrived as %zu", message->bytes, length);
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != payload_byte(message, i))
            truth_broken("byte %zu of %zu of a message is wrong", i, length);
}

int message_find(struct message *messages, int n, int from, int tag, const char *bytes,
                 size_t length)
{
    for (int i = 0; i < n; i++) {
        struct message *m = &messages[i];
        size_t k = 0;
        if (!m->received_by_me || m->taken || m->from != from || m->tag != tag ||
            m->bytes != length)
            continue;
        while (k < length && k < 8 && bytes[k] == payload_byte(m, k))
            k++;
        if (k == length || k == 8) {
            m->taken = 1;
            return i;
        }
    }
    truth_broken("a message arrived that nobody sent to this rank");
}
