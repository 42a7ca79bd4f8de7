/* Names and classes of MPI calls. */
#include "holter/call.h"
#include "holter/event.h"

#include <stddef.h>
#include <string.h>

static const char *const names[CALL_NUMBERS] = {
#define X(number, name, class_) [number] = "MPI_" #name,
    CALL_LIST(X)
#undef X
};

static const uint8_t classes[CALL_NUMBERS] = {
#define X(number, name, class_) [number] = (class_) + 1, /* 0: no such number */
    CALL_LIST(X)
#undef X
};

static const char *const local_names[] = {
#define X(name) #name,
    CALL_LOCAL_LIST(X)
#undef X
};

static const char *const class_names[CALL_CLASSES] = {
    [CALL_SEND] = "send",
    [CALL_RECV] = "recv",
    [CALL_WAIT] = "wait",
    [CALL_POLL] = "poll",
    [CALL_COLLECTIVE] = "collective",
    [CALL_ONE_SIDED] = "one-sided",
    [CALL_IO] = "io",
    [CALL_OTHER] = "other",
};

const char *call_name(uint16_t call)
{
    return call < CALL_NUMBERS && names[call] ? names[call] : "MPI_?";
}

enum call_class call_class_of(uint16_t call)
{
    if (call >= CALL_NUMBERS || classes[call] == 0)
        return CALL_OTHER;
    return (enum call_class)(classes[call] - 1);
}

/* Immediate and persistent collectives have their numbers in the order of the blocking ones. */
static const struct {
    uint32_t first, last, blocking;
    int persistent;
} forms[] = {
    {CALL_Barrier, CALL_Exscan, CALL_Barrier, 0},
    {CALL_Ibarrier, CALL_Iexscan, CALL_Barrier, 0},
    {CALL_Barrier_init, CALL_Exscan_init, CALL_Barrier, 1},
    {CALL_Neighbor_allgather, CALL_Neighbor_alltoallw, CALL_Neighbor_allgather, 0},
    {CALL_Ineighbor_allgather, CALL_Ineighbor_alltoallw, CALL_Neighbor_allgather, 0},
    {CALL_Neighbor_allgather_init, CALL_Neighbor_alltoallw_init, CALL_Neighbor_allgather, 1},
};

/* @return the blocking form; 0: it is no collective. @param persistent  set */
static uint32_t call_blocking_form(uint32_t call, int *persistent)
{
    *persistent = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (call < forms[i].first || call > forms[i].last)
            continue;
        *persistent = forms[i].persistent;
        return forms[i].blocking + (call - forms[i].first);
    }
    return 0;
}

int call_is_blocking_send(uint32_t call)
{
    return call == CALL_Send || call == CALL_Ssend || call == CALL_Rsend || call == CALL_Bsend;
}

int call_is_exchange(uint32_t call)
{
    return call == CALL_Sendrecv || call == CALL_Sendrecv_replace;
}

int call_serves_any(uint32_t call, int64_t peer)
{
    return peer == PEER_ANY && (call == CALL_Recv || call == CALL_Probe || call == CALL_Mprobe);
}

int call_is_blocking_collective(uint32_t call)
{
    int persistent;
    return call != 0 && call_blocking_form(call, &persistent) == call;
}

int call_is_persistent_collective(uint32_t call)
{
    int persistent;
    call_blocking_form(call, &persistent);
    return persistent;
}

enum call_flow call_flow_of(uint32_t call)
{
    int persistent;
    switch (call_blocking_form(call, &persistent)) {
    case CALL_Barrier:
    case CALL_Allreduce:
    case CALL_Allgather:
    case CALL_Allgatherv:
    case CALL_Alltoall:
    case CALL_Alltoallv:
    case CALL_Alltoallw:
    case CALL_Reduce_scatter:
    case CALL_Reduce_scatter_block:
        return CALL_FLOW_ALL;
    case CALL_Bcast:
    case CALL_Scatter:
    case CALL_Scatterv:
        return CALL_FLOW_OUT;
    case CALL_Reduce:
    case CALL_Gather:
    case CALL_Gatherv:
        return CALL_FLOW_IN;
    case CALL_Scan:
    case CALL_Exscan:
        return CALL_FLOW_PREFIX;
    case CALL_Neighbor_allgather:
    case CALL_Neighbor_allgatherv:
    case CALL_Neighbor_alltoall:
    case CALL_Neighbor_alltoallv:
    case CALL_Neighbor_alltoallw:
        return CALL_FLOW_NEIGHBOURS;
    default:
        return CALL_FLOW_NONE;
    }
}

const char *call_class_name(enum call_class class_)
{
    return (unsigned)class_ < CALL_CLASSES ? class_names[class_] : "other";
}

/* The function's name without "MPI_" or "PMPI_", and its length without the "_c" of the large-count
 * form.
 * @return NULL when it has no such prefix */
static const char *bare_name(const char *name, size_t *length)
{
    if (*name == 'P')
        name++;
    if (strncmp(name, "MPI_", 4) != 0)
        return NULL;
    name += 4;
    size_t n = strlen(name);
    *length = n > 2 && strcmp(name + n - 2, "_c") == 0 ? n - 2 : n;
    return name;
}

static int call_matches(const char *candidate, const char *name, size_t length)
{
    return strlen(candidate) == length && memcmp(candidate, name, length) == 0;
}

uint16_t call_by_name(const char *name)
{
    size_t length;
    const char *bare = bare_name(name, &length);
    if (!bare)
        return 0;
    for (unsigned call = 1; call < CALL_NUMBERS; call++) {
        if (names[call] && call_matches(names[call] + 4, bare, length))
            return (uint16_t)call;
    }
    return 0;
}

int call_is_local(const char *name)
{
    size_t length;
    const char *bare = bare_name(name, &length);
    if (!bare)
        return 0;
    /* Only callbacks that the library predefines (MPI_NULL_COPY_FN) and the like have no small
     * letter. */
    if (strcspn(bare, "abcdefghijklmnopqrstuvwxyz") == strlen(bare))
        return length > 2;
    /* Tool information interface, and conversions of handles between languages: "_c2f", "_f2c". */
    if (strncmp(bare, "T_", 2) == 0)
        return 1;
    if (length > 4 &&
        (!memcmp(bare + length - 4, "_c2f", 4) || !memcmp(bare + length - 4, "_f2c", 4)))
        return 1;
    for (size_t i = 0; i < sizeof(local_names) / sizeof(local_names[0]); i++) {
        if (call_matches(local_names[i], bare, length))
            return 1;
    }
    return 0;
}
