/* The CommGram of a job that never ran: phases in which ranks exchange halos, and every few of them
 * one in which they composite an image by binary swap, with pictures of any detail. The same
 * figures give the same messages. */
#ifndef HOLTER_TESTS_VIEWER_SYNTHETIC_COMMGRAM_H
#define HOLTER_TESTS_VIEWER_SYNTHETIC_COMMGRAM_H

#include "tests/viewer/synthetic.h"

#include "viewer/model/model_commgram.h"

struct synthetic_commgram {
    uint32_t ranks;
    uint32_t every;     /**< each phase of that number is a swap; 0: none is */
    uint64_t begin_ns;  /**< of the first phase */
    uint64_t phase_ns;  /**< from one to the next; a third of it is silent */
    int modelled;       /**< with an allreduce in each phase */
    uint64_t folded;    /**< messages of each column whose pair is not known */
    uint64_t resolved;  /**< parts that a picture can tell apart; 0: as many as asked for */
    uint32_t part_rows; /**< most rows in one message; 0: all in one */
};

/** Phases first to last, counted from 1, and the points of the curve; then an open one. */
void synthetic_phases(const struct synthetic_commgram *gram, uint64_t first, uint64_t last,
                      synthetic_sink *sink, void *user);

/** The answer to a question. @return ribbons in it */
uint64_t synthetic_picture(const struct synthetic_commgram *gram,
                           const struct commgram_request *request, synthetic_sink *sink,
                           void *user);

#endif
