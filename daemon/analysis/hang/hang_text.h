/* Pieces of the sentences about hangs, shared by hang_text.c (titles, texts) and hang_advice.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_TEXT_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_TEXT_H

#include "daemon/analysis/hang/hang_watch.h"

/** A text that is appended to within a fixed capacity. */
struct hang_text {
    char *text;
    size_t capacity, length;
};

void hang_text_add(struct hang_text *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** "MPI_Barrier"; "MPI" for a number that no call has. */
const char *hang_text_call(uint32_t call);

/** A time of day, "12:31:05 UTC". */
void hang_text_add_time(struct hang_text *line, const struct hang_watch *watch, uint64_t at_ns);

/** " on MPI_COMM_WORLD"; nothing for id 0. */
void hang_text_add_comm(struct hang_text *line, const struct hang_watch *watch, uint64_t id);

/** The ranks that are late: "rank 3", "ranks 3-5" or, where the list is long, "12 ranks". */
void hang_text_add_ranks(struct hang_text *line, const struct hang *hang);

/** The ranks that wait, of a hang with few_wait. */
void hang_text_add_waiters(struct hang_text *line, const struct hang *hang);

/** Adds what to do about a hang: one sentence. */
void hang_advise(struct hang_text *line, const struct hang_watch *watch, const struct hang *hang);

#endif
