/* What is kept about a message of an agent besides its bytes. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_RECORDED_H
#define HOLTER_DAEMON_STORAGE_BLOCK_RECORDED_H

#include <stdint.h>

struct recorded {
    uint64_t type;        /**< enum wire_type */
    uint64_t instance;    /**< agent that sent it; in a block its number in the file */
    uint64_t seq;         /**< its number */
    uint64_t window;      /**< number of the window; 0 for other messages */
    uint64_t time_ns;     /**< begin of the window, or arrival: daemon time */
    uint64_t received_ns; /**< arrival, daemon time */
};

#endif
