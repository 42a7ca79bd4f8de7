/* All the ways MPI has to complete requests, behind one verb. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "truth.h"

enum completion_style {
    BY_WAIT,
    BY_WAIT_BACKWARDS, /**< the last request first */
    BY_WAITALL,
    BY_WAITANY,
    BY_WAITSOME,
    BY_TEST,
    BY_TESTALL,
    BY_TESTANY,
    BY_TESTSOME,
    BY_GET_STATUS, /**< Request_get_status until it is there, then Wait */
    COMPLETION_STYLES,
};

/** Complete n active requests, which may have null requests among them.
 *  @param statuses  one for each request, filled in the request's place; NULL:
 * MPI_STATUS(ES)_IGNORE is given
 *  @param spans     one for each request: when the call was made that completed it */
void complete(enum completion_style style, int n, MPI_Request *requests, MPI_Status *statuses,
              struct truth_span *spans);

#endif
