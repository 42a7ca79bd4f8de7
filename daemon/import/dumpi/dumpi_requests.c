/* Hash table of the active requests of a rank: see dumpi_requests.h. */
#include "daemon/import/dumpi/dumpi_requests.h"

#include "daemon/import/dumpi/dumpi_format.h"
#include "holter/event.h"

#include <stdlib.h>

void dumpi_requests_finish(struct dumpi_requests *requests)
{
    free(requests->places);
    *requests = (struct dumpi_requests){0};
}

static uint32_t dumpi_requests_place_of(uint32_t room, int32_t handle)
{
    return (uint32_t)(((uint32_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (room - 1);
}

static int dumpi_requests_is_free(const struct dumpi_request *place)
{
    return place->handle == DUMPI_REQUEST_NULL;
}

/* @return the entry of the handle, or the free one where it would be */
static struct dumpi_request *dumpi_requests_find_slot(const struct dumpi_requests *requests,
                                                      int32_t handle)
{
    uint32_t at = dumpi_requests_place_of(requests->room, handle);
    while (!dumpi_requests_is_free(&requests->places[at]) && requests->places[at].handle != handle)
        at = (at + 1) & (requests->room - 1);
    return &requests->places[at];
}

static int dumpi_requests_grow(struct dumpi_requests *requests)
{
    struct dumpi_requests more = {.room = requests->room == 0 ? 64 : 2 * requests->room};
    more.places = malloc(more.room * sizeof *more.places);
    if (more.places == NULL)
        return -1;
    for (uint32_t i = 0; i < more.room; i++)
        more.places[i].handle = DUMPI_REQUEST_NULL;
    for (uint32_t i = 0; i < requests->room; i++)
        if (!dumpi_requests_is_free(&requests->places[i]))
            *dumpi_requests_find_slot(&more, requests->places[i].handle) = requests->places[i];
    free(requests->places);
    requests->places = more.places;
    requests->room = more.room;
    return 0;
}

struct dumpi_request *dumpi_request_add(struct dumpi_requests *requests,
                                        const struct dumpi_request *request)
{
    if (request->handle == DUMPI_REQUEST_NULL || requests->count >= DUMPI_MAX_REQUESTS)
        return NULL;
    if (4 * (uint64_t)(requests->count + 1) > 3 * (uint64_t)requests->room &&
        dumpi_requests_grow(requests) != 0)
        return NULL;
    struct dumpi_request *place = dumpi_requests_find_slot(requests, request->handle);
    requests->count += (uint32_t)dumpi_requests_is_free(place);
    *place = *request;
    requests->number += requests->number == UINT32_MAX ? 2u : 1u; /* 0 stands for none */
    place->number = requests->number;
    return place;
}

struct dumpi_request *dumpi_request_find(const struct dumpi_requests *requests, int64_t handle)
{
    if (handle == DUMPI_REQUEST_NULL || requests->room == 0)
        return NULL;
    struct dumpi_request *place = dumpi_requests_find_slot(requests, (int32_t)handle);
    return dumpi_requests_is_free(place) ? NULL : place;
}

/* Entries after the removed one move up, so that each stays reachable from its home slot (Knuth,
 * "The Art of Computer Programming", volume 3, section 6.4, algorithm R). */
void dumpi_request_remove(struct dumpi_requests *requests, struct dumpi_request *request)
{
    uint32_t mask = requests->room - 1, hole = (uint32_t)(request - requests->places), at = hole;
    requests->count--;
    for (;;) {
        at = (at + 1) & mask;
        struct dumpi_request *next = &requests->places[at];
        if (dumpi_requests_is_free(next))
            break;
        uint32_t home = dumpi_requests_place_of(requests->room, next->handle);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* it must not move before its home slot */
        requests->places[hole] = *next;
        hole = at;
    }
    requests->places[hole].handle = DUMPI_REQUEST_NULL;
}

void dumpi_request_end(struct dumpi_requests *requests, struct dumpi_request *request)
{
    if (request->flags & EVENT_PERSISTENT) {
        request->idle = 1;
        request->cancelled = 0;
    } else {
        dumpi_request_remove(requests, request);
    }
}
