/* The files of one trace: which exist, and what a first scan of each finds. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_SET_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_SET_H

#include "daemon/import/dumpi/dumpi_comms.h"
#include "daemon/import/dumpi/dumpi_events.h"
#include "daemon/import/dumpi/dumpi_file.h"

#define DUMPI_RANKS_MOST (1u << 20)
/** Maximum of threads of a rank with streams of their own; further ones share one. */
#define DUMPI_MAX_THREADS 64u

struct dumpi_meta {
    char host[65], prefix[256];
    uint64_t ranks, start_s; /**< 0: not stated */
    struct dumpi_version version;
};

/** The file of one rank. */
struct dumpi_part {
    char *path; /**< NULL: missing */
    struct dumpi_file file;
    int code;      /**< error of opening it */
    char why[200]; /**< reason of code, or the damage of the file */
    int wall;      /**< its times are those of the wall clock */
    int64_t first_ns, last_ns,
        init_ns; /**< first_ns, last_ns: of its clock; init: end of MPI_Init, else the first call */
    int64_t zero_ns; /**< where ticks begin */
    uint16_t threads[DUMPI_MAX_THREADS];
    uint32_t thread_count; /**< above DUMPI_MAX_THREADS: more */
    uint64_t calls;
    uint32_t world; /**< size of MPI_COMM_WORLD that the program queried; 0: it did not */
    char *app;
    struct dumpi_outcome outcome;
    int read_error;
    uint64_t off;          /**< calls that were made while tracing was off */
    uint32_t off_function; /**< the function with most of these */
    uint32_t off_most;
};

struct dumpi_set {
    struct dumpi_meta meta;
    struct dumpi_part *parts; /**< by rank */
    uint32_t ranks;
    int too_many;                      /**< numprocs is implausibly large for so few files */
    int ascii;                         /**< files are output of dumpi2ascii */
    char directory[3000], prefix[256]; /**< of the files */
    uint32_t others; /**< files named like those of ranks, but beyond the stated number of ranks:
                        left out */
};

/** Find the files that belong to a source. @return 0 or a negative error after telling */
int dumpi_set_find(struct dumpi_set *out, const char *source, struct faults *faults);
void dumpi_set_finish(struct dumpi_set *set);

/** Extend the trace to more ranks than its text states, and find their files. @return as
 * dumpi_set_reserve() */
int dumpi_set_extend(struct dumpi_set *set, uint64_t ranks);

/** Open the file of a rank and scan all its calls. Different ranks may be scanned concurrently.
 * @param comms  receives all calls */
void dumpi_part_scan(struct dumpi_set *set, uint32_t rank, struct dumpi_comms *comms);

/** Report the faults of the file of a rank. @return 1: there were any */
int dumpi_part_report(const struct dumpi_part *part, struct faults *faults);

#endif
