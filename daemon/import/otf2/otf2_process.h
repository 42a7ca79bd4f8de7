/* Reading an OTF2 archive in separate processes, because libotf2 can crash on corrupt files.
 *
 * The first child reads the definitions and then supervises a second one, which reads events. When
 * that one dies, the stream that it was reading ends there, and a new child reads the others.
 * Records are passed through memory that all of them share. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_PROCESS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_PROCESS_H

#include "daemon/import/otf2/otf2_source.h"

struct otf2_process;

/** Start, and wait until the definitions are read. Must be called before other threads are started.
 * @param threads  that will ask for records at the same time
 * @param tell     called with each fault, also from the asking threads, one at a time
 * @return 0, or a negative error, reported */
int otf2_process_start(struct otf2_process **out, const char *anchor, unsigned threads,
                       file_fault *tell, void *user);

/** Stop the child processes. NULL is fine. */
void otf2_process_stop(struct otf2_process *process);

/** Correct a wrong zero of the archive, in ticks, before any record is requested. The length of the
 * trace is unknown from then on. */
void otf2_process_set_zero(struct otf2_process *process, uint64_t ticks);

const struct otf2_job *otf2_process_job(const struct otf2_process *process);

/** Is the file of the definitions incomplete? Its valid part is used, and the fault is reported. */
int otf2_process_definitions_broken(const struct otf2_process *process);

/** Reports by stream; they change while streams are read. */
const struct otf2_report *otf2_process_reports(const struct otf2_process *process);

/** Process id of the present reader, and of its supervisor: for tests. 0: none */
int otf2_process_reader(const struct otf2_process *process);
int otf2_process_watcher(const struct otf2_process *process);

/** Callbacks of a struct trace_reader whose user is the process. */
int otf2_process_next(void *user, uint32_t stream, uint64_t until, struct event *out);
int otf2_process_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
const char *otf2_process_region(void *user, uint32_t rank, uint32_t slot);
/** Counted in event records. */
void otf2_process_progress(void *user, uint64_t *read, uint64_t *all);

#endif
