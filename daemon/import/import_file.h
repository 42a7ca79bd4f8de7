/* The recording that an import makes: the job's network and ranks, then messages as the agents of
 * its nodes would have sent them. */
#ifndef HOLTER_IMPORT_IMPORT_FILE_H
#define HOLTER_IMPORT_IMPORT_FILE_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define IMPORT_NOWHERE                                                                             \
    UINT32_MAX /**< host of a rank of which nothing is known but that it is there */
#define IMPORT_BEGIN_NS UINT64_C(1700000000000000000) /**< a fixed date, daemon time */

/** Of a job that is imported. Borrowed for the life of the import. */
struct import_job {
    const char *name;    /**< job id */
    const char *app;     /**< what ran */
    const char *command; /**< how the recording came about, for people */
    const char *mpi;     /**< what was imported from what */
    uint32_t ranks;
    const uint32_t *host_of; /**< by rank: position in hosts, or IMPORT_NOWHERE */
    const char (*hosts)[65];
    uint32_t host_count;
    uint64_t window_ns;
    uint64_t begin_ns;              /**< of the first window, daemon time; 0: IMPORT_BEGIN_NS */
    const struct topology *network; /**< NULL: none */
    const char *network_source;     /**< where it was read from */
};

struct import_file;

/** Begin a recording in a new file. @param path  there must be none, or an empty one
 *  @param why  set on failure @return 0, -EEXIST, -ENOMEM or another negative error */
int import_file_create(struct import_file **out, const char *path, const struct import_job *job,
                       char *why, size_t room);

/** Number of the first window. */
uint64_t import_file_first_window(const struct import_file *file);

/** Ranks of a host, ascending. @return how many */
uint32_t import_file_ranks(const struct import_file *file, uint32_t host, const uint32_t **out);

/** Number of the next message of a host; the caller counts it up. */
uint64_t *import_file_seq(struct import_file *file, uint32_t host);

/** Keep a window message that is encoded already. @param window  its number
 *  @return 0 or a negative error: see import_file_error() */
int import_file_encoded(struct import_file *file, uint32_t host, uint64_t seq, uint64_t window,
                        const void *bytes, size_t length);

/** Encode and keep one. @param message  its seq is set here */
int import_file_window(struct import_file *file, uint32_t host, struct wire_window *message);

/** Close the file. NULL is fine. Of a job that is not whole nothing is left: one that failed, or
 * whose end cannot be written.
 *  @param code     0, or the error at which the import stopped
 *  @param windows  how many the job has
 *  @param why      set where the end cannot be written, for people
 *  @return that code, or why the end cannot be written; 0: the job is whole */
int import_file_close(struct import_file *file, int code, uint64_t windows, char *why, size_t room);

/** For people; static, or until the file is closed. */
const char *import_file_error(const struct import_file *file);

#endif
