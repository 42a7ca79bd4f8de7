/* Import of DUMPI traces, as SST's libdumpi writes them: a text file PREFIX.meta, and a file
 * PREFIX-NNNN.bin for each rank. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_H

#include "daemon/import/otf2/import_otf2.h"
#include "daemon/import/trace/trace.h"

struct dumpi_trace;

/** Facts about a trace that are known before its records are read. */
struct dumpi_facts {
    uint32_t ranks, files; /**< number of files of ranks that exist */
    uint32_t missing;      /**< number of files of ranks that are missing */
    int too_many;          /**< numprocs of the .meta file is implausibly large for so few files */
    uint32_t left_out; /**< files of ranks beyond numprocs, which is believed unless there is better
                          evidence */
    uint32_t broken;   /**< files that are truncated or break off in the middle; their valid part is
                          used */
    uint64_t calls;    /**< of all functions */
    uint64_t off;      /**< calls that were made while tracing was off: they are not in the trace */
    uint64_t unknown;  /**< records of functions that no version of the format has */
    uint64_t unresolved; /**< communicators whose members are unknown */
    uint8_t version[3];  /**< of the format */
};

/** Find the files, and read them once for the length, threads and communicators.
 * @param source   the .meta file, or a file of a rank; import_format_find() finds it in a folder
 * @param threads  that read files; 0: one for each processor
 * @param fault    called with each fault of the files, with offsets, and with what is left out
 * @return 0; a negative error, reported: there is nothing to read */
int dumpi_trace_open(struct dumpi_trace **out, const char *source, unsigned threads,
                     file_fault *fault, void *user);
/** NULL is fine. */
void dumpi_trace_close(struct dumpi_trace *trace);

struct dumpi_facts dumpi_trace_facts(const struct dumpi_trace *trace);

/** Arguments for trace_import(); both live as long as the trace. The caller may change the job:
 * network, window length. */
struct trace_job *dumpi_trace_job(struct dumpi_trace *trace);
const struct trace_reader *dumpi_trace_reader(const struct dumpi_trace *trace);

struct dumpi_counts {
    struct trace_counts counts;
    struct dumpi_facts facts;
    uint32_t hosts;
    uint64_t window_ns;
};

/** Import a trace as a recording. @param path  see trace_import() @param source  see
 * dumpi_trace_open()
 * @return 0, or a negative error, reported; valid records are imported in any case */
int dumpi_import(const char *path, const char *source, const struct trace_wishes *wishes,
                 struct dumpi_counts *out);

#endif
