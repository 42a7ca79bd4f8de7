/* The calls of MPI that Holter covers: their numbers, names and classes.
 *
 * The numbers come from agent/probe/calls.def and never change: they are stored in rings, messages
 * and recordings.
 */
#ifndef HOLTER_CALL_H
#define HOLTER_CALL_H

#include "holter/call_list.h" /* generated from calls.def: enum call { CALL_Send = 1, ... } */

#include <stdint.h>

/** Kinds of calls. The time of each rank is summed for each class. */
enum call_class {
    CALL_SEND,       /**< point-to-point sends, blocking and immediate, Start of sends */
    CALL_RECV,       /**< point-to-point receives, Sendrecv, Mrecv, blocking Probe */
    CALL_WAIT,       /**< Wait family */
    CALL_POLL,       /**< Test family, Iprobe, Improbe */
    CALL_COLLECTIVE, /**< blocking, immediate and neighbourhood collectives, Barrier */
    CALL_ONE_SIDED,  /**< put, get, accumulate and their synchronisation */
    CALL_IO,         /**< MPI_File_* */
    CALL_OTHER,      /**< Init, Finalize, communicator creation, Abort, Pcontrol and the rest */
    CALL_CLASSES,
};

/** Name of a call. @return "MPI_Send", or "MPI_?" for an unknown number */
const char *call_name(uint16_t call);

/** Class of a call; CALL_OTHER for an unknown number. */
enum call_class call_class_of(uint16_t call);

/** Short name of a class for people: "send", "recv", "wait", "poll", "collective", "one-sided",
 *  "io", "other". */
const char *call_class_name(enum call_class class_);

/** What a rank waits for in a collective. */
enum call_flow {
    CALL_FLOW_NONE,       /**< it is none */
    CALL_FLOW_ALL,        /**< each for all: none leaves before all have entered */
    CALL_FLOW_OUT,        /**< all for the root */
    CALL_FLOW_IN,         /**< the root for all */
    CALL_FLOW_PREFIX,     /**< each for those before it in the communicator */
    CALL_FLOW_NEIGHBOURS, /**< each for its neighbours in the topology */
};

/** Also of a call that starts an immediate collective, or makes a persistent one. */
enum call_flow call_flow_of(uint32_t call);

/** Is it a blocking call that only sends? */
int call_is_blocking_send(uint32_t call);

/** Is it MPI_Sendrecv or MPI_Sendrecv_replace? */
int call_is_exchange(uint32_t call);
/** Does it block until some rank, whichever, sends: as a thread does that serves requests?
 *  @param peer  of the call, or PEER_ANY */
int call_serves_any(uint32_t call, int64_t peer);

/** Is it a collective, and neither immediate nor persistent? */
int call_is_blocking_collective(uint32_t call);
/** Does it make the request of a persistent collective? */
int call_is_persistent_collective(uint32_t call);

static inline int call_flow_has_root(enum call_flow flow)
{
    return flow == CALL_FLOW_OUT || flow == CALL_FLOW_IN;
}

/** Number of a call from its name ("MPI_Send" or "PMPI_Send"). @return the number, or 0 if Holter
 *  does not cover it */
uint16_t call_by_name(const char *name);

/** Is this a function of MPI that neither transfers data nor waits (MPI_Type_size, MPI_Info_set,
 * ...), so that it need not be covered? */
int call_is_local(const char *name);

#endif
