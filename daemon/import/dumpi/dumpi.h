/* DUMPI traces, as SST's libdumpi writes them: a text file PREFIX.meta, and a file PREFIX-NNNN.bin
 * for each rank. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_H

#include "daemon/import/otf2/import_otf2.h"
#include "daemon/import/trace/trace.h"

/** Is it one: a directory with a .meta file of one, such a file, or a file of a rank? By what is in
 * it. */
int dumpi_is_trace(const char *source);

struct dumpi_trace;

/** What is there before its records are read. */
struct dumpi_facts {
    uint32_t ranks, files; /**< files of ranks that are there */
    uint32_t missing;      /**< files of ranks that are not */
    int too_many; /**< numprocs of the .meta file is more than there can be with so few files */
    uint32_t left_out; /**< files of ranks that there should not be, while nobody knows better */
    uint32_t broken;   /**< of these: they lack their end, or break off in the middle; what is whole
                          is given */
    uint64_t calls;    /**< of all functions */
    uint64_t off; /**< calls that were made while they were not to be recorded: not in the trace */
    uint64_t unknown;    /**< records of functions that no version of the format has */
    uint64_t unresolved; /**< communicators of which the members are not known */
    uint8_t version[3];  /**< of the format */
};

/** Find the files, and read them once: how long, which threads, communicators.
 *  @param source   see dumpi_is_trace()
 *  @param threads  that read files; 0: as many as there are processors
 *  @param fault    told of all that is wrong with the files, with offsets; also of what is left out
 *  @return 0; a negative error after telling: there is nothing to read */
int dumpi_trace_open(struct dumpi_trace **out, const char *source, unsigned threads,
                     file_fault *fault, void *user);
/** NULL is fine. */
void dumpi_trace_close(struct dumpi_trace *trace);

struct dumpi_facts dumpi_trace_facts(const struct dumpi_trace *trace);

/** For trace_import(); both live as long as the trace. The job may be changed: network, length of
 * windows. */
struct trace_job *dumpi_trace_job(struct dumpi_trace *trace);
const struct trace_reader *dumpi_trace_reader(const struct dumpi_trace *trace);

struct dumpi_counts {
    struct trace_counts counts;
    struct dumpi_facts facts;
    uint32_t hosts;
    uint64_t window_ns;
};

/** A trace as a recording. @param path  see trace_import() @param source  see dumpi_is_trace()
 *  @return 0, or a negative error after telling; what is whole is imported all the same */
int dumpi_import(const char *path, const char *source, const struct trace_wishes *wishes,
                 struct dumpi_counts *out);

#endif
