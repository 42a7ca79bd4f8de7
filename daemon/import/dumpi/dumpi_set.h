/* The files of one trace: which there are, and what a first look at each tells. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_SET_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_SET_H

#include "daemon/import/dumpi/dumpi_comms.h"
#include "daemon/import/dumpi/dumpi_events.h"
#include "daemon/import/dumpi/dumpi_file.h"

#define DUMPI_RANKS_MOST (1u << 20)
#define DUMPI_THREADS_MOST                                                                         \
    64u /**< of a rank, each with a stream of its own; more are put into one */

struct dumpi_meta {
    char host[65], prefix[256];
    uint64_t ranks, start_s; /**< 0: not told */
    struct dumpi_version version;
    int told; /**< keys of such a file that were found */
};

/** @param text  of length bytes, a NUL behind it */
void dumpi_meta_read(struct dumpi_meta *out, const char *text, size_t length);

/** The file of one rank. */
struct dumpi_part {
    char *path; /**< NULL: there is none */
    struct dumpi_file file;
    int code;      /**< of opening it */
    char why[200]; /**< code, or what of the file is broken */
    int wall;      /**< its times are those of the wall clock */
    int64_t first_ns, last_ns,
        init_ns;     /**< of its clock; init: end of MPI_Init, else the first call */
    int64_t zero_ns; /**< where ticks begin */
    uint16_t threads[DUMPI_THREADS_MOST];
    uint32_t thread_count; /**< above DUMPI_THREADS_MOST: more */
    uint64_t calls;
    uint32_t world; /**< ranks that the program was told there are; 0: it did not ask */
    char *app;
    /* how the calls ended, see struct dumpi_stream */
    enum dumpi_ending ending;
    uint64_t ended_at, unknown, unknown_bytes, unknown_at;
    uint32_t unknown_first;
    uint64_t damaged, damaged_at;
    int read_error;
    uint64_t off;          /**< calls that were made while they were not to be recorded */
    uint32_t off_function; /**< of the most of these */
    uint32_t off_most;
};

struct dumpi_set {
    struct dumpi_meta meta;
    struct dumpi_part *parts; /**< by rank */
    uint32_t ranks;
    int too_many;                      /**< numprocs is more than there can be with so few files */
    int ascii;                         /**< files are what dumpi2ascii prints */
    char directory[3000], prefix[256]; /**< of the files */
    uint32_t others; /**< files called as those of ranks that the text does not count, and that are
                        left out */
};

/** Find the files that belong to a source. @return 0 or a negative error after telling */
int dumpi_set_find(struct dumpi_set *out, const char *source, struct faults *faults);
void dumpi_set_finish(struct dumpi_set *set);

/** There are so many ranks at least. @return 0; -HOLTER_ELIMIT: with so few files that cannot be;
 * or -ENOMEM */
int dumpi_set_reserve(struct dumpi_set *set, uint64_t ranks);

/** There are so many ranks, and the text that tells of fewer is wrong: find their files. @return as
 * dumpi_set_reserve() */
int dumpi_set_extend(struct dumpi_set *set, uint64_t ranks);

/** Open the file of a rank and go through all its calls. Of several ranks at a time.
 *  @param comms  told of all calls */
void dumpi_part_look(struct dumpi_set *set, uint32_t rank, struct dumpi_comms *comms);

/** Tell what is wrong with the file of a rank. @return 1: something was */
int dumpi_part_tell(const struct dumpi_part *part, struct faults *faults);

#endif
