/* Requests of a rank that are under way, by their handles.
 *
 * Files have handles, not requests: a handle comes again when its request has ended, and MPIs give
 * the same one to all that are complete when they are made. A request that is made with the handle
 * of another one therefore takes its place. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_REQUESTS_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_REQUESTS_H

#include <stdint.h>

#define DUMPI_REQUESTS_MOST (1u << 20) /**< that are kept; those beyond are not */

struct dumpi_request {
    int32_t handle; /**< DUMPI_REQUEST_NULL: a free place */
    uint32_t number;
    uint64_t posted; /**< tick at which the call that posted it began */
    uint64_t bytes;
    int32_t peer, tag;
    uint16_t comm;  /**< slot */
    uint16_t flags; /**< EVENT_SEND or EVENT_RECV, and what of event_flag stays the same; neither:
                       another kind */
    uint8_t idle;   /**< persistent and not started */
    uint8_t cancelled;
};

struct dumpi_requests {
    struct dumpi_request *places; /**< open addressing */
    uint32_t room, count;         /**< room: a power of two, or 0 */
    uint32_t number;              /**< of the last one */
};

void dumpi_requests_finish(struct dumpi_requests *requests);

/** Keep a new one; its number is set. @return it, until the next one is added or removed; NULL: no
 * room or memory */
struct dumpi_request *dumpi_request_add(struct dumpi_requests *requests,
                                        const struct dumpi_request *request);

/** @return NULL: not known */
struct dumpi_request *dumpi_request_find(const struct dumpi_requests *requests, int64_t handle);

/** It has ended: forget it, or keep it idle when it is persistent. */
void dumpi_request_end(struct dumpi_requests *requests, struct dumpi_request *request);

/** Forget it, persistent or not. */
void dumpi_request_remove(struct dumpi_requests *requests, struct dumpi_request *request);

#endif
