#include "completion.h"

#include <stdlib.h>

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses ? &statuses[i] : MPI_STATUS_IGNORE;
}

static void one_by_one(enum completion_style style, int n, MPI_Request *requests,
                       MPI_Status *statuses, struct truth_span *spans)
{
    for (int k = 0; k < n; k++) {
        int found = 0, i = style == BY_WAIT_BACKWARDS ? n - 1 - k : k;
        if (style == BY_TEST && requests[i] != MPI_REQUEST_NULL) {
            while (!POLL(&found, Test, &requests[i], &found, status_at(statuses, i)))
                ;
            spans[i] = truth_span();
            continue;
        }
        if (style == BY_GET_STATUS && requests[i] != MPI_REQUEST_NULL)
            while (!POLL(&found, Request_get_status, requests[i], &found, MPI_STATUS_IGNORE))
                ;
        CALL(Wait, &requests[i], status_at(statuses, i));
        spans[i] = truth_span();
    }
}

static void any(enum completion_style style, int n, MPI_Request *requests, MPI_Status *statuses,
                struct truth_span *spans, int left)
{
    while (left > 0) {
        MPI_Status status;
        MPI_Status *s = statuses ? &status : MPI_STATUS_IGNORE;
        int i = MPI_UNDEFINED, found = 1;
        if (style == BY_WAITANY)
            CALL(Waitany, n, requests, &i, s);
        else
            POLL(&found, Testany, n, requests, &i, &found, s);
        if (!found)
            continue;
        if (i < 0 || i >= n)
            truth_broken("a request of %d was expected, not number %d", n, i);
        if (statuses)
            statuses[i] = status;
        spans[i] = truth_span();
        left--;
    }
}

static void some(enum completion_style style, int n, MPI_Request *requests, MPI_Status *statuses,
                 struct truth_span *spans, int left)
{
    int *which = malloc(sizeof(int) * (size_t)n);
    MPI_Status *found = malloc(sizeof(MPI_Status) * (size_t)n);
    while (left > 0) {
        int done = 0;
        MPI_Status *s = statuses ? found : MPI_STATUSES_IGNORE;
        if (style == BY_WAITSOME)
            CALL(Waitsome, n, requests, &done, which, s);
        else
            POLL(&done, Testsome, n, requests, &done, which, s);
        if (done < 0)
            truth_broken("%d requests were expected to complete", left);
        for (int i = 0; i < done; i++) {
            spans[which[i]] = truth_span();
            if (statuses)
                statuses[which[i]] = found[i];
        }
        left -= done;
    }
    free(which);
    free(found);
}

void complete(enum completion_style style, int n, MPI_Request *requests, MPI_Status *statuses,
              struct truth_span *spans)
{
    int active = 0, found = 0;
    for (int i = 0; i < n; i++)
        active += requests[i] != MPI_REQUEST_NULL;
    switch (style) {
    case BY_WAIT:
    case BY_WAIT_BACKWARDS:
    case BY_TEST:
    case BY_GET_STATUS:
        one_by_one(style, n, requests, statuses, spans);
        break;
    case BY_WAITANY:
    case BY_TESTANY:
        any(style, n, requests, statuses, spans, active);
        break;
    case BY_WAITSOME:
    case BY_TESTSOME:
        some(style, n, requests, statuses, spans, active);
        break;
    case BY_TESTALL: /* without an active request it would find nothing, but say that all is done */
        while (active > 0 && !POLL(&found, Testall, n, requests, &found,
                                   statuses ? statuses : MPI_STATUSES_IGNORE))
            ;
        break;
    default:
        CALL(Waitall, n, requests, statuses ? statuses : MPI_STATUSES_IGNORE);
    }
    if (style == BY_TESTALL || style == BY_WAITALL)
        for (int i = 0; i < n; i++)
            spans[i] = truth_span();
}
