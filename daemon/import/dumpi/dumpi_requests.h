/* The active requests of a rank, by their handles.
 *
 * Files have handles, not requests: a handle is reused when its request has ended, and MPIs give
 * the same one to all requests that are complete when they are made. So a new request replaces one
 * with the same handle. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_REQUESTS_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_REQUESTS_H

#include <stdint.h>

#define DUMPI_MAX_REQUESTS                                                                         \
    (1u << 20) /**< maximum number of stored requests; further ones are dropped */

struct dumpi_request {
    int32_t handle; /**< DUMPI_REQUEST_NULL: a free entry */
    uint32_t number;
    uint64_t posted; /**< tick of the begin of the call that posted it */
    uint64_t bytes;
    int32_t peer, tag;
    uint16_t comm;  /**< slot */
    uint16_t flags; /**< EVENT_SEND or EVENT_RECV, and the constant ones of event_flag; neither:
                       another kind */
    uint8_t idle;   /**< persistent and not started */
    uint8_t cancelled;
};

struct dumpi_requests {
    struct dumpi_request *places; /**< hash table with open addressing */
    uint32_t room, count;         /**< room: a power of two, or 0 */
    uint32_t number;              /**< of the newest request */
};

void dumpi_requests_finish(struct dumpi_requests *requests);

/** Store a new request; its number is set. @return it, valid until the next change; NULL: the table
 * is full, or no memory */
struct dumpi_request *dumpi_request_add(struct dumpi_requests *requests,
                                        const struct dumpi_request *request);

/** @return NULL: unknown */
struct dumpi_request *dumpi_request_find(const struct dumpi_requests *requests, int64_t handle);

/** End a request: it is removed, or marked idle when it is persistent. */
void dumpi_request_end(struct dumpi_requests *requests, struct dumpi_request *request);

/** Remove a request, persistent or not. */
void dumpi_request_remove(struct dumpi_requests *requests, struct dumpi_request *request);

#endif
