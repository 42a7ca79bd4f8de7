/* Conversion of the calls of one rank to the records that a probe would have written
 * (holter/event.h).
 *
 * What files lack, and how it is replaced:
 *   - A receive whose status the program ignored: its size is that of the buffer, and with
 * MPI_ANY_SOURCE its sender is unknown.
 *   - MPI_PROC_NULL is a negative number that differs between MPIs; where it is -1, files do not
 * distinguish it from MPI_ANY_SOURCE. The status of such a receive decides.
 *   - MPI_IN_PLACE: inferred from an invalid datatype.
 *   - Polls that found nothing are records of their own. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_EVENTS_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_EVENTS_H

#include "daemon/import/dumpi/dumpi_comms.h"
#include "daemon/import/dumpi/dumpi_stream.h"
#include "daemon/import/dumpi/dumpi_types.h"
#include "daemon/import/trace/request_table.h"
#include "holter/event.h"

/** Continuous time of a file's calls: corrects the overflow of the 16-bit seconds. */
struct dumpi_clock {
    int64_t turned_s; /**< correction so far: number of overflows times 65,536 s */
    int64_t last_s;
    int begun;
    int64_t calls; /**< for files without times: calls are one microsecond apart */
};

/** Begin and end of a call by the wall clock of its file, else by its processor clock. In ns; the
 * end is not before the begin. */
void dumpi_clock_read(struct dumpi_clock *clock, const struct dumpi_call *call, int64_t *enter_ns,
                      int64_t *exit_ns);

/** Numbers of functions in Holter; 0: the function moves no data and waits for nobody. */
struct dumpi_call_numbers {
    uint16_t of[DUMPI_FUNCTIONS];
};

void dumpi_call_numbers(struct dumpi_call_numbers *out);

/** Present slots of communicators, or of RMA windows, by their handles. */
struct dumpi_slots {
    uint16_t *of;
    uint32_t room;
};

struct dumpi_events {
    const struct dumpi_comms *comms;          /**< borrowed */
    const struct dumpi_call_numbers *numbers; /**< borrowed */
    uint32_t rank;
    int64_t zero_ns;         /**< time of the file's clock at which ticks begin */
    const uint16_t *threads; /**< threads whose records are returned; calls of others are only
                                followed; borrowed */
    uint32_t thread_count;   /**< 0: all threads */
    struct dumpi_stream stream;
    struct dumpi_types types;
    struct request_table requests; /**< the ids are handles */
    uint32_t request_number;       /**< of the newest request */
    struct dumpi_clock clock;
    struct dumpi_slots comm_slots, window_slots;
    uint32_t next_slot;
    struct event *queue; /**< records of the last call */
    uint32_t queued, given;
    size_t queue_capacity;
    uint64_t seq;
    int code;
};

/** @return 0 or -ENOMEM */
int dumpi_events_init(struct dumpi_events *events, const struct dumpi_file *file,
                      const struct dumpi_comms *comms, uint32_t rank,
                      const struct dumpi_call_numbers *numbers, size_t room);
void dumpi_events_finish(struct dumpi_events *events);

/** Next records. @return their number, TRACE_BATCH at most; 0: the stream has ended, see
 * stream.outcome.ending; -ENOMEM */
int dumpi_events_next(struct dumpi_events *events, struct event *out);

#endif
