/* The recording that an import creates: the job's network and ranks, then messages as the agents of
 * its nodes would have sent them. */
#ifndef HOLTER_IMPORT_IMPORT_FILE_H
#define HOLTER_IMPORT_IMPORT_FILE_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define IMPORT_NOWHERE UINT32_MAX /**< host of a rank of which nothing but its number is known */
#define IMPORT_BEGIN_NS UINT64_C(1700000000000000000) /**< a fixed date, daemon time */

#define IMPORT_JOB_NAME 65u /**< bytes of a job's name, with its NUL */

/** Name a job after its source. The daemon takes ASCII letters, digits, - _ . in the id of a job,
 * which must not begin with a dot: everything else is left out.
 * @param name, length  of the source @param otherwise  the name if nothing is left */
void import_job_name(char out[IMPORT_JOB_NAME], const char *name, size_t length,
                     const char *otherwise);

/** The job that is imported. Borrowed for the life of the import. */
struct import_job {
    const char *name;    /**< job id */
    const char *app;     /**< what ran */
    const char *command; /**< how the recording was created, for people */
    const char *mpi;     /**< the source and format of the import, in place of the MPI version */
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
                       char *why, size_t capacity);

/** Number of the first window. */
uint64_t import_file_first_window(const struct import_file *file);

/** Ranks of a host, ascending. @return their number */
uint32_t import_file_ranks(const struct import_file *file, uint32_t host, const uint32_t **out);

/** Sequence number of the next message of a host; the caller increments it. */
uint64_t *import_file_seq(struct import_file *file, uint32_t host);

/** An encoded message about a window. Borrowed. */
struct import_message {
    enum wire_type type; /**< WIRE_TYPE_WINDOW or WIRE_TYPE_CAPTURED */
    uint64_t seq, window;
    const void *bytes;
    size_t length;
};

/** Store a message. @return 0 or a negative error: see import_file_error() */
int import_file_encoded(struct import_file *file, uint32_t host,
                        const struct import_message *message);

/** Encode and store a window message. @param message  its seq is set here */
int import_file_window(struct import_file *file, uint32_t host, struct wire_window *message);

/** Close the file. NULL is fine. An incomplete recording is removed: one whose import failed, or
 * whose end cannot be written.
 * @param code     0, or the error at which the import stopped
 * @param windows  number of windows of the job
 * @param why      set where the end cannot be written, for people
 * @return that code, or the error of writing the end; 0: the recording is complete */
int import_file_close(struct import_file *file, int code, uint64_t windows, char *why,
                      size_t capacity);

/** The last error as a sentence; static, or valid until the file is closed. */
const char *import_file_error(const struct import_file *file);

#endif
