/* An OTF2 archive that is read by processes of their own, because libotf2 can crash on what is
 * broken.
 *
 * The first child reads the definitions and then watches over a second one that reads events. When
 * that one dies, the stream that it read ends there, and another takes its place for the others.
 * Records come through memory that all of them share. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_PROCESS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_PROCESS_H

#include "daemon/import/otf2/otf2_source.h"

struct otf2_process;

/** Begin, and wait until the definitions are read. To be called before there are threads.
 *  @param threads  that will ask for records at the same time
 *  @param tell     told what is wrong, also from threads that ask, one at a time
 *  @return 0, or a negative error after telling */
int otf2_process_start(struct otf2_process **out, const char *anchor, unsigned threads,
                       file_fault *tell, void *user);

/** End them. NULL is fine. */
void otf2_process_stop(struct otf2_process *process);

/** The archive tells a wrong zero: take this one, in ticks, before any record is asked for. How
 * long the trace is is not known then. */
void otf2_process_set_zero(struct otf2_process *process, uint64_t ticks);

const struct otf2_job *otf2_process_job(const struct otf2_process *process);

/** Is the file of the definitions not whole? What there is of it is used; it is told. */
int otf2_process_definitions_broken(const struct otf2_process *process);

/** By stream; they change while streams are read. */
const struct otf2_report *otf2_process_reports(const struct otf2_process *process);

/** The process that reads events now, and the one that watches over it: for tests. 0: none */
int otf2_process_reader(const struct otf2_process *process);
int otf2_process_watcher(const struct otf2_process *process);

/** Functions of a struct trace_reader whose user is the process. */
int otf2_process_next(void *user, uint32_t stream, uint64_t until, struct event *out);
int otf2_process_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
const char *otf2_process_region(void *user, uint32_t rank, uint32_t slot);
/** In event records. */
void otf2_process_progress(void *user, uint64_t *read, uint64_t *all);

#endif
