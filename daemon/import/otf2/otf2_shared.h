/* Memory that the processes of otf2_process.h share, and the main function of the children. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_SHARED_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_SHARED_H

#include "daemon/import/otf2/otf2_source.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/types.h>

#define OTF2_SLOTS 64u

enum otf2_slot_state {
    OTF2_IDLE,
    OTF2_ASKED,    /* the next records of a stream are requested */
    OTF2_WORKING,  /* a reader works on it */
    OTF2_ANSWERED, /* count or error is set */
};

/** One request at a time. */
struct otf2_slot {
    sem_t asked, answered;
    atomic_int state, crashed;
    uint32_t stream,
        reading;    /**< the requested stream, and the one that libotf2 reads for it at present */
    int32_t count;  /**< number of events, or a negative error */
    uint64_t until; /**< see struct trace_reader */
    char fault[OTF2_FAULT_BYTES];
    struct event events[TRACE_BATCH];
};

struct otf2_shared {
    sem_t ready; /**< posted when definitions are read, or reading them failed: see code */
    atomic_int code, reader, ends;
    int definitions_broken; /**< fault describes the damage of the file of the definitions */
    char fault[OTF2_FAULT_BYTES];
    struct otf2_job job;
    struct otf2_report *reports; /**< in the arena */
    struct otf2_arena arena;
    unsigned slot_count;
    struct otf2_slot slots[OTF2_SLOTS];
};

/** Main function of the first child; never returns. */
void otf2_shared_child(struct otf2_shared *shared, const char *anchor, pid_t parent)
    __attribute__((noreturn));

#endif
